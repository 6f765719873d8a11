/* The statements of a region for N neighbouring elements: what elements.c and elements_step.c found, written.
 */
#include "rewrite/elements.h"

static bool needs_brackets(struct node e)
{
    struct node parent = node_parent(e);
    return !node_is(parent, NODE_SUBSCRIPT_ARGUMENT_LIST) && !node_is(parent, NODE_ARGUMENT_LIST) &&
           !node_is(parent, NODE_PARENTHESIZED_EXPRESSION) && !node_is(parent, NODE_INIT_DECLARATOR);
}

static void per_element(struct elements *w, struct node e, struct node top, struct edits *edits)
{
    const struct function *f = w->f;
    struct reached p;
    int part;
    struct access *access = element_reached(f, e, &p) ? elements_access(w, &p, top, &part) : NULL;
    if (access) {
        const char *first = access->by > 1 ? arena_printf(f->a, "%d * %s", access->by, w->lane) : w->lane;
        char *text = arena_printf(f->a, part ? "%s.at[%s + %d]" : "%s.at[%s]", access->name, first, part);
        if (!node_ok(p.value)) {
            edits_node(edits, e, text);
            return;
        }
        edits_try(edits, node_start(e), node_start(p.value), arena_printf(f->a, "%s = ", text));
        per_element(w, p.value, top, edits);
        edits_try(edits, node_end(p.value), node_end(e), "");
        return;
    }
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (v && elements_is_spread(w, v))
            edits_node(edits, e, arena_printf(f->a, "%s[%s]", v->name, w->lane));
        else if (v && elements_by(w, e) && node_start(e) != v->from) {
            int64_t by = elements_by(w, e);
            char *text = by == 1 ? arena_printf(f->a, "%s + %s", v->name, w->lane)
                                 : arena_printf(f->a, "%s + %lld * %s", v->name, (long long)by, w->lane);
            edits_node(edits, e, needs_brackets(e) ? arena_printf(f->a, "(%s)", text) : text);
        }
        return;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        per_element(w, node_child(e, i), top, edits);
}

/* A pointer that goes on from element to element would do so for each of the n. */
static bool moves_pointer(const struct function *f, struct node n)
{
    const struct variable *v = function_variable_of(f, assigned_target(n));
    if (v && v->pointer)
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (moves_pointer(f, node_child(n, i)))
            return true;
    return false;
}

bool elements_leave(struct node n, bool in_loop)
{
    if (node_is(n, NODE_RETURN_STATEMENT) || node_is(n, NODE_GOTO_STATEMENT) ||
        node_is(n, NODE_CO_RETURN_STATEMENT))
        return true;
    if ((node_is(n, NODE_BREAK_STATEMENT) || node_is(n, NODE_CONTINUE_STATEMENT)) && !in_loop)
        return true;
    in_loop = in_loop || node_is_loop(n) || node_is(n, NODE_SWITCH_STATEMENT);
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (elements_leave(node_child(n, i), in_loop))
            return true;
    return false;
}

/* Everything in it is the same for all elements, and it does not touch what varies. */
static bool wholly_invariant(struct elements *w, struct node n)
{
    const struct function *f = w->f;
    if (node_is(n, NODE_ASSIGNMENT_EXPRESSION)) {
        struct node left = node_strip(node_field(n, FIELD_LEFT));
        if (!node_is(left, NODE_SUBSCRIPT_EXPRESSION) || !str_eq(node_op(f, n), "="))
            return false;
        const struct variable *root = pointer_root(f, left);
        struct node index = subscript_index(f, left);
        return root && !root->shared && node_ok(index) && elements_kind(w, index) == INVARIANT &&
               elements_kind(w, node_field(n, FIELD_RIGHT)) == INVARIANT;
    }
    if (node_is(n, NODE_EXPRESSION_STATEMENT) || node_is(n, NODE_COMPOUND_STATEMENT)) {
        size_t count;
        struct node *all = named_children(f, n, &count);
        for (size_t i = 0; i < count; i++)
            if (!wholly_invariant(w, all[i]))
                return false;
        return count > 0;
    }
    return false;
}

