/* Cases that are wilder than the task: values that it does not name, and flags as it does not have them. They
 * are left out where the original cannot take them. */
#include "suite.h"

static bool is_read(const struct task_arg *arg)
{
    return arg->role == ROLE_IN || arg->role == ROLE_INOUT;
}

static bool uses_dim(const struct task_arg *arg, size_t dim)
{
    for (size_t i = 0; i < arg->n_shape; i++)
        if (dim_uses(arg->shape[i], dim))
            return true;
    return false;
}

/* Integers of which the task says nothing may be any. */
static bool is_any_integer(const struct task_arg *arg)
{
    const struct task_values *v = &arg->values;

    return is_read(arg) && !type_is_floating(arg->type) &&
           (v->kind == VALUE_NORMAL || (v->kind == VALUE_INTEGERS && !v->declared));
}

bool task_is_any_float(const struct task_arg *arg)
{
    return is_read(arg) && type_is_floating(arg->type) && arg->values.kind == VALUE_NORMAL;
}

/* The dim that bounds an index from above, of which 16 bits may be too few; n_dims: none does. */
static size_t index_dim(const struct task *t, const struct task_arg *arg)
{
    const struct task_values *v = &arg->values;
    size_t k = 0;

    while (k < t->n_dims && !(is_read(arg) && v->kind == VALUE_INDEX && kernel_type_size(arg->type) > 2 &&
                              v->high_expr && dim_uses(v->high_expr, k)))
        k++;
    return k;
}

/* The dim along which an argument's rows rise. */
static size_t ordered_dim(const struct task *t, const struct task_arg *arg)
{
    size_t k = 0;

    while (k < t->n_dims &&
           !(is_read(arg) && (arg->values.kind == VALUE_SORTED || arg->values.kind == VALUE_OFFSETS) &&
             dim_uses(arg->shape[arg->n_shape - 1], k)))
        k++;
    return k;
}

/* One dim as far as 16 bits do not number it, or as near to it as can be, and several of the others: of the
 * argument's, or of all. */
static void add_long(struct shapes *s, const struct task_arg *arg, size_t dim, bool all)
{
    static const int64_t extents[] = {
        (1 << 17) + 8 * 131, (1 << 16) + 8 * 131, (1 << 16) + 2, 1 << 16, UINT16_MAX, 1 << 14, 1 << 12};
    const struct task *t = s->task;
    int64_t dims[16];

    for (size_t e = 0; dim < t->n_dims && e < ARRAY_LEN(extents) && s->n == 0; e++) {
        memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
        dims[dim] = extents[e];
        for (size_t k = 0; k < t->n_dims; k++)
            if (k != dim)
                task_lower(t, dims, k);
        for (size_t k = 0; k < t->n_dims; k++)
            for (int64_t n = 2; n <= MANY_INDICES && k != dim && (all || uses_dim(arg, k)); n *= 2) {
                int64_t old = dims[k];
                dims[k] = n;
                if (task_case_elements(t, dims) > BEYOND_ELEMENTS)
                    dims[k] = old;
            }
        shapes_add(s, dims, BEYOND_ELEMENTS, "more than 16 bits number");
    }
}

static bool writes_floats(const struct task *t)
{
    for (size_t i = 0; i < t->n_args; i++)
        if ((t->args[i].role == ROLE_OUT || t->args[i].role == ROLE_INOUT) && type_is_floating(t->args[i].type))
            return true;
    return false;
}

/* The most rows, or numbers of a first extent, that a buffer has which is read. */
static void count_rows(const struct task *t, const int64_t *dims, int64_t *rows, int64_t *slices)
{
    int64_t n, length;

    *rows = *slices = 1;
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        if (!is_read(arg) || !arg->n_shape || !task_shape(t, arg, dims, &n, NULL))
            continue;
        *slices = MAX(*slices, n / task_slice(arg, dims));
        if (dim_eval(arg->shape[arg->n_shape - 1], dims, &length) && length > 0)
            *rows = MAX(*rows, n / length);
    }
}

/* Among the special values of an input of any numbers; NULL: it is not. */
static const double *special_nan(const struct task_arg *arg)
{
    for (size_t k = 0; task_is_any_float(arg) && k < arg->values.n_special; k++)
        if (isnan(arg->values.special[k]))
            return &arg->values.special[k];
    return NULL;
}

