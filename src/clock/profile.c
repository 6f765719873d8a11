/* The observer of timed launches: counts per instruction, and one clock per warp.
 *
 * A warp's clock is that of a compiler that orders each basic block well: an instruction starts when its
 * operands are there, not before the block's start and the issue slots ahead of it; loads do not move above
 * earlier stores, atomics and barriers. The next block starts when the last instruction of this one has
 * started. So a load costs nothing until its first use, and a loop whose loads wait for each other costs their
 * whole latencies. */
#include "warp_clock.h"

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
    *k = (struct block_clock){
        .kept.drop = kept_free, .s.linear = b->linear, .number = p->block_number++, .touched = p->frames};
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
enum { N_PLAIN = 4 };
static const enum pipe plain[N_PLAIN] = {PIPE_FP32, PIPE_FP16, PIPE_ALU, PIPE_MUL};

static bool is_plain(uint8_t pipe)
{
    for (int q = 0; q < N_PLAIN; q++)
        if (plain[q] == pipe)
            return true;
    return false;
}

/* The latency that a pass waits for each time it waits. A pass waits for several loads at once, and for the
 * slowest of them: where some of a loop's loads come from far away most of its waits have one of those. */
static float waited_for(const struct ptx_profile *p, const struct warp_clock *c, const struct loop_form *f)
{
    float near = (float)p->model->l1_cycles, far = c->slowest, mean = c->loaded / (float)MAX(c->loads, 1u);
    float waits = (f->cycles[LOOP_POINTS - 1] - f->cycles[0]) / ((LOOP_POINTS - 1) * LOOP_STEP);
    float at_once = (float)(c->loads * f->turns) / (float)c->turns / MAX(waits, 1);

    if (!c->loads || far <= near || mean >= far)
        return mean;
    float share = CLAMP((mean - near) / (far - near), 0, 1);
    return near + (far - near) * (1 - powf(1 - share, MAX(at_once, 1)));
}

/* The machine code runs in its order, from t on, with the loads that the warp has had: when it is at its end.
 * Data come through the port in the order in which loads start. */
static float run_replay(const struct replay *r, struct warp_clock *c, float t, float near)
{
    float ready[REPLAYED];
    unsigned load = 0;

    for (unsigned k = 0; k < r->n_steps; k++) {
        const struct replay_step *s = &r->steps[k];
        for (unsigned q = 0; q < N_COUNTERS; q++)
            if (s->waits >> q & 1)
                t = MAX(t, c->counters[q]);
        float at = t + s->takes;
        if (s->takes < 0) {
            const struct loaded *l = &c->recent[load];
            at = t + l->latency;
            for (unsigned q = 0; l->leader && q < load; q++)
                if (c->recent[q].number == l->leader)
                    at = MAX(t + near, ready[q]);
            at = MAX(at, c->came) + l->takes;
            ready[load++] = c->came = at;
        }
        if (s->sets < N_COUNTERS)
            c->counters[s->sets] = MAX(c->counters[s->sets], at);
        t += s->after;
    }
    return t;
}

static bool is_replay(const struct replay *r, const struct warp_clock *c)
{
    return r->n_steps && c->n_recent <= REPLAYED && r->loads == c->n_recent && r->stores == c->n_stores;
}

/* Do jumps pass over most of it, and no loads or stores that would tell whether they did? */
static bool is_open(const struct loop_form *f)
{
    return f->least.n_steps < f->whole.n_steps / 2 && f->whole.loads == f->least.loads &&
           f->whole.stores == f->least.stores;
}

static const double NEARLY = 0.8;

static void forget_loads(struct warp_clock *c)
{
    c->loads = c->n_recent = c->n_stores = 0;
    c->loaded = c->slowest = c->beyond = 0;
}

/* Straight code takes no less than its machine code, where the warp ran nearly all of it. */
static void enter_section(struct ptx_profile *p, struct warp_clock *c, uint16_t section)
{
    const struct section *s = c->section ? &p->prices.sections[c->section] : NULL;

    if (s && c->stepped >= NEARLY * s->n && is_replay(&s->replay, c)) {
        float late = run_replay(&s->replay, c, c->settled, (float)p->model->l1_cycles) - frontier(c);
        if (late > 0) {
            close_block(c, late);
            c->waited += c->n_recent ? late : 0;
        }
    }
    c->section = section;
    c->stepped = 0;
    if (!section)
        return;
    c->settled = frontier(c);
    memset(c->counters, 0, sizeof(c->counters));
    forget_loads(c);
}

