/* Products of matrices that lie spread over a warp's registers, for mma.sync, wmma.mma and wgmma. Who holds
 * what: matrix.h.
 *
 * The products of eight steps of k are summed in f64 onto the accumulator, which is then cut to f32: tensor
 * cores cut too, and the documentation promises no rounding. Sums of f64 are fused step by step; integers are
 * exact. */
#ifndef PTX_PRODUCT_H
#define PTX_PRODUCT_H

#include "ptx/lane/half_row.h"
#include "ptx/lane/matrix.h"

#include <math.h>

enum { M_MAX = 32, K_MAX = 64, CUT = 8 };

static inline void halves(const uint32_t *reg, unsigned h, double v[32])
{
    uint16_t x[32];
    float f[32];
    for (unsigned l = 0; l < 32; l++)
        x[l] = (uint16_t)(reg[l] >> 16 * h);
    half_row_widen(f, x, 32);
    for (unsigned l = 0; l < 32; l++)
        v[l] = f[l];
}

/* Element `slot` of every lane, counted through its registers. */
static inline void elements(const struct warp *w, const struct opnd *o, unsigned slot, enum type t,
                            double v[32])
{
    unsigned bits = matrix_bits(t), each = MAX(32 / bits, 1u), shift = slot % each * bits;
    const struct opnd *r = opnd_element(o, slot / each);
    const uint32_t *reg = REG(uint32_t, w, r->off);
    switch (t) {
    case TYPE_F16:
        halves(reg, slot % each, v);
        return;
    case TYPE_BF16:
        for (unsigned l = 0; l < 32; l++)
            v[l] = half_bf16_to_f32((uint16_t)(reg[l] >> shift));
        return;
    case TYPE_TF32:
        for (unsigned l = 0; l < 32; l++)
            v[l] = f32_of(reg[l] & ~0x1fffu);
        return;
    case TYPE_F32:
        for (unsigned l = 0; l < 32; l++)
            v[l] = f32_of(reg[l]);
        return;
    case TYPE_F64:
        memcpy(v, REG(double, w, r->off), sizeof(double[32]));
        return;
    case TYPE_E4M3:
    case TYPE_E5M2:
        for (unsigned l = 0; l < 32; l++)
            v[l] = half_fp8_to_f32((uint8_t)(reg[l] >> shift), t == TYPE_E5M2);
        return;
    case TYPE_S32:
    case TYPE_S8:
    case TYPE_S4:
        for (unsigned l = 0; l < 32; l++)
            v[l] = (int32_t)(reg[l] << (32 - bits - shift)) >> (32 - bits);
        return;
    default: /* u8, u4 */
        for (unsigned l = 0; l < 32; l++)
            v[l] = reg[l] << (32 - bits - shift) >> (32 - bits);
    }
}

/* A fragment's elements to their places in a matrix. */
static inline void gather(const struct warp *w, const struct insn *i, unsigned operand, double *to,
                          unsigned columns)
{
    struct fragment f = mma_fragment(i, operand);
    enum type t = mma_type(i, operand);
    unsigned across, along, step = f.down ? columns : 1, other = f.down ? 1 : columns;
    double v[32];
    for (unsigned slot = 0; slot < (unsigned)f.pieces * f.run; slot++) {
        fragment_origin(&f, slot / f.run, &across, &along);
        double *from = to + (size_t)across * other + (size_t)(along + slot % f.run) * step;
        elements(w, &i->opnds[operand], slot, t, v);
        for (unsigned l = 0; l < 32; l++)
            from[l / 4 * other + l % 4 * f.run * step] = v[l];
    }
}

static inline float cut_f32(double d) /* toward zero */
{
    float f = (float)d;
    bool away = (f > d && d > 0) || (f < d && d < 0);
    return f32_of(d != d ? F32_NAN : bits_f32(f) - away);
}

/* Eight numbers, as many at once as the instruction set has. */
#ifdef __AVX512F__
enum { AT_ONCE = 8 };
#elif defined(__AVX2__)
enum { AT_ONCE = 4 };
#else
enum { AT_ONCE = 2 };
#endif
enum { EIGHT = 8 / AT_ONCE };
typedef double reals __attribute__((vector_size(8 * AT_ONCE)));
typedef double reals_at __attribute__((vector_size(8 * AT_ONCE), aligned(8))); /* where they lie */
typedef int64_t words __attribute__((vector_size(8 * AT_ONCE)));

/* Within the range of normal f32 numbers a cut drops bits of the mantissa: the sign of `other` says that a
 * number is beyond it, and no zero. */
