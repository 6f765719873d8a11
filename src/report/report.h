/* report: what a run found, read from its store alone, so that it can be rebuilt at any time. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/base.h"
#include "store/store.h"

/* The result of the run as result.json holds it (docs/result.md). Release with json_decref. */
bool report_result(struct store *s, struct arena *a, json_t **result, struct err *err);

/* result.json, best.cu and best.diff into the folder. */
bool report_write(struct store *s, struct arena *a, const char *folder, const json_t *result, struct err *err);

/* The final words on a terminal: the table of workloads, what was tried and what it taught, where the files
 * are. */
bool report_summary(struct store *s, struct arena *a, const char *folder, struct str *out, struct err *err);

/* One row of a result's `workloads`; dims as "rows=16 d=4096", NAN and NULL where unknown. */
json_t *report_workload(const char *dims, double baseline_us, double best_us, double light_us,
                        const char *regime, const char *bound);

/* The `device` of a result, from the device's full name. */
json_t *report_device(const char *name);

/* The table of workloads of a result alone. */
void report_workloads(const json_t *result, struct str *out);

/* A text cut to one line of at most `max` columns. */
char *report_one_line(struct arena *a, const char *text, size_t max);

#endif
