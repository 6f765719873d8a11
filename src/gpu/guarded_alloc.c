/* Buffers that live and die together, and what surrounds them. docs/measuring.md has the picture.
 *
 * Guarded with VMM: a buffer has whole pages of its own between two unmapped ranges. It ends, rounded up to its
 * alignment, where the pages end (even seeds), or up to 64 x 256 bytes before (odd seeds); all else of the
 * pages is canaries. Guarded without VMM: canaries of 64 KiB on both sides. Plain: pieces of large slabs.
 */
#include "device.h"

enum { SLAB_BYTES = 256 << 20, PLAIN_ZONE = 64 << 10, MOVES = 64, BASE_STEP = 256 };
enum { DIRECT_BYTES = 64 << 10, STAGING_BYTES = 4 << 20 };

struct region { /* one buffer and its surroundings */
    char *name;
    uint64_t addr, size;     /* the buffer */
    uint64_t pages, n_pages; /* mapped or allocated: canaries, buffer, canaries */
    uint64_t range, n_range; /* reserved addresses around the pages; 0 without VMM */
    uint64_t handle;
    uint64_t hash;
    bool read_only, hashed;
    struct region *next;
};

struct slab {
    uint64_t addr, size, used;
    struct slab *next;
};

struct cuda_buffers {
    struct cuda *cuda;
    enum cuda_guard guard;
    uint64_t seed, serial;
    struct region *regions; /* newest first; not plain */
    struct slab *slabs;     /* plain only */
    struct cuda_buffers *next;
};

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static bool out_of_memory(struct cuda *c, int code, const char *name, uint64_t bytes, struct err *err)
{
    size_t free_bytes = 0, total = 0;

    if (code != CUDA_OUT_OF_MEMORY)
        return cuda_check(c, code, err, "allocating");
    c->driver->memory_info(&free_bytes, &total);
    return err_world(
        err,
        "GPU %d is out of memory: %s wants %.1f MiB, %.1f MiB of %.1f MiB are free; other processes may hold "
        "the rest (nvidia-smi)",
        c->info.index, name, (double)bytes / 1048576, (double)free_bytes / 1048576, (double)total / 1048576);
}

bool cuda_buffers_open(struct cuda_buffers **out, struct cuda *c, enum cuda_guard guard, uint64_t seed,
                       struct err *err)
{
    struct cuda_buffers *s;

    if (!cuda_usable(c, err))
        return false;
    s = mem_zalloc(sizeof(*s));
    s->cuda = c;
    s->guard = guard;
    s->seed = seed;
    s->next = c->spaces;
    c->spaces = s;
    *out = s;
    return true;
}

/* ---- pages ---- */

static struct vmm_properties properties(const struct cuda *c)
{
    return (struct vmm_properties){.type = VMM_PINNED, .location_type = VMM_DEVICE, .location = c->device};
}

static void region_free(struct cuda *c, struct region *r)
{
    const struct driver *d = c->driver;

    if (c->spoilt) {
        ; /* the context's end frees it */
    } else if (r->range) {
        if (r->pages)
            d->unmap(r->pages, r->n_pages);
        if (r->handle)
            d->release(r->handle);
        d->unreserve(r->range, r->n_range);
    } else if (r->pages) {
        d->free(r->pages);
    }
    free(r->name);
    free(r);
}

/* Pages for n bytes between two unmapped ranges. */
static bool map_pages(struct cuda *c, struct region *r, uint64_t n, struct err *err)
{
    const struct driver *d = c->driver;
    struct vmm_properties p = properties(c);
    struct vmm_access access = {VMM_DEVICE, c->device, VMM_READ_WRITE};
    size_t page;
    int code = d->granularity(&page, &p, 0);

    if (!cuda_check(c, code, err, "asking the size of its pages"))
        return false;
    r->n_pages = round_up(n, page);
    r->n_range = r->n_pages + 2 * page;
    if ((code = d->reserve(&r->range, r->n_range, 0, 0, 0)) != CUDA_OK) {
        r->range = 0;
        return out_of_memory(c, code, r->name, r->n_pages, err);
    }
    if ((code = d->create(&r->handle, r->n_pages, &p, 0)) != CUDA_OK) {
        r->handle = 0;
        return out_of_memory(c, code, r->name, r->n_pages, err);
    }
    if ((code = d->map(r->range + page, r->n_pages, 0, r->handle, 0)) != CUDA_OK)
        return cuda_check(c, code, err, "mapping memory");
    r->pages = r->range + page;
    return cuda_check(c, d->set_access(r->pages, r->n_pages, &access, 1), err, "mapping memory");
}

