/* Blocks. A warp runs until it waits, ends or its slice is spent; blocks run one after the other, but when one
 * spins (it waits for another block) the next ones come in, as many as a GPU would hold. */
#include "async.h"

enum {
    IDLE_TURNS = 20000, /* turns of blocks without a change in memory that look like a deadlock, */
    IDLE_ROUNDS = 4,    /* if each block had as many */
};

static void *place(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    BUG_IF(!p);
    memset(p, 0, (bytes + 63) / 64 * 64 + 64);
    return p;
}

/* Memory of one resident block, used again by the blocks that follow in its slot. */
static struct block *slot_open(struct launch *l, uint32_t slot)
{
    struct block *b = mem_zalloc(sizeof(*b));
    b->launch = l;
    b->slot = slot;
    b->n_warps = l->n_warps;
    b->shared = place(l->shared_bytes);
    b->local = l->local_bytes ? place((size_t)l->n_warps * 32 * l->local_bytes) : NULL;
    b->warps = place(l->n_warps * sizeof(*b->warps));
    for (uint32_t k = 0; k < l->n_warps; k++) {
        struct warp *w = &b->warps[k];
        w->launch = l;
        w->block = b;
        w->index = k;
        w->regs = place(l->module->file_bytes);
        w->call_pc = l->entry->calls ? place(MAX_CALL_DEPTH * 32 * sizeof(uint32_t)) : NULL;
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t t = k * 32 + lane;
            w->tid[0][lane] = t % l->dim[0];
            w->tid[1][lane] = t / l->dim[0] % l->dim[1];
            w->tid[2][lane] = t / l->dim[0] / l->dim[1];
        }
        *REG(uint32_t, w, 0) = ~0u;
        if (k)
            memcpy(w->regs, b->warps[0].regs, l->module->file_bytes);
        for (size_t c = 0; c < l->module->n_consts; c++)
            if (!k || l->module->consts[c].kind == CONST_SPECIAL)
                const_write(w, &l->module->consts[c]);
    }
    return b;
}

static void slot_close(struct block *b)
{
    for (uint32_t k = 0; k < b->n_warps; k++) {
        free(b->warps[k].regs);
        free(b->warps[k].call_pc);
        calls_free(&b->warps[k]);
        for (int role = 0; role < PTX_ROLES; role++)
            kept_drop(&b->warps[k].kept[role]);
        free(b->warps[k].async);
        bulk_groups_free(&b->warps[k]);
    }
    mbars_free(b);
    for (int role = 0; role < PTX_ROLES; role++)
        kept_drop(&b->kept[role]);
    free(b->warps);
    free(b->local);
    free(b->shared);
    free(b);
}

static void block_begin(struct block *b, uint64_t linear)
{
    struct launch *l = b->launch;
    struct ptx_queue *q = l->options->queue;
    for (size_t k = 0; q && q->blocks && k < q->n; k++) {
        memcpy(q->words[k].at, &q->words[k].value, q->words[k].bytes);
        memset(q->words[k].took, 0, sizeof(q->words[k].took));
    }
    b->linear = linear;
    b->id[0] = (uint32_t)(linear % l->grid[0]);
    b->id[1] = (uint32_t)(linear / l->grid[0] % l->grid[1]);
    b->id[2] = (uint32_t)(linear / l->grid[0] / l->grid[1]);
    b->live_warps = b->n_warps;
    b->done = false;
    mbars_reset(b);
    b->issued = 0;
    memset(b->bars, 0, sizeof(b->bars));
    if (linear) /* what a block finds there is what another left */
        memset(b->shared, 0, l->shared_bytes);
    for (uint32_t k = 0; k < b->n_warps; k++) {
        struct warp *w = &b->warps[k];
        uint32_t lanes = l->threads - k * 32;
        w->dead = lanes >= 32 ? 0 : ~((1u << lanes) - 1);
        w->mask = ~w->dead;
        w->pc = l->entry->first;
        w->merge_pc = ~0u;
        w->n_groups = 0;
        w->penalty = w->spins = w->back_edges = w->gave_way = 0;
        w->carry = 0;
        w->followed = false;
        w->cluster_arrived = w->cluster_ready = 0;
        w->stalled.insn = NULL;
        w->groups_committed = 0;
        memset(w->bar_mask, 0, sizeof(w->bar_mask));
        if (l->module->recurses)
            calls_reset(w);
        memset(w->call_depth, 0, sizeof(w->call_depth));
        for (size_t c = 0; c < l->module->n_block_consts; c++)
            const_write(w, &l->module->consts[c]);
    }
    OBSERVE(l, block_begin, b);
}

