/* Where a launcher goes. It is planned on many shapes of the domain, which costs next to nothing, and so is the
 * original's; shapes on which either decides what it decided in no case of the suite are run, the smallest of
 * each kind. So are those where a comparison of the version's own turns over, and those that are as round as it
 * asks for and no rounder. */
#include <ctype.h>

#include "workloads.h"

enum {
    MOST_SHAPES = 1000,        /* planned */
    MOST_STEPS = 3000000,      /* of both interpreters together */
    MOST_RUN = 16,             /* shapes with a decision that no case of the suite has, */
    MOST_FAR = 4,              /* those of them that are too large to be run whole, */
    MOST_MIXED = 2,            /* and shapes with decisions that no case has together */
    MIXED_ELEMENTS = 12 << 10, /* of one of these */
    RUN_ELEMENTS = 600 << 10,  /* of one that is run whole */
    SUM_ELEMENTS = 1400 << 10, /* of all of them */
    SOLVE_STEPS = 300000,      /* of the interpreter, to set what it compares */
    MOST_CLIMBS = 600,         /* shapes that differ in one dim from one with a new decision */
    MOST_NUMBERS = 120,        /* in the sources, */
    MOST_DECIDED = 48,         /* and those of them by which the launchers decide */
    MOST_BOUNDARY = INT32_MAX, /* elements of a shape at which one turns over: beyond are the extreme shapes */
    MOST_BOUNDARIES = 4,       /* comparisons of a version's own, with up to five shapes each */
    MOST_BASES = 12,           /* shapes from which such a one is sought */
    TWIN = 5,                  /* an extent that is small, but not the smallest */
    MOST_LEAST = 4,            /* shapes that are no rounder than the launcher asks for */
    ROUNDEST = 256,            /* of these: what an extent may be a multiple of */
    MOST_FIRST = 4,            /* shapes that first come to a kernel which the suite never comes to, */
    GROWN = 3,                 /* each again with so many times all its extents, */
    LONGEST = 33,              /* and with so many times one of them, or half, a quarter of it */
    SHORTEST = 4,
    ROUND = 64,      /* what a kernel that takes its way itself may ask of its extents */
    MOST_LONG = 2,   /* shapes with a long row of blocks that hear of each other: */
    LONG_GRID = 100, /* more than a warp, or three, can look back over; else as many as there can be */
};

struct branches {
    struct version *version;
    struct arena *arena;             /* of one shape */
    VEC(struct plan_number) numbers; /* operands in both */
    VEC(const int64_t *) found;      /* shapes with a new decision, */
    VEC(const int64_t *) first;      /* and those of them with a kernel that is none of these */
    kernel_names kernels;
    VEC(uint64_t) marks;   /* met by now: the version's, and the original's turned over */
    VEC(uint64_t) mixed;   /* and all of a shape together */
    VEC(int64_t) original; /* numbers that the original compares with */
    uint64_t steps;
    size_t n_suite; /* marks of the suite's cases: the first ones */
    size_t n_mixed, n_far, n_far_mixed;
    int64_t elements; /* of what is run */
};

/* *rare: no case of the suite has it. */
static bool add(struct branches *b, uint64_t mark, bool *rare)
{
    for (size_t i = 0; i < b->marks.n; i++)
        if (b->marks.v[i] == mark) {
            *rare |= i >= b->n_suite;
            return false;
        }
    vec_push(&b->marks, mark);
    *rare = true;
    return true;
}

static bool add_mixed(struct branches *b, uint64_t sum)
{
    for (size_t i = 0; i < b->mixed.n; i++)
        if (b->mixed.v[i] == sum)
            return false;
    vec_push(&b->mixed, sum);
    return true;
}

