/* simplify: an index that was taken apart by division and put together again is left whole: (q / n) * n + q % n
 * is q, also where q / n is written p / (n * d) for q = p / d. Integer division by positive numbers, so it is
 * exact for every q >= 0. Variables that nothing needs any more go. */
#include "rewrite/analysis.h"

struct rejoined {
    struct node sum;   /* token * heads + head */
    struct node whole; /* i / dim */
    const char *type;  /* of the variable that held the rest */
};

struct detail {
    const struct function *f;
    VEC(struct rejoined) list;
};

/* Through parentheses, casts and variables that are assigned once. */
static struct node behind(const struct function *f, struct node e)
{
    for (int depth = 0; depth < 8; depth++) {
        e = node_strip(e);
        const struct variable *v = function_variable_of(f, e);
        if (!v || v->param || v->assignments || !node_ok(v->init) || v->array || v->pointer ||
            !ctype_is_integer(f, v->type))
            break;
        e = v->init;
    }
    return e;
}

static bool same_value(const struct function *f, struct node x, struct node y)
{
    struct poly p = poly_of(f, x), q = poly_of(f, y);
    return poly_same(&p, &q);
}

/* Is `quotient` q / n, for q = `whole`? */
static bool divides(const struct function *f, struct node quotient, struct node whole, struct node n)
{
    quotient = behind(f, quotient);
    if (!node_is_binary(f, quotient, "/"))
        return false;
    struct node over = node_field(quotient, FIELD_LEFT), by = node_field(quotient, FIELD_RIGHT);
    if (same_value(f, over, whole) && same_value(f, by, n))
        return true;
    struct node inner = behind(f, whole); /* p / d */
    if (!node_is_binary(f, inner, "/") || !same_value(f, over, node_field(inner, FIELD_LEFT)))
        return false;
    struct poly both = poly_mul(f, poly_of(f, n), poly_of(f, node_field(inner, FIELD_RIGHT))),
                given = poly_of(f, by);
    return poly_same(&both, &given);
}

/* Every name in it is in reach at this byte, and means there what it means in the expression. */
static bool in_reach(const struct function *f, struct node e, size_t at)
{
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        return !v || (function_variable(f, v->name, at) == v && !v->assignments);
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!in_reach(f, node_child(e, i), at))
            return false;
    return true;
}

static bool rejoins(const struct function *f, struct node sum, struct rejoined *found)
{
    if (!node_is_binary(f, sum, "+"))
        return false;
    for (int swap = 0; swap < 2; swap++) {
        struct node product = node_strip(node_field(sum, swap ? FIELD_RIGHT : FIELD_LEFT));
        struct node rest = behind(f, node_field(sum, swap ? FIELD_LEFT : FIELD_RIGHT));
        if (!node_is_binary(f, product, "*") || !node_is_binary(f, rest, "%"))
            continue;
        struct node whole = node_strip(node_field(rest, FIELD_LEFT)), n = node_field(rest, FIELD_RIGHT);
        for (int other = 0; other < 2; other++) {
            struct node quotient = node_field(product, other ? FIELD_RIGHT : FIELD_LEFT);
            struct node by = node_field(product, other ? FIELD_LEFT : FIELD_RIGHT);
            if (same_value(f, by, n) && divides(f, quotient, whole, n) && in_reach(f, whole, node_start(sum))) {
                const struct variable *v =
                    function_variable_of(f, node_strip(node_field(sum, swap ? FIELD_LEFT : FIELD_RIGHT)));
                *found = (struct rejoined){sum, whole, v ? v->type : "auto"};
                return true;
            }
        }
    }
    return false;
}

static void search(struct detail *d, struct node e)
{
    struct rejoined one;
    if (rejoins(d->f, e, &one)) {
        vec_add(d->f->a, &d->list, one);
        return;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        search(d, node_child(e, i));
}

static void simplify_find(struct function *f, struct site_list *found)
{
    struct detail *d = arena_new(f->a, struct detail);
    d->f = f;
    search(d, f->body);
    if (d->list.n > 0)
        site_add(found, f, d->list.v[0].sum, 0,
                 "divisions that only undo each other are among the longest instructions there are", "%s is %s",
                 text_of(f, d->list.v[0].sum), text_of(f, d->list.v[0].whole))
            ->detail = d;
}

/* Mentioned outside its own declaration and outside what is replaced and removed? */
static bool still_used(const struct function *f, const struct variable *v, const struct edits *edits)
{
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        bool gone = node_within(*name, v->statement);
        for (size_t e = 0; e < edits->list.n && !gone; e++)
            gone = node_start(*name) >= edits->list.v[e].start && node_end(*name) <= edits->list.v[e].end;
        if (!gone && function_variable_of(f, *name) == v)
            return true;
    }
    return false;
}

static void remove_unused(const struct function *f, const struct detail *d, struct edits *edits)
{
    bool again = true;
    for (int round = 0; again && round < 8; round++) {
        again = false;
        for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables; v++) {
            bool taken = false, mine = false, needed = false;
            for (size_t e = 0; e < edits->list.n; e++)
                taken = taken || edits->list.v[e].start == str_line_start(f->text, node_start(v->statement));
            for (size_t j = 0; j < f->n_variables; j++) /* all that the statement declares */
                if (node_same(f->variables[j].statement, v->statement))
                    needed = needed || !node_ok(f->variables[j].init) || still_used(f, &f->variables[j], edits);
            for (size_t j = 0; j < d->list.n; j++)
                mine = mine || node_mentions(f, d->list.v[j].sum, v->name);
            if (taken || !mine || needed)
                continue;
            edits_remove(edits, f, v->statement);
            again = true;
        }
    }
}

static bool simplify_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                           struct err *why_not)
{
    const struct detail *d = site->detail;
    struct arena *a = f->a;
    (void)why_not;
    VEC(const char *) names = {0};
    for (size_t i = 0; i < d->list.n; i++) {
        const struct rejoined *r = &d->list.v[i];
        const char *name = NULL;
        for (size_t j = 0; j < i && !name; j++) {
            struct node home = node_parent(node_statement(d->list.v[j].sum)); /* where that name is known */
            if (same_value(f, d->list.v[j].whole, r->whole) && names.v[j][0] != '(' &&
                node_within(r->sum, home))
                name = names.v[j];
        }
        const struct variable *v = function_variable_of(f, r->whole);
        if (!name && v)
            name = v->name;
        struct node statement = node_statement(r->sum);
        if (!name &&
            node_is(node_parent(statement), NODE_COMPOUND_STATEMENT)) { /* a name for what is left whole */
            name = fresh_local(f, i ? arena_printf(a, "quotient_%zu", i + 1) : "quotient");
            edits_at(edits, str_line_start(f->text, node_start(statement)),
                     arena_printf(a, "%sconst %s %s = %s;\n", text_indent(f, node_start(statement)), r->type,
                                  name, text_of(f, r->whole)));
        }
        if (!name)
            name = arena_printf(a, "(%s)", text_of(f, r->whole));
        vec_add(a, &names, name);
        edits_node(edits, r->sum, name);
    }
    remove_unused(f, d, edits);
    return true;
}

const struct transform transform_simplify = {
    .name = "simplify",
    .summary = "leave an index whole that is divided and put together again",
    .helps = "issue latency",
    .find = simplify_find,
    .apply = simplify_apply,
};
