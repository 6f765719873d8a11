/* Launch sites: their expressions in the launcher's terms, guards, and edits of the launch statement. */
#include "rewrite/analysis.h"

#include <ctype.h>

struct node launch_name(const struct function *f, const struct launch *l)
{
    return f->special && node_ok(l->template_args) ? node_parent(l->name) : l->name;
}

char *launch_text(const struct function *f, const struct launch *l, const char *name, const char *grid,
                  const char *block)
{
    struct edits e = {.arena = f->a};
    if (name)
        edits_node(&e, launch_name(f, l), name);
    if (grid)
        edits_node(&e, l->grid, grid);
    if (block)
        edits_node(&e, l->block, block);
    char *text = edits_range(&e, f, node_start(l->statement), node_end(l->statement));
    return text;
}

/* Is the declaration in reach of the launch? Branches may have names of their own. */
static bool reaches(const struct launch *l, struct node declaration)
{
    return !node_ok(l->statement) || node_within(l->statement, node_parent(declaration));
}

struct node host_declarator(const struct function *f, const struct launch *l, struct node name)
{
    bool named = node_is(name, NODE_IDENTIFIER) || node_is(name, NODE_PARAMETER_DECLARATION);
    for (struct node *d = nodes_of(f, l->host, NODE_INIT_DECLARATOR); named && node_ok(*d); d++)
        if (node_text_is(f->s, node_field(*d, FIELD_DECLARATOR), text_of(f, name)) &&
            reaches(l, node_parent(*d)))
            return *d;
    return (struct node){0};
}

struct node host_value(const struct function *f, const struct launch *l, struct node e)
{
    e = node_strip(e);
    for (int depth = 0; depth < 4; depth++) {
        struct node next = node_strip(node_field(host_declarator(f, l, e), FIELD_VALUE));
        if (!node_ok(next))
            break;
        e = next;
    }
    return e;
}

/* What the launcher assigns to a variable's x, y and z, each once and wherever its declaration is reached, and
 * how many these are; false where it is assigned to in another way. */
