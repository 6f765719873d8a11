/* think: one round in which models think, between think.c, which plans it, and chain.c, which has its
 * strategies worked out. */
#ifndef OPTIMIZE_ROUND_H
#define OPTIMIZE_ROUND_H

#include "internal.h"

enum { MAX_REPAIRS = 2, MAX_ATTEMPTS = 1 + MAX_REPAIRS };

struct attempt {
    const char *text;
    char hash[24];
    const struct attempt *same; /* another chain's attempt with the same text, under trial already */
    bool judged;
    struct trial trial;
    struct candidate *made;
};

enum chain_state { CHAIN_ASKING, CHAIN_JUDGING, CHAIN_ENDED, CHAIN_COUNTED };

struct chain {
    enum chain_state state;
    enum models_role role; /* FOR_CODER or FOR_SINGLE */
    struct store_strategy row;
    struct agent_strategy strategy, repaired; /* repaired: by the rules' coder, the one tried now */
    struct agent_prompt prompt;
    struct call *call;
    const char *asked; /* the label of the last call that is not an -again */
    bool again;        /* the one re-ask is used up */
    struct attempt attempts[MAX_ATTEMPTS];
    size_t n_attempts;
    const char *verdict, *words; /* without a candidate: what became of it */
};

struct thinking { /* one round */
    struct run *r;
    struct candidate *parent;
    int round, first_id; /* candidates from first_id on are the round's own */
    const struct agent_version *version;
    struct agent_profile profile, original;
    struct agent_diagnosis diagnosis;
    struct agent_brief brief;
    struct agent_plan_input in;
    struct chain *chains;
    size_t n_chains, n_counted;
};

/* Every candidate so far as a lesson for the planner. */
void lessons_catch_up(struct run *r);
void reply_unusable(const char *label, const char *words);              /* said to whoever listens */
void reply_cut_short(const struct llm_reply *r, struct err *complaint); /* said in front of the complaint */

/* Works out all chains of the round; what they made is counted in their order. When the run is stopping, the
 * rest is left behind. */
bool chains_run(struct thinking *t, struct err *err);

#endif
