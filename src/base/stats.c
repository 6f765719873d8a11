#include "base/base.h"

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double sorted_quantile(const double *s, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;

    return i + 1 < n ? s[i] + (at - (double)i) * (s[i + 1] - s[i]) : s[n - 1];
}

double stats_quantile(const double *x, size_t n, double q)
{
    double *s, r;

    if (n == 0)
        return NAN;
    s = mem_alloc(n * sizeof(*s));
    memcpy(s, x, n * sizeof(*s));
    qsort(s, n, sizeof(*s), compare_double);
    r = sorted_quantile(s, n, q);
    free(s);
    return r;
}

double stats_median(const double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

double stats_geomean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += log(x[i]);
    return n ? exp(sum / (double)n) : NAN;
}

void stats_bootstrap_median(const double *x, size_t n, uint64_t seed, double *low, double *high)
{
    enum { RESAMPLES = 1000 };
    double medians[RESAMPLES], *draw = mem_alloc(n * sizeof(*draw));
    struct rng rng = {seed};

    for (int r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < n; i++)
            draw[i] = x[rng_below(&rng, n)];
        medians[r] = stats_median(draw, n);
    }
    free(draw);
    qsort(medians, RESAMPLES, sizeof(*medians), compare_double);
    *low = sorted_quantile(medians, RESAMPLES, 0.025);
    *high = sorted_quantile(medians, RESAMPLES, 0.975);
}
