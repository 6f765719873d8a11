/* Between the files that find out by running a launcher what nobody has written down. probe.c searches sizes
 * that the launcher takes, probe_fit.c makes formulas of how far buffers are touched, probe_index.c looks what
 * integers in buffers point at, probe_size.c which numbers are sizes and where they begin and end, probe_open.c
 * writes the task and opens it. */
#ifndef INIT_PROBE_H
#define INIT_PROBE_H

#include "init/internal.h"

#include "judge/judge.h"

enum {
    PROBE_DIMS = INIT_MOST_DIMS,
    PROBE_ARGS = 64,
    PROBE_BASE = 3,                             /* points that are run for every setting: all sizes are small */
    PROBE_POINTS = PROBE_BASE + 2 * PROBE_DIMS, /* and two for each size, where it is long */
};

struct probe_product { /* num / den times the product of the sizes to their powers, plus `more` */
    int num, den, more;
    int power[PROBE_DIMS];
    int up, step; /* size `up` counts in steps, the last one begun; -1: none does */
    bool plain;   /* its first factor is the size itself */
    int by;       /* divided by this size, too; -1: by none */
};

enum probe_form {
    PROBE_NONE,
    PROBE_PRODUCT,
    PROBE_ROWS, /* (a - 1) * size + b: rows that lie `size` apart, each touched up to b */
    PROBE_SUM,  /* a + b */
};

struct probe_extent { /* elements */
    enum probe_form form;
    struct probe_product a, b;
    int size;
    int most, least; /* it is so where size `most` is not below size `least`; most -1: always */
};

/* A size is a small number times its unit, and times another size where it is tied to one; a power of two; or
 * always the same number. */
struct probe_setting {
    int64_t unit[PROBE_DIMS], fixed[PROBE_DIMS]; /* fixed 0: free */
    int tied[PROBE_DIMS];                        /* to the size of that number; -1: free */
    bool power[PROBE_DIMS];                      /* of two */
    bool modest;                                 /* long sizes need not be longest */
};

struct probe_index { /* what the integers of buffer `by` point at in buffer `to` */
    bool found;
    size_t by, to;
    int below; /* the size that they are below; -1: the number of rows, which is a size of its own */
    bool last; /* or that they may be, too */
    struct probe_product of;   /* below >= 0: the extent; else the elements of a row */
    struct probe_product rows; /* that are touched when all integers are 0 */
    bool ends;                 /* they are the ends of segments of rows */
};

struct probing {
    struct init_task *t;
    struct arena *arena;
    struct task *task;
    struct judge *judge;
    struct footprints *prints;
    size_t n_dims, n_points;
    int64_t low[PROBE_DIMS];  /* that the wrapper asks for: above it */
    int64_t fuel;             /* warp instructions that may still be spent */
    int64_t ended;            /* the most that a run took which came to its end */
    bool endless;             /* one did not; what comes is stopped earlier */
    bool formula[PROBE_DIMS]; /* the size is the product `as` of those before */
    struct probe_product as[PROBE_DIMS];
    struct probe_setting setting;
    int64_t dims[PROBE_POINTS][PROBE_DIMS];
    struct footprint at[PROBE_POINTS];
    struct probe_extent fit[PROBE_ARGS];
    bool within[PROBE_ARGS]; /* the shape that the wrapper says holds all that is touched */
    VEC(struct probe_index) indices;
    bool *rising; /* by argument: the ends of segments (cu_seqlens, indptr), which rise in every run, or nothing
                     would be done */
    const char *rows[PROBE_ARGS]; /* of a buffer: the size that counts its rows; NULL: no such */
    const char *words;            /* why the last run ended */
    bool silent;                  /* it ran and wrote nothing */
    bool quiet;                   /* that is enough */
    bool small;                   /* sizes are as small as can be: larger ones are too much work */
    bool busy; /* buffers hold numbers from N(0, 1) and integers that are 1: with zeros nothing runs */
};

/* ---- probe_open.c */

/* A launcher that overflows, or asks for more than there is, at sizes that nobody means may do at smaller ones.
 */
bool probe_open_task(struct probing *p, const char *dir, const char *name, struct err *err);
/* The judge of the task, and the prints of its original. */
bool probe_open_prints(const struct init_task *t, struct arena *a, const struct task *task,
                       struct judge **judge, struct footprints **prints, struct err *err);

