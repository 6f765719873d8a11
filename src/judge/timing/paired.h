/* paired: is B faster than A, and by how much? Blocks of A and B are timed within milliseconds of each other,
 * in random order, one pair in one order and the next in the other; the statistic is the median of the
 * log-ratios of such twos, and the interval holds its level although the loop looks at it again and again
 * (docs/measuring.md). Knows nothing of GPUs: a source gives the times, so that tests can give noise. */
#ifndef JUDGE_PAIRED_H
#define JUDGE_PAIRED_H

#include "base/base.h"

struct pair { /* one block of each side, us per launch plan */
    double a_us, b_us;
    bool disturbed; /* clocks changed or throttled within it: not used, and neither is its fellow */
};
/* False stops the measurement: an error, or a verdict that the source keeps. b_first: the order asked for. */
typedef bool pair_source(void *context, bool b_first, struct pair *p, struct err *err);

struct pair_rules {
    double level;             /* 0.95 */
    double half_width;        /* of the interval of the ratio, relative: stop when reached; 0.005 */
    int min_pairs, max_pairs; /* more than min_pairs when the level needs more */
    double max_s, first_s;    /* first_s: until there is an interval, where that is longer */
    double hopeless;          /* stop early when the ratio's upper bound is below this; 0: never */
    uint64_t seed;            /* of the order and the bootstrap */
};

enum pair_end { PAIR_PRECISE, PAIR_HOPELESS, PAIR_OUT_OF_TIME, PAIR_OUT_OF_PAIRS, PAIR_DISTURBED };

struct pair_result {
    double ratio, low, high; /* a / b: above 1 when B is faster; NAN: too few pairs for an interval */
    double a_us, b_us;       /* medians */
    double a_low_us, a_high_us, b_low_us, b_high_us; /* 10th and 90th percentile */
    int pairs, disturbed;                            /* used, and not */
    double seconds;
    enum pair_end end;
    double weight; /* among several: the sum of all is 1; 0: all count alike */
};

struct pair_rules pair_rules_default(void);
bool pair_measure(const struct pair_rules *rules, pair_source *source, void *context, struct pair_result *r,
                  struct err *err);
/* Several workloads to one figure: geometric mean of the ratios by their weights, its interval from the
 * intervals of each. */
void pair_geomean(const struct pair_result *r, size_t n, double *ratio, double *low, double *high);

#endif
