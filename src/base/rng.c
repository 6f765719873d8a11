#include "base/base.h"

#include <errno.h>
#include <sys/random.h>

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

bool rng_fresh_seed(uint64_t *seed, struct err *err)
{
    if (getrandom(seed, sizeof(*seed), 0) != sizeof(*seed))
        return err_world(err, "the system gives no random numbers: %s", strerror(errno));
    *seed = 1 + (*seed >> 11);
    return true;
}
