/* block-product: a matrix product with one result a thread becomes one in tiles. A block of threads keeps a
 * tile of results in registers and walks down the common dimension; tiles of both operands pass through shared
 * memory, so that each element is fetched once for a whole row or column of the tile. What the kernel did with
 * a finished sum is done with the same text for each result. All sizes and strides are right: what does not
 * exist counts as zero and is not stored, and neighbours move as one where the addresses allow it, which the
 * kernel asks itself. Where there are few tiles, the blocks of a cluster share a tile's depth and add up what
 * each has. The sum is added in the same order of its terms but fused; the trial measures it. product_shape.h
 * says what the setting means. */
#include "rewrite/gathering.h"
#include "rewrite/product_shape.h"

/* A product whose factors stand at linear indices; else one whose factors are gathered, as a convolution's. */
static bool product_of(const struct function *f, struct contraction *c, struct err *why)
{
    struct err linear = {0};

    if (contraction_of(f, c, &linear) || gathering_of(f, c, why))
        return true;
    return false;
}

/* A factor's name in memory, or what is computed for it. */
static const char *factor_name(const struct contraction *c, const struct contraction_operand *o)
{
    const struct gathering *g = c->gathered;

    if (!g || o->root)
        return o->root;
    return text_of(c->f, o == &c->x ? g->x.factor : g->y.factor);
}

static void block_product_find(struct function *f, struct site_list *found)
{
    static const int tiles[] = {128256,
                                256128,
                                128128,
                                128064,
                                64128,
                                64064,
                                2 * PRODUCT_SPLIT + 128128,
                                2 * PRODUCT_SPLIT + 64128,
                                2 * PRODUCT_SPLIT + 64064,
                                4 * PRODUCT_SPLIT + 128128,
                                4 * PRODUCT_SPLIT + 64064,
                                8 * PRODUCT_SPLIT + 64064,
                                32,
                                16,
                                8,
                                4};
    int own[ARRAY_LEN(tiles)];
    struct contraction c;

    if (!product_of(f, &c, NULL))
        return;
    memcpy(own, tiles, sizeof(own));
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        for (size_t k = i + 1; k < ARRAY_LEN(own); k++)
            if (product_promise(f, own[k]) > product_promise(f, own[i])) {
                int other = own[i];
                own[i] = own[k];
                own[k] = other;
            }
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING;
         setting++) {
        struct product_shape s;
        if (product_shape_of(*setting, &c, &s))
            site_add(found, f, c.loop, *setting,
                     "each thread fetches a whole row and column for one result; a tile of results shares them",
                     "product of %s and %s, %s%s", factor_name(&c, &c.x), factor_name(&c, &c.y),
                     product_words(f->a, *setting), str_eq(s.blocks, "mma") ? " by tensor cores" : "");
    }
}

/* ---- the text ---- */

/* What the kernel must be told of its rows or columns where it does not ask for their end; NULL: nothing. */
static const char *told_end(const struct contraction *c, const struct contraction_axis *axis)
{
    if (!axis->index || node_ok(axis->bounds[0]))
        return NULL;
    return fresh_local(c->f, axis == &c->row ? "row_end" : "col_end");
}

/* The kernel's head with these launch bounds, and with what it must be told. */
static char *head_text(const struct contraction *c, const struct product_shape *s)
{
    const struct function *f = c->f;
    const struct contraction_axis *axes[] = {&c->row, &c->col};
    size_t start = node_start(f->whole), body = node_start(f->body);
    char *head = text_range(f, start, body), *old = strstr(head, "__launch_bounds__");
    char *end = old ? strchr(old, ')') : NULL;
    struct edits edits = {.arena = f->a};

    if (end)
        edits_try(&edits, start + (size_t)(old - head), start + (size_t)(end - head) + 1, "");
    edits_at(&edits, node_start(f->id), arena_printf(f->a, "__launch_bounds__(%d) ", s->threads + s->copiers));
    if (s->split > 1)
        edits_at(&edits, node_start(f->id), arena_printf(f->a, "__cluster_dims__(%d, 1, 1) ", s->split));
    for (int i = 0; i < (c->gathered ? 3 : 2); i++) {
        const char *told = c->gathered ? gathering_told(c->gathered, i) : told_end(c, axes[i]);
        if (told)
            edits_at(&edits, node_end(f->variables[f->n_params - 1].statement),
                     arena_printf(f->a, ", int %s", told));
    }
    return text_trim(edits_range(&edits, f, start, body));
}

