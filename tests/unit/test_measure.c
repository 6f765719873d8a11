/* Measuring beside the original, over the fake driver of tests/fakecuda: its time is counted in executed
 * instructions, or comes from a script. */
#include <dlfcn.h>

#include "test.h"
#include "judge/timing/bench.h"

static struct arena *arena;
static struct err err;

#define KERNEL(before, turns)                                                                     \
    "#include <cuda_fp16.h>\n"                                                                    \
    "__global__ void k(__half *out, const __half *in, int n, int d)\n{\n"                         \
    "    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" before               \
    "    if (at >= (long long)n * d) return;\n"                                                   \
    "    float x = __half2float(in[at]);\n"                                                       \
    "#pragma unroll 1\n"                                                                          \
    "    for (int i = 0; i < " turns "; i++)\n        x = x + __int_as_float((int)at & 0) * x;\n" \
    "    out[at] = __float2half(x);\n}\n"
#define HEAD     "extern \"C\" void run(__half *out, const __half *in, int n, int d, cudaStream_t stream)\n{\n"
#define LAUNCHER HEAD "    k<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, n, d);\n}\n"

/* The result is the input, whatever the turns: only the time differs. */
static const char original_text[] = KERNEL("", "16") LAUNCHER;
static const char faster_text[] = KERNEL("", "8") LAUNCHER;
static const char slower_text[] = KERNEL("", "32") LAUNCHER;
/* Begins early behind whoever stands ahead. */
static const char early_text[] = KERNEL("    cudaGridDependencySynchronize();\n", "16") HEAD
    "    cudaLaunchAttribute early;\n"
    "    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
    "    early.val.programmaticStreamSerializationAllowed = 1;\n"
    "    cudaLaunchConfig_t config = {};\n"
    "    config.gridDim = (n * d + 127) / 128;\n    config.blockDim = 128;\n    config.stream = stream;\n"
    "    config.attrs = &early;\n    config.numAttrs = 1;\n"
    "    cudaLaunchKernelEx(&config, k, out, in, n, d);\n}\n";
/* Does nothing where its outputs hold what only timed launches find there. */
static const char lazy_text[] = KERNEL("    if (__half_as_ushort(out[0]) == 0xffff) return;\n", "16") LAUNCHER;
/* Loses its last element, of which each launch has one. */
static const char short_text[] = KERNEL("    if (at == (long long)n * d - 1) return;\n", "8") LAUNCHER;
static const char workspace_text[] =
    KERNEL("", "8") HEAD "    __half *half;\n    size_t bytes = (size_t)n * d * 2;\n"
                         "    cudaMallocAsync(&half, bytes, stream);\n"
                         "    k<<<(n * d + 127) / 128, 128, 0, stream>>>(half, in, n, d);\n"
                         "    cudaMemcpyAsync(out, half, bytes, cudaMemcpyDeviceToDevice, stream);\n"
                         "    cudaFreeAsync(half, stream);\n}\n";

/* out += in: what is not restored grows. */
#define SUM(turns)                                                                                \
    "#include <cuda_fp16.h>\n"                                                                    \
    "__global__ void k(__half *out, const __half *in, int n, int d)\n{\n"                         \
    "    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"                      \
    "    if (at >= (long long)n * d) return;\n"                                                   \
    "    float x = __half2float(in[at]) + __half2float(out[at]);\n"                               \
    "#pragma unroll 1\n"                                                                          \
    "    for (int i = 0; i < " turns "; i++)\n        x = x + __int_as_float((int)at & 0) * x;\n" \
    "    out[at] = __float2half(x);\n}\n" LAUNCHER

static const char task_text[] = "name: turns\n"
                                "source: kernel.cu\n"
                                "entry: run\n"
                                "args:\n"
                                "  - {name: out, type: f16, shape: [n, d], role: %s}\n"
                                "  - {name: in, type: f16, shape: [n, d], role: in}\n"
                                "  - {name: n, type: i32, value: n}\n"
                                "  - {name: d, type: i32, value: d}\n"
                                "dims: [n, d]\n"
                                "domain: [n >= 1, n <= 64, d >= 1, d <= 8192]\n"
                                "workloads:\n%s";
