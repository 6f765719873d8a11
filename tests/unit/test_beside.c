/* A library beside versions: which kernels are products, in which numbers, and what cuBLAS is asked for; over
 * the stand-ins for the driver and the library. */
#include "judge/beside.h"
#include "test.h"

#include <dlfcn.h>

static struct arena *arena;
static struct err err;

static int open_all(void **state)
{
    (void)state;
    arena = arena_open();
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_close(arena);
    return 0;
}

/* ---- by columns, against indices ---- */

enum { MOST = 4096 };

/* As the library's documentation has it, in a loop. */
static void gemm(const struct beside_call *call, const double *const m[3], double *c)
{
    const struct cublas_product *p = &call->product;
    const struct cublas_matrix *a = &p->matrix[0], *b = &p->matrix[1], *to = &p->matrix[2];

    for (int i = 0; i < p->batch; i++)
        for (int col = 0; col < p->n; col++)
            for (int row = 0; row < p->m; row++) {
                double sum = 0;
                for (int k = 0; k < p->k; k++)
                    sum += m[0][i * a->stride +
                                (a->turned ? k + (long long)row * a->lead : row + (long long)k * a->lead)] *
                           m[1][i * b->stride +
                                (b->turned ? col + (long long)k * b->lead : k + (long long)col * b->lead)];
                c[i * to->stride + row + (long long)col * to->lead] = sum;
            }
}

static void by_index(const struct product *p, const double *a, const double *b, double *c)
{
    for (int64_t i = 0; i < p->batch; i++)
        for (int64_t row = 0; row < p->m; row++)
            for (int64_t col = 0; col < p->n; col++) {
                double sum = 0;
                for (int64_t k = 0; k < p->k; k++)
                    sum += a[i * p->a.batch_step + row * p->a.step[0] + k * p->a.step[1]] *
                           b[i * p->b.batch_step + k * p->b.step[0] + col * p->b.step[1]];
                c[i * p->c.batch_step + row * p->c.step[0] + col * p->c.step[1]] = sum;
            }
}

/* down x along by rows or by columns, with so much room behind each. */
static struct product_matrix matrix(int buffer, int64_t down, int64_t along, bool columns, int64_t room)
{
    struct product_matrix m = {.buffer = buffer, .type = "float"};

    m.step[columns] = (columns ? down : along) + room;
    m.step[!columns] = 1;
    m.batch_step = m.step[columns] * (columns ? along : down) + room;
    return m;
}

static void products_by_columns(void **state)
{
    static const int64_t sizes[][4] = {{5, 7, 3, 1}, {1, 6, 4, 2}, {6, 1, 5, 1}, {4, 4, 1, 3}, {1, 1, 9, 1}};
    static double a[MOST], b[MOST], want[MOST], got[MOST];

    (void)state;
    for (int i = 0; i < MOST; i++) {
        a[i] = (i * 37) % 101 - 50;
        b[i] = (i * 53) % 89 - 44;
    }
    for (size_t s = 0; s < ARRAY_LEN(sizes); s++)
        for (int how = 0; how < 16; how++) {
            const int64_t *x = sizes[s], room = how & 8 ? 3 : 0;
            struct product p = {
                .m = x[0], .n = x[1], .k = x[2], .batch = x[3], .scale = 1, .sum_type = "float"};
            struct beside_call call;
            const double *in[3];
            p.a = matrix(0, p.m, p.k, how & 1, room);
            p.b = matrix(1, p.k, p.n, how & 2, room);
            p.c = matrix(2, p.m, p.n, how & 4, room);
            assert_ok(beside_call_of(&p, &call, &err), err);
            for (int i = 0; i < 3; i++)
                in[i] = call.matrix[i]->buffer == 0 ? a : b;
            assert_int_equal(call.matrix[2]->buffer, 2);
            memset(want, 0, sizeof(want));
            memset(got, 0, sizeof(got));
            by_index(&p, a, b, want);
            gemm(&call, in, got);
            assert_memory_equal(want, got, sizeof(want));
        }
}

