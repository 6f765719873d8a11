#include "agent/agent.h"

struct agent_sites {
    bool known;
    const struct transform_site *list;
    size_t n;
};

static void fact_of(const struct task *t, size_t arg, size_t n_args, const struct kernel_value *all,
                    struct transform_fact *f)
{
    const struct task_arg *x = &t->args[arg];
    uint64_t bits = 0;

    *f = (struct transform_fact){.align_bytes = x->align_bytes, .stable = x->stable};
    if (x->role != ROLE_SCALAR || x->type == KT_F32 || x->type == KT_F64 || t->n_workloads == 0)
        return;
    f->low = f->high = f->value = all[arg].i;
    for (size_t w = 0; w < t->n_workloads; w++) {
        int64_t v = all[w * n_args + arg].i;
        f->low = MIN(f->low, v);
        f->high = MAX(f->high, v);
        bits |= (uint64_t)v;
    }
    f->same = f->low == f->high;
    f->divisor = bits ? (int64_t)(bits & -bits) : 0;
}

bool agent_version_open(struct agent_version *v, struct arena *a, const struct task *t, const char *path,
                        const char *text, const struct kernel_limits *limits, struct err *err)
{
    struct kernel_value *values = arena_array(a, struct kernel_value, t->n_workloads * t->n_args + 1);
    struct transform_fact *facts = arena_array(a, struct transform_fact, t->n_args);
    struct plan *plans = arena_array(a, struct plan, t->n_workloads + 1);
    size_t n_transforms = 0;

    *v = (struct agent_version){0};
    if (!task_kernel_open(&v->kernel, a, t, path, text, err))
        return false;
    for (size_t w = 0; w < t->n_workloads; w++) {
        struct kernel_value *args = values + w * t->n_args;
        task_launch_values(t, t->workloads + w * t->n_dims, args);
        if (!kernel_plan(&plans[w], a, v->kernel, args, NULL, limits, err)) {
            agent_version_close(v);
            return false;
        }
    }
    for (size_t i = 0; i < t->n_args; i++)
        fact_of(t, i, t->n_args, values, &facts[i]);
    v->task = t;
    v->path = path;
    v->input = (struct transform_input){
        .kernel = v->kernel,
        .facts = facts,
        .limits = limits,
        .fast_math_allowed =
            true, /* the trial's error rule decides; an approximation that is too coarse is `wrong` */
        .stream = regime_is_stream(t->regime),
        .plans = plans,
        .n_plans = t->n_workloads,
    };
    while (transform_all[n_transforms])
        n_transforms++;
    v->sites = arena_array(a, struct agent_sites, n_transforms);
    v->every = arena_array(a, struct agent_sites, n_transforms);
    v->arena = a;
    return true;
}

static size_t sites_of(const struct agent_version *v, const struct transform *transform, bool every,
                       const struct transform_site **sites)
{
    size_t m = 0;

    while (transform_all[m] != transform) {
        BUG_IF(!transform_all[m]);
        m++;
    }
    struct agent_sites *s = every ? &v->every[m] : &v->sites[m];
    if (!s->known) {
        const struct transform_input *in = &v->input;
        if (every) { /* the sites point to it */
            struct transform_input *own = arena_new(v->arena, struct transform_input);
            *own = v->input;
            own->all_settings = true;
            in = own;
        }
        s->n = transform_sites(transform, in, v->arena, &s->list);
        s->known = true;
    }
    *sites = s->list;
    return s->n;
}

size_t agent_version_sites(const struct agent_version *v, const struct transform *transform,
                           const struct transform_site **sites)
{
    return sites_of(v, transform, false, sites);
}

size_t agent_version_every_site(const struct agent_version *v, const struct transform *transform,
                                const struct transform_site **sites)
{
    return sites_of(v, transform, true, sites);
}

void agent_version_close(struct agent_version *v)
{
    kernel_close(v->kernel);
    v->kernel = NULL;
}

/* ---- the last ones ---- */

struct agent_versions *agent_versions_open(const struct task *t, const char *path,
                                           const struct kernel_limits *limits)
{
    struct agent_versions *all = mem_zalloc(sizeof(*all));

    all->task = t;
    all->path = path;
    all->limits = limits;
    return all;
}

static void drop(struct agent_kept *k)
{
    if (k->arena) {
        agent_version_close(&k->v);
        arena_close(k->arena);
    }
    *k = (struct agent_kept){0};
}

void agent_versions_close(struct agent_versions *all)
{
    for (size_t i = 0; i < AGENT_VERSIONS_KEPT; i++)
        drop(&all->kept[i]);
    free(all);
}

const struct agent_version *agent_versions_get(struct agent_versions *all, const char *text, struct err *err)
{
    struct agent_kept *oldest = &all->kept[0];

    all->n_asked++;
    for (size_t i = 0; i < AGENT_VERSIONS_KEPT; i++) {
        struct agent_kept *k = &all->kept[i];
        if (k->arena && str_eq(k->text, text)) {
            k->asked = all->n_asked;
            return &k->v;
        }
        if (k->asked < oldest->asked)
            oldest = k;
    }
    drop(oldest);
    struct arena *a = arena_open();
    *oldest = (struct agent_kept){.arena = a, .text = arena_strdup(a, text), .asked = all->n_asked};
    if (agent_version_open(&oldest->v, a, all->task, all->path, oldest->text, all->limits, err))
        return &oldest->v;
    arena_close(a);
    *oldest = (struct agent_kept){0};
    return NULL;
}

bool agent_versions_stands(struct agent_versions *all, const char *text, struct err *why_not)
{
    const struct agent_version *v = agent_versions_get(all, text, why_not);
    struct arena *a;
    struct kernel *k = NULL;

    if (v)
        return task_match(all->task, v->kernel, why_not) && transform_shared_fits(&v->input, v->arena, why_not);
    a = arena_open(); /* a launcher that cannot be planned now is a matter for the judge */
    bool ok = task_kernel_open(&k, a, all->task, all->path, text, why_not) && task_match(all->task, k, why_not);
    kernel_close(k);
    arena_close(a);
    return ok;
}
