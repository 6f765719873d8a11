/* trial: one candidate judged: understood, compiled, verified, measured, profiled. Its fate is a verdict, a
 * value; only a broken task or a broken world is an error. docs/integrity.md says what is checked and where. */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

#include "base/base.h"
#include "gpu/gpu.h"
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
    double low, high;    /* interval of the speed-up over the original; NAN when modelled */
    const char *bound;   /* ptx_bound_name */
    double dram_us, l2_us, issue_us, latency_us, launch_us, sync_us;
    double dram_bytes, occupancy, waves;
    bool extrapolated;
};

struct trial_workload {
    const int64_t *dims; /* the task's n_dims */
    struct trial_time cold, hot;
};

struct trial_errors { /* in ulps of the output type, worst over outputs and cases */
    double p50, p99, max;
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
    const struct trial_workload *workloads;
    size_t n_workloads, n_dims;
    size_t cases; /* verification cases run */
    struct trial_errors error, original_error, allowed_error;
    const char *error_where;        /* output and case of the worst error */
    const struct trial_line *lines; /* by share, at most 12 */
    size_t n_lines;
    unsigned registers, spill_bytes, stack_bytes, shared_bytes; /* worst over its kernels */
    const char *missing_checks;                                 /* of the sanitizer, NULL when none */
    const char *printed;                                        /* of device printf, NULL when none */
    double compile_s, verify_s, measure_s, wall_s;
};

json_t *trial_to_json(const struct trial *t);
bool trial_from_json(const json_t *o, struct arena *a, struct trial *t, struct err *err);

/* ---- in one process ---- */

struct trial_options {
    const char *device; /* a ptx_device's name, "h200" */
    uint64_t seed;      /* of the suite and the data; hidden confirmation uses another */
    bool verify_only, measure_only;
    bool with_nvcc; /* where nvcc exists, what it makes of the whole file must pass the suite too (2 s more) */
    bool original_as_baseline; /* always true but for `profile` of the original alone */
};

struct judge; /* a task opened: original and reference compiled, expected answers and original times kept */

/* An original that does not parse, compile, run or is unsafe inside its domain is an error (ERR_INPUT) with the
 * finding. */
bool judge_open(struct judge **out, const struct task *t, const struct trial_options *o, struct err *err);
void judge_close(struct judge *j);
const struct trial *judge_original(
    const struct judge *j); /* the original's own trial: verdict passed, score 1 */
/* path stands in messages. The trial is in the arena. False only when the judge itself fails. */
bool judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                struct err *err);
void judge_limits(const struct judge *j, struct kernel_limits *limits); /* what launchers see of the device */

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
bool pool_original(struct pool *p, struct arena *a, struct trial *t,
                   struct err *err); /* waits for a worker to be ready */
bool pool_submit(struct pool *p, int id, const char *path, const char *text, struct err *err); /* queues */
void pool_kernel_limits(const struct pool *p,
                        struct kernel_limits *limits); /* what launchers see of the device */
size_t pool_busy(const struct pool *p);                /* submitted and not yet collected */
/* Waits at most wait_s for one finished trial, in any order. *id -1 when none came in time or a signal arrived.
 */
bool pool_collect(struct pool *p, double wait_s, struct arena *a, int *id, struct trial *t, struct err *err);

int pool_worker_main(int argc, char **argv); /* the hidden verb `worker` */

#endif
