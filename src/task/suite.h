/* What the files share that make a suite: suite.c, and suite_wild.c for what is wilder than the task. */
#ifndef TASK_SUITE_H
#define TASK_SUITE_H

#include "internal.h"

enum {                             /* elements over all buffers */
       INPUT_ELEMENTS = 2 << 10,   /* of one that changes an input alone */
       SMALL_ELEMENTS = 16 << 10,  /* of a case that is there for its values */
       CASE_ELEMENTS = 48 << 10,   /* of one that is there for its shape */
       WHOLE_ELEMENTS = 200 << 10, /* of a workload as it is */
       /* of all but the whole workload; what is there for its values may exceed it */
       BEYOND_ELEMENTS = 136 << 10, /* of a row that 16 bits do not number */
       SUITE_ELEMENTS = 484 << 10,
       ALIKE = 512,   /* elements of a row that begins as the others do */
       NEAR_STEP = 2, /* near patterns in a row of a case's own, where it has few rows */
       MANY_INDICES = 512,
       MAX_SHAPES = 64,
       MOST_FLAGS = 3,
       FAR_TIMES = 1024, /* a scalar that is next to zero */
       FAR_APART = 24,   /* weights whose ratio is up to 2^69 */
};

struct shapes {
    const struct task *task;
    struct arena *arena;
    int64_t *dims[MAX_SHAPES];
    const char *why[MAX_SHAPES];
    size_t n;
};

struct builder {
    const struct task *task;
    struct arena *arena;
    struct rng rng;
    int64_t spent;
    VEC(struct task_case) cases;
};

/* The shape, unless it is there, outside the domain or above the limit of elements. */
bool shapes_add(struct shapes *s, const int64_t *dims, int64_t limit, const char *why);
/* Halve the dims that are not kept, the largest first, until the case is affordable. */
bool shapes_shrink(const struct task *t, int64_t *dims, size_t keep, int64_t limit);
/* A case of that shape, unless the suite is full. special_share: of values that may be special; 0: the task's,
 * in turn; below: none. */
void builder_add(struct builder *b, const struct shapes *s, size_t shape, const char *distribution,
                 enum value_kind kind, double special_share);
/* rows: many of them; longer: as long as can be; values: a workload's last extents. */
void add_wild_cases(struct builder *b, const struct shapes *rows, const struct shapes *longer,
                    const struct shapes *values);
/* Inputs of which one is large and another small, and all of them small. */
void add_sizes(struct builder *b, const struct shapes *values);
/* One value everywhere, more often than 16 bits count. */
void add_one_value(struct builder *b);
/* Floating scalars with other values than the task's. */
void add_scalars(struct builder *b);
/* Floating inputs where exponentials end. */
void add_exponents(struct builder *b);
/* Floating inputs of sizes that are no matter by themselves: light exponentials beside large numbers, large
 * parts beside small ones, squares that have no place. rows: many of them. */
void add_meetings(struct builder *b, const struct shapes *rows);
/* All flags of the task in every other combination. */
void add_flags(struct builder *b, const struct shapes *values);

#endif
