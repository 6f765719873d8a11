/* drop-branches: what the launches decide once and for all is not asked in the kernel. `if (bias != nullptr)`
 * goes, with the branch that is never taken, where every launch passes nullptr; so does what a template's
 * arguments decide. The other transforms then see loads and stores that are behind no question. */
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

static void fold(struct drop *d, struct node n, struct edits *edits)
{
    bool yes;
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
