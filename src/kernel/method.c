/* What a struct of the file has beside members: constructors and member functions. A member function sees the
 * members of its value as variables, and that value's address as `this`. */
#include "kernel/internal.h"

bool record_is_made(const struct type *t)
{
    return t->kind == TY_RECORD && t->declared && t->declared->constructed;
}

/* What a member function of the value in c sees. */
static struct env *inside(struct interp *in, struct cell *c)
{
    const struct type *t = c->type;
    struct env *env = members_before(in, t->declared, t->bound, t->declared->n_fields);
    struct cell *self = cell_make(in, type_pointer(in->arena, t, c->constant), true);

    self->value = (struct value){.type = self->type, .p = {.host = c, .count = 1, .buffer = -1}};
    self->known = true;
    env->self = c;
    env_bind(in, env, "this", self);
    for (int64_t i = 0; i < c->n_elems; i++)
        env_bind(in, env, t->fields[i].name, &c->elems[i]);
    return env;
}

/* As messages and the choice among overloads need one. */
static struct expr *call_of(struct interp *in, const struct token *at, const char *name)
{
    struct expr *call = arena_new(in->arena, struct expr), *of = arena_new(in->arena, struct expr);

    *of = (struct expr){.kind = EX_NAME, .at = at, .name = name, .scope = ""};
    *call = (struct expr){.kind = EX_CALL, .at = at, .a = of};
    return call;
}

static const struct func *maker_of_nothing(const struct type_name *t)
{
    for (size_t i = 0; i < t->makers.n; i++) {
        const struct func *f = t->makers.v[i];

        if (!f->n_params || f->params[0].fallback || f->params[0].pack)
            return f;
    }
    return NULL;
}

static void run_maker(struct interp *in, const struct token *at, struct cell *c, struct value *args,
                      struct place *places, size_t n);

/* As constructors without arguments make it. */
static void make_default(struct interp *in, struct cell *m)
{
    const struct func *f = record_is_made(m->type) ? maker_of_nothing(m->type->declared) : NULL;

    if (f || (record_is_made(m->type) && m->type->declared->part_made))
        run_maker(in, NULL, m, NULL, NULL, 0);
    else if (!record_is_made(m->type))
        record_defaults(in, m);
}

void record_defaults(struct interp *in, struct cell *c)
{
    for (int64_t i = 0; i < c->n_elems && c->elems; i++) {
        if (c->elems[i].type->kind == TY_RECORD || c->elems[i].type->kind == TY_ARRAY)
            make_default(in, &c->elems[i]);
    }
}

/* What a constructor says behind `:`, what the members begin as, or their own constructors, in the order of the
 * members. f: NULL: one that says nothing. */
static void start_members(struct interp *in, const struct token *at, struct env *env, struct env *members,
                          struct cell *c, const struct func *f)
{
    size_t used = 0;

    for (int64_t i = 0; i < c->n_elems; i++) {
        const struct record_field *field = &c->type->fields[i];
        const struct expr *init = NULL;

        for (size_t k = 0; f && k < f->n_starts; k++) {
            if (strcmp(f->starts[k].name, field->name) == 0)
                init = f->starts[k].init;
        }
        used += init != NULL;
        if (init)
            record_set(in, env, &c->elems[i], expand_packs(in, env, init));
        else if (field->init)
            record_set(in, members, &c->elems[i], field->init);
        else if (c->elems[i].type->kind == TY_RECORD || c->elems[i].type->kind == TY_ARRAY)
            make_default(in, &c->elems[i]);
    }
    if (f && used != f->n_starts)
        fail(in->unit, at, "the constructor of %s starts what is none of its members, or one twice", f->name);
}

/* Runs the constructor that fits on c, whose members are there. */
static void run_maker(struct interp *in, const struct token *at, struct cell *c, struct value *args,
                      struct place *places, size_t n)
{
    const struct type_name *t = c->type->declared;
    struct call_args call = {.values = args, .places = places, .n = n, .outer = inside(in, c)};
    const struct func *usual = maker_of_nothing(t);
    struct env *bound;

    if (t->part_made && (n || !usual || usual->n_params || (!usual->body && !usual->defaulted)))
        fail(in->unit, at,
             "a constructor of %s is not understood, so that only one without parameters can be run",
             c->type->name);
    if (n && !places) {
        call.places = places = arena_array(in->arena, struct place, n);
        for (size_t i = 0; i < n; i++)
            places[i].member = -1;
    }
    const struct func *f = overload_among(in, call_of(in, at, t->name), &call,
                                          (const struct func *const *)t->makers.v, t->makers.n, &bound);
    if (f && f->body)
        call_func(in, at, f, bound, args, places, n);
    else
        start_members(in, at, call.outer, call.outer, c, NULL);
}

void record_construct_of(struct interp *in, const struct token *at, struct cell *c, struct value *args,
                         struct place *places, size_t n)
{
    struct cell *made = cell_make(in, c->type, false); /* a constructor writes what is const behind it */
    const struct func *usual = maker_of_nothing(c->type->declared);

