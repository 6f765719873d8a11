/* elements: code for one element becomes code for N neighbouring ones.
 *
 * Each expression is, over the N elements, one of: invariant; linear (its value for the first element plus k);
 * stepped (plus a constant times k, as are the places of the three bytes of a pixel); or varying. Given that
 * the index is a multiple of N, `i / d` is invariant and `i % d` linear when d is a multiple of N, which the
 * guard then asks. Invariant and linear declarations stay outside the loop over k, accesses at linear indices
 * become vectors (loads first, stores last), the rest goes into the loop with its types unchanged. A loop that
 * is the same for all elements is gone through once, all of them in step (elements_step.c). */
#include "rewrite/elements.h"

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

static int64_t by_of(struct elements *w, const struct variable *v)
{
    const struct outside *known = v == w->element ? NULL : stays_outside(w, v);
    return known ? known->by : v == w->element;
}

/* The constant that e is multiplied by; 0: none. */
static int64_t times_of(const struct function *f, struct node e, struct node *of)
{
    enum { MOST = 64 };
    struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
    const char *op = node_op(f, e);
    int64_t value = 0;
    *of = left;
    if (str_eq(op, "<<") && constant_value(f, right, &value) && value > 0 && value <= 6)
        return (int64_t)1 << value;
    if (!str_eq(op, "*"))
        return 0;
    if (!constant_value(f, right, &value)) {
        *of = right;
        if (!constant_value(f, left, &value))
            return 0;
    }
    return value > 1 && value <= MOST ? value : 0;
}

int64_t elements_by(struct elements *w, struct node e)
{
    const struct function *f = w->f;
    struct node of;
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        return v ? by_of(w, v) : 0;
    }
    if (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        return elements_by(w, node_child(e, 0));
    if (node_is(e, NODE_CAST_EXPRESSION))
        return elements_by(w, node_field(e, FIELD_VALUE));
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
        if (elements_kind(w, e) == INVARIANT)
            return 0;
        int64_t times = times_of(f, e, &of);
        if (times)
            return times * elements_by(w, of);
        return elements_by(w, left) + (str_eq(node_op(f, e), "+") ? elements_by(w, right) : 0);
    }
    if (node_is_address(f, e)) {
        struct node place = node_field(e, FIELD_ARGUMENT), index = subscript_index(f, place);
        return node_ok(index) ? elements_by(w, index) : 0;
    }
    return 0;
}

enum kind elements_kind_of(struct elements *w, const struct variable *v)
{
    if (v == w->element)
        return LINEAR;
    if (in_part(w, v)) {
        const struct outside *known = stays_outside(w, v);
        return known ? known->kind : VARYING;
    }
    return v->assignments && variable_assigned_in(w->f, v, w->part) ? VARYING : INVARIANT;
}

static enum kind kind_of_division(struct elements *w, const char *op, struct node left, struct node right)
{
    size_t before = w->multiples.n;
    enum kind kind = elements_kind(w, left);
    int times = w->times;
    w->times = MAX(times, 1) * (kind == STEPPED ? (int)elements_by(w, left) : 1);
    bool ok = elements_kind(w, right) == INVARIANT && elements_multiple(w, left) && elements_multiple(w, right);
    w->times = times;
    if (ok)
        return str_eq(op, "/") ? INVARIANT : kind;
    w->multiples.n = before;
    return VARYING;
}

/* A constant times what goes on. */
static enum kind kind_of_product(struct elements *w, struct node e)
{
    struct node of;
    int64_t times = times_of(w->f, e, &of);
    enum kind kind = times ? elements_kind(w, of) : VARYING;
    return (kind == LINEAR || kind == STEPPED) && times * elements_by(w, of) <= 64 ? STEPPED : VARYING;
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
        return v ? elements_kind_of(w, v) : INVARIANT;
    }
    if (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        return elements_kind(w, node_child(e, 0));
    if (node_is(e, NODE_CAST_EXPRESSION)) {
        enum kind k = elements_kind(w, node_field(e, FIELD_VALUE));
        return (k == LINEAR || k == STEPPED) && !ctype_is_integer(f, text_of(f, node_field(e, FIELD_TYPE)))
                   ? VARYING
                   : k;
    }
    if (node_is(e, NODE_TYPE_DESCRIPTOR) || node_is(e, NODE_NUMBER_LITERAL))
        return INVARIANT;
    if (node_is(e, NODE_FIELD_EXPRESSION) && w->place) {
        const char *text = text_compact(f->a, text_of(f, e));
        if (str_eq(text, w->place) || str_eq(text, w->thread))
            return VARYING;
    }
    if (node_is(e, NODE_ASSIGNMENT_EXPRESSION) || node_is(e, NODE_UPDATE_EXPRESSION) ||
        node_is(e, NODE_LAMBDA_EXPRESSION))
        return VARYING;
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        const char *op = node_op(f, e);
        struct node left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
        enum kind x = elements_kind(w, left), y = elements_kind(w, right);
        if (x == INVARIANT && y == INVARIANT)
            return INVARIANT;
        if (str_eq(op, "+") && x != VARYING && y != VARYING && (x == INVARIANT || y == INVARIANT))
            return x == INVARIANT ? y : x;
        if (str_eq(op, "-") && x != VARYING && y == INVARIANT)
            return x;
        if ((str_eq(op, "/") || str_eq(op, "%")) && x != INVARIANT && x != VARYING)
            return kind_of_division(w, op, left, right);
        return kind_of_product(w, e);
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
bool elements_known_outside(const struct elements *w, struct node e)
{
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(w->f, e);
        return !v || !in_part(w, v) || stays_outside(w, v) || v == w->element;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!elements_known_outside(w, node_child(e, i)))
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
            elements_kind(w, condition) == INVARIANT && elements_known_outside(w, condition)) {
            *asked = condition;
            *otherwise = node_same(n, node_field(parent, FIELD_ALTERNATIVE));
            continue;
        }
        if (node_is_asked(f, n))
            return true;
    }
    return false;
}

