/* The loop that executes a warp, and the instructions that change its course. */
#include "ptx/machine/async.h"
#include "exec.h"

/* ---- the loop ---- */

static inline void note(const struct warp *w, const struct insn *i, uint32_t m)
{
    unsigned ran = (m ? RAN_EXECUTED : 0u) | (m != w->mask ? RAN_GUARDED : 0u);
    if (i->op == OP_selp)
        ran |= (PRED(w, i->c) & m ? RAN_FIRST : 0u) | (~PRED(w, i->c) & m ? RAN_SECOND : 0u);
    w->launch->ran[i->self] |= (uint8_t)ran;
}

static inline __attribute__((always_inline)) void run(struct warp *w, bool watched, bool noted)
{
    const struct insn *code = w->launch->module->code;
    const struct ptx_observer *checker = w->launch->observer[PTX_CHECKER],
                              *clock = w->launch->observer[PTX_CLOCK];
    uint64_t lanes = 0;
    while (w->fuel > 0) {
        uint32_t pc = w->pc;
        if (__builtin_expect(pc >= w->merge_pc, 0)) {
            if (!warp_switch(w))
                break;
            pc = w->pc;
        }
        const struct insn *i = &code[pc];
        uint32_t m = w->mask & (PRED(w, i->guard) ^ i->guard_not);
        w->pc = pc + 1;
        w->fuel--;
        lanes += (unsigned)__builtin_popcount(m);
        if (noted)
            note(w, i, m);
        if (watched && w->followed)
            checker->calls->use(w, i, m); /* a guard may let nobody through */
        if (!m)
            continue;
        if (watched && clock)
            clock->calls->issue(w, i, m);
        i->fn(w, i, m);
        if (watched && checker && (w->followed || (m != ~0u && i->op == OP_shfl)))
            checker->calls->insn(w, i, m);
    }
    w->lane_insns += lanes;
}

void ISA(warp_loop)(struct warp *w)
{
    bool noted = w->launch->ran;
    if (w->launch->watched && noted)
        run(w, true, true);
    else if (w->launch->watched)
        run(w, true, false);
    else if (noted)
        run(w, false, true);
    else
        run(w, false, false);
}

/* ---- branches ---- */

static void branch_forward(struct warp *w, const struct insn *i, uint32_t m)
{
    if (m == w->mask)
        w->pc = (uint32_t)i->imm;
    else
        warp_branch(w, i, m);
}

static void branch_backward(struct warp *w, const struct insn *i, uint32_t m)
{
    if (m == w->mask) {
        w->pc = (uint32_t)i->imm;
        if (__builtin_expect(w->launch->options->leaps != NULL, 0))
            warp_leap(w, i);
        if (w->n_groups || w->spins)
            warp_backward(w, i);
    } else {
        warp_branch(w, i, m);
    }
}

static void branch_table(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct opnd *t = &i->opnds[1];
    const uint32_t *index = REG(uint32_t, w, i->d);
    if (w->mask & ~m)
        warp_split(w, w->mask & ~m, w->pc);
    while (m) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint32_t same = 0;
        for (unsigned l = 0; l < 32; l++)
            same |= (m >> l & 1) && index[l] == index[lane] ? 1u << l : 0;
        if (index[lane] >= (uint64_t)t->imm) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, 0, "a jump to entry %u of a table of %lld", index[lane],
                  (long long)t->imm);
            return;
        }
        uint32_t pc = (uint32_t)t->vec[index[lane]].imm;
        m &= ~same;
        if (m)
            warp_split(w, same, pc);
        else
            w->pc = pc;
    }
    w->merge_pc = w->n_groups ? 0 : w->merge_pc;
}

static void leave(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)i;
    warp_exit(w, m);
}

static void give_back(struct warp *w, const struct insn *i, uint32_t m)
{
    warp_return(w, i, m);
}

static void call(struct warp *w, const struct insn *i, uint32_t m)
{
    warp_call(w, i, m);
}

static void trap(struct warp *w, const struct insn *i, uint32_t m)
{
    fault(w, i, __builtin_ctz(m), PTX_TRAP, 0, "trap executed");
}

