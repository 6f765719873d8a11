/* Which function of the file a call means: the candidates that are declared before the call, ranked by the
 * conversions that each argument needs. Where C++ would need rules that are not here, the call is refused. */
#include "kernel/internal.h"

enum rank { RANK_EXACT, RANK_QUALIFIED, RANK_PROMOTION, RANK_CONVERSION, RANK_BOOL, RANK_USER, RANK_NONE };

enum { MAX_CANDIDATES = 32, MAX_RANKED = 32 };

struct candidate {
    const struct func *f;
    struct env *env;
    enum rank ranks[MAX_RANKED];
};

struct choice {
    struct interp *in;
    const struct expr *call;
    const struct call_args *args;
    struct candidate all[MAX_CANDIDATES];
    size_t n;
    const char *why; /* the last one did not fit */
};

static bool has_pack(const struct func *f)
{
    return f->n_params && f->params[f->n_params - 1].pack;
}

static bool takes(const struct func *f, size_t n)
{
    size_t least = 0;

    while (least < f->n_params && !f->params[least].fallback && !f->params[least].pack)
        least++;
    return n >= least && (n <= f->n_params || f->variadic || f->not_understood || has_pack(f));
}

static enum rank rank_pointer(const struct type *from, const struct type *to)
{
    if (from->kind == TY_NULL)
        return RANK_CONVERSION;
    if (from->kind != TY_POINTER || (from->to_const && !to->to_const))
        return RANK_NONE;
    if (type_same(from->to, to->to))
        return from->to_const == to->to_const ? RANK_EXACT : RANK_QUALIFIED;
    return to->to == type_void ? RANK_CONVERSION : RANK_NONE;
}

static bool is_half(const struct type *t)
{
    return t->scalar == KT_F16 || t->scalar == KT_BF16;
}

static enum rank rank_number(const struct value *v, const struct type *to)
{
    const struct type *from = v->type;

    if (from->kind == TY_POINTER || from->kind == TY_NULL)
        return to->scalar == KT_BOOL && from->kind == TY_POINTER ? RANK_BOOL : RANK_NONE;
    if (from->kind == TY_CONSTANT)
        return RANK_USER;
    if (!type_is_arithmetic(from))
        return RANK_NONE;
    if (to->is_enum || from->scoped)
        return RANK_NONE;
    if (is_half(from) || is_half(to))
        return RANK_USER;
    if (type_is_integer(from) && type_same(type_promote(from), to) && !type_same(from, to))
        return RANK_PROMOTION;
    if (from->scalar == KT_F32 && to->scalar == KT_F64)
        return RANK_PROMOTION;
    return RANK_CONVERSION;
}

/* The conversion of argument i to what the parameter is. */
static enum rank rank_of(const struct choice *c, const struct param *p, const struct type *to, size_t i)
{
    const struct value *v = &c->args->values[i];
    const struct place *place = c->args->places ? &c->args->places[i] : NULL;
    bool variable = place && (place->cell || place->member == -2), same = type_same(v->type, to);

    if (p->type->kind == TN_REFERENCE && !p->type->to->constant) {
        if (!p->type->rvalue && (!variable || !same))
            return RANK_NONE;
        if (p->type->rvalue && variable && same && !c->all[c->n].f->is_template)
            return RANK_NONE;
    }
    if (same)
        return RANK_EXACT;
    if (to->kind == TY_POINTER)
        return v->literal_zero && type_is_integer(v->type) ? RANK_CONVERSION : rank_pointer(v->type, to);
    if (to->kind == TY_SCALAR)
        return rank_number(v, to);
    return to->kind == TY_DIM3 && type_is_integer(v->type) ? RANK_USER : RANK_NONE;
}

_Noreturn static void refuse_late_default(struct interp *in, const struct token *at, const struct func *f)
{
    fail(in->unit, at, "a later declaration of %s adds a default argument; write all of them in the first one",
         f->name);
}

