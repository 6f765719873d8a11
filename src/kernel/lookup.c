/* Names found as C++ finds them: what was declared before the place of use, in the nearest namespace around it,
 * or in the one that is named; through using-directives, using-declarations and namespace aliases. */
#include "kernel/internal.h"

enum { MAX_FOUND = 128, MAX_NESTED = 8 };

struct search {
    const struct unit *u;
    const char *from; /* the namespace of the place */
    const struct token *at;
    struct found *found;
};

void decl_add(struct unit *u, struct decl d)
{
    if (u->decls.n >= 4 * MAX_DECLARATIONS)
        fail(u, d.at, "the file has more than %d declarations", 4 * MAX_DECLARATIONS);
    vec_add(u->arena, &u->decls, d);
}

static bool is_before(const struct search *s, const struct token *t)
{
    return !s->at || !t || t < s->at;
}

static bool in_force(const struct search *s, const struct using_name *g)
{
    return is_before(s, g->at) && (!g->until || (s->at && s->at < g->until));
}

static bool is_around(const char *outer, const char *inner)
{
    return strncmp(outer, inner, strlen(outer)) == 0;
}

/* The length of the name of the namespace around `scope`, which ends in `::`. */
static size_t parent_len(const char *scope, size_t len)
{
    for (len -= MIN(len, (size_t)2); len > 0 && scope[len - 1] != ':'; len--)
        continue;
    return len;
}

static size_t common_len(const char *a, const char *b)
{
    size_t n = 0, whole = 0;

    for (; a[n] && a[n] == b[n]; n++) {
        if (a[n] == ':' && n > 0 && a[n - 1] == ':')
            whole = n + 1;
    }
    return whole;
}

static void members(const struct search *s, const char *scope, const char *name, int depth);

/* What using-directives bring into a namespace that is named. */
static void nominated(const struct search *s, const char *scope, const char *name, int depth)
{
    for (const struct using_name *g = s->u->usings.v; g < s->u->usings.v + s->u->usings.n; g++) {
        if (!g->name && strcmp(g->in, scope) == 0 && in_force(s, g))
            members(s, g->from, name, depth + 1);
    }
}

static void members(const struct search *s, const char *scope, const char *name, int depth)
{
    struct found *f = s->found;

    if (depth > MAX_NESTED)
        return;
    for (const struct decl *d = s->u->decls.v; d < s->u->decls.v + s->u->decls.n; d++) {
        if (strcmp(d->name, name) != 0 || strcmp(d->scope, scope) != 0 || !is_before(s, d->at) ||
            f->n == MAX_FOUND)
            continue;
        f->v[f->n++] = d;
    }
    for (const struct using_name *g = s->u->usings.v; g < s->u->usings.v + s->u->usings.n; g++) {
        if (g->name && strcmp(g->name, name) == 0 && strcmp(g->in, scope) == 0 && in_force(s, g))
            members(s, g->from, name, depth + 1);
    }
}

/* A name without `::`: the nearest namespace that has it. */
static void search_around(const struct search *s, const char *name)
{
    char scope[1200];
    size_t len = strlen(s->from);

    if (len >= sizeof(scope))
        return;
    for (;;) {
        snprintf(scope, sizeof(scope), "%.*s", (int)len, s->from);
        members(s, scope, name, 0);
        for (const struct using_name *g = s->u->usings.v; g < s->u->usings.v + s->u->usings.n; g++) {
            if (g->name || !is_around(g->in, s->from) || common_len(g->in, g->from) != len || !in_force(s, g))
                continue;
            members(s, g->from, name, 1);
            nominated(s, g->from, name, 1);
        }
        if (s->found->n || !len)
            return;
        len = parent_len(scope, len);
    }
}

/* The same through a using-directive. */
static const char *find_nominated(const struct search *s, const char *head)
{
    const struct unit *u = s->u;

    for (const struct using_name *g = u->usings.v; g < u->usings.v + u->usings.n; g++) {
        size_t len = strlen(g->from);

        for (size_t k = 0; k < u->namespaces.n && !g->name && is_around(g->in, s->from) && in_force(s, g);
             k++) {
            const char *n = u->namespaces.v[k];

            if (is_around(g->from, n) && strcmp(n + len, head) == 0)
                return n;
        }
    }
    return NULL;
}