/* The loop's turns were done so many clocks earlier, and what they started. */
static void pull_back(struct ptx_profile *p, struct warp_clock *c, float late)
{
    float now = frontier(c) - late;

    for (uint32_t r = 0; r < p->module->n_slots; r++)
        if (c->regs[r].ready > now)
            c->regs[r].ready = MAX(c->regs[r].ready - late, now);
    c->block_start = c->last_start = now;
    c->order = MIN(c->order, now);
    c->order_shared = MIN(c->order_shared, now);
    c->issued = 0;
}

/* A loop's turns take no less than its machine code, which is in order: of the forms with several turns as many
 * passes as there are whole ones, the rest by the shorter forms. Latencies of memory are those that the turns
 * had. */
static void settle_loop(struct ptx_profile *p, struct warp_clock *c)
{
    const struct loop_price *l = &p->prices.loops[c->loop];
    float t = 0;
    unsigned left = c->turns;
    bool exact = false;

    for (unsigned k = 0; k < l->n_forms && left > 0; k++) {
        const struct loop_form *f = &l->forms[k];
        bool whole = is_replay(&f->whole, c) && !is_open(f);
        if (f->turns == c->turns && (whole || is_replay(&f->least, c))) {
            t = run_replay(whole ? &f->whole : &f->least, c, c->settled, (float)p->model->l1_cycles) -
                c->settled;
            exact = whole;
            break;
        }
        float at = CLAMP(waited_for(p, c, f) / LOOP_STEP, 0, LOOP_POINTS - 1.001f);
        unsigned low = (unsigned)at, passes = left / f->turns;
        t += (float)passes * (f->cycles[low] + (at - (float)low) * (f->cycles[low + 1] - f->cycles[low]));
        left -= passes * f->turns;
    }
    float late = c->settled + t - frontier(c);
    if (late > 0) {
        close_block(c, late);
        c->waited += c->loads ? late : 0;
    } else if (exact && late + c->beyond + c->slowest < 0) {
        pull_back(p, c, -late - c->beyond - c->slowest);
    }
    c->settled = frontier(c);
    c->turns = 0;
    forget_loads(c);
}

static void enter_loop(struct warp_clock *c, uint16_t loop)
{
    c->loop = loop;
    c->settled = frontier(c);
    c->turns = 0;
    memset(c->counters, 0, sizeof(c->counters));
    forget_loads(c);
}

