/* The shadow of a launch: what it follows, instruction by instruction, and where it is lost. */
#include "test.h"

#include "clock/clock.h"
#include "shadow/shadow.h"

#include <math.h>

static struct err err;

/* %f1 = a * b, rounded; its shadow is the product. A body makes 4 bytes in %r9 of it; of a warp's, lane 6's
 * count. */
static const char head[] = ".version 8.7\n.target sm_90\n.address_size 64\n"
                           ".extern .func (.param .b32 r) astra_f32_exp (.param .b32 x);\n"
                           ".visible .entry k(.param .u64 p)\n{\n"
                           "    .reg .pred %p<9>;\n    .reg .b16 %rs<9>;\n    .reg .b32 %r<20>;\n"
                           "    .reg .f32 %f<20>;\n    .reg .b64 %rd<9>;\n    .reg .f64 %fd<9>;\n"
                           "    .shared .align 16 .b8 tile[1024];\n"
                           "    .shared .align 8 .b64 bar;\n"
                           "    .local .align 16 .b8 frame[64];\n"
                           "    ld.param.u64 %rd1, [p];\n"
                           "    ld.global.f32 %f8, [%rd1];\n    ld.global.f32 %f7, [%rd1+4];\n"
                           "    mul.rn.f32 %f1, %f8, %f7;\n";
static const char tail[] = "    st.global.b32 [%rd1+8], %r9;\n    ret;\n}\n";
static const char warp_tail[] = "    mov.u32 %r19, %tid.x;\n    setp.eq.u32 %p8, %r19, 6;\n"
                                "    @%p8 st.global.b32 [%rd1+8], %r9;\n    ret;\n}\n";

static struct ptx_module *module;
static struct ptx_mem *mem;
static struct ptx_shadow *shadow;
static uint64_t addr;
static const struct ptx_buffer *filled; /* NULL: of 64 bytes, all there */
static enum ptx_terms terms;            /* what the shadow holds */

static void run(const char *body, unsigned threads, float a, float b)
{
    struct str text = {0};
    struct ptx_report report;
    const struct ptx_buffer plain = {.name = "buffer", .size_bytes = 64, .initialised = true},
                            *buffer = filled ? filled : &plain;
    const void *args[] = {&addr};
    const struct ptx_launch l = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {threads, 1, 1}, .args = args, .n_args = 1};

    str_addf(&text, "%s%s%s", head, body, threads == 1 ? tail : warp_tail);
    assert_ok(ptx_module_open(&module, "shadow", str_text(&text), text.len, &err), err);
    mem = ptx_mem_open(1);
    shadow = terms ? ptx_shadow_open_terms(0, terms) : ptx_shadow_open();
    assert_true((addr = ptx_mem_alloc(mem, buffer, &err)) != 0);
    ptx_mem_write(mem, addr, &a, 4, true);
    ptx_mem_write(mem, addr + 4, &b, 4, true);
    const struct ptx_options o = {.device = ptx_device_find("h200"),
                                  .observers = {ptx_shadow_observer(shadow)}};
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

/* exact NAN: lost */
static void check(const char *body, unsigned threads, enum ptx_real type, double exact)
{
    uint32_t bits;
    double v;
    bool lost;

    run(body, threads, a, b);
    assert_true(ptx_mem_read(mem, addr + 8, &bits, 4));
    ptx_shadow_read(shadow, mem, addr + 8, type, 1, &v, &lost);
    if (lost != isnan(exact) || (!lost && !(fabs(v - exact) <= 1e-15 * fabs(exact))))
        fail_msg("%s: %.17g%s, must be %.17g; the bits are %08x", body, v, lost ? " lost" : "", exact, bits);
    done();
}

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
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        check(cases[k].body, 1, cases[k].type, cases[k].exact);
}

