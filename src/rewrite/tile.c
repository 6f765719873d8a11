/* tile: a kernel that reads along one dimension of its block and writes along the other touches memory in order
 * on one side only. Its values go through a square of shared memory instead: the block reads it in order,
 * meets, and writes it in order. The square's rows are one element longer than needed, so that its columns lie
 * in different banks. One value a thread, guarded by bounds, is all that such a kernel may do. */
#include "rewrite/analysis.h"

#include <ctype.h>

enum { SIDE = 32 };

struct axis {
    const struct variable *index;
    struct node bound;
    char grid; /* x or y: of the thread and block that it counts */
};

struct detail {
    const struct function *f;
    struct axis in, out; /* neighbouring elements that are read, and that are written */
    struct node first, last, condition, store;
    bool leaves; /* `if (condition) return;` before the store; else `if (condition) store` */
    const char *type;
};

/* index = blockIdx.x * (threads along x) + threadIdx.x */
static bool axis_of(const struct function *f, const struct variable *v, char axis)
{
    if (v->assignments || v->array || v->pointer || !node_ok(v->init) || !ctype_is_integer(v->type))
        return false;
    struct poly p = poly_of(f, v->init);
    struct poly thread = poly_atom(f, axis == 'x' ? "threadIdx.x" : "threadIdx.y");
    const char *block_name = axis == 'x' ? "blockIdx.x" : "blockIdx.y";
    struct poly block = poly_atom(f, block_name);
    struct poly dim = poly_atom(f, axis == 'x' ? "blockDim.x" : "blockDim.y");
    struct poly whole = poly_add(f, poly_mul(f, block, dim), thread, 1);
    if (poly_same(&p, &whole))
        return true;
    int64_t by = p.ok ? poly_coefficient(&p, block_name) : 0;
    whole = poly_add(f, poly_mul(f, block, poly_number(by)), thread, 1);
    return by > 0 && poly_same(&p, &whole);
}

static bool has_effect(const struct function *f, struct node n)
{
    if (node_ok(assigned_target(n)) || (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n)))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (has_effect(f, node_child(n, i)))
            return true;
    return false;
}

/* Bounds of both axes out of `row < rows && col < cols`, or of `row >= rows || col >= cols`. */
static bool bounds_of(const struct function *f, struct node e, bool leaves, struct axis *x, struct axis *y)
{
    e = node_strip(e);
    if (!node_is(e, NODE_BINARY_EXPRESSION))
        return false;
    const char *op = node_op(f, e);
    if (str_eq(op, leaves ? "||" : "&&"))
        return bounds_of(f, node_field(e, FIELD_LEFT), leaves, x, y) &&
               bounds_of(f, node_field(e, FIELD_RIGHT), leaves, x, y);
    const struct variable *v = function_variable_of(f, node_field(e, FIELD_LEFT));
    struct axis *a = v && v == x->index ? x : y;
    if (!v || v != a->index || !str_eq(op, leaves ? ">=" : "<"))
        return false;
    a->bound = node_field(e, FIELD_RIGHT);
    return true;
}

