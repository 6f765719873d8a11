/* Macros expanded. Expansion works on a stack of token lists: a macro's replacement is pushed and its name is
 * blocked until that list has been read to its end, which is when a recursive use must stay as it is. */
#include "kernel/preprocess.h"

struct input {
    const struct token *v;
    size_t n, i;
    struct macro *macro;
};

struct stream {
    struct expander *x;
    VEC(struct input) stack;
    bool more; /* of the file, behind a directive */
};

enum { MAX_EXPANSION_DEPTH = 60 };

static void expand(struct expander *x, const struct token *v, size_t n, struct tokens *out, int depth);

static const struct token *peek(struct stream *s)
{
    while (s->stack.n) {
        struct input *in = &vec_last(&s->stack);

        if (in->i < in->n)
            return &in->v[in->i];
        if (in->macro)
            in->macro->active = false;
        s->stack.n--;
    }
    return NULL;
}

void expand_emit(struct expander *x, struct tokens *out, struct token t)
{
    if (out->n >= MAX_TOKENS || ++x->produced > 4 * (size_t)MAX_TOKENS)
        fail(x->unit, &t, "the macros expand to more than %d words and signs", MAX_TOKENS);
    vec_add(x->arena, out, t);
}

/* What g++ would have replaced before it pasted or quoted it: this cannot know with what. */
static void check_operand(struct expander *x, const struct token *t, const char *sign)
{
    const char *name;

    if (t->kind != TOK_WORD || x->unit->any_words)
        return;
    name = token_text(x->arena, t);
    if (system_replaced(name) && !map_get(&x->macros, name))
        fail(x->unit, t,
             "%s takes %s, a macro of the compiler or of a header, which are not read; write it without", sign,
             name);
}

static struct token paste(struct expander *x, const struct token *a, const struct token *b)
{
    struct token t = *a, whole;

    if (!a->len || !b->len)
        return a->len ? *a : *b;
    check_operand(x, a, "##");
    check_operand(x, b, "##");
    t.s = arena_printf(x->arena, "%.*s%.*s", (int)a->len, a->s, (int)b->len, b->s);
    t.len = a->len + b->len;
    if (t.len > 4096)
        fail(x->unit, a, "## makes a word of %u bytes", t.len);
    whole = lex_token(x->unit, t.s, t.len, 0);
    if (whole.len != t.len)
        fail(x->unit, a, "## makes %.60s, which is no word, number or sign", t.s);
    t.kind = whole.kind;
    t.quiet = false;
    return t;
}

static struct token stringize(struct expander *x, const struct tokens *arg, const struct token *at)
{
    struct token t = *at;
    struct str s = {0};

    str_addc(&s, '"');
    for (size_t i = 0; i < arg->n && s.len < 65536; i++) {
        check_operand(x, &arg->v[i], "#");
        if (i && arg->v[i].space_before)
            str_addc(&s, ' ');
        for (uint32_t c = 0; c < arg->v[i].len; c++) {
            if (arg->v[i].s[c] == '"' ||
                (arg->v[i].s[c] == '\\' && (arg->v[i].kind == TOK_STRING || arg->v[i].kind == TOK_CHAR)))
                str_addc(&s, '\\');
            str_addc(&s, arg->v[i].s[c]);
        }
    }
    str_addc(&s, '"');
    t.kind = TOK_STRING;
    t.len = (uint32_t)s.len;
    t.s = arena_strndup(x->arena, s.s, s.len);
    str_free(&s);
    return t;
}

static int param_index(const struct macro *m, const struct token *t)
{
    if (t->kind != TOK_WORD)
        return -1;
    for (size_t i = 0; i < m->n_params; i++) {
        if (token_is(t, m->params[i]))
            return (int)i;
    }
    return -1;
}

/* A word of the macro's body has the place of the call; one of an argument keeps its own. */
static void placed(struct token *t, const struct macro *m, const struct token *call)
{
    t->at = call->at;
    t->macro = call->macro ? call->macro : m->name;
    t->foreign = call->foreign;
    t->pack = call->pack;
}

/* The body with arguments in place; call is where the macro was used. */
static void substitute(struct expander *x, const struct macro *m, struct tokens *args, const struct token *call,
                       struct tokens *out, int depth)
{
    struct tokens *expanded = arena_array(x->arena, struct tokens, m->n_params + 1);
    bool *done = arena_array(x->arena, bool, m->n_params + 1);

