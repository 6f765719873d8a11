/* The shadow of memory: pages of cells by host address, so that global, shared, local memory and parameters are
 * one thing. */
#include "shadow_value.h"

#include <sys/mman.h>

/* Pages come zeroed from the kernel, many at once and where it can in one piece: to be given each page of a few
 * megabytes by itself took a fifth of a launch's time. */
struct shadow_slab {
    struct shadow_slab *next;
    size_t n;
    struct shadow_page pages[];
};

enum {
    SLAB_BYTES = 4 << 20,
    SLAB_PAGES = (SLAB_BYTES - sizeof(struct shadow_slab)) / sizeof(struct shadow_page)
};

static struct shadow_page *page_new(struct ptx_shadow *s)
{
    if (!s->slabs || s->slabs->n == SLAB_PAGES) {
        struct shadow_slab *slab =
            mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (slab == MAP_FAILED)
            mem_exhausted(SLAB_BYTES);
        madvise(slab, SLAB_BYTES, MADV_HUGEPAGE);
        slab->next = s->slabs;
        s->slabs = slab;
    }
    return &s->slabs->pages[s->slabs->n++];
}

static const struct ptx_observer_calls shadow_calls;

struct ptx_shadow *ptx_shadow_open(void)
{
    struct ptx_shadow *s = mem_zalloc(sizeof(*s));
    s->observer.calls = &shadow_calls;
    s->cap = 256;
    s->slots = mem_zalloc(s->cap * sizeof(*s->slots));
    return s;
}

struct ptx_shadow *ptx_shadow_open_terms(double smallest, enum ptx_terms terms)
{
    struct ptx_shadow *s = ptx_shadow_open();
    s->terms = terms;
    s->smallest = smallest;
    return s;
}

void ptx_shadow_close(struct ptx_shadow *s)
{
    if (!s)
        return;
    for (struct shadow_slab *slab = s->slabs, *next; slab; slab = next) {
        next = slab->next;
        munmap(slab, SLAB_BYTES);
    }
    free(s->slots);
    free(s);
}

struct ptx_observer *ptx_shadow_observer(struct ptx_shadow *s)
{
    return s ? &s->observer : NULL;
}

static struct shadow_page **slot_of(struct shadow_page **slots, size_t cap, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & (cap - 1);
    while (slots[at] && slots[at]->key != key)
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

static void grow(struct ptx_shadow *s)
{
    size_t cap = 2 * s->cap;
    struct shadow_page **slots = mem_zalloc(cap * sizeof(*slots));
    for (size_t k = 0; k < s->cap; k++)
        if (s->slots[k])
            *slot_of(slots, cap, s->slots[k]->key) = s->slots[k];
    free(s->slots);
    s->slots = slots;
    s->cap = cap;
}

struct shadow_cell *shadow_cells_find(struct ptx_shadow *s, const void *host, bool create)
{
    uint64_t key = (uintptr_t)host / SHADOW_PAGE;
    struct shadow_page **slot = slot_of(s->slots, s->cap, key);
    if (!*slot && create) {
        if (4 * ++s->n > 3 * s->cap) {
            grow(s);
            slot = slot_of(s->slots, s->cap, key);
        }
        *slot = page_new(s);
        (*slot)->key = key;
    }
    s->last_key = key;
    s->last = *slot;
    return s->last ? &s->last->cells[(uintptr_t)host % SHADOW_PAGE / 2] : NULL;
}

void shadow_forget(struct ptx_shadow *s, const void *host, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const uint8_t *p = (const uint8_t *)host + at;
        size_t n = MIN(bytes - at, SHADOW_PAGE - (uintptr_t)p % SHADOW_PAGE);
        struct shadow_cell *c = shadow_cells(s, p, false);
        for (size_t k = 0; c && k < (n + 1) / 2; k++)
            c[k].s = SHADOW_PLAIN;
        at += n;
    }
}

void shadow_lose(struct ptx_shadow *s, const void *host, size_t bytes)
{
    for (size_t at = 0; at + 2 <= bytes; at += 2) {
        const uint8_t *p = (const uint8_t *)host + at;
        struct shadow_cell *c = shadow_cells(s, p, true);
        *c = (struct shadow_cell){.s = SHADOW_LOST, .tag = shadow_tag(SHADOW_LOST, p)};
    }
}

void shadow_put(struct ptx_shadow *s, const void *host, size_t bytes, const uint8_t *states, const double *v)
{
    for (size_t k = 0; k < bytes / 2; k++) {
        const uint8_t *p = (const uint8_t *)host + 2 * k;
        struct shadow_cell *c = shadow_cells(s, p, states[k] != SHADOW_PLAIN);
        if (c)
            *c = (struct shadow_cell){.v = v[k], .tag = shadow_tag(states[k], p), .s = states[k]};
    }
}

void shadow_move(struct ptx_shadow *s, const void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 2) {
        const uint8_t *p = (const uint8_t *)to + at;
        const struct shadow_cell *a = shadow_cells(s, (const uint8_t *)from + at, false);
        struct shadow_cell copy = {0}, *b;
        if (a)
            copy = *a;
        b = shadow_cells(s, p, copy.s != SHADOW_PLAIN);
        if (b)
            *b = copy;
    }
}

/* ---- the observer ---- */

static struct ptx_observer *begin(struct ptx_observer *self, struct launch *l)
{
    ((struct ptx_shadow *)self)->plan = shadow_plan(l->module);
    return self;
}

static void end(struct ptx_observer *self, struct launch *l)
{
    struct ptx_shadow *s = (struct ptx_shadow *)self;
    (void)l;
    free(s->plan);
    s->plan = NULL;
}

