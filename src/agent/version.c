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
    v->arena = a;
    return true;
}

size_t agent_version_sites(const struct agent_version *v, const struct transform *transform,
                           const struct transform_site **sites)
{
    size_t m = 0;

    while (transform_all[m] != transform) {
        BUG_IF(!transform_all[m]);
        m++;
    }
    if (!v->sites[m].known) {
        v->sites[m].n = transform_sites(transform, &v->input, v->arena, &v->sites[m].list);
        v->sites[m].known = true;
    }
    *sites = v->sites[m].list;
    return v->sites[m].n;
}

void agent_version_close(struct agent_version *v)
{
    kernel_close(v->kernel);
    v->kernel = NULL;
}
