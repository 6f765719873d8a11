/* verdict: the record of one candidate judged: its verdict, times, accuracy and hot lines, and the device they
 * are of, with their one JSON. It stands on the task alone: whoever reads a run needs neither simulator nor
 * compiler. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include "base/base.h"
#include "kernel/kernel.h"
#include "task/task.h"

enum verdict {
    VERDICT_PASSED,
    VERDICT_SLOWER, /* correct, but not faster than the original by the task's measure */
    VERDICT_NOT_UNDERSTOOD,
    VERDICT_COMPILE_FAILED,
    VERDICT_UNSUPPORTED,
    VERDICT_LAUNCH_FAILED,
    VERDICT_CRASHED,
    VERDICT_HUNG,
    VERDICT_TOO_SLOW, /* to judge on this machine: says nothing of the candidate, is never kept */
    VERDICT_UNSAFE,
    VERDICT_NONDETERMINISTIC,
    VERDICT_WRONG,
    VERDICT_CHEAT,
};
const char *verdict_name(enum verdict v); /* "passed", "not-understood", ... */
bool verdict_parse(const char *name, enum verdict *v);
static inline bool verdict_correct(enum verdict v)
{
    return v == VERDICT_PASSED || v == VERDICT_SLOWER;
}

/* Of a candidate, rather than of the machine that judged it: only such a verdict is kept or learnt from. */
static inline bool verdict_stands(enum verdict v)
{
    return v != VERDICT_TOO_SLOW;
}

struct trial_time {     /* of one workload in one regime; NAN where unknown */
    double us, copy_us; /* copy: the plain copy of the compulsory bytes */
    double base_us,
        speedup;          /* the original's time beside it, and its speed-up over that: of pairs if measured */
    double low, high;     /* interval of the speed-up; NAN when modelled */
    double neighbours_us; /* in a stream: what its neighbours take without the plan, which is not in us and
                             base_us; NAN elsewhere and when modelled */
    double pairs;         /* of blocks that the interval is from; NAN when modelled */
    const char *bound;    /* ptx_bound_name */
    const char *pipe;     /* whose time issue_us is (struct ptx_time); NULL: unknown */
    double dram_us, l2_us, issue_us, latency_us, launch_us, sync_us;
    double dram_bytes, occupancy, waves;
    double flops;            /* floating-point operations, counted by the simulator also where a GPU is timed */
    double compulsory_bytes; /* that must move, whoever computes it */
    double
        asked_bytes; /* by the lanes of its accesses; of a modelled trial while its judge is open, not kept */
    bool extrapolated;
};

struct trial_time trial_time_unknown(void);

struct trial_bound { /* what could bound it, and its own time */
    const char *name;
    double us;
};
enum { N_BOUNDS = 6 };
void trial_bounds(const struct trial_time *t, struct trial_bound list[N_BOUNDS]);
double trial_bound_us(const struct trial_time *t); /* of the one that does; NAN where unknown */
/* With the pipe that is full where that says more: "issue, tensor"; "all pipes": the schedulers. */
const char *trial_bound_words(const struct trial_time *t, struct arena *a);

struct trial_workload {
    const int64_t *dims; /* the task's n_dims */
    struct trial_time times[N_REGIMES];
    double weight; /* in the score, of all together 1; 0: all count alike */
};

struct trial_errors { /* in ulps of the output type, worst over outputs and cases */
    double p50, p99, max;
};

/* Errors fall into one of these: exact, at most the k-th edge, beyond the last. */
enum { TRIAL_BUCKETS = 8 };
extern const double trial_ulp_edges[TRIAL_BUCKETS - 1];

struct trial_spread { /* how the errors of one output lie, in ulps */
    struct trial_errors at;
    double drift; /* of the elements, how many more are rounded one way (down, or to zero) than the other and
                   * are not the nearest number: 0 when rounded to the nearest, near 1/2 when cut off */
    size_t histogram[TRIAL_BUCKETS];
};

struct trial_accuracy { /* of one output under one kind of values */
    const char *output, *values;
    const char *unit;                        /* "ulp", or "term": docs/integrity.md */
    struct trial_spread original, candidate; /* the same in the original's own trial */
    struct trial_errors allowed;
    double allowed_drift; /* NAN: not judged */
    size_t excused; /* the candidate's elements beyond the largest allowed error that an exception allows */
    double apart;   /* its largest difference to the original, in ulps; 0: bit-identical */
};

struct trial_clocks { /* what NVML says at one moment; 0 or false where it says nothing */
    unsigned sm_mhz, memory_mhz, temperature_c, power_w;
    uint64_t throttle_reasons; /* as cuda_clocks */
    bool known;
};

