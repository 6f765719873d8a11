/* split-row: where one block walks a whole row, several blocks along grid.y share it, so that few rows still
 * fill the GPU. Legal when the block's threads never meet and everything written is written inside the loops
 * over lanes: then which thread does which element makes no difference. */
#include "rewrite/analysis.h"

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

/* The part of a variable that a statement of the loop's body sets: 'x' of `v.x = ...;`, 'a' of `v = ...;`, 0
 * where the name stands elsewhere. */
static char part_set(const struct function *f, struct node name, struct node body)
{
    struct node target = name, up = node_parent(name);
    char part = 'a';
    if (node_is(up, NODE_FIELD_EXPRESSION)) {
        part = *text_of(f, node_field(up, FIELD_FIELD));
        target = up;
        up = node_parent(up);
    }
    bool sets = node_is_assignment(f, up, "=") && node_same(node_field(up, FIELD_LEFT), target) &&
                node_is(node_parent(up), NODE_EXPRESSION_STATEMENT) &&
                node_same(node_parent(node_parent(up)), body);
    return sets && !node_mentions(f, node_field(up, FIELD_RIGHT), text_of(f, name)) ? part : '\0';
}

/* A variable, or each part of one of a vector's type, that every turn of the loop sets before it reads it, and
 * that nobody reads behind: it gathers nothing. */
static bool is_set_anew(const struct function *f, const struct variable *v, const struct lane_loop *loop)
{
    size_t n = 0, length = strlen(v->type), wide = length ? (size_t)(v->type[length - 1] - '0') : 0;
    char set[8] = "";
    bool whole = false;
    if (v->param || v->array || v->shared || v->pointer)
        return false;
    for (struct node *name = names_in(f, f->body); node_ok(*name); name++) {
        if (function_variable_of(f, *name) != v || node_within(*name, v->statement))
            continue;
        struct node up = node_parent(*name);
        char part = part_set(f, *name, loop->body);
        bool known = whole || (node_is(up, NODE_FIELD_EXPRESSION) &&
                               strchr(set, *text_of(f, node_field(up, FIELD_FIELD))));
        if (!node_within(*name, loop->body) || node_is_address(f, up) || !(part || known))
            return false;
        if (part && !strchr(set, part) && n < sizeof(set) - 1)
            set[n++] = part;
        whole = strchr(set, 'a') || (wide >= 1 && wide <= 4 && n >= wide);
    }
    return true;
}

