/* Places in the grid: an index along each dimension, and what is divided from it. */
#include "rewrite/gathering.h"

/* ---- products ---- */

static void factor_add(const struct function *f, struct grid_product *p, struct node e, int depth)
{
    const struct variable *v;
    int64_t value;

    e = node_strip(e);
    if (constant_value(f, e, &value)) {
        p->ok = p->ok && !__builtin_mul_overflow(p->by, value, &p->by) && p->by > 0;
        return;
    }
    if (node_is_binary(f, e, "*")) {
        factor_add(f, p, node_field(e, FIELD_LEFT), depth);
        factor_add(f, p, node_field(e, FIELD_RIGHT), depth);
        return;
    }
    v = function_variable_of(f, e);
    struct node init =
        v && !v->param && !v->assignments && !v->array && !v->pointer ? node_strip(v->init) : (struct node){0};
    if (depth < 8 && node_ok(init) && (node_is(init, NODE_IDENTIFIER) || node_is_binary(f, init, "*"))) {
        factor_add(f, p, init, depth + 1);
        return;
    }
    p->ok = p->ok && p->n < (int)ARRAY_LEN(p->factor);
    if (p->ok) {
        p->factor[p->n] = e;
        p->text[p->n++] = text_compact(f->a, text_of(f, e));
    }
}

struct grid_product grid_product_of(const struct function *f, struct node e)
{
    struct grid_product p = {.ok = node_ok(e), .by = 1};

    factor_add(f, &p, e, 0);
    return p;
}

static struct grid_product times(struct grid_product x, const struct grid_product *y)
{
    x.ok =
        x.ok && y->ok && x.n + y->n <= (int)ARRAY_LEN(x.factor) && !__builtin_mul_overflow(x.by, y->by, &x.by);
    for (int i = 0; i < y->n && x.ok; i++) {
        x.factor[x.n] = y->factor[i];
        x.text[x.n++] = y->text[i];
    }
    return x;
}

struct grid_product grid_product_divided(const struct grid_product *x, const struct grid_product *y)
{
    struct grid_product p = *x;

    p.ok = x->ok && y->ok && x->by % y->by == 0;
    p.by = p.ok ? x->by / y->by : 1;
    for (int i = 0; i < y->n && p.ok; i++) {
        int at = 0;
        while (at < p.n && !str_eq(p.text[at], y->text[i]))
            at++;
        p.ok = at < p.n;
        if (p.ok) {
            p.n--;
            p.factor[at] = p.factor[p.n];
            p.text[at] = p.text[p.n];
        }
    }
    return p;
}

static bool product_same(const struct grid_product *x, const struct grid_product *y)
{
    struct grid_product p = grid_product_divided(x, y);

    return p.ok && p.by == 1 && p.n == 0;
}

/* ---- values ---- */

static struct grid_value divided(struct grid_value v, const struct grid_product *by)
{
    v.by = times(v.by, by);
    if (!v.whole)
        v.modulus = grid_product_divided(&v.modulus, by);
    v.ok = v.ok && v.by.ok && (v.whole || v.modulus.ok);
    return v;
}

static struct grid_value remainder_of(struct grid_value v, const struct grid_product *by)
{
    v.ok = v.ok && by->ok && (v.whole || grid_product_divided(&v.modulus, by).ok);
    v.whole = false;
    v.modulus = *by;
    return v;
}

static struct grid_value value_of(const struct gathering *g, struct node e);

/* v - (v / by) * by */
static struct grid_value less(const struct gathering *g, struct grid_value v, struct node e)
{
    const struct function *f = g->c->f;
    struct node side[2];

    e = node_strip(e);
    side[0] = node_field(e, FIELD_LEFT);
    side[1] = node_field(e, FIELD_RIGHT);
    for (int i = 0; i < 2 && node_is_binary(f, e, "*"); i++) {
        struct grid_value top = value_of(g, side[i]);
        struct grid_product by = grid_product_of(f, side[!i]);
        struct grid_value want = divided(v, &by);
        if (top.ok && want.ok && top.dimension == v.dimension && top.whole == want.whole &&
            product_same(&top.by, &want.by) && (top.whole || product_same(&top.modulus, &want.modulus)))
            return remainder_of(v, &by);
    }
    return (struct grid_value){0};
}

static struct grid_value value_of(const struct gathering *g, struct node e)
{
    const struct function *f = g->c->f;
    const struct variable *v;

    e = node_strip(e);
    v = function_variable_of(f, e);
    if (v)
        return g->values[v - f->variables];
    struct poly whole = poly_of(f, e);
    for (int d = 0; d < 3; d++)
        if (contraction_counts_grid(f, &whole, d))
            return (struct grid_value){.ok = true, .whole = true, .dimension = d, .by = {.ok = true, .by = 1}};
    if (!node_is(e, NODE_BINARY_EXPRESSION) || !str_in(node_op(f, e), "/|%|-"))
        return (struct grid_value){0};
    struct grid_value left = value_of(g, node_field(e, FIELD_LEFT));
    if (!left.ok)
        return left;
    struct grid_product right = grid_product_of(f, node_field(e, FIELD_RIGHT));
    if (str_eq(node_op(f, e), "/"))
        return divided(left, &right);
    return str_eq(node_op(f, e), "%") ? remainder_of(left, &right) : less(g, left, node_field(e, FIELD_RIGHT));
}

