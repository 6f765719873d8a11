/* A stand-in for libcublas.so, which ASTRA_CUBLAS names: products by columns, launched into the stream that it
 * was given, over the stand-in for the driver. It remembers what it was last asked for. FAKECUBLAS_FAIL=n:
 * products answer that status. FAKECUBLAS_TURNED=1: the first matrix is turned when it should not be, and the
 * other way round. FAKECUBLAS_EARLY=1: launches may begin before those ahead have ended. FAKECUBLAS_SILENT=1:
 * nothing is launched. */
#include "fake.h"

#include <dlfcn.h>

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { LAUNCH_EARLY = 6, THREADS = 32 };

struct asked { /* as tests read it */
    int turned_a, turned_b, m, n, k, type[3], lead[3], batch, compute, algorithm, math;
    long long stride[3];
    double alpha, beta;
    uint64_t addr[3], workspace, workspace_bytes;
    void *stream;
    unsigned products;
};
EXPORT extern struct asked fakecublas_asked;
struct asked fakecublas_asked;

/* to[row + col * lead_c] = scale * sum of a[row * a_down + i * a_along] * b[i * b_down + col * b_along]. */
static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
static const char text[] =
    ".visible .entry gemm_%s(.param .u64 to, .param .u64 a, .param .u64 b, .param .u32 m, .param .u32 k,\n"
    "  .param .u64 a_down, .param .u64 a_along, .param .u64 b_down, .param .u64 b_along, .param .u64 lead,\n"
    "  .param .u64 step_a, .param .u64 step_b, .param .u64 step_c, .param .f32 scale)\n"
    "{ .reg .u64 %%to, %%a, %%b, %%x, %%r, %%c, %%z; .reg .u32 %%t, %%u, %%m, %%k, %%i; .reg .f32 %%s, %%p, %%q;\n"
    "  .reg .b16 %%h; .reg .pred %%out;\n"
    "mov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%tid.x; mad.lo.u32 %%t, %%t, 32, %%u; ld.param.u32 %%m, [m];\n"
    "setp.ge.u32 %%out, %%t, %%m; @%%out ret; cvt.u64.u32 %%r, %%t;\n"
    "mov.u32 %%t, %%ctaid.y; cvt.u64.u32 %%c, %%t; mov.u32 %%t, %%ctaid.z; cvt.u64.u32 %%z, %%t;\n"
    "ld.param.u64 %%to, [to]; ld.param.u64 %%a, [a]; ld.param.u64 %%b, [b]; ld.param.u32 %%k, [k];\n"
    "ld.param.u64 %%x, [step_a]; mul.lo.u64 %%x, %%x, %%z; mad.lo.u64 %%a, %%x, %d, %%a;\n"
    "ld.param.u64 %%x, [a_down]; mul.lo.u64 %%x, %%x, %%r; mad.lo.u64 %%a, %%x, %d, %%a;\n"
    "ld.param.u64 %%x, [step_b]; mul.lo.u64 %%x, %%x, %%z; mad.lo.u64 %%b, %%x, %d, %%b;\n"
    "ld.param.u64 %%x, [b_along]; mul.lo.u64 %%x, %%x, %%c; mad.lo.u64 %%b, %%x, %d, %%b;\n"
    "ld.param.u64 %%x, [step_c]; mul.lo.u64 %%x, %%x, %%z; mad.lo.u64 %%to, %%x, %d, %%to;\n"
    "ld.param.u64 %%x, [lead]; mul.lo.u64 %%x, %%x, %%c; add.u64 %%x, %%x, %%r; mad.lo.u64 %%to, %%x, %d, %%to;\n"
    "ld.param.u64 %%x, [a_along]; mul.lo.u64 %%x, %%x, %d; ld.param.u64 %%z, [b_down]; mul.lo.u64 %%z, %%z, %d;\n"
    "mov.f32 %%s, 0f00000000; mov.u32 %%i, 0;\n"
    "again: setp.ge.u32 %%out, %%i, %%k; @%%out bra done;\n"
    "%s fma.rn.f32 %%s, %%p, %%q, %%s; add.u64 %%a, %%a, %%x; add.u64 %%b, %%b, %%z; add.u32 %%i, %%i, 1; bra again;\n"
    "done: ld.param.f32 %%p, [scale]; mul.f32 %%s, %%s, %%p; %s ret; }\n";

