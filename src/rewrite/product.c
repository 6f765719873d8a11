/* A launch plan as one product of matrices in numbers. The kernel is a contraction whatever its names are; what
 * its polynomials say of sizes and steps is evaluated with the arguments of the planned launch. A dimension of
 * the grid that counts neither rows nor columns counts products. */
#include "rewrite/contraction.h"

#include <ctype.h>

struct numbers { /* with which a polynomial is evaluated */
    const struct contraction *c;
    const struct plan_step *step;
    int64_t block[3]; /* blockIdx */
    bool ok;
    const char *unknown; /* the first word that has no number */
};

struct reader { /* of an atom that is more than a name */
    struct numbers *n;
    const char *at;
    int depth;
};

static int64_t unknown(struct numbers *n, const char *word)
{
    if (n->ok)
        n->unknown = word;
    n->ok = false;
    return 0;
}

static int64_t number_of_name(struct numbers *n, const char *name)
{
    static const char *const parts[] = {"blockIdx.", "gridDim.", "blockDim."};
    const struct function *f = n->c->f;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!str_starts(name, parts[i]))
            continue;
        size_t d = (size_t)(name[strlen(parts[i])] - 'x');
        if (d > 2 || name[strlen(parts[i]) + 1])
            break;
        const int64_t all[] = {n->block[d], n->step->grid[d], n->step->block[d]};
        return all[i];
    }
    const struct variable *v = function_variable(f, name, node_start(n->c->loop));
    if (!v || !v->param || v->pointer || v->index >= n->step->n_args || v->assignments)
        return unknown(n, name);
    const struct kernel_value *value = &n->step->args[v->index];
    if (value->pointer || value->struct_bytes || type_is_floating(value->type))
        return unknown(n, name);
    return value->i;
}

static int64_t read_level(struct reader *r, int level);

static int64_t read_operand(struct reader *r)
{
    const char *from = r->at;
    char *end;
    int64_t v;

    if (++r->depth > 64)
        return unknown(r->n, "an index that nests deeply");
    if (*r->at == '(') {
        r->at++;
        v = read_level(r, 0);
        if (*r->at++ != ')')
            return r->at--, unknown(r->n, from);
        return v;
    }
    if (isdigit((unsigned char)*r->at)) {
        v = strtoll(r->at, &end, 0);
        r->at = end + strspn(end, "uUlL");
        return v;
    }
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.')
        r->at++;
    if (r->at == from)
        return unknown(r->n, from);
    return number_of_name(r->n, arena_strndup(r->n->c->f->a, from, (size_t)(r->at - from)));
}

/* + and - at level 0, * / and % at level 1. */
static int64_t read_level(struct reader *r, int level)
{
    int64_t v = level ? read_operand(r) : read_level(r, 1);

    for (;;) {
        r->at += strspn(r->at, " ");
        char op = *r->at;
        if (!op || !strchr(level ? "*/%" : "+-", op))
            return v;
        r->at += 1 + strspn(r->at + 1, " ");
        int64_t right = level ? read_operand(r) : read_level(r, 1);
        if (strchr("/%", op) && right == 0)
            return unknown(r->n, "a division by 0");
        bool bad = false;
        if (op == '*')
            bad = __builtin_mul_overflow(v, right, &v);
        else if (op == '/')
            v /= right;
        else if (op == '%')
            v %= right;
        else
            bad = op == '+' ? __builtin_add_overflow(v, right, &v) : __builtin_sub_overflow(v, right, &v);
        if (bad)
            return unknown(r->n, "a number beyond 64 bits");
    }
}

static int64_t number_of_atom(struct numbers *n, const char *atom)
{
    struct reader r = {.n = n, .at = atom};
    int64_t v = read_level(&r, 0);

    return *r.at ? unknown(n, atom) : v;
}

