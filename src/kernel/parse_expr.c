/* Expressions, by precedence climbing. */
#include "kernel/internal.h"

static struct expr *node(struct parser *p, enum expr_kind kind)
{
    struct expr *e = arena_new(p->arena, struct expr);

    e->kind = kind;
    e->at = p->t;
    p->effects += kind == EX_ASSIGN || kind == EX_POSTFIX || kind == EX_CALL || kind == EX_LAUNCH;
    return e;
}

/* One that begins with the word or sign at p->t, behind which p is then. */
static struct expr *node_here(struct parser *p, enum expr_kind kind)
{
    struct expr *e = node(p, kind);

    p->t++;
    return e;
}

static struct expr **arguments(struct parser *p, const char *close, size_t *n, const char ***fields)
{
    VEC(struct expr *) args = {0};
    VEC(const char *) named = {0};
    bool any = false;
    int no_greater = p->no_greater;

    p->no_greater = 0;
    while (!parse_is(p, close)) {
        const char *field = NULL;

        if (parse_take(p, ".")) { /* .x = designators */
            field = parse_word(p);
            any = true;
            parse_expect(p, "=");
        }
        vec_add(p->arena, &named, field);
        vec_add(p->arena, &args, parse_is(p, "{") ? parse_braces(p) : parse_assignment(p));
        if (parse_is(p, "...")) {
            struct expr *e = node_here(p, EX_EXPAND);

            e->a = args.v[args.n - 1];
            args.v[args.n - 1] = e;
        }
        if (!parse_take(p, ","))
            break;
    }
    parse_expect(p, close);
    p->no_greater = no_greater;
    if (any && fields)
        *fields = named.v;
    else if (any)
        parse_fail(p, "an argument without the name of a member");
    *n = args.n;
    return args.v;
}

struct expr *parse_braces(struct parser *p)
{
    struct expr *e = node(p, EX_INIT);

    parse_enter(p);
    e->braces = true;
    parse_expect(p, "{");
    e->args = arguments(p, "}", &e->n_args, &e->fields);
    p->depth--;
    return e;
}

struct expr *parse_parentheses(struct parser *p)
{
    struct expr *e = arena_new(p->arena, struct expr);
    const size_t effects = p->effects;

    *e = (struct expr){.kind = EX_INIT, .at = p->t};
    parse_expect(p, "(");
    e->args = arguments(p, ")", &e->n_args, NULL);
    e->risky = p->effects > effects;
    return e;
}

/* [&], [=], [a, &b, n = a + b] */
static void captures(struct parser *p, struct func *f)
{
    VEC(struct capture) list = {0};

    parse_expect(p, "[");
    while (!parse_is(p, "]")) {
        struct capture c = {.at = p->t};

        if (parse_take(p, "=")) {
            c.copy = true;
        } else if (!(parse_take(p, "&") && (parse_is(p, ",") || parse_is(p, "]")))) {
            c.copy = !token_is(p->t - 1, "&");
            c.name = parse_word(p);
            if (parse_take(p, "="))
                c.init = parse_assignment(p);
        }
        vec_add(p->arena, &list, c);
        if (!parse_take(p, ","))
            break;
    }
    parse_expect(p, "]");
    f->captures = list.v;
    f->n_captures = list.n;
}

static struct expr *lambda(struct parser *p)
{
    struct expr *e = node(p, EX_LAMBDA);
    struct func *f = arena_new(p->arena, struct func);
    struct specifiers s = {0};
    int no_greater = p->no_greater;
    size_t n_names = p->names.n;

    p->no_greater = 0;
    *f = (struct func){
        .name = "lambda", .qualified = "lambda", .scope = p->scope, .at = p->t, .is_lambda = true};
    captures(p, f);
    parse_attributes(p, &s);
    if (parse_is(p, "<")) {
        f->is_template = true;
        parse_template_params(p, &f->tparams, &f->n_tparams);
    }
    if (parse_is(p, "("))
        parse_params(p, f);
    for (size_t i = 0; i < f->n_params; i++)
        parse_declare_variable(p, f->params[i].name);
    while (parse_is(p, "mutable") || parse_is(p, "noexcept")) {
        if (parse_take(p, "mutable"))
            continue;
        p->t++;
        if (parse_is(p, "("))
            parse_skip_balanced(p);
    }
    parse_attributes(p, &s);
    if (parse_take(p, "->"))
        f->result = parse_type_id(p);
    f->tree = parse_block(p);
    p->names.n = n_names;
    p->no_greater = no_greater;
    e->func = f;
    return e;
}

static struct expr *named_cast(struct parser *p, enum cast_kind kind)
{
    struct expr *e = node(p, EX_CAST);
    int no_greater = p->no_greater;

