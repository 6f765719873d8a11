/* Barriers of a block. A warp has arrived when all its living lanes have; a warp that is dead altogether counts
 * for barriers of the whole block. A warp that arrives (bar.arrive) and then comes once more in the same phase
 * counts twice: so a warp may give itself the first signal of a barrier that others give later. */
#include "machine.h"

uint32_t barrier_threads(const struct block *b, const struct barrier *bar)
{
    return bar->expected ? bar->expected : b->n_warps * 32;
}

static void barrier_release(struct block *b, unsigned id)
{
    struct barrier *bar = &b->bars[id];
    struct launch *l = b->launch;
    uint32_t arrived[64] = {0}, waiting[64] = {0};
    for (uint32_t k = 0; k < b->n_warps; k++) {
        struct warp *w = &b->warps[k];
        arrived[k] = bar->again_warps >> k & 1 ? ~w->dead : w->bar_mask[id];
        w->bar_mask[id] = 0;
        for (uint32_t g = 0; g < w->n_groups; g++) {
            struct group *o = &w->groups[g];
            if (o->state != GROUP_BARRIER || o->barrier != id)
                continue;
            const struct insn *i = &l->module->code[o->pc];
            if (insn_has(i, MOD_red)) {
                bool all = insn_has(i, MOD_and);
                if (insn_has(i, MOD_popc))
                    for (uint32_t lane = 0; lane < 32; lane++)
                        REG(uint32_t, w, i->d)
                [lane] = o->mask >> lane & 1 ? bar->acc_count : REG(uint32_t, w, i->d)[lane];
                else
                {
                    uint32_t *p = REG(uint32_t, w, i->d), bit = all ? bar->acc_and : bar->acc_or;
                    *p = (*p & ~o->mask) | (bit ? o->mask : 0);
                }
            }
            waiting[k] |= o->mask;
            o->state = GROUP_READY;
            o->pc++;
            w->merge_pc = 0;
        }
    }
    *bar = (struct barrier){0};
    l->progress++;
    OBSERVE(l, barrier, b, arrived, waiting);
}

static bool came(const struct warp *w, unsigned id)
{
    return w->bar_mask[id] && (w->bar_mask[id] | w->dead) == ~0u;
}

/* Warps all of whose living lanes came; a warp that is dead altogether counts for a barrier of the whole block.
 */
static bool barrier_complete(const struct block *b, unsigned id)
{
    const struct barrier *bar = &b->bars[id];
    uint32_t threads = bar->again;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        const struct warp *w = &b->warps[k];
        if (came(w, id) || (!bar->expected && w->dead == ~0u))
            threads += 32;
    }
    return bar->busy && threads >= barrier_threads(b, bar);
}

static void barriers_check(struct block *b)
{
    for (unsigned id = 0; id < MAX_BARRIERS; id++)
        if (b->bars[id].busy && barrier_complete(b, id))
            barrier_release(b, id);
}

void warp_barrier(struct warp *w, const struct insn *i, uint32_t m)
{
    struct block *b = w->block;
    bool red = insn_has(i, MOD_red), arrive = insn_has(i, MOD_arrive);
    unsigned first = red ? 1 : 0, lane = (unsigned)__builtin_ctz(m);
    unsigned n = i->n_opnds - first - (red ? 1 : 0);
    uint32_t id = n > 0 ? REG(uint32_t, w, i->opnds[first].off)[lane] : 0;
    uint32_t count = n > 1 ? REG(uint32_t, w, i->opnds[first + 1].off)[lane] : 0;
    if (id >= MAX_BARRIERS) {
        fault(w, i, (int)lane, PTX_DIVERGENT_BARRIER, 0, "barrier %u does not exist: there are %d", id,
              MAX_BARRIERS);
        return;
    }
    if (count % 32) {
        fault(w, i, (int)lane, PTX_DIVERGENT_BARRIER, 0,
              "the thread count %u of barrier %u is no multiple of the warp's 32", count, id);
        return;
    }
    struct barrier *bar = &b->bars[id];
    if (bar->busy && bar->expected != count) {
        fault(w, i, (int)lane, PTX_DIVERGENT_BARRIER, 0,
              "barrier %u is used with %u threads while others wait at it with %u", id, count, bar->expected);
        return;
    }
    if (!bar->busy) {
        *bar = (struct barrier){.busy = true, .expected = count, .pc = i->self, .acc_and = 1};
    } else if (bar->pc != i->self && !count && id == 0 && !arrive && launch_checked(w->launch)) {
        const struct insn *o = &w->launch->module->code[bar->pc];
        fault(w, i, (int)lane, PTX_DIVERGENT_BARRIER, 0,
              "threads of one block wait at different barriers: some at line %d, this one at line %d",
              insn_line(w->launch->module, o), insn_line(w->launch->module, i));
        return;
    }
    if (red) {
        const struct opnd *p = &i->opnds[i->n_opnds - 1];
        uint32_t bits = *REG(uint32_t, w, p->off) ^ (p->negated ? ~0u : 0);
        bits &= m;
        bar->acc_or |= bits != 0;
        bar->acc_and &= bits == m;
        bar->acc_count += (uint32_t)__builtin_popcount(bits);
    }
    if (came(w, id)) {
        bar->again += 32;
        bar->again_warps |= 1ull << w->index;
        w->bar_mask[id] = 0;
    }
    w->bar_mask[id] |= m;
    w->spins = 0;
    if (!arrive) {
        uint32_t rest = w->mask & ~m;
        group_add(w, (struct group){.pc = i->self, .mask = m, .state = GROUP_BARRIER, .barrier = (uint8_t)id});
        w->mask = rest;
        w->merge_pc = 0;
    }
    if ((w->bar_mask[id] | w->dead) == ~0u && barrier_complete(b, id))
        barrier_release(b, id);
}

void warp_exit(struct warp *w, uint32_t lanes)
{
    w->dead |= lanes;
    w->mask &= ~lanes;
    w->launch->progress++;
    if (!w->mask)
        w->merge_pc = 0;
    if (w->dead == ~0u) {
        w->block->live_warps--;
        warpgroup_wake(w);
    }
    barriers_check(w->block);
    if (w->block->cluster->busy)
        cluster_check(w->block->cluster);
}
