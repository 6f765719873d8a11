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

/* ---- names */

void env_bind(struct interp *in, struct env *env, const char *name, struct cell *cell)
{
    list_push(in->arena, &env->names, ((struct binding){name, NULL, cell}));
}

void env_bind_type(struct interp *in, struct env *env, const char *name, const struct type *type)
{
    list_push(in->arena, &env->names, ((struct binding){name, type, NULL}));
}

static const struct binding *env_lookup(struct env *env, const char *name)
{
    for (; env; env = env->up) {
        for (size_t i = env->names.n; i-- > 0;) {
            if (strcmp(env->names.v[i].name, name) == 0)
                return &env->names.v[i];
        }
    }
    return NULL;
}

const struct type *env_find_type(struct env *env, const char *name)
{
    const struct binding *b = env_lookup(env, name);

    return b ? b->type : NULL;
}

struct cell *cell_make(struct interp *in, const struct type *type, bool constant)
{
    struct cell *c = arena_new(in->arena, struct cell);

    c->type = type;
    c->constant = constant;
    if (type->kind == TY_DIM3) {
        c->value = (struct value){.type = type, .dim = {1, 1, 1}};
        c->known = true;
    }
    return c;
}

/* A constant of the file, evaluated when it is first asked for. */
static struct cell *file_constant(struct interp *in, const char *name)
{
    const struct binding *b = env_lookup(&in->file, name);
    const struct global *g = NULL;

    if (b)
        return b->cell;
    for (size_t i = 0; i < in->unit->globals.n; i++) {
        if (name_matches(in->unit->globals.v[i]->decl.name, in->unit->globals.v[i]->name, name))
            g = in->unit->globals.v[i];
    }
    if (!g)
        return NULL;
    if (g->device)
        fail(in->unit, g->decl.at, "%s lives on the device; the launcher cannot read it", name);
    if (!g->usable)
        fail(
            in->unit, g->decl.at,
            "%s is a variable of the file; a launcher keeps no state between calls, so only const and constexpr with "
            "a value are read",
            name);
    for (size_t i = 0; i < in->pending.n; i++) {
        if (strcmp(in->pending.v[i], name) == 0)
            fail(in->unit, g->decl.at, "the value of %s depends on itself", name);
    }
    if (in->pending.n > 64)
        fail(in->unit, g->decl.at, "constants refer to each other through more than 64 names");
    list_push(in->arena, &in->pending, name);
    struct declarator d = g->decl;
    d.name = name;
    d.is_static = false;
    declare(in, &in->file, &d);
    in->pending.n--;
    return env_lookup(&in->file, name)->cell;
}

struct cell *env_find(struct interp *in, struct env *env, const char *name)
{
    const struct binding *b = env_lookup(env, name);

    return b ? b->cell : file_constant(in, name);
}

int64_t enumerator_value(struct interp *in, const struct enumerator *e)
{
    const struct enumerator *from = e;
    int64_t after = 0;

    while (!from->value && from->before) {
        from = from->before;
        after++;
    }
    if (!from->value)
        return after;
    if (in->pending.n > 64)
        fail(in->unit, from->value->at, "constants refer to each other through more than 64 names");
    list_push(in->arena, &in->pending, "");
    after += to_integer(in, from->value->at, eval(in, NULL, from->value), "an enumerator");
    in->pending.n--;
    return after;
}

static bool enumerator_read(struct interp *in, const char *name, struct value *out)
{
    for (size_t i = 0; i < in->unit->enumerators.n; i++) {
        const struct enumerator *e = in->unit->enumerators.v[i];

        /* Enum::NAME may drop namespaces before Enum, but not Enum */
        if (name_matches(e->name, e->qualified, name) ||
            (strchr(name, ':') && name_matches(e->scoped, e->scoped, name))) {
            const struct type *t = type_int;

            if (e->type)
                t = type_resolve(in, NULL,
                                 &(struct type_node){.kind = TN_NAME, .name = e->type->qualified, .at = NULL});
            *out = value_int(t, int_wrap(t, enumerator_value(in, e)));
            return true;
        }
    }
    return false;
}

