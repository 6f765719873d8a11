/* online-softmax: a loop that adds exp(x - m) over a row, behind one that found m in the same row, goes: the
 * first loop keeps a running maximum of its own for each thread and adds exp(x - running), scaled down whenever
 * that grows. Behind, sum * exp(running - m) is what the second loop would have added, whatever m is, and the
 * row is read once less.
 *
 * Right where both parts of the kernel reach the same values in the same order: the same loops and questions
 * about the same variables, with nothing in between that changes them or the memory. Of the first part anything
 * more may be done that the second does not see. Sums are rounded otherwise; the trial measures it. */
#include "rewrite/analysis.h"

#include <ctype.h>

enum { PAIRS_MOST = 32, PLACES_MOST = 16, SKIPPED_MOST = 64 };

struct place {                    /* where the first part gets to know a value */
    size_t at;                    /* behind this byte */
    struct node bare;             /* the statement there needs braces; or no node */
    const char *value;            /* in the first part's names */
    struct node adds, subtracted; /* of the second part: the statement that adds it, and m */
};

struct match {
    const struct function *f;
    struct node first, second; /* siblings */
    struct {
        const struct variable *first, *second;
    } pairs[PAIRS_MOST];
    size_t n_pairs;
    struct node skipped[SKIPPED_MOST]; /* of the first part alone */
    size_t n_skipped;
    struct place places[PLACES_MOST];
    size_t n_places;
    const struct variable *sum;
    struct node handed; /* of the second part: `x = sum;` at its end, where the sum is its own; or no node */
    const char *exponential, *subtracted;
};

struct statements {
    struct node *list, bare; /* bare: the only one, without braces */
    size_t n, begin;         /* begin: where one may be put in front */
};

static bool declared_in(const struct variable *v, struct node part)
{
    return v->from >= node_start(part) && v->from < node_end(part);
}

/* What a name means; where it is declared, that. */
static const struct variable *meaning(const struct function *f, struct node name)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_same(v->id, name))
            return v;
    return function_variable_of(f, name);
}

static const struct variable *counterpart(const struct match *m, const struct variable *second)
{
    for (size_t i = 0; i < m->n_pairs; i++)
        if (m->pairs[i].second == second)
            return m->pairs[i].first;
    return NULL;
}

static struct statements statements_of(const struct function *f, struct node body)
{
    struct statements s = {.begin = node_start(body) + 1};
    size_t n;
    struct node *all = named_children(f, body, &n);
    if (!node_is(body, NODE_COMPOUND_STATEMENT)) {
        s.list = arena_array(f->a, struct node, 2);
        s.list[s.n++] = s.bare = body;
        s.begin = node_start(body);
        return s;
    }
    s.list = all;
    for (size_t i = 0; i < n; i++)
        if (!node_is(all[i], NODE_PREPROC_CALL)) /* #pragma unroll */
            s.list[s.n++] = all[i];
    return s;
}

/* Is something assigned between these bytes that the expression reads? */
static bool changes(const struct match *m, struct node e, size_t from, size_t to)
{
    const struct function *f = m->f;
    static const enum node_kind kinds[] = {NODE_ASSIGNMENT_EXPRESSION, NODE_UPDATE_EXPRESSION};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *a = nodes_of(f, m->second, kinds[k]); node_ok(*a); a++) {
            struct node target = assigned_target(*a);
            const struct variable *v =
                node_is(target, NODE_IDENTIFIER) ? function_variable_of(f, target) : pointer_root(f, target);
            if (node_start(*a) >= from && node_start(*a) < to && (!v || node_mentions(f, e, v->name)))
                return true;
        }
    return false;
}

/* The second part's text in the first one's names. What it declares once and the first part does not stands for
 * its value. NULL where a name means nothing in the first part. */
static char *in_first(const struct match *m, struct node e, int depth)
{
    const struct function *f = m->f;
    struct edits edits = {.arena = f->a};
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = meaning(f, *name), *other;
        if (!v || !declared_in(v, m->second))
            continue;
        if ((other = counterpart(m, v))) {
            edits_node(&edits, *name, other->name);
            continue;
        }
        bool value = !v->assignments && !v->array && !v->pointer && node_ok(v->init) &&
                     !node_is(v->init, NODE_ARGUMENT_LIST) && !node_is(v->init, NODE_INITIALIZER_LIST) &&
                     !node_has_effect(f, v->init) && !str_has_word(v->type, "auto");
        char *text = value && depth < 4 && !changes(m, v->init, node_end(v->statement), node_start(e))
                         ? in_first(m, v->init, depth + 1)
                         : NULL;
        if (!text)
            return NULL;
        edits_node(&edits, *name, arena_printf(f->a, "((%s)(%s))", v->type, text));
    }
    return edits_range(&edits, f, node_start(e), node_end(e));
}

