/* Attention's sums recognised. What a kernel stores is followed back to what it is made of: a sum of weights
 * times values, over a sum of the same weights; a weight is the exponential of a score less something that is
 * the same for all keys; a score is a sum of products of a query's and a key's numbers, times a factor. Names
 * mean nothing: a variable, or an array's element, is what was assigned to it last. What is taken from the
 * scores (their maximum, as a rule) cancels, so where it comes from is not asked. How sums over several threads
 * meet is not followed either: the trial judges it. */
#include "rewrite/attention_sum.h"

static bool value_of(const struct function *f, struct node e, int depth, struct value *v);

/* ---- scores and weights ---- */

static bool scaled(const struct function *f, struct value *v, struct node by, bool divides)
{
    if (v->what == SCORE) {
        vec_add(f->a, &v->factors.list, ((struct flow_factor){f, by, divides}));
        return true;
    }
    if (node_ok(v->over))
        return false;
    v->over = by;
    v->over_f = f;
    v->over_inverse = !divides;
    return true;
}

static bool lessened(struct value *v, struct node by)
{
    if (v->what != SCORE || node_ok(v->less))
        return false;
    v->less = by;
    return true;
}

/* The sum of products that an assignment in a loop adds up. */
static bool dot_of(const struct function *f, const struct variable *of, struct node adds, struct value *v)
{
    struct node two[2], back, loop = node_enclosing(adds, NODE_FOR_STATEMENT);
    const struct variable *d = flow_loop_index(f, loop);
    struct flow_element e[2];

    if (!d || !flow_starts_at_zero(f, loop) || !flow_added(f, adds, two, &back) || node_ok(back) ||
        !node_ok(two[1]))
        return false;
    if (!flow_element_of(f, two[0], 0, &e[0], &v->factors) ||
        !flow_element_of(f, two[1], 0, &e[1], &v->factors))
        return false;
    bool keys_first = poly_has(f, e[0].index, v->key);
    if (keys_first == poly_has(f, e[1].index, v->key))
        return false;
    v->k = e[keys_first ? 0 : 1];
    v->q = e[keys_first ? 1 : 0];
    v->f = f;
    v->deep = d->name;
    struct node until = node_field(loop, FIELD_CONDITION);
    v->depth = node_field(until, FIELD_RIGHT);
    v->what = SCORE;
    return node_is_binary(f, until, "<") &&
           function_variable_of(f, node_strip(node_field(until, FIELD_LEFT))) == d && of->assignments > 0;
}

/* Carries the question for a key on to the one who assigned: score[j] was score[t]. */
static bool same_key(const struct function *f, struct node read, struct node written, struct value *v)
{
    struct poly r = poly_of(f, read), w = poly_of(f, written);
    const char *key = poly_only_atom(&r), *own = poly_only_atom(&w);

    if (!key || !own || !str_eq(key, v->key))
        return false;
    v->key = own;
    return true;
}

/* What the variable that `use` reads was before this place. */
static bool value_before(const struct function *f, const struct variable *of, struct node use, size_t at,
                         int depth, struct value *v)
{
    struct flow_definitions d = flow_definitions(f, of);
    struct node read, written;

    flow_variable(f, use, &read);
    for (size_t i = d.list.n; i-- > 0 && depth < FLOW_DEEP;) {
        struct node e = d.list.v[i], right = node_field(e, FIELD_RIGHT), two[2], back;
        if (node_start(e) >= at || node_within(use, e))
            continue;
        struct node asked = flow_between(e, use, NODE_IF_STATEMENT),
                    loop = flow_between(e, use, NODE_FOR_STATEMENT);
        const char *op = node_op(f, e);
        flow_variable(f, assigned_target(e), &written);
        if (node_ok(asked) && node_ok(loop) && node_within(loop, asked) && !node_ok(read))
            return false;
        if (node_ok(asked) && str_eq(op, "=") && (flow_is_none(f, right) || flow_is_zero(f, right)) &&
            !node_ok(node_field(asked, FIELD_ALTERNATIVE))) { /* if (j > i) score = -INFINITY; */
            if (!value_before(f, of, use, node_start(e), depth + 1, v))
                return false;
            vec_add(f->a, &v->limits, ((struct limit){f, node_field(asked, FIELD_CONDITION), true, v->key}));
            return true;
        }
        if (str_in(op, "*=|/=|-=")) {
            if ((node_ok(read) && !same_key(f, read, written, v)) ||
                !value_before(f, of, assigned_target(e), node_start(e), depth + 1, v))
                return false;
            return str_eq(op, "-=") ? lessened(v, right) : scaled(f, v, right, str_eq(op, "/="));
        }
        if (flow_added(f, e, two, &back))
            return node_ok(loop) && !node_ok(read) && dot_of(f, of, e, v);
        if (!str_eq(op, "=") || (node_ok(read) ? !same_key(f, read, written, v) : node_ok(loop)))
            return false;
        return value_of(f, right, depth + 1, v);
    }
    return !node_ok(read) && node_ok(of->init) && of->from < at && value_of(f, of->init, depth + 1, v);
}