/* False when f takes other arguments. */
static bool rank_all(struct choice *c, const struct func *f)
{
    struct candidate *k = &c->all[c->n];
    const char *missing = "";
    enum bound bound;

    *k = (struct candidate){.f = f};
    if (f->late_default)
        refuse_late_default(c->in, c->call->at, f);
    if (f->not_understood || f->variadic || c->args->n > MAX_RANKED)
        fail(c->in->unit, c->call->at, "which %s this calls depends on a declaration that is not understood",
             f->name);
    bound = template_bind(c->in, f, c->args, &k->env, &missing);
    if (bound == BOUND_MISSING)
        fail(c->in->unit, c->call->at,
             "which %s this calls depends on what %s of a template is; give it another name", f->name, missing);
    if (bound == BOUND_NOT)
        return false;
    for (size_t i = 0; i < c->args->n; i++) {
        const struct param *p = i < f->n_params ? &f->params[i] : NULL;

        if (c->args->values[i].type->kind == TY_LIST ||
            (c->args->values[i].type->kind == TY_NULL && c->args->values[i].literal_zero))
            fail(c->in->unit, c->call->at, "which %s this calls is not understood: %s; write the type", f->name,
                 c->args->values[i].type->kind == TY_LIST ? "a list in braces" : "NULL");
        if (!p || p->pack)
            continue;
        k->ranks[i] = rank_of(c, p, type_resolve_for(c->in, k->env, p->type, c->args->values[i].type), i);
        if (k->ranks[i] == RANK_NONE)
            return false;
    }
    return true;
}

/* Is a better than b? Equal ones are parted by what is no template, and no pack. */
static bool is_better(const struct candidate *a, const struct candidate *b, size_t n)
{
    bool less = false;

    for (size_t i = 0; i < n; i++) {
        if (a->ranks[i] > b->ranks[i])
            return false;
        less |= a->ranks[i] < b->ranks[i];
    }
    if (less)
        return true;
    if (a->f->is_template != b->f->is_template)
        return b->f->is_template;
    return a->f->is_template && !has_pack(a->f) && has_pack(b->f) && a->f->n_params <= n;
}

static const struct candidate *best_of(const struct choice *c)
{
    for (size_t i = 0; i < c->n; i++) {
        bool best = true;

        for (size_t k = 0; k < c->n; k++)
            best &= k == i || is_better(&c->all[i], &c->all[k], c->args->n);
        if (best)
            return &c->all[i];
    }
    return NULL;
}

/* Functions that the C library or the toolkit declare outside of any namespace, for numbers. */
static bool is_shared_name(const char *name)
{
    static const char names[] =
        " abs labs llabs fabs fabsf floor floorf ceil ceilf round roundf trunc truncf rint rintf nearbyint lround llround "
        "lrint llrint fmod fmodf remainder fdim fma fmaf fmin fminf fmax fmaxf exp expf exp2 exp2f exp10 expm1 log logf "
        "log2 log2f log10 log1p pow powf sqrt sqrtf cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh tanhf asinh "
        "acosh atanh erf erff erfc tgamma lgamma gamma j0 j1 jn y0 y1 yn logb ilogb scalbn scalb ldexp frexp modf copysign "
        "nextafter significand drem finite isinf isnan signbit rsqrt rsqrtf rcbrt sinpi cospi norm3d norm4d norm rnorm "
        "normcdf erfinv rhypot min max umin umax ullmin ullmax llmin llmax ffs ffsl ffsll index rindex random rand srand "
        "time clock sleep div ldiv select signal link access dup pipe read write ";
    char padded[40];

    return snprintf(padded, sizeof(padded), " %s ", name) < (int)sizeof(padded) && strstr(names, padded);
}

/* The C library's functions of the same name are candidates, too; only what fits exactly is surely the file's.
 */
static void check_shared(const struct choice *c, const struct candidate *best)
{
    const struct func *f = best->f;
    bool exact = !f->is_template;

    if (f->owner || *f->scope || !is_shared_name(f->name))
        return;
    for (size_t i = 0; i < c->args->n && exact; i++)
        exact = best->ranks[i] == RANK_EXACT;
    if (!exact)
        fail(
            c->in->unit, c->call->at,
            "%s is a function of the C library or the toolkit, too; put this file's into a namespace or rename it",
            f->name);
}