    e->cast = kind;
    p->t++;
    parse_expect(p, "<");
    p->no_greater = 1;
    e->type = parse_type_id(p);
    p->no_greater = no_greater;
    parse_close_angle(p);
    parse_expect(p, "(");
    p->no_greater = 0;
    e->a = parse_expr(p);
    p->no_greater = no_greater;
    parse_expect(p, ")");
    return e;
}

/* The bytes of a plain string with its 0; 0: of another kind, or with escapes that are not counted here. */
static int64_t string_bytes(const struct token *t)
{
    int64_t n = 1;

    if (t->len < 2 || t->s[0] != '"')
        return 0;
    for (uint32_t i = 1; i + 1 < t->len; i++, n++) {
        if (t->s[i] == '\\' && !strchr("abfnrtv\\'\"?", t->s[++i]))
            return 0;
    }
    return n;
}

static struct expr *literal(struct parser *p)
{
    struct expr *e = node(p, EX_NUMBER);
    struct value *v = arena_new(p->arena, struct value);

    e->number = v;
    if (p->t->kind == TOK_NUMBER) {
        if (!number_parse(p->t->s, p->t->len, v))
            parse_fail(p, "a number as C++ writes it");
        v->literal_zero = type_is_integer(v->type) && v->i == 0;
    } else if (p->t->kind == TOK_CHAR) {
        int64_t i;

        if (!char_parse(p->t->s, p->t->len, &i))
            parse_fail(p, "a character");
        *v = value_int(type_char, i);
    } else if (p->t->kind == TOK_STRING) {
        e->kind = EX_STRING;
        e->name = token_text(p->arena, p->t);
        e->string_bytes = string_bytes(p->t);
        while (p->t[1].kind == TOK_STRING) {
            int64_t more = string_bytes(++p->t);

            e->name = arena_printf(p->arena, "%s%s", e->name, token_text(p->arena, p->t));
            e->string_bytes = e->string_bytes && more ? e->string_bytes + more - 1 : 0;
        }
    } else if (parse_is(p, "true") || parse_is(p, "false")) {
        *v = value_int(type_bool, parse_is(p, "true"));
    } else {
        *v = value_null();
        v->literal_zero = parse_is(p, "NULL");
    }
    p->t++;
    return e;
}

static struct expr *name_or_construct(struct parser *p)
{
    struct expr *e;

    if (parse_at_type(p)) {
        const struct token *start = p->t;
        struct specifiers s = {0};
        struct type_node *type = parse_specifiers(p, &s);

        if (parse_is(p, "(") || parse_is(p, "{")) {
            e = node(p, EX_CONSTRUCT);
            e->at = start;
            e->type = type;
            e->braces = parse_is(p, "{");
            p->t++;
            size_t effects = p->effects;
            e->args = arguments(p, e->braces ? "}" : ")", &e->n_args, NULL);
            e->risky = !e->braces && p->effects > effects;
            return e;
        }
        if (type->kind == TN_DECLTYPE && parse_take(p, "::")) {
            e = node(p, EX_MEMBER);
            e->type = type;
            e->name = parse_word(p);
            return e;
        }
        p->t = start; /* Type::member, or a function of the same name */
    }
    e = node(p, EX_NAME);
    e->name = parse_qualified(p, e);
    return e;
}

static struct expr *primary(struct parser *p)
{
    struct expr *e;

    if (p->t->kind == TOK_NUMBER || p->t->kind == TOK_CHAR || p->t->kind == TOK_STRING ||
        token_in(p->t, "true|false|nullptr|NULL"))
        return literal(p);
    if (parse_is(p, "(")) {
        int no_greater = p->no_greater;

        p->t++;
        if (parse_is(p, "{"))
            fail(p->unit, p->t, "statements within an expression; write a lambda or a function");
        p->no_greater = 0;
        e = parse_expr(p);
        p->no_greater = no_greater;
        parse_expect(p, ")");
        return e;
    }
    if (parse_is(p, "["))
        return lambda(p);
    if (parse_is(p, "{"))
        return parse_braces(p);
    if (parse_is(p, "..."))
        fail(p->unit, p->t,
             "a fold expression is not understood; write functions that take the arguments one by one");
    if (token_in(p->t, "noexcept|typeid|dynamic_cast|co_await|typeof|__typeof__|new|delete"))
        fail(p->unit, p->t, "%.*s is not understood; write the value or the type that it stands for",
             (int)p->t->len, p->t->s);
    if (parse_is(p, "static_cast"))
        return named_cast(p, CAST_STATIC);
    if (parse_is(p, "reinterpret_cast"))
        return named_cast(p, CAST_REINTERPRET);
    if (parse_is(p, "const_cast"))
        return named_cast(p, CAST_CONST);
    if (parse_is(p, "this")) {
        e = node_here(p, EX_NAME);
        e->name = "this";
        e->scope = p->scope;
        return e;
    }
    if (p->t->kind == TOK_WORD || parse_is(p, "::"))
        return name_or_construct(p);
    parse_fail(p, "an expression");
}