/* `place /= n;` and its like, of what a declaration began */
static bool moves(struct gathering *g, struct node statement)
{
    const struct function *f = g->c->f;
    struct node e = statement_expression(statement);
    const struct variable *v = function_variable_of(f, assigned_target(e));
    struct grid_value *value = v ? &g->values[v - f->variables] : NULL;

    if (!value || !value->ok || !node_is(e, NODE_ASSIGNMENT_EXPRESSION))
        return false;
    struct node right = node_field(e, FIELD_RIGHT);
    struct grid_product by = grid_product_of(f, right);
    const char *op = node_op(f, e);
    if (str_eq(op, "="))
        *value = value_of(g, right);
    else if (str_eq(op, "/="))
        *value = divided(*value, &by);
    else if (str_eq(op, "%="))
        *value = remainder_of(*value, &by);
    else if (str_eq(op, "-="))
        *value = less(g, *value, right);
    else
        return false;
    return value->ok;
}

/* ---- digits ---- */

/* The variable for the digit that begins at `by`: that of the smallest modulus, or one without. */
static const struct variable *digit_at(const struct gathering *g, int dimension, const struct grid_product *by)
{
    const struct function *f = g->c->f;
    const struct variable *best = NULL;

    for (size_t i = 0; i < f->n_variables; i++) {
        const struct grid_value *v = &g->values[i], *b = best ? &g->values[best - f->variables] : NULL;
        if (!v->ok || v->dimension != dimension || !product_same(&v->by, by))
            continue;
        bool smaller = !b || (b->whole && !v->whole) ||
                       (!b->whole && !v->whole && grid_product_divided(&b->modulus, &v->modulus).ok &&
                        !product_same(&b->modulus, &v->modulus));
        if (smaller)
            best = &f->variables[i];
    }
    return best;
}

static bool digits_of(struct gathering *g, int dimension)
{
    const struct function *f = g->c->f;
    struct grid_product by = {.ok = true, .by = 1};
    bool any = false;

    for (size_t i = 0; i < f->n_variables; i++)
        any = any || (g->values[i].ok && g->values[i].dimension == dimension);
    while (any) {
        const struct variable *v = digit_at(g, dimension, &by);
        struct grid_digit *digit = &g->digits[g->n_digits];
        if (!v && g->n_digits > 0 &&
            node_ok(g->ends[dimension])) { /* the last one has all that are asked for */
            struct grid_product end = grid_product_of(f, g->ends[dimension]);
            return g->ended[dimension].by.n == 0 && g->ended[dimension].by.by == 1 && product_same(&end, &by);
        }
        if (!v || g->n_digits == GATHERED_DIGITS)
            return false;
        *digit = (struct grid_digit){v, g->values[v - f->variables]};
        g->n_digits++;
        if (digit->value.whole)
            return true;
        by = times(by, &digit->value.modulus);
        if (!by.ok)
            return false;
    }
    return true;
}

/* Which digits is a value made of? */
static uint64_t mask_of(const struct gathering *g, const struct grid_value *v)
{
    uint64_t mask = 0;

    for (int i = 0; i < g->n_digits; i++) {
        const struct grid_value *d = &g->digits[i].value;
        if (d->dimension != v->dimension || !grid_product_divided(&d->by, &v->by).ok)
            continue;
        struct grid_product end = times(v->by, &v->modulus);
        struct grid_product most = d->whole ? d->by : times(d->by, &d->modulus);
        if (v->whole || (!d->whole && grid_product_divided(&end, &most).ok))
            mask |= 1ull << i;
    }
    return mask;
}

static bool take_ends(struct gathering *g, struct contraction_parse *p)
{
    const struct function *f = g->c->f;

    for (size_t i = 0; i < p->bounds.n; i++) {
        struct node index, end;
        if (!contraction_comparison(f, p->bounds.v[i], p->negated.v[i], &index, &end))
            return false;
        struct grid_value v = value_of(g, index);
        const struct variable *named = function_variable_of(f, index);
        if (!v.ok || !v.whole || node_ok(g->ends[v.dimension]) || (named && named->assignments))
            return false;
        g->ends[v.dimension] = end;
        g->ended[v.dimension] = v;
    }
    return true;
}

bool gathering_places(struct gathering *g, struct contraction_parse *p)
{
    const struct function *f = g->c->f;

    g->values = arena_array(f->a, struct grid_value, f->n_variables);
    g->needs = arena_array(f->a, uint64_t, f->n_variables);
    for (size_t i = 0; i < p->before.n; i++) {
        struct node s = p->before.v[i];
        for (size_t k = 0; k < f->n_variables; k++) {
            const struct variable *v = &f->variables[k];
            if (node_same(v->statement, s) && !v->pointer && !v->array && !v->shared && node_ok(v->init) &&
                ctype_is_integer(f, v->type))
                g->values[k] = value_of(g, v->init);
        }
        if (!node_is(s, NODE_DECLARATION) && !node_is(s, NODE_PREPROC_CALL) && !moves(g, s))
            return err_input(p->why, "%s changes what belongs to one result before its loop", f->name);
    }
    if (!take_ends(g, p))
        return err_input(p->why, "a condition of %s is no end of its grid", f->name);
    for (int d = 0; d < 3; d++)
        if (!digits_of(g, d))
            return err_input(p->why, "%s takes its index apart otherwise than into places", f->name);
    for (size_t i = 0; i < f->n_variables; i++)
        if (g->values[i].ok)
            g->needs[i] = mask_of(g, &g->values[i]);
    return g->n_digits > 1 || err_input(p->why, "%s has no row and column", f->name);
}
