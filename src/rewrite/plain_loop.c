/* plain-loop: a loop that threads share, written as `while (i < n) { ...; i += lanes; }`, with its first value
 * ahead of it, or with a second counter beside the first as PyTorch's CUDA_KERNEL_LOOP has one, is written as
 * `for (int i = first; i < n; i += lanes)`, as the other transforms read loops. Alone it changes nothing: each
 * turn has the same number, of the same type.
 *
 * The counter has its first value where the loop begins: nothing assigns it but the loop's end of a turn, and a
 * loop that stands in another one has its counter declared in there. Nobody asks for it behind the loop. */
#include "rewrite/analysis.h"

struct form {
    const struct function *f;
    const struct variable *v; /* the counter */
    struct node loop, body, condition;
    struct node update;            /* i += lanes */
    struct node update_statement;  /* of while: it goes */
    const struct variable *second; /* PyTorch's: the counter in the loop's own type; NULL: there is none */
    const struct variable *step;   /* declared beside the counter; NULL: it is not */
};
typedef VEC(struct form) form_list;

/* Does the expression mean the same here as where it stands? */
static bool is_constant(const struct function *f, struct node e)
{
    if (!node_ok(e) || node_has_effect(f, e) || node_has(f, e, NODE_SUBSCRIPT_EXPRESSION) ||
        node_is_access(f, e) || node_has(f, e, NODE_POINTER_EXPRESSION))
        return false;
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && v->assignments > 0)
            return false;
    }
    return true;
}

static bool knows_thread(const struct function *f, struct node e)
{
    struct poly p = poly_of(f, e);

    for (int t = 0; p.ok && t < p.n; t++)
        for (int i = 0; i < p.t[t].n; i++)
            if (str_starts(p.t[t].atom[i], "threadIdx") || str_starts(p.t[t].atom[i], "blockIdx") ||
                str_eq(p.t[t].atom[i], POLY_LANE))
                return true;
    return false;
}

/* Is a loop around it in which the counter is not declared? Then it goes on where the turn before left it. */
static bool begins_often(const struct form *x)
{
    for (struct node up = node_parent(x->loop); node_ok(up) && !node_within(x->v->statement, up);
         up = node_parent(up))
        if (node_is_loop(up))
            return true;
    return false;
}

static bool by_condition(const struct form *x)
{
    const struct function *f = x->f;
    struct node c = node_strip(x->condition);

    return node_is_binary(f, c, "<") && function_variable_of(f, node_field(c, FIELD_LEFT)) == x->v &&
           !node_mentions(f, node_field(c, FIELD_RIGHT), x->v->name);
}

/* `i += lanes`, or `i = i + lanes`. */
static bool steps(const struct function *f, struct node e, const struct variable *v)
{
    struct node right = node_field(e, FIELD_RIGHT);

    if (!v || function_variable_of(f, node_field(e, FIELD_LEFT)) != v)
        return false;
    if (node_is_assignment(f, e, "="))
        return node_is_binary(f, right, "+") && function_variable_of(f, node_field(right, FIELD_LEFT)) == v &&
               !node_mentions(f, node_field(right, FIELD_RIGHT), v->name);
    return node_is_assignment(f, e, "+=") && !node_mentions(f, right, v->name);
}

/* The statement declares the counter alone, with its first value. */
static bool declared_alone(const struct function *f, const struct variable *v)
{
    size_t n = 0;

    for (uint32_t i = 0, all = node_count(v->statement); i < all; i++)
        n += node_is_declarator(node_child(v->statement, i)) ||
             node_is(node_child(v->statement, i), NODE_IDENTIFIER);
    return node_is(node_parent(v->statement), NODE_COMPOUND_STATEMENT) && n == 1 &&
           ctype_is_integer(f, v->type);
}

static bool while_form(const struct function *f, struct node loop, struct form *x)
{
    size_t n;
    struct node body = node_field(loop, FIELD_BODY), *all = named_children(f, body, &n);

    *x = (struct form){.f = f, .loop = loop, .body = body, .condition = node_field(loop, FIELD_CONDITION)};
    if (!node_is(body, NODE_COMPOUND_STATEMENT) || n < 2 || node_has(f, body, NODE_CONTINUE_STATEMENT))
        return false;
    x->update_statement = all[n - 1];
    x->update = statement_expression(all[n - 1]);
    x->v = function_variable_of(f, node_field(x->update, FIELD_LEFT));
    return steps(f, x->update, x->v);
}

