/* The observer of timed launches: counts per instruction, and one clock per warp.
 *
 * A warp's clock is that of a compiler that orders each basic block well: an instruction starts when its
 * operands are there, not before the block's start and the issue slots ahead of it; loads do not move above
 * earlier stores, atomics and barriers. The next block starts when the last instruction of this one has
 * started. So a load costs nothing until its first use, and a loop whose loads wait for each other costs their
 * whole latencies. */
#include "cost_model.h"

struct warp_clock {
    struct kept kept;
    float block_start, issued, last_start;
    float order, order_shared; /* loads start no earlier; the second holds those of shared memory alone */
    float async_ready[9];      /* of cp.async: the open group, then the last 8 committed */
    float returned;            /* when the last load's data had come through the quarter's port */
    float waited;              /* caused by loads */
    float sync;
    uint32_t next_pc, pc;
    float start;     /* of the instruction that executes */
    bool seen;       /* an access of it was priced */
    uint16_t loop;   /* that it is in, of those whose turns are known; 0: none */
    uint16_t turned; /* the loop whose last instruction executed last; 0: none */
    uint32_t turns,
        loads; /* since its time was settled last; of global memory, of whose latencies there are: */
    float settled, loaded, slowest;
    bool merged; /* the branch that executed last joins two copies of an unrolled loop's body */
    uint32_t trips;
    uint32_t took_pc;  /* of the addition whose result was used last, and 1 more; 0: none */
    uint32_t took_reg; /* the register of the last addition's result, and 1 more, until it is used; 0: none */
    uint32_t taking_pc;
    uint32_t spin_pc; /* the first read of a loop that waits, and all as it was then */
    float spin_from, spin_waited;
    uint64_t spin_progress;
    struct sample spin_sample;
    uint8_t *spin_regs; /* the register file at that read; NULL: never needed */
    bool idle;          /* the loop's last turn left every register as it was */
    struct reg_clock {
        float ready;
        uint32_t writer; /* pc of the instruction that its value waited for, ~0: none */
    } regs[];
};

struct block_clock {
    struct kept kept;
    struct sample s;
    uint32_t number;
    double touched; /* bytes */
};

static float frontier(const struct warp_clock *c)
{
    return MAX(c->block_start + c->issued, c->last_start);
}

static struct ptx_profile *profile_of(const struct launch *l)
{
    return (struct ptx_profile *)l->observer[PTX_CLOCK];
}

static struct warp_clock *warp_clock(const struct warp *w)
{
    return (struct warp_clock *)w->kept[PTX_CLOCK];
}

static struct block_clock *block_clock(const struct block *b)
{
    return (struct block_clock *)b->kept[PTX_CLOCK];
}

static void kept_free(struct kept *k)
{
    free(k);
}

static void warp_free(struct kept *k)
{
    free(((struct warp_clock *)k)->spin_regs);
    free(k);
}

static void prof_block_begin(struct block *b)
{
    struct ptx_profile *p = profile_of(b->launch);
    struct block_clock *k = b->kept[PTX_CLOCK] ? block_clock(b) : mem_alloc(sizeof(*k));
    uint32_t n_slots = p->module->n_slots;
    *k = (struct block_clock){.kept.drop = kept_free, .s.linear = b->linear, .number = p->block_number++};
    b->kept[PTX_CLOCK] = &k->kept;
    for (uint32_t w = 0; w < b->n_warps; w++) {
        struct warp_clock *c = warp_clock(&b->warps[w]);
        uint8_t *spin_regs = c ? c->spin_regs : NULL;
        if (!c)
            c = mem_alloc(sizeof(*c) + n_slots * sizeof(c->regs[0]));
        *c = (struct warp_clock){
            .kept.drop = warp_free, .next_pc = p->module->n_code, .spin_pc = ~0u, .spin_regs = spin_regs};
        b->warps[w].kept[PTX_CLOCK] = &c->kept;
        for (uint32_t r = 0; r < n_slots; r++)
            c->regs[r] = (struct reg_clock){0, ~0u};
    }
    while (p->l1s.n <= b->slot)
        vec_push(&p->l1s, ((struct l1){0}));
    l1_reset(&p->l1s.v[b->slot], p->l1_bytes);
}

