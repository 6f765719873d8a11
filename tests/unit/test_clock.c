#include "test.h"

#include "base/tensor_map.h"
#include "clock/cost_model.h"

/* ---- launches: small kernels written by hand ---- */

/* `count` divisions or multiplications, each of what the last one gave. */
#define LOOP_OF(name, op, first)                                                         \
    ".visible .entry " name "(.param .u64 out, .param .u32 count)\n{\n"                  \
    ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"            \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.f32 %f1, " first ";\n"   \
    "mov.f32 %f2, 0f3F800001;\nagain:\n.loc 1 9 0\n" op " %f1, %f1, %f2;\n.loc 1 10 0\n" \
    "sub.s32 %r1, %r1, 1;\nsetp.ne.s32 %p, %r1, 0;\n@%p bra again;\n"                    \
    ".loc 1 11 0\nst.global.f32 [%rd1], %f1;\nret;\n}\n"

static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
    /* out[i] = in[i], 16 bytes a thread */
    ".visible .entry copy(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    ".loc 1 1 0\nld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r1, %r1, %r2, %r3;\n"
    "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd1, %rd1, %rd3;\nadd.s64 %rd2, %rd2, %rd3;\n"
    ".loc 1 2 0\nld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];\n"
    ".loc 1 3 0\nst.global.v4.u32 [%rd1], {%r4, %r5, %r6, %r7};\nret;\n}\n"
    /* out[128 * i] = 1, a line for each thread; in is not used */
    ".visible .entry scatter(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    ".loc 1 1 0\nld.param.u64 %rd1, [out];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r1, %r1, %r2, %r3;\n"
    "mul.wide.u32 %rd3, %r1, 128;\nadd.s64 %rd1, %rd1, %rd3;\nmov.u32 %r4, 1;\n"
    ".loc 1 2 0\nst.global.u32 [%rd1], %r4;\nret;\n}\n"
    /* a loop of `count` loads, each of which needs the last one's value (0) */
    ".visible .entry chain(.param .u64 out, .param .u64 in, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"
    ".loc 1 1 0\nld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r1, [count];\nmov.u32 %r3, %tid.x;\n"
    "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd2, %rd2, %rd3;\n"
    "loop:\n.loc 1 2 0\nld.global.cg.u32 %r2, [%rd2];\n.loc 1 3 0\ncvt.u64.u32 %rd4, %r2;\nadd.s64 %rd2, %rd2, %rd4;\n"
    "add.s64 %rd2, %rd2, 4096;\nsub.s32 %r1, %r1, 1;\nsetp.ne.s32 %p, %r1, 0;\n@%p bra loop;\n"
    ".loc 1 4 0\nst.global.u32 [%rd1], %r2;\nret;\n}\n"
    /* multiplications in blocks below `count` alone */
    ".visible .entry some(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.f32 %f1, 0f3F800000;\nmov.u32 %r2, %ctaid.x;\n"
    "setp.ge.u32 %p, %r2, %r1;\n@%p bra end;\nmov.u32 %r1, 200;\n"
    "again:\nmul.rn.f32 %f1, %f1, %f1;\nsub.s32 %r1, %r1, 1;\nsetp.ne.s32 %p, %r1, 0;\n@%p bra again;\n"
    "st.global.f32 [%rd1], %f1;\nend:\nret;\n}\n"
    /* shared memory with a stride of `stride` bytes between lanes, and a barrier */
    ".visible .entry banks(.param .u64 out, .param .u32 stride)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.shared .align 4 .b8 tile[16384];\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [stride];\nmov.u32 %r2, %tid.x;\nmul.lo.s32 %r3, %r2, %r1;\n"
    "mov.u32 %r4, tile;\nadd.s32 %r3, %r3, %r4;\n.loc 1 7 0\nst.shared.u32 [%r3], %r2;\n.loc 1 8 0\nbar.sync 0;\n"
    "st.global.u32 [%rd1], %r2;\nret;\n}\n"
    /* every block waits until all have come */
    ".visible .entry meet(.param .u64 counter, .param .u32 blocks)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [counter];\nmov.u32 %r1, %nctaid.x;\natom.global.add.u32 %r2, [%rd1], 1;\n"
    "wait:\nld.acquire.gpu.global.u32 %r3, [%rd1];\nsetp.lt.u32 %p, %r3, %r1;\n@%p bra wait;\nret;\n}\n"
    /* `count` words striped over the grid, the toolkit's barrier of the grid, and once more */
    ".visible .entry twice(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\nmad.lo.u32 %r6, %r2, %r3, %r4;\nmul.lo.u32 %r7, %r3, %r5;\n"
    "mov.u32 %r8, 0;\nphase:\nmov.u32 %r9, %r6;\n"
    "loop:\nmul.wide.u32 %rd2, %r9, 4;\nadd.s64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r9;\n"
    "add.u32 %r9, %r9, %r7;\nsetp.lt.u32 %p, %r9, %r1;\n@%p bra loop;\n"
    "bar.sync 0;\nsetp.ne.u32 %p, %r4, 0;\n@%p bra passed;\n"
    "mov.u32 %r10, %envreg1;\nmov.u32 %r11, %envreg2;\nmov.b64 %rd3, {%r11, %r10};\n"
    "sub.u32 %r12, %r5, 1;\nsub.u32 %r12, 0x80000000, %r12;\nsetp.eq.u32 %p, %r2, 0;\nselp.u32 %r12, %r12, 1, %p;\n"
    "atom.add.release.gpu.u32 %r13, [%rd3+4], %r12;\n"
    "wait:\nld.acquire.gpu.u32 %r14, [%rd3+4];\nxor.b32 %r14, %r14, %r13;\nsetp.ge.s32 %p, %r14, 0;\n@%p bra wait;\n"
    "passed:\nbar.sync 0;\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p, %r8, 2;\n@%p bra phase;\nret;\n}\n"
    /* thread 0 fetches `count` bytes in bulk, all wait */
    ".visible .entry fetch(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n.shared .align 128 .b8 to[32768];\n.shared .align 8 .b64 bar;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p, %r2, 0;\n"
    "@%p mbarrier.init.shared::cta.b64 [bar], 1;\nbar.sync 0;\n"
    "@%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;\n"
    "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [%rd1], %r1, [bar];\n"
    ".loc 1 9 0\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;\n@!%p bra again;\nret;\n}\n"
    /* the same of a swizzled tile of 64 x 64 halves */
    ".visible .entry fetch_tile(.param .u64 out, .param .align 64 .b8 map[128])\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n.shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 full;\n"
    "mov.b64 %rd1, map;\ncvta.param.u64 %rd1, %rd1;\nmov.u32 %r1, 0;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p, %r2, 0;\n"
    "@%p mbarrier.init.shared::cta.b64 [full], 1;\nbar.sync 0;\n"
    "@%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;\n"
    "@%p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, %r1}], [full];\n"
    "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;\n@!%p bra again;\nret;\n}\n"
    /* `count` words one after the other, all of them zero, by strong loads: that is no waiting */
    ".visible .entry reads(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r3, 0;\n"
    "next:\nld.relaxed.gpu.global.u32 %r2, [%rd1];\nadd.u32 %r3, %r3, %r2;\nadd.s64 %rd1, %rd1, 4;\n"
    "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra next;\nst.global.u32 [%rd1], %r3;\nret;\n}\n"
    /* every block reads the same `count` words */
    ".visible .entry same(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %tid.x;\nmov.u32 %r4, %ntid.x;\n"
    "mov.u32 %r5, 0;\n.loc 1 3 0\nnext:\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
    ".loc 1 2 0\nld.global.u32 %r3, [%rd2];\n.loc 1 3 0\n"
    "add.u32 %r5, %r5, %r3;\nadd.u32 %r2, %r2, %r4;\nsetp.lt.u32 %p, %r2, %r1;\n@%p bra next;\n"
    ".loc 1 4 0\nsetp.eq.u32 %p, %r5, 77;\n@%p st.global.u32 [%rd1], %r5;\nret;\n}\n"
    /* columns of a matrix of 1024 rows of 64 KiB, a word a thread: eight blocks a column */
    ".visible .entry columns(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nand.b32 %r3, %r1, 7;\n"
    "shr.u32 %r1, %r1, 3;\nmad.lo.u32 %r3, %r3, 128, %r2;\nmad.lo.u32 %r3, %r3, 16384, %r1;\n"
    "mul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r4, [%rd2];\n"
    "setp.eq.u32 %p, %r4, 77;\n@%p st.global.u32 [%rd1], %r4;\nret;\n}\n"
    /* warps draw `count` tickets from a counter, and multiply for each */
    ".visible .entry draw(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %laneid;\nmov.f32 %f1, 0f3F800000;\n"
    "more:\nmov.u32 %r3, 0;\nsetp.ne.u32 %p, %r2, 0;\n@!%p atom.global.add.u32 %r3, [%rd1], 1;\n"
    "shfl.sync.idx.b32 %r3, %r3, 0, 31, -1;\nsetp.ge.u32 %p, %r3, %r1;\n@%p bra end;\nmov.u32 %r4, 200;\n"
    "again:\nmul.rn.f32 %f1, %f1, %f1;\nsub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p, %r4, 0;\n@%p bra again;\n"
    "bra more;\nend:\nst.global.f32 [%rd1+128], %f1;\nret;\n}\n"
    /* the same words twice, a fence of the GPU (count 1) or of the block between */
    ".visible .entry fenced(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 4;\n"
    "add.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r3, [%rd2];\nsetp.ne.u32 %p, %r1, 0;\n@%p bra whole;\n"
    "fence.acq_rel.cta;\nbra after;\nwhole:\nfence.acq_rel.gpu;\nafter:\nld.global.u32 %r4, [%rd2];\n"
    "add.u32 %r3, %r3, %r4;\nsetp.eq.u32 %p, %r3, 77;\n@%p st.global.u32 [%rd1], %r3;\nret;\n}\n"
    /* all lanes add to one word of shared memory 200 times: 1 each (count 1), or what is in a register */
    ".visible .entry tally(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n.shared .align 4 .b8 sum[4];\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, sum;\nmov.u32 %r3, 200;\n"
    "setp.ne.u32 %p, %r1, 1;\n@%p bra many;\none:\natom.shared.add.u32 %r4, [%r2], 1;\nsub.u32 %r3, %r3, 1;\n"
    "setp.ne.u32 %p, %r3, 0;\n@%p bra one;\nret;\nmany:\natom.shared.add.u32 %r5, [%r2], %r1;\n"
    "sub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p, %r3, 0;\n@%p bra many;\nret;\n}\n"
    /* words anywhere in a part of 1 MiB, the next part every `count` blocks of 256 threads */
    ".visible .entry anywhere(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.x;\n"
    "div.u32 %r4, %r2, %r1;\nmad.lo.u32 %r3, %r2, 256, %r3;\nmul.lo.u32 %r3, %r3, -1640531535;\n"
    "xor.b32 %r5, %r3, 1234567;\nshr.u32 %r5, %r5, 15;\nxor.b32 %r3, %r3, %r5;\nmul.lo.u32 %r3, %r3, 747796405;\n"
    "shr.u32 %r3, %r3, 14;\nmad.lo.u32 %r3, %r4, 262144, %r3;\nmul.wide.u32 %rd2, %r3, 4;\n"
    "add.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r4, [%rd2];\nsetp.eq.u32 %p, %r4, 77;\n"
    "@%p st.global.u32 [%rd1], %r4;\nret;\n}\n"
    /* a sum of 1 to every step'th byte of 4 MB */
    ".visible .entry sums(.param .u64 out, .param .u32 step)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .f32 %f1;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [step];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mov.u32 %r4, %tid.x;\nmad.lo.u32 %r2, %r2, %r3, %r4;\nmul.lo.u32 %r2, %r2, %r1;\nand.b32 %r2, %r2, 4194303;\n"
    "cvt.u64.u32 %rd2, %r2;\nadd.s64 %rd1, %rd1, %rd2;\nmov.f32 %f1, 0f3F800000;\n"
    "red.global.add.f32 [%rd1], %f1;\nret;\n}\n"
    /* 16 bytes a thread by four stores, with `count` products before them */
    ".visible .entry pieces(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mov.u32 %r4, %tid.x;\nmad.lo.u32 %r2, %r2, %r3, %r4;\nmul.wide.u32 %rd2, %r2, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "again:\nmad.lo.u32 %r2, %r2, 1664525, %r4;\nsub.s32 %r1, %r1, 1;\nsetp.gt.s32 %p, %r1, 0;\n@%p bra again;\n"
    "st.global.u32 [%rd1], %r2;\nst.global.u32 [%rd1+4], %r2;\nst.global.u32 [%rd1+8], %r2;\n"
    "st.global.u32 [%rd1+12], %r2;\nret;\n}\n"
    /* floating-point operations of a thread: 2, half of them 1 more, 4, 1, 128, 1, 1; and what is none */
    ".visible .entry operations(.param .u64 out, .param .u32 count)\n{\n"
    ".reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .f64 %d<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %tid.x;\nmov.f32 %f1, 0f3F800000;\n"
    "mov.b32 %r3, 0;\nmov.f64 %d1, 0d3FF0000000000000;\nsetp.lt.u32 %p, %r2, %r1;\n"
    "fma.rn.f32 %f2, %f1, %f1, %f1;\n@%p add.rn.f32 %f2, %f2, %f1;\nfma.rn.f16x2 %r4, %r3, %r3, %r3;\n"
    "mul.rn.f64 %d2, %d1, %d1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.f32 %f5, %f1;\nmov.f32 %f6, %f1;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r3, %r3, %r3, %r3}, {%r3, %r3}, "
    "{%f3, %f4, %f5, %f6};\n"
    "ex2.approx.f32 %f2, %f2;\nred.global.add.f32 [%rd1], %f2;\ncvt.rzi.s32.f32 %r5, %f2;\nmax.f32 %f2, %f2, %f1;\n"
    "mad.lo.s32 %r5, %r5, %r5, %r5;\nret;\n}\n" LOOP_OF("divide", "div.rn.f32", "0f3F800000")
        LOOP_OF("divide_zero", "div.rn.f32", "0f00000000") LOOP_OF("multiply", "mul.rn.f32", "0f3F800000");

