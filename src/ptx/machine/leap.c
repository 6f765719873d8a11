/* Leaps over the middle of a long loop. Where a warp comes to the same backward branch again and again, and
 * what its registers hold has grown by the same step each time, they are set to what they will hold many turns
 * later: short of where one of them passes 2^31 or 2^32, or the loop ends. What happens there is then seen
 * after a few turns in the place of millions. Sums that the loop adds up lack those turns: only who asks where
 * a launch goes, and whether it ends, may leap. */
#include "leap.h"

#include <float.h>

enum {
    TURNS = 12,   /* that must look alike: a ring of buffers has fewer parts */
    LEAST = 256,  /* turns that are worth a leap */
    BEFORE = 3,   /* turns short of the place */
    LOOPS = 1024, /* of all warps */
    ADDS = 64,    /* integers that a turn adds to */

    EXACT_TURNS =
        4, /* of an exact leap: longer than what a place that is not hollow may hold of one turn's loads */
    EXACT_LEAST = 32,
};

#define MOST ((uint64_t)1 << 40) /* turns */

struct leap_loop { /* one branch of one warp */
    const struct warp *warp;
    uint64_t block;
    uint32_t first, pc, mask, turns;
    uint64_t still; /* what stays in an exact plan, hashed */
    struct leap_plan plan;
    struct leap_add {
        uint8_t *at;
        uint64_t by;
        uint32_t bytes;
    } adds[ADDS]; /* to shared memory, since the turn began */
    size_t n_adds;
    bool spilt; /* there were more */
};

static void *copy(const void *from, size_t bytes)
{
    return bytes ? memcpy(mem_alloc(bytes), from, bytes) : NULL;
}

/* What the instructions say of it is the same for all warps. */
static void open_loop(struct leap_loop *o, const struct ptx_leaps *leaps, const struct launch *l,
                      const struct insn *branch)
{
    for (const struct leap_loop *k = leaps->loops; k < o; k++)
        if (k->pc == o->pc) {
            o->plan = k->plan;
            o->plan.regs = copy(k->plan.regs, k->plan.n * sizeof(*k->plan.regs));
            o->plan.stills = copy(k->plan.stills, k->plan.n_stills * sizeof(*k->plan.stills));
            o->plan.linear = copy(k->plan.linear, k->plan.linear ? branch->self - (uint32_t)branch->imm : 0);
            return;
        }
    leap_plan(&o->plan, l->module, branch, leaps->hollows != NULL);
}

static struct leap_loop *loop_at(struct ptx_leaps *leaps, const struct warp *w, const struct insn *branch)
{
    struct leap_loop *o = leaps->loops;

    for (size_t k = 0; k < leaps->n; k++)
        if (o[k].warp == w && o[k].pc == branch->self && o[k].block == w->block->linear)
            return &o[k];
    if (leaps->n == LOOPS)
        return NULL;
    if (!o)
        o = leaps->loops = mem_zalloc(LOOPS * sizeof(*o));
    o = &o[leaps->n++];
    memset(o, 0, sizeof(*o));
    o->warp = w;
    o->block = w->block->linear;
    o->first = (uint32_t)branch->imm;
    o->pc = branch->self;
    o->mask = w->mask;
    open_loop(o, leaps, w->launch, branch);
    leaps->adds |= o->plan.adds;
    return o;
}

static uint64_t reg_get(const struct warp *w, const struct leap_reg *r, unsigned lane)
{
    return r->wide ? REG(uint64_t, w, r->off)[lane] : REG(uint32_t, w, r->off)[lane];
}

/* What must stay, of the lanes that are in the loop. */
static uint64_t still_hash(const struct leap_loop *o, const struct warp *w)
{
    uint64_t hash = 0;

    for (size_t k = 0; k < o->plan.n_stills; k++) {
        const struct leap_still *s = &o->plan.stills[k];
        if (s->bytes == 0)
            hash = rng_hash(hash, *REG(uint32_t, w, s->off) & w->mask);
        for (unsigned lane = 0; s->bytes && lane < 32; lane++) {
            uint64_t v[2] = {0};
            memcpy(v, REG(unsigned char, w, s->off) + (size_t)lane * s->bytes, s->bytes);
            if (w->mask >> lane & 1)
                hash = (hash ^ v[0] ^ v[1] << 1) * 0x9e3779b97f4a7c15u ^ hash >> 29;
        }
    }
    for (size_t k = 0; k < o->n_adds; k++)
        hash = rng_hash(hash ^ (uintptr_t)o->adds[k].at, o->adds[k].by);
    return hash;
}

