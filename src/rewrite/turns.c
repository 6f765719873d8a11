/* Loops of which one turn needs no other. */
#include "rewrite/turns.h"

bool turns_of(const struct function *f, struct node n, struct turns *l)
{
    struct node first = node_field(n, FIELD_INITIALIZER), condition = node_field(n, FIELD_CONDITION);
    struct node declarator = node_field(first, FIELD_DECLARATOR), update = node_field(n, FIELD_UPDATE);
    struct node body = node_field(n, FIELD_BODY), limit = node_field(condition, FIELD_RIGHT);
    int64_t from, to;

    *l = (struct turns){.loop = n};
    if (!node_is(n, NODE_FOR_STATEMENT) || !node_is(first, NODE_DECLARATION) ||
        !node_is(declarator, NODE_INIT_DECLARATOR) ||
        !(node_is_binary(f, condition, "<") || node_is_binary(f, condition, "<=")))
        return false;
    l->index = function_variable_of(f, node_field(declarator, FIELD_DECLARATOR));
    l->start = node_field(declarator, FIELD_VALUE);
    l->limit = limit;
    if (!l->index || !ctype_is_integer(f, l->index->type) ||
        !node_text_is(f->s, node_field(condition, FIELD_LEFT), l->index->name) ||
        variable_assigned_in(f, l->index, body) || !expression_is_invariant(f, limit, n))
        return false;
    if (constant_value(f, l->start, &from) && constant_value(f, limit, &to) && to - from < FEW_TURNS)
        return false;
    if (node_is_assignment(f, update, "+=")) {
        l->step = node_field(update, FIELD_RIGHT);
        return node_text_is(f->s, node_field(update, FIELD_LEFT), l->index->name) &&
               expression_is_invariant(f, l->step, n);
    }
    return node_is(update, NODE_UPDATE_EXPRESSION) &&
           node_text_is(f->s, node_field(update, FIELD_ARGUMENT), l->index->name) &&
           strstr(text_of(f, update), "++");
}

/* Does it say the variable so many times? */
static bool says(const struct function *f, struct node n, const struct variable *v, size_t times)
{
    size_t found = 0;

    for (struct node *name = names_in(f, n); node_ok(*name); name++)
        found += function_variable_of(f, *name) == v;
    return found == times;
}

static bool is_the(const struct function *f, struct node n, const struct variable *v)
{
    return node_is(node_strip(n), NODE_IDENTIFIER) && function_variable_of(f, node_strip(n)) == v;
}

/* v = max(v, e), v = fmaf(a, b, v): the word, "+" for a sum; NULL for anything else. */
static const char *call_gathers(const struct function *f, struct node call, const struct variable *v)
{
    static const char names[] = "fmaxf|fminf|fmax|fmin|max|min", sums[] = "fmaf|fma|__fmaf_rn";
    size_t n;
    struct node *args = named_children(f, node_field(call, FIELD_ARGUMENTS), &n);
    const char *name = call_name(f, call);

    if (!node_is(call, NODE_CALL_EXPRESSION) || !says(f, call, v, 1))
        return NULL;
    if (n == 2 && str_in(name, names) && (is_the(f, args[0], v) || is_the(f, args[1], v)))
        return name;
    return n == 3 && str_in(name, sums) && is_the(f, args[2], v) ? "+" : NULL;
}

bool turn_gathers(const struct function *f, struct node e, const struct variable *v, struct gathered *g)
{
    struct node left = node_field(e, FIELD_LEFT), right = node_strip(node_field(e, FIELD_RIGHT));

    *g = (struct gathered){v, GATHERS_SUM, "+"};
    if (!is_the(f, left, v) || !node_is(node_parent(e), NODE_EXPRESSION_STATEMENT))
        return false;
    if (node_is_assignment(f, e, "+=") || node_is_assignment(f, e, "-="))
        return says(f, right, v, 0);
    if (!node_is_assignment(f, e, "="))
        return false;
    if (node_is_binary(f, right, "+") && says(f, right, v, 1))
        return is_the(f, node_field(right, FIELD_LEFT), v) || is_the(f, node_field(right, FIELD_RIGHT), v);
    const char *word = call_gathers(f, right, v);
    if (word) {
        g->word = word;
        g->how = str_eq(g->word, "+") ? GATHERS_SUM : GATHERS_CALL;
        return true;
    }
    /* if (x > v) v = x; */
    struct node statement = node_parent(e), around = node_parent(statement);
    if (node_is(around, NODE_COMPOUND_STATEMENT) && node_same(node_unbraced(f, around), statement))
        around = node_parent(around);
    struct node question = node_strip(node_field(around, FIELD_CONDITION));
    struct node x = node_field(question, FIELD_LEFT), y = node_field(question, FIELD_RIGHT);
    if (!node_is(around, NODE_IF_STATEMENT) || node_ok(node_field(around, FIELD_ALTERNATIVE)) ||
        !node_is(question, NODE_BINARY_EXPRESSION) || !strchr("<>", *node_op(f, question)) ||
        str_in(node_op(f, question), "<<|>>"))
        return false;
    bool new_first = is_the(f, y, v);
    g->how = GATHERS_IF;
    g->word = new_first == (*node_op(f, question) == '>') ? ">" : "<";
    return says(f, right, v, 0) && (new_first || is_the(f, x, v)) &&
           str_eq(text_of(f, node_strip(new_first ? x : y)), text_of(f, right));
}

