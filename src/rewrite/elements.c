/* elements: code for one element becomes code for N neighbouring ones.
 *
 * Each expression is, over the N elements, one of: invariant; linear (its value for the first element plus k);
 * or varying. Given that the index is a multiple of N, `i / d` is invariant and `i % d` linear when d is a
 * multiple of N, which the guard then asks. Invariant and linear declarations stay outside the loop over k,
 * accesses at linear indices become vectors (loads first, stores last), the rest goes into the loop with its
 * types unchanged. */
#include "rewrite/analysis.h"

struct access { /* vector accesses of one address */
    const struct variable *root;
    const char *pointer, *index, *type, *name;
    int size_bytes;
    bool loaded, stored;
    size_t first_load, last_load, first_store; /* bytes in the text */
    struct node address;                       /* the place where it is first reached */
    struct node condition;                     /* the same for all elements; no node: none */
    bool otherwise;                            /* it is reached where that does not hold */
};

struct scalar { /* accesses that stay one element wide */
    const struct variable *root;
    bool stored;
};

struct outside {
    const struct variable *v;
    enum kind kind;
};

/* Kinds -------------------------------------------------------------------------------------------------------
 */

static bool in_part(const struct elements *w, const struct variable *v)
{
    return v->from >= node_start(w->part) && v->from < node_end(w->part);
}

static const struct outside *stays_outside(const struct elements *w, const struct variable *v)
{
    for (size_t i = 0; i < w->outside.n; i++)
        if (w->outside.v[i].v == v)
            return &w->outside.v[i];
    return NULL;
}

static enum kind kind_of_variable(struct elements *w, const struct variable *v)
{
    if (v == w->element)
        return LINEAR;
    if (in_part(w, v)) {
        const struct outside *known = stays_outside(w, v);
        return known ? known->kind : VARYING;
    }
    return variable_assigned_in(w->f, v, w->part) ? VARYING : INVARIANT;
}

static enum kind kind_of_division(struct elements *w, const char *op, struct node left, struct node right)
{
    size_t before = w->multiples.n;
    if (elements_kind(w, right) == INVARIANT && elements_multiple(w, left) && elements_multiple(w, right))
        return str_eq(op, "/") ? INVARIANT : LINEAR;
    w->multiples.n = before;
    return VARYING;
}

static enum kind kind_of_children(struct elements *w, struct node e)
{
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (elements_kind(w, node_child(e, i)) != INVARIANT)
            return VARYING;
    return INVARIANT;
}

enum kind elements_kind(struct elements *w, struct node e)
{
    const struct function *f = w->f;
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        return v ? kind_of_variable(w, v) : INVARIANT;
    }
    if (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        return elements_kind(w, node_child(e, 0));
    if (node_is(e, NODE_CAST_EXPRESSION)) {
        enum kind k = elements_kind(w, node_field(e, FIELD_VALUE));
        return k == LINEAR && !ctype_is_integer(f, text_of(f, node_field(e, FIELD_TYPE))) ? VARYING : k;
    }
    if (node_is(e, NODE_TYPE_DESCRIPTOR) || node_is(e, NODE_NUMBER_LITERAL))
        return INVARIANT;
    if (node_is(e, NODE_ASSIGNMENT_EXPRESSION) || node_is(e, NODE_UPDATE_EXPRESSION) ||
        node_is(e, NODE_LAMBDA_EXPRESSION))
        return VARYING;
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        const char *op = node_op(f, e);
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
        enum kind x = elements_kind(w, left), y = elements_kind(w, right);
        if (x == INVARIANT && y == INVARIANT)
            return INVARIANT;
        if (str_eq(op, "+") && x != VARYING && y != VARYING && x != y)
            return LINEAR;
        if (str_eq(op, "-") && x == LINEAR && y == INVARIANT)
            return LINEAR;
        if ((str_eq(op, "/") || str_eq(op, "%")) && x == LINEAR)
            return kind_of_division(w, op, left, right);
        return VARYING;
    }
    if (node_is(e, NODE_CALL_EXPRESSION) && !call_is_pure(f, e))
        return VARYING;
    struct node of = node_field(e, FIELD_ARGUMENT), index = subscript_index(f, of);
    if (node_is_address(f, e) && node_ok(index) &&
        elements_kind(w, node_field(of, FIELD_ARGUMENT)) == INVARIANT)
        return elements_kind(w, index); /* an address, which reads nothing */
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION) || node_is(e, NODE_POINTER_EXPRESSION)) {
        const struct variable *root = pointer_root(f, e);
        if (!root || memory_written_in(f, root->name, w->part))
            return VARYING;
    }
    return kind_of_children(w, e);
}

