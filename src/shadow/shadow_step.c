/* One instruction and its shadow: what the destinations' shadows will be is found from the sources before the
 * instruction executes, and written when it has. */
#include "ptx/lane/half_row.h"
#include "ptx/lane/isa.h"
#include "shadow_value.h"

#include <math.h>

static unsigned values_of(enum type t)
{
    return t == TYPE_F16X2 || t == TYPE_BF16X2 || t == TYPE_F32X2 ? 2 : 1;
}

/* ---- rows ---- */

static void row_real(const struct warp *w, const struct opnd *o, uint8_t format, unsigned part, double *v)
{
    if (format == SHADOW_F32 && o->bytes == 4) {
        const float *f = REG(float, w, o->off);
        for (unsigned l = 0; l < 32; l++)
            v[l] = f[l];
    } else if (format == SHADOW_F64) {
        row_copy(v, REG(double, w, o->off));
    } else if (format != SHADOW_F32 && o->bytes <= 4) {
        const uint16_t *h = REG(uint16_t, w, o->off);
        uint16_t halves[32];
        float f[32];
        if (o->bytes == 4) {
            for (unsigned l = 0; l < 32; l++)
                halves[l] = h[2 * l + part];
            h = halves;
        }
        if (format == SHADOW_F16)
            half_row_widen(f, h, 32);
        else
            for (unsigned l = 0; l < 32; l++)
                f[l] = half_bf16_to_f32(h[l]);
        for (unsigned l = 0; l < 32; l++)
            v[l] = f[l];
    } else {
        for (unsigned l = 0; l < 32; l++)
            v[l] = shadow_real(format, part_bits(w, o, part, l));
    }
}

/* The values stand in r->v, or where they are when the register has a shadow in every lane. */
static const double *row_view(const struct warp *w, const struct opnd *o, uint8_t format, unsigned part,
                              struct row *r)
{
    const struct shadow_part *p = shadow_parts(w, o) + part;
    unsigned width = width_of(format);
    bool any = false, all = !o->is_imm;
    memset(r->lost, 0, sizeof(r->lost));
    for (unsigned l = 0; l < 32; l++)
        all &= p->s[l] == format;
    if (all)
        return p->v;
    for (unsigned k = 0; !o->is_imm && k < width; k++)
        any |= part_any(&p[k]);
    row_real(w, o, format, part, r->v);
    for (unsigned l = 0; any && l < 32; l++) {
        uint8_t s = p->s[l];
        if (s) {
            if ((s & SHADOW_FORMAT) == format)
                r->v[l] = p->v[l];
            r->lost[l] = s != format ? SHADOW_LOST : 0;
            continue;
        }
        uint16_t low;
        memcpy(&low, part_bits(w, o, part, l), 2);
        if (format == SHADOW_F32 && (p[1].s[l] & SHADOW_FORMAT) == SHADOW_BF16 && !low) {
            r->v[l] = p[1].v[l]; /* a bf16 made an f32 by packing */
            r->lost[l] = p[1].s[l] & SHADOW_LOST;
            continue;
        }
        for (unsigned k = 1; k < width; k++)
            r->lost[l] |= p[k].s[l] ? SHADOW_LOST : 0;
    }
    return r->v;
}

/* The squares of terms, which a plain value has none of. */
static void row_terms(const struct warp *w, const struct opnd *o, uint8_t format, unsigned part, struct row *r)
{
    const struct shadow_part *p = shadow_parts(w, o) + part;
    memset(r, 0, sizeof(*r));
    for (unsigned l = 0; !o->is_imm && l < 32; l++) {
        bool packed = format == SHADOW_F32 && !p->s[l] && (p[1].s[l] & SHADOW_FORMAT) == SHADOW_BF16;
        const struct shadow_part *from = p + packed;
        if (packed || (p->s[l] & SHADOW_FORMAT) == format)
            r->v[l] = fabs(from->v[l]);
        r->lost[l] = from->s[l] & SHADOW_LOST;
    }
}

void row_read(const struct warp *w, const struct opnd *o, uint8_t format, unsigned part, struct row *r)
{
    if (shadow_of(w->launch)->terms) {
        row_terms(w, o, format, part, r);
        return;
    }
    const double *v = row_view(w, o, format, part, r);
    if (v != r->v)
        row_copy(r->v, v);
}

