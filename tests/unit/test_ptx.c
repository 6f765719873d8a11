/* The simulator's engine: text to module, launches, scheduling, findings. Instruction by instruction:
 * tests/ptx. */
#include "test.h"

#include "clock/clock.h"
#include "sanitize/sanitize.h"

static struct ptx_module *module;
static struct ptx_mem *mem;
static struct err err;
static struct ptx_report report;

static char *read_text(const char *path, size_t *size)
{
    struct arena *a = arena_open();
    char *text;
    assert_ok(fs_read(a, path, &text, size, &err), err);
    char *copy = mem_alloc(*size + 1);
    memcpy(copy, text, *size + 1);
    arena_close(a);
    return copy;
}

static int setup(void **state)
{
    (void)state;
    size_t size;
    char *text = read_text("tests/ptx/kernels.ptx", &size);
    assert_ok(ptx_module_open(&module, "kernels.ptx", text, size, &err), err);
    free(text);
    mem = ptx_mem_open(1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ptx_report_clear(&report);
    ptx_mem_close(mem);
    ptx_module_close(module);
    return 0;
}

static uint64_t buffer(const char *name, const void *data, size_t bytes)
{
    struct ptx_buffer b = {.name = name, .size_bytes = bytes, .initialised = true};
    uint64_t addr = ptx_mem_alloc(mem, &b, &err);
    assert_true(addr != 0);
    if (data)
        assert_true(ptx_mem_write(mem, addr, data, bytes, true));
    return addr;
}

struct launch {
    const char *kernel;
    uint32_t grid, block, shared;
    unsigned checks;
    uint64_t seed, limit;
    const void *args[8];
    size_t n_args;
};

static void run(const struct launch *l)
{
    struct ptx_launch launch = {.kernel = l->kernel,
                                .grid = {l->grid, 1, 1},
                                .block = {l->block, 1, 1},
                                .shared_bytes = l->shared,
                                .args = l->args,
                                .n_args = l->n_args};
    struct sanitizer sanitizer;
    struct ptx_options o = {.device = ptx_device_find("h200"),
                            .observers = {sanitizer_on(&sanitizer, l->checks)},
                            .seed = l->seed,
                            .max_warp_insns = l->limit};
    ptx_report_clear(&report);
    assert_ok(ptx_run(module, mem, &launch, &o, &report, &err), err);
}

static void expect_end(enum ptx_end end)
{
    if (report.end != end)
        fail_msg("ended %s, not %s: %s", ptx_end_name(report.end), ptx_end_name(end),
                 report.n_findings ? report.findings[0].words : "");
}

static void test_elementwise(void **state)
{
    (void)state;
    enum { N = 1000 };
    float in[N], out[N], by = 1.5f;
    int n = N;
    for (int i = 0; i < N; i++)
        in[i] = (float)i - 300;
    uint64_t a = buffer("in", in, sizeof(in)), b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"scale", 8, 128, 0, SANITIZE_ALL, 0, 0, {&a, &b, &n, &by}, 4});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < N; i++)
        assert_true(out[i] == in[i] * by);
    assert_int_equal(report.blocks, 8);
}

static void test_out_of_bounds(void **state)
{
    (void)state;
    float by = 2;
    int n = 1000;
    uint64_t a = buffer("in", NULL, 4000), b = buffer("out", NULL, 3996);
    run(&(struct launch){"scale", 8, 128, 0, 0, 0, 0, {&a, &b, &n, &by}, 4});
    expect_end(PTX_UNSAFE);
    assert_int_equal(report.findings[0].kind, PTX_OUT_OF_BOUNDS);
    assert_int_equal(report.findings[0].thread[0], 999 % 128);
    assert_int_equal(report.findings[0].block[0], 7);
    assert_int_equal(report.findings[0].line, 13);
    assert_non_null(strstr(report.findings[0].words, "out"));
}

