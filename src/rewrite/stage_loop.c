/* stage-loop: where each thread walks a long row by itself, a running maximum or the two largest of it, the
 * threads of a warp reach elements a row apart in every turn. The warp moves some columns of its rows at a time
 * through shared memory, where neighbours move neighbours; then each thread goes on with its own row as before,
 * in the same order.
 *
 * Right where all threads of the warp do the same turns, up to a limit that is given to the kernel; what a turn
 * stores in rows is stored in each turn, at the place of the turn, and nobody else reaches those rows
 * meanwhile. Threads beyond the last row stay to help: they do what the last row's thread does, and keep
 * nothing. */
#include "rewrite/own_rows.h"
#include "rewrite/turns.h"

enum { LOOPS_MOST = 4, PARTS_MOST = 4, SHARED_MOST = 48 * 1024, WARP = 32 };

struct part { /* columns of one parameter's rows */
    const struct variable *pointer;
    const char *name, *held; /* of the shared array, and of what comes next into it */
};

struct staged_loop {
    struct turns turns;
    row_place_list places;
};

struct detail {
    struct own_rows rows;
    struct staged_loop loops[LOOPS_MOST];
    size_t n;
    struct part parts[PARTS_MOST];
    size_t n_parts;
    struct node last; /* the loop behind which threads without a row leave, */
    bool goes_on;     /* where something comes behind it */
};

static bool is_given(const struct function *f, const struct poly *p)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->t[i].n; k++) {
            const struct variable *v = function_variable(f, p->t[i].atom[k], node_start(f->body) + 1);
            if (!v && str_in(p->t[i].atom[k], "blockIdx.y|blockIdx.z"))
                continue;
            if (!v || !v->param || v->assignments || v->pointer)
                return false;
        }
    return p->ok;
}

static struct part *part_of(struct detail *d, const struct variable *pointer)
{
    for (size_t i = 0; i < d->n_parts; i++)
        if (d->parts[i].pointer == pointer)
            return &d->parts[i];
    return NULL;
}

/* Is the statement done in every turn of the loop? */
static bool is_always(const struct function *f, struct node e, struct node body)
{
    for (struct node n = e; !node_same(n, body); n = node_parent(n))
        if (node_is_asked(f, n))
            return false;
    return true;
}

/* All that the loop does with the memory behind the parameter: are these its places, all at the same one? */
static bool places_are_alone(const struct function *f, const struct staged_loop *l, const struct row_place *p)
{
    struct node body = node_field(l->turns.loop, FIELD_BODY);
    bool written = memory_written_in(f, p->pointer->name, body);
    size_t names = 0, places = 0;
    for (struct node *name = names_in(f, body); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        names += v && v->pointer && pointer_root(f, *name) == p->pointer;
    }
    for (size_t i = 0; i < l->places.n; i++) {
        const struct row_place *q = &l->places.v[i];
        if (q->pointer != p->pointer)
            continue;
        places++;
        if (!poly_same(&p->stride, &q->stride) || !poly_same(&p->rest, &q->rest) ||
            ((q->store || q->updates) && !is_always(f, q->at, body)))
            return false;
    }
    return !written || names == places;
}

static void places_of(const struct own_rows *rows, struct staged_loop *l)
{
    const struct function *f = rows->f;
    struct poly turn = poly_atom(f, l->turns.index->name);
    row_place_list all = row_places(rows, node_field(l->turns.loop, FIELD_BODY));
    for (size_t i = 0; i < all.n; i++) {
        struct row_place p = all.v[i];
        p.rest = poly_add(f, p.rest, turn, -1);
        bool row = p.stride.n != 1 || p.stride.t[0].n > 0 || p.stride.t[0].by >= WARP;
        if (row && is_given(f, &p.rest) && is_given(f, &p.stride) &&
            ctype_size(f, ctype_bound(f, p.pointer->type)) <= 8)
            vec_add(f->a, &l->places, p);
    }
    size_t kept = 0;
    for (bool again = true; again;) { /* what is not alone takes the places of its parameter with it */
        again = false;
        kept = 0;
        for (size_t i = 0; i < l->places.n; i++) {
            struct row_place p = l->places.v[i];
            if (places_are_alone(f, l, &p))
                l->places.v[kept++] = p;
            else
                again = true;
        }
        l->places.n = kept;
    }
}

