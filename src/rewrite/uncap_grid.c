/* uncap-grid: a kernel that walks its work in steps of the grid is launched with more blocks than the cap the
 * launcher writes down. Any grid is right for such a kernel. */
#include "rewrite/analysis.h"

struct detail {
    struct node whole, cap, rest; /* the capped expression, its cap, what it is without */
    int64_t value;
    bool drop; /* the cap can go: the rest is an int */
};

/* x < CAP ? x : CAP, CAP < x ? CAP : x, min(x, CAP) */
static bool capped(const struct function *f, struct node e, struct detail *d)
{
    e = node_strip(e);
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION)) {
        struct node yes = node_field(e, FIELD_CONSEQUENCE), no = node_field(e, FIELD_ALTERNATIVE);
        struct node condition = node_strip(node_field(e, FIELD_CONDITION));
        const char *op = node_op(f, condition);
        if (!node_is(condition, NODE_BINARY_EXPRESSION) || (op[0] != '<' && op[0] != '>'))
            return false;
        bool second = constant_value(f, no, &d->value);
        if (!second && !constant_value(f, yes, &d->value))
            return false;
        d->cap = second ? no : yes;
        d->rest = second ? yes : no;
        if (!node_is(node_strip(d->cap), NODE_NUMBER_LITERAL))
            return false;
        /* the same number decides */
        struct node left = node_field(condition, FIELD_LEFT), right = node_field(condition, FIELD_RIGHT);
        int64_t limit;
        bool cap_right = constant_value(f, right, &limit);
        if ((!cap_right && !constant_value(f, left, &limit)) || limit != d->value)
            return false;
        bool less = (op[0] == '<') == cap_right; /* true when small values take the consequence */
        d->whole = e;
        return less == second;
    }
    if (call_is(f, e, "min")) {
        size_t n;
        struct node *args = named_children(f, node_field(e, FIELD_ARGUMENTS), &n);
        if (n != 2)
            return false;
        bool second = node_is(args[1], NODE_NUMBER_LITERAL);
        if (!constant_value(f, args[second], &d->value) || !node_is(args[second], NODE_NUMBER_LITERAL))
            return false;
        d->cap = args[second];
        d->rest = args[!second];
        d->whole = e;
        return true;
    }
    return false;
}

/* Where the grid's x comes from: behind dim3 and the launcher's own names. */
static struct node grid_source(const struct function *f, const struct launch *l)
{
    struct node e = node_strip(l->grid);
    for (int depth = 0; depth < 4; depth++) {
        if (call_is(f, e, "dim3") && node_count(node_field(e, FIELD_ARGUMENTS)) > 0)
            e = node_strip(node_child(node_field(e, FIELD_ARGUMENTS), 0));
        if (!node_is(e, NODE_IDENTIFIER))
            break;
        struct node value = node_field(host_declarator(f, l, e), FIELD_VALUE);
        if (!node_ok(value))
            break;
        e = node_strip(node_is(value, NODE_ARGUMENT_LIST) ? node_child(value, 0) : value);
    }
    return e;
}

static void uncap_find(struct function *f, struct site_list *found)
{
    static const int own[] = {0, 2, 4, 16};
    const struct kernel *k = f->in->kernel;
    const int *times = settings_to_try(f, found, own, ARRAY_LEN(own));
    bool walks = str_has_word(text_of(f, f->body), "gridDim.x");
    for (size_t l = 0; walks && l < f->n_launches; l++) {
        struct detail one = {0};
        if (!capped(f, grid_source(f, &f->launches[l]), &one))
            continue;
        bool seen = false;
        for (size_t s = 0; s < found->list.n; s++)
            seen = seen || node_same(((const struct detail *)found->list.v[s].detail)->whole, one.whole);
        struct node rest = node_strip(one.rest);
        const struct transform_fact *fact =
            node_is(rest, NODE_IDENTIFIER) ? fact_of(f->in, text_of(f, rest)) : NULL;
        if (seen || (fact && fact->high > 0 && fact->high <= one.value))
            continue;
        for (size_t p = 0; p < k->n_params; p++)
            if (str_eq(k->params[p].name, text_of(f, rest)) && k->params[p].type == KT_I32)
                one.drop = true;
        for (const int *t = times; *t != NO_SETTING; t++)
            site_add(found, f, one.whole, *t,
                     *t ? arena_printf(f->a, "%d times more blocks may run, so that more SMs have work", *t)
                        : "a block for each piece of work leaves the balancing to the hardware",
                     "at most %lld blocks", (long long)one.value)
                ->detail = arena_copy(f->a, &one, sizeof(one));
    }
}

static bool uncap_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    const struct detail *d = site->detail;
    (void)why_not;
    if (site->setting == 0 && d->drop) {
        edits_node(edits, d->whole, text_of(f, d->rest));
        return true;
    }
    int64_t cap = site->setting == 0 ? INT32_MAX : MIN(d->value * site->setting, INT32_MAX);
    for (struct node *number = nodes_of(f, d->whole, NODE_NUMBER_LITERAL); node_ok(*number); number++)
        if (node_text_is(f->s, *number, text_of(f, d->cap)))
            edits_node(edits, *number, arena_printf(f->a, "%lld", (long long)cap));
    return true;
}

const struct transform transform_uncap_grid = {
    .name = "uncap-grid",
    .alias = "raise-grid",
    .summary = "lift a cap on the number of blocks of a kernel that walks in steps of the grid",
    .helps = "dram latency issue",
    .parameters = {{"times", 1, 0, 6, {2, 3, 4, 8, 16, 0}}}, /* 0: no cap */
    .find = uncap_find,
    .apply = uncap_apply,
};
