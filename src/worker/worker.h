/* worker: candidates judged in processes of their own, several at a time; and one version watched by NVIDIA's
 * own programs. */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "base/base.h"
#include "judge/judge.h"
#include "verdict/verdict.h"

/* One or more `astra worker` processes, each with a judge of its own. A crash or excess of memory of a
 * candidate kills its worker, becomes the verdict, and the worker is started anew. So does one that takes too
 * much time, whose verdict says nothing of it: VERDICT_TOO_SLOW. */
struct pool;

struct pool_limits {
    double candidate_s; /* processor time for one candidate; 0: ASTRA_CANDIDATE_S, or 60, or 300 to confirm */
    double wall_s;      /* however little of it is processor time; 0: ten times that */
    size_t resident_bytes; /* 0: 3 GiB, beside a GPU more */
};

/* ---- workers that are commands: docs/campaign.md ---- */

struct fleet_archive { /* of `make dist`, for machines that have no Astra */
    const char *bytes;
    size_t len;
    char hash[65];
};

struct fleet_node {
    const char *name;
    const char *const *argv;          /* ends with NULL; what it starts speaks as `astra node` does */
    const char *device;               /* of one that measures: its GPU, as its machine numbers them */
    const struct fleet_archive *send; /* NULL; else argv starts a shell, which is sent this */
    bool measures, trusted;           /* all simulate */
};

struct fleet {
    const char *path;
    const struct fleet_node *nodes;
    size_t n;
    double start_s, silence_s; /* it has to greet; and then, between two signs of life */
};

/* An error has its place in the file. */
bool fleet_read(struct fleet **out, struct arena *a, const char *path, struct err *err);
bool fleet_measures(const struct fleet *f); /* has one that does */

bool pool_open(struct pool **out, const struct task *t, const struct trial_options *o, int workers,
               const struct pool_limits *limits, struct err *err);
/* The same with the workers of a fleet, and no other; o->device is a GPU's where they shall measure. alone: one
 * of them at a time, one that is trusted where there is one. */
bool pool_open_fleet(struct pool **out, const struct task *t, const struct trial_options *o,
                     const struct fleet *f, bool alone, struct err *err);
const struct fleet_node *pool_judged_by(const struct pool *p); /* the last trial; NULL: this machine */
void pool_close(struct pool *p);                               /* kills what runs; takes NULL */
/* At least as many workers from here on; the new ones start when there is work for them. */
void pool_widen(struct pool *p, int workers);
bool pool_original(struct pool *p, struct arena *a, struct trial *t,
                   struct err *err); /* waits for a worker to be ready */
/* A file that compiles to the same as this one need not be run: it gets this trial. */
void pool_learn(struct pool *p, const struct trial *t);
bool pool_submit(struct pool *p, int id, const char *path, const char *text, struct err *err); /* queues */
/* The same, but only timed, by the simulator's clock also where there is a GPU: the trial's score is of
 * modelled times, and its verdict says nothing of correctness. */
bool pool_submit_timed(struct pool *p, int id, const char *path, const char *text, struct err *err);
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
/* The verb `node`: the other end of a fleet's command. It speaks on stdin and stdout until stdin ends, judges
 * by a worker of its own within that one's limits, and leaves nothing but a cache of contents by their hash. */
int pool_node_main(void);

/* ---- a version by itself under NVIDIA's own programs, where they are: the profiler's counters in the place of
 * the clock's (docs/measuring.md), and the compute-sanitizer as the last gate (docs/integrity.md). Each takes
 * seconds: for the version a round starts from, and for the one that is given back. ---- */

struct watched {
    const struct task *task;
    const char *device, *path, *text;
};

/* Counters of one run of each workload: what bounds them, occupancy, traffic, hot lines of t, which keeps its
 * times. *why_not NULL: done, t->counters says so; else the reason, and t is as it was. */
bool watch_counters(const struct watched *v, bool few, struct arena *a, struct trial *t, const char **why_not,
                    struct err *err);

struct watch_finding {
    const char *tool, *words; /* NULL: nothing was found */
    int line;                 /* in the file; 0: unknown */
    const char *why_not;      /* tools that could not run, with the reason; NULL: all did */
};
/* memcheck, racecheck, initcheck and synccheck over the suite's cases. */
bool watch_sanitizer(const struct watched *v, struct arena *a, struct watch_finding *f, struct err *err);

#endif
