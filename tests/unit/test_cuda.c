/* The device that measures, over the fake driver of tests/fakecuda: every function, every fault. What spoils a
 * process, and what is decided when it starts, happens in a child. */
#include "gpu/device.h"
#include "test.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *arena;
static struct cuda *cuda;
static struct err err;

/* put: at[offset] = byte. step: at[k] = 2 * at[k] + add, for k of one block. */
static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".global .align 4 .u32 counter;\n"
    ".visible .entry put(.param .u64 at, .param .s64 offset, .param .u32 byte)\n"
    "{ .reg .u64 %a, %o; .reg .u32 %v;\n"
    "ld.param.u64 %a, [at]; ld.param.u64 %o, [offset]; ld.param.u32 %v, [byte];\n"
    "add.u64 %a, %a, %o; st.global.u8 [%a], %v; ret; }\n"
    ".visible .entry step(.param .u64 at, .param .u32 add)\n"
    "{ .reg .u64 %a, %o; .reg .u32 %v, %k, %d;\n"
    "ld.param.u64 %a, [at]; ld.param.u32 %d, [add]; mov.u32 %k, %tid.x; mul.wide.u32 %o, %k, 4;\n"
    "add.u64 %a, %a, %o; ld.global.u32 %v, [%a]; shl.b32 %v, %v, 1; add.u32 %v, %v, %d; st.global.u32 [%a], %v; ret; }\n"
    ".visible .entry count() { .reg .u32 %v; ld.global.u32 %v, [counter]; add.u32 %v, %v, 1;\n"
    "st.global.u32 [counter], %v; ret; }\n"
    ".visible .entry misaligned(.param .u64 at)\n"
    "{ .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [at]; ld.global.u32 %v, [%a+1]; st.global.u32 [%a], %v; ret; }\n"
    ".visible .entry stop() { trap; }\n"
    ".visible .entry endless() { again: bra again; }\n"
    ".visible .entry few() .maxntid 64, 1, 1 { ret; }\n"
    ".extern .shared .align 16 .b8 s[];\n"
    ".visible .entry shared(.param .u64 at, .param .u32 last)\n"
    "{ .reg .u64 %a; .reg .u32 %v, %l, %s; ld.param.u64 %a, [at]; ld.param.u32 %l, [last]; mov.u32 %s, s;\n"
    "add.u32 %s, %s, %l; st.shared.u8 [%s], 77; ld.shared.u8 %v, [%s]; st.global.u8 [%a], %v; ret; }\n";

static int open_all(void **state)
{
    (void)state;
    arena = arena_open();
    return cuda_open(&cuda, 0, &err) ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}

static int close_all(void **state)
{
    (void)state;
    cuda_close(cuda);
    arena_close(arena);
    return 0;
}

static struct cuda_module *load(struct cuda *c)
{
    struct cuda_module *m;

    assert_ok(cuda_module_open(&m, c, kernels, strlen(kernels), &err), err);
    return m;
}

static struct ptx_launch launch_of(const char *kernel, uint32_t threads, const void *const *args, size_t n)
{
    return (struct ptx_launch){
        .kernel = kernel, .grid = {1, 1, 1}, .block = {threads, 1, 1}, .args = args, .n_args = n};
}

static struct ptx_report run(struct cuda_module *m, const struct ptx_launch *l)
{
    struct ptx_report r;

    assert_ok(cuda_launch(m, l, 20, &r, &err), err);
    return r;
}

static void put(struct cuda_module *m, uint64_t at, int64_t offset, uint32_t byte)
{
    const void *args[] = {&at, &offset, &byte};
    struct ptx_launch l = launch_of("put", 1, args, 3);
    struct ptx_report r = run(m, &l);

    assert_int_equal(r.end, PTX_DONE);
}

static struct cuda_buffers *space(bool guarded, uint64_t seed)
{
    struct cuda_buffers *s;

    assert_ok(cuda_buffers_open(&s, cuda, guarded, seed, &err), err);
    return s;
}

static uint64_t alloc(struct cuda_buffers *s, const char *name, uint64_t size, bool read_only)
{
    const struct cuda_buffer b = {.name = name, .size_bytes = size, .read_only = read_only};
    uint64_t addr = cuda_buffers_alloc(s, &b, &err);

    if (!addr)
        fail_msg("%s", err.text);
    return addr;
}

static const char *damage(struct cuda_buffers *s)
{
    const char *words;

    assert_ok(cuda_buffers_damage(s, arena, &words, &err), err);
    return words ? words : "";
}

/* ---- in children ---- */

/* Runs f in a child that has not started a driver; its text comes back. */
static const char *child(void (*f)(FILE *out))
{
    int ends[2], status;
    char text[8192] = "";
    size_t n = 0;
    ssize_t got;

    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        FILE *out = fdopen(ends[1], "w");
        close(ends[0]);
        f(out);
        fclose(out);
        _exit(0);
    }
    close(ends[1]);
    while (n < sizeof(text) - 1 && (got = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0)
        n += (size_t)got;
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child ended with status %x: %s", status, text);
    return arena_strdup(arena, text);
}