enum wild { WILD_PATTERNS, WILD_RANGE, WILD_HUGE, WILD_APART, WILD_SPRINKLED, WILD_TIED, WILD_FAINT };

/* The most extents that an input of any numbers has; how many inputs have so many, and fewer. */
static size_t most_extents(const struct task *t, size_t *with, size_t *fewer)
{
    size_t most = 0;

    *with = *fewer = 0;
    for (size_t i = 0; i < t->n_args; i++)
        most = task_is_any_float(&t->args[i]) ? MAX(most, t->args[i].n_shape) : most;
    for (size_t i = 0; i < t->n_args; i++) {
        *with += task_is_any_float(&t->args[i]) && t->args[i].n_shape == most;
        *fewer += task_is_any_float(&t->args[i]) && t->args[i].n_shape < most;
    }
    return most;
}

/* Of inputs side by side every other one is zero and the others huge; what weighs them is far apart, so that
 * the lighter side is what counts. */
static void make_apart(const struct task *t, struct task_values *values, unsigned turn)
{
    size_t with, fewer, most = most_extents(t, &with, &fewer);

    for (size_t i = 0; i < t->n_args; i++) {
        struct task_values *v = &values[i];
        if (!task_is_any_float(&t->args[i]))
            continue;
        v->special_share = 0;
        v->turn = 0;
        v->kind = turn++ & 1 ? VALUE_HUGE : VALUE_ZEROS;
        if (t->args[i].n_shape == most)
            continue;
        turn--;
        v->kind = VALUE_UNIFORM;
        v->low = -FAR_APART;
        v->high = FAR_APART;
    }
}

/* Zeros are within what is promised. */
static bool takes_zero(const struct task_arg *arg)
{
    const struct task_values *v = &arg->values;

    return task_is_any_float(arg) || (is_read(arg) && type_is_floating(arg->type) && v->kind == VALUE_UNIFORM &&
                                      v->low <= 0 && v->high >= 0);
}

static void make_wild(const struct task_arg *arg, enum wild wild, unsigned turn, struct task_values *v)
{
    bool any = is_any_integer(arg);

    if (!is_read(arg))
        return;
    v->special_share = 0;
    v->turn = turn;
    v->sprinkled = wild == WILD_SPRINKLED && takes_zero(arg);
    v->faint = wild == WILD_FAINT && takes_zero(arg);
    v->tied = wild == WILD_TIED && (any || task_is_any_float(arg));
    if (any && (wild == WILD_PATTERNS || wild == WILD_RANGE))
        v->kind = VALUE_RANGE;
    if (wild == WILD_PATTERNS)
        v->patterned = true;
    if (wild == WILD_HUGE && task_is_any_float(arg))
        v->kind = VALUE_HUGE;
}

/* One number everywhere: what counts it outgrows 16 bits. */
static void make_one(struct builder *b, const int64_t *dims, const struct task_arg *arg, struct task_values *v)
{
    int64_t low, high;

    if (arg->values.kind != VALUE_INDEX && !is_any_integer(arg))
        return;
    values_range(v, dims, &low, &high);
    if (is_any_integer(arg))
        low = 0, high = 128;
    *v = (struct task_values){.kind = VALUE_CONSTANT,
                              .constant = (double)(low + (int64_t)rng_below(&b->rng, (uint64_t)(high - low)))};
}

static int power_of(enum kernel_type type, bool all_small)
{
    if (type == KT_F16)
        return all_small ? 24 : 12; /* its least number */
    return type == KT_F64 ? 100 : 20;
}

/* Numbers of one size in each input, but not of the same in all: every other one small where the others are
 * large, and all of them small. A type's powers leave room for a few times the largest. */
void add_sizes(struct builder *b, const struct shapes *values)
{
    static const char *const names[] = {"inputs of opposed sizes", "inputs of opposed sizes",
                                        "all inputs small"};
    const struct task *t = b->task;
    unsigned n = 0;

    for (size_t i = 0; i < t->n_args; i++)
        n += task_is_any_float(&t->args[i]);
    for (unsigned turn = 0; n > 1 && turn < ARRAY_LEN(names); turn++) {
        size_t before = b->cases.n;
        bool all_small = turn == 2;
        unsigned seen = 0;
        builder_add(b, values, turn % values->n, names[turn], VALUE_NORMAL, -1);
        for (size_t i = 0; b->cases.n > before && i < t->n_args; i++) {
            struct task_values *v = (struct task_values *)&b->cases.v[before].values[i];
            int power = power_of(t->args[i].type, all_small);
            if (task_is_any_float(&t->args[i]))
                v->power = all_small || (seen++ + turn) & 1 ? -power : power;
        }
    }
}

