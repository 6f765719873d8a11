/* Attention's sums recognised. What a kernel stores is followed back to what it is made of: a sum of weights
 * times values, over a sum of the same weights; a weight is the exponential of a score less something that is
 * the same for all keys; a score is a sum of products of a query's and a key's numbers, times a factor. Names
 * mean nothing: a variable, or an array's element, is what was assigned to it last. What is taken from the
 * scores (their maximum, as a rule) cancels, so where it comes from is not asked. How sums over several threads
 * meet is not followed either: the trial judges it. */
#include "rewrite/attention_sum.h"

#include <strings.h>

enum { DEEP = 24 }; /* definitions followed */

static bool value_of(const struct function *f, struct node e, int depth, struct value *v);

/* ---- expressions ---- */

/* Through casts and conversions. */
static struct node plain(const struct function *f, struct node e)
{
    for (int depth = 0; depth < 16; depth++) {
        e = node_strip(e);
        struct node args = node_field(e, FIELD_ARGUMENTS);
        if (!node_is(e, NODE_CALL_EXPRESSION) || node_count(args) != 1 ||
            !str_in(call_name(f, e),
                    "__half2float|__bfloat162float|__float2half|__float2half_rn|__float2bfloat16|"
                    "__float2bfloat16_rn|float|static_cast|__half|half|__nv_bfloat16|double|__ldg"))
            break;
        e = node_child(args, 0);
    }
    return e;
}

static bool is_zero(const struct function *f, struct node e)
{
    int64_t value;

    e = plain(f, e);
    return (constant_value(f, e, &value) && value == 0) ||
           str_in(text_of(f, e), "0.0f|0.f|0.0|0.|0.0F|0.F|{}|{0}|{0.f}|{0.0f}");
}

/* The score of a key that is not seen: minus infinity, or so low that its weight is none. */
static bool is_none(const struct function *f, struct node e)
{
    e = plain(f, e);
    if (call_is(f, e, "__int_as_float"))
        return strcasecmp(text_of(f, node_child(node_field(e, FIELD_ARGUMENTS), 0)), "0xff800000") == 0;
    if (!node_is(e, NODE_UNARY_EXPRESSION) || !str_eq(node_op(f, e), "-"))
        return node_is(e, NODE_NUMBER_LITERAL) && strtod(text_of(f, e), NULL) <= -1e4;
    const char *size = text_of(f, plain(f, node_field(e, FIELD_ARGUMENT)));
    return strtod(size, NULL) >= 1e4 || str_in(size, "INFINITY|CUDART_INF_F|FLT_MAX|HUGE_VALF");
}

struct poly poly_take(const struct function *f, const char *atom, struct poly *rest)
{
    struct poly with = poly_number(0), without = poly_number(0), whole = *rest;

    with.ok = without.ok = whole.ok;
    for (int i = 0; i < whole.n; i++) {
        struct poly one = poly_number(whole.t[i].by);
        int times = 0;
        for (int k = 0; k < whole.t[i].n; k++)
            if (!str_eq(whole.t[i].atom[k], atom) || times++ > 0)
                one = poly_mul(f, one, poly_atom(f, whole.t[i].atom[k]));
        if (times > 0)
            with = poly_add(f, with, one, 1);
        else
            without = poly_add(f, without, one, 1);
    }
    *rest = without;
    return with;
}

bool poly_has(const struct function *f, struct poly p, const char *atom)
{
    return atom && poly_take(f, atom, &p).n > 0;
}

bool poly_is_one(const struct poly *p)
{
    return p->ok && p->n == 1 && p->t[0].n == 0 && p->t[0].by == 1;
}

const char *poly_only_atom(const struct poly *p)
{
    return p->ok && p->n == 1 && p->t[0].by == 1 && p->t[0].n == 1 ? p->t[0].atom[0] : NULL;
}

/* The variable that an assignment or a read is of: an array, or a pointer that is no parameter's memory, with
 * its subscript. */
