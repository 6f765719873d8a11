/* f32 and f64 arithmetic with IEEE rounding. A NaN result of f32 arithmetic is 0x7fffffff, as the machine gives
 * it. .ftz turns subnormal inputs and results into zeros of their sign. Approximate forms are in exec_approx.c.
 */
#include "exec.h"
#include "ptx/lane/bits.h"

#define UNARY_F(name, expr)                    \
    UNARY(name, float, float, f32_canon(expr)) \
    UNARY(name##_ftz, float, float, ({         \
              x = f32_flush(x);                \
              f32_canon(f32_flush(expr));      \
          }))
#define BINARY_P(name, expr)                    \
    BINARY(name, float, float, f32_canon(expr)) \
    BINARY(name##_ftz, float, float, ({         \
               x = f32_flush(x);                \
               y = f32_flush(y);                \
               f32_canon(f32_flush(expr));      \
           }))
#define BINARY_F(name, expr)                             \
    BINARY_P(name, expr)                                 \
    BINARY(name##_sat, float, float, f32_saturate(expr)) \
    BINARY(name##_ftz_sat, float, float, ({              \
               x = f32_flush(x);                         \
               y = f32_flush(y);                         \
               f32_saturate(f32_flush(expr));            \
           }))

BINARY_F(add_f32, x + y)
BINARY_F(sub_f32, x - y)
BINARY_F(mul_f32, x *y)
BINARY_P(div_f32, x / y)
UNARY_F(rcp_f32, 1.0f / x)
UNARY_F(sqrt_f32, __builtin_sqrtf(x))
TERNARY(fma_f32, float, float, float, f32_canon(__builtin_fmaf(x, y, z)))
TERNARY(fma_f32_ftz, float, float, float, ({
            x = f32_flush(x);
            y = f32_flush(y);
            z = f32_flush(z);
            f32_canon(f32_flush(__builtin_fmaf(x, y, z)));
        }))
TERNARY(fma_f32_sat, float, float, float, f32_saturate(__builtin_fmaf(x, y, z)))
TERNARY(fma_f32_ftz_sat, float, float, float, ({
            x = f32_flush(x);
            y = f32_flush(y);
            z = f32_flush(z);
            f32_saturate(f32_flush(__builtin_fmaf(x, y, z)));
        }))

UNARY(abs_f32, uint32_t, uint32_t, x & 0x7fffffff)
UNARY(neg_f32, uint32_t, uint32_t, x ^ 0x80000000)
UNARY(abs_f32_ftz, float, float, ({
          x = f32_flush(x);
          f32_of(bits_f32(x) & 0x7fffffff);
      }))
UNARY(neg_f32_ftz, float, float, ({
          x = f32_flush(x);
          f32_of(bits_f32(x) ^ 0x80000000);
      }))
BINARY(copysign_f32, uint32_t, uint32_t, (y & 0x7fffffff) | (x & 0x80000000))
BINARY(copysign_f64, uint64_t, uint64_t, (y & 0x7fffffffffffffffull) | (x & 0x8000000000000000ull))

/* -0 is less than +0; a NaN loses against a number unless .NaN. */
#define CHOICE(name, T, f, better, signs)                       \
    static inline T name##_##f(T x, T y)                        \
    {                                                           \
        T r = x better y ? x : y;                               \
        r = x == y ? f##_of(bits_##f(x) signs bits_##f(y)) : r; \
        r = y != y ? x : r;                                     \
        r = x != x ? y : r;                                     \
        return f##_canon(r);                                    \
    }
CHOICE(least, float, f32, <, |)
CHOICE(most, float, f32, >, &)
CHOICE(least, double, f64, <, |)
CHOICE(most, double, f64, >, &)

