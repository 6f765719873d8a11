/* What profile.c, price.c, cache.c, clock.c and device.c share: the tables of the clock and the counters of one
 * timed launch. docs/simulator.md explains the model. */
#ifndef CLOCK_COST_MODEL_H
#define CLOCK_COST_MODEL_H

#include "clock.h"
#include "ptx/observe.h"

/* ---- devices: what share/devices/NAME.yaml says beyond struct ptx_device ---- */

struct cost_model { /* lanes: results a clock and SM; cycles: SM clocks from issue to the first use */
    double lanes_fp32, lanes_fp16, lanes_fp64, lanes_alu, lanes_mul, lanes_sfu, lanes_shuffle, lanes_lsu;
    double alu_cycles, sfu_cycles, fp64_cycles, shared_cycles, shuffle_cycles, l1_cycles, l2_cycles,
        barrier_cycles;
    double mma_cycles; /* that one mma.m16n8k16 of f16 takes of an SM's tensor cores */
    double mma_latency_cycles;
    double branch_cycles;   /* from a branch to the first instruction behind it */
    double fetch_cycles;    /* of a machine instruction that an SM sees first */
    double geometry_cycles; /* more where the grid's or block's size is asked for: another line of constants */
    double port_bytes;      /* a clock into the registers of one quarter of an SM */
    double dram_ns;
    double dram_scatter; /* DRAM time where neighbouring blocks work far apart, over where they do not */
    double l1_bytes;     /* of one SM, shared memory included */
    double dram_read_gbs, dram_write_gbs; /* alone, with enough in flight */
    double l2_read_gbs, l2_write_gbs;
    double l2_loads_per_ns, l2_stores_per_ns; /* requests: one line of one warp's access */
    double dram_lines_per_ns;                 /* lines of which any sector comes from DRAM, at random places */
    double sm_gbs;                            /* between one SM and the L2 */
    double launch_us;                         /* around any kernel's work */
    double cold_us;                           /* more when code, constants and page translations were evicted */
    double crowding;      /* share of one round's issue and traffic that its own time grows by */
    double issue_share;   /* of a scheduler's slots and a pipe's cycles that are filled at best */
    double block_ns;      /* to start a block on an SM that has room */
    double blocks_per_us; /* that the whole GPU can start */
    double atomic_cycles, atomic_float_cycles; /* between two updates of one word in the L2 */
    double l2_atomics_per_ns;                  /* sectors that updates go to, all over the L2 */
    double overlap; /* exponent that joins latency, L2 and DRAM: infinity would be their maximum */
};

/* The model of a device out of ptx_device_find or ptx_device_list; NULL for any other. */
const struct cost_model *cost_model_of(const struct ptx_device *d);

/* Reads one device file; name stays the caller's, other strings live in the arena. Unknown, missing or
 * malformed keys are errors with a line. */
bool device_parse(struct ptx_device *d, struct cost_model *m, const char *name, const char *text,
                  struct arena *a, struct err *err);

/* ---- prices: one instruction ---- */

enum pipe {
    PIPE_FP32,
    PIPE_FP16,
    PIPE_FP64,
    PIPE_ALU,
    PIPE_MUL,
    PIPE_SFU,
    PIPE_SHUFFLE,
    PIPE_LSU,
    PIPE_TENSOR,
    PIPE_CONST, /* constants that lanes read at places of their own */
    N_PIPES
};

struct price {
    float slots;   /* issue slots: machine instructions */
    float latency; /* cycles from start to result, of what is not memory */
    float apart;   /* of a branch: more cycles when some lanes take it and some do not */
    float busy;    /* cycles its pipe of the SM is taken by one warp */
    float merged;  /* of a load from shared memory: machine instructions for it, at most 1; 0: unknown */
    uint8_t pipe;
    bool is_load, is_store, is_order; /* is_order: memory instructions do not move across it */
    bool is_branch, is_barrier, ends_block, is_async_wait, has_guard; /* has_guard: the last source */
    bool retries;   /* a sum of floats in shared memory: read, added, compared and swapped until it holds */
    bool counts;    /* adds 1 to words of shared memory and asks for nothing */
    uint8_t rare;   /* which routine it calls for some operands */
    uint8_t unroll; /* of a backward branch: copies of its loop's body in the machine code */
    uint16_t group; /* whose pipes it takes instead of its own; 0: none */
    uint16_t head, back; /* of a loop whose turns are known: its first instruction, its last; 0: of none */
    uint16_t section;    /* of straight code, whose machine code is known; 0: none */
    uint8_t n_src, n_dst;
    uint32_t refs; /* first of its n_src + n_dst register slots */
    int line;
};

