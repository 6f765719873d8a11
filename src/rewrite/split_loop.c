/* split-loop: where each thread goes through a long loop by itself and there are few threads (sums down
 * columns, products of small matrices, a row of a sparse matrix a thread), several threads along y share each
 * loop. Each takes every so-many-th turn; what a loop adds up, or the largest that it finds, is put together in
 * shared memory. A block may get fewer columns at the same time, and the grid as many more blocks; and a
 * cluster of blocks may share the loops of one, where they still leave SMs idle.
 *
 * Legal where a turn of the loop needs no other turn: all that it sets it declares itself, but for accumulators
 * that are only added to, or only made larger or smaller; and what it stores depends on the loop's index.
 * Threads that had returned, or were kept out by an if around everything, stay for the meeting and do no turns.
 */
#include "rewrite/turns.h"

enum {
    COLUMNS = 1000, /* a setting is this times the parts, and the columns of a block; 0: as they are; */
    BLOCKS = COLUMNS * 1000, /* and this times the blocks of a cluster; 0: none */
    LOOPS_MOST = 4,
    SHARED_MOST = 48 * 1024,
    WARP = 32,
};

struct split {
    struct turns loops[LOOPS_MOST];
    size_t n_loops;
    node_list questions; /* if (...) return; before the last loop */
    node_list reads;     /* declarations behind one of them that read memory */
    struct node around;  /* an if that holds everything from there on; or no node */
    int64_t threads;     /* of a block */
};

struct shape { /* what a setting says */
    int parts, columns, blocks;
};

/* ---- the kernel ---- */

static bool is_question(const struct function *f, struct node n)
{
    return node_is(n, NODE_IF_STATEMENT) && !node_ok(node_field(n, FIELD_ALTERNATIVE)) &&
           node_is(node_unbraced(f, node_field(n, FIELD_CONSEQUENCE)), NODE_RETURN_STATEMENT) &&
           !node_has_effect(f, node_field(n, FIELD_CONDITION));
}

static bool reads_memory(const struct function *f, struct node n)
{
    if (node_is_access(f, n))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (reads_memory(f, node_child(n, i)))
            return true;
    return false;
}

/* A scalar with a value, which threads without work may have as zero. */
static bool may_be_zero(const struct function *f, struct node declaration)
{
    size_t n = 0;

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_same(v->statement, declaration)) {
            n++;
            if (v->array || v->pointer || !node_ok(v->init) ||
                !(ctype_is_float(ctype_alias(f, v->type)) || ctype_is_integer(f, v->type)))
                return false;
        }
    return n > 0;
}

/* Where the largest is, parts along y are not asked. */
static bool asks_where(const struct turns *l)
{
    for (size_t k = 0; k < l->n_sums; k++)
        if (l->sums[k].how == GATHERS_PLACE)
            return true;
    return false;
}

/* Statements of the body, or of the if that holds all of it from some place on, up to the last loop. */
static bool walk(const struct function *f, struct split *s, struct node block, struct err *why)
{
    size_t n, last = 0;
    struct node *all = named_children(f, block, &n);
    struct turns l;
    bool asked = s->questions.n > 0 || node_ok(s->around);

    for (size_t i = 0; i < n; i++)
        if (turns_of(f, all[i], &l) && turns_are_apart(f, &l, NULL))
            last = i + 1;
    bool enters = last == 0 && n > 0 && node_is(all[n - 1], NODE_IF_STATEMENT) && !node_ok(s->around) &&
                  !node_ok(node_field(all[n - 1], FIELD_ALTERNATIVE)) &&
                  node_is(node_field(all[n - 1], FIELD_CONSEQUENCE), NODE_COMPOUND_STATEMENT);
    if (enters) {
        s->around = all[n - 1];
        last = n - 1;
    }
    for (size_t i = 0; i < last; i++) {
        if (turns_of(f, all[i], &l)) {
            if (s->n_loops == LOOPS_MOST || !turns_are_apart(f, &l, why) || asks_where(&l))
                return err_input(why, "the loops of %s are no turns by themselves", f->name);
            s->loops[s->n_loops++] = l;
        } else if (is_question(f, all[i])) {
            if (asked && reads_memory(f, all[i]))
                return err_input(why, "a question of %s reads memory", f->name);
            vec_add(f->a, &s->questions, all[i]);
            asked = true;
        } else if (node_is(all[i], NODE_DECLARATION) && !node_has_effect(f, all[i])) {
            if (asked && reads_memory(f, all[i])) {
                if (!may_be_zero(f, all[i]))
                    return err_input(why, "%s reads memory before its loop", f->name);
                vec_add(f->a, &s->reads, all[i]);
            }
        } else if (!node_is(all[i], NODE_PREPROC_CALL) && !node_is(all[i], NODE_COMMENT)) {
            return err_input(why, "%s does more than declare variables before its last loop", f->name);
        }
    }
    if (!enters)
        return s->n_loops > 0 || err_input(why, "%s has no loop of a thread by itself", f->name);
    if (node_has_effect(f, node_field(s->around, FIELD_CONDITION)) ||
        (s->questions.n > 0 && reads_memory(f, node_field(s->around, FIELD_CONDITION))))
        return err_input(why, "a question of %s has effects", f->name);
    return walk(f, s, node_field(s->around, FIELD_CONSEQUENCE), why);
}

