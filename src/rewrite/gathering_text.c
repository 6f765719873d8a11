/* The text of a gathering: its rows, columns and depth, the lambdas that compute a factor's elements, and the
 * variables of a result. */
#include "rewrite/gathering.h"

static char *node_as(const struct gathering *g, struct node n, const struct launch *l)
{
    const struct function *f = g->c->f;
    char *text = l ? launch_expression(f, l, n) : text_of(f, n);

    return !text || str_is_name(text) ? text : arena_printf(f->a, "(%s)", text);
}

/* NULL where a factor cannot be said */
static char *product_text(const struct gathering *g, const struct grid_product *p, const struct launch *l)
{
    struct str b = {0};
    bool said = p->ok;

    if (p->by != 1 || p->n == 0)
        str_addf(&b, "%lld", (long long)p->by);
    for (int i = 0; i < p->n && said; i++) {
        char *factor = node_as(g, p->factor[i], l);
        said = factor;
        str_addf(&b, "%s%s", b.len ? " * " : "", factor ? factor : "");
    }
    char *text = str_take(&b, g->c->f->a);
    return said ? text : NULL;
}

const char *gathering_told(const struct gathering *g, int dimension)
{
    static const char *const names[] = {"x_threads", "y_threads", "z_threads"};

    for (int i = 0; i < g->n_digits; i++)
        if (g->digits[i].value.dimension == dimension && g->digits[i].value.whole &&
            !node_ok(g->ends[dimension]))
            return fresh_local(g->c->f, names[dimension]);
    return NULL;
}

/* How many of the last digit there are, rounded up; *exact: without. */
static char *last_count(const struct gathering *g, const struct grid_digit *d, const struct launch *l,
                        bool *exact)
{
    const struct function *f = g->c->f;
    int dimension = d->value.dimension;
    struct grid_product by = d->value.by;

    *exact = true;
    if (node_ok(g->ends[dimension])) {
        struct grid_product end = grid_product_of(f, g->ends[dimension]);
        by = grid_product_divided(&by, &g->ended[dimension].by);
        struct grid_product count = grid_product_divided(&end, &by);
        if (count.ok)
            return product_text(g, &count, l);
        *exact = false;
    }
    char *all = (char *)gathering_told(g, dimension);
    if (node_ok(g->ends[dimension]))
        all = node_as(g, g->ends[dimension], l);
    else if (l)
        all = contraction_grid(f, l, dimension);
    char *divisor = product_text(g, &by, l);
    if (!all || !divisor)
        return NULL;
    if (str_eq(divisor, "1"))
        return str_is_name(all) ? all : arena_printf(f->a, "(%s)", all);
    return arena_printf(f->a, "((%s + %s - 1) / (%s))", all, divisor, divisor);
}

static char *digit_count(const struct gathering *g, const struct grid_digit *d, const struct launch *l)
{
    bool exact;

    return d->value.whole ? last_count(g, d, l, &exact) : product_text(g, &d->value.modulus, l);
}

char *gathering_count(const struct gathering *g, uint64_t digits, const struct launch *l)
{
    struct arena *a = g->c->f->a;
    char *text = NULL;

    for (int i = g->n_digits; i-- > 0;) {
        if (!(digits >> i & 1))
            continue;
        char *count = digit_count(g, &g->digits[i], l);
        if (!count)
            return NULL;
        const char *before = l ? "" : "(long long)";
        text = text ? arena_printf(a, "%s * %s", text, count) : arena_printf(a, "%s%s", before, count);
    }
    return text;
}

char *gathering_depth(const struct gathering *g)
{
    struct arena *a = g->c->f->a;
    char *text = arena_printf(a, "(long long)%s", node_as(g, g->loops[0].depth, NULL));

    for (int i = 1; i < g->n_loops; i++)
        text = arena_printf(a, "%s * %s", text, node_as(g, g->loops[i].depth, NULL));
    return text;
}

/* ---- the digits of an index ---- */

/* index / (what lies below) % (what there is of it), the last one without the latter */
static char *part_text(struct arena *a, const char *index, const char *below, const char *count)
{
    char *text = *below ? arena_printf(a, "%s / (%s)", index, below) : arena_strdup(a, index);

    return count ? arena_printf(a, "%s %% %s", text, count) : text;
}

struct field {
    const struct variable *v;
    const char *value;
};
typedef VEC(struct field) field_list;

