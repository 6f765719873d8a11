/* How long registers live, and their places: a linear scan over lives found by data flow. A life is that of a
 * single thread, which is enough because a handler never writes a lane that does not execute. A destination
 * shares no place with a source of the same instruction unless they are the same register. */
#include "lower.h"

void visit_registers(struct insn *i, visit_fn *visit, void *context)
{
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned k = 0; k < i->n_opnds; k++) {
            struct opnd *o = &i->opnds[k];
            bool writes = insn_writes(i, k);
            if (i->op == OP_call && k != 1) /* parameters: bytes in the file, not registers */
                continue;
            if (o->kind == OPND_VEC) {
                for (unsigned e = 0; e < o->n; e++)
                    if ((o->vec[e].kind == OPND_REG || o->vec[e].kind == OPND_SINK) && writes == (pass == 1))
                        visit(context, &o->vec[e], writes);
            } else if ((o->kind == OPND_REG || o->kind == OPND_SINK || o->kind == OPND_ADDR) &&
                       (writes && o->kind != OPND_ADDR) == (pass == 1)) {
                visit(context, o, writes);
            }
        }
        if (i->pair && pass == 1 && (i->pair->kind == OPND_REG || i->pair->kind == OPND_SINK))
            visit(context, i->pair, true);
    }
}

struct life {
    uint32_t from, to; /* instructions, relative to the function; from > to: never used */
};

struct flow { /* a basic block */
    uint32_t first, end;
    uint32_t next[2];
    uint32_t n_next;
    const struct opnd *table; /* brx */
};

struct lives {
    const struct func *f;
    struct insn *code;
    uint32_t n_vregs, words;
    uint64_t *in, *out, *gen, *kill;
    struct life *life;
    struct flow *flow;
    size_t n_flow;
    /* of the visitor */
    uint64_t *v_gen, *v_kill;
    bool guarded;
    uint32_t at;
};

static void visit_gen_kill(void *context, struct opnd *o, bool writes)
{
    struct lives *v = context;
    if (o->is_imm || o->kind == OPND_SINK)
        return;
    uint32_t r = o->off - v->f->first_vreg;
    if (writes && !v->guarded)
        v->v_kill[r / 64] |= 1ull << (r % 64);
    if (!writes && !(v->v_kill[r / 64] >> (r % 64) & 1))
        v->v_gen[r / 64] |= 1ull << (r % 64);
}

static void visit_life(void *context, struct opnd *o, bool writes)
{
    struct lives *v = context;
    (void)writes;
    if (o->is_imm || o->kind == OPND_SINK)
        return;
    struct life *l = &v->life[o->off - v->f->first_vreg];
    l->from = MIN(l->from, v->at);
    l->to = MAX(l->to, v->at);
}

static void guard_visit(struct lives *v, struct insn *i, visit_fn *visit)
{
    if (i->guard == ~0u)
        return;
    struct opnd g = {.kind = OPND_REG, .off = i->guard};
    visit(v, &g, false);
}

static bool ends_block(const struct insn *i)
{
    return i->op == OP_bra || i->op == OP_brx || i->op == OP_ret || i->op == OP_exit || i->op == OP_bound_end;
}