static void prof_block_end(struct block *b)
{
    struct ptx_profile *p = profile_of(b->launch);
    struct block_clock *k = block_clock(b);
    for (uint32_t w = 0; w < b->n_warps; w++) {
        struct warp_clock *c = warp_clock(&b->warps[w]);
        if (c->section)
            enter_section(p, c, 0);
        double end = frontier(c);
        k->s.warp_cycles += end;
        p->touches += c->touches;
        p->touched_in += end;
        k->s.sync += c->sync;
        if (end >= k->s.cycles) {
            k->s.cycles = end;
            k->s.memory_wait = c->waited;
        }
    }
    if (p->samples.n == 0)
        p->block_bytes = k->s.l2_read;
    vec_push(&p->samples, k->s);
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
    c->stepped++;
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
    if ((x->is_load && !insn_has(i, MOD_nc)) || x->is_order) /* nobody writes what .nc reads */
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
    if (x->ends_block && !c->merged) {
        close_block(c, executed ? x->latency : 0);
        c->beyond += executed ? x->latency : 0;
    }
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

/* A routine's instructions wait for each other, and the warp for all of them: ray_sphere's original, 4096 rays.
 */
static const float ROUTINE_CYCLES = 7;

/* What a division or a root computes is there when the routine comes back; about half of it is integers. */
static void call_rare(struct ptx_profile *p, struct warp *w, struct warp_clock *c, const struct insn *i,
                      uint32_t m)
{
    const struct price *x = &p->prices.of[i->self];
    struct block_clock *k = block_clock(w->block);
    float slots = rare_slots(w, i, x->rare, m), before = frontier(c);

    if (slots <= 0)
        return;
    close_block(c, x->latency + slots * ROUTINE_CYCLES);
    for (unsigned n = 0; n < x->n_dst; n++)
        c->regs[p->prices.refs[x->refs + x->n_src + n]].ready = c->block_start;
    k->s.slots += (double)slots;
    k->s.pipe[PIPE_ALU] += (double)slots / 2 * 32 / p->model->lanes_alu;
    c->settled += frontier(c) - before; /* no part of a loop's turn in line */
    p->stats[i->self].stall += (double)(frontier(c) - before);
}

/* Did the warp pass these instructions as no lane's guard held? Else other lanes go on, which had come apart.
 */
static bool is_guarded_off(const struct ptx_profile *p, uint32_t from, uint32_t to)
{
    if (to <= from || to - from >= 256 || p->prices.of[from - 1].is_branch)
        return false;
    while (from < to && p->prices.of[from].has_guard)
        from++;
    return from == to;
}

static void prof_issue(struct warp *w, const struct insn *i, uint32_t m)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct warp_clock *c = warp_clock(w);
    struct block_clock *k = block_clock(w->block);
    uint32_t pc = i->self;

    if (is_guarded_off(p, c->next_pc, pc))
        while (c->next_pc < pc)
            step(p, k, c, c->next_pc++, false);
    else if (pc != c->next_pc && !c->merged)
        close_block(c, 0);
    if (c->apart > 0 && m != c->mask)
        close_block(c, c->apart);
    c->apart = p->prices.of[pc].apart;
    c->mask = m;
    if (c->turned && pc == c->next_pc) { /* the loop has ended */
        settle_loop(p, c);
        c->loop = 0;
        c->trips = 0;
    }
    c->turned = 0;
    if (c->section != p->prices.of[pc].section)
        enter_section(p, c, p->prices.of[pc].section);
    if (p->prices.of[pc].head && c->loop != p->prices.of[pc].head)
        enter_loop(c, p->prices.of[pc].head);
    c->next_pc = pc + 1;
    p->stats[pc].issues += 1;
    p->stats[pc].lanes += (double)(unsigned)__builtin_popcount(m);
    step(p, k, c, pc, true);
    if (p->prices.of[pc].rare)
        call_rare(p, w, c, i, m);
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
        c->beyond += MAX(latest - frontier(c), 0);
        c->block_start = c->last_start = c->order = latest;
        c->issued = 0;
    }
}

/* ---- memory ---- */

/* That a register of a warp takes on its way from the shared memory and from the L1, whatever lanes share:
 * eight loads of 4 bytes a lane that a lone warp waits for take 70 and 94 clocks, of 16 bytes 104 to 115 and
 * 157 (shares.csv); the latencies are 10.6 apart. */
static const float SHARED_REGISTER = 2, L1_REGISTER = 3;

/* Constants at places that differ come one after the other: so many clocks of the SM each, so many more until
 * they are there (places.csv, constants; with issue_share 2). */
static const double CONST_PLACE = 1.85;
static const float CONST_WAIT = 11;

static void prof_spin(struct warp *w, const struct insn *i);

