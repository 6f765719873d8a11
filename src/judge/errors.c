/* How far an answer is from the exact one, and the statistics of that. */
#include "errors.h"
#include "rule.h"

enum { BEYOND = 9 }; /* errors above the 99th percentile at least, or it is the luck of one */

struct format {
    int digits, max_exponent;
};

static struct format format_of(enum kernel_type t)
{
    static const struct format formats[] = {[KT_VOID] = {53, 127},
                                            [KT_F16] = {11, 15},
                                            [KT_BF16] = {8, 127},
                                            [KT_F32] = {24, 127},
                                            [KT_F64] = {53, 1023}};

    return formats[type_is_floating(t) ? t : KT_VOID];
}

/* 2^n; millions are asked for, most of them normal. */
static double power_of_two(int n)
{
    return n >= -1022 && n <= 1023 ? f64_of((uint64_t)(n + 1023) << 52) : ldexp(1, n);
}

/* Zero and what is below the normal numbers of double have the least exponent of all. */
static int exponent_of(double v)
{
    return (int)(bits_f64(v) >> 52 & 2047) - 1023;
}

double error_ulp(enum kernel_type t, double v)
{
    const struct format f = format_of(t);

    return power_of_two(CLAMP(exponent_of(v), 1 - f.max_exponent, f.max_exponent) - (f.digits - 1));
}

/* A number beyond the type's range counts as the first one that does not fit: an answer next to the edge may
 * fall on either side of it. The exact answer does so where inf stands: the largest number is none for what is
 * far beyond. */
static double within_range(enum kernel_type t, double v)
{
    if (t == KT_F64)
        return v;
    double edge = power_of_two(format_of(t).max_exponent + 1);
    return CLAMP(v, -edge, edge);
}

static double apart(enum kernel_type t, double got, double exact)
{
    bool beyond = within_range(t, got) != got;

    return fabs(within_range(t, got) - (beyond ? within_range(t, exact) : exact));
}

/* Compiled with flush-to-zero, what is below the smallest normal number becomes zero at some step, and which
 * step that is says nothing about precision. A little above it an answer may still have been flushed on the
 * way. */
static bool flushed(enum kernel_type t, double got, double exact)
{
    return (t == KT_F32 || t == KT_BF16) && fabs(got) < 0x1p-126 * (1 + 0x1p-8) &&
           fabs(exact) < 0x1p-126 * (1 + 0x1p-8);
}

static double distance(enum kernel_type t, unsigned in_force, double got, double exact)
{
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (isinf(exact))
        return got == exact ? 0 : INFINITY;
    if (!(in_force >> RULE_EDGE & 1))
        return fabs(got - exact) / error_ulp(t, exact);
    return apart(t, got, exact) / error_ulp(t, exact);
}

double error_units(enum kernel_type type, double ulps, double exact, double least)
{
    double ulp = error_ulp(type, exact);

    return least > ulp ? ulps * (ulp / least) : ulps; /* INFINITY stays what it is */
}

double error_ulps(enum kernel_type type, unsigned in_force, double got, double exact, double orig)
{
    unsigned char rounded[8];
    double own, inside = power_of_two(format_of(type).max_exponent);

    if (in_force >> RULE_FLUSHED & 1 && flushed(type, got, exact))
        return 0;
    if (fabs(got) < inside && fabs(exact) < inside && fabs(orig) < inside) /* nearly always */
        return fabs(got - exact) / error_ulp(type, exact);
    task_from_double(type, exact, rounded);
    double e = task_to_double(type, rounded);
    /* Where the original gives NaN or inf and the exact answer does not, or the other way round, the original's
     * answer is as right as the exact one: it is what callers have. */
    if (!(in_force >> RULE_SPECIAL & 1) || (isfinite(e) == isfinite(orig) && isnan(e) == isnan(orig)))
        return distance(type, in_force, got, exact);
    own = distance(type, in_force, got, orig);
    return MIN(own, distance(type, in_force, got, exact));
}

double error_absolute(enum kernel_type type, double got, double exact, double orig)
{
    if (got == orig || isnan(got))
        return 0; /* NaN in its place; elsewhere error_ulps has said so */
    return isinf(exact) ? 0 : apart(type, got, exact);
}

void error_see(struct error_pool *p, enum kernel_type type, double got, double exact)
{
    p->absolute = fmax(p->absolute, isfinite(got) ? error_absolute(type, got, exact, NAN) : 0);
}

void error_lean(struct error_pool *p, double ulps, double got, double exact)
{
    const double nearest = 0.5 + 0x1p-4; /* and what arithmetic before the rounding may have moved it */

    if (ulps > nearest) {
        p->down += got < exact ? 1 : -1;
        p->inward += fabs(got) < fabs(exact) ? 1 : -1;
    }
}

void error_add(struct error_pool *p, double units, double judged, struct error_place at)
{
    size_t bucket = 0;

    while (bucket < ARRAY_LEN(trial_ulp_edges) && units > trial_ulp_edges[bucket])
        bucket++;
    p->histogram[bucket]++;
    p->n_excused += judged < units;
    p->largest = fmax(p->largest, units);
    vec_push(&p->errors, judged);
    if (judged > p->max || p->errors.n == 1) {
        p->max = judged;
        p->worst = at;
    }
}

/* The k-th smallest, by Hoare's FIND; reorders x, which holds no NAN. Those below `from` are smaller already.
 */
static double nth(double *x, size_t from, size_t n, size_t nth_smallest)
{
    ptrdiff_t low = (ptrdiff_t)from, high = (ptrdiff_t)n - 1, k = (ptrdiff_t)nth_smallest;

    while (low < high) {
        double pivot = x[k];
        ptrdiff_t i = low, j = high;
        do {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i <= j) {
                double t = x[i];
                x[i++] = x[j];
                x[j--] = t;
            }
        } while (i <= j);
        if (j < k)
            low = i;
        if (k < i)
            high = j;
    }
    return x[k];
}

struct error_stats error_stats(struct error_pool *p)
{
    size_t n = p->errors.n;
    struct error_stats s = {.absolute = p->absolute};

    if (n == 0)
        return s;
    s.p50 = nth(p->errors.v, 0, n, n / 2);
    s.p99 = nth(p->errors.v, n / 2, n, MIN(n * 99 / 100, n - 1 - MIN(BEYOND, (n - 1) / 2)));
    s.max = p->max;
    s.largest = p->largest;
    s.drift = fmax(fabs((double)p->down), fabs((double)p->inward)) / (double)n;
    s.n = n;
    s.n_excused = p->n_excused;
    s.worst = p->worst;
    memcpy(s.histogram, p->histogram, sizeof(s.histogram));
    return s;
}

void error_spread(const struct error_stats *s, struct trial_spread *to)
{
    *to = (struct trial_spread){.at = {s->p50, s->p99, s->largest}, .drift = s->drift};
    memcpy(to->histogram, s->histogram, sizeof(to->histogram));
}
