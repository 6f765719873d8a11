/* tile: a kernel that reads along one dimension of its block and writes along the other touches memory in order
 * on one side only. Its values go through a square of shared memory instead: the block reads it in order,
 * meets, and writes it in order. The square's rows are one element longer than needed, so that its columns lie
 * in different banks. One value a thread, guarded by bounds, is all that such a kernel may do. */
#include "rewrite/elements.h"

#include <ctype.h>

enum { SIDE = 32, WIDE_SIDE = 64, VECTOR = 100, LOADS_MOST = 4 };

struct axis {
    const struct variable *index;
    struct node bound;
    char grid; /* x or y: of the thread and block that it counts */
};

/* One index over the grid that is taken apart: row = index / width, column = index % width. */
struct flat {
    const struct variable *index; /* NULL: the block has two dimensions */
    struct node width;
    const char *row, *column; /* atoms of polynomials */
};

struct detail {
    const struct function *f;
    struct flat flat;
    struct axis in, out; /* neighbouring elements that are read, and that are written */
    struct node first, last, condition, store;
    bool leaves; /* `if (condition) return;` before the store; else `if (condition) store` */
    const char *type;
    int side; /* of the square */
    int rows; /* of the block's threads, where the square is the kernel's own; 0: the setting says */
    const char *target, *value; /* of the store, as texts */
};

/* index = blockIdx.x * (threads along x) + threadIdx.x */
static bool axis_of(const struct function *f, const struct variable *v, char axis)
{
    if (v->assignments || v->array || v->pointer || !node_ok(v->init) || !ctype_is_integer(f, v->type))
        return false;
    struct poly p = poly_of(f, v->init);
    int64_t threads;
    return poly_counts_grid(f, &p, axis - 'x', &threads);
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

/* Row and column of an index that is taken apart; false where it has not one of each. */
static bool flat_of(const struct function *f, struct flat *flat, struct axis *x, struct axis *y)
{
    *flat = (struct flat){.index = x->index};
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables && x->index; v++) {
        struct node init = node_strip(v->init);
        const char *op = node_is(init, NODE_BINARY_EXPRESSION) ? node_op(f, init) : "";
        struct poly p = node_ok(init) ? poly_of(f, init) : (struct poly){0};
        if (v->assignments || v->pointer || !p.ok || p.n != 1 || p.t[0].n != 1 || p.t[0].by != 1 ||
            !(str_eq(op, "/") || str_eq(op, "%")) ||
            function_variable_of(f, node_strip(node_field(init, FIELD_LEFT))) != flat->index)
            continue;
        struct node width = node_field(init, FIELD_RIGHT);
        struct poly one = poly_of(f, width), other = poly_of(f, node_ok(flat->width) ? flat->width : width);
        bool row = str_eq(op, "/");
        if (!poly_same(&one, &other) || (row ? flat->row : flat->column))
            return false;
        flat->width = width;
        *(row ? &flat->row : &flat->column) = p.t[0].atom[0];
        *(row ? y : x) = (struct axis){.index = v, .grid = row ? 'y' : 'x'};
    }
    return flat->row && flat->column;
}

/* `index < rows * width`, or its opposite. */
static bool flat_bounds(const struct function *f, const struct flat *flat, struct node e, bool leaves,
                        struct axis *x, struct axis *y)
{
    e = node_strip(e);
    if (!node_is(e, NODE_BINARY_EXPRESSION) || !str_eq(node_op(f, e), leaves ? ">=" : "<") ||
        function_variable_of(f, node_field(e, FIELD_LEFT)) != flat->index)
        return false;
    struct node all = node_strip(node_field(e, FIELD_RIGHT));
    const struct variable *v = function_variable_of(f, all);
    all = v && !v->param && !v->assignments ? node_strip(v->init) : all;
    if (!node_is_binary(f, all, "*"))
        return false;
    struct node left = node_field(all, FIELD_LEFT), right = node_field(all, FIELD_RIGHT);
    struct poly width = poly_of(f, flat->width), one = poly_of(f, left), other = poly_of(f, right);
    x->bound = flat->width;
    y->bound = poly_same(&width, &other) ? left : right;
    return poly_same(&width, &one) || poly_same(&width, &other);
}

