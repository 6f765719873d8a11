/* Nodes of the tree, and what calls are: by which name, whether they only compute, whether lanes meet in them.
 */
#include "rewrite/analysis.h"

struct node node_strip(struct node n)
{
    for (;;) {
        if ((node_is(n, NODE_PARENTHESIZED_EXPRESSION) || node_is(n, NODE_CONDITION_CLAUSE)) &&
            node_count(n) > 0)
            n = node_child(n, 0);
        else if (node_is(n, NODE_CAST_EXPRESSION))
            n = node_field(n, FIELD_VALUE);
        else
            return n;
    }
}

struct node statement_expression(struct node statement)
{
    return node_is(statement, NODE_EXPRESSION_STATEMENT) ? node_child(statement, 0) : (struct node){0};
}

struct node subscript_index(const struct function *f, struct node subscript)
{
    size_t n;
    struct node *index = named_children(f, node_field(subscript, FIELD_INDICES), &n);
    return n == 1 ? index[0] : (struct node){0};
}

const char *node_op(const struct function *f, struct node n)
{
    struct node op = node_field(n, FIELD_OPERATOR);
    return node_ok(op) ? text_of(f, op) : "";
}

bool node_is_binary(const struct function *f, struct node n, const char *op)
{
    return node_is(n, NODE_BINARY_EXPRESSION) && str_eq(node_op(f, n), op);
}

bool node_is_assignment(const struct function *f, struct node n, const char *op)
{
    return node_is(n, NODE_ASSIGNMENT_EXPRESSION) && str_eq(node_op(f, n), op);
}

bool node_is_asked(const struct function *f, struct node n)
{
    struct node parent = node_parent(n);
    enum node_kind kind = node_kind(parent);
    if (!node_ok(parent) || kind == NODE_IF_STATEMENT || kind == NODE_SWITCH_STATEMENT ||
        kind == NODE_LAMBDA_EXPRESSION || node_is_loop(parent))
        return true;
    if (kind == NODE_CONDITIONAL_EXPRESSION)
        return !node_same(n, node_field(parent, FIELD_CONDITION));
    return kind == NODE_BINARY_EXPRESSION && node_same(n, node_field(parent, FIELD_RIGHT)) &&
           (str_eq(node_op(f, parent), "&&") || str_eq(node_op(f, parent), "||"));
}

bool node_is_indirection(const struct function *f, struct node n)
{
    return node_is(n, NODE_POINTER_EXPRESSION) && str_eq(node_op(f, n), "*");
}

bool node_is_address(const struct function *f, struct node n)
{
    return node_is(n, NODE_POINTER_EXPRESSION) && str_eq(node_op(f, n), "&");
}

bool node_is_access(const struct function *f, struct node n)
{
    return node_is(n, NODE_SUBSCRIPT_EXPRESSION) || node_is_indirection(f, n);
}

bool node_is_loop(struct node n)
{
    return node_is(n, NODE_FOR_STATEMENT) || node_is(n, NODE_WHILE_STATEMENT) || node_is(n, NODE_DO_STATEMENT);
}

struct node node_unbraced(const struct function *f, struct node statement)
{
    size_t n;
    struct node *all = named_children(f, statement, &n);
    return node_is(statement, NODE_COMPOUND_STATEMENT) && n == 1 ? all[0] : statement;
}

bool node_within(struct node inner, struct node outer)
{
    return node_start(inner) >= node_start(outer) && node_end(inner) <= node_end(outer);
}

struct node node_enclosing(struct node n, enum node_kind kind)
{
    for (n = node_parent(n); node_ok(n) && !node_is(n, kind); n = node_parent(n))
        ;
    return n;
}

struct node node_statement(struct node n)
{
    while (node_ok(n) && !node_is_statement(n) && !node_is(n, NODE_DECLARATION))
        n = node_parent(n);
    return n;
}