/* The index without what is added to it as a constant; no node: it is one. */
static struct node without_constant(const struct function *f, struct node index, int64_t *added)
{
    int64_t value;
    *added = 0;
    for (;;) {
        index = unbracketed(index);
        if (constant_value(f, index, &value)) {
            *added += value;
            return (struct node){0};
        }
        struct node left = node_field(index, FIELD_LEFT), right = node_field(index, FIELD_RIGHT);
        bool sum = node_is_binary(f, index, "+"), less = node_is_binary(f, index, "-");
        if ((sum || less) && constant_value(f, right, &value)) {
            *added += sum ? value : -value;
            index = left;
        } else if (sum && constant_value(f, left, &value)) {
            *added += value;
            index = right;
        } else {
            return index;
        }
    }
}

/* Where an access goes to: *index is without the part then. */
struct way {
    int64_t by, part; /* values from element to element, and which of them */
    struct node index;
};

/* Do pointer and index together go on by one from element to element, from a multiple of n on? Or by a few,
 * of which this is one. */
static bool goes_on(struct elements *w, struct node pointer, struct node index, struct way *way)
{
    size_t before = w->multiples.n;
    enum kind from = elements_kind(w, pointer), at = node_ok(index) ? elements_kind(w, index) : INVARIANT;
    int times = w->times;
    *way = (struct way){.index = index};
    bool ok = from != VARYING && at != VARYING && (from == INVARIANT) != (at == INVARIANT);
    if (ok)
        way->by = elements_by(w, pointer) + (node_ok(index) ? elements_by(w, index) : 0);
    if (ok && way->by > 1 && node_ok(index))
        way->index = without_constant(w->f, index, &way->part);
    if (ok && way->by > 1)
        w->times = MAX(times, 1) * (int)way->by;
    ok = ok && way->by > 0 && way->part >= 0 && way->part < way->by && elements_known_outside(w, pointer) &&
         elements_pointer_multiple(w, pointer) &&
         (!node_ok(way->index) || (elements_known_outside(w, way->index) && elements_multiple(w, way->index)));
    w->times = times;
    if (!ok)
        w->multiples.n = before;
    return ok;
}

