/* hoist: what a loop computes again in every turn though nothing in it changes is computed once before the
 * loop; and, where the error budget allows, a division by such a value becomes a multiplication by its
 * reciprocal. Pure arithmetic only, so computing it for a loop of no turns does no harm. */
#include "rewrite/analysis.h"

struct found {
    struct node e, loop; /* loop: the outermost one in which it does not change */
    bool divisor;        /* e is what is divided by */
    struct node division;
    const char *type, *name;
};

typedef VEC(struct found) found_list;

static bool is_costly(const struct function *f, struct node e)
{
    if (node_is(e, NODE_CALL_EXPRESSION)) {
        static const char *const cheap[] = {"__half2float",
                                            "__bfloat162float",
                                            "__float2half",
                                            "__float2bfloat16",
                                            "fmaxf",
                                            "fminf",
                                            "fabsf",
                                            "max",
                                            "min",
                                            "static_cast",
                                            "reinterpret_cast"};
        const char *name = text_of(f, node_field(e, FIELD_FUNCTION));
        bool is_cheap = false;
        for (size_t i = 0; i < ARRAY_LEN(cheap); i++)
            is_cheap = is_cheap || str_starts(name, cheap[i]);
        if (!is_cheap)
            return true;
    }
    int64_t value;
    if (node_is(e, NODE_BINARY_EXPRESSION) && (str_eq(node_op(f, e), "/") || str_eq(node_op(f, e), "%")) &&
        !constant_value(f, node_field(e, FIELD_RIGHT), &value))
        return true;
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (is_costly(f, node_child(e, i)))
            return true;
    return false;
}

/* The outermost loop that can do without it and stands among the statements of a block. */
static struct node home_of(const struct function *f, struct node e)
{
    struct node home = {0};
    for (struct node n = node_parent(e); node_ok(n) && !node_same(n, f->body); n = node_parent(n)) {
        if (!node_is_loop(n))
            continue;
        if (!expression_is_invariant(f, e, n))
            break;
        if (node_is(node_parent(n), NODE_COMPOUND_STATEMENT))
            home = n;
    }
    return home;
}

/* Reads memory that may not be there when the loop has no turns? Shared arrays at constant places always are.
 */
static bool reads_safely(const struct function *f, struct node e)
{
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION)) {
        const struct variable *root = pointer_root(f, e);
        if (!root || !root->shared)
            return false;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!reads_safely(f, node_child(e, i)))
            return false;
    return !node_is(e, NODE_POINTER_EXPRESSION);
}

static bool is_floating(const struct function *f, struct node e, const char **type)
{
    *type = expression_type(f, e);
    const char *bound = ctype_bound(f, *type);
    return bound && ctype_is_float(bound);
}

