/* keep-values: what one loop in fixed steps computes of a row at a cost, the exponentials of a softmax say, and
 * a later one computes again, stays in registers between them. The row itself is as a rule not needed any more,
 * so that the values take its registers.
 *
 * Right where both loops take the same steps, the value is pure arithmetic of what registers hold, and none of
 * that is assigned from the first to the second. */
#include "rewrite/analysis.h"

enum { LOOPS_MOST = 8 };

struct detail {
    struct step_loop first, later;
    struct node value, again,
        inner; /* the same, in either loop; inner: loop over a vector's elements, or no node */
    const char *type;
};

/* The loop over a vector's elements around it, where nothing but that stands between it and the step's block.
 */
static bool asked_always(const struct function *f, const struct step_loop *l, struct node e, struct node *inner)
{
    *inner = (struct node){0};
    for (struct node n = node_parent(e); !node_same(n, l->block); n = node_parent(n)) {
        if (!node_ok(n) || node_is(n, NODE_IF_STATEMENT) || node_is(n, NODE_CONDITIONAL_EXPRESSION) ||
            node_is_binary(f, n, "&&") || node_is_binary(f, n, "||") || node_is(n, NODE_LAMBDA_EXPRESSION))
            return false;
        if (!node_is_loop(n))
            continue;
        if (!node_is(n, NODE_FOR_STATEMENT) || node_ok(*inner))
            return false;
        *inner = n;
    }
    return true;
}

/* The value with what the loop declares spelt out; NULL where it is not made of registers that stay the same.
 */
static char *spelt_out(const struct function *f, const struct step_loop *l, struct node e, struct node from,
                       struct node to)
{
    struct edits edits = {.arena = f->a};
    for (struct node *s = nodes_of(f, e, NODE_SUBSCRIPT_EXPRESSION); node_ok(*s); s++) {
        const struct variable *root = pointer_root(f, *s);
        if (!node_is(node_field(*s, FIELD_ARGUMENT), NODE_FIELD_EXPRESSION) &&
            (!root || !root->array || root->shared))
            return NULL; /* memory */
    }
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (!v)
            continue;
        if (v->pointer || v->shared)
            return NULL;
        if (v->from >= node_start(l->loop) && v->from < node_start(l->block))
            continue; /* the step's own: both loops begin alike */
        bool own = v->from >= node_start(l->block) && v->from < node_end(l->block);
        bool element = own && node_is(node_parent(v->statement), NODE_FOR_STATEMENT);
        if (own && !element) {
            char *init = v->to_const && node_ok(v->init) ? spelt_out(f, l, v->init, from, to) : NULL;
            if (!init)
                return NULL;
            edits_node(&edits, *name, arena_printf(f->a, "(%s)", init));
        }
        for (struct node s = from; !own; s = node_next(s)) {
            if (variable_assigned_in(f, v, s) || (v->array && memory_written_in(f, v->name, s)))
                return NULL;
            if (node_same(s, to))
                break;
        }
    }
    return text_compact(f->a, edits_range(&edits, f, node_start(e), node_end(e)));
}

static bool is_costly(const struct function *f, struct node call)
{
    return str_in(call_name(f, call), "expf|exp|__expf|exp2f|exp2|expm1f|logf|log|tanhf|tanh|erff|powf");
}

static char *head_of(const struct function *f, struct node from, struct node to)
{
    return node_ok(from) ? text_compact(f->a, text_range(f, node_start(from), node_start(to))) : NULL;
}

/* The same value of the same step? */
static bool is_again(const struct function *f, struct detail *d, struct node e)
{
    struct node inner;
    if (!is_costly(f, e) || !asked_always(f, &d->later, e, &inner) || node_ok(inner) != node_ok(d->inner))
        return false;
    if (node_ok(inner) && !str_eq(head_of(f, inner, node_field(inner, FIELD_BODY)),
                                  head_of(f, d->inner, node_field(d->inner, FIELD_BODY))))
        return false;
    char *one = spelt_out(f, &d->first, d->value, d->first.loop, d->later.loop),
         *other = spelt_out(f, &d->later, e, d->first.loop, d->later.loop);
    d->again = e;
    return one && other && str_eq(one, other);
}

