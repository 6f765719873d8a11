/* Mutants by the syntax tree. Each operator looks at one kind of node and says what to put in its place;
 * whether the result compiles, differs and is noticed is for others to find out. */
#include "internal.h"

const char *const source_op_names[SOURCE_OPS] = {
    "bound-off-by-one", "compare-negated", "add-sub",
    "mul-add",          "div-mul",         "bits",
    "and-or",           "term-dropped",    "operands-swapped",
    "guard-removed",    "branch-dropped",  "stride-wrong",
    "tail-skipped",     "start-skipped",   "sync-dropped",
    "store-dropped",    "sum-not-kept",    "accumulator-narrowed",
    "function-dropped", "min-max",         "shuffle-dropped",
    "constant-off",     "axis-wrong",      "sign-dropped",
    "choice-fixed",     "atomic-lost",
};

struct finder {
    const struct kernel *k;
    struct arena *a;
    mutant_vec found;
};

static void add(struct finder *f, const char *op, struct node n, size_t from, size_t to, const char *is)
{
    mutant_add(&f->found, f->a, f->k->text,
               (struct mutant){.op = op, .line = node_line(f->k->source, n), .from = from, .to = to, .is = is});
}

static void replace(struct finder *f, const char *op, struct node n, const char *is)
{
    add(f, op, n, node_start(n), node_end(n), is);
}

static const char *text_of(struct finder *f, struct node n)
{
    return node_text(f->a, f->k->source, n);
}

static bool ends_with_any(const char *s, const char *const *list)
{
    for (; *list; list++)
        if (str_ends(s, *list))
            return true;
    return false;
}

/* ---- expressions ---- */

static void binary(struct finder *f, struct node n)
{
    static const struct {
        const char *op, *from, *to;
    } swaps[] = {
        {"bound-off-by-one", "<", "<="},
        {"bound-off-by-one", "<=", "<"},
        {"bound-off-by-one", ">", ">="},
        {"bound-off-by-one", ">=", ">"},
        {"compare-negated", "==", "!="},
        {"compare-negated", "!=", "=="},
        {"add-sub", "+", "-"},
        {"add-sub", "-", "+"},
        {"mul-add", "*", "+"},
        {"div-mul", "/", "*"},
        {"div-mul", "%", "/"},
        {"bits", "<<", ">>"},
        {"bits", ">>", "<<"},
        {"bits", "&", "|"},
        {"bits", "|", "&"},
        {"bits", "^", "|"},
        {"and-or", "&&", "||"},
        {"and-or", "||", "&&"},
    };
    struct node left = node_field(n, FIELD_LEFT), right = node_field(n, FIELD_RIGHT),
                op = node_field(n, FIELD_OPERATOR);
    const char *sign = text_of(f, op);

    for (size_t i = 0; i < ARRAY_LEN(swaps); i++)
        if (str_eq(sign, swaps[i].from))
            replace(f, swaps[i].op, op, swaps[i].to);
    if (str_eq(sign, "+") || str_eq(sign, "-") || str_eq(sign, "*")) {
        replace(f, "term-dropped", n, text_of(f, left));
        if (!str_eq(sign, "-"))
            replace(f, "term-dropped", n, text_of(f, right));
    }
    if (str_eq(sign, "-") || str_eq(sign, "/"))
        replace(f, "operands-swapped", n,
                arena_printf(f->a, "%s %s %s", text_of(f, right), sign, text_of(f, left)));
}

static void call(struct finder *f, struct node n)
{
    static const char *const one_argument[] = {"expf",  "__expf", "exp",   "sqrtf", "rsqrtf",
                                               "logf",  "__logf", "tanhf", "fabsf", "abs",
                                               "rsqrt", "sqrt",   "exp2f", "log2f", NULL};
    static const char *const shuffles[] = {"__shfl_xor_sync", "__shfl_down_sync", "__shfl_up_sync",
                                           "__shfl_sync", NULL};
    static const char *const pairs[][2] = {{"fmaxf", "fminf"}, {"fminf", "fmaxf"},   {"max", "min"},
                                           {"min", "max"},     {"__hmax", "__hmin"}, {"__hmin", "__hmax"}};
    struct node callee = node_field(n, FIELD_FUNCTION), args = node_field(n, FIELD_ARGUMENTS);
    const char *name = text_of(f, callee);
    struct node first = node_count(args) > 0 ? node_child(args, 0) : (struct node){0};

    for (size_t i = 0; one_argument[i]; i++)
        if (str_eq(name, one_argument[i]) && node_ok(first))
            replace(f, "function-dropped", n, arena_printf(f->a, "(%s)", text_of(f, first)));
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (str_eq(name, pairs[i][0]))
            replace(f, "min-max", callee, pairs[i][1]);
    if (ends_with_any(name, shuffles) && node_count(args) >= 2)
        replace(f, "shuffle-dropped", n, arena_printf(f->a, "(%s)", text_of(f, node_child(args, 1))));
    if (str_eq(name, "atomicAdd") && node_count(args) == 2)
        replace(f, "atomic-lost", n,
                arena_printf(f->a, "(*(%s) += %s)", text_of(f, first), text_of(f, node_child(args, 1))));
}

