/* Leaps over the middle of a long loop. Where a warp comes to the same backward branch again and again, and
 * what its registers hold has grown by the same step each time, they are set to what they will hold many turns
 * later: short of where one of them passes 2^31 or 2^32, or the loop ends. What happens there is then seen
 * after a few turns in the place of millions. Sums that the loop adds up lack those turns: only who asks where
 * a launch goes, and whether it ends, may leap. */
#include "machine.h"

enum {
    TURNS = 12,   /* that must look alike: a ring of buffers has fewer parts */
    LEAST = 256,  /* turns that are worth a leap */
    BEFORE = 3,   /* turns short of the place */
    SOME = 16,    /* of them that are made room for at a time */
    REGS = 256,   /* of a loop, */
    CODE = 1024,  /* which has so many instructions at most */
    LOOPS = 1024, /* of all warps */
};

#define MOST ((uint64_t)1 << 40) /* turns */

struct leap_reg {
    uint32_t off;
    bool wide, counts; /* 8 bytes; an addition writes it */
    bool mixed;        /* the place is that of registers of either width */
    bool linear;
    uint64_t last[32], step[32];
};

struct leap_loop { /* one branch of one warp */
    const struct warp *warp;
    uint64_t block;
    uint32_t pc, mask, turns;
    bool moves[2];  /* it loads, and stores, what is not the block's own */
    uint32_t again; /* pc from where the branch's guard is computed anew; 0: nowhere, and there is no leap */
    struct leap_reg *regs;
    size_t n;
};

static bool is_integer(enum type t)
{
    return (t >= TYPE_B32 && t <= TYPE_B64) || t == TYPE_U32 || t == TYPE_U64 || t == TYPE_S32 || t == TYPE_S64;
}

static bool adds(const struct insn *i)
{
    return i->op == OP_add || i->op == OP_sub || i->op == OP_mad;
}

static void add_reg(struct leap_loop *o, const struct insn *i, const struct opnd *d)
{
    size_t k = 0;

    if (d->kind != OPND_REG || d->is_imm || (d->bytes != 4 && d->bytes != 8) || !is_integer(i->type))
        return;
    while (k < o->n && o->regs[k].off != d->off)
        k++;
    if (k == REGS)
        return;
    if (k == o->n && k % SOME == 0)
        o->regs = mem_realloc(o->regs, (k + SOME) * sizeof(*o->regs));
    if (k == o->n)
        o->regs[o->n++] = (struct leap_reg){.off = d->off, .wide = d->bytes == 8};
    o->regs[k].mixed |= o->regs[k].wide != (d->bytes == 8);
    o->regs[k].counts |= adds(i);
}

/* Instructions between the guard's comparison and the branch may run twice: they change nothing but predicates.
 */
static uint32_t guard_from(const struct launch *l, const struct insn *branch)
{
    const struct insn *code = l->module->code;
    uint32_t pc = branch->self;

    while (pc > (uint32_t)branch->imm && (code[pc - 1].op == OP_setp || (code[pc - 1].type == TYPE_PRED)))
        pc--;
    for (uint32_t k = pc; k < branch->self; k++)
        if (code[k].op == OP_setp && code[k].d == branch->guard)
            return pc;
    return 0;
}

static bool is_shared_course(const struct insn *i)
{
    return i->op == OP_bar || i->op == OP_barrier || i->op == OP_call || i->op == OP_ret;
}

static void note_moves(struct leap_loop *o, const struct insn *i)
{
    bool outside = i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC;

    o->moves[0] |= outside && i->op == OP_ld;
    o->moves[1] |= outside && (i->op == OP_st || i->op == OP_red || i->op == OP_atom);
}

static void open_loop(struct leap_loop *o, const struct launch *l, const struct insn *branch)
{
    const struct insn *code = l->module->code;
    uint32_t first = (uint32_t)branch->imm, last = branch->self;

    o->again = branch->guard && last - first < CODE ? guard_from(l, branch) : 0;
    for (uint32_t pc = first; pc < last && o->again; pc++) {
        note_moves(o, &code[pc]);
        if (is_shared_course(&code[pc]))
            o->again = 0;
    }
    if (!o->again)
        return;
    for (uint32_t pc = first; pc < last; pc++)
        for (unsigned k = 0; k < code[pc].n_opnds; k++) {
            const struct opnd *d = &code[pc].opnds[k];
            if (!insn_writes(&code[pc], k))
                continue;
            add_reg(o, &code[pc], d);
            for (unsigned e = 0; d->kind == OPND_VEC && e < d->n; e++)
                add_reg(o, &code[pc], &d->vec[e]);
        }
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
    open_loop(o, w->launch, branch);
    return o;
}

static uint64_t reg_get(const struct warp *w, const struct leap_reg *r, unsigned lane)
{
    return r->wide ? REG(uint64_t, w, r->off)[lane] : REG(uint32_t, w, r->off)[lane];
}

static void look(struct leap_loop *o, const struct warp *w)
{
    for (size_t k = 0; k < o->n; k++) {
        struct leap_reg *r = &o->regs[k];
        if (o->turns == 0)
            r->linear = !r->mixed;
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

/* Turns until a lane of it passes 2^31 or 2^32, or comes down to zero. What is beyond passes nothing more. */
static uint64_t turns_left(const struct warp *w, const struct leap_reg *r)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        int64_t step = (int64_t)r->step[lane];
        uint64_t at = r->last[lane], top = at < (uint64_t)1 << 31 ? (uint64_t)1 << 31 : (uint64_t)1 << 32;
        if (step && at < (uint64_t)1 << 32)
            least = MIN(least, step > 0 ? (top - at) / (uint64_t)step : at / (uint64_t)-step);
    }
    return least;
}

static void set(struct warp *w, const struct leap_loop *o, uint64_t turns)
{
    for (size_t k = 0; k < o->n; k++)
        for (unsigned lane = 0; lane < 32 && o->regs[k].linear; lane++) {
            const struct leap_reg *r = &o->regs[k];
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
    for (uint32_t pc = o->again; pc < branch->self; pc++) {
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

    if (!o || !o->again)
        return;
    if (o->mask != w->mask) {
        o->mask = w->mask;
        o->turns = 0;
    }
    look(o, w);
    for (int k = 0; k < 2; k++)
        leaps->turns[k] += o->moves[k];
    if (o->turns < TURNS)
        return;
    for (size_t k = 0; k < o->n; k++)
        if (o->regs[k].linear && o->regs[k].counts)
            most = MIN(most, turns_left(w, &o->regs[k]));
    o->turns = 0;
    if (most < LEAST)
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
        leaps->skipped[k] += o->moves[k] ? low : 0;
}

void ptx_leaps_clear(struct ptx_leaps *leaps)
{
    for (size_t k = 0; k < leaps->n; k++)
        free(leaps->loops[k].regs);
    free(leaps->loops);
    *leaps = (struct ptx_leaps){0};
}
