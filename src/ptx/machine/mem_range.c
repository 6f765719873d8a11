#include "mem_range.h"

#include <pthread.h>
#include <sys/mman.h>

/* Several memories are open at once: a candidate's, the original's, one with exact values. */
enum {
    SPARES = 4,
    KEPT_PAGES = (256 << 20) / MEM_PAGE, /* of all of them together, but for one */
    LARGE_PAGES =
        (768 << 20) / MEM_PAGE /* that is large: both versions of a workload need it, one after the other */
};

static struct mem_range *spares[SPARES];
static size_t n_spares;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint8_t *reserve(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static void release(struct mem_range *r)
{
    if (r->map)
        munmap(r->map, r->reserved);
    if (r->init)
        munmap(r->init, r->reserved / 8);
    if (r->seen)
        munmap(r->seen, r->reserved / MEM_PAGE / 8);
    free(r);
}

static struct mem_range *new_range(void)
{
    for (uint64_t bytes = 1ull << 39; bytes >= 1ull << 30; bytes /= 2) {
        struct mem_range *r = mem_zalloc(sizeof(*r));
        *r = (struct mem_range){.map = reserve(bytes),
                                .init = reserve(bytes / 8),
                                .seen = reserve(bytes / MEM_PAGE / 8),
                                .reserved = bytes};
        if (r->map && r->init && r->seen)
            return r;
        release(r);
    }
    fprintf(stderr, "astra: no address space for the simulator's memory\n");
    exit(1);
}

struct mem_range *mem_range_take(void)
{
    struct mem_range *r = NULL;

    pthread_mutex_lock(&lock);
    if (n_spares)
        r = spares[--n_spares];
    pthread_mutex_unlock(&lock);
    return r ? r : new_range();
}

void mem_range_give(struct mem_range *r, uint64_t used)
{
    uint64_t pages = r->large ? 0 : r->pages;
    bool kept, another = false;

    r->dirty = MAX(r->dirty, used);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_spares; i++) {
        pages += spares[i]->large ? 0 : spares[i]->pages;
        another |= spares[i]->large;
    }
    kept = n_spares < SPARES && (r->large ? !another && r->pages <= LARGE_PAGES : pages <= KEPT_PAGES);
    if (kept)
        spares[n_spares++] = r;
    pthread_mutex_unlock(&lock);
    if (!kept)
        release(r);
}

void mem_range_note(struct mem_range *r, const uint8_t *at)
{
    uint64_t page = (uint64_t)(at - r->map) / MEM_PAGE;

    r->pages += ~r->seen[page / 8] >> page % 8 & 1;
    r->seen[page / 8] |= (uint8_t)(1u << page % 8);
}

bool mem_range_is_dirty(const struct mem_range *r, const uint8_t *at)
{
    return at < r->map + r->dirty;
}
