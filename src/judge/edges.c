/* On either side of 2^32 bytes, elements and vectors of an input or an output: a few blocks of each launch,
 * where blocks that add by atomics, or a launch behind another, leave nothing that can be compared. The version
 * is held to itself: two shapes differ by two hundredths, and have the same launches. Whoever counts in 32 bits
 * does next to nothing on the larger one, never ends there, or goes to a place that lies 2^32 in front of the
 * end. */
#include "probe.h"

enum {
    EDGE_INSNS = 2000000, /* of a block, while all before it have ended, */
    FEW_INSNS = 150000,   /* where no block has ended within these */
    EDGE_BLOCKS = 3,      /* the first, the last but one and the last */
    LEAP_INSNS = 200000,  /* and where they leap */
    MOST_LAUNCHES = 3,
    MOST_UNIT = 16,            /* bytes of a vector */
    MOST_TOUCHED = 1100 << 20, /* bytes of buffers: a worker's memory is bounded */
};
#define LITTLE 0.5
#define ENOUGH 0.75 /* of the share of an output that is written on the smaller shape */
#define EVEN   0.02

struct edge_block {
    bool ran, ended, leapt;
    bool end, instead; /* it read the input's end, or what lies 2^32 units in front of it */
    uint64_t insns;
    double loaded, stored; /* bytes, if all blocks did so */
};

struct side {
    struct probe probe;
    size_t input, output; /* arguments; n_args: none */
    uint64_t unit, limit;
    bool leaps;
    bool compares; /* with the original, what blocks write where they have leapt to */
    size_t launches;
    const char *kernels[MOST_LAUNCHES];
    struct edge_block of[MOST_LAUNCHES][EDGE_BLOCKS];
    bool known, full;
    uint64_t touched;           /* bytes of buffers */
    double in_bytes, out_bytes; /* of input and output */
};

static bool run_one(struct side *s, const struct grid *g, uint64_t block, uint64_t limit, struct edge_block *x,
                    struct fate *fate, struct err *err)
{
    struct probe *p = &s->probe;
    const struct task *t = p->stage->task;
    uint64_t addr = 0, end;
    int64_t size = 0;

    p->n_watched = 0;
    p->loaded = 0;
    if (s->input < t->n_args) {
        addr = stage_arg(p->stage, s->input, &size);
        end = addr + (uint64_t)size - kernel_type_size(t->args[s->input].type);
        p->watched[0] = (struct watched){end, false};
        p->watched[1] = (struct watched){end - (s->unit << 32), false};
        p->n_watched = (uint64_t)size > s->unit << 32 ? 2 : 1;
    }
    s->in_bytes = (double)size;
    p->metered = addr;
    p->metered_bytes = (uint64_t)size;
    p->unasked = !g->first;
    struct ptx_leaps leaps = {0};
    p->leaps = s->leaps ? &leaps : NULL;
    bool ok = probe_block(p, g, block, limit, &x->ended, fate, err);
    double times[2]; /* what loops move stands for so many times as much */
    for (int k = 0; k < 2; k++)
        times[k] = leaps.turns[k] ? 1 + (double)leaps.skipped[k] / (double)leaps.turns[k] : 1;
    bool leapt = leaps.leapt;
    ptx_leaps_clear(&leaps);
    p->leaps = NULL;
    if (!ok)
        return false;
    if (s->compares && x->ended)
        look_for_sums(p);
    x->ran = true;
    x->insns = p->block_insns;
    x->leapt = leapt;
    x->loaded = p->loaded * times[0] * (double)g->blocks;
    x->end = p->watched[0].read;
    x->instead = p->n_watched == 2 && p->watched[1].read;
    if (s->output < t->n_args) {
        addr = stage_arg(p->stage, s->output, &size);
        s->out_bytes = (double)size;
        x->stored = (double)stored_bytes(&p->block, addr, (uint64_t)size) * times[1] * (double)g->blocks;
    }
    return true;
}

