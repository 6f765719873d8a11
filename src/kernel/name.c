/* What names mean: variables, constants of the file, enumerators, members of structs, kernels. */
#include "kernel/internal.h"

void env_bind(struct interp *in, struct env *env, const char *name, struct cell *cell)
{
    vec_add(in->arena, &env->names, ((struct binding){name, NULL, cell}));
}

void env_bind_type(struct interp *in, struct env *env, const char *name, const struct type *type)
{
    vec_add(in->arena, &env->names, ((struct binding){name, type, NULL}));
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
    vec_add(in->arena, &in->pending, name);
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

static int64_t enumerator_value(struct interp *in, const struct enumerator *e)
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
    vec_add(in->arena, &in->pending, "");
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
    if (!bound_type && t && t->alias && !t->is_enum)
        bound_type = type_resolve(in, env, &n);
    if (bound_type) {
        t = bound_type->declared;
        bound = bound_type->bound;
    }
    if (!t || !t->is_struct)
        return false;
    if (t->specialised)
        fail(in->unit, e->at,
             "%s has specialisations, which are not understood; use if constexpr or ?:", t->name);
    if (t->is_template && !bound) {
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
            vec_add(in->arena, &in->pending, "");
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

static bool function_of(struct interp *in, struct env *env, const struct expr *e, bool global,
                        struct value *out)
{
    for (size_t i = 0; i < in->unit->funcs.n; i++) {
        const struct func *f = in->unit->funcs.v[i];

        if (f->is_global == global && name_matches(f->name, f->qualified, e->name)) {
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

bool kernel_named(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    return function_of(in, env, e, true, out);
}

bool function_named(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    if (e->kind == EX_UNARY && e->op == OP_ADDR)
        e = e->a;
    return e->kind == EX_NAME && !env_find(in, env, e->name) && function_of(in, env, e, false, out);
}

void unknown_name(struct interp *in, struct env *env, const struct expr *e)
{
    VEC(const char *) names = {0};
    const char *near;

    for (size_t i = 0; i < in->unit->funcs.n; i++) {
        const struct func *f = in->unit->funcs.v[i];

        if (name_matches(f->name, f->qualified, e->name))
            fail(in->unit, e->at, "the function %s is called or launched; its address is not understood",
                 e->name);
        vec_add(in->arena, &names, f->name);
    }
    for (size_t i = 0; i < in->unit->globals.n; i++)
        vec_add(in->arena, &names, in->unit->globals.v[i]->name);
    for (; env; env = env->up) {
        for (size_t i = 0; i < env->names.n; i++)
            vec_add(in->arena, &names, env->names.v[i].name);
    }
    vec_add(in->arena, &names, NULL);
    near = str_nearest(e->name, names.v);
    fail(in->unit, e->at, "the name %.200s is not known%s%s%s", e->name, near ? "; did you mean " : "",
         near ? near : "",
         near ? "?" : "; it must be declared in this file, or be of the CUDA runtime or <algorithm>, <cmath>");
}

struct value decay(struct interp *in, struct cell *c)
{
    return (struct value){.type = type_pointer(in->arena, c->type->to, c->constant),
                          .p = {.host = c->elems, .count = c->n_elems, .buffer = -1}};
}

struct value eval_name(struct interp *in, struct env *env, const struct expr *e)
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

static struct cell *cell_copy(struct interp *in, const struct cell *c)
{
    struct cell *copy = arena_copy(in->arena, c, sizeof(*c));

    if (c->elems) {
        in->steps += (uint64_t)c->n_elems;
        copy->elems = arena_array(in->arena, struct cell, c->n_elems + 1);
        for (int64_t i = 0; i < c->n_elems; i++)
            copy->elems[i] = *cell_copy(in, &c->elems[i]);
    }
    if (c->type->kind == TY_RECORD)
        copy->value.p.host = copy;
    copy->constant = true;
    return copy;
}

/* The outermost names first, so that the inner ones hide them here too. */
static void copy_all(struct interp *in, struct env *to, const struct env *from)
{
    for (; from; from = from->up) {
        VEC(struct binding) outer = {0};

        for (size_t i = 0; i < from->names.n; i++) {
            struct binding b = from->names.v[i];

            step_count(in, NULL);
            if (b.cell)
                b.cell = cell_copy(in, b.cell);
            vec_add(in->arena, &outer, b);
        }
        for (size_t i = 0; i < to->names.n; i++)
            vec_add(in->arena, &outer, to->names.v[i]);
        to->names.v = outer.v;
        to->names.n = outer.n;
        to->names.cap = outer.cap;
    }
}

struct env *capture(struct interp *in, struct env *env, const struct func *lambda)
{
    struct env *seen = arena_new(in->arena, struct env);
    bool all = false;

    for (size_t i = 0; i < lambda->n_captures; i++)
        all |= !lambda->captures[i].name && lambda->captures[i].copy;
    if (all)
        copy_all(in, seen, env);
    else
        seen->up = env;
    for (size_t i = 0; i < lambda->n_captures; i++) {
        const struct capture *c = &lambda->captures[i];
        struct cell *cell;

        if (!c->name)
            continue;
        if (c->init) {
            struct value v = eval(in, env, c->init);

            cell = cell_make(in, v.type, true);
            cell->value = v;
            cell->known = true;
        } else {
            cell = env_find(in, env, c->name);
            if (!cell)
                fail(in->unit, c->at, "the name %s is not known", c->name);
            if (c->copy)
                cell = cell_copy(in, cell);
        }
        env_bind(in, seen, c->name, cell);
    }
    return seen;
}