    for (size_t i = 0; i < m->n_body; i++) {
        const struct token *t = &m->body[i];
        int p = param_index(m, t);
        size_t from = out->n;

        if (m->function && token_is(t, "#") && i + 1 < m->n_body && param_index(m, t + 1) >= 0) {
            expand_emit(x, out, stringize(x, &args[param_index(m, t + 1)], call));
            i++;
        } else if (token_is(t, "##") && i > 0 && i + 1 < m->n_body && out->n > 0) {
            const struct token *next = &m->body[++i];
            int q = param_index(m, next);

            bool rest =
                q >= 0 && m->variadic && (size_t)q + 1 == m->n_params && token_is(&out->v[out->n - 1], ",");

            if (q < 0) {
                out->v[out->n - 1] = paste(x, &out->v[out->n - 1], next);
            } else if (rest) { /* `, ## __VA_ARGS__`: the comma goes when there is nothing */
                out->n -= args[q].n == 0;
                for (size_t k = 0; k < args[q].n; k++)
                    expand_emit(x, out, args[q].v[k]);
            } else if (args[q].n > 0) {
                out->v[out->n - 1] = paste(x, &out->v[out->n - 1], &args[q].v[0]);
                for (size_t k = 1; k < args[q].n; k++)
                    expand_emit(x, out, args[q].v[k]);
            }
        } else if (p >= 0) {
            bool pasted = i + 1 < m->n_body && token_is(t + 1, "##");

            if (!pasted && !done[p]) {
                expand(x, args[p].v, args[p].n, &expanded[p], depth + 1);
                done[p] = true;
            }
            for (size_t k = 0; k < (pasted ? args[p].n : expanded[p].n); k++)
                expand_emit(x, out, pasted ? args[p].v[k] : expanded[p].v[k]);
            if (pasted && args[p].n == 0)
                expand_emit(x, out, (struct token){.kind = TOK_PUNCT, .s = "", .at = call->at});
        } else {
            expand_emit(x, out, *t);
            placed(&vec_last(out), m, call);
        }
        if (out->n > from)
            out->v[from].space_before = t->space_before;
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        out->v[i].line_start = false;
        if (out->v[i].len) /* what stood for an empty argument of ## */
            out->v[kept++] = out->v[i];
    }
    out->n = kept;
}

struct macro *macro_find(struct expander *x, const struct token *t)
{
    struct macro *m = t->kind == TOK_WORD && !t->quiet ? map_get(&x->macros, token_text(x->arena, t)) : NULL;

    if (m && m->shaky)
        fail(x->unit, t,
             "%s is a macro of the compiler or of a header, too, which may change it; use another name",
             m->name);
    return m;
}

/* The arguments of a call whose `(` is next. False (and nothing read) when there is none. */
static bool read_args(struct stream *s, struct macro *m, struct tokens **args_out, const struct token *call)
{
    struct expander *x = s->x;
    const struct token *t = peek(s);
    struct tokens *args = arena_array(x->arena, struct tokens, m->n_params + 2);
    size_t n = 0;
    int depth = 0;

    if (!t || !token_is(t, "("))
        return false;
    for (;;) {
        t = peek(s);
        if (!t || t->kind == TOK_END)
            fail(x->unit, call, "the call of macro %s is not closed", m->name);
        vec_last(&s->stack).i++;
        if (token_is(t, "(")) {
            if (depth++ == 0)
                continue;
        } else if (token_is(t, ")")) {
            if (--depth == 0)
                break;
        } else if (token_is(t, ",") && depth == 1 && !(m->variadic && n + 1 >= m->n_params)) {
            if (++n > m->n_params)
                fail(x->unit, call, "macro %s takes %zu arguments, not more", m->name, m->n_params);
            continue;
        }
        vec_add(x->arena, &args[n], *t);
    }
    n += m->n_params > 0 || args[0].n > 0;
    if (n != m->n_params && !(m->variadic && n + 1 == m->n_params))
        fail(x->unit, call, "macro %s takes %zu arguments, not %zu", m->name, m->n_params, n);
    *args_out = args;
    return true;
}

static void expand_stream(struct stream *s, struct tokens *out, int depth)
{
    struct expander *x = s->x;
    const struct token *next;

    while ((next = peek(s))) {
        struct token t = *next;
        struct macro *m;
        struct tokens *args = NULL, body = {0};

        vec_last(&s->stack).i++;
        m = macro_find(x, &t);
        if (m && m->active) {
            t.quiet = true;
            m = NULL;
        }
        if (m && m->function && !read_args(s, m, &args, &t)) {
            if (s->more && !peek(s))
                fail(x->unit, &t, "a directive between the macro %s and its arguments", m->name);
            m = NULL;
        }
        if (!m) {
            expand_emit(x, out, t);
            continue;
        }
        if (depth >= MAX_EXPANSION_DEPTH || s->stack.n >= 4 * MAX_EXPANSION_DEPTH)
            fail(x->unit, &t, "macros nest deeper than %d levels", MAX_EXPANSION_DEPTH);
        substitute(x, m, args, &t, &body, depth);
        if (body.n)
            body.v[0].space_before = t.space_before;
        m->active = true;
        vec_add(x->arena, &s->stack, ((struct input){body.v, body.n, 0, m}));
    }
}

