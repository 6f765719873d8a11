/* stage-table: where each thread of a block walks the same long table (codes that its own point is held
 * against, a query that is multiplied with its own key), every turn of every warp waits for a load that all
 * threads share. The block moves some rows of the table at a time into shared memory, many loads at once, and
 * the turns find them there. The order of the turns stays, so results are the same to the bit.
 *
 * Right where all threads of the block do the same turns, up to a limit that is the same for them, what they
 * read of the table follows from the turn's number and constants, and nobody writes it. Threads beyond the last
 * element stay to help: they do what the last one does, and keep nothing. */
#include "rewrite/own_rows.h"
#include "rewrite/turns.h"

enum {
    LOOPS_MOST = 4,
    TABLES_MOST = 4,
    WIDEST = 64,
    ROWS_MOST = 1024,
    SHARED_MOST = 48 * 1024,
};

struct table { /* so many neighbouring elements of a row in each turn */
    const char *pointer, *type, *name;
    struct poly base; /* of the loop's first row, the same for all threads of a block */
    int64_t width, low, high;
    int bytes;
    bool sure; /* some place is reached in every turn */
};

struct place { /* that a turn reads */
    struct node at;
    size_t table;
    struct poly within; /* its row */
};

struct walk { /* a loop over rows of tables */
    struct turns turns;
    struct table tables[TABLES_MOST];
    size_t n_tables;
    VEC(struct place) places;
    bool ends;    /* a thread may be done before its end */
    int64_t few;  /* so many rows, all at once; 0: as many as fit */
    int64_t from; /* the first of these */
};

struct detail {
    struct own_rows rows;
    struct walk walks[LOOPS_MOST];
    size_t n;
    struct node last; /* the loop behind which threads without an element leave, */
    bool goes_on;     /* where something comes behind it */
};

static bool is_common(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e), rest;
    poly_common(f, &p, &rest);
    return p.ok && (rest.n == 0 || (rest.n == 1 && rest.t[0].n == 0));
}

/* Does the pointer lead to the same place for all threads of a block? */
static bool is_common_pointer(const struct function *f, struct node pointer, const struct variable **root)
{
    const struct variable *v = function_variable_of(f, pointer);
    *root = pointer_root(f, pointer);
    for (int depth = 0; v && depth < 8; depth++) {
        struct node init = node_strip(v->init);
        if (v->base) {
            if (!is_common(f, v->init))
                return false;
            v = v->base;
            continue;
        }
        if (!v->pointer || v->array || v->assignments)
            return false;
        if (v->param)
            return *root == v || (*root && str_eq((*root)->name, v->name));
        if (node_is_binary(f, init, "+")) {
            if (!is_common(f, node_field(init, FIELD_RIGHT)))
                return false;
            init = node_field(init, FIELD_LEFT);
        }
        v = function_variable_of(f, node_strip(init));
    }
    return false;
}

/* Is it done in every turn of the loop? Loops in it of constant turns are. */
static bool is_always(const struct function *f, struct node e, struct node body)
{
    struct counted c;
    for (struct node n = e; !node_same(n, body); n = node_parent(n)) {
        bool counted =
            counted_of(f, node_parent(n), &c) && node_same(n, node_field(node_parent(n), FIELD_BODY));
        if (!counted && node_is_asked(f, n))
            return false;
    }
    return true;
}

static bool table_add(struct walk *w, const struct table *t, size_t *at)
{
    for (*at = 0; *at < w->n_tables; ++*at) {
        struct table *known = &w->tables[*at];
        if (!str_eq(known->pointer, t->pointer) || known->width != t->width ||
            !poly_same(&known->base, &t->base))
            continue;
        known->low = MIN(known->low, t->low);
        known->high = MAX(known->high, t->high);
        known->sure = known->sure || t->sure;
        return true;
    }
    if (w->n_tables == TABLES_MOST)
        return false;
    w->tables[w->n_tables++] = *t;
    return true;
}

