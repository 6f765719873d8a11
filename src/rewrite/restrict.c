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

/* Nothing is stored through it, and it goes to no call that could. */
static bool only_read(const struct function *f, const struct variable *v)
{
    return !v->assignments && !memory_written_in(f, v->name, f->body);
}

static size_t changes(const struct function *f, struct edits *edits)
{
    size_t n = 0, n_lambdas;
    const char **params = arena_array(f->a, const char *, f->n_params + 1);
    node_find_all(f->a, f->body, NODE_LAMBDA_EXPRESSION, &n_lambdas);
    for (size_t i = 0; i < f->n_params; i++) {
        const struct variable *v = &f->variables[i];
        struct node declarator = node_field(v->statement, FIELD_DECLARATOR);
        struct edits inside = {.arena = f->a};
        if (v->pointer && !v->array && node_is(declarator, NODE_POINTER_DECLARATOR) &&
            !node_is(node_field(declarator, FIELD_DECLARATOR), NODE_POINTER_DECLARATOR)) {
            if (!v->restricted)
                edits_at(&inside, node_start(v->id), "__restrict__ ");
            if (!v->to_const && only_read(f, v) && n_lambdas == 0)
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
