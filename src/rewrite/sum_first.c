/* sum-first: a kernel whose threads take one element each, and whose blocks add up what theirs have and leave
 * the sum to an atomic addition, takes a thread through several elements first: the block's sum, its barriers
 * and its atomic are paid once for them all. The setting is how many.
 *
 * Right where everything from the element's value to the addition is a sum: then the sum of the blocks' sums is
 * what it was, in another order. */
#include "rewrite/analysis.h"

enum { MOST_PARTS = 8, DEEPEST_CALL = 3 };

struct sum {
    const struct function *f;
    const struct variable *index, *value; /* value: NULL where it is an element of a shared array */
    int64_t width;                        /* index = width * (place in the grid) */
    const char *threads;                  /* a template's word for the block's, or NULL */
    struct node parts[MOST_PARTS];        /* declarations that depend on the index, in order */
    size_t n_parts;
    struct node target;  /* statement that makes the value */
    bool declared;       /* the value is, before it, as 0 */
    struct node element; /* expression: what is added up */
    struct node bound;
};

static bool mentions(const struct function *f, struct node n, const struct variable *v)
{
    for (struct node *name = names_in(f, n); node_ok(*name); name++)
        if (function_variable_of(f, *name) == v)
            return true;
    return false;
}

static bool depends(const struct sum *s, struct node n)
{
    for (const struct variable *v = s->f->variables; v < s->f->variables + s->f->n_variables; v++) {
        bool part = v == s->index;
        for (size_t i = 0; i < s->n_parts; i++)
            part = part || node_same(v->statement, s->parts[i]);
        if (part && mentions(s->f, n, v))
            return true;
    }
    return false;
}

static bool is_zero(const struct function *f, struct node n)
{
    const char *text = text_of(f, node_strip(n));
    double zero;
    char *end;
    if (call_is(f, node_strip(n), "__float2half") || !*text)
        return false;
    zero = strtod(text, &end);
    return end != text && zero == 0 && (*end == '\0' || str_in(end, "f|F|u|U|l|L"));
}

/* index < bound, which does not change */
static bool asks_bound(struct sum *s, struct node condition)
{
    const struct function *f = s->f;
    condition = node_strip(condition);
    if (!node_is_binary(f, condition, "<") ||
        function_variable_of(f, node_strip(node_field(condition, FIELD_LEFT))) != s->index)
        return false;
    s->bound = node_field(condition, FIELD_RIGHT);
    return !depends(s, s->bound) && launches_tell(f, s->bound);
}

/* `value = index < bound ? element : 0` */
static bool takes_element(struct sum *s, struct node e)
{
    while (node_is(e, NODE_PARENTHESIZED_EXPRESSION)) /* a cast would be one of the sum */
        e = node_child(e, 0);
    s->element = node_field(e, FIELD_CONSEQUENCE);
    return node_is(e, NODE_CONDITIONAL_EXPRESSION) && asks_bound(s, node_field(e, FIELD_CONDITION)) &&
           is_zero(s->f, node_field(e, FIELD_ALTERNATIVE)) && !node_has_effect(s->f, s->element);
}

/* `if (index < bound) value += element;` */
static bool asks_for_element(struct sum *s, struct node question)
{
    const struct function *f = s->f;
    struct node e = statement_expression(node_unbraced(f, node_field(question, FIELD_CONSEQUENCE)));
    const struct variable *v = function_variable_of(f, node_field(e, FIELD_LEFT));
    s->value = v;
    s->declared = true;
    s->element = node_field(e, FIELD_RIGHT);
    return !node_ok(node_field(question, FIELD_ALTERNATIVE)) &&
           (node_is_assignment(f, e, "=") || node_is_assignment(f, e, "+=")) && v && !v->param && !v->pointer &&
           !v->array && node_ok(v->init) && is_zero(f, v->init) &&
           node_same(node_parent(v->statement), f->body) && !depends(s, node_field(e, FIELD_LEFT)) &&
           asks_bound(s, node_field(question, FIELD_CONDITION)) && !node_has_effect(f, s->element) &&
           !mentions(f, s->element, v);
}

/* The statement that makes the value: a declaration, an assignment to the thread's place in shared memory, or
 * one behind the question for the bound. */
