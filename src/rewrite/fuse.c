/* fuse: a kernel that leaves a few numbers for each row (a block a row), and the kernel launched right behind
 * it that takes one element a thread and reads these numbers by its row, become one: the block goes on to its
 * row's elements. The numbers stay in shared memory, the second launch goes, and the row is near when it is
 * read again. What only the two of them needed of the launcher (a workspace, pointers into it) goes too. */
#include "rewrite/analysis.h"

enum { MOST_NUMBERS = 4, MOST_PARAMS = 24, MOST_GONE = 24 };

struct number {                              /* one value a row */
    struct node store;                       /* in the first kernel: pointer[blockIdx.x] = value */
    const struct variable *pointer, *reader; /* parameters of the first and of the second kernel */
    const char *name;                        /* in shared memory */
    bool kept;                               /* somebody else reads it from memory */
};

struct detail {
    const struct function *rows, *each;
    struct lane_loop loop; /* of the first kernel: how its threads share a row */
    struct node finish;    /* its last statement: one thread stores the numbers */
    const char *flat;      /* index of a row's element as the first kernel writes it */
    struct number numbers[MOST_NUMBERS];
    size_t n_numbers;
    const struct variable *index, *row,
        *column;       /* of the second: i, i / d, i % d; the last two may be missing */
    struct node first; /* its first statement behind the bound check */
};

/* Is e, in the launcher, the product of these two? */
static bool is_product(const struct function *f, const struct launch *l, struct node e, const char *x,
                       const char *y)
{
    e = host_value(f, l, e);
    if (!node_is_binary(f, e, "*"))
        return false;
    char *left = text_of(f, node_strip(node_field(e, FIELD_LEFT))),
         *right = text_of(f, node_strip(node_field(e, FIELD_RIGHT)));
    return (str_eq(left, x) && str_eq(right, y)) || (str_eq(left, y) && str_eq(right, x));
}

static const char *arg_text(const struct function *f, const struct variable *param)
{
    struct node arg = launch_arg(f, &f->launches[0], param);
    return node_ok(arg) ? text_compact(f->a, text_of(f, arg)) : "";
}

/* The statement right behind another, comments aside. */
static struct node follower(struct node statement)
{
    struct node parent = node_parent(statement);
    for (uint32_t i = 0, all = node_count(parent); i < all; i++) {
        struct node c = node_child(parent, i);
        if (node_start(c) >= node_end(statement) && !node_is(c, NODE_COMMENT))
            return c;
    }
    return (struct node){0};
}

static bool is_thread_0(const struct function *f, struct node condition)
{
    condition = node_strip(condition);
    if (!node_is_binary(f, condition, "=="))
        return false;
    struct poly left = poly_of(f, node_field(condition, FIELD_LEFT)),
                right = poly_of(f, node_field(condition, FIELD_RIGHT));
    struct poly thread = poly_atom(f, "threadIdx.x"), zero = poly_number(0);
    return poly_same(&left, &thread) && poly_same(&right, &zero);
}

/* Stores to memory elsewhere than in the last statement would be seen twice or too late. */
static bool stores_before(const struct function *f, struct node n, struct node last)
{
    if (node_same(n, last))
        return false;
    struct node target = node_strip(assigned_target(n));
    if (node_is(target, NODE_SUBSCRIPT_EXPRESSION) || node_is(target, NODE_POINTER_EXPRESSION)) {
        const struct variable *v = function_variable_of(f, node_field(target, FIELD_ARGUMENT));
        if (!v || !v->shared)
            return true;
    }
    if (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n) && !calls_barrier(f, n))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (stores_before(f, node_child(n, i), last))
            return true;
    return false;
}

