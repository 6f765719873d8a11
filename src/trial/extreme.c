/* The largest shapes of the domain, and the workloads, most of which are larger than the suite's cases:
 * planned, and a few blocks of them run. That shows launches which no device takes, indices that outgrow their
 * type and accesses far outside; a whole run would take hours. Only what is certain counts: a block that takes
 * too long, or needs what other blocks do, says nothing. */
#include "internal.h"

enum {
    BLOCK_INSNS = 30000, /* of one block's run */
    IDLE_INSNS = 60,     /* a warp that did less has done nothing */
    WINDOW = 1 << 16,    /* bytes looked at, at either end of an output */
    NEIGHBOURS = 64,     /* of the first block, when the others read nothing */
    MOVE = 1 << 24,      /* bytes that are set or copied beside the blocks; more would take too long */
};

struct probe {
    struct version *version;
    struct stage *stage;
    struct arena *arena;
    size_t launches;
    bool busy;  /* some block did more than look at its index */
    bool ended; /* all blocks that were run */
};

static size_t some_blocks(const struct ptx_launch *l, uint64_t blocks[4])
{
    uint64_t n = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const uint64_t wanted[] = {0, n / 3, n / 2, n - 1};
    size_t k = 0;

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (k == 0 || wanted[i] > blocks[k - 1])
            blocks[k++] = wanted[i];
    return k;
}

static bool certain(const struct ptx_report *r, bool first)
{
    enum ptx_finding_kind kind = r->n_findings ? r->findings[0].kind : PTX_LOOP;

    return r->end == PTX_BAD_LAUNCH ||
           (first && r->end == PTX_UNSAFE &&
            (kind == PTX_OUT_OF_BOUNDS || kind == PTX_MISALIGNED || kind == PTX_NULL));
}

static bool run_block(struct probe *p, const struct ptx_launch *l, const struct image_kernel *k, uint64_t block,
                      bool first, struct fate *fate, struct err *err)
{
    const struct ptx_options o = {.device = p->version->judge->device,
                                  .checks = PTX_CHECK_INIT,
                                  .max_warp_insns = first ? BLOCK_INSNS : 1,
                                  .registers = k->resources.registers,
                                  .blocks = &block,
                                  .n_blocks = 1};
    struct ptx_report report = {0};
    double warps = ceil((double)l->block[0] * l->block[1] * l->block[2] / 32);
    bool ok = ptx_run(p->version->module, p->stage->mem, l, &o, &report, err);

    p->busy |= (double)report.warp_insns > IDLE_INSNS * warps;
    p->ended &= report.end == PTX_DONE;
    if (ok && certain(&report, first))
        fate_of_report(p->arena, p->version, &report, task_dims_text(p->arena, p->stage->task, p->stage->dims),
                       fate);
    ptx_report_clear(&report);
    return ok;
}

static bool anything_read(const struct judge *j, const struct stage *s)
{
    size_t inputs = 0;

    for (size_t i = 0; i < j->task->n_args; i++) {
        int64_t size;
        if (j->task->args[i].role != ROLE_IN && j->task->args[i].role != ROLE_INOUT)
            continue;
        if (ptx_mem_touched(s->mem, stage_arg(s, i, &size)))
            return true;
        inputs++;
    }
    return inputs == 0;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct probe *p = context;
    uint64_t blocks[4];
    size_t n = some_blocks(l, blocks);
    /* What a later launch reads, all blocks of the first would have made: of it only the configuration is
     * looked at. */
    bool first = p->launches++ == 0;
    bool ok = true;

    (void)step;
    for (size_t i = 0; ok && fate_open(fate) && i < (first ? n : 1); i++)
        ok = run_block(p, l, k, blocks[i], first, fate, err);
    /* Where these read nothing, others may have to: that costs next to nothing to find out. */
    for (uint64_t b = 1; ok && fate_open(fate) && first && b < NEIGHBOURS && b < blocks[n - 1] &&
                         !anything_read(p->stage->judge, p->stage);
         b++)
        ok = run_block(p, l, k, b, first, fate, err);
    return ok;
}

