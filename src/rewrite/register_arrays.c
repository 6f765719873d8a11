/* register-arrays: loops whose counters index a thread's own arrays are unrolled whole, so that the arrays live
 * in registers. An array that is indexed by what only the run knows lies in local memory, each thread's in DRAM
 * behind the caches. */
#include "rewrite/analysis.h"

enum { TURNS = 256, TURNS_ALL = 4096, DEEPEST = 8 };

struct chosen {
    struct node loop;
    const struct variable *index;
    int64_t turns; /* at most; of one whose limit no number says, those of the loop around it, or 1 */
};

struct chosen_loops { /* those around others before these */
    struct chosen list[32];
    size_t n;
};

static bool is_own_array(const struct variable *v)
{
    return v && v->array && !v->shared && !v->param && !v->external;
}

/* Is an element of such an array within n chosen by the counter? */
static bool indexes_own(const struct function *f, struct node n, const struct variable *counter)
{
    for (struct node *s = nodes_of(f, n, NODE_SUBSCRIPT_EXPRESSION); node_ok(*s); s++) {
        struct node array = node_field(*s, FIELD_ARGUMENT);
        bool mentions = false;
        for (struct node *name = nodes_of(f, *s, NODE_IDENTIFIER); node_ok(*name) && !mentions; name++)
            mentions = function_variable_of(f, *name) == counter;
        while (node_is(array, NODE_SUBSCRIPT_EXPRESSION))
            array = node_field(array, FIELD_ARGUMENT);
        if (mentions && is_own_array(function_variable_of(f, array)))
            return true;
    }
    return false;
}

static const struct chosen *chosen_of(const struct chosen_loops *all, const struct variable *index)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].index == index)
            return &all->list[i];
    return NULL;
}

/* Does the compiler know it, once the loops around are unrolled? *most: the turns of such a loop, where it
 * counts in it. */
static bool is_known(const struct function *f, const struct chosen_loops *all, struct node e, int64_t *most)
{
    int64_t value;
    if (constant_value(f, e, &value))
        return true;
    if (node_is(e, NODE_IDENTIFIER)) { /* no variable: a macro's number, or a template's */
        const struct variable *v = function_variable_of(f, e);
        const struct chosen *around = v ? chosen_of(all, v) : NULL;
        *most = around ? MAX(*most, around->turns) : *most;
        return !v || around;
    }
    if (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        return is_known(f, all, node_child(e, 0), most);
    return node_is(e, NODE_BINARY_EXPRESSION) && is_known(f, all, node_field(e, FIELD_LEFT), most) &&
           is_known(f, all, node_field(e, FIELD_RIGHT), most);
}

/* for (int k = 0; k < 8; k++), also downwards and in steps. */
static bool counts(const struct function *f, const struct chosen_loops *all, struct node n, struct chosen *c)
{
    struct node first = node_field(n, FIELD_INITIALIZER), condition = node_field(n, FIELD_CONDITION);
    struct node declarator = node_field(first, FIELD_DECLARATOR), update = node_field(n, FIELD_UPDATE);
    struct node start = node_field(declarator, FIELD_VALUE), limit = node_field(condition, FIELD_RIGHT);
    int64_t from, to, most = 1;

    *c = (struct chosen){.loop = n};
    if (!node_is(n, NODE_FOR_STATEMENT) || !node_is(first, NODE_DECLARATION) ||
        !node_is(declarator, NODE_INIT_DECLARATOR) || !node_is(condition, NODE_BINARY_EXPRESSION) ||
        !str_in(node_op(f, condition), "<|<=|>|>=|!=") || node_is(node_prev(n), NODE_PREPROC_CALL))
        return false;
    c->index = function_variable_of(f, node_field(declarator, FIELD_DECLARATOR));
    if (!c->index || !ctype_is_integer(f, c->index->type) ||
        !node_text_is(f->s, node_field(condition, FIELD_LEFT), c->index->name) ||
        variable_assigned_in(f, c->index, node_field(n, FIELD_BODY)) || !is_known(f, all, start, &most) ||
        !is_known(f, all, limit, &most) ||
        (!node_is(update, NODE_UPDATE_EXPRESSION) && !is_known(f, all, node_field(update, FIELD_RIGHT), &most)))
        return false;
    c->turns = constant_value(f, start, &from) && constant_value(f, limit, &to) ? llabs(to - from) + 1 : most;
    return c->turns <= TURNS;
}

static void choose(const struct function *f, struct node n, int64_t turns, int depth, struct chosen_loops *all)
{
    struct chosen c;
    if (node_is(n, NODE_FOR_STATEMENT) && depth < DEEPEST && all->n < ARRAY_LEN(all->list) &&
        counts(f, all, n, &c) && turns * c.turns <= TURNS_ALL &&
        indexes_own(f, node_field(n, FIELD_BODY), c.index)) {
        all->list[all->n++] = c;
        turns *= c.turns;
        depth++;
    }
    for (uint32_t i = 0, count = node_count(n); i < count; i++)
        choose(f, node_child(n, i), turns, depth, all);
}

static void arrays_find(const struct transform_input *in, struct site_list *found)
{
    size_t n;
    struct function **all = functions_open(in, found->arena, &n);
    size_t loops = 0;
    const struct function *first = NULL;
    struct node at = {0};

    for (size_t i = 0; i < n; i++) {
        struct chosen_loops own = {0};
        choose(all[i], all[i]->body, 1, 0, &own);
        if (own.n && !first) {
            first = all[i];
            at = own.list[0].loop;
        }
        loops += own.n;
    }
    if (first)
        site_add(found, first, at, 0, "an array whose indices are known before lives in registers",
                 "%zu loop%s over a thread's own arrays", loops, loops == 1 ? "" : "s");
}

/* The pragma above it; a body by itself gets braces, for a directive is no statement. */
static void unroll_whole(const struct function *f, struct node loop, struct edits *edits)
{
    size_t start = node_start(loop), line = str_line_start(f->text, start), before = start;
    bool body = !node_is(node_parent(loop), NODE_COMPOUND_STATEMENT),
         alone = line + strspn(f->text + line, " \t") == start;
    while (body && before > 0 && strchr(" \t\n", f->text[before - 1]))
        before--;
    if (body)
        edits_at(edits, before, " {");
    edits_at(edits, alone ? line : start, alone ? "#pragma unroll\n" : "\n#pragma unroll\n");
    if (body)
        edits_at(edits, node_end(loop),
                 arena_printf(f->a, "\n%s}", text_indent(f, node_start(node_parent(loop)))));
}

static bool arrays_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    size_t n, loops = 0;
    struct function **all = functions_open(f->in, f->a, &n);
    (void)site;

    for (size_t i = 0; i < n; i++) {
        struct chosen_loops own = {0};
        choose(all[i], all[i]->body, 1, 0, &own);
        for (size_t k = 0; k < own.n; k++)
            unroll_whole(all[i], own.list[k].loop, edits);
        loops += own.n;
    }
    return loops > 0 || err_input(why_not, "no loop counts through an array of a thread's own");
}

const struct transform transform_register_arrays = {
    .name = "register-arrays",
    .summary = "unroll whole the loops that index a thread's own arrays, so that these live in registers",
    .helps = "latency issue l2 dram",
    .find_in_file = arrays_find,
    .apply = arrays_apply,
};
