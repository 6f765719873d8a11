/* Expressions over the dims, as in `shape: [rows, 2 * d]` and `domain: [rows >= 1]`. */
#include "internal.h"

#include <ctype.h>

enum dim_op {
    DIM_NUMBER,
    DIM_NAME,
    DIM_ADD,
    DIM_SUB,
    DIM_MUL,
    DIM_DIV,
    DIM_REM,
    DIM_LT,
    DIM_LE,
    DIM_GT,
    DIM_GE,
    DIM_EQ,
    DIM_NE,
    DIM_AND,
    DIM_OR,
    DIM_NOT,
    DIM_NEG,
    DIM_MIN,
    DIM_MAX,
};

struct dim_expr {
    enum dim_op op;
    int64_t value; /* a number, or the dim's index */
    const struct dim_expr *a, *b;
    const char *text; /* of a whole expression, as it was written */
};

struct parser {
    struct arena *arena;
    const char *path, *start, *p;
    const struct yaml_node *at;
    const char *const *dims;
    size_t n_dims;
    struct err *err;
    int depth;
};

static bool fail(struct parser *s, const char *where, const char *what)
{
    /* Quotes shift the text by one. A text over several lines has only its start as its place. */
    return err_at(s->err, s->path, s->at->line, s->at->col + s->at->quoted + (int)(where - s->start),
                  "%s in \"%s\"", what, s->start);
}

static void skip_space(struct parser *s)
{
    while (isspace((unsigned char)*s->p))
        s->p++;
}

static struct dim_expr *make(struct parser *s, enum dim_op op, int64_t value, const struct dim_expr *a,
                             const struct dim_expr *b)
{
    struct dim_expr *e = arena_new(s->arena, struct dim_expr);

    *e = (struct dim_expr){op, value, a, b, NULL};
    return e;
}

static bool parse_binary(struct parser *s, int level, const struct dim_expr **out);

static bool parse_call(struct parser *s, enum dim_op op, const struct dim_expr **out)
{
    const struct dim_expr *a, *b;

    s->p++;
    if (!parse_binary(s, 0, &a))
        return false;
    skip_space(s);
    if (*s->p != ',')
        return fail(s, s->p, "',' expected: min and max take two values");
    s->p++;
    if (!parse_binary(s, 0, &b))
        return false;
    skip_space(s);
    if (*s->p != ')')
        return fail(s, s->p, "')' expected");
    s->p++;
    *out = make(s, op, 0, a, b);
    return true;
}

static bool parse_name(struct parser *s, const struct dim_expr **out)
{
    const char *start = s->p;
    size_t len = 0;

    while (isalnum((unsigned char)s->p[len]) || s->p[len] == '_')
        len++;
    s->p += len;
    skip_space(s);
    if (*s->p == '(' && len == 3 && (!memcmp(start, "min", 3) || !memcmp(start, "max", 3)))
        return parse_call(s, start[1] == 'i' ? DIM_MIN : DIM_MAX, out);
    for (size_t i = 0; i < s->n_dims; i++)
        if (strlen(s->dims[i]) == len && !memcmp(s->dims[i], start, len)) {
            *out = make(s, DIM_NAME, (int64_t)i, NULL, NULL);
            return true;
        }
    struct str words = {.arena = s->arena};
    str_addf(&words, "%.*s is not one of the dims (", (int)len, start);
    for (size_t i = 0; i < s->n_dims; i++)
        str_addf(&words, "%s%s", i ? ", " : "", s->dims[i]);
    str_add(&words, ")");
    return fail(s, start, str_text(&words));
}

static bool parse_unary(struct parser *s, const struct dim_expr **out)
{
    bool ok;

    if (++s->depth > 64)
        return fail(s, s->p, "nested too deeply");
    skip_space(s);
    if (*s->p == '-' || (*s->p == '!' && s->p[1] != '=')) {
        enum dim_op op = *s->p++ == '-' ? DIM_NEG : DIM_NOT;
        const struct dim_expr *a;
        ok = parse_unary(s, &a);
        if (ok)
            *out = make(s, op, 0, a, NULL);
    } else if (*s->p == '(') {
        s->p++;
        ok = parse_binary(s, 0, out);
        if (ok) {
            skip_space(s);
            ok = *s->p == ')' ? s->p++ != NULL : fail(s, s->p, "')' expected");
        }
    } else if (isdigit((unsigned char)*s->p)) {
        int64_t v = 0;
        const char *start = s->p;
        for (ok = true; ok && isdigit((unsigned char)*s->p); s->p++)
            ok = !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, *s->p - '0', &v);
        if (!ok)
            return fail(s, start, "the number is too large");
        *out = make(s, DIM_NUMBER, v, NULL, NULL);
    } else if (isalpha((unsigned char)*s->p) || *s->p == '_') {
        ok = parse_name(s, out);
    } else {
        ok = fail(s, s->p, *s->p ? "a number, a dim or '(' expected" : "something is missing at the end");
    }
    s->depth--;
    return ok;
}