static void look_still(struct leap_loop *o, const struct warp *w)
{
    uint64_t now = still_hash(o, w);

    if (now != o->still || o->spilt) /* from here on */
        o->turns = 0;
    o->still = now;
}

static double real_of(const struct leap_reg *r, uint64_t bits)
{
    return r->wide ? f64_of(bits) : (double)f32_of((uint32_t)bits);
}

static uint64_t step_of(const struct leap_reg *r, uint64_t last, uint64_t now)
{
    if (r->real)
        return now == last ? 0 : bits_f64(real_of(r, now) - real_of(r, last));
    return r->wide ? now - last : (uint64_t)(int64_t)(int32_t)(now - last);
}

/* What it holds so many turns later; modulo 2^64, -1 is the turn before. */
static uint64_t later(const struct leap_reg *r, unsigned lane, uint64_t turns)
{
    if (r->real && r->step[lane] != 0) {
        double v = real_of(r, r->last[lane]) + f64_of(r->step[lane]) * (double)(int64_t)turns;
        return r->wide ? bits_f64(v) : bits_f32((float)v);
    }
    return r->last[lane] + r->step[lane] * turns;
}

static void look(struct leap_loop *o, const struct warp *w)
{
    for (size_t k = 0; k < o->plan.n; k++) {
        struct leap_reg *r = &o->plan.regs[k];
        if (o->turns == 0)
            r->linear = true;
        for (unsigned lane = 0; lane < 32; lane++) {
            uint64_t now = reg_get(w, r, lane), step = step_of(r, r->last[lane], now);
            r->linear &= o->turns < 2 || step == r->step[lane] || !(w->mask >> lane & 1);
            r->step[lane] = step;
            r->last[lane] = now;
        }
    }
    o->turns++;
}

/* How far it is to the next of 0, 2^31 and 2^32 on its way. */
static uint64_t way_left(const struct leap_reg *r, uint64_t at, bool up)
{
    const uint64_t half = (uint64_t)1 << 31, whole = (uint64_t)1 << 32;
    const uint64_t below = at > half ? half : 0, above = at < half ? half : whole;

    if (!up)
        return at - (at > whole ? whole : below);
    return at < whole || !r->wide ? above - at : -at;
}

/* Turns until a lane of it passes one of them. */
static uint64_t turns_left(const struct warp *w, const struct leap_reg *r)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        int64_t step = (int64_t)r->step[lane];
        if (step)
            least = MIN(least, way_left(r, r->last[lane], step > 0) / (uint64_t)(step > 0 ? step : -step));
    }
    return least;
}

/* What a comparison reads: a number now, and how much it grows in a turn. */
static void operand_at(const struct warp *w, const struct leap_loop *o, const struct opnd *d, unsigned lane,
                       uint64_t v[2])
{
    v[0] = d->bytes == 8 ? REG(uint64_t, w, d->off)[lane] : REG(uint32_t, w, d->off)[lane];
    v[1] = 0;
    for (size_t k = 0; k < o->plan.n; k++)
        if (o->plan.regs[k].off == d->off)
            v[1] = o->plan.regs[k].step[lane];
}

/* Turns until a comparison for equality comes out otherwise, which it may do for one turn alone. */
static uint64_t turns_to_equal(const struct warp *w, const struct leap_loop *o, const struct insn *branch)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t pc = o->plan.again; pc < branch->self; pc++) {
        const struct insn *i = &w->launch->module->code[pc];
        if (i->op != OP_setp || !(insn_has(i, MOD_eq) || insn_has(i, MOD_ne)))
            continue;
        for (uint32_t m = w->mask; m; m &= m - 1) {
            const uint64_t all = i->opnds[1].bytes == 8 ? UINT64_MAX : UINT32_MAX;
            uint64_t x[2], y[2];
            operand_at(w, o, &i->opnds[1], (unsigned)__builtin_ctz(m), x);
            operand_at(w, o, &i->opnds[2], (unsigned)__builtin_ctz(m), y);
            int64_t step = (int64_t)(x[1] - y[1]);
            uint64_t way = (step > 0 ? y[0] - x[0] : x[0] - y[0]) & all,
                     by = (uint64_t)(step > 0 ? step : -step);
            if (by && way && way % by == 0)
                least = MIN(least, way / by);
        }
    }
    return least;
}