/* More integers than 16 bits count, where they are most of what is read. */
void add_one_value(struct builder *b)
{
    const struct task *t = b->task;
    struct shapes s = {.task = t, .arena = b->arena};
    const int64_t *most = t->workloads;
    int64_t dims[16], n;
    size_t before = b->cases.n;

    for (size_t w = 1; w < t->n_workloads; w++)
        if (task_case_elements(t, t->workloads + w * t->n_dims) > task_case_elements(t, most))
            most = t->workloads + w * t->n_dims;
    memcpy(dims, most, t->n_dims * sizeof(*dims));
    if (!shapes_shrink(t, dims, t->n_dims, BEYOND_ELEMENTS))
        return;
    for (size_t i = 0; i < t->n_args && s.n == 0; i++) {
        const struct task_arg *arg = &t->args[i];
        if (is_read(arg) && (arg->values.kind == VALUE_INDEX || is_any_integer(arg)) &&
            task_shape(t, arg, dims, &n, NULL) && n > UINT16_MAX)
            shapes_add(&s, dims, BEYOND_ELEMENTS, "more than 16 bits count");
    }
    if (s.n)
        builder_add(b, &s, 0, "one value", VALUE_NORMAL, -1);
    for (size_t i = 0; b->cases.n > before && i < t->n_args; i++)
        make_one(b, dims, &t->args[i], (struct task_values *)&b->cases.v[before].values[i]);
    if (b->cases.n > before)
        b->cases.v[before].wild = true;
}

static void add_wild(struct builder *b, const struct shapes *s, size_t shape, enum wild wild, unsigned turn)
{
    static const char *const names[] = {[WILD_PATTERNS] = "patterns in rows",
                                        [WILD_RANGE] = "integers of every size",
                                        [WILD_HUGE] = "up to the type's edge",
                                        [WILD_APART] = "weights far apart",
                                        [WILD_SPRINKLED] = "zeros and tiny values among others",
                                        [WILD_TIED] = "inputs of which every other row is the same",
                                        [WILD_FAINT] = "rows of small values"};
    static const char *const alone[] = {"the upper part of the range", "equal in their lower bits",
                                        "rows whose front misleads", "rows of runs",
                                        [TURN_BLOCKS - TURN_UPPER] = "zeros in blocks"};
    const struct task *t = b->task;
    size_t before = b->cases.n;

    const char *name = turn > N_PATTERNS ? "nearly patterns" : names[wild];
    if (turn >= TURN_UPPER)
        name = alone[turn - TURN_UPPER];
    builder_add(b, s, shape, name, VALUE_NORMAL, -1);
    for (size_t i = 0; b->cases.n > before && i < t->n_args; i++)
        if (wild != WILD_APART && t->args[i].role != ROLE_SCALAR)
            make_wild(&t->args[i], wild, turn, (struct task_values *)&b->cases.v[before].values[i]);
    if (b->cases.n > before && wild == WILD_APART)
        make_apart(t, (struct task_values *)b->cases.v[before].values, turn);
    if (b->cases.n > before)
        b->cases.v[before].alone = wild == WILD_APART;
    if (b->cases.n > before)
        b->cases.v[before].wild = true;
}

/* The shape with the longest rows. */
static size_t longest(const struct shapes *s)
{
    size_t last = s->task->n_dims - 1, best = 0;

    for (size_t i = 1; i < s->n; i++)
        if (s->dims[i][last] > s->dims[best][last])
            best = i;
    return best;
}

/* The first workload, as small as an input that is changed alone needs; false: the domain has none. */
static bool add_one_small(struct shapes *s, const char *why)
{
    const struct task *t = s->task;
    int64_t dims[16];

    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    return shapes_shrink(t, dims, t->n_dims, INPUT_ELEMENTS) && shapes_add(s, dims, INPUT_ELEMENTS, why);
}