static struct {
    int (*load)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*launch)(const void *config, void *function, void **params, void **extra);
    void *kernels[2];
} driver;

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);

    BUG_IF(!found);
    return found;
}

static const char *kernel_text(struct str *s, const char *name, int size, const char *loads, const char *stores)
{
    str_add(s, head);
    str_addf(s, text, name, size, size, size, size, size, size, size, size, loads, stores);
    return str_text(s);
}

static int kernel(int which, const char *name, int size, const char *loads, const char *stores)
{
    struct str s = {0};
    void *module;
    char entry[32];
    int code = driver.load(&module, kernel_text(&s, name, size, loads, stores));

    snprintf(entry, sizeof(entry), "gemm_%s", name);
    str_free(&s);
    return code ? code : driver.function(&driver.kernels[which], module, entry);
}

EXPORT int cublasCreate_v2(void **handle)
{
    const char *path = getenv("ASTRA_CUDA_DRIVER");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *const found[] = {library ? symbol(library, "cuModuleLoadData") : NULL,
                           library ? symbol(library, "cuModuleGetFunction") : NULL,
                           library ? symbol(library, "cuLaunchKernelEx") : NULL};

    if (!library)
        return NOT_INITIALIZED;
    memcpy(&driver.load, &found[0], sizeof(found[0]));
    memcpy(&driver.function, &found[1], sizeof(found[1]));
    memcpy(&driver.launch, &found[2], sizeof(found[2]));
    *handle = &driver;
    return kernel(0, "f32", 4, "ld.global.f32 %p, [%a]; ld.global.f32 %q, [%b];", "st.global.f32 [%to], %s;") ||
                   kernel(
                       1, "f16", 2,
                       "ld.global.b16 %h, [%a]; cvt.f32.f16 %p, %h; ld.global.b16 %h, [%b]; cvt.f32.f16 %q, %h;",
                       "cvt.rn.f16.f32 %h, %s; st.global.b16 [%to], %h;")
               ? NOT_INITIALIZED
               : OK;
}

EXPORT int cublasDestroy_v2(void *handle)
{
    return handle == &driver ? OK : NOT_INITIALIZED;
}

EXPORT int cublasGetVersion_v2(void *handle, int *version)
{
    *version = 120304;
    return handle == &driver ? OK : NOT_INITIALIZED;
}

/* As the library does, it takes the workspace back. */
EXPORT int cublasSetStream_v2(void *handle, void *stream)
{
    fakecublas_asked.stream = stream;
    fakecublas_asked.workspace = 0;
    return handle == &driver ? OK : NOT_INITIALIZED;
}

EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes)
{
    fakecublas_asked.workspace = (uint64_t)(uintptr_t)workspace;
    fakecublas_asked.workspace_bytes = bytes;
    return handle == &driver ? OK : NOT_INITIALIZED;
}

EXPORT int cublasSetMathMode(void *handle, int mode)
{
    fakecublas_asked.math = mode;
    return handle == &driver ? OK : NOT_INITIALIZED;
}

EXPORT const char *cublasGetStatusName(int status)
{
    return status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}

struct launch {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned n_attributes;
};
struct attribute {
    int id, pad, value;
    char rest[60];
};