/* The first kernel: a block a row, and at its end one thread stores numbers at the row's place. */
static bool rows_understood(const struct function *f, struct detail *d)
{
    size_t n, n_loops;
    char *body = text_of(f, f->body);
    struct node *all = named_children(f, f->body, &n);
    struct lane_loop *loops = lane_loops(f, &n_loops);
    if (f->n_launches != 1 || n == 0 || node_is(f->whole, NODE_TEMPLATE_DECLARATION) || n_loops == 0 ||
        str_has_word(body, "gridDim") || str_has_word(body, "blockIdx.y") || function_is_named_elsewhere(f) ||
        loops[0].span != LANES_BLOCK || loops[0].width != 1 || !launch_grid_is_line(f, &f->launches[0]))
        return false;
    d->rows = f;
    d->loop = loops[0];
    d->finish = all[n - 1];
    if (!node_is(d->finish, NODE_IF_STATEMENT) || node_ok(node_field(d->finish, FIELD_ALTERNATIVE)) ||
        !is_thread_0(f, node_field(d->finish, FIELD_CONDITION)) || stores_before(f, f->body, d->finish))
        return false;
    struct node then = node_field(d->finish, FIELD_CONSEQUENCE);
    struct node *stores = named_children(f, then, &n);
    if (!node_is(then, NODE_COMPOUND_STATEMENT)) {
        stores = &then;
        n = 1;
    }
    for (size_t i = 0; i < n; i++) {
        struct node e = statement_expression(stores[i]);
        struct node target =
            node_is(e, NODE_ASSIGNMENT_EXPRESSION) ? node_field(e, FIELD_LEFT) : (struct node){0};
        if (!node_is(target, NODE_SUBSCRIPT_EXPRESSION) || !str_eq(node_op(f, e), "=") ||
            d->n_numbers == MOST_NUMBERS)
            return false;
        struct poly at = poly_of(f, subscript_index(f, target)), block = poly_atom(f, "blockIdx.x");
        const struct variable *v = function_variable_of(f, node_field(target, FIELD_ARGUMENT));
        if (!poly_same(&at, &block) || !v || !v->param || !v->pointer)
            return false;
        d->numbers[d->n_numbers++] = (struct number){.store = e, .pointer = v};
    }
    /* How it writes the place of an element; declared where the end of the kernel sees it. */
    struct poly place = poly_add(f, poly_mul(f, poly_atom(f, "blockIdx.x"), poly_of(f, d->loop.bound)),
                                 poly_atom(f, d->loop.index->name), 1);
    for (struct node *read = nodes_of(f, d->loop.body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*read) && !d->flat;
         read++) {
        struct node index = subscript_index(f, *read);
        struct poly p = node_ok(index) ? poly_of(f, index) : (struct poly){0};
        if (poly_same(&p, &place))
            d->flat = text_of(f, index);
    }
    return d->n_numbers > 0 && d->flat;
}

