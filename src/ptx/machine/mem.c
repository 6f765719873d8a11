/* Device memory: one reserved range of host addresses in which allocations lie far enough apart that a stray
 * access meets none. Nothing is really there until it is touched; allocations with a fill are made page by
 * page. */
#include "machine.h"
#include "mem_range.h"

#include <sys/mman.h>

enum {
    GUARD = 1 << 16,
    LARGE_PAGE = 1 << 21,
    LATER = 1 << 24,        /* bytes that are not set or copied at once, but page by page when touched */
    LARGE = 2 * LARGE_PAGE, /* bytes that are worth large pages of the host */
};

struct module_image {
    const struct ptx_module *module;
    uint64_t addr, serial;
};

/* Where the addresses of a memory begin, behind MEM_BASE. Its first byte is its range's all the same: so
 * memories that follow each other meet in few pages. */
static uint64_t start_of(uint64_t seed)
{
    return GUARD + rng_hash(seed, 1) % 4096 * MEM_PAGE;
}

struct ptx_mem *ptx_mem_open(uint64_t seed)
{
    struct ptx_mem *m = mem_zalloc(sizeof(*m));

    m->seed = seed;
    m->range = mem_range_take();
    m->reserved = m->range->reserved;
    m->used = start_of(seed);
    m->host = m->range->map - m->used;
    m->init = m->range->init - m->used / 8;
    return m;
}

static void alloc_free(struct alloc *a)
{
    free(a->name);
    free(a->present);
    free(a->later);
    kept_drop(&a->kept);
    free(a);
}

void ptx_mem_close(struct ptx_mem *m)
{
    if (!m)
        return;
    for (size_t k = 0; k < m->n_allocs; k++)
        alloc_free(m->allocs[k]);
    free(m->allocs);
    free(m->images);
    mem_range_give(m->range, m->used - start_of(m->seed));
    free(m);
}

/* Index of the last allocation at or below addr, or -1. */
static ptrdiff_t below(const struct ptx_mem *m, uint64_t addr)
{
    size_t lo = 0, hi = m->n_allocs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->allocs[mid]->addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (ptrdiff_t)lo - 1;
}

struct alloc *mem_find(const struct ptx_mem *m, uint64_t addr)
{
    ptrdiff_t k = below(m, addr);
    if (k < 0 || addr - m->allocs[k]->addr >= m->allocs[k]->size)
        return NULL;
    return m->allocs[k];
}

struct alloc *mem_near(const struct ptx_mem *m, uint64_t addr)
{
    ptrdiff_t k = below(m, addr);
    struct alloc *best = k >= 0 ? m->allocs[k] : NULL;
    if ((size_t)(k + 1) < m->n_allocs) {
        struct alloc *above = m->allocs[k + 1];
        bool inside = best && addr - best->addr < best->size; /* it ends outside */
        if (!best || (!inside && above->addr - addr < addr - (best->addr + best->size)))
            best = above;
    }
    return best;
}

/* What an earlier memory has left in [addr, addr + bytes). */
static void clear(struct ptx_mem *m, uint64_t addr, uint64_t bytes)
{
    if (mem_range_is_dirty(m->range, mem_host(m, addr)))
        memset(mem_host(m, addr), 0, bytes);
}

/* The beginning of the page that holds it. */
static uint8_t *page_of(uint8_t *at)
{
    return at - (uintptr_t)at % MEM_PAGE;
}

static void clear_init(struct ptx_mem *m, uint64_t addr, uint64_t bytes)
{
    uint8_t *from = m->init + (addr - MEM_BASE) / 8, *to = from + (bytes + 7) / 8;
    uint8_t *first = page_of(from + MEM_PAGE - 1), *last = page_of(to);

    if (!mem_range_is_dirty(m->range, mem_host(m, addr)))
        return;
    if (bytes < LARGE) {
        memset(from, 0, (size_t)(to - from));
        return;
    }
    memset(from, 0, (size_t)(first - from));
    madvise(first, (size_t)(last - first), MADV_DONTNEED);
    memset(last, 0, (size_t)(to - last));
}

