/* A kernel, and what it calls, for other groups of threads: a block's row is a warp's, or a cluster's. Whoever
 * asks where its thread stands gets a name for the answer, barriers and shared memory become those of the new
 * group. */
#include "rewrite/regroup.h"

#include <ctype.h>

enum { FUNCTIONS_MOST = 16 };

/* What the body says that only a block as it was can mean. */
static const char *foreign_word(const char *body)
{
    static const char *const words[] = {
        "this_thread_block", "this_grid", "this_cluster",        "cub",
        "alignas",           "__align__", "__syncthreads_count", "__syncthreads_or",
        "__syncthreads_and", "typedef",   "__nv_cluster_dims",   "pipeline"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_has_word(body, words[i]))
            return words[i];
    return NULL;
}

static bool is_place(const char *word)
{
    return str_in(word, "threadIdx|blockDim|blockIdx|gridDim");
}

static bool asks_for_place(const char *text)
{
    return str_has_word(text, "threadIdx") || str_has_word(text, "blockDim") ||
           str_has_word(text, "blockIdx") || str_has_word(text, "gridDim") ||
           str_has_word(text, "__syncthreads") || str_has_word(text, "__shared__");
}

/* threadIdx, blockDim, blockIdx and gridDim are asked for their x; the grid's y and z may stay as they are. */
static bool places_are_plain(const struct function *f, struct err *why)
{
    for (struct node *word = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*word); word++) {
        const char *name = text_of(f, *word);
        struct node whole = node_parent(*word);
        const struct variable *v = function_variable_of(f, *word);
        if (!is_place(name) && !(v && v->shared))
            continue;
        if (node_ok(node_enclosing(*word, NODE_LAMBDA_EXPRESSION)))
            return err_input(why, "a lambda of %s asks for its thread", f->name);
        if (!is_place(name))
            continue;
        bool x =
            node_is(whole, NODE_FIELD_EXPRESSION) && str_eq(text_of(f, node_field(whole, FIELD_FIELD)), "x");
        bool grid = str_eq(name, "blockIdx") || str_eq(name, "gridDim");
        if (!x && !(grid && node_is(whole, NODE_FIELD_EXPRESSION)))
            return err_input(why, "%s uses %s at line %d", f->name, name, node_line(f->s, *word));
    }
    return true;
}

bool function_is_specialised(const struct function *f, const char *name)
{
    const char *said = arena_printf(f->a, "%s<", name);
    for (struct node *definition = definitions_of(f); node_ok(*definition) && *name; definition++) {
        const char *head =
            text_range(f, node_start(*definition), node_start(node_field(*definition, FIELD_BODY)));
        if (strstr(head, name) && strstr(text_compact(f->a, head), said))
            return true;
    }
    return false;
}

/* A function of the file, as it stands, and its calls of others that ask; each once, callees behind callers. */
static bool collect(const struct function *f, struct regroup *r, struct err *why)
{
    const char *foreign = foreign_word(text_of(f, f->body));
    if (foreign)
        return err_input(why, "%s has %s", f->name, foreign);
    if (!places_are_plain(f, why))
        return false;
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        const char *name = call_name(f, *call);
        const struct function *g = function_only(f, name);
        if (function_is_specialised(f, name) || (!g && !is_warp_builtin(name) && call_meets(f, *call)))
            return err_input(why, "%s calls %s at line %d, in which threads may meet", f->name, name,
                             node_line(f->s, *call));
        bool listed = false;
        for (size_t k = 0; g && k < r->n; k++)
            listed = listed || node_same(r->functions[k]->definition, g->definition);
        if (!g || listed)
            continue;
        if (r->n == FUNCTIONS_MOST)
            return err_input(why, "%s calls too many functions", f->name);
        r->functions[r->n++] = g;
        if (!collect(g, r, why))
            return false;
    }
    return true;
}

/* Those that need a copy: they ask themselves, or call one that does. */
static void choose(struct regroup *r)
{
    for (size_t k = 0; k < r->n; k++)
        r->copied[k] = k == 0 || asks_for_place(text_of(r->functions[k], r->functions[k]->body));
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < r->n; k++)
            for (size_t c = 0; c < r->n; c++)
                if (!r->copied[k] && r->copied[c] &&
                    node_mentions(r->functions[k], r->functions[k]->body, r->functions[c]->name))
                    r->copied[k] = more = true;
    }
}