/* The same text about the same variables? A declaration pairs what it declares. */
static bool is_same(struct match *m, struct node a, struct node b)
{
    const struct function *f = m->f;
    if (!node_ok(a) || !node_ok(b))
        return node_ok(a) == node_ok(b);
    size_t pairs = m->n_pairs;
    struct node *x = names_in(f, a), *y = names_in(f, b);
    for (; node_ok(*x) && node_ok(*y); x++, y++) {
        const struct variable *v = meaning(f, *x), *w = meaning(f, *y);
        bool own = v && w && declared_in(v, m->first) && declared_in(w, m->second);
        if (own && node_same(v->id, *x) && node_same(w->id, *y) && m->n_pairs < PAIRS_MOST) {
            m->pairs[m->n_pairs].first = v;
            m->pairs[m->n_pairs++].second = w;
        } else if (own ? counterpart(m, w) != v : v != w) {
            break;
        }
    }
    const char *text = node_ok(*x) || node_ok(*y) ? NULL : in_first(m, b, 0);
    if (text && str_eq(text_compact(f->a, text), text_compact(f->a, text_of(f, a))))
        return true;
    m->n_pairs = pairs;
    return false;
}

/* Without casts that a number in float or double goes through. */
static struct node uncast(const struct function *f, struct node e)
{
    for (e = node_strip(e);
         node_is(e, NODE_CALL_EXPRESSION) && str_in(call_name(f, e), "static_cast|float|double");)
        e = node_strip(node_child(node_field(e, FIELD_ARGUMENTS), 0));
    return e;
}

/* What `sum += exp(x - m)` is made of. */
static bool adds_exponential(struct match *m, struct node statement, struct place *p)
{
    const struct function *f = m->f;
    struct node e = statement_expression(statement), left = node_field(e, FIELD_LEFT),
                right = uncast(f, node_field(e, FIELD_RIGHT));
    const struct variable *sum = node_is(left, NODE_IDENTIFIER) ? function_variable_of(f, left) : NULL;
    if (!sum || sum->pointer || sum->array || sum->shared || !ctype_is_float(ctype_bound(f, sum->type)))
        return false;
    if (node_is_assignment(f, e, "=") && node_is_binary(f, right, "+")) {
        struct node one = uncast(f, node_field(right, FIELD_LEFT)),
                    other = uncast(f, node_field(right, FIELD_RIGHT));
        if (function_variable_of(f, one) != sum && function_variable_of(f, other) != sum)
            return false;
        right = function_variable_of(f, one) == sum ? other : one;
    } else if (!node_is_assignment(f, e, "+=")) {
        return false;
    }
    const struct variable *named = node_is(right, NODE_IDENTIFIER) ? function_variable_of(f, right) : NULL;
    if (named && declared_in(named, m->second) && !named->assignments && node_ok(named->init))
        right = uncast(f, named->init);
    struct node args = node_field(right, FIELD_ARGUMENTS);
    if (!node_is(right, NODE_CALL_EXPRESSION) || !str_in(call_name(f, right), "expf|exp|__expf|exp2f|exp2") ||
        node_count(args) != 1)
        return false;
    struct node difference = uncast(f, node_child(args, 0)), subtracted = node_field(difference, FIELD_RIGHT);
    const char *exponential = text_of(f, node_field(right, FIELD_FUNCTION));
    if (!node_is_binary(f, difference, "-") || node_has_effect(f, difference) ||
        node_mentions(f, difference, sum->name) || !expression_is_invariant(f, subtracted, m->second))
        return false;
    const char *text = text_compact(f->a, text_of(f, subtracted)), *type = expression_type(f, difference);
    if (type && str_eq(ctype_bound(f, type), "double") && str_eq(ctype_bound(f, sum->type), "float"))
        return false; /* the running maximum has the sum's type */
    if (m->n_places && node_ok(p->bare) && node_same(p->bare, m->places[m->n_places - 1].bare))
        return false;
    if (m->n_places && (sum != m->sum || !str_eq(exponential, m->exponential) || !str_eq(text, m->subtracted)))
        return false;
    m->sum = sum;
    m->exponential = exponential;
    m->subtracted = text;
    p->adds = statement;
    p->subtracted = subtracted;
    p->value = in_first(m, node_field(difference, FIELD_LEFT), 0);
    return p->value != NULL;
}

