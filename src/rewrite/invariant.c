/* What a part of a function writes, and what is the same in every turn of it. */
#include "rewrite/analysis.h"

static bool is_null(const struct function *f, struct node n)
{
    n = node_strip(n);
    return node_text_is(f->s, n, "nullptr") || node_text_is(f->s, n, "NULL") || node_text_is(f->s, n, "0");
}

const struct variable *pointer_root(const struct function *f, struct node pointer)
{
    for (int depth = 0; depth < 16; depth++) {
        pointer = node_strip(pointer);
        if (node_is(pointer, NODE_IDENTIFIER)) {
            const struct variable *v = function_variable_of(f, pointer);
            while (v && v->base)
                v = v->base;
            if (!v || v->param || v->array || !v->pointer || !node_ok(v->init) || v->assignments > 0)
                return v;
            pointer = v->init;
        } else if (node_is(pointer, NODE_BINARY_EXPRESSION)) {
            pointer = node_field(pointer, FIELD_LEFT);
        } else if (node_is(pointer, NODE_POINTER_EXPRESSION) || node_is(pointer, NODE_SUBSCRIPT_EXPRESSION)) {
            pointer = node_field(pointer, FIELD_ARGUMENT);
        } else if (node_is(pointer, NODE_CALL_EXPRESSION)) { /* reinterpret_cast<...>(p) */
            struct node args = node_field(pointer, FIELD_ARGUMENTS);
            if (!node_is(node_field(pointer, FIELD_FUNCTION), NODE_TEMPLATE_FUNCTION) || node_count(args) != 1)
                return NULL;
            pointer = node_child(args, 0);
        } else if (node_is(pointer, NODE_CONDITIONAL_EXPRESSION)) { /* p ? p + offset : nullptr */
            struct node yes = node_field(pointer, FIELD_CONSEQUENCE),
                        no = node_field(pointer, FIELD_ALTERNATIVE);
            const struct variable *root = is_null(f, no) ? NULL : pointer_root(f, no);
            if (!is_null(f, yes) && !is_null(f, no) && pointer_root(f, yes) != root)
                return NULL;
            if (is_null(f, yes))
                return root;
            pointer = yes;
        } else {
            return NULL;
        }
    }
    return NULL;
}

/* May the memory of root be written through what is passed? Where the tree does not show what a pointer is,
 * every pointer that it mentions may be the one. */
static bool passes(const struct function *f, const struct variable *root, struct node arg)
{
    arg = node_strip(arg);
    if (node_is_access(f, arg))
        return false; /* a value */
    if (node_is(arg, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, arg);
        if (!v || (!v->pointer && !v->array))
            return false;
    }
    const struct variable *of = pointer_root(f, arg);
    return of ? of == root : node_mentions(f, arg, root->name);
}

/* Does the macro's text take an address, or write? */
static bool is_opaque(const char *body)
{
    for (const char *p = body; *p; p++) {
        bool doubled = p[1] == *p;
        if ((*p == '+' || *p == '-') && doubled)
            return true;
        if (*p == '&' && !doubled)
            return true;
        if (*p == '=' && !doubled && !(p > body && strchr("<>!", p[-1])))
            return true;
        p += doubled && strchr("&=", *p);
    }
    return false;
}

void macros_find(struct function *f)
{
    struct node *all = node_find_all(f->a, source_root(f->s), NODE_PREPROC_FUNCTION_DEF, &f->n_macros);
    struct file_macro *v = arena_array(f->a, struct file_macro, f->n_macros + 1);

    for (size_t i = 0; i < f->n_macros; i++) {
        struct node value = node_field(all[i], FIELD_VALUE);
        v[i] = (struct file_macro){all[i], text_of(f, node_field(all[i], FIELD_NAME)),
                                   node_ok(value) ? text_of(f, value) : ""};
    }
    f->macros = v;
}

static bool is_opaque_macro(const struct function *f, const char *name, int depth)
{
    const char *body = NULL;
    for (size_t i = 0; i < f->n_macros; i++)
        if (str_eq(f->macros[i].name, name))
            body = f->macros[i].body;
    if (!body || is_opaque(body))
        return body != NULL;
    for (size_t i = 0; i < f->n_macros && depth < 4; i++) { /* by another one that it calls */
        const char *other = f->macros[i].name;
        if (!str_eq(other, name) && str_has_word(body, other) && is_opaque_macro(f, other, depth + 1))
            return true;
    }
    return false;
}

