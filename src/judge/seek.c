/* Cases sought for code that no case has run: shapes and values made of the constants that decide the branches
 * which went one way only, and of the numbers that the file is written with. A shape is first looked at with
 * the candidate alone, some blocks of it; one that reaches something new is a case, whole where it is small
 * enough, else as the extreme shapes are. Bounded by work, not by time, so that a verdict is the same on a busy
 * machine. */
#include <ctype.h>

#include "workloads.h"

enum {
    MOST_NUMBERS = 48,    /* integers that shapes are made of, */
    FIRST_PRODUCTS = 2,   /* numbers that decide, of which products are made, */
    FIRST_NUMBERS = 10,   /* and those of them that are multiplied, added, met in two dims */
    MOST_SHAPES = 400,    /* looked at for the last word, */
    FEW_SHAPES = 120,     /* and before it; */
    MORE_SHAPES = 30,     /* kept for the last form of them */
    SMALL = 64,           /* the suite is full of such extents */
    MOST_CASES = 12,      /* run */
    LOOK_INSNS = 16000,   /* of a block that is looked at */
    LOOK_TOTAL = 8000000, /* of all of them */
    MOST_SPECIAL = 48,
    MOST_GUARDS = 4,   /* constants of a version's own with which it compares floating numbers */
    MOST_PATTERNS = 8, /* numbers of a version's own that data may be compared with */
};
#define MOST_VALUE 1e10 /* as large as the suite draws them */

struct seek {
    struct judge *judge;
    struct version *version;
    struct arena *arena; /* of a shape */
    struct arena *own;   /* of all of them */
    int64_t numbers[MOST_NUMBERS];
    size_t n_numbers, n_deciding; /* the first ones are of branches */
    VEC(const int64_t *) shapes;
    size_t more; /* shapes than the usual most */
    size_t cases;
    uint64_t insns;
    const struct ptx_module *module; /* that `seen` is of */
    uint8_t *seen, *before;          /* what ran, judged or only looked at; by now, and before a look */
    struct stage *stage;             /* of a look */
    struct fate *fate;
};

static bool seek_over(const struct seek *s)
{
    return !fate_open(s->fate) || s->cases >= MOST_CASES || s->insns > LOOK_TOTAL;
}

/* ---- numbers ---- */

static void add_number(struct seek *s, int64_t v)
{
    for (size_t i = 0; i < s->n_numbers; i++)
        if (s->numbers[i] == v)
            return;
    if (v > 0 && s->n_numbers < MOST_NUMBERS)
        s->numbers[s->n_numbers++] = v;
}

/* Whole numbers of the text, the names and floats among it left out. */
static void add_written(struct seek *s, const char *text)
{
    for (const char *p = text; *p; p++) {
        char *end;
        if (!isdigit((unsigned char)*p))
            continue;
        unsigned long long v = strtoull(p, &end, 0);
        bool name = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_' || p[-1] == '.');
        if (!name && *end != '.' && tolower((unsigned char)*end) != 'e' && v > 1 && v < (1ull << 48))
            add_number(s, (int64_t)v);
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        p = end - 1;
    }
}

static void add_numbers(struct seek *s, const struct ptx_constant *list, size_t n)
{
    for (int small = 0; small < 2; small++)
        for (size_t i = 0; i < n; i++) {
            double v = fabs(list[i].is_real ? list[i].real : (double)list[i].integer);
            if (v == rint(v) && v < 0x1p48 && (v <= SMALL) == small)
                add_number(s, (int64_t)v);
        }
}

/* ---- shapes ---- */

static void add_shape(struct seek *s, const int64_t *dims)
{
    const struct task *t = s->judge->task;
    size_t bytes = t->n_dims * sizeof(*dims);

    if (s->shapes.n >= s->more + (s->judge->options.confirm ? MOST_SHAPES : FEW_SHAPES) ||
        !task_fits_device(t, dims))
        return;
    for (size_t i = 0; i < s->shapes.n; i++)
        if (!memcmp(s->shapes.v[i], dims, bytes))
            return;
    vec_push(&s->shapes, arena_copy(s->own, dims, bytes));
}

