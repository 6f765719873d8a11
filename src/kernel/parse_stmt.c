/* Statements. One that is not understood becomes ST_BAD, which raises its error when it is reached: a
 * launcher's refusals (throw, logging, abort) need no meaning as long as no workload gets there. */
#include "kernel/internal.h"

static struct stmt *statement(struct parser *p);

static struct stmt *node(struct parser *p, enum stmt_kind kind)
{
    struct stmt *s = arena_new(p->arena, struct stmt);

    s->kind = kind;
    s->at = p->t;
    return s;
}

/* One that begins with the word at p->t, behind which p is then. */
static struct stmt *node_here(struct parser *p, enum stmt_kind kind)
{
    struct stmt *s = node(p, kind);

    p->t++;
    return s;
}

/* auto [a, b], auto &[a, b] */
static bool parse_parts(struct parser *p, struct type_node *base, struct declarator *d)
{
    const bool reference = parse_is(p, "&") || parse_is(p, "&&");
    VEC(const char *) parts = {0};

    if (base->kind != TN_AUTO || !token_is(p->t + reference, "["))
        return false;
    if (d->is_static || d->is_constexpr)
        fail(p->unit, p->t, "a static or constexpr structured binding; leave the word out");
    d->at = p->t;
    d->type = base;
    if (reference) {
        d->type = arena_new(p->arena, struct type_node);
        *d->type =
            (struct type_node){.kind = TN_REFERENCE, .at = p->t, .to = base, .rvalue = parse_is(p, "&&")};
        p->t++;
    }
    p->t++;
    do {
        vec_add(p->arena, &parts, parse_word(p));
        parse_declare_variable(p, vec_last(&parts));
    } while (parse_take(p, ","));
    parse_expect(p, "]");
    d->name = "parts#"; /* a name that no program can say */
    d->parts = parts.v;
    d->n_parts = parts.n;
    return true;
}

struct declarator *parse_declarators(struct parser *p, struct type_node *base, const struct specifiers *s,
                                     size_t *n)
{
    VEC(struct declarator) list = {0};

    do {
        struct declarator d = {.is_static = s->is_static, .is_constexpr = s->is_constexpr};

        if (!parse_parts(p, base, &d))
            d.type = parse_declarator(p, base, &d.name, &d.at, NULL);
        if (!*d.name)
            parse_fail(p, "a name to declare");
        parse_declare_variable(p, d.name);
        /* const int *p may point elsewhere; int *const p and const int i may not change */
        d.constant = s->is_constexpr || d.type->constant;
        for (struct type_node *t = d.type; t->kind == TN_ARRAY; t = t->to)
            d.constant |= t->to->constant;
        if (parse_take(p, "=")) {
            d.assigned = true;
            d.init = parse_is(p, "{") ? parse_braces(p) : parse_assignment(p);
        } else if (parse_is(p, "{")) {
            d.init = parse_braces(p);
        } else if (parse_is(p, "(")) {
            d.init = parse_parentheses(p);
        }
        vec_add(p->arena, &list, d);
    } while (parse_take(p, ","));
    *n = list.n;
    return list.v;
}

static struct stmt *declaration(struct parser *p)
{
    struct stmt *s = node(p, ST_DECL);
    struct specifiers spec = {0};
    struct type_node *base = parse_specifiers(p, &spec);

    if (spec.is_thread_local)
        fail(p->unit, s->at, "thread_local is not understood; a launcher keeps no state");
    s->decls = parse_declarators(p, base, &spec, &s->n_decls);
    return s;
}

/* The enumerator behind `before`, or the first one: {before + 1} or {}. */
static struct expr *next_enumerator(struct parser *p, const struct declarator *before)
{
    struct expr *list = arena_new(p->arena, struct expr), *sum = arena_new(p->arena, struct expr),
                *name = arena_new(p->arena, struct expr), *one = arena_new(p->arena, struct expr);
    struct value *v = arena_new(p->arena, struct value);

    *v = value_int(type_int, 1);
    *list = (struct expr){.kind = EX_INIT, .at = p->t, .braces = true};
    if (before) {
        *one = (struct expr){.kind = EX_NUMBER, .at = p->t, .number = v};
        *name = (struct expr){.kind = EX_NAME, .at = p->t, .name = before->name, .scope = p->scope};
        *sum = (struct expr){.kind = EX_BINARY, .op = OP_ADD, .at = p->t, .a = name, .b = one};
        list->args = arena_copy(p->arena, &sum, sizeof(sum));
        list->n_args = 1;
    }
    return list;
}