static void prof_access(struct warp *w, const struct insn *i, const struct access *x)
{
    struct ptx_profile *p = profile_of(w->launch);
    struct warp_clock *c = warp_clock(w);
    struct block_clock *k = block_clock(w->block);
    const struct price *price = &p->prices.of[i->self];
    struct pc_stats *s = &p->stats[i->self];
    unsigned lines = 1, words = 0; /* of the L2's */
    float latency;
    if (x->mask == 0)
        return;
    if (x->kind == ACCESS_ATOMIC || (x->flags & (ACCESS_VOLATILE | ACCESS_RELAXED | ACCESS_ACQUIRE)))
        prof_spin(w, i);
    if (x->space == SPACE_SHARED) {
        latency = shared_access(p, k, x, price, s) + (x->owner ? (float)(p->model->l2_cycles * 0.5) : 0);
    } else if (x->space == SPACE_LOCAL) {
        unsigned bytes = x->bytes * (unsigned)__builtin_popcount(x->mask);
        s->local_bytes += bytes;
        k->moved += bytes * (x->kind == ACCESS_LOAD ? local_missed(p) : 1);
        k->s.pipe[PIPE_LSU] += (bytes + 127) / 128 - 1;
        latency = (float)p->model->l1_cycles;
    } else if (i->space == SPACE_CONST) {
        unsigned places;
        (void)access_words(x, &places);
        k->s.pipe[PIPE_CONST] += places > 1 ? CONST_PLACE * places : 0;
        latency = (float)p->model->shared_cycles + CONST_WAIT * (float)(places - 1);
    } else {
        latency = global_access(w, p, k, i, x, &lines, &words);
    }
    c->n_stores += x->kind == ACCESS_STORE && x->space == SPACE_GLOBAL;
    if (x->kind != ACCESS_LOAD || x->flags & ACCESS_ASYNC)
        latency += (float)(lines - 1);
    else if (c->start >= c->storing) /* what a warp asks for goes its way in order */
        latency += MAX(c->stored - c->start, 0);
    if (x->kind == ACCESS_STORE) {
        c->storing = c->start;
        c->stored = MAX(c->stored, c->start) + (float)lines;
    }
    if (x->flags & ACCESS_ASYNC) {
        if (x->kind == ACCESS_LOAD)
            c->async_ready[0] = MAX(c->async_ready[0], c->start + latency);
        return;
    }
    if (price->retries) /* in a loop of the machine code */
        c->last_start = MAX(c->last_start, c->start + latency);
    const uint32_t *dst = p->prices.refs + price->refs + price->n_src;
    if (x->kind == ACCESS_LOAD) {
        float takes = MAX((float)(4 * words) / (float)p->model->port_bytes, (float)lines);
        float each = x->space == SPACE_SHARED ? SHARED_REGISTER : L1_REGISTER;
        takes = MAX(takes, each * (float)MAX(x->bytes / 4, 1u));
        if (x->space == SPACE_GLOBAL && i->space != SPACE_CONST && c->n_recent++ < REPLAYED)
            c->recent[c->n_recent - 1] = (struct loaded){p->load, c->leader, latency, takes};
        struct port *port = &c->ports[x->space == SPACE_GLOBAL];
        if (c->start >= port->asked) { /* data come through it in the order in which loads start */
            port->returned = MAX(c->start + latency, port->returned) + takes;
            port->asked = c->start;
            latency = port->returned - c->start;
        } else {
            latency += takes;
        }
    }
    if (x->kind == ACCESS_ATOMIC)
        c->beyond = INFINITY;
    else if (x->space != SPACE_GLOBAL)
        c->beyond += MAX(latency - (float)p->model->shared_cycles, 0);
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
    c->beyond = INFINITY;
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
    for (unsigned q = 0; q < ARRAY_LEN(c->ports); q++)
        c->ports[q] =
            (struct port){MIN(c->ports[q].returned, c->block_start), MIN(c->ports[q].asked, c->block_start)};
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

/* What a bulk load takes of DRAM's lines; 1.15 take as long as the bytes do. Fitted to one kernel: 134,217,728
 * floats in pages of 16 KB took an H200 274 us, and are modelled at 259 without. */
static const double BULK_LINES = 1.28;

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
        const double before = k->s.dram_lines;
        k->asking = warp_clock(w);
        k->warps = w->block->n_warps;
        k->spread = false;
        for (uint64_t at = addr; at < addr + bytes;) {
            uint64_t line = at / LINE_BYTES, stop = MIN(addr + bytes, (line + 1) * LINE_BYTES);
            unsigned sectors = 0;
            for (; at < stop; at += 16)
                sectors |= 1u << (at / SECTOR_BYTES % 4);
            const float line_latency = l2_access(p, k, &x, t, line, sectors, prof_now(w)); /* counts it */
            latency = MAX(latency, line_latency);
            s->sectors += (unsigned)__builtin_popcount(sectors);
            s->moved += SECTOR_BYTES * (unsigned)__builtin_popcount(sectors);
        }
        k->s.dram_lines += (k->s.dram_lines - before) * (BULK_LINES - 1);
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

/* Who acquires from other SMs reads nothing any more that was in its L1 before (CCTL.IVALL in the machine
 * code).
 */
static void prof_cluster_wait(struct warp *w, struct cluster *c, uint32_t m)
{
    (void)m;
    prof_until(w, c->passed, false);
    warp_clock(w)->acquired = prof_now(w);
}

static void prof_fence(struct warp *w, const struct insn *i, uint32_t m)
{
    if (m && !insn_has(i, MOD_cta))
        warp_clock(w)->acquired = prof_now(w);
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
    .fence = prof_fence,
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
    vec_free(&p->counts);
    l2_clear(&p->l2);
    free(p->stats);
}
