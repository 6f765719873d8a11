/* Undefined values in registers: who holds one, and how it travels. Nothing here runs before a warp has met its
 * first undefined value (warp.followed).
 *
 * Copies are exact by byte, so that packing a half that is defined beside one that is not, and taking it out
 * again, is no finding; so are selects, masks and shifts, and packed halves by half. Any other arithmetic on an
 * undefined byte gives an undefined result. A value is used, and reported, when it decides a branch or forms an
 * address. */
#include "sanitize_internal.h"

#include "ptx/lane/matrix.h"

/* ---- bitmaps of memory ---- */

uint32_t bits_missing(const uint8_t *bits, uint64_t at, uint32_t n)
{
    uint64_t word;
    memcpy(&word, bits + (at >> 3), sizeof(word));
    return (uint32_t)(~(word >> (at & 7)) & ((1ull << n) - 1));
}

static void bits_fill(uint8_t *bits, uint64_t at, uint64_t n, bool set)
{
    while (n) {
        if (!(at & 7) && n >= 8) {
            memset(bits + (at >> 3), set ? 0xff : 0, n >> 3);
            at += n & ~7ull;
            n &= 7;
            continue;
        }
        uint64_t take = MIN(n, 8 - (at & 7));
        uint8_t m = (uint8_t)(((1u << take) - 1) << (at & 7));
        bits[at >> 3] = set ? bits[at >> 3] | m : bits[at >> 3] & (uint8_t)~m;
        at += take;
        n -= take;
    }
}

void bits_set(uint8_t *bits, uint64_t at, uint64_t n)
{
    bits_fill(bits, at, n, true);
}

void bits_clear(uint8_t *bits, uint64_t at, uint64_t n)
{
    bits_fill(bits, at, n, false);
}

/* ---- registers ---- */

static bool is_register(const struct opnd *o)
{
    return (o->kind == OPND_REG || o->kind == OPND_ADDR || o->kind == OPND_SINK) && !o->is_imm;
}

static void note(const struct opnd *o, uint8_t *seen, uint8_t bit)
{
    if (o->kind == OPND_VEC)
        for (int e = 0; e < o->n; e++)
            note(&o->vec[e], seen, bit);
    else if (is_register(o))
        seen[o->slot] |= bit;
}

/* Registers that the kernel reads and nobody writes. (One that only some paths write is given a value by the
 * compiler.) */
void undef_begin(const struct launch *l, struct san *s)
{
    enum { READ = 1, WRITTEN = 2 };
    const struct ptx_module *m = l->module;
    uint8_t *seen = arena_zalloc(s->arena, m->n_slots + 1);
    s->never = arena_array(s->arena, uint32_t, m->n_slots + 1);
    s->slot_at = arena_array(s->arena, uint32_t, m->file_bytes / 2 + 1);
    for (uint32_t k = 0; k < m->n_slots; k++)
        s->slot_at[m->slot_off[k] / 2] = k;
    for (uint32_t pc = l->entry->first; pc < l->entry->end; pc++) {
        const struct insn *i = &m->code[pc];
        for (unsigned k = 0; k < i->n_opnds && i->op != OP_call; k++)
            note(&i->opnds[k], seen, insn_writes(i, k) || i->opnds[k].kind == OPND_SINK ? WRITTEN : READ);
        if (i->pair)
            note(i->pair, seen, WRITTEN);
    }
    for (uint32_t k = 0; k < m->n_slots; k++)
        if (seen[k] == READ)
            s->never[s->n_never++] = k;
}

static void warp_drop(struct kept *k)
{
    group_drop(((struct san_warp *)k)->group);
    free(k);
}

void undef_block(struct block *b)
{
    struct san *s = san_of(b->launch);
    size_t n = b->launch->module->n_slots;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        struct warp *w = &b->warps[k];
        struct san_warp *sw = san_warp(w);
        if (!sw) {
            sw = mem_zalloc(sizeof(*sw));
            sw->kept.drop = warp_drop;
            sw->undef = arena_zalloc(s->arena, (n + 1) * sizeof(*sw->undef));
            w->kept[PTX_CHECKER] = &sw->kept;
        }
        if (sw->dirty)
            memset(sw->undef, 0, n * sizeof(*sw->undef));
        sw->dirty = w->followed = false;
        group_begin(w);
        sw->behind = 0;
        sw->choice = NULL;
        if (!(s->checks & SANITIZE_INIT))
            continue;
        uint8_t all[32];
        memset(all, 0xff, sizeof(all));
        for (size_t j = 0; j < s->n_never; j++)
            undef_set(w, s->never[j], ~0u, all);
    }
}

