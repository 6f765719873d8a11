/* Bit-wise instructions with a life of their own: lop3 shf prmt bmsk szext dp4a dp2a. */
#include "exec.h"

/* ---- lop3 ---- */

static void lop3(struct warp *w, const struct insn *i,
                 uint32_t m) /* i->extra: the truth table, bit a * 4 + b * 2 + c */
{
    uint32_t t[8], r[32], *d = REG(uint32_t, w, i->d);
    const uint32_t *a = REG(uint32_t, w, i->a), *b = REG(uint32_t, w, i->b), *c = REG(uint32_t, w, i->c);
    for (unsigned k = 0; k < 8; k++)
        t[k] = i->extra >> k & 1 ? ~0u : 0;
    LANES
    {
        uint32_t x = a[l], y = b[l], z = c[l];
        uint32_t low = (y & ((z & t[3]) | (~z & t[2]))) | (~y & ((z & t[1]) | (~z & t[0])));
        uint32_t high = (y & ((z & t[7]) | (~z & t[6]))) | (~y & ((z & t[5]) | (~z & t[4])));
        r[l] = (x & high) | (~x & low);
    }
    uint32_t set = 0;
    if (i->pair) {
        for (unsigned l = 0; l < 32; l++)
            set |= (uint32_t)(r[l] != 0) << l;
        uint32_t q = pred_read(w, &i->opnds[5]);
        pred_write(w, i->pair->off, pred_combine(i, set, q), m);
    }
    EACH(uint32_t, d, r[l]);
}

/* ---- funnel shift ---- */

#define WORD(x, y)  ((uint64_t)(y) << 32 | (x))
#define CLAMPED(z)  ((z) > 32 ? 32u : (z))
#define LEFT(v, n)  ((uint32_t)((v) << (n) >> 32))
#define RIGHT(v, n) ((uint32_t)((v) >> (n)))
TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, LEFT(WORD(x, y), z & 31))
TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, LEFT(WORD(x, y), CLAMPED(z)))
TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, RIGHT(WORD(x, y), z & 31))
TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, RIGHT(WORD(x, y), CLAMPED(z)))

/* ---- prmt: bytes 0 to 3 of a, 4 to 7 of b; a selector's bit 3 spreads the byte's sign ---- */

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t v = WORD(a, b);
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t s = selectors >> 4 * k & 15, byte = (uint32_t)(v >> 8 * (s & 7)) & 0xff;
        byte = s & 8 ? (byte >> 7) * 0xff : byte;
        r |= byte << 8 * k;
    }
    return r;
}

TERNARY(prmt, uint32_t, uint32_t, uint32_t, permute(x, y, z))

