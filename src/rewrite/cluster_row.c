/* cluster-row: where rows are few and long, a cluster of blocks on as many SMs takes the place of one block,
 * with as many threads in all. A thread's number is its number in the cluster, barriers are the cluster's, and
 * shared memory is that of the cluster's first block, which the others reach over the network between SMs:
 * whatever the kernel does, it does with the same threads. The launcher takes the copy where the clusters find
 * an SM for each block. The setting is the number of blocks in a cluster. */
#include "rewrite/regroup.h"

enum { STEPS = 4 }; /* of the block in its row, that a cluster's barriers pay for */

static const char CLUSTER[] = "cooperative_groups::this_cluster()";

static bool opens(struct regroup *r, const struct function *f, int blocks, struct err *why)
{
    if (!regroup_open(r, f, why))
        return false;
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

/* Does a workload have so few rows, each of more than so many steps of the block? */
static bool pays(const struct function *f, int blocks)
{
    int64_t width;
    struct node length = length_of(f, &width);
    bool few = f->in->n_plans == 0;
    if (!node_ok(length) || !launches_tell(f, length))
        return false;
    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));)
        few = few || (s->grid[0] <= (uint32_t)rows_most(f, blocks) && s->grid[1] == 1 && s->grid[2] == 1 &&
                      value_in(f, s, length) > STEPS * width * f->block_x);
    return few && rows_most(f, blocks) > 0;
}

static void cluster_find(struct function *f, struct site_list *found)
{
    static const int settings[] = {8, 4, 2};
    struct regroup r;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (opens(&r, f, settings[i], NULL) && pays(f, settings[i]))
            site_add(found, f, f->definition, settings[i],
                     "few rows leave most SMs idle; a cluster brings the bandwidth of several to each row",
                     "a cluster of %d blocks for each of few rows", settings[i]);
}

static const char *shared_edit(struct regroup *r, const struct function *f, const struct variable *v,
                               struct edits *e)
{
    (void)r;
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
                                    .barrier = arena_printf(a, "%s.sync()", CLUSTER)};
    const char *number = "", *begun = "";
    if (str_has_word(text_of(f, f->body), "threadIdx"))
        number = arena_printf(a, "\n    const unsigned int %s = %s.block_rank() * %lld + threadIdx.x;", thread,
                              CLUSTER, (long long)threads / blocks);
    if (f == r->f) /* no block's memory is reached before it runs, or after it has ended */
        begun = arena_printf(a, "\n    %s.sync();", CLUSTER);
    if (*number || *begun)
        names->head = arena_printf(a, "%s%s", number, begun);
}

static bool cluster_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                          struct err *why_not)
{
    struct arena *a = f->a;
    struct regroup r;
    if (!opens(&r, f, site->setting, why_not))
        return false;
    if (!pays(f, site->setting))
        return err_input(why_not, "no row of %s is long", f->name);
    r.setting = site->setting;
    r.names = names_for;
    r.shared = shared_edit;
    struct edits inside = {.arena = a};
    edits_at(&inside, node_start(f->id), arena_printf(a, "__cluster_dims__(%d, 1, 1) ", r.setting));
    edits_at(&inside, node_end(f->body) - 1, arena_printf(a, "    %s.sync();\n", CLUSTER));
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
        if (node_ok(length))
            guard_add(a, &guard,
                      arena_printf(a, "%s > %lld", launch_expression(f, launch, length),
                                   (long long)STEPS * width * f->block_x));
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
