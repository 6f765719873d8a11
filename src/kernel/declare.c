/* Variables declared and given their first values. */
#include "kernel/internal.h"

struct value initialise(struct interp *in, struct env *env, const struct type *t, const struct expr *init)
{
    struct value v = eval(in, env, init);

    if (init->kind == EX_INIT && !init->braces && v.n_items == 1)
        v = v.items[0];
    return convert(in, init->at, v, t, false);
}

/* A member of what is no variable here: the device's properties. */
static bool is_property(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *t = type_static(in, env, e->a);

    return !t || t->kind == TY_PROPERTIES || (t->kind == TY_POINTER && t->to->kind == TY_PROPERTIES);
}

static void fill_array(struct interp *in, struct env *env, struct cell *c, const struct expr *init)
{
    if (c->type->n > MAX_ARRAY)
        fail(in->unit, init ? init->at : NULL, "a local array of %lld elements; at most %d are kept",
             (long long)c->type->n, MAX_ARRAY);
    in->steps += (uint64_t)c->type->n;
    step_count(in, init ? init->at : NULL);
    c->n_elems = c->type->n;
    c->elems = arena_array(in->arena, struct cell, c->n_elems + 1);
    init = init ? expand_packs(in, env, init) : NULL;
    if (init && (init->kind != EX_INIT || !init->braces))
        fail(in->unit, init->at, "an array starts from a list in braces");
    if (init && init->n_args > (size_t)c->n_elems)
        fail(in->unit, init->at, "%zu values for an array of %lld", init->n_args, (long long)c->n_elems);
    for (int64_t i = 0; i < c->n_elems; i++) {
        struct cell *elem = &c->elems[i];
        const struct expr *item = init && (size_t)i < init->n_args ? init->args[i] : NULL;

        elem->type = c->type->to;
        elem->constant = c->constant;
        if (elem->type->kind == TY_ARRAY) {
            fill_array(in, env, elem, item);
        } else if (elem->type->kind == TY_RECORD) {
            if (item || !init || record_is_made(elem->type))
                record_initialise(in, env, elem, item);
            else {
                record_make(in, elem, true);
                record_defaults(in, elem);
            }
        } else if (item) {
            elem->value = item->kind == EX_INIT ? initialise(in, env, elem->type, item)
                                                : convert_same(in, item->at, eval(in, env, item), elem->type);
            elem->value.literal_zero = false;
            elem->known = true;
        } else if (init || elem->type->kind == TY_DIM3) { /* the rest of a list is zero */
            elem->value = convert(in, NULL, (struct value){.type = type_list}, elem->type, false);
            elem->known = true;
        }
    }
}

struct place place_if_any(struct interp *in, struct env *env, const struct expr *e)
{
    struct place none = {NULL, -1};

    if (e->kind == EX_INIT && e->n_args == 1)
        e = e->args[0];
    if (e->kind == EX_NAME && !e->has_targs)
        return (struct place){env_find(in, env, use_of(e)), -1};
    if (e->kind == EX_INDEX || (e->kind == EX_UNARY && e->op == OP_DEREF) ||
        (e->kind == EX_MEMBER && !e->type && !is_property(in, env, e)))
        return eval_place(in, env, e);
    if (e->kind == EX_COND || e->kind == EX_ASSIGN || e->kind == EX_COMMA)
        none.member = -2;
    return none;
}

