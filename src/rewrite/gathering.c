/* A convolution recognised, as a contraction: sum over the loops of X(rows, loops) * Y(columns, loops). Nothing
 * is asked of what the factors are, but which places they follow from: each has places of its own, and
 * conditions around the sum belong to one of the two, which counts as zero where they do not hold. */
#include "rewrite/gathering.h"

uint64_t gathering_needs(const struct gathering *g, struct node n)
{
    const struct function *f = g->c->f;
    uint64_t all = 0;

    if (node_is(n, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, n);
        if (v)
            return g->needs[v - f->variables];
        return str_in(text_of(f, n), "threadIdx|blockIdx|blockDim|gridDim") ? GATHERED_THREAD : 0;
    }
    for (uint32_t i = 0, k = node_count(n); i < k; i++)
        all |= gathering_needs(g, node_child(n, i));
    return all;
}

static void now_needs(struct gathering *g, const struct variable *v, uint64_t more)
{
    g->needs[v - g->c->f->variables] |= more;
}

/* ---- before the loop ---- */

/* Does it mention an index that moves on? What it is there is not what it is at the loop. */
static bool mentions_moving(const struct gathering *g, struct node s)
{
    const struct function *f = g->c->f;

    for (struct node *name = names_in(f, s); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && g->values[v - f->variables].ok && v->assignments)
            return true;
    }
    return false;
}

static bool sort_declaration(struct gathering *g, struct contraction_parse *p, struct node s)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;
    size_t places = 0, others = 0;
    bool changed = false;

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        bool here = node_same(v->statement, s), place = g->values[v - f->variables].ok;
        places += here && place;
        others += here && !place;
        changed = changed || (here && !place && v->assignments);
    }
    if (places && !others)
        return true;
    if (node_same(s, c->sum->statement))
        return (others == 1 && !places && !mentions_moving(g, s)) ||
               err_input(p->why, "the sum of %s is declared with others", f->name);
    uint64_t needs = gathering_needs(g, s);
    if (places || changed || (needs & GATHERED_THREAD) || node_has_effect(f, s) || mentions_moving(g, s))
        return err_input(p->why, "%s does more with its threads than take places", f->name);
    if (!needs) {
        vec_add(f->a, &c->uniform, s);
        return true;
    }
    vec_add(f->a, &c->dependent, s);
    vec_add(f->a, &g->path, (struct path_item){.node = s});
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_same(v->statement, s))
            now_needs(g, v, needs);
    return true;
}

/* ---- what only reads ---- */

/* Does a function of the file compute of its arguments, and of what pointers to constants lead to? */
static bool only_reads(const struct function *f, struct node n, bool own_writes);

static bool call_only_reads(const struct function *f, struct node call)
{
    static __thread int depth;

    if (call_is_pure(f, call) || str_in(call_name(f, call), "__ldg|__ldcs|__ldca|__ldcg"))
        return true;
    const struct function *called = depth < 3 ? function_only(f, call_name(f, call)) : NULL;
    if (!called || node_ok(node_enclosing(call, NODE_LAMBDA_EXPRESSION)))
        return false;
    for (size_t i = 0; i < called->n_params; i++)
        if ((called->variables[i].pointer && !called->variables[i].to_const) ||
            strchr(text_of(called, called->variables[i].statement), '&'))
            return false;
    depth++;
    bool reads = only_reads(called, called->body, true);
    depth--;
    return reads;
}

/* own_writes: it may assign to variables, which are its own. */
static bool only_reads(const struct function *f, struct node n, bool own_writes)
{
    struct node target = assigned_target(n);
    const struct variable *v = function_variable_of(f, target);

    if (node_is(n, NODE_LAMBDA_EXPRESSION) || node_is(n, NODE_GNU_ASM_EXPRESSION) ||
        (node_is(n, NODE_CALL_EXPRESSION) && !call_only_reads(f, n)) ||
        (node_is(n, NODE_DECLARATION) && str_has_word(text_of(f, n), "static")) ||
        (node_is(n, NODE_IDENTIFIER) && str_in(text_of(f, n), "threadIdx|blockIdx|blockDim|gridDim") &&
         own_writes))
        return false;
    if (node_ok(target) && (!own_writes || !v || v->shared))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!only_reads(f, node_child(n, i), own_writes))
            return false;
    return true;
}

