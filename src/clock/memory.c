/* What an access takes: banks of the shared memory, the L1 as a block has it, the L2 and DRAM behind it. */
#include "warp_clock.h"

void span_end(struct span *s)
{
    if (s->end > s->first) {
        s->lines += (double)(s->end - s->first);
        s->blocks += (double)(s->high - s->low + 1);
    }
    s->first = s->end = 0;
}

struct touched *touched_of(struct ptx_profile *p, struct alloc *a)
{
    for (size_t k = 0; k < p->allocs.n; k++)
        if (p->allocs.v[k].alloc == a)
            return &p->allocs.v[k];
    const struct footprint *f = cache_footprint(p->cache, a->addr);
    vec_push(
        &p->allocs,
        ((struct touched){.alloc = a,
                          .addr = a->addr,
                          .size = a->size,
                          .hit = f->end > f->first ? cache_resident(p->device, p->cache->clock - f->clock) : 0,
                          .known = f->first,
                          .known_end = f->end,
                          .first = UINT64_MAX}));
    return &vec_last(&p->allocs);
}

/* Sums of floats in shared memory, of which one lane of each bank succeeds at a time, whether the others share
 * its word or not: 92 clocks each for a lone warp; of the LSU 3.3, and 4.9 more for each other lane
 * (meets.csv). A turn reads, adds, swaps, compares and jumps. */
static const double RETRY_LATENCY = 92, RETRY_BUSY = 3.3, RETRY_MORE = 4.9, RETRY_SLOTS = 5;

float shared_access(struct ptx_profile *p, struct block_clock *k, const struct access *x,
                    const struct price *price, struct pc_stats *s)
{
    struct bank_use use;
    float merged = price->merged;
    unsigned passes = access_passes(x, &use);
    unsigned lanes = (unsigned)__builtin_popcount(x->mask);
    unsigned ideal = MAX(1u, (lanes * x->bytes + 127) / 128);
    float latency = (float)p->model->shared_cycles + (float)(passes - 1) * 2;
    s->shared_requests++;
    if (x->kind == ACCESS_ATOMIC) {
        unsigned different, same = access_words(x, &different);
        s->atomics += lanes;
        s->atomic_conflicts += price->counts ? 0 : same - 1;
        if (!price->counts) /* lanes of one bank take turns, of one word or not */
            passes = MAX(passes, access_turns(x, &use));
        latency += (float)(passes - 1) * 2;
        if (price->retries) {
            latency = (float)(passes * RETRY_LATENCY);
            use.busy = RETRY_BUSY + (passes - 1) * RETRY_MORE;
            k->s.slots += (passes - 1) * RETRY_SLOTS;
        }
    }
    s->conflicts += passes > ideal ? passes - ideal : 0;
    if (merged > 0 && x->kind == ACCESS_LOAD) /* lanes that share words share wider loads, of as many words */
        use.busy = MAX(merged * use.busy, use.words / 32.0);
    k->s.pipe[PIPE_LSU] += use.busy - 1; /* one is in the instruction's price */
    return latency;
}

/* Is a sector that was touched first, or touched again after so many bytes, in the L2? The share is a
 * probability; a hash of the address makes the same choice each time. */
static bool chance(uint64_t line, double share)
{
    return share >= 1 || (share > 0 && rng_unit_of(rng_hash(7, line)) < share);
}

static bool was_resident(const struct touched *t, uint64_t line)
{
    return line >= t->known && line < t->known_end && chance(line, t->hit);
}

/* What a block reads of its own for the first time, from wherever it comes. */
static void own_bytes(struct touched *t, struct l2_line *l, const struct block_clock *k, unsigned sectors)
{
    if (l->block != k->number)
        l->own = 0;
    t->own += SECTOR_BYTES * __builtin_popcount(sectors & ~(unsigned)l->own);
    t->own_lines += !l->own;
    l->own |= (uint8_t)sectors;
}

/* A line's second half takes DRAM less than a line elsewhere does: rows of 64 bytes a warp's half (fitted). */
static const double OTHER_HALF = 0.5;

static const double AGAIN = 1.25; /* more than that of an allocation's bytes: blocks read the same */

bool all_share(const struct ptx_profile *p, const struct touched *t)
{
    return t->own / (double)(p->samples.n + 1) * p->concurrent > AGAIN * (double)t->size;
}