/* 'x', 'y' or 0: along which dimension of the block neighbouring threads touch neighbouring elements. */
static char runs_along(const struct function *f, const struct flat *flat, struct node subscript)
{
    const char *in_x = flat->index ? flat->column : "threadIdx.x",
               *in_y = flat->index ? flat->row : "threadIdx.y";
    struct poly p = poly_of(f, subscript_index(f, subscript));
    if (p.ok && flat->index) { /* index = row * width + column */
        struct poly whole = poly_of(f, flat->index->init), parts = poly_of(f, flat->width);
        int64_t by = poly_coefficient(&p, "threadIdx.x");
        parts = poly_add(f, poly_mul(f, parts, poly_atom(f, flat->row)), poly_atom(f, flat->column), 1);
        p = poly_add(f, poly_add(f, p, whole, -by), parts, by);
    }
    if (!p.ok)
        return 0;
    bool x = poly_coefficient(&p, in_x) == 1, y = poly_coefficient(&p, in_y) == 1;
    if (x == y)
        return 0;
    const char *other = x ? in_y : in_x; /* else all of its threads read the same elements */
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.t[i].n; k++)
            if (str_eq(p.t[i].atom[k], other))
                return x ? 'x' : 'y';
    return 0;
}

/* The kernel's indices along both dimensions of its block, the only place where it keeps things. */
static bool indices_of(const struct function *f, struct flat *flat, struct axis *x, struct axis *y,
                       struct err *why)
{
    *flat = (struct flat){0};
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->shared || (!v->param && !v->assignments && v->array))
            return err_input(why, "%s keeps things in arrays", f->name);
        if (!v->param && axis_of(f, v, 'x'))
            x->index = v;
        if (!v->param && axis_of(f, v, 'y'))
            y->index = v;
    }
    bool apart = !y->index && !str_has_word(text_of(f, f->body), "threadIdx.y") && flat_of(f, flat, x, y);
    if (!x->index || !y->index || (flat->index && !apart))
        return err_input(why, "%s has no index along both dimensions of its block", f->name);
    return true;
}

/* Is the store one value that is read along one dimension and written along the other? */
static bool store_turns(const struct function *f, struct detail *d, const struct axis *x, const struct axis *y,
                        struct err *why)
{
    struct node target = node_strip(node_field(d->store, FIELD_LEFT)),
                value = node_field(d->store, FIELD_RIGHT);
    const struct variable *to = node_is(target, NODE_SUBSCRIPT_EXPRESSION)
                                    ? function_variable_of(f, node_field(target, FIELD_ARGUMENT))
                                    : NULL;
    if (!to || !to->pointer || node_has_effect(f, value) || node_has_effect(f, target) ||
        node_mentions(f, value, to->name))
        return err_input(why, "what %s stores has effects of its own", f->name);
    char writes = runs_along(f, &d->flat, target);
    size_t ordered = 0;
    for (struct node *load = nodes_of(f, d->store, NODE_SUBSCRIPT_EXPRESSION); node_ok(*load); load++) {
        if (node_same(*load, target))
            continue;
        char reads = runs_along(f, &d->flat, *load);
        if (reads && reads == writes)
            return err_input(why, "%s reads and writes in the same order", f->name);
        ordered += reads != 0;
    }
    if (!writes || !ordered)
        return err_input(why, "%s does not read along one dimension and write along the other", f->name);
    d->type = to->type;
    d->in = writes == 'y' ? *x : *y;
    d->out = writes == 'y' ? *y : *x;
    d->side = SIDE;
    d->target = text_of(f, node_field(d->store, FIELD_LEFT));
    d->value = text_of(f, value);
    return ctype_size(f, d->type) > 0 || err_input(why, "the size of %s is not known", d->type);
}

/* Is what is stored said by the indices alone? Where they are taken apart anew, a thread is at another place.
 */
