/* Formulas of extents: products of sizes, rows that lie farther apart than they are long, sums of two
 * products. */
#include "init/probe.h"

#include <math.h>

struct fitting {
    const struct probing *p;
    size_t n;
    const int64_t *e;
    struct probe_product m;
    int most_power; /* of a size */
};

/* As the factor number k of that size. */
static int64_t size_in(const struct probe_product *m, size_t dim, int k, const int64_t *dims)
{
    if (k == 0 && m->plain)
        return dims[dim];
    return m->up == (int)dim ? (dims[dim] + m->step - 1) / m->step : dims[dim];
}

int64_t probe_value(const struct probing *p, const struct probe_product *m, const int64_t *dims)
{
    int64_t v = m->num;

    for (size_t i = 0; i < p->n_dims; i++) {
        for (int k = 0; k < m->power[i]; k++)
            v *= size_in(m, i, k, dims);
    }
    if (m->by >= 0) {
        if (v % dims[m->by])
            return -1;
        v /= dims[m->by];
    }
    return v % m->den ? -1 : v / m->den + m->more;
}

int64_t probe_extent_value(const struct probing *p, const struct probe_extent *x, const int64_t *dims)
{
    int64_t a = probe_value(p, &x->a, dims);

    if (x->form == PROBE_PRODUCT || a < 0)
        return a;
    int64_t b = probe_value(p, &x->b, dims);
    return x->form == PROBE_SUM ? a + b : (a - 1) * dims[x->size] + b;
}

/* Factors that extents have: of vectors, warps and packed numbers. */
static bool is_factor(int64_t num, int64_t den)
{
    bool two = (num & (num - 1)) == 0 && num <= 1024;

    if (den == 1)
        return num <= 16 || two || (num % 8 == 0 && num <= 128);
    return (den & (den - 1)) == 0 && den <= 1024 && (num == 1 || num == 3);
}

/* Do the products w, times one factor, plus 0 or 1, give the values? */
static bool fit_factor(struct fitting *f, const int64_t *w)
{
    for (int more = 0; more < 2; more++) {
        int64_t num = f->e[0] - more, den = w[0], a, b;
        bool same = num > 0 && den > 0;

        if (f->m.by >= 0)
            num *= f->p->dims[0][f->m.by];
        a = num;
        b = den;
        for (size_t k = 1; k < f->n && same; k++)
            same = (f->e[k] - more) * (f->m.by >= 0 ? f->p->dims[k][f->m.by] : 1) * den == w[k] * num;
        while (same && b) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (!same || !is_factor(num / a, den / a))
            continue;
        f->m.num = (int)(num / a);
        f->m.den = (int)(den / a);
        f->m.more = more;
        return true;
    }
    return false;
}

/* Powers of the free sizes that sum up to `degree`, from size i on; w is the product of those before. */
static bool fit_powers(struct fitting *f, const int64_t *w, size_t i, int degree)
{
    int64_t next[PROBE_POINTS];

    if (i == f->p->n_dims || degree == 0)
        return degree == 0 && fit_factor(f, w);
    if (!probe_is_free(f->p, &f->p->setting, i) || f->m.by == (int)i)
        return fit_powers(f, w, i + 1, degree);
    memcpy(next, w, f->n * sizeof(*next));
    for (int k = 1; k <= MIN(degree, f->most_power); k++) {
        for (size_t n = 0; n < f->n; n++)
            next[n] *= size_in(&f->m, i, k - 1, f->p->dims[n]);
        f->m.power[i] = k;
        if (fit_powers(f, next, i + 1, degree - k))
            return true;
    }
    f->m.power[i] = 0;
    return fit_powers(f, w, i + 1, degree);
}

static bool fit_degrees(struct fitting *f, int least, int most)
{
    int64_t w[PROBE_POINTS];

    for (size_t k = 0; k < PROBE_POINTS; k++)
        w[k] = 1;
    for (int degree = least; degree <= most; degree++) {
        f->most_power = degree > 4 ? 1 : 2; /* of many sizes, squares would fit by chance */
        memset(f->m.power, 0, sizeof(f->m.power));
        if (fit_powers(f, w, 0, degree))
            return true;
    }
    return false;
}

/* Does the size, counted in steps, have three values at the points? Fewer say nothing of the step. */
static bool steps_differ(const struct fitting *f, size_t dim)
{
    int64_t first = size_in(&f->m, dim, 1, f->p->dims[0]), second = first;

    for (size_t k = 1; k < f->n; k++) {
        int64_t v = size_in(&f->m, dim, 1, f->p->dims[k]);
        if (v != first && v != second && second != first)
            return true;
        second = v != first ? v : second;
    }
    return false;
}

