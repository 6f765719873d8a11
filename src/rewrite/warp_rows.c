/* warp-rows: a row that a block walks is walked by a warp, and a block takes several rows: short rows leave
 * most of a block's threads idle, and every reduction over them is barriers. Threads keep asking for their
 * number and how many they are, and get a lane's and 32; barriers become those of the warp, and each warp has
 * shared memory of its own. The copy is taken for rows that are short enough; others keep their block. A
 * setting is 100 * the most steps of a lane + the rows of a block. */
#include "rewrite/regroup.h"

enum { STEPS = 100 };

static bool opens(struct regroup *r, const struct function *f, struct err *why)
{
    if (!regroup_open(r, f, why) || !regroup_any_number(r, why))
        return false;
    for (size_t k = 1; k < r->n; k++) {
        char *body = text_of(r->functions[k], r->functions[k]->body);
        if (r->copied[k] &&
            (str_has_word(body, "blockIdx") || str_has_word(body, "gridDim") || str_has_word(body, "extern")))
            return err_input(why, "%s asks for its block", r->functions[k]->name);
    }
    size_t n;
    struct node *bounds = node_find_all(f->a, f->definition, NODE_LAUNCH_BOUNDS, &n);
    int64_t most;
    if (n > 0 && (!constant_value(f, node_child(bounds[0], 0), &most) || most < 256))
        return err_input(why, "the launch bounds of %s are below 256", f->name);
    const char *copy = arena_printf(f->a, "%s_rows", f->name);
    if (!str_eq(fresh_name(f, copy), copy))
        return err_input(why, "%s has it already", f->name);
    for (size_t l = 0; l < f->n_launches; l++) {
        char *x;
        if (f->launches[l].n_args != f->n_params || f->n_params == 0 ||
            !launch_expression(f, &f->launches[l], r->loop.bound) || !launch_grid_x(f, &f->launches[l], &x))
            return err_input(why, "the launcher cannot tell the length of a row");
    }
    return true;
}

/* The most steps that a lane takes in the row, over the workloads; 0: not known. */
static int64_t steps_of(const struct function *f, const struct regroup *r, bool most)
{
    const struct transform_fact *fact = fact_of(f->in, launch_expression(f, &f->launches[0], r->loop.bound));
    int64_t lanes = 32 * r->loop.width;
    if (!fact || fact->high <= 0)
        return 0;
    return ((most ? fact->high : fact->low) + lanes - 1) / lanes;
}

static void rows_find(struct function *f, struct site_list *found)
{
    static const int settings[] = {8 * STEPS + 8, 32 * STEPS + 8, 8 * STEPS + 4, 32 * STEPS + 4};
    struct regroup r;
    if (!opens(&r, f, NULL))
        return;
    int64_t low = steps_of(f, &r, false), high = steps_of(f, &r, true);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        int steps = settings[i] / STEPS;
        if (low > steps || (steps > 8 && high > 0 && high <= 8))
            continue; /* no row is that short; fewer do */
        site_add(found, f, r.loop.loop, settings[i],
                 "a short row leaves most of a block's threads idle, and a warp needs no barrier to reduce it",
                 "a warp a row, %d rows a block", settings[i] % STEPS);
    }
}

static const char *shared_edit(struct regroup *r, const struct function *f, const struct variable *v,
                               struct edits *e)
{
    struct arena *a = f->a;
    if (!v->external) {
        edits_at(e, node_end(v->id), arena_printf(a, "[%d]", r->setting % STEPS));
        return arena_printf(a, "%s[threadIdx.x / 32]", v->name);
    }
    const char *all = fresh_local(f, arena_printf(a, "%s_of_rows", v->name));
    edits_node(e, v->id, all);
    edits_at(e, node_end(v->statement),
             arena_printf(a,
                          "\n%s%s *const %s = reinterpret_cast<%s *>(reinterpret_cast<char *>(%s) + "
                          "threadIdx.x / 32 * %s);",
                          text_indent(f, node_start(v->statement)), v->type, v->name, v->type, all, r->bytes));
    return NULL;
}

static void names_for(struct regroup *r, const struct function *f, struct regroup_names *names)
{
    struct arena *a = f->a;
    bool kernel = f == r->f;
    const char *lane = fresh_local(f, "lane"), *row = fresh_local(f, "row");
    int rows = r->setting % STEPS;
    *names = (struct regroup_names){
        .thread = lane, .threads = "32", .block = row, .blocks = r->rows, .barrier = "__syncwarp()"};
    bool asks = str_has_word(text_of(f, f->body), "threadIdx");
    char *of_lane = arena_printf(a, "\n    const unsigned int %s = threadIdx.x %% 32;", lane);
    if (kernel)
        names->head = arena_printf(a,
                                   "%s\n    const unsigned int %s = (blockIdx.x * %d + threadIdx.x) / 32;\n"
                                   "    if (%s >= %s)\n        return;",
                                   asks ? of_lane : "", row, rows * 32, row, r->rows);
    else if (asks)
        names->head = of_lane;
}

