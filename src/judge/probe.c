/* One block of a shape that may be far too large to be run whole: its buffers, the run, and what it wrote. */
#include "probe.h"

enum { IDLE_INSNS = 60 }; /* a warp that did less has done nothing */

#define MOST_BYTES  0x1p38 /* of a shape's buffers: half of what the simulator reserves */
#define SMALL_BYTES 0x1p28 /* a worker has room for all of them, and for what the checks know of each byte */

static double bytes_of(const struct task *t, const int64_t *dims)
{
    double bytes = 0;
    int64_t n;

    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role != ROLE_SCALAR && task_shape(t, &t->args[i], dims, &n, NULL))
            bytes += (double)n * (double)kernel_type_size(t->args[i].type);
    return bytes;
}

bool can_be_probed(const struct stage *s, const struct plan *plan)
{
    double bytes = bytes_of(s->task, s->dims);

    for (size_t i = 0; i < plan->n_workspaces; i++) {
        bytes += (double)plan->workspace_bytes[i];
        if (plan->workspace_bytes[i] > 0 && bytes > (double)s->judge->device->dram_bytes)
            return false;
    }
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].cooperative)
            return false;
    return !stage_moves_much(s, plan);
}

bool has_room(const struct task *t, const int64_t *dims)
{
    return bytes_of(t, dims) < MOST_BYTES;
}

bool is_small(const struct task *t, const int64_t *dims)
{
    return bytes_of(t, dims) < SMALL_BYTES;
}

bool in_place(const struct task *t)
{
    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role == ROLE_INOUT)
            return true;
    return false;
}

/* An in-place argument of integers may hold places, which another launch's blocks have not made yet. */
static bool holds_places(const struct task *t)
{
    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role == ROLE_INOUT && !type_is_floating(t->args[i].type))
            return true;
    return false;
}

static bool certain(const struct probe *p, const struct ptx_report *r, bool first)
{
    bool sure = first || !(p->updated || holds_places(p->stage->task));
    enum ptx_finding_kind kind = r->n_findings ? r->findings[0].kind : PTX_LOOP;

    return r->end == PTX_BAD_LAUNCH ||
           (sure && r->end == PTX_UNSAFE &&
            (kind == PTX_OUT_OF_BOUNDS || kind == PTX_MISALIGNED || kind == PTX_NULL ||
             kind == PTX_READ_ONLY_WRITTEN || kind == PTX_EARLY || kind == PTX_RACE_SHARED));
}

static void note_load(void *context, uint64_t addr, uint64_t bytes)
{
    struct probe *p = context;

    if (p->reads)
        stored_note(p->reads, addr, bytes, false);
    if (addr - p->metered < p->metered_bytes)
        p->loaded += (double)bytes;
    for (size_t i = 0; i < p->n_watched; i++)
        p->watched[i].read |= p->watched[i].addr - addr < bytes;
}

static void note_store(void *context, uint64_t addr, uint64_t bytes, bool atomic)
{
    stored_note(&((struct probe *)context)->block, addr, bytes, atomic);
}

bool probe_block(struct probe *p, const struct grid *g, uint64_t block, uint64_t insns, bool *ended,
                 struct fate *fate, struct err *err)
{
    struct sanitizer sanitizer;
    /* A block of the first launch races in its shared memory whatever others do. Leaps tear a thread's order.
     */
    unsigned races = p->leaps || !g->first ? 0 : checks_of(p->version->judge) & SANITIZE_RACE_SHARED;
    unsigned checks = p->unasked ? SANITIZE_NC : SANITIZE_INIT | races;
    const struct sanitize_stores stores = {p, note_store,
                                           p->n_watched || p->reads || p->metered_bytes ? note_load : NULL};
    const struct sanitize_ahead ahead = stage_ahead(p->stage);
    const struct ptx_options o = {.device = p->version->judge->device,
                                  .observers = {sanitizer_on(&sanitizer, checks)},
                                  .max_warp_insns = insns,
                                  .registers = g->kernel->resources.registers,
                                  .blocks = &block,
                                  .n_blocks = 1,
                                  .leaps = p->leaps,
                                  .ran = p->ran};
    struct ptx_report report = {0};
    const struct ptx_launch *l = g->launch;
    double warps = ceil((double)l->block[0] * l->block[1] * l->block[2] / 32);
    int64_t size;

