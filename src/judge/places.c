/* What two versions have left in the same places of a shape that is too large to be run whole. Where they share
 * out the work in other ways, the original's blocks are sought that write what the candidate's have written. */
#include "probe.h"

enum {
    WINDOW = 1 << 16,   /* bytes of an output that are kept, half of them the last */
    MOST_TARGETS = 3,   /* places that are sought */
    MOST_RUN = 16,      /* blocks of the original for them */
    FIRST_INSNS = 4000, /* until a block has written something */
};

void look_for_sums(struct probe *p)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        int64_t size;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &size);
        p->adds[o] |= stored_atomically(&p->block, addr, (uint64_t)size);
        if (j->task->args[j->outputs[o]].role == ROLE_INOUT)
            p->adds[o] |= stored_overlap(&p->block, &p->others, addr, (uint64_t)size);
    }
    stored_join(&p->others, &p->block);
}

/* [from, to), of which what is defined becomes pieces; how many bytes. */
static size_t keep_range(const struct probe *p, struct extreme *x, size_t o, uint64_t from, uint64_t to)
{
    const struct judge *j = p->stage->judge;
    const struct task_arg *arg = &j->task->args[j->outputs[o]];
    size_t element = kernel_type_size(arg->type), size = (size_t)(to - from) / element * element, kept = 0;
    unsigned char *bytes = arena_alloc(p->arena, size + 1);
    int64_t all;
    uint64_t addr = stage_arg(p->stage, j->outputs[o], &all);

    for (size_t i = 0, n; i < size; i += n + element) {
        for (n = 0; i + n < size && stage_written(p->stage, arg, from + i + n, bytes + i + n, element);)
            n += element;
        if (n)
            vec_push(&x->pieces[o], ((struct piece){from - addr + i, n, bytes + i}));
        kept += n;
    }
    return kept;
}

void keep_pieces(const struct probe *p, struct extreme *x)
{
    const struct judge *j = p->stage->judge;
    const struct stored *s = &p->others;

    for (size_t o = 0; o < j->n_outputs; o++) {
        uint64_t element = kernel_type_size(j->task->args[j->outputs[o]].type);
        size_t kept = 0;
        int64_t all;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &all), end = addr + (uint64_t)all, below = addr;
        for (size_t k = 0; kept < WINDOW / 2 && k < s->ranges.n; k++) {
            uint64_t from = MAX(s->ranges.v[k].from, addr),
                     to = MIN(MIN(s->ranges.v[k].to, end), from + WINDOW / 2);
            if (from >= to)
                continue;
            kept += keep_range(p, x, o, from, to);
            below = to;
        }
        for (size_t k = s->ranges.n; kept < WINDOW && k-- > 0 && s->ranges.v[k].to > below;) {
            uint64_t from = MAX(s->ranges.v[k].from, below), to = MIN(s->ranges.v[k].to, end);
            if (from >= to)
                continue;
            if (to - from > WINDOW / 2)
                from += (to - from - WINDOW / 2) / element * element;
            kept += keep_range(p, x, o, from, to);
        }
    }
}

void drop_pieces(const struct judge *j, struct extreme *x)
{
    for (size_t o = 0; o < j->n_outputs; o++)
        vec_free(&x->pieces[o]);
}

/* Of an output's elements, in whatever pieces they were kept: a piece of one row may be next to nothing. */
static double pieces_scale(const struct judge *j, const struct extreme *x, size_t o, size_t element)
{
    double most = 0;

    for (size_t k = 0; k < x->pieces[o].n; k++) {
        const struct piece *piece = &x->pieces[o].v[k];
        most = fmax(most, error_scale_of(j, SIDE_SIM, o, piece->bytes, piece->size_bytes / element).scale);
    }
    return most;
}

/* Where both versions have written, they must agree; but to what is added up by all blocks each adds its
 * own share, which is another where blocks have another size. */
