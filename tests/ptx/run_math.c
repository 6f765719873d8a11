/* The toolkit's own mathematical functions, compiled by NVRTC and executed by the simulator, against long
 * double. The CUDA documentation gives the largest error of each in units in the last place, which must hold
 * here too; where releases differ, the larger figure, since the simulator's ex2 and others take all the error
 * that the PTX ISA allows. Such a function runs through hundreds of instructions (integer, fused, converted,
 * approximate), so a wrong one shows. -v prints the worst error of every function; exit status 77 where there
 * is no NVRTC. */
#include "gpu/gpu.h"

typedef long double f1(long double);
typedef long double f2(long double, long double);

struct function {
    const char *call; /* of x and y */
    f1 *one;
    f2 *two;
    double low, high, ulps;
};

static long double rsqrt_l(long double x)
{
    return 1 / sqrtl(x);
}
static long double rcbrt_l(long double x)
{
    return 1 / cbrtl(x);
}
static long double exp10_l(long double x)
{
    return powl(10, x);
}
static long double quotient(long double x, long double y)
{
    return x / y;
}
static long double reciprocal(long double x)
{
    return 1 / x;
}

static long double fused(long double x, long double y)
{
    return fmal(x, y, x);
}

static const struct function singles[] = {
    {"expf(x)", expl, NULL, -85, 88, 2},        {"exp2f(x)", exp2l, NULL, -120, 127, 2},
    {"exp10f(x)", exp10_l, NULL, -37, 38, 2},   {"expm1f(x)", expm1l, NULL, -20, 80, 1},
    {"logf(x)", logl, NULL, 1e-3, 1e3, 1},      {"log2f(x)", log2l, NULL, 1e-3, 1e3, 1},
    {"log10f(x)", log10l, NULL, 1e-3, 1e3, 2},  {"log1pf(x)", log1pl, NULL, -0.99, 50, 1},
    {"sinf(x)", sinl, NULL, -1000, 1000, 2},    {"cosf(x)", cosl, NULL, -1000, 1000, 2},
    {"tanf(x)", tanl, NULL, -100, 100, 4},      {"asinf(x)", asinl, NULL, -1, 1, 2},
    {"acosf(x)", acosl, NULL, -1, 1, 2},        {"atanf(x)", atanl, NULL, -50, 50, 2},
    {"sinhf(x)", sinhl, NULL, -80, 80, 3},      {"coshf(x)", coshl, NULL, -80, 80, 2},
    {"tanhf(x)", tanhl, NULL, -9, 9, 2},        {"erff(x)", erfl, NULL, -4, 4, 2},
    {"erfcf(x)", erfcl, NULL, -4, 9, 4},        {"tgammaf(x)", tgammal, NULL, 0.1, 30, 5},
    {"sqrtf(x)", sqrtl, NULL, 0, 1e6, 0},       {"rsqrtf(x)", rsqrt_l, NULL, 1e-6, 1e6, 2},
    {"cbrtf(x)", cbrtl, NULL, -1e6, 1e6, 1},    {"rcbrtf(x)", rcbrt_l, NULL, 1e-6, 1e6, 1},
    {"1 / x", reciprocal, NULL, 0.1, 100, 0},   {"x / y", NULL, quotient, 0.1, 100, 0},
    {"powf(x, y)", NULL, powl, 0.01, 20, 4},    {"atan2f(x, y)", NULL, atan2l, -10, 10, 3},
    {"hypotf(x, y)", NULL, hypotl, -10, 10, 3}, {"fmodf(x, y)", NULL, fmodl, 0.1, 1000, 0},
    {"rintf(x)", rintl, NULL, -100, 100, 0},    {"roundf(x)", roundl, NULL, -100, 100, 0},
};

static const struct function doubles[] = {
    {"exp(x)", expl, NULL, -700, 700, 1},      {"exp2(x)", exp2l, NULL, -1000, 1000, 1},
    {"expm1(x)", expm1l, NULL, -20, 80, 1},    {"log(x)", logl, NULL, 1e-3, 1e3, 1},
    {"log2(x)", log2l, NULL, 1e-3, 1e3, 1},    {"log1p(x)", log1pl, NULL, -0.99, 50, 1},
    {"sin(x)", sinl, NULL, -1000, 1000, 2},    {"cos(x)", cosl, NULL, -1000, 1000, 2},
    {"tan(x)", tanl, NULL, -100, 100, 2},      {"asin(x)", asinl, NULL, -1, 1, 2},
    {"atan(x)", atanl, NULL, -50, 50, 2},      {"sinh(x)", sinhl, NULL, -300, 300, 2},
    {"tanh(x)", tanhl, NULL, -20, 20, 2},      {"erf(x)", erfl, NULL, -5, 5, 2},
    {"erfc(x)", erfcl, NULL, -5, 20, 5},       {"tgamma(x)", tgammal, NULL, 0.1, 100, 10},
    {"sqrt(x)", sqrtl, NULL, 0, 1e6, 0},       {"rsqrt(x)", rsqrt_l, NULL, 1e-6, 1e6, 2},
    {"cbrt(x)", cbrtl, NULL, -1e6, 1e6, 1},    {"x / y", NULL, quotient, 0.1, 100, 0},
    {"pow(x, y)", NULL, powl, 0.01, 20, 2},    {"atan2(x, y)", NULL, atan2l, -10, 10, 2},
    {"hypot(x, y)", NULL, hypotl, -10, 10, 2}, {"fmod(x, y)", NULL, fmodl, 0.1, 1000, 0},
};