/* `if (column == 0)`: among the elements of a vector only the first can be at a multiple of n. */
static bool only_first(struct elements *w, struct node condition)
{
    const struct function *f = w->f;
    condition = node_strip(condition);
    if (!node_is_binary(f, condition, "=="))
        return false;
    struct node left = node_field(condition, FIELD_LEFT), right = node_field(condition, FIELD_RIGHT);
    int64_t value;
    return elements_kind(w, left) == LINEAR && elements_multiple(w, left) && constant_value(f, right, &value) &&
           value % w->n == 0;
}

static bool once_for_all(struct elements *w, struct node n)
{
    if (wholly_invariant(w, n))
        return true;
    if (!node_is(n, NODE_IF_STATEMENT) || node_ok(node_field(n, FIELD_ALTERNATIVE)))
        return false;
    struct node condition = node_field(node_field(n, FIELD_CONDITION), FIELD_VALUE);
    return wholly_invariant(w, node_field(n, FIELD_CONSEQUENCE)) &&
           (elements_kind(w, condition) == INVARIANT || only_first(w, condition));
}

enum place { BEFORE, INSIDE, IN_STEP, AFTER };

struct piece {
    struct node node;
    enum place place;
    const char *text; /* of one in step */
    const struct node *statements;
    size_t stands_for; /* of these */
};

struct region {
    struct piece *pieces;
    size_t n;
    bool in_step; /* some pieces are */
};

/* How far the lists of w were. */
struct mark {
    size_t multiples, accesses, scalars, outside, refused, spread;
};

static void name_accesses(struct elements *w)
{
    const struct function *f = w->f;
    for (size_t i = w->first_access; i < w->accesses.n; i++) {
        const char *base = arena_printf(f->a, "%s_v", w->accesses.v[i].pointer), *name = base;
        for (int number = 2; number < 100; number++) {
            bool taken = !str_eq(fresh_local(f, name), name);
            for (size_t j = w->first_access; j < i; j++)
                taken = taken || str_eq(w->accesses.v[j].name, name);
            if (!taken)
                break;
            name = arena_printf(f->a, "%s%d", base, number);
        }
        w->accesses.v[i].name = name;
    }
}

static void add_lines(struct str *b, const char *indent, const char *text)
{
    str_addf(b, "%s%s\n", indent, text);
}

/* `if (...)` on a line of its own in front of what is only reached then; "" where it always is. */
static const char *question(struct elements *w, const char *indent, const struct access *x)
{
    const char *asked = node_ok(x->condition) ? text_of(w->f, x->condition) : NULL;
    if (!asked)
        return "";
    return arena_printf(w->f->a, x->otherwise ? "%sif (!(%s))\n    " : "%sif (%s)\n    ", indent, asked);
}

static void add_load(struct elements *w, struct str *b, const char *indent, const struct access *x)
{
    const char *constant = x->stored ? "" : "const ";
    if (node_ok(x->condition))
        str_addf(b, "%spacked<%s, %d> %s;\n%s%s%s = packed_load<%d>(&%s[%s]);\n", indent, x->type, x->count,
                 x->name, question(w, indent, x), indent, x->name, x->count, x->pointer, x->index);
    else
        str_addf(b, "%s%spacked<%s, %d> %s = packed_load<%d>(&%s[%s]);\n", indent, constant, x->type, x->count,
                 x->name, x->count, x->pointer, x->index);
}

/* The declarations that address x uses, among the pieces: the place after the last of them. */
static size_t load_after(struct elements *w, const struct access *x, const struct piece *pieces, size_t n)
{
    size_t after = 0;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].place != BEFORE)
            continue;
        for (const struct variable *var = w->f->variables; var < w->f->variables + w->f->n_variables; var++)
            if (node_same(var->statement, pieces[i].node) && !var->param &&
                (node_mentions(w->f, x->address, var->name) ||
                 (node_ok(x->condition) && node_mentions(w->f, x->condition, var->name))))
                after = i + 1;
    }
    return after;
}