struct bench {
    struct ptx_module *module;
    struct ptx_mem *mem;
    struct arena *a;
    struct ptx_cache *cache;
    uint64_t out, in;
    uint32_t cluster, shared_bytes; /* of the launches; 0: none */
    const struct tensor_map *map;   /* the second argument; NULL: a number */
};

enum { BUFFER_BYTES = 64 << 20 };

static void bench_open(struct bench *b)
{
    struct err err = {0};
    *b = (struct bench){0};
    b->a = arena_open();
    b->mem = ptx_mem_open(1);
    b->cache = ptx_cache_open(ptx_device_find("h200"));
    assert_ok(ptx_module_open(&b->module, "k.ptx", module_text, strlen(module_text), &err), err);
    struct ptx_buffer buffer = {.name = "out", .size_bytes = BUFFER_BYTES, .initialised = true};
    b->out = ptx_mem_alloc(b->mem, &buffer, &err);
    buffer.name = "in";
    b->in = ptx_mem_alloc(b->mem, &buffer, &err);
    assert_true(b->out && b->in);
}

static void bench_close(struct bench *b)
{
    ptx_module_close(b->module);
    ptx_mem_close(b->mem);
    ptx_cache_close(b->cache);
    arena_close(b->a);
}

static struct ptx_time bench_time_with(struct bench *b, const char *kernel, uint32_t blocks, uint32_t threads,
                                       uint32_t number, const struct ptx_resources *res)
{
    bool two = str_eq(kernel, "copy") || str_eq(kernel, "scatter"), chain = str_eq(kernel, "chain");
    const void *args[3] = {&b->out, two || chain ? (const void *)&b->in : &number, &number};
    args[1] = b->map ? b->map : args[1];
    struct ptx_launch l = {.kernel = kernel,
                           .grid = {blocks, 1, 1},
                           .block = {threads, 1, 1},
                           .cluster = {b->cluster, b->cluster > 0, b->cluster > 0},
                           .shared_bytes = b->shared_bytes,
                           .args = args,
                           .n_args = chain ? 3 : 2,
                           .cooperative = str_eq(kernel, "twice")};
    struct ptx_options o = {.device = ptx_device_find("h200")};
    struct ptx_report report = {0};
    struct ptx_time t;
    struct err err = {0};
    const struct ptx_timed on = {b->module, b->mem, &o, res, b->cache, b->a};
    assert_ok(ptx_time_launch(&on, &l, &t, &report, &err), err);
    if (report.end != PTX_DONE)
        fail_msg("%s: %s", ptx_end_name(report.end), report.n_findings ? report.findings[0].words : "");
    ptx_report_clear(&report);
    return t;
}

