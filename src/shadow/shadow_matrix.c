/* Shadows through what whole warps do with matrices. Who holds what: matrix.h. */
#include "ptx/lane/isa.h"
#include "ptx/lane/wgmma.h"
#include "shadow_value.h"

/* ---- D = A B + C ---- */

struct side { /* A, B or C: the values by row and column, and what of them was lost */
    double v[32][32];
    double real[32][32]; /* where v are the squares of terms */
    uint8_t lost[32][32];
};

static void gather(const struct warp *w, const struct insn *i, unsigned operand, struct side *to)
{
    struct fragment f = mma_fragment(i, operand);
    uint8_t format = shadow_format(mma_type(i, operand));
    unsigned each = format < SHADOW_F32 ? 2 : 1, row, column;
    bool terms = shadow_of(w->launch)->terms;
    struct row r;
    for (unsigned slot = 0; slot < (unsigned)f.pieces * f.run; slot++) {
        const struct opnd *reg = opnd_element(&i->opnds[operand], slot / each);
        row_read(w, reg, format, slot % each, &r);
        for (unsigned l = 0; l < 32; l++) {
            fragment_place(&f, l, slot, &row, &column);
            to->v[row][column] = r.v[l];
            to->lost[row][column] = r.lost[l];
            if (terms)
                to->real[row][column] =
                    shadow_real(format, part_bits(w, reg, slot % each * width_of(format), l));
        }
    }
}

static void multiply_terms(const struct ptx_shadow *s, const struct insn *i, const struct side *a,
                           const struct side *b, struct side *d)
{
    uint8_t format = shadow_format(mma_type(i, 0));

    for (unsigned m = 0; m < i->shape.m; m++)
        for (unsigned k = 0; k < i->shape.k; k++)
            for (unsigned n = 0; n < i->shape.n; n++)
                d->v[m][n] = shadow_terms_sum(
                    s, format, d->real[m][n], d->v[m][n], a->real[m][k] * b->real[k][n],
                    shadow_terms_product(s, a->real[m][k], a->v[m][k], b->real[k][n], b->v[k][n]));
}

void shadow_product(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    struct side a, b, d;
    uint8_t format = shadow_format(mma_type(i, 0)), lost_row[32] = {0}, lost_column[32] = {0};
    if (!shadow_format(mma_type(i, 1)) || !format) {
        shadow_taint(w, i, ~0u, out);
        return;
    }
    gather(w, i, 1, &a);
    gather(w, i, 2, &b);
    gather(w, i, 3, &d);
    for (unsigned k = 0; k < i->shape.k; k++) {
        for (unsigned m = 0; m < i->shape.m; m++)
            lost_row[m] |= a.lost[m][k];
        for (unsigned n = 0; n < i->shape.n; n++)
            lost_column[n] |= b.lost[k][n];
    }
    if (shadow_of(w->launch)->terms) {
        multiply_terms(shadow_of(w->launch), i, &a, &b, &d);
    } else {
        for (unsigned m = 0; m < i->shape.m; m++)
            for (unsigned k = 0; k < i->shape.k; k++)
                for (unsigned n = 0; n < i->shape.n; n++)
                    d.v[m][n] += a.v[m][k] * b.v[k][n];
    }
    struct fragment f = mma_fragment(i, 0);
    unsigned each = format < SHADOW_F32 ? 2 : 1, row, column;
    struct shadow_part *to = NULL;
    struct row r;
    for (unsigned slot = 0; slot < (unsigned)f.pieces * f.run; slot++) {
        if (slot % each == 0)
            to = out_add(out, opnd_element(&i->opnds[0], slot / each));
        for (unsigned l = 0; l < 32; l++) {
            fragment_place(&f, l, slot, &row, &column);
            r.v[l] = d.v[row][column];
            r.lost[l] = d.lost[row][column] | lost_row[row] | lost_column[column];
        }
        row_write(to + slot % each, format, &r);
    }
}

/* ---- the same of a warpgroup: B, and perhaps A, in shared memory ---- */