/* ---- the loops ---- */

static bool not_a_path(struct contraction_parse *p)
{
    return err_input(p->why, "the loops of %s do more than add products", p->f->name);
}

static bool take_condition(struct gathering *g, struct contraction_parse *p, struct node condition,
                           bool negated)
{
    if (!only_reads(p->f, condition, false) || (gathering_needs(g, condition) & GATHERED_THREAD))
        return not_a_path(p);
    vec_add(p->f->a, &g->path, ((struct path_item){.node = condition, .condition = true, .negated = negated}));
    return true;
}

/* A statement that declares or changes variables of this turn alone. */
static bool take_step(struct gathering *g, struct contraction_parse *p, struct node s)
{
    static const enum node_kind leaving[] = {
        NODE_RETURN_STATEMENT, NODE_CONTINUE_STATEMENT, NODE_BREAK_STATEMENT,
        NODE_FOR_STATEMENT,    NODE_WHILE_STATEMENT,    NODE_DO_STATEMENT,
        NODE_GOTO_STATEMENT,   NODE_GNU_ASM_EXPRESSION, NODE_LAMBDA_EXPRESSION};
    const struct function *f = p->f;
    uint64_t needs = gathering_needs(g, s);

    for (size_t i = 0; i < ARRAY_LEN(leaving); i++)
        if (node_is(s, leaving[i]) || node_has(f, s, leaving[i]))
            return not_a_path(p);
    if (!only_reads(f, s, true) || node_has(f, s, NODE_UPDATE_EXPRESSION) || (needs & GATHERED_THREAD))
        return not_a_path(p);
    for (struct node *e = nodes_of(f, s, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        const struct variable *v = function_variable_of(f, assigned_target(*e));
        if (!v || v->array || !node_within(v->statement, p->c->loop) ||
            !node_same(node_enclosing(v->statement, NODE_FOR_STATEMENT), node_enclosing(s, NODE_FOR_STATEMENT)))
            return not_a_path(p);
        now_needs(g, v, needs);
    }
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_within(v->statement, s))
            now_needs(g, v, needs);
    vec_add(f->a, &g->path, (struct path_item){.node = s});
    return true;
}

bool gathering_assigns(const struct gathering *g)
{
    for (size_t i = 0; i < g->path.n; i++)
        if (!g->path.v[i].condition && node_has(g->c->f, g->path.v[i].node, NODE_ASSIGNMENT_EXPRESSION))
            return true;
    return false;
}

/* The value through names that the loops give it once. */
static struct node named_value(const struct gathering *g, struct node e)
{
    const struct function *f = g->c->f;

    for (int depth = 0; depth < 4 && !gathering_assigns(g); depth++) {
        e = node_strip(e);
        const struct variable *v = function_variable_of(f, e);
        if (!v || !node_within(v->statement, g->c->loop) || v->assignments || !node_ok(v->init))
            break;
        e = v->init;
    }
    return e;
}

/* The factors that a statement adds to the sum. */
static bool take_sum(struct gathering *g, struct node e)
{
    const struct function *f = g->c->f;
    struct node value = node_strip(node_field(e, FIELD_RIGHT));
    const struct variable *sum = g->c->sum;
    size_t n;

    if (!node_is(e, NODE_ASSIGNMENT_EXPRESSION) || function_variable_of(f, assigned_target(e)) != sum)
        return false;
    if (node_is_assignment(f, e, "=") && node_is(value, NODE_CALL_EXPRESSION) &&
        str_in(call_name(f, value), "fmaf|fma|__fmaf_rn|__fma_rn")) {
        struct node *args = named_children(f, node_field(value, FIELD_ARGUMENTS), &n);
        if (n != 3 || function_variable_of(f, node_strip(args[2])) != sum)
            return false;
        g->x.factor = args[0];
        g->y.factor = args[1];
        return true;
    }
    if (node_is_assignment(f, e, "=") && node_is_binary(f, value, "+")) {
        struct node side[] = {node_strip(node_field(value, FIELD_LEFT)),
                              node_strip(node_field(value, FIELD_RIGHT))};
        int at = function_variable_of(f, side[0]) == sum ? 0 : 1;
        if (function_variable_of(f, side[at]) != sum)
            return false;
        value = side[!at];
    } else if (!node_is_assignment(f, e, "+=")) {
        return false;
    }
    value = node_strip(named_value(g, value));
    g->x.factor = node_field(value, FIELD_LEFT);
    g->y.factor = node_field(value, FIELD_RIGHT);
    return node_is_binary(f, value, "*");
}

