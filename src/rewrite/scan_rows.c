/* scan-rows: where each thread walks a row and stores what it has added up so far, or the largest so far, at
 * each place, a warp takes the row: its lanes take neighbouring elements, put together by shuffles what those
 * before them have, and go on with what the last one has. Rows then move in order, and there are 32 times as
 * many threads.
 *
 * Right where all that a turn carries to the next one are sums, largest and smallest, each from one statement
 * of the loop's body; where a turn stores depends on its number. Threads of a warp do the rest together, and
 * the first of them stores what comes behind the loop. A sum has its terms in another order. */
#include "rewrite/own_rows.h"
#include "rewrite/turns.h"

enum { WARP = 32, SHORT = 64, CARRIED_MOST = 4 };

struct carried {
    struct gathered how;
    struct node statement, added; /* the statement, and what it adds or compares */
    bool before, behind;          /* is the value asked for before the statement, behind it? */
};

struct detail {
    struct own_rows rows;
    struct turns turns;
    struct node body; /* of the loop: statements in braces, or one */
    struct node last; /* statement in the same block as the loop; no node: the loop is the last one */
    struct carried all[CARRIED_MOST];
    size_t n;
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
static bool carries(const struct function *f, const struct detail *d, const struct variable *v,
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
static bool stores_by_turn(const struct function *f, const struct detail *d, struct err *why)
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

/* The loop of the block, and what comes behind it; nothing before it writes. */
static bool find_loop(const struct function *f, struct detail *d, struct node block, struct err *why)
{
    static const enum node_kind leave[] = {NODE_BREAK_STATEMENT, NODE_CONTINUE_STATEMENT, NODE_RETURN_STATEMENT,
                                           NODE_GOTO_STATEMENT, NODE_LAMBDA_EXPRESSION};
    size_t n, at = 0;
    struct node *all = named_children(f, block, &n);
    while (at < n && !node_is_loop(all[at])) {
        bool asks = node_same(all[at], d->rows.question);
        if (asks && !d->rows.leaves)
            return find_loop(f, d, node_field(all[at], FIELD_CONSEQUENCE), why);
        if (!asks && (!node_is(all[at], NODE_DECLARATION) || node_has_effect(f, all[at])) &&
            !node_is(all[at], NODE_COMMENT) && !node_is(all[at], NODE_PREPROC_CALL))
            return err_input(why, "%s does more than declare variables before its loop", f->name);
        at++;
    }
    if (at == n || !turns_of(f, all[at], &d->turns) || node_ok(d->turns.step) ||
        !node_is_binary(f, node_field(all[at], FIELD_CONDITION), "<"))
        return err_input(why, "%s has no loop of a thread by itself", f->name);
    d->body = node_field(all[at], FIELD_BODY);
    for (size_t k = 0; k < ARRAY_LEN(leave); k++)
        if (node_has(f, d->body, leave[k]))
            return err_input(why, "the loop of %s may end early", f->name);
    for (struct node *call = nodes_of(f, d->body, NODE_CALL_EXPRESSION); node_ok(*call); call++)
        if (!call_is_pure(f, *call))
            return err_input(why, "the loop of %s calls what may write", f->name);
    for (size_t k = at + 1; k < n; k++) {
        if (node_is_loop(all[k]) || node_has(f, all[k], NODE_FOR_STATEMENT))
            return err_input(why, "%s has another loop", f->name);
        if (!node_is(all[k], NODE_COMMENT))
            d->last = all[k];
    }
    return node_is(d->body, NODE_COMPOUND_STATEMENT) || err_input(why, "the loop of %s has no braces", f->name);
}

/* Does a statement before the one that carries ask for the value? It is done behind it then, and must not be
 * what the added value is made of. */
static bool is_late(const struct function *f, const struct detail *d, struct node statement)
{
    for (size_t i = 0; i < d->n; i++)
        if (node_start(statement) < node_start(d->all[i].statement) &&
            node_mentions(f, statement, d->all[i].how.v->name))
            return true;
    return false;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    struct poly start, limit;
    size_t n;
    *d = (struct detail){0};
    if (!own_rows_open(f, &d->rows, why) || !own_rows_may_walk(&d->rows, why) ||
        !find_loop(f, d, f->body, why) || !stores_by_turn(f, d, why))
        return false;
    if (f->block_x % WARP || !function_may_be_copied(f))
        return err_input(why, "%s may not be copied", f->name);
    start = poly_of(f, d->turns.start);
    limit = poly_of(f, node_field(node_field(d->turns.loop, FIELD_CONDITION), FIELD_RIGHT));
    if (!start.ok || !limit.ok)
        return err_input(why, "the ends of the loop of %s are not understood", f->name);
    bool asked = false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        bool own = v->from >= node_start(d->turns.loop) && v->from < node_end(d->turns.loop);
        if (own || !variable_assigned_in(f, v, d->body))
            continue;
        if (d->n == CARRIED_MOST || !carries(f, d, v, &d->all[d->n]))
            return err_input(why, "%s carries %s in a way of its own", f->name, v->name);
        asked = asked || d->all[d->n].before || d->all[d->n].behind;
        d->n++;
    }
    struct node *statements = named_children(f, d->body, &n);
    for (size_t i = 0; i < n; i++)
        if (is_late(f, d, statements[i]) && !node_is(statements[i], NODE_EXPRESSION_STATEMENT))
            return err_input(why, "%s asks for a value before it is there", f->name);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->n; k++)
            if (node_mentions(f, d->all[i].added, d->all[k].how.v->name))
                return err_input(why, "what %s carries is made of each other", f->name);
    return (d->n > 0 && asked) ||
           err_input(why, "no turn of %s asks for what the turns before it have", f->name);
}