static void find_flow(struct arena *a, struct lives *v)
{
    uint32_t n = v->f->end - v->f->first, *block_at = arena_array(a, uint32_t, n + 1);
    block_at[0] = 1;
    for (uint32_t k = 0; k < n; k++) {
        const struct insn *i = &v->code[k];
        if (!ends_block(i))
            continue;
        if (k + 1 < n)
            block_at[k + 1] = 1;
        if (i->op == OP_bra)
            block_at[i->opnds[0].imm - v->f->first] = 1;
        if (i->op == OP_brx)
            for (int64_t t = 0; t < i->opnds[1].imm; t++)
                block_at[i->opnds[1].vec[t].imm - v->f->first] = 1;
    }
    for (uint32_t k = 0; k < n; k++)
        v->n_flow += block_at[k];
    v->flow = arena_array(a, struct flow, v->n_flow);
    uint32_t b = 0;
    for (uint32_t k = 0; k < n; k++)
        if (block_at[k]) {
            block_at[k] = b;
            v->flow[b++].first = k;
        } else {
            block_at[k] = b - 1;
        }
    for (b = 0; b < v->n_flow; b++) {
        struct flow *f = &v->flow[b];
        f->end = b + 1 < v->n_flow ? v->flow[b + 1].first : n;
        const struct insn *last = &v->code[f->end - 1];
        bool falls = !ends_block(last) || last->guard != ~0u;
        if (last->op == OP_bra)
            f->next[f->n_next++] = block_at[last->opnds[0].imm - v->f->first];
        if (last->op == OP_brx)
            f->table = &last->opnds[1];
        if (falls && b + 1 < v->n_flow)
            f->next[f->n_next++] = b + 1;
    }
    /* the table's labels become blocks through block_at once more below */
    for (b = 0; b < v->n_flow; b++)
        if (v->flow[b].table) {
            struct opnd *t =
                arena_copy(a, v->flow[b].table->vec, (size_t)v->flow[b].table->imm * sizeof(struct opnd));
            struct opnd *copy = arena_copy(a, v->flow[b].table, sizeof(*copy));
            for (int64_t k = 0; k < copy->imm; k++)
                t[k].imm = block_at[t[k].imm - v->f->first];
            copy->vec = t;
            v->flow[b].table = copy;
        }
}

static bool join(uint64_t *out, const uint64_t *in, uint32_t words)
{
    uint64_t changed = 0;
    for (uint32_t k = 0; k < words; k++) {
        changed |= in[k] & ~out[k];
        out[k] |= in[k];
    }
    return changed != 0;
}

/* A product of wgmma goes on with its registers after the last instruction that names them: what it accumulates
 * and its fragments of A share no place with others, so that who uses the place uses the register. */
static void keep_fragments(struct lives *v)
{
    const uint32_t n = v->f->end - v->f->first;
    for (uint32_t k = 0; k < n; k++)
        for (unsigned operand = 0; v->code[k].op == OP_wgmma_mma && operand <= 1; operand++) {
            const struct opnd *o = &v->code[k].opnds[operand];
            for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
                if (o->vec[e].kind == OPND_REG && !o->vec[e].is_imm)
                    v->life[o->vec[e].off - v->f->first_vreg] = (struct life){0, n - 1};
        }
}

static void find_unread(struct lives *v)
{
    for (uint32_t k = 0; k < v->f->end - v->f->first; k++) {
        struct opnd *o = &v->code[k].opnds[0];
        if (v->code[k].op != OP_atom)
            continue;
        const struct life *l = o->kind == OPND_REG ? &v->life[o->off - v->f->first_vreg] : NULL;
        o->unread = o->kind == OPND_SINK || (l && l->from == l->to);
    }
}