/* whose: tells the two files apart. */
static void add_numbers(struct branches *b, const struct plan *plan, uint64_t whose)
{
    for (size_t i = 0; i < plan->n_numbers; i++) {
        struct plan_number x = plan->numbers[i];
        size_t at = 0;
        x.place ^= whose;
        while (at < b->numbers.n && b->numbers.v[at].place != x.place)
            at++;
        if (at == b->numbers.n) {
            vec_push(&b->numbers, x);
            if (whose && x.orders)
                vec_push(&b->original, x.number);
        } else
            b->numbers.v[at].varies |= x.varies || b->numbers.v[at].number != x.number;
    }
}

/* Those that are the same on all shapes: constants, or what is made of them. */
static size_t decided(const struct branches *b, int64_t *to)
{
    size_t n = 0;

    for (size_t i = 0; i < b->numbers.n && n < MOST_DECIDED; i++) {
        const struct plan_number *x = &b->numbers.v[i];
        if (!x->varies && x->number > 1)
            to[n++] = x->number;
    }
    return n;
}

/* A shape is to be run. */
static void note_shape(struct version *v, const int64_t *dims)
{
    v->branches[v->n_branches++] = arena_copy(v->arena, dims, v->judge->task->n_dims * sizeof(*dims));
}

struct news {
    bool planned;     /* by both */
    bool mark, mixed; /* never met */
    bool rare;        /* a mark that no case of the suite has */
};

/* What the original decides on a shape, found once for all candidates. */
static const struct plan *original_plan(const struct branches *b, const int64_t *dims)
{
    struct judge *j = b->version->judge;
    const char *key = task_dims_text(b->arena, j->task, dims);
    struct plan *known = map_get(&j->own_plans, key), own = {0};
    struct fate fate = {0};

    if (known)
        return known;
    version_plan_only(&j->baseline, b->arena, dims, &own, &fate);
    known = arena_new(j->arena, struct plan);
    if (fate_open(&fate))
        *known =
            (struct plan){.marks = arena_copy(j->arena, own.marks, own.n_marks * sizeof(*own.marks)),
                          .n_marks = own.n_marks,
                          .numbers = arena_copy(j->arena, own.numbers, own.n_numbers * sizeof(*own.numbers)),
                          .n_numbers = own.n_numbers,
                          .interpreted = MAX(own.interpreted, (uint64_t)1)};
    map_put(&j->own_plans, key, known);
    return known;
}

/* Blocks of another kind: trees over a block's warps want a power of two of them, and others all lanes. */
static uint64_t block_mark(const struct plan_step *s, size_t at)
{
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2], warps = (threads + 31) / 32;
    uint64_t kind =
        (threads % 32 != 0) | (uint64_t)((warps & (warps - 1)) != 0) << 1 | (uint64_t)(warps == 1) << 2;

    return rng_hash(rng_hash(0x626c6f636b73, at), kind ^ hash_text(s->kernel));
}

/* What is new of a shape; that is then known. */
static bool look(struct branches *b, const int64_t *dims, struct plan *plan, struct news *news,
                 struct fate *fate)
{
    struct version *v = b->version, *original = &v->judge->baseline;
    static const struct plan none;
    const struct plan *own = &none;
    uint64_t sum = 0;

    *news = (struct news){.planned = false};
    if (v != original) {
        own = original_plan(b, dims);
        if (!own->interpreted)
            return true; /* where the original has no plan, nobody needs one */
    }
    version_plan_only(v, b->arena, dims, plan, fate);
    if (!fate_open(fate))
        return false;
    b->steps += own->interpreted + plan->interpreted;
    news->planned = true;
    for (size_t i = 0; i < own->n_marks; i++) {
        news->mark |= add(b, ~own->marks[i], &news->rare);
        sum += rng_mix(~own->marks[i]);
    }
    for (size_t i = 0; i < plan->n_marks; i++) {
        news->mark |= add(b, plan->marks[i], &news->rare);
        sum += rng_mix(plan->marks[i]);
    }
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == PLAN_LAUNCH)
            news->mark |= add(b, block_mark(&plan->steps[i], i), &news->rare);
    news->mixed = add_mixed(b, sum);
    add_numbers(b, own, UINT64_MAX);
    add_numbers(b, plan, 0);
    return true;
}