/* What of an element is not stored is read, and stored as it was: nobody else has it. */
static void read_the_rest(struct elements *w)
{
    for (size_t i = w->first_access; i < w->accesses.n; i++) {
        struct access *x = &w->accesses.v[i];
        if (x->by == 1 || !x->stored || x->loaded || x->parts == ((uint64_t)1 << x->by) - 1)
            continue;
        x->loaded = true;
        x->first_load = x->first_store;
    }
}

/* What is reached in all pieces, and how. */
static void gather(struct elements *w, const struct region *r)
{
    for (const struct piece *p = r->pieces; p < r->pieces + r->n; p++) {
        if (p->place == INSIDE)
            elements_collect(w, p->node, p->node);
        for (size_t i = 0; (p->place == AFTER || p->place == IN_STEP) && i < p->stands_for; i++)
            elements_collect_scalars(w, p->statements[i]);
    }
    read_the_rest(w);
}

/* Would its names mean the same among the statements around it? */
static bool names_are_free(const struct function *f, struct node block, const struct node *statements, size_t n)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        for (size_t i = 0; i < n && !v->param && node_same(node_parent(v->statement), block); i++)
            if (!node_same(statements[i], block) && node_mentions(f, statements[i], v->name))
                return false;
    return !strchr(text_of(f, block), '#');
}

/* The statements, and those of blocks among them, such as inline leaves. */
static struct node *without_braces(const struct function *f, const struct node *statements, size_t *n)
{
    VEC(struct node) all = {0};
    bool any = false;
    for (size_t i = 0; i < *n; i++) {
        bool open =
            node_is(statements[i], NODE_COMPOUND_STATEMENT) && names_are_free(f, statements[i], statements, *n);
        if (!open)
            vec_add(f->a, &all, statements[i]);
        for (uint32_t k = 0, count = open ? node_count(statements[i]) : 0; k < count; k++)
            vec_add(f->a, &all, node_child(statements[i], k));
        any = any || open;
    }
    *n = all.n;
    return any ? without_braces(f, all.v, n) : all.v;
}

static struct mark mark(const struct elements *w)
{
    return (struct mark){w->multiples.n, w->accesses.n, w->scalars.n, w->outside.n, w->refused.n, w->spread.n};
}

static void back_to(struct elements *w, const struct mark *m)
{
    w->multiples.n = m->multiples;
    w->accesses.n = m->accesses;
    w->scalars.n = m->scalars;
    w->outside.n = m->outside;
    w->refused.n = m->refused;
}

/* The text of a piece that all elements take together; NULL: they do not. */
static const char *text_in_step(struct elements *w, const struct piece *p, const char *indent)
{
    struct mark before = mark(w);
    bool turn = w->turn;
    size_t behind = w->behind;
    const char *text = p->stands_for > 1 || (turn && elements_leave(p->node, false))
                           ? elements_step_on(w, p->statements, p->stands_for, indent)
                           : elements_step(w, p->node, indent);
    w->turn = turn;
    w->behind = behind;
    if (!text)
        back_to(w, &before);
    return text;
}

/* The one question that is all that is done behind declarations, or NULL. */
static struct piece *only_question(const struct region *r)
{
    struct piece *found = NULL;
    for (struct piece *p = r->pieces; p < r->pieces + r->n; p++) {
        if (p->place == BEFORE || node_is(p->node, NODE_COMMENT))
            continue;
        if (found || p->place == AFTER || !node_is(p->node, NODE_IF_STATEMENT))
            return NULL;
        found = p;
    }
    return found && found->place == INSIDE ? found : NULL;
}

