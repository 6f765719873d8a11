/* drop-grid-stride: where the grid reaches all the work, loops in steps of the grid have one turn, so a copy of
 * the kernel does without them: fewer instructions and constants stand before the first load, which is what a
 * small launch waits for. The launcher takes the copy where the grid is large enough. With setting 1 the copy's
 * grid has x and y exchanged: blocks that start together then work on neighbouring columns of a row, not on the
 * same columns of rows far apart. */
#include "rewrite/analysis.h"

enum { TURNS_MOST = 4, GRID_YZ_MOST = 65535 };

/* One loop that goes: its lanes, or the rows that the grid walks. */
struct turn {
    struct node loop, body;
    const char *type, *index;
    struct node start, bound;
    char axis; /* x or y: of the grid */
    int width; /* elements a thread, of a loop over lanes; 0: a loop over the grid's blocks */
};

struct detail {
    const struct function *f;
    struct turn turns[TURNS_MOST];
    size_t n_turns;
    bool swap;
};

static bool has_jump(struct node n)
{
    if (node_is(n, NODE_BREAK_STATEMENT) || node_is(n, NODE_CONTINUE_STATEMENT))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++) {
        struct node c = node_child(n, i);
        if (!node_is_loop(c) && !node_is(c, NODE_LAMBDA_EXPRESSION) && has_jump(c))
            return true;
    }
    return false;
}

/* for (row = blockIdx.x; row < rows; row += gridDim.x) */
static bool grid_loop_of(const struct function *f, struct node n, struct turn *t)
{
    struct node declaration = node_field(n, FIELD_INITIALIZER), condition = node_field(n, FIELD_CONDITION),
                update = node_field(n, FIELD_UPDATE), declarator = node_field(declaration, FIELD_DECLARATOR);
    if (!node_is(declaration, NODE_DECLARATION) || !node_is(declarator, NODE_INIT_DECLARATOR) ||
        !node_is_binary(f, condition, "<") || !node_is_assignment(f, update, "+="))
        return false;
    const struct variable *v = function_variable_of(f, node_field(declarator, FIELD_DECLARATOR));
    if (!v || !ctype_is_integer(f, v->type) ||
        !node_text_is(f->s, node_field(condition, FIELD_LEFT), v->name) ||
        !node_text_is(f->s, node_field(update, FIELD_LEFT), v->name))
        return false;
    *t = (struct turn){.loop = n,
                       .body = node_field(n, FIELD_BODY),
                       .type = v->type,
                       .index = v->name,
                       .start = node_field(declarator, FIELD_VALUE),
                       .bound = node_field(condition, FIELD_RIGHT)};
    struct poly start = poly_of(f, t->start), step = poly_of(f, node_field(update, FIELD_RIGHT));
    for (const char *axis = "xy"; *axis; axis++) {
        struct poly block = poly_atom(f, *axis == 'x' ? "blockIdx.x" : "blockIdx.y"),
                    grid = poly_atom(f, *axis == 'x' ? "gridDim.x" : "gridDim.y");
        if (poly_same(&start, &block) && poly_same(&step, &grid) && !variable_assigned_in(f, v, t->body)) {
            t->axis = *axis;
            return true;
        }
    }
    return false;
}

static bool turn_of(const struct function *f, struct node n, struct turn *t)
{
    struct lane_loop l;
    if (lane_loop_of(f, n, &l)) {
        if (l.span == LANES_BLOCK || l.span == LANES_WARP || l.span == LANES_ROW_Z || calls_barrier(f, l.body))
            return false;
        *t = (struct turn){.loop = n,
                           .body = l.body,
                           .type = l.index->type,
                           .index = l.index->name,
                           .start = l.start,
                           .bound = l.bound,
                           .axis = l.span == LANES_GRID_X ? 'x' : 'y',
                           .width = l.width};
    } else if (!grid_loop_of(f, n, t)) {
        return false;
    }
    return !has_jump(t->body) && expression_is_invariant(f, t->bound, n);
}

