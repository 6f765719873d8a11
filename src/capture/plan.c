/* What the library looks up, prepared from a result and kept launches. A kept launch is understood when the
 * original's launcher, for some dims of the task, plans exactly it: one launch of that symbol with its grid,
 * block, shared memory and values. Then the launch and that plan are one computation, whatever dims the program
 * had in mind, and the result's plan for these dims does the same. Alignments are those of the kept pointers;
 * the library asks for no less. */
#include "capture/internal.h"
#include "inject/replace.h"
#include "judge/judge.h"

struct preparer {
    struct arena *a;
    const struct report_bundle *bundle;
    const struct task *task;
    struct capture_matcher m; /* with the original */
    struct capture_side best;
    VEC(struct replace_launch) launches;
    VEC(struct replace_buffer) buffers;
    VEC(struct replace_param) params;
    VEC(struct replace_step) steps;
    VEC(char) data;
    json_t *skipped;
};

/* What the device answers a launcher: the model that the result names. */
static bool limits_of(const struct report_bundle *b, struct kernel_limits *l, struct err *err)
{
    const char *model = json_text(b->device, "model", "");
    const struct ptx_device *d = ptx_device_find(model);
    int capability = (int)json_int(b->device, "compute_capability", 0);

    if (!d || !capability)
        return err_input(err, "%s: the device '%s' is not known here", b->folder, model);
    judge_limits(d, l);
    l->cc_major = capability / 10; /* of the GPU itself */
    l->cc_minor = capability % 10;
    return true;
}

/* ---- the file ---- */

static uint32_t add_data(struct preparer *p, const void *bytes, size_t n)
{
    while (p->data.n % 8)
        vec_add(p->a, &p->data, 0);
    uint32_t at = (uint32_t)p->data.n;

    for (size_t i = 0; i < n; i++)
        vec_add(p->a, &p->data, ((const char *)bytes)[i]);
    return at;
}

static bool add_params(struct preparer *p, const struct plan_step *s, const json_t *kept,
                       struct replace_span *span)
{
    *span = (struct replace_span){(uint32_t)p->params.n, (uint32_t)s->n_args};
    for (size_t i = 0; i < s->n_args; i++) {
        const struct kernel_value *v = &s->args[i];
        struct replace_param r = {.buffer = -1, .bytes = 8};
        unsigned char bytes[8];
        size_t n = 0;

        r.offset = kept ? (uint32_t)json_int(json_array_get(kept, i), "offset", 0) : 0;
        if (capture_is_buffer(v)) {
            r.buffer = v->p.buffer;
            r.add = v->p.offset_bytes;
        } else if (capture_value_bytes(v, bytes, &n)) {
            r.bytes = (uint32_t)n;
            r.value = add_data(p, bytes, n);
        } else {
            return false;
        }
        vec_add(p->a, &p->params, r);
    }
    return s->n_args <= REPLACE_PARAMS;
}

/* Buffers are numbered as the launcher's pointers; the kernel must get every one that is used. */
static const char *add_buffers(struct preparer *p, const struct capture_kept *k, struct replace_launch *l)
{
    const struct task *t = p->task;
    uint32_t n = 0;

    l->buffers.at = (uint32_t)p->buffers.n;
    for (size_t i = 0; i < t->n_args; i++) {
        struct err why = {0};
        int64_t elements = 0;
        if (t->args[i].role == ROLE_SCALAR)
            continue;
        if (!task_shape(t, &t->args[i], k->dims, &elements, &why) || n == REPLACE_BUFFERS)
            return "its buffers are not known";
        if (!k->align[n])
            return "the kernel does not get every buffer of the task";
        if ((int64_t)k->align[n] < t->args[i].align_bytes)
            return "buffers are less aligned than the task promises";
        struct replace_buffer b = {.bytes = (uint64_t)elements * kernel_type_size(t->args[i].type),
                                   .align = (uint32_t)k->align[n++],
                                   .written = t->args[i].role != ROLE_IN};
        vec_add(p->a, &p->buffers, b);
    }
    l->buffers.n = n;
    return NULL;
}

static const char *step_refused(const struct plan_step *s)
{
    if (s->kind != PLAN_LAUNCH)
        return "the result's launcher sets or copies memory";
    for (size_t i = 0; i < s->n_args; i++)
        if (s->args[i].struct_bytes || s->args[i].tensor_map ||
            (s->args[i].pointer && s->args[i].p.buffer < -1))
            return "the result's kernel takes a struct, a tensor map or scratch memory";
    return NULL;
}