static void prof_block_end(struct block *b)
{
    struct ptx_profile *p = profile_of(b->launch);
    struct block_clock *k = block_clock(b);
    for (uint32_t w = 0; w < b->n_warps; w++) {
        const struct warp_clock *c = warp_clock(&b->warps[w]);
        double end = frontier(c);
        k->s.warp_cycles += end;
        k->s.sync += c->sync;
        if (end >= k->s.cycles) {
            k->s.cycles = end;
            k->s.memory_wait = c->waited;
        }
    }
    if (p->samples.n == 0) {
        p->block_bytes = k->s.l2_read;
        p->block_cycles = MAX(k->s.cycles, 1);
    }
    vec_push(&p->samples, k->s);
}

/* A control instruction closes the basic block: what follows starts when everything of it has started. */
static void close_block(struct warp_clock *c, float latency)
{
    c->block_start = frontier(c) + latency;
    c->issued = 0;
    c->last_start = c->block_start;
    c->order = c->block_start;
}

static void async_wait(struct warp_clock *c, const struct insn *i)
{
    if (insn_has(i, MOD_commit_group)) {
        for (unsigned k = 8; k > 1; k--)
            c->async_ready[k] = MAX(c->async_ready[k - 1], k == 8 ? c->async_ready[8] : 0);
        c->async_ready[1] = c->async_ready[0];
        c->async_ready[0] = 0;
    } else {
        bool all = insn_has(i, MOD_wait_all);
        unsigned keep = all || !i->n_opnds ? 0 : (unsigned)MIN(i->opnds[0].imm, 7);
        float t = all ? c->async_ready[0] : 0;
        for (unsigned k = keep + 1; k <= 8; k++)
            t = MAX(t, c->async_ready[k]);
        c->waited += MAX(t - frontier(c), 0);
        c->last_start = MAX(c->last_start, t);
        c->order = MAX(c->order, t);
    }
}

/* Work may be taken by it: an addition to global memory with a result. */
static bool is_take(const struct insn *i)
{
    return i->op == OP_atom && (enum mod)i->extra == MOD_add && i->space != SPACE_SHARED;
}

/* Is the result compared, or handed to other threads? */
static void follow_taken(struct warp_clock *c, const struct price *x, const struct insn *i,
                         const uint32_t *refs)
{
    if (i->op != OP_setp && i->op != OP_st && i->op != OP_shfl && i->op != OP_mov)
        return;
    for (unsigned n = 0; n < x->n_src; n++)
        if (refs[n] + 1 == c->took_reg) {
            c->took_pc = c->taking_pc + 1;
            c->took_reg = 0;
            return;
        }
}

/* Pipes of plain arithmetic, of which the machine code says what a loop or the code around it needs. */
enum { N_PLAIN = 5 };
static const enum pipe plain[N_PLAIN] = {PIPE_FP32, PIPE_FP16, PIPE_ALU, PIPE_MUL, PIPE_CONV};

static bool is_plain(uint8_t pipe)
{
    for (int q = 0; q < N_PLAIN; q++)
        if (plain[q] == pipe)
            return true;
    return false;
}

/* A loop's turns take no less than its machine code, which is in order: of the forms with several turns as many
 * passes as there are whole ones, the rest by the shorter forms. Latencies of memory are those that the turns
 * had; where the slowest load is far slower than the others, no less than it. */