/* What the block has asked the L2 for of its own since it was at the line, in bytes of all blocks that run.
 * Warps are simulated for some time each but run side by side: while one asks for lines the others do, too. */
static double own_since(const struct ptx_profile *p, const struct block_clock *k, const struct l2_line *l)
{
    double since = k->moved - (double)l->at_moved;

    if (l->warp == k->asking)
        since = MAX(since, (k->asking->moved - (double)l->at_warp) * k->warps);
    return since * p->concurrent;
}

/* Room in the L2 that is taken by what is asked of a line. It has room for whole lines alone; lanes that spread
 * over many take the rest of them later, if at all. Who is back soon takes none again. */
static double room_taken(const struct ptx_profile *p, const struct block_clock *k, const struct l2_line *l,
                         bool known, unsigned bytes)
{
    static const double SOON = 0.3; /* of the L2: half of what it surely holds */

    if (k->crowded)
        return 0;
    if (!k->spread)
        return bytes;
    bool is_soon = known && l->block == k->number && own_since(p, k, l) < SOON * (double)p->device->l2_bytes;
    return is_soon ? 0 : LINE_BYTES;
}

/* Bytes that the L2 has been asked for since the block was here: by each block of its own what it moved, at
 * most all that it has touched; and what they share, once. */
static double again_after(const struct ptx_profile *p, const struct block_clock *k, const struct l2_line *l)
{
    double own = MIN(own_since(p, k, l), k->touched * p->concurrent), shared = 0;

    for (size_t q = 0; q < p->allocs.n; q++)
        shared += all_share(p, &p->allocs.v[q]) ? (double)p->allocs.v[q].size : 0;
    return own + MIN((k->shared - (double)l->at_shared) * p->concurrent, shared);
}

/* DRAM gives 64 bytes at least. */
static unsigned pairs_of(unsigned sectors)
{
    return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1;
}

static void span_add(struct span *s, uint64_t block, uint64_t line)
{
    bool goes_on = s->end > s->first && block >= s->low && block <= s->high + 1;

    if (!goes_on) {
        span_end(s);
        *s = (struct span){block, block, line, line + 1, s->lines, s->blocks};
    }
    s->high = MAX(s->high, block);
    s->first = MIN(s->first, line);
    s->end = MAX(s->end, line + 1);
}

/* Of what the first block had done when it came to a line, a block that comes sooner has done less than that.
 */
static const double SOONER = 0.5;

static void note_order(const struct ptx_profile *p, const struct block_clock *k, struct touched *t,
                       struct l2_line *l, float now)
{
    if (k->number == 0 && !l->read) {
        l->reached = now < (float)p->model->l2_cycles ? -1 : (float)k->s.slots;
        return;
    }
    if (k->number == 0 || l->reached == 0)
        return;
    t->begun += l->reached < 0 && !l->met;
    t->met += l->reached > 0 && !l->met;
    l->met = true;
    if (l->reached > 0 && k->s.slots < SOONER * (double)l->reached) {
        t->sooner++;
        l->reached = 0;
    }
}