/* The second kernel: one element a thread behind a bound, and its row and column by division. */
static bool each_understood(const struct function *f, struct detail *d)
{
    size_t n, n_loops;
    struct node *all = named_children(f, f->body, &n);
    lane_loops(f, &n_loops);
    if (f->n_launches != 1 || n < 3 || node_is(f->whole, NODE_TEMPLATE_DECLARATION) || n_loops > 0 ||
        calls_barrier(f, f->body) || function_is_named_elsewhere(f))
        return false;
    d->each = f;
    const struct function *r = d->rows;
    const struct launch *l = &f->launches[0];
    char *length = launch_expression(r, &r->launches[0], d->loop.bound);
    const char *grid = launch_grid_part(r, &r->launches[0], 0);
    if (!length || !grid)
        return false;
    struct poly flat = poly_thread_of_grid(f);
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->shared || v->array)
            return false;
        if (v->param || v->assignments || !node_ok(v->init) || !ctype_is_integer(f, v->type))
            continue;
        struct poly p = poly_of(f, v->init);
        struct node init = node_strip(v->init);
        if (poly_same(&p, &flat))
            d->index = v;
        else if (d->index && node_is(init, NODE_BINARY_EXPRESSION) &&
                 node_text_is(f->s, node_strip(node_field(init, FIELD_LEFT)), d->index->name)) {
            char *by = launch_expression(f, l, node_field(init, FIELD_RIGHT));
            if (!by || !str_eq(by, length))
                continue;
            if (str_eq(node_op(f, init), "/"))
                d->row = v;
            else if (str_eq(node_op(f, init), "%"))
                d->column = v;
        }
    }
    if (!d->index || !node_same(d->index->statement, all[0]) || !node_is(all[1], NODE_IF_STATEMENT))
        return false;
    /* if (i >= rows * length) return; */
    struct node condition = node_strip(node_field(all[1], FIELD_CONDITION)),
                then = node_field(all[1], FIELD_CONSEQUENCE);
    while (node_is(then, NODE_COMPOUND_STATEMENT) && node_count(then) == 1)
        then = node_child(then, 0);
    if (!node_is(then, NODE_RETURN_STATEMENT) || !node_is_binary(f, condition, ">=") ||
        !node_text_is(f->s, node_strip(node_field(condition, FIELD_LEFT)), d->index->name))
        return false;
    const struct variable *bound = function_variable_of(f, node_field(condition, FIELD_RIGHT));
    struct node total = bound && bound->param ? launch_arg(f, l, bound) : (struct node){0};
    if (!node_ok(total) || !is_product(f, l, total, grid, length))
        return false;
    d->first = all[2];
    /* Its numbers are read at the row alone. */
    for (struct number *m = d->numbers; m < d->numbers + d->n_numbers; m++) {
        for (size_t i = 0; i < f->n_params; i++)
            if (f->variables[i].pointer && str_eq(arg_text(f, &f->variables[i]), arg_text(r, m->pointer)))
                m->reader = &f->variables[i];
        if (!m->reader)
            return false;
        size_t mine = 0, right = 0;
        for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++)
            mine += function_variable_of(f, *name) == m->reader;
        for (struct node *x = nodes_of(f, f->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*x); x++)
            right += function_variable_of(f, node_field(*x, FIELD_ARGUMENT)) == m->reader && d->row &&
                     node_text_is(f->s, subscript_index(f, *x), d->row->name) &&
                     !node_is(node_parent(*x), NODE_POINTER_EXPRESSION);
        if (mine != right || memory_written_in(f, m->reader->name, f->body))
            return false;
    }
    return true;
}

static bool understood(const struct function *rows, const struct function *each, struct detail *d)
{
    *d = (struct detail){0};
    if (!rows || !each || rows->launches[0].n_args != rows->n_params ||
        each->launches[0].n_args != each->n_params || !rows_understood(rows, d) ||
        !node_same(follower(rows->launches[0].statement), each->launches[0].statement) ||
        !each_understood(each, d))
        return false;
    /* Names of the second that would hide one that the first kernel's index needs. */
    for (const struct variable *v = each->variables + each->n_params; v < each->variables + each->n_variables;
         v++)
        if (v != d->index && v != d->row && v != d->column &&
            (str_has_word(d->flat, v->name) || str_eq(v->name, d->loop.index->name)))
            return false;
    return true;
}

static void fuse_find(struct function *rows, struct site_list *found)
{
    const struct transform_input *in = rows->in;
    for (size_t k = 0; rows->n_launches == 1 && k < in->kernel->n_functions; k++) {
        struct function *each = function_open_kernel(in, rows->a, k);
        struct detail d;
        if (each && !node_same(each->definition, rows->definition) && each->n_launches == 1 &&
            understood(rows, each, &d))
            site_add(found, rows, rows->definition, 0,
                     "the second launch waits for the whole first one and reads everything from memory again",
                     "goes on with what %s does to its row", each->name)
                ->detail = arena_copy(rows->a, &d, sizeof(d));
    }
}

/* ---- what the launcher no longer needs ---- */

struct gone {
    struct node v[MOST_GONE];
    size_t n;
};

static bool within_gone(const struct gone *g, struct node n)
{
    for (size_t i = 0; i < g->n; i++)
        if (node_within(n, g->v[i]))
            return true;
    return false;
}

