/* The rules' suite. Shapes where kernels break: one element, the sizes around warps, vectors and blocks, a row
 * count beyond usual grid caps, the workloads' own extents and their neighbours, each shrunk in the other dims
 * so that the whole suite costs a fraction of a second; values where arithmetic breaks: large, tiny, mixed
 * magnitudes, integers that must come out exact, zeros, and the special values the task allows. */
#include "suite.h"

static const double FAR = 1000;

static const int64_t odd_values[] = {1,  2,  3,  5,  7,   8,   9,   15,  16,  17,  31,  32,   33,
                                     63, 64, 65, 96, 127, 128, 129, 255, 256, 257, 513, 1000, 1025};

int64_t task_case_elements(const struct task *t, const int64_t *dims)
{
    int64_t sum = 0, n;

    if (!task_in_domain(t, dims))
        return INT64_MAX;
    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role != ROLE_SCALAR && task_shape(t, &t->args[i], dims, &n, NULL))
            sum += n;
    return sum;
}

bool shapes_add(struct shapes *s, const int64_t *dims, int64_t limit, const char *why)
{
    size_t size = s->task->n_dims * sizeof(*dims);

    if (s->n == MAX_SHAPES || task_case_elements(s->task, dims) > limit)
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (!memcmp(s->dims[i], dims, size))
            return false;
    s->dims[s->n] = arena_copy(s->arena, dims, size);
    s->why[s->n++] = why;
    return true;
}

/* Set one dim as low as the domain lets it be, the others given. */
void task_lower(const struct task *t, int64_t *dims, size_t i)
{
    int64_t old = dims[i];

    for (size_t k = 0; k < ARRAY_LEN(odd_values) && odd_values[k] < old; k++) {
        dims[i] = odd_values[k];
        if (task_in_domain(t, dims))
            return;
    }
    dims[i] = old;
}

/* Halves a dim, and takes another with it where the domain ties the two: by as much, or in proportion, rounded
 * up to what it is a multiple of. */
static bool halve(const struct task *t, int64_t *dims, size_t dim, size_t keep)
{
    int64_t old = dims[dim], half = old / 2;

    dims[dim] = half;
    if (task_in_domain(t, dims))
        return true;
    for (size_t i = 0; i < t->n_dims; i++) {
        int64_t other = dims[i], unit = other & -other,
                near[] = {other - (old - half), other / old * half + other % old * half / old};
        if (i == keep || i == dim)
            continue;
        for (size_t k = 0; k < 2 * ARRAY_LEN(near); k++) {
            dims[i] = near[k / 2];
            if (k % 2)
                dims[i] = (dims[i] + unit - 1) / unit * unit;
            if (dims[i] >= 0 && task_in_domain(t, dims))
                return true;
        }
        dims[i] = other;
    }
    dims[dim] = old;
    return false;
}

bool shapes_shrink(const struct task *t, int64_t *dims, size_t keep, int64_t limit)
{
    bool stuck[16] = {0};

    while (task_case_elements(t, dims) > limit) {
        size_t largest = t->n_dims;
        for (size_t i = 0; i < t->n_dims; i++)
            if (i != keep && !stuck[i] && dims[i] > 1 && (largest == t->n_dims || dims[i] > dims[largest]))
                largest = i;
        if (largest == t->n_dims)
            return false;
        stuck[largest] = !halve(t, dims, largest, keep);
    }
    return true;
}

/* The extents of the workloads in one dim, the others shrunk; plus `step` so that the tails are met. */
static void add_workload_extents(struct shapes *s, size_t dim, int64_t step, int64_t limit, size_t count,
                                 const char *why)
{
    const struct task *t = s->task;
    int64_t dims[16];

    for (size_t w = 0; w < t->n_workloads && count > 0; w++) {
        memcpy(dims, t->workloads + w * t->n_dims, t->n_dims * sizeof(*dims));
        dims[dim] += step;
        if (task_in_domain(t, dims) && shapes_shrink(t, dims, dim, limit) && shapes_add(s, dims, limit, why))
            count--;
    }
}