static void scan_find(struct function *f, struct site_list *found)
{
    struct detail d;
    if (understood(f, &d, NULL))
        site_add(
            found, f, d.turns.loop, 0,
            "each thread walks its row, one element after the other; the lanes of a warp take 32 at a time, and reach "
            "them beside each other",
            "%zu value%s carried along the row", d.n, d.n > 1 ? "s" : "");
}

static const char *join_text(const struct function *f, const struct gathered *g, const char *x, const char *y)
{
    return g->how == GATHERS_SUM ? arena_printf(f->a, "%s + %s", x, y)
                                 : arena_printf(f->a, "%s(%s, %s)", g->word, x, y);
}

/* What the lanes have together, and then each with all before it. */
static void scan_put(const struct function *f, const struct carried *c, const char *lane, const char *last,
                     struct str *b)
{
    const char *v = c->how.v->name, *type = c->how.v->type,
               *part = fresh_local(f, arena_printf(f->a, "%s_part", v)), *up = fresh_local(f, "up"),
               *by = fresh_local(f, "by");
    str_addf(b, "%s %s = %s;\n#pragma unroll\nfor (int %s = 1; %s < %d; %s *= 2) {\n", type, part,
             text_of(f, c->added), by, by, WARP, by);
    str_addf(b, "    const %s %s = __shfl_up_sync(0xffffffff, %s, %s);\n    %s = %s >= %s ? %s : %s;\n}\n",
             type, up, part, by, part, lane, by, join_text(f, &c->how, up, part), part);
    if (c->before) {
        str_addf(b, "%s %s_before = __shfl_up_sync(0xffffffff, %s, 1);\n", type, v, part);
        str_addf(b, "%s_before = %s > 0 ? %s : %s;\n", v, lane,
                 join_text(f, &c->how, v, arena_printf(f->a, "%s_before", v)), v);
    }
    str_addf(b, "const %s %s_here = %s;\n%s = __shfl_sync(0xffffffff, %s_here, %s);\n", type, v,
             join_text(f, &c->how, v, part), v, v, last);
}

/* A statement of a turn, with the values as this place has them. */
static const char *statement_text(const struct function *f, const struct detail *d, struct node s, bool late)
{
    struct edits inside = {.arena = f->a};
    for (size_t i = 0; i < d->n; i++)
        for (struct node *name = names_in(f, s); node_ok(*name); name++)
            if (function_variable_of(f, *name) == d->all[i].how.v)
                edits_node(&inside, *name,
                           arena_printf(f->a, late ? "%s_before" : "%s_here", d->all[i].how.v->name));
    const char *text = edits_range(&inside, f, node_start(s), node_end(s));
    return text_reindent(f->a, text, -(int)strlen(text_indent(f, node_start(s))));
}