/* ---- probe.c */

bool probe_is_buffer(const struct probing *p, size_t arg);
bool probe_is_free(const struct probing *p, const struct probe_setting *s, size_t dim);
int64_t probe_elements(const struct probing *p, const struct footprint *f, size_t arg);
/* One run. False: it did not come to its end, or no time is left. */
bool probe_take(struct probing *p, struct footprint *f, const struct footprint_run *run);
/* With zeros in all buffers; with the integers of argument `by` at a value. */
bool probe_zeros(struct probing *p, struct footprint *f, const int64_t *dims);
bool probe_filled(struct probing *p, struct footprint *f, const int64_t *dims, size_t by, int64_t with);
/* The sizes at a point of the setting; false: outside of the task's domain, or too much to run. */
struct probe_setting probe_plain(int64_t unit);
void probe_follow(const struct probing *p, int64_t *dims); /* sizes that are formulas of others */
bool probe_dims(const struct probing *p, const struct probe_setting *s, int point, int64_t *dims);
/* Is the buffer touched, and nothing explains how far? */
bool probe_is_open(const struct probing *p, size_t arg);
/* Is every buffer touched as the formulas say, for these sizes? */
bool probe_holds(struct probing *p, const int64_t *dims);

/* ---- probe_fit.c: of the free sizes alone */

/* -1: not divisible */
int64_t probe_value(const struct probing *p, const struct probe_product *m, const int64_t *dims);
int64_t probe_extent_value(const struct probing *p, const struct probe_extent *x, const int64_t *dims);
/* The plainest product that has the n values e at p->dims; false: none. */
bool probe_product(const struct probing *p, size_t n, const int64_t *e, struct probe_product *m);
struct probe_extent probe_fit(const struct probing *p, size_t n, const int64_t *e);
/* Buffers that are rows and columns of something larger, as a slice reads it: from runs where sizes are the
 * same. */
void probe_fit_larger(struct probing *p);
/* The product of sizes that holds all that is touched, with the least to spare. */
bool probe_cover(const struct probing *p, size_t n, const int64_t *e, struct probe_extent *x);
bool probe_uses(const struct probe_extent *x, size_t dim);
bool probe_is_one(const struct probe_product *m);
bool probe_is_constant(const struct probe_extent *x);
/* "rows, 2 * d": as a shape, behind the extents `first` (NULL: none). */
char *probe_shape(const struct probing *p, const struct probe_product *m, const char *first);
char *probe_extent_shape(const struct probing *p, const struct probe_extent *x);
char *probe_text(const struct probing *p, const struct probe_product *m); /* as one number */

/* ---- probe_index.c */

/* For the setting at hand: which buffers other buffers' integers point into. */
void probe_indices(struct probing *p);
void probe_find_ends(struct probing *p); /* of segments, by the names of buffers */
/* Ends of segments are one more than these: those that are not are none. Are there such? fit NULL: nothing ran.
 */
bool probe_drop_ends(struct probing *p, const struct probe_extent *fit);
/* Where buffers are not touched with zeros: integers of which there is one more than segments are ends, too.
 * Are there such? */
bool probe_more_ends(struct probing *p, const struct probing *found);
bool probe_is_indexed(const struct probing *p, size_t arg);
void probe_tell_indices(struct probing *p);

/* ---- probe_size.c */

void probe_lows(struct probing *p);    /* `n > 8192` and `n >= 8192` of the wrapper: to p->low */
void probe_strides(struct probing *p); /* gives sizes called strides the values of rows behind each other */
/* Numbers that the launcher compares size `dim`, or what is no size by its name, with: how many. */
size_t probe_numbers(const struct probing *p, size_t dim, int64_t *numbers, size_t most);
/* By what the launcher divides the size: a power of two; 1: by nothing that is one. */
int64_t probe_divisor(const struct probing *p, size_t dim);
void probe_assertions(struct probing *p); /* what sizes must be multiples of for the kernel's assertions */
void probe_bounds(struct probing *p);     /* from which and up to which size it runs: to the task */
void probe_drop_sizes(struct probing *p); /* sizes that are none become values */

#endif
