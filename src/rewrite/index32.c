/* index32: 64-bit index arithmetic becomes 32-bit in a copy of the kernel, which the launcher takes when
 * everything fits. A 64-bit division is about a hundred instructions, a 32-bit one about twenty.
 *
 * That everything fits is shown from the bound check alone. With i < total, each expression e is given a number
 * c and a list of factors G such that e * G <= c * total: i has (1, {}); e / f adds f to G; e * f takes f out
 * of G; e % f keeps both; sums add their numbers and share their factors. Whatever cannot be shown so is left
 * alone. */
#include "rewrite/analysis.h"

struct size_of {
    bool ok;
    int64_t times;
    const char *factor[8];
    int n;
};

struct detail {
    const struct function *f;
    const struct variable *index;
    struct node total; /* the bound */
    int64_t times;
};

static bool is_wide(const char *type)
{
    return str_in(type, "int64_t|long long|size_t|uint64_t|long|unsigned long long|ptrdiff_t");
}

/* The factors of a product of names and numbers; numbers go into *number. */
static bool factors_of(const struct function *f, struct node e, const char **factor, int *n, int64_t *number)
{
    e = node_strip(e);
    int64_t value;
    if (constant_value(f, e, &value)) {
        *number *= value;
        return value > 0 && *number < 65536;
    }
    if (node_is(e, NODE_IDENTIFIER) && *n < 8) {
        factor[(*n)++] = text_of(f, e);
        return true;
    }
    return node_is_binary(f, e, "*") && factors_of(f, node_field(e, FIELD_LEFT), factor, n, number) &&
           factors_of(f, node_field(e, FIELD_RIGHT), factor, n, number);
}

static struct size_of size_of(const struct detail *d, struct node e, int depth)
{
    const struct function *f = d->f;
    struct size_of no = {0};
    e = node_strip(e);
    int64_t value;
    if (depth > 12)
        return no;
    if (constant_value(f, e, &value))
        return value >= 0 && value < 4096 ? (struct size_of){.ok = true, .times = 1} : no;
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (!v || v->pointer || v->array)
            return no;
        if (v == d->index)
            return (struct size_of){.ok = true, .times = 1};
        if (!v->param)
            return v->assignments == 0 && node_ok(v->init) ? size_of(d, v->init, depth + 1) : no;
        const char *factor[8]; /* a factor of the total is at most the total */
        int n = 0;
        int64_t number = 1;
        struct node total = node_strip(d->total);
        const struct variable *t = function_variable_of(f, total);
        if (t && t == v)
            return (struct size_of){.ok = true, .times = 1};
        if (factors_of(f, total, factor, &n, &number))
            for (int i = 0; i < n; i++)
                if (str_eq(factor[i], v->name))
                    return (struct size_of){.ok = true, .times = 1};
        return no;
    }
    if (!node_is(e, NODE_BINARY_EXPRESSION))
        return no;
    const char *op = node_op(f, e);
    struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
    if (str_eq(op, "+")) {
        struct size_of x = size_of(d, left, depth + 1), y = size_of(d, right, depth + 1);
        if (!x.ok || !y.ok)
            return no;
        struct size_of sum = {.ok = true, .times = x.times + y.times};
        for (int i = 0; i < x.n; i++)
            for (int j = 0; j < y.n; j++)
                if (str_eq(x.factor[i], y.factor[j])) {
                    sum.factor[sum.n++] = x.factor[i];
                    y.factor[j] = "";
                    break;
                }
        return sum.times < 64 ? sum : no;
    }
    if (str_eq(op, "%"))
        return size_of(d, left, depth + 1);
    if (str_eq(op, "/")) {
        struct size_of x = size_of(d, left, depth + 1);
        int64_t number = 1;
        int n = x.n;
        if (!x.ok || !factors_of(f, right, x.factor, &n, &number))
            return no;
        x.n = n;
        return x;
    }
    if (str_eq(op, "*")) {
        struct size_of x = size_of(d, left, depth + 1);
        struct node other = right;
        if (!x.ok || (x.n == 0 && x.times == 1 && !node_is(node_strip(left), NODE_BINARY_EXPRESSION))) {
            struct size_of y = size_of(d, right, depth + 1);
            if (y.ok && y.n > x.n) {
                x = y;
                other = left;
            }
        }
        const char *factor[8];
        int n = 0;
        int64_t number = 1;
        if (!x.ok || !factors_of(f, other, factor, &n, &number))
            return no;
        for (int i = 0; i < n; i++) {
            int j = 0;
            while (j < x.n && !str_eq(x.factor[j], factor[i]))
                j++;
            if (j == x.n)
                return no;
            x.factor[j] = x.factor[--x.n];
        }
        x.times *= number;
        return x.times < 64 ? x : no;
    }
    return no;
}