uint8_t undef_of(const struct warp *w, uint32_t slot, int lane)
{
    return (san_warp(w)->undef[slot] >> lane & 1) ? san_warp(w)->bytes[slot][lane] : 0;
}

void undef_set(struct warp *w, uint32_t slot, uint32_t mask, const uint8_t bytes[32])
{
    struct san_warp *sw = san_warp(w);
    if (!sw->bytes)
        sw->bytes = arena_alloc(san_of(w->launch)->arena, ((size_t)w->launch->module->n_slots + 1) * 32);
    uint32_t some = 0;
    for (int l = 0; l < 32; l++)
        if ((mask >> l & 1) && bytes[l]) {
            sw->bytes[slot][l] = bytes[l];
            some |= 1u << l;
        }
    sw->undef[slot] = (sw->undef[slot] & ~mask) | some;
    if (some)
        sw->dirty = w->followed = true;
}

static void undef_clear(struct warp *w, uint32_t slot, uint32_t mask)
{
    san_warp(w)->undef[slot] &= ~mask;
}

static uint8_t whole(uint32_t bytes)
{
    return (uint8_t)(bytes ? (1u << MIN(bytes, 8)) - 1 : 1);
}

uint8_t opnd_undef(const struct warp *w, const struct opnd *o, int lane)
{
    return is_register(o) && o->kind != OPND_SINK ? undef_of(w, o->slot, lane) & whole(o->bytes) : 0;
}

static uint64_t opnd_value(const struct warp *w, const struct opnd *o, int lane)
{
    return o->bytes ? opnd_lane(w, o, (uint32_t)lane) : (*REG(uint32_t, w, o->off) >> lane & 1) ^ o->negated;
}

void undef_loaded(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t missing[32])
{
    if (!i->n_opnds || !insn_writes(i, 0))
        return;
    const struct opnd *d = &i->opnds[0];
    for (unsigned e = 0; e < (d->kind == OPND_VEC ? d->n : 1u); e++) {
        const struct opnd *o = d->kind == OPND_VEC ? &d->vec[e] : d;
        uint8_t bytes[32];
        if (!is_register(o))
            continue;
        for (int l = 0; l < 32; l++)
            bytes[l] = (uint8_t)(missing[l] >> (e * i->bytes) & whole(i->bytes));
        undef_set(w, o->slot, mask, bytes);
    }
}

bool undef_stored(struct warp *w, const struct insn *i, uint32_t mask, uint32_t missing[32])
{
    if (i->n_opnds < 2)
        return false;
    if (i->op == OP_mbarrier || i->op == OP_cp) /* what these leave is their own */
        return false;
    const struct opnd *v = &i->opnds[insn_writes(i, 0) ? 2 : 1]; /* atom has a destination first */
    bool any = false;
    memset(missing, 0, 32 * sizeof(missing[0]));
    for (unsigned e = 0; e < (v->kind == OPND_VEC ? v->n : 1u); e++) {
        const struct opnd *o = v->kind == OPND_VEC ? &v->vec[e] : v;
        if (!is_register(o) || !(san_warp(w)->undef[o->slot] & mask))
            continue;
        for (int l = 0; l < 32; l++)
            if (mask >> l & 1)
                missing[l] |= (uint32_t)(undef_of(w, o->slot, l) & whole(i->bytes)) << (e * i->bytes);
        any = true;
    }
    return any;
}

/* ---- how undefinedness travels ---- */

static uint64_t bits_of(uint8_t bytes)
{
    uint64_t bits = 0;
    for (int k = 0; k < 8; k++)
        if (bytes >> k & 1)
            bits |= 0xffull << (8 * k);
    return bits;
}

static uint8_t bytes_of(uint64_t bits)
{
    uint8_t bytes = 0;
    for (int k = 0; k < 8; k++)
        if (bits >> (8 * k) & 0xff)
            bytes |= (uint8_t)(1u << k);
    return bytes;
}

