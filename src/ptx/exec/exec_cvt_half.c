/* cvt from and to f16, bf16, their pairs, tf32 and the 8-bit floating types, and cvt.pack. The few forms that
 * kernels execute all the time have loops of their own; the rest go a lane at a time through f64, which holds
 * every source exactly (64-bit integers: rounded to odd, so that rounding again rounds once). */
#include "exec.h"
#include "ptx/lane/half_row.h"

#include <math.h>

/* ---- fast forms ---- */

static void f32_from_f16(struct warp *w, const struct insn *i, uint32_t m)
{
    float x[32], *d = REG(float, w, i->d);
    half_row_widen(x, REG(uint16_t, w, i->a), 32);
    EACH(float, d, x[l]);
}

static void f16_from_f32(struct warp *w, const struct insn *i, uint32_t m)
{
    uint16_t x[32], *d = REG(uint16_t, w, i->d);
    half_row_narrow(x, REG(float, w, i->a), 32);
    EACH(uint16_t, d, x[l]);
}

UNARY(f32_from_bf16, float, uint16_t, half_bf16_to_f32(x))
UNARY(bf16_from_f32, uint16_t, float, half_bf16_from_f32(x))

static void f16x2_from_f32(struct warp *w, const struct insn *i, uint32_t m) /* a to the high half */
{
    uint16_t x[32], y[32];
    uint32_t *d = REG(uint32_t, w, i->d);
    half_row_narrow(x, REG(float, w, i->a), 32);
    half_row_narrow(y, REG(float, w, i->b), 32);
    EACH(uint32_t, d, (uint32_t)x[l] << 16 | y[l]);
}

BINARY(bf16x2_from_f32, uint32_t, float, (uint32_t)half_bf16_from_f32(x) << 16 | half_bf16_from_f32(y))

/* ---- any form, a lane at a time ---- */

enum rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP };

static enum rounding rounding_of(const struct insn *i)
{
    if (insn_has(i, MOD_rz) || insn_has(i, MOD_rzi))
        return ROUND_ZERO;
    if (insn_has(i, MOD_rm) || insn_has(i, MOD_rmi))
        return ROUND_DOWN;
    return insn_has(i, MOD_rp) || insn_has(i, MOD_rpi) ? ROUND_UP : ROUND_NEAREST;
}

static uint16_t narrow(double d, enum rounding r, bool bf16)
{
    if (r == ROUND_NEAREST)
        return bf16 ? half_bf16_from_f64(d) : half_f16_from_f64(d);
    uint16_t h = bf16 ? half_bf16_from_f64_rz(d) : half_f16_from_f64_rz(d);
    double back = bf16 ? half_bf16_to_f32(h) : half_f16_to_f32(h);
    bool away = back == back && back != d && ((r == ROUND_UP && d > 0) || (r == ROUND_DOWN && d < 0));
    return (uint16_t)(h + away); /* the next magnitude; the largest becomes infinity */
}

static uint16_t narrow_with(double d, const struct insn *i, bool bf16)
{
    uint16_t h = narrow(d, rounding_of(i), bf16), inf = bf16 ? 0x7f80 : 0x7c00;
    if (insn_has(i, MOD_satfinite) && (h & 0x7fff) == inf)
        h -= 1;
    if (insn_has(i, MOD_relu))
        h = bf16 ? half_bf16_relu(h) : half_f16_relu(h);
    if (insn_has(i, MOD_sat))
        h = bf16 ? half_bf16_sat(h) : half_f16_sat(h);
    return h;
}

/* 64 bits to f64, a lost bit leaving its trace in the last one kept. */
static double integer_to_f64(uint64_t magnitude)
{
    if (magnitude >> 53)
        magnitude = (magnitude & ~0x7ffull) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
    return (double)magnitude;
}

static double flush_f32(double d, const struct insn *i)
{
    return insn_has(i, MOD_ftz) && fabs(d) < 0x1p-126 ? copysign(0.0, d) : d;
}

static double lane_value(uint64_t bits, enum type t, const struct insn *i)
{
    unsigned width = type_bytes[t] * 8;
    switch (t) {
    case TYPE_F16:
        return half_f16_to_f32((uint16_t)bits);
    case TYPE_BF16:
        return half_bf16_to_f32((uint16_t)bits);
    case TYPE_F32:
        return flush_f32(f32_of((uint32_t)bits), i);
    case TYPE_F64:
        return f64_of(bits);
    default:
        if (type_signed(t)) {
            int64_t v = (int64_t)(bits << (64 - width)) >> (64 - width);
            return v < 0 ? -integer_to_f64(-(uint64_t)v) : integer_to_f64((uint64_t)v);
        }
        return integer_to_f64(width == 64 ? bits : bits & ((1ull << width) - 1));
    }
}

static double round_integral(double x, enum rounding r)
{
    switch (r) {
    case ROUND_ZERO:
        return trunc(x);
    case ROUND_DOWN:
        return floor(x);
    default:
        return r == ROUND_UP ? ceil(x) : rint(x);
    }
}