enum block_state { BLOCK_DONE, BLOCK_WAITS /* no warp can go on */, BLOCK_SPINS, BLOCK_RUNS };

static uint32_t warp_order(const struct block *b, uint32_t k)
{
    uint64_t seed = b->launch->options->seed;
    if (!seed || b->n_warps < 2)
        return k;
    uint64_t h = rng_hash(seed, b->linear); /* a rotation, forwards or backwards */
    uint32_t shift = (uint32_t)(h >> 8) % b->n_warps;
    uint32_t at = (k + shift) % b->n_warps;
    return h & 1 ? b->n_warps - 1 - at : at;
}

static bool warp_can_run(struct warp *w)
{
    if (w->dead == ~0u)
        return false;
    if (w->mask)
        return true;
    release_sync(w);
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state == GROUP_READY)
            return true;
    return false;
}

/* One turn: each warp that can runs a slice. */
static enum block_state block_turn(struct block *b)
{
    struct launch *l = b->launch;
    bool ran = false, all_spin = true;
    for (uint32_t k = 0; k < b->n_warps && !l->stop; k++) {
        struct warp *w = &b->warps[warp_order(b, k)];
        if (!warp_can_run(w))
            continue;
        int64_t slice = MIN(l->slice, (int64_t)MIN(l->limit - l->issued, (uint64_t)INT64_MAX));
        w->fuel = slice;
        w->unspent = 0;
        w->yielded = false;
        l->loop(w);
        uint64_t spent = (uint64_t)(slice - w->fuel - w->unspent);
        l->issued += spent;
        b->issued += spent;
        l->report->most_block_insns = MAX(l->report->most_block_insns, b->issued);
        if (l->stop)
            return BLOCK_RUNS;
        ran = true;
        all_spin &= w->yielded || w->dead == ~0u || !w->mask;
        if (l->issued >= l->limit) {
            const struct insn *i = &l->module->code[w->pc < l->module->n_code ? w->pc : 0];
            fault(
                w, i, w->mask ? __builtin_ctz(w->mask) : -1, PTX_LOOP, 0,
                "still running after %llu warp instructions of the launch: an endless loop, or far too much work",
                (unsigned long long)l->issued);
        }
    }
    if (!b->live_warps)
        return BLOCK_DONE;
    if (!ran)
        return BLOCK_WAITS;
    return all_spin ? BLOCK_SPINS : BLOCK_RUNS;
}