static bool says_indices(const struct function *f, const struct detail *d)
{
    static const char *const places[] = {"threadIdx", "blockIdx", "blockDim"};
    for (size_t i = 0; i < ARRAY_LEN(places) && d->flat.index; i++) {
        if (str_has_word(text_of(f, d->store), places[i]))
            return false;
        for (const struct variable *x = f->variables; x < f->variables + f->n_variables; x++)
            if (x != d->flat.index && node_ok(x->init) && str_has_word(text_of(f, x->statement), places[i]) &&
                node_mentions(f, d->store, x->name))
                return false;
    }
    return true;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    size_t n;
    struct node *all = named_children(f, f->body, &n);
    struct axis x = {.grid = 'x'}, y = {.grid = 'y'};
    *d = (struct detail){.f = f};
    if (f->n_launches == 0 || function_is_named_elsewhere(f) || n < 2)
        return err_input(why, "%s is used other than by launches", f->name);
    if (!indices_of(f, &d->flat, &x, &y, why))
        return false;
    size_t k = 0; /* declarations, the question, and in its one form the store after it */
    while (k < n && node_is(all[k], NODE_DECLARATION) && !node_has_effect(f, all[k]))
        k++;
    if (k >= n || !node_is(all[k], NODE_IF_STATEMENT) || node_ok(node_field(all[k], FIELD_ALTERNATIVE)))
        return err_input(why, "%s does more than one store behind a bound", f->name);
    struct node statement = node_unbraced(f, node_field(all[k], FIELD_CONSEQUENCE));
    d->first = all[0];
    d->condition = node_strip(node_field(all[k], FIELD_CONDITION));
    d->leaves = node_is(statement, NODE_RETURN_STATEMENT);
    if (d->leaves)
        statement = k + 2 == n ? all[k + 1] : (struct node){0};
    else if (k + 1 != n)
        return err_input(why, "%s goes on behind its store", f->name);
    d->last = all[n - 1];
    d->store = statement_expression(statement);
    if (!node_is_assignment(f, d->store, "=") ||
        !(d->flat.index ? flat_bounds(f, &d->flat, d->condition, d->leaves, &x, &y)
                        : bounds_of(f, d->condition, d->leaves, &x, &y)) ||
        !node_ok(x.bound) || !node_ok(y.bound))
        return err_input(why, "%s is not one store within two bounds", f->name);
    if (!store_turns(f, d, &x, &y, why))
        return false;
    if (!says_indices(f, d))
        return err_input(why, "%s asks for its thread again", f->name);
    return (launches_tell(f, x.bound) && launches_tell(f, y.bound)) ||
           err_input(why, "the launcher cannot tell how large the whole is");
}

/* The terms of p that have this atom, with another in its place. */
static struct poly terms_with(const struct function *f, const struct poly *p, const char *atom,
                              const char *other)
{
    struct poly all = poly_number(0);
    for (int i = 0; i < p->n; i++) {
        bool has = false;
        struct poly one = poly_number(p->t[i].by);
        for (int k = 0; k < p->t[i].n; k++) {
            bool here = str_eq(p->t[i].atom[k], atom);
            has = has || here;
            one = poly_mul(f, one, poly_atom(f, here ? other : p->t[i].atom[k]));
        }
        if (has)
            all = poly_add(f, all, one, 1);
    }
    return all;
}

/* The place of a subscript without the loop's step; false where the step is not one of the rows. */
static bool without_step(const struct function *f, struct node subscript, const char *step, struct edits *edits)
{
    struct node index = subscript_index(f, subscript), right = node_field(index, FIELD_RIGHT);
    struct poly p = poly_of(f, index), rows = terms_with(f, &p, "threadIdx.y", step),
                steps = terms_with(f, &p, step, step);
    if (!p.ok || !poly_same(&rows, &steps))
        return false;
    if (!node_mentions(f, index, step))
        return true;
    struct node left = node_field(index, FIELD_LEFT);
    return node_is_binary(f, index, "+") && !node_mentions(f, left, step) && node_mentions(f, right, step) &&
           edits_node(edits, index, text_of(f, left));
}

/* A kernel that walks whole squares of its own, without a question: `for (i = 0; i < SIDE; i += ROWS) out[to +
 * i] = in[from + i * width];`, or one element a thread. */