/* Is what a loop stores mentioned behind it, though its threads do not meet there? */
static bool stores_are_read(const struct function *f, const struct split *s)
{
    for (const struct turns *l = s->loops; l < s->loops + s->n_loops; l++) {
        const char *behind = text_range(f, node_end(l->loop), node_end(f->body));
        for (size_t i = 0; i < f->n_params && l->n_sums == 0; i++)
            if (memory_written_in(f, f->variables[i].name, l->loop) &&
                str_has_word(behind, f->variables[i].name))
                return true;
    }
    return false;
}

/* A thread's place is asked for in one index alone, which counts blocks of any size. */
static bool counts_any_block(const struct function *f)
{
    const struct variable *index = NULL;

    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables && !index;
         v++) {
        struct poly p = node_ok(v->init) && !v->assignments ? poly_of(f, v->init) : (struct poly){0};
        int64_t threads;
        if (p.ok && poly_counts_grid(f, &p, 0, &threads) && threads == 0)
            index = v;
    }
    for (struct node *e = nodes_of(f, f->body, NODE_FIELD_EXPRESSION); node_ok(*e) && index; e++)
        if (str_in(text_of(f, *e), "threadIdx.x|blockIdx.x|blockDim.x|gridDim.x") &&
            !node_within(*e, index->init))
            return false;
    return index != NULL;
}

/* The fewest warps that a launch has; not known: 0. */
static double fewest_warps(const struct function *f)
{
    double fewest = 0;

    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));) {
        double warps =
            (double)s->grid[0] * s->grid[1] * s->grid[2] * s->block[0] * s->block[1] * s->block[2] / WARP;
        fewest = fewest > 0 ? MIN(fewest, warps) : warps;
    }
    return fewest;
}

/* Some launch leaves room on the device. */
static bool has_room(const struct function *f)
{
    const struct kernel_limits *limits = f->in->limits;

    return !limits || fewest_warps(f) < 0.5 * limits->sm_count * limits->max_threads_per_sm / WARP;
}

static bool splits(const struct function *f, struct split *s, struct err *why)
{
    const char *body = text_of(f, f->body);
    int64_t threads;
    size_t n_shared;

    *s = (struct split){0};
    lane_loops(f, &n_shared);
    if (n_shared > 0)
        return err_input(why, "the threads of %s share loops already", f->name);
    if (f->n_launches == 0 || function_is_named_elsewhere(f) || node_ok(launch_bound(f)) ||
        calls_barrier(f, f->body) || macros_ask_for_place(f))
        return err_input(why, "the threads of %s meet, or it is more than launched", f->name);
    if (str_has_word(body, "__shared__") || str_has_word(body, "asm") || strstr(body, "threadIdx.y") ||
        strstr(body, "blockDim.y"))
        return err_input(why, "%s has more than one dimension already", f->name);
    for (size_t i = 0; i < f->n_launches; i++) {
        if (!launch_block_constant(f, &f->launches[i], &threads) || (s->threads && threads != s->threads))
            return err_input(why, "the threads of %s's blocks are not written down", f->name);
        s->threads = threads;
    }
    if (s->threads % WARP)
        return err_input(why, "the blocks of %s have no whole warps", f->name);
    return walk(f, s, f->body, why) &&
           (!stores_are_read(f, s) || err_input(why, "what a loop of %s stores is read behind it", f->name));
}

