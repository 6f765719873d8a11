/* inline: a device function that a kernel calls for its effect, or for what it computes of memory in a loop,
 * stands in the kernel instead, so that the other transforms see what it reads and writes. The compiler does
 * the same; alone it changes nothing.
 *
 * The function must be the only one of its name with so many parameters, keep nothing between calls, and return
 * at its end; one that returns nothing may return early where the kernel ends with the call. Arguments become
 * variables with the parameters' types, under names that the kernel has not; a variable that is passed by
 * reference, or by its address alone, is used itself, and of a function object its calls are written out. What
 * the function calls by a name must mean the same in the kernel. */
#include "rewrite/functor.h"

enum { MOST_PARAMETERS = 32 };

enum passed {
    AS_VARIABLE,
    AS_IT_IS,   /* the argument is a variable of the name */
    BY_ADDRESS, /* *p is the variable */
    BY_REFERENCE,
    AS_OBJECT
};

struct detail {
    struct node call, statement;
    const struct function *callee;
    const struct node *args;
    enum passed passed[MOST_PARAMETERS];
    const char *names[MOST_PARAMETERS]; /* of the variables */
    struct functor objects[MOST_PARAMETERS];
    struct node returned; /* what the function gives back, or no node */
    const char *target;   /* the variable that gets it */
    bool braces;          /* its own variables have names of the kernel's */
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

/* The one function of the file with this name and so many parameters. */
static const struct function *function_called(const struct function *f, const char *name, size_t n_args)
{
    const struct function *found = NULL;
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        if (!node_text_is(f->s, definition_name(*definition), name))
            continue;
        struct function *g = node_has_error(*definition) ? NULL : function_open(f->in, f->a, *definition);
        if (!g || g->special || (g->n_params == n_args && found))
            return NULL; /* which one is meant is not seen */
        found = g->n_params == n_args ? g : found;
    }
    return found;
}

/* `x = call();`, or the declaration of x with it: x. */
static const char *target_of(const struct function *f, struct node call)
{
    struct node up = node_parent(call), target = {0};
    if (node_is_assignment(f, up, "=") && node_is(node_parent(up), NODE_EXPRESSION_STATEMENT))
        target = node_field(up, FIELD_LEFT);
    else if (node_is(up, NODE_INIT_DECLARATOR) && node_is(node_parent(up), NODE_DECLARATION) &&
             node_same(node_next(node_field(node_parent(up), FIELD_TYPE)), up) && !node_ok(node_next(up)))
        target = node_field(up, FIELD_DECLARATOR);
    const struct variable *v = node_is(target, NODE_IDENTIFIER) ? function_variable_of(f, target) : NULL;
    if (!v || v->pointer || v->array || v->shared || str_has_word(v->type, "auto") ||
        str_has_word(text_of(f, v->statement), "static"))
        return NULL;
    struct node type = node_field(v->statement, FIELD_TYPE); /* `float const x` stays one */
    return str_has_word(text_range(f, node_start(type), node_start(v->id)), "const") ? NULL : v->name;
}

/* Does the function walk memory that it is passed, in a loop in which threads do not meet? */
static bool walks(const struct function *g)
{
    bool pointer = false;
    for (size_t i = 0; i < g->n_params; i++)
        pointer = pointer || g->variables[i].pointer;
    return pointer && node_has(g, g->body, NODE_FOR_STATEMENT) && !calls_barrier(g, g->body);
}