static void test_calls(void **state)
{
    (void)state;
    enum { N = 300 };
    float in[N], out[N];
    int n = N;
    for (int i = 0; i < N; i++)
        in[i] = (float)(i % 17);
    uint64_t a = buffer("in", in, sizeof(in)), b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"calls", 3, 128, 0, SANITIZE_ALL, 0, 0, {&a, &b, &n}, 3});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < N; i++) {
        float sum = 0, three = 0;
        for (int k = 0; k < i % 7; k++)
            sum += in[i] * (float)k;
        for (int k = 0; k < 3; k++)
            three += in[i] * (float)k;
        assert_true(out[i] == sum + three * (float)((i & 3) + 1));
    }
}

static void test_barriers(void **state)
{
    (void)state;
    enum { N = 5000 };
    int n = N;
    float *in = mem_alloc(N * 4), sum = 0, out = 0;
    for (int i = 0; i < N; i++)
        sum += in[i] = (float)(i % 13);
    for (uint64_t seed = 0; seed < 4; seed++) {
        uint64_t a = buffer("in", in, N * 4), b = buffer("out", &out, 4);
        run(&(struct launch){"block_sum", 5, 256, 0, SANITIZE_ALL, seed, 0, {&a, &b, &n}, 3});
        expect_end(PTX_DONE);
        float got;
        ptx_mem_read(mem, b, &got, 4);
        assert_true(got == sum);
    }
    free(in);
}

static void test_shuffles_and_dynamic_shared(void **state)
{
    (void)state;
    int in[64], out[64], sums[2] = {0}, odd[2] = {0};
    for (int i = 0; i < 64; i++) {
        in[i] = i * i % 31;
        sums[i / 32] += in[i];
        odd[i / 32] += in[i] & 1;
    }
    uint64_t a = buffer("in", in, sizeof(in)), b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"warp_sum", 1, 64, 256, SANITIZE_INIT, 0, 0, {&a, &b}, 2});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], sums[i / 32] + odd[i / 32]);
    run(&(struct launch){"warp_sum", 1, 64, 128, 0, 0, 0, {&a, &b}, 2});
    expect_end(PTX_UNSAFE);
    assert_int_equal(report.findings[0].kind, PTX_OUT_OF_BOUNDS);
}

static void test_divergence(void **state)
{
    (void)state;
    int out[96], n = 7;
    uint64_t b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"divergent", 1, 96, 0, SANITIZE_ALL, 3, 0, {&b, &n}, 2});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 96; i++) {
        unsigned x = (unsigned)(i + n);
        int steps = 0;
        for (; x != 1; steps++)
            x = x & 1 ? 3 * x + 1 : x / 2;
        int want = steps;
        switch (steps % 6) {
        case 0:
            want += 10;
            break;
        case 1:
            want *= 3;
            break;
        case 2:
            want -= 7;
            break;
        case 3:
            want ^= 0x55;
            break;
        case 4:
            want <<= 2;
            break;
        }
        assert_int_equal(out[i], want);
    }
}

static void test_spin_lock_in_one_warp(void **state)
{
    (void)state;
    int zero = 0, value;
    uint64_t lock = buffer("lock", &zero, 4), v = buffer("value", &zero, 4);
    run(&(struct launch){"locked", 3, 96, 0, 0, 0, 0, {&lock, &v}, 2});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, v, &value, 4);
    assert_int_equal(value, 288);
    int one = 1; /* held by nobody: a deadlock */
    ptx_mem_write(mem, lock, &one, 4, true);
    run(&(struct launch){"locked", 3, 96, 0, 0, 0, 0, {&lock, &v}, 2});
    expect_end(PTX_HUNG);
    assert_int_equal(report.findings[0].line, 77);
}

static void test_blocks_wait_for_each_other(void **state)
{
    (void)state;
    int zero = 0, out[64 * 32];
    uint64_t a = buffer("arrived", &zero, 4), b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"grid_barrier", 64, 32, 0, 0, 0, 0, {&a, &b}, 2});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 64 * 32; i++)
        assert_int_equal(out[i], 64);
    /* 132 SMs hold 4224 blocks of a warp: with more, the barrier cannot open */
    uint64_t c = buffer("out", NULL, 4300 * 128);
    ptx_mem_write(mem, a, &zero, 4, true);
    run(&(struct launch){"grid_barrier", 4300, 32, 0, 0, 0, 0, {&a, &c}, 2});
    expect_end(PTX_HUNG);
    assert_int_equal(report.findings[0].kind, PTX_DEADLOCK);
}

