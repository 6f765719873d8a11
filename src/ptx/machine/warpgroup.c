/* A warpgroup's warps are not in step, but a wgmma.mma_async is one operation of all four: it has not ended
 * before the last of them has begun it. Groups of them are counted by warp as they are committed. */
#include "machine.h"

static struct warp *peer(const struct warp *w, uint32_t k)
{
    return &w->block->warps[w->index / 4 * 4 + k];
}

bool warpgroup_await(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t keep = (uint32_t)i->opnds[0].imm,
             done = w->groups_committed > keep ? w->groups_committed - keep : 0;
    bool came = true;
    for (uint32_t k = 0; k < 4; k++)
        came &= peer(w, k)->dead == ~0u || peer(w, k)->groups_committed >= done;
    if (came)
        return true;
    w->mask &= ~m;
    group_add(w, (struct group){.pc = i->self, .mask = m, .state = GROUP_PEERS, .penalty = w->penalty});
    w->merge_pc = 0;
    return false;
}

void warpgroup_wake(struct warp *w)
{
    for (uint32_t k = 0; k < 4 && w->index / 4 * 4 + 4 <= w->block->n_warps; k++)
        for (uint32_t g = 0; g < peer(w, k)->n_groups; g++)
            if (peer(w, k)->groups[g].state == GROUP_PEERS) {
                peer(w, k)->groups[g].state = GROUP_READY; /* executes its wait again */
                peer(w, k)->merge_pc = 0;
            }
}

void warpgroup_commit(struct warp *w)
{
    w->groups_committed++;
    w->launch->progress++;
    warpgroup_wake(w);
}