/* Undefined bytes of a copy from -> to that truncates or extends integers. */
static uint8_t resize(uint8_t bytes, uint32_t from, uint32_t to, bool is_signed)
{
    bytes &= whole(from);
    if (to > from && is_signed && (bytes >> (from - 1) & 1))
        bytes |= (uint8_t)(whole(to) & ~whole(from));
    return bytes & whole(to);
}

static bool is_int(enum type t)
{
    return t >= TYPE_B8 && t <= TYPE_S64 && t != TYPE_B128;
}

static bool is_halves(enum type t)
{
    return t == TYPE_F16X2 || t == TYPE_BF16X2 || t == TYPE_U16X2 || t == TYPE_S16X2;
}

static uint8_t any_source(const struct warp *w, const struct insn *i, int lane)
{
    uint8_t u = 0;
    for (unsigned k = 0; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        if (insn_writes(i, k))
            continue;
        if (o->kind == OPND_VEC)
            for (int e = 0; e < o->n; e++)
                u |= opnd_undef(w, &o->vec[e], lane);
        else
            u |= opnd_undef(w, o, lane);
    }
    return u;
}

/* and, or: a defined 0 (1) decides. Predicates are one bit. */
static uint8_t masked(const struct warp *w, const struct insn *i, int lane)
{
    const struct opnd *a = &i->opnds[1], *b = &i->opnds[2];
    uint64_t ua = bits_of(opnd_undef(w, a, lane)), ub = bits_of(opnd_undef(w, b, lane));
    uint64_t va = opnd_value(w, a, lane), vb = opnd_value(w, b, lane);
    if (i->op == OP_or)
        va = ~va, vb = ~vb;
    if (!a->bytes)
        ua &= 1, ub &= 1;
    uint64_t u = (ua | ub) & ~(~va & ~ua) & ~(~vb & ~ub);
    return bytes_of(u);
}

static uint8_t shifted(const struct warp *w, const struct insn *i, int lane)
{
    const struct opnd *a = &i->opnds[1], *s = &i->opnds[2];
    uint32_t bits = type_bytes[i->type] * 8u;
    if (opnd_undef(w, s, lane))
        return 0xff;
    uint64_t u = bits_of(opnd_undef(w, a, lane)), n = MIN(opnd_value(w, s, lane) & 0xffffffff, (uint64_t)bits);
    bool top = u >> (bits - 1) & 1;
    if (n >= bits)
        u = i->op == OP_shr && type_signed(i->type) && top ? ~0ull : 0;
    else if (i->op == OP_shl)
        u <<= n;
    else
        u = (u >> n) | (type_signed(i->type) && top && n ? ~0ull << (bits - n) : 0);
    return bytes_of(u) & whole(bits / 8);
}

/* bfe d, a, pos, len; bfi d, a, b, pos, len: a field of constant or defined place. */
static uint8_t field(const struct warp *w, const struct insn *i, int lane)
{
    const struct opnd *a = &i->opnds[1], *at = &i->opnds[i->op == OP_bfi ? 3 : 2], *len = at + 1;
    if (opnd_undef(w, at, lane) || opnd_undef(w, len, lane))
        return 0xff;
    uint64_t pos = opnd_value(w, at, lane) & 255, n = opnd_value(w, len, lane) & 255;
    uint64_t mask = n >= 64 ? ~0ull : (1ull << n) - 1, u = bits_of(opnd_undef(w, a, lane));
    if (i->op == OP_bfi) {
        mask = pos >= 64 ? 0 : mask << pos;
        return bytes_of((pos >= 64 ? 0 : u << pos & mask) |
                        (bits_of(opnd_undef(w, &i->opnds[2], lane)) & ~mask));
    }
    u = pos >= 64 ? 0 : u >> pos & mask;
    return type_signed(i->type) && u ? 0xff : bytes_of(u);
}

