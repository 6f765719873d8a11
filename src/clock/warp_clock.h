/* The clocks of warps and blocks while a launch is timed: profile.c keeps them, memory.c says what accesses
 * take. */
#ifndef CLOCK_WARP_CLOCK_H
#define CLOCK_WARP_CLOCK_H

#include "cost_model.h"

enum { REPLAYED = 256, N_COUNTERS = 6, JOINED = 4, GOES_ON = 8, RECENT_LINES = 128 };

struct loaded { /* a load of global memory */
    uint32_t number,
        leader; /* the load that it waits for beside its own way, as that asked for its line; 0: none */
    float latency, takes; /* takes: of the port */
};

struct warp_clock {
    struct kept kept;
    float block_start, issued, last_start;
    float order, order_shared;      /* loads start no earlier; the second holds those of shared memory alone */
    float async_ready[9];           /* of cp.async: the open group, then the last 8 committed */
    float storing, stored;          /* its last store, while it goes through the LSU */
    uint64_t store_line[GOES_ON];   /* of the last store */
    uint8_t store_sectors[GOES_ON]; /* 0: none */
    struct port {
        float returned, asked; /* when the last load's data had come through the quarter's port; its start */
    } ports[2];   /* of the shared memory, and of what may come from far: neither waits for the other */
    float waited; /* caused by loads */
    float sync;
    double moved;   /* its part of the block's */
    float acquired; /* when it last gave up what the L1 held */
    uint32_t next_pc, pc;
    float start;     /* of the instruction that executes */
    bool seen;       /* an access of it was priced */
    uint16_t loop;   /* that it is in, of those whose turns are known; 0: none */
    uint16_t turned; /* the loop whose last instruction executed last; 0: none */
    uint32_t turns,
        loads; /* since its time was settled last; of global memory, of whose latencies there are: */
    float settled, loaded, slowest;
    float beyond; /* what the machine code does not know of that: conflicts, branches; INFINITY: other waits */
    uint16_t section; /* that it is in */
    uint32_t stepped; /* instructions of it */
    uint32_t leader;  /* of the load that executes */
    struct own_line {
        uint64_t line;
        float at;
    } lines[RECENT_LINES]; /* that it alone loaded from through the L1, the last one first */
    uint32_t n_lines, touches;
    struct loaded recent[REPLAYED]; /* since the pass or the section began */
    uint32_t n_recent, n_stores;
    float counters[N_COUNTERS], came; /* of the machine code, when they are at zero; the port's last data */
    uint32_t mask;                    /* lanes that executed last */
    float apart;                      /* more cycles of what executed last if fewer do now */
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
    double touched;            /* bytes that no other block is known to share */
    struct warp_clock *asking; /* of so many, and whether its lanes go to more than a few lines */
    unsigned warps;
    bool spread;
    double moved, shared; /* bytes asked of the L2, and stored: of those, of the others */
    bool parts;           /* the store that executes writes parts of sectors */
    bool crowded;         /* the line that is asked for was in the L1, and is in the L2 */
    double passed;        /* bytes that its share of the L1 did not have when they were asked for */
};

static inline float frontier(const struct warp_clock *c)
{
    return MAX(c->block_start + c->issued, c->last_start);
}

static inline struct ptx_profile *profile_of(const struct launch *l)
{
    return (struct ptx_profile *)l->observer[PTX_CLOCK];
}

static inline struct warp_clock *warp_clock(const struct warp *w)
{
    return (struct warp_clock *)w->kept[PTX_CLOCK];
}

static inline struct block_clock *block_clock(const struct block *b)
{
    return (struct block_clock *)b->kept[PTX_CLOCK];
}

/* memory.c: an access, its latency in clocks. touched_of: the allocation in the sample, made when absent. */
struct touched *touched_of(struct ptx_profile *p, struct alloc *a);
float shared_access(struct ptx_profile *p, struct block_clock *k, const struct access *x,
                    const struct price *price, struct pc_stats *s);
float l2_access(struct ptx_profile *p, struct block_clock *k, const struct access *x, struct touched *t,
                uint64_t line, unsigned sectors, float now);
float global_access(struct warp *w, struct ptx_profile *p, struct block_clock *k, const struct insn *i,
                    const struct access *x, unsigned *lines,
                    unsigned *words); /* of the L2's that its lanes touch */

#endif
