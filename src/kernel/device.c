/* The device part: the file with everything that only the host needs blanked, byte for byte, so that lines and
 * columns of the compiler's messages are the file's. Kept are kernels, device functions, types, constants, and
 * the host functions that those mention; blanked are functions that launch or call the runtime, what mentions
 * them, and host functions and variables that nothing on the device mentions. */
#include "kernel/internal.h"

struct piece {
    const struct region *region;
    bool blank, reached;
    bool mentioned; /* by what is kept */
    bool host,
        constant; /* host: a function or variable without __device__ or __global__; constant: a variable's */
};

struct homonyms { /* the pieces that declare one name */
    const char *name;
    VEC(struct piece *) pieces;
    bool blank, reached; /* blank: one of them is */
};

enum { MAX_GROUPS = 128 };

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

/* A type of the file that is called as the runtime's functions are. */
static bool is_own_type(const struct unit *u, const char *name)
{
    for (size_t i = 0; i < u->types.n; i++) {
        if (strcmp(u->types.v[i]->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_host_only(const struct unit *u, const struct region *r)
{
    if (r->func && (r->func->is_global || r->func->is_device))
        return false;
    if (r->func && r->func->is_host)
        return true;
    for (const struct token *t = u->tokens.v + r->first; t < u->tokens.v + r->last; t++) {
        char name[64];

        if (token_is(t, "<<<"))
            return true;
        if (t->kind != TOK_WORD || t->len < 5 || t->len >= sizeof(name) || memcmp(t->s, "cuda", 4) != 0)
            continue;
        memcpy(name, t->s, t->len);
        name[t->len] = 0;
        if (runtime_is_call(name) && !is_own_type(u, name) &&
            (r->func || !type_builtin(name))) /* a struct may hold a stream */
            return true;
    }
    return false;
}

/* The groups that the word at t may name: those of the name as C++ finds it, or with `any` of every namespace.
 */
static size_t find_groups(const struct device *d, const char *scope, const struct token *t, bool any,
                          struct homonyms **out)
{
    const struct token *first = t;
    struct found found;
    size_t n = 0;

    if (t->kind != TOK_WORD)
        return 0;
    if (!any) { /* with the namespaces in front of it */
        while (first > d->unit->tokens.v + 1 && token_is(first - 1, "::") && first[-2].kind == TOK_WORD)
            first -= 2;
        const char *name = "";
        for (const struct token *w = first; w < t; w += 2)
            name = arena_printf(d->arena, "%s%.*s::", name, (int)w->len, w->s);
        name = arena_printf(d->arena, "%s%.*s", name, (int)t->len, t->s);
        names_find(d->unit, (struct name_use){name, scope, LOOK_HERE, t + 1}, &found);
        for (size_t i = 0; i < found.n; i++) {
            const struct decl *k = found.v[i];
            const char *key = k->kind == DECL_FUNC ? k->func->qualified : NULL;

            if (k->kind == DECL_GLOBAL)
                key = k->global->name;
            if (key && map_get(&d->groups, key))
                out[n++] = map_get(&d->groups, key);
        }
        return n;
    }
    for (size_t i = 0; i < d->groups.n && n < MAX_GROUPS; i++) {
        struct homonyms *g = d->groups.entries[i].value;
        size_t len = strlen(g->name);

        if (len >= t->len && memcmp(g->name + len - t->len, t->s, t->len) == 0 &&
            (len == t->len || g->name[len - t->len - 1] == ':'))
            out[n++] = g;
    }
    return n;
}

static void reach_group(struct device *d, struct homonyms *g, struct todo *todo)
{
    if (g->reached)
        return;
    g->reached = true;
    for (size_t k = 0; k < g->pieces.n; k++) {
        struct piece *p = g->pieces.v[k];

        p->mentioned = true;
        if (p->host && !p->blank && !p->reached) {
            p->reached = true;
            vec_add(d->arena, todo, p);
        }
    }
}

static void reach_word(struct device *d, const struct token *t, struct todo *todo)
{
    struct homonyms *groups[MAX_GROUPS];
    size_t n = find_groups(d, "", t, true, groups);

    for (size_t i = 0; i < n; i++)
        reach_group(d, groups[i], todo);
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
        return strcmp(r->func->qualified, name) == 0;
    for (size_t i = 0; i < r->n_globals; i++) {
        if (strcmp(u->globals.v[r->first_global + i]->name, name) == 0)
            return true;
    }
    return false;
}

static bool mentions_blank(const struct device *d, const struct region *r)
{
    for (size_t i = r->first; i < r->last; i++) {
        struct homonyms *groups[MAX_GROUPS];
        size_t n = find_groups(d, r->scope, &d->unit->tokens.v[i], false, groups);

        for (size_t k = 0; k < n; k++) {
            if (groups[k]->blank && !declares(d->unit, r, groups[k]->name))
                return true;
        }
    }
    return false;
}

static void join(struct device *d, const char *name, struct piece *p)
{
    struct homonyms *g = map_get(&d->groups, name);

    if (!g) {
        g = arena_new(d->arena, struct homonyms);
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
    struct homonyms *g;

    if (r->func && (g = map_get(&d->groups, r->func->qualified)))
        g->blank = true;
    for (size_t i = 0; i < r->n_globals; i++) {
        if ((g = map_get(&d->groups, d->unit->globals.v[r->first_global + i]->name)))
            g->blank = true;
    }
}

static void judge(struct device *d)
{
    struct todo todo = {0};
    bool changed = true;

    for (struct piece *p = d->pieces; p < d->pieces + d->n; p++) {
        const struct region *r = p->region;
        const struct global *g = r->n_globals ? d->unit->globals.v[r->first_global] : NULL;

        p->blank = is_host_only(d->unit, r);
        p->host = (r->func && !r->func->is_global && !r->func->is_device) || (g && !g->usable && !g->device);
        p->constant = g && !g->device;
        if (r->func)
            join(d, r->func->qualified, p);
        for (size_t k = 0; k < r->n_globals; k++)
            join(d, d->unit->globals.v[r->first_global + k]->name, p);
    }
    /* Each round blanks at least one piece or is the last; chains of helpers are short. */
    for (int round = 0; changed && round < 64; round++) {
        changed = false;
        for (struct piece *p = d->pieces; p < d->pieces + d->n; p++) {
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

static void blank_bytes(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n' && text[from] != '\r')
            text[from] = ' ';
}

/* Where a token stands in its region's text; SIZE_MAX: elsewhere, or in a macro's call. */
static size_t place_in(const struct unit *u, const struct region *r, const struct token *t)
{
    if (!r->header)
        return t->macro || t->foreign ? SIZE_MAX : t->at;
    size_t at = token_header(u, t) == r->header ? (size_t)(t->s - r->header->text) : SIZE_MAX;
    return at >= r->start && at < r->end ? at : SIZE_MAX;
}

/* Of what takes part in what a name means, the declaration stays; NVRTC takes none that says __host__. */
static void blank(const struct unit *u, const struct piece *p, char *text)
{
    const struct region *r = p->region;
    const struct token *v = u->tokens.v;
    size_t end = r->header ? r->end : MIN(r->end, u->len), from = r->start;
    size_t body = r->func && r->func->body ? place_in(u, r, &v[r->func->body]) : end;

    if (p->mentioned && r->func && body != SIZE_MAX) {
        for (size_t i = r->first; i < r->last; i++) {
            size_t at = token_is(&v[i], "__host__") ? place_in(u, r, &v[i]) : SIZE_MAX;

            if (at != SIZE_MAX)
                blank_bytes(text, at, at + v[i].len);
        }
        from = body;
    }
    blank_bytes(text, from, end);
    if (from > r->start && from < end)
        text[from] = ';';
}

/* A compiler follows directives wherever they stand, also within a function that is blanked. */
static void keep_directives(const struct unit *u, char *text)
{
    const struct token *v = u->raw.v;

    for (size_t i = 0; i + 1 < u->raw.n; i++) {
        size_t end = i + 1;

        if (!v[i].line_start || !token_is(&v[i], "#") ||
            !token_in(&v[end], "define|undef|if|ifdef|ifndef|elif|else|endif|include"))
            continue;
        while (end + 1 < u->raw.n && !v[end + 1].line_start)
            end++;
        memcpy(text + v[i].at, u->text + v[i].at, v[end].at + v[end].len - v[i].at);
    }
}

bool is_own_path(const struct token *t)
{
    return token_in(t, "__FILE__|__BASE_FILE__");
}

/* The file's own name in a macro that no code of the device uses, as checks of errors have it, is a name there
 * that says nothing. */
static void rename_file(const struct unit *u, char *text)
{
    static const char name[] = "\"file\"";

    for (size_t i = 0; i + 1 < u->raw.n; i++) {
        const struct token *t = &u->raw.v[i];

        if (!is_own_path(t) || text[t->at] != '_')
            continue;
        blank_bytes(text, t->at, t->at + t->len);
        memcpy(text + t->at, name, sizeof(name) - 1);
    }
}

/* Does code of the device say it, itself or by a macro? */
static void check_own_path(const struct device *d)
{
    for (const struct piece *p = d->pieces; p < d->pieces + d->n; p++) {
        bool kept = !p->blank && (!p->host || p->reached);

        for (const struct token *t = d->unit->tokens.v + p->region->first;
             kept && t < d->unit->tokens.v + p->region->last; t++) {
            d->unit->asks_compiler = is_own_path(t);
            if (d->unit->asks_compiler)
                fail(
                    d->unit, t,
                    "the file tests how it is compiled (%.*s) in code of the device; what is judged must be what is "
                    "shipped",
                    (int)t->len, t->s);
        }
    }
}

/* The same of a header, by its lines. */
static void keep_header_directives(const struct kernel_header *h, char *text)
{
    static const char *const words[] = {"define", "undef", "if", "elif", "else", "endif", "include"};

    for (const char *line = h->text; *line;) {
        const char *end = line + strcspn(line, "\n"), *sign = line + strspn(line, " \t");
        const char *word = sign + 1 + (*sign == '#' ? strspn(sign + 1, " \t") : 0);

        while (*end && end > line && end[-1] == '\\')
            end += 1 + strcspn(end + 1, "\n");
        for (size_t i = 0; *sign == '#' && i < ARRAY_LEN(words); i++)
            if (str_starts(word, words[i]))
                memcpy(text + (line - h->text), line, (size_t)(end - line));
        line = end + (*end == '\n');
    }
}

char *device_part(struct unit *u, struct arena *a, struct kernel_header *headers)
{
    struct device d = {.unit = u, .arena = u->arena, .n = u->regions.n};
    char *text = arena_strndup(a, u->text, u->len);
    char **texts = arena_array(a, char *, u->n_headers + 1);

    for (size_t i = 0; i < u->n_headers; i++) {
        headers[i] = u->headers[i];
        headers[i].text = texts[i] = arena_strndup(a, u->headers[i].text, u->headers[i].len);
    }

    d.pieces = arena_array(u->arena, struct piece, d.n + 1);
    for (size_t i = 0; i < d.n; i++)
        d.pieces[i].region = &u->regions.v[i];
    judge(&d);
    for (const struct piece *p = d.pieces; p < d.pieces + d.n; p++) {
        if (p->blank || (p->host && !p->reached))
            blank(u, p, p->region->header ? texts[p->region->header - u->headers] : text);
    }
    keep_directives(u, text);
    for (size_t i = 0; i < u->n_headers; i++)
        keep_header_directives(&u->headers[i], texts[i]);
    for (size_t i = 0; i < u->dead.n; i++)
        blank_bytes(text, u->dead.v[i].start, u->dead.v[i].end);
    map_free(&d.groups);
    check_own_path(&d);
    rename_file(u, text);
    origin_blank(text);
    return text;
}
