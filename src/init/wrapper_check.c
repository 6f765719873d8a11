/* What a wrapper checks: names of extents that are the same, ranks, and conditions of the task's domain. */
#include "init/wrapper.h"

static bool is_trivial(const char *text)
{
    const char *sign = strstr(text, " == ");

    if (wrapper_constant(text) >= 0)
        return true;
    if (!sign)
        sign = strstr(text, " >= ");
    return sign && strlen(sign + 4) == (size_t)(sign - text) &&
           strncmp(text, sign + 4, (size_t)(sign - text)) == 0;
}

void wrapper_condition(struct wrapper_reader *r, const char *text)
{
    const char *over = wrapper_over_dims(r, text);

    if (!r->final || !over || is_trivial(over) || !strpbrk(over, "<>=!"))
        return;
    init_demand(r->task, r->arena, over);
}

bool wrapper_is_unnamed(const struct wrapper_tensor *t, int k)
{
    return !t->dim[k] || strstr(t->dim[k], "_size");
}

/* Without brackets around all of it. */
static void inside(const struct wrapper_reader *r, size_t *first, size_t *last)
{
    while (*first + 1 < *last && token_is(&r->v[*first], "(") && wrapper_skip(r->v, *last, *first) == *last) {
        ++*first;
        --*last;
    }
}

/* The first of the signs that stands in no bracket; last: none does. */
static size_t sign_between(const struct wrapper_reader *r, size_t first, size_t last, const char *signs)
{
    while (first < last && !wrapper_sign(&r->v[first], signs))
        first = wrapper_sign(&r->v[first], "( [ {") ? wrapper_skip(r->v, last, first) : first + 1;
    return MIN(first, last);
}

bool wrapper_extent_at(struct wrapper_reader *r, size_t first, size_t last, struct wrapper_tensor **t, int *k)
{
    char *which, *stop;
    long n;

    inside(r, &first, &last);
    *t = first + 5 < last ? wrapper_tensor_find(r, &r->v[first]) : NULL;
    if (!*t || !wrapper_sign(&r->v[first + 1], ". ->") || !token_is(&r->v[first + 2], "size") ||
        wrapper_skip(r->v, last, first + 3) != last) {
        *t = NULL;
        return false;
    }
    which = wrapper_expr(r, first + 4, last - 1);
    n = strtol(which, &stop, 10);
    n = n < 0 ? (*t)->rank + n : n;
    if (*stop || !*which || n < 0 || n >= WRAPPER_RANK) {
        *t = NULL;
        return false;
    }
    *k = (int)n;
    return true;
}

/* The extents of two tensors are the same, or one is a number of dims: then they have one name. */
static void unify(struct wrapper_reader *r, size_t first, size_t sign, size_t last)
{
    struct wrapper_tensor *x, *y;
    int m, k;
    bool left = wrapper_extent_at(r, first, sign, &x, &m), right = wrapper_extent_at(r, sign + 1, last, &y, &k);

    size_t other = left ? sign + 1 : first, end = left ? last : sign;

    if (left && right) {
        const char *name = wrapper_extent(r, x, m);
        wrapper_extent(r, y, k);
        if (!x->dim[m] && y->dim[k])
            x->dim[m] = y->dim[k];
        else if (x->dim[m] && !y->dim[k])
            y->dim[k] = x->dim[m];
        else if (!x->dim[m])
            x->dim[m] = y->dim[k] = name;
        else if (wrapper_is_unnamed(x, m))
            x->dim[m] = y->dim[k];
        else if (wrapper_is_unnamed(y, k))
            y->dim[k] = x->dim[m];
    } else if (left || right) {
        const char *over;

        inside(r, &other, &end);
        over = wrapper_over_dims(r, wrapper_expr(r, other, end));
        if (right) {
            x = y;
            m = k;
        }
        wrapper_extent(r, x, m);
        if (over && *over && wrapper_is_unnamed(x, m))
            x->dim[m] = strpbrk(over, " ") ? arena_printf(r->arena, "(%s)", over) : over;
    }
}

