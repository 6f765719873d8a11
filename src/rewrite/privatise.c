/* privatise: counters that all blocks add to become counters of the block in shared memory, added to the common
 * ones once at its end: an addition in shared memory is many times faster, and far fewer threads want the same
 * counter at once.
 *
 * Atomic additions come in any order, so that the sums are what they were: the same of integers, of floats one
 * of those that they could be. The kernel must do nothing else with the counters. It walks its elements over
 * the grid and does not leave early; or a thread has one element, of its number: then each takes several, a
 * grid apart, and the setting is how many blocks there are for each SM.
 *
 * How many counters there are follows from what the index can be (a byte, `x & 63`, an unsigned `x % 10`) or
 * from what the launcher clears. Where it does not, a block has the first so many thousands of the setting,
 * from the place on that all its additions have in common. What is added elsewhere goes to the common counters
 * at once; and of its own a block adds at its end those that are not 0, which the kernel adds to in any case.
 *
 * Maxima, minima, unions and intersections of bits are such counters, too, which begin with what changes none.
 */
#include "rewrite/own_rows.h"

enum { MOST_BYTES = 32768, SITES_MOST = 16, FEWEST = 2, THOUSAND = 1024, PER = 100 };

/* What is done to a counter, and what leaves it as it is: of int, of unsigned. */
struct operation {
    const char *call, *near, *neutral, *neutral_unsigned;
};
static const struct operation operations[] = {
    {"atomicAdd", "add_near", "0", "0"},
    {"atomicMax", "max_near", "-2147483647 - 1", "0"},
    {"atomicMin", "min_near", "2147483647", "0xffffffff"},
    {"atomicOr", "or_near", "0", "0"},
    {"atomicAnd", "and_near", "-1", "0xffffffff"},
};

struct detail {
    struct own_rows rows;              /* of a thread with one element */
    const struct operation *operation; /* of all of them */
    bool walks;                        /* else: several */
    const struct variable *counters;
    struct node calls[SITES_MOST], addresses[SITES_MOST], indices[SITES_MOST];
    size_t n;
    int64_t bins;     /* 0: not known */
    bool few;         /* the block may meet its counters again: no thread has some of its own */
    struct poly base; /* of all additions, the same for the block */
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

/* The terms that the block's number is in. */
static struct poly of_block(const struct function *f, const struct poly *place, struct poly *rest)
{
    struct poly common = poly_common(f, place, rest), base = poly_number(0);
    for (int i = 0; i < common.n; i++) {
        struct poly one = {.t = {common.t[i]}, .n = 1, .ok = true};
        if (poly_says(&one, "blockIdx"))
            base = poly_add(f, base, one, 1);
    }
    return base;
}

/* Is a place the thread's own, or one of as many as there is of something (`row * d + column`)? */
static bool is_sparse(const struct function *f, const struct poly *place)
{
    for (int i = 0; i < place->n; i++)
        for (int k = 0; k < place->t[i].n && place->t[i].n > 1; k++) {
            const struct variable *v = function_variable(f, place->t[i].atom[k], node_start(f->body) + 1);
            if (v && v->param)
                return true;
        }
    return poly_says(place, "threadIdx");
}

/* atomicAdd(&counters[index], x); or atomicAdd(counters + index, x); or another operation, of which nothing is
 * read. */
static bool addition_of(const struct function *f, struct node call, struct detail *d)
{
    struct node args = node_field(call, FIELD_ARGUMENTS), at = node_child(args, 0), index = {0};
    const struct operation *operation = NULL;
    struct poly place = poly_number(0), rest;
    for (size_t k = 0; k < ARRAY_LEN(operations); k++)
        if (call_is(f, call, operations[k].call))
            operation = &operations[k];
    if (!operation || node_count(args) != 2 || !node_is(node_parent(call), NODE_EXPRESSION_STATEMENT))
        return false;
    const struct variable *v = parameter_behind(f, at, &place);
    if (!v || (d->counters && (v != d->counters || operation != d->operation)))
        return false;
    d->operation = operation;
    struct poly base = of_block(f, &place, &rest);
    d->few =
        (d->n == 0 || (d->few && poly_same(&base, &d->base))) && place.ok && rest.ok && !is_sparse(f, &rest);
    d->base = base;
    d->counters = v;
    d->calls[d->n] = call;
    d->addresses[d->n] = at;
    at = node_strip(at);
    if (node_is_address(f, at)) {
        at = unbracketed(node_field(at, FIELD_ARGUMENT));
        index = subscript_index(f, at);
        at = node_field(at, FIELD_ARGUMENT);
    } else if (node_is_binary(f, at, "+")) {
        index = node_field(at, FIELD_RIGHT);
        at = node_field(at, FIELD_LEFT);
    }
    place = poly_number(0); /* known only from the parameter itself on, also under names that are given once */
    if (parameter_behind(f, at, &place) && place.n == 0)
        d->indices[d->n] = index;
    d->n++;
    return true;
}

/* Does the kernel reach the counters only to add, or to give them another name? */
static bool only_adds(const struct function *f, const struct detail *d)
{
    size_t said = 0, may = d->n;
    struct poly at = poly_number(0);
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (!v || !v->pointer || v->array)
            continue;
        if (!v->param && node_start(*name) == node_start(v->id))
            may += parameter_behind(f, v->init, &at) == d->counters;
        else
            said += pointer_root(f, *name) == d->counters;
    }
    return said == may;
}