struct trial_line { /* a hot source line, over all workloads of the scoring regime */
    int line;
    double share, lanes_active, requests, sectors_per_request, ideal_sectors_per_request, conflicts_per_request,
        warp_insns;
};

struct trial_gap {       /* of one source line: what no case ran */
    int line;            /* 0: not of the kernel's own file */
    const char *text;    /* the line as it stands there */
    size_t instructions; /* of the PTX, never executed */
    size_t directions;   /* of branches and selections that were reached, never taken */
    bool whole;          /* of a kernel or function that never ran at all */
    bool idle;           /* nothing of the line ran */
    bool original;       /* the original has the same line, and nothing ran that either */
};

struct trial_coverage { /* of PTX by the cases, on the simulator; instructions 0: not known */
    size_t instructions, executed;
    size_t branches, directions; /* conditional branches and selections; directions taken, of two each */
    size_t sought;               /* cases that were run beyond the suite to reach what it does not */
    const struct trial_gap *gaps;
    size_t n_gaps;
};

struct trial_shipped { /* the compiled file beside what was judged; true: compared, and the same */
    bool asked;        /* of a confirmation; else nothing here counts */
    bool words;        /* what the host compiler's preprocessor makes of the file */
    bool object;       /* what its host code calls, and that nothing runs before it is asked */
    const char
        *device_code; /* "same": nvcc's PTX is NVRTC's; "run": it was run on the simulator; NULL: neither */
    unsigned shapes, compared;   /* shapes planned, and those whose plans the compiled launcher gave too */
    const char *not_run_because; /* NULL: the compiled launcher was run */
};

struct trial_beside {    /* a library beside the version, on one workload in one regime */
    const char *library; /* "cuBLAS 13.1.0" */
    const char *words;   /* what it leaves out, or why it has no time; NULL: nothing */
    const char *regime;
    size_t workload;
    double us, version_us,
        share;        /* its time, the version's; the version's speed over its: of pairs; NAN: none */
    double low, high; /* interval of the share */
};

struct trial_waste { /* of one source line, over the suite's cases on the simulator: traffic that changes
                        nothing */
    int line, after; /* after: a line that had stored there before; 0: unknown */
    const char *text;
    double stored_bytes, again_bytes;  /* to global memory; where the same launch had stored already */
    double equal_bytes;                /* of these, races that leave the same value */
    double staged_bytes, unread_bytes; /* to shared memory; what nobody read */
};

struct trial {
    enum verdict verdict;
    const char *words; /* whoever judged; "" when passed */
    int line, col;     /* in the candidate's file; 0 none */
    double score; /* geometric mean of original / candidate over the workloads by their weights, scoring regime;
                     NAN unless timed */
    double low, high; /* its interval; NAN when modelled */
    const struct trial_workload *workloads;
    size_t n_workloads, n_dims;
    const char *const *dim_names; /* n_dims */
    size_t cases;                 /* verification cases run */
    /* Of their answers: how many cases, and elements, are the original's byte for byte. elements 0: not
     * counted. */
    size_t identical_cases, elements, identical_elements;
    bool bit_identical; /* all of them, and it passed */
    struct trial_errors error, original_error, allowed_error;
    const char *unit;                      /* of these, as in trial_accuracy */
    const char *error_where;               /* output and case of the worst error */
    const struct trial_accuracy *accuracy; /* floating outputs, kind of values by kind of values */
    size_t n_accuracy;
    const char *exact;     /* where the exact answers are from: "reference", "shadow" (derived), "original" */
    double shadow_lost;    /* share of elements for which nothing could be derived; NAN: "reference" */
    const char *underived; /* why not all cases have derived answers; NULL: they have, or need none */
    const char *counters;  /* what bounds, occupancy and lines come from: "ncu"; NULL: the simulator's clock */
    const struct trial_line *lines; /* by share, at most 12 */
    size_t n_lines;
    struct trial_coverage coverage;
    const struct trial_beside *beside; /* workload by workload; none where no library was asked for */
    size_t n_beside;
    const struct trial_waste *waste; /* most bytes first, at most 12 */
    size_t n_waste;
    unsigned registers, spill_bytes, stack_bytes, shared_bytes; /* worst over its kernels; shared: static */
    unsigned dynamic_shared_bytes;                              /* the most that a launch asks for */
    const char *missing_checks;                                 /* of the sanitizer, NULL when none */
    const char *printed;                                        /* of device printf, NULL when none */
    const char *code; /* hash of what it compiles to and launches: what two files share that do the same; NULL:
                       * it did not get so far */
    bool hidden;      /* its verdict is that of hidden cases: whoever codes next is not told which */
    bool known;       /* its code is one of those that were known: nothing was run (judge_file only) */
    struct trial_clocks clocks; /* of the GPU right after it was timed */
    double empty_us;            /* a kernel that does nothing, as part of a graph; NAN when modelled */
    struct trial_shipped shipped;
    double compile_s, verify_s, measure_s, wall_s;
    double gpu_verify_s, gpu_measure_s; /* what of it needed the GPU; NAN: none */
};