static void prmt_mode(struct warp *w, const struct insn *i,
                      uint32_t m) /* the mode's selectors, by the low bits of c */
{
    static const struct {
        uint8_t mod;
        uint16_t selectors[4];
    } modes[] = {
        {MOD_mode_f4e, {0x3210, 0x4321, 0x5432, 0x6543}}, {MOD_mode_b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
        {MOD_mode_rc8, {0x0000, 0x1111, 0x2222, 0x3333}}, {MOD_mode_ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
        {MOD_mode_ecr, {0x0000, 0x1110, 0x2210, 0x3210}}, {MOD_mode_rc16, {0x1010, 0x3232, 0x1010, 0x3232}},
    };
    const uint16_t *selectors = modes[0].selectors;
    for (size_t k = 0; k < ARRAY_LEN(modes); k++)
        if (insn_has(i, (enum mod)modes[k].mod))
            selectors = modes[k].selectors;
    const uint32_t *a = REG(uint32_t, w, i->a), *b = REG(uint32_t, w, i->b), *c = REG(uint32_t, w, i->c);
    uint32_t *d = REG(uint32_t, w, i->d), r[32];
    for (unsigned l = 0; l < 32; l++)
        r[l] = permute(a[l], b[l], selectors[c[l] & 3]);
    EACH(uint32_t, d, r[l]);
}

/* ---- masks and extension: width in y ---- */

#define ONES(n) ((n) >= 32 ? ~0u : (1u << (n)) - 1)
BINARY(bmsk_wrap, uint32_t, uint32_t, ONES(y & 31) << (x & 31))
BINARY(bmsk_clamp, uint32_t, uint32_t, x >= 32 ? 0 : ONES(y) << (x & 31))

static inline uint32_t extend(uint32_t x, uint32_t n, bool is_signed)
{
    uint32_t v = x & ONES(n), top = n ? 1u << ((n - 1) & 31) : 0;
    v |= is_signed && v & top ? ~ONES(n) : 0;
    return n >= 32 ? x : v;
}

BINARY(szext_u32_wrap, uint32_t, uint32_t, extend(x, y & 31, false))
BINARY(szext_u32_clamp, uint32_t, uint32_t, extend(x, y, false))
BINARY(szext_s32_wrap, uint32_t, uint32_t, extend(x, y & 31, true))
BINARY(szext_s32_clamp, uint32_t, uint32_t, extend(x, y, true))

/* ---- dot products: modulo 2^32, so signs matter only when elements are widened ---- */

#define BYTE(T, v, k)   ((uint32_t)(int32_t)(T)((v) >> 8 * (k)))
#define WORD16(T, v, k) ((uint32_t)(int32_t)(T)((v) >> 16 * (k)))
#define DP4(name, A, B)                                                         \
    TERNARY(dp4a_##name, uint32_t, uint32_t, uint32_t,                          \
            z + BYTE(A, x, 0) * BYTE(B, y, 0) + BYTE(A, x, 1) * BYTE(B, y, 1) + \
                BYTE(A, x, 2) * BYTE(B, y, 2) + BYTE(A, x, 3) * BYTE(B, y, 3))
DP4(uu, uint8_t, uint8_t)
DP4(us, uint8_t, int8_t)
DP4(su, int8_t, uint8_t)
DP4(ss, int8_t, int8_t)
#define DP2(name, A, B, k)                             \
    TERNARY(dp2a_##name, uint32_t, uint32_t, uint32_t, \
            z + WORD16(A, x, 0) * BYTE(B, y, k) + WORD16(A, x, 1) * BYTE(B, y, k + 1))
DP2(lo_uu, uint16_t, uint8_t, 0)
DP2(lo_us, uint16_t, int8_t, 0)
DP2(lo_su, int16_t, uint8_t, 0)
DP2(lo_ss, int16_t, int8_t, 0)
DP2(hi_uu, uint16_t, uint8_t, 2)
DP2(hi_us, uint16_t, int8_t, 2)
DP2(hi_su, int16_t, uint8_t, 2)
DP2(hi_ss, int16_t, int8_t, 2)

/* ---- differences of bytes: each in its byte of the result, or all added to c ---- */

#define BYTE_DIFF(A, B, k) ((uint32_t)abs((int)(A)(x >> 8 * (k)) - (int)(B)(y >> 8 * (k))))
#define DIFF4(name, A, B)                                                             \
    BINARY(vabsdiff4_##name, uint32_t, uint32_t,                                      \
           (BYTE_DIFF(A, B, 0) & 0xff) | (BYTE_DIFF(A, B, 1) & 0xff) << 8 |           \
               (BYTE_DIFF(A, B, 2) & 0xff) << 16 | (BYTE_DIFF(A, B, 3) & 0xff) << 24) \
    TERNARY(vabsdiff4_add_##name, uint32_t, uint32_t, uint32_t,                       \
            z + BYTE_DIFF(A, B, 0) + BYTE_DIFF(A, B, 1) + BYTE_DIFF(A, B, 2) + BYTE_DIFF(A, B, 3))
DIFF4(uu, uint8_t, uint8_t)
DIFF4(ss, int8_t, int8_t)

/* vabsdiff4.D.A.B{.add}: A and B alike, without saturation. */
static exec_fn *select_diff(const struct insn *i)
{
    bool add = insn_has(i, MOD_add), is_signed = type_signed(i->types[1]);
    if (i->n_types != 3 || i->types[1] != i->types[2] || type_bytes[i->types[0]] != 4 ||
        type_bytes[i->types[1]] != 4 || insn_has(i, MOD_sat))
        return NULL;
    if (is_signed)
        return add ? vabsdiff4_add_ss : vabsdiff4_ss;
    return add ? vabsdiff4_add_uu : vabsdiff4_uu;
}

static exec_fn *select_dot(const struct insn *i)
{
    static exec_fn *const table[3][4] = {
        {dp4a_uu, dp4a_us, dp4a_su, dp4a_ss},
        {dp2a_lo_uu, dp2a_lo_us, dp2a_lo_su, dp2a_lo_ss},
        {dp2a_hi_uu, dp2a_hi_us, dp2a_hi_su, dp2a_hi_ss},
    };
    if (i->n_types != 2)
        return NULL;
    unsigned signs = (type_signed(i->types[0]) ? 2 : 0) + (type_signed(i->types[1]) ? 1 : 0);
    unsigned half = insn_has(i, MOD_hi) ? 2 : 1;
    return table[i->op == OP_dp4a ? 0 : half][signs];
}

exec_fn *ISA(select_bits)(struct insn *i)
{
    bool wrap = insn_has(i, MOD_wrap), clamp = insn_has(i, MOD_clamp);
    switch (i->op) {
    case OP_lop3:
        i->extra = (uint16_t)(i->opnds[4].imm & 0xff);
        return i->opnds[4].is_imm && !(i->pair && i->n_opnds < 6) ? lop3 : NULL;
    case OP_shf:
        if (insn_has(i, MOD_l))
            return wrap ? shf_l_wrap : shf_l_clamp;
        return wrap ? shf_r_wrap : shf_r_clamp;
    case OP_prmt:
        if (insn_has(i, MOD_mode_f4e) || insn_has(i, MOD_mode_b4e) || insn_has(i, MOD_mode_rc8) ||
            insn_has(i, MOD_mode_ecl) || insn_has(i, MOD_mode_ecr) || insn_has(i, MOD_mode_rc16))
            return prmt_mode;
        return prmt;
    case OP_bmsk:
        return clamp ? bmsk_clamp : bmsk_wrap;
    case OP_szext:
        if (type_signed(i->type))
            return clamp ? szext_s32_clamp : szext_s32_wrap;
        return clamp ? szext_u32_clamp : szext_u32_wrap;
    case OP_dp4a:
    case OP_dp2a:
        return select_dot(i);
    case OP_vabsdiff4:
        return select_diff(i);
    default:
        return NULL;
    }
}
