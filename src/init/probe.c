/* What nobody has written down, found by running the launcher on the simulator for small sizes: how far each
 * buffer is touched is a formula of the sizes, and what is read before it is written is an input. What is found
 * is a proposal; `astra check` judges it on other sizes. */
#include "init/probe.h"

/* What may be spent, in warp instructions and not in seconds: what is found is the same on every machine. A run
 * costs some before its first instruction. A second executes 20 to 60 million of them. */
enum { SEARCH_INSNS = 30000000, MORE_INSNS = 15000000, RUN_INSNS = 20000 };
enum { MOST_NUMBERS = 16, MOST_PRODUCT = 1 << 25 };
enum { LEAST_ENDLESS = 1 << 18, MANY = 16 }; /* after a run that did not end: instructions, times the longest */

/* No product of powers of these is the same at all points. */
static const int seeds[PROBE_DIMS][PROBE_BASE] = {
    {3, 5, 8}, {5, 11, 6}, {7, 6, 13}, {4, 7, 5}, {6, 3, 11}, {5, 7, 3}, {2, 3, 5}, {3, 2, 5},
    {5, 2, 3}, {4, 3, 2},  {2, 5, 3},  {3, 4, 2}, {2, 4, 7},  {7, 2, 4}, {3, 7, 4}, {4, 2, 5}};
/* Smaller ones, where a block for each of many sizes is too much work. */
static const int small_seeds[PROBE_DIMS][PROBE_BASE] = {
    {2, 3, 4}, {3, 4, 2}, {4, 2, 3}, {3, 2, 4}, {2, 4, 3}, {4, 3, 2}, {1, 2, 3}, {3, 1, 2},
    {2, 3, 1}, {1, 3, 2}, {2, 1, 3}, {3, 2, 1}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {1, 1, 2}};
enum { SMALL_DIMS = 5 }; /* of fewer sizes no products are that large */
/* The same of sizes in large units, which make a run long. The first, at which others are long, are no powers
 * of two, or what is divided by the size would look counted in steps. */
enum { LARGE_UNIT = 32, LARGE_DIMS = 6 };
static const int large_seeds[LARGE_DIMS][PROBE_BASE] = {{3, 1, 2}, {5, 3, 1}, {3, 1, 4},
                                                        {5, 1, 2}, {3, 2, 1}, {3, 4, 2}};

bool probe_is_buffer(const struct probing *p, size_t arg)
{
    return p->task->args[arg].role != ROLE_SCALAR;
}

bool probe_is_free(const struct probing *p, const struct probe_setting *s, size_t dim)
{
    return !p->formula[dim] && !s->fixed[dim];
}

int64_t probe_elements(const struct probing *p, const struct footprint *f, size_t arg)
{
    size_t size = kernel_type_size(p->task->args[arg].type);

    return (int64_t)((f->args[arg].end + size - 1) / size);
}

void probe_follow(const struct probing *p, int64_t *dims)
{
    for (size_t i = 0; i < p->n_dims; i++) {
        if (p->formula[i] && p->as[i].den)
            dims[i] = probe_value(p, &p->as[i], dims);
    }
}

/* Powers of two: at the points before, and where it is long. */
static const int powers[PROBE_BASE] = {16, 64, 32}, long_powers[2] = {256, 512};

static bool is_large(const struct probe_setting *s, size_t dim)
{
    return s->unit[dim] >= LARGE_UNIT && dim < LARGE_DIMS;
}

/* Longer than at all points before: an odd number of units, then an even one. If it may be, longer than all
 * other sizes, too. */
static int64_t longer_size(const struct probe_setting *s, size_t dim, bool even, int64_t largest)
{
    const int64_t unit = s->unit[dim], least = is_large(s, dim) ? 5 : 9;

    if (s->power[dim])
        return long_powers[even];
    return unit * (even ? MAX(least + 5, (5 * largest / unit & ~3) | 2) : MAX(least, 2 * largest / unit | 1));
}

