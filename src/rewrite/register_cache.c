/* register-cache: what a thread reads (or writes) in one loop over the row and reads again in a later one stays
 * in registers. Both loops run over the same elements in the same steps, so a thread meets its own elements
 * again. The copy of the kernel holds a fixed number of steps; the launcher takes it for rows that are no
 * longer than that. With a setting above 100 the number is a template parameter, and the launcher takes the
 * smallest power of two that holds the row, up to setting - 100: steps that a row does not fill cost registers
 * and instructions. */
#include "rewrite/analysis.h"

enum { KEPT_MOST = 4, LOOPS_MOST = 8 };

struct kept {
    const char *pointer, *index; /* compact; the loop's own index is @ there, whatever its name */
    const struct variable *of;   /* what the pointer's name means: it may be assigned anew between the loops */
    const char *type, *value;    /* of one step, and the variable that holds it in the first loop */
    struct node after;           /* the statement of the first loop after which it is known */
    const char *name;
};

struct detail {
    const struct function *f;
    struct lane_loop loops[LOOPS_MOST];
    size_t n_loops;
    struct kept kept[KEPT_MOST];
    size_t n_kept;
    int bytes; /* of all that is kept in one step */
    int items;
    bool fitted; /* a template over the powers of two up to items */
};

enum { FITTED = 100 };

/* p[index] inside e: a subscript, or one behind packed_load / packed_store. */
static struct node addressed(const struct function *f, struct node e)
{
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION))
        return e;
    struct node none = {0}, args = node_field(e, FIELD_ARGUMENTS);
    if (!node_is(e, NODE_CALL_EXPRESSION) || node_count(args) == 0)
        return none;
    struct node first = node_child(args, 0);
    if (!node_is_address(f, first))
        return none;
    struct node target = node_field(first, FIELD_ARGUMENT);
    return node_is(target, NODE_SUBSCRIPT_EXPRESSION) ? target : none;
}

/* An expression of the loop without the names that are its own: its index is @, and what it declares once
 * stands for its value. */
static char *canonical(const struct function *f, const struct lane_loop *l, struct node e, int depth)
{
    struct edits edits = {.arena = f->a};
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        bool own = v && v->from >= node_start(l->body) && v->from < node_end(l->body);
        if (v == l->index)
            edits_node(&edits, *name, "@");
        else if (own && node_ok(v->init) && !v->assignments && !v->array && depth < 4)
            edits_node(&edits, *name, arena_printf(f->a, "(%s)", canonical(f, l, v->init, depth + 1)));
    }
    return text_compact(f->a, edits_range(&edits, f, node_start(e), node_end(e)));
}

static bool is_at(const struct function *f, const struct lane_loop *l, struct node e, const struct kept *k)
{
    struct node s = addressed(f, e);
    return node_ok(s) && node_text_is(f->s, node_field(s, FIELD_ARGUMENT), k->pointer) &&
           function_variable_of(f, node_field(s, FIELD_ARGUMENT)) == k->of &&
           str_eq(canonical(f, l, node_field(s, FIELD_INDICES), 0), k->index);
}

static bool is_load(const struct function *f, struct node e, int width)
{
    if (width > 1) {
        struct node callee = node_field(e, FIELD_FUNCTION);
        return node_is(e, NODE_CALL_EXPRESSION) && node_is(callee, NODE_TEMPLATE_FUNCTION) &&
               str_starts(text_of(f, node_field(callee, FIELD_NAME)), "packed_load");
    }
    struct node parent = node_parent(e);
    return node_is(e, NODE_SUBSCRIPT_EXPRESSION) && !node_is(parent, NODE_POINTER_EXPRESSION) &&
           !(node_is(parent, NODE_ASSIGNMENT_EXPRESSION) && node_same(node_field(parent, FIELD_LEFT), e)) &&
           !node_is(parent, NODE_UPDATE_EXPRESSION) && !node_is(parent, NODE_SUBSCRIPT_EXPRESSION);
}

/* Loads of elements in a loop; behind the last stands no node. */
static struct node *loads_of(const struct function *f, const struct lane_loop *l)
{
    struct node *all = nodes_of(f, l->body, l->width > 1 ? NODE_CALL_EXPRESSION : NODE_SUBSCRIPT_EXPRESSION),
                *end = all;
    for (struct node *x = all; node_ok(*x); x++)
        if (is_load(f, *x, l->width))
            *end++ = *x;
    *end = (struct node){0};
    return all;
}

