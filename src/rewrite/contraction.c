/* A contraction recognised: sum over k of X[row, k] * Y[k, col]. Nothing is asked of names: indices are
 * polynomials, and what stands before and behind the loop is either the same for a whole block or belongs to
 * one result. */
#include "rewrite/contraction.h"

/* ---- what differs between the threads of a block ---- */

static bool in_nodes(const struct node *v, size_t n, struct node x)
{
    for (size_t i = 0; i < n; i++)
        if (node_same(v[i], x))
            return true;
    return false;
}

static const char *const block_index[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};

/* Is blockIdx's member one that no index takes? The grid keeps it, where it is not x. */
static bool is_free_block(const struct contraction_parse *p, struct node block)
{
    struct node member = node_parent(block);

    for (int d = 1; d < 3; d++)
        if (!p->c->taken[d] && node_is(member, NODE_FIELD_EXPRESSION) &&
            node_text_is(p->f->s, member, block_index[d]))
            return true;
    return false;
}

static bool is_index(const struct contraction *c, const struct variable *v)
{
    return v && (v == c->row.index || v == c->col.index || v == c->flat);
}

/* Does it ask which thread or block it is, other than by the grid's dimensions that stay? */
static bool asks_for_thread(const struct contraction_parse *p, struct node n)
{
    if (node_is(n, NODE_IDENTIFIER))
        return str_in(text_of(p->f, n), "threadIdx|blockDim|gridDim") ||
               (node_text_is(p->f->s, n, "blockIdx") && !is_free_block(p, n));
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (asks_for_thread(p, node_child(n, i)))
            return true;
    return false;
}

/* The same for all threads of a block, and not changed by another grid. */
static bool is_uniform(const struct contraction_parse *p, struct node n)
{
    const struct contraction *c = p->c;

    if (node_is(n, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(p->f, n);
        if (!v)
            return !asks_for_thread(p, n);
        if (is_index(c, v) || v == c->sum || (node_ok(c->loop) && v->from >= node_start(c->loop)))
            return false;
        return v->param || !in_nodes(c->dependent.v, c->dependent.n, v->statement);
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!is_uniform(p, node_child(n, i)))
            return false;
    return true;
}

/* ---- indices ---- */

/* index = blockIdx.D * (threads of a block along D) + threadIdx.D, or blockIdx.D where there is one thread. */
bool contraction_counts_grid(const struct function *f, const struct poly *p, int dimension)
{
    struct poly alone = poly_atom(f, block_index[dimension]);
    int64_t threads;

    if (poly_same(p, &alone))
        return block_threads(f, dimension) == 1;
    return poly_counts_grid(f, p, dimension, &threads) &&
           (threads == 0 || threads == block_threads(f, dimension));
}

static bool is_plain(const struct function *f, const struct variable *v)
{
    return !v->param && !v->array && !v->pointer && !v->shared && v->assignments == 0 && node_ok(v->init) &&
           ctype_is_integer(f, v->type);
}

static void set_axis(struct contraction_axis *axis, const struct variable *v, const char *lead, int dimension,
                     struct poly whole)
{
    axis->index = v;
    axis->lead = lead;
    axis->dimension = dimension;
    axis->whole = whole;
}

/* Row and column out of one index over the whole grid: row = i / n, column = i % n. */
static bool find_flat(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        struct node e = is_plain(f, v) ? node_strip(v->init) : (struct node){0};
        const struct variable *of = node_is(e, NODE_BINARY_EXPRESSION)
                                        ? function_variable_of(f, node_strip(node_field(e, FIELD_LEFT)))
                                        : NULL;
        if (!of || of != c->flat)
            continue;
        struct poly whole = poly_of(f, e);
        bool row = str_eq(node_op(f, e), "/"), col = str_eq(node_op(f, e), "%");
        struct contraction_axis *axis = row ? &c->row : &c->col;
        if ((!row && !col) || axis->index || whole.n != 1 || whole.t[0].n != 1)
            return err_input(p->why, "%s takes its index apart otherwise than into row and column", f->name);
        set_axis(axis, v, whole.t[0].atom[0], 0, whole);
        axis->bounds[1] = node_field(e, FIELD_RIGHT);
    }
    if (!c->row.index || !c->col.index) {
        c->vector = !c->row.index && !c->col.index;
        return c->vector;
    }
    struct poly rows = poly_of(f, c->row.bounds[1]), cols = poly_of(f, c->col.bounds[1]);
    c->col.bound = cols;
    return poly_same(&rows, &cols) && cols.n == 1 && is_uniform(p, c->col.bounds[1]);
}