/* How many counters there are; 0: not known. */
static int64_t bins_of(const struct function *f, const struct detail *d, int bytes)
{
    int64_t bins = 0, one = 1;
    for (size_t i = 0; i < d->n; i++)
        if (!node_ok(d->indices[i]))
            return 0;
    for (size_t i = 0; i < d->n && one > 0; i++) {
        one = values_of(f, d->indices[i], 0);
        bins = MAX(bins, one);
    }
    return one > 0 ? bins : cleared_bytes(f, d->counters) / bytes;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    size_t n_loops;
    *d = (struct detail){0};
    struct lane_loop *loops = lane_loops(f, &n_loops);
    d->walks = n_loops > 0;
    if (f->n_launches == 0 || !f->block_x || (d->walks && node_has(f, f->body, NODE_RETURN_STATEMENT)))
        return err_input(why, "the blocks of %s are not whole", f->name);
    if (!d->walks && (!own_rows_open_batched(f, &d->rows, why) || !own_rows_may_walk(&d->rows, why)))
        return false;
    if (!d->walks && (!f->in->limits || !function_may_be_copied(f)))
        return err_input(why, "%s may not be copied", f->name);
    bool row = false;
    for (struct node *c = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*c) && d->n < SITES_MOST; c++) {
        bool walks = !d->walks;
        for (size_t l = 0; l < n_loops; l++) {
            bool within = node_within(*c, loops[l].body);
            row = row || (within && loops[l].span == LANES_BLOCK);
            walks = walks || (within && (loops[l].span == LANES_GRID_X || loops[l].span == LANES_BLOCK));
        }
        if (walks)
            addition_of(f, *c, d);
    }
    if (d->n == 0 ||
        (row && (!d->few || !poly_says(&d->base, "blockIdx.x")))) /* as many counters as elements */
        return err_input(why, "%s adds to no counters in a loop over the grid", f->name);
    const char *type = ctype_bound(f, d->counters->type);
    int bytes = ctype_size(f, type);
    bool sums = d->operation == &operations[0];
    if (!only_adds(f, d) || !(ctype_is_integer(f, type) || (sums && ctype_is_float(type))) || bytes < 4 ||
        (!sums && bytes != 4))
        return err_input(why, "%s does more with %s than to add numbers", f->name, d->counters->name);
    d->bins = row ? 0 : bins_of(f, d, bytes);
    if (d->bins == 0 && !d->few)
        return err_input(why, "how many %s there are is not known", d->counters->name);
    return d->bins * bytes <= MOST_BYTES || err_input(why, "there are too many %s", d->counters->name);
}

/* Of a setting: blocks for each SM, 0 for a kernel that walks; thousands of counters, where they are not known.
 */
static bool suits(const struct function *f, const struct detail *d, int setting)
{
    int blocks = setting % PER, thousands = setting / PER;
    return d->walks == (blocks == 0) && (d->bins > 0) == (thousands == 0) &&
           (int64_t)thousands * THOUSAND * ctype_size(f, ctype_bound(f, d->counters->type)) <= MOST_BYTES;
}

