/* Programmatic dependent launches: what a kernel does before it has waited for those ahead of it.
 *
 * PTX: griddepcontrol.wait holds the thread that executes it until all kernels ahead have completed and what
 * they did to memory is visible to the grid. So a thread comes behind the wait when it executes it, or behind a
 * barrier (of the block, the warp, the cluster, an mbarrier) at which such a thread arrived. Until then it may
 * write nothing, since a kernel ahead may still read it, and read only what none of them writes. A kernel that
 * ends has waited with one thread at least: each launch behind it knows of its end alone, and would else
 * overtake what is two ahead. More than one is not asked for, as a grid has not ended before all its threads
 * have. launch_dependents orders nothing.
 */
#include "sanitize_internal.h"

void dependent_wait(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)i;
    san_warp(w)->behind |= mask;
    san_of(w->launch)->waited = true;
}

/* Bytes of global memory, used by a lane that is not behind the wait. */
static void check(struct warp *w, const struct insn *i, uint32_t lane, bool write, uint64_t addr,
                  uint64_t bytes)
{
    static const char cure[] = "before the thread has waited for the kernel ahead (griddepcontrol.wait, "
                               "cudaGridDependencySynchronize)";
    const struct launch *l = w->launch;
    const struct sanitize_ahead *ahead = san_of(l)->ahead;
    const struct alloc *a = mem_find(l->mem, addr);
    char place[128];

    san_place_words(l, SPACE_GLOBAL, addr, place, sizeof(place));
    if (write)
        fault(w, i, (int)lane, PTX_EARLY, addr, "%s is written %s, which may still use it", place, cure);
    else if (ahead->written(ahead->context, addr, bytes))
        fault(w, i, (int)lane, PTX_EARLY, addr, "%s is read %s, which writes it", place, cure);
    else if (ahead->unknown && !(a && a->stable))
        fault(
            w, i, (int)lane, PTX_EARLY, addr,
            "%s is read %s, which may still write it: only an argument that the task calls stable may be read so "
            "early",
            place, cure);
}

/* No kernel writes constant memory. */
void dependent_access(struct warp *w, const struct insn *i, const struct access *x)
{
    const struct san *s = san_of(w->launch);

    if (!s->ahead || x->space != SPACE_GLOBAL || i->space == SPACE_CONST)
        return;
    for (uint32_t early = x->mask & ~san_warp(w)->behind; early && !w->launch->stop; early &= early - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(early);
        check(w, i, lane, x->kind != ACCESS_LOAD, x->addr[lane], x->bytes);
    }
}

/* A bulk copy counts as its thread's access. */
void dependent_flight(const struct flight *f)
{
    struct warp *w = f->warp;

    if (!san_of(w->launch)->ahead || (san_warp(w)->behind >> f->lane & 1) || !f->bytes)
        return;
    if (!f->from_block && !f->small)
        check(w, f->insn, f->lane, false, f->from, f->bytes);
    if (!f->to_block && !w->launch->stop)
        check(w, f->insn, f->lane, true, f->to, f->bytes);
}

void dependent_barrier(struct block *b, const uint32_t *arrived, const uint32_t *waiting)
{
    bool waited = false;

    if (!san_of(b->launch)->waited)
        return;
    for (uint32_t k = 0; k < b->n_warps; k++)
        waited |= (san_warp(&b->warps[k])->behind & arrived[k]) != 0;
    for (uint32_t k = 0; waited && k < b->n_warps; k++)
        san_warp(&b->warps[k])->behind |= waiting[k];
}

void dependent_warp_sync(struct warp *w, uint32_t mask)
{
    if (san_warp(w)->behind & mask)
        san_warp(w)->behind |= mask;
}

void dependent_arrive(const struct warp *w, struct waited_phase *p, uint32_t mask, bool relaxed)
{
    p->now |= !relaxed && (san_warp(w)->behind & mask);
}

void dependent_flip(struct waited_phase *p)
{
    p->last = p->now;
    p->now = false;
}

void dependent_pass(struct warp *w, const struct waited_phase *p, uint32_t mask)
{
    if (p->last)
        san_warp(w)->behind |= mask;
}

/* Of some blocks alone nobody knows. */
void dependent_end(struct launch *l)
{
    const struct san *s = san_of(l);

    if (s->ahead && !s->waited && !l->stop && !l->options->blocks)
        launch_fault(
            l, PTX_EARLY,
            "no thread of the kernel waits for the one ahead (griddepcontrol.wait, "
            "cudaGridDependencySynchronize), though its launch lets it begin early (programmatic stream "
            "serialization): what comes behind it may then begin before the one ahead has ended");
}