static bool own_squares(const struct function *f, struct detail *d, struct err *why)
{
    size_t n;
    struct node *all = named_children(f, f->body, &n), statement;
    struct axis x = {.grid = 'x'}, y = {.grid = 'y'};
    int64_t side, end = 0, rows = 0, first;
    const char *step = "";
    *d = (struct detail){.f = f};
    if (f->n_launches == 0 || function_is_named_elsewhere(f) || n < 2 ||
        !indices_of(f, &d->flat, &x, &y, why) || d->flat.index)
        return false;
    for (size_t i = 0; i + 1 < n; i++)
        if (!node_is(all[i], NODE_DECLARATION) || node_has_effect(f, all[i]))
            return err_input(why, "%s does more than one store", f->name);
    statement = all[n - 1];
    struct poly px = poly_of(f, x.index->init), py = poly_of(f, y.index->init);
    side = rows = poly_coefficient(&px, "blockIdx.x");
    if (node_is(statement, NODE_FOR_STATEMENT)) {
        struct node start = node_field(node_field(statement, FIELD_INITIALIZER), FIELD_DECLARATOR),
                    until = node_field(statement, FIELD_CONDITION),
                    update = node_field(statement, FIELD_UPDATE);
        step = text_of(f, node_field(start, FIELD_DECLARATOR));
        if (!constant_value(f, node_field(start, FIELD_VALUE), &first) || first != 0 ||
            !str_eq(node_op(f, until), "<") || !constant_value(f, node_field(until, FIELD_RIGHT), &end) ||
            !str_eq(node_op(f, update), "+=") || !constant_value(f, node_field(update, FIELD_RIGHT), &rows) ||
            end != side)
            return err_input(why, "the loop of %s is not over the rows of its square", f->name);
        statement = node_unbraced(f, node_field(statement, FIELD_BODY));
    }
    d->first = all[0];
    d->last = all[n - 1];
    d->store = statement_expression(statement);
    if (side < 8 || side > SIDE || rows < 1 || side % rows != 0 ||
        poly_coefficient(&py, "blockIdx.y") != side || block_threads(f, 0) != side ||
        block_threads(f, 1) != rows || block_threads(f, 2) != 1)
        return err_input(why, "the blocks of %s are no squares", f->name);
    if (!node_is_assignment(f, d->store, "=") || !store_turns(f, d, &x, &y, why))
        return false;
    size_t n_places, within = 0, mentioned = 0;
    struct edits edits = {.arena = f->a};
    struct node *places = node_find_all(f->a, d->store, NODE_SUBSCRIPT_EXPRESSION, &n_places);
    for (size_t i = 0; i < n_places; i++)
        if (!without_step(f, places[i], step, &edits))
            return err_input(why, "the loop of %s does not go from row to row", f->name);
    for (struct node *name = nodes_of(f, d->store, NODE_IDENTIFIER); node_ok(*name); name++) {
        bool here = node_text_is(f->s, *name, step);
        mentioned += here;
        for (size_t p = 0; here && p < n_places; p++)
            within += node_within(*name, subscript_index(f, places[p]));
    }
    struct node left = node_field(d->store, FIELD_LEFT), right = node_field(d->store, FIELD_RIGHT);
    d->side = (int)side;
    d->rows = (int)rows;
    d->target = edits_range(&edits, f, node_start(left), node_end(left));
    d->value = edits_range(&edits, f, node_start(right), node_end(right));
    return (mentioned == within && d->in.grid == 'x') ||
           err_input(why, "%s uses the step in other ways", f->name);
}

/* Larger squares, in vectors: what a launch must ask, and the loads that become vectors. */
struct wide {
    struct elements in, out; /* along either axis: what must be a multiple, and aligned */
    struct node loads[LOADS_MOST];
    size_t n_loads;
    int vector, rows; /* elements of an access, threads along y */
};

static bool moves_along(const struct function *f, struct node e, char grid)
{
    struct poly p = poly_of(f, e);
    const char *thread = grid == 'x' ? "threadIdx.x" : "threadIdx.y";
    for (int i = 0; p.ok && i < p.n; i++)
        for (int k = 0; k < p.t[i].n; k++)
            if (strstr(p.t[i].atom[k], thread))
                return true;
    return !p.ok;
}