/* Accesses ----------------------------------------------------------------------------------------------------
 */

/* Does every name stand outside the loop over k? */
static bool known_outside(const struct elements *w, struct node e)
{
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(w->f, e);
        return !v || !in_part(w, v) || stays_outside(w, v) || v == w->element;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!known_outside(w, node_child(e, i)))
            return false;
    return true;
}

/* Only evaluated under a condition, or more than once? One question with the same answer for all elements,
 * which the region does not change, may be asked before a load and a store: *asked, and which answer they need.
 */
static bool is_conditional(struct elements *w, struct node e, struct node top, struct node *asked,
                           bool *otherwise)
{
    const struct function *f = w->f;
    *asked = (struct node){0};
    *otherwise = false;
    for (struct node n = e; !node_same(n, top); n = node_parent(n)) {
        struct node parent = node_parent(n);
        struct node clause = node_field(parent, FIELD_CONDITION), condition = clause;
        if (node_is(parent, NODE_IF_STATEMENT))
            condition = node_field(clause, FIELD_VALUE);
        else if (!node_is(parent, NODE_CONDITIONAL_EXPRESSION))
            condition = (struct node){0};
        condition = unbracketed(condition);
        if (!node_ok(*asked) && node_ok(condition) && !node_within(n, clause) &&
            elements_kind(w, condition) == INVARIANT && known_outside(w, condition)) {
            *asked = condition;
            *otherwise = node_same(n, node_field(parent, FIELD_ALTERNATIVE));
            continue;
        }
        if (node_is_asked(f, n))
            return true;
    }
    return false;
}

/* Do pointer and index together go on by one from element to element, from a multiple of n on? */
static bool goes_on(struct elements *w, struct node pointer, struct node index)
{
    size_t before = w->multiples.n;
    enum kind from = elements_kind(w, pointer), by = node_ok(index) ? elements_kind(w, index) : INVARIANT;
    bool ok = ((from == INVARIANT && by == LINEAR) || (from == LINEAR && by == INVARIANT)) &&
              known_outside(w, pointer) && elements_pointer_multiple(w, pointer) &&
              (!node_ok(index) || (known_outside(w, index) && elements_multiple(w, index)));
    if (!ok)
        w->multiples.n = before;
    return ok;
}

/* Is it written: itself, or (*part) a member of it? */
static bool is_target(struct node e, bool *part)
{
    struct node parent = node_parent(e);
    *part = node_is(parent, NODE_FIELD_EXPRESSION);
    for (; node_is(parent, NODE_FIELD_EXPRESSION); parent = node_parent(parent))
        e = parent;
    return (node_is(parent, NODE_ASSIGNMENT_EXPRESSION) && node_same(node_field(parent, FIELD_LEFT), e)) ||
           node_is(parent, NODE_UPDATE_EXPRESSION);
}

/* The same place is reached again: by the other branch of one question, and so always; or where it always was.
 */
static bool reached_again(struct access *known, struct node asked, bool otherwise, bool read, bool written)
{
    if (node_same(known->condition, asked) && known->otherwise == otherwise)
        return true;
    if (!node_ok(known->condition))
        return read ? !known->stored && !written : known->stored;
    if (!node_same(known->condition, asked) || (read && written) || known->loaded != read ||
        known->stored != written)
        return false;
    known->condition = (struct node){0};
    return true;
}

