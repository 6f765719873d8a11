/* cluster-row: where rows are few and long, a cluster of blocks on as many SMs takes the place of one block,
 * with as many threads in all. A thread's number is its number in the cluster. Where threads leave something
 * for all and meet, it is sent to every block (cluster_send.c). Else barriers are the cluster's, and shared
 * memory is that of the cluster's first block, which the others reach over the network between SMs: whatever
 * the kernel does, it does with the same threads. The launcher takes the copy where the clusters find an SM for
 * each block. The setting is the number of blocks in a cluster. */
#include "rewrite/cluster_send.h"

enum {
    STEPS = 4, /* of the block in its row, that a cluster's barriers pay for; */
    SENT = 512 /* of as many threads, where it has none */
};

static const char CLUSTER[] = "cooperative_groups::this_cluster()";

static bool opens(struct regroup *r, const struct function *f, int blocks, struct err *why)
{
    if (!regroup_open(r, f, why))
        return false;
    if (f->in->limits && f->in->limits->cc_major < 9)
        return err_input(why, "the device has no clusters");
    if (f->block_x < 256 || f->block_x % (32 * blocks) != 0)
        return err_input(why, "blocks of %s are too small, or differ", f->name);
    if (node_has(f, f->body, NODE_RETURN_STATEMENT) || !calls_barrier(f, f->body))
        return err_input(why, "threads of %s leave early, or do not meet", f->name);
    const char *copy = arena_printf(f->a, "%s_cluster", f->name);
    if (!str_eq(fresh_name(f, copy), copy))
        return err_input(why, "%s has it already", f->name);
    for (size_t l = 0; l < f->n_launches; l++) {
        char *x;
        if (!launch_grid_x(f, &f->launches[l], &x))
            return err_input(why, "the grid of %s is not understood", f->name);
    }
    r->detail = sends_of(r, NULL);
    return true;
}

/* Rows for which every block of a cluster has an SM. */
static int rows_most(const struct function *f, int blocks)
{
    return f->in->limits ? f->in->limits->sm_count / blocks : 0;
}

/* The length that a thread's own elements are held against, in a loop or a question (`i < length`), and how
 * many of them lie side by side; no node where there is none. */
static struct node length_of(const struct function *f, int64_t *width)
{
    for (struct node *e = nodes_of(f, f->body, NODE_BINARY_EXPRESSION); node_ok(*e); e++) {
        const struct variable *v = function_variable_of(f, node_strip(node_field(*e, FIELD_LEFT)));
        if (!str_eq(node_op(f, *e), "<") || !v || !node_ok(v->init))
            continue;
        struct poly p = poly_of(f, v->init);
        *width = p.ok ? poly_coefficient(&p, "threadIdx.x") : 0;
        if (*width > 0 && node_ok(node_strip(node_field(*e, FIELD_RIGHT))))
            return node_field(*e, FIELD_RIGHT);
    }
    return (struct node){0};
}

/* What a sum of products of the kernel's parameters comes to in a launch; 0 where it is made of something else.
 */
static int64_t value_in(const struct function *f, const struct plan_step *s, struct node e)
{
    struct poly p = poly_of(f, e);
    int64_t sum = 0;
    for (int i = 0; i < p.n; i++) {
        int64_t product = p.t[i].by;
        for (int k = 0; k < p.t[i].n; k++) {
            size_t which = 0;
            while (which < f->n_params && !str_eq(f->variables[which].name, p.t[i].atom[k]))
                which++;
            if (which >= f->n_params || which >= s->n_args || f->variables[which].pointer ||
                !ctype_is_integer(f, f->variables[which].type) ||
                __builtin_mul_overflow(product, s->args[which].i, &product))
                return 0;
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return 0;
    }
    return p.ok ? sum : 0;
}

/* The longest row that one block walks as fast, of so many elements side by side. */
static int64_t short_row(const struct regroup *r, int64_t width)
{
    return STEPS * width * (r->detail ? MIN(r->f->block_x, SENT) : r->f->block_x);
}

/* Does a workload have so few rows, each of which is long enough? */
static bool pays(const struct regroup *r, int blocks)
{
    const struct function *f = r->f;
    int64_t width;
    struct node length = length_of(f, &width);
    bool few = f->in->n_plans == 0;
    if (!node_ok(length) || !launches_tell(f, length))
        return false;
    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));)
        few = few || (s->grid[0] <= (uint32_t)rows_most(f, blocks) && s->grid[1] == 1 && s->grid[2] == 1 &&
                      value_in(f, s, length) > short_row(r, width));
    return few && rows_most(f, blocks) > 0;
}

static void cluster_find(struct function *f, struct site_list *found)
{
    static const int settings[] = {8, 4, 2};
    struct regroup r;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (opens(&r, f, settings[i], NULL) && pays(&r, settings[i]))
            site_add(found, f, f->definition, settings[i],
                     "few rows leave most SMs idle; a cluster brings the bandwidth of several to each row",
                     "a cluster of %d blocks for each of few rows", settings[i]);
}

static const char *shared_edit(struct regroup *r, const struct function *f, const struct variable *v,
                               struct edits *e)
{
    if (r->detail)
        return NULL;
    char *of_row = fresh_local(f, arena_printf(f->a, "%s_of_row", v->name));
    edits_at(e, node_end(v->statement),
             arena_printf(f->a, "\n%sauto *const %s = %s.map_shared_rank(%s%s, 0);",
                          text_indent(f, node_start(v->statement)), of_row, CLUSTER, v->array ? "" : "&",
                          v->name));
    return v->array ? of_row : arena_printf(f->a, "(*%s)", of_row);
}