struct node *named_children(const struct function *f, struct node n, size_t *count)
{
    uint32_t all = node_count(n);
    struct node *v = arena_array(f->a, struct node, all + 1);
    size_t found = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct node c = node_child(n, i);
        if (!node_is(c, NODE_COMMENT))
            v[found++] = c;
    }
    if (count)
        *count = found;
    return v;
}

struct node *nodes_of(const struct function *f, struct node n, enum node_kind kind)
{
    return node_find_all(f->a, n, kind, NULL);
}

struct node *names_in(const struct function *f, struct node n)
{
    struct node *alone = arena_array(f->a, struct node, 2);
    alone[0] = n;
    return node_is(n, NODE_IDENTIFIER) ? alone : nodes_of(f, n, NODE_IDENTIFIER);
}

struct node *definitions_of(const struct function *f)
{
    return nodes_of(f, source_root(f->s), NODE_FUNCTION_DEFINITION);
}

bool node_has(const struct function *f, struct node n, enum node_kind kind)
{
    return node_ok(*nodes_of(f, n, kind));
}

static size_t collect_items(struct node part, struct node *v, size_t n)
{
    for (uint32_t i = 0, all = node_count(part); i < all; i++) {
        struct node c = node_child(part, i);
        if (node_is(c, NODE_NAMESPACE_DEFINITION))
            n = collect_items(node_field(c, FIELD_BODY), v, n);
        else if (v)
            v[n++] = c;
        else
            n++;
    }
    return n;
}

struct node *file_items(const struct function *f, size_t *count)
{
    struct node root = source_root(f->s);
    struct node *v = arena_array(f->a, struct node, collect_items(root, NULL, 0) + 1);
    size_t n = collect_items(root, v, 0);
    if (count)
        *count = n;
    return v;
}

bool node_has_effect(const struct function *f, struct node n)
{
    if (node_ok(assigned_target(n)) || (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n)))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (node_has_effect(f, node_child(n, i)))
            return true;
    return false;
}

bool node_mentions(const struct function *f, struct node n, const char *name)
{
    if (node_is(n, NODE_IDENTIFIER) && node_text_is(f->s, n, name))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (node_mentions(f, node_child(n, i), name))
            return true;
    return false;
}

struct node callee_name(struct node callee)
{
    while (node_is(callee, NODE_TEMPLATE_FUNCTION) || node_is(callee, NODE_QUALIFIED_IDENTIFIER))
        callee = node_field(callee, FIELD_NAME);
    return callee;
}

const char *call_name(const struct function *f, struct node call)
{
    struct node callee = callee_name(node_field(call, FIELD_FUNCTION));
    return node_ok(callee) ? text_of(f, callee) : "";
}

bool call_is(const struct function *f, struct node n, const char *name)
{
    return node_is(n, NODE_CALL_EXPRESSION) && str_eq(call_name(f, n), name);
}

bool group_method(const struct function *f, struct node call, const char *method)
{
    struct node callee = node_field(call, FIELD_FUNCTION);
    if (!node_is(call, NODE_CALL_EXPRESSION) || !node_is(callee, NODE_FIELD_EXPRESSION) ||
        !node_text_is(f->s, node_field(callee, FIELD_FIELD), method))
        return false;
    const struct variable *group = function_variable_of(f, node_field(callee, FIELD_ARGUMENT));
    char *said = group && !group->assignments ? text_compact(f->a, text_of(f, group->statement)) : NULL;
    return said && (strstr(said, "tiled_partition<32>") || strstr(said, "thread_block_tile<32>"));
}

bool call_is_barrier(const struct function *f, struct node call)
{
    if (call_is(f, call, "__syncthreads"))
        return true;
    struct node callee = node_field(call, FIELD_FUNCTION), args = node_field(call, FIELD_ARGUMENTS),
                group = {0};
    bool method = node_is(callee, NODE_FIELD_EXPRESSION);
    if (method && node_text_is(f->s, node_field(callee, FIELD_FIELD), "sync"))
        group = node_field(callee, FIELD_ARGUMENT);
    else if (!method && call_is(f, call, "sync") && node_count(args) == 1)
        group = node_child(args, 0);
    const struct variable *v = function_variable_of(f, group);
    return v && !v->assignments && node_ok(v->init) &&
           str_eq(call_name(f, node_strip(v->init)), "this_thread_block");
}