struct group_price {
    float pipe[N_PIPES]; /* cycles of plain arithmetic's pipes, an issue slot */
};

enum { LOOP_POINTS = 6, LOOP_STEP = 200 }; /* latencies of memory for which a loop's time is known */

/* Machine code in its order, one warp alone: what its instructions wait for and raise. */
struct replay {
    const struct replay_step {
        float after;         /* clocks until the next step may start */
        float takes;         /* until its result is there; below 0: a load of global memory, as it was priced */
        uint8_t waits, sets; /* counters */
    } * steps;
    unsigned n_steps, loads, stores; /* of global memory */
};

struct section { /* of straight code, between loops and barriers */
    struct replay replay;
    unsigned n; /* instructions in PTX */
};

struct loop_price { /* the machine's forms of a loop in PTX, that with most turns first */
    struct loop_form {
        unsigned turns;             /* of the PTX that one pass runs */
        float cycles[LOOP_POINTS];  /* a pass takes at least, one warp alone */
        struct replay whole, least; /* with what can be jumped over, and without */
    } forms[3];
    unsigned n_forms;
};

struct prices {
    struct price *of; /* by pc */
    struct group_price *groups;
    struct loop_price *loops;
    struct section *sections;
    uint32_t *refs;
};

/* Prices of all of a module's instructions; those of a source line are scaled to the line's SASS count. */
void prices_make(struct prices *p, const struct ptx_module *m, const struct ptx_device *d,
                 const struct cost_model *model, const struct func *entry, const struct ptx_resources *res,
                 struct arena *a);

/* Machine instructions of it in its own line: the compiler's routines stand elsewhere. */
float price_inline_slots(const struct insn *i, float slots);

/* rare.c: which routine an instruction calls for some operands, and the machine instructions that a warp runs
 * for those that its lanes have. */
enum { RARE_NONE, RARE_DIV32, RARE_RCP32, RARE_SQRT32, RARE_DIV64, RARE_RCP64, RARE_SQRT64 };
uint8_t rare_kind(const struct insn *i);
float rare_slots(const struct warp *w, const struct insn *i, uint8_t kind, uint32_t lanes);

/* ---- loops ---- */

struct flow { /* a piece of code */
    size_t n;
    const int32_t *jump; /* by instruction: where it may jump to; -1: nowhere */
    const bool *falls;   /* may the next one run after it? */
};
size_t flow_loops(const struct flow *f, uint16_t *loop_of, const bool **outer, struct arena *a);

/* machine.c: slots, pipes and loops as the machine code has them; false: it is not there. */
bool machine_apply(struct prices *p, const struct ptx_module *m, const struct cost_model *model,
                   const struct func *entry, const struct ptx_resources *res, struct arena *a);

/* Floating-point operations of one lane, as ptx_time.flops counts them. */
double insn_flops(const struct insn *i);

/* ---- one access of a warp ---- */

struct bank_use {   /* of the shared memory */
    unsigned words; /* different ones, all banks */
    double busy;    /* passes that the banks are taken for */
};
unsigned access_passes(const struct access *x, struct bank_use *use);
unsigned access_turns(const struct access *x, struct bank_use *use); /* of an atomic */
unsigned access_words(const struct access *x, unsigned *different);
unsigned access_updates(const struct access *x);
unsigned access_lines(const struct access *x, uint64_t line[64], uint8_t sectors[64]);

/* ---- caches ---- */

enum { LINE_BYTES = 128, SECTOR_BYTES = 32 };

struct l1 { /* of one block: its share of its SM's; 4-way, lines of 4 sectors */
    struct l1_set {
        uint64_t tag[4];
        struct l1_arrival {
            float ready, took; /* when the line's last sectors arrive, and how long they are on their way */
            uint32_t load;     /* that asked for them */
        } came[4];
        uint8_t sectors[4], next;
    } * sets;
    size_t n_sets, cap_sets;
};

void l1_reset(struct l1 *c, double bytes);
void l1_free(struct l1 *c);
/* Sectors of the line that are there. Adds all of them; *came: when, for the caller to set if some missed. */
unsigned l1_probe(struct l1 *c, uint64_t line, unsigned sectors, float now, struct l1_arrival **came);

/* Of each SLICES_BYTES of the device's memory two slices of the L2 have SLICE_BYTES in turn (slices.csv, two
 * lines). A buffer may begin in their middle, too, so that its 1024 bytes lie in two slices or in four. */
enum { SLICES_BYTES = 1024, SLICE_BYTES = 256, SLICE_PLACES = 2 };

