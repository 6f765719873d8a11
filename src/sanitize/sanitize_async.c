/* The sanitizer's view of what works beside the threads: mbarriers, bulk copies, clusters. */
#include "race.h"
#include "sanitize_internal.h"

static struct race *race_of(const struct launch *l)
{
    return san_of(l)->race;
}

static struct race_block *race_block_of(const struct block *b)
{
    return san_block(b)->race;
}

static void mbar_drop(struct kept *k)
{
    race_sync_drop(&((struct san_mbar *)k)->sync);
    free(k);
}

static void cluster_drop(struct kept *k)
{
    race_sync_drop(&((struct san_cluster *)k)->sync);
    free(k);
}

static struct san_mbar *san_mbar(struct mbar *bar)
{
    if (!bar->kept) {
        struct san_mbar *sm = mem_zalloc(sizeof(*sm));
        sm->kept.drop = mbar_drop;
        bar->kept = &sm->kept;
    }
    return (struct san_mbar *)bar->kept;
}

static struct san_cluster *san_cluster(struct cluster *c)
{
    if (!c->kept) {
        struct san_cluster *sc = mem_zalloc(sizeof(*sc));
        sc->kept.drop = cluster_drop;
        c->kept = &sc->kept;
    }
    return (struct san_cluster *)c->kept;
}

static uint32_t number_of(const struct mbar *bar)
{
    return bar->at / 8;
}

/* ---- bulk copies ---- */

static struct race_bulk part_of(const struct flight *f, bool write)
{
    const struct block *b = write ? f->to_block : f->from_block;
    return (struct race_bulk){.home = b ? race_block_of(b) : NULL,
                              .addr = write ? f->to : f->from,
                              .bytes = f->bytes,
                              .lane = f->lane,
                              .pc = f->insn->self,
                              .write = write,
                              .strong = write && f->kind == FLIGHT_REDUCE,
                              .check_proxy = !write && b,
                              .counted = true};
}

/* Does anybody look at this side of it? */
static bool checked(const struct flight *f, bool write)
{
    const struct launch *l = f->warp->launch;
    bool shared = write ? f->to_block : f->from_block;
    if (!san_of(l)->race || !f->bytes || (!write && f->small) ||
        !(san_of(l)->checks & (shared ? SANITIZE_RACE_SHARED : SANITIZE_RACE_GLOBAL)))
        return false;
    const struct alloc *a = shared || write ? NULL : mem_find(l->mem, f->from);
    return !a || !a->read_only;
}

void san_flight_begin(const struct flight *f)
{
    struct warp *w = f->warp;
    struct race_conflict c;
    dependent_flight(f);
    for (int write = 0; write < 2 && !w->launch->stop; write++) {
        struct race_bulk x = part_of(f, write);
        struct sanitize_waste *waste = race_of(w->launch) ? race_of(w->launch)->waste : NULL;
        c.proxy = false;
        if (waste && write && f->kind == FLIGHT_COPY && checked(f, write))
            *(x.home ? &waste[x.pc].staged : &waste[x.pc].stored) += f->bytes;
        if (checked(f, write) &&
            !race_bulk_begin(race_of(w->launch), race_block_of(w->block), w->index, &x, &c))
            san_report_conflict(w, f->insn, x.home ? SPACE_SHARED : SPACE_GLOBAL,
                                write ? "a bulk copy's write" : "a bulk copy's read", &c);
    }
}

static void ends(const struct flight *f, bool write, uint32_t id)
{
    struct race_bulk x = part_of(f, write);
    if (checked(f, write))
        race_bulk_end(race_of(f->warp->launch), f->warp->index, &x, id);
}

void san_flight_read(const struct flight *f)
{
    if (race_of(f->warp->launch))
        ends(f, false,
             race_thread(race_of(f->warp->launch), race_block_of(f->warp->block), f->warp->index, f->lane));
}

