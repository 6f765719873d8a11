/* trial: one candidate judged: understood, compiled, verified, measured, profiled. Its fate is a verdict, a
 * value; only a broken task or a broken world is an error. docs/integrity.md says what is checked and where. */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

#include "base/base.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "mutant/mutant.h"
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

struct trial_time {      /* of one workload in one regime; NAN where unknown */
    double us, light_us; /* light: the plain copy of the compulsory bytes */
    double base_us,
        speedup;       /* the original's time beside it, and its speed-up over that: of pairs if measured */
    double low, high;  /* interval of the speed-up; NAN when modelled */
    double pairs;      /* of blocks that the interval is from; NAN when modelled */
    const char *bound; /* ptx_bound_name */
    double dram_us, l2_us, issue_us, latency_us, launch_us, sync_us;
    double dram_bytes, occupancy, waves;
    double flops;            /* floating-point operations, counted by the simulator also where a GPU is timed */
    double compulsory_bytes; /* that must move, whoever computes it */
    bool extrapolated;
};

struct trial_workload {
    const int64_t *dims; /* the task's n_dims */
    struct trial_time cold, hot;
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
    struct trial_spread original, candidate; /* the same in the original's own trial */
    struct trial_errors allowed;
    double allowed_drift; /* NAN: not judged */
};

struct trial_line { /* a hot source line, over all workloads of the scoring regime */
    int line;
    double share, lanes_active, requests, sectors_per_request, ideal_sectors_per_request, conflicts_per_request,
        warp_insns;
};

struct trial {
    enum verdict verdict;
    const char *words; /* whoever judged; "" when passed */
    int line, col;     /* in the candidate's file; 0 none */
    double
        score; /* geometric mean of original / candidate over the workloads, scoring regime; NAN unless timed */
    double low, high; /* its interval; NAN when modelled */
    const struct trial_workload *workloads;
    size_t n_workloads, n_dims;
    size_t cases; /* verification cases run */
    struct trial_errors error, original_error, allowed_error;
    const char *error_where;               /* output and case of the worst error */
    const struct trial_accuracy *accuracy; /* floating outputs, kind of values by kind of values */
    size_t n_accuracy;
    const char *exact;     /* where the exact answers are from: "reference", "shadow" (derived), "original" */
    double shadow_lost;    /* share of elements for which nothing could be derived; NAN: "reference" */
    const char *underived; /* why not all cases have derived answers; NULL: they have, or need none */
    const char *counters;  /* what bounds, occupancy and lines come from: "ncu"; NULL: the simulator's clock */
    const struct trial_line *lines; /* by share, at most 12 */
    size_t n_lines;
    unsigned registers, spill_bytes, stack_bytes, shared_bytes; /* worst over its kernels */
    const char *missing_checks;                                 /* of the sanitizer, NULL when none */
    const char *printed;                                        /* of device printf, NULL when none */
    const char *code; /* hash of what it compiles to and launches: what two files share that do the same; NULL:
                       * it did not get so far */
    bool known;       /* its code is one of those that were known: nothing was run (judge_file only) */
    struct cuda_clocks clocks; /* of the GPU right after it was timed */
    double empty_us;           /* a kernel that does nothing, as part of a graph; NAN when modelled */
    double compile_s, verify_s, measure_s, wall_s;
    double gpu_verify_s, gpu_measure_s; /* what of it needed the GPU; NAN: none */
};

json_t *trial_to_json(const struct trial *t);
json_t *trial_clocks_to_json(const struct cuda_clocks *c);                  /* null when not known */
json_t *trial_accuracy_to_json(const struct trial *t);                      /* `errors` of docs/result.md */
json_t *trial_edges_to_json(void);                                          /* and `ulp_edges` */
void trial_add_missing(struct arena *a, struct trial *t, const char *what); /* NULL: nothing */
bool trial_from_json(const json_t *o, struct arena *a, struct trial *t, struct err *err);

/* ---- where it is judged ---- */

struct trial_device {
    const char
        *kind; /* "sim": all is modelled; "cuda": verified on the simulator and the GPU, timed on the GPU */
    const char *name;  /* "NVIDIA H200" */
    const char *model; /* the simulated device, "h200": itself, or the one nearest to the GPU */
    bool same_model, validated;
    const char *uuid, *driver; /* of a GPU; NULL otherwise */
    const char *nvrtc;         /* the compiler's version, "13.0" */
    int index, driver_cuda;
    struct kernel_limits limits;
};

json_t *trial_device_to_json(const struct trial_device *d);
bool trial_device_from_json(const json_t *o, struct arena *a, struct trial_device *d, struct err *err);
char *trial_device_id(struct arena *a, const struct trial_device *d); /* as trial_options.device */
static inline bool trial_device_measures(const struct trial_device *d)
{
    return str_eq(d->kind, "cuda");
}

/* ---- in one process ---- */