/* The fresh process of a test binary that runs one of these. */
static void say_open(FILE *out)
{
    struct cuda *c;
    struct err e = {0};
    const char *words = NULL;
    int n = cuda_count(arena, &words);

    fprintf(out, "%d|%s|", n, words ? words : "");
    if (cuda_open(&c, 0, &e)) {
        fprintf(out, "open|%s|%s|%s|%d", cuda_info(c)->name, cuda_info(c)->model, cuda_info(c)->arch,
                cuda_info(c)->same_model);
        cuda_close(c);
    } else {
        fprintf(out, "%s", e.text);
    }
}

static const char *open_with(const char *name, const char *value)
{
    const char *old = getenv(name), *kept = old ? arena_strdup(arena, old) : NULL;

    setenv(name, value, 1);
    const char *said = child(say_open);
    if (kept)
        setenv(name, kept, 1);
    else
        unsetenv(name);
    return said;
}

#define assert_says(text, part)                                                \
    do {                                                                       \
        const char *text_ = (text);                                            \
        if (!strstr(text_, part))                                              \
            fail_msg("'%s' does not contain '%s'", text_, (const char *)part); \
    } while (0)

static void says_what_is_wrong_and_what_helps(void **state)
{
    (void)state;
    assert_says(open_with("ASTRA_CUDA_DRIVER", "/nowhere/libcuda.so.1"),
                "0|ASTRA_CUDA_DRIVER: /nowhere/libcuda.so.1");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=34"), "toolkit's stub");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=34"), "LD_LIBRARY_PATH");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=100"), "sees no GPU: CUDA_ERROR_NO_DEVICE (100)");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=803"), "of different versions: reboot");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=804"), "cuda-compat");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=802"), "fabricmanager");
    assert_says(open_with("FAKECUDA_FAIL", "cuInit=999"), "nvidia-smi");
    assert_says(open_with("FAKECUDA_DEVICES", "0"), "0|the NVIDIA driver");
    assert_says(open_with("FAKECUDA_FAIL", "cuCtxCreate_v2=46"), "another process has the GPU to itself");
    assert_says(open_with("FAKECUDA_FAIL", "cuCtxCreate_v2=2"), "other processes may hold the GPU's memory");
    assert_says(open_with("FAKECUDA_FAIL", "cuCtxCreate_v2=214"), "memory failed");
    assert_says(open_with("FAKECUDA_FAIL", "cuModuleLoadDataEx=221"), "libnvidia-ptxjitcompiler");
    assert_says(open_with("FAKECUDA_FAIL", "cuDeviceGet=101"), "dmesg");
}

static void opens_what_the_driver_shows(void **state)
{
    (void)state;
    assert_says(open_with("FAKECUDA_DEVICES", "2"), "2||open|NVIDIA H200|h200|sm_90|1");
    assert_says(open_with("FAKECUDA_MODEL", "rtx4090"), "open|NVIDIA GeForce RTX 4090|rtx4090|sm_89|1");
    assert_says(open_with("FAKECUDA_NAME", "NVIDIA H800"), "open|NVIDIA H800|h200|sm_90|0");
    assert_says(open_with("FAKECUDA_CC", "120"), "open|NVIDIA H200|h200|sm_120|0");
    assert_says(open_with("ASTRA_NVML", "/nowhere"), "1||open");
}

