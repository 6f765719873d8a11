/* first-values: a variable is declared where it gets its first value. `int i; ...; i = first;` is written as
 * `int i = first;`, and `int i; for (i = first; i < n; i += lanes)` as a loop that declares its counter, as the
 * other transforms read them. Alone it changes nothing.
 *
 * An integer that statements beside its declaration assign again, `i *= 4;`, is another variable from there on.
 *
 * Nobody asks for the variable ahead of that value: the statement stands beside the declaration, so that it is
 * always reached, and no jump goes around it; or everything that is done with the variable is done in loops
 * that begin with a value of their own. */
#include "rewrite/analysis.h"

struct late {
    const struct function *f;
    const struct variable *v;
    node_list first; /* `v = first`: of a statement, or of loops */
    bool again;      /* it has a value before, and another one from each of these on */
};
typedef VEC(struct late) late_list;

/* A declaration of plain local variables, whose words in front of the names may be said again. */
static bool is_plain(const struct function *f, const struct variable *v)
{
    static const char *const others[] = {"static", "extern",    "volatile",    "__shared__",
                                         "const",  "constexpr", "thread_local"};
    struct node first = node_field(v->statement, FIELD_DECLARATOR);
    size_t position;

    if (v->param || v->pointer || v->array || v->shared || node_ok(v->init) || v->assignments == 0 ||
        !node_is(v->statement, NODE_DECLARATION) ||
        !node_is(node_parent(v->statement), NODE_COMPOUND_STATEMENT) ||
        !node_same(node_parent(v->id), v->statement))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_has_word(text_range(f, node_start(v->statement), node_start(first)), others[i]))
            return false;
    return ctype_size(f, v->type) > 0 || ctype_is_parameter(f, v->type, &position) ||
           str_eq(ctype_alias(f, v->type), "bool") || ctype_is_integer(f, v->type);
}

/* `v = e`, and e does not ask for v. */
static bool gives(const struct function *f, struct node e, const struct variable *v)
{
    return node_is_assignment(f, e, "=") && function_variable_of(f, node_field(e, FIELD_LEFT)) == v &&
           !node_mentions(f, node_field(e, FIELD_RIGHT), v->name);
}

/* The outermost loop around n that begins with a value of v; no node: there is none. */
static struct node loop_of(const struct function *f, struct node n, const struct variable *v)
{
    struct node found = {0};

    for (struct node up = node_parent(n); !node_same(up, f->body); up = node_parent(up))
        if (node_is(up, NODE_FOR_STATEMENT) && gives(f, node_field(up, FIELD_INITIALIZER), v))
            found = up;
    return found;
}

static bool late_of(const struct function *f, const struct variable *v, struct late *x)
{
    size_t n;
    struct node *names = variable_names(f, v, &n), block = node_parent(v->statement), loop, statement;

    *x = (struct late){.f = f, .v = v};
    if (n < 2)
        return false;
    statement = node_parent(node_parent(names[1]));
    if (gives(f, node_parent(names[1]), v) && node_is(statement, NODE_EXPRESSION_STATEMENT) &&
        node_same(node_parent(statement), block)) {
        vec_add(f->a, &x->first, node_parent(names[1]));
        return true;
    }
    for (size_t i = 1; i < n; i++) {
        loop = loop_of(f, names[i], v);
        if (!node_ok(loop))
            return false;
        struct node first = node_field(loop, FIELD_INITIALIZER);
        if (x->first.n == 0 || !node_same(x->first.v[x->first.n - 1], first))
            vec_add(f->a, &x->first, first);
    }
    return true;
}

/* An integer that is only assigned by statements of the block that it is declared in. */
static bool again_of(const struct function *f, const struct variable *v, struct late *x)
{
    struct node block = v->param ? f->body : node_parent(v->statement);
    size_t n;

    *x = (struct late){.f = f, .v = v, .again = true};
    if (v->pointer || v->array || v->shared || v->assignments == 0 || !ctype_is_integer(f, v->type) ||
        !(v->param || (node_ok(v->init) && node_is(block, NODE_COMPOUND_STATEMENT))) ||
        str_has_word(text_of(f, v->statement), "static") || strchr(text_of(f, v->statement), '&'))
        return false;
    struct node *all = named_children(f, block, &n);
    for (size_t i = 0; i < n; i++) {
        struct node e = statement_expression(all[i]);
        if (node_is(e, NODE_ASSIGNMENT_EXPRESSION) && function_variable_of(f, node_field(e, FIELD_LEFT)) == v)
            vec_add(f->a, &x->first, e);
    }
    return (int)x->first.n == v->assignments;
}

