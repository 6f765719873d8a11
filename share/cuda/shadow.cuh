/* Put behind the includes of an original for the exact answer (docs/integrity.md): mathematics become calls of
 * functions that nobody defines, which the simulator computes in double (src/shadow/shadow_math.c). */
#define ASTRA_ONE(name)                                                   \
    extern "C" __device__ float astra_f32_##name(float x);                \
    extern "C" __device__ double astra_f64_##name(double x);              \
    static __device__ __forceinline__ float astra_##name(float x)         \
    {                                                                     \
        return astra_f32_##name(x);                                       \
    }                                                                     \
    static __device__ __forceinline__ double astra_##name(double x)       \
    {                                                                     \
        return astra_f64_##name(x);                                       \
    }
#define ASTRA_TWO(name)                                                   \
    extern "C" __device__ float astra_f32_##name(float x, float y);       \
    extern "C" __device__ double astra_f64_##name(double x, double y);    \
    static __device__ __forceinline__ float astra_##name(float x, float y) \
    {                                                                     \
        return astra_f32_##name(x, y);                                    \
    }                                                                     \
    static __device__ __forceinline__ double astra_##name(double x, double y) \
    {                                                                     \
        return astra_f64_##name(x, y);                                    \
    }
ASTRA_ONE(exp) ASTRA_ONE(exp2) ASTRA_ONE(exp10) ASTRA_ONE(expm1)
ASTRA_ONE(log) ASTRA_ONE(log2) ASTRA_ONE(log10) ASTRA_ONE(log1p)
ASTRA_ONE(rsqrt) ASTRA_ONE(cbrt) ASTRA_ONE(rcbrt)
ASTRA_ONE(sin) ASTRA_ONE(cos) ASTRA_ONE(tan) ASTRA_ONE(sinpi) ASTRA_ONE(cospi)
ASTRA_ONE(asin) ASTRA_ONE(acos) ASTRA_ONE(atan)
ASTRA_ONE(sinh) ASTRA_ONE(cosh) ASTRA_ONE(tanh) ASTRA_ONE(asinh) ASTRA_ONE(acosh) ASTRA_ONE(atanh)
ASTRA_ONE(erf) ASTRA_ONE(erfc) ASTRA_ONE(erfcx) ASTRA_ONE(normcdf) ASTRA_ONE(tgamma) ASTRA_ONE(lgamma)
ASTRA_TWO(pow) ASTRA_TWO(atan2) ASTRA_TWO(hypot) ASTRA_TWO(fmod)
static __device__ __forceinline__ void astra_sincosf(float x, float *s, float *c)
{
    *s = astra_f32_sin(x);
    *c = astra_f32_cos(x);
}
static __device__ __forceinline__ void astra_sincos(double x, double *s, double *c)
{
    *s = astra_f64_sin(x);
    *c = astra_f64_cos(x);
}
namespace std {
using ::astra_exp; using ::astra_exp2; using ::astra_expm1;
using ::astra_log; using ::astra_log2; using ::astra_log10; using ::astra_log1p;
using ::astra_cbrt; using ::astra_sin; using ::astra_cos; using ::astra_tan;
using ::astra_asin; using ::astra_acos; using ::astra_atan; using ::astra_sinh; using ::astra_cosh; using ::astra_tanh;
using ::astra_asinh; using ::astra_acosh; using ::astra_atanh;
using ::astra_erf; using ::astra_erfc; using ::astra_tgamma; using ::astra_lgamma;
using ::astra_pow; using ::astra_atan2; using ::astra_hypot; using ::astra_fmod;
using ::astra_f32_exp; using ::astra_f32_exp2; using ::astra_f32_expm1;
using ::astra_f32_log; using ::astra_f32_log2; using ::astra_f32_log10; using ::astra_f32_log1p;
using ::astra_f32_sin; using ::astra_f32_cos; using ::astra_f32_tanh; using ::astra_f32_pow; using ::astra_f32_erf;
}
#define ASTRA_HALF(name, T, to, from)                        \
    static __device__ __forceinline__ T astra_h##name(T x)   \
    {                                                        \
        return to(astra_f32_##name(from(x)));                \
    }
#define ASTRA_HALF2(name, T, to, low, high)                            \
    static __device__ __forceinline__ T astra_h2##name(T x)            \
    {                                                                  \
        return to(astra_f32_##name(low(x)), astra_f32_##name(high(x))); \
    }
#define ASTRA_HALVES(X, ...)                                                                         \
    X(exp, __VA_ARGS__) X(exp2, __VA_ARGS__) X(exp10, __VA_ARGS__) X(log, __VA_ARGS__)               \
    X(log2, __VA_ARGS__) X(log10, __VA_ARGS__) X(sin, __VA_ARGS__) X(cos, __VA_ARGS__)               \
    X(tanh, __VA_ARGS__) X(rsqrt, __VA_ARGS__)
#ifdef __CUDA_FP16_H__
ASTRA_HALVES(ASTRA_HALF, __half, __float2half_rn, __half2float)
ASTRA_HALVES(ASTRA_HALF2, __half2, __floats2half2_rn, __low2float, __high2float)
#endif
#ifdef __CUDA_BF16_H__
ASTRA_HALVES(ASTRA_HALF, __nv_bfloat16, __float2bfloat16_rn, __bfloat162float)
ASTRA_HALVES(ASTRA_HALF2, __nv_bfloat162, __floats2bfloat162_rn, __low2float, __high2float)
#endif
#if defined(__CUDA_FP16_H__) || defined(__CUDA_BF16_H__)
#define hexp(...) astra_hexp(__VA_ARGS__)
#define hexp2(...) astra_hexp2(__VA_ARGS__)
#define hexp10(...) astra_hexp10(__VA_ARGS__)
#define hlog(...) astra_hlog(__VA_ARGS__)
#define hlog2(...) astra_hlog2(__VA_ARGS__)
#define hlog10(...) astra_hlog10(__VA_ARGS__)
#define hsin(...) astra_hsin(__VA_ARGS__)
#define hcos(...) astra_hcos(__VA_ARGS__)
#define htanh(...) astra_htanh(__VA_ARGS__)
#define hrsqrt(...) astra_hrsqrt(__VA_ARGS__)
#define h2exp(...) astra_h2exp(__VA_ARGS__)
#define h2exp2(...) astra_h2exp2(__VA_ARGS__)
#define h2exp10(...) astra_h2exp10(__VA_ARGS__)
#define h2log(...) astra_h2log(__VA_ARGS__)
#define h2log2(...) astra_h2log2(__VA_ARGS__)
#define h2log10(...) astra_h2log10(__VA_ARGS__)
#define h2sin(...) astra_h2sin(__VA_ARGS__)
#define h2cos(...) astra_h2cos(__VA_ARGS__)
#define h2tanh(...) astra_h2tanh(__VA_ARGS__)
#define h2rsqrt(...) astra_h2rsqrt(__VA_ARGS__)
#endif
#define expf(...) astra_f32_exp(__VA_ARGS__)
#define exp2f(...) astra_f32_exp2(__VA_ARGS__)
#define exp10f(...) astra_f32_exp10(__VA_ARGS__)
#define expm1f(...) astra_f32_expm1(__VA_ARGS__)
#define logf(...) astra_f32_log(__VA_ARGS__)
#define log2f(...) astra_f32_log2(__VA_ARGS__)
#define log10f(...) astra_f32_log10(__VA_ARGS__)
#define log1pf(...) astra_f32_log1p(__VA_ARGS__)
#define rsqrtf(...) astra_f32_rsqrt(__VA_ARGS__)
#define cbrtf(...) astra_f32_cbrt(__VA_ARGS__)
#define rcbrtf(...) astra_f32_rcbrt(__VA_ARGS__)
#define sinf(...) astra_f32_sin(__VA_ARGS__)
#define cosf(...) astra_f32_cos(__VA_ARGS__)
#define tanf(...) astra_f32_tan(__VA_ARGS__)
#define sinpif(...) astra_f32_sinpi(__VA_ARGS__)
#define cospif(...) astra_f32_cospi(__VA_ARGS__)
#define asinf(...) astra_f32_asin(__VA_ARGS__)
#define acosf(...) astra_f32_acos(__VA_ARGS__)
#define atanf(...) astra_f32_atan(__VA_ARGS__)
#define sinhf(...) astra_f32_sinh(__VA_ARGS__)
#define coshf(...) astra_f32_cosh(__VA_ARGS__)
#define tanhf(...) astra_f32_tanh(__VA_ARGS__)
#define asinhf(...) astra_f32_asinh(__VA_ARGS__)
#define acoshf(...) astra_f32_acosh(__VA_ARGS__)
#define atanhf(...) astra_f32_atanh(__VA_ARGS__)
#define erff(...) astra_f32_erf(__VA_ARGS__)
#define erfcf(...) astra_f32_erfc(__VA_ARGS__)
#define erfcxf(...) astra_f32_erfcx(__VA_ARGS__)
#define normcdff(...) astra_f32_normcdf(__VA_ARGS__)
#define tgammaf(...) astra_f32_tgamma(__VA_ARGS__)
#define lgammaf(...) astra_f32_lgamma(__VA_ARGS__)
#define powf(...) astra_f32_pow(__VA_ARGS__)
#define atan2f(...) astra_f32_atan2(__VA_ARGS__)
#define hypotf(...) astra_f32_hypot(__VA_ARGS__)
#define fmodf(...) astra_f32_fmod(__VA_ARGS__)
#define sincosf(...) astra_sincosf(__VA_ARGS__)
#define __expf(...) astra_f32_exp(__VA_ARGS__)
#define __exp10f(...) astra_f32_exp10(__VA_ARGS__)
#define __logf(...) astra_f32_log(__VA_ARGS__)
#define __log2f(...) astra_f32_log2(__VA_ARGS__)
#define __log10f(...) astra_f32_log10(__VA_ARGS__)
#define __powf(...) astra_f32_pow(__VA_ARGS__)
#define __sinf(...) astra_f32_sin(__VA_ARGS__)
#define __cosf(...) astra_f32_cos(__VA_ARGS__)
#define __tanf(...) astra_f32_tan(__VA_ARGS__)
#define __tanhf(...) astra_f32_tanh(__VA_ARGS__)
#define __sincosf(...) astra_sincosf(__VA_ARGS__)
#define exp(...) astra_exp(__VA_ARGS__)
#define exp2(...) astra_exp2(__VA_ARGS__)
#define exp10(...) astra_exp10(__VA_ARGS__)
#define expm1(...) astra_expm1(__VA_ARGS__)
#define log(...) astra_log(__VA_ARGS__)
#define log2(...) astra_log2(__VA_ARGS__)
#define log10(...) astra_log10(__VA_ARGS__)
#define log1p(...) astra_log1p(__VA_ARGS__)
#define rsqrt(...) astra_rsqrt(__VA_ARGS__)
#define cbrt(...) astra_cbrt(__VA_ARGS__)
#define sin(...) astra_sin(__VA_ARGS__)
#define cos(...) astra_cos(__VA_ARGS__)
#define tan(...) astra_tan(__VA_ARGS__)
#define asin(...) astra_asin(__VA_ARGS__)
#define acos(...) astra_acos(__VA_ARGS__)
#define atan(...) astra_atan(__VA_ARGS__)
#define sinh(...) astra_sinh(__VA_ARGS__)
#define cosh(...) astra_cosh(__VA_ARGS__)
#define tanh(...) astra_tanh(__VA_ARGS__)
#define erf(...) astra_erf(__VA_ARGS__)
#define erfc(...) astra_erfc(__VA_ARGS__)
#define normcdf(...) astra_normcdf(__VA_ARGS__)
#define pow(...) astra_pow(__VA_ARGS__)
#define atan2(...) astra_atan2(__VA_ARGS__)
#define hypot(...) astra_hypot(__VA_ARGS__)
#define fmod(...) astra_fmod(__VA_ARGS__)