static void search(const struct function *f, struct node e, bool reciprocal, found_list *found)
{
    const char *type;
    bool expression = node_is_expression(e) && !node_is(e, NODE_ASSIGNMENT_EXPRESSION) &&
                      !node_is(e, NODE_UPDATE_EXPRESSION) && !node_is(e, NODE_SUBSCRIPT_EXPRESSION);
    if (node_is(e, NODE_FOR_STATEMENT)) { /* its own bound and step are the loop's affair */
        search(f, node_field(e, FIELD_BODY), reciprocal, found);
        return;
    }
    if (expression && is_floating(f, e, &type) && is_costly(f, e) && reads_safely(f, e)) {
        struct node home = home_of(f, e);
        if (node_ok(home)) {
            struct found one = {.e = e, .loop = home, .type = type};
            vec_add(f->a, found, one);
            return;
        }
    }
    if (reciprocal && node_is_binary(f, e, "/") && is_floating(f, e, &type)) {
        struct node right = node_field(e, FIELD_RIGHT), left = node_field(e, FIELD_LEFT);
        const char *divided_by;
        struct node home = reads_safely(f, right) ? home_of(f, right) : (struct node){0};
        if (node_ok(home) && is_floating(f, right, &divided_by) &&
            str_eq(ctype_bound(f, divided_by), ctype_bound(f, type))) {
            struct found one = {.e = right, .loop = home, .type = type, .divisor = true, .division = e};
            vec_add(f->a, found, one);
            search(f, left, reciprocal, found);
            return;
        }
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        search(f, node_child(e, i), reciprocal, found);
}

static const char *name_for(const struct function *f, const struct found *one, const found_list *before,
                            size_t n)
{
    struct node core = node_strip(one->e);
    const char *base = "factor";
    if (one->divisor)
        base = node_is(core, NODE_IDENTIFIER) ? arena_printf(f->a, "inverse_%s", text_of(f, core)) : "inverse";
    const char *name = fresh_local(f, base);
    for (int number = 2; number < 100; number++) {
        bool taken = false;
        for (size_t i = 0; i < n; i++)
            taken = taken || str_eq(before->v[i].name, name);
        if (!taken)
            break;
        name = fresh_local(f, arena_printf(f->a, "%s_%d", base, number));
    }
    return name;
}

static void hoisted(const struct function *f, found_list *found, struct edits *edits)
{
    for (size_t i = 0; i < found->n; i++) {
        struct found *one = &found->v[i];
        char *key = text_compact(f->a, text_of(f, one->e));
        for (size_t j = 0; j < i && !one->name; j++)
            if (found->v[j].divisor == one->divisor && node_same(found->v[j].loop, one->loop) &&
                str_eq(text_compact(f->a, text_of(f, found->v[j].e)), key))
                one->name = found->v[j].name;
        if (!one->name) {
            one->name = name_for(f, one, found, i);
            struct node before = one->loop; /* above its #pragma and comments */
            while (node_is(node_prev(before), NODE_PREPROC_CALL) ||
                   (node_is(node_prev(before), NODE_COMMENT) &&
                    node_line(f->s, node_prev(before)) + 1 == node_line(f->s, before)))
                before = node_prev(before);
            char *indent = text_indent(f, node_start(one->loop));
            char *e =
                text_of(f, node_is(one->e, NODE_PARENTHESIZED_EXPRESSION) ? node_child(one->e, 0) : one->e);
            if (one->divisor)
                e = arena_printf(f->a, str_eq(ctype_bound(f, one->type), "float") ? "1.0f / %s" : "1.0 / %s",
                                 text_of(f, one->e));
            edits_at(edits, str_line_start(f->text, node_start(before)),
                     arena_printf(f->a, "%sconst %s %s = %s;\n", indent, one->type, one->name, e));
        }
        if (one->divisor) {
            struct node op = node_field(one->division, FIELD_OPERATOR);
            edits_node(edits, op, "*");
        }
        edits_node(edits, one->e, one->name);
    }
}

static void hoist_find(struct function *f, struct site_list *list)
{
    for (int reciprocal = 0; reciprocal <= (int)f->in->fast_math_allowed; reciprocal++) {
        found_list found = {0};
        bool divides = false;
        search(f, f->body, reciprocal, &found);
        for (size_t j = 0; j < found.n; j++)
            divides = divides || found.v[j].divisor;
        if (found.n > 0 && (!reciprocal || divides))
            site_add(list, f, found.v[0].e, reciprocal,
                     "it does not change in the loop, yet every turn computes it again", "%s%s",
                     text_compact(f->a, text_of(f, found.v[0].e)),
                     reciprocal ? ", dividing by reciprocals" : "");
    }
}

static bool hoist_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    found_list found = {0};
    search(f, f->body, site->setting, &found);
    if (found.n == 0)
        return err_input(why_not, "nothing in a loop of %s stays the same", f->name);
    hoisted(f, &found, edits);
    return true;
}

const struct transform transform_hoist = {
    .name = "hoist",
    .summary = "compute what does not change in a loop before it; divide by it once",
    .helps = "issue latency",
    .parameters = {{"reciprocal", 1, 0, 2, {0, 1}}},
    .find = hoist_find,
    .apply = hoist_apply,
};
