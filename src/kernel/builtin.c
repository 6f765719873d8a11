/* Literals, and what launchers use of <algorithm>, <cmath>, <limits>, <climits> and the half-precision headers.
 */
#include "kernel/internal.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>

bool char_parse(const char *s, size_t len, int64_t *out)
{
    static const char escapes[] = "n\nt\tr\r0\0a\ab\bf\fv\v\\\\''\"\"";

    if (len < 3 || s[0] != '\'' || s[len - 1] != '\'')
        return false;
    if (len == 3 && s[1] != '\\') {
        *out = (signed char)s[1];
        return true;
    }
    for (size_t i = 0; len == 4 && s[1] == '\\' && i + 1 < sizeof(escapes); i += 2) {
        if (escapes[i] == s[2]) {
            *out = escapes[i + 1];
            return true;
        }
    }
    return false;
}

static bool parse_float(char *text, struct value *out)
{
    char *end;
    double f = strtod(text, &end);

    if (end == text)
        return false;
    if (strcmp(end, "f") == 0 || strcmp(end, "F") == 0) /* rounded once */
        *out = value_float(type_float, (double)strtof(text, NULL));
    else if (*end == 0) /* long double is not understood */
        *out = value_float(type_double, f);
    else
        return false;
    return true;
}

bool number_parse(const char *s, size_t len, struct value *out)
{
    char text[80], *end;
    size_t n = 0;
    bool hex, binary_digits, is_unsigned = false, decimal;
    int longs = 0;
    unsigned long long i;

    for (size_t k = 0; k < len; k++) {
        if (s[k] == '\'')
            continue;
        if (n + 1 >= sizeof(text))
            return false;
        text[n++] = s[k];
    }
    text[n] = 0;
    hex = n > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    binary_digits = n > 1 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    if (hex ? strpbrk(text, ".pP") != NULL : !binary_digits && strpbrk(text, ".eE") != NULL)
        return parse_float(text, out);
    decimal = !hex && !binary_digits && !(text[0] == '0' && n > 1 && isdigit((unsigned char)text[1]));
    errno = 0;
    int base = decimal ? 10 : 8;
    if (hex || binary_digits)
        base = hex ? 16 : 2;
    i = strtoull(text + (binary_digits ? 2 : 0), &end, base);
    if (errno || end == text + (binary_digits ? 2 : 0))
        return false;
    for (; *end; end++) {
        if (*end == 'u' || *end == 'U')
            is_unsigned = true;
        else if (*end == 'l' || *end == 'L')
            longs++;
        else if ((*end == 'z' || *end == 'Z') && !longs)
            longs = 1;
        else if (decimal && (*end == 'f' || *end == 'F') && !end[1])
            return false; /* 1f is no number in C++ */
        else
            return false;
    }
    if (!longs && i <= INT_MAX && !is_unsigned)
        *out = value_int(type_int, (int64_t)i);
    else if (!longs && i <= UINT_MAX && (is_unsigned || !decimal))
        *out = value_int(type_uint, (int64_t)i);
    else if (i <= LONG_MAX && !is_unsigned)
        *out = value_int(longs == 2 ? type_longlong : type_long, (int64_t)i);
    else if (is_unsigned || !decimal)
        *out = value_int(longs == 2 ? type_ulonglong : type_ulong, (int64_t)i);
    else
        return false;
    return true;
}

/* The C library's own, each in its own precision: what the compiled launcher calls. `wide` says what it should
 * be: a compiler rounds that where it knows the argument. */
