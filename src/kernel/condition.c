/* The expression of an #if: in 64 bits, unsigned as soon as an operand is. */
#include "kernel/preprocess.h"

struct number {
    uint64_t v;
    bool is_unsigned;
};

struct condition_parser {
    struct expander *x;
    const struct token *t, *end, *at;
    int depth;
    int dead; /* > 0: in an operand that is not evaluated */
};

static bool take(struct condition_parser *p, const char *s)
{
    if (p->t < p->end && token_is(p->t, s)) {
        p->t++;
        return true;
    }
    return false;
}

static struct number binary_level(struct condition_parser *p, int level);
static struct number conditional_expr(struct condition_parser *p);

static struct number number_of(bool is_unsigned, uint64_t v)
{
    return (struct number){v, is_unsigned};
}

static void enter(struct condition_parser *p)
{
    if (++p->depth > 10 * MAX_PARSE_DEPTH)
        fail(p->x->unit, p->at, "the condition nests too deeply");
}

/* A name that no macro replaced: 0, unless a header or the compiler may have made it one. */
static struct number word(struct condition_parser *p)
{
    const struct token *t = p->t++;

    if (token_is(t, "true") || token_is(t, "false"))
        return number_of(false, token_is(t, "true"));
    if (p->t < p->end && token_is(p->t, "(")) {
        p->x->unit->asks_compiler = t->len > 2 && !memcmp(t->s, "__", 2); /* __has_include and the like */
        fail(p->x->unit, p->at, "the condition asks for %.*s(...), which is not known here; write it without",
             (int)t->len, t->s);
    }
    condition_defined(p->x, t);
    return number_of(false, 0);
}

static struct number literal(struct condition_parser *p)
{
    struct value v;
    int64_t i;

    if (p->t->kind == TOK_CHAR && char_parse(p->t->s, p->t->len, &i)) {
        p->t++;
        return number_of(false, (uint64_t)i);
    }
    if (p->t->kind == TOK_NUMBER && number_parse(p->t->s, p->t->len, &v) && type_is_integer(v.type)) {
        const char *text = token_text(p->x->arena, p->t++);

        return number_of(v.i < 0 || strpbrk(text, "uU"), (uint64_t)v.i);
    }
    fail(p->x->unit, p->at, "the condition of this directive is not understood");
}

static struct number unary_operand(struct condition_parser *p)
{
    struct number n;

    enter(p);
    if (p->t == p->end)
        fail(p->x->unit, p->at, "the condition of this directive is not understood");
    if (take(p, "!")) {
        n = unary_operand(p);
        n = number_of(false, !n.v);
    } else if (take(p, "-")) {
        n = unary_operand(p);
        if (!n.is_unsigned && n.v == 1ull << 63 && !p->dead)
            fail(p->x->unit, p->at, "the condition overflows");
        n.v = 0 - n.v;
    } else if (take(p, "+")) {
        n = unary_operand(p);
    } else if (take(p, "~")) {
        n = unary_operand(p);
        n.v = ~n.v;
    } else if (take(p, "(")) {
        n = conditional_expr(p);
        if (!take(p, ")"))
            fail(p->x->unit, p->at, "the condition lacks a `)`");
    } else if (p->t->kind == TOK_WORD) {
        n = word(p);
    } else {
        n = literal(p);
    }
    p->depth--;
    return n;
}

static bool less(struct number a, struct number b, bool is_unsigned)
{
    return is_unsigned ? a.v < b.v : (int64_t)a.v < (int64_t)b.v;
}

static struct number divide(struct condition_parser *p, bool quotient, struct number a, struct number b,
                            bool is_unsigned)
{
    int64_t x = (int64_t)a.v, y = (int64_t)b.v;

    if (p->dead)
        return number_of(is_unsigned, 0);
    if (b.v == 0 || (!is_unsigned && x == INT64_MIN && y == -1))
        fail(p->x->unit, p->at, "division by zero in the condition");
    if (is_unsigned)
        return number_of(true, quotient ? a.v / b.v : a.v % b.v);
    return number_of(false, (uint64_t)(quotient ? x / y : x % y));
}

static struct number shift(struct condition_parser *p, bool left, struct number a, struct number b)
{
    if (p->dead)
        return a;
    if (b.v > 63)
        fail(p->x->unit, p->at, "a shift by %lld in the condition", (long long)b.v);
    if (left)
        a.v <<= b.v;
    else
        a.v = a.is_unsigned ? a.v >> b.v : (uint64_t)((int64_t)a.v >> b.v);
    return a;
}

static struct number arithmetic(struct condition_parser *p, char op, struct number a, struct number b,
                                bool is_unsigned)
{
    int64_t x = (int64_t)a.v, y = (int64_t)b.v, r = 0;
    bool over;

    if (op == '*')
        over = __builtin_mul_overflow(x, y, &r);
    else
        over = op == '+' ? __builtin_add_overflow(x, y, &r) : __builtin_sub_overflow(x, y, &r);
    if (over && !is_unsigned && !p->dead)
        fail(p->x->unit, p->at, "the condition overflows");
    return number_of(is_unsigned, (uint64_t)r);
}

static struct number apply(struct condition_parser *p, const char *op, struct number a, struct number b)
{
    bool is_unsigned = a.is_unsigned || b.is_unsigned;