static bool makes_value(struct sum *s, struct node statement)
{
    const struct function *f = s->f;
    struct node e = statement_expression(statement);
    s->target = statement;
    s->declared = false;
    if (node_is(statement, NODE_IF_STATEMENT))
        return asks_for_element(s, statement);
    if (node_is_assignment(f, e, "=")) {
        struct node to = node_field(e, FIELD_LEFT);
        const struct variable *root = node_is(to, NODE_SUBSCRIPT_EXPRESSION) ? pointer_root(f, to) : NULL;
        s->value = NULL;
        return root && root->shared && !depends(s, to) && !node_has_effect(f, to) && expression_type(f, to) &&
               takes_element(s, node_field(e, FIELD_RIGHT));
    }
    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables; v++)
        if (node_same(v->statement, statement) && !v->pointer && !v->array && node_ok(v->init)) {
            s->value = v;
            return takes_element(s, v->init);
        }
    return false;
}

static bool is_number(const struct function *f, const char *type)
{
    type = ctype_bound(f, type);
    return ctype_is_float(type) || (ctype_is_integer(f, type) && ctype_size(f, type) >= 4);
}

/* What follows is a sum
 * -------------------------------------------------------------------------------------------------------------
 */

struct follow {
    const struct function *f;
    bool *sum;    /* of its variables: a part of the sum */
    bool floats;  /* it is of floating numbers; no part is rounded to an integer */
    size_t added; /* to memory */
    int depth;
};

static bool holds(const struct follow *w, struct node n)
{
    for (struct node *name = names_in(w->f, n); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(w->f, *name);
        if (v && w->sum[v - w->f->variables])
            return true;
    }
    return false;
}

static bool adds_only(struct follow *w, struct node n);

/* May a part of the sum have this type? A template's own is that of what it is given. */
static bool keeps(const struct follow *w, const char *type)
{
    size_t position;
    const char *bound = ctype_bound(w->f, type);
    if (w->floats ? ctype_is_float(bound) : ctype_is_integer(w->f, bound) && ctype_size(w->f, bound) >= 4)
        return true;
    return w->depth > 0 && str_eq(bound, type) && ctype_is_parameter(w->f, type, &position);
}

static bool joins(struct follow *w, const struct variable *v)
{
    w->sum[v - w->f->variables] = true;
    return keeps(w, v->type);
}

/* A function of the file that gives back the sum of what its first argument is to the threads. */
static bool call_sums(struct follow *w, struct node call)
{
    const char *name = call_name(w->f, call);
    struct node args = node_field(call, FIELD_ARGUMENTS);
    const struct function *g = w->depth < DEEPEST_CALL ? function_only(w->f, name) : NULL;
    if (!g || g->global || g->n_params == 0 || g->n_params != node_count(args))
        return false;
    struct follow inside = {.f = g,
                            .sum = arena_array(w->f->a, bool, g->n_variables + 1),
                            .floats = w->floats,
                            .depth = w->depth + 1};
    for (size_t i = 0; i < g->n_params; i++)
        if (holds(w, node_child(args, (uint32_t)i)) && !joins(&inside, &g->variables[i]))
            return false;
    return adds_only(&inside, g->body) && inside.added == 0;
}

/* Is the expression a sum of parts, each at most multiplied by what is no part? */
static bool is_sum(struct follow *w, struct node e)
{
    const struct function *f = w->f;
    while (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        e = node_child(e, 0);
    if (node_is(e, NODE_CAST_EXPRESSION))
        return keeps(w, text_of(f, node_field(e, FIELD_TYPE))) && is_sum(w, node_field(e, FIELD_VALUE));
    if (node_is(e, NODE_IDENTIFIER) || node_is(e, NODE_SUBSCRIPT_EXPRESSION))
        return holds(w, e) && (node_is(e, NODE_IDENTIFIER) || !holds(w, subscript_index(f, e)));
    if (is_zero(f, e))
        return true;
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
        const char *op = node_op(f, e);
        if (str_eq(op, "+"))
            return is_sum(w, left) && is_sum(w, right);
        return str_eq(op, "*") &&
               ((is_sum(w, left) && !holds(w, right)) || (!holds(w, left) && is_sum(w, right)));
    }
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION))
        return !holds(w, node_field(e, FIELD_CONDITION)) && is_sum(w, node_field(e, FIELD_CONSEQUENCE)) &&
               is_sum(w, node_field(e, FIELD_ALTERNATIVE));
    if (!node_is(e, NODE_CALL_EXPRESSION))
        return false;
    const char *name = call_name(f, e);
    struct node args = node_field(e, FIELD_ARGUMENTS);
    size_t value = str_starts(name, "__shfl_") ? 1 : 0;
    for (uint32_t i = 0, n = node_count(args); i < n; i++)
        if (i == value ? !is_sum(w, node_child(args, i)) : holds(w, node_child(args, i)))
            return false;
    return node_count(args) > value && (value || call_sums(w, e));
}

