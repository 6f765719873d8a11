/* Kernels of which each thread has rows of its own. */
#include "rewrite/own_rows.h"

enum { DEEPEST = 4, BANK_BYTES = 4 };

/* The thread's number in the grid; written: with the number of threads as the kernel may write it down. */
static struct poly number_of(const struct function *f, bool written)
{
    struct poly blocks = poly_mul(f, poly_atom(f, "blockIdx.x"), poly_number(f->block_x));
    return written ? poly_add(f, blocks, poly_atom(f, "threadIdx.x"), 1) : poly_thread_of_grid(f);
}

/* Is it that, times so many? */
static bool is_number(const struct function *f, struct node e, int64_t *width)
{
    struct poly p = poly_of(f, e);
    *width = p.ok ? poly_coefficient(&p, "threadIdx.x") : 0;
    for (int written = 0; *width > 0 && written <= (f->block_x > 0); written++) {
        struct poly number = poly_mul(f, number_of(f, written), poly_number(*width));
        if (poly_same(&p, &number))
            return true;
    }
    return false;
}

/* Is the expression made of parameters that nobody assigns? */
static bool is_given(const struct function *f, struct node e)
{
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (v && (!v->param || v->assignments || v->pointer))
            return false;
    }
    return !node_has_effect(f, e);
}

bool own_rows_question(const struct own_rows *rows, struct node n, struct own_rows *found)
{
    const struct function *f = rows->f;
    struct node condition = node_strip(node_field(n, FIELD_CONDITION));
    if (!node_is(n, NODE_IF_STATEMENT) || node_ok(node_field(n, FIELD_ALTERNATIVE)) ||
        !node_is(condition, NODE_BINARY_EXPRESSION))
        return false;
    struct own_rows is = *rows;
    is.question = n;
    is.left = node_field(condition, FIELD_LEFT);
    is.bound = node_field(condition, FIELD_RIGHT);
    is.leaves = node_is(node_unbraced(f, node_field(n, FIELD_CONSEQUENCE)), NODE_RETURN_STATEMENT);
    if (!str_eq(node_op(f, condition), is.leaves ? ">=" : "<") || !is_number(f, is.left, &is.width) ||
        !is_given(f, is.bound))
        return false;
    *found = is;
    return true;
}

bool own_rows_may_stay(const struct own_rows *rows)
{
    const struct variable *number = function_variable_of(rows->f, rows->left);
    return !node_ok(rows->question) ||
           (number && !number->param && !number->assignments && node_ok(number->init) &&
            node_is(node_parent(number->statement), NODE_COMPOUND_STATEMENT));
}

void own_rows_stay(const struct own_rows *rows, const char *inside, struct node last, bool goes_on,
                   struct edits *edits)
{
    const struct function *f = rows->f;
    const struct variable *number = function_variable_of(f, rows->left);
    const char *init = text_of(f, number->init), *bound = text_of(f, rows->bound),
               *indent = text_indent(f, node_start(number->statement));
    edits_at(
        edits, node_start(number->statement),
        arena_printf(f->a, "const bool %s = (%s)(%s) < %s;\n%s", inside, number->type, init, bound, indent));
    edits_node(edits, number->init,
               arena_printf(f->a, "%s ? %s : %s - %lld", inside, init, bound, (long long)rows->width));
    if (rows->leaves)
        edits_remove(edits, f, rows->question);
    else /* its block stands alone */
        edits_try(edits, node_start(rows->question), node_start(node_field(rows->question, FIELD_CONSEQUENCE)),
                  "");
    indent = text_indent(f, node_start(last));
    if (goes_on)
        edits_at(edits, node_end(last),
                 arena_printf(f->a, "\n%sif (!%s)\n%s    return;", indent, inside, indent));
}

/* Of what may be besides: that threads meet, and that blocks count along y and z, too. */
enum { MEETING = 1, BATCHED = 2 };

