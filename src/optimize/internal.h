/* What the files of the loop share: one run in memory. round.h has the road of a candidate. */
#ifndef OPTIMIZE_INTERNAL_H
#define OPTIMIZE_INTERNAL_H

#include "agent/agent.h"
#include "diagnose.h"
#include "report/report.h"
#include "optimize.h"
#include "search.h"
#include "store/store.h"
#include "worker/worker.h"

struct candidate {
    int id, parent, round, repairs; /* repairs: the failed candidate it mends, or -1 */
    const char *name;               /* after what was done */
    struct agent_strategy strategy;
    const struct agent_step *steps; /* what took effect */
    size_t n_steps;
    const char *text;
    char hash[24];
    struct trial trial;
    bool judged;
    bool pruned; /* the best with steps left out or other numbers: says nothing of what could be tried */
    struct agent_diagnosis diagnosis;
    const char *backend;           /* "original", "rules", "llm", "also" */
    const char *label;             /* in events */
    struct agent_version *version; /* opened when it is first a round's parent; NULL until then */
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
    bool no_counters; /* of the GPU: they were asked for in vain */
    bool nvcc_asked;  /* whether it takes the original */
    bool unjudged;    /* this machine was too slow to judge something: a resumed run tries again */
    double start_s, spent_before_s;
    struct store_run row;
    struct calls *calls;
    const char *suite_text;
    const struct task_case *cases; /* beside the rules' suite */
    size_t n_cases;
    VEC(struct agent_lesson) lessons; /* of the first n_learnt candidates, and of strategies without one */
    size_t n_learnt, n_known;         /* n_known: of candidates, whose code the pool knows */
    int n_strategies;                 /* of models */
    int n_derived;                    /* attempts that no round planned */
    bool enough;                      /* the planner has said that nothing is worth another try */
    const struct attempt *single;     /* the last turn of the one agent, and all said before it */
    const struct llm_message *said;
    size_t n_said;
    int last_round;           /* that --rounds allows those who think now */
    VEC(const char *) labels; /* of what is submitted to the pool, by its id there */
    int told_best;
    const struct agent_memory *memory; /* of earlier runs; NULL: none is used */
    bool memory_broken;                /* it was told: nothing is written there either */
};

/* ---- run.c ---- */

const char *run_now_utc(struct arena *a);
bool run_interrupted(void); /* Ctrl-C */
/* Of all workers that the run has, whose they are. */
bool run_pool(const struct run *r, struct pool **out, const struct trial_options *o, struct err *err);
bool run_stopping(const struct run *r); /* Ctrl-C, or the time is up */

/* ---- candidate.c: from a strategy to a stored trial ---- */

struct candidate *candidate_add(struct run *r, int parent, int round, const char *text);
void candidate_tell(struct run *r, struct candidate *c); /* its trial is known: search, diagnosis, events */
bool candidate_store(struct run *r, const struct candidate *c, struct err *err);
/* A round begins: files that compile to the same as a candidate so far are not run in it. Only then, so that
 * what is run does not follow from the order in which trials end. */
void candidate_learn(struct run *r);
bool candidate_version(struct run *r, struct candidate *c, const struct agent_version **v, struct err *err);
/* What each step of its lineage left, for a reader of the result. */
bool candidate_note_lineage(struct run *r, int id, struct err *err);
void candidates_close(struct run *r);
void candidate_hash(struct run *r, const char *text, char hash[24]); /* of the normalised text */
/* What became of the candidates so far, and the steps that made one, for the planner. */
void candidate_history(struct run *r, struct agent_plan_input *in);
void candidate_lineage(struct run *r, int id, struct agent_plan_input *in);
/* The last file in its lineage that somebody wrote, the original where nobody did; *n_steps that the rules took
 * from there. */
struct candidate *candidate_base(struct run *r, int id, size_t *n_steps);

/* ---- look.c: the GPU's own tools ---- */

bool look_counters(struct run *r, struct candidate *c, struct err *err);
/* After a confirmation that passed on a GPU: a finding makes it unsafe. */
bool look_sanitizer(struct run *r, const char *text, struct trial *t, struct err *err);

/* ---- remember.c: memory across runs ---- */

/* Reads it, or what the run has read of it before. False only when run.db fails. */
bool remember_begin(struct run *r, struct err *err);
/* Writes what the run learned; the whole way to its best only where the run is whole. */
void remember_end(struct run *r, bool whole);
void remember_features(struct run *r, const struct candidate *c, struct agent_features *f);