struct l2_line {                    /* touched by the sample of this launch */
    uint64_t line;                  /* + 1; 0: free */
    uint8_t read, written, fetched; /* fetched: came from DRAM beside what was asked for */
    uint32_t block;                 /* that touched it last */
    uint32_t reader, readers; /* the first block (in the grid) that read it, and how many of the sample have */
    uint32_t prober;          /* the first neighbour that was asked and reads it, too; 0: none */
    uint8_t own;              /* sectors that this block has read */
    bool met;                 /* another block has read what the first block did */
    float reached; /* issue slots that the first block had taken when it read it; < 0: it began with it, 0: it
                      has not */
    uint32_t atomics, first_block; /* requests to update it; the first block (in the grid) that made one */
    uint32_t updates[SLICE_PLACES],
        first_update[SLICE_PLACES]; /* of the part of a slice that it begins: words, the first block */
    uint32_t counts;                /* of its words, where the second request came: 1 + their place; 0: none */
    const struct warp_clock *warp;  /* of that block, that touched it last */
    float at_warp;                  /* its part of: */
    float at_moved, at_shared;      /* bytes the block had asked the L2 for by then: its own, others' too */
    uint8_t dirty;                  /* sectors that were stored since it came from DRAM */
    float at_passed;                /* bytes that had come through its L1 by then */
    float at_time;                  /* of its clock */
};

struct word_counts { /* updates of a line's words */
    uint32_t n[32];
};

struct l2 {
    struct l2_line *lines;
    size_t n, cap; /* cap is a power of two */
};

struct l2_line *l2_get(struct l2 *c, uint64_t line);
struct l2_line *l2_find(struct l2 *c, uint64_t line); /* NULL: not touched */
void l2_clear(struct l2 *c);

/* One allocation as the launches of a plan left it in the L2. */
struct footprint {
    uint64_t addr;       /* of the allocation */
    uint64_t first, end; /* lines that the last launches touched */
    double clock;        /* bytes the plan had touched before the last launch that touched it */
};

struct ptx_cache {
    const struct ptx_device *device;
    double clock; /* unique bytes touched so far, launch by launch */
    VEC(struct footprint) prints;
    bool used;
};

/* Share of what was touched `distance` bytes ago that is still in the L2. */
double cache_resident(const struct ptx_device *d, double distance);
/* The footprint of an allocation, made when absent. */
struct footprint *cache_footprint(struct ptx_cache *c, uint64_t addr);

/* ---- one timed launch ---- */

struct pc_stats {
    double issues, lanes;
    double requests, sectors, ideal, used, moved;
    double shared_requests, conflicts, atomics, atomic_conflicts, local_bytes;
    double stall;
};

struct touched {               /* one allocation in the sample */
    const struct alloc *alloc; /* by which it is known; the launch's own are gone when it has ended */
    uint64_t addr, size;
    double hit; /* share of the lines [known, known_end) resident when the launch began */
    uint64_t known, known_end;
    uint64_t first, end;     /* lines touched */
    double read, written;    /* unique bytes */
    double lines, own_lines; /* unique ones; those that a block read for the first time, all blocks together */
    double own;    /* bytes read that a block of the sample read for the first time, all blocks together */
    double missed; /* bytes of read that came from DRAM */
    double written_lines;               /* lines of which any sector was written */
    double updated_parts[SLICE_PLACES]; /* of slices that atomics went to */
    double begun, met,
        sooner; /* lines that others read, too, of those the first block began with; others; much sooner */
    double stored, stored_sectors; /* bytes that stores wrote, and sectors that these lie in */
    double scattered, placed;      /* sectors that writes put anywhere; that all writes did */
    struct span {                  /* of the lines that neighbours wrote */
        uint64_t low, high;        /* blocks of the run of neighbours that wrote last */
        uint64_t first, end;       /* lines from the first to the last that it wrote */
        double lines, blocks;      /* of the runs before it, all together */
    } span;
    struct neighbour {          /* along an axis */
        double probed, shared;  /* bytes that it read; of these, also read by block 0 */
        uint32_t stride, tried; /* how many blocks away it is; the furthest that was asked */
        uint32_t range;         /* from which on most of it is read no more; 0: not known */
        bool anywhere;          /* the next one shares as much with block 0, but something else */
    } beside[3];
    double asked, common, same; /* the same of the neighbour that runs; what one before it shared, too */
};

void span_end(struct span *s); /* the run of neighbours is over */