/* Nobody of this block can go on: say where its threads wait. */
static void report_stuck(struct block *b)
{
    struct launch *l = b->launch;
    const struct insn *first = NULL;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        struct warp *w = &b->warps[k];
        for (uint32_t g = 0; g < w->n_groups; g++) {
            const struct group *o = &w->groups[g];
            const struct insn *i = &l->module->code[o->pc];
            int lane = __builtin_ctz(o->mask);
            if (o->state == GROUP_SYNC) {
                fault(w, i, lane, PTX_DEADLOCK, 0, "%s waits for lanes 0x%08x of its warp, which never come",
                      i->text, o->want & ~w->dead & ~o->mask);
                return;
            }
            if (o->state == GROUP_PEERS) {
                fault(
                    w, i, lane, PTX_WARPGROUP, 0,
                    "%s waits for a group of wgmma.mma_async that another warp of its warpgroup never commits: all "
                    "four must execute each",
                    i->text);
                return;
            }
            if (!first)
                first = i;
            if (first != i) {
                fault(
                    w, i, lane, PTX_DIVERGENT_BARRIER, 0,
                    "threads of one block wait at different barriers for ever: some at line %d, this one at line %d",
                    insn_line(l->module, first), insn_line(l->module, i));
                return;
            }
        }
    }
    for (uint32_t k = 0; k < b->n_warps; k++) {
        struct warp *w = &b->warps[k];
        for (uint32_t g = 0; g < w->n_groups; g++) {
            const struct group *o = &w->groups[g];
            const struct insn *i = &l->module->code[o->pc];
            const struct barrier *bar = &b->bars[o->barrier];
            fault(w, i, __builtin_ctz(o->mask), PTX_DIVERGENT_BARRIER, 0,
                  "barrier %u waits for %u threads, and no more of them can come", o->barrier,
                  barrier_threads(b, bar));
            return;
        }
    }
}

/* ---- clusters: blocks come and go together ---- */

uint64_t block_of_cluster(const uint32_t grid[3], const uint32_t cluster[3], uint64_t c, uint32_t rank)
{
    uint64_t id[3];
    for (int k = 0; k < 3; k++) {
        uint32_t across = grid[k] / cluster[k];
        id[k] = c % across * cluster[k] + rank % cluster[k];
        c /= across;
        rank /= cluster[k];
    }
    return id[0] + grid[0] * (id[1] + (uint64_t)grid[1] * id[2]);
}

static uint64_t cluster_of_block(const struct launch *l, uint64_t linear)
{
    uint64_t c = 0, scale = 1;
    for (int k = 0; k < 3; k++) {
        c += linear % l->grid[k] / l->cluster[k] * scale;
        linear /= l->grid[k];
        scale *= l->grid[k] / l->cluster[k];
    }
    return c;
}

struct turns { /* who runs */
    struct launch *l;
    VEC(struct block *) live, idle, all;
    VEC(uint64_t) begun;  /* clusters of a sample that names single blocks */
    uint64_t total, next; /* clusters, or with a sample blocks */
    uint64_t n_begun;     /* blocks */
    uint64_t rounds;
    bool first_begun;   /* block 0 is among them */
    bool rush;          /* a block gave way: the next one begins */
    uint32_t grid_word; /* the grid's barrier when it was last passed for the blocks that are not there */
};

static uint64_t cluster_number(struct turns *t)
{
    struct launch *l = t->l;
    uint64_t k = t->next++;
    if (l->options->blocks)
        return cluster_of_block(l, l->options->blocks[k]);
    if (!l->options->seed || t->total < 2)
        return k;
    uint64_t h = rng_hash(l->options->seed, 77), at = (k + h % t->total) % t->total;
    return h >> 63 ? t->total - 1 - at : at;
}

static bool begun_before(struct turns *t, uint64_t cluster)
{
    if (t->l->cluster_blocks == 1 || !t->l->options->blocks)
        return false;
    for (size_t k = 0; k < t->begun.n; k++)
        if (t->begun.v[k] == cluster)
            return true;
    vec_push(&t->begun, cluster);
    return false;
}

static void cluster_begin(struct turns *t)
{
    struct launch *l = t->l;
    uint64_t number = cluster_number(t);
    if (begun_before(t, number))
        return;
    struct cluster *c = mem_zalloc(sizeof(*c));
    c->n = l->cluster_blocks;
    for (uint32_t rank = 0; rank < c->n; rank++) {
        struct block *b;
        if (t->idle.n) {
            b = vec_last(&t->idle);
            t->idle.n--;
        } else {
            b = slot_open(l, (uint32_t)t->all.n);
            vec_push(&t->all, b);
        }
        c->blocks[rank] = b;
        b->cluster = c;
        b->rank = rank;
        block_begin(b, block_of_cluster(l->grid, l->cluster, number, rank));
        t->n_begun++;
        t->first_begun |= b->linear == 0;
        vec_push(&t->live, b);
    }
}

