/* What buffers hold: element i is a pure function of the argument, the seed and i, so that a buffer of 800 MB
 * can be filled page by page, and only the pages that are touched. */
#include "internal.h"

static float bits_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static uint32_t float_bits(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static uint16_t to_bf16(double v)
{
    float f = (float)v;
    uint32_t bits = float_bits(f);

    if (isnan(v))
        return (uint16_t)(bits >> 16 | 0x40);
    /* To odd first, so that the second rounding decides on what the first one lost. */
    if ((double)f != v)
        bits = (bits - (fabs((double)f) > fabs(v))) | 1;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double bits_double(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static uint64_t double_bits(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    return bits;
}

/* By their bits: what the compiler calls for a _Float16 takes ten times as long. */
static double from_f16(uint16_t h)
{
    uint64_t sign = (uint64_t)(h & 0x8000) << 48, mag = h & 0x7fff;
    uint64_t finite = double_bits(bits_double(mag << 42) * 0x1p1008); /* exact, of subnormals too */

    return bits_double(sign | (mag >= 0x7c00 ? mag << 42 | 0x7ffull << 52 : finite));
}

static uint16_t to_f16(double v)
{
    uint64_t bits = double_bits(v), mag = bits & ~(1ull << 63), r;

    if (isnan(v))
        r = 0x7e00 | (mag >> 42 & 0x3ff);
    else if (fabs(v) >= 65520)
        r = 0x7c00;
    else if (fabs(v) < 0x1p-14) /* the sum's last bit is 2^-24: the addition rounds */
        r = double_bits(fabs(v) + 0x1p28) - double_bits(0x1p28);
    else
        r = (mag + (1ull << 41) - 1 + (mag >> 42 & 1) - (1008ull << 52)) >> 42;
    return (uint16_t)(r | (bits >> 48 & 0x8000));
}

#define TYPES(X)                             \
    X(KT_I8, int8_t, INT8_MIN, INT8_MAX)     \
    X(KT_U8, uint8_t, 0, UINT8_MAX)          \
    X(KT_I16, int16_t, INT16_MIN, INT16_MAX) \
    X(KT_U16, uint16_t, 0, UINT16_MAX)       \
    X(KT_I32, int32_t, INT32_MIN, INT32_MAX) \
    X(KT_U32, uint32_t, 0, UINT32_MAX)       \
    X(KT_I64, int64_t, INT64_MIN, INT64_MAX) \
    X(KT_U64, uint64_t, 0, UINT64_MAX)

double task_to_double(enum kernel_type type, const void *element)
{
    uint16_t half;

    switch (type) {
#define CASE(kt, ctype, low, high)      \
    case kt: {                          \
        ctype v;                        \
        memcpy(&v, element, sizeof(v)); \
        return (double)v;               \
    }
        TYPES(CASE)
#undef CASE
    case KT_BOOL:
        return *(const unsigned char *)element != 0;
    case KT_F16:
        memcpy(&half, element, sizeof(half));
        return from_f16(half);
    case KT_BF16:
        memcpy(&half, element, sizeof(half));
        return (double)bits_float((uint32_t)half << 16);
    case KT_F32: {
        float v;
        memcpy(&v, element, sizeof(v));
        return (double)v;
    }
    case KT_F64: {
        double v;
        memcpy(&v, element, sizeof(v));
        return v;
    }
    case KT_VOID:
        break;
    }
    BUG("no number of type %d", (int)type);
}

void task_from_double(enum kernel_type type, double v, void *element)
{
    switch (type) {
#define CASE(kt, ctype, low, high)                      \
    case kt: {                                          \
        double r = rint(v);                             \
        ctype x = isnan(r)              ? 0             \
                  : r <= (double)(low)  ? (ctype)(low)  \
                  : r >= (double)(high) ? (ctype)(high) \
                                        : (ctype)r;     \
        memcpy(element, &x, sizeof(x));                 \
        return;                                         \
    }
        TYPES(CASE)
#undef CASE
    case KT_BOOL:
        *(unsigned char *)element = v != 0;
        return;
    case KT_F16: {
        uint16_t x = to_f16(v);
        memcpy(element, &x, sizeof(x));
        return;
    }
    case KT_BF16: {
        uint16_t x = to_bf16(v);
        memcpy(element, &x, sizeof(x));
        return;
    }
    case KT_F32: {
        float x = (float)v;
        memcpy(element, &x, sizeof(x));
        return;
    }
    case KT_F64:
        memcpy(element, &v, sizeof(v));
        return;
    case KT_VOID:
        break;
    }
    BUG("no number of type %d", (int)type);
}

static bool integer(enum kernel_type t)
{
    return t != KT_F16 && t != KT_BF16 && t != KT_F32 && t != KT_F64;
}

/* Scales at which products of three stay normal numbers in f32, and at which f16 reaches its ends. */
static double large_scale(enum kernel_type t)
{
    return t == KT_F16 ? 1024 : integer(t) ? 1000 : 1e10;
}

static double tiny_scale(enum kernel_type t)
{
    return t == KT_F16 ? 0x1p-16 : 1e-12;
}

static double small_integer(enum kernel_type t, uint64_t bits)
{
    if (t == KT_U8)
        return (double)(bits & 255);
    if (t == KT_I8)
        return (double)(bits & 255) - 128;
    if (t == KT_BOOL)
        return (double)(bits & 1);
    return (double)(bits % 17) - (integer(t) && (t == KT_U16 || t == KT_U32 || t == KT_U64) ? 0 : 8);
}

static double element(const struct task_arg *arg, const struct task_values *v, int64_t low, int64_t high,
                      uint64_t bits)
{
    switch (v->kind) {
    case VALUE_NORMAL:
    case VALUE_ALIKE:
        return rng_normal_of(bits);
    case VALUE_UNIFORM:
        return v->low + (v->high - v->low) * rng_unit_of(bits);
    case VALUE_ZEROS:
        return bits & 1 ? 0.0 : -0.0;
    case VALUE_ONES:
        return 1;
    case VALUE_LARGE:
        return rng_normal_of(bits) * large_scale(arg->type);
    case VALUE_TINY:
        return rng_normal_of(bits) * tiny_scale(arg->type);
    case VALUE_MIXED:
        return ldexp(rng_normal_of(bits), (int)(rng_mix(bits) % 17) - 8);
    case VALUE_INDEX:
        return (
            double)(int64_t)((uint64_t)low +
                             (uint64_t)(((unsigned __int128)bits * ((uint64_t)high - (uint64_t)low)) >> 64));
    case VALUE_CONSTANT:
        return v->constant;
    case VALUE_INTEGERS:
        return small_integer(arg->type, bits);
    case VALUE_FAINT:
        return ldexp(rng_normal_of(bits), arg->type == KT_F16   ? -(int)(rng_mix(bits) % 16) - 4
                                          : arg->type == KT_F64 ? -1022 / 2 - (int)(rng_mix(bits) % 520)
                                                                : -60 - (int)(rng_mix(bits) % 72));
    case VALUE_DIM:
        return ldexp(rng_normal_of(bits), arg->type == KT_F16   ? -7 - (int)(rng_mix(bits) % 3)
                                          : arg->type == KT_F64 ? -510 - (int)(rng_mix(bits) % 6)
                                                                : -62 - (int)(rng_mix(bits) % 3));
    case VALUE_CANCELLING:
        break; /* more than its bits decide */
    }
    BUG("no kind of values %d", (int)v->kind);
}

/* The sum of a row is about a 256th of what half of it comes to. */
static double cancelling(uint64_t own, int64_t i, int64_t row_length)
{
    int64_t half = row_length / 2, column = i % row_length;
    double v = rng_normal_of(rng_hash(own, (uint64_t)i));

    if (column < half)
        return v;
    if (column == 2 * half)
        return v / 256;
    return -rng_normal_of(rng_hash(own, (uint64_t)(i - half))) * (1 + v / 256);
}

void values_range(const struct task_values *v, const int64_t *dims, int64_t *low, int64_t *high)
{
    *low = (int64_t)v->low;
    *high = (int64_t)v->high;
    if (v->low_expr && !dim_eval(v->low_expr, dims, low))
        *low = 0;
    if (v->kind == VALUE_INDEX && (!v->high_expr || !dim_eval(v->high_expr, dims, high) || *high <= *low))
        *high = *low + 1; /* an empty range has no right content; the domain should exclude it */
}

void task_fill(const struct task_arg *arg, const struct task_values *values, const int64_t *dims, uint64_t seed,
               int64_t first, int64_t n, void *to)
{
    size_t size = kernel_type_size(arg->type);
    uint64_t own = rng_mix(seed) ^ hash_text(arg->name);
    int64_t low, high, row_length = 1;
    char *p = to;

    values_range(values, dims, &low, &high);
    if (arg->n_shape == 0 || !dim_eval(arg->shape[arg->n_shape - 1], dims, &row_length) || row_length < 1)
        row_length = 1;
    for (int64_t i = first; i < first + n; i++, p += size) {
        int64_t column = i % row_length;
        bool alike = values->kind == VALUE_ALIKE && column < row_length - MAX(row_length / 8, (int64_t)1);
        uint64_t bits = rng_hash(own, (uint64_t)(alike ? column : i));
        double v;
        if (values->n_special && rng_unit_of(rng_mix(bits ^ 0x5bd1e995)) < values->special_share)
            v = values->special[rng_mix(bits) % values->n_special];
        else if (values->kind == VALUE_CANCELLING)
            v = cancelling(own, i, row_length);
        else
            v = element(arg, values, low, high, bits);
        task_from_double(arg->type, v, p);
    }
}
