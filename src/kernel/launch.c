/* Launches: which kernel, in NVRTC's words; the grid; the arguments in the kernel's types. */
#include "kernel/internal.h"

static const char *spell_function(struct interp *in, const struct token *at, const struct kernel_ref *f);

const char *spell_value(struct interp *in, const struct token *at, const struct value *v)
{
    const struct type *t = v->type;

    if (t->kind == TY_KERNEL && v->kernel)
        return spell_function(in, at, v->kernel);
    if (!type_is_integer(t))
        return NULL;
    if (t->scalar == KT_BOOL)
        return v->i ? "true" : "false";
    if (t->is_enum)
        return arena_printf(in->arena, "(%s)%lld", t->name, (long long)v->i);
    if (t->scalar == KT_U64)
        return arena_printf(in->arena, "%llu%s", (unsigned long long)v->i, v->i < 0 ? "ull" : "");
    return arena_printf(in->arena, "%lld", (long long)v->i);
}

/* A device function that a kernel's template takes: only its name is needed here. */
static const char *spell_function(struct interp *in, const struct token *at, const struct kernel_ref *f)
{
    const char *text = f->func->qualified;

    for (size_t i = 0; i < f->n_args; i++) {
        const struct template_arg *x = &f->args[i];
        const char *arg = x->type ? type_spell(in->arena, x->type) : spell_value(in, at, &x->value);

        if (!arg)
            fail(in->unit, at, "template argument %zu of %s is %s; allowed are " TEMPLATE_ARGS, i + 1, f->name,
                 type_spell(in->arena, x->value.type));
        text = arena_printf(in->arena, "%s%s%s", text, i ? ", " : "<", arg);
    }
    return f->n_args ? arena_printf(in->arena, "%s>", text) : text;
}

static const char *spell_arg(struct interp *in, const struct token *at, const struct func *f,
                             const struct template_param *p, struct env *bound)
{
    const struct value *v;
    const char *text;

    if (p->is_type)
        return type_spell(in->arena, env_find_type(bound, p->name));
    v = &env_local(bound, p->name, NULL)->cell->value;
    text = spell_value(in, at, v);
    if (!text)
        fail(in->unit, at, "the template argument %s of %s is %s; allowed are " TEMPLATE_ARGS, p->name, f->name,
             type_spell(in->arena, v->type));
    return text;
}

/* A pack of template parameters has no one name. */
static bool all_named(const struct func *f)
{
    for (size_t i = 0; i < f->n_tparams; i++) {
        if (f->tparams[i].pack)
            return false;
    }
    return true;
}

/* Of several with one name, as std::enable_if tells them apart, the one that the template's arguments leave. */
static const struct func *one_kernel(struct interp *in, const struct token *at, const struct kernel_ref *k,
                                     const struct call_args *call)
{
    const struct func *fits = NULL;
    size_t n = 0, n_fit = 0;

    for (size_t i = 0; i < in->unit->funcs.n; i++) {
        const struct func *g = in->unit->funcs.v[i];
        const char *missing;
        struct env *bound;

        if (!g->is_global || strcmp(g->qualified, k->func->qualified) != 0)
            continue;
        n++;
        if (!g->is_template || !all_named(g) || template_bind(in, g, call, &bound, &missing) != BOUND)
            continue;
        n_fit++;
        fits = g;
    }
    if (n > 1 && n_fit != 1)
        fail(in->unit, at, "%zu kernels are called %s; give each its own name", n, k->name);
    return n > 1 ? fits : k->func;
}

const char *kernel_expression(struct interp *in, const struct token *at, const struct kernel_ref *k,
                              const struct value *args, size_t n_args, const struct func **f,
                              struct env **bound)
{
    const struct call_args call = {.targs = k->args, .n_targs = k->n_args, .values = args, .n = n_args};
    const char *missing = "", *expression;

