/* Shadows through instructions on bits. What survives: moves and packing of whole parts, sign bits, a bf16 that
 * becomes the high half of an f32 and back. A value whose bits are exactly its shadow has nothing to lose. */
#include "ptx/lane/isa.h"
#include "shadow_value.h"

enum sign { KEEP, ABS, NEG, NABS = ABS | NEG };
enum { CONTINUED = 64 }; /* unit.s: the later parts of an f32 or f64 */

struct piece { /* one part of one lane's value */
    double v;
    uint8_t s, sign;
    uint16_t bits;
};

bool opnd_any(const struct warp *w, const struct opnd *o)
{
    if (o->kind == OPND_VEC) {
        for (unsigned e = 0; e < o->n; e++)
            if (opnd_any(w, &o->vec[e]))
                return true;
        return false;
    }
    if ((o->kind != OPND_REG && o->kind != OPND_ADDR) || o->is_imm)
        return false;
    const struct shadow_part *p = shadow_parts(w, o);
    for (unsigned k = 0; k < opnd_parts(o); k++)
        if (part_any(&p[k]))
            return true;
    return false;
}

struct shadow_part *out_add(struct shadow_out *out, const struct opnd *o)
{
    struct shadow_part *p = &out->p[out->n];
    for (unsigned k = 0; k < opnd_parts(o); k++, out->n++) {
        BUG_IF(out->n == MOST_OUT);
        out->at[out->n] = o->off / 64 + k;
        memset(out->p[out->n].s, 0, sizeof(out->p[out->n].s));
    }
    return p;
}

/* ---- a lane's value in parts, and back ---- */

static unsigned take(const struct warp *w, const struct opnd *o, unsigned lane, struct piece *u)
{
    const struct shadow_part *p = shadow_parts(w, o);
    unsigned n = opnd_parts(o), left = 0;
    for (unsigned k = 0; k < n; k++) {
        u[k] = (struct piece){.s = o->is_imm ? SHADOW_PLAIN : p[k].s[lane]};
        memcpy(&u[k].bits, part_bits(w, o, k, lane), 2);
        uint8_t format = u[k].s & SHADOW_FORMAT;
        if (format) {
            u[k].v = p[k].v[lane];
            /* exactly what the bits say */
            if (u[k].s == format && u[k].v == shadow_real(format, part_bits(w, o, k, lane))) {
                u[k].s = SHADOW_PLAIN;
                left = 0;
                continue;
            }
            left = width_of(format) - 1;
        } else if (left) {
            u[k].s = CONTINUED | (u[k - 1].s & SHADOW_LOST);
            u[k].v = u[k - 1].v;
            left--;
        }
    }
    return n;
}

static double signed_as(double v, enum sign s)
{
    if (s & ABS)
        v = fabs(v);
    return s & NEG ? -v : v;
}

/* How many continuations of u[k] stand behind it. */
static unsigned follows(const struct piece *u, unsigned k, unsigned n)
{
    unsigned c = 0;
    while (k + 1 + c < n && ((u[k + 1 + c].s & CONTINUED) || (u[k + 1 + c].s & SHADOW_FORMAT) == SHADOW_BF16) &&
           !memcmp(&u[k + 1 + c].v, &u[k].v, sizeof(u[k].v)))
        c++;
    return c;
}

static void put(struct shadow_part *p, unsigned n, unsigned lane, const struct piece *u)
{
    for (unsigned k = 0; k < n; k++) {
        uint8_t format = u[k].s & SHADOW_FORMAT, lost = u[k].s & SHADOW_LOST;
        unsigned whole = width_of(format) - 1;
        p[k].v[lane] = u[k].v;
        if (u[k].s & CONTINUED) { /* the high half of an f32 by itself is a bf16, cut */
            p[k].s[lane] = SHADOW_BF16 | lost;
            p[k].v[lane] = signed_as(u[k].v, u[k].sign);
        } else if (format && follows(u, k, n) >= whole) {
            p[k].s[lane] = u[k].s;
            p[k].v[lane] = signed_as(u[k].v, u[k + whole].sign);
            for (unsigned c = 1; c <= whole; c++)
                p[k + c].s[lane] = SHADOW_PLAIN;
            k += whole;
        } else if (format == SHADOW_F32 &&
                   k + 1 == n) { /* the low half by itself, perhaps to be packed again */
            p[k].s[lane] = u[k].s;
        } else {
            p[k].s[lane] = u[k].s ? SHADOW_LOST : SHADOW_PLAIN;
        }
    }
}