/* setp.CMP.BOOL p, a, b, c: a defined c may decide alone. */
static uint8_t compared(const struct warp *w, const struct insn *i, int lane)
{
    const struct opnd *c = &i->opnds[3];
    if (i->n_opnds < 4 || opnd_undef(w, c, lane) || insn_has(i, MOD_xor))
        return 0xff;
    return opnd_value(w, c, lane) == (insn_has(i, MOD_or) ? 1 : 0) ? 0 : 0xff;
}

static uint8_t permuted(const struct warp *w, const struct insn *i, int lane)
{
    const struct opnd *sel = &i->opnds[3];
    if (opnd_undef(w, sel, lane))
        return 0xf;
    uint32_t from =
        (opnd_undef(w, &i->opnds[1], lane) & 0xfu) | (uint32_t)(opnd_undef(w, &i->opnds[2], lane) & 0xf) << 4;
    uint64_t s = opnd_value(w, sel, lane);
    uint8_t u = 0;
    for (int k = 0; k < 4; k++)
        u |= (uint8_t)((from >> (s >> (4 * k) & 7) & 1) << k);
    return u;
}

static uint8_t chosen(const struct warp *w, const struct insn *i, int lane)
{
    if (opnd_undef(w, &i->opnds[3], lane))
        return 0xff;
    return opnd_undef(w, &i->opnds[opnd_value(w, &i->opnds[3], lane) ? 1 : 2], lane);
}

static uint8_t of_one_lane(const struct warp *w, const struct insn *i, int lane)
{
    const struct opnd *a = i->n_opnds > 1 ? &i->opnds[1] : NULL;
    uint8_t u = any_source(w, i, lane);
    if (!u)
        return 0;
    switch ((enum bits_kind)op_table[i->op].bits) {
    case BITS_MOVE:
        return opnd_undef(w, a, lane);
    case BITS_BYTES:
        return u;
    case BITS_XOR:
        return a->slot == i->opnds[2].slot && is_register(a) && is_register(&i->opnds[2])
                   ? 0
                   : opnd_undef(w, a, lane) | opnd_undef(w, &i->opnds[2], lane);
    case BITS_MASK:
        return masked(w, i, lane);
    case BITS_SHIFT:
        return shifted(w, i, lane);
    case BITS_FIELD:
        return field(w, i, lane);
    case BITS_COMPARE:
        return compared(w, i, lane);
    case BITS_PERMUTE:
        return permuted(w, i, lane);
    case BITS_SELECT:
        return chosen(w, i, lane);
    case BITS_RESIZE: /* cvt.TO.FROM */
        if (is_int(i->type) && is_int(i->type2) && i->n_opnds == 2)
            return resize(u, type_bytes[i->type], type_bytes[i->type2], type_signed(i->type));
        if (is_halves(i->type2) && i->n_opnds == 3)
            return (uint8_t)((opnd_undef(w, a, lane) ? 0xc : 0) |
                             (opnd_undef(w, &i->opnds[2], lane) ? 0x3 : 0));
        return 0xff;
    case BITS_ALL:
    case BITS_SELECT_SIGN:
        if (is_halves(i->type))
            return (uint8_t)((u & 0x3 ? 0x3 : 0) | (u & 0xc ? 0xc : 0));
        return 0xff;
    case BITS_WHOLE:
        return 0xff;
    }
    return 0xff;
}

static void move_vector(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct opnd *d = &i->opnds[0], *a = &i->opnds[1];
    uint8_t packed[32];
    uint32_t size = a->kind == OPND_VEC ? a->vec[0].bytes : d->vec[0].bytes;
    for (int l = 0; l < 32; l++) {
        packed[l] = 0;
        for (int e = 0; a->kind == OPND_VEC && e < a->n; e++)
            packed[l] |= (uint8_t)(opnd_undef(w, &a->vec[e], l) << (uint32_t)e * size);
        if (a->kind != OPND_VEC)
            packed[l] = opnd_undef(w, a, l);
    }
    if (d->kind != OPND_VEC) {
        undef_set(w, d->slot, m, packed);
        return;
    }
    for (int e = 0; e < d->n; e++) {
        uint8_t part[32];
        for (int l = 0; l < 32; l++)
            part[l] = packed[l] >> (uint32_t)e * size & whole(size);
        if (is_register(&d->vec[e]))
            undef_set(w, d->vec[e].slot, m, part);
    }
}