static bool walk(struct gathering *g, struct contraction_parse *p, struct node s);

static bool walk_loop(struct gathering *g, struct contraction_parse *p, struct node loop)
{
    struct node depth;
    const struct variable *v = contraction_loop_index(p->f, loop, &depth);

    if (!v || v->assignments != 1 || g->n_loops == GATHERED_LOOPS || gathering_needs(g, depth) ||
        node_has_effect(p->f, depth))
        return err_input(p->why, "a loop of %s does not begin at 0, or differs between threads", p->f->name);
    now_needs(g, v, GATHERED_LOOP(g->n_loops));
    g->loops[g->n_loops].v = v;
    g->loops[g->n_loops++].depth = depth;
    return walk(g, p, node_field(loop, FIELD_BODY));
}

static bool walk(struct gathering *g, struct contraction_parse *p, struct node s)
{
    const struct function *f = p->f;
    size_t n = 1;
    struct node *all = node_is(s, NODE_COMPOUND_STATEMENT) ? named_children(f, s, &n) : &s;

    for (size_t i = 0; i < n; i++) {
        struct node at = all[i], condition = node_field(at, FIELD_CONDITION);
        bool last = i + 1 == n, question = node_is(at, NODE_IF_STATEMENT);
        if (node_is(at, NODE_PREPROC_CALL) && str_starts(text_of(f, at), "#pragma unroll"))
            continue;
        if (last && node_is(at, NODE_FOR_STATEMENT))
            return walk_loop(g, p, at);
        if (last && !question)
            return take_sum(g, statement_expression(at)) || not_a_path(p);
        bool alone = question && !node_ok(node_field(at, FIELD_ALTERNATIVE));
        struct node then = node_field(at, FIELD_CONSEQUENCE);
        if (alone && last)
            return take_condition(g, p, condition, false) && walk(g, p, then);
        bool leaves = alone && node_is(node_unbraced(f, then), NODE_CONTINUE_STATEMENT);
        if (leaves ? !take_condition(g, p, condition, true) : !take_step(g, p, at))
            return false;
    }
    return not_a_path(p);
}

/* ---- the factors ---- */

/* The type of a factor: of its element in memory, or of what it computes. */
static const char *factor_type(const struct gathering *g, struct node e)
{
    const struct function *f = g->c->f;
    struct node element = contraction_element(f, e, g->c->loop);
    const struct variable *root = node_is(element, NODE_SUBSCRIPT_EXPRESSION) || node_is_indirection(f, element)
                                      ? pointer_root(f, element)
                                      : NULL;
    const char *type = root ? root->type : expression_type(f, e);

    if (!type && node_is(e, NODE_CALL_EXPRESSION)) {
        const struct function *called = function_only(f, call_name(f, e));
        type = called ? text_of(called, node_field(called->definition, FIELD_TYPE)) : NULL;
    }
    return type ? ctype_bound(f, type) : "";
}

/* Made of what the block's threads share. */
static bool is_top(const struct gathering *g, const struct poly *poly)
{
    const struct function *f = g->c->f;

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        bool top = v->param;
        for (size_t i = 0; i < g->c->uniform.n; i++)
            top = top || node_same(v->statement, g->c->uniform.v[i]);
        if (!top && poly_says(poly, v->name))
            return false;
    }
    return poly->ok && !poly_says(poly, "threadIdx") && !poly_says(poly, "blockIdx") &&
           !poly_says(poly, "blockDim") && !poly_says(poly, "gridDim") && !poly_says(poly, POLY_LANE);
}

/* Do the words that a digit is declared with mean it alone? They may name an index that moves on. */
static bool digit_is_plain(const struct gathering *g, const struct grid_digit *d)
{
    const struct function *f = g->c->f;

    if (!node_ok(d->v->init) || d->v->assignments)
        return false;
    const char *text = text_compact(f->a, text_of(f, d->v->init));
    for (size_t i = 0; i < f->n_variables && mentions_moving(g, d->v->init); i++)
        if (g->values[i].ok && &f->variables[i] != d->v &&
            str_eq(text, text_compact(f->a, text_of(f, f->variables[i].init))))
            return false;
    return true;
}

