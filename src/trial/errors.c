/* How far an answer is from the exact one: the rule of docs/integrity.md, row 10. */
#include "internal.h"

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

static double ulp(enum kernel_type t, double v)
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

static double distance(enum kernel_type t, double got, double exact)
{
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (isinf(exact))
        return got == exact ? 0 : INFINITY;
    return fabs(within_range(t, got) - within_range(t, exact)) / ulp(t, exact);
}

double error_ulps(enum kernel_type type, double got, double exact, double orig)
{
    unsigned char rounded[8];
    double own;

    task_from_double(type, exact, rounded);
    double e = task_to_double(type, rounded);
    /* Where the original gives NaN or inf and the exact answer does not, or the other way round, the original's
     * answer is as right as the exact one: it is what callers have. */
    if (isfinite(e) == isfinite(orig) && isnan(e) == isnan(orig))
        return distance(type, got, exact);
    own = distance(type, got, orig);
    return MIN(own, distance(type, got, exact));
}

void error_add(struct error_pool *p, double ulps, size_t in_case, size_t element)
{
    vec_push(&p->errors, ulps);
    if (ulps > p->max || p->errors.n == 1) {
        p->max = ulps;
        p->worst_case = in_case;
        p->worst_element = element;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct error_stats error_stats(struct error_pool *p)
{
    size_t n = p->errors.n;

    if (n == 0)
        return (struct error_stats){0};
    qsort(p->errors.v, n, sizeof(*p->errors.v), ascending);
    return (struct error_stats){.p50 = p->errors.v[n / 2],
                                .p99 = p->errors.v[MIN(n - 1, n * 99 / 100)],
                                .max = p->errors.v[n - 1],
                                .n = n,
                                .worst_case = p->worst_case,
                                .worst_element = p->worst_element};
}

void error_floors(enum kernel_type type, double tolerance, double floors[3])
{
    static const double half[] = {1, 1, 2}, single[] = {4, 8, 16};

    for (int i = 0; i < 3; i++) {
        floors[i] = type == KT_F16 || type == KT_BF16 ? half[i] : single[i];
        if (tolerance > floors[i]) /* false for NAN */
            floors[i] = tolerance;
    }
}
