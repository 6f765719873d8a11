#include "base/base.h"

enum { CHUNK_BYTES = 64 * 1024 };

struct chunk {
    struct chunk *next;
    size_t size, used;
    _Alignas(64) char data[];
};

struct arena {
    struct chunk *chunks;
};

void mem_exhausted(size_t size)
{
    fprintf(stderr, "astra: out of memory (%zu bytes asked for); free memory or use fewer --jobs\n", size);
    exit(1);
}

void *mem_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        mem_exhausted(size);
    return p;
}

void *mem_zalloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p)
        mem_exhausted(size);
    return p;
}

void *mem_realloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);

    if (!p)
        mem_exhausted(size);
    return p;
}

char *mem_strdup(const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(mem_alloc(n), s, n);
}

struct arena *arena_open(void)
{
    return mem_zalloc(sizeof(struct arena));
}

void arena_reset(struct arena *a)
{
    struct chunk *next;

    for (struct chunk *c = a->chunks; c; c = next) {
        next = c->next;
        free(c);
    }
    a->chunks = NULL;
}

void arena_close(struct arena *a)
{
    if (!a)
        return;
    arena_reset(a);
    free(a);
}

static struct chunk *chunk_open(size_t size)
{
    size_t total = (sizeof(struct chunk) + size + 63) & ~(size_t)63;
    struct chunk *c = aligned_alloc(64, total);

    if (!c)
        mem_exhausted(total);
    c->size = total - sizeof(struct chunk);
    c->used = 0;
    return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t align = size >= 64 ? 64 : 16;
    struct chunk *c = a->chunks;
    size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;

    if (size > SIZE_MAX / 2)
        mem_exhausted(size);
    if (!c || at > c->size || c->size - at < size) {
        if (c && size > CHUNK_BYTES / 4) {
            /* A large block gets a chunk of its own behind the current one, which stays open for small ones. */
            struct chunk *big = chunk_open(size);
            big->used = size;
            big->next = c->next;
            c->next = big;
            return big->data;
        }
        c = chunk_open(MAX(size, CHUNK_BYTES));
        c->next = a->chunks;
        a->chunks = c;
        at = 0;
    }
    c->used = at + size;
    return c->data + at;
}

void *arena_zalloc(struct arena *a, size_t size)
{
    return memset(arena_alloc(a, size), 0, size);
}

void *arena_copy(struct arena *a, const void *data, size_t size)
{
    void *p = arena_alloc(a, size);

    if (size)
        memcpy(p, data, size);
    return p;
}

void *arena_grow(struct arena *a, const void *v, size_t n, size_t *cap, size_t item_bytes)
{
    void *grown;

    *cap = *cap ? 2 * *cap : 8;
    grown = arena_alloc(a, *cap * item_bytes);
    if (n)
        memcpy(grown, v, n * item_bytes);
    return grown;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    char *p = arena_alloc(a, len + 1);

    memcpy(p, s, len);
    p[len] = 0;
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    int n;
    char *p;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;

    va_start(ap, fmt);
    p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

char *arena_shell(struct arena *a, const char *word)
{
    struct str s = {.arena = a};

    str_add_shell(&s, word);
    return str_take(&s, a);
}

size_t arena_size(const struct arena *a)
{
    size_t total = 0;

    for (const struct chunk *c = a->chunks; c; c = c->next)
        total += sizeof(*c) + c->size;
    return total;
}