static void again_edit(const struct late *x, struct edits *edits)
{
    const struct function *f = x->f;
    const char **name = arena_array(f->a, const char *, x->first.n + 1);
    size_t n;
    struct node *names = variable_names(f, x->v, &n);

    name[0] = x->v->name;
    for (size_t s = 0; s < x->first.n; s++) {
        const char *op = node_op(f, x->first.v[s]);
        struct node left = node_field(x->first.v[s], FIELD_LEFT),
                    right = node_field(x->first.v[s], FIELD_RIGHT);
        name[s + 1] = fresh_local(f, arena_printf(f->a, "%s_%zu", x->v->name, s + 2));
        const char *head = arena_printf(f->a, "%s %s = ", x->v->type, name[s + 1]);
        if (!str_eq(op, "=")) {
            head = arena_printf(f->a, "%s%s %.*s (", head, name[s], (int)strlen(op) - 1, op);
            edits_at(edits, node_end(right), ")");
        }
        edits_try(edits, node_start(left), node_start(right), head);
    }
    for (size_t k = 0; k < n; k++) {
        size_t s = 0;
        while (s < x->first.n && node_start(names[k]) > node_end(x->first.v[s]))
            s++;
        if (s > 0 && !(s < x->first.n && node_same(node_field(x->first.v[s], FIELD_LEFT), names[k])))
            edits_node(edits, names[k], name[s]);
    }
}

static late_list lates_in_file(const struct transform_input *in, struct arena *a)
{
    late_list list = {0};
    size_t n;
    struct function **functions = functions_open(in, a, &n);

    for (size_t i = 0; i < n; i++) {
        const struct function *f = functions[i];
        struct late x;
        if ((!f->global &&
             !str_has_word(text_range(f, node_start(f->definition), node_start(f->id)), "__device__")) ||
            node_has(f, f->body, NODE_GOTO_STATEMENT) || node_has(f, f->body, NODE_LAMBDA_EXPRESSION))
            continue;
        for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
            if ((is_plain(f, v) && late_of(f, v, &x)) || again_of(f, v, &x))
                vec_add(a, &list, x);
    }
    size_t kept = 0, late = 0;
    for (size_t i = 0; i < list.n; i++)
        late += !list.v[i].again;
    for (size_t i = 0; i < list.n; i++) /* declarations that move are written first, and looked at again */
        if (late == 0 || !list.v[i].again)
            list.v[kept++] = list.v[i];
    list.n = kept;
    return list;
}

static const struct late *late_for(const late_list *list, struct node name)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].again && node_same(list->v[i].v->id, name))
            return &list->v[i];
    return NULL;
}

/* The declaration keeps the variables that stay. */
static void declaration_edit(const late_list *list, const struct late *x, struct edits *edits)
{
    const struct function *f = x->f;
    struct node statement = x->v->statement, type = node_field(statement, FIELD_TYPE), first = {0}, last = {0};
    struct str kept = {.arena = f->a};

    for (uint32_t i = 0, all = node_count(statement); i < all; i++) {
        struct node n = node_child(statement, i);
        if (node_same(n, type) || !(node_is(n, NODE_IDENTIFIER) || node_is_declarator(n)))
            continue;
        first = node_ok(first) ? first : n;
        last = n;
        if (!late_for(list, n))
            str_addf(&kept, "%s%s", kept.len ? ", " : "", text_of(f, n));
    }
    if (kept.len)
        edits_try(edits, node_start(first), node_end(last), str_text(&kept));
    else
        edits_remove(edits, f, statement);
}

static void first_find(const struct transform_input *in, struct site_list *found)
{
    late_list list = lates_in_file(in, found->arena);

    if (list.n > 0)
        site_add(found, list.v[0].f, list.v[0].v->statement, 0,
                 "what is assigned behind its declaration is no known value to other transforms",
                 "%zu variable%s", list.n, list.n > 1 ? "s" : "");
}

static bool first_apply(const struct function *first, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    late_list list = lates_in_file(first->in, first->a);

    (void)site;
    for (size_t i = 0; i < list.n; i++) {
        const struct late *x = &list.v[i];
        struct node statement = x->v->statement;
        if (x->again) {
            again_edit(x, edits);
            continue;
        }
        bool again = false;
        const char *words =
            text_range(x->f, node_start(statement), node_start(node_field(statement, FIELD_DECLARATOR)));
        for (size_t k = 0; k < i; k++)
            again = again || (!list.v[k].again && node_same(list.v[k].v->statement, statement));
        if (!again)
            declaration_edit(&list, x, edits);
        for (size_t k = 0; k < x->first.n; k++)
            edits_at(edits, node_start(x->first.v[k]), words);
    }
    return list.n > 0 || err_input(why_not, "all variables are declared with their first values");
}

const struct transform transform_first_values = {
    .name = "first-values",
    .summary = "declare variables where they get their first value",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find_in_file = first_find,
    .apply = first_apply,
};