static bool body_is_pure(const struct function *f, struct node n)
{
    if (node_is(n, NODE_SUBSCRIPT_EXPRESSION) || node_is(n, NODE_POINTER_EXPRESSION) ||
        node_is(n, NODE_LAMBDA_EXPRESSION) || (node_is(n, NODE_GNU_ASM_EXPRESSION) && !assembly_computes(f, n)))
        return false;
    if (node_is(n, NODE_DECLARATION) &&
        (str_has_word(text_of(f, n), "__shared__") || str_has_word(text_of(f, n), "static")))
        return false;
    if (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!body_is_pure(f, node_child(n, i)))
            return false;
    return true;
}

static bool definition_is_pure(const struct function *f, const char *name)
{
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        struct node declarator = node_field(*definition, FIELD_DECLARATOR);
        if (!node_is(declarator, NODE_FUNCTION_DECLARATOR) ||
            !node_text_is(f->s, node_field(declarator, FIELD_DECLARATOR), name))
            continue;
        const char *params = text_of(f, node_field(declarator, FIELD_PARAMETERS));
        return !strpbrk(params, "*&") && body_is_pure(f, node_field(*definition, FIELD_BODY));
    }
    return false;
}

bool call_is_pure_builtin(const struct function *f, struct node call)
{
    static const char *const prefixes[] = {
        "__half", "__float", "__bfloat", "__int",  "__uint", "__double",       "__low",   "__high", "__hadd",
        "__hmul", "__hfma",  "__hsub",   "__hdiv", "__hmax", "__hmin",         "__hneg",  "__habs", "__hlt",
        "__hle",  "__hgt",   "__hge",    "__heq",  "__hne",  "__funnelshift_", "__dp2a_", "make_"};
    const char *name = call_name(f, call);
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return str_in(name,
                  "expf|exp|__expf|exp2f|exp2|exp10f|expm1f|expm1|logf|log|__logf|log2f|log2|"
                  "__log2f|log10f|log1pf|powf|pow|__powf|sqrtf|sqrt|rsqrtf|rsqrt|cbrtf|sinf|"
                  "sin|__sinf|cosf|cos|__cosf|tanf|tan|tanhf|tanh|sinhf|coshf|atanf|atan2f|"
                  "asinf|acosf|erff|erf|erfcf|fabsf|fabs|fmaxf|fmax|fminf|fmin|max|min|abs|"
                  "floorf|ceilf|roundf|rintf|truncf|floor|ceil|fmaf|fma|__fdividef|__frcp_rn|"
                  "__fsqrt_rn|__frsqrt_rn|__fmaf_rn|__fadd_rn|__fsub_rn|__fmul_rn|__fdiv_rn|__saturatef|fmodf|"
                  "remainderf|copysignf|isnan|isinf|isfinite|signbit|hypotf|hypot|fdimf|ldexpf|scalbnf|"
                  "erfc|erfcxf|erfinvf|normcdff|lgammaf|tgammaf|sinpif|cospif|atan|asinhf|acoshf|"
                  "__popc|__popcll|__clz|__clzll|__ffs|__ffsll|__brev|__brevll|__byte_perm|__dp4a|__mul24|"
                  "__umul24|__mulhi|__umulhi|__mul64hi|__umul64hi|__sad|__usad|__vabsdiffu4|__vadd4|__vsub4|"
                  "hexp|h2exp|hlog|h2log|hsqrt|h2sqrt|hrsqrt|h2rsqrt|hrcp|h2rcp|umin|umax|float|double|int|"
                  "lowest|infinity|"
                  "static_cast|reinterpret_cast|const_cast");
}

