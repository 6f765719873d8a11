/* Expressions evaluated. */
#include "kernel/internal.h"

void step_count(struct interp *in, const struct token *at)
{
    if (++in->steps > MAX_STEPS)
        fail(in->unit, at, "the launcher takes more than %d steps; loops must be short", MAX_STEPS);
}

/* One tree node more, one level deeper; in->eval_depth-- leaves the level. */
void eval_enter(struct interp *in, const struct token *at)
{
    step_count(in, at);
    if (++in->eval_depth > MAX_EVAL_DEPTH)
        fail(in->unit, at, "calls and expressions nest deeper than %d levels", MAX_EVAL_DEPTH);
}

struct template_arg *eval_template_args(struct interp *in, struct env *env, const struct template_arg_node *n,
                                        size_t count)
{
    struct template_arg *args = arena_array(in->arena, struct template_arg, count + 1);

    for (size_t i = 0; i < count; i++) {
        if (n[i].type)
            args[i].type = type_template(in, env, n[i].type);
        if (n[i].type && !args[i].type)
            args[i].type = type_resolve(in, env, n[i].type);
        else if (!n[i].type && !function_named(in, env, n[i].value, &args[i].value))
            args[i].value = eval(in, env, n[i].value);
    }
    return args;
}

/* ---- places */

struct value place_read(struct interp *in, const struct token *at, struct place p)
{
    if (p.cell->type->kind == TY_ARRAY)
        return decay(in, p.cell);
    if (!p.cell->known)
        fail(in->unit, at, "this variable is used before it has a value");
    access_log(in, p.cell, false);
    if (in->fixed_only && !p.cell->fixed)
        fail(in->unit, at,
             "a static constant is made once, in the first call; make it constexpr or not static");
    if (p.member >= 0)
        return value_int(type_uint, p.cell->value.dim[p.member]);
    return p.cell->value;
}

void place_write(struct interp *in, const struct token *at, struct place p, struct value v)
{
    if (p.cell->constant)
        fail(
            in->unit, at,
            "an assignment to a constant (what a lambda captured by value is one, with mutable too: capture by "
            "reference)");
    access_log(in, p.cell, true);
    if (p.member >= 0) {
        p.cell->value.dim[p.member] = (uint32_t)convert(in, at, v, type_uint, false).i;
        return;
    }
    if (p.cell->type->kind == TY_ARRAY)
        fail(in->unit, at, "an assignment to a whole array; assign its elements");
    if (p.cell->type->kind == TY_RECORD) {
        record_assign(in, at, p.cell, v);
        return;
    }
    p.cell->value = convert(in, at, v, p.cell->type, false);
    p.cell->value.literal_zero = false;
    p.cell->known = true;
    if (p.cell->kept)
        driver_kept(in, at, p.cell);
}

struct cell *host_cell(struct interp *in, const struct token *at, struct value pointer, const char *what)
{
    if (pointer.type->kind != TY_POINTER || (!pointer.p.host && pointer.p.buffer == -1))
        fail(in->unit, at, "%s must be the address of a variable", what);
    if (!pointer.p.host)
        fail(
            in->unit, at,
            "the contents of a buffer are not known to the launcher, which decides by shapes and scalars only; %s must "
            "be the address of a variable",
            what);
    if (pointer.p.index >= pointer.p.count)
        fail(in->unit, at, "element %lld of an array of %lld", (long long)pointer.p.index,
             (long long)pointer.p.count);
    return pointer.p.host + pointer.p.index;
}

static struct place deref(struct interp *in, const struct token *at, struct value v)
{
    if (v.type->kind == TY_POINTER && !v.p.host)
        fail(
            in->unit, at,
            "this reads or writes a buffer's contents; a launcher runs before its kernels and decides by shapes and "
            "scalars only");
    struct cell *c = host_cell(in, at, v, "what `*` and `[]` take");
    marks_choose(&in->marks, at, v.p.index, v.p.count);

    if (!type_same(c->type, v.type->to))
        fail(in->unit, at, "a %s read as %s; a launcher reads variables as what they are",
             type_spell(in->arena, c->type), type_spell(in->arena, v.type->to));
    return (struct place){c, -1};
}

