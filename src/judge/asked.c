/* What the runtime answers a launcher that asks: how many devices there are, which one it is on, how many
 * multiprocessors it has, how many blocks fit one. Here it answers for the judge's device, elsewhere for
 * another. So the launcher is planned with other plausible answers. A plan that differs is run beside the
 * original's, whose launcher is answered the same. The compute capability, and what follows from it, stays: the
 * device code is compiled for it. */
#include "workloads.h"

enum {
    MOST_RUN = 6,            /* of a version's other plans */
    RUN_ELEMENTS = 48 << 10, /* of the shapes that they are run for, as far as there are any */
    MOST_COMPARED = 6,       /* comparisons of something that no shape changes, */
    BESIDE = 3,              /* each with so many answers */
    MOST_MULTIPROCESSORS = 512,
    LEAST_L2 = 1 << 20,
};

struct world {
    const char *answer;
    int other_devices, device;
    int multiprocessors; /* 0: as it is */
    double l2, clock;    /* times what it is; 0: as it is */
    int64_t l2_bytes;    /* 0: as it is */
    int blocks;          /* of a kernel on a multiprocessor, more or fewer, but never none */
};

static const struct world worlds[] = {
    {"there are 8 devices, and this is the fourth", .other_devices = 7, .device = 3},
    {"16 multiprocessors", .multiprocessors = 16},
    {"160 multiprocessors", .multiprocessors = 160},
    {"78 multiprocessors", .multiprocessors = 78},
    {"114 multiprocessors", .multiprocessors = 114},
    {"133 multiprocessors", .multiprocessors = 133},
    {"a slower clock and half of the L2", .l2 = 0.5, .clock = 0.75},
    {"a faster clock and twice the L2", .l2 = 2, .clock = 1.25},
    {"one block fewer on a multiprocessor", .blocks = -1},
    {"one block more on a multiprocessor", .blocks = 1},
};

struct asked { /* both versions with other answers; and what they had */
    struct version *version, *original;
    const struct ptx_device *device;
    struct kernel_limits limits[2];
    struct ptx_device other;
};

static int other_blocks(void *context, const char *kernel, int block_threads, int64_t shared_bytes)
{
    const struct version *v = context;
    int blocks = version_occupancy(context, kernel, block_threads, shared_bytes);

    return blocks > 0 ? MAX(blocks + v->other_blocks, 1) : blocks;
}

static void answer(struct version *v, const struct ptx_device *d, const struct world *w)
{
    judge_limits(d, &v->limits);
    v->limits.other_devices = w->other_devices;
    v->limits.device = w->device;
    v->limits.occupancy = other_blocks;
    v->limits.context = v;
    v->other_blocks = w->blocks;
}

static void enter(struct asked *x, const struct world *w)
{
    struct judge *j = x->version->judge;

    x->device = j->device;
    x->limits[0] = x->version->limits;
    x->limits[1] = x->original->limits;
    x->other = *j->device;
    if (w->multiprocessors)
        x->other.sm_count = w->multiprocessors;
    if (w->l2_bytes)
        x->other.l2_bytes = (uint64_t)w->l2_bytes;
    if (w->l2 > 0)
        x->other.l2_bytes = (uint64_t)((double)x->other.l2_bytes * w->l2);
    if (w->clock > 0) {
        x->other.sm_clock_mhz *= w->clock;
        x->other.dram_peak_gbs *= w->clock;
    }
    j->device = &x->other;
    answer(x->version, &x->other, w);
    answer(x->original, &x->other, w);
}

static void leave(struct asked *x)
{
    x->version->judge->device = x->device;
    x->version->limits = x->limits[0];
    x->original->limits = x->limits[1];
    x->version->other_blocks = x->original->other_blocks = 0;
}

/* ---- answers that a launcher compares ---- */

struct compared { /* two numbers beside an operator, the same on all shapes so far */
    struct plan_number x;
    bool varies;
};

struct shape {
    const int64_t *dims;
    struct plan plan; /* with the judge's answers */
};