/* The number in one dim; the others as in a case, where they are small, or as in a workload. */
static void add_in_one(struct seek *s, int64_t v)
{
    const struct judge *j = s->judge;
    const struct task *t = j->task;
    const int64_t *few = smallest_case(j);
    int64_t dims[16];

    for (size_t k = 0; k < t->n_dims; k++) {
        memcpy(dims, few, t->n_dims * sizeof(*dims));
        dims[k] = v;
        add_shape(s, dims);
        for (size_t w = 0; w < MIN(t->n_workloads, (size_t)3); w++) {
            memcpy(dims, t->workloads + w * t->n_dims, t->n_dims * sizeof(*dims));
            dims[k] = v;
            add_shape(s, dims);
        }
    }
}

/* The domain may tie a third dim to two that are set (a multiple, no less): it becomes one of them. */
static void add_tied(struct seek *s, int64_t *dims, size_t k, size_t i)
{
    const struct task *t = s->judge->task;
    bool in = task_in_domain(t, dims);

    for (size_t m = 0; m < t->n_dims && !in; m++) {
        int64_t own = dims[m];
        if (m == k || m == i)
            continue;
        dims[m] = dims[k];
        if (!task_in_domain(t, dims))
            dims[m] = dims[i];
        in = task_in_domain(t, dims);
        if (!in)
            dims[m] = own;
    }
    if (in)
        add_shape(s, dims);
}

static void add_two(struct seek *s, size_t k, int64_t v, size_t i, int64_t u)
{
    int64_t dims[16];

    memcpy(dims, s->judge->cases[0].dims, s->judge->task->n_dims * sizeof(*dims));
    dims[k] = v;
    dims[i] = u;
    add_tied(s, dims, k, i);
}

/* Two dims just above the numbers, the others as small as can be: all of it is one row, or one segment. */
static void add_above(struct seek *s, int64_t v, int64_t u)
{
    const struct task *t = s->judge->task;
    int64_t dims[16];

    for (size_t k = 0; k < t->n_dims; k++)
        for (size_t i = 0; i < t->n_dims; i++) {
            if (i == k)
                continue;
            memcpy(dims, smallest_case(s->judge), t->n_dims * sizeof(*dims));
            dims[k] = v + 1;
            dims[i] = u + 1;
            add_tied(s, dims, k, i);
        }
}

/* Two dims with a few more elements than the number says. */
static void add_product(struct seek *s, int64_t v, int64_t u)
{
    const struct task *t = s->judge->task;

    for (size_t k = 0; k < t->n_dims; k++)
        for (size_t i = 0; i < t->n_dims; i++)
            if (i != k)
                add_two(s, k, v / u + 1, i, u);
}

/* Two dims: both numbers, or as many elements as the number says. */
static void add_in_two(struct seek *s, int64_t v, int64_t u)
{
    const struct task *t = s->judge->task;

    for (size_t k = 0; k < t->n_dims; k++)
        for (size_t i = 0; i < t->n_dims; i++) {
            if (i == k)
                continue;
            add_two(s, k, v, i, u);
            if (v % u == 0)
                add_two(s, k, v / u, i, u);
        }
}

/* The likeliest first: only some of them may be looked at. */
static void make_shapes(struct seek *s)
{
    size_t n = s->n_numbers, few = MIN(n, (size_t)FIRST_NUMBERS);
    const int64_t *x = s->numbers;

    for (size_t i = 0; i < few; i++)
        add_in_one(s, x[i]);
    for (size_t i = 0; i < MIN(s->n_deciding, (size_t)FIRST_PRODUCTS); i++)
        for (int64_t u = 4; u <= 64 && x[i] > SMALL * SMALL; u *= 4)
            add_product(s, x[i], u);
    for (size_t i = 0; i < few; i++)
        for (size_t k = 0; k < few; k++)
            if (x[i] > SMALL || x[k] > SMALL)
                add_in_two(s, x[i], x[k]);
    for (size_t i = 0; i < n; i++)
        for (int64_t beside = -1; beside <= 1; beside++)
            add_in_one(s, x[i] + beside);
    for (size_t i = 0; i < few; i++) {
        for (int64_t u = 2; u <= 64; u *= 2)
            add_in_two(s, x[i], u);
        for (size_t k = 0; k < few; k++) {
            if (x[i] < (1ll << 24) && x[k] < (1ll << 24))
                add_in_one(s, x[i] * x[k]);
            add_in_one(s, x[i] + x[k]);
            add_in_one(s, x[i] - x[k]);
            if (x[k] < 32 && x[i] < (1ll << 24))
                add_in_one(s, x[i] << x[k]);
        }
    }
    s->more = MORE_SHAPES;
    for (size_t i = 0; i < few; i++)
        for (size_t k = 0; k < few; k++)
            if (x[i] > SMALL || x[k] > SMALL)
                add_above(s, x[i], x[k]);
}

