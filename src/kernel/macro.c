/* The preprocessor: conditionals, object- and function-like macros, # and ##. Included files are not read; what
 * the launcher needs of the toolkit's headers is known (builtin.c, runtime.c).
 *
 * Expansion works on a stack of token lists: a macro's replacement is pushed and its name is blocked until that
 * list has been read to its end, which is when a recursive use must stay as it is. */
#include "kernel/internal.h"

struct macro {
    const char *name;
    bool function, variadic, active;
    const char **params;
    size_t n_params;
    const struct token *body;
    size_t n_body;
};

struct input {
    const struct token *v;
    size_t n, i;
    struct macro *macro;
};

struct condition {
    bool taken, active, outer, else_seen; /* taken: some branch was; active: this one is */
    const struct token *at;
};

struct expander {
    struct unit *unit;
    struct arena *arena;
    struct map macros;
    VEC(struct condition) conditions;
    size_t produced;
    int include_depth;
};

struct stream {
    struct expander *x;
    VEC(struct input) stack;
};

enum { MAX_EXPANSION_DEPTH = 60 };

static void expand_list(struct expander *x, const struct token *v, size_t n, struct tokens *out, int depth);

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

static void emit(struct expander *x, struct tokens *out, struct token t)
{
    if (out->n >= MAX_TOKENS || ++x->produced > 4 * (size_t)MAX_TOKENS)
        fail(x->unit, &t, "the macros expand to more than %d words and signs", MAX_TOKENS);
    vec_add(x->arena, out, t);
}

static struct token paste(struct expander *x, const struct token *a, const struct token *b)
{
    struct token t = *a;

    t.s = arena_printf(x->arena, "%.*s%.*s", (int)a->len, a->s, (int)b->len, b->s);
    t.len = a->len + b->len;
    if (a->kind == TOK_WORD || a->kind == TOK_NUMBER)
        t.kind = a->kind;
    else if (a->len == 0)
        t.kind = b->kind;
    t.quiet = false;
    if (t.len > 4096)
        fail(x->unit, a, "## makes a word of %u bytes", t.len);
    return t;
}

static struct token stringize(struct expander *x, const struct tokens *arg, const struct token *at)
{
    struct token t = *at;
    struct str s = {0};

    str_addc(&s, '"');
    for (size_t i = 0; i < arg->n && s.len < 65536; i++) {
        if (i && arg->v[i].space_before)
            str_addc(&s, ' ');
        for (uint32_t c = 0; c < arg->v[i].len; c++) {
            if (arg->v[i].s[c] == '"' || (arg->v[i].s[c] == '\\' && arg->v[i].kind == TOK_STRING))
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
            emit(x, out, stringize(x, &args[param_index(m, t + 1)], call));
            i++;
        } else if (token_is(t, "##") && i > 0 && i + 1 < m->n_body && out->n > 0) {
            const struct token *next = &m->body[++i];
            int q = param_index(m, next);

            if (q < 0) {
                out->v[out->n - 1] = paste(x, &out->v[out->n - 1], next);
            } else if (args[q].n > 0) {
                out->v[out->n - 1] = paste(x, &out->v[out->n - 1], &args[q].v[0]);
                for (size_t k = 1; k < args[q].n; k++)
                    emit(x, out, args[q].v[k]);
            } else if (token_is(&out->v[out->n - 1], ",")) {
                out->n--; /* `, ## __VA_ARGS__` with nothing */
            }
        } else if (p >= 0) {
            bool pasted = i + 1 < m->n_body && token_is(t + 1, "##");

            if (!pasted && !done[p]) {
                expand_list(x, args[p].v, args[p].n, &expanded[p], depth + 1);
                done[p] = true;
            }
            for (size_t k = 0; k < (pasted ? args[p].n : expanded[p].n); k++)
                emit(x, out, pasted ? args[p].v[k] : expanded[p].v[k]);
            if (pasted && args[p].n == 0)
                emit(x, out, (struct token){.kind = TOK_PUNCT, .s = "", .at = call->at});
        } else {
            emit(x, out, *t);
            placed(&vec_last(out), m, call);
        }
        if (out->n > from)
            out->v[from].space_before = t->space_before;
    }
    for (size_t i = 0; i < out->n; i++)
        out->v[i].line_start = false;
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
        if (token_is(t, "(") || token_is(t, "[") || token_is(t, "{")) {
            if (depth++ == 0)
                continue;
        } else if (token_is(t, ")") || token_is(t, "]") || token_is(t, "}")) {
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
        struct macro *m = NULL;
        struct tokens *args = NULL, body = {0};

        vec_last(&s->stack).i++;
        if (t.kind == TOK_WORD && !t.quiet)
            m = map_get(&x->macros, token_text(x->arena, &t));
        if (m && m->active) {
            t.quiet = true;
            m = NULL;
        }
        if (!m || (m->function && !read_args(s, m, &args, &t))) {
            emit(x, out, t);
            continue;
        }
        if (depth >= MAX_EXPANSION_DEPTH || s->stack.n >= 4 * MAX_EXPANSION_DEPTH)
            fail(x->unit, &t, "macros nest deeper than %d levels", MAX_EXPANSION_DEPTH);
        substitute(x, m, args, &t, &body, depth);
        if (body.n)
            body.v[0].space_before = t.space_before;
        peek(s); /* drop what is read out before pushing, so that tail calls do not pile up */
        m->active = true;
        vec_add(x->arena, &s->stack, ((struct input){body.v, body.n, 0, m}));
    }
}