static void place_add(const struct function *f, struct walk *w, struct node e)
{
    struct reached r;
    struct node up = node_parent(e), body = node_field(w->turns.loop, FIELD_BODY);
    const struct variable *root;
    bool member = node_is(up, NODE_FIELD_EXPRESSION);
    if (!element_reached(f, e, &r) || node_ok(r.value) || !node_ok(r.index) || node_is_address(f, up) ||
        node_ok(macro_around(f, e)) || !node_is(r.pointer, NODE_IDENTIFIER) ||
        !is_common_pointer(f, r.pointer, &root) || memory_written_in(f, root->name, f->body) ||
        node_has_effect(f, r.index))
        return;
    const struct variable *v = function_variable_of(f, r.pointer);
    struct poly all = poly_of(f, r.index), within;
    struct table t = {.pointer = v->name, .type = v->type, .bytes = ctype_size(f, ctype_bound(f, v->type))};
    if (!all.ok || v->from > node_start(w->turns.loop) || t.bytes == 0 || str_has_word(v->type, "volatile") ||
        (member && !node_same(node_field(up, FIELD_ARGUMENT), e)))
        return;
    t.width = poly_coefficient(&all, w->turns.index->name);
    within = poly_add(f, all, poly_mul(f, poly_atom(f, w->turns.index->name), poly_number(t.width)), -1);
    t.base = poly_common(f, &within, &within);
    t.sure = is_always(f, e, body) && !node_has(f, body, NODE_CONTINUE_STATEMENT);
    if (t.width < 1 || t.width > WIDEST || !t.base.ok || !poly_range(f, &within, e, &t.low, &t.high) ||
        t.low < 0 || t.high >= t.width)
        return;
    struct place p = {.at = e, .within = within};
    if (table_add(w, &t, &p.table))
        vec_add(f->a, &w->places, p);
}

/* What is not reached in every turn may not be there. */
static void drop_unsure(struct walk *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->places.n; i++)
        if (w->tables[w->places.v[i].table].sure)
            w->places.v[kept++] = w->places.v[i];
    w->places.n = kept;
}

static bool walk_of(const struct function *f, struct node n, struct walk *w)
{
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_CALL_EXPRESSION};
    *w = (struct walk){0};
    struct node body = node_field(n, FIELD_BODY);
    if (!turns_of(f, n, &w->turns) || node_ok(w->turns.step) ||
        !node_is_binary(f, node_field(n, FIELD_CONDITION), "<") || !is_common(f, w->turns.start) ||
        !is_common(f, w->turns.limit) || node_has(f, body, NODE_RETURN_STATEMENT) ||
        node_has(f, body, NODE_GOTO_STATEMENT) || node_has(f, body, NODE_LAMBDA_EXPRESSION) ||
        calls_barrier(f, body))
        return false;
    w->ends = turn_may_break(f, n);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, body, kinds[k]); node_ok(*e); e++)
            place_add(f, w, *e);
    drop_unsure(w);
    return w->places.n > 0;
}

