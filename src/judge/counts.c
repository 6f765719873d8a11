/* Counters that run over. One value everywhere, on a shape of which a block has millions of elements: what a
 * block adds to an output of integers, beside how much it reads. A counter of 16, 20 or 24 bits is right on all
 * shapes that can be run whole. Only this counts: both versions add as much for each element on the smallest
 * workload, and the original does as far as it can be run so. */
#include "probe.h"

enum {
    COUNT_INSNS = 12000000,    /* of a block, */
    COUNT_ELEMENTS = 17300000, /* which has so many elements at most, */
    FEW_ELEMENTS = 60000,      /* and at least */
    OUTPUT_ELEMENTS = 1 << 16,
    MOST_BYTES_LOG = 34,
    LEAST_BYTES_LOG = 20,
};

struct counting {
    struct probe probe;
    struct stored reads;
    size_t input, output; /* arguments */
    bool ended;
    double added, elements, blocks;
};

static bool is_counted(const struct task_arg *arg)
{
    return arg->role == ROLE_IN && !type_is_floating(arg->type) && arg->n_shape &&
           (arg->values.kind == VALUE_INDEX || arg->values.kind == VALUE_NORMAL ||
            (arg->values.kind == VALUE_INTEGERS && !arg->values.declared));
}

static double sum_of(const struct counting *c, struct arena *a)
{
    enum kernel_type type = c->probe.stage->task->args[c->output].type;
    size_t size = kernel_type_size(type);
    int64_t bytes;
    uint64_t addr = stage_arg(c->probe.stage, c->output, &bytes);
    unsigned char *all = arena_alloc(a, (size_t)bytes + 1);
    double sum = 0;

    if (!ptx_mem_read(c->probe.stage->mem, addr, all, (size_t)bytes))
        return NAN;
    for (size_t at = 0; at + size <= (size_t)bytes; at += size)
        sum += task_to_double(type, all + at);
    return sum;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct counting *c = context;
    struct probe *p = &c->probe;
    const struct grid g = {l, k, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], true};
    double before = sum_of(c, p->arena);
    int64_t bytes;
    uint64_t addr = stage_arg(p->stage, c->input, &bytes);

    (void)step;
    p->reads = &c->reads;
    if (!probe_block(p, &g, g.blocks / 2, COUNT_INSNS, &c->ended, fate, err))
        return false;
    stored_settle(&c->reads);
    c->added = sum_of(c, p->arena) - before;
    c->elements = (double)stored_bytes(&c->reads, addr, (uint64_t)bytes) /
                  (double)kernel_type_size(p->stage->task->args[c->input].type);
    return true;
}

static bool is_alone(const struct plan *plan, double *blocks)
{
    size_t launches = 0;

    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        launches += s->kind == PLAN_LAUNCH;
        if (s->kind == PLAN_COPY || s->cooperative || s->cluster[0] > 1)
            return false;
        if (s->kind == PLAN_LAUNCH)
            *blocks = (double)s->grid[0] * s->grid[1] * s->grid[2];
    }
    return launches == 1;
}

/* most: elements of a block; with more it is not run. */
static bool count(struct counting *c, struct version *v, struct arena *a, const int64_t *dims, double most,
                  struct err *err)
{
    const struct task *t = v->judge->task;
    struct task_values *values = arena_array(a, struct task_values, t->n_args);
    const struct stage_data data = {.values = values, .seed = v->judge->options.seed, .place = 1};
    const struct stage_visitor visitor = {.context = c, .launch = launch};
    struct fate fate = {0};
    struct stage stage;
    struct plan plan = {0};
    bool ok;

    c->ended = false;
    c->blocks = 1;
    for (size_t i = 0; i < t->n_args; i++)
        values[i] = t->args[i].values;
    values[c->input] = (struct task_values){.kind = VALUE_INDEX, .low = 1, .high = 2};
    if (!has_room(t, dims))
        return true;
    if (!stage_open(&stage, v->judge, &stage_sim, t, dims, &data, err))
        return false;
    ok = version_plan(v, a, dims, stage.addr, &plan, &fate, err);
    c->probe = (struct probe){.version = v, .stage = &stage, .arena = a, .most_launches = 1};
    if (ok && fate_open(&fate) && is_alone(&plan, &c->blocks) && can_be_probed(&stage, &plan)) {
        int64_t n = 0, counters = 0;
        ok = task_shape(t, &t->args[c->input], dims, &n, err) &&
             task_shape(t, &t->args[c->output], dims, &counters, err);
        if (ok && (double)n / c->blocks <= most && counters <= OUTPUT_ELEMENTS)
            ok = stage_run(&stage, v, &plan, &visitor, a, &fate, err);
    }
    c->ended &= fate_open(&fate) && c->elements > 0;
    stored_free(&c->reads);
    c->reads = (struct stored){0};
    probe_close(&c->probe);
    stage_close(&stage);
    return ok;
}