/* The first rows of small cases have every pattern in turn, since what one of them is may decide for all. */
static void add_first_rows(struct builder *b, int64_t step)
{
    const struct task *t = b->task;
    struct shapes s = {.task = t, .arena = b->arena};

    if (step == 1 || !add_one_small(&s, "first rows"))
        return;
    for (unsigned turn = 0; turn < N_PATTERNS + 1 + N_NEAR; turn++)
        if (turn != N_PATTERNS)
            add_wild(b, &s, 0, WILD_PATTERNS, turn);
}

static void add_answered(struct builder *b, const struct shapes *rows)
{
    const struct task *t = b->task;
    size_t before = b->cases.n;
    bool any = false;

    for (size_t i = 0; i < t->n_args; i++)
        any |= t->args[i].role == ROLE_INOUT && (task_is_any_float(&t->args[i]) || is_any_integer(&t->args[i]));
    if (any)
        builder_add(b, rows, 0, "the answer is there already, nearly", VALUE_NORMAL, -1);
    if (b->cases.n > before)
        b->cases.v[before].answered = b->cases.v[before].wild = true;
}

/* NaN is promised to be found wherever it is, also behind the largest number. */
static void add_outdone(struct builder *b, const struct shapes *s, size_t shape)
{
    const struct task *t = b->task;
    size_t before = b->cases.n;
    bool any = false;

    for (size_t i = 0; i < t->n_args; i++)
        any |= special_nan(&t->args[i]) != NULL;
    if (any)
        builder_add(b, s, shape, "NaN behind the largest number", VALUE_NORMAL, -1);
    for (size_t i = 0; b->cases.n > before && i < t->n_args; i++) {
        struct task_values *v = (struct task_values *)&b->cases.v[before].values[i];
        if (!special_nan(&t->args[i]))
            continue;
        v->special = special_nan(&t->args[i]);
        v->n_special = 1;
        v->outdone = true;
    }
    if (b->cases.n > before)
        b->cases.v[before].wild = true;
}

static bool may_be_plain(const struct task_arg *arg)
{
    const struct task_values *v = &arg->values;

    return task_is_any_float(arg) || is_any_integer(arg) ||
           (is_read(arg) && v->kind == VALUE_UNIFORM && v->low <= 0 && v->high >= 1);
}

/* What has fewer extents than another input, as it is where nobody has trained it: ones, or zeros, nearly
 * everywhere, and together. Not what all terms of a sum may come of: few different numbers round alike. */
static void add_plain(struct builder *b, const struct shapes *s, size_t shape)
{
    const struct task *t = b->task;
    size_t plain[2], n = 0, most = 0;

    for (size_t i = 0; i < t->n_args; i++)
        most = is_read(&t->args[i]) ? MAX(most, t->args[i].n_shape) : most;
    for (size_t i = 0; i < t->n_args && n < ARRAY_LEN(plain); i++)
        if (may_be_plain(&t->args[i]) && t->args[i].n_shape < most)
            plain[n++] = i;
    for (unsigned turn = 1; n > 0 && turn <= 1u << n; turn++) {
        size_t before = b->cases.n;
        builder_add(b, s, shape, "plain, nearly", VALUE_NORMAL, -1);
        for (size_t k = 0; b->cases.n > before && k < n; k++) {
            struct task_values *v = (struct task_values *)&b->cases.v[before].values[plain[k]];
            *v = t->args[plain[k]].values;
            v->special_share = 0;
            v->patterned = true;
            v->turn = TURN_PLAIN;
            v->constant = turn >> k & 1;
        }
        if (b->cases.n > before)
            b->cases.v[before].wild = true;
    }
}

/* Does it sum along a dim that no output has? */
static bool sums_products(const struct task *t)
{
    bool sums = false;

    for (size_t k = 0; k < t->n_dims && !sums; k++) {
        size_t inputs = 0;
        bool kept = false;
        for (size_t i = 0; i < t->n_args; i++) {
            inputs += is_read(&t->args[i]) && uses_dim(&t->args[i], k);
            kept |= t->args[i].role == ROLE_OUT && uses_dim(&t->args[i], k);
        }
        sums = inputs > 1 && !kept;
    }
    return sums;
}

