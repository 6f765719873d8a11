/* Launches, blocks, warps and their groups of lanes. A warp runs until it waits, ends or its slice is spent;
 * blocks run one after the other, but when one spins (it waits for another block) the next ones come in, as
 * many as a GPU would hold. */
#include "internal.h"

enum {
    SLICE = 1 << 20,       /* instructions a warp may run before the next warp's turn */
    SPIN_READS = 64,       /* synchronising reads in a row that look like waiting */
    GROUP_LOOPS = 1 << 16, /* backward branches after which other groups of the warp get their turn */
    IDLE_TURNS = 20000,    /* turns of blocks without a change in memory that look like a deadlock, */
    IDLE_ROUNDS = 4,       /* if each block had as many */
};
static const uint64_t default_limit = 4000000000ull;

/* ---- findings ---- */

void warp_thread(const struct warp *w, int lane, uint32_t tid[3])
{
    for (int k = 0; k < 3; k++)
        tid[k] = w->tid[k][lane];
}

static enum ptx_end end_of(enum ptx_finding_kind kind)
{
    switch (kind) {
    case PTX_ASSERT:
    case PTX_TRAP:
        return PTX_CRASHED;
    case PTX_LOOP:
    case PTX_DEADLOCK:
        return PTX_HUNG;
    case PTX_LAUNCH:
        return PTX_BAD_LAUNCH;
    case PTX_OPCODE:
        return PTX_UNSUPPORTED;
    default:
        return PTX_UNSAFE;
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static void launch_stop(struct launch *l, enum ptx_end end)
{
    if (!l->stop)
        l->end = end;
    l->stop = true;
}

void fault(struct warp *w, const struct insn *i, int lane, enum ptx_finding_kind kind, uint64_t addr,
           const char *fmt, ...)
{
    struct launch *l = w->launch;
    struct ptx_report *r = l->report;
    w->unspent = MAX(w->fuel, 0);
    w->fuel = 0;
    w->merge_pc = 0;
    if (!l->stop && r->n_findings < ARRAY_LEN(r->findings)) {
        struct ptx_finding *f = &r->findings[r->n_findings++];
        *f = (struct ptx_finding){.kind = kind, .addr = addr};
        copy_text(f->kernel, sizeof(f->kernel), l->args->kernel);
        int at = 0;
        if (i) {
            const char *file = NULL;
            insn_place(l->module, i, &file, &f->line);
            copy_text(f->file, sizeof(f->file), file);
            f->ptx_line = (int)i->ptx_line;
        }
        memcpy(f->block, w->block->id, sizeof(f->block));
        if (lane >= 0)
            warp_thread(w, lane, f->thread);
        va_list ap;
        va_start(ap, fmt);
        at = vsnprintf(f->words, sizeof(f->words), fmt, ap);
        va_end(ap);
        if (lane >= 0 && at >= 0 && (size_t)at < sizeof(f->words))
            snprintf(f->words + at, sizeof(f->words) - (size_t)at, " (block %u,%u,%u thread %u,%u,%u)",
                     f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
    }
    launch_stop(l, end_of(kind));
}

void fault_unsupported(struct warp *w, const struct insn *i, const char *why)
{
    fault(w, i, -1, PTX_OPCODE, 0, "the simulator lacks this instruction: %s%s%s", i->text, why ? ", " : "",
          why ? why : "");
}

static void launch_finding(struct launch *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void launch_finding(struct launch *l, const char *fmt, ...)
{
    struct ptx_finding *f = &l->report->findings[l->report->n_findings++];
    *f = (struct ptx_finding){.kind = PTX_LAUNCH};
    copy_text(f->kernel, sizeof(f->kernel), l->args->kernel);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->words, sizeof(f->words), fmt, ap);
    va_end(ap);
    launch_stop(l, PTX_BAD_LAUNCH);
}

/* ---- groups of lanes ---- */

static void find_merge(struct warp *w)
{
    w->merge_pc = ~0u;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state != GROUP_BARRIER)
            w->merge_pc = MIN(w->merge_pc, w->groups[k].pc);
}

static void group_add(struct warp *w, struct group g)
{
    if (!g.mask)
        return;
    w->groups[w->n_groups++] = g;
    if (g.state != GROUP_BARRIER)
        w->merge_pc = MIN(w->merge_pc, g.pc);
}

void warp_split(struct warp *w, uint32_t lanes, uint32_t pc)
{
    w->mask &= ~lanes;
    group_add(w, (struct group){.pc = pc, .mask = lanes, .penalty = w->penalty});
}

static unsigned group_depth(const struct warp *w, uint32_t mask)
{
    return w->call_depth[__builtin_ctz(mask)];
}

/* Fewer yields first, then the deeper call, then the earlier instruction: so that groups meet again as soon as
 * they can. */
static bool goes_first(const struct warp *w, uint32_t pc, uint32_t mask, uint32_t penalty,
                       const struct group *g)
{
    if (penalty != g->penalty)
        return penalty < g->penalty;
    unsigned mine = group_depth(w, mask), other = group_depth(w, g->mask);
    return mine != other ? mine > other : pc <= g->pc;
}

/* Lanes that wait at .sync for others that have died go on. */
static void release_sync(struct warp *w)
{
    for (uint32_t k = 0; k < w->n_groups; k++) {
        struct group *g = &w->groups[k];
        if (g->state == GROUP_SYNC && !(g->want & ~w->dead & ~g->mask))
            g->state = GROUP_READY;
    }
}

bool warp_switch(struct warp *w)
{
    if (w->launch->stop)
        return false;
    release_sync(w);
    /* groups at the current pc join it */
    for (uint32_t k = 0; w->mask && k < w->n_groups;) {
        struct group *g = &w->groups[k];
        if (g->pc == w->pc && g->state != GROUP_BARRIER && group_depth(w, g->mask) == group_depth(w, w->mask)) {
            w->mask |= g->mask;
            w->penalty = MIN(w->penalty, g->penalty);
            *g = w->groups[--w->n_groups];
            w->back_edges = 0;
        } else {
            k++;
        }
    }
    int best = -1;
    for (uint32_t k = 0; k < w->n_groups; k++) {
        const struct group *g = &w->groups[k];
        if (g->state != GROUP_READY)
            continue;
        if (best < 0 || goes_first(w, g->pc, g->mask, g->penalty, &w->groups[best]))
            best = (int)k;
    }
    if (best >= 0 && !(w->mask && goes_first(w, w->pc, w->mask, w->penalty, &w->groups[best]))) {
        struct group g = w->groups[best], mine = {.pc = w->pc, .mask = w->mask, .penalty = w->penalty};
        if (mine.mask)
            w->groups[best] = mine;
        else
            w->groups[best] = w->groups[--w->n_groups];
        w->pc = g.pc;
        w->mask = g.mask;
        w->penalty = g.penalty;
        w->back_edges = 0;
        for (uint32_t k = 0; k < w->n_groups;) {
            struct group *o = &w->groups[k];
            if (o->pc == w->pc && o->state != GROUP_BARRIER &&
                group_depth(w, o->mask) == group_depth(w, w->mask)) {
                w->mask |= o->mask;
                *o = w->groups[--w->n_groups];
            } else {
                k++;
            }
        }
    }
    find_merge(w);
    if (!w->mask)
        return false;
    /* Groups behind the current one that may not run now must not be asked for at each instruction: the one at
     * the pc that comes next is what matters. */
    uint32_t ahead = ~0u;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state != GROUP_BARRIER && w->groups[k].pc > w->pc)
            ahead = MIN(ahead, w->groups[k].pc);
    w->merge_pc = ahead;
    return true;
}

void warp_branch(struct warp *w, const struct insn *i, uint32_t taken)
{
    uint32_t stay = w->mask & ~taken;
    if ((uint32_t)i->imm <= i->self) { /* the backward side goes on */
        group_add(w, (struct group){.pc = w->pc, .mask = stay, .penalty = w->penalty});
        w->mask = taken;
        w->pc = (uint32_t)i->imm;
        warp_backward(w, i);
    } else {
        group_add(w, (struct group){.pc = (uint32_t)i->imm, .mask = taken, .penalty = w->penalty});
        w->mask = stay;
    }
}

/* After a backward branch: a group that spins lets the others go on; a warp that spins lets the other warps go
 * on. */
void warp_backward(struct warp *w, const struct insn *i)
{
    (void)i;
    if (w->n_groups) {
        find_merge(w); /* groups that were behind are ahead again */
        if (++w->back_edges > GROUP_LOOPS || w->spins > SPIN_READS) {
            uint32_t most = w->penalty;
            for (uint32_t k = 0; k < w->n_groups; k++)
                most = MAX(most, w->groups[k].penalty);
            bool others = false;
            for (uint32_t k = 0; k < w->n_groups; k++)
                others |= w->groups[k].state == GROUP_READY;
            w->back_edges = 0;
            if (others) {
                w->penalty = most + 1;
                w->merge_pc = 0;
            }
        }
    }
    if (w->spins > SPIN_READS) {
        w->spins = 0;
        w->yielded = true;
        w->unspent = w->fuel;
        w->fuel = 0;
    }
}

bool warp_await(struct warp *w, const struct insn *i, uint32_t m, uint32_t want)
{
    if (!(want & ~w->dead & ~m))
        return true;
    uint32_t rest = w->mask & ~m;
    group_add(
        w, (struct group){.pc = i->self, .mask = m, .state = GROUP_SYNC, .want = want, .penalty = w->penalty});
    w->mask = rest;
    w->merge_pc = 0;
    return false;
}

/* bar.warp.sync may be reached at different places: lanes of all groups that wait at one with this mask count.
 */
void warp_sync(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint32_t *masks = REG(uint32_t, w, i->opnds[0].off);
    uint32_t want = masks[__builtin_ctz(m)] & ~w->dead, here = m;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state == GROUP_SYNC && w->launch->module->code[w->groups[k].pc].fn == i->fn &&
            (w->groups[k].want & m))
            here |= w->groups[k].mask;
    if (want & ~here) {
        uint32_t rest = w->mask & ~m;
        group_add(w, (struct group){
                         .pc = i->self, .mask = m, .state = GROUP_SYNC, .want = want, .penalty = w->penalty});
        w->mask = rest;
        w->merge_pc = 0;
        return;
    }
    if (w->launch->san)
        san_warp_sync(w, i, here);
    if (here == m)
        return;
    for (uint32_t k = 0; k < w->n_groups; k++)
        if (w->groups[k].state == GROUP_SYNC && (w->groups[k].mask & here)) {
            w->groups[k].state = GROUP_READY;
            w->groups[k].pc++;
        }
    w->merge_pc = 0;
}

