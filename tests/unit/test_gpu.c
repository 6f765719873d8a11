#include "gpu/gpu.h"
#include "test.h"

static struct nvrtc *nvrtc;
static struct arena *arena;
static struct err err;

static int open_all(void **state)
{
    (void)state;
    arena = arena_open();
    if (!nvrtc_open(&nvrtc, &err))
        fprintf(stderr, "compiling is not tested: %s\n", err.text);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    nvrtc_close(nvrtc);
    arena_close(arena);
    return 0;
}

static struct compile_result compile_with(const char *text, const char *const *flags, size_t n_flags,
                                          const char *const *kernels, size_t n_kernels)
{
    struct compile_result r;
    struct compile_request q = {.path = "kernel.cu",
                                .text = text,
                                .arch = "sm_90",
                                .flags = flags,
                                .n_flags = n_flags,
                                .kernels = kernels,
                                .n_kernels = n_kernels};

    if (!nvrtc)
        skip();
    assert_ok(gpu_compile(nvrtc, arena, &q, &r, &err), err);
    return r;
}

static struct compile_result compile(const char *text)
{
    return compile_with(text, NULL, 0, NULL, 0);
}

/* ptxas has a symbol of this name, which it takes a variable for: addresses of shared memory are then the
 * variable's. */
static void a_constant_may_be_called_smem(void **state)
{
    static const char use[] =
        "__global__ void k(int *a) { __shared__ int s[SMEM]; s[0] = a[1]; a[0] = SMEM + s[a[2]]; }\n";
    static const struct {
        const char *declared;
        bool kept; /* nvcc would hand it to ptxas, too */
    } cases[] = {{"constexpr int BK = 64, SMEM = 3 * BK;\n", false},
                 {"static const int SMEM = 3;\n", false},
                 {"__device__ constexpr int SMEM = 3;\n", true},
                 {"#define SMEM 3\n", false},
                 {"enum { SMEM = 3 };\n", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct compile_result r = compile(arena_printf(arena, "%s%s", cases[i].declared, use));
        assert_int_equal(r.end, COMPILE_DONE);
        assert_int_equal(strstr(r.image.ptx, " SMEM ") != NULL, cases[i].kept);
    }
}

static void gives_ptx_cubin_and_resources(void **state)
{
    static const char *const kernels[] = {"add", "scale<4, float>"};
    struct compile_result r =
        compile_with("#include <cuda_fp16.h>\n#include <cstdint>\n"
                     "__global__ void add(float *a, int n) { __shared__ float s[64];\n"
                     "  s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s[n]; }\n"
                     "template <int N, class T> __global__ void scale(T *a) { a[threadIdx.x] *= N; }\n",
                     NULL, 0, kernels, 2);
    (void)state;
    assert_int_equal(r.end, COMPILE_DONE);
    assert_non_null(strstr(r.image.ptx, ".target sm_90"));
    assert_non_null(strstr(r.image.ptx, ".loc"));
    assert_memory_equal(r.image.cubin, "\177ELF", 4);
    assert_int_equal(r.image.n_kernels, 2);
    assert_string_equal(r.image.kernels[0].mangled, "_Z3addPfi");
    assert_string_equal(r.image.kernels[1].expression, "scale<4, float>");
    assert_non_null(strstr(r.image.ptx, r.image.kernels[1].mangled));
    assert_in_range(r.image.kernels[0].resources.registers, 4, 40);
    assert_int_equal(r.image.kernels[0].resources.shared_bytes, 256);
    assert_int_equal(r.image.kernels[1].resources.shared_bytes, 0);
}

static void counts_spills_and_stack(void **state)
{
    static const char *const flags[] = {"--maxrregcount=16"}, *const kernels[] = {"many"};
    struct compile_result r = compile_with(
        "__global__ void many(volatile float *a) { float v[64];\n#pragma unroll\nfor (int i = 0; i < 64; i++) v[i] = a[i];\n"
        "#pragma unroll\nfor (int i = 0; i < 64; i++) a[i] = v[63 - i] * v[i]; }",
        flags, 1, kernels, 1);
    (void)state;
    assert_int_equal(r.end, COMPILE_DONE);
    assert_true(r.image.kernels[0].resources.registers <= 24);
    const struct ptx_resources *x = &r.image.kernels[0].resources;
    assert_true(x->spill_store_bytes > 0);
    assert_true(x->stack_bytes > 0);
    /* The machine code's accesses, by line, are those that ptxas counts. */
    unsigned loaded = 0, stored = 0;
    for (size_t k = 0; k < x->n_sass; k++) {
        loaded += (unsigned)x->sass[k].local_loaded;
        stored += (unsigned)x->sass[k].local_stored;
    }
    assert_int_equal(loaded, x->spill_load_bytes);
    assert_int_equal(stored, x->spill_store_bytes);
}

static void flags_reach_the_compiler(void **state)
{
    static const char *const fast[] = {"--use_fast_math", "-DTWO=2"};
    const char *text = "__global__ void f(float *a) { a[0] = a[1] / a[TWO]; }";
    (void)state;
    assert_non_null(strstr(compile_with(text, fast, 2, NULL, 0).image.ptx, "div.approx.ftz.f32"));
    assert_non_null(strstr(compile_with(text, fast + 1, 1, NULL, 0).image.ptx, "div.rn.f32"));
}

static void refuses_unknown_flags(void **state)
{
    static const char *const bad[] = {
        "--include-path=/etc", "-I/etc", "-D__CUDACC_RTC__", "--maxrregcount", "--std=c++99", "use_fast_math",
        "--use_fast_math=1",   "-D",     "--dlink-time-opt", "--fmad=maybe"};
    static const char *const good[] = {"--use_fast_math",
                                       "-use_fast_math",
                                       "--fmad=false",
                                       "-DA",
                                       "-DB=1",
                                       "-O3",
                                       "--std=c++17",
                                       "-lineinfo",
                                       "--maxrregcount=64",
                                       "--expt-relaxed-constexpr"};
    const char *option;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(gpu_flag_check(arena, bad[i], &option, &err));
        assert_int_equal(err.kind, ERR_INPUT);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_ok(gpu_flag_check(arena, good[i], &option, &err), err);
}

static void says_the_first_error_and_its_line(void **state)
{
    struct compile_result r = compile("__global__ void f(float *a)\n{\n    a[0] = missing;\n}\n");
    (void)state;
    assert_int_equal(r.end, COMPILE_FAILED);
    assert_int_equal(r.line, 3);
    assert_non_null(strstr(r.words, "\"missing\" is undefined"));
    assert_non_null(strstr(r.words, "a[0] = missing;"));
}

static void shims_stand_for_host_headers(void **state)
{
    struct compile_result r = compile(
        "#include <cstdint>\n#include <stdint.h>\n#include <cstddef>\n#include <cmath>\n#include <math.h>\n#include <algorithm>\n"
        "#include <type_traits>\n#include <limits>\n#include <limits.h>\n#include <cfloat>\n#include <cstdio>\n"
        "#include <cassert>\n#include <cstring>\n#include <utility>\n#include <cuda_runtime.h>\n#include <iostream>\n#include <vector>\n"
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        "constexpr int half_of(int n) { return n / 2; }\n"
        "template <class T> __global__ void f(T *a, int64_t n, uintptr_t p, size_t s)\n{\n"
        "    static_assert(std::is_same_v<std::remove_const_t<const T>, float>, \"\");\n"
        "    static_assert(std::numeric_limits<int>::max() == INT32_MAX, \"\");\n"
        "    static_assert(std::max({1, 3, 2}) + std::min({4, 2}) == 5, \"\");\n"
        "    typename std::conditional<sizeof(T) == 4, uint32_t, uint64_t>::type u = 0;\n"
        "    assert(n > 0);\n"
        "    if (std::isnan(a[0])) printf(\"%d\\n\", half_of(4));\n"
        "    a[0] = std::max(std::min(a[1], FLT_MAX), std::numeric_limits<float>::lowest()) + std::exp(a[2]) + INFINITY;\n"
        "    a[u] = fmaxf(std::sqrt(a[3]), std::fabs(a[4])); memcpy(a, a + 8, 8);\n"
        "    std::swap(a[5], a[6]);\n"
        "}\n"
        "template __global__ void f<float>(float *, int64_t, uintptr_t, size_t);\ncudaStream_t unused();\n");
    (void)state;
    if (r.end != COMPILE_DONE)
        fail_msg("%s", r.image.log ? r.image.log : r.words);
}

/* What launches kernels of its own is left out; what stood in CUB before its version 3 is there. */
static void cub_is_what_devices_use(void **state)
{
    struct compile_result r = compile(
        "#include <cub/device/device_scan.cuh>\n#include <cub/util_allocator.cuh>\n"
        "__global__ void f(float *a, cub::ScanTileState<int> state, int n)\n{\n"
        "    __shared__ typename cub::WarpReduce<float>::TempStorage room;\n"
        "    state.InitializeStatus(n);\n"
        "    float most = cub::WarpReduce<float>(room).Reduce(a[threadIdx.x], cub::Max());\n"
        "    a[threadIdx.x] = cub::Sum()(most, 1) + cub::Min()(a[0], 2.f) + cub::Equality()(n, 3);\n}\n");
    (void)state;
    if (r.end != COMPILE_DONE)
        fail_msg("%s", r.image.log ? r.image.log : r.words);
}

static void includes_are_bounded(void **state)
{
    static const char *const bad[] = {"#include \"/etc/passwd\"\n",
                                      "#include <../include/cuda_fp16.h>\n",
                                      "%:include \"/etc/passwd\"\n",
                                      "#inc\\\nlude \"/etc/passwd\"\n",
                                      "#/**/include/* */\"/etc/passwd\"\n",
                                      "#define H <cstdint>\n#include H\n",
                                      "#include_next <cstdint>\n",
                                      "#include \"secret.h\"\n",
                                      "int a = 1'0;\n#include </etc/passwd>\n",
                                      "auto s = R\"x(\n)x\";\n#include \"/etc/passwd\"\n"};
    static const char *const good[] = {"// #include \"/etc/passwd\"\n", "/*\n#include \"/etc/passwd\"\n*/\n",
                                       "#include <cuda/std/cstdint>\n", "#include <vector_types.h>\n"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct compile_result r = compile(bad[i]);
        if (r.end != COMPILE_FAILED || r.line == 0)
            fail_msg("%d %d: %s: %s", r.end, r.line, bad[i], r.words);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (compile(good[i]).end != COMPILE_DONE)
            fail_msg("%s: %s", good[i], compile(good[i]).image.log);
}

static void own_headers_are_found(void **state)
{
    static const struct gpu_header headers[] = {
        {"common.h", "#pragma once\n__device__ inline int two() { return 2; }\n"}};
    struct compile_request q = {.path = "kernel.cu",
                                .text = "#include \"common.h\"\n__global__ void f(int *a) { *a = two(); }\n",
                                .arch = "sm_90",
                                .headers = headers,
                                .n_headers = 1};
    struct compile_result r;
    (void)state;
    if (!nvrtc)
        skip();
    assert_ok(gpu_compile(nvrtc, arena, &q, &r, &err), err);
    assert_int_equal(r.end, COMPILE_DONE);
}

static void cheats_are_named(void **state)
{
    static const struct {
        const char *text, *words;
        int line;
    } cases[] = {
        {"#ifdef __CUDACC_RTC__\n#endif\n", "which compiler", 1},
        {"\n#if defined(__NVCC__)\n#endif\n", "which compiler", 2},
        {"const char *f = __FILE__;\n", "which compiler", 1},
        {"#define C(a) a##_RTC__\n\n#if C(__CUDACC)\n#endif\n", "which compiler", 3},
        {"__global__ void f(long long *a)\n{\n *a = clock64(); }\n", "cycle counter", 3},
        {"__global__ void f(unsigned *a) { asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(*a)); }\n", "which SM",
         1},
        {"__global__ void f(unsigned long long *a) { asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(*a)); }\n",
         "wall clock", 1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct compile_result r = compile(cases[i].text);
        if (r.end != COMPILE_CHEAT)
            fail_msg("not seen as a cheat: %s%s", cases[i].text, r.words ? r.words : "");
        assert_non_null(strstr(r.words, cases[i].words));
        assert_int_equal(r.line, cases[i].line);
    }
    /* a comment, a string, a nap and a trap are none */
    assert_int_equal(compile("__global__ void f(int *a) { __nanosleep(100); *a = 1; }\n").end, COMPILE_DONE);
    assert_int_equal(
        compile("// __CUDACC__ and __FILE__\n__global__ void f(int *a) { if (*a) __trap(); }\n").end,
        COMPILE_DONE);
    assert_int_equal(compile("#include <cassert>\n__global__ void f(int *a) { assert(*a); }\n").end,
                     COMPILE_DONE);
    /* without the attribute of a launch these wait for nothing and start nothing */
    assert_int_equal(compile("__global__ void f(int *a) { cudaGridDependencySynchronize(); *a = 1;\n"
                             "cudaTriggerProgrammaticLaunchCompletion(); }\n")
                         .end,
                     COMPILE_DONE);
}

/* Names of the compiler, its library or the system: in the branches too, behind macros, and in what only looks
 * like the guard of a header. */
static void conditions_ask_for_no_platform(void **state)
{
    static const struct {
        const char *text;
        int line;
    } cheats[] = {
        {"#if 0\n#elif defined(__linux__)\n#endif\n", 2},
        {"#ifndef A\n#endif\n#ifdef unix\n#endif\n", 3},
        {"#define FIRST __GLIBC__\n#define SECOND FIRST\n#if 1\n#elif SECOND\n#endif\n", 1},
        {"#ifndef _STDIO_H\n#else\nint judged;\n#endif\n", 1},
        {"#ifndef _STDIO_H\n#elif 1\n#endif\n", 1},
        {"#ifndef _STDIO_H\nint judged;\n#endif\nint x;\n", 1},
        {"#ifndef _STDIO_H\nint judged;\n", 1},
    };
    static const char *const fine[] = {
        "#ifndef _KERNEL_CU_\n#define _KERNEL_CU_\n#if 1\n#else\n#endif\n__global__ void f() {}\n#endif\n",
        "#if __CUDA_ARCH__ >= 900 && !defined(_MSC_VER)\n__global__ void f() {}\n#endif\n",
        "#define UNASKED __GLIBC__\n#define TWO 2\n#if TWO == 2\n__global__ void f() {}\n#endif\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cheats); i++) {
        struct compile_result r = compile(cheats[i].text);
        if (r.end != COMPILE_CHEAT || r.line != cheats[i].line || !strstr(r.words, "a condition asks for"))
            fail_msg("%d, line %d: %s: %s", r.end, r.line, r.words ? r.words : "", cheats[i].text);
    }
    for (size_t i = 0; i < ARRAY_LEN(fine); i++)
        if (compile(fine[i]).end != COMPILE_DONE)
            fail_msg("%s: %s", compile(fine[i]).words, fine[i]);
}

static void a_file_has_a_size(void **state)
{
    size_t most = 1u << 20;
    char *text = arena_array(arena, char, most + 2);
    struct compile_result r;

    (void)state;
    memset(text, '\n', most);
    assert_int_equal(compile(text).end, COMPILE_DONE);
    text[most] = '\n';
    r = compile(text);
    assert_int_equal(r.end, COMPILE_FAILED);
    assert_non_null(strstr(r.words, "1 MiB"));
}

static void cooperative_groups_are_no_cheat(void **state)
{
    struct compile_result r =
        compile("#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
                "__global__ void f(int *a) { cg::this_grid().sync();\n"
                "  auto w = cg::tiled_partition<32>(cg::this_thread_block()); a[0] = w.shfl(1, 0); }\n");
    (void)state;
    if (r.end != COMPILE_DONE)
        fail_msg("%s", r.words);
}

static void a_missing_library_is_said(void **state)
{
    struct nvrtc *n;
    (void)state;
    setenv("ASTRA_NVRTC", "/nowhere/libnvrtc.so", 1);
    assert_false(nvrtc_open(&n, &err));
    assert_int_equal(err.kind, ERR_WORLD);
    assert_non_null(strstr(err.text, "/nowhere/libnvrtc.so"));
    unsetenv("ASTRA_NVRTC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_may_be_called_smem),
        cmocka_unit_test(gives_ptx_cubin_and_resources),
        cmocka_unit_test(counts_spills_and_stack),
        cmocka_unit_test(flags_reach_the_compiler),
        cmocka_unit_test(refuses_unknown_flags),
        cmocka_unit_test(says_the_first_error_and_its_line),
        cmocka_unit_test(shims_stand_for_host_headers),
        cmocka_unit_test(cub_is_what_devices_use),
        cmocka_unit_test(includes_are_bounded),
        cmocka_unit_test(own_headers_are_found),
        cmocka_unit_test(cheats_are_named),
        cmocka_unit_test(conditions_ask_for_no_platform),
        cmocka_unit_test(a_file_has_a_size),
        cmocka_unit_test(cooperative_groups_are_no_cheat),
        cmocka_unit_test(a_missing_library_is_said),
    };
    return cmocka_run_group_tests_name("gpu", tests, open_all, close_all);
}
