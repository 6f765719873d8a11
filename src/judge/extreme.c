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

#define ENOUGH 0.9 /* of an output */

/* What the original's blocks have written of an output, as long as its first launch is all there is. */
struct piece {
    uint64_t offset_bytes;
    size_t size_bytes;
    const unsigned char *bytes;
};

struct extreme {
    const int64_t *dims;
    bool told;           /* all blocks ended, and what they wrote is final */
    bool odd;            /* the original itself writes at other places, or too little */
    bool adds[MAX_ARGS]; /* outputs to which one block after the other adds */
    VEC(struct piece) pieces[MAX_ARGS];
};

struct probe {
    struct version *version;
    struct stage *stage;
    struct arena *arena;
    size_t launches;
    uint64_t blocks;     /* of the first launch */
    const char *strayed; /* what its last block did not write, but at another place */
    int64_t
        each[MAX_ARGS];  /* bytes of an output that three of its blocks have written, each the same; else 0 */
    bool busy;           /* some block did more than look at its index */
    bool ended;          /* all blocks that were run */
    bool clustered;      /* what one block writes depends on others */
    bool adds[MAX_ARGS]; /* a block has changed again what another had: a few blocks' share of a sum is no
                            answer */
    uint8_t *ran;        /* counts as covered only where the outcome was judged */
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
    struct sanitizer sanitizer;
    const struct ptx_options o = {.device = p->version->judge->device,
                                  .observers = {sanitizer_on(&sanitizer, SANITIZE_INIT)},
                                  .max_warp_insns = first ? BLOCK_INSNS : 1,
                                  .registers = k->resources.registers,
                                  .blocks = &block,
                                  .n_blocks = 1,
                                  .ran = p->ran};
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

/* Bytes of each output that are written by now. */
static void count_written(const struct probe *p, int64_t *bytes)
{
    const struct judge *j = p->stage->judge;
    unsigned char element[8];

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size, each = kernel_type_size(arg->type);
        int64_t all;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &all);
        bytes[o] = 0;
        for (uint64_t at = 0; ptx_mem_next_touched(p->stage->mem, addr, &at, &size); at += size)
            for (size_t i = 0; i + each <= size; i += each)
                bytes[o] += stage_written(p->stage, arg, addr + at + i, element, each) ? (int64_t)each : 0;
    }
}

/* An index that has lost what is above its 32 bits: the last block has not written the last element, but the
 * one 2^32 indices in front of it, of elements or of vectors of them. */
static void look_for_strays(struct probe *p)
{
    const struct judge *j = p->stage->judge;
    unsigned char element[8];

    for (size_t o = 0; o < j->n_outputs && !p->strayed; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t each = kernel_type_size(arg->type);
        int64_t bytes;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &bytes);
        uint64_t last = (uint64_t)bytes - each;
        if (bytes < (int64_t)each || stage_written(p->stage, arg, addr + last, element, each))
            continue;
        for (uint64_t vector = 1; vector <= 16 && !p->strayed; vector *= 2) {
            uint64_t back = (vector * each) << 32;
            if (back <= last && stage_written(p->stage, arg, addr + last - back, element, each))
                p->strayed = arena_printf(
                    p->arena,
                    "the last block writes element %llu of %s in the stead of element %llu: an "
                    "index of 32 bits overflows",
                    (unsigned long long)((last - back) / each), arg->name, (unsigned long long)(last / each));
        }
    }
}

static void keep_pieces(const struct probe *p, struct extreme *x)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size, element = kernel_type_size(arg->type), kept = 0;
        int64_t all;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &all);
        for (uint64_t at = 0; kept < WINDOW && ptx_mem_next_touched(p->stage->mem, addr, &at, &size);
             at += size) {
            unsigned char *bytes = arena_alloc(p->arena, size);
            if (!ptx_mem_read(p->stage->mem, addr + at, bytes, size))
                continue;
            for (size_t i = 0, n; i < size; i += n + element) {
                for (n = 0;
                     i + n < size && stage_written(p->stage, arg, addr + at + i + n, bytes + i + n, element);)
                    n += element;
                if (n)
                    vec_push(&x->pieces[o], ((struct piece){at + i, n, bytes + i}));
                kept += n;
            }
        }
    }
}

static void drop_pieces(const struct judge *j, struct extreme *x)
{
    for (size_t o = 0; o < j->n_outputs; o++)
        vec_free(&x->pieces[o]);
}

