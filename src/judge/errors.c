/* How far an answer is from the exact one: the rule of docs/integrity.md, row 10. */
#include "internal.h"

enum {
    ERROR_CAP = 1024, /* times the floor */
    BEYOND = 9        /* errors above the 99th percentile at least, or it is the luck of one */
};

bool type_is_floating(enum kernel_type t)
{
    return t == KT_F16 || t == KT_BF16 || t == KT_F32 || t == KT_F64;
}

static void format_of(enum kernel_type t, int *digits, int *min_exponent, int *max_exponent)
{
    *digits = t == KT_F16 ? 11 : t == KT_BF16 ? 8 : t == KT_F32 ? 24 : 53;
    *max_exponent = t == KT_F16 ? 15 : t == KT_F64 ? 1023 : 127;
    *min_exponent = 1 - *max_exponent;
}

double error_ulp(enum kernel_type t, double v)
{
    int digits, low, high, e;

    format_of(t, &digits, &low, &high);
    e = v == 0 ? low : ilogb(v);
    return ldexp(1, MAX(MIN(e, high), low) - (digits - 1));
}

/* A number beyond the type's range counts as the first one that does not fit: an answer next to the edge may
 * fall on either side of it. */
static double within_range(enum kernel_type t, double v)
{
    int digits, low, high;

    format_of(t, &digits, &low, &high);
    if (t == KT_F64)
        return v;
    double edge = ldexp(1, high + 1);
    return v > edge ? edge : v < -edge ? -edge : v;
}

/* Compiled with flush-to-zero, what is below the smallest normal number becomes zero at some step, and which
 * step that is says nothing about precision. A little above it an answer may still have been flushed on the
 * way. */
static bool flushed(enum kernel_type t, double got, double exact)
{
    return (t == KT_F32 || t == KT_BF16) && fabs(got) < 0x1p-126 * (1 + 0x1p-8) &&
           fabs(exact) < 0x1p-126 * (1 + 0x1p-8);
}

static double distance(enum kernel_type t, double got, double exact)
{
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (isinf(exact))
        return got == exact ? 0 : INFINITY;
    return fabs(within_range(t, got) - within_range(t, exact)) / error_ulp(t, exact);
}

double error_ulps(enum kernel_type type, bool ftz, double got, double exact, double orig)
{
    unsigned char rounded[8];
    double own;

    if (ftz && flushed(type, got, exact))
        return 0;
    task_from_double(type, exact, rounded);
    double e = task_to_double(type, rounded);
    /* Where the original gives NaN or inf and the exact answer does not, or the other way round, the original's
     * answer is as right as the exact one: it is what callers have. */
    if (isfinite(e) == isfinite(orig) && isnan(e) == isnan(orig))
        return distance(type, got, exact);
    own = distance(type, got, orig);
    return MIN(own, distance(type, got, exact));
}

double error_absolute(enum kernel_type type, double got, double exact, double orig)
{
    if (got == orig || isnan(got))
        return 0; /* NaN in its place; elsewhere error_ulps has said so */
    return isinf(exact) ? 0 : fabs(within_range(type, got) - within_range(type, exact));
}

double error_beyond_rounding(enum kernel_type type, double got, double exact)
{
    return isfinite(got) && isfinite(exact)
               ? fmax(fabs(within_range(type, got) - within_range(type, exact)) - error_ulp(type, exact) / 2, 0)
               : 0;
}

/* Where terms cancel, the largest error in ulps is that of the answer nearest to zero, and two versions of the
 * same precision differ in it by any factor. An original with an error above the floor has such answers. */
bool error_excused(enum kernel_type type, double tolerance, const struct error_stats *own, double got,
                   double exact)
{
    double least[3];

    error_allowed(type, tolerance, &(struct error_stats){0}, least);
    return own->max > least[2] && error_beyond_rounding(type, got, exact) <= 3 * own->noise;
}

bool error_is_ill(enum kernel_type type, double tolerance, double exact, double own_ulps)
{
    double allowed[3];

    error_allowed(type, tolerance, &(struct error_stats){0}, allowed);
    return exact == 0 || own_ulps > allowed[2] * ERROR_CAP;
}

void error_add(struct error_pool *p, double ulps, double got, double exact, size_t in_case, size_t element)
{
    const double nearest = 0.5 + 0x1p-4; /* and what arithmetic before the rounding may have moved it */
    size_t bucket = 0;

    while (bucket < ARRAY_LEN(trial_ulp_edges) && ulps > trial_ulp_edges[bucket])
        bucket++;
    p->histogram[bucket]++;
    if (ulps > nearest) {
        p->down += got < exact ? 1 : -1;
        p->inward += fabs(got) < fabs(exact) ? 1 : -1;
    }
    vec_push(&p->errors, ulps);
    if (ulps > p->max || p->errors.n == 1) {
        p->max = ulps;
        p->worst_case = in_case;
        p->worst_element = element;
    }
}

/* The k-th smallest, by Hoare's FIND; reorders x, which holds no NAN. */
static double nth(double *x, size_t n, size_t nth_smallest)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, k = (ptrdiff_t)nth_smallest;

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

    if (n == 0)
        return (struct error_stats){0};
    struct error_stats s = {.p50 = nth(p->errors.v, n, n / 2),
                            .p99 = nth(p->errors.v, n, MIN(n * 99 / 100, n - 1 - MIN(BEYOND, (n - 1) / 2))),
                            .max = p->max,
                            .drift = fmax(fabs((double)p->down), fabs((double)p->inward)) / (double)n,
                            .n = n,
                            .worst_case = p->worst_case,
                            .worst_element = p->worst_element};
    memcpy(s.histogram, p->histogram, sizeof(s.histogram));
    return s;
}

void error_spread(const struct error_stats *s, struct trial_spread *to)
{
    *to = (struct trial_spread){.at = {s->p50, s->p99, s->max}, .drift = s->drift};
    memcpy(to->histogram, s->histogram, sizeof(to->histogram));
}

void error_allowed(enum kernel_type type, double tolerance, const struct error_stats *own, double allowed[3])
{
    const double base[3] = {own->p50, own->p99, own->max};
    const double times = own->n ? 3 + 90.0 / (double)own->n : 3; /* a few elements may be right by luck */

    static const double half[] = {1, 1, 2}, single[] = {4, 8, 16};

    for (int i = 0; i < 3; i++) {
        double least = type == KT_F16 || type == KT_BF16 ? half[i] : single[i];
        if (tolerance > least) /* false for NAN */
            least = tolerance;
        double cap =
            MAX(least * ERROR_CAP, i < 2 ? base[i] : 0); /* what most elements have cannot be too much */
        allowed[i] = MAX(least, MIN(times * base[i], cap));
    }
}

/* Cut off instead of rounded, an answer in a 16-bit type is less than one ulp off, as it may be, but always to
 * the same side: of random numbers 44 % of the elements, of sums of two of them 16 %. Rounding twice errs as
 * far and to both sides, with a surplus of 1.4 % at most. In wider types what comes before the last rounding
 * errs by more than that does, and so it does where the original's own errors are more than a rounding's. */
double error_allowed_drift(enum kernel_type type, double tolerance, const struct error_stats *own)
{
    if ((type != KT_F16 && type != KT_BF16) || !isnan(tolerance) || own->n == 0 || own->p99 > 1)
        return NAN;
    return fmax(3 * own->drift, 0.1 + 2 / sqrt((double)own->n));
}