    switch (op[0]) {
    case '*':
    case '+':
    case '-':
        return arithmetic(p, op[0], a, b, is_unsigned);
    case '/':
    case '%':
        return divide(p, op[0] == '/', a, b, is_unsigned);
    case '<':
        if (op[1] == '<')
            return shift(p, true, a, b);
        return number_of(false, op[1] ? !less(b, a, is_unsigned) : less(a, b, is_unsigned));
    case '>':
        if (op[1] == '>')
            return shift(p, false, a, b);
        return number_of(false, op[1] ? !less(a, b, is_unsigned) : less(b, a, is_unsigned));
    case '=':
        return number_of(false, a.v == b.v);
    case '!':
        return number_of(false, a.v != b.v);
    case '&':
        return number_of(is_unsigned, a.v & b.v);
    case '|':
        return number_of(is_unsigned, a.v | b.v);
    default:
        return number_of(is_unsigned, a.v ^ b.v);
    }
}

static struct number binary_level(struct condition_parser *p, int level)
{
    static const char *const levels[][5] = {
        {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
    };
    struct number a;

    if (level == (int)ARRAY_LEN(levels))
        return unary_operand(p);
    enter(p);
    a = binary_level(p, level + 1);
    for (int i = 0; i < 5 && levels[level][i]; i++) {
        bool skip = (level == 0 && a.v) || (level == 1 && !a.v);
        struct number b;

        if (!take(p, levels[level][i]))
            continue;
        p->dead += skip;
        b = binary_level(p, level + 1);
        p->dead -= skip;
        if (level == 0)
            a = number_of(false, a.v || b.v);
        else if (level == 1)
            a = number_of(false, a.v && b.v);
        else
            a = apply(p, levels[level][i], a, b);
        i = -1;
    }
    p->depth--;
    return a;
}

static struct number conditional_expr(struct condition_parser *p)
{
    struct number a, b, c;

    enter(p);
    a = binary_level(p, 0);
    if (take(p, "?")) {
        p->dead += !a.v;
        b = conditional_expr(p);
        p->dead -= !a.v;
        if (!take(p, ":"))
            fail(p->x->unit, p->at, "the condition lacks a `:`");
        p->dead += !!a.v;
        c = conditional_expr(p);
        p->dead -= !!a.v;
        a = number_of(b.is_unsigned || c.is_unsigned, a.v ? b.v : c.v);
    }
    p->depth--;
    return a;
}

bool condition_defined(struct expander *x, const struct token *name)
{
    const char *text = token_text(x->arena, name);
    struct macro *m = map_get(&x->macros, text);

    x->asks_device |= str_starts(text, "__CUDA_ARCH") || map_has(&x->differ, text);
    if (name->kind != TOK_WORD)
        fail(x->unit, name, "`defined` without a name");
    if (m && m->shaky)
        fail(x->unit, name,
             "%s is a macro of the compiler or of a header, too, which may change it; use another name", text);
    if (m)
        return true;
    if (strcmp(text, "defined") == 0)
        fail(x->unit, name, "a macro makes `defined` here; write the condition itself");
    if (name->foreign && strstr(text, "_H"))
        return false; /* the guard of a header of the task */
    if (system_constant(text))
        return true;
    x->unit->asks_compiler = system_macro(text);
    if (x->unit->asks_compiler)
        fail(
            x->unit, name,
            "a condition asks for %s, a macro of the compiler or of a header, which are not read; the file tests how it is "
            "compiled",
            text);
    if (x->unknown_header && !map_has(&x->macros, text) && !system_undefined(text))
        fail(x->unit, name,
             "a header that is not known is included, which may define %s; write it without asking", text);
    return false;
}

bool condition_value(struct expander *x, const struct token *v, size_t n, const struct token *at)
{
    static const struct token zero = {.kind = TOK_NUMBER, .s = "0", .len = 1};
    static const struct token one = {.kind = TOK_NUMBER, .s = "1", .len = 1};
    struct tokens asked = {0}, expanded = {0};
    struct condition_parser p = {.x = x, .at = at};
    struct number value;

    x->asks_device = false;
    for (size_t i = 0; i < n; i++) {
        bool bracket;

        /* what a macro of the file is made of may differ, too */
        x->asks_device |=
            x->differ.n && v[i].kind == TOK_WORD && map_get(&x->macros, token_text(x->arena, &v[i]));
        if (!token_is(&v[i], "defined")) {
            expand_emit(x, &asked, v[i]);
            continue;
        }
        bracket = i + 1 < n && token_is(&v[i + 1], "(");
        i += bracket ? 2 : 1;
        if (i >= n || (bracket && (i + 1 >= n || !token_is(&v[i + 1], ")"))))
            fail(x->unit, at, "`defined` without a name");
        expand_emit(x, &asked, condition_defined(x, &v[i]) ? one : zero);
        i += bracket;
    }
    expand_list(x, asked.v, asked.n, &expanded, false);
    p.t = expanded.v;
    p.end = expanded.v + expanded.n;
    value = conditional_expr(&p);
    if (p.t != p.end)
        fail(x->unit, at, "the condition of this directive is not understood");
    return value.v != 0;
}
