/* attention: softmax(Q K^T) V, written naively, becomes one pass over the keys. A block of threads keeps some
 * queries, their running maxima and sums, and the sums of values in registers; tiles of keys and values pass
 * through shared memory, so that each is fetched once for all queries of the block, and scores are stored
 * nowhere. 16-bit numbers go through the tensor cores. What was summed up under a smaller maximum is scaled
 * down when a larger one comes, which changes nothing but roundings; the trial measures them. The setting is
 * the queries of a block, plus 1000 times the keys of a tile, plus a million times the sixteens of queries that
 * a warp takes (0: no tensor cores). */
#include "rewrite/attention_form.h"
#include "rewrite/contraction.h"

struct shape { /* how a block works */
    int rows, keys, tiles, threads;
    int64_t memory; /* bytes of shared memory */
    const char *blocks, *types;
};

enum { TILES = 1000000, LONGEST = 256 /* vector */, MOST_AHEAD = 4 };

/* The tensor cores' instruction for these vectors, as a file of share/; NULL: there is none. */
static const char *mma_file(const struct attention *a)
{
    static const struct {
        const char *elements, *file;
    } known[] = {{"__half|half", "cuda/attention/f16.cuh"},
                 {"__nv_bfloat16|nv_bfloat16", "cuda/attention/bf16.cuh"}};
    const struct kernel_limits *limits = a->f->in->limits;

    for (size_t i = 0; i < ARRAY_LEN(known) && limits && limits->cc_major >= 8; i++)
        if (str_in(a->q.type, known[i].elements) && str_in(a->k.type, known[i].elements) &&
            str_in(a->v.type, known[i].elements))
            return known[i].file;
    return NULL;
}

/* False where the setting is none for these vectors, or needs too much. */
static bool shape_of(int setting, const struct attention *a, struct shape *s)
{
    int64_t depth = a->depth_value,
            most = a->f->in->limits ? a->f->in->limits->shared_per_block_optin : 48 << 10;

    *s = (struct shape){.rows = setting % 1000, .keys = setting % TILES / 1000, .tiles = setting / TILES};
    if (depth < 1 || depth > LONGEST)
        return false;
    if (s->tiles == 0) {
        s->threads = 256;
        s->memory = ((s->rows + s->keys) * ((depth + 63) / 64 * 64 + 4) + s->rows * (s->keys + 4)) * 4;
        s->blocks = "simt";
        return s->rows == 64 && s->keys == 64 && s->memory <= most;
    }
    s->types = mma_file(a);
    s->threads = s->rows / s->tiles * 2;
    s->memory = (s->rows + 4 * s->keys) * ((depth + 15) / 16 * 16 + 8) * 2;
    s->blocks = "mma";
    return s->types && s->rows > 0 && s->keys > 0 && s->tiles <= 2 && s->rows % (16 * s->tiles) == 0 &&
           s->keys % 16 == 0 && s->threads <= 512 && s->memory <= most;
}

static const char *attention_words(struct arena *a, int setting)
{
    if (setting < TILES)
        return arena_printf(a, "%d queries, %d keys", setting % 1000, setting / 1000);
    return arena_printf(a, "%d queries, %d keys, %d a warp", setting % 1000, setting % TILES / 1000,
                        setting / TILES * 16);
}

