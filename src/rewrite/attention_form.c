/* Attention recognised: which index counts queries, which keys each sees, and where its operands lie. Queries
 * are what the index of the first operand has of the grid and that of the second has not. Everything else must
 * be the same for all queries of a head, so that a block of threads can ask for it once. */
#include "rewrite/attention_form.h"
#include "rewrite/attention_sum.h"

struct counter { /* an index, known by its atom `lead` */
    const char *lead;
    struct poly whole;
};

enum role { OWN, FIRST, BETWEEN };

struct parse { /* a kernel: the one that stores the answer, the one that multiplies queries and keys, one
                  between */
    struct attention *a;
    const struct function *f;
    struct err *why;
    const struct weighted_sum *s;
    enum role role;
    int dimension; /* of its grid, along which queries go; -1: not known */
    struct counter key, deep;
    const char *lead; /* the atom of the index that counts queries */
    struct poly whole;
    const char *flat_lead; /* and of the one that counts those of all heads; NULL: there is none */
    struct poly flat;
    const char *head_atom; /* the head, as polynomials have it */
};

static const char *const thread_index[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
static const char *const block_index[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};

/* ---- the same for all queries of a head ---- */

static bool uniform(struct parse *p, struct node e, int depth);

/* A variable that means the same for all of them; it is declared again. */
static bool uniform_variable(struct parse *p, const struct variable *v, int depth)
{
    struct attention *a = p->a;

    if (v->param)
        return !v->pointer;
    if (v == a->head)
        return true;
    if (p->role != OWN && node_ok(v->init) && node_mentions(p->f, v->init, "blockIdx"))
        return false;
    for (size_t i = 0; i < a->needed.n; i++)
        if (a->needed.v[i] == v)
            return true;
    if (depth > 8 || v->array || v->pointer || v->shared || v->assignments || !node_ok(v->init) ||
        !uniform(p, v->init, depth + 1))
        return false;
    vec_add(p->f->a, &a->needed, v);
    return true;
}

/* Are the dimensions of the grid that the text asks for those that stay as they are? */
static bool grid_stays(const struct parse *p, const char *text)
{
    for (int d = 0; d < 3; d++)
        if (strstr(text, arena_printf(p->f->a, "gridDim.%c", "xyz"[d])) &&
            (p->role != OWN || d == p->dimension || d == p->a->deep_dimension))
            return false;
    return true;
}

static bool uniform(struct parse *p, struct node e, int depth)
{
    const struct function *f = p->f;

    if (node_is_access(f, e) || node_has(f, e, NODE_SUBSCRIPT_EXPRESSION) ||
        node_has(f, e, NODE_POINTER_EXPRESSION))
        return false;
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        const char *word = text_of(f, *name);
        struct node member = node_parent(*name);
        if (str_in(word, "threadIdx|blockDim") ||
            (str_eq(word, "gridDim") && !grid_stays(p, text_of(f, member))))
            return false;
        if (str_eq(word, "blockIdx") &&
            (p->dimension < 0 || node_text_is(f->s, member, block_index[p->dimension])))
            return false;
        if (v && !uniform_variable(p, v, depth))
            return false;
    }
    return true;
}

