/* inline: a device function that a kernel calls for its effect stands in the kernel instead, so that the other
 * transforms see what it reads and writes. The compiler does the same; alone it changes nothing.
 *
 * The function must be the only one of its name, return nothing, keep nothing between calls, and return early
 * only where the kernel ends with the call. Arguments become variables with the parameters' types, under names
 * that the kernel has not; what the function calls by a name must mean the same in the kernel. */
#include "rewrite/analysis.h"

enum { MOST_PARAMETERS = 32 };

struct detail {
    struct node call, statement;
    const struct function *callee;
    const struct node *args;
    const char *names[MOST_PARAMETERS]; /* of the variables; NULL: the argument itself is the variable */
    bool braces;                        /* its own variables have names of the kernel's */
};

static const char *last_word(struct arena *a, const char *text)
{
    size_t end = strlen(text);
    while (end > 0 && !str_in_word(text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && str_in_word(text[start - 1]))
        start--;
    return arena_strndup(a, text + start, end - start);
}

/* What the callee's template parameter stands for at the call: said there, or told by an argument. NULL: not
 * seen. */
static const char *binding(const struct function *f, const struct detail *d, size_t which, const char *name)
{
    struct node function = node_field(d->call, FIELD_FUNCTION);
    while (node_is(function, NODE_QUALIFIED_IDENTIFIER))
        function = node_field(function, FIELD_NAME);
    size_t n = 0;
    struct node *said = node_is(function, NODE_TEMPLATE_FUNCTION)
                            ? named_children(f, node_field(function, FIELD_ARGUMENTS), &n)
                            : NULL;
    if (which < n)
        return text_of(f, said[which]);
    for (size_t i = 0; i < d->callee->n_params; i++) {
        const struct variable *p = &d->callee->variables[i];
        if (!str_eq(p->type, name))
            continue;
        const struct variable *root = p->pointer ? pointer_root(f, d->args[i]) : NULL;
        const char *type = root ? root->type : NULL;
        if (!p->pointer)
            type = expression_type(f, d->args[i]);
        return type && !str_has_word(type, "auto") && !str_has_word(type, "void") ? type : NULL;
    }
    return NULL;
}

/* A piece of the callee's text, with its template parameters bound; NULL when one is not known. */
static char *bound_text(const struct function *f, const struct detail *d, char *text)
{
    const struct function *g = d->callee;
    if (!node_is(g->whole, NODE_TEMPLATE_DECLARATION))
        return text;
    size_t n;
    struct node *params = named_children(g, node_field(g->whole, FIELD_PARAMETERS), &n);
    for (size_t i = 0; i < n; i++) {
        char *whole = text_of(g, params[i]), *is = strchr(whole, '=');
        if (is)
            *is = '\0';
        const char *name = last_word(f->a, whole), *by = binding(f, d, i, name);
        if (!str_has_word(text, name))
            continue;
        if (!by)
            return NULL;
        text = str_eq(by, name) ? text : str_replace_word(f->a, text, name, by);
    }
    return text;
}

/* The argument is a variable of the parameter's name and type, which nobody changes: it can be used as it is.
 */
static bool is_same(const struct function *f, const struct detail *d, size_t i)
{
    const struct variable *p = &d->callee->variables[i], *v = function_variable_of(f, d->args[i]);
    const char *type = bound_text(f, d, arena_strdup(f->a, p->type));
    return v && str_eq(v->name, p->name) && str_eq(v->type, type) && v->pointer == p->pointer && !v->array &&
           !p->assignments && !v->assignments;
}

static bool understood(const struct function *f, struct node call, struct detail *d, struct err *why)
{
    const char *name = call_name(f, call);
    size_t n, n_args;
    *d = (struct detail){.call = call, .statement = node_parent(call)};
    if (!node_is(d->statement, NODE_EXPRESSION_STATEMENT) || !*name ||
        node_is(node_field(call, FIELD_FUNCTION), NODE_FIELD_EXPRESSION) ||
        !node_is(node_parent(d->statement), NODE_COMPOUND_STATEMENT))
        return err_input(why, "it is no statement by itself");
    const struct function *g = d->callee = function_only(f, name);
    if (!g || g->global || g->n_params > MOST_PARAMETERS)
        return err_input(why, "%s is not one function of the file", name);
    d->args = named_children(f, node_field(call, FIELD_ARGUMENTS), &n_args);
    char *head = text_range(g, node_start(g->definition), node_start(g->id)), *body = text_of(g, g->body);
    if (n_args != g->n_params || !str_has_word(head, "void") || !str_has_word(head, "__device__") ||
        strchr(head, '*') || str_has_word(body, name) || str_has_word(body, "static") ||
        str_has_word(body, "__shared__") || str_has_word(body, "goto") || strchr(body, '#'))
        return err_input(why, "%s keeps things, or calls itself", name);
    struct node *all = named_children(f, f->body, &n);
    if (node_has(f, g->body, NODE_RETURN_STATEMENT) && !node_same(all[n - 1], d->statement))
        return err_input(why, "%s returns early, and the kernel goes on", name);
    char *kernel = text_of(f, f->whole);
    for (size_t i = 0; i < g->n_params; i++) {
        const struct variable *p = &g->variables[i];
        if (p->array || str_has_word(p->type, "auto") || strchr(text_of(g, p->statement), '&'))
            return err_input(why, "%s has a reference among its parameters", name);
        if (!is_same(f, d, i))
            d->names[i] = str_has_word(kernel, p->name) ? fresh_local(f, p->name) : p->name;
    }
    for (size_t i = g->n_params; i < g->n_variables; i++)
        d->braces = d->braces || str_has_word(kernel, g->variables[i].name);
    for (struct node *word = nodes_of(f, g->body, NODE_IDENTIFIER); node_ok(*word); word++)
        if (!function_variable_of(g, *word) && function_variable(f, text_of(g, *word), node_start(call)) &&
            !node_is(node_parent(*word), NODE_FIELD_EXPRESSION))
            return err_input(why, "%s means another %s", name, text_of(g, *word));
    return bound_text(f, d, arena_strdup(f->a, body)) != NULL ||
           err_input(why, "a template argument of %s is not seen", name);
}

static void inline_find(struct function *f, struct site_list *found)
{
    for (struct node *x = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*x); x++) {
        struct detail d;
        if (understood(f, *x, &d, NULL))
            site_add(found, f, *x, 0, "what the function reads and writes can then be changed with its loops",
                     "a call of %s", d.callee->name)
                ->detail = arena_copy(f->a, &d, sizeof(d));
    }
}

