/* fast-division: whole numbers that all threads divide by become a multiplication and a shift, whose numbers
 * the launcher computes once. A division of 32 bits is some twenty instructions.
 *
 * The quotient is that of x * (2^(31 + s) / d + 1) by 2^(31 + s), 2^s the first power of two that is not below
 * d: right for 0 <= x < 2^31 (Granlund and Montgomery, Division by Invariant Integers using Multiplication,
 * 1994, theorem 4.2). So it is shown of what is divided that it is no less than 0, and of what divides that it
 * is no less than 1, from the places of threads, sizes and what the kernel makes of them. */
#include "rewrite/analysis.h"

#include <ctype.h>

enum { DEEPEST = 12, DIVISORS = 8 };

struct division {
    struct node whole, left, right;
    bool rest, assigns; /* x % d; x /= d */
    size_t divisor;     /* number of the right side among those found */
};

struct bounds { /* who asks for the least that an expression can be */
    const struct function *f;
    const struct launch *launch;    /* NULL: in the kernel */
    const struct variable *assumed; /* holds before, and what is assigned is asked */
};

static bool at_least(const struct bounds *b, struct node e, int64_t least, int depth);

static bool is_int(const struct function *f, const char *type)
{
    return type && str_in(ctype_bound(f, type), "int|int32_t|signed int|signed");
}

static bool is_unsigned(const struct function *f, const char *type)
{
    return type && str_in(ctype_bound(f, type), "unsigned|unsigned int|uint32_t|uint");
}

static bool is_place(const struct function *f, struct node e)
{
    return node_is(e, NODE_FIELD_EXPRESSION) &&
           str_in(text_of(f, node_field(e, FIELD_ARGUMENT)), "threadIdx|blockIdx|blockDim|gridDim");
}

/* What the name's parent makes of it: read, or assigned what is no less, or anything. */
static bool use_keeps(const struct bounds *b, struct node name, int64_t least, int depth)
{
    const struct function *f = b->f;
    struct node up = node_parent(name);
    if (node_is(up, NODE_UPDATE_EXPRESSION))
        return str_eq(node_op(f, up), "++");
    if (node_is_address(f, up))
        return false;
    if (!node_is(up, NODE_ASSIGNMENT_EXPRESSION) || !node_same(node_field(up, FIELD_LEFT), name))
        return true;
    const char *op = node_op(f, up);
    struct node right = node_field(up, FIELD_RIGHT);
    if (str_in(op, "/=|%=|>>=|&=|*="))
        return least == 0 && at_least(b, right, 0, depth + 1);
    return str_in(op, "=|+=") && at_least(b, right, str_eq(op, "=") ? least : 0, depth + 1);
}