/* The atom of an index that only threads along this dimension of the grid have. */
static const char *lead_of(const struct poly *whole, int dimension)
{
    static const char *const threads[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

    return poly_coefficient(whole, threads[dimension]) ? threads[dimension] : block_index[dimension];
}

/* The indices of a result: along two dimensions of the grid, or divided from one; or a row alone. */
static bool find_indices(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;
    const struct variable *along[2] = {NULL, NULL};

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->shared)
            return err_input(p->why, "%s keeps things in shared memory", f->name);
        struct poly whole = is_plain(f, v) ? poly_of(f, v->init) : (struct poly){0};
        for (int d = 0; d < 2; d++) {
            if (!contraction_counts_grid(f, &whole, d))
                continue;
            if (along[d])
                return err_input(p->why, "%s has two indices along one dimension", f->name);
            along[d] = v;
        }
    }
    struct contraction_axis *axis[] = {&c->col, &c->row};
    for (int d = 0; d < 2 && along[0] && along[1]; d++) {
        struct poly whole = poly_of(f, along[d]->init);
        set_axis(axis[d], along[d], lead_of(&whole, d), d, whole);
        c->taken[d] = true;
    }
    if (c->row.index)
        return true;
    c->flat = along[0];
    c->taken[0] = true;
    if (!c->flat || !find_flat(p))
        return err_input(p->why, "%s has no row and column", f->name);
    if (c->vector) {
        struct poly whole = poly_of(f, c->flat->init);
        set_axis(&c->row, c->flat, lead_of(&whole, 0), 0, whole);
        c->flat = NULL;
    }
    return true;
}

/* ---- statements ---- */

static void take_condition(struct contraction_parse *p, struct node e, bool negated)
{
    e = node_strip(e);
    if (node_is(e, NODE_BINARY_EXPRESSION) && str_eq(node_op(p->f, e), negated ? "||" : "&&")) {
        take_condition(p, node_field(e, FIELD_LEFT), negated);
        take_condition(p, node_field(e, FIELD_RIGHT), negated);
        return;
    }
    vec_add(p->f->a, &p->bounds, e);
    vec_add(p->f->a, &p->negated, negated);
}

bool contraction_sort(struct contraction_parse *p, struct node block)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;
    size_t n, i = 0;
    struct node *all = named_children(f, block, &n);

    for (; i < n && !node_is(all[i], NODE_FOR_STATEMENT); i++) {
        struct node s = all[i];
        if (!node_is(s, NODE_IF_STATEMENT)) {
            vec_add(f->a, &p->before, s);
            continue;
        }
        struct node then = node_field(s, FIELD_CONSEQUENCE);
        bool leaves = node_is(node_unbraced(f, then), NODE_RETURN_STATEMENT);
        if (node_ok(node_field(s, FIELD_ALTERNATIVE)) || node_has_effect(f, node_field(s, FIELD_CONDITION)) ||
            !(leaves || i + 1 == n))
            return err_input(p->why, "%s decides more than whether a result exists", f->name);
        take_condition(p, node_field(s, FIELD_CONDITION), leaves);
        if (!leaves)
            return node_is(then, NODE_COMPOUND_STATEMENT) ? contraction_sort(p, then)
                                                          : err_input(p->why, "%s adds nothing", f->name);
    }
    if (i + 1 >= n)
        return err_input(p->why, "%s has no loop with a result behind it", f->name);
    c->loop = all[i];
    c->epilogue_first = all[i + 1];
    c->epilogue_last = all[n - 1];
    return true;
}

bool contraction_comparison(const struct function *f, struct node e, bool negated, struct node *index,
                            struct node *bound)
{
    const char *op = node_is(e, NODE_BINARY_EXPRESSION) ? node_op(f, e) : "";
    bool forward = str_eq(op, negated ? ">=" : "<"), backward = str_eq(op, negated ? "<=" : ">");

    *index = node_strip(node_field(e, forward ? FIELD_LEFT : FIELD_RIGHT));
    *bound = node_field(e, forward ? FIELD_RIGHT : FIELD_LEFT);
    return forward || backward;
}

