/* The compiled file beside the judged one, shown differences that the launcher's reader would refuse today: the
 * file that was understood and the file that is compiled are two. */
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "test.h"

static struct nvrtc *nvrtc;
static struct arena *arena;
static struct err err;
static bool works;

static int open_all(void **state)
{
    (void)state;
    arena = arena_open();
    works = nvrtc_open(&nvrtc, &err) && gpu_nvcc_path(arena, nvrtc) && gpu_nvcc_works(nvrtc, arena);
    if (!works)
        fprintf(stderr, "the compiled file is not tested: there is no nvcc, or it lacks a host compiler\n");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    nvrtc_close(nvrtc);
    arena_close(arena);
    return 0;
}

#define KERNEL \
    "__global__ void fill(float *a, int n)\n{\n    if (threadIdx.x < n)\n        a[threadIdx.x] = 1;\n}\n"
#define LAUNCH(body) "extern \"C\" void go(float *a, int n, cudaStream_t stream)\n{\n" body "}\n"
#define PLAIN        KERNEL LAUNCH("    fill<<<N, 32, 0, stream>>>(a, n);\n")

/* What is said of `compiled` when the judge has understood `understood`; "" for nothing. */
static const char *said(const char *understood, const char *compiled)
{
    const struct compile_request q = {.path = "kernel.cu", .text = compiled, .arch = "sm_90"};
    struct kernel *k;
    struct gpu_build b;
    struct gpu_object o;
    struct err why = {0};

    if (!kernel_open(&k, arena, "kernel.cu", understood, strlen(understood), "go", &why))
        return arena_printf(arena, "%d: %s", why.line, why.text);
    assert_ok(gpu_nvcc_build(nvrtc, arena, &q, kernel_understood_text(arena, k), &b, &err), err);
    if (b.result.end != COMPILE_DONE)
        fail_msg("nvcc: %s", b.result.words);
    const struct kernel_output theirs = {b.path, b.host.text, b.host.len},
                               ours = {b.understood_path, b.understood.text, b.understood.len};
    gpu_object_check(arena, b.object, b.object_len, &o);
    if (kernel_same_words(k, &theirs, &ours, &why) && kernel_host_is_plain(k, o.constructors > 1, &why) &&
        kernel_calls_none(k, NULL, o.calls, o.n_calls, &why) && o.words)
        err_world(&why, "%s", o.words);
    gpu_build_close(&b);
    kernel_close(k);
    return why.kind == ERR_NONE ? "" : arena_printf(arena, "%d: %s", why.line, why.text);
}

static void expect(const char *understood, const char *compiled, const char *words)
{
    const char *is;

    if (!works)
        skip();
    is = said(understood, compiled);
    if (*words ? !strstr(is, words) : *is)
        fail_msg("of\n%s\nis said: %s\nnot: %s", compiled, is, words);
}