/* The workload whose last extent has the smallest power of two: it is no multiple of what a block takes, and
 * shows what is left out at a row's end. */
static void add_uneven_extent(struct shapes *s)
{
    const struct task *t = s->task;
    size_t last = t->n_dims - 1, best = 0;
    int64_t dims[16];

    for (size_t w = 1; w < t->n_workloads; w++) {
        int64_t v = t->workloads[w * t->n_dims + last], b = t->workloads[best * t->n_dims + last];
        if ((v & -v) < (b & -b))
            best = w;
    }
    memcpy(dims, t->workloads + best * t->n_dims, t->n_dims * sizeof(*dims));
    if (shapes_shrink(t, dims, last, CASE_ELEMENTS))
        shapes_add(s, dims, CASE_ELEMENTS, "a workload's last extent");
}

static void add_smallest(struct shapes *s)
{
    const struct task *t = s->task;
    int64_t dims[16];

    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    for (size_t i = t->n_dims; i-- > 0;)
        task_lower(t, dims, i);
    shapes_add(s, dims, CASE_ELEMENTS, "the smallest shape");
}

/* Many in one dim, few in the others: beyond grid caps, and blocks that meet several rows. */
static void add_long(struct shapes *s, size_t dim, int64_t count, int64_t others, const char *why)
{
    const struct task *t = s->task;
    int64_t dims[16];

    for (size_t i = 0; i < t->n_dims; i++)
        dims[i] = i == dim ? count : others;
    if (shapes_add(s, dims, CASE_ELEMENTS, why))
        return;
    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    dims[dim] = count;
    for (size_t i = 0; i < t->n_dims; i++)
        if (i != dim)
            task_lower(t, dims, i);
    shapes_add(s, dims, CASE_ELEMENTS, why);
}

/* The largest workload that can be run as it is. */
static void add_whole_workload(struct shapes *s)
{
    const struct task *t = s->task;
    const int64_t *best = NULL;

    for (size_t w = 0; w < t->n_workloads; w++) {
        const int64_t *dims = t->workloads + w * t->n_dims;
        int64_t cost = task_case_elements(t, dims);
        if (cost <= WHOLE_ELEMENTS && (!best || cost > task_case_elements(t, best)))
            best = dims;
    }
    if (best)
        shapes_add(s, best, WHOLE_ELEMENTS, "a whole workload");
}

/* A row whose places 16 bits do not number. */
static void add_beyond_16_bits(struct shapes *s)
{
    const struct task *t = s->task;
    size_t last = t->n_dims - 1;
    int64_t dims[16];

    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    dims[last] = (1 << 16) + 8 * 131;
    for (size_t i = 0; i < last; i++)
        task_lower(t, dims, i);
    /* a dim that is in no shape may have no end */
    while (dims[last] += 1 << 13, dims[last] <= 1 << 24 && task_case_elements(t, dims) <= BEYOND_ELEMENTS)
        ;
    dims[last] -= 1 << 13;
    shapes_add(s, dims, BEYOND_ELEMENTS, "more than 16 bits number");
}

/* A row that is a whole number of whatever parts somebody cuts it into. */
static void add_power_of_two(struct shapes *s)
{
    const struct task *t = s->task;
    size_t last = t->n_dims - 1;
    int64_t dims[16];

    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    for (size_t i = 0; i < last; i++)
        task_lower(t, dims, i);
    for (dims[last] = 1 << 16; dims[last] >= 1 << 11; dims[last] /= 2)
        if (shapes_add(s, dims, BEYOND_ELEMENTS, "a power of two"))
            return;
}