static bool rows_open(const struct function *f, struct own_rows *rows, int may, struct err *why)
{
    static const struct {
        const char *word;
        int may;
    } others[] = {{"threadIdx.y", 0},      {"threadIdx.z", 0},      {"gridDim", 0},         {"asm", 0},
                  {"blockIdx.y", BATCHED}, {"blockIdx.z", BATCHED}, {"__shared__", MEETING}};
    size_t n, n_loops;
    struct node *all = named_children(f, f->body, &n);

    *rows = (struct own_rows){.f = f};
    lane_loops(f, &n_loops);
    if (f->n_launches == 0 || function_is_named_elsewhere(f) ||
        (!(may & MEETING) && calls_barrier(f, f->body)) || macros_ask_for_place(f) || n_loops > 0)
        return err_input(why, "the threads of %s meet, share loops, or it is more than launched", f->name);
    if (f->block_x < 32 || f->block_x % 32 || f->block_x > 1024)
        return err_input(why, "the blocks of %s have no constant number of whole warps", f->name);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (!(may & others[i].may) && strstr(text_of(f, f->body), others[i].word))
            return err_input(why, "%s has %s", f->name, others[i].word);
    if (may & MEETING)
        return !node_has(f, f->body, NODE_RETURN_STATEMENT) ||
               err_input(why, "threads of %s may leave", f->name);
    size_t k = 0; /* declarations, and the question */
    while (k < n && (node_is(all[k], NODE_COMMENT) || node_is(all[k], NODE_DECLARATION)))
        k++;
    if (k < n && own_rows_question(rows, all[k], rows) && !rows->leaves && k + 1 != n)
        return err_input(why, "%s goes on behind its question", f->name);
    return rows->width <= 1 || err_input(why, "threads of %s have several rows", f->name);
}

bool own_rows_open(const struct function *f, struct own_rows *rows, struct err *why)
{
    return rows_open(f, rows, 0, why);
}

bool own_rows_open_batched(const struct function *f, struct own_rows *rows, struct err *why)
{
    return rows_open(f, rows, BATCHED, why);
}

bool own_rows_open_meeting(const struct function *f, struct own_rows *rows, struct err *why)
{
    return rows_open(f, rows, MEETING | BATCHED, why);
}

/* Is what is declared ahead of the statement assigned from there on? */
static bool carries_over(const struct function *f, struct node statement)
{
    static const enum node_kind kinds[] = {NODE_ASSIGNMENT_EXPRESSION, NODE_UPDATE_EXPRESSION};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, f->body, kinds[k]); node_ok(*e); e++) {
            struct node target = assigned_target(*e);
            for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
                if (node_is(target, NODE_IDENTIFIER) && node_text_is(f->s, target, v->name) &&
                    node_start(v->id) < node_start(statement) && node_start(*e) > node_start(statement))
                    return true;
        }
    return false;
}

bool own_rows_may_walk(const struct own_rows *rows, struct err *why)
{
    const struct function *f = rows->f;
    const struct variable *number = function_variable_of(f, rows->left);
    if (!node_ok(rows->question) || !number || number->param || number->assignments || !node_ok(number->init) ||
        !node_same(node_parent(number->statement), f->body))
        return err_input(why, "%s asks no bound of its thread's number", f->name);
    if (carries_over(f, number->statement))
        return err_input(why, "%s moves what another element would find moved", f->name);
    for (struct node *r = nodes_of(f, f->body, NODE_RETURN_STATEMENT); node_ok(*r); r++) {
        bool asked = rows->leaves && node_within(*r, rows->question);
        for (struct node up = *r; !asked && !node_same(up, f->body); up = node_parent(up))
            if (node_is_loop(up) || node_is(up, NODE_SWITCH_STATEMENT))
                return err_input(why, "%s returns from a loop of its own", f->name);
    }
    return true;
}