#define BOTH(name)                             \
    {#name, name, name##f, name##l, 'g'},      \
    {                                          \
#name "f", name, name##f, name##l, 'f' \
    }
static const struct {
    const char *name;
    double (*f)(double);
    float (*single)(float);
    long double (*wide)(long double);
    char kind; /* 'g': by the argument's type; 'f': float */
} functions[] = {
    BOTH(ceil), BOTH(floor), BOTH(round), BOTH(trunc), BOTH(sqrt), BOTH(exp),  BOTH(exp2), BOTH(log),
    BOTH(log2), BOTH(log10), BOTH(fabs),  BOTH(sin),   BOTH(cos),  BOTH(tanh), BOTH(rint),
};

static const struct {
    const char *name;
    const struct type *const *from, *const *to;
} conversions[] = {
    {"__float2half", &type_float, &type_half},        {"__float2half_rn", &type_float, &type_half},
    {"__double2half", &type_double, &type_half},      {"__half2float", &type_half, &type_float},
    {"__int2half_rn", &type_int, &type_half},         {"__float2bfloat16", &type_float, &type_bf16},
    {"__float2bfloat16_rn", &type_float, &type_bf16}, {"__double2bfloat16", &type_double, &type_bf16},
    {"__bfloat162float", &type_bf16, &type_float},
};

static const char others[] =
    "min|max|abs|labs|llabs|pow|powf|fmin|fmax|fminf|fmaxf|clamp|assert|numeric_limits::max|"
    "numeric_limits::min|numeric_limits::lowest|numeric_limits::infinity|numeric_limits::epsilon|"
    "cuda::ceil_div|__builtin_clz|__builtin_ctz|__builtin_popcount|__builtin_clzll|__builtin_expect|move|"
    "forward|INT8_C|INT16_C|INT32_C|INT64_C|UINT8_C|UINT16_C|UINT32_C|UINT64_C";

/* float4 of make_float4; NULL: the name is none of these. */
static const struct type *made_vector(const char *name)
{
    const struct type *t = strncmp(name, "make_", 5) == 0 ? type_builtin(name + 5) : NULL;

    return t && t->kind == TY_RECORD && t->passable ? t : NULL;
}

bool builtin_is_call(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (strcmp(functions[i].name, name) == 0)
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(conversions); i++) {
        if (strcmp(conversions[i].name, name) == 0)
            return true;
    }
    return str_in(name, others) || made_vector(name);
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void need(struct interp *in, const struct expr *e, const char *name, size_t n, size_t wanted)
{
    if (n != wanted)
        fail(in->unit, e->at, "%s takes %zu argument%s, not %zu", name, wanted, wanted == 1 ? "" : "s", n);
}

static struct value limit_of(struct interp *in, const struct expr *e, const char *which, const struct type *t)
{
    if (t->is_enum)
        fail(in->unit, e->at, "numeric_limits of %s is not understood", type_spell(in->arena, t));
    if (type_is_integer(t)) {
        int bits = t->scalar == KT_BOOL ? 1 : (int)t->size * 8 - type_is_signed(t);
        uint64_t most = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;

        if (strcmp(which, "max") == 0)
            return value_int(t, (int64_t)most);
        if (strcmp(which, "infinity") == 0 || strcmp(which, "epsilon") == 0)
            return value_int(t, 0);
        return value_int(t, type_is_signed(t) ? -(int64_t)most - 1 : 0);
    }
    if (t->scalar != KT_F32 && t->scalar != KT_F64)
        fail(in->unit, e->at, "numeric_limits of %s is not understood", type_spell(in->arena, t));
    bool single = t->scalar == KT_F32;
    static const struct {
        const char *name;
        double single, full;
    } limits[] = {
        {"max", (double)FLT_MAX, DBL_MAX},
        {"lowest", -(double)FLT_MAX, -DBL_MAX},
        {"min", (double)FLT_MIN, DBL_MIN},
        {"infinity", INFINITY, INFINITY},
        {"epsilon", (double)FLT_EPSILON, DBL_EPSILON},
    };
    double f = 0;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        if (strcmp(limits[i].name, which) == 0)
            f = single ? limits[i].single : limits[i].full;
    }
    return value_float(t, f);
}