static void number(struct finder *f, struct node n)
{
    const char *s = text_of(f, n);
    char *end;
    long long v = strtoll(s, &end, 0);

    if (v == 0 && node_is(node_parent(n), NODE_KERNEL_CALL_SYNTAX))
        return; /* more shared memory than is used changes nothing */
    if (strpbrk(s, ".eEpP") && !str_starts(s, "0x"))
        replace(f, "constant-off", n, arena_printf(f->a, "(%s + 1)", s));
    else if (end != s && v >= 0 && v < 1 << 20 && !*(end + strspn(end, "uUlLzZ")))
        replace(f, "constant-off", n, arena_printf(f->a, "%lld%s", v > 1 ? v - 1 : v + 1, end));
}

static void field(struct finder *f, struct node n)
{
    const char *s = text_of(f, n);

    if (!str_starts(s, "threadIdx.") && !str_starts(s, "blockIdx."))
        return;
    if (str_ends(s, ".x"))
        replace(f, "axis-wrong", n, arena_printf(f->a, "%.*sy", (int)strlen(s) - 1, s));
    else
        replace(f, "axis-wrong", n, arena_printf(f->a, "%.*sx", (int)strlen(s) - 1, s));
}

static void unary(struct finder *f, struct node n)
{
    struct node op = node_field(n, FIELD_OPERATOR), of = node_field(n, FIELD_ARGUMENT);

    if (node_text_is(f->k->source, op, "-") && !node_is(of, NODE_NUMBER_LITERAL))
        replace(f, "sign-dropped", n, text_of(f, of));
    else if (node_text_is(f->k->source, op, "!"))
        replace(f, "compare-negated", n, text_of(f, of));
}

/* ---- statements ---- */

static void assignment(struct finder *f, struct node n)
{
    struct node left = node_field(n, FIELD_LEFT), right = node_field(n, FIELD_RIGHT),
                op = node_field(n, FIELD_OPERATOR);
    const char *sign = text_of(f, op);

    if (str_eq(sign, "+=") || str_eq(sign, "*=")) {
        replace(f, "sum-not-kept", op, "=");
        if (str_eq(sign, "+=") && node_is(left, NODE_IDENTIFIER) &&
            node_is(node_parent(n), NODE_EXPRESSION_STATEMENT) && !node_is(right, NODE_NUMBER_LITERAL))
            replace(f, "accumulator-narrowed", n,
                    arena_printf(f->a, "%s = __uint_as_float(__float_as_uint(%s + (%s)) & 0xffff0000u)",
                                 text_of(f, left), text_of(f, left), text_of(f, right)));
    }
    if (str_eq(sign, "=") && !node_is(left, NODE_IDENTIFIER) &&
        node_is(node_parent(n), NODE_EXPRESSION_STATEMENT))
        replace(f, "store-dropped", node_parent(n), ";");
}

