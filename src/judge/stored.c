#include "stored.h"

enum { MOST_LOOSE = 1 << 16 }; /* ranges beyond twice those that stayed; then they are settled on the way */

static int by_address(const void *a, const void *b)
{
    const struct stored_range *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

static size_t settle(struct stored_range *v, size_t n)
{
    size_t kept = 0;

    if (n > 1)
        qsort(v, n, sizeof(*v), by_address);
    for (size_t i = 0; i < n; i++) {
        if (kept && v[i].from <= v[kept - 1].to)
            v[kept - 1].to = MAX(v[kept - 1].to, v[i].to);
        else
            v[kept++] = v[i];
    }
    return kept;
}

void stored_settle(struct stored *s)
{
    s->ranges.n = settle(s->ranges.v, s->ranges.n);
    s->atomics.n = settle(s->atomics.v, s->atomics.n);
    s->settled = s->ranges.n + s->atomics.n;
}

void stored_note(void *context, uint64_t addr, uint64_t bytes, bool atomic)
{
    struct stored *s = context;
    struct stored_range *last = s->ranges.n ? &vec_last(&s->ranges) : NULL;

    if (last && last->to == addr)
        last->to += bytes;
    else
        vec_push(&s->ranges, ((struct stored_range){addr, addr + bytes}));
    if (atomic)
        vec_push(&s->atomics, ((struct stored_range){addr, addr + bytes}));
    if (s->ranges.n + s->atomics.n > MOST_LOOSE + 2 * s->settled)
        stored_settle(s);
}

void stored_clear(struct stored *s)
{
    vec_clear(&s->ranges);
    vec_clear(&s->atomics);
    s->settled = 0;
}

void stored_free(struct stored *s)
{
    vec_free(&s->ranges);
    vec_free(&s->atomics);
}

static uint64_t common(struct stored_range x, struct stored_range y)
{
    uint64_t from = MAX(x.from, y.from), to = MIN(x.to, y.to);

    return from < to ? to - from : 0;
}

uint64_t stored_bytes(const struct stored *s, uint64_t addr, uint64_t bytes)
{
    uint64_t sum = 0;
    size_t low = 0, high = s->ranges.n;

    while (low < high) { /* to the first that ends behind addr */
        size_t mid = (low + high) / 2;
        if (s->ranges.v[mid].to <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < s->ranges.n && s->ranges.v[low].from < addr + bytes; low++)
        sum += common(s->ranges.v[low], (struct stored_range){addr, addr + bytes});
    return sum;
}

bool stored_atomically(const struct stored *s, uint64_t addr, uint64_t bytes)
{
    for (size_t i = 0; i < s->atomics.n; i++)
        if (common(s->atomics.v[i], (struct stored_range){addr, addr + bytes}))
            return true;
    return false;
}

bool stored_overlap(const struct stored *s, const struct stored *other, uint64_t addr, uint64_t bytes)
{
    for (size_t i = 0, k = 0; i < s->ranges.n && k < other->ranges.n;) {
        struct stored_range x = s->ranges.v[i], y = other->ranges.v[k];
        if (common(x, y) && common(x, (struct stored_range){addr, addr + bytes}))
            return true;
        if (x.to < y.to)
            i++;
        else
            k++;
    }
    return false;
}

void stored_join(struct stored *s, const struct stored *other)
{
    for (size_t i = 0; i < other->ranges.n; i++)
        vec_push(&s->ranges, other->ranges.v[i]);
    for (size_t i = 0; i < other->atomics.n; i++)
        vec_push(&s->atomics, other->atomics.v[i]);
    stored_settle(s);
}