/* `for (; i < n; i += lanes)` */
static bool open_form(const struct function *f, struct node loop, struct form *x)
{
    *x = (struct form){.f = f,
                       .loop = loop,
                       .body = node_field(loop, FIELD_BODY),
                       .condition = node_field(loop, FIELD_CONDITION),
                       .update = node_field(loop, FIELD_UPDATE)};
    x->v = function_variable_of(f, node_field(x->update, FIELD_LEFT));
    return !node_ok(node_field(loop, FIELD_INITIALIZER)) && steps(f, x->update, x->v);
}

/* `for (int i = (int)at; at < n; at += lanes, i = (int)at)` */
static bool double_form(const struct function *f, struct node loop, struct form *x)
{
    struct node update = node_field(loop, FIELD_UPDATE), declaration = node_field(loop, FIELD_INITIALIZER),
                declarator = node_field(declaration, FIELD_DECLARATOR), again = node_field(update, FIELD_RIGHT);

    *x = (struct form){.f = f,
                       .loop = loop,
                       .body = node_field(loop, FIELD_BODY),
                       .condition = node_field(loop, FIELD_CONDITION),
                       .update = node_field(update, FIELD_LEFT)};
    if (!node_is(update, NODE_COMMA_EXPRESSION) || !node_is(declarator, NODE_INIT_DECLARATOR))
        return false;
    x->v = function_variable_of(f, node_field(x->update, FIELD_LEFT));
    x->second = function_variable_of(f, node_field(declarator, FIELD_DECLARATOR));
    return x->second && steps(f, x->update, x->v) && x->second->assignments == 1 &&
           function_variable_of(f, node_strip(x->second->init)) == x->v && node_is_assignment(f, again, "=") &&
           function_variable_of(f, node_field(again, FIELD_LEFT)) == x->second &&
           str_eq(text_of(f, node_field(again, FIELD_RIGHT)), text_of(f, x->second->init));
}

/* `for (int i = first, step = lanes; i < n; i += step)`: the counter begins in the loop already. */
static bool beside_form(const struct function *f, struct node loop, struct form *x)
{
    struct node declaration = node_field(loop, FIELD_INITIALIZER);
    size_t n;

    *x = (struct form){.f = f,
                       .loop = loop,
                       .body = node_field(loop, FIELD_BODY),
                       .condition = node_field(loop, FIELD_CONDITION),
                       .update = node_field(loop, FIELD_UPDATE)};
    x->v = function_variable_of(f, node_field(x->update, FIELD_LEFT));
    x->step = function_variable_of(f, node_field(x->update, FIELD_RIGHT));
    if (!node_is(declaration, NODE_DECLARATION) || !x->v || !x->step || x->step->assignments > 0 ||
        !node_same(x->v->statement, declaration) || !node_same(x->step->statement, declaration) ||
        !steps(f, x->update, x->v) || !is_constant(f, x->step->init) || x->v->from > x->step->from)
        return false;
    variable_names(f, x->step, &n);
    return n == 2; /* its declarator and the step */
}

static bool form_of(const struct function *f, struct node loop, struct form *x)
{
    bool counted = node_is(loop, NODE_WHILE_STATEMENT)
                       ? while_form(f, loop, x)
                       : open_form(f, loop, x) || double_form(f, loop, x) || beside_form(f, loop, x);

    if (!counted || !by_condition(x) || !node_ok(x->v->init) || !knows_thread(f, x->v->init) ||
        !is_constant(f, x->v->init))
        return false;
    if (x->step)
        return x->v->assignments == 1;
    return declared_alone(f, x->v) && !begins_often(x) &&
           !(x->second && variable_assigned_in(f, x->second, x->body));
}

/* Are the loops in two branches of one question? */
static bool exclusive(struct node a, struct node b)
{
    for (struct node up = node_parent(a); node_ok(up); up = node_parent(up)) {
        struct node yes = node_field(up, FIELD_CONSEQUENCE), no = node_field(up, FIELD_ALTERNATIVE);
        if (node_is(up, NODE_IF_STATEMENT) && node_ok(no) &&
            ((node_within(a, yes) && node_within(b, no)) || (node_within(a, no) && node_within(b, yes))))
            return true;
    }
    return false;
}

