/* block-product: a matrix product with one result a thread becomes one in tiles. A block of threads keeps a
 * tile of results in registers and walks down the common dimension; tiles of both operands pass through shared
 * memory, so that each element is fetched once for a whole row or column of the tile. What the kernel did with
 * a finished sum is done with the same text for each result. All sizes and strides are right: what does not
 * exist counts as zero and is not stored, and neighbours move as one where the addresses allow it, which the
 * kernel asks itself. The sum is added in the same order of its terms but fused; the trial measures it. The
 * setting is the tile: its rows plus 1000 times its columns. */
#include "rewrite/contraction.h"

struct shape { /* how a tile is computed */
    int rows, cols, deep;
    int sum_rows, sum_cols; /* of a thread */
};

/* Two fours each way where a tile is large enough for 256 threads of them. */
static bool shape_of(int setting, const struct contraction *c, struct shape *s)
{
    bool wide = str_eq(c->sum_type, "double");

    *s = (struct shape){.rows = setting % 1000, .cols = setting / 1000};
    s->sum_rows = s->rows >= 128 ? 8 : 4;
    s->sum_cols = s->cols >= 128 ? 8 : 4;
    s->deep = s->rows * s->cols >= 128 * 128 ? 8 : 16;
    return !(wide && s->rows * s->cols > 64 * 64);
}

static int threads_of(const struct shape *s)
{
    return s->rows / s->sum_rows * (s->cols / s->sum_cols);
}

static const char *block_product_words(struct arena *a, int setting)
{
    return arena_printf(a, "%d x %d", setting % 1000, setting / 1000);
}

/* Tiles that fill the processors count as many as there are; larger ones fetch less for each result. */
static double promise(const struct function *f, int setting)
{
    double sum = 0, rows = setting % 1000, cols = setting / 1000;
    double sms = f->in->limits ? f->in->limits->sm_count : 1;

    for (size_t p = 0; p < f->in->n_plans; p++)
        for (size_t s = 0; s < f->in->plans[p].n_steps; s++) {
            const struct plan_step *step = &f->in->plans[p].steps[s];
            if (!plan_launches(step, f->qualified))
                continue;
            double results = 1;
            for (int d = 0; d < 3; d++)
                results *= (double)step->grid[d] * (double)step->block[d];
            double tiles = results / (rows * cols), rounds = tiles / sms;
            double busy = rounds < 1 ? rounds : rounds / (double)(int64_t)(rounds + 0.999);
            sum += busy * rows * cols / (rows + cols);
        }
    return sum;
}

static void block_product_find(struct function *f, struct site_list *found)
{
    static const int tiles[] = {128128, 64064, 64128};
    int own[ARRAY_LEN(tiles)];
    struct contraction c;
    size_t n;

    if (!contraction_of(f, &c, NULL))
        return;
    memcpy(own, tiles, sizeof(own));
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        for (size_t k = i + 1; k < ARRAY_LEN(own); k++)
            if (promise(f, own[k]) > promise(f, own[i])) {
                int other = own[i];
                own[i] = own[k];
                own[k] = other;
            }
    const int *settings = settings_to_try(f, found, own, ARRAY_LEN(own), &n);
    for (size_t i = 0; i < n; i++) {
        struct shape s;
        if (shape_of(settings[i], &c, &s) && threads_of(&s) >= 64)
            site_add(found, f, c.loop, settings[i],
                     "each thread fetches a whole row and column for one result; a tile of results shares them",
                     "product of %s and %s, tiles of %d by %d", c.x.root, c.y.root, s.rows, s.cols);
    }
}

/* ---- the text ---- */