struct trial_options {
    const char *
        device; /* a simulated device's name, "h200"; or GPUs: "cuda:0", "cuda:0,1" (a judge takes the first) */
    uint64_t seed;                 /* of the suite and the data; hidden confirmation uses another */
    const struct task_case *cases; /* beside the rules' suite, n_cases of them */
    size_t n_cases;
    bool verify_only, measure_only;
    bool with_nvcc; /* where nvcc exists, what it makes of the whole file must pass the suite too (2 s more) */
    bool confirm; /* the last word: workloads verified whole on the simulator too; both regimes measured, longer
                   */
    /* The process shuts itself in before the compiler runs, for good: this is the only folder that it may write
     * to. NULL: it does not. What the kernel lacks for it is in every trial's missing_checks. */
    const char *scratch;
    bool hidden; /* cases that the seed draws over the whole domain join the suite: for a version that is final
                  */
    bool alone;  /* no original, no suite's answers: the task only, for the verb `launch` */
    bool no_control; /* on a GPU: the original against itself is not timed; somebody else has done it */
    /* Told before and after this process waits for its turn on the GPU; NULL: nobody listens. */
    void (*phase)(void *context, bool waiting);
    void *phase_context;
    /* Told by a pool when a worker begins with what was submitted under that id; NULL: nobody listens. */
    void (*started)(void *context, int id, int worker);
    void *started_context;
};

struct judge; /* a task opened: original and reference compiled, expected answers and original times kept */

/* An original that does not parse, compile, run or is unsafe inside its domain is an error (ERR_INPUT) with the
 * finding. */
bool judge_open(struct judge **out, const struct task *t, const struct trial_options *o, struct err *err);
void judge_close(struct judge *j);
/* Faults that could be put into the original's PTX. */
void judge_faults(const struct judge *j, const struct mutant **list, size_t *n);
/* The files from here on are mutants, or are not: these are verified only, and get the fault of that number
 * (-1: none) put into what they compile to. */
void judge_set_mutant(struct judge *j, bool mutant, int fault);
const struct trial *judge_original(
    const struct judge *j); /* the original's own trial: verdict passed, score 1 */
/* path stands in messages. The trial is in the arena. False only when the judge itself fails. */
bool judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                struct err *err);
void judge_set_known(struct judge *j, const json_t *codes); /* an array of texts; borrowed */
const struct trial_device *judge_device(const struct judge *j);
/* The A/A control: half of its widest interval over the workloads; NAN when modelled or not measured here. */
double judge_noise(const struct judge *j);
/* The same, when another process measured it. */
void judge_set_noise(struct judge *j, double half_width);
/* A candidate has left the GPU's context unusable: no more files can be judged in this process. */
bool judge_spoilt(const struct judge *j);

/* ---- in worker processes, several at a time ---- */

/* One or more `astra worker` processes, each with a judge of its own. A hang, crash or excess of memory of a
 * candidate kills its worker, becomes the verdict, and the worker is started anew. */
struct pool;

struct pool_limits {
    double candidate_s;    /* wall time of one candidate; 0: 60 */
    size_t resident_bytes; /* 0: 2 GiB */
};

bool pool_open(struct pool **out, const struct task *t, const struct trial_options *o, int workers,
               const struct pool_limits *limits, struct err *err);
void pool_close(struct pool *p); /* kills what runs; takes NULL */
/* At least as many workers from here on; the new ones start when there is work for them. */
void pool_widen(struct pool *p, int workers);
bool pool_original(struct pool *p, struct arena *a, struct trial *t,
                   struct err *err); /* waits for a worker to be ready */
/* A file that compiles to the same as this one need not be run: it gets this trial. */
void pool_learn(struct pool *p, const struct trial *t);
bool pool_submit(struct pool *p, int id, const char *path, const char *text, struct err *err); /* queues */
/* Faults that could be put into the original's PTX, after pool_original; and a mutant, which is verified only:
 * the original with the fault of that number, or with one in its text (fault -1). */
void pool_faults(const struct pool *p, struct arena *a, const struct mutant **list, size_t *n);
bool pool_submit_mutant(struct pool *p, int id, const char *path, const char *text, int fault, struct err *err);
void pool_drop(struct pool *p); /* what was submitted and not collected is forgotten */
const struct trial_device *pool_device(const struct pool *p); /* after pool_original */
size_t pool_busy(const struct pool *p);                       /* submitted and not yet collected */
/* Waits at most wait_s for one finished trial, in any order. *id -1 when none came in time or a signal arrived.
 */
bool pool_collect(struct pool *p, double wait_s, struct arena *a, int *id, struct trial *t, struct err *err);

int pool_worker_main(int argc, char **argv); /* the hidden verb `worker` */

/* ---- a version by itself under NVIDIA's own programs, where they are: the profiler's counters in the place of
 * the clock's (docs/profile.md), and the compute-sanitizer as the last gate (docs/integrity.md). Each takes
 * seconds: for the version a round starts from, and for the one that is given back. ---- */

/* Counters of one run of each workload: what bounds them, occupancy, traffic, hot lines of t, which keeps its
 * times. *why_not NULL: done, t->counters says so; else the reason, and t is as it was. */
bool watch_counters(const struct task *task, const char *device, const char *path, const char *text, bool few,
                    struct arena *a, struct trial *t, const char **why_not, struct err *err);

struct watch_finding {
    const char *tool, *words; /* NULL: nothing was found */
    int line;                 /* in the file; 0: unknown */
    const char *why_not;      /* tools that could not run, with the reason; NULL: all did */
};
/* memcheck, racecheck, initcheck and synccheck over the suite's cases. */
bool watch_sanitizer(const struct task *task, const char *device, const char *path, const char *text,
                     struct arena *a, struct watch_finding *f, struct err *err);

int alone_main(int argc, char **argv); /* the hidden verb `launch` */

#endif