/* One line of a request reaches the L2; gives the latency. */
float l2_access(struct ptx_profile *p, struct block_clock *k, const struct access *x, struct touched *t,
                uint64_t line, unsigned sectors, float now)
{
    if (p->probe_axis >= 0) {
        struct l2_line *seen = l2_find(&p->l2, line);
        unsigned both = seen ? sectors & (unsigned)(seen->read | seen->written) : 0;
        if (x->kind == ACCESS_LOAD) {
            t->asked += SECTOR_BYTES * __builtin_popcount(sectors);
            t->common += SECTOR_BYTES * __builtin_popcount(both);
            if (both && seen->prober && seen->prober != k->number)
                t->same += SECTOR_BYTES * __builtin_popcount(both);
            else if (both)
                seen->prober = k->number;
        }
        return (float)p->model->l2_cycles;
    }
    struct l2_line *l = l2_get(&p->l2, line);
    bool reads = x->kind != ACCESS_STORE, writes = x->kind != ACCESS_LOAD;
    unsigned known = l->read | l->written | l->fetched, fresh = sectors & ~known, again = sectors & known;
    unsigned n = (unsigned)__builtin_popcount(sectors);
    double dram_lines = 0;
    bool shared = all_share(p, t);
    t->first = MIN(t->first, line);
    t->end = MAX(t->end, line + 1);
    k->s.l2_loads += x->kind == ACCESS_LOAD;
    k->s.l2_stores += x->kind == ACCESS_STORE;
    if (reads && !l->readers)
        l->reader = (uint32_t)k->s.linear;
    l->readers += reads && (!l->readers || l->block != k->number);
    if (fresh) {
        unsigned beside = reads ? pairs_of(fresh) & ~known & ~sectors : 0;
        unsigned bytes = SECTOR_BYTES * (unsigned)__builtin_popcount(fresh | beside);
        k->touched += known || shared ? 0 : LINE_BYTES; /* the L2 has room for whole lines alone */
        t->lines += !known;
        l->fetched |= (uint8_t)beside;
        if (!was_resident(t, line)) {
            dram_lines = known && l->block == k->number ? OTHER_HALF : 1;
            k->s.dram_read += reads ? bytes : 0;
            t->missed += reads ? bytes : 0;
        }
    } else if (again && l->block == k->number && !k->crowded) {
        if (!chance(line, cache_resident(p->device, again_after(p, k, l)))) {
            dram_lines = 1;
            k->s.dram_read += reads ? SECTOR_BYTES * (double)(unsigned)__builtin_popcount(again) : 0;
            if (!reads && k->parts)
                k->s.part_rewrites += __builtin_popcount(l->dirty);
            else if (!reads)
                k->s.rewrites += __builtin_popcount(pairs_of(l->dirty)) / 2;
            l->dirty = 0;
        }
    }
    if (!reads && l->block != k->number)
        l->own = 0;
    if (reads) {
        own_bytes(t, l, k, sectors);
        note_order(p, k, t, l, now);
        k->s.l2_read += SECTOR_BYTES * n;
        t->read +=
            SECTOR_BYTES * (unsigned)__builtin_popcount(sectors & ~(unsigned)l->read & ~(unsigned)l->written);
        l->read |= (uint8_t)sectors;
    }
    if (writes) {
        unsigned first = sectors & ~(unsigned)l->written;
        t->written_lines += !l->written;
        span_add(&t->span, k->s.linear, line);
        k->s.l2_write += SECTOR_BYTES * n;
        t->written += SECTOR_BYTES * (unsigned)__builtin_popcount(first);
        if (first && !was_resident(t, line))
            k->s.dram_write += SECTOR_BYTES * (unsigned)__builtin_popcount(first);
        l->written |= (uint8_t)sectors;
        l->dirty |= (uint8_t)sectors;
    }
    dram_lines *= reads;
    k->s.dram_lines += dram_lines;
    double room = shared ? 0 : room_taken(p, k, l, known, SECTOR_BYTES * n);
    l->block = k->number;
    l->warp = k->asking;
    k->moved += room;
    k->asking->moved += room;
    k->shared += shared ? SECTOR_BYTES * n : 0;
    l->at_moved = (float)k->moved;
    l->at_warp = (float)k->asking->moved;
    l->at_shared = (float)k->shared;
    l->at_time = now;
    l->at_passed = (float)k->passed;
    return (float)p->model->l2_cycles + (dram_lines > 0 ? (float)p->dram_cycles : 0);
}

static bool goes_through_l1(const struct insn *i, const struct access *x)
{
    return x->kind == ACCESS_LOAD && !(x->flags & (ACCESS_VOLATILE | ACCESS_RELAXED | ACCESS_ACQUIRE)) &&
           !insn_has(i, MOD_cg) && !insn_has(i, MOD_cv);
}

/* Is it in the SM's L1 because the block or another one has read it? Blocks are simulated one after the other
 * but run side by side: what lies between two reads of a block is what all blocks of the SM read in the time
 * between them. Of blocks so far apart that they may run on one SM as many read it as of the sample, and the L1
 * holds what some of them have read. */
static bool is_common(struct ptx_profile *p, const struct block_clock *k, struct touched *t, uint64_t line,
                      unsigned sectors, float now, float acquired)
{
    struct l2_line *l = p->probe_axis < 0 ? l2_find(&p->l2, line) : NULL;
    double share = 0;

    if (!l || !l->readers || (sectors & ~(unsigned)l->read))
        return false;
    if (l->block == k->number) {
        if (sectors & ~(unsigned)l->own || l->at_time < acquired)
            return false;
        share = 4 - 3 * (k->passed - (double)l->at_passed) * p->resident / p->sm_bytes;
    } else if (p->block_bytes > 0) {
        double each = (double)l->readers / MAX(p->block_number - 1, 1u);
        double held = MIN(p->sm_bytes / p->block_bytes, p->blocks_an_sm - 1);
        if (fabs((double)k->s.linear - (double)l->reader) < p->device->sm_count)
            return false;
        share = (1 - 1 / p->blocks_an_sm) * MIN(held, 1) * (1 - pow(1 - MIN(each, 1), MAX(held, 1)));
    }
    if (!chance(line ^ k->s.linear << 40, share))
        return false;
    own_bytes(t, l, k, sectors);
    l->readers += l->block != k->number;
    l->block = k->number;
    l->at_time = now;
    l->at_passed = (float)k->passed;
    return true;
}