/* ---- barriers ---- */

static uint32_t barrier_threads(const struct block *b, const struct barrier *bar)
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
        arrived[k] = w->bar_mask[id];
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
    if (l->san)
        san_barrier(b, id, arrived, waiting);
    if (l->prof)
        prof_barrier(b, id, arrived, waiting);
}

/* Warps all of whose living lanes came; a warp that is dead altogether counts for a barrier of the whole block.
 */
static bool barrier_complete(const struct block *b, unsigned id)
{
    const struct barrier *bar = &b->bars[id];
    uint32_t threads = 0;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        const struct warp *w = &b->warps[k];
        bool came = w->bar_mask[id] && (w->bar_mask[id] | w->dead) == ~0u;
        if (came || (!bar->expected && w->dead == ~0u))
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
    } else if (bar->pc != i->self && !count && id == 0 && !arrive && w->launch->options->checks) {
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
    if (w->launch->san)
        san_exit(w, lanes);
    w->dead |= lanes;
    w->mask &= ~lanes;
    w->launch->progress++;
    if (!w->mask)
        w->merge_pc = 0;
    if (w->dead == ~0u)
        w->block->live_warps--;
    barriers_check(w->block);
}

/* ---- special registers ---- */

uint64_t special_value(const struct warp *w, enum special s, unsigned lane)
{
    const struct launch *l = w->launch;
    const struct block *b = w->block;
    switch (s) {
    case SPECIAL_tid_x:
    case SPECIAL_tid_y:
    case SPECIAL_tid_z:
        return w->tid[s - SPECIAL_tid_x][lane];
    case SPECIAL_ntid_x:
    case SPECIAL_ntid_y:
    case SPECIAL_ntid_z:
        return l->dim[s - SPECIAL_ntid_x];
    case SPECIAL_ctaid_x:
    case SPECIAL_ctaid_y:
    case SPECIAL_ctaid_z:
        return b->id[s - SPECIAL_ctaid_x];
    case SPECIAL_clusterid_x:
    case SPECIAL_clusterid_y:
    case SPECIAL_clusterid_z:
        return b->id[s - SPECIAL_clusterid_x];
    case SPECIAL_nctaid_x:
    case SPECIAL_nctaid_y:
    case SPECIAL_nctaid_z:
        return l->grid[s - SPECIAL_nctaid_x];
    case SPECIAL_nclusterid_x:
    case SPECIAL_nclusterid_y:
    case SPECIAL_nclusterid_z:
        return l->grid[s - SPECIAL_nclusterid_x];
    case SPECIAL_laneid:
        return lane;
    case SPECIAL_warpid:
        return w->index;
    case SPECIAL_nwarpid:
        return (uint64_t)l->options->device->max_threads_per_sm / 32;
    case SPECIAL_smid:
        return b->linear % (uint64_t)MAX(l->options->device->sm_count, 1);
    case SPECIAL_nsmid:
        return (uint64_t)l->options->device->sm_count;
    case SPECIAL_gridid:
        return 1;
    case SPECIAL_lanemask_eq:
        return 1u << lane;
    case SPECIAL_lanemask_lt:
        return (1u << lane) - 1;
    case SPECIAL_lanemask_le:
        return (2u << lane) - 1;
    case SPECIAL_lanemask_gt:
        return (uint32_t) ~((2u << lane) - 1);
    case SPECIAL_lanemask_ge:
        return (uint32_t) ~((1u << lane) - 1);
    case SPECIAL_clock:
    case SPECIAL_clock64:
        return l->issued + (uint64_t)(SLICE - w->fuel);
    case SPECIAL_globaltimer:
    case SPECIAL_globaltimer_lo:
        return 1000000000ull + l->issued + (uint64_t)(SLICE - w->fuel);
    case SPECIAL_dynamic_smem_size:
        return l->shared_dynamic;
    case SPECIAL_envreg1: /* where cooperative groups keep a grid's barrier: high and low half of the address */
        return l->grid_workspace >> 32;
    case SPECIAL_envreg2:
        return (uint32_t)l->grid_workspace;
    case SPECIAL_total_smem_size:
    case SPECIAL_aggr_smem_size:
        return l->shared_bytes;
    case SPECIAL_cluster_nctaid_x:
    case SPECIAL_cluster_nctaid_y:
    case SPECIAL_cluster_nctaid_z:
    case SPECIAL_cluster_nctarank:
        return 1;
    default:
        return 0;
    }
}