/* `T(x)` of a plain type, or `(T)(x)`, which reads like a call where T is a name. */
static bool is_conversion(const struct function *f, struct node call)
{
    struct node callee = node_field(call, FIELD_FUNCTION);
    size_t position;
    while (node_is(callee, NODE_PARENTHESIZED_EXPRESSION))
        callee = node_child(callee, 0);
    const char *name = node_is(callee, NODE_IDENTIFIER) ? text_of(f, callee) : "";
    return !function_variable_of(f, callee) &&
           (ctype_is_parameter(f, name, &position) || ctype_size(f, name) > 0);
}

bool call_is_pure(const struct function *f, struct node call)
{
    static __thread int depth; /* functions that call each other end here */
    if (call_is_pure_builtin(f, call) || is_conversion(f, call))
        return true;
    if (depth > 3)
        return false;
    depth++;
    bool pure = definition_is_pure(f, call_name(f, call));
    depth--;
    return pure;
}

static bool is_any_of(const char *name, const char *const *beginnings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_starts(name, beginnings[i]))
            return true;
    return false;
}

struct node definition_declared(struct node definition)
{
    struct node id = node_field(definition, FIELD_DECLARATOR);

    while (node_ok(id) && !node_is(id, NODE_IDENTIFIER) && !node_is(id, NODE_TEMPLATE_FUNCTION))
        id = node_is(id, NODE_REFERENCE_DECLARATOR) ? node_child(id, 0) : node_field(id, FIELD_DECLARATOR);
    return id;
}

struct node definition_name(struct node definition)
{
    struct node id = definition_declared(definition);

    return node_is(id, NODE_TEMPLATE_FUNCTION) ? node_field(id, FIELD_NAME) : id;
}

struct node definition_unseen(const struct function *f, const char *name, node_list *seen)
{
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        bool other = !node_text_is(f->s, definition_name(*definition), name);
        for (size_t i = 0; i < seen->n && !other; i++)
            other = node_same(seen->v[i], *definition);
        if (other)
            continue;
        vec_add(f->a, seen, *definition);
        return *definition;
    }
    return (struct node){0};
}

static bool meets_within(const struct function *f, struct node n, node_list *seen);

bool is_warp_builtin(const char *name)
{
    static const char *const begins[] = {"__sync",   "__shfl",  "__any",   "__all",
                                         "__ballot", "__match", "__reduce"};

    return is_any_of(name, begins, ARRAY_LEN(begins));
}

/* A call by which lanes wait for each other, or give each other values. */
static bool is_meeting(const struct function *f, struct node call, node_list *seen)
{
    static const char *const methods[] = {"sync",   "shfl",    "any",  "all",    "ballot",    "match",
                                          "arrive", "wait",    "Sum",  "Reduce", "Inclusive", "Exclusive",
                                          "Sort",   "Shuffle", "Load", "Store"};
    struct node callee = node_field(call, FIELD_FUNCTION);
    const char *name = call_name(f, call);

    if (node_is(callee, NODE_FIELD_EXPRESSION)) { /* of a cooperative group, a barrier, a block primitive */
        struct node method = callee_name(node_field(callee, FIELD_FIELD));
        return is_any_of(text_of(f, method), methods, ARRAY_LEN(methods));
    }
    if (is_warp_builtin(name) || str_eq(name, "sync") ||
        (str_eq(name, "reduce") && node_is(callee, NODE_QUALIFIED_IDENTIFIER)))
        return true;
    /* A function of the file, whichever of that name it is, is read once. */
    for (struct node one; node_ok(one = definition_unseen(f, name, seen));)
        if (meets_within(f, node_field(one, FIELD_BODY), seen))
            return true;
    return false;
}

static bool meets_within(const struct function *f, struct node n, node_list *seen)
{
    if (node_is(n, NODE_CALL_EXPRESSION) && is_meeting(f, n, seen))
        return true;
    if (node_is(n, NODE_GNU_ASM_EXPRESSION))
        return !assembly_computes(f, n);
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (meets_within(f, node_child(n, i), seen))
            return true;
    return false;
}

