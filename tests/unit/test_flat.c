/* A kernel's arithmetic by itself: what is in it, what is left out, and that it computes what the kernel does.
 */
#include "test.h"

#include "clock/clock.h"

enum { N = 64, RESULTS = 8 };

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n\n"
    ".visible .entry scale(\n"
    "\t.param .u64 scale_param_0,\n\t.param .u32 scale_param_1,\n\t.param .u32 scale_param_2\n)\n"
    "{\n"
    "\t.reg .pred \t%p<9>;\n\t.reg .b16 \t%rs<9>;\n\t.reg .f32 \t%f<9>;\n\t.reg .b32 \t%r<29>;\n"
    "\t.reg .b64 \t%rd<9>;\n\n"
    "\tld.param.u64 \t%rd1, [scale_param_0];\n"
    "\tld.param.u32 \t%r1, [scale_param_1];\n"
    "\tld.param.u32 \t%r2, [scale_param_2];\n"
    "\tcvta.to.global.u64 \t%rd2, %rd1;\n"
    "\tmov.u32 \t%r3, %tid.x;\n"
    "\tmad.lo.s32 \t%r4, %r1, -1640531535, %r2;\n"
    "\tshr.u32 \t%r5, %r4, 26;\n" /* a result, of parameters */
    "\tshr.u32 \t%r6, %r3, 5;\n"  /* none: it is a thread's */
    "\tmul.wide.s32 \t%rd3, %r3, 2;\n"
    "\tadd.s64 \t%rd4, %rd2, %rd3;\n"
    "$L__BB0_1:\n"
    "\tld.global.nc.v2.u16 \t{%rs1, %rs2}, [%rd4];\n"
    "\t// begin inline asm\n"
    "\t{ cvt.f32.f16 %f1, %rs1;}\n\n"
    "\t// end inline asm\n"
    "\tsetp.gt.f32 \t%p1, %f1, 0f40000000;\n" /* a result, of what is read */
    "\tshfl.sync.bfly.b32 \t%r7|%p2, %r5, 1, 31, -1;\n"
    "\tcvt.u32.u16 \t%r8, %rs2;\n"
    "\tadd.s32 \t%r9, %r7, %r8;\n"
    "\tand.b32  \t%r10, %r9, 1023;\n" /* a result, of both */
    "\tadd.s32 \t%r11, %r11, 1;\n"
    "\tmin.s32 \t%r12, %r11, %r2;\n" /* none: what is counted in a loop */
    "\t@%p1 mov.u32 \t%r13, 7;\n"
    "\tmax.s32 \t%r14, %r13, %r2;\n" /* none: it may not be set */
    "\t@%p1 bra \t$L__BB0_1;\n"
    "\tret;\n"
    "}\n";

static struct ptx_flat opened(struct arena *a)
{
    struct ptx_flat flat;

    assert_true(ptx_flat(text, "scale", N, a, &flat));
    return flat;
}

static void what_is_in_it(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    struct ptx_flat flat = opened(a), none;

    assert_int_equal(flat.n_results, 3);
    assert_true(flat.results[0].params && !flat.results[0].reads);
    assert_true(!flat.results[1].params && flat.results[1].reads);
    assert_true(flat.results[2].params && flat.results[2].reads);
    assert_int_equal(flat.results[1].read, 1); /* of the first parameter's buffer */
    assert_int_equal(flat.results[0].read, 0);
    assert_null(strstr(flat.text, "bra"));
    assert_null(strstr(flat.text, "%tid.x;\nshr"));
    assert_false(ptx_flat(text, "scal", N, a, &none));
    assert_false(ptx_flat("", "scale", N, a, &none));
    arena_close(a);
}

static void it_computes_the_same(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    struct ptx_flat flat = opened(a);
    struct ptx_module *m;
    struct err err = {0};
    struct ptx_report report = {0};
    uint64_t in[4][N] = {0}, out[RESULTS][N];

    assert_true(flat.n_inputs <= 3);
    for (size_t l = 0; l < N; l++) {
        in[0][l] = (l % 2 ? 0x4400440044004400u : 0x3c003c003c003c00u); /* halves: 4, 1 */
        for (size_t i = 0; i < flat.n_inputs; i++)
            in[1 + i][l] = flat.inputs[i].param == 1 ? 1000 * l : l;
    }
    assert_ok(ptx_module_open(&m, "flat", flat.text, flat.len, &err), err);
    struct ptx_mem *mem = ptx_mem_open(1);
    const struct ptx_buffer buffer = {.name = "flat", .size_bytes = sizeof(out)};
    uint64_t from = ptx_mem_alloc(mem, &buffer, &err), to = ptx_mem_alloc(mem, &buffer, &err);
    const void *args[] = {&from, &to};
    const struct ptx_launch l = {
        .kernel = "flat", .grid = {2, 1, 1}, .block = {N / 2, 1, 1}, .args = args, .n_args = 2};
    const struct ptx_options o = {.device = ptx_device_find("h200")};
    assert_true(ptx_mem_write(mem, from, in, sizeof(in), true));
    assert_ok(ptx_run(m, mem, &l, &o, &report, &err), err);
    assert_int_equal(report.end, PTX_DONE);
    assert_true(ptx_mem_read(mem, to, out, flat.n_results * sizeof(out[0])));
    for (size_t k = 0; k < N; k++) {
        uint32_t hash = ((uint32_t)(1000 * k) * 2654435761u + (uint32_t)k) >> 26;
        assert_int_equal(out[0][k], hash);
        assert_int_equal(out[1][k], k % 2);
        assert_int_equal(out[2][k], (hash + (k % 2 ? 0x4400 : 0x3c00)) & 1023);
    }
    ptx_report_clear(&report);
    ptx_mem_close(mem);
    ptx_module_close(m);
    arena_close(a);
}

/* A version may write what it likes between the lines. */
static void any_text_ends(void **state)
{
    (void)state;
    static const char signs[] = "{}[]();,.%@$!|+-\n\t0919 _rdpms";
    struct rng r = {7};

    for (int round = 0; round < 400; round++) {
        struct arena *a = arena_open();
        char *other = arena_strdup(a, text);
        struct ptx_flat flat;
        for (uint64_t k = rng_below(&r, 40) + 1; k > 0; k--)
            other[rng_below(&r, sizeof(text) - 1)] = signs[rng_below(&r, sizeof(signs) - 1)];
        other[rng_below(&r, 8) ? sizeof(text) - 1 : rng_below(&r, sizeof(text))] = '\0';
        if (ptx_flat(other, "scale", N, a, &flat)) {
            struct ptx_module *m;
            struct err err = {0};
            assert_true(flat.n_results <= PTX_FLAT_RESULTS);
            if (ptx_module_open(&m, "flat", flat.text, flat.len, &err))
                ptx_module_close(m);
        }
        arena_close(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_it),
        cmocka_unit_test(it_computes_the_same),
        cmocka_unit_test(any_text_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
