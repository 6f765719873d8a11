/* rng: reproducible random numbers. rng_hash gives the value at a place without a state, so that element i of a
 * buffer is the same whether the buffer is filled whole or page by page. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

#include "err.h"

struct rng {
    uint64_t state;
};

static inline uint64_t rng_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static inline uint64_t rng_hash(uint64_t seed, uint64_t index)
{
    return rng_mix(seed * 0x9e3779b97f4a7c15ull + rng_mix(index + 0x632be59bd9b4e019ull));
}

static inline uint64_t rng_next(struct rng *r)
{
    return rng_mix(r->state += 0x9e3779b97f4a7c15ull);
}

static inline double rng_unit_of(uint64_t bits) /* [0, 1) */
{
    return (double)(bits >> 11) * 0x1p-53;
}

static inline double rng_unit(struct rng *r)
{
    return rng_unit_of(rng_next(r));
}

static inline uint64_t rng_below(struct rng *r, uint64_t n) /* [0, n), n > 0 */
{
    return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

double rng_normal_of(uint64_t bits); /* N(0,1) from one 64-bit hash */
double rng_normal(struct rng *r);
/* The system's, never 0, exact in every reader of JSON. */
bool rng_fresh_seed(uint64_t *seed, struct err *err);

#endif