/* All that is done with the counter is done in such loops, of which each call takes one. */
static bool is_alone(const form_list *all, const struct form *x)
{
    size_t n, loops = 0;
    struct node *names = variable_names(x->f, x->v, &n);

    for (size_t i = 0; i < all->n; i++) {
        if (all->v[i].v != x->v)
            continue;
        loops++;
        if (!node_same(all->v[i].loop, x->loop) && !exclusive(all->v[i].loop, x->loop))
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        bool inside = node_within(names[k], x->v->statement);
        for (size_t i = 0; i < all->n && !inside; i++)
            inside = all->v[i].v == x->v && node_within(names[k], all->v[i].loop);
        if (!inside)
            return false;
    }
    return x->v->assignments == (int)loops;
}

/* Loops whose counter is not the element's index --------------------------------------------------------------
 */

/* A loop that is written anew with another counter. */
struct turn {
    const struct function *f;
    struct node loop, body;
    const char *head;
    const char *first; /* what the body then begins with; NULL: nothing */
    struct node from,
        to;           /* what goes of the body: from the start of `from` to that of `to`; no node: nothing */
    struct node rest; /* no node, or the block that the body becomes */
};
typedef VEC(struct turn) turn_list;

/* Is the expression this sum but for parentheses, or one of its summands, however deep? */
static bool is_summand(const struct function *f, struct node n, struct node sum)
{
    for (; !node_same(n, sum); n = node_parent(n))
        if (!node_is(node_parent(n), NODE_PARENTHESIZED_EXPRESSION) && !node_is_binary(f, node_parent(n), "+"))
            return false;
    return true;
}

/* The sum without one of its summands, as text; NULL: it is all of it. */
static char *without_summand(const struct function *f, struct node sum, struct node n)
{
    struct node up = node_parent(n);
    struct edits e = {.arena = f->a};

    while (node_is(up, NODE_PARENTHESIZED_EXPRESSION) && !node_same(n, sum)) {
        n = up;
        up = node_parent(up);
    }
    if (node_same(n, sum) || !node_is_binary(f, up, "+"))
        return NULL;
    struct node left = node_field(up, FIELD_LEFT);
    edits_node(&e, up, text_of(f, node_same(left, n) ? node_field(up, FIELD_RIGHT) : left));
    return edits_range(&e, f, node_start(sum), node_end(sum));
}

/* Made of the thread's and the block's numbers alone, none of them taken off. */
static bool is_place(const struct poly *p)
{
    bool thread = false;

    for (int t = 0; t < p->n; t++) {
        if (p->t[t].by <= 0)
            return false;
        for (int i = 0; i < p->t[t].n; i++) {
            const char *atom = p->t[t].atom[i];
            bool own = str_starts(atom, "threadIdx") || str_eq(atom, POLY_LANE);
            if (!own && !str_starts(atom, "blockIdx") && !str_starts(atom, "blockDim"))
                return false;
            thread = thread || own;
        }
    }
    return p->ok && thread;
}

/* A `for` that declares its counter, asks `counter < bound` and steps by `+=`; the counter, or NULL. */
static const struct variable *counts(const struct function *f, struct node loop)
{
    struct node declaration = node_field(loop, FIELD_INITIALIZER),
                declarator = node_field(declaration, FIELD_DECLARATOR), c = node_field(loop, FIELD_CONDITION),
                update = node_field(loop, FIELD_UPDATE), body = node_field(loop, FIELD_BODY);
    const struct variable *v =
        node_is(declaration, NODE_DECLARATION) && node_is(declarator, NODE_INIT_DECLARATOR)
            ? function_variable_of(f, node_field(declarator, FIELD_DECLARATOR))
            : NULL;

    if (!v || node_ok(node_next(declarator)) || !ctype_is_integer(f, v->type) || !node_is_binary(f, c, "<") ||
        function_variable_of(f, node_field(c, FIELD_LEFT)) != v ||
        node_mentions(f, node_field(c, FIELD_RIGHT), v->name) || !node_is_assignment(f, update, "+=") ||
        !steps(f, update, v) || variable_assigned_in(f, v, body) || !node_is(body, NODE_COMPOUND_STATEMENT))
        return NULL;
    return v;
}

static bool same_sum(const struct function *f, struct node a, struct node b)
{
    struct poly x = poly_of(f, a), y = poly_of(f, b);
    return x.ok && y.ok && poly_same(&x, &y);
}

