/* Groups of a warp's lanes: lanes that stand at the same instruction execute together. The group at the lowest
 * pc runs first, so that groups meet again; one that spins lets the others go on. */
#include "machine.h"

enum {
    SPIN_READS = 64,       /* synchronising reads in a row that look like waiting */
    GROUP_LOOPS = 1 << 16, /* backward branches after which other groups of the warp get their turn */
};

static void find_merge(struct warp *w)
{
    w->merge_pc = ~0u;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (!group_parked(&w->groups[k]))
            w->merge_pc = MIN(w->merge_pc, w->groups[k].pc);
}

void group_add(struct warp *w, struct group g)
{
    if (!g.mask)
        return;
    w->groups[w->n_groups++] = g;
    if (!group_parked(&g))
        w->merge_pc = MIN(w->merge_pc, g.pc);
}

void warp_split(struct warp *w, uint32_t lanes, uint32_t pc)
{
    w->mask &= ~lanes;
    group_add(w, (struct group){.pc = pc, .mask = lanes, .penalty = w->penalty});
}

static unsigned group_depth(const struct warp *w, uint32_t mask)
{
    return w->call_depth[__builtin_ctz(mask)];
}

/* Fewer yields first, then the deeper call, then the earlier instruction: so that groups meet again as soon as
 * they can. */
static bool goes_first(const struct warp *w, uint32_t pc, uint32_t mask, uint32_t penalty,
                       const struct group *g)
{
    if (penalty != g->penalty)
        return penalty < g->penalty;
    unsigned mine = group_depth(w, mask), other = group_depth(w, g->mask);
    return mine != other ? mine > other : pc <= g->pc;
}

/* Lanes that wait at .sync for others that have died go on. */
void release_sync(struct warp *w)
{
    for (uint32_t k = 0; k < w->n_groups; k++) {
        struct group *g = &w->groups[k];
        if (g->state == GROUP_SYNC && !(g->want & ~w->dead & ~g->mask))
            g->state = GROUP_READY;
    }
}

bool warp_switch(struct warp *w)
{
    if (w->launch->stop)
        return false;
    release_sync(w);
    /* groups at the current pc join it */
    for (uint32_t k = 0; w->mask && k < w->n_groups;) {
        struct group *g = &w->groups[k];
        if (g->pc == w->pc && !group_parked(g) && group_depth(w, g->mask) == group_depth(w, w->mask)) {
            w->mask |= g->mask;
            w->penalty = MIN(w->penalty, g->penalty);
            *g = w->groups[--w->n_groups];
            w->back_edges = 0;
        } else {
            k++;
        }
    }
    int best = -1;
    for (uint32_t k = 0; k < w->n_groups; k++) {
        const struct group *g = &w->groups[k];
        if (g->state != GROUP_READY)
            continue;
        if (best < 0 || goes_first(w, g->pc, g->mask, g->penalty, &w->groups[best]))
            best = (int)k;
    }
    if (best >= 0 && !(w->mask && goes_first(w, w->pc, w->mask, w->penalty, &w->groups[best]))) {
        struct group g = w->groups[best], mine = {.pc = w->pc, .mask = w->mask, .penalty = w->penalty};
        if (mine.mask)
            w->groups[best] = mine;
        else
            w->groups[best] = w->groups[--w->n_groups];
        w->pc = g.pc;
        w->mask = g.mask;
        w->penalty = g.penalty;
        w->back_edges = 0;
        for (uint32_t k = 0; k < w->n_groups;) {
            struct group *o = &w->groups[k];
            if (o->pc == w->pc && !group_parked(o) && group_depth(w, o->mask) == group_depth(w, w->mask)) {
                w->mask |= o->mask;
                *o = w->groups[--w->n_groups];
            } else {
                k++;
            }
        }
    }
    find_merge(w);
    if (!w->mask)
        return false;
    /* Groups behind the current one that may not run now must not be asked for at each instruction: the one at
     * the pc that comes next is what matters. */
    uint32_t ahead = ~0u;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (!group_parked(&w->groups[k]) && w->groups[k].pc > w->pc)
            ahead = MIN(ahead, w->groups[k].pc);
    w->merge_pc = ahead;
    return true;
}

