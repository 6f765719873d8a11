/* Products and sums without a rounding of their own, that the assembler makes one instruction of. The ISA lets
 * it
 * ("mul/add sequences with no rounding modifiers may be optimized to use fused-multiply-add"). What it fuses
 * was seen in what ptxas of CUDA 13.0 makes of some eighty small kernels:
 * - a product all of whose uses are sums goes into each of them; one that anything else reads stays as it is,
 * and so do its sums;
 * - the sums stand in the product's basic block, or one of its factors is no register of the machine: an
 * immediate, a parameter, a constant;
 * - type and .ftz of both are the same; the product has no .sat and no guard; a sum of a product and itself
 * stays;
 * - of two products in one sum that which has no other use goes in, and else the first.
 * Seen there, and left alone here: a neg in between, factors that are written again before the sum is made, and
 * basic blocks that the assembler itself makes one, by unrolling a loop. */
#include "lower.h"

struct reg {
    uint32_t defs, uses;
    uint32_t def;    /* where it is written */
    uint32_t taken;  /* by sums */
    bool is_product; /* and may go into sums */
};

struct written { /* a register that somebody writes? */
    uint32_t off;
    bool found;
};

struct contract {
    struct parsed *p;
    struct arena *arena;
    struct reg *regs;
    uint32_t at;
    uint32_t *block; /* the basic block of each instruction */
    uint8_t *factor; /* of each instruction: the operand that is the product which goes in; 0: none */
};

static bool is_open(const struct insn *i) /* to be rounded together with another */
{
    static const enum mod own[] = {MOD_rn, MOD_rz, MOD_rm, MOD_rp};

    for (size_t k = 0; k < ARRAY_LEN(own); k++)
        if (insn_has(i, own[k]))
            return false;
    return i->n_types == 1 && i->type >= TYPE_F16 && i->type <= TYPE_F64 && i->n_opnds == 3 &&
           i->opnds[0].kind == OPND_REG && !i->opnds[0].is_imm && i->opnds[1].kind == OPND_REG &&
           i->opnds[2].kind == OPND_REG;
}

static void visit_count(void *context, struct opnd *o, bool writes)
{
    struct contract *c = context;

    if (o->is_imm || o->kind == OPND_SINK)
        return;
    struct reg *r = &c->regs[o->off];
    if (writes) {
        r->defs++;
        r->def = c->at;
    } else {
        r->uses++;
    }
}

static void visit_written(void *context, struct opnd *o, bool writes)
{
    struct written *w = context;

    w->found |= writes && !o->is_imm && o->kind == OPND_REG && o->off == w->off;
}

/* Is what operand o holds at `from` still there at `to`? A register that is written in one place is: whoever
 * comes from there to the sum comes past the product. Another one is followed within a basic block. */
static bool stays(const struct contract *c, const struct opnd *o, uint32_t from, uint32_t to)
{
    struct written w = {.off = o->off};

    if (o->is_imm || c->regs[o->off].defs == 1)
        return true;
    for (uint32_t k = from + 1; k < to && !w.found; k++)
        visit_registers(&c->p->code.v[k], visit_written, &w);
    return from < to && c->block[from] == c->block[to] && !w.found;
}

/* Stands o in the machine's instruction itself, so that it costs no register to keep it? */
static bool is_constant(const struct contract *c, const struct opnd *o)
{
    if (o->is_imm)
        return true;
    const struct insn *i = &c->p->code.v[c->regs[o->off].def];
    bool fixed = i->space == SPACE_CONST || (i->space == SPACE_PARAM && c->p->funcs.v[i->func].is_entry);
    return c->regs[o->off].defs == 1 && i->op == OP_ld && fixed && i->opnds[1].is_imm && i->guard == ~0u;
}

static struct reg *product_of(const struct contract *c, const struct insn *sum, unsigned k)
{
    const struct opnd *o = &sum->opnds[k];
    struct reg *r = o->is_imm ? NULL : &c->regs[o->off];

