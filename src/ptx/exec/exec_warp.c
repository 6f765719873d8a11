/* Instructions across lanes: shfl, vote, match, redux, activemask, elect. Those with .sync wait until the lanes
 * of their mask are there (lanes that exited count as arrived). Sources are read before anything is written: a
 * register may be both. */
#include "exec.h"

/* The mask operand; lanes of one instruction may name different ones. */
static bool await(struct warp *w, const struct insn *i, uint32_t m, const struct opnd *o, uint32_t mask[32])
{
    const uint32_t *s = REG(uint32_t, w, o->off);
    uint32_t want = 0;
    for (unsigned l = 0; l < 32; l++) {
        mask[l] = s[l];
        want |= m >> l & 1 ? s[l] : 0;
    }
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        if (!(mask[l] >> l & 1)) {
            fault(w, i, (int)l, PTX_DEADLOCK, 0,
                  "%s: the mask 0x%08x does not name the lane that executes it (%u)", i->text, mask[l], l);
            return false;
        }
    }
    return warp_await(w, i, m, want);
}

static inline int source_lane(int op, unsigned l, unsigned b, unsigned c, bool *valid)
{
    unsigned seg = c >> 8 & 31, clamp = c & 31, most = (l & seg) | (clamp & ~seg), least = l & seg;
    b &= 31;
    int j;
    switch (op) {
    case 0: /* up */
        j = (int)l - (int)b;
        *valid = j >= (int)most;
        break;
    case 1: /* down */
        j = (int)(l + b);
        *valid = j <= (int)most;
        break;
    case 2: /* bfly */
        j = (int)(l ^ b);
        *valid = j <= (int)most;
        break;
    default: /* idx */
        j = (int)(least | (b & ~seg));
        *valid = j <= (int)most;
    }
    return *valid ? j : (int)l;
}

static inline __attribute__((always_inline)) void shuffle(struct warp *w, const struct insn *i, uint32_t m,
                                                          int op)
{
    uint32_t mask[32], in[32], out[32], valid[32], p = 0;
    if (i->n_opnds > 4) {
        const uint32_t *s = REG(uint32_t, w, i->opnds[4].off);
        uint32_t differ = 0;
        LANES differ |= ~s[l];
        if ((differ || !warp_full(w, m)) && !await(w, i, m, &i->opnds[4], mask))
            return;
    }
    uint32_t *d = REG(uint32_t, w, i->d);
    const uint32_t *a = REG(uint32_t, w, i->a), *b = REG(uint32_t, w, i->b), *c = REG(uint32_t, w, i->c);
    memcpy(in, a, sizeof(in));
    LANES
    {
        bool ok;
        int j = source_lane(op, l, b[l], c[l], &ok);
        out[l] = in[j & 31];
        valid[l] = ok;
    }
    EACH(uint32_t, d, out[l]);
    if (!i->pair)
        return;
    LANES p |= valid[l] << l;
    pred_write(w, i->pair->off, p, m);
}

#define SHUFFLE(name, op)                                              \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        shuffle(w, i, m, op);                                          \
    }
SHUFFLE(shfl_up, 0)
SHUFFLE(shfl_down, 1)
SHUFFLE(shfl_bfly, 2)
SHUFFLE(shfl_idx, 3)

enum { BALLOT, ALL, ANY, UNIFORM }; /* insn.extra of a vote */

/* vote.sync: over the lanes of the executing lane's mask. */
static void vote(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t mask[32];
    LANES mask[l] = m;
    if (i->n_opnds > 2 && !await(w, i, m, &i->opnds[2], mask))
        return;
    uint32_t p = pred_read(w, &i->opnds[1]) & m, r = 0;
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t in = mask[l] & m, yes = p & in;
        bool all = yes == in, none = !yes;
        if (i->extra == BALLOT)
            REG(uint32_t, w, i->d)[l] = yes;
        else if (i->extra == ANY ? !none : all || (none && i->extra == UNIFORM))
            r |= 1u << l;
    }
    if (i->extra != BALLOT)
        pred_write(w, i->d, r, m);
}

