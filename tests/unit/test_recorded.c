/* The compiled launcher run beside the judged plans: the file that is compiled is another one than the file
 * that was read, as it would be if the launcher's reader misunderstood it. */
#include "test.h"
#include "judge/internal.h"

static struct arena *arena;
static struct err err;

static const char task_text[] = "name: scaled\nsource: kernel.cu\nentry: run\nargs:\n"
                                "  - {name: out, type: f32, shape: [n], role: out}\n"
                                "  - {name: in, type: f32, shape: [n], role: in}\n"
                                "  - {name: n, type: i32, value: n}\n"
                                "  - {name: scale, type: f32, value: 2.5}\n"
                                "dims: [n]\ndomain: [n >= 1, n <= 65536]\nworkloads: [[4096]]\n";

#define KERNELS                                                                                                 \
    "struct pair {\n    char c;\n    float f;\n    float *p;\n};\n"                                             \
    "namespace {\n__global__ void k(float *out, const float *in, int n, pair p)\n{\n"                           \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        out[i] = in[i] * p.f;\n}\n}\n" \
    "static __global__ void s(float *out, int n)\n{\n}\n"
#define LAUNCHER(body)                                                                                         \
    KERNELS "extern \"C\" void run(float *out, const float *in, int n, float scale, cudaStream_t stream)\n{\n" \
            "    pair p = {'a', scale, out + 1};\n" body "}\n"
#define RIGHT                                                                                             \
    "    float *w;\n    cudaMallocAsync((void **)&w, n * 4l, stream);\n"                                  \
    "    cudaMemsetAsync(w, 0, n, stream);\n    k<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, p);\n" \
    "    s<<<1, 32, 8, stream>>>(w, n);\n    cudaFreeAsync(w, stream);\n"

#define PROPERTIES                                                   \
    "    cudaDeviceProp q{};\n    cudaGetDeviceProperties(&q, 0);\n" \
    "    n = q.multiProcessorCount > 100 && q.sharedMemPerBlockOptin > 200000 && q.major == 9 ? n : 0;\n"
#define OCCUPANCY(more)                                                               \
    "    int threads = 128, blocks;\n" more                                           \
    "    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, threads, 1024);\n" \
    "    k<<<blocks, threads, 1024, stream>>>(out, in, n, p);\n"
#define BLOCK_SIZE(limit)                                                           \
    "    int threads, blocks;\n"                                                    \
    "    cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, k, 0, " limit ");\n" \
    "    k<<<blocks, threads, 0, stream>>>(out, in, n, p);\n"
#define CLUSTERS                                                                                                  \
    "    cudaLaunchConfig_t c = {};\n    c.gridDim = dim3(8);\n    c.blockDim = dim3(128);\n"                     \
    "    c.stream = stream;\n    cudaLaunchAttribute a[1];\n    a[0].id = cudaLaunchAttributeClusterDimension;\n" \
    "    a[0].val.clusterDim.x = 2;\n    a[0].val.clusterDim.y = 1;\n    a[0].val.clusterDim.z = 1;\n"            \
    "    c.attrs = a;\n    c.numAttrs = 1;\n    int clusters;\n"                                                  \
    "    cudaOccupancyMaxActiveClusters(&clusters, k, &c);\n"                                                     \
    "    k<<<clusters, 128, 0, stream>>>(out, in, n, p);\n"
#define INTEGERS                                                                                       \
    "#include <cstdint>\n__global__ void l(int64_t n) {}\n" KERNELS                                    \
    "extern \"C\" void run(float *out, const float *in, int n, float scale, cudaStream_t stream)\n{\n" \
    "    l<<<1, 32, 0, stream>>>(n);\n}\n"

/* What is said of `compiled` where the judge has understood `understood`; how many plans were compared. */
static const char *said(const char *understood, const char *compiled, struct trial *t)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    char *dir = fs_temp_dir(arena, &err);
    struct fate fate = {0};
    struct judge *j;
    struct task *task;
    struct version v;
    struct gpu_build b;

    assert_non_null(dir);
    assert_ok(fs_write_text(fs_join(arena, dir, "task.yaml"), task_text, &err), err);
    assert_ok(fs_write_text(fs_join(arena, dir, "kernel.cu"), LAUNCHER(RIGHT), &err), err);
    assert_ok(task_open(&task, arena, dir, &err), err);
    assert_ok(judge_open(&j, task, &o, &err), err);
    v = (struct version){.judge = j, .arena = arena, .task = task};
    assert_ok(version_open(&v, "kernel.cu", understood, &fate, &err), err);
    if (!fate_open(&fate))
        fail_msg("%s", fate.words);
    const struct compile_request q = version_request(&v, compiled);
    assert_ok(gpu_nvcc_build(j->nvrtc, arena, &q, kernel_understood_text(arena, v.kernel), &b, &err), err);
    if (b.result.end != COMPILE_DONE)
        fail_msg("nvcc: %s", b.result.words);
    *t = (struct trial){0};
    struct ptx_module *theirs;
    assert_ok(ptx_module_open(&theirs, "nvcc", b.result.image.ptx, b.result.image.ptx_len, &err), err);
    assert_ok(verify_recorded(j, &v, &b, theirs, t, &fate, &err), err);
    ptx_module_close(theirs);
    gpu_build_close(&b);
    version_close(&v);
    judge_close(j);
    fs_remove_tree(dir);
    return fate.words ? fate.words : "";
}

