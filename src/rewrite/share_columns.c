/* share-columns: where a block walks a column, several neighbouring columns share a block. A thread that goes
 * down one column touches a whole sector of memory for each element; its neighbour in the copy takes the same
 * row's element of the next column. A column keeps its own part of the threads and of shared memory, so only
 * the number of a column's threads changes. The setting is the number of columns. */
#include "rewrite/regroup.h"

enum { MEMORY_MOST = 48 * 1024, THREADS = 1024 /* of a block: columns are fewer than rows */ };

/* Where a pointer stands when it is set. */
static struct poly start_of(const struct function *f, struct node pointer)
{
    const struct variable *v = function_variable_of(f, node_strip(pointer));
    return v && !v->param && !v->array && node_ok(v->init) ? poly_of(f, v->init) : poly_number(0);
}

/* Do the loops read down columns: neighbouring blocks neighbouring elements, a thread's next one far away? */
static bool walks_columns(const struct function *f, const struct regroup *r)
{
    bool down = false;
    for (struct node *e = nodes_of(f, r->loop.body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*e); e++) {
        struct node pointer = node_field(*e, FIELD_ARGUMENT);
        const struct variable *root = pointer_root(f, pointer);
        if (!root || root->shared || root->array)
            continue;
        struct poly p = poly_add(f, poly_of(f, subscript_index(f, *e)), start_of(f, pointer), 1);
        bool along = poly_coefficient(&p, r->loop.index->name) != 0;
        down = down || (p.ok && !along && poly_coefficient(&p, "blockIdx.x") == 1);
        if (!p.ok || along)
            return false;
    }
    return down;
}

/* Threads of a column are no warp, and its shared memory must fit so many times. */
static bool fits(const struct regroup *r, int columns, struct err *why)
{
    for (size_t k = 0; k < r->n; k++) {
        const struct function *g = r->functions[k];
        for (struct node *call = nodes_of(g, g->body, NODE_CALL_EXPRESSION); node_ok(*call); call++)
            if (!str_eq(call_name(g, *call), "__syncthreads") && !function_only(g, call_name(g, *call)) &&
                call_meets(g, *call))
                return err_input(why, "lanes meet in %s", g->name);
        int64_t bytes = 0, length;
        for (const struct variable *v = g->variables; v < g->variables + g->n_variables; v++) {
            if (!v->shared || v->external)
                continue;
            length = 1;
            if (v->array && (!node_ok(v->size) || !constant_value(g, v->size, &length)))
                return err_input(why, "the length of %s is not known", v->name);
            bytes += length * MAX(ctype_size(g, v->type), 4);
        }
        if (bytes * columns > MEMORY_MOST)
            return err_input(why, "%d times the shared memory of %s are too much", columns, g->name);
    }
    return true;
}

static bool opens(struct regroup *r, const struct function *f, int columns, struct err *why)
{
    if (!regroup_open(r, f, why) || !regroup_any_number(r, why) ||
        !regroup_can_join(r, "columns", THREADS, why) || !fits(r, columns, why))
        return false;
    return walks_columns(f, r) || err_input(why, "%s walks no columns", f->name);
}

static void columns_find(struct function *f, struct site_list *found)
{
    static const int own[] = {8, 4, 16};
    struct regroup r;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        if (opens(&r, f, *setting, NULL))
            site_add(
                found, f, r.loop.loop, *setting,
                "down a column each element costs a whole sector of memory; neighbouring columns share them",
                "%d neighbouring columns in a block", *setting);
}

static void names_for(struct regroup *r, const struct function *f, struct regroup_names *names)
{
    struct arena *a = f->a;
    const char *part = fresh_local(f, "part"), *column = fresh_local(f, "column");
    *names = (struct regroup_names){.thread = part,
                                    .threads = arena_printf(a, "%d", r->threads / r->together),
                                    .block = column,
                                    .blocks = r->rows,
                                    .barrier = "__syncthreads()"};
    const char *of_part = "";
    if (str_has_word(text_of(f, f->body), "threadIdx"))
        of_part = arena_printf(a, "\n    const unsigned int %s = threadIdx.x / %d;", part, r->together);
    if (f == r->f)
        names->head = arena_printf(a, "%s\n    const unsigned int %s = blockIdx.x * %d + %s;", of_part, column,
                                   r->together, r->mine);
    else if (*of_part)
        names->head = of_part;
}

static bool columns_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                          struct err *why_not)
{
    struct arena *a = f->a;
    struct regroup r;
    if (!opens(&r, f, site->setting, why_not))
        return false;
    r.together = site->setting;
    r.threads = THREADS;
    r.mine = arena_printf(a, "threadIdx.x %% %d", r.together);
    r.names = names_for;
    if (!regroup_join(&r, "columns", "with neighbouring columns in a block", edits, why_not))
        return false;
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        struct guard_list guard = {0};
        guard_add(a, &guard, arena_printf(a, "%s %% %d == 0", regroup_rows(&r, launch), r.together));
        if (r.bytes)
            guard_add(
                a, &guard,
                arena_printf(a, "(%s + 15) * %d <= %d", text_of(f, launch->shared), r.together, MEMORY_MOST));
        edits_guard_launch(edits, f, launch, "Neighbouring columns share a block.",
                           guard_join(f, &guard, launch), regroup_launch(&r, launch));
    }
    return true;
}

const struct transform transform_share_columns = {
    .name = "share-columns",
    .summary = "neighbouring columns share a block, where one block walked each down its rows",
    .helps = "latency dram l2 issue order",
    .parameters = {{"columns", 1, 0, 5, {2, 4, 8, 16, 32}}},
    .find = columns_find,
    .apply = columns_apply,
};