/* What blocks have touched stays, whoever comes behind them. Is there room for what one more may touch? */
static bool may_touch_more(struct side *s)
{
    const struct stage *stage = s->probe.stage;
    uint64_t bytes = 0, before = s->touched, offset;
    size_t size;

    for (size_t i = 0; i < stage->n_buffers; i++)
        for (offset = 0; ptx_mem_next_touched(stage->mem, stage->addr[i], &offset, &size); offset += size)
            bytes += size;
    s->touched = bytes;
    return bytes + (bytes - before) <= MOST_TOUCHED;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct side *s = context;
    const struct grid g = {l, k, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], s->launches == 0};
    const uint64_t blocks[EDGE_BLOCKS] = {0, g.blocks - MIN(g.blocks, 2u), g.blocks - 1};

    s->known &= s->launches < MOST_LAUNCHES && !step->cooperative && step->cluster[0] <= 1;
    if (!s->known)
        return true;
    s->kernels[s->launches] = arena_strdup(s->probe.arena, step->kernel);
    uint64_t limit = s->limit;
    for (size_t i = 0; i < EDGE_BLOCKS && fate_open(fate) && !s->full; i++) {
        struct edge_block *x = &s->of[s->launches][i];
        if (!run_one(s, &g, blocks[i], limit, x, fate, err))
            return false;
        s->full = !may_touch_more(s);
        if (!x->ended && !s->leaps)
            limit = MIN(limit, (uint64_t)FEW_INSNS);
    }
    s->launches++;
    return true;
}

static bool run_side(struct side *s, struct version *v, struct arena *a, const int64_t *dims, struct fate *fate,
                     struct err *err)
{
    const struct stage_visitor visitor = {.context = s, .launch = launch};
    struct stage stage;
    struct plan plan;
    bool ok = true;

    s->known = false;
    if (!has_room(v->judge->task, dims))
        return true;
    if (!probe_open(&stage, v, a, dims, &plan, fate, err))
        return false;
    s->probe = (struct probe){.version = v, .stage = &stage, .arena = a};
    s->known = fate_open(fate) && can_be_probed(&stage, &plan);
    if (s->known)
        ok = stage_run(&stage, v, &plan, &visitor, a, fate, err);
    s->known &= fate_open(fate);
    if (ok && s->known && s->compares && plan.n_steps == 1) {
        ok = compare_far(&s->probe, &(struct extreme){.dims = dims}, fate, err);
        s->compares = fate_open(fate);
    }
    probe_close(&s->probe);
    stage_close(&stage);
    return ok;
}

/* What the larger shape shows of a block beside the smaller one; NULL: nothing. The last block has what is left
 * over, which says nothing of how much. */
static const char *fault_of(const struct edge_block *below, const struct edge_block *above, bool first,
                            bool last)
{
    if (!below->ran || !above->ran)
        return NULL;
    if (first && below->ended && !above->ended && below->insns > FEW_INSNS)
        return "a block does not end within twice the instructions that it needs for a little less";
    if (!last && above->ended && above->stored < LITTLE * below->stored)
        return "blocks write less than half of what they write where there is a little less";
    if (!last && above->ended && above->loaded < LITTLE * below->loaded)
        return "blocks read less than half of what they read where there is a little less";
    if (first && below->end && above->ended && !above->end && above->instead)
        return "a block reads what lies 2^32 in front of an input's end in its stead";
    return NULL;
}

static bool same_launches(const struct side *x, const struct side *y)
{
    bool same = x->known && y->known && x->launches == y->launches;

    for (size_t i = 0; same && i < x->launches; i++)
        same = str_eq(x->kernels[i], y->kernels[i]);
    return same;
}

static bool is_even(const struct edge_block *x, double first, double second)
{
    return x[0].ended && x[1].ended && first > 0 && fabs(first - second) < EVEN * first;
}

/* Of the first launch. Loops that end by what is read may be longer or shorter: of how much is read, and
 * written, is asked only where two blocks move the same. What is read counts where nothing else tells. */
static const char *leap_fault(const struct side *below, const struct side *above)
{
    const struct edge_block *x = below->of[0], *y = above->of[0];

    for (size_t b = 0; b < EDGE_BLOCKS; b++)
        if (x[b].ended && x[b].leapt && y[b].ran && !y[b].ended && y[b].leapt)
            return "a block does not end within eight times the instructions that others need for a little less";
    if (below->probe.version->shared_out && is_even(x, x[0].loaded, x[1].loaded) &&
        is_even(y, y[0].loaded, y[1].loaded) && below->in_bytes > 0 &&
        y[0].loaded / above->in_bytes < ENOUGH * x[0].loaded / below->in_bytes)
        return "blocks read less than three quarters of what they read where there is a little less";
    if (is_even(x, x[0].stored, x[1].stored) && is_even(y, y[0].stored, y[1].stored) && below->out_bytes > 0 &&
        y[0].stored / above->out_bytes < ENOUGH * x[0].stored / below->out_bytes)
        return "blocks write less than three quarters of what they write where there is a little less";
    if (x[0].end && y[0].ended && !y[0].end && y[0].instead)
        return "a block reads what lies 2^32 in front of an input's end in its stead";
    return NULL;
}

