/* search: which candidate next. Ask for a parent, tell what became of its children. Knows neither agents nor
 * GPUs. The law: a parent is always correct, and the best never gets worse; ties go to the older candidate, so
 * that the order in which results arrive within a round does not matter. */
#ifndef OPTIMIZE_SEARCH_H
#define OPTIMIZE_SEARCH_H

#include "base/base.h"

struct search_node {
    int id, parent; /* parent -1: the original */
    int round;
    bool correct; /* right, whatever its speed */
    bool passed;  /* and faster than the original, everywhere it must be */
    bool was_parent;
    double score; /* speed-up over the original, geometric mean; NAN unless measured */
};

struct search {
    VEC(struct search_node) nodes; /* by id; 0 is the original */
    int best;
    double min_gain; /* a step below this factor is no progress, e.g. 1.01 */
};

void search_open(struct search *s, double min_gain); /* adds the original: passed, score 1 */
void search_close(struct search *s);
int search_add(struct search *s, int parent, int round); /* its id */
/* Told again that it did not pass, the best gives way to the next best. */
void search_tell(struct search *s, int id, bool correct, bool passed, double score);
/* The next parent: the best; or, once each, a correct candidate that is clearly faster on the whole but lost on
 * some workload, since one more step may cure that. */
int search_ask(struct search *s);
/* Rounds, up to and including `round`, in a row whose best is less than min_gain above the best before them. */
int search_stale_rounds(const struct search *s, int round);
/* Ids from the original's child down to id. */
size_t search_lineage(const struct search *s, int id, int *ids, size_t max);

#endif