static struct shape shape_of(const struct split *s, int setting)
{
    int columns = setting % COLUMNS;

    return (struct shape){.parts = setting % BLOCKS / COLUMNS,
                          .columns = columns ? columns : (int)s->threads,
                          .blocks = setting / BLOCKS};
}

static int64_t parts_bytes(const struct function *f, const struct split *s, const struct shape *x)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < s->n_loops; i++)
        for (size_t k = 0; k < s->loops[i].n_sums; k++)
            bytes += (int64_t)x->columns * x->parts * MAX(ctype_size(f, s->loops[i].sums[k].v->type), 4);
    return bytes;
}

static bool clusters(const struct function *f, const struct split *s, struct err *why)
{
    const char *body = text_of(f, f->body);

    if (f->in->limits && f->in->limits->cc_major < 9)
        return err_input(why, "the device has no clusters");
    if (s->n_loops > 1 || s->loops[0].n_sums == 0)
        return err_input(why, "the blocks of a cluster would meet more than once in %s", f->name);
    if (str_has_word(body, "blockIdx.y") || str_has_word(body, "gridDim.y"))
        return err_input(why, "%s uses grid.y already", f->name);
    for (size_t i = 0; i < f->n_launches; i++)
        if (!launch_grid_is_line(f, &f->launches[i]))
            return err_input(why, "the grid of %s has more than one dimension already", f->name);
    return true;
}

static bool fits(const struct function *f, const struct split *s, int setting, struct err *why)
{
    const struct shape x = shape_of(s, setting);

    if (x.parts < 2 || s->threads % x.columns || x.columns * x.parts > 1024 || setting % COLUMNS == s->threads)
        return err_input(why, "a block of %lld threads has no such parts", (long long)s->threads);
    if (x.columns != s->threads && !counts_any_block(f))
        return err_input(why, "%s is made for its number of threads", f->name);
    return (!x.blocks || clusters(f, s, why)) &&
           (parts_bytes(f, s, &x) <= SHARED_MOST ||
            err_input(why, "so many parts need more shared memory than a block has"));
}

static int threads_of(int setting)
{
    return setting % BLOCKS / COLUMNS * (setting % COLUMNS ? setting % COLUMNS : WARP);
}

static void split_find(struct function *f, struct site_list *found)
{
    enum { FULL = 32 * COLUMNS + 32 };
    static const int many[] = {FULL, 16 * COLUMNS + 32, 8 * COLUMNS, 8 * COLUMNS + 32, 4 * COLUMNS},
                     few[] = {8 * BLOCKS + FULL, 4 * BLOCKS + FULL, FULL, 2 * BLOCKS + FULL, 16 * COLUMNS + 32,
                              8 * COLUMNS,       8 * COLUMNS + 32};
    double warps = fewest_warps(f); /* of 32 columns each: blocks */
    bool idle = f->in->limits && warps < 0.75 * f->in->limits->sm_count;
    struct split s;

    if (!splits(f, &s, NULL) || !has_room(f))
        return;
    for (const int *setting =
             settings_to_try(f, found, idle ? few : many, idle ? ARRAY_LEN(few) : ARRAY_LEN(many));
         *setting != NO_SETTING; setting++) {
        const struct shape x = shape_of(&s, *setting);
        if (!fits(f, &s, *setting, NULL))
            continue;
        site_add(found, f, s.loops[0].loop, *setting,
                 "each thread waits for one turn of its loop after the other, and there are few threads",
                 "%zu loop%s in %d parts%s", s.n_loops, s.n_loops > 1 ? "s" : "", x.parts * MAX(x.blocks, 1),
                 x.blocks ? ", by the blocks of a cluster" : "");
    }
}

/* ---- the new text ---- */

struct names {
    const char *inside; /* NULL: all threads have work */
    struct shape shape;
};

static const char *gather_text(const struct function *f, const struct gathered *g, const char *indent,
                               const char *part)
{
    const char *v = g->v->name;

    if (g->how == GATHERS_SUM)
        return arena_printf(f->a, "%s%s += %s;\n", indent, v, part);
    if (g->how == GATHERS_CALL)
        return arena_printf(f->a, "%s%s = %s(%s, %s);\n", indent, v, g->word, v, part);
    return arena_printf(f->a, "%s%s = %s %s %s ? %s : %s;\n", indent, v, part, g->word, v, part, v);
}

