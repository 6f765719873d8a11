#include "base/base.h"

double rng_normal_of(uint64_t bits)
{
    /* Box-Muller on the two halves; the first is kept away from zero. */
    double u = ((double)(uint32_t)(bits >> 32) + 1) * 0x1p-32, v = (double)(uint32_t)bits * 0x1p-32;

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

double rng_normal(struct rng *r)
{
    return rng_normal_of(rng_next(r));
}