/* Does the expression reach memory that others may see, or call what may? */
static bool is_loud(const struct function *f, struct node n)
{
    struct node target = node_strip(assigned_target(n));
    if (node_ok(target) && (node_is_access(f, target) || node_is(target, NODE_FIELD_EXPRESSION))) {
        const struct variable *root = node_is_access(f, target) ? pointer_root(f, target) : NULL;
        if (node_is_access(f, target) && !(root && root->array && !root->param))
            return true;
    }
    if (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (is_loud(f, node_child(n, i)))
            return true;
    return false;
}

/* `if (blockIdx.y >= batches) return;`: all threads of the block leave, or none. */
static bool leaves_together(const struct function *f, struct node n)
{
    struct node condition = node_strip(node_field(n, FIELD_CONDITION));
    return node_is(n, NODE_IF_STATEMENT) && !node_ok(node_field(n, FIELD_ALTERNATIVE)) &&
           node_is(node_unbraced(f, node_field(n, FIELD_CONSEQUENCE)), NODE_RETURN_STATEMENT) &&
           node_is(condition, NODE_BINARY_EXPRESSION) && !str_in(node_op(f, condition), "&&|||") &&
           is_common(f, node_field(condition, FIELD_LEFT)) && is_common(f, node_field(condition, FIELD_RIGHT));
}

/* The loops of a block, and the question ahead of them. */
static bool find_walks(const struct function *f, struct detail *d, struct node block, struct err *why)
{
    size_t n, end = 0, returns = 0, known = 0;
    struct node *all = named_children(f, block, &n);
    struct walk w;
    for (size_t i = 0; i < n; i++) {
        if (!node_ok(d->rows.question) && own_rows_question(&d->rows, all[i], &d->rows) && !d->rows.leaves)
            return i + 1 == n ? find_walks(f, d, node_field(all[i], FIELD_CONSEQUENCE), why)
                              : err_input(why, "%s goes on behind its question", f->name);
        if (walk_of(f, all[i], &w))
            end = i + 1;
    }
    for (size_t i = 0; i < end; i++) {
        known += node_same(all[i], d->rows.question) || leaves_together(f, all[i]);
        if (walk_of(f, all[i], &w)) {
            if (d->n == LOOPS_MOST)
                return err_input(why, "%s has too many loops", f->name);
            d->walks[d->n++] = w;
            d->last = all[i];
        } else if (!node_same(all[i], d->rows.question) && node_ok(d->rows.question) &&
                   node_start(all[i]) > node_start(d->rows.question) && is_loud(f, all[i])) {
            return err_input(why, "line %d may write", node_line(f->s, all[i]));
        }
    }
    for (struct node *r = nodes_of(f, f->body, NODE_RETURN_STATEMENT); node_ok(*r) && end > 0; r++)
        returns += node_start(*r) < node_start(d->last);
    d->goes_on = end < n;
    if (d->n == 0)
        return err_input(why, "threads of %s walk no table that they share", f->name);
    return returns == known || err_input(why, "%s may leave before its last loop", f->name);
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    *d = (struct detail){.rows = {.f = f}};
    if (f->n_launches == 0 || macros_ask_for_place(f))
        return err_input(why, "%s is not launched, or macros ask for the thread", f->name);
    if (block_threads(f, 0) < 32 || block_threads(f, 1) != 1 || block_threads(f, 2) != 1)
        return err_input(why, "the blocks of %s have no constant number of threads along x alone", f->name);
    if (!find_walks(f, d, f->body, why))
        return false;
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++)
        if (call_meets(f, *call) && node_ok(d->rows.question) &&
            node_start(*call) > node_start(d->rows.question))
            return err_input(why, "the threads of %s meet", f->name);
    return own_rows_may_stay(&d->rows) || err_input(why, "%s does not ask for its thread's number", f->name);
}

/* Rows of the loop's tables that so many KB of shared memory hold: a power of two. */
static int64_t rows_of(const struct walk *w, int setting)
{
    int64_t row = 0, rows = ROWS_MOST;
    for (const struct table *t = w->tables; t < w->tables + w->n_tables; t++)
        row += t->sure ? t->width * t->bytes : 0;
    while (rows > 1 && rows * row > setting * 1024)
        rows /= 2;
    return rows;
}

/* Are all rows of a constant loop in shared memory at once? */
static void take_whole(const struct function *f, struct walk *w, int64_t rows)
{
    int64_t limit;
    if (constant_value(f, w->turns.start, &w->from) && constant_value(f, w->turns.limit, &limit) &&
        limit - w->from <= rows) {
        w->few = limit - w->from;
        w->ends = false;
    }
}