static void what_the_library_has_not(void **state)
{
    struct product p = {.m = 4, .n = 4, .k = 4, .batch = 1, .sum_type = "float"};
    struct beside_call call;

    (void)state;
    p.a = matrix(0, 4, 4, false, 0);
    p.b = matrix(1, 4, 4, false, 0);
    p.c = matrix(2, 4, 4, false, 0);
    p.a.step[1] = 2; /* every second element of a row, rows 4 apart */
    err = (struct err){0};
    assert_false(beside_call_of(&p, &call, &err));
    assert_non_null(strstr(err.text, "do not lie"));
    p.a.step[1] = 1;
    p.c.type = "__half";
    err = (struct err){0};
    assert_false(beside_call_of(&p, &call, &err));
    assert_non_null(strstr(err.text, "into __half"));
    p.a.type = p.b.type = "__half";
    assert_ok(beside_call_of(&p, &call, &err), err);
    assert_int_equal(call.product.compute, CUBLAS_COMPUTE_F32);
    assert_int_equal(call.product.matrix[2].type, CUBLAS_F16);
    err = (struct err){0};
    assert_false(judge_beside_known("cublas,sdpa", &err));
    assert_non_null(strstr(err.text, "\"sdpa\""));
    assert_true(judge_beside_known("cublas", &err));
}

/* ---- kernels ---- */

static const char sizes_and_launch[] =
    "extern \"C\" void product(float *c, const float *a, const float *b, int m, int n, int k, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8, Z);\n"
    "    product_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);\n"
    "}\n";

static const char kernel_head[] =
    "__global__ void product_kernel(float *c, const float *a, const float *b, int m, "
    "int n, int k)\n"
    "{\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n";

/* For 24 x 40 x 56. */
static bool product_of_text(const char *text, struct product *p)
{
    const struct kernel_limits limits = {.sm_count = 100,
                                         .cc_major = 9,
                                         .max_threads_per_block = 1024,
                                         .warp_size = 32,
                                         .shared_per_block = 49152};
    const int64_t numbers[] = {24, 40, 56};
    struct kernel_value args[6];
    struct kernel *k;
    struct plan plan;

    for (int i = 0; i < 3; i++) {
        args[i] = (struct kernel_value){.type = KT_F32, .pointer = true, .p = {.buffer = i}};
        args[3 + i] = (struct kernel_value){.type = KT_I32, .i = numbers[i]};
    }
    err = (struct err){0};
    assert_ok(kernel_open(&k, arena, "kernel.cu", text, strlen(text), "product", &err), err);
    assert_ok(kernel_plan(&plan, arena, k, args, NULL, &limits, &err), err);
    bool ok = product_of_plan(k, &limits, &plan, arena, p, &err);
    kernel_close(k);
    return ok;
}

/* The kernel with these lines. */
static bool product_in(const char *before, const char *added, const char *stored, int z, struct product *p)
{
    return product_of_text(
        arena_printf(
            arena,
            "#define Z %d\n%s%s    if (row >= m || col >= n)\n        return;\n"
            "    float sum = 0.0f;\n    for (int i = 0; i < k; i++)\n        sum += %s;\n    %s\n}\n%s",
            z, kernel_head, before, added, stored, sizes_and_launch),
        p);
}

static void assert_matrix(const struct product_matrix *m, int buffer, int64_t down, int64_t along,
                          int64_t batch)
{
    assert_int_equal(m->buffer, buffer);
    assert_int_equal(m->step[0], down);
    assert_int_equal(m->step[1], along);
    assert_int_equal(m->batch_step, batch);
}

#define PRODUCT "a[(long long)row * k + i] * b[(long long)i * n + col]"