void san_flight_end(const struct flight *f, struct mbar *bar, struct block *bar_block)
{
    struct race *r = race_of(f->warp->launch);
    if (!r)
        return;
    uint32_t id = bar ? race_agent(r, race_block_of(bar_block), &san_mbar(bar)->sync, number_of(bar))
                      : race_thread(r, race_block_of(f->warp->block), f->warp->index, f->lane);
    ends(f, true, id);
    if (bar)
        ends(f, false, id);
}

void san_arrival_end(const struct flight *f, struct mbar *bar)
{
    struct race *r = race_of(f->warp->launch);
    if (r)
        race_async_arrived(r, race_block_of(f->warp->block), f->warp->index, f->lane, f->serial,
                           &san_mbar(bar)->sync, number_of(bar));
}

/* Bytes of the source that nobody wrote stay undefined where they go. */
void san_flight_bytes(const struct flight *f)
{
    struct launch *l = f->warp->launch;
    const struct sanitize_stores *stores = san_of(l)->stores;
    if (stores && !f->to_block)
        stores->stored(stores->context, f->to, f->bytes, f->kind == FLIGHT_REDUCE);
    if (stores && stores->loaded && !f->from_block && !f->small)
        stores->loaded(stores->context, f->from, f->bytes);
    const struct alloc *source = f->from_block || f->small ? NULL : mem_find(l->mem, f->from);
    struct alloc *to = f->to_block ? NULL : mem_find(l->mem, f->to);
    const uint8_t *from_bits = source && !source->initialised ? l->mem->init : NULL;
    uint64_t from = f->from_block ? f->from : f->from - MEM_BASE, at = f->to_block ? f->to : f->to - MEM_BASE;
    uint8_t *to_bits = f->to_block ? san_block(f->to_block)->shared : l->mem->init;
    bool told = false;
    if (f->from_block)
        from_bits = san_block(f->from_block)->shared;
    if (!(san_of(l)->checks & SANITIZE_INIT))
        return;
    for (uint32_t k = 0; k < f->bytes; k += 16) {
        uint32_t n = MIN(f->bytes - k, 16u), missing = from_bits ? bits_missing(from_bits, from + k, n) : 0;
        if (to && to->initialised && !missing)
            continue;
        if (to && missing && !told) {
            san_taint(l, to);
            san_remember_store(f->warp, f->insn, to, (int)f->lane, f->to + k, f->bytes - k);
            told = true;
        }
        if (f->kind == FLIGHT_COPY)
            bits_set(to_bits, at + k, n);
        for (uint32_t byte = 0; missing && byte < n; byte++)
            if (missing >> byte & 1)
                bits_clear(to_bits, at + k + byte, 1);
    }
}

/* ---- mbarriers ---- */

void san_mbar_init(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar)
{
    san_mbar(bar)->init_id =
        race_of(w->launch) ? race_thread(race_of(w->launch), race_block_of(w->block), w->index, lane) : 0;
    san_mbar(bar)->init_pc = i->self;
}

/* The cells remember the latest operation only, so that an early use would hide behind a later one. */
void san_mbar_use(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar)
{
    const struct launch *l = w->launch;
    const struct san_mbar *sm = san_mbar(bar);
    if (!race_of(l) || !sm->init_id || !(san_of(l)->checks & SANITIZE_RACE_SHARED) ||
        race_before(race_of(l), race_block_of(w->block), w->index, lane, sm->init_id))
        return;
    fault(
        w, i, (int)lane, PTX_RACE_SHARED, bar->at,
        "the mbarrier at byte %u of shared memory is used by a thread that nothing orders behind its initialisation "
        "at line %d",
        bar->at, insn_line(l->module, &l->module->code[sm->init_pc]));
}

void san_mbar_arrive(struct warp *w, const struct insn *i, struct mbar *bar, uint32_t mask)
{
    dependent_arrive(w, &san_mbar(bar)->phase, mask, insn_has(i, MOD_relaxed));
    if (race_of(w->launch))
        race_sync_arrive(race_of(w->launch), &san_mbar(bar)->sync, race_block_of(w->block), w->index, mask,
                         warp_full(w, mask), insn_has(i, MOD_relaxed));
}