static struct place member_of(struct interp *in, const struct expr *e, struct place p)
{
    if (p.cell->type->kind == TY_RECORD)
        return (struct place){record_member(in, e->at, p.cell, e->name), -1};
    if (p.cell->type->kind == TY_DIM3 && p.member < 0) {
        static const char *const names[] = {"x", "y", "z"};

        for (int i = 0; i < 3; i++) {
            if (strcmp(e->name, names[i]) == 0)
                return (struct place){p.cell, i};
        }
    }
    fail(in->unit, e->at, "%s has no member %s here; members of dim3 and cudaDeviceProp are understood",
         type_spell(in->arena, p.cell->type), e->name);
}

static struct place member_place(struct interp *in, struct env *env, const struct expr *e)
{
    if (e->type)
        fail(in->unit, e->at, "%s is a value, not a variable", e->name);
    return member_of(in, e, e->arrow ? deref(in, e->at, eval(in, env, e->a)) : eval_place(in, env, e->a));
}

/* a[b], as the address of the element. */
static struct value element(struct interp *in, struct env *env, const struct expr *e)
{
    struct group g;
    struct value a, b;

    group_open(in, &g, e);
    a = eval(in, env, e->a);
    group_next(in, &g);
    b = eval(in, env, e->b);
    group_close(in, &g);
    return binary(in, e->at, OP_ADD, a, b);
}

static struct place increment_place(struct interp *in, struct env *env, const struct expr *e,
                                    struct value *before);
static struct place assign_place(struct interp *in, struct env *env, const struct expr *e);

static struct place place_kind(struct interp *in, struct env *env, const struct expr *e)
{
    switch (e->kind) {
    case EX_NAME: {
        struct cell *c = env_find(in, env, use_of(e));

        if (!c)
            unknown_name(in, env, e);
        return (struct place){c, -1};
    }
    case EX_INDEX:
        return deref(in, e->at, element(in, env, e));
    case EX_MEMBER:
        return member_place(in, env, e);
    case EX_UNARY:
        if (e->op == OP_DEREF)
            return deref(in, e->at, eval(in, env, e->a));
        if (e->op == OP_INC || e->op == OP_DEC)
            return increment_place(in, env, e, NULL);
        break;
    case EX_ASSIGN:
        return assign_place(in, env, e);
    case EX_COMMA:
        eval(in, env, e->a);
        return eval_place(in, env, e->b);
    case EX_COND:
        return eval_place(in, env, truth(in, e->at, eval(in, env, e->a)) ? e->b : e->c);
    default:
        break;
    }
    fail(in->unit, e->at, "this is a value, not a variable");
}

struct place eval_place(struct interp *in, struct env *env, const struct expr *e)
{
    struct place p;

    eval_enter(in, e->at);
    p = place_kind(in, env, e);
    in->eval_depth--;
    return p;
}

/* ---- types without evaluation: NULL where only evaluating tells */

static const struct type *type_of(struct interp *in, struct env *env, const struct expr *e);

