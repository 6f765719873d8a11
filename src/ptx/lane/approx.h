/* approx: the approximate instructions, one lane at a time. The exact value is computed in f64 and moved, by an
 * amount that only the input's bits decide, anywhere within the error that the PTX ISA allows; then it is
 * rounded. So a result is never better than a GPU promises, is the same on every machine, and code that passes
 * here does not lean on luck. Special values (zero, infinity, NaN, out of range) are the documented ones,
 * exact. The bounds, as relative error in units of 2^-24 unless said otherwise, leave room for the final
 * rounding (1 unit at most). */
#ifndef PTX_APPROX_H
#define PTX_APPROX_H

#include <math.h>

#include "half.h"

/* A number in [-1, 1) that the bits x decide. */
static inline double approx_noise(uint32_t x)
{
    x *= 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    x ^= x >> 13;
    return (double)(int32_t)x * 0x1p-31;
}

static inline float approx_f32(double exact, double units,
                               uint32_t from) /* `units` of relative noise, then rounded */
{
    float r = (float)(exact * (1.0 + units * 0x1p-24 * approx_noise(from)));
    return r != r ? f32_of(F32_NAN) : r;
}

/* 1 ulp. */
static inline float approx_rcp(float a)
{
    return approx_f32(1.0 / (double)a, 0.45, bits_f32(a));
}

/* 2^-23 relative. */
static inline float approx_sqrt(float a)
{
    double r = sqrt((double)a);
    return approx_f32(r, 0.95, bits_f32(a));
}

/* 2^-22.9 relative. */
static inline float approx_rsqrt(float a)
{
    double r = 1.0 / sqrt((double)a);
    return approx_f32(r, 1.1, bits_f32(a));
}

/* 2^x in f64 to about 2^-31; x clamped so that results outside f32 and f16 come out as 0 or infinity after
 * rounding. */
static inline double approx_exp2_f64(double x)
{
    x = x > 160.0 ? 160.0 : x;
    x = x < -200.0 ? -200.0 : x;
    double n = (x + 0x1.8p52) - 0x1.8p52, f = (x - n) * 0x1.62e42fefa39efp-1; /* ln 2 */
    double p = 1.0 / 40320;
    p = p * f + 1.0 / 5040;
    p = p * f + 1.0 / 720;
    p = p * f + 1.0 / 120;
    p = p * f + 1.0 / 24;
    p = p * f + 1.0 / 6;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    /* The low bits of x + 1.5 * 2^52 are n in two's complement. */
    return p * f64_of((bits_f64(n + 0x1.8p52) + 1023) << 52);
}

static inline bool approx_is_integral(double x) /* also of numbers too large to be anything else */
{
    return (x + 0x1.8p52) - 0x1.8p52 == x || x >= 0x1p51 || x <= -0x1p51;
}

/* 2 ulp. Whole numbers give exact powers: not documented, but the toolkit's own tanh and erf in f64 scale by
 * ex2.approx and would be wrong otherwise. +-0 and subnormals give exactly 1. */
static inline float approx_ex2(float a)
{
    uint32_t u = bits_f32(a);
    double r = approx_exp2_f64((double)a);
    r = a != a ? (double)a : r;
    return approx_f32(r, u & 0x7f800000 && !approx_is_integral((double)a) ? 1.45 : 0.0, u);
}

/* log2 of a positive finite number in f64 to about 2^-35. */
static inline double approx_log2_f64(double x)
{
    uint64_t u = bits_f64(x);
    int64_t e = (int64_t)((u + 0x95f6400000000) >> 52) - 1023; /* mantissa moved to [sqrt 1/2, sqrt 2) */
    double m = f64_of(u - ((uint64_t)e << 52)), s = (m - 1.0) / (m + 1.0), t = s * s;
    double p = 1.0 / 13;
    p = p * t + 1.0 / 11;
    p = p * t + 1.0 / 9;
    p = p * t + 1.0 / 7;
    p = p * t + 1.0 / 5;
    p = p * t + 1.0 / 3;
    p = p * t + 1.0;
    return (double)(int32_t)e + s * p * 0x1.71547652b82fep+1; /* 2 / ln 2 */
}