static bool uniform_atom(struct parse *p, const char *atom)
{
    static const char *const own[] = {"threadIdx", "blockDim", POLY_LANE};
    const struct function *f = p->f;

    if (p->a->head && str_eq(atom, p->a->head->name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_has_word(atom, own[i]))
            return false;
    if (strstr(atom, block_index[p->dimension]) || strchr(atom, '[') || !grid_stays(p, atom))
        return false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (str_has_word(atom, v->name) && !uniform_variable(p, v, 0))
            return false;
    return true;
}

static bool uniform_poly(struct parse *p, const struct poly *poly)
{
    for (int i = 0; i < poly->n; i++)
        for (int k = 0; k < poly->t[i].n; k++)
            if (!uniform_atom(p, poly->t[i].atom[k]))
                return false;
    return poly->ok;
}

/* ---- the index of a query ---- */

/* A polynomial's part along an index that is `whole`, known by its atom `lead`: the factor; the rest stays. */
static struct poly along(const struct function *f, const char *lead, const struct poly *whole,
                         struct poly *rest)
{
    struct poly by = poly_number(0), own, copy = *rest;

    if (!lead)
        return by;
    by = poly_take(f, lead, &copy);
    own = poly_mul(f, by, *whole);
    *rest = poly_add(f, *rest, own, -1);
    return by;
}

/* The index that has this atom: the atom, or, of a thread, its place in the grid where the polynomial has no
 * other part along that. */
static struct counter counter_of(const struct function *f, const char *lead, const struct poly *in)
{
    struct counter c = {lead, poly_atom(f, lead)};

    for (int d = 0; d < 3; d++) {
        if (!str_eq(lead, thread_index[d]) || !poly_has(f, *in, block_index[d]))
            continue;
        int64_t threads = block_threads(f, d);
        for (int named = 0; named < 2; named++) {
            struct poly by =
                named ? poly_atom(f, arena_printf(f->a, "blockDim.%c", "xyz"[d])) : poly_number(threads);
            struct poly rest = *in;
            struct poly whole = poly_add(f, poly_mul(f, poly_atom(f, block_index[d]), by), c.whole, 1);
            along(f, lead, &whole, &rest);
            if ((named || threads > 0) && !poly_has(f, rest, block_index[d]))
                return (struct counter){lead, whole};
        }
    }
    return c;
}

/* What it is along the queries of a head, and the rest with the head in it. */
static struct poly along_queries(const struct parse *p, struct poly *rest)
{
    const struct function *f = p->f;
    struct poly all = along(f, p->flat_lead, &p->flat, rest), own;

    if (all.n > 0) { /* the index over all heads is head * queries of a head + query */
        struct poly heads = poly_mul(f, poly_atom(f, p->head_atom), poly_of(f, p->a->heads_of));
        *rest = poly_add(f, *rest, poly_mul(f, all, heads), 1);
    }
    own = along(f, p->lead, &p->whole, rest);
    return poly_add(f, own, all, 1);
}

/* The head's name for what the kernel divides. */
static void name_head(const struct parse *p, struct poly *poly)
{
    if (!p->a->head)
        return;
    struct poly by = poly_take(p->f, p->head_atom, poly);
    *poly = poly_add(p->f, *poly, poly_mul(p->f, by, poly_atom(p->f, p->a->head->name)), 1);
}

/* The index along one dimension of the grid that q has and k has not. */
static bool counts_dimension(struct parse *p, const struct poly *q, const struct poly *k, int d)
{
    const struct function *f = p->f;
    bool thread = poly_has(f, *q, thread_index[d]), block = poly_has(f, *q, block_index[d]);
    struct poly lone = poly_atom(f, block_index[d]);
    int64_t threads = block_threads(f, d);

    if ((!thread && !block) || poly_has(f, *k, thread_index[d]) || poly_has(f, *k, block_index[d]))
        return false;
    p->lead = thread ? thread_index[d] : block_index[d];
    p->whole = lone;
    p->dimension = d;
    for (int named = 0; named < 2 && thread; named++) {
        struct poly by =
            named ? poly_atom(f, arena_printf(f->a, "blockDim.%c", "xyz"[d])) : poly_number(threads);
        struct poly rest = *q;
        p->whole = poly_add(f, poly_mul(f, lone, by), poly_atom(f, thread_index[d]), 1);
        along(f, p->lead, &p->whole, &rest);
        if ((named || threads > 0) && !poly_has(f, rest, block_index[d]))
            return true;
    }
    return !thread;
}

/* An index over the whole grid's x: of its threads, or of its blocks. */
static bool counts_all(struct parse *p, const struct poly *index)
{
    const struct function *f = p->f;
    int64_t threads;
    struct poly blocks = poly_atom(f, block_index[0]);

    if (poly_same(index, &blocks))
        p->flat_lead = block_index[0];
    else if (poly_counts_grid(f, index, 0, &threads) && (threads == 0 || threads == block_threads(f, 0)))
        p->flat_lead = thread_index[0];
    else
        return false;
    p->flat = *index;
    return true;
}

/* Head and query out of one index: head = i / n, query = i % n. */
static bool find_flat(struct parse *p)
{
    const struct function *f = p->f;

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        struct node e =
            node_ok(v->init) && !v->assignments && !v->pointer ? node_strip(v->init) : (struct node){0};
        const char *op = node_is(e, NODE_BINARY_EXPRESSION) ? node_op(f, e) : "";
        struct poly of = str_in(op, "/|%") ? poly_of(f, node_field(e, FIELD_LEFT)) : (struct poly){0};
        struct poly whole = of.ok ? poly_of(f, e) : (struct poly){0};
        const char *atom = poly_only_atom(&whole);
        if (!atom || !counts_all(p, &of))
            continue;
        if (str_eq(op, "%")) {
            p->lead = atom;
            p->whole = whole;
        } else {
            p->head_atom = atom;
            p->a->head = v;
        }
        p->a->heads_of = node_field(e, FIELD_RIGHT);
    }
    if (!p->lead || !p->head_atom) {
        p->flat_lead = p->lead = p->head_atom = NULL;
        p->a->head = NULL;
        p->a->heads_of = (struct node){0};
        return false;
    }
    p->dimension = 0;
    return uniform(p, p->a->heads_of, 0);
}

