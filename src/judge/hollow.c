/* Rows of hundreds of millions of elements, run whole. Their inputs hold one number everywhere but in a few
 * places, so that a turn of a loop over them changes nothing but its counters, and the simulator leaps over all
 * turns that are alike: exactly (ptx/machine/leap.c). So a version's long path, which no shape that can be run
 * turn by turn comes to, is run to its end in some thousand instructions, and what it leaves is compared with
 * what the original leaves. Nothing is said where a block does not come to its end: its loops have barriers, or
 * add up what does not stay. */
#include "probe.h"
#include "workloads.h"

enum {
    ALL_ELEMENTS = 1 << 30, /* of all buffers together, */
    LONG_DIM = 1 << 22,     /* where one dim comes so far */
    HOLLOW_LEAST = 1 << 20, /* elements of an input that is hollow; less is in the suite */
    BLOCK_MOST = 300000,    /* warp instructions of a block, */
    ALL_MOST = 4000000,     /* and of a version */
    WARPS_MOST = 40000,     /* of all of a plan's launches */
    LAUNCHES_MOST = 4,
    LARGEST = 128, /* of any numbers */
};

/* ---- what the buffers hold ---- */

void hollow_values(const struct stage_fill *f, int64_t first, int64_t n, void *to)
{
    const struct hollow *h = f->hollow;
    size_t size = kernel_type_size(f->arg->type);
    unsigned char one[8], *p = to;

    task_from_double(f->arg->type, h->number, one);
    if (h->number == 0)
        memset(p, 0, (size_t)n * size);
    for (int64_t i = 0; h->number != 0 && i < n; i++)
        memcpy(p + (size_t)i * size, one, size);
    for (size_t k = 0; k < h->n; k++) {
        int64_t at = h->but[k].at;
        if (at < first || at >= first + n)
            continue;
        if (h->given)
            task_from_double(f->arg->type, h->but[k].number, p + (size_t)(at - first) * size);
        else
            task_fill(f->own, f->values, f->dims, f->seed, at, 1, p + (size_t)(at - first) * size);
    }
}

