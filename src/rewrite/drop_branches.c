/* drop-branches: what the launches decide once and for all is not asked in the kernel. `if (bias != nullptr)`
 * goes, with the branch that is never taken, where every launch passes nullptr; so does what a template's
 * arguments decide, and `bias ? bias[i] : 0.0f` is the value that is taken. The other transforms then see loads
 * and stores that are behind no question. */
#include "rewrite/analysis.h"

struct drop {
    const struct function *f;
    struct node first; /* question that goes */
};

static void fold(struct drop *d, struct node n, struct edits *edits);

/* A question with a known answer, which does nothing else. */
static bool is_decided(const struct function *f, struct node n, bool *yes)
{
    struct node clause = node_field(n, FIELD_CONDITION);
    int64_t value;
    if (!node_is(n, NODE_IF_STATEMENT) || node_ok(node_field(clause, FIELD_INITIALIZER)) ||
        node_has_effect(f, clause) || strchr(text_of(f, n), '#') ||
        !launched_value(f, node_field(clause, FIELD_VALUE), &value))
        return false;
    *yes = value != 0;
    return true;
}

/* What remains of the question; no node: nothing. */
static struct node branch_taken(struct node question, bool yes)
{
    struct node other = node_field(question, FIELD_ALTERNATIVE);

    if (yes)
        return node_field(question, FIELD_CONSEQUENCE);
    return node_is(other, NODE_ELSE_CLAUSE) ? node_child(other, 0) : other;
}

/* What stands between braces that hold no names of their own; else the statement as it is. */
static void inner_part(const struct function *f, struct node branch, size_t *start, size_t *end)
{
    size_t n = 0;
    struct node *inner = node_is(branch, NODE_COMPOUND_STATEMENT) ? named_children(f, branch, &n) : NULL;
    bool names = false;

    *start = node_start(branch);
    *end = node_end(branch);
    for (size_t i = 0; i < n; i++)
        names =
            names || !(node_is(inner[i], NODE_EXPRESSION_STATEMENT) || node_is(inner[i], NODE_IF_STATEMENT) ||
                       node_is(inner[i], NODE_FOR_STATEMENT) || node_is(inner[i], NODE_COMMENT));
    if (n > 0 && !names) {
        *start = node_start(inner[0]);
        *end = node_end(inner[n - 1]);
    }
}

static void drop_question(struct drop *d, struct node question, bool yes, struct edits *edits)
{
    const struct function *f = d->f;
    struct node branch = branch_taken(question, yes);
    size_t start = node_start(question), end = node_end(question), from, to;
    bool among = node_is(node_parent(question), NODE_COMPOUND_STATEMENT);
    const char *text = "{}";

    if (!node_ok(branch) && among) {
        edits_remove(edits, f, question);
        return;
    }
    if (node_ok(branch)) {
        struct edits inside = {.arena = f->a};
        from = node_start(branch);
        to = node_end(branch);
        if (among)
            inner_part(f, branch, &from, &to);
        fold(d, branch, &inside);
        int by = (int)strlen(text_indent(f, start)) - (int)strlen(text_indent(f, from));
        text = text_reindent(f->a, edits_range(&inside, f, from, to), by);
    }
    edits_try(edits, start, end, text);
}

/* `bias ? bias[i] : 0.0f` with a known answer: the value that is taken; no node where it is not known, or where
 * the other one gave it its type. */
static struct node value_taken(const struct function *f, struct node n)
{
    struct node condition = node_field(n, FIELD_CONDITION), none = {0};
    int64_t value;

    if (!node_is(n, NODE_CONDITIONAL_EXPRESSION) || node_has_effect(f, condition) ||
        !launched_value(f, condition, &value))
        return none;
    struct node yes = node_field(n, FIELD_CONSEQUENCE), no = node_field(n, FIELD_ALTERNATIVE),
                taken = value ? yes : no, other = value ? no : yes;
    const char *type = expression_type(f, taken), *beside = expression_type(f, other);
    bool wider = type && beside && ctype_is_float(ctype_bound(f, type)) && ctype_is_integer(f, beside);
    struct node up = node_parent(n); /* or what takes it has a type of its own */
    bool told = node_is(up, NODE_INIT_DECLARATOR) && !str_has_word(text_of(f, node_parent(up)), "auto");
    return told || wider || (type && str_eq(type, beside)) ? taken : none;
}

/* `vectors == 0 && i >= n` where only one side is known, and settles nothing: the other side; no node: it is
 * none. The value is only asked for being 0. */
static struct node side_asked(const struct function *f, struct node n)
{
    struct node left = node_field(n, FIELD_LEFT), right = node_field(n, FIELD_RIGHT), up = node_parent(n);
    bool both = node_is_binary(f, n, "&&");
    int64_t value;

    while (node_is(up, NODE_PARENTHESIZED_EXPRESSION))
        up = node_parent(up);
    bool asked =
        node_is(up, NODE_CONDITION_CLAUSE) || node_is_binary(f, up, "&&") || node_is_binary(f, up, "||");
    if (!asked || !(both || node_is_binary(f, n, "||")))
        return (struct node){0};
    if (!node_has_effect(f, left) && launched_value(f, left, &value) && (value != 0) == both)
        return right;
    if (!node_has_effect(f, right) && launched_value(f, right, &value) && (value != 0) == both)
        return left;
    return (struct node){0};
}

static void fold(struct drop *d, struct node n, struct edits *edits)
{
    bool yes;
    struct node taken = value_taken(d->f, n);
    if (!node_ok(taken))
        taken = side_asked(d->f, n);
    if (node_ok(taken)) {
        struct edits inside = {.arena = d->f->a};
        fold(d, taken, &inside);
        d->first = node_ok(d->first) ? d->first : n;
        const char *text = edits_range(&inside, d->f, node_start(taken), node_end(taken));
        bool whole = node_is(taken, NODE_IDENTIFIER) || node_is(taken, NODE_NUMBER_LITERAL) ||
                     node_is(taken, NODE_SUBSCRIPT_EXPRESSION) || node_is(taken, NODE_CALL_EXPRESSION) ||
                     node_is(taken, NODE_PARENTHESIZED_EXPRESSION) ||
                     node_is(node_parent(n), NODE_PARENTHESIZED_EXPRESSION) ||
                     node_is(node_parent(n), NODE_CONDITION_CLAUSE);
        edits_node(edits, n, whole ? text : arena_printf(d->f->a, "(%s)", text));
        return;
    }
    if (is_decided(d->f, n, &yes)) {
        d->first = node_ok(d->first) ? d->first : n;
        drop_question(d, n, yes, edits);
        return;
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        fold(d, node_child(n, i), edits);
}

static bool drops(struct drop *d, const struct function *f, struct edits *edits)
{
    *d = (struct drop){.f = f};
    if (f->n_launches > 0 && function_may_be_copied(f))
        fold(d, f->body, edits);
    return node_ok(d->first);
}

static void drop_find(struct function *f, struct site_list *found)
{
    struct drop d;
    if (drops(&d, f, &(struct edits){.arena = f->a}))
        site_add(found, f, d.first, 0, "every launch gives the same answer, and hides what is behind it",
                 "questions that the launches decide");
}

static bool drop_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct drop d;
    (void)site;
    return drops(&d, f, edits) || err_input(why_not, "%s asks nothing that its launches decide", f->name);
}

const struct transform transform_drop_branches = {
    .name = "drop-branches",
    .summary = "leave out branches that no launch takes, and questions that all launches answer alike",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find = drop_find,
    .apply = drop_apply,
};