static void an_index_beyond_the_last_is_an_error(void **state)
{
    struct cuda *c;
    struct err e = {0};

    (void)state;
    assert_false(cuda_open(&c, 1, &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_says(e.text, "there is no GPU 1: the driver shows 1");
}

static void device_files_explain_a_missing_gpu(void **state)
{
    char *dir = fs_temp_dir(arena, &err);
    struct str words = {0};

    (void)state;
    driver_device_files(dir, &words);
    assert_says(str_text(&words), "docker run --gpus all");
    str_clear(&words);
    assert_ok(fs_write_text(fs_join(arena, dir, "nvidiactl"), "", &err), err);
    driver_device_files(dir, &words);
    assert_says(str_text(&words), "CUDA_VISIBLE_DEVICES");
    if (geteuid() != 0) {
        chmod(fs_join(arena, dir, "nvidiactl"), 0);
        str_clear(&words);
        driver_device_files(dir, &words);
        assert_says(str_text(&words), "no permission for");
    }
    str_free(&words);
    fs_remove_tree(dir);
}

static void knows_the_gpu(void **state)
{
    const struct cuda_info *i = cuda_info(cuda);
    struct cuda_clocks k;

    (void)state;
    assert_string_equal(i->driver, "580.159.04");
    assert_int_equal(i->driver_cuda, 13000);
    assert_int_equal(strlen(i->uuid), 40);
    assert_int_equal(i->limits.sm_count, 132);
    assert_true(i->same_model && i->limits.validated);
    assert_true(i->vmm);
    assert_int_equal(i->other_processes, 0);
    setenv("FAKENVML_REASONS", "5", 1);
    cuda_clocks(cuda, &k);
    unsetenv("FAKENVML_REASONS");
    assert_true(k.known);
    assert_int_equal(k.sm_mhz, 1980);
    assert_int_equal(k.memory_mhz, 3201);
    assert_int_equal(k.temperature_c, 41);
    assert_int_equal(k.power_w, 123);
    assert_int_equal(k.throttle_reasons, 4); /* idle is none */
}

static void target_follows_the_compiler(void **state)
{
    struct nvrtc *n;
    struct cuda_target t;

    (void)state;
    if (!nvrtc_open(&n, &err))
        skip();
    assert_ok(cuda_target_find(cuda, n, arena, &t, &err), err);
    assert_string_equal(t.arch, "sm_90");
    assert_false(t.ptx);
    setenv("ASTRA_CUDA_PTX", "1", 1);
    assert_ok(cuda_target_find(cuda, n, arena, &t, &err), err);
    unsetenv("ASTRA_CUDA_PTX");
    assert_true(t.ptx);
    nvrtc_close(n);
}

static void say_targets(FILE *out)
{
    static const char *const capabilities[] = {"150", "50"};
    struct nvrtc *n;
    struct cuda *c;
    struct cuda_target t;
    struct err e = {0};

    setenv("FAKECUDA_VERSION", "11040", 1);
    if (!nvrtc_open(&n, &e)) {
        fprintf(out, "skip");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(capabilities); i++) {
        setenv("FAKECUDA_CC", capabilities[i], 1);
        if (!cuda_open(&c, 0, &e))
            return;
        if (cuda_target_find(c, n, arena, &t, &e))
            fprintf(out, "%d %s|", t.ptx, t.words);
        else
            fprintf(out, "%s|", e.text);
    }
    setenv("FAKECUDA_CC", "90", 1);
    if (cuda_open(&c, 0, &e) && cuda_target_find(c, n, arena, &t, &e))
        fprintf(out, "%d %s|", t.ptx, t.words ? t.words : "");
}

static void a_gpu_and_a_compiler_that_do_not_fit(void **state)
{
    const char *said = child(say_targets);

    (void)state;
    if (!strcmp(said, "skip"))
        skip();
    assert_says(said, "1 GPU 0 (NVIDIA H200, sm_150) is newer than NVRTC");
    assert_says(said, "(NVIDIA H200, sm_50) is older than what NVRTC");
    assert_says(said, "0 the driver (CUDA 11.4) is older than NVRTC");
}

/* ---- buffers ---- */

static void buffers_keep_their_bytes(void **state)
{
    unsigned char in[1000], out[1000];

    (void)state;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)(i * 7);
    for (int guarded = 0; guarded < 2; guarded++) {
        struct cuda_buffers *s = space(guarded, 4);
        uint64_t a = alloc(s, "a", sizeof(in), false), b = alloc(s, "b", sizeof(in), false);
        assert_ok(cuda_write(cuda, a, in, sizeof(in), &err), err);
        assert_ok(cuda_copy(cuda, b, a, sizeof(in), &err), err);
        assert_ok(cuda_set(cuda, b + 10, 0x55, 5, &err), err);
        assert_ok(cuda_read(cuda, b, out, sizeof(out), &err), err);
        assert_memory_equal(in, out, 10);
        assert_int_equal(out[14], 0x55);
        assert_memory_equal(in + 15, out + 15, sizeof(in) - 15);
        assert_string_equal(damage(s), "");
        cuda_buffers_free(s, a);
        cuda_buffers_close(s);
    }
}

static void large_contents_go_in_pieces(void **state)
{
    enum { N = (9 << 20) + 12345 };
    unsigned char *in = mem_alloc(N), *out = mem_zalloc(N);
    struct cuda_buffers *s = space(CUDA_PLAIN, 2);
    uint64_t at = alloc(s, "large", N, false);

    (void)state;
    for (size_t i = 0; i < N; i++)
        in[i] = (unsigned char)rng_hash(1, i);
    assert_ok(cuda_write(cuda, at, in, N, &err), err);
    assert_ok(cuda_read(cuda, at, out, N, &err), err);
    assert_memory_equal(in, out, N);
    free(in);
    free(out);
    cuda_buffers_close(s);
}

static void ends_are_flush_with_the_pages(void **state)
{
    struct cuda_buffers *s = space(true, 2);
    const struct cuda_buffer b = {.name = "b", .size_bytes = 1001, .align_bytes = 2};
    uint64_t addr = cuda_buffers_alloc(s, &b, &err);

    (void)state;
    assert_int_equal((addr + 1002) % 65536, 0);
    assert_int_equal((alloc(s, "c", 1001, false) + 1024) % 65536, 0);
    assert_int_equal((alloc(s, "whole", 65536, false) + 65536) % 65536, 0);
    cuda_buffers_close(s);
}

static void odd_seeds_move_the_bases(void **state)
{
    uint64_t offsets[8];
    size_t moved = 0;

    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        struct cuda_buffers *s = space(true, 2 * i + 1);
        uint64_t addr = alloc(s, "a", 1024, false);
        offsets[i] = addr % 65536;
        assert_int_equal(addr % 256, 0);
        assert_true((addr + 1024) % 65536 == 0 || 65536 - (addr + 1024) % 65536 < 64 * 256);
        cuda_buffers_close(s);
    }
    for (size_t i = 1; i < 8; i++)
        moved += offsets[i] != offsets[0];
    assert_true(moved >= 5);
}