struct other { /* a shape whose plan is another one */
    const int64_t *dims;
    int64_t elements;
    size_t several; /* dims of more than two: what is left out of one or two may be nothing */
    bool decided;   /* by a condition that went another way than for any shape so far */
};

struct looking {
    struct asked asked;
    struct arena *arena; /* of one shape */
    struct shape *shapes;
    size_t n;
    VEC(uint64_t) marks; /* what the launcher decides with the judge's answers, and with others so far */
    VEC(uint64_t) fresh; /* and what only the answer at hand decides */
    VEC(struct compared) compared;
    unsigned run;     /* plans */
    bool more, fewer; /* a plan was run, without a new decision, for more and for fewer blocks at a time */
};

static bool has_mark(const struct looking *l, uint64_t mark)
{
    for (size_t i = 0; i < l->marks.n; i++)
        if (l->marks.v[i] == mark)
            return true;
    return false;
}

static void add_compared(struct looking *l, const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_numbers; i++) {
        const struct plan_number *x = &plan->numbers[i];
        size_t at = 0;
        while (at < l->compared.n && l->compared.v[at].x.place != x->place)
            at++;
        if (at == l->compared.n)
            vec_push(&l->compared, ((struct compared){*x, false}));
        struct compared *c = &l->compared.v[at];
        c->varies |= x->varies || x->number != c->x.number || x->other != c->x.other;
    }
}

static void add_shape(struct looking *l, struct arena *a, const int64_t *dims)
{
    struct shape *x = &l->shapes[l->n];
    struct fate fate = {0};

    x->dims = dims;
    version_plan_only(l->asked.version, a, dims, &x->plan, &fate);
    if (!fate_open(&fate) || !x->plan.asked)
        return;
    l->n++;
    add_compared(l, &x->plan);
    for (size_t i = 0; i < x->plan.n_marks; i++)
        if (!has_mark(l, x->plan.marks[i]))
            vec_push(&l->marks, x->plan.marks[i]);
}

/* To refuse is an answer, too. */
static bool plan_differs(struct looking *l, const struct world *w, const struct shape *x, bool *decided)
{
    struct fate fate = {0};
    struct plan other;

    *decided = false;
    enter(&l->asked, w);
    version_plan_only(l->asked.version, l->arena, x->dims, &other, &fate);
    leave(&l->asked);
    if (!fate_open(&fate) || plan_same(&x->plan, &other))
        return false;
    for (size_t i = 0; i < other.n_marks; i++)
        if (!has_mark(l, other.marks[i])) {
            vec_push(&l->fresh, other.marks[i]);
            *decided = true;
        }
    return true;
}

static struct other other_of(const struct task *t, const int64_t *dims)
{
    struct other x = {.dims = dims, .elements = task_case_elements(t, dims)};

    for (size_t i = 0; i < t->n_dims; i++)
        x.several += dims[i] > 2;
    return x;
}

/* The largest that costs little shows most; else the smallest. */
static bool is_better(const struct other *x, const struct other *than)
{
    if (x->decided != than->decided)
        return x->decided;
    if (x->elements > RUN_ELEMENTS || than->elements > RUN_ELEMENTS)
        return x->elements < than->elements;
    if (x->several != than->several)
        return x->several > than->several;
    return x->elements > than->elements;
}

/* A shape on which the launcher decides something new, else one whose plan differs. */
static bool find(struct looking *l, const struct world *w, struct other *to)
{
    const struct task *t = l->asked.version->judge->task;
    bool found = false;

    for (size_t i = 0; i < l->n; i++) {
        struct other x = other_of(t, l->shapes[i].dims);
        if (plan_differs(l, w, &l->shapes[i], &x.decided) && (!found || is_better(&x, to))) {
            *to = x;
            found = true;
        }
        arena_reset(l->arena);
    }
    for (size_t i = 0; i < l->fresh.n; i++)
        vec_push(&l->marks, l->fresh.v[i]);
    vec_clear(&l->fresh);
    return found;
}

/* What a device lacks for a launch the runtime says by itself. */
static bool counts(enum verdict v)
{
    return v == VERDICT_WRONG || v == VERDICT_UNSAFE || v == VERDICT_CRASHED || v == VERDICT_NONDETERMINISTIC;
}