    if (!r || !r->is_product || (!sum->opnds[3 - k].is_imm && sum->opnds[3 - k].off == o->off))
        return NULL;
    const struct insn *product = &c->p->code.v[r->def];
    const struct opnd *x = &product->opnds[1], *y = &product->opnds[2];
    uint32_t at = (uint32_t)(sum - c->p->code.v);
    bool near = c->block[r->def] == c->block[at] || is_constant(c, x) || is_constant(c, y);
    bool alike = product->type == sum->type && insn_has(product, MOD_ftz) == insn_has(sum, MOD_ftz);
    return near && alike && stays(c, x, r->def, at) && stays(c, y, r->def, at) ? r : NULL;
}

static bool is_sum(const struct insn *i)
{
    return (i->op == OP_add || i->op == OP_sub) && is_open(i);
}

/* Gives each sum the product that goes into it; where one has too few sums in the end, it goes into none. */
static void choose(struct contract *c, uint32_t first, uint32_t end)
{
    for (int alone = 1; alone >= 0; alone--)
        for (uint32_t at = first; at < end; at++) {
            const struct insn *i = &c->p->code.v[at];
            for (unsigned k = 1; k <= 2 && is_sum(i) && !c->factor[at]; k++) {
                struct reg *r = product_of(c, i, k);
                if (!r || (alone && r->uses > 1))
                    continue;
                c->factor[at] = (uint8_t)k;
                r->taken++;
            }
        }
}

static bool drop_partial(struct contract *c, uint32_t first, uint32_t end)
{
    bool dropped = false;

    for (uint32_t at = first; at < end; at++) {
        const struct insn *i = &c->p->code.v[at];
        struct reg *r = c->factor[at] ? &c->regs[i->opnds[c->factor[at]].off] : NULL;
        if (r && r->taken < r->uses) {
            r->is_product = false;
            dropped = true;
        }
    }
    return dropped;
}

static void look_at(struct contract *c, const struct func *f)
{
    for (uint32_t at = f->first; at < f->end; at++) {
        const struct insn *i = &c->p->code.v[at];
        if (i->op == OP_mul && is_open(i) && !insn_has(i, MOD_sat) && i->guard == ~0u &&
            c->regs[i->opnds[0].off].defs == 1)
            c->regs[i->opnds[0].off].is_product = true;
    }
    do {
        for (uint32_t at = f->first; at < f->end; at++) {
            if (c->factor[at])
                c->regs[c->p->code.v[at].opnds[c->factor[at]].off].taken = 0;
            c->factor[at] = 0;
        }
        choose(c, f->first, f->end);
    } while (drop_partial(c, f->first, f->end));
}

/* x * y + z, x * y - z, z - x * y: what is negative goes through the product's register, which nobody else
 * reads now. A neg is free, being part of the instruction that reads it. */
static void push_fused(struct contract *c, struct insn *out, size_t *n, const struct insn *sum, unsigned k)
{
    const struct opnd *own = &sum->opnds[k];
    const struct insn *product = &c->p->code.v[c->regs[own->off].def];
    struct opnd *o = arena_array(c->arena, struct opnd, MAX_OPNDS);
    struct insn fused = *sum;

    o[0] = sum->opnds[0];
    o[1] = product->opnds[1];
    o[2] = product->opnds[2];
    o[3] = sum->opnds[3 - k];
    if (sum->op == OP_sub) {
        struct opnd *minus = k == 1 ? &o[3] : &o[1], *v = arena_array(c->arena, struct opnd, MAX_OPNDS);
        struct insn neg = *sum;
        v[0] = *own;
        v[1] = *minus;
        neg.op = OP_neg;
        neg.guard = ~0u;
        neg.guard_not = 0;
        memset(neg.mods, 0, sizeof(neg.mods));
        neg.opnds = v;
        neg.n_opnds = 2;
        neg.text = arena_printf(c->arena, "neg%s", strrchr(sum->text, '.'));
        out[(*n)++] = neg;
        *minus = *own;
    }
    fused.op = OP_fma;
    fused.mods[MOD_rn >> 6] |= 1ull << (MOD_rn & 63);
    fused.opnds = o;
    fused.n_opnds = 4;
    fused.text = arena_printf(c->arena, "fma.rn%s", strchr(sum->text, '.'));
    out[(*n)++] = fused;
}

