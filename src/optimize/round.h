/* round: the one road of a candidate. A round asks a backend for strategies; each becomes an attempt: a backend
 * writes its file, the file is looked up or judged, what failed goes back to whoever wrote it, and what it made
 * is counted, told and stored in the order of the attempts. So the order in which trials and replies arrive
 * changes nothing, whoever plans and whoever codes. */
#ifndef OPTIMIZE_ROUND_H
#define OPTIMIZE_ROUND_H

#include "internal.h"

enum { MAX_REPAIRS = 2, MAX_TRIES = 1 + MAX_REPAIRS };

struct
try { /* one file for a strategy */
    struct agent_file file;
    char hash[24];
    struct agent_strategy strategy; /* of a repair, the humbler one */
    const struct try *same;         /* another attempt's with the same text, under trial already */
    bool judged;
    struct trial trial;
    struct candidate *made;
};

enum attempt_end {
    ATTEMPT_JUDGED,    /* its last file was */
    ATTEMPT_DUPLICATE, /* that is a file of an earlier round */
    ATTEMPT_DROPPED    /* there is no such file */
};
enum attempt_state { ATTEMPT_ASKING, ATTEMPT_JUDGING, ATTEMPT_ENDED, ATTEMPT_COUNTED };

struct attempt {
    enum attempt_state state;
    struct candidate *parent;
    const char *given;              /* a file that somebody wrote, which is the first try; NULL: none */
    struct agent_strategy strategy; /* as it is tried now */
    const char *label;
    const struct backend *coder; /* who wrote the last file, and mends it */
    struct store_strategy row;   /* where models have a part in it; id 0: none */
    struct try tries[MAX_TRIES];
    size_t n_tries;
    struct candidate *known;     /* whose code it would have been */
    enum attempt_end end;        /* of one that has ended */
    const char *verdict, *words; /* the same for people: the judge's verdict, or "duplicate", "dropped" */
    bool pruned;                 /* candidate.pruned */
    /* of backend_llm.c */
    struct agent_prompt prompt;
    struct call *call;
    const char *asked; /* the label of the last call that is not an -again */
    bool again;        /* the one re-ask is used up */
};

struct round {
    struct run *r;
    const struct backend *planner, *coder;
    int number, first_id; /* candidates from first_id on are the round's own */
    int n;                /* of the rounds with these backends: in labels */
    size_t max_repairs;
    struct candidate *parent;
    const struct agent_version *version;
    struct agent_profile profile, original;
    struct agent_diagnosis diagnosis;
    struct agent_brief brief;
    struct agent_plan_input in;
    struct attempt *attempts;
    size_t n_attempts, n_counted;
};

/* Who plans and who codes: the built-in rules, LLMs, or the one LLM that does both in one conversation. */
struct backend {
    const char *name; /* "rules", "llm" */
    bool (*plan)(struct round *t, const struct agent_strategy **list, size_t *n, struct err *err);
    /* Begins an attempt's first file: goes on with attempt_take or attempt_give_up, or leaves it
     * ATTEMPT_ASKING. */
    bool (*code)(struct round *t, struct attempt *x, struct err *err);
    /* Goes on with one that is ATTEMPT_ASKING; *moved when it could. NULL: none ever is. */
    bool (*go_on)(struct round *t, struct attempt *x, bool *moved, struct err *err);
    /* Another file after the last one failed, or nothing: the attempt has ended. NULL: never. */
    bool (*repair)(struct round *t, struct attempt *x, struct err *err);
};
extern const struct backend backend_rules, backend_llm, backend_single;

/* Whether LLMs have a part in the round: its strategies and what became of them are kept. */
static inline bool round_asks(const struct round *t)
{
    return t->planner != &backend_rules || t->coder != &backend_rules;
}

/* ---- round.c ---- */

/* A round of these backends; *made: how many new candidates. */
bool round_play(struct run *r, const struct backend *planner, const struct backend *coder, int number, int n,
                size_t *made, struct err *err);
/* What everybody is told of the round's parent. */
void round_brief(struct round *t);

/* ---- attempt.c ---- */

/* All attempts of the round, side by side. When the run is stopping, what still runs is left behind: a resumed
 * run does it again. */
bool attempts_run(struct round *t, struct err *err);
/* The same for strategies of transforms that no round planned; `what` begins their labels. */
bool attempts_of_steps(struct run *r, int round, const char *what, struct attempt *list, size_t n,
                       struct err *err);
bool attempt_take(struct round *t, struct attempt *x, const struct agent_file *file, struct err *err);
void attempt_give_up(struct attempt *x, enum attempt_end end, const char *words); /* not judged */
/* The candidate of its last file, new or known from before; NULL: there is none. */
struct candidate *attempt_result(const struct attempt *x);

/* ---- backend_rules.c ---- */

/* The strategy's transforms carried out on the parent; *made false with the reason where that gives no file. */
bool rules_carry_out(struct round *t, struct attempt *x, bool *made, const char **why_not, struct err *err);

/* ---- derive.c: candidates that no round planned ---- */

/* A loser of the round kept for the sizes where it wins. */
bool derive_dispatch(struct run *r, size_t first, int round, struct err *err);
/* The best for each size, of all candidates: in one file where that pays. */
bool derive_per_shape(struct run *r, int round, struct err *err);
/* The files of run_options.also, judged. */
bool derive_also(struct run *r, int round, struct err *err);
/* The other values of tunables that LLMs' candidates from `first` on declare. */
bool derive_tuned(struct run *r, size_t first, int round, struct err *err);
/* Transforms that come last, on the best. */
bool derive_last(struct run *r, int round, struct err *err);

#endif