bool probe_dims(const struct probing *p, const struct probe_setting *s, int point, int64_t *dims)
{
    const int at = point < PROBE_BASE ? point : 0, longer = point < PROBE_BASE ? -1 : (point - PROBE_BASE) / 2;
    int64_t largest = 74;
    double product = 1;

    for (size_t i = 0; i < p->n_dims; i++) {
        int seed = p->small ? small_seeds[i][at] : seeds[i][at];
        seed = is_large(s, i) && !p->small ? large_seeds[i][at] : seed;
        seed = s->power[i] ? powers[at] : seed;
        dims[i] = s->fixed[i] ? s->fixed[i] : s->unit[i] * seed;
        if (!s->fixed[i] && !s->power[i] && s->tied[i] < 0)
            dims[i] += p->low[i] / s->unit[i] * s->unit[i];
        largest = MAX(largest, dims[i]);
    }
    if (longer >= 0 && !s->fixed[longer])
        dims[longer] = longer_size(s, (size_t)longer, (point - PROBE_BASE) % 2, s->modest ? 0 : largest);
    for (size_t i = 0; i < p->n_dims; i++) {
        if (s->tied[i] >= 0 && !s->fixed[i])
            dims[i] *= dims[s->tied[i]];
    }
    probe_follow(p, dims);
    for (size_t i = 0; i < p->n_dims; i++)
        product *= probe_is_free(p, s, i) ? (double)dims[i] : 1;
    return product <= MOST_PRODUCT && task_in_domain(p->task, dims);
}

bool probe_take(struct probing *p, struct footprint *f, const struct footprint_run *run)
{
    struct err err = {0};

    *f = (struct footprint){0};
    if (p->fuel < 0 || init_is_late())
        return false;
    struct footprint_run with = *run;
    with.rising = p->rising;
    with.drawn = with.drawn || (p->busy && !with.ones);
    with.counted = p->busy;
    with.most_insns = p->endless && p->ended ? (uint64_t)MAX(MANY * p->ended, (int64_t)LEAST_ENDLESS) : 0;
    bool took = footprint_take(f, p->arena, p->prints, &with, &err);
    p->fuel -= (int64_t)f->warp_insns + RUN_INSNS;
    p->endless = p->endless || f->endless;
    if (took && f->ran)
        p->ended = MAX(p->ended, (int64_t)f->warp_insns);
    if (!took) {
        p->words = arena_strdup(p->arena, err.text);
        return false;
    }
    if (!f->ran)
        p->words = f->words;
    return f->ran;
}

struct probe_setting probe_plain(int64_t unit)
{
    struct probe_setting s = {0};

    for (size_t i = 0; i < PROBE_DIMS; i++) {
        s.unit[i] = unit;
        s.tied[i] = -1;
    }
    return s;
}

/* ---- one setting */

/* What the wrapper says of the buffer's shape holds all that is touched. */
static bool is_within(const struct probing *p, size_t arg, const int64_t *dims, int64_t elements)
{
    int64_t said;

    return p->t->args.v[arg].shape && task_shape(p->task, &p->task->args[arg], dims, &said, NULL) &&
           elements <= said;
}

static bool is_whole(const struct footprint_arg *f)
{
    return !f->wrote || f->read_first || f->written == f->end;
}

bool probe_zeros(struct probing *p, struct footprint *f, const int64_t *dims)
{
    return probe_take(p, f, &(struct footprint_run){.dims = dims, .filled = SIZE_MAX});
}

bool probe_filled(struct probing *p, struct footprint *f, const int64_t *dims, size_t by, int64_t with)
{
    return probe_take(p, f, &(struct footprint_run){.dims = dims, .filled = by, .with = with});
}

bool probe_holds(struct probing *p, const int64_t *dims)
{
    struct footprint f;
    bool holds = probe_zeros(p, &f, dims);

    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS && holds; i++) {
        int64_t e = probe_is_buffer(p, i) ? probe_elements(p, &f, i) : 0;

        if (!probe_is_buffer(p, i) || p->fit[i].form == PROBE_NONE ||
            (p->fit[i].most >= 0 && dims[p->fit[i].most] < dims[p->fit[i].least]))
            continue;
        holds = is_within(p, i, dims, e) || e == probe_extent_value(p, &p->fit[i], dims);
        holds = holds && (is_whole(&f.args[i]) || !is_whole(&p->at[0].args[i]));
    }
    return holds;
}

/* What the points say of each buffer: four for each that is explained, two more where the wrapper explains it,
 * one for each that is not written in part. All are: *whole. */