    if (!k->func->is_global)
        fail(in->unit, at, "%s is not a kernel; a __global__ function of this file is launched", k->name);
    const struct func *g = one_kernel(in, at, k, &call);
    *f = g;
    bool pack = g->n_params && g->params[g->n_params - 1].pack;
    if (g->variadic || g->not_understood || pack)
        fail(in->unit, at, "the parameters of kernel %s are not understood", k->name);
    if (!g->is_template) {
        if (k->n_args)
            fail(in->unit, at, "kernel %s is not a template", k->name);
        *bound = arena_new(in->arena, struct env);
        return g->qualified;
    }
    if (!all_named(g))
        fail(in->unit, at, "none of the template parameters of kernel %s may be a pack", k->name);
    if (k->n_args > g->n_tparams)
        fail(in->unit, at, "kernel %s takes %zu template arguments, not %zu", k->name, g->n_tparams, k->n_args);
    if (template_bind(in, g, &call, bound, &missing) != BOUND)
        fail(in->unit, at, "the template argument %s of kernel %s is neither given nor told by the arguments",
             missing, k->name);
    expression = arena_printf(in->arena, "%s<", g->qualified);
    for (size_t i = 0; i < g->n_tparams; i++)
        expression = arena_printf(in->arena, "%s%s%s", expression, i ? ", " : "",
                                  spell_arg(in, at, g, &g->tparams[i], *bound));
    expression = arena_printf(in->arena, "%s>", expression);
    if (strlen(expression) > 2000)
        fail(in->unit, at, "the template arguments of kernel %s are too long", k->name);
    return expression;
}

struct kernel_value plan_value(struct interp *in, const struct token *at, struct value v)
{
    const struct type *t = v.type;
    struct kernel_value k = {0};

    k.pointer = t->kind == TY_POINTER;
    k.type = k.pointer ? t->to->scalar : t->scalar;
    if (k.pointer && t->to->kind != TY_SCALAR)
        k.type = KT_VOID;
    if (!k.pointer) {
        if (type_is_float(t))
            k.f = v.f;
        else
            k.i = v.i;
        return k;
    }
    if (v.p.host)
        fail(in->unit, at, "a kernel's argument is the address of a host variable");
    if (v.p.buffer <= -2 && in->freed.v[-2 - v.p.buffer])
        fail(in->unit, at, "a kernel's argument is workspace that is freed already");
    k.p.buffer = v.p.buffer;
    k.p.offset_bytes = v.p.offset;
    return k;
}

static struct kernel_value dim3_argument(struct interp *in, struct value v)
{
    struct kernel_member *members = arena_array(in->arena, struct kernel_member, 3);

    for (uint32_t k = 0; k < 3; k++)
        members[k] = (struct kernel_member){4 * k, {.type = KT_U32, .i = v.dim[k]}};
    return (struct kernel_value){.type = KT_VOID, .struct_bytes = 12, .members = members, .n_members = 3};
}

static struct kernel_value kernel_arg(struct interp *in, const struct token *at, const struct func *f, size_t i,
                                      struct env *bound, struct value v)
{
    const struct param *p = &f->params[i];
    const struct type *t = type_resolve(in, bound, p->type);

    if (p->type->kind == TN_REFERENCE)
        fail(in->unit, at, "parameter %s of kernel %s is a reference; a kernel takes values and pointers",
             p->name, f->name);
    if (t->kind == TY_ARRAY)
        t = type_pointer(in->arena, t->to, t->to_const);
    if (t->kind == TY_CONSTANT && type_same(v.type, t)) /* a class without members is one byte */
        return (struct kernel_value){.type = KT_VOID, .struct_bytes = 1};
    if (t->kind != TY_SCALAR && t->kind != TY_POINTER && t->kind != TY_RECORD && t->kind != TY_DIM3)
        fail(
            in->unit, at,
            "parameter %s of kernel %s has type %s; kernels launched here take numbers, pointers and plain structs of "
            "these (give the members one by one)",
            p->name, f->name, type_spell(in->arena, t));
    v = convert(in, at, v, t, false);
    if (t->kind == TY_RECORD)
        return record_argument(in, at, v);
    if (t->kind == TY_DIM3)
        return dim3_argument(in, v);
    if (v.type->kind == TY_POINTER && v.p.host)
        fail(in->unit, at, "argument %zu of kernel %s is the address of a host variable", i + 1, f->name);
    if (v.type->kind == TY_POINTER && v.p.buffer <= -2 && in->freed.v[-2 - v.p.buffer])
        fail(in->unit, at, "argument %zu of kernel %s is workspace that is freed already", i + 1, f->name);
    return plan_value(in, at, v);
}

/* Above the default limit a launch fails unless the attribute was raised before it. */
static void check_shared(struct interp *in, const struct token *at, const char *kernel, int64_t bytes)
{
    if (!in->limits || bytes <= in->limits->shared_per_block)
        return;
    for (size_t i = in->shared_limits.n; i-- > 0;) {
        if (strcmp(in->shared_limits.v[i].kernel, kernel) == 0 && in->shared_limits.v[i].bytes >= bytes)
            return;
    }
    fail(
        in->unit, at,
        "%lld bytes of dynamic shared memory, above the default limit of %lld; call cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first",
        (long long)bytes, (long long)in->limits->shared_per_block);
}

