/* cache-hints: data that is touched once says so (evict first), so that it does not push out what is used
 * again. Loads: of a pointer read at one place, at addresses that depend on the block. Stores: through pointers
 * that are never read. */
#include "rewrite/analysis.h"

struct detail {
    const struct function *f;
    int which; /* 1 loads, 2 stores, 3 both */
};

static const char load_helper[] =
    "// A packed_load of values that are not needed again (evict first).\n"
    "template <int N, typename T> __device__ __forceinline__ packed<T, N> packed_load_once(const T *from)\n"
    "{\n"
    "    packed<T, N> values;\n"
    "    if constexpr (sizeof(values) % 16 == 0) {\n"
    "#pragma unroll\n"
    "        for (int i = 0; i < int(sizeof(values) / 16); i++)\n"
    "            reinterpret_cast<uint4 *>(&values)[i] = __ldcs(reinterpret_cast<const uint4 *>(from) + i);\n"
    "    } else if constexpr (sizeof(values) == 8) {\n"
    "        *reinterpret_cast<uint2 *>(&values) = __ldcs(reinterpret_cast<const uint2 *>(from));\n"
    "    } else if constexpr (sizeof(values) == 4) {\n"
    "        *reinterpret_cast<unsigned *>(&values) = __ldcs(reinterpret_cast<const unsigned *>(from));\n"
    "    } else {\n"
    "        values = *reinterpret_cast<const packed<T, N> *>(from);\n"
    "    }\n"
    "    return values;\n"
    "}\n";

static const char store_helper[] =
    "// A packed_store of values that this kernel does not need again (evict first).\n"
    "template <int N, typename T> __device__ __forceinline__ void packed_store_once(T *to, const packed<T, N> &values)\n"
    "{\n"
    "    if constexpr (sizeof(values) % 16 == 0) {\n"
    "#pragma unroll\n"
    "        for (int i = 0; i < int(sizeof(values) / 16); i++)\n"
    "            __stcs(reinterpret_cast<uint4 *>(to) + i, reinterpret_cast<const uint4 *>(&values)[i]);\n"
    "    } else if constexpr (sizeof(values) == 8) {\n"
    "        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&values));\n"
    "    } else if constexpr (sizeof(values) == 4) {\n"
    "        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&values));\n"
    "    } else {\n"
    "        *reinterpret_cast<packed<T, N> *>(to) = values;\n"
    "    }\n"
    "}\n";

struct touch {
    struct node place; /* the call of packed_load or packed_store, or the subscript */
    const struct variable *root;
    struct node index;
    bool packed, store;
};

typedef VEC(struct touch) touch_list;

static void touches(const struct function *f, struct node e, touch_list *list)
{
    struct node of = node_is(e, NODE_SUBSCRIPT_EXPRESSION) ? node_field(e, FIELD_ARGUMENT) : (struct node){0};
    const struct variable *local =
        node_is(of, NODE_FIELD_EXPRESSION) ? function_variable_of(f, node_field(of, FIELD_ARGUMENT)) : NULL;
    if (node_ok(of) && (!local || local->pointer)) { /* not values.at[k] */
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
    for (size_t i = 0; i < all.n; i++) {
        struct touch *t = &all.v[i];
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
            edits_try(edits, node_start(name), node_end(name),
                      t->store ? "packed_store_once" : "packed_load_once");
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

static size_t hints_find(const struct transform_input *in, struct arena *a, const struct transform_site **sites)
{
    static const char *const what[] = {"", "loads", "stores", "loads and stores"};
    VEC(struct transform_site) found = {0};
    for (size_t i = 0; i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        size_t seen[4] = {0};
        for (int which = 3; f && which >= 1; which--) {
            bool x, y;
            seen[which] = hints(f, which, &(struct edits){.arena = a}, &x, &y);
            if (seen[which] == 0 || (which < 3 && seen[which] == seen[3]))
                continue;
            struct detail *d = arena_new(a, struct detail);
            *d = (struct detail){f, which};
            struct transform_site site = {.transform = "cache-hints",
                                          .line = node_line(f->s, f->definition),
                                          .setting = which,
                                          .detail = d};
            site.where = arena_printf(a, "%s, line %d: %zu %s", f->name, site.line, seen[which], what[which]);
            site.why = "data that is touched once need not push other data out of the caches";
            vec_add(a, &found, site);
        }
    }
    *sites = found.v;
    return found.n;
}

static bool hints_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                        char **text, struct err *why_not)
{
    (void)in;
    const struct detail *d = site->detail;
    struct edits edits = {.arena = a};
    bool load_packed = false, store_packed = false;
    if (hints(d->f, d->which, &edits, &load_packed, &store_packed) == 0)
        return err_input(why_not, "nothing in %s is touched just once", d->f->name);
    char *edited = edits_finish(&edits, d->f); /* the helpers go below packed itself */
    const char *store = strstr(edited, "packed_store(T *to"), *end = store ? strstr(store, "\n}\n") : NULL;
    if ((load_packed || store_packed) && !end)
        return err_input(why_not, "packed_store is not where it should be");
    struct str b = {0};
    size_t at = end ? (size_t)(end - edited) + 3 : 0;
    str_addn(&b, edited, at);
    if (load_packed && !strstr(edited, load_helper))
        str_addf(&b, "\n%s", load_helper);
    if (store_packed && !strstr(edited, store_helper))
        str_addf(&b, "\n%s", store_helper);
    str_add(&b, edited + at);
    *text = arena_strdup(a, str_text(&b));
    str_free(&b);
    return true;
}

const struct transform transform_cache_hints = {
    .name = "cache-hints",
    .summary = "mark data that is touched once as evict-first",
    .helps = "dram l2",
    .find = hints_find,
    .apply = hints_apply,
};
