/* task.yaml of what was read of a wrapper. What is not known stands there as `# TODO` with its question, and in
 * words that task_read takes, so that `astra check` runs and says the rest. */
#include "init/internal.h"

#include <ctype.h>

enum {
    MOST_ELEMENTS = 1 << 28, /* of a case: their number fits an int, with room for what is made of it */
    MOST_WORK = 1 << 26,     /* of a proposed workload */
    MOST_FACTORS = 3,
};

bool init_demand(struct init_task *t, struct arena *a, const char *condition)
{
    for (size_t i = 0; i < t->domain.n; i++) {
        if (str_eq(t->domain.v[i], condition))
            return false;
    }
    vec_add(a, &t->domain, condition);
    return true;
}

/* Sizes that are proposed: of a name that is known from such kernels, else by the dim's place. */
static const struct proposal {
    const char *part;
    int sizes[3];
} proposals[] = {
    {"hidden", {1024, 4096, 8192}},  {"head_size", {64, 128, 128}},   {"head_dim", {64, 128, 128}},
    {"heads", {8, 32, 32}},          {"num_tokens", {16, 256, 2048}}, {"batch", {1, 8, 32}},
    {"vocab", {1024, 32000, 32000}}, {"channels", {64, 256, 768}},    {"seq", {128, 512, 1024}},
};
static const int by_place[][3] = {{16, 256, 1024}, {256, 512, 1024}, {64, 64, 128}, {16, 32, 32}, {4, 8, 8}};

static const struct init_bound *bound(const struct init_task *t, size_t dim)
{
    for (size_t i = 0; i < t->bounds.n; i++) {
        if (str_eq(t->bounds.v[i].dim, t->dims.v[dim]))
            return &t->bounds.v[i];
    }
    return NULL;
}

/* Tables have their own size. */
static bool is_table(const struct init_task *t, size_t dim)
{
    return str_starts(t->dims.v[dim], "n_");
}

static bool is_single(const struct init_task *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->dims.n; i++)
        n += !is_table(t, i);
    return n == 1;
}

static int64_t named(const struct init_task *t, size_t dim, int which)
{
    if (is_table(t, dim))
        return (const int[]){1024, 4096, 32768}[which];
    if (is_single(t))
        return (const int[]){4096, 1 << 18, 1 << 22}[which];
    for (size_t i = 0; i < ARRAY_LEN(proposals); i++) {
        if (strcasestr(t->dims.v[dim], proposals[i].part))
            return proposals[i].sizes[which];
    }
    return by_place[dim < ARRAY_LEN(by_place) ? dim : ARRAY_LEN(by_place) - 1][which];
}

static int64_t within(const struct init_bound *b, int64_t v)
{
    if (!b)
        return v;
    if (b->high && v > b->high) {
        v = b->high;
        while (v & (v - 1) && (v & (v - 1)) >= b->low) /* a round number */
            v &= v - 1;
    }
    v -= v % b->unit;
    while (b->power && v & (v - 1))
        v &= v - 1;
    return v < b->low ? b->low : v;
}

static int64_t most(const struct init_task *t, size_t dim, const int64_t *largest)
{
    const struct init_bound *b = bound(t, dim);
    int64_t high = is_single(t) && !is_table(t, dim) ? MOST_ELEMENTS / MAX(t->frozen, 1)
                                                     : 8 * MAX(within(b, named(t, dim, 2)), largest[dim]);

    return b && b->high && b->high < high ? b->high : high;
}

/* The value of sums of products of sizes and numbers, "4 * n + 1". */
static int64_t value_of(const struct init_task *t, const char *text, const int64_t *sizes)
{
    int64_t sum = 0, product = 1;

    for (const char *p = text; *p;) {
        const size_t len = str_word(p);
        if (*p == '+') {
            sum += product;
            product = 1;
        }
        if (len && isdigit((unsigned char)*p))
            product *= strtoll(p, NULL, 10);
        for (size_t i = 0; i < t->dims.n && len; i++)
            product *= strlen(t->dims.v[i]) == len && memcmp(t->dims.v[i], p, len) == 0 ? sizes[i] : 1;
        p += len ? len : 1;
    }
    return sum + product;
}

