/* split-row: where one block walks a whole row, several blocks along grid.y share it, so that few rows still
 * fill the GPU. Legal when the block's threads never meet and everything written is written inside the loops
 * over lanes: then which thread does which element makes no difference. */
#include "rewrite/analysis.h"

struct detail {
    const struct function *f;
    int threads; /* of a block; 0: as it is */
    int steps;   /* that a thread takes in its row */
};

/* Something outside the loops has an effect, which several blocks would now repeat. */
static bool effect_outside(const struct function *f, struct node n, const struct lane_loop *loops,
                           size_t n_loops)
{
    for (size_t i = 0; i < n_loops; i++)
        if (node_same(n, loops[i].loop))
            return false;
    if (node_is(n, NODE_ASSIGNMENT_EXPRESSION) || node_is(n, NODE_UPDATE_EXPRESSION)) {
        struct node target =
            node_strip(node_field(n, node_is(n, NODE_UPDATE_EXPRESSION) ? FIELD_ARGUMENT : FIELD_LEFT));
        if (node_is(target, NODE_SUBSCRIPT_EXPRESSION) || node_is(target, NODE_POINTER_EXPRESSION))
            return true;
    }
    if (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (effect_outside(f, node_child(n, i), loops, n_loops))
            return true;
    return false;
}

static bool splits(const struct function *f, struct lane_loop **loops, size_t *n_loops, struct err *why)
{
    *loops = lane_loops(f, n_loops);
    if (*n_loops == 0)
        return err_input(why, "%s has no loop in steps of the block", f->name);
    if (f->n_launches == 0 || calls_barrier(f, f->body))
        return err_input(why, "the threads of %s meet", f->name);
    char *body = text_of(f, f->body);
    if (text_has_word(body, "blockIdx.y") || text_has_word(body, "gridDim.y"))
        return err_input(why, "%s uses grid.y already", f->name);
    for (size_t i = 0; i < f->n_variables; i++)
        if (f->variables[i].shared)
            return err_input(why, "%s keeps things in shared memory", f->name);
    for (size_t l = 0; l < *n_loops; l++) {
        const struct lane_loop *loop = &(*loops)[l];
        if (loop->span != LANES_BLOCK)
            return err_input(why, "the loop at line %d spans the grid already", node_line(f->s, loop->loop));
        for (size_t i = 0; i < f->n_variables; i++) {
            const struct variable *v = &f->variables[i];
            bool inside = v->from >= node_start(loop->loop) && v->from < node_end(loop->loop);
            if (!inside && variable_assigned_in(f, v, loop->loop))
                return err_input(why, "the loop at line %d gathers %s over the row",
                                 node_line(f->s, loop->loop), v->name);
        }
        for (size_t i = 0; i < f->n_launches; i++)
            if (!launch_expression(f, &f->launches[i], loop->bound))
                return err_input(why, "the launcher cannot tell the length of the loop at line %d",
                                 node_line(f->s, loop->loop));
    }
    if (effect_outside(f, f->body, *loops, *n_loops))
        return err_input(why, "%s writes outside its loops too", f->name);
    char *x;
    for (size_t i = 0; i < f->n_launches; i++)
        if (!launch_grid_is_line(f, &f->launches[i]) || !launch_grid_x(f, &f->launches[i], &x))
            return err_input(why, "the grid has more than one dimension already");
    return true;
}

/* The kernel writes down its number of threads, so the launch may not change it. */
static bool block_is_written_down(const struct function *f, const struct lane_loop *loops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!text_has_word(text_of(f, loops[i].step), "blockDim.x")) {
            struct node step = node_strip(loops[i].step);
            const struct variable *v = function_variable_of(f, step);
            if (!v || !node_ok(v->init) || !text_has_word(text_of(f, v->init), "blockDim.x"))
                return true;
        }
    return false;
}

