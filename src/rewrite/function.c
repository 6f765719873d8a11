/* A function of the file: its variables, its launches, what the plans say of it. */
#include "rewrite/analysis.h"

struct scan {
    struct function *f;
    VEC(struct variable) found;
    size_t scope_end;
};

static const char *specifier_type(const struct function *f, struct node statement)
{
    struct node t = node_field(statement, FIELD_TYPE);
    const char *type = node_ok(t) ? text_of(f, t) : "";
    size_t position;
    return ctype_is_parameter(f, type, &position) ? type : ctype_alias(f, type);
}

static bool has_word_before(const struct function *f, struct node statement, struct node id, const char *word)
{
    char *before = text_range(f, node_start(statement), node_start(id));
    return str_has_word(before, word);
}

/* Walk down a declarator to its identifier. */
static void variable_add(struct scan *scan, struct node statement, struct node declarator, bool param)
{
    struct function *f = scan->f;
    struct variable v = {.statement = statement, .param = param, .type = specifier_type(f, statement)};
    struct node d = declarator;
    for (int depth = 0; node_ok(d) && !node_is(d, NODE_IDENTIFIER) && depth < 16; depth++) {
        if (node_is(d, NODE_INIT_DECLARATOR)) {
            v.init = node_field(d, FIELD_VALUE);
        } else if (node_is(d, NODE_POINTER_DECLARATOR)) {
            v.pointer = true;
        } else if (node_is(d, NODE_ARRAY_DECLARATOR)) {
            v.array = true;
            v.size = node_field(d, FIELD_SIZE);
        } else if (node_is(d, NODE_REFERENCE_DECLARATOR)) {
            v.assignments++; /* another name for it may be written */
            d = node_child(d, 0);
            continue;
        } else if (!node_is(d, NODE_OPTIONAL_PARAMETER_DECLARATION)) {
            return;
        }
        d = node_field(d, FIELD_DECLARATOR);
    }
    if (!node_is(d, NODE_IDENTIFIER))
        return;
    v.id = d;
    v.name = text_of(f, d);
    v.to_const = has_word_before(f, statement, d, "const") || has_word_before(f, statement, d, "constexpr");
    v.restricted =
        has_word_before(f, statement, d, "__restrict__") || has_word_before(f, statement, d, "__restrict");
    v.shared = has_word_before(f, statement, d, "__shared__");
    v.external = has_word_before(f, statement, d, "extern");
    v.from = node_start(d);
    v.to = scan->scope_end;
    v.index = scan->found.n;
    vec_add(f->a, &scan->found, v);
}