static void lose(struct piece *u, unsigned n, const struct piece *from, unsigned n_from)
{
    bool any = false;
    for (unsigned k = 0; k < n_from; k++)
        any |= from[k].s != SHADOW_PLAIN;
    for (unsigned k = 0; k < n; k++)
        u[k] = (struct piece){.s = any ? SHADOW_LOST : SHADOW_PLAIN};
}

/* ---- and, or, xor: part by part, the other side being plain ---- */

static struct piece mask_part(uint32_t op, struct piece x, struct piece y)
{
    static const struct piece plain = {.s = SHADOW_PLAIN};
    if (x.s == SHADOW_PLAIN) { /* x is the one with a shadow, if any */
        struct piece t = x;
        x = y;
        y = t;
    }
    if (x.s == SHADOW_PLAIN)
        return plain;
    uint16_t keeps = op == OP_and ? 0xffff : 0;
    if (y.s == SHADOW_PLAIN && y.bits == keeps)
        return x;
    if (op == OP_and && y.s == SHADOW_PLAIN && (y.bits == 0 || y.bits == 0x8000))
        return plain; /* the sign alone follows the real value, as comparisons do */
    if (y.s == SHADOW_PLAIN && y.bits == (op == OP_and ? 0x7fff : 0x8000)) {
        if (op == OP_xor)
            x.sign ^= NEG;
        else
            x.sign = op == OP_and ? ABS : NABS;
        return x;
    }
    return (struct piece){.s = SHADOW_LOST};
}

static void masked(const struct warp *w, const struct insn *i, unsigned lane, struct piece *d, unsigned n)
{
    struct piece a[8], b[8];
    take(w, &i->opnds[1], lane, a);
    take(w, &i->opnds[2], lane, b);
    bool same = i->opnds[1].off == i->opnds[2].off && !i->opnds[1].is_imm;
    for (unsigned k = 0; k < n; k++)
        if (same)
            d[k] = i->op == OP_xor ? (struct piece){.s = SHADOW_PLAIN} : a[k];
        else
            d[k] = mask_part(i->op, a[k], b[k]);
}

/* ---- shifts and fields by whole parts ---- */

static void shifted(const struct warp *w, const struct insn *i, unsigned lane, struct piece *d, unsigned n)
{
    struct piece a[8];
    uint64_t by = opnd_lane(w, &i->opnds[2], lane);
    take(w, &i->opnds[1], lane, a);
    if (by % 16 || by / 16 > n) {
        lose(d, n, a, n);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        int from = (int)k + (i->op == OP_shl ? -1 : 1) * (int)(by / 16);
        d[k] = from >= 0 && from < (int)n ? a[from] : (struct piece){.s = SHADOW_PLAIN};
    }
}

static void field(const struct warp *w, const struct insn *i, unsigned lane, struct piece *d, unsigned n)
{
    struct piece a[8], b[8];
    bool insert = i->op == OP_bfi;
    const struct opnd *at = &i->opnds[insert ? 3 : 2];
    uint64_t pos = opnd_lane(w, at, lane) & 255, len = opnd_lane(w, at + 1, lane) & 255;
    take(w, &i->opnds[1], lane, a);
    if (insert)
        take(w, &i->opnds[2], lane, b);
    if (pos % 16 || len % 16 || !len || pos / 16 + len / 16 > n) {
        struct piece both[16];
        memcpy(both, a, n * sizeof(*a));
        if (insert)
            memcpy(both + n, b, n * sizeof(*b));
        lose(d, n, both, insert ? 2 * n : n);
        return;
    }
    unsigned p = (unsigned)pos / 16, l = (unsigned)len / 16;
    for (unsigned k = 0; k < n; k++)
        if (insert)
            d[k] = k >= p && k < p + l ? a[k - p] : b[k];
        else
            d[k] = k < l ? a[k + p] : (struct piece){.s = SHADOW_PLAIN};
}

static void permuted(const struct warp *w, const struct insn *i, unsigned lane, struct piece *d)
{
    struct piece a[4];
    uint64_t s = opnd_lane(w, &i->opnds[3], lane);
    take(w, &i->opnds[1], lane, a);
    take(w, &i->opnds[2], lane, a + 2);
    for (unsigned k = 0; k < 2; k++) {
        unsigned low = s >> (8 * k) & 15, high = s >> (8 * k + 4) & 15;
        if (!(low & 9) && high == low + 1)
            d[k] = a[low / 2];
        else
            d[k].s = a[(low & 7) / 2].s || a[(high & 7) / 2].s ? SHADOW_LOST : SHADOW_PLAIN;
    }
}

/* ---- moves ---- */

