/* report: what a run found, read from its store alone, so that it can be rebuilt at any time. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/base.h"
#include "report/compare.h"
#include "report/html.h"
#include "report/markdown.h"
#include "report/runs.h"
#include "report/table.h"
#include "report/view.h"
#include "report/words.h"
#include "store/store.h"
#include "verdict/verdict.h"

/* The result of the run as result.json holds it (docs/result.md). Release with json_decref. */
bool report_result(struct store *s, struct arena *a, json_t **result, struct err *err);

/* result.json, best.cu and best.diff into the folder. */
bool report_write(struct store *s, struct arena *a, const char *folder, const json_t *result, struct err *err);

/* ---- provenance: what a result is of (docs/result.md) ---- */

/* At a run's start: the task's files into folder/task, the suite into folder/suite.json, their hashes into the
 * store. An error when a resumed run's task is not what it was. */
bool report_keep(struct store *s, struct arena *a, const char *folder, const struct task *t,
                 const json_t *suite, struct err *err);
/* The suite as suite.json holds it; `more` are the tester's cases. Release with json_decref. */
json_t *report_suite(const struct task *t, struct arena *a, uint64_t seed, const struct task_case *more,
                     size_t n_more);
/* The `provenance` of a result, without its digest; best is the judged text. */
bool report_provenance(struct store *s, struct arena *a, const char *best, json_t **out, struct err *err);
/* SHA-256 of a result without its own digest: compact, keys sorted. */
void report_digest(struct arena *a, const json_t *result, char hex[65]);
/* The comment that best.cu begins with; "" for an original that stays. And what follows it in such a file. */
char *report_header(struct arena *a, const json_t *result);
const char *report_judged(const char *text);
/* best.cu: the header and the judged text. */
bool report_best(struct store *s, struct arena *a, const json_t *result, const char **text, struct err *err);

/* ---- a run's folder read again, without its store ---- */

struct report_bundle {
    const char *folder;
    json_t *result;
    const json_t *provenance, *device; /* of the result */
    const char *best, *judged;         /* best.cu whole, and what of it was judged */
    struct task *task;                 /* NULL: its files are not those that were judged */
    const char *original;              /* the task's source; NULL: the result does not name it */
    bool intact;                       /* best.cu and best.diff are what the result says */
    json_t *held, *broken;             /* sentences: what is as the result says, and what is not */
};

/* path: the folder or its result.json. What does not hold is no error but stands in `broken`; the suite is not
 * looked at. Close it in any case. */
bool report_bundle_open(struct report_bundle *b, struct arena *a, const char *path, struct err *err);
void report_bundle_close(struct report_bundle *b);
/* Adds a sentence to `held` or `broken`; gives ok. */
bool report_holds(struct report_bundle *b, bool ok, const char *words, ...)
    __attribute__((format(printf, 3, 4)));
bool report_hash_is(const char *text, size_t n, const char *recorded); /* recorded: SHA-256 in hexadecimal */

/* The final words on a terminal: the table of workloads, what was tried and what it taught, where the files
 * are. REPORT_ERRORS: the table of errors against the exact answer, too; REPORT_TOLD: without the candidates,
 * which stand above already. */
enum { REPORT_ERRORS = 1, REPORT_TOLD = 2 };
bool report_summary(struct store *s, struct arena *a, const char *folder, unsigned parts, struct str *out,
                    struct err *err);

/* The note `tuning` of a run, which says what was searched and timed: its best points; and a sentence without
 * its full stop. */
struct table *report_tuning_table(struct arena *a, const json_t *tuning);
char *report_tuning_words(struct arena *a, const json_t *tuning);

/* The `cost` of a result. Release with json_decref. */
bool report_cost(struct store *s, struct arena *a, json_t **cost, struct err *err);

/* Calls of models: all in a table; one with everything that was said; one strategy with its calls and what
 * became of it. Numbers as the tables have them. */