bool probe_product(const struct probing *p, size_t n, const int64_t *e, struct probe_product *m)
{
    static const int steps[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
    struct fitting f = {p, n, e, {.num = 1, .den = 1, .up = -1, .by = -1}, 2};
    bool same = true, found;

    for (size_t k = 1; k < n; k++)
        same = same && e[k] == e[0];
    if (same) {
        f.m.num = (int)MIN(e[0], 1 << 30);
        *m = f.m;
        return true;
    }
    found = fit_degrees(&f, 1, 6);
    for (size_t i = 0; i < p->n_dims && n > PROBE_BASE && !found; i++) {
        for (size_t k = 0; k < ARRAY_LEN(steps) && !found && probe_is_free(p, &p->setting, i); k++) {
            f.m.up = (int)i;
            f.m.step = steps[k];
            found = steps_differ(&f, i) && fit_degrees(&f, 1, 3) && f.m.power[i];
            f.m.plain = !found; /* a bit for each of them in each row: n rows of (n + 63) / 64 words */
            found = found || (steps_differ(&f, i) && fit_degrees(&f, 2, 3) && f.m.power[i] == 2);
            f.m.plain = f.m.plain && found;
        }
    }
    f.m.up = found ? f.m.up : -1;
    for (size_t i = 0; i < p->n_dims && !found; i++) { /* a multiple of another size, in units of that */
        f.m.by = p->setting.tied[i];
        found = f.m.by >= 0 && fit_degrees(&f, 1, 3) && f.m.power[i];
    }
    *m = f.m;
    return found;
}

/* ---- forms of two products */

struct small { /* the products that a second one is looked for among */
    VEC(struct probe_product) v;
};

static void small_products(const struct probing *p, struct small *to)
{
    static const int factors[] = {1, 2, 4};
    struct probe_product m = {.num = 1, .den = 1, .up = -1, .by = -1};

    vec_add(p->arena, &to->v, m);
    for (size_t f = 0; f < ARRAY_LEN(factors); f++) {
        for (size_t i = 0; i < p->n_dims; i++) {
            if (!probe_is_free(p, &p->setting, i))
                continue;
            m = (struct probe_product){.num = factors[f], .den = 1, .up = -1, .by = -1};
            m.power[i] = 1;
            vec_add(p->arena, &to->v, m);
            for (size_t k = i; k < p->n_dims && f == 0; k++) {
                struct probe_product two = m;
                two.power[k]++;
                if (probe_is_free(p, &p->setting, k))
                    vec_add(p->arena, &to->v, two);
            }
        }
    }
}

static bool fit_rows(const struct probing *p, const struct small *all, size_t n, const int64_t *e,
                     struct probe_extent *x)
{
    for (size_t s = 0; s < p->n_dims; s++) {
        for (size_t i = 0; i < all->v.n && probe_is_free(p, &p->setting, s); i++) {
            int64_t rows[PROBE_POINTS];
            bool whole = !all->v.v[i].power[s];

            for (size_t k = 0; k < n && whole; k++) {
                int64_t first = e[k] - probe_value(p, &all->v.v[i], p->dims[k]);
                rows[k] = first / p->dims[k][s] + 1;
                whole = first >= 0 && first % p->dims[k][s] == 0;
            }
            if (!whole || !probe_product(p, n, rows, &x->a) || x->a.more || x->a.den != 1 || x->a.power[s])
                continue;
            x->form = PROBE_ROWS;
            x->size = (int)s;
            x->b = all->v.v[i];
            return true;
        }
    }
    return false;
}

/* Rows `size` apart of which each has the same number of elements touched: blocks of a format. */
static bool fit_blocks(const struct probing *p, const struct small *all, size_t n, const int64_t *e,
                       struct probe_extent *x)
{
    for (size_t s = 0; s < p->n_dims; s++) {
        for (size_t i = 1; i < all->v.n && probe_is_free(p, &p->setting, s); i++) {
            const struct probe_product *a = &all->v.v[i];
            int64_t first = 0;
            bool same = !a->power[s] && a->num == 1;

            for (size_t k = 0; k < n && same; k++) {
                int64_t last = e[k] - (probe_value(p, a, p->dims[k]) - 1) * p->dims[k][s];
                first = k ? first : last;
                same = last == first && last > 1 && last < 1 << 20;
            }
            if (!same)
                continue;
            x->form = PROBE_ROWS;
            x->size = (int)s;
            x->a = *a;
            x->b = all->v.v[0];
            x->b.num = (int)first;
            return true;
        }
    }
    return false;
}

static bool fit_sum(const struct probing *p, const struct small *all, size_t n, const int64_t *e,
                    struct probe_extent *x)
{
    for (size_t i = 1; i < all->v.n; i++) {
        int64_t rest[PROBE_POINTS];
        bool positive = true;

        for (size_t k = 0; k < n; k++) {
            rest[k] = e[k] - probe_value(p, &all->v.v[i], p->dims[k]);
            positive = positive && rest[k] > 0;
        }
        if (!positive || !probe_product(p, n, rest, &x->a) || x->a.more || x->a.den != 1)
            continue;
        x->form = PROBE_SUM;
        x->b = all->v.v[i];
        return true;
    }
    return false;
}

/* The points at which size `most` is not below size `least`. */
static size_t points_where(const struct probing *p, size_t n, const int64_t *e, struct probe_extent *x,
                           struct probing *some, int64_t *of)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (p->dims[i][x->most] < p->dims[i][x->least])
            continue;
        memcpy(some->dims[k], p->dims[i], sizeof(some->dims[k]));
        of[k++] = e[i];
    }
    return k;
}