/* A term with both a thread's and a block's number: elements of the grid, or warps' rows. */
static bool mixes(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e);
    bool thread = !p.ok, block = !p.ok && str_has_word(text_of(f, e), "blockIdx.x");
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.t[i].n; k++) {
            thread = thread || str_has_word(p.t[i].atom[k], "threadIdx.x") || str_eq(p.t[i].atom[k], POLY_LANE);
            block = block || str_has_word(p.t[i].atom[k], "blockIdx.x");
        }
    return thread && block;
}

static bool asks_for_thread(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e);
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.t[i].n; k++)
            if (str_has_word(p.t[i].atom[k], "threadIdx.x") || str_eq(p.t[i].atom[k], POLY_LANE))
                return true;
    return !p.ok && str_has_word(text_of(f, e), "threadIdx.x");
}

/* An element that belongs to a thread by its number alone would belong to nobody, or to several. */
static bool elements_are_shared(const struct function *f, struct err *why)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_ok(v->init) &&
            (mixes(f, v->init) || (v->pointer && !v->shared && asks_for_thread(f, v->init))))
            return err_input(why, "%s is a thread's of the grid", v->name);
    for (struct node *x = nodes_of(f, f->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*x); x++) {
        const struct variable *root = pointer_root(f, node_field(*x, FIELD_ARGUMENT));
        struct node index = subscript_index(f, *x);
        bool own = root && (root->shared || (root->array && !root->param));
        if (!own && node_ok(index) && asks_for_thread(f, index))
            return err_input(why, "an element at line %d is a thread's by its number alone",
                             node_line(f->s, *x));
    }
    return true;
}

/* A name or number that says how many threads the block has; a template's parameter, say. Arrays may stay as
 * long as they are. */
static bool says_block(const struct function *f, struct node n)
{
    int64_t v;
    if (function_variable_of(f, n) || node_is(node_parent(n), NODE_ARRAY_DECLARATOR) ||
        node_is(node_parent(n), NODE_FIELD_EXPRESSION) ||
        node_ok(node_enclosing(n, NODE_STATIC_ASSERT_DECLARATION)))
        return false;
    return (f->block_x > 32 && constant_value(f, n, &v) && v == f->block_x) || poly_is_block(f, n);
}

/* Is it an argument of a call's template? */
static bool is_template_argument(struct node n)
{
    while (node_is(n, NODE_NUMBER_LITERAL) || node_is(n, NODE_IDENTIFIER) || node_is(n, NODE_TYPE_DESCRIPTOR))
        n = node_parent(n);
    return node_is(node_parent(n), NODE_TEMPLATE_FUNCTION) &&
           node_same(node_field(node_parent(n), FIELD_ARGUMENTS), n);
}

/* Does the kernel write the number down, of its threads or its warps, where it may mean something else? */
static bool knows_block(const struct function *f)
{
    for (struct node *x = nodes_of(f, f->body, NODE_NUMBER_LITERAL); node_ok(*x) && f->block_x > 32; x++) {
        struct node parent = node_parent(*x);
        int64_t v;
        bool asked = node_is_binary(f, parent, "<");
        if ((says_block(f, *x) && !is_template_argument(*x)) ||
            (asked && constant_value(f, *x, &v) && v > 1 && v == f->block_x / 32))
            return true;
    }
    return false;
}

/* Does the kernel, a function that is none, or another macro say this one? */
static bool is_said(const struct function *f, struct node macro)
{
    const char *name = text_of(f, node_field(macro, FIELD_NAME));
    for (struct node *d = definitions_of(f); node_ok(*d); d++) {
        bool other = str_has_word(text_of(f, *d), "__global__") && !node_same(*d, f->definition);
        if (!other && str_has_word(text_of(f, *d), name))
            return true;
    }
    for (struct node *item = file_items(f, NULL); node_ok(*item); item++)
        if (node_is_directive(*item) && !node_same(*item, macro) && str_has_word(text_of(f, *item), name))
            return true;
    return false;
}

bool macros_ask_for_place(const struct function *f)
{
    for (struct node *item = file_items(f, NULL); node_ok(*item); item++)
        if (node_is_directive(*item) && !node_is(*item, NODE_PREPROC_IFDEF) &&
            !node_is(*item, NODE_PREPROC_IF) && asks_for_place(text_of(f, *item)) && is_said(f, *item))
            return true;
    return false;
}