static bool member_values(const struct function *f, const struct launch *l, struct node declaration,
                          const char *name, struct node values[3], size_t *n)
{
    size_t set = 0;
    *n = 0;
    for (struct node *e = nodes_of(f, l->host, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        struct node left = node_field(*e, FIELD_LEFT), member = node_field(left, FIELD_FIELD);
        if (!node_mentions(f, left, name))
            continue;
        size_t at = node_ok(member) ? (size_t)(text_of(f, member)[0] - 'x') : 3;
        if (at > 2 || node_ok(values[at]) || !str_eq(node_op(f, *e), "=") ||
            !node_same(node_parent(node_statement(*e)), node_parent(declaration)))
            return false;
        values[at] = node_field(*e, FIELD_RIGHT);
        *n = MAX(*n, at + 1);
        set++;
    }
    return set == *n;
}

struct node *launch_dim3(const struct function *f, const struct launch *l, struct node e, size_t *n)
{
    *n = 0;
    if (call_is(f, e, "dim3"))
        return named_children(f, node_field(e, FIELD_ARGUMENTS), n);
    if (node_is(e, NODE_COMPOUND_LITERAL_EXPRESSION))
        return named_children(f, node_field(e, FIELD_VALUE), n);
    if (node_is(e, NODE_INITIALIZER_LIST))
        return named_children(f, e, n);
    for (struct node *declaration = nodes_of(f, l->host, NODE_DECLARATION);
         node_is(e, NODE_IDENTIFIER) && node_ok(*declaration); declaration++) {
        if (!node_text_is(f->s, node_field(*declaration, FIELD_TYPE), "dim3") || !reaches(l, *declaration))
            continue;
        for (uint32_t k = 0, some = node_count(*declaration); k < some; k++) {
            struct node d = node_child(*declaration, k), *members = arena_array(f->a, struct node, 3);
            bool given = node_text_is(f->s, node_field(d, FIELD_DECLARATOR), text_of(f, e));
            if (!given && !node_text_is(f->s, d, text_of(f, e)))
                continue;
            if (!member_values(f, l, *declaration, text_of(f, e), members, n) || (given ? *n > 0 : *n == 0))
                return NULL;
            if (!given)
                return members;
            d = node_field(d, node_is(d, NODE_FUNCTION_DECLARATOR) ? FIELD_PARAMETERS : FIELD_VALUE);
            return named_children(f, d, n);
        }
    }
    return NULL;
}

static bool is_dim3_name(const struct function *f, const struct launch *l, struct node e)
{
    for (struct node *d = nodes_of(f, l->host, NODE_DECLARATION); node_ok(*d); d++)
        if (node_text_is(f->s, node_field(*d, FIELD_TYPE), "dim3") && reaches(l, *d) &&
            node_mentions(f, *d, text_of(f, e)))
            return true;
    return false;
}

bool launch_gives_block(const struct function *f, const struct launch *l, const char *param)
{
    size_t position, n_args = 0, n;
    int64_t threads, value;
    struct node *args = node_ok(l->template_args) ? named_children(f, l->template_args, &n_args) : NULL,
                *parts = launch_dim3(f, l, node_strip(l->block), &n);
    bool known = parts ? n > 0 && constant_value(f, parts[0], &threads) : constant_value(f, l->block, &threads);

    for (size_t i = 1; parts && i < n; i++)
        known = known && constant_value(f, parts[i], &value) && value == 1;
    return known && ctype_is_parameter(f, param, &position) && position < n_args &&
           constant_value(f, args[position], &value) && value == threads;
}

char *launch_threads(const struct function *f, const struct launch *l)
{
    size_t n;
    struct node e = l->block, *parts = launch_dim3(f, l, e, &n);
    if (node_is(e, NODE_IDENTIFIER))
        return arena_printf(f->a, parts || is_dim3_name(f, l, e) ? "%s.x" : "%s", text_of(f, e));
    return parts && n > 0 ? text_of(f, parts[0]) : text_of(f, e);
}

static bool first_dim(const struct function *f, const struct launch *l, struct node e, char **x)
{
    if (call_is(f, e, "dim3")) {
        size_t n;
        struct node *parts = launch_dim3(f, l, e, &n);
        if (n == 0)
            return false;
        *x = text_of(f, parts[0]);
        return true;
    }
    if (node_is(e, NODE_IDENTIFIER)) {
        *x = is_dim3_name(f, l, e) ? arena_printf(f->a, "%s.x", text_of(f, e)) : text_of(f, e);
        return true;
    }
    if (node_is(e, NODE_COMPOUND_LITERAL_EXPRESSION) || node_is(e, NODE_INITIALIZER_LIST))
        return false;
    *x = node_is(e, NODE_BINARY_EXPRESSION) || node_is(e, NODE_CONDITIONAL_EXPRESSION)
             ? arena_printf(f->a, "(%s)", text_of(f, e))
             : text_of(f, e);
    return true;
}

bool launch_grid_x(const struct function *f, const struct launch *l, char **x)
{
    return first_dim(f, l, l->grid, x);
}

bool launch_block_x(const struct function *f, const struct launch *l, char **x)
{
    return first_dim(f, l, l->block, x);
}

bool launch_grid_y(const struct function *f, const struct launch *l, char **y)
{
    struct node e = l->grid;
    size_t n;
    if (call_is(f, e, "dim3")) {
        struct node *parts = launch_dim3(f, l, e, &n);
        *y = n > 1 ? text_of(f, parts[1]) : arena_strdup(f->a, "1");
        return n > 0;
    }
    if (node_is(e, NODE_COMPOUND_LITERAL_EXPRESSION) || node_is(e, NODE_INITIALIZER_LIST))
        return false;
    *y = node_is(e, NODE_IDENTIFIER) && is_dim3_name(f, l, e) ? arena_printf(f->a, "%s.y", text_of(f, e))
                                                              : arena_strdup(f->a, "1");
    return true;
}

bool launch_block_constant(const struct function *f, const struct launch *l, int64_t *threads)
{
    struct node block = node_strip(l->block), d = host_declarator(f, l, block);
    size_t n;
    struct node *parts = launch_dim3(f, l, block, &n);
    if (parts)
        return n == 1 && constant_value(f, parts[0], threads);
    if (!node_ok(d))
        return constant_value(f, block, threads);
    return str_starts(text_of(f, node_parent(d)), "const") &&
           constant_value(f, node_field(d, FIELD_VALUE), threads);
}

const char *launch_grid_part(const struct function *f, const struct launch *l, int which)
{
    size_t n;
    struct node *parts = launch_dim3(f, l, l->grid, &n);
    if (parts && n > 0)
        return (size_t)which < n ? text_of(f, parts[which]) : NULL;
    bool plain = which == 0 && launch_grid_is_line(f, l) && !is_dim3_name(f, l, l->grid);
    return plain ? text_of(f, l->grid) : NULL;
}

/* The grid with another x and, unless NULL, y. */
char *launch_grid_with(const struct function *f, const struct launch *l, const char *x, const char *y)
{
    struct node e = l->grid;
    if (call_is(f, e, "dim3")) {
        size_t n;
        struct node *parts = launch_dim3(f, l, e, &n);
        if (y || n == 1)
            return y ? arena_printf(f->a, "dim3(%s, %s)", x, y) : arena_strdup(f->a, x);
        return n == 2 ? arena_printf(f->a, "dim3(%s, %s)", x, text_of(f, parts[1]))
                      : arena_printf(f->a, "dim3(%s, %s, %s)", x, text_of(f, parts[1]), text_of(f, parts[2]));
    }
    if (y)
        return arena_printf(f->a, "dim3(%s, %s)", x, y);
    if (node_is(e, NODE_IDENTIFIER) && is_dim3_name(f, l, e)) {
        char *name = text_of(f, e);
        return arena_printf(f->a, "dim3(%s, %s.y, %s.z)", x, name, name);
    }
    return arena_strdup(f->a, x);
}

char *launch_grid_divided(const struct function *f, const struct launch *l, int by)
{
    struct node e = node_strip(l->grid); /* (x + 7) / 8 by 2 is (x + 15) / 16 */
    int64_t already, round;
    if (node_is_binary(f, e, "/") && constant_value(f, node_field(e, FIELD_RIGHT), &already) &&
        node_is(node_field(e, FIELD_RIGHT), NODE_NUMBER_LITERAL)) {
        struct node sum = node_strip(node_field(e, FIELD_LEFT));
        if (node_is_binary(f, sum, "+") && constant_value(f, node_field(sum, FIELD_RIGHT), &round) &&
            round == already - 1 && already * by < 65536)
            return arena_printf(f->a, "(%s + %lld) / %lld", text_of(f, node_field(sum, FIELD_LEFT)),
                                (long long)already * by - 1, (long long)already * by);
    }
    char *x;
    if (!launch_grid_x(f, l, &x))
        return NULL;
    return launch_grid_with(f, l, arena_printf(f->a, "(%s + %d) / %d", x, by - 1, by), NULL);
}

const char *launch_grid_is_multiple(const struct function *f, const struct launch *l, bool y, int by)
{
    char *x;
    if (!(y ? launch_grid_y : launch_grid_x)(f, l, &x))
        return "false";
    return arena_printf(f->a, call_is(f, l->grid, "dim3") ? "(%s) %% %d == 0" : "%s %% %d == 0", x, by);
}

bool launch_grid_is_line(const struct function *f, const struct launch *l)
{
    size_t n;
    if (call_is(f, l->grid, "dim3") || (node_is(l->grid, NODE_IDENTIFIER) && is_dim3_name(f, l, l->grid))) {
        launch_dim3(f, l, l->grid, &n);
        return n == 1;
    }
    return !node_is(l->grid, NODE_COMPOUND_LITERAL_EXPRESSION) && !node_is(l->grid, NODE_INITIALIZER_LIST);
}

/* What the launcher divides to get the number of blocks, or no node. */
static struct node grid_dividend(const struct function *f, const struct launch *l, const char **op)
{
    size_t n;
    struct node *parts = launch_dim3(f, l, l->grid, &n);
    struct node e = host_value(f, l, parts && n > 0 ? parts[0] : node_strip(l->grid));
    *op = node_is(e, NODE_BINARY_EXPRESSION) ? node_op(f, e) : "";
    return str_in(*op, "/|>>") ? node_strip(node_field(e, FIELD_LEFT)) : (struct node){0};
}

bool launch_grid_divides(const struct function *f, const struct launch *l)
{
    const char *op;
    return node_ok(grid_dividend(f, l, &op));
}

bool launch_grid_cuts(const struct function *f, const struct launch *l)
{
    const char *op;
    struct node e = grid_dividend(f, l, &op);
    bool sum = node_is(e, NODE_BINARY_EXPRESSION) && str_in(node_op(f, e), "+|-");
    return node_ok(e) && (str_eq(op, ">>") || !sum);
}

/* Expressions -------------------------------------------------------------------------------------------------
 */

static bool substitute(const struct function *f, const struct launch *l, struct node e, struct edits *edits,
                       int depth)
{
    if (depth > 24)
        return false;
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (!v) { /* a constant of the file may be used as it is */
            int64_t value;
            if (!constant_value(f, e, &value))
                return false;
            if (node_is(f->whole, NODE_TEMPLATE_DECLARATION) &&
                str_has_word(text_of(f, node_field(f->whole, FIELD_PARAMETERS)), text_of(f, e)))
                edits_node(edits, e, arena_printf(f->a, "%lld", (long long)value));
            return true;
        }
        if (!v->param) { /* a local that stands for an expression */
            const char *value = v->assignments == 0 && node_ok(v->init) && !v->array && !v->pointer && depth < 8
                                    ? launch_expression(f, l, v->init)
                                    : NULL;
            if (value)
                edits_node(edits, e, str_is_name(value) ? value : arena_printf(f->a, "(%s)", value));
            return value != NULL;
        }
        struct node arg = launch_arg(f, l, v);
        if (!node_ok(arg))
            return false;
        bool simple = node_is(arg, NODE_IDENTIFIER) || node_is(arg, NODE_NUMBER_LITERAL) ||
                      node_is(arg, NODE_PARENTHESIZED_EXPRESSION);
        bool whole = depth == 0;
        edits_node(edits, e, simple || whole ? text_of(f, arg) : arena_printf(f->a, "(%s)", text_of(f, arg)));
        return true;
    }
    if (node_is(e, NODE_FIELD_EXPRESSION) || node_is(e, NODE_CALL_EXPRESSION) ||
        node_is(e, NODE_SUBSCRIPT_EXPRESSION) || node_is(e, NODE_ASSIGNMENT_EXPRESSION) ||
        node_is(e, NODE_UPDATE_EXPRESSION) || node_is(e, NODE_POINTER_EXPRESSION))
        return false;
    if (node_is(e, NODE_TYPE_DESCRIPTOR))
        return true;
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!substitute(f, l, node_child(e, i), edits, depth + 1))
            return false;
    return true;
}