static size_t explain(struct probing *p, bool *whole)
{
    size_t score = 1;

    *whole = true;
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        int64_t e[PROBE_POINTS];
        bool touched = false, within = true, full = true, padded;

        if (!probe_is_buffer(p, i))
            continue;
        for (size_t k = 0; k < p->n_points; k++) {
            e[k] = probe_elements(p, &p->at[k], i);
            touched = touched || e[k];
            within = within && is_within(p, i, p->dims[k], e[k]);
            full = full && is_whole(&p->at[k].args[i]);
        }
        p->fit[i] = touched ? probe_fit(p, p->n_points, e) : (struct probe_extent){.most = -1};
        p->within[i] = within;
        full = full || (!within && p->fit[i].form == PROBE_ROWS); /* what lies between rows is not */
        /* what does not grow with any size may be the padding of a block */
        padded = !within && probe_is_constant(&p->fit[i]) && e[0] > 1;
        if (touched && (within || p->fit[i].form || probe_is_indexed(p, i)))
            score += (padded ? 2 : 4) + (within ? 2 : 0);
        else
            *whole = false;
        score += full;
        *whole = *whole && full && !padded;
    }
    return score;
}

bool probe_is_open(const struct probing *p, size_t arg)
{
    bool touched = false;

    for (size_t k = 0; k < p->n_points; k++)
        touched = touched || p->at[k].args[arg].end;
    return touched && !p->within[arg] && p->fit[arg].form == PROBE_NONE && !probe_is_indexed(p, arg);
}

struct best {
    struct probing found; /* as it was then */
    size_t score;
    bool any, whole;
    VEC(struct probe_setting) tried;
};

/* Runs the setting at its points; false: it does not run, or writes nothing. */
static bool measure(struct probing *p, const struct probe_setting *s)
{
    bool wrote = false;

    p->setting = *s;
    p->n_points = 0;
    p->indices.n = 0;
    for (int k = 0; k < PROBE_BASE; k++) {
        if (!probe_dims(p, s, k, p->dims[k]))
            return false;
        if (!probe_zeros(p, &p->at[k], p->dims[k])) {
            if (p->small || p->n_dims < SMALL_DIMS || !p->at[k].endless)
                return false;
            p->small = true; /* from now on, for all settings */
            return measure(p, s);
        }
        for (size_t i = 0; i < p->task->n_args; i++)
            wrote = wrote || p->at[k].args[i].wrote;
        p->n_points++;
    }
    p->silent = p->silent || !wrote;
    return wrote || p->quiet;
}

/* The number of sizes that cannot be long. One that is too much work where it is the longest is looked at where
 * it is merely longer. */
static size_t measure_long(struct probing *p)
{
    size_t missing = 0;

    for (size_t i = 0; i < 2 * p->n_dims; i++) {
        const int point = PROBE_BASE + (int)i;
        struct probe_setting modest = p->setting;
        size_t n = p->n_points;
        bool took;

        if (!probe_is_free(p, &p->setting, i / 2))
            continue;
        modest.modest = true;
        took = probe_dims(p, &p->setting, point, p->dims[n]) &&
               (probe_zeros(p, &p->at[n], p->dims[n]) ||
                (probe_dims(p, &modest, point, p->dims[n]) && probe_zeros(p, &p->at[n], p->dims[n])));
        p->n_points += took;
        missing += !took;
    }
    return missing;
}

/* A setting is tried once. */
static bool was_tried(struct probing *p, struct best *best, const struct probe_setting *s)
{
    struct probe_setting plain = *s;

    for (size_t i = 0; i < PROBE_DIMS;
         i++) { /* what a size that is fixed, or not there, has besides says nothing */
        if (s->fixed[i] || i >= p->n_dims || p->formula[i]) {
            plain.unit[i] = 1;
            plain.tied[i] = -1;
            plain.power[i] = false;
        }
    }
    for (size_t i = 0; i < best->tried.n; i++) {
        if (memcmp(&best->tried.v[i], &plain, sizeof(plain)) == 0)
            return true;
    }
    vec_add(p->arena, &best->tried, plain);
    return false;
}

static void try_setting(struct probing *p, const struct probe_setting *s, struct best *best)
{
    size_t score, missing;
    bool whole;

    if (best->whole || was_tried(p, best, s) || !measure(p, s))
        return;
    score = explain(p, &whole);
    if (score + 4 < best->score) /* what more points show is mostly less */
        return;
    missing = measure_long(p);
    score = explain(p, &whole);
    if (!whole) {
        probe_indices(p);
        score = explain(p, &whole);
    }
    score -= MIN(missing, score); /* for them the formulas are guesses */
    whole = whole && !missing;
    if (score <= best->score)
        return;
    best->found = *p;
    best->score = score;
    best->any = true;
    best->whole = whole;
    p->indices = (typeof(p->indices)){0}; /* these are the best one's now */
}

