/* specialise: an integer argument that is the same in every workload becomes a constant of a copy of the
 * kernel, which the launcher takes when the argument has that value; any other value takes the kernel as it
 * was. */
#include "rewrite/analysis.h"

struct detail {
    const struct function *f;
    const struct variable *param;
    int64_t value;
};

static size_t specialise_find(const struct transform_input *in, struct arena *a,
                              const struct transform_site **sites)
{
    VEC(struct transform_site) found = {0};
    for (size_t i = 0; i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        if (!f || f->n_launches == 0 || function_is_named_elsewhere(f))
            continue;
        for (size_t p = 0; p < f->n_params; p++) {
            const struct variable *v = &f->variables[p];
            if (v->pointer || v->array || v->assignments || !ctype_is_integer(v->type) ||
                !node_mentions(f, f->body, v->name))
                continue;
            const struct transform_fact *fact = NULL;
            bool all = true;
            for (size_t l = 0; l < f->n_launches; l++) {
                struct node arg = node_strip(launch_arg(f, &f->launches[l], v));
                const struct transform_fact *one =
                    node_is(arg, NODE_IDENTIFIER) ? fact_of(in, text_of(f, arg)) : NULL;
                all = all && one && one->same && (!fact || fact->value == one->value);
                fact = one;
            }
            if (!all || !fact)
                continue;
            struct detail *d = arena_new(a, struct detail);
            *d = (struct detail){f, v, fact->value};
            struct transform_site site = {.transform = "specialise",
                                          .line = node_line(f->s, f->definition),
                                          .setting = (int)fact->value,
                                          .detail = d};
            site.where =
                arena_printf(a, "%s, line %d: %s = %lld", f->name, site.line, v->name, (long long)fact->value);
            site.why =
                "it is the same in every workload; as a constant, divisions and bounds by it become cheap";
            vec_add(a, &found, site);
        }
    }
    *sites = found.v;
    return found.n;
}

static bool specialise_apply(const struct transform_input *in, const struct transform_site *site,
                             struct arena *a, char **text, struct err *why_not)
{
    (void)in;
    const struct detail *d = site->detail;
    const struct function *f = d->f;
    if (f->n_params < 2)
        return err_input(why_not, "%s has no other parameter", f->name);
    struct edits inside = {.arena = a}, edits = {.arena = a};
    bool last = d->param->index + 1 == f->n_params;
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
    char *copy = function_copy(&inside, f, name);
    if (!copy)
        return err_input(why_not, "the changes to %s meet", f->name);
    edits_at(&edits, node_end(f->whole),
             arena_printf(a, "\n\n// As %s, for %s = %lld.\n%s", f->name, d->param->name, (long long)d->value,
                          copy));
    for (size_t l = 0; l < f->n_launches; l++) {
        const struct launch *launch = &f->launches[l];
        struct edits call = {.arena = a};
        struct node arg = launch->args[d->param->index];
        edits_try(&call, node_start(launch->name), node_end(launch->name), name);
        edits_try(&call, last ? node_end(launch->args[d->param->index - 1]) : node_start(arg),
                  last ? node_end(arg) : node_start(launch->args[d->param->index + 1]), "");
        char *fast = edits_range(&call, f, node_start(launch->statement), node_end(launch->statement));
        char *indent_launch = text_indent(f, node_start(launch->statement));
        edits_guard_launch(&edits, f, launch, NULL,
                           arena_printf(a, "%s == %lld", text_of(f, node_strip(arg)), (long long)d->value),
                           text_wrap(a, fast, (int)strlen(indent_launch) + 4));
    }
    return edits_done(&edits, f, text, why_not);
}

const struct transform transform_specialise = {
    .name = "specialise",
    .summary = "make an argument that is the same in all workloads a constant, behind a guard",
    .helps = "issue latency",
    .find = specialise_find,
    .apply = specialise_apply,
};
