/* The cells of the race detector (race.h): for each piece of memory who wrote it last and who read it last.
 *
 * Memory is covered in pages (race_page.c) whose cells are as large as the smallest access so far, so that a
 * cell is always accessed whole. The common case is a warp whose 32 lanes go through memory side by side, as
 * whoever came before them did: one cell for all of them. Next to it, 32 lanes on cells that nobody touched
 * since the last barrier are two comparisons and two stores a cell that the compiler vectorises.
 *
 * A cell remembers one reader and one writer. When readers (or atomics) that nothing orders meet, it remembers
 * the latest and that there were several lanes, warps or blocks: with whole barriers alone that is still exact.
 * Where flags or named barriers order too, only the latest is judged: a race may be missed then, none is
 * invented. */
#include "race.h"

enum {
    AT_PC = 0xffffff,
    AT_STRONG = 1 << 24,
    AT_NC = 1 << 25,
    AT_LOOSE = 1 << 27,
    AT_BLOCK_SCOPE = 1 << 30,
    AT_SEVERAL_SHIFT = 28,                                  /* two bits: enum several */
    AT_OWN = AT_PC | AT_STRONG | AT_LOOSE | AT_BLOCK_SCOPE, /* one lane's plain access has no other */
};

/* A read by a warp as one instruction: over before any lane goes on. It stands beside other such reads alone.
 */
#define AT_COLLECTIVE (1u << 31)

/* Among the reads of a cell: the plain write that was there before one by an atomic or the like, which needs no
 * order with others of its kind, where the plain one does. No read is loose and not strong. */
#define AT_BENEATH AT_LOOSE

enum several { ONE, LANES, WARPS, BLOCKS };

static enum several several_of(uint32_t at)
{
    return (enum several)(at >> AT_SEVERAL_SHIFT & 3);
}

/* Cell i of a consecutive access of 1 << k cells a lane belongs to lane_of[k][i]. */
static uint8_t lane_of[5][512];

__attribute__((constructor)) static void lane_of_fill(void)
{
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 32 << k; i++)
            lane_of[k][i] = (uint8_t)(i >> k);
}

/* ---- open, close, launches, blocks ---- */

struct race *race_open(race_peek_fn *peek)
{
    struct race *r = mem_zalloc(sizeof(*r));
    r->peek = peek;
    r->next_seg = r->base = 1;
    return r;
}

static void block_free(struct race_block *b)
{
    race_order_clear(b);
    for (size_t i = 0; i < b->n_pages; i++)
        race_page_free(b->pages[i]);
    free(b->pages);
    free(b->warps);
    vec_free(&b->remote);
    free(b);
}

static void blocks_forget(struct race *r)
{
    for (size_t i = 0; i < r->blocks.n; i++)
        block_free(r->blocks.v[i]);
    vec_clear(&r->blocks);
    r->free = NULL;
}

void race_close(struct race *r)
{
    if (!r)
        return;
    race_pages_forget(r);
    blocks_forget(r);
    vec_free(&r->blocks);
    race_flags_clear(r);
    vec_free(&r->given);
    free(r->owner);
    free(r);
}

void race_launch(struct race *r, uint32_t warps_per_block, bool clustered)
{
    warps_per_block++;                       /* and who copies for the block */
    for (size_t i = 0; i < r->blocks.n; i++) /* of a launch that was stopped */
        if (r->blocks.v[i]->open)
            race_block_close(r, r->blocks.v[i]);
    bool restart = r->next_seg > RACE_MAX_SEG / 2 || r->flying; /* its cells would never be old */
    r->flying = 0;
    if (restart || r->warps != warps_per_block)
        blocks_forget(r);
    if (restart || r->cell_bytes > RACE_SPARE_BYTES)
        race_pages_forget(r);
    else
        race_pages_spare(r);
    if (restart)
        r->next_seg = 1;
    r->warps = warps_per_block;
    r->clustered = clustered;
    r->base = r->next_seg;
    r->crossed = r->full = r->loose = r->stale = false;
    race_flags_clear(r);
}