/* Whole numbers in a text, in their order. */
static size_t numbers_of(const char *text, int64_t *to, size_t n, size_t most)
{
    const char *p = text;

    while (*p && n < most) {
        if (isalpha((unsigned char)*p) || *p == '_') {
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
        } else if (isdigit((unsigned char)*p)) {
            char *end;
            uint64_t v = strtoull(p, &end, 0);
            if (v > 2 && v <= INT32_MAX && *end != '.' && *end != 'e')
                to[n++] = (int64_t)v;
            p = end;
            while (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
                p++;
        } else {
            p++;
        }
    }
    return n;
}

struct sized {
    const int64_t *dims;
    int64_t elements;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    return x->elements < y->elements ? -1 : x->elements > y->elements;
}

static bool take(struct branches *b, const struct sized *s, const struct news *news)
{
    struct version *v = b->version;
    bool fits = s->elements <= RUN_ELEMENTS && b->elements + s->elements <= SUM_ELEMENTS;

    if (v->n_branches == MOST_RUN || s->elements > most_elements(v->judge))
        return false;
    if (news->mark && fits)
        b->elements += s->elements;
    else if (news->mark && b->n_far < MOST_FAR)
        b->n_far++;
    else if (!news->mark && news->mixed && news->rare && fits)
        b->elements += s->elements;
    else if (!news->mark && news->mixed && news->rare && b->n_far_mixed < MOST_MIXED)
        b->n_far_mixed++;
    else if (!news->mark && news->mixed && s->elements <= MIXED_ELEMENTS && b->n_mixed < MOST_MIXED)
        b->n_mixed++;
    else
        return false;
    v->branches[v->n_branches++] = s->dims;
    return true;
}

/* Plan both; is it worth a run? *rare: it is taken, and no case of the suite decides so. */
static void look_at(struct branches *b, const int64_t *dims, bool *rare, struct fate *fate)
{
    struct version *v = b->version;
    const struct sized s = {dims, task_case_elements(v->judge->task, dims)};
    struct plan plan;
    struct news news;

    if (look(b, dims, &plan, &news, fate) && news.planned) {
        if (news.mark)
            vec_push(&b->found, dims);
        if (take(b, &s, &news)) {
            version_add_kernels(v, &plan);
            *rare = news.rare;
            if (s.elements <= RUN_ELEMENTS && b->first.n < MOST_FIRST &&
                kernel_names_add(&b->kernels, v->arena, &plan))
                vec_push(&b->first, dims);
        }
    }
    if (!fate_open(fate))
        fate->words = arena_strdup(v->arena, fate->words);
    arena_reset(b->arena);
}

/* With its twin: other dims are small, but not the smallest, and all else of the launcher may hold as well. */
static void look_and_take(struct branches *b, const int64_t *dims, struct fate *fate)
{
    const struct task *t = b->version->judge->task;
    int64_t twin[16];
    bool rare = false, other = false;

    look_at(b, dims, &rare, fate);
    if (!rare || !fate_open(fate))
        return;
    memcpy(twin, dims, t->n_dims * sizeof(*dims));
    for (size_t i = 0; i < t->n_dims; i++)
        if (twin[i] < TWIN) {
            twin[i] = TWIN;
            other = true;
        }
    if (other && task_in_domain(t, twin))
        look_at(b, arena_copy(b->version->arena, twin, t->n_dims * sizeof(*dims)), &rare, fate);
}

static bool over(const struct branches *b, const struct fate *fate)
{
    return !fate_open(fate) || b->steps >= MOST_STEPS;
}

/* A decision that follows another is seen only where the first one went that way: such a shape, with another
 * number in one dim. */
static void climb(struct branches *b, struct fate *fate)
{
    const struct task *t = b->version->judge->task;
    int64_t numbers[MOST_DECIDED], dims[16];
    size_t left = MOST_CLIMBS;

    for (size_t i = 0; i < b->found.n; i++) {
        size_t n = decided(b, numbers);
        for (size_t k = 0; k < n * t->n_dims && left > 0 && !over(b, fate); k++) {
            memcpy(dims, b->found.v[i], t->n_dims * sizeof(*dims));
            dims[k % t->n_dims] = numbers[k / t->n_dims];
            if (!task_in_domain(t, dims))
                continue;
            left--;
            look_and_take(b, arena_copy(b->version->arena, dims, t->n_dims * sizeof(*dims)), fate);
        }
    }
}

/* ---- what a comparison asks for ---- */

/* What is compared there, at that place of the version's file; false: nothing, or there is no plan. */
static bool compared(struct branches *b, const int64_t *dims, uint64_t place, int64_t *other)
{
    struct plan plan = {0};
    struct fate fate = {0};
    bool found = false;

    if (!task_in_domain(b->version->judge->task, dims))
        return false;
    version_plan_only(b->version, b->arena, dims, &plan, &fate);
    b->steps += plan.interpreted;
    for (size_t i = 0; fate_open(&fate) && i < plan.n_numbers && !found; i++) {
        found = plan.numbers[i].place == place;
        *other = plan.numbers[i].other;
    }
    arena_reset(b->arena);
    return found;
}

/* What a dim may be a multiple of in the domain. */
static int64_t unit_of(const struct branches *b, const int64_t *dims, size_t i)
{
    const struct task *t = b->version->judge->task;
    int64_t next[16];

    memcpy(next, dims, t->n_dims * sizeof(*dims));
    next[i]++;
    return task_in_domain(t, next) ? 1 : dims[i];
}

/* Sets a dim so that what is compared with the number becomes it, where it rises with that dim. */
static bool solve(struct branches *b, int64_t *dims, size_t i, const struct plan_number *x)
{
    int64_t other = 0, low = dims[i], high = low, unit;

    if (!compared(b, dims, x->place, &other) || other >= x->number)
        return false;
    unit = unit_of(b, dims, i);
    while (other < x->number) {
        low = high;
        high *= 2;
        dims[i] = high;
        if (high > INT32_MAX || !compared(b, dims, x->place, &other))
            return false;
    }
    while (high - low > unit) { /* below the number at low, not so at high */
        dims[i] = low + (high - low) / unit / 2 * unit;
        bool above = compared(b, dims, x->place, &other);
        if (!above)
            return false;
        *(other < x->number ? &low : &high) = dims[i];
    }
    dims[i] = high;
    return compared(b, dims, x->place, &other) && other == x->number;
}

/* A dim divided, shifted or multiplied before it is compared: found by planning. */
static void solve_all(struct branches *b, const int64_t *least, struct fate *fate)
{
    const struct task *t = b->version->judge->task;
    int64_t dims[16];
    uint64_t before = b->steps;

    for (size_t f = 0; f <= b->found.n; f++) {
        const int64_t *base = f ? b->found.v[f - 1] : least;
        for (size_t k = 0; k < b->numbers.n * t->n_dims; k++) {
            const struct plan_number x = b->numbers.v[k / t->n_dims];
            if (over(b, fate) || b->steps - before > SOLVE_STEPS)
                return;
            memcpy(dims, base, t->n_dims * sizeof(*dims));
            if (!x.varies && x.number > 1 && x.compares && solve(b, dims, k % t->n_dims, &x))
                look_and_take(b, arena_copy(b->version->arena, dims, t->n_dims * sizeof(*dims)), fate);
        }
    }
}

/* ---- where a comparison turns over ---- */

/* Numbers with which the version alone compares what changes with the shape: what is chosen by size. */
static size_t boundaries(const struct branches *b, int64_t *to)
{
    size_t n = 0;

    for (size_t i = 0; i < b->numbers.n && n < MOST_BOUNDARIES; i++) {
        const struct plan_number *x = &b->numbers.v[i];
        size_t all = 0, of_original = 0;
        if (x->varies || !x->orders || x->number <= 1)
            continue;
        for (size_t k = 0; k < b->numbers.n; k++)
            all += b->numbers.v[k].orders && !b->numbers.v[k].varies && b->numbers.v[k].number == x->number;
        for (size_t k = 0; k < b->original.n; k++)
            of_original += b->original.v[k] == x->number;
        bool known = all <= 2 * of_original; /* the version does so in no more places */
        for (size_t k = 0; !known && k < n; k++)
            known = to[k] == x->number;
        if (!known)
            to[n++] = x->number;
    }
    return n;
}

static int64_t vector_elements(const struct task *t)
{
    size_t least = 16;

    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role != ROLE_SCALAR)
            least = MIN(least, kernel_type_size(t->args[i].type));
    return (int64_t)(16 / MAX(least, (size_t)1));
}

