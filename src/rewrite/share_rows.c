/* share-rows: where each thread walks rows by itself, several lanes of a warp share each row: they take
 * neighbouring elements of it, so that rows move in order, and there are as many more threads. What a loop adds
 * up, or the largest that it finds, is put together by shuffles. Where a turn asks for what the turns before it
 * have, as a running sum does, the lanes put together what those before them have in each step, and go on with
 * what the last one has.
 *
 * A thread's row is that of its number in the grid, whatever it makes of it: `t = i / heads`. All lanes of a
 * row have one number, so that they leave together.
 *
 * Right where turns need nothing else of each other (turns.h), or all that a turn carries to the next one are
 * sums, largest and smallest, each from one statement of the loop's body, and where a turn stores depends on
 * its number. The lanes do the rest together, and the first of them does what comes behind the last loop. A sum
 * has its terms in another order. The setting is the number of lanes. */
#include "rewrite/own_rows.h"
#include "rewrite/turns.h"

enum { WARP = 32, LOOPS_MOST = 4, CARRIED_MOST = 4 };

struct carried {
    struct gathered how;
    struct node statement, added; /* the statement, and what it adds or compares */
    bool before, behind;          /* is the value asked for before the statement, behind it? */
};

struct shared_loop {
    struct turns turns;
    struct node body;
    struct carried all[CARRIED_MOST]; /* where turns ask for what those before them have; none: they do not */
    size_t n;
};

struct detail {
    struct own_rows rows;
    node_list numbers; /* where the kernel says a thread's number in the grid */
    bool counted;      /* the question says how many there are */
    struct shared_loop loops[LOOPS_MOST];
    size_t n;
    bool goes_on; /* there is something behind the last loop */
};

/* What the assignment adds to the variable, or compares with it. */
static struct node added_of(const struct function *f, struct node e, const struct gathered *g)
{
    struct node right = node_strip(node_field(e, FIELD_RIGHT));
    size_t n;
    if (!node_is_assignment(f, e, "="))
        return node_is_assignment(f, e, "+=") ? right : (struct node){0};
    if (node_is_binary(f, right, "+")) {
        struct node left = node_strip(node_field(right, FIELD_LEFT));
        bool first = node_is(left, NODE_IDENTIFIER) && function_variable_of(f, left) == g->v;
        return node_field(right, first ? FIELD_RIGHT : FIELD_LEFT);
    }
    struct node *args = named_children(f, node_field(right, FIELD_ARGUMENTS), &n);
    if (!node_is(right, NODE_CALL_EXPRESSION) || n != 2)
        return (struct node){0};
    bool first =
        node_is(node_strip(args[0]), NODE_IDENTIFIER) && function_variable_of(f, node_strip(args[0])) == g->v;
    return args[first];
}

static bool is_scalar(const struct function *f, const struct variable *v)
{
    return !v->param && !v->array && !v->pointer && !v->shared && ctype_size(f, ctype_bound(f, v->type)) >= 4 &&
           (ctype_is_float(ctype_alias(f, v->type)) || ctype_is_integer(f, v->type));
}

