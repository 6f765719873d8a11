/* Cache hints that outlive a launch. A line that is marked evict_last stays in the L2 when its kernel has
 * ended, so that a timed launch could find there what an earlier one left. All other hints are honest: they
 * change no value, and no line gains by them. A policy is a number in a register, so that it must be seen where
 * it was made. */
#include "lower.h"

/* What createpolicy makes of evict_normal and of evict_first; the fraction of the lines stands in bits 52
 * to 55. */
#define POLICY_NORMAL   0x1000000000000000ull
#define POLICY_FIRST    0x1200000000000000ull
#define POLICY_FRACTION 0x00f0000000000000ull

static bool honest_number(uint64_t policy)
{
    uint64_t kind = policy & ~POLICY_FRACTION;
    return kind == POLICY_NORMAL || kind == POLICY_FIRST;
}

struct search { /* of the values of registers in one function, as the text names them */
    const struct parsed *p;
    const struct func *f;
    uint8_t *seen; /* by register */
};

static bool honest_value(struct search *s, const struct opnd *o);

static bool honest_definition(struct search *s, const struct insn *i)
{
    const struct opnd *o = i->opnds;
    switch (i->op) {
    case OP_createpolicy: /* evict_last itself is refused where it stands */
        return !insn_has(i, MOD_cvt_policy) || (i->n_opnds > 1 && honest_value(s, &o[1]));
    case OP_mov:
        return i->n_opnds == 2 && honest_value(s, &o[1]);
    case OP_selp:
        return i->n_opnds == 4 && honest_value(s, &o[1]) && honest_value(s, &o[2]);
    default:
        return false;
    }
}

static bool is_register(const struct opnd *o, uint32_t number)
{
    return o->kind == OPND_REG && !o->is_imm && o->off == number;
}

/* Is every value that the register may hold a policy that is known to be honest? */
static bool honest_value(struct search *s, const struct opnd *o)
{
    bool defined = false;
    if (o->kind != OPND_REG || o->ref_kind != REF_NONE)
        return false;
    if (o->is_imm)
        return honest_number((uint64_t)o->imm);
    if (s->seen[o->off])
        return true; /* a loop, or another use: whatever else it holds is looked at already */
    s->seen[o->off] = 1;
    for (uint32_t pc = s->f->first; pc < s->f->end; pc++) {
        const struct insn *i = &s->p->code.v[pc];
        for (unsigned k = 0; k < i->n_opnds; k++) {
            const struct opnd *to = &i->opnds[k];
            bool writes = is_register(to, o->off);
            for (unsigned e = 0; to->kind == OPND_VEC && e < to->n; e++)
                writes |= is_register(&to->vec[e], o->off);
            if (!writes || (i->op != OP_unsupported && !insn_writes(i, k)))
                continue;
            if (k || to->kind == OPND_VEC || !honest_definition(s, i))
                return false;
            defined = true;
        }
        if (i->pair && is_register(i->pair, o->off))
            return false;
    }
    return defined;
}

static bool refused(struct search *s, const struct insn *i)
{
    if (strstr(i->text, "evict_last") || str_starts(i->text, "applypriority") || str_starts(i->text, "discard"))
        return true;
    return strstr(i->text, "L2::cache_hint") && !(i->n_opnds && honest_value(s, &i->opnds[i->n_opnds - 1]));
}

void hints_look(const struct parsed *p, struct ptx_module *m)
{
    struct search s = {.p = p, .seen = mem_zalloc(p->vregs.n + 1)};
    m->pins = UINT32_MAX;
    for (size_t k = 0; k < p->funcs.n && m->pins == UINT32_MAX; k++) {
        s.f = &p->funcs.v[k];
        for (uint32_t pc = s.f->first; pc < s.f->end && m->pins == UINT32_MAX; pc++)
            if (p->code.v[pc].text && refused(&s, &p->code.v[pc]))
                m->pins = pc;
    }
    free(s.seen);
}

bool ptx_module_pins(const struct ptx_module *m, char words[400], int *line)
{
    if (m->pins == UINT32_MAX)
        return false;
    const struct insn *i = &m->code[m->pins];
    const char *what = "the kernel's policy for the L2 may pin lines beyond its own launch",
               *cure =
                   ": make it by createpolicy with evict_first or evict_normal in the same function, or write "
                   "0x12f0000000000000 (evict_first) or 0x1000000000000000 (evict_normal)";
    if (strstr(i->text, "evict_last")) {
        what = "the kernel pins lines in the L2 beyond its own launch";
        cure = ": evict_first, evict_normal and no_allocate are allowed";
    } else if (str_starts(i->text, "applypriority")) {
        what = "the kernel changes the priority of lines in the L2";
        cure = "";
    } else if (str_starts(i->text, "discard")) {
        what = "the kernel drops memory's contents";
        cure = "";
    }
    snprintf(words, 400, "%s (%.60s in its PTX)%s", what, i->text, cure);
    *line = insn_line(m, i);
    return true;
}
