/* Thread block clusters: their barrier, each other's shared memory, and what must not end too early. */
#include "async.h"

struct block *cluster_block(const struct block *b, uint64_t addr, uint64_t *offset)
{
    *offset = addr % CLUSTER_STRIDE;
    if (addr < CLUSTER_STRIDE)
        return b->cluster->blocks[b->rank];
    uint64_t rank = addr / CLUSTER_STRIDE - 1;
    return rank < b->cluster->n ? b->cluster->blocks[rank] : NULL;
}

bool cluster_reach(struct warp *w, const struct insn *i, uint32_t m, const struct block *of)
{
    if (of != w->block)
        OBSERVE(w->launch, reach, w, i, m, of);
    return !w->launch->stop;
}

/* ---- barrier.cluster ---- */

void cluster_arrive(struct warp *w, const struct insn *i, uint32_t m)
{
    struct cluster *c = w->block->cluster;
    uint32_t twice = m & (w->cluster_arrived | w->cluster_ready);
    if (twice) {
        fault(w, i, __builtin_ctz(twice), PTX_DIVERGENT_BARRIER, 0,
              "arrives at the cluster's barrier a second time without having waited for the first");
        return;
    }
    w->cluster_arrived |= m;
    w->spins = 0;
    c->busy = true;
    OBSERVE(w->launch, cluster_arrive, w, c, m, insn_has(i, MOD_relaxed));
    cluster_check(c);
}

void cluster_wait(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t never = m & ~(w->cluster_arrived | w->cluster_ready), pass = m & w->cluster_ready,
             stay = m & ~pass;
    if (never) {
        fault(w, i, __builtin_ctz(never), PTX_DIVERGENT_BARRIER, 0,
              "waits for the cluster's barrier without having arrived");
        return;
    }
    w->cluster_ready &= ~pass;
    if (pass)
        OBSERVE(w->launch, cluster_wait, w, w->block->cluster, pass);
    if (!stay)
        return;
    w->mask &= ~stay;
    group_add(w, (struct group){.pc = i->self, .mask = stay, .state = GROUP_CLUSTER, .penalty = w->penalty});
    w->merge_pc = 0;
}

void cluster_check(struct cluster *c)
{
    struct launch *l = c->blocks[0]->launch;
    uint32_t some = 0;
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t n = 0; n < c->blocks[k]->n_warps; n++) {
            const struct warp *w = &c->blocks[k]->warps[n];
            if ((w->cluster_arrived | w->dead) != ~0u)
                return;
            some |= w->cluster_arrived;
        }
    c->busy = false;
    if (!some)
        return;
    OBSERVE(l, cluster_flip, c);
    c->passed = c->arrived;
    c->arrived = 0;
    l->progress++;
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t n = 0; n < c->blocks[k]->n_warps; n++) {
            struct warp *w = &c->blocks[k]->warps[n];
            w->cluster_ready |= w->cluster_arrived & ~w->dead;
            w->cluster_arrived = 0;
            for (uint32_t g = 0; g < w->n_groups; g++)
                if (w->groups[g].state == GROUP_CLUSTER)
                    w->groups[g].state = GROUP_READY; /* executes its wait again */
            w->merge_pc = 0;
        }
}

/* ---- the end of a block ---- */

/* Shared memory is given to the next block when its own ends: nothing may be under way to or from it. */
static void copies_end(struct block *b)
{
    struct launch *l = b->launch;
    const struct flight *open = NULL;
    bool reads = false;
    for (uint32_t k = 0; k < b->cluster->n; k++) {
        const struct mbars *m = b->cluster->blocks[k]->mbars;
        for (size_t n = 0; m && n < m->v.n; n++)
            for (size_t f = 0; f < m->v.v[n].flights.n; f++) {
                const struct flight *o = &m->v.v[n].flights.v[f];
                if (o->kind != FLIGHT_ARRIVE && (o->to_block == b || o->from_block == b)) {
                    reads = o->to_block != b;
                    open = open ? open : o;
                }
            }
    }
    for (uint32_t k = 0; k < b->n_warps; k++) {
        struct bulk_groups *g = b->warps[k].bulk;
        for (size_t f = 0; g && f < g->flights.n && !l->stop; f++) {
            struct flight *o = &g->flights.v[f];
            if (!o->taken && !open) {
                open = o;
                reads = true;
            }
            if (!launch_checked(l))
                flight_land(o);
        }
    }
    if (open && launch_checked(l)) {
        fault(open->warp, open->insn, (int)open->lane, PTX_EXIT, reads ? open->from : open->to,
              "the block may end while this bulk copy still %s its shared memory: nothing waits for it",
              reads ? "reads" : "writes");
        return;
    }
    for (uint32_t k = 0; k < b->n_warps && launch_checked(l); k++) {
        struct bulk_groups *g = b->warps[k].bulk;
        for (size_t f = 0; g && f < g->flights.n && !l->stop; f++) {
            flight_land(&g->flights.v[f]);
            OBSERVE(l, flight_end, &g->flights.v[f], NULL, NULL);
        }
    }
}

void cluster_block_end(struct block *b)
{
    if (b->launch->stop)
        return;
    copies_end(b);
    if (!b->launch->stop)
        OBSERVE(b->launch, cluster_exit, b);
}