static void add_random(struct shapes *s, struct rng *r, int64_t limit, size_t count)
{
    const struct task *t = s->task;
    int64_t dims[16];

    for (int tries = 0; tries < 400 && count > 0; tries++) {
        for (size_t i = 0; i < t->n_dims; i++) {
            const int64_t *workload = t->workloads + rng_below(r, t->n_workloads) * t->n_dims;
            /* Mostly the treacherous numbers; sometimes one near a workload's, sometimes any. Large ones only
             * in the last dim: a block for each of many short rows costs much and shows little. */
            uint64_t choice = rng_below(r, 8);
            bool last = i + 1 == t->n_dims;
            if (choice == 6 && last)
                dims[i] = workload[i] + (int64_t)rng_below(r, 17) - 8;
            else if (choice == 7)
                dims[i] = 1 + (int64_t)rng_below(r, last ? 2000 : 200);
            else
                dims[i] = odd_values[rng_below(r, ARRAY_LEN(odd_values) - (last ? 0 : 5))];
        }
        if (shapes_add(s, dims, limit, "a drawn shape"))
            count--;
    }
}

/* A domain with holes, like n % 4096 == 0: multiples of the least extents that halving comes to. */
static void add_multiples(struct shapes *s, int64_t limit, size_t count)
{
    const struct task *t = s->task;
    int64_t least[16], dims[16];

    memcpy(least, t->workloads, t->n_dims * sizeof(*least));
    shapes_shrink(t, least, t->n_dims, 0);
    for (int64_t k = 1; k < 8; k++)
        for (size_t i = 0; i < t->n_dims && count > 0; i++) {
            memcpy(dims, least, sizeof(dims));
            dims[i] *= k;
            count -= shapes_add(s, dims, limit, "a multiple of the least extents");
        }
}

/* The buffer that is largest at these dims. */
static const char *largest_buffer(const struct task *t, struct arena *a, const int64_t *dims)
{
    const char *name = "";
    int64_t most = 0, n;

    for (size_t i = 0; i < t->n_args; i++) {
        if (t->args[i].role == ROLE_SCALAR || !task_shape(t, &t->args[i], dims, &n, NULL) || n <= most)
            continue;
        most = n;
        name = t->args[i].name;
    }
    return arena_printf(a, "its largest buffer, %s, has %lld elements, and all of a case have %d at most", name,
                        (long long)most, CASE_ELEMENTS);
}

const char *task_suite_hindrance(const struct task *t, struct arena *a)
{
    int64_t least[16], dims[16];
    struct err err;
    const char *found;

    memcpy(least, t->workloads, t->n_dims * sizeof(*least));
    shapes_shrink(t, least, t->n_dims, 0);
    found = arena_printf(a, "the smallest one found is %s: %s", task_dims_text(a, t, least),
                         largest_buffer(t, a, least));
    for (size_t i = 0; i < t->n_dims; i++) {
        memcpy(dims, least, sizeof(dims));
        dims[i] /= 2;
        if (least[i] > 1 && !task_dims_fit(t, dims, &err))
            return arena_printf(a, "%s; %s", found, err.text);
    }
    return found;
}

static const char as_said[] = "as the task says";

void builder_add(struct builder *b, const struct shapes *s, size_t shape, const char *distribution,
                 enum value_kind kind, double special_share)
{
    const struct task *t = b->task;
    struct task_values *values = arena_array(b->arena, struct task_values, t->n_args);
    int64_t cost = task_case_elements(t, s->dims[shape]);