/* Lines that the warp has loaded from since it was at this one, which is the last one now; *at: when that was.
 */
static unsigned lines_since(struct warp_clock *c, uint64_t line, unsigned most, float *at)
{
    unsigned k = 0;

    while (k < c->n_lines && c->lines[k].line != line)
        k++;
    *at = k < c->n_lines ? c->lines[k].at : 0;
    if (k == c->n_lines)
        c->n_lines = MIN(c->n_lines + 1, MIN(most, RECENT_LINES));
    memmove(c->lines + 1, c->lines, MIN(k, c->n_lines - 1) * sizeof(*c->lines));
    c->lines[0] = (struct own_line){line, c->start};
    c->touches++;
    return k;
}

/* Is a line gone that the warp alone has read? Warps go side by side: each has come to as many lines of its own
 * by then, or to what it comes to in that time. Of so many bytes on an SM all stay up to half of what it has,
 * of half as much again none (branches.csv, fills). */
static bool is_crowded_out(struct ptx_profile *p, const struct block_clock *k, const struct touched *t,
                           uint64_t line)
{
    bool is_wide = (double)t->size > p->sm_bytes;       /* what others have read of it has gone like this */
    if (p->probe_axis >= 0 || p->keeps >= RECENT_LINES) /* all that is remembered stays */
        return false;
    if (!is_wide && all_share(p, t))
        return false;
    struct l2_line *l = l2_find(&p->l2, line);
    struct warp_clock *c = k->asking;
    float at;
    if (l && ((l->readers > 1 && !is_wide) || l->block != k->number || l->warp != c)) /* others have it, too */
        return false;
    unsigned since = lines_since(c, line, (unsigned)ceil(p->loses), &at);
    if (l && at == 0)
        at = l->at_time; /* so many lines ago that nobody knows */
    double all = p->touched_in > 0 ? p->touches : c->touches;
    double others =
        all * (c->start - at) / (p->touched_in > 0 ? p->touched_in : MAX(c->start, p->model->l2_cycles));
    if (is_wide &&
        c->block_start - at >= (float)p->model->l1_cycles) /* it waited meanwhile, and the others ran */
        others = since;
    return l && since > p->keeps && others > p->keeps &&
           rng_unit_of(rng_hash(p->load, line)) < (MIN(since, others) - p->keeps) / (p->loses - p->keeps);
}

/* Warps are simulated one after another: what an earlier one asks for later than this one would is this one's
 * to ask for. */
static float arrival(struct l1_arrival *came, float now)
{
    if (came->ready > now + came->took)
        came->ready = now + came->took;
    return came->ready - now;
}

/* Cycles that the L1 is taken for. It has the banks of the shared memory, by the word within a line, and finds
 * several lines a cycle: 32 cycles for words in 32 lines all at the same place within theirs, 10 for words
 * anywhere (waits.csv, lines; with issue_share). What does not stay in it goes line by line. */
static double lsu_cycles(const struct access *x, unsigned lines, bool cached, unsigned *words)
{
    static const double LINES_A_CYCLE = 3.5;
    unsigned bytes = x->bytes * (unsigned)__builtin_popcount(x->mask);
    double data = (bytes + 127) / 128;
    struct bank_use use;

    *words = MAX(x->bytes / 4, 1u) * (unsigned)__builtin_popcount(x->mask);
    if (!cached)
        return MAX(lines, data);
    access_passes(x, &use);
    *words = use.words;
    return MAX(MAX(use.busy, data), lines / LINES_A_CYCLE);
}

/* Parts of sectors that are stored keep an SM that does nothing else for 2.05 clocks a line (stays.csv, sector
 * stores; with issue_share 1.78); of that shows less where it loads, too (fitted: roots of 8 by 8, running
 * maxima). */
static const double PART_LINE = 1.4;