static const char *add_steps(struct preparer *p, const struct plan *plan, struct replace_launch *l)
{
    if (plan->n_workspaces)
        return "the result's launcher needs scratch memory";
    l->steps = (struct replace_span){(uint32_t)p->steps.n, (uint32_t)plan->n_steps};
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        const char *refused = step_refused(s);
        const struct image_kernel *k = refused ? NULL : capture_kernel_of(&p->best, s->kernel);
        struct replace_step step = {.dynamic_bytes = (uint32_t)s->shared_bytes,
                                    .cooperative = s->cooperative,
                                    .programmatic = s->programmatic,
                                    .non_portable = s->non_portable_cluster};
        if (!k)
            return refused ? refused : "the result's kernel was not compiled";
        memcpy(step.grid, s->grid, sizeof(step.grid));
        memcpy(step.block, s->block, sizeof(step.block));
        for (int d = 0; d < 3; d++)
            step.cluster[d] = s->cluster[0] ? MAX(s->cluster[d], 1) : 0;
        step.function = add_data(p, k->mangled, strlen(k->mangled) + 1);
        if (!add_params(p, s, NULL, &step.params))
            return "the result's kernel has a parameter that cannot be carried over";
        vec_add(p->a, &p->steps, step);
    }
    return plan->n_steps ? NULL : "the result launches nothing";
}

/* NULL, or why there is nothing for this launch. */
static const char *add_launch(struct preparer *p, struct capture_kept *k, struct err *err)
{
    struct replace_launch l = {.dynamic_bytes = (uint32_t)json_int(k->o, "dynamic_shared_bytes", 0)};
    uint64_t addresses[CAPTURE_ARGS];
    struct plan original, plan;
    struct err why = {0};
    const char *words = NULL;

    capture_addresses_of(k, addresses);
    if (!capture_plan_of(&p->m, &p->m.original, k->dims, addresses, &original, &why) ||
        !capture_plan_of(&p->m, &p->best, k->dims, addresses, &plan, &why))
        return arena_strdup(p->a, why.text);
    if (capture_add_names(&p->best, &plan)) { /* what it asked of occupancy was without its registers */
        if (!capture_side_compile(&p->m, &p->best, err) ||
            !capture_plan_of(&p->m, &p->best, k->dims, addresses, &plan, err))
            return err->text;
        if (capture_add_names(&p->best, &plan) && !capture_side_compile(&p->m, &p->best, err))
            return err->text;
    }
    memcpy(l.grid, original.steps[0].grid, sizeof(l.grid));
    memcpy(l.block, original.steps[0].block, sizeof(l.block));
    l.symbol = add_data(p, k->symbol, strlen(k->symbol) + 1);
    if ((words = add_buffers(p, k, &l)) || (words = add_steps(p, &plan, &l)))
        return words;
    if (!add_params(p, &original.steps[0], k->params, &l.params))
        return "the kernel has a parameter that cannot be carried over";
    vec_add(p->a, &p->launches, l);
    return NULL;
}

static void put(struct str *out, struct replace_span *span, const void *data, size_t n, size_t each)
{
    while (out->len % 64)
        str_addn(out, "", 1);
    *span = (struct replace_span){(uint32_t)out->len, (uint32_t)n};
    str_addn(out, data, n * each);
}

static void write_file(struct preparer *p, struct str *out)
{
    struct replace_head h = {.version = REPLACE_VERSION, .bytes = sizeof(h)};
    const struct image *i = &p->best.compiled.image;

    memcpy(h.magic, REPLACE_MAGIC, sizeof(h.magic));
    str_addn(out, (const char *)&h, sizeof(h));
    put(out, &h.launches, p->launches.v, p->launches.n, sizeof(*p->launches.v));
    put(out, &h.buffers, p->buffers.v, p->buffers.n, sizeof(*p->buffers.v));
    put(out, &h.params, p->params.v, p->params.n, sizeof(*p->params.v));
    put(out, &h.steps, p->steps.v, p->steps.n, sizeof(*p->steps.v));
    put(out, &h.data, p->data.v, p->data.n, 1);
    put(out, &h.cubin, i->cubin ? i->cubin : "", i->cubin ? i->cubin_len : 0, 1);
    put(out, &h.ptx, i->ptx, i->ptx_len, 1);
    str_addn(out, "", 1);
    h.ptx.n++;
    memcpy(out->s, &h, sizeof(h));
}

/* ---- all ---- */

static void skip(struct preparer *p, const json_t *launch, const char *words)
{
    json_array_append_new(p->skipped,
                          json_pack("{s:s, s:o, s:o, s:s}", "kernel", json_text(launch, "kernel", ""), "grid",
                                    json_deep_copy(json_object_get(launch, "grid")), "block",
                                    json_deep_copy(json_object_get(launch, "block")), "why", words));
}

