/* The forms of mma and wmma that there are. */
#include "matrix.h"

enum family { F16, BF16, TF32, F64, F8, BYTES, NIBBLES, BITS, NO_FAMILY };

static const struct form {
    struct mma_shape shape;
    uint8_t family; /* of A and B */
    bool wmma;
} forms[] = {
    {{16, 8, 8}, F16, false},     {{16, 8, 16}, F16, false},     {{16, 8, 8}, BF16, false},
    {{16, 8, 16}, BF16, false},   {{16, 8, 4}, TF32, false},     {{16, 8, 8}, TF32, false},
    {{8, 8, 4}, F64, false},      {{16, 8, 4}, F64, false},      {{16, 8, 8}, F64, false},
    {{16, 8, 16}, F64, false},    {{16, 8, 16}, F8, false},      {{16, 8, 32}, F8, false},
    {{8, 8, 16}, BYTES, false},   {{16, 8, 16}, BYTES, false},   {{16, 8, 32}, BYTES, false},
    {{8, 8, 32}, NIBBLES, false}, {{16, 8, 32}, NIBBLES, false}, {{16, 8, 64}, NIBBLES, false},
    {{8, 8, 128}, BITS, false},   {{16, 8, 128}, BITS, false},   {{16, 8, 256}, BITS, false},
    {{16, 16, 16}, F16, true},    {{32, 8, 16}, F16, true},      {{8, 32, 16}, F16, true},
    {{16, 16, 16}, BF16, true},   {{32, 8, 16}, BF16, true},     {{8, 32, 16}, BF16, true},
    {{16, 16, 16}, BYTES, true},  {{32, 8, 16}, BYTES, true},    {{8, 32, 16}, BYTES, true},
    {{16, 16, 8}, TF32, true},    {{8, 8, 4}, F64, true},        {{8, 8, 32}, NIBBLES, true},
    {{8, 8, 128}, BITS, true},
};

static enum family family_of(enum type t)
{
    switch (t) {
    case TYPE_F16:
        return F16;
    case TYPE_BF16:
        return BF16;
    case TYPE_TF32:
        return TF32;
    case TYPE_F64:
        return F64;
    case TYPE_E4M3:
    case TYPE_E5M2:
        return F8;
    case TYPE_S8:
    case TYPE_U8:
        return BYTES;
    case TYPE_S4:
    case TYPE_U4:
        return NIBBLES;
    case TYPE_B1:
        return BITS;
    default:
        return NO_FAMILY;
    }
}

static bool sums_in(enum family f, enum type t)
{
    switch (f) {
    case F16:
    case F8:
        return t == TYPE_F16 || t == TYPE_F32;
    case BF16:
    case TF32:
        return t == TYPE_F32;
    case F64:
        return t == TYPE_F64;
    default:
        return t == TYPE_S32;
    }
}

static bool shape_is(struct mma_shape x, struct mma_shape y)
{
    return x.m == y.m && x.n == y.n && x.k == y.k;
}

static bool form_exists(struct mma_shape s, enum family f, bool wmma)
{
    for (size_t k = 0; k < ARRAY_LEN(forms); k++)
        if (forms[k].family == f && forms[k].wmma == wmma && shape_is(forms[k].shape, s))
            return true;
    return false;
}

/* Is there a wmma of this shape that sums in t? */
static bool sums_exist(struct mma_shape s, enum type t)
{
    for (size_t k = 0; k < ARRAY_LEN(forms); k++)
        if (forms[k].wmma && shape_is(forms[k].shape, s) && sums_in((enum family)forms[k].family, t))
            return true;
    return false;
}

/* wmma's A and B of f16 are always eight registers. */
static bool registers_fit(const struct opnd *o, struct fragment f, bool eight)
{
    if (matrix_reg_count(o) != (eight ? 8 : fragment_regs(&f)))
        return false;
    for (unsigned k = 0; k < matrix_reg_count(o); k++)
        if (opnd_element(o, k)->kind != OPND_REG || opnd_element(o, k)->bytes != fragment_reg_bytes(&f))
            return false;
    return true;
}

