/* store: a run on disk, in SQLite: what was asked, every candidate with its text and its trial, what came of
 * it. The law: a row is complete or absent, so a run that is killed at any moment can go on from what is there.
 * Trials and steps are kept as the JSON their owners write; the columns beside them are for listing and
 * sorting. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/base.h"

struct store;

/* The folder's run.db; made new when `create`. A file another process holds for long, or that is no database of
 * this version, is an error that says so. */
bool store_open(struct store **out, const char *folder, bool create, struct err *err);
void store_close(struct store *s); /* takes NULL */

struct store_run {
    const char *astra, *task_name, *task_dir, *source_hash, *options, *started, *ended, *status, *result;
    double wall_s;
};

bool store_put_run(struct store *s, const struct store_run *r, struct err *err); /* adds or replaces */
bool store_get_run(struct store *s, struct arena *a, struct store_run *r, struct err *err);

struct store_workload {
    const char *dims, *regime, *bound;
    double us, light_us; /* NAN: unknown */
};

struct store_candidate {
    int id, parent, round, repairs; /* parent, repairs: -1 none */
    const char *mind, *name, *reason, *plan, *steps, *text, *hash, *verdict, *words;
    int line;
    double gain, score, wall_s; /* NAN: unknown */
    const char *trial;          /* JSON; NULL: none */
    const struct store_workload *workloads;
    size_t n_workloads;
    const char *bound_by, *diagnosis; /* NULL: none */
};

/* All of a candidate in one transaction. */
bool store_put_candidate(struct store *s, const struct store_candidate *c, struct err *err);
/* By id; without workloads. */
bool store_candidates(struct store *s, struct arena *a, const struct store_candidate **list, size_t *n,
                      struct err *err);
bool store_workloads(struct store *s, struct arena *a, int candidate, const struct store_workload **list,
                     size_t *n, struct err *err);
/* The trial of an earlier candidate with this hash; *trial NULL when there is none. */
bool store_find_trial(struct store *s, struct arena *a, const char *hash, int *id, const char **trial,
                      struct err *err);

/* Free key and value notes of a run. */
bool store_note(struct store *s, const char *key, const char *value, struct err *err);
bool store_get_note(struct store *s, struct arena *a, const char *key, const char **value, struct err *err);

#endif
