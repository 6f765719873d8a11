/* chart: a run's figures as SVG, appended to a page; plain numbers in, nothing read. Unknown numbers are NAN
 * and are shown as unknown. With nothing to draw a chart is a <p class="chart-none"> that says so.
 *
 * `id` begins every id within and must differ between the charts of one page. All are laid out for some 360
 * units of width and scale with the page: they want between 300 and 520 CSS pixels. Meaning is never in the
 * colour alone: shapes, words and numbers say it too. Colours are the classes of share/report/chart.css, which
 * gives them light and dark values as variables: --chart-text, --chart-muted, --chart-grid, --chart-page
 * (behind text and nodes), --chart-first and --chart-second (the two series of a row), --chart-third (with
 * them, of three workloads), --chart-good (passed, the lineage of the best), --chart-fair (slower), --chart-bad
 * (wrong), --chart-none (never ran), --chart-roof. */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include "base/base.h"

struct chart_value {
    double value, low, high; /* low, high: an interval, NAN when there is none */
};

struct chart_row { /* named; two series */
    const char *label;
    struct chart_value first, second;
};

/* Speed-up over the original by workload: of two regimes, or of two runs in one; `names` are the two series'. A
 * line at 1. */
void chart_speedups(struct str *out, const char *id, const char *const names[2], const struct chart_row *rows,
                    size_t n);
/* Share of a plain copy's speed by workload, 1: as fast; first: the original, second: the best. */
void chart_shares(struct str *out, const char *id, const struct chart_row *rows, size_t n);
/* Share of the answers whose error is in the range that is the label; first: the original, second: the best. */
void chart_errors(struct str *out, const char *id, const struct chart_row *bins, size_t n);

/* ---- the roofline: operations a second over operations a byte, both on log scales ---- */

struct chart_roof {
    const char *name;
    double per_s; /* operations, or bytes: a slope */
    bool bytes;
};

struct chart_point { /* one version on one workload */
    int candidate;   /* 0: the original */
    double intensity, per_s;
};

struct chart_path { /* a workload: from the original by every step to the best */
    const char *label;
    const struct chart_point *points;
    size_t n;
};

/* The first three paths. */
void chart_roofline(struct str *out, const char *id, const struct chart_roof *roofs, size_t n_roofs,
                    const struct chart_path *paths, size_t n_paths);

/* ---- candidates ---- */

struct chart_node { /* a candidate; its number is its place in the list */
    int parent;     /* a smaller number; -1: none, the original */
    int round;
    const char *name, *verdict, *reason, *plan, *words; /* words: the judge's */
    double score, gain;                                 /* over the original, over the parent */
    bool in_lineage;                                    /* from the original to the best */
};

/* The tree over the rounds. Each node has the id ID-N and is a link to #ROW-N (`row` may be ""), can be
 * focused, and says name, verdict, gain, reason and plan. best: its number. */
void chart_tree(struct str *out, const char *id, const struct chart_node *nodes, size_t n, int best,
                const char *row);
/* Each candidate's speed-up in the order of their numbers, and the best so far. */
void chart_progress(struct str *out, const char *id, const struct chart_node *nodes, size_t n);

/* The best so far by candidate, of several runs in one picture. */
struct chart_curve {
    const char *label;  /* a letter or two, at its end */
    const double *best; /* by candidate, from the original's 1 on */
    size_t n;
};

void chart_curves(struct str *out, const char *id, const struct chart_curve *curves, size_t n);

#endif