static const char *divisor_name(const struct gathering *g, int loop)
{
    return fresh_local(g->c->f, arena_printf(g->c->f->a, "by_%s", g->loops[loop].v->name));
}

static field_list digit_fields(const struct gathering *g, uint64_t digits, const char *index)
{
    struct arena *a = g->c->f->a;
    field_list fields = {0};
    char *below = "";

    for (int i = 0; i < g->n_digits; i++) {
        const struct grid_digit *d = &g->digits[i];
        if (!(digits >> i & 1))
            continue;
        bool last = digits >> i == 1;
        char *count = last ? NULL : digit_count(g, d, NULL);
        struct field field = {
            d->v, part_text(a, index, below, count ? arena_printf(a, "(unsigned int)(%s)", count) : NULL)};
        vec_add(a, &fields, field);
        if (!last)
            below = arena_printf(a, "%s%s(unsigned int)(%s)", below, *below ? " * " : "", count);
    }
    return fields;
}

static field_list loop_fields(const struct gathering *g, const char *index)
{
    struct arena *a = g->c->f->a;
    field_list fields = {0};

    for (int i = g->n_loops; i-- > 0;) {
        const char *by = i ? arena_printf(a, "place_digit(%s, %s)", index, divisor_name(g, i)) : index;
        struct field field = {g->loops[i].v, by};
        vec_add(a, &fields, field);
    }
    return fields;
}

/* ---- lambdas ---- */

static bool mentions(const struct function *f, const struct variable *v, const node_list *in)
{
    for (size_t i = 0; i < in->n; i++)
        if (node_mentions(f, in->v[i], v->name))
            return true;
    return false;
}

/* Does a statement of the path give this operand a value? */
static bool is_needed(const struct function *f, struct node s, const node_list *in)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (node_within(v->statement, s) && mentions(f, v, in))
            return true;
    for (struct node *e = nodes_of(f, s, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        const struct variable *v = function_variable_of(f, assigned_target(*e));
        if (v && mentions(f, v, in))
            return true;
    }
    return false;
}

/* What a lambda returns: an element, or its place. */
struct returned {
    const char *type, *nothing, *value;
};

/* The factor without conversions, where it is an element itself and no address that a load takes. */
static struct node element_of(const struct gathering *g, const struct gathered_operand *o)
{
    struct node element = contraction_element(g->c->f, o->factor, g->c->loop);

    return node_is_address(g->c->f, element) || gathering_assigns(g) ? o->factor : element;
}

/* Does it only compute, at the cost of little? Then it may be done where the path does not lead. */
static bool is_cheap(const struct function *f, struct node n)
{
    static const enum node_kind dear[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_POINTER_EXPRESSION,
                                          NODE_CALL_EXPRESSION,      NODE_CONDITIONAL_EXPRESSION,
                                          NODE_FIELD_EXPRESSION,     NODE_IF_STATEMENT};

    for (size_t i = 0; i < ARRAY_LEN(dear); i++)
        if (node_is(n, dear[i]) || node_has(f, n, dear[i]))
            return false;
    for (struct node *e = nodes_of(f, n, NODE_BINARY_EXPRESSION); node_ok(*e); e++)
        if (str_in(node_op(f, *e), "/|%"))
            return false;
    return !(node_is(n, NODE_BINARY_EXPRESSION) && str_in(node_op(f, n), "/|%"));
}

/* A condition, or its opposite. */
static char *condition_text(const struct function *f, struct node e, bool negated)
{
    e = node_strip(e);
    const char *op = node_is(e, NODE_BINARY_EXPRESSION) ? node_op(f, e) : "";
    bool both = str_eq(op, "&&"), either = str_eq(op, "||");

    if (both || either)
        return arena_printf(f->a, either == negated ? "%s && %s" : "(%s || %s)",
                            condition_text(f, node_field(e, FIELD_LEFT), negated),
                            condition_text(f, node_field(e, FIELD_RIGHT), negated));
    static const char *const ops[] = {"<", ">=", ">", "<=", "==", "!="};
    const char *type = expression_type(f, node_field(e, FIELD_LEFT)); /* what is no number is not ordered */
    bool whole = type && ctype_is_integer(f, ctype_bound(f, type));
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_eq(op, ops[i]) && (whole || !negated))
            return arena_printf(f->a, "%s %s %s", text_of(f, node_field(e, FIELD_LEFT)),
                                ops[negated ? i ^ 1 : i], text_of(f, node_field(e, FIELD_RIGHT)));
    return arena_printf(f->a, negated ? "!(%s)" : "(%s)", text_of(f, e));
}

