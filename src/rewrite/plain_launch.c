/* plain-launch: a launch that is written as a call of the runtime, cudaLaunchKernel or cudaLaunchKernelEx, is
 * written with <<<...>>>, as the other transforms read launches. The kernel runs with the same grid, block and
 * arguments; alone that changes nothing. Of the attributes only programmatic stream serialization may be set:
 * it stays declared, and pdl gives it back to the launches of the best version. What a task is timed by in a
 * stream keeps its calls. A launch with any other attribute stays.
 *
 * What a configuration says is put where it is used, so each member is said once, ahead of the launch, and what
 * it is made of keeps its values from there on. */
#include "rewrite/analysis.h"

enum { GRID, BLOCK, SHARED, STREAM, ATTRS, N_ATTRS, N_MEMBERS };
static const char *const member_names[N_MEMBERS] = {"gridDim", "blockDim", "dynamicSmemBytes",
                                                    "stream",  "attrs",    "numAttrs"};

struct call {
    const struct function *host;
    struct node call, statement, kernel;
    const char *config[4]; /* grid, block, shared memory, stream */
    const char *args;
    VEC(struct node) gone; /* statements that only this one needed */
};

typedef VEC(struct call) call_list;

static bool is_kernel(const struct function *f, struct node name)
{
    const struct kernel *file = f->in->kernel;
    const char *plain = text_of(f, callee_name(name));

    for (size_t i = 0; i < file->n_functions; i++)
        if (str_eq(file->functions[i].name, plain))
            return true;
    return false;
}

/* `auto kernel = NAME<8>;` that keeps its value: what it stands for; else the expression itself. */
static struct node kernel_meant_by(const struct function *f, struct node e)
{
    e = node_strip(e);
    if (node_is_address(f, e))
        e = node_strip(node_field(e, FIELD_ARGUMENT));
    const struct variable *v = function_variable_of(f, e);
    if (v && !v->param && v->assignments == 0 && !v->array)
        e = node_strip(v->init);
    if (node_is_address(f, e))
        e = node_strip(node_field(e, FIELD_ARGUMENT));
    return node_ok(e) && is_kernel(f, e) ? e : (struct node){0};
}

/* Is one of the variables that it is made of assigned behind this byte? */
static bool changes_after(const struct function *f, struct node e, size_t at)
{
    for (struct node *x = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*x); x++) {
        struct node target = assigned_target(*x);
        while (node_is(target, NODE_FIELD_EXPRESSION) || node_is(target, NODE_SUBSCRIPT_EXPRESSION))
            target = node_field(target, FIELD_ARGUMENT);
        if (node_start(*x) > at && node_mentions(f, e, text_of(f, target)))
            return true;
    }
    for (struct node *x = nodes_of(f, f->body, NODE_UPDATE_EXPRESSION); node_ok(*x); x++)
        if (node_start(*x) > at && node_mentions(f, e, text_of(f, assigned_target(*x))))
            return true;
    return false;
}

/* The statement is reached whenever the launch is, and before it. */
static bool is_ahead(struct node statement, struct node launch)
{
    struct node block = node_parent(statement);
    return node_is(block, NODE_COMPOUND_STATEMENT) && node_within(launch, block) &&
           node_end(statement) <= node_start(launch);
}

/* The list of attributes says nothing but that the launch may begin early. It stays, for pdl to find. */
static bool only_early(const struct function *f, struct node list)
{
    const struct variable *v = function_variable_of(f, node_strip(list));
    size_t n, ids = 0;
    struct node *names = v && !v->param ? variable_names(f, v, &n) : NULL;

    for (size_t i = 0; names && i < n; i++) {
        struct node statement = node_statement(names[i]), e = statement_expression(statement);
        struct node left = node_field(e, FIELD_LEFT);
        if (node_same(statement, v->statement)) {
            if (node_ok(v->init) && node_count(v->init) > 0)
                return false;
        } else if (node_is_assignment(f, e, "=") && node_within(names[i], left)) {
            bool id = node_text_is(f->s, node_field(left, FIELD_FIELD), "id");
            const char *right = text_of(f, node_field(e, FIELD_RIGHT));
            if (id && !str_eq(right, "cudaLaunchAttributeProgrammaticStreamSerialization"))
                return false;
            ids += id;
        } else if (!node_is_assignment(f, e, "=") ||
                   !node_text_is(f->s, node_field(left, FIELD_FIELD), member_names[ATTRS])) {
            return false;
        }
    }
    return names && ids > 0;
}

