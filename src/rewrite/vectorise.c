/* vectorise: a thread handles N neighbouring elements with one wide access each way.
 *
 * A copy of the kernel is made in which the loop over lanes steps by N elements (or, where a thread had one
 * element, the index is N times as large and the grid 1/N), and the launcher takes it when a guard holds: sizes
 * are multiples of N, buffers start on the vector's bytes. The kernel as it was stays for everything else. What
 * becomes of the code in between is the affair of elements.c. */
#include "rewrite/elements.h"

/* Regions -----------------------------------------------------------------------------------------------------
 */

static struct node *all_children(const struct function *f, struct node n, size_t *count)
{
    *count = node_count(n);
    struct node *v = arena_array(f->a, struct node, *count + 1);
    for (size_t i = 0; i < *count; i++)
        v[i] = node_child(n, (uint32_t)i);
    return v;
}

/* A new body for a loop or an if, its brace on the line of the head. */
static void body_replace(struct edits *edits, const struct function *f, struct node body, const char *text,
                         const char *outer)
{
    size_t start = node_start(body), head = start;
    while (head > 0 && (f->text[head - 1] == ' ' || f->text[head - 1] == '\n'))
        head--;
    bool joins = head > 0 && f->text[head - 1] == ')';
    edits_try(edits, joins ? head : start, node_end(body),
              arena_printf(f->a, "%s{\n%s\n%s}", joins ? " " : "", text, outer));
}

static bool loop_region(struct elements *w, const struct lane_loop *l, struct edits *edits)
{
    const struct function *f = w->f;
    w->element = l->index;
    w->part = l->body;
    size_t before = w->multiples.n;
    if (!expression_is_invariant(f, l->bound, l->loop) || !elements_multiple(w, l->bound)) {
        w->multiples.n = before;
        return err_input(w->why, "the bound of the loop at line %d cannot be made a multiple of %d",
                         node_line(f->s, l->loop), w->n);
    }
    bool block = node_is(l->body, NODE_COMPOUND_STATEMENT);
    size_t n = 1;
    const struct node *statements = block ? all_children(f, l->body, &n) : &l->body;
    char *outer = text_indent(f, node_start(l->loop));
    char *indent = arena_printf(f->a, "%s    ", outer);
    char *body = elements_write(w, statements, n, indent);
    if (!body || (!elements_end(w) && !w->follows)) {
        w->accesses.n = w->scalars.n = w->outside.n = w->refused.n = 0;
        w->multiples.n = before;
        return body ? err_input(w->why, "nothing in the loop at line %d is read or written in order",
                                node_line(f->s, l->loop))
                    : false;
    }
    edits_node(edits, l->start, text_times(f->a, f, l->start, w->n));
    edits_node(edits, l->step, text_times(f->a, f, l->step, w->n));
    body_replace(edits, f, l->body, body, outer);
    return true;
}

/* i >= bound (or i < bound when inside), possibly among conditions that do not vary. */
static bool is_bound_check(struct elements *w, struct node c, bool inside, bool *bounds)
{
    const struct function *f = w->f;
    c = node_strip(c);
    if (elements_kind(w, c) == INVARIANT)
        return true;
    if (!node_is(c, NODE_BINARY_EXPRESSION))
        return false;
    const char *op = node_op(f, c);
    struct node left = node_field(c, FIELD_LEFT), right = node_field(c, FIELD_RIGHT);
    if (str_eq(op, inside ? "&&" : "||"))
        return is_bound_check(w, left, inside, bounds) && is_bound_check(w, right, inside, bounds);
    if (str_eq(op, inside ? ">" : "<=")) {
        struct node swap = left;
        left = right;
        right = swap;
    } else if (!str_eq(op, inside ? "<" : ">=")) {
        return false;
    }
    bool ok = elements_kind(w, left) == LINEAR && elements_multiple(w, left) &&
              elements_kind(w, right) == INVARIANT && elements_multiple(w, right);
    *bounds = *bounds || ok;
    return ok;
}