static bool stores(const struct function *f, struct node s)
{
    for (struct node *e = nodes_of(f, s, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++)
        if (node_is_access(f, node_strip(node_field(*e, FIELD_LEFT))))
            return true;
    return false;
}

static const char *loop_text(const struct function *f, const struct detail *d, const char *lane)
{
    struct arena *a = f->a;
    struct str b = {.arena = a}, late = {.arena = a};
    size_t n;
    struct node *statements = named_children(f, d->body, &n), loop = d->turns.loop;
    const char *first = fresh_local(f, "first"), *has = fresh_local(f, "has"), *left = fresh_local(f, "left"),
               *k = d->turns.index->name, *type = d->turns.index->type,
               *limit = text_of(f, node_field(node_field(loop, FIELD_CONDITION), FIELD_RIGHT));
    if (!node_is(node_field(node_field(loop, FIELD_CONDITION), FIELD_RIGHT), NODE_IDENTIFIER))
        limit = arena_printf(a, "(%s)", limit);
    str_addf(&b, "for (%s %s = %s; %s < %s; %s += %d) {\n", type, first, text_of(f, d->turns.start), first,
             limit, first, WARP);
    struct str in = {.arena = a};
    str_addf(&in, "const %s %s = %s - %s;\nconst bool %s = %s < %s;\nconst %s %s = %s ? %s + %s : %s - 1;\n",
             type, left, limit, first, has, lane, left, type, k, has, first, lane, limit);
    for (size_t i = 0; i < n; i++) {
        const struct carried *c = NULL;
        for (size_t m = 0; m < d->n; m++)
            if (node_same(d->all[m].statement, statements[i]))
                c = &d->all[m];
        if (c) {
            scan_put(f, c, lane, arena_printf(a, "(int)(%s < %d ? %s - 1 : %d)", left, WARP, left, WARP - 1),
                     &in);
            continue;
        }
        bool is = is_late(f, d, statements[i]);
        const char *text = statement_text(f, d, statements[i], is);
        if (stores(f, statements[i]))
            text = arena_printf(a, "if (%s)\n    %s", has, text_reindent(a, text, 4));
        str_addf(is ? &late : &in, "%s\n", text);
        if (!is && late.len > 0 && i > 0) {
            str_add(&in, str_text(&late));
            late.len = 0;
        }
    }
    str_add(&in, str_text(&late));
    str_addf(&b, "    %s", text_reindent(a, text_trim(arena_strdup(a, str_text(&in))), 4));
    str_add(&b, "\n}");
    return text_reindent(a, str_take(&b, a), (int)strlen(text_indent(f, node_start(loop))));
}

static bool scan_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct detail d;
    struct edits inside = {.arena = a};
    (void)site;
    if (!understood(f, &d, why_not))
        return false;
    const struct variable *number = function_variable_of(f, d.rows.left);
    const char *lane = fresh_local(f, "lane"), *name = fresh_name(f, arena_printf(a, "%s_scan", f->name)),
               *indent = text_indent(f, node_start(d.turns.loop));
    struct node before = node_prev(d.turns.loop),
                limit = node_field(node_field(d.turns.loop, FIELD_CONDITION), FIELD_RIGHT);
    edits_at(&inside, node_start(f->body) + 1,
             arena_printf(a, "\n    const int %s = threadIdx.x %% %d;", lane, WARP));
    edits_node(&inside, number->init, arena_printf(a, "(%s) / %d", text_of(f, number->init), WARP));
    edits_node(&inside, d.turns.loop, loop_text(f, &d, lane));
    if (node_is(before, NODE_PREPROC_CALL))
        edits_remove(&inside, f, before);
    if (node_ok(d.last))
        edits_at(&inside, node_end(d.turns.loop),
                 arena_printf(a, "\n%sif (%s > 0)\n%s    return;", indent, lane, indent));
    if (!edits_copy(edits, &inside, f, name, "with a warp for each row", why_not))
        return false;
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        char *x;
        if (!launch_grid_x(f, l, &x) || !launch_grid_is_line(f, l))
            return err_input(why_not, "the grid of %s is not understood", f->name);
        const char *call = launch_text(f, l, name, arena_printf(a, "(%s) * %d", x, WARP), NULL);
        if (launches_tell(f, limit))
            edits_guard_launch(edits, f, l, "A warp for each long row.",
                               arena_printf(a, "%s >= %d", launch_expression(f, l, limit), SHORT), call);
        else
            edits_node(edits, l->statement, text_wrap(a, call, launch_column(f, l)));
    }
    return true;
}

const struct transform transform_scan_rows = {
    .name = "scan-rows",
    .summary = "a warp walks a row with what its elements before have together, where a thread did",
    .helps = "latency l2 dram issue launch order",
    .find = scan_find,
    .apply = scan_apply,
};
