/* turns-ahead: the loads of several turns of a loop come before the first of these turns goes on. The compiler
 * does so by itself where nothing is in the way; over an atomic addition, a call that writes, a store that may
 * be to the same memory, or a way out of the loop it must not move a load, so that each turn waits for its own.
 *
 * What is loaded ahead is what every turn loads at its beginning, at places that follow from its number: what
 * stands in its first declarations, and in its first statement before anything is asked. Right where the kernel
 * writes none of that memory. Turns that a way out leaves undone load for nothing, below the loop's own limit.
 * All else is done turn by turn as it was, so results are the same to the bit. The setting is the number of
 * turns. */
#include "rewrite/turns.h"

enum { LOADS_MOST = 8, BYTES_MOST = 192 };

struct ahead { /* what a turn loads */
    struct node value;
    const struct variable *v; /* that it is given to; NULL: it is used where it stands */
    const char *type, *name, *text;
    int bytes;
};

struct detail {
    struct turns turns;
    struct node body;
    struct node *statements;      /* of the body */
    size_t n_statements, n_first; /* those first ones only declare */
    struct ahead loads[LOADS_MOST];
    size_t n;
    bool ends; /* a turn may end the loop */
};

/* Can the element be read at any time in the loop? */
static bool is_readable(const struct function *f, struct node e, struct node loop)
{
    const struct variable *root = pointer_root(f, e);
    return root && !str_has_word(root->type, "volatile") &&
           !memory_written_in(f, root->name, root->param ? f->body : loop);
}

static bool all_readable(const struct function *f, struct node e, struct node loop)
{
    if (node_is_access(f, e) && !is_readable(f, e, loop))
        return false;
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!all_readable(f, node_child(e, i), loop))
            return false;
    return true;
}

/* Does it only compute and load? */
static bool is_quiet(const struct function *f, struct node e)
{
    struct reached r;
    bool load = node_is(e, NODE_CALL_EXPRESSION) &&
                (str_eq(call_name(f, e), "packed_load") || (element_reached(f, e, &r) && !node_ok(r.value)));
    if (node_ok(assigned_target(e)) || node_is(e, NODE_LAMBDA_EXPRESSION) ||
        (node_is(e, NODE_CALL_EXPRESSION) && !load && !call_is_pure(f, e)))
        return false;
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!is_quiet(f, node_child(e, i)))
            return false;
    return true;
}

/* Does it follow from the turn's number, what is the same in all turns, and what the first statements declare?
 */
static bool is_known(const struct function *f, const struct detail *d, struct node e)
{
    size_t behind = d->n_first < d->n_statements ? node_start(d->statements[d->n_first]) : node_end(d->body);
    if (!is_quiet(f, e) || node_ok(macro_around(f, e)))
        return false;
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        bool first = v && v->from >= node_start(d->body) && v->from < behind && v->assignments == 0;
        if (v && v != d->turns.index && !first &&
            (variable_assigned_in(f, v, d->turns.loop) ||
             (v->from >= node_start(d->body) && v->from < node_end(d->body))))
            return false;
    }
    return all_readable(f, e, d->turns.loop);
}

/* Does it load what lies in the device's memory, or in what threads share? */
static bool has_load(const struct function *f, struct node e)
{
    const struct variable *root = node_is_access(f, e) ? pointer_root(f, e) : NULL;
    bool has = root && (root->param || root->shared);
    for (uint32_t i = 0, all = node_count(e); i < all && !has; i++)
        has = has_load(f, node_child(e, i));
    return has;
}

static bool add_load(const struct function *f, struct detail *d, struct ahead load)
{
    for (size_t i = 0; i < d->n; i++) {
        if (!load.v && !d->loads[i].v && str_eq(d->loads[i].text, load.text)) { /* the same once more */
            load.name = d->loads[i].name;
            load.bytes = 0;
        }
        if (load.v && d->loads[i].v == load.v)
            return true;
    }
    if (d->n == LOADS_MOST)
        return false;
    if (!load.name)
        load.name = fresh_local(f, arena_printf(f->a, "%s_%zu_ahead", load.v ? load.v->name : "load", d->n));
    d->loads[d->n++] = load;
    return true;
}

