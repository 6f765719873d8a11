/* block-size: another number of threads in a block. The number may be a literal at the launches (then grids
 * that divide by it, template arguments and shared arrays that repeat it change along), a variable of the
 * launcher, or a constant of the file. With a setting above 1024, a block takes as many threads as its row has
 * work for, up to setting - 10000. */
#include "rewrite/analysis.h"

enum { UP_TO = 10000 };

enum where { LITERAL, VARIABLE, CONSTANT };

struct detail {
    const struct function *f; /* any kernel that is launched with it */
    enum where where;
    int64_t old;
    struct node value; /* VARIABLE and CONSTANT: the number that changes */
    struct node host;
    int threads;
};

/* The number behind a launch's block expression. */
static bool block_of(const struct function *f, const struct launch *l, struct detail *d)
{
    struct node e = node_strip(l->block);
    if (call_is(f, e, "dim3") && node_count(node_field(e, FIELD_ARGUMENTS)) == 1)
        e = node_strip(node_child(node_field(e, FIELD_ARGUMENTS), 0));
    d->f = f;
    d->host = l->host;
    if (node_is(e, NODE_NUMBER_LITERAL)) {
        d->where = LITERAL;
        d->value = e;
        return constant_value(f, e, &d->old);
    }
    if (!node_is(e, NODE_IDENTIFIER))
        return false;
    d->value = node_field(host_declarator(f, l, e), FIELD_VALUE);
    d->where = VARIABLE;
    if (node_ok(d->value))
        return node_is(d->value, NODE_NUMBER_LITERAL) && constant_value(f, d->value, &d->old);
    size_t count;
    struct node *all = file_items(f, &count);
    for (size_t i = 0; i < count; i++) {
        struct node c = all[i], declarator = node_field(c, FIELD_DECLARATOR);
        d->where = CONSTANT;
        if (node_is(c, NODE_PREPROC_DEF) && node_text_is(f->s, node_field(c, FIELD_NAME), text_of(f, e))) {
            d->value = node_field(c, FIELD_VALUE);
            return node_ok(d->value) && constant_value(f, e, &d->old) &&
                   str_eq(text_compact(f->a, text_of(f, d->value)),
                          arena_printf(f->a, "%lld", (long long)d->old));
        }
        if (node_is(c, NODE_DECLARATION) &&
            node_text_is(f->s, node_field(declarator, FIELD_DECLARATOR), text_of(f, e))) {
            d->value = node_field(declarator, FIELD_VALUE);
            return node_is(d->value, NODE_NUMBER_LITERAL) && constant_value(f, d->value, &d->old);
        }
    }
    return false;
}

/* Shared arrays with a slot a thread must be long enough; a literal length that equals the block's grows with
 * it. */
static bool arrays_fit(const struct function *f, const struct detail *d, int threads, struct edits *edits)
{
    size_t n;
    struct node *all = node_find_all(f->a, f->body, NODE_SUBSCRIPT_EXPRESSION, &n);
    for (size_t i = 0; i < n; i++) {
        const struct variable *v = function_variable_of(f, node_field(all[i], FIELD_ARGUMENT));
        if (!v || !v->shared || !v->array || !node_ok(v->size) ||
            !poly_is_thread(f, subscript_index(f, all[i])))
            continue;
        int64_t length;
        if (node_is(v->size, NODE_IDENTIFIER) && d->where == CONSTANT)
            continue; /* the constant changes for both */
        if (!constant_value(f, v->size, &length))
            return false;
        if (length >= threads)
            continue;
        if (!node_is(v->size, NODE_NUMBER_LITERAL) || length != d->old)
            return false;
        bool seen = false;
        for (size_t e = 0; edits && e < edits->list.n; e++)
            seen = seen || edits->list.v[e].start == node_start(v->size);
        if (edits && !seen)
            edits_node(edits, v->size, arena_printf(f->a, "%d", threads));
    }
    return true;
}

/* The kernel itself repeats the number, other than as an array's length. */
static bool repeats(const struct function *f, int64_t old)
{
    size_t n;
    struct node *all = node_find_all(f->a, f->body, NODE_NUMBER_LITERAL, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        if (constant_value(f, all[i], &v) && v == old && !node_is(node_parent(all[i]), NODE_ARRAY_DECLARATOR))
            return true;
    }
    struct node *steps = node_find_all(f->a, f->body, NODE_IDENTIFIER, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        struct node parent = node_parent(steps[i]);
        bool of_template =
            node_is(f->whole, NODE_TEMPLATE_DECLARATION) &&
            text_has_word(text_of(f, node_field(f->whole, FIELD_PARAMETERS)), text_of(f, steps[i]));
        bool of_file =
            !function_variable_of(f, steps[i]) && !of_template && !node_is(parent, NODE_ARRAY_DECLARATOR);
        if (of_file && constant_value(f, steps[i], &v) && v == old)
            return true;
    }
    return false;
}