/* %f1 is 3 times 5: a term of its own. */
static void terms_of_sums(void **state)
{
    static const struct {
        const char *body;
        double must[N_PTX_TERMS];
    } cases[] = {
        {"mov.b32 %r9, %f8;\n", {0, 0, 0, 0}},
        {"add.rn.f32 %f2, %f8, %f7;\n mov.b32 %r9, %f2;\n", {0, 0, 0, 8}}, /* of inputs */
        {"mov.b32 %r9, %f1;\n", {0, 225, 225, 0}},
        {"sub.rn.f32 %f2, %f1, %f8;\n mov.b32 %r9, %f2;\n", {0, 225, 225, 18}},
        {"add.rn.f32 %f2, %f1, %f1;\n mov.b32 %r9, %f2;\n", {0, 450, 225, 30}},
        {"fma.rn.f32 %f2, %f8, %f8, %f1;\n mov.b32 %r9, %f2;\n", {0, 225 + 81, 225, 24}},
        {"neg.f32 %f2, %f1;\n mul.rn.f32 %f3, %f2, %f8;\n mov.b32 %r9, %f3;\n", {0, 9 * 225, 9 * 225, 0}},
        {"sub.rn.f32 %f2, %f7, %f8;\n mul.rn.f32 %f3, %f2, %f8;\n mov.b32 %r9, %f3;\n", {0, 36, 36, 24}},
        {"rcp.rn.f32 %f2, %f8;\n mul.rn.f32 %f3, %f2, %f8;\n mov.b32 %r9, %f3;\n", {0, 1, 1, 0}},
        {"st.shared.f32 [tile], %f7;\nmov.u32 %r1, tile;\natom.shared.add.f32 %f2, [%r1], %f8;\n"
         "atom.shared.add.f32 %f2, [%r1], %f1;\nld.shared.b32 %r9, [tile];\n",
         {0, 225, 225, 23}},
        {"cvt.f64.f32 %fd1, %f7;\n cvt.f64.f32 %fd2, %f8;\n add.rn.f64 %fd3, %fd1, %fd2;\n"
         "cvt.rn.f32.f64 %f2, %fd3;\n mov.b32 %r9, %f2;\n",
         {0, 0, 0, 0x1p-26}},
    };
    (void)state;
    for (terms = PTX_TERMS_SQUARES; terms < N_PTX_TERMS; terms++)
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            double v, must = cases[i].must[terms];
            bool lost;
            run(cases[i].body, 1, 3, 5);
            ptx_shadow_read(shadow, mem, addr + 8, PTX_F32, 1, &v, &lost);
            if (fabs(v - must) > 1e-6 * must)
                fail_msg("%s: %g, not %g", cases[i].body, v, must);
            done();
        }
    terms = PTX_TERMS_NONE;
}