bool calls_barrier(const struct function *f, struct node n)
{
    return meets_within(f, n, &(node_list){0});
}

bool call_meets(const struct function *f, struct node call)
{
    return is_meeting(f, call, &(node_list){0});
}

struct node unbracketed(struct node n)
{
    while (node_is(n, NODE_PARENTHESIZED_EXPRESSION))
        n = node_child(n, 0);
    return n;
}

/* Is it a call of a function of the file that only gives back what its one argument points to, `ldg(&p[i])`?
 * Each function of that name must. */
static bool is_load_call(const struct function *f, struct node call)
{
    const char *name = call_name(f, call);
    size_t n = 0, seen = 0;

    if (!*name || node_count(node_field(call, FIELD_ARGUMENTS)) != 1 ||
        !node_is(node_field(call, FIELD_FUNCTION), NODE_IDENTIFIER))
        return false;
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        if (!node_text_is(f->s, definition_name(*definition), name))
            continue;
        struct node *all = named_children(f, node_field(*definition, FIELD_BODY), &n);
        struct node value = n == 1 && node_is(all[0], NODE_RETURN_STATEMENT) ? node_child(all[0], 0)
                                                                             : (struct node){0},
                    of = node_field(value, FIELD_ARGUMENT);
        if (node_is(value, NODE_CALL_EXPRESSION))
            of = node_child(node_field(value, FIELD_ARGUMENTS), 0);
        else if (!node_is_indirection(f, value))
            return false;
        bool plain = node_is(of, NODE_IDENTIFIER) &&
                     (!node_is(value, NODE_CALL_EXPRESSION) || call_is(f, value, "__ldg"));
        const struct function *g =
            plain && !node_has_error(*definition) ? function_open(f->in, f->a, *definition) : NULL;
        if (!g || g->n_params != 1 || !g->variables[0].pointer || !node_text_is(f->s, of, g->variables[0].name))
            return false;
        seen++;
    }
    return seen > 0;
}

bool element_reached(const struct function *f, struct node e, struct reached *p)
{
    struct node at = e, args = node_field(e, FIELD_ARGUMENTS);
    *p = (struct reached){.whole = e, .call = node_is(e, NODE_CALL_EXPRESSION)};
    if (p->call) {
        const char *name = call_name(f, e);
        bool load = node_count(args) == 1 && str_in(name, "__ldg|__ldcs|__ldca|__ldcg|__ldlu|__ldcv");
        bool store = node_count(args) == 2 && str_in(name, "__stcs|__stcg|__stwb|__stwt") &&
                     node_is(node_parent(e), NODE_EXPRESSION_STATEMENT);
        if (!load && !store && !is_load_call(f, e))
            return false;
        at = node_child(args, 0);
        if (store)
            p->value = node_child(args, 1);
        if (node_is_address(f, at))
            at = unbracketed(node_field(at, FIELD_ARGUMENT));
        else if (!node_is(at, NODE_BINARY_EXPRESSION))
            return false;
    } else if (node_is_indirection(f, e)) {
        at = unbracketed(node_field(e, FIELD_ARGUMENT));
        p->pointer = at;
        if (node_is(at, NODE_IDENTIFIER))
            return true;
        if (!node_is(at, NODE_BINARY_EXPRESSION))
            return false;
    }
    bool sum = node_is_binary(f, at, "+") && !node_same(at, e);
    p->pointer = node_field(at, sum ? FIELD_LEFT : FIELD_ARGUMENT);
    p->index = sum ? node_field(at, FIELD_RIGHT) : subscript_index(f, at);
    return (sum || node_is(at, NODE_SUBSCRIPT_EXPRESSION)) && node_ok(p->index);
}

bool statement_waits(const struct function *f, struct node n)
{
    const char *text = node_is(n, NODE_EXPRESSION_STATEMENT) ? text_of(f, n) : "";
    return str_starts(text, "cudaGridDependencySynchronize(") ||
           (str_starts(text, "asm") && strstr(text, "griddepcontrol.wait"));
}