/* Adds up n parts from the second on. */
static const char *take_parts(const struct function *f, const struct turns *l, const char *const *parts, int n,
                              const char *indent)
{
    const char *other = fresh_local(f, "other"), *deeper = arena_printf(f->a, "%s    ", indent);
    struct str b = {.arena = f->a};

    str_addf(&b, "\n#pragma unroll\n%sfor (int %s = 1; %s < %d; %s++) {\n", indent, other, other, n, other);
    for (size_t k = 0; k < l->n_sums; k++)
        str_add(&b, gather_text(f, &l->sums[k], deeper, parts[k]));
    str_addf(&b, "%s}", indent);
    return str_take(&b, f->a);
}

/* The first threads of each block put its parts together, those of the cluster's first block the blocks'. */
static const char *cluster_meets(const struct function *f, const struct turns *l, const struct names *n,
                                 const char *const *name, const char *indent)
{
    static const char cluster[] = "cooperative_groups::this_cluster()";
    struct arena *a = f->a;
    const char *other = fresh_local(f, "other"), *deeper = arena_printf(a, "%s    ", indent), *own[SUMS_MOST],
               *theirs[SUMS_MOST];
    struct str b = {.arena = a}, keeps = {.arena = a};

    for (size_t k = 0; k < l->n_sums; k++) {
        own[k] = arena_printf(a, "%s[%s][threadIdx.x]", name[k], other);
        theirs[k] = arena_printf(a, "%s.map_shared_rank(%s[0], %s)[threadIdx.x]", cluster, name[k], other);
        str_addf(&keeps, "\n%s%s[0][threadIdx.x] = %s;", deeper, name[k], l->sums[k].v->name);
    }
    str_addf(&b, "\n%sif (threadIdx.y == 0) {%s%s\n%s}", indent, take_parts(f, l, own, n->shape.parts, deeper),
             str_text(&keeps), indent);
    str_addf(&b, "\n%s%s.sync();", indent, cluster);
    str_addf(&b, "\n%sif (blockIdx.y + threadIdx.y == 0) {%s\n%s}", indent,
             take_parts(f, l, theirs, n->shape.blocks, deeper), indent);
    str_addf(&b, "\n%s%s.sync(); // no block ends before it has been read", indent, cluster);
    return str_take(&b, a);
}

/* Behind a loop the parts meet; behind the last one the first thread of each column goes on alone. */
static void meet(const struct function *f, const struct split *s, size_t i, const struct names *n,
                 struct edits *edits)
{
    struct arena *a = f->a;
    const struct turns *l = &s->loops[i];
    bool last = i + 1 == s->n_loops;
    const char *indent = text_indent(f, node_start(l->loop)), *other = fresh_local(f, "other"),
               *name[SUMS_MOST], *parts[SUMS_MOST];
    struct str b = {.arena = a}, puts = {.arena = a}, firsts = {.arena = a};
    const char *left = arena_printf(a, "\n%sif (threadIdx.y%s > 0%s%s)\n%s    return;", indent,
                                    n->shape.blocks ? " + blockIdx.y" : "", n->inside ? " || !" : "",
                                    n->inside ? n->inside : "", indent);

    for (size_t k = 0; k < l->n_sums; k++) {
        const struct variable *v = l->sums[k].v;
        name[k] = fresh_local(f, s->n_loops > 1 ? arena_printf(a, "%s_parts_%zu", v->name, i + 1)
                                                : arena_printf(a, "%s_parts", v->name));
        parts[k] = arena_printf(a, "%s[%s][threadIdx.x]", name[k], other);
        str_addf(&b, "\n%s__shared__ %s %s[%d][%d];", indent, v->type, name[k], n->shape.parts,
                 n->shape.columns);
        str_addf(&puts, "\n%s%s[threadIdx.y][threadIdx.x] = %s;", indent, name[k], v->name);
        str_addf(&firsts, "\n%s%s = %s[0][threadIdx.x];", indent, v->name, name[k]);
    }
    if (l->n_sums > 0)
        str_addf(&b, "%s\n%s__syncthreads();", str_text(&puts), indent);
    if (n->shape.blocks)
        str_addf(&b, "%s%s", cluster_meets(f, l, n, name, indent), left);
    else if (last)
        str_add(&b, left);
    else /* all of them go on with the same */
        str_add(&b, str_text(&firsts));
    if (l->n_sums > 0 && !n->shape.blocks)
        str_add(&b, take_parts(f, l, parts, n->shape.parts, indent));
    edits_at(edits, node_end(l->loop), str_take(&b, a));
}