/* The arguments, and the kernel's default ones behind them. */
static const struct value *all_args(struct interp *in, const struct token *at, const struct launch_call *call,
                                    const struct func *f, struct env *bound)
{
    struct value *all = arena_array(in->arena, struct value, f->n_params + 1);
    size_t n = call->n_args;

    if (n > f->n_params || (n < f->n_params && !(call->defaults && f->params[n].fallback)))
        fail(in->unit, at, "kernel %s takes %zu arguments, not %zu", f->name, f->n_params, n);
    if (n < f->n_params && f->late_default)
        fail(in->unit, at,
             "a later declaration of %s adds a default argument; write all of them in the first one", f->name);
    for (size_t i = 0; i < f->n_params; i++)
        all[i] = i < n ? call->args[i] : eval(in, bound, f->params[i].fallback);
    return all;
}

void launch(struct interp *in, const struct token *at, const struct launch_call *call)
{
    struct plan_step step = {.kind = PLAN_LAUNCH,
                             .cooperative = call->attributes.cooperative,
                             .programmatic = call->attributes.programmatic};
    struct kernel_value *values;
    const struct value *args;
    const struct func *f;
    struct env *bound;
    struct value v;
    int col;

    if (call->n_config != 4)
        fail(in->unit, at,
             "this launch is not on the launcher's stream; write <<<grid, block, shared bytes (0), stream>>>");
    step.kernel = kernel_expression(in, at, call->kernel, call->args, call->n_args, &f, &bound);
    memcpy(step.cluster, call->attributes.cluster, sizeof(step.cluster));
    for (size_t i = 0; i < in->large_clusters.n; i++)
        step.non_portable_cluster |= strcmp(in->large_clusters.v[i], step.kernel) == 0;
    args = all_args(in, at, call, f, bound);
    values = arena_array(in->arena, struct kernel_value, f->n_params + 1);
    v = convert(in, at, call->config[0], type_dim3, false);
    memcpy(step.grid, v.dim, sizeof(step.grid));
    v = convert(in, at, call->config[1], type_dim3, false);
    memcpy(step.block, v.dim, sizeof(step.block));
    step.shared_bytes = convert(in, at, call->config[2], type_ulong, false).i;
    if (step.shared_bytes < 0 || step.shared_bytes > INT32_MAX)
        fail(in->unit, at, "%lld bytes of shared memory", (long long)step.shared_bytes);
    check_shared(in, at, step.kernel, step.shared_bytes);
    v = convert(in, at, call->config[3], type_stream, false);
    if (!v.stream)
        fail(in->unit, at, "this launch is on the default stream; give the launcher's stream parameter");
    for (size_t i = 0; i < f->n_params; i++)
        values[i] = kernel_arg(in, call->arg_exprs && i < call->n_args ? call->arg_exprs[i]->at : at, f, i,
                               bound, args[i]);
    step.args = values;
    step.n_args = f->n_params;
    access_log(in, &in->plan_cell, true);
    if (in->pending.n || in->fixed_only)
        fail(in->unit, at, "a launch before the launcher is called");
    unit_place(in->unit, at->at, &step.line, &col);
    if (in->plan.n >= MAX_PLAN_STEPS)
        fail(in->unit, at, "more than %d launches", MAX_PLAN_STEPS);
    vec_add(in->arena, &in->plan, step);
}

struct value launch_expr(struct interp *in, struct env *env, const struct expr *e)
{
    struct value k = eval(in, env, e->a);
    struct value *config = arena_array(in->arena, struct value, e->n_config + 1);
    struct value *args = arena_array(in->arena, struct value, e->n_args + 1);
    struct group g;

    if (k.type->kind != TY_KERNEL)
        fail(in->unit, e->at, "%s is not a kernel; a __global__ function of this file is launched",
             type_spell(in->arena, k.type));
    if (!k.kernel)
        fail(in->unit, e->at, "a kernel's address that is null");
    group_open(in, &g, e);
    for (size_t i = 0; i < e->n_config + e->n_args; i++) {
        const struct expr *x = i < e->n_config ? e->config[i] : e->args[i - e->n_config];

        *(i < e->n_config ? &config[i] : &args[i - e->n_config]) = eval(in, env, x);
        group_next(in, &g);
    }
    group_close(in, &g);
    launch(in, e->at,
           &(struct launch_call){k.kernel, config, e->n_config, args, e->args, e->n_args, .defaults = true});
    return (struct value){.type = type_void};
}