/* The vector that an element of statement `top` belongs to; NULL when it stays as it is. */
static struct access *access_of(struct elements *w, const struct reached *p, struct node top)
{
    const struct function *f = w->f;
    struct node e = p->whole, pointer = p->pointer, index = p->index;
    bool address = !p->call && node_is(node_parent(e), NODE_POINTER_EXPRESSION);
    if (!node_is(pointer, NODE_IDENTIFIER) || address)
        return NULL;
    const struct variable *v = function_variable_of(f, pointer), *root = pointer_root(f, pointer);
    if (!v || !root || !v->pointer || !root->pointer || root->shared || root->array)
        return NULL;
    for (size_t i = 0; i < w->refused.n; i++)
        if (w->refused.v[i] == root)
            return NULL;
    int size = ctype_size(f, v->type);
    struct node asked;
    bool otherwise, part, written = is_target(e, &part) || node_ok(p->value),
                          read = !written || part || (!p->call && !str_eq(node_op(f, node_parent(e)), "="));
    if (size == 0 || ctype_size(f, root->type) > size || is_conditional(w, e, top, &asked, &otherwise) ||
        !goes_on(w, pointer, index))
        return NULL;
    const char *text = text_of(f, pointer), *place = node_ok(index) ? text_of(f, index) : "0";
    char *key = text_compact(f->a, place);
    for (struct access *known = w->accesses.v + w->first_access; known < w->accesses.v + w->accesses.n; known++)
        if (str_eq(known->pointer, text) && str_eq(text_compact(f->a, known->index), key))
            return reached_again(known, asked, otherwise, read, written) ? known : NULL;
    struct access one = {.root = root,
                         .pointer = text,
                         .index = place,
                         .type = v->type,
                         .size_bytes = size,
                         .address = e,
                         .condition = asked,
                         .otherwise = otherwise};
    vec_add(f->a, &w->accesses, one);
    return &w->accesses.v[w->accesses.n - 1];
}

static void scalar_add(struct elements *w, const struct variable *root, bool stored)
{
    struct scalar one = {root, stored};
    vec_add(w->f->a, &w->scalars, one);
}

static void collect(struct elements *w, struct node e, struct node top)
{
    const struct function *f = w->f;
    if (node_is(e, NODE_ASSIGNMENT_EXPRESSION)) { /* the right side is read before the left is written */
        collect(w, node_field(e, FIELD_RIGHT), top);
        collect(w, node_field(e, FIELD_LEFT), top);
        return;
    }
    struct reached p;
    if (element_reached(f, e, &p)) {
        if (node_ok(p.value)) /* it is read before this is written */
            collect(w, p.value, top);
        struct access *access = access_of(w, &p, top);
        bool part, target = is_target(e, &part) || node_ok(p.value);
        if (access) {
            size_t at = node_start(top);
            bool read = !target || part || (!p.call && !str_eq(node_op(f, node_parent(e)), "="));
            if (target && node_is(node_parent(e), NODE_UPDATE_EXPRESSION))
                read = true;
            if (read && !access->stored && !access->loaded) {
                access->loaded = true;
                access->first_load = at;
            }
            if (read)
                access->last_load = at;
            if (target && !access->stored) {
                access->stored = true;
                access->first_store = at;
            }
            return;
        }
    }
    if (node_is(e, NODE_CALL_EXPRESSION) && !call_is_pure(f, e)) { /* it may write what it is given */
        for (struct node *arg = named_children(f, node_field(e, FIELD_ARGUMENTS), NULL); node_ok(*arg); arg++) {
            bool plain = node_is(*arg, NODE_IDENTIFIER) || node_is(*arg, NODE_BINARY_EXPRESSION);
            const struct variable *root = plain ? pointer_root(f, *arg) : NULL;
            if (root && (root->pointer || root->array))
                scalar_add(w, root, true);
        }
    }
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION) || node_is(e, NODE_POINTER_EXPRESSION)) {
        bool address = node_is_address(f, e);
        const struct variable *root = pointer_root(f, e);
        if (!root || root->pointer)
            scalar_add(w, root, is_target(e, &(bool){0}) || address);
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        collect(w, node_child(e, i), top);
}

/* What may not be a vector, as it is reached in another way too; NULL: nothing. *never: nothing may be then. */
static const struct variable *conflict(struct elements *w, bool *never)
{
    *never = false;
    for (size_t i = w->first_access; i < w->accesses.n; i++) {
        const struct access *x = &w->accesses.v[i];
        for (const struct scalar *s = w->scalars.v + w->first_scalar; s < w->scalars.v + w->scalars.n; s++) {
            if ((!s->root || s->root == x->root) && (x->stored || s->stored)) {
                err_input(w->why, "%s is also reached one element at a time", x->pointer);
                return x->root;
            }
        }
        for (size_t j = w->first_access; j < w->accesses.n; j++) {
            const struct access *y = &w->accesses.v[j];
            if (i != j && x->root == y->root && x->stored && y->loaded && y->last_load > x->first_store) {
                *never = !err_input(w->why, "%s is read after it is written at another index", x->pointer);
                return x->root;
            }
        }
    }
    return NULL;
}

