/* Of a contraction: its polynomials and bounds as text. */
#include "rewrite/contraction.h"

char *contraction_text(const struct contraction *c, const struct poly *p)
{
    struct str b = {0};

    for (int i = 0; i < p->n; i++) {
        const struct term *t = &p->t[i];
        str_add(&b, i ? " + " : "");
        if (t->by != 1 || t->n == 0)
            str_addf(&b, "%lldLL%s", (long long)t->by, t->n ? " * " : "");
        for (int k = 0; k < t->n; k++)
            str_addf(&b, str_is_name(t->atom[k]) || str_starts(t->atom[k], "blockIdx.") ? "%s%s%s" : "%s%s(%s)",
                     k ? " * " : "", k == 0 && t->by == 1 ? "(long long)" : "", t->atom[k]);
    }
    if (p->n == 0)
        str_add(&b, "0");
    return str_take(&b, c->f->a);
}

char *contraction_grid(const struct function *f, const struct launch *l, int dimension)
{
    size_t n[2];
    struct node of[] = {l->grid, l->block}, *parts[2];
    const char *text[2];
    int64_t threads;

    for (int i = 0; i < 2; i++) {
        parts[i] = launch_dim3(f, l, of[i], &n[i]);
        if (!parts[i] && (i ? constant_value(f, of[i], &threads) : launch_grid_is_line(f, l))) {
            parts[i] = &of[i];
            n[i] = 1;
        }
        if (!parts[i])
            return NULL;
        text[i] = (size_t)dimension < n[i] ? text_of(f, parts[i][dimension]) : "1";
    }
    return arena_printf(f->a, "(%s) * (%s)", text[0], text[1]);
}

char *contraction_bound(const struct contraction *c, const struct contraction_axis *axis,
                        const struct launch *l)
{
    const struct function *f = c->f;

    if (!node_ok(axis->bounds[0]))
        return contraction_grid(f, l, axis->dimension);
    char *whole = launch_expression(f, l, axis->bounds[0]);
    char *by = node_ok(axis->bounds[1]) ? launch_expression(f, l, axis->bounds[1]) : NULL;

    if (!whole || (node_ok(axis->bounds[1]) && !by))
        return NULL;
    return by ? arena_printf(f->a, "(%s) / (%s)", whole, by) : whole;
}
