/* What handlers and the machine's files ask of each other, and how observers are told. */
#ifndef PTX_MACHINE_H
#define PTX_MACHINE_H

#include "ptx/lane/opnd.h"

/* For handlers of other files that move memory (ldmatrix, cp.async, stmatrix): checks and observes the bytes at
 * x.addr[l] of lanes of x.mask in x.space, and gives host pointers. False after a fault. Addresses of generic
 * space are resolved per lane; x.linear, x.alloc and x.owner are not read. */
bool mem_lanes(struct warp *w, const struct insn *i, struct access x, uint8_t *host[32]);

void mem_out_of_bounds(struct warp *w, const struct insn *i, unsigned lane, enum access_kind kind,
                       uint32_t bytes, uint64_t addr); /* the finding for an address in global memory */
/* cluster.c: barrier.cluster, and what ends with a block */
void cluster_arrive(struct warp *w, const struct insn *i, uint32_t m);
void cluster_wait(struct warp *w, const struct insn *i, uint32_t m);
void cluster_check(struct cluster *c);   /* completes the barrier's phase when everybody arrived or exited */
void cluster_block_end(struct block *b); /* all its threads have exited */
/* Lanes of m are about to use shared memory of block `of`; false after a finding. */
bool cluster_reach(struct warp *w, const struct insn *i, uint32_t m, const struct block *of);

/* ---- control that handlers may need ---- */

/* group.c, call.c, barrier.c: what instructions that change a warp's course ask for */
void warp_exit(struct warp *w, uint32_t lanes);
void warp_branch(struct warp *w, const struct insn *i,
                 uint32_t taken); /* lanes of the current group; 0 < taken < mask */
void warp_split(struct warp *w, uint32_t lanes,
                uint32_t pc);                             /* lanes leave the current group and go on at pc */
void warp_backward(struct warp *w, const struct insn *i); /* a backward branch was taken */
/* In another than the natural order, what a block reads of what others write by strong accesses and atomics is
 * old by the time that it acts on it: the next blocks come in between, all that fit the device. Not for ever: a
 * few times show it. */
void warp_give_way(struct warp *w, const struct insn *i);
void warp_leap(struct warp *w,
               const struct insn *branch); /* leap.c, at a backward branch that all lanes take */
void warp_leap_adds(struct warp *w, const struct insn *i, uint32_t m,
                    uint8_t *const host[32]); /* leap.c, at an atomic */
void warp_call(struct warp *w, const struct insn *i, uint32_t m);
void warp_return(struct warp *w, const struct insn *i, uint32_t m);
void group_add(struct warp *w, struct group g);
void release_sync(struct warp *w); /* lanes that wait at .sync for others that have died go on */
uint32_t barrier_threads(const struct block *b, const struct barrier *bar); /* it waits for */
void const_write(struct warp *w, const struct const_reg *c);
void blocks_run(struct launch *l);
void launch_stop(struct launch *l, enum ptx_end end);
void calls_reset(struct warp *w);
void calls_free(struct warp *w);
void warp_barrier(struct warp *w, const struct insn *i, uint32_t m);
void warp_sync(struct warp *w, const struct insn *i, uint32_t m); /* bar.warp.sync */
void native_call(struct warp *w, const struct insn *i, const struct func *f,
                 uint32_t m); /* vprintf, __assertfail */
uint64_t special_value(const struct warp *w, enum special s, unsigned lane);

/* For handlers of .sync instructions: true when all lanes of want that are alive are in m. Else the group waits
 * and will execute the instruction again: return at once. */
bool warp_await(struct warp *w, const struct insn *i, uint32_t m, uint32_t want);
/* The same of the whole warp, as matrix instructions need it; a finding when it is not whole. */
bool warp_await_whole(struct warp *w, const struct insn *i, uint32_t m);
/* wgmma.wait_group (warpgroup.c): have all warps of the warpgroup committed what it waits for? If not, m waits,
 * and executes it again. */
bool warpgroup_await(struct warp *w, const struct insn *i, uint32_t m);
void warpgroup_commit(struct warp *w);
void warpgroup_wake(struct warp *w); /* a warp has exited */

/* ---- telling the observers ---- */

/* Those of a launch that have the call are called. */
#define OBSERVE(l, call, ...)                                              \
    do {                                                                   \
        const struct launch *on_ = (l);                                    \
        for (int role_ = 0; role_ < PTX_ROLES; role_++)                    \
            if (on_->observer[role_] && on_->observer[role_]->calls->call) \
                on_->observer[role_]->calls->call(__VA_ARGS__);            \
    } while (0)

/* A finding ends the launch; who comes after it is not told. */
static inline void observe_access(struct warp *w, const struct insn *i, const struct access *x)
{
    const struct launch *l = w->launch;
    for (int role = 0; role < PTX_VALUES; role++)
        if (l->observer[role] && !l->stop)
            l->observer[role]->calls->access(w, i, x);
}

static inline bool launch_checked(const struct launch *l)
{
    return l->observer[PTX_CHECKER];
}

/* The clock's calls; NULL: nobody keeps the time, which is then 0 everywhere. */
static inline const struct ptx_observer_calls *clock_of(const struct warp *w)
{
    const struct ptx_observer *o = w->launch->observer[PTX_CLOCK];
    return o ? o->calls : NULL;
}

#endif
