/* What all neighbouring elements of a thread take together, in step: a loop whose turns are the same for all of
 * them, a question with one answer. It stands once, and what it does for each element stands in loops over k
 * within it. So what the elements share is loaded once for all of them, their neighbouring loads are one
 * vector, and their chains of arithmetic are under way together. What an element keeps from one loop over k to
 * another is an array of N. */
#include "rewrite/elements.h"

enum { TURNS_MOST = 32 };

/* Only continue, of the loop around it? */
bool elements_only_goes_on(struct node n)
{
    if (node_is(n, NODE_RETURN_STATEMENT) || node_is(n, NODE_GOTO_STATEMENT) ||
        node_is(n, NODE_CO_RETURN_STATEMENT))
        return false;
    if (node_is_loop(n) || node_is(n, NODE_SWITCH_STATEMENT))
        return !elements_leave(n, false);
    if (node_is(n, NODE_BREAK_STATEMENT))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!elements_only_goes_on(node_child(n, i)))
            return false;
    return true;
}

/* Does it ask for a variable that all elements share, and that one of them may change? Then their order is that
 * of the elements. */
static bool asks_for_shared(struct elements *w, struct node n)
{
    const struct function *f = w->f;
    for (struct node *name = names_in(f, n); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        bool in_part = v && v->from >= node_start(w->part) && v->from < node_end(w->part);
        if (v && v != w->element && !in_part && variable_assigned_in(f, v, w->part))
            return true;
    }
    return false;
}

static bool same_for_all(struct elements *w, struct node e)
{
    return node_ok(e) && elements_kind(w, e) == INVARIANT && elements_known_outside(w, e) &&
           !node_has_effect(w->f, e);
}

/* The counters that the loop declares, and nothing but its head changes, are the same for all elements. */
static bool counts_alike(struct elements *w, struct node loop)
{
    const struct function *f = w->f;
    struct node init = node_field(loop, FIELD_INITIALIZER), update = node_field(loop, FIELD_UPDATE),
                body = node_field(loop, FIELD_BODY), condition = node_field(loop, FIELD_CONDITION);
    size_t counters = 0;
    if (!node_is(init, NODE_DECLARATION))
        return false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->param || !node_same(v->statement, init))
            continue;
        if (!node_ok(v->init) || v->pointer || v->array || !ctype_is_integer(f, v->type) ||
            !same_for_all(w, v->init) || variable_assigned_in(f, v, body))
            return false;
        struct outside one = {v, INVARIANT};
        vec_add(f->a, &w->outside, one);
        counters++;
    }
    struct node target = assigned_target(update), by = node_field(update, FIELD_RIGHT);
    const struct variable *counter = function_variable_of(f, target);
    return counters > 0 && counter && node_same(counter->statement, init) && same_for_all(w, condition) &&
           (!node_ok(by) || same_for_all(w, by));
}

/* A body for n elements, its lines within braces. */
static char *step_body(struct elements *w, struct node body, const char *indent)
{
    const struct function *f = w->f;
    size_t n = 1;
    struct node *all = &body;
    if (node_is(body, NODE_COMPOUND_STATEMENT))
        all = named_children(f, body, &n);
    w->steps++;
    char *text = elements_write(w, all, n, arena_printf(f->a, "%s    ", indent));
    w->steps--;
    return text && *text ? arena_printf(f->a, "{\n%s\n%s}", text, indent) : NULL;
}

/* Few turns, known to the compiler, of a loop that indexes a thread's own array: it must be unrolled for the
 * array to be registers, and it is longer now. */
static bool must_unroll(const struct elements *w, struct node loop)
{
    const struct function *f = w->f;
    struct node condition = node_strip(node_field(loop, FIELD_CONDITION)), above = node_prev(loop);
    int64_t bound;
    if (node_is(above, NODE_PREPROC_CALL) || !node_is(condition, NODE_BINARY_EXPRESSION) ||
        !constant_value(f, node_field(condition, FIELD_RIGHT), &bound) || bound < 0 || bound > TURNS_MOST)
        return false;
    for (struct node *name = names_in(f, loop); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && v->array && !v->param && !v->shared)
            return true;
    }
    return false;
}

static char *step_loop(struct elements *w, struct node loop, const char *indent)
{
    const struct function *f = w->f;
    struct node body = node_field(loop, FIELD_BODY);
    if (!counts_alike(w, loop))
        return NULL;
    w->turn = true;
    w->behind = 0;
    char *text = step_body(w, body, indent), *head = text_range(f, node_start(loop), node_start(body));
    for (size_t len = strlen(head); len > 0 && strchr(" \n", head[len - 1]); len--)
        head[len - 1] = '\0';
    if (!text)
        return NULL;
    return must_unroll(w, loop) ? arena_printf(f->a, "#pragma unroll\n%s%s %s", indent, head, text)
                                : arena_printf(f->a, "%s %s", head, text);
}

