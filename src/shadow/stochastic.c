/* A launch whose floating operations round up or down by chance where their result is not exact: how far that
 * moves an answer says what the arithmetic can, whatever its order. What is exact stays so, and so do the
 * operations with a rounding of their own (fma.rm in expf) and those in double. */
#include "shadow_value.h"

static bool approximate(const struct insn *i)
{
    return op_table[i->op].rounding == ROUNDS_APPROX;
}

/* The format that the instruction rounds to; SHADOW_PLAIN: it does not. */
static uint8_t rounded_format(const struct insn *i)
{
    uint8_t format =
        shadow_format((enum type)(op_table[i->op].rounding == ROUNDS_CONVERTED ? i->type2 : i->type));

    if (format < SHADOW_F16 || format > SHADOW_F32 || insn_has(i, MOD_sat) || insn_has(i, MOD_relu) ||
        insn_has(i, MOD_rz) || insn_has(i, MOD_rm) || insn_has(i, MOD_rp))
        return SHADOW_PLAIN;
    switch ((enum rounds)op_table[i->op].rounding) {
    case ROUNDS_NEAREST:
    case ROUNDS_APPROX:
        return format;
    case ROUNDS_CONVERTED:
        return insn_has(i, MOD_rn) && shadow_format((enum type)i->type) ? format : SHADOW_PLAIN;
    case ROUNDS_EXACT:
        break;
    }
    return SHADOW_PLAIN;
}

static double operand(const struct warp *w, const struct insn *i, unsigned k, unsigned value, unsigned lane)
{
    uint8_t format = shadow_format((enum type)i->type);

    return shadow_real(format, part_bits(w, &i->opnds[k], value * width_of(format), lane));
}

static double exactly(const struct warp *w, const struct insn *i, unsigned value, unsigned lane)
{
    if (op_table[i->op].rounding == ROUNDS_CONVERTED) /* of two operands the first goes to the high half */
        return operand(w, i, i->n_opnds == 3 ? 2 - value : 1, 0, lane);
    double v[3] = {0};
    for (unsigned k = 1; k < i->n_opnds && k <= ARRAY_LEN(v); k++)
        v[k - 1] = operand(w, i, k, value, lane);
    return shadow_real_function((enum real_kind)op_table[i->op].real, v[0], v[1], v[2]);
}

/* The next number of the format above or below; what is zero or not finite stays. */
static void step_to(uint8_t *bits, uint8_t format, bool up)
{
    double v = shadow_real(format, bits);
    uint32_t word = 0;
    size_t bytes = format == SHADOW_F32 ? 4 : 2;

    if (v == 0 || !(v - v == 0))
        return;
    memcpy(&word, bits, bytes);
    word += up == (v > 0) ? 1 : (uint32_t)-1;
    memcpy(bits, &word, bytes);
}

static void round_by_chance(struct warp *w, const struct insn *i, uint32_t m, uint8_t format)
{
    unsigned width = format == SHADOW_F32 ? 2 : 1, n = opnd_parts(&i->opnds[0]) / width;
    double exact[4][32];

    for (unsigned value = 0; value < n; value++)
        for (uint32_t left = m; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            exact[value][lane] = exactly(w, i, value, lane);
        }
    struct stochastic *s = (struct stochastic *)w->launch->observer[PTX_VALUES];
    i->fn(w, i, m);
    for (unsigned value = 0; value < n; value++) {
        uint64_t chance = s->rng = rng_mix(s->rng + 1);
        for (uint32_t left = m; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            uint8_t *bits = (uint8_t *)part_bits(w, &i->opnds[0], value * width, lane);
            double got = shadow_real(format, bits);
            if (got != exact[value][lane] && chance >> lane & 1)
                step_to(bits, format, approximate(i) ? chance >> (32 + lane) & 1 : got < exact[value][lane]);
        }
    }
}

static void stochastic_loop(struct warp *w)
{
    const struct insn *code = w->launch->module->code;

    while (w->fuel > 0) {
        if (w->pc >= w->merge_pc && !warp_switch(w))
            break;
        const struct insn *i = &code[w->pc];
        uint32_t m = w->mask & (*REG(uint32_t, w, i->guard) ^ i->guard_not);
        uint8_t format = rounded_format(i);
        w->pc++;
        w->fuel--;
        w->lane_insns += (unsigned)__builtin_popcount(m);
        if (m && format)
            round_by_chance(w, i, m, format);
        else if (m)
            i->fn(w, i, m);
    }
}

static loop_fn *loop(const struct ptx_module *m)
{
    (void)m;
    return stochastic_loop;
}

static const struct ptx_observer_calls stochastic_calls = {.role = PTX_VALUES, .loop = loop};

struct ptx_observer *stochastic_on(struct stochastic *s, uint64_t seed)
{
    *s = (struct stochastic){.observer.calls = &stochastic_calls, .rng = seed};
    return seed ? &s->observer : NULL;
}
