/* cp.async copies under way. warp.async holds them; each lane numbers its groups. It is made on first use,
 * belongs to the block that is in the warp's slot, and the engine frees it with the slot. */
#include "async.h"

struct async *async_of(struct warp *w, size_t room)
{
    struct async *a = w->async;
    size_t n = a && a->block == w->block->linear + 1 ? a->n : 0;
    if (!a || n + room > a->cap) {
        size_t cap = 2 * (n + room) + 256;
        bool fresh = !a;
        a = mem_realloc(a, sizeof(*a) + cap * sizeof(struct copy));
        if (fresh)
            a->block = 0;
        a->cap = cap;
        a->launch = w->launch;
        w->async = a;
    }
    if (a->block != w->block->linear + 1) {
        memset(a->committed, 0, sizeof(a->committed));
        a->block = w->block->linear + 1;
        a->serial = 0;
        a->n = 0;
    }
    return a;
}

static void copy_land(const struct async *a, const struct copy *c)
{
    memcpy(c->to, c->from, c->from_bytes);
    memset(c->to + c->from_bytes, 0, (size_t)(c->bytes - c->from_bytes));
    OBSERVE(a->launch, moved, a->launch, c->to, c->from, c->from_bytes);
    OBSERVE(a->launch, cleared, a->launch, c->to + c->from_bytes, (size_t)(c->bytes - c->from_bytes));
}

void async_land(struct async *a, uint32_t m, int64_t keep)
{
    size_t left = 0;
    for (size_t k = 0; k < a->n; k++) {
        const struct copy *c = &a->copies[k];
        if (m >> c->lane & 1 && (keep < 0 || (int64_t)c->group < (int64_t)a->committed[c->lane] - keep))
            copy_land(a, c);
        else
            a->copies[left++] = *c;
    }
    a->n = left;
}

void async_land_before(struct async *a, uint32_t m, uint64_t serial)
{
    size_t left = 0;
    for (size_t k = 0; k < a->n; k++) {
        const struct copy *c = &a->copies[k];
        if (m >> c->lane & 1 && c->serial < serial)
            copy_land(a, c);
        else
            a->copies[left++] = *c;
    }
    a->n = left;
}