char *launch_expression(const struct function *f, const struct launch *l, struct node e)
{
    if (node_is(e, NODE_IDENTIFIER)) { /* see through a local that stands for a parameter's expression */
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->param && v->assignments == 0 && node_ok(v->init) && !v->array)
            return launch_expression(f, l, v->init);
    }
    struct edits edits = {.arena = f->a};
    if (!substitute(f, l, e, &edits, 0))
        return NULL;
    char *text = edits_range(&edits, f, node_start(e), node_end(e));
    const struct variable *v = function_variable_of(f, e);
    struct node shape = v && v->param ? launch_arg(f, l, v) : e;
    const char *op = node_is(shape, NODE_BINARY_EXPRESSION) ? node_op(f, shape) : "*";
    bool product = str_eq(op, "*") || str_eq(op, "/") || str_eq(op, "%");
    if (!product || node_is(shape, NODE_CONDITIONAL_EXPRESSION) || node_is(shape, NODE_ASSIGNMENT_EXPRESSION))
        return arena_printf(f->a, "(%s)", text);
    return text;
}

bool launches_tell(const struct function *f, struct node e)
{
    for (size_t l = 0; l < f->n_launches; l++)
        if (!launch_expression(f, &f->launches[l], e))
            return false;
    return true;
}

void guard_add(struct arena *a, struct guard_list *g, const char *condition)
{
    for (size_t i = 0; i < g->list.n; i++)
        if (str_eq(g->list.v[i], condition))
            return;
    vec_add(a, &g->list, arena_strdup(a, condition));
}

