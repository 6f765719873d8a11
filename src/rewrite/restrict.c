/* restrict: pointer parameters promise not to overlap, and what is only read says so, so that the compiler may
 * move loads above stores and use the read-only path. Legal when every launch passes different pointers. */
#include "rewrite/analysis.h"

static bool differ(const struct function *f)
{
    for (size_t l = 0; l < f->n_launches; l++)
        for (size_t i = 0; i < f->n_params; i++)
            for (size_t j = 0; j < i; j++) {
                struct node x = launch_arg(f, &f->launches[l], &f->variables[i]);
                struct node y = launch_arg(f, &f->launches[l], &f->variables[j]);
                if (f->variables[i].pointer && f->variables[j].pointer &&
                    str_eq(text_compact(f->a, text_of(f, node_strip(x))),
                           text_compact(f->a, text_of(f, node_strip(y)))))
                    return false;
            }
    return f->n_launches > 0;
}

/* Is it used as a pointer to what may be written: in a cast that does not say const, or as the value of such a
 * pointer, or of one that is not seen? */
static bool becomes_writable(const struct function *f, const struct variable *v, struct node n)
{
    const char *type = NULL;
    if (node_is(n, NODE_CAST_EXPRESSION))
        type = text_of(f, node_field(n, FIELD_TYPE));
    else if (node_is(n, NODE_CALL_EXPRESSION) && str_starts(text_of(f, n), "reinterpret_cast<"))
        type = text_of(f, node_field(n, FIELD_FUNCTION));
    else if (node_is(n, NODE_DECLARATION) &&
             node_is(node_field(node_field(n, FIELD_DECLARATOR), FIELD_DECLARATOR), NODE_POINTER_DECLARATOR))
        type = arena_printf(f->a, "%s*",
                            text_range(f, node_start(n), node_start(node_field(n, FIELD_DECLARATOR))));
    if (type && strchr(type, '*') && !str_has_word(type, "const") && node_mentions(f, n, v->name))
        return true;
    struct node value = node_is(n, NODE_ASSIGNMENT_EXPRESSION) ? node_strip(node_field(n, FIELD_RIGHT)) : n;
    while (node_is(value, NODE_BINARY_EXPRESSION) && !node_same(value, n)) /* `other = p + i` */
        value = node_strip(node_field(value, FIELD_LEFT));
    if (!node_same(value, n) && function_variable_of(f, value) == v)
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (becomes_writable(f, v, node_child(n, i)))
            return true;
    return false;
}

/* Nothing is stored through it, and it goes to no call that could. */
static bool only_read(const struct function *f, const struct variable *v)
{
    return !v->assignments && !memory_written_in(f, v->name, f->body) && !becomes_writable(f, v, f->body);
}

/* A specialisation keeps the types that its template gives. */
static size_t changes(const struct function *f, struct edits *edits)
{
    size_t n = 0;
    if (f->special)
        return 0;
    const char **params = arena_array(f->a, const char *, f->n_params + 1);
    bool may_be_const = !node_has(f, f->body, NODE_LAMBDA_EXPRESSION) && !function_has_prototype(f);
    for (size_t i = 0; i < f->n_params; i++) {
        const struct variable *v = &f->variables[i];
        struct node declarator = node_field(v->statement, FIELD_DECLARATOR);
        struct edits inside = {.arena = f->a};
        if (v->pointer && !v->array && node_is(declarator, NODE_POINTER_DECLARATOR) &&
            !node_is(node_field(declarator, FIELD_DECLARATOR), NODE_POINTER_DECLARATOR)) {
            if (!v->restricted)
                edits_at(&inside, node_start(v->id), "__restrict__ ");
            if (!v->to_const && may_be_const && only_read(f, v))
                edits_at(&inside, node_start(node_field(v->statement, FIELD_TYPE)), "const ");
            n += inside.list.n;
        }
        params[i] = edits_range(&inside, f, node_start(v->statement), node_end(v->statement));
    }
    if (n > 0)
        edits_parameters(edits, f, params, f->n_params, 0);
    return n;
}

static void restrict_find(struct function *f, struct site_list *found)
{
    if (differ(f) && changes(f, &(struct edits){.arena = f->a}) > 0)
        site_add(found, f, f->definition, 0,
                 "the compiler must assume that stores change what is loaded later, and waits for them",
                 "its pointers");
}

static bool restrict_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                           struct err *why_not)
{
    (void)site;
    return (differ(f) && changes(f, edits) > 0) ||
           err_input(why_not, "the pointers of %s say so already", f->name);
}

const struct transform transform_restrict = {
    .name = "restrict",
    .summary = "promise that pointers do not overlap and that inputs are only read",
    .helps = "latency dram",
    .find = restrict_find,
    .apply = restrict_apply,
};