/* Bytes of a value in registers, a vector of vectorise's among them; 0: not known. */
static int value_bytes(const struct function *f, const char *type)
{
    const char *element = ctype_packed(f, type);
    int bytes = ctype_size(f, ctype_bound(f, type));
    if (element)
        return ctype_size(f, ctype_bound(f, element)) * (int)strtol(strchr(type, ',') + 1, NULL, 10);
    return bytes > 0 ? bytes : ctype_struct_size(f, type);
}

/* Are all its directives pragmas? */
static bool only_pragmas(const char *text)
{
    for (; (text = strchr(text, '#')) != NULL; text++)
        if (!str_starts(text, "#pragma"))
            return false;
    return true;
}

/* A declaration's variables that are loaded; false where it is none that may be done ahead. */
static bool take_declaration(const struct function *f, struct detail *d, struct node s)
{
    if (!node_is(s, NODE_DECLARATION) || str_has_word(text_of(f, s), "static") ||
        node_has(f, s, NODE_LAMBDA_EXPRESSION))
        return false;
    size_t before = d->n;
    d->n_first++; /* its own variables count as known */
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (!node_same(v->statement, s))
            continue;
        bool load = node_ok(v->init) && has_load(f, v->init);
        int bytes = load ? value_bytes(f, v->type) : 0;
        if (v->shared || v->array || (node_ok(v->init) && !is_known(f, d, v->init)) ||
            (load && (v->pointer || bytes == 0)) || node_is(node_parent(v->id), NODE_REFERENCE_DECLARATOR) ||
            (load && !add_load(f, d, (struct ahead){.value = v->init, .v = v, .bytes = bytes}))) {
            d->n_first--;
            d->n = before;
            return false;
        }
    }
    d->n_first--;
    return true;
}

/* What the statement loads before it asks anything, but for what is in what it loads. */
static void take_statement(const struct function *f, struct detail *d, struct node s)
{
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_POINTER_EXPRESSION,
                                           NODE_CALL_EXPRESSION};
    struct node part = node_is(s, NODE_IF_STATEMENT) ? node_field(s, FIELD_CONDITION) : s;
    if (!node_is(s, NODE_IF_STATEMENT) && !node_is(s, NODE_EXPRESSION_STATEMENT) &&
        !node_is(s, NODE_DECLARATION))
        return;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, part, kinds[k]); node_ok(*e); e++) {
            struct reached r;
            bool asked = !element_reached(f, *e, &r) || node_ok(r.value) || node_is_address(f, node_parent(*e));
            for (size_t i = 0; i < d->n && !asked; i++)
                asked = node_within(*e, d->loads[i].value) || node_within(d->loads[i].value, *e);
            for (struct node up = *e; !asked && !node_same(up, part); up = node_parent(up))
                asked = node_is_asked(f, up) || node_is(up, NODE_FIELD_EXPRESSION);
            const struct variable *root = asked ? NULL : pointer_root(f, r.pointer);
            const struct variable *v = asked ? NULL : function_variable_of(f, node_strip(r.pointer));
            const char *type = v && (v->pointer || v->shared) ? v->type : NULL;
            if (!root || !(root->param || root->shared) || !type ||
                node_same(assigned_target(node_parent(*e)), *e) || !is_readable(f, r.pointer, d->turns.loop) ||
                !is_known(f, d, *e))
                continue;
            int bytes = ctype_size(f, ctype_bound(f, type));
            if (bytes > 0)
                add_load(
                    f, d,
                    (struct ahead){
                        .value = *e, .type = type, .text = text_compact(f->a, text_of(f, *e)), .bytes = bytes});
        }
}