static const struct grid_digit *only_digit(const struct gathering *g, const struct gathered_operand *o)
{
    const struct grid_digit *only = NULL;

    for (int i = 0; i < g->n_digits; i++)
        if (o->digits >> i & 1) {
            if (only)
                return NULL;
            only = &g->digits[i];
        }
    return only;
}

static struct poly whole_of(const struct gathering *g, const struct grid_digit *d, const char **lead)
{
    static const char *const threads[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
    const struct function *f = g->c->f;
    struct poly whole = poly_of(f, d->v->init);
    bool thread = poly_coefficient(&whole, threads[d->value.dimension]) == 1;

    *lead = thread || whole.n == 0 || whole.t[0].n == 0 ? threads[d->value.dimension] : whole.t[0].atom[0];
    whole.ok = whole.ok && (thread || (whole.n == 1 && whole.t[0].n == 1 && whole.t[0].by == 1));
    return whole;
}

/* Is the factor an element whose index is linear in its digit and in all loops as one? */
static void find_strides(struct gathering *g, struct contraction_parse *p, struct gathered_operand *o,
                         struct contraction_operand *to)
{
    const struct function *f = p->f;
    const struct grid_digit *digit = only_digit(g, o);
    struct node element = contraction_element(f, o->factor, g->c->loop);
    const struct variable *root;
    struct poly index, joined = poly_number(1);
    const char *lead;