/* Packed arithmetic and accesses of several values at once. */
static void packed(void **state)
{
    const double x = (double)a * b;
    const struct {
        const char *body;
        enum ptx_real type;
        double exact;
    } cases[] = {
        {"cvt.rn.f16x2.f32 %r1, %f1, %f1;\nmul.rn.f16x2 %r9, %r1, %r1;\n", PTX_F16, x * x},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f1;\nneg.f16x2 %r2, %r1;\nadd.rn.f16x2 %r2, %r2, %r2;\nshr.u32 %r9, %r2, 16;\n",
         PTX_F16, -2 * x},
        {"cvt.rn.bf16x2.f32 %r1, %f1, %f1;\nfma.rn.bf16x2 %r9, %r1, %r1, %r1;\n", PTX_BF16, x * x + x},
        {"cvt.rn.bf16x2.f32 %r1, %f1, %f1;\nabs.bf16x2 %r2, %r1;\nprmt.b32 %r9, %r2, %r2, 0x5432;\n", PTX_BF16,
         -x},
        {"cvt.rn.bf16x2.f32 %r1, %f1, %f8;\nmax.bf16x2 %r2, %r1, %r1;\nand.b32 %r9, %r2, 0xffff0000;\n",
         PTX_F32, x},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f8;\nxor.b32 %r2, %r1, 0x80008000;\nmov.b32 {%rs1, %rs2}, %r2;\n"
         "mov.b32 %r9, {%rs2, %rs1};\n",
         PTX_F16, -x},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f1;\nst.shared.b32 [tile], %r1;\nld.shared.b16 %rs1, [tile+2];\n"
         "cvt.f32.f16 %f2, %rs1;\nmov.b32 %r9, %f2;\n",
         PTX_F32, x},
        {"cvt.rn.f16.f32 %rs1, %f1;\nst.shared.b16 [tile+2], %rs1;\nst.shared.b16 [tile], %rs1;\n"
         "ld.shared.b32 %r1, [tile];\nadd.rn.f16x2 %r9, %r1, %r1;\n",
         PTX_F16, 2 * x},
        {"st.shared.v4.f32 [tile], {%f8, %f7, %f8, %f1};\nld.shared.v4.b32 {%r1, %r2, %r3, %r9}, [tile];\n",
         PTX_F32, x},
        {"st.shared.v2.f32 [tile], {%f1, %f1};\nld.shared.v2.b64 {%rd2, %rd3}, [tile];\n"
         "mov.b64 {%r1, %r9}, %rd2;\n",
         PTX_F32, x},
        {"st.shared.f32 [tile], %f1;\nmov.u32 %r1, tile;\ncvt.u64.u32 %rd2, %r1;\ncvta.shared.u64 %rd2, %rd2;\n"
         "ld.b32 %r9, [%rd2];\n",
         PTX_F32, x},
        {"st.global.f32 [%rd1+16], %f1;\nred.global.add.f32 [%rd1+16], %f1;\nld.global.b32 %r9, [%rd1+16];\n",
         PTX_F32, 2 * x},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f1;\nst.global.b32 [%rd1+16], %r1;\n"
         "atom.global.add.noftz.f16x2 %r2, [%rd1+16], %r1;\nld.global.b32 %r9, [%rd1+16];\n",
         PTX_F16, 2 * x},
        {"st.global.f32 [%rd1+16], %f8;\nmov.b32 %r1, %f8;\nmov.b32 %r2, %f1;\n"
         "atom.global.cas.b32 %r3, [%rd1+16], %r1, %r2;\nld.global.b32 %r9, [%rd1+16];\n",
         PTX_F32, x},
        /* bytes put together otherwise are lost */
        {"mov.b32 %r1, %f1;\nprmt.b32 %r9, %r1, %r1, 0x0123;\n", PTX_F32, NAN},
        {"st.shared.f32 [tile], %f1;\nld.shared.u8 %rs1, [tile+3];\nmov.b32 %r9, {%rs1, %rs1};\n", PTX_BF16,
         NAN},
        {"cvt.f64.f32 %fd1, %f1;\nst.shared.f64 [tile], %fd1;\nld.shared.b32 %r9, [tile+4];\n", PTX_F32, NAN},
        {"cvt.f64.f32 %fd1, %f8;\nst.shared.f64 [tile], %fd1;\nld.shared.b32 %r1, [tile];\n"
         "ld.shared.b32 %r2, [tile+4];\nmov.b64 %fd2, {%r1, %r2};\ncvt.rn.f32.f64 %f2, %fd2;\nmov.b32 %r9, %f2;\n",
         PTX_F32, a},
        {"st.shared.f32 [tile], %f1;\nld.shared.u16 %rs1, [tile];\nld.shared.u16 %rs2, [tile+2];\n"
         "mov.b32 %r9, {%rs1, %rs2};\n",
         PTX_F32, x},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        check(cases[k].body, 1, cases[k].type, cases[k].exact);
}

/* Lane 5 holds in its first register of A, which is columns 2 and 3 of row 1, the product, all others 1; B is
 * 2, C the product: lane 6 gets row 1, columns 4 and 5, of D. The matrix of 16-bit halves that movmatrix,
 * ldmatrix and stmatrix move: half h of lane l is row l / 4, column 2 (l % 4) + h, so that transposed lane 6's
 * low half is lane 16's high one. */