static void nap(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)i, (void)m;
    w->spins += 8;
}

exec_fn *ISA(select_control)(struct insn *i)
{
    switch (i->op) {
    case OP_bra:
        return (uint32_t)i->imm > i->self ? branch_forward : branch_backward;
    case OP_brx:
        return insn_has(i, MOD_idx) && i->opnds[0].bytes == 4 && i->opnds[0].kind == OPND_REG ? branch_table
                                                                                              : NULL;
    case OP_call:
        return call;
    case OP_ret:
    case OP_bound_end:
        return give_back;
    case OP_exit:
        return leave;
    case OP_trap:
        return trap;
    case OP_nanosleep:
        return nap;
    default:
        return NULL;
    }
}

/* ---- barriers and order ---- */

static void block_barrier(struct warp *w, const struct insn *i, uint32_t m)
{
    warp_barrier(w, i, m);
}

static void lane_barrier(struct warp *w, const struct insn *i, uint32_t m)
{
    warp_sync(w, i, m);
}

static void arrive_at_cluster(struct warp *w, const struct insn *i, uint32_t m)
{
    cluster_arrive(w, i, m);
}

static void wait_for_cluster(struct warp *w, const struct insn *i, uint32_t m)
{
    cluster_wait(w, i, m);
}

exec_fn *ISA(select_barrier)(struct insn *i)
{
    for (unsigned k = 0; k < i->n_opnds; k++)
        if (i->opnds[k].kind != OPND_REG)
            return NULL;
    if (insn_has(i, MOD_cluster))
        return i->n_opnds || i->op != OP_barrier
                   ? NULL
                   : BY_MOD(i, {MOD_arrive, arrive_at_cluster}, {MOD_wait, wait_for_cluster});
    if (insn_has(i, MOD_warp))
        return i->n_opnds == 1 && i->opnds[0].bytes == 4 ? lane_barrier : NULL;
    bool red = insn_has(i, MOD_red);
    unsigned first = red ? 1 : 0, last = i->n_opnds - (red ? 1u : 0);
    if (i->n_opnds < 1 + 2 * first || last - first > 2)
        return NULL;
    for (unsigned k = first; k < last; k++)
        if (i->opnds[k].bytes != 4)
            return NULL;
    if (red && (i->opnds[i->n_opnds - 1].bytes || i->opnds[0].bytes != (insn_has(i, MOD_popc) ? 4 : 0)))
        return NULL;
    return block_barrier;
}

static void fence(struct warp *w, const struct insn *i, uint32_t m)
{
    OBSERVE(w->launch, fence, w, i, m);
}

static void proxy_fence(struct warp *w, const struct insn *i, uint32_t m)
{
    OBSERVE(w->launch, proxy_fence, w, i, m);
}

/* Launches run one after the other here: what lies ahead has ended. */
static void grid_wait(struct warp *w, const struct insn *i, uint32_t m)
{
    OBSERVE(w->launch, grid_wait, w, i, m);
}

static void launch_dependents(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)w, (void)i, (void)m;
}

/* fence.mbarrier_init counts as a whole fence, which may hide a race but invents none. */
exec_fn *ISA(select_fence)(struct insn *i)
{
    if (i->op == OP_griddepcontrol)
        return BY_MOD(i, {MOD_launch_dependents, launch_dependents}, {MOD_wait, grid_wait});
    if (insn_has(i, MOD_proxy))
        return insn_has(i, MOD_async) && !insn_has(i, MOD_tensormap) ? proxy_fence : NULL;
    return insn_has(i, MOD_async) || insn_has(i, MOD_tensormap) ? NULL : fence;
}

/* ---- all ---- */

exec_fn *ISA(select)(struct insn *i)
{
    switch (i->op) {
#define OP(id, text, operands, widths, unit, price, flops, rounding, real, shadow, undef, bits, select) \
    case OP_##id:                                                                                       \
        return ISA(select_##select)(i);
#include "ptx/op.def"
#undef OP
    default:
        return NULL;
    }
}
