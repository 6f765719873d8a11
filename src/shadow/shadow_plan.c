/* Which instructions a launch with a shadow must follow, and how. */
#include "shadow_value.h"

static enum shadow_kind kind_of(const struct insn *i)
{
    bool real = shadow_format((enum type)i->type) != SHADOW_PLAIN;
    switch (i->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_mad:
    case OP_fma:
    case OP_div:
    case OP_abs:
    case OP_neg:
    case OP_min:
    case OP_max:
    case OP_copysign:
    case OP_rcp:
    case OP_sqrt:
    case OP_rsqrt:
    case OP_sin:
    case OP_cos:
    case OP_lg2:
    case OP_ex2:
    case OP_tanh:
        return real ? ARITH : TAINT;
    case OP_set:
        return COMPARED;
    case OP_cvt: /* of integers: parts that stay */
        return real || shadow_format((enum type)i->type2) || i->n_types != 2 || i->n_opnds != 2 ||
                       insn_has(i, MOD_pack)
                   ? CONVERT
                   : BITS;
    case OP_mov:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_shl:
    case OP_shr:
    case OP_bfi:
    case OP_bfe:
    case OP_prmt:
    case OP_selp:
    case OP_slct:
        return i->opnds[0].kind != OPND_VEC && !i->opnds[0].bytes ? NOTHING : BITS;
    case OP_ld:
    case OP_ldu:
        return LOAD;
    case OP_st: /* st.async carries the shadow with its bytes, as bulk copies do */
        return insn_has(i, MOD_async) ? NOTHING : STORE;
    case OP_atom:
    case OP_red:
        return insn_has(i, MOD_async) ? NOTHING : ATOMIC;
    case OP_shfl:
        return SHUFFLE;
    case OP_mma:
    case OP_wmma_mma:
        return MATRIX;
    case OP_ldmatrix:
    case OP_wmma_load:
        return LOAD_MATRIX;
    case OP_stmatrix:
    case OP_wmma_store:
        return STORE_MATRIX;
    case OP_movmatrix:
        return TURN_MATRIX;
    case OP_call:
    case OP_cp:
    case OP_mbarrier:
    case OP_bar:
    case OP_barrier:
    case OP_setp:
    case OP_testp:
    case OP_isspacep:
        return NOTHING;
    default:
        return i->n_opnds && insn_writes(i, 0) ? TAINT : NOTHING;
    }
}

/* Does a value of the operand's register, as far as it is known, ever have a shadow? */
static bool may(const bool *seen, const struct opnd *o)
{
    if (o->kind == OPND_VEC) {
        for (unsigned e = 0; e < o->n; e++)
            if (may(seen, &o->vec[e]))
                return true;
        return false;
    }
    return (o->kind == OPND_REG || o->kind == OPND_ADDR) && o->bytes && !o->is_imm && seen[o->off / 64];
}

static bool mark(bool *seen, const struct opnd *o)
{
    bool news = false;
    for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
        news |= mark(seen, &o->vec[e]);
    for (unsigned k = 0; o->kind != OPND_VEC && k < opnd_parts(o); k++) {
        news |= !seen[o->off / 64 + k];
        seen[o->off / 64 + k] = true;
    }
    return news;
}

static uint8_t n_written(const struct insn *i)
{
    uint8_t n = 0;
    while (n < i->n_opnds && insn_writes(i, n))
        n++;
    return n;
}

/* Addresses, counters and the like never come near a floating value: found once, so that most instructions
 * cost nothing. */
struct shadow_plan *shadow_plan(const struct ptx_module *m)
{
    struct shadow_plan *plan = mem_zalloc((m->n_code + 1) * sizeof(*plan));
    bool *seen = mem_zalloc(m->file_bytes / 64 + 16), news = true;
    while (news) {
        news = false;
        for (size_t pc = 0; pc < m->n_code; pc++) {
            const struct insn *i = &m->code[pc];
            enum shadow_kind kind = kind_of(i);
            bool sources = false;
            if (i->fn == insn_unsupported) /* it ends the launch; its operands may be of any size */
                continue;
            for (unsigned k = 0; k < i->n_opnds; k++)
                sources |= !insn_writes(i, k) && may(seen, &i->opnds[k]);
            if ((kind == BITS || kind == TAINT || kind == SHUFFLE || kind == TURN_MATRIX ||
                 (kind == CONVERT && !shadow_format((enum type)i->type2))) &&
                !sources && !(i->n_opnds && may(seen, &i->opnds[0])))
                continue;
            const struct opnd *address = kind == LOAD ? shadow_address(i) : NULL;
            if (kind == LOAD && i->space == SPACE_PARAM && (!address || address->ref_kind != REF_FUNC_PARAM) &&
                !may(seen, &i->opnds[0]))
                continue;
            if (kind == COMPARED && !may(seen, &i->opnds[0]))
                continue;
            plan[pc].kind = (uint8_t)kind;
            plan[pc].n_written = n_written(i);
            if (kind == NOTHING || kind == STORE || kind == STORE_MATRIX || kind == COMPARED)
                continue;
            for (unsigned k = 0; (sources || kind == ARITH || kind == CONVERT || kind == LOAD ||
                                  kind == ATOMIC || kind == MATRIX || kind == LOAD_MATRIX) &&
                                 k < i->n_opnds && insn_writes(i, k);
                 k++)
                news |= mark(seen, &i->opnds[k]);
        }
    }
    free(seen);
    return plan;
}
