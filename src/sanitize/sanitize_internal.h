/* What sanitize.c and undef.c share: which bytes nobody has written yet, in memory and in registers. */
#ifndef SANITIZE_SANITIZE_INTERNAL_H
#define SANITIZE_SANITIZE_INTERNAL_H

#include "ptx/observe.h"
#include "sanitize.h"

struct race;
struct race_block;
struct race_sync;

struct origin { /* the first load in a launch that found such bytes: where the trouble began */
    int line;
    char words[160];
};

struct san { /* of a launch */
    struct ptx_observer observer;
    struct arena *arena;
    struct race *race;                    /* NULL: no race checks */
    unsigned checks;                      /* enum sanitize_checks */
    const struct sanitize_stores *stores; /* NULL: nobody asks */
    const struct sanitize_ahead *ahead;   /* NULL: the launch need not wait */
    bool waited;                          /* some thread of it has */
    uint32_t *slot_at;                    /* register file offset / 2 -> slot, for guards */
    uint32_t *never;                      /* slots of registers that the text reads before it writes them */
    size_t n_never;
    struct origin origin;
    struct sanitize_earlier *told; /* NULL: nobody asks */
    uint32_t earlier_mask;         /* lanes of the load at hand that take their bytes from here */
    uint8_t earlier[32][16];
};

struct san_block {
    struct kept kept;
    struct race_block *race;
    uint8_t *shared, *local; /* bit per byte, 1: written; local: [thread][local_bytes] */
};

struct san_warp {
    struct kept kept;
    uint32_t *undef;           /* by slot: lanes whose register holds an undefined value; while warp.followed */
    uint8_t (*bytes)[32];      /* by slot: for those lanes, which bytes are undefined */
    bool dirty;                /* undef is not all zero */
    uint16_t async[32];        /* the same for what a cp.async just read */
    uint32_t behind;           /* lanes that come after a wait for the launches ahead */
    const struct insn *choice; /* the last branch that is one (undef.c), */
    uint32_t choice_lanes;     /* and lanes whose condition was undefined there */
    struct san_group *group;   /* what wgmma has under way; NULL: it met none. warpgroup.c */
};

struct waited_phase { /* has a thread that arrived come after a wait for the launches ahead? */
    bool now, last;   /* of this phase; of the one that completed last */
};

struct san_mbar {
    struct kept kept;
    struct race_sync *sync; /* what arrivals published */
    uint32_t init_id;       /* who initialised it; 0: unknown */
    uint32_t init_pc;
    struct waited_phase phase;
};

struct san_cluster {
    struct kept kept;
    struct race_sync *sync; /* what arrivals at its barrier published */
    uint32_t first_seg;     /* at the first arrival; 0: none */
    bool relaxed;           /* some arrival published nothing */
    uint32_t passed_seg;    /* the same of the phase that completed last */
    bool passed_relaxed;
    struct waited_phase phase;
};

static inline struct san *san_of(const struct launch *l)
{
    return (struct san *)l->observer[PTX_CHECKER];
}

static inline struct san_block *san_block(const struct block *b)
{
    return (struct san_block *)b->kept[PTX_CHECKER];
}

static inline struct san_warp *san_warp(const struct warp *w)
{
    return (struct san_warp *)w->kept[PTX_CHECKER];
}

/* Bytes [at, at + n) that are not set, as bits; n up to 32. Bitmaps have 8 bytes to spare at the end. */
uint32_t bits_missing(const uint8_t *bits, uint64_t at, uint32_t n);
void bits_set(uint8_t *bits, uint64_t at, uint64_t n);
void bits_clear(uint8_t *bits, uint64_t at, uint64_t n);

/* sanitize.c, for sanitize_async.c */
struct race_conflict;
/* "'in', byte 12", "shared memory, byte 40 of 'tile'": where an address lies; and who a thread is. */
void san_place_words(const struct launch *l, enum space space, uint64_t addr, char *to, size_t size);
void san_thread_words(const struct launch *l, uint64_t block, uint32_t warp, uint32_t lane, char *to,
                      size_t size);