/* ---- which keys a query sees ---- */

struct bound { /* left < right, or one more; what stands on the greater side may be chosen or the least of two
                */
    struct node smaller, greater;
    int more;
    const char *flag;
    const struct counter *key;
};

static bool set_diagonal(struct parse *p, struct poly rest, const char *flag)
{
    struct attention *a = p->a;

    if (a->diagonal.ok)
        return poly_same(&a->diagonal, &rest) && str_eq(flag ? flag : "", a->flag ? a->flag : "");
    a->diagonal = rest;
    a->flag = flag;
    return true;
}

static bool set_keys(struct parse *p, struct poly rest)
{
    struct attention *a = p->a;

    if (a->keys.ok)
        return poly_same(&a->keys, &rest);
    a->keys = rest;
    return true;
}

static bool poly_has_thread(const struct function *f, const struct poly *p)
{
    for (int d = 0; d < 3; d++)
        if (poly_has(f, *p, thread_index[d]) || poly_has(f, *p, block_index[d]))
            return true;
    return false;
}

/* One inequality. */
static bool take_bound(struct parse *p, const struct bound *b)
{
    const struct function *f = p->f;
    struct poly room = poly_add(f, poly_of(f, b->greater), poly_of(f, b->smaller), -1), minus = poly_number(-1);
    struct poly left = poly_of(f, b->smaller);

    room = poly_add(f, room, poly_number(b->more), 1);
    struct poly key = along(f, b->key->lead, &b->key->whole, &room);
    struct poly all = p->flat_lead ? along(f, p->flat_lead, &p->flat, &room) : poly_number(0);
    struct poly query = along(f, p->lead, &p->whole, &room);
    if (key.n > 0 && !poly_same(&key, &minus))
        return false;
    if (p->role == BETWEEN)
        return !b->flag && !poly_has_thread(f, &room);
    if (key.n > 0 && poly_is_one(&query) && all.n == 0)
        return set_diagonal(p, room, b->flag);
    if (p->role == FIRST) /* the others are asked again */
        return !b->flag && (key.n == 0 || (query.n == 0 && !poly_has_thread(f, &room)));
    if (key.n > 0)
        return query.n == 0 && all.n == 0 && set_keys(p, room);
    if (b->flag || b->more)
        return false;
    if (poly_same(&query, &minus) && all.n == 0 && poly_same(&left, &p->whole))
        return node_ok(p->a->rows) ? false : (p->a->rows = b->greater, true);
    if (poly_same(&all, &minus) && query.n == 0 && poly_same(&left, &p->flat))
        return node_ok(p->a->all_rows) ? false : (p->a->all_rows = b->greater, true);
    /* Of the numbers of a vector: there are as many as a score multiplies. */
    struct poly deep = along(f, p->deep.lead, &p->deep.whole, &left);
    struct poly depth = poly_of(p->s->weight.f, p->s->weight.depth), end = poly_of(f, b->greater);
    if (query.n > 0 || all.n > 0)
        return false;
    return poly_is_one(&deep) && left.n == 0 && (poly_same(&end, &depth) || p->a->depth_f != f);
}

