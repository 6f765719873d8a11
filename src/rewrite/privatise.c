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
 * A kernel may have several such tables.
 */
#include "rewrite/own_rows.h"

enum { MOST_BYTES = 32768, SITES_MOST = 16, TABLES_MOST = 8, FEWEST = 2, THOUSAND = 1024, PER = 100 };

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

struct table {
    const struct operation *operation; /* of all calls */
    const struct variable *counters;
    struct node calls[SITES_MOST], addresses[SITES_MOST], indices[SITES_MOST];
    size_t n;
    int64_t bins;     /* 0: not known */
    bool few;         /* the block may meet its counters again: no thread has some of its own */
    bool row;         /* the block's threads share what they walk through */
    struct poly base; /* of all calls, the same for the block */
    int bytes;        /* of a counter */
};

struct detail {
    struct own_rows rows; /* of a thread with one element */
    bool walks;           /* else: several */
    struct table tables[TABLES_MOST];
    size_t n;
    bool counted; /* how many counters there are is known of all */
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
    if (!str_eq(op, ">>") || by > 63 || depth >= 4)
        return 0;
    if ((left = values_of(f, node_field(e, FIELD_LEFT), depth + 1)) > 0)
        return ((left - 1) >> by) + 1;
    int bits = of && (str_starts(of, "u") || str_eq(of, "size_t")) ? 8 * ctype_size(f, of) - (int)by : 0;
    return bits > 0 && bits < 31 ? (int64_t)1 << bits : 0;
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

/* The table of such calls, a new one where there is none; NULL: there are too many. */
static struct table *table_of(struct detail *d, const struct variable *counters,
                              const struct operation *operation)
{
    for (struct table *t = d->tables; t < d->tables + d->n; t++)
        if (t->counters == counters && t->operation == operation)
            return t->n < SITES_MOST ? t : NULL;
    if (d->n == TABLES_MOST)
        return NULL;
    d->tables[d->n] = (struct table){.operation = operation, .counters = counters, .few = true};
    return &d->tables[d->n++];
}

/* atomicAdd(&counters[index], x); or atomicAdd(counters + index, x); or another operation, of which nothing is
 * read. */
static void note_addition(const struct function *f, struct node call, bool row, struct detail *d)
{
    struct node args = node_field(call, FIELD_ARGUMENTS), at = node_child(args, 0), index = {0};
    const struct operation *operation = NULL;
    struct poly place = poly_number(0), rest;
    for (size_t k = 0; k < ARRAY_LEN(operations); k++)
        if (call_is(f, call, operations[k].call))
            operation = &operations[k];
    if (!operation || node_count(args) != 2 || !node_is(node_parent(call), NODE_EXPRESSION_STATEMENT))
        return;
    const struct variable *v = parameter_behind(f, at, &place);
    struct table *t = v ? table_of(d, v, operation) : NULL;
    if (!t)
        return;
    struct poly base = of_block(f, &place, &rest);
    t->few = t->few && (t->n == 0 || poly_same(&base, &t->base)) && place.ok && rest.ok && !is_sparse(f, &rest);
    t->base = base;
    t->row = t->row || row;
    t->calls[t->n] = call;
    t->addresses[t->n] = at;
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
        t->indices[t->n] = index;
    t->n++;
}

/* Does the kernel reach the counters only to add, or to give them another name? */
static bool only_adds(const struct function *f, const struct table *d)
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
static int64_t bins_of(const struct function *f, const struct table *d)
{
    int64_t bins = 0, one = 1;
    for (size_t i = 0; i < d->n; i++)
        if (!node_ok(d->indices[i]))
            return 0;
    for (size_t i = 0; i < d->n && one > 0; i++) {
        one = values_of(f, d->indices[i], 0);
        bins = MAX(bins, one);
    }
    return one > 0 ? bins : cleared_bytes(f, d->counters) / d->bytes;
}

/* May the block have counters of its own? */
static bool suits_table(const struct function *f, struct table *t, struct err *why)
{
    const char *type = ctype_bound(f, t->counters->type);
    bool sums = t->operation == &operations[0];
    t->bytes = ctype_size(f, type);
    if (t->row && (!t->few || !poly_says(&t->base, "blockIdx.x"))) /* as many counters as elements */
        return err_input(why, "%s adds to no counters in a loop over the grid", f->name);
    if (!only_adds(f, t) || !(ctype_is_integer(f, type) || (sums && ctype_is_float(type))) || t->bytes < 4 ||
        (!sums && t->bytes != 4))
        return err_input(why, "%s does more with %s than to add numbers", f->name, t->counters->name);
    t->bins = t->row ? 0 : bins_of(f, t);
    if (t->bins == 0 && !t->few)
        return err_input(why, "how many %s there are is not known", t->counters->name);
    return t->bins * t->bytes <= MOST_BYTES || err_input(why, "there are too many %s", t->counters->name);
}

/* Keeps those that suit, of those whose number is known as many as there is room for. */
static bool keep_tables(const struct function *f, struct detail *d, struct err *why)
{
    struct err first = {0};
    size_t n = 0;
    int64_t bytes = 0;
    d->counted = true;
    for (size_t k = 0; k < d->n; k++) {
        struct table *t = &d->tables[k];
        struct err no = {0};
        if (!suits_table(f, t, &no) || bytes + t->bins * t->bytes > MOST_BYTES) {
            first = first.kind ? first : no;
            continue;
        }
        bytes += t->bins * t->bytes;
        d->counted = d->counted && t->bins > 0;
        d->tables[n++] = *t;
    }
    if (n == 0 && why)
        *why = first;
    d->n = n;
    return n > 0;
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
    for (struct node *c = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*c); c++) {
        bool walks = !d->walks, row = false;
        for (size_t l = 0; l < n_loops; l++) {
            bool within = node_within(*c, loops[l].body);
            row = row || (within && loops[l].span == LANES_BLOCK);
            walks = walks || (within && (loops[l].span == LANES_GRID_X || loops[l].span == LANES_BLOCK));
        }
        if (walks)
            note_addition(f, *c, row, d);
    }
    if (d->n == 0)
        return err_input(why, "%s adds to no counters in a loop over the grid", f->name);
    return keep_tables(f, d, why);
}