static bool splits(const struct function *f, struct lane_loop **loops, size_t *n_loops, struct err *why)
{
    *loops = lane_loops(f, n_loops);
    if (*n_loops == 0)
        return err_input(why, "%s has no loop in steps of the block", f->name);
    if (f->n_launches == 0 || calls_barrier(f, f->body))
        return err_input(why, "the threads of %s meet", f->name);
    char *body = text_of(f, f->body);
    if (str_has_word(body, "blockIdx.y") || str_has_word(body, "gridDim.y"))
        return err_input(why, "%s uses grid.y already", f->name);
    for (size_t i = 0; i < f->n_variables; i++)
        if (f->variables[i].shared)
            return err_input(why, "%s keeps things in shared memory", f->name);
    for (size_t l = 0; l < *n_loops; l++) {
        const struct lane_loop *loop = &(*loops)[l];
        if (loop->span != LANES_BLOCK)
            return err_input(why, "the loop at line %d spans the grid already", node_line(f->s, loop->loop));
        for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
            bool inside = v->from >= node_start(loop->loop) && v->from < node_end(loop->loop);
            if (!inside && variable_assigned_in(f, v, loop->loop) && !is_set_anew(f, v, loop))
                return err_input(why, "the loop at line %d gathers %s over the row",
                                 node_line(f->s, loop->loop), v->name);
        }
        if (!launches_tell(f, loop->bound))
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

/* The kernel writes down its number of threads, or has several rows in a block: the launch may not change it.
 */
static bool block_is_written_down(const struct function *f, const struct lane_loop *loops, size_t n)
{
    const char *body = text_of(f, f->body);
    if (str_has_word(body, "threadIdx.y") || str_has_word(body, "blockDim.y"))
        return true;
    for (size_t i = 0; i < n; i++)
        if (!str_has_word(text_of(f, loops[i].step), "blockDim.x")) {
            struct node step = node_strip(loops[i].step);
            const struct variable *v = function_variable_of(f, step);
            if (!v || !node_ok(v->init) || !str_has_word(text_of(f, v->init), "blockDim.x"))
                return true;
        }
    return false;
}

/* A setting is 1000 * steps that a thread takes in its row + threads of a block. */
enum { STEPS = 1000 };

static void split_find(struct function *f, struct site_list *found)
{
    static const int own[] = {128, 256, 64, 512, 2 * STEPS + 128, 2 * STEPS + 256, 4 * STEPS + 128, 0};
    struct arena *a = f->a;
    struct lane_loop *loops;
    size_t n;
    if (!splits(f, &loops, &n, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING;
         setting++) {
        int threads = *setting % STEPS, steps = MAX(*setting / STEPS, 1);
        bool same = threads && f->block_x == threads;
        if (threads == 0 && steps > 1)
            continue;
        if (threads ? !same && block_is_written_down(f, loops, n) : f->block_x >= 64 && f->block_x <= 512)
            continue;
        site_add(found, f, loops[0].loop, *setting,
                 "one block a row leaves SMs idle when rows are few, and makes each thread wait for one access "
                 "after the other",
                 "over grid.y%s%s", threads ? arena_printf(a, ", %d threads a block", threads) : "",
                 steps > 1 ? arena_printf(a, ", %d steps a thread", steps) : "");
    }
}

static bool split_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    struct arena *a = f->a;
    int threads = site->setting % STEPS; /* 0: as the block is */
    struct lane_loop *loops;
    size_t n;
    if (!splits(f, &loops, &n, why_not))
        return false;
    threads = threads == f->block_x ? 0 : threads;
    if (threads && block_is_written_down(f, loops, n))
        return err_input(why_not, "%s is made for its number of threads", f->name);
    int width = loops[0].width; /* elements that a thread takes */
    for (size_t i = 0; i < n; i++) {
        int w = loops[i].width;
        const char *thread = "blockIdx.y * blockDim.x + threadIdx.x", *lanes = "gridDim.y * blockDim.x";
        edits_node(edits, loops[i].start, w == 1 ? thread : arena_printf(a, "(%s) * %d", thread, w));
        edits_node(edits, loops[i].step, w == 1 ? lanes : arena_printf(a, "%s * %d", lanes, w));
        width = MIN(width, w);
    }
    width *= MAX(site->setting / STEPS, 1);
    const char *name = fresh_name(f, "row_blocks");
    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        char *indent = text_indent(f, node_start(l->statement)), *x, *block = launch_threads(f, l);
        char *bound = launch_expression(f, l, loops[0].bound);
        if (i > 0)
            name = arena_printf(a, "row_blocks_%zu", i + 1);
        int64_t known = threads;
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
        char *call = launch_text(f, l, NULL, grid, threads ? arena_printf(a, "%d", threads) : NULL);
        edits_launch(edits, f, l,
                     arena_printf(a,
                                  "// Several blocks share a row, so that few rows still fill the GPU.\n"
                                  "%sconst int %s = %s;\n%sdim3 %s(%s, %s < 65535 ? %s : 65535);\n%s%s",
                                  indent, name, count, indent, grid, x, name, name, indent,
                                  text_wrap(a, call, (int)strlen(indent))));
    }
    return true;
}

static const char *split_words(struct arena *a, int setting)
{
    return setting >= STEPS ? arena_printf(a, "%d in %d steps", setting % STEPS, setting / STEPS) : NULL;
}

const struct transform transform_split_row = {
    .name = "split-row",
    .alias = "split-rows",
    .summary = "share a row among several blocks along grid.y, where one block walked it",
    .helps = "latency launch dram",
    .chooses = "block items",
    .parameters = {{"threads", 1, STEPS, 8, {0, 64, 96, 128, 192, 256, 384, 512}},
                   {"steps", STEPS, 0, 5, {0, 2, 3, 4, 8}}}, /* 0: one */
    .setting_words = split_words,
    .find = split_find,
    .apply = split_apply,
};