static bool take_condition(struct parse *p, struct node e, bool hidden, const struct counter *key);

/* The greater side, through names, as what it is chosen from. */
static bool take_bounds(struct parse *p, struct bound b, int depth)
{
    const struct function *f = p->f;
    struct node e = node_strip(b.greater), *args;
    const struct variable *v = function_variable_of(f, e);
    size_t n;

    if (v && !v->param && !v->assignments && node_ok(v->init) && depth < 6) {
        struct node is = node_strip(v->init);
        if (node_is(is, NODE_CONDITIONAL_EXPRESSION) || node_is(is, NODE_CALL_EXPRESSION)) {
            b.greater = is;
            return take_bounds(p, b, depth + 1);
        }
    }
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION) && !b.flag && uniform(p, node_field(e, FIELD_CONDITION), 0)) {
        const char *flag = text_of(f, node_strip(node_field(e, FIELD_CONDITION)));
        struct bound yes = b, no = b;
        yes.greater = node_field(e, FIELD_CONSEQUENCE);
        yes.flag = flag;
        no.greater = node_field(e, FIELD_ALTERNATIVE);
        no.flag = arena_printf(f->a, "!(%s)", flag);
        return take_bounds(p, yes, depth + 1) && take_bounds(p, no, depth + 1);
    }
    if (str_in(call_name(f, e), "min|fminf") && node_is(e, NODE_CALL_EXPRESSION)) {
        args = named_children(f, node_field(e, FIELD_ARGUMENTS), &n);
        for (size_t i = 0; i < n; i++) {
            b.greater = args[i];
            if (!take_bounds(p, b, depth + 1))
                return false;
        }
        return n > 0;
    }
    return take_bound(p, &b);
}

static bool take_comparison(struct parse *p, struct node e, bool hidden, const struct counter *key,
                            const char *flag)
{
    const char *op = node_is(e, NODE_BINARY_EXPRESSION) ? node_op(p->f, e) : "";
    struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
    bool forward = op[0] == (hidden ? '>' : '<');
    struct bound b = {
        .smaller = forward ? left : right, .greater = forward ? right : left, .flag = flag, .key = key};

    b.more = (op[0] && op[1] == '=') != hidden;
    return str_in(op, "<|<=|>|>=") && take_bounds(p, b, 0);
}

/* A condition under which a key, and all else on its way, is seen or hidden. */
static bool take_condition(struct parse *p, struct node e, bool hidden, const struct counter *key)
{
    const struct function *f = p->f;

    e = node_strip(e);
    struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
    if (node_is(e, NODE_UNARY_EXPRESSION) && str_eq(node_op(f, e), "!"))
        return take_condition(p, node_field(e, FIELD_ARGUMENT), !hidden, key);
    if (node_is_binary(f, e, hidden ? "||" : "&&"))
        return take_condition(p, left, hidden, key) && take_condition(p, right, hidden, key);
    if (!node_is_binary(f, e, hidden ? "&&" : "||"))
        return take_comparison(p, e, hidden, key, NULL);
    bool first = uniform(p, left, 0);
    struct node of = node_strip(first ? left : right);
    if (!first && !uniform(p, right, 0))
        return false;
    const char *flag = text_of(f, of);
    if (!hidden) /* !causal || j <= i */
        flag = node_is(of, NODE_UNARY_EXPRESSION) && str_eq(node_op(f, of), "!")
                   ? text_of(f, node_strip(node_field(of, FIELD_ARGUMENT)))
                   : arena_printf(f->a, "!(%s)", flag);
    return take_comparison(p, node_strip(first ? right : left), hidden, key, flag);
}