void own_rows_walk(const struct own_rows *rows, const struct edits *inside, struct edits *edits)
{
    const struct function *f = rows->f;
    const struct variable *number = function_variable_of(f, rows->left);
    struct node declaration = number->statement, question = rows->question, last = question,
                block = node_field(question, FIELD_CONSEQUENCE);
    const char *indent = text_indent(f, node_start(declaration)), *all = fresh_local(f, "all");
    size_t n;
    struct edits within = {.arena = f->a};
    struct str b = {.arena = f->a};

    for (size_t i = 0; i < inside->list.n; i++)
        vec_add(f->a, &within.list, inside->list.v[i]);
    edits_node(&within, number->init,
               str_eq(number->type, "long long") ? all : arena_printf(f->a, "(%s)%s", number->type, all));
    if (rows->leaves) {
        struct node *children = named_children(f, f->body, &n);
        last = children[n - 1];
        for (struct node *r = nodes_of(f, f->body, NODE_RETURN_STATEMENT); node_ok(*r); r++)
            if (!node_within(*r, question))
                edits_node(&within, *r, "continue;");
        edits_remove(&within, f, question);
        str_add(&b, text_reindent(f->a, edits_range(&within, f, node_start(declaration), node_end(last)), 4));
    } else {
        struct node first = block, end = block;
        struct node *children = named_children(f, block, &n);
        if (node_is(block, NODE_COMPOUND_STATEMENT) && n > 0) {
            first = children[0];
            end = children[n - 1];
        }
        const char *ahead = edits_range(&within, f, node_start(declaration), node_start(question));
        str_addf(&b, "%s    %s", text_reindent(f->a, ahead, 4),
                 edits_range(&within, f, node_start(first), node_end(end)));
    }
    edits_try(edits, node_start(declaration), node_end(last),
              arena_printf(
                  f->a, "for (long long %s = %s; %s < %s; %s += gridDim.x * blockDim.x) {\n%s    %s\n%s}", all,
                  text_of(f, number->init), all, text_of(f, rows->bound), all, indent, str_text(&b), indent));
}

/* What a term is multiplied with where it has the atom once; false where it has it twice. */
static bool without(const struct function *f, const struct term *t, const char *atom, struct poly *p, bool *has)
{
    *p = poly_number(t->by);
    *has = false;
    for (int k = 0; k < t->n; k++) {
        if (!str_eq(t->atom[k], atom)) {
            *p = poly_mul(f, *p, poly_atom(f, t->atom[k]));
            continue;
        }
        if (*has)
            return false;
        *has = true;
    }
    return true;
}

static bool says_place(const struct poly *p)
{
    return poly_says(p, "threadIdx") || poly_says(p, "blockIdx.x") || poly_says(p, POLY_LANE);
}