/* ---- looking ---- */

static bool look(void *context, const struct plan_step *step, const struct ptx_launch *l,
                 const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct seek *s = context;
    uint64_t n = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], places[] = {0, n / 2, n - 1}, blocks[3];
    size_t n_blocks = 0;

    (void)step, (void)fate;
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (n_blocks == 0 || places[i] > blocks[n_blocks - 1])
            blocks[n_blocks++] = places[i];
    for (size_t i = 0; i < n_blocks; i++) { /* each by itself: one that ends badly is not the last */
        struct ptx_leaps leaps = {0};       /* what lies behind a long loop is reached, too */
        const struct ptx_options o = {.device = s->judge->device,
                                      .leaps = &leaps,
                                      .max_warp_insns = LOOK_INSNS,
                                      .registers = k->resources.registers,
                                      .blocks = &blocks[i],
                                      .n_blocks = 1,
                                      .ran = s->seen};
        struct ptx_report report = {0};
        bool ok = ptx_run(s->version->module, s->stage->mem, l, &o, &report, err);
        s->insns += report.warp_insns;
        ptx_report_clear(&report);
        ptx_leaps_clear(&leaps);
        if (!ok)
            return false;
    }
    return true;
}

/* A plan for a new shape may have brought new kernels. */
static void follow_module(struct seek *s)
{
    const struct version *v = s->version;

    if (s->module == v->module)
        return;
    s->module = v->module;
    s->seen = arena_copy(s->own, v->ran, ptx_coverage_bytes(v->module));
    s->before = arena_alloc(s->own, ptx_coverage_bytes(v->module));
}

/* *finds: some blocks of it reach what nothing has reached. */
static bool look_at(struct seek *s, const int64_t *dims, bool *finds, struct err *err)
{
    const struct judge *j = s->judge;
    struct task_values *values = arena_array(s->arena, struct task_values, j->task->n_args);
    const struct stage_data data = {.values = values, .seed = j->options.seed, .place = 1, .cheap = true};
    const struct stage_visitor visitor = {.context = s, .launch = look};
    const struct ptx_module *before = s->module;
    struct fate fate = {0};
    struct stage stage;
    struct plan plan;
    bool ok;

    for (size_t i = 0; i < j->task->n_args; i++) {
        values[i] = j->task->args[i].values;
        if (values[i].kind == VALUE_NORMAL)
            values[i].kind = VALUE_INTEGERS; /* cheap */
    }
    if (!stage_open(&stage, s->judge, &stage_sim, j->task, dims, &data, err))
        return false;
    s->stage = &stage;
    ok = version_plan(s->version, s->arena, dims, stage.addr, &plan, &fate, err);
    *finds = ok && !fate_open(&fate); /* what cannot be planned is to be said as a case's verdict */
    if (ok && fate_open(&fate)) {
        follow_module(s);
        size_t n = ptx_coverage_bytes(s->module);
        memcpy(s->before, s->seen, n);
        if (!stage_moves_much(&stage, &plan))
            ok = stage_run(&stage, s->version, &plan, &visitor, s->arena, &fate, err);
        *finds = s->module != before || memcmp(s->before, s->seen, n) != 0;
    }
    stage_close(&stage);
    return ok;
}

/* ---- cases ---- */

/* Gaps that the original has as well are its own affair. */
static bool anything_missing(const struct trial_coverage *c)
{
    for (size_t i = 0; i < c->n_gaps; i++)
        if (!c->gaps[i].original)
            return true;
    return false;
}

/* What a case has run need not be found again; true: there is more. */
static bool still_missing(struct seek *s)
{
    const struct trial_coverage now = version_coverage(s->version, s->arena);

    for (size_t i = 0; i < ptx_coverage_bytes(s->module); i++)
        s->seen[i] |= s->version->ran[i];
    return anything_missing(&now);
}

static bool run_case(struct seek *s, const int64_t *dims, const struct task_values *values, struct err *err)
{
    const struct extra x = {dims, values, rng_hash(s->judge->options.seed, 0x7365656b + s->cases++)};

    return extra_verify(&x, s->version, s->arena, s->fate, err);
}