static struct expr *postfix(struct parser *p)
{
    const size_t start = p->effects;
    struct expr *e = primary(p), *n;

    for (int links = 0;; links++) {
        if (links > MAX_PARSE_DEPTH)
            fail(p->unit, p->t, "this expression nests deeper than %d levels", MAX_PARSE_DEPTH);
        if (parse_is(p, "(")) {
            n = node(p, EX_CALL);
            n->at = e->at;
            p->t++;
            size_t effects = p->effects;
            n->args = arguments(p, ")", &n->n_args, NULL);
            n->risky = p->effects > effects;
        } else if (parse_is(p, "<<<")) {
            n = node(p, EX_LAUNCH);
            n->at = e->at;
            p->t++;
            size_t effects = p->effects;
            n->config = arguments(p, ">>>", &n->n_config, NULL);
            parse_expect(p, "(");
            n->args = arguments(p, ")", &n->n_args, NULL);
            n->risky = p->effects > effects;
        } else if (parse_is(p, "[")) {
            int no_greater = p->no_greater;

            n = node_here(p, EX_INDEX);
            p->no_greater = 0;
            n->b = parse_expr(p);
            n->risky = p->effects > start;
            p->no_greater = no_greater;
            parse_expect(p, "]");
        } else if (parse_is(p, ".") || parse_is(p, "->")) {
            n = node(p, EX_MEMBER);
            n->arrow = parse_is(p, "->");
            p->t++;
            n->name = parse_word(p);
        } else if (parse_is(p, "++") || parse_is(p, "--")) {
            n = node(p, EX_POSTFIX);
            n->op = parse_is(p, "++") ? OP_INC : OP_DEC;
            p->t++;
        } else {
            return e;
        }
        n->a = e;
        e = n;
    }
}

static struct expr *unary_expr(struct parser *p)
{
    static const struct {
        const char *sign;
        enum op op;
    } ops[] = {{"!", OP_NOT},   {"~", OP_INV},  {"-", OP_NEG},  {"+", OP_PLUS},
               {"*", OP_DEREF}, {"&", OP_ADDR}, {"++", OP_INC}, {"--", OP_DEC}};
    struct expr *e = NULL;

    parse_enter(p);
    for (size_t i = 0; i < ARRAY_LEN(ops) && !e && p->t->kind == TOK_PUNCT; i++) {
        if (parse_is(p, ops[i].sign)) {
            e = node(p, EX_UNARY);
            e->op = ops[i].op;
            p->effects += e->op == OP_INC || e->op == OP_DEC;
            p->t++;
            e->a = unary_expr(p);
        }
    }
    if (!e && parse_is(p, "sizeof")) {
        e = node_here(p, EX_SIZEOF);
        if (parse_take(p, "...")) { /* of a parameter pack */
            parse_expect(p, "(");
            e->name = parse_word(p);
            parse_expect(p, ")");
            e->kind = EX_SIZEOF_PACK;
        } else if (parse_is(p, "(")) {
            const struct token *start = p->t++;

            if (parse_at_type(p)) {
                e->kind = EX_SIZEOF_TYPE;
                e->type = parse_type_id(p);
                parse_expect(p, ")");
            } else {
                p->t = start;
            }
        }
        if (e->kind == EX_SIZEOF)
            e->a = unary_expr(p);
    } else if (!e && (parse_is(p, "alignof") || parse_is(p, "_Alignof") || parse_is(p, "__alignof__"))) {
        e = node_here(p, EX_ALIGNOF);
        parse_expect(p, "(");
        if (!token_is(e->at, "alignof") || !parse_at_type(p))
            fail(p->unit, e->at, "this form of alignof is not understood; write alignof(type)");
        e->type = parse_type_id(p);
        parse_expect(p, ")");
    } else if (!e && parse_is(p, "(")) {
        const struct token *start = p->t++;

        if (parse_at_type(p)) {
            struct expr *cast = node(p, EX_CAST);
            int no_greater = p->no_greater;

            cast->at = start;
            p->no_greater = 0;
            cast->type = parse_type_id(p);
            p->no_greater = no_greater;
            /* (T)(x) and (T)x cast; (float(3)) and (T{}) do not get here with a `)` */
            if (parse_is(p, ")")) {
                p->t++;
                cast->a = parse_is(p, "{") ? parse_braces(p) : unary_expr(p);
                e = cast;
            }
        }
        if (!e)
            p->t = start;
    }
    if (!e)
        e = postfix(p);
    p->depth--;
    return e;
}