/* Of the first part alone: it may do what the second part does not see. */
static bool skip(struct match *m, const struct statements *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (m->n_skipped == SKIPPED_MOST)
            return false;
        m->skipped[m->n_skipped++] = s->list[i];
    }
    return true;
}

/* `x = sum;` as the second part's last statement. */
static bool hands_over(const struct match *m, struct node statement)
{
    struct node e = statement_expression(statement);
    const struct variable *to = function_variable_of(m->f, node_field(e, FIELD_LEFT));
    return m->n_places > 0 && node_same(node_parent(statement), m->second) &&
           node_is_assignment(m->f, e, "=") && to && !to->pointer && !declared_in(to, m->second) &&
           function_variable_of(m->f, node_field(e, FIELD_RIGHT)) == m->sum;
}

static bool match_statement(struct match *m, struct node a, struct node b);

/* Each statement of the second list is one of the first, in order, adds an exponential, or declares what that
 * needs. */
static bool match_list(struct match *m, const struct statements *first, const struct statements *second)
{
    const struct function *f = m->f;
    size_t next = 0;
    for (size_t i = 0; i < second->n; i++) {
        struct node b = second->list[i];
        size_t to = next;
        while (to < first->n && !match_statement(m, first->list[to], b))
            to++;
        struct place p = {.at = next ? node_end(first->list[next - 1]) : first->begin, .bare = first->bare};
        if (to < first->n) {
            if (!skip(m, first, next, to))
                return false;
            next = to + 1;
        } else if (m->n_places < PLACES_MOST && adds_exponential(m, b, &p)) {
            m->places[m->n_places++] = p;
        } else if (hands_over(m, b) && i + 1 == second->n) {
            m->handed = b;
        } else if (!node_is(b, NODE_DECLARATION) || node_has_effect(f, b)) {
            return false;
        }
    }
    return skip(m, first, next, first->n);
}

static bool match_statement(struct match *m, struct node a, struct node b)
{
    struct match before = *m;
    if (node_kind(a) != node_kind(b) || node_kind(a) == NODE_OTHER)
        return false;
    bool same = false;
    if (node_is(a, NODE_FOR_STATEMENT) || node_is(a, NODE_IF_STATEMENT)) {
        static const enum node_field heads[] = {FIELD_INITIALIZER, FIELD_CONDITION, FIELD_UPDATE};
        enum node_field inner = node_is(a, NODE_FOR_STATEMENT) ? FIELD_BODY : FIELD_CONSEQUENCE;
        same = !node_ok(node_field(a, FIELD_ALTERNATIVE)) && !node_ok(node_field(b, FIELD_ALTERNATIVE));
        for (size_t i = 0; same && i < ARRAY_LEN(heads); i++)
            same = is_same(m, node_field(a, heads[i]), node_field(b, heads[i]));
        struct statements x = statements_of(m->f, node_field(a, inner)),
                          y = statements_of(m->f, node_field(b, inner));
        same = same && match_list(m, &x, &y);
    } else if (node_is(a, NODE_COMPOUND_STATEMENT)) {
        struct statements x = statements_of(m->f, a), y = statements_of(m->f, b);
        same = match_list(m, &x, &y);
    } else if (node_is(a, NODE_EXPRESSION_STATEMENT) || node_is(a, NODE_DECLARATION) ||
               node_is(a, NODE_TYPE_DEFINITION) || node_is(a, NODE_ALIAS_DECLARATION) ||
               node_is(a, NODE_BREAK_STATEMENT) || node_is(a, NODE_CONTINUE_STATEMENT)) {
        same = is_same(m, a, b);
    }
    if (!same)
        *m = before;
    return same;
}

/* Is something that a statement of the first part alone assigns seen by what both do? */
static bool skipped_is_apart(const struct match *m, struct node n)
{
    const struct function *f = m->f;
    struct node target = assigned_target(n);
    if (node_is(n, NODE_RETURN_STATEMENT) || node_is(n, NODE_BREAK_STATEMENT) ||
        node_is(n, NODE_CONTINUE_STATEMENT) || node_is(n, NODE_GOTO_STATEMENT) ||
        (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure(f, n)))
        return false;
    if (node_ok(target)) {
        bool element = node_is(target, NODE_SUBSCRIPT_EXPRESSION);
        const struct variable *v = element ? pointer_root(f, target) : function_variable_of(f, target);
        if (!v || v->pointer || v->shared || (v->array && !element) || (v->param && element))
            return false; /* memory */
        for (size_t i = 0; i < m->n_pairs; i++)
            if (m->pairs[i].first == v && m->pairs[i].second != m->sum)
                return false;
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!skipped_is_apart(m, node_child(n, i)))
            return false;
    return true;
}

