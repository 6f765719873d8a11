/* Calls of the file's own functions and lambdas; template arguments, given or deduced. */
#include "kernel/internal.h"

static bool has_pack(const struct func *f)
{
    return f->n_params && f->params[f->n_params - 1].pack;
}

static int template_index(const struct func *f, const char *name)
{
    for (size_t i = 0; i < f->n_tparams; i++) {
        if (strcmp(f->tparams[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static void bind_value(struct interp *in, struct env *env, const char *name, struct value v)
{
    struct cell *c = cell_make(in, v.type, true);

    c->value = v;
    c->known = c->fixed = true;
    env_bind(in, env, name, c);
}

enum told { TOLD_NOT, TOLD_GIVEN, TOLD_DEDUCED, TOLD_TWICE }; /* TWICE: as two types */

static void deduce(const struct func *f, const struct type_node *n, const struct type *actual,
                   struct template_arg *args, enum told *told);

/* The value that stands for the template parameter an expression names. */
static void deduce_value(const struct func *f, const struct expr *e, struct value v, struct template_arg *args,
                         enum told *told)
{
    int i = e && e->kind == EX_NAME ? template_index(f, e->name) : -1;

    if (i < 0 || f->tparams[i].is_type)
        return;
    if (told[i] == TOLD_DEDUCED && args[i].value.i != v.i)
        told[i] = TOLD_TWICE;
    if (told[i] == TOLD_NOT) {
        args[i] = (struct template_arg){.value = v};
        told[i] = TOLD_DEDUCED;
    }
}

/* `std::bool_constant<B>`, `pack<T, N>`: by what the argument's type was made with. */
static void deduce_template(const struct func *f, const struct type_node *n, const struct type *actual,
                            struct template_arg *args, enum told *told)
{
    const struct type_name *own = actual->declared;
    const char *last = strrchr(n->name, ':');

    last = last ? last + 1 : n->name;
    if (actual->kind == TY_CONSTANT && strcmp(last, "bool_constant") == 0 && n->n_args == 1) {
        deduce_value(f, n->args[0].value, value_int(type_bool, actual->n), args, told);
    } else if (actual->kind == TY_CONSTANT && strcmp(last, "integral_constant") == 0 && n->n_args == 2) {
        deduce(f, n->args[0].type, actual->to, args, told);
        deduce_value(f, n->args[1].value, value_int(actual->to, actual->n), args, told);
    }
    for (size_t i = 0;
         own && actual->bound && strcmp(own->name, last) == 0 && i < MIN(n->n_args, own->n_tparams); i++) {
        const struct template_param *p = &own->tparams[i];
        const struct binding *b = p->is_type ? NULL : env_local(actual->bound, p->name, NULL);

        if (p->is_type)
            deduce(f, n->args[i].type, env_find_type(actual->bound, p->name), args, told);
        else if (b)
            deduce_value(f, n->args[i].value, b->cell->value, args, told);
    }
}

/* Match a parameter's type with an argument's; what it says of template parameters goes into args. */
static void deduce(const struct func *f, const struct type_node *n, const struct type *actual,
                   struct template_arg *args, enum told *told)
{
    int i;

    while (n && actual) {
        switch (n->kind) {
        case TN_REFERENCE:
            n = n->to;
            continue;
        case TN_POINTER:
            while (n->kind == TN_POINTER && type_is_arithmetic(actual)) /* a number is none */
                n = n->to;
            i = n->kind == TN_NAME && !n->n_args ? template_index(f, n->name) : -1;
            if (i >= 0 && type_is_arithmetic(actual) && told[i] == TOLD_NOT)
                told[i] = TOLD_TWICE;
            if (actual->kind != TY_POINTER && actual->kind != TY_ARRAY)
                return;
            if (actual->kind == TY_POINTER && actual->to_const && !n->to->constant)
                return; /* T would be a const type, which is not kept */
            n = n->to;
            actual = actual->to;
            continue;
        case TN_NAME:
            if (n->n_args)
                deduce_template(f, n, actual, args, told);
            i = n->n_args ? -1 : template_index(f, n->name);
            if (i < 0 || !f->tparams[i].is_type || actual->kind == TY_NULL || actual->kind == TY_LIST)
                return;
            if (told[i] == TOLD_DEDUCED && !type_same(args[i].type, actual))
                told[i] = TOLD_TWICE;
            if (told[i] == TOLD_NOT) {
                args[i].type = actual;
                told[i] = TOLD_DEDUCED;
            }
            return;
        default:
            return;
        }
    }
}

enum bound template_bind(struct interp *in, const struct func *f, const struct call_args *call,
                         struct env **out, const char **missing)
{
    struct template_arg *args = arena_array(in->arena, struct template_arg, f->n_tparams + 1);
    enum told *told = arena_array(in->arena, enum told, f->n_tparams + 1);
    struct env *env = env_inner(in, call->outer);

    *missing = "";
    if (call->n_targs > f->n_tparams)
        return BOUND_NOT;
    for (size_t i = 0; i < call->n_targs; i++) {
        if (f->tparams[i].is_type != !!call->targs[i].type) {
            *missing = f->tparams[i].name;
            return BOUND_NOT;
        }
        args[i] = call->targs[i];
        told[i] = TOLD_GIVEN;
    }
    for (size_t i = 0; i < f->n_params && i < call->n && !f->params[i].pack; i++)
        deduce(f, f->params[i].type, call->values[i].type, args, told);
    for (size_t i = 0; i < f->n_tparams; i++) {
        const struct template_param *p = &f->tparams[i];

        if (p->pack) /* its parameters have the types of the arguments */
            continue;
        if (!type_enabled(in, env, p->type) || !type_enabled(in, env, p->fallback.type))
            return BOUND_NOT;
        if (told[i] == TOLD_NOT && (p->fallback.type || p->fallback.value)) {
            args[i] = *eval_template_args(in, env, &p->fallback, 1);
        } else if (told[i] == TOLD_NOT || told[i] == TOLD_TWICE) {
            *missing = *p->name ? p->name : "an unnamed parameter";
            return told[i] == TOLD_TWICE ? BOUND_NOT : BOUND_MISSING;
        }
        if (args[i].type) {
            env_bind_type(in, env, p->name, args[i].type);
        } else {
            const struct type *t = type_resolve_for(in, env, p->type, args[i].value.type);

            bind_value(in, env, p->name, convert_same(in, f->at, args[i].value, t));
        }
    }
    *out = env;
    return type_enabled(in, env, f->result) ? BOUND : BOUND_NOT;
}

static void bind_param(struct interp *in, const struct token *at, const struct func *f, size_t i,
                       struct env *env, struct value v, struct place place)
{
    const struct param *p = &f->params[i];
    const struct type *t = type_resolve_for(in, env, p->type, v.type);
    struct cell *c;

    if (p->type->kind == TN_REFERENCE) {
        bool changes = !p->type->to->constant, same = place.cell && type_same(place.cell->type, t);

        if (changes && place.member >= 0)
            fail(in->unit, at, "a reference to a dim3's member");
        if (changes && !same && (!p->type->rvalue || place.member == -2) && p->type->to->kind != TN_AUTO)
            fail(in->unit, at, "the reference %s of %s needs a variable of type %s", p->name, f->name,
                 type_spell(in->arena, t));
        if (same && place.member < 0) {
            env_bind(in, env, p->name, place.cell)->reference = true;
            return;
        }
        if (changes && place.member == -2)
            fail(in->unit, at, "the reference %s of %s needs a variable's name", p->name, f->name);
    }
    if (t->kind == TY_ARRAY) /* int v[] is int *v */
        t = type_pointer(in->arena, t->to, t->to_const);
    c = cell_make(in, t, p->type->constant || (p->type->kind == TN_REFERENCE && p->type->to->constant));
    if (t->kind == TY_RECORD) {
        record_make(in, c, false);
        record_assign(in, at, c, convert(in, at, v, t, false));
    } else {
        c->value = convert(in, at, v, t, false);
    }
    c->value.literal_zero = false;
    c->known = true;
    c->fixed = in->fixed_only;
    env_bind(in, env, p->name, c);
}

/* Element i of a pack has a name of its own, which no program can say. */
static const char *element_name(struct interp *in, const char *pack, size_t i)
{
    return arena_printf(in->arena, "%s#%zu", pack, i);
}

static void bind_pack(struct interp *in, const struct token *at, const struct param *p, struct env *env,
                      const struct value *args, const struct place *places, size_t n)
{
    struct type_node automatic = {.kind = TN_AUTO, .at = p->at};
    struct cell *count = cell_make(in, type_list, true);

    count->value = (struct value){.type = type_list, .n_items = n};
    count->known = true;
    env_bind(in, env, p->name, count);
    if (p->type->kind == TN_NAME) /* sizeof...(Args) */
        env_bind(in, env, p->type->name, count);
    for (size_t i = 0; i < n; i++) {
        struct param one = {.name = element_name(in, p->name, i), .type = &automatic, .at = p->at};
        const struct func f = {.name = p->name, .params = &one, .n_params = 1};

        if (p->by_reference && places && places[i].cell && places[i].member < 0)
            env_bind(in, env, one.name, places[i].cell);
        else
            bind_param(in, at, &f, 0, env, args[i], (struct place){NULL, -1});
    }
}

/* What is expanded: a pack's name, also inside std::forward or std::move, a cast or `&`. */
static const struct expr *pack_name(const struct expr *e)
{
    if (e->kind == EX_CALL && e->n_args == 1 && e->a->kind == EX_NAME &&
        (strcmp(e->a->name, "forward") == 0 || strcmp(e->a->name, "move") == 0))
        return pack_name(e->args[0]);
    if (e->kind == EX_CAST || e->kind == EX_UNARY)
        return pack_name(e->a);
    return e->kind == EX_NAME && !e->has_targs ? e : NULL;
}

/* The expression with `element` where the pack's name stands. */
static struct expr *expanded(struct interp *in, const struct expr *e, struct expr *element)
{
    if (e->kind != EX_CAST && e->kind != EX_UNARY)
        return element;
    struct expr *copy = arena_copy(in->arena, e, sizeof(*e));
    copy->a = expanded(in, e->a, element);
    return copy;
}

const struct expr *expand_packs(struct interp *in, struct env *env, const struct expr *e)
{
    VEC(struct expr *) args = {0};
    struct expr *copy;
    bool any = false;

    for (size_t i = 0; i < e->n_args; i++)
        any |= e->args[i]->kind == EX_EXPAND;
    if (!any)
        return e;
    for (size_t i = 0; i < e->n_args; i++) {
        const struct expr *name = e->args[i]->kind == EX_EXPAND ? pack_name(e->args[i]->a) : NULL;
        const struct cell *c = name ? env_find(in, env, use_of(name)) : NULL;

        if (e->args[i]->kind != EX_EXPAND) {
            vec_add(in->arena, &args, e->args[i]);
            continue;
        }
        if (!c || c->type->kind != TY_LIST)
            fail(in->unit, e->args[i]->at,
                 "only a parameter pack's name, a cast or std::forward of it, is expanded here");
        for (size_t k = 0; k < c->value.n_items; k++) {
            struct expr *element = arena_copy(in->arena, name, sizeof(*name));

            step_count(in, name->at);
            element->name = element_name(in, name->name, k);
            vec_add(in->arena, &args, expanded(in, e->args[i]->a, element));
        }
    }
    copy = arena_copy(in->arena, e, sizeof(*e));
    copy->args = args.v;
    copy->n_args = args.n;
    return copy;
}

/* bound: the template parameters, or for a lambda its surroundings. */
struct value call_func(struct interp *in, const struct token *at, const struct func *f, struct env *bound,
                       struct value *args, struct place *places, size_t n)
{
    struct env *env = env_inner(in, bound);
    struct value returned = {.type = type_void};
    const struct type *result = NULL;
    const struct stmt *body;
    enum flow flow;

    if (f->variadic || f->not_understood)
        fail(
            in->unit, at,
            "the parameters or the words behind them of the function %s are not understood; write it without `...`, "
            "requires and attributes",
            f->name);
    if (!f->body && !f->tree)
        fail(in->unit, at, "the function %s is declared but not defined in this file", f->name);
    if (f->specialised)
        fail(in->unit, at, "%s has specialisations, which are not understood; use if constexpr or overloads",
             f->name);
    if (++in->call_depth > MAX_CALL_DEPTH)
        fail(in->unit, at, "calls nest deeper than %d levels", MAX_CALL_DEPTH);
    if (n > f->n_params && !has_pack(f))
        fail(in->unit, at, "%s takes %zu arguments, not %zu", f->name, f->n_params, n);
    for (size_t i = 0; i < f->n_params; i++) {
        struct place none = {NULL, -1};

        if (f->params[i].pack)
            bind_pack(in, at, &f->params[i], env, args + MIN(i, n), places + MIN(i, n), n - MIN(i, n));
        else if (i < n)
            bind_param(in, at, f, i, env, args[i], places[i]);
        else if (f->params[i].fallback)
            bind_param(in, at, f, i, env, eval(in, env, f->params[i].fallback), none);
        else
            fail(in->unit, at, "%s takes %zu arguments, not %zu", f->name, f->n_params, n);
    }
    if (f->result && f->result->kind != TN_AUTO)
        result = type_resolve(in, env, f->result);
    if (f->owner && !f->result)
        record_start(in, at, env, f);
    body = f->tree ? f->tree : parse_function_body(in->unit, in->arena, f);
    flow = exec(in, env, body, result, &returned);
    if (returned.type->kind == TY_LIST && !result)
        fail(in->unit, at, "%s returns a list in braces as auto; write its type", f->name);
    if (flow != FLOW_RETURN && result && !(result->kind == TY_SCALAR && result->scalar == KT_VOID))
        fail(in->unit, at, "%s ends without a return", f->name);
    in->call_depth--;
    return returned;
}

struct value *call_args_of(struct interp *in, struct env *env, const struct expr *e, bool own,
                           struct place **places_out)
{
    struct value *args = arena_array(in->arena, struct value, e->n_args + 1);
    struct place *places = arena_array(in->arena, struct place, e->n_args + 1);
    struct group g;

    group_open(in, &g, e);
    for (size_t i = 0; i < e->n_args; i++) {
        const struct expr *arg = e->args[i];

        places[i] = own || arg->kind == EX_NAME ? place_if_any(in, env, arg) : (struct place){NULL, -1};
        if (own && places[i].cell && !places[i].cell->known && places[i].cell->type->kind != TY_ARRAY)
            /* It may be set through a reference; if it is read, the callee says so. */
            args[i] = (struct value){.type = places[i].cell->type};
        else
            args[i] = own && places[i].cell && arg->kind != EX_NAME ? place_read(in, arg->at, places[i])
                                                                    : eval(in, env, arg);
        group_next(in, &g);
    }
    group_close(in, &g);
    *places_out = places;
    return args;
}

static const char *refusal(const char *name)
{
    static const struct {
        const char *name, *why;
    } known[] = {
        {"printf", "a launcher prints nothing"},
        {"fprintf", "a launcher prints nothing"},
        {"malloc",
         "host memory is not for launchers; small local arrays are, and cudaMallocAsync for workspace"},
        {"free", "host memory is not for launchers; cudaFreeAsync frees workspace"},
        {"memcpy", "the launcher does not copy memory; cudaMemcpyAsync copies between buffers"},
        {"exit", "a launcher does not end the program; return instead"},
        {"abort", "a launcher does not end the program; return instead"},
        {"getenv", "a launcher depends on its arguments only"},
        {"time", "a launcher depends on its arguments only"},
        {"rand", "a launcher depends on its arguments only"},
        {"thread", "host threads are not for launchers"},
        {"async", "host threads are not for launchers"},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcmp(known[i].name, name) == 0)
            return known[i].why;
    }
    return NULL;
}

/* Of this file, but not declared here, or not in a way that is understood. */
static void check_unknown(struct interp *in, const struct expr *name)
{
    struct found found;
    const char *last = last_name(name->name);

    names_find(in->unit, use_of(name), &found);
    if (found_first(&found, DECL_UNKNOWN))
        fail(in->unit, name->at, "a declaration that may be of %s is not understood", name->name);
    for (const struct decl *d = in->unit->decls.v;
         name->look != LOOK_STD && d < in->unit->decls.v + in->unit->decls.n; d++) {
        if (d->kind != DECL_FUNC || d->func->is_global || strcmp(d->name, last) != 0 ||
            builtin_is_call(name->name))
            continue;
        if (strcmp(d->func->qualified, name->name) == 0)
            fail(in->unit, name->at, "%s is declared behind this call", name->name);
        fail(in->unit, name->at, "the function %s is not known here; %s is", name->name, d->func->qualified);
    }
}

/* The type that a call gives, without making it. */
const struct type *call_type(struct interp *in, struct env *env, const struct expr *e)
{
    struct value *values = arena_array(in->arena, struct value, e->n_args + 1), out;
    struct place *places = arena_array(in->arena, struct place, e->n_args + 1);
    struct call_args call = {.values = values, .places = places, .n = e->n_args};
    const struct func *f;
    struct env *bound;

    if (e->a->kind == EX_MEMBER)
        return method_type(in, env, e);
    if (e->a->kind != EX_NAME || (e->a->look == LOOK_HERE && env_local(env, e->a->name, e->a->at)))
        return NULL;
    for (size_t i = 0; i < e->n_args; i++) {
        const struct type *t = e->args[i]->kind == EX_EXPAND ? NULL : type_static(in, env, e->args[i]);

        if (!t)
            return NULL;
        values[i] = type_is_float(t) ? value_float(t, 1) : value_int(t, 1);
        places[i].member = -1;
        if (e->args[i]->kind == EX_NAME)
            places[i] = place_if_any(in, env, e->args[i]);
    }
    call.targs = eval_template_args(in, env, e->a->targs, e->a->n_targs);
    call.n_targs = e->a->n_targs;
    if (is_own_function(in->unit, e->a)) {
        f = overload_find(in, e, &call, &bound);
        return f && f->result && f->result->kind != TN_AUTO ? type_resolve(in, bound, f->result) : NULL;
    }
    if (e->a->look != LOOK_STD && runtime_is_call(e->a->name))
        return type_error;
    for (size_t i = 0; i < e->n_args; i++) {
        if (!type_is_arithmetic(values[i].type))
            return NULL;
    }
    if (builtin_is_call(e->a->name) && builtin_call(in, e, e->a->name, &call, &out))
        return out.type;
    return NULL;
}

_Noreturn static void not_called(struct interp *in, const struct expr *e, const struct cell *c)
{
    const char *why = "";

    if (c->type->kind == TY_KERNEL && c->known && !c->value.kernel)
        why = ", a pointer to a function that is null";
    else if (c->type->kind == TY_KERNEL)
        why = "; kernels are launched with <<<grid, block, shared, stream>>>";
    fail(in->unit, e->at, "%s is a variable%s", e->a->name, why);
}

/* A pointer to a function that a struct holds; else what is called is a member function. */
static bool is_function_member(struct interp *in, struct env *env, const struct expr *e)
{
    const struct type *t = type_static(in, env, e);

    return t && t->kind == TY_KERNEL;
}

struct value call_expr(struct interp *in, struct env *env, const struct expr *e)
{
    const struct expr *name = e->a;
    struct template_arg *targs;
    struct place *places;
    struct value *args, out;
    struct cell *c;

    if (name->kind != EX_NAME) {
        const bool method = name->kind == EX_MEMBER && !is_function_member(in, env, name);
        if (method && method_call(in, env, e, &out))
            return out;
        struct value f = method ? value_null() : eval(in, env, name);

        if (driver_is(&f) && runtime_call(in, env, e, DRIVER_FUNCTION, &out))
            return out;
        if (f.type->kind != TY_LAMBDA)
            fail(in->unit, e->at,
                 "this call is not understood; functions of this file, of the CUDA runtime and of "
                 "<algorithm> and <cmath> are, and member functions of its structs");
        args = call_args_of(in, env, e, true, &places);
        return call_func(in, e->at, f.closure->func, f.closure->env, args, places, e->n_args);
    }
    /* A local name hides functions. */
    const struct binding *local = name->look == LOOK_HERE ? env_local(env, name->name, name->at) : NULL;
    c = local ? local->cell : NULL;
    if (!c && !name->has_targs && !is_own_function(in->unit, name))
        c = env_find(in, env, use_of(name));
    if (c && c->type->kind == TY_CONSTANT && e->n_args == 0)
        return value_int(c->type->to, c->type->n);
    if (c && c->known && driver_is(&c->value)) {
        eval_name(in, env, name);
        runtime_call(in, env, e, DRIVER_FUNCTION, &out);
        return out;
    }
    if (c) {
        if (!c->known || c->value.type->kind != TY_LAMBDA)
            not_called(in, e, c);
        struct closure *closure = c->value.closure;
        struct env *bound = closure->env;

        args = call_args_of(in, env, e, true, &places);
        if (closure->func->is_template) {
            const struct call_args call = {.values = args, .n = e->n_args};
            const char *missing;

            if (template_bind(in, closure->func, &call, &bound, &missing) != BOUND)
                fail(in->unit, e->at, "the template parameter %s of this lambda is not given", missing);
            bound->up = closure->env;
        }
        return call_func(in, e->at, closure->func, bound, args, places, e->n_args);
    }
    if (!c && method_call(in, env, e, &out))
        return out;
    if (is_own_function(in->unit, name)) {
        struct call_args call = {.n_targs = name->n_targs, .n = e->n_args};
        struct env *bound;

        call.targs = eval_template_args(in, env, name->targs, name->n_targs);
        args = call_args_of(in, env, e, true, &places);
        call.values = args;
        call.places = places;
        const struct func *f = overload_find(in, e, &call, &bound);
        if (f)
            return call_func(in, e->at, f, bound, args, places, e->n_args);
    }
    check_unknown(in, name);
    if (runtime_call(in, env, e, name->name, &out))
        return out;
    if (builtin_is_call(name->name)) {
        targs = eval_template_args(in, env, name->targs, name->n_targs);
        args = call_args_of(in, env, e, false, &places);
        const struct call_args call = {
            .targs = targs, .n_targs = name->n_targs, .values = args, .n = e->n_args};
        if (builtin_call(in, e, name->name, &call, &out))
            return out;
    }
    for (size_t i = 0; i < in->unit->funcs.n; i++) {
        if (in->unit->funcs.v[i]->is_global && strcmp(in->unit->funcs.v[i]->name, name->name) == 0)
            fail(in->unit, e->at, "%s is a kernel; it is launched with <<<grid, block, shared, stream>>>",
                 name->name);
    }
    if (refusal(name->name))
        fail(in->unit, e->at, "%s is not understood: %s", name->name, refusal(name->name));
    fail(
        in->unit, e->at,
        "the function %.200s is not understood; allowed are this file's own functions, min, max, abs and other "
        "functions of <algorithm> and <cmath>, and the CUDA runtime's calls for memory, attributes and launches",
        name->name);
}
