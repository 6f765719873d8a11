/* What the kernel uses, and what its launcher uses: declarations and macros, from the names that they say. A
 * name means the declarations that C++ could find from there; too many of them do no harm. */
#include "init/internal.h"

struct closing {
    struct init_source *s;
    const struct init_decl *kernel;
    VEC(size_t) todo;  /* declarations whose words are to be read */
    struct map read;   /* macros whose words were read */
    struct map opened; /* namespaces that bodies open for themselves */
};

struct user { /* who says a name */
    const char *scope;
    bool host; /* code of the host may call the host's functions */
};

bool init_ends_in(const char *scope, const char *name, size_t len)
{
    size_t n = strlen(scope);

    while (n >= 4 && memcmp(scope + n - 4, "{}::", 4) == 0) /* namespaces without a name */
        n -= 4;
    return n >= len + 2 && memcmp(scope + n - len - 2, name, len) == 0 &&
           (n == len + 2 || scope[n - len - 3] == ':');
}

static bool is_namespace(const struct init_source *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->namespaces.n; i++) {
        if (init_ends_in(s->namespaces.v[i], name, len))
            return true;
    }
    return false;
}

/* A library that the device's compiler has. */
static bool library(const char *name, size_t len)
{
    return str_in_n(name, len, "std|cuda|cooperative_groups|nvcuda|wmma|experimental|cub");
}

/* Is a declaration of namespace `scope` found by its plain name from namespace `from`? */
static bool visible(const struct closing *c, const char *scope, const char *from)
{
    const struct init_source *s = c->s;
    size_t n = strlen(scope);

    while (n >= 4 && memcmp(scope + n - 4, "{}::", 4) == 0)
        n -= 4;
    if (strncmp(scope, from, n) == 0)
        return true;
    for (size_t i = 0; i < s->usings.n; i++) {
        const struct token *last = &s->tokens.v[s->decls.v[s->usings.v[i]].end - 2];

        if (init_ends_in(scope, last->s, last->len))
            return true;
    }
    for (size_t i = 0; i < c->opened.n; i++) {
        if (init_ends_in(scope, c->opened.entries[i].key, strlen(c->opened.entries[i].key)))
            return true;
    }
    return false;
}

bool init_is_view(const char *name)
{
    return str_in(name,
                  "TensorAccessor|GenericPackedTensorAccessor|PackedTensorAccessor|PackedTensorAccessor32|"
                  "PackedTensorAccessor64|TensorInfo");
}

/* A type of CUDA's headers, which the file declares for itself or replaces where it lacks them. */
static bool is_toolkit_type(const struct init_decl *d)
{
    return d->kind != INIT_FUNCTION && !*d->scope && !d->specialised &&
           str_in(d->name,
                  "cudaStream_t|CUstream_st|cudaEvent_t|cudaError_t|__half|__half2|half|half2|"
                  "__nv_bfloat16|__nv_bfloat162|nv_bfloat16|nv_bfloat162|int8_t|int16_t|int32_t|int64_t|"
                  "uint8_t|uint16_t|uint32_t|uint64_t|uintptr_t|size_t|dim3|int2|int3|int4|uint2|uint3|uint4|"
                  "float2|float3|float4|double2|double3|double4");
}

static bool fits(const struct init_decl *d, const struct user *u)
{
    if (is_toolkit_type(d) || (d->kind != INIT_FUNCTION && init_is_view(d->name)))
        return false;
    if (d->kind == INIT_OTHER || d->owner || (d->is_global && d->specialised))
        return false; /* init_close chooses among specialised kernels */
    if (d->kind != INIT_FUNCTION || u->host || d->is_device || d->is_global)
        return true;
    return d->is_constexpr;
}

/* Does a directive stand among the arguments of a macro's call? Of such a call no preprocessor says what it is.
 */