/* The other parts begin with nothing. Of a largest or smallest all may begin alike. */
static const char *clear_text(const struct function *f, const struct turns *l, int blocks)
{
    const char *indent = text_indent(f, node_start(l->loop));
    struct str b = {.arena = f->a};
    bool any = false;

    for (size_t k = 0; k < l->n_sums; k++) {
        const struct variable *v = l->sums[k].v;
        if (l->sums[k].how != GATHERS_SUM || gathers_from_zero(f, &l->sums[k]))
            continue;
        if (!any)
            str_addf(&b, "if (%sthreadIdx.y > 0)\n    ", blocks ? "blockIdx.y + " : "");
        str_addf(&b, "%s = ", v->name);
        any = true;
    }
    return any ? arena_printf(f->a, "%s0;\n%s", text_reindent(f->a, str_text(&b), (int)strlen(indent)), indent)
               : "";
}

static void loop_edit(const struct function *f, const struct turns *l, const struct names *n,
                      struct edits *edits)
{
    struct arena *a = f->a;
    struct node condition = node_field(l->loop, FIELD_CONDITION), update = node_field(l->loop, FIELD_UPDATE);
    const char *start = text_of(f, l->start), *index = l->index->name;
    bool zero = str_eq(start, "0"), plain = node_is(unbracketed(l->start), NODE_IDENTIFIER);
    const char *mine = n->shape.blocks ? arena_printf(a, "(int)(blockIdx.y * %d + threadIdx.y)", n->shape.parts)
                                       : "(int)threadIdx.y";
    int parts = n->shape.parts * MAX(n->shape.blocks, 1);
    char *step = node_ok(l->step) ? text_of(f, l->step) : NULL;

    if (n->inside && reads_memory(f, l->start))
        start = arena_printf(a, "%s ? %s : 0", n->inside, start);
    if (step)
        mine = arena_printf(a, "%s * (%s)", mine, step);
    if (!plain && !zero)
        start = arena_printf(a, "(%s)", start);
    edits_node(edits, l->start, zero ? mine : arena_printf(a, "%s + %s", start, mine));
    if (n->inside)
        edits_at(edits, node_start(condition), arena_printf(a, "%s && ", n->inside));
    edits_node(edits, update, arena_printf(a, step ? "%s += %d * (%s)" : "%s += %d", index, parts, step));
    const char *clear = clear_text(f, l, n->shape.blocks);
    struct node before = node_prev(l->loop);
    if (*clear) /* not between a pragma and its loop */
        edits_at(edits, node_is(before, NODE_PREPROC_CALL) ? node_start(before) : node_start(l->loop), clear);
}

/* Who would have returned stays. */
static void questions_edit(const struct function *f, const struct split *s, const struct names *n,
                           struct edits *edits)
{
    struct arena *a = f->a;
    struct str said = {.arena = a};

    for (size_t i = 0; i < s->questions.n; i++) {
        const char *condition = text_of(f, node_strip(node_field(s->questions.v[i], FIELD_CONDITION)));
        const char *name = i + 1 < s->questions.n || node_ok(s->around)
                               ? fresh_local(f, arena_printf(a, "left_%zu", i + 1))
                               : n->inside;
        if (str_eq(name, n->inside))
            edits_node(edits, s->questions.v[i],
                       arena_printf(a, "const bool %s = %s!(%s);", name, str_text(&said), condition));
        else
            edits_node(edits, s->questions.v[i], arena_printf(a, "const bool %s = %s;", name, condition));
        str_addf(&said, "!%s && ", name);
    }
    if (node_ok(s->around)) {
        const char *condition = text_of(f, node_strip(node_field(s->around, FIELD_CONDITION)));
        edits_try(edits, node_start(s->around), node_start(node_field(s->around, FIELD_CONSEQUENCE)),
                  arena_printf(a, "const bool %s = %s(%s);\n%s", n->inside, str_text(&said), condition,
                               text_indent(f, node_start(s->around))));
    }
    for (size_t i = 0; i < s->reads.n; i++)
        for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
            if (node_same(v->statement, s->reads.v[i]) && reads_memory(f, v->init))
                edits_node(edits, v->init, arena_printf(a, "%s ? %s : 0", n->inside, text_of(f, v->init)));
}