/* A statement that does nothing but get or give back the workspace of this name. */
static bool is_workspace(const struct function *f, struct node statement, const char *name)
{
    size_t n;
    struct node *calls = node_find_all(f->a, statement, NODE_CALL_EXPRESSION, &n);
    if (n != 1 || node_is(statement, NODE_COMPOUND_STATEMENT))
        return false;
    struct node args = node_field(calls[0], FIELD_ARGUMENTS);
    if (!node_ok(args) || node_count(args) == 0 || !node_mentions(f, node_child(args, 0), name))
        return false;
    if (call_is(f, calls[0], "cudaFreeAsync"))
        return node_is(statement, NODE_EXPRESSION_STATEMENT);
    struct node then = node_field(statement, FIELD_CONSEQUENCE);
    return call_is(f, calls[0], "cudaMallocAsync") &&
           (node_is(statement, NODE_EXPRESSION_STATEMENT) || node_is(then, NODE_RETURN_STATEMENT));
}

/* Locals that nothing uses any more, workspaces among them. */
static void unneeded(const struct function *f, struct node host, struct gone *g)
{
    size_t n_names, n_declared;
    struct node *names = node_find_all(f->a, host, NODE_IDENTIFIER, &n_names);
    struct node *declared = node_find_all(f->a, host, NODE_DECLARATION, &n_declared);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < n_declared; i++) {
            struct node d = node_field(declared[i], FIELD_DECLARATOR), id = d;
            while (node_ok(id) && !node_is(id, NODE_IDENTIFIER))
                id = node_field(id, FIELD_DECLARATOR);
            if (!node_ok(id) || within_gone(g, declared[i]) || g->n + 4 > MOST_GONE)
                continue;
            char *name = text_of(f, id);
            struct node users[3];
            size_t n = 0;
            bool needed = false;
            for (size_t k = 0; k < n_names && !needed; k++) {
                if (node_same(names[k], id) || !node_text_is(f->s, names[k], name) || within_gone(g, names[k]))
                    continue;
                struct node user = node_statement(names[k]);
                while (node_ok(node_parent(user)) && !is_workspace(f, user, name) &&
                       !node_is(node_parent(user), NODE_COMPOUND_STATEMENT))
                    user = node_parent(user);
                needed = !is_workspace(f, user, name) || n == ARRAY_LEN(users);
                if (!needed)
                    users[n++] = user;
            }
            if (needed || node_has(f, declared[i], NODE_CALL_EXPRESSION))
                continue;
            g->v[g->n++] = declared[i];
            for (size_t k = 0; k < n; k++)
                if (!within_gone(g, users[k]))
                    g->v[g->n++] = users[k];
            again = true;
        }
    }
}

/* The whole lines of a statement. */
static void remove_lines(const struct function *f, struct node n, struct edits *edits)
{
    size_t from = str_line_start(f->text, node_start(n)), to = node_end(n);
    while (f->text[to] && f->text[to] != '\n')
        to++;
    edits_try(edits, from, f->text[to] ? to + 1 : to, "");
}

void launches_remove(const struct function *f, const struct node *statements, size_t n, const char *kept,
                     struct edits *edits)
{
    struct gone g = {0}, all;

    for (size_t i = 0; i < n && i < MOST_GONE; i++)
        g.v[g.n++] = statements[i];
    all = g;
    unneeded(f, f->launches[0].host, &all);
    for (size_t i = 1; i < all.n; i++) {
        struct node id =
            node_is(all.v[i], NODE_DECLARATION) ? node_field(all.v[i], FIELD_DECLARATOR) : (struct node){0};
        while (node_ok(id) && !node_is(id, NODE_IDENTIFIER))
            id = node_field(id, FIELD_DECLARATOR);
        if (i < n ||
            !(node_ok(id) && str_has_word(kept, text_of(f, id)))) /* what the new launch passes stays */
            remove_lines(f, all.v[i], edits);
    }
}

/* ---- the code ---- */

struct params {
    const char *declared[MOST_PARAMS], *passed[MOST_PARAMS];
    size_t n;
};

/* A parameter of the second kernel under its name in the fused one; "" when it has none yet. */
static const char *known_as(const struct detail *d, const struct variable *v)
{
    const struct function *r = d->rows, *e = d->each;
    for (const struct variable *p = r->variables; p < r->variables + r->n_params; p++)
        if (str_eq(arg_text(r, p), arg_text(e, v)) &&
            str_eq(text_compact(r->a, text_of(r, p->statement)),
                   text_compact(r->a, arena_printf(r->a, "%s%s",
                                                   text_range(e, node_start(v->statement), node_start(v->id)),
                                                   p->name))))
            return p->name;
    return "";
}