static void set(struct warp *w, const struct leap_loop *o, uint64_t turns)
{
    for (size_t k = 0; k < o->plan.n; k++)
        for (unsigned lane = 0; lane < 32; lane++) {
            const struct leap_reg *r = &o->plan.regs[k];
            uint64_t v = later(r, lane, turns);
            if (!(w->mask >> lane & 1))
                continue;
            if (r->wide)
                REG(uint64_t, w, r->off)[lane] = v;
            else
                REG(uint32_t, w, r->off)[lane] = (uint32_t)v;
        }
}

/* ---- exact ---- */

/* What loads, stores and comparisons of a turn find in their registers: addresses, and both sides. */
struct found {
    uint64_t v[2][32];
};

static void find(const struct warp *w, const struct opnd *d, uint64_t *to)
{
    for (unsigned lane = 0; lane < 32; lane++)
        to[lane] = d->bytes == 8 ? REG(uint64_t, w, d->off)[lane] : REG(uint32_t, w, d->off)[lane];
}

static const struct opnd *address_of(const struct insn *i)
{
    const struct opnd *o = i->opnds;

    while (o->kind != OPND_ADDR)
        o++;
    return o;
}

/* In the turn so many turns from now. The registers are left as that turn leaves them. */
static size_t find_all(struct warp *w, const struct leap_loop *o, const struct insn *branch, uint64_t turns,
                       struct found *to)
{
    const struct insn *code = w->launch->module->code;
    size_t n = 0;

    set(w, o, turns);
    for (uint32_t pc = (uint32_t)branch->imm; pc < branch->self; pc++) {
        const struct insn *i = &code[pc];
        const enum leap_insn kind = o->plan.linear[pc - (uint32_t)branch->imm];
        if (kind == LEAP_SUM) {
            find(w, &i->opnds[1], to[n].v[0]);
            find(w, &i->opnds[2], to[n++].v[1]);
        }
        if (kind == LEAP_LINEAR || kind == LEAP_SUM) {
            i->fn(w, i, w->mask);
        } else if (i->op == OP_setp && i->opnds[1].bytes >= 4) {
            find(w, &i->opnds[1], to[n].v[0]);
            find(w, &i->opnds[2], to[n++].v[1]);
        } else if (i->op == OP_ld || i->op == OP_st) {
            find(w, address_of(i), to[n++].v[0]);
        }
    }
    return n;
}

/* Turns for which a comparison of a lane comes out as it does now: x in this turn, y in the next. */
static uint64_t turns_alike(const struct insn *i, const struct found *x, const struct found *y, unsigned lane)
{
    const bool wide = i->opnds[1].bytes == 8 || i->opnds[2].bytes == 8;
    const bool sign = i->type != TYPE_U32 && i->type != TYPE_U64;
    __int128 apart[2];

    for (int k = 0; k < 2; k++) {
        const uint64_t a = (k ? y : x)->v[0][lane], b = (k ? y : x)->v[1][lane];
        if (!sign)
            apart[k] = (__int128)a - b;
        else if (wide)
            apart[k] = (__int128)(int64_t)a - (int64_t)b;
        else
            apart[k] = (int64_t)(int32_t)a - (int64_t)(int32_t)b;
    }
    __int128 step = apart[1] - apart[0];
    if (step == 0)
        return UINT64_MAX;
    if (apart[0] == 0)
        return 0;
    if ((apart[0] > 0) == (step > 0)) /* it goes away, until it runs over, which is short of 2^31 */
        return UINT64_MAX;
    return (uint64_t)(((apart[0] > 0 ? apart[0] : -apart[0]) - 1) / (step > 0 ? step : -step));
}