static void expand_list(struct expander *x, const struct token *v, size_t n, struct tokens *out, int depth)
{
    struct stream s = {.x = x};

    if (depth >= MAX_EXPANSION_DEPTH)
        fail(x->unit, n ? v : NULL, "macros nest deeper than %d levels", MAX_EXPANSION_DEPTH);
    vec_add(x->arena, &s.stack, ((struct input){v, n, 0, NULL}));
    expand_stream(&s, out, depth);
}

/* ---- #if */

struct condition_parser {
    struct expander *x;
    const struct token *t, *end, *at;
    int depth;
};

static bool cond_take(struct condition_parser *p, const char *s)
{
    if (p->t < p->end && token_is(p->t, s)) {
        p->t++;
        return true;
    }
    return false;
}

static int64_t cond_binary(struct condition_parser *p, int level);

static int64_t cond_unary(struct condition_parser *p)
{
    struct value v;
    int64_t i;

    if (++p->depth > MAX_PARSE_DEPTH)
        fail(p->x->unit, p->at, "the condition nests too deeply");
    if (cond_take(p, "!")) {
        i = !cond_unary(p);
    } else if (cond_take(p, "-")) {
        i = (int64_t)(0 - (uint64_t)cond_unary(p));
    } else if (cond_take(p, "+")) {
        i = cond_unary(p);
    } else if (cond_take(p, "~")) {
        i = ~cond_unary(p);
    } else if (cond_take(p, "(")) {
        i = cond_binary(p, 0);
        if (!cond_take(p, ")"))
            fail(p->x->unit, p->at, "the condition lacks a `)`");
    } else if (p->t < p->end && p->t->kind == TOK_NUMBER && number_parse(p->t->s, p->t->len, &v) &&
               type_is_integer(v.type)) {
        p->t++;
        i = v.i;
    } else if (p->t < p->end && p->t->kind == TOK_CHAR && char_parse(p->t->s, p->t->len, &i)) {
        p->t++;
    } else if (p->t < p->end && p->t->kind == TOK_WORD) {
        i = token_is(p->t, "true");
        p->t++;
        if (cond_take(p, "(")) /* __has_include(...) and other questions: no */
            while (p->t < p->end && !cond_take(p, ")"))
                p->t++;
    } else {
        fail(p->x->unit, p->at, "the condition of this directive is not understood");
    }
    p->depth--;
    return i;
}

static int64_t cond_apply(struct condition_parser *p, const char *op, int64_t a, int64_t b)
{
    switch (op[0]) {
    case '*':
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case '+':
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case '-':
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case '/':
    case '%':
        if (b == 0 || (a == INT64_MIN && b == -1))
            fail(p->x->unit, p->at, "division by zero in the condition");
        return op[0] == '/' ? a / b : a % b;
    case '<':
        return op[1] == '<' ? (int64_t)((uint64_t)a << (b & 63)) : op[1] ? a <= b : a < b;
    case '>':
        return op[1] == '>' ? a >> (b & 63) : op[1] ? a >= b : a > b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '&':
        return op[1] ? a && b : (a & b);
    case '|':
        return op[1] ? a || b : (a | b);
    default:
        return a ^ b;
    }
}