static struct value min_max(struct interp *in, const struct expr *e, bool is_min,
                            const struct template_arg *targs, size_t n_targs, struct value a, struct value b)
{
    const struct type *t;

    if (!type_is_arithmetic(a.type) || !type_is_arithmetic(b.type))
        fail(in->unit, e->at, "min and max take numbers");
    if (n_targs == 1 && targs[0].type)
        t = targs[0].type;
    else if (type_same(a.type, b.type) && e->a->look != LOOK_STD && type_is_integer(a.type) &&
             a.type->rank < type_int->rank && in->unit->uses_std)
        fail(in->unit, e->at, "which %s of %s is meant; write std::%s", is_min ? "min" : "max",
             type_spell(in->arena, a.type), is_min ? "min" : "max");
    else if (type_same(a.type, b.type)) /* the toolkit's own begin with int */
        t = e->a->look == LOOK_STD || is(e->a->name, "clamp") ? a.type : type_promote(a.type);
    else if (e->a->look == LOOK_STD)
        fail(in->unit, e->at, "std::%s of %s and %s does not compile; cast one or write std::%s<%s>(...)",
             is_min ? "min" : "max", a.type->name, b.type->name, is_min ? "min" : "max",
             arithmetic_type(a.type, b.type)->name);
    else
        t = arithmetic_type(a.type, b.type);
    a = convert(in, e->at, a, t, false);
    b = convert(in, e->at, b, t, false);
    bool less = truth(in, e->at, binary(in, e->at, OP_LT, b, a)); /* b < a */
    return is_min == less ? b : a;
}

/* abs is by the argument's type, the others are not. */
static struct value absolute(struct interp *in, const struct expr *e, const char *name, struct value v)
{
    v = value_plain(v);
    if (is(name, "labs"))
        v = convert(in, e->at, v, type_long, false);
    else if (is(name, "llabs"))
        v = convert(in, e->at, v, type_longlong, false);
    v = unary(in, e->at, OP_PLUS, v);
    if (!type_is_signed(v.type))
        fail(in->unit, e->at, "%s of %s", name, type_spell(in->arena, v.type));
    if (type_is_float(v.type))
        return value_float(v.type, fabs(v.f));
    return v.i < 0 ? unary(in, e->at, OP_NEG, v) : v;
}

static struct value integer_builtin(struct interp *in, const struct expr *e, const char *name, struct value v)
{
    uint64_t x = (uint64_t)convert(in, e->at, v, is(name, "__builtin_clzll") ? type_ulong : type_uint, false).i;

    if (is(name, "__builtin_popcount"))
        return value_int(type_int, __builtin_popcountll(x & 0xffffffffu));
    if (x == 0)
        fail(in->unit, e->at, "%s(0) is undefined", name);
    if (is(name, "__builtin_ctz"))
        return value_int(type_int, __builtin_ctzll(x));
    return value_int(type_int, __builtin_clzll(x) - (is(name, "__builtin_clz") ? 32 : 0));
}

/* What the library gives, if that is what a compiler gives that rounds the true value to the nearest: which of
 * the two a launcher has depends on what the compiler knows. `wide` is the true value to within two of its last
 * bits. */
static struct value real_result(struct interp *in, const struct expr *e, const char *name, const struct type *t,
                                double library, long double wide)
{
    const long double step = nextafterl(fabsl(wide), INFINITY) - fabsl(wide);
    bool same = isnan(library) || isinf(wide);

    for (int k = -2; !same && k <= 2; k += 4) {
        const long double near = wide + k * step;
        if ((t == type_float ? (double)(float)near : (double)near) != library)
            fail(in->unit, e->at,
                 "%s of these arguments is rounded in one way by the compiler and in another by the C library; "
                 "write the number, or compute it in the kernel",
                 name);
    }
    return value_float(t, library);
}

bool builtin_call(struct interp *in, const struct expr *e, const char *name, const struct call_args *call,
                  struct value *out)
{
    const struct template_arg *targs = call->targs;
    const struct value *args = call->values;
    const size_t n = call->n, n_targs = call->n_targs;
    const struct type *vector = made_vector(name);