static const struct {
    const char *text;
    int level;
    enum dim_op op;
} operators[] = {
    {"||", 0, DIM_OR}, {"&&", 1, DIM_AND}, {"==", 2, DIM_EQ}, {"!=", 2, DIM_NE}, {"<=", 3, DIM_LE},
    {">=", 3, DIM_GE}, {"<", 3, DIM_LT},   {">", 3, DIM_GT},  {"+", 4, DIM_ADD}, {"-", 4, DIM_SUB},
    {"*", 5, DIM_MUL}, {"/", 5, DIM_DIV},  {"%", 5, DIM_REM},
};

static bool parse_binary(struct parser *s, int level, const struct dim_expr **out)
{
    const struct dim_expr *right;
    bool compared = false;

    if (level == 6)
        return parse_unary(s, out);
    if (!parse_binary(s, level + 1, out))
        return false;
    for (;;) {
        size_t i = 0;
        skip_space(s);
        while (i < ARRAY_LEN(operators) && strncmp(s->p, operators[i].text, strlen(operators[i].text)) != 0)
            i++;
        if (i == ARRAY_LEN(operators) || operators[i].level != level)
            return true;
        if (compared && level == 3)
            return fail(s, s->p, "comparisons do not chain: write two conditions");
        compared = true;
        s->p += strlen(operators[i].text);
        if (!parse_binary(s, level + 1, &right))
            return false;
        *out = make(s, operators[i].op, 0, *out, right);
    }
}

bool dim_parse(struct arena *a, const char *path, const struct yaml_node *at, const char *const *dims,
               size_t n_dims, const struct dim_expr **out, struct err *err)
{
    struct parser s = {.arena = a,
                       .path = path,
                       .start = at->text,
                       .p = at->text,
                       .at = at,
                       .dims = dims,
                       .n_dims = n_dims,
                       .err = err};
    const struct dim_expr *e;
    struct dim_expr *whole;

    if (at->kind != YAML_TEXT)
        return err_at(err, path, at->line, at->col, "an expression over the dims expected, as \"2 * d\"");
    if (!parse_binary(&s, 0, &e))
        return false;
    skip_space(&s);
    if (*s.p)
        return fail(&s, s.p, "an operator expected");
    whole = make(&s, e->op, e->value, e->a, e->b);
    whole->text = at->text;
    *out = whole;
    return true;
}

const char *dim_text(const struct dim_expr *e)
{
    return e->text;
}

bool dim_eval(const struct dim_expr *e, const int64_t *dims, int64_t *v)
{
    int64_t a = 0, b = 0;

    if (e->op == DIM_NUMBER || e->op == DIM_NAME) {
        *v = e->op == DIM_NUMBER ? e->value : dims[e->value];
        return true;
    }
    if (!dim_eval(e->a, dims, &a))
        return false;
    if (e->op == DIM_AND || e->op == DIM_OR) { /* the right side may divide by what the left side excludes */
        if ((a != 0) == (e->op == DIM_OR)) {
            *v = e->op == DIM_OR;
            return true;
        }
    }
    if (e->b && !dim_eval(e->b, dims, &b))
        return false;
    switch (e->op) {
    case DIM_ADD:
        return !__builtin_add_overflow(a, b, v);
    case DIM_SUB:
        return !__builtin_sub_overflow(a, b, v);
    case DIM_MUL:
        return !__builtin_mul_overflow(a, b, v);
    case DIM_NEG:
        return !__builtin_sub_overflow((int64_t)0, a, v);
    case DIM_DIV:
    case DIM_REM:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *v = e->op == DIM_DIV ? a / b : a % b;
        return true;
    case DIM_LT:
        *v = a < b;
        return true;
    case DIM_LE:
        *v = a <= b;
        return true;
    case DIM_GT:
        *v = a > b;
        return true;
    case DIM_GE:
        *v = a >= b;
        return true;
    case DIM_EQ:
        *v = a == b;
        return true;
    case DIM_NE:
        *v = a != b;
        return true;
    case DIM_AND:
    case DIM_OR:
        *v = b != 0;
        return true;
    case DIM_NOT:
        *v = !a;
        return true;
    case DIM_MIN:
        *v = MIN(a, b);
        return true;
    case DIM_MAX:
        *v = MAX(a, b);
        return true;
    default:
        BUG("dim operator %d", (int)e->op);
    }
}