static struct alloc *alloc_at(struct ptx_mem *m, uint64_t addr, const struct ptx_buffer *b)
{
    struct alloc *a = mem_zalloc(sizeof(*a));
    *a = (struct alloc){.addr = addr,
                        .size = b->size_bytes,
                        .name = mem_strdup(b->name ? b->name : "buffer"),
                        .initialised = b->initialised,
                        .read_only = b->read_only,
                        .stable = b->stable,
                        .live = true,
                        .fill = b->fill,
                        .context = b->context};
    a->first_page = (addr - MEM_BASE) / MEM_PAGE;
    if ((a->fill && a->size) || a->size >= LATER) {
        size_t pages = (addr + a->size - 1 - MEM_BASE) / MEM_PAGE - a->first_page + 1;
        a->present = mem_zalloc((pages + 63) / 64 * 8);
    } else {
        clear(m, addr, a->size);
        m->range->pages += mem_range_is_dirty(m->range, mem_host(m, addr)) ? 0 : a->size / MEM_PAGE + 1;
    }
    if (!a->initialised)
        clear_init(m, addr, a->size);
    if (m->n_allocs == m->cap_allocs) {
        m->cap_allocs = m->cap_allocs ? 2 * m->cap_allocs : 16;
        m->allocs = mem_realloc(m->allocs, m->cap_allocs * sizeof(*m->allocs));
    }
    ptrdiff_t k = below(m, addr) + 1;
    memmove(&m->allocs[k + 1], &m->allocs[k], (m->n_allocs - (size_t)k) * sizeof(*m->allocs));
    m->allocs[k] = a;
    m->n_allocs++;
    return a;
}

/* A fresh range; exact: aligned to align and, where that is less than 256, to no more, so that code that hopes
 * for more is seen. With half of the seeds some lie as a GPU's
 * large ones do, so that code is seen that tells these. */
