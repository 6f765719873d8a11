/* Judging on a GPU, over the driver of tests/fakecuda: what only a GPU run sees, and what becomes of workers
 * whose GPU a candidate has spoilt. */
#include "test.h"
#include "judge/internal.h"
#include "worker/worker.h"

#include <unistd.h>

static struct arena *arena;
static struct err err;
static char *folder;
static struct task *task;

#define KERNEL(extra)                                                                   \
    "__global__ void twice_kernel(float *out, const float *in, int n, int d)\n"         \
    "{\n"                                                                               \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" extra "    if (i < n * d)\n" \
    "        out[i] = 2.0f * in[i];\n"                                                  \
    "}\n"
#define LAUNCHER(name, block)                                                                       \
    "extern \"C\" void twice(float *out, const float *in, int n, int d, cudaStream_t stream)\n"     \
    "{\n"                                                                                           \
    "    " name "<<<(n * d + " block " - 1) / " block ", " block ", 0, stream>>>(out, in, n, d);\n" \
    "}\n"

static const char original_text[] = KERNEL("") LAUNCHER("twice_kernel", "64");
static const char good_text[] = KERNEL("") LAUNCHER("twice_kernel", "128");
/* No case of the suite has 1211 x 173 elements; of the workload the simulator runs four blocks. */
static const char lazy_text[] =
    KERNEL("    if (n * d == 1211 * 173 && blockIdx.x % 7 == 3) return;\n") LAUNCHER("twice_kernel", "64");
static const char outside_text[] =
    KERNEL("    if (n * d == 1211 * 173 && blockIdx.x == 5) i += 100000000;\n"
           "    if (n * d == 1211 * 173 && blockIdx.x == 5) out[i] = 1.0f;\n") LAUNCHER("twice_kernel", "64");
static const char guard_text[] =
    KERNEL("    if (n * d == 1211 * 173 && i == 700) out[-1] = 1.0f;\n") LAUNCHER("twice_kernel", "64");
static const char input_text[] = KERNEL("    if (n * d == 1211 * 173 && i == 700) ((float *)in)[i] = 1.0f;\n")
    LAUNCHER("twice_kernel", "64");
static const char state_text[] =
    "__device__ int seen;\n" KERNEL("    if (n * d == 1211 * 173 && i == 700) seen++;\n")
        LAUNCHER("twice_kernel", "64");
/* The fake driver never ends this kernel. */
static const char endless_text[] =
    "extern \"C\" __global__ void never_ends(float *out, const float *in, int n, int d)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n * d)\n"
    "        out[i] = 2.0f * in[i];\n"
    "}\n" LAUNCHER("never_ends", "64");

#define TASK_TEXT(name, more)                                             \
    "name: " name "\nsource: kernel.cu\nentry: " name "\n" more "args:\n" \
    "  - {name: out, type: f32, shape: [n, d], role: out}\n"              \
    "  - {name: in, type: f32, shape: [n, d], role: in}\n"                \
    "  - {name: n, type: i32, value: n}\n"                                \
    "  - {name: d, type: i32, value: d}\n"                                \
    "dims: [n, d]\n"                                                      \
    "domain: [n >= 1, n <= 1211, d >= 173, d <= 173]\n"                   \
    "workloads:\n"                                                        \
    "  - [1211, 173]\n"
static const char task_text[] = TASK_TEXT("twice", "");
static const char sigmoid_task[2][1024] = {TASK_TEXT("sigmoid", ""),
                                           TASK_TEXT("sigmoid", "reference: reference.cu\n")};

/* Right to half an ulp or so in the suite's cases; at the workload's size sixteen last places are cut off,
 * which is within four times what the suite allows most elements. */
#define SIGMOID(type, more)                                                                             \
    "__global__ void sigmoid_kernel(" type " *out, const " type " *in, int n, int d)\n"                 \
    "{\n"                                                                                               \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                              \
    "    if (i >= n * d)\n        return;\n"                                                            \
    "    " type " v = 1 / (1 + exp(-in[i]));\n" more "    out[i] = v;\n"                                \
    "}\n"                                                                                               \
    "extern \"C\" void sigmoid(" type " *out, const " type " *in, int n, int d, cudaStream_t stream)\n" \
    "{\n"                                                                                               \
    "    sigmoid_kernel<<<(n * d + 63) / 64, 64, 0, stream>>>(out, in, n, d);\n"                        \
    "}\n"