/* The parameter as a variable with the argument's value. */
static char *declaration(const struct function *f, const struct detail *d, size_t i)
{
    const struct function *g = d->callee;
    const struct variable *p = &g->variables[i];
    struct edits edits = {.arena = f->a};
    edits_node(&edits, p->id, d->names[i]);
    char *text =
        edits_range(&edits, g, node_start(p->statement), node_end(node_field(p->statement, FIELD_DECLARATOR)));
    return arena_printf(f->a, "%s = %s;", bound_text(f, d, text), text_of(f, d->args[i]));
}

static bool inline_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    const struct detail *d = site->detail;
    const struct function *g = d->callee;
    struct arena *a = f->a;
    struct edits inside = {.arena = a};
    for (struct node *name = nodes_of(g, g->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(g, *name);
        for (size_t p = 0; v && p < g->n_params; p++)
            if (v == &g->variables[p] && d->names[p] && !str_eq(d->names[p], v->name))
                edits_node(&inside, *name, d->names[p]);
    }
    uint32_t count = node_count(g->body);
    if (count == 0)
        return err_input(why_not, "%s does nothing", g->name);
    struct node first = node_child(g->body, 0);
    char *body =
        bound_text(f, d, edits_range(&inside, g, node_start(first), node_end(node_child(g->body, count - 1))));
    char *indent = text_indent(f, node_start(d->statement));
    int by = (int)strlen(indent) - (int)strlen(text_indent(g, node_start(first)));
    const char *deeper = d->braces ? arena_printf(a, "%s    ", indent) : indent;
    struct str b = {.arena = a};
    if (d->braces)
        str_addf(&b, "{\n%s", deeper);
    for (size_t i = 0; i < g->n_params; i++)
        if (d->names[i])
            str_addf(&b, "%s\n%s", declaration(f, d, i), deeper);
    str_add(&b, text_reindent(a, body, d->braces ? by + 4 : by));
    if (d->braces)
        str_addf(&b, "\n%s}", indent);
    edits_node(edits, d->statement, str_take(&b, a));
    return true;
}

const struct transform transform_inline = {
    .name = "inline",
    .summary = "a device function that the kernel calls for its effect stands in the kernel",
    .helps = "latency dram issue launch l2 sync",
    .opens = true,
    .find = inline_find,
    .apply = inline_apply,
};