struct race_block *race_block_open(struct race *r, uint64_t block)
{
    struct race_block *b = r->free;
    if (b) {
        r->free = b->next_free;
    } else {
        b = mem_zalloc(sizeof(*b));
        b->n_warps = r->warps - 1;
        b->warps = mem_zalloc(b->n_warps * sizeof(*b->warps));
        vec_push(&r->blocks, b);
    }
    b->open = true;
    b->id = block;
    b->base = b->bar_seg = b->cluster_seg = b->exec_seg = b->proxy_seg = r->next_seg;
    vec_clear(&b->remote);
    for (uint32_t i = 0; i < b->n_warps; i++)
        b->warps[i].full_seg = r->next_seg;
    return b;
}

void race_block_close(struct race *r, struct race_block *b)
{
    if (!b || !b->open)
        return;
    if (r->waste && !r->full)
        race_waste_block(r, b);
    for (uint32_t i = 0; i < b->n_warps; i++) {
        race_async_commit(b, i, ~0u);
        race_async_wait(r, b, i, ~0u, 0);
    }
    race_order_clear(b);
    b->open = false;
    b->next_free = r->free;
    r->free = b;
}

static uint32_t owner_of(const struct race *r, const struct race_block *b, uint32_t id)
{
    uint32_t seg = id >> 5;
    return seg >= RACE_ASYNC_SEG ? (uint32_t)(b->id * r->warps + seg - RACE_ASYNC_SEG) : r->owner[seg];
}

/* ---- one cell ---- */

struct turn { /* an access while it is judged */
    struct race *r;
    struct race_block *b, *home; /* home: whose shared memory it is */
    struct race_warp *w;
    uint32_t warp;
    const struct race_access *a;
    struct race_conflict *c;
    uint32_t seg, base, at;
    uint32_t bound;    /* ids below are ordered before everything now */
    enum several many; /* that many read it: one more reader is no news */
    bool found;
    uint32_t memo_seg, memo_at; /* the last past asked about, and the answer for the same and for other lanes */
    int8_t memo[2];
};

static bool past_ordered(struct turn *t, uint32_t lane, uint32_t id, uint32_t at)
{
    const struct race *r = t->r;
    uint32_t seg = id >> 5, owner = r->owner[seg];
    bool own_block = owner / r->warps == t->b->id, own_warp = own_block && owner % r->warps == t->warp;
    if ((at & AT_COLLECTIVE) && own_warp && several_of(at) <= LANES)
        return true;
    switch (several_of(at)) {
    case ONE:
        if (own_warp && ((id & 31) == lane || seg < t->w->full_seg))
            return true;
        break;
    case LANES:
        if (own_warp && seg < t->w->full_seg)
            return true;
        if (own_warp && !t->w->pair && !r->crossed)
            return seg < t->b->bar_seg;
        break;
    case WARPS:
        if (!r->crossed)
            return own_block && seg < t->b->bar_seg;
        break;
    case BLOCKS:
        if (!r->crossed)
            return false;
        break;
    }
    if (several_of(at) && own_warp && (id & 31) == lane)
        return true; /* the latest was this thread; of the others nothing is known */
    return (own_block && seg < t->b->bar_seg) ||
           ((r->crossed || t->w->pair) && race_knows(r, t->b, t->warp, lane, id));
}

/* Is the past access (id, at) before what lane does now? */
static bool ordered(struct turn *t, uint32_t lane, uint32_t id, uint32_t at)
{
    uint32_t seg = id >> 5;
    if (seg < t->base)
        return true;
    if (at & RACE_AT_ASYNC)
        return false;
    bool plain = !t->w->pair && !t->r->crossed;
    bool same = (id & 31) == lane;
    if (plain && t->memo_seg == seg && t->memo_at == (at >> AT_SEVERAL_SHIFT) && t->memo[same] >= 0)
        return t->memo[same];
    bool yes = past_ordered(t, lane, id, at);
    if (plain) {
        if (t->memo_seg != seg || t->memo_at != (at >> AT_SEVERAL_SHIFT))
            t->memo[0] = t->memo[1] = -1;
        t->memo_seg = seg;
        t->memo_at = at >> AT_SEVERAL_SHIFT;
        t->memo[same] = yes;
    }
    return yes;
}