/* All conditions on the way from the function's top to a statement. */
static bool take_way(struct parse *p, struct node n, const struct counter *key)
{
    const struct function *f = p->f;

    for (struct node up = node_parent(n); node_ok(up) && !node_same(n, f->body); n = up, up = node_parent(up)) {
        if (node_is(up, NODE_FOR_STATEMENT) && !take_condition(p, node_field(up, FIELD_CONDITION), false, key))
            return false;
        if (node_is(up, NODE_IF_STATEMENT) &&
            !take_condition(p, node_field(up, FIELD_CONDITION), node_same(n, node_field(up, FIELD_ALTERNATIVE)),
                            key))
            return false;
        if (node_is(up, NODE_WHILE_STATEMENT) || node_is(up, NODE_SWITCH_STATEMENT) ||
            node_is(up, NODE_DO_STATEMENT))
            return false;
        for (struct node s = node_prev(n); node_is(up, NODE_COMPOUND_STATEMENT) && node_ok(s);
             s = node_prev(s)) {
            struct node then = node_is(s, NODE_IF_STATEMENT)
                                   ? node_unbraced(f, node_field(s, FIELD_CONSEQUENCE))
                                   : (struct node){0};
            if ((node_is(then, NODE_RETURN_STATEMENT) || node_is(then, NODE_BREAK_STATEMENT) ||
                 node_is(then, NODE_CONTINUE_STATEMENT)) &&
                !take_condition(p, node_field(s, FIELD_CONDITION), true, key))
                return false;
        }
    }
    return true;
}

/* ---- operands ---- */

/* Its vectors are counted by `by`, NULL: by queries; its numbers by `deep`. */
static bool take_operand(struct parse *p, const struct flow_element *e, const struct counter *deep,
                         const struct counter *by, struct attention_operand *o)
{
    const struct function *f = p->f;
    struct poly rest = e->index, one = along(f, deep->lead, &deep->whole, &rest);

    *o = (struct attention_operand){.root = e->root->name, .type = ctype_bound(f, e->root->type)};
    o->step = by ? along(f, by->lead, &by->whole, &rest) : along_queries(p, &rest);
    o->start = rest;
    name_head(p, &o->start);
    if (!poly_is_one(&one) || o->step.n == 0 || !uniform_poly(p, &o->step) || !uniform_poly(p, &o->start))
        return err_input(p->why, "%s is not read or written in vectors that lie beside each other", o->root);
    return true;
}

/* The atom that counts a value's numbers where it is no array's subscript: what the values' index and the
 * output's have alone, and the keys' has not. */
static const char *common_deep(const struct function *f, const struct weighted_sum *s)
{
    struct poly key = s->weight.k.index;

    poly_take(f, s->weight.deep, &key); /* loops may have one name */
    for (int i = 0; i < s->v.index.n; i++) {
        const struct term *t = &s->v.index.t[i];
        struct poly out = s->out.index;
        if (t->n == 1 && t->by == 1 && !str_eq(t->atom[0], s->key)) {
            struct poly one = poly_take(f, t->atom[0], &out);
            if (poly_is_one(&one) && (s->weight.f != f || !poly_has(f, key, t->atom[0])))
                return t->atom[0];
        }
    }
    return NULL;
}

static bool take_scale(struct parse *p)
{
    const struct function *f = p->f;
    struct str b = {0};

    str_add(&b, p->s->weight.base2 ? "0.693147181f" : "");
    for (size_t i = 0; i < p->s->weight.factors.list.n; i++) {
        const struct flow_factor *x = &p->s->weight.factors.list.v[i];
        struct parse other = {.a = p->a, .f = x->f, .s = p->s, .role = BETWEEN, .dimension = -1};
        if (!uniform(x->f == f ? p : &other, x->e, 0)) {
            str_free(&b);
            return err_input(p->why, "%s scales its scores by something that is not the same for all", f->name);
        }
        const char *first = x->divides ? "1.0f / " : "", *later = x->divides ? " / " : " * ",
                   *by = b.len ? later : first;
        str_addf(&b, "%sstatic_cast<float>(%s)", by, text_of(f, node_strip(x->e)));
    }
    p->a->scale = b.len ? str_take(&b, f->a) : "1.0f";
    return true;
}