bool dim_uses(const struct dim_expr *e, size_t dim)
{
    if (e->op == DIM_NAME)
        return (size_t)e->value == dim;
    return (e->a && dim_uses(e->a, dim)) || (e->b && dim_uses(e->b, dim));
}

static const struct dim_expr *node(struct arena *a, enum dim_op op, const struct dim_expr *x,
                                   const struct dim_expr *y)
{
    struct dim_expr *e = arena_new(a, struct dim_expr);

    *e = (struct dim_expr){.op = op, .a = x, .b = y};
    return e;
}

/* Where e is `right`, dim is what this gives. */
static const struct dim_expr *solve(struct arena *a, const struct dim_expr *e, size_t dim,
                                    const struct dim_expr *right)
{
    bool in_a = e->a && dim_uses(e->a, dim), in_b = e->b && dim_uses(e->b, dim);

    if (e->op == DIM_NAME)
        return right;
    if (in_a == in_b)
        return NULL;
    if (e->op == DIM_NEG)
        return solve(a, e->a, dim, node(a, DIM_NEG, right, NULL));
    if (e->op == DIM_ADD || e->op == DIM_MUL)
        return solve(a, in_a ? e->a : e->b, dim,
                     node(a, e->op == DIM_ADD ? DIM_SUB : DIM_DIV, right, in_a ? e->b : e->a));
    if (e->op == DIM_SUB)
        return in_a ? solve(a, e->a, dim, node(a, DIM_ADD, right, e->b))
                    : solve(a, e->b, dim, node(a, DIM_SUB, e->a, right));
    return NULL;
}

const struct dim_expr *dim_invert(struct arena *a, const struct dim_expr *e, size_t dim, size_t value)
{
    struct dim_expr *right = arena_new(a, struct dim_expr);

    *right = (struct dim_expr){.op = DIM_NAME, .value = (int64_t)value};
    return dim_uses(e, dim) ? solve(a, e, dim, right) : NULL;
}

static int level_of(enum dim_op op)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (operators[i].op == op)
            return operators[i].level;
    return 6; /* what needs no parentheses */
}

static const char *sign_of(enum dim_op op, enum dim_language language)
{
    if (language == DIM_PYTHON && op == DIM_DIV)
        return "//";
    if (language == DIM_PYTHON && (op == DIM_AND || op == DIM_OR))
        return op == DIM_AND ? "and" : "or";
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (operators[i].op == op)
            return operators[i].text;
    BUG("dim operator %d has no sign", (int)op);
}

static bool is_constant(const struct dim_expr *e)
{
    return e->op != DIM_NAME && (!e->a || is_constant(e->a)) && (!e->b || is_constant(e->b));
}

/* A number beside something that is none takes its type; alone it would be C++'s int and could overflow. */
static void write_at(struct str *out, const struct dim_expr *e, bool beside, const char *const *names,
                     enum dim_language language, int level)
{
    int own = level_of(e->op);
    bool a = e->b && !is_constant(e->b), b = e->a && !is_constant(e->a);

    if (own < level)
        str_addc(out, '(');
    switch (e->op) {
    case DIM_NUMBER:
        str_addf(out, language == DIM_CPP && !beside ? "Int(%lld)" : "%lld", (long long)e->value);
        break;
    case DIM_NAME:
        str_add(out, names[e->value]);
        break;
    case DIM_NEG:
    case DIM_NOT:
        if (e->op == DIM_NEG)
            str_add(out, "-(");
        else
            str_add(out, language == DIM_PYTHON ? "(not (" : "!(");
        write_at(out, e->a, false, names, language, 0);
        str_add(out, e->op == DIM_NOT && language == DIM_PYTHON ? "))" : ")");
        break;
    case DIM_MIN:
    case DIM_MAX:
        str_add(out, e->op == DIM_MIN ? "min(" : "max(");
        write_at(out, e->a, a, names, language, 0);
        str_add(out, ", ");
        write_at(out, e->b, b, names, language, 0);
        str_addc(out, ')');
        break;
    default: /* comparisons chain in Python: their operands bind tighter */
        write_at(out, e->a, a, names, language, own == 2 || own == 3 ? 4 : own);
        str_addf(out, " %s ", sign_of(e->op, language));
        write_at(out, e->b, b, names, language, own == 2 || own == 3 ? 4 : own + 1);
    }
    if (own < level)
        str_addc(out, ')');
}

void dim_write(struct str *out, const struct dim_expr *e, const char *const *names, enum dim_language language)
{
    write_at(out, e, false, names, language, 0);
}
