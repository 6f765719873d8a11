/* What launches touch of some allocations: how far, what they write, and whether they read what nobody wrote.
 */
#include "sanitize_internal.h"

enum { LOOKED_AT = 4 << 20, FIRST = 1 << 12 }; /* bytes of an allocation that are followed one by one */

static struct sanitize_extent *find(struct sanitize_footprint *f, uint64_t addr)
{
    for (size_t i = 0; i < f->n; i++) {
        if (addr >= f->v[i].addr && addr - f->v[i].addr < f->v[i].bytes)
            return &f->v[i];
    }
    return NULL;
}

/* What is known of the first bytes, up to `end` at least: few of them are enough for most. */
static void look_at(struct sanitize_extent *e, size_t end)
{
    size_t n = MAX(e->n_seen, (size_t)FIRST);

    if (end <= e->n_seen)
        return;
    while (n < end)
        n *= 2;
    e->seen = mem_realloc(e->seen, n);
    memset(e->seen + e->n_seen, 0, n - e->n_seen);
    e->n_seen = n;
}

static void touch(struct sanitize_extent *e, uint64_t from, uint64_t to, bool reads, bool writes)
{
    e->read = e->read || reads;
    e->wrote = e->wrote || writes;
    e->end = MAX(e->end, to);
    if (from >= LOOKED_AT || (!writes && e->read_first)) /* nothing more is learnt of it */
        return;
    const size_t n = (size_t)(MIN(to, (uint64_t)LOOKED_AT) - from);
    look_at(e, (size_t)from + n);
    uint8_t *seen = e->seen + from;
    if (!memchr(seen, 0, n))
        return;
    e->read_first = e->read_first || reads;
    if (!writes)
        return;
    for (size_t i = 0; i < n; i++)
        e->written += !seen[i];
    memset(seen, 1, n);
}

static void access(struct warp *w, const struct insn *i, const struct access *x)
{
    struct sanitize_footprint *f = (struct sanitize_footprint *)w->launch->observer[PTX_CHECKER];

    struct sanitize_extent *e = NULL;
    uint64_t last = 0;

    (void)i;
    for (unsigned lane = 0; x->space == SPACE_GLOBAL && lane < 32; lane++) {
        const uint64_t addr = x->addr[lane];

        if (!(x->mask >> lane & 1) || (e && addr == last)) /* lanes that read one place are as one */
            continue;
        if (!e || addr < e->addr || addr - e->addr >= e->bytes)
            e = find(f, addr);
        last = addr;
        if (!e)
            continue;
        e->atomic = e->atomic || x->kind == ACCESS_ATOMIC;
        touch(e, x->addr[lane] - e->addr, x->addr[lane] - e->addr + x->bytes, x->kind != ACCESS_STORE,
              x->kind != ACCESS_LOAD);
    }
}

/* A shuffle by some lanes moves no memory. */
static void shuffled(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)w;
    (void)i;
    (void)m;
}

void sanitize_extent_set(struct sanitize_footprint *f, uint64_t addr, uint64_t bytes)
{
    struct sanitize_extent *e = find(f, addr);

    if (e && bytes)
        touch(e, addr - e->addr, addr - e->addr + bytes, false, true);
}

struct ptx_observer *sanitize_footprint_on(struct sanitize_footprint *f)
{
    static const struct ptx_observer_calls calls = {.role = PTX_CHECKER, .insn = shuffled, .access = access};

    f->observer.calls = &calls;
    return &f->observer;
}

void sanitize_footprint_close(struct sanitize_footprint *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->v[i].seen);
}