bool elements_are_whole(int64_t count, int size_bytes)
{
    enum { MOST = 128 }; /* bytes that a thread holds of it */
    int64_t bytes = count * size_bytes;
    return bytes <= MOST && (bytes % 16 == 0 || (bytes < 16 && (bytes & (bytes - 1)) == 0));
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
struct access *elements_access(struct elements *w, const struct reached *p, struct node top, int *part_of)
{
    const struct function *f = w->f;
    struct node e = p->whole, pointer = p->pointer, index = p->index;
    bool address = !p->call && node_is(node_parent(e), NODE_POINTER_EXPRESSION);
    if (!node_is(pointer, NODE_IDENTIFIER) || address || (w->behind && node_start(e) > w->behind))
        return NULL;
    const struct variable *v = function_variable_of(f, pointer), *root = pointer_root(f, pointer);
    if (!v || !root || !v->pointer || !root->pointer || root->shared || root->array)
        return NULL;
    for (size_t i = 0; i < w->refused.n; i++)
        if (w->refused.v[i] == root)
            return NULL;
    int size = ctype_size(f, v->type);
    size = size ? size : ctype_struct_size(f, v->type);
    struct node asked;
    struct way way;
    bool otherwise, part, written = is_target(e, &part) || node_ok(p->value),
                          read = !written || part || (!p->call && !str_eq(node_op(f, node_parent(e)), "="));
    if (size == 0 || ctype_size(f, root->type) > size || is_conditional(w, e, top, &asked, &otherwise) ||
        !goes_on(w, pointer, index, &way) || (way.by > 1 && node_ok(asked)) ||
        !elements_are_whole(way.by * w->n, size))
        return NULL;
    *part_of = (int)way.part;
    const char *text = text_of(f, pointer), *place = node_ok(way.index) ? text_of(f, way.index) : "0";
    char *key = text_compact(f->a, place);
    for (struct access *known = w->accesses.v + w->first_access; known < w->accesses.v + w->accesses.n; known++)
        if (known->by == way.by && str_eq(known->pointer, text) &&
            str_eq(text_compact(f->a, known->index), key))
            return reached_again(known, asked, otherwise, read, written) ? known : NULL;
    struct access one = {.root = root,
                         .pointer = text,
                         .index = place,
                         .type = v->type,
                         .size_bytes = size,
                         .by = (int)way.by,
                         .count = (int)way.by * w->n,
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

void elements_collect(struct elements *w, struct node e, struct node top)
{
    const struct function *f = w->f;
    if (node_is(e, NODE_ASSIGNMENT_EXPRESSION)) { /* the right side is read before the left is written */
        elements_collect(w, node_field(e, FIELD_RIGHT), top);
        elements_collect(w, node_field(e, FIELD_LEFT), top);
        return;
    }
    struct reached p;
    if (element_reached(f, e, &p)) {
        if (node_ok(p.value)) /* it is read before this is written */
            elements_collect(w, p.value, top);
        int which;
        struct access *access = elements_access(w, &p, top, &which);
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
            if (target)
                access->parts |= (uint64_t)1 << which;
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
        elements_collect(w, node_child(e, i), top);
}

/* All of it one element at a time, as far as those around it can tell. */
void elements_collect_scalars(struct elements *w, struct node e)
{
    const struct function *f = w->f;
    struct reached p;
    if (element_reached(f, e, &p))
        scalar_add(w, pointer_root(f, p.pointer), is_target(e, &(bool){0}) || node_ok(p.value));
    else if (node_is_access(f, e) || node_is_address(f, e))
        scalar_add(w, pointer_root(f, e), true);
    if (node_is(e, NODE_CALL_EXPRESSION) && !call_is_pure(f, e))
        for (struct node *arg = named_children(f, node_field(e, FIELD_ARGUMENTS), NULL); node_ok(*arg); arg++) {
            const struct variable *root = pointer_root(f, *arg);
            if (root && (root->pointer || root->array))
                scalar_add(w, root, true);
        }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        elements_collect_scalars(w, node_child(e, i));
}

/* What may not be a vector, as it is reached in another way too; NULL: nothing. *never: nothing may be then. */
const struct variable *elements_conflict(struct elements *w, bool *never)
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

static bool node_reads(const struct function *f, struct node n)
{
    if (node_is_access(f, n) || (node_is(n, NODE_CALL_EXPRESSION) && !call_is_pure_builtin(f, n)))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (node_reads(f, node_child(n, i)))
            return true;
    return false;
}

/* A declaration whose values are all invariant, or linear integers and pointers, never assigned again. */
bool elements_stay(struct elements *w, struct node n)
{
    if (!node_is(n, NODE_DECLARATION) && !node_is(n, NODE_EXPRESSION_STATEMENT))
        return false;
    const struct function *f = w->f;
    size_t found = 0, before = w->outside.n;
    if (w->behind && node_reads(f, n)) /* an element that is done with it reads nothing */
        return false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (v->param || !node_same(v->statement, n))
            continue;
        found++;
        enum kind k = node_ok(v->init) && !v->array && !v->shared && v->assignments == 0
                          ? elements_kind(w, v->init)
                          : VARYING;
        enum kind from = v->base ? elements_kind_of(w, v->base) : INVARIANT; /* p += i; */
        if (from != INVARIANT)
            k = k == INVARIANT ? from : VARYING;
        if (k == VARYING || (k != INVARIANT && !v->pointer && !ctype_is_integer(f, v->type))) {
            w->outside.n = before;
            return false;
        }
        struct outside one = {v, k, from == INVARIANT ? elements_by(w, v->init) : by_of(w, v->base)};
        vec_add(f->a, &w->outside, one);
    }
    return found > 0;
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
        w->aligned.v[j] = MAX(w->aligned.v[j], MIN(16, x->size_bytes * x->count));
        if (x->stored)
            vec_add(w->f->a, &w->stored, x->root);
        int piece = x->size_bytes & -x->size_bytes; /* of 24 bytes 8, so that two of them are whole vectors */
        w->smallest = w->smallest ? MIN(w->smallest, piece) : piece;
        w->vectors++;
        w->largest = MAX(w->largest, x->size_bytes * x->count);
        any = true;
    }
    w->accesses.n = w->scalars.n = w->outside.n = w->refused.n = w->spread.n = 0;
    return any;
}