/* The memory that is reached, through pointers that the part itself declares. */
static const struct variable *root_of(const struct match *m, struct node access)
{
    const struct variable *v = pointer_root(m->f, access);
    for (int depth = 0; v && v->pointer && declared_in(v, m->second) && depth < 8; depth++)
        v = node_ok(v->init) ? pointer_root(m->f, v->init) : NULL;
    return v;
}

/* Is it of m, which is read where the second part stands? */
static bool in_subtracted(const struct match *m, struct node n)
{
    for (size_t i = 0; i < m->n_places; i++)
        if (node_within(n, m->places[i].subtracted))
            return true;
    return false;
}

/* Nothing from the first part to the end of the second changes what both look at. */
static bool stays(const struct match *m)
{
    const struct function *f = m->f;
    for (struct node *name = names_in(f, m->second); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (!v || declared_in(v, m->second) || v == m->sum || node_within(*name, m->handed))
            continue;
        for (struct node s = m->first; !in_subtracted(m, *name); s = node_next(s)) {
            if (variable_assigned_in(f, v, s))
                return false;
            if (node_same(s, m->second))
                break;
        }
    }
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_POINTER_EXPRESSION};
    bool reads = false; /* else registers hold the row, and nothing is saved */
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, m->second, kinds[k]); node_ok(*e); e++) {
            if (node_is_address(f, *e) || in_subtracted(m, *e))
                continue;
            const struct variable *root = root_of(m, *e);
            if (!root || (root->shared && !declared_in(root, m->second)))
                return false;
            if (declared_in(root, m->second))
                continue; /* registers of its own */
            reads = reads || root->param;
            for (struct node s = m->first;; s = node_next(s)) {
                if (memory_written_in(f, root->name, s))
                    return false;
                if (node_same(s, m->second))
                    break;
            }
        }
    return reads;
}

/* The sum itself is looked at only where something is added to it. */
static bool adds_only(const struct match *m)
{
    for (struct node *name = names_in(m->f, m->second); node_ok(*name); name++) {
        bool added =
            meaning(m->f, *name) != m->sum || node_same(*name, m->sum->id) || node_within(*name, m->handed);
        for (size_t i = 0; i < m->n_places; i++)
            added = added || node_within(*name, m->places[i].adds);
        if (!added)
            return false;
    }
    return true;
}

/* The second part where the sum is a variable of its own: what remains of its statements, in front of and
 * behind those that add. */
static bool remains(const struct match *m, const char **before, const char **behind)
{
    const struct function *f = m->f;
    struct statements s = statements_of(f, m->second);
    bool added = false;
    const char *wanted = m->sum->name;
    *before = *behind = "";
    for (size_t i = s.n; i-- > 0;) {
        bool adds = false, needed = false;
        for (size_t k = 0; k < m->n_places; k++)
            adds = adds || node_within(m->places[k].adds, s.list[i]);
        added = added || adds;
        if (adds)
            continue;
        char *text = text_of(f, s.list[i]);
        if (!added) {
            *behind = arena_printf(f->a, "%s\n%s", text, *behind);
            wanted = arena_printf(f->a, "%s %s", wanted, text);
            continue;
        }
        for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
            needed = needed || (declared_in(v, m->second) && str_has_word(wanted, v->name) &&
                                (node_same(v->statement, s.list[i]) || variable_assigned_in(f, v, s.list[i])));
        if (needed) {
            *before = arena_printf(f->a, "%s\n%s", text, *before);
            wanted = arena_printf(f->a, "%s %s", wanted, text);
        }
    }
    return added;
}

static bool understood(struct match *m)
{
    const struct function *f = m->f;
    if (calls_barrier(f, m->first) || calls_barrier(f, m->second) || !match_statement(m, m->first, m->second) ||
        m->n_places == 0 || !stays(m) || !adds_only(m))
        return false;
    for (size_t i = 0; i < m->n_skipped; i++)
        if (!skipped_is_apart(m, m->skipped[i]))
            return false;
    return true;
}

static bool node_is_plain(struct node n)
{
    return node_is(n, NODE_IDENTIFIER) || node_is(n, NODE_SUBSCRIPT_EXPRESSION) ||
           node_is(n, NODE_FIELD_EXPRESSION) || node_is(n, NODE_PARENTHESIZED_EXPRESSION);
}