struct poly contraction_taken(const struct function *f, const char *atom, struct poly *rest)
{
    struct poly with = poly_number(0), without = poly_number(0), whole = *rest;

    with.ok = without.ok = whole.ok;
    for (int i = 0; i < whole.n; i++) {
        struct poly one = poly_number(whole.t[i].by);
        int times = 0;
        for (int k = 0; k < whole.t[i].n; k++) {
            bool here = str_eq(whole.t[i].atom[k], atom) && times++ == 0;
            if (!here)
                one = poly_mul(f, one, poly_atom(f, whole.t[i].atom[k]));
        }
        if (times > 0)
            with = poly_add(f, with, one, 1);
        else
            without = poly_add(f, without, one, 1);
    }
    *rest = without;
    return with;
}

/* What is left of p by division through one product; not ok where something remains. */
static struct poly divided(const struct function *f, struct poly p, const struct poly *by)
{
    for (int k = 0; by->n == 1 && k < by->t[0].n; k++) {
        struct poly quotient = contraction_taken(f, by->t[0].atom[k], &p);
        quotient.ok = quotient.ok && p.n == 0;
        p = quotient;
    }
    for (int i = 0; i < p.n; i++) {
        p.ok = p.ok && by->n == 1 && p.t[i].by % by->t[0].by == 0;
        p.t[i].by /= p.ok ? by->t[0].by : 1;
    }
    p.ok = p.ok && by->n == 1;
    return p;
}

static bool take_bounds(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;

    for (size_t i = 0; i < p->bounds.n; i++) {
        struct node index, bound;
        if (!contraction_comparison(f, p->bounds.v[i], p->negated.v[i], &index, &bound) ||
            !is_uniform(p, bound))
            return err_input(p->why, "a condition of %s is no bound of its rows or columns", f->name);
        const struct variable *v = function_variable_of(f, index);
        struct contraction_axis *axis = v == c->row.index || v == c->flat ? &c->row : &c->col;
        if (!is_index(c, v) || (c->flat && v == c->col.index) || node_ok(axis->bounds[0]))
            return err_input(p->why, "a condition of %s is no bound of its rows or columns", f->name);
        axis->bounds[0] = bound;
        axis->bound = poly_of(f, bound);
        if (c->flat && v == c->flat)
            axis->bound = divided(f, axis->bound, &c->col.bound);
        else
            axis->bounds[1] = (struct node){0};
    }
    if (c->flat) {
        c->col.bounds[0] = c->col.bounds[1];
        c->col.bounds[1] = (struct node){0};
    }
    bool asked = node_ok(c->row.bounds[0]) || !c->flat;
    for (size_t i = 0; i < 2; i++) {
        const struct contraction_axis *axis = i ? &c->col : &c->row;
        asked = asked && (!node_ok(axis->bounds[0]) || axis->bound.ok);
    }
    return asked || err_input(p->why, "%s does not ask whether its row and column exist", f->name);
}

/* Each declaration of the indices alone goes; others are the block's or a result's own. */
static bool sort_before(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;

    for (size_t i = 0; i < p->before.n; i++) {
        struct node s = p->before.v[i];
        size_t indices = 0, others = 0;
        bool declaration = node_is(s, NODE_DECLARATION);
        for (size_t v = 0; v < f->n_variables; v++)
            if (declaration && node_same(f->variables[v].statement, s)) {
                bool index = is_index(c, &f->variables[v]);
                indices += index;
                others += !index;
            }
        if (indices && !others)
            continue;
        if (indices || asks_for_thread(p, s) || node_has_effect(f, s) != !declaration)
            return err_input(p->why, "%s does more with its threads than take a row and a column", f->name);
        if (c->sum && node_same(s, c->sum->statement)) {
            if (others != 1)
                return err_input(p->why, "the sum of %s is declared with others", f->name);
            continue;
        }
        bool uniform = is_uniform(p, s);
        if (!uniform && !declaration)
            return err_input(p->why, "%s changes what belongs to one result before its loop", f->name);
        if (uniform)
            vec_add(f->a, &c->uniform, s);
        else
            vec_add(f->a, &c->dependent, s);
    }
    return true;
}

/* ---- the loop ---- */