static void across_lanes(void **state)
{
    const double x = (double)a * b;
    const struct {
        const char *body;
        enum ptx_real type;
        double exact;
    } cases[] = {
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 5;\nmov.b32 %f2, 0f3f800000;\nselp.f32 %f3, %f1, %f2, %p1;\n"
         "cvt.rn.f16x2.f32 %r2, %f3, %f3;\nmov.b32 %r3, 0x3c003c00;\nmov.b32 %r4, 0x40004000;\n"
         "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r2, %r3, %r3, %r3}, {%r4, %r4},"
         " {%f1, %f1, %f1, %f1};\nmov.b32 %r9, %f2;\n",
         PTX_F32, 2 * (14 + 2 * x) + x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 5;\nmov.b32 %f2, 0f3f800000;\nselp.f32 %f3, %f1, %f2, %p1;\n"
         "cvt.rn.bf16x2.f32 %r2, %f3, %f3;\nmov.b32 %r3, 0x3f803f80;\nmov.b32 %r4, 0x40004000;\n"
         "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r2, %r3, %r3, %r3}, {%r4, %r4},"
         " {%f1, %f1, %f1, %f1};\nmov.b32 %r9, %f3;\n",
         PTX_F32, 2 * (14 + 2 * x) + x},
        {"cvt.rn.f16x2.f32 %r2, %f1, %f1;\nmov.b32 %r3, 0x40004000;\n"
         "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r4, %r9}, {%r2, %r2}, {%r3}, {%r2, %r2};\n",
         PTX_F16, 17 * x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 5;\nmov.b32 %f2, 0f3f800000;\nselp.f32 %f3, %f1, %f2, %p1;\n"
         "cvt.rn.f16x2.f32 %r2, %f3, %f3;\nmov.b32 %r3, 0x3c003c00;\nmov.b32 %r4, 0x40004000;\n"
         "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f2, %f3, %f4, %f5, %f6, %f9, %f10, %f11},"
         " {%r2, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, {%r4, %r4, %r4, %r4, %r4, %r4, %r4, %r4},"
         " {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};\nmov.b32 %r9, %f6;\n",
         PTX_F32, 2 * (14 + 2 * x) + x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 16;\nselp.f32 %f3, %f1, %f8, %p1;\n" /* row 4, column 1 */
         "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [tile], {%f8, %f3, %f8, %f8, %f8, %f8, %f8, %f8}, 16;\n"
         "bar.warp.sync 0xffffffff;\nwmma.load.c.sync.aligned.row.m16n16k16.shared.f32"
         " {%f2, %f4, %f5, %f6, %f9, %f10, %f11, %f12}, [tile], 16;\nmov.b32 %r9, %f2;\n",
         PTX_F32, x},
        {"cvt.rn.f16.f32 %rs1, %f1;\nst.shared.b16 [tile+130], %rs1;\nbar.warp.sync 0xffffffff;\n"
         "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r9, %r6, %r7, %r8}, [tile], 16;\n",
         PTX_F16, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 16;\nselp.f32 %f3, %f1, %f8, %p1;\ncvt.rn.f16x2.f32 %r2, %f3, %f8;\n"
         "movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r2;\n",
         PTX_F16, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 6;\nselp.f32 %f3, %f1, %f8, %p1;\ncvt.rn.f16x2.f32 %r2, %f8, %f3;\n"
         "mov.u32 %r3, tile;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r4, %r4, %r3;\nst.shared.b32 [%r4], %r2;\n"
         "bar.warp.sync 0xffffffff;\nand.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r3;\n"
         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r5];\n",
         PTX_F16, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 16;\nselp.f32 %f3, %f1, %f8, %p1;\ncvt.rn.f16x2.f32 %r2, %f3, %f8;\n"
         "mov.u32 %r3, tile;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r4, %r4, %r3;\nst.shared.b32 [%r4], %r2;\n"
         "bar.warp.sync 0xffffffff;\nand.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r3;\n"
         "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r9}, [%r5];\n",
         PTX_F16, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 6;\nselp.f32 %f3, %f1, %f8, %p1;\ncvt.rn.f16x2.f32 %r2, %f8, %f3;\n"
         "mov.u32 %r3, tile;\nand.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r3;\n"
         "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r2};\nbar.warp.sync 0xffffffff;\n"
         "ld.shared.b32 %r9, [tile+24];\n",
         PTX_F16, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 16;\nselp.f32 %f3, %f1, %f8, %p1;\nmov.b32 %r2, %f3;\n"
         "shfl.sync.idx.b32 %r9, %r2, 16, 31, 0xffffffff;\n",
         PTX_F32, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\nselp.f32 %f3, %f1, %f8, %p1;\nmov.b32 %r2, %f3;\n"
         "shfl.sync.up.b32 %r9, %r2, 3, 0, 0xffffffff;\n",
         PTX_F32, x},
        {"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 6;\nselp.f32 %f3, %f1, %f8, %p1;\nmov.b32 %r2, %f3;\n"
         "shfl.sync.down.b32 %r9, %r2, 3, 0x1807, 0xffffffff;\n", /* out of its segment of 8: its own */
         PTX_F32, x},
        {"mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 7;\nselp.f32 %f3, %f8, %f1, %p1;\nmov.b32 %r2, %f3;\n"
         "shfl.sync.bfly.b32 %r9, %r2, 1, 31, 0xffffffff;\n",
         PTX_F32, x},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        check(cases[k].body, 32, cases[k].type, cases[k].exact);
}

#define WAIT "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n"
#define EXPECT(bytes)                                                                                        \
    "mbarrier.init.shared::cta.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 %rd5, [bar], " bytes \
    ";\n"