static void products_in_kernels(void **state)
{
    struct product p;

    (void)state;
    assert_ok(product_in("", PRODUCT, "c[(long long)row * n + col] = sum;", 1, &p), err);
    assert_int_equal(p.m, 24);
    assert_int_equal(p.n, 40);
    assert_int_equal(p.k, 56);
    assert_int_equal(p.batch, 1);
    assert_null(p.left_out);
    assert_matrix(&p.a, 1, 56, 1, 0);
    assert_matrix(&p.b, 2, 40, 1, 0);
    assert_matrix(&p.c, 0, 40, 1, 0);

    assert_ok(product_in("", "b[col * k + i] * a[i * m + row]", "c[row * n + col] = sum;", 1, &p), err);
    assert_matrix(&p.a, 1, 1, 24, 0);
    assert_matrix(&p.b, 2, 1, 56, 0);

    assert_ok(product_in("    const float *of = a + (long long)blockIdx.z * m * k;\n",
                         "of[row * k + i] * b[i * n + col + blockIdx.z * (k * n)]",
                         "c[((long long)blockIdx.z * m + row) * n + col] = sum;", 5, &p),
              err);
    assert_int_equal(p.batch, 5);
    assert_matrix(&p.a, 1, 56, 1, 24 * 56);
    assert_matrix(&p.b, 2, 40, 1, 56 * 40);
    assert_matrix(&p.c, 0, 40, 1, 24 * 40);

    /* One matrix for all products, and a start that is none of the argument's. */
    assert_ok(product_in("", "a[row * k + i + 16] * b[i * n + col]",
                         "c[(blockIdx.z * m + row) * n + col] = sum;", 2, &p),
              err);
    assert_matrix(&p.b, 2, 40, 1, 0);
    assert_int_equal(p.a.start_bytes, 64);
}

/* A matrix times a vector, and one index over all results. */
static void other_grids(void **state)
{
    static const char kernel[] =
        "__global__ void product_kernel(float *c, const float *a, const float *b, int m, int n, int k)\n{\n"
        "    int at = blockIdx.x * blockDim.x + threadIdx.x;\n%s"
        "    float sum = 0.0f;\n    for (int i = 0; i < k; i++)\n        sum += a[%s * k + i] * b[%s];\n"
        "    c[%s] = sum;\n}\n"
        "extern \"C\" void product(float *c, const float *a, const float *b, int m, int n, int k, cudaStream_t s)\n"
        "{\n    product_kernel<<<(%s + 63) / 64, 64, 0, s>>>(c, a, b, m, n, k);\n}\n";
    struct product p;
    struct beside_call call;

    (void)state;
    assert_ok(product_of_text(
                  arena_printf(arena, kernel, "    if (at >= m)\n        return;\n", "at", "i", "at", "m"), &p),
              err);
    assert_int_equal(p.m, 24);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.k, 56);
    assert_matrix(&p.a, 1, 56, 1, 0);
    assert_int_equal(p.b.step[0], 1);
    assert_int_equal(p.c.step[0], 1);
    assert_ok(beside_call_of(&p, &call, &err), err);
    assert_int_equal(call.product.n, 1);
    assert_true(call.product.matrix[0].turned && call.product.matrix[0].lead == 56);

    for (int flat = 0; flat < 2; flat++) {
        assert_ok(product_of_text(arena_printf(arena, kernel,
                                               "    if (at >= m * n)\n        return;\n"
                                               "    int row = at / n;\n    int col = at % n;\n",
                                               "row", "i * n + col", flat ? "at" : "row * n + col", "m * n"),
                                  &p),
                  err);
        assert_int_equal(p.m, 24);
        assert_int_equal(p.n, 40);
        assert_matrix(&p.a, 1, 56, 1, 0);
        assert_matrix(&p.b, 2, 40, 1, 0);
        assert_matrix(&p.c, 0, 40, 1, 0);
    }
}