/* Does a function that is no kernel ask where its block stands? Then it would have to change along. */
static bool others_know_the_grid(const struct function *f)
{
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++) {
        char *text = text_of(f, *definition);
        if (!str_has_word(
                text_range(f, node_start(*definition), node_start(node_field(*definition, FIELD_BODY))),
                "__global__") &&
            (str_has_word(text, "blockIdx") || str_has_word(text, "gridDim")))
            return true;
    }
    return false;
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    d->f = f;
    d->n_turns = 0;
    if (f->n_launches == 0 || !function_may_be_copied(f))
        return err_input(why, "%s is used other than by launches", f->name);
    if (str_has_word(text_of(f, f->definition), "__cluster_dims__"))
        return err_input(why, "the blocks of %s meet in clusters", f->name);
    for (struct node *one = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*one); one++) {
        struct turn t;
        if (d->n_turns < TURNS_MOST && turn_of(f, *one, &t))
            d->turns[d->n_turns++] = t;
    }
    for (size_t l = 0; l < f->n_launches; l++) {
        char *x, *y;
        if (!launch_grid_x(f, &f->launches[l], &x) || !launch_grid_y(f, &f->launches[l], &y))
            return err_input(why, "the grid is not understood");
        for (size_t i = 0; i < d->n_turns; i++)
            if (!launch_expression(f, &f->launches[l], d->turns[i].bound))
                return err_input(why, "the launcher cannot tell how long the loop at line %d is",
                                 node_line(f->s, d->turns[i].loop));
    }
    return true;
}

/* Both dimensions of the grid are in use, and exchanging them is a matter of this kernel's text alone. */
static bool swaps(const struct function *f)
{
    char *body = text_of(f, f->body);
    if (!str_has_word(body, "blockIdx.x") || !str_has_word(body, "blockIdx.y") ||
        str_has_word(body, "blockIdx.z") || others_know_the_grid(f) || strstr(f->name, "_once") ||
        strstr(f->name, "_swapped")) /* its own work */
        return false;
    for (size_t l = 0; l < f->n_launches; l++)
        if (launch_grid_is_line(f, &f->launches[l]))
            return false;
    return true;
}

static void stride_find(struct function *f, struct site_list *found)
{
    struct detail one = {0};
    if (!understood(f, &one, NULL))
        return;
    for (int swap = 1; swap >= 0; swap--) {
        if (swap ? !swaps(f) : one.n_turns == 0)
            continue;
        one.swap = swap;
        site_add(found, f, one.n_turns ? one.turns[0].loop : f->definition, swap,
                 one.n_turns ? "the grid reaches everything in one turn; the loop is only instructions "
                               "before the first load"
                             : "blocks that start together work on neighbouring memory when x and y of "
                               "the grid change places",
                 "%zu loop%s over the grid%s", one.n_turns, one.n_turns == 1 ? "" : "s",
                 swap ? ", x and y of the grid exchanged" : "")
            ->detail = arena_copy(f->a, &one, sizeof(one));
    }
}

/* Names that the body declares itself and the rest of the function has too. */
static bool names_meet(const struct function *f, const struct turn *t)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        bool own = v->from >= node_start(t->loop) && v->from < node_end(t->loop);
        for (const struct variable *w = f->variables; own && w < f->variables + f->n_variables; w++)
            if ((w->from < node_start(t->loop) || w->from >= node_end(t->loop)) && str_eq(v->name, w->name))
                return true;
    }
    return false;
}

/* Does the loop, with which the kernel ends, move pointers that the kernel is given? */
static bool moves_parameter(const struct function *f, struct node loop)
{
    size_t n;
    struct node *all = named_children(f, node_field(loop, FIELD_BODY), &n), next = node_next(loop);
    while (node_is(next, NODE_COMMENT))
        next = node_next(next);
    for (size_t i = 0; i < n && !node_ok(next) && node_same(node_parent(loop), f->body); i++) {
        struct node target = assigned_target(statement_expression(all[i]));
        const struct variable *v = node_is(target, NODE_IDENTIFIER) ? function_variable_of(f, target) : NULL;
        if (v && v->param && v->pointer)
            return true;
    }
    return false;
}