/* ---- the search */

static void start(struct probing *p, struct best *best)
{
    static const int64_t units[] = {1, 8, 32, 128, 256, 1024};
    int64_t dims[PROBE_DIMS];
    bool inside = false;
    struct probe_setting divided = probe_plain(1);

    for (size_t i = 0; i < p->n_dims; i++)
        divided.unit[i] = probe_divisor(p, i);
    try_setting(p, &divided, best);
    for (size_t u = 0; u < ARRAY_LEN(units) && !inside; u++) {
        struct probe_setting s = probe_plain(units[u]);

        inside = true;
        for (int k = 0; k < PROBE_BASE; k++)
            inside = inside && probe_dims(p, &s, k, dims);
        if (inside)
            try_setting(p, &s, best);
    }
}

/* One size a power of two, alone or with another one in large units. */
static void step_powers(struct probing *p, const struct probe_setting *from, struct best *best)
{
    static const int64_t units[] = {64, 1024};

    for (size_t i = 0; i < p->n_dims; i++) {
        struct probe_setting s = *from;

        if (!probe_is_free(p, from, i) || s.tied[i] >= 0)
            continue;
        s.power[i] = true;
        s.unit[i] = 1;
        try_setting(p, &s, best);
        for (size_t k = 0; k < p->n_dims; k++) {
            for (size_t u = 0; u < ARRAY_LEN(units) && k != i && probe_is_free(p, from, k); u++) {
                struct probe_setting with = s;
                with.unit[k] = units[u];
                try_setting(p, &with, best);
            }
        }
    }
}

/* Settings one step from this one: does any explain more? */
static bool step(struct probing *p, struct probe_setting from, struct best *best)
{
    static const int64_t units[] = {32, 256, 4, 64, 1024, 128, 4096}, tied[] = {8, 128, 1};
    const size_t before = best->score;
    int64_t numbers[MOST_NUMBERS];
    size_t n_free = 0;
    struct probe_setting s;

    for (size_t i = 0; i < p->n_dims; i++)
        n_free += probe_is_free(p, &from, i);
    for (size_t i = p->n_dims; i-- > 0;) {
        const size_t n_numbers = probe_numbers(p, i, numbers, MOST_NUMBERS);
        for (size_t k = 0; k < n_numbers && !p->formula[i]; k++) {
            s = from;
            s.fixed[i] = numbers[k];
            try_setting(p, &s, best);
        }
    }
    for (size_t u = 0; u < ARRAY_LEN(units); u++) {
        for (size_t i = p->n_dims; i-- > 0;) {
            s = from;
            s.unit[i] = units[u];
            s.tied[i] = -1;
            if (probe_is_free(p, &s, i))
                try_setting(p, &s, best);
        }
        if (units[u] > 64 || n_free > 4)
            continue;
        s = from; /* all of them at once */
        for (size_t i = 0; i < p->n_dims; i++) {
            s.unit[i] = units[u];
            s.tied[i] = -1;
        }
        try_setting(p, &s, best);
    }
    for (size_t u = 0; u < ARRAY_LEN(tied); u++) {
        for (size_t i = 0; i < p->n_dims; i++) {
            for (size_t k = 0; k < p->n_dims; k++) {
                s = from;
                s.unit[i] = tied[u];
                s.tied[i] = (int)k;
                if (i != k && s.tied[k] < 0 && probe_is_free(p, &s, i) && probe_is_free(p, &s, k))
                    try_setting(p, &s, best);
            }
        }
    }
    if (best->score == before)
        step_powers(p, &from, best);
    return best->score > before;
}

static void search(struct probing *p, struct best *best)
{
    static const int64_t units[] = {4, 8, 32, 128};
    const struct probe_setting from = probe_plain(1);
    bool more;

    start(p, best);
    more = !best->whole;

    while (more) {
        more = step(p, best->any ? best->found.setting : from, best) && !best->whole;
        for (size_t u = 0; u < ARRAY_LEN(units) && !best->any && !more; u++)
            more = step(p, probe_plain(units[u]), best);
    }
}