static int64_t number_of(struct numbers *n, const struct poly *p)
{
    int64_t sum = 0;

    if (!p->ok)
        return unknown(n, "an index that is no polynomial");
    for (int i = 0; i < p->n; i++) {
        int64_t one = p->t[i].by;
        for (int k = 0; k < p->t[i].n; k++)
            if (__builtin_mul_overflow(one, number_of_atom(n, p->t[i].atom[k]), &one))
                return unknown(n, "a number beyond 64 bits");
        if (__builtin_add_overflow(sum, one, &sum))
            return unknown(n, "a number beyond 64 bits");
    }
    return sum;
}

/* ---- matrices ---- */

/* The first element of a product's operand, in elements from where the argument points. */
static int64_t start_of(struct numbers *n, const struct contraction_operand *o, const struct variable **root)
{
    const struct function *f = n->c->f;
    const struct variable *v = function_variable(f, o->root, node_start(n->c->loop));
    struct poly index = o->start;

    *root = v;
    if (!v ||
        (!v->param && (!node_ok(v->init) || v->base || !contraction_root(f, NULL, 0, v->init, root, &index))))
        return unknown(n, o->root);
    return number_of(n, &index);
}

static bool matrix_of(struct numbers *n, const struct contraction_operand *o, int dimension, int64_t batch,
                      struct product_matrix *to)
{
    const struct variable *root;
    int64_t first = start_of(n, o, &root), size = ctype_size(n->c->f, o->type);

    if (!n->ok || root->index >= n->step->n_args || size <= 0)
        return false;
    const struct kernel_value *value = &n->step->args[root->index];
    *to = (struct product_matrix){.buffer = value->p.buffer,
                                  .type = o->type,
                                  .start_bytes = value->p.offset_bytes + first * size,
                                  .step = {number_of(n, &o->step), number_of(n, &o->deep_step)}};
    for (int64_t i = 1; i < batch && n->ok; i++) {
        n->block[dimension] = i;
        int64_t from = start_of(n, o, &root) - first;
        if (i == 1)
            to->batch_step = from;
        if (from != i * to->batch_step || number_of(n, &o->step) != to->step[0] ||
            number_of(n, &o->deep_step) != to->step[1])
            unknown(n, "products that do not lie at one distance");
    }
    n->block[dimension] = 0;
    return n->ok && value->pointer && value->p.buffer >= 0;
}

static void turn(struct product_matrix *m)
{
    int64_t down = m->step[0];

    m->step[0] = m->step[1];
    m->step[1] = down;
}

/* ---- what is more than the product ---- */

static struct node unconverted(const struct function *f, struct node e)
{
    for (int depth = 0; depth < 8; depth++) {
        e = node_strip(e);
        struct node args = node_field(e, FIELD_ARGUMENTS);
        if (!node_is(e, NODE_CALL_EXPRESSION) || node_count(args) != 1 ||
            !str_in(call_name(f, e),
                    "__float2half|__float2half_rn|__float2bfloat16|__float2bfloat16_rn|__half|half|"
                    "__nv_bfloat16|nv_bfloat16|static_cast|float|double|int"))
            return e;
        e = node_child(args, 0);
    }
    return e;
}

static bool is_zero(const struct function *f, struct node e)
{
    const char *text = text_of(f, unconverted(f, e));
    char *end;
    double v = strtod(text, &end);

    return end > text && v == 0 && !end[strspn(end, "fF")];
}

/* A number that is written down, or that the launch gives a parameter. */
static bool factor_of(const struct numbers *n, struct node e, double *value)
{
    const struct function *f = n->c->f;
    const struct variable *v = function_variable_of(f, e);
    const char *text = text_of(f, e);
    char *end;

    *value = strtod(text, &end);
    if (!v)
        return node_is(e, NODE_NUMBER_LITERAL) && !end[strspn(end, "fF")];
    if (!v->param || v->pointer || v->assignments || v->index >= n->step->n_args)
        return false;
    const struct kernel_value *given = &n->step->args[v->index];
    *value = type_is_floating(given->type) ? given->f : (double)given->i;
    return !given->pointer && !given->struct_bytes;
}

