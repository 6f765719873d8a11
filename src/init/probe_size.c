/* Which numbers are sizes, and where they begin and end: strides of buffers that lie row behind row are
 * products of sizes; what moves no extent is a value; beyond a bound the launcher does not run. */
#include "init/probe.h"
#include "init/wrapper.h"

#include <ctype.h>

/* ---- strides */

enum { MOST_ELEMENTS = 1 << 28 }; /* of a buffer, while one size is long */
enum { LOW_INSNS = 2000000 };     /* warp instructions that the least sizes may take */
enum { STRIDE = 1024 };           /* that all strides have while one of them is looked at */

bool init_is_stride(const char *name)
{
    return strcasestr(name, "stride") || strcasestr(name, "pitch") ||
           (str_starts(name, "ld") && name[2] && (!name[3] || name[2] == '_'));
}

struct striding {
    struct probing *p;
    size_t strides[PROBE_DIMS], n;
    struct footprint plain[PROBE_BASE];
    int64_t rows[PROBE_DIMS][PROBE_ARGS][PROBE_BASE]; /* of a stride and a buffer */
    struct probe_product all[PROBE_ARGS];             /* what a buffer holds; `known`: it is known */
    bool known[PROBE_ARGS];
};

static bool measure_strides(struct striding *s, const struct probe_setting *setting)
{
    struct probing *p = s->p;

    for (int k = 0; k < PROBE_BASE; k++) {
        if (!probe_dims(p, setting, k, p->dims[k]))
            return false;
        for (size_t i = 0; i < s->n; i++)
            p->dims[k][s->strides[i]] = STRIDE;
        if (!probe_zeros(p, &s->plain[k], p->dims[k]))
            return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        for (int k = 0; k < PROBE_BASE; k++) {
            struct footprint twice;
            bool ok;

            p->dims[k][s->strides[i]] = 2 * STRIDE;
            ok = probe_zeros(p, &twice, p->dims[k]);
            p->dims[k][s->strides[i]] = STRIDE;
            for (size_t b = 0; ok && b < p->task->n_args && b < PROBE_ARGS; b++) {
                if (probe_is_buffer(p, b))
                    s->rows[i][b][k] =
                        (probe_elements(p, &twice, b) - probe_elements(p, &s->plain[k], b)) / STRIDE + 1;
            }
            if (!ok)
                return false;
        }
    }
    return true;
}

/* a times b, where both are plain. */
static bool multiply(struct probe_product *a, const struct probe_product *b)
{
    a->num *= b->num;
    for (size_t i = 0; i < PROBE_DIMS; i++)
        a->power[i] += b->power[i];
    return a->den == 1 && b->den == 1 && !a->more && !b->more && a->up < 0 && b->up < 0 && a->by < 0 &&
           b->by < 0;
}

/* The strides of buffer b, the last one first: each holds all rows of the next. */
static void contiguous(struct striding *s, size_t b)
{
    struct probing *p = s->p;
    struct probe_product inner;
    int64_t e[PROBE_BASE];
    bool any = false, known;

    for (int k = 0; k < PROBE_BASE; k++) {
        e[k] = probe_elements(p, &s->plain[k], b);
        for (size_t i = 0; i < s->n; i++)
            e[k] -= (s->rows[i][b][k] - 1) * STRIDE;
        any = any || e[k] <= 0;
    }
    s->known[b] = false;
    known = !any && probe_product(p, PROBE_BASE, e, &inner);
    for (size_t i = s->n; i-- > 0 && known;) {
        struct probe_product rows;
        bool used = false;

        for (int k = 0; k < PROBE_BASE; k++)
            used = used || s->rows[i][b][k] > 1;
        if (!used)
            continue;
        if (!p->formula[s->strides[i]]) {
            p->formula[s->strides[i]] = true;
            p->as[s->strides[i]] = inner;
        }
        known = probe_product(p, PROBE_BASE, s->rows[i][b], &rows) && multiply(&inner, &rows);
    }
    s->known[b] = known;
    s->all[b] = inner;
}

/* A stride that only numbers in a buffer step by: with ones in it another buffer is touched farther. Each
 * number then takes all that was touched with zeros. */