static void damage_names_buffer_side_and_distance(void **state)
{
    static const struct {
        const char *vmm;
        uint64_t seed;
    } spaces[] = {{"1", 2}, {"1", 3}, {"0", 2}};
    struct cuda_module *m = load(cuda);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
        struct cuda_info *info = &cuda->info;
        bool vmm = info->vmm;
        info->vmm = *spaces[i].vmm == '1';
        struct cuda_buffers *s = space(true, spaces[i].seed);
        uint64_t first = alloc(s, "first", 1000, false), second = alloc(s, "second", 500, false);
        put(m, first, 0, 1);
        put(m, first, 999, 2);
        assert_string_equal(damage(s), "");
        put(m, first, 1000, 0);
        assert_string_equal(damage(s),
                            "1 byte outside of buffer first (1000 bytes) was written, the nearest 1 byte "
                            "behind its end");
        cuda_buffers_close(s);
        s = space(true, spaces[i].seed);
        first = alloc(s, "first", 1000, false);
        second = alloc(s, "second", 500, false);
        put(m, second, -3, 0);
        put(m, second, -90, 0);
        assert_string_equal(damage(s),
                            "2 bytes outside of buffer second (500 bytes) were written, the nearest 3 bytes "
                            "before its begin");
        cuda_buffers_close(s);
        info->vmm = vmm;
    }
    cuda_module_close(m);
}

static void written_inputs_are_seen(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_buffers *s = space(true, 2);
    uint64_t in = alloc(s, "in", 300, true), out = alloc(s, "out", 300, false);
    unsigned char bytes[300] = {1, 2, 3};

    (void)state;
    assert_ok(cuda_write(cuda, in, bytes, sizeof(bytes), &err), err);
    put(m, out, 5, 9);
    assert_string_equal(damage(s), "");
    bytes[7] = 9; /* the host may write it again */
    assert_ok(cuda_write(cuda, in, bytes, sizeof(bytes), &err), err);
    put(m, out, 6, 9);
    assert_string_equal(damage(s), "");
    put(m, in, 299, 5);
    assert_string_equal(damage(s), "buffer in, which is only to be read, was written");
    cuda_buffers_close(s);
    cuda_module_close(m);
}

static void no_memory_is_said_with_figures(void **state)
{
    const struct cuda_buffer b = {.name = "huge", .size_bytes = 40 << 20};
    struct err e;

    (void)state;
    setenv("FAKECUDA_FREE", "20e6", 1);
    for (int guarded = 0; guarded < 2; guarded++) {
        struct cuda_buffers *s = space(guarded, 2);
        e = (struct err){0};
        assert_int_equal(cuda_buffers_alloc(s, &b, &e), 0);
        assert_int_equal(e.kind, ERR_WORLD);
        assert_says(e.text, "out of memory: huge wants 40.");
        assert_says(e.text, "MiB are free");
        cuda_buffers_close(s);
    }
    unsetenv("FAKECUDA_FREE");
    assert_false(cuda_spoilt(cuda));
    struct cuda_buffers *s = space(true, 2); /* and nothing was lost */
    alloc(s, "small", 100, false);
    cuda_buffers_close(s);
}

/* ---- launches ---- */

static void launches_compute(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_buffers *s = space(true, 2);
    uint64_t at = alloc(s, "at", 4 * 96, false);
    uint32_t add = 3, v[96];
    const void *args[] = {&at, &add};
    struct ptx_launch l = launch_of("step", 96, args, 2);

    (void)state;
    for (uint32_t i = 0; i < 96; i++)
        v[i] = i;
    assert_ok(cuda_write(cuda, at, v, sizeof(v), &err), err);
    assert_int_equal(run(m, &l).end, PTX_DONE);
    assert_ok(cuda_read(cuda, at, v, sizeof(v), &err), err);
    for (uint32_t i = 0; i < 96; i++)
        assert_int_equal(v[i], 2 * i + 3);
    cuda_buffers_close(s);
    cuda_module_close(m);
}

static void shared_memory_above_48_kib(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_buffers *s = space(true, 2);
    uint64_t at = alloc(s, "at", 16, false);
    uint32_t last = 100000;
    const void *args[] = {&at, &last};
    struct ptx_launch l = launch_of("shared", 1, args, 2);
    unsigned char v;
    int blocks;

    (void)state;
    l.shared_bytes = 100001;
    assert_int_equal(run(m, &l).end, PTX_DONE);
    assert_ok(cuda_read(cuda, at, &v, 1, &err), err);
    assert_int_equal(v, 77);
    assert_ok(cuda_module_occupancy(m, "shared", 128, 100000, &blocks, &err), err);
    assert_int_equal(blocks, 2);
    assert_ok(cuda_module_occupancy(m, "shared", 128, 300000, &blocks, &err), err);
    assert_int_equal(blocks, 0);
    cuda_buffers_close(s);
    cuda_module_close(m);
}

