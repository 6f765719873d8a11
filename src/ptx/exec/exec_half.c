/* f16, f16x2, bf16 and bf16x2: arithmetic, comparison, atomic addition. A packed register of 32 lanes is a row
 * of 64 halves, so that scalar and packed forms are the same loop with another length. */
#include "exec.h"
#include "ptx/lane/half_row.h"

/* ---- arithmetic ---- */

enum { /* insn.extra */
       FTZ = 1,
       SAT = 2,
       RELU = 4,
       NAN_WINS = 8,
       XORSIGN = 16,
};

typedef void row_fn(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, unsigned n,
                    unsigned extra);

static void row_flush(uint16_t *to, const uint16_t *from, unsigned n, unsigned inf)
{
    for (unsigned l = 0; l < n; l++)
        to[l] = from[l] & inf ? from[l] : from[l] & 0x8000;
}

/* What is below the smallest normal number before it is rounded is flushed, even if it would round up to that:
 * so an H200 does in mul, and in fma with .sat (tests/ptx/README.md). */
static void row_flush_wide(float *x, unsigned n)
{
    for (unsigned l = 0; l < n; l++)
        x[l] = fabsf(x[l]) < 0x1p-14f ? copysignf(0, x[l]) : x[l];
}

static void row_finish(uint16_t *r, unsigned n, unsigned extra, bool bf16)
{
    if (extra & FTZ)
        row_flush(r, r, n, bf16 ? 0x7f80 : 0x7c00);
    for (unsigned l = 0; l < n && extra & SAT; l++)
        r[l] = bf16 ? half_bf16_sat(r[l]) : half_f16_sat(r[l]);
    for (unsigned l = 0; l < n && extra & RELU; l++)
        r[l] = bf16 ? half_bf16_relu(r[l]) : half_f16_relu(r[l]);
}

static void row_f16_add(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, unsigned n,
                        unsigned extra)
{
    float x[64], y[64];
    (void)c, (void)extra;
    half_row_widen(x, a, n);
    half_row_widen(y, b, n);
    for (unsigned l = 0; l < n; l++)
        x[l] += y[l];
    half_row_narrow(r, x, n);
}

static void row_f16_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, unsigned n,
                        unsigned extra)
{
    float x[64], y[64];
    (void)c, (void)extra;
    half_row_widen(x, a, n);
    half_row_widen(y, b, n);
    for (unsigned l = 0; l < n; l++)
        x[l] -= y[l];
    half_row_narrow(r, x, n);
}

static void row_f16_mul(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, unsigned n,
                        unsigned extra)
{
    float x[64], y[64];
    (void)c;
    half_row_widen(x, a, n);
    half_row_widen(y, b, n);
    for (unsigned l = 0; l < n; l++)
        x[l] *= y[l];
    if (extra & FTZ)
        row_flush_wide(x, n);
    half_row_narrow(r, x, n);
}

static void row_f16_fma(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, unsigned n,
                        unsigned extra)
{
    float x[64], y[64], z[64];
    half_row_widen(x, a, n);
    half_row_widen(y, b, n);
    half_row_widen(z, c, n);
    for (unsigned l = 0; l < n; l++)
        x[l] = half_sum_odd_f32(x[l] * y[l], z[l]);
    if ((extra & FTZ) && (extra & SAT))
        row_flush_wide(x, n);
    half_row_narrow(r, x, n);
}

#define ROW(name, expr)                                                                                      \
    static void row_##name(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, unsigned n, \
                           unsigned extra)                                                                   \
    {                                                                                                        \
        (void)b, (void)c, (void)extra;                                                                       \
        for (unsigned l = 0; l < n; l++)                                                                     \
            r[l] = (uint16_t)(expr);                                                                         \
    }

ROW(bf16_add, half_bf16_add(a[l], b[l]))
ROW(bf16_sub, half_bf16_sub(a[l], b[l]))
ROW(bf16_mul, half_bf16_mul(a[l], b[l]))
ROW(bf16_fma, half_bf16_fma(a[l], b[l], c[l]))
ROW(neg, a[l] ^ 0x8000)
ROW(abs, a[l] & 0x7fff)
ROW(f16_min, half_min_max(a[l], b[l], 0x7c00, false, extra &NAN_WINS, extra &XORSIGN))
ROW(f16_max, half_min_max(a[l], b[l], 0x7c00, true, extra &NAN_WINS, extra &XORSIGN))
ROW(bf16_min, half_min_max(a[l], b[l], 0x7f80, false, extra &NAN_WINS, extra &XORSIGN))
ROW(bf16_max, half_min_max(a[l], b[l], 0x7f80, true, extra &NAN_WINS, extra &XORSIGN))