static void const_write(struct warp *w, const struct const_reg *c)
{
    uint64_t v = c->value;
    if (c->kind == CONST_VAR) {
        const struct var *var = c->var;
        uint64_t base = var->space == SPACE_GLOBAL || var->space == SPACE_CONST ? w->launch->image : 0;
        if (var->space == SPACE_SHARED && var->is_extern)
            base = w->launch->shared_static;
        v += base + var->addr;
    }
    if (!c->bytes) {
        *REG(uint32_t, w, c->off) =
            (c->kind == CONST_SPECIAL ? special_value(w, (enum special)v, 0) : v) ? ~0u : 0;
        return;
    }
    uint64_t x[32];
    for (unsigned lane = 0; lane < 32; lane++)
        x[lane] = c->kind == CONST_SPECIAL ? special_value(w, (enum special)v, lane) : v;
    for (unsigned lane = 0; lane < 32; lane++)
        if (c->bytes == 2)
            REG(uint16_t, w, c->off)[lane] = (uint16_t)x[lane];
        else if (c->bytes == 4)
            REG(uint32_t, w, c->off)[lane] = (uint32_t)x[lane];
        else
            REG(uint64_t, w, c->off)[lane] = x[lane];
    if (c->bytes == 16)
        memset(&REG(uint64_t, w, c->off)[32], 0, 256);
}