/* Value e of a destination, at once: for instructions that never wait and have read what they need. The parts
 * behind its first are plain. */
static void row_put(const struct warp *w, const struct opnd *o, uint32_t m, uint8_t format, unsigned values,
                    unsigned e, const struct row *r)
{
    unsigned n = opnd_parts(o) / values;
    struct shadow_part *p = &shadow_parts(w, o)[e * n];
    if (m == ~0u) {
        row_write(p, format, r);
        for (unsigned k = 1; k < n; k++)
            memset(p[k].s, 0, sizeof(p[k].s));
        return;
    }
    for (unsigned l = 0; l < 32; l++) {
        p->s[l] = m >> l & 1 ? format | r->lost[l] : p->s[l];
        p->v[l] = m >> l & 1 ? r->v[l] : p->v[l];
    }
    for (unsigned k = 1; k < n; k++)
        for (unsigned l = 0; l < 32; l++)
            p[k].s[l] = m >> l & 1 ? SHADOW_PLAIN : p[k].s[l];
}

static void shadow_commit(struct warp *w, uint32_t m, const struct shadow_out *out)
{
    for (unsigned k = 0; k < out->n; k++) {
        struct shadow_part *p = &warp_shadow(w)[out->at[k]];
        const struct shadow_part *q = &out->p[k];
        if (m == ~0u) {
            memcpy(p->s, q->s, sizeof(p->s));
            if (part_any(q))
                row_copy(p->v, q->v);
            continue;
        }
        for (unsigned l = 0; l < 32; l++) {
            p->s[l] = m >> l & 1 ? q->s[l] : p->s[l];
            p->v[l] = m >> l & 1 ? q->v[l] : p->v[l];
        }
    }
}

/* ---- arithmetic ---- */

/* The one that the real values choose; NaN loses. */
static double chosen(double x, double y, double rx, double ry, bool max)
{
    if (rx != rx || ry != ry)
        return rx != rx ? y : x;
    if (rx == ry)
        return max ? fmax(x, y) : fmin(x, y);
    return (rx < ry) == max ? y : x;
}

#define EVERY for (unsigned l = 0; l < 32; l++)

static void combine(const struct insn *i, const double *x, const double *y, const double *z, double (*real)[32],
                    double *r, uint32_t m)
{
    switch ((enum real_kind)op_table[i->op].real) {
    case REAL_ADD:
        EVERY r[l] = x[l] + y[l];
        break;
    case REAL_SUB:
        EVERY r[l] = x[l] - y[l];
        break;
    case REAL_MUL:
        EVERY r[l] = x[l] * y[l];
        break;
    case REAL_FMA:
        EVERY r[l] = x[l] * y[l] + z[l];
        break;
    case REAL_DIV:
        EVERY r[l] = x[l] / y[l];
        break;
    case REAL_COPYSIGN: /* copysign d, a, b: the sign of a, the rest of b */
        EVERY r[l] = signbit(real[0][l]) ? -fabs(y[l]) : fabs(y[l]);
        break;
    case REAL_MIN:
    case REAL_MAX: {
        bool max = op_table[i->op].real == REAL_MAX;
        EVERY
        {
            r[l] = chosen(x[l], y[l], real[0][l], real[1][l], max);
            if (i->n_opnds > 3)
                r[l] = chosen(r[l], z[l], max ? fmax(real[0][l], real[1][l]) : fmin(real[0][l], real[1][l]),
                              real[2][l], max);
        }
        break;
    }
    case REAL_ABS:
        EVERY r[l] = fabs(x[l]);
        break;
    case REAL_NEG:
        EVERY r[l] = -x[l];
        break;
    case REAL_RCP:
        EVERY r[l] = 1 / x[l];
        break;
    case REAL_EX2:
        for (; m; m &= m - 1)
            r[__builtin_ctz(m)] = exp2(x[__builtin_ctz(m)]);
        break;
    default:
        for (; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            r[l] = shadow_real_function((enum real_kind)op_table[i->op].real, x[l], 0, 0);
        }
    }
    if (insn_has(i, MOD_sat))
        EVERY r[l] = f64_saturate(r[l]);
    if (insn_has(i, MOD_relu))
        EVERY r[l] = r[l] > 0 ? r[l] : 0;
}