/* Is it carried by one statement of the loop's body, and asked for besides? */
static bool carries(const struct function *f, const struct shared_loop *d, const struct variable *v,
                    struct carried *c)
{
    size_t n, times = 0;
    struct node *statements = named_children(f, d->body, &n);
    *c = (struct carried){0};
    for (size_t i = 0; i < n; i++) {
        struct node e = statement_expression(statements[i]);
        struct gathered how;
        if (!node_is(e, NODE_ASSIGNMENT_EXPRESSION) || !turn_gathers(f, e, v, &how))
            continue;
        c->how = how;
        c->statement = statements[i];
        c->added = c->how.how == GATHERS_IF ? (struct node){0} : added_of(f, e, &c->how);
        times++;
    }
    if (times != 1 || !node_ok(c->added) || !is_scalar(f, v))
        return false;
    for (struct node *e = nodes_of(f, d->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++)
        if (node_is(node_field(*e, FIELD_LEFT), NODE_IDENTIFIER) && !node_within(*e, c->statement) &&
            function_variable_of(f, node_field(*e, FIELD_LEFT)) == v)
            return false;
    for (struct node *name = names_in(f, d->body); node_ok(*name); name++) {
        bool it = function_variable_of(f, *name) == v && !node_within(*name, c->statement);
        if (it && node_is_address(f, node_parent(*name)))
            return false;
        c->before |= it && node_start(*name) < node_start(c->statement);
        c->behind |= it && node_start(*name) > node_start(c->statement);
    }
    return true;
}

/* Is each place that a turn stores to its own? */
static bool stores_by_turn(const struct function *f, const struct shared_loop *d, struct err *why)
{
    static const enum node_kind kinds[] = {NODE_ASSIGNMENT_EXPRESSION, NODE_UPDATE_EXPRESSION};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, d->body, kinds[k]); node_ok(*e); e++) {
            struct node target = node_strip(assigned_target(*e));
            const struct variable *root = node_is_access(f, target) ? pointer_root(f, target) : NULL;
            struct node index =
                node_is(target, NODE_SUBSCRIPT_EXPRESSION) ? subscript_index(f, target) : (struct node){0};
            struct poly p = node_ok(index) ? poly_of(f, index) : (struct poly){0};
            if (!node_is_access(f, target))
                continue;
            if (!root || !root->param || !p.ok || poly_coefficient(&p, d->turns.index->name) != 1 ||
                !node_is(node_parent(*e), NODE_EXPRESSION_STATEMENT))
                return err_input(why, "a turn of %s may store where another one does", f->name);
            for (struct node *other = nodes_of(f, d->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*other); other++)
                if (pointer_root(f, *other) == root && !str_eq(text_of(f, *other), text_of(f, target)))
                    return err_input(why, "a turn of %s may read what another one stores", f->name);
        }
    return true;
}

/* Does a statement before the one that carries ask for the value? It is done behind it then, and must not be
 * what the added value is made of. */
static bool is_late(const struct function *f, const struct shared_loop *d, struct node statement)
{
    for (size_t i = 0; i < d->n; i++)
        if (node_start(statement) < node_start(d->all[i].statement) &&
            node_mentions(f, statement, d->all[i].how.v->name))
            return true;
    return false;
}

static bool is_store(const struct function *f, struct node s)
{
    return node_is_access(f, node_strip(assigned_target(statement_expression(s))));
}

/* Turns that carry values, and ask for them on the way. */
static bool carries_all(const struct function *f, struct shared_loop *l, struct err *why)
{
    size_t n;
    if (!node_is(l->body, NODE_COMPOUND_STATEMENT))
        return err_input(why, "the loop of %s has no braces", f->name);
    if (turn_may_end_early(f, l->body))
        return err_input(why, "the loop of %s may end early", f->name);
    for (struct node *call = nodes_of(f, l->body, NODE_CALL_EXPRESSION); node_ok(*call); call++)
        if (!call_is_pure(f, *call))
            return err_input(why, "the loop of %s calls what may write", f->name);
    if (!stores_by_turn(f, l, why))
        return false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        bool own = v->from >= node_start(l->turns.loop) && v->from < node_end(l->turns.loop);
        if (own || !variable_assigned_in(f, v, l->body))
            continue;
        if (l->n == CARRIED_MOST || !carries(f, l, v, &l->all[l->n]))
            return err_input(why, "%s carries %s in a way of its own", f->name, v->name);
        l->n++;
    }
    struct node *statements = named_children(f, l->body, &n);
    for (size_t i = 0; i < n; i++)
        if (is_late(f, l, statements[i]) && !is_store(f, statements[i]))
            return err_input(why, "%s asks for a value before it is there", f->name);
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->n; k++)
            if (node_mentions(f, l->all[i].added, l->all[k].how.v->name))
                return err_input(why, "what %s carries is made of each other", f->name);
    return l->n > 0;
}