static char *step_question(struct elements *w, struct node question, const char *indent)
{
    const struct function *f = w->f;
    struct node condition = node_field(node_field(question, FIELD_CONDITION), FIELD_VALUE),
                otherwise = node_field(question, FIELD_ALTERNATIVE);
    bool wanted = w->question || node_has(f, question, NODE_FOR_STATEMENT);
    if (!wanted || !same_for_all(w, condition))
        return NULL;
    w->turn = w->question = false;
    size_t refused = w->refused.n;
    char *yes = step_body(w, node_field(question, FIELD_CONSEQUENCE), indent), *no = "";
    w->refused.n = refused;
    if (yes && node_ok(otherwise)) {
        no = step_body(w, node_is(otherwise, NODE_ELSE_CLAUSE) ? node_child(otherwise, 0) : otherwise, indent);
        w->refused.n = refused;
    }
    if (!yes || !no)
        return NULL;
    return arena_printf(f->a, *no ? "if (%s) %s else %s" : "if (%s) %s%s", text_of(f, condition), yes, no);
}

char *elements_step(struct elements *w, struct node n, const char *indent)
{
    bool loop = node_is(n, NODE_FOR_STATEMENT);
    if ((!loop && !node_is(n, NODE_IF_STATEMENT)) || asks_for_shared(w, n))
        return NULL;
    struct err *why = w->why;
    w->why = NULL; /* it stays as it is then */
    char *text = loop ? step_loop(w, n, indent) : step_question(w, n, indent);
    w->why = why;
    return text;
}

char *elements_step_on(struct elements *w, const struct node *statements, size_t n, const char *indent)
{
    const struct function *f = w->f;
    struct node first = statements[0], condition = node_field(node_field(first, FIELD_CONDITION), FIELD_VALUE),
                done = node_unbraced(f, node_field(first, FIELD_CONSEQUENCE));
    bool plain = node_is(first, NODE_IF_STATEMENT) && !node_ok(node_field(first, FIELD_ALTERNATIVE)) &&
                 (node_is(done, NODE_CONTINUE_STATEMENT) || node_is(done, NODE_BREAK_STATEMENT));
    if (!plain || w->behind || !same_for_all(w, condition))
        return NULL;
    char *head = arena_printf(f->a, "if (%s)\n%s    %s", text_of(f, condition), indent, text_of(f, done));
    char *rest = n > 1 ? elements_write(w, statements + 1, n - 1, indent) : "";
    if (!rest)
        return NULL;
    return arena_printf(f->a, *rest ? "%s\n%s" : "%s%s", head, rest);
}

bool elements_is_spread(const struct elements *w, const struct variable *v)
{
    for (size_t i = 0; i < w->spread.n; i++)
        if (w->spread.v[i] == v)
            return true;
    return false;
}

bool elements_spread(struct elements *w, struct node declaration)
{
    const struct function *f = w->f;
    size_t found = 0;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->param || !node_same(v->statement, declaration))
            continue;
        bool zero = node_ok(v->init) &&
                    str_in(text_compact(f->a, text_of(f, v->init)), "{}|{0}|{0.f}|{0.0f}|{0.0}"),
             listed = node_is(v->init, NODE_INITIALIZER_LIST) || node_is(v->init, NODE_ARGUMENT_LIST);
        if (!variable_is_plain(f, v) || v->shared || str_eq(v->type, "auto") ||
            (v->array && node_ok(v->init) && !zero) || (!v->array && listed) ||
            strchr(text_range(f, node_start(declaration), v->from), '&'))
            return false;
        found++;
        if (!elements_is_spread(w, v))
            vec_add(f->a, &w->spread, v);
    }
    return found > 0;
}

const char *elements_spread_arrays(const struct elements *w, struct node declaration, const char *indent)
{
    const struct function *f = w->f;
    struct str b = {.arena = f->a};
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (!v->param && node_same(v->statement, declaration))
            str_addf(&b, "%s%s%s;\n", indent, variable_array_text(f, v, w->n),
                     v->array && node_ok(v->init) ? " = {}" : "");
    return str_text(&b);
}

const char *elements_spread_values(const struct elements *w, struct node declaration, struct edits *edits)
{
    const struct function *f = w->f;
    struct str b = {.arena = f->a};
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (!v->param && node_same(v->statement, declaration) && node_ok(v->init) && !v->array)
            str_addf(&b, "%s%s[%s] = %s;", b.len ? " " : "", v->name, w->lane,
                     edits_range(edits, f, node_start(v->init), node_end(v->init)));
    return str_text(&b);
}