/* x = sum, x += sum, of the thread's own variables and shared memory; and what has nothing to do with it. */
static bool assigns_sum(struct follow *w, struct node e)
{
    const struct function *f = w->f;
    struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
    bool plain = node_is(left, NODE_IDENTIFIER);
    const struct variable *v = plain ? function_variable_of(f, left) : pointer_root(f, left);
    if (!v || (plain ? v->pointer || v->array : !v->shared && !(v->array && !v->param)))
        return false;
    if (!holds(w, right) && !w->sum[v - f->variables])
        return adds_only(w, right);
    return joins(w, v) && str_in(node_op(f, e), "=|+=") && is_sum(w, right) &&
           (plain || (node_is(left, NODE_SUBSCRIPT_EXPRESSION) && !holds(w, subscript_index(f, left))));
}

/* Do the statements nothing with the sum but add to it and pass it on, and to memory nothing but add it? */
static bool adds_only(struct follow *w, struct node n)
{
    const struct function *f = w->f;
    if (node_is(n, NODE_ASSIGNMENT_EXPRESSION))
        return assigns_sum(w, n);
    if (node_is(n, NODE_INIT_DECLARATOR) && holds(w, node_field(n, FIELD_VALUE))) {
        const struct variable *v = function_variable_of(f, node_field(n, FIELD_DECLARATOR));
        if (!v || v->pointer || v->array || !is_sum(w, node_field(n, FIELD_VALUE)))
            return false;
        return joins(w, v);
    }
    if (node_is(n, NODE_RETURN_STATEMENT))
        return node_count(n) == 0 || is_sum(w, node_child(n, 0));
    if (node_is(n, NODE_CALL_EXPRESSION)) {
        struct node args = node_field(n, FIELD_ARGUMENTS);
        if (call_is(f, n, "atomicAdd")) {
            struct node to = node_count(args) == 2 ? node_strip(node_child(args, 0)) : (struct node){0};
            const struct variable *root = node_is(to, NODE_IDENTIFIER) ? function_variable_of(f, to) : NULL;
            w->added++;
            return root && root->param && root->pointer && node_is(node_parent(n), NODE_EXPRESSION_STATEMENT) &&
                   is_sum(w, node_child(args, 1));
        }
        return call_is_barrier(f, n) || call_is(f, n, "__syncwarp") || (call_is_pure(f, n) && !holds(w, n));
    }
    if (node_is(n, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, n);
        return !v || !w->sum[v - f->variables] || node_same(n, v->id);
    }
    if (node_is(n, NODE_GNU_ASM_EXPRESSION) || node_is(n, NODE_LAMBDA_EXPRESSION) ||
        (node_is(n, NODE_UPDATE_EXPRESSION) && !node_is(node_field(n, FIELD_ARGUMENT), NODE_IDENTIFIER)))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!adds_only(w, node_child(n, i)))
            return false;
    return true;
}

static size_t count_parts(const struct follow *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->f->n_variables; i++)
        n += w->sum[i];
    return n;
}

static bool rest_sums(const struct sum *s, const struct node *all, size_t n, const char *type)
{
    struct follow w = {.f = s->f,
                       .sum = arena_array(s->f->a, bool, s->f->n_variables + 1),
                       .floats = ctype_is_float(ctype_bound(s->f, type))};
    const struct variable *first =
        s->value ? s->value : pointer_root(s->f, node_field(statement_expression(s->target), FIELD_LEFT));
    if (!joins(&w, first))
        return false;
    for (size_t known = 0;
         known < count_parts(&w);) { /* what a loop adds at its end it may read at its start */
        known = count_parts(&w);
        w.added = 0;
        for (size_t i = 0; i < n; i++) {
            bool mine = node_same(all[i], s->target) || node_same(all[i], s->index->statement);
            for (size_t k = 0; k < s->n_parts; k++)
                mine = mine || node_same(all[i], s->parts[k]);
            if (!mine && (depends(s, all[i]) || !adds_only(&w, all[i])))
                return false;
        }
    }
    return w.added > 0;
}