static void scan_declarations(struct scan *scan, struct node n)
{
    size_t outer = scan->scope_end;
    if (node_is(n, NODE_COMPOUND_STATEMENT) || node_is(n, NODE_FOR_STATEMENT) ||
        node_is(n, NODE_LAMBDA_EXPRESSION))
        scan->scope_end = node_end(n);
    if (node_is(n, NODE_DECLARATION)) {
        struct node type = node_field(n, FIELD_TYPE);
        for (uint32_t i = 0, all = node_count(n); i < all; i++) {
            struct node c = node_child(n, i);
            if (!node_same(c, type) && (node_is(c, NODE_IDENTIFIER) || node_is_declarator(c)))
                variable_add(scan, n, c, false);
        }
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        scan_declarations(scan, node_child(n, i));
    scan->scope_end = outer;
}

const struct variable *function_variable(const struct function *f, const char *name, size_t at)
{
    const struct variable *best = NULL;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (v->from <= at && at < v->to && str_eq(v->name, name) && (!best || v->from > best->from))
            best = v;
    return best;
}

const struct variable *function_variable_of(const struct function *f, struct node identifier)
{
    if (!node_is(identifier, NODE_IDENTIFIER))
        return NULL;
    return function_variable(f, text_of(f, identifier), node_start(identifier));
}

struct node *variable_names(const struct function *f, const struct variable *v, size_t *count)
{
    struct node *names = names_in(f, f->body), *found = names;

    *count = 0;
    for (; node_ok(*names); names++)
        if (function_variable_of(f, *names) == v)
            found[(*count)++] = *names;
    return found;
}

struct node assigned_target(struct node n)
{
    if (node_is(n, NODE_ASSIGNMENT_EXPRESSION))
        return node_strip(node_field(n, FIELD_LEFT));
    if (node_is(n, NODE_UPDATE_EXPRESSION))
        return node_strip(node_field(n, FIELD_ARGUMENT));
    return (struct node){0};
}

static struct node address_target(const struct function *f, struct node n)
{
    if (node_is_address(f, n))
        return node_strip(node_field(n, FIELD_ARGUMENT));
    return (struct node){0};
}

static void count_assignments(struct function *f, struct variable *variables, struct node n)
{
    struct node target = assigned_target(n);
    if (!node_ok(target))
        target = address_target(f, n);
    while (node_is(target, NODE_FIELD_EXPRESSION))
        target = node_field(target, FIELD_ARGUMENT);
    const struct variable *v = node_ok(target) ? function_variable_of(f, target) : NULL;
    if (v)
        variables[v - f->variables].assignments++;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        count_assignments(f, variables, node_child(n, i));
}

/* The statements of a block that assign a pointer: all that do, or none. */
static struct node *assigning(const struct function *f, const struct variable *v, struct node block, size_t *n)
{
    size_t count;
    struct node *all = named_children(f, block, &count), *found = arena_array(f->a, struct node, count + 1);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        struct node e = statement_expression(all[i]);
        const char *op = node_is(e, NODE_ASSIGNMENT_EXPRESSION) ? node_op(f, e) : "";
        if ((str_eq(op, "=") || str_eq(op, "+=")) && function_variable_of(f, node_field(e, FIELD_LEFT)) == v)
            found[(*n)++] = all[i];
    }
    *n = (int)*n == v->assignments ? *n : 0;
    return found;
}

/* `p += row * d;` and `p = other;` beside the declaration of p: another variable from there on. */
static void split_pointers(struct function *f, struct scan *scan)
{
    size_t declared = scan->found.n, *base = arena_array(f->a, size_t, 2 * declared + 1), n_split = 0;
    for (size_t i = 0; i < declared && n_split < declared; i++) {
        const struct variable *v = &scan->found.v[i];
        struct node block = v->param ? f->body : node_parent(v->statement);
        size_t n = 0, last = i;
        struct node *statements = v->pointer && !v->array && v->assignments ? assigning(f, v, block, &n) : NULL;
        for (size_t s = 0; s < n && n_split < declared; s++) {
            struct node e = statement_expression(statements[s]);
            struct variable next = scan->found.v[last];
            next.param = false;
            next.id = node_field(e, FIELD_LEFT);
            next.init = node_field(e, FIELD_RIGHT);
            next.statement = statements[s];
            next.from = node_end(statements[s]);
            next.assignments = 0;
            base[n_split++] = str_eq(node_op(f, e), "+=") ? last : SIZE_MAX;
            scan->found.v[last].to = next.from;
            scan->found.v[last].assignments = 0;
            last = scan->found.n;
            vec_add(f->a, &scan->found, next);
            f->variables = scan->found.v;
            f->n_variables = scan->found.n;
        }
    }
    for (size_t s = 0; s < n_split; s++)
        if (base[s] != SIZE_MAX)
            scan->found.v[declared + s].base = &scan->found.v[base[s]];
}

bool variable_assigned_in(const struct function *f, const struct variable *v, struct node part)
{
    struct node target = assigned_target(part);
    if (!node_ok(target))
        target = address_target(f, part);
    while (node_is(target, NODE_FIELD_EXPRESSION) || (v->array && node_is(target, NODE_SUBSCRIPT_EXPRESSION)))
        target = node_field(target, FIELD_ARGUMENT);
    if (node_ok(target) && function_variable_of(f, target) == v)
        return true;
    for (uint32_t i = 0, all = node_count(part); i < all; i++)
        if (variable_assigned_in(f, v, node_child(part, i)))
            return true;
    return false;
}