bool macro_is_opaque(const struct function *f, const char *name)
{
    return is_opaque_macro(f, name, 0);
}

struct node macro_around(const struct function *f, struct node n)
{
    for (; node_ok(n) && !node_same(n, f->body); n = node_parent(n))
        if (node_is(n, NODE_CALL_EXPRESSION) && macro_is_opaque(f, call_name(f, n)))
            return n;
    return (struct node){0};
}

/* `x_v.at[k]` of a vector in registers: no memory. */
static bool is_own_vector(const struct function *f, struct node element)
{
    struct node of = node_field(node_field(element, FIELD_ARGUMENT), FIELD_ARGUMENT);
    if (node_is(of, NODE_SUBSCRIPT_EXPRESSION))
        of = node_field(of, FIELD_ARGUMENT);
    const struct variable *v = function_variable_of(f, of);
    return node_is(node_field(element, FIELD_ARGUMENT), NODE_FIELD_EXPRESSION) && v && !v->pointer &&
           !v->shared && str_starts(v->type, "packed<");
}

/* Is something reached through the same root written: an assignment, an atomic, or a call that takes its
 * address? */
static bool root_written_in(const struct function *f, const struct variable *root, struct node part)
{
    struct node target = assigned_target(part);
    if (node_is(target, NODE_FIELD_EXPRESSION))
        target = node_field(target, FIELD_ARGUMENT);
    bool access = node_is(target, NODE_SUBSCRIPT_EXPRESSION) || node_is(target, NODE_POINTER_EXPRESSION);
    if (access && !is_own_vector(f, target)) {
        const struct variable *to = pointer_root(f, target);
        if (!to || to == root)
            return true;
    }
    bool load = node_is(part, NODE_CALL_EXPRESSION) &&
                (str_starts(call_name(f, part), "packed_load") ||
                 str_in(call_name(f, part), "near_load|__ldg|__ldcs|__ldca|__ldcg|__ldlu|__ldcv"));
    if (node_is(part,
                NODE_FUNCTION_DECLARATOR)) /* `view v(p, n);`, an object as well: what it keeps it may write */
        return str_has_word(text_of(f, part), root->name);
    struct node made = node_is(part, NODE_INIT_DECLARATOR) ? node_field(part, FIELD_VALUE) : (struct node){0};
    bool makes = node_is(made, NODE_ARGUMENT_LIST); /* an object that may keep what it is given */
    if (makes || (node_is(part, NODE_CALL_EXPRESSION) && !load && !call_is_pure(f, part))) {
        struct node args = makes ? made : node_field(part, FIELD_ARGUMENTS);
        bool opaque = macro_is_opaque(f, call_name(f, part));
        for (uint32_t i = 0, all = node_count(args); i < all; i++)
            if (passes(f, root, node_child(args, i)) ||
                (opaque && node_mentions(f, node_child(args, i), root->name)))
                return true;
    }
    for (uint32_t i = 0, all = node_count(part); i < all; i++)
        if (root_written_in(f, root, node_child(part, i)))
            return true;
    return false;
}

bool memory_written_in(const struct function *f, const char *pointer, struct node part)
{
    const struct variable *v = function_variable(f, pointer, node_start(part));
    while (v && v->base)
        v = v->base;
    if (v && v->pointer && !v->param && !v->array && !v->assignments && node_ok(v->init))
        v = pointer_root(f, v->init); /* what it points into may be written by another name */
    return !v || root_written_in(f, v, part);
}

bool expression_is_invariant(const struct function *f, struct node e, struct node part)
{
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (!v)
            return true; /* a constant, a builtin or a function */
        bool inside = v->from >= node_start(part) && v->from < node_end(part);
        return !inside && !variable_assigned_in(f, v, part);
    }
    if (node_is(e, NODE_ASSIGNMENT_EXPRESSION) || node_is(e, NODE_UPDATE_EXPRESSION) ||
        node_is(e, NODE_LAMBDA_EXPRESSION))
        return false;
    if (node_is(e, NODE_CALL_EXPRESSION) && !call_is_pure(f, e))
        return false;
    if (node_is_access(f, e)) {
        const struct variable *root = pointer_root(f, e);
        if (!root || root_written_in(f, root, part) || (!root->to_const && calls_barrier(f, part)))
            return false;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!expression_is_invariant(f, node_child(e, i), part))
            return false;
    return true;
}
