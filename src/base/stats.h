/* stats: small statistics on arrays of double. All take n >= 1 unless said; quantiles interpolate linearly. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

double stats_quantile(const double *x, size_t n, double q); /* does not reorder x; NAN when n == 0 */
double stats_median(const double *x, size_t n);             /* NAN when n == 0 */
double stats_geomean(const double *x, size_t n);            /* x > 0; NAN when n == 0 */
/* 95 % percentile-bootstrap interval of the median. */
void stats_bootstrap_median(const double *x, size_t n, uint64_t seed, double *low, double *high);

#endif
