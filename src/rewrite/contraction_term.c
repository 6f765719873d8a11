/* What one step of a contraction adds where it is no product: a distance, a number of unlike bits, the smaller
 * of two. Any expression of one element of either operand, numbers and functions that have no effect, which is
 * 0 where both elements are: blocks put zeros where there is no element. */
#include "rewrite/contraction.h"

#define UNSIGNED "unsigned|unsigned int|uint32_t"
#define TYPES    "float|double|int|int32_t|" UNSIGNED

struct parse {
    const struct function *f;
    struct node loop;
    const char *sum_type;
    struct node *elements; /* two at the most */
    size_t n;
    bool wraps; /* they are unsigned where the sum is not: only their bits are the same */
};

struct part { /* of the expression */
    const char *text;
    double at_zero; /* its value where the elements are 0 */
    bool ok;
};

static struct part term_of(struct parse *p, struct node e);

static double applied(const char *name, const double *v)
{
    if (str_in(name, "fminf|fmin|min"))
        return fmin(v[0], v[1]);
    if (str_in(name, "fmaxf|fmax|max"))
        return fmax(v[0], v[1]);
    return fabs(v[0]); /* and bits, of 0 */
}

/* A function that is 0 for zeros, of one argument or two. */
static struct part call_of(struct parse *p, struct node e)
{
    struct arena *a = p->f->a;
    const char *name = call_name(p->f, e);
    size_t n;
    struct node *args = named_children(p->f, node_field(e, FIELD_ARGUMENTS), &n);
    bool two = str_in(name, "fminf|fmin|min|fmaxf|fmax|max"),
         one = str_in(name, "fabsf|fabs|abs|__popc|__popcll");
    double values[2] = {0};
    const char *texts[2] = {""};

    if (n != (two ? 2u : 1u) || (!two && !one))
        return (struct part){.ok = false};
    for (size_t i = 0; i < n; i++) {
        struct part t = term_of(p, args[i]);
        if (!t.ok)
            return t;
        values[i] = t.at_zero;
        texts[i] = t.text;
    }
    bool bits = str_starts(name, "__popc");
    if (p->wraps && !bits)
        return (struct part){.ok = false};
    return (struct part){arena_printf(a, two ? "%s(%s, %s)" : "%s(%s)", name, texts[0], texts[1]),
                         applied(name, values), !bits || values[0] == 0};
}

static struct part binary_of(struct parse *p, struct node e)
{
    const char *op = node_op(p->f, e);
    struct part x = term_of(p, node_field(e, FIELD_LEFT)),
                y = x.ok ? term_of(p, node_field(e, FIELD_RIGHT)) : x;
    double value = 0;
    bool zero = x.at_zero == 0 && y.at_zero == 0;

    if (!x.ok || !y.ok || !str_in(op, "+|-|*|^|&"))
        return (struct part){.ok = false};
    if (str_eq(op, "*"))
        value = x.at_zero * y.at_zero;
    else if (str_in(op, "+|-"))
        value = str_eq(op, "+") ? x.at_zero + y.at_zero : x.at_zero - y.at_zero;
    return (struct part){arena_printf(p->f->a, "(%s %s %s)", x.text, op, y.text), value,
                         zero || str_in(op, "+|-|*")};
}

/* One of the two, by where it stands. */
static struct part element(struct parse *p, struct node e)
{
    const struct function *f = p->f;
    const char *place = text_compact(f->a, text_of(f, e));
    size_t i = 0;

    while (i < p->n && !str_eq(text_compact(f->a, text_of(f, p->elements[i])), place))
        i++;
    if (i == 2)
        return (struct part){.ok = false};
    p->elements[i] = e;
    p->n = MAX(p->n, i + 1);
    return (struct part){i ? "second_element" : "first_element", 0, true};
}

/* With the type that a name of the loop gives it. */
static struct part converted(struct parse *p, struct node e, const char *type)
{
    const char *bound = ctype_bound(p->f, str_starts(type, "const ") ? type + 6 : type);
    struct part t = term_of(p, e);

    t.ok =
        t.ok && (str_in(bound, TYPES) || str_eq(bound, "auto")) && !(p->wraps && str_in(bound, "float|double"));
    if (t.ok && !str_eq(bound, "auto"))
        t.text = arena_printf(p->f->a, "static_cast<%s>(%s)", bound, t.text);
    return t;
}

static struct part term_of(struct parse *p, struct node e)
{
    const struct function *f = p->f;
    const struct variable *v;
    int64_t value;

    while (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        e = node_child(e, 0);
    if (constant_value(f, e, &value))
        return (struct part){arena_printf(f->a, "%lld", (long long)value), (double)value, true};
    if (node_is(e, NODE_NUMBER_LITERAL))
        return (struct part){text_of(f, e), strtod(text_of(f, e), NULL), true};
    struct node place = contraction_element(f, e, p->loop);
    if (node_is(place, NODE_SUBSCRIPT_EXPRESSION) || node_is_indirection(f, place)) {
        const struct variable *root = pointer_root(f, place);
        const char *type = root ? ctype_bound(f, root->type) : "";
        bool bits = str_in(type, UNSIGNED) && str_in(p->sum_type, "int|" UNSIGNED);
        bool same = bits || str_eq(type, p->sum_type);
        p->wraps = p->wraps || (bits && str_eq(p->sum_type, "int"));
        /* Another type is the sum's where the code makes it so; else it would be computed in its own. */
        if (same || !node_same(place, e))
            return element(p, place);
        return (struct part){.ok = false};
    }
    if (node_is(e, NODE_IDENTIFIER)) {
        v = function_variable_of(f, e);
        bool named = v && node_within(v->statement, p->loop) && !v->assignments && !v->pointer && !v->array &&
                     node_ok(v->init);
        return named ? converted(p, v->init, v->type) : (struct part){.ok = false};
    }
    if (node_is(e, NODE_CAST_EXPRESSION))
        return converted(p, node_field(e, FIELD_VALUE), text_of(f, node_field(e, FIELD_TYPE)));
    if (node_is(e, NODE_BINARY_EXPRESSION))
        return binary_of(p, e);
    return node_is(e, NODE_CALL_EXPRESSION) ? call_of(p, e) : (struct part){.ok = false};
}

const char *contraction_term(const struct function *f, struct node loop, const char *sum_type, struct node e,
                             struct node elements[2])
{
    struct parse p = {.f = f, .loop = loop, .sum_type = sum_type, .elements = elements};
    struct part t = term_of(&p, e);

    return t.ok && p.n == 2 && t.at_zero == 0 ? t.text : NULL;
}