/* The vectors' length: a constant, or what the workloads agree on. */
static bool take_depth(struct parse *p)
{
    const struct function *f = p->s->weight.f;
    struct attention *a = p->a;

    a->depth = p->s->weight.depth;
    if (constant_value(f, a->depth, &a->depth_value))
        return true;
    for (size_t l = 0; l < f->n_launches; l++) {
        const char *told = launch_expression(f, &f->launches[l], a->depth);
        const struct transform_fact *fact = told ? fact_of(f->in, told) : NULL;
        if (!fact || !fact->same || (l > 0 && a->depth_value != fact->value))
            return err_input(p->why, "the length of a vector of %s is not known", f->name);
        a->depth_value = fact->value;
    }
    return true;
}

/* The dimension of the grid along which queries go: what one index has and the other has not. */
static bool find_queries(struct parse *p, struct poly with, struct poly without)
{
    for (int d = 0; d < 3; d++)
        if (counts_dimension(p, &with, &without, d))
            return true;
    return err_input(p->why, "the grid of %s does not count queries", p->f->name);
}

/* In the kernel that stores the answer. */
static bool find_own_queries(struct parse *p)
{
    const struct function *f = p->f;
    const struct weighted_sum *s = p->s;
    bool one = s->weight.f == f;
    struct poly with = one ? s->weight.q.index : s->out.index, without = one ? s->weight.k.index : s->v.index;

    poly_take(f, one ? s->weight.deep : s->out_deep, &with);
    poly_take(f, one ? s->weight.deep : s->deep, &without);
    poly_take(f, one ? s->weight.key : s->key, &without);
    if (!one) { /* a vector's numbers may go along the grid */
        struct counter deep = counter_of(f, s->deep, &s->v.index);
        with = s->out.index;
        without = s->v.index;
        along(f, deep.lead, &deep.whole, &with);
        along(f, deep.lead, &deep.whole, &without);
    }
    return find_flat(p) || find_queries(p, with, without);
}

static struct counter plain_counter(const struct function *f, const char *lead)
{
    return (struct counter){lead, lead ? poly_atom(f, lead) : poly_number(0)};
}

/* ---- several kernels ---- */

/* Parts of two grids that are the same, as the launcher writes them. */
static bool same_extent(const struct function *f, int d, const struct function *g, int e)
{
    size_t n, m;
    struct node *x = launch_dim3(f, &f->launches[0], f->launches[0].grid, &n);
    struct node *y = launch_dim3(g, &g->launches[0], g->launches[0].grid, &m);

    return x && y && (size_t)d < n && (size_t)e < m &&
           str_eq(text_compact(f->a, text_of(f, x[d])), text_compact(f->a, text_of(g, y[e])));
}

/* Heads are counted by the grid of each kernel; this says one in terms of the other. */
static bool carry_heads(struct parse *p, const struct parse *first, struct attention_operand *o)
{
    const struct function *f = p->f;
    int own = 0;

    for (int d = 0; d < 3; d++) {
        if (!poly_has(f, o->start, block_index[d]))
            continue;
        while (own < 3 && !poly_has(f, p->a->v.start, block_index[own]))
            own++;
        const char *head = p->a->head ? p->a->head->name : NULL,
                   *name = own < 3 ? arena_printf(f->a, "blockIdx/%c", "xyz"[own]) : head;
        if (!name || (own < 3 && !same_extent(f, own, first->f, d)))
            return err_input(p->why, "the heads of %s and %s are not counted alike", f->name, first->f->name);
        struct poly by = poly_take(f, block_index[d], &o->start);
        o->start = poly_add(f, o->start, poly_mul(f, by, poly_atom(f, name)), 1);
        own++;
    }
    for (int d = 0; d < 3; d++) { /* all at once: y may be z and z y */
        struct poly by = poly_take(f, arena_printf(f->a, "blockIdx/%c", "xyz"[d]), &o->start);
        o->start = poly_add(f, o->start, poly_mul(f, by, poly_atom(f, block_index[d])), 1);
    }
    return o->start.ok;
}

