/* runs: the runs below a folder, read for a list: which, in which order, as a table or as JSON. */
#ifndef REPORT_RUNS_H
#define REPORT_RUNS_H

#include "base/base.h"

struct runs_row {
    const char *run; /* what names it: RUN of the other verbs */
    const char *folder;
    const char *error; /* why it cannot be read; nothing else is known then. NULL: it can */
    const char *task, *agents, *started;
    const char *status;  /* as the store says; "running" only while some process has the run open */
    const char *outcome; /* "improved", also of what was found so far; "unchanged"; NULL: not known yet */
    const char *kind, *device, *basis; /* "sim", "cuda"; NULL before the original was judged: device, basis */
    double speedup, low, high, usd, wall_s; /* NAN: unknown */
    int64_t candidates;                     /* -1: unknown */
};

struct runs_choice {  /* NULL: any */
    const char *task; /* a name, or a pattern with * and ? */
    const char *agents, *kind;
    const char *outcome; /* an outcome or a status */
    const char *since;   /* "2026-11-20", "2026-11-20T18:00", or an age: "90m", "12h", "3d" */
    const char *sort;    /* "speedup", "date", "task", "cost" or "time"; a minus before it turns it round */
    bool reverse;
};

/* A day, a time in UTC or an age ("3d") as times are stored; these sort as texts. `option` is for the message.
 */
bool runs_time(struct arena *a, const char *option, const char *text, const char **utc, struct err *err);

/* The runs in folder, in folders in it, or the folder itself; also what there is no run. Chosen and sorted; of
 * all those that could be read *n_all. */
bool runs_read(struct arena *a, const char *folder, const struct runs_choice *choice,
               const struct runs_row **list, size_t *n, size_t *n_all, struct err *err);

void runs_table(const struct runs_row *list, size_t n, size_t n_all, struct str *out);
json_t *runs_json(const struct runs_row *list, size_t n); /* those that could be read; json_decref it */

#endif
