/* What was compiled is had again, where one process opens the same file many times (init): most of such a
 * process's time was the compiler's. */
#include "judge/internal.h"

struct judge_compiles {
    struct arena *arena;
    struct map by_request;               /* its hash to the result, which is the arena's */
    const struct compile_result *failed; /* the last one that did not compile; NULL: all did */
};

struct judge_compiles *judge_compiles_open(struct arena *a)
{
    struct judge_compiles *c = arena_new(a, struct judge_compiles);

    c->arena = a;
    return c;
}

void judge_compiles_close(struct judge_compiles *c)
{
    if (c)
        map_free(&c->by_request);
}

size_t judge_compiles_errors(const struct judge_compiles *c, const int **lines)
{
    *lines = c->failed ? c->failed->lines : NULL;
    return c->failed ? c->failed->n_lines : 0;
}

/* All that the compiler is given. */
static const char *key_of(struct arena *a, const struct compile_request *q)
{
    struct str all = {0};
    char hex[65];

    str_addf(&all, "%s\n%s\n%d\n", q->path, q->arch, q->shadow);
    for (size_t i = 0; i < q->n_flags; i++)
        str_addf(&all, "%s\n", q->flags[i]);
    for (size_t i = 0; i < q->n_kernels; i++)
        str_addf(&all, "%s\n%d\n", q->kernels[i], q->shared_names && q->shared_names[i]);
    str_add(&all, q->text);
    hash_sha256_hex(all.s, all.len, hex);
    str_free(&all);
    return arena_strdup(a, hex);
}

bool compiles_take(struct judge_compiles *c, struct nvrtc *n, struct arena *a, const struct compile_request *q,
                   struct compile_result *r, struct err *err)
{
    if (!c || q->n_headers)
        return gpu_compile(n, a, q, r, err);

    const char *key = key_of(c->arena, q);
    const struct compile_result *known = map_get(&c->by_request, key);
    if (!known) {
        if (!gpu_compile(n, c->arena, q, r, err))
            return false;
        known = arena_copy(c->arena, r, sizeof(*r));
        map_put(&c->by_request, key, (void *)known);
    }
    *r = *known;
    if (r->end == COMPILE_FAILED)
        c->failed = known;
    return true;
}