static loop_fn *loop(const struct ptx_module *m)
{
    extern loop_fn shadow_loop_base, shadow_loop_v3, shadow_loop_v4;
    static loop_fn *const loops[N_ISAS] = {
        [ISA_BASE] = shadow_loop_base,
#ifdef PTX_ISA_v3
        [ISA_V3] = shadow_loop_v3,
#endif
#ifdef PTX_ISA_v4
        [ISA_V4] = shadow_loop_v4,
#endif
    };
    return loops[m->isa];
}

static void kept_free(struct kept *k)
{
    free(k);
}

static struct kept *warp_open(const struct launch *l)
{
    size_t bytes = sizeof(struct shadow_warp) + (l->module->file_bytes / 64 + 1) * sizeof(struct shadow_part);
    struct shadow_warp *sw = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!sw)
        mem_exhausted(bytes);
    memset(sw, 0, bytes);
    sw->kept.drop = kept_free;
    return &sw->kept;
}

static void block_begin(struct block *b)
{
    struct launch *l = b->launch;
    for (uint32_t k = 0; k < b->n_warps; k++)
        if (!b->warps[k].kept[PTX_VALUES])
            b->warps[k].kept[PTX_VALUES] = warp_open(l);
    shadow_forget(shadow_of(l), b->shared, l->shared_bytes);
    shadow_forget(shadow_of(l), b->local, (size_t)l->n_warps * 32 * l->local_bytes);
}

static void moved(struct launch *l, const void *to, const void *from, size_t bytes)
{
    shadow_move(shadow_of(l), to, from, bytes);
}

static void cleared(struct launch *l, const void *at, size_t bytes)
{
    shadow_forget(shadow_of(l), at, bytes);
}

static void changed(struct launch *l, const void *at, size_t bytes)
{
    shadow_lose(shadow_of(l), at, bytes);
}

/* The registers came back; their shadows did not. */
static void restored(struct warp *w, const struct func *f, unsigned lane)
{
    for (uint32_t k = 0; k < f->n_places; k++)
        for (unsigned part = 0; part < f->places[k].bytes / 2u; part++)
            warp_shadow(w)[f->places[k].off / 64 + part].s[lane] = SHADOW_LOST;
}

struct flight_shadow { /* of the parts of a flight's value */
    struct kept kept;
    double v[8];
    uint8_t s[8];
};

static void flight_posted(struct flight *f, unsigned at, const struct opnd *o)
{
    struct flight_shadow *x = (struct flight_shadow *)f->kept;
    if (!x) {
        x = mem_zalloc(sizeof(*x));
        x->kept.drop = kept_free;
        f->kept = &x->kept;
    }
    for (unsigned part = 0; !o->is_imm && part < f->insn->bytes / 2u; part++) {
        x->v[at / 2 + part] = shadow_parts(f->warp, o)[part].v[f->lane];
        x->s[at / 2 + part] = shadow_parts(f->warp, o)[part].s[f->lane];
    }
}

static void flight_delivered(struct flight *f, const void *to)
{
    const struct flight_shadow *x = (const struct flight_shadow *)f->kept;
    if (!x) { /* zeros of a tensor copy */
        shadow_forget(shadow_of(f->warp->launch), to, f->bytes);
        return;
    }
    shadow_put(shadow_of(f->warp->launch), to, f->bytes, x->s, x->v);
}

static const struct ptx_observer_calls shadow_calls = {
    .role = PTX_VALUES,
    .begin = begin,
    .end = end,
    .loop = loop,
    .block_begin = block_begin,
    .flight_posted = flight_posted,
    .flight_delivered = flight_delivered,
    .moved = moved,
    .cleared = cleared,
    .changed = changed,
    .restored = restored,
    .call = shadow_call,
};

/* ---- for who owns the shadow ---- */

void ptx_shadow_read(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t addr, enum ptx_real type, size_t n,
                     double *to, bool *lost)
{
    static const struct {
        uint8_t format, bytes;
    } types[] = {[PTX_F16] = {SHADOW_F16, 2},
                 [PTX_BF16] = {SHADOW_BF16, 2},
                 [PTX_F32] = {SHADOW_F32, 4},
                 [PTX_F64] = {SHADOW_F64, 8}};
    uint8_t format = types[type].format, bytes = types[type].bytes;
    for (size_t e = 0; e < n; e++) {
        const uint8_t *host = mem_host(mem, addr + e * bytes);
        const struct shadow_cell *c = shadow_cells(s, host, false);
        double v = 0;
        uint8_t state = c ? shadow_cell_state(c, host, &v) : SHADOW_PLAIN;
        if ((state & SHADOW_FORMAT) != format)
            v = s->terms ? 0 : shadow_real(format, host);
        to[e] = v;
        lost[e] = state != SHADOW_PLAIN && state != format;
        uint8_t high = format == SHADOW_F32 && c && !state ? shadow_cell_state(c + 1, host + 2, &v) : 0;
        if ((high & SHADOW_FORMAT) == SHADOW_BF16 && !host[0] && !host[1]) { /* a bf16 made an f32 by packing */
            to[e] = v;
            lost[e] = high & SHADOW_LOST;
            continue;
        }
        for (unsigned k = 1; c && k < bytes / 2u; k++)
            lost[e] |= shadow_cell_state(c + k, host + 2 * k, &v) != SHADOW_PLAIN;
    }
}

void ptx_shadow_copy(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t to, uint64_t from, size_t bytes)
{
    shadow_move(s, mem_host(mem, to), mem_host(mem, from), bytes);
}

void ptx_shadow_set(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t to, size_t bytes)
{
    shadow_forget(s, mem_host(mem, to), bytes);
}