    for (size_t i = 0; i < g->path.n; i++)
        if (g->path.v[i].condition && (gathering_needs(g, g->path.v[i].node) & o->digits))
            return;
    if (!digit || !digit_is_plain(g, digit) || !contraction_place(p, element, &root, &index))
        return;
    struct poly whole = whole_of(g, digit, &lead);
    if (!whole.ok)
        return;
    struct poly rest = index;
    to->step = contraction_taken(f, lead, &rest);
    index = poly_add(f, index, poly_mul(f, to->step, whole), -1);
    for (int i = g->n_loops; i-- > 0;) {
        struct poly step = contraction_taken(f, g->loops[i].v->name, &index);
        if (i + 1 == g->n_loops)
            to->deep_step = step;
        struct poly want = poly_mul(f, to->deep_step, joined);
        if (!poly_same(&step, &want))
            return;
        joined = poly_mul(f, joined, poly_of(f, g->loops[i].depth));
    }
    to->start = index;
    to->root = root->name;
    to->type = ctype_bound(f, root->type);
    o->strided = to->step.n > 0 && to->deep_step.n > 0 && is_top(g, &to->step) && is_top(g, &to->deep_step) &&
                 is_top(g, &to->start) && str_eq(to->type, factor_type(g, o->factor));
}

/* Is each term of p a multiple of the one product n? */
static bool is_multiple(const struct function *f, const struct poly *p, const struct poly *n)
{
    for (int i = 0; i < p->n && n->n == 1; i++) {
        struct poly term = {.ok = true, .n = 1, .t = {p->t[i]}};
        for (int k = 0; k < n->t[0].n; k++)
            term = contraction_taken(f, n->t[0].atom[k], &term);
        if (term.n == 0 || term.t[0].by % n->t[0].by)
            return false;
    }
    return n->n == 1;
}

/* Neighbours in memory lie along the depth where the innermost loop steps by one, and nearest results are as
 * far apart as all its steps. */
static bool lies_along_deep(const struct gathering *g, const struct gathered_operand *o)
{
    const struct function *f = g->c->f;
    struct node element = contraction_element(f, o->factor, g->c->loop);
    const struct grid_digit *nearest = NULL;
    const char *lead;

    for (int i = g->n_digits; i-- > 0;)
        if (o->digits >> i & 1)
            nearest = &g->digits[i];
    if (!node_is(element, NODE_SUBSCRIPT_EXPRESSION)) {
        struct node *found = nodes_of(f, element, NODE_SUBSCRIPT_EXPRESSION);
        if (!node_ok(*found))
            for (size_t i = 0; i < g->path.n && !node_ok(*found); i++)
                if (!g->path.v[i].condition && node_within(g->path.v[i].node, g->c->loop))
                    found = nodes_of(f, g->path.v[i].node, NODE_SUBSCRIPT_EXPRESSION);
        element = *found;
    }
    if (!node_ok(element) || !digit_is_plain(g, nearest))
        return false;
    struct poly index = poly_of(f, subscript_index(f, element)), whole = whole_of(g, nearest, &lead);
    struct poly deep = contraction_taken(f, g->loops[g->n_loops - 1].v->name, &index);
    struct poly out = contraction_taken(f, lead, &index), length = poly_of(f, g->loops[g->n_loops - 1].depth);
    bool one = deep.ok && deep.n == 1 && deep.t[0].n == 0 && deep.t[0].by == 1;
    if (!whole.ok || !one || !out.ok || out.n == 0)
        return false;
    return is_multiple(f, &out, &length);
}

/* An element of memory that all conditions have in common with the other elements of the innermost loop, which
 * lie beside each other from a multiple of their number on. */
static bool has_lines(const struct gathering *g, const struct gathered_operand *o)
{
    const struct function *f = g->c->f;
    struct node element = contraction_element(f, o->factor, g->c->loop);
    uint64_t innermost = GATHERED_LOOP(g->n_loops - 1);

    if (!o->along_deep || o->strided || gathering_assigns(g) || !node_is(element, NODE_SUBSCRIPT_EXPRESSION) ||
        !pointer_root(f, element) || !pointer_root(f, element)->param ||
        !function_variable_of(f, node_field(element, FIELD_ARGUMENT)) ||
        function_variable_of(f, node_field(element, FIELD_ARGUMENT)) != pointer_root(f, element))
        return false;
    for (size_t i = 0; i < g->path.n; i++)
        if (g->path.v[i].condition && (gathering_needs(g, g->path.v[i].node) & innermost))
            return false;
    struct poly index = poly_of(f, subscript_index(f, element)),
                length = poly_of(f, g->loops[g->n_loops - 1].depth);
    contraction_taken(f, g->loops[g->n_loops - 1].v->name, &index);
    return index.ok && is_multiple(f, &index, &length);
}

/* Nothing is written before the end of the loops. */
static bool is_written(const struct gathering *g, const struct variable *v)
{
    for (struct node s = g->c->epilogue_first; node_ok(s); s = node_next(s)) {
        if (memory_written_in(g->c->f, v->name, s))
            return true;
        if (node_same(s, g->c->epilogue_last))
            break;
    }
    return false;
}

static bool take_factors(struct gathering *g, struct contraction_parse *p)
{
    const struct function *f = p->f;
    uint64_t x = gathering_needs(g, g->x.factor), y = gathering_needs(g, g->y.factor),
             all = (1ull << g->n_digits) - 1;

    if (!only_reads(f, g->x.factor, false) || !only_reads(f, g->y.factor, false))
        return not_a_path(p);
    if (((x | y) & GATHERED_THREAD) || (x & y & GATHERED_ALL) || !(x & GATHERED_ALL) || !(y & GATHERED_ALL) ||
        ((x | y) & GATHERED_ALL) != all)
        return err_input(p->why, "the factors of %s do not belong to a row and a column", f->name);
    g->x.digits = x & GATHERED_ALL;
    g->y.digits = y & GATHERED_ALL;
    if (g->x.digits & 1) { /* the nearest results lie beside each other: columns */
        struct gathered_operand other = g->x;
        g->x = g->y;
        g->y = other;
    }
    g->c->x.type = factor_type(g, g->x.factor);
    g->c->y.type = factor_type(g, g->y.factor);
    if (!contraction_types_known(g->c))
        return err_input(p->why, "the types of %s are not among those that are known", f->name);
    for (size_t i = 0; i < g->path.n; i++) {
        uint64_t of = g->path.v[i].condition ? gathering_needs(g, g->path.v[i].node) & GATHERED_ALL : 0;
        if ((of & g->x.digits) && (of & g->y.digits))
            return err_input(p->why, "a condition of %s belongs to both factors", f->name);
    }
    for (struct node *name = names_in(f, g->c->loop); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && v->shared)
            return err_input(p->why, "%s keeps things in shared memory", f->name);
        if (v && v->pointer && !node_within(v->statement, g->c->loop) && is_written(g, v))
            return err_input(p->why, "%s writes what it multiplies", f->name);
    }
    bool asks = false;
    for (size_t i = 0; i < g->path.n; i++)
        asks = asks || g->path.v[i].condition;
    find_strides(g, p, &g->x, &g->c->x);
    if (!g->x.strided || !asks) /* one of the two has the conditions of the loops alone */
        find_strides(g, p, &g->y, &g->c->y);
    g->x.along_deep = lies_along_deep(g, &g->x);
    g->y.along_deep = lies_along_deep(g, &g->y);
    g->x.lines = has_lines(g, &g->x);
    g->y.lines = has_lines(g, &g->y);
    return true;
}