/* Is it a shape on which `number` is compared with `other`? Then it is run. */
static bool take_boundary(struct branches *b, const int64_t *dims, int64_t number, int64_t other,
                          struct fate *fate)
{
    struct version *v = b->version;
    const struct task *t = v->judge->task;
    struct plan plan = {0};
    struct news news;
    bool meets = false;

    if (!task_in_domain(t, dims) || task_case_elements(t, dims) > MOST_BOUNDARY)
        return false;
    if (look(b, dims, &plan, &news, fate) && news.planned) {
        for (size_t i = 0; i < plan.n_numbers; i++)
            meets |=
                plan.numbers[i].orders && plan.numbers[i].number == number && plan.numbers[i].other == other;
        if (meets) {
            version_add_kernels(v, &plan);
            note_shape(v, dims);
        }
    }
    if (!fate_open(fate))
        fate->words = arena_strdup(v->arena, fate->words);
    arena_reset(b->arena);
    return meets;
}

static void note_boundary(struct branches *b, const int64_t *dims)
{
    const struct task *t = b->version->judge->task;

    if (task_in_domain(t, dims) && task_case_elements(t, dims) <= MOST_BOUNDARY)
        note_shape(b->version, dims);
}

/* So many times what is compared: a loop of the blocks that are capped there goes on, in turns that are
 * unrolled by two or four, and what a capped grid leaves out is most of it. And a little more, where another
 * extent is whole tiles: what some blocks leave of one row meets them in their next. */