static bool product_known(const struct insn *i)
{
    bool wmma = i->op == OP_wmma_mma, popc = insn_has(i, MOD_popc);
    if (i->n_types != 4 && !(wmma && i->n_types == 2))
        return false;
    enum type a = mma_type(i, 1), b = mma_type(i, 2), c = mma_type(i, 3), d = mma_type(i, 0);
    enum family f = family_of(a);
    bool integer = f == BYTES || f == NIBBLES;
    if (!form_exists(i->shape, f, wmma) || family_of(b) != f || (a != b && !integer && f != F8) ||
        !sums_in(f, c) || !sums_in(f, d))
        return false;
    if (c != d && (f != F16 || (!wmma && i->shape.k == 8)))
        return false;
    if (wmma ? (i->n_types == 2) != (f == F16) : !insn_has(i, MOD_row) || !insn_has(i, MOD_col))
        return false;
    if ((insn_has(i, MOD_satfinite) && !integer) || popc != (f == BITS) ||
        (popc && insn_has(i, MOD_and) == insn_has(i, MOD_xor)))
        return false;
    if (insn_has(i, MOD_rz) || insn_has(i, MOD_rm) || insn_has(i, MOD_rp))
        return false;
    for (unsigned k = 0; k < 4; k++)
        if (!registers_fit(&i->opnds[k], mma_fragment(i, k), wmma && f == F16 && (k == 1 || k == 2)))
            return false;
    return true;
}

/* Signs are 1 and -1, or both 0s and 1s where it is asked whether something is transposed. */
static bool immediates_fit(const struct insn *i, unsigned transposed)
{
    for (unsigned k = 5; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        bool sign = k < 7;
        if (o->kind != OPND_REG || !o->is_imm || o->ref_kind ||
            (sign ? o->imm != 1 && o->imm != -1 : o->imm != 0 && o->imm != 1))
            return false;
    }
    return i->n_opnds == 7 + transposed;
}

bool group_product_known(const struct insn *i)
{
    if (i->n_types != 3 || i->n_opnds < 5 || i->shape.m != 64)
        return false;
    enum type a = mma_type(i, 1), b = mma_type(i, 2), d = mma_type(i, 0);
    enum family f = family_of(a);
    bool integer = f == BYTES || f == BITS, registers = i->opnds[1].kind == OPND_VEC;
    const struct opnd *adds = &i->opnds[4];
    struct insn own = *i;
    own.shape.m = 16;
    if (f == F64 || f == NIBBLES || f == NO_FAMILY || family_of(b) != f || (a != b && f != F8 && f != BYTES) ||
        !sums_in(f, d) || i->shape.k * matrix_bits(a) != 256)
        return false;
    /* of bytes and bits: up to 32 any multiple of 8, then of 16, and 24 */
    if (!i->shape.n || i->shape.n > 256 || i->shape.n % 8 ||
        (integer && i->shape.n % 16 && i->shape.n != 8 && i->shape.n != 24))
        return false;
    if (insn_has(i, MOD_satfinite) ? f != BYTES : false)
        return false;
    if ((f == BITS) != (insn_has(i, MOD_popc) && insn_has(i, MOD_and)) || insn_has(i, MOD_xor))
        return false;
    if (!insn_has(i, MOD_sync) || !insn_has(i, MOD_aligned) || adds->kind != OPND_REG || adds->bytes)
        return false;
    for (unsigned k = 0; k < 4; k++) {
        const struct opnd *o = &i->opnds[k];
        bool descriptor = k == 2 || (k == 1 && !registers);
        if (descriptor ? o->kind != OPND_REG || o->bytes != 8 || o->ref_kind
                       : !registers_fit(o, mma_fragment(&own, k), false))
            return false;
    }
    if (integer)
        return i->n_opnds == 5;
    return immediates_fit(i, f == F16 || f == BF16 ? 2 - registers : 0);
}

bool matrix_known(const struct insn *i)
{
    if (i->op == OP_mma || i->op == OP_wmma_mma)
        return product_known(i);
    enum type t = (enum type)i->type;
    bool a = insn_has(i, MOD_a), b = insn_has(i, MOD_b), c = insn_has(i, MOD_c), d = insn_has(i, MOD_d);
    if (i->n_types != 1 || insn_has(i, MOD_row) == insn_has(i, MOD_col) || a + b + c + d != 1 ||
        d != (i->op == OP_wmma_store))
        return false;
    if (a || b ? !form_exists(i->shape, family_of(t), true) : !sums_exist(i->shape, t))
        return false;
    if (matrix_bits(t) < 8 && insn_has(i, MOD_col) != b) /* A by rows, B by columns */
        return false;
    const struct opnd *stride = i->n_opnds > 2 ? &i->opnds[2] : NULL;
    return registers_fit(matrix_operand(i), matrix_access_of(i).f, t == TYPE_F16 && (a || b)) &&
           (!stride || (stride->kind == OPND_REG && stride->bytes == 4));
}
