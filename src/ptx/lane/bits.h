/* bits: what becomes of floating results, by their bits (base/bits.h). All of it vectorises. */
#ifndef PTX_BITS_H
#define PTX_BITS_H

#include "base/base.h"

#define F32_NAN 0x7fffffffu /* the canonical one, as its bits */

static inline float f32_canon(float x) /* any NaN becomes the canonical one */
{
    uint32_t b = bits_f32(x);
    return f32_of((b & 0x7fffffff) > 0x7f800000 ? F32_NAN : b);
}

static inline double f64_canon(double x)
{
    return f64_of(x != x ? 0x7fffffffffffffffull : bits_f64(x));
}

static inline float f32_flush(float x) /* subnormals to zero of the same sign */
{
    uint32_t b = bits_f32(x);
    return f32_of(b & 0x7f800000 ? b : b & 0x80000000);
}

static inline float f32_saturate(float x) /* to [0, 1]; NaN gives 0 */
{
    return MIN(MAX(x, 0), 1);
}

static inline double f64_saturate(double x)
{
    return MIN(MAX(x, 0), 1);
}

#endif