/* A product of a size that is not below another one, seen at the points where it is not; of several such pairs
 * that with the most points, and of these that of the innermost size. */
static void fit_where(const struct probing *p, size_t n, const int64_t *e, struct probe_extent *x)
{
    struct probing *some = arena_new(p->arena, struct probing);
    struct probe_extent y = {.form = PROBE_PRODUCT};
    int64_t of[PROBE_POINTS];
    size_t best = PROBE_BASE + 3;

    *some = *p;
    for (y.most = 0; y.most < (int)p->n_dims; y.most++) {
        for (y.least = 0; y.least < (int)p->n_dims; y.least++) {
            size_t k;

            if (y.least == y.most || !probe_is_free(p, &p->setting, (size_t)y.most) ||
                !probe_is_free(p, &p->setting, (size_t)y.least))
                continue;
            k = points_where(p, n, e, &y, some, of);
            if (k >= n || k < best || !probe_product(some, k, of, &y.a) || !y.a.power[y.most])
                continue;
            *x = y;
            best = k;
        }
    }
}

struct probe_extent probe_fit(const struct probing *p, size_t n, const int64_t *e)
{
    struct probe_extent x = {.most = -1};
    struct small all = {0};
    size_t free = 0;

    for (size_t i = 0; i < p->n_dims; i++)
        free += probe_is_free(p, &p->setting, i);
    if (probe_product(p, n, e, &x.a))
        x.form = PROBE_PRODUCT;
    if (x.form || n < PROBE_BASE + 2 || free > 6) /* so many formulas would fit by chance */
        return x;
    small_products(p, &all);
    if (!fit_rows(p, &all, n, e, &x) && !fit_blocks(p, &all, n, e, &x) && !fit_sum(p, &all, n, e, &x))
        fit_where(p, n, e, &x);
    return x;
}

/* ---- rows and columns of something larger */

/* What is touched where sizes `most` and `least` are the same; false: the launcher does not run there. */
static bool measure_same(struct probing *p, int most, int least, struct probing *some, struct footprint *at)
{
    for (int k = 0; k < PROBE_BASE; k++) {
        int64_t *dims = some->dims[k], same = p->dims[k][most];

        memcpy(dims, p->dims[k], sizeof(some->dims[k]));
        if (same % p->setting.unit[least])
            same *= p->setting.unit[least];
        dims[most] = dims[least] = same;
        probe_follow(p, dims);
        if (!task_in_domain(p->task, dims) || !probe_zeros(p, &at[k], dims))
            return false;
    }
    return true;
}

/* Of a buffer that no formula explains: a product of `most` and others that has what is touched where `least`
 * is the same, and no less where it is smaller. How much of it is touched where it is: 0: there is none. */
static double fit_larger(struct probing *p, const struct probing *some, const struct footprint *at, size_t arg,
                         struct probe_extent *x)
{
    int64_t e[PROBE_BASE];
    double share = 0;
    size_t n = 0;

    for (int k = 0; k < PROBE_BASE; k++)
        e[k] = probe_elements(p, &at[k], arg);
    if (!e[0] || !probe_product(some, PROBE_BASE, e, &x->a) || !x->a.power[x->most] || x->a.more)
        return 0;
    for (size_t k = 0; k < p->n_points; k++) {
        const int64_t touched = probe_elements(p, &p->at[k], arg), all = probe_value(p, &x->a, p->dims[k]);
        if (p->dims[k][x->most] < p->dims[k][x->least])
            continue;
        if (touched > all)
            return 0;
        share += (double)touched / (double)all;
        n++;
    }
    x->form = PROBE_PRODUCT;
    return n ? share / (double)n : 0;
}