/* Do the lanes go anywhere? By a formula they have the same few distances from each to the next. */
static bool is_scattered(const struct access *x)
{
    enum { FEW = 4 };
    uint64_t last = 0, apart[FEW];
    unsigned seen = 0, n = 0;

    if (x->linear)
        return false;
    for (unsigned l = 0; l < 32; l++) {
        if (!(x->mask >> l & 1))
            continue;
        uint64_t distance = x->addr[l] - last;
        unsigned k = 0;
        while (k < n && apart[k] != distance)
            k++;
        if (seen++ && k == n) {
            if (n == FEW)
                return true;
            apart[n++] = distance;
        }
        last = x->addr[l];
    }
    return false;
}

/* Lines of which a store writes parts of sectors count 1.67 times where it does so in both halves (the stores
 * of 4 and 8 bytes next to each other, writes.csv: 42 lines a nanosecond; of one sector 75). A store to the
 * same sectors as the one before it, of few lines, may go on with it. */
static void store_parts(struct warp_clock *c, struct sample *s, const struct access *x, const uint64_t *line,
                        const uint8_t *sectors, unsigned n)
{
    static const double OTHER_HALF_STORED = 0.67;
    unsigned total = 0, both = 0;
    bool joins = n <= (x->bytes < 16 ? GOES_ON : JOINED);

    for (unsigned q = 0; q < n; q++) {
        total += (unsigned)__builtin_popcount(sectors[q]);
        both += sectors[q] & 3 && sectors[q] & 12;
        joins = joins && c->store_line[q] == line[q] && (c->store_sectors[q] & sectors[q]);
    }
    bool is_part = x->bytes * (unsigned)__builtin_popcount(x->mask) < total * SECTOR_BYTES;
    double more = is_part ? OTHER_HALF_STORED * both : 0;
    s->l2_stores += more;
    if (joins && is_part) {
        s->joined_stores += n + more;
        s->joined_write += total * SECTOR_BYTES;
    }
    memset(c->store_sectors, 0, sizeof(c->store_sectors));
    for (unsigned q = 0; q < n && n <= GOES_ON; q++) {
        c->store_line[q] = line[q];
        c->store_sectors[q] = sectors[q];
    }
}

static bool is_float_sum(const struct insn *i)
{
    return i->type >= TYPE_F16 && i->type <= TYPE_F64 && insn_has(i, MOD_add);
}

/* Do blocks all over the grid come there, or neighbours of the first alone? */
static bool comes_from_afar(const struct ptx_profile *p, uint32_t block, uint32_t first)
{
    return block - first > p->n_blocks / 3;
}

/* An update of a byte, counted from where an allocation begins, or may begin: q says which. */
static void update_part(struct ptx_profile *p, struct touched *t, uint64_t at, uint32_t block, unsigned q)
{
    uint64_t first = at / SLICES_BYTES * SLICES_BYTES + at / SLICE_BYTES % 2 * SLICE_BYTES;
    struct l2_line *part = l2_get(&p->l2, (t->addr + first) / LINE_BYTES);

    if (part->updates[q]++ == 0) {
        part->first_update[q] = block;
        t->updated_parts[q]++;
    }
    if (comes_from_afar(p, block, part->first_update[q]))
        p->in_one_part[q] = MAX(p->in_one_part[q], part->updates[q]);
}

/* Which word is updated most, how long its updates take one after the other, and how many go to its slice. */
static void update_words(struct ptx_profile *p, const struct warp *w, struct touched *t, const struct access *x,
                         double cycles)
{
    uint32_t block = (uint32_t)w->block->linear;

    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(x->mask >> lane & 1))
            continue;
        p->updates++;
        for (unsigned q = 0; q < ARRAY_LEN(p->in_one_part); q++)
            update_part(p, t, x->addr[lane] - t->addr + q * SLICES_BYTES / 2, block, q);
        struct l2_line *l = l2_get(&p->l2, x->addr[lane] / LINE_BYTES);
        if (l->atomics++ == 0) {
            l->first_block = block;
            continue;
        }
        if (!l->counts) {
            vec_push(&p->counts, ((struct word_counts){{0}}));
            l->counts = (uint32_t)p->counts.n;
        }
        uint32_t n = ++p->counts.v[l->counts - 1].n[x->addr[lane] / 4 % 32];
        double *most = comes_from_afar(p, block, l->first_block) ? &p->hottest : &p->hottest_near;
        *most = MAX(*most, n * cycles);
    }
}