/* Absolute 2^-22 inside (0.5, 2), relative 2^-22 outside. */
static inline float approx_lg2(float a)
{
    double x = (double)a, y = approx_log2_f64(x > 0 ? x : 1.0);
    double room = (x > 0.5 && x < 2.0) ? 0.85 * 0x1p-22 : 2.9 * 0x1p-24 * fabs(y);
    room = room > 0.25 * fabs(y) ? 0.25 * fabs(y) : room;
    y += room * approx_noise(bits_f32(a));
    y = x == 0 ? -INFINITY : y;
    y = x == INFINITY ? INFINITY : y;
    float r = (float)y;
    return !(x >= 0) ? f32_of(F32_NAN) : r;
}

/* sin for quarter 0, cos for quarter 1: absolute 2^-20.5 within +-2 pi, 2^-14.7 within +-100 pi, and on at that
 * rate. */
static inline float approx_turn(float a, int quarter)
{
    double x = (double)a, size = fabs(x);
    double k = x * 0x1.45f306dc9c883p-1, n = (k + 0x1.8p52) - 0x1.8p52; /* 2 / pi */
    double r = x - n * 0x1.921fb54442d18p+0, t = r * r; /* to within 2^-52 * size, well below the noise */
    double s = 1.0 / 362880, c = 1.0 / 3628800;
    s = s * t - 1.0 / 5040;
    s = s * t + 1.0 / 120;
    s = s * t - 1.0 / 6;
    s = (s * t + 1.0) * r;
    c = 1.0 / 40320 - c * t;
    c = c * t - 1.0 / 720;
    c = c * t + 1.0 / 24;
    c = c * t - 0.5;
    c = c * t + 1.0;
    uint32_t q = (uint32_t)bits_f64(n + 0x1.8p52) + (uint32_t)quarter;
    double y = q & 1 ? c : s;
    y = q & 2 ? -y : y;
    double room = size * (0x1.3b2c48p-15 / 314.16), floor_ = 0.95 * 0x1.6a09e6p-21; /* 2^-14.7, 2^-20.5 */
    room = size < 6.2831855 ? floor_ : room;
    room = quarter == 0 && room > 0.25 * size ? 0.25 * size : room;
    room = quarter == 1 && size == 0 ? 0.0 : room;
    y += room * approx_noise(bits_f32(a) + (uint32_t)quarter);
    y = CLAMP(y, -1.0, 1.0);
    y = quarter == 0 && size == 0 ? x : y; /* sin -0 is -0 */
    return !(size < INFINITY) ? f32_of(F32_NAN) : (float)y;
}

static inline double approx_tanh_f64(double x)
{
    double e = approx_exp2_f64(x * 0x1.71547652b82fep+1); /* e^2x */
    double y = (e - 1.0) / (e + 1.0);
    y = x * x < 0x1p-20 ? x - x * x * x * (1.0 / 3) : y; /* where e - 1 cancels */
    y = fabs(x) > 20 ? copysign(1.0, x) : y;
    return x != x ? x : y;
}

/* 2^-11 relative. */
static inline float approx_tanh(float a)
{
    uint32_t u = bits_f32(a);
    double y = approx_tanh_f64((double)a), room = fabs((double)a) < INFINITY ? 0.99 * 0x1p-11 : 0;
    y *= 1.0 + room * approx_noise(u);
    y = a == 0 ? (double)a : CLAMP(y, -1.0, 1.0);
    return y != y ? f32_of(F32_NAN) : (float)y;
}