static const struct variable *variable_of(const struct function *f, struct node e, struct node *subscript)
{
    *subscript = (struct node){0};
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION)) {
        *subscript = subscript_index(f, e);
        e = node_strip(node_field(e, FIELD_ARGUMENT));
        if (!node_ok(*subscript))
            return NULL;
    }
    return function_variable_of(f, e);
}

/* A place in a parameter's memory. */
static bool place_of(const struct function *f, struct node e, struct element *to)
{
    struct node pointer;

    to->index = poly_number(0);
    e = plain(f, e);
    if (node_is_address(f, e)) /* of __ldg(&p[i]) */
        e = node_strip(node_field(e, FIELD_ARGUMENT));
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION))
        to->index = poly_of(f, subscript_index(f, e));
    else if (!node_is_indirection(f, e))
        return false;
    pointer = node_field(e, FIELD_ARGUMENT);
    for (int depth = 0; depth < DEEP; depth++) {
        pointer = node_strip(pointer);
        const struct variable *v = function_variable_of(f, pointer);
        while (v && v->base) { /* moved on since it was declared */
            to->index = poly_add(f, to->index, poly_of(f, v->init), 1);
            v = v->base;
        }
        if (v && (!v->pointer || v->array || v->assignments))
            return false;
        if (v && v->param)
            return to->root = v, to->index.ok;
        if (v) {
            pointer = v->init;
        } else if (node_is_binary(f, pointer, "+")) {
            to->index = poly_add(f, to->index, poly_of(f, node_field(pointer, FIELD_RIGHT)), 1);
            pointer = node_field(pointer, FIELD_LEFT);
        } else if (node_is_address(f, pointer)) {
            struct node at = node_strip(node_field(pointer, FIELD_ARGUMENT));
            if (!node_is(at, NODE_SUBSCRIPT_EXPRESSION))
                return false;
            to->index = poly_add(f, to->index, poly_of(f, subscript_index(f, at)), 1);
            pointer = node_field(at, FIELD_ARGUMENT);
        } else {
            return false;
        }
    }
    return false;
}

/* ---- definitions ---- */

struct definitions {
    VEC(struct node) list; /* assignments, in text order */
};

static struct definitions definitions_for(const struct function *f, const struct variable *v)
{
    struct definitions d = {0};
    struct node none;

    for (struct node *e = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++)
        if (variable_of(f, assigned_target(*e), &none) == v)
            vec_add(f->a, &d.list, *e);
    return d;
}

/* The innermost loop or question around n that is not around the other one. */
static struct node between(struct node n, struct node other, enum node_kind kind)
{
    struct node around = node_enclosing(n, kind);

    return node_ok(around) && !node_within(other, around) ? around : (struct node){0};
}

/* `for (int i = first; i < bound; i += step)`: its index; NULL where it is none. */
static const struct variable *loop_index(const struct function *f, struct node loop)
{
    struct node d = node_field(node_field(loop, FIELD_INITIALIZER), FIELD_DECLARATOR);

    return node_is(d, NODE_INIT_DECLARATOR) ? function_variable_of(f, node_field(d, FIELD_DECLARATOR)) : NULL;
}

static bool starts_at_zero(const struct function *f, struct node loop)
{
    struct node update = node_field(loop, FIELD_UPDATE);
    int64_t first, step = 1;

    return constant_value(
               f, node_field(node_field(node_field(loop, FIELD_INITIALIZER), FIELD_DECLARATOR), FIELD_VALUE),
               &first) &&
           first == 0 &&
           ((node_is(update, NODE_UPDATE_EXPRESSION) && str_starts(node_op(f, update), "+")) ||
            (node_is_assignment(f, update, "+=") && constant_value(f, node_field(update, FIELD_RIGHT), &step) &&
             step == 1));
}

/* The two factors of a product. */
static bool factors_of(const struct function *f, struct node e, struct node two[2])
{
    e = plain(f, e);
    if (!node_is_binary(f, e, "*"))
        return false;
    two[0] = node_field(e, FIELD_LEFT);
    two[1] = node_field(e, FIELD_RIGHT);
    return true;
}

/* What an assignment adds to its own target: a product as two factors, or one term (then the second is no
 * node). *back: by what the target is multiplied first. */