/* Of what ends in 32 bits anyway, 64 bits are missed by divisions and comparisons alone: all of them are of
 * what fits, by parameters, which the launcher asks for. */
static bool ends_alike(const struct detail *d, struct node e)
{
    const struct function *f = d->f;
    const char *op = node_is(e, NODE_BINARY_EXPRESSION) ? node_op(f, e) : "+";
    if (!str_in(op, "+|-|*")) {
        const char *factor[8];
        int n = 0;
        int64_t number = 1;
        return str_in(op, "/|%") && size_of(d, node_field(e, FIELD_LEFT), 0).ok &&
               factors_of(f, node_field(e, FIELD_RIGHT), factor, &n, &number) && n <= 1;
    }
    if (node_is(e, NODE_CALL_EXPRESSION) || node_is(e, NODE_CONDITIONAL_EXPRESSION))
        return false;
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!ends_alike(d, node_child(e, i)))
            return false;
    return true;
}

/* A variable of 32 bits that stays what it is. */
static bool is_narrow(const struct detail *d, struct node e, int depth)
{
    const struct variable *v = function_variable_of(d->f, node_strip(e));
    return v && !v->param && !v->assignments && !is_wide(v->type) && depth < 8 &&
           ctype_size(d->f, v->type) == 4 && node_ok(v->init) &&
           (is_narrow(d, v->init, depth + 1) || ends_alike(d, v->init));
}

static bool element_fits(struct detail *d, struct node element, struct err *why)
{
    struct reached p;
    if (!element_reached(d->f, element, &p) || !node_ok(p.index))
        return true;
    const struct variable *v = function_variable_of(d->f, p.pointer);
    if (!v || !v->pointer)
        return true; /* values.at[k] */
    struct size_of s = size_of(d, p.index, 0);
    if (!s.ok && !is_narrow(d, p.index, 0))
        return err_input(why, "the index of %s may be large", v->name);
    d->times = MAX(d->times, s.times);
    return true;
}

/* i >= total: the first comparison of the index in an if of the kernel's own statements. */
static bool find_bound(const struct function *f, struct detail *d, struct node e)
{
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        const char *op = node_op(f, e);
        struct node left = node_strip(node_field(e, FIELD_LEFT)), right = node_field(e, FIELD_RIGHT);
        if ((str_eq(op, ">=") || str_eq(op, "<")) && function_variable_of(f, left) == d->index) {
            d->total = right;
            return true;
        }
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (find_bound(f, d, node_child(e, i)))
            return true;
    return false;
}