static void note_multiples(struct branches *b, int64_t *dims, size_t k)
{
    static const int64_t times[] = {3, 7};
    int64_t own = dims[k], other;

    for (size_t i = 0; i < ARRAY_LEN(times) && own <= INT32_MAX; i++) {
        dims[k] = own * times[i];
        note_boundary(b, dims);
    }
    dims[k] = own + ROUND;
    for (size_t i = 0; i < b->version->judge->task->n_dims; i++)
        if (i != k) {
            other = dims[i];
            dims[i] = ROUNDEST;
            note_boundary(b, dims);
            dims[i] = other;
        }
    dims[k] = own;
}

/* One dim beside a base's others, itself or its product with another. */
static bool find_boundary(struct branches *b, const int64_t *base, int64_t number, int64_t by,
                          struct fate *fate)
{
    const struct task *t = b->version->judge->task;
    int64_t dims[16];

    memcpy(dims, base, t->n_dims * sizeof(*dims));
    for (size_t i = 0; i < t->n_dims; i++) {
        for (size_t k = 0; k < t->n_dims && !over(b, fate); k++) {
            int64_t times = i == k ? 1 : base[k];
            if (times < 1 || number % times)
                continue;
            dims[i] = number / times + by;
            if (!take_boundary(b, dims, number, number + by * times, fate))
                continue;
            if (by == 0)
                note_multiples(b, dims, i);
            return true;
        }
        dims[i] = base[i];
    }
    return false;
}

