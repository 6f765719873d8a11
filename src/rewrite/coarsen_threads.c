/* coarsen-threads: a thread of a one-element-a-thread kernel takes several elements, a block apart, and the
 * grid shrinks as much. Without a bound check it must shrink exactly: a copy is launched where it does. */
#include "rewrite/analysis.h"

struct detail {
    const struct variable *index;
    struct node block; /* blockIdx.x in the index's initialiser */
    bool exact;        /* no bound check */
};

static size_t count_word(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* Does it mention the index, or what is made of it? */
static bool depends(const struct function *f, struct node e, const struct variable *index, int depth)
{
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        return v && (v == index || (node_ok(v->init) && depth < 4 && depends(f, v->init, index, depth + 1)));
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (depends(f, node_child(e, i), index, depth))
            return true;
    return false;
}

static bool asks(const struct function *f, struct node statement, const struct variable *index)
{
    return node_is(statement, NODE_IF_STATEMENT) &&
           depends(f, node_field(statement, FIELD_CONDITION), index, 0);
}

/* Is n only reached behind a question about the index: within an if, or after one that ends the thread? */
static bool is_behind_question(const struct function *f, struct node n, const struct variable *index)
{
    for (; node_ok(n) && !node_same(n, f->body); n = node_parent(n)) {
        struct node up = node_parent(n);
        if (asks(f, up, index) && !node_same(n, node_field(up, FIELD_CONDITION)))
            return true;
        for (struct node before = node_prev(n); node_is(up, NODE_COMPOUND_STATEMENT) && node_ok(before);
             before = node_prev(before)) {
            if (node_has(f, before, NODE_RETURN_STATEMENT) && asks(f, before, index))
                return true;
        }
    }
    return false;
}

/* All memory that the index leads to is asked about before: there are more items than the grid had threads. */
static bool is_bounded(const struct function *f, struct node n, const struct variable *index)
{
    bool access = node_is_access(f, n);
    const struct variable *root = access ? pointer_root(f, n) : NULL;
    if (access && !(root && root->array && !root->param) && depends(f, n, index, 0) &&
        !is_behind_question(f, n, index))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!is_bounded(f, node_child(n, i), index))
            return false;
    return true;
}

/* Does it change, behind the index, what was there before: a pointer that is moved, a sum? */
static bool changes_before(const struct function *f, const struct variable *index)
{
    size_t start = node_start(index->statement);
    for (size_t i = 0; i < f->n_variables; i++) {
        const struct variable *v = &f->variables[i], *first = v;
        if (v->assignments && v->from < start && !v->shared)
            return true;
        for (size_t k = 0; k < i && first == v; k++) /* a pointer has an entry for each of its places */
            first = str_eq(f->variables[k].name, v->name) ? &f->variables[k] : v;
        if (first->from < start && v->from > start && node_is(v->statement, NODE_EXPRESSION_STATEMENT))
            return true;
    }
    return false;
}

/* Is what the index begins at the same for all threads that count along x? */
static bool is_offset(const struct poly *p)
{
    for (int t = 0; t < p->n; t++)
        for (int i = 0; i < p->t[t].n; i++)
            if (str_starts(p->t[t].atom[i], "threadIdx") || str_starts(p->t[t].atom[i], "blockIdx.x") ||
                str_eq(p->t[t].atom[i], POLY_LANE))
                return false;
    return true;
}

/* The first statement of the kernel makes the index out of blockIdx.x and threadIdx.x, then returns past the
 * end. */