static bool loop_of(const struct function *f, struct node n, struct shared_loop *l, struct err *why)
{
    *l = (struct shared_loop){0};
    if (!turns_of(f, n, &l->turns) || node_ok(l->turns.step) ||
        !node_is_binary(f, node_field(n, FIELD_CONDITION), "<"))
        return err_input(why, "the loop of %s is not one from element to element", f->name);
    l->body = node_field(n, FIELD_BODY);
    if (turns_are_apart(f, &l->turns, NULL))
        return true;
    l->turns.n_sums = 0;
    return carries_all(f, l, why);
}

/* `mean = sum / d;`: a variable of the thread gets a value. */
static bool assigns_own(const struct function *f, struct node statement)
{
    struct node e = statement_expression(statement), target = node_strip(assigned_target(e));
    const struct variable *v = node_is(target, NODE_IDENTIFIER) ? function_variable_of(f, target) : NULL;
    return v && !v->param && !v->shared && !node_has_effect(f, node_field(e, FIELD_RIGHT));
}

/* `if (...) return;` */
static bool is_question(const struct function *f, struct node n)
{
    return node_is(n, NODE_IF_STATEMENT) && !node_ok(node_field(n, FIELD_ALTERNATIVE)) &&
           node_is(node_unbraced(f, node_field(n, FIELD_CONSEQUENCE)), NODE_RETURN_STATEMENT) &&
           !node_has_effect(f, node_field(n, FIELD_CONDITION));
}

/* An if at the end of the block that holds the loops. */
static bool holds_rest(const struct function *f, struct node n)
{
    return node_is(n, NODE_IF_STATEMENT) && !node_ok(node_field(n, FIELD_ALTERNATIVE)) && !is_question(f, n) &&
           node_has(f, n, NODE_FOR_STATEMENT) && !node_has_effect(f, node_field(n, FIELD_CONDITION));
}

/* Loops of the block, and of the if that holds its rest; before the last one nothing is written. */
static bool find_loops(const struct function *f, struct detail *d, struct node block, struct err *why)
{
    size_t n, end = 0;
    struct node *all = named_children(f, block, &n);
    for (size_t i = 0; i < n; i++)
        if (node_is_loop(all[i]))
            end = i + 1;
    bool within = end == 0 && n > 0 && holds_rest(f, all[n - 1]);
    if (within)
        end = n - 1;
    for (size_t i = 0; i < end; i++) {
        if (node_is_loop(all[i])) {
            if (d->n == LOOPS_MOST || !loop_of(f, all[i], &d->loops[d->n++], why))
                return why && why->kind ? false : err_input(why, "%s has too many loops", f->name);
        } else if (!is_question(f, all[i]) && !node_is(all[i], NODE_COMMENT) &&
                   !node_is(all[i], NODE_PREPROC_CALL) &&
                   !(node_is(all[i], NODE_DECLARATION) && !node_has_effect(f, all[i])) &&
                   !assigns_own(f, all[i])) {
            return err_input(why, "%s does more than declare variables before its last loop", f->name);
        }
    }
    if (within)
        return find_loops(f, d, node_field(all[n - 1], FIELD_CONSEQUENCE), why);
    for (size_t i = end; i < n; i++)
        d->goes_on = d->goes_on || !node_is(all[i], NODE_COMMENT);
    return d->n > 0 || err_input(why, "%s has no loop of a thread by itself", f->name);
}