/* The same element for another counter of keys: p[row * n + j] was p[row * n + t]. */
static bool same_element_of_key(const struct function *f, const struct flow_element *read,
                                const struct flow_element *written, struct value *v)
{
    struct poly rest = read->index, by = poly_take(f, v->key, &rest);

    for (int i = 0; poly_is_one(&by) && i < written->index.n; i++) {
        const struct term *t = &written->index.t[i];
        struct poly other = written->index;
        if (t->n != 1 || t->by != 1)
            continue;
        other = poly_add(f, other, poly_atom(f, t->atom[0]), -1);
        if (poly_same(&other, &rest)) {
            v->key = t->atom[0];
            return true;
        }
    }
    return false;
}

static bool hop_back(const struct function *f, const struct flow_element *read, int depth, struct value *v);

/* What an element of memory was before this place; `use` reads it, or is no node where another kernel does. */
static bool memory_before(const struct function *f, const struct flow_element *read, struct node use, size_t at,
                          int depth, struct value *v)
{
    struct node *all = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION), right;
    struct flow_element written;
    size_t n = 0;

    while (node_ok(all[n]))
        n++;
    for (size_t i = n; i-- > 0 && depth < FLOW_DEEP;) {
        struct node e = all[i], target = assigned_target(e);
        if (node_start(e) >= at || (node_ok(use) && node_within(use, e)) || !node_is_access(f, target) ||
            !flow_place(f, target, &written) || written.root != read->root)
            continue;
        const char *op = node_op(f, e);
        right = node_field(e, FIELD_RIGHT);
        if (!same_element_of_key(f, read, &written, v))
            return false;
        if (!node_ok(use))
            vec_add(f->a, &v->hops, ((struct hop){f, read->root, e, v->key}));
        if (str_eq(op, "="))
            return value_of(f, right, depth + 1, v);
        if (!str_in(op, "*=|/=|-=") || !memory_before(f, &written, target, node_start(e), depth + 1, v))
            return false;
        return str_eq(op, "-=") ? lessened(v, right) : scaled(f, v, right, str_eq(op, "/="));
    }
    return node_ok(use) && hop_back(f, read, depth, v);
}

/* The kernel launched last before f that writes what f reads through this parameter, and its own parameter. */
static const struct function *writer_of(const struct function *f, const struct variable *param,
                                        const struct variable **own)
{
    const struct launch *l = &f->launches[0];
    const struct function *best = NULL;
    size_t n;

    if (f->n_launches != 1)
        return NULL;
    const char *passed = text_compact(f->a, text_of(f, launch_arg(f, l, param)));
    struct function **all = functions_open(f->in, f->a, &n);
    for (size_t i = 0; i < n; i++) {
        const struct function *g = all[i];
        if (!g->global || g->n_launches != 1 || node_same(g->definition, f->definition) ||
            !node_same(g->launches[0].host, l->host) ||
            node_start(g->launches[0].call) >= node_start(l->call) ||
            (best && node_start(best->launches[0].call) > node_start(g->launches[0].call)))
            continue;
        for (const struct variable *v = g->variables; v < g->variables + g->n_params; v++)
            if (v->pointer &&
                str_eq(text_compact(f->a, text_of(f, launch_arg(g, &g->launches[0], v))), passed) &&
                memory_written_in(g, v->name, g->body)) {
                best = g;
                *own = v;
            }
    }
    return best;
}