static char *end_text(const struct contraction *c, const struct contraction_axis *axis)
{
    if (c->gathered)
        return gathering_count(c->gathered, axis == &c->row ? c->gathered->x.digits : c->gathered->y.digits,
                               NULL);
    return told_end(c, axis) ? (char *)told_end(c, axis) : contraction_text(c, &axis->bound);
}

static bool mentioned(const struct function *f, const struct variable *v, const struct node *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (node_mentions(f, parts[i], v->name))
            return true;
    return false;
}

/* Statements below each other, as deep as the slot that they fill. */
static char *lines_of(const struct function *f, const struct node *v, size_t n, int column)
{
    struct str b = {0};

    for (size_t i = 0; i < n; i++) {
        int by = column - (int)strlen(text_indent(f, node_start(v[i])));
        str_addf(&b, "%s%s", i ? arena_printf(f->a, "\n%*s", column, "") : "",
                 text_reindent(f->a, text_of(f, v[i]), by));
    }
    return str_take(&b, f->a);
}

/* What a result needs besides its sum: the statements behind the loop, and declarations before it that these
 * need. */
struct own_part {
    VEC(struct node) all; /* what it is made of, last first */
    VEC(struct node) declarations;
};

static void own_part_of(const struct contraction *c, struct own_part *o)
{
    const struct function *f = c->f;
    struct node last = c->epilogue_last;

    *o = (struct own_part){0};
    for (struct node s = c->epilogue_first; node_ok(s);
         s = node_same(s, last) ? (struct node){0} : node_next(s))
        vec_add(f->a, &o->all, s);
    vec_add(f->a, &o->all, c->sum->statement);
    for (size_t i = c->dependent.n; i-- > 0;) {
        bool needed = false;
        for (size_t v = 0; v < f->n_variables; v++)
            if (node_same(f->variables[v].statement, c->dependent.v[i]))
                needed = needed || mentioned(f, &f->variables[v], o->all.v, o->all.n);
        if (needed)
            vec_add(f->a, &o->all, c->dependent.v[i]);
    }
    for (size_t i = 0; i < c->dependent.n; i++)
        for (size_t k = 0; k < o->all.n; k++)
            if (node_same(o->all.v[k], c->dependent.v[i]))
                vec_add(f->a, &o->declarations, c->dependent.v[i]);
}

/* Where the lines of a result's own part begin in the skeletons. */
static int own_column(const struct contraction *c)
{
    if (c->vector)
        return 8;
    return node_ok(c->stored) ? 16 : 12;
}

static char *index_text(const struct contraction *c, const struct own_part *o, const char *row, const char *col,
                        const char *cols)
{
    const struct function *f = c->f;
    const struct variable *index[] = {c->row.index, c->col.index, c->flat};
    const char *value[] = {row, col, arena_printf(f->a, "(%s) * %s + %s", row, cols, col)};
    struct str b = {0};

    for (int i = 0; i < 3; i++)
        if (index[i] && mentioned(f, index[i], o->all.v, o->all.n))
            str_addf(&b, "%sconst %s %s = static_cast<%s>(%s);",
                     b.len ? arena_printf(f->a, "\n%*s", own_column(c), "") : "", index[i]->type,
                     index[i]->name, index[i]->type, value[i]);
    return str_take(&b, f->a);
}

/* The sum begins with what the kernel gave it. */
static char *sum_text(const struct contraction *c, const char *computed)
{
    const struct function *f = c->f;
    int64_t value;
    struct node init = node_strip(c->sum->init);
    const char *text = text_of(f, init);
    bool zero = (constant_value(f, init, &value) && value == 0) || str_in(text, "0.0f|0.f|0.0|0.|0.0F|0.F|{}");

    return zero ? arena_printf(f->a, "%s %s = %s;", c->sum->type, c->sum->name, computed)
                : arena_printf(f->a, "%s\n%*s%s += %s;", text_of(f, c->sum->statement), own_column(c), "",
                               c->sum->name, computed);
}

