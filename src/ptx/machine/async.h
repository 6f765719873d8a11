/* What works beside the threads: mbarriers (mbarrier.c), bulk copies (bulk.c) and the cp.async copies that an
 * mbarrier may wait for (async.c).
 *
 * A copy may land at any moment up to the wait that covers it, so it lands there, at the last one: whoever
 * reads without waiting sees what was there before. An mbarrier's copies land when somebody waits for it and
 * nothing but them is missing. Copies that nobody waits for land when their block ends. */
#ifndef PTX_ASYNC_H
#define PTX_ASYNC_H

#include "ptx/machine.h"

/* ---- cp.async ---- */

struct copy {
    uint8_t *to;
    const uint8_t *from;
    uint32_t group;
    uint8_t bytes, from_bytes, lane;
    uint64_t serial; /* of the instruction, in its warp */
};

struct async {
    struct ptx_shadow *shadow; /* of the launch */
    uint64_t block;            /* linear id + 1 of the block whose copies these are */
    uint32_t committed[32];
    uint64_t serial; /* of the next */
    size_t n, cap;
    struct copy copies[];
};

struct async *async_of(struct warp *w, size_t room);
/* Let copies of lanes of m land whose group is older than the last `keep` committed ones; keep < 0: all. */
void async_land(struct async *a, uint32_t m, int64_t keep);
void async_land_before(struct async *a, uint32_t m, uint64_t serial);

/* ---- bulk copies ---- */

enum flight_kind {
    FLIGHT_COPY,
    FLIGHT_REDUCE,
    FLIGHT_ARRIVE, /* an arrival that waits for cp.async copies */
};

struct flight {
    enum flight_kind kind;
    const struct insn *insn;
    struct warp *warp; /* who began it; its block's cluster is not done yet */
    uint32_t lane, group, bytes;
    struct block *to_block, *from_block; /* whose shared memory; NULL: global */
    uint64_t to, from;                   /* offsets there, or device addresses */
    uint8_t *taken;                      /* what the source held when it was given back (wait_group.read) */
    bool small;                          /* st.async, red.async: what a thread's registers held, in `value` */
    uint8_t value[16];
    double shadow[8]; /* of value's parts, and their states (shadow_value.h) */
    uint8_t shadowed[8];
    uint64_t serial; /* FLIGHT_ARRIVE: cp.async instructions before it */
    float ready;     /* the clock's: when the bytes are there */
};

struct bulk_groups { /* of a warp */
    uint32_t committed[32];
    VEC(struct flight) flights;
};

exec_fn *store_async_select(struct insn *i); /* of st.async and red.async */
exec_fn *bulk_select(struct insn *i);        /* of cp.async.bulk and cp.reduce.async.bulk; NULL: no such form */
/* The bytes arrive; false after a finding. */
bool flight_land(struct flight *f);
void bulk_groups_free(struct warp *w);

/* ---- mbarriers ---- */

struct mbar {
    uint32_t at; /* offset in the block's shared memory */
    bool live;
    uint32_t expected, pending; /* arrivals */
    int64_t tx;                 /* bytes that are expected and have not come */
    uint32_t phase;
    uint64_t word; /* what its 8 bytes hold, for whoever looks */
    struct race_sync *sync;
    uint32_t init_id; /* the race detector's: who initialised it; 0: unknown */
    uint32_t init_pc;
    float gathered, done;       /* the clock's: the latest arrival of this phase, and of the last one */
    VEC(struct flight) flights; /* that it will be told of */
};

struct mbars { /* of a block */
    VEC(struct mbar) v;
};

exec_fn *mbar_select(struct insn *i); /* of mbarrier and cp.async.mbarrier.arrive; NULL: no such form */
/* The mbarrier that lane's instruction means, as it must be; NULL after a finding. */
struct mbar *mbar_use(struct warp *w, const struct insn *i, uint32_t lane, const struct block *b,
                      uint64_t offset);
/* n bytes came; false after a finding. */
bool mbar_complete_tx(struct block *b, struct mbar *bar, uint64_t bytes);
/* Who waits at w->stalled for what; false: its mbarrier is no more. */
bool mbar_words(const struct warp *w, char *to, size_t size);
void mbars_reset(struct block *b); /* a new block is in the slot */
void mbars_free(struct block *b);

/* One lane's value of an operand. */
static inline uint64_t opnd_lane(const struct warp *w, const struct opnd *o, uint32_t lane)
{
    switch (o->bytes) {
    case 2:
        return REG(uint16_t, w, o->off)[lane];
    case 4:
        return REG(uint32_t, w, o->off)[lane];
    default:
        return REG(uint64_t, w, o->off)[lane];
    }
}

static inline uint64_t opnd_address(const struct warp *w, const struct opnd *o, uint32_t lane)
{
    return opnd_lane(w, o, lane) + (uint64_t)o->imm;
}

/* ---- the sanitizer's view: sanitize_async.c; called only when launch.san is set ---- */

/* A flight begins: does it meet anything unordered? */
void san_flight_begin(const struct flight *f);
void san_flight_bytes(const struct flight *f); /* landed: which bytes are defined now */
/* The thread that began it knows that the source is free again. */
void san_flight_read(const struct flight *f);
/* The bytes are there; bar: who was told, or NULL: the thread that began it waited. */
void san_flight_end(const struct flight *f, struct mbar *bar, struct block *bar_block);
void san_arrival_end(const struct flight *f, struct mbar *bar, struct block *bar_block);
void san_mbar_init(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar);
/* Is its initialisation known to lane? A finding when not. */
void san_mbar_use(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar);
void san_mbar_arrive(struct warp *w, const struct insn *i, struct mbar *bar, uint32_t mask);
void san_mbar_flip(struct mbar *bar);
void san_mbar_wait(struct warp *w, struct mbar *bar, uint32_t mask);
void san_cluster_arrive(struct warp *w, struct cluster *c, uint32_t mask, bool relaxed);
void san_cluster_flip(struct cluster *c);
void san_cluster_wait(struct warp *w, struct cluster *c, uint32_t mask);
void san_proxy_fence(struct warp *w);
/* All threads of b have exited: may others still be at its memory? */
void san_cluster_exit(struct block *b);

/* The race detector's, kept by whoever it is about. */
struct race_sync;
void race_sync_drop(struct race_sync **s);

#endif
