/* join-accesses: elements beside each other that one thread reads or writes, one after the other, move as one
 * access: `p[2 * i]` and `p[2 * i + 1]`, the four numbers of a box, or `for (k = 0; k < 4; k++) ... p[first +
 * k]`. The compiler may not do it, as it does not know where p starts. Whether the first of them lies on a
 * vector's bytes is asked at run time; else they move one by one as before. So nothing is asked of sizes or of
 * the launcher, and it is right wherever all of them were reached.
 *
 * Reads come before everything else then, and writes behind: in between nothing else may reach the same memory,
 * and the threads may not meet. What a thread keeps in registers has no address: pointers that a device
 * function takes count where the place moves. */
#include "rewrite/analysis.h"

enum { MOST = 16, BYTES_MOST = 16 };

struct place {
    struct node at;
    const struct variable *pointer;
    struct node index;
    struct poly poly;
    bool store;
};
typedef VEC(struct place) place_list;

/* Elements that become one access: of a loop, or of statements beside each other. */
struct run {
    const struct function *f;
    const struct variable *pointer;
    struct node from, to; /* the loop, or the statements of the first and the last */
    struct node lowest;   /* index of the first element; of a loop with its variable */
    const char *step;     /* of a loop: its variable; else NULL */
    const char *length;   /* how many, as the code says it */
    struct node place[MOST], index[MOST];
    size_t n, count; /* places, and elements that the access has */
    bool load, store;
};
typedef VEC(struct run) run_list;

/* Is it a place in memory: of a kernel's pointer, or one that is not the same in every call? */
static bool moves(const struct function *f, const struct poly *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->t[i].n > 0)
            return true;
    return f->global;
}

/* `p[index]` or `*(p + index)` through a pointer into memory, reached whenever `top` is, and whole. */
static bool place_of(const struct function *f, struct node e, struct node top, struct place *p)
{
    struct reached r;
    if (!element_reached(f, e, &r) || node_ok(r.value))
        return false;
    struct node up = node_parent(e);
    const struct variable *v = function_variable_of(f, r.pointer),
                          *root = v ? pointer_root(f, r.pointer) : NULL;
    *p = (struct place){.at = e, .pointer = v, .index = r.index};
    if (!v || !v->pointer || v->array || !root || root->array || root->shared || !node_ok(p->index) ||
        node_has_effect(f, p->index) || ctype_size(f, v->type) >= BYTES_MOST ||
        str_has_word(v->type, "volatile") || node_is_address(f, up) || node_is(up, NODE_FIELD_EXPRESSION) ||
        node_ok(macro_around(f, e)))
        return false;
    struct node target = assigned_target(up);
    p->store = node_ok(target) && node_same(target, e);
    if (p->store && (!node_is_assignment(f, up, "=") || !node_is(node_parent(up), NODE_EXPRESSION_STATEMENT)))
        return false;
    for (struct node n = e; !node_same(n, top); n = node_parent(n))
        if (node_is_asked(f, n))
            return false;
    p->poly = poly_of(f, p->index);
    return p->poly.ok;
}

static place_list places_in(const struct function *f, struct node top)
{
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_POINTER_EXPRESSION,
                                           NODE_CALL_EXPRESSION};
    place_list all = {0};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, top, kinds[k]); node_ok(*e); e++) {
            struct place p;
            if (place_of(f, *e, top, &p))
                vec_add(f->a, &all, p);
        }
    return all;
}

/* The element that is reached through the pointer of this name; no node: it is used otherwise. */
static struct node element_of(const struct function *f, struct node name)
{
    struct node found = {0}, up = node_parent(name);
    struct reached r;
    for (int i = 0; i < 5 && node_ok(up); i++, up = node_parent(up))
        if (element_reached(f, up, &r) && node_same(r.pointer, name))
            found = up;
    return found;
}

static bool is_place(const struct run *r, struct node e)
{
    for (size_t i = 0; i < r->n; i++)
        if (node_same(r->place[i], e))
            return true;
    return false;
}

static bool leaves(const struct function *f, struct node n)
{
    return node_has(f, n, NODE_RETURN_STATEMENT) || node_has(f, n, NODE_BREAK_STATEMENT) ||
           node_has(f, n, NODE_CONTINUE_STATEMENT) || node_has(f, n, NODE_GOTO_STATEMENT);
}