static void by_numbers(struct striding *s, size_t stride)
{
    struct probing *p = s->p;
    struct footprint once, twice;

    for (size_t by = 0; by < p->task->n_args && by < PROBE_ARGS; by++) {
        bool ok = probe_is_buffer(p, by) && s->plain[0].args[by].read && !s->plain[0].args[by].wrote;

        ok = ok && probe_filled(p, &once, p->dims[0], by, 1);
        p->dims[0][stride] = 2 * STRIDE;
        ok = ok && probe_filled(p, &twice, p->dims[0], by, 1);
        p->dims[0][stride] = STRIDE;
        for (size_t b = 0; ok && b < p->task->n_args && b < PROBE_ARGS && !p->formula[stride]; b++) {
            if (!probe_is_buffer(p, b) || !s->known[b] ||
                probe_elements(p, &twice, b) <= probe_elements(p, &once, b))
                continue;
            p->formula[stride] = true;
            p->as[stride] = s->all[b];
        }
    }
}

/* Looks with the sizes of one setting; how many strides are known then. */
static size_t try_strides(struct striding *s, const struct probe_setting *setting)
{
    struct probing *p = s->p;
    size_t known = 0;
    bool ran;

    p->setting = *setting;
    for (size_t i = 0; i < s->n; i++)
        p->setting.fixed[s->strides[i]] = STRIDE; /* none of them is in a product */
    memset(p->formula, 0, sizeof(p->formula));
    ran = measure_strides(s, &p->setting);
    for (size_t b = 0; ran && b < p->task->n_args && b < PROBE_ARGS; b++) {
        if (probe_is_buffer(p, b))
            contiguous(s, b);
    }
    for (size_t i = 0; i < s->n && ran; i++) {
        if (!p->formula[s->strides[i]])
            by_numbers(s, s->strides[i]);
        known += p->formula[s->strides[i]];
    }
    return known;
}

void probe_lows(struct probing *p)
{
    for (size_t i = 0; i < p->n_dims; i++) {
        for (size_t k = 0; k < p->t->domain.n; k++) {
            const char *condition = p->t->domain.v[k];
            const size_t len = strlen(p->t->dims.v[i]);
            char *end;

            if (!str_starts(condition, p->t->dims.v[i]) || !str_starts(condition + len, " >"))
                continue;
            condition += len + 2 + (condition[len + 2] == '=');
            const int64_t low = strtoll(condition, &end, 10);
            p->low[i] = *end || end == condition ? p->low[i] : MAX(p->low[i], low);
        }
    }
}

void probe_strides(struct probing *p)
{
    static const int64_t units[] = {1, 32, 8, 128, 4};
    struct striding *s = arena_new(p->arena, struct striding);
    struct probe_setting best = probe_plain(1);
    size_t most = 0;

    s->p = p;
    for (size_t i = 0; i < p->n_dims; i++) {
        if (init_is_stride(p->t->dims.v[i]))
            s->strides[s->n++] = i;
    }
    for (size_t u = 0; u < ARRAY_LEN(units) + p->n_dims && most < s->n && s->n < p->n_dims; u++) {
        const size_t apart = u > p->n_dims ? u - p->n_dims : 0;
        struct probe_setting setting = probe_plain(units[apart]);
        size_t known;

        if (u && !apart) /* one size is larger than those beside it */
            setting.unit[u - 1] = 8;
        known = try_strides(s, &setting);
        if (known > most) {
            most = known;
            best = setting;
        }
    }
    if (most)
        try_strides(s, &best);
    else
        memset(p->formula, 0, sizeof(p->formula));
}

/* ---- numbers that the launcher compares with */

/* Does the text before the sign ask how large a type is? */
static bool asks_sizeof(const char *text, const char *sign)
{
    const char *p = sign;

    while (p > text && p[-1] != '\n' && sign - p < 40 && !str_starts(p, "sizeof"))
        p--;
    return str_starts(p, "sizeof");
}

/* The word that ends before `end`, which blanks and brackets may follow. */
static struct init_span word_before(const char *text, const char *end)
{
    const char *start;