void probe_fit_larger(struct probing *p)
{
    struct probing *some = arena_new(p->arena, struct probing);
    struct footprint at[PROBE_BASE];
    struct probe_extent best[PROBE_ARGS] = {0};
    double shares[PROBE_ARGS] = {0};
    size_t open = 0, free = 0;

    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++)
        open += probe_is_buffer(p, i) && probe_is_open(p, i);
    for (size_t i = 0; i < p->n_dims; i++)
        free += probe_is_free(p, &p->setting, i);
    if (!open || free > 5)
        return;
    for (int most = 0; most < (int)p->n_dims; most++) {
        for (int least = 0; least < (int)p->n_dims; least++) {
            if (most == least || !probe_is_free(p, &p->setting, (size_t)most) ||
                !probe_is_free(p, &p->setting, (size_t)least) || p->setting.tied[least] >= 0)
                continue;
            *some = *p;
            some->setting.fixed[least] = 1; /* in no product */
            if (!measure_same(p, most, least, some, at))
                continue;
            for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
                struct probe_extent x = {.most = most, .least = least};
                const double share =
                    probe_is_buffer(p, i) && probe_is_open(p, i) ? fit_larger(p, some, at, i, &x) : 0;
                if (share > shares[i]) {
                    shares[i] = share;
                    best[i] = x;
                }
            }
        }
    }
    for (size_t i = 0; i < PROBE_ARGS; i++) {
        if (shares[i] > 0)
            p->fit[i] = best[i];
    }
}

/* ---- what holds all that is touched */

enum { MOST_FACTOR = 1024, MOST_COVERING = 128 };

struct covering { /* products that a cover may be made of, with what they are at the points */
    const struct probing *p;
    size_t n, n_products;
    const int64_t *e;
    struct probe_product m[MOST_COVERING];
    double at[MOST_COVERING][PROBE_POINTS];
};

static void covering_products(struct covering *c)
{
    const struct probing *p = c->p;

    for (int degree = 0; degree <= (int)p->n_dims; degree++) {
        for (unsigned set = 0; set < 1u << p->n_dims && c->n_products < MOST_COVERING; set++) {
            struct probe_product m = {.num = 1, .den = 1, .up = -1, .by = -1};
            bool free = __builtin_popcount(set) == degree;

            for (size_t i = 0; i < p->n_dims && free; i++) {
                m.power[i] = set >> i & 1;
                free = !m.power[i] || probe_is_free(p, &p->setting, i);
            }
            if (!free)
                continue;
            for (size_t k = 0; k < c->n; k++)
                c->at[c->n_products][k] = (double)probe_value(p, &m, p->dims[k]);
            c->m[c->n_products++] = m;
        }
    }
}

/* By which number product `i` holds what `num` times product `with` leaves: as it is, or rounded up to a power
 * of two. 0: by none that is usual. */
static int factor_of(const struct covering *c, size_t i, int num, size_t with)
{
    double most = 1;
    int factor = 1;

    for (size_t k = 0; k < c->n; k++)
        most = fmax(most, ((double)c->e[k] - num * c->at[with][k]) / c->at[i][k]);
    if (i == 0) /* a number alone is as large as it must be */
        return most < 1 << 30 ? (int)ceil(most) : 0;
    if (most <= 16)
        return (int)ceil(most);
    while (factor < most && factor <= MOST_FACTOR)
        factor *= 2;
    return factor <= MOST_FACTOR ? factor : 0;
}

/* How much more than what is touched it is at all points, as the mean of quotients; above `best` it does not
 * matter how much. */
static double excess(const struct covering *c, size_t i, int a, size_t k, int b, double best)
{
    double sum = 0, touched = 0;

    for (size_t n = 0; n < c->n && sum <= best * (double)c->n; n++) {
        if (c->e[n] == 0)
            continue;
        sum += (a * c->at[i][n] + b * c->at[k][n]) / (double)c->e[n];
        touched++;
    }
    return sum / fmax(touched, 1);
}