    sanitizer.stores = &stores;
    sanitizer.ahead = &ahead;
    stored_clear(&p->block);
    bool ok = ptx_run(p->version->module, p->stage->mem, l, &o, &report, err);
    p->insns += report.warp_insns;
    p->block_insns = report.warp_insns;
    p->busy |= (double)report.warp_insns > IDLE_INSNS * warps;
    *ended = report.end == PTX_DONE;
    stored_settle(&p->block);
    if (p->stage->ahead.followed)
        stored_join(&p->stage->ahead.writes, &p->block);
    p->atomics |= p->block.atomics.n > 0;
    for (size_t i = 0; i < p->stage->judge->n_outputs; i++) {
        uint64_t addr = stage_arg(p->stage, p->stage->judge->outputs[i], &size);
        p->wrote |= stored_bytes(&p->block, addr, (uint64_t)size) > 0;
    }
    if (ok && (!p->unasked || report.end == PTX_BAD_LAUNCH) && certain(p, &report, g->first))
        fate_of_report(p->arena, p->version, &report, task_dims_text(p->arena, p->stage->task, p->stage->dims),
                       fate);
    p->undefined = report.n_findings && report.findings[0].kind == PTX_UNINITIALISED;
    ptx_report_clear(&report);
    return ok;
}

/* Where other blocks' results are missing it goes on with anything; nothing is certain then but where it
 * writes. */
bool probe_unasked(struct probe *p, const struct grid *g, uint64_t block, bool *ended, struct fate *fate,
                   struct err *err)
{
    p->unasked = true;
    bool ok = probe_block(p, g, block, BLOCK_INSNS, ended, fate, err);
    p->unasked = false;
    return ok;
}

void probe_close(struct probe *p)
{
    stored_free(&p->block);
    stored_free(&p->others);
    stored_free(&p->earlier);
}

/* Numbers that cost little, as many pages may be filled for a few bytes of each. Half of the indices are their
 * range's last one or its first, which may mean something else: padding. */
static void cheap_values(const struct task *t, const int64_t *dims, struct task_values *values, struct arena *a)
{
    for (size_t i = 0; i < t->n_args; i++) {
        int64_t low = (int64_t)t->args[i].values.low, high;
        values[i] = t->args[i].values;
        if (values[i].kind == VALUE_NORMAL)
            values[i].kind = VALUE_INTEGERS;
        if (values[i].kind != VALUE_INDEX || kernel_type_size(t->args[i].type) < 4 || values[i].n_special ||
            !values[i].high_expr || !dim_eval(values[i].high_expr, dims, &high) ||
            (values[i].low_expr && !dim_eval(values[i].low_expr, dims, &low)))
            continue;
        values[i].special = arena_copy(a, (double[]){(double)low, (double)high - 1}, 2 * sizeof(double));
        values[i].n_special = 2;
        values[i].special_share = 0.5;
    }
}

bool probe_open(struct stage *stage, struct version *v, struct arena *a, const int64_t *dims, struct plan *plan,
                struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct task_values *values = arena_array(a, struct task_values, j->task->n_args + 1);
    const struct stage_data data = {.values = values, .seed = j->options.seed, .place = 1, .cheap = true};

    *plan = (struct plan){0};
    cheap_values(j->task, dims, values, a);
    if (!stage_open(stage, j, &stage_sim, j->task, dims, &data, err))
        return false;
    if (!version_plan(v, a, dims, stage->addr, plan, fate, err)) {
        stage_close(stage);
        return false;
    }
    return true;
}