static bool run(struct looking *l, const struct world *w, const struct other *x, struct arena *a,
                struct fate *fate, struct err *err)
{
    struct version *v = l->asked.version;
    const struct extra e = {x->dims, NULL, rng_hash(v->judge->options.seed, 0x61736b65 + l->run++)};
    struct fate own = {0};

    enter(&l->asked, w);
    bool ok = extra_verify(&e, v, l->arena, &own, err);
    leave(&l->asked);
    if (ok && counts(own.verdict)) {
        *fate = own;
        fate->words = arena_printf(a, "%s, where the runtime answers otherwise: %s", own.words, w->answer);
    }
    arena_reset(l->arena);
    return ok;
}

static bool try_world(struct looking *l, const struct world *w, struct arena *a, struct fate *fate,
                      struct err *err)
{
    bool *done =
        w->multiprocessors > l->asked.version->judge->device->sm_count || w->blocks > 0 ? &l->more : &l->fewer;
    struct other x = {NULL};

    if (!find(l, w, &x) || (!x.decided && (*done || x.elements > RUN_ELEMENTS)))
        return true;
    *done |= !x.decided;
    return run(l, w, &x, a, fate, err);
}

/* Where what the answer became is compared with a number, the answers that make it that number, one less and
 * one more: whichever answer it is of, and whatever it was multiplied or divided by. */
static bool try_compared(struct looking *l, struct arena *a, struct fate *fate, struct err *err)
{
    const struct ptx_device *d = l->asked.version->judge->device;
    size_t tried = 0;
    bool ok = true;

    for (size_t i = 0; i < l->compared.n && tried < MOST_COMPARED; i++) {
        const struct compared *c = &l->compared.v[i];
        if (c->varies || c->x.number <= 0 || c->x.other <= 0)
            continue;
        double times = (double)c->x.number / (double)c->x.other, sms = rint(d->sm_count * times),
               l2 = rint((double)d->l2_bytes * times);
        bool is_sms = sms >= 1 && sms < MOST_MULTIPROCESSORS, is_l2 = l2 >= LEAST_L2 && l2 < INT32_MAX;
        tried += is_sms || is_l2;
        for (int beside = -1; ok && beside + 1 < BESIDE; beside++) {
            const struct world of_sms = {arena_printf(a, "%g multiprocessors", sms + beside),
                                         .multiprocessors = (int)sms + beside},
                               of_l2 = {arena_printf(a, "an L2 of %.0f bytes", l2 + beside),
                                        .l2_bytes = (int64_t)l2 + beside};
            if (is_sms && fate_open(fate) && l->run < MOST_RUN)
                ok = try_world(l, &of_sms, a, fate, err);
            if (ok && is_l2 && fate_open(fate) && l->run < MOST_RUN)
                ok = try_world(l, &of_l2, a, fate, err);
        }
    }
    return ok;
}

bool asked_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct arena *plans = arena_open();
    struct looking l = {.asked = {.version = v, .original = &j->baseline}, .arena = arena_open()};
    bool ok = true;

    l.shapes = arena_array(plans, struct shape, j->n_cases + j->task->n_workloads + v->n_branches + 1);
    for (size_t i = 0; v->asks && i < j->n_cases; i++)
        add_shape(&l, plans, j->cases[i].dims);
    for (size_t i = 0; v->asks && i < j->task->n_workloads; i++)
        add_shape(&l, plans, j->task->workloads + i * j->task->n_dims);
    for (size_t i = 0; v->asks && i < v->n_branches; i++)
        add_shape(&l, plans, v->branches[i]);
    if (l.n)
        ok = try_compared(&l, a, fate, err);
    for (size_t k = 0; ok && l.n && fate_open(fate) && k < ARRAY_LEN(worlds) && l.run < MOST_RUN; k++)
        if (worlds[k].multiprocessors != j->device->sm_count)
            ok = try_world(&l, &worlds[k], a, fate, err);
    vec_free(&l.compared);
    vec_free(&l.marks);
    vec_free(&l.fresh);
    arena_close(l.arena);
    arena_close(plans);
    return ok;
}