static struct ptx_time bench_time(struct bench *b, const char *kernel, uint32_t blocks, uint32_t threads,
                                  uint32_t number, uint32_t registers)
{
    return bench_time_with(b, kernel, blocks, threads, number, &(struct ptx_resources){.registers = registers});
}

static const struct ptx_line_stats *line_of(const struct ptx_time *t, int line)
{
    for (size_t k = 0; k < t->n_lines; k++)
        if (t->lines[k].line == line)
            return &t->lines[k];
    fail_msg("no line %d", line);
    return NULL;
}

static void test_operations(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "operations", 5000, 64, 32, 16);
    assert_true(t.sampled_blocks < 5000);
    assert_float_equal(t.flops, 5000.0 * 64 * (2 + 0.5 + 4 + 1 + 128 + 1 + 1), 0);
    assert_float_equal(bench_time(&b, "copy", 5000, 64, 0, 16).flops, 0, 0);
    bench_close(&b);
}

/* Additions cost the sectors that they go to, 102 a nanosecond, and those of one word 3.5 clocks each
 * (writes.csv). */
static void test_updates(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time words = bench_time(&b, "sums", 4096, 256, 4, 16),
                    sectors = bench_time(&b, "sums", 4096, 256, 32, 16),
                    one = bench_time(&b, "sums", 4096, 256, 0, 16);
    assert_in_range((int)(4096 * 256 / sectors.l2_us / 1000), 90, 115);
    assert_in_range((int)(100 * sectors.l2_us / words.l2_us), 750, 850);
    assert_in_range((int)one.us, 1750, 1950);
    bench_close(&b);
}