static bool understood(const struct function *f, struct detail *d)
{
    struct step_loop loops[LOOPS_MOST];
    size_t n = 0;
    for (struct node *s = named_children(f, f->body, NULL); node_ok(*s) && n < LOOPS_MOST; s++)
        n += step_loop_of(f, *s, &loops[n]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            *d = (struct detail){.first = loops[i], .later = loops[j]};
            if (!str_eq(head_of(f, loops[i].loop, loops[i].block), head_of(f, loops[j].loop, loops[j].block)))
                continue;
            for (struct node *x = nodes_of(f, loops[i].block, NODE_CALL_EXPRESSION); node_ok(*x); x++) {
                d->value = *x;
                d->type = expression_type(f, *x);
                if (!is_costly(f, *x) || node_has_effect(f, *x) || !d->type ||
                    !asked_always(f, &d->first, *x, &d->inner) ||
                    !node_is(node_parent(node_statement(*x)), NODE_COMPOUND_STATEMENT))
                    continue;
                for (struct node *y = nodes_of(f, loops[j].block, NODE_CALL_EXPRESSION); node_ok(*y); y++)
                    if (is_again(f, d, *y))
                        return true;
            }
        }
    return false;
}

static void keep_edits(const struct function *f, const struct detail *d, struct edits *edits)
{
    struct node condition = node_field(d->first.loop, FIELD_CONDITION), statement = node_statement(d->value);
    const char *name = fresh_local(f, "value_kept"), *element = "";
    char *item = text_of(f, node_field(condition, FIELD_LEFT)),
         *steps = text_of(f, node_field(condition, FIELD_RIGHT));
    char *extent = "", *value = text_of(f, d->value);
    if (node_ok(d->inner)) {
        struct node until = node_field(d->inner, FIELD_CONDITION);
        element = arena_printf(f->a, "[%s]", text_of(f, node_field(until, FIELD_LEFT)));
        extent = arena_printf(f->a, "[%s]", text_of(f, node_field(until, FIELD_RIGHT)));
    }
    char *place = arena_printf(f->a, "%s[%s]%s", name, item, element);
    edits_at(edits, str_line_start(f->text, node_start(node_prev(d->first.loop))),
             arena_printf(f->a, "%s%s %s[%s]%s; // needed again below\n",
                          text_indent(f, node_start(d->first.loop)), d->type, name, steps, extent));
    edits_at(edits, node_start(statement),
             arena_printf(f->a, "%s = %s;\n%s", place, value, text_indent(f, node_start(statement))));
    edits_node(edits, d->value, place);
    edits_node(edits, d->again, place);
}

/* All kernels that run; the first that changes, or NULL. */
static struct function *keep_file(const struct transform_input *in, struct edits *edits)
{
    struct function *first = NULL;
    size_t n;
    struct function **all = functions_open(in, edits->arena, &n);
    for (size_t i = 0; i < n; i++) {
        struct detail d;
        if (!all[i]->global || !understood(all[i], &d))
            continue;
        keep_edits(all[i], &d, edits);
        first = first ? first : all[i];
    }
    return first;
}

static void keep_find(const struct transform_input *in, struct site_list *found)
{
    struct function *f = keep_file(in, &(struct edits){.arena = found->arena});
    if (f)
        site_add(found, f, f->definition, 0, "it is computed again of a row that registers hold",
                 "values of a row");
}

static bool keep_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    (void)site;
    return keep_file(f->in, edits) || err_input(why_not, "nothing is computed again");
}

const struct transform transform_keep_values = {
    .name = "keep-values",
    .summary = "keep what was computed of a row in registers, where a later loop computes it again",
    .helps = "issue latency dram l2",
    .find_in_file = keep_find,
    .apply = keep_apply,
};
