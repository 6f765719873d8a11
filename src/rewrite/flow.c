/* Where a value comes from: memory, through variables and arrays that keep it on the way. */
#include "rewrite/flow.h"

#include <strings.h>

/* Through casts and conversions. */
struct node flow_plain(const struct function *f, struct node e)
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

bool flow_is_zero(const struct function *f, struct node e)
{
    int64_t value;

    e = flow_plain(f, e);
    return (constant_value(f, e, &value) && value == 0) ||
           str_in(text_of(f, e), "0.0f|0.f|0.0|0.|0.0F|0.F|{}|{0}|{0.f}|{0.0f}");
}

/* The score of a key that is not seen: minus infinity, or so low that its weight is none. */
bool flow_is_none(const struct function *f, struct node e)
{
    e = flow_plain(f, e);
    if (call_is(f, e, "__int_as_float"))
        return strcasecmp(text_of(f, node_child(node_field(e, FIELD_ARGUMENTS), 0)), "0xff800000") == 0;
    if (!node_is(e, NODE_UNARY_EXPRESSION) || !str_eq(node_op(f, e), "-"))
        return node_is(e, NODE_NUMBER_LITERAL) && strtod(text_of(f, e), NULL) <= -1e4;
    const char *size = text_of(f, flow_plain(f, node_field(e, FIELD_ARGUMENT)));
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
const struct variable *flow_variable(const struct function *f, struct node e, struct node *subscript)
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
bool flow_place(const struct function *f, struct node e, struct flow_element *to)
{
    struct node pointer;

    *to = (struct flow_element){.f = f, .index = poly_number(0)};
    e = flow_plain(f, e);
    if (node_is_address(f, e)) /* of __ldg(&p[i]) */
        e = node_strip(node_field(e, FIELD_ARGUMENT));
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION))
        to->index = poly_of(f, subscript_index(f, e));
    else if (!node_is_indirection(f, e))
        return false;
    pointer = node_field(e, FIELD_ARGUMENT);
    for (int depth = 0; depth < FLOW_DEEP; depth++) {
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

struct flow_definitions flow_definitions(const struct function *f, const struct variable *v)
{
    struct flow_definitions d = {0};
    struct node none;

    for (struct node *e = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++)
        if (flow_variable(f, assigned_target(*e), &none) == v)
            vec_add(f->a, &d.list, *e);
    return d;
}

/* The innermost loop or question around n that is not around the other one. */
struct node flow_between(struct node n, struct node other, enum node_kind kind)
{
    struct node around = node_enclosing(n, kind);

    return node_ok(around) && !(node_ok(other) && node_within(other, around)) ? around : (struct node){0};
}

/* `for (int i = first; i < bound; i += step)`: its index; NULL where it is none. */
const struct variable *flow_loop_index(const struct function *f, struct node loop)
{
    struct node d = node_field(node_field(loop, FIELD_INITIALIZER), FIELD_DECLARATOR);

    return node_is(d, NODE_INIT_DECLARATOR) ? function_variable_of(f, node_field(d, FIELD_DECLARATOR)) : NULL;
}

bool flow_starts_at_zero(const struct function *f, struct node loop)
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
bool flow_factors(const struct function *f, struct node e, struct node two[2])
{
    e = flow_plain(f, e);
    if (!node_is_binary(f, e, "*"))
        return false;
    two[0] = node_field(e, FIELD_LEFT);
    two[1] = node_field(e, FIELD_RIGHT);
    return true;
}

/* What an assignment adds to its own target: a product as two factors, or one term (then the second is no
 * node). *back: by what the target is multiplied first. */
bool flow_added(const struct function *f, struct node e, struct node two[2], struct node *back)
{
    struct node target = assigned_target(e), value = flow_plain(f, node_field(e, FIELD_RIGHT)), part[3],
                own = {0};
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
            if (str_eq(text_compact(f->a, text_of(f, flow_plain(f, part[i]))),
                       name)) { /* fmaf(sum, back, term) */
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
    own = flow_plain(f, own);
    if (node_ok(own) && !str_eq(text_compact(f->a, text_of(f, own)), name)) {
        struct node of[2];
        if (!flow_factors(f, own, of))
            return false;
        bool first = str_eq(text_compact(f->a, text_of(f, flow_plain(f, of[0]))), name);
        if (!first && !str_eq(text_compact(f->a, text_of(f, flow_plain(f, of[1]))), name))
            return false;
        *back = of[first ? 1 : 0];
    }
split:
    if (!node_ok(two[1])) {
        struct node whole = two[0];
        for (int depth = 0; depth < 4 && node_is(flow_plain(f, whole), NODE_IDENTIFIER); depth++) {
            const struct variable *v = function_variable_of(f, flow_plain(f, whole));
            if (!v || v->assignments || !node_ok(v->init) || !node_is_binary(f, flow_plain(f, v->init), "*"))
                break;
            whole = v->init;
        }
        struct node of[2];
        if (flow_factors(f, whole, of)) {
            two[0] = of[0];
            two[1] = of[1];
        }
    }
    return true;
}

/* An element of a parameter's memory, through variables and arrays that keep it; factors that it was multiplied
 * by on the way go to `factors`. */
bool flow_element_of(const struct function *f, struct node e, int depth, struct flow_element *to,
                     struct flow_factor_list *factors)
{
    struct node subscript, two[2], none;

    e = flow_plain(f, e);
    if (depth > FLOW_DEEP)
        return false;
    if (flow_place(f, e, to))
        return true;
    if (factors && flow_factors(f, e, two)) {
        for (int i = 0; i < 2; i++)
            if (flow_element_of(f, two[i], depth + 1, to, factors)) {
                vec_add(f->a, &factors->list, ((struct flow_factor){f, two[1 - i], false}));
                return true;
            }
        return false;
    }
    const struct variable *v = flow_variable(f, e, &subscript);
    if (!v || v->param)
        return false;
    if (!node_ok(subscript))
        return !v->assignments && node_ok(v->init) && flow_element_of(f, v->init, depth + 1, to, factors);
    struct flow_definitions d = flow_definitions(f, v);
    struct node last = {0};
    for (size_t i = 0; i < d.list.n; i++)
        if (!flow_is_zero(f, node_field(d.list.v[i], FIELD_RIGHT)) && node_start(d.list.v[i]) < node_start(e)) {
            if (node_ok(last) || !node_is_assignment(f, d.list.v[i], "="))
                return false;
            last = d.list.v[i];
        }
    if (!node_ok(last) || !flow_element_of(f, node_field(last, FIELD_RIGHT), depth + 1, to, factors))
        return false;
    flow_variable(f, assigned_target(last), &none);
    struct poly at = poly_of(f, none), read = poly_of(f, subscript);
    const char *atom = poly_only_atom(&at);
    if (!atom)
        return false;
    struct poly by = poly_take(f, atom, &to->index);
    to->index = poly_add(f, to->index, poly_mul(f, by, read), 1);
    return to->index.ok;
}