static void test_printf_assert_trap_globals(void **state)
{
    (void)state;
    int n = 3;
    uint64_t before = ptx_module_globals_hash(module, mem);
    run(&(struct launch){"speaks", 1, 32, 0, 0, 0, 0, {&n}, 1});
    expect_end(PTX_DONE);
    assert_non_null(report.printed);
    assert_string_equal(str_text(report.printed),
                        "thread 0 of kernel:  1.50 1099511627776\nthread 1 of kernel:  1.50 1099511627776\n");
    assert_true(ptx_module_globals_hash(module, mem) != before);
    n = 13;
    run(&(struct launch){"speaks", 1, 32, 0, 0, 0, 0, {&n}, 1});
    expect_end(PTX_CRASHED);
    assert_int_equal(report.findings[0].kind, PTX_ASSERT);
    assert_non_null(strstr(report.findings[0].words, "n != 13"));
    n = 14;
    run(&(struct launch){"speaks", 1, 32, 0, 0, 0, 0, {&n}, 1});
    expect_end(PTX_CRASHED);
    assert_int_equal(report.findings[0].kind, PTX_TRAP);
}

static void test_endless(void **state)
{
    (void)state;
    int n = 9;
    uint64_t p = buffer("p", NULL, 4);
    run(&(struct launch){"endless", 1, 32, 0, 0, 0, 100000, {&p, &n}, 2});
    expect_end(PTX_HUNG);
    assert_int_equal(report.findings[0].kind, PTX_LOOP);
    assert_in_range(report.findings[0].line, 117, 119);
    run(&(struct launch){"half_barrier", 1, 64, 0, 0, 0, 0, {0}, 0});
    expect_end(PTX_HUNG);
}

static void test_recursion(void **state)
{
    (void)state;
    static const int fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
    int out[64];
    uint64_t b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"recurses", 1, 64, 0, 0, 0, 0, {&b}, 1});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], fib[i % 9] * 10 + i + (i & 3));
}

static int deep(int n, const int *above)
{
    int own[2] = {n, above ? above[n & 1] : 0};
    int below = n > 0 ? deep(n - 1, own) : 0;
    return below * 3 + own[0] + own[1];
}

static void test_frames_of_recursion(void **state)
{
    (void)state;
    int out[64];
    uint64_t b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"frames", 2, 64, 0, SANITIZE_ALL & ~SANITIZE_RACE_GLOBAL, 0, 0, {&b}, 1});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], deep(i % 6, NULL));
}

static void test_calls_through_pointers(void **state)
{
    (void)state;
    int out[64];
    uint64_t b = buffer("out", NULL, sizeof(out));
    run(&(struct launch){"pointers", 1, 64, 0, SANITIZE_ALL, 0, 0, {&b}, 1});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], ((const int[]){3 * i + 2, 6 * i, 3 * i - 14})[i % 3]);
}