/* Four stores to the same sectors go on as one where warps come slowly enough (writes.csv, pieces). */
static void test_pieces(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double at_once = bench_time(&b, "pieces", 4096, 256, 1, 16).l2_us,
           in_turn = bench_time(&b, "pieces", 4096, 256, 16, 16).l2_us;
    assert_in_range((int)(10 * at_once), 90, 140); /* 13.6 us measured, all in all */
    assert_in_range((int)(10 * in_turn), 30, 45);  /* 4.1 us for as many bytes by one store each */
    bench_close(&b);
}

/* The data sheets' figures. */
static void test_peaks(void **state)
{
    (void)state;
    struct ptx_peaks h = ptx_device_peaks(ptx_device_find("h200")),
                     a = ptx_device_peaks(ptx_device_find("a100-80gb"));
    assert_float_equal(h.fp32, 66.9e12, 0.1e12);
    assert_float_equal(h.fp16, 133.8e12, 0.1e12);
    assert_float_equal(h.fp64, 33.5e12, 0.1e12);
    assert_float_equal(a.fp32, 19.5e12, 0.1e12);
    assert_float_equal(a.tensor_fp16, 312e12, 0.1e12);
}

/* Stores of spilled registers all reach the L2, loads where the L1 lacks the room: 128 threads fill a sixteenth
 * of an SM, so that frames of 64 bytes fit and those of 2 KB do not. */