static void differences_are_seen(void **state)
{
    static const struct {
        const char *understood, *compiled, *words;
    } pairs[] = {
        {LAUNCHER(RIGHT), LAUNCHER(RIGHT), ""},
        {LAUNCHER(RIGHT), LAUNCHER("    if (n == 4096)\n        return;\n" RIGHT),
         "`nothing`, where the judged plan is `memset"},
        {LAUNCHER("    k<<<n, 128, 0, stream>>>(out, in, n, p);\n"),
         LAUNCHER("    p.f = (float)(scale + 1e-6);\n    k<<<n, 128, 0, stream>>>(out, in, n, p);\n"),
         "launch "},
        {LAUNCHER("    k<<<n, 128, 0, stream>>>(out, in, n, p);\n"),
         LAUNCHER("    k<<<n, 128, 0, stream>>>(out, in, n, p);\n    *(volatile int *)in = 3;\n"),
         "is killed for memory"},
        {LAUNCHER(RIGHT),
         LAUNCHER(
             "    long a = 39, r;\n    asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(a) : \"rcx\", \"r11\");\n" RIGHT),
         "is killed for a system call"},
        {LAUNCHER(PROPERTIES RIGHT), LAUNCHER(PROPERTIES RIGHT), ""},
        {LAUNCHER(PROPERTIES RIGHT), LAUNCHER(PROPERTIES "    if (n == 4096)\n        return;\n" RIGHT),
         "`nothing`"},
        {LAUNCHER(OCCUPANCY("")), LAUNCHER(OCCUPANCY("")), ""},
        {LAUNCHER(OCCUPANCY("")), LAUNCHER(OCCUPANCY("    threads += n == 4096;\n")), "`asks cudaOccupancyMax"},
        {LAUNCHER(BLOCK_SIZE("0")), LAUNCHER(BLOCK_SIZE("0")), ""},
        {LAUNCHER(BLOCK_SIZE("100")), LAUNCHER(BLOCK_SIZE("100")), ""},
        {LAUNCHER(CLUSTERS), LAUNCHER(CLUSTERS), ""},
        {LAUNCHER(RIGHT), LAUNCHER("    cudaFuncAttributes f;\n    cudaFuncGetAttributes(&f, k);\n" RIGHT),
         "`asks cudaFuncGetAttributes`"},
        {LAUNCHER(RIGHT),
         LAUNCHER("    size_t left;\n    cudaDeviceGetLimit(&left, cudaLimitStackSize);\n" RIGHT),
         "`asks cudaDeviceGetLimit`"},
        {LAUNCHER(RIGHT), LAUNCHER(RIGHT) "int main() { return 0; }\n", "cannot be run alone"},
        {INTEGERS, INTEGERS, ""},
    };
    struct nvrtc *n;
    struct trial t;
    (void)state;
    if (!nvrtc_open(&n, &err))
        skip();
    bool works = gpu_nvcc_path(arena, n) && gpu_nvcc_works(n, arena);
    nvrtc_close(n);
    if (!works)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (!row_is_tried(i))
            continue;
        const char *is = said(pairs[i].understood, pairs[i].compiled, &t);
        if (t.shipped.not_run_because) {
            fprintf(stderr, "the compiled launcher is not run: %s\n", t.shipped.not_run_because);
            skip();
        }
        if (*pairs[i].words ? !strstr(is, pairs[i].words) : *is != 0)
            fail_msg("of\n%s\nis said: %s\nnot: %s", pairs[i].compiled, is, pairs[i].words);
        assert_true(t.shipped.shapes > 5 && (*is || t.shipped.compared == t.shipped.shapes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(differences_are_seen)};

    arena = arena_open();
    int failed = cmocka_run_group_tests_name("recorded", tests, NULL, NULL);
    arena_close(arena);
    return failed;
}