static bool is_bytes(enum type t)
{
    return type_bytes[t] == 1;
}

/* cvt of integers: parts that stay; what is extended is plain. */
static void resized(const struct warp *w, const struct insn *i, unsigned lane, struct piece *d, unsigned n)
{
    struct piece a[8];
    unsigned n_a = take(w, &i->opnds[1], lane, a);
    if (is_bytes((enum type)i->type) || is_bytes((enum type)i->type2) || insn_has(i, MOD_sat)) {
        lose(d, n, a, n_a);
        return;
    }
    unsigned keep = MIN(type_bytes[i->type], type_bytes[i->type2]) / 2u;
    for (unsigned k = 0; k < n; k++)
        d[k] = k < keep && k < n_a ? a[k] : (struct piece){.s = SHADOW_PLAIN};
}

static void packed(const struct warp *w, const struct opnd *v, unsigned lane, struct piece *d, unsigned n)
{
    unsigned at = 0, each = n / v->n;
    if (!each) { /* bytes */
        memset(d, 0, n * sizeof(*d));
        for (unsigned k = 0; k < v->n; k++) {
            struct piece a[8];
            take(w, &v->vec[k], lane, a);
            d[0].s |= a[0].s ? SHADOW_LOST : SHADOW_PLAIN;
        }
        return;
    }
    for (unsigned k = 0; k < v->n; k++, at += each)
        take(w, &v->vec[k], lane, d + at);
}

/* Does a value in the operand's parts reach beyond pieces of so many parts? */
static bool splits(const struct warp *w, const struct opnd *o, unsigned parts)
{
    const struct shadow_part *p = shadow_parts(w, o);
    bool yes = false;
    for (unsigned k = 0; k < opnd_parts(o); k++)
        for (unsigned l = 0; l < 32; l++)
            yes |= (p[k].s[l] & SHADOW_FORMAT) >= (parts == 1 ? SHADOW_F32 : SHADOW_F64);
    return yes;
}

static const struct shadow_part *row_of(const struct warp *w, const struct opnd *o)
{
    static const struct shadow_part plain[8];
    return o->is_imm ? plain : shadow_parts(w, o);
}

static void copy_part(struct shadow_part *to, const struct shadow_part *from)
{
    memcpy(to->s, from->s, sizeof(to->s));
    if (part_any(from))
        row_copy(to->v, from->v);
}

static void copy_parts(const struct opnd *d, const struct shadow_part *from, struct shadow_out *out)
{
    struct shadow_part *p = out_add(out, d);
    for (unsigned k = 0; k < opnd_parts(d); k++)
        copy_part(&p[k], &from[k]);
}

/* Moves of whole values: their parts as they are. */
static bool moved_whole(const struct warp *w, const struct insn *i, struct shadow_out *out)
{
    const struct opnd *d = &i->opnds[0], *a = &i->opnds[1];
    if (d->kind != OPND_VEC && a->kind != OPND_VEC) {
        copy_parts(d, row_of(w, a), out);
        return true;
    }
    const struct opnd *v = d->kind == OPND_VEC ? d : a, *whole = v == d ? a : d;
    unsigned each = opnd_parts(whole) / v->n;
    if (!each)
        return false;
    if (v == d) {
        if (each < 4 && !whole->is_imm && splits(w, whole, each))
            return false;
        for (unsigned k = 0; k < v->n; k++)
            copy_parts(&v->vec[k], row_of(w, whole) + k * each, out);
        return true;
    }
    for (unsigned k = 0; k < v->n; k++) /* the half of an f32 that was taken apart */
        if (each < 4 && !v->vec[k].is_imm && splits(w, &v->vec[k], each))
            return false;
    struct shadow_part *p = out_add(out, d);
    for (unsigned k = 0; k < v->n; k++)
        for (unsigned e = 0; e < each; e++)
            copy_part(&p[k * each + e], &row_of(w, &v->vec[k])[e]);
    return true;
}

static void moved(const struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out)
{
    if (moved_whole(w, i, out))
        return;
    const struct opnd *d = &i->opnds[0], *a = &i->opnds[1];
    struct shadow_part *to[8] = {NULL};
    unsigned n = d->kind == OPND_VEC ? d->n : 1;
    for (unsigned k = 0; k < n; k++)
        to[k] = out_add(out, d->kind == OPND_VEC ? &d->vec[k] : d);
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m), at = 0;
        struct piece u[8] = {{0}};
        if (a->kind == OPND_VEC)
            packed(w, a, lane, u, opnd_parts(d));
        else
            take(w, a, lane, u);
        for (unsigned k = 0; k < n; k++) {
            const struct opnd *o = d->kind == OPND_VEC ? &d->vec[k] : d;
            unsigned each = d->kind == OPND_VEC && a->bytes / n == 1 ? 0 : opnd_parts(o);
            if (each)
                put(to[k], each, lane, u + at);
            else
                to[k]->s[lane] = u[k / 2].s ? SHADOW_LOST : SHADOW_PLAIN;
            at += each;
        }
    }
}