/* What another kernel stored for this one: its last store, whose keys lie beside each other. */
static bool hop_back(const struct function *f, const struct flow_element *read, int depth, struct value *v)
{
    const struct variable *own = NULL;
    const struct function *g = writer_of(f, read->root, &own);
    struct poly by = read->index;
    struct flow_element last = {0}, place;

    by = poly_take(f, v->key, &by);
    if (!g || !poly_is_one(&by))
        return false;
    for (struct node *e = nodes_of(g, g->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++)
        if (node_is_access(g, assigned_target(*e)) && flow_place(g, assigned_target(*e), &place) &&
            place.root == own)
            last = place;
    const char *key = NULL;
    for (int i = 0; last.root && i < last.index.n; i++)
        if (last.index.t[i].n == 1 && last.index.t[i].by == 1) {
            if (key)
                return false;
            key = last.index.t[i].atom[0];
        }
    if (!key)
        return false;
    v->key = key;
    return memory_before(g, &last, (struct node){0}, SIZE_MAX, depth + 1, v);
}

static bool tried(const struct function *f, struct node e, int depth, struct value *v)
{
    struct value copy = *v;

    if (value_of(f, e, depth, &copy))
        return *v = copy, true;
    return false;
}

/* A choice between a score and none, or a weight and zero. */
static bool choice_of(const struct function *f, struct node e, int depth, struct value *v)
{
    struct node yes = node_field(e, FIELD_CONSEQUENCE), no = node_field(e, FIELD_ALTERNATIVE);
    const char *key = v->key;
    bool hidden = flow_is_none(f, yes) || flow_is_zero(f, yes);

    if (!hidden && !flow_is_none(f, no) && !flow_is_zero(f, no))
        return false;
    if (!value_of(f, hidden ? no : yes, depth + 1, v))
        return false;
    vec_add(f->a, &v->limits, ((struct limit){f, node_field(e, FIELD_CONDITION), hidden, key}));
    return true;
}

/* False where it is neither a score nor a weight. */
static bool value_of(const struct function *f, struct node e, int depth, struct value *v)
{
    struct node subscript, left, right;
    struct flow_element place;
    const char *op;
    size_t n;

    e = flow_plain(f, e);
    if (depth > FLOW_DEEP || !node_ok(e))
        return false;
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION))
        return choice_of(f, e, depth, v);
    if (node_is(e, NODE_CALL_EXPRESSION)) {
        struct node *args = named_children(f, node_field(e, FIELD_ARGUMENTS), &n);
        const char *name = call_name(f, e);
        if (n == 1 && str_in(name, "expf|__expf|exp|exp2f|exp2")) {
            v->base2 = str_starts(name, "exp2");
            bool score = value_of(f, args[0], depth + 1, v) && v->what == SCORE;
            v->what = WEIGHT;
            return score;
        }
        if (n == 3 && str_in(name, "fmaf|fma|__fmaf_rn")) {
            struct node less = flow_plain(f, args[2]);
            int of = tried(f, args[0], depth + 1, v) ? 0 : 1;
            if (of == 1 && !tried(f, args[1], depth + 1, v))
                return false;
            return node_is(less, NODE_UNARY_EXPRESSION) && str_eq(node_op(f, less), "-") &&
                   scaled(f, v, args[1 - of], false) && lessened(v, node_field(less, FIELD_ARGUMENT));
        }
        return false;
    }
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        op = node_op(f, e);
        left = node_field(e, FIELD_LEFT);
        right = node_field(e, FIELD_RIGHT);
        if (str_eq(op, "-"))
            return value_of(f, left, depth + 1, v) && lessened(v, right);
        if (str_eq(op, "/"))
            return value_of(f, left, depth + 1, v) && scaled(f, v, right, true);
        if (str_eq(op, "*") && tried(f, left, depth + 1, v))
            return scaled(f, v, right, false);
        return str_eq(op, "*") && value_of(f, right, depth + 1, v) && scaled(f, v, left, false);
    }
    if (node_is_access(f, e) && flow_place(f, e, &place))
        return memory_before(f, &place, e, node_start(e), depth, v);
    const struct variable *of = flow_variable(f, e, &subscript);
    return of && !of->param && value_before(f, of, e, node_start(e), depth, v);
}