/* Where the kernel says the number, if it asks nowhere else which thread it is. */
static bool find_numbers(const struct function *f, node_list *numbers)
{
    for (struct node *e = nodes_of(f, f->body, NODE_BINARY_EXPRESSION); node_ok(*e); e++) {
        struct poly p = poly_of(f, *e);
        int64_t threads;
        bool within = numbers->n > 0 && node_within(*e, vec_last(numbers));
        if (!within && node_mentions(f, *e, "threadIdx") && p.ok && poly_counts_grid(f, &p, 0, &threads) &&
            (threads == 0 || threads == f->block_x))
            vec_add(f->a, numbers, *e);
    }
    for (struct node *e = nodes_of(f, f->body, NODE_FIELD_EXPRESSION); node_ok(*e); e++) {
        bool within = false;
        for (size_t i = 0; i < numbers->n; i++)
            within = within || node_within(*e, numbers->v[i]);
        if (!within && str_in(text_of(f, *e), "threadIdx.x|blockIdx.x|blockDim.x"))
            return false;
    }
    return numbers->n > 0;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    *d = (struct detail){0};
    if (!own_rows_open_batched(f, &d->rows, why))
        return false;
    d->counted = own_rows_may_walk(&d->rows, NULL);
    if (d->counted)
        vec_add(f->a, &d->numbers, function_variable_of(f, d->rows.left)->init);
    else if (!find_numbers(f, &d->numbers))
        return err_input(why, "%s asks for more of its threads than their number", f->name);
    return find_loops(f, d, f->body, why) &&
           (function_may_be_copied(f) || err_input(why, "%s may not be copied", f->name));
}

static bool walks_rows(const struct detail *d)
{
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_CALL_EXPRESSION};
    const struct function *f = d->rows.f;
    for (const struct shared_loop *l = d->loops; l < d->loops + d->n; l++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            for (struct node *e = nodes_of(f, l->body, kinds[k]); node_ok(*e); e++) {
                struct reached r;
                struct poly p =
                    element_reached(f, *e, &r) && node_ok(r.index) ? poly_of(f, r.index) : (struct poly){0};
                if (p.ok && poly_coefficient(&p, l->turns.index->name) == 1 &&
                    poly_coefficient(&p, "threadIdx.x") != 1)
                    return true;
            }
    return false;
}

static void rows_find(struct function *f, struct site_list *found)
{
    static const int own[] = {32, 8, 16};
    struct detail d;
    if (!understood(f, &d, NULL) || !walks_rows(&d))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        site_add(
            found, f, d.loops[0].turns.loop, *setting,
            "each thread walks its row, one element after the other, and neighbouring threads reach elements a row "
            "apart; lanes that share a row reach neighbours",
            "%zu loop%s by %d lanes", d.n, d.n > 1 ? "s" : "", *setting);
}

struct names {
    const char *lane, *mask;
    int lanes;
};

static const char *join_text(const struct function *f, const struct gathered *g, const char *x, const char *y)
{
    if (g->how == GATHERS_SUM)
        return arena_printf(f->a, "%s + %s", x, y);
    return g->how == GATHERS_CALL ? arena_printf(f->a, "%s(%s, %s)", g->word, x, y)
                                  : arena_printf(f->a, "%s %s %s ? %s : %s", y, g->word, x, y, x);
}

/* `__shfl_up_sync(MASK, value, by)`, among the lanes of a row. */
static const char *shuffle_text(const struct function *f, const struct names *n, const char *how,
                                const char *value, const char *by)
{
    return n->lanes == WARP
               ? arena_printf(f->a, "__shfl_%ssync(%s, %s, %s)", how, n->mask, value, by)
               : arena_printf(f->a, "__shfl_%ssync(%s, %s, %s, %d)", how, n->mask, value, by, n->lanes);
}