    record_make(in, made, args && !n && usual && usual->defaulted); /* T{}, not T x; */
    record_make(in, c, false);
    if (n == 1 && type_same(args[0].type, c->type)) {
        record_assign(in, at, c, args[0]);
        return;
    }
    run_maker(in, at, made, args, places, n);
    record_assign(in, at, c, made->value);
}

void record_construct(struct interp *in, struct env *env, const struct token *at, struct cell *c,
                      const struct expr *init)
{
    struct place *places = NULL;
    struct value *args = NULL, v;
    size_t n = 0;

    if (init && (init->kind == EX_INIT || init->kind == EX_CONSTRUCT) &&
        (init->kind == EX_INIT || type_same(type_resolve(in, env, init->type), c->type))) {
        if (init->fields)
            fail(in->unit, init->at, "members named for a struct that has a constructor");
        init = expand_packs(in, env, init);
        args = call_args_of(in, env, init, true, &places);
        n = init->n_args;
    } else if (init) {
        v = eval(in, env, init);
        args = &v;
        n = 1;
    }
    record_construct_of(in, at, c, args, places, n);
}

void record_start(struct interp *in, const struct token *at, struct env *env, const struct func *f)
{
    struct env *of = env;

    while (!of->self)
        of = of->up;
    if (f->n_starts == 1 && strcmp(f->starts[0].name, f->name) == 0) { /* another constructor does it */
        struct place *places;
        const struct expr *init = expand_packs(in, env, f->starts[0].init);
        struct value *args = call_args_of(in, env, init, true, &places);

        run_maker(in, at, of->self, args, places, init->n_args);
        return;
    }
    start_members(in, at, env, of, of->self, f);
}

enum { MOST_METHODS = 32 };

static size_t methods_of(const struct type_name *t, const char *name, const struct func **out)
{
    size_t n = 0;

    for (size_t i = 0; t && i < t->methods.n && n < MOST_METHODS; i++) {
        if (strcmp(t->methods.v[i]->name, name) == 0)
            out[n++] = t->methods.v[i];
    }
    return n;
}

/* The value whose member function is called; NULL: it is none of a struct. */
static struct cell *object_of(struct interp *in, struct env *env, const struct expr *name)
{
    struct value v;

    if (name->kind == EX_NAME) {
        for (; env; env = env->up) {
            const struct func *any[MOST_METHODS];
            if (env->self && methods_of(env->self->type->declared, name->name, any))
                return env->self;
        }
        return NULL;
    }
    if (name->kind != EX_MEMBER || name->type)
        return NULL;
    if (!name->arrow) {
        const struct type *t = type_static(in, env, name->a);
        struct place p = {NULL, -1};

        if (t && t->kind != TY_RECORD)
            return NULL;
        if (t)
            p = place_if_any(in, env, name->a);
        if (p.cell && p.member < 0)
            return p.cell->type->kind == TY_RECORD ? p.cell : NULL;
    }
    v = eval(in, env, name->a);
    if (name->arrow && v.type->kind == TY_POINTER && v.type->to->kind == TY_RECORD)
        return host_cell(in, name->at, v, "what `->` takes");
    return !name->arrow && v.type->kind == TY_RECORD ? v.p.host : NULL;
}

bool method_call(struct interp *in, struct env *env, const struct expr *e, struct value *out)
{
    const struct expr *name = e->a;
    const struct func *all[MOST_METHODS];
    struct place *places;
    struct env *bound;

    if (name->kind == EX_NAME && (name->look != LOOK_HERE || strchr(name->name, ':')))
        return false;
    struct cell *c = object_of(in, env, name);
    const size_t n = c ? methods_of(c->type->declared, name->name, all) : 0;
    if (!n)
        return false;
    struct value *args = call_args_of(in, env, e, true, &places);
    const struct call_args call = {.targs = eval_template_args(in, env, name->targs, name->n_targs),
                                   .n_targs = name->n_targs,
                                   .values = args,
                                   .places = places,
                                   .n = e->n_args,
                                   .outer = inside(in, c)};
    const struct func *f = overload_among(in, call_of(in, e->at, name->name), &call, all, n, &bound);
    if (!f)
        return false;
    *out = call_func(in, e->at, f, bound, args, places, e->n_args);
    return true;
}

const struct type *method_type(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *of = e->a->type ? NULL : type_static(in, env, e->a->a);
    const struct func *all[MOST_METHODS];

    if (of && e->a->arrow)
        of = of->kind == TY_POINTER ? of->to : NULL;
    if (!of || of->kind != TY_RECORD || methods_of(of->declared, e->a->name, all) != 1 || !all[0]->result ||
        all[0]->result->kind == TN_AUTO || all[0]->is_template)
        return NULL;
    return type_resolve(in, members_before(in, of->declared, of->bound, 0), all[0]->result);
}