/* Where each statement goes. */
static bool sort(struct elements *w, struct region *r, const struct node *statements, size_t n, bool try_steps,
                 const char *indent)
{
    const struct function *f = w->f;
    bool begun = false; /* something has been done */
    r->n = n;
    r->in_step = false;
    for (size_t i = 0; i < r->n; i++) {
        struct node s = statements[i];
        struct piece *p = &r->pieces[i];
        *p = (struct piece){.node = s, .place = INSIDE, .statements = &statements[i], .stands_for = 1};
        if (node_is(s, NODE_COMMENT) || node_is(s, NODE_PREPROC_CALL))
            continue; /* it moves with what follows, below */
        bool leaves = elements_leave(s, false);
        if (!begun && node_is(s, NODE_EXPRESSION_STATEMENT) && elements_stay(w, s)) {
            p->place = BEFORE; /* a pointer that nothing has followed yet */
            continue;
        }
        if (calls_barrier(f, s) || moves_pointer(f, s) || (leaves && !w->turn))
            return err_input(w->why, "line %d leaves the loop, synchronises or moves a pointer",
                             node_line(f->s, s));
        if (leaves) {
            p->stands_for = n - i;
            p->text = text_in_step(w, p, indent);
            if (p->text) {
                p->place = IN_STEP;
                r->n = i + 1;
            } else if (!elements_only_goes_on(s)) {
                return err_input(w->why, "line %d leaves the loop", node_line(f->s, s));
            } else {
                p->stands_for = 1;
                w->behind = w->behind ? w->behind : node_start(s);
            }
        } else if (node_is(s, NODE_DECLARATION) && elements_stay(w, s)) {
            p->place = BEFORE;
        } else if (once_for_all(w, s)) {
            p->place = AFTER;
        } else if (try_steps && !w->behind && (p->text = text_in_step(w, p, indent))) {
            p->place = IN_STEP;
        }
        r->in_step = r->in_step || p->place == IN_STEP;
        begun = begun || p->place != BEFORE;
    }
    for (size_t i = r->n; i-- > 0;)
        if (i + 1 < r->n &&
            (node_is(r->pieces[i].node, NODE_COMMENT) || node_is(r->pieces[i].node, NODE_PREPROC_CALL)))
            r->pieces[i].place = r->pieces[i + 1].place;
    return true;
}

/* The same, until all that pieces in step share is an array. */
static bool sort_all(struct elements *w, struct region *r, const struct node *statements, size_t n,
                     const char *indent)
{
    struct mark before = mark(w);
    size_t behind = w->behind;
    bool try_steps = true;
    for (;;) {
        if (!sort(w, r, statements, n, try_steps, indent))
            return false;
        bool more = false, can = true;
        for (struct piece *p = r->pieces; r->in_step && p < r->pieces + r->n; p++) {
            size_t known = w->spread.n;
            if (p->place == INSIDE && node_is(p->node, NODE_DECLARATION))
                can = elements_spread(w, p->node) && can;
            if (w->behind && p->place == IN_STEP && p->stands_for == 1)
                can = can && node_start(p->node) < w->behind;
            more = more || w->spread.n > known;
        }
        if (can && !more)
            break;
        back_to(w, &before);
        w->behind = behind;
        if (!can) {
            w->spread.n = before.spread;
            try_steps = false;
        }
    }
    struct piece *question = only_question(r);
    if (question && !r->in_step && !w->behind && !w->steps) {
        w->question = true;
        question->text = text_in_step(w, question, indent);
        w->question = false;
        question->place = question->text ? IN_STEP : INSIDE;
        r->in_step = question->text != NULL;
    }
    return true;
}

/* The loop over k ends where it is open. */
static void end_elements(struct str *b, const char *indent, bool *open)
{
    if (*open)
        str_addf(b, "%s}\n", indent);
    *open = false;
}

static void write_inside(struct elements *w, struct str *b, const struct piece *p, const struct region *r,
                         const char *indent, bool *open)
{
    const struct function *f = w->f;
    struct edits edits = {.arena = f->a};
    bool arrays = r->in_step && node_is(p->node, NODE_DECLARATION);
    per_element(w, p->node, p->node, &edits);
    const char *own = arrays ? elements_spread_values(w, p->node, &edits)
                             : edits_range(&edits, f, node_start(p->node), node_end(p->node));
    if (!*own)
        return;
    if (!*open)
        str_addf(b, "#pragma unroll\n%sfor (int %s = 0; %s < %d; %s++) {\n", indent, w->lane, w->lane, w->n,
                 w->lane);
    *open = true;
    char *text = arena_strdup(f->a, own);
    size_t len = strlen(text);
    if (len && text[len - 1] == '\n')
        text[len - 1] = '\0';
    bool directive = text[0] == '#';
    str_addf(b, "%s%s%s\n", directive ? "" : indent, directive ? "" : "    ", text_reindent(f->a, text, 4));
}