static char *loop_head(const struct function *f, struct node loop, const char *type, const char *name,
                       const char *first, const char *bound)
{
    return arena_printf(f->a, "for (%s %s = %s; %s < %s; %s += %s) ", type, name, first, name, bound, name,
                        text_of(f, node_field(node_field(loop, FIELD_UPDATE), FIELD_RIGHT)));
}

/* What asks whether the turn's element exists: `if (i >= n) break;` or all the rest, `if (i < n) { ... }`. True
 * also where nothing needs to ask. */
static bool asks_bound(struct turn *x, const struct variable *i, struct node bound, const struct node *all,
                       size_t n)
{
    const struct function *f = x->f;
    struct node c = node_strip(node_field(node_field(all[1], FIELD_CONDITION), FIELD_VALUE)),
                then = node_unbraced(f, node_field(all[1], FIELD_CONSEQUENCE)), step;
    int64_t end, by;

    bool asks = node_is(all[1], NODE_IF_STATEMENT) && !node_ok(node_field(all[1], FIELD_ALTERNATIVE)) &&
                function_variable_of(f, node_field(c, FIELD_LEFT)) == i &&
                same_sum(f, node_field(c, FIELD_RIGHT), bound);
    if (asks && node_is_binary(f, c, "<") && n == 2) {
        x->rest = node_field(all[1], FIELD_CONSEQUENCE);
        return node_is(x->rest, NODE_COMPOUND_STATEMENT);
    }
    bool last = f->global && node_same(node_parent(x->loop), f->body) && !node_ok(node_next(x->loop));
    bool leaves = node_is(then, NODE_BREAK_STATEMENT) || node_is(then, NODE_CONTINUE_STATEMENT) ||
                  (last && node_is(then, NODE_RETURN_STATEMENT));
    if (asks && node_is_binary(f, c, ">=") && leaves && n > 2) {
        x->to = all[2];
        return true;
    }
    step = node_field(node_field(x->loop, FIELD_UPDATE), FIELD_RIGHT);
    x->to = all[1];
    return constant_value(f, bound, &end) && constant_value(f, step, &by) && by > 0 && end % by == 0;
}

/* `for (b = 0; b < n; b += lanes) { int i = b + lane; if (i < n) ... }`: the loop of i. Threads do not meet in
 * it, as those whose i is not below n leave it. */
static bool added_form(const struct function *f, struct node loop, struct turn *x)
{
    const struct variable *v = counts(f, loop), *i = NULL;
    struct node bound = node_field(node_field(loop, FIELD_CONDITION), FIELD_RIGHT);
    size_t n, n_names = 0, n_all = 0;
    int64_t first;

    *x = (struct turn){.f = f, .loop = loop, .body = node_field(loop, FIELD_BODY)};
    if (!v || !constant_value(f, v->init, &first) || first != 0 || calls_barrier(f, x->body))
        return false;
    struct node *all = named_children(f, x->body, &n), *names = variable_names(f, v, &n_names);
    for (size_t k = 0; k < n; k++)
        if (!node_is(all[k], NODE_COMMENT))
            all[n_all++] = all[k];
    if (n_all < 2 || n_names != 4 || !node_is(all[0], NODE_DECLARATION))
        return false;
    for (const struct variable *w = f->variables; w < f->variables + f->n_variables; w++)
        if (node_same(w->statement, all[0]))
            i = i ? v : w; /* v: there are several */
    if (!i || i == v || i->assignments || i->pointer || i->array || !ctype_is_integer(f, i->type) ||
        !node_ok(i->init) || !node_within(names[3], i->init) || !is_summand(f, names[3], i->init))
        return false;
    struct poly place = poly_add(f, poly_of(f, i->init), poly_atom(f, v->name), -1);
    char *from = without_summand(f, i->init, names[3]);
    if (!from || !is_place(&place) || !asks_bound(x, i, bound, all, n_all))
        return false;
    x->from = all[0];
    x->head = loop_head(f, loop, i->type, i->name, from, text_of(f, bound));
    return true;
}