static void refused_launches_are_findings(void **state)
{
    struct cuda_module *m = load(cuda);
    struct ptx_launch l;
    struct ptx_report r;

    (void)state;
    l = launch_of("few", 2048, NULL, 0);
    r = run(m, &l);
    assert_int_equal(r.end, PTX_BAD_LAUNCH);
    assert_says(r.findings[0].words, "dimension x must be from 1 to 1024");
    l.block[0] = 1024;
    l.block[1] = 2;
    assert_says(run(m, &l).findings[0].words, "2048 threads in a block; the device has at most 1024");
    l = launch_of("few", 65, NULL, 0);
    assert_says(run(m, &l).findings[0].words, "launch bounds");
    l = launch_of("few", 64, NULL, 0);
    l.shared_bytes = 240000;
    assert_says(run(m, &l).findings[0].words,
                "240000 bytes of shared memory; a block of the device has at most 232448");
    l = launch_of("few", 64, NULL, 0);
    l.grid[1] = 70000;
    assert_says(run(m, &l).findings[0].words, "grid 1 x 70000 x 1");
    l = launch_of("few", 64, NULL, 0);
    l.grid[0] = 6;
    l.cluster[0] = 4;
    assert_says(run(m, &l).findings[0].words, "do not divide");
    l.grid[0] = 16;
    l.cluster[0] = 16;
    assert_says(run(m, &l).findings[0].words, "the device does not take a cluster of that size");
    l.non_portable_cluster = true;
    assert_int_equal(run(m, &l).end, PTX_DONE);
    l = launch_of("few", 64, NULL, 0);
    l.grid[0] = 100000;
    l.cooperative = true;
    r = run(m, &l);
    assert_int_equal(r.end, PTX_BAD_LAUNCH);
    assert_int_equal(r.findings[0].kind, PTX_LAUNCH);
    assert_says(r.findings[0].words, "more blocks than the device holds");
    assert_false(cuda_spoilt(cuda));
    cuda_module_close(m);
}

static void a_missing_kernel_is_an_error(void **state)
{
    struct cuda_module *m = load(cuda);
    struct ptx_launch l = launch_of("nobody", 1, NULL, 0);
    struct ptx_report r;
    struct err e = {0};

    (void)state;
    assert_false(cuda_launch(m, &l, 1, &r, &e));
    assert_says(e.text, "no kernel nobody");
    cuda_module_close(m);
}

