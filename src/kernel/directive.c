/* Directives: #define, #if and its family, #include of the task's headers, #pragma. What g++ may read otherwise
 * than the compiler of the device part, or what would need its headers, is refused. */
#include "kernel/preprocess.h"

static bool is_active(const struct expander *x)
{
    return x->conditions.n == 0 || vec_last(&x->conditions).active;
}

/* The parameters of a function-like macro, whose `(` is v[1]; gives the index behind its `)`. */
static size_t define_params(struct expander *x, struct macro *m, const struct token *v, size_t n)
{
    VEC(const char *) params = {0};
    size_t i = 2;

    for (; i < n && !token_is(&v[i], ")"); i++) {
        bool dots = token_is(&v[i], "...");

        if (dots ? i + 1 >= n || !token_is(&v[i + 1], ")") : v[i].kind != TOK_WORD)
            fail(x->unit, &v[i], "the parameters of macro %s are not understood", m->name);
        m->variadic |= dots;
        vec_add(x->arena, &params, dots ? "__VA_ARGS__" : token_text(x->arena, &v[i]));
        if (!dots && i + 2 < n && token_is(&v[i + 1], "...") && token_is(&v[i + 2], ")")) {
            m->variadic = true; /* ARGS..., as gcc and nvcc have it */
            i++;
        }
        if (i + 1 < n && token_is(&v[i + 1], ","))
            i++;
        else if (i + 1 < n && !token_is(&v[i + 1], ")"))
            fail(x->unit, &v[i + 1],
                 "the parameters of macro %s are not understood; those that vary are `...` and __VA_ARGS__",
                 m->name);
    }
    if (i >= n)
        fail(x->unit, &v[0], "the parameters of macro %s are not closed", m->name);
    m->function = true;
    m->params = params.v;
    m->n_params = params.n;
    return i + 1;
}

/* Names that cannot be macros of a file, or that mean something in one. */
static void check_macro_name(struct expander *x, const struct token *name)
{
    static const char fixed[] =
        "defined|__VA_ARGS__|__VA_OPT__|__LINE__|__COUNTER__|__INCLUDE_LEVEL__|_Pragma|__cplusplus";

    if (token_in(name, fixed))
        fail(x->unit, name, "%.*s is the compiler's own; use another name", (int)name->len, name->s);
}

struct macro *macro_define(struct expander *x, const struct token *v, size_t n)
{
    struct macro *m = arena_new(x->arena, struct macro);
    size_t i = 1;

    if (n == 0 || v[0].kind != TOK_WORD)
        fail(x->unit, n ? v : NULL, "#define without a name");
    check_macro_name(x, &v[0]);
    m->name = token_text(x->arena, &v[0]);
    if (n > 1 && token_is(&v[1], "(") && !v[1].space_before)
        i = define_params(x, m, v, n);
    m->body = v + MIN(i, n);
    m->n_body = n - MIN(i, n);
    for (size_t k = 0; k < m->n_body; k++) {
        if (token_is(&m->body[k], "__VA_OPT__"))
            fail(x->unit, &m->body[k], "__VA_OPT__ is not understood; write two macros");
    }
    if (strcmp(m->name, "NDEBUG") == 0)
        fail(x->unit, &v[0], "NDEBUG changes what assert does; leave it out");
    map_put(&x->macros, m->name, m);
    return m;
}

static void push_condition(struct expander *x, bool active, bool yes, const struct token *at)
{
    vec_add(x->arena, &x->conditions,
            ((struct condition){yes, active && yes, active, false, x->asks_device, at}));
}

/* Is what stands here left out by the device's compiler as well? */
static bool is_dead(const struct expander *x)
{
    for (const struct condition *c = x->conditions.v; c < x->conditions.v + x->conditions.n; c++) {
        if (c->outer && !c->active && !c->differs)
            return true;
    }
    return false;
}

static bool may_differ(const struct expander *x)
{
    bool differs = false;

    for (size_t i = 0; i < x->conditions.n; i++)
        differs |= x->conditions.v[i].differs;
    return differs && !is_dead(x);
}

