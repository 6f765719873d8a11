/* Ranges of host addresses that a memory lies in. To clear a page costs less than to ask the host for one, and
 * memories of cases are many and small: what one leaves, the next one takes over. */
#ifndef PTX_MEM_RANGE_H
#define PTX_MEM_RANGE_H

#include "ptx/observe.h"

struct mem_range {
    uint8_t *map, *init, *seen; /* bytes; a bit per byte; a bit per page that has been made present */
    uint64_t reserved,
        dirty;      /* bytes of map; of them the first, in which an earlier memory has left something */
    uint64_t pages; /* of the host that it holds, about */
    bool large;     /* the host was asked for large pages */
};

/* One that is kept, or a new one; ends the process where there is no address space. Any thread may call. */
struct mem_range *mem_range_take(void);
/* Keeps or releases it; used: the bytes of map that were in use. */
void mem_range_give(struct mem_range *r, uint64_t used);

/* Counts a page of map that is made present. */
void mem_range_note(struct mem_range *r, const uint8_t *at);
/* May an earlier memory have left something there? */
bool mem_range_is_dirty(const struct mem_range *r, const uint8_t *at);

#endif
