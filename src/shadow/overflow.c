/* A launch that is told when a sum, difference or product of signed integers has no place in its type. PTX
 * writes unsigned ones in the same way, so the one who asks must know that there are signed numbers. */
#include "shadow_value.h"

typedef __int128 wide;

static wide signed_operand(const struct warp *w, const struct insn *i, unsigned k, unsigned lane)
{
    const void *at = (const char *)part_bits(w, &i->opnds[k], 0, lane);

    switch (type_bytes[i->type]) {
    case 2:
        return *(const int16_t *)at;
    case 4:
        return *(const int32_t *)at;
    default:
        return *(const int64_t *)at;
    }
}

static bool can_overflow(const struct insn *i)
{
    if (!type_signed((enum type)i->type) || type_bytes[i->type] < 2 || i->type == TYPE_S16X2 ||
        insn_has(i, MOD_sat) || insn_has(i, MOD_hi) || insn_has(i, MOD_wide))
        return false;
    return i->op == OP_add || i->op == OP_sub || i->op == OP_mul || i->op == OP_mad || i->op == OP_neg ||
           i->op == OP_abs;
}

static bool overflows(const struct warp *w, const struct insn *i, unsigned lane)
{
    unsigned bits = 8u * type_bytes[i->type];
    wide most = ((wide)1 << (bits - 1)) - 1, a = signed_operand(w, i, 1, lane),
         b = i->n_opnds > 2 ? signed_operand(w, i, 2, lane) : 0, r;

    switch ((enum op)i->op) {
    case OP_add:
        r = a + b;
        break;
    case OP_sub:
        r = a - b;
        break;
    case OP_mul:
        r = a * b;
        break;
    case OP_mad:
        r = a * b + signed_operand(w, i, 3, lane);
        break;
    default:
        r = a < 0 ? -a : a;
        break;
    }
    return r > most || r < -most - 1;
}

static void overflow_loop(struct warp *w)
{
    const struct insn *code = w->launch->module->code;
    struct overflow *o = (struct overflow *)w->launch->observer[PTX_VALUES];

    while (w->fuel > 0) {
        if (w->pc >= w->merge_pc && !warp_switch(w))
            break;
        const struct insn *i = &code[w->pc];
        uint32_t m = w->mask & (*REG(uint32_t, w, i->guard) ^ i->guard_not);
        if (!o->seen && can_overflow(i))
            for (uint32_t left = m; left; left &= left - 1)
                o->seen |= overflows(w, i, (unsigned)__builtin_ctz(left));
        w->pc++;
        w->fuel--;
        w->lane_insns += (unsigned)__builtin_popcount(m);
        if (m)
            i->fn(w, i, m);
    }
}

static loop_fn *loop(const struct ptx_module *m)
{
    (void)m;
    return overflow_loop;
}

static const struct ptx_observer_calls overflow_calls = {.role = PTX_VALUES, .loop = loop};

struct ptx_observer *overflow_on(struct overflow *o)
{
    if (o)
        o->observer = (struct ptx_observer){.calls = &overflow_calls};
    return o ? &o->observer : NULL;
}