/* The text of the loop's one turn, loops inside it likewise. exact: the grid is just as large as the bound. */
static char *turn_text(const struct detail *d, const struct turn *t, const bool *exact)
{
    const struct function *f = d->f;
    struct arena *a = f->a;
    struct edits inside = {.arena = a};
    for (const struct turn *u = d->turns; u < d->turns + d->n_turns; u++) {
        struct node up = u->loop;
        bool nearest = false; /* no other turn between */
        while (node_ok(up = node_parent(up)) && !nearest) {
            if (node_same(up, t->loop)) {
                nearest = true;
                break;
            }
            bool other = false;
            for (size_t k = 0; k < d->n_turns; k++)
                other = other || node_same(up, d->turns[k].loop);
            if (other)
                break;
        }
        if (nearest)
            edits_node(&inside, u->loop, turn_text(d, u, exact));
    }
    char *body = edits_range(&inside, f, node_start(t->body), node_end(t->body));
    char *indent = text_indent(f, node_start(t->loop)), *start = text_of(f, t->start);
    bool block = node_is(t->body, NODE_COMPOUND_STATEMENT);
    bool alone = node_is(node_parent(t->loop), NODE_COMPOUND_STATEMENT) && !names_meet(f, t);
    bool sure = exact[t - d->turns];
    if (sure && block && alone) { /* nothing to ask, and the braces go */
        char *inner = text_trim(arena_strndup(a, body + 1, strlen(body) - 2));
        return arena_printf(a, "const %s %s = %s;%s", t->type, t->index, start, text_reindent(a, inner, -4));
    }
    const char *ask = "", *gap = "";
    if (block && alone && moves_parameter(f, t->loop)) { /* what is moved is another pointer from there on */
        char *inner = text_trim(arena_strndup(a, body + 1, strlen(body) - 2));
        int deeper = (int)strlen(text_indent(f, node_start(node_child(t->body, 0)))) - (int)strlen(indent);
        return arena_printf(a, "const %s %s = %s;\n%sif (%s >= %s)\n%s    return;\n%s%s", t->type, t->index,
                            start, indent, t->index, text_of(f, t->bound), indent, indent,
                            text_reindent(a, inner, -deeper));
    }
    if (!sure) {
        ask = arena_printf(a, "if (%s < %s)", t->index, text_of(f, t->bound));
        const char *deeper = alone ? "    " : "        ";
        gap = block ? " " : arena_printf(a, "\n%s%s", indent, deeper);
    }
    if (alone)
        return arena_printf(a, "const %s %s = %s;\n%s%s%s%s", t->type, t->index, start, indent, ask, gap, body);
    return arena_printf(a, "{\n%s    const %s %s = %s;\n%s    %s%s%s\n%s}", indent, t->type, t->index, start,
                        indent, ask, gap, text_reindent(a, body, 4), indent);
}

/* x and y of blockIdx and gridDim change places. */
static char *exchanged(struct arena *a, const char *text)
{
    static const char *const names[] = {"blockIdx.", "gridDim."};
    char *out = arena_strdup(a, text);
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        for (char *p = out; (p = strstr(p, names[k])); p += strlen(names[k])) {
            char *axis = p + strlen(names[k]);
            if (*axis == 'x' || *axis == 'y')
                *axis = *axis == 'x' ? 'y' : 'x';
        }
    return out;
}

/* A launcher's name stands for what it was declared with. */
static const char *seen_through(const struct function *f, const struct launch *l, const char *text)
{
    for (int depth = 0; depth < 4; depth++) {
        const char *next = NULL;
        for (struct node *declarator = nodes_of(f, l->host, NODE_INIT_DECLARATOR);
             node_ok(*declarator) && !next; declarator++)
            if (node_text_is(f->s, node_field(*declarator, FIELD_DECLARATOR), text))
                next = text_of(f, node_strip(node_field(*declarator, FIELD_VALUE)));
        if (!next)
            break;
        text = next;
    }
    return text;
}

