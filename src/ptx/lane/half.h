/* half: f16 and bf16 numbers as their bits, one lane at a time. Every function is branch-free enough for the
 * compiler to vectorise a loop of 32 lanes over it, and gives the same bits whatever instruction set it is
 * compiled for. Arithmetic rounds once, to nearest even; a NaN result is the canonical one, as on the machine.
 */
#ifndef PTX_HALF_H
#define PTX_HALF_H

#include <stdbool.h>

#include "bits.h"

#define HALF_NAN 0x7fffu /* canonical, both formats */
/* ---- widening: exact, NaN becomes the canonical f32 NaN ---- */

static inline float half_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, mag = h & 0x7fff;
    /* Subnormals come out right because the multiplication is exact. */
    uint32_t u = bits_f32(f32_of(mag << 13) * 0x1p112f);
    u = mag >= 0x7c00 ? mag << 13 | 0x7f800000 : u;
    return f32_of(mag > 0x7c00 ? F32_NAN : u | sign);
}

static inline float half_bf16_to_f32(uint16_t h)
{
    return f32_of((h & 0x7fff) > 0x7f80 ? F32_NAN : (uint32_t)h << 16);
}

/* ---- narrowing from f32 ---- */

static inline uint16_t half_f16_from_f32(float f)
{
    uint32_t u = bits_f32(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;
    /* Below 2^-14 the sum with 0.5 leaves the quantum 2^-24 in the last bit, rounded by the addition itself. */
    uint32_t low = bits_f32(f32_of(mag) + 0.5f) - 0x3f000000;
    uint32_t normal = (mag + 0xfff + (mag >> 13 & 1) - 0x38000000) >> 13;
    uint32_t r = mag < 0x38800000 ? low : normal;
    r = mag >= 0x477ff000 ? 0x7c00 : r; /* 65520 and above */
    return mag > 0x7f800000 ? HALF_NAN : (uint16_t)(r | sign);
}

static inline uint16_t half_f16_from_f32_rz(float f)
{
    uint32_t u = bits_f32(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;
    uint32_t low = (uint32_t)(f32_of(mag < 0x38800000 ? mag : 0) * 0x1p24f);
    uint32_t r = mag < 0x38800000 ? low : (mag - 0x38000000) >> 13;
    r = mag >= 0x47800000 ? 0x7bff : r;
    r = mag == 0x7f800000 ? 0x7c00 : r;
    return mag > 0x7f800000 ? HALF_NAN : (uint16_t)(r | sign);
}

static inline uint16_t half_bf16_from_f32(float f)
{
    uint32_t u = bits_f32(f);
    return (u & 0x7fffffff) > 0x7f800000 ? HALF_NAN : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline uint16_t half_bf16_from_f32_rz(float f)
{
    uint32_t u = bits_f32(f);
    return (u & 0x7fffffff) > 0x7f800000 ? HALF_NAN : (uint16_t)(u >> 16);
}

/* ---- narrowing from f64, rounding once ---- */

/* d rounded to nearest even at the precision of a format: `mantissa` stored bits, smallest normal exponent
 * `emin`. */
static inline double half_quantise(double d, int mantissa, int emin)
{
    int64_t e = (int64_t)(bits_f64(d) >> 52 & 0x7ff) - 1023;
    e = e < emin ? emin : e;
    /* Adding 1.5 * 2^52 quanta leaves no bits below the quantum; e is far below overflow for every finite
     * result. */
    double c = f64_of((uint64_t)(e - mantissa + 52 + 1023) << 52 | 1ull << 51);
    return (d + c) - c;
}

static inline double half_truncate(double d, int mantissa, int emin)
{
    int64_t e = (int64_t)(bits_f64(d) >> 52 & 0x7ff) - 1023;
    e = e < emin ? emin : e;
    double c = f64_of((uint64_t)(e - mantissa + 52 + 1023) << 52 | 1ull << 51);
    double q = f64_of((uint64_t)(e - mantissa + 1023) << 52), r = (d + c) - c;
    r = r > d && d > 0 ? r - q : r;
    return r < d && d < 0 ? r + q : r;
}

/* Bits of a value that the format represents exactly, or that overflowed. */
static inline uint16_t half_f16_pack(double r, double from)
{
    uint16_t sign = (uint16_t)(bits_f64(from) >> 48 & 0x8000);
    return (uint16_t)((half_f16_from_f32((float)r) & 0x7fff) | sign);
}

static inline uint16_t half_f16_from_f64(double d)
{
    if (!(d < 0x1p17 && d > -0x1p17))
        return half_f16_from_f32((float)d);
    return half_f16_pack(half_quantise(d, 10, -14), d);
}

static inline uint16_t half_f16_from_f64_rz(double d)
{
    double a = d < 0 ? -d : d;
    if (a >= 65504.0 && a < 1.0 / 0.0)
        return d > 0 ? 0x7bff : 0xfbff;
    if (!(a < 65504.0))
        return half_f16_from_f32((float)d);
    return half_f16_pack(half_truncate(d, 10, -14), d);
}

static inline uint16_t half_bf16_from_f64(double d)
{
    double a = d < 0 ? -d : d;
    /* The quantised value is exact in f32, or beyond its largest number and then becomes infinite. */
    double r = a < 0x1p129 ? half_quantise(d, 7, -126) : d;
    uint16_t sign = (uint16_t)(bits_f64(d) >> 48 & 0x8000);
    return d != d ? HALF_NAN : (uint16_t)((half_bf16_from_f32((float)r) & 0x7fff) | sign);
}

static inline uint16_t half_bf16_from_f64_rz(double d)
{
    double a = d < 0 ? -d : d;
    uint16_t sign = (uint16_t)(bits_f64(d) >> 48 & 0x8000);
    if (d != d)
        return HALF_NAN;
    if (a >= 0x1p128)
        return (uint16_t)((a > 0x1.fffffffffffffp1023 ? 0x7f80 : 0x7f7f) | sign);
    return (uint16_t)((half_bf16_from_f32((float)half_truncate(d, 7, -126)) & 0x7fff) | sign);
}

/* ---- round to odd: an inexact result keeps a trace in its last bit, so that rounding again rounds once ----
 */

static inline float half_sum_odd_f32(float a, float b)
{
    float s = a + b, t = s - a;
    float e = (a - (s - t)) + (b - t);
    uint32_t u = bits_f32(s);
    bool up = (e > 0) == (s > 0);
    if (e != 0 && e == e && !(u & 1))
        u += up ? 1u : ~0u;
    return f32_of(u);
}

static inline double half_sum_odd_f64(double a, double b)
{
    double s = a + b, t = s - a;
    double e = (a - (s - t)) + (b - t);
    uint64_t u = bits_f64(s);
    bool up = (e > 0) == (s > 0);
    if (e != 0 && e == e && !(u & 1))
        u += up ? 1ull : ~0ull;
    return f64_of(u);
}

/* ---- modifiers ---- */

static inline uint16_t half_f16_ftz(uint16_t h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}

static inline uint16_t half_f16_sat(uint16_t h) /* to [0, 1], NaN to +0 */
{
    return h & 0x8000 || h > 0x7c00 ? 0 : (uint16_t)MIN(h, 0x3c00);
}

static inline uint16_t half_bf16_sat(uint16_t h)
{
    return h & 0x8000 || h > 0x7f80 ? 0 : (uint16_t)MIN(h, 0x3f80);
}

static inline uint16_t half_f16_relu(uint16_t h) /* negative to +0, NaN to the canonical one */
{
    uint16_t r = h & 0x8000 ? 0 : h;
    return (h & 0x7fff) > 0x7c00 ? HALF_NAN : r;
}

static inline uint16_t half_bf16_relu(uint16_t h)
{
    uint16_t r = h & 0x8000 ? 0 : h;
    return (h & 0x7fff) > 0x7f80 ? HALF_NAN : r;
}

/* ---- arithmetic ---- */

/* f32 holds the exact product of two f16 and 2 * 11 + 2 bits of any sum, so that rounding twice does no harm.
 */
static inline uint16_t half_f16_add(uint16_t a, uint16_t b)
{
    return half_f16_from_f32(half_f16_to_f32(a) + half_f16_to_f32(b));
}

static inline uint16_t half_f16_sub(uint16_t a, uint16_t b)
{
    return half_f16_from_f32(half_f16_to_f32(a) - half_f16_to_f32(b));
}

static inline uint16_t half_f16_mul(uint16_t a, uint16_t b)
{
    return half_f16_from_f32(half_f16_to_f32(a) * half_f16_to_f32(b));
}

static inline uint16_t half_f16_fma(uint16_t a, uint16_t b, uint16_t c)
{
    return half_f16_from_f32(half_sum_odd_f32(half_f16_to_f32(a) * half_f16_to_f32(b), half_f16_to_f32(c)));
}

/* bf16 has the exponents of f32: f64 keeps products exact where f32 would underflow. */
static inline uint16_t half_bf16_add(uint16_t a, uint16_t b)
{
    return half_bf16_from_f32(half_bf16_to_f32(a) + half_bf16_to_f32(b));
}

static inline uint16_t half_bf16_sub(uint16_t a, uint16_t b)
{
    return half_bf16_from_f32(half_bf16_to_f32(a) - half_bf16_to_f32(b));
}

static inline uint16_t half_bf16_mul(uint16_t a, uint16_t b)
{
    return half_bf16_from_f64((double)half_bf16_to_f32(a) * (double)half_bf16_to_f32(b));
}

static inline uint16_t half_bf16_fma(uint16_t a, uint16_t b, uint16_t c)
{
    double p = (double)half_bf16_to_f32(a) * (double)half_bf16_to_f32(b);
    return half_bf16_from_f64(half_sum_odd_f64(p, (double)half_bf16_to_f32(c)));
}

/* e5m2 is the high byte of an f16; e4m3 is one with eight less in its exponent, without infinities. */
static inline float half_fp8_to_f32(uint8_t v, bool e5m2)
{
    if (e5m2)
        return half_f16_to_f32((uint16_t)(v << 8));
    if ((v & 0x7f) == 0x7f)
        return f32_of(F32_NAN);
    return half_f16_to_f32((uint16_t)((v & 0x80) << 8 | (v & 0x7f) << 7)) * 256;
}

/* Order of the bits as a signed number, -0 below +0; NaN sorts outside and is handled by the caller. */
static inline int32_t half_key(uint16_t h)
{
    return h & 0x8000 ? -(int32_t)(h & 0x7fff) - 1 : (int32_t)h;
}

/* inf: the format's infinity (0x7c00 or 0x7f80). nan: either NaN gives NaN; else the number wins. xorsign: the
 * larger or smaller magnitude under the product of the signs. */
static inline uint16_t half_min_max(uint16_t a, uint16_t b, uint16_t inf, bool max, bool nan, bool xorsign)
{
    uint16_t sign = xorsign ? (a ^ b) & 0x8000 : 0, keep = xorsign ? 0x7fff : 0xffff;
    uint16_t x = a & keep, y = b & keep;
    bool an = (a & 0x7fff) > inf, bn = (b & 0x7fff) > inf;
    uint16_t r = (half_key(x) > half_key(y)) == max ? x : y;
    r = bn ? x : r;
    r = an ? y : r;
    return (an && bn) || (nan && (an || bn)) ? HALF_NAN : r | sign;
}

#endif
