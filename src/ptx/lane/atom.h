/* What one lane of an atomic computes: for exec_atom.c, and for the reductions of bulk.c. */
#ifndef PTX_ATOM_H
#define PTX_ATOM_H

#include "half.h"
#include "ptx/observe.h"

typedef unsigned __int128 u128;

/* Halves in float: exact, then rounded once. */
static inline uint16_t atom_half(const struct insn *i, uint16_t old, uint16_t b)
{
    bool bf = i->type == TYPE_BF16 || i->type == TYPE_BF16X2;
    float x = bf ? half_bf16_to_f32(old) : half_f16_to_f32(old),
          y = bf ? half_bf16_to_f32(b) : half_f16_to_f32(b), r;
    if ((enum mod)i->extra == MOD_add)
        r = x + y;
    else if (x != x || y != y)
        r = x != x ? y : x;
    else
        r = ((enum mod)i->extra == MOD_min) == (x < y) ? x : y;
    return bf ? half_bf16_from_f32(r) : half_f16_from_f32(r);
}

/* What an atomic leaves of old and its operands b and c; i->extra is its operation. */
static inline u128 atom_combine(const struct insn *i, u128 old, u128 b, u128 c)
{
    bool is_signed = type_signed((enum type)i->type);
    unsigned bits = 8u * i->bytes;
    if (i->type == TYPE_F16 || i->type == TYPE_BF16)
        return atom_half(i, (uint16_t)old, (uint16_t)b);
    if (i->type == TYPE_F16X2 || i->type == TYPE_BF16X2)
        return atom_half(i, (uint16_t)old, (uint16_t)b) |
               (uint32_t)atom_half(i, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
    switch ((enum mod)i->extra) {
    case MOD_exch:
        return b;
    case MOD_cas:
        return old == b ? c : old;
    case MOD_and:
        return old & b;
    case MOD_or:
        return old | b;
    case MOD_xor:
        return old ^ b;
    case MOD_inc:
        return old >= b ? 0 : old + 1;
    case MOD_dec:
        return old == 0 || old > b ? b : old - 1;
    case MOD_add:
        if (i->type == TYPE_F32) /* always flushes nothing in global memory, as red.f32 on sm_90 */
            return bits_f32(f32_canon(f32_of((uint32_t)old) + f32_of((uint32_t)b)));
        if (i->type == TYPE_F64)
            return bits_f64(f64_of((uint64_t)old) + f64_of((uint64_t)b));
        return old + b;
    case MOD_min:
    case MOD_max: {
        bool less;
        if (is_signed) {
            int64_t x = (int64_t)((uint64_t)old << (64 - bits)), y = (int64_t)((uint64_t)b << (64 - bits));
            less = x < y;
        } else {
            less = old < b;
        }
        return ((enum mod)i->extra == MOD_min) == less ? old : b;
    }
    default:
        return old;
    }
}

#endif