/* What the lanes have together, and then each with all before it. */
static void scan_put(const struct function *f, const struct carried *c, const struct names *n, const char *last,
                     struct str *b)
{
    const char *v = c->how.v->name, *type = c->how.v->type,
               *part = fresh_local(f, arena_printf(f->a, "%s_part", v)), *up = fresh_local(f, "up"),
               *by = fresh_local(f, "by");
    str_addf(b, "%s %s = %s;\n#pragma unroll\nfor (int %s = 1; %s < %d; %s *= 2) {\n", type, part,
             text_of(f, c->added), by, by, n->lanes, by);
    str_addf(b, "    const %s %s = %s;\n    %s = %s >= %s ? %s : %s;\n}\n", type, up,
             shuffle_text(f, n, "up_", part, by), part, n->lane, by, join_text(f, &c->how, up, part), part);
    if (c->before) {
        str_addf(b, "%s %s_before = %s;\n", type, v, shuffle_text(f, n, "up_", part, "1"));
        str_addf(b, "%s_before = %s > 0 ? %s : %s;\n", v, n->lane,
                 join_text(f, &c->how, v, arena_printf(f->a, "%s_before", v)), v);
    }
    str_addf(b, "const %s %s_here = %s;\n%s = %s;\n", type, v, join_text(f, &c->how, v, part), v,
             shuffle_text(f, n, "", arena_printf(f->a, "%s_here", v), last));
}

/* A statement of a turn, with the values as this place has them. */
static const char *statement_text(const struct function *f, const struct shared_loop *l, struct node s,
                                  const char *has)
{
    struct edits inside = {.arena = f->a};
    bool late = is_late(f, l, s);
    for (size_t i = 0; i < l->n; i++)
        for (struct node *name = names_in(f, s); node_ok(*name); name++)
            if (function_variable_of(f, *name) == l->all[i].how.v)
                edits_node(&inside, *name,
                           arena_printf(f->a, late ? "%s_before" : "%s_here", l->all[i].how.v->name));
    const char *text = edits_range(&inside, f, node_start(s), node_end(s));
    text = text_reindent(f->a, text, -(int)strlen(text_indent(f, node_start(s))));
    return is_store(f, s) ? arena_printf(f->a, "if (%s)\n    %s\n", has, text_reindent(f->a, text, 4))
                          : arena_printf(f->a, "%s\n", text);
}

/* A loop of which a turn asks for what the turns before it have: a step of all lanes at a time. */
static const char *scan_text(const struct function *f, const struct shared_loop *l, const struct names *names)
{
    struct arena *a = f->a;
    struct str b = {.arena = a}, in = {.arena = a}, late = {.arena = a};
    size_t n, seen = 0;
    struct node *statements = named_children(f, l->body, &n), loop = l->turns.loop, end = l->turns.limit;
    const char *first = fresh_local(f, "first"), *has = fresh_local(f, "has"), *left = fresh_local(f, "left"),
               *k = l->turns.index->name, *type = l->turns.index->type, *limit = text_of(f, end);
    if (!node_is(end, NODE_IDENTIFIER))
        limit = arena_printf(a, "(%s)", limit);
    str_addf(&in, "const %s %s = %s - %s;\nconst bool %s = %s < %s;\nconst %s %s = %s ? %s + %s : %s - 1;\n",
             type, left, limit, first, has, names->lane, left, type, k, has, first, names->lane, limit);
    for (size_t i = 0; i < n; i++) {
        const struct carried *c = NULL;
        for (size_t m = 0; m < l->n; m++)
            if (node_same(l->all[m].statement, statements[i]))
                c = &l->all[m];
        if (c)
            scan_put(
                f, c, names,
                arena_printf(a, "(int)(%s < %d ? %s - 1 : %d)", left, names->lanes, left, names->lanes - 1),
                &in);
        else
            str_add(is_late(f, l, statements[i]) ? &late : &in, statement_text(f, l, statements[i], has));
        seen += c != NULL;
        if (c && seen == l->n) /* all that earlier statements ask for is there */
            str_add(&in, str_text(&late));
    }
    str_addf(&b, "for (%s %s = %s; %s < %s; %s += %d) {\n    %s\n}", type, first, text_of(f, l->turns.start),
             first, limit, first, names->lanes, text_reindent(a, text_trim(arena_strdup(a, str_text(&in))), 4));
    return text_reindent(a, str_take(&b, a), (int)strlen(text_indent(f, node_start(loop))));
}