/* ---- canaries ---- */

static unsigned blocks_for(const struct cuda *c, uint64_t n)
{
    uint64_t most = 8 * (uint64_t)c->info.limits.sm_count;

    return (unsigned)MAX(1, MIN(most, (n + 255) / 256));
}

static unsigned canary_seed(const struct region *r, bool behind)
{
    return (unsigned)rng_hash(r->pages, behind);
}

struct zone {
    uint64_t at, n;
};

static struct zone zone_of(const struct region *r, bool behind)
{
    uint64_t end = r->addr + r->size;

    return behind ? (struct zone){end, r->pages + r->n_pages - end}
                  : (struct zone){r->pages, r->addr - r->pages};
}

static bool fill_zones(struct cuda *c, const struct region *r, struct err *err)
{
    for (int behind = 0; behind < 2; behind++) {
        struct zone z = zone_of(r, behind);
        unsigned seed = canary_seed(r, behind);
        void *params[] = {&z.at, &z.n, &seed};
        if (z.n && !helper_launch(c, c->helpers.canary_fill, blocks_for(c, z.n), 256, 0, params, err))
            return false;
    }
    return true;
}

static bool alloc_guarded(struct cuda_buffers *s, const struct cuda_buffer *b, struct region *r, uint64_t align,
                          struct err *err)
{
    struct cuda *c = s->cuda;
    uint64_t moved = s->seed % 2 ? rng_hash(s->seed, s->serial) % MOVES * MAX(align, BASE_STEP) : 0;
    uint64_t size = round_up(MAX(b->size_bytes, 1), align);
    int code;

    if (b->size_bytes > c->info.total_bytes)
        return out_of_memory(c, CUDA_OUT_OF_MEMORY, r->name, b->size_bytes, err);
    if (c->info.vmm) {
        /* At least a page's worth of canaries before it comes of itself, but for sizes that just fill their
         * pages: 4 KiB then force another one. */
        if (!map_pages(c, r, size + moved + 4096, err))
            return false;
        r->addr = r->pages + r->n_pages - size - moved;
    } else {
        r->n_pages = PLAIN_ZONE + MAX(align, BASE_STEP) + size + moved + PLAIN_ZONE;
        if ((code = c->driver->alloc(&r->pages, r->n_pages)) != CUDA_OK) {
            r->pages = 0;
            return out_of_memory(c, code, r->name, r->n_pages, err);
        }
        r->addr = round_up(r->pages + PLAIN_ZONE, MAX(align, BASE_STEP)) + moved;
    }
    return fill_zones(c, r, err) && cuda_sync(c, err);
}

static bool alloc_exact(struct cuda_buffers *s, struct region *r, struct err *err)
{
    struct cuda *c = s->cuda;
    int code = c->driver->alloc(&r->pages, MAX(r->size, 1));

    if (code != CUDA_OK) {
        r->pages = 0;
        return out_of_memory(c, code, r->name, r->size, err);
    }
    r->addr = r->pages;
    r->n_pages = r->size;
    return true;
}

static uint64_t alloc_plain(struct cuda_buffers *s, const struct cuda_buffer *b, uint64_t align,
                            struct err *err)
{
    struct cuda *c = s->cuda;
    struct slab *slab = s->slabs;
    uint64_t size = MAX(b->size_bytes, 1), at;
    int code;

    if (!slab || round_up(slab->used, align) + size > slab->size) {
        slab = mem_zalloc(sizeof(*slab));
        slab->size = round_up(MAX(size, SLAB_BYTES), 2 << 20);
        code = c->driver->alloc(&slab->addr, slab->size);
        if (code == CUDA_OUT_OF_MEMORY && size < slab->size) {
            slab->size = round_up(size, 2 << 20);
            code = c->driver->alloc(&slab->addr, slab->size);
        }
        if (code != CUDA_OK) {
            out_of_memory(c, code, b->name ? b->name : "buffer", size, err);
            free(slab);
            return 0;
        }
        slab->used = rng_hash(s->seed, s->serial) % MOVES * BASE_STEP;
        if (round_up(slab->used, align) + size > slab->size)
            slab->used = 0;
        slab->next = s->slabs;
        s->slabs = slab;
    }
    at = round_up(slab->used, align);
    slab->used = at + size;
    return slab->addr + at;
}

