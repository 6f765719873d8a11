/* The shadow of a launch: what it follows, instruction by instruction, and where it is lost. */
#include "test.h"

#include "ptx/ptx.h"

#include <math.h>

static struct err err;

/* %f1 = a * b, rounded; its shadow is the product. A body makes 4 bytes in %r9 of it. */
static const char head[] = ".version 8.7\n.target sm_90\n.address_size 64\n"
                           ".extern .func (.param .b32 r) astra_f32_exp (.param .b32 x);\n"
                           ".visible .entry k(.param .u64 p)\n{\n"
                           "    .reg .pred %p<9>;\n    .reg .b16 %rs<9>;\n    .reg .b32 %r<20>;\n"
                           "    .reg .f32 %f<9>;\n    .reg .b64 %rd<9>;\n    .reg .f64 %fd<9>;\n"
                           "    .shared .align 16 .b8 tile[64];\n"
                           "    .local .align 16 .b8 frame[64];\n"
                           "    ld.param.u64 %rd1, [p];\n"
                           "    ld.global.f32 %f8, [%rd1];\n    ld.global.f32 %f7, [%rd1+4];\n"
                           "    mul.rn.f32 %f1, %f8, %f7;\n";
static const char tail[] = "    st.global.b32 [%rd1+8], %r9;\n    ret;\n}\n";

static struct ptx_module *module;
static struct ptx_mem *mem;
static struct ptx_shadow *shadow;
static uint64_t addr;

static void run(const char *body, float a, float b)
{
    struct str text = {0};
    struct ptx_report report;
    const struct ptx_buffer buffer = {.name = "buffer", .size_bytes = 64, .initialised = true};
    const void *args[] = {&addr};
    const struct ptx_launch l = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .n_args = 1};

    str_addf(&text, "%s%s%s", head, body, tail);
    assert_ok(ptx_module_open(&module, "shadow", str_text(&text), text.len, &err), err);
    mem = ptx_mem_open(1);
    shadow = ptx_shadow_open();
    assert_true((addr = ptx_mem_alloc(mem, &buffer, &err)) != 0);
    ptx_mem_write(mem, addr, &a, 4, true);
    ptx_mem_write(mem, addr + 4, &b, 4, true);
    const struct ptx_options o = {.device = ptx_device_find("h200"), .shadow = shadow};
    assert_ok(ptx_run(module, mem, &l, &o, &report, &err), err);
    if (report.end != PTX_DONE)
        fail_msg("%s: %s", body, report.n_findings ? report.findings[0].words : ptx_end_name(report.end));
    ptx_report_clear(&report);
    str_free(&text);
}

static void done(void)
{
    ptx_shadow_close(shadow);
    ptx_mem_close(mem);
    ptx_module_close(module);
}

static const float a = 1.2345678f, b = -3.3333333f;