static void arith_terms(const struct warp *w, const struct insn *i, uint32_t m)
{
    uint8_t format = shadow_format((enum type)i->type);
    unsigned values = values_of((enum type)i->type);
    enum real_kind kind = (enum real_kind)op_table[i->op].real;
    for (unsigned e = 0; e < values; e++) {
        unsigned part = e * width_of(format);
        struct row q[3], r;
        double real[3][32];
        memset(q, 0, sizeof(q));
        memset(real, 0, sizeof(real));
        memset(&r, 0, sizeof(r));
        for (unsigned k = 1; k < i->n_opnds && k < 4; k++) {
            row_terms(w, &i->opnds[k], format, part, &q[k - 1]);
            row_real(w, &i->opnds[k], format, part, real[k - 1]);
            EVERY r.lost[l] |= q[k - 1].lost[l];
        }
        if (kind == REAL_MIN || kind == REAL_MAX) {
            combine(i, q[0].v, q[1].v, q[2].v, real, r.v, m);
        } else {
            for (uint32_t left = m; left; left &= left - 1) {
                unsigned l = (unsigned)__builtin_ctz(left);
                r.v[l] = shadow_terms_function(shadow_of(w->launch), kind, format,
                                               (const double[]){real[0][l], real[1][l], real[2][l]},
                                               (const double[]){q[0].v[l], q[1].v[l], q[2].v[l]});
            }
        }
        row_put(w, &i->opnds[0], m, format, values, e, &r);
    }
}

static void arith(const struct warp *w, const struct insn *i, uint32_t m)
{
    uint8_t format = shadow_format((enum type)i->type);
    unsigned values = values_of((enum type)i->type);
    enum real_kind kind = (enum real_kind)op_table[i->op].real;
    bool choice = kind == REAL_MIN || kind == REAL_MAX || kind == REAL_COPYSIGN;
    if (shadow_of(w->launch)->terms) {
        arith_terms(w, i, m);
        return;
    }
    for (unsigned e = 0; e < values; e++) {
        unsigned part = e * width_of(format);
        const double *v[3] = {NULL};
        struct row s[3], r;
        double real[3][32];
        memset(r.lost, 0, sizeof(r.lost));
        for (unsigned k = 1; k < i->n_opnds && k < 4; k++) {
            v[k - 1] = row_view(w, &i->opnds[k], format, part, &s[k - 1]);
            if (choice)
                row_real(w, &i->opnds[k], format, part, real[k - 1]);
            EVERY r.lost[l] |= s[k - 1].lost[l];
        }
        combine(i, v[0], v[1], v[2], real, r.v, m);
        row_put(w, &i->opnds[0], m, format, values, e, &r);
    }
}

/* ---- conversions ---- */

static double integer_value(const struct warp *w, const struct opnd *o, enum type t, unsigned lane)
{
    uint64_t v = 0;
    memcpy(&v, part_bits(w, o, 0, lane), MIN(o->bytes, 8));
    unsigned shift = 64 - 8u * type_bytes[t];
    return type_signed(t) ? (double)((int64_t)(v << shift) >> shift) : (double)(v << shift >> shift);
}