/* ---- the two sums ---- */

/* A term: a weight times an element of the values, in a loop over keys. */
static bool term_of(const struct function *f, struct node adds, struct weighted_sum *s)
{
    struct node two[2], back, subscript;

    if (!flow_added(f, adds, two, &back) || !node_ok(two[1]))
        return false;
    s->adds = adds;
    s->back = back;
    flow_variable(f, assigned_target(adds), &subscript);
    struct poly own = node_ok(subscript) ? poly_of(f, subscript) : poly_number(0);
    s->deep = poly_only_atom(&own);
    if (node_ok(subscript) && !s->deep)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!flow_element_of(f, two[i], 0, &s->v, NULL))
            continue;
        for (struct node loop = node_enclosing(adds, NODE_FOR_STATEMENT); node_ok(loop);
             loop = node_enclosing(loop, NODE_FOR_STATEMENT)) {
            const struct variable *j = flow_loop_index(f, loop);
            s->key = j ? j->name : NULL;
            s->weight = (struct value){.key = s->key};
            if (j && flow_starts_at_zero(f, loop) && (!s->deep || !str_eq(j->name, s->deep)) &&
                poly_has(f, s->v.index, j->name))
                if (value_of(f, two[1 - i], 0, &s->weight) && s->weight.what == WEIGHT)
                    return true;
        }
    }
    return false;
}

static bool same_kernel(const struct function *f, const struct function *g)
{
    return node_same(f->definition, g->definition);
}

static bool same_root(const struct flow_element *x, const struct flow_element *y)
{
    return same_kernel(x->f, y->f) && str_eq(x->root->name, y->root->name);
}

static const char *text_or_none(const struct function *f, struct node n)
{
    return node_ok(n) ? text_compact(f->a, text_of(f, flow_plain(f, n))) : "";
}

/* Are two weights the same, as far as the text shows? */
static bool same_weight(const struct function *f, const struct value *x, const struct value *y)
{
    bool same = x->what == WEIGHT && y->what == WEIGHT && same_root(&x->q, &y->q) && same_root(&x->k, &y->k) &&
                x->factors.list.n == y->factors.list.n && x->base2 == y->base2 &&
                str_eq(text_or_none(f, x->less), text_or_none(f, y->less));

    for (size_t i = 0; same && i < x->factors.list.n; i++)
        same = x->factors.list.v[i].divides == y->factors.list.v[i].divides &&
               str_eq(text_or_none(f, x->factors.list.v[i].e), text_or_none(f, y->factors.list.v[i].e));
    return same;
}

struct closure { /* variables that a value is made of */
    VEC(const struct variable *) list;
};

/* Is it what scores are read from, or the matrix that kernels leave each other? */
static bool is_of_scores(const struct flow_element *place, const struct value *weight)
{
    bool known = same_root(place, &weight->q) || same_root(place, &weight->k);

    for (size_t i = 0; i < weight->hops.n && !known; i++)
        known =
            same_root(place, &(struct flow_element){.f = weight->hops.v[i].f, .root = weight->hops.v[i].root});
    return known || !same_kernel(place->f, weight->f);
}

/* Adds those of an expression. False where it reads other memory than the scores do. */
static bool reaches(const struct function *f, struct closure *c, struct node e, const struct value *weight)
{
    struct flow_element place;

    for (struct node *a = nodes_of(f, e, NODE_SUBSCRIPT_EXPRESSION); node_ok(*a); a++)
        if (flow_place(f, *a, &place) && !is_of_scores(&place, weight))
            return false;
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        bool known = !v || v->param;
        for (size_t i = 0; i < c->list.n && !known; i++)
            known = c->list.v[i] == v;
        if (!known)
            vec_add(f->a, &c->list, v);
    }
    return true;
}