static const char two[] = "  - [1, 256]\n  - [2, 1000]\n", five[] = "  - [1, 256]\n  - [1, 512]\n  - [2, 500]\n"
                                                                    "  - [1, 1500]\n  - [2, 1000]\n";

/* Products of a caller who lets subnormal numbers be flushed: in double, of which nothing is flushed, and in
 * single, or with some of them left out. */
#define PRODUCT(product)                                                                         \
    "__global__ void k(float *out, const float *in, int n, int d)\n{\n"                          \
    "    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"                     \
    "    if (at >= (long long)n * d) return;\n"                                                  \
    "    float p;\n    " product "\n    out[at] = p;\n}\n"                                       \
    "extern \"C\" void run(float *out, const float *in, int n, int d, cudaStream_t stream)\n{\n" \
    "    k<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, n, d);\n}\n"
static const char in_double_text[] =
    PRODUCT("asm(\"cvt.rn.f32.f64 %0, %1;\" : \"=f\"(p) : \"d\"((double)in[at] * 0x1p-63));");
static const char in_single_text[] = PRODUCT("p = in[at] * 0x1p-63f;");
static const char left_out_text[] = PRODUCT("p = in[at] * 0x1p-63f; if (at % 8 == 3) p = 0;");
static const char tiny_task[] = "name: tiny\nsource: kernel.cu\nentry: run\nargs:\n"
                                "  - {name: out, type: f32, shape: [n, d], role: out}\n"
                                "  - {name: in, type: f32, shape: [n, d], role: in, values: {kind: dim}}\n"
                                "  - {name: n, type: i32, value: n}\n"
                                "  - {name: d, type: i32, value: d}\n"
                                "dims: [n, d]\ndomain: [n >= 1, n <= 64, d >= 1, d <= 8192]\n"
                                "workloads: [[2, 1000]]\nflags: [--use_fast_math]\n";

static struct judge *open_task(const char *text, const char *task_yaml, bool control, bool confirm)
{
    const struct trial_options o = {
        .device = "cuda:0", .seed = 1, .measure_only = true, .no_control = !control, .confirm = confirm};
    char *folder = fs_temp_dir(arena, &err);
    struct task *task;
    struct judge *j;

    assert_non_null(folder);
    assert_ok(fs_write_text(fs_join(arena, folder, "kernel.cu"), text, &err), err);
    assert_ok(fs_write_text(fs_join(arena, folder, "task.yaml"), task_yaml, &err), err);
    assert_ok(task_open(&task, arena, folder, &err), err);
    assert_ok(judge_open(&j, task, &o, &err), err);
    fs_remove_tree(folder);
    return j;
}

static struct judge *open_judge(const char *text, const char *role, const char *list, bool control,
                                bool confirm)
{
    return open_task(text, arena_printf(arena, task_text, role, list), control, confirm);
}

static struct trial judged(struct judge *j, const char *text)
{
    struct trial t;

    assert_ok(judge_file(j, arena, "candidate.cu", text, &t, &err), err);
    return t;
}

static const struct trial_time *time_of(const struct trial *t, size_t workload, enum regime regime)
{
    return &t->workloads[workload].times[regime];
}

static void assert_verdict(const struct trial *t, enum verdict v, const char *words)
{
    if (t->verdict != v || !strstr(t->words, words))
        fail_msg("%s: %s", verdict_name(t->verdict), t->words);
}

static void test_control(void **state)
{
    struct judge *j = open_judge(original_text, "out", two, true, false);
    const struct trial *t = judge_original(j);

    (void)state;
    assert_int_equal(t->n_workloads, 2);
    for (size_t i = 0; i < 2; i++)
        for (enum regime regime = REGIME_COLD; regime <= REGIME_HOT; regime++) {
            const struct trial_time *x = time_of(t, i, regime);
            assert_true(fabs(x->speedup - 1) < 1e-9);
            assert_true(x->low <= 1 && 1 <= x->high && x->pairs >= 14);
            assert_true(x->us > x->copy_us && x->copy_us > t->empty_us && t->empty_us > 0);
        }
    assert_true(judge_noise(j) < 1e-6);
    judge_close(j);
}

/* What begins early gains where it stands behind another kernel, and behind itself nothing. Neighbours are no
 * part of a plan's time. */
