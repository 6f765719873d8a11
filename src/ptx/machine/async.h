/* What works beside the threads: mbarriers (mbarrier.c), bulk copies (bulk.c) and the cp.async copies that an
 * mbarrier may wait for (async.c).
 *
 * A copy may land at any moment up to the wait that covers it, so it lands there, at the last one: whoever
 * reads without waiting sees what was there before. An mbarrier's copies land when somebody waits for it and
 * nothing but them is missing. Copies that nobody waits for land when their block ends. */
#ifndef PTX_ASYNC_H
#define PTX_ASYNC_H

#include "machine.h"

/* ---- cp.async ---- */

struct copy {
    uint8_t *to;
    const uint8_t *from;
    uint32_t group;
    uint8_t bytes, from_bytes, lane;
    uint64_t serial; /* of the instruction, in its warp */
};

struct async {
    struct launch *launch;
    uint64_t block; /* linear id + 1 of the block whose copies these are */
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

exec_fn *store_async_select(struct insn *i); /* of st.async and red.async */
exec_fn *bulk_select(struct insn *i);        /* of cp.async.bulk and cp.reduce.async.bulk; NULL: no such form */
/* The bytes arrive; false after a finding. */
bool flight_land(struct flight *f);
/* A copy begins: into shared memory at dst, telling the mbarriers that its instruction names (its operands 3
 * and, with .multicast, 4); out of it into global memory, in its thread's bulk group. False after a finding. */
bool flight_to_mbarrier(const struct flight *begun, uint64_t dst);
bool flight_to_group(const struct flight *begun, uint64_t dst);
/* Of these lanes those that begin copies. Lanes whose copies out of shared memory are the same one begin one
 * together: they would leave the same bytes, and so does the assembler, while each lane that copies into shared
 * memory tells the mbarrier of its own bytes. */
uint32_t bulk_distinct(struct warp *w, const struct insn *i, uint32_t m);
exec_fn *tensor_select(struct insn *i); /* tensor.c: of cp.async.bulk.tensor */
void flight_free(struct flight *f);     /* what it owns */
void bulk_groups_free(struct warp *w);

/* ---- mbarriers ---- */

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

static inline uint64_t opnd_address(const struct warp *w, const struct opnd *o, uint32_t lane)
{
    return opnd_lane(w, o, lane) + (uint64_t)o->imm;
}

#endif