/* ---- blocks ---- */

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
        int64_t slice = (int64_t)MIN((uint64_t)SLICE, l->limit - l->issued);
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
static void run_blocks(struct launch *l)
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
        do
            state = block_turn(b);
        while (state == BLOCK_RUNS && !l->stop);
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

/* ---- launches ---- */

static bool launch_fits(struct launch *l)
{
    const struct ptx_device *d = l->options->device;
    const struct func *f = l->entry;
    static const uint32_t grid_most[3] = {0x7fffffff, 65535, 65535}, block_most[3] = {1024, 1024, 64};
    for (int k = 0; k < 3; k++) {
        if (!l->grid[k] || l->grid[k] > grid_most[k]) {
            launch_finding(l, "grid %u x %u x %u: dimension %c must be from 1 to %u", l->grid[0], l->grid[1],
                           l->grid[2], "xyz"[k], grid_most[k]);
            return false;
        }
        if (!l->dim[k] || l->dim[k] > block_most[k]) {
            launch_finding(l, "block %u x %u x %u: dimension %c must be from 1 to %u", l->dim[0], l->dim[1],
                           l->dim[2], "xyz"[k], block_most[k]);
            return false;
        }
    }
    uint64_t threads = (uint64_t)l->dim[0] * l->dim[1] * l->dim[2];
    if (threads > (uint64_t)d->max_threads_per_block) {
        launch_finding(l, "%llu threads in a block; the device has at most %d", (unsigned long long)threads,
                       d->max_threads_per_block);
        return false;
    }
    l->threads = (uint32_t)threads;
    const uint32_t *most = f->info.max_threads, *req = f->info.req_threads;
    if (most[0] && threads > (uint64_t)most[0] * most[1] * most[2]) {
        launch_finding(l, "%llu threads in a block; the kernel's launch bounds allow %llu",
                       (unsigned long long)threads, (unsigned long long)most[0] * most[1] * most[2]);
        return false;
    }
    if (req[0] && (req[0] != l->dim[0] || req[1] != l->dim[1] || req[2] != l->dim[2])) {
        launch_finding(l, "the kernel requires blocks of %u x %u x %u threads", req[0], req[1], req[2]);
        return false;
    }
    uint64_t shared = (uint64_t)l->shared_static + l->args->shared_bytes;
    if (shared > d->shared_per_block_optin) {
        launch_finding(l, "%llu bytes of shared memory; a block of the device has at most %u",
                       (unsigned long long)shared, d->shared_per_block_optin);
        return false;
    }
    if (l->options->registers &&
        (uint64_t)l->options->registers * ((threads + 31) / 32 * 32) > d->registers_per_sm) {
        launch_finding(l, "%u registers for each of %llu threads are more than the device's %u",
                       l->options->registers, (unsigned long long)threads, d->registers_per_sm);
        return false;
    }
    l->n_blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    int per_sm = ptx_occupancy(d, l->options->registers, (uint32_t)shared, (uint32_t)threads);
    uint64_t resident = (uint64_t)MAX(per_sm, 1) * (uint64_t)MAX(d->sm_count, 1);
    if (l->args->cooperative && l->n_blocks > resident) {
        launch_finding(l, "a cooperative launch of %llu blocks; the device holds %llu at once",
                       (unsigned long long)l->n_blocks, (unsigned long long)resident);
        return false;
    }
    l->max_resident = (uint32_t)MIN(resident, 1u << 20);
    return true;
}