static bool guard_known(const struct function *f, const struct guard_list *g, struct node n, int by)
{
    const char *want = arena_printf(f->a, "%s %% %d == 0", text_of(f, n), by);
    for (size_t i = 0; i < g->list.n; i++)
        if (str_eq(g->list.v[i], want))
            return true;
    return false;
}

/* How good a factor is for the guard: known already, true in all workloads, unknown, false in some. */
static int factor_rank(const struct function *f, const struct guard_list *g, struct node n, int by)
{
    n = node_strip(n);
    int64_t value;
    if (node_is(n, NODE_NUMBER_LITERAL) && constant_value(f, n, &value))
        return value % by == 0 ? 4 : -1;
    if (node_is_binary(f, n, "*")) {
        int x = factor_rank(f, g, node_field(n, FIELD_LEFT), by),
            y = factor_rank(f, g, node_field(n, FIELD_RIGHT), by);
        return MAX(x, y);
    }
    if (!node_is(n, NODE_IDENTIFIER))
        return 0;
    if (guard_known(f, g, n, by))
        return 3;
    const struct transform_fact *fact = fact_of(f->in, text_of(f, n));
    if (fact && fact->divisor > 0)
        return fact->divisor >= by ? 2 : 0;
    return 1;
}

void guard_multiple(const struct function *f, const struct launch *l, struct node n, int by,
                    struct guard_list *g)
{
    n = node_strip(n);
    int64_t value;
    if (node_is(n, NODE_NUMBER_LITERAL) && constant_value(f, n, &value)) {
        if (value % by != 0)
            guard_add(f->a, g, "false");
        return;
    }
    if (node_is(n, NODE_BINARY_EXPRESSION)) {
        struct node left = node_field(n, FIELD_LEFT), right = node_field(n, FIELD_RIGHT);
        const char *op = node_op(f, n);
        if (str_eq(op, "*")) {
            bool first = factor_rank(f, g, left, by) > factor_rank(f, g, right, by);
            guard_multiple(f, l, first ? left : right, by, g);
            return;
        }
        if (str_eq(op, "+") || str_eq(op, "-")) {
            guard_multiple(f, l, left, by, g);
            guard_multiple(f, l, right, by, g);
            return;
        }
    }
    /* `int64_t total = (int64_t)rows * d;`: the guard on d says it too */
    struct node init = node_strip(node_field(host_declarator(f, l, n), FIELD_VALUE));
    if (node_is_binary(f, init, "*")) {
        guard_multiple(f, l, init, by, g);
        return;
    }
    char *text = text_of(f, n);
    guard_add(f->a, g,
              arena_printf(f->a, node_is(n, NODE_IDENTIFIER) ? "%s %% %d == 0" : "(%s) %% %d == 0", text, by));
}