/* Not fewer than a condition of the size asks for, nor, of rows of a table, than different ones are named. */
static int64_t enough(const struct init_task *t, size_t dim, const int64_t *sizes)
{
    const char *name = t->dims.v[dim], *condition;
    int64_t size = sizes[dim];

    for (size_t i = 0; i < t->domain.n; i++) {
        condition = t->domain.v[i];
        if (!str_starts(condition, name))
            continue;
        condition += strlen(name);
        if (str_starts(condition, " >= "))
            size = MAX(size, value_of(t, condition + 4, sizes));
        if (str_starts(condition, " > ") || str_starts(condition, " >= ")) {
            const int64_t low = strtoll(condition + 3, NULL, 10),
                          unit = bound(t, dim) ? bound(t, dim)->unit : 1;
            if (size <= low)
                size = (low / unit + 1) * unit;
        }
        if (str_starts(condition, " % ") && str_ends(condition, " != 0")) {
            int64_t by = strtoll(condition + 3, NULL, 0);
            size -= by > 1 && size % by == 0 && size > 1;
        }
        if (str_starts(condition, " != ") && strtoll(condition + 4, NULL, 0) == size)
            size += bound(t, dim) ? bound(t, dim)->unit : 1;
    }
    for (size_t i = 0; i < t->args.n; i++) {
        const struct init_arg *a = &t->args.v[i];
        if (a->shape && a->values && strstr(a->values, "distinct") && str_has_word(a->values, name))
            size = MAX(size, value_of(t, a->shape, sizes));
    }
    return size;
}

static double product_of(const struct init_task *t, const int64_t *sizes)
{
    double product = 1;

    for (size_t i = 0; i < t->dims.n; i++)
        product *= is_table(t, i) ? 1 : (double)sizes[i];
    return product;
}

static int64_t most_elements(const struct init_task *t)
{
    return t->most ? t->most : MOST_ELEMENTS;
}

/* Half of the largest that its bounds allow to be halved; false: none. */
static bool halve(const struct init_task *t, int64_t *sizes)
{
    size_t largest = t->dims.n;

    for (size_t i = 0; i < t->dims.n; i++) {
        bool smaller = !is_table(t, i) && within(bound(t, i), sizes[i] / 2) < sizes[i];
        if (smaller && (largest == t->dims.n || sizes[i] > sizes[largest]))
            largest = i;
    }
    if (largest == t->dims.n)
        return false;
    sizes[largest] = within(bound(t, largest), sizes[largest] / 2);
    return true;
}

/* Sizes of a workload, which together are no larger than servers have. */
static void propose(const struct init_task *t, int which, int64_t *sizes)
{
    for (size_t i = 0; i < t->dims.n; i++)
        sizes[i] = within(bound(t, i), named(t, i, which));
    for (int tries = 0; tries < 64; tries++) { /* what is halved here may be raised there */
        for (size_t i = 0; i < t->dims.n; i++)
            sizes[i] = enough(t, i, sizes);
        if (product_of(t, sizes) * (double)MAX(t->frozen, 1) <=
                (double)MIN(t->work ? t->work : MOST_WORK, most_elements(t)) ||
            !halve(t, sizes))
            break;
    }
    for (size_t i = 0; i < t->dims.n; i++) {
        const struct init_bound *b = bound(t, i);
        for (size_t k = 0; k < t->dims.n && b && b->of; k++) {
            if (str_eq(t->dims.v[k], b->of))
                sizes[i] = MAX(sizes[i] / sizes[k], 1) * sizes[k];
        }
    }
}

const char *init_as_product(struct arena *a, const char *shape)
{
    struct str out = {.arena = a};

    for (; *shape; shape++)
        str_add(&out, *shape == ',' ? " *" : (const char[]){*shape, '\0'});
    return arena_strdup(a, str_text(&out));
}

void init_suffice(const struct init_task *t, int64_t *sizes)
{
    for (int round = 0; round < 4; round++) { /* one may ask for more of another one */
        for (size_t i = 0; i < t->dims.n; i++)
            sizes[i] = enough(t, i, sizes);
    }
}

void init_usual(const struct init_task *t, int64_t *sizes)
{
    for (size_t i = 0; i < t->dims.n; i++)
        sizes[i] = named(t, i, 0);
}

bool init_largest(struct arena *a, const struct init_task *t, int64_t *sizes)
{
    int64_t *largest = arena_array(a, int64_t, t->dims.n + 1);
    size_t n = 0;

    propose(t, 2, sizes);
    memcpy(largest, sizes, t->dims.n * sizeof(*sizes));
    for (size_t i = 0; i < t->dims.n; i++)
        n += !is_table(t, i);
    for (size_t i = 0; i < t->dims.n; i++) {
        while (!is_table(t, i) && 2 * sizes[i] <= most(t, i, largest) &&
               2 * product_of(t, sizes) <= (double)most_elements(t))
            sizes[i] *= 2;
    }
    return n && n <= MOST_FACTORS;
}

static void add_list(struct str *out, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%s", i ? ", " : "", v[i]);
}