/* Writing -----------------------------------------------------------------------------------------------------
 */

static bool needs_brackets(struct node e)
{
    struct node parent = node_parent(e);
    return !node_is(parent, NODE_SUBSCRIPT_ARGUMENT_LIST) && !node_is(parent, NODE_ARGUMENT_LIST) &&
           !node_is(parent, NODE_PARENTHESIZED_EXPRESSION) && !node_is(parent, NODE_INIT_DECLARATOR);
}

static void per_element(struct elements *w, struct node e, struct node top, struct edits *edits)
{
    const struct function *f = w->f;
    struct reached p;
    struct access *access = element_reached(f, e, &p) ? access_of(w, &p, top) : NULL;
    if (access) {
        char *text = arena_printf(f->a, "%s.at[%s]", access->name, w->lane);
        if (!node_ok(p.value)) {
            edits_node(edits, e, text);
            return;
        }
        edits_try(edits, node_start(e), node_start(p.value), arena_printf(f->a, "%s = ", text));
        per_element(w, p.value, top, edits);
        edits_try(edits, node_end(p.value), node_end(e), "");
        return;
    }
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (v && kind_of_variable(w, v) == LINEAR && node_start(e) != v->from) {
            char *text = arena_printf(f->a, "%s + %s", v->name, w->lane);
            edits_node(edits, e, needs_brackets(e) ? arena_printf(f->a, "(%s)", text) : text);
        }
        return;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        per_element(w, node_child(e, i), top, edits);
}

/* A pointer that goes on from element to element would do so for each of the n. */
static bool moves_pointer(const struct function *f, struct node n)
{
    const struct variable *v = function_variable_of(f, assigned_target(n));
    if (v && v->pointer)
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (moves_pointer(f, node_child(n, i)))
            return true;
    return false;
}

static bool leaves(struct node n, bool in_loop)
{
    if (node_is(n, NODE_RETURN_STATEMENT) || node_is(n, NODE_GOTO_STATEMENT) ||
        node_is(n, NODE_CO_RETURN_STATEMENT))
        return true;
    if ((node_is(n, NODE_BREAK_STATEMENT) || node_is(n, NODE_CONTINUE_STATEMENT)) && !in_loop)
        return true;
    in_loop = in_loop || node_is_loop(n) || node_is(n, NODE_SWITCH_STATEMENT);
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (leaves(node_child(n, i), in_loop))
            return true;
    return false;
}

/* A declaration whose values are all invariant, or linear integers and pointers, never assigned again. */
bool elements_stay(struct elements *w, struct node n)
{
    if (!node_is(n, NODE_DECLARATION))
        return false;
    const struct function *f = w->f;
    size_t found = 0, before = w->outside.n;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->param || !node_same(v->statement, n))
            continue;
        found++;
        enum kind k = node_ok(v->init) && !v->array && !v->shared && v->assignments == 0
                          ? elements_kind(w, v->init)
                          : VARYING;
        if (k == VARYING || (k == LINEAR && !v->pointer && !ctype_is_integer(f, v->type))) {
            w->outside.n = before;
            return false;
        }
        struct outside one = {v, k};
        vec_add(f->a, &w->outside, one);
    }
    return found > 0;
}

/* Everything in it is the same for all elements, and it does not touch what varies. */
static bool wholly_invariant(struct elements *w, struct node n)
{
    const struct function *f = w->f;
    if (node_is(n, NODE_ASSIGNMENT_EXPRESSION)) {
        struct node left = node_strip(node_field(n, FIELD_LEFT));
        if (!node_is(left, NODE_SUBSCRIPT_EXPRESSION) || !str_eq(node_op(f, n), "="))
            return false;
        const struct variable *root = pointer_root(f, left);
        struct node index = subscript_index(f, left);
        return root && !root->shared && node_ok(index) && elements_kind(w, index) == INVARIANT &&
               elements_kind(w, node_field(n, FIELD_RIGHT)) == INVARIANT;
    }
    if (node_is(n, NODE_EXPRESSION_STATEMENT) || node_is(n, NODE_COMPOUND_STATEMENT)) {
        size_t count;
        struct node *all = named_children(f, n, &count);
        for (size_t i = 0; i < count; i++)
            if (!wholly_invariant(w, all[i]))
                return false;
        return count > 0;
    }
    return false;
}