/* int i = blockIdx.x * blockDim.x + threadIdx.x; at the top of the kernel, or along the grid's y. */
static const struct variable *thread_index(const struct function *f, char *axis)
{
    struct poly x = poly_thread_of_grid(f),
                y = poly_add(f, poly_mul(f, poly_atom(f, "blockIdx.y"), poly_atom(f, "blockDim.x")),
                             poly_atom(f, "threadIdx.x"), 1);
    *axis = 'x';
    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables; v++) {
        if (!node_ok(v->init) || v->assignments || v->array || v->pointer || !ctype_is_integer(f, v->type) ||
            !node_same(node_parent(v->statement), f->body))
            continue;
        struct poly p = poly_of(f, v->init);
        if (poly_same(&p, &y) && !str_has_word(text_of(f, f->body), "blockIdx.z"))
            *axis = 'y';
        if (poly_same(&p, &x) || *axis == 'y')
            return v;
        if (p.ok && p.n == 2 && poly_coefficient(&p, "threadIdx.x") == 1 &&
            poly_coefficient(&p, "blockIdx.x") > 1)
            return v;
    }
    return NULL;
}

/* Does nothing but the index know which thread of the grid's axis it is? */
static bool index_alone(const struct function *f, const struct variable *index, char axis)
{
    const char *places =
        arena_printf(f->a, "threadIdx.x|threadIdx.y|threadIdx.z|blockIdx.%c|gridDim.%c", axis, axis);
    for (struct node *word = nodes_of(f, f->body, NODE_FIELD_EXPRESSION); node_ok(*word); word++) {
        struct node home = node_statement(*word);
        if (!str_in(text_compact(f->a, text_of(f, *word)), places) || node_same(home, index->statement))
            continue;
        if (!node_is(home, NODE_DECLARATION)) /* or of a variable that the index alone is made of */
            return false;
        for (struct node *use = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*use); use++) {
            const struct variable *v = function_variable_of(f, *use);
            if (v && node_same(v->statement, home) && !node_within(*use, home) &&
                !node_within(*use, index->statement))
                return false;
        }
    }
    return !str_has_word(text_of(f, f->body), "__shared__") && !macros_ask_for_place(f);
}

/* Does a statement behind the index ask for what this one declares? */
static bool is_asked_later(const struct function *f, struct node declaration, const struct variable *index)
{
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && node_same(v->statement, declaration) && node_start(*name) > node_end(index->statement))
            return true;
    }
    return false;
}

/* A declaration that each element has for itself moves to the region, if the index is not made of it. */
static bool add_own(struct elements *w, node_list *own, struct node s, const struct variable *index)
{
    const struct function *f = w->f;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_same(v->statement, s) && node_mentions(f, index->statement, v->name))
            return err_input(w->why, "%s, of which the index is made, is asked for again", v->name);
    if (node_has_effect(f, s))
        return err_input(w->why, "line %d stands ahead of the index", node_line(f->s, s));
    vec_add(f->a, own, s);
    return true;
}

/* What the index's own declaration declares besides. */
static bool others_stay(struct elements *w, const struct variable *index)
{
    const struct function *f = w->f;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v == index || v->param || !node_same(v->statement, index->statement))
            continue;
        enum kind kind = node_ok(v->init) && !v->assignments ? elements_kind(w, v->init) : VARYING;
        struct outside one = {v, kind, kind != VARYING ? elements_by(w, v->init) : 0};
        if (kind != VARYING)
            vec_add(f->a, &w->outside, one);
        size_t names;
        struct node *name = variable_names(f, v, &names);
        for (size_t i = 0; kind == VARYING && i < names; i++)
            if (!node_within(name[i], index->statement))
                return err_input(w->why, "%s is declared beside the index", v->name);
    }
    return true;
}

/* The declarations of each element, then the statements; the former go from where they were. */
static struct node *own_first(const struct function *f, const node_list *own, struct node *statements,
                              size_t *n, struct edits *edits)
{
    node_list all = {0};
    for (size_t i = 0; i < own->n; i++) {
        edits_remove(edits, f, own->v[i]);
        vec_add(f->a, &all, own->v[i]);
    }
    for (size_t i = 0; i < *n && own->n; i++)
        vec_add(f->a, &all, statements[i]);
    *n += own->n;
    return own->n ? all.v : statements;
}