static const struct variable *parameter_from(const struct function *f, struct node e, struct poly *added,
                                             int depth)
{
    const struct variable *v = function_variable_of(f, e), *from;
    struct node index = {0};
    if (depth > 2 * DEEPEST || !node_ok(e))
        return NULL;
    if (v && v->param)
        return v->pointer && !v->assignments ? v : NULL;
    if (v) {
        from = v->pointer && !v->array && !v->assignments ? parameter_from(f, v->init, added, depth + 1) : NULL;
        return from && str_eq(ctype_alias(f, v->type), ctype_alias(f, from->type)) ? from : NULL;
    }
    if (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        return parameter_from(f, unbracketed(e), added, depth + 1);
    if (node_is(e, NODE_CAST_EXPRESSION)) { /* to its own type, const or not */
        from = parameter_from(f, node_field(e, FIELD_VALUE), added, depth + 1);
        return from && str_has_word(text_of(f, node_field(e, FIELD_TYPE)), from->type) ? from : NULL;
    }
    if (node_is_address(f, e)) {
        e = unbracketed(node_field(e, FIELD_ARGUMENT));
        index = node_is(e, NODE_SUBSCRIPT_EXPRESSION) ? subscript_index(f, e) : index;
        e = node_field(e, FIELD_ARGUMENT);
    } else if (node_is_binary(f, e, "+")) {
        index = node_field(e, FIELD_RIGHT);
        e = node_field(e, FIELD_LEFT);
    }
    if (!node_ok(index))
        return NULL;
    *added = poly_add(f, *added, poly_of(f, index), 1);
    return parameter_from(f, e, added, depth + 1);
}

const struct variable *parameter_behind(const struct function *f, struct node pointer, struct poly *added)
{
    return parameter_from(f, pointer, added, 0);
}

static bool row_place_of(const struct own_rows *rows, struct node e, struct row_place *place)
{
    const struct function *f = rows->f;
    struct reached r;
    struct node up = node_parent(e);
    if (!element_reached(f, e, &r) || node_ok(r.value) || node_is_address(f, up) ||
        node_is(up, NODE_FIELD_EXPRESSION) || node_ok(macro_around(f, e)))
        return false;
    struct poly all = node_ok(r.index) ? poly_of(f, r.index) : poly_number(0);
    *place = (struct row_place){.at = e, .pointer = parameter_behind(f, r.pointer, &all)};
    struct node target = assigned_target(up);
    bool written = node_ok(target) && node_same(target, e);
    place->store = written && node_is_assignment(f, up, "=");
    place->updates = written && !place->store;
    if (!place->pointer || !all.ok || (node_ok(r.index) && node_has_effect(f, r.index)) ||
        str_has_word(place->pointer->type, "volatile") || ctype_size(f, place->pointer->type) == 0 ||
        (written && !node_is(node_parent(up), NODE_EXPRESSION_STATEMENT)))
        return false;
    place->stride = poly_number(0);
    for (int i = 0; i < all.n; i++) {
        struct poly one;
        bool has;
        if (!without(f, &all.t[i], "threadIdx.x", &one, &has))
            return false;
        if (has)
            place->stride = poly_add(f, place->stride, one, 1);
    }
    if (!place->stride.ok || place->stride.n == 0 || says_place(&place->stride))
        return false;
    for (int literal = 0; literal <= (f->block_x > 0); literal++) {
        struct poly number = number_of(f, literal);
        place->rest = poly_add(f, all, poly_mul(f, place->stride, number), -1);
        if (place->rest.ok && !says_place(&place->rest))
            return true;
    }
    return false;
}

row_place_list row_places(const struct own_rows *rows, struct node part)
{
    static const enum node_kind kinds[] = {NODE_SUBSCRIPT_EXPRESSION, NODE_POINTER_EXPRESSION,
                                           NODE_CALL_EXPRESSION};
    const struct function *f = rows->f;
    row_place_list all = {0};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (struct node *e = nodes_of(f, part, kinds[k]); node_ok(*e); e++) {
            struct row_place p;
            if (row_place_of(rows, *e, &p))
                vec_add(f->a, &all, p);
        }
    return all;
}

/* Is the atom the same for all threads of a block, all the time? */
static bool is_common_atom(const struct function *f, const char *atom)
{
    const struct variable *v = function_variable(f, atom, node_start(f->body) + 1);
    if (v)
        return v->param && !v->assignments && !v->pointer;
    return str_in(atom, "blockIdx.x|blockIdx.y|blockIdx.z|gridDim.x|gridDim.y|gridDim.z|blockDim.x");
}

struct poly poly_common(const struct function *f, const struct poly *p, struct poly *rest)
{
    struct poly common = poly_number(0);
    *rest = *p;
    for (int i = 0; i < p->n && p->ok; i++) {
        struct poly one = poly_number(p->t[i].by);
        bool is = p->t[i].n > 0;
        for (int k = 0; k < p->t[i].n; k++) {
            is = is && is_common_atom(f, p->t[i].atom[k]);
            one = poly_mul(f, one, poly_atom(f, p->t[i].atom[k]));
        }
        if (is) {
            common = poly_add(f, common, one, 1);
            *rest = poly_add(f, *rest, one, -1);
        }
    }
    return common;
}

static const char *terms_text(const struct function *f, const struct poly *p, const char *cast)
{
    struct str b = {.arena = f->a};
    for (int i = 0; i < p->n; i++) {
        const struct term *t = &p->t[i];
        int64_t by = t->by < 0 && i > 0 ? -t->by : t->by;
        if (i > 0)
            str_add(&b, t->by < 0 ? " - " : " + ");
        str_add(&b, t->n > 0 ? cast : "");
        if (t->n == 0 || by == -1 || llabs(by) != 1)
            str_addf(&b, "%lld%s", (long long)by, t->n > 0 ? " * " : "");
        for (int k = 0; k < t->n; k++) {
            bool name =
                strspn(t->atom[k], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
                strlen(t->atom[k]);
            str_addf(&b, name ? "%s%s" : "%s(%s)", k > 0 ? " * " : "", t->atom[k]);
        }
    }
    return p->n > 0 ? str_take(&b, f->a) : "0";
}

const char *poly_text(const struct function *f, const struct poly *p)
{
    return terms_text(f, p, "");
}

const char *poly_text_wide(const struct function *f, const struct poly *p)
{
    return terms_text(f, p, "(long long)");
}

bool counted_of(const struct function *f, struct node loop, struct counted *c)
{
    struct node first = node_field(loop, FIELD_INITIALIZER), until = node_field(loop, FIELD_CONDITION),
                declarator = node_field(first, FIELD_DECLARATOR), update = node_field(loop, FIELD_UPDATE);
    *c = (struct counted){0};
    if (!node_is(loop, NODE_FOR_STATEMENT) || !node_is(first, NODE_DECLARATION) ||
        !node_is(declarator, NODE_INIT_DECLARATOR) || !node_is_binary(f, until, "<") ||
        !constant_value(f, node_field(declarator, FIELD_VALUE), &c->low) ||
        !constant_value(f, node_field(until, FIELD_RIGHT), &c->end) || c->end <= c->low)
        return false;
    c->index = function_variable_of(f, node_field(declarator, FIELD_DECLARATOR));
    return c->index && node_text_is(f->s, node_field(until, FIELD_LEFT), c->index->name) &&
           node_is(update, NODE_UPDATE_EXPRESSION) && str_eq(node_op(f, update), "++") &&
           node_text_is(f->s, node_field(update, FIELD_ARGUMENT), c->index->name) &&
           !variable_assigned_in(f, c->index, node_field(loop, FIELD_BODY));
}

static bool range_within(const struct function *f, const struct poly *p, struct node n, int depth, int64_t *low,
                         int64_t *high);

/* What the variable may be given here; itself says nothing. */
static bool given_range(const struct function *f, const struct variable *v, struct node e, int depth,
                        int64_t *low, int64_t *high)
{
    e = node_strip(e);
    if (node_is(e, NODE_IDENTIFIER) && function_variable_of(f, e) == v)
        return true;
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION))
        return given_range(f, v, node_field(e, FIELD_CONSEQUENCE), depth, low, high) &&
               given_range(f, v, node_field(e, FIELD_ALTERNATIVE), depth, low, high);
    struct poly p = poly_of(f, e);
    int64_t least, most;
    if (!range_within(f, &p, e, depth + 1, &least, &most))
        return false;
    *low = MIN(*low, least);
    *high = MAX(*high, most);
    return true;
}