/* `x.sizes() == y.sizes()`: the second one has the first one's shape. */
static bool same_shapes(struct wrapper_reader *r, size_t first, size_t sign, size_t last)
{
    struct wrapper_tensor *x = wrapper_tensor_find(r, &r->v[first]),
                          *y = wrapper_tensor_find(r, &r->v[sign + 1]);

    if (!x || !y || x == y || first + 5 != sign || sign + 6 != last || !token_is(&r->v[first + 2], "sizes") ||
        !token_is(&r->v[sign + 3], "sizes"))
        return false;
    x->like = x->like ? x->like : y;
    y->like = y->like ? y->like : x;
    return true;
}

/* One comparison that holds, or, where it fails the call, does not. */
static void compared_with(struct wrapper_reader *r, size_t first, size_t last, bool holds)
{
    static const char *const signs[][2] = {{"==", "!="}, {"!=", "=="}, {"<=", ">"},
                                           {">=", "<"},  {"<", ">="},  {">", "<="}};
    size_t sign;

    inside(r, &first, &last);
    sign = sign_between(r, first, last, "== != < > <= >=");
    if (sign == last || sign_between(r, first, last, "&& || ?") < last) {
        if (holds)
            wrapper_condition(r, wrapper_expr(r, first, last));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        const char *kept = signs[i][!holds];
        size_t left_end = sign, right = sign + 1;
        if (!token_is(&r->v[sign], signs[i][0]))
            continue;
        if (str_eq(kept, "==") && same_shapes(r, first, sign, last))
            return;
        if (str_eq(kept, "=="))
            unify(r, first, sign, last);
        inside(r, &first, &left_end);
        inside(r, &right, &last);
        wrapper_condition(r, arena_printf(r->arena, "%s %s %s", wrapper_expr(r, first, left_end), kept,
                                          wrapper_expr(r, right, last)));
        return;
    }
}

void wrapper_domain(struct wrapper_reader *r, size_t first, size_t last, bool holds)
{
    const char *why = r->why; /* of other things than extents nothing is asked of a task */

    inside(r, &first, &last);
    while (first + 2 < last && token_is(&r->v[first], "!") && token_is(&r->v[first + 1], "(") &&
           wrapper_skip(r->v, last, first + 1) == last) {
        holds = !holds;
        first++;
        inside(r, &first, &last);
    }
    if (sign_between(r, first, last, holds ? "||" : "&&") == last) {
        for (size_t from = first, end; from < last; from = end + 1) {
            end = sign_between(r, from, last, holds ? "&&" : "||");
            compared_with(r, from, end, holds);
        }
    }
    r->why = why;
}

bool wrapper_check_pair(struct wrapper_reader *r, size_t i)
{
    static const char *const ends[][2] = {{"CHECK_EQ", "=="}, {"CHECK_NE", "!="}, {"CHECK_LE", "<="},
                                          {"CHECK_LT", "<"},  {"CHECK_GE", ">="}, {"CHECK_GT", ">"}};
    const char *name = token_text(r->arena, &r->v[i]);
    size_t end = wrapper_skip(r->v, r->n, i + 1) - 1, comma = wrapper_item(r->v, i + 2, end);
    struct wrapper_tensor *t;

    for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
        if (!str_ends(name, ends[k][0]))
            continue;
        if (comma < end) /* the first time */
            r->v[comma] = init_words(r->source, ends[k][1]).v[0];
        return true;
    }
    t = comma + 2 == end && str_eq(name, "CHECK_DIM") ? wrapper_tensor_find(r, &r->v[comma + 1]) : NULL;
    if (t)
        t->rank = MAX(t->rank, MIN(atoi(r->v[i + 2].s), WRAPPER_RANK));
    return false;
}

void wrapper_check(struct wrapper_reader *r, size_t open)
{
    size_t end = wrapper_skip(r->v, r->n, open) - 1, last = wrapper_item(r->v, open + 1, end);
    size_t i = open + 1;

    if (i + 6 < last && token_in(&r->v[i + 2], "dim|ndim|ndimension") && token_is(&r->v[i + 5], "==")) {
        struct wrapper_tensor *t = wrapper_tensor_find(r, &r->v[i]);
        if (t && atoi(r->v[i + 6].s) > t->rank && atoi(r->v[i + 6].s) <= WRAPPER_RANK)
            t->rank = atoi(r->v[i + 6].s);
    }
    wrapper_domain(r, i, last, true);
}