static void test_launch_limits(void **state)
{
    (void)state;
    float by = 2;
    int n = 4;
    uint64_t a = buffer("in", NULL, 16);
    run(&(struct launch){"scale", 1, 1025, 0, 0, 0, 0, {&a, &a, &n, &by}, 4});
    expect_end(PTX_BAD_LAUNCH);
    run(&(struct launch){"scale", 1, 32, 300000, 0, 0, 0, {&a, &a, &n, &by}, 4});
    expect_end(PTX_BAD_LAUNCH);
    struct ptx_launch l = {.kernel = "none", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct ptx_options o = {.device = ptx_device_find("h200")};
    assert_false(ptx_run(module, mem, &l, &o, &report, &err));
    l.kernel = "scale";
    assert_false(ptx_run(module, mem, &l, &o, &report, &err));
}

/* `sizes` writes the blocks of its cluster; entries differ in what they demand. */
static const char cluster_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
#define SIZES(name, directives)                                                                           \
    ".visible .entry " name "(.param .u64 out)\n" directives "\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n" \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %cluster_nctarank;\nmov.u32 %r2, %ctaid.x;\n"                \
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r1;\nret;\n}\n"
    SIZES("any", "") SIZES("two", ".reqnctapercluster 2") SIZES("must", ".explicitcluster")
        SIZES("four", ".maxclusterrank 4");
#undef SIZES

static enum ptx_end cluster_end(struct ptx_module *m, const char *kernel, uint32_t grid, uint32_t cluster,
                                bool non_portable, const char *device, uint32_t *size)
{
    uint64_t out = buffer("out", NULL, 4 * 32);
    const void *args[] = {&out};
    struct ptx_launch l = {.kernel = kernel,
                           .grid = {grid, 1, 1},
                           .block = {32, 1, 1},
                           .args = args,
                           .n_args = 1,
                           .cluster = {cluster},
                           .non_portable_cluster = non_portable};
    struct ptx_options o = {.device = ptx_device_find(device)};
    ptx_report_clear(&report);
    assert_ok(ptx_run(m, mem, &l, &o, &report, &err), err);
    ptx_mem_read(mem, out, size, 4);
    return report.end;
}

static void test_cluster_limits(void **state)
{
    static const struct {
        const char *kernel;
        uint32_t grid, cluster;
        bool non_portable;
        const char *device;
        enum ptx_end end;
        uint32_t size;
    } cases[] = {
        {"any", 16, 0, false, "h200", PTX_DONE, 1},        {"any", 16, 8, false, "h200", PTX_DONE, 8},
        {"any", 16, 16, false, "h200", PTX_BAD_LAUNCH, 0}, {"any", 16, 16, true, "h200", PTX_DONE, 16},
        {"any", 32, 32, true, "h200", PTX_BAD_LAUNCH, 0},  {"any", 15, 2, false, "h200", PTX_BAD_LAUNCH, 0},
        {"two", 16, 0, false, "h200", PTX_DONE, 2},        {"two", 16, 2, false, "h200", PTX_DONE, 2},
        {"two", 16, 4, false, "h200", PTX_BAD_LAUNCH, 0},  {"two", 15, 0, false, "h200", PTX_BAD_LAUNCH, 0},
        {"must", 16, 0, false, "h200", PTX_BAD_LAUNCH, 0}, {"must", 16, 4, false, "h200", PTX_DONE, 4},
        {"four", 16, 4, false, "h200", PTX_DONE, 4},       {"four", 16, 8, false, "h200", PTX_BAD_LAUNCH, 0},
        {"any", 16, 2, false, "l40s", PTX_BAD_LAUNCH, 0},  {"any", 16, 0, false, "l40s", PTX_DONE, 1},
    };
    struct ptx_module *m;
    (void)state;
    assert_ok(ptx_module_open(&m, "clusters", cluster_text, strlen(cluster_text), &err), err);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        uint32_t size = 0;
        enum ptx_end end = cluster_end(m, cases[k].kernel, cases[k].grid, cases[k].cluster,
                                       cases[k].non_portable, cases[k].device, &size);
        if (end != cases[k].end || size != cases[k].size)
            fail_msg("case %zu: %s, clusters of %u", k, ptx_end_name(end), size);
    }
    const struct ptx_kernel_info *two = ptx_module_kernel(m, "two");
    assert_int_equal(two->req_cluster[0] * two->req_cluster[1] * two->req_cluster[2], 2);
    assert_int_equal(ptx_module_kernel(m, "four")->max_cluster, 4);
    ptx_module_close(m);
}

static void fill_ramp(void *context, uint64_t offset, void *to, size_t size)
{
    ++*(size_t *)context;
    assert_int_equal(offset % 4, 0);
    for (size_t k = 0; k < size / 4; k++)
        ((uint32_t *)to)[k] = (uint32_t)(offset / 4 + k);
}