static bool changes_inputs(const struct judge *j)
{
    for (size_t o = 0; o < j->n_outputs; o++)
        if (j->task->args[j->outputs[o]].role == ROLE_INOUT)
            return true;
    return false;
}

/* Which outputs that were full before have changed again since `x` was kept? */
static void look_for_sums(struct probe *p, const struct extreme *x)
{
    const struct judge *j = p->stage->judge;
    unsigned char now[8];

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t element = kernel_type_size(arg->type);
        int64_t all;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &all);
        for (size_t k = 0; arg->role == ROLE_INOUT && !p->adds[o] && k < x->pieces[o].n; k++) {
            const struct piece *piece = &x->pieces[o].v[k];
            for (size_t i = 0; i < piece->size_bytes && !p->adds[o]; i += element)
                p->adds[o] = ptx_mem_read(p->stage->mem, addr + piece->offset_bytes + i, now, element) &&
                             memcmp(now, piece->bytes + i, element) != 0;
        }
    }
}

/* The blocks of the first launch, the last one first. */
static bool run_blocks(struct probe *p, const struct ptx_launch *l, const struct image_kernel *k,
                       const uint64_t *blocks, size_t n, struct fate *fate, struct err *err)
{
    int64_t by_now[MAX_ARGS] = {0}, before[MAX_ARGS];
    struct extreme so_far = {0};
    bool ok = true;

    const struct ptx_kernel_info *about = ptx_module_kernel(p->version->module, l->kernel);
    p->clustered = l->cluster[0] * l->cluster[1] * l->cluster[2] > 1 || about->req_cluster[0] > 1;
    p->blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    for (size_t i = n; ok && i-- > 0 && fate_open(fate);) {
        ok = run_block(p, l, k, blocks[i], true, fate, err);
        if (!ok || !fate_open(fate) || !p->ended)
            continue;
        if (changes_inputs(p->stage->judge)) {
            look_for_sums(p, &so_far);
            drop_pieces(p->stage->judge, &so_far);
            keep_pieces(p, &so_far);
        }
        memcpy(before, by_now, sizeof(before));
        count_written(p, by_now);
        if (i + 1 == n)
            look_for_strays(p);
        for (size_t o = 0; o < p->stage->judge->n_outputs; o++) {
            int64_t wrote = by_now[o] - before[o];
            if (i + 2 == n)
                p->each[o] = n == 4 && before[o] <= wrote ? wrote : 0;
            else if (i + 1 < n && wrote != p->each[o])
                p->each[o] = 0;
        }
    }
    drop_pieces(p->stage->judge, &so_far);
    return ok;
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
    ok = first ? run_blocks(p, l, k, blocks, n, fate, err) : run_block(p, l, k, blocks[0], false, fate, err);
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

/* Blocks that all write as much as some of them do not come to the whole of an output. */
static const char *too_few(const struct probe *p)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        int64_t bytes;
        stage_arg(p->stage, j->outputs[o], &bytes);
        if (arg->role == ROLE_OUT && p->each[o] &&
            (double)p->each[o] * (double)p->blocks < ENOUGH * (double)bytes)
            return arena_printf(
                p->arena,
                "its %llu blocks write %lld bytes of %s each, which has %lld: does an index or a size "
                "overflow?",
                (unsigned long long)p->blocks, (long long)p->each[o], arg->name, (long long)bytes);
    }
    return NULL;
}

/* Where both versions have written, they must agree; but to what is added up by all blocks each adds its
 * own share, which is another where blocks have another size. */
static void compare_pieces(const struct probe *p, const struct extreme *x, struct fate *fate)
{
    const struct judge *j = p->stage->judge;
    const char *where = task_dims_text(p->arena, j->task, x->dims);
    unsigned char got[8];

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t element = kernel_type_size(arg->type);
        int64_t all;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &all);
        for (size_t k = 0; !x->adds[o] && !p->adds[o] && k < x->pieces[o].n && fate_open(fate); k++) {
            const struct piece *piece = &x->pieces[o].v[k];
            struct yardstick y = yardstick_of(j, SIDE_SIM, o, piece->bytes, piece->size_bytes / element);
            if (y.most_other > 0)
                y.n_other = piece->size_bytes; /* how many there are the suite and the workloads say */
            for (size_t i = 0; i < piece->size_bytes && fate_open(fate); i += element)
                if (stage_written(p->stage, arg, addr + piece->offset_bytes + i, got, element))
                    yardstick_compare(j, p->arena, &y, where, (piece->offset_bytes + i) / element, got,
                                      piece->bytes + i, element, fate);
        }
    }
}

