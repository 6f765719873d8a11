/* Tiles of a product: threads, stages and shared memory that go with rows and columns. */
#include "rewrite/product_shape.h"

#include "rewrite/gathering.h"

enum {
    SHARED_STATIC = 48 * 1024, /* what a launch need not ask for */
    STAGE_LINE = 128,          /* bytes of a row or column of a stage, as in mma.cuh */
    BARRIERS = 16,             /* bytes of a stage's two */
    COPIERS = 128,             /* threads that bring what warpgroups multiply */
    STAGES_MOST = 8,
    STAGES_SHARED = 4, /* where other blocks work meanwhile */
    SPLIT_MOST = 8,    /* blocks of a cluster on every device that has them */
    SUMS_MOST = 128    /* registers of a thread */
};

static int rows_of(int setting)
{
    return setting % PRODUCT_COLUMNS;
}

static int columns_of(int setting)
{
    return setting % PRODUCT_SPLIT / PRODUCT_COLUMNS;
}

static int split_of(int setting)
{
    return MAX(setting % PRODUCT_STAGES / PRODUCT_SPLIT, 1);
}

struct mma_type {
    const char *elements, *sum, *file;
    const char *element, *wide; /* the type's name, and its suffix in wgmma; NULL: that takes it otherwise */
};

/* Can 16 bytes of both operands move as one? */
static bool has_lines(const struct contraction *c)
{
    const struct gathering *g = c->gathered;

    return (g->x.strided || g->x.lines) && (g->y.strided || g->y.lines);
}

static const struct mma_type *mma_type(const struct contraction *c)
{
    static const struct mma_type known[] = {
        {"__half|half", "float", "cuda/product/mma_f16.cuh", "__half", "f16"},
        {"__nv_bfloat16|nv_bfloat16", "float", "cuda/product/mma_bf16.cuh", "__nv_bfloat16", "bf16"},
        {"int8_t|signed char", "int", "cuda/product/mma_s8.cuh", NULL, NULL}};
    const struct kernel_limits *limits = c->f->in->limits;

    for (size_t i = 0; i < ARRAY_LEN(known) && limits && limits->cc_major >= 8 && !c->term; i++)
        if (str_in(c->x.type, known[i].elements) && str_in(c->y.type, known[i].elements) &&
            str_eq(c->sum_type, known[i].sum) && (!c->gathered || (known[i].element && has_lines(c))))
            return &known[i];
    return NULL;
}

const char *product_mma_file(const struct contraction *c)
{
    const struct mma_type *type = mma_type(c);

    return type ? type->file : NULL;
}

bool product_is_one(const struct poly *p)
{
    return p->n == 1 && p->t[0].n == 0 && p->t[0].by == 1;
}

bool product_along_deep(const struct contraction *c, const struct contraction_operand *o)
{
    const struct gathered_operand *of = NULL;

    if (c->gathered)
        of = o == &c->x ? &c->gathered->x : &c->gathered->y;
    if (product_mma_file(c) && ctype_size(c->f, o->type) == 1)
        return true;
    return of && !of->strided ? of->along_deep : !product_is_one(&o->step);
}

/* wgmma for so many columns: its registers and operands by number. */
static char *wgmma_text(const struct contraction *c, const struct mma_type *type, int n)
{
    struct fill *fill = fill_open(c->f->a);
    struct str registers = {0}, operands = {0};

    for (int i = 0; i < n / 2; i++) {
        if (i > 0) {
            str_add(&registers, i % 16 ? ", " : ", \"\n                     \"");
            str_add(&operands, i % 4 ? ", " : ",\n                       ");
        }
        str_addf(&registers, "%%%d", i);
        str_addf(&operands, "\"+f\"(sums[%d][%d])", i / 4, i % 4);
    }
    fill_putf(fill, "n", "%d", n);
    fill_putf(fill, "eights", "%d", n / 8);
    fill_put(fill, "element", type->element);
    fill_put(fill, "type", type->wide);
    fill_put(fill, "registers", str_take(&registers, c->f->a));
    fill_put(fill, "operands", str_take(&operands, c->f->a));
    fill_putf(fill, "x", "%d", n / 2);
    fill_putf(fill, "y", "%d", n / 2 + 1);
    fill_putf(fill, "x_turned", "%d", n / 2 + 2);
    fill_putf(fill, "y_turned", "%d", n / 2 + 3);
    return arena_printf(c->f->a, "%s\n", fill_file(fill, "cuda/product/wgmma.cuh"));
}