#define NAN_F32      f32_of(F32_NAN)
#define XORSIGN()    ((bits_f32(x) ^ bits_f32(y)) & 0x80000000)
#define MAGNITUDE(v) f32_of(bits_f32(v) & 0x7fffffff)
#define EXTREME(name, fn)                                                                                   \
    BINARY(name, float, float, fn(x, y))                                                                    \
    BINARY(name##_ftz, float, float, fn(f32_flush(x), f32_flush(y)))                                        \
    BINARY(name##_nan, float, float, x != x || y != y ? NAN_F32 : fn(x, y))                                 \
    BINARY(name##_ftz_nan, float, float, x != x || y != y ? NAN_F32 : fn(f32_flush(x), f32_flush(y)))       \
    static void name##_xorsign(struct warp *w, const struct insn *i, uint32_t m)                            \
    {                                                                                                       \
        float *d = REG(float, w, i->d);                                                                     \
        const float *a = REG(float, w, i->a), *b = REG(float, w, i->b);                                     \
        bool ftz = insn_has(i, MOD_ftz), nan = insn_has(i, MOD_NaN);                                        \
        EACH(float, d, ({                                                                                   \
                 float x = ftz ? f32_flush(a[l]) : a[l], y = ftz ? f32_flush(b[l]) : b[l];                  \
                 float r_ = fn(MAGNITUDE(x), MAGNITUDE(y));                                                 \
                 r_ != r_ || (nan && (x != x || y != y)) ? NAN_F32                                          \
                                                         : f32_of((bits_f32(r_) & 0x7fffffff) | XORSIGN()); \
             }));                                                                                           \
    }
EXTREME(min_f32, least_f32)
EXTREME(max_f32, most_f32)

/* ---- f64 ---- */

BINARY(add_f64, double, double, x + y)
BINARY(sub_f64, double, double, x - y)
BINARY(mul_f64, double, double, x *y)
BINARY(div_f64, double, double, x / y)
UNARY(rcp_f64, double, double, 1.0 / x)
UNARY(sqrt_f64, double, double, __builtin_sqrt(x))
TERNARY(fma_f64, double, double, double, __builtin_fma(x, y, z))
UNARY(abs_f64, uint64_t, uint64_t, x & 0x7fffffffffffffffull)
UNARY(neg_f64, uint64_t, uint64_t, x ^ 0x8000000000000000ull)

BINARY(min_f64, double, double, least_f64(x, y))
BINARY(max_f64, double, double, most_f64(x, y))

/* ---- other roundings: the processor's mode is switched around a plain loop ---- */

#ifdef __x86_64__
static inline unsigned round_begin(int mode)
{
    unsigned old, control;
    __asm__ volatile("stmxcsr %0" : "=m"(old));
    control = (old & ~0x6000u) | (unsigned)mode
                                     << 3; /* the C library's constants are the x87's, 3 bits lower */
    __asm__ volatile("ldmxcsr %0" : : "m"(control) : "memory");
    return old;
}

static inline void round_end(unsigned old)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(old) : "memory");
}
#else
static inline unsigned round_begin(int mode)
{
    unsigned old = (unsigned)fegetround();
    fesetround(mode);
    __asm__ volatile("" : : : "memory");
    return old;
}

static inline void round_end(unsigned old)
{
    __asm__ volatile("" : : : "memory");
    fesetround((int)old);
}
#endif

/* The operands are read from memory after the mode changes and the results written before it changes back,
 * which keeps the arithmetic between. */
#define ROUNDED(name, T, rooted, fused)                                                                    \
    static __attribute__((noinline)) void name##_lanes(const struct insn *i, T *r, const T *x, const T *y, \
                                                       const T *z)                                         \
    {                                                                                                      \
        unsigned old = round_begin(rounding_mode(i));                                                      \
        switch (i->op) {                                                                                   \
        case OP_add:                                                                                       \
            LANES r[l] = x[l] + y[l];                                                                      \
            break;                                                                                         \
        case OP_sub:                                                                                       \
            LANES r[l] = x[l] - y[l];                                                                      \
            break;                                                                                         \
        case OP_mul:                                                                                       \
            LANES r[l] = x[l] * y[l];                                                                      \
            break;                                                                                         \
        case OP_div:                                                                                       \
            LANES r[l] = x[l] / y[l];                                                                      \
            break;                                                                                         \
        case OP_rcp:                                                                                       \
            LANES r[l] = (T)1 / x[l];                                                                      \
            break;                                                                                         \
        case OP_sqrt:                                                                                      \
            LANES r[l] = rooted(x[l]);                                                                     \
            break;                                                                                         \
        default:                                                                                           \
            LANES r[l] = fused(x[l], y[l], z[l]);                                                          \
        }                                                                                                  \
        round_end(old);                                                                                    \
    }
ROUNDED(rounded_f32, float, __builtin_sqrtf, __builtin_fmaf)
ROUNDED(rounded_f64, double, __builtin_sqrt, __builtin_fma)

static void rounded_any_f32(struct warp *w, const struct insn *i, uint32_t m)
{
    bool ftz = insn_has(i, MOD_ftz), sat = insn_has(i, MOD_sat);
    float *d = REG(float, w, i->d), x[32], y[32], z[32], r[32];
    const float *a = REG(float, w, i->a), *b = REG(float, w, i->n_opnds > 2 ? i->b : i->a),
                *c = REG(float, w, i->n_opnds > 3 ? i->c : i->a);
    LANES x[l] = ftz ? f32_flush(a[l]) : a[l];
    LANES y[l] = ftz ? f32_flush(b[l]) : b[l];
    LANES z[l] = ftz ? f32_flush(c[l]) : c[l];
    rounded_f32_lanes(i, r, x, y, z);
    if (ftz)
        LANES r[l] = f32_flush(r[l]);
    if (sat)
        EACH(float, d, f32_saturate(r[l]));
    else
        EACH(float, d, f32_canon(r[l]));
}

