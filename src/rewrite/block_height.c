/* block-height: another number of threads along the y of a block of two dimensions, where all of them share a
 * row: `dim3 threads(32, 4)` of a normalisation whose warps each walk a part of the row. Few rows then have
 * more threads.
 *
 * The kernel, and what it calls, asks how many there are wherever it asks which one it is; nothing of the block
 * is of a length that is written down; blocks are not counted by their height, in the kernel or by the
 * launcher; and shared memory follows. What counts in powers of two goes on to, as the height is doubled or
 * halved. */
#include "rewrite/analysis.h"

enum { THREADS_MOST = 1024 };

/* Has each height rows of its own: are blocks counted by it? */
static bool counts_blocks(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e);
    for (int t = 0; t < p.n; t++) {
        bool block = false, height = false;
        for (int a = 0; a < p.t[t].n; a++) {
            block = block || str_starts(p.t[t].atom[a], "blockIdx");
            height = height || str_eq(p.t[t].atom[a], "blockDim.y");
        }
        if (block && height)
            return true;
    }
    return false;
}

static bool takes_any_height(const struct function *f, int64_t threads)
{
    const char *body = text_of(f, f->body);
    int64_t value;
    if (str_has_word(body, "__shared__") && !str_has_word(body, "extern"))
        return false; /* as long as the block was */
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_ok(v->init) && !v->pointer && counts_blocks(f, v->init))
            return false;
    for (struct node *e = nodes_of(f, f->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*e); e++)
        if (counts_blocks(f, subscript_index(f, *e)))
            return false;
    for (struct node *x = nodes_of(f, f->body, NODE_NUMBER_LITERAL); node_ok(*x); x++)
        if (constant_value(f, *x, &value) && value == threads)
            return false;
    return !strstr(body, "threadIdx.y") || strstr(body, "blockDim.y");
}

/* The kernel, and the functions of the file that it may call. */
static bool threads_share(const struct function *f, int64_t threads, struct err *why)
{
    size_t n;
    struct function **all = functions_open(f->in, f->a, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (all[i]->global && !node_same(all[i]->definition, f->definition))
            continue;
        if (!takes_any_height(all[i], threads))
            return err_input(why, "%s counts on the height of its block", all[i]->name);
        any = any || strstr(text_of(all[i], all[i]->body), "threadIdx.y");
    }
    return any || err_input(why, "no thread asks for its height");
}

/* Does the launcher count by this number elsewhere: `(rows + 3) / 4`? */
static bool grid_counts(const struct function *f, const struct launch *l, int64_t height)
{
    size_t n;
    struct node whole = l->grid, *parts = launch_dim3(f, l, whole, &n);
    if (!parts)
        parts = &whole, n = 1;
    for (size_t i = 0; i < n; i++) {
        struct node e = host_value(f, l, parts[i]);
        int64_t value;
        if (node_is(e, NODE_NUMBER_LITERAL))
            continue;
        for (struct node *x = nodes_of(f, e, NODE_NUMBER_LITERAL); node_ok(*x); x++)
            if (constant_value(f, *x, &value) && value == height)
                return true;
        if (strstr(text_of(f, e), ".y"))
            return true;
    }
    return false;
}

/* The literal height of the one launch's block, *old, of so many columns. */
static bool understood(const struct function *f, struct node *height, int64_t *columns, int64_t *old,
                       struct err *why)
{
    size_t n;
    int64_t depth = 1;
    if (f->n_launches != 1 || node_ok(launch_bound(f)))
        return err_input(why, "%s is launched in several ways", f->name);
    const struct launch *l = &f->launches[0];
    struct node *parts = launch_dim3(f, l, node_strip(l->block), &n);
    if (!parts || n < 2 || !constant_value(f, parts[0], columns) || !node_is(parts[1], NODE_NUMBER_LITERAL) ||
        !constant_value(f, parts[1], old) || (n > 2 && (!constant_value(f, parts[2], &depth) || depth != 1)))
        return err_input(why, "the block of %s has no height that is written down", f->name);
    *height = parts[1];
    size_t n_args = 0;
    struct node *args = node_ok(l->template_args) ? named_children(f, l->template_args, &n_args) : NULL;
    for (size_t i = 0; i < n_args; i++)
        if (constant_value(f, args[i], &depth) && (depth == *old || depth == *columns * *old))
            return err_input(why, "a template argument of %s may be the height", f->name);
    if (*columns % 32 || *old < 2 || (*old & (*old - 1)))
        return err_input(why, "the rows of the block are no whole warps");
    const char *name = node_is(l->block, NODE_IDENTIFIER) ? text_of(f, l->block) : NULL;
    int64_t bytes;
    if (node_ok(l->shared) && !(constant_value(f, l->shared, &bytes) && bytes == 0) &&
        (!name || !strstr(text_of(f, host_value(f, l, l->shared)), arena_printf(f->a, "%s.y", name))))
        return err_input(why, "shared memory does not follow the block's height");
    return threads_share(f, *columns * *old, why) &&
           (!grid_counts(f, l, *old) || err_input(why, "the grid is counted by the block's height"));
}

static void height_find(struct function *f, struct site_list *found)
{
    static const int own[] = {16, 8, 32, 4, 2};
    struct node at;
    int64_t columns, old;
    if (!understood(f, &at, &columns, &old, NULL))
        return;
    for (const int *rows = settings_to_try(f, found, own, ARRAY_LEN(own)); *rows != NO_SETTING; rows++)
        if (*rows != old && *rows * columns <= THREADS_MOST)
            site_add(found, f, at, *rows,
                     *rows > old ? "more threads share a row and hide each other's waiting"
                                 : "smaller blocks meet sooner, and more of them fit",
                     "%d by %lld threads instead of %lld", *rows, (long long)columns, (long long)old);
}

static bool height_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    struct node at;
    int64_t columns, old;
    return understood(f, &at, &columns, &old, why_not) &&
           edits_node(edits, at, arena_printf(f->a, "%d", site->setting));
}

const struct transform transform_block_height = {
    .name = "block-height",
    .summary = "launch with another number of threads along the y of a block whose threads share a row",
    .helps = "latency dram sync l2 issue",
    .chooses = "block",
    .parameters = {{"rows", 1, 0, 5, {2, 4, 8, 16, 32}}},
    .find = height_find,
    .apply = height_apply,
};