static void add_arg(struct str *out, const struct init_arg *a)
{
    str_addf(out, "  - {name: %s, type: %s", a->name, a->type);
    if (a->role) {
        str_addf(out, ", shape: [%s], role: %s", a->shape ? a->shape : "1", a->role);
        if (a->values)
            str_addf(out, ", values: %s", a->values);
        if (a->align)
            str_addf(out, ", align: %d", a->align);
    } else
        str_addf(out, ", value: %s", a->value);
    str_addc(out, '}');
    if (a->todo)
        str_addf(out, " # TODO: %s%s", a->guess ? "a guess: " : "", a->todo);
    str_addc(out, '\n');
}

/* One that the wrapper does not ask for itself. */
static void add_condition(const struct init_task *t, const char *condition, struct str *out)
{
    for (size_t i = 0; i < t->domain.n; i++) {
        if (str_eq(t->domain.v[i], condition))
            return;
    }
    str_addf(out, "  - %s\n", condition);
}

/* Between which sizes it is: for a first look at a launcher they are not known. */
static void add_bounds(struct arena *a, const struct init_task *t, struct str *out)
{
    struct str product = {0};
    size_t n = 0;
    int64_t *largest = arena_array(a, int64_t, t->dims.n + 1);

    propose(t, 2, largest);
    for (size_t i = 0; i < t->dims.n; i++) {
        const struct init_bound *b = bound(t, i);
        add_condition(t, arena_printf(a, "%s >= %lld", t->dims.v[i], b ? (long long)b->low : 1), out);
        add_condition(t, arena_printf(a, "%s <= %lld", t->dims.v[i], (long long)most(t, i, largest)), out);
    }
    for (size_t i = 0; i < t->dims.n; i++) {
        if (is_table(t, i))
            continue;
        str_addf(&product, "%s%s", n++ ? " * " : "", t->dims.v[i]);
    }
    if (n > 1 && n <= MOST_FACTORS) /* of more, no buffer may have all */
        str_addf(out, "  - %s <= %lld\n", product.s, (long long)most_elements(t));
    str_free(&product);
    for (size_t i = 0; i < t->dims.n; i++) {
        const struct init_bound *b = bound(t, i);
        if (b && b->unit > 1)
            add_condition(t, arena_printf(a, "%s %% %lld == 0", b->dim, (long long)b->unit), out);
        if (b && b->of)
            add_condition(t, arena_printf(a, "%s %% %s == 0", b->dim, b->of), out);
    }
}

char *init_taskfile(struct arena *a, const struct init_task *t, const char *name, int64_t draft)
{
    struct str out = {0};
    int64_t *sizes = arena_array(a, int64_t, t->dims.n + 1);

    str_addf(&out, "name: %s\nsource: kernel.cu\nentry: %s\nargs:\n", name, t->entry);
    for (size_t i = 0; i < t->args.n; i++)
        add_arg(&out, &t->args.v[i]);
    str_add(&out, "dims: [");
    add_list(&out, t->dims.v, t->dims.n);
    str_addf(&out, "]%s\n", t->dims.n ? "" : " # TODO: which numbers are shapes made of? dims: [rows, width]");
    str_add(&out, "domain: # TODO: what else do callers promise of these sizes?\n");
    for (size_t i = 0; i < t->dims.n && draft; i++)
        str_addf(&out, "  - %s >= %lld\n  - %s <= %lld\n", t->dims.v[i], (long long)MAX(t->least, 1),
                 t->dims.v[i], (long long)draft);
    if (!draft)
        add_bounds(a, t, &out);
    for (size_t i = 0; i < t->domain.n; i++)
        str_addf(&out, "  - %s\n", t->domain.v[i]);
    str_add(&out, "workloads: # TODO: your sizes\n");
    for (size_t i = 0; i < t->workloads.n; i++)
        str_addf(&out, "  - [%s]\n", t->workloads.v[i]);
    for (int w = 0; w < 3 && !t->workloads.n; w++) {
        propose(t, w, sizes);
        str_add(&out, "  - [");
        for (size_t i = 0; i < t->dims.n; i++)
            str_addf(&out, "%s%lld", i ? ", " : "", (long long)sizes[i]);
        str_add(&out, "]\n");
    }
    const struct {
        bool asked;
        const char *flag;
    } flags[] = {
        {t->lambdas, "--extended-lambda"}, {t->limits, "--expt-relaxed-constexpr"}, {t->modern, "--std=c++20"}};
    const char *between = "flags: [";
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (!flags[i].asked)
            continue;
        str_addf(&out, "%s%s", between, flags[i].flag);
        between = ", ";
    }
    str_add(&out, *between == ',' ? "]\n" : "");
    if (t->any_order)
        str_add(
            &out,
            "accept: [nondeterminism] # TODO: atomics take turns in any order; may results differ from run to "
            "run?\n");
    for (size_t i = 0; i < t->questions.n; i++)
        str_addf(&out, "# TODO: %s\n", t->questions.v[i]);
    return str_take(&out, a);
}