static void settle_loop(struct ptx_profile *p, struct warp_clock *c)
{
    const struct loop_price *l = &p->prices.loops[c->loop];
    float t = 0, mean = c->loads ? c->loaded / (float)c->loads : 0;
    unsigned left = c->turns;

    for (unsigned k = 0; k < l->n_forms && left > 0; k++) {
        const struct loop_form *f = &l->forms[k];
        float at = CLAMP(mean / LOOP_STEP, 0, LOOP_POINTS - 1.001f);
        unsigned low = (unsigned)at, passes = left / f->turns;
        float each = f->cycles[low] + (at - (float)low) * (f->cycles[low + 1] - f->cycles[low]);
        t += (float)passes * MAX(each, passes ? f->cycles[0] + c->slowest - mean : 0);
        left -= passes * f->turns;
    }
    float late = c->settled + t - frontier(c);
    if (late > 0) {
        close_block(c, late);
        c->waited += c->loads ? late : 0;
    }
    c->settled = frontier(c);
    c->turns = c->loads = 0;
    c->loaded = c->slowest = 0;
}

static void enter_loop(struct warp_clock *c, uint16_t loop)
{
    c->loop = loop;
    c->settled = frontier(c);
    c->turns = c->loads = 0;
    c->loaded = c->slowest = 0;
}

/* One instruction of the warp; not executed: no lane's guard held, yet it takes its issue slot and waits for
 * the guard. */
static void step(struct ptx_profile *p, struct block_clock *k, struct warp_clock *c, uint32_t pc, bool executed)
{
    const struct price *x = &p->prices.of[pc];
    const struct insn *i = &p->module->code[pc];
    struct pc_stats *s = &p->stats[pc];
    const uint32_t *refs = p->prices.refs + x->refs;

    k->s.insns++;
    k->s.slots += (double)x->slots;
    if (!x->group || !is_plain(x->pipe))
        k->s.pipe[x->pipe] += (double)x->busy;
    if (x->group)
        for (int q = 0; q < N_PLAIN; q++)
            k->s.pipe[plain[q]] += (double)(x->slots * p->prices.groups[x->group].pipe[plain[q]]);
    float before = frontier(c), start = c->block_start + c->issued;
    uint32_t blame = ~0u;
    for (unsigned n = executed ? 0 : x->n_src - x->has_guard; n < x->n_src; n++) {
        const struct reg_clock *r = &c->regs[refs[n]];
        if (r->ready > start) {
            start = r->ready;
            blame = r->writer;
        }
    }
    if (x->is_load || x->is_order)
        start = MAX(start, i->space == SPACE_GLOBAL ? c->order : MAX(c->order, c->order_shared));
    c->issued += x->slots;
    c->last_start = MAX(c->last_start, start);
    if (executed && (x->is_store || x->is_order)) {
        float *order = i->space == SPACE_SHARED && !x->is_order ? &c->order_shared : &c->order;
        *order = MAX(*order, start);
    }
    c->start = start;
    c->pc = pc;
    c->seen = false;
    for (unsigned n = 0; executed && n < x->n_dst; n++)
        c->regs[refs[x->n_src + n]] =
            (struct reg_clock){start + x->latency, blame == ~0u || x->is_load ? pc : blame};
    if (executed && x->is_async_wait)
        async_wait(c, i);
    if (executed && x->is_branch && blame != ~0u && op_table[p->module->code[blame].op].price == PRICE_ATOMIC)
        p->result_branches = true;
    if (executed && c->took_reg)
        follow_taken(c, x, i, refs);
    if (executed && is_take(i) && x->n_dst) {
        p->takes_again = p->takes_again || c->took_pc == pc + 1;
        c->took_pc = 0;
        c->taking_pc = pc;
        c->took_reg = refs[x->n_src] + 1;
    }
    c->merged =
        executed && ((x->is_branch && !x->ends_block) || (x->unroll > 1 && ++c->trips % x->unroll != 0));
    if (x->ends_block && !c->merged)
        close_block(c, executed ? x->latency : 0);
    if (executed && x->back && c->loop == x->back) {
        c->turned = x->back;
        c->turns++;
        if (!c->merged)
            settle_loop(p, c);
    }
    float grew = frontier(c) - before;
    if (grew > x->slots && blame != ~0u) {
        p->stats[blame].stall += (double)(grew - x->slots);
        s->stall += (double)x->slots;
        c->waited += op_table[p->module->code[blame].op].unit == UNIT_LSU ? grew : 0;
    } else {
        s->stall += (double)grew;
    }
}