/* Is it an element through the same pointer, so far from the run's in every turn that they never meet? */
static bool is_apart(const struct run *r, struct node e)
{
    const struct function *f = r->f;
    struct reached other;
    if (!node_ok(e) || !element_reached(f, e, &other) || !node_ok(other.index) ||
        function_variable_of(f, other.pointer) != r->pointer)
        return false;
    struct poly by = poly_add(f, poly_of(f, other.index), poly_of(f, r->lowest), -1);
    return by.ok && by.n == 1 && by.t[0].n == 0 && llabs(by.t[0].by) >= (int64_t)r->count;
}

/* From the first to the last statement: does nothing but these places know the memory, or does nobody write? Do
 * the names of the first place keep their values, and stand above? */
static bool is_alone(const struct run *r)
{
    const struct function *f = r->f;
    const struct variable *root = pointer_root(f, r->pointer->id);
    struct node s = r->from;
    for (;; s = node_next(s)) {
        bool last = node_same(s, r->to), plain = node_is(s, NODE_EXPRESSION_STATEMENT);
        bool written = memory_written_in(f, r->pointer->name, s) && !(last && plain && !r->store);
        if (calls_barrier(f, s) || leaves(f, s) || variable_assigned_in(f, r->pointer, s))
            return false;
        for (struct node *name = names_in(f, s); node_ok(*name) && (written || r->store); name++) {
            const struct variable *v = function_variable_of(f, *name);
            bool same = v && v->pointer && (v == r->pointer || pointer_root(f, *name) == root);
            if (same && !is_place(r, element_of(f, *name)) && !is_apart(r, element_of(f, *name)))
                return false;
        }
        for (size_t i = 0; i < r->n; i++)
            for (struct node *name = names_in(f, r->index[i]); node_ok(*name); name++) {
                const struct variable *v = function_variable_of(f, *name);
                if (v && !(r->step && str_eq(v->name, r->step)) && variable_assigned_in(f, v, s))
                    return false;
            }
        if (last)
            break;
    }
    if (r->pointer->from > node_start(r->from))
        return false;
    for (struct node *name = names_in(f, r->lowest); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && !v->param && !(r->step && str_eq(v->name, r->step)) && v->from > node_start(r->from))
            return false;
    }
    return true;
}

/* `for (int k = 0; k < 4; k++)`, a power of two and no turn left early. */
static const char *counted_loop(const struct function *f, struct node loop, const char **length, size_t *count)
{
    struct node start = node_field(node_field(loop, FIELD_INITIALIZER), FIELD_DECLARATOR),
                until = node_field(loop, FIELD_CONDITION), update = node_field(loop, FIELD_UPDATE),
                body = node_field(loop, FIELD_BODY);
    const char *k = text_of(f, node_field(start, FIELD_DECLARATOR));
    int64_t first, end;
    if (!node_is(start, NODE_INIT_DECLARATOR) || !constant_value(f, node_field(start, FIELD_VALUE), &first) ||
        first != 0 || !node_is_binary(f, until, "<") || !node_text_is(f->s, node_field(until, FIELD_LEFT), k) ||
        !constant_value(f, node_field(until, FIELD_RIGHT), &end) || end < 2 || end > MOST ||
        (end & (end - 1)) || !node_is(update, NODE_UPDATE_EXPRESSION) || !str_eq(node_op(f, update), "++") ||
        !node_text_is(f->s, node_field(update, FIELD_ARGUMENT), k) ||
        !node_is(node_parent(loop), NODE_COMPOUND_STATEMENT))
        return NULL;
    const struct variable *v = function_variable(f, k, node_start(body));
    if (!v || variable_assigned_in(f, v, body))
        return NULL;
    *length = text_of(f, node_field(until, FIELD_RIGHT));
    *count = (size_t)end;
    return k;
}

