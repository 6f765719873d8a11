/* capture: a program run under libastra_capture.so (inject/), and what its kernels took of the GPU's time. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "report/report.h"

#include <regex.h>

struct capture_options {
    const char *const *argv; /* the program, NULL-terminated */
    const char *out;         /* the capture's folder, absolute; it is made */
    const char *times;       /* auto, cupti, events or none */
    const char *keep;        /* parts of kernels' symbols, with commas between; NULL: no launches are kept */
    const char *contents;    /* the same of kernels whose buffers are kept, too; NULL: of none */
    int64_t contents_mb;     /* a process keeps at most so much of them */
    bool own_stdout;         /* its stdout goes to our stderr */
    const char *replace; /* a folder with plans: launches are replaced, not counted; out, times, keep: NULL */
    const char *stdout_path; /* its stdout goes to this file; NULL: ours */
    bool alone;              /* without the library */
};

/* Can the library be put into the program that the shell would start by this name? The error says why not. */
bool capture_can(struct arena *a, const char *name, struct err *err);

/* Runs the program to its end. status: as wait gives it. Ask capture_can first. */
bool capture_run(const struct capture_options *o, struct arena *a, int *status, struct err *err);

/* What the library replaces launches by, prepared from a result and kept launches (of capture_read): the file's
 * bytes, how many of the launches it holds, and why not the others. skipped: the caller's reference. */
struct capture_plan {
    const char *data;
    size_t len, launches;
    json_t *skipped;
    const char *symbol; /* of the program's kernel */
};
bool capture_plan(struct arena *a, const struct report_bundle *bundle, const json_t *kept,
                  struct capture_plan *plan, struct err *err);
/* Plans and counters of kernel i into a folder that is there, and what was counted so far, by outcome.def's
 * words. */
bool capture_plan_write(struct arena *a, const char *folder, size_t i, const struct capture_plan *plan,
                        struct err *err);
bool capture_plan_counts(struct arena *a, const char *folder, size_t i, json_t **counts, struct err *err);

/* A program in turns as it is and with its kernels replaced by results' (pairs.c). */
struct capture_pairs {
    struct arena *a;
    const char *const *program; /* and its words, NULL-terminated */
    const char *folder;         /* of plans, counters and outputs; the caller's, who removes it */
    const char *metric;         /* of stdout, as regex has it; NULL: the time from start to end */
    regex_t regex;              /* with one group */
    bool compare, quiet, own_stdout;
    json_t *report; /* what `astra replace --json` prints; an object, the caller's reference */
    int status;     /* of the last run, as wait gives it */
};
/* results: folders of runs, each for another kernel. */
bool capture_pairs_prepare(struct capture_pairs *p, const char *const *results, size_t n, const char *capture,
                           struct err *err);
bool capture_pairs_run(struct capture_pairs *p, bool replaced, const char *out, struct err *err);
/* n pairs. A program that fails is an error. */
bool capture_pairs_measure(struct capture_pairs *p, size_t n, struct err *err);
bool capture_pairs_count(struct capture_pairs *p, struct err *err); /* what became of the launches */
/* That in words, and the sentence on the time, of a report. */
void capture_pairs_launches(const struct capture_pairs *p, struct str *out);
void capture_pairs_words(const json_t *report, struct str *out);

/* The kept launches of a kernel as workloads of a task that was just written to folder: task.yaml is changed.
 * kernel: its name, qualified or not. notes: sentences, in the arena. A launch that is not understood is no
 * error. */
struct capture_task {
    const char *const *notes;
    size_t n_notes;
    size_t launches; /* that are understood */
};
bool capture_to_task(struct arena *a, const char *folder, const char *capture, const char *kernel,
                     struct capture_task *out, struct err *err);

/* What buffers held, compressed once the program has ended. */
bool capture_contents_pack(struct arena *a, const char *folder, struct err *err);
/* What a file of the folder's `contents` holds, by the name that a kept launch has for it. */
bool capture_contents_read(struct arena *a, const char *folder, const char *name, char **data, size_t *n,
                           struct err *err);

/* Kept launches whose symbol or name holds `name` (NULL: all), run on the simulator from the PTX that the
 * program loaded: their times, or findings and what they touch. One object a launch; the caller's reference. A
 * launch that cannot be run says why in `not_run`. */
bool capture_replay(struct arena *a, const char *folder, const char *name, bool time, json_t **list,
                    struct err *err);
void capture_replay_text(struct arena *a, const json_t *list, bool time, struct str *out);

/* The ranking of a capture's folder, from what its processes counted: the object that docs/capture.md
 * describes. The caller's reference. A folder without counts is an error that says what may be the cause. */
bool capture_read(struct arena *a, const char *folder, json_t **ranking, struct err *err);

/* The tables, at most `most` kernels (0: all), and below them what was not seen. */
void capture_text(struct arena *a, const json_t *ranking, size_t most, struct str *out);
/* The list that `astra optimize --list` reads, shares in front; folders are to be made. */
void capture_list(const json_t *ranking, struct str *out);

#endif