static void rules(void **state)
{
    const double x = (double)a * b;
    const struct {
        const char *body;
        enum ptx_real type;
        double exact; /* NAN: lost */
    } cases[] = {
        {"mov.b32 %r9, %f1;\n", PTX_F32, x},
        /* arithmetic and its approximations */
        {"add.rn.f32 %f2, %f1, %f8;\nmov.b32 %r9, %f2;\n", PTX_F32, x + a},
        {"fma.rn.f32 %f2, %f1, %f1, %f7;\nmov.b32 %r9, %f2;\n", PTX_F32, x * x + b},
        {"div.approx.f32 %f2, %f8, %f1;\nmov.b32 %r9, %f2;\n", PTX_F32, a / x},
        {"ex2.approx.ftz.f32 %f2, %f1;\nmov.b32 %r9, %f2;\n", PTX_F32, exp2(x)},
        {"rcp.approx.ftz.f32 %f2, %f1;\nmov.b32 %r9, %f2;\n", PTX_F32, 1 / x},
        {"tanh.approx.f32 %f2, %f1;\nmov.b32 %r9, %f2;\n", PTX_F32, tanh(x)},
        {"max.f32 %f2, %f1, %f7;\nmov.b32 %r9, %f2;\n", PTX_F32, b},
        {"min.f32 %f2, %f1, %f7;\nmov.b32 %r9, %f2;\n", PTX_F32, x},
        {"setp.lt.f32 %p1, %f1, 0f00000000;\nselp.f32 %f2, %f1, %f7, %p1;\nmov.b32 %r9, %f2;\n", PTX_F32, x},
        /* sign bits */
        {"mov.b32 %r1, %f1;\nand.b32 %r9, %r1, 0x7fffffff;\n", PTX_F32, -x},
        {"mov.b32 %r1, %f1;\nxor.b32 %r9, %r1, 0x80000000;\n", PTX_F32, -x},
        {"neg.f32 %f2, %f1;\nmov.b32 %r1, %f2;\nor.b32 %r9, %r1, 0x80000000;\n", PTX_F32, x},
        {"neg.f32 %f2, %f1;\nmov.b32 %r1, %f2;\nmov.b32 %r2, %f7;\nand.b32 %r2, %r2, 0x80000000;\n"
         "or.b32 %r9, %r1, %r2;\n",
         PTX_F32, x},
        /* conversions, packing, shifts by halves */
        {"cvt.rn.f16.f32 %rs1, %f1;\ncvt.f32.f16 %f2, %rs1;\nmov.b32 %r9, %f2;\n", PTX_F32, x},
        {"cvt.rn.bf16x2.f32 %r1, %f8, %f1;\nshl.b32 %r9, %r1, 16;\n", PTX_F32, x},
        {"cvt.rn.bf16x2.f32 %r1, %f1, %f8;\nand.b32 %r9, %r1, 0xffff0000;\n", PTX_F32, x},
        {"cvt.rn.bf16.f32 %rs1, %f1;\nmov.b32 %r9, {0, %rs1};\n", PTX_F32, x},
        {"cvt.rn.bf16.f32 %rs1, %f1;\ncvt.u32.u16 %r1, %rs1;\nshl.b32 %r9, %r1, 16;\n", PTX_F32, x},
        {"cvt.rn.bf16.f32 %rs1, %f1;\nmov.b32 %r1, {%rs1, %rs1};\nprmt.b32 %r9, %r1, 0, 0x5410;\n", PTX_BF16,
         x},
        {"mov.b32 %r1, %f1;\nprmt.b32 %r9, %r1, %r1, 0x7632;\n", PTX_BF16, x},
        {"mov.b32 {%rs1, %rs2}, %f1;\nmov.b32 %r9, {%rs1, %rs2};\n", PTX_F32, x},
        {"mov.b64 %rd2, {%f8, %f1};\nmov.b64 {%r1, %r9}, %rd2;\n", PTX_F32, x},
        {"mov.b64 %rd2, {%f8, %f1};\nshr.u64 %rd2, %rd2, 32;\ncvt.u32.u64 %r9, %rd2;\n", PTX_F32, x},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f8;\nfma.rn.f16x2 %r2, %r1, %r1, %r1;\nshr.u32 %r9, %r2, 16;\n", PTX_F16,
         x * x + x},
        /* integers: exact; the real value; lost */
        {"cvt.rzi.s32.f32 %r1, %f1;\ncvt.rn.f32.s32 %f2, %r1;\nmov.b32 %r9, %f2;\n", PTX_F32, -4},
        {"cvt.rni.f32.f32 %f2, %f1;\nmov.b32 %r9, %f2;\n", PTX_F32, -4},
        {"mov.b32 %r1, %f1;\nadd.s32 %r9, %r1, 0x00800000;\n", PTX_F32, NAN},
        {"mov.b32 %r1, %f1;\nshl.b32 %r2, %r1, 1;\nshr.u32 %r9, %r2, 1;\n", PTX_F32, NAN},
        {"mov.b32 %r1, %f1;\nadd.s32 %r2, %r1, 1;\nmov.b32 %f2, %r2;\nadd.rn.f32 %f3, %f2, %f8;\nmov.b32 %r9, %f3;\n",
         PTX_F32, NAN},
        {"mov.b32 %r1, %f8;\nadd.s32 %r9, %r1, 0x00800000;\n", PTX_F32, 2 * (double)a}, /* an input has nothing
                                                                                            to lose */
        /* memory: through shared, local, by bytes that differ in width; written over by integers */
        {"st.shared.f32 [tile+4], %f1;\nld.shared.b32 %r9, [tile+4];\n", PTX_F32, x},
        {"st.local.v2.f32 [frame], {%f8, %f1};\nld.local.b64 %rd2, [frame];\nmov.b64 {%r1, %r9}, %rd2;\n",
         PTX_F32, x},
        {"st.shared.f32 [tile], %f1;\nld.shared.u16 %rs1, [tile+2];\nmov.b32 %r9, {%rs1, %rs1};\n", PTX_BF16,
         x},
        {"st.shared.f32 [tile], %f1;\nmov.b32 %r1, 0x40000000;\nst.shared.b32 [tile], %r1;\n"
         "ld.shared.b32 %r9, [tile];\n",
         PTX_F32, 2},
        {"st.shared.f32 [tile], %f1;\nmov.u32 %r1, tile;\natom.shared.add.f32 %f2, [%r1], %f8;\n"
         "ld.shared.b32 %r9, [tile];\n",
         PTX_F32, x + a},
        {"st.shared.f32 [tile], %f8;\nmov.u32 %r1, tile;\nmov.b32 %r2, %f1;\natom.shared.exch.b32 %r3, [%r1], %r2;\n"
         "ld.shared.b32 %r9, [tile];\n",
         PTX_F32, x},
        /* across lanes, and calls */
        {"mov.b32 %r1, %f1;\nshfl.sync.bfly.b32 %r9|%p1, %r1, 0, 31, 1;\n", PTX_F32, x},
        {"{\n.param .b32 q;\n.param .b32 s;\nst.param.f32 [q], %f1;\ncall.uni (s), astra_f32_exp, (q);\n"
         "ld.param.b32 %r9, [s];\n}\n",
         PTX_F32, exp(x)},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        double v;
        bool lost;
        uint32_t bits;
        run(cases[k].body, a, b);
        assert_true(ptx_mem_read(mem, addr + 8, &bits, 4));
        ptx_shadow_read(shadow, mem, addr + 8, cases[k].type, 1, &v, &lost);
        double must = cases[k].exact;
        if (lost != isnan(must) || (!lost && !(fabs(v - must) <= 1e-15 * fabs(must))))
            fail_msg("%s: %.17g%s, must be %.17g; the bits are %08x", cases[k].body, v, lost ? " lost" : "",
                     must, bits);
        done();
    }
}

/* What others write between launches has no shadow; what they copy keeps it. */
static void between_launches(void **state)
{
    double v;
    bool lost;

    (void)state;
    run("mov.b32 %r9, %f1;\n", a, b);
    ptx_shadow_copy(shadow, mem, addr + 16, addr + 8, 4);
    assert_true(ptx_mem_write(mem, addr + 16, &(float){a * b}, 4, true));
    ptx_shadow_read(shadow, mem, addr + 16, PTX_F32, 1, &v, &lost);
    assert_true(v == (double)a * b && !lost);
    assert_true(ptx_mem_write(mem, addr + 8, &(float){2}, 4, true));
    ptx_shadow_read(shadow, mem, addr + 8, PTX_F32, 1, &v, &lost);
    assert_true(v == 2 && !lost);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(between_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