static void prof_issue(struct warp *w, const struct insn *i, uint32_t m)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct warp_clock *c = warp_clock(w);
    struct block_clock *k = block_clock(w->block);
    uint32_t pc = i->self;

    if (pc > c->next_pc && pc - c->next_pc < 256 && !p->prices.of[c->next_pc - 1].is_branch)
        while (c->next_pc < pc)
            step(p, k, c, c->next_pc++, false);
    else if (pc != c->next_pc && !c->merged)
        close_block(c, 0);
    if (c->turned && pc == c->next_pc) { /* the loop has ended */
        settle_loop(p, c);
        c->loop = 0;
        c->trips = 0;
    }
    c->turned = 0;
    if (p->prices.of[pc].head && c->loop != p->prices.of[pc].head)
        enter_loop(c, p->prices.of[pc].head);
    c->next_pc = pc + 1;
    p->stats[pc].issues += 1;
    p->stats[pc].lanes += (double)(unsigned)__builtin_popcount(m);
    step(p, k, c, pc, true);
}

static void prof_barrier(struct block *b, const uint32_t *arrived, const uint32_t *waiting)
{
    struct ptx_profile *p = profile_of(b->launch);
    float latest = 0, cost = (float)p->model->barrier_cycles + 2 * (float)b->n_warps;
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (arrived[w])
            latest = MAX(latest, frontier(warp_clock(&b->warps[w])));
    latest += cost;
    for (uint32_t w = 0; w < b->n_warps; w++) {
        struct warp_clock *c = warp_clock(&b->warps[w]);
        if (!waiting[w])
            continue;
        p->stats[c->pc].stall += (double)(latest - frontier(c));
        c->sync += cost;
        c->block_start = c->last_start = c->order = latest;
        c->issued = 0;
    }
}

/* ---- memory ---- */

static struct touched *touched_of(struct ptx_profile *p, struct alloc *a)
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

static float shared_access(struct ptx_profile *p, struct block_clock *k, const struct access *x,
                           struct pc_stats *s)
{
    unsigned passes = access_passes(x), lanes = (unsigned)__builtin_popcount(x->mask);
    unsigned ideal = MAX(1u, (lanes * x->bytes + 127) / 128);
    float latency = (float)p->model->shared_cycles + (float)(passes - 1) * 2;
    s->shared_requests++;
    if (x->kind == ACCESS_ATOMIC) { /* lanes of one bank take turns, of one word or not */
        unsigned different, same = access_words(x, &different);
        uint8_t turns[32] = {0};
        for (unsigned l = 0; l < 32; l++)
            if (x->mask >> l & 1) {
                unsigned turn = ++turns[x->addr[l] / 4 % 32];
                passes = MAX(passes, turn);
            }
        s->atomics += lanes;
        s->atomic_conflicts += same - 1;
        latency += (float)(passes - 1) * 2;
    }
    s->conflicts += passes > ideal ? passes - ideal : 0;
    k->s.pipe[PIPE_LSU] += passes - 1; /* one is in the instruction's price */
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
    l->own |= (uint8_t)sectors;
}

/* DRAM gives 64 bytes at least. */
static unsigned pairs_of(unsigned sectors)
{
    return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1;
}