static void match(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t mask[32], out[32] = {0}, all = 0;
    if (!await(w, i, m, &i->opnds[2], mask))
        return;
    bool wide = i->opnds[1].bytes == 8;
    uint64_t v[32];
    for (unsigned l = 0; l < 32; l++)
        v[l] = wide ? REG(uint64_t, w, i->a)[l] : REG(uint32_t, w, i->a)[l];
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t in = mask[l] & m, same = 0;
        for (uint32_t o = in; o; o &= o - 1)
            same |= v[__builtin_ctz(o)] == v[l] ? o & -o : 0;
        bool whole = same == in;
        out[l] = whole || !insn_has(i, MOD_all) ? same : 0;
        all |= whole ? 1u << l : 0;
    }
    uint32_t *d = REG(uint32_t, w, i->d);
    EACH(uint32_t, d, out[l]);
    if (i->pair)
        pred_write(w, i->pair->off, all, m);
}

static uint32_t reduced(const struct insn *i, uint32_t r, uint32_t x)
{
    if (insn_has(i, MOD_add))
        return r + x;
    if (insn_has(i, MOD_xor))
        return r ^ x;
    if (insn_has(i, MOD_and))
        return r & x;
    if (insn_has(i, MOD_or))
        return r | x;
    bool less = type_signed((enum type)i->type) ? (int32_t)r < (int32_t)x : r < x;
    return less == insn_has(i, MOD_min) ? r : x;
}

static void redux(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t mask[32], in[32], out[32] = {0};
    if (!await(w, i, m, &i->opnds[2], mask))
        return;
    memcpy(in, REG(uint32_t, w, i->a), sizeof(in));
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t members = mask[l] & m, r = in[l];
        if (insn_has(i, MOD_add) || insn_has(i, MOD_xor))
            r = 0;
        for (uint32_t o = members; o; o &= o - 1)
            r = reduced(i, r, in[__builtin_ctz(o)]);
        out[l] = r;
    }
    uint32_t *d = REG(uint32_t, w, i->d);
    EACH(uint32_t, d, out[l]);
}

static void activemask(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t *d = REG(uint32_t, w, i->d);
    EACH(uint32_t, d, m);
}

/* elect.sync d|p, mask: the lowest lane of the mask is the leader. */
static void elect(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t mask[32], leader = 0, *d = REG(uint32_t, w, i->d);
    if (!await(w, i, m, &i->opnds[1], mask))
        return;
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        unsigned first = (unsigned)__builtin_ctz(mask[l] & m);
        d[l] = first;
        leader |= first == l ? 1u << l : 0;
    }
    if (i->pair)
        pred_write(w, i->pair->off, leader, m);
}

exec_fn *ISA(select_warp)(struct insn *i)
{
    const struct opnd *o = i->opnds;
    if (i->op != OP_activemask && i->op != OP_shfl && i->op != OP_vote && !insn_has(i, MOD_sync))
        return NULL;
    if (o[0].kind == OPND_VEC ||
        (i->pair && (i->pair->bytes || (i->pair->kind != OPND_REG && i->pair->kind != OPND_SINK))))
        return NULL;
    switch (i->op) {
    case OP_shfl:
        if (i->type != TYPE_B32 || (i->n_opnds > 4) != insn_has(i, MOD_sync))
            return NULL;
        return BY_MOD(i, {MOD_up, shfl_up}, {MOD_down, shfl_down}, {MOD_bfly, shfl_bfly}, {MOD_idx, shfl_idx});
    case OP_vote:
        if (o[1].bytes || (i->n_opnds > 2) != insn_has(i, MOD_sync) || (i->n_opnds > 2 && o[2].bytes != 4))
            return NULL;
        i->extra = insn_has(i, MOD_any) ? ANY : UNIFORM;
        if (insn_has(i, MOD_ballot) || insn_has(i, MOD_all))
            i->extra = insn_has(i, MOD_ballot) ? BALLOT : ALL;
        return o[0].bytes == (i->extra == BALLOT ? 4 : 0) ? vote : NULL;
    case OP_match:
        return o[0].bytes == 4 && (o[1].bytes == 4 || o[1].bytes == 8) && o[1].bytes == type_bytes[i->type] &&
                       o[2].bytes == 4
                   ? match
                   : NULL;
    case OP_redux:
        return type_bytes[i->type] == 4 && i->type != TYPE_F32 ? redux : NULL;
    case OP_activemask:
        return o[0].bytes == 4 ? activemask : NULL;
    case OP_elect:
        return o[0].bytes == 4 && o[1].bytes == 4 ? elect : NULL;
    default:
        return NULL;
    }
}