/* The namespace that `head` (with its last `::`) names, seen from `from`; NULL: none. */
static const char *find_namespace(const struct search *s, const char *head, bool global)
{
    const struct unit *u = s->u;
    size_t len = global ? 0 : strlen(s->from);

    for (;;) {
        for (const struct namespace_alias *a = u->aliases.v; a < u->aliases.v + u->aliases.n; a++) {
            if (strlen(a->in) == len && memcmp(a->in, s->from, len) == 0 && strcmp(a->name, head) == 0 &&
                is_before(s, a->at))
                return a->to;
        }
        for (size_t i = 0; i < u->namespaces.n; i++) {
            const char *n = u->namespaces.v[i];

            if (memcmp(s->from, n, MIN(len, strlen(n))) == 0 && strlen(n) >= len && strcmp(n + len, head) == 0)
                return n;
        }
        if (!len)
            return find_nominated(s, head);
        len = parent_len(s->from, len);
    }
}

bool scope_known(const struct unit *u, const char *from, const char *head, bool global, const char **scope)
{
    const struct search s = {.u = u, .from = from};

    *scope = find_namespace(&s, head, global);
    return *scope != NULL;
}

const char *last_name(const char *name)
{
    for (const char *c; (c = strstr(name, "::"));)
        name = c + 2;
    return name;
}

void names_find(const struct unit *u, struct name_use use, struct found *found)
{
    struct search s = {.u = u, .from = use.scope ? use.scope : "", .at = use.at, .found = found};
    const char *last = last_name(use.name), *scope;
    char head[1200];

    found->n = 0;
    if (use.look == LOOK_STD || strlen(use.name) >= sizeof(head))
        return;
    if (last == use.name && use.look == LOOK_GLOBAL) {
        members(&s, "", last, 0);
        if (!found->n)
            nominated(&s, "", last, 0);
    } else if (last == use.name) {
        search_around(&s, last);
    } else {
        snprintf(head, sizeof(head), "%.*s", (int)(last - use.name), use.name);
        scope = find_namespace(&s, head, use.look == LOOK_GLOBAL);
        if (!scope)
            return;
        members(&s, scope, last, 0);
        if (!found->n)
            nominated(&s, scope, last, 0);
    }
}

struct name_use use_of(const struct expr *e)
{
    return (struct name_use){e->name, e->scope, e->look, e->at};
}

const struct decl *found_first(const struct found *f, enum decl_kind kind)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i]->kind == kind)
            return f->v[i];
    }
    return NULL;
}

struct type_name *type_name_find(const struct unit *u, struct name_use use)
{
    struct found f;
    struct type_name *t = NULL;

    names_find(u, use, &f);
    for (size_t i = 0; i < f.n; i++) { /* a definition counts more than what announced it */
        if (f.v[i]->kind == DECL_TYPE && (!t || !f.v[i]->type->forward))
            t = f.v[i]->type;
    }
    return t;
}

const struct type_node *member_type_find(const struct type_name *t, const char *name)
{
    for (size_t i = 0; i < t->n_types; i++) {
        if (strcmp(t->types[i].name, name) == 0)
            return t->types[i].type;
    }
    return NULL;
}

/* The function of this file that a name stands for is one of these; n of them. */
size_t funcs_find(const struct unit *u, struct name_use use, bool global, const struct func **out, size_t room)
{
    struct found f;
    size_t n = 0;

    names_find(u, use, &f);
    for (size_t i = 0; i < f.n; i++) {
        const struct func *g = f.v[i]->kind == DECL_FUNC ? f.v[i]->func : NULL;
        bool known = false;

        for (size_t k = 0; k < n; k++)
            known |= out[k] == g;
        if (g && !known && g->is_global == global && n < room)
            out[n++] = g;
    }
    return n;
}
