/* vec: a growable array of any type. `VEC(int) v = {0}; vec_push(&v, 3); v.v[0]; v.n; vec_free(&v);`
 * Or in an arena, where nothing is freed: `vec_add(arena, &v, 3);`. One array keeps to one of the two. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdlib.h>

#include "arena.h"

#define VEC(type)      \
    struct {           \
        type *v;       \
        size_t n, cap; \
    }

#define vec_reserve(vec, want)                                                \
    do {                                                                      \
        if ((vec)->cap < (want)) {                                            \
            (vec)->cap = (want) > 2 * (vec)->cap ? (want) : 2 * (vec)->cap;   \
            (vec)->v = mem_realloc((vec)->v, (vec)->cap * sizeof(*(vec)->v)); \
        }                                                                     \
    } while (0)

#define vec_push(vec, item)               \
    do {                                  \
        vec_reserve((vec), (vec)->n + 1); \
        (vec)->v[(vec)->n++] = (item);    \
    } while (0)

#define vec_add(arena, vec, item)                                                               \
    do {                                                                                        \
        if ((vec)->n == (vec)->cap)                                                             \
            (vec)->v = arena_grow((arena), (vec)->v, (vec)->n, &(vec)->cap, sizeof(*(vec)->v)); \
        (vec)->v[(vec)->n++] = (item);                                                          \
    } while (0)

#define vec_last(vec)  ((vec)->v[(vec)->n - 1])
#define vec_clear(vec) ((vec)->n = 0)

#define vec_free(vec)              \
    do {                           \
        free((vec)->v);            \
        (vec)->v = NULL;           \
        (vec)->n = (vec)->cap = 0; \
    } while (0)

#endif