/* In the loop's own statements, the variable that equals p[index] when the turn ends. */
static bool value_in(const struct function *f, const struct lane_loop *l, struct kept *k)
{
    bool found = false;
    for (struct node *statement = named_children(f, l->body, NULL);
         node_is(l->body, NODE_COMPOUND_STATEMENT) && node_ok(*statement); statement++) {
        struct node value = {0};
        if (node_is(*statement, NODE_EXPRESSION_STATEMENT)) {
            struct node e = node_child(*statement, 0);
            if (node_is_assignment(f, e, "=") && is_at(f, l, node_field(e, FIELD_LEFT), k))
                value = node_field(e, FIELD_RIGHT);
            else if (l->width > 1 && str_starts(text_of(f, e), "packed_store") && is_at(f, l, e, k))
                value = node_child(node_field(e, FIELD_ARGUMENTS), 1);
            else
                continue;
            const struct variable *v = function_variable_of(f, value);
            if (!v)
                return false; /* written, but the value has no name */
            k->value = v->name;
            k->type = v->type;
            k->after = *statement;
            found = true;
        } else if (node_is(*statement, NODE_DECLARATION) && !found) {
            struct node d = node_field(*statement, FIELD_DECLARATOR);
            struct node init = node_is(d, NODE_INIT_DECLARATOR) ? node_field(d, FIELD_VALUE) : (struct node){0};
            const struct variable *v =
                node_ok(init) ? function_variable_of(f, node_field(d, FIELD_DECLARATOR)) : NULL;
            if (!v || !is_load(f, init, l->width) || !is_at(f, l, init, k) || v->assignments)
                continue;
            k->value = v->name;
            k->type = v->type;
            k->after = *statement;
            found = true;
        }
    }
    return found;
}

static bool alike(const struct function *f, const struct lane_loop *x, const struct lane_loop *y)
{
    struct poly a = poly_of(f, x->start), b = poly_of(f, y->start), c = poly_of(f, x->step),
                d = poly_of(f, y->step);
    return poly_same(&a, &b) && poly_same(&c, &d) && x->width == y->width && x->span == y->span &&
           node_same(node_parent(x->loop), node_parent(y->loop)) &&
           str_eq(text_compact(f->a, text_of(f, x->bound)), text_compact(f->a, text_of(f, y->bound)));
}

/* Written by anything but the first loop, and the last one that reads it? */
static bool written_between(const struct function *f, const struct kept *k, struct node from, struct node last)
{
    struct node parent = node_parent(from);
    for (struct node *child = named_children(f, parent, NULL); node_ok(*child); child++)
        if (node_start(*child) > node_start(from) && node_start(*child) < node_start(last) &&
            memory_written_in(f, k->pointer, *child))
            return true;
    return false;
}

static bool collect(const struct function *f, struct detail *d, struct err *why)
{
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    d->f = f;
    for (size_t first = 0; first + 1 < n && d->n_kept == 0; first++) {
        const struct lane_loop *l = &loops[first];
        if ((l->span != LANES_BLOCK && l->span != LANES_WARP) || calls_barrier(f, l->body))
            continue;
        d->n_loops = 0;
        d->bytes = 0;
        d->loops[d->n_loops++] = *l;
        for (size_t later = first + 1; later < n && d->n_loops < LOOPS_MOST; later++) {
            if (!alike(f, l, &loops[later]) || calls_barrier(f, loops[later].body))
                continue;
            bool uses = false;
            for (struct node *load = loads_of(f, &loops[later]); node_ok(*load); load++) {
                struct node s = addressed(f, *load);
                if (!node_ok(s))
                    continue;
                const struct variable *pointer = function_variable_of(f, node_field(s, FIELD_ARGUMENT));
                struct kept k = {.pointer = text_of(f, node_field(s, FIELD_ARGUMENT)),
                                 .of = pointer,
                                 .index = canonical(f, &loops[later], node_field(s, FIELD_INDICES), 0)};
                bool known = false;
                for (size_t j = 0; j < d->n_kept; j++)
                    known = known || is_at(f, &loops[later], s, &d->kept[j]);
                if (known && written_between(f, &k, l->loop, loops[later].loop)) {
                    uses = false; /* it has changed since */
                    break;
                }
                if (known) {
                    uses = true;
                    continue;
                }
                if (!pointer || pointer->shared || d->n_kept == KEPT_MOST || !value_in(f, l, &k) ||
                    written_between(f, &k, l->loop, loops[later].loop))
                    continue;
                int size = ctype_size(f, pointer->type); /* of a struct it is not known: as a vector's */
                d->bytes += size ? size * l->width : 16;
                d->kept[d->n_kept++] = k;
                uses = true;
            }
            if (uses)
                d->loops[d->n_loops++] = loops[later];
        }
    }
    if (d->n_kept == 0)
        return err_input(why, "nothing that %s reads in one loop is read again in a later one", f->name);
    if (f->n_launches == 0 || !(d->fitted ? !function_is_named_elsewhere(f) : function_may_be_copied(f)))
        return err_input(why, "%s is used other than by launches", f->name);
    return launches_tell(f, d->loops[0].bound) ||
           err_input(why, "the launcher cannot tell the length of a row");
}