static void run_of_loop(const struct function *f, struct node loop, run_list *runs)
{
    size_t count = 0;
    const char *length, *k = counted_loop(f, loop, &length, &count);
    struct node body = node_field(loop, FIELD_BODY);
    place_list all = k ? places_in(f, body) : (place_list){0};
    for (size_t i = 0; i < all.n; i++) {
        const struct place *p = &all.v[i];
        struct poly rest = poly_add(f, p->poly, poly_atom(f, k), -1);
        struct run r = {.f = f,
                        .pointer = p->pointer,
                        .from = loop,
                        .to = loop,
                        .lowest = p->index,
                        .step = k,
                        .length = length,
                        .count = count};
        bool said = !rest.ok || !moves(f, &rest);
        for (int t = 0; t < rest.n; t++)
            for (int a = 0; a < rest.t[t].n; a++)
                said = said || str_has_word(rest.t[t].atom[a], k);
        for (size_t j = 0; j < all.n && !said; j++) {
            const struct place *other = &all.v[j];
            if (!poly_same(&other->poly, &p->poly) || other->pointer != r.pointer)
                continue;
            said = j < i || r.n == MOST;
            r.load = r.load || !other->store;
            r.store = r.store || other->store;
            if (!said) {
                r.index[r.n] = other->index;
                r.place[r.n++] = other->at;
            }
        }
        if (!said && is_alone(&r))
            vec_add(f->a, runs, r);
    }
}

static bool is_taken(const run_list *runs, struct node e)
{
    for (size_t i = 0; i < runs->n; i++)
        if (is_place(&runs->v[i], e) || (runs->v[i].step && node_within(e, runs->v[i].from)))
            return true;
    return false;
}

static struct node statement_in(struct node e, struct node block)
{
    while (!node_same(node_parent(e), block))
        e = node_parent(e);
    return e;
}

/* The places of a block that are so and so far behind place i, from 0 on; how many. */
static size_t beside(const struct function *f, const place_list *all, size_t i, const run_list *runs,
                     const struct place **found)
{
    size_t n = 0;
    for (bool any = true; any && n < MOST;) {
        struct poly want = poly_add(f, all->v[i].poly, poly_number((int64_t)n), 1);
        any = false;
        for (const struct place *p = all->v; p < all->v + all->n && !any; p++) {
            any = p->store == all->v[i].store && poly_same(&p->poly, &want) && !is_taken(runs, p->at) &&
                  p->pointer == all->v[i].pointer;
            if (any)
                found[n++] = p;
        }
    }
    return n;
}

static void runs_of_block(const struct function *f, struct node block, run_list *runs)
{
    place_list all = places_in(f, block);
    for (size_t i = 0; i < all.n; i++) {
        const struct place *found[MOST];
        const struct variable *pointer = all.v[i].pointer;
        struct poly before = poly_add(f, all.v[i].poly, poly_number(-1), 1);
        bool first = moves(f, &all.v[i].poly) && !is_taken(runs, all.v[i].at);
        for (size_t j = 0; j < all.n && first; j++)
            first = !poly_same(&all.v[j].poly, &before) || all.v[j].store != all.v[i].store ||
                    all.v[j].pointer != pointer;
        size_t n = first ? beside(f, &all, i, runs, found) : 0, take = 8;
        while (take > n)
            take /= 2;
        if (take < 2)
            continue;
        struct run r = {.f = f,
                        .pointer = pointer,
                        .lowest = found[0]->index,
                        .length = arena_printf(f->a, "%zu", take),
                        .count = take,
                        .load = !all.v[i].store,
                        .store = all.v[i].store};
        for (size_t k = 0; k < take; k++) {
            struct node s = statement_in(found[k]->at, block);
            r.index[r.n] = found[k]->index;
            r.place[r.n++] = found[k]->at;
            r.from = k == 0 || node_start(s) < node_start(r.from) ? s : r.from;
            r.to = k == 0 || node_start(s) > node_start(r.to) ? s : r.to;
        }
        if (is_alone(&r))
            vec_add(f->a, runs, r);
    }
}

static run_list runs_in_file(const struct transform_input *in, struct arena *a)
{
    run_list runs = {0};
    size_t n;
    struct function **all = functions_open(in, a, &n);
    for (size_t i = 0; i < n; i++) {
        const struct function *f = all[i];
        if (!f->global &&
            !str_has_word(text_range(f, node_start(f->definition), node_start(f->id)), "__device__"))
            continue;
        for (struct node *loop = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*loop); loop++)
            run_of_loop(f, *loop, &runs);
        runs_of_block(f, f->body, &runs);
        for (struct node *block = nodes_of(f, f->body, NODE_COMPOUND_STATEMENT); node_ok(*block); block++)
            runs_of_block(f, *block, &runs);
    }
    return runs;
}