static void convert(const struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out)
{
    enum type to = (enum type)i->type2, from = (enum type)i->type;
    uint8_t f_to = shadow_format(to), f_from = shadow_format(from);
    bool integral =
        insn_has(i, MOD_rni) || insn_has(i, MOD_rzi) || insn_has(i, MOD_rmi) || insn_has(i, MOD_rpi);
    bool terms = shadow_of(w->launch)->terms;
    struct row r;
    if (i->n_types != 2 || insn_has(i, MOD_pack) || (!f_to && !f_from && values_of(to) == 1)) {
        if (i->n_types == 2 && !insn_has(i, MOD_pack) && i->n_opnds == 2)
            shadow_bits(w, i, m, out);
        else
            shadow_taint(w, i, m, out);
        return;
    }
    if (!f_to) { /* to an integer: the real value; to 8 bits: lost */
        if (to >= TYPE_E4M3) {
            shadow_taint(w, i, m, out);
            return;
        }
        struct shadow_part *d = out_add(out, &i->opnds[0]);
        row_read(w, &i->opnds[1], f_from, 0, &r);
        memcpy(d->s, r.lost, sizeof(r.lost));
        return;
    }
    if (values_of(to) == 2) { /* of two operands, the first to the high half; or of 8 bits */
        if (i->n_opnds != 3 || !f_from) {
            shadow_taint(w, i, m, out);
            return;
        }
        struct row both[2];
        for (unsigned k = 0; k < 2; k++) {
            row_read(w, &i->opnds[2 - k], f_from, 0, &both[k]);
            if (insn_has(i, MOD_relu) && !terms)
                EVERY both[k].v[l] = both[k].v[l] > 0 ? both[k].v[l] : 0;
        }
        for (unsigned k = 0; k < 2; k++)
            row_put(w, &i->opnds[0], m, f_to, 2, k, &both[k]);
        return;
    }
    if (f_from) {
        row_read(w, &i->opnds[1], f_from, 0, &r);
    } else {
        const struct opnd *a = &i->opnds[1];
        const struct shadow_part *p = shadow_parts(w, a);
        EVERY
        {
            r.v[l] = terms ? 0 : integer_value(w, a, from, l);
            r.lost[l] = 0;
            for (unsigned k = 0; !a->is_imm && k < opnd_parts(a); k++)
                r.lost[l] |= p[k].s[l] ? SHADOW_LOST : 0;
        }
    }
    if (integral && f_from) { /* to a whole number: the real one, which the bits say */
        memcpy(out_add(out, &i->opnds[0])->s, r.lost, sizeof(r.lost));
        return;
    }
    if (insn_has(i, MOD_sat) && !terms)
        EVERY r.v[l] = f64_saturate(r.v[l]);
    if (insn_has(i, MOD_relu) && !terms)
        EVERY r.v[l] = r.v[l] > 0 ? r.v[l] : 0;
    row_put(w, &i->opnds[0], m, f_to, 1, 0, &r);
}

/* ---- memory ---- */

/* The host's bytes of a lane's access, NULL where there are none: the instruction will say so. */
uint8_t *host_of(const struct warp *w, enum space space, uint64_t at, unsigned lane, uint32_t bytes)
{
    const struct launch *l = w->launch;
    switch (space) {
    case SPACE_GLOBAL:
    case SPACE_CONST: {
        const struct alloc *a = mem_find(l->mem, at);
        return a && at - a->addr + bytes <= a->size ? mem_host(l->mem, at) : NULL;
    }
    case SPACE_SHARED:
        if (at >= CLUSTER_STRIDE) {
            uint64_t offset = 0;
            struct block *b = cluster_block(w->block, at, &offset);
            return b && offset + bytes <= l->shared_bytes ? b->shared + offset : NULL;
        }
        return at + bytes <= l->shared_bytes ? w->block->shared + at : NULL;
    case SPACE_LOCAL:
        return at + bytes <= l->local_bytes
                   ? w->block->local + ((size_t)w->index * 32 + lane) * l->local_bytes + at
                   : NULL;
    case SPACE_PARAM:
        return NULL; /* of the kernel: nothing has a shadow there */
    default:
        break;
    }
    if (at - SHARED_WINDOW < WINDOW_BYTES)
        return host_of(w, SPACE_SHARED, at - SHARED_WINDOW, lane, bytes);
    if (at - LOCAL_WINDOW < WINDOW_BYTES)
        return host_of(w, SPACE_LOCAL, at - LOCAL_WINDOW, lane, bytes);
    if (at - PARAM_WINDOW < WINDOW_BYTES)
        return NULL;
    return host_of(w, SPACE_GLOBAL, at, lane, bytes);
}

static uint64_t lane_address(const struct warp *w, const struct insn *i, const struct opnd *o, unsigned lane)
{
    return o->bytes == 8 ? REG(uint64_t, w, o->off)[lane] + (uint64_t)i->imm
                         : (uint32_t)(REG(uint32_t, w, o->off)[lane] + (uint32_t)i->imm);
}