static inline void cut_eight(reals sum[EIGHT])
{
    const int64_t low = (int64_t)(1023 - 126) << 52, high = (int64_t)(1023 + 128) << 52;
    words cut[EIGHT], other = {0};
    int64_t any = 0;
    double v[8];
    for (unsigned p = 0; p < EIGHT; p++) {
        words x = (words)sum[p] & INT64_MAX;
        other |= ((x - low) | (high - 1 - x)) & -x;
        cut[p] = (words)sum[p] & ~(((int64_t)1 << 29) - 1);
    }
    for (unsigned n = 0; n < AT_ONCE; n++)
        any |= other[n];
    if (__builtin_expect(any < 0, 0)) {
        memcpy(v, sum, sizeof(v));
        for (unsigned n = 0; n < 8; n++)
            v[n] = cut_f32(v[n]);
        memcpy(cut, v, sizeof(v));
    }
    for (unsigned p = 0; p < EIGHT; p++)
        sum[p] = (reals)cut[p];
}

/* Eight columns of a row of D; rows of B are `columns` apart. */
static inline void row_cut(const double *a, const double *b, double *d, unsigned k_size, unsigned columns)
{
    reals sum[EIGHT];
    for (unsigned p = 0; p < EIGHT; p++)
        sum[p] = *(const reals_at *)(d + p * AT_ONCE);
    for (unsigned k = 0; k < k_size; k += 4) {
        for (unsigned s = k; s < k + 4; s++)
            for (unsigned p = 0; p < EIGHT; p++)
                sum[p] += a[s] * *(const reals_at *)(b + (size_t)s * columns + p * AT_ONCE);
        if ((k + 4) % CUT == 0 || k_size == 4)
            cut_eight(sum);
    }
    for (unsigned p = 0; p < EIGHT; p++)
        *(reals_at *)(d + p * AT_ONCE) = sum[p];
}

/* Eight columns of a row of D += A B. */
static inline void multiply_row(const struct insn *i, const double *a, const double *b, double *d,
                                unsigned columns)
{
    enum type t = mma_type(i, 0);
    unsigned k_size = i->shape.k;
    if (t != TYPE_S32 && t != TYPE_F64) {
        row_cut(a, b, d, k_size, columns);
        return;
    }
    for (unsigned k = 0; k < k_size; k++)
        for (unsigned c = 0; c < 8; c++) {
            double y = b[(size_t)k * columns + c];
            d[c] = t == TYPE_F64 ? fma(a[k], y, d[c]) : d[c] + a[k] * y;
        }
}

/* D += A B; rows of A are K_MAX apart, those of B and D `columns`. */
static inline void multiply(const struct insn *i, const double *a, const double *b, double *d, unsigned columns)
{
    for (unsigned n = 0; n < i->shape.n; n += 8)
        for (unsigned r = 0; r < i->shape.m; r++)
            multiply_row(i, a + (size_t)r * K_MAX, b + n, d + (size_t)r * columns + n, columns);
}

static inline uint64_t result(const struct insn *i, enum type t, double v)
{
    switch (t) {
    case TYPE_F16:
        return half_f16_from_f64(v);
    case TYPE_F64:
        return bits_f64(v);
    default:
        if (insn_has(i, MOD_satfinite))
            v = CLAMP(v, (double)INT32_MIN, (double)INT32_MAX);
        return (uint32_t)(int64_t)v;
    }
}

static inline void scatter(struct warp *w, const struct insn *i, const double *d, unsigned columns)
{
    struct fragment f = mma_fragment(i, 0);
    enum type t = mma_type(i, 0);
    unsigned across, along, step = f.down ? columns : 1, other = f.down ? 1 : columns;
    for (unsigned slot = 0; slot < (unsigned)f.pieces * f.run; slot++) {
        fragment_origin(&f, slot / f.run, &across, &along);
        const double *from = d + (size_t)across * other + (size_t)(along + slot % f.run) * step;
        const struct opnd *o = opnd_element(&i->opnds[0], t == TYPE_F16 ? slot / 2 : slot);
        for (unsigned l = 0; l < 32 && t == TYPE_F32; l++)
            REG(float, w, o->off)[l] = (float)from[l / 4 * other + l % 4 * f.run * step];
        for (unsigned l = 0; l < 32 && t != TYPE_F32; l++) {
            uint64_t v = result(i, t, from[l / 4 * other + l % 4 * f.run * step]);
            if (t == TYPE_F16)
                REG(uint16_t, w, o->off)[2 * l + slot % 2] = (uint16_t)v;
            else if (t == TYPE_F64)
                REG(uint64_t, w, o->off)[l] = v;
            else
                REG(uint32_t, w, o->off)[l] = (uint32_t)v;
        }
    }
}

#endif