static void the_same_file_is_the_same(void **state)
{
    static const char *const texts[] = {
        "#define N 4\n" PLAIN,
        "#include <cassert>\n#include <cfloat>\n#include <climits>\n#define N 4\n"
        "__device__ float most()\n{\n    assert(N > 3);\n    return FLT_MAX - INT_MAX;\n}\n" PLAIN,
        "#include <cuda_fp16.h>\n#define CALL(k, ...) k __VA_ARGS__\n#define N CALL(1 +, 2)\n"
        "#pragma unroll\n__device__ __forceinline__ half one() { return __float2half(1.f); }\n" PLAIN,
        "#define TEXT(x) #x\n#define N sizeof(TEXT(a \"b\"))\n" PLAIN,
        /* assembler that a device alone has */
        "#define N 4\ntemplate <class T> struct s\n{\n    int n;\n"
        "    template <int W> __device__ static void a(int x)\n    {\n        if (x) {\n            asm(\"\");\n"
        "        }\n    }\n    __device__ int b() const { asm(\"\"); return n; }\n};\n" PLAIN,
        "#define N 4\n#define DEVICE __device__ inline\ntemplate <class T> DEVICE int of(T x) { return 0; }\n"
        "template <> DEVICE int of<int>(int x) { asm(\"\"); return x; }\n" PLAIN,
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (row_is_tried(i))
            expect(texts[i], texts[i], "");
}

/* A launcher that launches nothing when it is compiled: what the reader once took for the first file. */
static void other_words_are_seen(void **state)
{
    static const struct {
        const char *understood, *compiled, *words;
    } pairs[] = {
        {"#define N 4\n" PLAIN,
         "#define N 0\n#pragma push_macro(\"N\")\n#undef N\n#define N 4\n#pragma pop_macro(\"N\")\n" PLAIN,
         "reads `0` where the judge understood `4`"},
        {"#define N 4\n" PLAIN, "#define N 4\n// \\ \n#undef N\n#define N 3\n" PLAIN,
         "reads `3` where the judge understood `4`"},
        {KERNEL LAUNCH("    n = - -n;\n    fill<<<n, 32, 0, stream>>>(a, n);\n"),
         KERNEL LAUNCH("    n = -\\\n-n;\n    fill<<<n, 32, 0, stream>>>(a, n);\n"), "reads `--` where"},
        {KERNEL LAUNCH("    fill<<<4, 32, 0, stream>>>(a, n);\n"),
         "#if -1 > 0u\n#define N 3\n#else\n#define N 4\n#endif\n" PLAIN, "reads `3` where"},
        {"#define N 4\n" PLAIN, "#ifdef CUDART_VERSION\n#define N 3\n#else\n#define N 4\n#endif\n" PLAIN,
         "reads `3` where"},
        {"#define N 4\n" PLAIN, "#define N 4\n" PLAIN "static int more() { return 1; }\n",
         "reads `static` where"},
        {"#define N 4\n" PLAIN "static int more() { return 1; }\n", "#define N 4\n" PLAIN, "its end"},
        /* Code that hides as another file's. */
        {"#define N 4\n" PLAIN, "#define N 4\n#line 1 \"/usr/include/a.h\"\nstatic int hidden;\n" PLAIN,
         "claims to be another file's"},
        {"#define N 4\n" PLAIN,
         "#define N 4\nstatic const char *text = R\"(\n# 1 \"/usr/include/a.h\" 1\n)\";\nstatic int hidden;\n" PLAIN,
         "reads `static` where"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (row_is_tried(i))
            expect(pairs[i].understood, pairs[i].compiled, pairs[i].words);
}

/* The original text is looked at too: a marker of its own could enter another file. */
static void lines_may_not_be_renamed(void **state)
{
    const struct kernel_output nothing = {"kernel.cu", "", 0};
    struct kernel k = {.path = "kernel.cu", .text = "int a;\n# 7 \"/usr/include/a.h\" 1\n"};
    struct err why;
    (void)state;
    assert_false(kernel_same_words(&k, &nothing, &nothing, &why));
    assert_int_equal(why.line, 2);
    k.text = "int a;\n#line 7 \"a.h\"\nint b;\n"; /* blanked for the compiler */
    assert_true(kernel_same_words(&k, &nothing, &nothing, &why));
    k.text = "int a; // #1 is no directive\n/* # 2 */ #line 4\n";
    assert_false(kernel_same_words(&k, &nothing, &nothing, &why));
    assert_int_equal(why.line, 2);
    k.text = "int a; // #1 is no directive\n";
    assert_true(kernel_same_words(&k, &nothing, &nothing, &why));
}

static void hidden_host_code_is_seen(void **state)
{
    static const struct {
        const char *text, *words;
    } files[] = {
        {"#define N 4\nasm(\".globl evil\\nevil: ret\");\n" PLAIN, "assembler"},
        {"#define N 4\nstatic int evil(int x) { asm(\"\" : \"+r\"(x)); return x; }\n" PLAIN, "assembler"},
        {"#define N 4\nstruct s { __device__ int a() { return 1; } int b() { asm(\"\"); return 2; } };\n" PLAIN,
         "assembler"},
        {"#define N 4\nstruct s { __host__ __device__ void a() const { asm(\"\"); } };\n" PLAIN, "assembler"},
        {"#define N 4\ntemplate <class T> int of(T x) { return 0; }\n"
         "template <> int of<int>(int x) { asm(\"\"); return x; }\n" PLAIN,
         "assembler"},
        {"#define N 4\nextern \"C\" char *getenv(const char *);\nstatic int evil() { return getenv(\"A\") != 0; }\n"
         "static int state = evil();\n" PLAIN,
         "runs before"},
        {"#define N 4\nextern \"C\" int system(const char *);\n" KERNEL LAUNCH(
             "    if (n < 0)\n        system(\"true\");\n    fill<<<4, 32, 0, stream>>>(a, n);\n"),
         "calls system"},
        {"#define N 4\n#include <iostream>\nstruct s { __device__ void set(int x); int v; };\n"
         "__device__ __forceinline__ void s::set(int x) { v = x; }\n" PLAIN,
         ""}, /* a header's constructor, and a member's body */
        {"#define N 4\n__attribute__((constructor)) static void evil() {}\n" PLAIN, "runs before"},
        {"#define N 4\n__attribute__((section(\".evil\"))) int evil = 1;\n" PLAIN, "section .evil"},
        {"#define N 4\n__attribute__((destructor)) static void evil() {}\n" PLAIN, "section .fini_array"},
        {"#define N 4\nstatic int one() { return 1; }\nextern \"C\" int (*pick())() { return one; }\nint two() "
         "__attribute__((ifunc(\"pick\")));\n" PLAIN,
         "decided when it is loaded"},
        {"#define N 4\nthread_local int own = 1;\nint evil() { return own; }\n" PLAIN, "which no launcher has"},
        {"#define N 4\ntemplate <typename T> struct R { static int v; };\nint evil();\n"
         "template <typename T> int R<T>::v = evil();\ntemplate struct R<int>;\nint evil() { return 1; }\n" PLAIN,
         "runs before"},
        {"#define N 4\nextern \"C\" long write(int, const void *, unsigned long) { return 0; }\n" PLAIN,
         "defines write"},
        {"#define N 4\nextern \"C\" int __libc_start_main() { return 0; }\n" PLAIN, "defines __libc_start"},
        {"#define N 4\nvoid *operator new(unsigned long) { return nullptr; }\n" PLAIN, "defines _Znwm"},
        {"#define N 4\nextern \"C\" float expf(float) { return 1; }\n" PLAIN, "defines expf"},
        {"#define N 4\nextern \"C\" __attribute__((weak)) float expf(float) { return 1; }\n" PLAIN,
         "defines expf"},
        {"#define N 4\nextern \"C\" int helper_of_mine(int n) { return n + 1; }\n" PLAIN, ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (row_is_tried(i))
            expect(files[i].text, files[i].text, files[i].words);
}

static struct kernel *opened(const char *text)
{
    struct kernel *k;

    assert_ok(kernel_open(&k, arena, "kernel.cu", text, strlen(text), "go", &err), err);
    return k;
}

/* Of the task's own project: what the original calls without having it. */
static void what_the_original_lacks_may_be_lacking(void **state)
{
#define DECLARED "extern \"C\" bool is_even(unsigned);\n"
#define CALLS                      \
    "#define N 4\n" KERNEL LAUNCH( \
        "    if (n > 9 && is_even(n))\n        return;\n    fill<<<N, 32, 0, stream>>>(a, n);\n")
    const char *names[] = {"is_even"};
    struct kernel *k = opened(DECLARED CALLS),
                  *has = opened("extern \"C\" bool is_even(unsigned n) { return n % 2 == 0; }\n" CALLS),
                  *plain = opened("#define N 4\n" PLAIN);
    struct err why = {0};
    (void)state;

    assert_true(kernel_calls_none(k, k, names, 1, &why));
    assert_false(kernel_calls_none(k, plain, names, 1, &why));
    assert_false(kernel_calls_none(k, has, names, 1, &why));
    kernel_close(k);
    kernel_close(has);
    kernel_close(plain);
}

static void any_bytes_are_an_object(void **state)
{
    const struct compile_request q = {.path = "kernel.cu", .text = "#define N 4\n" PLAIN, .arch = "sm_90"};
    struct gpu_build b;
    struct gpu_object o;
    struct rng r = {7};
    (void)state;
    if (!works)
        skip();
    assert_ok(gpu_nvcc_build(nvrtc, arena, &q, q.text, &b, &err), err);
    uint8_t *bytes = arena_alloc(arena, b.object_len);
    for (int i = 0; i < 3000; i++) {
        memcpy(bytes, b.object, b.object_len);
        for (uint64_t k = 1 + rng_below(&r, 8); k > 0; k--)
            bytes[rng_below(&r, rng_below(&r, 2) ? b.object_len : 64)] = (uint8_t)rng_next(&r);
        gpu_object_check(arena, bytes, i % 3 ? b.object_len : rng_below(&r, b.object_len), &o);
    }
    gpu_object_check(arena, b.object, b.object_len, &o);
    assert_null(o.words);
    gpu_build_close(&b);
}

/* The branch that a file has for sm_90a alone, which it is compiled for where it says wgmma. */
static void the_device_pass_has_the_device_s_features(void **state)
{
    const struct compile_request q = {.path = "kernel.cu",
                                      .text = "// wgmma\n#if defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
                                              "__device__ int with_features;\n#else\n"
                                              "__device__ int without_features;\n#endif\n#define N 4\n" PLAIN,
                                      .arch = "sm_90"};
    struct gpu_build b;
    struct gpu_text made;
    const char *path;
    (void)state;
    if (!works)
        skip();
    assert_ok(gpu_nvcc_build(nvrtc, arena, &q, q.text, &b, &err), err);
    assert_ok(gpu_nvcc_device_pass(nvrtc, arena, &q, &b, &made, &path, &err), err);
    assert_non_null(strstr(made.text, "with_features"));
    assert_null(strstr(made.text, "without_features"));
    gpu_build_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_pass_has_the_device_s_features),
        cmocka_unit_test(the_same_file_is_the_same),
        cmocka_unit_test(other_words_are_seen),
        cmocka_unit_test(lines_may_not_be_renamed),
        cmocka_unit_test(hidden_host_code_is_seen),
        cmocka_unit_test(what_the_original_lacks_may_be_lacking),
        cmocka_unit_test(any_bytes_are_an_object),
    };

    return cmocka_run_group_tests_name("shipped", tests, open_all, close_all);
}
