/* What run.c, candidate.c and refine.c share: one run in memory. */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include "agent/agent.h"
#include "diagnose.h"
#include "report/report.h"
#include "run.h"
#include "search/search.h"
#include "store/store.h"
#include "trial/trial.h"

struct candidate {
    int id, parent, round, repairs; /* repairs: the failed candidate it mends, or -1 */
    struct agent_strategy strategy;
    const struct agent_step *steps; /* what took effect */
    size_t n_steps;
    const char *text;
    char hash[24];
    struct trial trial;
    bool judged;
    struct agent_diagnosis diagnosis;
};

struct run {
    const struct run_options *o;
    struct arena *arena; /* of the run */
    struct task *task;
    struct store *store;
    struct pool *pool;
    struct search search;
    VEC(struct candidate *) candidates; /* by id */
    struct map seen;                    /* hash of normalised text to candidate */
    struct kernel_limits limits;
    double start_s, spent_before_s;
    struct store_run row;
};

/* ---- run.c ---- */

bool run_interrupted(void);             /* Ctrl-C */
bool run_stopping(const struct run *r); /* Ctrl-C, or the time is up */

/* ---- candidate.c: from a strategy to a stored trial ---- */

struct candidate *candidate_add(struct run *r, int parent, int round, const char *text);
/* The coder, then the queue: a candidate whose trial is already stored is told at once. *made (which may be
 * NULL) is the candidate of that text, new or known from before; NULL when the strategy gave none. */
bool candidate_submit(struct run *r, int parent, int round, const struct agent_strategy *s, int repairs,
                      struct candidate **made, struct err *err);
/* Waits for everything submitted. When the run is stopping, what still runs is left behind: it is not stored,
 * so a resumed run does it again. */
bool candidate_collect(struct run *r, struct err *err);
void candidate_tell(struct run *r, struct candidate *c); /* its trial is known: search, diagnosis, trace */
bool candidate_store(struct run *r, const struct candidate *c, struct err *err);
/* What became of the candidates so far, and the steps that made one, for the planner. */
void candidate_history(struct run *r, struct agent_plan_input *in);
void candidate_lineage(struct run *r, int id, struct agent_plan_input *in);

/* ---- refine.c: what is made of results ---- */

bool refine_failures(struct run *r, size_t first, struct agent_plan_input *in, struct err *err);
bool refine_losers(struct run *r, size_t first, int round, struct err *err);
bool refine_prune(struct run *r, int round, struct err *err);
bool refine_confirm(struct run *r, struct err *err);

#endif