static bool has_directive(const struct init_source *s, const struct init_decl *d)
{
    const size_t first = s->tokens.v[d->first].at, last = s->tokens.v[d->end - 1].at;
    int line, col;
    const struct init_file *f = init_place(s, first, &line, &col);

    for (size_t at = first; f && last < f->base + f->len && at < last; at++) {
        const char *p = f->text + (at - f->base);
        if (*p == '\n' && p[1 + strspn(p + 1, " \t")] == '#')
            return true;
    }
    return false;
}

/* What a file adds to the standard library, as the hash of a class of its own, no kernel uses. */
static bool is_of_library(const struct init_decl *d)
{
    return str_starts(d->scope, "std::");
}

static void want(struct closing *c, size_t i)
{
    struct init_decl *d = &c->s->decls.v[i];

    if (d->wanted || d->banned || is_of_library(d) || (d->kind == INIT_CALL && has_directive(c->s, d)))
        return;
    d->wanted = true;
    vec_add(c->s->arena, &c->todo, i);
}

enum found_by { BY_SCOPE, BY_NAME };

static bool want_named(struct closing *c, const struct init_names *names, const struct user *u,
                       enum found_by by, const struct token *space)
{
    struct init_source *s = c->s;
    bool any = false;

    for (size_t i = 0; i < names->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[names->decls.v[i]];

        if (!fits(d, u) || init_is_overload(s, d, c->kernel))
            continue;
        if (space ? !init_ends_in(d->scope, space->s, space->len)
                  : by == BY_SCOPE && !visible(c, d->scope, u->scope))
            continue;
        want(c, names->decls.v[i]);
        any = true;
    }
    return any;
}

static void use_macro(struct closing *c, const char *name, const struct user *u);

/* The name v[i], with what stands before and behind it. */
static void use(struct closing *c, const struct tokens *v, size_t i, const struct user *u)
{
    struct init_source *s = c->s;
    const struct token *t = &v->v[i], *before = i > 0 ? t - 1 : NULL, *space = NULL;
    const char *name;
    const struct init_names *names;

    if (t->kind != TOK_WORD)
        return;
    name = token_text(s->arena, t);
    if (map_has(&s->macro_names, name))
        use_macro(c, name, u);
    names = init_named(s, name);
    if (!names || (before && (token_is(before, ".") || token_is(before, "->"))))
        return;
    if (before && token_is(before, "::") && i > 1 && before[-1].kind == TOK_WORD) {
        space = before - 1;
        if (!is_namespace(s, space->s, space->len)) {
            const struct init_names *alias = init_named(s, token_text(s->arena, space));

            if (alias && s->decls.v[alias->decls.v[0]].kind == INIT_ALIAS_NAMESPACE)
                space = NULL; /* of another name: any that fits */
            else
                return; /* a member of a class, or a library's */
        }
        want_named(c, names, u, BY_NAME, space);
        return;
    }
    if (want_named(c, names, u, BY_SCOPE, NULL))
        return;
    for (size_t k = 0; k < s->usings.n; k++) { /* using a::b::name; */
        const struct init_decl *d = &s->decls.v[s->usings.v[k]];
        const struct token *last = &s->tokens.v[d->end - 2];
        if (d->end < d->first + 5 || !token_is(last, name) || !token_is(last - 1, "::"))
            continue;
        if (want_named(c, names, u, BY_NAME, last - 2))
            return;
    }
    if (i + 1 < v->n && token_is(t + 1, "("))
        want_named(c, names, u, BY_NAME, NULL);
}

static void use_all(struct closing *c, const struct tokens *v, const struct user *u)
{
    for (size_t i = 0; i + 2 < v->n; i++) { /* using namespace a::b; */
        size_t last = i + 2;
        if (!token_is(&v->v[i], "using") || !token_is(&v->v[i + 1], "namespace"))
            continue;
        while (last + 2 < v->n && token_is(&v->v[last + 1], "::"))
            last += 2;
        map_put(&c->opened, token_text(c->s->arena, &v->v[last]), c);
    }
    for (size_t i = 0; i < v->n; i++) {
        if (!init_is_left(c->s, &v->v[i]))
            use(c, v, i, u);
    }
}