/* The least power of two that it has, INFINITY: of zero; and of what is none, zero. */
static double digit_of(double v)
{
    int e;
    double m = frexp(v, &e);

    if (v == 0 || !isfinite(v))
        return v == 0 ? INFINITY : 0;
    return ldexp(1, e - 53 + __builtin_ctzll((uint64_t)(int64_t)fabs(ldexp(m, 53))));
}

/* Turns for which a floating sum rounds nothing: x in this turn, y in the next. All that it adds are multiples
 * of one power of two, and so are they later; of a normal number, which nobody flushes. */
static uint64_t turns_summed(const struct insn *i, const struct found *x, const struct found *y, unsigned lane)
{
    const struct leap_reg r = {.wide = i->type == TYPE_F64};
    double digit = INFINITY, size = 0, by = 0;

    if (x->v[0][lane] == y->v[0][lane] && x->v[1][lane] == y->v[1][lane])
        return UINT64_MAX;
    for (int k = 0; k < 2; k++) {
        double before = real_of(&r, x->v[k][lane]), now = real_of(&r, y->v[k][lane]);
        digit = fmin(digit, fmin(digit_of(before), digit_of(now)));
        size += fabs(now);
        by += fabs(now - before);
    }
    double turns = (ldexp(digit, r.wide ? 53 : 24) - size) / by - 1;
    return turns > 0 && by > 0 && digit >= (r.wide ? DBL_MIN : (double)FLT_MIN)
               ? (uint64_t)fmin(turns, (double)MOST)
               : 0;
}

/* Turns in which it goes from `at` by `step` without touching one of these. */
static uint64_t turns_between(const struct ptx_hollow *h, uint64_t at, int64_t step, uint64_t bytes)
{
    const uint64_t by = (uint64_t)(step > 0 ? step : -step);
    uint64_t least = (step > 0 ? h->all.to - MIN(h->all.to, at + bytes) : at - h->all.from) / by;

    for (size_t k = 0; k < h->n_but; k++) {
        const uint64_t low = h->but[k].from - (bytes - 1),
                       high = h->but[k].to; /* what begins there touches it */
        if (step > 0 ? high <= at : low > at)
            continue;
        if (low <= at && at < high)
            return 0;
        uint64_t turns = step > 0 ? (low - at + by - 1) / by : (at - (high - 1) + by - 1) / by;
        uint64_t there = at + turns * (uint64_t)step;
        if (there >= low && there < high)
            least = MIN(least, turns);
    }
    return least;
}

/* Has the turn that has just ended stored there what was there? The next one stores the same. */
static bool leaves_hollow(const struct warp *w, const struct ptx_hollow *h, uint64_t at, uint64_t bytes)
{
    unsigned char now[64];
    bool same = bytes <= sizeof(now) && ptx_mem_read(w->launch->mem, at, now, bytes);

    for (uint64_t k = 0; k < bytes && same; k++)
        same = now[k] == h->number[(at - h->all.from + k) % PTX_HOLLOW_BYTES];
    return same;
}

/* Turns for which a load of a lane finds what it finds now, or a store goes where nobody looks, or leaves what
 * is there. at: in the next turn. */
static uint64_t turns_hollow(const struct warp *w, const struct insn *i, enum leap_insn kind, uint64_t at,
                             int64_t step)
{
    const struct ptx_leaps *leaps = w->launch->options->leaps;
    const uint64_t bytes = (uint64_t)i->bytes * MAX(i->vec, 1);

    if (step == 0)
        return UINT64_MAX;
    if (i->space != SPACE_GLOBAL && i->space != SPACE_GENERIC)
        return 0;
    at += (uint64_t)i->imm;
    for (size_t k = 0; k < leaps->n_hollows; k++) {
        const struct ptx_hollow *h = &leaps->hollows[k];
        if (at - h->all.from >= h->all.to - h->all.from)
            continue;
        if (i->op == OP_st && (kind == LEAP_STORES_LINEAR || !leaves_hollow(w, h, at - (uint64_t)step, bytes)))
            return 0;
        return turns_between(h, at, step, bytes);
    }
    for (size_t k = 0; i->op == OP_st && k < leaps->n_spares; k++) {
        const struct ptx_hollow whole = {.all = leaps->spares[k]};
        if (at - whole.all.from < whole.all.to - whole.all.from)
            return turns_between(&whole, at, step, bytes);
    }
    return 0;
}