/* A handler for one row function: reads all sources before it writes, since they may be the destination. */
static inline void row_run(struct warp *w, const struct insn *i, uint32_t m, row_fn *f, bool bf16, unsigned n)
{
    uint16_t r[64], flushed[3][64];
    const uint16_t *s[3] = {REG(uint16_t, w, i->a), REG(uint16_t, w, i->b), REG(uint16_t, w, i->c)};
    for (unsigned k = 0; i->extra & FTZ && k + 1 < i->n_opnds && k < 3; k++) {
        row_flush(flushed[k], s[k], n, bf16 ? 0x7f80 : 0x7c00);
        s[k] = flushed[k];
    }
    f(r, s[0], s[1], s[2], n, i->extra);
    if (i->extra)
        row_finish(r, n, i->extra, bf16);
    if (n == 32) {
        uint16_t *d = REG(uint16_t, w, i->d);
        EACH(uint16_t, d, r[l]);
    } else {
        uint32_t *d = REG(uint32_t, w, i->d), v[32];
        memcpy(v, r, sizeof(v));
        EACH(uint32_t, d, v[l]);
    }
}

#define HANDLERS(name, row, bf16)                                          \
    static void name##_1(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                      \
        row_run(w, i, m, row, bf16, 32);                                   \
    }                                                                      \
    static void name##_2(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                      \
        row_run(w, i, m, row, bf16, 64);                                   \
    }

HANDLERS(f16_add, row_f16_add, false)
HANDLERS(f16_sub, row_f16_sub, false)
HANDLERS(f16_mul, row_f16_mul, false)
HANDLERS(f16_fma, row_f16_fma, false)
HANDLERS(f16_neg, row_neg, false)
HANDLERS(f16_abs, row_abs, false)
HANDLERS(f16_min, row_f16_min, false)
HANDLERS(f16_max, row_f16_max, false)
HANDLERS(bf16_add, row_bf16_add, true)
HANDLERS(bf16_sub, row_bf16_sub, true)
HANDLERS(bf16_mul, row_bf16_mul, true)
HANDLERS(bf16_fma, row_bf16_fma, true)
HANDLERS(bf16_neg, row_neg, true)
HANDLERS(bf16_abs, row_abs, true)
HANDLERS(bf16_min, row_bf16_min, true)
HANDLERS(bf16_max, row_bf16_max, true)