/* Of a setting: blocks for each SM, 0 for a kernel that walks; thousands of counters, where they are not known.
 */
static bool suits(const struct detail *d, int setting)
{
    int blocks = setting % PER, thousands = setting / PER;
    int64_t bytes = 0;
    for (const struct table *t = d->tables; t < d->tables + d->n; t++)
        bytes += (t->bins > 0 ? t->bins : (int64_t)thousands * THOUSAND) * t->bytes;
    return d->walks == (blocks == 0) && d->counted == (thousands == 0) && bytes <= MOST_BYTES;
}

static long long bins_for(const struct table *t, int setting)
{
    return t->bins > 0 ? (long long)t->bins : (long long)setting / PER * THOUSAND;
}

static void privatise_find(struct function *f, struct site_list *found)
{
    static const int own[] = {0, 4, 2, 1, 8, 104, 404, 101, 100, 400};
    struct detail d;
    if (!understood(f, &d, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING;
         setting++) {
        const char *what = "";
        if (!suits(&d, *setting))
            continue;
        for (size_t k = 0; k < d.n; k++)
            what = arena_printf(f->a, "%s%s%lld of %s", what, k ? ", " : "", bins_for(&d.tables[k], *setting),
                                d.tables[k].counters->name);
        site_add(
            found, f, d.tables[0].calls[0], *setting,
            "what all blocks do to the same counters waits in the L2; each block counts by itself in shared "
            "memory and does it once",
            "%s", what);
    }
}

/* Where the table begins, of which the block has the first counters. */
static const char *near_name(const struct function *f, const struct table *t, struct edits *edits)
{
    if (t->bins > 0 || t->base.n == 0)
        return t->counters->name;
    const char *at = poly_text_wide(f, &t->base);
    const char *name = fresh_local(f, arena_printf(f->a, "%s_near", t->counters->name));
    edits_at(
        edits, node_start(f->body) + 1,
        arena_printf(f->a, "\n    %s *const %s = %s + %s;", t->counters->type, name, t->counters->name, at));
    return name;
}

static bool counters_edit(const struct function *f, const struct detail *d, int setting, struct edits *edits)
{
    struct edits inside = {.arena = f->a}, *to = d->walks ? edits : &inside;
    const char *clear = "", *add = "";
    for (const struct table *t = d->tables; t < d->tables + d->n; t++) {
        const char *own = fresh_local(f, arena_printf(f->a, "%s_own", t->counters->name)),
                   *bins = arena_printf(f->a, "%lld", bins_for(t, setting)), *common = near_name(f, t, edits);
        const struct operation *o = t->operation;
        bool is_unsigned = str_starts(ctype_bound(f, t->counters->type), "u");
        const struct fill_slot slots[] = {
            {"type", t->counters->type},
            {"own", own},
            {"bins", bins},
            {"bin", fresh_local(f, "bin")},
            {"counters", common},
            {"call", o->call},
            {"neutral", is_unsigned ? o->neutral_unsigned : o->neutral},
        };
        clear = arena_printf(f->a, "%s\n%s", clear,
                             fill_share(f->a, "cuda/rewrite/own_counters_clear.cu", slots, ARRAY_LEN(slots)));
        add = arena_printf(f->a, "%s\n%s", add,
                           fill_share(f->a, "cuda/rewrite/own_counters_add.cu", slots, ARRAY_LEN(slots)));
        for (size_t i = 0; i < t->n; i++) {
            if (t->bins > 0) {
                edits_node(to, t->addresses[i], arena_printf(f->a, "&%s[%s]", own, text_of(f, t->indices[i])));
                continue;
            }
            edits_node(to, node_field(t->calls[i], FIELD_FUNCTION),
                       arena_printf(f->a, "%s<%s>", o->near, bins));
            edits_at(to, node_start(t->addresses[i]), arena_printf(f->a, "%s, %s, ", own, common));
        }
    }
    edits_at(
        edits, node_start(f->body) + 1,
        arena_printf(f->a,
                     "\n    // Each block has counters of its own, which join the common ones at its end.%s\n"
                     "    __syncthreads();\n",
                     clear));
    if (!d->walks)
        own_rows_walk(&d->rows, &inside, edits);
    return edits_try(edits, str_line_start(f->text, node_end(f->body) - 1),
                     str_line_start(f->text, node_end(f->body) - 1),
                     arena_printf(f->a, "    __syncthreads();%s\n", add));
}

/* What the calls of tables are made of whose counters are not known, once each. */
static void add_helpers(const struct function *f, const struct detail *d, struct edits *edits)
{
    for (size_t k = 0; k < d->n; k++) {
        const struct operation *o = d->tables[k].operation;
        bool is_there = d->tables[k].bins > 0;
        for (size_t q = 0; q < k; q++)
            is_there = is_there || (d->tables[q].operation == o && d->tables[q].bins == 0);
        const struct fill_slot slots[] = {{"name", o->near}, {"call", o->call}};
        if (!is_there)
            edits_helper(edits, f,
                         fill_share(f->a, "cuda/rewrite/own_counters_near.cuh", slots, ARRAY_LEN(slots)));
    }
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
    int per_sm = site->setting % PER;
    if (!understood(f, &d, why_not))
        return false;
    if (!suits(&d, site->setting))
        return err_input(why_not, "%s has no such counters, or a thread for each element", f->name);
    add_helpers(f, &d, edits);
    if (d.walks)
        return counters_edit(f, &d, site->setting, edits);
    counters_edit(f, &d, site->setting, &inside);
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
    .summary = "count in shared memory, a block by itself, and go to the common counters once a block",
    .helps = "l2 latency dram issue sync",
    .parameters = {{"blocks", 1, PER, 5, {0, 1, 2, 4, 8}}, {"thousands", PER, 0, 5, {0, 1, 2, 4, 8}}},
    .setting_words = privatise_words,
    .find = privatise_find,
    .apply = privatise_apply,
};
