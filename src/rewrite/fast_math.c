/* fast-math: library functions and divisions in float become the hardware's approximations. Only where the
 * error budget has room (fast_math_allowed); which error results is judged by the trial. */
#include "rewrite/analysis.h"

static bool is_float(const struct function *f, struct node e)
{
    return str_eq(ctype_bound(f, expression_type(f, e)), "float");
}

/* The root under a division, for rsqrtf. */
static struct node root_argument(const struct function *f, struct node e)
{
    e = node_strip(e);
    struct node args = call_is(f, e, "sqrtf") ? node_field(e, FIELD_ARGUMENTS) : (struct node){0};
    return node_ok(args) && node_count(args) == 1 ? node_child(args, 0) : (struct node){0};
}

static bool is_one(const struct function *f, struct node e)
{
    char *text = text_of(f, node_strip(e));
    return str_eq(text, "1.0f") || str_eq(text, "1.f") || str_eq(text, "1");
}

/* Does it grow like an exponential? __fdividef gives 0 for a divisor above 2^126, where a float still has a
 * result. */
static bool is_steep(const struct function *f, struct node e, int depth)
{
    const struct variable *v = node_is(e, NODE_IDENTIFIER) ? function_variable_of(f, e) : NULL;
    if (node_is(e, NODE_CALL_EXPRESSION) && str_in(call_name(f, e), "exp|expf|exp2f|__expf|exp10f"))
        return true;
    if (v && depth < 4 && node_ok(v->init) && v->assignments == 0 && is_steep(f, v->init, depth + 1))
        return true;
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (is_steep(f, node_child(e, i), depth))
            return true;
    return false;
}

/* Does a kernel of the file write floats? What it writes of 16 bits is 0 by then. */
static bool writes_floats(const struct transform_input *in, struct arena *a)
{
    size_t n;
    struct function **all = functions_open(in, a, &n);
    for (size_t i = 0; i < n; i++)
        for (const struct variable *v = all[i]->variables; v < all[i]->variables + all[i]->n_params; v++)
            if (all[i]->global && v->pointer && !v->to_const && ctype_is_float(ctype_bound(all[i], v->type)))
                return true;
    return false;
}

static char *fast(const struct function *f, struct node e, size_t *changes);

/* The branch of an `if constexpr` that is not compiled in any launch: nobody could verify what is changed
 * there. Where the condition is not known both are taken for compiled. */
static bool is_discarded(const struct function *f, struct node branch)
{
    struct node parent = node_parent(branch), condition;
    int64_t holds;

    if (node_is(parent, NODE_ELSE_CLAUSE))
        parent = node_parent(branch = parent);
    condition = node_field(parent, FIELD_CONDITION);
    if (!node_is(parent, NODE_IF_STATEMENT) || node_same(branch, condition) ||
        !str_has_word(text_range(f, node_start(parent), node_start(condition)), "constexpr"))
        return false;
    if (node_is(condition, NODE_CONDITION_CLAUSE))
        condition = node_field(condition, FIELD_VALUE);
    if (!constant_value(f, condition, &holds))
        return false;
    return node_same(branch, node_field(parent, FIELD_CONSEQUENCE)) ? !holds : holds != 0;
}

/* The text of e with everything inside it made fast. */
static char *fast_inside(const struct function *f, struct node e, size_t *changes)
{
    struct edits inside = {.arena = f->a};
    size_t before = *changes;
    for (uint32_t i = 0, all = node_count(e); i < all; i++) {
        struct node c = node_child(e, i);
        if (is_discarded(f, c))
            continue;
        size_t one = *changes;
        char *text = fast(f, c, changes);
        if (*changes > one)
            edits_node(&inside, c, text);
    }
    return *changes > before ? edits_range(&inside, f, node_start(e), node_end(e)) : text_of(f, e);
}

static char *fast(const struct function *f, struct node e, size_t *changes)
{
    struct node callee = node_field(e, FIELD_FUNCTION);
    if (node_is(e, NODE_CALL_EXPRESSION) &&
        (node_is(callee, NODE_IDENTIFIER) || node_is(callee, NODE_QUALIFIED_IDENTIFIER))) {
        /* Not logarithms, powers, sines and cosines: where a logarithm or a sine is near zero nothing of its
         * approximation is right, and a power multiplies that. */
        struct node args = node_field(e, FIELD_ARGUMENTS);
        bool overload = str_in(text_compact(f->a, text_of(f, callee)), "exp|std::exp|::exp") &&
                        node_count(args) == 1 && is_float(f, node_child(args, 0));
        if (overload || node_text_is(f->s, callee, "expf")) {
            ++*changes;
            return arena_printf(f->a, "__expf%s", fast_inside(f, args, changes));
        }
    }
    int64_t constant;
    if (node_is_binary(f, e, "/") && is_float(f, e)) {
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT),
                    root = root_argument(f, right);
        if (node_ok(root)) {
            ++*changes;
            char *under = fast_inside(f, root, changes), *over = fast(f, left, changes);
            return is_one(f, left) ? arena_printf(f->a, "rsqrtf(%s)", under)
                                   : arena_printf(f->a, "%s * rsqrtf(%s)", over, under);
        }
        if (is_float(f, right) && is_float(f, left) && !is_one(f, left) &&
            !constant_value(f, right, &constant) && !node_is(node_strip(right), NODE_NUMBER_LITERAL) &&
            !(is_steep(f, right, 0) && writes_floats(f->in, f->a))) {
            ++*changes;
            char *over = fast(f, left, changes);
            struct node inner = node_is(right, NODE_PARENTHESIZED_EXPRESSION) ? node_child(right, 0) : right;
            return arena_printf(f->a, "__fdividef(%s, %s)", over, fast(f, inner, changes));
        }
    }
    return fast_inside(f, e, changes);
}

/* Every function of the file that runs on the device; the scalar path that no workload takes stays as it is.
 * The first that changes, or NULL; edits come into *edits. */
static struct function *fast_file(const struct transform_input *in, struct edits *edits, size_t *changes)
{
    struct function *first = NULL;
    size_t n;
    struct function **all = functions_open(in, edits->arena, &n);
    for (size_t i = 0; i < n; i++) {
        struct function *f = all[i];
        size_t before = *changes;
        if (!f->global &&
            !str_has_word(text_range(f, node_start(f->definition), node_start(f->id)), "__device__"))
            continue;
        char *text = fast_inside(f, f->body, changes);
        if (*changes == before)
            continue;
        first = first ? first : f;
        edits_node(edits, f->body, text);
    }
    return first;
}

static void fast_find(const struct transform_input *in, struct site_list *found)
{
    size_t changes = 0;
    struct function *f =
        in->fast_math_allowed ? fast_file(in, &(struct edits){.arena = found->arena}, &changes) : NULL;
    if (f)
        site_add(found, f, f->definition, 0,
                 "the exact forms are tens of instructions each, the hardware's approximations a few",
                 "%zu calls or divisions", changes);
}

static bool fast_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    size_t changes = 0;
    (void)site;
    return fast_file(f->in, edits, &changes) || err_input(why_not, "no library function in float is called");
}

const struct transform transform_fast_math = {
    .name = "fast-math",
    .summary = "use the hardware's approximations of exp, log, sin, cos, pow, division and 1/sqrt in float",
    .helps = "issue latency",
    .find_in_file = fast_find,
    .apply = fast_apply,
};