static bool added(const struct function *f, struct node e, struct node two[2], struct node *back)
{
    struct node target = assigned_target(e), value = plain(f, node_field(e, FIELD_RIGHT)), part[3], own = {0};
    const char *name = text_compact(f->a, text_of(f, target));
    size_t n;

    *back = two[1] = (struct node){0};
    if (node_is_assignment(f, e, "+=")) {
        two[0] = value;
    } else if (!node_is_assignment(f, e, "=")) {
        return false;
    } else if (str_in(call_name(f, value), "fmaf|fma|__fmaf_rn")) {
        struct node *args = named_children(f, node_field(value, FIELD_ARGUMENTS), &n);
        if (n != 3)
            return false;
        for (int i = 0; i < 3; i++)
            part[i] = args[i];
        own = part[2];
        for (int i = 0; i < 2; i++)
            if (str_eq(text_compact(f->a, text_of(f, plain(f, part[i]))), name)) { /* fmaf(sum, back, term) */
                *back = part[1 - i];
                two[0] = part[2];
                goto split;
            }
        two[0] = part[0];
        two[1] = part[1];
    } else if (node_is_binary(f, value, "+")) {
        struct node left = node_field(value, FIELD_LEFT), right = node_field(value, FIELD_RIGHT);
        bool first = strstr(text_compact(f->a, text_of(f, left)), name) != NULL;
        own = first ? left : right;
        two[0] = first ? right : left;
    } else {
        return false;
    }
    own = plain(f, own);
    if (node_ok(own) && !str_eq(text_compact(f->a, text_of(f, own)), name)) {
        struct node of[2];
        if (!factors_of(f, own, of))
            return false;
        bool first = str_eq(text_compact(f->a, text_of(f, plain(f, of[0]))), name);
        if (!first && !str_eq(text_compact(f->a, text_of(f, plain(f, of[1]))), name))
            return false;
        *back = of[first ? 1 : 0];
    }
split:
    if (!node_ok(two[1])) {
        struct node whole = two[0];
        for (int depth = 0; depth < 4 && node_is(plain(f, whole), NODE_IDENTIFIER); depth++) {
            const struct variable *v = function_variable_of(f, plain(f, whole));
            if (!v || v->assignments || !node_ok(v->init) || !node_is_binary(f, plain(f, v->init), "*"))
                break;
            whole = v->init;
        }
        struct node of[2];
        if (factors_of(f, whole, of)) {
            two[0] = of[0];
            two[1] = of[1];
        }
    }
    return true;
}

/* An element of a parameter's memory, through variables and arrays that keep it; factors that it was multiplied
 * by on the way go to `factors`. */
static bool element_of(const struct function *f, struct node e, int depth, struct element *to,
                       struct value *factors)
{
    struct node subscript, two[2], none;

    e = plain(f, e);
    if (depth > DEEP)
        return false;
    if (place_of(f, e, to))
        return true;
    if (factors && factors_of(f, e, two)) {
        for (int i = 0; i < 2; i++)
            if (element_of(f, two[i], depth + 1, to, factors)) {
                vec_add(f->a, &factors->factors, ((struct factor){.e = two[1 - i]}));
                return true;
            }
        return false;
    }
    const struct variable *v = variable_of(f, e, &subscript);
    if (!v || v->param)
        return false;
    if (!node_ok(subscript))
        return !v->assignments && node_ok(v->init) && element_of(f, v->init, depth + 1, to, factors);
    struct definitions d = definitions_for(f, v);
    struct node last = {0};
    for (size_t i = 0; i < d.list.n; i++)
        if (!is_zero(f, node_field(d.list.v[i], FIELD_RIGHT)) && node_start(d.list.v[i]) < node_start(e)) {
            if (node_ok(last) || !node_is_assignment(f, d.list.v[i], "="))
                return false;
            last = d.list.v[i];
        }
    if (!node_ok(last) || !element_of(f, node_field(last, FIELD_RIGHT), depth + 1, to, factors))
        return false;
    variable_of(f, assigned_target(last), &none);
    struct poly at = poly_of(f, none), read = poly_of(f, subscript);
    const char *atom = poly_only_atom(&at);
    if (!atom)
        return false;
    struct poly by = poly_take(f, atom, &to->index);
    to->index = poly_add(f, to->index, poly_mul(f, by, read), 1);
    return to->index.ok;
}