bool report_calls(struct store *s, struct arena *a, struct str *out, struct err *err);
bool report_calls_json(struct store *s, struct arena *a, json_t **list, struct err *err); /* json_decref it */
struct call_fate report_call_fate(const struct told *t, struct arena *a, const struct store_call *c);
/* One row of that list; end: how the call ended, in words. */
json_t *report_call_row(const struct store_call *c, const char *end, const struct call_fate *f);
bool report_call(struct store *s, struct arena *a, int id, struct str *out, struct err *err);
bool report_strategy(struct store *s, struct arena *a, int id, struct str *out, struct err *err);

/* The `verification` of a result: of a candidate's own cases and, unless NULL, of the hidden ones, the worst
 * error of both; of the original's only what of it ran. Takes `mutation`, the suite's score or null. */
struct verified {
    const struct trial *original, *own, *hidden;
};
json_t *report_verification(struct arena *a, const struct verified *v, json_t *mutation);
/* What of the version no case ran, from a `verification`: a sentence without its full stop; NULL: nothing. */
char *report_uncovered(struct arena *a, const json_t *verification);

/* The `device`, `noise` (of the original against itself) and `clocks` of a result. */
json_t *report_device(const struct trial_device *d);
json_t *report_noise(const struct trial *control, enum regime regime);

/* ---- for its reviewer (docs/report.md) ---- */

/* One self-contained HTML file. */
void report_page(const struct view *v, struct arena *a, struct str *out);
/* What the original and the best take of a multiprocessor, in the kernel that takes most. Only of a run with a
 * result. */
struct table *report_resource_table(const struct view *v, struct arena *a);
/* For a pull request, as GitHub reads Markdown. */
void report_markdown(const struct view *v, struct arena *a, struct str *out);
/* The result and, as its `report`, what the page shows beside it. Release with json_decref. */
json_t *report_enriched(const struct view *v, struct arena *a);

/* A result's rows of one regime, wherever in it they stand: a list of its own, empty where there are none. */
json_t *report_rows(const json_t *result, enum regime regime);
/* They as a table; with their geometric mean in the regime that scores. */
struct table *report_workload_table(struct arena *a, const json_t *result, enum regime regime);
void report_workloads(const json_t *result,
                      struct str *out); /* the first on a terminal, and what its times are */

/* `beside` of a result: a library's times beside a version's, of its trial. */
void report_add_beside(json_t *list, const struct trial *t, const char *version);
struct table *report_beside_table(struct arena *a, const json_t *result); /* NULL: no library was asked for */
/* A line a workload: cold, or hot where that scores. */
void report_beside(const json_t *result, enum regime regime, struct str *out);

/* "geometric mean", or "weighted geometric mean" where the task's workloads have weights. */
const char *report_mean_words(const json_t *result);
char *report_dims(struct arena *a, const json_t *workload); /* "rows=16 d=4096" */

/* Asks for a reference.cu, in a line, where the exact answers of more than 1 % of the elements could not be
 * derived; why may be NULL. */
void report_derived(double shadow_lost, const char *why, struct str *out);
/* One sentence: whether the version's answers are the original's bit for bit, and if not, how far off they are.
 * verification is a result's. */
/* How the compiled file was compared with the judged one; nothing where it was not asked. */
void report_shipped(const json_t *verification, struct str *out);
const char *report_exactness(struct arena *a, const json_t *verification);
bool report_identical(const json_t *verification); /* bit for bit, on every case */
/* The tables of a result's `verification.errors`: per output and kind of values, and a histogram per output. */
void report_errors(const json_t *errors, bool original_only, struct str *out);
/* Is a verification's version the same as the original bit for bit, or off by half of what is allowed at most?
 */
bool report_far_within(const json_t *verification);
struct table *report_error_table(struct arena *a, const json_t *errors, bool original_only);

/* A text cut to one line of at most `max` columns. */
char *report_one_line(struct arena *a, const char *text, size_t max);

#endif