/* `if (column == 0)`: among the elements of a vector only the first can be at a multiple of n. */
static bool only_first(struct elements *w, struct node condition)
{
    const struct function *f = w->f;
    condition = node_strip(condition);
    if (!node_is_binary(f, condition, "=="))
        return false;
    struct node left = node_field(condition, FIELD_LEFT), right = node_field(condition, FIELD_RIGHT);
    int64_t value;
    return elements_kind(w, left) == LINEAR && elements_multiple(w, left) && constant_value(f, right, &value) &&
           value % w->n == 0;
}

static bool once_for_all(struct elements *w, struct node n)
{
    if (wholly_invariant(w, n))
        return true;
    if (!node_is(n, NODE_IF_STATEMENT) || node_ok(node_field(n, FIELD_ALTERNATIVE)))
        return false;
    struct node condition = node_field(node_field(n, FIELD_CONDITION), FIELD_VALUE);
    return wholly_invariant(w, node_field(n, FIELD_CONSEQUENCE)) &&
           (elements_kind(w, condition) == INVARIANT || only_first(w, condition));
}

enum place { BEFORE, INSIDE, AFTER };

struct piece {
    struct node node;
    enum place place;
};

static void name_accesses(struct elements *w)
{
    const struct function *f = w->f;
    for (size_t i = w->first_access; i < w->accesses.n; i++) {
        const char *base = arena_printf(f->a, "%s_v", w->accesses.v[i].pointer), *name = base;
        for (int number = 2; number < 100; number++) {
            bool taken = !str_eq(fresh_local(f, name), name);
            for (size_t j = w->first_access; j < i; j++)
                taken = taken || str_eq(w->accesses.v[j].name, name);
            if (!taken)
                break;
            name = arena_printf(f->a, "%s%d", base, number);
        }
        w->accesses.v[i].name = name;
    }
}

static void add_lines(struct str *b, const char *indent, const char *text)
{
    str_addf(b, "%s%s\n", indent, text);
}

/* `if (...)` on a line of its own in front of what is only reached then; "" where it always is. */
static const char *question(struct elements *w, const char *indent, const struct access *x)
{
    const char *asked = node_ok(x->condition) ? text_of(w->f, x->condition) : NULL;
    if (!asked)
        return "";
    return arena_printf(w->f->a, x->otherwise ? "%sif (!(%s))\n    " : "%sif (%s)\n    ", indent, asked);
}

static void add_load(struct elements *w, struct str *b, const char *indent, const struct access *x)
{
    const char *constant = x->stored ? "" : "const ";
    if (node_ok(x->condition))
        str_addf(b, "%spacked<%s, %d> %s;\n%s%s%s = packed_load<%d>(&%s[%s]);\n", indent, x->type, w->n,
                 x->name, question(w, indent, x), indent, x->name, w->n, x->pointer, x->index);
    else
        str_addf(b, "%s%spacked<%s, %d> %s = packed_load<%d>(&%s[%s]);\n", indent, constant, x->type, w->n,
                 x->name, w->n, x->pointer, x->index);
}

/* The declarations that address x uses, among the pieces: the place after the last of them. */
static size_t load_after(struct elements *w, const struct access *x, const struct piece *pieces, size_t n)
{
    size_t after = 0;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].place != BEFORE || !node_is(pieces[i].node, NODE_DECLARATION))
            continue;
        for (const struct variable *var = w->f->variables; var < w->f->variables + w->f->n_variables; var++)
            if (node_same(var->statement, pieces[i].node) && !var->param &&
                (node_mentions(w->f, x->address, var->name) ||
                 (node_ok(x->condition) && node_mentions(w->f, x->condition, var->name))))
                after = i + 1;
    }
    return after;
}

/* What is reached in all pieces, and how. */
static void gather(struct elements *w, const struct piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].place == INSIDE)
            collect(w, pieces[i].node, pieces[i].node);
        if (pieces[i].place == AFTER) {
            for (struct node *subscript = nodes_of(w->f, pieces[i].node, NODE_SUBSCRIPT_EXPRESSION);
                 node_ok(*subscript); subscript++)
                scalar_add(w, pointer_root(w->f, *subscript), is_target(*subscript, &(bool){0}));
        }
    }
}