static bool element_region(struct elements *w, const struct variable *index, char axis, struct edits *edits)
{
    const struct function *f = w->f;
    w->element = index;
    w->part = f->body;
    size_t n;
    struct node *all = all_children(f, f->body, &n);
    w->place = arena_printf(f->a, "blockIdx.%c", axis);
    w->thread = "threadIdx.x";
    node_list own = {0}; /* declarations of each element that stand ahead of its bound check */
    size_t at = 0;
    for (; at < n && !node_same(all[at], index->statement); at++)
        if (!elements_stay(w, all[at]) && is_asked_later(f, all[at], index) &&
            !add_own(w, &own, all[at], index))
            return false;
    if (!others_stay(w, index))
        return false;
    bool bounds = false;
    size_t first_own = 0, own_before = own.n, asked = 0;
    for (at++; at < n; at++) {
        struct node s = all[at];
        bool moves = node_is(s, NODE_EXPRESSION_STATEMENT) && own.n > 0; /* what they may read by */
        if (node_is(s, NODE_COMMENT) || statement_waits(f, s) || (!moves && elements_stay(w, s)))
            continue;
        if (node_is(s, NODE_DECLARATION) && !node_has_effect(f, s)) {
            first_own = first_own ? first_own : at;
            vec_add(f->a, &own, s);
            continue;
        }
        if (!node_is(s, NODE_IF_STATEMENT) || node_ok(node_field(s, FIELD_ALTERNATIVE)))
            break;
        struct node condition = node_field(node_field(s, FIELD_CONDITION), FIELD_VALUE),
                    body = node_field(s, FIELD_CONSEQUENCE);
        bool returns = node_is(node_unbraced(f, body), NODE_RETURN_STATEMENT);
        if (!is_bound_check(w, condition, !returns, &bounds))
            break;
        if (returns) {
            asked = at;
            continue;
        }
        if (at + 1 != n)
            return err_input(w->why, "statements follow the bound check at line %d", node_line(f->s, s));
        bool block = node_is(body, NODE_COMPOUND_STATEMENT);
        char *outer = text_indent(f, node_start(s));
        size_t count = 1;
        struct node *statements = block ? all_children(f, body, &count) : &body;
        statements = own_first(f, &own, statements, &count, edits);
        char *text = bounds ? elements_write(w, statements, count, arena_printf(f->a, "%s    ", outer)) : NULL;
        if (!text)
            return bounds ? false : err_input(w->why, "no bound check on %s", index->name);
        body_replace(edits, f, body, text, outer);
        goto widen;
    }
    if (first_own > asked) { /* nothing is asked behind them: they stand where the rest begins */
        at = first_own;
        own.n = own_before;
    }
    w->exact = !bounds && at < n && index_alone(f, index, axis);
    if (at >= n || (!bounds && !w->exact))
        return err_input(w->why, "no bound check on %s that a vector can share", index->name);
    char *indent = text_indent(f, node_start(all[at]));
    size_t count = n - at;
    struct node *statements = own_first(f, &own, &all[at], &count, edits);
    char *text = elements_write(w, statements, count, indent);
    if (!text)
        return false;
    edits_try(edits, node_start(all[at]), node_end(all[n - 1]), text + MIN(strlen(indent), strlen(text)));
widen:
    if (!elements_end(w))
        return err_input(w->why, "nothing is read or written in order");
    edits_node(edits, index->init, text_times(f->a, f, index->init, w->n));
    return true;
}

static bool is_in(const struct variable *const *list, size_t n, const struct variable *v)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

/* A barrier between the two that is met whenever both are: behind no question. */
static bool barrier_between(const struct function *f, struct node first, struct node second)
{
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        bool sure = call_is_barrier(f, *call) && node_start(*call) > node_end(first) &&
                    node_end(*call) < node_start(second);
        for (struct node n = *call; sure && !node_within(first, n) && !node_within(second, n);
             n = node_parent(n))
            sure = !node_is_asked(f, n) && !node_is_loop(n);
        if (sure)
            return true;
    }
    return false;
}