/* shfl d|p, a, b, c: the lane read from; reading one that does not execute gives nothing defined. */
static void shuffled(struct warp *w, const struct insn *i, uint32_t m, uint8_t bytes[32])
{
    const struct opnd *a = &i->opnds[1], *b = &i->opnds[2], *c = &i->opnds[3];
    for (int l = 0; l < 32; l++) {
        int shift = (int)(opnd_value(w, b, l) & 31), bound = (int)(opnd_value(w, c, l) & 31);
        int segment = (int)(opnd_value(w, c, l) >> 8 & 31);
        int top = (l & segment) | (bound & ~segment), from;
        bool inside;
        if (insn_has(i, MOD_up))
            from = l - shift, inside = from >= top;
        else if (insn_has(i, MOD_down))
            from = l + shift, inside = from <= top;
        else if (insn_has(i, MOD_bfly))
            from = l ^ shift, inside = from <= top;
        else
            from = (l & segment) | (shift & ~segment), inside = from <= top;
        if (!inside)
            from = l;
        bytes[l] = opnd_undef(w, b, l) || !(m >> from & 1) ? 0xf : opnd_undef(w, a, from);
    }
}

/* ---- matrices ---- */

void undef_fragment_loaded(struct warp *w, const struct insn *i, unsigned part, const uint32_t missing[32])
{
    struct matrix_access x = matrix_access_of(i);
    const struct opnd *regs = matrix_operand(i);
    unsigned width = fragment_reg_bytes(&x.f), own = fragment_regs(&x.f);
    unsigned first = part * x.atoms * x.size / width, n = MAX(x.atoms * x.size / width, 1u);
    for (unsigned r = first; r < first + n; r++) {
        uint8_t bytes[32];
        for (unsigned l = 0; l < 32; l++)
            bytes[l] = undef_of(w, opnd_element(regs, r)->slot, (int)l);
        for (unsigned l = 0; l < 32; l++)
            for (unsigned atom = 0; atom < x.atoms; atom++) {
                unsigned slot, holder = matrix_holder(&x, part, l, atom, &slot), at = slot * x.size;
                if (at / width != r)
                    continue;
                uint8_t set = (uint8_t)(whole(x.size) << at % width);
                bytes[holder] = (uint8_t)((bytes[holder] & ~set) | (missing[l] >> atom * x.size & whole(x.size))
                                                                       << at % width);
            }
        for (unsigned copy = r; copy < matrix_reg_count(regs); copy += own)
            undef_set(w, opnd_element(regs, copy)->slot, ~0u, bytes);
    }
}

bool undef_fragment_stored(const struct warp *w, const struct insn *i, unsigned part, uint32_t missing[32])
{
    struct matrix_access x = matrix_access_of(i);
    unsigned width = fragment_reg_bytes(&x.f);
    bool any = false;
    for (unsigned l = 0; l < 32; l++) {
        missing[l] = 0;
        for (unsigned atom = 0; atom < x.atoms; atom++) {
            unsigned slot, holder = matrix_holder(&x, part, l, atom, &slot), at = slot * x.size;
            const struct opnd *o = opnd_element(matrix_operand(i), at / width);
            uint32_t bytes = opnd_undef(w, o, (int)holder) >> at % width & whole(x.size);
            missing[l] |= bytes << atom * x.size;
        }
        any |= missing[l] != 0;
    }
    return any;
}

/* Rows (of B: columns) in which somebody holds an undefined element. */
static uint32_t undef_lines(const struct warp *w, const struct insn *i, unsigned operand)
{
    struct fragment f = mma_fragment(i, operand);
    unsigned n = fragment_regs(&f), each = (unsigned)f.pieces * f.run / n, row, column;
    uint32_t lines = 0;
    for (unsigned r = 0; r < n; r++)
        for (unsigned l = 0; l < 32; l++)
            if (opnd_undef(w, opnd_element(&i->opnds[operand], r), (int)l)) {
                fragment_place(&f, l, r * each, &row, &column);
                lines |= 1u << (operand == 1 ? row : column);
            }
    return lines;
}

