/* Mathematics that the shadow's build leaves to the simulator: astra_f32_NAME and astra_f64_NAME, which
 * share/shadow.cuh puts in the place of the library's functions. Inlined, those are arithmetic on integer views
 * that no shadow survives. The real result is the function of the real arguments, rounded once to the type. */
#include "shadow_value.h"

#include <math.h>

double shadow_real_function(enum real_kind kind, double x, double y, double z)
{
    switch (kind) {
    case REAL_ADD:
        return x + y;
    case REAL_SUB:
        return x - y;
    case REAL_MUL:
        return x * y;
    case REAL_FMA:
        return x * y + z;
    case REAL_DIV:
        return x / y;
    case REAL_ABS:
        return fabs(x);
    case REAL_NEG:
        return -x;
    case REAL_RCP:
        return 1 / x;
    case REAL_SQRT:
        return sqrt(x);
    case REAL_RSQRT:
        return 1 / sqrt(x);
    case REAL_SIN:
        return sin(x);
    case REAL_COS:
        return cos(x);
    case REAL_LG2:
        return log2(x);
    case REAL_EX2:
        return exp2(x);
    case REAL_TANH:
        return tanh(x);
    case REAL_NONE:
    case REAL_MIN: /* these choose by the real values: shadow_step.c */
    case REAL_MAX:
    case REAL_COPYSIGN:
        break;
    }
    BUG("no function of real numbers");
}

static double exp10_of(double x)
{
    return pow(10, x);
}
static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}
static double rcbrt_of(double x)
{
    return 1 / cbrt(x);
}
static double sinpi_of(double x)
{
    return sin(M_PI * fmod(x, 2));
}
static double cospi_of(double x)
{
    return cos(M_PI * fmod(x, 2));
}
static double normcdf_of(double x)
{
    return erfc(-x * M_SQRT1_2) / 2;
}
static double erfcx_of(double x)
{
    return exp(x * x) * erfc(x);
}

static const struct function {
    const char *name;
    double (*one)(double x);
    double (*two)(double x, double y);
    bool power; /* of its argument: relative errors of that stay relative */
} functions[] = {
    {"exp", exp, NULL},           {"exp2", exp2, NULL},
    {"exp10", exp10_of, NULL},    {"expm1", expm1, NULL},
    {"log", log, NULL},           {"log2", log2, NULL},
    {"log10", log10, NULL},       {"log1p", log1p, NULL},
    {"sqrt", sqrt, NULL, true},   {"rsqrt", rsqrt_of, NULL, true},
    {"cbrt", cbrt, NULL, true},   {"rcbrt", rcbrt_of, NULL, true},
    {"sin", sin, NULL},           {"cos", cos, NULL},
    {"tan", tan, NULL},           {"sinpi", sinpi_of, NULL},
    {"cospi", cospi_of, NULL},    {"asin", asin, NULL},
    {"acos", acos, NULL},         {"atan", atan, NULL},
    {"sinh", sinh, NULL},         {"cosh", cosh, NULL},
    {"tanh", tanh, NULL},         {"asinh", asinh, NULL},
    {"acosh", acosh, NULL},       {"atanh", atanh, NULL},
    {"erf", erf, NULL},           {"erfc", erfc, NULL},
    {"erfcx", erfcx_of, NULL},    {"normcdf", normcdf_of, NULL},
    {"tgamma", tgamma, NULL},     {"lgamma", lgamma, NULL},
    {"pow", NULL, pow},           {"atan2", NULL, atan2},
    {"hypot", NULL, hypot, true}, {"fmod", NULL, fmod, true},
};

static double value_of(const void *of, const double *x)
{
    const struct function *f = of;

    return f->two ? f->two(x[0], x[1]) : f->one(x[0]);
}

static double argument(const struct warp *w, uint8_t format, const uint8_t *host, double *shadow, uint8_t *lost)
{
    const struct shadow_cell *c = shadow_cells(shadow_of(w->launch), host, false);
    double real = shadow_real(format, host);
    uint8_t s = c ? shadow_cell_state(c, host, shadow) : SHADOW_PLAIN;
    if ((s & SHADOW_FORMAT) != format)
        *shadow = shadow_of(w->launch)->terms ? 0 : real;
    *lost |= s && s != format ? SHADOW_LOST : 0;
    return real;
}

bool shadow_call(struct warp *w, const struct insn *i, const struct func *f, uint32_t m)
{
    bool single = str_starts(f->name, "astra_f32_"), wide = str_starts(f->name, "astra_f64_");
    const struct opnd *rets = &i->opnds[0], *args = &i->opnds[2];
    uint8_t format = single ? SHADOW_F32 : SHADOW_F64;
    uint32_t bytes = single ? 4 : 8, stride = w->launch->module->funcs[i->func].param_stride;
    size_t k = 0;
    while (k < ARRAY_LEN(functions) && (!(single || wide) || strcmp(functions[k].name, f->name + 10) != 0))
        k++;
    unsigned n = k < ARRAY_LEN(functions) && functions[k].two ? 2 : 1;
    if (k == ARRAY_LEN(functions) || args->n != n || rets->n != 1 || rets->vec[0].ref_kind != REF_FUNC_PARAM)
        return false;
    for (unsigned a = 0; a < n; a++)
        if (((const struct param *)args->vec[a].ref)->bytes != bytes)
            return false;
    if (((const struct param *)rets->vec[0].ref)->bytes != bytes)
        return false;
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        double real[2], shadow[2], r, v;
        uint8_t lost = 0, *to = w->regs + rets->vec[0].off + lane * stride;
        for (unsigned a = 0; a < n; a++)
            real[a] = argument(w, format, w->regs + args->vec[a].off + lane * stride, &shadow[a], &lost);
        r = value_of(&functions[k], real);
        v = shadow_of(w->launch)->terms ? shadow_terms_of(shadow_of(w->launch), value_of, &functions[k], n,
                                                          functions[k].power, real, shadow)
                                        : value_of(&functions[k], shadow);
        if (single)
            memcpy(to, &(float){(float)r}, 4);
        else
            memcpy(to, &r, 8);
        struct shadow_cell *c = shadow_cells(shadow_of(w->launch), to, true);
        *c = (struct shadow_cell){.v = v, .s = format | lost};
        c->tag = shadow_tag(c->s, to);
        for (unsigned p = 1; p < bytes / 2; p++)
            c[p].s = SHADOW_PLAIN;
    }
    return true;
}