/* Is every use of the parameter of this kind: *p, or a call of it? */
static bool used_only(const struct function *g, const struct variable *p, enum passed as)
{
    for (struct node *name = nodes_of(g, g->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        struct node up = node_parent(*name);
        if (function_variable_of(g, *name) != p)
            continue;
        if (as == BY_ADDRESS && (!node_is(up, NODE_POINTER_EXPRESSION) || node_is_address(g, up)))
            return false;
        if (as == AS_OBJECT &&
            !(node_is(up, NODE_CALL_EXPRESSION) && node_same(node_field(up, FIELD_FUNCTION), *name) &&
              !node_has_effect(g, node_field(up, FIELD_ARGUMENTS))))
            return false;
    }
    return true;
}

/* How an argument gets into the function. */
static bool pass(const struct function *f, struct detail *d, size_t i, struct err *why)
{
    const struct function *g = d->callee;
    const struct variable *p = &g->variables[i];
    struct node arg = d->args[i], of = arg;
    bool reference = strchr(text_of(g, p->statement), '&') != NULL, constant = reference && p->to_const;
    if (p->array || str_has_word(p->type, "auto"))
        return err_input(why, "a parameter of %s is not understood", g->name);
    if ((!reference || constant) && functor_of(f, arg, &d->objects[i])) {
        d->passed[i] = AS_OBJECT;
        return used_only(g, p, AS_OBJECT) || err_input(why, "an object stays an object in %s", g->name);
    }
    if (!reference && is_same(f, d, i)) {
        d->passed[i] = AS_IT_IS;
        return true;
    }
    if (node_is_address(f, arg))
        of = node_field(arg, FIELD_ARGUMENT);
    const struct variable *v = node_is(of, NODE_IDENTIFIER) ? function_variable_of(f, of) : NULL;
    char *type = bound_text(f, d, arena_strdup(f->a, p->type));
    bool itself = v && type && !v->pointer && !v->array && !v->shared && str_eq(v->type, type);
    bool address = itself && p->pointer && !reference && node_is_address(f, arg) && p->assignments == 0 &&
                   used_only(g, p, BY_ADDRESS);
    bool by_name = itself && reference && !p->pointer && !node_is_address(f, arg);
    if (reference && !by_name)
        return err_input(why, "%s has a reference among its parameters", g->name);
    d->names[i] = fresh_local(f, p->name);
    if (!str_has_word(text_of(f, f->whole), p->name))
        d->names[i] = p->name;
    if (!address && !by_name)
        return true;
    d->passed[i] = address ? BY_ADDRESS : BY_REFERENCE;
    d->names[i] = v->name;
    for (size_t k = g->n_params; k < g->n_variables; k++)
        if (str_eq(g->variables[k].name, v->name))
            return err_input(why, "%s has a variable named %s", g->name, v->name);
    return true;
}

/* Does the function give back one value, at its end? */
static bool returns_value(const struct function *g, struct detail *d)
{
    size_t n, returns;
    struct node *all = named_children(g, g->body, &n);
    node_find_all(g->a, g->body, NODE_RETURN_STATEMENT, &returns);
    if (returns != 1 || !node_is(all[n - 1], NODE_RETURN_STATEMENT) || node_count(all[n - 1]) != 1)
        return false;
    d->returned = node_child(all[n - 1], 0);
    return true;
}

/* Where names of the kernel get into the function's text, its template parameters must mean the same. */
static bool names_apart(const struct function *f, const struct detail *d)
{
    const struct function *g = d->callee;
    size_t n = 0;
    struct node *params = node_is(g->whole, NODE_TEMPLATE_DECLARATION)
                              ? named_children(g, node_field(g->whole, FIELD_PARAMETERS), &n)
                              : NULL;
    for (size_t k = 0; k < n; k++) {
        char *whole = text_of(g, params[k]), *is = strchr(whole, '=');
        if (is)
            *is = '\0';
        const char *name = last_word(f->a, whole), *by = binding(f, d, k, name);
        for (size_t i = 0; i < g->n_params; i++)
            if (d->passed[i] != AS_VARIABLE && d->passed[i] != AS_IT_IS && by && !str_eq(by, name) &&
                str_has_word(text_of(f, d->args[i]), name))
                return false;
        if (d->target && by && !str_eq(by, name) && str_eq(d->target, name))
            return false;
    }
    return true;
}

static bool understood(const struct function *f, struct node call, struct detail *d, struct err *why)
{
    const char *name = call_name(f, call);
    size_t n, n_args;
    *d = (struct detail){.call = call, .statement = node_parent(call), .target = target_of(f, call)};
    if (d->target)
        d->statement = node_statement(call);
    if ((!d->target && !node_is(d->statement, NODE_EXPRESSION_STATEMENT)) || !*name ||
        node_is(node_field(call, FIELD_FUNCTION), NODE_FIELD_EXPRESSION) ||
        !node_is(node_parent(d->statement), NODE_COMPOUND_STATEMENT))
        return err_input(why, "it is no statement by itself");
    d->args = named_children(f, node_field(call, FIELD_ARGUMENTS), &n_args);
    const struct function *g = d->callee = function_called(f, name, n_args);
    if (!g || g->global || g->n_params > MOST_PARAMETERS)
        return err_input(why, "%s is not one function of the file", name);
    char *head = text_range(g, node_start(g->definition), node_start(g->id)), *body = text_of(g, g->body);
    bool nothing = str_has_word(head, "void");
    if (nothing != !d->target || !str_has_word(head, "__device__") || strchr(head, '*') ||
        str_has_word(body, name) || str_has_word(body, "static") || str_has_word(body, "__shared__") ||
        str_has_word(body, "goto") || strchr(body, '#'))
        return err_input(why, "%s keeps things, or calls itself", name);
    if (d->target && (!walks(g) || !returns_value(g, d) || strchr(head, '&')))
        return err_input(why, "%s walks no memory", name);
    struct node *all = named_children(f, f->body, &n);
    if (nothing && node_has(f, g->body, NODE_RETURN_STATEMENT) && !node_same(all[n - 1], d->statement))
        return err_input(why, "%s returns early, and the kernel goes on", name);
    char *kernel = text_of(f, f->whole);
    for (size_t i = 0; i < g->n_params; i++)
        if (!pass(f, d, i, why))
            return false;
    d->braces = d->target != NULL;
    for (size_t i = g->n_params; i < g->n_variables; i++) {
        d->braces = d->braces || str_has_word(kernel, g->variables[i].name);
        if (d->target && str_eq(g->variables[i].name, d->target))
            return err_input(why, "%s has a variable named %s", name, d->target);
    }
    for (struct node *word = nodes_of(f, g->body, NODE_IDENTIFIER); node_ok(*word); word++)
        if (!function_variable_of(g, *word) && function_variable(f, text_of(g, *word), node_start(call)) &&
            !node_is(node_parent(*word), NODE_FIELD_EXPRESSION))
            return err_input(why, "%s means another %s", name, text_of(g, *word));
    return (names_apart(f, d) && bound_text(f, d, arena_strdup(f->a, body)) != NULL) ||
           err_input(why, "a template argument of %s is not seen", name);
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

/* An argument of an object's call, with its type as the kernel writes it. */
static struct functor_argument argument_of(const struct function *f, const struct detail *d, struct node arg,
                                           const struct edits *inside)
{
    const char *type = expression_type(d->callee, arg);
    return (struct functor_argument){edits_range(inside, d->callee, node_start(arg), node_end(arg)),
                                     type ? bound_text(f, d, arena_strdup(f->a, type)) : NULL};
}

/* The edits of the function's text that put the kernel's names and the objects' values in. */
static bool body_edits(const struct function *f, const struct detail *d, struct edits *inside,
                       struct err *why_not)
{
    const struct function *g = d->callee;
    struct edits names = {.arena = f->a};
    for (struct node *name = nodes_of(g, g->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(g, *name);
        size_t p = v && v < g->variables + g->n_params ? (size_t)(v - g->variables) : MOST_PARAMETERS;
        if (p == MOST_PARAMETERS || d->passed[p] == AS_IT_IS || d->passed[p] == AS_OBJECT)
            continue;
        struct node place = d->passed[p] == BY_ADDRESS ? node_parent(*name) : *name;
        if (!str_eq(d->names[p], text_of(g, place)))
            edits_node(&names, place, d->names[p]);
    }
    for (struct node *call = nodes_of(g, g->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        const struct variable *v = function_variable_of(g, node_field(*call, FIELD_FUNCTION));
        size_t n, p = v && v < g->variables + g->n_params ? (size_t)(v - g->variables) : MOST_PARAMETERS;
        if (p == MOST_PARAMETERS || d->passed[p] != AS_OBJECT)
            continue;
        struct node *args = named_children(g, node_field(*call, FIELD_ARGUMENTS), &n);
        struct functor_argument *given = arena_array(f->a, struct functor_argument, n + 1);
        for (size_t i = 0; i < n; i++)
            given[i] = argument_of(f, d, args[i], &names);
        char *value = functor_value(&d->objects[p], given, n);
        if (!value)
            return err_input(why_not, "an object that %s is passed is not understood", g->name);
        edits_node(inside, *call, value);
    }
    for (size_t i = 0; i < names.list.n; i++) { /* but for those in what was written out */
        const struct edit *e = &names.list.v[i];
        bool within = false;
        for (size_t k = 0; k < inside->list.n; k++)
            within = within || (e->start >= inside->list.v[k].start && e->end <= inside->list.v[k].end);
        if (!within)
            edits_try(inside, e->start, e->end, e->text);
    }
    return true;
}

static bool put(const struct function *f, const struct detail *d, struct edits *edits, struct err *why_not)
{
    const struct function *g = d->callee;
    struct arena *a = f->a;
    struct edits inside = {.arena = a};
    size_t count;
    struct node *all = named_children(g, g->body, &count);
    count -= d->target != NULL;
    if (count == 0)
        return err_input(why_not, "%s does nothing", g->name);
    if (!body_edits(f, d, &inside, why_not))
        return false;
    char *body = bound_text(f, d, edits_range(&inside, g, node_start(all[0]), node_end(all[count - 1])));
    char *indent = text_indent(f, node_start(d->statement));
    int by = (int)strlen(indent) - (int)strlen(text_indent(g, node_start(all[0])));
    const char *deeper = d->braces ? arena_printf(a, "%s    ", indent) : indent;
    struct str b = {.arena = a};
    if (node_is(d->statement, NODE_DECLARATION)) {
        struct node declarator = node_field(d->statement, FIELD_DECLARATOR);
        char *type = text_range(f, node_start(node_field(d->statement, FIELD_TYPE)), node_start(declarator));
        str_addf(&b, "%s%s;\n%s", type, d->target, indent);
    }
    if (d->braces)
        str_addf(&b, "{\n%s", deeper);
    for (size_t i = 0; i < g->n_params; i++)
        if (d->passed[i] == AS_VARIABLE)
            str_addf(&b, "%s\n%s", declaration(f, d, i), deeper);
    str_add(&b, text_reindent(a, body, d->braces ? by + 4 : by));
    if (d->target)
        str_addf(&b, "\n%s%s = %s;", deeper, d->target,
                 bound_text(f, d, edits_range(&inside, g, node_start(d->returned), node_end(d->returned))));
    if (d->braces)
        str_addf(&b, "\n%s}", indent);
    edits_node(edits, d->statement, str_take(&b, a));
    return true;
}

static void inline_find(struct function *f, struct site_list *found)
{
    for (struct node *x = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*x); x++) {
        struct detail d;
        if (!understood(f, *x, &d, NULL) || !put(f, &d, &(struct edits){.arena = f->a}, NULL))
            continue;
        site_add(found, f, *x, 0, "what the function reads and writes can then be changed with its loops",
                 "a call of %s", d.callee->name);
        return;
    }
}

/* All calls that can be, at once: none stands in another one. */
static bool inline_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    size_t done = 0, calls = 0;
    struct detail one;
    (void)site;
    for (struct node *x = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*x); x++)
        calls += understood(f, *x, &one, NULL);
    for (struct node *x = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*x); x++) {
        struct detail d;
        if (!understood(f, *x, &d, why_not))
            continue;
        d.braces = d.braces || calls > 1;
        done += put(f, &d, edits, why_not);
    }
    return done > 0;
}

const struct transform transform_inline = {
    .name = "inline",
    .summary = "a device function that the kernel calls for its effect stands in the kernel",
    .helps = "latency dram issue launch l2 sync",
    .opens = true,
    .find = inline_find,
    .apply = inline_apply,
};