static void hosts_of(struct warp *w, const struct insn *i, uint32_t m, uint32_t bytes, uint8_t *host[32])
{
    const struct opnd *o = shadow_address(i);
    const struct alloc *a = w->launch->last_alloc[i->self];
    memset(host, 0, 32 * sizeof(*host));
    if (o && o->ref_kind == REF_FUNC_PARAM) {
        for (unsigned l = 0; l < 32; l++)
            host[l] = w->regs + i->imm + (size_t)l * i->extra;
        return;
    }
    for (; o && m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = lane_address(w, i, o, l);
        if (i->space == SPACE_GLOBAL && a && at - a->addr < a->size && bytes <= a->size - (at - a->addr))
            host[l] = mem_host(w->launch->mem, at);
        else
            host[l] = host_of(w, (enum space)i->space, at, l, bytes);
    }
}

/* What atomics find must be there before they run: pages are made when they are touched first. */
static void make_found(struct warp *w, const struct insn *i, uint32_t m, uint32_t bytes)
{
    const struct opnd *o = shadow_address(i);

    for (; o && o->ref_kind != REF_FUNC_PARAM && m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = lane_address(w, i, o, l);
        struct alloc *a =
            i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC ? mem_find(w->launch->mem, at) : NULL;
        if (a && bytes <= a->size - (at - a->addr))
            mem_touch(w->launch->mem, a, at, bytes);
    }
}

/* Bytes from within a value of a wider format: the high half of an f32 is a bf16, all else is lost, unless the
 * value is exactly what its bits say. */
static void lane_load_within(const struct shadow_cell *c, const uint8_t *host, unsigned bytes, uint8_t format,
                             struct shadow_part *p, unsigned lane)
{
    size_t at = (uintptr_t)host % (2 * width_of(format));
    double v = 0;
    uint8_t state = shadow_cell_state(c - at / 2, host - at, &v);
    bool exact = state == format && v == shadow_real(format, host - at);
    if (!state)
        return;
    if (!exact && bytes == 2 && state == SHADOW_F32) {
        p->s[lane] = SHADOW_BF16;
        p->v[lane] = v;
        return;
    }
    for (unsigned k = 0; k < MAX(bytes / 2, 1u); k++)
        p[k].s[lane] = exact ? SHADOW_PLAIN : SHADOW_LOST;
}

/* A lane's parts of a register from memory, where host has `bytes` for it; inlined for each width. A page that
 * nobody stored to has no cells. */
static inline __attribute__((always_inline)) void lane_load(struct ptx_shadow *s, const uint8_t *host,
                                                            unsigned bytes, struct shadow_part *p,
                                                            unsigned lane)
{
    const struct shadow_cell *c = shadow_cells(s, host, false);
    if (!c)
        return;
    for (unsigned k = 0; k < bytes / 2; k++)
        p[k].s[lane] = shadow_cell_state(c + k, host + 2 * k, &p[k].v[lane]);
    unsigned at4 = (uintptr_t)host % 4, at8 = (uintptr_t)host % 8;
    if (bytes == 1 && c->s)
        p->s[lane] = SHADOW_LOST;
    if (bytes < 4 && at4 > 1 && (c[-1].s & SHADOW_FORMAT) == SHADOW_F32)
        lane_load_within(c, host, bytes, SHADOW_F32, p, lane);
    if (bytes < 8 && (c[-(int)at8 / 2].s & SHADOW_FORMAT) == SHADOW_F64)
        lane_load_within(c, host, bytes, SHADOW_F64, p, lane);
}

/* After the bytes were stored, so that the tags are theirs. */
static inline __attribute__((always_inline)) void lane_store(struct ptx_shadow *s, const uint8_t *host,
                                                             unsigned bytes, const struct shadow_part *p,
                                                             unsigned lane)
{
    bool any = false;
    for (unsigned k = 0; k < bytes / 2; k++)
        any |= p[k].s[lane];
    struct shadow_cell *c = shadow_cells(s, host, any);
    for (unsigned k = 0; c && k < MAX(bytes / 2, 1u); k++) {
        uint8_t state = any ? p[k].s[lane] : SHADOW_PLAIN;
        if (!state) {
            c[k].s = SHADOW_PLAIN;
            continue;
        }
        if (k + width_of(state & SHADOW_FORMAT) > bytes / 2) /* cut */
            state = SHADOW_LOST;
        c[k] = (struct shadow_cell){.s = state, .tag = shadow_tag(state, host + 2 * k), .v = p[k].v[lane]};
    }
}