/* The second kernel's statements in the first kernel's terms. */
static char *body_of(const struct detail *d, struct params *params)
{
    const struct function *r = d->rows, *e = d->each;
    struct arena *a = e->a;
    struct edits edits = {.arena = a};
    size_t n, start = node_start(d->first);
    for (struct node *read = nodes_of(e, e->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*read); read++)
        for (size_t k = 0; k < d->n_numbers; k++)
            if (function_variable_of(e, node_field(*read, FIELD_ARGUMENT)) == d->numbers[k].reader)
                edits_node(&edits, *read, d->numbers[k].name);
    for (struct node *name = nodes_of(e, e->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(e, *name);
        struct node parent = node_parent(*name);
        bool inside = false; /* a number's index */
        for (size_t q = 0; q < edits.list.n; q++)
            inside = inside ||
                     (edits.list.v[q].start <= node_start(*name) && edits.list.v[q].end >= node_end(*name));
        if (!v || inside || node_start(*name) < start)
            continue;
        const char *text = NULL;
        if (v == d->index)
            text = node_is(parent, NODE_SUBSCRIPT_ARGUMENT_LIST) || node_is(parent, NODE_SUBSCRIPT_EXPRESSION)
                       ? d->flat
                       : arena_printf(a, "(%s)", d->flat);
        else if (v == d->row)
            text = "blockIdx.x";
        else if (v == d->column)
            text = d->loop.index->name;
        else if (v->param) {
            text = known_as(d, v);
            if (!*text) { /* a parameter more */
                text = fresh_local(r, v->name);
                const char *declared =
                    arena_printf(a, "%s%s", text_range(e, node_start(v->statement), node_start(v->id)), text);
                bool seen = false;
                for (size_t k = 0; k < params->n; k++)
                    seen = seen || str_eq(params->declared[k], declared);
                if (!seen && params->n == MOST_PARAMS)
                    return NULL;
                if (!seen) {
                    params->declared[params->n] = declared;
                    params->passed[params->n++] = text_of(e, launch_arg(e, &e->launches[0], v));
                }
            }
        }
        if (text && !str_eq(text, v->name))
            edits_node(&edits, *name, text);
    }
    struct node *all = named_children(e, e->body, &n);
    struct str b = {0};
    for (size_t i = 2; i < n; i++) {
        if ((d->row && node_same(all[i], d->row->statement)) ||
            (d->column && node_same(all[i], d->column->statement)))
            continue;
        char *one = edits_range(&edits, e, node_start(all[i]), node_end(all[i]));
        str_addf(&b, "        %s\n", text_reindent(a, one, 4));
    }
    char *text = edits.clash ? NULL : arena_strdup(a, str_text(&b));
    str_free(&b);
    return text;
}

/* Does the launcher's expression lead to memory of the caller, seen through its own variables? */
static bool is_callers(const struct function *f, const struct launch *l, struct node e, int depth)
{
    for (struct node *word = names_in(f, e); node_ok(*word); word++) {
        char *name = text_of(f, *word);
        for (size_t k = 0; k < f->in->kernel->n_params; k++)
            if (str_eq(f->in->kernel->params[k].name, name) && f->in->kernel->params[k].pointer)
                return true;
        for (struct node *d = nodes_of(f, l->host, NODE_INIT_DECLARATOR); node_ok(*d); d++) {
            struct node id = node_field(*d, FIELD_DECLARATOR);
            while (node_is(id, NODE_POINTER_DECLARATOR))
                id = node_field(id, FIELD_DECLARATOR);
            if (node_text_is(f->s, id, name) &&
                (depth > 4 || is_callers(f, l, node_field(*d, FIELD_VALUE), depth + 1)))
                return true;
        }
    }
    return false;
}

/* Is the memory behind it the launcher's own, for these two launches alone? */
static bool is_private(const struct detail *d, const struct variable *pointer)
{
    const struct function *f = d->rows;
    const struct launch *l = &f->launches[0];
    struct node arg = node_strip(launch_arg(f, l, pointer));
    size_t launches = 0;
    for (const char *p = text_of(f, l->host); (p = strstr(p, "<<<")); p += 3)
        launches++;
    return node_is(arg, NODE_IDENTIFIER) && launches == 2 && !is_callers(f, l, arg, 0);
}

static bool fuse_apply(const struct function *r, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = r->a;
    struct detail *d = arena_copy(a, site->detail, sizeof(*d));
    const struct function *e = d->each;
    const struct launch *l = &r->launches[0], *second = &e->launches[0];
    struct params params = {0};
    for (size_t k = 0; k < d->n_numbers; k++) {
        d->numbers[k].name = fresh_local(r, arena_printf(a, "row_%s", d->numbers[k].pointer->name));
        d->numbers[k].kept = !is_private(d, d->numbers[k].pointer);
    }
    for (size_t i = 0; i < r->n_params; i++) {
        bool gone = false;
        for (size_t k = 0; k < d->n_numbers; k++)
            gone = gone || (&r->variables[i] == d->numbers[k].pointer && !d->numbers[k].kept);
        if (gone)
            continue;
        if (params.n == MOST_PARAMS)
            return err_input(why_not, "too many parameters");
        params.declared[params.n] = text_of(r, r->variables[i].statement);
        params.passed[params.n++] = text_of(r, l->args[i]);
    }
    char *body = body_of(d, &params);
    if (!body)
        return err_input(why_not, "%s cannot be said in terms of %s", e->name, r->name);

    /* the kernel */
    char *name = fresh_name(r, arena_printf(a, "%s_%s", r->name, e->name));
    struct str b = {0};
    for (size_t k = 0; k < d->n_numbers; k++)
        str_addf(&b, "__shared__ %s %s;\n    ", d->numbers[k].pointer->type, d->numbers[k].name);
    str_addf(&b, "%s {\n",
             text_range(r, node_start(d->finish), node_end(node_field(d->finish, FIELD_CONDITION))));
    for (const struct number *m = d->numbers; m < d->numbers + d->n_numbers; m++) {
        char *value = text_of(r, node_field(m->store, FIELD_RIGHT));
        str_addf(&b, "        %s = %s;\n", m->name, value);
        if (m->kept)
            str_addf(&b, "        %s = %s;\n", text_of(r, node_field(m->store, FIELD_LEFT)), m->name);
    }
    char *header = text_trim(text_range(r, node_start(d->loop.loop), node_start(d->loop.body)));
    str_addf(&b, "    }\n    __syncthreads();\n    %s {\n%s    }", header, body);
    edits_node(edits, d->finish, str_text(&b));
    str_free(&b);
    edits_parameters(edits, r, params.declared, params.n, (int)strlen(name) - (int)strlen(r->name));
    edits_node(edits, r->id, name);

    /* the launcher */
    struct str call = {0};
    char *head = text_range(r, node_start(l->statement), node_start(l->args[0]));
    str_addf(&call, "%s%s", name, head + (node_end(l->name) - node_start(l->statement)));
    for (size_t i = 0; i < params.n; i++)
        str_addf(&call, "%s%s", i ? ", " : "", params.passed[i]);
    str_addf(&call, ");");
    edits_node(edits, l->statement, text_wrap(a, str_text(&call), launch_column(r, l)));
    launches_remove(r, (struct node[]){l->statement, second->statement}, 2, str_text(&call), edits);
    str_free(&call);

    /* the second kernel */
    size_t from = function_head(e), to = node_end(e->whole);
    while (e->text[to] == '\n')
        to++;
    edits_try(edits, from, to, "");
    return true;
}

const struct transform transform_fuse = {
    .name = "fuse",
    .summary = "let a row's block go on with what the next launch does to the row's elements",
    .helps = "dram l2 latency launch",
    .find = fuse_find,
    .apply = fuse_apply,
};