const struct variable *contraction_loop_index(const struct function *f, struct node loop, struct node *depth)
{
    struct node d = node_field(node_field(loop, FIELD_INITIALIZER), FIELD_DECLARATOR),
                until = node_field(loop, FIELD_CONDITION), update = node_field(loop, FIELD_UPDATE);
    const struct variable *k =
        node_is(d, NODE_INIT_DECLARATOR) ? function_variable_of(f, node_field(d, FIELD_DECLARATOR)) : NULL;
    int64_t first, step = 0;
    bool one = node_is(update, NODE_UPDATE_EXPRESSION) && str_starts(node_op(f, update), "+");

    if (node_is_assignment(f, update, "+="))
        one = constant_value(f, node_field(update, FIELD_RIGHT), &step) && step == 1;
    if (!k || !ctype_is_integer(f, k->type) || !constant_value(f, node_field(d, FIELD_VALUE), &first) ||
        first != 0 || !one || function_variable_of(f, assigned_target(update)) != k)
        return NULL;
    struct node index;
    if (!node_is(until, NODE_BINARY_EXPRESSION) || !contraction_comparison(f, until, false, &index, depth) ||
        function_variable_of(f, index) != k)
        return NULL;
    return k;
}

static const struct variable *take_index(struct contraction_parse *p)
{
    struct contraction *c = p->c;
    const struct variable *k = contraction_loop_index(p->f, c->loop, &c->depth);

    return k && is_uniform(p, c->depth) ? k : NULL;
}

struct node contraction_element(const struct function *f, struct node e, struct node loop)
{
    for (int depth = 0; depth < 16; depth++) {
        e = node_strip(e);
        const struct variable *v = function_variable_of(f, e);
        struct node args = node_field(e, FIELD_ARGUMENTS);
        if (v && node_within(v->statement, loop) && !v->assignments && !v->pointer && !v->array &&
            node_ok(v->init))
            e = v->init;
        else if (node_is(e, NODE_CALL_EXPRESSION) && node_count(args) == 1 &&
                 str_in(call_name(f, e), "__half2float|__bfloat162float|float|static_cast|int|double|__ldg"))
            e = node_child(args, 0);
        else
            break;
    }
    return e;
}

bool contraction_root(const struct function *f, const struct node *stay, size_t n, struct node pointer,
                      const struct variable **root, struct poly *index)
{
    for (int depth = 0; depth < 8; depth++) {
        while (node_is(pointer, NODE_PARENTHESIZED_EXPRESSION))
            pointer = node_child(pointer, 0);
        const struct variable *v = function_variable_of(f, pointer);
        if (v && (!v->pointer || v->array || v->assignments))
            return false;
        bool top = v && (v->param || in_nodes(stay, n, v->statement));
        if (top)
            return *root = v, index->ok;
        if (v && v->base)
            return false;
        if (v) {
            pointer = v->init;
        } else if (node_is_binary(f, pointer, "+")) {
            *index = poly_add(f, *index, poly_of(f, node_field(pointer, FIELD_RIGHT)), 1);
            pointer = node_field(pointer, FIELD_LEFT);
        } else if (node_is_address(f, pointer)) {
            struct node at = node_strip(node_field(pointer, FIELD_ARGUMENT));
            if (!node_is(at, NODE_SUBSCRIPT_EXPRESSION))
                return false;
            *index = poly_add(f, *index, poly_of(f, subscript_index(f, at)), 1);
            pointer = node_field(at, FIELD_ARGUMENT);
        } else {
            return false;
        }
    }
    return false;
}

/* The place of an element: a pointer that holds for the whole block, and an index from there on. */
bool contraction_place(const struct contraction_parse *p, struct node e, const struct variable **root,
                       struct poly *index)
{
    const struct function *f = p->f;
    struct node pointer = {0};

    *index = poly_number(0);
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION)) {
        pointer = node_field(e, FIELD_ARGUMENT);
        *index = poly_of(f, subscript_index(f, e));
    } else if (node_is_indirection(f, e)) {
        pointer = node_field(e, FIELD_ARGUMENT);
    } else if (node_is(e, NODE_POINTER_EXPRESSION)) { /* of __ldg(&p[i]) */
        return contraction_place(p, node_strip(node_field(e, FIELD_ARGUMENT)), root, index);
    } else {
        pointer = e;
    }
    return contraction_root(f, p->c->uniform.v, p->c->uniform.n, pointer, root, index);
}