void cell_load(struct ptx_shadow *s, const uint8_t *host, unsigned bytes, struct shadow_part *p, unsigned lane)
{
    lane_load(s, host, bytes, p, lane);
}

void cell_store(struct ptx_shadow *s, const uint8_t *host, unsigned bytes, const struct shadow_part *p,
                unsigned lane)
{
    lane_store(s, host, bytes, p, lane);
}

#define LANES_DO(do_lane, bytes)                       \
    for (uint32_t left = m; left; left &= left - 1) {  \
        unsigned l = (unsigned)__builtin_ctz(left);    \
        if (host[l])                                   \
            do_lane(s, host[l] + offset, bytes, p, l); \
    }

static void parts_load(struct ptx_shadow *s, uint8_t *const host[32], size_t offset, unsigned bytes, uint32_t m,
                       struct shadow_part *p)
{
    if (bytes == 4)
        LANES_DO(lane_load, 4)
    else if (bytes == 2)
        LANES_DO(lane_load, 2)
    else
        LANES_DO(lane_load, bytes)
}

static void parts_store(struct ptx_shadow *s, uint8_t *const host[32], size_t offset, unsigned bytes,
                        uint32_t m, const struct shadow_part *p)
{
    if (bytes == 4)
        LANES_DO(lane_store, 4)
    else if (bytes == 2)
        LANES_DO(lane_store, 2)
    else
        LANES_DO(lane_store, bytes)
}

/* Has no byte of the lanes' accesses a cell? True only when that is cheap to see. */
static bool untouched(struct ptx_shadow *s, uint8_t *const host[32], uint32_t m, uint32_t bytes)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (; m; m &= m - 1) {
        uintptr_t at = (uintptr_t)host[__builtin_ctz(m)];
        low = MIN(low, at);
        high = MAX(high, at);
    }
    return low && high + bytes - low <= SHADOW_PAGE && !shadow_cells(s, (void *)low, false) &&
           !shadow_cells(s, (void *)(high + bytes - 1), false);
}

static const struct opnd *element(const struct opnd *o, unsigned k)
{
    return o->kind == OPND_VEC ? &o->vec[k] : o;
}

static void load(struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out)
{
    struct ptx_shadow *s = shadow_of(w->launch);
    uint8_t *host[32];
    hosts_of(w, i, m, (uint32_t)i->bytes * i->vec, host);
    bool plain = untouched(s, host, m, (uint32_t)i->bytes * i->vec);
    for (unsigned k = 0; k < i->vec; k++) {
        struct shadow_part *p = out_add(out, element(&i->opnds[0], k));
        if (!plain)
            parts_load(s, host, (size_t)k * i->bytes, i->bytes, m, p);
    }
}

static void store(struct warp *w, const struct insn *i, uint32_t m, exec_fn *fn)
{
    struct ptx_shadow *s = shadow_of(w->launch);
    uint8_t *host[32];
    hosts_of(w, i, m, (uint32_t)i->bytes * i->vec, host);
    fn(w, i, m);
    if (w->launch->stop)
        return;
    for (unsigned k = 0; k < i->vec; k++) {
        const struct opnd *o = element(&i->opnds[1], k);
        static const struct shadow_part plain[8];
        const struct shadow_part *p = o->is_imm ? plain : shadow_parts(w, o);
        parts_store(s, host, (size_t)k * i->bytes, i->bytes, m, p);
    }
}

/* ---- atomics: one lane at a time, to see what each found and left ---- */

struct operand { /* of an atomic, before a destination that is the same register is written */
    uint64_t bits[32];
    struct shadow_part p[8];
    struct row sum[2]; /* for additions */
    const struct ptx_shadow *shadow;
};

static void operand_read(const struct warp *w, const struct insn *i, const struct opnd *o, struct operand *x)
{
    uint8_t format = shadow_format((enum type)i->type);
    memset(x->bits, 0, sizeof(x->bits));
    x->shadow = shadow_of(w->launch);
    for (unsigned l = 0; l < 32; l++)
        memcpy(&x->bits[l], part_bits(w, o, 0, l), MIN(o->bytes, 8));
    for (unsigned k = 0; k < opnd_parts(o); k++) {
        if (o->is_imm)
            memset(x->p[k].s, 0, sizeof(x->p[k].s));
        else
            x->p[k] = shadow_parts(w, o)[k];
    }
    for (unsigned e = 0; format && e < values_of((enum type)i->type); e++)
        row_read(w, o, format, e * width_of(format), &x->sum[e]);
}

