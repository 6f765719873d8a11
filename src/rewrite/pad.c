/* pad: a square in shared memory whose columns are read by neighbouring threads has them all in one bank, so
 * that 32 threads wait for each other. With one more element a row, a column lies in as many banks as it has
 * elements.
 *
 * Legal where the array is only ever reached as a[i][j]: then nothing depends on how long a row is. */
#include "rewrite/analysis.h"

enum { BANKS_BYTES = 128 };

struct detail {
    const struct variable *array;
    struct node length; /* of a row */
};

/* The array's two extents, of `T a[rows][length]`. */
static bool extents(const struct variable *v, struct node *rows, struct node *length)
{
    struct node inner = node_parent(v->id), outer = node_parent(inner);
    if (!node_is(inner, NODE_ARRAY_DECLARATOR) || !node_is(outer, NODE_ARRAY_DECLARATOR) ||
        node_is(node_parent(outer), NODE_ARRAY_DECLARATOR))
        return false;
    *rows = node_field(inner, FIELD_SIZE);
    *length = node_field(outer, FIELD_SIZE);
    return node_ok(*rows) && node_ok(*length);
}

static bool moves_with_thread(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e);
    return p.ok && poly_coefficient(&p, "threadIdx.x") != 0;
}

/* Is it only reached element by element, and are there columns that neighbouring threads read or write? */
static bool has_columns(const struct function *f, const struct variable *v)
{
    bool columns = false;
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        if (function_variable_of(f, *name) != v || node_start(*name) == v->from)
            continue;
        struct node row = node_parent(*name), element = node_parent(row);
        if (!node_is(row, NODE_SUBSCRIPT_EXPRESSION) || !node_is(element, NODE_SUBSCRIPT_EXPRESSION) ||
            !node_same(node_field(row, FIELD_ARGUMENT), *name) ||
            !node_same(node_field(element, FIELD_ARGUMENT), row) ||
            (node_is(node_parent(element), NODE_POINTER_EXPRESSION)))
            return false;
        columns = columns || (moves_with_thread(f, subscript_index(f, row)) &&
                              !moves_with_thread(f, subscript_index(f, element)));
    }
    return columns;
}

static bool takes(const struct function *f, const struct variable *v, struct detail *d)
{
    struct node rows;
    int64_t length, count;
    int size = ctype_size(f, v->type);
    *d = (struct detail){.array = v};
    return v->shared && v->array && !v->external && size > 0 && extents(v, &rows, &d->length) &&
           constant_value(f, d->length, &length) && constant_value(f, rows, &count) &&
           length * size % BANKS_BYTES == 0 && count * (length + 1) * size <= 49152 && has_columns(f, v);
}

static void pad_find(struct function *f, struct site_list *found)
{
    struct detail d;
    for (size_t i = 0; i < f->n_variables; i++)
        if (takes(f, &f->variables[i], &d))
            site_add(
                found, f, f->variables[i].statement, 0,
                "the elements of a column lie in one bank of shared memory, and 32 threads wait for each other",
                "columns of %s", d.array->name)
                ->detail = arena_copy(f->a, &d, sizeof(d));
}

static bool pad_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                      struct err *why_not)
{
    const struct detail *d = site->detail;
    struct detail again;
    if (!takes(f, d->array, &again))
        return err_input(why_not, "%s is no square with columns", d->array->name);
    edits_node(edits, d->length, arena_printf(f->a, "%s + 1", text_of(f, d->length)));
    return true;
}

const struct transform transform_pad = {
    .name = "pad",
    .summary = "one more element a row of a shared square, so that columns lie in different banks",
    .helps = "issue latency sync l2 dram",
    .find = pad_find,
    .apply = pad_apply,
};
