/* whole-tiles: where CUB's BlockLoad or BlockStore is told how many items of its tile are valid, it moves them
 * one by one, whatever its algorithm: items of 1 or 2 bytes so, and what a transposing algorithm then exchanges
 * through shared memory. Most tiles are whole. A whole tile that starts on a vector's bytes needs no exchange:
 * each thread's items are neighbours, and move as vectors. Tiles at the end, and others, go to CUB as before.
 *
 * It is right for all sizes: the question is asked in the kernel, is the same for all threads, and what a
 * thread has afterwards is what CUB's blocked arrangement gives it. Only striped arrangements are another one.
 */
#include "rewrite/analysis.h"

struct move {
    const struct function *f;
    struct node statement, arguments;
    bool store;
};
typedef VEC(struct move) move_list;

/* Do all types of the file by this name move blocked tiles? */
static bool moves_tiles(const struct function *f, const char *name, const char *class)
{
    size_t known = 0;
    for (size_t i = 0; i < f->n_aliases; i++) {
        if (!str_eq(f->aliases[i].name, name))
            continue;
        if (!strstr(f->aliases[i].type, class))
            return false;
        known++;
    }
    return known > 0;
}

/* `Tile(storage).Load(from, items, valid);`, or through a variable of such a type. */
static bool move_of(const struct function *f, struct node call, struct move *m)
{
    struct node callee = node_field(call, FIELD_FUNCTION), object = node_field(callee, FIELD_ARGUMENT),
                statement = node_parent(call);
    const char *method = text_of(f, node_field(callee, FIELD_FIELD)), *type;
    const struct variable *v = function_variable_of(f, object);
    *m = (struct move){.f = f,
                       .statement = statement,
                       .arguments = node_field(call, FIELD_ARGUMENTS),
                       .store = *method == 'S'};
    if (!node_is(callee, NODE_FIELD_EXPRESSION) || !str_in(method, "Load|Store") ||
        !node_is(statement, NODE_EXPRESSION_STATEMENT) ||
        !node_is(node_parent(statement), NODE_COMPOUND_STATEMENT))
        return false;
    size_t n_args;
    named_children(f, m->arguments, &n_args);
    if (n_args < 2 || n_args > (m->store ? 3U : 4U))
        return false;
    if (v)
        type = v->type;
    else if (node_is(object, NODE_CALL_EXPRESSION))
        type = text_of(f, callee_name(node_field(object, FIELD_FUNCTION)));
    else
        return false;
    return moves_tiles(f, type, m->store ? "BlockStore<" : "BlockLoad<");
}

static move_list moves_in_file(const struct transform_input *in, struct arena *a)
{
    move_list all = {0};
    size_t n;
    struct function **functions = functions_open(in, a, &n);
    if (n == 0 || !strstr(functions[0]->text, "<cub/") || strstr(functions[0]->text, "_STRIPED"))
        return all;
    for (size_t i = 0; i < n; i++) {
        for (struct node *c = nodes_of(functions[i], functions[i]->body, NODE_CALL_EXPRESSION); node_ok(*c);
             c++) {
            struct move m;
            if (move_of(functions[i], *c, &m))
                vec_add(a, &all, m);
        }
    }
    return all;
}

static void whole_find(const struct transform_input *in, struct site_list *found)
{
    move_list all = moves_in_file(in, found->arena);
    if (all.n > 0)
        site_add(
            found, all.v[0].f, all.v[0].statement, 0,
            "CUB moves the items of a tile one by one when it is told how many are valid; whole tiles can move "
            "as vectors, without an exchange in shared memory",
            "%zu load%s or store%s of CUB's", all.n, all.n > 1 ? "s" : "", all.n > 1 ? "s" : "");
}

static bool whole_apply(const struct function *first, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    move_list all = moves_in_file(first->in, first->a);
    (void)site;
    for (size_t i = 0; i < all.n; i++) {
        const struct move *m = &all.v[i];
        const struct function *f = m->f;
        size_t n;
        struct node *args = named_children(f, m->arguments, &n);
        char *valid = n > 2 ? arena_printf(f->a, ", %s", text_of(f, args[2])) : "";
        edits_at(edits, node_start(m->statement),
                 arena_printf(f->a, "if (!tile_%s(%s, %s%s))\n%s    ", m->store ? "store" : "load",
                              text_of(f, args[0]), text_of(f, args[1]), valid,
                              text_indent(f, node_start(m->statement))));
    }
    if (all.n == 0)
        return err_input(why_not, "no tile of CUB's is loaded or stored");
    edits_include(edits, first, "<cstdint>", "<stdint.h>");
    edits_packed(edits, first, share_text("cuda/rewrite/whole_tile.cuh"));
    return true;
}

const struct transform transform_whole_tiles = {
    .name = "whole-tiles",
    .summary = "move whole tiles of CUB's BlockLoad and BlockStore as vectors, without an exchange",
    .helps = "issue latency dram l2 sync",
    .find_in_file = whole_find,
    .apply = whole_apply,
};