/* Found
 * -------------------------------------------------------------------------------------------------------------
 */

/* index = width * (blockIdx.x * threads + threadIdx.x) */
static bool counts(struct sum *s, const struct variable *v)
{
    const struct function *f = s->f;
    struct poly p = poly_of(f, v->init), thread = poly_atom(f, "threadIdx.x"),
                block = poly_atom(f, "blockIdx.x");
    size_t position;
    s->index = v;
    s->width = p.ok ? poly_coefficient(&p, "threadIdx.x") : 0;
    for (int i = 0; i < p.n && s->width > 0; i++)
        for (int k = 0; k < p.t[i].n; k++) {
            const char *word = p.t[i].atom[k];
            bool own = str_eq(word, "blockDim.x") || ctype_is_parameter(f, word, &position);
            struct poly whole =
                poly_add(f, poly_mul(f, block, own ? poly_atom(f, word) : poly_number(f->block_x)), thread, 1);
            whole = poly_mul(f, whole, poly_number(s->width));
            s->threads = own && !str_eq(word, "blockDim.x") ? word : NULL;
            if ((own || f->block_x) && poly_same(&p, &whole))
                return true;
        }
    return false;
}

/* The argument that a launch gives the template's word for the number of threads; NULL: not seen. */
static const char *threads_said(const struct sum *s, const struct launch *l)
{
    size_t n = 0, position;
    struct node *args = node_ok(l->template_args) ? named_children(s->f, l->template_args, &n) : NULL;
    return ctype_is_parameter(s->f, s->threads, &position) && position < n ? text_of(s->f, args[position])
                                                                           : NULL;
}

/* A declaration that the value is made of. */
static bool add_part(struct sum *s, struct node statement, struct err *why)
{
    const struct function *f = s->f;
    if (!node_is(statement, NODE_DECLARATION) || node_has_effect(f, statement) || s->n_parts == MOST_PARTS)
        return err_input(why, "line %d does more with the element", node_line(f->s, statement));
    s->parts[s->n_parts++] = statement;
    return true;
}

static bool understood(struct sum *s, const struct function *f, struct err *why)
{
    const char *body = text_of(f, f->body);
    size_t n, at = 0, n_block;
    struct node *all = named_children(f, f->body, &n);
    *s = (struct sum){.f = f};
    if (f->n_launches == 0 || !function_may_be_copied(f) || macros_ask_for_place(f) ||
        str_count_word(body, "blockIdx") != 1 || str_has_word(body, "gridDim") ||
        !str_has_word(body, "atomicAdd"))
        return err_input(why, "%s is no sum over the grid", f->name);
    for (const struct variable *v = f->variables + f->n_params;
         v < f->variables + f->n_variables && !node_ok(s->target); v++) {
        if (!node_ok(v->init) || v->assignments || v->pointer || v->array || !ctype_is_integer(f, v->type) ||
            !counts(s, v))
            continue;
        for (at = 0; at < n; at++) { /* the last one makes the value, those before it are its parts */
            if (!depends(s, all[at]) || node_same(all[at], v->statement))
                continue;
            if (node_ok(s->target) && !add_part(s, s->target, why))
                return false;
            struct sum one = *s;
            if (makes_value(&one, all[at]))
                *s = one;
            else if (!add_part(s, all[at], why))
                return false;
            else
                s->target = (struct node){0};
        }
    }
    if (!node_ok(s->target))
        return err_input(why, "%s takes no element behind a bound", f->name);
    const char *type =
        s->value ? s->value->type : expression_type(f, node_field(statement_expression(s->target), FIELD_LEFT));
    if (!is_number(f, type))
        return err_input(why, "sums of %s are not known", type);
    for (const struct plan_step *step = NULL; (step = planned_launch(f, step));)
        if (step->block[1] != 1 || step->block[2] != 1 || step->grid[1] != 1 || step->grid[2] != 1)
            return err_input(why, "the grid of %s has more than one dimension", f->name);
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        char *x;
        if (!launch_grid_x(f, l, &x) || (launch_dim3(f, l, l->block, &n_block) && n_block != 1) ||
            (s->threads && !threads_said(s, l)))
            return err_input(why, "a launch of %s is not understood", f->name);
    }
    return rest_sums(s, all, n, type) || err_input(why, "%s does more than add up", f->name);
}