void warp_branch(struct warp *w, const struct insn *i, uint32_t taken)
{
    uint32_t stay = w->mask & ~taken;
    if ((uint32_t)i->imm <= i->self) { /* the backward side goes on */
        group_add(w, (struct group){.pc = w->pc, .mask = stay, .penalty = w->penalty});
        w->mask = taken;
        w->pc = (uint32_t)i->imm;
        warp_backward(w, i);
    } else {
        group_add(w, (struct group){.pc = (uint32_t)i->imm, .mask = taken, .penalty = w->penalty});
        w->mask = stay;
    }
}

/* After a backward branch: a group that spins lets the others go on; a warp that spins lets the other warps go
 * on. */
void warp_backward(struct warp *w, const struct insn *i)
{
    (void)i;
    if (w->n_groups) {
        find_merge(w); /* groups that were behind are ahead again */
        if (++w->back_edges > GROUP_LOOPS || w->spins > SPIN_READS) {
            uint32_t most = w->penalty;
            for (uint32_t k = 0; k < w->n_groups; k++)
                most = MAX(most, w->groups[k].penalty);
            bool others = false;
            for (uint32_t k = 0; k < w->n_groups; k++)
                others |= w->groups[k].state == GROUP_READY;
            w->back_edges = 0;
            if (others) {
                w->penalty = most + 1;
                w->merge_pc = 0;
            }
        }
    }
    if (w->spins > SPIN_READS) {
        OBSERVE(w->launch, spun, w);
        w->spins = 0;
        w->yielded = true;
        slice_end(w);
    }
}

void warp_give_way(struct warp *w, const struct insn *i)
{
    enum { MOST = 4 };
    if (!w->launch->options->seed || i->space == SPACE_SHARED || w->gave_way++ >= MOST)
        return;
    w->block->gave_way = w->yielded = true;
    slice_end(w);
}

bool warp_await(struct warp *w, const struct insn *i, uint32_t m, uint32_t want)
{
    if (!(want & ~w->dead & ~m))
        return true;
    uint32_t rest = w->mask & ~m;
    group_add(
        w, (struct group){.pc = i->self, .mask = m, .state = GROUP_SYNC, .want = want, .penalty = w->penalty});
    w->mask = rest;
    w->merge_pc = 0;
    return false;
}

bool warp_await_whole(struct warp *w, const struct insn *i, uint32_t m)
{
    if (!warp_await(w, i, m, ~0u))
        return false;
    if (m == ~0u)
        return true;
    fault(w, i, -1, PTX_DIVERGENT_BARRIER, 0, "%s is executed by a part of a warp", i->text);
    return false;
}

/* bar.warp.sync may be reached at different places: lanes of all groups that wait at one with this mask count.
 */
void warp_sync(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint32_t *masks = REG(uint32_t, w, i->opnds[0].off);
    uint32_t want = masks[__builtin_ctz(m)] & ~w->dead, here = m;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state == GROUP_SYNC && w->launch->module->code[w->groups[k].pc].fn == i->fn &&
            (w->groups[k].want & m))
            here |= w->groups[k].mask;
    if (want & ~here) {
        uint32_t rest = w->mask & ~m;
        group_add(w, (struct group){
                         .pc = i->self, .mask = m, .state = GROUP_SYNC, .want = want, .penalty = w->penalty});
        w->mask = rest;
        w->merge_pc = 0;
        return;
    }
    OBSERVE(w->launch, warp_sync, w, i, here);
    if (here == m)
        return;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state == GROUP_SYNC && (w->groups[k].mask & here)) {
            w->groups[k].state = GROUP_READY;
            w->groups[k].pc++;
        }
    w->merge_pc = 0;
}