static void more_than_a_product(void **state)
{
    struct product p;

    (void)state;
    assert_ok(product_in("", PRODUCT, "c[row * n + col] = fmaxf(sum, 0.0f);", 1, &p), err);
    assert_non_null(p.left_out);
    assert_ok(product_in("", PRODUCT, "sum = sum * 2; c[row * n + col] = sum;", 1, &p), err);
    assert_non_null(p.left_out);
    assert_ok(product_in("", PRODUCT, "c[row * n + col] = 0.5f * sum;", 1, &p), err);
    assert_true(!p.left_out && p.scale == 0.5);
    assert_ok(product_in("", PRODUCT, "c[row * n + col] = sum * (float)k;", 1, &p), err);
    assert_true(!p.left_out && p.scale == 56);
    assert_ok(product_in("", PRODUCT, "c[row * n + col] = sum * a[0];", 1, &p), err);
    assert_non_null(p.left_out);
    assert_false(product_in("", PRODUCT, "c[row * n + col] += sum;", 1, &p));
    assert_non_null(strstr(err.text, "does not assign"));
    assert_false(product_in("", "fabsf(a[row * k + i] - b[i * n + col])", "c[row * n + col] = sum;", 1, &p));
    assert_non_null(strstr(err.text, "no products"));
    /* The operand of two products together: no one distance. */
    assert_false(product_in("", "a[(blockIdx.z / 2 * m + row) * k + i] * b[i * n + col]",
                            "c[(blockIdx.z * m + row) * n + col] = sum;", 4, &p));
    assert_non_null(strstr(err.text, "one distance"));
}

/* ---- the library, over the stand-in for the driver ---- */

struct asked { /* tests/fakecuda/cublas.c */
    int turned_a, turned_b, m, n, k, type[3], lead[3], batch, compute, algorithm, math;
    long long stride[3];
    double alpha, beta;
    uint64_t addr[3], workspace, workspace_bytes;
    void *stream;
    unsigned products;
};

static const struct asked *asked(void)
{
    const char *path = getenv("ASTRA_CUBLAS");
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    assert_non_null(library);
    const struct asked *of = dlsym(library, "fakecublas_asked");
    assert_non_null(of);
    return of;
}