static bool grid_is_bound(const struct function *f, const struct launch *l, const struct turn *t)
{
    char *size;
    if (t->width != 0 || !(t->axis == 'x' ? launch_grid_x : launch_grid_y)(f, l, &size))
        return false;
    const char *written = launch_grid_part(f, l, t->axis == 'y');
    return written && str_eq(text_compact(f->a, seen_through(f, l, written)),
                             text_compact(f->a, launch_expression(f, l, t->bound)));
}

/* That the grid, as the launch has it, reaches everything. */
static void guards(const struct detail *d, const struct launch *l, struct guard_list *g)
{
    const struct function *f = d->f;
    char *x, *y;
    launch_grid_x(f, l, &x);
    launch_grid_y(f, l, &y);
    for (const struct turn *t = d->turns; t < d->turns + d->n_turns; t++) {
        const char *size = t->axis == 'x' ? x : y, *bound = launch_expression(f, l, t->bound);
        if (grid_is_bound(f, l, t))
            continue;
        char *block;
        if (!launch_block_x(f, l, &block)) /* {32, 8, 1} */
            block = arena_printf(f->a, "(%s)", launch_threads(f, l));
        if (t->width == 0)
            guard_add(f->a, g, arena_printf(f->a, "(int64_t)%s >= %s", size, bound));
        else if (t->width == 1)
            guard_add(f->a, g, arena_printf(f->a, "(int64_t)%s * %s >= %s", size, block, bound));
        else
            guard_add(f->a, g, arena_printf(f->a, "(int64_t)%s * %s * %d >= %s", size, block, t->width, bound));
    }
    if (d->swap)
        guard_add(f->a, g, arena_printf(f->a, "%s <= %d", x, GRID_YZ_MOST));
}

static bool stride_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    const struct detail *d = site->detail;
    struct arena *a = f->a;
    struct edits inside = {.arena = a};
    bool exact[TURNS_MOST];
    for (size_t i = 0; i < d->n_turns; i++) {
        exact[i] = true;
        for (size_t l = 0; l < f->n_launches; l++)
            exact[i] = exact[i] && grid_is_bound(f, &f->launches[l], &d->turns[i]);
    }
    for (size_t i = 0; i < d->n_turns; i++) {
        bool within = false;
        for (size_t k = 0; k < d->n_turns; k++)
            within = within || (k != i && node_within(d->turns[i].loop, d->turns[k].loop));
        if (!within)
            edits_node(&inside, d->turns[i].loop, turn_text(d, &d->turns[i], exact));
    }
    char *name = fresh_name(f, arena_printf(a, d->n_turns ? "%s_once" : "%s_swapped", f->name));
    char *copy = function_copy(&inside, f, name, why_not);
    if (!copy)
        return false;
    edits_attributes(edits, f, name);
    edits_beside(edits, f,
                 arena_printf(a, "for a grid%s%s%s", d->n_turns ? " that reaches everything in one turn" : "",
                              d->swap && d->n_turns ? "," : "", d->swap ? " with x and y exchanged" : ""),
                 d->swap ? exchanged(a, copy) : copy);
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        struct guard_list g = {0};
        guards(d, l, &g);
        char *x, *y;
        launch_grid_x(f, l, &x);
        launch_grid_y(f, l, &y);
        char *fast = launch_text(f, l, name, d->swap ? arena_printf(a, "dim3(%s, %s)", y, x) : NULL, NULL);
        if (g.list.n == 0)
            edits_node(edits, l->statement, text_wrap(a, fast, launch_column(f, l) + 4));
        else
            edits_guard_launch(edits, f, l,
                               d->n_turns ? "The grid reaches everything in one turn."
                                          : "Neighbouring blocks take neighbouring columns.",
                               guard_join(f, &g, l), fast);
    }
    if (d->n_turns)
        edits_include(edits, f, "<cstdint>", "<stdint.h>");
    return true;
}

const struct transform transform_drop_grid_stride = {
    .name = "drop-grid-stride",
    .alias = "once",
    .summary =
        "drop loops in steps of the grid where the grid reaches everything, or exchange x and y of the grid",
    .helps = "launch latency dram",
    .reveals = true,
    .parameters = {{"exchange", 1, 0, 2, {0, 1}}},
    .find = stride_find,
    .apply = stride_apply,
};