/* The parameters of all kernels, but for what one stores for another. Two of one name are passed the same. */
static bool take_parameters(struct parse *p)
{
    struct attention *a = p->a;
    const struct function *f = p->f;
    VEC(const struct function *) all = {0};

    vec_add(f->a, &all, f);
    for (size_t i = 0; i < a->ahead.n; i++)
        vec_add(f->a, &all, a->ahead.v[i]);
    for (size_t i = 0; i < all.n; i++) {
        const struct function *g = all.v[i];
        for (size_t k = 0; k < g->n_params; k++) {
            const struct variable *v = &g->variables[k];
            const char *passed = text_of(g, launch_arg(g, &g->launches[0], v));
            bool between = false, known = false;
            for (size_t h = 0; h < p->s->weight.hops.n; h++) {
                const struct hop *hop = &p->s->weight.hops.v[h];
                between =
                    between ||
                    str_eq(text_compact(f->a, passed),
                           text_compact(f->a, text_of(f, launch_arg(hop->f, &hop->f->launches[0], hop->root))));
            }
            for (size_t n = 0; n < a->parameters.n && !between; n++) {
                bool same = str_eq(a->parameters.v[n].name, v->name);
                if (same && !str_eq(text_compact(f->a, a->parameters.v[n].passed), text_compact(f->a, passed)))
                    return err_input(p->why, "%s means two things in the kernels of %s", v->name, f->name);
                known = known || same;
            }
            if (!between && !known)
                vec_add(f->a, &a->parameters,
                        ((struct attention_parameter){v->name, text_of(g, v->statement), passed}));
        }
    }
    return true;
}

/* The kernels ahead: what the first of them multiplies, and under which conditions they store what is read. */
static bool take_ahead(struct parse *p)
{
    struct attention *a = p->a;
    const struct weighted_sum *s = p->s;
    const struct function *g = s->weight.f, *f = p->f;
    struct parse first = {.a = a, .f = g, .why = p->why, .s = s, .role = FIRST};
    struct poly q = s->weight.q.index, k = s->weight.k.index;

    first.deep = plain_counter(g, s->weight.deep);
    poly_take(g, s->weight.deep, &q);
    poly_take(g, s->weight.deep, &k);
    first.key = counter_of(g, s->weight.key, &k);
    along(g, first.key.lead, &first.key.whole, &k);
    if (node_is(f->whole, NODE_TEMPLATE_DECLARATION) || !find_queries(&first, q, k) ||
        !take_operand(&first, &s->weight.q, &first.deep, NULL, &a->q) ||
        !take_operand(&first, &s->weight.k, &first.deep, &first.key, &a->k) || !carry_heads(p, &first, &a->q) ||
        !carry_heads(p, &first, &a->k))
        return false;
    for (size_t i = 0; i < s->weight.hops.n; i++) {
        const struct hop *hop = &s->weight.hops.v[i];
        bool is_first = node_same(hop->f->definition, g->definition);
        struct parse between = {.a = a, .f = hop->f, .why = p->why, .s = s, .role = BETWEEN, .dimension = -1};
        struct counter key = is_first ? first.key : plain_counter(hop->f, hop->key);
        if (node_is(hop->f->whole, NODE_TEMPLATE_DECLARATION) || hop->f->n_launches != 1 ||
            function_is_named_elsewhere(hop->f) || !take_way(is_first ? &first : &between, hop->store, &key))
            return err_input(p->why, "%s does not store all that is read of it", hop->f->name);
        vec_add(f->a, &a->ahead, hop->f);
    }
    for (size_t i = 0; i < s->weight.limits.n; i++) {
        const struct limit *l = &s->weight.limits.v[i];
        bool is_first = node_same(l->f->definition, g->definition);
        struct parse between = {.a = a, .f = l->f, .why = p->why, .s = s, .role = BETWEEN, .dimension = -1};
        struct counter key = is_first ? first.key : plain_counter(l->f, l->key);
        if (!node_same(l->f->definition, f->definition) &&
            !take_condition(is_first ? &first : &between, l->condition, l->hidden, &key))
            return err_input(p->why, "a condition of %s is no bound of its queries or keys", l->f->name);
    }
    if (a->diagonal.ok && !uniform_poly(&first, &a->diagonal))
        return err_input(p->why, "a condition of %s is no bound of its queries or keys", g->name);
    return take_parameters(p);
}