/* The most threads of any planned block of the kernel; 0: not known. */
static int64_t most_threads(const struct function *f)
{
    int64_t most = f->block_x;
    for (const struct plan_step *s = NULL; !f->block_x && (s = planned_launch(f, s));)
        if (s->block[1] == 1 && s->block[2] == 1)
            most = MAX(most, (int64_t)s->block[0]);
    return most;
}

/* The most bytes that a thread may keep: a block of as many threads as any launch may have still starts, with
 * some registers left for everything else. */
static int room_of_block(const struct function *f)
{
    int64_t threads = f->block_x;
    if (!threads && !constant_value(f, launch_bound(f), &threads))
        threads = 1024;
    return (int)MIN(4 * (65536 / MAX(threads, 1) - 24), 256);
}

static void cache_find(struct function *f, struct site_list *found)
{
    struct detail one = {0};
    if (!collect(f, &one, NULL))
        return;
    const struct transform_fact *fact =
        fact_of(f->in, launch_expression(f, &f->launches[0], one.loops[0].bound));
    bool warp = one.loops[0].span == LANES_WARP;
    int64_t threads = most_threads(f), step = (int64_t)one.loops[0].width * (warp ? 32 : threads);
    int room = threads ? (int)MIN(131072 / threads, 256) : 256; /* half of a thread's registers */
    int holds = 1; /* the fewest steps that hold every workload's row */
    while (fact && step && holds < 16 && 2 * holds * one.bytes <= room && holds * step < fact->high)
        holds *= 2;
    const int own[] = {FITTED + holds, 1, 2, 4, 8, 16};
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING;
         setting++) {
        int items = *setting % FITTED;
        one.fitted = *setting > FITTED;
        if (items * one.bytes > room_of_block(f) || (one.fitted && (items == 1 || (items & (items - 1)))))
            continue;
        if (fact && step && fact->low > 0 && fact->low > items * step)
            continue; /* no workload's row is that short */
        if (fact && (f->block_x || warp) && fact->high > 0 && items > 1 && items / 2 * step >= fact->high)
            continue; /* fewer do */
        one.items = items;
        site_add(found, f, one.loops[1].loop, *setting,
                 "the row is read again from memory; registers hold it between the loops", "%s%s, %s %d steps",
                 one.kept[0].pointer, one.n_kept > 1 ? " and more" : "",
                 one.fitted ? "as many as a row needs of" : "up to", items)
            ->detail = arena_copy(f->a, &one, sizeof(one));
    }
}

