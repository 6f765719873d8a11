/* fit-grid: a kernel that walks its work in steps of the grid is launched with no more blocks than there is
 * work for. Any grid is right for such a kernel; blocks without work only start and end. */
#include "rewrite/analysis.h"

enum { WORTH = 5 }; /* a fifth of the blocks has nothing to do */

struct fit {
    struct node bound;
    int width; /* elements that a thread takes in a step */
};

/* What a launch passed for the kernel's parameters makes of a sum of products of these. */
static bool planned_value(const struct function *f, const struct poly *p, const struct plan_step *s,
                          int64_t *value)
{
    bool known = p->ok;
    *value = 0;
    for (int i = 0; i < p->n && known; i++) {
        int64_t product = p->t[i].by;
        for (int k = 0; k < p->t[i].n && known; k++) {
            size_t at = 0;
            while (at < f->n_params && !str_eq(f->variables[at].name, p->t[i].atom[k]))
                at++;
            known = at < s->n_args && at < f->n_params && !s->args[at].pointer &&
                    ctype_is_integer(f, f->variables[at].type) &&
                    !__builtin_mul_overflow(product, s->args[at].i, &product);
        }
        known = known && !__builtin_add_overflow(*value, product, value);
    }
    return known;
}

/* Has some workload a launch with many more blocks than elements for them? No plans: perhaps. */
static bool is_too_large(const struct function *f, const struct fit *fit)
{
    struct poly p = poly_of(f, fit->bound);
    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));) {
        int64_t work, each = (int64_t)s->block[0] * fit->width;
        if (planned_value(f, &p, s, &work) && work > 0 &&
            (int64_t)s->grid[0] * (WORTH - 1) > (work + each - 1) / each * WORTH)
            return true;
    }
    return f->in->n_plans == 0;
}

/* The grid is known to nothing but loops in its steps, with one bound, and of one dimension. */
static bool fits(const struct function *f, struct fit *fit, struct err *why)
{
    const char *body = text_of(f, f->body);
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    if (n == 0 || !function_may_be_copied(f))
        return err_input(why, "%s has no loop over the grid, or is used other than by launches", f->name);
    *fit = (struct fit){loops[0].bound, loops[0].width};
    struct poly first = poly_of(f, loops[0].bound);
    for (size_t i = 0; i < n; i++) {
        struct poly bound = poly_of(f, loops[i].bound);
        if (loops[i].span != LANES_GRID_X || !poly_same(&first, &bound) ||
            variable_assigned_in(f, loops[i].index, loops[i].body))
            return err_input(why, "the loop at line %d has a grid of its own", node_line(f->s, loops[i].loop));
        fit->width = MIN(fit->width, loops[i].width);
    }
    if (str_count_word(body, "blockIdx") != n || str_count_word(body, "gridDim") != n ||
        macros_ask_for_place(f))
        return err_input(why, "%s knows its grid by more than its loops", f->name);
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        const struct function *g = function_only(f, call_name(f, *call));
        if (g &&
            (str_has_word(text_of(g, g->body), "gridDim") || str_has_word(text_of(g, g->body), "blockIdx")))
            return err_input(why, "%s asks for the grid", g->name);
    }
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        char *x;
        if (!launch_grid_x(f, l, &x) || strstr(x, "work_blocks") || !launch_expression(f, l, fit->bound))
            return err_input(why, "the launcher cannot tell how much work there is");
    }
    return is_too_large(f, fit) || err_input(why, "%s has no more blocks than work", f->name);
}

static void fit_find(struct function *f, struct site_list *found)
{
    struct fit fit;
    if (fits(f, &fit, NULL))
        site_add(found, f, fit.bound, 0, "blocks without work are started and ended all the same",
                 "as many blocks as %s needs", text_of(f, fit.bound));
}

static bool fit_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                      struct err *why_not)
{
    struct arena *a = f->a;
    struct fit fit;
    (void)site;
    if (!fits(f, &fit, why_not))
        return false;
    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        const char *indent = text_indent(f, node_start(l->statement)),
                   *name = fresh_name(f, i ? arena_printf(a, "work_blocks_%zu", i + 1) : "work_blocks"),
                   *threads = launch_threads(f, l), *bound = launch_expression(f, l, fit.bound);
        char *x;
        launch_grid_x(f, l, &x);
        if (fit.width > 1)
            threads = arena_printf(a, "(%s * %d)", threads, fit.width);
        const char *grid =
            arena_printf(a, "(unsigned int)(%s > 0 && %s < %s ? %s : %s)", name, name, x, name, x);
        char *call = launch_text(f, l, NULL, launch_grid_with(f, l, grid, NULL), NULL);
        edits_launch(edits, f, l,
                     arena_printf(a,
                                  "// No more blocks than there is work for.\n"
                                  "%sconst int64_t %s = ((int64_t)%s + %s - 1) / %s;\n%s%s",
                                  indent, name, bound, threads, threads, indent,
                                  text_wrap(a, call, (int)strlen(indent))));
    }
    edits_include(edits, f, "<cstdint>", "<stdint.h>");
    return true;
}

const struct transform transform_fit_grid = {
    .name = "fit-grid",
    .summary = "launch no more blocks than there is work for, where a kernel walks in steps of the grid",
    .helps = "latency launch issue dram l2",
    .find = fit_find,
    .apply = fit_apply,
};
