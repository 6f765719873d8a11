/* Arena: memory that dies together. Allocation never fails (out of memory ends the program with a message)
 * and is aligned to 64 bytes for blocks of 64 bytes or more, to 16 otherwise. Not thread-safe: one arena, one
 * thread. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_open(void);
void arena_close(struct arena *a); /* takes NULL */
void arena_reset(struct arena *a); /* frees everything, keeps the arena usable */

void *arena_alloc(struct arena *a, size_t size_bytes);  /* not cleared */
void *arena_zalloc(struct arena *a, size_t size_bytes); /* cleared */
void *arena_copy(struct arena *a, const void *data, size_t size_bytes);
/* A longer copy of an array of n items, the rest not cleared; *cap becomes its length. */
void *arena_grow(struct arena *a, const void *v, size_t n, size_t *cap, size_t item_bytes);
char *arena_strdup(struct arena *a, const char *s); /* takes NULL, gives NULL */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_shell(struct arena *a, const char *word); /* as str_add_shell writes it */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);
size_t arena_size(const struct arena *a); /* bytes held from the system */

#define arena_new(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (size_t)(n)))

/* malloc that ends the program when memory is out; free with free(). */
void *mem_alloc(size_t size_bytes);
void *mem_zalloc(size_t size_bytes);
void *mem_realloc(void *p, size_t size_bytes);
char *mem_strdup(const char *s);
/* What they say then, and the end. */
_Noreturn void mem_exhausted(size_t size_bytes);

#endif