char *guard_join(const struct function *f, const struct guard_list *g, const struct launch *l)
{
    struct str b = {0};
    size_t left = (size_t)launch_column(f, l) + 4, column = left;
    for (size_t i = 0; i < g->list.n; i++) {
        const char *one = g->list.v[i];
        if (i > 0 && column + strlen(one) + 4 > 100) {
            str_addf(&b, " &&\n%*s", (int)left, "");
            column = left;
        } else if (i > 0) {
            str_add(&b, " && ");
            column += 4;
        }
        str_add(&b, one);
        column += strlen(one);
    }
    if (g->list.n == 0)
        str_add(&b, "true");
    return str_take(&b, f->a);
}

int launch_column(const struct function *f, const struct launch *l)
{
    return (int)strlen(text_indent(f, node_start(l->statement)));
}

void edits_launch(struct edits *e, const struct function *f, const struct launch *l, const char *lines)
{
    char *indent = text_indent(f, node_start(l->statement));
    if (!node_is(node_parent(l->statement), NODE_COMPOUND_STATEMENT))
        lines = arena_printf(f->a, "{\n%s    %s\n%s}", indent, text_reindent(f->a, lines, 4), indent);
    edits_node(e, l->statement, lines);
}

void edits_guard_launch(struct edits *e, const struct function *f, const struct launch *l, const char *comment,
                        const char *guard, const char *fast)
{
    char *indent = text_indent(f, node_start(l->statement));
    char *slow = text_reindent(f->a, text_of(f, l->statement), 4);
    struct node parent = node_parent(l->statement);
    fast = text_wrap(f->a, fast, launch_column(f, l) + 4);
    bool bare = !node_is(parent, NODE_COMPOUND_STATEMENT); /* the body of an if without braces */
    struct str b = {0};
    if (bare)
        str_addf(&b, "{\n%s", indent);
    if (comment)
        str_addf(&b, "// %s\n%s", comment, indent);
    str_addf(&b, "if (%s) {\n%s    %s\n%s} else {\n%s    %s\n%s}", guard, indent, fast, indent, indent, slow,
             indent);
    if (bare)
        str_addf(&b, "\n%s}", indent);
    edits_node(e, l->statement, str_text(&b));
    str_free(&b);
}

