#include "base/base.h"

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ (len * 0x9e3779b97f4a7c15ull);

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3ull;
    return rng_mix(h);
}

uint64_t hash_text(const char *s)
{
    return hash_bytes(s, strlen(s), 0);
}

static uint32_t *find_slot(const struct map *m, const char *key)
{
    size_t mask = m->n_slots - 1;

    for (size_t i = hash_text(key) & mask;; i = (i + 1) & mask)
        if (!m->slots[i] || strcmp(m->entries[m->slots[i] - 1].key, key) == 0)
            return &m->slots[i];
}

static void rehash(struct map *m)
{
    m->n_slots = m->n_slots ? m->n_slots * 2 : 16;
    free(m->slots);
    m->slots = mem_zalloc(m->n_slots * sizeof(*m->slots));
    for (size_t i = 0; i < m->n; i++)
        *find_slot(m, m->entries[i].key) = (uint32_t)i + 1;
}

bool map_has(const struct map *m, const char *key)
{
    return m->n_slots && *find_slot(m, key);
}

void *map_get(const struct map *m, const char *key)
{
    uint32_t at = m->n_slots ? *find_slot(m, key) : 0;

    return at ? m->entries[at - 1].value : NULL;
}

void map_put(struct map *m, const char *key, void *value)
{
    uint32_t *slot;

    if ((m->n + 1) * 2 > m->n_slots)
        rehash(m);
    slot = find_slot(m, key);
    if (*slot) {
        m->entries[*slot - 1].value = value;
        return;
    }
    if (m->n == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 8;
        m->entries = mem_realloc(m->entries, m->cap * sizeof(*m->entries));
    }
    m->entries[m->n++] = (struct map_entry){mem_strdup(key), value};
    *slot = (uint32_t)m->n;
}

void map_free(struct map *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->entries[i].key);
    free(m->entries);
    free(m->slots);
    *m = (struct map){0};
}