/* The path to an operand's element: what it needs of it, as text; all: the nodes of it. Where it is cheap there
 * is one question at its end, which the compiler makes a predicate of. exists: the name of what is asked
 * besides. */
static char *path_text(const struct gathering *g, const struct gathered_operand *o, node_list *all,
                       const char *exists, const char *nothing)
{
    const struct function *f = g->c->f;
    struct arena *a = f->a;
    VEC(bool) taken = {0};
    struct str b = {0}, asked = {0};
    bool cheap = true;

    vec_add(a, all, element_of(g, o));
    for (size_t i = 0; i < g->path.n; i++)
        vec_add(a, &taken, false);
    for (size_t i = g->path.n; i-- > 0;) {
        struct path_item *item = &g->path.v[i];
        uint64_t of = gathering_needs(g, item->node) & GATHERED_ALL;
        taken.v[i] = item->condition ? !(of & ~o->digits) : is_needed(f, item->node, all);
        if (!taken.v[i])
            continue;
        vec_add(a, all, item->node);
        cheap = cheap && is_cheap(f, item->node);
    }
    if (!cheap)
        str_addf(&b, "        if (!%s)\n            return %s;\n", exists, nothing);
    for (size_t i = 0; i < g->path.n; i++) {
        struct path_item *item = &g->path.v[i];
        if (!taken.v[i])
            continue;
        if (item->condition && cheap)
            str_addf(&asked, " && %s", condition_text(f, item->node, item->negated));
        else if (item->condition)
            str_addf(&b, "        if (%s)\n            return %s;\n",
                     condition_text(f, item->node, !item->negated), nothing);
        else
            str_addf(&b, "        %s\n",
                     text_reindent(a, text_of(f, item->node),
                                   8 - (int)strlen(text_indent(f, node_start(item->node)))));
    }
    if (cheap)
        str_addf(&b, "        if (!(%s%s))\n            return %s;\n", exists, str_take(&asked, a), nothing);
    return str_take(&b, a);
}

/* A lambda that takes an index apart. */
static void add_fields(struct str *b, const struct gathering *g, const char *name, const field_list *fields)
{
    const struct function *f = g->c->f;
    const char *index = fresh_local(f, "index"), *place = fresh_local(f, "place");
    struct str types = {0}, values = {0};

    for (size_t i = 0; i < fields->n; i++) {
        const struct field *at = &fields->v[i];
        str_addf(&types, "            %s %s;\n", at->v->type, at->v->name);
        str_addf(&values, "        %s.%s = static_cast<%s>(%s);\n", place, at->v->name, at->v->type, at->value);
    }
    str_addf(
        b,
        "    const auto %s = [=](unsigned int %s) {\n        struct {\n%s        } %s;\n%s        return %s;\n    };\n",
        name, index, str_take(&types, f->a), place, str_take(&values, f->a), place);
}

/* Are an axis' digits one run of a dimension's, so that its index is one number of a value? */
static bool is_run(const struct gathering *g, uint64_t axis)
{
    int first = __builtin_ctzll(axis);

    for (int i = first; axis >> i; i++)
        if (!(axis >> i & 1) || g->digits[i].value.dimension != g->digits[first].value.dimension)
            return false;
    return true;
}

/* A value that is put together of digits: idx of row and column. `whole`: the axes have indices by these names.
 */
static char *value_text(const struct gathering *g, const struct grid_value *v, const char *type, uint64_t mask,
                        const char *const whole[2])
{
    const struct function *f = g->c->f;
    uint64_t axes[] = {g->x.digits, g->y.digits};
    struct str b = {0};

    for (int i = 0; i < g->n_digits; i++) {
        const struct grid_digit *d = &g->digits[i];
        struct grid_product by = grid_product_divided(&d->value.by, &v->by);
        const char *name = d->v->name, *of = d->v->type;
        if (!(mask >> i & 1))
            continue;
        for (int k = 0; k < 2 && whole; k++)
            if ((axes[k] >> i & 1) && !(axes[k] & ~mask) && is_run(g, axes[k])) {
                name = whole[k];
                of = "unsigned int";
                mask &= ~axes[k];
            }
        const char *step = product_text(g, &by, NULL);
        bool same = str_eq(of, type);
        str_addf(&b, "%s%s%s%s%s%s", b.len ? " + " : "",
                 same ? "" : arena_printf(f->a, "static_cast<%s>(", type), name, same ? "" : ")",
                 str_eq(step, "1") ? "" : " * ", str_eq(step, "1") ? "" : step);
    }
    return str_take(&b, f->a);
}

