#include "test.h"

#include "mutant/mutant.h"

static const char file[] = "__global__ void k(float *out, const float *in, int n)\n"
                           "{\n"
                           "    float sum = 0.0f;\n"
                           "    for (int i = threadIdx.x; i < n; i += 32)\n"
                           "        sum += in[i] * -in[0];\n"
                           "    __syncthreads();\n"
                           "    if (n > 3)\n"
                           "        out[threadIdx.x] = fmaxf(sum, expf(in[1]));\n"
                           "}\n"
                           "extern \"C\" void f(float *out, const float *in, int n, cudaStream_t s)\n"
                           "{\n"
                           "    k<<<n / 2, 32, 0, s>>>(out, in, n);\n"
                           "}\n";

static bool has(const struct mutant *list, size_t n, const char *op, int line, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].op, op) && list[i].line == line && strstr(list[i].what, what))
            return true;
    return false;
}

static void test_source(void **state)
{
    struct arena *a = arena_open();
    const struct mutant *list, *again;
    struct kernel *k;
    struct err err = {0};
    size_t n, m;

    (void)state;
    assert_ok(kernel_open(&k, a, "f.cu", file, strlen(file), "f", &err), err);
    mutants_of_source(k, a, &list, &n);
    assert_true(has(list, n, "bound-off-by-one", 4, "`<` becomes `<=`"));
    assert_true(has(list, n, "stride-wrong", 4, "2 * (32)"));
    assert_true(has(list, n, "tail-skipped", 4, "(n) - 1"));
    assert_true(has(list, n, "start-skipped", 4, "(threadIdx.x) + 1"));
    assert_true(has(list, n, "axis-wrong", 8, "threadIdx.y"));
    assert_true(has(list, n, "sum-not-kept", 5, "`+=` becomes `=`"));
    assert_true(has(list, n, "accumulator-narrowed", 5, "sum"));
    assert_true(has(list, n, "sign-dropped", 5, "`in[0]`"));
    assert_true(has(list, n, "term-dropped", 5, "becomes `in[i]`"));
    assert_true(has(list, n, "sync-dropped", 6, "__syncthreads"));
    assert_true(has(list, n, "guard-removed", 7, "`true`"));
    assert_true(has(list, n, "store-dropped", 8, "out[threadIdx.x]"));
    assert_true(has(list, n, "min-max", 8, "`fmaxf` becomes `fminf`"));
    assert_true(has(list, n, "function-dropped", 8, "expf(in[1])"));
    assert_true(has(list, n, "operands-swapped", 12, "2 / n"));
    assert_true(has(list, n, "constant-off", 12, "`32` becomes `31`"));
    for (size_t i = 0; i < n; i++) { /* each differs from the file, and from every other */
        char *text = mutant_text(&list[i], a, file, strlen(file));
        assert_string_not_equal(text, file);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(list[i].id, list[j].id);
    }
    mutants_choose(list, n, 12, 7, a, &again, &m);
    assert_int_equal(m, 12);
    for (size_t i = 0; i < m; i++) /* more operators than faults asked for: none twice */
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(again[i].op, again[j].op);
    mutants_choose(list, n, n + 5, 7, a, &again, &m);
    assert_int_equal(m, n);
    kernel_close(k);
    arena_close(a);
}

static void test_ptx(void **state)
{
    static const char ptx[] =
        ".loc 1 5 0\n\tadd.f32 %f1, %f2, %f3;\n.loc 1 6 0\n@%p1 st.global.f32 [%rd1], %f1;\n"
        "\tfma.rn.f32 %f4, %f1, %f2, %f3;\n\tcvt.rn.bf16.f32 %rs1, %f4;\n// bar.sync 0;\n\tbar.sync \t0;\n";
    struct arena *a = arena_open();
    const struct mutant *list;
    size_t n;

    (void)state;
    mutants_of_ptx(ptx, strlen(ptx), a, &list, &n);
    assert_int_equal(n, 5);
    assert_true(has(list, n, "ptx-add-sub", 5, "`add.f32` becomes `sub.f32`"));
    assert_true(has(list, n, "ptx-store", 6, "is left out"));
    assert_true(has(list, n, "ptx-fma", 6, "becomes `mul.rn.f32 %f4, %f1, %f2`"));
    assert_true(has(list, n, "ptx-rounding", 6, "cvt.rz.bf16.f32"));
    assert_true(has(list, n, "ptx-barrier", 6, "bar.sync"));
    assert_non_null(strstr(mutant_text(&list[1], a, ptx, strlen(ptx)), "@%p1 \n"));
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_source), cmocka_unit_test(test_ptx)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