static bool is_host_definition(const struct function *f, struct node definition)
{
    struct node body = node_field(definition, FIELD_BODY);
    char *head = text_range(f, node_start(definition), node_start(body));
    return !str_has_word(head, "__global__") && !str_has_word(head, "__device__");
}

/* Is it another kernel that the name means, one that is called so in another namespace? */
static bool means_another(const struct function *f, struct node name)
{
    const struct kernel *file = f->in->kernel;
    struct node whole = name;

    for (size_t i = 0; i < file->n_functions; i++)
        if (node_within(name, file->functions[i].definition) && !node_within(name, f->definition))
            return str_eq(file->functions[i].name, f->name);
    while (node_is(node_parent(whole), NODE_QUALIFIED_IDENTIFIER))
        whole = node_parent(whole);
    const char *path = text_compact(f->a, text_range(f, node_start(whole), node_end(name)));
    const struct kernel_function *k = kernel_meant(file, path, node_start(name));
    return f->global && k && !str_eq(k->qualified, f->qualified); /* is_the_one knows specialisations */
}

static bool calls_this(const struct function *f, struct node call)
{
    struct node name = callee_name(node_field(call, FIELD_FUNCTION));

    return node_text_is(f->s, name, f->name) && !means_another(f, name);
}

static void scan_launches(struct function *f, void *list, struct node n)
{
    VEC(struct launch) *found = list;
    if (node_is(n, NODE_CALL_EXPRESSION)) {
        struct node syntax = node_child_of(n, NODE_KERNEL_CALL_SYNTAX);
        if (node_ok(syntax) && calls_this(f, n)) {
            struct launch l = {.call = n, .name = callee_name(node_field(n, FIELD_FUNCTION))};
            struct node parent = node_parent(l.name);
            if (node_is(parent, NODE_TEMPLATE_FUNCTION))
                l.template_args = node_field(parent, FIELD_ARGUMENTS);
            l.statement = node_statement(n);
            l.host = node_enclosing(n, NODE_FUNCTION_DEFINITION);
            size_t n_syntax;
            struct node *config = named_children(f, syntax, &n_syntax);
            l.args = named_children(f, node_field(n, FIELD_ARGUMENTS), &l.n_args);
            if (n_syntax >= 2 && node_ok(l.host) && is_host_definition(f, l.host) &&
                node_is(l.statement, NODE_EXPRESSION_STATEMENT)) {
                l.grid = config[0];
                l.block = config[1];
                if (n_syntax >= 3)
                    l.shared = config[2];
                vec_add(f->a, found, l);
            }
        }
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        scan_launches(f, list, node_child(n, i));
}

/* Its prototype, a function of the same name for the host, a call of it, or a question about the kernel that
 * changes nothing of it. */
static bool is_harmless(const struct function *f, struct node name)
{
    struct node n = node_parent(name), definition = node_enclosing(name, NODE_FUNCTION_DEFINITION);
    if (node_is(n, NODE_FUNCTION_DECLARATOR) && node_is(node_parent(n), NODE_DECLARATION)) /* a prototype */
        return f->n_launches > 0 && node_start(f->launches[0].call) > node_start(f->definition);
    if (node_is(n, NODE_FUNCTION_DECLARATOR))
        return node_same(node_parent(n), definition) &&
               (is_host_definition(f, definition) || !node_same(definition, f->definition));
    if (node_is(n, NODE_CALL_EXPRESSION))
        return !node_ok(node_child_of(n, NODE_KERNEL_CALL_SYNTAX));
    if (node_is(n, NODE_TEMPLATE_FUNCTION))
        n = node_parent(n);
    n = node_is(n, NODE_ARGUMENT_LIST) ? node_parent(n) : n;
    return call_is(f, n, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") ||
           call_is(f, n, "cudaFuncGetAttributes");
}

/* How often the file says its name other than in launches and where that changes nothing. */
static size_t named_elsewhere(const struct function *f)
{
    size_t times = 0, len = strlen(f->name);
    for (const char *p = f->text; (p = str_find_word(f->text, p, f->name)); p += len) {
        struct node at = node_at(f->s, (size_t)(p - f->text), (size_t)(p - f->text) + len);
        if (node_is(at, NODE_IDENTIFIER) && !means_another(f, at) && !is_harmless(f, at))
            times++;
    }
    return times > f->n_launches + 1 ? times - f->n_launches - 1 : times != f->n_launches + 1;
}

bool function_is_named_elsewhere(const struct function *f)
{
    return named_elsewhere(f) > 0;
}

/* The statement that sets an attribute of the kernel by this name of it; no node: the name stands elsewhere. */
static struct node attribute_statement(const struct function *f, struct node name)
{
    struct node arguments = node_enclosing(name, NODE_ARGUMENT_LIST),
                statement = node_statement(node_parent(arguments));
    bool sets = call_is(f, node_parent(arguments), "cudaFuncSetAttribute") &&
                node_is(node_parent(statement), NODE_COMPOUND_STATEMENT);

    return sets ? statement : (struct node){0};
}

static struct node *attribute_names(const struct function *f, size_t *n)
{
    size_t all;
    struct node *names = node_find_all(f->a, source_root(f->s), NODE_IDENTIFIER, &all);

    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (node_text_is(f->s, names[i], f->name) && !means_another(f, names[i]) &&
            node_ok(attribute_statement(f, names[i])))
            names[(*n)++] = names[i];
    return names;
}

bool function_has_prototype(const struct function *f)
{
    for (struct node *x = nodes_of(f, source_root(f->s), NODE_FUNCTION_DECLARATOR); node_ok(*x); x++)
        if (!node_same(node_enclosing(f->id, NODE_FUNCTION_DECLARATOR), *x) &&
            node_text_is(f->s, node_field(*x, FIELD_DECLARATOR), f->name))
            return true;
    return false;
}

bool function_may_be_copied(const struct function *f)
{
    size_t n;

    attribute_names(f, &n);
    return named_elsewhere(f) == n;
}

void edits_attributes(struct edits *e, const struct function *f, const char *copy)
{
    size_t n;
    struct node *names = attribute_names(f, &n);

    for (size_t i = 0; i < n; i++) {
        struct node statement = attribute_statement(f, names[i]),
                    call = node_parent(node_enclosing(names[i], NODE_ARGUMENT_LIST));
        struct edits inside = {.arena = f->a};
        struct node whole = node_parent(names[i]); /* a specialisation's copy is no template */
        edits_node(&inside, f->special && node_is(whole, NODE_TEMPLATE_FUNCTION) ? whole : names[i], copy);
        edits_at(e, node_end(statement),
                 arena_printf(f->a, "\n%s%s;", text_indent(f, node_start(statement)),
                              edits_range(&inside, f, node_start(call), node_end(call))));
    }
}

struct node launch_arg(const struct function *f, const struct launch *l, const struct variable *param)
{
    (void)f;
    if (!param || !param->param || param->index >= l->n_args)
        return (struct node){0};
    return l->args[param->index];
}

const struct plan_step *planned_launch(const struct function *f, const struct plan_step *s)
{
    for (size_t p = 0; p < f->in->n_plans; p++)
        for (size_t i = 0; i < f->in->plans[p].n_steps; i++) {
            const struct plan_step *step = &f->in->plans[p].steps[i];
            if (!s && plan_launches(step, f->qualified))
                return step;
            if (s == step)
                s = NULL;
        }
    return NULL;
}

bool some_grid_divides(const struct function *f, int dimension, int by)
{
    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));)
        if (s->grid[dimension] % (uint32_t)by == 0)
            return true;
    return f->in->n_plans == 0;
}