static int by_place(const void *x, const void *y)
{
    const struct variable *const *a = x, *const *b = y;

    return (*a)->from < (*b)->from ? -1 : (*a)->from > (*b)->from;
}

/* The conditions of the kernel that stores the answer. */
static bool take_own_conditions(struct parse *p)
{
    const struct weighted_sum *s = p->s;
    bool known = take_way(p, s->adds, &p->key);

    for (size_t i = 0; known && i < s->weight.limits.n; i++) {
        const struct limit *l = &s->weight.limits.v[i];
        struct counter key = plain_counter(p->f, l->key);
        if (node_same(l->f->definition, p->f->definition))
            known = take_condition(p, l->condition, l->hidden, &key);
    }
    return known;
}

bool attention_of(const struct function *f, struct attention *a, struct err *why)
{
    struct weighted_sum s;
    struct parse p = {.a = a, .f = f, .why = why, .s = &s};

    *a = (struct attention){.f = f, .deep_dimension = -1};
    if (f->n_launches == 0 || function_is_named_elsewhere(f))
        return err_input(why, "%s is used other than by launches", f->name);
    if (!weighted_sum_of(f, &s, why))
        return false;
    if (!s.deep)
        s.deep = s.out_deep = common_deep(f, &s);
    if (!s.deep || !s.out_deep)
        return err_input(why, "%s does not store what it sums up number by number", f->name);
    a->depth_f = s.weight.f;
    if (!find_own_queries(&p))
        return false;
    a->dimension = p.dimension;
    p.key = plain_counter(f, s.key);
    p.deep = a->depth_f == f ? plain_counter(f, s.deep) : counter_of(f, s.deep, &s.v.index);
    struct counter out_deep = a->depth_f == f ? plain_counter(f, s.out_deep) : p.deep;
    struct counter deep = plain_counter(f, s.weight.deep), key = plain_counter(f, s.weight.key);
    for (int d = 0; d < 3; d++)
        if (p.deep.whole.n > 1 && poly_has(f, p.deep.whole, block_index[d]))
            a->deep_dimension = d;
    if (!take_operand(&p, &s.v, &p.deep, &p.key, &a->v) || !take_operand(&p, &s.out, &out_deep, NULL, &a->out))
        return false;
    if (a->depth_f == f ? !take_operand(&p, &s.weight.q, &deep, NULL, &a->q) ||
                              !take_operand(&p, &s.weight.k, &deep, &key, &a->k)
                        : !take_ahead(&p))
        return false;
    if (!take_scale(&p) || !take_depth(&p))
        return false;
    bool ahead = a->diagonal.ok, known = take_own_conditions(&p);
    name_head(&p, &a->keys);
    name_head(&p, &a->diagonal);
    if (!known || (a->keys.ok && !uniform_poly(&p, &a->keys)) ||
        (a->diagonal.ok && !ahead && !uniform_poly(&p, &a->diagonal)) ||
        (!a->keys.ok && (!a->diagonal.ok || a->flag)))
        return err_input(why, "a condition of %s is no bound of its queries or keys", f->name);
    a->by_thread = str_starts(p.flat_lead ? p.flat_lead : p.lead, "thread");
    if (a->needed.n > 1)
        qsort(a->needed.v, a->needed.n, sizeof(*a->needed.v), by_place);
    return true;
}
