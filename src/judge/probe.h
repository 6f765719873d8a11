/* What the files share that run a few blocks of a shape which is far too large to be run whole: extreme.c says
 * which and what is wrong, strays.c knows lost bits of an index, places.c compares what two versions have left
 * in the same places. */
#ifndef JUDGE_PROBE_H
#define JUDGE_PROBE_H

#include "internal.h"
#include "stored.h"

enum {
    BLOCK_INSNS = 30000, /* warp instructions of one block's run */
    MOST_WATCHED = 96,
};

/* What the original's blocks have written of an output and leave in it. */
struct piece {
    uint64_t offset_bytes;
    size_t size_bytes;
    const unsigned char *bytes;
};

struct extreme {
    const int64_t *dims;
    bool patient;          /* its blocks may run to their end: a workload, or sought for what nothing has run */
    bool told;             /* some blocks ended, and what they wrote is final */
    bool compared;         /* and all that a version's blocks wrote was compared with it */
    bool wrote;            /* some block of the original did; */
    double wrote_at;       /* the first of those that was seen: its part of the grid, 0 to 1 */
    bool odd;              /* the original itself writes at other places, or too little, */
    uint64_t stray;        /* and which of its indices has lost what by that: probe's */
    bool adds[MAX_ARGS];   /* outputs to which one block after the other adds */
    bool parts[MAX_ARGS];  /* in-place outputs of which the original's blocks write more or less, */
    double sure[MAX_ARGS]; /* and this much together at the least, bytes */
    bool to_end[MAX_ARGS]; /* outputs that they write block behind block, from the first byte to the last */
    VEC(struct piece) pieces[MAX_ARGS];
};

struct watched { /* an element of an input */
    uint64_t addr;
    bool read, far; /* by now; well behind the buffer's beginning */
    size_t arg;
};

struct probe {
    struct extreme *of; /* the shape, and what the original does there */
    bool original;
    struct version *version;
    struct stage *stage;
    struct arena *arena;
    size_t launches;
    size_t most_launches;
    const char *strayed[MAX_ARGS]; /* output: what a launch's last block wrote in the stead of its end, */
    bool end_written[MAX_ARGS];    /* which some other launch's may have */
    const char *misread;           /* what the last block read in the stead of an input's end */
    uint64_t stray;  /* of these, which argument and how many bytes 2^32 are, of the first; 0: none */
    bool far;        /* what stands in for an end is well behind the beginning */
    const char *cut; /* what is set or copied in part only, or too early */
    bool copied;     /* something was */
    struct watched watched[MOST_WATCHED];
    size_t n_watched;
    const char *few;                      /* an output that the blocks do not come to the whole of */
    double share[MAX_ARGS];               /* of each output, in bytes: what launches, sets and copies write */
    uint64_t metered, metered_bytes;      /* an input, of which loads are counted; 0 bytes: none */
    double loaded;                        /* of it, by what is running: bytes, each time */
    struct stored *reads;                 /* by what is running; NULL: nobody asks */
    struct stored block, others, earlier; /* what is running writes; the launch's blocks; earlier launches' */
    struct ptx_leaps *leaps;              /* of the block at hand; NULL: all turns of its loops run */
    uint64_t insns, block_insns;          /* so far, and of the last block */
    bool lasting;                         /* it has not ended, and would within the longer limit */
    bool busy;                            /* some block did more than look at its index */
    bool wrote;                           /* something of an output */
    bool unasked;                         /* the block at hand may use what nobody has written */
    bool undefined;                       /* the block at hand came upon what others should have left */
    bool ended;                           /* all blocks that were run */
    bool clustered;                       /* what one block writes depends on others */
    bool atomics;                         /* blocks may share out work, or a sum */
    bool updated;        /* atomically by launches before, or they did not end: more is missing */
    bool again;          /* some block ran twice */
    bool adds[MAX_ARGS]; /* a block has changed again what another had: a few blocks' share of a sum is no
                            answer */
    uint8_t *ran;        /* counts as covered only where the outcome was judged */
};

struct grid { /* of the launch at hand */
    const struct ptx_launch *launch;
    const struct image_kernel *kernel;
    uint64_t blocks;
    bool first; /* of the plan */
};

/* probe.c */

/* What it writes is then in p->block. */
bool probe_block(struct probe *p, const struct grid *g, uint64_t block, uint64_t insns, bool *ended,
                 struct fate *fate, struct err *err);
/* The same with anything in the place of what nobody has written. */
bool probe_unasked(struct probe *p, const struct grid *g, uint64_t block, bool *ended, struct fate *fate,
                   struct err *err);
void probe_close(struct probe *p);
/* The buffers, with values that cost little, and the plan of a version. */
bool probe_open(struct stage *stage, struct version *v, struct arena *a, const int64_t *dims, struct plan *plan,
                struct fate *fate, struct err *err);
/* Do a shape's buffers fit what the simulator reserves, with as much beside them? Else they cannot be opened.
 */
bool has_room(const struct task *t, const int64_t *dims);
/* May all of them be filled? */
bool is_small(const struct task *t, const int64_t *dims);
/* Not where gigabytes are to be copied that may change meanwhile, with a barrier of all blocks, or where a
 * workspace beside the buffers would not fit the device. */
bool can_be_probed(const struct stage *s, const struct plan *plan);
/* Is an output updated in place? A block that ran twice has then done it twice. */
bool in_place(const struct task *t);

/* extreme.c */

/* A shape; original: what it writes is kept. */
bool verify_extreme(struct judge *j, struct version *v, struct arena *a, struct extreme *x, bool original,
                    struct fate *fate, struct err *err);
/* As probe_block, until its end, where that is likely within the longer limit. */
bool probe_block_far(struct probe *p, const struct grid *g, uint64_t block, bool *ended, struct fate *fate,
                     struct err *err);

/* reads.c: blocks that have left out a part of an input. */
bool reads_verify(struct judge *j, struct version *v, struct arena *a, const int64_t *dims, struct fate *fate,
                  struct err *err);

/* strays.c: what the last block has written, or read from watch_ends on, in the stead of an end; and whether it
 * does so at another shape, too. */
bool look_for_strays(struct probe *p, const struct grid *g, struct err *err);
void watch_ends(struct probe *p);
void look_for_misread(struct probe *p);
bool strays_again(struct probe *p, const struct extreme *x, bool *again, struct err *err);

/* places.c */

/* What the last launch's blocks have stored, and is defined; of what was full before, what has changed. */
void keep_pieces(const struct probe *p, struct extreme *x);
void drop_pieces(const struct judge *j, struct extreme *x);
/* Where both versions have written, they must agree. */
void compare_pieces(const struct probe *p, const struct extreme *x, struct fate *fate);
/* Joins p->block to what the launch's blocks have written. */
void look_for_sums(struct probe *p);
/* The original's blocks at the far places that the candidate's have written, of a plan of one launch: compared.
 */
bool compare_far(const struct probe *p, const struct extreme *x, struct fate *fate, struct err *err);

#endif
