/* compare: results of several runs beside each other. The law: a figure is set against another one only where
 * both are of the same original, workload, device, regime and basis (modelled or measured); what keeps runs
 * apart is said first.
 *
 * Runs are named A, B, C ... Those that may be compared make a group, and are compared with its first. Measured
 * speed-ups differ when their 95 % intervals do not touch, modelled ones by 3 % or more. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/view.h"

enum { COMPARE_MOST = 8 };
static inline char compare_letter(size_t run)
{
    return (char)('A' + run);
}

enum compare_word { COMPARE_UNKNOWN, COMPARE_ALIKE, COMPARE_FASTER, COMPARE_SLOWER };

struct compare_cell {          /* a speed-up of one run, and beside that of the first of its group */
    double speedup, low, high; /* NAN: unknown, or modelled */
    double ratio;              /* over the first's; NAN: the first itself, or nothing to compare with */
    enum compare_word word;
};

struct compare_row { /* a workload of one group */
    const char *dims;
    int first; /* of the group */
    struct compare_cell cells[COMPARE_MOST];
};

struct compare_option { /* that the runs do not share; NULL: a run has none */
    const char *name, *values[COMPARE_MOST];
};

struct compare {
    const struct view *runs[COMPARE_MOST];
    int first[COMPARE_MOST]; /* of its group: the run that a run is compared with */
    const char
        *roles[COMPARE_MOST][4]; /* who thinks as tester, profiler, planner, coder: "rules", a model's name */
    const double *progress[COMPARE_MOST]; /* the best speed-up so far, by candidate from the original's 1 on */
    size_t n;
    const char **apart; /* why runs are not compared, n_apart sentences */
    size_t n_apart;
    const char **notes; /* what else a reader must know */
    size_t n_notes;
    const struct compare_row *rows;
    size_t n_rows;
    struct compare_cell geomean[COMPARE_MOST];
    const struct compare_option *options;
    size_t n_options;
};

/* n from 2 to COMPARE_MOST. All of it is in the arena or the views'. */
struct compare *compare_runs(struct arena *a, const struct view *const *runs, size_t n);

const char *compare_word_text(enum compare_word w); /* "faster", "slower", "alike", "" */
/* What run i is, in a line: "fused_add_rmsnorm, llm, modelled for NVIDIA H200". */
const char *compare_what(const struct compare *c, struct arena *a, size_t i);
/* How differences are judged, for the bases there are; in words. */
const char *compare_rule(const struct compare *c, struct arena *a);

/* Candidates by verdict: those that any run has. */
size_t compare_verdicts(const struct compare *c, struct arena *a, const char *const **names);
int64_t compare_verdict(const struct compare *c, size_t run, const char *name); /* how many; -1: unknown */

/* The patch from one run's best file to another's. */
bool compare_diff(const struct compare *c, struct arena *a, size_t from, size_t to, char **diff,
                  struct err *err);

/* ---- its faces (docs/report.md) ---- */

json_t *compare_json(const struct compare *c, struct arena *a);               /* json_decref it */
void compare_text(const struct compare *c, struct arena *a, struct str *out); /* for a terminal */
void compare_markdown(const struct compare *c, struct arena *a, struct str *out);
void compare_page(const struct compare *c, struct arena *a, struct str *out); /* a page of its own */

#endif