static bool anything_written(const struct judge *j, const struct stage *s)
{
    for (size_t o = 0; o < j->n_outputs; o++) {
        int64_t size;
        uint64_t addr = stage_arg(s, j->outputs[o], &size);
        int64_t window = MIN(size, (int64_t)WINDOW),
                element = (int64_t)kernel_type_size(j->task->args[j->outputs[o]].type);
        if (j->task->args[j->outputs[o]].role == ROLE_INOUT)
            return true; /* it was full before */
        for (int64_t i = 0; i < window; i += element)
            if (ptx_mem_first_uninitialised(s->mem, addr + (uint64_t)i, (size_t)element) < 0 ||
                ptx_mem_first_uninitialised(s->mem, addr + (uint64_t)(size - window + i), (size_t)element) < 0)
                return true;
    }
    return j->n_outputs == 0;
}

static bool verify_extreme(struct judge *j, struct version *v, struct arena *a, const int64_t *dims,
                           struct fate *fate, struct err *err)
{
    struct task_values values[MAX_ARGS];
    const struct stage_data data = {.values = values, .seed = j->options.seed, .place = 1};
    struct stage stage;
    struct probe probe = {.version = v, .stage = &stage, .arena = a, .ended = true};
    const struct stage_visitor visitor = {.context = &probe, .launch = launch};
    struct plan plan;
    bool ok;

    for (size_t i = 0; i < j->task->n_args; i++)
        values[i] = j->task->args[i].values;
    if (!stage_open(&stage, j, &stage_sim, j->task, dims, &data, err))
        return false;
    ok = version_plan(v, a, dims, stage.addr, &plan, fate, err);
    for (size_t i = 0; ok && i < plan.n_steps && fate_open(fate); i++)
        if ((plan.steps[i].kind != PLAN_LAUNCH && plan.steps[i].size_bytes > MOVE) ||
            plan.steps[i].cooperative) {
            stage_close(&stage); /* gigabytes to be set, or a barrier of all blocks */
            return true;
        }
    ok = ok && (!fate_open(fate) || stage_run(&stage, v, &plan, &visitor, a, fate, err));
    if (ok && fate_open(fate) && probe.launches == 1 && !probe.busy && !anything_written(j, &stage))
        fate_is(fate, VERDICT_WRONG, 0,
                arena_printf(a,
                             "the first, the last and more blocks end at once and write nothing: does an "
                             "index or a size overflow? (%s)",
                             task_dims_text(a, j->task, dims)));
    if (ok && fate_open(fate) && probe.launches == 1 && probe.ended && !anything_read(j, &stage))
        fate_is(fate, VERDICT_WRONG, 0,
                arena_printf(a,
                             "the first, the last and more blocks read nothing of the inputs: does an index or "
                             "a size overflow? (%s)",
                             task_dims_text(a, j->task, dims)));
    stage_close(&stage);
    return ok;
}

bool verify_extremes(struct judge *j, struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < j->n_extremes; i++)
        ok = verify_extreme(j, v, a, j->extremes[i], fate, err);
    return ok;
}

/* Where the original itself fails, candidates may. */
bool verify_prepare_extremes(struct judge *j, struct version *original, struct err *err)
{
    const int64_t **shapes;
    size_t n;

    task_extremes(j->task, j->arena, &shapes, &n);
    j->extremes = arena_array(j->arena, const int64_t *, n + j->task->n_workloads);
    for (size_t i = 0; i < n + j->task->n_workloads; i++) {
        const int64_t *dims = i < n ? shapes[i] : j->task->workloads + (i - n) * j->task->n_dims;
        struct fate fate = {0};
        if (!verify_extreme(j, original, j->arena, dims, &fate, err))
            return false;
        if (fate_open(&fate))
            j->extremes[j->n_extremes++] = dims;
    }
    return true;
}