static uint64_t range_take(struct ptx_mem *m, uint64_t size, uint64_t align, bool exact, struct err *err)
{
    uint64_t start = m->used + rng_hash(m->seed, m->n_allocs + 2) % 64 * 256;
    start = (start + MAX(align, 256) - 1) / MAX(align, 256) * MAX(align, 256);
    if (m->seed & 2 && rng_hash(m->seed, ~m->n_allocs) % 4 == 0)
        start = (start + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    else if (exact && align < 256)
        start += align;
    if (size > m->reserved || start > m->reserved - size || m->reserved - size - start < GUARD) {
        err_world(err, "the simulator has no room for %llu more bytes of device memory",
                  (unsigned long long)size);
        return 0;
    }
    m->used = (start + size + GUARD + MEM_PAGE - 1) / MEM_PAGE * MEM_PAGE; /* allocations share no page */
    return MEM_BASE + start;
}

/* Fewer faults, where the host's kernel goes along. */
static void want_large_pages(const struct ptx_mem *m, uint64_t addr, uint64_t size)
{
    uint64_t from = (addr - MEM_BASE) / MEM_PAGE * MEM_PAGE;

    m->range->large = true;
    madvise(m->host + from, size, MADV_HUGEPAGE);
    madvise(page_of(m->init + from / 8), size / 8, MADV_HUGEPAGE);
}

uint64_t ptx_mem_alloc(struct ptx_mem *m, const struct ptx_buffer *b, struct err *err)
{
    uint64_t align = b->align_bytes ? b->align_bytes : 256;
    if (align & (align - 1)) {
        err_input(err, "%s: an alignment of %llu bytes is no power of two", b->name ? b->name : "buffer",
                  (unsigned long long)align);
        return 0;
    }
    uint64_t addr = range_take(m, b->size_bytes, align, b->align_bytes != 0, err);
    if (addr)
        alloc_at(m, addr, b);
    if (addr && b->dense && b->size_bytes >= LARGE)
        want_large_pages(m, addr, b->size_bytes);
    return addr;
}

void ptx_mem_free(struct ptx_mem *m, uint64_t addr)
{
    ptrdiff_t k = below(m, addr);
    if (k < 0 || m->allocs[k]->addr != addr)
        return;
    struct alloc *a = m->allocs[k];
    uint64_t from = (a->addr - MEM_BASE) / MEM_PAGE * MEM_PAGE,
             to = (a->addr + a->size - MEM_BASE + MEM_PAGE - 1) / MEM_PAGE * MEM_PAGE;
    if (to > from)
        madvise(m->host + from, to - from, MADV_DONTNEED);
    alloc_free(a);
    memmove(&m->allocs[k], &m->allocs[k + 1], (m->n_allocs - (size_t)k - 1) * sizeof(*m->allocs));
    m->n_allocs--;
}

/* As far as it lies in [from, to), which is present. */
static void apply(struct ptx_mem *m, const struct alloc *a, const struct mem_later *l, uint64_t from,
                  uint64_t to)
{
    from = MAX(from, l->addr);
    to = MIN(to, l->addr + l->bytes);
    if (from >= to)
        return;
    if (!l->from)
        memset(mem_host(m, from), l->byte, to - from);
    else
        ptx_mem_read(m, l->from + (from - l->addr), mem_host(m, from), to - from);
    if (l->initialise && !a->initialised)
        mem_init_set(m, from, to - from);
}

/* Pages that are there now, and the others when they come. */
static void apply_later(struct ptx_mem *m, struct alloc *a, const struct mem_later *l)
{
    uint64_t first = (l->addr - MEM_BASE) / MEM_PAGE - a->first_page,
             last = (l->addr + l->bytes - 1 - MEM_BASE) / MEM_PAGE - a->first_page;

    for (uint64_t page = first; page <= last; page++) {
        uint64_t bits = a->present[page / 64] >> (page % 64);
        uint64_t at = MEM_BASE + (a->first_page + page) * MEM_PAGE;
        if (!bits)
            page |= 63;
        else if (bits & 1)
            apply(m, a, l, at, at + MEM_PAGE);
    }
    a->later = mem_realloc(a->later, (a->n_later + 1) * sizeof(*a->later));
    a->later[a->n_later++] = *l;
}

void mem_touch(struct ptx_mem *m, struct alloc *a, uint64_t addr, uint64_t bytes)
{
    if (!a->present || !bytes)
        return;
    size_t last = (addr + bytes - 1 - MEM_BASE) / MEM_PAGE - a->first_page;
    for (size_t page = (addr - MEM_BASE) / MEM_PAGE - a->first_page; page <= last; page++) {
        if (a->present[page / 64] >> (page % 64) & 1)
            continue;
        a->present[page / 64] |= 1ull << (page % 64);
        uint64_t from = MEM_BASE + (a->first_page + page) * MEM_PAGE, to = from + MEM_PAGE;
        from = MAX(from, a->addr);
        to = MIN(to, a->addr + a->size);
        mem_range_note(m->range, mem_host(m, from));
        if (a->fill)
            a->fill(a->context, from - a->addr, mem_host(m, from), to - from);
        else
            clear(m, from, to - from);
        if (a->tainted)
            mem_init_set(m, from, to - from);
        for (size_t k = 0; k < a->n_later; k++)
            apply(m, a, &a->later[k], from, to);
    }
}

void mem_init_set(struct ptx_mem *m, uint64_t addr, uint64_t bytes)
{
    uint64_t at = addr - MEM_BASE, end = at + bytes;
    for (; at < end && at % 8; at++)
        m->init[at / 8] |= (uint8_t)(1u << (at % 8));
    if (at + 8 <= end) {
        memset(m->init + at / 8, 0xff, (end - at) / 8);
        at += (end - at) / 8 * 8;
    }
    for (; at < end; at++)
        m->init[at / 8] |= (uint8_t)(1u << (at % 8));
}

void mem_init_present(struct ptx_mem *m, const struct alloc *a)
{
    uint64_t last = (a->addr + a->size - 1 - MEM_BASE) / MEM_PAGE - a->first_page;
    for (uint64_t page = 0; page <= last; page++) {
        uint64_t bits = a->present[page / 64] >> (page % 64);
        uint64_t at = MEM_BASE + (a->first_page + page) * MEM_PAGE, end = MIN(at + MEM_PAGE, a->addr + a->size);
        if (!bits)
            page |= 63;
        else if (bits & 1)
            mem_init_set(m, MAX(at, a->addr), end - MAX(at, a->addr));
    }
}

/* The allocation that holds the whole range. */
static struct alloc *holder(const struct ptx_mem *m, uint64_t addr, size_t size)
{
    ptrdiff_t k = below(m, addr);
    if (k < 0)
        return NULL;
    struct alloc *a = m->allocs[k];
    uint64_t offset = addr - a->addr;
    return offset > a->size || size > a->size - offset ? NULL : a;
}

/* And present. */
static struct alloc *whole(struct ptx_mem *m, uint64_t addr, size_t size)
{
    struct alloc *a = holder(m, addr, size);
    if (a)
        mem_touch(m, a, addr, size);
    return a;
}

bool ptx_mem_read(struct ptx_mem *m, uint64_t addr, void *to, size_t size_bytes)
{
    if (!whole(m, addr, size_bytes))
        return false;
    memcpy(to, mem_host(m, addr), size_bytes);
    return true;
}

bool ptx_mem_next_touched(const struct ptx_mem *m, uint64_t addr, uint64_t *offset, size_t *size_bytes)
{
    const struct alloc *a = mem_find(m, addr);
    if (!a || !a->present || *offset >= a->size)
        return false;
    uint64_t first = (addr + *offset - MEM_BASE) / MEM_PAGE - a->first_page;
    uint64_t last = (addr + a->size - 1 - MEM_BASE) / MEM_PAGE - a->first_page;
    for (uint64_t page = first; page <= last; page++) {
        uint64_t bits = a->present[page / 64] >> (page % 64);
        if (!(bits & 1)) {
            page = bits ? page + (uint64_t)__builtin_ctzll(bits) - 1 : page | 63;
            continue;
        }
        uint64_t from = MAX((a->first_page + page) * MEM_PAGE + MEM_BASE, addr + *offset);
        *offset = from - addr;
        *size_bytes = MIN((a->first_page + page + 1) * MEM_PAGE + MEM_BASE - from, a->size - *offset);
        return true;
    }
    return false;
}

bool ptx_mem_touched(const struct ptx_mem *m, uint64_t addr)
{
    uint64_t offset = 0;
    size_t size;
    return ptx_mem_next_touched(m, addr, &offset, &size);
}

bool ptx_mem_filled(const struct ptx_mem *m, uint64_t addr, void *to, size_t size_bytes)
{
    const struct alloc *a = mem_find(m, addr);
    if (!a || !a->fill || !a->present || !size_bytes || size_bytes > a->size - (addr - a->addr))
        return false;
    size_t last = (addr + size_bytes - 1 - MEM_BASE) / MEM_PAGE - a->first_page;
    for (size_t page = (addr - MEM_BASE) / MEM_PAGE - a->first_page; page <= last; page++)
        if (!(a->present[page / 64] >> (page % 64) & 1))
            return false;
    a->fill(a->context, addr - a->addr, to, size_bytes);
    return true;
}

bool ptx_mem_write(struct ptx_mem *m, uint64_t addr, const void *from, size_t size_bytes, bool initialise)
{
    struct alloc *a = whole(m, addr, size_bytes);
    if (!a)
        return false;
    memcpy(mem_host(m, addr), from, size_bytes);
    if (initialise && !a->initialised)
        mem_init_set(m, addr, size_bytes);
    return true;
}

bool ptx_mem_set(struct ptx_mem *m, uint64_t addr, int byte, size_t size_bytes, bool initialise)
{
    struct alloc *a = holder(m, addr, size_bytes);
    if (!a)
        return false;
    if (a->present && size_bytes >= LATER) {
        apply_later(
            m, a,
            &(struct mem_later){.addr = addr, .bytes = size_bytes, .byte = byte, .initialise = initialise});
        return true;
    }
    mem_touch(m, a, addr, size_bytes);
    memset(mem_host(m, addr), byte, size_bytes);
    if (initialise && !a->initialised)
        mem_init_set(m, addr, size_bytes);
    return true;
}

bool ptx_mem_copies_later(const struct ptx_mem *m, uint64_t to, uint64_t from, size_t size_bytes)
{
    const struct alloc *a = holder(m, from, size_bytes), *b = holder(m, to, size_bytes);
    return a && b && a->read_only && a->initialised && b->present && size_bytes >= LATER;
}

void ptx_mem_copy_later(struct ptx_mem *m, uint64_t to, uint64_t from, size_t size_bytes)
{
    apply_later(m, holder(m, to, size_bytes),
                &(struct mem_later){.addr = to, .bytes = size_bytes, .from = from, .initialise = true});
}

int64_t ptx_mem_first_uninitialised(struct ptx_mem *m, uint64_t addr, size_t size_bytes)
{
    struct alloc *a = mem_find(m, addr);
    if (!a || a->initialised)
        return -1;
    if (a->tainted || a->n_later)
        mem_touch(m, a, addr, MIN(size_bytes, a->size - (addr - a->addr)));
    for (size_t k = 0; k < size_bytes; k++) {
        uint64_t at = addr + k - MEM_BASE;
        if (at % 8 == 0 && size_bytes - k >= 8 && m->init[at / 8] == 0xff) {
            k += 7;
            continue;
        }
        if (!(m->init[at / 8] >> (at % 8) & 1))
            return (int64_t)k;
    }
    return -1;
}

/* ---- module variables ---- */

static uint64_t image_find(const struct ptx_mem *m, const struct ptx_module *module)
{
    for (size_t k = 0; k < m->n_images; k++)
        if (m->images[k].module == module && m->images[k].serial == module->serial)
            return m->images[k].addr;
    return 0;
}

static bool in_image(const struct var *v)
{
    return v->space == SPACE_GLOBAL || v->space == SPACE_CONST;
}

uint64_t mem_image(struct ptx_mem *m, const struct ptx_module *module, struct err *err)
{
    uint64_t addr = image_find(m, module);
    if (addr || !module->image_bytes)
        return addr;
    addr = range_take(m, module->image_bytes, 4096, false, err);
    if (!addr)
        return 0;
    for (size_t k = 0; k < module->n_vars; k++) {
        const struct var *v = module->vars[k];
        if (!in_image(v))
            continue;
        struct ptx_buffer b = {
            .name = v->name, .size_bytes = v->bytes, .initialised = true, .read_only = v->space == SPACE_CONST};
        alloc_at(m, addr + v->addr, &b)->is_module = true;
        uint8_t *host = mem_host(m, addr + v->addr);
        if (v->init)
            memcpy(host, v->init, v->bytes);
        for (size_t r = 0; r < v->n_refs; r++) {
            const struct var *to = v->refs[r].var;
            uint64_t value = (uint64_t)v->refs[r].add;
            if (to)
                value += to->addr;
            if (to && in_image(to))
                value += addr;
            else if (to && v->refs[r].generic)
                value += SHARED_WINDOW;
            memcpy(host + v->refs[r].at, &value, 8);
        }
    }
    m->images = mem_realloc(m->images, (m->n_images + 1) * sizeof(*m->images));
    m->images[m->n_images].module = module;
    m->images[m->n_images].serial = module->serial;
    m->images[m->n_images++].addr = addr;
    return addr;
}

size_t ptx_module_globals_size(const struct ptx_module *m)
{
    size_t bytes = 0;
    for (size_t k = 0; k < m->n_vars; k++)
        bytes += m->vars[k]->space == SPACE_GLOBAL ? m->vars[k]->bytes : 0;
    return bytes;
}

size_t ptx_module_globals(const struct ptx_module *m, struct arena *a, const char ***names)
{
    const char **list = arena_array(a, const char *, m->n_vars + 1);
    size_t n = 0;
    for (size_t k = 0; k < m->n_vars; k++)
        if (m->vars[k]->space == SPACE_GLOBAL && m->vars[k]->bytes)
            list[n++] = arena_strdup(a, m->vars[k]->name);
    *names = list;
    return n;
}

/* Mangled, a name is the last of its parts, each behind its length: table, _ZL5table, _ZN1a5tableE. */
static bool is_called(const char *mangled, const char *qualified)
{
    char part[1100];
    const char *at = mangled;

    if (!strstr(qualified, "::") && !strcmp(mangled, qualified))
        return true;
    if (!str_starts(mangled, "_Z"))
        return false;
    while (*qualified) {
        const char *end = strstr(qualified, "::");
        size_t len = end ? (size_t)(end - qualified) : strlen(qualified);

        snprintf(part, sizeof(part), "%zu%.*s", len, (int)MIN(len, (size_t)1000), qualified);
        if (!(at = strstr(at, part)))
            return false;
        at += strlen(part);
        qualified = end ? end + 2 : qualified + len;
    }
    return !*at || !strcmp(at, "E");
}

size_t ptx_module_constant(const struct ptx_module *m, const char *qualified, const char **name,
                           uint64_t *bytes)
{
    size_t n = 0;

    for (size_t k = 0; k < m->n_vars; k++) {
        if (m->vars[k]->space != SPACE_CONST || !is_called(m->vars[k]->name, qualified))
            continue;
        *name = m->vars[k]->name;
        *bytes = m->vars[k]->bytes;
        n++;
    }
    return n;
}

bool ptx_mem_write_constant(struct ptx_mem *mem, const struct ptx_module *m, const char *name, uint64_t offset,
                            const void *from, size_t size)
{
    uint64_t addr = mem_image(mem, m, NULL);

    for (size_t k = 0; addr && k < m->n_vars; k++)
        if (m->vars[k]->space == SPACE_CONST && !strcmp(m->vars[k]->name, name))
            return ptx_mem_write(mem, addr + m->vars[k]->addr + offset, from, size, true);
    return false;
}

uint64_t ptx_module_globals_hash(const struct ptx_module *m, struct ptx_mem *mem)
{
    uint64_t addr = mem_image(mem, m, NULL), h = 7;
    for (size_t k = 0; addr && k < m->n_vars; k++)
        if (m->vars[k]->space == SPACE_GLOBAL)
            h = hash_bytes(mem_host(mem, addr + m->vars[k]->addr), m->vars[k]->bytes, h);
    return h;
}