    while (end > text && strchr(" ()", end[-1]))
        end--;
    start = end;
    while (start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    return (struct init_span){(size_t)(start - text), (size_t)(end - text)};
}

/* What the number is compared with, by `==` or by the `case` of a switch, at `sign`. */
static struct init_span compared_word(const char *text, const char *sign)
{
    if (*sign == '=')
        return word_before(text, sign);
    while (sign > text && !str_starts(sign, "switch ("))
        sign--;
    return word_before(text, sign + strcspn(sign, ")\n"));
}

/* Is it another size than `dim`, by its name? */
static bool is_other_size(const struct probing *p, size_t dim, const char *text, struct init_span word)
{
    for (size_t i = 0; i < p->n_dims; i++) {
        const char *name = p->t->dims.v[i];
        if (i != dim && strlen(name) == word.end - word.start &&
            memcmp(text + word.start, name, word.end - word.start) == 0)
            return true;
    }
    return false;
}

size_t probe_numbers(const struct probing *p, size_t dim, int64_t *numbers, size_t most)
{
    const char *text = p->t->launcher ? p->t->launcher : "";
    size_t n = 0;

    for (const char *at = text; *at && n < most; at++) {
        const char *digits = NULL;
        bool there = false;
        int64_t v;

        if (str_starts(at, "case "))
            digits = at + 5;
        else if (str_starts(at, "== ") && !asks_sizeof(text, at))
            digits = at + 3;
        while (digits && *digits == '(')
            digits++;
        if (!digits || !isdigit((unsigned char)*digits) || is_other_size(p, dim, text, compared_word(text, at)))
            continue;
        v = strtoll(digits, NULL, 0);
        for (size_t i = 0; i < n; i++)
            there = there || numbers[i] == v;
        if (!there && v > 1 && v <= 1 << 16)
            numbers[n++] = v;
    }
    return n;
}

/* The number in `name / 8`, `name % 8`, `name >> 3` or `name >>= 3` behind the name; 0: it is none of these. */
static int64_t divisor_behind(const char *p)
{
    int64_t v;
    bool shift;

    p += strspn(p, " )");
    shift = str_starts(p, ">>");
    if (!shift && *p != '/' && *p != '%')
        return 0;
    p += strspn(p, "></%= (");
    v = isdigit((unsigned char)*p) ? strtoll(p, NULL, 0) : 0;
    if (shift)
        v = v > 0 && v < 12 ? 1 << v : 0;
    return v > 1 && v <= 4096 && (v & (v - 1)) == 0 ? v : 0;
}

int64_t probe_divisor(const struct probing *p, size_t dim)
{
    const char *name = p->t->dims.v[dim], *text = p->t->launcher ? p->t->launcher : "";
    int64_t unit = 1;

    for (const char *at = text; (at = str_find_word(text, at, name)); at += strlen(name)) {
        const char *before = at;
        while (before > text && strchr(" (", before[-1]))
            before--;
        if (before == text || !strchr("*/%", before[-1])) /* no part of a product */
            unit = MAX(unit, divisor_behind(at + strlen(name)));
    }
    return unit;
}

/* ---- bounds */

static struct init_bound *bound_of(struct probing *p, size_t dim)
{
    const struct probe_setting *s = &p->setting;
    struct init_bound b = {.dim = p->t->dims.v[dim], .low = 1, .unit = s->unit[dim]};

    if (s->tied[dim] >= 0)
        b.of = p->t->dims.v[s->tied[dim]];
    vec_add(p->arena, &p->t->bounds, b);
    return &p->t->bounds.v[p->t->bounds.n - 1];
}

/* Does the launcher take the sizes? A block is run, no more. */
static bool takes_all(struct probing *p, int64_t *dims)
{
    struct footprint f;

    probe_follow(p, dims);
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        if (probe_is_buffer(p, i) && p->fit[i].form != PROBE_NONE &&
            probe_extent_value(p, &p->fit[i], dims) > MOST_ELEMENTS)
            return false;
    }
    return probe_take(p, &f, &(struct footprint_run){.dims = dims, .filled = SIZE_MAX, .one_block = true}) ||
           !f.refused;
}

static bool takes(struct probing *p, size_t dim, int64_t value)
{
    int64_t dims[PROBE_DIMS];

    memcpy(dims, p->dims[0], sizeof(dims));
    dims[dim] = value;
    return takes_all(p, dims);
}

/* The launcher may overflow where several sizes are large. */
static void bound_product(struct probing *p)
{
    int64_t sizes[PROBE_DIMS];

    for (int tries = 0; tries < 6 && init_largest(p->arena, p->t, sizes); tries++) {
        for (size_t i = 0; i < p->n_dims; i++)
            sizes[i] = p->setting.fixed[i] ? p->setting.fixed[i] : sizes[i];
        if (takes_all(p, sizes))
            return;
        p->t->most = (p->t->most ? p->t->most : 1 << 28) / 4;
    }
    p->t->most = 0; /* something else is the cause */
}