/* A call that may write what is loaded, as the compiler sees it: it gets a pointer. */
static bool may_write(const struct function *f, struct node call)
{
    struct node args = node_field(call, FIELD_ARGUMENTS);
    bool may = false;
    for (uint32_t i = 0, all = node_count(args); i < all && !may; i++) {
        struct node arg = node_strip(node_child(args, i));
        const struct variable *root = node_is_access(f, arg) ? NULL : pointer_root(f, arg);
        may = node_is_address(f, arg) || (root && (root->pointer || root->array));
    }
    return may && !is_quiet(f, call);
}

/* Is there something in the body that no load may be moved over? */
static bool is_in_the_way(const struct function *f, struct detail *d)
{
    bool way = node_has(f, d->body, NODE_RETURN_STATEMENT);
    d->ends = turn_may_break(f, d->turns.loop);
    for (struct node *c = nodes_of(f, d->body, NODE_CALL_EXPRESSION); node_ok(*c); c++)
        way = way || may_write(f, *c);
    return way || d->ends;
}

static bool understood(const struct function *f, struct node loop, struct detail *d, struct err *why)
{
    *d = (struct detail){0};
    if (!turns_of(f, loop, &d->turns) || !node_is_binary(f, node_field(loop, FIELD_CONDITION), "<"))
        return err_input(why, "the loop of %s is not one from element to element", f->name);
    d->body = node_field(loop, FIELD_BODY);
    const char *text = text_of(f, d->body);
    if (calls_barrier(f, d->body) || !only_pragmas(text) || node_has(f, d->body, NODE_GOTO_STATEMENT) ||
        !is_in_the_way(f, d))
        return err_input(why, "threads meet in the loop of %s, or nothing is in the way of its loads", f->name);
    bool block = node_is(d->body, NODE_COMPOUND_STATEMENT);
    node_list alone = {0};
    vec_add(f->a, &alone, d->body);
    d->n_statements = alone.n;
    d->statements = block ? named_children(f, d->body, &d->n_statements) : alone.v;
    while (d->n_first < d->n_statements && (node_is(d->statements[d->n_first], NODE_COMMENT) ||
                                            take_declaration(f, d, d->statements[d->n_first])))
        d->n_first++;
    if (d->n_first < d->n_statements)
        take_statement(f, d, d->statements[d->n_first]);
    return d->n > 0 || err_input(why, "turns of %s load nothing that can come ahead", f->name);
}

typedef VEC(struct detail) detail_list;

/* The loops that have no such loop within. */
static detail_list loops_of(const struct function *f, struct err *why)
{
    detail_list all = {0}, inner = {0};
    for (struct node *loop = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*loop); loop++) {
        struct detail d;
        if (understood(f, *loop, &d, why))
            vec_add(f->a, &all, d);
    }
    for (size_t i = 0; i < all.n; i++)
        if (i + 1 == all.n || !node_within(all.v[i + 1].turns.loop, all.v[i].turns.loop))
            vec_add(f->a, &inner, all.v[i]);
    return inner;
}

static int bytes_of(const detail_list *loops)
{
    int most = 0;
    for (size_t i = 0; i < loops->n; i++) {
        int bytes = 0;
        for (size_t k = 0; k < loops->v[i].n; k++)
            bytes += loops->v[i].loads[k].bytes;
        most = MAX(most, bytes);
    }
    return most;
}

static const char *in_brackets(const struct function *f, struct node e)
{
    bool plain = node_is(e, NODE_IDENTIFIER) || node_is(e, NODE_NUMBER_LITERAL) ||
                 node_is(e, NODE_PARENTHESIZED_EXPRESSION);
    return arena_printf(f->a, plain ? "%s" : "(%s)", text_of(f, e));
}

/* The statements, with what was loaded ahead. */
static const char *body_text(const struct function *f, const struct detail *d, const char *turn,
                             const char *going)
{
    struct edits inside = {.arena = f->a};
    for (size_t i = 0; i < d->n; i++)
        edits_node(&inside, d->loads[i].value, arena_printf(f->a, "%s[%s]", d->loads[i].name, turn));
    turn_break_edits(f, d->turns.loop, going, &inside);
    struct node first = d->statements[0], last = d->statements[d->n_statements - 1];
    return edits_range(&inside, f, node_start(first), node_end(last));
}