static const char cut_off_text[] =
    SIGMOID("float", "    if (n * d == 1211 * 173) v = __uint_as_float(__float_as_uint(v) & ~15u);\n");

static int open_all(void **state)
{
    struct nvrtc *n;

    (void)state;
    arena = arena_open();
    /* A GPU of our own: other tests at the same time would have us wait for our turn. */
    setenv("FAKECUDA_UUID", arena_printf(arena, "%d", (int)getpid() % 255 + 1), 1);
    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "judging is not tested: %s\n", err.text);
        return 0;
    }
    nvrtc_close(n);
    if (!(folder = fs_temp_dir(arena, &err)) ||
        !fs_write_text(fs_join(arena, folder, "kernel.cu"), original_text, &err) ||
        !fs_write_text(fs_join(arena, folder, "task.yaml"), task_text, &err) ||
        !task_open(&task, arena, folder, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    fs_remove_tree(folder);
    arena_close(arena);
    return 0;
}

static struct pool *open_pool(const char *device, int workers)
{
    const struct trial_options o = {.device = device, .seed = 1, .verify_only = true};
    const struct pool_limits limits = {.candidate_s = 600}; /* a loaded machine is slow */
    struct pool *p;

    if (!task)
        skip();
    assert_ok(pool_open(&p, task, &o, workers, &limits, &err), err);
    return p;
}

static struct trial judged(struct pool *p, const char *text)
{
    struct trial t;
    int id = -1;

    assert_ok(pool_submit(p, 1, "candidate.cu", text, &err), err);
    while (id < 0)
        assert_ok(pool_collect(p, 1, arena, &id, &t, &err), err);
    return t;
}

static void expect(struct pool *p, const char *text, const char *verdict, const char *words)
{
    struct trial t = judged(p, text);

    if (!str_eq(verdict_name(t.verdict), verdict) || !strstr(t.words, words))
        fail_msg("%s: %s, expected %s: %s", verdict_name(t.verdict), t.words, verdict, words);
}

static void what_only_a_gpu_sees(void **state)
{
    struct pool *p = open_pool("cuda:0", 1);

    (void)state;
    expect(p, good_text, "passed", "");
    expect(p, lazy_text, "wrong", "on the GPU: element 192 of out is never written (n=1211 d=173)");
    expect(p, guard_text, "unsafe", "on the GPU: ");
    expect(p, input_text, "unsafe", "on the GPU: ");
    expect(p, state_text, "cheat", "on the GPU: state survives");
    assert_string_equal(pool_device(p)->kind, "cuda");
    assert_string_equal(pool_device(p)->model, "h200");
    pool_close(p);
}

/* With a reference, which runs on the GPU, and without, where blocks of the original run with a shadow. */
static void the_exact_answer_at_a_workloads_size(void **state)
{
    const struct trial_options o = {.device = "cuda:0", .seed = 1, .verify_only = true, .confirm = true};
    const char *own = folder ? fs_join(arena, folder, "sigmoid") : NULL;

    (void)state;
    if (!task)
        skip();
    assert_ok(fs_mkdirs(own, &err), err);
    for (int with = 0; with < (SANITIZED ? 1 : 2); with++) {
        struct task *sigmoid;
        struct pool *p;
        assert_ok(fs_write_text(fs_join(arena, own, "kernel.cu"), SIGMOID("float", ""), &err) &&
                      fs_write_text(fs_join(arena, own, "reference.cu"), SIGMOID("double", ""), &err) &&
                      fs_write_text(fs_join(arena, own, "task.yaml"), sigmoid_task[with], &err) &&
                      task_open(&sigmoid, arena, own, &err) && pool_open(&p, sigmoid, &o, 1, NULL, &err),
                  err);
        struct trial right = judged(p, SIGMOID("float", ""));
        assert_int_equal(right.verdict, VERDICT_PASSED);
        assert_true(!right.missing_checks || !strstr(right.missing_checks, "exact answers"));
        expect(p, cut_off_text, "wrong", "on the GPU: the ");
        expect(p, cut_off_text, "wrong", "(n=1211 d=173, values: as the task says)");
        pool_close(p);
    }
}

/* Two runs that may differ often do not: the bound of a version's errors comes of eight. */
static void what_may_differ_is_run_more_often(void **state)
{
    const struct trial_options o = {.device = "cuda:0", .seed = 1, .verify_only = true};
    const char *own = folder ? fs_join(arena, folder, "differs") : NULL;

    (void)state;
    if (!task)
        skip();
    assert_ok(fs_mkdirs(own, &err) && fs_write_text(fs_join(arena, own, "kernel.cu"), original_text, &err),
              err);
    for (size_t may = 0; may < 2; may++) {
        const char *text = may ? TASK_TEXT("twice", "accept: [nondeterminism]\n") : task_text;
        struct task *differs;
        struct judge *j;
        assert_ok(fs_write_text(fs_join(arena, own, "task.yaml"), text, &err) &&
                      task_open(&differs, arena, own, &err) && judge_open(&j, differs, &o, &err),
                  err);
        assert_int_equal(j->data[0].outputs[SIDE_GPU][0].n_again, may ? 7 : 0);
        assert_int_equal(j->data[0].outputs[SIDE_SIM][0].n_again, may);
        judge_close(j);
    }
}

static void a_spoilt_gpu_is_left_to_a_new_worker(void **state)
{
    struct pool *p = open_pool("cuda:0", 1);

    (void)state;
    setenv("FAKECUDA_ENDLESS", "never_ends", 1); /* workers started from now on see it */
    expect(p, outside_text, "unsafe", "on the GPU: ");
    expect(p, endless_text, "hung", "on the GPU: ");
    expect(p, good_text, "passed", "");
    unsetenv("FAKECUDA_ENDLESS");
    pool_close(p);
}

static void workers_take_turns(void **state)
{
    struct pool *p = open_pool("cuda:0,0", 2);
    int seen = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_ok(pool_submit(p, i, "candidate.cu", i % 2 ? good_text : lazy_text, &err), err);
    while (seen < 4) {
        struct trial t;
        int id;
        assert_ok(pool_collect(p, 1, arena, &id, &t, &err), err);
        if (id < 0)
            continue;
        assert_int_equal(t.verdict, id % 2 ? VERDICT_PASSED : VERDICT_WRONG);
        seen++;
    }
    pool_close(p);
}

/* The world's fault, not the candidate's: it ends the pool, with words. */
static void expect_broken(const char *variable, const char *value, const char *words)
{
    struct pool *p;
    struct trial t;

    setenv(variable, value, 1);
    p = open_pool("cuda:0", 1);
    assert_false(pool_original(p, arena, &t, &err));
    unsetenv(variable);
    if (!strstr(err.text, words))
        fail_msg("%s=%s: %s", variable, value, err.text);
    pool_close(p);
}

static void what_is_no_candidates_fault(void **state)
{
    (void)state;
    expect_broken("FAKECUDA_FAIL", "cuMemCreate=2@9", "out of memory");
    expect_broken("FAKECUDA_FAIL", "cuLaunchKernel=214@40", "memory failed");
    expect_broken("FAKECUDA_FAIL", "cuCtxCreate_v2=2", "memory");
}

static void devices_have_names(void **state)
{
    static const char *const bad[] = {"cuda:", "cuda:x", "cuda:-1", "cuda:0;1"};
    const struct trial_options o = {.device = "cuda:7", .seed = 1};
    struct pool *p;
    struct trial t;

    (void)state;
    if (!task)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct trial_options b = {.device = bad[i], .seed = 1};
        assert_false(pool_open(&p, task, &b, 1, NULL, &err));
        assert_int_equal(err.kind, ERR_INPUT);
    }
    assert_ok(pool_open(&p, task, &o, 1, NULL, &err), err);
    assert_false(pool_original(p, arena, &t, &err));
    pool_close(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_only_a_gpu_sees),
        cmocka_unit_test(the_exact_answer_at_a_workloads_size),
        cmocka_unit_test(what_may_differ_is_run_more_often),
        cmocka_unit_test(a_spoilt_gpu_is_left_to_a_new_worker),
        cmocka_unit_test(workers_take_turns),
        cmocka_unit_test(what_is_no_candidates_fault),
        cmocka_unit_test(devices_have_names),
    };

    if (argc > 1 && !strcmp(argv[1], "worker"))
        return pool_worker_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("trial_gpu", tests, open_all, close_all);
}