/* Clamped to the type's range. A NaN becomes 0, or the lone top bit where 64 bits are the result. */
static uint64_t to_integer(double x, enum type t, enum rounding r)
{
    if (x != x)
        return type_bytes[t] == 8 ? 1ull << 63 : 0;
    return integer_of(round_integral(x, r), t);
}

static void convert_lanes(struct warp *w, const struct insn *i, uint32_t m)
{
    enum type to = i->type2, from = i->type;
    enum rounding r = rounding_of(i);
    bool integral =
        insn_has(i, MOD_rni) || insn_has(i, MOD_rzi) || insn_has(i, MOD_rmi) || insn_has(i, MOD_rpi);
    for (unsigned l = 0; l < 32; l++) {
        if (!(m >> l & 1))
            continue;
        double x = lane_value(opnd_lane(w, &i->opnds[1], l), from, i);
        uint64_t v;
        if (to == TYPE_F16 || to == TYPE_BF16) {
            v = narrow_with(integral ? round_integral(x, r) : x, i, to == TYPE_BF16);
        } else if (to == TYPE_F32 || to == TYPE_F64) {
            x = to == TYPE_F32 ? flush_f32(x, i) : x;
            if (insn_has(i, MOD_sat))
                x = f64_saturate(x);
            v = to == TYPE_F64 ? bits_f64(x) : bits_f32((float)x);
            if (x != x)
                v = to == TYPE_F64 ? 0x7ff8000000000000ull : F32_NAN;
        } else {
            v = to_integer(x, to, r);
        }
        opnd_lane_set(w, &i->opnds[0], l, v);
    }
}

static void pack_f32(struct warp *w, const struct insn *i,
                     uint32_t m) /* cvt.RND.f16x2.f32 d, a, b with modifiers */
{
    bool bf16 = i->type2 == TYPE_BF16X2;
    const float *a = REG(float, w, i->a), *b = REG(float, w, i->b);
    uint32_t *d = REG(uint32_t, w, i->d), v[32];
    for (unsigned l = 0; l < 32; l++)
        v[l] = (uint32_t)narrow_with(a[l], i, bf16) << 16 | narrow_with(b[l], i, bf16);
    EACH(uint32_t, d, v[l]);
}

/* ---- 8-bit floating types ---- */

static uint8_t fp8_from(double x, bool e5m2, bool relu)
{
    double max = e5m2 ? 57344.0 : 448.0;
    if (x != x)
        return 0x7f;
    uint8_t sign = signbit(x) ? 0x80 : 0;
    if (sign && relu)
        return 0;
    int mantissa = e5m2 ? 2 : 3, emin = e5m2 ? -14 : -6;
    double y = fabs(x);
    y = y > max ? max : half_quantise(y, mantissa, emin); /* .satfinite is the only form there is */
    y = y > max ? max : y;
    int e = y < ldexp(1.0, emin) ? emin : ilogb(y);
    unsigned steps = (unsigned)(y * ldexp(1.0, mantissa - e)); /* of the quantum at exponent e */
    return (uint8_t)(sign | (((unsigned)(e - emin) << mantissa) + steps));
}

static void fp8_from_f32(struct warp *w, const struct insn *i, uint32_t m)
{
    bool e5m2 = i->type2 == TYPE_E5M2X2, relu = insn_has(i, MOD_relu);
    const float *a = REG(float, w, i->a), *b = REG(float, w, i->b);
    uint16_t *d = REG(uint16_t, w, i->d), v[32];
    for (unsigned l = 0; l < 32; l++)
        v[l] = (uint16_t)(fp8_from(a[l], e5m2, relu) << 8 | fp8_from(b[l], e5m2, relu));
    EACH(uint16_t, d, v[l]);
}

static void fp8_from_f16x2(struct warp *w, const struct insn *i, uint32_t m)
{
    bool e5m2 = i->type2 == TYPE_E5M2X2, relu = insn_has(i, MOD_relu);
    const uint32_t *a = REG(uint32_t, w, i->a);
    uint16_t *d = REG(uint16_t, w, i->d), v[32];
    for (unsigned l = 0; l < 32; l++)
        v[l] = (uint16_t)(fp8_from(half_f16_to_f32((uint16_t)(a[l] >> 16)), e5m2, relu) << 8 |
                          fp8_from(half_f16_to_f32((uint16_t)a[l]), e5m2, relu));
    EACH(uint16_t, d, v[l]);
}

static void f16x2_from_fp8(struct warp *w, const struct insn *i, uint32_t m)
{
    bool e5m2 = i->type == TYPE_E5M2X2;
    const uint16_t *a = REG(uint16_t, w, i->a);
    uint32_t *d = REG(uint32_t, w, i->d), v[32];
    for (unsigned l = 0; l < 32; l++)
        v[l] = (uint32_t)narrow_with(half_fp8_to_f32((uint8_t)(a[l] >> 8), e5m2), i, false) << 16 |
               narrow_with(half_fp8_to_f32((uint8_t)a[l], e5m2), i, false);
    EACH(uint32_t, d, v[l]);
}