int64_t block_threads(const struct function *f, int dimension)
{
    int64_t threads = 0, v;

    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));) {
        if (threads && threads != s->block[dimension])
            return 0;
        threads = s->block[dimension];
    }
    for (size_t l = 0; f->in->n_plans == 0 && l < f->n_launches; l++) {
        size_t n;
        struct node *parts = launch_dim3(f, &f->launches[l], f->launches[l].block, &n);
        bool known = true;
        v = 1; /* what a launch does not say */
        if (!parts)
            known = constant_value(f, f->launches[l].block, &v);
        else if ((size_t)dimension < n)
            known = constant_value(f, parts[dimension], &v);
        v = !parts && dimension > 0 ? 1 : v;
        if (!known || (threads && threads != v))
            return 0;
        threads = v;
    }
    return threads;
}

struct node launch_bound(const struct function *f)
{
    return node_child(*nodes_of(f, f->definition, NODE_LAUNCH_BOUNDS), 0);
}

static bool plan_runs(const struct transform_input *in, const char *name, int64_t *block_x, bool *known)
{
    bool runs = false;
    *known = true;
    *block_x = 0;
    for (size_t p = 0; p < in->n_plans; p++) {
        for (const struct plan_step *s = in->plans[p].steps; s < in->plans[p].steps + in->plans[p].n_steps;
             s++) {
            if (!plan_launches(s, name))
                continue;
            if (s->block[1] != 1 || s->block[2] != 1 || (runs && *block_x != s->block[0]))
                *known = false;
            *block_x = s->block[0];
            runs = true;
        }
    }
    return runs;
}