/* Neighbouring elements now belong to one thread. A loop that stays as it is gives them to others, which must
 * not meet what is written there: a barrier has to stand between the two. */
static bool meets_other(struct elements *w, struct node changed, struct node other)
{
    const struct function *f = w->f;
    bool before = node_start(changed) < node_start(other);
    if (before ? barrier_between(f, changed, other) : barrier_between(f, other, changed))
        return false;
    for (struct node *element = nodes_of(f, other, NODE_SUBSCRIPT_EXPRESSION); node_ok(*element); element++) {
        const struct variable *root = pointer_root(f, node_field(*element, FIELD_ARGUMENT)),
                              *name = function_variable_of(f, node_field(*element, FIELD_ARGUMENT));
        bool common = name && (!root || root->shared) && node_mentions(f, changed, name->name) &&
                      (memory_written_in(f, name->name, changed) || memory_written_in(f, name->name, other));
        if (!common && root && (root->shared || root->array))
            continue;
        if (common)
            return !err_input(w->why, "the loop at line %d stays as it is and shares %s",
                              node_line(f->s, other), name->name);
        bool any = !root || !root->param; /* a pointer that is not followed may be each of them */
        bool written = memory_written_in(f, root ? root->name : "", other);
        if ((any && w->stored.n > 0) || is_in(w->stored.v, w->stored.n, root) ||
            (written && (any || is_in(w->pointers.v, w->pointers.n, root))))
            return !err_input(w->why, "the loop at line %d stays as it is and reaches what is written",
                              node_line(f->s, other));
    }
    return false;
}

/* The same elements for each thread as in a loop that was changed, although nothing of this one becomes a
 * vector: it finds in shared memory, say, what its thread left there. */
static bool follows(struct elements *w, const struct lane_loop *changed, const struct lane_loop *l,
                    struct edits *edits)
{
    const struct function *f = w->f;
    struct poly a = poly_of(f, changed->bound), b = poly_of(f, l->bound);
    if (node_has(f, l->body, NODE_FOR_STATEMENT) || l->span != changed->span || !a.ok || !poly_same(&a, &b))
        return false;
    w->follows = true;
    bool ok = loop_region(w, l, edits);
    w->follows = false;
    return ok;
}

/* Does the grid have a thread for each element that its loops reach, and nothing but these loops know it? Then
 * fewer do: as many as before would start far behind the end, where the index may no longer fit its type. */
static bool grid_shrinks(const struct function *f, const struct lane_loop *loops, const bool *changed, size_t n)
{
    const char *body = text_of(f, f->body);
    size_t said = 0;
    for (const char *p = body; (p = str_find_word(body, p, "blockIdx")); p++)
        said++;
    for (size_t i = 0; i < n; i++)
        if (!changed[i] || loops[i].span != LANES_GRID_X ||
            !str_has_word(text_of(f, loops[i].start), "blockIdx"))
            return false;
    for (size_t l = 0; l < f->n_launches; l++)
        if (!launch_grid_divides(f, &f->launches[l]))
            return false;
    return n > 0 && said == n;
}

/* Every loop of the kernel that can be, or its one element a thread; *axis: of the grid that shrinks, or '\0'.
 */