/* Lane joins accesses (id, at) that it is not ordered with and does not conflict with. */
static void join(struct turn *t, uint32_t lane, uint32_t *id, uint32_t *at)
{
    uint32_t me = RACE_ID(t->a->async ? RACE_ASYNC_SEG + t->warp : t->seg, lane);
    if (*at & RACE_AT_ASYNC) { /* a reduction in flight */
        *at = t->at;
        *id = me;
        return;
    }
    uint32_t owner = t->r->owner[*id >> 5];
    enum several s = several_of(*at);
    if (owner / t->r->warps != t->b->id)
        s = BLOCKS;
    else if (owner % t->r->warps != t->warp)
        s = MAX(s, WARPS);
    else if ((*id & 31) != lane)
        s = MAX(s, LANES);
    *at = (t->at & (*at | ~AT_COLLECTIVE)) | (*at & AT_NC) | (uint32_t)s << AT_SEVERAL_SHIFT;
    *id = me;
}

/* Does lane store what is there already, or what lane `other` stores there in the same instruction? */
static bool changes_nothing(struct turn *t, uint32_t lane, uint32_t other, bool same_insn)
{
    const struct race_access *a = t->a;
    uint8_t mine[16], there[16];
    if (!a->stored || a->async || !a->stored(a->context, lane, mine))
        return false;
    if (same_insn)
        a->stored(a->context, other, there);
    else
        t->r->peek(a->context, a->shared, a->addr[lane], there, a->size_bytes);
    return !memcmp(mine, there, a->size_bytes);
}

static void conflict(struct turn *t, uint32_t lane, uint32_t id, uint32_t at, bool wrote, bool nc)
{
    if (t->found)
        return;
    uint32_t owner = owner_of(t->r, t->b, id);
    *t->c = (struct race_conflict){
        .lane = lane,
        .addr = t->a->addr[lane],
        .nc = nc,
        .block = owner / t->r->warps,
        .warp = owner % t->r->warps,
        .other_lane = id & 31,
        .seg = id >> 5,
        .pc = at & AT_PC,
        .wrote = wrote,
        .was_async = at & RACE_AT_ASYNC,
    };
    t->found = true;
}

/* Two accesses that need no order: but for volatile ones of the same warp, that count on lock step, and those
 * of block scope towards other blocks. */
static bool both_strong(const struct turn *t, uint32_t id, uint32_t at)
{
    if (!(t->at & at & AT_STRONG))
        return false;
    if (!((t->at & at & AT_LOOSE) || ((t->at | at) & AT_BLOCK_SCOPE)) || id >> 5 < t->base)
        return true;
    uint32_t owner = owner_of(t->r, t->b, id), own = t->r->owner[t->seg];
    return (t->at | at) & AT_BLOCK_SCOPE ? owner / t->r->warps == own / t->r->warps : owner != own;
}

/* Is it a strong read of what another block wrote with a strong write, and nothing orders the two? Such a read
 * may find what was there before. */
static bool loose_read(struct turn *t, uint32_t lane, uint32_t id, uint32_t at)
{
    uint32_t seg = id >> 5;
    return (at & AT_STRONG) && !(at & RACE_AT_ASYNC) && seg >= t->base &&
           t->r->owner[seg] / t->r->warps != t->b->id && !ordered(t, lane, id, at);
}