bool ptx_run(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *args,
             const struct ptx_options *o, struct ptx_report *r, struct err *err)
{
    struct launch l = {.module = m, .mem = mem, .args = args, .options = o, .report = r};
    for (size_t k = 0; k < m->n_funcs && !l.entry; k++)
        if (m->funcs[k].is_entry && m->funcs[k].has_body && !strcmp(m->funcs[k].name, args->kernel))
            l.entry = &m->funcs[k];
    if (!l.entry)
        return err_world(err, "%s has no kernel %s", m->name, args->kernel);
    const struct func *f = l.entry;
    if (args->n_args != f->n_params)
        return err_world(err, "%s takes %zu parameters, %zu were given", args->kernel, f->n_params,
                         args->n_args);
    *r = (struct ptx_report){0};
    memcpy(l.grid, args->grid, sizeof(l.grid));
    memcpy(l.dim, args->block, sizeof(l.dim));
    uint32_t align = 16;
    l.shared_static = (f->shared_bytes + align - 1) / align * align;
    for (size_t k = 0; k < m->n_vars; k++)
        if (m->vars[k]->space == SPACE_SHARED && m->vars[k]->is_extern)
            l.shared_static = (l.shared_static + m->vars[k]->align - 1) & ~(MAX(m->vars[k]->align, 1) - 1);
    l.shared_dynamic = args->shared_bytes;
    l.shared_bytes = l.shared_static + l.shared_dynamic;
    l.local_bytes = (f->local_bytes + 15) / 16 * 16;
    if (m->recurses)
        l.local_bytes += m->frame_bytes * MAX_CALL_DEPTH;
    if (!launch_fits(&l)) {
        r->end = l.end;
        return true;
    }
    l.n_warps = (l.threads + 31) / 32;
    l.limit = o->max_warp_insns ? o->max_warp_insns : default_limit;
    l.image = mem_image(mem, m, err);
    if (m->image_bytes && !l.image)
        return false;
    if (args->cooperative) {
        struct ptx_buffer workspace = {.name = "grid workspace", .size_bytes = 64, .initialised = true};
        l.grid_workspace = ptx_mem_alloc(mem, &workspace, err);
        if (!l.grid_workspace)
            return false;
    }
    l.params = mem_zalloc(f->param_bytes + 64);
    for (size_t k = 0; k < f->n_params; k++)
        memcpy(l.params + f->params[k].off, args->args[k], f->params[k].bytes);
    l.last_alloc = mem_zalloc((m->n_code + 1) * sizeof(*l.last_alloc));
    bool ok = san_begin(&l, err) && prof_begin(&l, err);
    l.watched = l.san || l.prof;
    if (ok)
        run_blocks(&l);
    if (l.san)
        san_end(&l);
    if (l.prof)
        prof_end(&l);
    r->end = l.stop ? l.end : PTX_DONE;
    r->warp_insns = l.issued;
    free(l.last_alloc);
    free(l.params);
    if (l.grid_workspace)
        ptx_mem_free(mem, l.grid_workspace);
    return ok;
}

void ptx_report_clear(struct ptx_report *r)
{
    if (r->printed) {
        str_free(r->printed);
        free(r->printed);
    }
    *r = (struct ptx_report){0};
}
