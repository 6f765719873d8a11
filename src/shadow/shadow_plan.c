/* Which instructions a launch with a shadow must follow, and how. */
#include "shadow_value.h"

/* What op.def says, narrowed by types and operands. */
static enum shadow_kind kind_of(const struct insn *i)
{
    bool real = shadow_format((enum type)i->type) != SHADOW_PLAIN;
    enum shadow_kind kind = (enum shadow_kind)op_table[i->op].shadow;
    switch (kind) {
    case SHADOW_ARITH:
        return real ? SHADOW_ARITH : SHADOW_TAINT;
    case SHADOW_CONVERT: /* of integers: parts that stay */
        return real || shadow_format((enum type)i->type2) || i->n_types != 2 || i->n_opnds != 2 ||
                       insn_has(i, MOD_pack)
                   ? SHADOW_CONVERT
                   : SHADOW_BITS;
    case SHADOW_BITS:
        return i->opnds[0].kind != OPND_VEC && !i->opnds[0].bytes ? SHADOW_NOTHING : SHADOW_BITS;
    case SHADOW_STORE: /* st.async carries the shadow with its bytes, as bulk copies do */
    case SHADOW_ATOMIC:
        return insn_has(i, MOD_async) ? SHADOW_NOTHING : kind;
    case SHADOW_TAINT:
        return i->n_opnds && insn_writes(i, 0) ? SHADOW_TAINT : SHADOW_NOTHING;
    default:
        return kind;
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
            if ((kind == SHADOW_BITS || kind == SHADOW_TAINT || kind == SHADOW_SHUFFLE ||
                 kind == SHADOW_TURN_MATRIX ||
                 (kind == SHADOW_CONVERT && !shadow_format((enum type)i->type2))) &&
                !sources && !(i->n_opnds && may(seen, &i->opnds[0])))
                continue;
            const struct opnd *address = kind == SHADOW_LOAD ? shadow_address(i) : NULL;
            if (kind == SHADOW_LOAD && i->space == SPACE_PARAM &&
                (!address || address->ref_kind != REF_FUNC_PARAM) && !may(seen, &i->opnds[0]))
                continue;
            if (kind == SHADOW_COMPARED && !may(seen, &i->opnds[0]))
                continue;
            plan[pc].kind = (uint8_t)kind;
            plan[pc].n_written = n_written(i);
            if (kind == SHADOW_NOTHING || kind == SHADOW_STORE || kind == SHADOW_COMPARED)
                continue;
            for (unsigned k = 0; (sources || kind == SHADOW_ARITH || kind == SHADOW_CONVERT ||
                                  kind == SHADOW_LOAD || kind == SHADOW_ATOMIC || kind == SHADOW_MATRIX ||
                                  kind == SHADOW_STORE_MATRIX || kind == SHADOW_LOAD_MATRIX) &&
                                 k < i->n_opnds && insn_writes(i, k);
                 k++)
                news |= mark(seen, &i->opnds[k]);
        }
    }
    free(seen);
    return plan;
}