/* Of a size that is a power of two: the last one below which, or above which, the launcher does not run. */
static void find_powers(struct probing *p, size_t dim)
{
    struct init_bound *b = bound_of(p, dim);
    int64_t dims[PROBE_DIMS];

    memcpy(dims, p->dims[0], sizeof(dims));
    b->power = true;
    b->low = b->high = p->dims[0][dim];
    while (b->low > 1) {
        dims[dim] = b->low / 2;
        probe_follow(p, dims);
        if (!task_in_domain(p->task, dims) || !probe_holds(p, dims))
            break;
        b->low /= 2;
    }
    for (;;) {
        memcpy(dims, p->dims[0], sizeof(dims));
        dims[dim] = 2 * b->high;
        if (2 * b->high > 1 << 20 || !task_in_domain(p->task, dims) || !takes_all(p, dims))
            break;
        b->high *= 2;
    }
    init_demand(p->t, p->arena, arena_printf(p->arena, "%lld %% %s == 0", (long long)b->high, b->dim));
}

static void find_bounds(struct probing *p, size_t dim)
{
    struct init_bound *b = bound_of(p, dim);
    const int64_t unit = b->unit,
                  step = unit * (p->setting.tied[dim] >= 0 ? p->dims[0][p->setting.tied[dim]] : 1),
                  seed = MAX(p->dims[0][dim] / step, 1);
    int64_t low = 1, good = seed, bad = 0;
    const int64_t fuel = p->fuel, some = MAX(fuel, (int64_t)LOW_INSNS); /* small sizes cost little */

    p->fuel = some;
    for (; low < seed; low++) {
        int64_t dims[PROBE_DIMS];
        memcpy(dims, p->dims[0], sizeof(dims));
        dims[dim] = low * step;
        probe_follow(p, dims);
        if (probe_holds(p, dims))
            break;
    }
    p->fuel = fuel - (some - p->fuel);
    b->low = low > 1 || !b->of ? low * step : 1;
    for (int64_t v = 2 * seed; v * step <= 1 << 20 && !bad; v *= 2) {
        if (takes(p, dim, v * step))
            good = v;
        else
            bad = v;
    }
    while (bad && bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;
        if (takes(p, dim, middle * step))
            good = middle;
        else
            bad = middle;
    }
    b->high = bad ? good * step : 0;
}

/* Sizes of which the kernel asserts what small ones have anyway: larger steps, where these pass. */
void probe_assertions(struct probing *p)
{
    static const int64_t lengths[] = {33, 65, 129, 257, 513, 1025, 2049, 4097};
    const int64_t most = 64;

    for (size_t i = 0; i < p->n_dims; i++) {
        bool passes = !probe_is_free(p, &p->setting, i) || p->setting.power[i] || p->setting.tied[i] >= 0;
        const int64_t unit = p->setting.unit[i];

        while (!passes && p->setting.unit[i] <= most) {
            passes = true;
            for (size_t k = 0; k < ARRAY_LEN(lengths) && passes; k++) {
                const int64_t step = p->setting.unit[i];
                p->words = NULL;
                takes(p, i, (lengths[k] + step - 1) / step * step);
                passes = !p->words || !strstr(p->words, "assertion");
            }
            p->setting.unit[i] *= passes ? 1 : 2;
        }
        if (!passes)
            p->setting.unit[i] = unit;
    }
}

void probe_bounds(struct probing *p)
{
    for (size_t i = 0; i < p->n_dims; i++) {
        if (probe_is_free(p, &p->setting, i) && p->setting.power[i])
            find_powers(p, i);
        else if (probe_is_free(p, &p->setting, i))
            find_bounds(p, i);
    }
    bound_product(p);
}

/* ---- sizes that are none */

static const char *replaced(struct arena *m, const char *text, const char *word, const char *with)
{
    return text ? str_replace_word(m, text, word, with) : NULL;
}