static void test_spills(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    uint32_t blocks = 4096;
    double threads = 128.0 * blocks;
    const struct ptx_sass_line stores[] = {{2, 4, 0, 40}}, loads[] = {{2, 4, 40, 0}};
    struct ptx_resources res = {.registers = 16, .n_sass = 1, .sass = stores};
    bench_time(&b, "copy", blocks, 128, 0, 16);
    struct ptx_time plain = bench_time_with(&b, "copy", blocks, 128, 0, &res);
    res.stack_bytes = 64;
    struct ptx_time stored = bench_time_with(&b, "copy", blocks, 128, 0, &res);
    res.sass = loads;
    struct ptx_time kept = bench_time_with(&b, "copy", blocks, 128, 0, &res);
    res.stack_bytes = 2048;
    struct ptx_time missed = bench_time_with(&b, "copy", blocks, 128, 0, &res);
    assert_float_equal(stored.l2_bytes - plain.l2_bytes, 40 * threads, 0.01 * threads);
    assert_float_equal(kept.l2_bytes, plain.l2_bytes, 1);
    assert_in_range((long)(missed.l2_bytes - plain.l2_bytes), (long)(30 * threads), (long)(40 * threads));
    assert_true(stored.us > plain.us + 0.5 * 40 * threads / 5300 * 1e-3);
    assert_float_equal(kept.us, plain.us, 1e-6);
    bench_close(&b);
}

/* Four turns of a loop in one pass of its machine code: its loads start together, or each waits for the one
 * before it. */
static void machine_loop(struct ptx_machine *code, bool together)
{
    enum { LDG = 0x981, IADD = 0x210, BRA = 0x947, EXIT = 0x94d, NONE = 7 };
    size_t n = 0;

    code[n++] = (struct ptx_machine){1, -1, IADD, 4, NONE, NONE, 0, true};
    for (int k = 0; k < 4; k++) {
        code[n++] = (struct ptx_machine){2, -1, LDG, 1, (uint8_t)k, NONE, 0, true};
        if (!together)
            code[n++] = (struct ptx_machine){3, -1, IADD, 4, NONE, NONE, (uint8_t)(1 << k), true};
    }
    for (int k = 0; k < 4 && together; k++)
        code[n++] = (struct ptx_machine){3, -1, IADD, 4, NONE, NONE, (uint8_t)(1 << k), true};
    code[n++] = (struct ptx_machine){3, 1, BRA, 5, NONE, NONE, 0, false};
    code[n++] = (struct ptx_machine){4, -1, EXIT, 5, NONE, NONE, 0, true};
}

static void test_machine_order(void **state)
{
    struct ptx_machine code[11];
    struct ptx_resources res = {.registers = 16, .code = code, .n_code = ARRAY_LEN(code)};
    struct bench b;
    (void)state;
    bench_open(&b);
    uint32_t words = 32 * 400; /* 400 turns of one warp */
    machine_loop(code, true);
    bench_time_with(&b, "same", 1, 32, words, &res);
    double together = bench_time_with(&b, "same", 1, 32, words, &res).us;
    machine_loop(code, false);
    struct ptx_time alone = bench_time_with(&b, "same", 1, 32, words, &res);
    assert_in_range((int)(alone.us * 1980 / 400), 287, 340); /* cycles a turn: a way to the L2 */
    assert_true(alone.us > 3 * together);
    bench_close(&b);
}

/* Machine code whose operations wait for each other less than those of the PTX is believed. */
static void test_machine_shorter(void **state)
{
    enum { MUFU = 0x308, FMUL = 0x220, BRA = 0x947, STG = 0x986, EXIT = 0x94d, NONE = 7 };
    static const struct ptx_machine code[] = {
        {9, -1, MUFU, 1, 0, NONE, 0, true},     {9, -1, FMUL, 4, NONE, NONE, 1, true},
        {10, 0, BRA, 5, NONE, NONE, 0, false},  {11, -1, STG, 1, NONE, NONE, 0, true},
        {11, -1, EXIT, 5, NONE, NONE, 0, true},
    };
    struct ptx_resources res = {.registers = 16};
    struct bench b;
    (void)state;
    bench_open(&b);
    double table = bench_time_with(&b, "divide", 1, 32, 1000, &res).us;
    res.code = code;
    res.n_code = ARRAY_LEN(code);
    struct ptx_time own = bench_time_with(&b, "divide", 1, 32, 1000, &res);
    assert_in_range((int)(own.latency_us * 1980 / 1000), 27, 45); /* clocks a turn: 26, and the way back */
    assert_true(own.us < 0.75 * table);
    bench_close(&b);
}

/* A turn takes as many issue slots as its machine code has, of which nine make four turns; then loads' pipe, a
 * load a turn, is what bounds. */
static void test_machine_slots(void **state)
{
    struct ptx_machine code[11];
    struct ptx_resources res = {.registers = 16};
    const struct cost_model *m = cost_model_of(ptx_device_find("h200"));
    struct bench b;
    (void)state;
    bench_open(&b);
    machine_loop(code, true);
    double table = bench_time_with(&b, "same", 132, 1024, 1024 * 400, &res).issue_us;
    res.code = code;
    res.n_code = ARRAY_LEN(code);
    double turns =
        bench_time_with(&b, "same", 132, 1024, 1024 * 400, &res).issue_us * 1980 * m->issue_share / 32 / 400;
    assert_float_equal(turns, 1, 0.02);
    assert_true(table * 1980 * m->issue_share / 32 / 400 > 1.3);
    bench_close(&b);
}