/* Where an instruction may branch to: a label, or those of a table. */
static struct opnd *labels_of(struct insn *i, int64_t *n)
{
    for (unsigned k = 0; k < i->n_opnds; k++) {
        struct opnd *o = &i->opnds[k];
        if (o->kind != OPND_LABEL)
            continue;
        *n = o->vec ? o->imm : 1;
        return o->vec ? o->vec : o;
    }
    *n = 0;
    return NULL;
}

static void move_labels(struct contract *c, struct insn *i, const uint32_t *to)
{
    int64_t n;
    struct opnd *labels = labels_of(i, &n);

    if (labels && labels == i->opnds[i->n_opnds - 1].vec) /* instructions share tables */
        labels = i->opnds[i->n_opnds - 1].vec = arena_copy(c->arena, labels, (size_t)n * sizeof(*labels));
    for (int64_t k = 0; k < n; k++)
        labels[k].imm = to[labels[k].imm];
}

/* The code anew, where something was fused. */
static void rewrite(struct contract *c, size_t n_sums)
{
    struct parsed *p = c->p;
    uint32_t *to = arena_array(c->arena, uint32_t, p->code.n + 1);
    struct insn *out = arena_array(c->arena, struct insn, p->code.n + n_sums + 1);
    size_t n = 0;

    for (size_t at = 0; at < p->code.n; at++) {
        const struct insn *i = &p->code.v[at];
        to[at] = (uint32_t)n;
        if (c->factor[at])
            push_fused(c, out, &n, i, c->factor[at]);
        else if (i->op != OP_mul || !is_open(i) || !c->regs[i->opnds[0].off].taken)
            out[n++] = *i;
    }
    to[p->code.n] = (uint32_t)n;
    p->code.n = 0;
    for (size_t k = 0; k < n; k++) {
        move_labels(c, &out[k], to);
        vec_push(&p->code, out[k]);
    }
    for (size_t k = 0; k < p->funcs.n; k++) {
        p->funcs.v[k].first = to[p->funcs.v[k].first];
        p->funcs.v[k].end = to[p->funcs.v[k].end];
    }
}

static void find_blocks(struct contract *c)
{
    const struct parsed *p = c->p;

    for (size_t at = 0; at < p->code.n; at++) {
        struct insn *i = &p->code.v[at];
        int64_t n;
        const struct opnd *labels = labels_of(i, &n);
        for (int64_t k = 0; k < n; k++)
            c->block[labels[k].imm] = 1;
        if (op_table[i->op].unit == UNIT_CONTROL)
            c->block[at + 1] = 1;
    }
    for (size_t k = 0; k < p->funcs.n; k++)
        c->block[p->funcs.v[k].first] = 1;
    for (size_t at = 1; at < p->code.n; at++)
        c->block[at] += c->block[at - 1];
}

void contract(struct parsed *p)
{
    struct arena *scratch = arena_open();
    struct contract c = {.p = p,
                         .arena = p->module->arena,
                         .regs = arena_array(scratch, struct reg, p->vregs.n + 1),
                         .block = arena_array(scratch, uint32_t, p->code.n + 1),
                         .factor = arena_array(scratch, uint8_t, p->code.n + 1)};
    size_t n_sums = 0;

    for (; c.at < p->code.n; c.at++)
        visit_registers(&p->code.v[c.at], visit_count, &c);
    find_blocks(&c);
    for (size_t k = 0; k < p->funcs.n; k++)
        look_at(&c, &p->funcs.v[k]);
    for (size_t k = 0; k < p->code.n; k++)
        n_sums += c.factor[k] != 0;
    if (n_sums)
        rewrite(&c, n_sums);
    arena_close(scratch);
}