static void put_operand(const struct contraction *c, struct fill *fill, const char *name,
                        const struct contraction_operand *o)
{
    struct arena *a = c->f->a;
    const char *start = contraction_text(c, &o->start);
    bool strided = !c->gathered || (o == &c->x ? c->gathered->x : c->gathered->y).strided;

    fill_if(fill, arena_printf(a, "%s_strided", name), strided);
    fill_put(fill, name, o->start.n ? arena_printf(a, "(%s + %s)", o->root, start) : o->root);
    fill_put(fill, arena_printf(a, "%s_out_is", name), contraction_text(c, &o->step));
    fill_put(fill, arena_printf(a, "%s_deep_is", name), contraction_text(c, &o->deep_step));
}

/* Local names that no name of the kernel has, as slots. */
static void put_names(const struct function *f, struct fill *fill, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fill_put(fill, names[i], fresh_local(f, names[i]));
}

/* What is done with a sum; where neighbours are stored together, the last statement keeps the result for that.
 */
static char *epilogue_text(const struct contraction *c, const char *place, const char *results, const char *j)
{
    const struct function *f = c->f;
    size_t start = node_start(c->epilogue_first), end = node_end(c->epilogue_last);
    struct edits edits = {.arena = f->a};

    if (node_ok(c->stored)) {
        const char *indent = text_indent(f, node_start(c->stored));
        edits_node(&edits, c->stored,
                   arena_printf(f->a, "if (%s == 0)\n%s    %s = &%s;\n%s%s.at[%s] = %s", j, indent, place,
                                text_of(f, assigned_target(c->stored)), indent, results, j,
                                text_of(f, node_field(c->stored, FIELD_RIGHT))));
    }
    return text_reindent(f->a, edits_range(&edits, f, start, end),
                         own_column(c) - (int)strlen(text_indent(f, start)));
}