    if (b->cases.n >= 8 && cost <= CASE_ELEMENTS && b->spent + cost > SUITE_ELEMENTS && distribution == as_said)
        return;
    for (size_t i = 0; i < t->n_args; i++) {
        size_t n = t->args[i].n_choices;
        values[i] = t->args[i].values;
        if (n) /* all in turn, in other places of the suite each time round */
            values[i] = (struct task_values){.kind = VALUE_CONSTANT,
                                             .constant = t->args[i].choices[(b->cases.n + b->cases.n / n) % n]};
        if (n)
            continue;
        /* Only "any real number" may be replaced by other reals: a declared range is a promise of the callers.
         */
        if (values[i].kind == VALUE_NORMAL)
            values[i].kind = kind;
        if (task_value_ordered(values[i].kind))
            values[i].turn = (unsigned)b->cases.n;
        if (values[i].kind == VALUE_UNIFORM && t->args[i].values.kind == VALUE_NORMAL) {
            double centre = b->cases.n % 2 ? FAR : -FAR;
            values[i].low = centre - 2;
            values[i].high = centre + 2;
        }
        /* Without them, too, and few: one that decides a row hides what becomes of the others. */
        if (special_share > 0)
            values[i].special_share = special_share;
        else if (special_share < 0 || b->cases.n % 3 == 1)
            values[i].special_share = 0;
        else if (b->cases.n % 3 == 2)
            values[i].special_share /= 64;
    }
    vec_push(&b->cases, ((struct task_case){.dims = s->dims[shape],
                                            .seed = rng_next(&b->rng),
                                            .values = values,
                                            .distribution = distribution,
                                            .why = s->why[shape]}));
    if (cost <= CASE_ELEMENTS)
        b->spent += cost;
}

static bool any_arg(const struct task *t, bool special)
{
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        if ((arg->role == ROLE_IN || arg->role == ROLE_INOUT) &&
            (special ? arg->values.n_special > 0 : arg->values.kind == VALUE_NORMAL))
            return true;
    }
    return false;
}

/* Indices that are all the same: what counts them overflows, and all meet in one place. */
static void add_one_index(struct builder *b, const struct shapes *s)
{
    const struct task *t = b->task;
    size_t before = b->cases.n;
    bool any = false;

    for (size_t i = 0; i < t->n_args; i++)
        any |= t->args[i].values.kind == VALUE_INDEX;
    if (!any || s->n == 0)
        return;
    builder_add(b, s, 0, "one index", VALUE_NORMAL, 0);
    for (size_t i = 0; b->cases.n > before && i < t->n_args; i++) {
        struct task_values *v = (struct task_values *)&b->cases.v[before].values[i];
        int64_t low, high;
        if (v->kind != VALUE_INDEX)
            continue;
        values_range(v, s->dims[0], &low, &high);
        *v = (struct task_values){.kind = VALUE_CONSTANT,
                                  .constant =
                                      (double)(low + (int64_t)rng_below(&b->rng, (uint64_t)(high - low)))};
    }
}

/* One special value everywhere, for each of the first two. */
static void add_one_special(struct builder *b, const struct shapes *s)
{
    const struct task *t = b->task;

    for (size_t k = 0; k < 2; k++) {
        size_t before = b->cases.n;
        bool any = false;
        for (size_t i = 0; i < t->n_args; i++)
            any |= t->args[i].values.n_special > k;
        if (any)
            builder_add(b, s, s->n - 1, "all values special", VALUE_NORMAL, 2);
        for (size_t i = 0; b->cases.n > before && i < t->n_args; i++) {
            struct task_values *v = (struct task_values *)&b->cases.v[before].values[i];
            if (v->n_special > k) {
                v->special += k;
                v->n_special = 1;
            }
        }
    }
}

static const struct {
    const char *name;
    enum value_kind kind;
} distributions[] = {{"large", VALUE_LARGE},
                     {"tiny", VALUE_TINY},
                     {"mixed magnitudes", VALUE_MIXED},
                     {"small integers", VALUE_INTEGERS},
                     {"zeros", VALUE_ZEROS},
                     {"far from zero", VALUE_UNIFORM}, /* FAR: what differences of large sums lose */
                     {"cancelling", VALUE_CANCELLING},
                     {"rows that begin alike", VALUE_ALIKE},
                     {"rows alike but for one element", VALUE_NEARLY}};
enum { N_SHAPELESS = ARRAY_LEN(distributions) - 2 }; /* the last ones ask for many rows */

