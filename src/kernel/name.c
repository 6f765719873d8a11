/* What names mean: variables, constants of the file, enumerators, members of structs, kernels. */
#include "kernel/internal.h"

struct env *env_inner(struct interp *in, struct env *up)
{
    struct env *env = arena_new(in->arena, struct env);

    env->up = up;
    return env;
}

struct binding *env_bind(struct interp *in, struct env *env, const char *name, struct cell *cell)
{
    vec_add(in->arena, &env->names, ((struct binding){.name = name, .cell = cell}));
    return &vec_last(&env->names);
}

void env_bind_type(struct interp *in, struct env *env, const char *name, const struct type *type)
{
    vec_add(in->arena, &env->names, ((struct binding){.name = name, .type = type}));
}

/* What is declared behind `at` does not count there. */
const struct binding *env_local(struct env *env, const char *name, const struct token *at)
{
    for (; env; env = env->up) {
        for (size_t i = env->names.n; i-- > 0;) {
            const struct binding *b = &env->names.v[i];

            if (strcmp(b->name, name) == 0 && (!at || !b->at || b->at < at))
                return b;
        }
    }
    return NULL;
}

const struct type *env_find_type(struct env *env, const char *name)
{
    const struct binding *b = env_local(env, name, NULL);

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

/* The variable that a name stands for; NULL when it is something else. */
static const struct global *one_global(struct interp *in, struct name_use use, const struct found *found)
{
    const struct global *g = NULL;

    if (found->v[0]->kind == DECL_UNKNOWN)
        fail(in->unit, use.at, "a declaration that may be of %s is not understood", use.name);
    for (size_t i = 0; i < found->n; i++) {
        const struct global *o = found->v[i]->kind == DECL_GLOBAL ? found->v[i]->global : NULL;

        if (o && g && strcmp(o->name, g->name) != 0)
            fail(in->unit, use.at, "%s may be %s or %s; write the whole name", use.name, g->name, o->name);
        if (o && (!g || o->decl.init)) /* extern const int N; is defined elsewhere */
            g = o;
    }
    if (!g || g->decl.init)
        return g;
    for (size_t i = 0; i < in->unit->globals.n; i++) { /* behind the place of use */
        if (in->unit->globals.v[i]->decl.init && strcmp(in->unit->globals.v[i]->name, g->name) == 0)
            return in->unit->globals.v[i];
    }
    return g;
}

/* A constant whose value is asked for while in->pending has it; "" has no name that others could ask for. */
static void pending_push(struct interp *in, const struct token *at, const char *name)
{
    if (in->pending.n > 64)
        fail(in->unit, at, "constants refer to each other through more than 64 names");
    if (!in->pending.n)
        in->pending_at = at;
    vec_add(in->arena, &in->pending, name);
}

static bool keeps_function(struct interp *in, const struct global *g)
{
    struct env *alone = arena_new(in->arena, struct env);
    const struct type *t = g->decl.init ? type_static(in, alone, g->decl.init) : NULL;

    if (g->n_tparams || g->decl.constant)
        return false;
    if (g->decl.type->kind != TN_AUTO)
        t = type_resolve(in, alone, g->decl.type);
    return t && t->kind == TY_KERNEL;
}

/* A constant of the file, evaluated when it is first asked for. */
static struct cell *file_constant(struct interp *in, struct name_use use)
{
    const struct binding *b;
    const struct global *g;
    const char *name = use.name;
    struct found found;

    names_find(in->unit, use, &found);
    if (!found.n)
        return NULL;
    if (!(g = one_global(in, use, &found)))
        return NULL;
    for (size_t i = 0; i < in->pending.n; i++) {
        if (strcmp(in->pending.v[i], g->name) == 0)
            fail(in->unit, g->decl.at, "the value of %s depends on itself", name);
    }
    b = env_local(&in->file, g->name, NULL);
    if (b)
        return b->cell;
    if (in->pending.n && g->decl.at > in->pending_at)
        fail(in->unit, use.at, "%s is defined behind the constant that needs it", name);
    if (g->device)
        fail(in->unit, g->decl.at, "%s lives on the device; the launcher cannot read it", name);
    const bool kept = !g->usable && keeps_function(in, g);
    if (!g->usable && !kept)
        fail(
            in->unit, g->decl.at,
            "%s is a variable of the file; a launcher keeps no state between calls, so only const and constexpr with "
            "a value are read",
            name);
    pending_push(in, g->decl.at, g->name);
    struct env *alone =
        arena_new(in->arena, struct env); /* other constants are no locals of its initial value */
    struct declarator d = g->decl;
    int fixed_only = in->fixed_only;
    d.name = g->name;
    d.is_static = false;
    in->fixed_only = 0;
    declare(in, alone, &d);
    in->fixed_only = fixed_only;
    in->pending.n--;
    struct cell *cell = vec_last(&alone->names).cell;
    env_bind(in, &in->file, g->name, cell);
    cell->fixed = true;
    if (kept)
        driver_keep(in, g->decl.at, name, cell);
    return cell;
}

struct cell *env_find(struct interp *in, struct env *env, struct name_use use)
{
    const struct binding *b = use.look == LOOK_HERE ? env_local(env, use.name, use.at) : NULL;

    return b ? b->cell : file_constant(in, use);
}

/* The type of an enumerator's value while the enumeration's own is not fixed: that of its initialiser, or where
 * one more does not fit, a wider one. */
int64_t enumerator_value(struct interp *in, const struct enumerator *e, const struct type **type)
{
    const struct enumerator *from = e;
    int64_t after = 0;

    while (!from->value && from->before) {
        from = from->before;
        after++;
    }
    *type = type_int;
    if (!from->value)
        return after;
    pending_push(in, from->value->at, "");
    struct value v = value_plain(eval(in, NULL, from->value));
    in->pending.n--;
    *type = v.type;
    if (!type_is_integer(v.type))
        fail(in->unit, from->value->at, "an enumerator must be an integer, not %s",
             type_spell(in->arena, v.type));
    if (after && v.i > INT64_MAX - after)
        fail(in->unit, from->value->at, "the enumerators behind this one overflow");
    if (v.type->scalar == KT_U64 && v.i < 0)
        fail(in->unit, from->value->at, "an enumerator beyond the range of long; use a constant");
    return v.i + after;
}

static bool enumerator_read(struct interp *in, const struct expr *name, struct value *out)
{
    const struct enumerator *e = NULL;
    const char *colon = strrchr(name->name, ':');
    struct found found;

    names_find(in->unit, use_of(name), &found);
    if (found_first(&found, DECL_ENUMERATOR)) {
        e = found_first(&found, DECL_ENUMERATOR)->enumerator;
    } else if (colon && colon > name->name + 1) { /* Enum::NAME */
        struct name_use use = use_of(name);

        use.name = arena_strndup(in->arena, name->name, (size_t)(colon - 1 - name->name));
        const struct type_name *t = type_name_find(in->unit, use);
        for (size_t i = 0; t && t->is_enum && i < in->unit->enumerators.n; i++) {
            if (in->unit->enumerators.v[i]->type == t &&
                strcmp(in->unit->enumerators.v[i]->name, colon + 1) == 0)
                e = in->unit->enumerators.v[i];
        }
    }
    if (!e)
        return false;
    const struct type *t, *own;
    int64_t value = enumerator_value(in, e, &own);
    t = in->enum_open == e->type ? own : type_of_enum(in, e->type);
    *out = value_int(t, int_wrap(t, value));
    return true;
}

struct env *members_before(struct interp *in, const struct type_name *t, struct env *bound, size_t i)
{
    struct env *inner = env_inner(in, bound);

    inner->within = t;
    for (size_t k = 0; k < i; k++) {
        if (t->fields[k].value)
            declare(in, inner,
                    &(struct declarator){.at = NULL,
                                         .name = t->fields[k].name,
                                         .type = t->fields[k].type,
                                         .init = t->fields[k].value});
    }
    return inner;
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
    n.scope = e->scope;
    n.look = e->look;
    const struct type *bound_type =
        e->look == LOOK_HERE && env_find_type(env, n.name) ? type_resolve(in, env, &n) : NULL;
    if ((bound_type || strcmp(n.name, "integral_constant") == 0) && strcmp(colon + 1, "value") == 0) {
        if (!bound_type)
            bound_type = type_resolve(in, env, &n);
        if (bound_type->kind == TY_CONSTANT) {
            *out = value_int(bound_type->to, bound_type->n);
            return true;
        }
    }
    t = type_name_find(in->unit, (struct name_use){n.name, n.scope, n.look, n.at});
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
             "%s has specialisations that are not understood; use if constexpr or ?:", t->name);
    if (t->is_template && !bound) {
        bound = bind_template(in, env, t->tparams, t->n_tparams, &n);
        const struct type_name *special = type_special(in, t, &bound);
        if (!special)
            fail(in->unit, e->at,
                 "%s has specialisations that are not understood; use if constexpr or ?:", t->name);
        t = special;
    }
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];

        if (!f->value || strcmp(f->name, colon + 1) != 0 || in->pending.n > 64)
            continue;
        pending_push(in, f->value->at, "");
        struct env *inner = members_before(in, t, bound, i);
        *out = initialise(in, inner, type_resolve(in, inner, f->type), f->value);
        in->pending.n--;
        return true;
    }
    return false;
}