/* What is between base and end: of a sum with the base in it the rest, of the lesser of two the lesser. */
static const char *length_text(const struct function *f, struct node end, const struct poly *base,
                               const char *text)
{
    const struct variable *v = function_variable_of(f, end);
    struct node of = v && !v->assignments && node_ok(v->init) && !v->pointer && !v->array ? v->init : end;
    struct poly rest = poly_add(f, poly_of(f, of), *base, -1);
    struct str b = {.arena = f->a};
    struct node args = node_field(of, FIELD_ARGUMENTS);

    if (node_is(of, NODE_CALL_EXPRESSION) && node_count(args) == 2 && str_in(call_name(f, of), "min"))
        return arena_printf(f->a, "min(%s, %s)", length_text(f, node_child(args, 0), base, text),
                            length_text(f, node_child(args, 1), base, text));
    bool plain = rest.ok && rest.n > 0;
    for (int t = 0; t < rest.n && plain; t++) {
        plain = rest.t[t].n == 1 && rest.t[t].by == 1 && str_is_name(rest.t[t].atom[0]);
        str_addf(&b, "%s%s", t ? " + " : "", plain ? rest.t[t].atom[0] : "");
    }
    return plain ? str_text(&b) : arena_printf(f->a, "%s - (%s)", text_of(f, end), text);
}

/* `for (j = base + lane; j < base + n; j += lanes)`, a row's part of something larger: the loop of j - base. */
static bool based_form(const struct function *f, struct node loop, struct turn *x)
{
    const struct variable *v = counts(f, loop);
    struct node own = {0}, sum = {0}, end = node_field(node_field(loop, FIELD_CONDITION), FIELD_RIGHT);
    struct lane_loop known;

    *x = (struct turn){.f = f, .loop = loop, .body = node_field(loop, FIELD_BODY)};
    if (!v || !is_constant(f, v->init) || !is_constant(f, end) || lane_loop_of(f, loop, &known))
        return false;
    sum = node_strip(v->init);
    const struct variable *named = function_variable_of(f, sum); /* `for (j = start; ...)` */
    if (named && !named->assignments && node_ok(named->init) && !named->param)
        sum = node_strip(named->init);
    struct node list[] = {sum}, *all = node_is(sum, NODE_BINARY_EXPRESSION) ? names_in(f, sum) : list;
    for (struct node *n = all; !node_ok(own) && node_ok(*n); n++) {
        struct node up = *n; /* threadIdx.x, or a variable that is it */
        while (node_is(node_parent(up), NODE_FIELD_EXPRESSION))
            up = node_parent(up);
        struct poly p = poly_of(f, up), thread = poly_atom(f, "threadIdx.x"), lane = poly_atom(f, POLY_LANE);
        if ((poly_same(&p, &thread) || poly_same(&p, &lane)) && is_summand(f, up, sum))
            own = up;
        if (all == list)
            break;
    }
    char *base = node_ok(own) ? without_summand(f, sum, own) : NULL;
    if (!base)
        return false;
    struct poly place = poly_of(f, own),
                step = poly_of(f, node_field(node_field(loop, FIELD_UPDATE), FIELD_RIGHT)),
                block = poly_atom(f, "blockDim.x"), warp = poly_number(32),
                thread = poly_atom(f, "threadIdx.x"), start = poly_add(f, poly_of(f, sum), place, -1);
    bool ours = step.ok && poly_same(&place, &thread) ? poly_same(&step, &block) : poly_same(&step, &warp);
    for (int t = 0; t < start.n; t++)
        for (int i = 0; i < start.t[t].n; i++)
            ours =
                ours && !str_starts(start.t[t].atom[i], "threadIdx") && !str_eq(start.t[t].atom[i], POLY_LANE);
    if (!ours || !start.ok)
        return false;
    const char *k = fresh_local(f, "at");
    x->head = loop_head(f, loop, v->type, k, text_of(f, own), length_text(f, end, &start, base));
    x->first = arena_printf(f->a, "const %s %s = %s + %s;", v->type, v->name, base, k);
    return true;
}

static turn_list turns_in(const struct function *f)
{
    turn_list list = {0};
    struct turn x;

    for (struct node *loop = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*loop); loop++)
        if (added_form(f, *loop, &x) || based_form(f, *loop, &x))
            vec_add(f->a, &list, x);
    return list;
}