struct group_sides { /* by row and depth, depth and column, row and column; lost: a whole row, a whole column */
    double a[16][32], b[32][WGMMA_N_MAX], d[16][WGMMA_N_MAX];
    double real_a[16][32], real_b[32][WGMMA_N_MAX], real_d[16][WGMMA_N_MAX]; /* where the others are terms */
    uint8_t lost_row[16], lost_column[WGMMA_N_MAX], lost[16][WGMMA_N_MAX];
};

struct target { /* where a side's values go: element (line, k) at line * down + k * step */
    double *v, *real;
    uint8_t *lost;
    unsigned down, step;
};

static void group_registers(const struct warp *w, const struct insn *i, unsigned operand, double *v,
                            double *real, uint8_t *lost, unsigned columns)
{
    struct fragment f = mma_fragment(i, operand);
    uint8_t format = shadow_format(mma_type(i, operand));
    unsigned each = format < SHADOW_F32 ? 2 : 1, row, column;
    struct row r;
    for (unsigned slot = 0; slot < (unsigned)f.pieces * f.run; slot++) {
        const struct opnd *reg = opnd_element(&i->opnds[operand], slot / each);
        row_read(w, reg, format, slot % each, &r);
        for (unsigned l = 0; l < 32; l++) {
            fragment_place(&f, l, slot, &row, &column);
            size_t at = (size_t)row * columns + column;
            v[at] = r.v[l];
            real[at] = shadow_real(format, part_bits(w, reg, slot % each * width_of(format), l));
            lost[operand == 1 ? row : at] |= r.lost[l];
        }
    }
}

static void group_shared(const struct warp *w, const struct insn *i, unsigned operand, const struct target *to)
{
    struct wgmma_source s = wgmma_source_of(w, i, operand);
    struct ptx_shadow *shadow = shadow_of(w->launch);
    uint8_t format = shadow_format(mma_type(i, operand));
    unsigned size = 2 * width_of(format), line, depth;
    for (unsigned q = 0; q < s.n; q++) {
        uint32_t at = wgmma_chunk(&s, q, &line, &depth);
        for (unsigned e = 0; e < WGMMA_CHUNK / size && at + WGMMA_CHUNK <= w->launch->shared_bytes; e++) {
            const uint8_t *host = w->block->shared + at + (size_t)e * size;
            const struct shadow_cell *c = shadow_cells(shadow, host, false);
            unsigned row = line + (s.x.transposed ? e : 0), k = depth / size + (s.x.transposed ? 0 : e);
            size_t place = (size_t)row * to->down + (size_t)k * to->step;
            double v = 0;
            uint8_t state = c ? shadow_cell_state(c, host, &v) : (uint8_t)SHADOW_PLAIN;
            to->real[place] = shadow_real(format, host);
            if ((state & SHADOW_FORMAT) != format)
                v = shadow->terms ? 0 : to->real[place];
            to->v[place] = v;
            if (state != SHADOW_PLAIN && state != format)
                to->lost[row] |= SHADOW_LOST;
        }
    }
}

static void group_multiply(const struct ptx_shadow *s, const struct insn *i, struct group_sides *x)
{
    uint8_t format = shadow_format(mma_type(i, 0));
    for (unsigned m = 0; m < i->shape.m; m++)
        for (unsigned k = 0; k < i->shape.k; k++)
            for (unsigned n = 0; n < i->shape.n; n++)
                if (s->terms)
                    x->d[m][n] = shadow_terms_sum(
                        s, format, x->real_d[m][n], x->d[m][n], x->real_a[m][k] * x->real_b[k][n],
                        shadow_terms_product(s, x->real_a[m][k], x->a[m][k], x->real_b[k][n], x->b[k][n]));
                else
                    x->d[m][n] += x->a[m][k] * x->b[k][n];
}

