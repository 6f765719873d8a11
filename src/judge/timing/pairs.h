/* pairs: two sides on one workload in one regime, block beside block. Internal to timing/. */
#ifndef JUDGE_PAIRS_H
#define JUDGE_PAIRS_H

#include "bench.h"

enum { PIECES = 8 };

struct piece {
    size_t buffer;
    uint64_t at, n; /* in the buffer */
};

struct pairs { /* the source's state; the first six are the caller's */
    struct bench *bench;
    struct track *track;
    struct side *sides[2];
    enum regime regime;
    bool beside; /* the first is no original that the second shall be faster than, or equal: a library */
    struct arena *arena;
    struct fate *fate;
    size_t used[2], most;    /* sets of a block of each side; of the larger one */
    uint64_t n_pairs, check; /* check: the pair whose outputs are compared */
    VEC(double) alone_us;    /* of a stream's neighbours, pair by pair */
    size_t check_set;        /* of the window */
    struct piece pieces[MAX_ARGS * PIECES];
    size_t n_pieces;
    unsigned char *samples[2]; /* these pieces of all outputs, as a timed launch of each side left them */
};

/* Both recorded, then timed until the interval is as narrow as it shall be. */
bool pairs_measure(struct pairs *p, struct trial_time *time, struct err *err);
/* One pair, whose outputs are compared: a difference is a fate. */
bool pairs_look(struct pairs *p, struct err *err);

#endif
