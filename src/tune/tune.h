/* tune: a space of parameters searched for its cheapest point. It knows neither kernels nor judges: an oracle
 * says which points there are and what they cost. The law: what is proposed follows from the seed and the costs
 * alone, so the same costs give the same search; no point is priced twice on one rung, and none that is not
 * legal. */
#ifndef TUNE_TUNE_H
#define TUNE_TUNE_H

#include "base/base.h"

struct tune_parameter {
    const char *name;
    const int *values; /* in an order in which neighbours are alike */
    size_t n;
};

struct tune_space {
    const struct tune_parameter *parameters;
    size_t n;
};

/* A point has for each parameter the index of its value. */
struct tune_oracle {
    void *context;
    const double
        *shares; /* of each rung: what a point costs there, as a share of the last one's; the last is 1 */
    size_t n_rungs;
    /* Is there a legal point that begins with these n indices? */
    bool (*legal)(void *context, const int *point, size_t n);
    /* The costs of n points, one behind the other, on a rung: less is better; INFINITY: of no use. False: the
     * search ends here, with what it has. */
    bool (*price)(void *context, size_t rung, const int *points, size_t n, double *costs);
    /* This point is one of the next that are priced on this rung, in this order: whoever prices may begin.
     * NULL: nobody does. */
    void (*begin)(void *context, size_t rung, const int *point);
};

enum tune_strategy {
    TUNE_RANDOM,  /* points drawn at random */
    TUNE_LOCAL,   /* variable neighbourhood descent from the start, again from elsewhere where it ends */
    TUNE_HALVING, /* random points by successive halving over the rungs, then TUNE_LOCAL from the best of them
                   */
    N_TUNE_STRATEGIES
};
const char *tune_strategy_name(enum tune_strategy s); /* "random", ... */

struct tune_options {
    enum tune_strategy strategy;
    uint64_t seed;
    double budget;    /* in points priced on the last rung */
    const int *start; /* a legal point whose cost counts like any other's; NULL: none is known */
};

struct tune_priced {
    const int *point;
    size_t rung;
    double cost;
    double spent; /* of the budget, with this one */
};

struct tune_result {
    VEC(struct tune_priced) list; /* in the order of their pricing; in the arena */
};

void tune_search(const struct tune_space *s, const struct tune_oracle *o, const struct tune_options *options,
                 struct arena *a, struct tune_result *result);
/* The places in result->list of at most n points of a rung, cheapest first, those of no use left out. */
size_t tune_cheapest(const struct tune_result *result, size_t rung, size_t *places, size_t n);
double tune_points(const struct tune_space *s); /* how many there are, legal or not */

#endif