/* Launches through a pointer
 * --------------------------------------------------------------------------------------------
 */

/* A mention of the kernel with its namespaces and template arguments. */
static struct node whole_name(struct node name)
{
    for (struct node up = node_parent(name);
         node_is(up, NODE_TEMPLATE_FUNCTION) || node_is(up, NODE_QUALIFIED_IDENTIFIER); up = node_parent(up))
        name = up;
    return name;
}

static struct node first_identifier(const struct function *f, struct node n)
{
    struct node first = *names_in(f, n);
    return node_ok(first) ? first : n;
}

/* The variable that a value is the first one of, or is assigned to. */
static struct node pointer_of(const struct function *f, struct node value)
{
    struct node up = node_parent(value);
    if (node_is(up, NODE_INIT_DECLARATOR))
        return first_identifier(f, node_field(up, FIELD_DECLARATOR));
    return node_is(up, NODE_ASSIGNMENT_EXPRESSION) ? node_field(up, FIELD_LEFT) : (struct node){0};
}

static bool host_assigns(const struct function *f, struct node n, const char *name)
{
    struct node target = assigned_target(n);
    if (node_ok(target) && node_text_is(f->s, target, name))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (host_assigns(f, node_child(n, i), name))
            return true;
    return false;
}

/* Is the grid made of the launcher's parameters, which keep their values, and constants? */
static bool grid_is_known(const struct function *f, const struct launch *l)
{
    const char *params = text_of(f, node_field(node_field(l->host, FIELD_DECLARATOR), FIELD_PARAMETERS));
    for (struct node *word = nodes_of(f, node_parent(l->grid), NODE_IDENTIFIER); node_ok(*word); word++) {
        int64_t value;
        const char *name = text_of(f, *word);
        if (node_within(*word, l->grid) && !constant_value(f, *word, &value) &&
            (!str_has_word(params, name) || host_assigns(f, l->host, name)))
            return false;
    }
    return !call_is(f, l->grid, "dim3");
}

bool launch_by_pointer(const struct function *f, struct pointer_launch *p)
{
    size_t n, uses = 0;
    struct node *names = node_find_all(f->a, source_root(f->s), NODE_IDENTIFIER, &n), host = {0};
    const char *pointer = NULL;
    *p = (struct pointer_launch){.values = arena_array(f->a, struct node, n + 1)};
    for (struct node *name = names; node_ok(*name); name++) {
        if (!node_text_is(f->s, *name, f->name) || node_within(*name, f->whole))
            continue;
        struct node value = whole_name(*name), to = pointer_of(f, value),
                    in = node_enclosing(value, NODE_FUNCTION_DEFINITION);
        if (!node_ok(to) || (pointer && (!node_text_is(f->s, to, pointer) || !node_same(in, host))))
            return false;
        pointer = text_of(f, to);
        host = in;
        if (node_is(node_parent(value), NODE_INIT_DECLARATOR))
            p->declared = node_parent(node_parent(value));
        p->values[p->n++] = value;
    }
    if (!pointer || !node_is(p->declared, NODE_DECLARATION))
        return false;
    for (struct node *call = nodes_of(f, host, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        struct node syntax = node_child_of(*call, NODE_KERNEL_CALL_SYNTAX);
        size_t n_config;
        struct node *config = node_ok(syntax) ? named_children(f, syntax, &n_config) : NULL;
        if (!config || n_config < 2 || !node_text_is(f->s, node_field(*call, FIELD_FUNCTION), pointer))
            continue;
        p->launch = (struct launch){.call = *call,
                                    .statement = node_statement(*call),
                                    .host = host,
                                    .name = node_field(*call, FIELD_FUNCTION),
                                    .grid = config[0],
                                    .block = config[1]};
        if (n_config > 2)
            p->launch.shared = config[2];
        uses++;
    }
    for (size_t i = 0; i < n; i++) /* its declaration, its values but the first, the launch */
        uses += node_text_is(f->s, names[i], pointer) && node_within(names[i], host);
    return node_ok(p->launch.call) && uses == p->n + 2 && grid_is_known(f, &p->launch);
}