struct binary_op {
    const char *sign;
    enum op op;
    int level;
    enum expr_kind kind;
};

static const struct binary_op *binary_op(const struct parser *p)
{
    static const struct binary_op ops[] = {
        {"*", OP_MUL, 10, EX_BINARY}, {"/", OP_DIV, 10, EX_BINARY}, {"%", OP_REM, 10, EX_BINARY},
        {"+", OP_ADD, 9, EX_BINARY},  {"-", OP_SUB, 9, EX_BINARY},  {"<<", OP_SHL, 8, EX_BINARY},
        {">>", OP_SHR, 8, EX_BINARY}, {"<=", OP_LE, 7, EX_BINARY},  {">=", OP_GE, 7, EX_BINARY},
        {"<", OP_LT, 7, EX_BINARY},   {">", OP_GT, 7, EX_BINARY},   {"==", OP_EQ, 6, EX_BINARY},
        {"!=", OP_NE, 6, EX_BINARY},  {"&", OP_AND, 5, EX_BINARY},  {"^", OP_XOR, 4, EX_BINARY},
        {"|", OP_OR, 3, EX_BINARY},   {"&&", OP_AND, 2, EX_AND},    {"||", OP_OR, 1, EX_OR},
    };

    if (p->t->kind != TOK_PUNCT || (p->no_greater && p->t->s[0] == '>'))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (parse_is(p, ops[i].sign))
            return &ops[i];
    }
    return NULL;
}

static struct expr *binary_expr(struct parser *p, int least)
{
    const size_t effects = p->effects;
    struct expr *a = unary_expr(p);
    const struct binary_op *op;
    int links = 0;

    while ((op = binary_op(p)) && op->level >= least) {
        struct expr *e = node(p, op->kind);

        /* A long chain makes a deep left spine, which eval walks by recursion. */
        if (++links > MAX_PARSE_DEPTH)
            fail(p->unit, p->t, "this expression nests deeper than %d levels", MAX_PARSE_DEPTH);
        e->op = op->op;
        p->t++;
        parse_enter(p);
        e->a = a;
        e->b = binary_expr(p, op->level + 1);
        e->risky = p->effects > effects;
        p->depth--;
        a = e;
    }
    return a;
}

struct expr *parse_conditional(struct parser *p)
{
    struct expr *a = binary_expr(p, 1), *e;
    int no_greater = p->no_greater;

    if (!parse_is(p, "?"))
        return a;
    e = node(p, EX_COND);
    parse_enter(p);
    p->t++;
    p->no_greater = 0;
    e->a = a;
    e->b = parse_expr(p);
    p->no_greater = no_greater;
    parse_expect(p, ":");
    e->c = parse_assignment(p);
    p->depth--;
    return e;
}

struct expr *parse_assignment(struct parser *p)
{
    static const struct {
        const char *sign;
        enum op op;
    } ops[] = {{"=", OP_NONE},  {"+=", OP_ADD},  {"-=", OP_SUB}, {"*=", OP_MUL}, {"/=", OP_DIV}, {"%=", OP_REM},
               {"<<=", OP_SHL}, {">>=", OP_SHR}, {"&=", OP_AND}, {"|=", OP_OR},  {"^=", OP_XOR}};
    struct expr *a, *e = NULL;
    const size_t effects = p->effects;

    parse_enter(p);
    if (parse_is(p, "throw"))
        parse_fail(p, "a launch, an assignment or a call (launchers do not throw)");
    a = parse_conditional(p);
    for (size_t i = 0; i < ARRAY_LEN(ops) && !e; i++) {
        if (parse_is(p, ops[i].sign)) {
            e = node(p, EX_ASSIGN);
            e->op = ops[i].op;
            p->t++;
            e->a = a;
            e->b = parse_is(p, "{") ? parse_braces(p) : parse_assignment(p);
            e->risky = p->effects > effects + 1;
        }
    }
    p->depth--;
    return e ? e : a;
}

struct expr *parse_expr(struct parser *p)
{
    struct expr *a = parse_assignment(p);
    int links = 0;

    while (parse_is(p, ",")) {
        struct expr *e = node(p, EX_COMMA);

        if (++links > MAX_PARSE_DEPTH)
            fail(p->unit, p->t, "this expression nests deeper than %d levels", MAX_PARSE_DEPTH);
        p->t++;
        e->a = a;
        e->b = parse_assignment(p);
        a = e;
    }
    return a;
}