/* What a turn writes are its own variables, those of the thread, and staged rows. */
static bool writes_rows_only(const struct function *f, struct node n, const struct staged_loop *l)
{
    static const enum node_kind kinds[] = {NODE_ASSIGNMENT_EXPRESSION, NODE_UPDATE_EXPRESSION};
    for (struct node *call = nodes_of(f, n, NODE_CALL_EXPRESSION); node_ok(*call); call++)
        if (!call_is_pure(f, *call))
            return false;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, n, kinds[k]); node_ok(*e); e++) {
            struct node target = node_strip(assigned_target(*e));
            const struct variable *root = node_is_access(f, target) ? pointer_root(f, target) : NULL;
            bool staged = !node_is_access(f, target) || (root && root->array && !root->param);
            for (size_t i = 0; l && i < l->places.n && !staged; i++)
                staged = node_same(l->places.v[i].at, target);
            if (!staged)
                return false;
        }
    return true;
}

static bool loop_of(const struct own_rows *rows, struct node n, struct staged_loop *l)
{
    const struct function *f = rows->f;
    *l = (struct staged_loop){0};
    if (!turns_of(f, n, &l->turns) || node_ok(l->turns.step))
        return false;
    struct node condition = node_field(n, FIELD_CONDITION);
    struct poly start = poly_of(f, l->turns.start), limit = poly_of(f, l->turns.limit);
    if (!node_is_binary(f, condition, "<") || !is_given(f, &start) || !is_given(f, &limit))
        return false;
    if (turn_may_end_early(f, node_field(n, FIELD_BODY)))
        return false;
    places_of(rows, l);
    return l->places.n > 0 && writes_rows_only(f, n, l);
}

static bool add_parts(struct detail *d, const struct staged_loop *l, struct err *why)
{
    const struct function *f = d->rows.f;
    for (size_t i = 0; i < l->places.n; i++) {
        const struct variable *pointer = l->places.v[i].pointer;
        if (part_of(d, pointer))
            continue;
        if (d->n_parts == PARTS_MOST)
            return err_input(why, "%s has rows of too many buffers", f->name);
        const char *name = pointer->name;
        d->parts[d->n_parts++] = (struct part){pointer, fresh_local(f, arena_printf(f->a, "%s_part", name)),
                                               fresh_local(f, arena_printf(f->a, "%s_next", name))};
    }
    return true;
}

/* The loops of a block; before the last one nothing but rows is written. */
static bool find_loops(const struct function *f, struct detail *d, struct node block, struct err *why)
{
    size_t n, end = 0;
    struct node *all = named_children(f, block, &n);
    struct staged_loop l;

    for (size_t i = 0; i < n; i++)
        if (loop_of(&d->rows, all[i], &l))
            end = i + 1;
    if (end == 0 && node_ok(d->rows.question) && !d->rows.leaves && node_same(block, f->body))
        return find_loops(f, d, node_field(d->rows.question, FIELD_CONSEQUENCE), why);
    for (size_t i = 0; i < end; i++) {
        if (loop_of(&d->rows, all[i], &l)) {
            if (d->n == LOOPS_MOST || !add_parts(d, &l, why))
                return err_input(why, "%s has too many loops", f->name);
            d->loops[d->n++] = l;
            d->last = all[i];
        } else if (!node_same(all[i], d->rows.question) && !writes_rows_only(f, all[i], NULL)) {
            return err_input(why, "%s writes before its last loop", f->name);
        }
    }
    d->goes_on = end < n;
    return d->n > 0 || err_input(why, "no thread of %s walks a long row by itself", f->name);
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    size_t returns = 0;

    *d = (struct detail){0};
    if (!own_rows_open_batched(f, &d->rows, why))
        return false;
    if (!own_rows_may_stay(&d->rows))
        return err_input(why, "%s does not ask for its row's number", f->name);
    if (!find_loops(f, d, f->body, why))
        return false;
    for (struct node *r = nodes_of(f, f->body, NODE_RETURN_STATEMENT); node_ok(*r); r++)
        returns += node_start(*r) < node_start(d->last);
    return returns == d->rows.leaves || err_input(why, "%s may leave before its last loop", f->name);
}

static int64_t pitch_of(const struct function *f, const struct part *p, int columns)
{
    return row_pitch(columns, ctype_size(f, ctype_bound(f, p->pointer->type)));
}