/* ---- scores and weights ---- */

static bool scaled(const struct function *f, struct value *v, struct node by, bool divides)
{
    if (v->what == SCORE) {
        vec_add(f->a, &v->factors, ((struct factor){.e = by, .divides = divides}));
        return true;
    }
    if (node_ok(v->over))
        return false;
    v->over = by;
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
    const struct variable *d = loop_index(f, loop);
    struct element e[2];

    if (!d || !starts_at_zero(f, loop) || !added(f, adds, two, &back) || node_ok(back) || !node_ok(two[1]))
        return false;
    if (!element_of(f, two[0], 0, &e[0], v) || !element_of(f, two[1], 0, &e[1], v))
        return false;
    bool keys_first = poly_has(f, e[0].index, v->key);
    if (keys_first == poly_has(f, e[1].index, v->key))
        return false;
    v->k = e[keys_first ? 0 : 1];
    v->q = e[keys_first ? 1 : 0];
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
    struct definitions d = definitions_for(f, of);
    struct node read, written;

    variable_of(f, use, &read);
    for (size_t i = d.list.n; i-- > 0 && depth < DEEP;) {
        struct node e = d.list.v[i], right = node_field(e, FIELD_RIGHT), two[2], back;
        if (node_start(e) >= at || node_within(use, e))
            continue;
        struct node asked = between(e, use, NODE_IF_STATEMENT), loop = between(e, use, NODE_FOR_STATEMENT);
        const char *op = node_op(f, e);
        variable_of(f, assigned_target(e), &written);
        if (node_ok(asked) && node_ok(loop) && node_within(loop, asked) && !node_ok(read))
            return false;
        if (node_ok(asked) && str_eq(op, "=") && (is_none(f, right) || is_zero(f, right)) &&
            !node_ok(node_field(asked, FIELD_ALTERNATIVE))) { /* if (j > i) score = -INFINITY; */
            if (!value_before(f, of, use, node_start(e), depth + 1, v))
                return false;
            vec_add(f->a, &v->limits, ((struct limit){node_field(asked, FIELD_CONDITION), true, v->key}));
            return true;
        }
        if (str_in(op, "*=|/=|-=")) {
            if ((node_ok(read) && !same_key(f, read, written, v)) ||
                !value_before(f, of, assigned_target(e), node_start(e), depth + 1, v))
                return false;
            return str_eq(op, "-=") ? lessened(v, right) : scaled(f, v, right, str_eq(op, "/="));
        }
        if (added(f, e, two, &back))
            return node_ok(loop) && !node_ok(read) && dot_of(f, of, e, v);
        if (!str_eq(op, "=") || (node_ok(read) ? !same_key(f, read, written, v) : node_ok(loop)))
            return false;
        return value_of(f, right, depth + 1, v);
    }
    return !node_ok(read) && node_ok(of->init) && of->from < at && value_of(f, of->init, depth + 1, v);
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
    bool hidden = is_none(f, yes) || is_zero(f, yes);

    if (!hidden && !is_none(f, no) && !is_zero(f, no))
        return false;
    if (!value_of(f, hidden ? no : yes, depth + 1, v))
        return false;
    vec_add(f->a, &v->limits, ((struct limit){node_field(e, FIELD_CONDITION), hidden, key}));
    return true;
}

/* False where it is neither a score nor a weight. */
static bool value_of(const struct function *f, struct node e, int depth, struct value *v)
{
    struct node subscript, left, right;
    const char *op;
    size_t n;

    e = plain(f, e);
    if (depth > DEEP || !node_ok(e))
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
            struct node less = plain(f, args[2]);
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
    const struct variable *of = variable_of(f, e, &subscript);
    return of && !of->param && value_before(f, of, e, node_start(e), depth, v);
}

/* ---- the two sums ---- */