static void cell_read(struct turn *t, struct race_page *p, size_t i, uint32_t lane)
{
    bool strong = t->at & AT_STRONG;
    if (strong && !t->r->loose && (!t->a->shared || t->r->clustered))
        t->r->loose = loose_read(t, lane, p->w[i], p->w_at[i]);
    if (t->a->nc && p->w[i] >> 5 >= t->base)
        conflict(t, lane, p->w[i], p->w_at[i], true, true);
    else if (!both_strong(t, p->w[i], p->w_at[i]) && !ordered(t, lane, p->w[i], p->w_at[i]))
        conflict(t, lane, p->w[i], p->w_at[i], true, false);
    uint32_t old = p->r[i], old_at = p->r_at[i];
    if (old >> 5 < t->base) {
        p->r[i] = RACE_ID(t->seg, lane);
        p->r_at[i] = t->at;
    } else if (ordered(t, lane, old, old_at)) {
        p->r[i] = RACE_ID(t->seg, lane);
        p->r_at[i] = t->at | (old_at & AT_NC);
    } else if (old_at & RACE_AT_ASYNC) { /* who may still be reading is the one to remember */
    } else if (!strong || (old_at & AT_STRONG)) {
        join(t, lane, &p->r[i], &p->r_at[i]);
    } /* else the plain reader is the one to remember */
}

static bool is_beneath(uint32_t at)
{
    return (at & (AT_BENEATH | AT_STRONG)) == AT_BENEATH;
}

/* What stays of the past beneath a write: nothing, or a plain write beneath a strong one. */
static void keep_beneath(const struct turn *t, struct race_page *p, size_t i)
{
    bool strong = t->at & AT_STRONG, alone = !(p->w_at[i] & (AT_STRONG | RACE_AT_ASYNC));
    if (strong && alone && p->w[i] >= t->bound) {
        p->r[i] = p->w[i];
        p->r_at[i] = p->w_at[i] | AT_BENEATH;
    } else if (!strong || !is_beneath(p->r_at[i])) {
        p->r[i] = 0;
    }
}

static void cell_write(struct turn *t, struct race_page *p, size_t i, uint32_t lane)
{
    if (p->r[i] >> 5 >= t->base && (p->r_at[i] & AT_NC))
        conflict(t, lane, p->r[i], p->r_at[i], false, true);
    bool joins = false;
    if ((t->a->idle >> lane & 1) && !t->r->loose && (!t->a->shared || t->r->clustered))
        t->r->loose = loose_read(t, lane, p->w[i], p->w_at[i]);
    if (!ordered(t, lane, p->w[i], p->w_at[i])) {
        uint32_t other = p->w[i] & 31;
        uint64_t cell = p->number * RACE_PAGE + (i << p->shift);
        bool same_insn = p->w[i] >> 5 == t->seg && (p->w_at[i] & AT_PC) == (t->at & AT_PC) && other < lane &&
                         (t->a->mask >> other & 1) && t->a->addr[other] <= cell &&
                         cell < t->a->addr[other] + t->a->size_bytes;
        joins = both_strong(t, p->w[i], p->w_at[i]);
        if (!joins) {
            if (!(p->w_at[i] & RACE_AT_ASYNC) && changes_nothing(t, lane, other, same_insn)) {
                if (t->r->waste && !t->a->shared)
                    t->r->waste[t->a->pc].equal += 1u << p->shift;
                return;
            }
            conflict(t, lane, p->w[i], p->w_at[i], true, false);
        }
    }
    if (!both_strong(t, p->r[i], p->r_at[i]) && !ordered(t, lane, p->r[i], p->r_at[i])) {
        if (changes_nothing(t, lane, 0, false))
            return;
        conflict(t, lane, p->r[i], p->r_at[i], is_beneath(p->r_at[i]), false);
    }
    keep_beneath(t, p, i);
    if (joins) {
        join(t, lane, &p->w[i], &p->w_at[i]);
    } else {
        p->w[i] = RACE_ID(t->a->async ? RACE_ASYNC_SEG + t->warp : t->seg, lane);
        p->w_at[i] = t->at;
    }
}

