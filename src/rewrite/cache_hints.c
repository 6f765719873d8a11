/* cache-hints: data that is touched once says so (evict first), so that it does not push out what is used
 * again. Loads: of a pointer read at one place, at addresses that depend on the block. Stores: through pointers
 * that are never read. */
#include "rewrite/analysis.h"

struct touch {
    struct node place; /* the call of packed_load or packed_store, or the subscript */
    const struct variable *root;
    struct node index;
    bool packed, store;
};

typedef VEC(struct touch) touch_list;

static bool is_addressed(struct node e)
{
    for (e = node_parent(e); node_is(e, NODE_PARENTHESIZED_EXPRESSION);)
        e = node_parent(e);
    return node_is(e, NODE_POINTER_EXPRESSION);
}

static void touches(const struct function *f, struct node e, touch_list *list)
{
    struct node of = node_is(e, NODE_SUBSCRIPT_EXPRESSION) ? node_field(e, FIELD_ARGUMENT) : (struct node){0};
    struct node base = node_is(of, NODE_FIELD_EXPRESSION) ? node_field(of, FIELD_ARGUMENT) : of;
    base = node_is(base, NODE_SUBSCRIPT_EXPRESSION) ? node_field(base, FIELD_ARGUMENT) : base;
    const struct variable *local = function_variable_of(f, base);
    bool own = local && !local->pointer && !local->shared && (local->array || !node_same(base, of));
    if (node_ok(of) && !own) { /* not values.at[k], nor those of an array of a thread's own */
        struct node parent = node_parent(e), call = node_parent(node_parent(parent));
        struct touch t = {.place = e, .root = pointer_root(f, e), .index = node_field(e, FIELD_INDICES)};
        bool load = node_is(parent, NODE_POINTER_EXPRESSION) && node_is(call, NODE_CALL_EXPRESSION) &&
                    str_starts(text_of(f, call), "packed_load<");
        t.store = node_is(parent, NODE_POINTER_EXPRESSION) && call_is(f, call, "packed_store");
        t.packed = load || t.store;
        if (t.packed)
            t.place = call;
        else if (node_is(parent, NODE_ASSIGNMENT_EXPRESSION) && node_same(node_field(parent, FIELD_LEFT), e))
            t.store = true;
        else if (node_ok(macro_around(f, e)) || is_addressed(e))
            t.root = NULL; /* it may be loaded or stored, by whom and how is not seen */
        vec_add(f->a, list, t);
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        touches(f, node_child(e, i), list);
}

/* Does the address move with the block (so that no other block wants it)? */
static bool moves_with_block(const struct function *f, struct node e, int depth)
{
    if (node_is(e, NODE_IDENTIFIER)) {
        if (node_text_is(f->s, e, "blockIdx"))
            return true;
        const struct variable *v = function_variable_of(f, e);
        return v && node_ok(v->init) && depth < 6 && moves_with_block(f, v->init, depth + 1);
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (moves_with_block(f, node_child(e, i), depth))
            return true;
    return false;
}

static size_t hints(const struct function *f, int which, struct edits *edits, bool *load_packed,
                    bool *store_packed)
{
    touch_list all = {0};
    touches(f, f->body, &all);
    size_t done = 0;
    for (struct touch *t = all.v; t < all.v + all.n; t++) {
        size_t loads = 0, stores = 0;
        for (size_t j = 0; j < all.n; j++)
            if (!all.v[j].root || all.v[j].root == t->root)
                *(all.v[j].store ? &stores : &loads) += 1;
        if (!t->root || !t->root->param || !t->root->pointer || (which & (t->store ? 2 : 1)) == 0 ||
            (t->store ? loads > 0 : stores > 0) || !moves_with_block(f, t->index, 0))
            continue;
        struct node parent = node_parent(t->place);
        if (t->packed) {
            struct node callee = node_field(t->place, FIELD_FUNCTION);
            struct node name =
                node_is(callee, NODE_TEMPLATE_FUNCTION) ? node_field(callee, FIELD_NAME) : callee;
            edits_node(edits, name, t->store ? "packed_store_once" : "packed_load_once");
            *(t->store ? store_packed : load_packed) = true;
        } else if (node_is(parent, NODE_POINTER_EXPRESSION) || node_is(parent, NODE_UPDATE_EXPRESSION) ||
                   !ctype_size(f, t->root->type)) {
            continue;
        } else if (t->store) {
            struct node right = node_field(parent, FIELD_RIGHT);
            if (!str_eq(node_op(f, parent), "=") || !node_is(node_parent(parent), NODE_EXPRESSION_STATEMENT))
                continue;
            edits_try(edits, node_start(t->place), node_start(right),
                      arena_printf(f->a, "__stcs(&%s, ", text_of(f, t->place)));
            edits_at(edits, node_end(right), ")");
        } else {
            edits_at(edits, node_start(t->place), "__ldcs(&");
            edits_at(edits, node_end(t->place), ")");
        }
        done++;
    }
    return done;
}

static void hints_find(struct function *f, struct site_list *found)
{
    static const char *const what[] = {"", "loads", "stores", "loads and stores"};
    size_t seen[4] = {0};
    for (int which = 3; which >= 1; which--) {
        bool x, y;
        seen[which] = hints(f, which, &(struct edits){.arena = f->a}, &x, &y);
        if (seen[which] > 0 && (which == 3 || seen[which] != seen[3]))
            site_add(found, f, f->definition, which,
                     "data that is touched once need not push other data out of the caches", "%zu %s",
                     seen[which], what[which]);
    }
}

static bool hints_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    bool load_packed = false, store_packed = false;
    if (hints(f, site->setting, edits, &load_packed, &store_packed) == 0)
        return err_input(why_not, "nothing in %s is touched just once", f->name);
    if (!load_packed && !store_packed)
        return true;
    const char *store = strstr(f->text, "packed_store(T *to"), *end = store ? strstr(store, "\n}\n") : NULL;
    if (!end)
        return err_input(why_not, "packed_store is not where it should be");
    size_t at = (size_t)(end - f->text) + 3; /* the helpers go below packed itself */
    const char *helpers[] = {load_packed ? share_text("cuda/rewrite/packed_load_once.cuh") : NULL,
                             store_packed ? share_text("cuda/rewrite/packed_store_once.cuh") : NULL};
    for (int i = 0; i < 2; i++)
        if (helpers[i] && !strstr(f->text, helpers[i]))
            edits_at(edits, at, arena_printf(f->a, "\n%s", helpers[i]));
    return true;
}

const struct transform transform_cache_hints = {
    .name = "cache-hints",
    .summary = "mark data that is touched once as evict-first",
    .helps = "dram l2",
    .parameters = {{"hints", 1, 0, 3, {1, 2, 3}}},
    .find = hints_find,
    .apply = hints_apply,
};
