/* Between rehearse.c, which runs the small shapes of a task's suite, and rehearse_clean.c. */
#ifndef INIT_REHEARSE_H
#define INIT_REHEARSE_H

#include "init/probe.h"

enum {
    MOST_CASES = 80,
    MOST_OTHERS = 160,
    CASE_INSNS = 6000000,
    EXAM_INSNS = 20000000, /* of all cases, once all of it seems to fit */
    RUN_INSNS = 20000,
    MOST_TRIES = 12,
    MOST_SHAPES = 6,
    MOST_COVERS = 3,
    MOST_CHECKED = 8, /* cases: the smallest, and some of the others */
    MOST_ORDERED = 4,
    MOST_ORDERS = 3,
    LEAST_WORK = 1 << 10
};
#define MOST_BYTES 4e9 /* of all buffers of a workload */

struct rehearsing {
    struct init_task *t;
    struct arena *arena;
    const char *dir, *name;
    struct task *task;
    struct judge *judge;
    struct footprints *prints;
    const struct task_case *cases[MOST_CASES];
    size_t n_cases;
    const struct task_case
        *others[MOST_OTHERS]; /* of the same sizes, which hold other numbers, and of drawn ones */
    size_t n_others;
    const struct task_case *alike; /* all indices of a buffer are the same; NULL: there are none */
    struct task_values *narrow;    /* by argument, where `narrowed` */
    bool narrowed[PROBE_ARGS], whole[PROBE_ARGS];
    bool atomic, exam, wrote; /* wrote: some case did */
    struct flaw {             /* the last one */
        size_t arg;           /* that is touched too far: elements, in which shape */
        int64_t elements;
        const int64_t *dims;
        const char *words; /* NULL: there was none */
    } flaw;
};

enum fit { FITS, STOPS, REACHES }; /* it touches what no shape holds */

struct taking {
    bool zeros, checked;
    uint64_t order;
};

bool rehearse_take(struct rehearsing *r, const struct task_case *c, struct taking how, struct footprint *f);
/* All of them, as far as there is fuel for. */
enum fit rehearse_cases(struct rehearsing *r, bool zeros);
/* The task as it stands now. */
bool rehearse_again(struct rehearsing *r);
/* Shapes that hold all that is touched. */
bool rehearse_reach(struct rehearsing *r, bool zeros);
/* Is it an input of which nothing says what it holds? */
bool rehearse_is_open(const struct rehearsing *r, size_t i);

/* rehearse_clean.c */
void rehearse_restore(struct rehearsing *r, const struct init_arg *args); /* as all of it was before */
/* Mends what it can; false: a race, or a value that nobody wrote, is left. */
bool rehearse_unclean(struct rehearsing *r);
/* Sizes that are multiples of whole warps, or that large at least, where smaller ones reach beyond shapes. */
bool rehearse_units(struct rehearsing *r, bool clean);

#endif