/* ---- consecutive accesses: n cells from cell i of a page, the access's own cells from `first` on ---- */

CLONES static uint32_t highest(const uint32_t *id, size_t n)
{
    uint32_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = id[i] > max ? id[i] : max;
    return max;
}

CLONES static void claim(uint32_t *id, uint32_t *at, size_t n, uint32_t me, const uint8_t *lanes,
                         uint32_t my_at)
{
    for (size_t i = 0; i < n; i++) {
        id[i] = me + lanes[i];
        at[i] = my_at;
    }
}

CLONES static uint32_t differ(const uint32_t *id, const uint32_t *at, size_t n, uint32_t first,
                              const uint8_t *lanes)
{
    uint32_t bad = 0, flags = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= (id[i] - lanes[i]) ^ first;
        flags |= at[i];
    }
    return bad | (flags & ~(uint32_t)AT_OWN);
}

/* Several warps read these since the last barrier already: one more adds nothing. */
CLONES static bool read_by_many(const uint32_t *id, const uint32_t *at, size_t n, uint32_t bound,
                                uint32_t least)
{
    uint32_t low = ~0u, flags = ~0u;
    for (size_t i = 0; i < n; i++) {
        uint32_t at_i = at[i] & ~AT_COLLECTIVE;
        low = id[i] < low ? id[i] : low;
        flags = at_i < flags ? at_i : flags;
    }
    return low >= bound && flags >= least << AT_SEVERAL_SHIFT;
}

/* All last touched by the threads that touch them now, in one earlier segment. */
static bool own_cells(const struct turn *t, const uint32_t *id, const uint32_t *at, size_t n,
                      const uint8_t *lanes)
{
    uint32_t first = id[0] - lanes[0], seg = first >> 5;
    if ((first & 31) || seg < t->base || seg >= RACE_ASYNC_SEG ||
        t->r->owner[seg] != t->b->id * t->r->warps + t->warp)
        return false;
    return !differ(id, at, n, first, lanes);
}

static bool notes_waste(const struct turn *t)
{
    return t->r->waste && t->a->op == RACE_WRITE && !(t->at & AT_STRONG);
}

/* Plain stores over what this launch, or this block, has stored already. */
static void note_waste(const struct turn *t, const struct race_page *p, size_t i, size_t n)
{
    const struct race_block *home = t->a->shared ? t->home : NULL;
    if (!notes_waste(t) || highest(p->w + i, n) >> 5 < (home ? home->base : t->r->base))
        return;
    for (size_t j = 0; j < n; j++)
        race_waste_stored(t->r, home, p, i + j, t->a->pc);
}

static void run_cells(struct turn *t, struct race_page *p, size_t i, size_t n, size_t first, uint32_t k)
{
    const struct race_access *a = t->a;
    const uint8_t *lanes = lane_of[k] + first;
    uint32_t bound = t->bound, me = RACE_ID(t->seg, 0);
    note_waste(t, p, i, n);
    bool beneath = a->op != RACE_READ && (t->at & AT_STRONG);
    bool w_free =
        highest(p->w + i, n) < bound || (!a->nc && !beneath && own_cells(t, p->w + i, p->w_at + i, n, lanes));
    if (a->op == RACE_READ) {
        if (w_free && (highest(p->r + i, n) < bound || own_cells(t, p->r + i, p->r_at + i, n, lanes))) {
            claim(p->r + i, p->r_at + i, n, me, lanes, t->at);
            return;
        }
        if (w_free && !a->nc && !t->r->crossed && read_by_many(p->r + i, p->r_at + i, n, bound, t->many))
            return;
        for (size_t j = 0; j < n; j++)
            cell_read(t, p, i + j, lanes[j]);
        return;
    }
    if (w_free && (highest(p->r + i, n) < bound || own_cells(t, p->r + i, p->r_at + i, n, lanes))) {
        claim(p->w + i, p->w_at + i, n, a->async ? RACE_ID(RACE_ASYNC_SEG + t->warp, 0) : me, lanes, t->at);
        memset(p->r + i, 0, n * sizeof(p->r[0]));
        return;
    }
    for (size_t j = 0; j < n; j++)
        cell_write(t, p, i + j, lanes[j]);
}