/* The sum itself, or it times a number, which a library multiplies too. */
static bool is_scaled(const struct numbers *n, struct node value, double *scale)
{
    const struct function *f = n->c->f;

    *scale = 1;
    if (function_variable_of(f, value) == n->c->sum)
        return true;
    if (!node_is_binary(f, value, "*") || !ctype_is_float(n->c->sum_type))
        return false;
    struct node left = unconverted(f, node_field(value, FIELD_LEFT)),
                right = unconverted(f, node_field(value, FIELD_RIGHT));
    bool first = function_variable_of(f, left) == n->c->sum;
    return (first || function_variable_of(f, right) == n->c->sum) && factor_of(n, first ? right : left, scale);
}

static const char *left_out(const struct numbers *n, double *scale)
{
    const struct contraction *c = n->c;
    const struct function *f = c->f;
    struct node stored = statement_expression(c->epilogue_last);
    struct node value = unconverted(f, node_field(stored, FIELD_RIGHT));

    *scale = 1;
    if (!is_zero(f, c->sum->init))
        return "the value that the sum begins with";
    if (node_same(c->epilogue_first, c->epilogue_last) && is_scaled(n, value, scale))
        return NULL;
    *scale = 1;
    return "what the kernel does with the sum before it stores it";
}

/* ---- the plan ---- */

static int64_t extent(struct numbers *n, const struct contraction_axis *axis)
{
    if (!node_ok(axis->bounds[0]))
        return (int64_t)n->step->grid[axis->dimension] * n->step->block[axis->dimension];
    return number_of(n, &axis->bound);
}

/* The dimension of the grid that counts products; 2 where there is one. False: two do. */
static bool batch_of(const struct contraction *c, const struct plan_step *step, int *dimension)
{
    bool y = !c->taken[1] && step->grid[1] > 1, z = step->grid[2] > 1;

    *dimension = y ? 1 : 2;
    return !(y && z);
}

static bool take(const struct contraction *c, const struct plan_step *step, struct product *p, struct err *why)
{
    struct numbers n = {.c = c, .step = step, .ok = true};
    struct poly depth = poly_of(c->f, c->depth);
    int dimension;

    if (c->term)
        return err_input(why, "what %s adds up are no products", c->f->name);
    if (!c->is_stored)
        return err_input(
            why, "the last statement of %s does not assign each result to a place of its own in one matrix",
            c->f->name);
    if (!batch_of(c, step, &dimension))
        return err_input(why, "products of %s are counted along two dimensions of the grid", c->f->name);
    *p = (struct product){.m = extent(&n, &c->row),
                          .n = c->vector ? 1 : extent(&n, &c->col),
                          .k = number_of(&n, &depth),
                          .batch = step->grid[dimension],
                          .sum_type = c->sum_type};
    p->left_out = left_out(&n, &p->scale);
    bool ok = n.ok && matrix_of(&n, &c->x, dimension, p->batch, &p->a) &&
              matrix_of(&n, &c->y, dimension, p->batch, &p->b) &&
              matrix_of(&n, &c->out, dimension, p->batch, &p->c);
    if (!ok)
        return err_input(why, "where the matrices of %s lie is not known before it runs (%s)", c->f->name,
                         n.ok ? "a workspace" : n.unknown);
    turn(&p->b); /* its elements are (col, deep) */
    return (p->m > 0 && p->n > 0 && p->k > 0) || err_input(why, "%s multiplies nothing", c->f->name);
}

bool product_of_plan(const struct kernel *k, const struct kernel_limits *limits, const struct plan *plan,
                     struct arena *a, struct product *p, struct err *why)
{
    const struct transform_input in = {.kernel = k, .limits = limits, .plans = plan, .n_plans = 1};
    struct contraction c;

    if (plan->n_steps != 1 || plan->steps[0].kind != PLAN_LAUNCH)
        return err_input(why, "the launcher does more than launch one kernel once");
    for (size_t i = 0; i < k->n_functions; i++) {
        struct function *f = function_open_kernel(&in, a, i);
        if (f)
            return contraction_of(f, &c, why) && take(&c, &plan->steps[0], p, why);
    }
    return err_input(why, "%s is not understood", plan->steps[0].kernel);
}
