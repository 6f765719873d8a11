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
/* Whoever carries a run on takes its lock first, until store_close. An error that names the process where
 * another has it. */
bool store_lock(struct store *s, const char *folder, struct err *err);
/* Whether another process has that lock. To be asked while this process has run.db closed: it would let go of
 * its own locks. */
bool store_in_use(const char *folder);

struct store_run {
    int id; /* given by store_put_run */
    const char *astra, *task_name, *task_dir, *source_hash, *options, *started, *ended, *status, *result;
    double wall_s;
};

bool store_put_run(struct store *s, const struct store_run *r, struct err *err); /* adds or replaces */
bool store_get_run(struct store *s, struct arena *a, struct store_run *r, struct err *err);

struct store_candidate {
    int id, parent, round, repairs; /* parent, repairs: -1 none */
    const char *backend, *name, *reason, *plan, *steps, *text, *hash, *verdict, *words;
    int line;
    double gain, score, wall_s;       /* NAN: unknown */
    const char *trial;                /* JSON; NULL: none */
    const char *bound_by, *diagnosis; /* NULL: none */
};

/* Adds or replaces. */
bool store_put_candidate(struct store *s, const struct store_candidate *c, struct err *err);
/* By id. */
bool store_candidates(struct store *s, struct arena *a, const struct store_candidate **list, size_t *n,
                      struct err *err);
/* The trial of an earlier candidate with this hash; *trial NULL when there is none. */
bool store_find_trial(struct store *s, struct arena *a, const char *hash, int *id, const char **trial,
                      struct err *err);

/* A trial kept by its candidate's hash before the candidate has its row; store_find_trial finds it too, with
 * *id -1. */
bool store_put_trial(struct store *s, const char *hash, const char *trial, struct err *err);

/* ---- models ---- */

struct store_call {
    int id; /* in the order in which replies came; given by store_put_call */
    const char *label, *role, *provider, *model, *hash;
    const char *request, *reply; /* JSON */
    bool failed;                 /* no reply came */
    const char *started;
    int64_t tokens_in, tokens_cached, tokens_reasoning, tokens_out; /* cached, reasoning: -1 not told */
    bool estimated;                                                 /* tokens_in and tokens_out */
    double usd, wall_s;                                             /* usd NAN: no price known */
};

/* On disk when it returns, whatever happens to the machine then. */
bool store_put_call(struct store *s, const struct store_call *c, struct err *err);
/* The reply to this very request; *reply NULL when there is none. */
bool store_find_call(struct store *s, struct arena *a, const char *hash, const char **reply, struct err *err);
bool store_calls(struct store *s, struct arena *a, const struct store_call **list, size_t *n, struct err *err);
/* Forgets the failures since the last reply, so that a resumed run asks again. */
bool store_forget_failures(struct store *s, struct err *err);

struct store_strategy {
    int id, round, parent;
    const char *label, *name, *reason, *plan;
    double expected_gain, confidence;
    const char *outcome; /* NULL while it is worked on */
    int candidate;       /* the last one made for it; -1 none */
};

bool store_put_strategy(struct store *s, const struct store_strategy *x,
                        struct err *err); /* adds or replaces */
bool store_strategies(struct store *s, struct arena *a, const struct store_strategy **list, size_t *n,
                      struct err *err);

/* Free key and value notes of a run. */
bool store_note(struct store *s, const char *key, const char *value, struct err *err);
bool store_get_note(struct store *s, struct arena *a, const char *key, const char **value, struct err *err);

/* ---- memory across runs: one file a user, docs/rewrites.md ---- */

struct memory_row {        /* what some steps did to one version of one kernel */
    int id;                /* in the order of writing; given by memory_put */
    const char *kernel;    /* hash of its text and workloads */
    const char *device;    /* "NVIDIA H200" */
    const char *basis;     /* "measured" or "modelled" */
    const char *version;   /* hash of the version that the steps were tried on */
    const char *features;  /* of that version: a JSON object of whoever compares them */
    const char *candidate; /* hash of what came of it */
    const char *steps;     /* JSON: [["vectorise", 16], ...] */
    const char *verdict;   /* of the judge */
    double gain;           /* over the version; NAN unless timed */
    const char *noted;     /* UTC */
};

/* The file at path, which is made with its folder where it is not there and `write` is said; else *out is NULL
 * then. A file that is broken, another program's or a newer astra's is an error of one sentence. */
bool memory_open(struct store **out, const char *path, bool write, struct err *err);
/* The newest `most` rows, oldest first. */
bool memory_rows(struct store *s, struct arena *a, int most, const struct memory_row **list, size_t *n,
                 struct err *err);
/* All or none. A row of the same kernel, device, basis, version and candidate is replaced. */
bool memory_put(struct store *s, const struct memory_row *list, size_t n, struct err *err);
struct memory_choice {                    /* rows that all of these hold for; NULL: any */
    const char *kernel, *device, *before; /* kernel: its hash, or how that begins; before: noted before then */
};
bool memory_forget(struct store *s, const struct memory_choice *c, size_t *n_gone, struct err *err);

/* As `astra memory export` writes it and import reads it, with the place of what is wrong. */
json_t *memory_to_json(const struct memory_row *list, size_t n);
bool memory_from_json(const json_t *o, struct arena *a, const struct memory_row **list, size_t *n,
                      struct err *err);

#endif