static void loop(struct finder *f, struct node n)
{
    struct node update = node_field(n, FIELD_UPDATE), condition = node_field(n, FIELD_CONDITION),
                start = node_field(n, FIELD_INITIALIZER);

    if (node_is(update, NODE_ASSIGNMENT_EXPRESSION)) {
        struct node step = node_field(update, FIELD_RIGHT);
        replace(f, "stride-wrong", step, arena_printf(f->a, "2 * (%s)", text_of(f, step)));
    } else if (node_is(update, NODE_UPDATE_EXPRESSION)) {
        const char *s = text_of(f, node_field(update, FIELD_ARGUMENT));
        replace(f, "stride-wrong", update, arena_printf(f->a, "%s += 2", s));
    }
    if (node_is(condition, NODE_BINARY_EXPRESSION) &&
        (node_text_is(f->k->source, node_field(condition, FIELD_OPERATOR), "<") ||
         node_text_is(f->k->source, node_field(condition, FIELD_OPERATOR), "<="))) {
        struct node bound = node_field(condition, FIELD_RIGHT);
        replace(f, "tail-skipped", bound, arena_printf(f->a, "(%s) / 4 * 4", text_of(f, bound)));
        replace(f, "tail-skipped", bound, arena_printf(f->a, "(%s) - 1", text_of(f, bound)));
    }
    if (node_is(start, NODE_DECLARATION)) {
        struct node value = node_field(node_field(start, FIELD_DECLARATOR), FIELD_VALUE);
        if (node_ok(value))
            replace(f, "start-skipped", value, arena_printf(f->a, "(%s) + 1", text_of(f, value)));
    }
}

static void statement(struct finder *f, struct node n)
{
    static const char *const barriers[] = {"__syncthreads()", "__syncwarp()", ".sync()", "__threadfence()",
                                           NULL};
    struct node e = node_count(n) ? node_child(n, 0) : (struct node){0};

    if (!node_is(e, NODE_CALL_EXPRESSION))
        return;
    const char *s = text_of(f, e);
    if (ends_with_any(s, barriers) || str_starts(s, "__syncwarp"))
        replace(f, "sync-dropped", n, ";");
    else if (str_starts(s, "atomic") || str_starts(s, "cudaMemsetAsync"))
        replace(f, "store-dropped", n, ";");
}

static void branch(struct finder *f, struct node n)
{
    struct node condition = node_field(n, FIELD_CONDITION),
                inner = node_count(condition) ? node_child(condition, 0) : condition;

    replace(f, "guard-removed", inner, "true");
    replace(f, "branch-dropped", inner, "false");
}

static void choice(struct finder *f, struct node n)
{
    replace(f, "choice-fixed", n, arena_printf(f->a, "(%s)", text_of(f, node_field(n, FIELD_CONSEQUENCE))));
    replace(f, "choice-fixed", n, arena_printf(f->a, "(%s)", text_of(f, node_field(n, FIELD_ALTERNATIVE))));
}

/* ---- the walk ---- */

static const struct {
    enum node_kind kind;
    void (*look)(struct finder *f, struct node n);
} looks[] = {
    {NODE_BINARY_EXPRESSION, binary}, {NODE_CALL_EXPRESSION, call},
    {NODE_NUMBER_LITERAL, number},    {NODE_FIELD_EXPRESSION, field},
    {NODE_UNARY_EXPRESSION, unary},   {NODE_ASSIGNMENT_EXPRESSION, assignment},
    {NODE_FOR_STATEMENT, loop},       {NODE_EXPRESSION_STATEMENT, statement},
    {NODE_IF_STATEMENT, branch},      {NODE_CONDITIONAL_EXPRESSION, choice},
};

static bool visit(void *context, struct node n)
{
    struct finder *f = context;

    if (node_is(n, NODE_ATTRIBUTE) || node_is(n, NODE_LAUNCH_BOUNDS) ||
        node_is(n, NODE_STATIC_ASSERT_DECLARATION) || node_is_directive(n))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (node_is(n, looks[i].kind))
            looks[i].look(f, n);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct mutant *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

void mutants_of_source(const struct kernel *k, struct arena *a, const struct mutant **list, size_t *n)
{
    struct finder f = {.k = k, .a = a};
    struct node root = source_root(k->source);

    for (uint32_t i = 0; i < node_count(root); i++) {
        struct node top = node_child(root, i);
        if (node_is(top, NODE_FUNCTION_DEFINITION) || node_is(top, NODE_TEMPLATE_DECLARATION) ||
            node_is(top, NODE_LINKAGE_SPECIFICATION) || node_is(top, NODE_NAMESPACE_DEFINITION) ||
            node_is(top, NODE_DECLARATION))
            node_walk(top, visit, &f);
    }
    if (f.found.n)
        qsort(f.found.v, f.found.n, sizeof(*f.found.v), by_place);
    *list = arena_copy(a, f.found.v, f.found.n * sizeof(*f.found.v));
    *n = f.found.n;
    vec_free(&f.found);
}