/* One line of a request reaches the L2; gives the latency. */
static float l2_access(struct ptx_profile *p, struct block_clock *k, const struct access *x, struct touched *t,
                       uint64_t line, unsigned sectors, float now)
{
    if (p->probe_axis >= 0) {
        const struct l2_line *seen = l2_find(&p->l2, line);
        unsigned both = seen ? sectors & (unsigned)(seen->read | seen->written) : 0;
        if (x->kind == ACCESS_LOAD) {
            t->probed[p->probe_axis] += SECTOR_BYTES * __builtin_popcount(sectors);
            t->shared[p->probe_axis] += SECTOR_BYTES * __builtin_popcount(both);
        }
        return (float)p->model->l2_cycles;
    }
    struct l2_line *l = l2_get(&p->l2, line);
    bool reads = x->kind != ACCESS_STORE, writes = x->kind != ACCESS_LOAD;
    unsigned known = l->read | l->written | l->fetched, fresh = sectors & ~known, again = sectors & known;
    unsigned n = (unsigned)__builtin_popcount(sectors);
    bool dram = false;
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
        k->touched += bytes;
        l->fetched |= (uint8_t)beside;
        if (!was_resident(t, line)) {
            dram = reads;
            k->s.dram_read += reads ? bytes : 0;
            t->missed += reads ? bytes : 0;
            t->missed_lines += reads;
        }
    } else if (again && l->block == k->number) {
        double distance = (k->touched - (double)l->at_bytes) * p->concurrent;
        if (!chance(line, cache_resident(p->device, distance))) {
            dram = reads;
            k->s.dram_read += reads ? SECTOR_BYTES * (double)(unsigned)__builtin_popcount(again) : 0;
        }
    }
    if (!reads && l->block != k->number)
        l->own = 0;
    if (reads) {
        own_bytes(t, l, k, sectors);
        k->s.l2_read += SECTOR_BYTES * n;
        t->read +=
            SECTOR_BYTES * (unsigned)__builtin_popcount(sectors & ~(unsigned)l->read & ~(unsigned)l->written);
        l->read |= (uint8_t)sectors;
    }
    if (writes) {
        unsigned first = sectors & ~(unsigned)l->written;
        k->s.l2_write += SECTOR_BYTES * n;
        t->written += SECTOR_BYTES * (unsigned)__builtin_popcount(first);
        if (first && !was_resident(t, line))
            k->s.dram_write += SECTOR_BYTES * (unsigned)__builtin_popcount(first);
        l->written |= (uint8_t)sectors;
    }
    k->s.dram_lines += dram;
    l->block = k->number;
    l->at_bytes = (float)k->touched;
    l->at_time = now;
    return (float)p->model->l2_cycles + (dram ? (float)p->dram_cycles : 0);
}

static bool goes_through_l1(const struct insn *i, const struct access *x)
{
    return x->kind == ACCESS_LOAD && !(x->flags & (ACCESS_VOLATILE | ACCESS_RELAXED | ACCESS_ACQUIRE)) &&
           !insn_has(i, MOD_cg) && !insn_has(i, MOD_cv);
}

/* Is it in the SM's L1 because another warp of the block or another block has read it? Warps and blocks are
 * simulated one after the other but run side by side: what lies between two reads of a block is what the SM
 * reads in the time between them. Of blocks so far apart that they may run on one SM as many read it as of the
 * sample, and the L1 holds what some of them have read. */