/* What all blocks read comes from an SM's L1 but for the first of its blocks; what each reads of its own does
 * not. */
static void test_common_bytes(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    uint32_t blocks = 132 * 40, words = 4096;
    struct ptx_time all = bench_time(&b, "same", blocks, 256, words, 16);
    assert_true(all.l2_bytes < 0.1 * 4.0 * words * blocks);
    assert_true(all.l2_bytes > 4.0 * words * 132 * 0.5);
    struct ptx_time few = bench_time(&b, "same", 132, 256, words, 16); /* one on each SM */
    assert_float_equal(few.l2_bytes, 4.0 * words * 132, 0.02 * 4 * words * 132);
    struct ptx_time own = bench_time(&b, "copy", 4096, 128, 0, 16);
    assert_float_equal(own.l2_bytes, 2.0 * 128 * 16 * 4096, 1);
    bench_close(&b);
}

/* A first block of 60,000 warp instructions does not stand for all others. */
static void test_heavy_blocks(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "same", 264, 1024, 1024 * 300, 16);
    assert_true(t.sampled_blocks >= 3);
    bench_close(&b);
}

/* Stores do not wait for DRAM. */
static void test_cold_stores(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double cold = bench_time(&b, "scatter", 1, 32, 0, 16).us, hot = bench_time(&b, "scatter", 1, 32, 0, 16).us;
    assert_true(cold - hot < cost_model_of(ptx_device_find("h200"))->cold_us + 0.1);
    bench_close(&b);
}

static void test_stream(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    uint32_t blocks = 4096; /* 8 MB each way */
    struct ptx_time cold = bench_time(&b, "copy", blocks, 128, 0, 16),
                    hot = bench_time(&b, "copy", blocks, 128, 0, 16);
    double bytes = 2.0 * 128 * 16 * blocks, expected = ptx_copy_us(ptx_device_find("h200"), bytes, false);
    assert_true(fabs(cold.us / expected - 1) < 0.15);
    assert_true(hot.us < 0.8 * cold.us);
    assert_int_equal(cold.bound, PTX_BOUND_DRAM);
    assert_float_equal(cold.dram_bytes, bytes, 0.02 * bytes);
    assert_float_equal(hot.dram_bytes, 0, 0);
    assert_int_equal(cold.blocks, blocks);
    assert_true(cold.sampled_blocks < blocks && cold.sampled_blocks > 2);
    assert_false(cold.extrapolated);
    assert_float_equal(cold.occupancy, 1, 1e-9);
    const struct ptx_line_stats *load = line_of(&cold, 2);
    assert_float_equal(load->global_requests, 4.0 * blocks, 1);
    assert_float_equal(load->global_sectors, 64.0 * blocks, 1);
    assert_float_equal(load->ideal_sectors, load->global_sectors, 0);
    assert_float_equal(load->lanes_active, 32, 0);
    assert_float_equal(load->bytes_used, load->bytes_moved, 0);
    double shares = 0;
    for (size_t k = 0; k < cold.n_lines; k++)
        shares += cold.lines[k].stall_share;
    assert_float_equal(shares, 1, 1e-9);
    assert_int_equal(cold.lines[0].line, 2); /* the load is what it waits for */
    bench_close(&b);
}

static void test_scatter(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "scatter", 4096, 128, 0, 16);
    const struct ptx_line_stats *store = line_of(&t, 2);
    assert_float_equal(store->global_sectors / store->global_requests, 32, 1e-9);
    assert_float_equal(store->ideal_sectors / store->global_requests, 4, 1e-9);
    assert_float_equal(store->bytes_moved / store->bytes_used, 8, 1e-9);
    bench_close(&b);
}

static void test_chain(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double fixed = bench_time(&b, "chain", 1, 32, 1, 16).us; /* and warms the first lines */
    struct ptx_time some = bench_time(&b, "chain", 1, 32, 100, 16);
    struct ptx_time twice = bench_time(&b, "chain", 1, 32, 200, 16);
    assert_int_equal(some.bound, PTX_BOUND_LATENCY);
    /* half of the second run's lines are hot, none of the first's but one */
    assert_in_range((int)(100 * (some.us - fixed) / 100), 30,
                    50); /* hundredths of 1 us a load: DRAM, 0.35 to 0.5 us */
    assert_true(twice.us > 1.3 * some.us && twice.us < 2.1 * some.us);
    assert_int_equal(some.lines[0].line, 2);
    assert_true(some.lines[0].stall_share > 0.8);
    double again = bench_time(&b, "chain", 1, 32, 200, 16).us; /* all in the L2 */
    assert_true(again < 0.65 * twice.us + 1);
    bench_close(&b);
}