static bool seek_shapes(struct seek *s, struct err *err)
{
    bool ok = true, more = still_missing(s);

    make_shapes(s);
    for (size_t i = 0; ok && more && i < s->shapes.n && !seek_over(s); i++) {
        bool finds = false;
        ok = look_at(s, s->shapes.v[i], &finds, err) && (!finds || run_case(s, s->shapes.v[i], NULL, err));
        more = !finds || still_missing(s);
        if (!fate_open(s->fate))
            s->fate->words = arena_strdup(s->own, s->fate->words);
        arena_reset(s->arena);
    }
    return ok;
}

/* ---- values ---- */

static double of_constant(const struct ptx_constant *c)
{
    return c->is_real ? c->real : (double)c->integer;
}

/* The constants and their neighbours, as far as the task lets the argument have them; NULL: it does not. */
static const double *special_for(struct seek *s, const struct task_arg *arg, const struct task_values *v,
                                 const struct ptx_constant *list, size_t n, size_t *n_special)
{
    double *to = arena_array(s->arena, double, MOST_SPECIAL);
    bool real = type_is_floating(arg->type);
    double low = -MOST_VALUE, high = MOST_VALUE;

    *n_special = 0;
    if (arg->role != ROLE_IN && arg->role != ROLE_INOUT)
        return NULL;
    if (v->kind == VALUE_UNIFORM || v->kind == VALUE_INDEX) {
        int64_t least = (int64_t)v->low, most = 0;
        bool known = (!v->low_expr || dim_eval(v->low_expr, s->judge->cases[0].dims, &least)) &&
                     (!v->high_expr || dim_eval(v->high_expr, s->judge->cases[0].dims, &most));
        low = v->low_expr ? (double)least : v->low;
        high = v->high_expr ? (double)most : v->high;
        if (!known)
            return NULL;
    } else if (v->kind != VALUE_NORMAL && v->kind != VALUE_INTEGERS) {
        return NULL;
    }
    for (size_t i = 0; i < n && *n_special + 3 <= MOST_SPECIAL; i++) {
        double c = of_constant(&list[i]), step = real ? fmax(fabs(c), 0x1p-10) / 64 : 1;
        const double beside[] = {c, c - step, c + step};
        for (size_t k = 0; k < ARRAY_LEN(beside); k++)
            if (beside[k] >= low && beside[k] < high && (arg->type != KT_F16 || fabs(beside[k]) <= 65504))
                to[(*n_special)++] = beside[k];
    }
    return *n_special ? to : NULL;
}

static bool run_values(struct seek *s, const struct task_values *values, struct err *err)
{
    bool ok = run_case(s, s->judge->cases[0].dims, values, err);

    if (!fate_open(s->fate))
        s->fate->words =
            arena_printf(s->own, "%s, with the constants of its own code among the inputs", s->fate->words);
    arena_reset(s->arena);
    return ok;
}

/* What is read holds the constants here and there; then only them. */
static bool seek_values(struct seek *s, const struct ptx_constant *list, size_t n, struct err *err)
{
    static const double shares[] = {1. / 16, 2};
    const struct judge *j = s->judge;
    const struct task *t = j->task;

    for (size_t k = 0; k < ARRAY_LEN(shares) && !seek_over(s); k++) {
        struct task_values *values = arena_array(s->arena, struct task_values, t->n_args);
        bool any = false;
        for (size_t i = 0; i < t->n_args; i++) {
            size_t n_special;
            const double *special = special_for(s, &t->args[i], &t->args[i].values, list, n, &n_special);
            values[i] = t->args[i].values;
            if (!special)
                continue;
            values[i].special = special;
            values[i].n_special = n_special;
            values[i].special_share = shares[k];
            any = true;
        }
        if (any && !run_values(s, values, err))
            return false;
    }
    return true;
}

static const int64_t *longest_case(const struct judge *j)
{
    size_t last = j->task->n_dims - 1;
    const int64_t *longest = j->cases[0].dims;

    for (size_t c = 1; c < j->n_cases; c++)
        if (j->cases[c].dims[last] > longest[last])
            longest = j->cases[c].dims;
    return longest;
}

static bool run_longest(struct seek *s, const struct task_values *values, const char *what, struct err *err)
{
    bool ok = run_case(s, longest_case(s->judge), values, err);

    if (ok && !fate_open(s->fate))
        s->fate->words = arena_printf(s->own, "%s, with %s", s->fate->words, what);
    arena_reset(s->arena);
    return ok;
}