static void declare_one(struct interp *in, struct env *env, const struct declarator *d)
{
    const struct type *type, *automatic = NULL;
    struct type_node *n = d->type;
    struct cell *c;
    struct value v = {0};
    bool is_auto = false, have = false;
    struct cell *hidden;
    size_t place;

    const bool kept = d->is_static && !d->constant;
    for (const struct type_node *t = n; t; t = t->to)
        is_auto |= t->kind == TN_AUTO;
    if (kept && !is_auto && type_resolve(in, env, n)->kind != TY_KERNEL)
        driver_keep(in, d->at, d->name, cell_make(in, type_int, false));
    for (size_t i = 0; kept && i < in->statics.n; i++)
        if (in->statics.v[i].at == d->at) {
            env_bind(in, env, d->name, in->statics.v[i].cell)->at = d->at;
            return;
        }
    if (n->kind == TN_REFERENCE) {
        struct place p = {NULL, -1};

        if (!d->init)
            fail(in->unit, d->at, "the reference %s needs a variable", d->name);
        p = place_if_any(in, env, d->init);
        if (p.member == -2)
            fail(in->unit, d->init->at, "a reference to what this gives; name the variable");
        if (p.member >= 0)
            fail(in->unit, d->at, "a reference to a dim3's member");
        if (p.cell && (is_auto || type_same(type_resolve(in, env, n), p.cell->type))) {
            struct binding *b = env_bind(in, env, d->name, p.cell);

            b->at = d->at;
            b->reference = true;
            return;
        }
        if (!n->to->constant && !n->rvalue)
            fail(in->unit, d->at, "the reference %s needs a variable of its type", d->name);
    }
    if (system_predefined(d->name))
        fail(in->unit, d->at, "%s is a macro of the compiler or of a header; use another name", d->name);
    /* It hides an outer one from here on, in its own initial value, too. */
    hidden = cell_make(in, type_int, true);
    hidden->known = false;
    place = env->names.n;
    env_bind(in, env, d->name, hidden)->at = d->at;
    in->fixed_only += d->is_static && !d->is_constexpr;
    if (is_auto) {
        if (!d->init)
            fail(in->unit, d->at, "auto %s needs an initial value", d->name);
        v = eval(in, env, d->init);
        if (v.type->kind == TY_LIST && d->assigned)
            fail(in->unit, d->at, "auto %s = {...} is a std::initializer_list; write its type", d->name);
        if (v.type->kind == TY_LIST && v.n_items == 1)
            v = v.items[0];
        if (v.type->kind == TY_LIST || (v.type->kind == TY_SCALAR && v.type->scalar == KT_VOID))
            fail(in->unit, d->at, "auto %s needs a value", d->name);
        automatic = v.type;
        have = true;
    }
    type = type_resolve_for(in, env, n, automatic);
    if (type->kind == TY_SCALAR && type->scalar == KT_VOID)
        fail(in->unit, d->at, "a variable of type void");
    if (type->kind == TY_OPAQUE && type->declared && type->declared->constructed)
        fail(
            in->unit, d->at,
            "a variable of type %s, of which a constructor, a copy or its end is not understood; make a plain struct of "
            "it, and give the values where the variable is declared",
            type->name);
    if (type->kind == TY_OPAQUE)
        fail(
            in->unit, d->at,
            "a variable of type %s; a launcher's variables are numbers, pointers, dim3, cudaDeviceProp, plain structs and "
            "arrays of them",
            type->name);
    c = cell_make(in, type, d->constant || (n->kind == TN_REFERENCE && n->to->constant));
    if (type->kind == TY_ARRAY) {
        if (type->n < 0) {
            struct type *sized = arena_copy(in->arena, type, sizeof(*type));

            if (!d->init)
                fail(in->unit, d->at, "the size of the array %s is not given", d->name);
            sized->n = (int64_t)d->init->n_args;
            sized->size = sized->n * type->to->size;
            c->type = sized;
        }
        if (c->type->n > MAX_ARRAY)
            fail(in->unit, d->at, "a local array of %lld elements; at most %d are kept", (long long)c->type->n,
                 MAX_ARRAY);
        fill_array(in, env, c, d->init);
    } else if (type->kind == TY_RECORD) {
        if (have) {
            record_make(in, c, false);
            record_assign(in, d->at, c, v);
        } else if (!d->init && record_is_made(type)) {
            record_construct(in, env, d->at, c, NULL);
        } else {
            record_initialise(in, env, c, d->init);
        }
    } else if (have) {
        c->value = convert(in, d->at, v, type, false);
        c->known = true;
    } else if (d->init && d->init->kind == EX_INIT && !d->init->braces && type->kind == TY_DIM3) {
        c->value = convert(in, d->at, eval(in, env, d->init), type, false); /* dim3 grid(x, y) */
        c->known = true;
        if (d->init->n_args == 1)
            c->value = initialise(in, env, type, d->init);
    } else if (d->init) {
        c->value = initialise(in, env, type, d->init);
        c->known = true;
    } else if (d->constant) {
        fail(in->unit, d->at, "the constant %s has no value", d->name);
    }
    c->value.literal_zero = false;
    in->fixed_only -= d->is_static && !d->is_constexpr;
    c->fixed = d->is_constexpr || d->is_static || in->fixed_only;
    if (kept) {
        driver_keep(in, d->at, d->name, c);
        vec_add(in->arena, &in->statics, ((struct static_cell){d->at, c}));
    }
    env->names.v[place].cell = c;
}

/* The names of auto [a, b]: the members or elements in their order. */
static void bind_parts(struct interp *in, struct env *env, const struct declarator *d)
{
    struct cell *c = env_local(env, d->name, NULL)->cell;

    if (in->unit->tuple_like || (c->type->kind != TY_RECORD && c->type->kind != TY_ARRAY) ||
        (size_t)c->n_elems != d->n_parts)
        fail(
            in->unit, d->at,
            "%zu names for the parts of %s; a plain struct of this file, or with auto & an array, gives as many as it "
            "has",
            d->n_parts, type_spell(in->arena, c->type));
    for (size_t i = 0; i < d->n_parts; i++) {
        if (system_predefined(d->parts[i]))
            fail(in->unit, d->at, "%s is a macro of the compiler or of a header; use another name",
                 d->parts[i]);
        env_bind(in, env, d->parts[i], &c->elems[i])->at = d->at;
    }
}

void declare(struct interp *in, struct env *env, const struct declarator *d)
{
    declare_one(in, env, d);
    if (d->n_parts)
        bind_parts(in, env, d);
}

struct cell *range_array(struct interp *in, struct env *env, const struct expr *range)
{
    struct place p = {NULL, -1};
    struct type *t;
    struct cell *c;

    if (range->kind != EX_INIT)
        p = place_if_any(in, env, range);
    if (p.cell && p.member < 0 && p.cell->type->kind == TY_ARRAY)
        return p.cell;
    if (range->kind != EX_INIT || !range->n_args)
        fail(in->unit, range->at,
             "a range-based loop goes over an array's name or a list in braces here; count with an index");
    t = arena_new(in->arena, struct type);
    c = cell_make(in, t, true);
    c->n_elems = (int64_t)range->n_args;
    c->elems = arena_array(in->arena, struct cell, range->n_args + 1);
    for (size_t i = 0; i < range->n_args; i++) {
        struct value v = eval(in, env, range->args[i]);

        if (!type_is_arithmetic(v.type) || (i && !type_same(v.type, c->elems[0].type)))
            fail(in->unit, range->args[i]->at, "a list of numbers of one type; cast what is of another");
        v.literal_zero = false;
        c->elems[i] = (struct cell){.type = v.type, .value = v, .known = true, .constant = true};
    }
    *t = (struct type){.kind = TY_ARRAY, .name = "array", .to = c->elems[0].type, .n = c->n_elems};
    t->align = t->to->align;
    t->size = t->n * t->to->size;
    return c;
}