/* 4 x 3 by columns from 4 x 5 and 5 x 3, of small integers. */
static void the_library_asked(void **state)
{
    struct cublas_product p = {.m = 4,
                               .n = 3,
                               .k = 5,
                               .batch = 1,
                               .scale = 1,
                               .compute = CUBLAS_COMPUTE_F32,
                               .matrix = {{.lead = 4}, {.lead = 5}, {.lead = 4}}};
    struct cublas_product batched = p;
    struct cuda_buffers *s;
    struct cuda_graph *graph;
    struct ptx_report r;
    struct cublas *b;
    struct cuda *c;
    float a[20], x[15], got[12], want[12] = {0};
    uint64_t addr[3];
    double us[2];

    (void)state;
    for (int i = 0; i < 20; i++)
        a[i] = (float)(i % 7) - 3;
    for (int i = 0; i < 15; i++)
        x[i] = (float)(i % 5) - 2;
    for (int row = 0; row < 4; row++)
        for (int col = 0; col < 3; col++)
            for (int k = 0; k < 5; k++)
                want[row + 4 * col] += a[row + 4 * k] * x[k + 5 * col];
    assert_ok(cuda_open(&c, 0, &err), err);
    assert_ok(cublas_open(&b, c, &err), err);
    assert_string_equal(cublas_version(b, arena), "12.3.4");
    assert_int_equal(asked()->math, 0);
    assert_true(asked()->workspace && asked()->workspace_bytes >= 32 << 20);
    assert_ok(cuda_buffers_open(&s, c, CUDA_PLAIN, 0, &err), err);
    for (int i = 0; i < 3; i++)
        assert_true(addr[i] =
                        cuda_buffers_alloc(s, &(struct cuda_buffer){.name = "x", .size_bytes = 256}, &err));
    assert_ok(cuda_write(c, addr[0], a, sizeof(a), &err) && cuda_write(c, addr[1], x, sizeof(x), &err), err);
    assert_ok(cublas_run(b, &p, addr, &err), err);
    assert_ok(cuda_read(c, addr[2], got, sizeof(got), &err), err);
    assert_memory_equal(got, want, sizeof(want));
    assert_true(asked()->alpha == 1 && asked()->beta == 0 && asked()->algorithm == -1 && asked()->batch == 1);

    /* Recorded between a set and a copy, twice; launches that would begin early wait for those ahead. */
    for (int early = 0; early < 2; early++) {
        setenv("FAKECUBLAS_EARLY", early ? "1" : "0", 1);
        assert_ok(cuda_graph_open(&graph, c, &err) && cuda_graph_set(graph, addr[2], 255, 256, &err), err);
        for (int i = 0; i < 3; i++)
            assert_ok(cuda_graph_product(graph, b, &p, addr, &err), err);
        assert_ok(cuda_graph_copy(graph, addr[2] + 128, addr[2], 48, &err) && cuda_graph_seal(graph, &err),
                  err);
        assert_ok(cuda_graph_time(graph, 1, 10, &us[early], &r, &err), err);
        assert_int_equal(r.end, PTX_DONE);
        assert_ok(cuda_read(c, addr[2] + 128, got, sizeof(got), &err), err);
        assert_memory_equal(got, want, sizeof(want));
        cuda_graph_close(graph);
    }
    unsetenv("FAKECUBLAS_EARLY");
    assert_true(us[0] == us[1]);

    batched.batch = 2;
    batched.matrix[0].stride = 20;
    assert_ok(cublas_run(b, &batched, addr, &err), err);
    assert_int_equal(asked()->batch, 2);
    assert_int_equal(asked()->stride[0], 20);

    /* A refusal, alone and within a graph, which can be closed then. */
    setenv("FAKECUBLAS_FAIL", "15", 1);
    assert_false(cublas_run(b, &p, addr, &err));
    assert_non_null(strstr(err.text, "CUBLAS_STATUS_NOT_SUPPORTED (15)"));
    assert_ok(cuda_graph_open(&graph, c, &err), err);
    assert_false(cuda_graph_product(graph, b, &p, addr, &err));
    cuda_graph_close(graph);
    unsetenv("FAKECUBLAS_FAIL");
    setenv("FAKECUBLAS_SILENT", "1", 1);
    assert_ok(cuda_graph_open(&graph, c, &err), err);
    assert_false(cuda_graph_product(graph, b, &p, addr, &err));
    assert_non_null(strstr(err.text, "launched nothing"));
    cuda_graph_close(graph);
    unsetenv("FAKECUBLAS_SILENT");
    assert_ok(cublas_run(b, &p, addr, &err), err);
    cublas_close(b);
    cuda_buffers_close(s);
    cuda_close(c);
}

static void no_library(void **state)
{
    char *own = arena_strdup(arena, getenv("ASTRA_CUBLAS"));

    (void)state;
    setenv("ASTRA_CUBLAS", "/nowhere/libcublas.so.12", 1);
    err = (struct err){0};
    assert_false(cublas_look(NULL, NULL, &err));
    assert_non_null(strstr(err.text, "ASTRA_CUBLAS=/nowhere"));
    setenv("ASTRA_CUBLAS", getenv("ASTRA_CUDA_DRIVER"), 1); /* a library, but another */
    assert_false(cublas_look(NULL, NULL, &err));
    assert_non_null(strstr(err.text, "no usable cuBLAS"));
    setenv("ASTRA_CUBLAS", own, 1);
    const char *path = NULL;
    assert_ok(cublas_look(arena, &path, &err), err);
    assert_string_equal(path, own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_by_columns), cmocka_unit_test(what_the_library_has_not),
        cmocka_unit_test(products_in_kernels), cmocka_unit_test(other_grids),
        cmocka_unit_test(more_than_a_product), cmocka_unit_test(the_library_asked),
        cmocka_unit_test(no_library),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