static void table_find(struct function *f, struct site_list *found)
{
    static const int own[] = {4, 16};
    struct detail d;
    if (!understood(f, &d, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        if (*setting * 1024 * (int64_t)d.n <= SHARED_MOST)
            site_add(
                found, f, d.walks[0].turns.loop, *setting,
                "all threads of a block wait in each turn for what they read in common; through shared memory "
                "the block moves many turns' worth at once",
                "%zu loop%s over what all threads read alike, %d KB at a time", d.n, d.n > 1 ? "s" : "",
                *setting);
}

struct names {
    const char *from, *until, *at, *going, *inside;
};

/* The loop's own text, from one row on to another one, with its places in shared memory. */
static const char *inner_text(const struct function *f, const struct walk *w, const struct names *names)
{
    struct node loop = w->turns.loop, above = node_prev(loop);
    const char *asked = w->ends ? names->going : names->inside, *pragma = "";
    struct edits inside = {.arena = f->a};
    if (!w->few) {
        edits_node(&inside, w->turns.start, names->from);
        edits_node(&inside, w->turns.limit, names->until);
    }
    for (size_t i = 0; i < w->places.n; i++) {
        const struct place *p = &w->places.v[i];
        const struct table *t = &w->tables[p->table];
        struct poly first = poly_add(f, poly_atom(f, w->turns.index->name), poly_number(w->from), -1);
        const char *row =
            w->few ? poly_text(f, &first) : arena_printf(f->a, "%s - %s", w->turns.index->name, names->from);
        if (t->width > 1)
            row = arena_printf(f->a, strchr(row, ' ') ? "(%s) * %lld" : "%s * %lld", row, (long long)t->width);
        edits_node(
            &inside, p->at,
            arena_printf(f->a, p->within.n ? "%s[%s + %s]" : "%s[%s]", t->name, row, poly_text(f, &p->within)));
    }
    if (w->ends)
        turn_break_edits(f, loop, names->going, &inside);
    int margin = (w->few ? 0 : 4) + (asked ? 4 : 0);
    const char *text = text_reindent(f->a, edits_range(&inside, f, node_start(loop), node_end(loop)),
                                     margin - (int)strlen(text_indent(f, node_start(loop)))),
               *indent = arena_printf(f->a, "%*s", margin, "");
    if (node_is(above, NODE_PREPROC_CALL)) {
        size_t at = node_start(above);
        pragma = arena_printf(f->a, "%s\n", text_range(f, at, at + strcspn(f->text + at, "\n")));
    }
    if (!asked)
        return arena_printf(f->a, *pragma ? "\n%s%s%s" : "%s%.0s%s", pragma, indent, text);
    return arena_printf(f->a, "if (%s) {\n%s%s%s\n%*s}", asked, pragma, indent, text, margin - 4, "");
}

static const char *bracketed(const struct function *f, struct node e)
{
    bool plain = node_is(e, NODE_IDENTIFIER) || node_is(e, NODE_NUMBER_LITERAL);
    return plain ? text_of(f, e) : arena_printf(f->a, "(%s)", text_of(f, e));
}

/* How the block moves a table's rows. */
static void table_put(const struct function *f, const struct walk *w, const struct table *t, struct fill *row,
                      const struct names *names)
{
    long long width = (long long)t->width, rest = (long long)(t->width - 1 - t->high);
    struct poly base = poly_add(f, t->base, poly_number(w->from * t->width), 1);
    const char *rows = arena_printf(f->a, "%s - %s", names->until, names->from),
               *first = arena_printf(f->a, "%s + ", names->from), *count = rows;
    if (w->few) {
        count = arena_printf(f->a, "%lld", (long long)w->few * width - rest);
        first = "";
    } else if (width > 1) {
        count = arena_printf(f->a, rest ? "(%s) * %lld - %lld" : "(%s) * %lld", rows, width, rest);
        first = arena_printf(f->a, "(long long)%s * %lld + ", names->from, width);
    }
    if (!w->few)
        base = t->base;
    fill_put(row, "name", t->name);
    fill_put(row, "pointer", t->pointer);
    fill_put(row, "low", t->low ? arena_printf(f->a, " + %lld", (long long)t->low) : "");
    fill_put(row, "end", count);
    fill_put(row, "index",
             base.n ? arena_printf(f->a, "%s + %s%s", poly_text_wide(f, &base), first, names->at)
                    : arena_printf(f->a, "%s%s", first, names->at));
}

static const char *loop_text(const struct function *f, const struct walk *w, int64_t rows,
                             const struct names *names)
{
    struct fill *fill = fill_open(f->a);
    fill_put(fill, "type", w->turns.index->type);
    fill_put(fill, "from", names->from);
    fill_put(fill, "until", names->until);
    fill_put(fill, "going", names->going);
    fill_put(fill, "inside", names->inside ? names->inside : "true");
    fill_put(fill, "at", names->at);
    fill_put(fill, "start", text_of(f, w->turns.start));
    fill_put(fill, "limit", bracketed(f, w->turns.limit));
    fill_putf(fill, "rows", "%lld", (long long)rows);
    fill_put(fill, "margin", w->few ? "" : "    ");
    fill_if(fill, "parts", !w->few);
    fill_if(fill, "ends", w->ends);
    fill_if(fill, "whole", !w->few && !w->ends);
    fill_section(fill, "table");
    for (const struct table *t = w->tables; t < w->tables + w->n_tables; t++)
        if (t->sure)
            table_put(f, w, t, fill_row(fill, "table"), names);
    fill_put(fill, "loop", inner_text(f, w, names));
    return text_reindent(f->a, fill_file(fill, "cuda/rewrite/staged_table.cu"),
                         (int)strlen(text_indent(f, node_start(w->turns.loop))));
}

static bool table_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    struct arena *a = f->a;
    struct detail d;
    struct str head = {.arena = a};
    int number = 0;
    if (!understood(f, &d, why_not))
        return false;
    const char *inside = node_ok(d.rows.question) ? fresh_local(f, "inside") : NULL;
    for (struct walk *w = d.walks; w < d.walks + d.n; w++) {
        int64_t rows = rows_of(w, site->setting);
        take_whole(f, w, rows);
        struct node loop = w->turns.loop, before = node_prev(loop);
        for (struct table *t = w->tables; t < w->tables + w->n_tables; t++) {
            const char *plain = arena_printf(a, "%s_table", t->pointer);
            t->name = fresh_local(f, number ? arena_printf(a, "%s_%d", plain, number) : plain);
            number++;
            if (t->sure)
                str_addf(&head, "\n    __shared__ alignas(16) %s %s[%lld];", t->type, t->name,
                         (long long)(w->few ? w->few : rows) * t->width);
        }
        struct names names = {.from = fresh_local(f, "from"),
                              .until = fresh_local(f, "until"),
                              .at = fresh_local(f, "at"),
                              .going = fresh_local(f, arena_printf(a, "going_%d", (int)(w - d.walks))),
                              .inside = inside};
        const char *text = loop_text(f, w, rows, &names);
        if (node_is(before, NODE_PREPROC_CALL)) /* it stands above the turns */
            edits_remove(edits, f, before);
        edits_node(edits, loop, text);
    }
    edits_at(edits, node_start(f->body) + 1, str_text(&head));
    if (inside)
        own_rows_stay(&d.rows, inside, d.last, d.goes_on, edits);
    return true;
}

const struct transform transform_stage_table = {
    .name = "stage-table",
    .summary =
        "a block moves what all its threads walk alike through shared memory, many turns' worth at a time",
    .helps = "latency l2 issue dram",
    .parameters = {{"kilobytes", 1, 0, 3, {4, 8, 16}}},
    .find = table_find,
    .apply = table_apply,
};
