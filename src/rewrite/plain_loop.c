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

static form_list forms_in_file(const struct transform_input *in, struct arena *a)
{
    form_list list = {0};
    size_t n;
    struct function **functions = functions_open(in, a, &n);

    for (size_t i = 0; i < n; i++) {
        const struct function *f = functions[i];
        form_list own = {0};
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
    form_list list = forms_in_file(in, found->arena);

    if (list.n > 0)
        site_add(found, list.v[0].f, list.v[0].loop, 0,
                 "what hides first value, bound or step of a loop hides it from other transforms", "%zu loop%s",
                 list.n, list.n > 1 ? "s" : "");
}

static bool plain_apply(const struct function *first, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    form_list list = forms_in_file(first->in, first->a);

    (void)site;
    for (size_t i = 0; i < list.n; i++) {
        const struct form *x = &list.v[i];
        bool again = x->step != NULL;
        form_edit(x, edits);
        for (size_t k = 0; k < i; k++)
            again = again || node_same(list.v[k].v->statement, x->v->statement);
        if (!again)
            edits_remove(edits, x->f, x->v->statement);
    }
    return list.n > 0 || err_input(why_not, "all loops that threads share are written as for");
}

const struct transform transform_plain_loop = {
    .name = "plain-loop",
    .summary = "write loops that threads share as for (int i = first; i < n; i += lanes)",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find_in_file = plain_find,
    .apply = plain_apply,
};