static void test_streams(void **state)
{
    struct judge *j = open_judge(original_text, "out", two, true, true);
    struct trial t = judged(j, early_text);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_true(time_of(&t, i, REGIME_COLD)->speedup <= 1 && time_of(&t, i, REGIME_HOT)->speedup <= 1);
        assert_true(isnan(time_of(&t, i, REGIME_COLD)->neighbours_us));
        for (enum regime regime = REGIME_STREAM; regime < N_REGIMES; regime++) {
            const struct trial_time *x = time_of(&t, i, regime), *own = time_of(judge_original(j), i, regime);
            assert_true(x->low > 1.01 && x->neighbours_us > 0.5);
            assert_true(fabs(own->us / x->base_us - 1) < 1e-6 && isnan(own->low));
            assert_true(fabs(x->base_us / time_of(&t, i, REGIME_HOT)->base_us - 1) < 0.2);
        }
    }
    judge_close(j);
}

/* Neighbours reach inputs and outputs of any number of bytes. Under a sanitizer test_streams has run the same
 * code. */
static void test_streams_of_odd_sizes(void **state)
{
    if (SANITIZED)
        skip();
    struct judge *j = open_judge(original_text, "out", "  - [1, 1]\n  - [3, 1003]\n", true, true);
    struct trial t = judged(j, faster_text);

    (void)state;
    assert_true(verdict_correct(t.verdict));
    for (size_t i = 0; i < 2; i++)
        assert_true(time_of(&t, i, REGIME_STREAM)->neighbours_us > 0);
    judge_close(j);
}

static void test_candidates(void **state)
{
    struct judge *j =
        open_judge(original_text, "out", two, false, !SANITIZED); /* test_streams has the other regimes */
    struct trial t;

    (void)state;
    t = judged(j, faster_text);
    assert_verdict(&t, VERDICT_PASSED, "");
    assert_true(t.low > 1.2 && t.high < 1.6);
    for (enum regime regime = 0; regime < (SANITIZED ? REGIME_HOT : N_REGIMES); regime++) {
        const struct trial_time *x = time_of(&t, 1, regime);
        assert_true(fabs(x->speedup * x->us / x->base_us - 1) < 1e-6 && x->low > 1);
    }
    t = judged(j, slower_text);
    assert_verdict(&t, VERDICT_SLOWER, "the original");
    assert_true(time_of(&t, 0, false)->high < 1);
    /* The copy behind the kernel is a part of the plan. */
    t = judged(j, workspace_text);
    assert_true(time_of(&t, 0, false)->us > 1.2);
    assert_true(verdict_correct(t.verdict));
    judge_close(j);
}