/* Other kernels were kept, too, and are none of this result's business. */
static void forget_others(struct preparer *p)
{
    const char *own = p->data.v + p->launches.v[0].symbol;

    for (size_t i = json_array_size(p->skipped); i-- > 0;)
        if (!str_eq(json_text(json_array_get(p->skipped, i), "kernel", ""), own))
            json_array_remove(p->skipped, i);
}

static bool take_launch(struct preparer *p, const json_t *o, struct err *err)
{
    struct capture_kept k = {
        .o = o, .symbol = json_text(o, "kernel", ""), .params = json_object_get(o, "parameters")};
    const char *words;

    if (!capture_find_dims(&p->m, &k)) {
        skip(p, o, k.why ? k.why : "for no dims tried does the original's launcher make this launch");
        return true;
    }
    if ((words = add_launch(p, &k, err)))
        skip(p, o, words);
    return err->kind == ERR_NONE;
}

static bool prepare(struct preparer *p, const json_t *kept, struct err *err)
{
    const struct task *t = p->task;
    struct kernel_limits limits;
    const json_t *o;
    size_t i;

    if (t->n_args > CAPTURE_ARGS || t->n_dims > CAPTURE_DIMS)
        return err_input(err, "%s has too many arguments or dims", t->name);
    if (!limits_of(p->bundle, &limits, err) || !nvrtc_open(&p->m.nvrtc, err) ||
        !capture_side_open(&p->m, &p->m.original, t->source_path, p->bundle->original, &limits, err) ||
        !capture_side_open(&p->m, &p->best, t->source_path, p->bundle->judged, &limits, err))
        return false;
    json_array_foreach(kept, i, o) if (!take_launch(p, o, err)) return false;
    if (!p->launches.n)
        return err_input(err, "no kept launch can be replaced: of %zu, the first: %s", json_array_size(kept),
                         json_array_size(p->skipped)
                             ? json_text(json_array_get(p->skipped, 0), "why", "")
                             : "none was kept; capture with --keep and a part of the kernel's name");
    forget_others(p);
    return true;
}

bool capture_plan(struct arena *a, const struct report_bundle *bundle, const json_t *kept,
                  struct capture_plan *plan, struct err *err)
{
    struct preparer p = {.a = a, .bundle = bundle, .task = bundle->task, .skipped = json_array()};
    struct str out = {.arena = a};
    bool ok;

    p.m = capture_matcher_of(a, bundle->task, kept);
    p.task = p.m.task;
    ok = prepare(&p, kept, err);

    if (ok) {
        write_file(&p, &out);
        *plan = (struct capture_plan){.data = out.s,
                                      .len = out.len,
                                      .launches = p.launches.n,
                                      .skipped = p.skipped,
                                      .symbol = p.data.v + p.launches.v[0].symbol};
        ok = replace_file_is_whole(out.s, out.len) || err_world(err, "the plans make no sense to their reader");
    }
    if (!ok)
        json_decref(p.skipped);
    kernel_close(p.m.original.kernel);
    kernel_close(p.best.kernel);
    nvrtc_close(p.m.nvrtc);
    return ok;
}

static const char *numbered(struct arena *a, const char *folder, const char *name, size_t i)
{
    return fs_join(a, folder, i ? arena_printf(a, "%s-%zu", name, i) : name);
}

bool capture_plan_write(struct arena *a, const char *folder, size_t i, const struct capture_plan *plan,
                        struct err *err)
{
    struct replace_counts counts = {0};

    memcpy(counts.magic, REPLACE_MAGIC, sizeof(counts.magic));
    return fs_write(numbered(a, folder, REPLACE_PLANS, i), plan->data, plan->len, err) &&
           fs_write(numbered(a, folder, REPLACE_COUNTS, i), &counts, sizeof(counts), err);
}

bool capture_plan_counts(struct arena *a, const char *folder, size_t i, json_t **counts, struct err *err)
{
    const char *path = numbered(a, folder, REPLACE_COUNTS, i);
    struct replace_counts c;
    char *text;
    size_t n;

    if (!fs_read(a, path, &text, &n, err))
        return false;
    if (n != sizeof(c))
        return err_world(err, "%s is cut short", path);
    memcpy(&c, text, sizeof(c));
    *counts = json_object();
    json_put_int(*counts, "processes", (int64_t)c.processes);
    for (size_t k = 0; k < N_REPLACE_OUTCOMES; k++)
        json_put_int(*counts, replace_words[k], (int64_t)c.n[k]);
    return true;
}