/* Where there are few rows, more cases show all that rows can be. */
void add_wild_cases(struct builder *b, const struct shapes *rows, const struct shapes *longer,
                    const struct shapes *values)
{
    const struct task *t = b->task;
    struct shapes indexed = {.task = t, .arena = b->arena}, ordered = indexed;
    bool integers = false, floats = false, indices = false, promised = false;
    int64_t n_rows, n_slices;
    size_t with, fewer, numbers = 0; /* inputs of any numbers */

    for (size_t i = 0; i < t->n_args; i++) {
        numbers += is_any_integer(&t->args[i]) || task_is_any_float(&t->args[i]);
        promised |= takes_zero(&t->args[i]) && t->args[i].values.kind == VALUE_UNIFORM;
        integers |= is_any_integer(&t->args[i]);
        floats |= task_is_any_float(&t->args[i]);
        indices |= is_read(&t->args[i]) && t->args[i].values.kind == VALUE_INDEX;
    }
    if (!rows->n)
        return;
    count_rows(t, rows->dims[0], &n_rows, &n_slices);
    for (int64_t turn = 0; turn < N_PATTERNS; turn += MAX(n_rows / 2, (int64_t)1))
        add_wild(b, rows, 0, WILD_PATTERNS, (unsigned)turn);
    for (int64_t near = 0; near < N_NEAR; near += MAX(n_rows / 2, (int64_t)NEAR_STEP))
        add_wild(b, rows, 0, WILD_PATTERNS, (unsigned)(N_PATTERNS + 1 + near));
    for (int64_t turn = 0; turn < N_HUGE && floats && writes_floats(t); turn += n_slices)
        add_wild(b, rows, 0, WILD_HUGE, (unsigned)turn);
    add_wild(b, rows, 0, WILD_PATTERNS, TURN_FRONT);
    if (longer->n)
        add_wild(b, longer, longest(longer), WILD_PATTERNS, TURN_FRONT);
    add_wild(b, rows, 0, WILD_PATTERNS, TURN_RUNS);
    if (sums_products(t))
        add_wild(b, rows, 0, WILD_PATTERNS, TURN_BLOCKS);
    if (values->n)
        add_wild(b, values, longest(values), WILD_PATTERNS, TURN_RUNS);
    if (longer->n)
        add_plain(b, longer, longest(longer));
    else
        add_plain(b, rows, 0);
    add_wild(b, rows, 0, WILD_SPRINKLED, 0);
    if (promised)
        add_wild(b, rows, 0, WILD_FAINT, 0);
    if (numbers > 1)
        add_wild(b, rows, 0, WILD_TIED, 0);
    add_first_rows(b, MAX(n_rows / 2, (int64_t)1));
    add_answered(b, rows);
    add_outdone(b, longer->n ? longer : rows, longer->n ? longest(longer) : 0);
    add_outdone(b, rows, 0);
    most_extents(t, &with, &fewer);
    for (unsigned turn = 0; turn < 2 && with > 1 && fewer && writes_floats(t); turn++)
        add_wild(b, rows, 0, WILD_APART, turn);
    if (integers || indices)
        add_wild(b, rows, 0, WILD_PATTERNS, N_PATTERNS);
    for (size_t k = 0; k < MIN(values->n, (size_t)2) && integers; k++)
        add_wild(b, values, k, WILD_RANGE, 0);
    if (integers) {
        add_wild(b, rows, 0, WILD_PATTERNS, TURN_ALIASES);
        if (values->n)
            add_wild(b, values, longest(values), WILD_PATTERNS, TURN_UPPER);
    }
    for (size_t i = 0; i < t->n_args; i++) {
        add_long(&indexed, &t->args[i], index_dim(t, &t->args[i]), false);
        add_long(&ordered, &t->args[i], ordered_dim(t, &t->args[i]), true);
    }
    for (unsigned turn = N_PATTERNS; indexed.n && turn <= TURN_ALIASES; turn += TURN_ALIASES - N_PATTERNS)
        add_wild(b, &indexed, 0, WILD_PATTERNS, turn);
    for (unsigned turn = 1; ordered.n && turn < N_RISES; turn++)
        add_wild(b, &ordered, 0, WILD_PATTERNS, turn);
}

/* ---- beside the suite ---- */

static bool is_square(const struct task_arg *arg, const int64_t *dims)
{
    int64_t rows, columns;

    return arg->n_shape == 2 && dim_eval(arg->shape[0], dims, &rows) &&
           dim_eval(arg->shape[1], dims, &columns) && rows == columns && rows > 1;
}

static bool make_structured(const struct task_arg *arg, const int64_t *dims, enum task_structure structure,
                            struct task_values *v)
{
    bool number = task_is_any_float(arg);

