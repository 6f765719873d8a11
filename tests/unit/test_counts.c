/* Counters that run over: what one block adds of millions of equal elements, asked of versions one by one. */
#include "judge/internal.h"
#include "test.h"

static struct err err;

/* Behind the input that is counted stands a small one, of integers, too. */
static const char task_text[] =
    "name: counted\nsource: kernel.cu\nentry: run\nargs:\n"
    "  - {name: counts, type: u32, shape: [16], role: out}\n"
    "  - {name: values, type: u8, shape: [n], role: in, values: {kind: index, low: 0, "
    "high: 16}}\n"
    "  - {name: offset, type: i32, shape: [16], role: in, values: {kind: index, low: 0, "
    "high: 2}}\n"
    "  - {name: n, type: i64, value: n}\n"
    "dims: [n]\ndomain: [n >= 1, n <= 4294967296]\nworkloads: [[4096], [1048576]]\n";

/* loop: what is done with a value v; out: what becomes of a block's counter c; grid: blocks at most. */
static const char *kernel_of(struct arena *a, const char *loop, const char *out, int grid)
{
    return arena_printf(
        a,
        "__global__ void k(unsigned *counts, const unsigned char *values, const int *offset, long long n)\n{\n"
        "    __shared__ unsigned s[16];\n    if (threadIdx.x < 16) s[threadIdx.x] = 0;\n    __syncthreads();\n"
        "    long long stride = (long long)gridDim.x * blockDim.x;\n"
        "    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {\n"
        "        unsigned v = values[i];\n        %s\n    }\n    __syncthreads();\n"
        "    if (threadIdx.x < 16) {\n        unsigned c = s[threadIdx.x];\n"
        "        atomicAdd(&counts[threadIdx.x], %s);\n    }\n}\n"
        "extern \"C\" void run(unsigned *counts, const unsigned char *values, const int *offset, long long n, "
        "cudaStream_t stream)\n{\n"
        "    long long wanted = (n + 127) / 128;\n    int blocks = wanted < %d ? (int)wanted : %d;\n"
        "    cudaMemsetAsync(counts, 0, 64, stream);\n"
        "    k<<<blocks, 128, 0, stream>>>(counts, values, offset, n);\n}\n",
        loop, out, grid, grid);
}

static const char plain[] = "atomicAdd(&s[v], 1u);";

static struct judge *judge_of(struct arena *a, const char *dir, const char *original)
{
    static const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true, .confirm = true};
    struct task *task;
    struct judge *j;

    assert_ok(fs_write_text(fs_join(a, dir, "kernel.cu"), original, &err), err);
    assert_ok(fs_write_text(fs_join(a, dir, "task.yaml"), task_text, &err), err);
    assert_ok(task_open(&task, a, dir, &err), err);
    assert_ok(judge_open(&j, task, &o, &err), err);
    return j;
}

/* What counts_verify says of a version; NULL: nothing. */
static const char *said(struct judge *j, struct arena *a, const char *text, bool shared_out)
{
    struct version v = {.judge = j, .arena = a, .task = j->task};
    struct fate fate = {0};

    assert_ok(version_open(&v, "candidate.cu", text, &fate, &err), err);
    assert_true(fate_open(&fate));
    v.shared_out = shared_out;
    assert_ok(counts_verify(&v, a, &fate, &err), err);
    version_close(&v);
    return fate_open(&fate) ? NULL : fate.words;
}

static bool have_compiler(void)
{
    struct nvrtc *n;

    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "not tested: %s\n", err.text);
        return false;
    }
    nvrtc_close(n);
    return true;
}

static void narrow_counters_are_found(void **state)
{
    static const struct {
        const char *loop, *out;
        int grid;
        bool wrong;
    } versions[] = {
        {plain, "c", 8, false},
        {plain, "c & 0xffffffu", 64, true}, /* more blocks, and a larger shape */
        {plain, "c & 0xffffu", 8, true},
        {plain, "c & 0x1ffffffu", 8, false}, /* 25 bits take all that one block is given */
        /* emptied in time */
        {"if (atomicAdd(&s[v], 1u) == 0xffffu) { atomicSub(&s[v], 0x10000u); atomicAdd(&counts[v], 0x10000u); }",
         "c", 8, false},
        /* two at a time, and nothing of what is odd */
        {"if (threadIdx.x % 2 == 0) atomicAdd(&s[v], 2u);", "c", 8, false},
    };
    struct arena *a = arena_open();
    const char *dir = fs_temp_dir(a, &err);

    (void)state;
    if (!have_compiler())
        return;
    struct judge *j = judge_of(a, dir, kernel_of(a, plain, "c", 8));
    for (size_t k = 0; k < ARRAY_LEN(versions); k++) {
        const char *text = kernel_of(a, versions[k].loop, versions[k].out, versions[k].grid);
        const char *words = said(j, a, text, true);
        if (versions[k].wrong != (words != NULL))
            fail_msg("version %zu: %s", k, words ? words : "nothing said");
        assert_true(!words || (strstr(words, "equal elements of values") && strstr(words, "to counts")));
        assert_null(said(j, a, text, false)); /* only where blocks add up */
    }
    judge_close(j);
    fs_remove_tree(dir);
    arena_close(a);
}

/* Nothing is asked that the original does not do. */
static void the_original_is_the_measure(void **state)
{
    static const char *const originals[] = {"c & 0xfffffu", "c ? 1u : 0u"};
    struct arena *a = arena_open();
    const char *dir = fs_temp_dir(a, &err);

    (void)state;
    if (!have_compiler())
        return;
    for (size_t k = 0; k < ARRAY_LEN(originals); k++) {
        struct judge *j = judge_of(a, dir, kernel_of(a, plain, originals[k], 8));
        assert_null(said(j, a, kernel_of(a, plain, "c & 0xffffu", 8), true));
        judge_close(j);
    }
    fs_remove_tree(dir);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_counters_are_found),
        cmocka_unit_test(the_original_is_the_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