/* `(x + 127) / 128` in the host function: both numbers follow. */
static void grid_follow(const struct function *f, const struct detail *d, struct edits *edits)
{
    size_t n;
    struct node *all = node_find_all(f->a, d->host, NODE_BINARY_EXPRESSION, &n);
    for (size_t i = 0; i < n; i++) {
        struct node right = node_field(all[i], FIELD_RIGHT), left = node_strip(node_field(all[i], FIELD_LEFT));
        int64_t by, round;
        if (!str_eq(node_op(f, all[i]), "/") || !node_is(right, NODE_NUMBER_LITERAL) ||
            !constant_value(f, right, &by) || by % d->old != 0 || !node_is(left, NODE_BINARY_EXPRESSION) ||
            !str_eq(node_op(f, left), "+"))
            continue;
        struct node add = node_field(left, FIELD_RIGHT);
        if (!node_is(add, NODE_NUMBER_LITERAL) || !constant_value(f, add, &round) || round != by - 1)
            continue;
        by = by / d->old * d->threads;
        edits_node(edits, add, arena_printf(f->a, "%lld", (long long)by - 1));
        edits_node(edits, right, arena_printf(f->a, "%lld", (long long)by));
    }
}

/* Is the grid cut into pieces of the block, in a way that follows? Needed where the kernel indexes over the
 * grid without a loop. */
static bool grid_follows(const struct function *f, const struct detail *d)
{
    size_t n, n_loops;
    struct node *all = node_find_all(f->a, f->body, NODE_BINARY_EXPRESSION, &n);
    bool over_grid = false; /* blockIdx.x * blockDim.x */
    for (size_t i = 0; i < n; i++)
        over_grid =
            over_grid || (str_eq(node_op(f, all[i]), "*") && text_has_word(text_of(f, all[i]), "blockIdx.x") &&
                          text_has_word(text_of(f, all[i]), "blockDim.x"));
    lane_loops(f, &n_loops);
    if (!over_grid || n_loops > 0)
        return true;
    struct edits seen = {.arena = f->a};
    if (d->where == LITERAL)
        grid_follow(f, d, &seen);
    return d->where != LITERAL || seen.list.n > 0;
}

/* Every kernel of the same host function whose launches carry this number. */
static bool all_take(const struct detail *d, struct edits *edits, struct err *why)
{
    const struct transform_input *in = d->f->in;
    struct arena *a = d->f->a;
    for (size_t k = 0; k < in->kernel->n_functions; k++) {
        struct function *f = function_open(in, a, in->kernel->functions[k].definition);
        bool mine = false;
        for (size_t l = 0; f && l < f->n_launches; l++) {
            struct detail other = {0};
            bool known = block_of(f, &f->launches[l], &other);
            mine = mine || (known && (d->where == LITERAL ? other.where == LITERAL && other.old == d->old &&
                                                                node_same(other.host, d->host)
                                                          : node_same(other.value, d->value)));
        }
        if (!mine)
            continue;
        f->block_x = d->old;
        if (d->where != CONSTANT && repeats(f, d->old))
            return err_input(why, "%s writes the number of threads down", f->name);
        if (!arrays_fit(f, d, d->threads, edits))
            return err_input(why, "a shared array of %s is too short for %d threads", f->name, d->threads);
        if (!grid_follows(f, d))
            return err_input(why, "the grid of %s does not follow the block", f->name);
        size_t n;
        struct node *bounds = node_find_all(a, f->definition, NODE_LAUNCH_BOUNDS, &n);
        int64_t most;
        if (n > 0 && node_count(bounds[0]) > 0 && constant_value(f, node_child(bounds[0], 0), &most) &&
            most != d->threads && (most < d->threads || most == d->old)) {
            struct node number = node_child(bounds[0], 0);
            if (!node_is(number, NODE_NUMBER_LITERAL))
                return err_input(why, "the launch bounds of %s are below %d", f->name, d->threads);
            if (edits)
                edits_node(edits, number, arena_printf(a, "%d", d->threads));
        }
        for (size_t l = 0; edits && d->where == LITERAL && l < f->n_launches; l++) {
            struct detail other = {0};
            if (!block_of(f, &f->launches[l], &other) || other.where != LITERAL || other.old != d->old ||
                !node_same(other.host, d->host))
                continue;
            edits_node(edits, other.value, arena_printf(a, "%d", d->threads));
            size_t n_args = 0;
            struct node *args = node_ok(f->launches[l].template_args)
                                    ? named_children(f, f->launches[l].template_args, &n_args)
                                    : NULL;
            for (size_t i = 0; i < n_args; i++) { /* a template parameter that repeats the block */
                int64_t v;
                if (node_is(args[i], NODE_NUMBER_LITERAL) && constant_value(f, args[i], &v) && v == d->old)
                    edits_node(edits, args[i], arena_printf(a, "%d", d->threads));
            }
        }
    }
    if (edits && d->where == LITERAL)
        grid_follow(d->f, d, edits);
    return true;
}