static void join_find(const struct transform_input *in, struct site_list *found)
{
    run_list runs = runs_in_file(in, found->arena);
    if (runs.n > 0)
        site_add(
            found, runs.v[0].f, runs.v[0].from, 0,
            "a thread reaches elements beside each other one by one, which is an access and a request of the L1 "
            "for each; one wide access does where the address allows it",
            "%zu run%s of neighbours", runs.n, runs.n > 1 ? "s" : "");
}

/* The index of a loop's first element: without the loop's variable. */
static const char *first_index(const struct run *r)
{
    const struct function *f = r->f;
    struct edits edits = {.arena = f->a};
    struct node left = node_field(r->lowest, FIELD_LEFT), right = node_field(r->lowest, FIELD_RIGHT);
    if (!r->step)
        return text_of(f, r->lowest);
    if (node_is_binary(f, r->lowest, "+") && node_text_is(f->s, right, r->step) &&
        !node_mentions(f, left, r->step))
        return text_of(f, left);
    for (struct node *name = names_in(f, r->lowest); node_ok(*name); name++)
        if (node_text_is(f->s, *name, r->step))
            edits_node(&edits, *name, "0");
    return edits_range(&edits, f, node_start(r->lowest), node_end(r->lowest));
}

static void run_edit(const struct run *r, const char *name, struct edits *edits)
{
    const struct function *f = r->f;
    struct node pragma = node_prev(r->from);
    bool told = r->step && node_is(pragma, NODE_PREPROC_CALL);
    size_t at = str_line_start(f->text, node_start(told ? pragma : r->from));
    const char *indent = text_indent(f, node_start(r->from)),
               *first = arena_printf(f->a, "&%s[%s]", r->pointer->name, first_index(r));
    if (r->load)
        edits_at(edits, at,
                 arena_printf(f->a, "%s%sauto %s = near_load<%s>(%s);\n", indent, r->store ? "" : "const ",
                              name, r->length, first));
    else
        edits_at(edits, at,
                 arena_printf(f->a, "%spacked<%s, %s> %s;\n", indent, r->pointer->type, r->length, name));
    for (size_t i = 0; i < r->n; i++)
        edits_node(edits, r->place[i],
                   r->step ? arena_printf(f->a, "%s.at[%s]", name, r->step)
                           : arena_printf(f->a, "%s.at[%zu]", name, i));
    if (r->store)
        edits_at(edits, node_end(r->to), arena_printf(f->a, "\n%snear_store(%s, %s);", indent, first, name));
}

static bool join_apply(const struct function *first, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    run_list runs = runs_in_file(first->in, first->a);
    (void)site;
    for (size_t i = 0; i < runs.n; i++) {
        const struct run *r = &runs.v[i];
        const char *name = fresh_local(r->f, arena_printf(first->a, "%s_near", r->pointer->name));
        size_t before = 0;
        for (size_t j = 0; j < i; j++)
            before += runs.v[j].f == r->f && str_eq(runs.v[j].pointer->name, r->pointer->name);
        run_edit(r, before ? arena_printf(first->a, "%s_%zu", name, before + 1) : name, edits);
    }
    for (size_t i = 0; i < runs.n; i++) {
        const struct run *r = &runs.v[i];
        bool said = !r->step || node_is(node_prev(r->from), NODE_PREPROC_CALL);
        for (size_t j = 0; j < i; j++)
            said = said || node_same(runs.v[j].from, r->from);
        if (!said)
            edits_at(edits, str_line_start(r->f->text, node_start(r->from)), "#pragma unroll\n");
    }
    if (runs.n == 0)
        return err_input(why_not, "no thread reaches neighbours one by one");
    edits_include(edits, first, "<cstdint>", "<stdint.h>");
    edits_packed(edits, first, share_text("cuda/rewrite/near.cuh"));
    return true;
}

const struct transform transform_join_accesses = {
    .name = "join-accesses",
    .summary =
        "move neighbouring elements that one thread reaches one by one as one access, where they are aligned",
    .helps = "l2 dram order",
    .find_in_file = join_find,
    .apply = join_apply,
};