struct sample { /* one block */
    uint64_t linear;
    double cycles;               /* from its first warp's start to its last warp's end, were it alone */
    double slots, pipe[N_PIPES]; /* issue slots; cycles of each pipe */
    double l2_read, l2_write;    /* bytes */
    double l2_loads, l2_stores;  /* requests: lines of one warp's access */
    double joined_stores,
        joined_write;  /* of these, what goes on with the store before it where there is time */
    double dram_lines; /* of the loads, those of which anything came from DRAM */
    double dram_read, dram_write;
    double rewrites,
        part_rewrites;            /* halves of lines that went to DRAM and are stored again; parts of sectors */
    double sync, atomics;         /* cycles at barriers, summed over warps; passes of atomics in the L2 */
    double updates_from;          /* cycles: the first atomic's start, else the block's end */
    double memory_wait;           /* cycles of the longest warp that loads caused */
    double warp_cycles;           /* summed over warps */
    uint64_t first_line, run_end; /* the first line + 1 that it asked memory for, and the end of the run of
                                     lines that begins there */
    uint64_t insns;
};

struct ptx_profile {
    struct ptx_observer observer;
    const struct ptx_device *device;
    const struct cost_model *model;
    const struct ptx_module *module;
    struct ptx_cache *cache;
    struct prices prices;
    struct pc_stats *stats; /* by pc */
    struct l2 l2;
    double concurrent; /* blocks that run at once on the whole GPU */
    double l1_bytes;   /* a block */
    double frames;     /* bytes of a block's local memory */
    double dram_cycles;
    VEC(struct sample) samples;
    VEC(struct touched) allocs;
    VEC(struct word_counts) counts; /* of updated lines */
    double hottest,
        hottest_near; /* cycles of the word most updated by blocks all over the grid, by neighbours */
    double updates;   /* words, all together */
    uint32_t in_one_part[SLICE_PLACES]; /* at most, of parts that blocks all over the grid come to */
    uint64_t n_blocks;                  /* of the launch */
    bool result_branches;               /* an atomic's result reached a branch or an address */
    bool takes_again;                   /* a warp added and asked for the result, used it, and did so again */
    VEC(struct l1) l1s;                 /* by residency slot */
    uint32_t block_number;
    double block_bytes;         /* that the first block read through its L1 */
    double sm_bytes;            /* that an SM's L1 holds */
    double keeps, loses;        /* lines of each warp's own of which the L1 keeps all, and none */
    double touches, touched_in; /* of lines by warps that have ended, and how long these took */
    double resident;            /* blocks of an SM at once */
    double blocks_an_sm;        /* that run there, one after the other */
    uint32_t load;              /* number of the last one */
    double common;  /* bytes that blocks of the sample found in the L1 because others had read them */
    bool probed;    /* neighbours were asked */
    int probe_axis; /* -1: none; else the block that runs is only asked what it shares: reuse.c */
};

/* late.c: cycles of the sample's later blocks in the mean, and of the slowest of a launch's first wave, of so
 * many blocks.
 */
void late_cycles(const struct ptx_profile *p, double blocks, double *mean, double *most);

/* memory.c: do all blocks that run at once read more of it than it holds, so that they share it? */
bool all_share(const struct ptx_profile *p, const struct touched *t);

/* reuse.c: does the launch read bytes again that the L2 does not hold, so that neighbours must be asked? */
bool reuse_needs_probe(const struct ptx_profile *p, double scale);
enum { REUSE_PROBE_INSNS = 12000 }; /* warp instructions of a neighbour that run */
/* What the neighbour that has run shares with block 0, the stride'th along an axis. */
void reuse_note(struct ptx_profile *p, int axis, uint32_t stride);
/* The next neighbour to ask along an axis of so many blocks; 0: none. */
uint32_t reuse_next(const struct ptx_profile *p, double scale, int axis, uint32_t blocks);
double reuse_window(const struct ptx_profile *p, const uint32_t grid[3]); /* blocks */
/* Bytes of an allocation that all blocks of the launch read from DRAM. */
double reuse_bytes(const struct ptx_profile *p, const struct touched *t, const uint32_t grid[3], double window);

/* local.c: share of the loads from local memory that the L1 has no room for. */
double local_missed(const struct ptx_profile *p);
/* Bytes of local memory that a block moves through the L2, spilled registers included. */
double local_l2_bytes(const struct ptx_profile *p, const struct ptx_resources *res, const struct func *entry);

/* lines.c: floating-point operations of the launch, and its lines in t, for so many times the sample. */
double profile_flops(const struct ptx_profile *p, double scale);
void profile_lines(const struct ptx_profile *p, double scale, struct arena *a, struct ptx_time *t);

void profile_open(struct ptx_profile *p, const struct ptx_module *m, const struct ptx_device *d,
                  struct ptx_cache *cache);
void profile_close(struct ptx_profile *p);

#endif