/* enum { A, B = 4 } in a function: constants of the type behind the colon, or of int. */
static struct stmt *own_enumeration(struct parser *p)
{
    struct stmt *s = node(p, ST_DECL);
    struct type_node *type = arena_new(p->arena, struct type_node);
    VEC(struct declarator) list = {0};

    p->t++;
    if (!parse_is(p, "{") && !parse_is(p, ":"))
        fail(p->unit, s->at, "an enumeration with a name in a function; declare it outside of functions");
    *type = (struct type_node){.kind = TN_NAME, .at = p->t, .name = "int", .scope = p->scope};
    if (parse_take(p, ":"))
        type = parse_specifiers(p, &(struct specifiers){0});
    parse_expect(p, "{");
    while (!parse_is(p, "}")) {
        struct declarator d = {.at = p->t, .type = type, .is_constexpr = true, .constant = true};

        d.name = parse_word(p);
        d.init = next_enumerator(p, list.n ? &vec_last(&list) : NULL);
        if (parse_take(p, "=")) {
            d.init->n_args = 1;
            d.init->args = arena_array(p->arena, struct expr *, 1);
            d.init->args[0] = parse_conditional(p);
        }
        parse_declare_variable(p, d.name);
        vec_add(p->arena, &list, d);
        if (!parse_take(p, ","))
            break;
    }
    parse_expect(p, "}");
    s->decls = list.v;
    s->n_decls = list.n;
    return s;
}

/* `using a::name;` in a function hides other functions of that name. */
static void refuse_own_using(struct parser *p)
{
    const struct token *t = p->t + token_is(p->t, "::");
    const char *scope;

    if (scope_known(p->unit, p->scope, arena_printf(p->arena, "%.*s::", (int)t->len, t->s), false, &scope))
        parse_fail(
            p, "a namespace that is not this file's (write `using` outside of functions, or the whole name)");
}

static struct stmt *type_declaration(struct parser *p)
{
    struct stmt *s = node(p, ST_TYPE);

    if (parse_take(p, "using")) {
        if (parse_is(p, "namespace") || !token_is(p->t + 1, "=")) {
            if (parse_is(p, "namespace"))
                using_add(p, p->scope);
            else
                refuse_own_using(p);
            while (!parse_is(p, ";") && p->t->kind != TOK_END)
                p->t++;
            s->kind = ST_EMPTY;
            return s;
        }
        s->name = parse_word(p);
        parse_expect(p, "=");
        s->type = parse_type_id(p);
    } else {
        struct specifiers spec = {0};
        const struct token *at;

        parse_expect(p, "typedef");
        s->type = parse_specifiers(p, &spec);
        s->type = parse_declarator(p, s->type, &s->name, &at, NULL);
    }
    parse_declare_type(p, s->name);
    return s;
}

static struct stmt *for_statement(struct parser *p)
{
    struct stmt *s = node_here(p, ST_FOR);

    parse_expect(p, "(");
    if (!parse_is(p, ";")) {
        parse_statement_attributes(p);
        s->init = node(p, ST_EXPR);
        if (parse_at_type(p))
            s->init = declaration(p);
        else
            s->init->cond = parse_expr(p);
    }
    if (parse_is(p, ":")) {
        if (!s->init || s->init->kind != ST_DECL || s->init->n_decls != 1 || s->init->decls->init)
            parse_fail(p, "`;`");
        s->kind = ST_RANGE;
        s->decls = s->init->decls;
        p->t++;
        s->cond = parse_is(p, "{") ? parse_braces(p) : parse_expr(p);
        parse_expect(p, ")");
        s->a = statement(p);
        return s;
    }
    parse_expect(p, ";");
    s->cond = parse_is(p, ";") ? NULL : parse_expr(p);
    parse_expect(p, ";");
    s->step = parse_is(p, ")") ? NULL : parse_expr(p);
    parse_expect(p, ")");
    s->a = statement(p);
    return s;
}

static struct stmt *if_or_switch(struct parser *p)
{
    struct stmt *s = node_here(p, parse_is(p, "if") ? ST_IF : ST_SWITCH);