/* Turns that all leave the same, as the one that has just ended. */
static uint64_t turns_exact(struct warp *w, const struct leap_loop *o, const struct insn *branch)
{
    const uint32_t first = (uint32_t)branch->imm;
    const struct insn *code = w->launch->module->code;
    const size_t bytes = w->launch->module->file_bytes;
    struct found *x = mem_alloc(2 * (branch->self - first) * sizeof(*x)), *y = x + (branch->self - first);
    void *regs = copy(w->regs, bytes);
    uint64_t least = MOST;
    size_t n = 0;

    find_all(w, o, branch, (uint64_t)-1, x); /* the last one, and the one that comes */
    find_all(w, o, branch, 0, y);
    memcpy(w->regs, regs, bytes);
    for (uint32_t pc = first; pc < branch->self && least >= EXACT_LEAST; pc++) {
        const struct insn *i = &code[pc];
        const enum leap_insn kind = o->plan.linear[pc - first];
        const bool compares = i->op == OP_setp && i->opnds[1].bytes >= 4;
        const bool told = compares || kind == LEAP_SUM || i->op == OP_ld || i->op == OP_st;
        for (uint32_t m = told ? w->mask : 0; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctz(m);
            uint64_t step = y[n].v[0][lane] - x[n].v[0][lane], turns;
            if (kind == LEAP_SUM)
                turns = turns_summed(i, &x[n], &y[n], lane);
            else
                turns = compares ? turns_alike(i, &x[n], &y[n], lane)
                                 : turns_hollow(w, i, kind, y[n].v[0][lane], (int64_t)step);
            least = MIN(least, turns);
        }
        n += told;
    }
    free(regs);
    free(x);
    return least;
}

static uint32_t lanes_of(const struct warp *w, const struct insn *i)
{
    return w->mask & (*REG(uint32_t, w, i->guard) ^ i->guard_not);
}

/* Do all lanes go on after so many turns? */
static bool goes_on(struct warp *w, const struct leap_loop *o, const struct insn *branch, uint64_t turns)
{
    const struct insn *code = w->launch->module->code;

    set(w, o, turns);
    for (uint32_t pc = o->plan.again; pc < branch->self; pc++) {
        uint32_t m = lanes_of(w, &code[pc]);
        if (m)
            code[pc].fn(w, &code[pc], m);
    }
    return lanes_of(w, branch) == w->mask;
}

/* So many turns at most, of which the last ones are executed: to where the loop ends. */
static uint64_t leap_to_end(struct warp *w, const struct leap_loop *o, const struct insn *branch, uint64_t most)
{
    uint64_t low = 0;

    most = MIN(most, turns_to_equal(w, o, branch));
    if (most < LEAST)
        return 0;
    most -= BEFORE;
    for (uint64_t step = (uint64_t)1 << (63 - __builtin_clzll(most)); step; step /= 2)
        if (low + step <= most && goes_on(w, o, branch, low + step))
            low += step;
    low -= low < most ? MIN(low, (uint64_t)BEFORE) : 0;
    low = low < LEAST ? 0 : low;
    goes_on(w, o, branch, low);
    return low;
}

static uint64_t leap_exactly(struct warp *w, const struct leap_loop *o, const struct insn *branch,
                             uint64_t most)
{
    const uint64_t turns = turns_exact(w, o, branch);

    if (turns == MOST || MIN(most, turns) < EXACT_LEAST) /* MOST: nothing that is followed ends it */
        return 0;
    most = MIN(most, turns) - BEFORE;
    set(w, o, most);
    return most;
}

/* ---- additions to shared memory ---- */

static void note_add(struct leap_loop *o, uint8_t *at, uint64_t by, uint32_t bytes)
{
    size_t k = 0;

    while (k < o->n_adds && o->adds[k].at != at)
        k++;
    if (k == ADDS) {
        o->spilt = true;
        return;
    }
    if (k == o->n_adds)
        o->adds[o->n_adds++] = (struct leap_add){.at = at, .bytes = bytes};
    o->adds[k].by += by;
}