/* A loop over lanes with a fixed number of steps; steps: their number as the copy writes it. */
static void loop_edit(const struct detail *d, size_t which, const char *item, const char *steps,
                      struct edits *edits)
{
    const struct function *f = d->f;
    const struct lane_loop *l = &d->loops[which];
    struct edits inside = {.arena = f->a};
    for (size_t k = 0; k < d->n_kept; k++) {
        if (which == 0) {
            edits_at(&inside, node_end(d->kept[k].after),
                     arena_printf(f->a, "\n%s%s[%s] = %s;", text_indent(f, node_start(d->kept[k].after)),
                                  d->kept[k].name, item, d->kept[k].value));
            continue;
        }
        for (struct node *load = loads_of(f, l); node_ok(*load); load++)
            if (is_at(f, l, *load, &d->kept[k]))
                edits_node(&inside, *load, arena_printf(f->a, "%s[%s]", d->kept[k].name, item));
    }
    char *body = edits_range(&inside, f, node_start(l->body), node_end(l->body));
    char *indent = text_indent(f, node_start(l->loop));
    bool block = node_is(l->body, NODE_COMPOUND_STATEMENT);
    struct node step = node_strip(l->step);
    bool product = node_is(step, NODE_IDENTIFIER) || node_is(step, NODE_FIELD_EXPRESSION) ||
                   node_is(step, NODE_NUMBER_LITERAL) || node_is_binary(f, step, "*");
    struct node before = node_prev(l->loop);
    bool pragma = node_is(before, NODE_PREPROC_CALL);
    size_t start = pragma ? node_start(before) : str_line_start(f->text, node_start(l->loop));
    const char *arrays = "", *by = text_of(f, l->step);
    for (size_t k = 0; which == 0 && k < d->n_kept; k++)
        arrays = arena_printf(f->a, "%s%s%s%s %s[%s]; // read again below", arrays, k ? "\n" : "", indent,
                              d->kept[k].type, d->kept[k].name, steps);
    const struct fill_slot slots[] = {
        {"arrays", arrays},
        {"indent", indent},
        {"item", item},
        {"steps", steps},
        {"type", l->index->type},
        {"index", l->index->name},
        {"start", text_of(f, l->start)},
        {"step", product ? by : arena_printf(f->a, "(%s)", by)},
        {"bound", text_of(f, l->bound)},
        {"gap", block ? " " : arena_printf(f->a, "\n%s        ", indent)},
        {"body", text_reindent(f->a, body, 4)},
    };
    edits_try(edits, start, node_end(l->loop),
              fill_share(f->a, "cuda/rewrite/kept_loop.cu", slots, ARRAY_LEN(slots)));
}

/* The launch of the copy, with its number of steps where that is a template argument. */
static char *fast_launch(const struct detail *d, const struct launch *l, const char *name, const char *threads,
                         int steps, int column)
{
    const struct function *f = d->f;
    struct arena *a = f->a;
    char *text = launch_text(f, l, name, NULL, threads);
    if (!d->fitted)
        return text_wrap(a, text, column);
    const char *at = text + (node_start(l->name) - node_start(l->statement)) + strlen(name);
    bool args = node_ok(l->template_args) && !f->special;
    char *head = arena_strndup(a, text, (size_t)(at - text));
    return text_wrap(a,
                     args ? arena_printf(a, "%s<%d, %s", head, steps, at + 1)
                          : arena_printf(a, "%s<%d>%s", head, steps, at),
                     column);
}

/* The kernel's copy with its loops written for `steps`. */
static char *copy_write(const struct detail *d, const char *name, const char *steps, struct err *why_not)
{
    const struct function *f = d->f;
    struct edits inside = {.arena = f->a};
    const char *item = fresh_local(f, "item");
    for (size_t i = 0; i < d->n_loops; i++)
        loop_edit(d, i, item, steps, &inside);
    bool template = node_is(f->whole, NODE_TEMPLATE_DECLARATION) && !f->special;
    if (d->fitted && template)
        edits_at(&inside, node_start(node_field(f->whole, FIELD_PARAMETERS)) + 1,
                 arena_printf(f->a, "int %s, ", steps)); /* what arguments tell is last */
    char *copy = function_copy(&inside, f, name, why_not);
    return copy && d->fitted && !template ? arena_printf(f->a, "template <int %s>\n%s", steps, copy) : copy;
}

/* Blocks stay as many as fit beside each other, as long as what is kept leaves the registers for it: the
 * compiler would take a few more and halve them. */