/* mma: D's row is A's row, D's column is B's column. */
static void multiplied(struct warp *w, const struct insn *i)
{
    struct fragment fc = mma_fragment(i, 3), fd = mma_fragment(i, 0);
    unsigned c_each = 8 * fragment_reg_bytes(&fc) / fc.bits, d_each = 8 * fragment_reg_bytes(&fd) / fd.bits;
    unsigned n = fragment_regs(&fd);
    uint32_t rows = undef_lines(w, i, 1), columns = undef_lines(w, i, 2);
    uint8_t bytes[8][32] = {{0}};
    for (unsigned slot = 0; slot < n * d_each; slot++)
        for (unsigned l = 0; l < 32; l++) {
            unsigned row, column;
            const struct opnd *c = opnd_element(&i->opnds[3], slot / c_each);
            uint8_t of_c = opnd_undef(w, c, (int)l) >> slot % c_each * fc.bits / 8 & whole(fc.bits / 8);
            fragment_place(&fd, l, slot, &row, &column);
            if (of_c || rows >> row & 1 || columns >> column & 1)
                bytes[slot / d_each][l] |= (uint8_t)(whole(fd.bits / 8) << slot % d_each * fd.bits / 8);
        }
    for (unsigned r = 0; r < n; r++)
        undef_set(w, opnd_element(&i->opnds[0], r)->slot, ~0u, bytes[r]);
}

static bool sources_touched(const struct warp *w, const struct insn *i)
{
    for (unsigned k = 0; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        if (insn_writes(i, k))
            continue;
        if (o->kind == OPND_VEC) {
            for (int e = 0; e < o->n; e++)
                if (is_register(&o->vec[e]) && san_warp(w)->undef[o->vec[e].slot])
                    return true;
        } else if (is_register(o) && o->kind != OPND_SINK && san_warp(w)->undef[o->slot]) {
            return true;
        }
    }
    return false;
}

static void set_opnd(struct warp *w, const struct opnd *o, uint32_t m, const uint8_t bytes[32], bool any)
{
    if (o->kind == OPND_VEC)
        for (int e = 0; e < o->n; e++)
            set_opnd(w, &o->vec[e], m, bytes, any);
    else if (is_register(o) && any)
        undef_set(w, o->slot, m, bytes);
    else if (is_register(o))
        undef_clear(w, o->slot, m);
}

static void set_all(struct warp *w, const struct insn *i, uint32_t m, const uint8_t bytes[32], bool any)
{
    for (unsigned k = 0; k < i->n_opnds && insn_writes(i, k); k++)
        set_opnd(w, &i->opnds[k], m, bytes, any);
    if (i->pair)
        set_opnd(w, i->pair, m, bytes, any);
}

static void result(struct warp *w, const struct insn *i, uint32_t m)
{
    uint8_t bytes[32] = {0};
    enum undef_kind kind = (enum undef_kind)op_table[i->op].undef;
    if (kind == UNDEF_NOTHING || kind == UNDEF_ACCESS || (kind == UNDEF_LOAD && i->space != SPACE_PARAM))
        return;
    if (!i->n_opnds || !insn_writes(i, 0))
        return;
    if (kind == UNDEF_GROUP_PRODUCT) {
        group_undef(w, i);
        return;
    }
    bool missing_lanes = kind == UNDEF_SHUFFLE && m != ~0u;
    if (!missing_lanes && !sources_touched(w, i)) {
        set_all(w, i, m, bytes, false);
        return;
    }
    switch (kind) {
    case UNDEF_SHUFFLE:
        shuffled(w, i, m, bytes);
        set_opnd(w, &i->opnds[0], m, bytes, true);
        if (i->pair)
            set_opnd(w, i->pair, m, bytes, false);
        return;
    case UNDEF_PRODUCT:
        multiplied(w, i);
        return;
    case UNDEF_WARP:
        for (int l = 0; l < 32; l++)
            bytes[0] |= (m >> l & 1) ? any_source(w, i, l) : 0;
        memset(bytes, bytes[0] ? 0xff : 0, sizeof(bytes));
        set_all(w, i, m, bytes, true);
        return;
    default:
        break;
    }
    if (op_table[i->op].bits == BITS_MOVE && (i->opnds[0].kind == OPND_VEC || i->opnds[1].kind == OPND_VEC)) {
        move_vector(w, i, m);
        return;
    }
    for (int l = 0; l < 32; l++)
        bytes[l] = (m >> l & 1) ? of_one_lane(w, i, l) : 0;
    set_all(w, i, m, bytes, true);
}