/* The largest shape on which a block of this version has no more elements than that. Launchers come to their
 * most blocks long before: as many elements for each of those that the domain's largest shape has. */
static bool count_far(struct counting *c, struct version *v, struct arena *a, int64_t *dims, double most,
                      struct err *err)
{
    const struct task *t = v->judge->task;
    size_t size = kernel_type_size(t->args[c->input].type);
    int log = MOST_BYTES_LOG;

    while (log > LEAST_BYTES_LOG && !task_edge(t, c->input, (int64_t)1 << log, true, dims))
        log--;
    c->ended = false;
    if (log == LEAST_BYTES_LOG)
        return true;
    if (!count(c, v, a, dims, 0, err)) /* planned */
        return false;
    double bytes = 0.98 * most * c->blocks * (double)size;
    if (bytes < ldexp(1, log) && !task_edge(t, c->input, (int64_t)bytes, true, dims))
        return true;
    return count(c, v, a, dims, most, err);
}

static const int64_t *workload(const struct task *t, bool largest)
{
    const int64_t *best = t->workloads;

    for (size_t w = 1; w < t->n_workloads; w++) {
        const int64_t *dims = t->workloads + w * t->n_dims;
        if ((task_case_elements(t, dims) > task_case_elements(t, best)) == largest)
            best = dims;
    }
    return best;
}

static bool counts_of(struct version *v, struct arena *a, struct counting like, struct fate *fate,
                      struct err *err)
{
    struct judge *j = v->judge;
    struct counting its = like, own = like;
    const int64_t *few = workload(j->task, false);
    int64_t dims[16];

    if (!count(&its, v, a, few, INFINITY, err) || !count(&own, &j->baseline, a, few, INFINITY, err))
        return false;
    double each = its.added / its.elements;
    if (!its.ended || !own.ended || !(each > 0) || own.added / own.elements != each)
        return true;
    if (!count(&its, v, a, workload(j->task, true), INFINITY, err))
        return false;
    double insns = (double)its.probe.block_insns / its.elements; /* of many */
    if (!its.ended)
        return true;
    if (!count_far(&its, v, a, dims, fmin(COUNT_ELEMENTS, 0.9 * COUNT_INSNS / insns), err))
        return false;
    if (!its.ended || its.elements < FEW_ELEMENTS || its.added / its.elements == each)
        return true;
    int64_t far[16];
    if (!count_far(&own, &j->baseline, a, far, COUNT_ELEMENTS, err))
        return false;
    if (own.ended && own.added / own.elements == each)
        fate_isf(fate, a, VERDICT_WRONG, 0,
                 "of %.0f equal elements of %s a block adds %.0f to %s: does a counter run over? (%s)",
                 its.elements, j->task->args[like.input].name, its.added, j->task->args[like.output].name,
                 task_dims_text(a, j->task, dims));
    return true;
}

bool counts_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    const struct judge *j = v->judge;
    const struct task *t = j->task;
    struct counting like = {.input = t->n_args, .output = t->n_args};
    int64_t n, most = 0;

    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        bool out = arg->role == ROLE_OUT || arg->role == ROLE_INOUT;
        if (is_counted(arg) && task_shape(t, arg, t->workloads, &n, NULL) && n > most) {
            like.input = i;
            most = n;
        }
        if (out && !type_is_floating(arg->type) && task_shape(t, arg, t->workloads, &n, NULL) &&
            n <= OUTPUT_ELEMENTS)
            like.output = i;
    }
    return !v->shared_out || (v->nvcc && !v->other_code) || like.input == t->n_args ||
           like.output == t->n_args || counts_of(v, a, like, fate, err);
}