/* Of f16 and bf16: correctly rounded for all arguments, by corrections that the headers add to the approximate
 * instructions. */
static const struct function halves[] = {
    {"hexp(x)", expl, NULL, -9, 10, 0},           {"hexp2(x)", exp2l, NULL, -13, 15, 0},
    {"hexp10(x)", exp10_l, NULL, -4, 4, 0},       {"hlog(x)", logl, NULL, 0.01, 1000, 0},
    {"hlog2(x)", log2l, NULL, 0.01, 1000, 0},     {"hlog10(x)", log10l, NULL, 0.01, 1000, 0},
    {"hsin(x)", sinl, NULL, -60, 60, 0},          {"hcos(x)", cosl, NULL, -60, 60, 0},
    {"hsqrt(x)", sqrtl, NULL, 0.01, 1000, 0},     {"hrsqrt(x)", rsqrt_l, NULL, 0.01, 1000, 0},
    {"hrcp(x)", reciprocal, NULL, 0.01, 1000, 0}, {"htanh(x)", tanhl, NULL, -4, 4, 1},
    {"hceil(x)", ceill, NULL, -50, 50, 0},        {"hrint(x)", rintl, NULL, -50, 50, 0},
    {"x / y", NULL, quotient, 0.1, 100, 0},       {"__hfma(x, y, x)", NULL, fused, 0.1, 100, 0},
};

static const struct set {
    const struct function *functions;
    size_t n;
    const char *type, *memory, *header; /* memory: the type of the arrays, converted on the way */
    int mantissa;
} sets[] = {
    {singles, ARRAY_LEN(singles), "float", "float", "", 23},
    {doubles, ARRAY_LEN(doubles), "double", "double", "", 52},
    {halves, ARRAY_LEN(halves), "__half", "float", "#include <cuda_fp16.h>\n", 10},
    {halves, ARRAY_LEN(halves), "__nv_bfloat16", "float", "#include <cuda_bf16.h>\n", 7},
};

enum { LANES = 32, ROUNDS = 40 };

/* Units in the last place of the result type between got and the exact value, beyond what rounding costs. */
static double error_ulps(double got, long double want, int mantissa)
{
    int e = 0;
    frexpl(want, &e);
    long double ulp = ldexpl(1, e - 1 - mantissa), d = fabsl((long double)got - want) / ulp - 0.5L;
    return d == d ? (double)MAX(d, 0) : INFINITY;
}

struct run {
    struct ptx_module *m;
    struct ptx_mem *mem;
    uint64_t x, y, out;
    size_t size;
    const char *kernel;
};

static bool run_once(const struct run *r, const void *x, const void *y, void *out, size_t n)
{
    struct err err = {0};
    const void *args[] = {&r->out, &r->x, &r->y};
    struct ptx_launch l = {
        .kernel = r->kernel, .grid = {1, 1, 1}, .block = {LANES, 1, 1}, .args = args, .n_args = 3};
    struct ptx_options o = {.device = ptx_device_find("h200")};
    struct ptx_report report = {0};
    ptx_mem_write(r->mem, r->x, x, LANES * r->size, true);
    ptx_mem_write(r->mem, r->y, y, LANES * r->size, true);
    bool ok = ptx_run(r->m, r->mem, &l, &o, &report, &err) && report.end == PTX_DONE;
    if (!ok)
        printf("%s: %s\n", r->kernel, report.n_findings ? report.findings[0].words : err.text);
    ptx_report_clear(&report);
    return ok && ptx_mem_read(r->mem, r->out, out, n * LANES * r->size);
}

/* x without the bits that the set's type lacks. */
static double cut(double x, int mantissa)
{
    uint64_t u;
    memcpy(&u, &x, sizeof(u));
    u &= ~0ull << (52 - mantissa);
    memcpy(&x, &u, sizeof(x));
    return x;
}