static bool takes(const struct function *f, struct detail *d, struct err *why)
{
    char *body = text_of(f, f->body), *x;
    size_t n_loops;
    lane_loops(f, &n_loops);
    if (f->n_launches == 0 || n_loops > 0 || calls_barrier(f, f->body) || str_has_word(body, "gridDim.x") ||
        str_has_word(body, "__shared__"))
        return err_input(why, "%s is no one-element-a-thread kernel", f->name);
    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables && !d->index;
         v++) {
        struct poly p = node_ok(v->init) && ctype_is_integer(f, v->type) && !v->assignments
                            ? poly_of(f, v->init)
                            : (struct poly){0};
        struct poly lanes = poly_thread_of_grid(f);
        int64_t width = p.ok ? poly_coefficient(&p, "threadIdx.x") : 0;
        struct poly from = poly_add(f, p, poly_mul(f, lanes, poly_number(width)), -1);
        if (width >= 1 && from.ok && is_offset(&from) && node_same(node_parent(v->statement), f->body))
            d->index = v;
    }
    if (!d->index)
        return err_input(why, "%s has no index over the whole grid", f->name);
    if (changes_before(f, d->index))
        return err_input(why, "%s changes what all items would share", f->name);
    for (struct node *field = nodes_of(f, d->index->init, NODE_FIELD_EXPRESSION); node_ok(*field); field++)
        if (node_text_is(f->s, *field, "blockIdx.x"))
            d->block = *field;
    if (!node_ok(d->block) || count_word(body, "blockIdx.x") != 1)
        return err_input(why, "blockIdx.x is used in other ways too");
    d->exact = !is_bounded(f, f->body, d->index);
    for (size_t i = 0; i < f->n_launches; i++)
        if (!launch_grid_x(f, &f->launches[i], &x) || (!d->exact && launch_grid_cuts(f, &f->launches[i])))
            return err_input(why, "the grid is not understood, or leaves elements out");
    return !d->exact || (function_may_be_copied(f) && !strstr(f->name, "_items")) ||
           err_input(why, "%s has no bound check, and is used other than by launches", f->name);
}

static void coarsen_find(struct function *f, struct site_list *found)
{
    static const int own[] = {2, 4, 8};
    struct detail d = {0};
    for (const int *items = settings_to_try(f, found, own, ARRAY_LEN(own));
         takes(f, &d, NULL) && *items != NO_SETTING; items++)
        if (!d.exact || some_grid_divides(f, 0, *items))
            site_add(found, f, d.index->statement, *items,
                     "fewer blocks to start, and the loads of several items are in flight together",
                     "%d items a thread", *items);
}

static bool coarsen_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                          struct err *why_not)
{
    struct arena *a = f->a;
    struct detail d = {0};
    int items = site->setting;
    if (!takes(f, &d, why_not))
        return false;
    struct edits inside = {.arena = a};
    char *item = fresh_local(f, "item");
    edits_node(&inside, d.block, arena_printf(a, "(blockIdx.x * %d + %s)", items, item));
    size_t start = node_start(d.index->statement), end = node_end(f->body) - 1;
    while (end > start && (f->text[end - 1] == '\n' || f->text[end - 1] == ' '))
        end--;
    char *body = text_reindent(a, edits_range(&inside, f, start, end), 4), *indent = text_indent(f, start);
    char *text = arena_printf(a, "#pragma unroll\n%sfor (int %s = 0; %s < %d; %s++) {\n%s    %s\n%s}", indent,
                              item, item, items, item, indent, body, indent);
    start = str_line_start(f->text, start); /* a directive stands at the start of its line */
    if (!d.exact) {
        edits_try(edits, start, end, text);
        for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
            char *call = launch_text(f, l, NULL, launch_grid_divided(f, l, items), NULL);
            edits_node(edits, l->statement, text_wrap(a, call, launch_column(f, l)));
        }
        return true;
    }
    struct edits whole = {.arena = a};
    const char *name = fresh_name(f, arena_printf(a, "%s_items%d", f->name, items));
    edits_try(&whole, start, end, text);
    if (!edits_copy(edits, &whole, f, name, arena_printf(a, "%d elements a thread", items), why_not))
        return false;
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        struct guard_list guard = {0};
        guard_add(a, &guard, launch_grid_is_multiple(f, l, false, items));
        edits_guard_launch(edits, f, l, "Without a bound check, where the grid shrinks exactly.",
                           guard_join(f, &guard, l),
                           launch_text(f, l, name, launch_grid_divided(f, l, items), NULL));
    }
    return true;
}

const struct transform transform_coarsen_threads = {
    .name = "coarsen-threads",
    .alias = "items",
    .summary = "give each thread of a one-element-a-thread kernel several elements",
    .helps = "launch latency issue",
    .chooses = "items",
    .parameters = {{"items", 1, 0, 6, {2, 3, 4, 6, 8, 16}}},
    .find = coarsen_find,
    .apply = coarsen_apply,
};