/* cudaLaunchConfig_t config; config.gridDim = ...; */
static bool read_config(const struct function *f, struct node address, struct call *c)
{
    struct node e = node_strip(address), values[N_MEMBERS] = {0};
    const struct variable *v =
        node_is_address(f, e) ? function_variable_of(f, node_strip(node_field(e, FIELD_ARGUMENT))) : NULL;
    size_t n, at;
    struct node *names =
        v && !v->param && str_eq(v->type, "cudaLaunchConfig_t") ? variable_names(f, v, &n) : NULL;

    if (!names || (node_ok(v->init) && !str_in(text_compact(f->a, text_of(f, v->init)), "{}|{0}")))
        return false;
    vec_add(f->a, &c->gone, v->statement);
    for (size_t i = 0; i < n; i++) {
        struct node statement = node_statement(names[i]), set = statement_expression(statement);
        struct node left = node_field(set, FIELD_LEFT);
        if (node_same(statement, v->statement) || node_is_address(f, node_parent(names[i])))
            continue;
        for (at = 0; at < N_MEMBERS && !node_text_is(f->s, node_field(left, FIELD_FIELD), member_names[at]);)
            at++;
        if (!node_is_assignment(f, set, "=") || at == N_MEMBERS || node_ok(values[at]) ||
            !node_same(node_field(left, FIELD_ARGUMENT), names[i]) || !is_ahead(statement, c->call))
            return false;
        values[at] = node_field(set, FIELD_RIGHT);
        if (at < ATTRS && (node_has_effect(f, values[at]) || changes_after(f, values[at], node_end(statement))))
            return false;
        vec_add(f->a, &c->gone, statement);
    }
    if (!node_ok(values[GRID]) || !node_ok(values[BLOCK]) ||
        (node_ok(values[ATTRS]) && !only_early(f, values[ATTRS])))
        return false;
    for (at = GRID; at <= STREAM; at++)
        c->config[at] = node_ok(values[at]) ? text_of(f, values[at]) : "0";
    return true;
}

/* void *args[] = {&x, &y}: "x, y". */
static const char *read_addresses(const struct function *f, struct node list, struct call *c)
{
    const struct variable *v = function_variable_of(f, node_strip(list));
    size_t n_names, n;
    struct str b = {.arena = f->a};

    if (!v || v->param || !v->array || !node_is(v->init, NODE_INITIALIZER_LIST))
        return NULL;
    variable_names(f, v, &n_names);
    struct node *addresses = named_children(f, v->init, &n);
    for (size_t i = 0; i < n; i++) {
        struct node e = node_strip(addresses[i]), name = node_strip(node_field(e, FIELD_ARGUMENT));
        const struct variable *x = node_is_address(f, e) ? function_variable_of(f, name) : NULL;
        if (!x || x->array || x != function_variable(f, x->name, node_start(c->call)))
            return NULL;
        str_addf(&b, "%s%s", i ? ", " : "", x->name);
    }
    if (n_names == 2) /* its declaration and this launch */
        vec_add(f->a, &c->gone, v->statement);
    return n > 0 ? str_take(&b, f->a) : NULL;
}

/* The variable that only takes the call's result. */
static bool result_is_dropped(const struct function *f, const struct call *c)
{
    struct node d = node_child_of(c->statement, NODE_INIT_DECLARATOR);
    const struct variable *v = function_variable_of(f, node_field(d, FIELD_DECLARATOR));
    size_t n;

    if (node_is(c->statement, NODE_EXPRESSION_STATEMENT))
        return node_same(node_strip(statement_expression(c->statement)), c->call);
    if (!v || !node_same(node_strip(node_field(d, FIELD_VALUE)), c->call))
        return false;
    variable_names(f, v, &n);
    return n == 1;
}

static bool read_call(const struct function *f, struct node call, struct call *c)
{
    size_t n;
    struct node *args = named_children(f, node_field(call, FIELD_ARGUMENTS), &n);
    bool by_config = call_is(f, call, "cudaLaunchKernelEx");

    if (!by_config && (!call_is(f, call, "cudaLaunchKernel") || n != 6))
        return false;
    *c = (struct call){.host = f, .call = call, .statement = node_statement(call)};
    if (n > 1)
        c->kernel = kernel_meant_by(f, args[by_config]);
    if (!node_ok(c->kernel) || !node_is(node_parent(c->statement), NODE_COMPOUND_STATEMENT))
        return false;
    if (by_config) {
        struct str b = {.arena = f->a};
        for (size_t i = 2; i < n; i++)
            str_addf(&b, "%s%s", i > 2 ? ", " : "", text_of(f, args[i]));
        c->args = str_take(&b, f->a);
        return read_config(f, args[0], c);
    }
    static const int places[4] = {1, 2, 4, 5};
    for (int i = 0; i < 4; i++)
        c->config[i] = text_of(f, args[places[i]]);
    c->args = read_addresses(f, args[3], c);
    return c->args != NULL;
}

