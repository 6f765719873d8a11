/* models: which backend each role has, and which model serves it: from --agents, astra.yaml and the flags
 * (docs/models.md). */
#ifndef OPTIMIZE_LLM_CONFIG_H
#define OPTIMIZE_LLM_CONFIG_H

#include "base/base.h"
#include "llm/llm.h"

enum models_role { FOR_TESTER, FOR_PROFILER, FOR_PLANNER, FOR_CODER, FOR_SINGLE, N_MODEL_ROLES };

struct models {
    bool asked[N_MODEL_ROLES];               /* a model; else the rules */
    bool rules_first;                        /* the rules' own rounds, before any model is asked */
    bool no_profiler;                        /* models see times alone: what is a profile worth to them? */
    struct llm_config config[N_MODEL_ROLES]; /* of the roles asked for */
    const char *prices;                      /* a file of the user's; NULL: the built-in ones */
    double budget_usd;                       /* 0: none */
    int64_t budget_tokens;                   /* 0: none */
    int width;                               /* conversations at a time */
    int strategies;                          /* of a round */
};

struct models models_default(void); /* nobody asked, width 1; strategies 0: as wide */
const char *models_role_name(enum models_role role);
bool models_any(const struct models *m); /* is a model asked at all? */

/* "rules", "llm", "single", or ROLE=BACKEND,...: fills asked, rules_first and no_profiler. */
bool models_backends(const char *agents, struct models *m, struct err *err);

/* One key with its value, as astra.yaml and the flags name it ("base_url"); for one role, or for all. False
 * when there is no such key, or with a value that cannot be; err has no place. */
bool models_set(struct models *m, enum models_role role, const char *key, const char *value, struct err *err);
bool models_is_path(const char *key); /* its value is a path */
/* astra.yaml: what flags do not say. Unknown keys are errors with line and column. */
bool models_read(struct models *m, struct arena *a, const char *path, struct err *err);
/* Everything that can be known to be wrong before the first call. */
bool models_check(const struct models *m, struct err *err);

bool models_same(const struct llm_config *a, const struct llm_config *b);
json_t *models_to_json(const struct models *m);
bool models_from_json(const json_t *o, struct arena *a, struct models *m, struct err *err);

#endif
