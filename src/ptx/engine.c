/* Blocks. A warp runs until it waits, ends or its slice is spent; blocks run one after the other, but when one
 * spins (it waits for another block) the next ones come in, as many as a GPU would hold. */
#include "internal.h"

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
        w->undef = l->san ? place(l->module->n_slots * sizeof(uint32_t)) : NULL;
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
        free(b->warps[k].undef);
        free(b->warps[k].call_pc);
        calls_free(&b->warps[k]);
        free(b->warps[k].san);
        free(b->warps[k].prof);
        free(b->warps[k].async);
    }
    free(b->san);
    free(b->prof);
    free(b->warps);
    free(b->local);
    free(b->shared);
    free(b);
}

static void block_begin(struct block *b, uint64_t linear)
{
    struct launch *l = b->launch;
    b->linear = linear;
    b->id[0] = (uint32_t)(linear % l->grid[0]);
    b->id[1] = (uint32_t)(linear / l->grid[0] % l->grid[1]);
    b->id[2] = (uint32_t)(linear / l->grid[0] / l->grid[1]);
    b->live_warps = b->n_warps;
    b->done = false;
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
        w->penalty = w->spins = w->back_edges = 0;
        w->carry = 0;
        w->any_undef = false;
        memset(w->bar_mask, 0, sizeof(w->bar_mask));
        if (l->module->recurses)
            calls_reset(w);
        memset(w->call_depth, 0, sizeof(w->call_depth));
        for (size_t c = 0; c < l->module->n_block_consts; c++)
            const_write(w, &l->module->consts[c]);
    }
    if (l->san)
        san_block_begin(b);
    if (l->prof)
        prof_block_begin(b);
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
        int64_t slice = (int64_t)MIN((uint64_t)WARP_SLICE, l->limit - l->issued);
        w->fuel = slice;
        w->unspent = 0;
        w->yielded = false;
        l->module->loop(w);
        l->issued += (uint64_t)(slice - w->fuel - w->unspent);
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
    return !ran ? BLOCK_WAITS : all_spin ? BLOCK_SPINS : BLOCK_RUNS;
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

static uint64_t block_number(const struct launch *l, uint64_t k)
{
    if (l->options->blocks)
        return l->options->blocks[k];
    if (!l->options->seed || l->n_blocks < 2)
        return k;
    uint64_t h = rng_hash(l->options->seed, 77), at = (k + h % l->n_blocks) % l->n_blocks;
    return h >> 63 ? l->n_blocks - 1 - at : at;
}

/* All blocks. At most max_resident are begun and not done; more than one only while some spin. */
void blocks_run(struct launch *l)
{
    uint64_t total = l->options->blocks ? l->options->n_blocks : l->n_blocks, next = 0;
    VEC(struct block *) live = {0}, idle = {0};
    uint64_t idle_rounds = 0, seen = l->progress;
    size_t turn = 0;
    while (!l->stop && (live.n || next < total)) {
        if (!live.n || turn >= live.n) {
            if (live.n) { /* a whole round */
                if (l->progress != seen)
                    idle_rounds = 0;
                seen = l->progress;
                if (++idle_rounds > IDLE_ROUNDS && idle_rounds * live.n > IDLE_TURNS) {
                    struct warp *w = &live.v[0]->warps[0];
                    for (uint32_t k = 0; k < live.v[0]->n_warps && !w->mask; k++)
                        w = &live.v[0]->warps[k];
                    const struct insn *i = &l->module->code[w->pc < l->module->n_code ? w->pc : 0];
                    fault(w, i, w->mask ? __builtin_ctz(w->mask) : -1, PTX_DEADLOCK, 0,
                          "%zu of %llu blocks wait in a loop for something that never happens%s", live.n,
                          (unsigned long long)l->n_blocks,
                          next < total ? " (no more blocks fit the device at once)" : "");
                    break;
                }
            }
            turn = 0;
            if (next < total && live.n < l->max_resident) {
                struct block *b;
                if (idle.n) {
                    b = vec_last(&idle);
                    idle.n--;
                } else {
                    b = slot_open(l, (uint32_t)live.n);
                }
                block_begin(b, block_number(l, next++));
                vec_push(&live, b);
                turn = live.n - 1;
            }
        }
        struct block *b = live.v[turn];
        enum block_state state;
        uint64_t before;
        do { /* what looks like spinning but changes memory is work: a histogram's atomics */
            before = l->progress;
            state = block_turn(b);
        } while (!l->stop && (state == BLOCK_RUNS || (state == BLOCK_SPINS && l->progress != before)));
        if (l->stop)
            break;
        if (state == BLOCK_WAITS) {
            report_stuck(b);
            break;
        }
        if (state == BLOCK_DONE) {
            if (l->san)
                san_block_end(b);
            if (l->prof)
                prof_block_end(b);
            l->report->blocks++;
            vec_push(&idle, b);
            live.v[turn] = vec_last(&live);
            live.n--;
            idle_rounds = 0;
            continue;
        }
        turn++;
    }
    for (size_t k = 0; k < live.n; k++)
        vec_push(&idle, live.v[k]);
    for (size_t k = 0; k < idle.n; k++) {
        for (uint32_t n = 0; n < idle.v[k]->n_warps; n++)
            l->report->lane_insns += idle.v[k]->warps[n].lane_insns;
        slot_close(idle.v[k]);
    }
    vec_free(&live);
    vec_free(&idle);
}