/* In all of the warp's loops around an instruction. */
static void note_in_loops(struct ptx_leaps *leaps, const struct warp *w, uint32_t pc,
                          const struct leap_add *add)
{
    for (size_t k = 0; k < leaps->n; k++) {
        struct leap_loop *o = &leaps->loops[k];
        if (o->plan.adds && o->warp == w && o->block == w->block->linear && o->first <= pc && pc < o->pc)
            note_add(o, add->at, add->by, add->bytes);
    }
}

void warp_leap_adds(struct warp *w, const struct insn *i, uint32_t m, uint8_t *const host[32])
{
    struct ptx_leaps *leaps = w->launch->options->leaps;
    const struct opnd *value = &i->opnds[i->op == OP_red ? 1 : 2];

    for (; leaps->adds && leap_adds(i) && m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t by = i->bytes == 8 ? REG(uint64_t, w, value->off)[lane] : REG(uint32_t, w, value->off)[lane];
        note_in_loops(leaps, w, i->self, &(struct leap_add){host[lane], by, (uint32_t)i->bytes});
    }
}

/* As so many turns more would have done. */
static void add_up(struct ptx_leaps *leaps, const struct leap_loop *o, const struct warp *w, uint64_t turns)
{
    for (size_t k = 0; k < o->n_adds && turns; k++) {
        struct leap_add add = o->adds[k];
        uint64_t now = 0;
        add.by *= turns;
        memcpy(&now, add.at, add.bytes);
        now += add.by;
        memcpy(add.at, &now, add.bytes); /* the lower bytes come first */
        note_in_loops(leaps, w, o->pc, &add);
    }
}

static void leap(struct warp *w, struct leap_loop *o, const struct insn *branch)
{
    struct ptx_leaps *leaps = w->launch->options->leaps;
    const bool exact = leaps->hollows;
    uint64_t most = MOST, turns;
    bool linear = true;

    if (o->mask != w->mask) {
        o->mask = w->mask;
        o->turns = 0;
    }
    if (exact)
        look_still(o, w);
    look(o, w);
    for (int k = 0; k < 2; k++)
        leaps->turns[k] += o->plan.moves[k];
    if (o->turns < (exact ? EXACT_TURNS : TURNS))
        return;
    for (size_t k = 0; k < o->plan.n; k++) {
        const struct leap_reg *r = &o->plan.regs[k];
        linear &= r->linear;
        if (r->counts)
            most = MIN(most, turns_left(w, r));
    }
    o->turns = 0;
    if (!linear)
        return;
    turns = exact ? leap_exactly(w, o, branch, most) : leap_to_end(w, o, branch, most);
    add_up(leaps, o, w, turns);
    leaps->leapt |= turns > 0;
    for (int k = 0; k < 2; k++)
        leaps->skipped[k] += o->plan.moves[k] ? turns : 0;
}

void warp_leap(struct warp *w, const struct insn *branch)
{
    struct leap_loop *o = loop_at(w->launch->options->leaps, w, branch);

    if (!o || !o->plan.again)
        return;
    leap(w, o, branch);
    o->n_adds = 0;
    o->spilt = false;
}

void ptx_leaps_next(struct ptx_leaps *leaps)
{
    size_t kept = 0;

    for (size_t k = 0; k < leaps->n; k++) {
        bool known = false;
        for (size_t i = 0; i < kept && !known; i++)
            known = leaps->loops[i].pc == leaps->loops[k].pc;
        if (known) {
            leap_plan_clear(&leaps->loops[k].plan);
            continue;
        }
        leaps->loops[kept] = leaps->loops[k];
        leaps->loops[kept++].warp = NULL;
    }
    leaps->n = kept;
}

void ptx_leaps_clear(struct ptx_leaps *leaps)
{
    for (size_t k = 0; k < leaps->n; k++)
        leap_plan_clear(&leaps->loops[k].plan);
    free(leaps->loops);
    *leaps = (struct ptx_leaps){0};
}