bool regroup_open(struct regroup *r, const struct function *f, struct err *why)
{
    *r = (struct regroup){.f = f,
                          .functions = arena_array(f->a, const struct function *, FUNCTIONS_MOST),
                          .copied = arena_array(f->a, bool, FUNCTIONS_MOST)};
    if (f->n_launches == 0 || function_is_named_elsewhere(f) || macros_ask_for_place(f))
        return err_input(why, "%s is used other than by launches", f->name);
    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));)
        if (s->block[1] != 1 || s->block[2] != 1 || s->cooperative || s->cluster[0] > 1)
            return err_input(why, "blocks of %s have more than one dimension", f->name);
    r->functions[r->n++] = f;
    if (!collect(f, r, why))
        return false;
    choose(r);
    return true;
}

/* May the row be walked by another number of threads? */
bool regroup_any_number(struct regroup *r, struct err *why)
{
    const struct function *f = r->f;
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    for (size_t i = 0; i < n; i++)
        if (loops[i].span != LANES_BLOCK)
            n = 0;
    if (n == 0)
        return err_input(why, "the threads of a block do not share a row in %s", f->name);
    r->loop = loops[0];
    r->number = true;
    return elements_are_shared(f, why) &&
           (!knows_block(f) || err_input(why, "%s writes the number of threads down", f->name));
}

/* One function's text for the new group. */
static void function_edits(struct regroup *r, const struct function *f, struct edits *inside)
{
    struct arena *a = f->a;
    struct regroup_names names = {0};
    r->names(r, f, &names);
    const char *const places[][2] = {{"threadIdx.x", names.thread},
                                     {"blockDim.x", names.threads},
                                     {"blockIdx.x", names.block},
                                     {"gridDim.x", names.blocks}};
    for (struct node *field = nodes_of(f, f->body, NODE_FIELD_EXPRESSION); node_ok(*field); field++) {
        const char *text = text_compact(a, text_of(f, *field));
        for (size_t k = 0; k < ARRAY_LEN(places); k++)
            if (str_eq(text, places[k][0]))
                edits_node(inside, *field, places[k][1]);
    }
    for (int kind = 0; r->number && f == r->f && kind < 2; kind++) {
        for (struct node *x = nodes_of(f, f->body, kind ? NODE_IDENTIFIER : NODE_NUMBER_LITERAL); node_ok(*x);
             x++)
            if (says_block(f, *x))
                edits_node(inside, *x, names.threads);
    }
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        const char *name = call_name(f, *call);
        if (names.barrier && str_eq(name, "__syncthreads"))
            edits_node(inside, *call, names.barrier);
        for (size_t k = 1; k < r->n; k++)
            if (r->copied[k] && str_eq(r->functions[k]->name, name))
                edits_node(inside, callee_name(node_field(*call, FIELD_FUNCTION)), r->copies[k]);
    }
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        const char *by = v->shared ? r->shared(r, f, v, inside) : NULL;
        for (struct node *use = nodes_of(f, f->body, NODE_IDENTIFIER); by && node_ok(*use); use++)
            if (function_variable_of(f, *use) == v && node_start(*use) != v->from)
                edits_node(inside, *use, by);
    }
    if (names.head)
        edits_at(inside, node_start(f->body) + 1, names.head);
    if (r->more)
        r->more(r, f, inside);
}

bool regroup_apply(struct regroup *r, const char *suffix, const char *how, struct edits *edits,
                   struct edits *kernel_inside, struct err *why_not)
{
    struct arena *a = r->f->a;
    r->copies = arena_array(a, const char *, r->n);
    for (size_t k = 0; k < r->n; k++)
        r->copies[k] = fresh_name(r->f, arena_printf(a, "%s_%s", r->functions[k]->name, suffix));
    for (size_t k = 0; k < r->n; k++) {
        struct edits own = {.arena = a}, *inside = k == 0 ? kernel_inside : &own;
        if (!r->copied[k])
            continue;
        function_edits(r, r->functions[k], inside);
        if (!edits_copy(edits, inside, r->functions[k], r->copies[k], how, why_not))
            return false;
    }
    return true;
}

/* Several rows in a block
 * ----------------------------------------------------------------------------------------------------
 */

static bool has_dynamic_memory(const struct function *f)
{
    bool has = false;

    for (size_t i = 0; i < f->n_variables && !has; i++)
        has = f->variables[i].shared && f->variables[i].external;
    return has;
}

