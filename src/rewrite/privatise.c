/* privatise: counters that all blocks add to become counters of the block in shared memory, added to the common
 * ones once at its end: an addition in shared memory is many times faster, and far fewer threads want the same
 * counter at once.
 *
 * Atomic additions come in any order, so that the sums are what they were: the same of integers, of floats one
 * of those that they could be. The number of counters must be known, from what the index can be (a byte, `x &
 * 63`, an unsigned `x % 10`) or from what the launcher clears; the kernel must do nothing else with them. It
 * walks its elements over the grid and does not leave early; or a thread has one element, of its number: then
 * each takes several, a grid apart, and the setting is how many blocks there are for each SM. */
#include "rewrite/own_rows.h"

enum { MOST_BYTES = 32768, SITES_MOST = 16, FEWEST = 2 };

struct detail {
    struct own_rows rows; /* of a thread with one element */
    bool walks;           /* else: several */
    const struct variable *counters;
    struct node calls[SITES_MOST], addresses[SITES_MOST], indices[SITES_MOST];
    size_t n;
    int64_t bins;
};

/* How many values an index has; 0: not known. */
static int64_t values_of(const struct function *f, struct node e, int depth)
{
    int64_t by, left;
    e = node_strip(e);
    const char *type = ctype_bound(f, expression_type(f, e));
    const struct variable *v = function_variable_of(f, e);
    if (type && str_in(type, "unsigned char|uint8_t|uchar"))
        return 256;
    if (v && !v->param && !v->assignments && node_ok(v->init) && !v->pointer && !v->array && depth < 4)
        return values_of(f, v->init, depth + 1);
    if (!node_is(e, NODE_BINARY_EXPRESSION) || !constant_value(f, node_field(e, FIELD_RIGHT), &by) || by < 0)
        return 0;
    const char *op = node_op(f, e), *of = ctype_bound(f, expression_type(f, node_field(e, FIELD_LEFT)));
    if (str_eq(op, "&"))
        return by < INT32_MAX ? by + 1 : 0;
    if (str_eq(op, "%"))
        return of && str_starts(of, "u") ? by : 0;
    if (!str_eq(op, ">>") || by > 31 || depth >= 4 ||
        (left = values_of(f, node_field(e, FIELD_LEFT), depth + 1)) == 0)
        return 0;
    return ((left - 1) >> by) + 1;
}

/* The bytes that the launcher clears of what the parameter is at every launch; 0: not known. */
static int64_t cleared_bytes(const struct function *f, const struct variable *param)
{
    int64_t bytes = 0, one;
    for (size_t l = 0; l < f->n_launches; l++) {
        char *name = text_of(f, launch_arg(f, &f->launches[l], param));
        int64_t here = 0;
        size_t n_args;
        for (struct node *c = nodes_of(f, f->launches[l].host, NODE_CALL_EXPRESSION); node_ok(*c); c++) {
            struct node *args = named_children(f, node_field(*c, FIELD_ARGUMENTS), &n_args);
            if (str_in(call_name(f, *c), "cudaMemsetAsync|cudaMemset") && n_args >= 3 &&
                node_text_is(f->s, node_strip(args[0]), name) && constant_value(f, args[2], &one))
                here = one;
        }
        if (here == 0 || (l > 0 && here != bytes))
            return 0;
        bytes = here;
    }
    return bytes;
}

/* The parameter that a pointer is, also under names that are given once, as inline leaves them. */
static const struct variable *parameter_of(const struct function *f, struct node pointer)
{
    const struct variable *v = function_variable_of(f, pointer);
    for (int depth = 0; v && !v->param && v->pointer && !v->assignments && depth < 4; depth++)
        v = function_variable_of(f, node_strip(v->init));
    return v;
}

/* Is it where another name is given to what a pointer is? */
static bool is_renaming(const struct function *f, struct node name)
{
    struct node declarator = node_parent(name);
    const struct variable *v = function_variable_of(f, name);
    return node_is(declarator, NODE_INIT_DECLARATOR) || (v && !v->param && node_start(name) == v->from);
}