static void find_lives(struct arena *a, struct lives *v)
{
    find_flow(a, v);
    v->words = (v->n_vregs + 63) / 64;
    size_t bits = v->n_flow * v->words;
    v->in = arena_array(a, uint64_t, bits + 1);
    v->out = arena_array(a, uint64_t, bits + 1);
    v->gen = arena_array(a, uint64_t, bits + 1);
    v->kill = arena_array(a, uint64_t, bits + 1);
    for (size_t b = 0; b < v->n_flow; b++) {
        v->v_gen = v->gen + b * v->words;
        v->v_kill = v->kill + b * v->words;
        for (uint32_t k = v->flow[b].first; k < v->flow[b].end; k++) {
            v->guarded = v->code[k].guard != ~0u;
            guard_visit(v, &v->code[k], visit_gen_kill);
            visit_registers(&v->code[k], visit_gen_kill, v);
        }
        memcpy(v->in + b * v->words, v->v_gen, v->words * 8);
    }
    for (bool again = true; again;) {
        again = false;
        for (size_t b = v->n_flow; b-- > 0;) {
            uint64_t *out = v->out + b * v->words, *in = v->in + b * v->words;
            const struct flow *f = &v->flow[b];
            bool changed = false;
            for (uint32_t s = 0; s < f->n_next; s++)
                changed |= join(out, v->in + f->next[s] * v->words, v->words);
            for (int64_t t = 0; f->table && t < f->table->imm; t++)
                changed |= join(out, v->in + (uint32_t)f->table->vec[t].imm * v->words, v->words);
            if (!changed)
                continue;
            for (uint32_t k = 0; k < v->words; k++)
                in[k] |= out[k] & ~v->kill[b * v->words + k];
            again = true;
        }
    }
    v->life = arena_array(a, struct life, v->n_vregs + 1);
    for (uint32_t r = 0; r < v->n_vregs; r++)
        v->life[r] = (struct life){.from = UINT32_MAX, .to = 0};
    for (size_t b = 0; b < v->n_flow; b++) {
        for (uint32_t k = 0; k < v->words; k++)
            for (int side = 0; side < 2; side++) {
                uint64_t bits_left = side ? v->out[b * v->words + k] : v->in[b * v->words + k];
                uint32_t at = side ? v->flow[b].end - 1 : v->flow[b].first;
                for (; bits_left; bits_left &= bits_left - 1) {
                    struct life *l = &v->life[k * 64 + (uint32_t)__builtin_ctzll(bits_left)];
                    l->from = MIN(l->from, at);
                    l->to = MAX(l->to, at);
                }
            }
        for (uint32_t k = v->flow[b].first; k < v->flow[b].end; k++) {
            v->at = k;
            guard_visit(v, &v->code[k], visit_life);
            visit_registers(&v->code[k], visit_life, v);
        }
    }
    keep_fragments(v);
    find_unread(v);
}

/* ---- places ---- */

struct order {
    uint32_t from, vreg;
};

static int order_compare(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return x->from != y->from ? ORDER(x->from, y->from) : ORDER(x->vreg, y->vreg);
}

/* Linear scan: places are taken from the free list of their size when a life begins, given back after it ended.
 */
void place_registers(struct lower *lo, struct func *f)
{
    uint32_t n_vregs = f->end_vreg - f->first_vreg;
    if (!f->has_body || !n_vregs)
        return;
    struct arena *a = arena_open();
    struct lives v = {.f = f, .code = &lo->p->code.v[f->first], .n_vregs = n_vregs};
    find_lives(a, &v);
    struct order *order = arena_array(a, struct order, n_vregs);
    uint32_t n = 0;
    for (uint32_t r = 0; r < n_vregs; r++)
        if (v.life[r].from <= v.life[r].to)
            order[n++] = (struct order){v.life[r].from, r};
    qsort(order, n, sizeof(*order), order_compare);
    VEC(uint32_t) freed[5] = {0};
    VEC(struct place) places = {0};
    uint32_t n_insns = f->end - f->first, *dying = arena_array(a, uint32_t, n_insns + 1),
             *next_dying = arena_array(a, uint32_t, n_vregs + 1);
    uint32_t done = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = order[k].vreg;
        struct vreg *reg = &lo->p->vregs.v[f->first_vreg + r];
        for (; done < order[k].from; done++)
            for (uint32_t d = dying[done]; d; d = next_dying[d - 1]) {
                const struct vreg *old = &lo->p->vregs.v[f->first_vreg + d - 1];
                vec_push(&freed[class_of(old->bytes)], old->off);
            }
        int class = class_of(reg->bytes);
        if (freed[class].n) {
            reg->off = vec_last(&freed[class]);
            freed[class].n--;
        } else {
            uint32_t *top = class ? &lo->top : &lo->pred_bytes;
            reg->off = *top;
            *top += class_size(class);
            if (f->is_recursive) {
                struct place place = {.off = reg->off, .bytes = reg->bytes};
                vec_push(&places, place);
            }
        }
        next_dying[r] = dying[v.life[r].to];
        dying[v.life[r].to] = r + 1;
    }
    if (places.n)
        f->places = arena_copy(lo->m->arena, places.v, places.n * sizeof(*places.v));
    f->n_places = (uint32_t)places.n;
    vec_free(&places);
    for (int c = 0; c < 5; c++)
        vec_free(&freed[c]);
    arena_close(a);
}