static void cluster_free(struct cluster *c)
{
    for (uint32_t k = 0; k < c->n; k++)
        c->blocks[k]->cluster = NULL;
    kept_drop(&c->kept);
    free(c);
}

/* A block whose threads have exited keeps its slot until its cluster is done: others may look at its memory. */
static void block_done(struct turns *t, size_t turn)
{
    struct block *b = t->live.v[turn];
    struct cluster *c = b->cluster;
    b->done = true;
    cluster_block_end(b);
    t->l->report->blocks++;
    t->live.v[turn] = vec_last(&t->live);
    t->live.n--;
    if (++c->done < c->n)
        return;
    for (uint32_t k = 0; k < c->n; k++) {
        OBSERVE(t->l, block_end, c->blocks[k]);
        vec_push(&t->idle, c->blocks[k]);
    }
    cluster_free(c);
}

/* A timed sample of a cooperative launch waits at the grid's barrier for blocks that do not run: they arrive
 * now, as the toolkit's barrier counts (block 0 adds what makes the whole flip the highest bit). */
static bool absent_blocks_arrive(struct turns *t)
{
    struct launch *l = t->l;
    uint32_t word, absent = (uint32_t)(l->n_blocks - t->n_begun);
    if (!l->observer[PTX_CLOCK] || !l->options->blocks || !l->grid_workspace || t->next < t->total || !absent)
        return false;
    uint8_t *at = mem_host(l->mem, l->grid_workspace) + 4; /* behind the workspace's size */
    memcpy(&word, at, sizeof(word));
    if (word == t->grid_word) /* nobody came since: it is something else that they wait for */
        return false;
    word += t->first_begun ? absent : 0x80000000u - ((uint32_t)l->n_blocks - 1) + absent - 1;
    memcpy(at, &word, sizeof(word));
    t->grid_word = word;
    l->progress++;
    return true;
}

static bool waits_for_cluster(const struct block *b)
{
    for (uint32_t k = 0; k < b->n_warps; k++)
        for (uint32_t g = 0; g < b->warps[k].n_groups; g++)
            if (b->warps[k].groups[g].state == GROUP_CLUSTER)
                return true;
    return false;
}

/* A warp that names best what nobody will ever do: one that waits for an mbarrier, else any. */
static void report_deadlock(const struct turns *t)
{
    struct launch *l = t->l;
    struct warp *any = NULL;
    for (size_t k = 0; k < t->live.n; k++)
        for (uint32_t n = 0; n < t->live.v[k]->n_warps; n++) {
            struct warp *w = &t->live.v[k]->warps[n];
            char words[256];
            if (w->dead != ~0u && w->stalled.insn && mbar_words(w, words, sizeof(words))) {
                fault(w, w->stalled.insn, (int)w->stalled.lane, PTX_DEADLOCK, w->stalled.addr,
                      "waits for ever: %s", words);
                return;
            }
            if (!any && w->mask)
                any = w;
        }
    struct warp *w = any ? any : &t->live.v[0]->warps[0];
    const struct insn *i = &l->module->code[w->pc < l->module->n_code ? w->pc : 0];
    fault(w, i, w->mask ? __builtin_ctz(w->mask) : -1, PTX_DEADLOCK, 0,
          "%zu of %llu blocks wait in a loop for something that never happens%s", t->live.n,
          (unsigned long long)l->n_blocks,
          t->next < t->total ? " (no more blocks fit the device at once)" : "");
}