/* Does it hold where every size is one unit? */
static bool holds_smallest(struct probing *p, const struct probe_setting *s)
{
    int64_t dims[PROBE_DIMS];

    for (size_t i = 0; i < p->n_dims; i++) {
        int64_t least = s->power[i] ? powers[0] : s->unit[i];
        dims[i] = s->fixed[i] ? s->fixed[i] : least;
    }
    for (size_t i = 0; i < p->n_dims; i++) {
        if (s->tied[i] >= 0 && !s->fixed[i])
            dims[i] *= dims[s->tied[i]];
    }
    probe_follow(p, dims);
    return task_in_domain(p->task, dims) && probe_holds(p, dims);
}

/* Smaller units for which the same holds: what is left is what the sizes must be multiples of. */
static void loosen(struct probing *p)
{
    const bool smallest = holds_smallest(p, &p->setting);

    for (size_t i = 0; i < p->n_dims; i++) {
        while (p->setting.unit[i] > 1 && probe_is_free(p, &p->setting, i)) { /* of a power it is 1 */
            struct probe_setting s = p->setting;
            bool holds = true;

            s.unit[i] /= 2;
            for (int k = 0; k < PROBE_BASE && holds; k++) {
                int64_t dims[PROBE_DIMS];
                memcpy(dims, p->dims[k], sizeof(dims));
                dims[i] += s.unit[i] * (s.tied[i] >= 0 ? dims[s.tied[i]] : 1);
                probe_follow(p, dims);
                holds = task_in_domain(p->task, dims) && probe_holds(p, dims);
            }
            if (!holds || (smallest && !holds_smallest(p, &s)))
                break;
            p->setting = s;
        }
    }
}

/* ---- what was found goes to the task */

static const char *role_of(const struct probing *p, size_t arg)
{
    bool wrote = false, first = false, whole = true;

    for (size_t k = 0; k < p->n_points; k++) {
        const struct footprint_arg *f = &p->at[k].args[arg];
        wrote = wrote || f->wrote;
        first = first || f->read_first;
        whole = whole && f->written == f->end;
    }
    if (!wrote)
        return p->t->args.v[arg].written ? "inout" : "in";
    return first || !whole || p->fit[arg].form == PROBE_ROWS ? "inout" : "out";
}

/* What the extent asks of the sizes. */
static void tell_condition(struct probing *p, const struct probe_extent *x)
{
    if (x->form == PROBE_ROWS && !probe_is_one(&x->b))
        init_demand(p->t, p->arena,
                    arena_printf(p->arena, "%s >= %s", p->t->dims.v[x->size], probe_text(p, &x->b)));
    if (x->most >= 0)
        init_demand(p->t, p->arena,
                    arena_printf(p->arena, "%s >= %s", p->t->dims.v[x->most], p->t->dims.v[x->least]));
}

/* A buffer that no formula explains is as large as what holds all that is touched of it: more is never wrong of
 * what is read. */
static void tell_cover(struct probing *p, size_t arg)
{
    struct init_arg *x = &p->t->args.v[arg];
    struct probe_extent cover;
    int64_t e[PROBE_POINTS];

    for (size_t k = 0; k < p->n_points; k++)
        e[k] = probe_elements(p, &p->at[k], arg);
    init_ask(x, arena_printf(p->arena, "which shape has %s? %lld elements are touched for the first proposal",
                             x->name, (long long)e[0]));
    if (!probe_cover(p, p->n_points, e, &cover))
        return;
    x->shape = probe_extent_shape(p, &cover);
    if (str_eq(x->role, "out"))
        x->role = "inout";
}

static void tell(struct probing *p)
{
    struct arena *a = p->arena;

    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        struct init_arg *x = &p->t->args.v[i];
        const struct probe_extent *fit = &p->fit[i];
        bool touched = false;

        if (!probe_is_buffer(p, i))
            continue;
        for (size_t k = 0; k < p->n_points; k++)
            touched = touched || p->at[k].args[i].end;
        if (!touched) {
            init_ask(x, arena_printf(a, "%s is not touched at small sizes; which shape has it?", x->name));
            if (str_eq(x->role, "out"))
                x->role = "inout";
            continue;
        }
        const char *role = role_of(p, i);
        if (p->quiet && !str_eq(x->role, "in"))
            x->role = "inout";
        else if (!str_eq(x->role, "scratch"))
            x->role = role;
        if (!x->values || !x->guess) /* what is said of its numbers holds */
            init_ask(x, NULL);
        if (!p->within[i] && fit->form) {
            x->shape = probe_extent_shape(p, fit);
            tell_condition(p, fit);
        }
        if (!x->shape && !probe_is_indexed(p, i))
            tell_cover(p, i);
    }
}

