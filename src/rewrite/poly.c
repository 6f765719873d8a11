/* Index expressions as sums of products. */
#include "rewrite/analysis.h"

struct poly poly_number(int64_t v)
{
    struct poly p = {.ok = true};
    if (v != 0)
        p.t[p.n++] = (struct term){.by = v};
    return p;
}

struct poly poly_atom(const struct function *f, const char *atom)
{
    if (f->block_x && str_eq(atom, "blockDim.x"))
        return poly_number(f->block_x);
    struct poly p = {.ok = true, .n = 1};
    p.t[0] = (struct term){.by = 1, .n = 1, .atom = {atom}};
    return p;
}

static bool term_alike(const struct term *x, const struct term *y)
{
    if (x->n != y->n)
        return false;
    for (int i = 0; i < x->n; i++)
        if (!str_eq(x->atom[i], y->atom[i]))
            return false;
    return true;
}

struct poly poly_add(const struct function *f, struct poly x, struct poly y, int64_t by)
{
    (void)f;
    x.ok = x.ok && y.ok;
    for (int i = 0; i < y.n && x.ok; i++) {
        int j = 0;
        while (j < x.n && !term_alike(&x.t[j], &y.t[i]))
            j++;
        int64_t add;
        if (__builtin_mul_overflow(y.t[i].by, by, &add)) {
            x.ok = false;
        } else if (j < x.n) {
            if (__builtin_add_overflow(x.t[j].by, add, &x.t[j].by))
                x.ok = false;
            else if (x.t[j].by == 0)
                x.t[j] = x.t[--x.n];
        } else if (x.n == (int)ARRAY_LEN(x.t)) {
            x.ok = false;
        } else {
            x.t[x.n] = y.t[i];
            x.t[x.n++].by = add;
        }
    }
    return x;
}

struct poly poly_mul(const struct function *f, struct poly x, struct poly y)
{
    struct poly p = {.ok = x.ok && y.ok};
    for (int i = 0; i < x.n && p.ok; i++) {
        for (int j = 0; j < y.n && p.ok; j++) {
            struct term t = x.t[i];
            if (__builtin_mul_overflow(t.by, y.t[j].by, &t.by) || t.n + y.t[j].n > (int)ARRAY_LEN(t.atom)) {
                p.ok = false;
                break;
            }
            for (int k = 0; k < y.t[j].n; k++) { /* keeps them sorted */
                int at = t.n++;
                while (at > 0 && strcmp(t.atom[at - 1], y.t[j].atom[k]) > 0) {
                    t.atom[at] = t.atom[at - 1];
                    at--;
                }
                t.atom[at] = y.t[j].atom[k];
            }
            struct poly one = {.ok = true, .n = 1};
            one.t[0] = t;
            p = poly_add(f, p, one, 1);
        }
    }
    return p;
}

bool poly_same(const struct poly *x, const struct poly *y)
{
    if (!x->ok || !y->ok || x->n != y->n)
        return false;
    for (int i = 0; i < x->n; i++) {
        int j = 0;
        while (j < y->n && !(term_alike(&x->t[i], &y->t[j]) && x->t[i].by == y->t[j].by))
            j++;
        if (j == y->n)
            return false;
    }
    return true;
}

bool poly_says(const struct poly *p, const char *word)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->t[i].n; k++)
            if (str_has_word(p->t[i].atom[k], word))
                return true;
    return false;
}

int64_t poly_coefficient(const struct poly *p, const char *atom)
{
    for (int i = 0; i < p->n; i++)
        if (p->t[i].n == 1 && str_eq(p->t[i].atom[0], atom))
            return p->t[i].by;
    return 0;
}

/* The place of a thread among 32 neighbours: threadIdx.x % 32, or its rank in a group of 32. */
static bool is_lane(const struct function *f, struct node e)
{
    int64_t value;
    if (node_is(e, NODE_CALL_EXPRESSION))
        return group_method(f, e, "thread_rank");
    if (!node_is(e, NODE_BINARY_EXPRESSION) || !constant_value(f, node_field(e, FIELD_RIGHT), &value))
        return false;
    const char *op = node_op(f, e);
    return ((str_eq(op, "%") && value == 32) || (str_eq(op, "&") && value == 31)) &&
           poly_is_thread(f, node_field(e, FIELD_LEFT));
}

bool poly_is_block(const struct function *f, struct node name)
{
    size_t position;
    bool all = f->n_launches > 0 && node_is(name, NODE_IDENTIFIER) && !function_variable_of(f, name) &&
               ctype_is_parameter(f, text_of(f, name), &position);

    for (size_t l = 0; l < f->n_launches && all; l++)
        all = launch_gives_block(f, &f->launches[l], text_of(f, name));
    return all;
}

static struct poly poly_depth(const struct function *f, struct node e, int depth)
{
    struct poly bad = {0};
    e = node_strip(e);
    if (!node_ok(e) || depth > 16)
        return bad;
    int64_t value;
    if (constant_value(f, e, &value))
        return poly_number(value);
    if (is_lane(f, e))
        return poly_atom(f, POLY_LANE);
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->param && !v->array && !v->pointer && v->assignments == 0 && node_ok(v->init) &&
            ctype_is_integer(f, v->type)) {
            struct poly p = poly_depth(f, v->init, depth + 1);
            if (p.ok)
                return p;
        }
        return poly_atom(f, poly_is_block(f, e) ? "blockDim.x" : text_of(f, e));
    }
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        const char *op = node_op(f, e);
        bool add = str_eq(op, "+"), sub = str_eq(op, "-"), mul = str_eq(op, "*");
        if (add || sub || mul) {
            struct poly x = poly_depth(f, node_field(e, FIELD_LEFT), depth + 1);
            struct poly y = poly_depth(f, node_field(e, FIELD_RIGHT), depth + 1);
            if (!x.ok || !y.ok)
                return bad;
            if (mul)
                return poly_mul(f, x, y);
            return poly_add(f, x, y, add ? 1 : -1);
        }
    }
    if (node_is(e, NODE_UNARY_EXPRESSION) && str_eq(node_op(f, e), "-"))
        return poly_add(f, poly_number(0), poly_depth(f, node_field(e, FIELD_ARGUMENT), depth + 1), -1);
    return poly_atom(f, text_compact(f->a, text_of(f, e)));
}

struct poly poly_of(const struct function *f, struct node e)
{
    return poly_depth(f, e, 0);
}

bool poly_is_thread(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e), thread = poly_atom(f, "threadIdx.x");
    return poly_same(&p, &thread);
}

bool poly_counts_grid(const struct function *f, const struct poly *p, int dimension, int64_t *threads)
{
    const char *of[] = {"threadIdx", "blockIdx", "blockDim"}, *name[3];
    for (int i = 0; i < 3; i++)
        name[i] = arena_printf(f->a, "%s.%c", of[i], "xyz"[dimension]);
    struct poly thread = poly_atom(f, name[0]), block = poly_atom(f, name[1]), dim = poly_atom(f, name[2]);
    struct poly whole = poly_add(f, poly_mul(f, block, dim), thread, 1);
    *threads = 0;
    if (poly_same(p, &whole))
        return true;
    *threads = p->ok ? poly_coefficient(p, name[1]) : 0;
    whole = poly_add(f, poly_mul(f, block, poly_number(*threads)), thread, 1);
    return *threads > 0 && poly_same(p, &whole);
}

struct poly poly_thread_of_grid(const struct function *f)
{
    return poly_add(f, poly_mul(f, poly_atom(f, "blockIdx.x"), poly_atom(f, "blockDim.x")),
                    poly_atom(f, "threadIdx.x"), 1);
}