    parse_take(p, "constexpr");
    parse_expect(p, "(");
    if (parse_at_type(p)) {
        const struct token *start = p->t;
        struct trap trap = {.up = p->unit->trap};

        /* `if (int x = f(); x > 0)` or a cast such as `if (int(x) > 0)`: try the first, else take the second.
         */
        p->unit->trap = &trap;
        if (setjmp(trap.jump) == 0)
            s->init = declaration(p);
        p->unit->trap = trap.up;
        if (!s->init || !parse_is(p, ";")) {
            if (s->init && parse_is(p, ")")) { /* its value is the condition */
                if (s->init->n_decls != 1 || !s->init->decls->init || s->init->decls->n_parts)
                    fail(p->unit, start, "a condition that declares more than one variable with a value");
                s->cond = arena_new(p->arena, struct expr);
                *s->cond =
                    (struct expr){.kind = EX_NAME, .at = p->t, .name = s->init->decls->name, .scope = p->scope};
            } else {
                s->init = NULL;
                p->t = start;
            }
        } else {
            p->t++;
        }
    }
    if (!s->cond)
        s->cond = parse_expr(p);
    if (!s->init && parse_is(p, ";")) {
        s->init = node(p, ST_EXPR);
        s->init->cond = s->cond;
        p->t++;
        s->cond = parse_expr(p);
    }
    parse_expect(p, ")");
    s->a = statement(p);
    if (s->kind == ST_IF && parse_take(p, "else"))
        s->b = statement(p);
    return s;
}

/* What begins no statement of the language, with better words than the expression's parser has. */
static void refuse_unknown(struct parser *p)
{
    const struct token *t = p->t;
    int len;

    if (token_in(t, "goto|try|asm|throw|delete|struct|operator"))
        fail(
            p->unit, t,
            "%.*s is not understood; allowed are declarations, assignments, calls, launches, if, switch, loops and "
            "return (launchers do not throw)",
            (int)t->len, t->s);
    /* `Foo x` and `ns::foo<int> x` with a Foo that nobody declared */
    while (t->kind == TOK_WORD && token_is(t + 1, "::"))
        t += 2;
    len = (int)MIN((size_t)(t->s - p->t->s) + t->len, 80);
    if (p->t->macro)
        len = (int)MIN(t->len, 80);
    if (t->kind == TOK_WORD && !token_is(t, "sizeof") && !token_is(t, "new") &&
        (t[1].kind == TOK_WORD || (token_is(t + 1, "<") && t[2].kind == TOK_WORD && t[3].kind == TOK_PUNCT &&
                                   token_is(t + 3, ">") && t[4].kind == TOK_WORD)))
        fail(p->unit, p->t, "the type %.*s is not known; declare it in this file or use a built-in one", len,
             p->t->macro ? t->s : p->t->s);
}

static struct stmt *simple(struct parser *p)
{
    struct stmt *s;

    parse_statement_attributes(p);
    if (parse_is(p, "{"))
        return parse_block(p);
    if (parse_is(p, "if") || parse_is(p, "switch"))
        return if_or_switch(p);
    if (parse_is(p, "for"))
        return for_statement(p);
    if (parse_is(p, "while")) {
        s = node_here(p, ST_WHILE);
        parse_expect(p, "(");
        s->cond = parse_expr(p);
        parse_expect(p, ")");
        s->a = statement(p);
        return s;
    }
    if (parse_is(p, "case")) {
        s = node_here(p, ST_CASE);
        s->cond = parse_conditional(p);
        parse_expect(p, ":");
        return s;
    }
    if (parse_is(p, "default")) {
        s = node_here(p, ST_DEFAULT);
        parse_expect(p, ":");
        return s;
    }
    if (p->t->kind == TOK_WORD && token_is(p->t + 1, ":") && !parse_is(p, "enum")) { /* a label */
        p->t += 2;
        return statement(p);
    }
    if (parse_is(p, "do")) {
        s = node_here(p, ST_DO);
        s->a = statement(p);
        parse_expect(p, "while");
        parse_expect(p, "(");
        s->cond = parse_expr(p);
        parse_expect(p, ")");
    } else if (parse_is(p, "return")) {
        s = node_here(p, ST_RETURN);
        if (!parse_is(p, ";"))
            s->cond = parse_is(p, "{") ? parse_braces(p) : parse_expr(p);
    } else if (parse_is(p, "break") || parse_is(p, "continue")) {
        s = node_here(p, parse_is(p, "break") ? ST_BREAK : ST_CONTINUE);
    } else if (parse_is(p, "using") || parse_is(p, "typedef")) {
        s = type_declaration(p);
    } else if (parse_is(p, "enum") && !(p->t[1].kind == TOK_WORD && p->t[2].kind == TOK_WORD)) {
        s = own_enumeration(p);
    } else if (parse_is(p, "static_assert")) {
        s = node_here(p, ST_EMPTY); /* the compiler's */
        parse_skip_balanced(p);
    } else if (parse_is(p, ";")) {
        s = node(p, ST_EMPTY);
    } else if (parse_at_type(p)) {
        struct parser ahead = *p;

        /* T(x); and T{}.f(); are expressions, T x(1); is a declaration */
        parse_specifiers(&ahead, &(struct specifiers){0});
        if ((parse_is(&ahead, "(") || parse_is(&ahead, "{")) && !token_is(ahead.t + 1, "*") &&
            !token_is(ahead.t + 1, "&")) {
            s = node(p, ST_EXPR);
            s->cond = parse_expr(p);
        } else {
            s = declaration(p);
        }
    } else {
        s = node(p, ST_EXPR);
        refuse_unknown(p);
        s->cond = parse_expr(p);
    }
    parse_expect(p, ";");
    return s;
}