/* Does the access start on a vector where the index along its axis does? The guard is told what for. */
static bool starts_on_vector(struct elements *w, struct node access)
{
    const struct function *f = w->f;
    struct node pointer = node_field(access, FIELD_ARGUMENT);
    const struct variable *v = function_variable_of(f, pointer), *root = pointer_root(f, pointer);
    int size = v && v->pointer ? ctype_size(f, v->type) : 0;
    if (size == 0 || !root || !root->param || !elements_multiple(w, subscript_index(f, access)) ||
        !elements_pointer_multiple(w, pointer))
        return false;
    vec_add(f->a, &w->pointers, root);
    vec_add(f->a, &w->aligned, MIN(size * w->n, 16));
    return true;
}

static bool wide_of(const struct detail *d, int setting, struct wide *w, struct err *why)
{
    const struct function *f = d->f;
    struct node value = node_field(d->store, FIELD_RIGHT);
    int n = setting / VECTOR;
    *w = (struct wide){.vector = n, .rows = setting % VECTOR};
    w->in = (struct elements){.f = f, .n = n, .element = d->in.index, .why = why};
    w->out = (struct elements){.f = f, .n = n, .element = d->out.index, .why = why};
    if (d->flat.index || d->rows || WIDE_SIDE % n != 0 || WIDE_SIDE / n * w->rows > 1024 ||
        WIDE_SIDE * (WIDE_SIDE + 1) * ctype_size(f, d->type) > 49152)
        return err_input(why, "no squares of %d by %d vectors", WIDE_SIDE, n);
    if (!elements_multiple(&w->in, d->in.bound) || !elements_multiple(&w->out, d->out.bound) ||
        !starts_on_vector(&w->out, node_strip(node_field(d->store, FIELD_LEFT))))
        return err_input(why, "what %s writes does not start on a vector", f->name);
    for (struct node *load = nodes_of(f, d->store, NODE_SUBSCRIPT_EXPRESSION); node_ok(*load); load++)
        if (node_within(*load, value) && runs_along(f, &d->flat, *load) == d->in.grid) {
            if (w->n_loads == LOADS_MOST || !starts_on_vector(&w->in, *load))
                return err_input(why, "what %s reads does not start on a vector", f->name);
            w->loads[w->n_loads++] = *load;
        }
    for (struct node *name = names_in(f, value); node_ok(*name); name++) {
        bool within = !function_variable_of(f, *name);
        for (size_t i = 0; i < w->n_loads; i++)
            within = within || node_within(*name, w->loads[i]);
        if (!within && moves_along(f, *name, d->in.grid))
            return err_input(why, "%s is another one for each element of a vector", text_of(f, *name));
    }
    for (size_t l = 0; l < f->n_launches; l++) {
        struct guard_list g = {0};
        elements_guards(&w->in, &f->launches[l], &g);
        elements_guards(&w->out, &f->launches[l], &g);
        if (guard_hopeless(f, &g))
            return err_input(why, "no workload has sizes that are multiples of %d", n);
    }
    return true;
}

static void tile_find(struct function *f, struct site_list *found)
{
    static const char why[] = "neighbouring threads write elements far apart, a sector of memory for each; "
                              "through shared memory both sides are in order";
    struct detail d;
    struct wide w;
    bool whole = understood(f, &d, NULL);
    int vector = whole ? MIN(MAX(16 / ctype_size(f, d.type), 2), 8) : 2;
    const int own[] = {8, 16, 16 + VECTOR * vector}; /* four loads at once, or two; vectors */
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING && whole;
         setting++) {
        if (*setting < VECTOR)
            site_add(found, f, d.store, *setting, why, "squares of %d by %d %s, %d threads", SIDE, SIDE, d.type,
                     SIDE * *setting);
        else if (wide_of(&d, *setting, &w, NULL))
            site_add(found, f, d.store, *setting, why, "squares of %d by %d %s, %d elements an access",
                     WIDE_SIDE, WIDE_SIDE, d.type, w.vector);
    }
    if (own_squares(f, &d, NULL))
        site_add(found, f, d.store, d.rows, why, "its own squares of %d by %d %s", d.side, d.side, d.type);
}