/* What another lane has is put together with one's own. */
static void meet_put(const struct function *f, const struct gathered *g, const struct names *n, const char *by,
                     const char *line, struct str *b)
{
    const char *v = g->v->name, *other = fresh_local(f, arena_printf(f->a, "%s_other", v));
    str_addf(b, "%sconst %s %s = %s;", line, g->v->type, other, shuffle_text(f, n, "xor_", v, by));
    if (g->how != GATHERS_PLACE) {
        str_addf(b, "%s%s = %s;", line, v, join_text(f, g, v, other));
        return;
    }
    const char *place = g->place->name, *its = fresh_local(f, arena_printf(f->a, "%s_other", place));
    str_addf(b, "%sconst %s %s = %s;", line, g->place->type, its, shuffle_text(f, n, "xor_", place, by));
    str_addf(b, "%sif (%s %c %s || (%s == %s && %s %c %s)) {%s    %s = %s;%s    %s = %s;%s}", line, other,
             g->word[0], v, other, v, its, g->word[1] ? '>' : '<', place, line, v, other, line, place, its,
             line);
}

/* A loop whose turns are apart: each lane takes every so-many-th, and what they have is put together behind it.
 */
static void apart_edit(const struct function *f, const struct shared_loop *l, const struct names *n,
                       struct edits *edits)
{
    struct arena *a = f->a;
    struct node loop = l->turns.loop, before = node_prev(loop);
    const char *indent = text_indent(f, node_start(loop)), *start = text_of(f, l->turns.start),
               *by = fresh_local(f, "by");
    size_t ahead = node_start(node_is(before, NODE_PREPROC_CALL) ? before : loop);
    struct str puts = {.arena = a};
    bool plain =
        node_is(unbracketed(l->turns.start), NODE_IDENTIFIER) || node_is(l->turns.start, NODE_NUMBER_LITERAL);

    const char *from = arena_printf(a, plain ? "%s + %s" : "(%s) + %s", start, n->lane);
    edits_node(edits, l->turns.start, str_eq(start, "0") ? n->lane : from);
    edits_node(edits, node_field(loop, FIELD_UPDATE),
               arena_printf(a, "%s += %d", l->turns.index->name, n->lanes));
    for (size_t i = 0; i < l->turns.n_sums; i++) {
        const struct gathered *g = &l->turns.sums[i];
        if (g->how == GATHERS_SUM && !gathers_from_zero(f, g))
            edits_at(edits, ahead,
                     arena_printf(a, "%s = %s > 0 ? 0 : %s;\n%s", g->v->name, n->lane, g->v->name, indent));
        meet_put(f, g, n, by, arena_printf(a, "\n%s    ", indent), &puts);
    }
    if (l->turns.n_sums > 0)
        edits_at(edits, node_end(loop),
                 arena_printf(a, "\n#pragma unroll\n%sfor (int %s = %d; %s > 0; %s /= 2) {%s\n%s}", indent, by,
                              n->lanes / 2, by, by, str_text(&puts), indent));
}