#define CASE(op)  \
    case OP_##op: \
        return (exec_fn *const[]){f16_##op##_1, f16_##op##_2, bf16_##op##_1, bf16_##op##_2}[2 * bf16 + packed]

static exec_fn *pick_arith(const struct insn *i, bool bf16, bool packed)
{
    switch (i->op) {
        CASE(add);
        CASE(sub);
        CASE(mul);
        CASE(fma);
        CASE(neg);
        CASE(abs);
        CASE(min);
        CASE(max);
    default:
        return NULL;
    }
}

/* ---- comparison ---- */

enum { LT = 1, EQ = 2, GT = 4, UNORDERED = 8 }; /* insn.extra: which outcomes are true */

static unsigned compare_outcomes(const struct insn *i)
{
    static const struct {
        uint8_t mod, outcomes;
    } table[] = {
        {MOD_eq, EQ},
        {MOD_ne, LT | GT},
        {MOD_lt, LT},
        {MOD_le, LT | EQ},
        {MOD_gt, GT},
        {MOD_ge, GT | EQ},
        {MOD_equ, EQ | UNORDERED},
        {MOD_neu, LT | GT | UNORDERED},
        {MOD_ltu, LT | UNORDERED},
        {MOD_leu, LT | EQ | UNORDERED},
        {MOD_gtu, GT | UNORDERED},
        {MOD_geu, GT | EQ | UNORDERED},
        {MOD_num, LT | EQ | GT},
        {MOD_nan, UNORDERED},
    };
    for (size_t k = 0; k < ARRAY_LEN(table); k++)
        if (insn_has(i, (enum mod)table[k].mod))
            return table[k].outcomes;
    return 0;
}

static bool compare(uint16_t a, uint16_t b, unsigned outcomes, bool ftz, bool bf16)
{
    uint16_t inf = bf16 ? 0x7f80 : 0x7c00;
    if (ftz) {
        a = a & inf ? a : 0;
        b = b & inf ? b : 0;
    }
    if ((a & 0x7fff) > inf || (b & 0x7fff) > inf)
        return outcomes & UNORDERED;
    int32_t x = a & 0x7fff ? half_key(a) : 0, y = b & 0x7fff ? half_key(b) : 0; /* -0 equals +0 */
    if (x == y)
        return outcomes & EQ;
    return outcomes & (x < y ? LT : GT);
}

/* Lanes whose comparison holds, of the low or high halves of packed operands. */
static uint32_t compare_lanes(const struct warp *w, const struct insn *i, bool bf16, unsigned step,
                              unsigned half)
{
    const uint16_t *a = REG(uint16_t, w, i->a), *b = REG(uint16_t, w, i->b);
    bool ftz = insn_has(i, MOD_ftz);
    uint32_t bits = 0;
    for (unsigned l = 0; l < 32; l++)
        bits |= (uint32_t)compare(a[l * step + half], b[l * step + half], i->extra, ftz, bf16) << l;
    return bits;
}

static uint32_t combine(const struct warp *w, const struct insn *i, uint32_t bits)
{
    if (i->n_opnds < 4)
        return bits;
    return pred_combine(i, bits, pred_read(w, &i->opnds[3]));
}

static bool type_is_bf16(enum type t)
{
    return t == TYPE_BF16 || t == TYPE_BF16X2;
}

static void setp_scalar(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t bits = compare_lanes(w, i, type_is_bf16(i->type), 1, 0);
    uint32_t p = combine(w, i, bits), q = combine(w, i, ~bits);
    pred_write(w, i->d, p, m);
    if (i->pair)
        pred_write(w, i->pair->off, q, m);
}

static void setp_packed(struct warp *w, const struct insn *i,
                        uint32_t m) /* p of the low halves, q of the high */
{
    bool bf16 = type_is_bf16(i->type);
    uint32_t p = combine(w, i, compare_lanes(w, i, bf16, 2, 0)),
             q = combine(w, i, compare_lanes(w, i, bf16, 2, 1));
    pred_write(w, i->d, p, m);
    if (i->pair)
        pred_write(w, i->pair->off, q, m);
}

/* set.CMP.D.S: true is 1.0 in floating types, all ones in integers. */
static void set_lanes(struct warp *w, const struct insn *i, uint32_t m)
{
    bool bf16 = type_is_bf16(i->type), packed = type_bytes[i->type] == 4;
    uint32_t low = combine(w, i, compare_lanes(w, i, bf16, packed ? 2 : 1, 0));
    uint32_t high = packed ? combine(w, i, compare_lanes(w, i, bf16, 2, 1)) : 0;
    uint32_t one = 0xffff, all = ~0u;
    if (i->type2 == TYPE_F16 || i->type2 == TYPE_F16X2)
        one = all = 0x3c00;
    else if (type_is_bf16(i->type2))
        one = all = 0x3f80;
    else if (i->type2 == TYPE_F32)
        all = 0x3f800000;
    for (unsigned l = 0; l < 32; l++) {
        bool lo = low >> l & 1, hi = high >> l & 1;
        if (!(m >> l & 1))
            continue;
        if (packed)
            REG(uint32_t, w, i->d)[l] = (lo ? one : 0) | (hi ? one << 16 : 0);
        else if (i->opnds[0].bytes == 2)
            REG(uint16_t, w, i->d)[l] = lo ? (uint16_t)all : 0;
        else
            REG(uint32_t, w, i->d)[l] = lo ? all : 0;
    }
}

exec_fn *ISA(select_half)(struct insn *i)
{
    bool bf16 = type_is_bf16(i->type), packed = type_bytes[i->type] == 4;
    if (i->type != TYPE_F16 && i->type != TYPE_F16X2 && !bf16)
        return NULL;
    if (i->op == OP_setp || i->op == OP_set) {
        i->extra = (uint16_t)compare_outcomes(i);
        if (!i->extra)
            return NULL;
        if (i->op == OP_set)
            return set_lanes;
        return packed ? setp_packed : setp_scalar;
    }
    if (insn_has(i, MOD_rz) || insn_has(i, MOD_rm) || insn_has(i, MOD_rp) ||
        (i->n_types == 2 && i->type2 != i->type))
        return NULL; /* these types round to nearest only; mixed precision is newer */
    if (i->op == OP_mul && insn_has(i, MOD_hi))
        return NULL;
    if ((i->op == OP_min || i->op == OP_max) && i->n_opnds > 3)
        return NULL;
    bool sign = insn_has(i, MOD_xorsign);
    i->extra = (uint16_t)((insn_has(i, MOD_ftz) ? FTZ : 0) | (insn_has(i, MOD_sat) ? SAT : 0) |
                          (insn_has(i, MOD_relu) ? RELU : 0) | (insn_has(i, MOD_NaN) ? NAN_WINS : 0) |
                          (sign ? XORSIGN : 0));
    return pick_arith(i, bf16, packed);
}