static char *kernel_text(const struct contraction *c, const struct product_shape *s)
{
    static const char *const names[] = {"ROWS",  "COLS", "DEEP", "SLAB",  "memory",  "rows",   "cols",
                                        "depth", "row0", "col0", "x_out", "y_out",   "x_deep", "y_deep",
                                        "sums",  "slab", "WIDE", "e",     "bytes",   "part",   "part_depth",
                                        "deep0", "left", "held", "place", "results", "finish", "j"};
    const struct gathering *g = c->gathered;
    const struct function *f = c->f;
    struct arena *a = f->a;
    struct fill *fill = fill_open(a);
    struct own_part own;
    own_part_of(c, &own);
    put_names(f, fill, names, ARRAY_LEN(names));
#define NAME(n) fresh_local(f, n)
    bool together = node_ok(c->stored);
    const char *row = c->vector ? NAME("row0")
                                : arena_printf(a, "%s + %s * %s + %s / %s", NAME("row0"), NAME("slab"),
                                               NAME("SLAB"), NAME("e"), NAME("COLS"));
    bool same_col = g && s->threads % s->cols == 0; /* all of a thread's results have the same column */
    const char *col = arena_printf(a, "%s + %s %% %s%s", NAME("col0"), same_col ? "threadIdx.x" : NAME("e"),
                                   NAME("COLS"), together ? arena_printf(a, " + %s", NAME("j")) : "");
    const char *computed = c->vector ? NAME("sums") : NAME("held");
    if (together)
        computed = arena_printf(a, "%s.at[%s]", computed, NAME("j"));
    char *ahead = "";
    const char *indices;
    if (g)
        indices = gathering_indices(g, row, col, own.all.v, own.all.n, same_col ? &ahead : NULL);
    else
        indices = index_text(c, &own, row, col, NAME("cols"));
    fill_put(fill, "col_ahead", ahead);
    fill_put(fill, "epilogue", epilogue_text(c, NAME("place"), NAME("results"), NAME("j")));
#undef NAME
    int each = together ? 16 / ctype_size(f, c->sum_type) : 1;
    fill_putf(fill, "each", "%d", each);
    fill_put(fill, "sums_of",
             s->split > 1 ? arena_printf(a, "cluster_sums<%d, %d>", each, s->split)
                          : arena_printf(a, "own_sums<%d>", each));
    fill_put(fill, "stored_type", together ? c->stored_type : "");
    fill_if(fill, "together", together);
    fill_put(fill, "indices", indices);
    fill_put(fill, "head", head_text(c, s));
    fill_putf(fill, "tile_rows", "%d", s->rows);
    fill_putf(fill, "tile_cols", "%d", s->cols);
    fill_putf(fill, "deep", "%d", s->deep);
    fill_put(fill, "slab_rows", s->slab_rows);
    fill_putf(fill, "threads", "%d", s->threads + s->copiers);
    fill_putf(fill, "pad", "%d", s->pad);
    fill_put(fill, "blocks", s->blocks);
    fill_putf(fill, "memory_size", "%d", s->memory / ctype_size(f, c->sum_type));
    fill_put(fill, "sums_shape", s->sums);
    const char *more = s->stages ? arena_printf(a, "%d, %d, %d", s->stages, s->threads, s->copiers)
                                 : arena_printf(a, "%d", s->threads);
    fill_putf(fill, "product_args", "%s, %s, %s", more, product_along_deep(c, &c->x) ? "true" : "false",
              product_along_deep(c, &c->y) ? "true" : "false");
    fill_putf(fill, "split", "%d", s->split);
    fill_putf(fill, "all_threads", "%d", (s->threads + s->copiers) * s->split * each);
    fill_if(fill, "shared", s->split > 1);
    fill_if(fill, "dynamic", s->dynamic);
    fill_put(fill, "barrier", s->split > 1 ? "cooperative_groups::this_cluster().sync()" : "__syncthreads()");
    fill_put(fill, "acc_type", c->sum_type);
    fill_put(fill, "uniform", lines_of(f, c->uniform.v, c->uniform.n, 4));
    fill_put(fill, "row_bound", end_text(c, &c->row));
    fill_put(fill, "col_bound", c->vector ? "" : end_text(c, &c->col));
    fill_put(fill, "depth_bound", g ? gathering_depth(g) : text_of(f, c->depth));
    fill_if(fill, "gathered", g);
    fill_put(fill, "lambdas", g ? gathering_lambdas(g, str_eq(s->blocks, "mma")) : "");
    const char *deep0 = s->split > 1 ? fresh_local(f, "deep0") : "0";
    fill_put(fill, "x_operand", g ? gathering_operand(g, &g->x, s->blocks, deep0) : "");
    fill_put(fill, "y_operand", g ? gathering_operand(g, &g->y, s->blocks, deep0) : "");
    put_operand(c, fill, "x", &c->x);
    put_operand(c, fill, "y", &c->y);
    fill_put(fill, "dependent", lines_of(f, own.declarations.v, own.declarations.n, own_column(c)));
    fill_put(fill, "acc_declared", sum_text(c, computed));
    fill_if(fill, "any_uniform", c->uniform.n > 0);
    fill_if(fill, "any_index", *indices != '\0');
    fill_if(fill, "any_dependent", own.declarations.n > 0);
    return fill_file(fill,
                     c->vector ? arena_printf(a, "cuda/product/%s.cu", s->blocks) : "cuda/product/kernel.cu");
}

/* Parts of the grid beyond x that the launcher gives: ", 1, batch" */
static bool other_dimensions(const struct contraction *c, const struct launch *l, const char **text)
{
    const struct function *f = c->f;
    bool flat = !c->taken[1];
    size_t n;
    struct node *parts = launch_dim3(f, l, l->grid, &n);
    struct arena *a = f->a;

    *text = "";
    if (!parts)
        return launch_grid_is_line(f, l);
    if (n > 1 && flat)
        *text = arena_printf(a, ", %s", text_of(f, parts[1]));
    if (n > 2)
        *text = arena_printf(a, "%s, %s", flat ? *text : ", 1", text_of(f, parts[2]));
    return true;
}