/* Lanes of an operand that are not exactly what its bits say. */
static void inexact(const struct warp *w, const struct opnd *o, uint32_t m, uint8_t *lost)
{
    const struct shadow_part *p = shadow_parts(w, o);
    if (o->bytes == 4 && !part_any(&p[1])) { /* f32, most often, is a row at once */
        const float *f = REG(float, w, o->off);
        bool other = false;
        for (unsigned l = 0; l < 32; l++)
            other |= p->s[l] != SHADOW_PLAIN && p->s[l] != SHADOW_F32;
        for (unsigned l = 0; !other && l < 32; l++)
            lost[l] |= p->s[l] && p->v[l] != f[l] ? SHADOW_LOST : SHADOW_PLAIN;
        if (!other)
            return;
    }
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        struct piece u[8];
        unsigned n = take(w, o, lane, u);
        for (unsigned k = 0; k < n; k++)
            lost[lane] |= u[k].s ? SHADOW_LOST : SHADOW_PLAIN;
    }
}

void shadow_taint(const struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out)
{
    uint8_t lost[32] = {0};
    for (unsigned k = 0; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        for (unsigned e = 0; e < (o->kind == OPND_VEC ? o->n : 1u); e++) {
            const struct opnd *x = o->kind == OPND_VEC ? &o->vec[e] : o;
            if (!insn_writes(i, k) && opnd_any(w, x))
                inexact(w, x, m, lost);
        }
    }
    for (unsigned k = 0; k < i->n_opnds && insn_writes(i, k); k++) {
        const struct opnd *o = &i->opnds[k];
        for (unsigned e = 0; e < (o->kind == OPND_VEC ? o->n : 1u); e++) {
            const struct opnd *x = o->kind == OPND_VEC ? &o->vec[e] : o;
            struct shadow_part *p = out_add(out, x);
            for (unsigned q = 0; q < opnd_parts(x); q++)
                memcpy(p[q].s, lost, sizeof(lost));
        }
    }
}

void shadow_bits(const struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out)
{
    const struct opnd *d = &i->opnds[0];
    enum bits_kind kind = (enum bits_kind)op_table[i->op].bits;
    if (kind == BITS_MOVE) {
        moved(w, i, m, out);
        return;
    }
    if (kind == BITS_SHIFT && i->opnds[2].is_imm && opnd_lane(w, &i->opnds[2], 0) % 16) {
        shadow_taint(w, i, m, out);
        return;
    }
    struct shadow_part *to = out_add(out, d);
    unsigned n = opnd_parts(d);
    if (kind == BITS_SELECT) {
        uint32_t first = *REG(uint32_t, w, i->opnds[3].off) ^ (i->opnds[3].negated ? ~0u : 0);
        const struct shadow_part *x = row_of(w, &i->opnds[1]), *y = row_of(w, &i->opnds[2]);
        for (unsigned k = 0; k < n; k++)
            for (unsigned l = 0; l < 32; l++) {
                to[k].s[l] = first >> l & 1 ? x[k].s[l] : y[k].s[l];
                to[k].v[l] = first >> l & 1 ? x[k].v[l] : y[k].v[l];
            }
        return;
    }
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        struct piece u[8] = {{0}};
        switch (kind) {
        case BITS_MASK:
        case BITS_XOR:
            masked(w, i, lane, u, n);
            break;
        case BITS_SHIFT:
            shifted(w, i, lane, u, n);
            break;
        case BITS_FIELD:
            field(w, i, lane, u, n);
            break;
        case BITS_PERMUTE:
            permuted(w, i, lane, u);
            break;
        case BITS_RESIZE:
            resized(w, i, lane, u, n);
            break;
        case BITS_SELECT_SIGN: {
            const struct opnd *c = &i->opnds[3];
            bool first =
                i->type == TYPE_F32 ? REG(float, w, c->off)[lane] >= 0 : REG(int32_t, w, c->off)[lane] >= 0;
            take(w, &i->opnds[first ? 1 : 2], lane, u);
            break;
        }
        default:
            BUG("no instruction on bits");
        }
        put(to, n, lane, u);
    }
}