void san_mbar_flip(struct mbar *bar)
{
    dependent_flip(&san_mbar(bar)->phase);
    race_sync_flip(san_mbar(bar)->sync);
}

void san_mbar_wait(struct warp *w, struct mbar *bar, uint32_t mask)
{
    dependent_pass(w, &san_mbar(bar)->phase, mask);
    if (race_of(w->launch))
        race_sync_wait(race_of(w->launch), san_mbar(bar)->sync, race_block_of(w->block), w->index, mask);
}

/* ---- clusters ---- */

void san_cluster_arrive(struct warp *w, struct cluster *c, uint32_t mask, bool relaxed)
{
    struct race *r = race_of(w->launch);
    struct san_cluster *sc = san_cluster(c);
    dependent_arrive(w, &sc->phase, mask, relaxed);
    if (!r)
        return;
    if (!sc->first_seg) {
        sc->first_seg = race_now(r);
        sc->relaxed = false;
    }
    sc->relaxed |= relaxed;
    race_sync_arrive(r, &sc->sync, race_block_of(w->block), w->index, mask, warp_full(w, mask), relaxed);
}

void san_cluster_flip(struct cluster *c)
{
    struct san_cluster *sc = san_cluster(c);
    dependent_flip(&sc->phase);
    race_sync_flip(sc->sync);
    sc->passed_seg = sc->first_seg;
    sc->passed_relaxed = sc->relaxed;
    sc->first_seg = 0;
}

void san_cluster_wait(struct warp *w, struct cluster *c, uint32_t mask)
{
    struct race *r = race_of(w->launch);
    const struct block *b = w->block;
    const struct san_cluster *sc = san_cluster(c);
    dependent_pass(w, &sc->phase, mask);
    if (!r)
        return;
    race_sync_wait(r, sc->sync, race_block_of(b), w->index, mask);
    for (uint32_t k = 0; k < b->n_warps; k++)
        if (b->warps[k].cluster_arrived | b->warps[k].cluster_ready)
            return;
    race_cluster_passed(sc->sync, race_block_of(b), sc->passed_seg, sc->passed_relaxed);
}

void san_proxy_fence(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)i, (void)m;
    const struct cluster *c = w->block->cluster;
    for (uint32_t k = 0; k < c->n && race_of(w->launch); k++)
        if (!c->blocks[k]->done)
            race_proxy_fence(race_of(w->launch), race_block_of(c->blocks[k]),
                             c->blocks[k] == w->block ? w->index : ~0u);
}

void san_cluster_exit(struct block *b)
{
    const struct launch *l = b->launch;
    struct race_conflict c;
    group_end(b);
    if (l->stop || !race_of(l) || race_exit(race_of(l), race_block_of(b), &c))
        return;
    char thread[96];
    san_thread_words(l, c.block, c.warp, c.other_lane, thread, sizeof(thread));
    fault(
        &b->warps[0], &l->module->code[c.pc], 0, PTX_EXIT, 0,
        "%s may still be at the shared memory of block (%u, %u, %u) when that block ends: nothing makes it wait",
        thread, b->id[0], b->id[1], b->id[2]);
}

/* Blocks of a cluster are launched together, but until one has begun its shared memory may still be another's.
 */
void san_reach(struct warp *w, const struct insn *i, uint32_t m, const struct block *of)
{
    const struct race *r = race_of(w->launch);
    for (; r && (san_of(w->launch)->checks & SANITIZE_RACE_SHARED) && m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (race_begun(r, race_block_of(w->block), w->index, lane, of->linear))
            continue;
        fault(
            w, i, (int)lane, PTX_ENTRY, 0,
            "uses the shared memory of block (%u, %u, %u) of its cluster, which may not have begun: a barrier of "
            "the cluster (cluster.sync()) must come first",
            of->id[0], of->id[1], of->id[2]);
        return;
    }
}