static void use_macro(struct closing *c, const char *name, const struct user *u)
{
    struct init_source *s = c->s;

    if (map_has(&c->read, name))
        return;
    map_put(&c->read, name, c);
    for (size_t i = 0; i < s->macros.n; i++) {
        struct init_macro *m = &s->macros.v[i];

        if (strcmp(m->name, name) != 0)
            continue;
        m->wanted = true;
        if (m->macro)
            use_all(c, &(struct tokens){.v = (struct token *)m->macro->body, .n = m->macro->n_body}, u);
    }
}

/* Is the name one of a scope's parts? */
static bool in_scope(const char *scope, const char *name)
{
    const size_t n = strlen(name);

    for (const char *p = scope; (p = strstr(p, name)); p += n) {
        if ((p == scope || p[-1] == ':') && p[n] == ':')
            return true;
    }
    return false;
}

/* Does the class say of its member, which is defined elsewhere, that it is the device's? */
static bool announces_device(struct init_source *s, const struct init_decl *d, const char *member)
{
    size_t first = d->first;
    bool says = false;

    for (size_t i = d->first; i + 1 < d->end && !says; i++) {
        const struct token *t = &s->tokens.v[i];
        if (token_is(t, ";") || token_is(t, "{") || token_is(t, "}") || token_is(t, ":"))
            first = i + 1;
        if (!token_is(t, member) || !token_is(t + 1, "("))
            continue;
        const struct tokens v = init_expand(s, first, i);
        for (size_t k = 0; k < v.n; k++)
            says = says || token_is(&v.v[k], "__device__");
    }
    return says;
}

static void read_decl(struct closing *c, size_t i)
{
    struct init_source *s = c->s;
    struct init_decl *d = &s->decls.v[i];
    const struct user u = {.scope = d->scope,
                           .host = d->kind == INIT_FUNCTION && !d->is_device && !d->is_global};
    struct tokens raw = {.v = s->tokens.v + d->first, .n = d->end - d->first};
    struct tokens expanded = init_expand(s, d->first, d->end);

    if (init_leave_host(s, d)) {
        d->banned = true;
        d->wanted = false;
        return;
    }
    for (size_t k = 0; k < s->macro_names.n; k++) { /* a macro may name the namespace */
        if (strstr(d->scope, s->macro_names.entries[k].key) &&
            in_scope(d->scope, s->macro_names.entries[k].key))
            use_macro(c, s->macro_names.entries[k].key, &u);
    }
    use_all(c, &raw, &u);
    if (expanded.v != raw.v)
        use_all(c, &expanded, &u);
    if (d->kind != INIT_TYPE || !*d->name)
        return;
    for (size_t k = 0; k < s->decls.n; k++) { /* its members that are defined outside */
        const struct init_decl *x = &s->decls.v[k];
        if (x->owner && strcmp(x->owner, d->name) == 0 &&
            (x->is_device || x->is_constexpr || announces_device(s, d, x->name)))
            want(c, k);
    }
}

/* Does an operator's head say a type of the closure, or any type (a template), and none of the file's that is
 * not? */
static bool operator_fits(const struct init_source *s, const struct init_decl *d)
{
    bool any = d->is_template;

    for (size_t i = d->params; i < (d->body ? d->body : d->end); i++) {
        const struct token *t = &s->tokens.v[i];
        const struct init_names *names = t->kind == TOK_WORD ? init_named(s, token_text(s->arena, t)) : NULL;
        bool wanted = false, type = false;

        any |= t->kind == TOK_WORD && t->len > 3 && t->s[t->len - 1] >= '2' && t->s[t->len - 1] <= '4';
        for (size_t k = 0; names && k < names->decls.n; k++) {
            type |= s->decls.v[names->decls.v[k]].kind == INIT_TYPE;
            wanted |= s->decls.v[names->decls.v[k]].wanted;
        }
        if (type && !wanted)
            return false;
        any |= type;
    }
    return any;
}