void san_report_conflict(struct warp *w, const struct insn *i, enum space space, const char *what,
                         const struct race_conflict *c);
void san_taint(struct launch *l, struct alloc *a); /* an allocation that was born initialised no longer is */
/* An undefined value is stored there, for ptx_mem_explain. */
void san_remember_store(struct warp *w, const struct insn *i, struct alloc *a, int lane, uint64_t addr,
                        uint32_t bytes);

/* dependent.c: what a programmatic launch does before it has waited for those ahead of it */
exec_fn dependent_wait;
void dependent_access(struct warp *w, const struct insn *i, const struct access *x);
void dependent_flight(const struct flight *f);
void dependent_barrier(struct block *b, const uint32_t *arrived, const uint32_t *waiting);
void dependent_warp_sync(struct warp *w, uint32_t mask);
void dependent_arrive(const struct warp *w, struct waited_phase *p, uint32_t mask, bool relaxed);
void dependent_flip(struct waited_phase *p);
void dependent_pass(struct warp *w, const struct waited_phase *p, uint32_t mask);
void dependent_end(struct launch *l);

void undef_begin(const struct launch *l, struct san *s);                  /* finds `never`, `slot_at` */
void undef_block(struct block *b);                                        /* registers of its warps are fresh */
uint8_t opnd_undef(const struct warp *w, const struct opnd *o, int lane); /* its bytes that are undefined */
uint8_t undef_of(const struct warp *w, uint32_t slot, int lane);          /* undefined bytes of a register */
void undef_set(struct warp *w, uint32_t slot, uint32_t mask, const uint8_t bytes[32]);
/* A load's destination: missing[lane] bit k says that byte k of what was read is undefined. */
void undef_loaded(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t missing[32]);
/* The bytes that a store is about to write, the same way; false: all defined. */
bool undef_stored(struct warp *w, const struct insn *i, uint32_t mask, uint32_t missing[32]);
/* The same of one part (matrix.h) of wmma.load and wmma.store. */
void undef_fragment_loaded(struct warp *w, const struct insn *i, unsigned part, const uint32_t missing[32]);
bool undef_fragment_stored(const struct warp *w, const struct insn *i, unsigned part, uint32_t missing[32]);

/* The observer's calls that stand in undef.c and sanitize_async.c. */
exec_fn undef_use, undef_insn, san_proxy_fence, san_warpgroup;
/* warpgroup.c: a register is used before wgmma has left it, ... */
exec_fn group_use;
void group_undef(struct warp *w, const struct insn *i); /* D of wgmma, by what of A, B and C is undefined */
void group_drop(struct san_group *g);                   /* takes NULL */
void group_begin(struct warp *w);                       /* a new block is in the slot */
void group_end(struct block *b); /* all threads have exited: did the warps of groups agree? */
void san_flight_begin(const struct flight *f);
void san_flight_bytes(const struct flight *f);
void san_flight_read(const struct flight *f);
void san_flight_end(const struct flight *f, struct mbar *bar, struct block *bar_block);
void san_arrival_end(const struct flight *f, struct mbar *bar);
void san_mbar_init(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar);
void san_mbar_use(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar);
void san_mbar_arrive(struct warp *w, const struct insn *i, struct mbar *bar, uint32_t m);
void san_mbar_flip(struct mbar *bar);
void san_mbar_wait(struct warp *w, struct mbar *bar, uint32_t m);
void san_cluster_arrive(struct warp *w, struct cluster *c, uint32_t m, bool relaxed);
void san_cluster_flip(struct cluster *c);
void san_cluster_wait(struct warp *w, struct cluster *c, uint32_t m);
void san_cluster_exit(struct block *b);
void san_reach(struct warp *w, const struct insn *i, uint32_t m, const struct block *of);

#endif