/* Is the value made of a sum of these weights, and of no other memory? */
static bool sums_weights(const struct function *f, struct node e, const struct weighted_sum *s)
{
    struct closure c = {0};
    bool found = false;

    if (!reaches(f, &c, e, &s->weight))
        return false;
    for (size_t i = 0; i < c.list.n; i++) {
        const struct variable *v = c.list.v[i];
        struct flow_definitions d = flow_definitions(f, v);
        if (node_ok(v->init) && !reaches(f, &c, v->init, &s->weight))
            return false;
        for (size_t k = 0; k < d.list.n; k++) {
            struct node two[2], back, adds = d.list.v[k];
            bool term = false;
            if (flow_added(f, adds, two, &back) && !node_ok(two[1]))
                for (struct node loop = node_enclosing(adds, NODE_FOR_STATEMENT); node_ok(loop) && !term;
                     loop = node_enclosing(loop, NODE_FOR_STATEMENT)) {
                    const struct variable *j = flow_loop_index(f, loop);
                    struct value w = {.key = j ? j->name : NULL};
                    term = j && value_of(f, two[0], 0, &w) && same_weight(f, &w, &s->weight) &&
                           (!node_ok(back) || str_eq(text_or_none(f, back), text_or_none(f, s->back)));
                }
            found = found || term;
            if (!term && !node_is_assignment(f, adds, "*=") &&
                !reaches(f, &c, node_field(adds, FIELD_RIGHT), &s->weight))
                return false;
        }
    }
    return found;
}

/* ---- what is stored ---- */

/* Of what is x the inverse? No node: of nothing. *zero: it is zero where that is. */
static struct node inverse_of(const struct function *f, struct node x, bool *zero)
{
    for (int depth = 0; depth < 8; depth++) {
        x = flow_plain(f, x);
        const struct variable *v = function_variable_of(f, x);
        if (v && !v->param && !v->array && !v->assignments && node_ok(v->init)) {
            x = v->init;
        } else if (node_is(x, NODE_CONDITIONAL_EXPRESSION) &&
                   flow_is_zero(f, node_field(x, FIELD_ALTERNATIVE))) {
            *zero = true;
            x = node_field(x, FIELD_CONSEQUENCE);
        } else if (call_is(f, x, "__frcp_rn")) {
            return node_child(node_field(x, FIELD_ARGUMENTS), 0);
        } else if (node_is_binary(f, x, "/") &&
                   str_in(text_of(f, flow_plain(f, node_field(x, FIELD_LEFT))), "1.0f|1.f|1|1.0|1.")) {
            return node_field(x, FIELD_RIGHT);
        } else {
            break;
        }
    }
    return (struct node){0};
}

/* A quotient's two parts; *below is no node where there is no quotient. */
static struct node quotient(const struct function *f, struct node e, struct node *below, bool *zero)
{
    struct node two[2];

    *below = (struct node){0};
    for (int depth = 0; depth < 8; depth++) {
        e = flow_plain(f, e);
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->param && !v->array && !v->assignments && node_ok(v->init)) {
            e = v->init;
        } else if (node_is(e, NODE_CONDITIONAL_EXPRESSION) &&
                   flow_is_zero(f, node_field(e, FIELD_ALTERNATIVE))) {
            *zero = true;
            e = node_field(e, FIELD_CONSEQUENCE);
        } else if (node_is_binary(f, e, "/")) {
            *below = node_field(e, FIELD_RIGHT);
            return flow_plain(f, node_field(e, FIELD_LEFT));
        } else if (call_is(f, e, "__fdividef")) {
            *below = node_child(node_field(e, FIELD_ARGUMENTS), 1);
            return flow_plain(f, node_child(node_field(e, FIELD_ARGUMENTS), 0));
        } else if (flow_factors(f, e, two)) {
            for (int i = 0; i < 2 && !node_ok(*below); i++) {
                *below = inverse_of(f, two[i], zero);
                e = node_ok(*below) ? flow_plain(f, two[1 - i]) : e;
            }
            return e;
        } else {
            break;
        }
    }
    return e;
}