/* What is compared with the number is made of a dim, which is solved for. */
static bool solve_boundary(struct branches *b, const int64_t *base, int64_t number, int64_t by,
                           struct fate *fate)
{
    const struct task *t = b->version->judge->task;
    int64_t dims[16];

    for (size_t k = 0; k < b->numbers.n * t->n_dims && !over(b, fate); k++) {
        const struct plan_number x = b->numbers.v[k / t->n_dims];
        int64_t other;
        memcpy(dims, base, t->n_dims * sizeof(*dims));
        if (!x.orders || x.varies || x.number != number || !solve(b, dims, k % t->n_dims, &x))
            continue;
        dims[k % t->n_dims] += by;
        if (!compared(b, dims, x.place, &other) || !take_boundary(b, dims, number, other, fate))
            continue;
        if (by == 0)
            note_multiples(b, dims, k % t->n_dims);
        return true;
    }
    return false;
}

/* The number itself and one vector to either side of it, where other dims are small, or as in a workload. */
static void add_boundaries(struct branches *b, const int64_t *least, struct fate *fate)
{
    const struct judge *j = b->version->judge;
    const struct task *t = j->task;
    int64_t numbers[MOST_BOUNDARIES], small[16], vector = vector_elements(t), by[] = {0, -vector, vector};
    size_t n = boundaries(b, numbers);

    for (size_t i = 0; i < t->n_dims; i++)
        small[i] = MAX(least[i], (int64_t)TWIN);
    for (size_t i = 0; i < n * ARRAY_LEN(by); i++) {
        int64_t number = numbers[i / ARRAY_LEN(by)], offset = by[i % ARRAY_LEN(by)];
        bool found =
            find_boundary(b, small, number, offset, fate) || find_boundary(b, least, number, offset, fate);
        for (size_t w = 0; w < t->n_workloads && !found && !over(b, fate); w++)
            found = find_boundary(b, t->workloads + w * t->n_dims, number, offset, fate);
        found = found || solve_boundary(b, least, number, offset, fate);
        for (size_t k = 0; k < MIN(j->n_cases, (size_t)MOST_BASES) && !found && !over(b, fate); k++)
            found = solve_boundary(b, j->cases[k].dims, number, offset, fate); /* behind another decision */
    }
}

/* ---- extents that are no rounder than the launcher asks for ---- */

/* Which way the launcher goes on a shape; false where it has no plan. */
static bool way_of(struct branches *b, const int64_t *dims, uint64_t *way)
{
    struct version *v = b->version;
    struct plan plan = {0};
    struct fate fate = {0};
    bool planned = task_in_domain(v->judge->task, dims);

    if (planned)
        version_plan_only(v, b->arena, dims, &plan, &fate);
    planned = planned && fate_open(&fate);
    b->steps += plan.interpreted;
    *way = 0;
    for (size_t i = 0; planned && i < plan.n_marks; i++)
        *way += rng_mix(plan.marks[i]);
    arena_reset(b->arena);
    return planned;
}

/* Makes each extent a multiple of the smallest power of two with which the launcher still goes the same way;
 * false when it asks for none. */
static bool make_least_round(struct branches *b, int64_t *dims, uint64_t way)
{
    bool asks = false;

    for (size_t k = 0; k < b->version->judge->task->n_dims; k++) {
        int64_t own = dims[k], round = 1;
        uint64_t other;
        for (; round < ROUNDEST && own % (2 * round) == 0; round *= 2) {
            dims[k] = own - round;
            if (dims[k] > 0 && way_of(b, dims, &other) && other == way)
                break;
            dims[k] = own;
        }
        asks |= round > 1 && dims[k] != own;
    }
    return asks;
}