json_t *trial_to_json(const struct trial *t);
json_t *trial_clocks_to_json(const struct trial_clocks *c); /* null when not known */
json_t *trial_accuracy_to_json(const struct trial *t);      /* `errors` of docs/result.md */
/* Code that no case ran, in one sentence without its full stop; NULL: there is none, or it is not known. */
char *trial_coverage_words(struct arena *a, const struct trial_coverage *c, const char *whose);
/* Of one version in two trials: what neither ran. */
struct trial_coverage trial_coverage_both(struct arena *a, const struct trial_coverage *x,
                                          const struct trial_coverage *y);
/* "line 41 stores 12 % of its bytes again; ..."; NULL: nothing worth saying. With what shared memory holds for
 * nobody only where it is asked for: the suite's cases are small, and of a tile much lies beyond them. */
char *trial_waste_words(struct arena *a, const struct trial *t, bool with_staged);
json_t *trial_waste_to_json(const struct trial *t); /* a list */
void trial_waste_from_json(const json_t *lines, struct arena *a, struct trial *t);
json_t *trial_coverage_to_json(const struct trial_coverage *c); /* null when not known */
void trial_coverage_from_json(const json_t *o, struct arena *a, struct trial_coverage *c);
/* `confirmation` of docs/result.md; null when it was not asked. */
json_t *trial_shipped_to_json(const struct trial_shipped *s);
void trial_shipped_from_json(const json_t *o, struct arena *a, struct trial_shipped *s);
json_t *trial_edges_to_json(void); /* and `ulp_edges` */
/* The largest difference of any floating output to the original's, in ulps. */
double trial_apart(const struct trial *t);
void trial_add_missing(struct arena *a, struct trial *t, const char *what); /* NULL: nothing */
bool trial_from_json(const json_t *o, struct arena *a, struct trial *t, struct err *err);
/* The same as the line of text that the store keeps. */
char *trial_to_text(struct arena *a, const struct trial *t);
bool trial_from_text(const char *text, struct arena *a, struct trial *t, struct err *err);

/* Of workload i: "rows=16 d=4096". */
char *trial_dims_text(struct arena *a, const struct trial *t, size_t i);
/* A row of the `workloads` of docs/result.md: workload i of the original in one regime, and beside it the
 * best's time, NULL: not timed. Read back, it is the best's time. */
json_t *trial_row_to_json(const struct trial *original, size_t i, const struct trial_time *best,
                          enum regime regime);
struct trial_time trial_row_from_json(const json_t *row);

/* ---- where it is judged ---- */

struct trial_peaks { /* what the simulated device can do at most, a second; 0: not told */
    double dram_bytes, l2_bytes, fp64, fp32, fp16, tensor_fp16;
};

struct trial_device {
    const char
        *kind; /* "sim": all is modelled; "cuda": verified on the simulator and the GPU, timed on the GPU */
    const char *name;       /* "NVIDIA H200" */
    const char *model;      /* the simulated device, "h200": itself, or the one nearest to the GPU */
    const char *model_name; /* of the simulated device, in full; NULL: not told */
    struct trial_peaks peaks;
    bool same_model, validated;
    const char *uuid, *driver; /* of a GPU; NULL otherwise */
    const char *nvrtc;         /* the compiler's version, "13.0" */
    int index, driver_cuda;
    struct kernel_limits limits;
};

json_t *trial_device_to_json(const struct trial_device *d);
bool trial_device_from_json(const json_t *o, struct arena *a, struct trial_device *d, struct err *err);
bool trial_device_from_text(const char *text, struct arena *a, struct trial_device *d, struct err *err);
char *trial_device_id(struct arena *a, const struct trial_device *d); /* as trial_options.device */
static inline bool trial_device_measures(const struct trial_device *d)
{
    return str_eq(d->kind, "cuda");
}

/* ---- hot lines ---- */

/* hot_lines.c: what instructions cost, summed by source line; the hottest become the trial's. */
struct line_sum {
    int line;
    double time;         /* in whatever unit: shares count */
    double insns, lanes; /* of warps, and of their threads */
    double requests, sectors, ideal;
    double shared, conflicts; /* accesses to shared memory, and what they are beyond one each */
};
typedef VEC(struct line_sum) line_sums;
struct line_sum *lines_at(line_sums *lines, int line);
void lines_put(line_sums *lines, struct arena *a, struct trial *t); /* sorts them */

#endif