void compare_pieces(const struct probe *p, const struct extreme *x, struct fate *fate)
{
    const struct judge *j = p->stage->judge;
    const char *where = task_dims_text(p->arena, j->task, x->dims);
    unsigned char got[8];

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t element = kernel_type_size(arg->type);
        int64_t all;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &all);
        double scale = pieces_scale(j, x, o, element);
        for (size_t k = 0; !x->adds[o] && !p->adds[o] && k < x->pieces[o].n && fate_open(fate); k++) {
            const struct piece *piece = &x->pieces[o].v[k];
            struct error_scale y = error_scale_of(j, SIDE_SIM, o, piece->bytes, piece->size_bytes / element);
            y.where = where;
            y.scale = scale;
            error_scale_like(&y); /* small integers are all that they are made of */
            if (y.most_other > 0)
                y.n_other = piece->size_bytes; /* how many there are the suite and the workloads say */
            for (size_t i = 0; i < piece->size_bytes && fate_open(fate); i += element)
                if (stored_bytes(&p->others, addr + piece->offset_bytes + i, element) &&
                    stage_written(p->stage, arg, addr + piece->offset_bytes + i, got, element))
                    error_scale_compare(p->arena, &y, (piece->offset_bytes + i) / element, got,
                                        piece->bytes + i, element, fate);
        }
    }
}

/* ---- far places ---- */

struct target {
    size_t output;
    uint64_t offset_bytes;
};

/* The original, run where the targets are. */
struct seeker {
    struct probe probe;
    struct target targets[MOST_TARGETS];
    size_t n_targets;
    struct {
        uint64_t block;
        bool ended;
    } run[MOST_RUN];
    size_t n_run;
};

static bool is_kept(const struct extreme *x, size_t output, uint64_t offset)
{
    for (size_t i = 0; x->told && i < x->pieces[output].n; i++)
        if (offset - x->pieces[output].v[i].offset_bytes < x->pieces[output].v[i].size_bytes)
            return true;
    return false;
}

/* Of each output beyond 2^31 elements the last place that the candidate has written, and a middle one. */
static void add_targets(const struct probe *p, const struct extreme *x, struct seeker *s)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        uint64_t element = kernel_type_size(j->task->args[j->outputs[o]].type);
        int64_t bytes;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &bytes);
        size_t first = 0, end = p->others.ranges.n;
        while (first < end && p->others.ranges.v[first].to <= addr)
            first++;
        while (end > first && p->others.ranges.v[end - 1].from >= addr + (uint64_t)bytes)
            end--;
        if (bytes / (int64_t)element <= INT32_MAX || p->adds[o] || x->adds[o])
            continue;
        for (size_t k = 0; k < 2 && first < end && s->n_targets < MOST_TARGETS; k++) {
            uint64_t last = p->others.ranges.v[k ? (first + end) / 2 : end - 1].to;
            uint64_t at = (MIN(last, addr + (uint64_t)bytes) - 1 - addr) / element * element;
            if (!is_kept(x, o, at))
                s->targets[s->n_targets++] = (struct target){o, at};
        }
    }
}

/* Each block once: what works in place does its work again. */
static bool run_once(struct seeker *s, const struct grid *g, uint64_t block, bool far, struct err *err)
{
    struct probe *p = &s->probe;
    struct fate fate = {0};
    bool ended, ok;

    for (size_t i = 0; i < s->n_run; i++)
        if (s->run[i].block == block && (s->run[i].ended || !far || in_place(p->stage->task)))
            return true;
    if (s->n_run == MOST_RUN)
        return true;
    ok = far ? probe_block_far(p, g, block, &ended, &fate, err)
             : probe_block(p, g, block, FIRST_INSNS, &ended, &fate, err);
    ended &= ok && fate_open(&fate);
    p->lasting |= ok && !ended && !far;
    if (ended)
        look_for_sums(p);
    s->run[s->n_run].block = block;
    s->run[s->n_run++].ended = ended;
    return ok;
}