static void attention_find(struct function *f, struct site_list *found)
{
    static const int own[] = {2064128, 1064128, 1064064, 2032128, 64064};
    struct attention a;

    if (!attention_of(f, &a, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING;
         setting++) {
        struct shape s;
        if (shape_of(*setting, &a, &s) && (s.tiles > 0 || !mma_file(&a)))
            site_add(found, f, f->id, *setting,
                     "each query fetches all keys and values by itself; a block of queries shares them",
                     "attention of %s, %s and %s, %s%s", a.q.root, a.k.root, a.v.root,
                     attention_words(f->a, *setting), s.tiles ? " by tensor cores" : "");
    }
}

/* ---- the text ---- */

static const char *poly_text(const struct attention *a, const struct poly *p)
{
    return contraction_text(&(struct contraction){.f = a->f}, p);
}

/* Does the kernel not say how many queries there are? Then it is told. */
static const char *told(const struct attention *a)
{
    return node_ok(a->heads_of) || node_ok(a->rows) ? NULL : fresh_local(a->f, "query_end");
}

/* The head of a kernel that does what several did, with the parameters of all. */
static char *joined_head(const struct attention *a, const char *name, int threads)
{
    const struct function *f = a->f;
    struct str b = {0};

    str_addf(&b, "__global__ void __launch_bounds__(%d) %s(", threads, name);
    for (size_t i = 0; i < a->parameters.n; i++)
        str_addf(&b, "%s%s", i ? ", " : "", a->parameters.v[i].declared);
    if (told(a))
        str_addf(&b, ", long long %s", told(a));
    str_add(&b, ")");
    return str_take(&b, f->a);
}

/* The kernel's head under this name, with these launch bounds, and with what it must be told. */
static char *head_text(const struct attention *a, const char *name, int threads)
{
    const struct function *f = a->f;

    if (a->ahead.n > 0)
        return joined_head(a, name, threads);
    size_t start = node_start(f->whole), body = node_start(f->body);
    char *head = text_range(f, start, body), *old = strstr(head, "__launch_bounds__");
    char *end = old ? strchr(old, ')') : NULL;
    struct edits edits = {.arena = f->a};

    if (end)
        edits_try(&edits, start + (size_t)(old - head), start + (size_t)(end - head) + 1, "");
    edits_node(&edits, f->id, arena_printf(f->a, "__launch_bounds__(%d) %s", threads, name));
    if (told(a))
        edits_at(&edits, node_end(f->variables[f->n_params - 1].statement),
                 arena_printf(f->a, ", long long %s", told(a)));
    return text_trim(edits_range(&edits, f, start, body));
}

/* What is declared behind the head, or before it where there is one. */
static char *uniform_text(const struct attention *a, bool behind)
{
    struct str b = {0};

    for (size_t i = 0; i < a->needed.n; i++) {
        const struct variable *v = a->needed.v[i];
        if ((a->head && v->from > a->head->from) == behind)
            str_addf(&b, "%sconst %s %s = %s;", b.len ? "\n    " : "", v->type, v->name,
                     text_of(a->f, v->init));
    }
    return str_take(&b, a->f->a);
}

static void put_operand(const struct attention *a, struct fill *fill, const char *name,
                        const struct attention_operand *o)
{
    struct arena *arena = a->f->a;

    fill_put(fill, name,
             o->start.n ? arena_printf(arena, "%s + (%s)", o->root, poly_text(a, &o->start)) : o->root);
    fill_put(fill, arena_printf(arena, "%s_step_is", name), poly_text(a, &o->step));
}

static char *kernel_text(const struct attention *a, const struct shape *s, const char *name)
{
    static const char *const names[] = {"rows", "tiles", "keys", "diagonal", "row0", "out_step", "q_step"};
    const struct function *f = a->f;
    struct fill *fill = fill_open(f->a);
    bool flat = node_ok(a->heads_of);
    const char *rows = fresh_local(f, "rows"), *tiles = fresh_local(f, "tiles"), *keys = fresh_local(f, "keys");
    const char *block = arena_printf(f->a, "blockIdx.%c", "xyz"[a->dimension]);

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        fill_put(fill, names[i], fresh_local(f, names[i]));
    fill_put(fill, "memory", fresh_name(f, "attention_memory"));
    fill_put(fill, "head", head_text(a, name, s->threads));
    fill_putf(fill, "tile_rows", "%d", s->rows);
    fill_putf(fill, "less", "%d", s->rows - 1);
    fill_putf(fill, "tile_keys", "%d", s->keys);
    fill_putf(fill, "tiles_a_warp", "%d", s->tiles);
    fill_putf(fill, "depth", "%lld", (long long)a->depth_value);
    fill_put(fill, "zero", a->zero ? "true" : "false");
    fill_put(fill, "blocks", s->blocks);
    fill_if(fill, "any_tiles", flat || a->diagonal.ok);
    fill_if(fill, "head_asked", a->head != NULL);
    fill_put(fill, "head_type", a->head ? a->head->type : "");
    fill_put(fill, "head_name", a->head ? a->head->name : "");
    const char *before = uniform_text(a, false), *behind = uniform_text(a, true);
    fill_put(fill, "uniform", before);
    fill_put(fill, "uniform_behind", behind);
    fill_if(fill, "any_uniform", *before != '\0');
    fill_if(fill, "any_behind", *behind != '\0');
    struct node bound = flat ? a->heads_of : a->rows;
    fill_put(fill, "row_bound", told(a) ? told(a) : text_of(f, bound));
    /* The last query sees the keys below this. */
    const char *end =
        a->diagonal.ok ? arena_printf(f->a, "%s - 1 + %s", rows, poly_text(a, &a->diagonal)) : NULL;
    fill_put(fill, "key_bound", a->keys.ok ? poly_text(a, &a->keys) : end);
    const char *below = a->diagonal.ok ? poly_text(a, &a->diagonal) : keys;
    fill_put(fill, "diagonal_is", a->flag ? arena_printf(f->a, "(%s) ? %s : %s", a->flag, below, keys) : below);
    /* Blocks with many keys to see come first. */
    const char *tile = flat ? arena_printf(f->a, "%s %% %s", block, tiles) : block;
    const char *tile_is = flat ? "(%s)" : "(long long)%s";
    fill_put(fill, "tile_is",
             a->diagonal.ok ? arena_printf(f->a, "(%s - 1 - %s)", tiles, tile)
                            : arena_printf(f->a, tile_is, tile));
    put_operand(a, fill, "q", &a->q);
    put_operand(a, fill, "k", &a->k);
    put_operand(a, fill, "v", &a->v);
    put_operand(a, fill, "out", &a->out);
    fill_put(fill, "scale", a->scale);
    return fill_file(fill, "cuda/attention/kernel.cu");
}

/* ---- the launch ---- */

/* How many along a dimension: by the parts of a dim3, or, where there are none, by the one number. */
static const char *extent_along(const struct function *f, const struct node *parts, size_t n, struct node whole,
                                size_t d)
{
    if (!parts && d == 0)
        return text_of(f, whole);
    return parts && d < n ? text_of(f, parts[d]) : "1";
}

/* Blocks, or threads where a thread takes a query, along the queries' dimension, as the launcher has them. */
static const char *grid_queries(const struct attention *a, const struct launch *l, struct node *parts, size_t n)
{
    const struct function *f = a->f;
    size_t n_block, d = (size_t)a->dimension;
    struct node *block = launch_dim3(f, l, l->block, &n_block);
    const char *grid = extent_along(f, parts, n, l->grid, d),
               *threads = extent_along(f, block, n_block, l->block, d);

    return a->by_thread ? arena_printf(f->a, "(%s) * (%s)", grid, threads) : grid;
}

static char *passed_text(const struct attention *a)
{
    struct str b = {0};

    for (size_t i = 0; i < a->parameters.n; i++)
        str_addf(&b, "%s%s", i ? ", " : "", a->parameters.v[i].passed);
    return str_take(&b, a->f->a);
}

/* Kernels that are no longer launched, what they left for each other, and their launches; what the new launch
 * says stays. */
static void remove_ahead(const struct attention *a, const char *launch, struct edits *edits)
{
    const struct function *f = a->f;
    struct node statements[MOST_AHEAD + 1];
    size_t n = 0;

    statements[n++] = f->launches[0].statement;
    for (size_t i = 0; i < a->ahead.n; i++) {
        const struct function *g = a->ahead.v[i];
        size_t from = function_head(g), to = node_end(g->whole);
        statements[n++] = g->launches[0].statement;
        while (g->text[to] == '\n')
            to++;
        edits_try(edits, from, to, "");
    }
    launches_remove(f, statements, n, launch, edits);
}

/* The launch of the new kernel: its grid along the queries' dimension, one dimension of threads. */
static char *launch_lines(const struct attention *a, const struct shape *s, const struct launch *l,
                          const char *name, struct err *why_not)
{
    const struct function *f = a->f;
    struct arena *arena = f->a;
    struct edits edits = {.arena = arena};
    size_t n;
    struct node *parts = launch_dim3(f, l, l->grid, &n);
    const char *x[3] = {"1", "1", "1"}, *total = NULL, *rows, *called = name;

    if (!parts && !launch_grid_is_line(f, l)) {
        err_input(why_not, "the grid of %s is not seen", f->name);
        return NULL;
    }
    total = grid_queries(a, l, parts, n);
    for (size_t d = 0; d < 3; d++)
        x[d] = parts && d < n ? text_of(f, parts[d]) : x[d];
    if (node_ok(a->all_rows))
        total = launch_expression(f, l, a->all_rows);
    struct node counted = node_ok(a->heads_of) ? a->heads_of : a->rows;
    rows = node_ok(counted) ? launch_expression(f, l, counted) : total;
    if (!rows || !total) {
        err_input(why_not, "the launcher cannot tell how many queries there are");
        return NULL;
    }
    if (a->deep_dimension >= 0)
        x[a->deep_dimension] = "1";
    x[a->dimension] = arena_printf(arena, "(%s + %d) / %d", rows, s->rows - 1, s->rows);
    if (node_ok(a->heads_of))
        x[0] = arena_printf(arena, "(%s) * ((%s) / (%s))", x[0], total, rows);
    bool line = str_eq(x[1], "1") && str_eq(x[2], "1");
    edits_node(&edits, l->grid, line ? x[0] : arena_printf(arena, "dim3(%s, %s, %s)", x[0], x[1], x[2]));
    edits_node(&edits, l->block,
               arena_printf(arena, node_ok(l->shared) ? "%d" : "%d, %lld", s->threads, (long long)s->memory));
    if (node_ok(l->shared))
        edits_node(&edits, l->shared, arena_printf(arena, "%lld", (long long)s->memory));
    edits_node(&edits, launch_name(f, l), name);
    if (a->ahead.n > 0)
        edits_try(&edits, node_start(l->args[0]), node_end(l->args[l->n_args - 1]), passed_text(a));
    if (told(a))
        edits_at(&edits, node_end(node_field(l->call, FIELD_ARGUMENTS)) - 1,
                 arena_printf(arena, ", %s", total));
    if (node_ok(l->template_args))
        called = arena_printf(arena, "%s%s", name, text_of(f, l->template_args));
    return arena_printf(arena,
                        "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld);\n%s%s",
                        called, (long long)s->memory, text_indent(f, node_start(l->statement)),
                        edits_range(&edits, f, node_start(l->statement), node_end(l->statement)));
}

static bool attention_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                            struct err *why_not)
{
    struct attention a;
    struct shape s;
    int64_t depth;

    if (!attention_of(f, &a, why_not))
        return false;
    if (!shape_of(site->setting, &a, &s))
        return err_input(why_not, "so many queries and keys of %s do not fit", f->name);
    bool fixed = constant_value(a.depth_f, a.depth, &depth);
    if (a.ahead.n > 0 && (!fixed || a.ahead.n > MOST_AHEAD || f->n_launches != 1))
        return err_input(why_not, "the length of a vector of %s is not written down", f->name);
    const char *name =
        fixed ? f->name : fresh_name(f, arena_printf(f->a, "%s_%lld", f->name, (long long)a.depth_value));
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        const char *lines = launch_lines(&a, &s, l, name, why_not);
        if (!lines)
            return false;
        const char *indent = text_indent(f, node_start(l->statement));
        if (!fixed)
            lines = arena_printf(f->a, "if (%s == %lld) {\n%s    %s\n%s} else {\n%s    %s\n%s}",
                                 launch_expression(f, l, a.depth), (long long)a.depth_value, indent,
                                 text_reindent(f->a, lines, 4), indent, indent,
                                 text_reindent(f->a, text_of(f, l->statement), 4), indent);
        edits_launch(edits, f, l, lines);
        if (a.ahead.n > 0)
            remove_ahead(&a, lines, edits);
    }
    edits_helper(edits, f, share_text("cuda/attention/store.cuh"));
    if (s.types)
        edits_helper(edits, f, share_text(s.types));
    edits_helper(edits, f, share_text(s.types ? "cuda/attention/mma.cuh" : "cuda/attention/simt.cuh"));
    if (fixed)
        edits_node(edits, f->whole, kernel_text(&a, &s, name));
    else
        edits_beside(edits, f, arena_printf(f->a, "for vectors of %lld", (long long)a.depth_value),
                     kernel_text(&a, &s, name));
    return true;
}

const struct transform transform_attention = {
    .name = "attention",
    .summary = "compute attention in one pass over the keys, a block of threads for many queries",
    .helps = "l2 dram latency issue",
    .chooses = "block items",
    .setting_words = attention_words,
    .parameters = {{"queries", 1, 1000, 3, {64, 128, 256}},
                   {"keys", 1000, 1000, 3, {32, 64, 128}},
                   {"tiles", TILES, 0, 3, {0, 1, 2}}},
    .find = attention_find,
    .apply = attention_apply,
};