/* This segment read the cell already, or many did since it was last free. */
static inline bool no_news(const struct turn *t, const struct race_page *p, size_t i, uint32_t lane)
{
    uint32_t r = p->r[i], at = p->r_at[i];
    if (p->w[i] >= t->bound || t->a->nc)
        return false;
    if (r >> 5 == t->seg && !(at & ~t->at & AT_COLLECTIVE))
        return ((r & 31) == lane || several_of(at)) && (at & AT_STRONG) <= (t->at & AT_STRONG);
    return r >= t->bound && several_of(at) >= t->many && !t->r->crossed;
}

/* What most accesses of single lanes meet: this thread's own of this segment, or what is older than the bound.
 */
static inline bool settled(const struct turn *t, uint32_t id, uint32_t at, uint32_t lane)
{
    return id < t->bound || (id == RACE_ID(t->seg, lane) && !(at & ~AT_OWN));
}

static inline void lane_writes(struct turn *t, struct race_page *p, size_t i, uint32_t lane)
{
    if (!t->a->async && settled(t, p->w[i], p->w_at[i], lane) && settled(t, p->r[i], p->r_at[i], lane) &&
        !(t->at & ~p->w_at[i] & AT_STRONG && p->w[i] >= t->bound) && !is_beneath(p->r_at[i])) {
        p->w[i] = RACE_ID(t->seg, lane);
        p->w_at[i] = t->at;
        p->r[i] = 0;
    } else {
        cell_write(t, p, i, lane);
    }
}

static inline void lane_reads(struct turn *t, struct race_page *p, size_t i, uint32_t lane)
{
    if (no_news(t, p, i, lane))
        return;
    if (!t->a->nc && settled(t, p->w[i], p->w_at[i], lane) && p->r[i] < t->bound) {
        p->r[i] = RACE_ID(t->seg, lane);
        p->r_at[i] = t->at;
    } else {
        cell_read(t, p, i, lane);
    }
}

/* No lane has anything to say of this cell that others do not, and nothing to complain of. */
static bool chunk_is_plain(struct turn *t, const struct race_page *p, size_t i)
{
    bool written = p->w[i] >= t->bound;
    if (!ordered(t, 0, p->w[i], p->w_at[i]))
        return false;
    if (t->a->op == RACE_READ)
        return !(t->a->nc && written);
    return !(notes_waste(t) && written) && !(p->r[i] >= t->bound && (p->r_at[i] & AT_NC)) &&
           ordered(t, 0, p->r[i], p->r_at[i]);
}

/* The whole access as one cell, or two where it goes over the page's end. False: it takes its lanes' cells. */
static bool access_chunk(struct turn *t)
{
    const struct race_access *a = t->a;
    uint64_t begin = a->addr[0], last = begin + 31ull * a->size_bytes;
    uint64_t addr[2] = {begin, last};
    size_t n = begin / RACE_PAGE == last / RACE_PAGE ? 1 : 2, cell[2];
    struct race_page *p[2];
    if (a->shared || (t->at & AT_STRONG) || a->async || t->w->pair || t->r->crossed)
        return false;
    for (size_t k = 0; k < n; k++) {
        p[k] = race_page_of_chunks(t->r, addr[k], begin, a->size_bytes);
        if (!p[k])
            return false;
        cell[k] = race_chunk(p[k], addr[k]);
        if (!chunk_is_plain(t, p[k], cell[k]))
            return false;
    }
    for (size_t k = 0; k < n; k++)
        if (a->op == RACE_READ)
            lane_reads(t, p[k], cell[k], 0);
        else
            lane_writes(t, p[k], cell[k], 0);
    return true;
}