/* Executes the instruction. 8-bit types have no shadow: what is made of them is lost. */
static void group_product(struct warp *w, const struct insn *i, uint32_t m)
{
    uint8_t format = shadow_format(mma_type(i, 0));
    bool known = format && shadow_format(mma_type(i, 1));
    struct group_sides *x = mem_zalloc(sizeof(*x));
    if (known && wgmma_in_shared(i, 1))
        group_shared(w, i, 1, &(struct target){x->a[0], x->real_a[0], x->lost_row, 32, 1});
    else if (known)
        group_registers(w, i, 1, x->a[0], x->real_a[0], x->lost_row, 32);
    if (known)
        group_shared(w, i, 2, &(struct target){x->b[0], x->real_b[0], x->lost_column, 1, WGMMA_N_MAX});
    if (known && wgmma_adds(w, i))
        group_registers(w, i, 3, x->d[0], x->real_d[0], x->lost[0], WGMMA_N_MAX);
    bool terms = shadow_of(w->launch)->terms;
    for (unsigned r = 0; r < i->shape.m && known && !terms && wgmma_sign(i, 1) * wgmma_sign(i, 2) < 0; r++)
        for (unsigned k = 0; k < i->shape.k; k++)
            x->a[r][k] = -x->a[r][k];
    if (known)
        group_multiply(shadow_of(w->launch), i, x);
    i->fn(w, i, m);
    struct fragment f = mma_fragment(i, 0);
    unsigned each = known && format < SHADOW_F32 ? 2 : 1, row, column;
    for (unsigned slot = 0; slot < (unsigned)f.pieces * f.run && !w->launch->stop && (w->mask & m) == m;
         slot++) {
        const struct opnd *reg =
            opnd_element(&i->opnds[0], MIN(slot / each, matrix_reg_count(&i->opnds[0]) - 1));
        struct shadow_part *to = &warp_shadow(w)[reg->off / 64];
        struct row r = {0};
        for (unsigned l = 0; l < 32; l++) {
            fragment_place(&f, l, slot, &row, &column);
            r.v[l] = x->d[row][column];
            r.lost[l] = known ? x->lost[row][column] | x->lost_row[row] | x->lost_column[column] : SHADOW_LOST;
        }
        row_write(to + slot % each, known ? format : SHADOW_PLAIN, &r);
        if (each == 1)
            memset(to[1].s, known ? 0 : SHADOW_LOST, sizeof(to[1].s));
    }
    free(x);
}

/* ---- ldmatrix and stmatrix: part h of lane l is row l / 4, column 2 (l % 4) + h of an 8 x 8 matrix ---- */

static void rows_of(const struct warp *w, const struct insn *i, const struct opnd *address, unsigned n,
                    uint8_t *host[32])
{
    for (unsigned l = 0; l < 32; l++)
        host[l] = l < 8 * n ? host_of(w, (enum space)i->space, matrix_base(w, address, l), l, 16) : NULL;
}

static void load_rows(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    const struct opnd *o = &i->opnds[0];
    bool trans = insn_has(i, MOD_trans);
    uint8_t *host[32];
    rows_of(w, i, &i->opnds[1], matrix_reg_count(o), host);
    for (unsigned k = 0; k < matrix_reg_count(o); k++) {
        struct shadow_part *d = out_add(out, opnd_element(o, k));
        for (unsigned l = 0; l < 32; l++)
            for (unsigned h = 0; h < 2; h++) {
                unsigned g = l / 4, t = l % 4 * 2 + h;
                const uint8_t *row = host[8 * k + (trans ? t : g)];
                if (!row)
                    continue;
                row += 2 * (trans ? g : t);
                const struct shadow_cell *c = shadow_cells(shadow_of(w->launch), row, false);
                if (c)
                    d[h].s[l] = shadow_cell_state(c, row, &d[h].v[l]);
            }
    }
}

static void store_rows(const struct warp *w, const struct insn *i, uint8_t *host[32])
{
    const struct opnd *o = &i->opnds[1];
    bool trans = insn_has(i, MOD_trans);
    for (unsigned k = 0; k < matrix_reg_count(o); k++) {
        const struct shadow_part *p = shadow_parts(w, opnd_element(o, k));
        for (unsigned l = 0; l < 32; l++)
            for (unsigned h = 0; h < 2; h++) {
                unsigned g = l / 4, t = l % 4 * 2 + h;
                uint8_t *row = host[8 * k + (trans ? t : g)];
                if (row)
                    cell_store(shadow_of(w->launch), row + 2 * (trans ? g : t), 2, p + h, l);
            }
    }
}