static int64_t cond_binary(struct condition_parser *p, int level)
{
    static const char *const levels[][5] = {
        {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
    };
    int64_t a;

    if (level == (int)ARRAY_LEN(levels))
        return cond_unary(p);
    if (++p->depth > 10 * MAX_PARSE_DEPTH)
        fail(p->x->unit, p->at, "the condition nests too deeply");
    a = cond_binary(p, level + 1);
    for (int i = 0; i < 5 && levels[level][i]; i++) {
        if (cond_take(p, levels[level][i])) {
            a = cond_apply(p, levels[level][i], a, cond_binary(p, level + 1));
            i = -1;
        }
    }
    if (level == 0 && cond_take(p, "?")) {
        int64_t b = cond_binary(p, 0), c;

        if (!cond_take(p, ":"))
            fail(p->x->unit, p->at, "the condition lacks a `:`");
        c = cond_binary(p, 0);
        a = a ? b : c;
    }
    p->depth--;
    return a;
}

static bool condition_value(struct expander *x, const struct token *v, size_t n, const struct token *at)
{
    static const struct token zero = {.kind = TOK_NUMBER, .s = "0", .len = 1};
    static const struct token one = {.kind = TOK_NUMBER, .s = "1", .len = 1};
    struct tokens asked = {0}, expanded = {0};
    struct condition_parser p = {.x = x, .at = at};
    int64_t value;

    for (size_t i = 0; i < n; i++) {
        bool bracket;

        if (!token_is(&v[i], "defined")) {
            emit(x, &asked, v[i]);
            continue;
        }
        bracket = i + 1 < n && token_is(&v[i + 1], "(");
        i += bracket ? 2 : 1;
        if (i >= n)
            fail(x->unit, at, "`defined` without a name");
        emit(x, &asked, map_get(&x->macros, token_text(x->arena, &v[i])) ? one : zero);
        i += bracket;
    }
    expand_list(x, asked.v, asked.n, &expanded, 0);
    p.t = expanded.v;
    p.end = expanded.v + expanded.n;
    value = cond_binary(&p, 0);
    if (p.t != p.end)
        fail(x->unit, at, "the condition of this directive is not understood");
    return value != 0;
}

/* ---- directives */

static void define(struct expander *x, const struct token *v, size_t n)
{
    struct macro *m = arena_new(x->arena, struct macro);
    VEC(const char *) params = {0};
    size_t i = 1;

    if (n == 0 || v[0].kind != TOK_WORD)
        fail(x->unit, n ? v : NULL, "#define without a name");
    m->name = token_text(x->arena, &v[0]);
    if (n > 1 && token_is(&v[1], "(") && !v[1].space_before) {
        m->function = true;
        for (i = 2; i < n && !token_is(&v[i], ")"); i++) {
            if (token_is(&v[i], "...")) {
                m->variadic = true;
                vec_add(x->arena, &params, "__VA_ARGS__");
            } else if (v[i].kind == TOK_WORD) {
                vec_add(x->arena, &params, token_text(x->arena, &v[i]));
            } else if (!token_is(&v[i], ",")) {
                fail(x->unit, &v[i], "the parameters of macro %s are not understood", m->name);
            }
        }
        i++;
    }
    m->params = params.v;
    m->n_params = params.n;
    m->body = v + MIN(i, n);
    m->n_body = n - MIN(i, n);
    map_put(&x->macros, m->name, m);
}

static void conditional(struct expander *x, const struct token *name, const struct token *v, size_t n,
                        bool active)
{
    bool is_if = token_is(name, "if"), is_ifdef = token_is(name, "ifdef"), is_ifndef = token_is(name, "ifndef");

    if (is_if || is_ifdef || is_ifndef) {
        bool yes = false;

        if (active && is_if)
            yes = condition_value(x, v, n, name);
        else if (active && n > 0)
            yes = !!map_get(&x->macros, token_text(x->arena, v)) == is_ifdef;
        vec_add(x->arena, &x->conditions, ((struct condition){yes, active && yes, active, false, name}));
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
    }
}

static bool is_active(const struct expander *x)
{
    return x->conditions.n == 0 || vec_last(&x->conditions).active;
}

static void expand_raw(struct expander *x, struct token *v);

static const struct kernel_header *find_header(const struct unit *u, const struct token *t)
{
    const char *name = t->s + 1;
    size_t len = t->len - 2;

    if (t->kind != TOK_STRING || t->len < 3)
        return NULL;
    for (size_t i = 0; i < u->n_headers; i++) {
        const char *own = u->headers[i].name;
        size_t n = strlen(own);

        if (n >= len && memcmp(own + n - len, name, len) == 0 && (n == len || own[n - len - 1] == '/'))
            return &u->headers[i];
    }
    return NULL;
}

/* A header's tokens count as standing where it is included. */
static void include(struct expander *x, const struct token *at, const struct token *name)
{
    const struct kernel_header *h = find_header(x->unit, name);
    struct unit *u;

    if (!h)
        return;
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
    }
    x->include_depth++;
    expand_raw(x, u->raw.v);
    x->include_depth--;
}