/* What is decided by all of a row together, by a sum of it, say, or by its bits put together, no one number in
 * it turns over: rows of which two halves come to the same. In the last confirmation. */
static bool seek_halves(struct seek *s, struct err *err)
{
    const struct judge *j = s->judge;
    struct task_values *values = arena_array(s->arena, struct task_values, j->task->n_args);

    if (seek_over(s) || !j->options.confirm ||
        !task_structured(j->task, longest_case(j), STRUCTURE_HALVES, values))
        return true;
    if (!run_longest(s, values, "halves of rows that have the same numbers", err))
        return false;
    extra_settle(s->version, s->fate); /* a tile takes long for the one element that it is asked */
    return true;
}

/* ---- guards ---- */

/* Constants with which this version compares floating numbers, and the original does not. */
static size_t own_guards(const struct seek *s, double *to)
{
    const struct ptx_constant *mine, *theirs;
    size_t n = ptx_compared_constants(s->version->module, s->own, &mine), kept = 0;
    size_t m = ptx_compared_constants(s->judge->baseline.module, s->own, &theirs);

    for (size_t i = 0; i < n && kept < MOST_GUARDS; i++) {
        double c = fabs(mine[i].real);
        bool known = c < 1 / MOST_VALUE || c > MOST_VALUE;
        for (size_t k = 0; k < m; k++)
            known |= fabs(theirs[k].real) == c;
        for (size_t k = 0; k < kept; k++)
            known |= to[k] == c;
        if (!known)
            to[kept++] = c;
    }
    return kept;
}

/* A guard is right on either side of its constant, and may be wrong where many numbers lie just below it:
 * inputs of one form have nothing else, of either sign, and the others are the task's. */
static bool seek_guards(struct seek *s, struct err *err)
{
    const struct task *t = s->judge->task;
    double guards[MOST_GUARDS];
    size_t n = own_guards(s, guards);

    for (size_t k = 0; k < n * t->n_args * 2 && !seek_over(s); k++) {
        size_t first = k / 2 % t->n_args;
        double high = guards[k / 2 / t->n_args], low = high * 31 / 32;
        struct task_values *values = arena_array(s->arena, struct task_values, t->n_args);
        bool alone = true;
        for (size_t i = 0; i < t->n_args; i++) {
            const struct task_arg *arg = &t->args[i];
            bool alike = task_is_any_float(arg) && arg->n_shape == t->args[first].n_shape;
            values[i] = arg->values;
            values[i].special_share = 0;
            alone &= !(alike && i < first); /* each form once */
            if (alike) {
                values[i].kind = VALUE_UNIFORM;
                values[i].low = k & 1 ? -high : low;
                values[i].high = k & 1 ? -low : high;
            }
        }
        if (!alone || !task_is_any_float(&t->args[first]))
            continue;
        if (!run_longest(s, values,
                         arena_printf(s->own, "inputs just below %.9g, with which its own code compares", high),
                         err))
            return false;
    }
    return true;
}

/* Large numbers of one sign in each input, of the other in the next: sums of products are as far below zero as
 * they come, whatever a version starts its largest with. */
static bool seek_signs(struct seek *s, struct err *err)
{
    const struct task *t = s->judge->task;
    struct task_values *values = arena_array(s->arena, struct task_values, t->n_args);
    size_t n = 0;

    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        double high = arg->type == KT_F16 ? 0x1.8p15 : 0x1p55;
        values[i] = arg->values;
        values[i].special_share = 0;
        if (!task_is_any_float(arg) || arg->values.kind != VALUE_NORMAL || arg->n_shape < 2)
            continue;
        values[i].kind = VALUE_UNIFORM;
        values[i].low = n % 2 ? -high : high / 2;
        values[i].high = n % 2 ? -high / 2 : high;
        n++;
    }
    return n < 2 || seek_over(s) ||
           run_longest(s, values, "large inputs, each of one sign and the next of the other", err);
}

/* ---- bit patterns ---- */

static bool is_round(uint64_t v)
{
    return (v & (v - 1)) == 0 || (v & (v + 1)) == 0 || (~v & (~v - 1) & UINT32_MAX) == 0;
}

/* Numbers of more than 16 bits among the operands in a PTX text, 32 bits of each, without masks and powers of
 * two.
 */