/* The kernel's head with these launch bounds. */
static char *head_text(const struct function *f, int threads)
{
    char *head = text_range(f, node_start(f->whole), node_start(f->body));
    char *old = strstr(head, "__launch_bounds__"), *end = old ? strchr(old, ')') : NULL;
    size_t name = node_start(f->id) - node_start(f->whole), len = strlen(head);

    while (len > 0 && strchr(" \n\t", head[len - 1]))
        head[--len] = '\0';
    if (end)
        return arena_printf(f->a, "%.*s__launch_bounds__(%d)%s", (int)(old - head), head, threads, end + 1);
    return arena_printf(f->a, "%.*s__launch_bounds__(%d) %s", (int)name, head, threads, head + name);
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

static char *index_text(const struct contraction *c, const struct own_part *o, const char *row, const char *col,
                        const char *cols)
{
    const struct function *f = c->f;
    const struct variable *index[] = {c->row.index, c->col.index, c->flat};
    const char *value[] = {row, col, arena_printf(f->a, "(%s) * %s + %s", row, cols, col)};
    struct str b = {0};

    for (int i = 0; i < 3; i++)
        if (index[i] && mentioned(f, index[i], o->all.v, o->all.n))
            str_addf(&b, "%sconst %s %s = static_cast<%s>(%s);", b.len ? "\n            " : "", index[i]->type,
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
                : arena_printf(f->a, "%s\n            %s += %s;", text_of(f, c->sum->statement), c->sum->name,
                               computed);
}

/* Is step along this operand's tile 1, so that neighbours are neighbours in memory? */
static bool is_one(const struct poly *p)
{
    return p->n == 1 && p->t[0].n == 0 && p->t[0].by == 1;
}

static void put_operand(const struct contraction *c, struct fill *fill, const char *name,
                        const struct contraction_operand *o)
{
    struct arena *a = c->f->a;
    const char *start = contraction_text(c, &o->start);

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

static char *kernel_text(const struct contraction *c, const struct shape *s)
{
    static const char *const names[] = {"ROWS",   "COLS",   "DEEP", "SLAB", "memory", "rows",
                                        "cols",   "depth",  "row0", "col0", "x_out",  "y_out",
                                        "x_deep", "y_deep", "sums", "slab", "e"};
    const struct function *f = c->f;
    struct arena *a = f->a;
    struct fill *fill = fill_open(a);
    struct own_part own;
    int slabs = s->sum_rows / 4, slab_rows = s->rows / slabs, threads = threads_of(s);
    int tiles = 2 * s->deep * (s->rows + 4 + s->cols + 4), staged = slab_rows * (s->cols + 4);

    own_part_of(c, &own);
    put_names(f, fill, names, ARRAY_LEN(names));
#define NAME(n) fresh_local(f, n)
    const char *row = arena_printf(a, "%s + %s * %s + %s / %s", NAME("row0"), NAME("slab"), NAME("SLAB"),
                                   NAME("e"), NAME("COLS"));
    const char *col = arena_printf(a, "%s + %s %% %s", NAME("col0"), NAME("e"), NAME("COLS"));
    const char *computed = arena_printf(a, "%s[%s / %s * (%s + 4) + %s %% %s]", NAME("memory"), NAME("e"),
                                        NAME("COLS"), NAME("COLS"), NAME("e"), NAME("COLS"));
    const char *indices = index_text(c, &own, row, col, NAME("cols"));
#undef NAME
    fill_put(fill, "indices", indices);
    fill_put(fill, "head", head_text(f, threads));
    fill_putf(fill, "tile_rows", "%d", s->rows);
    fill_putf(fill, "tile_cols", "%d", s->cols);
    fill_putf(fill, "deep", "%d", s->deep);
    fill_putf(fill, "slab_rows", "%d", slab_rows);
    fill_putf(fill, "threads", "%d", threads);
    fill_putf(fill, "memory_size", "%d", MAX(tiles, staged));
    fill_putf(fill, "sums_shape", "[%d][%d]", s->sum_rows, s->sum_cols);
    fill_putf(fill, "product_args", "%d, %s, %s", threads, is_one(&c->x.step) ? "false" : "true",
              is_one(&c->y.step) ? "false" : "true");
    fill_put(fill, "acc_type", c->sum_type);
    fill_put(fill, "uniform", lines_of(f, c->uniform.v, c->uniform.n, 4));
    fill_put(fill, "row_bound", contraction_text(c, &c->row.bound));
    fill_put(fill, "col_bound", contraction_text(c, &c->col.bound));
    fill_put(fill, "depth_bound", text_of(f, c->depth));
    put_operand(c, fill, "x", &c->x);
    put_operand(c, fill, "y", &c->y);
    fill_put(fill, "dependent", lines_of(f, own.declarations.v, own.declarations.n, 12));
    fill_put(fill, "acc_declared", sum_text(c, computed));
    struct node behind[] = {c->epilogue_first, c->epilogue_last};
    int by = 12 - (int)strlen(text_indent(f, node_start(behind[0])));
    fill_put(fill, "epilogue", text_reindent(a, text_range(f, node_start(behind[0]), node_end(behind[1])), by));
    fill_if(fill, "any_uniform", c->uniform.n > 0);
    fill_if(fill, "any_index", *indices != '\0');
    fill_if(fill, "any_dependent", own.declarations.n > 0);
    return fill_file(fill, "cuda/product/kernel.cu");
}

/* Parts of the grid beyond x that the launcher gives: ", 1, batch" */
static bool other_dimensions(const struct function *f, const struct launch *l, bool flat, const char **text)
{
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

static bool launches_edit(const struct contraction *c, const struct shape *s, struct edits *edits,
                          struct err *why_not)
{
    const struct function *f = c->f;
    struct arena *a = f->a;

    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        const char *others;
        if (!other_dimensions(f, l, c->flat != NULL, &others))
            return err_input(why_not, "the grid of %s is not seen", f->name);
        const char *rows = contraction_bound(c, &c->row, l), *cols = contraction_bound(c, &c->col, l);
        char *tiles = arena_printf(a, "(%s + %d) / %d * ((%s + %d) / %d)", rows, s->rows - 1, s->rows, cols,
                                   s->cols - 1, s->cols);
        edits_node(edits, l->grid, *others ? arena_printf(a, "dim3(%s%s)", tiles, others) : tiles);
        edits_node(edits, l->block, arena_printf(a, "%d", threads_of(s)));
    }
    return true;
}

static bool block_product_apply(const struct function *f, const struct transform_site *site,
                                struct edits *edits, struct err *why_not)
{
    struct contraction c;
    struct shape s;

    if (!contraction_of(f, &c, why_not))
        return false;
    if (!shape_of(site->setting, &c, &s))
        return err_input(why_not, "a tile of %s does not fit", f->name);
    if (!launches_edit(&c, &s, edits, why_not))
        return false;
    edits_helper(edits, f, share_text("cuda/product/tile.cuh"));
    edits_helper(edits, f, share_text("cuda/product/simt.cuh"));
    edits_node(edits, f->whole, kernel_text(&c, &s));
    return true;
}

const struct transform transform_block_product = {
    .name = "block-product",
    .summary = "compute a matrix product in tiles of shared memory and registers",
    .helps = "l2 dram latency issue",
    .chooses = "block items",
    .setting_words = block_product_words,
    .parameters = {{"rows", 1, 1000, 3, {32, 64, 128}}, {"columns", 1000, 1000, 3, {32, 64, 128}}},
    .find = block_product_find,
    .apply = block_product_apply,
};