/* A guard that asks for multiples of 8 where the kernel needs 16 is seen only at an odd number of eights. */
static void add_least_round(struct branches *b, const struct fate *fate)
{
    struct version *v = b->version;
    const struct judge *j = v->judge;
    size_t n_bases = j->n_cases + v->n_branches, taken = 0;
    VEC(uint64_t) ways = {0};
    int64_t dims[16];

    for (size_t i = 0; i < n_bases && taken < MOST_LEAST && !over(b, fate); i++) {
        const int64_t *base = i < j->n_cases ? j->cases[i].dims : v->branches[i - j->n_cases];
        bool known = task_case_elements(j->task, base) > RUN_ELEMENTS;
        uint64_t way;
        if (known || !way_of(b, base, &way))
            continue;
        for (size_t k = 0; k < ways.n; k++)
            known |= ways.v[k] == way;
        memcpy(dims, base, j->task->n_dims * sizeof(*dims));
        if (known || !make_least_round(b, dims, way))
            continue;
        vec_push(&ways, way);
        note_shape(v, dims);
        taken++;
    }
    vec_free(&ways);
}

/* ---- a kernel that the suite never comes to ---- */

/* Takes a shape that can be run whole and, where the way is known, goes there. */
static bool take_grown(struct branches *b, const int64_t *dims, const uint64_t *way)
{
    struct version *v = b->version;
    const struct task *t = v->judge->task;
    int64_t elements = task_in_domain(t, dims) ? task_case_elements(t, dims) : INT64_MAX;
    uint64_t other;

    if (elements > RUN_ELEMENTS || (way && (!way_of(b, dims, &other) || other != *way)))
        return false;
    note_shape(v, dims);
    return true;
}

static void grow(struct branches *b, const int64_t *least, const uint64_t *way)
{
    size_t n = b->version->judge->task->n_dims;
    int64_t dims[16] = {0};

    for (size_t k = 0; k < n; k++)
        dims[k] = least[k] * GROWN;
    take_grown(b, dims, way);
    for (size_t k = 0; k < n; k++) {
        bool taken = false;
        memcpy(dims, least, n * sizeof(*dims));
        for (int64_t times = LONGEST; times > SHORTEST && !taken; times /= 2) {
            dims[k] = least[k] * times;
            taken = take_grown(b, dims, way);
        }
    }
}

/* The smallest shape that comes to it has one block, and one turn of each loop. So some blocks and turns of
 * all, and many of each. With three extents no case of the suite is round in all and long in one. */
static void add_grown(struct branches *b, const struct fate *fate)
{
    size_t n_dims = b->version->judge->task->n_dims;
    int64_t round[16];
    uint64_t way;

    for (size_t i = 0; i < b->first.n && !over(b, fate); i++)
        if (way_of(b, b->first.v[i], &way))
            grow(b, b->first.v[i], &way);
    for (size_t k = 0; k < n_dims; k++)
        round[k] = ROUND;
    if (n_dims > 2 && !b->first.n)
        grow(b, round, NULL);
}

/* ---- blocks that hear of each other ---- */

/* May blocks read what others write meanwhile? It is asked before anything is compiled, of the file's words. */
static bool blocks_hear(const struct version *v)
{
    static const char *const words[] = {"atom", "volatile", "acquire", "relaxed"};
    bool hear = false;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        hear |= strstr(v->kernel->text, words[i]) != NULL;
    return hear;
}

static uint64_t most_blocks(const struct plan *plan)
{
    uint64_t most = 0;

    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == PLAN_LAUNCH)
            most =
                MAX(most, (uint64_t)plan->steps[i].grid[0] * plan->steps[i].grid[1] * plan->steps[i].grid[2]);
    return most;
}

/* What blocks tell each other along one extent goes wrong where there are many of them, which small cases have
 * in the other extents at best. */