static bool is_common(const struct ptx_profile *p, const struct block_clock *k, struct touched *t,
                      uint64_t line, unsigned sectors, float now)
{
    struct l2_line *l = p->probe_axis < 0 && p->block_bytes > 0 ? l2_find(&p->l2, line) : NULL;
    double share;

    if (!l || !l->readers || (sectors & ~(unsigned)l->read))
        return false;
    if (l->block == k->number) {
        double between = fabs((double)(now - l->at_time)) * p->block_bytes / p->block_cycles * p->resident;
        share = 2 - between / p->sm_bytes;
    } else {
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
    return true;
}

/* Warps are simulated one after another: what an earlier one asks for later than this one would is this one's
 * to ask for. */
static float arrival(struct l1_arrival *came, float now)
{
    if (came->ready > now + came->took)
        came->ready = now + came->took;
    return came->ready - now;
}

static float global_access(struct warp *w, struct ptx_profile *p, struct block_clock *k, const struct insn *i,
                           const struct access *x, struct pc_stats *s)
{
    struct warp_clock *c = warp_clock(w);
    uint64_t line[64];
    uint8_t sectors[64];
    unsigned n = access_lines(x, line, sectors), total = 0, lanes = (unsigned)__builtin_popcount(x->mask);
    float slowest = (float)p->model->l1_cycles;
    bool cached = goes_through_l1(i, x);
    struct alloc *a = x->alloc ? x->alloc : mem_find(w->launch->mem, x->addr[__builtin_ctz(x->mask)]);
    if (!a)
        return slowest;
    struct touched *t = touched_of(p, a);
    if (!k->s.first_line)
        k->s.run_end = k->s.first_line = line[0] + 1;
    for (unsigned q = 0; q < n; q++)
        k->s.run_end += line[q] + 1 == k->s.run_end;
    for (unsigned q = 0; q < n; q++) {
        unsigned need = sectors[q];
        total += (unsigned)__builtin_popcount(need);
        struct l1_arrival *came = NULL;
        if (cached) {
            unsigned had = l1_probe(&p->l1s.v[w->block->slot], line[q], need, c->start, &came);
            if (had)
                slowest = MAX(slowest, arrival(came, c->start));
            need &= ~had;
            if (need && is_common(p, k, t, line[q], need, c->start)) {
                p->common += SECTOR_BYTES * __builtin_popcount(need);
                need = 0;
            }
        }
        if (need) {
            float latency = l2_access(p, k, x, t, line[q], need, c->start);
            slowest = MAX(slowest, latency);
            if (came)
                *came = (struct l1_arrival){c->start + latency, latency};
        }
    }
    k->s.pipe[PIPE_LSU] +=
        MAX(n, x->bytes * lanes / 128 + (x->bytes * lanes % 128 != 0)) - 1; /* one line a cycle */
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
        k->s.atomics += n;
        for (unsigned q = 0; q < n; q++) {
            struct l2_line *l = l2_get(&p->l2, line[q]);
            uint32_t block = (uint32_t)w->block->linear;
            uint32_t *most;
            if (l->atomics == 0)
                l->first_block = block;
            l->atomics += same;
            most = block - l->first_block > p->n_blocks / 3 ? &p->hottest : &p->hottest_near;
            *most = MAX(*most, l->atomics);
        }
        slowest += (float)((same - 1) * p->model->atomic_cycles);
    }
    if (x->kind == ACCESS_LOAD) {
        c->loads++;
        c->loaded += slowest;
        c->slowest = MAX(c->slowest, slowest);
    }
    return slowest + (float)(n - 1);
}

static void prof_spin(struct warp *w, const struct insn *i);

