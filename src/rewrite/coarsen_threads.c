/* coarsen-threads: a thread of a one-element-a-thread kernel takes several elements, a block apart, and the
 * grid shrinks as much. */
#include "rewrite/analysis.h"

struct detail {
    const struct function *f;
    const struct variable *index;
    struct node block; /* blockIdx.x in the index's initialiser */
    int items;
};

static size_t count_word(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* The first statement of the kernel makes the index out of blockIdx.x and threadIdx.x, then returns past the
 * end. */
static bool takes(const struct function *f, struct detail *d, struct err *why)
{
    char *body = text_of(f, f->body), *x;
    size_t n_loops, n;
    lane_loops(f, &n_loops);
    if (f->n_launches == 0 || n_loops > 0 || calls_barrier(f, f->body) || text_has_word(body, "gridDim.x") ||
        text_has_word(body, "__shared__"))
        return err_input(why, "%s is no one-element-a-thread kernel", f->name);
    for (size_t i = f->n_params; i < f->n_variables && !d->index; i++) {
        const struct variable *v = &f->variables[i];
        struct poly p = node_ok(v->init) && ctype_is_integer(v->type) && !v->assignments ? poly_of(f, v->init)
                                                                                         : (struct poly){0};
        struct poly lanes = poly_add(f, poly_mul(f, poly_atom(f, "blockIdx.x"), poly_atom(f, "blockDim.x")),
                                     poly_atom(f, "threadIdx.x"), 1);
        int64_t width = p.ok ? poly_coefficient(&p, "threadIdx.x") : 0;
        lanes = poly_mul(f, lanes, poly_number(width));
        if (width >= 1 && poly_same(&p, &lanes) && node_same(node_parent(v->statement), f->body))
            d->index = v;
    }
    if (!d->index)
        return err_input(why, "%s has no index over the whole grid", f->name);
    struct node *fields = node_find_all(f->a, d->index->init, NODE_FIELD_EXPRESSION, &n);
    for (size_t i = 0; i < n; i++)
        if (node_text_is(f->s, fields[i], "blockIdx.x"))
            d->block = fields[i];
    if (!node_ok(d->block) || count_word(body, "blockIdx.x") != 1)
        return err_input(why, "blockIdx.x is used in other ways too");
    struct node *all = named_children(f, f->body, &n);
    bool checked = false;
    for (size_t i = 0; i < n; i++)
        checked = checked || (node_is(all[i], NODE_IF_STATEMENT) && node_mentions(f, all[i], d->index->name));
    for (size_t i = 0; i < f->n_launches; i++)
        if (!launch_grid_x(f, &f->launches[i], &x))
            return err_input(why, "the grid is not understood");
    return checked || err_input(why, "%s has no bound check", f->name);
}

static size_t coarsen_find(const struct transform_input *in, struct arena *a,
                           const struct transform_site **sites)
{
    static const int items[] = {2, 4, 8};
    VEC(struct transform_site) found = {0};
    for (size_t i = 0; i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        struct detail one = {.f = f};
        if (!f || !takes(f, &one, NULL))
            continue;
        for (size_t t = 0; t < ARRAY_LEN(items); t++) {
            struct detail *d = arena_new(a, struct detail);
            *d = one;
            d->items = items[t];
            struct transform_site site = {.transform = "coarsen-threads",
                                          .line = node_line(f->s, one.index->statement),
                                          .setting = items[t],
                                          .detail = d};
            site.where = arena_printf(a, "%s, line %d: %d items a thread", f->name, site.line, items[t]);
            site.why = "fewer blocks to start, and the loads of several items are in flight together";
            vec_add(a, &found, site);
        }
    }
    *sites = found.v;
    return found.n;
}

static bool coarsen_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                          char **text, struct err *why_not)
{
    (void)in;
    const struct detail *d = site->detail;
    const struct function *f = d->f;
    struct detail again = {.f = f};
    if (!takes(f, &again, why_not))
        return false;
    struct edits edits = {.arena = a}, inside = {.arena = a};
    char *item = fresh_local(f, "item");
    edits_try(&inside, node_start(d->block), node_end(d->block),
              arena_printf(a, "(blockIdx.x * %d + %s)", d->items, item));
    size_t start = node_start(d->index->statement), end = node_end(f->body) - 1;
    while (end > start && (f->text[end - 1] == '\n' || f->text[end - 1] == ' '))
        end--;
    char *body = text_reindent(a, edits_range(&inside, f, start, end), 4), *indent = text_indent(f, start);
    edits_try(&edits, start, end,
              arena_printf(a, "#pragma unroll\n%sfor (int %s = 0; %s < %d; %s++) {\n%s    %s\n%s}", indent,
                           item, item, d->items, item, indent, body, indent));
    /* a directive stands at the start of its line */
    edits.list.v[0].start = line_start(f->text, start);
    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        char *call = launch_text(f, l, NULL, launch_grid_divided(f, l, d->items), NULL);
        edits_try(&edits, node_start(l->statement), node_end(l->statement),
                  text_wrap(a, call, (int)strlen(text_indent(f, node_start(l->statement)))));
    }
    return edits_done(&edits, f, text, why_not);
}

const struct transform transform_coarsen_threads = {
    .name = "coarsen-threads",
    .alias = "items",
    .summary = "give each thread of a one-element-a-thread kernel several elements",
    .helps = "launch latency issue",
    .chooses = "items",
    .find = coarsen_find,
    .apply = coarsen_apply,
};