/* What the cells of one element hold after it: found, and changed here. */
static void atomic_element(const struct insn *i, const struct operand *b, const struct operand *c, unsigned l,
                           uint64_t old, uint64_t now, struct shadow_part *cell)
{
    uint8_t format = shadow_format((enum type)i->type);
    if (format && insn_has(i, MOD_add)) {
        for (unsigned e = 0; e < values_of((enum type)i->type); e++) {
            struct shadow_part *p = &cell[e * width_of(format)];
            uint8_t had = p->s[l];
            size_t at = 2 * e * width_of(format);
            double found = shadow_real(format, (const uint8_t *)&old + at), x = found;
            if (b->shadow->terms)
                x = 0;
            if ((had & SHADOW_FORMAT) == format)
                x = p->v[l];
            p->v[l] =
                b->shadow->terms
                    ? shadow_terms_sum(b->shadow, format, found, fabs(x),
                                       shadow_real(format, (const uint8_t *)&b->bits[l] + at), b->sum[e].v[l])
                    : x + b->sum[e].v[l];
            p->s[l] = format | b->sum[e].lost[l] | (had && had != format ? SHADOW_LOST : SHADOW_PLAIN);
        }
        return;
    }
    if (now == old)
        return;
    const struct operand *from = c ? c : b;
    if (now != from->bits[l])
        from = NULL;
    for (unsigned k = 0; k < i->bytes / 2u; k++) {
        uint8_t unknown = cell[k].s[l] || b->p[k].s[l] ? SHADOW_LOST : SHADOW_PLAIN;
        cell[k].s[l] = from ? from->p[k].s[l] : unknown;
        cell[k].v[l] = from ? from->p[k].v[l] : 0;
    }
}

static void atomic(struct warp *w, const struct insn *i, uint32_t m, exec_fn *fn)
{
    struct ptx_shadow *s = shadow_of(w->launch);
    bool red = i->op == OP_red;
    const struct opnd *ob = &i->opnds[red ? 1 : 2];
    struct operand b[4], c;
    struct shadow_out out = {.n = 0};
    uint32_t spins = w->spins;
    uint8_t *host[32];
    make_found(w, i, m, (uint32_t)i->bytes * i->vec);
    hosts_of(w, i, m, (uint32_t)i->bytes * i->vec, host);
    for (unsigned k = 0; k < i->vec; k++)
        operand_read(w, i, element(ob, k), &b[k]);
    if (insn_has(i, MOD_cas))
        operand_read(w, i, ob + 1, &c);
    for (unsigned k = 0; !red && k < i->vec; k++)
        out_add(&out, element(&i->opnds[0], k));
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left), parts = i->bytes / 2u;
        uint64_t old[4] = {0}, now[4] = {0};
        struct shadow_part cell[MOST_PARTS];
        for (unsigned k = 0; k < i->vec * parts; k++)
            cell[k].s[l] = SHADOW_PLAIN;
        for (unsigned k = 0; host[l] && k < i->vec; k++)
            memcpy(&old[k], host[l] + (size_t)k * i->bytes, MIN(i->bytes, 8));
        if (host[l])
            lane_load(s, host[l], (unsigned)i->bytes * i->vec, cell, l);
        for (unsigned k = 0; k < out.n && k < i->vec * parts; k++) {
            out.p[k].s[l] = cell[k].s[l];
            out.p[k].v[l] = cell[k].v[l];
        }
        fn(w, i, 1u << l);
        if (w->launch->stop)
            return;
        for (unsigned k = 0; host[l] && k < i->vec; k++) {
            memcpy(&now[k], host[l] + (size_t)k * i->bytes, MIN(i->bytes, 8));
            atomic_element(i, &b[k], insn_has(i, MOD_cas) ? &c : NULL, l, old[k], now[k], cell + k * parts);
            lane_store(s, host[l] + (size_t)k * i->bytes, i->bytes, cell + k * parts, l);
        }
    }
    w->spins = spins + !red; /* a warp's atomic is one, in how it looks like waiting */
    shadow_commit(w, m, &out);
}