/* All such launches of the file. Those that share a configuration are all read, or none. */
static call_list calls_of(const struct transform_input *in, struct arena *a)
{
    call_list list = {0};
    size_t n;
    struct node *definitions = node_find_all(a, source_root(in->kernel->source), NODE_FUNCTION_DEFINITION, &n);

    for (size_t i = 0; i < n; i++) {
        struct function *f = function_open(in, a, definitions[i]);
        call_list own = {0};
        bool all = f && !f->global;
        for (struct node *x = all ? nodes_of(f, f->body, NODE_CALL_EXPRESSION) : NULL; x && node_ok(*x); x++) {
            struct call c;
            if (read_call(f, *x, &c))
                vec_add(a, &own, c);
            else if (str_starts(call_name(f, *x), "cudaLaunchKernel"))
                all = false;
        }
        for (size_t k = 0; all && k < own.n; k++)
            vec_add(a, &list, own.v[k]);
    }
    return list;
}

static bool once(struct edits *seen, struct node n)
{
    for (size_t i = 0; i < seen->list.n; i++)
        if (seen->list.v[i].start == node_start(n))
            return false;
    return edits_node(seen, n, "");
}

/* The other mentions of a name that stands for the kernel mean the kernel, and the name goes. */
static void name_kernel(const struct function *f, const struct call *c, struct edits *seen, struct edits *edits)
{
    const struct variable *v = NULL;
    size_t n;

    for (size_t i = f->n_params; i < f->n_variables && !v; i++)
        if (node_ok(f->variables[i].init) && node_within(c->kernel, f->variables[i].init))
            v = &f->variables[i];
    if (!v || !once(seen, v->statement))
        return;
    struct node *names = variable_names(f, v, &n);
    for (size_t i = 0; i < n; i++)
        if (!node_within(names[i], v->statement) &&
            !str_starts(call_name(f, node_parent(node_parent(names[i]))), "cudaLaunchKernel") &&
            !node_within(names[i], c->call))
            edits_node(edits, names[i], text_of(f, c->kernel));
    edits_remove(edits, f, v->statement);
}

static void write_plain(const struct call *c, struct edits *seen, struct edits *edits)
{
    const struct function *f = c->host;
    const char *indent = text_indent(f, node_start(c->statement));
    char *launch = arena_printf(f->a, "%s<<<%s, %s, %s, %s>>>(%s);", text_of(f, c->kernel), c->config[GRID],
                                c->config[BLOCK], c->config[SHARED], c->config[STREAM], c->args);

    launch = text_wrap(f->a, launch, (int)strlen(indent));
    if (result_is_dropped(f, c)) {
        edits_node(edits, c->statement, launch);
    } else {
        edits_at(edits, node_start(c->statement), arena_printf(f->a, "%s\n%s", launch, indent));
        edits_node(edits, c->call, "cudaGetLastError()");
    }
    for (size_t i = 0; i < c->gone.n; i++)
        if (once(seen, c->gone.v[i]))
            edits_remove(edits, f, c->gone.v[i]);
    name_kernel(f, c, seen, edits);
}

static void plain_find(const struct transform_input *in, struct site_list *found)
{
    call_list list = calls_of(in, found->arena);

    if (list.n > 0 && !in->stream)
        site_add(found, list.v[0].host, list.v[0].call, 0,
                 "launches that are calls of the runtime hide grid, block and arguments from other transforms",
                 "%zu launch%s", list.n, list.n > 1 ? "es" : "");
}

static bool plain_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    call_list list = calls_of(f->in, f->a);
    struct edits seen = {.arena = f->a};

    (void)site;
    for (size_t i = 0; i < list.n; i++)
        write_plain(&list.v[i], &seen, edits);
    return list.n > 0 || err_input(why_not, "no launch is a call of the runtime that is understood");
}

const struct transform transform_plain_launch = {
    .name = "plain-launch",
    .summary = "write calls of cudaLaunchKernel and cudaLaunchKernelEx as launches with <<<...>>>",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find_in_file = plain_find,
    .apply = plain_apply,
};
