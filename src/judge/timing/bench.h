/* bench: the buffers and graphs that times on a GPU are taken with. One bench lasts as long as its judge.
 *
 * A workload has many sets of buffers, so many that going round them finds none in the L2 (cold), and of those
 * the first few that stay there (hot). All sets of a workload lie side by side, each with the same layout, so
 * that new contents are a few large copies from a bank of contents. The memory for sets and bank is there once:
 * workloads take turns, at addresses that stay the same, so that the original's graphs are made once.
 *
 * A block is one timed replay of a graph: as many whole launch plans as take long enough to be timed well, each
 * on its own set when cold. The sets are cut into windows. Both blocks of a pair begin at the start of the same
 * one, or places in memory would be compared, which differ by a per cent; the next pair goes on to the next.
 * After a block the sets it used get new contents: new inputs (the same bits for both blocks of a pair),
 * buffers that are updated in place as they were, outputs poisoned; and, cold, the L2 is filled with something
 * else.
 *
 * In a stream (stream.c) each plan of a block stands between two kernels of ours. All plans work on the first
 * set, whose inputs the kernel ahead writes, from one content of the bank after the other; but stable arguments
 * come from all sets in turn, as weights do. What a block of the neighbours alone takes is taken off. */
#ifndef JUDGE_BENCH_H
#define JUDGE_BENCH_H

#include "../internal.h"
#include "paired.h"

struct lap {                    /* the graphs of one version in one regime */
    size_t plans, sets;         /* of a block */
    struct cuda_graph **graphs; /* one a window */
    size_t n;
};

struct beside_call;

struct side { /* one version on one workload */
    struct version *version;
    const struct beside_call *call; /* of a library, in the version's stead: then that is the original */
    struct cuda_module *loaded;     /* whose kernels the graphs launch */
    struct arena *arena;
    struct stage stage; /* its workspaces; the addresses are those of one set after the other */
    struct plan plan;
    struct lap lap[N_REGIMES];
    double us; /* of one plan, roughly */
};

struct track { /* one workload */
    const int64_t *dims;
    size_t n_buffers;
    const struct task_arg *arg[MAX_ARGS];             /* of the buffers, in order */
    uint64_t offset[MAX_ARGS], bytes[MAX_ARGS];       /* in a set */
    uint64_t tile[MAX_ARGS], tile_elements[MAX_ARGS]; /* values that were made on the host; inputs only */
    uint64_t set_bytes, align_bytes;
    uint64_t ahead_bytes;             /* of a set, from its start: what a kernel ahead in a stream writes */
    uint64_t behind_at, behind_bytes; /* what one behind reads */
    bool stable;                      /* it has stable arguments */
    int64_t traffic;
    size_t n_sets, n_hot, n_images, n_distinct; /* images: contents in the bank; they repeat after n_distinct */
    size_t n_windows, window_sets;              /* cold; hot there is one window, of n_hot sets */
    bool in_place;
    double copy_us[N_REGIMES];   /* the plain copy of the compulsory bytes; in a stream as hot */
    struct lap alone[N_REGIMES]; /* a stream's neighbours without a plan */
    struct side original;
};

struct bench {
    struct judge *judge;
    struct cuda *gpu;
    struct arena *arena;
    struct cuda_buffers *buffers;
    struct cuda_module *copy_kernel;
    struct cuda_module *neighbours[N_REGIMES]; /* of streams; NULL: the GPU has no such regime */
    uint64_t sets, sets_bytes, bank, sink;
    struct track *tracks;                 /* the task's workloads */
    const struct track *loaded;           /* whose contents are in the bank and the sets */
    double empty_us;                      /* a kernel that does nothing, as part of a graph */
    double clocks_every_s, clocks_last_s; /* asking for the clocks takes time too */
    struct trial_clocks clocks;
    bool warm;                     /* something has run since the GPU was taken */
    VEC(struct trial_beside) rows; /* of the version that is measured: what the library did */
};

bool bench_open(struct bench **out, struct judge *j, struct err *err);
/* The workload's contents into bank and sets. */
bool bench_load(struct bench *b, struct track *t, struct err *err);
/* The copy's times, once. Overwrites the sets: before bench_load. */
bool bench_light(struct bench *b, struct track *t, struct err *err);
/* The pair-th contents into n sets; no line of the block before stays in the L2 for that it was told to. */
bool bench_refresh(struct bench *b, struct track *t, size_t first, size_t n, uint64_t pair, struct err *err);
/* Nothing of these sets is in the L2 any more; whoever goes through them all has seen to that himself. */
bool bench_cool(struct bench *b, struct track *t, size_t first, size_t n, struct err *err);
size_t bench_windows(const struct track *t, enum regime regime);
size_t bench_window(const struct track *t, enum regime regime, size_t window); /* its first set */
/* True when clocks or throttle reasons are not what they were when last asked. */
bool bench_disturbed(struct bench *b);
uint64_t bench_set(const struct bench *b, const struct track *t, size_t set); /* its address */

/* Planned, its workspaces made, run for a first impression of its time. Close it in any case. */
bool side_open(struct side *s, struct bench *b, struct track *t, struct version *v, struct fate *fate,
               struct err *err);
void side_close(struct side *s);
/* The same of a library's product. */
bool side_open_library(struct side *s, struct bench *b, struct track *t, const struct beside_call *call,
                       struct err *err);
/* That product on the first set, to its end. */
bool side_run(struct side *s, const struct bench *b, const struct track *t, struct err *err);
/* Its graphs of one regime, if there are none, for plans that take about `us`; replayed once. */
bool side_record(struct side *s, struct bench *b, struct track *t, enum regime regime, double us,
                 struct fate *fate, struct err *err);
void lap_close(struct lap *l);

/* stream.c: the kernels around a plan, into modules and into a graph. `turn` counts from the end of a block. */
bool neighbours_open(struct bench *b, struct err *err);
bool neighbours_ahead(struct bench *b, const struct track *t, enum regime regime, struct cuda_graph *graph,
                      size_t turn, struct err *err);
bool neighbours_behind(struct bench *b, const struct track *t, enum regime regime, struct cuda_graph *graph,
                       struct err *err);
/* The graph of as many of them as the original's block of plans has, if there is none; one block of it: us for
 * what stands around one plan. */
bool neighbours_record(struct bench *b, struct track *t, enum regime regime, struct err *err);
bool neighbours_block(const struct track *t, enum regime regime, double *us, struct err *err);

/* library.c: the judge's library beside a version whose side is open, cold and hot: b->rows. */
bool measure_beside(struct bench *b, struct track *t, struct side *version, struct err *err);

/* One block: us per plan. */
bool side_block(struct side *s, const struct track *t, enum regime regime, size_t window, double *us,
                struct fate *fate, struct err *err);

#endif