/* A term: a weight times an element of the values, in a loop over keys. */
static bool term_of(const struct function *f, struct node adds, struct weighted_sum *s)
{
    struct node two[2], back, subscript;

    if (!added(f, adds, two, &back) || !node_ok(two[1]))
        return false;
    s->adds = adds;
    s->back = back;
    variable_of(f, assigned_target(adds), &subscript);
    struct poly own = node_ok(subscript) ? poly_of(f, subscript) : poly_number(0);
    s->deep = poly_only_atom(&own);
    if (node_ok(subscript) && !s->deep)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!element_of(f, two[i], 0, &s->v, NULL))
            continue;
        for (struct node loop = node_enclosing(adds, NODE_FOR_STATEMENT); node_ok(loop);
             loop = node_enclosing(loop, NODE_FOR_STATEMENT)) {
            const struct variable *j = loop_index(f, loop);
            s->key = j ? j->name : NULL;
            s->weight = (struct value){.key = s->key};
            if (j && starts_at_zero(f, loop) && (!s->deep || !str_eq(j->name, s->deep)) &&
                poly_has(f, s->v.index, j->name))
                return value_of(f, two[1 - i], 0, &s->weight) && s->weight.what == WEIGHT;
        }
    }
    return false;
}

static bool same_element(const struct element *x, const struct element *y)
{
    return x->root == y->root;
}

static const char *text_or_none(const struct function *f, struct node n)
{
    return node_ok(n) ? text_compact(f->a, text_of(f, plain(f, n))) : "";
}

/* Are two weights the same, as far as the text shows? */
static bool same_weight(const struct function *f, const struct value *x, const struct value *y)
{
    bool same = x->what == WEIGHT && y->what == WEIGHT && same_element(&x->q, &y->q) &&
                same_element(&x->k, &y->k) && x->factors.n == y->factors.n && x->base2 == y->base2 &&
                str_eq(text_or_none(f, x->less), text_or_none(f, y->less));

    for (size_t i = 0; same && i < x->factors.n; i++)
        same = x->factors.v[i].divides == y->factors.v[i].divides &&
               str_eq(text_or_none(f, x->factors.v[i].e), text_or_none(f, y->factors.v[i].e));
    return same;
}

struct closure { /* variables that a value is made of */
    VEC(const struct variable *) list;
};