    if (structure == STRUCTURE_LARGE && number && arg->type != KT_F16)
        v->kind = VALUE_LARGE;
    if (structure == STRUCTURE_LARGE)
        return v->kind == VALUE_LARGE;
    if (structure == STRUCTURE_ENDS) { /* sums of these are as large as they can be */
        if (!is_any_integer(arg))
            return false;
        v->kind = VALUE_RANGE;
        v->patterned = true;
        v->turn = TURN_NEAR_ENDS;
        return true;
    }
    if (!number && !is_any_integer(arg) && !(is_read(arg) && v->kind == VALUE_INDEX))
        return false;
    static const unsigned turns[] = {[STRUCTURE_PARTS] = TURN_PARTS,
                                     [STRUCTURE_SYMMETRIC] = TURN_SYMMETRIC,
                                     [STRUCTURE_HALVES] = TURN_HALVES};
    v->patterned = structure != STRUCTURE_SYMMETRIC || is_square(arg, dims);
    v->turn = turns[structure];
    return v->patterned;
}

bool task_structured(const struct task *t, const int64_t *dims, enum task_structure structure,
                     struct task_values *values)
{
    bool any = false;

    for (size_t i = 0; i < t->n_args; i++) {
        values[i] = t->args[i].values;
        values[i].special_share = 0;
        any |= make_structured(&t->args[i], dims, structure, &values[i]);
    }
    return any;
}

/* ---- scalars ---- */

/* Floating scalars at zero and, of those that are next to zero, many times larger and smaller, where what they
 * are added to is small as well. */
void add_scalars(struct builder *b)
{
    static const struct {
        double times;
        enum value_kind kind;
        bool sprinkled;
    } turns[] = {{0, VALUE_NORMAL, true},
                 {1. / FAR_TIMES, VALUE_TINY, false},
                 {FAR_TIMES, VALUE_TINY, false},
                 {FAR_TIMES, VALUE_NORMAL, true}};
    const struct task *t = b->task;
    struct shapes s = {.task = t, .arena = b->arena};

    if (!add_one_small(&s, "a scalar's other values"))
        return;
    for (size_t i = 0; i < t->n_args * ARRAY_LEN(turns); i++) {
        const struct task_arg *arg = &t->args[i / ARRAY_LEN(turns)];
        double times = turns[i % ARRAY_LEN(turns)].times, value = arg->value * times;
        size_t before = b->cases.n;
        bool next_to_zero = fabs(arg->value) < 1. / 64;
        if (arg->role != ROLE_SCALAR || arg->value_expr || arg->value == 0 || (times != 0 && !next_to_zero))
            continue;
        builder_add(b, &s, 0, arena_printf(b->arena, "%s = %g", arg->name, value),
                    turns[i % ARRAY_LEN(turns)].kind, -1);
        if (b->cases.n == before)
            continue;
        struct task_values *values = (struct task_values *)b->cases.v[before].values;
        for (size_t k = 0; k < t->n_args; k++)
            values[k].sprinkled = turns[i % ARRAY_LEN(turns)].sprinkled && takes_zero(&t->args[k]);
        values[i / ARRAY_LEN(turns)] = (struct task_values){.kind = VALUE_CONSTANT, .constant = value};
        b->cases.v[before].wild = true;
    }
}

/* Where exponentials end in single precision: those of all numbers are subnormal, or a few of them add up to
 * more than there is. Who leaves out the shift by a row's largest, or does so only where a sum is zero or
 * infinite, loses his digits before that. */
void add_exponents(struct builder *b)
{
    static const double ranges[][2] = {{-103, -100}, {87.5, 88.5}};
    const struct task *t = b->task;
    struct shapes s = {.task = t, .arena = b->arena};
    bool any = false;

    for (size_t i = 0; i < t->n_args; i++)
        any |= task_is_any_float(&t->args[i]);
    if (!any || !add_one_small(&s, "where exponentials end"))
        return;
    for (size_t k = 0; k < ARRAY_LEN(ranges); k++) {
        size_t before = b->cases.n;
        builder_add(b, &s, 0, "where exponentials end", VALUE_NORMAL, -1);
        for (size_t i = 0; b->cases.n > before && i < t->n_args; i++) {
            struct task_values *v = (struct task_values *)&b->cases.v[before].values[i];
            if (!task_is_any_float(&t->args[i]))
                continue;
            v->kind = VALUE_UNIFORM;
            v->low = ranges[k][0];
            v->high = ranges[k][1];
        }
        if (b->cases.n > before)
            b->cases.v[before].wild = true;
    }
}

