/* noise: two sides timed on a machine that was made up, each with a disturbance of its own kind: for the tests
 * of trial/paired and for the table of docs/measuring.md. One block of launches is one step in time. */
#ifndef TOOLS_NOISE_H
#define TOOLS_NOISE_H

#include "judge/timing/paired.h"

enum noise_kind {
    NOISE_WHITE,
    NOISE_DRIFT,     /* the clock falls by 5 % in a hundred blocks */
    NOISE_STEPS,     /* it jumps by 2 %, once in 33 blocks */
    NOISE_SPIKES,    /* a block in 20 takes 20 % longer, or much longer */
    NOISE_BIMODAL,   /* three blocks in ten run at a clock 3 % lower */
    NOISE_STICKY,    /* such a clock stays, for ten blocks on average */
    NOISE_WANDERING, /* slow waves of 0.5 % on both sides: autoregressive, 0.9 */
    NOISE_OWN_WAVES, /* waves of 0.3 % on each side alone: autoregressive, 0.6 */
    NOISE_SECOND,    /* the second block of two is 0.5 % slower */
    NOISE_HEAVY,     /* a Cauchy distribution: no mean, no variance */
    NOISE_THROTTLE,  /* from time to time 20 % lower for 4 blocks, and said to be so */
    NOISE_KINDS
};
extern const char *const noise_names[NOISE_KINDS];

struct noise {
    enum noise_kind kind;
    double truth; /* the true ratio a / b */
    struct rng rng;
    int left;
    bool slow;
    double blocks, level, waves[3];
};

void noise_open(struct noise *n, enum noise_kind kind, double truth, uint64_t seed);
bool noise_pair(void *noise, bool b_first, struct pair *p, struct err *err); /* a pair_source */

#endif