/* 'x', 'y' or 0: along which dimension of the block neighbouring threads touch neighbouring elements. */
static char runs_along(const struct function *f, struct node subscript)
{
    struct poly p = poly_of(f, subscript_index(f, subscript));
    if (!p.ok)
        return 0;
    bool x = poly_coefficient(&p, "threadIdx.x") == 1, y = poly_coefficient(&p, "threadIdx.y") == 1;
    if (x == y)
        return 0;
    const char *other = x ? "threadIdx.y" : "threadIdx.x"; /* else all of its threads read the same elements */
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.t[i].n; k++)
            if (str_eq(p.t[i].atom[k], other))
                return x ? 'x' : 'y';
    return 0;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    size_t n;
    struct node *all = named_children(f, f->body, &n);
    struct axis x = {.grid = 'x'}, y = {.grid = 'y'};
    *d = (struct detail){.f = f};
    if (f->n_launches == 0 || function_is_named_elsewhere(f) || n < 2)
        return err_input(why, "%s is used other than by launches", f->name);
    for (size_t i = 0; i < f->n_variables; i++) {
        const struct variable *v = &f->variables[i];
        if (v->shared || (!v->param && !v->assignments && v->array))
            return err_input(why, "%s keeps things in arrays", f->name);
        if (!v->param && axis_of(f, v, 'x'))
            x.index = v;
        if (!v->param && axis_of(f, v, 'y'))
            y.index = v;
    }
    if (!x.index || !y.index)
        return err_input(why, "%s has no index along both dimensions of its block", f->name);
    size_t k = 0; /* declarations, the question, and in its one form the store after it */
    while (k < n && node_is(all[k], NODE_DECLARATION) && !has_effect(f, all[k]))
        k++;
    if (k >= n || !node_is(all[k], NODE_IF_STATEMENT) || node_ok(node_field(all[k], FIELD_ALTERNATIVE)))
        return err_input(why, "%s does more than one store behind a bound", f->name);
    struct node then = node_field(all[k], FIELD_CONSEQUENCE), statement = then;
    d->first = all[0];
    d->condition = node_strip(node_field(all[k], FIELD_CONDITION));
    size_t inner;
    struct node *body = named_children(f, then, &inner);
    if (node_is(then, NODE_COMPOUND_STATEMENT))
        statement = inner == 1 ? body[0] : (struct node){0};
    d->leaves = node_is(statement, NODE_RETURN_STATEMENT);
    if (d->leaves)
        statement = k + 2 == n ? all[k + 1] : (struct node){0};
    else if (k + 1 != n)
        return err_input(why, "%s goes on behind its store", f->name);
    d->last = all[n - 1];
    d->store = statement_expression(statement);
    if (!node_is(d->store, NODE_ASSIGNMENT_EXPRESSION) || !str_eq(node_op(f, d->store), "=") ||
        !bounds_of(f, d->condition, d->leaves, &x, &y) || !node_ok(x.bound) || !node_ok(y.bound))
        return err_input(why, "%s is not one store within two bounds", f->name);
    struct node target = node_strip(node_field(d->store, FIELD_LEFT)),
                value = node_field(d->store, FIELD_RIGHT);
    const struct variable *to = node_is(target, NODE_SUBSCRIPT_EXPRESSION)
                                    ? function_variable_of(f, node_field(target, FIELD_ARGUMENT))
                                    : NULL;
    if (!to || !to->pointer || has_effect(f, value) || has_effect(f, target) ||
        node_mentions(f, value, to->name))
        return err_input(why, "what %s stores has effects of its own", f->name);
    char writes = runs_along(f, target);
    size_t n_loads, ordered = 0;
    struct node *loads = node_find_all(f->a, d->store, NODE_SUBSCRIPT_EXPRESSION, &n_loads);
    for (size_t i = 0; i < n_loads; i++) {
        if (node_same(loads[i], target))
            continue;
        char reads = runs_along(f, loads[i]);
        if (reads && reads == writes)
            return err_input(why, "%s reads and writes in the same order", f->name);
        ordered += reads != 0;
    }
    if (!writes || !ordered)
        return err_input(why, "%s does not read along one dimension and write along the other", f->name);
    d->type = to->type;
    d->in = writes == 'y' ? x : y;
    d->out = writes == 'y' ? y : x;
    for (size_t i = 0; i < f->n_launches; i++)
        if (!launch_expression(f, &f->launches[i], x.bound) || !launch_expression(f, &f->launches[i], y.bound))
            return err_input(why, "the launcher cannot tell how large the whole is");
    return ctype_size(f, d->type) > 0 || err_input(why, "the size of %s is not known", d->type);
}

static void tile_find(struct function *f, struct site_list *found)
{
    struct detail d;
    for (int rows = 8; rows <= 16 && understood(f, &d, NULL); rows *= 2) /* four loads at once, or two */
        site_add(found, f, d.store, rows,
                 "neighbouring threads write elements far apart, a sector of memory for each; through shared "
                 "memory both sides are in order",
                 "squares of %d by %d %s, %d threads", SIDE, SIDE, d.type, SIDE * rows);
}

/* The declarations that a part needs, but for the two indices. */
static void declarations(const struct detail *d, struct node part, const char *indent, struct str *b)
{
    const struct function *f = d->f;
    size_t n;
    struct node *all = named_children(f, f->body, &n);
    for (size_t i = 0; i < n && node_is(all[i], NODE_DECLARATION); i++) {
        bool needed = false, index = false;
        for (size_t v = 0; v < f->n_variables; v++) {
            const struct variable *x = &f->variables[v];
            if (!node_same(x->statement, all[i]))
                continue;
            index = index || x == d->in.index || x == d->out.index;
            needed = needed || node_mentions(f, part, x->name) || node_mentions(f, d->condition, x->name);
            for (size_t k = i + 1; k < n && node_is(all[k], NODE_DECLARATION); k++)
                needed = needed || node_mentions(f, all[k], x->name);
        }
        if (needed && !index)
            str_addf(b, "%s%s\n", indent, text_of(f, all[i]));
    }
}

static void phase(const struct detail *d, int rows, bool read, const char *tile, const char *k, struct str *b)
{
    const struct function *f = d->f;
    const struct axis *fast = read ? &d->in : &d->out, *slow = read ? &d->out : &d->in;
    struct node value = node_field(d->store, FIELD_RIGHT), target = node_field(d->store, FIELD_LEFT);
    str_addf(b, "#pragma unroll\n    for (int %s = 0; %s < %d; %s += %d) {\n", k, k, SIDE, k, rows);
    str_addf(b, "        const %s %s = blockIdx.%c * %d + threadIdx.x;\n", fast->index->type, fast->index->name,
             fast->grid, SIDE);
    str_addf(b, "        const %s %s = blockIdx.%c * %d + threadIdx.y + %s;\n", slow->index->type,
             slow->index->name, slow->grid, SIDE, k);
    declarations(d, read ? value : target, "        ", b);
    char *condition = text_of(f, d->condition);
    str_addf(b, d->leaves ? "        if (!(%s))\n" : "        if (%s)\n", condition);
    if (read)
        str_addf(b, "            %s[threadIdx.y + %s][threadIdx.x] = %s;\n    }", tile, k, text_of(f, value));
    else
        str_addf(b, "            %s = %s[threadIdx.x][threadIdx.y + %s];\n    }", text_of(f, target), tile, k);
}