/* ---- tf32 and packs of integers ---- */

/* .rna is made of integer instructions: a NaN keeps what is left of its payload, and is an infinity when that
 * is nothing. */
static void tf32_from_f32(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t *d = REG(uint32_t, w, i->d);
    const uint32_t *a = REG(uint32_t, w, i->a);
    bool away = insn_has(i, MOD_rna), nearest = insn_has(i, MOD_rn), relu = insn_has(i, MOD_relu);
    EACH(uint32_t, d, ({
             uint32_t x = a[l], up = nearest ? 0xfff + (x >> 13 & 1) : 0;
             up = away ? 0x1000 : up;
             uint32_t r = ((x & 0x7fffffff) >= 0x7f800000 ? x : x + up) & ~0x1fffu;
             r = relu && r >> 31 ? 0 : r;
             (x & 0x7fffffff) > 0x7f800000 && !away ? F32_NAN & ~0x1fffu : r;
         }));
}

static uint32_t clamp_to(int32_t v, enum type t)
{
    return (uint32_t)clamp_integer(v, t) & ((1u << 8 * type_bytes[t]) - 1);
}

static void pack_integers(struct warp *w, const struct insn *i,
                          uint32_t m) /* cvt.pack.sat.T.s32{.b32} d, a, b{, c} */
{
    enum type t = i->types[0];
    unsigned bits = type_bytes[t] * 8;
    const int32_t *a = REG(int32_t, w, i->a), *b = REG(int32_t, w, i->b);
    const uint32_t *c = i->n_opnds > 3 ? REG(uint32_t, w, i->c) : NULL;
    uint32_t *d = REG(uint32_t, w, i->d), v[32];
    for (unsigned l = 0; l < 32; l++)
        v[l] = (c ? c[l] << 2 * bits : 0) | clamp_to(a[l], t) << bits | clamp_to(b[l], t);
    EACH(uint32_t, d, v[l]);
}

/* ---- choice ---- */

static bool is_half(enum type t)
{
    return t == TYPE_F16 || t == TYPE_BF16;
}

static bool is_fp8x2(enum type t)
{
    return t == TYPE_E4M3X2 || t == TYPE_E5M2X2;
}

static bool is_plain(enum type t)
{
    return (t >= TYPE_U8 && t <= TYPE_S64) || is_half(t) || t == TYPE_F32 || t == TYPE_F64;
}

static exec_fn *select_pair(const struct insn *i)
{
    enum type to = i->type2, from = i->type;
    bool plain =
        insn_has(i, MOD_rn) && !insn_has(i, MOD_relu) && !insn_has(i, MOD_satfinite) && !insn_has(i, MOD_ftz);
    if ((to == TYPE_F16X2 || to == TYPE_BF16X2) && from == TYPE_F32 && i->n_opnds == 3) {
        if (!plain)
            return pack_f32;
        return to == TYPE_F16X2 ? f16x2_from_f32 : bf16x2_from_f32;
    }
    if (is_fp8x2(to) && from == TYPE_F32 && i->n_opnds == 3)
        return fp8_from_f32;
    if (is_fp8x2(to) && from == TYPE_F16X2 && i->n_opnds == 2)
        return fp8_from_f16x2;
    return to == TYPE_F16X2 && is_fp8x2(from) && i->n_opnds == 2 ? f16x2_from_fp8 : NULL;
}

exec_fn *ISA(select_cvt_half)(struct insn *i)
{
    enum type to = i->type2, from = i->type;
    if (insn_has(i, MOD_pack)) {
        to = i->types[0];
        bool known = to == TYPE_U16 || to == TYPE_S16 || to == TYPE_U8 || to == TYPE_S8;
        return known && i->n_types >= 2 && i->types[1] == TYPE_S32 ? pack_integers : NULL;
    }
    if (insn_has(i, MOD_rs) || i->n_types != 2)
        return NULL;
    if (to == TYPE_TF32)
        return from == TYPE_F32 && !insn_has(i, MOD_satfinite) ? tf32_from_f32 : NULL;
    if (!(is_half(to) && is_plain(from)) && !(is_half(from) && is_plain(to)))
        return select_pair(i);
    bool modified = insn_has(i, MOD_sat) || insn_has(i, MOD_relu) || insn_has(i, MOD_satfinite);
    if (!modified && from == TYPE_F16 && to == TYPE_F32)
        return f32_from_f16;
    if (!modified && from == TYPE_BF16 && to == TYPE_F32 && !insn_has(i, MOD_ftz))
        return f32_from_bf16;
    if (!modified && from == TYPE_F32 && insn_has(i, MOD_rn) && (to == TYPE_F16 || !insn_has(i, MOD_ftz)))
        return to == TYPE_F16 ? f16_from_f32 : bf16_from_f32;
    return convert_lanes;
}