/* ---- sizes that meet ---- */

static size_t count_floats(const struct task *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_args; i++)
        n += task_is_any_float(&t->args[i]);
    return n;
}

/* The floating inputs have huge values of that turn, and every second one those of the other. */
static void add_met(struct builder *b, const struct shapes *s, const char *name, unsigned turn, unsigned other)
{
    const struct task *t = b->task;
    size_t before = b->cases.n, seen = 0;

    builder_add(b, s, 0, name, VALUE_NORMAL, -1);
    for (size_t i = 0; b->cases.n > before && i < t->n_args; i++) {
        struct task_values *v = (struct task_values *)&b->cases.v[before].values[i];
        if (!task_is_any_float(&t->args[i]))
            continue;
        v->kind = VALUE_HUGE;
        v->turn = seen++ & 1 ? other : turn;
    }
    if (b->cases.n > before)
        b->cases.v[before].wild = true;
}

/* In place of the small shape, one with half as many elements as are usual: its rows as long as they are, or
 * its extents alike. */
static void add_half(struct shapes *s, const int64_t *from, size_t keep)
{
    const struct task *t = s->task;
    int64_t *dims = arena_copy(s->arena, from, t->n_dims * sizeof(*dims));

    if (shapes_shrink(t, dims, keep, SMALL_ELEMENTS / 2) && task_case_elements(t, dims) <= SMALL_ELEMENTS) {
        s->n = 0;
        shapes_add(s, dims, SMALL_ELEMENTS, "sizes that meet");
    }
}

void add_meetings(struct builder *b, const struct shapes *rows)
{
    static const char light[] = "light exponentials beside large numbers", sizes[] = "parts of opposed sizes";
    const struct task *t = b->task;
    struct shapes s = {.task = t, .arena = b->arena}, longer, even;
    size_t n = count_floats(t);

    if (n == 0 || !writes_floats(t) || !rows->n || !add_one_small(&s, "sizes that meet"))
        return;
    longer = even = s;
    add_half(&longer, rows->dims[0], t->n_dims - 1);
    add_half(&even, t->workloads, t->n_dims);
    add_met(b, &longer, light, TURN_DEEP, TURN_DEEP);
    add_met(b, &s, "squares beyond the type's edge", TURN_SQUARES, TURN_SQUARES);
    if (n < 2)
        return;
    add_met(b, &s, light, TURN_ALL_DEEP, TURN_ALL_EDGE);
    add_met(b, &s, light, TURN_ALL_EDGE, TURN_ALL_DEEP);
    add_met(b, &even, sizes, TURN_SIZES, TURN_SIZES + 1);
    add_met(b, &s, sizes, TURN_SIZES + 2, TURN_SIZES + 3);
}

/* ---- flags ---- */

bool task_is_flag(const struct task_arg *arg)
{
    return arg->role == ROLE_SCALAR && arg->type == KT_BOOL && arg->value_expr;
}

void add_flags(struct builder *b, const struct shapes *s)
{
    const struct task *t = b->task;
    size_t flags[MOST_FLAGS], n = 0;

    for (size_t i = 0; i < t->n_args && n < MOST_FLAGS; i++)
        if (task_is_flag(&t->args[i]))
            flags[n++] = i;
    for (size_t turned = 1; turned < (size_t)1 << n; turned++)
        for (size_t k = 0; k < MIN(s->n, (size_t)2); k++) {
            size_t before = b->cases.n, shape = k ? s->n - 1 : 0;
            const char *name = "";
            builder_add(b, s, shape, name, VALUE_NORMAL, 0);
            if (b->cases.n == before)
                continue;
            struct task_case *c = &b->cases.v[before];
            for (size_t f = 0; f < n; f++) {
                int64_t own = 0;
                if (!(turned >> f & 1) || !dim_eval(t->args[flags[f]].value_expr, c->dims, &own))
                    continue;
                ((struct task_values *)c->values)[flags[f]] =
                    (struct task_values){.kind = VALUE_CONSTANT, .constant = !own};
                name = arena_printf(b->arena, "%s%s%s = %d", name, *name ? ", " : "", t->args[flags[f]].name,
                                    !own);
            }
            c->distribution = name;
            c->wild = true;
        }
}