/* The types that a macro's call specialises: `SPECIALISE(float, kAdd)` makes struct Op<...> {...}. */
static const struct init_made *made_by(struct init_source *s, struct init_decl *d)
{
    struct init_made *m = d->made;

    if (m && m->n_macros == s->macros.n)
        return m;
    m = d->made = arena_new(s->arena, struct init_made);
    m->n_macros = s->macros.n;
    struct tokens v = init_expand(s, d->first, d->end);
    for (size_t i = 0; i + 2 < v.n; i++) {
        if (token_in(&v.v[i], "struct|class") && v.v[i + 1].kind == TOK_WORD && token_is(&v.v[i + 2], "<"))
            vec_add(s->arena, &m->types, token_text(s->arena, &v.v[i + 1]));
    }
    return m;
}

/* A macro's call that specialises a type of the closure. */
static bool specialises(struct closing *c, struct init_decl *d)
{
    const struct init_made *m = d->kind == INIT_CALL && !d->wanted ? made_by(c->s, d) : NULL;

    for (size_t i = 0; m && i < m->types.n; i++) {
        const struct init_names *names = init_named(c->s, m->types.v[i]);
        for (size_t k = 0; names && k < names->decls.n; k++) {
            const struct init_decl *x = &c->s->decls.v[names->decls.v[k]];
            if (x->wanted && x->kind == INIT_TYPE && str_eq(x->scope, d->scope))
                return true;
        }
    }
    return false;
}

static void drain(struct closing *c)
{
    while (c->todo.n)
        read_decl(c, c->todo.v[--c->todo.n]);
}

/* `using namespace x` and `using x::y`: kept where x is there. */
static void want_usings(struct closing *c)
{
    struct init_source *s = c->s;

    for (size_t i = 0; i < s->usings.n; i++) {
        const struct init_decl *d = &s->decls.v[s->usings.v[i]];
        const struct token *last = &s->tokens.v[d->end - 2];
        bool there = library(last->s, last->len), around = false;

        for (size_t k = 0; k < s->decls.n; k++) {
            there |= s->decls.v[k].wanted && init_ends_in(s->decls.v[k].scope, last->s, last->len);
            around |= s->decls.v[k].wanted && str_starts(s->decls.v[k].scope, d->scope);
        }
        if (there && around)
            want(c, s->usings.v[i]);
    }
}

/* A kernel's explicit specialisation for 16-bit floats is another kernel; the launcher that says none of their
 * types does not mean it, and one file cannot have two kernels of a name. */
static bool of_other_type(const struct init_source *s, const struct init_decl *d, const char *launcher)
{
    static const char *const types[] = {"half", "bfloat16", "Half", "BFloat16"};

    if (!d->is_global || !d->specialised || !launcher)
        return false;
    for (size_t k = 0; k < ARRAY_LEN(types); k++) {
        if (strstr(launcher, types[k]))
            return false;
    }
    for (size_t i = d->first; i < d->body; i++) {
        const char *word = token_text(s->arena, &s->tokens.v[i]);

        for (size_t k = 0; k < ARRAY_LEN(types); k++) {
            if (strstr(word, types[k]))
                return true;
        }
    }
    return false;
}

/* "x half 4" of `template <> struct x<c10::Half, 4>` in the tokens: the name and its arguments, with the
 * framework's names of types as CUDA has them. NULL: they specialise no type. */