static void kernel_edit(const struct function *f, const struct detail *d, const struct names *n,
                        struct edits *edits)
{
    struct arena *a = f->a;
    struct str head = {.arena = a};
    str_addf(&head, "\n    const int %s = threadIdx.x %% %d;", n->lane, n->lanes);
    if (n->lanes < WARP)
        str_addf(&head, "\n    const unsigned int %s = 0x%xu << threadIdx.x %% %d / %d * %d;", n->mask,
                 (1u << n->lanes) - 1, WARP, n->lanes, n->lanes);
    edits_at(edits, node_start(f->body) + 1, str_text(&head));
    for (size_t i = 0; i < d->numbers.n; i++) {
        struct node e = d->numbers.v[i];
        const char *wide = node_has(f, e, NODE_CAST_EXPRESSION) ? "(long long)" : "",
                   *block = arena_printf(a, "%sblockIdx.x * (blockDim.x / %d) + threadIdx.x / %d", wide,
                                         n->lanes, n->lanes);
        if (d->counted)
            block = arena_printf(a, "(%s) / %d", text_of(f, e), n->lanes);
        else if (!node_is(node_parent(e), NODE_INIT_DECLARATOR) &&
                 !node_is(node_parent(e), NODE_PARENTHESIZED_EXPRESSION))
            block = arena_printf(a, "(%s)", block);
        edits_node(edits, e, block);
    }
    for (size_t i = 0; i < d->n; i++) {
        struct node loop = d->loops[i].turns.loop, before = node_prev(loop);
        if (d->loops[i].n == 0) {
            apart_edit(f, &d->loops[i], n, edits);
            continue;
        }
        edits_node(edits, loop, scan_text(f, &d->loops[i], n));
        if (node_is(before, NODE_PREPROC_CALL))
            edits_remove(edits, f, before);
    }
    const struct node last = d->loops[d->n - 1].turns.loop;
    const char *indent = text_indent(f, node_start(last));
    if (d->goes_on)
        edits_at(edits, node_end(last),
                 arena_printf(a, "\n%sif (%s > 0)\n%s    return;", indent, n->lane, indent));
}

/* As many blocks as there are rows for, where the launcher can tell. */
static const char *grid_text(const struct function *f, const struct detail *d, const struct launch *l,
                             const char *x, int lanes)
{
    char *rows = d->counted ? launch_expression(f, l, d->rows.bound) : NULL;
    long long each = f->block_x / lanes;
    if (!rows)
        return arena_printf(f->a, call_is(f, l->grid, "dim3") ? "(%s) * %d" : "%s * %d", x, lanes);
    return arena_printf(f->a,
                        node_is(d->rows.bound, NODE_IDENTIFIER) ? "(%s + %lld) / %lld" : "((%s) + %lld) / %lld",
                        rows, each - 1, each);
}

static bool rows_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct detail d;
    struct edits inside = {.arena = a};
    int lanes = site->setting;
    if (!understood(f, &d, why_not))
        return false;
    const char *name = fresh_name(f, arena_printf(a, "%s_lanes", f->name));
    struct names n = {.lane = fresh_local(f, "lane"),
                      .mask = lanes == WARP ? "0xffffffff" : fresh_local(f, "lanes"),
                      .lanes = lanes};
    struct node limit = d.loops[0].turns.limit;
    int64_t known;
    bool told = launches_tell(f, limit) && !constant_value(f, limit, &known);
    kernel_edit(f, &d, &n, told ? &inside : edits);
    if (told &&
        !edits_copy(edits, &inside, f, name, arena_printf(a, "with %d lanes for each row", lanes), why_not))
        return false;
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        char *x;
        if (!launch_grid_x(f, l, &x))
            return err_input(why_not, "the grid of %s is not understood", f->name);
        const char *grid = launch_grid_with(f, l, grid_text(f, &d, l, x, lanes), NULL),
                   *call = launch_text(f, l, told ? name : NULL, grid, NULL);
        if (told)
            edits_guard_launch(edits, f, l, "Several lanes share a long row.",
                               arena_printf(a, "%s >= %d", launch_expression(f, l, limit), 2 * lanes), call);
        else
            edits_node(edits, l->statement, text_wrap(a, call, launch_column(f, l)));
    }
    return true;
}

const struct transform transform_share_rows = {
    .name = "share-rows",
    .summary = "several lanes of a warp share the rows that a thread walked by itself",
    .helps = "latency l2 dram issue launch order",
    .parameters = {{"lanes", 1, 0, 3, {8, 16, 32}}},
    .find = rows_find,
    .apply = rows_apply,
};