/* Type::constant. */
static bool member_constant(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    const char *colon = strrchr(e->name, ':');
    struct type_node n = {.kind = TN_NAME, .at = e->at, .args = e->targs, .n_args = e->n_targs};
    const struct type_name *t;
    struct env *bound = NULL;

    if (!colon || colon == e->name)
        return false;
    n.name = arena_strndup(in->arena, e->name, (size_t)(colon - 1 - e->name));
    const struct type *bound_type = env_find_type(env, n.name);
    if ((bound_type || strcmp(n.name, "integral_constant") == 0) && strcmp(colon + 1, "value") == 0) {
        if (!bound_type)
            bound_type = type_resolve(in, env, &n);
        if (bound_type->kind == TY_CONSTANT) {
            *out = value_int(bound_type->to, bound_type->n);
            return true;
        }
    }
    t = unit_type(in->unit, n.name);
    if (!t || !t->is_struct)
        return false;
    if (t->specialised)
        fail(in->unit, e->at,
             "%s has specialisations, which are not understood; use if constexpr or ?:", t->name);
    if (t->is_template) {
        bound = arena_new(in->arena, struct env);
        for (size_t i = 0; i < t->n_tparams && i < e->n_targs; i++) {
            struct template_arg *arg = eval_template_args(in, env, &e->targs[i], 1);

            if (arg->type) {
                env_bind_type(in, bound, t->tparams[i].name, arg->type);
            } else {
                struct cell *c = cell_make(in, arg->value.type, true);

                c->value = arg->value;
                c->known = true;
                env_bind(in, bound, t->tparams[i].name, c);
            }
        }
    }
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];

        if (!f->value || in->pending.n > 64)
            continue;
        if (strcmp(f->name, colon + 1) == 0) {
            list_push(in->arena, &in->pending, "");
            /* constants before it are visible to it */
            struct env *inner = arena_new(in->arena, struct env);
            inner->up = bound;
            for (size_t k = 0; k < i; k++) {
                if (t->fields[k].value)
                    declare(in, inner,
                            &(struct declarator){.at = e->at,
                                                 .name = t->fields[k].name,
                                                 .type = t->fields[k].type,
                                                 .init = t->fields[k].value});
            }
            *out = initialise(in, inner, type_resolve(in, inner, f->type), f->value);
            in->pending.n--;
            return true;
        }
    }
    return false;
}

static bool kernel_named(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    for (size_t i = 0; i < in->unit->funcs.n; i++) {
        const struct func *f = in->unit->funcs.v[i];

        if (f->is_global && name_matches(f->name, f->qualified, e->name)) {
            struct kernel_ref *k = arena_new(in->arena, struct kernel_ref);

            k->func = f;
            k->name = e->name;
            k->args = eval_template_args(in, env, e->targs, e->n_targs);
            k->n_args = e->n_targs;
            *out = (struct value){.type = type_kernel, .kernel = k};
            return true;
        }
    }
    return false;
}

_Noreturn static void unknown_name(struct interp *in, struct env *env, const struct expr *e)
{
    LIST(const char *) names = {0};
    const char *near;

    for (size_t i = 0; i < in->unit->funcs.n; i++) {
        const struct func *f = in->unit->funcs.v[i];

        if (name_matches(f->name, f->qualified, e->name))
            fail(in->unit, e->at, "the function %s is called or launched; its address is not understood",
                 e->name);
        list_push(in->arena, &names, f->name);
    }
    for (size_t i = 0; i < in->unit->globals.n; i++)
        list_push(in->arena, &names, in->unit->globals.v[i]->name);
    for (; env; env = env->up) {
        for (size_t i = 0; i < env->names.n; i++)
            list_push(in->arena, &names, env->names.v[i].name);
    }
    list_push(in->arena, &names, NULL);
    near = str_nearest(e->name, names.v);
    fail(in->unit, e->at, "the name %.200s is not known%s%s%s", e->name, near ? "; did you mean " : "",
         near ? near : "",
         near ? "?" : "; it must be declared in this file, or be of the CUDA runtime or <algorithm>, <cmath>");
}