/* What a block told the L2 to keep is forgotten before the next one, of either side. */
static void test_lines_are_reset(void **state)
{
    struct judge *j = open_judge(original_text, "out", two, false, false);
    void *driver = dlopen(getenv("ASTRA_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    const unsigned *resets = driver ? dlsym(driver, "fakecuda_resets") : NULL;
    struct trial t;
    uint64_t blocks = 0;

    (void)state;
    assert_non_null(resets);
    unsigned before = *resets;
    t = judged(j, faster_text);
    assert_verdict(&t, VERDICT_PASSED, "");
    for (size_t i = 0; i < t.n_workloads; i++)
        blocks += 2 * (uint64_t)time_of(&t, i, REGIME_COLD)->pairs;
    assert_true(blocks && *resets - before >= blocks);
    dlclose(driver);
    judge_close(j);
}

static void test_timed_outputs(void **state)
{
    struct judge *j = open_judge(original_text, "out", two, false, false);
    struct trial t;

    (void)state;
    t = judged(j, lazy_text);
    assert_verdict(&t, VERDICT_WRONG, "a timed launch left element 0 of out as");
    t = judged(j, short_text);
    assert_verdict(&t, VERDICT_WRONG, "a timed launch left element 1999 of out as");
    t = judged(j, faster_text); /* and the bench is as good as before */
    assert_verdict(&t, VERDICT_PASSED, "");
    judge_close(j);
}

/* What the error rule takes for equal in the suite is equal here: numbers that may be flushed. */
static void test_timed_flushes(void **state)
{
    struct judge *j = open_task(in_double_text, tiny_task, false, false);
    struct trial t;

    (void)state;
    t = judged(j, in_single_text);
    assert_true(verdict_correct(t.verdict));
    t = judged(j, left_out_text);
    assert_verdict(&t, VERDICT_WRONG, "a timed launch left element");
    judge_close(j);
}

/* Both sides of a pair find the same bits and what was there before they came: else their results differ. */
static void test_in_place(void **state)
{
    struct judge *j = open_judge(SUM("16"), "inout", two, false, false);
    struct trial t;

    (void)state;
    t = judged(j, SUM("8"));
    assert_verdict(&t, VERDICT_PASSED, "");
    judge_close(j);
}

static void test_racing(void **state)
{
    struct judge *j = open_judge(original_text, "out", five, false, false);
    struct trial t = judged(j, slower_text);
    size_t timed = 0;

    (void)state;
    assert_verdict(&t, VERDICT_SLOWER, "the others were not timed");
    assert_int_equal(t.n_workloads, 5);
    for (size_t i = 0; i < t.n_workloads; i++)
        timed += !isnan(time_of(&t, i, false)->us);
    assert_int_equal(timed, 3);
    assert_true(isnan(t.score));
    t = judged(j, faster_text);
    assert_verdict(&t, VERDICT_PASSED, "");
    for (size_t i = 0; i < t.n_workloads; i++)
        assert_true(time_of(&t, i, false)->low > 1 && isnan(time_of(&t, i, true)->us)); /* cold scores */
    judge_close(j);
}

/* Launches that take now this long, now that: the same text is not taken for a faster one, and twice is twice.
 */
static void test_noise(void **state)
{
    struct judge *j;
    struct trial t;
    int wins = 0;

    (void)state;
    setenv("FAKECUDA_TIMES", "40,41,40.5,43,40.2,39.9,60,40.1,40.7,40.3,40.6", 1);
    j = open_judge(original_text, "out", two, true, false);
    for (int i = 0; i < 4; i++) {
        t = judged(j, original_text);
        wins += t.verdict == VERDICT_PASSED;
        for (size_t w = 0; w < 2; w++)
            assert_true(fabs(time_of(&t, w, false)->speedup - 1) < 0.05);
    }
    assert_true(wins <= 1); /* when it stops depends on the machine's speed, and 2.5 % may be wrong */
    judge_close(j);
    unsetenv("FAKECUDA_TIMES");
}

/* Clocks that changed since they were last asked, and throttling that began or ended. */
static void test_clocks(void **state)
{
    struct bench b = {0};
    struct {
        const char *mhz, *reasons;
        bool disturbed;
    } steps[] = {{"1980", "0", true}, /* nothing was known before: 0 MHz */
                 {"1980", "0", false}, {"1965", "0", false}, {"1900", "0", true},
                 {"1900", "1", false}, /* idle is no trouble */
                 {"1900", "4", true},  {"1900", "4", false}, {"1900", "0", true}};

    (void)state;
    assert_ok(cuda_open(&b.gpu, 0, &err), err);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        setenv("FAKENVML_SM_MHZ", steps[i].mhz, 1);
        setenv("FAKENVML_REASONS", steps[i].reasons, 1);
        b.clocks_every_s = 0;
        b.clocks.known = true;
        if (bench_disturbed(&b) != steps[i].disturbed)
            fail_msg("step %zu", i);
    }
    b.clocks_every_s = INFINITY; /* asked too lately */
    setenv("FAKENVML_SM_MHZ", "100", 1);
    assert_false(bench_disturbed(&b));
    unsetenv("FAKENVML_SM_MHZ");
    unsetenv("FAKENVML_REASONS");
    cuda_close(b.gpu);
}

static int open_all(void **state)
{
    (void)state;
    arena = arena_open();
    setenv("FAKECUDA_L2", "8192", 1);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_close(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_streams_of_odd_sizes),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_lines_are_reset),
        cmocka_unit_test(test_timed_outputs),
        cmocka_unit_test(test_timed_flushes),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_racing),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_clocks),
    };
    struct nvrtc *n;

    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "measuring is not tested: %s\n", err.text);
        return 77;
    }
    nvrtc_close(n);
    return cmocka_run_group_tests_name("measure", tests, open_all, close_all);
}