    if (str_ends(name, "_C")) { /* UINT64_C(1) */
        const struct type *const of[2][2] = {{type_int, type_long}, {type_uint, type_ulong}};

        need(in, e, name, n, 1);
        *out = convert(in, e->at, args[0], of[*name == 'U'][strstr(name, "64") != NULL], false);
        return true;
    }
    if (vector) {
        need(in, e, name, n, (size_t)vector->n);
        *out = record_value(in, e->at, vector, (struct value){.type = type_list, .items = args, .n_items = n});
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (is(functions[i].name, name)) {
            const struct type *t = functions[i].kind == 'f' ? type_float : type_double;

            need(in, e, name, n, 1);
            if (functions[i].kind == 'g' && type_same(args[0].type, type_float))
                t = type_float;
            double x = convert(in, e->at, args[0], t, false).f;
            double y = t == type_float ? (double)functions[i].single((float)x) : functions[i].f(x);
            *out = real_result(in, e, name, t, y, functions[i].wide((long double)x));
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(conversions); i++) {
        if (is(conversions[i].name, name)) {
            need(in, e, name, n, 1);
            *out = convert(in, e->at, convert(in, e->at, args[0], *conversions[i].from, false),
                           *conversions[i].to, true);
            return true;
        }
    }
    if (is(name, "min") || is(name, "max")) {
        if (n == 1 && args[0].type->kind == TY_LIST && args[0].n_items > 0) {
            *out = args[0].items[0];
            for (size_t i = 1; i < args[0].n_items; i++)
                *out = min_max(in, e, is(name, "min"), targs, n_targs, *out, args[0].items[i]);
            return true;
        }
        need(in, e, name, n, 2);
        *out = min_max(in, e, is(name, "min"), targs, n_targs, args[0], args[1]);
    } else if (is(name, "clamp")) {
        need(in, e, name, n, 3);
        *out = min_max(in, e, false, targs, n_targs, args[1],
                       min_max(in, e, true, targs, n_targs, args[0], args[2]));
    } else if (is(name, "abs") || is(name, "labs") || is(name, "llabs")) {
        need(in, e, name, n, 1);
        *out = absolute(in, e, name, args[0]);
    } else if (is(name, "pow") || is(name, "powf") || is(name, "fmin") || is(name, "fmax") ||
               is(name, "fminf") || is(name, "fmaxf")) {
        bool single = name[strlen(name) - 1] == 'f' ||
                      (n == 2 && type_same(args[0].type, type_float) && type_same(args[1].type, type_float));
        const struct type *t = single ? type_float : type_double;

        need(in, e, name, n, 2);
        double a = convert(in, e->at, args[0], t, false).f, b = convert(in, e->at, args[1], t, false).f;
        if (name[0] == 'p')
            *out = real_result(in, e, name, t, single ? (double)powf((float)a, (float)b) : pow(a, b),
                               powl((long double)a, (long double)b));
        else
            *out = value_float(t, name[2] == 'i' ? fmin(a, b) : fmax(a, b));
    } else if (is(name, "cuda::ceil_div")) {
        need(in, e, name, n, 2);
        if (!type_same(args[0].type, args[1].type))
            fail(in->unit, e->at, "cuda::ceil_div of two types; cast one of them");
        struct value q = binary(in, e->at, OP_DIV, args[0], args[1]),
                     r = binary(in, e->at, OP_REM, args[0], args[1]);
        *out = truth(in, e->at, r) ? binary(in, e->at, OP_ADD, q, value_int(type_int, 1)) : q;
    } else if (is(name, "assert")) {
        need(in, e, name, n, 1);
        if (!truth(in, e->at, args[0]))
            fail(in->unit, e->at, "this assertion fails");
        *out = (struct value){.type = type_void};
    } else if (strncmp(name, "numeric_limits::", 16) == 0) {
        need(in, e, name, n, 0);
        if (n_targs != 1 || !targs[0].type)
            fail(in->unit, e->at, "numeric_limits takes a type");
        *out = limit_of(in, e, name + 16, targs[0].type);
    } else if (strncmp(name, "__builtin_", 10) == 0) {
        if (is(name, "__builtin_expect")) {
            need(in, e, name, n, 2);
            *out = convert(in, e->at, args[0], type_long, false);
        } else {
            need(in, e, name, n, 1);
            *out = integer_builtin(in, e, name, args[0]);
        }
    } else if (is(name, "move") || is(name, "forward")) {
        need(in, e, name, n, 1);
        *out = args[0];
    } else {
        return false;
    }
    return true;
}

bool builtin_constant(struct interp *in, const char *name, const struct template_arg *targs, size_t n_targs,
                      struct value *out)
{
    static const struct {
        const char *name;
        const struct type *const *type;
        int64_t value;
    } integers[] = {
        {"INT_MAX", &type_int, INT_MAX},
        {"INT_MIN", &type_int, INT_MIN},
        {"UINT_MAX", &type_uint, UINT_MAX},
        {"LONG_MAX", &type_long, LONG_MAX},
        {"LLONG_MAX", &type_longlong, LLONG_MAX},
        {"INT32_MAX", &type_int, INT_MAX},
        {"INT32_MIN", &type_int, INT_MIN},
        {"UINT32_MAX", &type_uint, UINT_MAX},
        {"INT64_MAX", &type_long, LONG_MAX},
        {"UINT64_MAX", &type_ulong, -1},
        {"SIZE_MAX", &type_ulong, -1},
        {"INT16_MAX", &type_int, 32767},
        {"UINT16_MAX", &type_int, 65535},
        {"SHRT_MAX", &type_int, 32767},
        {"USHRT_MAX", &type_int, 65535},
        {"INT8_MAX", &type_int, 127},
        {"UINT8_MAX", &type_int, 255},
        {"CHAR_BIT", &type_int, 8},
    };
    static const struct {
        const char *name;
        const struct type *const *type;
        double value;
    } reals[] = {
        {"FLT_MAX", &type_float, (double)FLT_MAX},
        {"FLT_MIN", &type_float, (double)FLT_MIN},
        {"FLT_EPSILON", &type_float, (double)FLT_EPSILON},
        {"DBL_MAX", &type_double, DBL_MAX},
        {"DBL_MIN", &type_double, DBL_MIN},
        {"DBL_EPSILON", &type_double, DBL_EPSILON},
        {"INFINITY", &type_float, INFINITY},
        {"NAN", &type_float, NAN},
        {"HUGE_VALF", &type_float, INFINITY},
        {"CUDART_INF_F", &type_float, INFINITY},
#define MATH(name) {#name, &type_double, name}
        MATH(M_E),
        MATH(M_LOG2E),
        MATH(M_LOG10E),
        MATH(M_LN2),
        MATH(M_LN10),
        MATH(M_PI),
        MATH(M_PI_2),
        MATH(M_PI_4),
        MATH(M_1_PI),
        MATH(M_2_PI),
        MATH(M_2_SQRTPI),
        MATH(M_SQRT2),
        MATH(M_SQRT1_2),
#undef MATH
    };

    for (size_t i = 0; i < ARRAY_LEN(integers); i++) {
        if (is(integers[i].name, name)) {
            *out = value_int(*integers[i].type, integers[i].value);
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
        if (is(reals[i].name, name)) {
            *out = value_float(*reals[i].type, reals[i].value);
            return true;
        }
    }
    (void)in;
    if ((is(name, "is_same_v") || is(name, "is_same::value")) && n_targs == 2 && targs[0].type &&
        targs[1].type) {
        *out = value_int(type_bool, type_same(targs[0].type, targs[1].type));
        return true;
    }
    return cub_constant(name, out);
}