static int launch(const struct asked *q)
{
    bool turned_a = q->turned_a != (fake_number("FAKECUBLAS_TURNED", 0) != 0);
    uint64_t to = q->addr[2], a = q->addr[0], b = q->addr[1], lead = (uint64_t)q->lead[2], one = 1,
             lead_a = (uint64_t)q->lead[0], lead_b = (uint64_t)q->lead[1],
             stride[] = {(uint64_t)q->stride[0], (uint64_t)q->stride[1], (uint64_t)q->stride[2]};
    uint32_t m = (uint32_t)q->m, k = (uint32_t)q->k;
    float scale = (float)q->alpha;
    void *params[] = {&to,
                      &a,
                      &b,
                      &m,
                      &k,
                      turned_a ? &lead_a : &one,
                      turned_a ? &one : &lead_a,
                      q->turned_b ? &lead_b : &one,
                      q->turned_b ? &one : &lead_b,
                      &lead,
                      &stride[0],
                      &stride[1],
                      &stride[2],
                      &scale};
    struct attribute early = {.id = LAUNCH_EARLY, .value = 1};
    struct launch l = {.grid = {(m + THREADS - 1) / THREADS, (unsigned)q->n, (unsigned)q->batch},
                       .block = {THREADS, 1, 1},
                       .stream = q->stream,
                       .attributes = &early,
                       .n_attributes = fake_number("FAKECUBLAS_EARLY", 0) != 0};

    return driver.launch(&l, driver.kernels[q->type[0] == 2], params, NULL) ? INVALID_VALUE : OK;
}

static int product(const struct asked *q)
{
    int told = (int)fake_number("FAKECUBLAS_FAIL", 0);
    bool plain = q->type[0] == q->type[1] && q->type[0] == q->type[2] && (q->type[0] == 0 || q->type[0] == 2);
    int rows_a = q->turned_a ? q->k : q->m, rows_b = q->turned_b ? q->n : q->k;

    fakecublas_asked = *q;
    fakecublas_asked.products++;
    if (told)
        return told;
    if (q->m < 1 || q->n < 1 || q->k < 1 || q->batch < 1 || q->lead[0] < rows_a || q->lead[1] < rows_b ||
        q->lead[2] < q->m || !q->workspace)
        return INVALID_VALUE;
    if (fake_number("FAKECUBLAS_SILENT", 0) != 0)
        return OK;
    return plain && q->compute == 68 ? launch(q) : NOT_SUPPORTED;
}

static double number(int compute, const void *at)
{
    if (compute == 70)
        return *(const double *)at;
    return compute == 68 ? *(const float *)at : *(const int *)at;
}

EXPORT int cublasGemmStridedBatchedEx(void *handle, int turned_a, int turned_b, int m, int n, int k,
                                      const void *alpha, const void *a, int type_a, int lead_a,
                                      long long stride_a, const void *b, int type_b, int lead_b,
                                      long long stride_b, const void *beta, void *c, int type_c, int lead_c,
                                      long long stride_c, int batch, int compute, int algorithm)
{
    struct asked q = fakecublas_asked;

    q.turned_a = turned_a, q.turned_b = turned_b;
    q.m = m, q.n = n, q.k = k, q.batch = batch, q.compute = compute, q.algorithm = algorithm;
    memcpy(q.type, (int[]){type_a, type_b, type_c}, sizeof(q.type));
    memcpy(q.lead, (int[]){lead_a, lead_b, lead_c}, sizeof(q.lead));
    memcpy(q.stride, (long long[]){stride_a, stride_b, stride_c}, sizeof(q.stride));
    memcpy(q.addr, (uint64_t[]){(uintptr_t)a, (uintptr_t)b, (uintptr_t)c}, sizeof(q.addr));
    q.alpha = number(compute, alpha);
    q.beta = number(compute, beta);
    return handle == &driver ? product(&q) : NOT_INITIALIZED;
}

EXPORT int cublasGemmEx(void *handle, int turned_a, int turned_b, int m, int n, int k, const void *alpha,
                        const void *a, int type_a, int lead_a, const void *b, int type_b, int lead_b,
                        const void *beta, void *c, int type_c, int lead_c, int compute, int algorithm)
{
    return cublasGemmStridedBatchedEx(handle, turned_a, turned_b, m, n, k, alpha, a, type_a, lead_a, 0, b,
                                      type_b, lead_b, 0, beta, c, type_c, lead_c, 0, 1, compute, algorithm);
}