/* The nearest part in front of the second that it can go into. */
static void online_find_before(const struct function *f, struct node second, struct site_list *found)
{
    for (struct node first = node_prev(second); node_ok(first); first = node_prev(first)) {
        struct match m = {.f = f, .first = first, .second = second};
        if (node_kind(first) == node_kind(second) && understood(&m)) {
            site_add(found, f, second, 0, "the row is read once more only to add exponentials",
                     "%zu exponentials added with the loop at line %d", m.n_places, node_line(f->s, first))
                ->detail = arena_copy(f->a, &m, sizeof(m));
            return;
        }
    }
}

/* All pairs of siblings, the later one once. */
static void online_find(struct function *f, struct site_list *found)
{
    for (struct node *second = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*second); second++)
        online_find_before(f, *second, found);
    for (struct node *second = nodes_of(f, f->body, NODE_COMPOUND_STATEMENT); node_ok(*second); second++)
        if (node_is(node_parent(*second), NODE_COMPOUND_STATEMENT))
            online_find_before(f, *second, found);
}

static void place_edit(const struct match *m, const struct place *p, const char *highest, const char *sum,
                       struct edits *edits)
{
    const struct function *f = m->f;
    bool bare = node_ok(p->bare), begins = p->at > 0 && f->text[p->at - 1] == '{';
    size_t start = bare ? node_start(p->bare) : p->at;
    char *indent = text_indent(f, bare ? node_start(node_parent(p->bare)) : p->at - 1);
    char *own = bare || !begins ? indent : arena_printf(f->a, "%s    ", indent);
    const struct fill_slot slots[] = {
        {"indent", arena_printf(f->a, "%s    ", own)},
        {"type", m->sum->type},
        {"value", p->value},
        {"x", fresh_local(f, "online_x")},
        {"above", fresh_local(f, "online_above")},
        {"scale", fresh_local(f, "online_scale")},
        {"highest", highest},
        {"sum", sum},
        {"exp", m->exponential},
    };
    char *step = fill_share(f->a, "cuda/rewrite/online_step.cu", slots, ARRAY_LEN(slots));
    if (!bare) {
        edits_at(edits, start, arena_printf(f->a, "\n%s{\n%s\n%s}", own, step, own));
        return;
    }
    const char *old = arena_printf(f->a, "%s    %s", own, text_of(f, p->bare));
    bool in_front = p->at == start;
    while (start > 0 && isspace((unsigned char)f->text[start - 1]))
        start--;
    if (f->text[start - 1] != ')') /* a comment, which would hide the brace */
        start = node_start(p->bare);
    edits_try(edits, start, node_end(p->bare),
              arena_printf(f->a, " {\n%s\n%s\n%s}", in_front ? step : old, in_front ? old : step, own));
}

static bool online_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    const struct match *m = site->detail;
    const char *type = m->sum->type, *before = "", *behind = "";
    bool wide = str_eq(ctype_bound(f, type), "double");
    const char *highest = fresh_local(f, "online_max"), *sum = fresh_local(f, "online_sum");
    if (declared_in(m->sum, m->second) && !remains(m, &before, &behind))
        return err_input(why_not, "what remains of the second part is not seen");
    for (size_t i = 0; i < m->n_places; i++)
        place_edit(m, &m->places[i], highest, sum, edits);
    struct node pragma = node_prev(m->first);
    size_t start = node_start(node_is(pragma, NODE_PREPROC_CALL) ? pragma : m->first);
    edits_at(edits, start,
             arena_printf(f->a, "%s %s = %s, %s = 0; // over this thread's x: sum of exp(x - %s)\n%s", type,
                          highest, wide ? "-1.7976931348623157e308" : "-3.402823466e38f", sum, highest,
                          text_indent(f, start)));
    char *whole = arena_printf(f->a, "%s += %s * %s(%s - %s);", m->sum->name, sum, m->exponential, highest,
                               node_is_plain(m->places[0].subtracted)
                                   ? text_of(f, m->places[0].subtracted)
                                   : arena_printf(f->a, "(%s)", text_of(f, m->places[0].subtracted)));
    if (declared_in(m->sum, m->second))
        whole = text_reindent(f->a, arena_printf(f->a, "{\n    %s%s\n    %s}", before, whole, behind),
                              (int)strlen(text_indent(f, node_start(m->second))));
    pragma = node_prev(m->second);
    edits_try(edits, node_start(node_is(pragma, NODE_PREPROC_CALL) ? pragma : m->second), node_end(m->second),
              whole);
    return true;
}

const struct transform transform_online_softmax = {
    .name = "online-softmax",
    .summary = "add exponentials under a running maximum in the loop that finds the maximum: one reading less",
    .helps = "dram l2 latency issue",
    .find = online_find,
    .apply = online_apply,
};