/* The number that an argument of *n elements holds nearly everywhere; false: it holds what it always does. */
static bool number_of(const struct task *t, const struct task_arg *arg, const int64_t *dims, int64_t *n,
                      double *number)
{
    const struct task_values *v = &arg->values;
    int64_t low = (int64_t)v->low;

    if ((arg->role != ROLE_IN && arg->role != ROLE_INOUT) || !task_shape(t, arg, dims, n, NULL) ||
        *n < HOLLOW_LEAST)
        return false;
    *number = 0;
    switch (v->kind) {
    case VALUE_NORMAL:
    case VALUE_INTEGERS:
        return true;
    case VALUE_UNIFORM:
        *number = v->low <= 0 && v->high > 0 ? 0 : v->low;
        return true;
    case VALUE_INDEX:
        if (v->low_expr && !dim_eval(v->low_expr, dims, &low))
            return false;
        *number = (double)low;
        return true;
    default:
        return false;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct hollow_place *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

/* Two elements side by side, time after time: at the ends, anywhere, and in the last sixteenth. The same in
 * inputs of the same size: what is multiplied by zero says nothing. */
static void make_hollow(struct hollow *h, int64_t elements, uint64_t seed)
{
    struct hollow_place all[HOLLOW_PLACES / 2] = {{0}};

    all[1].at = elements - 2;
    for (size_t k = 2; k < ARRAY_LEN(all); k++) {
        int64_t room = elements - 4, at = (int64_t)(rng_hash(seed, k) % (uint64_t)room);
        all[k].at = 2 + (k % 2 ? at : room - 1 - at / 16);
    }
    qsort(all, ARRAY_LEN(all), sizeof(*all), by_place);
    h->n = 0;
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        for (int64_t next = 0; next < 2 && (next || h->n == 0 || all[k].at > h->but[h->n - 1].at); next++)
            h->but[h->n++].at = all[k].at + next;
}

/* Each two side by side have a size of their own, half of another's, so that no part of them comes to what
 * another does. balanced: and one of them is as far above zero as the other is below, so that their sum is
 * zero, and a mean, in whatever order: what is then taken from each element changes nothing. False: it has no
 * such numbers. */
static bool put_numbers(struct hollow *h, const struct task_arg *arg, bool balanced)
{
    enum { PAIRS = HOLLOW_PLACES / 2, STEP = 5 };
    const struct task_values *v = &arg->values;
    const bool any = v->kind == VALUE_NORMAL || (v->kind == VALUE_INTEGERS && !v->declared);
    double most = any ? LARGEST : 0;

    if (v->kind == VALUE_UNIFORM)
        most = balanced ? fmin(-v->low, v->high) : v->high;
    h->given = type_is_floating(arg->type) && h->number == 0 && most > 0;
    for (size_t k = 0; h->given && k < h->n; k++) {
        h->but[k].number =
            ldexp(most, -1 - (int)((h->n - 1 - k) / 2 * STEP % PAIRS)); /* the last ones the largest */
        h->but[k].number *= balanced && k % 2 ? -1 : 1;
    }
    return h->given || !balanced;
}

/* ---- both versions ---- */

struct hollowed {
    struct probe probe;
    const struct hollow *hollows;
    const struct hollow *longest; /* of them, */
    int64_t elements;             /* and how many it has */
    struct ptx_leaps leaps;
    bool told; /* all blocks have come to their end */
};

static double warps_of(const struct plan_step *s)
{
    return ceil((double)s->block[0] * s->block[1] * s->block[2] / 32) * s->grid[0] * s->grid[1] * s->grid[2];
}

/* Of a plan's last launch, where it has too many blocks: those that are at places which are not hollow, if they
 * share out their work in its order. The next one to be run, at or behind b. */
static uint64_t next_block(const struct hollowed *h, uint64_t b, uint64_t blocks)
{
    uint64_t next = blocks - 1;

    for (size_t k = 0; k < h->longest->n; k++) {
        double part = (double)h->longest->but[k].at / (double)h->elements;
        uint64_t at = (uint64_t)(part * (double)blocks);
        if (at >= b && at < next)
            next = at;
    }
    return MAX(next, b);
}

/* What is updated in place must hold its number still, where the block has stored anything. */
static bool is_hollow_still(const struct hollowed *h, size_t arg)
{
    const struct stage *s = h->probe.stage;
    const struct hollow *of = &h->hollows[arg];
    const size_t size = kernel_type_size(s->task->args[arg].type);
    const struct stored *block = &h->probe.block;
    unsigned char number[8], now[8];
    int64_t bytes;
    const uint64_t addr = stage_arg(s, arg, &bytes);

    task_from_double(s->task->args[arg].type, of->number, number);
    for (size_t k = 0, next = 0; k < block->ranges.n; k++) {
        uint64_t from = MAX(block->ranges.v[k].from, addr),
                 to = MIN(block->ranges.v[k].to, addr + (uint64_t)bytes);
        for (; from < to; from += size) {
            int64_t at = (int64_t)((from - addr) / size);
            while (next < of->n && of->but[next].at < at)
                next++;
            if ((next == of->n || of->but[next].at != at) &&
                !(ptx_mem_read(s->mem, from, now, size) && !memcmp(now, number, size)))
                return false;
        }
    }
    return true;
}

static bool are_hollow_still(const struct hollowed *h)
{
    const struct task *t = h->probe.stage->task;
    bool still = true;

    for (size_t i = 0; i < t->n_args && still; i++)
        still = t->args[i].role != ROLE_INOUT || !h->hollows[i].n || is_hollow_still(h, i);
    return still;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct hollowed *h = context;
    struct probe *p = &h->probe;
    const struct grid g = {l, k, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], p->launches++ == 0};
    const bool some = warps_of(step) > WARPS_MOST;
    bool ended;

    for (uint64_t b = 0; b < g.blocks && h->told && fate_open(fate); b++) {
        b = some ? next_block(h, b, g.blocks) : b;
        if (!probe_block(p, &g, b, BLOCK_MOST, &ended, fate, err))
            return false;
        ptx_leaps_next(&h->leaps);
        look_for_sums(p);
        h->told &= ended && p->insns <= ALL_MOST && !(some && p->block.atomics.n) && are_hollow_still(h);
    }
    return true;
}

/* Nothing but launches and sets, none of clusters, and not too many warps but in the last one. */
static bool can_be_run(const struct plan *plan)
{
    double warps = 0;
    size_t launches = 0;

    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if (s->kind == PLAN_COPY || s->cooperative || s->cluster[0] > 1)
            return false;
        launches += s->kind == PLAN_LAUNCH;
        if (s->kind == PLAN_LAUNCH && i + 1 < plan->n_steps)
            warps += warps_of(s);
    }
    return launches > 0 && launches <= LAUNCHES_MOST && warps <= WARPS_MOST;
}

/* Where memory is hollow, and what a leap may leave out: an output of a plan that does nothing else. Whoever
 * reads that finds that nobody has written it, and ends. */