bool gathers_from_zero(const struct function *f, const struct gathered *g)
{
    int64_t zero;
    struct node init = g->v->init;
    return node_ok(init) && g->v->assignments == 1 &&
           (str_in(text_of(f, init), "0|0.0f|0.f|0.0|0.|0.0F|0.F") ||
            (constant_value(f, init, &zero) && zero == 0));
}

static size_t times_named(const struct function *f, struct node n, const struct variable *v)
{
    size_t times = 0;
    for (struct node *name = names_in(f, n); node_ok(*name); name++)
        times += function_variable_of(f, *name) == v;
    return times;
}

/* `if (x > v) { v = x; place = k; }`, and nothing else in the loop says v or place. */
static bool place_gathers(const struct function *f, const struct turns *l, struct gathered *g)
{
    struct node body = node_field(l->loop, FIELD_BODY);
    const struct variable *v = g->v, *place = NULL;
    for (struct node *e = nodes_of(f, body, NODE_IF_STATEMENT); node_ok(*e) && !place; e++) {
        struct node question = node_strip(node_field(*e, FIELD_CONDITION)),
                    block = node_field(*e, FIELD_CONSEQUENCE);
        struct node x = node_field(question, FIELD_LEFT), y = node_field(question, FIELD_RIGHT), set = {0};
        size_t n;
        struct node *statements = named_children(f, block, &n);
        if (!node_is(question, NODE_BINARY_EXPRESSION) || node_ok(node_field(*e, FIELD_ALTERNATIVE)) ||
            !node_is(block, NODE_COMPOUND_STATEMENT) || n != 2 || !str_in(node_op(f, question), "<|>|<=|>=") ||
            is_the(f, x, v) == is_the(f, y, v))
            continue;
        for (size_t i = 0; i < n; i++) {
            struct node assigned = statement_expression(statements[i]), left = node_field(assigned, FIELD_LEFT),
                        right = node_field(assigned, FIELD_RIGHT);
            if (!node_is_assignment(f, assigned, "="))
                return false;
            if (is_the(f, left, v))
                set = right;
            else if (node_is(left, NODE_IDENTIFIER) && is_the(f, right, l->index))
                place = function_variable_of(f, left);
        }
        bool new_first = is_the(f, y, v);
        const char *op = node_op(f, question);
        if (!place || !node_ok(set) ||
            !str_eq(text_of(f, node_strip(new_first ? x : y)), text_of(f, node_strip(set))))
            return false;
        g->how = GATHERS_PLACE;
        g->place = place;
        bool larger = new_first == (op[0] == '>');
        if (op[1])
            g->word = larger ? ">=" : "<=";
        else
            g->word = larger ? ">" : "<";
    }
    return place && times_named(f, body, v) == 2 && times_named(f, body, place) == 1;
}

/* Is the variable said in the loop by one accumulation alone, with its question where it has one? */
static bool only_gathered(const struct function *f, const struct turns *l, struct gathered *g)
{
    struct node body = node_field(l->loop, FIELD_BODY);
    struct gathered one;
    size_t times = 0, n = 0;

    for (struct node *name = names_in(f, body); node_ok(*name); name++)
        times += function_variable_of(f, *name) == g->v;
    for (struct node *e = nodes_of(f, body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        if (!is_the(f, node_field(*e, FIELD_LEFT), g->v))
            continue;
        if (!turn_gathers(f, *e, g->v, &one) || (n && (one.how != g->how || !str_eq(one.word, g->word))))
            return false;
        *g = one;
        n++;
        bool once = node_is_assignment(f, *e, "+=") || node_is_assignment(f, *e, "-=");
        times -= once ? 1 : 2;
    }
    return n > 0 && times == 0;
}

/* Is it the place of a largest or smallest one of the loop? */
static bool is_place(const struct function *f, const struct turns *l, const struct variable *place)
{
    struct node body = node_field(l->loop, FIELD_BODY);
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        struct gathered g = {.v = v};
        if (v != place && variable_assigned_in(f, v, body) && ctype_is_integer(f, place->type) &&
            place_gathers(f, l, &g) && g.place == place)
            return true;
    }
    return false;
}