static void prof_access(struct warp *w, const struct insn *i, const struct access *x)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct warp_clock *c = warp_clock(w);
    struct block_clock *k = block_clock(w->block);
    const struct price *price = &p->prices.of[i->self];
    struct pc_stats *s = &p->stats[i->self];
    float latency;
    if (x->mask == 0)
        return;
    if (x->kind == ACCESS_ATOMIC || (x->flags & (ACCESS_VOLATILE | ACCESS_RELAXED | ACCESS_ACQUIRE)))
        prof_spin(w, i);
    if (x->space == SPACE_SHARED) {
        latency = shared_access(p, k, x, s) + (x->owner ? (float)(p->model->l2_cycles * 0.5) : 0);
    } else if (x->space == SPACE_LOCAL) {
        unsigned bytes = x->bytes * (unsigned)__builtin_popcount(x->mask);
        s->local_bytes += bytes;
        k->s.pipe[PIPE_LSU] += (bytes + 127) / 128 - 1;
        latency = (float)p->model->l1_cycles;
    } else if (i->space == SPACE_CONST) {
        latency = (float)p->model->shared_cycles;
    } else {
        latency = global_access(w, p, k, i, x, s);
    }
    if (x->flags & ACCESS_ASYNC) {
        if (x->kind == ACCESS_LOAD)
            c->async_ready[0] = MAX(c->async_ready[0], c->start + latency);
        return;
    }
    const uint32_t *dst = p->prices.refs + price->refs + price->n_src;
    if (x->kind == ACCESS_LOAD) {
        float bytes = (float)(MAX(x->bytes, 4u) * (unsigned)__builtin_popcount(x->mask));
        c->returned = MAX(c->start + latency, c->returned) + bytes / (float)p->model->port_bytes;
        latency = c->returned - c->start;
    }
    for (unsigned n = 0; n < price->n_dst && x->kind != ACCESS_STORE; n++) {
        struct reg_clock *r = &c->regs[dst[n]];
        float ready = c->start + latency;
        *r = (struct reg_clock){c->seen ? MAX(r->ready, ready) : ready, i->self};
    }
    c->seen = true;
}

/* ---- what works beside the threads ---- */

static float prof_now(const struct warp *w)
{
    return frontier(warp_clock(w));
}

static void prof_until(struct warp *w, float time, bool memory)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct warp_clock *c = warp_clock(w);
    float now = frontier(c);
    if (time <= now)
        return;
    p->stats[c->pc].stall += (double)(time - now);
    if (memory)
        c->waited += time - now;
    else
        c->sync += time - now;
    c->last_start = MAX(c->last_start, time);
    c->order = MAX(c->order, time);
}

static void prof_spin(struct warp *w, const struct insn *i)
{
    struct warp_clock *c = warp_clock(w);
    uint32_t bytes = profile_of(w->launch)->module->file_bytes;
    bool again = w->spins > 1 && c->spin_progress == w->launch->progress;
    if (again && !c->spin_regs)
        c->spin_regs = mem_alloc(bytes);
    if (again && c->spin_pc == i->self && !memcmp(c->spin_regs, w->regs, bytes)) {
        c->idle = true;
        return;
    }
    if (again) /* else what the loop begins with is not needed yet */
        memcpy(c->spin_regs, w->regs, bytes);
    c->idle = false;
    c->spin_progress = w->launch->progress;
    c->spin_pc = i->self;
    c->spin_from = c->start;
    c->spin_waited = c->waited;
    c->spin_sample = block_clock(w->block)->s;
}

/* Warps run one after the other, so that one may spin through a whole slice; of that only the first read
 * counts. To wait is to come to the same read with the same registers while nothing in memory changed: who
 * computes, counts or reads on meanwhile works. What it waits for may come later than that; only mbarriers and
 * cluster barriers say when. */
static void prof_spun(struct warp *w)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct warp_clock *c = warp_clock(w);
    struct block_clock *k = block_clock(w->block);
    if (c->spin_progress != w->launch->progress || !c->idle)
        return;
    double *stall = &p->stats[c->spin_pc].stall, spun = (double)(frontier(c) - c->spin_from);
    *stall = MAX(*stall - MAX(spun, 0), 0);
    k->s = c->spin_sample;
    c->block_start = c->last_start = c->order = c->spin_from + p->prices.of[c->spin_pc].latency;
    c->returned = MIN(c->returned, c->block_start);
    c->waited = c->spin_waited;
    c->issued = 0;
    for (uint32_t r = 0; r < p->module->n_slots; r++)
        c->regs[r].ready = MIN(c->regs[r].ready, c->block_start);
}

static float prof_async_ready(const struct warp *w)
{
    const struct warp_clock *c = warp_clock(w);
    float t = frontier(c);
    for (unsigned k = 0; k < ARRAY_LEN(c->async_ready); k++)
        t = MAX(t, c->async_ready[k]);
    return t;
}