struct function *function_open(const struct transform_input *in, struct arena *a, struct node definition)
{
    struct function *f = arena_new(a, struct function);
    f->in = in;
    f->a = a;
    f->s = in->kernel->source;
    f->text = in->kernel->text;
    f->definition = f->whole = definition;
    struct node parent = node_parent(definition);
    if (node_is(parent, NODE_TEMPLATE_DECLARATION))
        f->whole = parent;
    f->body = node_field(definition, FIELD_BODY);
    struct node declarator = node_field(definition, FIELD_DECLARATOR);
    for (int depth = 0; node_ok(declarator) && !node_is(declarator, NODE_FUNCTION_DECLARATOR) && depth < 8;
         depth++)
        declarator = node_field(declarator, FIELD_DECLARATOR);
    struct node id = f->declared = node_field(declarator, FIELD_DECLARATOR);
    f->special =
        node_is(parent, NODE_TEMPLATE_DECLARATION) && !node_count(node_field(parent, FIELD_PARAMETERS));
    if (f->special && node_is(id, NODE_TEMPLATE_FUNCTION))
        id = node_field(id, FIELD_NAME);
    if (!node_is(f->body, NODE_COMPOUND_STATEMENT) || !node_is(id, NODE_IDENTIFIER))
        return NULL;
    f->id = id;
    f->name = f->qualified = text_of(f, id);
    for (size_t i = 0; i < in->kernel->n_functions; i++)
        if (node_same(in->kernel->functions[i].definition, definition))
            f->qualified = in->kernel->functions[i].qualified;
    f->global = str_has_word(text_range(f, node_start(definition), node_start(id)), "__global__");

    ctype_find_aliases(f);
    macros_find(f);
    struct scan scan = {.f = f, .scope_end = node_end(f->body)};
    for (struct node *param = named_children(f, node_field(declarator, FIELD_PARAMETERS), NULL);
         node_ok(*param); param++) {
        size_t before = scan.found.n;
        variable_add(&scan, *param, node_field(*param, FIELD_DECLARATOR), true);
        if (scan.found.n == before)
            return NULL;
    }
    f->n_params = scan.found.n;
    scan_declarations(&scan, f->body);
    f->variables = scan.found.v;
    f->n_variables = scan.found.n;
    count_assignments(f, scan.found.v, f->body);
    split_pointers(f, &scan);

