/* The caches of the clock: a block's share of its SM's L1, the lines that a sample of blocks touched, and what
 * a plan's launches leave in the L2 for each other. */
#include "cost_model.h"

/* ---- L1 ---- */

void l1_reset(struct l1 *c, double bytes)
{
    size_t want = MAX((size_t)(bytes / (4 * LINE_BYTES)), 1);
    if (want > c->cap_sets) {
        free(c->sets);
        c->sets = mem_alloc(want * sizeof(*c->sets));
        c->cap_sets = want;
    }
    c->n_sets = want;
    memset(c->sets, 0, want * sizeof(*c->sets));
}

void l1_free(struct l1 *c)
{
    free(c->sets);
    *c = (struct l1){0};
}

unsigned l1_probe(struct l1 *c, uint64_t line, unsigned sectors, float now, struct l1_arrival **came)
{
    struct l1_set *s = &c->sets[(line ^ line >> 20) % c->n_sets];
    unsigned way = 4, had = 0;
    for (unsigned k = 0; k < 4; k++)
        if (s->tag[k] == line + 1)
            way = k;
    if (way < 4) {
        had = s->sectors[way] & sectors;
    } else {
        way = s->next++ & 3;
        s->tag[way] = line + 1;
        s->sectors[way] = 0;
        s->came[way] = (struct l1_arrival){now, 0, 0};
    }
    s->sectors[way] |= (uint8_t)sectors;
    *came = &s->came[way];
    return had;
}

/* ---- lines touched ---- */

static struct l2_line *l2_slot(struct l2_line *lines, size_t cap, uint64_t line)
{
    size_t at = (size_t)(line * 0x9e3779b97f4a7c15ull >> 20) & (cap - 1);
    while (lines[at].line && lines[at].line != line + 1)
        at = (at + 1) & (cap - 1);
    return &lines[at];
}

struct l2_line *l2_get(struct l2 *c, uint64_t line)
{
    if (2 * (c->n + 1) > c->cap) {
        struct l2 grown = {.cap = c->cap ? c->cap * 2 : 1 << 14};
        grown.lines = mem_zalloc(grown.cap * sizeof(*grown.lines));
        for (size_t k = 0; k < c->cap; k++)
            if (c->lines[k].line)
                *l2_slot(grown.lines, grown.cap, c->lines[k].line - 1) = c->lines[k];
        grown.n = c->n;
        free(c->lines);
        *c = grown;
    }
    struct l2_line *l = l2_slot(c->lines, c->cap, line);
    if (!l->line) {
        l->line = line + 1;
        l->block = ~0u;
        c->n++;
    }
    return l;
}

struct l2_line *l2_find(struct l2 *c, uint64_t line)
{
    struct l2_line *l = c->cap ? l2_slot(c->lines, c->cap, line) : NULL;

    return l && l->line ? l : NULL;
}

void l2_clear(struct l2 *c)
{
    free(c->lines);
    *c = (struct l2){0};
}

/* ---- between launches ---- */

struct ptx_cache *ptx_cache_open(const struct ptx_device *d)
{
    struct ptx_cache *c = mem_zalloc(sizeof(*c));
    c->device = d;
    return c;
}

void ptx_cache_close(struct ptx_cache *c)
{
    if (!c)
        return;
    vec_free(&c->prints);
    free(c);
}

/* Not a step at the L2's size: replacement is not exact, and each half of the L2 keeps its own copy of much
 * that both read. Measured in the 60 MB of an H200, launches repeated on the same bytes: 38 MB hit always, 43
 * MB half of the time, 57 MB seldom, 67 MB hardly ever. */
double cache_resident(const struct ptx_device *d, double distance)
{
    double full = 0.60 * (double)d->l2_bytes, none = 0.95 * (double)d->l2_bytes;
    return CLAMP((none - distance) / (none - full), 0, 1);
}

bool ptx_cache_round(struct ptx_cache *c, size_t sets)
{
    double touched = c->clock, round = touched * (double)sets;

    if (touched <= 0 || cache_resident(c->device, round) <= 0)
        return false;
    c->clock = round;
    c->used = false;
    return true;
}

struct footprint *cache_footprint(struct ptx_cache *c, uint64_t addr)
{
    for (size_t k = 0; k < c->prints.n; k++)
        if (c->prints.v[k].addr == addr)
            return &c->prints.v[k];
    vec_push(&c->prints, ((struct footprint){.addr = addr}));
    return &vec_last(&c->prints);
}