bool probe_cover(const struct probing *p, size_t n, const int64_t *e, struct probe_extent *x)
{
    struct covering *c = arena_new(p->arena, struct covering);
    double best = INFINITY;

    *c = (struct covering){.p = p, .n = n, .e = e};
    if (n && p->n_dims < 16)
        covering_products(c);
    for (size_t i = 0; i < c->n_products; i++) {
        const int a = factor_of(c, i, 0, 0);
        const double more = a ? excess(c, i, a, 0, 0, best) : INFINITY;
        if (more + 0.01 * a >= best)
            continue;
        best = more + 0.01 * a;
        *x = (struct probe_extent){.form = PROBE_PRODUCT, .a = c->m[i], .most = -1};
        x->a.num = a;
    }
    for (size_t i = 1; i < c->n_products; i++) { /* a second one must be worth it */
        for (size_t k = 0; k < i; k++) {
            for (int a = 1; a <= MOST_FACTOR; a *= 2) {
                const int b = factor_of(c, k, a, i);
                const double more = b ? 1.1 * excess(c, i, a, k, b, best) + 0.01 * MIN(a, 16) : INFINITY;
                if (more >= best)
                    continue;
                best = more;
                *x = (struct probe_extent){.form = PROBE_SUM, .a = c->m[i], .b = c->m[k], .most = -1};
                x->a.num = a;
                x->b.num = b;
            }
        }
    }
    return best < INFINITY;
}

bool probe_uses(const struct probe_extent *x, size_t dim)
{
    return (x->form != PROBE_NONE && (x->a.power[dim] || x->a.by == (int)dim)) ||
           (x->form >= PROBE_ROWS && (x->b.power[dim] || (x->form == PROBE_ROWS && x->size == (int)dim)));
}

bool probe_is_one(const struct probe_product *m)
{
    for (size_t i = 0; i < PROBE_DIMS; i++) {
        if (m->power[i])
            return false;
    }
    return m->num + m->more == 1;
}

bool probe_is_constant(const struct probe_extent *x)
{
    for (size_t i = 0; i < PROBE_DIMS; i++) {
        if (probe_uses(x, i))
            return false;
    }
    return x->form == PROBE_PRODUCT;
}

/* ---- as text */

static void add_product(const struct probing *p, const struct probe_product *m, const char *between,
                        struct str *out)
{
    int num = m->num, den = m->den, last = -1;
    const size_t before = out->len;

    for (size_t i = 0; i < p->n_dims; i++)
        last = m->power[i] ? (int)i : last;
    for (size_t i = 0; i < p->n_dims; i++) {
        for (int k = 0; k < m->power[i]; k++) {
            bool end = (int)i == last && k + 1 == m->power[i];
            str_add(out, out->len > before ? between : "");
            if (end && num != 1)
                str_addf(out, "%d * ", num);
            if (m->up == (int)i && !(k == 0 && m->plain))
                str_addf(out, "((%s + %d) / %d)", p->t->dims.v[i], m->step - 1, m->step);
            else
                str_add(out, p->t->dims.v[i]);
            if (end && den != 1)
                str_addf(out, " / %d", den);
            if (end && m->by >= 0)
                str_addf(out, " / %s", p->t->dims.v[m->by]);
            if (end && m->more)
                str_addf(out, " + %d", m->more);
        }
    }
    if (last < 0)
        str_addf(out, "%d", MAX(num + m->more, 1));
}

/* Does the divisor divide what the last size is a multiple of? Else only the product is divisible. */
static bool divides_last(const struct probing *p, const struct probe_product *m)
{
    int64_t unit = m->num;

    for (size_t i = p->n_dims; i-- > 0;) {
        if (!m->power[i])
            continue;
        unit *= m->up == (int)i ? 1 : p->setting.unit[i];
        break;
    }
    return unit % m->den == 0;
}

char *probe_shape(const struct probing *p, const struct probe_product *m, const char *first)
{
    struct str out = {0};
    bool one = m->num + m->more <= 1;

    for (size_t i = 0; i < p->n_dims; i++)
        one = one && !m->power[i];
    if (first)
        str_addf(&out, "%s%s", first, one ? "" : ", ");
    if (!first || !one)
        add_product(p, m, divides_last(p, m) ? ", " : " * ", &out);
    return str_take(&out, p->arena);
}

char *probe_text(const struct probing *p, const struct probe_product *m)
{
    struct str out = {0};

    add_product(p, m, " * ", &out);
    return str_take(&out, p->arena);
}

char *probe_extent_shape(const struct probing *p, const struct probe_extent *x)
{
    if (x->form == PROBE_ROWS)
        return arena_printf(p->arena, "%s, %s", probe_shape(p, &x->a, NULL), p->t->dims.v[x->size]);
    if (x->form == PROBE_SUM)
        return arena_printf(p->arena, "%s + %s", probe_text(p, &x->a), probe_text(p, &x->b));
    return probe_shape(p, &x->a, NULL);
}