static void rounded_any_f64(struct warp *w, const struct insn *i, uint32_t m)
{
    double *d = REG(double, w, i->d), r[32];
    const double *a = REG(double, w, i->a), *b = REG(double, w, i->n_opnds > 2 ? i->b : i->a),
                 *c = REG(double, w, i->n_opnds > 3 ? i->c : i->a);
    rounded_f64_lanes(i, r, a, b, c);
    EACH(double, d, r[l]);
}

/* ---- selection ---- */

static exec_fn *select_f64(const struct insn *i)
{
    bool directed = rounding_mode(i) != FE_TONEAREST;
    if (insn_has(i, MOD_sat) || insn_has(i, MOD_approx) || insn_has(i, MOD_NaN) || insn_has(i, MOD_xorsign))
        return NULL;
    switch (i->op) {
    case OP_add:
        return directed ? rounded_any_f64 : add_f64;
    case OP_sub:
        return directed ? rounded_any_f64 : sub_f64;
    case OP_mul:
        return directed ? rounded_any_f64 : mul_f64;
    case OP_div:
        return directed ? rounded_any_f64 : div_f64;
    case OP_rcp:
        return directed ? rounded_any_f64 : rcp_f64;
    case OP_sqrt:
        return directed ? rounded_any_f64 : sqrt_f64;
    case OP_fma:
    case OP_mad:
        return directed ? rounded_any_f64 : fma_f64;
    case OP_abs:
        return abs_f64;
    case OP_neg:
        return neg_f64;
    case OP_min:
        return i->n_opnds == 3 ? min_f64 : NULL;
    case OP_max:
        return i->n_opnds == 3 ? max_f64 : NULL;
    case OP_copysign:
        return copysign_f64;
    default:
        return NULL;
    }
}

#define FORM(name)     ((exec_fn *const[]){name, name##_sat, name##_ftz, name##_ftz_sat}[2 * ftz + sat])
#define FORM_NAN(name) ((exec_fn *const[]){name, name##_nan, name##_ftz, name##_ftz_nan}[2 * ftz + nan])
#define FORM_FTZ(name) (ftz ? name##_ftz : name)

exec_fn *ISA(select_float)(struct insn *i)
{
    if (i->n_types != 1)
        return NULL;
    if (insn_has(i, MOD_approx) || insn_has(i, MOD_full) || i->op == OP_rsqrt)
        return ISA(select_approx)(i);
    if (i->type == TYPE_F64)
        return select_f64(i);
    bool ftz = insn_has(i, MOD_ftz), sat = insn_has(i, MOD_sat), nan = insn_has(i, MOD_NaN);
    bool directed = rounding_mode(i) != FE_TONEAREST;
    if (sat && (i->op == OP_div || i->op == OP_rcp || i->op == OP_sqrt))
        return NULL;
    switch (i->op) {
    case OP_add:
        return directed ? rounded_any_f32 : FORM(add_f32);
    case OP_sub:
        return directed ? rounded_any_f32 : FORM(sub_f32);
    case OP_mul:
        return directed ? rounded_any_f32 : FORM(mul_f32);
    case OP_fma:
    case OP_mad:
        return directed ? rounded_any_f32 : FORM(fma_f32);
    case OP_div:
        return directed ? rounded_any_f32 : FORM_FTZ(div_f32);
    case OP_rcp:
        return directed ? rounded_any_f32 : FORM_FTZ(rcp_f32);
    case OP_sqrt:
        return directed ? rounded_any_f32 : FORM_FTZ(sqrt_f32);
    case OP_abs:
        return FORM_FTZ(abs_f32);
    case OP_neg:
        return FORM_FTZ(neg_f32);
    case OP_copysign:
        return copysign_f32;
    case OP_min:
        if (i->n_opnds != 3)
            return NULL;
        return insn_has(i, MOD_xorsign) ? min_f32_xorsign : FORM_NAN(min_f32);
    case OP_max:
        if (i->n_opnds != 3)
            return NULL;
        return insn_has(i, MOD_xorsign) ? max_f32_xorsign : FORM_NAN(max_f32);
    default:
        return NULL;
    }
}