static void kernel_edit(const struct function *f, const struct split *s, const struct names *n,
                        struct edits *edits)
{
    questions_edit(f, s, n, edits);
    for (size_t i = 0; i < s->n_loops; i++) {
        loop_edit(f, &s->loops[i], n, edits);
        meet(f, s, i, n, edits);
    }
    if (n->shape.blocks)
        edits_at(edits, node_start(f->id), arena_printf(f->a, "__cluster_dims__(1, %d, 1) ", n->shape.blocks));
}

/* The launch with the new shape; name: of the copy, NULL: there is none. */
static const char *launch_edit(const struct function *f, const struct split *s, const struct names *n,
                               const struct launch *l, const char *name)
{
    int times = (int)s->threads / n->shape.columns;
    char *grid = NULL, *x, *block = arena_printf(f->a, "dim3(%d, %d)", n->shape.columns, n->shape.parts);

    if (times > 1 || n->shape.blocks) {
        if (!launch_grid_x(f, l, &x))
            return NULL;
        if (times > 1)
            x = arena_printf(f->a, call_is(f, l->grid, "dim3") ? "(%s) * %d" : "%s * %d", x, times);
        grid = launch_grid_with(f, l, x, n->shape.blocks ? arena_printf(f->a, "%d", n->shape.blocks) : NULL);
    }
    return launch_text(f, l, name, grid, block);
}

/* Where the launcher can tell how many turns the first loop has, short ones stay as they were. */
static bool split_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    struct arena *a = f->a;
    struct split s;

    if (!splits(f, &s, why_not) || !fits(f, &s, site->setting, why_not))
        return false;
    struct names n = {.shape = shape_of(&s, site->setting),
                      .inside = s.questions.n || node_ok(s.around) ? fresh_local(f, "inside") : NULL};
    struct node limit = s.loops[0].limit;
    int64_t known;
    bool told = launches_tell(f, limit) && !constant_value(f, limit, &known) && function_may_be_copied(f);
    struct edits inside = {.arena = a};
    const char *name = told ? fresh_name(f, arena_printf(a, "%s_split", f->name)) : NULL;
    int parts = n.shape.parts * MAX(n.shape.blocks, 1);

    kernel_edit(f, &s, &n, told ? &inside : edits);
    if (told &&
        !edits_copy(edits, &inside, f, name, arena_printf(a, "with its loops in %d parts", parts), why_not))
        return false;
    if (n.shape.blocks)
        edits_include(edits, f, "<cooperative_groups.h>", "<cooperative_groups.h>");
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        const char *call = launch_edit(f, &s, &n, l, name);
        if (!call)
            return err_input(why_not, "the grid of %s is not understood", f->name);
        if (!told) {
            edits_node(edits, l->statement, text_wrap(a, call, launch_column(f, l)));
            continue;
        }
        struct guard_list guard = {0};
        guard_add(a, &guard, arena_printf(a, "%s >= %d", launch_expression(f, l, limit), 2 * parts));
        edits_guard_launch(edits, f, l, "Several threads share a long loop.", guard_join(f, &guard, l), call);
    }
    return true;
}

static const char *split_words(struct arena *a, int setting)
{
    struct str b = {.arena = a};

    str_addf(&b, "%d", setting % BLOCKS / COLUMNS);
    if (setting % COLUMNS)
        str_addf(&b, " of %d columns", setting % COLUMNS);
    if (setting / BLOCKS)
        str_addf(&b, " in clusters of %d", setting / BLOCKS);
    return str_take(&b, a);
}

const struct transform transform_split_loop = {
    .name = "split-loop",
    .summary = "several threads share the loop that each went through by itself, and put their parts together",
    .helps = "latency launch dram",
    .chooses = "block",
    .threads = threads_of,
    .setting_words = split_words,
    .parameters = {{"parts", COLUMNS, BLOCKS / COLUMNS, 5, {2, 4, 8, 16, 32}},
                   {"columns", 1, COLUMNS, 3, {0, 32, 64}},
                   {"blocks", BLOCKS, 0, 4, {0, 2, 4, 8}}},
    .find = split_find,
    .apply = split_apply,
};