void shadow_turn_matrix(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    const struct shadow_part *a = shadow_parts(w, &i->opnds[1]);
    struct shadow_part *d = out_add(out, &i->opnds[0]);
    for (unsigned l = 0; l < 32; l++)
        for (unsigned h = 0; h < 2; h++) {
            unsigned row = l % 4 * 2 + h, column = l / 4; /* of the source */
            d[h].s[l] = a[column % 2].s[4 * row + column / 2];
            d[h].v[l] = a[column % 2].v[4 * row + column / 2];
        }
}

/* ---- wmma.load and wmma.store ---- */

/* Where an element lies, whose it is (lane) and in which parts of which register. */
struct element {
    uint8_t *host;
    unsigned lane;
    const struct opnd *reg;
    unsigned part;
};

static struct element element_at(const struct warp *w, const struct insn *i, const struct matrix_access *x,
                                 unsigned part, unsigned lane, unsigned atom)
{
    const struct opnd *address = &i->opnds[1 - (i->op == OP_wmma_store)];
    uint64_t at = matrix_base(w, address, 0) + matrix_offset(x, part, lane, matrix_stride(w, i, x, 0));
    unsigned slot, width = fragment_reg_bytes(&x->f);
    struct element e = {.lane = matrix_holder(x, part, lane, atom, &slot)};
    e.host = host_of(w, (enum space)i->space, at + (uint64_t)atom * x->size, lane, x->size);
    e.reg = opnd_element(matrix_operand(i), slot * x->size / width);
    e.part = slot * x->size % width / 2;
    return e;
}

static void load_fragment(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    struct matrix_access x = matrix_access_of(i);
    const struct opnd *regs = matrix_operand(i);
    struct shadow_part *to[8];
    for (unsigned k = 0; k < matrix_reg_count(regs); k++)
        to[k] = out_add(out, opnd_element(regs, k));
    for (unsigned part = 0; part < x.parts && x.size > 1; part++)
        for (unsigned l = 0; l < 32; l++)
            for (unsigned atom = 0; atom < x.atoms; atom++) {
                struct element e = element_at(w, i, &x, part, l, atom);
                size_t reg = (size_t)(regs->kind == OPND_VEC ? e.reg - regs->vec : 0);
                if (e.host)
                    cell_load(shadow_of(w->launch), e.host, x.size, to[reg] + e.part, e.lane);
            }
    for (unsigned k = fragment_regs(&x.f), own = k; k < matrix_reg_count(regs); k++)
        memcpy(to[k], to[k % own], opnd_parts(opnd_element(regs, k)) * sizeof(*to[k]));
}

static void store_fragment(const struct warp *w, const struct insn *i, const struct matrix_access *x)
{
    for (unsigned part = 0; part < x->parts; part++)
        for (unsigned l = 0; l < 32; l++)
            for (unsigned atom = 0; atom < x->atoms; atom++) {
                struct element e = element_at(w, i, x, part, l, atom);
                if (e.host)
                    cell_store(shadow_of(w->launch), e.host, x->size, shadow_parts(w, e.reg) + e.part, e.lane);
            }
}

void shadow_load_matrix(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    if (i->op == OP_wmma_load)
        load_fragment(w, i, out);
    else
        load_rows(w, i, out);
}

void shadow_store_matrix(struct warp *w, const struct insn *i, uint32_t m)
{
    uint8_t *host[32];
    if (i->op == OP_wgmma_mma) {
        group_product(w, i, m);
        return;
    }
    if (i->op == OP_stmatrix)
        rows_of(w, i, &i->opnds[0], matrix_reg_count(&i->opnds[1]), host);
    i->fn(w, i, m);
    if (w->launch->stop || (w->mask & m) != m)
        return;
    if (i->op == OP_stmatrix) {
        store_rows(w, i, host);
        return;
    }
    struct matrix_access x = matrix_access_of(i);
    store_fragment(w, i, &x);
}