/* original: what it writes is kept. */
static bool verify_extreme(struct judge *j, struct version *v, struct arena *a, struct extreme *x,
                           bool original, struct fate *fate, struct err *err)
{
    const int64_t *dims = x->dims;
    struct task_values values[MAX_ARGS];
    const struct stage_data data = {.values = values, .seed = j->options.seed, .place = 1};
    struct stage stage;
    struct probe probe = {.version = v, .stage = &stage, .arena = a, .ended = true};
    const struct stage_visitor visitor = {.context = &probe, .launch = launch};
    struct plan plan;
    bool ok;

    for (size_t i = 0; i < j->task->n_args; i++) {
        values[i] = j->task->args[i].values;
        if (values[i].kind == VALUE_NORMAL)
            values[i].kind =
                VALUE_INTEGERS; /* many pages may be filled for a few bytes of each: these cost little */
    }
    judge_doing(j, arena_printf(a, "in case %s", task_dims_text(a, j->task, dims)));
    if (!stage_open(&stage, j, &stage_sim, j->task, dims, &data, err))
        return false;
    ok = version_plan(v, a, dims, stage.addr, &plan, fate, err);
    ok = ok && (!fate_open(fate) || grid_verify(v, a, dims, &plan, fate, err));
    for (size_t i = 0; ok && i < plan.n_steps && fate_open(fate); i++)
        if ((plan.steps[i].kind != PLAN_LAUNCH && plan.steps[i].size_bytes > MOVE) ||
            plan.steps[i].cooperative) {
            stage_close(&stage); /* gigabytes to be set, or a barrier of all blocks */
            return true;
        }
    probe.ran = ran_aside(v, a);
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
    if (ok && fate_open(fate) && probe.ended && !probe.clustered && plan.n_steps == 1) {
        const char *words = probe.strayed ? probe.strayed : too_few(&probe);
        if (original) {
            x->odd = words;
            x->told = !words;
            keep_pieces(&probe, x);
            memcpy(x->adds, probe.adds, sizeof(x->adds));
            ran_join(v, probe.ran);
        } else if (words && !x->odd) {
            fate_is(fate, VERDICT_WRONG, 0,
                    arena_printf(a, "%s (%s)", words, task_dims_text(a, j->task, dims)));
        } else if (x->told) {
            compare_pieces(&probe, x, fate);
            ran_join(v, probe.ran);
        }
    }
    stage_close(&stage);
    return ok;
}

bool verify_extremes(struct judge *j, struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < j->n_extremes; i++)
        ok = verify_extreme(j, v, a, &j->extremes[i], false, fate, err);
    return ok;
}

bool verify_extreme_shape(struct judge *j, struct version *v, struct arena *a, const int64_t *dims,
                          struct fate *fate, struct err *err)
{
    struct extreme x = {.dims = dims};
    struct fate original = {0};
    bool ok = verify_extreme(j, &j->baseline, a, &x, true, &original, err) &&
              (!fate_open(&original) || verify_extreme(j, v, a, &x, false, fate, err));

    drop_pieces(j, &x);
    return ok;
}

/* Where the original itself fails, candidates may. */
bool verify_prepare_extremes(struct judge *j, struct version *original, struct err *err)
{
    const int64_t **shapes;
    size_t n;

    task_extremes(j->task, j->arena, &shapes, &n);
    j->extremes = arena_array(j->arena, struct extreme, n + j->task->n_workloads);
    for (size_t i = 0; i < n + j->task->n_workloads; i++) {
        struct extreme x = {.dims = i < n ? shapes[i] : j->task->workloads + (i - n) * j->task->n_dims};
        struct fate fate = {0};
        if (!verify_extreme(j, original, j->arena, &x, true, &fate, err))
            return false;
        if (fate_open(&fate))
            j->extremes[j->n_extremes++] = x;
    }
    return true;
}

void extremes_close(struct judge *j)
{
    for (size_t i = 0; i < j->n_extremes; i++)
        drop_pieces(j, &j->extremes[i]);
}