static void names_for(struct regroup *r, const struct function *f, struct regroup_names *names)
{
    struct arena *a = f->a;
    int blocks = r->setting;
    int64_t threads = r->f->block_x;
    const char *thread = fresh_local(f, "thread");
    *names = (struct regroup_names){.thread = thread,
                                    .threads = arena_printf(a, "%lld", (long long)threads),
                                    .block = arena_printf(a, "(blockIdx.x / %d)", blocks),
                                    .blocks = arena_printf(a, "(gridDim.x / %d)", blocks),
                                    .barrier = r->detail ? NULL : arena_printf(a, "%s.sync()", CLUSTER)};
    const char *number = "", *begun = "";
    if (str_has_word(text_of(f, f->body), "threadIdx"))
        number = arena_printf(a, "\n    const unsigned int %s = %s.block_rank() * %lld + threadIdx.x;", thread,
                              CLUSTER, (long long)threads / blocks);
    if (f == r->f && r->detail)
        begun = arena_printf(a, "\n    cluster_begin(%d);", sends_count(r->detail));
    else if (f == r->f) /* no block's memory is reached before it runs, or after it has ended */
        begun = arena_printf(a, "\n    %s.sync();", CLUSTER);
    if (*number || *begun)
        names->head = arena_printf(a, "%s%s", number, begun);
}

/* A number that the launcher writes down, by names and products too; 0: none. */
static int64_t host_number(const struct function *f, const struct launch *l, struct node e)
{
    int64_t value;
    e = node_strip(host_value(f, l, e));
    if (constant_value(f, e, &value))
        return value;
    if (!node_is_binary(f, e, "*"))
        return 0;
    return host_number(f, l, node_field(e, FIELD_LEFT)) * host_number(f, l, node_field(e, FIELD_RIGHT));
}

/* Does the launcher take this launch for short rows alone? */
static bool is_for_short_rows(const struct function *f, const struct launch *l, const char *length,
                              int64_t most)
{
    for (struct node n = l->statement, up = node_parent(n); node_ok(up); n = up, up = node_parent(n)) {
        struct node e = node_strip(node_field(up, FIELD_CONDITION));
        if (node_is(up, NODE_IF_STATEMENT) && node_same(n, node_field(up, FIELD_CONSEQUENCE)) &&
            node_is_binary(f, e, "<=") && node_text_is(f->s, node_field(e, FIELD_LEFT), length)) {
            int64_t number = host_number(f, l, node_field(e, FIELD_RIGHT));
            if (number > 0 && number <= most)
                return true;
        }
    }
    return false;
}

static void send_edits(struct regroup *r, const struct function *f, struct edits *inside)
{
    struct node first = sends_first(r->detail);
    if (f == r->f)
        edits_at(inside, node_start(first),
                 arena_printf(f->a, "cluster_begun();\n%s", text_indent(f, node_start(first))));
    sends_edit(r->detail, f, r->setting, inside);
}

static bool cluster_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                          struct err *why_not)
{
    struct arena *a = f->a;
    struct regroup r;
    if (!opens(&r, f, site->setting, why_not))
        return false;
    if (!pays(&r, site->setting))
        return err_input(why_not, "no row of %s is long", f->name);
    r.setting = site->setting;
    r.names = names_for;
    r.shared = shared_edit;
    struct edits inside = {.arena = a};
    edits_at(&inside, node_start(f->id), arena_printf(a, "__cluster_dims__(%d, 1, 1) ", r.setting));
    if (r.detail) {
        r.more = send_edits;
        edits_helper(edits, f, share_text("cuda/rewrite/cluster_send.cuh"));
    } else {
        edits_at(&inside, node_end(f->body) - 1, arena_printf(a, "    %s.sync();\n", CLUSTER));
    }
    if (!regroup_apply(&r, "cluster", "with a cluster of blocks for each row", edits, &inside, why_not))
        return false;
    edits_include(edits, f, "<cooperative_groups.h>", "<cooperative_groups.h>");
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        const char *rows = regroup_rows(&r, launch);
        char *grid = launch_grid_with(f, launch, arena_printf(a, "%s * %d", rows, r.setting), NULL);
        char *block = arena_printf(a, "%lld", (long long)f->block_x / r.setting);
        struct guard_list guard = {0};
        guard_add(a, &guard, arena_printf(a, "%s <= %d", rows, rows_most(f, r.setting)));
        int64_t threads, width;
        struct node length = length_of(f, &width);
        if (node_ok(length)) {
            const char *said = launch_expression(f, launch, length);
            int64_t most = short_row(&r, width);
            if (is_for_short_rows(f, launch, said, most))
                continue;
            guard_add(a, &guard, arena_printf(a, "%s > %lld", said, (long long)most));
        }
        if (!launch_block_constant(f, launch, &threads) || threads != f->block_x)
            guard_add(a, &guard,
                      arena_printf(a, "%s == %lld", launch_threads(f, launch), (long long)f->block_x));
        edits_guard_launch(edits, f, launch, "A cluster for each row, where every block of it finds an SM.",
                           guard_join(f, &guard, launch), launch_text(f, launch, r.copies[0], grid, block));
    }
    return true;
}

const struct transform transform_cluster_row = {
    .name = "cluster-row",
    .summary = "a cluster of blocks, on as many SMs, for each of few rows, where one block walked it",
    .helps = "latency dram l2 issue",
    .parameters = {{"blocks", 1, 0, 3, {2, 4, 8}}},
    .find = cluster_find,
    .apply = cluster_apply,
};