/* ---- the kernel ---- */

/* A result's own part may do what it likes but meet others, leave, or ask for its thread or for the loops. */
static bool epilogue_is_own(const struct gathering *g)
{
    const struct function *f = g->c->f;

    for (struct node s = g->c->epilogue_first; node_ok(s); s = node_next(s)) {
        if (node_has(f, s, NODE_RETURN_STATEMENT) || node_is(s, NODE_RETURN_STATEMENT) || calls_barrier(f, s) ||
            (gathering_needs(g, s) & ~GATHERED_ALL))
            return false;
        if (node_same(s, g->c->epilogue_last))
            return true;
    }
    return false;
}

static bool find_sum(struct contraction_parse *p)
{
    const struct function *f = p->f;
    struct contraction *c = p->c;

    for (struct node *e = nodes_of(f, c->loop, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        const struct variable *v = function_variable_of(f, assigned_target(*e));
        if (!v || node_within(v->statement, c->loop))
            continue;
        if (c->sum || v->param || v->pointer || v->array || v->shared || !node_ok(v->init) ||
            node_has_effect(f, v->statement))
            return err_input(p->why, "the loops of %s add to more than one sum of its own", f->name);
        c->sum = v;
        c->sum_type = ctype_bound(f, v->type);
    }
    return c->sum || err_input(p->why, "the loops of %s add to no variable", f->name);
}

/* Are the numbers that places are made with the same for all threads? */
static bool is_whole_grids(const struct gathering *g, const struct grid_product *p)
{
    for (int i = 0; i < p->n; i++)
        if (gathering_needs(g, p->factor[i]))
            return false;
    return p->ok;
}

static bool places_are_told(const struct gathering *g)
{
    for (int i = 0; i < g->n_digits; i++) {
        const struct grid_value *v = &g->digits[i].value;
        if (!is_whole_grids(g, &v->by) || (!v->whole && !is_whole_grids(g, &v->modulus)))
            return false;
    }
    for (int d = 0; d < 3; d++)
        if (node_ok(g->ends[d]) && gathering_needs(g, g->ends[d]))
            return false;
    return true;
}

static bool ends_are_told(const struct gathering *g)
{
    const struct function *f = g->c->f;

    for (size_t l = 0; l < f->n_launches; l++)
        if (!gathering_count(g, g->x.digits, &f->launches[l]) ||
            !gathering_count(g, g->y.digits, &f->launches[l]))
            return false;
    return gathering_count(g, g->x.digits, NULL) && gathering_count(g, g->y.digits, NULL);
}

bool gathering_of(const struct function *f, struct contraction *c, struct err *why)
{
    struct contraction_parse p = {.c = c, .f = f, .why = why};
    struct gathering *g = arena_array(f->a, struct gathering, 1);

    *c = (struct contraction){.f = f, .gathered = g};
    g->c = c;
    if (f->n_launches == 0 || function_is_named_elsewhere(f))
        return err_input(why, "%s is used other than by launches", f->name);
    if (!contraction_sort(&p, f->body) || !find_sum(&p) || !gathering_places(g, &p))
        return false;
    for (size_t i = 0; i < p.before.n; i++)
        if (node_is(p.before.v[i], NODE_DECLARATION) && !sort_declaration(g, &p, p.before.v[i]))
            return false;
    if (!places_are_told(g))
        return err_input(why, "%s takes its index apart by what differs between threads", f->name);
    if (!walk_loop(g, &p, c->loop) || !take_factors(g, &p))
        return false;
    if (!epilogue_is_own(g))
        return err_input(why, "what %s does with a sum is not a result's own", f->name);
    return ends_are_told(g) || err_input(why, "the launcher cannot tell how large the whole is");
}