static char *gathered_text(const struct contraction *c, const char *blocks)
{
    return arena_printf(c->f->a, "%s\n%s", share_text("cuda/product/gathered.cuh"),
                        share_text(arena_printf(c->f->a, "cuda/product/%s_gathered.cuh", blocks)));
}

static int64_t shared_most(const struct contraction *c)
{
    const struct kernel_limits *limits = c->f->in->limits;

    return limits && limits->shared_per_block_optin ? limits->shared_per_block_optin : SHARED_STATIC;
}

/* Blocks for all results of a launch, for each SM. */
static double blocks_an_sm(const struct function *f, const struct plan_step *step, double results, double split)
{
    double all = split;

    for (int d = 0; d < 3; d++)
        all *= (double)step->grid[d] * (double)step->block[d];
    return all / results / (f->in->limits ? f->in->limits->sm_count : 1);
}

/* Does some planned launch have more blocks than SMs? */
static bool many_blocks(const struct contraction *c, const struct product_shape *s)
{
    bool many = c->f->in->n_plans == 0;

    for (const struct plan_step *p = NULL; (p = planned_launch(c->f, p));)
        many = many || blocks_an_sm(c->f, p, s->rows * s->cols, s->split) > 1;
    return many;
}

/* As many stages as leave room for a second block where there is one and a thread's sums do, too; else as there
 * is room for. */
static int stages_for(const struct contraction *c, const struct product_shape *s)
{
    int64_t stage = (int64_t)(s->rows + s->cols) * STAGE_LINE + BARRIERS, most = shared_most(c);
    bool second = many_blocks(c, s) && s->rows * s->cols / s->threads <= SUMS_MOST / (s->copiers ? 4 : 2);

    if (second)
        return (int)MIN(MAX(most / 2 / stage, 2), STAGES_SHARED);
    return (int)MIN(MAX(most / stage, 2), STAGES_MOST);
}

/* A tile's lines are 128 bytes: a panel of halves that lie along rows or columns has 64 of these. */
static bool has_panels(const struct contraction *c, const struct contraction_operand *o, int out)
{
    int size = ctype_size(c->f, o->type);

    return size == 1 || product_along_deep(c, o) || out * size % STAGE_LINE == 0;
}

/* Each thread has 32 sums, or as many as 256 threads come to, but 128 at most. As mma_layout in mma.cuh has it.
 */
static bool mma_shape(const struct contraction *c, struct product_shape *s, int stages)
{
    const struct mma_type *type = mma_type(c);
    struct arena *a = c->f->a;
    int slab = s->rows;

    s->threads = MIN(s->rows * s->cols / 32, 256);
    if (s->threads < 64)
        return false;
    int groups = s->threads / 128, tall = MIN(groups, s->rows / 64);
    bool wide = type->wide && tall && s->cols * tall / groups >= 64 && c->f->in->limits->cc_major >= 9;
    s->copiers = wide ? COPIERS : 0;
    const char *layout = arena_printf(a, "mma_layout<%d, %d, %d, %d, %s>", s->rows, s->cols, s->threads,
                                      s->copiers, ctype_bound(c->f, c->x.type));
    s->deep = STAGE_LINE / ctype_size(c->f, c->x.type);
    s->slab_rows = arena_printf(a, "%s::DOWN * 16", layout);
    s->sums = arena_printf(a, "[%s::SIXTEENS][%s::EIGHTS][4]", layout, layout);
    s->pad = 8;
    s->blocks = "mma";
    s->dynamic = true;
    s->stages = stages ? stages : stages_for(c, s);
    s->helpers[2] = share_text(type->file);
    s->helpers[3] = share_text("cuda/product/mma.cuh");
    if (c->gathered)
        s->helpers[4] = gathered_text(c, "mma");
    if (wide) {
        s->helpers[c->gathered ? 5 : 4] = wgmma_text(c, type, s->cols * tall / groups);
        slab = tall * 64;
    }
    s->memory = MAX(s->stages * ((s->rows + s->cols) * STAGE_LINE + BARRIERS),
                    slab * (s->cols + s->pad) * (int)sizeof(float));
    return s->rows * s->cols / s->threads <= SUMS_MOST && has_panels(c, &c->x, s->rows) &&
           has_panels(c, &c->y, s->cols) && s->stages > 1 && s->memory <= shared_most(c);
}

static const char *with_term(struct arena *a, const char *blocks, const char *term)
{
    static const char product[] = "x[i] * y[j]";
    const char *at = strstr(blocks, product);
    return arena_printf(a, "%.*s%s%s", (int)(at - blocks), blocks, term, at + strlen(product));
}