    VEC(struct launch) launches = {0};
    scan_launches(f, &launches, source_root(f->s));
    f->launches = launches.v;
    f->n_launches = launches.n;
    return f;
}

/* What a definition gives the template parameter of f: in its own list, or by the type of the first parameter
 * that has it in f; NULL: not seen. */
static const char *specialised_type(const struct function *f, struct node name, const char *param)
{
    size_t n, position;
    if (node_is(name, NODE_TEMPLATE_FUNCTION)) {
        struct node *args = named_children(f, node_field(name, FIELD_ARGUMENTS), &n);
        return ctype_is_parameter(f, param, &position) && position < n ? text_of(f, args[position]) : NULL;
    }
    struct node declarator = node_enclosing(name, NODE_FUNCTION_DECLARATOR);
    struct node *params = named_children(f, node_field(declarator, FIELD_PARAMETERS), &n);
    for (size_t i = 0; i < f->n_params && i < n; i++)
        if (str_eq(f->variables[i].type, param))
            return text_of(f, node_field(params[i], FIELD_TYPE));
    return NULL;
}

enum likeness { OTHER, PERHAPS, SAME };

/* Do launches of the template f mean this specialisation of it? SAME, where all parameters are known and the
 * same; OTHER, where one is known to be another. */
static enum likeness is_meant(const struct function *f, struct node name)
{
    enum likeness found = SAME;
    for (struct node *x = named_children(f, node_field(f->whole, FIELD_PARAMETERS), NULL); node_ok(*x); x++) {
        uint32_t parts = node_count(*x);
        const char *param = parts ? text_of(f, node_child(*x, parts - 1)) : "";
        const char *there = specialised_type(f, name, param), *here = ctype_bound(f, param);
        if (!there || !here || str_eq(here, param))
            found = PERHAPS;
        else if (!str_eq(ctype_alias(f, there), here))
            return OTHER;
    }
    return found;
}

static bool same_namespace(const struct function *f, struct node a, struct node b)
{
    a = node_enclosing(a, NODE_NAMESPACE_DEFINITION);
    b = node_enclosing(b, NODE_NAMESPACE_DEFINITION);
    if (!node_ok(a) || !node_ok(b))
        return !node_ok(a) && !node_ok(b);
    return str_eq(text_of(f, node_field(a, FIELD_NAME)), text_of(f, node_field(b, FIELD_NAME))) &&
           same_namespace(f, node_parent(a), node_parent(b));
}

/* Every parameter has an argument there, or a default one. */
static bool launch_is_whole(const struct function *f, const struct launch *l)
{
    return l->n_args == f->n_params ||
           (l->n_args < f->n_params &&
            node_is(f->variables[l->n_args].statement, NODE_OPTIONAL_PARAMETER_DECLARATION));
}

/* Can a launch be of this template? Not with a number for a type, a type for a number, more of them or fewer
 * arguments. */
static bool launch_can_mean(const struct function *f, const struct launch *l)
{
    size_t n_params, n_args = 0;
    struct node *params = named_children(f, node_field(f->whole, FIELD_PARAMETERS), &n_params);
    struct node *args = node_ok(l->template_args) ? named_children(f, l->template_args, &n_args) : NULL;
    if (f->special || !node_is(f->whole, NODE_TEMPLATE_DECLARATION))
        return true;
    for (size_t i = 0; i < n_args && i < n_params; i++) {
        bool type = node_is(params[i], NODE_TYPE_PARAMETER_DECLARATION);
        bool number = node_is(params[i], NODE_PARAMETER_DECLARATION);
        if ((type && node_is(args[i], NODE_NUMBER_LITERAL)) ||
            (number && node_is(args[i], NODE_TYPE_DESCRIPTOR) &&
             node_is(node_child(args[i], 0), NODE_PRIMITIVE_TYPE)))
            return false;
    }
    return n_args <= n_params && launch_is_whole(f, l);
}