/* A dim3 variable of the launcher that only this launch uses is declared anew; else the launch says it. */
static bool declared_anew(const struct function *f, const struct launch *l, struct node e, const char *args,
                          struct edits *edits)
{
    size_t n, uses = 0;
    if (!node_is(e, NODE_IDENTIFIER))
        return false;
    struct node *names = node_find_all(f->a, l->host, NODE_IDENTIFIER, &n);
    for (size_t i = 0; i < n; i++)
        uses += node_text_is(f->s, names[i], text_of(f, e));
    struct node *all = node_find_all(f->a, l->host, NODE_DECLARATION, &n);
    for (size_t i = 0; i < n && uses == 2; i++) {
        struct node d = node_field(all[i], FIELD_DECLARATOR);
        if (!node_text_is(f->s, node_field(all[i], FIELD_TYPE), "dim3") ||
            !node_text_is(f->s, node_field(d, FIELD_DECLARATOR), text_of(f, e)))
            continue;
        /* `dim3 block(X, Y)` reads like a function's declaration */
        struct node old = node_field(d, node_is(d, NODE_FUNCTION_DECLARATOR) ? FIELD_PARAMETERS : FIELD_VALUE);
        return text_of(f, old)[0] == '(' && edits_node(edits, old, args);
    }
    return false;
}

/* Constants of the file that only the old text needed go, with the blank line below them: the size of its
 * blocks, as a rule. */
static void remove_unused(const struct function *f, struct edits *edits)
{
    size_t first = 0, end = 0; /* what is removed already, right above */
    size_t count;
    struct node *all = file_items(f, &count);
    for (size_t i = 0; i < count; i++) {
        struct node c = all[i], d = node_field(c, FIELD_DECLARATOR);
        if (!node_is(c, NODE_DECLARATION) || !node_is(d, NODE_INIT_DECLARATOR) ||
            !str_starts(text_of(f, c), "constexpr"))
            continue;
        char *name = text_of(f, node_field(d, FIELD_DECLARATOR)), *text = edits_finish(edits, f);
        size_t from = node_start(c), to = node_end(c) + strcspn(f->text + node_end(c), "\n");
        if (!f->text[to] || text_count_word(f->text, name) < 2 || text_count_word(text, name) != 1)
            continue;
        first = from == end ? first : from;
        bool blank = f->text[to + 1] == '\n' && first > 1 && str_starts(f->text + first - 2, "\n\n");
        end = to + 1 + blank;
        edits_try(edits, from, end, "");
    }
}

static bool tile_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct detail d;
    const char *tile = fresh_local(f, "tile"), *k = fresh_local(f, "k");
    int rows = site->setting; /* threads of a block are SIDE by this */
    if (!understood(f, &d, why_not))
        return false;
    struct str b = {0};
    str_add(&b,
            "// A square of the grid goes through shared memory, so that reads and writes are both in order; a "
            "row has one\n    // element too many, so that columns lie in different banks.\n");
    str_addf(&b, "    __shared__ %s %s[%d][%d + 1];\n", d.type, tile, SIDE, SIDE);
    phase(&d, rows, true, tile, k, &b);
    str_add(&b, "\n    __syncthreads();\n");
    phase(&d, rows, false, tile, k, &b);
    edits_try(edits, node_start(d.first), node_end(d.last), str_take(&b, a));
    const struct axis *x = d.in.grid == 'x' ? &d.in : &d.out, *y = d.in.grid == 'x' ? &d.out : &d.in;
    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        char *grid = arena_printf(a, "((%s + %d) / %d, (%s + %d) / %d)", launch_expression(f, l, x->bound),
                                  SIDE - 1, SIDE, launch_expression(f, l, y->bound), SIDE - 1, SIDE);
        char *block = arena_printf(a, "(%d, %d)", SIDE, rows);
        bool own_grid = declared_anew(f, l, l->grid, grid, edits);
        bool own_block = declared_anew(f, l, l->block, block, edits);
        if (!own_grid)
            edits_node(edits, l->grid, arena_printf(a, "dim3%s", grid));
        if (!own_block)
            edits_node(edits, l->block, arena_printf(a, "dim3%s", block));
    }
    remove_unused(f, edits);
    return true;
}

const struct transform transform_tile = {
    .name = "tile",
    .summary = "take what is read along one dimension and written along the other through shared memory",
    .helps = "l2 dram latency",
    .chooses = "block items",
    .find = tile_find,
    .apply = tile_apply,
};