static void code_that_the_driver_refuses(void **state)
{
    struct cuda_module *m;
    struct err e = {0};

    (void)state;
    assert_false(cuda_module_open(&m, cuda, ".version 7.0 .target sm_70 rubbish", 34, &e));
    assert_says(e.text, "CUDA_ERROR_INVALID_PTX");
    assert_says(e.text, "rubbish"); /* the compiler's own words */
    setenv("FAKECUDA_PTX", "6.5", 1);
    assert_false(cuda_module_open(&m, cuda, kernels, strlen(kernels), &e));
    unsetenv("FAKECUDA_PTX");
    assert_says(e.text, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
    assert_says(e.text, "update the driver, or set ASTRA_NVRTC");
    assert_false(cuda_module_open(&m, cuda, "\177ELF", 4, &e));
    assert_says(e.text, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    assert_false(cuda_spoilt(cuda));
}

static void module_variables_are_hashed(void **state)
{
    static const char *const names[] = {"counter", "gone"};
    struct cuda_module *m = load(cuda);
    struct ptx_launch l = launch_of("count", 1, NULL, 0);
    uint64_t before, after, again;

    (void)state;
    assert_ok(cuda_module_globals_hash(m, names, 2, &before, &err), err);
    assert_ok(cuda_module_globals_hash(m, names, 2, &again, &err), err);
    assert_true(before == again);
    run(m, &l);
    assert_ok(cuda_module_globals_hash(m, names, 2, &after, &err), err);
    assert_true(before != after);
    cuda_module_close(m);
}

static void poison_and_flush_run(void **state)
{
    (void)state;
    assert_ok(cuda_poison_shared(cuda, 0xee, &err), err);
    assert_ok(cuda_flush(cuda, &err), err);
    assert_ok(cuda_flush(cuda, &err), err);
}

/* ---- faults: each spoils its process ---- */

static const char *fault_kernel;
static double fault_limit_s = 10;

static void say_fault(FILE *out)
{
    struct cuda *c;
    struct cuda_module *m;
    struct cuda_buffers *s;
    struct ptx_report r = {0};
    struct err e = {0};
    uint64_t at, null = 0;
    int64_t offset = 0;
    uint32_t byte = 1;
    const struct cuda_buffer b = {.name = "b", .size_bytes = 4096};

    if (!cuda_open(&c, 0, &e) || !cuda_module_open(&m, c, kernels, strlen(kernels), &e) ||
        !cuda_buffers_open(&s, c, true, 2, &e) || !(at = cuda_buffers_alloc(s, &b, &e))) {
        fprintf(out, "early: %s", e.text);
        return;
    }
    const void *put_args[] = {&at, &offset, &byte};
    struct ptx_launch l = launch_of(fault_kernel, 1, put_args, 3);
    if (!strcmp(fault_kernel, "behind"))
        l.kernel = "put", offset = 4096;
    else if (!strcmp(fault_kernel, "null"))
        l.kernel = "put", put_args[0] = &null;
    else if (!strcmp(fault_kernel, "misaligned"))
        l.n_args = 1;
    else if (strcmp(fault_kernel, "put") != 0)
        l.n_args = 0;
    if (cuda_launch(m, &l, fault_limit_s, &r, &e))
        fprintf(out, "%s|%s|%s", ptx_end_name(r.end), r.n_findings ? ptx_finding_name(r.findings[0].kind) : "",
                r.n_findings ? r.findings[0].words : "");
    else
        fprintf(out, "error|%s", e.text);
    fprintf(out, "|%s", cuda_spoilt(c) ? "spoilt" : "usable");
    fprintf(out, "|%s", cuda_set(c, at, 0, 1, &e) ? "works" : e.text);
    cuda_buffers_close(s);
    cuda_module_close(m);
    cuda_close(c);
}

static const char *fault(const char *kernel, const char *fail)
{
    fault_kernel = kernel;
    if (fail)
        setenv("FAKECUDA_FAIL", fail, 1);
    const char *said = child(say_fault);
    unsetenv("FAKECUDA_FAIL");
    return said;
}

static void faults_are_findings_and_spoil_the_context(void **state)
{
    const char *said;

    (void)state;
    assert_says(fault("put", NULL), "|usable|works");
    said = fault("behind", NULL); /* one byte beyond a buffer that ends with its pages */
    assert_says(said, "unsafe|out-of-bounds|");
    assert_says(said, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_says(said, "|spoilt|GPU 0 cannot be used any more by this process: a kernel ended with");
    assert_says(fault("null", NULL), "unsafe|out-of-bounds|");
    assert_says(fault("misaligned", NULL), "unsafe|misaligned|");
    assert_says(fault("stop", NULL), "crashed|trap|");
    said = fault("put", "cuLaunchKernel=701@2"); /* after the canaries */
    assert_says(said, "bad launch|bad-launch|it needs more registers or threads");
    assert_says(said, "|usable|works");
    assert_says(fault("put", "cuEventQuery=710@2"), "crashed|assertion-failed|");
    said = fault("put", "cuEventQuery=214@2");
    assert_says(said, "error|GPU 0: running a kernel: CUDA_ERROR_ECC_UNCORRECTABLE");
    assert_says(said, "no figure from it can be trusted");
    assert_says(said, "|spoilt|");
    assert_says(fault("put", "cuEventQuery=999@2"), "fallen off the bus");
}

static void a_kernel_without_end_is_hung(void **state)
{
    const char *said;

    (void)state;
    fault_limit_s = 0.2;
    setenv("FAKECUDA_ENDLESS", "endless", 1);
    said = fault("endless", NULL);
    unsetenv("FAKECUDA_ENDLESS");
    fault_limit_s = 10;
    assert_says(said, "hung|endless-loop|the kernel did not end within 0.2 s|spoilt|");
}

/* ---- graphs ---- */

static void graphs_keep_their_order(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_buffers *s = space(false, 2);
    uint64_t a = alloc(s, "a", 16, false), b = alloc(s, "b", 16, false), c = alloc(s, "c", 16, false);
    uint32_t one = 1, five = 5, v[4];
    const void *first[] = {&a, &one}, *second[] = {&b, &five}, *third[] = {&c, &one};
    struct ptx_launch l1 = launch_of("step", 4, first, 2), l2 = launch_of("step", 4, second, 2),
                      l3 = launch_of("step", 4, third, 2);
    struct cuda_graph *t;
    struct ptx_report r;
    double us;

    (void)state;
    assert_ok(cuda_set(cuda, a, 0, 16, &err), err);
    assert_ok(cuda_set(cuda, c, 0, 16, &err), err);
    assert_ok(cuda_graph_open(&t, cuda, &err), err);
    assert_ok(cuda_graph_launch(t, m, &l1, &err), err); /* a = 2a + 1 */
    assert_ok(cuda_graph_copy(t, b, a, 16, &err), err);
    one = 100;                                          /* what was recorded stays */
    assert_ok(cuda_graph_launch(t, m, &l2, &err), err); /* b = 2b + 5 */
    assert_ok(cuda_graph_set(t, a + 12, 0, 4, &err), err);
    l3.programmatic = true;
    assert_ok(cuda_graph_launch(t, m, &l3, &err), err); /* c = 2c + 100, behind what is no launch */
    assert_ok(cuda_graph_launch(t, m, &l3, &err), err); /* and once more, beginning early */
    assert_ok(cuda_graph_seal(t, &err), err);
    assert_ok(cuda_graph_time(t, 3, 10, &us, &r, &err), err);
    assert_int_equal(r.end, PTX_DONE);
    assert_true(us > 0);
    assert_ok(cuda_read(cuda, a, v, 16, &err), err);
    assert_int_equal(v[0], 7); /* three times 2a + 1 */
    assert_int_equal(v[3], 0);
    assert_ok(cuda_read(cuda, b, v, 16, &err), err);
    assert_int_equal(v[0], 19);
    assert_int_equal(v[3], 7);
    assert_ok(cuda_read(cuda, c, v, 16, &err), err);
    assert_int_equal(v[0], 6300);
    cuda_graph_close(t);
    cuda_buffers_close(s);
    cuda_module_close(m);
}

static struct cuda_graph *graph_of(struct cuda_module *m, const char *kernel, int launches)
{
    struct ptx_launch l = launch_of(kernel, 32, NULL, 0);
    struct cuda_graph *t;

    assert_ok(cuda_graph_open(&t, cuda, &err), err);
    for (int i = 0; i < launches; i++)
        assert_ok(cuda_graph_launch(t, m, &l, &err), err);
    assert_ok(cuda_graph_seal(t, &err), err);
    return t;
}

static void times_are_those_between_the_events(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_graph *t = graph_of(m, "few", 2);
    struct ptx_report r;
    double us;

    (void)state;
    setenv("FAKECUDA_TIMES", "3.25", 1);
    assert_ok(cuda_graph_time(t, 4, 10, &us, &r, &err), err);
    assert_float_equal(us, 26, 1e-3);
    setenv("FAKECUDA_TIMES", "1,2", 1);
    assert_ok(cuda_graph_time(t, 5, 10, &us, &r, &err), err);
    assert_float_equal(us, 15, 1e-3);
    unsetenv("FAKECUDA_TIMES");
    cuda_graph_close(t);
    cuda_module_close(m);
}

static void a_full_queue_is_no_part_of_the_time(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_graph *t = graph_of(m, "few", 4);
    struct ptx_report r;
    double us;

    (void)state;
    setenv("FAKECUDA_TIMES", "1", 1);
    setenv("FAKECUDA_QUEUE", "16", 1);
    assert_ok(cuda_graph_time(t, 20, 30, &us, &r, &err), err);
    unsetenv("FAKECUDA_QUEUE");
    unsetenv("FAKECUDA_TIMES");
    assert_int_equal(r.end, PTX_DONE);
    assert_float_equal(us, 80, 1e-3);
    assert_int_not_equal(cuda->flags[1], cuda->ticket); /* the last gate did not give up */
    cuda_graph_close(t);
    cuda_module_close(m);
}

static void what_cannot_be_queued_is_no_time(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_graph *t = graph_of(m, "few", 4);
    struct ptx_report r;
    struct err e = {0};
    double us;

    (void)state;
    setenv("FAKECUDA_QUEUE", "3", 1);
    assert_false(cuda_graph_time(t, 2, 30, &us, &r, &e));
    unsetenv("FAKECUDA_QUEUE");
    assert_says(e.text, "4 launches could not be queued within 0.1 s");
    assert_false(cuda_spoilt(cuda));
    assert_ok(cuda_graph_time(t, 2, 30, &us, &r, &err), err);
    cuda_graph_close(t);
    cuda_module_close(m);
}

/* An uploaded graph that has not run slows down all launches of the device: none may wait. */
static void graphs_are_uploaded_right_before_they_run(void **state)
{
    struct cuda_module *m = load(cuda);
    struct cuda_graph *a = graph_of(m, "few", 2), *b;
    struct ptx_report r;
    double us;

    (void)state;
    setenv("FAKECUDA_TIMES", "1", 1);
    assert_ok(cuda_graph_time(a, 2, 10, &us, &r, &err), err);
    b = graph_of(m, "few", 2);
    assert_ok(cuda_graph_time(a, 2, 10, &us, &r, &err), err);
    assert_float_equal(us, 4, 1e-3);
    assert_ok(cuda_graph_time(b, 2, 10, &us, &r, &err), err);
    assert_float_equal(us, 4, 1e-3);
    unsetenv("FAKECUDA_TIMES");
    cuda_graph_close(a);
    cuda_graph_close(b);
    cuda_module_close(m);
}

static void say_hung_graph(FILE *out)
{
    struct cuda_module *m;
    struct cuda_graph *t;
    struct ptx_launch l = launch_of("endless", 1, NULL, 0);
    struct ptx_report r = {0};
    struct err e = {0};
    double us;

    if (!cuda_open(&cuda, 0, &e) || !cuda_module_open(&m, cuda, kernels, strlen(kernels), &e) ||
        !cuda_graph_open(&t, cuda, &e) || !cuda_graph_launch(t, m, &l, &e) || !cuda_graph_seal(t, &e) ||
        !cuda_graph_time(t, 2, 0.2, &us, &r, &e)) {
        fprintf(out, "error %s", e.text);
        return;
    }
    fprintf(out, "%s|%s|%s", ptx_end_name(r.end), r.findings[0].words, cuda_spoilt(cuda) ? "spoilt" : "usable");
    cuda_graph_close(t);
}

static void a_graph_without_end_is_hung(void **state)
{
    (void)state;
    setenv("FAKECUDA_ENDLESS", "endless", 1);
    assert_says(child(say_hung_graph), "hung|2 replays did not end within 0.2 s|spoilt");
    unsetenv("FAKECUDA_ENDLESS");
}

static void a_graph_refuses_what_the_driver_refuses(void **state)
{
    struct cuda_module *m = load(cuda);
    struct ptx_launch l = launch_of("few", 65, NULL, 0);
    struct cuda_graph *t;
    struct err e = {0};

    (void)state;
    assert_ok(cuda_graph_open(&t, cuda, &err), err);
    assert_false(cuda_graph_launch(t, m, &l, &e));
    assert_says(e.text, "few: 65 threads in a block");
    l = launch_of("few", 64, NULL, 0);
    l.grid[0] = 100000;
    l.cooperative = true;
    assert_false(cuda_graph_launch(t, m, &l, &e));
    cuda_graph_close(t);
    cuda_module_close(m);
}

/* ---- the lock ---- */

static void say_lock(FILE *out)
{
    struct cuda *c;
    struct err e = {0};

    if (cuda_open(&c, 0, &e) && cuda_lock(c, 0.05, &e))
        fprintf(out, "locked");
    else
        fprintf(out, "%s", e.text);
}

static void one_process_at_a_time(void **state)
{
    char uuid[16];

    (void)state;
    assert_ok(cuda_lock(cuda, 0, &err), err);
    assert_ok(cuda_lock(cuda, 0, &err), err); /* has it already */
    snprintf(uuid, sizeof(uuid), "process %ld", (long)getpid());
    const char *said = child(say_lock);
    assert_says(said, "being measured on by another astra");
    assert_says(said, uuid);
    cuda_unlock(cuda);
    assert_string_equal(child(say_lock), "locked");
    assert_ok(cuda_lock(cuda, 1, &err), err); /* the child's death gave it back */
    cuda_unlock(cuda);
}

int main(void)
{
    /* First those that start a driver of their own, before this process has one. */
    const struct CMUnitTest early[] = {
        cmocka_unit_test(says_what_is_wrong_and_what_helps),
        cmocka_unit_test(opens_what_the_driver_shows),
        cmocka_unit_test(a_gpu_and_a_compiler_that_do_not_fit),
        cmocka_unit_test(faults_are_findings_and_spoil_the_context),
        cmocka_unit_test(a_kernel_without_end_is_hung),
        cmocka_unit_test(a_graph_without_end_is_hung),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_beyond_the_last_is_an_error),
        cmocka_unit_test(device_files_explain_a_missing_gpu),
        cmocka_unit_test(knows_the_gpu),
        cmocka_unit_test(target_follows_the_compiler),
        cmocka_unit_test(buffers_keep_their_bytes),
        cmocka_unit_test(large_contents_go_in_pieces),
        cmocka_unit_test(ends_are_flush_with_the_pages),
        cmocka_unit_test(odd_seeds_move_the_bases),
        cmocka_unit_test(damage_names_buffer_side_and_distance),
        cmocka_unit_test(written_inputs_are_seen),
        cmocka_unit_test(no_memory_is_said_with_figures),
        cmocka_unit_test(launches_compute),
        cmocka_unit_test(shared_memory_above_48_kib),
        cmocka_unit_test(refused_launches_are_findings),
        cmocka_unit_test(a_missing_kernel_is_an_error),
        cmocka_unit_test(code_that_the_driver_refuses),
        cmocka_unit_test(module_variables_are_hashed),
        cmocka_unit_test(poison_and_flush_run),
        cmocka_unit_test(graphs_keep_their_order),
        cmocka_unit_test(times_are_those_between_the_events),
        cmocka_unit_test(a_full_queue_is_no_part_of_the_time),
        cmocka_unit_test(what_cannot_be_queued_is_no_time),
        cmocka_unit_test(graphs_are_uploaded_right_before_they_run),
        cmocka_unit_test(a_graph_refuses_what_the_driver_refuses),
        cmocka_unit_test(one_process_at_a_time),
    };
    char number[16];

    if (!getenv("ASTRA_CUDA_DRIVER")) {
        fprintf(stderr, "ASTRA_CUDA_DRIVER must name the fake driver: run this through meson test\n");
        return 1;
    }
    snprintf(number, sizeof(number), "%d", (int)getpid() % 256); /* a lock file of our own */
    setenv("FAKECUDA_UUID", number, 1);
    arena = arena_open();
    int failed = cmocka_run_group_tests_name("before the driver", early, NULL, NULL);
    arena_close(arena);
    return failed + cmocka_run_group_tests_name("cuda", tests, open_all, close_all);
}