static void report_cluster(const struct turns *t)
{
    for (size_t k = 0; k < t->live.n; k++) {
        struct block *b = t->live.v[k];
        if (!waits_for_cluster(b)) {
            report_stuck(b);
            return;
        }
    }
    for (uint32_t k = 0; k < t->live.v[0]->n_warps; k++) {
        struct warp *w = &t->live.v[0]->warps[k];
        for (uint32_t g = 0; g < w->n_groups; g++)
            if (w->groups[g].state == GROUP_CLUSTER) {
                fault(w, &t->l->module->code[w->groups[g].pc], __builtin_ctz(w->groups[g].mask), PTX_DEADLOCK,
                      0, "the cluster's barrier waits for threads that never arrive");
                return;
            }
    }
}

static bool has_room(const struct turns *t)
{
    return t->next < t->total && (!t->live.n || t->live.n + t->l->cluster_blocks <= t->l->max_resident);
}

/* With a seed, each round goes forwards or backwards: who waits for what others tell then finds more of them at
 * work, or fewer. */
static void turn_round(struct turns *t)
{
    uint64_t seed = t->l->options->seed;

    if (!seed || !(rng_hash(seed, ++t->rounds) & 1))
        return;
    for (size_t i = 0, k = t->live.n; i + 1 < k; i++) {
        struct block *b = t->live.v[i];
        t->live.v[i] = t->live.v[--k];
        t->live.v[k] = b;
    }
}

/* All blocks. At most max_resident are begun and not done; more than one cluster only while some spin or give
 * way. */
void blocks_run(struct launch *l)
{
    struct turns t = {.l = l};
    uint64_t idle_rounds = 0, seen = l->progress;
    size_t turn = 0, waiting = 0; /* blocks that could not go on in this round */
    t.total = l->options->blocks ? l->options->n_blocks : l->n_blocks / l->cluster_blocks;
    while (!l->stop && (t.live.n || t.next < t.total)) {
        if (t.rush && has_room(&t)) {
            turn = t.live.n;
            cluster_begin(&t);
        }
        t.rush = false;
        if (!t.live.n || turn >= t.live.n) {
            if (t.live.n) { /* a whole round */
                if (l->progress != seen || absent_blocks_arrive(&t))
                    idle_rounds = 0;
                else if (waiting == t.live.n) {
                    report_cluster(&t);
                    break;
                }
                seen = l->progress;
                if (++idle_rounds > IDLE_ROUNDS && idle_rounds * t.live.n > IDLE_TURNS) {
                    report_deadlock(&t);
                    break;
                }
            }
            turn = waiting = 0;
            turn_round(&t);
            if (has_room(&t)) {
                size_t before = t.live.n;
                cluster_begin(&t);
                l->report->most_live = MAX(l->report->most_live, t.live.n);
                turn = before;
                continue;
            }
        }
        struct block *b = t.live.v[turn];
        enum block_state state;
        uint64_t before;
        do { /* what looks like spinning but changes memory is work: a histogram's atomics */
            before = l->progress;
            b->gave_way = false;
            state = block_turn(b);
        } while (!l->stop && !b->gave_way &&
                 (state == BLOCK_RUNS || (state == BLOCK_SPINS && l->progress != before)));
        if (l->stop)
            break;
        if (state == BLOCK_DONE) {
            block_done(&t, turn);
            idle_rounds = 0;
            continue;
        }
        if (state == BLOCK_WAITS && !waits_for_cluster(b)) {
            report_stuck(b);
            break;
        }
        waiting += state == BLOCK_WAITS;
        t.rush = b->gave_way;
        turn++;
    }
    for (size_t k = 0; k < t.all.n; k++) {
        struct block *b = t.all.v[k];
        if (b->cluster)
            cluster_free(b->cluster);
        for (uint32_t n = 0; n < b->n_warps; n++)
            l->report->lane_insns += b->warps[n].lane_insns;
        slot_close(b);
    }
    vec_free(&t.live);
    vec_free(&t.idle);
    vec_free(&t.all);
    vec_free(&t.begun);
}