static void test_fill_on_touch(void **state)
{
    (void)state;
    size_t pages = 0;
    uint32_t word;
    struct ptx_buffer b = {
        .name = "big", .size_bytes = 1ull << 33, .initialised = true, .fill = fill_ramp, .context = &pages};
    uint64_t addr = ptx_mem_alloc(mem, &b, &err);
    assert_true(addr != 0);
    assert_true(ptx_mem_read(mem, addr + 4000000000ull, &word, 4));
    assert_int_equal(word, 1000000000);
    assert_int_equal(pages, 1);
    assert_false(ptx_mem_read(mem, addr + (1ull << 33) - 3, &word, 4));
    assert_int_equal(addr % 256, 0);
}

/* What is set or copied by the gigabyte is made page by page, in the order in which it was asked for. */
static void test_set_on_touch(void **state)
{
    (void)state;
    size_t pages = 0, none = 0;
    uint32_t word;
    struct ptx_buffer from = {.name = "from",
                              .size_bytes = 1ull << 33,
                              .initialised = true,
                              .read_only = true,
                              .fill = fill_ramp,
                              .context = &pages},
                      to = {.name = "to", .size_bytes = 1ull << 33, .fill = fill_ramp, .context = &none};
    uint64_t a = ptx_mem_alloc(mem, &from, &err), b = ptx_mem_alloc(mem, &to, &err), far = b + (1ull << 32);
    assert_true(a && b);
    assert_true(ptx_mem_write(mem, far, "abcd", 4, true));
    assert_true(ptx_mem_set(mem, b + 2, 7, (1ull << 33) - 2, true));
    assert_true(ptx_mem_read(mem, far, &word, 4)); /* was there */
    assert_int_equal(word, 0x07070707);
    assert_true(ptx_mem_read(mem, b + 100000, &word, 4)); /* was not */
    assert_int_equal(word, 0x07070707);
    assert_int_equal(ptx_mem_first_uninitialised(mem, b + (1ull << 31), 4), -1);
    assert_int_equal(ptx_mem_first_uninitialised(mem, b + 1, 4), 0);
    assert_true(ptx_mem_write(mem, far + 8192, "abcd", 4, true));
    assert_true(ptx_mem_copies_later(mem, b, a, 1ull << 32) && !ptx_mem_copies_later(mem, a, b, 1ull << 32));
    ptx_mem_copy_later(mem, far, a, 1ull << 32);
    assert_true(ptx_mem_read(mem, far + 8192, &word, 4));
    assert_int_equal(word, 2048);
    assert_true(ptx_mem_read(mem, far + (1ull << 31), &word, 4));
    assert_int_equal(word, 1 << 29);
    assert_true(ptx_mem_read(mem, far - 4, &word, 4));
    assert_int_equal(word, 0x07070707);
    assert_true(pages < 10 && none < 10);
}

static void test_vectors(void **state)
{
    (void)state;
    float in[200 * 4], out[200 * 4];
    int n = 200;
    for (int i = 0; i < 800; i++)
        in[i] = (float)i;
    uint64_t a = buffer("in", in, sizeof(in)), b = buffer("out", NULL, sizeof(out)), odd = a + 4;
    run(&(struct launch){"wide", 2, 128, 0, SANITIZE_ALL, 0, 0, {&a, &b, &n}, 3});
    expect_end(PTX_DONE);
    ptx_mem_read(mem, b, out, sizeof(out));
    for (int i = 0; i < 800; i++)
        assert_true(out[i] == (float)(i / 4 * 4 + 3 - i % 4));
    run(&(struct launch){"wide", 2, 128, 0, 0, 0, 0, {&odd, &b, &n}, 3});
    expect_end(PTX_UNSAFE);
    assert_int_equal(report.findings[0].kind, PTX_MISALIGNED);
}