/* The launch with so many bytes of dynamic shared memory, which it has to ask for first. */
static void launch_with_memory(const struct function *f, const struct launch *l, int bytes, struct edits *call,
                               struct edits *edits)
{
    struct arena *a = f->a;
    const char *indent = text_indent(f, node_start(l->statement));

    edits_node(call, l->shared, arena_printf(a, "%d", bytes));
    edits_launch(
        edits, f, l,
        arena_printf(a, "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %d);\n%s%s",
                     text_of(f, node_field(l->call, FIELD_FUNCTION)), bytes, indent,
                     edits_range(call, f, node_start(l->statement), node_end(l->statement))));
}

static bool launches_edit(const struct contraction *c, const struct product_shape *s, struct edits *edits,
                          struct err *why_not)
{
    const struct function *f = c->f;
    struct arena *a = f->a;

    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        struct edits call = {.arena = a}, *own = s->dynamic ? &call : edits;
        const char *others = "";
        const struct gathering *g = c->gathered;
        if (!g && !other_dimensions(c, l, &others))
            return err_input(why_not, "the grid of %s is not seen", f->name);
        const char *rows = g ? gathering_count(g, g->x.digits, l) : contraction_bound(c, &c->row, l);
        const char *cols = g ? gathering_count(g, g->y.digits, l) : NULL;
        if (!g && !c->vector)
            cols = contraction_bound(c, &c->col, l);
        char *tiles = arena_printf(a, "(%s + %d) / %d", rows, s->rows - 1, s->rows);
        if (cols)
            tiles = arena_printf(a, "%s * ((%s + %d) / %d)", tiles, cols, s->cols - 1, s->cols);
        size_t behind = node_end(node_field(l->call, FIELD_ARGUMENTS)) - 1;
        for (int d = 0; d < 3 && g; d++)
            if (gathering_told(g, d))
                edits_at(own, behind, arena_printf(a, ", %s", contraction_grid(f, l, d)));
        if (told_end(c, &c->row))
            edits_at(own, behind, arena_printf(a, ", %s", rows));
        if (told_end(c, &c->col))
            edits_at(own, behind, arena_printf(a, ", %s", cols));
        if (s->split > 1)
            tiles = arena_printf(a, "%s * %d", tiles, s->split);
        edits_node(own, l->grid, *others ? arena_printf(a, "dim3(%s%s)", tiles, others) : tiles);
        edits_node(own, l->block, arena_printf(a, "%d", s->threads + s->copiers));
        if (s->dynamic)
            launch_with_memory(f, l, s->memory, own, edits);
    }
    return true;
}

static bool block_product_apply(const struct function *f, const struct transform_site *site,
                                struct edits *edits, struct err *why_not)
{
    struct contraction c;
    struct product_shape s;

    if (!product_of(f, &c, why_not))
        return false;
    if (!product_shape_of(site->setting, &c, &s))
        return err_input(why_not, "a tile of %s does not fit", f->name);
    if (!launches_edit(&c, &s, edits, why_not))
        return false;
    if (s.split > 1)
        edits_include(edits, f, "<cooperative_groups.h>", "<cooperative_groups.h>");
    for (size_t i = 0; i < ARRAY_LEN(s.helpers) && s.helpers[i]; i++)
        edits_helper(edits, f, s.helpers[i]);
    edits_node(edits, f->whole, kernel_text(&c, &s));
    return true;
}

const struct transform transform_block_product = {
    .name = "block-product",
    .summary = "compute a matrix product in tiles of shared memory and registers",
    .helps = "l2 dram latency issue",
    .chooses = "block items",
    .setting_words = product_words,
    .parameters = {{"rows", 1, 1000, 7, {4, 8, 16, 32, 64, 128, 256}},
                   {"columns", PRODUCT_COLUMNS, 1000, 5, {0, 32, 64, 128, 256}},
                   {"split", PRODUCT_SPLIT, 10, 4, {0, 2, 4, 8}},
                   {"stages", PRODUCT_STAGES, 0, 6, {0, 2, 3, 4, 6, 8}}},
    .find = block_product_find,
    .apply = block_product_apply,
};