/* Is the polynomial made of what the block's threads share? */
static bool poly_is_uniform(const struct contraction_parse *p, const struct poly *poly,
                            const struct variable *k)
{
    static const char *const own[] = {"threadIdx", "blockDim", "gridDim", "lane"};
    const struct function *f = p->f;
    const struct contraction *c = p->c;

    for (int i = 0; i < poly->n; i++)
        for (int a = 0; a < poly->t[i].n; a++) {
            const char *atom = poly->t[i].atom[a];
            for (size_t w = 0; w < ARRAY_LEN(own); w++)
                if (str_has_word(atom, own[w]))
                    return false;
            for (int d = 0; d < 3; d++)
                if ((d == 0 || c->taken[d]) && strstr(atom, block_index[d]))
                    return false;
            if (str_has_word(atom, k->name))
                return false;
            for (const struct variable *x = f->variables; x < f->variables + f->n_variables; x++) {
                bool top = x->param || in_nodes(c->uniform.v, c->uniform.n, x->statement);
                if (!top && str_has_word(atom, x->name))
                    return false;
            }
        }
    return poly->ok;
}

static struct poly less_axis(const struct function *f, const struct contraction_axis *axis, struct poly index,
                             struct poly *step)
{
    struct poly rest = index;

    if (!axis->index)
        return *step = poly_number(0), index;
    *step = contraction_taken(f, axis->lead, &rest);
    return poly_add(f, index, poly_mul(f, *step, axis->whole), -1);
}

/* An element as one of an operand: its steps along rows, columns and depth. */
static bool operand_of(const struct contraction_parse *p, struct node e, const struct variable *k,
                       struct contraction_operand *o, struct poly *along_row, struct poly *along_col)
{
    const struct function *f = p->f;
    const struct variable *root;
    struct poly index;

    e = contraction_element(f, e, p->c->loop);
    if (!contraction_place(p, e, &root, &index))
        return err_input(p->why, "a factor of %s is no element at a linear index", f->name);
    o->root = root->name;
    o->type = ctype_bound(f, root->type);
    index = less_axis(f, &p->c->row, index, along_row);
    index = less_axis(f, &p->c->col, index, along_col);
    o->deep_step = contraction_taken(f, k->name, &index);
    o->start = index;
    if (!poly_is_uniform(p, along_row, k) || !poly_is_uniform(p, along_col, k) ||
        !poly_is_uniform(p, &o->deep_step, k) || !poly_is_uniform(p, &o->start, k))
        return err_input(p->why, "a factor of %s is no element at a linear index", f->name);
    const struct variable *of = pointer_root(f, root->id);
    return (of && !memory_written_in(f, of->name, f->body)) ||
           err_input(p->why, "%s writes what it multiplies", f->name);
}

/* The product that a statement adds to the sum, or *term of two elements. */
static bool added(const struct contraction_parse *p, struct node e, struct node elements[2], const char **term)
{
    const struct function *f = p->f;
    const struct contraction *c = p->c;
    struct node value = node_strip(node_field(e, FIELD_RIGHT));
    const char *op = node_op(f, e);
    size_t n;

    if (!node_is(e, NODE_ASSIGNMENT_EXPRESSION))
        return false;
    if (str_eq(op, "=") && node_is(value, NODE_CALL_EXPRESSION) &&
        str_in(call_name(f, value), "fmaf|fma|__fmaf_rn|__fma_rn")) {
        struct node *args = named_children(f, node_field(value, FIELD_ARGUMENTS), &n);
        if (n != 3 || function_variable_of(f, node_strip(args[2])) != c->sum)
            return false;
        elements[0] = args[0];
        elements[1] = args[1];
        return true;
    }
    if (str_eq(op, "=") && node_is_binary(f, value, "+")) {
        struct node a = node_strip(node_field(value, FIELD_LEFT)),
                    b = node_strip(node_field(value, FIELD_RIGHT));
        if (function_variable_of(f, b) == c->sum) {
            struct node other = a;
            a = b;
            b = other;
        }
        if (function_variable_of(f, a) != c->sum)
            return false;
        value = b;
    } else if (!str_eq(op, "+=")) {
        return false;
    }
    struct node whole = value;
    for (int depth = 0; depth < 4 && node_is(value, NODE_IDENTIFIER); depth++) {
        const struct variable *v = function_variable_of(f, value);
        if (!v || !node_within(v->statement, c->loop) || v->assignments || !node_ok(v->init))
            return false;
        value = node_strip(v->init);
    }
    elements[0] = node_field(value, FIELD_LEFT);
    elements[1] = node_field(value, FIELD_RIGHT);
    bool product = node_is_binary(f, value, "*");
    for (int i = 0; i < 2 && product; i++) {
        struct node of = contraction_element(f, elements[i], c->loop);
        product = node_is(of, NODE_SUBSCRIPT_EXPRESSION) || node_is_indirection(f, of);
    }
    if (!product)
        *term = contraction_term(f, c->loop, c->sum_type, whole, elements);
    return product || *term;
}