static void tell_leaps(struct hollowed *h, const struct plan *plan, struct arena *a)
{
    const struct stage *s = h->probe.stage;
    const struct task *t = s->task;
    struct ptx_hollow *hollows = arena_array(a, struct ptx_hollow, t->n_args + 1);
    struct ptx_span *spares = arena_array(a, struct ptx_span, t->n_args + 1);

    h->leaps = (struct ptx_leaps){.hollows = hollows, .spares = spares};
    for (size_t i = 0; i < t->n_args; i++) {
        const struct hollow *of = &h->hollows[i];
        const uint64_t size = kernel_type_size(t->args[i].type);
        int64_t bytes;
        if (t->args[i].role == ROLE_SCALAR)
            continue;
        uint64_t addr = stage_arg(s, i, &bytes);
        const struct ptx_span all = {addr, addr + (uint64_t)bytes};
        if (t->args[i].role == ROLE_OUT && plan->n_steps == 1)
            spares[h->leaps.n_spares++] = all;
        if (!of->n)
            continue;
        if (bytes / (int64_t)size > h->elements) {
            h->elements = bytes / (int64_t)size;
            h->longest = of;
        }
        struct ptx_span *but = arena_array(a, struct ptx_span, of->n);
        for (size_t k = 0; k < of->n; k++)
            but[k] = (struct ptx_span){addr + (uint64_t)of->but[k].at * size,
                                       addr + (uint64_t)(of->but[k].at + 1) * size};
        struct ptx_hollow *to = &hollows[h->leaps.n_hollows++];
        *to = (struct ptx_hollow){.all = all, .but = but, .n_but = of->n};
        for (size_t k = 0; k < PTX_HOLLOW_BYTES; k += size)
            task_from_double(t->args[i].type, of->number, to->number + k);
    }
}

/* The original's pieces are kept in x; another version's are compared with them. */
static bool run(const struct stage_data *data, struct version *v, struct arena *a, struct extreme *x,
                struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct hollowed h = {.hollows = data->hollows};
    const struct stage_visitor visitor = {.context = &h, .launch = launch};
    struct stage stage;
    struct plan plan = {0};
    bool ok;

    if (!stage_open(&stage, j, &stage_sim, j->task, x->dims, data, err))
        return false;
    ok = version_plan(v, a, x->dims, stage.addr, &plan, fate, err);
    h.probe = (struct probe){.of = x, .version = v, .stage = &stage, .arena = a, .most_launches = 1};
    h.probe.ran = ran_aside(v, a);
    h.told = ok && fate_open(fate) && can_be_run(&plan) && can_be_probed(&stage, &plan);
    tell_leaps(&h, &plan, a);
    h.probe.leaps = &h.leaps;
    if (h.told)
        ok = stage_run(&stage, v, &plan, &visitor, a, fate, err);
    h.told &= ok && fate_open(fate);
    memset(h.probe.adds, 0, sizeof(h.probe.adds)); /* all blocks have added what they do */
    if (h.told && v == &j->baseline)
        keep_pieces(&h.probe, x);
    else if (h.told)
        compare_pieces(&h.probe, x, fate);
    if (h.told)
        ran_join(v, h.probe.ran);
    x->told = h.told;
    ptx_leaps_clear(&h.leaps);
    probe_close(&h.probe);
    stage_close(&stage);
    return ok;
}

/* *told: both have come to their end. */
static bool verify_at(struct version *v, struct arena *a, const int64_t *dims, bool balanced, bool *told,
                      struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    const struct task *t = j->task;
    struct hollow *hollows = arena_array(a, struct hollow, t->n_args + 1);
    struct task_values *values = arena_array(a, struct task_values, t->n_args + 1);
    const struct stage_data data = {
        .values = values, .hollows = hollows, .seed = j->options.seed, .place = 1, .cheap = true};
    struct extreme x = {.dims = dims};
    struct fate original = {0};
    bool any = false, ok = true;
    int64_t n;

    for (size_t i = 0; i < t->n_args; i++) {
        values[i] = t->args[i].values;
        if (values[i].kind == VALUE_NORMAL)
            values[i].kind = VALUE_INTEGERS;
        values[i].n_special = 0;
        if (!number_of(t, &t->args[i], dims, &n, &hollows[i].number))
            continue;
        make_hollow(&hollows[i], n, rng_hash(j->options.seed, 0x686f6c6c));
        any |= put_numbers(&hollows[i], &t->args[i], balanced);
    }
    if (any && has_room(t, dims))
        ok = run(&data, &j->baseline, a, &x, &original, err) && (!x.told || run(&data, v, a, &x, fate, err));
    *told = x.told;
    if (!fate_open(fate))
        fate->words =
            arena_printf(v->arena, "%s, of inputs that hold one number nearly everywhere", fate->words);
    drop_pieces(j, &x);
    return ok;
}

bool hollow_verify(struct version *v, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct arena *a = arena_open(), *scratch = arena_open();
    const int64_t **shapes;
    size_t n = task_stretched(j->task, a, ALL_ELEMENTS, LONG_DIM, &shapes);
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < n; i++) {
        for (int balanced = 0; ok && fate_open(fate) && balanced < 2; balanced++) {
            bool told;
            ok = verify_at(v, scratch, shapes[i], balanced, &told, fate, err);
            arena_reset(scratch);
            if (told)
                break;
        }
    }
    arena_close(scratch);
    arena_close(a);
    return ok;
}