static bool kernel_vectorise(struct elements *w, struct edits *edits, char *axis, struct node *first)
{
    const struct function *f = w->f;
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    *axis = '\0';
    bool any = false, *changed = arena_array(f->a, bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (loops[i].width != 1)
            continue;
        bool nested = false;
        for (size_t j = 0; j < n; j++)
            nested = nested || (j != i && node_within(loops[j].loop, loops[i].body));
        if (!nested && loop_region(w, &loops[i], edits)) {
            *first = any ? *first : loops[i].loop;
            any = changed[i] = true;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (changed[i] && !changed[j] && !node_within(loops[i].loop, loops[j].loop) &&
                loops[j].width == 1 && meets_other(w, loops[i].loop, loops[j].loop)) {
                if (!follows(w, &loops[i], &loops[j], edits))
                    return false;
                changed[j] = true;
                i = SIZE_MAX; /* others may meet this one: from the first again */
                break;
            }
    if (n > 0) {
        *axis = grid_shrinks(f, loops, changed, n) ? 'x' : '\0';
        return any;
    }
    const struct variable *index = thread_index(f, axis);
    if (!index)
        return err_input(w->why, "no loop over lanes and no one-element-a-thread index");
    *first = index->statement;
    return element_region(w, index, *axis, edits);
}

/* The transform
 * ----------------------------------------------------------------------------------------------------
 */

/* A grid of any size, whose loops begin N times as far: their first and last steps still fit an int. */
static void guard_steps(const struct elements *w, const struct launch *l, struct guard_list *g)
{
    const struct function *f = w->f;
    size_t n, parts;
    struct lane_loop *loops = lane_loops(f, &n);
    struct node *list = launch_dim3(f, l, l->grid, &parts), e = host_value(f, l, list ? list[0] : l->grid);
    char *x, *bound;
    bool known = node_is(e, NODE_NUMBER_LITERAL) || node_is(e, NODE_CONDITIONAL_EXPRESSION) ||
                 node_is(e, NODE_CALL_EXPRESSION) || node_is(e, NODE_BINARY_EXPRESSION);
    for (size_t i = 0; i < n && !known && launch_grid_x(f, l, &x); i++)
        if (loops[i].span == LANES_GRID_X && loops[i].width == 1 && ctype_size(f, loops[i].index->type) == 4 &&
            (bound = launch_expression(f, l, loops[i].bound)))
            guard_add(f->a, g,
                      arena_printf(f->a, "%s + (int64_t)%s * %s * %d <= 2147483647", bound, x,
                                   launch_threads(f, l), w->n));
}

void elements_guards(const struct elements *w, const struct launch *l, struct guard_list *g)
{
    const struct function *f = w->f;
    for (size_t i = 0; i < w->multiples.n; i++)
        guard_multiple(f, l, launch_arg(f, l, w->multiples.v[i].v), w->multiples.v[i].by, g);
    for (size_t i = 0; i < w->pointers.n; i++) {
        struct node arg = launch_arg(f, l, w->pointers.v[i]);
        const char *pointer =
            node_is(arg, NODE_IDENTIFIER) ? text_of(f, arg) : arena_printf(f->a, "(%s)", text_of(f, arg));
        guard_add(f->a, g, arena_printf(f->a, "(uintptr_t)%s %% %d == 0", pointer, w->aligned.v[i]));
    }
    if (w->exact)
        guard_add(f->a, g, launch_grid_is_multiple(f, l, w->exact == 'y', w->n));
    guard_steps(w, l, g);
}

bool guard_hopeless(const struct function *f, const struct guard_list *g)
{
    for (size_t i = 0; i < g->list.n; i++) {
        if (str_eq(g->list.v[i], "false"))
            return true;
        char *name = arena_strdup(f->a, g->list.v[i]), *end = strstr(name, " % ");
        if (!end)
            continue;
        *end = '\0';
        const struct transform_fact *fact = fact_of(f->in, name);
        if (fact && fact->divisor > 0 && fact->divisor < atoi(end + 3))
            return true;
    }
    return false;
}

static bool vectorise(const struct function *f, int n, struct elements *w, struct edits *inside, char *axis,
                      struct node *first, struct err *why)
{
    *w = (struct elements){.f = f, .n = n, .why = why, .lane = fresh_local(f, "k")};
    if (f->n_launches == 0)
        return err_input(why, "%s is not launched where it can be seen", f->name);
    if (!function_may_be_copied(f))
        return err_input(why, "%s is used other than by launches", f->name);
    if (!kernel_vectorise(w, inside, axis, first))
        return false;
    if (w->exact && !some_grid_divides(f, (w->exact = *axis) == 'y', n))
        return err_input(why, "%s has no bound check, and no grid is a multiple of %d", f->name, n);
    for (size_t l = 0; l < f->n_launches; l++) {
        struct guard_list g = {0};
        elements_guards(w, &f->launches[l], &g);
        char *x;
        if (guard_hopeless(f, &g))
            return err_input(why, "no workload has sizes that are multiples of %d", n);
        if (*axis && !(*axis == 'x' ? launch_grid_x : launch_grid_y)(f, &f->launches[l], &x))
            return err_input(why, "the grid is not understood");
    }
    return true;
}

struct width { /* a number of elements that may be taken together */
    int bytes, elements, vectors;
    bool narrow; /* the largest access has 16 bytes at the most: neighbours reach whole lines together */
    struct node first;
};

static bool is_better(const struct width *x, const struct width *y)
{
    if (x->vectors != y->vectors)
        return x->vectors > y->vectors;
    return x->narrow != y->narrow ? x->narrow : x->bytes > y->bytes;
}

static void vectorise_site(struct function *f, const struct width *x, struct site_list *found)
{
    struct transform_site *site = site_add(
        found, f, x->first, x->bytes,
        arena_printf(f->a,
                     "neighbouring elements are read and written one by one; %d bytes an access need %d times "
                     "fewer instructions and keep more bytes in flight",
                     x->bytes, x->elements),
        "%s, %d elements at a time",
        node_is(x->first, NODE_FOR_STATEMENT) ? "a loop in steps of the block" : "one element a thread",
        x->elements);
    site->detail = arena_copy(f->a, &x->elements, sizeof(x->elements));
}

static void vectorise_find(struct function *f, struct site_list *found)
{
    struct elements w;
    char axis;
    struct width widths[4], x;
    size_t n = 0;
    if (!vectorise(f, 2, &w, &(struct edits){.arena = f->a}, &axis, &x.first, NULL))
        return;
    int smallest = w.smallest;
    for (x.bytes = 16; x.bytes >= 2 * smallest; x.bytes /= 2) {
        x.elements = x.bytes / smallest;
        if (!vectorise(f, x.elements, &w, &(struct edits){.arena = f->a}, &axis, &x.first, NULL))
            continue;
        x.vectors = w.vectors;
        x.narrow = w.largest <= 16;
        size_t at = n++;
        for (; at > 0 && is_better(&x, &widths[at - 1]); at--)
            widths[at] = widths[at - 1];
        widths[at] = x;
    }
    for (size_t k = 0; k < n; k++)
        vectorise_site(f, &widths[k], found);
}

static bool vectorise_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                            struct err *why_not)
{
    const int n = *(const int *)site->detail;
    struct arena *a = f->a;
    struct elements w;
    char axis;
    struct node first;
    struct edits inside = {.arena = a};
    if (!vectorise(f, n, &w, &inside, &axis, &first, why_not))
        return false;
    char *name = fresh_name(f, arena_printf(a, "%s_vec%d", f->name, n));
    if (!edits_copy(edits, &inside, f, name, arena_printf(a, "%d elements at a time; its launch says when", n),
                    why_not))
        return false;
    edits_include(edits, f, "<cstdint>", "<stdint.h>");
    edits_helper(edits, f, share_text("cuda/rewrite/packed.cuh"));
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        struct guard_list g = {0};
        elements_guards(&w, launch, &g);
        char *grid = axis == 'x' ? launch_grid_divided(f, launch, n) : NULL, *blocks;
        if (axis == 'y' && launch_grid_x(f, launch, &grid) && launch_grid_y(f, launch, &blocks))
            grid = launch_grid_with(f, launch, grid, arena_printf(a, "(%s + %d) / %d", blocks, n - 1, n));
        edits_guard_launch(
            edits, f, launch,
            arena_printf(a, "%d elements at a time, where rows are whole vectors and buffers are aligned.", n),
            guard_join(f, &g, launch), launch_text(f, launch, name, grid, NULL));
    }
    return true;
}

const struct transform transform_vectorise = {
    .name = "vectorise",
    .summary = "read and write several neighbouring elements at once (2, 4, 8 or 16 bytes), scalar kernel kept",
    .helps = "latency dram issue l2",
    .chooses = "items",
    .parameters = {{"bytes", 1, 0, 4, {2, 4, 8, 16}}},
    .find = vectorise_find,
    .apply = vectorise_apply,
};
