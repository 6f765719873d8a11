/* instances: a kernel that the launcher launches with several constants as its template's arguments
 * (`kernel<true><<<...>>>` here, `kernel<false><<<...>>>` there) becomes a kernel for each that the workloads
 * run, with the constants in the place of the parameters. What one instance asks, reads and writes is then
 * known, which the template hides. Alone it changes nothing: each launch runs the code that it ran.
 *
 * A constant is a literal at the launch, or a constant of the file. Types stay parameters. Launches that no
 * workload takes stay launches of the template. */
#include "rewrite/analysis.h"

enum { INSTANCES_MOST = 4, NUMBERS_MOST = 8 };

struct instance {
    int64_t value[NUMBERS_MOST];
    node_list launches; /* their names, as template functions */
};
struct instances {
    const struct function *f;
    struct node *params; /* of the template */
    size_t n_params;
    VEC(struct instance) list;
};

static bool is_number(const struct function *f, struct node param)
{
    return node_is(param, NODE_PARAMETER_DECLARATION) &&
           node_is(node_field(param, FIELD_DECLARATOR), NODE_IDENTIFIER) &&
           !str_has_word(text_of(f, param), "auto");
}

/* The values that a launch gives the numbers among the template's parameters. */
static bool values_at(const struct instances *all, const struct launch *l, int64_t *values)
{
    const struct function *f = all->f;
    size_t n_args = 0, k = 0;
    struct node *args = node_ok(l->template_args) ? named_children(f, l->template_args, &n_args) : NULL;

    for (size_t i = 0; i < all->n_params; i++) {
        if (!is_number(f, all->params[i]))
            continue;
        if (i >= n_args || k == NUMBERS_MOST || node_has(f, args[i], NODE_CALL_EXPRESSION))
            return false;
        for (struct node *name = names_in(f, args[i]); node_ok(*name); name++)
            if (node_ok(host_declarator(f, l, *name)) ||
                str_has_word(text_range(f, node_start(l->host), node_start(node_field(l->host, FIELD_BODY))),
                             text_of(f, *name)) ||
                str_has_word(text_of(f, node_parent(l->host)), "template"))
                return false;
        if (!constant_value(f, args[i], &values[k++]))
            return false;
    }
    return k > 0;
}

/* The number that a plan's name of a kernel has as its i-th argument: `f<(int)128, true>`. */
static bool planned_number(const struct plan_step *step, size_t i, int64_t *value)
{
    const char *p = strchr(step->kernel, '<');
    int depth = 0;
    char *end;

    for (p = p ? p + 1 : NULL; p && *p && i > 0; p++) {
        depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
        i -= *p == ',' && depth == 0;
    }
    if (!p || i > 0)
        return false;
    p += strspn(p, " ");
    if (*p == '(')
        p = strchr(p, ')') ? strchr(p, ')') + 1 : p;
    if (str_starts(p, "true") || str_starts(p, "false")) {
        *value = *p == 't';
        return true;
    }
    *value = strtoll(p, &end, 0);
    return end != p;
}

/* Does some workload run it, as far as can be told? */
static bool runs(const struct instances *all, const struct instance *x)
{
    if (all->f->in->n_plans == 0)
        return true;
    for (const struct plan_step *s = NULL; (s = planned_launch(all->f, s));) {
        bool same = true;
        for (size_t i = 0, k = 0; i < all->n_params && same; i++) {
            int64_t value;
            if (is_number(all->f, all->params[i]))
                same = !planned_number(s, i, &value) || value == x->value[k++];
        }
        if (same)
            return true;
    }
    return false;
}

static void add_launch(struct instances *all, const struct launch *l, const int64_t *values)
{
    struct instance *x = all->list.v, one = {0};

    while (x < all->list.v + all->list.n && memcmp(x->value, values, sizeof(x->value)) != 0)
        x++;
    if (x == all->list.v + all->list.n) {
        memcpy(one.value, values, sizeof(one.value));
        vec_add(all->f->a, &all->list, one);
        x = &all->list.v[all->list.n - 1];
    }
    vec_add(all->f->a, &x->launches, node_parent(l->name));
}

/* Do the parameters that stay need the numbers (`typename V = vector<T, N>`)? */
static bool types_need_numbers(const struct instances *all)
{
    const struct function *f = all->f;

    for (size_t i = 0; i < all->n_params; i++)
        for (size_t k = 0; k < all->n_params && is_number(f, all->params[i]); k++)
            if (!is_number(f, all->params[k]) &&
                str_has_word(text_of(f, all->params[k]),
                             text_of(f, node_field(all->params[i], FIELD_DECLARATOR))))
                return true;
    return false;
}

