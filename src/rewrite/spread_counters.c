/* spread-counters: counters in shared memory that many threads add to become several copies each, and
 * neighbouring threads add to different ones: lanes of a warp that meet at one counter, or at counters of one
 * bank, wait for each other. Copies of a counter lie beside each other, so that with 32 of them each lane has a
 * bank of its own.
 *
 * Right where the array is only added to (`atomicAdd(&a[i], x)` of integers, the result not used), assigned
 * (`a[i] = x`: one copy has it, the others nothing) and read (the sum of the copies): every one of these means
 * then what it meant. */
#include "rewrite/analysis.h"

enum { MOST_BYTES = 32768, BLOCK_BYTES = 49152 };

enum use { NONE, ADDED, ASSIGNED, READ };

/* What becomes of the array at this mention; *at: what is replaced, *index: of the counter. */
static enum use use_of(const struct function *f, struct node name, struct node *at, struct node *index)
{
    struct node element = node_parent(name), up = node_parent(element), call;
    bool sum = node_is_binary(f, element, "+") && node_same(node_field(element, FIELD_LEFT), name);
    if (!sum &&
        (!node_is(element, NODE_SUBSCRIPT_EXPRESSION) || !node_same(node_field(element, FIELD_ARGUMENT), name)))
        return NONE;
    *index = sum ? node_field(element, FIELD_RIGHT) : subscript_index(f, element);
    *at = sum ? element : up;
    if (!node_ok(*index) || node_has_effect(f, *index) || node_mentions(f, *index, text_of(f, name)))
        return NONE;
    if (sum || node_is_address(f, up)) {
        call = node_parent(node_parent(*at));
        return call_is(f, call, "atomicAdd") &&
                       node_same(node_child(node_field(call, FIELD_ARGUMENTS), 0), *at) &&
                       node_is(node_parent(call), NODE_EXPRESSION_STATEMENT)
                   ? ADDED
                   : NONE;
    }
    if (node_ok(assigned_target(up)) && node_same(assigned_target(up), element))
        return node_is_assignment(f, up, "=") && node_is(node_parent(up), NODE_EXPRESSION_STATEMENT) &&
                       !node_mentions(f, node_field(up, FIELD_RIGHT), text_of(f, name))
                   ? ASSIGNED
                   : NONE;
    *at = element;
    return node_is(up, NODE_SUBSCRIPT_EXPRESSION) && node_same(node_field(up, FIELD_ARGUMENT), element) ? NONE
                                                                                                        : READ;
}

/* Bytes of a shared array of one extent; 0: not known. */
static int64_t bytes_of(const struct function *f, const struct variable *v)
{
    bool one = v->array && !node_is(node_parent(node_parent(v->id)), NODE_ARRAY_DECLARATOR);
    return one ? array_bytes(f, v) : 0;
}

/* Are there counters to spread over this array? *bytes: of them all. */
static bool takes(const struct function *f, const struct variable *v, int64_t *bytes)
{
    bool added = false;
    struct node at, index;
    *bytes = v->shared && !v->external ? bytes_of(f, v) : 0;
    if (*bytes == 0 || !ctype_is_integer(f, ctype_bound(f, v->type)) || ctype_size(f, v->type) < 4 ||
        str_has_word(text_of(f, v->statement), "volatile"))
        return false;
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        if (function_variable_of(f, *name) != v || node_start(*name) == v->from)
            continue;
        enum use use = use_of(f, *name, &at, &index);
        if (use == NONE || node_ok(macro_around(f, *name)))
            return false;
        added = added || (use == ADDED && node_ok(node_enclosing(*name, NODE_FOR_STATEMENT)));
    }
    return added;
}

static bool has_room(const struct function *f, int64_t bytes, int copies)
{
    return bytes * copies <= MOST_BYTES && shared_bytes(f) + bytes * (copies - 1) <= BLOCK_BYTES;
}

static void spread_find(struct function *f, struct site_list *found)
{
    static const int own[] = {8, 32, 16};
    int64_t bytes;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        for (const int *copies = settings_to_try(f, found, own, ARRAY_LEN(own));
             *copies != NO_SETTING && takes(f, v, &bytes); copies++)
            if (has_room(f, bytes, *copies))
                site_add(found, f, v->statement, *copies,
                         "lanes that add to one counter, or to counters of one bank, wait for each other; each "
                         "has a copy of its own",
                         "%d copies of %s", *copies, v->name)
                    ->detail = v;
}

static bool spread_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    const struct variable *v = site->detail;
    int64_t bytes;
    int copies = site->setting;
    struct node at, index;
    if (!takes(f, v, &bytes) || !has_room(f, bytes, copies))
        return err_input(why_not, "%s is more than counters, or has no room for copies", v->name);
    edits_node(edits, v->size,
               arena_printf(f->a, node_is(v->size, NODE_BINARY_EXPRESSION) ? "(%s) * %d" : "%s * %d",
                            text_of(f, v->size), copies));
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        if (function_variable_of(f, *name) != v || node_start(*name) == v->from)
            continue;
        enum use use = use_of(f, *name, &at, &index);
        bool apart = !node_is(index, NODE_BINARY_EXPRESSION) && !node_is(index, NODE_CONDITIONAL_EXPRESSION);
        char *first =
            arena_printf(f->a, apart ? "%s[%s * %d" : "%s[(%s) * %d", v->name, text_of(f, index), copies);
        if (use == ADDED)
            edits_node(edits, at, arena_printf(f->a, "&%s + threadIdx.x %% %d]", first, copies));
        else if (use == ASSIGNED)
            edits_node(edits, at,
                       arena_printf(f->a, "spread_set<%d>(&%s], %s)", copies, first,
                                    text_of(f, node_field(at, FIELD_RIGHT))));
        else
            edits_node(edits, at, arena_printf(f->a, "spread_sum<%d>(&%s])", copies, first));
    }
    edits_helper(edits, f, share_text("cuda/rewrite/spread_counter.cuh"));
    return true;
}

const struct transform transform_spread_counters = {
    .name = "spread-counters",
    .summary =
        "several copies of counters in shared memory, so that neighbouring threads add to different ones",
    .helps = "latency issue sync l2",
    .parameters = {{"copies", 1, 0, 5, {2, 4, 8, 16, 32}}},
    .find = spread_find,
    .apply = spread_apply,
};