/* Random arguments inside of the functions' ranges; the worst error of each function into worst. */
static bool measure(const struct run *r, const struct set *s, double *worst)
{
    struct rng g = {42};
    bool single = r->size == 4, ok = true;
    double *out = mem_alloc(s->n * LANES * sizeof(double));
    for (size_t k = 0; k < s->n * ROUNDS && ok; k++) {
        const struct function *f = &s->functions[k / ROUNDS];
        double x[LANES], y[LANES];
        float xf[LANES], yf[LANES];
        for (int l = 0; l < LANES; l++) {
            x[l] = cut(f->low + (f->high - f->low) * rng_unit(&g), s->mantissa);
            y[l] = cut(0.1 + 3 * rng_unit(&g), s->mantissa);
            xf[l] = (float)x[l];
            yf[l] = (float)y[l];
        }
        ok = run_once(r, single ? (void *)xf : x, single ? (void *)yf : y, out, s->n);
        for (size_t l = 0, at = k / ROUNDS * LANES; l < LANES && ok; l++, at++) {
            double got = single ? (double)((float *)out)[at] : out[at];
            double e = error_ulps(got, f->one ? f->one(x[l]) : f->two(x[l], y[l]), s->mantissa);
            worst[k / ROUNDS] = MAX(worst[k / ROUNDS], e);
        }
    }
    free(out);
    return ok;
}

static bool compile(struct nvrtc *nvrtc, struct arena *a, const struct set *s, struct run *r, struct err *err)
{
    struct str text = {0};
    struct compile_result c = {0};
    str_addf(&text, "%sextern \"C\" __global__ void functions(%s *out, const %s *xs, const %s *ys)\n{\n",
             s->header, s->memory, s->memory, s->memory);
    str_addf(&text, "    int i = threadIdx.x;\n    %s x = xs[i], y = ys[i];\n", s->type);
    for (size_t k = 0; k < s->n; k++)
        str_addf(&text, "    out[i + %zu] = %s;\n", k * LANES, s->functions[k].call);
    str_add(&text, "    (void)y;\n}\n");
    const char *kernel = "functions";
    struct compile_request q = {
        .path = "math.cu", .text = text.s, .arch = "sm_90", .kernels = &kernel, .n_kernels = 1};
    bool ok = gpu_compile(nvrtc, a, &q, &c, err);
    if (ok && c.end != COMPILE_DONE)
        ok = err_world(err, "%s", c.words);
    str_free(&text);
    if (!ok)
        return false;
    r->size = str_eq(s->memory, "float") ? 4 : 8;
    r->kernel = c.image.kernels[0].mangled;
    r->mem = ptx_mem_open(0);
    struct ptx_buffer in = {.name = "in", .size_bytes = LANES * r->size, .initialised = true};
    struct ptx_buffer out = {.name = "out", .size_bytes = s->n * LANES * r->size, .initialised = true};
    r->x = ptx_mem_alloc(r->mem, &in, err);
    r->y = ptx_mem_alloc(r->mem, &in, err);
    r->out = ptx_mem_alloc(r->mem, &out, err);
    return ptx_module_open(&r->m, "math", c.image.ptx, c.image.ptx_len, err);
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && str_eq(argv[1], "-v");
    struct arena *a = arena_open();
    struct nvrtc *nvrtc = NULL;
    struct err err = {0};
    size_t passed = 0, failed = 0;
    char line[4096];
    if (!nvrtc_open(&nvrtc, &err)) {
        printf("%s: skipped\n", err_format(&err, line, sizeof(line)));
        return 77;
    }
    for (const struct set *s = sets; s < sets + ARRAY_LEN(sets); s++) {
        double worst[64] = {0};
        struct run r = {0};
        if (!compile(nvrtc, a, s, &r, &err) || !measure(&r, s, worst)) {
            printf("%s: %s\n", s->type, err_format(&err, line, sizeof(line)));
            failed += s->n;
        } else {
            for (size_t k = 0; k < s->n; k++) {
                const struct function *f = &s->functions[k];
                bool good = worst[k] <= f->ulps;
                passed += good;
                failed += !good;
                if (!good || verbose)
                    printf("%-14s %-16s worst %.3g ulp, documented %.3g%s\n", s->type, f->call, worst[k],
                           f->ulps, good ? "" : ": FAILED");
            }
        }
        ptx_module_close(r.m);
        ptx_mem_close(r.mem);
    }
    nvrtc_close(nvrtc);
    arena_close(a);
    printf("%zu cases passed, %zu failed\n", passed, failed);
    return failed || !passed;
}