/* Several instances, of which some run. */
static bool instances_of(const struct function *f, struct instances *all)
{
    size_t n_running = 0, n = 0;

    *all = (struct instances){.f = f};
    if (f->special || !node_is(f->whole, NODE_TEMPLATE_DECLARATION) || f->n_launches < 2 ||
        function_is_named_elsewhere(f) || function_is_specialised(f, f->name))
        return false;
    all->params = named_children(f, node_field(f->whole, FIELD_PARAMETERS), &all->n_params);
    if (types_need_numbers(all))
        return false;
    for (size_t l = 0; l < f->n_launches; l++) {
        int64_t values[NUMBERS_MOST] = {0};
        if (values_at(all, &f->launches[l], values))
            add_launch(all, &f->launches[l], values);
        else
            n++; /* it stays one of the template */
    }
    if (all->list.n + n < 2)
        return false;
    for (size_t i = 0; i < all->list.n; i++)
        if (runs(all, &all->list.v[i]))
            all->list.v[n_running++] = all->list.v[i];
    all->list.n = n_running;
    return n_running > 0 && n_running <= INSTANCES_MOST;
}

static void instances_find(struct function *f, struct site_list *found)
{
    struct instances all;

    if (instances_of(f, &all))
        site_add(found, f, f->definition, 0,
                 "what a template's numbers decide differs between its launches, and hides it",
                 "%zu instance%s", all.list.n, all.list.n > 1 ? "s" : "");
}

/* The arguments or parameters of a template without its numbers; "" where none remain. */
static const char *without_numbers(const struct instances *all, const struct node *list, size_t n)
{
    struct str b = {.arena = all->f->a};

    for (size_t i = 0; i < n; i++)
        if (i >= all->n_params || !is_number(all->f, all->params[i]))
            str_addf(&b, "%s%s", b.len ? ", " : "", text_of(all->f, list[i]));
    return b.len ? arena_printf(all->f->a, "<%s>", str_text(&b)) : "";
}

static const char *number_text(const struct instances *all, size_t param, int64_t value)
{
    const char *type = text_of(all->f, node_field(all->params[param], FIELD_TYPE));

    if (str_eq(type, "bool"))
        return value ? "true" : "false";
    if (str_eq(ctype_alias(all->f, type), "int"))
        return arena_printf(all->f->a, value < 0 ? "(%lld)" : "%lld", (long long)value);
    return arena_printf(all->f->a, "(%s)%lld", type, (long long)value);
}

/* A copy of the kernel with the values where it says its parameters. */
static bool copy_edit(const struct instances *all, const struct instance *x, const char *name,
                      struct edits *edits, struct err *why_not)
{
    const struct function *f = all->f;
    struct edits inside = {.arena = f->a};
    struct node list = node_field(f->whole, FIELD_PARAMETERS);
    const char *types = without_numbers(all, all->params, all->n_params);
    struct str how = {.arena = f->a};

    if (*types)
        edits_node(&inside, list, types);
    else
        edits_try(&inside, node_start(f->whole), node_start(f->definition), "");
    for (size_t i = 0, k = 0; i < all->n_params; i++) {
        if (!is_number(f, all->params[i]))
            continue;
        const char *param = text_of(f, node_field(all->params[i], FIELD_DECLARATOR)),
                   *text = number_text(all, i, x->value[k++]);
        str_addf(&how, "%s%s = %s", how.len ? ", " : "", param, text);
        for (struct node *word = names_in(f, f->definition); node_ok(*word); word++)
            if (node_text_is(f->s, *word, param) && !function_variable_of(f, *word))
                edits_node(&inside, *word, text);
        for (struct node *word = nodes_of(f, f->definition, NODE_TYPE_IDENTIFIER); node_ok(*word); word++)
            if (node_text_is(f->s, *word, param)) /* an argument that may be either is read as a type */
                edits_node(&inside, *word, text);
    }
    return edits_copy(edits, &inside, f, name, arena_printf(f->a, "with %s", str_text(&how)), why_not);
}

static bool instances_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                            struct err *why_not)
{
    struct instances all;

    (void)site;
    if (!instances_of(f, &all))
        return err_input(why_not, "%s is launched with the same numbers everywhere", f->name);
    for (size_t i = 0; i < all.list.n; i++) {
        const struct instance *x = &all.list.v[i];
        struct str base = {.arena = f->a};
        str_add(&base, f->name);
        for (size_t p = 0, k = 0; p < all.n_params; p++)
            if (is_number(f, all.params[p])) {
                str_addf(&base, "_%s%lld", x->value[k] < 0 ? "minus" : "", (long long)llabs(x->value[k]));
                k++;
            }
        const char *name = fresh_name(f, str_text(&base));
        if (!copy_edit(&all, x, name, edits, why_not))
            return false;
        for (size_t l = 0; l < x->launches.n; l++) {
            struct node whole = x->launches.v[l];
            size_t n;
            struct node *args = named_children(f, node_field(whole, FIELD_ARGUMENTS), &n);
            edits_node(edits, whole, arena_printf(f->a, "%s%s", name, without_numbers(&all, args, n)));
        }
    }
    return true;
}

const struct transform transform_instances = {
    .name = "instances",
    .summary = "make the instances of a template that the workloads run kernels of their own",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find = instances_find,
    .apply = instances_apply,
};