/* ---- prune.c, tune.c and confirm.c ---- */

bool prune_best(struct run *r, int round, struct err *err);
bool tune_best(struct run *r, int round, struct err *err);
/* refused, unless NULL: the best has failed; see there. */
bool confirm_best(struct run *r, bool *refused, struct err *err);
/* The original beside the library that was asked for, where it stays; else nothing. */
bool confirm_original(struct run *r, struct err *err);
/* What a failed confirmation may tell whoever codes next: that there are such cases, and what kind of fault it
 * was; never the case. Other words stay as they are. */
const char *confirm_words(const struct trial *t);

/* ---- suite.c ---- */

/* The cases of a tester that is a model, for the pool opened with o, which is opened anew. */
bool suite_extend(struct run *r, struct trial_options *o, struct candidate *original, struct err *err);
/* Does the suite of a pool opened with `suite` notice enough faults to begin? */
bool suite_adequate(struct run *r, const struct trial_options *suite, struct err *err);

/* ---- calls.c: models asked, each reply stored before it is used ---- */

enum call_state {
    CALL_WAITING, /* for its turn */
    CALL_UNDER_WAY,
    CALL_ANSWERED, /* also when the answer is that there is none: reply.end */
    CALL_NOT_MADE  /* the budget is spent */
};

struct call {
    enum call_state state;
    int id; /* in this process */
    enum models_role role;
    const char *label; /* docs/models.md */
    struct agent_prompt prompt;
    struct llm_reply reply;
    bool stored; /* it was in the store already */
    const char *request, *started;
    char hash[65];
    int64_t tokens_in;   /* estimated */
    int64_t output_most; /* tokens that its reply may have, of a budget; 0: any number */
    double since_s;
};

bool calls_open(struct run *r, struct err *err);
void calls_close(struct run *r); /* abandons what is under way */
/* The call is answered at once when the store has its reply; else it is made when its turn comes. */
bool calls_ask(struct run *r, enum models_role role, const char *label, const struct agent_prompt *p,
               struct call **call, struct err *err);
/* Sends what may be sent, takes what came, waiting at most wait_s. False on an I/O or system error, or when the
 * models do: one that cannot answer, or none that does. */
bool calls_turn(struct run *r, double wait_s, struct err *err);
bool calls_wait(struct run *r, struct call *call, struct err *err); /* until it is answered, or the run stops */
size_t calls_under_way(const struct run *r);                        /* and waiting */
bool calls_exhausted(const struct run *r);                          /* a call was not made for want of budget */
const char *call_end_name(enum llm_end end);                        /* "done", "cut", ... */
json_t *calls_spent(const struct run *r); /* {"calls", "tokens", "usd"} of all calls ever made in this run */

/* ---- tell.c: events, docs/result.md ---- */

void tell_run(const struct run *r, bool resumed);
void tell_original(const struct run *r);
void tell_round(const struct run *r, int round, int parent, const char *backend);
void tell_plan(int round, int parent, const struct agent_diagnosis *d, const struct agent_strategy *s,
               size_t n);
void tell_submitted(const char *label, const char *name, int round, int parent);
void tell_started(void *run, int ticket, int worker); /* trial_options.started */
void tell_judged(const struct run *r, int ticket, const struct trial *t);
void tell_trial(const struct run *r, const struct candidate *c);
void tell_learnt(int id, const char *name, const char *verdict, const char *words, double gain, int parent);
void tell_best(struct run *r); /* when it is another one than was told last */
void tell_confirm(const struct candidate *c, const struct trial *t);
void tell_budget(const char *what, double used, double limit); /* "s", "tokens", "usd": spent */
void tell_end(const struct run *r, const char *status, const json_t *result, const char *words);

/* ---- what rounds ask of LLMs beside plans and files: backend_llm.c ---- */

struct round;
/* The tester's cases beside the rules'; none when it had none to give. */
bool llm_suite(struct run *r, struct agent_suite *suite, struct err *err);
/* Where the profiler is an LLM: its diagnosis of the round's parent; else the rules' stays. */
bool llm_diagnosis(struct round *t, struct err *err);
/* Every candidate so far as a lesson for the planner. */
void lessons_catch_up(struct run *r);

#endif
