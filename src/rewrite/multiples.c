/* What starts at a multiple of N elements, given that the index does; the parameters that must be multiples for
 * it are added to what the guard asks (elements.c). */
#include "rewrite/elements.h"

static int multiple_of(const struct elements *w)
{
    return w->n * MAX(w->times, 1);
}

static bool parameter_multiple(struct elements *w, const struct variable *v)
{
    if (!ctype_is_integer(w->f, v->type) || v->pointer || v->assignments)
        return false;
    for (size_t i = 0; i < w->multiples.n; i++)
        if (w->multiples.v[i].v == v && w->multiples.v[i].by % multiple_of(w) == 0)
            return true;
    vec_add(w->f->a, &w->multiples, ((struct multiple){v, multiple_of(w)}));
    return true;
}

/* What the workloads say of a factor: 2 a multiple already, 1 fine or unknown, 0 not in every workload. */
static int factor_score(struct elements *w, struct node e)
{
    size_t before = w->multiples.n;
    bool can = elements_multiple(w, e);
    size_t added = w->multiples.n - before;
    int score = added == 0 ? 2 : 1;
    if (!can)
        score = -1;
    for (size_t i = before; can && i < w->multiples.n && w->f->n_launches; i++) {
        struct node arg = node_strip(launch_arg(w->f, &w->f->launches[0], w->multiples.v[i].v));
        const struct transform_fact *fact = node_ok(arg) ? fact_of(w->f->in, text_of(w->f, arg)) : NULL;
        if (fact && fact->divisor > 0 && fact->divisor < w->multiples.v[i].by)
            score = 0;
    }
    w->multiples.n = before;
    return score;
}

/* One factor is enough; the one that the workloads like best. */
static bool product_multiple(struct elements *w, struct node e)
{
    struct node best = {0};
    int best_score = -1;
    for (int i = 0; i < 16 && node_ok(e); i++) { /* a * b * c is (a * b) * c */
        bool product = node_is_binary(w->f, e, "*");
        struct node factor = product ? node_strip(node_field(e, FIELD_RIGHT)) : e;
        int score = factor_score(w, factor);
        if (score > best_score) {
            best = factor;
            best_score = score;
        }
        e = product ? node_strip(node_field(e, FIELD_LEFT)) : (struct node){0};
    }
    return node_ok(best) && elements_multiple(w, best);
}

/* `3 * i` is one of three times as many as i. */
static bool constant_multiple(struct elements *w, struct node number, struct node e)
{
    int64_t value;
    int before = w->times;
    if (!constant_value(w->f, number, &value) || value <= 1 || MAX(before, 1) % value != 0)
        return false;
    w->times = MAX(before, 1) / (int)value;
    bool ok = elements_multiple(w, e);
    w->times = before;
    return ok;
}

/* `d / 2` is one where d is a multiple of twice as many. */
static bool quotient_multiple(struct elements *w, struct node dividend, int by)
{
    int before = w->times;
    w->times = MAX(before, 1) * by;
    bool ok = w->times <= 4096 && elements_multiple(w, dividend);
    w->times = before;
    return ok;
}

bool elements_multiple(struct elements *w, struct node e)
{
    const struct function *f = w->f;
    e = node_strip(e);
    int64_t value;
    if (constant_value(f, e, &value))
        return value % multiple_of(w) == 0;
    size_t before = w->multiples.n;
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (!v)
            return false;
        if (v == w->element)
            return multiple_of(w) == w->n;
        if (v->param)
            return parameter_multiple(w, v);
        if (v->assignments || !node_ok(v->init) || v->array || w->depth == 8)
            return false;
        w->depth++;
        bool init = elements_multiple(w, v->init);
        w->depth--;
        return init;
    }
    bool ok = false;
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        const char *op = node_op(f, e);
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
        if (str_eq(op, "*"))
            ok = constant_multiple(w, left, right) || constant_multiple(w, right, left) ||
                 product_multiple(w, e);
        else if (str_eq(op, "+") || str_eq(op, "-") || str_eq(op, "%"))
            ok = elements_multiple(w, left) && elements_multiple(w, right);
        else if (str_eq(op, "/") && constant_value(f, right, &value) && value > 0 && value <= 64)
            ok = quotient_multiple(w, left, (int)value);
    } else if (node_is(e, NODE_CALL_EXPRESSION) && str_in(call_name(f, e), "min|max")) {
        struct node args = node_field(e, FIELD_ARGUMENTS);
        ok = node_count(args) == 2 && elements_multiple(w, node_child(args, 0)) &&
             elements_multiple(w, node_child(args, 1));
    } else if (node_is(e, NODE_CONDITIONAL_EXPRESSION)) {
        ok = elements_multiple(w, node_field(e, FIELD_CONSEQUENCE)) &&
             elements_multiple(w, node_field(e, FIELD_ALTERNATIVE));
    }
    if (!ok)
        w->multiples.n = before;
    return ok;
}

bool elements_pointer_multiple(struct elements *w, struct node pointer)
{
    const struct function *f = w->f;
    for (int depth = 0; depth < 8; depth++) {
        pointer = node_is(pointer, NODE_PARENTHESIZED_EXPRESSION) ? node_child(pointer, 0) : pointer;
        if (node_is(pointer, NODE_IDENTIFIER)) {
            const struct variable *v = function_variable_of(f, pointer);
            for (; v && v->base; v = v->base)
                if (!elements_multiple(w, v->init))
                    return false;
            if (!v || !v->pointer || v->assignments)
                return false;
            if (v->param)
                return true;
            if (!node_ok(v->init))
                return false;
            pointer = v->init;
        } else if (node_is_binary(f, pointer, "+")) {
            if (!elements_multiple(w, node_field(pointer, FIELD_RIGHT)))
                return false;
            pointer = node_field(pointer, FIELD_LEFT);
        } else if (node_is_address(f, pointer)) {
            pointer = node_field(pointer, FIELD_ARGUMENT);
            struct node index = subscript_index(f, pointer);
            if (!node_ok(index) || !elements_multiple(w, index))
                return false;
            pointer = node_field(pointer, FIELD_ARGUMENT);
        } else { /* a parameter under another type: its start */
            bool named = node_is(pointer, NODE_CALL_EXPRESSION) &&
                         node_is(node_field(pointer, FIELD_FUNCTION), NODE_TEMPLATE_FUNCTION) &&
                         node_count(node_field(pointer, FIELD_ARGUMENTS)) == 1;
            struct node of = node_strip(named ? node_child(node_field(pointer, FIELD_ARGUMENTS), 0) : pointer);
            const struct variable *v = function_variable_of(f, of);
            return (named || node_is(pointer, NODE_CAST_EXPRESSION)) && v && v->param && v->pointer &&
                   !v->assignments;
        }
    }
    return false;
}