static void conditional(struct expander *x, const struct token *name, const struct token *v, size_t n)
{
    bool active = is_active(x);

    x->asks_device = false;
    if (token_is(name, "if")) {
        bool yes = active && condition_value(x, v, n, name);
        push_condition(x, active, yes, name);
        return;
    }
    if (token_is(name, "ifdef") || token_is(name, "ifndef")) {
        if (active && n == 0)
            fail(x->unit, name, "#%.*s without a name", (int)name->len, name->s);
        bool yes = active && condition_defined(x, v) == token_is(name, "ifdef");
        push_condition(x, active, yes, name);
        return;
    }
    if (x->conditions.n == 0)
        fail(x->unit, name, "#%.*s without #if", (int)name->len, name->s);
    struct condition *c = &vec_last(&x->conditions);
    if (token_is(name, "endif")) {
        x->conditions.n--;
    } else if (c->else_seen) {
        fail(x->unit, name, "#%.*s after #else", (int)name->len, name->s);
    } else if (token_is(name, "else")) {
        c->else_seen = true;
        c->active = c->outer && !c->taken;
        c->taken = true;
    } else {
        c->active = c->outer && !c->taken && condition_value(x, v, n, name);
        c->taken |= c->active;
        c->differs |= x->asks_device;
    }
}

static const struct kernel_header *find_header(struct unit *u, const struct token *t)
{
    const struct kernel_header *found = NULL;
    const char *name = t->s + 1;
    size_t len = t->len - 2;

    if (t->kind != TOK_STRING || t->len < 3 || t->s[0] != '"')
        return NULL;
    for (size_t i = 0; i < u->n_headers; i++) {
        const char *own = u->headers[i].name;
        size_t n = strlen(own);

        if (n < len || memcmp(own + n - len, name, len) != 0)
            continue;
        if (n == len)
            return &u->headers[i];
        if (own[n - len - 1] != '/')
            continue;
        if (found)
            fail(u, t, "two headers of the task end in %.*s; name the folder, too", (int)len, name);
        found = &u->headers[i];
    }
    return found;
}

/* A header of the toolkit: what it does to macros of this file that have names of its own is not known. */
static void include_system(struct expander *x, const struct token *v, size_t n)
{
    const struct token *last = &v[n - 1];
    bool quoted = v[0].kind == TOK_STRING && n == 1;
    const char *name = quoted ? v[0].s + 1 : v[0].s + v[0].len;
    size_t len = quoted ? v[0].len - 2 : (size_t)(last->s - name);

    if (!quoted && (!token_is(&v[0], "<") || !token_is(last, ">") || n < 3))
        fail(x->unit, v, "a header whose name a macro makes; write #include <name> or #include \"name\"");
    x->unknown_header |= !system_header(name, len);
    vec_add(x->unit->arena, &x->unit->inclusions,
            ((struct inclusion){x->unit->tokens.n,
                                arena_printf(x->unit->arena, quoted ? "\"%.*s\"" : "<%.*s>", (int)len, name)}));
    for (size_t i = 0; i < x->macros.n; i++) {
        struct macro *m = x->macros.entries[i].value;

        if (m && !m->predefined && system_macro(m->name))
            m->shaky = true;
    }
}

/* A header's tokens count as standing where it is included. */
static void include(struct expander *x, const struct token *at, const struct token *v, size_t n)
{
    const struct kernel_header *h = find_header(x->unit, v);
    struct unit *u;

    if (!h) {
        include_system(x, v, n);
        return;
    }
    for (size_t i = 0; i < x->once.n; i++) {
        if (x->once.v[i] == h)
            return;
    }
    if (x->include_depth >= 16)
        fail(x->unit, at, "headers include each other through more than 16 levels");
    u = arena_new(x->arena, struct unit);
    *u = (struct unit){
        .arena = x->arena, .path = h->name, .text = h->text, .len = h->len, .trap = x->unit->trap};
    lex_text(u);
    for (size_t i = 0; i < u->raw.n; i++) {
        u->raw.v[i].at = at->at;
        u->raw.v[i].macro = h->name;
        u->raw.v[i].foreign = true;
        if (u->raw.v[i].line_start && token_is(&u->raw.v[i], "#") && i + 2 < u->raw.n &&
            token_is(&u->raw.v[i + 1], "pragma") && token_is(&u->raw.v[i + 2], "once"))
            vec_add(x->arena, &x->once, h);
    }
    x->include_depth++;
    expand_raw(x, u->raw.v);
    x->include_depth--;
}

/* #pragma pack(...): the largest alignment of a struct's members. */
static void pragma_pack(struct expander *x, const struct token *v, size_t n)
{
    const struct token *end = v + n, *t = v + 1;
    struct value to;

    if (n < 3 || !token_is(&v[1], "(") || !token_is(&end[-1], ")"))
        fail(x->unit, v, "this form of #pragma pack is not understood; pack(push, 1), pack(1), pack(pop) are");
    t++;
    end--;
    if (t < end && token_is(t, "push")) {
        vec_add(x->arena, &x->packs, x->pack);
        t += t + 1 < end && token_is(t + 1, ",") ? 2 : 1;
        if (t == end && token_is(end - 1, "push"))
            return;
    } else if (t < end && token_is(t, "pop") && t + 1 == end) {
        if (!x->packs.n)
            fail(x->unit, t, "pack(pop) without pack(push)");
        x->pack = x->packs.v[--x->packs.n];
        return;
    } else if (t == end) {
        x->pack = 0;
        return;
    }
    if (t + 1 != end || t->kind != TOK_NUMBER || !number_parse(t->s, t->len, &to) ||
        !type_is_integer(to.type) || to.i < 1 || to.i > 16 || (to.i & (to.i - 1)))
        fail(x->unit, v, "this form of #pragma pack is not understood; pack(push, 1), pack(1), pack(pop) are");
    x->pack = (uint8_t)to.i;
}

