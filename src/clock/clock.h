/* clock: named GPUs, and the time that a launch would take on one. A time from here is modelled, never
 * measured. docs/simulator.md explains the model. */
#ifndef CLOCK_CLOCK_H
#define CLOCK_CLOCK_H

#include "ptx/ptx.h"

/* ---- devices: share/devices/NAME.yaml, compiled in ---- */

const struct ptx_device *ptx_device_find(const char *name); /* NULL when unknown */
size_t ptx_device_list(const struct ptx_device **list);
/* Floating-point operations a second at the device's clock: what its lanes and tensor cores can do at most. */
struct ptx_peaks {
    double fp64, fp32, fp16, tensor_fp16;
};
struct ptx_peaks ptx_device_peaks(const struct ptx_device *d);

/* ---- profiler and clock ---- */

struct ptx_sass_line { /* machine instructions per source line, from the CUBIN */
    int line, count;
    int local_loaded, local_stored; /* bytes a lane that they move from and to local memory, in whole words */
};

struct ptx_machine { /* one machine instruction of a kernel, as the compiler scheduled it */
    int line;        /* it comes from; 0: none of the file; -1: it is no work (padding, rare cases' routines) */
    int jump;        /* a branch's target, by number; -1: none */
    uint16_t opcode; /* its lowest 12 bits */
    uint8_t stall;   /* clocks until the next one may start */
    uint8_t sets, frees; /* the counter that waits for its result, for its operands; 7: none */
    uint8_t waits;       /* counters that must be zero, a bit each */
    bool always;         /* no predicate */
};

struct ptx_resources { /* of one kernel, from ptxas; 0 or NULL: unknown */
    uint32_t registers, shared_bytes, stack_bytes, spill_load_bytes, spill_store_bytes;
    const struct ptx_sass_line *sass;
    size_t n_sass;
    const struct ptx_machine *code;
    size_t n_code;
};

enum ptx_bound {
    PTX_BOUND_DRAM,
    PTX_BOUND_L2,
    PTX_BOUND_ISSUE,
    PTX_BOUND_LATENCY,
    PTX_BOUND_LAUNCH,
    PTX_BOUND_SYNC
};
const char *ptx_bound_name(enum ptx_bound b); /* "dram", "l2", "issue", "latency", "launch", "sync" */

struct ptx_line_stats { /* of one source line, scaled to the whole launch */
    int line;
    double warp_insns, lanes_active; /* mean 0..32 */
    double global_requests, global_sectors, ideal_sectors, bytes_used, bytes_moved;
    double shared_requests, bank_conflicts, atomics, atomic_conflicts, local_bytes;
    double stall_share; /* of the modelled time */
};

struct ptx_time { /* one launch, modelled */
    double us;
    enum ptx_bound bound;
    double dram_us, l2_us, issue_us, latency_us, launch_us, sync_us; /* each resource's own time */
    const char *pipe; /* whose time issue_us is: "tensor", "load and store", ...; "scheduler": the slots' own */
    double dram_bytes, l2_bytes;
    double flops;     /* floating-point operations: fma counts two, packed and tensor ones by element;
                         conversions and comparisons are none */
    double occupancy; /* resident warps over the maximum */
    double waves;
    uint64_t sampled_blocks, blocks;
    bool light; /* the sample is, beside o->work: its blocks need so many times less, on average and at most; */
    double work_ratio, slowest_ratio; /* and its time is that of what was counted */
    bool extrapolated;                /* control flow depends on atomics or spins: from a smaller shape */
    struct ptx_line_stats *lines;     /* sorted by stall_share; in the arena given */
    size_t n_lines;
};

/* State of the L2 carried from launch to launch of one plan, and between runs when hot. */
struct ptx_cache;
struct ptx_cache *ptx_cache_open(const struct ptx_device *d);
void ptx_cache_close(struct ptx_cache *c);

/* Where some of what the plan touched that was timed since the cache was opened is still there when it has gone
 * round the other sets of buffers, too: makes it so. For a plan that touches little of its buffers is then to
 * be timed again. */
bool ptx_cache_round(struct ptx_cache *c, size_t sets);

/* laps.c: how times are taken on a GPU, which modelled cold ones follow. A block of plans that take us each has
 * a power of two of them, so many that it lasts LAP_BLOCK_US; a task has so many sets of its buffers, set_bytes
 * each, as hold LAP_COLD_L2 times the L2; these are cut into windows, so that a block of plans as fast as the
 * plain copy has a set for each. Where one window is all, a block goes round its sets, unless plans update them
 * in place. */
enum { LAP_BLOCK_US = 400, LAP_COLD_L2 = 5, LAP_MOST_SETS = 8192 };
size_t lap_plans(double us);
size_t lap_sets(uint64_t l2_bytes, uint64_t set_bytes);
size_t lap_windows(size_t sets, double copy_us);
size_t lap_rounds(size_t sets, double copy_us, double us);

/* The work of a launch, counted without a clock. */
struct ptx_work {
    double mean, most;   /* warp instructions of a block */
    uint64_t blocks, of; /* run, of the launch's; as many: nothing is left to chance */
    bool known;          /* false: it did not come to an end, or its blocks wait for each other */
    bool whole;          /* asked for: all or nothing, as blocks that wait for each other need it */
};

/* Runs blocks of one launch on mem (contents change) and counts their warp instructions: all of them where
 * about max_insns are enough, else the first, the last and others drawn from o->sample_seed, unless
 * w->whole is set. */
bool ptx_count_launch(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *l,
                      const struct ptx_options *o, double max_insns, struct ptx_work *w, struct err *err);

struct ptx_timed { /* what a launch is timed on */
    struct ptx_module *module;
    struct ptx_mem *mem; /* its contents change */
    const struct ptx_options *options;
    const struct ptx_resources *resources; /* of its kernel; NULL: unknown */
    struct ptx_cache *cache;
    struct arena *arena; /* of the lines of its time */
    bool waits;          /* its blocks are known to wait for each other: there is no sample of it */
};

/* Modelled time of one launch: runs a sample of its blocks. Where options->work says that the sample is light,
 * the time is that of what was counted. */
bool ptx_time_launch(const struct ptx_timed *on, const struct ptx_launch *l, struct ptx_time *t,
                     struct ptx_report *r, struct err *err);
/* Modelled time of the plain copy of bytes (half read, half written): 16 bytes a thread, blocks of 128. */
double ptx_copy_us(const struct ptx_device *d, double bytes, bool hot);
/* The us by which a launch of so many blocks adds less to a stream when it may begin early (PDL) and waits at
 * its start; negative: it adds more. triggered: the kernel ahead triggers at its start, else never. Measured on
 * an H200 (docs/results/stream.md) and taken for every device that has PDL; 0 for the others. */
double ptx_early_us(const struct ptx_device *d, double blocks, bool triggered);

#endif