static bool fits(const struct detail *d, int columns)
{
    const struct function *f = d->rows.f;
    int64_t bytes = 0;
    for (const struct part *p = d->parts; p < d->parts + d->n_parts; p++)
        bytes += f->block_x * pitch_of(f, p, columns) * ctype_size(f, ctype_bound(f, p->pointer->type));
    return bytes <= SHARED_MOST;
}

static void loop_find(struct function *f, struct site_list *found)
{
    static const int own[] = {16, 32};
    struct detail d;
    if (!understood(f, &d, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        if (fits(&d, *setting))
            site_add(
                found, f, d.loops[0].turns.loop, *setting,
                "in each turn the threads of a warp reach elements a row apart; through shared memory the warp "
                "moves columns of its rows in order, many loads at a time",
                "%zu loop%s over rows of %zu buffer%s, %d columns at a time", d.n, d.n > 1 ? "s" : "",
                d.n_parts, d.n_parts > 1 ? "s" : "", *setting);
}

struct names {
    const char *lane, *first;        /* the thread's place in its warp, and the warp's first row */
    const char *turn, *row, *column; /* a turn of a move, and its row and column behind the first ones */
    const char *from, *until;        /* columns of one move */
    const char *inside;              /* has the thread a row? NULL: all have */
    int columns;
};

/* The loop's own text, from one column on to another one, with its places in shared memory. */
static const char *inner_text(struct detail *d, const struct staged_loop *l, const struct names *names)
{
    const struct function *f = d->rows.f;
    struct node loop = l->turns.loop;
    struct edits inside = {.arena = f->a};
    edits_node(&inside, l->turns.start, names->from);
    edits_node(&inside, l->turns.limit, names->until);
    for (size_t i = 0; i < l->places.n; i++)
        edits_node(&inside, l->places.v[i].at,
                   arena_printf(f->a, "%s[threadIdx.x][%s - %s]", part_of(d, l->places.v[i].pointer)->name,
                                l->turns.index->name, names->from));
    return text_reindent(f->a, edits_range(&inside, f, node_start(loop), node_end(loop)),
                         4 - (int)strlen(text_indent(f, node_start(loop))));
}

/* Where a turn k of a move finds the element of the column that is so many behind this one. */
static const char *index_text(const struct function *f, const struct row_place *p, const struct names *names,
                              const char *from)
{
    const char *stride = poly_text(f, &p->stride), *rest = p->rest.n > 0 ? poly_text_wide(f, &p->rest) : NULL;
    bool one = p->stride.n == 1 && p->stride.t[0].by == 1;
    struct str b = {.arena = f->a};
    str_addf(&b, one ? "(%s + %s) * %s" : "(%s + %s) * (%s)", names->first, names->row, stride);
    if (rest)
        str_addf(&b, " + %s", rest);
    if (!str_eq(from, "0"))
        str_addf(&b, " + %s", from);
    str_addf(&b, " + %s", names->column);
    return str_take(&b, f->a);
}

static void move_put(struct fill *fill, const char *section, struct detail *d, const struct row_place *p,
                     const struct names *names, const char *start)
{
    const struct function *f = d->rows.f;
    const struct part *part = part_of(d, p->pointer);
    struct fill *row = fill_row(fill, section);
    fill_put(row, "pointer", p->pointer->name);
    fill_put(row, "element", p->pointer->type);
    fill_putf(row, "zero", strchr(p->pointer->type, ' ') ? "(%s)0" : "%s()", p->pointer->type);
    fill_put(row, "part", part->name);
    fill_put(row, "held", part->held);
    fill_put(row, "index", index_text(f, p, names, names->from));
    fill_put(row, "first_index", index_text(f, p, names, start));
    fill_put(row, "next_index", index_text(f, p, names, names->until));
}

static const char *loop_text(struct detail *d, const struct staged_loop *l, const struct names *names)
{
    const struct function *f = d->rows.f;
    struct fill *fill = fill_open(f->a);
    bool loads = false, stores = false;
    struct node limit = l->turns.limit;
    int64_t start;
    bool aligned = constant_value(f, l->turns.start, &start) && start % names->columns == 0;
    const char *begin = node_is(l->turns.start, NODE_IDENTIFIER) || node_is(l->turns.start, NODE_NUMBER_LITERAL)
                            ? text_of(f, l->turns.start)
                            : arena_printf(f->a, "(%s)", text_of(f, l->turns.start));

    fill_put(fill, "type", l->turns.index->type);
    fill_put(fill, "start", begin);
    fill_put(fill, "before_first", str_eq(begin, "0") ? "" : arena_printf(f->a, "%s + ", begin));
    fill_put(fill, "limit",
             node_is(limit, NODE_IDENTIFIER) ? text_of(f, limit)
                                             : arena_printf(f->a, "(%s)", text_of(f, limit)));
    fill_put(fill, "from", names->from);
    fill_put(fill, "until", names->until);
    fill_put(fill, "lane", names->lane);
    fill_put(fill, "column", names->column);
    fill_put(fill, "row", names->row);
    fill_put(fill, "turn", names->turn);
    fill_putf(fill, "step", aligned ? "%d" : "%d - %s %% %d", names->columns, names->from, names->columns);
    fill_put(fill, "inside",
             names->inside
                 ? arena_printf(f->a, "%s + %s < %s && ", names->first, names->row, text_of(f, d->rows.bound))
                 : "");
    fill_putf(fill, "turns", "%d", names->columns); /* WARP rows, WARP / columns of them at once */
    fill_section(fill, "load");
    fill_section(fill, "store");
    for (const struct part *p = d->parts; p < d->parts + d->n_parts; p++) {
        const struct row_place *load = NULL, *store = NULL;
        for (size_t i = 0; i < l->places.n; i++)
            if (l->places.v[i].pointer == p->pointer) {
                const struct row_place *place = &l->places.v[i];
                load = place->store ? load : place;
                store = place->store || place->updates ? place : store;
            }
        if (load)
            move_put(fill, "load", d, load, names, begin);
        if (store)
            move_put(fill, "store", d, store, names, begin);
        loads = loads || load;
        stores = stores || store;
    }
    fill_if(fill, "loads", loads);
    fill_if(fill, "stores", stores);
    fill_put(fill, "loop", inner_text(d, l, names));
    return text_reindent(f->a, fill_file(fill, "cuda/rewrite/staged_loop.cu"),
                         (int)strlen(text_indent(f, node_start(l->turns.loop))));
}

static bool loop_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct detail d;
    struct str head = {.arena = a};

    if (!understood(f, &d, why_not))
        return false;
    struct names names = {.lane = fresh_local(f, "lane"),
                          .first = fresh_local(f, "warp_row"),
                          .from = fresh_local(f, "from"),
                          .until = fresh_local(f, "until"),
                          .inside = node_ok(d.rows.question) ? fresh_local(f, "inside") : NULL,
                          .columns = site->setting};
    bool whole = site->setting == WARP;
    const char *turn = fresh_local(f, "turn");
    names.turn = turn;
    names.column = whole ? names.lane : arena_printf(a, "%s %% %d", names.lane, site->setting);
    names.row =
        whole ? turn
              : arena_printf(a, "%s / %d + %s * %d", names.lane, site->setting, turn, WARP / site->setting);
    if (!fits(&d, site->setting))
        return err_input(why_not, "so many columns need more shared memory than a block has");
    for (const struct part *p = d.parts; p < d.parts + d.n_parts; p++)
        str_addf(&head, "\n    __shared__ %s %s[%lld][%lld];", p->pointer->type, p->name, (long long)f->block_x,
                 (long long)pitch_of(f, p, site->setting));
    str_addf(
        &head,
        "\n    const int %s = threadIdx.x %% %d;\n    const long long %s = (long long)blockIdx.x * %lld + threadIdx.x - "
        "%s;",
        names.lane, WARP, names.first, (long long)f->block_x, names.lane);
    edits_at(edits, node_start(f->body) + 1, str_text(&head));
    for (size_t i = 0; i < d.n; i++) {
        struct node loop = d.loops[i].turns.loop, before = node_prev(loop);
        edits_node(edits, loop, loop_text(&d, &d.loops[i], &names));
        if (node_is(before, NODE_PREPROC_CALL)) /* it was the turns' */
            edits_remove(edits, f, before);
    }
    if (names.inside)
        own_rows_stay(&d.rows, names.inside, d.last, d.goes_on, edits);
    return true;
}

const struct transform transform_stage_loop = {
    .name = "stage-loop",
    .summary =
        "a warp moves columns of the long rows that its threads walk by themselves through shared memory",
    .helps = "l2 dram latency issue order",
    .parameters = {{"columns", 1, 0, 2, {16, 32}}},
    .find = loop_find,
    .apply = loop_apply,
};