void init_drop(struct init_task *t, struct arena *m, const char *name, const char *as, const char *todo,
               bool guess)
{
    const char *inside = strpbrk(as, " ") ? arena_printf(m, "(%s)", as) : as;

    for (size_t i = 0; i < t->args.n; i++) {
        struct init_arg *a = &t->args.v[i];
        if (str_eq(a->value, name)) {
            a->value = as;
            (guess ? init_guess : init_ask)(a, todo);
        } else
            a->value = replaced(m, a->value, name, inside);
        a->shape = replaced(m, a->shape, name, inside);
        a->values = replaced(m, a->values, name, inside);
    }
    size_t kept = 0;
    for (size_t i = 0; i < t->domain.n; i++) { /* of numbers alone it holds, or nothing would have run */
        const char *condition = replaced(m, t->domain.v[i], name, inside);
        bool of_sizes = false;
        for (const char *p = condition; *p; p++)
            of_sizes = of_sizes || isalpha((unsigned char)*p);
        if (of_sizes)
            t->domain.v[kept++] = condition;
    }
    t->domain.n = kept;
}

void init_fewer_dims(struct init_task *t, struct arena *a)
{
    const size_t room = 3; /* for numbers of rows that indices ask for */
    const bool many = t->dims.n > INIT_MOST_DIMS;

    while (many && t->dims.n > INIT_MOST_DIMS - room) {
        size_t which = t->dims.n - 1;

        for (size_t i = t->dims.n; i-- > 0;) {
            const char *name = t->dims.v[i];
            if (init_is_stride(name) || (str_starts(name, "nb") && isdigit((unsigned char)name[2]))) {
                which = i;
                break;
            }
        }
        init_drop(t, a, t->dims.v[which], "1",
                  arena_printf(a,
                               "a task has at most %d sizes, and %s is 1 here; which values do callers pass?",
                               INIT_MOST_DIMS, t->dims.v[which]),
                  true);
        for (size_t i = which; i + 1 < t->dims.n; i++)
            t->dims.v[i] = t->dims.v[i + 1];
        t->dims.n--;
    }
}

/* Is the text a product of numbers and of sizes other than `but`? */
static bool is_product(const struct init_task *t, const char *text, size_t len, const char *but)
{
    for (size_t i = 0; i < len;) {
        const size_t n = str_word(text + i);
        bool known = n && isdigit((unsigned char)text[i]);
        for (size_t k = 0; k < t->dims.n && n && !known; k++)
            known = strlen(t->dims.v[k]) == n && memcmp(t->dims.v[k], text + i, n) == 0 &&
                    !str_eq(t->dims.v[k], but);
        if (n ? !known : !strchr(" *()", text[i]))
            return false;
        i += n ? n : 1;
    }
    return len > 0;
}

/* `rows * 64 == n` of a size and a product of others: it is that product. */
static void close_products(struct init_task *t, struct arena *a)
{
    for (size_t i = 0; i < t->domain.n; i++) {
        const char *text = t->domain.v[i], *sign = strstr(text, " == ");
        for (size_t k = 0; sign && k < t->dims.n; k++) {
            const char *name = t->dims.v[k];
            const size_t len = (size_t)(sign - text);
            const bool right = str_eq(sign + 4, name),
                       left = strlen(name) == len && memcmp(text, name, len) == 0;
            const char *value = right ? arena_strndup(a, text, len) : sign + 4;
            if (right == left || !is_product(t, value, strlen(value), name))
                continue;
            for (size_t m = i; m + 1 < t->domain.n; m++)
                t->domain.v[m] = t->domain.v[m + 1];
            t->domain.n--;
            init_drop(t, a, name, value, NULL, false); /* others may hold of numbers alone then */
            for (size_t m = k; m + 1 < t->dims.n; m++)
                t->dims.v[m] = t->dims.v[m + 1];
            t->dims.n--;
            i = SIZE_MAX; /* from the first one on again */
            break;
        }
    }
}