/* One run more, with numbers that take other branches. */
static void look_with_ones(struct probing *p)
{
    if (p->n_points == PROBE_POINTS)
        return;
    memcpy(p->dims[p->n_points], p->dims[0], sizeof(p->dims[0]));
    p->n_points += probe_take(p, &p->at[p->n_points],
                              &(struct footprint_run){.dims = p->dims[0], .filled = SIZE_MAX, .ones = true});
    for (size_t k = 0; k < p->n_points; k++) {
        for (size_t i = 0; i < p->task->n_args; i++)
            p->t->any_order =
                p->t->any_order || (p->at[k].args[i].atomic && type_is_floating(p->task->args[i].type));
    }
}

/* Numbers that differ may lead farther than zeros: where a formula has that, too, it is taken. */
static void look_with_drawn(struct probing *p)
{
    struct probing *farther = arena_new(p->arena, struct probing);
    const size_t n = p->n_points;
    bool any = false, whole;

    *farther = *p;
    for (size_t k = 0; k < n; k++) {
        struct footprint *to = &farther->at[k], f;
        if (!probe_take(p, &f, &(struct footprint_run){.dims = p->dims[k], .filled = SIZE_MAX, .drawn = true}))
            return;
        to->args = arena_copy(p->arena, to->args, p->task->n_args * sizeof(*to->args));
        for (size_t i = 0; i < p->task->n_args; i++) {
            any = any || f.args[i].end > to->args[i].end;
            if (f.args[i].end > to->args[i].end)
                to->args[i] = f.args[i];
        }
    }
    if (!any)
        return;
    explain(farther, &whole);
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        if (probe_is_open(farther, i) && !probe_is_open(p, i))
            return;
    }
    const int64_t fuel = p->fuel;
    *p = *farther;
    p->fuel = fuel;
}

/* Integers with which something is done, where with zeros nothing was. */
static void tell_busy(struct probing *p)
{
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS && p->busy; i++) {
        struct init_arg *a = &p->t->args.v[i];
        if (!probe_is_buffer(p, i) || type_is_floating(p->task->args[i].type) || a->values ||
            !p->at[0].args[i].read || p->at[0].args[i].wrote)
            continue;
        a->values =
            p->task->args[i].type == KT_BOOL ? "{kind: constant, value: 1}" : "{kind: index, low: 1, high: 2}";
        init_guess(a, arena_printf(p->arena, "with zeros in %s nothing ran; which range has it?", a->name));
    }
}

static void found(struct probing *p)
{
    const int64_t more = MORE_INSNS;

    p->t->seen = (typeof(p->t->seen)){0};
    for (size_t i = 0; i < p->n_dims; i++)
        vec_add(p->arena, &p->t->seen, ((struct init_seen){p->t->dims.v[i], p->dims[0][i]}));

    p->fuel = more;
    look_with_drawn(p);
    look_with_ones(p);
    loosen(p);
    if (!p->indices.n)
        probe_indices(p);
    probe_assertions(p);
    probe_bounds(p);
    *p->t->fuel -= more - p->fuel;
    p->fuel = more / 2;
    probe_fit_larger(p);
    tell(p);
    tell_busy(p);
    probe_tell_indices(p);
    *p->t->fuel -= more / 2 - p->fuel;
    probe_drop_sizes(p);
}

/* Are so many sizes together too much work, or more than may be looked at? */
static bool is_much(struct probing *p)
{
    const struct probe_setting plain = probe_plain(1);
    struct footprint f;
    int64_t dims[PROBE_DIMS];
    bool much = false;

    for (int k = 0; k < PROBE_BASE && p->n_dims >= SMALL_DIMS && !much; k++) {
        double product = 1;
        for (size_t i = 0; i < p->n_dims; i++)
            product *= seeds[i][k];
        much = product > MOST_PRODUCT ||
               (probe_dims(p, &plain, k, dims) && !probe_zeros(p, &f, dims) && f.endless);
    }
    return much;
}