uint64_t cuda_buffers_alloc(struct cuda_buffers *s, const struct cuda_buffer *b, struct err *err)
{
    uint64_t align = b->align_bytes ? b->align_bytes : BASE_STEP;
    struct region *r;

    if (!cuda_usable(s->cuda, err))
        return 0;
    BUG_IF(align & (align - 1));
    s->serial++;
    if (s->guard == CUDA_PLAIN)
        return alloc_plain(s, b, MAX(align, BASE_STEP), err);
    r = mem_zalloc(sizeof(*r));
    r->name = mem_strdup(b->name ? b->name : "buffer");
    r->size = b->size_bytes;
    r->read_only = b->read_only;
    if (!(s->guard == CUDA_EXACT ? alloc_exact(s, r, err) : alloc_guarded(s, b, r, align, err))) {
        region_free(s->cuda, r);
        return 0;
    }
    r->next = s->regions;
    s->regions = r;
    return r->addr;
}

void cuda_buffers_free(struct cuda_buffers *s, uint64_t addr)
{
    for (struct region **at = &s->regions; *at; at = &(*at)->next) {
        struct region *r = *at;
        if (r->addr != addr)
            continue;
        *at = r->next;
        region_free(s->cuda, r);
        return;
    }
    /* A piece of a slab goes with its slab. */
}

