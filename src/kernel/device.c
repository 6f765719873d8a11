/* The device part: the file with everything that only the host needs blanked, byte for byte, so that lines and
 * columns of the compiler's messages are the file's. Kept are kernels, device functions, types, constants, and
 * the host functions that those mention; blanked are functions that launch or call the runtime, what mentions
 * them, and host functions and variables that nothing on the device mentions. */
#include "kernel/internal.h"

struct piece {
    const struct region *region;
    bool blank, reached;
    bool host,
        constant; /* host: a function or variable without __device__ or __global__; constant: a variable's */
};

struct group { /* the pieces that declare one name */
    const char *name;
    VEC(struct piece *) pieces;
    bool blank, reached; /* blank: one of them is */
};

struct todo {
    struct piece **v;
    size_t n, cap;
};

struct device {
    struct unit *unit;
    struct arena *arena;
    struct piece *pieces;
    size_t n;
    struct map groups;
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

static struct group *find_group(const struct device *d, const struct token *t)
{
    char name[256];

    if (t->kind != TOK_WORD || t->len >= sizeof(name))
        return NULL;
    memcpy(name, t->s, t->len);
    name[t->len] = 0;
    return map_get(&d->groups, name);
}

static void reach_word(struct device *d, const struct token *t, struct todo *todo)
{
    struct group *g = find_group(d, t);

    if (!g || g->reached)
        return;
    g->reached = true;
    for (size_t k = 0; k < g->pieces.n; k++) {
        struct piece *p = g->pieces.v[k];

        if (p->host && !p->blank && !p->reached) {
            p->reached = true;
            vec_add(d->arena, todo, p);
        }
    }
}

/* What a kept piece mentions is reached, and so on. */
static void reach(struct device *d, struct todo *todo)
{
    while (todo->n) {
        const struct region *r = todo->v[--todo->n]->region;

        for (size_t i = r->first; i < r->last; i++)
            reach_word(d, &d->unit->tokens.v[i], todo);
    }
}

static bool declares(const struct unit *u, const struct region *r, const char *name)
{
    if (r->func)
        return strcmp(r->func->name, name) == 0;
    for (size_t i = 0; i < r->n_globals; i++) {
        if (strcmp(u->globals.v[r->first_global + i]->decl.name, name) == 0)
            return true;
    }
    return false;
}

static bool mentions_blank(const struct device *d, const struct region *r)
{
    for (size_t i = r->first; i < r->last; i++) {
        const struct group *g = find_group(d, &d->unit->tokens.v[i]);

        if (g && g->blank && !declares(d->unit, r, g->name))
            return true;
    }
    return false;
}

static void join(struct device *d, const char *name, struct piece *p)
{
    struct group *g = map_get(&d->groups, name);

    if (!g) {
        g = arena_new(d->arena, struct group);
        g->name = name;
        map_put(&d->groups, name, g);
    }
    vec_add(d->arena, &g->pieces, p);
    g->blank |= p->blank;
}

/* A piece is blank: so is its name for those that mention it. */
static void blank_names(struct device *d, const struct piece *p)
{
    const struct region *r = p->region;
    struct group *g;

    if (r->func && (g = map_get(&d->groups, r->func->name)))
        g->blank = true;
    for (size_t i = 0; i < r->n_globals; i++) {
        if ((g = map_get(&d->groups, d->unit->globals.v[r->first_global + i]->decl.name)))
            g->blank = true;
    }
}

static void judge(struct device *d)
{
    struct todo todo = {0};
    bool changed = true;

    for (size_t i = 0; i < d->n; i++) {
        struct piece *p = &d->pieces[i];
        const struct region *r = p->region;
        const struct global *g = r->n_globals ? d->unit->globals.v[r->first_global] : NULL;

        p->blank = is_host_only(d->unit, r);
        p->host = (r->func && !r->func->is_global && !r->func->is_device) || (g && !g->usable && !g->device);
        p->constant = g && !g->device;
        if (r->func)
            join(d, r->func->name, p);
        for (size_t k = 0; k < r->n_globals; k++)
            join(d, d->unit->globals.v[r->first_global + k]->decl.name, p);
    }
    /* Each round blanks at least one piece or is the last; chains of helpers are short. */
    for (int round = 0; changed && round < 64; round++) {
        changed = false;
        for (size_t i = 0; i < d->n; i++) {
            struct piece *p = &d->pieces[i];

            if (!p->blank && (p->host || p->constant) && mentions_blank(d, p->region)) {
                p->blank = changed = true;
                blank_names(d, p);
            }
        }
    }
    for (size_t i = 0; i < d->n; i++) {
        if (!d->pieces[i].host && !d->pieces[i].blank)
            vec_add(d->arena, &todo, &d->pieces[i]);
    }
    /* What is left out here may be compiled there: #if __CUDA_ARCH__ >= 900 */
    for (size_t i = 0; i < d->unit->raw.n; i++) {
        if (d->unit->raw.v[i].inactive)
            reach_word(d, &d->unit->raw.v[i], &todo);
    }
    reach(d, &todo);
}

char *device_part(struct unit *u, struct arena *a)
{
    struct device d = {.unit = u, .arena = u->arena, .n = u->regions.n};
    char *text = arena_strndup(a, u->text, u->len);

    d.pieces = arena_array(u->arena, struct piece, d.n + 1);
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
    map_free(&d.groups);
    return text;
}
