/* run: the main job. One call takes a task from its original to a confirmed best, round by round, with
 * everything on disk; called again on the same folder it goes on where it was stopped. */
#ifndef OPTIMIZE_OPTIMIZE_H
#define OPTIMIZE_OPTIMIZE_H

#include "base/base.h"
#include "optimize/diagnose.h"
#include "optimize/llm_config.h"
#include "optimize/mutation.h"
#include "task/task.h"
#include "worker/worker.h"

struct run_options {
    const char *task_dir;
    const char *out; /* the run's folder; made when it is not there */
    const char *device, *agents;
    int rounds, candidates /* a round */, jobs;
    int min_mutation; /* per cent of the mutants that the suite must notice; 0: nobody looks */
    int tune_budget;  /* points of the best's numbers that are timed; 0: none */
    const struct fleet
        *fleet;      /* the workers; NULL: `jobs` of this machine. Not kept: a resumed run is told again */
    double budget_s; /* 0: none */
    uint64_t seed;
    uint64_t hidden_seed;        /* 0: drawn when the first version is final */
    bool exact;                  /* outputs byte for byte */
    const char *beside;          /* libraries that are timed beside the best; NULL: none */
    const char *memory;          /* the file of what earlier runs learned; NULL: none is read or written */
    const struct run_also {      /* files that somebody wrote, which compete */
        const char *path, *text; /* text: NULL where the run has it already */
    } * also;
    size_t n_also;
    struct models models;
};

enum run_end { RUN_DONE, RUN_BUDGET, RUN_INTERRUPTED };

json_t *run_options_to_json(const struct run_options *o);
bool run_options_from_json(const json_t *o, struct arena *a, struct run_options *r, struct err *err);

/* Fresh, or resumed when out holds a run of this task. The result is in out/result.json, best.cu, best.diff. */
bool run_optimize(const struct run_options *o, bool resume, enum run_end *end, struct err *err);

/* What a kernel of this text (source_hash: its SHA-256) and these workloads is called in the memory. */
const char *remember_kernel(struct arena *a, const struct task *t, const char *source_hash);

enum { RUN_MAX_LOOKS = 2 };

/* The seed of a confirmation's first or second look (0 or 1). */
uint64_t confirm_look_seed(uint64_t hidden, int look);

/* Ask a run in this process to stop soon, resumably; safe in a signal handler. Asked twice, it stops at once.
 */
void run_stop(void);

#endif