static bool name_at_least(const struct bounds *b, struct node e, int64_t least, int depth)
{
    const struct function *f = b->f;
    const struct variable *v = function_variable_of(f, e);
    if (!v || v->pointer || v->array || !(is_int(f, v->type) || is_unsigned(f, v->type)))
        return false;
    if (v == b->assumed)
        return true;
    if (v->param) {
        for (size_t l = 0; l < f->n_launches; l++)
            if (!at_least(&(struct bounds){f, &f->launches[l], NULL}, launch_arg(f, &f->launches[l], v), least,
                          depth + 1))
                return false;
    } else if (!node_ok(v->init) || !at_least(b, v->init, least, depth + 1)) {
        return false;
    }
    struct bounds inside = {f, NULL, v};
    size_t n = 0;
    struct node *names = v->assignments ? variable_names(f, v, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (!node_same(names[i], v->id) && !use_keeps(&inside, names[i], least, depth))
            return false;
    return true;
}

static bool host_name_at_least(const struct bounds *b, struct node e, int64_t least, int depth)
{
    const struct transform_fact *fact = fact_of(b->f->in, text_of(b->f, e));
    if (fact)
        return fact->low >= least;
    struct node value = host_value(b->f, b->launch, e);
    return node_ok(value) && !node_same(value, e) && at_least(b, value, least, depth + 1);
}

/* x - r, r being x % d. */
static bool takes_rest(const struct function *f, struct node left, struct node right)
{
    const struct variable *v = function_variable_of(f, node_strip(right));
    struct node rest = v && !v->assignments ? node_strip(v->init) : node_strip(right);
    return node_ok(rest) && node_is_binary(f, rest, "%") &&
           str_eq(text_of(f, node_strip(node_field(rest, FIELD_LEFT))), text_of(f, node_strip(left)));
}

static bool operation_at_least(const struct bounds *b, struct node e, int64_t least, int depth)
{
    const char *op = node_op(b->f, e);
    struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
    if (str_eq(op, "*"))
        return at_least(b, left, least, depth + 1) && at_least(b, right, least, depth + 1);
    if (str_eq(op, "+"))
        return (at_least(b, left, least, depth + 1) && at_least(b, right, 0, depth + 1)) ||
               (least > 0 && at_least(b, left, 0, depth + 1) && at_least(b, right, least, depth + 1));
    if (str_eq(op, "-"))
        return least == 0 && takes_rest(b->f, left, right) && at_least(b, left, 0, depth + 1);
    return least == 0 && str_in(op, "/|%|>>|&") && at_least(b, left, 0, depth + 1) &&
           at_least(b, right, 0, depth + 1);
}

static bool at_least(const struct bounds *b, struct node e, int64_t least, int depth)
{
    const struct function *f = b->f;
    int64_t value;
    e = node_strip(e);
    if (!node_ok(e) || depth > DEEPEST)
        return false;
    if (constant_value(f, e, &value))
        return value >= least;
    if (node_is(e, NODE_IDENTIFIER))
        return b->launch ? host_name_at_least(b, e, least, depth) : name_at_least(b, e, least, depth);
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION))
        return at_least(b, node_field(e, FIELD_CONSEQUENCE), least, depth + 1) &&
               at_least(b, node_field(e, FIELD_ALTERNATIVE), least, depth + 1);
    if (node_is(e, NODE_BINARY_EXPRESSION))
        return operation_at_least(b, e, least, depth);
    return !b->launch && is_place(f, e) &&
           least <= (str_ends(text_of(f, node_field(e, FIELD_ARGUMENT)), "Dim"));
}

/* Is it made of what stays as the kernel was given it? */
static bool is_given(const struct function *f, struct node right, int depth)
{
    for (struct node *name = nodes_of(f, right, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && (v->assignments || depth > DEEPEST || (node_ok(v->init) && !is_given(f, v->init, depth + 1))))
            return false;
    }
    return true;
}

static bool division_of(const struct function *f, struct node e, struct division *d)
{
    const char *op = node_op(f, e);
    *d = (struct division){.whole = e, .left = node_field(e, FIELD_LEFT), .right = node_field(e, FIELD_RIGHT)};
    d->assigns = node_is(e, NODE_ASSIGNMENT_EXPRESSION);
    d->rest = str_starts(op, "%");
    if (!str_in(op, d->assigns ? "/=|%=" : "/|%"))
        return false;
    int64_t value;
    struct bounds b = {f, NULL, NULL};
    const char *type = expression_type(f, d->left), *by = expression_type(f, d->right);
    bool fits = is_unsigned(f, type) ? is_unsigned(f, by) || is_int(f, by)
                                     : is_int(f, type) && is_int(f, by) && at_least(&b, d->left, 0, 0);
    return fits && !constant_value(f, d->right, &value) && is_given(f, d->right, 0) &&
           launches_tell(f, d->right) && at_least(&b, d->right, 1, 0);
}

struct found_divisions {
    struct division list[64]; /* those around others before these */
    const char *divisor[DIVISORS];
    struct node right[DIVISORS];
    size_t n, n_divisors;
};

static size_t divisor_number(const struct function *f, struct found_divisions *all, struct node right)
{
    const char *text = text_compact(f->a, text_of(f, node_strip(right)));
    size_t k = 0;
    while (k < all->n_divisors && !str_eq(all->divisor[k], text))
        k++;
    if (k == all->n_divisors && k < DIVISORS) {
        all->right[k] = right;
        all->divisor[all->n_divisors++] = text;
    }
    return k;
}