static void loop_edit(const struct function *f, const struct detail *d, int n_turns, struct edits *edits)
{
    struct arena *a = f->a;
    struct node loop = d->turns.loop, before = node_prev(loop);
    const char *turn = fresh_local(f, "turn"), *going = fresh_local(f, "going");
    int depth = (int)strlen(text_indent(f, node_start(d->statements[0])));
    struct str ahead = {.arena = a};
    struct fill *fill = fill_open(a);
    fill_section(fill, "loads");
    if (d->n_first > 0)
        str_addf(&ahead, "%s\n",
                 text_reindent(
                     a, text_range(f, node_start(d->statements[0]), node_end(d->statements[d->n_first - 1])),
                     -depth));
    for (size_t i = 0; i < d->n; i++) {
        const struct ahead *l = &d->loads[i];
        if (l->bytes == 0)
            continue;
        const char *type = l->v ? variable_type_text(f, l->v) : arena_printf(a, "%s ", l->type);
        fill_putf(fill_row(fill, "loads"), "array", "%s%s[%d];", type, l->name, n_turns);
        str_addf(&ahead, "%s[%s] = %s;\n", l->name, turn, l->v ? l->v->name : text_of(f, l->value));
    }
    fill_if(fill, "ends", d->ends);
    fill_if(fill, "every", !node_ok(d->turns.step));
    fill_put(fill, "going", going);
    fill_put(fill, "first", fresh_local(f, "first"));
    fill_put(fill, "left", fresh_local(f, "left"));
    fill_put(fill, "turn", turn);
    fill_putf(fill, "turns", "%d", n_turns);
    fill_put(fill, "type", d->turns.index->type);
    fill_put(fill, "index", d->turns.index->name);
    fill_put(fill, "start", text_of(f, d->turns.start));
    fill_put(fill, "limit", in_brackets(f, d->turns.limit));
    fill_put(fill, "times",
             node_ok(d->turns.step) ? arena_printf(a, " * (long long)%s", in_brackets(f, d->turns.step)) : "");
    fill_put(fill, "ahead", text_reindent(a, text_trim(str_take(&ahead, a)), 12));
    fill_put(fill, "body", text_reindent(a, text_reindent(a, body_text(f, d, turn, going), -depth), 8));
    const char *text = fill_file(fill, "cuda/rewrite/turns_ahead.cu");
    if (d->ends || !node_is(node_parent(loop), NODE_COMPOUND_STATEMENT))
        text = arena_printf(a, "{\n    %s\n}", text_reindent(a, text, 4));
    if (node_is(before, NODE_PREPROC_CALL))
        edits_remove(edits, f, before);
    edits_node(edits, loop, text_reindent(a, text, (int)strlen(text_indent(f, node_start(loop)))));
}

static void ahead_find(struct function *f, struct site_list *found)
{
    static const int own[] = {8, 4, 2};
    detail_list loops = loops_of(f, NULL);
    int bytes = bytes_of(&loops);
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own));
         *setting != NO_SETTING && loops.n > 0; setting++)
        if (bytes * *setting <= BYTES_MOST)
            site_add(found, f, loops.v[0].turns.loop, *setting,
                     "each turn waits for its own loads, as what it does then is in the way of the next one's",
                     "%zu loads of %d turns", loops.v[0].n, *setting);
}

static bool ahead_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    detail_list loops = loops_of(f, why_not);
    if (loops.n == 0)
        return why_not && why_not->kind ? false : err_input(why_not, "%s has no such loop", f->name);
    for (size_t i = 0; i < loops.n; i++)
        loop_edit(f, &loops.v[i], site->setting, edits);
    return true;
}

const struct transform transform_turns_ahead = {
    .name = "turns-ahead",
    .summary = "load what several turns of a loop begin with before the first of them goes on",
    .helps = "latency",
    .parameters = {{"turns", 1, 0, 4, {2, 4, 8, 16}}},
    .find = ahead_find,
    .apply = ahead_apply,
};