static void sum_find(struct function *f, struct site_list *found)
{
    static const int own[] = {8, 16, 32, 4};
    struct sum s;
    if (!understood(&s, f, NULL))
        return;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        site_add(
            found, f, s.target, *setting,
            "a block adds up, waits and reaches for the common sum once for many elements, and their loads are "
            "in flight together",
            "%d elements a thread", *setting);
}

/* A part within the loop, where the index is below the bound. */
static const char *part_text(const struct sum *s, struct node part)
{
    const struct function *f = s->f;
    struct edits edits = {.arena = f->a};
    for (const struct variable *v = f->variables + f->n_params; v < f->variables + f->n_variables; v++) {
        struct sum one = *s;
        if (node_same(v->statement, part) && node_ok(v->init) && takes_element(&one, v->init) &&
            node_text_is(f->s, one.bound, text_of(f, s->bound)))
            edits_node(&edits, v->init, text_of(f, one.element));
    }
    return edits_range(&edits, f, node_start(part), node_end(part));
}

static char *loop_text(const struct sum *s)
{
    const struct function *f = s->f;
    struct arena *a = f->a;
    struct node e = statement_expression(s->target);
    const char *indent = text_indent(f, node_start(s->target)),
               *name = s->value ? s->value->name : fresh_local(f, "sum"),
               *type = s->value ? s->value->type : expression_type(f, node_field(e, FIELD_LEFT));
    const char *by = s->width > 1 ? arena_printf(a, " * %lld", (long long)s->width) : "";
    struct str b = {.arena = a};
    if (!s->declared)
        str_addf(&b, "%s %s = 0;\n%s", type, name, indent);
    str_addf(&b,
             "for (%s %s = %sblockIdx.x * blockDim.x + threadIdx.x%s%s; %s < %s; "
             "%s += gridDim.x * blockDim.x%s) {\n",
             s->index->type, s->index->name, *by ? "(" : "", *by ? ")" : "", by, s->index->name,
             text_of(f, s->bound), s->index->name, by);
    for (size_t i = 0; i < s->n_parts; i++)
        str_addf(&b, "%s    %s\n", indent, part_text(s, s->parts[i]));
    str_addf(&b, "%s    %s += %s;\n%s}", indent, name, text_of(f, s->element), indent);
    if (!s->value)
        str_addf(&b, "\n%s%s = %s;", indent, text_of(f, node_field(e, FIELD_LEFT)), name);
    return str_take(&b, a);
}

static bool sum_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                      struct err *why_not)
{
    struct arena *a = f->a;
    struct sum s;
    struct edits inside = {.arena = a};
    if (!understood(&s, f, why_not))
        return false;
    edits_remove(&inside, f, s.index->statement);
    for (size_t i = 0; i < s.n_parts; i++)
        edits_remove(&inside, f, s.parts[i]);
    edits_node(&inside, s.target, loop_text(&s));
    const char *name = fresh_name(f, arena_printf(a, "%s_sums", f->name));
    if (!edits_copy(edits, &inside, f, name, "adding up in each thread first; its launch says when", why_not))
        return false;
    edits_include(edits, f, "<cstdint>", "<stdint.h>");
    for (const struct launch *l = f->launches; l < f->launches + f->n_launches; l++) {
        struct guard_list guard = {0};
        const char *threads = launch_threads(f, l), *bound = launch_expression(f, l, s.bound);
        char *x;
        launch_grid_x(f, l, &x);
        if (s.threads)
            guard_add(a, &guard, arena_printf(a, "%s == %s", threads, threads_said(&s, l)));
        if (s.width > 1)
            threads = arena_printf(a, "%s * %lld", threads, (long long)s.width);
        guard_add(a, &guard, arena_printf(a, "(int64_t)%s * %s >= %s", x, threads, bound));
        if (ctype_size(f, s.index->type) == 4) /* its last step fits, too */
            guard_add(a, &guard, arena_printf(a, "%s <= 1 << 30", bound));
        edits_guard_launch(edits, f, l, "Threads add up first, where the grid reaches everything.",
                           guard_join(f, &guard, l),
                           launch_text(f, l, name, launch_grid_divided(f, l, site->setting), NULL));
    }
    return true;
}

const struct transform transform_sum_first = {
    .name = "sum-first",
    .summary = "threads add up several elements before their block does",
    .helps = "latency sync issue launch dram l2",
    .chooses = "sums",
    .parameters = {{"elements", 1, 0, 6, {2, 4, 8, 16, 32, 64}}},
    .find = sum_find,
    .apply = sum_apply,
};
