/* Integer arithmetic, carries, logic, shifts, bit fields. Quotient and remainder of a division by zero are all
 * ones, as the machine's routine leaves them; the most negative value divided by -1 is itself. */
#include "exec.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

/* ---- add, sub, mul, min, max, abs, neg, div, rem ---- */

#define INTEGERS(u, s, suffix)                                                     \
    BINARY(add_##suffix, u, u, x + y)                                              \
    BINARY(sub_##suffix, u, u, x - y)                                              \
    BINARY(mul_##suffix, u, u, (u)((u)x * (u)y))                                   \
    TERNARY(mad_##suffix, u, u, u, (u)((u)x * (u)y + z))                           \
    BINARY(min_u_##suffix, u, u, MIN(x, y))                                        \
    BINARY(max_u_##suffix, u, u, MAX(x, y))                                        \
    BINARY(min_s_##suffix, s, s, MIN(x, y))                                        \
    BINARY(max_s_##suffix, s, s, MAX(x, y))                                        \
    UNARY(abs_##suffix, u, s, x < 0 ? (u)(0 - (u)x) : (u)x)                        \
    UNARY(neg_##suffix, u, u, (u)(0 - x))                                          \
    BINARY(div_u_##suffix, u, u, y ? x / y : (u)-1)                                \
    BINARY(rem_u_##suffix, u, u, y ? x % y : (u)-1)                                \
    BINARY(div_s_##suffix, s, s, ({                                                \
               s q_ = y ? (s)(0 - (u)x) : (s)-1;                                   \
               y &&y != -1 ? x / y : q_;                                           \
           }))                                                                     \
    BINARY(rem_s_##suffix, s, s, y &&y != -1 ? x % y : (s) - !y)                   \
    TERNARY(sad_u_##suffix, u, u, u, (u)((x < y ? y - x : x - y) + z))             \
    TERNARY(sad_s_##suffix, u, s, u, (u)((x < y ? (u)y - (u)x : (u)x - (u)y) + z)) \
    BINARY(and_##suffix, u, u, x &y)                                               \
    BINARY(or_##suffix, u, u, x | y)                                               \
    BINARY(xor_##suffix, u, u, x ^ y)                                              \
    UNARY(not_##suffix, u, u, ~x)                                                  \
    UNARY(cnot_##suffix, u, u, !x)

INTEGERS(uint16_t, int16_t, 16)
INTEGERS(uint32_t, int32_t, 32)
INTEGERS(uint64_t, int64_t, 64)

static inline int32_t saturated(int64_t x)
{
    return (int32_t)CLAMP(x, INT32_MIN, INT32_MAX);
}
BINARY(add_sat_s32, int32_t, int32_t, saturated((int64_t)x + y))
BINARY(sub_sat_s32, int32_t, int32_t, saturated((int64_t)x - y))

BINARY(mul_hi_u_16, uint16_t, uint16_t, (uint32_t)x *y >> 16)
BINARY(mul_hi_s_16, int16_t, int16_t, (int32_t)x *y >> 16)
BINARY(mul_hi_u_32, uint32_t, uint32_t, (uint64_t)x *y >> 32)
BINARY(mul_hi_s_32, int32_t, int32_t, (int64_t)x *y >> 32)
BINARY(mul_hi_u_64, uint64_t, uint64_t, (u128)x *y >> 64)
BINARY(mul_hi_s_64, int64_t, int64_t, (s128)x *y >> 64)
BINARY(mul_wide_u16, uint32_t, uint16_t, (uint32_t)x *y)
BINARY(mul_wide_s16, int32_t, int16_t, (int32_t)x *y)
BINARY(mul_wide_u32, uint64_t, uint32_t, (uint64_t)x *y)
BINARY(mul_wide_s32, int64_t, int32_t, (int64_t)x *y)
TERNARY(mad_hi_u_16, uint16_t, uint16_t, uint16_t, ((uint32_t)x * y >> 16) + z)
TERNARY(mad_hi_s_16, uint16_t, int16_t, uint16_t, ((int32_t)x * y >> 16) + z)
TERNARY(mad_hi_u_32, uint32_t, uint32_t, uint32_t, (uint32_t)((uint64_t)x *y >> 32) + z)
TERNARY(mad_hi_s_32, uint32_t, int32_t, uint32_t, (uint32_t)((int64_t)x *y >> 32) + z)
TERNARY(mad_hi_u_64, uint64_t, uint64_t, uint64_t, (uint64_t)((u128)x *y >> 64) + z)
TERNARY(mad_hi_s_64, uint64_t, int64_t, uint64_t, (uint64_t)((s128)x *y >> 64) + z)
TERNARY(mad_hi_sat_s32, int32_t, int32_t, int32_t, saturated(((int64_t)x * y >> 32) + z))
TERNARY(mad_wide_u16, uint32_t, uint16_t, uint32_t, (uint32_t)x *y + z)
TERNARY(mad_wide_s16, uint32_t, int16_t, uint32_t, (uint32_t)((int32_t)x *y) + z)
TERNARY(mad_wide_u32, uint64_t, uint32_t, uint64_t, (uint64_t)x *y + z)
TERNARY(mad_wide_s32, uint64_t, int32_t, uint64_t, (uint64_t)((int64_t)x *y) + z)

static inline int64_t low24_s(int32_t x)
{
    return (int32_t)((uint32_t)x << 8) >> 8;
}
BINARY(mul24_lo_u, uint32_t, uint32_t, (uint64_t)(x & 0xffffff) * (y & 0xffffff))
BINARY(mul24_hi_u, uint32_t, uint32_t, (uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16)
BINARY(mul24_lo_s, uint32_t, int32_t, (uint64_t)(low24_s(x) * low24_s(y)))
BINARY(mul24_hi_s, uint32_t, int32_t, (uint64_t)(low24_s(x) * low24_s(y) >> 16))
TERNARY(mad24_lo_u, uint32_t, uint32_t, uint32_t, (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff)) + z)
TERNARY(mad24_hi_u, uint32_t, uint32_t, uint32_t,
        (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16) + z)
TERNARY(mad24_lo_s, uint32_t, int32_t, uint32_t, (uint32_t)(low24_s(x) * low24_s(y)) + z)
TERNARY(mad24_hi_s, uint32_t, int32_t, uint32_t, (uint32_t)(low24_s(x) * low24_s(y) >> 16) + z)
TERNARY(mad24_hi_sat_s, int32_t, int32_t, int32_t, saturated((low24_s(x) * low24_s(y) >> 16) + z))

/* Two halves of a 32-bit register. */
#define PAIR(name, S, expr)                                \
    BINARY(name, uint32_t, uint32_t, ({                    \
               S p = (S)x, q = (S)y, r_;                   \
               {                                           \
                   S x_ = p, y_ = q;                       \
                   r_ = (S)(expr);                         \
               }                                           \
               uint32_t low_ = (uint16_t)r_;               \
               {                                           \
                   S x_ = (S)(x >> 16), y_ = (S)(y >> 16); \
                   r_ = (S)(expr);                         \
               }                                           \
               low_ | (uint32_t)(uint16_t)r_ << 16;        \
           }))
PAIR(add_16x2, uint16_t, x_ + y_)
PAIR(min_u16x2, uint16_t, MIN(x_, y_))
PAIR(max_u16x2, uint16_t, MAX(x_, y_))
PAIR(min_s16x2, int16_t, MIN(x_, y_))
PAIR(max_s16x2, int16_t, MAX(x_, y_))
PAIR(min_relu_s16x2, int16_t, MAX(MIN(x_, y_), 0))
PAIR(max_relu_s16x2, int16_t, MAX(MAX(x_, y_), 0))
BINARY(min_relu_s32, int32_t, int32_t, MAX(MIN(x, y), 0))
BINARY(max_relu_s32, int32_t, int32_t, MAX(MAX(x, y), 0))

#define BY_SIZE(name) of_width(bytes, name##_16, name##_32, name##_64)
#define BY_SIGN(name) (is_signed ? BY_SIZE(name##_s) : BY_SIZE(name##_u))
#define BY_HALF(name) \
    ((exec_fn *const[]){name##_lo_u, name##_lo_s, name##_hi_u, name##_hi_s}[2 * hi + is_signed])

static exec_fn *select_pair(const struct insn *i, bool is_signed)
{
    switch (i->op) {
    case OP_add:
        return add_16x2;
    case OP_min:
        if (insn_has(i, MOD_relu))
            return is_signed ? min_relu_s16x2 : NULL;
        return is_signed ? min_s16x2 : min_u16x2;
    case OP_max:
        if (insn_has(i, MOD_relu))
            return is_signed ? max_relu_s16x2 : NULL;
        return is_signed ? max_s16x2 : max_u16x2;
    default:
        return NULL;
    }
}

exec_fn *ISA(select_arith)(struct insn *i)
{
    switch (i->type) {
    case TYPE_F32:
    case TYPE_F64:
        return ISA(select_float)(i);
    case TYPE_F16:
    case TYPE_F16X2:
    case TYPE_BF16:
    case TYPE_BF16X2:
        return ISA(select_half)(i);
    case TYPE_U16X2:
    case TYPE_S16X2:
        return select_pair(i, i->type == TYPE_S16X2);
    case TYPE_U16:
    case TYPE_U32:
    case TYPE_U64:
    case TYPE_S16:
    case TYPE_S32:
    case TYPE_S64:
        break;
    case TYPE_B16:
    case TYPE_B32:
    case TYPE_B64: /* ptxas takes these for none of the operations below */
    default:
        return NULL;
    }
    unsigned bytes = type_bytes[i->type];
    bool is_signed = type_signed((enum type)i->type), hi = insn_has(i, MOD_hi), wide = insn_has(i, MOD_wide),
         sat = insn_has(i, MOD_sat);
    if (insn_has(i, MOD_cc))
        return ISA(select_carry)(i);
    if (sat && i->type != TYPE_S32)
        return NULL;
    if (i->n_opnds > 3 && (i->op == OP_min || i->op == OP_max))
        return NULL;
    switch (i->op) {
    case OP_add:
        return sat ? add_sat_s32 : BY_SIZE(add);
    case OP_sub:
        return sat ? sub_sat_s32 : BY_SIZE(sub);
    case OP_mul:
        if (wide)
            return is_signed ? of_width(bytes, mul_wide_s16, mul_wide_s32, NULL)
                             : of_width(bytes, mul_wide_u16, mul_wide_u32, NULL);
        return hi ? BY_SIGN(mul_hi) : BY_SIZE(mul);
    case OP_mad:
        if (sat)
            return hi ? mad_hi_sat_s32 : NULL;
        if (wide)
            return is_signed ? of_width(bytes, mad_wide_s16, mad_wide_s32, NULL)
                             : of_width(bytes, mad_wide_u16, mad_wide_u32, NULL);
        return hi ? BY_SIGN(mad_hi) : BY_SIZE(mad);
    case OP_mul24:
        return bytes == 4 ? BY_HALF(mul24) : NULL;
    case OP_mad24:
        if (sat && bytes == 4)
            return hi ? mad24_hi_sat_s : NULL;
        return bytes == 4 ? BY_HALF(mad24) : NULL;
    case OP_div:
        return BY_SIGN(div);
    case OP_rem:
        return BY_SIGN(rem);
    case OP_min:
        if (insn_has(i, MOD_relu))
            return i->type == TYPE_S32 ? min_relu_s32 : NULL;
        return BY_SIGN(min);
    case OP_max:
        if (insn_has(i, MOD_relu))
            return i->type == TYPE_S32 ? max_relu_s32 : NULL;
        return BY_SIGN(max);
    case OP_abs:
        return BY_SIZE(abs);
    case OP_neg:
        return BY_SIZE(neg);
    case OP_sad:
        return BY_SIGN(sad);
    default:
        return NULL;
    }
}

/* ---- carry chains: warp.carry is a bit a lane ---- */

/* r = x + y + carry of the lane, with the carry out when cc. */
#define CARRY(name, T, expr, out)                                                                         \
    static void name(struct warp *w, const struct insn *i, uint32_t m)                                    \
    {                                                                                                     \
        T *d = REG(T, w, i->d);                                                                           \
        const T *a = REG(T, w, i->a), *b = REG(T, w, i->b), *c = REG(T, w, i->n_opnds > 3 ? i->c : i->b); \
        bool cc = insn_has(i, MOD_cc), use = i->op == OP_addc || i->op == OP_subc || i->op == OP_madc,    \
             hi = insn_has(i, MOD_hi), is_signed = type_signed((enum type)i->type);                       \
        (void)hi, (void)is_signed, (void)c;                                                               \
        uint32_t next = w->carry;                                                                         \
        for (unsigned l = 0; l < 32; l++) {                                                               \
            if (!(m >> l & 1))                                                                            \
                continue;                                                                                 \
            T x = a[l], y = b[l], z = c[l], in = use ? w->carry >> l & 1 : 0;                             \
            (void)z;                                                                                      \
            u128 sum = (expr);                                                                            \
            d[l] = (T)sum;                                                                                \
            if (cc)                                                                                       \
                next = (next & ~(1u << l)) | ((out) ? 1u << l : 0);                                       \
        }                                                                                                 \
        w->carry = next;                                                                                  \
    }
#define PRODUCT(T, S)                                                      \
    ({                                                                     \
        u128 whole_ = is_signed ? (u128)((s128)(S)x * (S)y) : (u128)x * y; \
        (T)(hi ? whole_ >> (8 * sizeof(T)) : whole_);                      \
    })
CARRY(add_carry_32, uint32_t, (u128)x + y + in, sum >> 32 & 1)
CARRY(add_carry_64, uint64_t, (u128)x + y + in, sum >> 64 & 1)
CARRY(sub_carry_32, uint32_t, (u128)x - y - in, sum >> 32 & 1)
CARRY(sub_carry_64, uint64_t, (u128)x - y - in, sum >> 64 & 1)
CARRY(mad_carry_32, uint32_t, (u128)PRODUCT(uint32_t, int32_t) + z + in, sum >> 32 & 1)
CARRY(mad_carry_64, uint64_t, (u128)PRODUCT(uint64_t, int64_t) + z + in, sum >> 64 & 1)

exec_fn *ISA(select_carry)(struct insn *i)
{
    unsigned bytes = type_bytes[i->type];
    if ((bytes != 4 && bytes != 8) || insn_has(i, MOD_wide) || i->type == TYPE_F32 || i->type == TYPE_F64)
        return NULL;
    switch (i->op) {
    case OP_add:
    case OP_addc:
        return bytes == 4 ? add_carry_32 : add_carry_64;
    case OP_sub:
    case OP_subc:
        return bytes == 4 ? sub_carry_32 : sub_carry_64;
    case OP_mad:
    case OP_madc:
        return bytes == 4 ? mad_carry_32 : mad_carry_64;
    default:
        return NULL;
    }
}

/* ---- shifts, counts, fields ---- */

#define SHIFT(name, T, expr)                                           \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T *d = REG(T, w, i->d);                                        \
        const T *a = REG(T, w, i->a);                                  \
        const uint32_t *b = REG(uint32_t, w, i->b);                    \
        EACH(T, d, ({                                                  \
                 T x = a[l];                                           \
                 uint32_t y = b[l];                                    \
                 (expr);                                               \
             }));                                                      \
    }
SHIFT(shl_16, uint16_t, y > 15 ? 0 : x << y)
SHIFT(shl_32, uint32_t, y > 31 ? 0 : x << (y & 31))
SHIFT(shl_64, uint64_t, y > 63 ? 0 : x << (y & 63))
SHIFT(shr_u_16, uint16_t, y > 15 ? 0 : x >> y)
SHIFT(shr_u_32, uint32_t, y > 31 ? 0 : x >> (y & 31))
SHIFT(shr_u_64, uint64_t, y > 63 ? 0 : x >> (y & 63))
SHIFT(shr_s_16, int16_t, x >> (y > 15 ? 15 : y))
SHIFT(shr_s_32, int32_t, x >> (y > 31 ? 31 : y))
SHIFT(shr_s_64, int64_t, x >> (y > 63 ? 63 : y))

static inline uint64_t reverse(uint64_t x)
{
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
    return __builtin_bswap64(x);
}

UNARY(popc_32, uint32_t, uint32_t, (uint32_t)__builtin_popcount(x))
UNARY(popc_64, uint32_t, uint64_t, (uint32_t)__builtin_popcountll(x))
UNARY(clz_32, uint32_t, uint32_t, x ? (uint32_t)__builtin_clz(x) : 32)
UNARY(clz_64, uint32_t, uint64_t, x ? (uint32_t)__builtin_clzll(x) : 64)
UNARY(brev_32, uint32_t, uint32_t, reverse((uint64_t)x << 32))
UNARY(brev_64, uint64_t, uint64_t, reverse(x))

/* bfind: place of the first bit that is not the sign's, all ones when there is none; .shiftamt: the shift that
 * brings it to the top. */
static inline uint32_t find_bit(uint64_t x, unsigned bits, bool amount)
{
    if (!x)
        return ~0u;
    uint32_t at = 63 - (uint32_t)__builtin_clzll(x);
    return amount ? bits - 1 - at : at;
}
#define BFIND(name, S, expr)                                           \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        uint32_t *d = REG(uint32_t, w, i->d);                          \
        const S *a = REG(S, w, i->a);                                  \
        bool amount = insn_has(i, MOD_shiftamt);                       \
        EACH(uint32_t, d, ({                                           \
                 S x = a[l];                                           \
                 find_bit((expr), 8 * sizeof(S), amount);              \
             }));                                                      \
    }
BFIND(bfind_u32, uint32_t, x)
BFIND(bfind_s32, int32_t, (uint32_t)(x < 0 ? ~x : x))
BFIND(bfind_u64, uint64_t, x)
BFIND(bfind_s64, int64_t, (uint64_t)(x < 0 ? ~x : x))

static inline uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31)
        return ~0u;
    if (offset == 0)
        return mask >> base & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (uint32_t)at;
    return ~0u;
}
TERNARY(fns_32, uint32_t, uint32_t, int32_t, nth_set(x, y, z))

/* The machine takes the low byte of a 32-bit field's place and length, and of a 64-bit one's all bits, though
 * the ISA restricts both to 0..255. */
static inline void field_limits(uint32_t *pos, uint32_t *len, unsigned bits)
{
    *pos = bits == 32 ? *pos & 255 : MIN(*pos, 64);
    *len = bits == 32 ? *len & 255 : MIN(*len, 64);
}

static inline uint64_t extract(uint64_t x, uint32_t pos, uint32_t len, unsigned bits, bool is_signed)
{
    field_limits(&pos, &len, bits);
    uint64_t top = is_signed ? x >> (MIN(pos + len - 1, bits - 1) & 63) & 1 : 0;
    if (!len)
        return 0;
    uint64_t field = pos >= bits ? 0 : x >> pos;
    unsigned have = pos >= bits ? 0 : MIN(len, bits - pos); /* bits that exist; above them the sign */
    uint64_t exist = have >= 64 ? ~0ull : (1ull << have) - 1;
    return (field & exist) | (top ? ~exist : 0);
}
#define BFE(name, T, is_signed)                                                  \
    static void name(struct warp *w, const struct insn *i, uint32_t m)           \
    {                                                                            \
        T *d = REG(T, w, i->d);                                                  \
        const T *a = REG(T, w, i->a);                                            \
        const uint32_t *b = REG(uint32_t, w, i->b), *c = REG(uint32_t, w, i->c); \
        EACH(T, d, extract(a[l], b[l], c[l], 8 * sizeof(T), is_signed));         \
    }
BFE(bfe_u32, uint32_t, false)
BFE(bfe_s32, uint32_t, true)
BFE(bfe_u64, uint64_t, false)
BFE(bfe_s64, uint64_t, true)

static inline uint64_t insert(uint64_t x, uint64_t to, uint32_t pos, uint32_t len, unsigned bits)
{
    field_limits(&pos, &len, bits);
    if (pos >= bits || !len)
        return to;
    uint64_t mask = len >= 64 ? ~0ull : (1ull << len) - 1;
    mask <<= pos;
    return (x << pos & mask) | (to & ~mask);
}
#define BFI(name, T)                                                                        \
    static void name(struct warp *w, const struct insn *i, uint32_t m)                      \
    {                                                                                       \
        T *d = REG(T, w, i->d);                                                             \
        const T *a = REG(T, w, i->a), *b = REG(T, w, i->b);                                 \
        const uint32_t *c = REG(uint32_t, w, i->c), *e = REG(uint32_t, w, i->opnds[4].off); \
        EACH(T, d, insert(a[l], b[l], c[l], e[l], 8 * sizeof(T)));                          \
    }
BFI(bfi_32, uint32_t)
BFI(bfi_64, uint64_t)

/* ---- predicates: 32 lanes in one word ---- */

#define PRED_BINARY(name, expr)                                                               \
    static void name(struct warp *w, const struct insn *i, uint32_t m)                        \
    {                                                                                         \
        uint32_t x = pred_read(w, &i->opnds[1]), y = pred_read(w, &i->opnds[i->n_opnds - 1]); \
        (void)y;                                                                              \
        pred_write(w, i->d, (expr), m);                                                       \
    }
PRED_BINARY(pred_and, x &y)
PRED_BINARY(pred_or, x | y)
PRED_BINARY(pred_xor, x ^ y)
PRED_BINARY(pred_not, ~x)

exec_fn *ISA(select_logic)(struct insn *i)
{
    unsigned bytes = type_bytes[i->type];
    bool is_signed = type_signed((enum type)i->type);
    if (i->type == TYPE_PRED) {
        for (unsigned k = 0; k < i->n_opnds; k++)
            if (i->opnds[k].bytes)
                return NULL;
        switch (i->op) {
        case OP_and:
            return pred_and;
        case OP_or:
            return pred_or;
        case OP_xor:
            return pred_xor;
        default:
            return i->op == OP_not ? pred_not : NULL;
        }
    }
    if (bytes < 2 || bytes > 8 || (i->type >= TYPE_F16 && i->type <= TYPE_F64))
        return NULL;
    switch (i->op) {
    case OP_and:
        return BY_SIZE(and);
    case OP_or:
        return BY_SIZE(or);
    case OP_xor:
        return BY_SIZE(xor);
    case OP_not:
        return BY_SIZE(not );
    case OP_cnot:
        return BY_SIZE(cnot);
    case OP_shl:
        return BY_SIZE(shl);
    case OP_shr:
        return BY_SIGN(shr);
    default:
        break;
    }
    if (bytes == 2)
        return NULL;
    switch (i->op) {
    case OP_popc:
        return bytes == 4 ? popc_32 : popc_64;
    case OP_clz:
        return bytes == 4 ? clz_32 : clz_64;
    case OP_brev:
        return bytes == 4 ? brev_32 : brev_64;
    case OP_bfind:
        return is_signed ? of_width(bytes, NULL, bfind_s32, bfind_s64)
                         : of_width(bytes, NULL, bfind_u32, bfind_u64);
    case OP_fns:
        return bytes == 4 ? fns_32 : NULL;
    case OP_bfe:
        return is_signed ? of_width(bytes, NULL, bfe_s32, bfe_s64) : of_width(bytes, NULL, bfe_u32, bfe_u64);
    case OP_bfi:
        return bytes == 4 ? bfi_32 : bfi_64;
    default:
        return NULL;
    }
}