static const struct type *type_kind(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *a, *b;

    switch (e->kind) {
    case EX_NUMBER:
        return e->number->type;
    case EX_NAME: {
        struct cell *c = e->has_targs ? NULL : env_find(in, env, use_of(e));

        return c ? c->type : eval_name(in, env, e).type; /* a constant */
    }
    case EX_STRING:
        return type_string;
    case EX_LAMBDA:
        return type_lambda;
    case EX_CALL:
        return call_type(in, env, e);
    case EX_CAST:
    case EX_CONSTRUCT:
        return e->type->kind == TN_AUTO ? NULL : type_resolve(in, env, e->type);
    case EX_SIZEOF_PACK:
    case EX_SIZEOF:
    case EX_SIZEOF_TYPE:
    case EX_ALIGNOF:
        return type_ulong;
    case EX_AND:
    case EX_OR:
        return type_bool;
    case EX_INDEX:
        a = type_of(in, env, e->a);
        return a ? a->to : NULL;
    case EX_MEMBER:
        if (e->type)
            return NULL;
        a = type_of(in, env, e->a);
        for (int64_t i = 0; a && a->kind == TY_RECORD && i < a->n; i++) {
            if (strcmp(a->fields[i].name, e->name) == 0)
                return *a->fields[i].type;
        }
        return a && a->kind == TY_DIM3 ? type_uint : NULL;
    case EX_POSTFIX:
    case EX_ASSIGN:
        return type_of(in, env, e->a);
    case EX_COMMA:
        return type_of(in, env, e->b);
    case EX_UNARY:
        if (e->op == OP_NOT)
            return type_bool;
        a = type_of(in, env, e->a);
        if (!a)
            return NULL;
        if (e->op == OP_ADDR)
            return type_pointer(in->arena, a, false);
        if (e->op == OP_DEREF)
            return a->to;
        return e->op == OP_INC || e->op == OP_DEC || !type_is_arithmetic(a) ? a : arithmetic_type(a, a);
    case EX_COND:
        a = type_of(in, env, e->b);
        b = type_of(in, env, e->c);
        break;
    case EX_BINARY:
        if (e->op >= OP_EQ && e->op <= OP_GE)
            return type_bool;
        a = type_of(in, env, e->a);
        if (a && (e->op == OP_SHL || e->op == OP_SHR))
            return type_is_integer(a) ? type_promote(a) : NULL;
        b = type_of(in, env, e->b);
        if (a && b && a->kind == TY_POINTER && b->kind == TY_POINTER && e->op == OP_SUB)
            return type_long;
        if (a && b && b->kind == TY_POINTER && a->kind != TY_POINTER)
            return b;
        if (a && b && a->kind == TY_POINTER && b->kind != TY_POINTER)
            return a;
        break;
    default:
        return NULL;
    }
    if (!a || !b)
        return NULL;
    if (a->kind == TY_CONSTANT)
        a = a->to;
    if (b->kind == TY_CONSTANT)
        b = b->to;
    if (type_is_arithmetic(a) && type_is_arithmetic(b))
        return e->kind == EX_COND && type_same(a, b) ? a : arithmetic_type(a, b);
    return type_same(a, b) ? a : NULL;
}

static const struct type *type_of(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *t;

    eval_enter(in, e->at);
    t = type_kind(in, env, e);
    in->eval_depth--;
    return t;
}

const struct type *type_static(struct interp *in, struct env *env, const struct expr *e)
{
    return type_of(in, env, e);
}

static struct value size_of(struct interp *in, const struct token *at, const struct type *t)
{
    if (t->size == 0 || t->kind == TY_KERNEL || t->kind == TY_LAMBDA)
        fail(in->unit, at, "the size of %s is not known", type_spell(in->arena, t));
    return value_int(type_ulong, t->size);
}

/* ---- the kinds of expressions */

static struct value address_of(struct interp *in, struct env *env, const struct expr *e)
{
    struct value v;
    struct place p;

    if (e->kind == EX_NAME && (e->has_targs || !env_find(in, env, use_of(e)))) {
        if (kernel_named(in, env, e, &v) || driver_named(in, e, &v))
            return v;
        unknown_name(in, env, e);
    }
    /* &p[i] and &*p read nothing */
    if (e->kind == EX_INDEX) {
        v = element(in, env, e);
        if (v.type->kind == TY_POINTER)
            return v;
    }
    if (e->kind == EX_UNARY && e->op == OP_DEREF)
        return eval(in, env, e->a);
    p = eval_place(in, env, e);
    if (p.member >= 0)
        fail(in->unit, e->at, "the address of a dim3's member");
    return (struct value){.type = type_pointer(in->arena, p.cell->type, p.cell->constant),
                          .p = {.host = p.cell, .count = 1, .buffer = -1}};
}

static struct place increment_place(struct interp *in, struct env *env, const struct expr *e,
                                    struct value *before)
{
    struct place p = eval_place(in, env, e->a);
    struct value v = place_read(in, e->at, p);

    if (type_same(v.type, type_bool))
        fail(in->unit, e->at, "++ and -- do not take a bool");
    if (before)
        *before = v;
    place_write(in, e->at, p, binary(in, e->at, e->op == OP_INC ? OP_ADD : OP_SUB, v, value_int(type_int, 1)));
    return p;
}