/* Adds those of an expression. False where it reads other memory than the scores do. */
static bool reaches(const struct function *f, struct closure *c, struct node e, const struct value *weight)
{
    struct element place;

    for (struct node *a = nodes_of(f, e, NODE_SUBSCRIPT_EXPRESSION); node_ok(*a); a++)
        if (place_of(f, *a, &place) && place.root != weight->q.root && place.root != weight->k.root)
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
        struct definitions d = definitions_for(f, v);
        if (node_ok(v->init) && !reaches(f, &c, v->init, &s->weight))
            return false;
        for (size_t k = 0; k < d.list.n; k++) {
            struct node two[2], back, adds = d.list.v[k];
            bool term = false;
            if (added(f, adds, two, &back) && !node_ok(two[1]))
                for (struct node loop = node_enclosing(adds, NODE_FOR_STATEMENT); node_ok(loop) && !term;
                     loop = node_enclosing(loop, NODE_FOR_STATEMENT)) {
                    const struct variable *j = loop_index(f, loop);
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
        x = plain(f, x);
        const struct variable *v = function_variable_of(f, x);
        if (v && !v->param && !v->array && !v->assignments && node_ok(v->init)) {
            x = v->init;
        } else if (node_is(x, NODE_CONDITIONAL_EXPRESSION) && is_zero(f, node_field(x, FIELD_ALTERNATIVE))) {
            *zero = true;
            x = node_field(x, FIELD_CONSEQUENCE);
        } else if (call_is(f, x, "__frcp_rn")) {
            return node_child(node_field(x, FIELD_ARGUMENTS), 0);
        } else if (node_is_binary(f, x, "/") &&
                   str_in(text_of(f, plain(f, node_field(x, FIELD_LEFT))), "1.0f|1.f|1|1.0|1.")) {
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
        e = plain(f, e);
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->param && !v->array && !v->assignments && node_ok(v->init)) {
            e = v->init;
        } else if (node_is(e, NODE_CONDITIONAL_EXPRESSION) && is_zero(f, node_field(e, FIELD_ALTERNATIVE))) {
            *zero = true;
            e = node_field(e, FIELD_CONSEQUENCE);
        } else if (node_is_binary(f, e, "/")) {
            *below = node_field(e, FIELD_RIGHT);
            return plain(f, node_field(e, FIELD_LEFT));
        } else if (call_is(f, e, "__fdividef")) {
            *below = node_child(node_field(e, FIELD_ARGUMENTS), 1);
            return plain(f, node_child(node_field(e, FIELD_ARGUMENTS), 0));
        } else if (factors_of(f, e, two)) {
            for (int i = 0; i < 2 && !node_ok(*below); i++) {
                *below = inverse_of(f, two[i], zero);
                e = node_ok(*below) ? plain(f, two[1 - i]) : e;
            }
            return e;
        } else {
            break;
        }
    }
    return e;
}

/* The one assignment to a parameter's memory. */
static bool only_store(const struct function *f, struct node *store, struct element *to)
{
    size_t n = 0;

    for (struct node *e = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        struct element place;
        struct node target = assigned_target(*e);
        if (!node_is_access(f, target) || !place_of(f, target, &place))
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
    struct definitions d = definitions_for(f, v);
    size_t n = 0;

    for (size_t i = 0; i < d.list.n; i++)
        n += term_of(f, d.list.v[i], s) ? 1 : 0;
    if (n != 1)
        return false;
    struct node loop = node_enclosing(s->adds, NODE_FOR_STATEMENT);
    while (node_ok(loop) && !str_eq(loop_index(f, loop) ? loop_index(f, loop)->name : "", s->key))
        loop = node_enclosing(loop, NODE_FOR_STATEMENT);
    for (size_t i = 0; i < d.list.n; i++) {
        struct node e = d.list.v[i], right = node_field(e, FIELD_RIGHT);
        const char *op = node_op(f, e);
        if (node_same(e, s->adds) || (str_eq(op, "=") && is_zero(f, right)))
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
    struct node e = plain(f, s->back);
    const struct variable *v = function_variable_of(f, e);

    if (!node_ok(s->back))
        return true;
    if (v && !v->assignments && node_ok(v->init))
        e = plain(f, v->init);
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION))
        e = plain(f, node_field(e, is_zero(f, node_field(e, FIELD_CONSEQUENCE)) ? FIELD_ALTERNATIVE
                                                                                : FIELD_CONSEQUENCE));
    return node_is(e, NODE_CALL_EXPRESSION) && str_in(call_name(f, e), "expf|__expf|exp|exp2f|exp2") &&
           node_ok(s->weight.less) &&
           strstr(text_compact(f->a, text_of(f, e)), text_or_none(f, s->weight.less)) != NULL;
}

bool weighted_sum_of(const struct function *f, struct weighted_sum *s, struct err *why)
{
    struct node store, below, subscript;
    struct element out;
    bool zero = false;

    *s = (struct weighted_sum){0};
    if (!only_store(f, &store, &out))
        return err_input(why, "%s does not store one thing in one place", f->name);
    struct node sum = quotient(f, node_field(store, FIELD_RIGHT), &below, &zero);
    const struct variable *v = variable_of(f, sum, &subscript);
    if (!v || v->param || !sum_of(f, v, s, &below, &zero))
        return err_input(why, "%s stores no sum of weights times values", f->name);
    s->out = out;
    s->zero = zero;
    if (node_ok(subscript)) {
        struct poly read = poly_of(f, subscript);
        s->out_deep = poly_only_atom(&read);
    }
    if (node_ok(s->weight.over))
        below = s->weight.over_inverse ? inverse_of(f, s->weight.over, &s->zero) : s->weight.over;
    if (!node_ok(below) || !sums_weights(f, below, s))
        return err_input(why, "%s does not divide by the sum of its weights", f->name);
    if (!back_is_right(f, s))
        return err_input(why, "%s scales its sum by something else than its scores", f->name);
    return true;
}
