/* stored: what a block writes to global memory, as ranges of addresses: told by the simulator as it happens, or
 * read afterwards. */
#ifndef JUDGE_STORED_H
#define JUDGE_STORED_H

#include "base/base.h"
#include "sanitize/sanitize.h"

struct stored_range {
    uint64_t from, to; /* addresses; to is behind the last byte */
};

struct stored {
    VEC(struct stored_range) ranges; /* as they come; from stored_settle on sorted, and apart from each other */
    VEC(struct stored_range) atomics;
    size_t settled; /* of both, the last time */
};

/* sanitize_stores.stored: context is a struct stored. */
void stored_note(void *context, uint64_t addr, uint64_t bytes, bool atomic);
void stored_settle(struct stored *s);
void stored_clear(struct stored *s);
void stored_free(struct stored *s);
/* Bytes of [addr, addr + bytes), each counted once. These want it settled. */
uint64_t stored_bytes(const struct stored *s, uint64_t addr, uint64_t bytes);
bool stored_atomically(const struct stored *s, uint64_t addr, uint64_t bytes);
/* Has the other stored something in that range that this one has, too? */
bool stored_overlap(const struct stored *s, const struct stored *other, uint64_t addr, uint64_t bytes);
/* All that the other has is now this one's. */
void stored_join(struct stored *s, const struct stored *other);

#endif