/* A block as long as the row's work: only where threads share a row and nothing depends on how many they are.
 */
static bool row_fits(const struct function *f, char **bound, int *width)
{
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    *bound = NULL;
    *width = 0;
    for (size_t i = 0; i < n; i++) {
        if (loops[i].span != LANES_BLOCK || !text_has_word(text_of(f, loops[i].step), "blockDim.x"))
            return false;
        char *one = f->n_launches ? launch_expression(f, &f->launches[0], loops[i].bound) : NULL;
        if (one && !*bound) {
            *bound = one;
            *width = loops[i].width;
        }
    }
    return *bound && f->n_launches == 1 && !text_has_word(text_of(f, f->body), "gridDim.y") &&
           arrays_fit(f, &(struct detail){.where = LITERAL}, 1024, NULL);
}

static void block_find(struct function *f, struct site_list *found)
{
    static const int threads[] = {512, 1024, 256, 128, 64}, most[] = {256, 512, 1024};
    for (size_t l = 0; l < f->n_launches; l++) {
        struct detail one = {0};
        if (!block_of(f, &f->launches[l], &one) || one.old < 32)
            continue;
        bool seen = false;
        for (size_t s = 0; s < found->list.n; s++) {
            const struct detail *d = found->list.v[s].detail;
            seen = seen || node_same(d->value, one.value) ||
                   (one.where == LITERAL && d->where == LITERAL && node_same(d->host, one.host) &&
                    d->old == one.old);
        }
        for (size_t t = 0; t < ARRAY_LEN(threads) && !seen; t++) {
            one.threads = threads[t];
            if (threads[t] == one.old || !all_take(&one, NULL, NULL))
                continue;
            site_add(found, f, one.value, threads[t],
                     threads[t] > one.old ? "more threads share a row and hide each other's waiting"
                                          : "smaller blocks fill the SMs more evenly and meet sooner",
                     "%d threads instead of %lld", threads[t], (long long)one.old)
                ->detail = arena_copy(f->a, &one, sizeof(one));
        }
        char *bound;
        int width;
        for (size_t t = 0; t < ARRAY_LEN(most) && !repeats(f, one.old) && row_fits(f, &bound, &width); t++) {
            one.threads = UP_TO + most[t];
            site_add(found, f, one.value, one.threads, "long rows get many threads, short rows no idle ones",
                     "as many threads as a row has work for, up to %d", most[t])
                ->detail = arena_copy(f->a, &one, sizeof(one));
        }
    }
}

/* A launch with as many threads as the row has work for. */
static bool row_apply(const struct function *f, int most, struct edits *edits, struct err *why_not)
{
    struct arena *a = f->a;
    char *bound, *name = fresh_name(f, "threads");
    int width;
    if (!row_fits(f, &bound, &width))
        return err_input(why_not, "rows of %s are not shared by the threads of a block", f->name);
    const struct launch *l = &f->launches[0];
    char *indent = text_indent(f, node_start(l->statement));
    char *count = width == 1 ? bound : arena_printf(a, "%s / %d", bound, width);
    char *call = text_wrap(a, launch_text(f, l, NULL, NULL, name), (int)strlen(indent));
    edits_launch(edits, f, l,
                 arena_printf(a,
                              "// As many threads as a row has work for, in whole warps.\n"
                              "%sconst int %s = %s >= %d ? %d : ((int)(%s) + 31) / 32 * 32;\n%s%s",
                              indent, name, bound, most * width, most, count, indent, call));
    /* a bound that the compiler was told must not be exceeded */
    size_t n;
    struct node *bounds = node_find_all(a, f->definition, NODE_LAUNCH_BOUNDS, &n);
    int64_t limit;
    if (n > 0 && constant_value(f, node_child(bounds[0], 0), &limit) && limit < most)
        edits_node(edits, node_child(bounds[0], 0), arena_printf(a, "%d", most));
    return true;
}

static bool block_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    const struct detail *d = site->detail;
    if (d->threads > UP_TO)
        return row_apply(f, d->threads - UP_TO, edits, why_not);
    if (!all_take(d, edits, why_not))
        return false;
    bool spaced = d->where == CONSTANT && text_of(f, d->value)[0] == ' ';
    if (d->where != LITERAL)
        edits_node(edits, d->value, arena_printf(f->a, spaced ? " %d" : "%d", d->threads));
    return true;
}

static const char *block_words(struct arena *a, int setting)
{
    return setting > UP_TO ? arena_printf(a, "up to %d", setting - UP_TO) : NULL;
}

const struct transform transform_block_size = {
    .name = "block-size",
    .summary = "launch with another number of threads in a block, or as many as a row has work for",
    .helps = "latency dram sync launch issue",
    .chooses = "block",
    .setting_words = block_words,
    .later = UP_TO + 1024,
    .find = block_find,
    .apply = block_apply,
};