/* Many rows, and each of them long enough for a beginning. */
static void add_many_rows(struct shapes *s)
{
    const struct task *t = s->task;
    size_t last = t->n_dims - 1;
    int64_t dims[16] = {0};

    for (size_t w = 0; w < t->n_workloads; w++)
        for (size_t i = 0; i < t->n_dims; i++)
            dims[i] = MAX(dims[i], t->workloads[w * t->n_dims + i]);
    for (int64_t own = dims[last], length = MIN(own, (int64_t)ALIKE); s->n == 0; length = own) {
        dims[last] = length;
        if (task_in_domain(t, dims) && shapes_shrink(t, dims, last, SMALL_ELEMENTS))
            shapes_add(s, dims, SMALL_ELEMENTS, "many rows");
        if (length == own)
            break;
    }
}

void task_suite(const struct task *t, struct arena *a, uint64_t seed, const struct task_case **cases,
                size_t *n_cases)
{
    /* `values` has the shapes on which values vary: a workload's last extent, its neighbour, and a drawn one.
     */
    struct shapes s = {.task = t, .arena = a}, values = {.task = t, .arena = a},
                  beyond = {.task = t, .arena = a}, rows = {.task = t, .arena = a};
    struct builder b = {.task = t, .arena = a, .rng = {rng_mix(seed ^ 0x7461736b)}};
    size_t last = t->n_dims - 1;

    add_workload_extents(&values, last, 0, SMALL_ELEMENTS, 2, "a workload's last extent");
    add_workload_extents(&values, last, 1, SMALL_ELEMENTS, 1, "one more than a workload's last extent");
    add_random(&values, &b.rng, SMALL_ELEMENTS, values.n < 3 ? 4 : 2);
    add_whole_workload(&s);
    add_smallest(&s);
    for (size_t i = 0; i < t->n_dims; i++)
        add_long(&s, i, i == last ? 1031 : 1025, i == last ? 3 : 5, "many in one dim");
    add_long(&s, last, 8 * 131, 3, "whole vectors, but no whole blocks");
    add_long(&s, last, 8 * 513, 1, "whole vectors, but no whole blocks");
    add_beyond_16_bits(&beyond);
    add_power_of_two(&beyond);
    add_uneven_extent(&s);
    add_workload_extents(&s, last, 0, CASE_ELEMENTS, 3, "a workload's last extent");
    add_workload_extents(&s, last, -1, CASE_ELEMENTS, 1, "one less than a workload's last extent");
    for (size_t i = 0; i < last; i++)
        add_workload_extents(&s, i, 0, CASE_ELEMENTS, 1, "a workload's extent");
    add_random(&s, &b.rng, CASE_ELEMENTS, 8);
    if (values.n == 0)
        add_multiples(&values, SMALL_ELEMENTS, 3);
    if (s.n == 0)
        add_multiples(&s, CASE_ELEMENTS, 6);

    for (size_t i = 0; i < values.n; i++)
        builder_add(&b, &values, i, as_said, VALUE_NORMAL, 0);
    for (size_t i = 0; values.n && any_arg(t, false) && i < N_SHAPELESS; i++)
        for (size_t k = 0; k < (distributions[i].kind == VALUE_ZEROS ? 1 : 2); k++)
            builder_add(&b, &values, (i + k * 2) % values.n, distributions[i].name, distributions[i].kind, 0);
    if (values.n && any_arg(t, false) && !task_flushes(t))
        builder_add(&b, &values, values.n - 1, "faint", VALUE_FAINT, 0);
    if (values.n)
        add_sizes(&b, &values);
    if (values.n && any_arg(t, true)) {
        builder_add(&b, &values, 0, "every second value special", VALUE_NORMAL, 0.5);
        builder_add(&b, &values, values.n - 1, "every second value special", VALUE_NORMAL, 0.5);
        builder_add(&b, &values, values.n - 1, "all values special", VALUE_NORMAL, 2);
        add_one_special(&b, &values);
    }
    add_one_index(&b, &values);
    for (size_t i = 0; i < s.n; i++)
        builder_add(&b, &s, i, as_said, VALUE_NORMAL, 0);
    for (size_t i = 0; i < beyond.n; i++) /* nothing special, which would decide it at its beginning */
        builder_add(&b, &beyond, i, as_said, VALUE_NORMAL, -1);
    /* A task whose domain leaves few affordable shapes: the same ones with other seeds. */
    for (size_t i = 0; s.n && b.cases.n < 8; i++)
        builder_add(&b, &s, i % s.n, as_said, VALUE_NORMAL, 0);
    add_many_rows(&rows);
    if (rows.n == 0)
        rows = values;
    for (size_t i = N_SHAPELESS; rows.n && any_arg(t, false) && i < ARRAY_LEN(distributions); i++)
        builder_add(&b, &rows, 0, distributions[i].name, distributions[i].kind, 0);
    add_wild_cases(&b, &rows, beyond.n ? &beyond : &values, &values);
    add_one_value(&b);
    add_flags(&b, &values);
    add_scalars(&b);
    add_exponents(&b);
    add_meetings(&b, &rows);
    *cases = arena_copy(a, b.cases.v, b.cases.n * sizeof(*b.cases.v));
    *n_cases = b.cases.n;
    vec_free(&b.cases);
}

