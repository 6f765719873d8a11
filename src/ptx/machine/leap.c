/* Leaps over the middle of a long loop. Where a warp comes to the same backward branch again and again, and
 * what its registers hold has grown by the same step each time, they are set to what they will hold many turns
 * later: short of where one of them passes 2^31 or 2^32, or the loop ends. What happens there is then seen
 * after a few turns in the place of millions. Sums that the loop adds up lack those turns: only who asks where
 * a launch goes, and whether it ends, may leap. */
#include "leap.h"

enum {
    TURNS = 12,   /* that must look alike: a ring of buffers has fewer parts */
    LEAST = 256,  /* turns that are worth a leap */
    BEFORE = 3,   /* turns short of the place */
    LOOPS = 1024, /* of all warps */
};

#define MOST ((uint64_t)1 << 40) /* turns */

struct leap_loop { /* one branch of one warp */
    const struct warp *warp;
    uint64_t block;
    uint32_t pc, mask, turns;
    struct leap_plan plan;
};

/* What the instructions say of it is the same for all warps. */
static void open_loop(struct leap_loop *o, const struct ptx_leaps *leaps, const struct launch *l,
                      const struct insn *branch)
{
    for (const struct leap_loop *k = leaps->loops; k < o; k++)
        if (k->pc == o->pc) {
            size_t bytes = k->plan.n * sizeof(*k->plan.regs);
            o->plan = k->plan;
            if (bytes)
                o->plan.regs = memcpy(mem_alloc(bytes), k->plan.regs, bytes);
            return;
        }
    leap_plan(&o->plan, l->module, branch);
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
    *o = (struct leap_loop){.warp = w, .block = w->block->linear, .pc = branch->self, .mask = w->mask};
    open_loop(o, leaps, w->launch, branch);
    return o;
}

static uint64_t reg_get(const struct warp *w, const struct leap_reg *r, unsigned lane)
{
    return r->wide ? REG(uint64_t, w, r->off)[lane] : REG(uint32_t, w, r->off)[lane];
}

static void look(struct leap_loop *o, const struct warp *w)
{
    for (size_t k = 0; k < o->plan.n; k++) {
        struct leap_reg *r = &o->plan.regs[k];
        if (o->turns == 0)
            r->linear = true;
        for (unsigned lane = 0; lane < 32; lane++) {
            uint64_t now = reg_get(w, r, lane), step = now - r->last[lane];
            if (!r->wide)
                step = (uint64_t)(int64_t)(int32_t)step;
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
            uint64_t v = r->last[lane] + r->step[lane] * turns;
            if (!(w->mask >> lane & 1))
                continue;
            if (r->wide)
                REG(uint64_t, w, r->off)[lane] = v;
            else
                REG(uint32_t, w, r->off)[lane] = (uint32_t)v;
        }
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

void warp_leap(struct warp *w, const struct insn *branch)
{
    struct ptx_leaps *leaps = w->launch->options->leaps;
    struct leap_loop *o = loop_at(leaps, w, branch);
    uint64_t most = MOST, low = 0;
    bool linear = true;

    if (!o || !o->plan.again)
        return;
    if (o->mask != w->mask) {
        o->mask = w->mask;
        o->turns = 0;
    }
    look(o, w);
    for (int k = 0; k < 2; k++)
        leaps->turns[k] += o->plan.moves[k];
    if (o->turns < TURNS)
        return;
    for (size_t k = 0; k < o->plan.n; k++) {
        const struct leap_reg *r = &o->plan.regs[k];
        linear &= r->linear;
        if (r->counts)
            most = MIN(most, turns_left(w, r));
    }
    most = MIN(most, turns_to_equal(w, o, branch));
    o->turns = 0;
    if (most < LEAST || !linear)
        return;
    most -= BEFORE;
    for (uint64_t step = (uint64_t)1 << (63 - __builtin_clzll(most)); step; step /= 2)
        if (low + step <= most && goes_on(w, o, branch, low + step))
            low += step;
    low -= low < most ? MIN(low, (uint64_t)BEFORE) : 0;
    low = low < LEAST ? 0 : low;
    goes_on(w, o, branch, low);
    leaps->leapt |= low > 0;
    for (int k = 0; k < 2; k++)
        leaps->skipped[k] += o->plan.moves[k] ? low : 0;
}

void ptx_leaps_clear(struct ptx_leaps *leaps)
{
    for (size_t k = 0; k < leaps->n; k++)
        free(leaps->loops[k].plan.regs);
    free(leaps->loops);
    *leaps = (struct ptx_leaps){0};
}