static char *with_bounds(const struct detail *d, const char *name, const char *steps, char *copy)
{
    const struct function *f = d->f;
    int64_t most = most_threads(f),
            threads = most == 1024 ? most : f->block_x; /* no launch has more than 1024 */
    int64_t all = f->in->limits ? f->in->limits->max_threads_per_sm : 0;
    int full = 64 / d->bytes; /* steps in 16 registers, half of what a full SM's threads have */
    char *at = strstr(copy, name);
    if (!at || threads < 128 || threads > 1024 || all % threads != 0 || full < 1 ||
        strstr(copy, "__launch_bounds__") || (!d->fitted && d->items > full))
        return copy;
    const char *blocks = arena_printf(f->a, "%d", (int)(all / threads));
    if (d->fitted && d->items > full)
        blocks = arena_printf(f->a, "%s <= %d ? %s : 1", steps, full, blocks);
    return arena_printf(f->a, "%.*s__launch_bounds__(%d, %s)\n    %s", (int)(at - copy), copy, (int)threads,
                        blocks, at);
}

static bool cache_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    struct arena *a = f->a;
    struct detail *d = arena_copy(a, site->detail, sizeof(struct detail));
    for (size_t k = 0; k < d->n_kept; k++)
        d->kept[k].name = fresh_local(f, arena_printf(a, "%s_kept", d->kept[k].pointer));
    char *name = fresh_name(f, d->fitted ? arena_printf(a, "%s_keep", f->name)
                                         : arena_printf(a, "%s_keep%d", f->name, d->items));
    const char *steps = d->fitted ? fresh_local(f, "STEPS") : arena_printf(a, "%d", d->items);
    char *copy = copy_write(d, name, steps, why_not);
    if (!copy)
        return false;
    edits_attributes(edits, f, name);
    edits_beside(edits, f,
                 arena_printf(a, "with a row of at most %s steps of the block kept in registers",
                              d->fitted ? "that many" : steps),
                 with_bounds(d, name, steps, copy));
    for (size_t i = 0; i < f->n_launches; i++) {
        const struct launch *l = &f->launches[i];
        char *bound = launch_expression(f, l, d->loops[0].bound), *block = launch_threads(f, l);
        char *indent = text_indent(f, node_start(l->statement));
        const char *threads = block, *own = NULL; /* a name for the number, which the launches then have */
        struct str b = {0};
        bool bare = !node_is(node_parent(l->statement), NODE_COMPOUND_STATEMENT);
        if (bare)
            str_addf(&b, "{\n%s", indent);
        const char *lanes = d->loops[0].span == LANES_WARP ? "32" : NULL; /* that share the row */
        if (!lanes &&
            !node_is(l->block, NODE_IDENTIFIER)) { /* so that the guard and the launches cannot disagree */
            threads = own = fresh_name(f, i ? arena_printf(a, "threads_%zu", i + 1) : "threads");
            str_addf(&b, "const int %s = %s;\n%s", threads, block, indent);
        }
        int column = (int)strlen(indent) + 4;
        if (d->fitted)
            str_addf(&b, "// The registers hold the row, in as few steps as it takes.\n%s", indent);
        for (int count = d->fitted ? 1 : d->items; count <= d->items; count *= 2)
            str_addf(&b, "if (%s <= %d * %s) {%s\n%s    %s\n%s} else ", bound, count * d->loops[0].width,
                     lanes ? lanes : threads, d->fitted ? "" : " // the registers hold the row", indent,
                     fast_launch(d, l, name, own, count, column), indent);
        str_addf(&b, "{\n%s    %s\n%s}", indent, text_wrap(a, launch_text(f, l, NULL, NULL, own), column),
                 indent);
        if (bare)
            str_addf(&b, "\n%s}", indent);
        edits_node(edits, l->statement, str_text(&b));
        str_free(&b);
    }
    return true;
}

static const char *cache_words(struct arena *a, int setting)
{
    return setting > FITTED ? arena_printf(a, "up to %d", setting - FITTED) : NULL;
}

const struct transform transform_register_cache = {
    .name = "register-cache",
    .alias = "keep",
    .summary = "keep a row that is read again in registers between two loops, for rows short enough",
    .helps = "latency dram l2",
    .setting_words = cache_words,
    .parameters = {{"steps", 1, FITTED, 9, {1, 2, 3, 4, 5, 6, 8, 12, 16}}, {"fitted", FITTED, 0, 2, {0, 1}}},
    .find = cache_find,
    .apply = cache_apply,
};