static const char *special_types(struct init_source *s, const struct token *v, size_t n)
{
    struct str out = {.arena = s->arena};
    size_t i = 0, end;

    while (i + 2 < n &&
           !(token_in(&v[i], "struct|class") && v[i + 1].kind == TOK_WORD && token_is(&v[i + 2], "<")))
        i++;
    if (i + 2 >= n)
        return NULL;
    str_addf(&out, "%s ", token_text(s->arena, &v[i + 1]));
    end = i + 3;
    for (int depth = 1; end < n && depth > 0; end++)
        depth += token_is(&v[end], "<") - (token_is(&v[end], ">") ? 1 : 0);
    for (i += 3; i + 1 < end; i++) {
        const struct token *t = &v[i];
        if (token_in(t, "c10|at|torch") || token_is(t, "::"))
            continue;
        if (token_in(t, "Half|__half"))
            str_add(&out, "half ");
        else if (token_in(t, "BFloat16|nv_bfloat16"))
            str_add(&out, "__nv_bfloat16 ");
        else
            str_addf(&out, "%.*s ", (int)t->len, t->s);
    }
    return str_text(&out);
}

/* What a declaration, or a macro's call, specialises; NULL: nothing. */
static const char *specialised(struct init_source *s, const struct init_decl *d)
{
    struct tokens v = {.v = s->tokens.v + d->first, .n = d->end - d->first};

    if (!d->wanted || (d->kind != INIT_CALL && (d->kind != INIT_TYPE || !d->specialised)))
        return NULL;
    if (d->kind == INIT_CALL)
        v = init_expand(s, d->first, d->end);
    return special_types(s, v.v, v.n);
}

/* What is written for c10::Half and again for half is written twice here, where these are one type. */
static void drop_same_types(struct init_source *s)
{
    const char **types = arena_array(s->arena, const char *, s->decls.n + 1);

    for (size_t i = 0; i < s->decls.n; i++) {
        struct init_decl *d = &s->decls.v[i];

        types[i] = specialised(s, d);
        for (size_t k = 0; types[i] && k < i; k++) {
            const struct init_decl *x = &s->decls.v[k];
            if (x->wanted && types[k] && str_eq(x->scope, d->scope) && str_eq(x->cond, d->cond) &&
                str_eq(types[k], types[i]))
                d->wanted = false;
        }
    }
}

bool init_is_overload(const struct init_source *s, const struct init_decl *d, const struct init_decl *kernel)
{
    return d != kernel && d->is_global && d->body && kernel->body && !d->specialised && !kernel->specialised &&
           str_eq(d->name, kernel->name) && str_eq(d->scope, kernel->scope) &&
           !str_eq(init_text(s, d->params, d->body), init_text(s, kernel->params, kernel->body));
}

void init_close(struct init_source *s, const struct init_decl *kernel, const char *launcher)
{
    struct closing c = {.s = s, .kernel = kernel};
    const struct user host = {.scope = kernel->scope, .host = true};
    bool more = true;

    for (size_t i = 0; i < s->decls.n; i++)
        s->decls.v[i].wanted = false;
    for (size_t i = 0; i < s->macros.n; i++)
        s->macros.v[i].wanted = false;
    for (size_t i = 0; i < s->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[i];

        if (d->is_global == kernel->is_global && strcmp(d->name, kernel->name) == 0 &&
            strcmp(d->scope, kernel->scope) == 0 && !of_other_type(s, d, launcher) &&
            (d == kernel || !kernel->specialised || !d->specialised) && !init_is_overload(s, d, kernel))
            want(&c, i);
    }
    drain(&c);
    if (launcher) {
        struct tokens words = init_words(s, launcher);

        use_all(&c, &words, &host);
        drain(&c);
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < s->decls.n; i++) {
            struct init_decl *d = &s->decls.v[i];

            if (specialises(&c, d)) {
                want(&c, i);
                drain(&c);
                more = more || d->wanted;
            }
            if (d->wanted || d->owner || !str_starts(d->name, "operator") || !d->is_device ||
                !visible(&c, d->scope, kernel->scope) || !operator_fits(s, d))
                continue;
            want(&c, i);
            drain(&c);
            more = more || d->wanted; /* one that does not compile is not */
        }
    }
    want_usings(&c);
    drop_same_types(s);
    map_free(&c.read);
    map_free(&c.opened);
}