/* The kernel's own parameter that every launch gives the number of rows; NULL: none. */
static const char *rows_parameter(const struct function *f)
{
    for (size_t p = 0; p < f->n_params; p++) {
        const struct variable *v = &f->variables[p];
        bool same = !v->pointer && !v->array && !v->assignments && ctype_is_integer(f, v->type);
        for (size_t l = 0; same && l < f->n_launches; l++) {
            const char *rows = launch_grid_part(f, &f->launches[l], 0);
            same = rows && str_eq(text_of(f, node_strip(f->launches[l].args[p])), rows);
        }
        if (same)
            return v->name;
    }
    return NULL;
}

/* The launch of the copy: its grid, block, dynamic memory and the arguments that it has more. */
static char *fast_launch(const struct function *f, const struct launch *l, const struct regroup *r,
                         bool own_rows)
{
    struct arena *a = f->a;
    int rows = r->setting % STEPS;
    const char *x = launch_grid_part(f, l, 0);
    char *seen;
    if (!x) {
        launch_grid_x(f, l, &seen);
        x = seen;
    }
    struct edits call = {.arena = a};
    edits_node(&call, l->name, r->copies[0]);
    edits_node(&call, l->grid,
               launch_grid_with(
                   f, l,
                   arena_printf(a, strpbrk(x, " ?") ? "((%s) + %d) / %d" : "(%s + %d) / %d", x, rows - 1, rows),
                   NULL));
    edits_node(&call, l->block, arena_printf(a, "%d", rows * 32));
    size_t end = node_end(l->args[l->n_args - 1]);
    if (own_rows)
        edits_at(&call, end, arena_printf(a, ", %s", x));
    if (r->bytes) {
        bool plain = node_is(l->shared, NODE_IDENTIFIER) || node_is(l->shared, NODE_NUMBER_LITERAL);
        char *bytes =
            arena_printf(a, plain ? "(%s + 15) / 16 * 16" : "((%s) + 15) / 16 * 16", text_of(f, l->shared));
        edits_node(&call, l->shared, arena_printf(a, "%s * %d", bytes, rows));
        edits_at(&call, end, arena_printf(a, ", %s", bytes));
    }
    return edits_range(&call, f, node_start(l->statement), node_end(l->statement));
}

static bool rows_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct regroup r;
    if (!opens(&r, f, why_not))
        return false;
    r.setting = site->setting;
    r.names = names_for;
    r.shared = shared_edit;
    bool dynamic = false;
    for (size_t i = 0; i < f->n_variables; i++)
        dynamic = dynamic || (f->variables[i].shared && f->variables[i].external);
    for (size_t l = 0; dynamic && l < f->n_launches; l++)
        if (!node_ok(f->launches[l].shared))
            return err_input(why_not, "a launch of %s gives it no shared memory", f->name);
    const char *rows = rows_parameter(f);
    r.rows = rows ? rows : fresh_local(f, "rows");
    r.bytes = dynamic ? fresh_local(f, "row_bytes") : NULL;
    const char **params = arena_array(a, const char *, f->n_params + 2);
    size_t n = 0;
    for (; n < f->n_params; n++)
        params[n] = text_of(f, f->variables[n].statement);
    if (!rows)
        params[n++] = arena_printf(a, "unsigned int %s", r.rows);
    if (dynamic)
        params[n++] = arena_printf(a, "unsigned int %s", r.bytes);
    struct edits inside = {.arena = a};
    if (n > f->n_params)
        edits_parameters(&inside, f, params, n, (int)strlen("_rows"));
    if (!regroup_apply(&r, "rows", "with a warp for each row", edits, &inside, why_not))
        return false;
    int lanes = 32 * r.loop.width * (r.setting / STEPS);
    for (size_t l = 0; l < f->n_launches; l++) {
        const struct launch *launch = &f->launches[l];
        edits_guard_launch(edits, f, launch, "A warp for each row, where rows are short.",
                           arena_printf(a, "%s <= %d", launch_expression(f, launch, r.loop.bound), lanes),
                           fast_launch(f, launch, &r, !rows));
    }
    return true;
}

static const char *rows_words(struct arena *a, int setting)
{
    return arena_printf(a, "%d a block, up to %d steps", setting % STEPS, setting / STEPS);
}

const struct transform transform_warp_rows = {
    .name = "warp-rows",
    .summary = "a warp for each short row and several rows a block, where a block walked one",
    .helps = "latency sync issue launch dram",
    .setting_words = rows_words,
    .find = rows_find,
    .apply = rows_apply,
};