static bool is_gathered_type(const struct function *f, const struct variable *v)
{
    return !v->param && !v->array && !v->pointer && !v->shared &&
           (ctype_is_float(ctype_alias(f, v->type)) || ctype_is_integer(f, v->type));
}

/* What it stores stands elsewhere for each turn, and no turn reads what another may have stored. */
static bool stores_apart(const struct function *f, const struct turns *l, struct node target)
{
    const struct variable *root = pointer_root(f, target);
    struct node body = node_field(l->loop, FIELD_BODY), index = subscript_index(f, target);
    struct poly p = node_ok(index) ? poly_of(f, index) : (struct poly){0};
    bool moves = false;

    if (!root || !root->param || !p.ok)
        return false;
    for (int t = 0; t < p.n; t++)
        for (int i = 0; i < p.t[t].n; i++)
            moves |= str_eq(p.t[t].atom[i], l->index->name);
    for (struct node *e = nodes_of(f, body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*e) && moves; e++)
        if (pointer_root(f, *e) == root && !str_eq(text_of(f, *e), text_of(f, target)))
            return false;
    return moves;
}

bool turn_may_end_early(const struct function *f, struct node body)
{
    static const enum node_kind kinds[] = {NODE_BREAK_STATEMENT, NODE_CONTINUE_STATEMENT, NODE_RETURN_STATEMENT,
                                           NODE_GOTO_STATEMENT, NODE_LAMBDA_EXPRESSION};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (node_has(f, body, kinds[k]))
            return true;
    return false;
}

/* The nearest loop or switch around it is the loop. */
static bool is_own(struct node n, struct node loop)
{
    for (n = node_parent(n); node_ok(n); n = node_parent(n))
        if (node_is_loop(n) || node_is(n, NODE_SWITCH_STATEMENT))
            return node_same(n, loop);
    return false;
}

bool turn_may_break(const struct function *f, struct node loop)
{
    for (struct node *b = nodes_of(f, loop, NODE_BREAK_STATEMENT); node_ok(*b); b++)
        if (is_own(*b, loop))
            return true;
    return false;
}

void turn_break_edits(const struct function *f, struct node loop, const char *going, struct edits *inside)
{
    for (struct node *b = nodes_of(f, loop, NODE_BREAK_STATEMENT); node_ok(*b); b++)
        if (is_own(*b, loop))
            edits_node(inside, *b, arena_printf(f->a, "{ %s = false; break; }", going));
}

bool turns_are_apart(const struct function *f, struct turns *l, struct err *why)
{
    static const enum node_kind kinds[] = {NODE_ASSIGNMENT_EXPRESSION, NODE_UPDATE_EXPRESSION};
    struct node body = node_field(l->loop, FIELD_BODY);
    int line = node_line(f->s, l->loop);

    if (node_has(f, body, NODE_BREAK_STATEMENT) || node_has(f, body, NODE_RETURN_STATEMENT) ||
        node_has(f, body, NODE_GOTO_STATEMENT) || node_has(f, body, NODE_LAMBDA_EXPRESSION))
        return err_input(why, "the loop at line %d may end early", line);
    for (struct node *call = nodes_of(f, body, NODE_CALL_EXPRESSION); node_ok(*call); call++)
        if (!call_is_pure(f, *call))
            return err_input(why, "the loop at line %d calls what may write", line);
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        bool own = v->from >= node_start(l->loop) && v->from < node_end(l->loop);
        if (own || !variable_assigned_in(f, v, body))
            continue;
        struct gathered g = {.v = v};
        bool known = is_gathered_type(f, v) && l->n_sums < SUMS_MOST;
        if (is_place(f, l, v))
            continue;
        if (!known || !(only_gathered(f, l, &g) || place_gathers(f, l, &g)))
            return err_input(why, "the loop at line %d carries %s from turn to turn", line, v->name);
        l->sums[l->n_sums++] = g;
    }
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, body, kinds[k]); node_ok(*e); e++) {
            struct node target = node_strip(assigned_target(*e));
            const struct variable *v =
                node_is(target, NODE_IDENTIFIER) ? function_variable_of(f, target) : pointer_root(f, target);
            bool own = v && v->from >= node_start(l->loop) && v->from < node_end(l->loop);
            if (!own && !node_is(target, NODE_IDENTIFIER) && !stores_apart(f, l, target))
                return err_input(why, "turns of the loop at line %d may store to the same place", line);
        }
    return true;
}