bool regroup_can_join(struct regroup *r, const char *suffix, int threads, struct err *why)
{
    const struct function *f = r->f;
    for (size_t k = 1; k < r->n; k++) {
        char *body = text_of(r->functions[k], r->functions[k]->body);
        if (r->copied[k] &&
            (str_has_word(body, "blockIdx") || str_has_word(body, "gridDim") || str_has_word(body, "extern")))
            return err_input(why, "%s asks for its block", r->functions[k]->name);
    }
    struct node bound = launch_bound(f);
    int64_t most;
    if (node_ok(bound) && (!constant_value(f, bound, &most) || most < threads))
        return err_input(why, "the launch bounds of %s are below %d", f->name, threads);
    const char *copy = arena_printf(f->a, "%s_%s", f->name, suffix);
    if (!str_eq(fresh_name(f, copy), copy))
        return err_input(why, "%s has it already", f->name);
    bool dynamic = has_dynamic_memory(f);
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        char *x;
        if (launch->n_args != f->n_params || f->n_params == 0 || !launch_grid_x(f, launch, &x) ||
            (dynamic && !node_ok(launch->shared)))
            return err_input(why, "a launch of %s is not understood", f->name);
    }
    return true;
}

/* A row's part of the block's shared memory; dynamic memory is cut by the launcher. */
static const char *row_memory(struct regroup *r, const struct function *f, const struct variable *v,
                              struct edits *e)
{
    struct arena *a = f->a;
    if (!v->external) {
        edits_at(e, node_end(v->id), arena_printf(a, "[%d]", r->together));
        return arena_printf(a, "%s[%s]", v->name, r->mine);
    }
    const char *all = fresh_local(f, arena_printf(a, "%s_of_rows", v->name));
    edits_node(e, v->id, all);
    edits_at(e, node_end(v->statement),
             arena_printf(a,
                          "\n%s%s *const %s = reinterpret_cast<%s *>(reinterpret_cast<char *>(%s) + "
                          "%s * %s);",
                          text_indent(f, node_start(v->statement)), v->type, v->name, v->type, all, r->mine,
                          r->bytes));
    return NULL;
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

const char *regroup_rows(const struct regroup *r, const struct launch *l)
{
    const char *rows = launch_grid_part(r->f, l, 0);
    char *x = NULL;
    if (!rows && launch_grid_x(r->f, l, &x))
        rows = x;
    bool sum = rows && strpbrk(rows, " ?") && (rows[0] != '(' || strchr(rows, '?'));
    return sum ? arena_printf(r->f->a, "(%s)", rows) : rows;
}

bool regroup_join(struct regroup *r, const char *suffix, const char *how, struct edits *edits,
                  struct err *why_not)
{
    const struct function *f = r->f;
    struct arena *a = f->a;
    bool dynamic = has_dynamic_memory(f);
    const char *rows = rows_parameter(f);
    r->rows = rows ? rows : fresh_local(f, "rows");
    r->tells_rows = !rows && (r->guarded || str_has_word(text_of(f, f->body), "gridDim"));
    r->bytes = dynamic ? fresh_local(f, "row_bytes") : NULL;
    r->shared = row_memory;
    const char **params = arena_array(a, const char *, f->n_params + 2);
    size_t n = 0;
    for (; n < f->n_params; n++)
        params[n] = text_of(f, f->variables[n].statement);
    if (r->tells_rows)
        params[n++] = arena_printf(a, "unsigned int %s", r->rows);
    if (dynamic)
        params[n++] = arena_printf(a, "unsigned int %s", r->bytes);
    struct edits inside = {.arena = a};
    if (n > f->n_params)
        edits_parameters(&inside, f, params, n, (int)strlen(suffix) + 1);
    return regroup_apply(r, suffix, how, edits, &inside, why_not);
}

char *regroup_launch(const struct regroup *r, const struct launch *l)
{
    const struct function *f = r->f;
    struct arena *a = f->a;
    const char *x = regroup_rows(r, l);
    struct edits call = {.arena = a};
    edits_node(&call, launch_name(f, l), r->copies[0]);
    edits_node(
        &call, l->grid,
        launch_grid_with(f, l, arena_printf(a, "(%s + %d) / %d", x, r->together - 1, r->together), NULL));
    edits_node(&call, l->block, arena_printf(a, "%d", r->threads));
    size_t end = node_end(l->args[l->n_args - 1]);
    if (r->tells_rows)
        edits_at(&call, end, arena_printf(a, ", %s", x));
    if (r->bytes) {
        bool plain = node_is(l->shared, NODE_IDENTIFIER) || node_is(l->shared, NODE_NUMBER_LITERAL);
        char *bytes =
            arena_printf(a, plain ? "(%s + 15) / 16 * 16" : "((%s) + 15) / 16 * 16", text_of(f, l->shared));
        edits_node(&call, l->shared, arena_printf(a, "%s * %d", bytes, r->together));
        edits_at(&call, end, arena_printf(a, ", %s", bytes));
    }
    return edits_range(&call, f, node_start(l->statement), node_end(l->statement));
}