/* ---- across lanes ---- */

static void shuffle(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    const struct opnd *a = &i->opnds[1];
    const uint32_t *b = REG(uint32_t, w, i->b), *c = REG(uint32_t, w, i->c);
    struct shadow_part *d = out_add(out, &i->opnds[0]);
    const struct shadow_part *p = shadow_parts(w, a);
    if (a->is_imm)
        return;
    bool down = insn_has(i, MOD_down), up = insn_has(i, MOD_up), bfly = insn_has(i, MOD_bfly);
    int from[32];
    for (int l = 0; l < 32; l++) {
        int shift = (int)(b[l] & 31), segment = (int)(c[l] >> 8 & 31);
        int top = (l & segment) | ((int)(c[l] & 31) & ~segment);
        int x = (l & segment) | (shift & ~segment);
        if (up || down)
            x = up ? l - shift : l + shift;
        else if (bfly)
            x = l ^ shift;
        from[l] = (up ? x >= top : x <= top) ? x & 31 : l;
    }
    for (unsigned k = 0; k < 2; k++) {
        if (!part_any(&p[k]))
            continue;
        EVERY
        {
            d[k].s[l] = p[k].s[from[l]];
            d[k].v[l] = p[k].v[from[l]];
        }
    }
}

/* ---- the loop ---- */

static void step(struct warp *w, const struct insn *i, uint32_t m, const struct shadow_plan *plan)
{
    struct shadow_out out;
    out.n = 0;
    switch ((enum shadow_kind)plan->kind) {
    case SHADOW_NOTHING:
        break;
    case SHADOW_ARITH:
        arith(w, i, m);
        break;
    case SHADOW_COMPARED:
        out_add(&out, &i->opnds[0]);
        break;
    case SHADOW_CONVERT:
        convert(w, i, m, &out);
        break;
    case SHADOW_BITS:
    case SHADOW_TAINT: {
        bool any = false;
        for (unsigned k = plan->n_written; k < i->n_opnds && !any; k++)
            any = opnd_any(w, &i->opnds[k]);
        if (any && plan->kind == SHADOW_BITS)
            shadow_bits(w, i, m, &out);
        else if (any)
            shadow_taint(w, i, m, &out);
        for (unsigned k = 0; !any && k < plan->n_written; k++)
            for (unsigned e = 0; e < (i->opnds[k].kind == OPND_VEC ? i->opnds[k].n : 1u); e++)
                out_add(&out, element(&i->opnds[k], e));
        break;
    }
    case SHADOW_LOAD:
        load(w, i, m, &out);
        break;
    case SHADOW_STORE:
        store(w, i, m, i->fn);
        return;
    case SHADOW_ATOMIC:
        atomic(w, i, m, i->fn);
        return;
    case SHADOW_SHUFFLE:
        shuffle(w, i, &out);
        break;
    case SHADOW_MATRIX:
        shadow_product(w, i, &out);
        break;
    case SHADOW_LOAD_MATRIX:
        shadow_load_matrix(w, i, &out);
        break;
    case SHADOW_STORE_MATRIX:
        shadow_store_matrix(w, i, m);
        return;
    case SHADOW_TURN_MATRIX:
        shadow_turn_matrix(w, i, &out);
        break;
    }
    i->fn(w, i, m);
    if (out.n && !w->launch->stop && (w->mask & m) == m) /* else it waits, and will be executed again */
        shadow_commit(w, m, &out);
}

/* Executes a warp as warp_loop does, with the shadow. */
void ISA(shadow_loop)(struct warp *w)
{
    const struct insn *code = w->launch->module->code;
    const struct shadow_plan *plan = shadow_of(w->launch)->plan;
    while (w->fuel > 0) {
        if (w->pc >= w->merge_pc && !warp_switch(w))
            break;
        uint32_t pc = w->pc;
        const struct insn *i = &code[pc];
        uint32_t m = w->mask & (*REG(uint32_t, w, i->guard) ^ i->guard_not);
        w->pc = pc + 1;
        w->fuel--;
        w->lane_insns += (unsigned)__builtin_popcount(m);
        if (!m)
            continue;
        if (plan[pc].kind == SHADOW_NOTHING)
            i->fn(w, i, m);
        else
            step(w, i, m, &plan[pc]);
    }
}