/* Where in the output this block begins to write; *known: it writes there at all. */
static bool begin_of(struct seeker *s, const struct grid *g, size_t output, uint64_t block, int64_t *offset,
                     bool *known, struct err *err)
{
    struct probe *p = &s->probe;
    const struct judge *j = p->stage->judge;
    int64_t bytes;
    uint64_t addr = stage_arg(p->stage, j->outputs[output], &bytes);

    stored_clear(&p->block);
    *known = false;
    if (!run_once(s, g, block, false, err))
        return false;
    for (size_t i = 0; i < p->block.ranges.n && !*known; i++) {
        *offset = (int64_t)(p->block.ranges.v[i].from - addr);
        *known = p->block.ranges.v[i].from >= addr && *offset < bytes;
    }
    return true;
}

/* Blocks whose places rise with each extent of the grid, evenly; where they do not come to the target, they
 * stride on by the whole of that extent. *block: that would be the one. */
static bool block_of(struct seeker *s, const struct grid *g, const struct target *t, uint64_t *block,
                     bool *known, struct err *err)
{
    const uint32_t *extent = g->launch->grid;
    uint64_t below[3] = {1, extent[0], (uint64_t)extent[0] * extent[1]}, at[3] = {0};
    int64_t begin, step[3] = {0}, rest, offset;

    if (!begin_of(s, g, t->output, 0, &begin, known, err))
        return false;
    for (size_t d = 0; d < 3 && *known; d++) {
        if (extent[d] < 2)
            continue;
        if (!begin_of(s, g, t->output, below[d], &offset, known, err))
            return false;
        step[d] = offset - begin;
        *known &= step[d] >= 0;
    }
    rest = (int64_t)t->offset_bytes - begin;
    for (int round = 0; round < 3 && *known; round++) { /* the largest step first */
        size_t d = 0;
        for (size_t k = 1; k < 3; k++)
            if (step[k] > step[d])
                d = k;
        if (step[d] == 0 || rest < 0)
            break;
        int64_t n = rest / step[d];
        at[d] = (uint64_t)n % extent[d];
        rest -= n * step[d];
        step[d] = 0;
    }
    *block = (at[2] * extent[1] + at[1]) * extent[0] + at[0];
    return true;
}

static bool seek_targets(void *context, const struct plan_step *step, const struct ptx_launch *l,
                         const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct seeker *s = context;
    const struct grid g = {l, k, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], true};

    (void)step, (void)fate;
    for (size_t i = 0; i < s->n_targets; i++) {
        uint64_t block = 0;
        bool known;
        if (!block_of(s, &g, &s->targets[i], &block, &known, err) ||
            (known && !run_once(s, &g, block, true, err)))
            return false;
    }
    return true;
}

bool compare_far(const struct probe *p, const struct extreme *x, struct fate *fate, struct err *err)
{
    struct judge *j = p->stage->judge;
    struct seeker s = {.n_targets = 0};
    const struct stage_visitor visitor = {.context = &s, .launch = seek_targets};
    struct extreme found = {.dims = x->dims, .patient = x->patient};
    struct fate original = {0};
    struct stage stage;
    struct plan plan;
    bool ok;

    add_targets(p, x, &s);
    if (!s.n_targets || x->odd)
        return true;
    if (!probe_open(&stage, &j->baseline, p->arena, x->dims, &plan, &original, err))
        return false;
    s.probe = (struct probe){.of = &found,
                             .version = &j->baseline,
                             .stage = &stage,
                             .arena = p->arena,
                             .ended = true,
                             .most_launches = 1};
    j->baseline.long_insns = p->version->long_insns; /* one allowance for both */
    ok = !fate_open(&original) || plan.n_steps != 1 || plan.steps[0].kind != PLAN_LAUNCH ||
         plan.steps[0].cooperative ||
         stage_run(&stage, &j->baseline, &plan, &visitor, p->arena, &original, err);
    if (ok && s.n_run && !(in_place(j->task) && s.probe.again)) {
        keep_pieces(&s.probe, &found);
        memcpy(found.adds, s.probe.adds, sizeof(found.adds));
        compare_pieces(p, &found, fate);
    }
    p->version->long_insns = j->baseline.long_insns;
    drop_pieces(j, &found);
    probe_close(&s.probe);
    stage_close(&stage);
    return ok;
}