static void access_consecutive(struct turn *t)
{
    const struct race_access *a = t->a;
    uint64_t addr = a->addr[0], end = addr + 32ull * a->size_bytes;
    while (addr < end) {
        struct race_page *p = race_page_at(t->r, t->home, a->shared, addr, a->size_bytes);
        uint32_t k = (uint32_t)__builtin_ctz(a->size_bytes) - p->shift;
        uint64_t stop = MIN(end, (addr / RACE_PAGE + 1) * RACE_PAGE);
        run_cells(t, p, (addr % RACE_PAGE) >> p->shift, (stop - addr) >> p->shift,
                  (addr - a->addr[0]) >> p->shift, k);
        addr = stop;
    }
}

static void access_lanes(struct turn *t, uint32_t mask)
{
    const struct race_access *a = t->a;
    const struct race_block *home = a->shared ? t->home : NULL;
    bool waste = notes_waste(t);
    struct race_page *p = NULL;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        uint64_t addr = a->addr[lane];
        if (!p || p->number != addr / RACE_PAGE)
            p = race_page_at(t->r, t->home, a->shared, addr, a->size_bytes);
        size_t i = (addr % RACE_PAGE) >> p->shift, n = a->size_bytes >> p->shift;
        for (size_t j = 0; waste && j < n; j++)
            race_waste_stored(t->r, home, p, i + j, a->pc);
        for (size_t j = 0; j < n; j++)
            if (a->op != RACE_READ)
                lane_writes(t, p, i + j, lane);
            else
                lane_reads(t, p, i + j, lane);
    }
}

static bool same_address(const struct race_access *a)
{
    uint64_t first = a->addr[__builtin_ctz(a->mask)], differ = 0;
    for (uint32_t l = 0; l < 32; l++)
        differ |= (a->mask >> l & 1) ? a->addr[l] ^ first : 0;
    return differ == 0;
}

/* In a cluster's shared memory a block's own barrier says nothing of the other blocks' accesses. */
static void turn_begin(struct turn *t)
{
    const struct race_access *a = t->a;
    t->home = a->home ? a->home : t->b;
    t->base = a->shared ? t->home->base : t->r->base;
    t->bound = RACE_ID(a->shared ? t->b->bar_seg : t->r->base, 0);
    t->many = a->shared && !t->r->clustered ? WARPS : BLOCKS;
    if (a->shared && t->r->clustered) {
        t->base = MAX(t->base, t->b->cluster_seg);
        t->bound = RACE_ID(t->base, 0);
    }
}