bool init_probe(struct init_task *t, struct arena *a, const char *dir, const char *name, struct err *err)
{
    struct probing *p = arena_new(a, struct probing);
    struct best *best = arena_new(a, struct best);
    const int64_t fuel = MIN((int64_t)SEARCH_INSNS, *t->fuel / 2);
    bool ok;

    init_close_equal(t, a);
    if (t->dims.n > PROBE_DIMS)
        init_close_strides(t, a);
    *p = (struct probing){.t = t, .arena = a, .n_dims = t->dims.n, .fuel = fuel};
    if (!t->dims.n)
        return err_input(err, "no size is known; give the launcher one and name it in dims");
    if (t->dims.n > PROBE_DIMS)
        return err_input(err, "a task of %zu sizes is not looked into", t->dims.n);
    probe_lows(p);
    ok = probe_open_task(p, dir, name, err);
    if (ok) {
        probe_find_ends(p);
        p->small = is_much(p);
        probe_strides(p);
        search(p, best);
        if (probe_drop_ends(p, best->any ? best->found.fit : NULL)) {
            *best = (struct best){0};
            *t->fuel -= fuel - p->fuel;
            p->fuel = fuel;
            search(p, best);
        }
        *t->fuel -= fuel - p->fuel;
        if (best->any && probe_more_ends(p, &best->found)) {
            struct best *more = arena_new(a, struct best);
            p->fuel = fuel / 2;
            search(p, more);
            *t->fuel -= fuel / 2 - p->fuel;
            if (more->any)
                *best = *more;
        }
        if (!best->any) { /* lengths of 0, and maxima of zeros, may be what nothing is done for */
            *best = (struct best){0};
            p->busy = true;
            p->fuel = fuel / 2;
            search(p, best);
            *t->fuel -= fuel / 2 - p->fuel;
        }
        if (!best->any && p->silent) { /* it runs, and what it finds there asks for nothing to be written */
            *best = (struct best){0};
            p->busy = false;
            p->quiet = true;
            p->fuel = fuel / 2;
            search(p, best);
            *t->fuel -= fuel / 2 - p->fuel;
        }
        if (best->any) {
            *p = best->found;
            t->runs = true;
            found(p);
        } else {
            t->flaw = p->words ? p->words : "it writes nothing";
            vec_add(a, &t->notes, arena_printf(a, "the launcher did not run for small sizes: %s", t->flaw));
        }
    }
    if (!best->any)
        init_close_strides(t, a);
    footprints_close(p->prints);
    judge_close(p->judge);
    if (!init_open_task(t, a, dir, name, 0, &p->task, &(struct err){0})) /* what is wrong, check says */
        vec_clear(&t->workloads);
    return ok;
}

bool init_measure(struct init_task *t, struct arena *a, const char *dir, const char *name)
{
    struct probing *p = arena_new(a, struct probing);
    struct footprint f = {0};
    struct err err;
    bool ran = false, wrote = false;

    *p = (struct probing){.t = t, .arena = a, .n_dims = t->dims.n, .fuel = *t->fuel / 2};
    const int64_t fuel = p->fuel;
    if (p->n_dims <= PROBE_DIMS && init_open_task(t, a, dir, name, 0, &p->task, &err) &&
        p->task->n_args <= PROBE_ARGS && probe_open_prints(t, a, p->task, &p->judge, &p->prints, &err)) {
        p->rising = arena_array(a, bool, p->task->n_args + 1);
        ran = probe_zeros(p, &f, p->task->workloads);
        for (int busy = 0; busy < 2 && ran && !wrote; busy++) {
            p->busy = busy > 0;
            ran = !busy || probe_zeros(p, &f, p->task->workloads);
            for (size_t i = 0; i < p->task->n_args; i++)
                wrote = wrote || f.args[i].wrote;
        }
    }
    for (size_t i = 0; ran && wrote && i < p->task->n_args; i++) {
        struct init_arg *x = &t->args.v[i];
        const struct footprint_arg *e = &f.args[i];
        const bool whole = !e->read_first && e->written == e->end;

        if (!probe_is_buffer(p, i))
            continue;
        x->shape = arena_printf(a, "%lld", (long long)MAX(probe_elements(p, &f, i), 1));
        if (!e->end && !str_eq(x->role, "in"))
            x->role = "inout";
        else if (!str_eq(x->role, "scratch"))
            x->role = e->wrote || x->written ? (const char *[]){"inout", "out"}[whole && e->wrote] : "in";
        init_guess(x, arena_printf(a, "so much of %s is touched by one call; which shape has it?", x->name));
    }
    *p->at = f;
    if (p->busy && wrote)
        tell_busy(p);
    *t->fuel -= fuel - p->fuel;
    footprints_close(p->prints);
    judge_close(p->judge);
    return ran && wrote;
}