static void find_divisions(const struct function *f, struct node n, struct found_divisions *all)
{
    struct division d;
    if ((node_is(n, NODE_BINARY_EXPRESSION) || node_is(n, NODE_ASSIGNMENT_EXPRESSION)) &&
        division_of(f, n, &d) && all->n < ARRAY_LEN(all->list)) {
        d.divisor = divisor_number(f, all, d.right);
        if (d.divisor < DIVISORS)
            all->list[all->n++] = d;
    }
    for (uint32_t i = 0, count = node_count(n); i < count; i++)
        find_divisions(f, node_child(n, i), all);
}

/* Its parameters change: nothing but its launches, which come after it, may call it. */
static bool may_change(const struct function *f)
{
    for (size_t l = 0; l < f->n_launches; l++)
        if (f->launches[l].n_args != f->n_params || node_start(f->launches[l].call) < node_start(f->definition))
            return false;
    return f->n_launches > 0 && f->n_params > 0 && !f->special && !function_is_named_elsewhere(f) &&
           !function_is_specialised(f, f->name) && !function_has_prototype(f);
}

static void division_find(struct function *f, struct site_list *found)
{
    struct found_divisions all = {0};
    if (!may_change(f))
        return;
    find_divisions(f, f->body, &all);
    if (all.n > 0)
        site_add(
            found, f, all.list[0].whole, 0,
            "a division of whole numbers is about twenty instructions; by a number that is known before, four",
            "%zu division%s by %s%s", all.n, all.n == 1 ? "" : "s", all.divisor[0],
            all.n_divisors > 1 ? " and others" : "");
}

/* "by_rows_cols" of "rows*cols". */
static const char *divisor_name(struct arena *a, const char *text)
{
    char *name = arena_printf(a, "by_%.24s", text);
    for (char *p = name; *p; p++)
        *p = isalnum((unsigned char)*p) ? *p : '_';
    return name;
}

static bool division_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                           struct err *why_not)
{
    struct found_divisions all = {0};
    struct arena *a = f->a;
    const char *name[DIVISORS];
    const char **params = arena_array(a, const char *, f->n_params + DIVISORS);
    size_t n = 0;
    (void)site;

    find_divisions(f, f->body, &all);
    if (all.n == 0 || !may_change(f))
        return err_input(why_not, "%s divides by nothing that its launches know", f->name);
    for (; n < f->n_params; n++)
        params[n] = text_of(f, f->variables[n].statement);
    for (size_t k = 0; k < all.n_divisors; k++) {
        name[k] = fresh_local(f, divisor_name(a, all.divisor[k]));
        for (size_t j = 0; j < k; j++)
            if (str_eq(name[j], name[k]))
                name[k] = arena_printf(a, "%s%zu", name[k], k);
        params[n++] = arena_printf(a, "const fast_divisor %s", name[k]);
    }
    edits_parameters(edits, f, params, n, 0);
    for (size_t i = 0; i < all.n; i++) {
        const struct division *d = &all.list[i];
        const char *call = d->rest ? "fast_remainder" : "fast_quotient", *by = name[d->divisor];
        if (d->assigns) {
            edits_try(edits, node_end(d->left), node_end(d->whole),
                      arena_printf(a, " = %s(%s, %s)", call, text_of(f, d->left), by));
            continue;
        }
        edits_at(edits, node_start(d->whole), arena_printf(a, "%s(", call));
        edits_try(edits, node_end(d->left), node_end(d->whole), arena_printf(a, ", %s)", by));
    }
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        struct str more = {0};
        for (size_t k = 0; k < all.n_divisors; k++)
            str_addf(&more, ", fast_divisor_of(%s)", launch_expression(f, l, node_strip(all.right[k])));
        edits_at(edits, node_end(l->args[l->n_args - 1]), arena_printf(a, "%s", str_text(&more)));
        str_free(&more);
    }
    edits_helper(edits, f, share_text("cuda/rewrite/divisor.cuh"));
    return true;
}

const struct transform transform_fast_division = {
    .name = "fast-division",
    .summary = "divide whole numbers by what all threads divide by with a multiplication and a shift",
    .helps = "issue latency",
    .find = division_find,
    .apply = division_apply,
};