/* a * (1 / b): 2 ulp for |b| in [2^-126, 2^126]; beyond, 1 / b has flushed to zero, so inf / b is NaN. */
static inline float approx_div(float a, float b)
{
    float size = fabsf(b), r = approx_rcp(b);
    r = size > 0x1p126f ? copysignf(0.0f, b) : r;
    float q = a * r;
    return q != q ? f32_of(F32_NAN) : q;
}

/* 2 ulp over the full range. */
static inline float approx_div_full(float a, float b)
{
    return approx_f32((double)a / (double)b, 1.45, bits_f32(a) ^ (bits_f32(b) * 3));
}

/* The gross f64 forms see and give the upper 32 bits only; subnormals are zeros, NaN is 0x7fffffff00000000. */
static inline double approx_gross(double a, bool root)
{
    uint64_t u = bits_f64(a) & 0xffffffff00000000ull;
    u = u & 0x7ff0000000000000ull ? u : u & 1ull << 63;
    double x = f64_of(u), r = root ? 1.0 / sqrt(x) : 1.0 / x;
    uint64_t v = bits_f64(r);
    if (r != r || a != a)
        return f64_of(0x7fffffff00000000ull);
    if (fabs(r) < INFINITY && r != 0) /* either neighbour of 20 mantissa bits */
        v += approx_noise((uint32_t)(u >> 32)) < 0 ? 0xffffffffull : 0;
    v &= 0xffffffff00000000ull;
    return f64_of(v & 0x7ff0000000000000ull ? v : v & 1ull << 63);
}

/* 1 ulp in f64. */
static inline double approx_rsqrt_f64(double a)
{
    long double r = 1.0L / sqrtl((long double)a);
    uint64_t u = bits_f64(a);
    return (double)(r * (1.0L + 0.45L * 0x1p-53L * (long double)approx_noise((uint32_t)(u ^ u >> 32))));
}

/* ---- half types: rounded by way of f32, which costs nothing that the bounds would feel ---- */

/* 2^-9.9 relative. */
static inline uint16_t approx_ex2_f16(uint16_t a)
{
    float x = half_f16_to_f32(a);
    double room = approx_is_integral((double)x) ? 0.0 : 0.00055;
    return x != x ? HALF_NAN
                  : half_f16_from_f32((float)(approx_exp2_f64((double)x) * (1.0 + room * approx_noise(a))));
}

/* 2^-7 relative; subnormals in and out are zeros. */
static inline uint16_t approx_ex2_bf16(uint16_t a)
{
    float x = f32_flush(half_bf16_to_f32(a));
    double room = approx_is_integral((double)x) ? 0.0 : 0.98 * 0x1p-8;
    uint16_t r = half_bf16_from_f32((float)(approx_exp2_f64((double)x) * (1.0 + room * approx_noise(a))));
    r = r & 0x7f80 ? r : r & 0x8000;
    return x != x ? HALF_NAN : r;
}

/* Absolute: f16 2^-10.987, bf16 2^-8. */
static inline double approx_tanh_half(float x, uint16_t a, double room)
{
    double y = approx_tanh_f64((double)x);
    room = room > 0.25 * fabs(y) ? 0.25 * fabs(y) : room;
    y += fabsf(x) < INFINITY ? room * approx_noise(a) : 0.0;
    return CLAMP(y, -1.0, 1.0);
}

static inline uint16_t approx_tanh_f16(uint16_t a)
{
    float x = half_f16_to_f32(a);
    uint16_t r = half_f16_from_f32((float)approx_tanh_half(x, a, 0.00024));
    r = x == 0 ? a : r;
    return x != x ? HALF_NAN : r;
}

static inline uint16_t approx_tanh_bf16(uint16_t a)
{
    float x = half_bf16_to_f32(a);
    uint16_t r = half_bf16_from_f32((float)approx_tanh_half(x, a, 0.95 * 0x1p-9));
    r = x == 0 ? a : r;
    return x != x ? HALF_NAN : r;
}

#endif