float global_access(struct warp *w, struct ptx_profile *p, struct block_clock *k, const struct insn *i,
                    const struct access *x, unsigned *lines, unsigned *words)
{
    struct pc_stats *s = &p->stats[i->self];
    struct warp_clock *c = warp_clock(w);
    uint64_t line[64];
    uint8_t sectors[64];
    unsigned n = access_lines(x, line, sectors), total = 0, far = 0;
    unsigned lanes = (unsigned)__builtin_popcount(x->mask);
    float slowest = (float)p->model->l1_cycles;
    bool cached = goes_through_l1(i, x);
    p->load++;
    c->leader = 0;
    struct alloc *a = x->alloc ? x->alloc : mem_find(w->launch->mem, x->addr[__builtin_ctz(x->mask)]);
    if (!a)
        return slowest;
    struct touched *t = touched_of(p, a);
    if (!k->s.first_line)
        k->s.run_end = k->s.first_line = line[0] + 1;
    for (unsigned q = 0; q < n; q++) {
        k->s.run_end += line[q] + 1 == k->s.run_end;
        total += (unsigned)__builtin_popcount(sectors[q]);
    }
    k->asking = c;
    k->warps = w->block->n_warps;
    k->spread = n > JOINED;
    k->parts = x->kind == ACCESS_STORE && lanes * x->bytes < total * SECTOR_BYTES;
    for (unsigned q = 0; q < n; q++) {
        unsigned need = sectors[q];
        struct l1_arrival *came = NULL;
        k->crowded = false;
        if (cached) {
            unsigned had = l1_probe(&p->l1s.v[w->block->slot], line[q], need, c->start, &came);
            bool crowded = is_crowded_out(p, k, t, line[q]);
            k->crowded = crowded && had;
            if (k->crowded || came->ready - came->took < c->acquired)
                had = 0;
            float rest = had ? arrival(came, c->start) : 0;
            if (rest > slowest) {
                slowest = rest;
                c->leader = came->load;
            }
            need &= ~had;
            k->passed += SECTOR_BYTES * __builtin_popcount(need);
            bool common = need && !k->crowded && is_common(p, k, t, line[q], need, c->start, c->acquired);
            k->crowded = k->crowded || (common && crowded);
            if (common && !crowded) {
                p->common += SECTOR_BYTES * __builtin_popcount(need);
                need = 0;
            }
        }
        if (need) {
            far += (unsigned)__builtin_popcount(need);
            float latency = l2_access(p, k, x, t, line[q], need, c->start);
            if (latency > slowest) {
                slowest = latency;
                c->leader = 0;
            }
            if (came)
                *came = (struct l1_arrival){c->start + latency, latency, p->load};
        }
    }
    double busy = lsu_cycles(x, n, cached, words);
    *words = *words * far / MAX(total, 1u);
    k->s.pipe[PIPE_LSU] +=
        (k->parts && n > JOINED ? MAX(busy, PART_LINE * n) : busy) - 1; /* one is in the price */
    if (x->kind != ACCESS_LOAD) {
        t->placed += total;
        t->scattered += is_scattered(x) ? total : 0;
    }
    if (x->kind == ACCESS_STORE) {
        t->stored += lanes * x->bytes;
        t->stored_sectors += total;
        store_parts(c, &k->s, x, line, sectors, n);
    }
    s->requests++;
    s->sectors += total;
    s->ideal += MAX(1u, (lanes * x->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
    s->used += MIN(lanes * x->bytes, total * SECTOR_BYTES);
    s->moved += total * SECTOR_BYTES;
    if (x->kind == ACCESS_ATOMIC) {
        unsigned different, same = access_words(x, &different);
        (void)different;
        s->atomics += lanes;
        s->atomic_conflicts += same - 1;
        k->s.updates_from = k->s.atomics > 0 ? MIN(k->s.updates_from, (double)c->start) : (double)c->start;
        k->s.atomics += access_updates(x);
        if (p->probe_axis < 0)
            update_words(p, w, t, x, is_float_sum(i) ? p->model->atomic_float_cycles : p->model->atomic_cycles);
        slowest += (float)((same - 1) * p->model->atomic_cycles);
    }
    if (x->kind == ACCESS_LOAD) {
        c->loads++;
        c->loaded += slowest;
        c->slowest = MAX(c->slowest, slowest);
    }
    *lines = (unsigned)busy;
    return slowest;
}
