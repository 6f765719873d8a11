/* regroup: a kernel in which the threads of a block share a row, and the functions it calls, copied for another
 * group of threads to share it. Internal to rewrite/; memory is the function's arena. */
#ifndef REWRITE_REGROUP_H
#define REWRITE_REGROUP_H

#include "rewrite/analysis.h"

/* What a function's copy says for a block's; all expressions. head: declared first in its body, or NULL.
 * barrier: NULL where the transform writes barriers itself. */
struct regroup_names {
    const char *thread, *threads, *block, *blocks, *barrier, *head;
};

struct regroup {
    const struct function *f;
    const struct function **functions; /* the kernel, and all of the file that it calls */
    size_t n;
    bool number;           /* the group has another number of threads: what says the block's says the group's */
    struct lane_loop loop; /* then, the first one that walks the row */
    bool *copied;          /* these ask for their thread, or call who does; the kernel among them */
    const char **copies;   /* their new names */
    /* Given by the transform: the names in a function, and the edits of a shared variable's declaration with
     * what stands for the variable where it is used. */
    void (*names)(struct regroup *r, const struct function *f, struct regroup_names *names);
    const char *(*shared)(struct regroup *r, const struct function *f, const struct variable *v,
                          struct edits *e);
    /* Or NULL: what else changes in a function's copy. */
    void (*more)(struct regroup *r, const struct function *f, struct edits *inside);
    const void *detail; /* the transform's own */
    int setting;
    /* Several rows in a block: given are their number, the block's threads and a thread's row among them. Made
     * are the names that the kernel's copy has for its rows and for a row's dynamic memory (NULL: it has none).
     */
    int together, threads;
    const char *mine;
    const char *rows, *bytes;
    bool guarded;    /* given: the copy asks for its rows */
    bool tells_rows; /* made: by a parameter of its own */
};

/* False with the reason when a block's row cannot be another group's. */
bool regroup_open(struct regroup *r, const struct function *f, struct err *why);
/* Likewise, when the group has another number of threads than the block. */
bool regroup_any_number(struct regroup *r, struct err *why);
/* The copies NAME_suffix beside their functions; kernel_inside: what else changes in the kernel's. */
bool regroup_apply(struct regroup *r, const char *suffix, const char *how, struct edits *edits,
                   struct edits *kernel_inside, struct err *why_not);
/* The number of rows (blocks, as it was) as the launcher writes it, in brackets where it is a sum. */
const char *regroup_rows(const struct regroup *r, const struct launch *l);
/* Several rows in a block of so many threads: can that be? The copies, and the launch of the kernel's. */
bool regroup_can_join(struct regroup *r, const char *suffix, int threads, struct err *why);
bool regroup_join(struct regroup *r, const char *suffix, const char *how, struct edits *edits,
                  struct err *why_not);
char *regroup_launch(const struct regroup *r, const struct launch *l);

#endif