/* The statements in their order: loops over k, and what stands between them. */
static void write_pieces(struct elements *w, struct str *b, const struct region *r, const char *indent)
{
    bool open = false;
    for (const struct piece *p = r->pieces; p < r->pieces + r->n; p++) {
        if (p->place == INSIDE) {
            write_inside(w, b, p, r, indent, &open);
        } else if (p->place == IN_STEP || (p->place == AFTER && r->in_step)) {
            const char *text = p->text ? p->text : text_of(w->f, p->node);
            end_elements(b, indent, &open);
            add_lines(b, text[0] == '#' ? "" : indent, text);
        }
    }
    end_elements(b, indent, &open);
}

/* The region's new statements, or NULL when it cannot be. */
char *elements_write(struct elements *w, const struct node *statements, size_t n, const char *indent)
{
    const struct function *f = w->f;
    statements = without_braces(f, statements, &n);
    struct region r = {.pieces = arena_array(f->a, struct piece, n + 1)};
    size_t outer_behind = w->behind;
    if (!sort_all(w, &r, statements, n, indent))
        return NULL;
    bool never;
    size_t outer_access = w->first_access, outer_scalar = w->first_scalar;
    w->first_access = w->accesses.n;
    w->first_scalar = w->scalars.n;
    gather(w, &r);
    for (const struct variable *root; (root = elements_conflict(w, &never)) != NULL;) {
        if (never)
            return NULL;
        vec_add(f->a, &w->refused, root); /* element by element, in the order of the original */
        w->accesses.n = w->first_access;
        w->scalars.n = w->first_scalar;
        gather(w, &r);
    }
    name_accesses(w);

    struct str b = {0};
    for (size_t i = 0; i <= r.n; i++) {
        for (size_t x = w->first_access; x < w->accesses.n; x++)
            if (w->accesses.v[x].loaded && load_after(w, &w->accesses.v[x], r.pieces, r.n) == i)
                add_load(w, &b, indent, &w->accesses.v[x]);
        if (i < r.n && r.pieces[i].place == BEFORE)
            add_lines(&b, indent, text_of(f, r.pieces[i].node));
    }
    for (size_t x = w->first_access; x < w->accesses.n; x++) {
        if (!w->accesses.v[x].loaded)
            str_addf(&b, "%spacked<%s, %d> %s;\n", indent, w->accesses.v[x].type, w->accesses.v[x].count,
                     w->accesses.v[x].name);
        if (w->accesses.v[x].stored && w->behind)
            return NULL;
    }
    for (const struct piece *p = r.pieces; r.in_step && p < r.pieces + r.n; p++)
        if (p->place == INSIDE && node_is(p->node, NODE_DECLARATION))
            str_add(&b, elements_spread_arrays(w, p->node, indent));
    write_pieces(w, &b, &r, indent);
    for (size_t x = w->first_access; x < w->accesses.n; x++)
        if (w->accesses.v[x].stored)
            str_addf(&b, "%s%spacked_store(&%s[%s], %s);\n", question(w, indent, &w->accesses.v[x]), indent,
                     w->accesses.v[x].pointer, w->accesses.v[x].index, w->accesses.v[x].name);
    for (size_t i = 0; i < r.n; i++)
        if (r.pieces[i].place == AFTER && !r.in_step)
            add_lines(&b, indent, text_of(f, r.pieces[i].node));
    if (b.len && b.s[b.len - 1] == '\n')
        b.s[--b.len] = '\0';
    w->behind = outer_behind;
    w->first_access = outer_access;
    w->first_scalar = outer_scalar;
    return str_take(&b, f->a);
}