/* A function in the namespace of an argument's type is a candidate, too. */
static void check_arguments(const struct choice *c, const struct found *found)
{
    const struct expr *name = c->call->a;

    for (size_t i = 0; i < c->args->n && !strchr(name->name, ':') && name->look == LOOK_HERE; i++) {
        const struct type *t = c->args->values[i].type;
        struct found other;

        while (t->to && (t->kind == TY_POINTER || t->kind == TY_ARRAY))
            t = t->to;
        if (!t->declared)
            continue;
        names_find(c->in->unit,
                   (struct name_use){arena_printf(c->in->arena, "%s%s", t->declared->scope, name->name), "",
                                     LOOK_GLOBAL, name->at},
                   &other);
        for (size_t k = 0; k < other.n; k++) {
            bool known = false;

            for (size_t n = 0; n < found->n; n++)
                known |= found->v[n]->func == other.v[k]->func;
            if (other.v[k]->kind == DECL_FUNC && !known)
                fail(c->in->unit, c->call->at, "%s%s may be meant, too; write the whole name",
                     t->declared->scope, name->name);
        }
    }
}

static bool device_only(const struct func *f)
{
    return f->is_device && !f->is_host;
}

bool is_own_function(const struct unit *u, const struct expr *name)
{
    struct found found;

    names_find(u, use_of(name), &found);
    for (size_t i = 0; i < found.n; i++) {
        if (found.v[i]->kind == DECL_FUNC && !found.v[i]->func->is_global)
            return true;
    }
    return false;
}

/* None of them is of a namespace, where it would hide what the toolkit declares. */
static bool are_global(const struct func *const *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (*all[i]->scope)
            return false;
    }
    return true;
}

const struct func *overload_among(struct interp *in, const struct expr *call, const struct call_args *args,
                                  const struct func *const *all, size_t n, struct env **bound)
{
    struct choice c = {.in = in, .call = call, .args = args};
    const struct func *fit[MAX_CANDIDATES];
    size_t n_fit = 0;
    const struct candidate *best;
    const char *missing = "";

    for (size_t i = 0; i < n; i++) {
        if (takes(all[i], args->n) &&
            (all[i]->is_template || !call->a->has_targs)) /* f<>(x): templates alone */
            fit[n_fit++] = all[i];
    }
    if (n == MAX_CANDIDATES)
        fail(in->unit, call->at, "more than %d functions %s", MAX_CANDIDATES - 1, call->a->name);
    if (n_fit == 1 && (fit[0]->owner || !is_shared_name(fit[0]->name))) { /* whatever the conversions */
        if (fit[0]->late_default)
            refuse_late_default(in, call->at, fit[0]);
        if (device_only(fit[0]))
            fail(in->unit, call->at, "%s runs on the device only; declare it __host__ __device__ or constexpr",
                 call->a->name);
        if (template_bind(in, fit[0], args, bound, &missing) != BOUND)
            fail(in->unit, call->at, "%s has template parameters that these arguments do not give%s%s%s",
                 call->a->name, *missing ? " (" : "", missing, *missing ? ")" : "");
        return fit[0];
    }
    for (size_t i = 0; i < n_fit; i++)
        c.n += rank_all(&c, fit[i]);
    if (!c.n && builtin_is_call(call->a->name) && are_global(all, n))
        return NULL; /* helper_math.h has min of float3; this one is the toolkit's */
    if (!c.n)
        fail(in->unit, call->at, "%s takes %s", call->a->name,
             n_fit ? "other arguments" : "another number of arguments");
    if (!(best = best_of(&c)))
        fail(in->unit, call->at, "more than one function %s fits these arguments", call->a->name);
    check_shared(&c, best);
    if (device_only(best->f))
        fail(in->unit, call->at, "%s runs on the device only; declare it __host__ __device__ or constexpr",
             call->a->name);
    *bound = best->env;
    return best->f;
}

const struct func *overload_find(struct interp *in, const struct expr *call, const struct call_args *args,
                                 struct env **bound)
{
    struct choice c = {.in = in, .call = call, .args = args};
    const struct func *all[MAX_CANDIDATES];
    struct found found;

    names_find(in->unit, use_of(call->a), &found);
    if (found_first(&found, DECL_UNKNOWN))
        fail(in->unit, call->at, "a declaration that may be of %s is not understood", call->a->name);
    check_arguments(&c, &found);
    size_t n = funcs_find(in->unit, use_of(call->a), false, all, MAX_CANDIDATES);
    return overload_among(in, call, args, all, n, bound);
}