/* The loop's only statement that is no declaration, which adds to the sum. */
static struct node adding_statement(const struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct node body = node_field(p->c->loop, FIELD_BODY), adds = {0};
    size_t n = 1;
    struct node *all = node_is(body, NODE_COMPOUND_STATEMENT) ? named_children(f, body, &n) : &body;

    for (size_t i = 0; i < n; i++) {
        if (node_is(all[i], NODE_DECLARATION) && !node_has_effect(f, all[i]))
            continue;
        if (i + 1 < n)
            return (struct node){0};
        adds = statement_expression(all[i]);
    }
    return adds;
}

/* Which types multiplied and added in which type the blocks know, without a rounding that the kernel has not.
 */
bool contraction_types_known(const struct contraction *c)
{
    static const char *const halves = "__half|half|__nv_bfloat16|nv_bfloat16", *const bytes =
                                                                                   "int8_t|signed char";
    const char *types[] = {c->x.type, c->y.type};

    for (int i = 0; i < 2; i++) {
        bool small = str_in(types[i], halves), byte = str_in(types[i], bytes);
        bool bits = c->term && str_in(types[i], "unsigned|unsigned int|uint32_t");
        if (str_eq(c->sum_type, "float") && !small && !str_eq(types[i], "float"))
            return false;
        if (str_eq(c->sum_type, "double") && !str_eq(types[i], "double") && !str_eq(types[i], "float"))
            return false;
        if (str_eq(c->sum_type, "int") && !byte && !bits && !str_eq(types[i], "int"))
            return false;
    }
    return str_in(c->sum_type, "float|double|int");
}

static bool take_loop(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;
    const struct variable *k = take_index(p);
    struct node adds = adding_statement(p), of[2];
    static const char *const names[] = {"first_element", "second_element"};
    const char *term = NULL;
    struct contraction_operand *o[2] = {&c->x, &c->y};
    struct poly row[2], col[2];

    if (!k || !node_ok(adds) || !added(p, adds, of, &term) || (term && c->vector))
        return err_input(p->why, "the loop of %s does not add products from 0 on", f->name);
    if (!operand_of(p, of[0], k, o[0], &row[0], &col[0]) || !operand_of(p, of[1], k, o[1], &row[1], &col[1]))
        return false;
    bool turned = row[0].n == 0 && col[1].n == 0 && row[1].n > 0;
    if (term)
        c->term =
            str_replace_word(f->a, str_replace_word(f->a, term, names[turned], "x[i]"), names[!turned], "y[j]");
    if (turned) { /* the factors the other way round */
        struct contraction_operand other = c->x;
        c->x = c->y;
        c->y = other;
        struct poly r = row[0], l = col[0];
        row[0] = row[1], col[0] = col[1];
        row[1] = r, col[1] = l;
    }
    c->x.step = row[0];
    c->y.step = col[1];
    if (row[0].n == 0 || (col[1].n == 0) != c->vector || row[1].n > 0 || col[0].n > 0 ||
        c->x.deep_step.n == 0 || c->y.deep_step.n == 0)
        return err_input(p->why, "the factors of %s do not belong to a row and a column", f->name);
    return contraction_types_known(c) ||
           err_input(p->why, "the types of %s are not among those that are known", f->name);
}

/* The variable that the loop adds to, declared before it. */
static bool find_sum(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;
    struct node target = assigned_target(adding_statement(p));
    const struct variable *v = function_variable_of(f, target);

    if (!v || v->param || v->pointer || v->array || !node_ok(v->init) ||
        !in_nodes(p->before.v, p->before.n, v->statement))
        return err_input(p->why, "the loop of %s adds to no variable of its own", f->name);
    c->sum = v;
    c->sum_type = ctype_bound(f, v->type);
    return !node_has_effect(f, v->statement) || err_input(p->why, "the sum of %s has effects", f->name);
}