/* With leaps: below, a little above, and far above. What is wrong below says nothing of a version. */
static bool leap_verify(const struct side *like, struct version *v, struct arena *a, size_t arg,
                        struct fate *fate, struct err *err)
{
    static const int times[] = {1, 4, 2};
    const struct task *t = v->judge->task;
    int64_t dims[16], bytes = (int64_t)(like->unit << 32);
    struct side x = *like;
    struct fate small = {0};

    x.leaps = true;
    x.compares = arg == like->output && like->unit == kernel_type_size(t->args[arg].type);
    x.limit = LEAP_INSNS;
    if (!task_edge(t, arg, bytes, false, dims))
        return true;
    if (!run_side(&x, v, a, dims, &small, err))
        return false;
    if (!x.known || !x.launches || !x.of[0][0].ended)
        return true;
    for (size_t k = 0; k < ARRAY_LEN(times) && fate_open(fate); k++) {
        struct side y = *like;
        y.leaps = true;
        y.compares = x.compares && times[k] == 1; /* and below they agree */
        y.limit = 8 * (uint64_t)times[k] * LEAP_INSNS;
        if (!task_edge(t, arg, times[k] * bytes, true, dims))
            continue;
        if (!run_side(&y, v, a, dims, fate, err))
            return false;
        const char *words = same_launches(&x, &y) ? leap_fault(&x, &y) : NULL;
        if (words && fate_open(fate))
            fate_isf(fate, a, VERDICT_WRONG, 0, "%s: does an index of 32 bits overflow? (%s)", words,
                     task_dims_text(a, t, dims));
    }
    return true;
}

static bool edge_verify(struct side *like, struct version *v, struct arena *a, size_t arg, struct fate *fate,
                        struct err *err)
{
    const struct task *t = v->judge->task;
    int64_t below[16], above[16], bytes = (int64_t)(like->unit << 32);
    struct side x = *like, y = *like;
    struct fate small = {0};
    bool all_ended = true, none_ended = true;

    if (!task_edge(t, arg, bytes, false, below) || !task_edge(t, arg, bytes, true, above))
        return true;
    if (!run_side(&x, v, a, below, &small, err))
        return false;
    if (!x.known)
        return true;
    for (size_t i = 0; i < x.launches; i++)
        for (size_t b = 0; b < EDGE_BLOCKS; b++) {
            all_ended &= x.of[i][b].ended;
            none_ended &= !x.of[i][b].ended;
        }
    if (none_ended) /* whoever ends above does so for doing next to nothing there */
        y.limit = FEW_INSNS;
    else
        y.limit = 2 * x.limit;
    if (!run_side(&y, v, a, above, fate, err))
        return false;
    for (size_t i = 0; same_launches(&x, &y) && i < x.launches; i++)
        for (size_t b = 0; b < EDGE_BLOCKS && fate_open(fate); b++) {
            const char *words = fault_of(&x.of[i][b], &y.of[i][b], i == 0, b + 1 == EDGE_BLOCKS);
            if (words)
                fate_isf(fate, a, VERDICT_WRONG, 0, "%s: does an index of 32 bits overflow? (%s)", words,
                         task_dims_text(a, t, above));
        }
    if (!all_ended)
        like->limit = FEW_INSNS;
    return all_ended || !fate_open(fate) || leap_verify(like, v, a, arg, fate, err);
}

/* The largest buffer of such a role on the first workload; n_args: none. */
static size_t largest(const struct task *t, bool output)
{
    size_t best = t->n_args;
    int64_t most = 0, n;

    for (size_t i = 0; i < t->n_args; i++) {
        enum task_role role = t->args[i].role;
        bool right = output ? role == ROLE_OUT || role == ROLE_INOUT : role == ROLE_IN;
        if (!right || !task_shape(t, &t->args[i], t->workloads, &n, NULL) || n <= most)
            continue;
        most = n;
        best = i;
    }
    return best;
}

bool edges_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    const struct task *t = v->judge->task;
    struct side s = {.input = largest(t, false), .output = largest(t, true), .limit = EDGE_INSNS};
    size_t args[] = {s.input, s.output};
    bool ok = true;

    for (size_t k = 0; ok && (v->shared_out || v->lasting) && k < ARRAY_LEN(args); k++)
        for (s.unit = 1; ok && fate_open(fate) && args[k] < t->n_args && s.unit <= MOST_UNIT; s.unit *= 2)
            ok = v->shared_out ? edge_verify(&s, v, a, args[k], fate, err)
                               : leap_verify(&s, v, a, args[k], fate, err);
    return ok;
}