static void directive(struct expander *x, const struct token *v, size_t n)
{
    static const char *const conditionals[] = {"if", "ifdef", "ifndef", "elif", "else", "endif"};
    const struct token *name = v;

    if (n == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(conditionals); i++) {
        if (token_is(name, conditionals[i])) {
            conditional(x, name, v + 1, n - 1, is_active(x));
            return;
        }
    }
    if (!is_active(x))
        return;
    if (token_is(name, "define")) {
        define(x, v + 1, n - 1);
    } else if (token_is(name, "include") && n > 1) {
        include(x, name, &v[1]);
    } else if (token_is(name, "undef") && n > 1) {
        char *key = token_text(x->arena, &v[1]);

        if (map_has(&x->macros, key))
            map_put(&x->macros, key, NULL);
    } else if (token_is(name, "error")) {
        fail(x->unit, name, "#error is reached");
    }
    /* #pragma, #line: nothing the launcher needs */
}

static void expand_raw(struct expander *x, struct token *v)
{
    struct unit *u = x->unit;
    size_t open = x->conditions.n, i = 0;

    while (v[i].kind != TOK_END) {
        size_t end = i + 1;

        if (token_is(&v[i], "#") && v[i].line_start) {
            while (!v[end].line_start)
                end++;
            directive(x, v + i + 1, end - i - 1);
            i = end;
            continue;
        }
        /* A run of lines without directives at once: macro calls may span lines. */
        while (v[end].kind != TOK_END && !(token_is(&v[end], "#") && v[end].line_start))
            end++;
        for (size_t k = i; k < end; k++)
            v[k].inactive = !is_active(x);
        if (is_active(x))
            expand_list(x, v + i, end - i, &u->tokens, 0);
        i = end;
    }
    if (x->conditions.n > open)
        fail(u, vec_last(&x->conditions).at, "this #if is not closed");
}

void macro_expand(struct unit *u)
{
    static const struct {
        const char *name, *value;
    } defined[] = {{"__cplusplus", "201703L"}, {"__CUDA__", "1"}, {"__linux__", "1"}, {"__x86_64__", "1"}};
    struct expander x = {.unit = u, .arena = u->arena};
    struct trap trap = {.up = u->trap};

    u->trap = &trap;
    if (setjmp(trap.jump)) {
        map_free(&x.macros);
        u->trap = trap.up;
        u->trap->err = trap.err;
        longjmp(u->trap->jump, 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(defined); i++) {
        struct macro *m = arena_new(u->arena, struct macro);
        struct token *t = arena_new(u->arena, struct token);

        *t = (struct token){
            .kind = TOK_NUMBER, .s = defined[i].value, .len = (uint32_t)strlen(defined[i].value)};
        *m = (struct macro){.name = defined[i].name, .body = t, .n_body = 1};
        map_put(&x.macros, m->name, m);
    }
    expand_raw(&x, u->raw.v);
    vec_add(u->arena, &u->tokens, vec_last(&u->raw));
    u->trap = trap.up;
    map_free(&x.macros);
}
