/* What decides a branch that has gone one way only: the constants on the way from registers to its guard. Who
 * looks for cases that go the other way tries these, and what lies beside them. */
#include "machine.h"
#include "ptx/lane/half.h"

enum { MOST_CONSTANTS = 64, MOST_VISITS = 256, DEPTH = 6 };

struct search {
    const struct ptx_module *module;
    struct arena *arena;
    struct ptx_constant *list;
    size_t n;
    int visits;
};

static void add(struct search *s, struct ptx_constant c)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->list[k].is_real == c.is_real && s->list[k].integer == c.integer && s->list[k].real == c.real)
            return;
    if (s->n < MOST_CONSTANTS)
        s->list[s->n++] = c;
}

static void add_real(struct search *s, double v)
{
    if (isfinite(v) && v != 0)
        add(s, (struct ptx_constant){.is_real = true, .real = v});
}

/* An immediate as the instruction takes it; bits that are moved may be a number of either kind. */
static void add_immediate(struct search *s, const struct insn *i, const struct opnd *o)
{
    bool moved = i->op == OP_mov;
    unsigned bytes = type_bytes[i->type];

    if (i->type == TYPE_F64) {
        add_real(s, f64_of((uint64_t)o->imm));
        return;
    }
    if (i->type == TYPE_F32 || (moved && bytes == 4))
        add_real(s, f32_of((uint32_t)o->imm));
    if (i->type == TYPE_F16 || (moved && bytes == 2))
        add_real(s, half_f16_to_f32((uint16_t)o->imm));
    if (i->type == TYPE_BF16 || (moved && bytes == 2))
        add_real(s, half_bf16_to_f32((uint16_t)o->imm));
    if (i->type != TYPE_F32 && i->type != TYPE_F16 && i->type != TYPE_BF16)
        add(s, (struct ptx_constant){.integer = bytes == 4 ? (int32_t)o->imm : o->imm});
}

static bool writes(const struct insn *i, uint32_t off)
{
    for (unsigned k = 0; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        if (!insn_writes(i, k))
            continue;
        if (o->kind == OPND_REG && o->off == off)
            return true;
        for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
            if (o->vec[e].off == off)
                return true;
    }
    return i->pair && i->pair->off == off;
}

/* Backwards in the text, which knows no loops: a guess, and good enough for one. */
static void follow(struct search *s, uint32_t pc, uint32_t off, int depth)
{
    const struct ptx_module *m = s->module;
    uint32_t first = m->funcs[m->code[pc].func].first;

    if (depth == 0 || s->visits++ > MOST_VISITS)
        return;
    while (pc > first && !writes(&m->code[pc - 1], off))
        pc--;
    if (pc == first)
        return;
    const struct insn *i = &m->code[--pc];
    for (unsigned k = 0; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        if (insn_writes(i, k) || o->kind != OPND_REG)
            continue;
        if (o->is_imm && o->ref_kind == REF_NONE)
            add_immediate(s, i, o);
        else if (!o->is_imm)
            follow(s, pc, o->off, depth - 1);
    }
}

size_t ptx_coverage_constants(const struct ptx_module *m, const uint8_t *ran, struct arena *a,
                              const struct ptx_constant **list)
{
    struct search s = {.module = m, .arena = a, .list = arena_array(a, struct ptx_constant, MOST_CONSTANTS)};

    for (uint32_t pc = 0; pc < m->n_code; pc++) {
        const struct insn *i = &m->code[pc];
        unsigned both = i->op == OP_selp ? RAN_FIRST | RAN_SECOND : RAN_EXECUTED | RAN_GUARDED;
        if (!ran[pc] || (ran[pc] & both) == both || (i->op != OP_selp && !i->guard))
            continue;
        s.visits = 0;
        follow(&s, pc, i->op == OP_selp ? i->c : i->guard, DEPTH);
    }
    *list = s.list;
    return s.n;
}

size_t ptx_compared_constants(const struct ptx_module *m, struct arena *a, const struct ptx_constant **list)
{
    struct search s = {.module = m, .arena = a, .list = arena_array(a, struct ptx_constant, MOST_CONSTANTS)};

    for (const struct insn *i = m->code; i < m->code + m->n_code; i++)
        for (unsigned k = 0; (i->op == OP_setp || i->op == OP_set) && k < i->n_opnds; k++)
            if (i->opnds[k].is_imm && (i->type == TYPE_F32 || i->type == TYPE_F64))
                add_immediate(&s, i, &i->opnds[k]);
    *list = s.list;
    return s.n;
}