/* Lines of 128 bytes that come (or go) one after the other over the SM's link to the L2. a NULL: between two
 * blocks' shared memories. */
static float prof_bulk(struct warp *w, const struct insn *i, struct alloc *a, uint64_t addr, uint32_t bytes,
                       enum access_kind kind)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct block_clock *k = block_clock(w->block);
    struct pc_stats *s = &p->stats[i->self];
    float latency = (float)p->model->l2_cycles;
    double link = p->model->sm_gbs * 1e3 / p->device->sm_clock_mhz; /* bytes a cycle */
    if (a) {
        struct access x = {.kind = (uint8_t)kind, .space = SPACE_GLOBAL};
        struct touched *t = touched_of(p, a);
        for (uint64_t at = addr; at < addr + bytes;) {
            uint64_t line = at / LINE_BYTES, stop = MIN(addr + bytes, (line + 1) * LINE_BYTES);
            unsigned sectors = 0;
            for (; at < stop; at += 16)
                sectors |= 1u << (at / SECTOR_BYTES % 4);
            latency = MAX(latency, l2_access(p, k, &x, t, line, sectors, prof_now(w)));
            s->sectors += (unsigned)__builtin_popcount(sectors);
            s->moved += SECTOR_BYTES * (unsigned)__builtin_popcount(sectors);
        }
        s->requests++;
        s->ideal += (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
        s->used += bytes;
    }
    return frontier(warp_clock(w)) + latency + (float)(bytes / MAX(link, 1));
}

static const double RELEASE_WAYS =
    2.5; /* to the L2; 500 to 1,340 clocks by an H200's samples of two products */

/* barrier.cluster: an arrival is at the others after about half a way to the L2. One that releases is behind a
 * fence of the whole GPU (MEMBAR.ALL.GPU in the machine code). */
static void prof_cluster_arrive(struct warp *w, struct cluster *c, uint32_t m, bool relaxed)
{
    double ways = relaxed ? 0.5 : 0.5 + RELEASE_WAYS;

    (void)m;
    c->arrived = MAX(c->arrived, prof_now(w) + (float)(profile_of(w->launch)->model->l2_cycles * ways));
}

static void prof_cluster_wait(struct warp *w, struct cluster *c, uint32_t m)
{
    (void)m;
    prof_until(w, c->passed, false);
}

static const struct ptx_observer_calls clock_calls = {
    .role = PTX_CLOCK,
    .block_begin = prof_block_begin,
    .block_end = prof_block_end,
    .issue = prof_issue,
    .access = prof_access,
    .spin = prof_spin,
    .spun = prof_spun,
    .barrier = prof_barrier,
    .cluster_arrive = prof_cluster_arrive,
    .cluster_wait = prof_cluster_wait,
    .now = prof_now,
    .async_ready = prof_async_ready,
    .bulk = prof_bulk,
    .until = prof_until,
};

void profile_open(struct ptx_profile *p, const struct ptx_module *m, const struct ptx_device *d,
                  struct ptx_cache *cache)
{
    *p = (struct ptx_profile){
        .observer.calls = &clock_calls, .device = d, .model = cost_model_of(d), .module = m, .cache = cache};
    if (!p->model)
        BUG("device %s is not in the table", d->name);
    p->dram_cycles = p->model->dram_ns * 1e-3 * d->sm_clock_mhz;
    p->stats = mem_zalloc((m->n_code + 1) * sizeof(*p->stats));
    p->concurrent = 1;
    p->probe_axis = -1;
    p->l1_bytes = p->sm_bytes = p->model->l1_bytes;
    p->blocks_an_sm = p->resident = 1;
}

void profile_close(struct ptx_profile *p)
{
    for (size_t k = 0; k < p->l1s.n; k++)
        l1_free(&p->l1s.v[k]);
    vec_free(&p->l1s);
    vec_free(&p->samples);
    vec_free(&p->allocs);
    l2_clear(&p->l2);
    free(p->stats);
}