/* ---- choices ---- */

enum { CHOICE_INSNS = 16 };

/* A forward branch over a few instructions that compute in their own lane, of registers and parameters, and
 * do no more is what a compiler makes of `?:`, as selp is: what they write hangs on its condition, and nothing
 * else does. */
static bool is_choice(const struct launch *l, const struct insn *branch)
{
    if (branch->op != OP_bra || branch->imm <= (int64_t)branch->self ||
        branch->imm > (int64_t)branch->self + CHOICE_INSNS || branch->imm > (int64_t)l->module->n_code)
        return false;
    for (size_t pc = branch->self + 1; pc < (size_t)branch->imm; pc++) {
        const struct insn *i = &l->module->code[pc];
        enum unit unit = op_table[i->op].unit;
        bool parameter = op_table[i->op].undef == UNDEF_LOAD && i->space == SPACE_PARAM,
             computes = op_table[i->op].undef == UNDEF_LANES && op_table[i->op].price != PRICE_VOTE &&
                        unit != UNIT_SYNC && unit != UNIT_CONTROL && unit != UNIT_LSU && unit != UNIT_ATOM;
        if (i->guard || insn_has(i, MOD_sync) || !(computes || parameter) || !i->n_opnds || !insn_writes(i, 0))
            return false;
    }
    return true;
}

static void undefined_result(struct warp *w, const struct insn *i, uint32_t lanes)
{
    uint8_t bytes[32];
    memset(bytes, 0xff, sizeof(bytes));
    set_all(w, i, lanes, bytes, true);
}

/* Lanes with an undefined condition: those that jump have an undefined value in each register now, the others
 * once they have executed the instruction that writes it. */
static void choose(struct warp *w, const struct insn *branch, uint32_t lanes)
{
    san_warp(w)->choice = branch;
    san_warp(w)->choice_lanes = lanes;
    for (size_t pc = branch->self + 1; pc < (size_t)branch->imm; pc++)
        undefined_result(w, &w->launch->module->code[pc], lanes);
}

void undef_insn(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct san_warp *sw = san_warp(w);
    if ((w->mask & m) != m || w->launch->stop) /* it waits for others, and will be executed again; a fault */
        return;
    if (!(san_of(w->launch)->checks & SANITIZE_INIT))
        return;
    result(w, i, m);
    if (sw->choice && (sw->choice_lanes & m) && i->self > sw->choice->self &&
        (int64_t)i->self < sw->choice->imm)
        undefined_result(w, i, sw->choice_lanes & m);
}

/* ---- uses ---- */

static void report_use(struct warp *w, const struct insn *i, uint32_t lanes, const char *what)
{
    const struct origin *o = &san_of(w->launch)->origin;
    fault(w, i, __builtin_ctz(lanes), PTX_UNINITIALISED, 0, "%s an undefined value%s%s", what,
          o->words[0] ? ": " : "", o->words);
}

void undef_use(struct warp *w, const struct insn *i, uint32_t m)
{
    group_use(w, i, m);
    if (w->launch->stop)
        return;
    if (i->guard) {
        uint32_t lanes = san_warp(w)->undef[san_of(w->launch)->slot_at[i->guard / 2]] & w->mask;
        if (lanes && is_choice(w->launch, i)) {
            choose(w, i, lanes);
            return;
        }
        if (lanes) {
            report_use(w, i, lanes,
                       i->op == OP_bra ? "the branch depends on" : "whether this executes depends on");
            return;
        }
    }
    for (unsigned k = 0; k < i->n_opnds; k++) {
        const struct opnd *o = &i->opnds[k];
        bool index = i->op == OP_brx && k == 0;
        bool stride = (i->op == OP_wmma_load || i->op == OP_wmma_store) && k == 2;
        if ((o->kind != OPND_ADDR && !index && !stride) || o->is_imm || !(san_warp(w)->undef[o->slot] & m))
            continue;
        report_use(w, i, san_warp(w)->undef[o->slot] & m,
                   index ? "the branch's target depends on" : "the address is formed from");
        return;
    }
}