/* The declarations that a part needs, but for the two indices. */
static void declarations(const struct detail *d, struct node part, const char *indent, struct str *b)
{
    const struct function *f = d->f;
    size_t n;
    struct node *all = named_children(f, f->body, &n);
    for (size_t i = 0; i < n && node_is(all[i], NODE_DECLARATION); i++) {
        bool needed = false, index = false;
        for (const struct variable *x = f->variables; x < f->variables + f->n_variables; x++) {
            if (!node_same(x->statement, all[i]))
                continue;
            index = index || x == d->in.index || x == d->out.index || x == d->flat.index;
            needed = needed || node_mentions(f, part, x->name) ||
                     (node_ok(d->condition) && !d->flat.index && node_mentions(f, d->condition, x->name));
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
    str_addf(b, "#pragma unroll\n    for (int %s = 0; %s < %d; %s += %d) {\n", k, k, d->side, k, rows);
    str_addf(b, "        const %s %s = blockIdx.%c * %d + threadIdx.x;\n", fast->index->type, fast->index->name,
             fast->grid, d->side);
    str_addf(b, "        const %s %s = blockIdx.%c * %d + threadIdx.y + %s;\n", slow->index->type,
             slow->index->name, slow->grid, d->side, k);
    if (d->flat.index) {
        const struct axis *row = d->in.grid == 'y' ? &d->in : &d->out,
                          *column = row == &d->in ? &d->out : &d->in;
        char *width = text_of(f, column->bound), *height = text_of(f, row->bound);
        if (node_mentions(f, read ? value : target, d->flat.index->name))
            str_addf(b, "        const %s %s = %s * (%s) + %s;\n", d->flat.index->type, d->flat.index->name,
                     row->index->name, width, column->index->name);
        declarations(d, read ? value : target, "        ", b);
        str_addf(b, "        if (%s < %s && %s < %s)\n    ", row->index->name, height, column->index->name,
                 width);
    } else {
        declarations(d, read ? value : target, "        ", b);
    }
    if (node_ok(d->condition) && !d->flat.index)
        str_addf(b, d->leaves ? "        if (!(%s))\n    " : "        if (%s)\n    ", text_of(f, d->condition));
    if (read)
        str_addf(b, "        %s[threadIdx.y + %s][threadIdx.x] = %s;\n    }", tile, k, d->value);
    else
        str_addf(b, "        %s = %s[threadIdx.x][threadIdx.y + %s];\n    }", d->target, tile, k);
}

/* The indices and the question of one step of a wide square; what stands behind it is its answer. */
static void wide_step(const struct detail *d, const struct wide *w, bool read, const char *k, struct str *b)
{
    const struct axis *fast = read ? &d->in : &d->out, *slow = read ? &d->out : &d->in;
    str_addf(b, "#pragma unroll\n    for (int %s = 0; %s < %d; %s += %d) {\n", k, k, WIDE_SIDE, k, w->rows);
    str_addf(b, "        const %s %s = blockIdx.%c * %d + threadIdx.x * %d;\n", fast->index->type,
             fast->index->name, fast->grid, WIDE_SIDE, w->vector);
    str_addf(b, "        const %s %s = blockIdx.%c * %d + threadIdx.y + %s;\n", slow->index->type,
             slow->index->name, slow->grid, WIDE_SIDE, k);
    declarations(d, node_field(d->store, read ? FIELD_RIGHT : FIELD_LEFT), "        ", b);
    str_addf(b, d->leaves ? "        if (!(%s)) {\n" : "        if (%s) {\n", text_of(d->f, d->condition));
}

static char *wide_body(const struct detail *d, const struct wide *w)
{
    const struct function *f = d->f;
    const char *tile = fresh_local(f, "tile"), *k = fresh_local(f, "k"), *e = fresh_local(f, "e");
    struct edits value = {.arena = f->a};
    struct node right = node_field(d->store, FIELD_RIGHT);
    struct str b = {0}, loads = {0};
    str_addf(&b, "__shared__ %s %s[%d][%d + 1];\n", d->type, tile, WIDE_SIDE, WIDE_SIDE);
    for (size_t i = 0; i < w->n_loads; i++) {
        const struct variable *v = function_variable_of(f, node_field(w->loads[i], FIELD_ARGUMENT));
        char *base = arena_printf(f->a, "%s_v", v->name);
        const char *name = fresh_local(f, i ? arena_printf(f->a, "%s%zu", base, i + 1) : base);
        str_addf(&b, "    packed<%s, %d> %s[%d];\n", v->type, w->vector, name, WIDE_SIDE / w->rows);
        str_addf(&loads, "            %s[%s / %d] = packed_load<%d>(&%s);\n", name, k, w->rows, w->vector,
                 text_of(f, w->loads[i]));
        edits_node(&value, w->loads[i], arena_printf(f->a, "%s[%s / %d].at[%s]", name, k, w->rows, e));
    }
    wide_step(d, w, true, k, &b);
    str_addf(&b, "%s        }\n    }\n", str_take(&loads, f->a));
    wide_step(d, w, true, k, &b);
    str_addf(&b, "#pragma unroll\n            for (int %s = 0; %s < %d; %s++)\n", e, e, w->vector, e);
    str_addf(&b, "                %s[threadIdx.y + %s][threadIdx.x * %d + %s] = %s;\n        }\n    }\n", tile,
             k, w->vector, e, edits_range(&value, f, node_start(right), node_end(right)));
    str_add(&b, "    __syncthreads();\n");
    wide_step(d, w, false, k, &b);
    const char *out = fresh_local(f, "out_v");
    str_addf(&b, "            packed<%s, %d> %s;\n", d->type, w->vector, out);
    str_addf(&b, "#pragma unroll\n            for (int %s = 0; %s < %d; %s++)\n", e, e, w->vector, e);
    str_addf(&b, "                %s.at[%s] = %s[threadIdx.x * %d + %s][threadIdx.y + %s];\n", out, e, tile,
             w->vector, e, k);
    str_addf(&b, "            packed_store(&%s, %s);\n        }\n    }", d->target, out);
    return str_take(&b, f->a);
}

/* The grid of as many squares as it takes; along z it stays as it was. */
static char *grid_of_squares(const struct detail *d, const struct launch *l, int side)
{
    const struct function *f = d->f;
    const struct axis *x = d->in.grid == 'x' ? &d->in : &d->out, *y = d->in.grid == 'x' ? &d->out : &d->in;
    size_t n = 0;
    struct node *parts = launch_dim3(f, l, l->grid, &n);
    return arena_printf(f->a, "((%s + %d) / %d, (%s + %d) / %d%s%s)", launch_expression(f, l, x->bound),
                        side - 1, side, launch_expression(f, l, y->bound), side - 1, side,
                        parts && n == 3 ? ", " : "", parts && n == 3 ? text_of(f, parts[2]) : "");
}

/* The wide copy, and a launch that takes it for sizes that are whole vectors and fill the device. */
static char *wide_launch(const struct detail *d, const struct wide *w, const struct launch *l, const char *name,
                         const char *slow)
{
    const struct function *f = d->f;
    char *indent = text_indent(f, node_start(l->statement));
    char *grid = arena_printf(f->a, "dim3%s", grid_of_squares(d, l, WIDE_SIDE));
    char *block = arena_printf(f->a, "dim3(%d, %d)", WIDE_SIDE / w->vector, w->rows);
    struct guard_list g = {0};
    elements_guards(&w->in, l, &g);
    elements_guards(&w->out, l, &g);
    guard_add(f->a, &g,
              arena_printf(f->a, "(int64_t)%s * %s >= %d", launch_expression(f, l, d->in.bound),
                           launch_expression(f, l, d->out.bound),
                           2 * WIDE_SIDE * WIDE_SIDE * f->in->limits->sm_count));
    return arena_printf(
        f->a,
        "// Larger squares in vectors, where sizes are whole vectors and there are enough.\n%sif "
        "(%s) {\n%s    %s\n%s} else {\n%s    %s\n%s}",
        indent, guard_join(f, &g, l), indent,
        text_wrap(f->a, launch_text(f, l, name, grid, block), launch_column(f, l) + 4), indent, indent,
        text_reindent(f->a, slow, 4), indent);
}

/* A dim3 variable of the launcher that only this launch uses is declared anew; else the launch says it. */
static bool declared_anew(const struct function *f, const struct launch *l, struct node e, const char *args,
                          struct edits *edits)
{
    size_t uses = 0;
    if (!node_is(e, NODE_IDENTIFIER))
        return false;
    for (struct node *name = nodes_of(f, l->host, NODE_IDENTIFIER); node_ok(*name); name++)
        uses += node_text_is(f->s, *name, text_of(f, e));
    for (struct node *x = nodes_of(f, l->host, NODE_DECLARATION); node_ok(*x) && uses == 2; x++) {
        struct node d = node_field(*x, FIELD_DECLARATOR);
        if (!node_text_is(f->s, node_field(*x, FIELD_TYPE), "dim3") ||
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
    for (struct node *item = file_items(f, NULL); node_ok(*item); item++) {
        struct node c = *item, d = node_field(c, FIELD_DECLARATOR);
        if (!node_is(c, NODE_DECLARATION) || !node_is(d, NODE_INIT_DECLARATOR) ||
            !str_starts(text_of(f, c), "constexpr"))
            continue;
        char *name = text_of(f, node_field(d, FIELD_DECLARATOR)), *text = edits_finish(edits, f);
        size_t from = node_start(c), to = node_end(c) + strcspn(f->text + node_end(c), "\n");
        if (!f->text[to] || str_count_word(f->text, name) < 2 || str_count_word(text, name) != 1)
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
    int rows = site->setting < VECTOR ? site->setting : 8; /* threads of a block are SIDE by this */
    struct wide w;
    const char *wide = NULL;
    if (!understood(f, &d, why_not) && !own_squares(f, &d, why_not))
        return false;
    if (site->setting > VECTOR) {
        struct edits inside = {.arena = a};
        if (!wide_of(&d, site->setting, &w, why_not))
            return false;
        wide = fresh_name(f, arena_printf(a, "%s_wide", f->name));
        edits_try(&inside, node_start(d.first), node_end(d.last), wide_body(&d, &w));
        if (!edits_copy(edits, &inside, f, wide,
                        arena_printf(a, "in squares of %d by %d, %d elements an access; its launch says when",
                                     WIDE_SIDE, WIDE_SIDE, w.vector),
                        why_not))
            return false;
        edits_include(edits, f, "<cstdint>", "<stdint.h>");
        edits_helper(edits, f, share_text("cuda/rewrite/packed.cuh"));
    }
    struct str b = {0};
    str_add(&b,
            "// A square of the grid goes through shared memory, so that reads and writes are both in order; a "
            "row has one\n    // element too many, so that columns lie in different banks.\n");
    str_addf(&b, "    __shared__ %s %s[%d][%d + 1];\n", d.type, tile, d.side, d.side);
    phase(&d, rows, true, tile, k, &b);
    str_add(&b, "\n    __syncthreads();\n");
    phase(&d, rows, false, tile, k, &b);
    edits_try(edits, node_start(d.first), node_end(d.last), str_take(&b, a));
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches && !d.rows; l++) {
        char *grid = grid_of_squares(&d, l, SIDE);
        char *block = arena_printf(a, "(%d, %d)", SIDE, rows);
        bool own_grid = declared_anew(f, l, l->grid, grid, edits);
        bool own_block = declared_anew(f, l, l->block, block, edits);
        grid = own_grid ? NULL : arena_printf(a, "dim3%s", grid);
        block = own_block ? NULL : arena_printf(a, "dim3%s", block);
        if (wide)
            edits_launch(edits, f, l, wide_launch(&d, &w, l, wide, launch_text(f, l, NULL, grid, block)));
        else if (grid)
            edits_node(edits, l->grid, grid);
        if (!wide && block)
            edits_node(edits, l->block, block);
    }
    if (!d.rows)
        remove_unused(f, edits);
    return true;
}

static const char *tile_words(struct arena *a, int setting)
{
    return setting > VECTOR ? arena_printf(a, "%d in vectors of %d", setting % VECTOR, setting / VECTOR) : NULL;
}

const struct transform transform_tile = {
    .name = "tile",
    .summary = "take what is read along one dimension and written along the other through shared memory",
    .helps = "l2 dram latency order",
    .chooses = "block items",
    .setting_words = tile_words,
    .parameters = {{"rows", 1, VECTOR, 4, {4, 8, 16, 32}}, {"vector", VECTOR, 0, 4, {0, 2, 4, 8}}},
    .find = tile_find,
    .apply = tile_apply,
};