/* Would its names mean the same among the statements around it? */
static bool names_are_free(const struct function *f, struct node block, const struct node *statements, size_t n)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        for (size_t i = 0; i < n && !v->param && node_same(node_parent(v->statement), block); i++)
            if (!node_same(statements[i], block) && node_mentions(f, statements[i], v->name))
                return false;
    return !strchr(text_of(f, block), '#');
}

/* The statements, and those of blocks among them, such as inline leaves. */
static struct node *without_braces(const struct function *f, const struct node *statements, size_t *n)
{
    VEC(struct node) all = {0};
    bool any = false;
    for (size_t i = 0; i < *n; i++) {
        bool open =
            node_is(statements[i], NODE_COMPOUND_STATEMENT) && names_are_free(f, statements[i], statements, *n);
        if (!open)
            vec_add(f->a, &all, statements[i]);
        for (uint32_t k = 0, count = open ? node_count(statements[i]) : 0; k < count; k++)
            vec_add(f->a, &all, node_child(statements[i], k));
        any = any || open;
    }
    *n = all.n;
    return any ? without_braces(f, all.v, n) : all.v;
}

/* All that is done behind declarations is one question, with the same answer for all elements: it, or no node.
 */
static struct node only_choice(struct elements *w, const struct piece *pieces, size_t n)
{
    struct node found = {0}, none = {0};
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].place == BEFORE || node_is(pieces[i].node, NODE_COMMENT))
            continue;
        if (pieces[i].place == AFTER || node_ok(found) || !node_is(pieces[i].node, NODE_IF_STATEMENT))
            return none;
        found = pieces[i].node;
    }
    struct node condition = node_field(node_field(found, FIELD_CONDITION), FIELD_VALUE);
    bool same = node_ok(found) && node_ok(condition) && elements_kind(w, condition) == INVARIANT &&
                known_outside(w, condition);
    return same ? found : none;
}

/* Each branch of it for n elements by itself. */
static char *write_choice(struct elements *w, const struct piece *pieces, size_t n, struct node choice,
                          const char *indent)
{
    const struct function *f = w->f;
    const char *inner = arena_printf(f->a, "%s    ", indent);
    struct node branches[] = {node_field(choice, FIELD_CONSEQUENCE), node_field(choice, FIELD_ALTERNATIVE)};
    struct str b = {.arena = f->a};
    for (size_t i = 0; i < n; i++)
        if (pieces[i].place == BEFORE)
            add_lines(&b, indent, text_of(f, pieces[i].node));
    for (size_t k = 0; k < ARRAY_LEN(branches) && node_ok(branches[k]); k++) {
        size_t count = 1, refused = w->refused.n;
        struct node branch = node_is(branches[k], NODE_ELSE_CLAUSE) ? node_child(branches[k], 0) : branches[k],
                    *all = &branch;
        if (node_is(branch, NODE_COMPOUND_STATEMENT))
            all = named_children(f, branch, &count);
        char *text = elements_write(w, all, count, inner);
        w->refused.n = refused;
        if (!text)
            return NULL;
        if (k == 0)
            str_addf(&b, "%sif (%s) {\n", indent,
                     text_of(f, node_field(node_field(choice, FIELD_CONDITION), FIELD_VALUE)));
        else
            str_addf(&b, " else {\n");
        str_addf(&b, "%s\n%s}", text, indent);
    }
    return str_take(&b, f->a);
}