/* A thread's results are 8 x 8 where a tile is large enough for 256 threads of them, else 4. */
static bool simt_shape(const struct contraction *c, struct product_shape *s, int stages)
{
    int rows = s->rows >= 128 ? 8 : 4, cols = s->cols >= 128 ? 8 : 4, size = ctype_size(c->f, c->sum_type);
    int slab = s->rows / (rows / 4);

    s->deep = s->rows * s->cols >= 128 * 128 ? 8 : 16;
    s->threads = s->rows / rows * (s->cols / cols);
    s->slab_rows = arena_printf(c->f->a, "%d", slab);
    s->sums = arena_printf(c->f->a, "[%d][%d]", rows, cols);
    s->pad = 4;
    s->memory = MAX(2 * s->deep * (s->rows + 4 + s->cols + 4), slab * (s->cols + s->pad)) * size;
    s->blocks = "simt";
    s->helpers[2] = share_text("cuda/product/simt.cuh");
    if (c->gathered)
        s->helpers[3] = gathered_text(c, "simt");
    if (c->term)
        s->helpers[2] = with_term(c->f->a, s->helpers[2], c->term);
    return s->threads >= 64 && s->rows <= 128 && s->cols <= 128 && s->memory <= SHARED_STATIC && stages == 0;
}

/* There are no columns: a warp a row. Where rows lie beside each other in memory, a block takes 32 of them, and
 * each of as many warps as the setting says `rows` a part of the depth. */
static bool gemv_shape(const struct contraction *c, struct product_shape *s, int stages)
{
    bool known = s->cols == 0 && s->split == 1 && stages == 0;

    s->threads = s->rows * 32;
    if (product_is_one(&c->x.step) && !product_is_one(&c->x.deep_step)) {
        known = known && s->rows >= 8 && s->rows <= 32;
        s->rows = 32;
        s->blocks = "gemv_down";
        s->helpers[0] = share_text("cuda/product/gemv_down.cuh");
        return known;
    }
    s->blocks = "gemv";
    s->helpers[0] = share_text("cuda/product/vector.cuh");
    s->helpers[1] = share_text("cuda/product/gemv.cuh");
    return known && s->rows > 0 && s->rows <= 16 && product_is_one(&c->x.deep_step);
}

bool product_shape_of(int setting, const struct contraction *c, struct product_shape *s)
{
    const struct kernel_limits *limits = c->f->in->limits;
    int stages = setting / PRODUCT_STAGES;

    *s = (struct product_shape){
        .rows = rows_of(setting), .cols = columns_of(setting), .split = split_of(setting)};
    if (c->vector)
        return gemv_shape(c, s, stages);
    bool clusters = limits && limits->cc_major >= 9;
    if (s->rows < 32 || s->cols < 32 || (s->split > 1 && !clusters) || s->split > SPLIT_MOST)
        return false;
    s->helpers[0] = share_text("cuda/product/vector.cuh");
    s->helpers[1] = share_text("cuda/product/tile.cuh");
    bool fits = mma_type(c) ? mma_shape(c, s, stages) : simt_shape(c, s, stages);
    size_t last = 0;
    while (s->helpers[last])
        last++;
    s->helpers[last] = share_text(s->split > 1 ? "cuda/product/split.cuh" : "cuda/product/own.cuh");
    return fits;
}

const char *product_words(struct arena *a, int setting)
{
    int stages = setting / PRODUCT_STAGES, split = split_of(setting);

    if (setting < PRODUCT_COLUMNS)
        return arena_printf(a, "%d rows", setting);
    return arena_printf(a, "%d x %d%s%s", rows_of(setting), columns_of(setting),
                        split > 1 ? arena_printf(a, ", %d blocks each", split) : "",
                        stages ? arena_printf(a, ", %d stages", stages) : "");
}

/* A block's time goes with the rows and columns that it fetches, which is what measurements show of such tiles.
 * Where there are more blocks than SMs, all of these have the work of the one that has most. Blocks that share
 * a tile have to add up what each has. */
double product_promise(const struct function *f, int setting)
{
    double rows = rows_of(setting), cols = MAX(columns_of(setting), 1), split = split_of(setting), sum = 0;

    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));) {
        double blocks = blocks_an_sm(f, s, rows * cols, split), whole = (double)(int64_t)(blocks + 0.999);
        sum -= MAX(whole, 1) * (rows + cols) / split + (split - 1) * (rows + cols) / 16;
    }
    return sum;
}