static size_t split_find(const struct transform_input *in, struct arena *a, const struct transform_site **sites)
{
    static const int settings[] = {128, 256, 64, 512, 2128, 2256, 4128, 0}; /* 1000 * steps + threads */
    VEC(struct transform_site) found = {0};
    for (size_t i = 0; i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        struct lane_loop *loops;
        size_t n;
        if (!f || !splits(f, &loops, &n, NULL))
            continue;
        for (size_t t = 0; t < ARRAY_LEN(settings); t++) {
            int threads = settings[t] % 1000, steps = MAX(settings[t] / 1000, 1);
            bool same = threads && f->block_x == threads;
            if (threads ? !same && block_is_written_down(f, loops, n) : f->block_x >= 64 && f->block_x <= 512)
                continue;
            struct detail *d = arena_new(a, struct detail);
            *d = (struct detail){f, same ? 0 : threads, steps};
            struct transform_site site = {.transform = "split-row",
                                          .line = node_line(f->s, loops[0].loop),
                                          .setting = settings[t],
                                          .detail = d};
            site.where = arena_printf(a, "%s, line %d: over grid.y%s%s", f->name, site.line,
                                      threads ? arena_printf(a, ", %d threads a block", threads) : "",
                                      steps > 1 ? arena_printf(a, ", %d steps a thread", steps) : "");
            site.why =
                "one block a row leaves SMs idle when rows are few, and makes each thread wait for one access "
                "after the other";
            vec_add(a, &found, site);
        }
    }
    *sites = found.v;
    return found.n;
}

static bool split_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                        char **text, struct err *why_not)
{
    (void)in;
    const struct detail *d = site->detail;
    const struct function *f = d->f;
    struct lane_loop *loops;
    size_t n;
    if (!splits(f, &loops, &n, why_not))
        return false;
    struct edits edits = {.arena = a};
    int width = loops[0].width; /* elements that a thread takes */
    for (size_t i = 0; i < n; i++) {
        int w = loops[i].width;
        const char *thread = "blockIdx.y * blockDim.x + threadIdx.x", *lanes = "gridDim.y * blockDim.x";
        edits_try(&edits, node_start(loops[i].start), node_end(loops[i].start),
                  w == 1 ? thread : arena_printf(a, "(%s) * %d", thread, w));
        edits_try(&edits, node_start(loops[i].step), node_end(loops[i].step),
                  w == 1 ? lanes : arena_printf(a, "%s * %d", lanes, w));
        width = MIN(width, w);
    }
    width *= d->steps;
    const char *name = fresh_name(f, "row_blocks");
    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        char *indent = text_indent(f, node_start(l->statement)), *x, *block = text_of(f, l->block);
        char *bound = launch_expression(f, l, loops[0].bound);
        if (i > 0)
            name = arena_printf(a, "row_blocks_%zu", i + 1);
        int64_t known = d->threads;
        if (!known && node_is(l->block, NODE_NUMBER_LITERAL))
            constant_value(f, l->block, &known);
        char *count;
        if (known)
            count = arena_printf(a, "(%s + %lld) / %lld", bound, (long long)(known * width - 1),
                                 (long long)(known * width));
        else if (width == 1)
            count = arena_printf(a, "(%s + %s - 1) / %s", bound, block, block);
        else
            count = arena_printf(a, "(%s + %s * %d - 1) / (%s * %d)", bound, block, width, block, width);
        launch_grid_x(f, l, &x);
        size_t len = strlen(x); /* brackets are not needed any more */
        if (x[0] == '(' && x[len - 1] == ')' && !node_is(l->grid, NODE_CALL_EXPRESSION))
            x = arena_strndup(a, x + 1, len - 2);
        char *grid = fresh_name(f, i ? arena_printf(a, "grid_%zu", i + 1) : "grid");
        char *call = launch_text(f, l, NULL, grid, d->threads ? arena_printf(a, "%d", d->threads) : NULL);
        bool bare = !node_is(node_parent(l->statement), NODE_COMPOUND_STATEMENT);
        char *lines = arena_printf(a,
                                   "// Several blocks share a row, so that few rows still fill the GPU.\n"
                                   "%sconst int %s = %s;\n%sdim3 %s(%s, %s < 65535 ? %s : 65535);\n%s%s",
                                   indent, name, count, indent, grid, x, name, name, indent,
                                   text_wrap(a, call, (int)strlen(indent)));
        edits_try(&edits, node_start(l->statement), node_end(l->statement),
                  bare ? arena_printf(a, "{\n%s    %s\n%s}", indent, text_reindent(a, lines, 4), indent)
                       : lines);
    }
    return edits_done(&edits, f, text, why_not);
}

static const char *split_words(struct arena *a, int setting)
{
    return setting >= 1000 ? arena_printf(a, "%d in %d steps", setting % 1000, setting / 1000) : NULL;
}

const struct transform transform_split_row = {
    .name = "split-row",
    .alias = "split-rows",
    .summary = "share a row among several blocks along grid.y, where one block walked it",
    .helps = "latency launch dram",
    .chooses = "block items",
    .setting_words = split_words,
    .find = split_find,
    .apply = split_apply,
};