bool race_access(struct race *r, struct race_block *b, uint32_t warp, const struct race_access *a,
                 struct race_conflict *c)
{
    bool strong = a->strong || a->op == RACE_ATOMIC;
    uint32_t seg = race_seg(r, b, warp);
    if (r->full)
        return true;
    struct turn t = {.r = r, .b = b, .w = &b->warps[warp], .warp = warp, .a = a, .c = c, .seg = seg};
    turn_begin(&t);
    t.at = (a->pc & AT_PC) | (strong ? AT_STRONG : 0) | (a->loose ? AT_LOOSE : 0) |
           (a->block_scope && !a->shared && a->op != RACE_READ ? AT_BLOCK_SCOPE : 0) | (a->nc ? AT_NC : 0) |
           (a->async ? RACE_AT_ASYNC : 0) | (a->collective ? AT_COLLECTIVE : 0);
    if (a->release) {
        for (uint32_t left = a->mask; left; left &= left - 1)
            race_fence(r, b, warp, left & -left, false, a->block_scope);
        t.seg = race_seg(r, b, warp);
    }
    uint32_t reads = a->op == RACE_READ ? a->mask : a->idle;
    uint32_t earlier = r->stale && a->earlier ? race_read_earlier(r, b, t.home, warp, reads, a) : 0;
    if (a->earlier)
        *a->earlier_mask |= earlier;
    if (strong && a->op != RACE_WRITE && r->n_flags)
        for (uint32_t left = a->mask & ~earlier; left; left &= left - 1)
            race_acquire(r, b, t.home, warp, (uint32_t)__builtin_ctz(left), a);
    if (t.home != b)
        race_note_remote(r, t.home, RACE_ID(t.seg, (uint32_t)__builtin_ctz(a->mask)), a->pc);
    if (a->consecutive) {
        if (!access_chunk(&t))
            access_consecutive(&t);
    } else if (a->op == RACE_READ && same_address(a)) {
        uint32_t rest = a->mask & (a->mask - 1);
        access_lanes(&t, a->mask & ~rest);
        access_lanes(&t, rest & -rest); /* the second says that there are several */
    } else {
        access_lanes(&t, a->mask);
    }
    if (strong && a->op != RACE_READ)
        for (uint32_t left = a->mask; left; left &= left - 1)
            race_release(r, b, t.home, warp, (uint32_t)__builtin_ctz(left), a);
    if (a->async) {
        struct race_async s = {.mask = a->mask, .size_bytes = a->size_bytes, .serial = t.w->async_serial++};
        memcpy(s.addr, a->addr, sizeof(s.addr));
        memcpy(s.group, t.w->committed, sizeof(s.group));
        vec_push(&t.w->async, s);
    }
    return !t.found;
}

/* ---- bulk copies ---- */

/* Of several readers the one in flight is remembered: a race with another may be missed. */
static void cell_read_async(struct turn *t, struct race_page *p, size_t i, uint32_t lane, bool check_proxy)
{
    uint32_t id = p->w[i], seg = id >> 5;
    if (!ordered(t, lane, id, p->w_at[i]))
        conflict(t, lane, id, p->w_at[i], true, false);
    else if (check_proxy && seg >= t->home->base && seg >= t->home->proxy_seg &&
             t->r->owner[seg] % t->r->warps != t->r->warps - 1 && !t->found) {
        conflict(t, lane, id, p->w_at[i], true, false);
        t->c->proxy = true;
    }
    p->r[i] = RACE_ID(RACE_ASYNC_SEG + t->warp, lane);
    p->r_at[i] = t->at;
}

bool race_bulk_begin(struct race *r, struct race_block *b, uint32_t warp, const struct race_bulk *x,
                     struct race_conflict *c)
{
    uint64_t addr[32], end = x->addr + x->bytes;
    struct race_access a = {.addr = addr,
                            .mask = 1u << x->lane,
                            .size_bytes = race_bulk_unit(x),
                            .op = x->write ? RACE_WRITE : RACE_READ,
                            .shared = x->home,
                            .home = x->home,
                            .async = true,
                            .pc = x->pc};
    uint32_t seg = race_seg(r, b, warp);
    if (r->full)
        return true;
    struct turn t = {.r = r, .b = b, .w = &b->warps[warp], .warp = warp, .a = &a, .c = c, .seg = seg};
    turn_begin(&t);
    r->flying++;
    t.at = (x->pc & AT_PC) | RACE_AT_ASYNC | (x->strong ? AT_STRONG : 0);
    for (uint64_t at = x->addr; at < end;) {
        struct race_page *p = race_page_at(r, t.home, a.shared, at, a.size_bytes);
        uint64_t stop = MIN(end, (at / RACE_PAGE + 1) * RACE_PAGE);
        for (; at < stop; at += 1u << p->shift) {
            addr[x->lane] = at;
            note_waste(&t, p, (at % RACE_PAGE) >> p->shift, 1);
            if (x->write)
                cell_write(&t, p, (at % RACE_PAGE) >> p->shift, x->lane);
            else
                cell_read_async(&t, p, (at % RACE_PAGE) >> p->shift, x->lane, x->check_proxy);
        }
    }
    return !t.found;
}