static size_t operands(const char *text, uint32_t *to, size_t most)
{
    size_t n = 0;

    for (const char *line = text; line && n < most; line = strchr(line, '\n'), line += line != NULL) {
        const char *end = line + strcspn(line, "\n"), *p = line + strspn(line, " \t");
        if (*p == '.' || *p == '/')
            continue; /* directives */
        while (p < end && n < most && (p = memchr(p, ' ', (size_t)(end - p)))) {
            char *behind;
            uint64_t v = (uint64_t)strtoll(++p, &behind, 10);
            if (behind != p && (*behind == ',' || *behind == ';') && !is_round(v) &&
                (v > UINT16_MAX && v + UINT16_MAX > 2 * UINT16_MAX))
                to[n++] = (uint32_t)v;
        }
    }
    return n;
}

/* What such numbers are as elements of a type: all of them, or their halves. */
static size_t as_elements(const uint32_t *patterns, size_t n, enum kernel_type type, struct ptx_constant *to)
{
    size_t size = kernel_type_size(type), made = 0;

    for (size_t i = 0; i < n && size <= 4; i++)
        for (unsigned part = 0; part < (size == 4 ? 1 : 2); part++) {
            uint32_t bits = size == 4 ? patterns[i] : patterns[i] >> 16 * part;
            double v = task_to_double(type, &bits);
            if (isfinite(v))
                to[made++] = (struct ptx_constant){.is_real = true, .real = v};
        }
    return made;
}

/* A comparison need not be a branch: what is read holds the numbers that this version has and the original does
 * not, as bits. */
static bool seek_patterns(struct seek *s, struct err *err)
{
    enum { MOST = 512 };
    const struct judge *j = s->judge;
    const struct task *t = j->task;
    const char *own = j->baseline.compiled.image.ptx, *text = s->version->compiled.image.ptx;
    uint32_t *all = arena_array(s->arena, uint32_t, 2 * MOST), *theirs = all + MOST, found[MOST_PATTERNS];
    size_t n = text && own ? operands(text, all, MOST) : 0, m = n ? operands(own, theirs, MOST) : 0, kept = 0;
    struct task_values *values = arena_array(s->arena, struct task_values, t->n_args);
    bool any = false;

    for (size_t i = 0; i < n && kept < MOST_PATTERNS; i++) {
        bool known = false;
        for (size_t k = 0; k < m; k++)
            known |= theirs[k] == all[i];
        for (size_t k = 0; k < kept; k++)
            known |= found[k] == all[i];
        if (!known)
            found[kept++] = all[i];
    }
    for (size_t i = 0; i < t->n_args && kept; i++) {
        struct ptx_constant list[2 * MOST_PATTERNS];
        size_t n_list = as_elements(found, kept, t->args[i].type, list), n_special;
        values[i] = t->args[i].values;
        values[i].special = special_for(s, &t->args[i], &values[i], list, n_list, &n_special);
        values[i].n_special = values[i].special ? n_special : 0;
        values[i].special_share = values[i].special ? 2 : 0;
        any |= values[i].special != NULL;
    }
    return !any || run_values(s, values, err);
}

bool seek_verify(struct version *v, const struct trial_coverage *have, struct arena *a, size_t *sought,
                 struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct seek s = {.judge = j, .version = v, .arena = arena_open(), .own = a, .fate = fate};
    const struct ptx_constant *list;
    bool ok = true, whole = false;

    if (anything_missing(have) && v->ran) {
        size_t n = ptx_coverage_constants(v->module, v->ran, a, &list);
        follow_module(&s);
        add_numbers(&s, list, n);
        s.n_deciding = s.n_numbers;
        for (size_t i = 0; i < have->n_gaps; i++)
            whole |= have->gaps[i].whole && !have->gaps[i].original;
        if (whole || n)
            add_written(&s, v->kernel->text);
        ok = (!n || seek_values(&s, list, n, err)) && seek_shapes(&s, err) && seek_halves(&s, err);
    }
    if (ok && fate_open(fate) && v->module)
        ok = seek_patterns(&s, err) && (!fate_open(fate) || !j->options.confirm || v == &j->baseline ||
                                        (seek_guards(&s, err) && (!fate_open(fate) || seek_signs(&s, err))));
    *sought = s.cases;
    vec_free(&s.shapes);
    arena_close(s.arena);
    return ok;
}
