/* What the race detector (race.h) knows of accesses in flight: cp.async and bulk copies. Until it ends, an
 * access stands in its cells as RACE_ASYNC_SEG + warp; when it ends it becomes something that a thread did, or
 * nobody's thread that told an mbarrier. */
#include "race.h"

/* ---- cp.async ---- */

/* From now on it is as if `id` had just stored it. */
static void landed(struct race *r, struct race_block *b, uint32_t warp, uint32_t lane, uint64_t addr,
                   uint32_t size_bytes, uint32_t id)
{
    struct race_bulk x = {.home = b, .addr = addr, .bytes = size_bytes, .lane = lane, .write = true};
    race_bulk_end(r, warp, &x, id);
}

void race_async_commit(struct race_block *b, uint32_t warp, uint32_t mask)
{
    for (; mask; mask &= mask - 1)
        b->warps[warp].committed[__builtin_ctz(mask)]++;
}

void race_async_wait(struct race *r, struct race_block *b, uint32_t warp, uint32_t mask, uint32_t pending)
{
    struct race_warp *w = &b->warps[warp];
    size_t kept = 0;
    for (size_t i = 0; i < w->async.n; i++) {
        struct race_async *s = &w->async.v[i];
        for (uint32_t left = s->mask & mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            if (s->group[lane] + pending >= w->committed[lane])
                continue;
            landed(r, b, warp, lane, s->addr[lane], s->size_bytes, race_thread(r, b, warp, lane));
            s->mask &= ~(1u << lane);
        }
        if (s->mask)
            w->async.v[kept++] = *s;
    }
    w->async.n = kept;
}

void race_async_arrived(struct race *r, struct race_block *b, uint32_t warp, uint32_t lane, uint64_t serial,
                        struct race_sync **s, uint32_t number)
{
    struct race_warp *w = &b->warps[warp];
    uint32_t id = race_agent(r, b, s, number);
    size_t kept = 0;
    for (size_t i = 0; i < w->async.n; i++) {
        struct race_async *c = &w->async.v[i];
        if ((c->mask >> lane & 1) && c->serial < serial) {
            landed(r, b, warp, lane, c->addr[lane], c->size_bytes, id);
            c->mask &= ~(1u << lane);
        }
        if (c->mask)
            w->async.v[kept++] = *c;
    }
    w->async.n = kept;
}

/* ---- bulk copies ---- */

uint32_t race_thread(struct race *r, struct race_block *b, uint32_t warp, uint32_t lane)
{
    return RACE_ID(race_seg(r, b, warp), lane);
}

void race_bulk_end(struct race *r, uint32_t warp, const struct race_bulk *x, uint32_t id)
{
    r->flying -= r->flying && x->counted;
    uint32_t flying = RACE_ID(RACE_ASYNC_SEG + warp, x->lane);
    uint64_t end = x->addr + x->bytes;
    if (r->full)
        return;
    for (uint64_t at = x->addr; at < end;) {
        uint64_t stop = MIN(end, (at / RACE_PAGE + 1) * RACE_PAGE);
        struct race_page *p = race_page_at(r, x->home, x->home, at, race_bulk_unit(x));
        uint32_t *ids = x->write ? p->w : p->r, *flags = x->write ? p->w_at : p->r_at;
        for (size_t i = (at % RACE_PAGE) >> p->shift; at < stop; i++, at += 1u << p->shift)
            if (ids[i] == flying && (flags[i] & RACE_AT_ASYNC)) {
                ids[i] = id;
                flags[i] &= ~(uint32_t)RACE_AT_ASYNC;
            }
    }
}

/* ---- the end of a block ---- */

static bool known_to_some(const struct race *r, const struct race_block *b, uint32_t id)
{
    for (uint32_t w = 0; w < b->n_warps; w++)
        for (uint32_t lane = 0; lane < 32; lane++)
            if (race_knows(r, b, w, lane, id))
                return true;
    return false;
}

void race_note_remote(struct race *r, struct race_block *home, uint32_t id, uint32_t pc)
{
    struct race_remote now = {r->owner[id >> 5], id, pc};
    for (size_t k = 0; k < home->remote.n; k++)
        if (home->remote.v[k].owner == now.owner) {
            home->remote.v[k] = now;
            return;
        }
    vec_push(&home->remote, now);
}

bool race_exit(const struct race *r, const struct race_block *b, struct race_conflict *c)
{
    for (size_t k = 0; k < b->remote.n && !r->full; k++) {
        const struct race_remote *x = &b->remote.v[k];
        uint32_t seg = x->id >> 5;
        if (seg < b->cluster_seg || seg < b->exec_seg || known_to_some(r, b, x->id))
            continue;
        *c = (struct race_conflict){
            .block = x->owner / r->warps, .warp = x->owner % r->warps, .other_lane = x->id & 31, .pc = x->pc};
        return false;
    }
    return true;
}

void race_proxy_fence(struct race *r, struct race_block *b, uint32_t warp)
{
    if (warp < b->n_warps)
        b->warps[warp].seg = 0;
    b->proxy_seg = r->next_seg;
}