/* Copies that land later. */
static void asynchronous(void **state)
{
    const double x = (double)a * b;
    const struct {
        const char *body;
        enum ptx_real type;
        double exact;
    } cases[] = {
        {"st.global.f32 [%rd1+16], %f1;\ncp.async.ca.shared.global [tile+4], [%rd1+16], 4;\ncp.async.wait_all;\n"
         "ld.shared.b32 %r9, [tile+4];\n",
         PTX_F32, x},
        {"st.global.f32 [%rd1+16], %f1;\ncp.async.cg.shared.global [tile], [%rd1+16], 16;\ncp.async.commit_group;\n"
         "cp.async.wait_group 0;\nld.shared.b32 %r9, [tile];\n",
         PTX_F32, x},
        {EXPECT(
             "16") "st.global.f32 [%rd1+20], %f1;\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1+16], 16, [bar];\n" WAIT
                   "ld.shared.b32 %r9, [tile+4];\n",
         PTX_F32, x},
        {"st.shared.f32 [tile+8], %f1;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1+32], [tile], 16;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nld.global.b32 %r9, [%rd1+40];\n",
         PTX_F32, x},
        {"st.shared.f32 [tile+8], %f1;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1+32], [tile], 16;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.f32 [tile+8], %f8;\n"
         "cp.async.bulk.wait_group 0;\nld.global.b32 %r9, [%rd1+40];\n",
         PTX_F32, x},
        {EXPECT("4") "mov.b32 %r1, %f1;\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\n"
                     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %r1, [%r3];\n" WAIT
                     "ld.shared.b32 %r9, [tile];\n",
         PTX_F32, x},
        {EXPECT(
             "16") "mov.b32 %r1, %f1;\nmov.b32 %r4, %f8;\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\n"
                   "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r2], {%r4, %r4, %r1, %r4}, [%r3];\n" WAIT
                   "ld.shared.b32 %r9, [tile+8];\n",
         PTX_F32, x},
        {EXPECT("8") "mov.b64 %rd2, {%f8, %f1};\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\n"
                     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r2], %rd2, [%r3];\n" WAIT
                     "ld.shared.b32 %r9, [tile+4];\n",
         PTX_F32, x},
        {"st.global.f32 [%rd1+32], %f8;\nst.shared.f32 [tile], %f1;\n"
         "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1+32], [tile], 16;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nld.global.b32 %r9, [%rd1+32];\n",
         PTX_F32, NAN},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        check(cases[k].body, 1, cases[k].type, cases[k].exact);
}

/* What others write between launches has no shadow; what they copy keeps it. */
static void between_launches(void **state)
{
    double v;
    bool lost;

    (void)state;
    run("mov.b32 %r9, %f1;\n", 1, a, b);
    ptx_shadow_copy(shadow, mem, addr + 16, addr + 8, 4);
    assert_true(ptx_mem_write(mem, addr + 16, &(float){a * b}, 4, true));
    ptx_shadow_read(shadow, mem, addr + 16, PTX_F32, 1, &v, &lost);
    assert_true(v == (double)a * b && !lost);
    assert_true(ptx_mem_write(mem, addr + 8, &(float){2}, 4, true));
    ptx_shadow_read(shadow, mem, addr + 8, PTX_F32, 1, &v, &lost);
    assert_true(v == 2 && !lost);
    done();
}

static void of_twos(void *context, uint64_t offset_bytes, void *to, size_t size_bytes)
{
    (void)context;
    (void)offset_bytes;
    for (float *x = to; x < (float *)to + size_bytes / 4; x++)
        *x = 2;
}

/* Pages are filled when they are touched first: an atomic adds to what is there then, not to nothing. */
static void atomics_touch_first(void **state)
{
    const struct ptx_buffer twos = {
        .name = "twos", .size_bytes = 1 << 16, .initialised = true, .fill = of_twos};
    double v;
    bool lost;

    (void)state;
    filled = &twos;
    run("atom.global.add.f32 %f2, [%rd1+8], %f1;\nred.global.add.f32 [%rd1+4096], %f1;\n"
        "mov.b64 %rd3, %rd1;\n atom.add.f32 %f3, [%rd3+8192], %f1;\n"
        "ld.global.b32 %r9, [%rd1+8];\n",
        1, a, b);
    filled = NULL;
    for (uint64_t at = 4096; at <= 8192; at += 4096) {
        ptx_shadow_read(shadow, mem, addr + at, PTX_F32, 1, &v, &lost);
        assert_true(v == 2 + (double)a * b && !lost);
    }
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(terms_of_sums),
        cmocka_unit_test(packed),
        cmocka_unit_test(across_lanes),
        cmocka_unit_test(asynchronous),
        cmocka_unit_test(between_launches),
        cmocka_unit_test(atomics_touch_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