static void test_issue(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time div = bench_time(&b, "divide", 132 * 8, 256, 200, 16),
                    mul = bench_time(&b, "multiply", 132 * 8, 256, 200, 16);
    assert_int_equal(div.bound, PTX_BOUND_ISSUE);
    assert_true(div.issue_us > 2.5 * mul.issue_us);
    /* 7.4 divisions a clock and SM (micro.csv, div_rn), a third less with what a loop adds */
    double rate = 8 * 256 * 200 / div.issue_us / 1980;
    assert_true(rate > 4.5 && rate < 7.5);
    struct ptx_time few = bench_time(&b, "divide", 132, 256, 200, 16),
                    full = bench_time(&b, "divide", 132 * 8, 256, 200, 255);
    assert_true(few.us < 0.5 * div.us);
    assert_true(full.occupancy < 0.2 &&
                full.us > 1.2 * div.us); /* registers leave room for one block at a time */
    bench_close(&b);
}

/* A division of zeros calls a routine, of some twice as many instructions as stand in line. */
static void test_rare_operands(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time usual = bench_time(&b, "divide", 132 * 8, 256, 200, 16),
                    zeros = bench_time(&b, "divide_zero", 132 * 8, 256, 200, 16);
    assert_true(zeros.issue_us > 2.5 * usual.issue_us && zeros.issue_us < 5 * usual.issue_us);
    double one = bench_time(&b, "divide", 1, 32, 200, 16).us,
           rare = bench_time(&b, "divide_zero", 1, 32, 200, 16).us;
    assert_true((rare - one) * 1980 / 200 > 150); /* clocks a division, of a lone warp */
    bench_close(&b);
}

/* Clusters lie within GPCs: of four blocks that each fill an SM 31 run at once, the next takes a round. */
static void test_cluster_rounds(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    b.cluster = 4;
    b.shared_bytes = 200 << 10;
    struct ptx_time fits = bench_time(&b, "multiply", 31 * 4, 256, 4000, 16),
                    more = bench_time(&b, "multiply", 32 * 4, 256, 4000, 16);
    assert_true(more.us > 1.8 * fits.us);
    b.cluster = 2;
    assert_true(bench_time(&b, "multiply", 132, 256, 4000, 16).us < 1.1 * fits.us);
    b.cluster = 4;
    b.shared_bytes = 0; /* eight blocks an SM: nothing is left over */
    assert_true(bench_time(&b, "multiply", 32 * 4, 256, 4000, 16).us < 1.1 * fits.us);
    bench_close(&b);
}

/* A few runs of neighbours do not show how many of the blocks have nothing to do. */
static void test_idle_blocks(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double works = bench_time(&b, "some", 5000, 256, 5000, 16).issue_us,
           most = bench_time(&b, "some", 20000, 256, 5000, 16).issue_us;
    if (fabs(most / works - 1) > 0.2)
        fail_msg("%.2f us with three idle blocks beside each that works, %.2f without", most, works);
    bench_close(&b);
}

static void test_banks(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time good = bench_time(&b, "banks", 1, 128, 4, 16),
                    bad = bench_time(&b, "banks", 1, 128, 128, 16);
    assert_float_equal(line_of(&good, 7)->bank_conflicts, 0, 0);
    assert_float_equal(line_of(&bad, 7)->bank_conflicts / line_of(&bad, 7)->shared_requests, 31, 1e-9);
    assert_true(good.sync_us > 0);
    bench_close(&b);
}

/* Additions of 1 are counted by word first; others take turns, lane by lane. */
static void test_counted_additions(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time ones = bench_time(&b, "tally", 132, 256, 1, 16),
                    others = bench_time(&b, "tally", 132, 256, 3, 16);
    assert_true(others.issue_us > 4 * ones.issue_us);
    bench_close(&b);
}

/* Blocks read anywhere in a part of 1 MiB, then in the next: what they read again is still in the L2, though
 * the parts together are more than it holds. */
static void test_parts(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "anywhere", 64 * 512, 256, 512, 16);
    if (t.dram_bytes < 0.5 * BUFFER_BYTES || t.dram_bytes > 1.6 * BUFFER_BYTES)
        fail_msg("%.0f bytes", t.dram_bytes);
    bench_close(&b);
}

static void test_waiting_blocks(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "meet", 132, 32, 0, 16);
    assert_true(t.extrapolated);
    assert_int_equal(t.blocks, 132);
    assert_true(t.us > 0.5 && t.us < 100);
    bench_close(&b);
}

static void test_strong_reads_are_work(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time few = bench_time(&b, "reads", 1, 32, 256, 16),
                    many = bench_time(&b, "reads", 1, 32, 8192, 16);
    assert_true(many.us - many.launch_us > 16 * (few.us - few.launch_us));
    bench_close(&b);
}

/* 8192 blocks read four times what the buffer holds, and the L2 does not hold the buffer: but what all of them
 * read came from DRAM once, and to each SM. */
static void test_shared_bytes(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "same", 8192, 256, 8192, 16);
    assert_true(t.l2_bytes > 132 * 32768 * 0.9);
    assert_float_equal(t.dram_bytes, 32768, 1024);
    bench_close(&b);
}