/* name<arguments>, of a constant that is a template. */
static bool template_constant(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    const struct type_node n = {.name = e->name, .at = e->at, .args = e->targs, .n_args = e->n_targs};
    const struct global *g;
    struct found found;
    struct cell *c;

    names_find(in->unit, use_of(e), &found);
    if (!found_first(&found, DECL_GLOBAL) || !(g = found_first(&found, DECL_GLOBAL)->global)->n_tparams)
        return false;
    if (found.n > 1 || g->specialised)
        fail(in->unit, e->at, "%s has specialisations or other declarations, which are not understood",
             e->name);
    if (g->device || !g->decl.constant || !g->decl.init)
        fail(in->unit, g->decl.at, "%s is no constant with a value; only these are read", e->name);
    pending_push(in, g->decl.at, "");
    struct env *inner = env_inner(in, bind_template(in, env, g->tparams, g->n_tparams, &n));
    struct declarator d = g->decl;
    d.is_static = false;
    declare(in, inner, &d);
    in->pending.n--;
    c = vec_last(&inner->names).cell;
    *out = c->type->kind == TY_ARRAY ? decay(in, c) : c->value;
    return true;
}

static bool function_of(struct interp *in, struct env *env, const struct expr *e, bool global,
                        struct value *out)
{
    const struct func *f;
    struct kernel_ref *k;

