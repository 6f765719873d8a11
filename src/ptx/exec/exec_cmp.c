/* setp, set, selp, slct, testp. A comparison gives a word with a bit a lane; .and .or .xor combine it with a
 * predicate. */
#include "exec.h"
#include "ptx/lane/bits.h"

/* ---- comparisons ---- */

typedef uint32_t compare_fn(const struct warp *w, uint32_t a, uint32_t b);

#define COMPARE(name, T, expr)                                           \
    static uint32_t name(const struct warp *w, uint32_t oa, uint32_t ob) \
    {                                                                    \
        const T *a = REG(T, w, oa), *b = REG(T, w, ob);                  \
        uint32_t r = 0;                                                  \
        LANES                                                            \
        {                                                                \
            T x = a[l], y = b[l];                                        \
            r |= (uint32_t)(expr) << l;                                  \
        }                                                                \
        return r;                                                        \
    }
#define COMPARES(T, suffix)         \
    COMPARE(lt_##suffix, T, x < y)  \
    COMPARE(le_##suffix, T, x <= y) \
    COMPARE(gt_##suffix, T, x > y)  \
    COMPARE(ge_##suffix, T, x >= y)
#define EQUALS(T, suffix)           \
    COMPARE(eq_##suffix, T, x == y) \
    COMPARE(ne_##suffix, T, x != y)
#define FLOATS(T, suffix, f)                                \
    COMPARE(eq_##suffix, T, f(x) == f(y))                   \
    COMPARE(ne_##suffix, T, f(x) < f(y) || f(x) > f(y))     \
    COMPARE(lt_##suffix, T, f(x) < f(y))                    \
    COMPARE(le_##suffix, T, f(x) <= f(y))                   \
    COMPARE(gt_##suffix, T, f(x) > f(y))                    \
    COMPARE(ge_##suffix, T, f(x) >= f(y))                   \
    COMPARE(equ_##suffix, T, !(f(x) < f(y) || f(x) > f(y))) \
    COMPARE(neu_##suffix, T, f(x) != f(y))                  \
    COMPARE(ltu_##suffix, T, !(f(x) >= f(y)))               \
    COMPARE(leu_##suffix, T, !(f(x) > f(y)))                \
    COMPARE(gtu_##suffix, T, !(f(x) <= f(y)))               \
    COMPARE(geu_##suffix, T, !(f(x) < f(y)))                \
    COMPARE(num_##suffix, T, x == x && y == y)              \
    COMPARE(nan_##suffix, T, x != x || y != y)
#define SAME(x) (x)

COMPARES(uint16_t, u16)
COMPARES(int16_t, s16)
EQUALS(uint16_t, u16)
COMPARES(uint32_t, u32)
COMPARES(int32_t, s32)
EQUALS(uint32_t, u32)
COMPARES(uint64_t, u64)
COMPARES(int64_t, s64)
EQUALS(uint64_t, u64)
FLOATS(float, f32, SAME)
FLOATS(float, f32_ftz, f32_flush)
FLOATS(double, f64, SAME)

#define INTEGER_ROWS(u, s)                                                                            \
    {                                                                                                 \
        {MOD_eq, eq_##u}, {MOD_ne, ne_##u}, {MOD_lt, lt_##s}, {MOD_le, le_##s}, {MOD_gt, gt_##s},     \
            {MOD_ge, ge_##s}, {MOD_lo, lt_##u}, {MOD_ls, le_##u}, {MOD_hi, gt_##u}, {MOD_hs, ge_##u}, \
    }
#define FLOAT_ROWS(f)                                                                                         \
    {                                                                                                         \
        {MOD_eq, eq_##f}, {MOD_ne, ne_##f}, {MOD_lt, lt_##f}, {MOD_le, le_##f}, {MOD_gt, gt_##f},             \
            {MOD_ge, ge_##f}, {MOD_equ, equ_##f}, {MOD_neu, neu_##f}, {MOD_ltu, ltu_##f}, {MOD_leu, leu_##f}, \
            {MOD_gtu, gtu_##f}, {MOD_geu, geu_##f}, {MOD_num, num_##f}, {MOD_nan, nan_##f},                   \
    }
struct compare_row {
    enum mod mod;
    compare_fn *fn;
};
static const struct compare_row u16_rows[14] = INTEGER_ROWS(u16, u16), s16_rows[14] = INTEGER_ROWS(u16, s16),
                                u32_rows[14] = INTEGER_ROWS(u32, u32), s32_rows[14] = INTEGER_ROWS(u32, s32),
                                u64_rows[14] = INTEGER_ROWS(u64, u64), s64_rows[14] = INTEGER_ROWS(u64, s64),
                                f32_rows[14] = FLOAT_ROWS(f32), f32_ftz_rows[14] = FLOAT_ROWS(f32_ftz),
                                f64_rows[14] = FLOAT_ROWS(f64);

static const struct compare_row *rows_of(const struct insn *i)
{
    switch (i->type) {
    case TYPE_B16:
    case TYPE_U16:
        return u16_rows;
    case TYPE_S16:
        return s16_rows;
    case TYPE_B32:
    case TYPE_U32:
        return u32_rows;
    case TYPE_S32:
        return s32_rows;
    case TYPE_B64:
    case TYPE_U64:
        return u64_rows;
    case TYPE_S64:
        return s64_rows;
    case TYPE_F32:
        return insn_has(i, MOD_ftz) ? f32_ftz_rows : f32_rows;
    case TYPE_F64:
        return f64_rows;
    default:
        return NULL;
    }
}

static compare_fn *compare_of(const struct insn *i)
{
    const struct compare_row *rows = rows_of(i);
    for (int k = 0; rows && k < 14 && rows[k].fn; k++)
        if (insn_has(i, rows[k].mod))
            return rows[k].fn;
    return NULL;
}

/* ---- setp ---- */

static void setp(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t r = ((compare_fn *)(intptr_t)i->imm)(w, i->a, i->b), q = ~r;
    if (i->n_opnds > 3) {
        uint32_t c = pred_read(w, &i->opnds[3]);
        r = pred_combine(i, r, c);
        q = pred_combine(i, q, c);
    }
    pred_write(w, i->d, r, m);
    if (i->pair)
        pred_write(w, i->pair->off, q, m);
}

/* The frequent plain forms, the comparison inlined. */
#define PLAINS \
    X(eq_u32)  \
    X(ne_u32)  \
    X(lt_s32)  \
    X(le_s32)  \
    X(gt_s32)  \
    X(ge_s32)  \
    X(lt_u32)  \
    X(le_u32)  \
    X(gt_u32)  \
    X(ge_u32) X(lt_s64) X(ge_s64) X(gt_s64) X(eq_u64) X(ne_u64) X(lt_f32) X(gt_f32) X(lt_f32_ftz) X(gt_f32_ftz)
#define X(name)                                                               \
    static void setp_##name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                         \
        pred_write(w, i->d, name(w, i->a, i->b), m);                          \
    }
PLAINS
#undef X

static exec_fn *setp_plain(compare_fn *c)
{
#define X(name) {name, setp_##name},
    static const struct {
        compare_fn *compare;
        exec_fn *handler;
    } plains[] = {PLAINS};
#undef X
    for (size_t k = 0; k < ARRAY_LEN(plains); k++)
        if (plains[k].compare == c)
            return plains[k].handler;
    return setp;
}

/* set.cmp.dtype.type: all ones or 1.0 */
static void set(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t r = ((compare_fn *)(intptr_t)i->imm)(w, i->a, i->b);
    if (i->n_opnds > 3)
        r = pred_combine(i, r, pred_read(w, &i->opnds[3]));
    uint32_t *d = REG(uint32_t, w, i->d), yes = i->type2 == TYPE_F32 ? 0x3f800000 : ~0u;
    EACH(uint32_t, d, r >> l & 1 ? yes : 0);
}

/* ---- selection by predicate or sign ---- */

#define SELP(name, T)                                                  \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T *d = REG(T, w, i->d);                                        \
        const T *a = REG(T, w, i->a), *b = REG(T, w, i->b);            \
        uint32_t p = pred_read(w, &i->opnds[3]);                       \
        EACH(T, d, p >> l & 1 ? a[l] : b[l]);                          \
    }
SELP(selp_16, uint16_t)
SELP(selp_32, uint32_t)
SELP(selp_64, uint64_t)

#define SLCT(name, T, C, expr)                                         \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T *d = REG(T, w, i->d);                                        \
        const T *a = REG(T, w, i->a), *b = REG(T, w, i->b);            \
        const C *c = REG(C, w, i->c);                                  \
        bool ftz = insn_has(i, MOD_ftz);                               \
        (void)ftz;                                                     \
        EACH(T, d, ({                                                  \
                 C z = c[l];                                           \
                 (expr) ? a[l] : b[l];                                 \
             }));                                                      \
    }
SLCT(slct_16_s, uint16_t, int32_t, z >= 0)
SLCT(slct_32_s, uint32_t, int32_t, z >= 0)
SLCT(slct_64_s, uint64_t, int32_t, z >= 0)
SLCT(slct_16_f, uint16_t, float, (ftz ? f32_flush(z) : z) >= 0)
SLCT(slct_32_f, uint32_t, float, (ftz ? f32_flush(z) : z) >= 0)
SLCT(slct_64_f, uint64_t, float, (ftz ? f32_flush(z) : z) >= 0)

/* ---- testp ---- */

static bool tested(const struct insn *i, double x, double least_normal)
{
    bool nan = x != x, inf = fabs(x) == HUGE_VAL, normal = fabs(x) >= least_normal || x == 0;
    if (insn_has(i, MOD_finite))
        return !nan && !inf;
    if (insn_has(i, MOD_infinite))
        return inf;
    if (insn_has(i, MOD_number) || insn_has(i, MOD_notanumber))
        return nan == insn_has(i, MOD_notanumber);
    return insn_has(i, MOD_normal) ? normal && !inf : !nan && !normal;
}

static void testp(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t r = 0;
    for (unsigned l = 0; l < 32; l++) {
        double x = i->type == TYPE_F64 ? REG(double, w, i->a)[l] : (double)REG(float, w, i->a)[l];
        double least_normal = i->type == TYPE_F64 ? 0x1p-1022 : 0x1p-126;
        r |= (uint32_t)tested(i, x, least_normal) << l;
    }
    pred_write(w, i->d, r, m);
}

exec_fn *ISA(select_cmp)(struct insn *i)
{
    bool combine = insn_has(i, MOD_and) || insn_has(i, MOD_or) || insn_has(i, MOD_xor);
    unsigned bytes = type_bytes[i->op == OP_slct ? i->types[0] : i->type];
    switch (i->op) {
    case OP_setp:
    case OP_set: {
        if (i->type == TYPE_F16 || i->type == TYPE_F16X2 || i->type == TYPE_BF16 || i->type == TYPE_BF16X2 ||
            (i->op == OP_set && (i->type2 == TYPE_F16 || i->type2 == TYPE_F16X2 || i->type2 == TYPE_BF16 ||
                                 i->type2 == TYPE_BF16X2)))
            return ISA(select_half)(i);
        compare_fn *c = compare_of(i);
        if (!c || combine != (i->n_opnds > 3) || (i->n_opnds > 3 && i->opnds[3].bytes) ||
            (i->pair && (i->pair->bytes || i->op == OP_set)))
            return NULL;
        if (i->op == OP_set &&
            (i->n_types != 2 || (i->type2 != TYPE_U32 && i->type2 != TYPE_S32 && i->type2 != TYPE_F32)))
            return NULL;
        i->imm = (int64_t)(intptr_t)c;
        if (i->op == OP_set)
            return set;
        return i->n_opnds == 3 && !i->pair ? setp_plain(c) : setp;
    }
    case OP_selp:
        return i->opnds[3].bytes ? NULL : of_width(bytes, selp_16, selp_32, selp_64);
    case OP_slct:
        if (i->n_types != 2)
            return NULL;
        if (i->type == TYPE_F32)
            return of_width(bytes, slct_16_f, slct_32_f, slct_64_f);
        return i->type == TYPE_S32 ? of_width(bytes, slct_16_s, slct_32_s, slct_64_s) : NULL;
    case OP_testp:
        return i->type == TYPE_F32 || i->type == TYPE_F64 ? testp : NULL;
    default:
        return NULL;
    }
}