static void test_hash(void **state)
{
    (void)state;
    static const char one[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p) { .reg .b32 %r<4>; mov.u32 %r1, 5; "
        "add.s32 %r2, %r1, 7; ret; }";
    static const char two[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n// words\n.visible .entry g(.param .u64 q) { .reg .b32 %x<9>; \n mov.u32 "
        "%x7, 5; add.s32 %x1, %x7, 7; ret; }";
    static const char three[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p) { .reg .b32 %r<4>; mov.u32 %r1, 5; "
        "add.s32 %r2, %r1, 8; ret; }";
    const char *texts[] = {one, two, three};
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        struct ptx_module *m;
        assert_ok(ptx_module_open(&m, "text", texts[k], strlen(texts[k]), &err), err);
        hash[k] = ptx_module_hash(m);
        ptx_module_close(m);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] != hash[2]);
}

static void test_errors_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, col;
    } bad[] = {
        {"", 1, 1},
        {"hello", 1, 1},
        {".version 8.0\n.target sm_90\n.entry f() { bra L; }", 3, 18},
        {".version 8.0\n.entry f() { .reg .b32 %r<2>; add.s32 %r1, %r9, 1; }", 2, 44},
        {".version 8.0\n.entry f() { .reg .b32 %r<2>; add.s32 %r1, %r1, 1 }", 2, 51},
        {".version 8.0\n.entry f() { ret;", 2, 18},
        {".version 8.0\n.global .b8 x[4] = {1,2,3,4,5};", 2, 29},
    };
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        struct ptx_module *m;
        struct err e = {0};
        assert_false(ptx_module_open(&m, "text", bad[k].text, strlen(bad[k].text), &e));
        if (e.line != bad[k].line || e.col != bad[k].col)
            fail_msg("%s: at %d:%d, not %d:%d: %s", bad[k].text, e.line, e.col, bad[k].line, bad[k].col,
                     e.text);
    }
}

/* A kernel that nobody launches may ask for what only a later PTX has. */
static void test_unknown_special_registers_open(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f() { ret; }\n.visible .entry g() "
        "{ .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r1, "
        "%thing_of_later.x; @%p1 add.s32 %r1, %r1, %thing; ret; }";
    struct ptx_module *m;
    const struct ptx_kernel_info *list;
    struct err e = {0};

    assert_ok(ptx_module_open(&m, "text", text, strlen(text), &e), e);
    assert_int_equal(ptx_module_kernels(m, &list), 2);
    ptx_module_close(m);
}