void cuda_buffers_close(struct cuda_buffers *s)
{
    if (!s)
        return;
    for (struct region *r = s->regions, *next; r; r = next) {
        next = r->next;
        region_free(s->cuda, r);
    }
    for (struct slab *slab = s->slabs, *next; slab; slab = next) {
        next = slab->next;
        if (!s->cuda->spoilt)
            s->cuda->driver->free(slab->addr);
        free(slab);
    }
    for (struct cuda_buffers **at = &s->cuda->spaces; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    free(s);
}

/* ---- what changed ---- */

static bool hash_of(struct cuda *c, const struct region *r, uint64_t *hash, struct err *err)
{
    uint64_t addr = r->addr, size = r->size;
    void *params[] = {&addr, &size, &c->found};

    *hash = 0;
    return !size || (cuda_set(c, c->found, 0, 8, err) &&
                     helper_launch(c, c->helpers.hash, blocks_for(c, size), 256, 0, params, err) &&
                     cuda_read(c, c->found, hash, 8, err));
}

bool spaces_hash(struct cuda *c, struct err *err)
{
    for (struct cuda_buffers *s = c->spaces; s; s = s->next)
        for (struct region *r = s->regions; r; r = r->next) {
            if (!r->read_only || r->hashed)
                continue;
            if (!hash_of(c, r, &r->hash, err))
                return false;
            r->hashed = true;
        }
    return true;
}

void spaces_written(struct cuda *c, uint64_t addr, size_t n)
{
    for (struct cuda_buffers *s = c->spaces; s; s = s->next)
        for (struct region *r = s->regions; r; r = r->next)
            if (addr < r->addr + r->size && r->addr < addr + n)
                r->hashed = false;
}

struct found {
    uint64_t n, first, last; /* n bytes, from the zone's begin */
};

static bool check_zone(struct cuda *c, const struct region *r, bool behind, struct found *f, struct err *err)
{
    struct zone z = zone_of(r, behind);
    unsigned seed = canary_seed(r, behind);
    void *params[] = {&z.at, &z.n, &seed, &c->found};

    *f = (struct found){0, UINT64_MAX, 0};
    return !z.n || (cuda_write(c, c->found, f, sizeof(*f), err) &&
                    helper_launch(c, c->helpers.canary_check, blocks_for(c, z.n), 256, 0, params, err) &&
                    cuda_read(c, c->found, f, sizeof(*f), err));
}

static const char *damage_words(struct arena *a, const struct region *r, bool behind, const struct found *f)
{
    struct zone z = zone_of(r, behind);
    /* The distance of the changed byte that is nearest to the buffer: 1 touches it. */
    uint64_t near = behind ? f->first + 1 : z.n - f->last;

    return arena_printf(
        a, "%llu byte%s outside of buffer %s (%llu bytes) %s written, the nearest %llu byte%s %s its %s",
        (unsigned long long)f->n, f->n == 1 ? "" : "s", r->name, (unsigned long long)r->size,
        f->n == 1 ? "was" : "were", (unsigned long long)near, near == 1 ? "" : "s",
        behind ? "behind" : "before", behind ? "end" : "begin");
}

bool cuda_buffers_damage(struct cuda_buffers *s, struct arena *a, const char **words, struct err *err)
{
    struct cuda *c = s->cuda;

    *words = NULL;
    if (!cuda_usable(c, err))
        return false;
    for (struct region *r = s->regions; r && !*words; r = r->next) {
        struct found f;
        uint64_t hash;
        for (int behind = 0; behind < 2 && !*words; behind++) {
            if (!check_zone(c, r, behind, &f, err))
                return false;
            if (f.n)
                *words = damage_words(a, r, behind, &f);
        }
        if (*words || !r->hashed)
            continue;
        if (!hash_of(c, r, &hash, err))
            return false;
        if (hash != r->hash)
            *words = arena_printf(a, "buffer %s, which is only to be read, was written", r->name);
    }
    return true;
}

/* ---- contents ---- */

/* The driver copies ordinary memory of the host slowly, page by page: large pieces go through pinned memory. */
static bool stage_open(struct cuda *c, struct err *err)
{
    return c->staging ||
           cuda_check(c, c->driver->host_alloc(&c->staging, STAGING_BYTES, 0), err, "pinning memory");
}

static bool copy_in(struct cuda *c, uint64_t addr, const void *from, size_t n, struct err *err)
{
    return cuda_check(c, c->driver->copy_in(addr, from, n, c->stream), err, "writing to it") &&
           cuda_sync(c, err);
}

static bool copy_out(struct cuda *c, uint64_t addr, void *to, size_t n, struct err *err)
{
    return cuda_check(c, c->driver->copy_out(to, addr, n, c->stream), err, "reading from it") &&
           cuda_sync(c, err);
}

bool cuda_write(struct cuda *c, uint64_t addr, const void *from, size_t n, struct err *err)
{
    bool ok = cuda_usable(c, err);

    spaces_written(c, addr, n);
    if (n <= DIRECT_BYTES)
        return ok && (n == 0 || copy_in(c, addr, from, n, err));
    ok = ok && stage_open(c, err);
    for (size_t done = 0; ok && done < n; done += STAGING_BYTES) {
        size_t piece = MIN(n - done, (size_t)STAGING_BYTES);
        memcpy(c->staging, (const char *)from + done, piece);
        ok = copy_in(c, addr + done, c->staging, piece, err);
    }
    return ok;
}

bool cuda_read(struct cuda *c, uint64_t addr, void *to, size_t n, struct err *err)
{
    bool ok = cuda_usable(c, err);

    if (n <= DIRECT_BYTES)
        return ok && (n == 0 || copy_out(c, addr, to, n, err));
    ok = ok && stage_open(c, err);
    for (size_t done = 0; ok && done < n; done += STAGING_BYTES) {
        size_t piece = MIN(n - done, (size_t)STAGING_BYTES);
        ok = copy_out(c, addr + done, c->staging, piece, err);
        if (ok)
            memcpy((char *)to + done, c->staging, piece);
    }
    return ok;
}

bool cuda_set(struct cuda *c, uint64_t addr, int byte, size_t n, struct err *err)
{
    spaces_written(c, addr, n);
    return cuda_usable(c, err) &&
           (n == 0 ||
            (cuda_check(c, c->driver->set(addr, (unsigned char)byte, n, c->stream), err, "setting memory") &&
             cuda_sync(c, err)));
}

bool cuda_copy(struct cuda *c, uint64_t to, uint64_t from, size_t n, struct err *err)
{
    spaces_written(c, to, n);
    return cuda_usable(c, err) &&
           (n == 0 || (cuda_check(c, c->driver->copy(to, from, n, c->stream), err, "copying on it") &&
                       cuda_sync(c, err)));
}