/* `a == b` of two sizes: they are one. */
void init_close_equal(struct init_task *t, struct arena *a)
{
    for (size_t i = 0; i < t->domain.n; i++) {
        const char *sign = strstr(t->domain.v[i], " == ");
        size_t left = t->dims.n, right = t->dims.n, kept = 0;

        for (size_t k = 0; sign && k < t->dims.n; k++) {
            const size_t len = strlen(t->dims.v[k]);
            if (str_eq(sign + 4, t->dims.v[k]))
                right = k;
            if ((size_t)(sign - t->domain.v[i]) == len && memcmp(t->domain.v[i], t->dims.v[k], len) == 0)
                left = k;
        }
        if (left == right || left == t->dims.n || right == t->dims.n)
            continue;
        const size_t gone = MAX(left, right);
        init_drop(t, a, t->dims.v[gone], t->dims.v[MIN(left, right)], NULL, false);
        for (size_t k = 0; k < t->dims.n; k++) {
            if (k != gone)
                t->dims.v[kept++] = t->dims.v[k];
        }
        t->dims.n = kept;
        kept = 0;
        for (size_t k = 0; k < t->domain.n; k++) { /* a == a */
            const char *same = strstr(t->domain.v[k], " == ");
            if (!same || strlen(same + 4) != (size_t)(same - t->domain.v[k]) ||
                memcmp(same + 4, t->domain.v[k], strlen(same + 4)) != 0)
                t->domain.v[kept++] = t->domain.v[k];
        }
        t->domain.n = kept;
        i = SIZE_MAX; /* from the first one on again */
    }
    close_products(t, a);
}

void init_close_strides(struct init_task *t, struct arena *a)
{
    const char *last = NULL;
    size_t kept = 0;

    for (size_t i = t->dims.n; i-- > 0;) /* those ahead of all sizes: the first one */
        last = init_is_stride(t->dims.v[i]) ? last : t->dims.v[i];
    for (size_t i = 0; i < t->dims.n && last; i++) {
        const char *name = t->dims.v[i];
        if (!init_is_stride(name))
            t->dims.v[kept++] = last = name;
        else
            init_drop(t, a, name, last,
                      arena_printf(a, "is %s always %s, or may rows lie farther apart?", name, last), false);
    }
    t->dims.n = last ? kept : t->dims.n;
}

/* Does any formula or index say the size? */
static bool is_said(const struct probing *p, size_t dim)
{
    const char *name = p->t->dims.v[dim];

    for (size_t i = 0; i < p->t->args.n; i++) {
        const struct init_arg *a = &p->t->args.v[i];
        if ((a->shape && str_has_word(a->shape, name)) || (a->values && str_has_word(a->values, name)) ||
            (a->value && !str_eq(a->value, name) && str_has_word(a->value, name)))
            return true;
    }
    for (size_t i = 0; i < p->t->domain.n; i++) {
        if (str_has_word(p->t->domain.v[i], name))
            return true;
    }
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        if (probe_is_buffer(p, i) && p->fit[i].form == PROBE_NONE && !probe_is_indexed(p, i))
            return true; /* it may be of one that is not known */
    }
    return false;
}

void probe_drop_sizes(struct probing *p)
{
    struct init_task *t = p->t;
    size_t kept = 0;
    bool keep[PROBE_DIMS];

    for (size_t i = 0; i < p->n_dims; i++) { /* first those that others may be in */
        if (p->formula[i])
            init_drop(t, p->arena, t->dims.v[i], probe_text(p, &p->as[i]),
                      arena_printf(p->arena, "rows lie one behind the other; may they lie farther apart by %s?",
                                   t->dims.v[i]),
                      false);
    }
    for (size_t i = 0; i < p->n_dims; i++) {
        const char *name = t->dims.v[i];

        keep[i] = false;
        if (p->formula[i])
            continue;
        if (p->setting.fixed[i])
            init_drop(t, p->arena, name, arena_printf(p->arena, "%lld", (long long)p->setting.fixed[i]),
                      arena_printf(p->arena, "the launcher decides by %s; which values do callers pass?", name),
                      false);
        else
            keep[i] = true;
    }
    for (size_t i = 0; i < p->n_dims; i++)
        kept += keep[i];
    for (size_t i = 0; i < p->n_dims && kept > 1; i++) {
        if (!keep[i] || is_said(p, i))
            continue;
        init_drop(t, p->arena, t->dims.v[i], wrapper_names_threads(t->dims.v[i]) ? "256" : "1",
                  arena_printf(p->arena, "%s moves no extent; which values do callers pass?", t->dims.v[i]),
                  false);
        keep[i] = false;
        kept--;
    }
    kept = 0;
    for (size_t i = 0; i < t->dims.n; i++) {
        if (i >= p->n_dims || keep[i])
            t->dims.v[kept++] = t->dims.v[i];
    }
    t->dims.n = kept;
}