/* Far enough for what it does to be seen: an epsilon becomes a part of the sum, a factor another one. */
static double another_value(double v)
{
    return fabs(v) < 1. / 64 ? copysign(0.25, v) : 0.75 * v;
}

static bool is_changeable(const struct task_arg *arg)
{
    return arg->role == ROLE_IN || arg->role == ROLE_INOUT || (arg->role == ROLE_SCALAR && !arg->value_expr);
}

void task_inputs(const struct task *t, struct arena *a, uint64_t seed, const struct task_case **cases,
                 size_t *n_cases)
{
    struct task_case *list = arena_array(a, struct task_case, t->n_args + 1);
    int64_t *dims = arena_copy(a, t->workloads, t->n_dims * sizeof(*dims));

    *cases = list;
    *n_cases = 0;
    if (!shapes_shrink(t, dims, t->n_dims, INPUT_ELEMENTS) && !shapes_shrink(t, dims, t->n_dims, CASE_ELEMENTS))
        return;
    for (size_t i = 0; i <= t->n_args; i++) {
        struct task_values *values = arena_array(a, struct task_values, t->n_args);
        struct task_case c = {.dims = dims,
                              .seed = rng_mix(seed ^ 0x696e7075),
                              .values = values,
                              .distribution = as_said,
                              .why = "each input changed alone",
                              .changed = i};
        if (i && !is_changeable(&t->args[i - 1]))
            continue;
        for (size_t k = 0; k < t->n_args; k++) {
            values[k] = t->args[k].values;
            values[k].special_share = 0; /* what follows a NaN alone says nothing of the rest */
        }
        if (i && t->args[i - 1].role == ROLE_SCALAR) {
            values[i - 1] =
                (struct task_values){.kind = VALUE_CONSTANT, .constant = another_value(t->args[i - 1].value)};
            c.distribution = arena_printf(a, "%s = %g", t->args[i - 1].name, values[i - 1].constant);
        }
        list[(*n_cases)++] = c;
    }
}

/* A scalar whose value the case says: one that it changes, or one of several. */
static bool has_own_value(const struct task *t, const struct task_case *c, size_t arg)
{
    return t->args[arg].role == ROLE_SCALAR && c->values && c->values[arg].kind == VALUE_CONSTANT;
}