/* C++17 evaluates the right side first; what compilers make of a left side that it changes is not relied on. */
static struct place assign_place(struct interp *in, struct env *env, const struct expr *e)
{
    struct group g;
    struct place p;
    struct value v, before = {0};

    group_open(in, &g, e);
    p = eval_place(in, env, e->a);
    if (e->op != OP_NONE)
        before = place_read(in, e->at, p);
    group_next(in, &g);
    if (e->op == OP_NONE && e->b->kind == EX_INIT)
        v = initialise(in, env, p.member >= 0 ? type_uint : p.cell->type, e->b);
    else
        v = eval(in, env, e->b);
    group_close(in, &g);
    if (e->op != OP_NONE)
        v = binary(in, e->at, e->op, before, v);
    place_write(in, e->at, p, v);
    return p;
}

static struct value cast(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *to = type_resolve(in, env, e->type);
    if (e->type->kind == TN_REFERENCE)
        fail(in->unit, e->at, "a cast to a reference; cast the value");
    struct value v = e->a->kind == EX_INIT ? initialise(in, env, to, e->a) : eval(in, env, e->a);

    if (v.type->kind == TY_POINTER && to->kind == TY_POINTER) {
        if ((e->cast == CAST_STATIC || e->cast == CAST_REINTERPRET) && v.type->to_const && !to->to_const)
            fail(in->unit, e->at, "this cast drops the const of %s", type_spell(in->arena, v.type));
        if (e->cast == CAST_STATIC && !type_same(v.type->to, to->to) && to->to != type_void &&
            v.type->to != type_void)
            fail(in->unit, e->at, "static_cast from %s to %s; use reinterpret_cast",
                 type_spell(in->arena, v.type), type_spell(in->arena, to));
    }
    if (e->cast == CAST_REINTERPRET && type_is_arithmetic(v.type) && type_is_arithmetic(to))
        fail(in->unit, e->at, "reinterpret_cast between numbers; use static_cast");
    return convert(in, e->at, v, to, true);
}

/* The arguments or items of e, in order; in parentheses the order is open. */
static void eval_list(struct interp *in, struct env *env, const struct expr *e, struct value *items)
{
    struct group g;

    group_open(in, &g, e);
    for (size_t i = 0; i < e->n_args; i++) {
        items[i] = eval(in, env, e->args[i]);
        group_next(in, &g);
    }
    group_close(in, &g);
}

static struct value construct(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *to = type_resolve(in, env, e->type);
    struct value *items = arena_array(in->arena, struct value, e->n_args + 1);
    struct value list = {.type = type_list};

    if (to->kind == TY_RECORD && record_is_made(to)) {
        struct cell *c = cell_make(in, to, false);

        record_construct(in, env, e->at, c, e);
        return c->value;
    }
    eval_list(in, env, e, items);
    list.items = items;
    list.n_items = e->n_args;
    list.strict = e->braces;
    if (to->kind == TY_CONSTANT && e->n_args == 0)
        return (struct value){.type = to};
    if (to->kind == TY_RECORD)
        return record_value(in, e->at, to, e->n_args == 1 && type_same(items[0].type, to) ? items[0] : list);
    if (e->n_args == 1)
        return e->braces && !to->is_enum ? convert_same(in, e->at, items[0], to)
                                         : convert(in, e->at, items[0], to, true);
    if (to->kind == TY_OPAQUE)
        fail(in->unit, e->at,
             "a value of type %s; a launcher's values are numbers, pointers, dim3 and plain structs of these",
             to->name);
    return convert(in, e->at, list, to, true);
}

