/* The device part: the file with everything that only the host needs blanked, byte for byte, so that lines and
 * columns of the compiler's messages are the file's. Kept are kernels, device functions, types, constants, and
 * the host functions that those mention; blanked are functions that launch or call the runtime, what mentions
 * them, and host functions and variables that nothing on the device mentions. */
#include "kernel/internal.h"

struct piece {
    const struct region *region;
    bool blank, host, reached; /* host: a function or variable without __device__ or __global__ */
};

struct device {
    struct unit *unit;
    struct arena *arena;
    struct piece *pieces;
    size_t n;
    struct map names; /* name -> index + 1 of the first piece that declares it */
    size_t *next;     /* the next piece with the same name; 0: none */
};

static bool is_host_only(const struct unit *u, const struct region *r)
{
    if (r->func && (r->func->is_global || r->func->is_device))
        return false;
    if (r->func && r->func->is_host)
        return true;
    for (size_t i = r->first; i < r->last; i++) {
        const struct token *t = &u->tokens.v[i];
        char name[64];

        if (token_is(t, "<<<"))
            return true;
        if (t->kind != TOK_WORD || t->len < 5 || t->len >= sizeof(name) || memcmp(t->s, "cuda", 4) != 0)
            continue;
        memcpy(name, t->s, t->len);
        name[t->len] = 0;
        if (runtime_is_call(name))
            return true;
    }
    return false;
}

static const char *piece_name(const struct region *r)
{
    return r->func ? r->func->name : r->global ? r->global->decl.name : NULL;
}

static size_t find_word(const struct device *d, const struct token *t)
{
    char name[256];

    if (t->kind != TOK_WORD || t->len >= sizeof(name))
        return 0;
    memcpy(name, t->s, t->len);
    name[t->len] = 0;
    return (size_t)(uintptr_t)map_get(&d->names, name);
}

/* What a kept piece mentions is reached, and so on. */
static void reach(struct device *d, size_t from)
{
    LIST(size_t) todo = {0};

    list_push(d->arena, &todo, from);
    while (todo.n) {
        const struct region *r = d->pieces[todo.v[--todo.n]].region;

        for (size_t i = r->first; i < r->last; i++) {
            for (size_t at = find_word(d, &d->unit->tokens.v[i]); at; at = d->next[at - 1]) {
                struct piece *p = &d->pieces[at - 1];

                if (p->host && !p->blank && !p->reached) {
                    p->reached = true;
                    list_push(d->arena, &todo, at - 1);
                }
            }
        }
    }
}

static bool mentions_blank(const struct device *d, const struct region *r)
{
    for (size_t i = r->first; i < r->last; i++) {
        for (size_t at = find_word(d, &d->unit->tokens.v[i]); at; at = d->next[at - 1]) {
            if (d->pieces[at - 1].blank && d->pieces[at - 1].region != r)
                return true;
        }
    }
    return false;
}

static void judge(struct device *d)
{
    bool changed = true;

    for (size_t i = 0; i < d->n; i++) {
        const struct region *r = d->pieces[i].region;
        const char *name = piece_name(r);
        size_t first;

        d->pieces[i].blank = is_host_only(d->unit, r);
        d->pieces[i].host = (r->func && !r->func->is_global && !r->func->is_device) ||
                            (r->global && !r->global->usable && !r->global->device);
        if (!name)
            continue;
        first = (size_t)(uintptr_t)map_get(&d->names, name);
        d->next[i] = first;
        map_put(&d->names, name, (void *)(uintptr_t)(i + 1));
    }
    /* Each round blanks at least one piece or is the last; deep chains of helpers are short in practice. */
    for (int round = 0; changed && round < 64; round++) {
        changed = false;
        for (size_t i = 0; i < d->n; i++) {
            struct piece *p = &d->pieces[i];
            bool constant = p->region->global && !p->region->global->device;

            if (!p->blank && (p->host || constant) && mentions_blank(d, p->region))
                p->blank = changed = true;
        }
    }
    for (size_t i = 0; i < d->n; i++) {
        if (!d->pieces[i].host && !d->pieces[i].blank)
            reach(d, i);
    }
}

char *device_part(struct unit *u, struct arena *a)
{
    struct device d = {.unit = u, .arena = u->arena, .n = u->regions.n};
    char *text = arena_strndup(a, u->text, u->len);

    d.pieces = arena_array(u->arena, struct piece, d.n + 1);
    d.next = arena_array(u->arena, size_t, d.n + 1);
    for (size_t i = 0; i < d.n; i++)
        d.pieces[i].region = &u->regions.v[i];
    judge(&d);
    for (size_t i = 0; i < d.n; i++) {
        const struct piece *p = &d.pieces[i];

        if (!p->blank && (!p->host || p->reached))
            continue;
        for (size_t at = p->region->start; at < MIN(p->region->end, u->len); at++) {
            if (text[at] != '\n' && text[at] != '\r')
                text[at] = ' ';
        }
    }
    map_free(&d.names);
    return text;
}