static void pragma(struct expander *x, const struct token *at, const struct token *v, size_t n)
{
    static const char harmless[] =
        "once|unroll|nounroll|nv_diag_suppress|nv_diag_default|nv_diag_warning|nv_diag_remark|nv_diag_error|"
        "nv_diagnostic|diag_suppress|diag_default|diag_warning|nv_exec_check_disable|hd_warning_disable|"
        "region|endregion|message|warning|clang|omp";

    if (n && token_in(v, harmless))
        return;
    if (n > 1 && token_is(v, "GCC") && token_in(v + 1, "diagnostic|unroll|ivdep|system_header"))
        return;
    if (n && token_is(v, "pack"))
        pragma_pack(x, v, n);
    else
        fail(x->unit, n ? v : at, "#pragma %.*s is not understood; leave it out%s", n ? (int)v->len : 0,
             n ? v->s : "",
             n && strstr(token_text(x->arena, v), "_macro") ? " (#undef and #define change a macro)" : "");
}

static void directive(struct expander *x, const struct token *v, size_t n)
{
    const struct token *name = v;

    if (n == 0)
        return;
    if (token_is(name, "elifdef") || token_is(name, "elifndef"))
        fail(x->unit, name, "#%.*s is read by some compilers only; write #elif %sdefined(...)", (int)name->len,
             name->s, token_is(name, "elifdef") ? "" : "!");
    if (token_in(name, "if|ifdef|ifndef|elif|else|endif")) {
        conditional(x, name, v + 1, n - 1);
        return;
    }
    if (may_differ(x) && token_in(name, "define|undef") && n > 1)
        map_put(&x->differ, token_text(x->arena, &v[1]), x);
    if (!is_active(x) || token_is(name, "warning"))
        return;
    if (token_is(name, "define")) {
        macro_define(x, v + 1, n - 1);
    } else if (token_is(name, "include") && n > 1) {
        include(x, name, v + 1, n - 1);
    } else if (token_is(name, "undef") && n > 1 && v[1].kind == TOK_WORD) {
        check_macro_name(x, &v[1]);
        map_put(&x->macros, token_text(x->arena, &v[1]), NULL);
    } else if (token_is(name, "pragma")) {
        pragma(x, name, v + 1, n - 1);
    } else if (token_is(name, "line") && origin_is_line(v[-1].s, v[n - 1].s + v[n - 1].len)) {
        return; /* where the line came from: for messages */
    } else if (token_is(name, "error")) {
        fail(x->unit, name, "#error is reached");
    } else {
        fail(x->unit, name, "the directive #%.*s is not understood; leave it out", (int)MIN(name->len, 40),
             name->s);
    }
}

void expand_raw(struct expander *x, struct token *v)
{
    struct unit *u = x->unit;
    size_t open = x->conditions.n, i = 0, dead_from = 0;
    bool dead = false;

    while (v[i].kind != TOK_END) {
        size_t end = i + 1;

        if (token_is(&v[i], "#") && v[i].line_start) {
            while (!v[end].line_start)
                end++;
            directive(x, v + i + 1, end - i - 1);
            if (!dead && is_dead(x))
                dead_from = v[end].at;
            else if (dead && !is_dead(x) && !v[i].foreign)
                vec_add(u->arena, &u->dead, ((struct comment){dead_from, v[i].at}));
            dead = is_dead(x);
            i = end;
            continue;
        }
        /* A run of lines without directives at once: macro calls may span lines. */
        while (v[end].kind != TOK_END && !(token_is(&v[end], "#") && v[end].line_start))
            end++;
        for (size_t k = i; k < end; k++) {
            v[k].inactive = !is_active(x);
            v[k].pack = x->pack;
        }
        if (is_active(x))
            expand_list(x, v + i, end - i, &u->tokens, v[end].kind != TOK_END);
        i = end;
    }
    if (x->conditions.n > open)
        fail(u, vec_last(&x->conditions).at, "this #if is not closed");
}
