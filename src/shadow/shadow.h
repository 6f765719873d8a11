/* shadow: beside the values of a launch, others. Shadow values are what floating values would be in double; a
 * stochastic launch rounds up or down by chance. (No sanitizer's shadow memory: that is in sanitize/.) */
#ifndef SHADOW_SHADOW_H
#define SHADOW_SHADOW_H

#include "ptx/ptx.h"

/* ---- shadow values (docs/simulator.md) ---- */

/* Of one memory, from launch to launch. With it, calls of the undefined functions astra_f32_NAME and
 * astra_f64_NAME (share/shadow.cuh) are mathematics. */
struct ptx_shadow;
struct ptx_shadow *ptx_shadow_open(void);
/* Carries another number in the place of the real value, of the terms of which it is the sum (shadow_terms.c):
 * of those that were computed the sum of the squares, or the largest square; or the sum of the sizes of all,
 * what is added in double counting 2^-29 times. ptx_shadow_read gives it. smallest: the smallest normal number
 * of the type that terms may be rounded to. */
enum ptx_terms { PTX_TERMS_NONE, PTX_TERMS_SQUARES, PTX_TERMS_LARGEST, PTX_TERMS_SIZES, N_PTX_TERMS };
struct ptx_shadow *ptx_shadow_open_terms(double smallest, enum ptx_terms terms);
void ptx_shadow_close(struct ptx_shadow *s);                    /* takes NULL */
struct ptx_observer *ptx_shadow_observer(struct ptx_shadow *s); /* for ptx_options; takes NULL and gives it */
enum ptx_real { PTX_F16, PTX_BF16, PTX_F32, PTX_F64 };
/* n elements at addr, in one allocation whose bytes were read before: in double; lost: an integer instruction
 * made the value, or one it came from, and the double starts from its bits there. */
void ptx_shadow_read(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t addr, enum ptx_real type, size_t n,
                     double *to, bool *lost);
/* What others do to the memory between launches: bytes copied, bytes set. */
void ptx_shadow_copy(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t to, uint64_t from, size_t bytes);
void ptx_shadow_set(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t to, size_t bytes);

/* ---- stochastic rounding ---- */

struct stochastic {
    struct ptx_observer observer;
    uint64_t rng;
};
/* For ptx_options: floating results round up or down by chance, from this seed; the same seed, the same
 * results. NULL when it is 0. */
struct ptx_observer *stochastic_on(struct stochastic *s, uint64_t seed);

/* ---- signed overflow ---- */

struct overflow {
    struct ptx_observer observer;
    bool seen; /* a signed sum, difference or product that its type does not hold */
};
/* For ptx_options; takes NULL and gives it. */
struct ptx_observer *overflow_on(struct overflow *o);

#endif