static void turn_edit(const struct turn *x, struct edits *edits)
{
    const struct function *f = x->f;
    const char *indent = text_indent(f, node_start(x->loop));

    edits_try(edits, node_start(x->loop), node_start(x->body), x->head);
    if (node_ok(x->rest)) {
        edits_try(edits, node_start(x->body), node_start(x->rest), "");
        edits_try(edits, node_end(x->rest), node_end(x->body), "");
    } else if (node_ok(x->from)) {
        edits_try(edits, node_start(x->from), node_start(x->to), "");
    }
    if (x->first)
        edits_at(edits, node_start(x->body) + 1, arena_printf(f->a, "\n%s    %s", indent, x->first));
}

static form_list forms_in_file(const struct transform_input *in, struct arena *a, turn_list *turns)
{
    form_list list = {0};
    size_t n;
    struct function **functions = functions_open(in, a, &n);

    for (size_t i = 0; i < n; i++) {
        const struct function *f = functions[i];
        form_list own = {0};
        turn_list here;
        struct form x;
        if (!f->global &&
            !str_has_word(text_range(f, node_start(f->definition), node_start(f->id)), "__device__"))
            continue;
        for (struct node *loop = nodes_of(f, f->body, NODE_WHILE_STATEMENT); node_ok(*loop); loop++)
            if (form_of(f, *loop, &x))
                vec_add(a, &own, x);
        for (struct node *loop = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*loop); loop++)
            if (form_of(f, *loop, &x))
                vec_add(a, &own, x);
        for (size_t k = 0; k < own.n; k++)
            if (is_alone(&own, &own.v[k]))
                vec_add(a, &list, own.v[k]);
        here = turns_in(f);
        for (size_t k = 0; k < here.n; k++)
            vec_add(a, turns, here.v[k]);
    }
    return list;
}

static void form_edit(const struct form *x, struct edits *edits)
{
    const struct function *f = x->f;
    struct node right = node_field(x->update, FIELD_RIGHT);
    const char *name = x->v->name;

    if (node_is_assignment(f, x->update, "="))
        right = node_field(right, FIELD_RIGHT);
    const char *head =
        arena_printf(f->a, "for (%s %s = %s; %s; %s += %s) ",
                     text_of(f, node_field(x->v->statement, FIELD_TYPE)), name, text_of(f, x->v->init),
                     text_of(f, node_strip(x->condition)), name, text_of(f, x->step ? x->step->init : right));
    edits_try(edits, node_start(x->loop), node_start(x->body), head);
    if (node_ok(x->update_statement))
        edits_remove(edits, f, x->update_statement);
    if (x->second) {
        const char *indent = text_indent(f, node_start(x->loop));
        bool block = node_is(x->body, NODE_COMPOUND_STATEMENT);
        edits_at(edits, node_start(x->body) + block,
                 arena_printf(f->a, "%s\n%s    const %s %s = %s;%s", block ? "" : "{", indent,
                              text_of(f, node_field(x->second->statement, FIELD_TYPE)), x->second->name,
                              text_of(f, x->second->init),
                              block ? "" : arena_printf(f->a, "\n%s    ", indent)));
        if (!block)
            edits_at(edits, node_end(x->body), arena_printf(f->a, "\n%s}", indent));
    }
}

static void plain_find(const struct transform_input *in, struct site_list *found)
{
    turn_list turns = {0};
    form_list list = forms_in_file(in, found->arena, &turns);
    size_t n = list.n + turns.n;

    if (n > 0)
        site_add(found, list.n ? list.v[0].f : turns.v[0].f, list.n ? list.v[0].loop : turns.v[0].loop, 0,
                 "what hides first value, bound or step of a loop hides it from other transforms", "%zu loop%s",
                 n, n > 1 ? "s" : "");
}

static bool plain_apply(const struct function *first, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    turn_list turns = {0};
    form_list list = forms_in_file(first->in, first->a, &turns);

    (void)site;
    for (size_t i = 0; i < turns.n; i++)
        turn_edit(&turns.v[i], edits);
    for (size_t i = 0; i < list.n; i++) {
        const struct form *x = &list.v[i];
        bool again = x->step != NULL;
        form_edit(x, edits);
        for (size_t k = 0; k < i; k++)
            again = again || node_same(list.v[k].v->statement, x->v->statement);
        if (!again)
            edits_remove(edits, x->f, x->v->statement);
    }
    return list.n + turns.n > 0 || err_input(why_not, "all loops that threads share are written as for");
}

const struct transform transform_plain_loop = {
    .name = "plain-loop",
    .summary = "write loops that threads share as for (int i = first; i < n; i += lanes)",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find_in_file = plain_find,
    .apply = plain_apply,
};