/* A result's own part may do what it likes but meet others, leave, or ask for its thread. */
static bool epilogue_is_own(const struct contraction_parse *p)
{
    const struct function *f = p->f;

    for (struct node s = p->c->epilogue_first; node_ok(s); s = node_next(s)) {
        if (node_has(f, s, NODE_RETURN_STATEMENT) || node_is(s, NODE_RETURN_STATEMENT) || calls_barrier(f, s) ||
            asks_for_thread(p, s))
            return false;
        if (node_same(s, p->c->epilogue_last))
            return true;
    }
    return false;
}

/* Columns are what neighbouring results in memory differ by. */
static void orient(struct contraction *c)
{
    const struct function *f = c->f;

    for (struct node s = c->epilogue_first; node_ok(s); s = node_next(s)) {
        struct node target = assigned_target(statement_expression(s));
        if (!node_is(target, NODE_SUBSCRIPT_EXPRESSION))
            continue;
        struct poly index = poly_of(f, subscript_index(f, target));
        if (poly_coefficient(&index, c->row.lead) == 1 && poly_coefficient(&index, c->col.lead) != 1) {
            struct contraction_axis axis = c->row;
            c->row = c->col;
            c->col = axis;
        }
        return;
    }
}

/* Where the results go: out->step is a row's, out->deep_step a column's. */
static bool find_out(struct contraction_parse *p, struct node target, struct contraction_operand *out)
{
    struct contraction *c = p->c;
    const struct function *f = c->f;
    struct contraction_axis flat = {0};
    const struct variable *root, *k = take_index(p);
    struct poly index, along = poly_number(0);

    if (!(node_is(target, NODE_SUBSCRIPT_EXPRESSION) || node_is_indirection(f, target)) ||
        !contraction_place(p, target, &root, &index))
        return false;
    out->root = root->name;
    out->type = ctype_bound(f, root->type);
    if (c->flat) {
        struct poly whole = poly_of(f, c->flat->init);
        set_axis(&flat, c->flat, lead_of(&whole, 0), 0, whole);
        index = less_axis(f, &flat, index, &along);
    }
    index = less_axis(f, &c->row, index, &out->step);
    index = less_axis(f, &c->col, index, &out->deep_step);
    if (c->flat) {
        out->step = poly_add(f, out->step, poly_mul(f, along, c->col.bound), 1);
        out->deep_step = poly_add(f, out->deep_step, along, 1);
    }
    out->start = index;
    return poly_is_uniform(p, &out->step, k) && poly_is_uniform(p, &out->deep_step, k) &&
           poly_is_uniform(p, &out->start, k);
}

/* Columns that are neighbours in memory, where the results go, may be stored together. */
static void find_stored(struct contraction_parse *p)
{
    struct contraction *c = p->c;
    const struct function *f = c->f;
    struct node e = statement_expression(c->epilogue_last), target = node_strip(assigned_target(e));
    struct poly one = poly_number(1);

    if (!node_is_assignment(f, e, "=") || !find_out(p, target, &c->out))
        return;
    c->is_stored = true;
    if (c->vector || !poly_same(&c->out.deep_step, &one) || ctype_size(f, c->out.type) == 0)
        return;
    c->stored = e;
    c->stored_type = c->out.type;
}

bool contraction_of(const struct function *f, struct contraction *c, struct err *why)
{
    struct contraction_parse p = {.c = c, .f = f, .why = why};

    *c = (struct contraction){.f = f};
    if (f->n_launches == 0 || function_is_named_elsewhere(f))
        return err_input(why, "%s is used other than by launches", f->name);
    if (!contraction_sort(&p, f->body) || !find_sum(&p) || !find_indices(&p))
        return false;
    if (!c->flat && !c->vector)
        orient(c);
    if (!sort_before(&p) || !take_bounds(&p) || !take_loop(&p))
        return false;
    if (!epilogue_is_own(&p))
        return err_input(why, "what %s does with a sum is not a result's own", f->name);
    find_stored(&p);
    for (size_t l = 0; l < f->n_launches; l++)
        if (!contraction_bound(c, &c->row, &f->launches[l]) ||
            (!c->vector && !contraction_bound(c, &c->col, &f->launches[l])))
            return err_input(why, "the launcher cannot tell how large the whole is");
    return true;
}