static void add_long_grids(struct branches *b)
{
    struct version *v = b->version;
    const struct task *t = v->judge->task;
    const int64_t *least = smallest_case(v->judge);
    int64_t dims[16];
    size_t taken = 0, n_dims = blocks_hear(v) ? t->n_dims : 0;

    for (size_t k = 0; k < n_dims && taken < MOST_LONG; k++) {
        uint64_t blocks = 0, least_blocks = 0;
        memcpy(dims, least, t->n_dims * sizeof(*dims));
        for (; blocks < LONG_GRID && task_in_domain(t, dims) && task_case_elements(t, dims) <= RUN_ELEMENTS;
             dims[k] *= 2) {
            struct plan plan = {0};
            struct fate fate = {0};
            version_plan_only(v, b->arena, dims, &plan, &fate);
            blocks = fate_open(&fate) ? most_blocks(&plan) : 0;
            least_blocks = least_blocks ? least_blocks : blocks;
            arena_reset(b->arena);
        }
        dims[k] /= 2;
        if (blocks <= least_blocks) /* a grid that does not grow with it */
            continue;
        note_shape(v, dims);
        taken++;
    }
    v->n_long = v->n_branches;
}

void branches_find(struct version *v, struct fate *fate)
{
    struct judge *j = v->judge;
    struct branches b = {.version = v, .arena = arena_open()};
    const int64_t *const *shapes;
    int64_t numbers[MOST_NUMBERS];
    size_t n, n_numbers;
    struct plan plan;
    struct news news;

    v->branches = arena_array(v->arena, const int64_t *,
                              MOST_RUN + (5 + j->task->n_dims) * MOST_BOUNDARIES + MOST_LEAST + MOST_LONG +
                                  (MOST_FIRST + 1) * (1 + j->task->n_dims));
    if (v != &j->baseline)
        add_long_grids(&b);
    for (size_t i = 0; i < j->n_cases && look(&b, j->cases[i].dims, &plan, &news, fate); i++) {
        if (news.planned)
            kernel_names_add(&b.kernels, v->arena, &plan);
        arena_reset(b.arena);
    }
    b.n_suite = b.marks.n;
    if (!b.n_suite)
        goto done; /* nothing was planned, or launched */
    n_numbers = decided(&b, numbers);
    n_numbers = numbers_of(v->kernel->text, numbers, n_numbers, MOST_NUMBERS);
    n_numbers = numbers_of(j->baseline.kernel->text, numbers, n_numbers, MOST_NUMBERS);
    task_planned(j->task, v->arena, numbers, n_numbers, MOST_SHAPES, &shapes, &n);
    struct sized *sized = arena_array(v->arena, struct sized, n + 1);
    for (size_t i = 0; i < n; i++)
        sized[i] = (struct sized){shapes[i], task_case_elements(j->task, shapes[i])};
    qsort(sized, n, sizeof(*sized), by_size);
    for (size_t i = 0; i < n && !over(&b, fate); i++)
        look_and_take(&b, sized[i].dims, fate);
    climb(&b, fate);
    if (v != &j->baseline && n > 0)
        solve_all(&b, sized[0].dims, fate);
    if (v != &j->baseline && n > 0)
        add_boundaries(&b, sized[0].dims, fate);
    add_least_round(&b, fate);
done:
    if (v != &j->baseline)
        add_grown(&b, fate);
    vec_free(&b.first);
    vec_free(&b.kernels);
    vec_free(&b.original);
    vec_free(&b.numbers);
    vec_free(&b.found);
    vec_free(&b.marks);
    vec_free(&b.mixed);
    arena_close(b.arena);
}

bool branches_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    struct arena *scratch = arena_open();
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < v->n_branches; i++) {
        uint64_t seed = rng_hash(v->judge->options.seed, 0x6272616e + i);
        const struct extra x = {.dims = v->branches[i], .seed = seed, .order = i < v->n_long ? seed | 1 : 0};
        ok = extra_verify(&x, v, scratch, fate, err);
        if (!fate_open(fate))
            fate->words = arena_strdup(a, fate->words);
        arena_reset(scratch);
    }
    arena_close(scratch);
    return ok;
}