static bool is_digit(const struct gathering *g, const struct variable *v)
{
    for (int i = 0; i < g->n_digits; i++)
        if (g->digits[i].v == v)
            return true;
    return false;
}

/* Declares what is mentioned and made of digits; the digits that it is made of are then, too. */
static char *made_text(const struct gathering *g, node_list *in, const char *indent, const char *const whole[2])
{
    const struct function *f = g->c->f;
    struct str b = {0};
    size_t n = f->n_variables;

    for (size_t i = 0; i < n; i++) {
        const struct variable *v = &f->variables[i];
        const struct grid_value *value = &g->values[i];
        if (!value->ok || is_digit(g, v) || !mentions(f, v, in))
            continue;
        str_addf(&b, "%sconst %s %s = %s;\n", indent, v->type, v->name,
                 value_text(g, value, v->type, g->needs[i], whole));
        for (int d = 0; d < g->n_digits; d++) {
            uint64_t axis = g->x.digits >> d & 1 ? g->x.digits : g->y.digits;
            bool run = whole && !(axis & ~g->needs[i]) && is_run(g, axis);
            if ((g->needs[i] >> d & 1) && !run)
                vec_add(f->a, in, g->digits[d].v->id);
        }
    }
    return str_take(&b, f->a);
}

static void add_names(struct str *b, const struct gathering *g, const char *of, const field_list *fields,
                      const node_list *in)
{
    for (size_t i = 0; i < fields->n; i++) {
        const struct variable *v = fields->v[i].v;
        if (mentions(g->c->f, v, in))
            str_addf(b, "        const %s %s = %s.%s;\n", v->type, v->name, of, v->name);
    }
}

static struct returned returned_of(const struct gathering *g, const struct gathered_operand *o, bool by_place)
{
    struct arena *a = g->c->f->a;
    const char *type = o == &g->x ? g->c->x.type : g->c->y.type,
               *value = text_of(g->c->f, unbracketed(element_of(g, o)));

    if (by_place)
        return (struct returned){arena_printf(a, "const %s *", type), "nullptr", arena_printf(a, "&%s", value)};
    return (struct returned){type, arena_printf(a, "static_cast<%s>(0)", type),
                             arena_printf(a, "static_cast<%s>(%s)", type, value)};
}

static void add_operand(struct str *b, const struct gathering *g, const struct gathered_operand *o,
                        const char *name, bool by_place)
{
    const struct function *f = g->c->f;
    struct arena *a = f->a;
    const char *index = fresh_local(f, "index"), *own = fresh_local(f, "own"),
               *window = fresh_local(f, "window");
    struct returned r = returned_of(g, o, by_place);
    node_list all = {0};

    if (o->strided)
        return;
    const char *exists = fresh_local(f, "exists");
    char *path = path_text(g, o, &all, exists, r.nothing), *made = made_text(g, &all, "        ", NULL);
    field_list digits = digit_fields(g, o->digits, index), loops = loop_fields(g, index);
    add_fields(b, g, fresh_local(f, arena_printf(a, "%s_own", name)), &digits);
    add_fields(b, g, fresh_local(f, arena_printf(a, "%s_window", name)), &loops);
    str_addf(b, "    const auto %s = [=](const auto &%s, const auto &%s, bool %s) -> %s {\n",
             fresh_local(f, arena_printf(a, "%s_element", name)), own, window, exists, r.type);
    add_names(b, g, own, &digits, &all);
    add_names(b, g, window, &loops, &all);
    str_addf(b, "%s%s        return %s;\n    };\n", made, path, r.value);
}

char *gathering_lambdas(const struct gathering *g, bool by_place)
{
    struct str b = {0};

    for (int i = 1; i < g->n_loops; i++)
        str_addf(&b, "    const place_divisor %s(%s);\n", divisor_name(g, i),
                 text_of(g->c->f, g->loops[i].depth));
    add_operand(&b, g, &g->x, "x", by_place);
    add_operand(&b, g, &g->y, "y", by_place);
    char *text = text_trim(str_take(&b, g->c->f->a));
    return text + strspn(text, " ");
}