static void privatise_find(struct function *f, struct site_list *found)
{
    static const int own[] = {0, 4, 2, 1, 8, 104, 404, 101, 100, 400};
    struct detail d;
    if (!understood(f, &d, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        if (suits(f, &d, *setting))
            site_add(
                found, f, d.calls[0], *setting,
                "additions of all blocks to the same counters wait for each other in the L2; each block counts "
                "by itself in shared memory and adds once",
                "%lld of %s", d.bins > 0 ? (long long)d.bins : (long long)*setting / PER * THOUSAND,
                d.counters->name);
}

static bool counters_edit(const struct function *f, const struct detail *d, int thousands, struct edits *edits)
{
    const char *own = fresh_local(f, arena_printf(f->a, "%s_own", d->counters->name)),
               *bins = arena_printf(f->a, "%lld",
                                    d->bins > 0 ? (long long)d->bins : thousands * (long long)THOUSAND),
               *common = d->counters->name;
    if (d->bins == 0 && d->base.n > 0) {
        const char *at = poly_text_wide(f, &d->base);
        common = fresh_local(f, arena_printf(f->a, "%s_near", common));
        edits_at(edits, node_start(f->body) + 1,
                 arena_printf(f->a, "\n    %s *const %s = %s + %s;", d->counters->type, common,
                              d->counters->name, at));
    }
    bool is_unsigned = str_starts(ctype_bound(f, d->counters->type), "u");
    const struct operation *o = d->operation;
    const struct fill_slot slots[] = {
        {"type", d->counters->type},
        {"own", own},
        {"bins", bins},
        {"bin", fresh_local(f, "bin")},
        {"counters", common},
        {"call", o->call},
        {"neutral", is_unsigned ? o->neutral_unsigned : o->neutral},
    };
    const char *clear = fill_share(f->a, "cuda/rewrite/own_counters_clear.cu", slots, ARRAY_LEN(slots)),
               *add = fill_share(f->a, "cuda/rewrite/own_counters_add.cu", slots, ARRAY_LEN(slots));
    struct edits inside = {.arena = f->a};
    edits_at(edits, node_start(f->body) + 1, arena_printf(f->a, "\n%s", clear));
    for (size_t i = 0; i < d->n; i++) {
        struct edits *to = d->walks ? edits : &inside;
        if (d->bins > 0) {
            edits_node(to, d->addresses[i], arena_printf(f->a, "&%s[%s]", own, text_of(f, d->indices[i])));
            continue;
        }
        edits_node(to, node_field(d->calls[i], FIELD_FUNCTION), arena_printf(f->a, "%s<%s>", o->near, bins));
        edits_at(to, node_start(d->addresses[i]), arena_printf(f->a, "%s, %s, ", own, common));
    }
    if (!d->walks)
        own_rows_walk(&d->rows, &inside, edits);
    return edits_try(edits, str_line_start(f->text, node_end(f->body) - 1),
                     str_line_start(f->text, node_end(f->body) - 1), arena_printf(f->a, "%s\n", add));
}

/* So many blocks for each SM in all, of each row's along y. */
static const char *blocks_text(const struct function *f, const struct launch *l, long long blocks)
{
    char *y;
    if (launch_grid_is_line(f, l))
        return arena_printf(f->a, "%lld", blocks);
    return launch_grid_y(f, l, &y) ? arena_printf(f->a, "%lld / (%s) + 1", blocks - 1, y) : NULL;
}

static bool privatise_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                            struct err *why_not)
{
    struct detail d;
    struct edits inside = {.arena = f->a};
    const char *name = fresh_name(f, arena_printf(f->a, "%s_own", f->name));
    int per_sm = site->setting % PER, thousands = site->setting / PER;
    if (!understood(f, &d, why_not))
        return false;
    if (!suits(f, &d, site->setting))
        return err_input(why_not, "%s has no such counters, or a thread for each element", f->name);
    const struct fill_slot helper[] = {{"name", d.operation->near}, {"call", d.operation->call}};
    if (thousands > 0)
        edits_helper(edits, f,
                     fill_share(f->a, "cuda/rewrite/own_counters_near.cuh", helper, ARRAY_LEN(helper)));
    if (d.walks)
        return counters_edit(f, &d, thousands, edits);
    counters_edit(f, &d, thousands, &inside);
    if (!edits_copy(edits, &inside, f, name, "with counters of each block and several elements a thread",
                    why_not))
        return false;
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        const long long most = (long long)f->in->limits->sm_count * per_sm;
        const char *blocks = blocks_text(f, l, most);
        char *x;
        if (!launch_grid_x(f, l, &x) || !blocks)
            return err_input(why_not, "the grid of %s is not understood", f->name);
        const char *fewest = launch_grid_is_line(f, l) ? arena_printf(f->a, "%lld", FEWEST * most)
                                                       : arena_printf(f->a, "%d * (%s)", FEWEST, blocks);
        edits_guard_launch(edits, f, l, "Blocks count by themselves, where each has many elements.",
                           arena_printf(f->a, "%s >= %s", x, fewest),
                           launch_text(f, l, name, launch_grid_with(f, l, blocks, NULL), NULL));
    }
    return true;
}

static const char *privatise_words(struct arena *a, int setting)
{
    int blocks = setting % PER;
    long long first = (long long)setting / PER * THOUSAND;
    if (first == 0)
        return blocks ? arena_printf(a, "by %d blocks for each SM", blocks) : "";
    return blocks ? arena_printf(a, "the first %lld by %d blocks for each SM", first, blocks)
                  : arena_printf(a, "the first %lld", first);
}

const struct transform transform_privatise = {
    .name = "privatise",
    .summary = "count in shared memory, a block by itself, and add to the common counters once a block",
    .helps = "l2 latency dram issue sync",
    .parameters = {{"blocks", 1, PER, 5, {0, 1, 2, 4, 8}}, {"thousands", PER, 0, 5, {0, 1, 2, 4, 8}}},
    .setting_words = privatise_words,
    .find = privatise_find,
    .apply = privatise_apply,
};
