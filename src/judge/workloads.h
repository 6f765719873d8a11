/* What the files share that verify workloads: workloads.c says which and compares with the original, sample.c
 * runs some blocks of a version, size.c has the exact answer at that size. */
#ifndef JUDGE_WORKLOADS_H
#define JUDGE_WORKLOADS_H

#include "internal.h"

enum {
    PIECE = 64, /* bytes of an output that are compared when both have written them all */
    POISON = 0xa5,
};

struct whole { /* one workload */
    struct judge *judge;
    struct arena *arena;
    const int64_t *dims;
    const char *where;
    uint64_t seed; /* of its values, and of the places of a sample */
    struct stage_tiles *tiles;
    const struct task_values *values; /* one per arg; NULL: the task's own */
    bool integers;                    /* these are small integers, where any may be */
    bool coarse;                      /* these are wild: only what is far off counts */
    double share;                     /* or by more than this of an element, or of a typical one; 0: not so */
    unsigned checks;                  /* of the candidate: enum sanitize_checks */
    uint64_t order;                   /* of the candidate's blocks; 0: their own */
    struct work *work;                /* what the candidate's run comes to is counted here; NULL: nobody asks */
};

/* workloads.c: a case that neither suite nor workloads have, on the simulator: both versions run whole and are
 * compared element for element; where the shape is too large for that, or the original needs too long, as the
 * extreme shapes are. Nothing is said where the original fails. */
struct extra {
    const int64_t *dims;
    const struct task_values *values; /* one per arg; NULL: the task's own */
    uint64_t seed;
    bool integers; /* as in `whole` */
    bool apart;    /* no values repeat, however many there are */
    bool coarse;   /* as in `whole` */
    double share;  /* as in `whole` */
    uint64_t order;
};
/* Both versions whole. *told: the warp instructions of the original; 0: it did not come to its end within so
 * many. */
bool extra_run(const struct extra *x, struct version *v, struct arena *scratch, uint64_t max_insns,
               uint64_t *told, struct fate *fate, struct err *err);
/* After one in the last confirmation: that it takes long is no fault there, and words outlive the scratch
 * arena. */
void extra_settle(struct version *v, struct fate *fate);
/* The dims of the suite's smallest case. */
const int64_t *smallest_case(const struct judge *j);
bool extra_verify(const struct extra *x, struct version *v, struct arena *scratch, struct fate *fate,
                  struct err *err);

/* ---- sample.c ---- */

/* Blocks at the same few places of every grid, counted in parts of it: the seed moves them all together. Most
 * kernels go through their output in the order of their blocks, so that two versions write much of the same. */
struct sample {
    const struct whole *whole;
    struct version *version;
    struct ptx_shadow *shadow; /* instead of one of real values; NULL: none */
    struct stage stage;
    double share;   /* of the blocks, asked for */
    double ran;     /* and run, in the launch with the least; 1: there is none */
    bool plain;     /* one launch and nothing else: what it has written is done */
    bool told;      /* all of it ran, and means something */
    uint8_t *noted; /* what ran; counts as covered where it was compared */
};

/* A version compiled for its shadow runs with one. */
bool sample_run(struct sample *s, struct err *err);
void sample_close(struct sample *s);
/* A piece of an output, PIECE of the task's own elements from `first` on, in the version's type: all of it
 * written by this version. What was full before is written where it changed. */
bool sample_written(struct sample *s, size_t output, int64_t first, void *piece);
/* s[0] and s[1]: what both have written of this output is what they leave in it. */
bool sample_is_final(const struct sample *s, const struct task_arg *arg);

/* Whether a version leaves out what lies between the pieces that it writes. Its pieces are told in order. */
struct sample_cover {
    double written;         /* pieces */
    double holes, gap_most; /* pieces in short gaps; a longer one lies between two places */
    double gap;             /* since the last piece written; NAN: there was none */
    bool expected;          /* some piece of this gap should have been written */
};
void sample_cover_open(struct sample_cover *c, const struct sample *s, double pieces);
void sample_cover_add(struct sample_cover *c, bool written, bool expected);
bool sample_cover_has_holes(const struct sample_cover *c);

/* ---- size.c ---- */

/* The outputs of candidate and original, whole, or as far as samples have them. */
struct both {
    unsigned char *const *got, *const *own; /* NULL: samples */
    struct sample *samples;                 /* the candidate's and the original's */
};

/* The rule of the suite on the elements whose exact answer is known. *doubt: it is broken where only a whole
 * run can tell. *known: so many elements, of the output with the least. */
bool size_verify(const struct whole *w, const struct both *b, const struct stage_ops *ops, size_t *known,
                 bool *doubt, struct fate *fate, struct err *err);

/* Where the original itself is inaccurate at this size, a version may be far from it and right: is each of its
 * elements of this output that is not near the original's nearer to the exact answer, or no further from it
 * than the terms of its sum may be off? False where that is not known. */
bool size_nearer(const struct whole *w, const struct both *b, const struct stage_ops *ops, size_t output,
                 const struct error_scale *y, bool *nearer, struct err *err);

#endif
