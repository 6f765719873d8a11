/* Nodes of the tree, and what calls are: by which name, whether they only compute, whether lanes meet in them.
 */
#include "rewrite/analysis.h"

struct node node_strip(struct node n)
{
    for (;;) {
        if (node_is(n, "parenthesized_expression") && node_count(n) > 0)
            n = node_child(n, 0);
        else if (node_is(n, "cast_expression"))
            n = node_field(n, "value");
        else
            return n;
    }
}

const char *node_op(const struct function *f, struct node n)
{
    struct node op = node_field(n, "operator");
    return node_ok(op) ? text_of(f, op) : "";
}

bool node_within(struct node inner, struct node outer)
{
    return node_start(inner) >= node_start(outer) && node_end(inner) <= node_end(outer);
}

struct node node_enclosing(struct node n, const char *kind)
{
    for (n = node_parent(n); node_ok(n) && !node_is(n, kind); n = node_parent(n))
        ;
    return n;
}

struct node node_statement(struct node n)
{
    for (; node_ok(n); n = node_parent(n)) {
        const char *kind = node_kind(n);
        if (str_ends(kind, "_statement") || str_eq(kind, "declaration"))
            return n;
    }
    return n;
}

struct node *named_children(const struct function *f, struct node n, size_t *count)
{
    uint32_t all = node_count(n);
    struct node *v = arena_array(f->a, struct node, all + 1);
    *count = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct node c = node_child(n, i);
        if (!node_is(c, "comment"))
            v[(*count)++] = c;
    }
    return v;
}

bool node_mentions(const struct function *f, struct node n, const char *name)
{
    if (node_is(n, "identifier") && node_text_is(f->s, n, name))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (node_mentions(f, node_child(n, i), name))
            return true;
    return false;
}

const char *call_name(const struct function *f, struct node call)
{
    struct node callee = node_field(call, "function");
    if (node_is(callee, "template_function"))
        callee = node_field(callee, "name");
    if (node_is(callee, "qualified_identifier"))
        callee = node_field(callee, "name");
    return node_ok(callee) ? text_of(f, callee) : "";
}

bool call_is(const struct function *f, struct node n, const char *name)
{
    return node_is(n, "call_expression") && str_eq(call_name(f, n), name);
}

bool name_in(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (str_eq(name, *list))
            return true;
    return false;
}

static bool body_is_pure(const struct function *f, struct node n)
{
    if (node_is(n, "subscript_expression") || node_is(n, "pointer_expression") || node_is(n, "asm_statement") ||
        node_is(n, "gnu_asm_expression") || node_is(n, "lambda_expression"))
        return false;
    if (node_is(n, "declaration") &&
        (text_has_word(text_of(f, n), "__shared__") || text_has_word(text_of(f, n), "static")))
        return false;
    if (node_is(n, "call_expression") && !call_is_pure(f, n))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!body_is_pure(f, node_child(n, i)))
            return false;
    return true;
}

static bool definition_is_pure(const struct function *f, const char *name)
{
    size_t count;
    struct node *all = node_find_all(f->a, source_root(f->s), "function_definition", &count);
    for (size_t i = 0; i < count; i++) {
        struct node declarator = node_field(all[i], "declarator");
        if (!node_is(declarator, "function_declarator") ||
            !node_text_is(f->s, node_field(declarator, "declarator"), name))
            continue;
        const char *params = text_of(f, node_field(declarator, "parameters"));
        return !strpbrk(params, "*&") && body_is_pure(f, node_field(all[i], "body"));
    }
    return false;
}

bool call_is_pure_builtin(const struct function *f, struct node call)
{
    static const char *const prefixes[] = {"__half", "__float", "__bfloat", "__int",  "__uint", "__double",
                                           "__low",  "__high",  "__hadd",   "__hmul", "__hfma", "__hsub",
                                           "__hdiv", "__hmax",  "__hmin",   "make_",  NULL};
    static const char *const names[] = {"expf",        "exp",
                                        "__expf",      "exp2f",
                                        "exp2",        "exp10f",
                                        "expm1f",      "expm1",
                                        "logf",        "log",
                                        "__logf",      "log2f",
                                        "log2",        "__log2f",
                                        "log10f",      "log1pf",
                                        "powf",        "pow",
                                        "__powf",      "sqrtf",
                                        "sqrt",        "rsqrtf",
                                        "rsqrt",       "cbrtf",
                                        "sinf",        "sin",
                                        "__sinf",      "cosf",
                                        "cos",         "__cosf",
                                        "tanf",        "tan",
                                        "tanhf",       "tanh",
                                        "sinhf",       "coshf",
                                        "atanf",       "atan2f",
                                        "asinf",       "acosf",
                                        "erff",        "erf",
                                        "erfcf",       "fabsf",
                                        "fabs",        "fmaxf",
                                        "fmax",        "fminf",
                                        "fmin",        "max",
                                        "min",         "abs",
                                        "floorf",      "ceilf",
                                        "roundf",      "rintf",
                                        "truncf",      "floor",
                                        "ceil",        "fmaf",
                                        "fma",         "__fdividef",
                                        "__frcp_rn",   "__fsqrt_rn",
                                        "__frsqrt_rn", "fmodf",
                                        "copysignf",   "isnan",
                                        "isinf",       "float",
                                        "double",      "int",
                                        "static_cast", "reinterpret_cast",
                                        "const_cast",  NULL};
    const char *name = call_name(f, call);
    for (size_t i = 0; prefixes[i]; i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return name_in(name, names);
}

bool call_is_pure(const struct function *f, struct node call)
{
    static __thread int depth; /* functions that call each other end here */
    if (call_is_pure_builtin(f, call))
        return true;
    if (depth > 3)
        return false;
    depth++;
    bool pure = definition_is_pure(f, call_name(f, call));
    depth--;
    return pure;
}

bool calls_barrier(const struct function *f, struct node n)
{
    if (node_is(n, "call_expression")) {
        const char *name = call_name(f, n);
        if (str_starts(name, "__sync") || str_starts(name, "__shfl") || str_starts(name, "__any") ||
            str_starts(name, "__all") || str_starts(name, "__ballot") || str_starts(name, "__match") ||
            str_starts(name, "__reduce") || str_eq(name, "sync"))
            return true;
    }
    if (node_is(n, "gnu_asm_expression") || node_is(n, "asm_statement"))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (calls_barrier(f, node_child(n, i)))
            return true;
    return false;
}