static bool fits(const struct function *f, struct detail *d, struct err *why)
{
    d->f = f;
    size_t wide = 0;
    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables; v++) {
        struct poly p = node_ok(v->init) && ctype_is_integer(f, v->type) && !v->assignments
                            ? poly_of(f, v->init)
                            : (struct poly){0};
        if (!d->index && p.ok && poly_coefficient(&p, "threadIdx.x") >= 1 &&
            str_has_word(text_of(f, v->init), "blockIdx.x"))
            d->index = v;
        wide += is_wide(v->type);
    }
    if (!d->index || !is_wide(d->index->type) || f->n_launches == 0 || !function_may_be_copied(f))
        return err_input(why, "%s has no 64-bit index", f->name);
    for (struct node *question = nodes_of(f, f->body, NODE_IF_STATEMENT);
         node_ok(*question) && !node_ok(d->total); question++)
        find_bound(f, d, node_field(*question, FIELD_CONDITION));
    if (!node_ok(d->total))
        return err_input(why, "%s has no bound check", f->name);
    d->times = 1;
    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables; v++) {
        if (!is_wide(v->type) || v == d->index)
            continue;
        struct size_of s = node_ok(v->init) && !v->assignments ? size_of(d, v->init, 0) : (struct size_of){0};
        if (!s.ok)
            return err_input(why, "%s may be large", v->name);
        d->times = MAX(d->times, s.times);
    }
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_POINTER_EXPRESSION};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *element = nodes_of(f, f->body, kinds[k]); node_ok(*element); element++)
            if (!element_fits(d, *element, why))
                return false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_params; v++)
        if (is_wide(v->type) && !v->pointer && !launches_tell(f, v->id))
            return err_input(why, "the launcher cannot tell %s", v->name);
    return launches_tell(f, d->total) ? wide > 0 : err_input(why, "the launcher cannot tell the bound");
}

static void index32_find(struct function *f, struct site_list *found)
{
    struct detail d = {0};
    if (fits(f, &d, NULL))
        site_add(
            found, f, d.index->statement, 32,
            "64-bit index arithmetic, above all division, takes several times as many instructions as 32-bit",
            "%s and what follows from it", d.index->name)
            ->detail = arena_copy(f->a, &d, sizeof(d));
}

static void narrow_types(const struct function *f, struct node e, struct edits *edits)
{
    struct node type = node_field(e, FIELD_TYPE);
    if ((node_is(e, NODE_DECLARATION) || node_is(e, NODE_CAST_EXPRESSION)) && node_ok(type) &&
        is_wide(text_of(f, type)))
        edits_node(edits, type, "unsigned");
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        narrow_types(f, node_child(e, i), edits);
}

static bool index32_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                          struct err *why_not)
{
    const struct detail *d = site->detail;
    struct arena *a = f->a;
    struct edits inside = {.arena = a};
    narrow_types(f, f->body, &inside);
    for (size_t i = 0; i < f->n_params; i++)
        if (is_wide(f->variables[i].type) && !f->variables[i].pointer)
            edits_node(&inside, node_field(f->variables[i].statement, FIELD_TYPE), "unsigned");
    char *name = fresh_name(f, arena_printf(a, "%s_narrow", f->name));
    if (!edits_copy(edits, &inside, f, name, "with 32-bit indices", why_not))
        return false;
    int64_t most = 1 << 30;
    for (int64_t t = 1; t < d->times; t *= 2)
        most /= 2;
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        struct guard_list guard = {0};
        guard_add(a, &guard,
                  arena_printf(a, "%s <= %lld", launch_expression(f, launch, d->total), (long long)most));
        for (const struct variable *v = f->variables; v < f->variables + f->n_params; v++)
            if (is_wide(v->type) && !v->pointer && v != function_variable_of(f, node_strip(d->total)))
                guard_add(a, &guard, arena_printf(a, "%s <= %d", launch_expression(f, launch, v->id), 1 << 30));
        edits_guard_launch(edits, f, launch, "All indices fit into 32 bits, with room for the last block.",
                           guard_join(f, &guard, launch), launch_text(f, launch, name, NULL, NULL));
    }
    return true;
}

const struct transform transform_index32 = {
    .name = "index32",
    .alias = "narrow",
    .summary = "use 32-bit index arithmetic where a guard shows that it fits",
    .helps = "issue latency",
    .find = index32_find,
    .apply = index32_apply,
};