static struct value member(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *of = e->type ? type_resolve(in, env, e->type) : NULL;

    if (!of && !e->arrow)
        of = type_of(in, env, e->a);
    if (of && of->kind == TY_CONSTANT && strcmp(e->name, "value") == 0)
        return value_int(of->to, of->n);
    if (e->type)
        fail(in->unit, e->at, "%s has no member %s that is understood", type_spell(in->arena, of), e->name);
    if (e->a->kind == EX_NAME || e->arrow || e->a->kind == EX_MEMBER || e->a->kind == EX_INDEX) {
        struct place p = e->arrow ? deref(in, e->at, eval(in, env, e->a)) : eval_place(in, env, e->a);

        if (p.cell->type->kind == TY_PROPERTIES) {
            if (!p.cell->known)
                fail(in->unit, e->at, "the properties are used before cudaGetDeviceProperties");
            return properties_member(in, e->at, e->name);
        }
        return place_read(in, e->at, member_of(in, e, p));
    }
    struct value v = eval(in, env, e->a);
    if (v.type->kind == TY_RECORD)
        return place_read(in, e->at, (struct place){record_member(in, e->at, v.p.host, e->name), -1});
    if (v.type->kind == TY_DIM3 && strlen(e->name) == 1 && e->name[0] >= 'x' && e->name[0] <= 'z')
        return value_int(type_uint, v.dim[e->name[0] - 'x']);
    fail(in->unit, e->at, "%s has no member %s here; members of dim3 and cudaDeviceProp are understood",
         type_spell(in->arena, v.type), e->name);
}

static struct value choose(struct interp *in, struct env *env, const struct expr *e)
{
    bool yes = truth(in, e->at, eval(in, env, e->a));
    struct value v = eval(in, env, yes ? e->b : e->c);
    const struct type *t;

    if (!type_is_arithmetic(v.type) && v.type->kind != TY_NULL)
        return v;
    t = type_of(in, env, yes ? e->c : e->b);
    if (!t && type_is_arithmetic(v.type))
        fail(in->unit, e->at,
             "the other operand's type, which both share, is not understood; cast both to one type");
    if (t && v.type->kind == TY_NULL && t->kind == TY_POINTER)
        return convert(in, e->at, v, t, false);
    if (t && t->kind == TY_CONSTANT)
        t = t->to;
    if (!t || !type_is_arithmetic(t) || v.type->kind == TY_NULL || type_same(t, v.type))
        return v;
    return convert(in, e->at, v, arithmetic_type(v.type, t), true);
}

/* Known to a compiler without running anything: it may be, at least. */
static bool may_be_constant(struct interp *in, struct env *env, const struct expr *e)
{
    struct cell *cell;

    switch (e->kind) {
    case EX_NUMBER:
        return true;
    case EX_NAME:
        cell = env_find(in, env, (struct name_use){.name = e->name, .at = e->at});
        return !cell || cell->constant;
    case EX_CALL:
        for (size_t i = 0; i < e->n_args; i++)
            if (!may_be_constant(in, env, e->args[i]))
                return false;
        return true;
    default:
        return (!e->a || may_be_constant(in, env, e->a)) && (!e->b || may_be_constant(in, env, e->b)) &&
               (!e->c || may_be_constant(in, env, e->c));
    }
}

static bool is_floating(const struct value *v)
{
    return type_same(v->type, type_float) || type_same(v->type, type_double);
}

/* 0.f - n is +0 for an n of 0, and g++ makes it -n where n was an integer: -0. */
static void check_zeros(struct interp *in, struct env *env, const struct expr *e, const struct value *a,
                        const struct value *difference)
{
    if (e->op == OP_SUB && is_floating(difference) && difference->f == 0 && !signbit(difference->f) &&
        (is_floating(a) ? a->f == 0 : a->type->kind == TY_SCALAR && a->i == 0) &&
        may_be_constant(in, env, e->a))
        fail(in->unit, e->at, "compilers differ in the sign of this zero; write -x for 0 - x");
}

static struct value binary_expr(struct interp *in, struct env *env, const struct expr *e)
{
    struct group g;
    struct value a, b, result;

    group_open(in, &g, e);
    a = eval(in, env, e->a);
    group_next(in, &g);
    b = eval(in, env, e->b);
    group_close(in, &g);
    result = binary(in, e->at, e->op, a, b);
    check_zeros(in, env, e, &a, &result);
    return result;
}

/* Its operand is not evaluated. */
static struct value size_of_expr(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *t;

    if (e->a->kind == EX_STRING && e->a->string_bytes)
        return value_int(type_ulong, e->a->string_bytes);
    t = e->a->kind == EX_STRING ? NULL : type_of(in, env, e->a);
    if (!t)
        fail(in->unit, e->at, "the size of this is not understood; write sizeof(type)");
    return size_of(in, e->at, t);
}