const struct task *task_of_case(struct arena *a, const struct task *t, const struct task_case *c)
{
    struct task *other;
    struct task_arg *args;

    bool same = true;

    for (size_t i = 0; i < t->n_args; i++)
        same = same && !has_own_value(t, c, i);
    if (same)
        return t;
    other = arena_copy(a, t, sizeof(*t));
    args = arena_copy(a, t->args, t->n_args * sizeof(*args));
    for (size_t i = 0; i < t->n_args; i++)
        if (has_own_value(t, c, i)) {
            args[i].value = c->values[i].constant;
            args[i].value_expr = NULL;
        }
    other->args = args;
    return other;
}

void task_fill_case(const struct task *t, const struct task_case *c, size_t arg, int64_t elements, void *to)
{
    const struct task_arg *x = &t->args[arg];
    uint64_t seed = rng_mix(c->seed);
    size_t size = kernel_type_size(x->type);

    bool changed = arg + 1 == c->changed, whole = changed && task_value_ordered(c->values[arg].kind);

    task_fill(x, &c->values[arg], c->dims, whole ? seed : c->seed, 0, elements,
              to); /* half would break the order */
    for (int64_t e = 0; changed && !whole && e < elements; e++)
        if (e == 0 || rng_hash(seed, (uint64_t)e) & 1)
            task_fill(x, &c->values[arg], c->dims, seed, e, 1, (char *)to + (size_t)e * size);
}

/* Sizes of every magnitude up to a little beyond the workloads', as often small as large, and whole vectors
 * where the domain asks for them. */
static int64_t drawn_extent(const struct task *t, struct rng *r, int64_t *dims, size_t i)
{
    int64_t most = 64, k = 0;

    for (size_t w = 0; w < t->n_workloads; w++)
        most = MAX(most, t->workloads[w * t->n_dims + i]);
    while (k < 20 && most >> (k + 1))
        k++;
    k = (int64_t)rng_below(r, (uint64_t)k + 1);
    int64_t v = MIN(((int64_t)1 << k) + (int64_t)rng_below(r, (uint64_t)1 << k), most + 17);
    for (int64_t step = 1; step <= 256; step *= 2) {
        dims[i] = MAX(v / step, 1) * step;
        if (task_in_domain(t, dims))
            break;
    }
    return dims[i];
}

static void add_hidden(struct shapes *s, struct rng *r, size_t count)
{
    const struct task *t = s->task;
    int64_t dims[16];

    for (int tries = 0; tries < 400 && count > 0; tries++) {
        memcpy(dims, t->workloads + rng_below(r, t->n_workloads) * t->n_dims, t->n_dims * sizeof(*dims));
        for (size_t i = 0; i < t->n_dims; i++)
            dims[i] = drawn_extent(t, r, dims, i);
        if (shapes_shrink(t, dims, rng_below(r, t->n_dims), CASE_ELEMENTS) &&
            shapes_add(s, dims, CASE_ELEMENTS, "a hidden shape"))
            count--;
    }
}

void task_hidden(const struct task *t, struct arena *a, uint64_t seed, const struct task_case **cases,
                 size_t *n_cases)
{
    struct shapes s = {.task = t, .arena = a};
    struct builder b = {.task = t, .arena = a, .rng = {rng_mix(seed ^ 0x68696465)}};
    size_t d;

    add_hidden(&s, &b.rng, 10);
    for (size_t i = 0; i < s.n; i++) {
        builder_add(&b, &s, i, as_said, VALUE_NORMAL, 0);
        d = rng_below(&b.rng, ARRAY_LEN(distributions));
        if (i < 4 && any_arg(t, false))
            builder_add(&b, &s, i, distributions[d].name, distributions[d].kind, 0);
    }
    add_flags(&b, &s);
    if (s.n && any_arg(t, true))
        builder_add(&b, &s, rng_below(&b.rng, s.n), "every second value special", VALUE_NORMAL, 0.5);
    *cases = arena_copy(a, b.cases.v, b.cases.n * sizeof(*b.cases.v));
    *n_cases = b.cases.n;
    vec_free(&b.cases);
}