/* The region's new statements, or NULL when it cannot be. */
char *elements_write(struct elements *w, const struct node *statements, size_t n, const char *indent)
{
    const struct function *f = w->f;
    statements = without_braces(f, statements, &n);
    w->first_access = w->accesses.n;
    w->first_scalar = w->scalars.n;
    struct piece *pieces = arena_array(f->a, struct piece, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct node s = statements[i];
        pieces[i].node = s;
        if (node_is(s, NODE_COMMENT) || node_is(s, NODE_PREPROC_CALL)) {
            pieces[i].place = INSIDE; /* moves with what follows, below */
            continue;
        }
        if (calls_barrier(f, s) || leaves(s, false) || moves_pointer(f, s)) {
            err_input(w->why, "line %d leaves the loop, synchronises or moves a pointer", node_line(f->s, s));
            return NULL;
        }
        if (elements_stay(w, s))
            pieces[i].place = BEFORE;
        else
            pieces[i].place = once_for_all(w, s) ? AFTER : INSIDE;
    }
    for (size_t i = n; i-- > 0;)
        if (i + 1 < n && (node_is(pieces[i].node, NODE_COMMENT) || node_is(pieces[i].node, NODE_PREPROC_CALL)))
            pieces[i].place = pieces[i + 1].place;
    bool never;
    struct node choice = only_choice(w, pieces, n);
    if (node_ok(choice))
        return write_choice(w, pieces, n, choice, indent);
    gather(w, pieces, n);
    for (const struct variable *root; (root = conflict(w, &never)) != NULL;) {
        if (never)
            return NULL;
        vec_add(f->a, &w->refused, root); /* element by element, in the order of the original */
        w->accesses.n = w->first_access;
        w->scalars.n = w->first_scalar;
        gather(w, pieces, n);
    }
    name_accesses(w);

    struct str b = {0};
    for (size_t i = 0; i <= n; i++) {
        for (size_t x = w->first_access; x < w->accesses.n; x++)
            if (w->accesses.v[x].loaded && load_after(w, &w->accesses.v[x], pieces, n) == i)
                add_load(w, &b, indent, &w->accesses.v[x]);
        if (i < n && pieces[i].place == BEFORE)
            add_lines(&b, indent, text_of(f, pieces[i].node));
    }
    for (size_t x = w->first_access; x < w->accesses.n; x++)
        if (!w->accesses.v[x].loaded)
            str_addf(&b, "%spacked<%s, %d> %s;\n", indent, w->accesses.v[x].type, w->n, w->accesses.v[x].name);
    bool inside = false;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].place != INSIDE)
            continue;
        if (!inside)
            str_addf(&b, "#pragma unroll\n%sfor (int %s = 0; %s < %d; %s++) {\n", indent, w->lane, w->lane,
                     w->n, w->lane);
        inside = true;
        struct edits edits = {.arena = f->a};
        per_element(w, pieces[i].node, pieces[i].node, &edits);
        char *text = edits_range(&edits, f, node_start(pieces[i].node), node_end(pieces[i].node));
        size_t len = strlen(text);
        if (len && text[len - 1] == '\n')
            text[len - 1] = '\0';
        bool directive = text[0] == '#';
        str_addf(&b, "%s%s%s\n", directive ? "" : indent, directive ? "" : "    ",
                 text_reindent(f->a, text, 4));
    }
    if (inside)
        str_addf(&b, "%s}\n", indent);
    for (size_t x = w->first_access; x < w->accesses.n; x++)
        if (w->accesses.v[x].stored)
            str_addf(&b, "%s%spacked_store(&%s[%s], %s);\n", question(w, indent, &w->accesses.v[x]), indent,
                     w->accesses.v[x].pointer, w->accesses.v[x].index, w->accesses.v[x].name);
    for (size_t i = 0; i < n; i++)
        if (pieces[i].place == AFTER)
            add_lines(&b, indent, text_of(f, pieces[i].node));
    if (b.len && b.s[b.len - 1] == '\n')
        b.s[--b.len] = '\0';
    return str_take(&b, f->a);
}

/* After each region: what it needs of pointers is remembered, what is its own is forgotten. */
bool elements_end(struct elements *w)
{
    bool any = false;
    for (const struct access *x = w->accesses.v; x < w->accesses.v + w->accesses.n; x++) {
        size_t j = 0;
        while (j < w->pointers.n && w->pointers.v[j] != x->root)
            j++;
        if (j == w->pointers.n) {
            vec_add(w->f->a, &w->pointers, x->root);
            vec_add(w->f->a, &w->aligned, 0);
        }
        w->aligned.v[j] = MAX(w->aligned.v[j], MIN(16, x->size_bytes * w->n));
        if (x->stored)
            vec_add(w->f->a, &w->stored, x->root);
        w->smallest = w->smallest ? MIN(w->smallest, x->size_bytes) : x->size_bytes;
        any = true;
    }
    w->accesses.n = w->scalars.n = w->outside.n = w->refused.n = 0;
    return any;
}
