/* fast-math: library functions and divisions in float become the hardware's approximations. Only where the
 * error budget has room (fast_math_allowed); which error results is judged by the trial. */
#include "rewrite/analysis.h"

static const struct {
    const char *from, *to;
} forms[] = {
    {"expf", "__expf"}, {"logf", "__logf"}, {"log2f", "__log2f"}, {"log10f", "__log10f"},
    {"powf", "__powf"}, {"sinf", "__sinf"}, {"cosf", "__cosf"},   {"tanf", "__tanf"},
};

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
        !text_has_word(text_range(f, node_start(parent), node_start(condition)), "constexpr"))
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
            edits_try(&inside, node_start(c), node_end(c), text);
    }
    return *changes > before ? edits_range(&inside, f, node_start(e), node_end(e)) : text_of(f, e);
}

static char *fast(const struct function *f, struct node e, size_t *changes)
{
    struct node callee = node_field(e, FIELD_FUNCTION);
    if (node_is(e, NODE_CALL_EXPRESSION) && node_is(callee, NODE_IDENTIFIER)) {
        for (size_t i = 0; i < ARRAY_LEN(forms); i++)
            if (node_text_is(f->s, callee, forms[i].from)) {
                ++*changes;
                return arena_printf(f->a, "%s%s", forms[i].to,
                                    fast_inside(f, node_field(e, FIELD_ARGUMENTS), changes));
            }
    }
    int64_t constant;
    if (node_is(e, NODE_BINARY_EXPRESSION) && str_eq(node_op(f, e), "/") && is_float(f, e)) {
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT),
                    root = root_argument(f, right);
        if (node_ok(root)) {
            ++*changes;
            char *under = fast_inside(f, root, changes), *over = fast(f, left, changes);
            return is_one(f, left) ? arena_printf(f->a, "rsqrtf(%s)", under)
                                   : arena_printf(f->a, "%s * rsqrtf(%s)", over, under);
        }
        if (is_float(f, right) && is_float(f, left) && !is_one(f, left) &&
            !constant_value(f, right, &constant) && !node_is(node_strip(right), NODE_NUMBER_LITERAL)) {
            ++*changes;
            char *over = fast(f, left, changes);
            struct node inner = node_is(right, NODE_PARENTHESIZED_EXPRESSION) ? node_child(right, 0) : right;
            return arena_printf(f->a, "__fdividef(%s, %s)", over, fast(f, inner, changes));
        }
    }
    return fast_inside(f, e, changes);
}

/* Every function of the file that runs on the device; the scalar path that no workload takes stays as it is. */
static char *fast_file(const struct transform_input *in, struct arena *a, size_t *changes, int *line,
                       const char **where)
{
    struct edits edits = {.arena = a};
    struct function *any = NULL;
    size_t n_all;
    struct node *all = node_find_all(a, source_root(in->kernel->source), NODE_FUNCTION_DEFINITION, &n_all);
    for (size_t i = 0; i < n_all; i++) {
        struct function *f = NULL;
        bool kernel = false;
        for (size_t k = 0; k < in->kernel->n_functions; k++)
            if (node_same(in->kernel->functions[k].definition, all[i])) {
                kernel = true;
                f = function_open_kernel(in, a, k);
            }
        if (!kernel && !node_has_error(all[i])) {
            f = function_open(in, a, all[i]);
            if (f && !text_has_word(text_range(f, node_start(all[i]), node_start(f->id)), "__device__"))
                f = NULL;
        }
        if (!f)
            continue;
        size_t before = *changes;
        char *text = fast_inside(f, f->body, changes);
        if (*changes == before)
            continue;
        if (!any) {
            *line = node_line(f->s, f->definition);
            *where = f->name;
        }
        any = f;
        edits_try(&edits, node_start(f->body), node_end(f->body), text);
    }
    return any ? edits_finish(&edits, any) : NULL;
}

static size_t fast_find(const struct transform_input *in, struct arena *a, const struct transform_site **sites)
{
    size_t changes = 0;
    int line = 0;
    const char *where = "";
    if (!in->fast_math_allowed || !fast_file(in, a, &changes, &line, &where))
        return 0;
    struct transform_site *site = arena_new(a, struct transform_site);
    *site = (struct transform_site){.transform = "fast-math", .line = line};
    site->where = arena_printf(a, "%s, line %d: %zu calls or divisions", where, line, changes);
    site->why = "the exact forms are tens of instructions each, the hardware's approximations a few";
    *sites = site;
    return 1;
}

static bool fast_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                       char **text, struct err *why_not)
{
    size_t changes = 0;
    int line;
    const char *where;
    (void)site;
    *text = fast_file(in, a, &changes, &line, &where);
    return *text || err_input(why_not, "no library function in float is called");
}

const struct transform transform_fast_math = {
    .name = "fast-math",
    .summary = "use the hardware's approximations of exp, log, sin, cos, pow, division and 1/sqrt in float",
    .helps = "issue latency",
    .find = fast_find,
    .apply = fast_apply,
};
