/* map: text keys to pointers, insertion order kept. Zero-initialise; map_free frees the table and its key
 * copies, never the values. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    char *key;
    void *value;
};

struct map {
    struct map_entry *entries; /* in insertion order, n of them */
    size_t n, cap;
    uint32_t *slots; /* index + 1, 0 is free */
    size_t n_slots;
};

void map_free(struct map *m);
void *map_get(const struct map *m, const char *key); /* NULL when absent */
bool map_has(const struct map *m, const char *key);
void map_put(struct map *m, const char *key, void *value); /* adds or replaces */

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed); /* fast, not cryptographic */
uint64_t hash_text(const char *s);
/* SHA-256 in lower-case hex, for provenance. */
void hash_sha256_hex(const void *data, size_t len, char hex[65]);

#endif