static struct value decay(struct interp *in, struct cell *c)
{
    return (struct value){.type = type_pointer(in->arena, c->type->to, c->constant),
                          .p = {.host = c->elems, .count = c->n_elems, .buffer = -1}};
}

static struct value eval_name(struct interp *in, struct env *env, const struct expr *e)
{
    struct cell *c = e->has_targs ? NULL : env_find(in, env, e->name);
    struct value v;

    if (c && c->type->kind == TY_ARRAY)
        return decay(in, c);
    if (c) {
        if (!c->known)
            fail(in->unit, e->at, "%s is used before it has a value", e->name);
        return c->value;
    }
    if (env_find_type(env, e->name))
        fail(in->unit, e->at, "%s is a type, not a value", e->name);
    if (enumerator_read(in, e->name, &v) || kernel_named(in, env, e, &v) || member_constant(in, env, e, &v) ||
        runtime_constant(e->name, &v))
        return v;
    if (builtin_constant(in, e->name, eval_template_args(in, env, e->targs, e->n_targs), e->n_targs, &v))
        return v;
    unknown_name(in, env, e);
}

struct template_arg *eval_template_args(struct interp *in, struct env *env, const struct template_arg_node *n,
                                        size_t count)
{
    struct template_arg *args = arena_array(in->arena, struct template_arg, count + 1);

    for (size_t i = 0; i < count; i++) {
        if (n[i].type)
            args[i].type = type_resolve(in, env, n[i].type);
        else
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
    if (p.member >= 0)
        return value_int(type_uint, p.cell->value.dim[p.member]);
    return p.cell->value;
}

void place_write(struct interp *in, const struct token *at, struct place p, struct value v)
{
    if (p.cell->constant)
        fail(in->unit, at, "an assignment to a constant");
    if (p.member >= 0) {
        p.cell->value.dim[p.member] = (uint32_t)convert(in, at, v, type_uint, false).i;
        return;
    }
    if (p.cell->type->kind == TY_ARRAY)
        fail(in->unit, at, "an assignment to a whole array; assign its elements");
    p.cell->value = convert(in, at, v, p.cell->type, false);
    p.cell->value.literal_zero = false;
    p.cell->known = true;
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
    return (struct place){host_cell(in, at, v, "what `*` and `[]` take"), -1};
}

static struct place member_place(struct interp *in, struct env *env, const struct expr *e)
{
    struct place p;

    if (e->type)
        fail(in->unit, e->at, "%s is a value, not a variable", e->name);
    if (e->arrow)
        p = deref(in, e->at, eval(in, env, e->a));
    else
        p = eval_place(in, env, e->a);
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

static struct place place_kind(struct interp *in, struct env *env, const struct expr *e)
{
    switch (e->kind) {
    case EX_NAME: {
        struct cell *c = env_find(in, env, e->name);

        if (!c)
            unknown_name(in, env, e);
        return (struct place){c, -1};
    }
    case EX_INDEX:
        return deref(in, e->at, binary(in, e->at, OP_ADD, eval(in, env, e->a), eval(in, env, e->b)));
    case EX_MEMBER:
        return member_place(in, env, e);
    case EX_UNARY:
        if (e->op == OP_DEREF)
            return deref(in, e->at, eval(in, env, e->a));
        if (e->op == OP_INC || e->op == OP_DEC) {
            eval(in, env, e);
            return eval_place(in, env, e->a);
        }
        break;
    case EX_ASSIGN:
        eval(in, env, e);
        return eval_place(in, env, e->a);
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
        struct cell *c = e->has_targs ? NULL : env_find(in, env, e->name);

        return c ? c->type : NULL;
    }
    case EX_CAST:
    case EX_CONSTRUCT:
        return e->type->kind == TN_AUTO ? NULL : type_resolve(in, env, e->type);
    case EX_SIZEOF:
    case EX_SIZEOF_TYPE:
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
        if (!a || e->op == OP_ADDR)
            return NULL;
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
        b = e->op == OP_SHL || e->op == OP_SHR ? a : type_of(in, env, e->b);
        if (a && b && a->kind == TY_POINTER && b->kind != TY_POINTER)
            return a;
        break;
    default:
        return NULL;
    }
    if (!a || !b)
        return NULL;
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

static struct value size_of(struct interp *in, const struct token *at, const struct type *t)
{
    if (t->size == 0)
        fail(in->unit, at, "the size of %s is not known", type_spell(in->arena, t));
    return value_int(type_ulong, t->size);
}

/* ---- the kinds of expressions */

static struct value address_of(struct interp *in, struct env *env, const struct expr *e)
{
    struct value v;
    struct place p;

    if (e->kind == EX_NAME && (e->has_targs || !env_find(in, env, e->name))) {
        if (kernel_named(in, env, e, &v))
            return v;
        unknown_name(in, env, e);
    }
    /* &p[i] and &*p read nothing */
    if (e->kind == EX_INDEX) {
        v = binary(in, e->at, OP_ADD, eval(in, env, e->a), eval(in, env, e->b));
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

static struct value increment(struct interp *in, struct env *env, const struct expr *e, bool after)
{
    struct place p = eval_place(in, env, e->a);
    struct value before = place_read(in, e->at, p);
    struct value now = binary(in, e->at, e->op == OP_INC ? OP_ADD : OP_SUB, before, value_int(type_int, 1));

    place_write(in, e->at, p, now);
    return after ? before : place_read(in, e->at, p);
}

static struct value assign(struct interp *in, struct env *env, const struct expr *e)
{
    struct place p = eval_place(in, env, e->a);
    struct value v;

    if (e->op == OP_NONE && e->b->kind == EX_INIT)
        v = initialise(in, env, p.member >= 0 ? type_uint : p.cell->type, e->b);
    else
        v = eval(in, env, e->b);
    if (e->op != OP_NONE)
        v = binary(in, e->at, e->op, place_read(in, e->at, p), v);
    place_write(in, e->at, p, v);
    return place_read(in, e->at, p);
}

static struct value cast(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *to = type_resolve(in, env, e->type);
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

static struct value construct(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *to = type_resolve(in, env, e->type);
    struct value *items = arena_array(in->arena, struct value, e->n_args + 1);
    struct value list = {.type = type_list};

    for (size_t i = 0; i < e->n_args; i++)
        items[i] = eval(in, env, e->args[i]);
    list.items = items;
    list.n_items = e->n_args;
    if (to->kind == TY_CONSTANT && e->n_args == 0)
        return (struct value){.type = to};
    if (e->n_args == 1)
        return convert(in, e->at, items[0], to, true);
    if (to->kind == TY_OPAQUE)
        fail(in->unit, e->at, "a value of type %s; a launcher's values are numbers, pointers and dim3",
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
        return place_read(in, e->at, member_place(in, env, e));
    }
    struct value v = eval(in, env, e->a);
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
    if (t && v.type->kind == TY_NULL && t->kind == TY_POINTER)
        return convert(in, e->at, v, t, false);
    if (!t || !type_is_arithmetic(t) || v.type->kind == TY_NULL || type_same(t, v.type))
        return v;
    return convert(in, e->at, v, arithmetic_type(v.type, t), true);
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
            return increment(in, env, e, false);
        if (e->op == OP_DEREF) {
            v = eval(in, env, e->a);
            return v.type->kind == TY_KERNEL ? v : place_read(in, e->at, deref(in, e->at, v));
        }
        return unary(in, e->at, e->op, eval(in, env, e->a));
    case EX_POSTFIX:
        return increment(in, env, e, true);
    case EX_BINARY:
        v = eval(in, env, e->a);
        return binary(in, e->at, e->op, v, eval(in, env, e->b));
    case EX_AND:
        return value_int(type_bool,
                         truth(in, e->at, eval(in, env, e->a)) && truth(in, e->at, eval(in, env, e->b)));
    case EX_OR:
        return value_int(type_bool,
                         truth(in, e->at, eval(in, env, e->a)) || truth(in, e->at, eval(in, env, e->b)));
    case EX_ASSIGN:
        return assign(in, env, e);
    case EX_COND:
        return choose(in, env, e);
    case EX_COMMA:
        eval(in, env, e->a);
        return eval(in, env, e->b);
    case EX_CAST:
        return cast(in, env, e);
    case EX_CONSTRUCT:
        return construct(in, env, e);
    case EX_SIZEOF_TYPE:
        return size_of(in, e->at, type_resolve(in, env, e->type));
    case EX_SIZEOF: {
        const struct type *t = type_of(in, env, e->a);

        return size_of(in, e->at, t ? t : eval(in, env, e->a).type);
    }
    case EX_CALL:
        return call_expr(in, env, e);
    case EX_LAUNCH:
        return launch_expr(in, env, e);
    case EX_MEMBER:
        return member(in, env, e);
    case EX_INDEX:
        return place_read(in, e->at, eval_place(in, env, e));
    case EX_INIT: {
        struct value *items = arena_array(in->arena, struct value, e->n_args + 1);

        for (size_t i = 0; i < e->n_args; i++)
            items[i] = eval(in, env, e->args[i]);
        return (struct value){.type = type_list, .items = items, .n_items = e->n_args};
    }
    case EX_LAMBDA: {
        struct closure *c = arena_new(in->arena, struct closure);

        *c = (struct closure){e->func, env};
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

/* ---- declarations */

struct value initialise(struct interp *in, struct env *env, const struct type *t, const struct expr *init)
{
    struct value v = eval(in, env, init);

    if (init->kind == EX_INIT && !init->braces && v.n_items == 1)
        v = v.items[0];
    return convert(in, init->at, v, t, false);
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
        } else if (item) {
            elem->value = initialise(in, env, elem->type, item);
            elem->value.literal_zero = false;
            elem->known = true;
        } else if (init || elem->type->kind == TY_DIM3) { /* the rest of a list is zero */
            elem->value = convert(in, NULL, (struct value){.type = type_list}, elem->type, false);
            elem->known = true;
        }
    }
}

void declare(struct interp *in, struct env *env, const struct declarator *d)
{
    const struct type *type, *automatic = NULL;
    struct type_node *n = d->type;
    struct cell *c;
    struct value v = {0};
    bool is_auto = false, have = false;

    if (d->is_static && !d->constant)
        fail(in->unit, d->at,
             "static %s keeps state between calls, which a launcher may not; make it const or local", d->name);
    for (const struct type_node *t = n; t; t = t->to)
        is_auto |= t->kind == TN_AUTO;
    if (n->kind == TN_REFERENCE) {
        struct place p = {NULL, -1};

        if (!d->init)
            fail(in->unit, d->at, "the reference %s needs a variable", d->name);
        if (d->init->kind == EX_NAME && !d->init->has_targs)
            p.cell = env_find(in, env, d->init->name);
        if (p.cell && !n->to->constant) {
            env_bind(in, env, d->name, p.cell);
            return;
        }
        if (!n->to->constant && !is_auto)
            fail(in->unit, d->at, "the reference %s needs a variable", d->name);
    }
    if (is_auto) {
        if (!d->init)
            fail(in->unit, d->at, "auto %s needs an initial value", d->name);
        v = eval(in, env, d->init);
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
    if (type->kind == TY_OPAQUE)
        fail(
            in->unit, d->at,
            "a variable of type %s; a launcher's variables are numbers, pointers, dim3, cudaDeviceProp and arrays of "
            "them",
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
    env_bind(in, env, d->name, c);
}