    if (!funcs_find(in->unit, use_of(e), global, &f, 1))
        return false;
    k = arena_new(in->arena, struct kernel_ref);
    k->func = f;
    k->name = e->name;
    k->args = eval_template_args(in, env, e->targs, e->n_targs);
    k->n_args = e->n_targs;
    *out = (struct value){.type = type_kernel, .kernel = k};
    return true;
}

bool kernel_named(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    return function_of(in, env, e, true, out);
}

bool function_named(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    if (e->kind == EX_UNARY && e->op == OP_ADDR)
        e = e->a;
    return e->kind == EX_NAME && !env_find(in, env, use_of(e)) && function_of(in, env, e, false, out);
}

/* A name that another namespace has, or that stands behind this place. */
static void refuse_elsewhere(struct interp *in, const struct expr *e)
{
    const char *last = last_name(e->name);

    for (const struct decl *d = in->unit->decls.v; d < in->unit->decls.v + in->unit->decls.n; d++) {
        if (strcmp(d->name, last) != 0 || d->kind == DECL_UNKNOWN)
            continue;
        if (e->at && d->at > e->at)
            fail(in->unit, e->at, "the name %s is declared behind this place", e->name);
        fail(in->unit, e->at, "the name %s is not known here; %s%s is", e->name, d->scope, d->name);
    }
}

void unknown_name(struct interp *in, struct env *env, const struct expr *e)
{
    VEC(const char *) names = {0};
    const char *near;

    if (is_own_function(in->unit, e))
        fail(in->unit, e->at, "the function %s is called or launched; its address is not understood", e->name);
    refuse_elsewhere(in, e);
    for (size_t i = 0; i < in->unit->funcs.n; i++)
        vec_add(in->arena, &names, in->unit->funcs.v[i]->name);
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
    struct cell *c = e->has_targs ? NULL : env_find(in, env, use_of(e));
    struct value v;

    if (c && c->type->kind == TY_ARRAY)
        return decay(in, c);
    if (c) {
        if (!c->known)
            fail(in->unit, e->at, "%s is used before it has a value", e->name);
        access_log(in, c, false);
        if (in->fixed_only && !c->fixed)
            fail(in->unit, e->at,
                 "a static constant is made once, in the first call; make it constexpr or not static");
        return c->value;
    }
    if (e->look == LOOK_HERE && env_find_type(env, e->name))
        fail(in->unit, e->at, "%s is a type, not a value", e->name);
    if ((e->has_targs && template_constant(in, env, e, &v)) || enumerator_read(in, e, &v) ||
        kernel_named(in, env, e, &v) || member_constant(in, env, e, &v) || driver_named(in, e, &v) ||
        (e->look != LOOK_STD && runtime_constant(e->name, &v)))
        return v;
    if (!is_own_function(in->unit, e))
        refuse_elsewhere(in, e);
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
            if (b.cell && !b.cell->constant)
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
    for (const struct capture *c = lambda->captures; c < lambda->captures + lambda->n_captures; c++) {
        struct cell *cell;

        if (!c->name)
            continue;
        if (c->init) {
            struct value v = eval(in, env, c->init);

            if (v.type->kind == TY_LIST)
                fail(in->unit, c->at, "a list in braces captured as %s; write its value", c->name);
            cell = cell_make(in, v.type, true);
            cell->value = v;
            cell->known = true;
        } else {
            cell = env_find(in, env, (struct name_use){.name = c->name, .at = c->at, .scope = lambda->scope});
            if (!cell)
                fail(in->unit, c->at, "the name %s is not known", c->name);
            if (c->copy)
                cell = cell_copy(in, cell);
        }
        env_bind(in, seen, c->name, cell);
    }
    return seen;
}