/* The one assignment to a parameter's memory. */
static bool only_store(const struct function *f, struct node *store, struct flow_element *to)
{
    size_t n = 0;

    for (struct node *e = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        struct flow_element place;
        struct node target = assigned_target(*e);
        if (!node_is_access(f, target) || !flow_place(f, target, &place))
            continue;
        *store = *e;
        *to = place;
        n++;
    }
    for (const struct variable *v = f->variables; v < f->variables + f->n_params; v++)
        if (v->pointer && n == 1 && v != to->root && memory_written_in(f, v->name, f->body))
            return false;
    return n == 1 && node_is_assignment(f, *store, "=");
}

/* What is assigned to the variable of the sum: terms, and what they are scaled by. */
static bool sum_of(const struct function *f, const struct variable *v, struct weighted_sum *s,
                   struct node *below, bool *zero)
{
    struct flow_definitions d = flow_definitions(f, v);
    size_t n = 0;

    for (size_t i = 0; i < d.list.n; i++)
        n += term_of(f, d.list.v[i], s) ? 1 : 0;
    if (n != 1)
        return false;
    struct node loop = node_enclosing(s->adds, NODE_FOR_STATEMENT);
    while (node_ok(loop) && !str_eq(flow_loop_index(f, loop) ? flow_loop_index(f, loop)->name : "", s->key))
        loop = node_enclosing(loop, NODE_FOR_STATEMENT);
    for (size_t i = 0; i < d.list.n; i++) {
        struct node e = d.list.v[i], right = node_field(e, FIELD_RIGHT);
        const char *op = node_op(f, e);
        if (node_same(e, s->adds) || (str_eq(op, "=") && flow_is_zero(f, right)))
            continue;
        if (str_eq(op, "*=") && node_within(e, loop) && !node_ok(s->back))
            s->back = right;
        else if (str_in(op, "*=|/=") && !node_within(e, loop) && node_start(e) > node_end(loop) &&
                 !node_ok(*below))
            *below = str_eq(op, "/=") ? right : inverse_of(f, right, zero);
        else
            return false;
    }
    return true;
}

/* Earlier terms are scaled by the exponential of a difference from what scores are taken from now. */
static bool back_is_right(const struct function *f, const struct weighted_sum *s)
{
    struct node e = flow_plain(f, s->back);
    const struct variable *v = function_variable_of(f, e);

    if (!node_ok(s->back))
        return true;
    if (v && !v->assignments && node_ok(v->init))
        e = flow_plain(f, v->init);
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION))
        e = flow_plain(f, node_field(e, flow_is_zero(f, node_field(e, FIELD_CONSEQUENCE)) ? FIELD_ALTERNATIVE
                                                                                          : FIELD_CONSEQUENCE));
    return node_is(e, NODE_CALL_EXPRESSION) && str_in(call_name(f, e), "expf|__expf|exp|exp2f|exp2") &&
           node_ok(s->weight.less) &&
           strstr(text_compact(f->a, text_of(f, e)), text_or_none(f, s->weight.less)) != NULL;
}

bool weighted_sum_of(const struct function *f, struct weighted_sum *s, struct err *why)
{
    struct node store, below, subscript;
    struct flow_element out;
    bool zero = false;

    *s = (struct weighted_sum){0};
    if (!only_store(f, &store, &out))
        return err_input(why, "%s does not store one thing in one place", f->name);
    struct node sum = quotient(f, node_field(store, FIELD_RIGHT), &below, &zero);
    const struct variable *v = flow_variable(f, sum, &subscript);
    if (!v || v->param || !sum_of(f, v, s, &below, &zero))
        return err_input(why, "%s stores no sum of weights times values", f->name);
    s->out = out;
    s->zero = zero;
    if (node_ok(subscript)) {
        struct poly read = poly_of(f, subscript);
        s->out_deep = poly_only_atom(&read);
    }
    if (node_ok(s->weight.over))
        below =
            s->weight.over_inverse ? inverse_of(s->weight.over_f, s->weight.over, &s->zero) : s->weight.over;
    if (!node_ok(below) || !sums_weights(node_ok(s->weight.over) ? s->weight.over_f : f, below, s))
        return err_input(why, "%s does not divide by the sum of its weights", f->name);
    if (!back_is_right(f, s))
        return err_input(why, "%s scales its sum by something else than its scores", f->name);
    return true;
}
