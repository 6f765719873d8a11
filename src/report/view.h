/* view: everything of a run that its faces draw or list, read once: from the store, and of the run's folder the
 * kept task and suite. A run may have stopped anywhere: what is not there is NULL, 0 or NAN, and never an
 * error. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "base/base.h"
#include "store/store.h"
#include "task/task.h"
#include "verdict/verdict.h"

struct view_step {                /* a transform that took effect */
    const char *transform, *move; /* move: as earlier versions call it */
    int setting;
    const char *why,
        *text; /* what it is for, the file after it; NULL: not kept, as they are in the best's lineage */
};

struct view_candidate {
    /* row.id is its place in view.candidates; its `workloads` are not filled in. Where a run stopped before it
     * was judged, its verdict is "unfinished" and it has no text and no trial. */
    struct store_candidate row;
    struct trial trial;            /* row.trial parsed */
    const struct view_step *steps; /* from its parent; none where a model wrote the file */
    size_t n_steps;
    const struct store_strategy *strategy; /* of a model; NULL: the rules' */
    bool in_lineage;                       /* from the original to the best, both included */
};

struct view_workload {
    const char *dims;                   /* "rows=16 d=4096" */
    struct trial_time times[N_REGIMES]; /* of the best, the original's beside it */
};

struct view_message {
    const char *from, *text; /* from: "system", "user", "model" */
};

struct told { /* what a run's store has of its models */
    const struct store_call *calls;
    const struct store_strategy *strategies;
    const struct store_candidate *candidates;
    size_t n_calls, n_strategies, n_candidates;
};
struct call_fate {
    const struct store_strategy *strategy; /* NULL: it was asked for none */
    const char *outcome;                   /* of the file that it wrote, by now; NULL without a strategy */
    int candidate;                         /* that file; -1: none */
};

struct view_call {
    struct store_call row;
    const struct view_message *messages; /* the reply is the last one */
    size_t n_messages;
    const char *end; /* "done", "cut", ... and words about it */
    struct call_fate fate;
};

struct view {
    const char *folder;
    struct store_run run;
    const json_t *options; /* run.options parsed */
    const json_t *result;  /* docs/result.md; NULL: the run ended before its original was judged */

    const struct trial_device *device; /* NULL as `result` */
    bool measured;                     /* times */
    enum regime regime;                /* that scores */
    const char *suite_text;            /* what the suite is, in words; NULL */
    const json_t *mutation;            /* faults put into the original; NULL: nobody looked */
    const char *remembered;            /* how many trials of earlier runs ordered this one; NULL: none */
    const json_t *tuning;              /* how the best's numbers were searched; NULL: they were not */
    const char *hidden_seed;           /* NULL: nothing came to be confirmed */
    const char *sanitizer;             /* what compute-sanitizer said; NULL: not asked */
    const struct trial *hidden;        /* the best in the confirmation; NULL */
    bool unjudged;                     /* the machine was too slow to judge something */
    const char *failure;               /* why a failed run failed; NULL: not told */

    const struct view_candidate *candidates; /* the first is the original */
    size_t n_candidates;
    const struct view_candidate *best; /* the original when nothing is better; NULL without candidates */
    int rounds;                        /* in which a candidate was made */
    const struct view_workload *workloads;
    size_t n_workloads;
    const struct view_call *calls;
    size_t n_calls;
    const struct store_strategy *strategies;
    size_t n_strategies;

    const struct task *task; /* the run's own copy; NULL: it is not there any more */
    const json_t *suite;     /* suite.json; NULL: it is not there any more */
};

/* folder's run.db. The view is in the arena; view_close releases what is not. */
bool view_open(struct view **out, struct arena *a, const char *folder, struct err *err);
void view_close(struct view *v);                         /* takes NULL */
bool view_has(const struct view *v, enum regime regime); /* times of it */

#endif