static void expand(struct expander *x, const struct token *v, size_t n, struct tokens *out, int depth)
{
    struct stream s = {.x = x};

    if (depth >= MAX_EXPANSION_DEPTH)
        fail(x->unit, n ? v : NULL, "macros nest deeper than %d levels", MAX_EXPANSION_DEPTH);
    vec_add(x->arena, &s.stack, ((struct input){v, n, 0, NULL}));
    expand_stream(&s, out, depth);
}

void expand_list(struct expander *x, const struct token *v, size_t n, struct tokens *out, bool more)
{
    struct stream s = {.x = x, .more = more};

    vec_add(x->arena, &s.stack, ((struct input){v, n, 0, NULL}));
    expand_stream(&s, out, 0);
}

/* _Pragma("unroll") means nothing to a launcher; one that could is refused. */
static void drop_pragmas(struct unit *u)
{
    static const char *const harmless[] = {"\"unroll", "\"nounroll", "\"nv_diag", "\"GCC diagnostic",
                                           "\"GCC unroll"};
    struct token *v = u->tokens.v;
    size_t kept = 0;

    for (size_t i = 0; i < u->tokens.n; i++) {
        bool known = false;

        if (!token_is(&v[i], "_Pragma")) {
            v[kept++] = v[i];
            continue;
        }
        if (i + 3 < u->tokens.n && token_is(&v[i + 1], "(") && v[i + 2].kind == TOK_STRING &&
            token_is(&v[i + 3], ")")) {
            for (size_t k = 0; k < ARRAY_LEN(harmless); k++)
                known |= strncmp(v[i + 2].s, harmless[k], MIN(strlen(harmless[k]), v[i + 2].len)) == 0;
        }
        if (!known)
            fail(u, &v[i], "this _Pragma is not understood; leave it out");
        i += 3;
    }
    u->tokens.n = kept;
}

/* What the task's flags define, as the compilers do it: before the file begins. */
static void define_flags(struct expander *x)
{
    struct unit *of = arena_new(x->arena, struct unit);
    const char *text = "";

    for (size_t i = 0; i < x->unit->n_flags; i++) {
        const char *flag = x->unit->flags[i], *value = strchr(flag, '=');

        if (!str_starts(flag, "-D"))
            continue;
        text = arena_printf(x->arena, "%s#define %.*s %s\n", text,
                            (int)(value ? value - flag - 2 : (long)strlen(flag) - 2), flag + 2,
                            value ? value + 1 : "1");
    }
    *of = (struct unit){
        .arena = x->arena, .path = "flags", .text = text, .len = strlen(text), .trap = x->unit->trap};
    lex_text(of);
    for (size_t i = 0; i < of->raw.n; i++) {
        of->raw.v[i].at = 0;
        of->raw.v[i].macro = "the flags";
        of->raw.v[i].foreign = true;
    }
    expand_raw(x, of->raw.v);
}

void macro_expand(struct unit *u)
{
    static const struct {
        const char *name, *value;
    } defined[] = {{"__cplusplus", "201703L"}, {"__linux__", "1"}, {"__x86_64__", "1"}};
    struct expander x = {.unit = u, .arena = u->arena};
    struct trap trap = {.up = u->trap};

    u->trap = &trap;
    if (setjmp(trap.jump)) {
        map_free(&x.macros);
        map_free(&x.differ);
        u->trap = trap.up;
        u->trap->err = trap.err;
        longjmp(u->trap->jump, 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(defined); i++) {
        struct macro *m = arena_new(u->arena, struct macro);
        struct token *t = arena_new(u->arena, struct token);

        *t = (struct token){
            .kind = TOK_NUMBER, .s = defined[i].value, .len = (uint32_t)strlen(defined[i].value)};
        *m = (struct macro){.name = defined[i].name, .body = t, .n_body = 1, .predefined = true};
        map_put(&x.macros, m->name, m);
    }
    if (u->n_flags)
        define_flags(&x);
    expand_raw(&x, u->raw.v);
    drop_pragmas(u);
    vec_add(u->arena, &u->tokens, vec_last(&u->raw));
    u->trap = trap.up;
    map_free(&x.macros);
    map_free(&x.differ);
}