/* How many of the launches of f can be of g? */
static size_t launches_of(const struct function *g, const struct function *f)
{
    size_t n = 0;
    for (size_t l = 0; l < f->n_launches; l++)
        n += launch_can_mean(g, &f->launches[l]);
    return n;
}

/* Of kernels of one name the launches do not say by the name which they mean: a template, or one that was
 * written for some of its arguments. A template that is only declared leaves the one that is written. */
static bool is_the_one(const struct function *f)
{
    bool found = !f->special;
    size_t others = 0;
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        struct node name = definition_declared(*definition), word = definition_name(*definition);
        if (node_same(*definition, f->definition) || !node_text_is(f->s, word, f->name) ||
            !str_has_word(text_range(f, node_start(*definition), node_start(word)), "__global__") ||
            !same_namespace(f, *definition, f->definition))
            continue;
        const struct function *g = function_open(f->in, f->a, *definition);
        others++;
        if (g && ((f->special && g->special) || (f->n_launches > 0 && launches_of(g, f) == 0)))
            continue;
        bool mine = g && (f->special ? !found && is_meant(g, f->declared) == SAME
                                     : g->special && is_meant(f, name) == OTHER);
        if (!mine)
            return false;
        found = true;
    }
    return found || others == 0;
}

struct function *function_open_kernel(const struct transform_input *in, struct arena *a, size_t i)
{
    const struct kernel_function *k = &in->kernel->functions[i];
    int64_t planned = 0;
    bool known = false;
    if (in->n_plans > 0 && !plan_runs(in, k->qualified, &planned, &known))
        return NULL;
    if (node_has_error(k->definition))
        return NULL;
    struct function *f = function_open(in, a, k->definition);
    if (!f)
        return NULL;
    if (in->n_plans > 0) {
        f->block_x = known ? planned : 0;
    } else {
        for (size_t l = 0; l < f->n_launches; l++) {
            int64_t v = 0;
            if (!launch_block_constant(f, &f->launches[l], &v) || (l > 0 && v != f->block_x)) {
                f->block_x = 0;
                break;
            }
            f->block_x = v;
        }
    }
    for (size_t l = 0; l < f->n_launches; l++)
        if (!launch_is_whole(f, &f->launches[l]))
            return NULL;
    return is_the_one(f) && launches_of(f, f) == f->n_launches ? f : NULL;
}

struct function **functions_open(const struct transform_input *in, struct arena *a, size_t *count)
{
    size_t n;
    struct node *all = node_find_all(a, source_root(in->kernel->source), NODE_FUNCTION_DEFINITION, &n);
    struct function **v = arena_array(a, struct function *, n + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < in->kernel->n_functions && !node_same(in->kernel->functions[k].definition, all[i]))
            k++;
        struct function *f = NULL;
        if (k < in->kernel->n_functions)
            f = function_open_kernel(in, a, k);
        else if (!node_has_error(all[i]))
            f = function_open(in, a, all[i]);
        if (f)
            v[(*count)++] = f;
    }
    return v;
}

const struct function *function_only(const struct function *f, const char *name)
{
    size_t times = 0;
    const struct function *found = NULL;
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        if (!node_text_is(f->s, definition_name(*definition), name))
            continue;
        times++;
        found = times > 1 || node_has_error(*definition) ? NULL : function_open(f->in, f->a, *definition);
    }
    return found;
}

const struct transform_fact *fact_of(const struct transform_input *in, const char *launcher_param)
{
    for (size_t i = 0; in->facts && i < in->kernel->n_params; i++)
        if (str_eq(in->kernel->params[i].name, launcher_param))
            return &in->facts[i];
    return NULL;
}