char *gathering_operand(const struct gathering *g, const struct gathered_operand *o, const char *blocks,
                        const char *deep0)
{
    const struct function *f = g->c->f;
    struct arena *a = f->a;
    const char *name = o == &g->x ? "x" : "y", *out0 = fresh_local(f, o == &g->x ? "row0" : "col0");
    const struct contraction_operand *at = o == &g->x ? &g->c->x : &g->c->y;
#define NAME(n) fresh_local(f, arena_printf(a, "%s_%s", name, n))

    if (!o->strided && str_eq(blocks, "mma"))
        return arena_printf(a, "mma_gather(%s, %s, %s, %s, %s, %s, %s)", NAME("own"), NAME("window"),
                            NAME("element"), out0, deep0, pointer_root(f, element_of(g, o))->name,
                            node_as(g, g->loops[g->n_loops - 1].depth, NULL));
    if (!o->strided)
        return arena_printf(a, "%s_gather(%s, %s, %s, %s, %s)", blocks, NAME("own"), NAME("window"),
                            NAME("element"), out0, deep0);
    char *start = at->start.n ? arena_printf(a, "%s + %s", at->root, contraction_text(g->c, &at->start))
                              : arena_strdup(a, at->root);
    char *deep = str_eq(deep0, "0") ? "" : arena_printf(a, " + %s * %s", deep0, NAME("deep"));
    return arena_printf(a, "%s_strided<%s>{%s + %s * %s%s, %s, %s}", blocks, at->type, start, out0, NAME("out"),
                        deep, NAME("out"), NAME("deep"));
#undef NAME
}

/* ---- a result ---- */

/* Where the last digits were rounded up: not all of these exist. */
static void add_ends(struct str *b, const struct gathering *g, node_list *in)
{
    const struct function *f = g->c->f;

    for (int i = 0; i < g->n_digits; i++) {
        const struct grid_digit *d = &g->digits[i];
        int dimension = d->value.dimension;
        bool exact = true;
        if (d->value.whole)
            last_count(g, d, NULL, &exact);
        if (exact)
            continue;
        const struct grid_value *ended = &g->ended[dimension];
        uint64_t mask = 0;
        for (int k = 0; k < g->n_digits; k++)
            if (g->digits[k].value.dimension == dimension &&
                grid_product_divided(&g->digits[k].value.by, &ended->by).ok) {
                mask |= 1ull << k;
                vec_add(f->a, in, g->digits[k].v->id);
            }
        str_addf(b, "            if (%s >= %s)\n                continue;\n",
                 value_text(g, ended, "long long", mask, NULL), text_of(f, g->ends[dimension]));
    }
}

static void add_axis(struct str *b, const struct gathering *g, uint64_t digits, const char *index,
                     const char *value, const node_list *in)
{
    const struct function *f = g->c->f;
    field_list fields = digit_fields(g, digits, index);

    str_addf(b, "            const unsigned int %s = %s;\n", index, value);
    for (size_t k = 0; k < fields.n; k++) {
        const struct variable *v = fields.v[k].v;
        if (!mentions(f, v, in))
            continue;
        str_addf(b, "            const %s %s = %s;\n", v->type, v->name, fields.v[k].value);
    }
}

char *gathering_indices(const struct gathering *g, const char *row, const char *col, const struct node *in,
                        size_t n, char **ahead)
{
    const struct function *f = g->c->f;
    struct arena *a = f->a;
    node_list all = {0};
    struct str b = {0}, behind = {0}, before = {0};
    const char *const whole[] = {fresh_local(f, "row_index"), fresh_local(f, "col_index")};

    for (size_t i = 0; i < n; i++)
        vec_add(a, &all, in[i]);
    add_ends(&behind, g, &all);
    str_add(&behind, made_text(g, &all, "            ", whole));
    add_axis(&b, g, g->x.digits, whole[0], row, &all);
    add_axis(ahead ? &before : &b, g, g->y.digits, whole[1], col, &all);
    str_add(&b, str_take(&behind, a));
    char *text = text_trim(str_take(&b, a));
    if (ahead) {
        *ahead = text_reindent(a, text_trim(str_take(&before, a)), -8);
        *ahead += strspn(*ahead, " ");
    }
    return text + strspn(text, " ");
}