/* atomicAdd(&counters[index], x); or atomicAdd(counters + index, x); of which nothing is read. */
static bool addition_of(const struct function *f, struct node call, struct detail *d)
{
    struct node args = node_field(call, FIELD_ARGUMENTS), at = node_strip(node_child(args, 0)), pointer, index;
    if (!call_is(f, call, "atomicAdd") || node_count(args) != 2 ||
        !node_is(node_parent(call), NODE_EXPRESSION_STATEMENT))
        return false;
    d->addresses[d->n] = node_child(args, 0);
    if (node_is_address(f, at)) {
        at = node_field(at, FIELD_ARGUMENT);
        pointer = node_field(at, FIELD_ARGUMENT);
        index = node_is(at, NODE_SUBSCRIPT_EXPRESSION) ? subscript_index(f, at) : (struct node){0};
    } else {
        bool sum = node_is_binary(f, at, "+");
        pointer = node_field(at, FIELD_LEFT);
        index = sum ? node_field(at, FIELD_RIGHT) : (struct node){0};
    }
    const struct variable *v = parameter_of(f, pointer);
    if (!node_ok(index) || !v || !v->param || !v->pointer || v->assignments ||
        (d->counters && v != d->counters))
        return false;
    d->counters = v;
    d->calls[d->n] = call;
    d->indices[d->n++] = index;
    return true;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    size_t n_loops, uses = 0;
    *d = (struct detail){0};
    struct lane_loop *loops = lane_loops(f, &n_loops);
    d->walks = n_loops > 0;
    if (f->n_launches == 0 || !f->block_x || (d->walks && node_has(f, f->body, NODE_RETURN_STATEMENT)))
        return err_input(why, "the blocks of %s are not whole", f->name);
    if (!d->walks && (!own_rows_open(f, &d->rows, why) || !own_rows_may_walk(&d->rows, why)))
        return false;
    if (!d->walks && (!f->in->limits || !function_may_be_copied(f)))
        return err_input(why, "%s may not be copied", f->name);
    for (struct node *c = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*c) && d->n < SITES_MOST; c++) {
        bool walks = !d->walks; /* else a block has as many counters as elements */
        for (size_t l = 0; l < n_loops; l++)
            walks = walks || (loops[l].span == LANES_GRID_X && node_within(*c, loops[l].body));
        if (walks)
            addition_of(f, *c, d);
    }
    if (d->n == 0)
        return err_input(why, "%s adds to no counters in a loop over the grid", f->name);
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++)
        uses += parameter_of(f, *name) == d->counters && !is_renaming(f, *name);
    const char *type = ctype_bound(f, d->counters->type);
    if (uses != d->n || !(ctype_is_integer(f, type) || ctype_is_float(type)) || ctype_size(f, type) < 4)
        return err_input(why, "%s does more with %s than to add numbers", f->name, d->counters->name);
    for (size_t i = 0; i < d->n; i++) {
        int64_t one = values_of(f, d->indices[i], 0);
        if (one == 0) {
            d->bins = 0;
            break;
        }
        d->bins = MAX(d->bins, one);
    }
    if (d->bins == 0)
        d->bins = cleared_bytes(f, d->counters) / ctype_size(f, type);
    return (d->bins > 0 && d->bins * ctype_size(f, type) <= MOST_BYTES) ||
           err_input(why, "how many %s there are is not known, or too many", d->counters->name);
}

static void privatise_find(struct function *f, struct site_list *found)
{
    static const int walking[] = {0}, alone[] = {4, 2, 1, 8};
    struct detail d;
    if (!understood(f, &d, NULL))
        return;
    const int *setting = d.walks ? settings_to_try(f, found, walking, 1) : settings_to_try(f, found, alone, 4);
    for (; *setting != NO_SETTING; setting++)
        if (d.walks == (*setting == 0))
            site_add(
                found, f, d.calls[0], *setting,
                "additions of all blocks to the same counters wait for each other in the L2; each block counts "
                "by itself in shared memory and adds once",
                "%lld of %s", (long long)d.bins, d.counters->name);
}

static bool counters_edit(const struct function *f, const struct detail *d, struct edits *edits)
{
    const char *own = fresh_local(f, arena_printf(f->a, "%s_own", d->counters->name));
    const struct fill_slot slots[] = {
        {"type", d->counters->type},
        {"own", own},
        {"bins", arena_printf(f->a, "%lld", (long long)d->bins)},
        {"bin", fresh_local(f, "bin")},
        {"counters", d->counters->name},
    };
    const char *clear = fill_share(f->a, "cuda/rewrite/own_counters_clear.cu", slots, ARRAY_LEN(slots)),
               *add = fill_share(f->a, "cuda/rewrite/own_counters_add.cu", slots, ARRAY_LEN(slots));
    struct edits inside = {.arena = f->a};
    edits_at(edits, node_start(f->body) + 1, arena_printf(f->a, "\n%s", clear));
    for (size_t i = 0; i < d->n; i++)
        edits_node(d->walks ? edits : &inside, d->addresses[i],
                   arena_printf(f->a, "&%s[%s]", own, text_of(f, d->indices[i])));
    if (!d->walks)
        own_rows_walk(&d->rows, &inside, edits);
    return edits_try(edits, str_line_start(f->text, node_end(f->body) - 1),
                     str_line_start(f->text, node_end(f->body) - 1), arena_printf(f->a, "%s\n", add));
}

static bool privatise_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                            struct err *why_not)
{
    struct detail d;
    struct edits inside = {.arena = f->a};
    const char *name = fresh_name(f, arena_printf(f->a, "%s_own", f->name));
    if (!understood(f, &d, why_not))
        return false;
    if (d.walks)
        return counters_edit(f, &d, edits);
    if (site->setting == 0)
        return err_input(why_not, "%s has a thread for each element", f->name);
    counters_edit(f, &d, &inside);
    if (!edits_copy(edits, &inside, f, name, "with counters of each block and several elements a thread",
                    why_not))
        return false;
    long long blocks = (long long)f->in->limits->sm_count * site->setting;
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        char *x;
        if (!launch_grid_x(f, l, &x) || !launch_grid_is_line(f, l))
            return err_input(why_not, "the grid of %s is not understood", f->name);
        edits_guard_launch(edits, f, l, "Blocks count by themselves, where each has many elements.",
                           arena_printf(f->a, "%s >= %lld", x, FEWEST * blocks),
                           launch_text(f, l, name, arena_printf(f->a, "%lld", blocks), NULL));
    }
    return true;
}

static const char *privatise_words(struct arena *a, int setting)
{
    return setting ? arena_printf(a, "by %d blocks for each SM", setting) : "";
}

const struct transform transform_privatise = {
    .name = "privatise",
    .summary = "count in shared memory, a block by itself, and add to the common counters once a block",
    .helps = "l2 latency dram issue sync",
    .parameters = {{"blocks", 1, 0, 4, {1, 2, 4, 8}}},
    .setting_words = privatise_words,
    .find = privatise_find,
    .apply = privatise_apply,
};