/* The block that reads the rest of a sector is eight blocks away: every sector comes from DRAM about once. */
static void test_far_neighbours(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "columns", 8 * 16384, 128, 0, 16);
    if (t.dram_bytes < 0.9 * BUFFER_BYTES || t.dram_bytes > 1.5 * BUFFER_BYTES)
        fail_msg("%.0f bytes", t.dram_bytes);
    bench_close(&b);
}

/* Of tickets each warp of a block draws its share. */
static void test_tickets(void **state)
{
    struct ptx_time t[2];
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        struct bench b;
        bench_open(&b); /* the counter is zero again */
        t[k] = bench_time(&b, "draw", 132, k ? 256 : 32, 132 * 64, 16);
        bench_close(&b);
    }
    assert_true(t[1].latency_us < 0.25 * t[0].latency_us);
}

/* A fence of the GPU empties the L1. */
static void test_fences(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double block = bench_time(&b, "fenced", 132, 256, 0, 16).l2_bytes,
           whole = bench_time(&b, "fenced", 132, 256, 1, 16).l2_bytes;
    assert_float_equal(block, 132 * 1024, 1);
    assert_float_equal(whole, 2 * 132 * 1024, 1);
    bench_close(&b);
}

/* A sample passes the grid's barrier: the whole would be 40 million warp instructions. */
static void test_grid_barrier(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time small = bench_time(&b, "twice", 132 * 4, 256, 132 * 4 * 256, 16),
                    large = bench_time(&b, "twice", 132 * 4, 256, BUFFER_BYTES / 4, 16);
    assert_true(large.extrapolated);
    assert_int_equal(large.blocks, 132 * 4);
    assert_true(large.sampled_blocks < 132 * 4);
    assert_true(small.us < 20); /* turns of the waiting loop are not counted */
    assert_true(large.us > 5 * small.us && large.us < 1000);
    bench_close(&b);
}

static void test_bulk_copies(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time little = bench_time(&b, "fetch", 1, 64, 16, 16),
                    much = bench_time(&b, "fetch", 1, 64, 32768, 16);
    assert_true(much.us > little.us + 0.1);
    assert_float_equal(much.dram_bytes, 32768 - 128,
                       0); /* all but the line that the first launch left in the L2 */
    assert_float_equal(much.l2_bytes, 32768, 0);
    assert_true(line_of(&much, 9)->stall_share > 0.5);
    bench_close(&b);
}

/* A tile goes through the L2 as the same bytes in a row do: the swizzle is the shared memory's. */
static void test_tensor_copies(void **state)
{
    struct bench b;
    struct tensor_map map = {.strides = {128},
                             .dims = {64, 64},
                             .box = {64, 64},
                             .type = 6,
                             .rank = 2,
                             .swizzle = TENSOR_SWIZZLE_128B,
                             .mark = TENSOR_MAP_MARK};
    (void)state;
    bench_open(&b);
    map.addr = b.out;
    bench_time(&b, "fetch", 132, 64, 8192, 16); /* it is in the L2 */
    struct ptx_time plain = bench_time(&b, "fetch", 132, 64, 8192, 16);
    b.map = &map;
    struct ptx_time tile = bench_time(&b, "fetch_tile", 132, 64, 0, 16);
    assert_float_equal(plain.l2_bytes, 132 * 8192, 0);
    assert_float_equal(tile.l2_bytes, plain.l2_bytes, 0);
    assert_float_equal(tile.l2_us, plain.l2_us, 0.01 * plain.l2_us);
    assert_float_equal(tile.us, plain.us, 0.05 * plain.us);
    bench_close(&b);
}

static void test_unknown_kernel(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_launch l = {.kernel = "absent", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct ptx_options o = {.device = ptx_device_find("h200")};
    struct ptx_report report = {0};
    struct ptx_time t;
    struct err err = {0};
    const struct ptx_timed on = {b.module, b.mem, &o, NULL, b.cache, b.a};
    assert_false(ptx_time_launch(&on, &l, &t, &report, &err));
    assert_non_null(strstr(err.text, "absent"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_spills),
        cmocka_unit_test(test_machine_order),
        cmocka_unit_test(test_machine_shorter),
        cmocka_unit_test(test_machine_slots),
        cmocka_unit_test(test_common_bytes),
        cmocka_unit_test(test_heavy_blocks),
        cmocka_unit_test(test_cold_stores),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_issue),
        cmocka_unit_test(test_rare_operands),
        cmocka_unit_test(test_cluster_rounds),
        cmocka_unit_test(test_idle_blocks),
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_counted_additions),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_waiting_blocks),
        cmocka_unit_test(test_unknown_kernel),
        cmocka_unit_test(test_grid_barrier),
        cmocka_unit_test(test_bulk_copies),
        cmocka_unit_test(test_tensor_copies),
        cmocka_unit_test(test_strong_reads_are_work),
        cmocka_unit_test(test_shared_bytes),
        cmocka_unit_test(test_far_neighbours),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_tickets),
        cmocka_unit_test(test_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