static struct value eval_kind(struct interp *in, struct env *env, const struct expr *e)
{
    struct value v;

    switch (e->kind) {
    case EX_NUMBER:
        return *e->number;
    case EX_STRING:
        return (struct value){.type = type_string, .text = e->name};
    case EX_NAME:
        return eval_name(in, env, e);
    case EX_UNARY:
        if (e->op == OP_ADDR)
            return address_of(in, env, e->a);
        if (e->op == OP_INC || e->op == OP_DEC)
            return place_read(in, e->at, increment_place(in, env, e, NULL));
        if (e->op == OP_DEREF) {
            v = eval(in, env, e->a);
            return v.type->kind == TY_KERNEL ? v : place_read(in, e->at, deref(in, e->at, v));
        }
        return unary(in, e->at, e->op, eval(in, env, e->a));
    case EX_POSTFIX:
        increment_place(in, env, e, &v);
        return v;
    case EX_BINARY:
        v = binary_expr(in, env, e);
        if (v.type == type_bool)
            marks_decide(&in->marks, e->at, v.i != 0);
        return v;
    case EX_AND:
        return value_int(type_bool,
                         truth(in, e->at, eval(in, env, e->a)) && truth(in, e->at, eval(in, env, e->b)));
    case EX_OR:
        return value_int(type_bool,
                         truth(in, e->at, eval(in, env, e->a)) || truth(in, e->at, eval(in, env, e->b)));
    case EX_ASSIGN:
        return place_read(in, e->at, assign_place(in, env, e));
    case EX_COND:
        return choose(in, env, e);
    case EX_COMMA:
        eval(in, env, e->a);
        return eval(in, env, e->b);
    case EX_CAST:
        return cast(in, env, e);
    case EX_CONSTRUCT:
        return construct(in, env, expand_packs(in, env, e));
    case EX_SIZEOF_TYPE:
        return size_of(in, e->at, type_resolve(in, env, e->type));
    case EX_ALIGNOF: {
        const struct type *t = type_resolve(in, env, e->type);

        if (t->kind != TY_SCALAR && t->kind != TY_POINTER && !(t->kind == TY_RECORD && t->passable))
            fail(in->unit, e->at, "the alignment of %s is not known; write the number",
                 type_spell(in->arena, t));
        size_of(in, e->at, t);
        return value_int(type_ulong, t->align);
    }
    case EX_SIZEOF_PACK: {
        struct cell *pack = env_find(in, env, (struct name_use){.name = e->name, .at = e->at});

        if (!pack || pack->type->kind != TY_LIST)
            fail(in->unit, e->at, "sizeof...(%s) of what is no parameter pack of arguments", e->name);
        return value_int(type_ulong, (int64_t)pack->value.n_items);
    }
    case EX_SIZEOF:
        return size_of_expr(in, env, e);
    case EX_CALL:
        return call_expr(in, env, expand_packs(in, env, e));
    case EX_LAUNCH:
        return launch_expr(in, env, expand_packs(in, env, e));
    case EX_EXPAND:
        fail(in->unit, e->at, "a parameter pack cannot be expanded here");
    case EX_MEMBER:
        return member(in, env, e);
    case EX_INDEX:
        return place_read(in, e->at, eval_place(in, env, e));
    case EX_INIT: {
        e = expand_packs(in, env, e);
        struct value *items = arena_array(in->arena, struct value, e->n_args + 1);

        eval_list(in, env, e, items);
        return (struct value){
            .type = type_list, .items = items, .n_items = e->n_args, .fields = e->fields, .strict = e->braces};
    }
    case EX_LAMBDA: {
        struct closure *c = arena_new(in->arena, struct closure);

        *c = (struct closure){e->func, capture(in, env, e->func)};
        return (struct value){.type = type_lambda, .closure = c};
    }
    }
    BUG("expression %d", e->kind);
}

struct value eval(struct interp *in, struct env *env, const struct expr *e)
{
    struct value v;

    eval_enter(in, e->at);
    v = eval_kind(in, env, e);
    in->eval_depth--;
    return v;
}