/* Which cache hints may outlive a launch: a policy must be seen where it was made. */
static void test_honest_hints(void **state)
{
#define FIRST "createpolicy.fractional.L2::evict_first.b64 %rd2, 1.0;"
#define LOAD  "ld.global.L2::cache_hint.b32 %r1, [%rd1], %rd2;"
    static const struct {
        const char *body, *words; /* NULL: honest */
    } cases[] = {
        {FIRST LOAD, NULL},
        {"createpolicy.fractional.L2::evict_normal.L2::evict_unchanged.b64 %rd2, 0.5;" LOAD, NULL},
        {"createpolicy.range.global.L2::evict_first.b64 %rd2, [%rd1], 64, 128;" LOAD, NULL},
        {"mov.b64 %rd2, 0x12F0000000000000;" LOAD, NULL},
        {"mov.b64 %rd3, 0x1000000000000000;mov.b64 %rd2, %rd3;" LOAD, NULL},
        {FIRST "@%p1 mov.b64 %rd2, 0x1000000000000000;" LOAD, NULL},
        {"createpolicy.fractional.L2::evict_first.b64 %rd3, 1.0;selp.b64 %rd2, 0x12F0000000000000, %rd3, %p1;" LOAD,
         NULL},
        {"L:" FIRST "mov.b64 %rd3, %rd2;mov.b64 %rd2, %rd3;" LOAD "@%p1 bra L;", NULL},
        {"ld.global.L1::no_allocate.L2::128B.b32 %r1, [%rd1];st.global.L1::evict_first.b32 [%rd1], %r1;", NULL},
        {"ld.global.cs.b32 %r1, [%rd1];st.global.wt.b32 [%rd1], %r1;prefetch.global.L2 [%rd1];", NULL},
        {"mov.b64 %rd2, 0x14F0000000000000;" LOAD, "policy for the L2 may pin"},
        {"mov.b64 %rd2, 0;" LOAD, "policy for the L2 may pin"},
        {FIRST "@%p1 mov.b64 %rd2, 0x14F0000000000000;" LOAD, "policy for the L2 may pin"},
        {FIRST "add.s64 %rd2, %rd2, %rd1;" LOAD, "policy for the L2 may pin"},
        {"ld.param.b64 %rd2, [a];" LOAD, "policy for the L2 may pin"},
        {"ld.global.v2.b64 {%rd3, %rd2}, [%rd1];" LOAD, "policy for the L2 may pin"},
        {"createpolicy.cvt.L2.b64 %rd2, %rd1;" LOAD, "policy for the L2 may pin"},
        {LOAD, "policy for the L2 may pin"},
        {"createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;" LOAD, "pins lines"},
        {"createpolicy.range.global.L2::evict_last.b64 %rd2, [%rd1], 64, 128;" LOAD, "pins lines"},
        {"st.global.L1::evict_last.b32 [%rd1], %r1;", "pins lines"},
        {"prefetch.global.L2::evict_last [%rd1];", "pins lines"},
        {"applypriority.global.L2::evict_normal [%rd1], 128;", "priority"},
        {"discard.global.L2 [%rd1], 128;", "drops"},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        char text[1024], words[400] = "";
        int line;
        struct ptx_module *m;
        snprintf(
            text, sizeof(text),
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry f(.param .b64 a) {.reg .pred %%p<2>;.reg .b32 "
            "%%r<2>;.reg .b64 %%rd<4>;ld.param.b64 %%rd1, [a];%s ret;}",
            cases[k].body);
        assert_ok(ptx_module_open(&m, "text", text, strlen(text), &err), err);
        bool pins = ptx_module_pins(m, words, &line);
        if (pins != (cases[k].words != NULL) || (pins && !strstr(words, cases[k].words)))
            fail_msg("%s: %s", cases[k].body, words);
        ptx_module_close(m);
    }
}

/* Mutations of real text: a module or an error, and its kernels end. */
static void test_mutations(void **state)
{
    (void)state;
    size_t size;
    char *text = read_text("tests/ptx/kernels.ptx", &size), *copy = mem_alloc(size + 1);
    struct rng rng = {42};
    for (int round = 0; round < 300; round++) {
        memcpy(copy, text, size);
        for (int n = 0; n < 1 + round % 8; n++) {
            size_t at = rng_below(&rng, size), from = rng_below(&rng, size), len = rng_below(&rng, 12);
            if (rng_below(&rng, 2))
                copy[at] = " ,;{}[]%@.0123456789abrdfsu"[rng_below(&rng, 27)];
            else if (at + len < size && from + len < size)
                memmove(copy + at, copy + from, len);
        }
        struct ptx_module *m;
        struct err e = {0};
        if (!ptx_module_open(&m, "mutant", copy, size, &e)) {
            assert_true(e.line > 0);
            continue;
        }
        const struct ptx_kernel_info *list;
        size_t n = ptx_module_kernels(m, &list);
        struct ptx_mem *small = ptx_mem_open(1);
        for (size_t k = 0; k < n; k++) {
            static const uint64_t zeros[1024];
            const void *args[64];
            struct ptx_report r = {0};
            for (size_t q = 0; q < ARRAY_LEN(args); q++)
                args[q] = zeros;
            bool fits = list[k].n_params <= ARRAY_LEN(args);
            for (size_t q = 0; fits && q < list[k].n_params; q++)
                fits = list[k].param_bytes[q] <= sizeof(zeros);
            if (!fits)
                continue;
            struct ptx_launch l = {.kernel = list[k].name,
                                   .grid = {2, 1, 1},
                                   .block = {64, 1, 1},
                                   .args = args,
                                   .n_args = list[k].n_params};
            struct sanitizer sanitizer;
            struct ptx_options o = {.device = ptx_device_find("h200"),
                                    .observers = {sanitizer_on(&sanitizer, round % 2 ? SANITIZE_ALL : 0)},
                                    .max_warp_insns = 2000};
            ptx_run(m, small, &l, &o, &r, &e);
            ptx_report_clear(&r);
        }
        ptx_mem_close(small);
        ptx_module_close(m);
    }
    free(copy);
    free(text);
}

/* A branch that goes one way, a selection that goes one way, an instruction behind a guard that is never true,
 * and a kernel that nobody launches. */
static const char covered_ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry one(.param .u32 n)\n{\n"
                                  ".reg .pred %p<4>;\n.reg .u32 %r<8>;\n"
                                  "ld.param.u32 %r1, [n];\n"
                                  "mov.u32 %r2, %tid.x;\n"
                                  "setp.gt.u32 %p1, %r2, %r1;\n"
                                  "selp.u32 %r3, 1, 2, %p1;\n"
                                  "@%p1 add.u32 %r3, %r3, 1;\n" /* line 12 */
                                  "@%p1 bra over;\n"
                                  "add.u32 %r3, %r3, 2;\n"
                                  "over:\n"
                                  "ret;\n}\n"
                                  ".visible .entry two()\n{\nret;\n}\n";

static void test_coverage(void **state)
{
    struct arena *a = arena_open();
    struct ptx_module *m, *again;
    const struct ptx_device *device = ptx_device_find("h200");
    uint32_t n = 100;
    const void *args[] = {&n};
    const struct ptx_launch l = {
        .kernel = "one", .grid = {1, 1, 1}, .block = {64, 1, 1}, .args = args, .n_args = 1};
    struct ptx_report r = {0};
    (void)state;
    assert_ok(ptx_module_open(&m, "covered", covered_ptx, strlen(covered_ptx), &err), err);
    assert_ok(ptx_module_open(&again, "covered", covered_ptx, strlen(covered_ptx), &err), err);
    uint8_t *ran = arena_alloc(a, ptx_coverage_bytes(m)), *carried = arena_alloc(a, ptx_coverage_bytes(m));
    memset(ran, 0, ptx_coverage_bytes(m));
    memset(carried, 0, ptx_coverage_bytes(m));
    const struct ptx_options o = {.device = device, .ran = ran};
    assert_ok(ptx_run(m, mem, &l, &o, &r, &err), err);
    ptx_report_clear(&r);
    struct ptx_coverage c = ptx_coverage_of(m, ran, a);
    assert_int_equal(c.instructions, 9);
    assert_int_equal(c.executed, 7); /* not the guarded addition, nor what `two` has */
    assert_int_equal(c.branches, 2);
    assert_int_equal(c.directions, 2);
    assert_int_equal(c.n_gaps, 2);
    assert_string_equal(c.gaps[0].kernel, "one");
    assert_true(!c.gaps[0].whole && c.gaps[0].instructions == 1 && c.gaps[0].directions == 2);
    assert_true(c.gaps[1].whole && c.gaps[1].instructions == 1);

    const struct ptx_constant *constants; /* of the guard, and none of the selected values */
    assert_int_equal(ptx_coverage_constants(m, ran, a, &constants), 0);
    ptx_coverage_carry(m, ran, again, carried);
    assert_memory_equal(ran, carried, ptx_coverage_bytes(m));
    n = 40; /* lanes on both sides of it */
    const struct ptx_options more = {.device = device, .ran = carried};
    assert_ok(ptx_run(again, mem, &l, &more, &r, &err), err);
    ptx_report_clear(&r);
    c = ptx_coverage_of(again, carried, a);
    assert_int_equal(c.executed, 8);
    assert_int_equal(c.directions, 4);
    assert_int_equal(c.n_gaps, 1);
    ptx_module_close(again);
    ptx_module_close(m);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_set_on_touch),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_shuffles_and_dynamic_shared),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_spin_lock_in_one_warp),
        cmocka_unit_test(test_blocks_wait_for_each_other),
        cmocka_unit_test(test_printf_assert_trap_globals),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_frames_of_recursion),
        cmocka_unit_test(test_calls_through_pointers),
        cmocka_unit_test(test_launch_limits),
        cmocka_unit_test(test_cluster_limits),
        cmocka_unit_test(test_fill_on_touch),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_errors_have_a_place),
        cmocka_unit_test(test_unknown_special_registers_open),
        cmocka_unit_test(test_honest_hints),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