/* What an integer variable may be: of a counted loop, or of what it is given. */
static bool variable_range(const struct function *f, const struct variable *v, int depth, int64_t *low,
                           int64_t *high)
{
    struct counted c;
    if (v->param || v->array || v->pointer || v->shared || !ctype_is_integer(f, v->type) || !node_ok(v->init))
        return false;
    if (counted_of(f, node_parent(v->statement), &c) && c.index == v) {
        *low = c.low;
        *high = c.end - 1;
        return true;
    }
    *low = INT64_MAX;
    *high = INT64_MIN;
    if (!given_range(f, v, v->init, depth, low, high))
        return false;
    int seen = 0;
    for (struct node *e = nodes_of(f, f->body, NODE_ASSIGNMENT_EXPRESSION); node_ok(*e); e++) {
        struct node left = node_field(*e, FIELD_LEFT);
        if (!node_is(left, NODE_IDENTIFIER) || function_variable_of(f, left) != v)
            continue;
        if (!node_is_assignment(f, *e, "=") ||
            !given_range(f, v, node_field(*e, FIELD_RIGHT), depth, low, high))
            return false;
        seen++;
    }
    return seen == v->assignments && *low <= *high; /* else its address is taken, or it is counted up */
}

static bool range_within(const struct function *f, const struct poly *p, struct node n, int depth, int64_t *low,
                         int64_t *high)
{
    *low = *high = 0;
    if (!p->ok || depth > DEEPEST)
        return false;
    for (int i = 0; i < p->n; i++) {
        const struct term *t = &p->t[i];
        const struct variable *v = t->n == 1 ? function_variable(f, t->atom[0], node_start(n)) : NULL;
        int64_t least = 1, most = 1;
        if (t->n > 0 && (!v || !variable_range(f, v, depth, &least, &most)))
            return false;
        if (llabs(t->by) > INT32_MAX || llabs(least) > INT32_MAX || llabs(most) > INT32_MAX)
            return false;
        *low += t->by * (t->by > 0 ? least : most);
        *high += t->by * (t->by > 0 ? most : least);
    }
    return true;
}

bool poly_range(const struct function *f, const struct poly *p, struct node n, int64_t *low, int64_t *high)
{
    return range_within(f, p, n, 0, low, high);
}

int64_t row_pitch(int64_t width, int bytes)
{
    if (bytes >= BANK_BYTES)
        return width | 1;
    int64_t words = (width * bytes + BANK_BYTES - 1) / BANK_BYTES;
    return (words | 1) * BANK_BYTES / bytes;
}
