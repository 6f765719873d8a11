/* specialise: an integer argument that is the same in every workload becomes a constant of a copy of the
 * kernel, which the launcher takes when the argument has that value; any other value takes the kernel as it
 * was. */
#include "rewrite/analysis.h"

struct detail {
    const struct variable *param;
    int64_t value;
};

static void specialise_find(struct function *f, struct site_list *found)
{
    for (const struct variable *v = f->variables;
         v < f->variables + f->n_params && f->n_launches > 0 && function_may_be_copied(f); v++) {
        if (v->pointer || v->array || v->assignments || !ctype_is_integer(f, v->type) ||
            !node_mentions(f, f->body, v->name))
            continue;
        const struct transform_fact *fact = NULL;
        bool all = true;
        for (size_t l = 0; l < f->n_launches; l++) {
            struct node arg = node_strip(launch_arg(f, &f->launches[l], v));
            const struct transform_fact *one =
                node_is(arg, NODE_IDENTIFIER) ? fact_of(f->in, text_of(f, arg)) : NULL;
            all = all && one && one->same && (!fact || fact->value == one->value);
            fact = one;
        }
        if (!all || !fact)
            continue;
        struct detail d = {v, fact->value};
        site_add(found, f, f->definition, (int)fact->value,
                 "it is the same in every workload; as a constant, divisions and bounds by it become cheap",
                 "%s = %lld", v->name, (long long)fact->value)
            ->detail = arena_copy(f->a, &d, sizeof(d));
    }
}

static bool specialise_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                             struct err *why_not)
{
    const struct detail *d = site->detail;
    struct arena *a = f->a;
    if (f->n_params < 2)
        return err_input(why_not, "%s has no other parameter", f->name);
    struct edits inside = {.arena = a};
    const char **params = arena_array(a, const char *, f->n_params);
    size_t n = 0;
    for (size_t i = 0; i < f->n_params; i++)
        if (i != d->param->index)
            params[n++] = text_of(f, f->variables[i].statement);
    char *name = fresh_name(f, arena_printf(a, "%s_%s%lld", f->name, d->param->name, (long long)d->value));
    edits_parameters(&inside, f, params, n, (int)strlen(name) - (int)strlen(f->name));
    char *indent = arena_printf(a, "%s    ", text_indent(f, node_start(f->definition)));
    edits_at(&inside, node_start(f->body) + 1,
             arena_printf(a, "\n%sconstexpr %s %s = %lld;", indent, d->param->type, d->param->name,
                          (long long)d->value));
    const char *holds = arena_printf(a, "%s = %lld", d->param->name, (long long)d->value);
    if (!edits_copy(edits, &inside, f, name, arena_printf(a, "for %s", holds), why_not))
        return false;
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        struct edits call = {.arena = a};
        struct node arg = launch->args[d->param->index];
        size_t at = d->param->index;
        bool last = at + 1 == launch->n_args;
        edits_node(&call, launch_name(f, launch), name);
        edits_try(&call, last && at > 0 ? node_end(launch->args[at - 1]) : node_start(arg),
                  last ? node_end(arg) : node_start(launch->args[at + 1]), "");
        char *fast = edits_range(&call, f, node_start(launch->statement), node_end(launch->statement));
        edits_guard_launch(edits, f, launch, NULL,
                           arena_printf(a, "%s == %lld", text_of(f, node_strip(arg)), (long long)d->value),
                           fast);
    }
    return true;
}

const struct transform transform_specialise = {
    .name = "specialise",
    .summary = "make an argument that is the same in all workloads a constant, behind a guard",
    .helps = "issue latency",
    .find = specialise_find,
    .apply = specialise_apply,
};