/* Behind the statement that starts at p->t: its `;` or `}`, brackets balanced. */
static void skip_statement(struct parser *p)
{
    while (p->t->kind != TOK_END && !parse_is(p, "}")) {
        if (parse_take(p, ";"))
            return;
        if (parse_is(p, "{")) {
            parse_skip_balanced(p);
            if (parse_is(p, "else") || parse_is(p, "catch") || parse_is(p, "while") || parse_is(p, ";") ||
                parse_is(p, ")") || parse_is(p, ","))
                continue;
            return;
        }
        parse_skip_balanced(p);
    }
}

static struct stmt *statement(struct parser *p)
{
    const struct token *const start = p->t;
    const int depth = p->depth, no_greater = p->no_greater;
    const size_t n_usings = p->unit->usings.n;
    struct trap trap = {.up = p->unit->trap};
    struct stmt *s;

    parse_enter(p);
    if (parse_is(p, "{")) {
        s = parse_block(p);
        p->depth = depth;
        return s;
    }
    p->unit->trap = &trap;
    if (setjmp(trap.jump) == 0) {
        s = simple(p);
        p->unit->trap = trap.up;
        p->depth = depth;
        return s;
    }
    p->unit->trap = trap.up;
    p->depth = depth;
    p->no_greater = no_greater;
    p->angle = 0;
    p->t = start;
    s = node(p, ST_BAD);
    s->err = arena_copy(p->arena, &trap.err, sizeof(trap.err));
    skip_statement(p);
    for (size_t i = n_usings; i < p->unit->usings.n; i++)
        p->unit->usings.v[i].until = start;
    for (const struct token *t = start; t < p->t; t++)
        s->has_case |= token_is(t, "case") || token_is(t, "default");
    return s;
}

struct stmt *parse_block(struct parser *p)
{
    struct stmt *block = node(p, ST_BLOCK);
    VEC(struct stmt *) body = {0};
    size_t n_names = p->names.n, n_usings = p->unit->usings.n;

    parse_enter(p);
    parse_expect(p, "{");
    while (!parse_is(p, "}")) {
        const struct token *start = p->t;

        if (p->t->kind == TOK_END)
            parse_fail(p, "`}`");
        vec_add(p->arena, &body, statement(p));
        if (p->t == start)
            parse_fail(p, "a statement");
    }
    for (size_t i = n_usings; i < p->unit->usings.n; i++)
        p->unit->usings.v[i].until = p->t;
    p->t++;
    p->depth--;
    p->names.n = n_names;
    block->body = body.v;
    block->n_body = body.n;
    return block;
}

struct stmt *parse_function_body(struct unit *u, struct arena *a, const struct func *f)
{
    struct parser p = {.unit = u, .arena = a, .scope = f->scope, .t = u->tokens.v + f->body};

    for (size_t i = 0; f->owner && i < f->owner->n_tparams; i++) {
        if (f->owner->tparams[i].is_type)
            parse_declare_type(&p, f->owner->tparams[i].name);
    }
    for (size_t i = 0; f->owner && i < f->owner->n_types; i++)
        parse_declare_type(&p, f->owner->types[i].name);
    for (size_t i = 0; i < f->n_tparams; i++) {
        if (f->tparams[i].is_type)
            parse_declare_type(&p, f->tparams[i].name);
    }
    for (size_t i = 0; i < f->n_params; i++)
        parse_declare_variable(&p, f->params[i].name);
    return parse_block(&p);
}
