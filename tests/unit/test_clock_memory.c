#include "test.h"

#include "clock/cost_model.h"

/* What stays in the caches and what comes back from DRAM, loops and branches of the machine code, and blocks
 * that differ. */

/* A hundred turns, each an exchange of all lanes and twenty sums of the first `lanes`, which go back to the
 * loop's head from another place than the others do. */
#define SUMS(n) "add.u32 %r5, %r5, %r4;\nadd.u32 %r4, %r5, %r4;\n" n
#define FOUR(n) SUMS(SUMS(SUMS(SUMS(SUMS(n)))))
#define APART(name, lanes)                                                                    \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                          \
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n.reg .pred %q;\n"                   \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %laneid;\nmov.u32 %r3, 0;\nmov.u32 %r4, %r1;\n"  \
    "mov.u32 %r5, %r1;\nbra again;\nnext:\nadd.u32 %r3, %r3, 1;\n"                            \
    "again:\nshfl.sync.up.b32 %r6, %r4, 1, 0, -1;\nsetp.ge.u32 %q, %r3, 100;\n@%q bra end;\n" \
    "setp.ge.u32 %p, %r1, " lanes                                                             \
    ";\n@%p bra next;\n" FOUR(FOUR("")) "bra next;\n"                                         \
                                        "end:\nst.global.u32 [%rd1], %r5;\nret;\n}\n"

#define SUM_OF(name, apart)                                                                            \
    ".visible .entry " name "(.param .u64 out)\n{\n.shared .align 4 .b8 words[1024];\n"                \
    ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .pred %p;\n"                                             \
    "mov.u32 %r1, %laneid;\nshl.b32 %r1, %r1, " apart ";\nshl.b32 %r1, %r1, 2;\nmov.u32 %r2, words;\n" \
    "add.u32 %r2, %r2, %r1;\nmov.f32 %f1, 0f3F800000;\nst.shared.f32 [%r2], %f1;\nmov.u32 %r3, 0;\n"   \
    "again:\natom.shared.add.f32 %f2, [%r2], %f1;\nadd.u32 %r3, %r3, 1;\n"                             \
    "setp.lt.u32 %p, %r3, 100;\n@%p bra again;\nret;\n}\n"

#define FOLDS   "add.u32 %r5, %r5, %r3;\nxor.b32 %r5, %r5, %r2;\nadd.u32 %r5, %r5, %r3;\nxor.b32 %r5, %r5, %r2;\n"
#define SIXTEEN FOLDS FOLDS FOLDS FOLDS

/* A hundred constants of which each lane reads one, `bytes` from those of the lane beside it. */
#define CONSTANTS(name, bytes)                                                                              \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"   \
    "mov.u32 %r1, %laneid;\nmul.wide.u32 %rd1, %r1, " bytes                                                 \
    ";\nmov.u64 %rd2, table;\nadd.s64 %rd1, %rd1, %rd2;\n"                                                  \
    "mov.u32 %r3, 0;\nagain:\nld.const.u32 %r4, [%rd1];\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 100;\n" \
    "@%p bra again;\nret;\n}\n"

/* So many turns of five instructions in the first half of the grid, so many in the other. */
#define HALVES(name, first, rest)                                                                        \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .pred %p;\n"                   \
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\nshr.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r1, %r2;\n" \
    "selp.b32 %r4, " first ", " rest                                                                     \
    ", %p;\nmov.u32 %r3, 0;\nagain:\nxor.b32 %r5, %r3, %r1;\nadd.u32 %r3, %r3, 1;\n"                     \
    "setp.lt.u32 %p, %r3, %r4;\n@%p bra again;\nret;\n}\n"

/* A thousand turns of a branch of line 3 over work of line 4, past which the lanes from `taken` on go. */
#define SPLIT(name, taken)                                                                               \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .pred %p;\n.reg .pred %q;\n"   \
    ".loc 1 1 0\nmov.u32 %r1, %laneid;\nmov.u32 %r3, 0;\nmov.u32 %r2, 0;\nmov.u32 %r5, 0;\n"             \
    ".loc 1 3 0\nsetp.ge.u32 %q, %r1, " taken ";\nagain:\n.loc 1 3 0\n@%q bra past;\n.loc 1 4 0\n" FOLDS \
    "past:\n.loc 1 5 0\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 1000;\n@%p bra again;\nret;\n}\n"

/* Sixteen sums of 1 by each thread to words anywhere in a table. */
#define ANYWHERE(name, last_word)                                                                         \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n" \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"                           \
    "mad.lo.u32 %r1, %r1, 256, %r2;\nmul.lo.u32 %r1, %r1, 747796405;\nmov.u32 %r3, 0;\n"                  \
    "again:\nmad.lo.u32 %r1, %r1, 1664525, 1013904223;\nshr.u32 %r4, %r1, 16;\nxor.b32 %r4, %r4, %r1;\n"  \
    "mul.lo.u32 %r4, %r4, 739982445;\nshr.u32 %r4, %r4, 8;\nand.b32 %r4, %r4, " last_word                 \
    ";\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd1, %rd2;\nred.global.add.u32 [%rd2], 1;\n"           \
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 16;\n@%p bra again;\nret;\n}\n"

/* Two hundred words anywhere in a thread's line, each of which the one before says. */
#define LINE(name, which)                                                                                             \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                                                  \
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"                                                           \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r1, %r1, 128, %r2;\n" which \
    "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd1, %rd1, %rd2;\nmov.u32 %r3, 0;\n"                                      \
    "again:\nmad.lo.u32 %r1, %r1, 1664525, 1013904223;\nshr.u32 %r4, %r1, 9;\nand.b32 %r4, %r4, 124;\n"               \
    "cvt.u64.u32 %rd2, %r4;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r5, [%rd2];\nadd.u32 %r1, %r1, %r5;\n"         \
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 200;\n@%p bra again;\nret;\n}\n"

static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n.const .align 4 .b8 table[1024];\n" CONSTANTS(
        "one_constant", "0") CONSTANTS("own_constants", "4") APART("apart", "16") APART("together", "32")
        HALVES("halves", "200", "70") HALVES("both", "200", "200") HALVES("rest", "70", "70")
            SPLIT("none_goes", "0") SPLIT("half_goes", "16") ANYWHERE("words_64", "63")
                ANYWHERE("words_4096", "4095") ANYWHERE("words_16384", "16383")
    /* a word from DRAM, and forty of the shared memory, one after the other, meanwhile */
    ".visible .entry meanwhile(.param .u64 out)\n{\n.shared .align 4 .b8 chain[256];\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r2, chain;\nmov.u32 %r4, 0;\nst.shared.u32 [%r2], %r4;\n"
    "ld.global.u32 %r5, [%rd1];\nmov.u32 %r3, 0;\n"
    "again:\nadd.u32 %r6, %r2, %r4;\nld.shared.u32 %r4, [%r6];\nadd.u32 %r3, %r3, 1;\n"
    "setp.lt.u32 %p, %r3, 40;\n@%p bra again;\nadd.u32 %r5, %r5, %r4;\nst.global.u32 [%rd1], %r5;\nret;\n}\n" LINE(
        "own_line", "") LINE("any_line", "mul.lo.u32 %r1, %r1, 40503;\nand.b32 %r1, %r1, 16383;\n")
    /* a thread's eight sectors, in turn, a word of each eight times */
    ".visible .entry turns(.param .u64 out)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.s32 %r1, %r1, 128, %r2;\n"
    "mul.wide.u32 %rd2, %r1, 256;\nadd.s64 %rd1, %rd1, %rd2;\nmov.u32 %r3, 0;\n"
    "again:\nand.b32 %r4, %r3, 7;\nshl.b32 %r4, %r4, 5;\nshr.u32 %r5, %r3, 3;\nshl.b32 %r5, %r5, 2;\n"
    "add.u32 %r4, %r4, %r5;\ncvt.u64.u32 %rd3, %r4;\nadd.s64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], %r3;\n"
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 64;\n@%p bra again;\nret;\n}\n"
    /* a load of line 2 and 64 operations of line 3, 400 times */
    ".visible .entry mixed(.param .u64 out)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r2, %tid.x;\nmov.u32 %r5, 0;\nmov.u32 %r1, 0;\n.loc 1 3 0\n"
    "next:\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\n.loc 1 2 0\nld.global.u32 %r3, [%rd2];\n"
    ".loc 1 3 0\n" SIXTEEN SIXTEEN SIXTEEN SIXTEEN
    "add.u32 %r1, %r1, 1;\nadd.u32 %r2, %r2, 1024;\nsetp.lt.u32 %p, %r1, 400;\n@%p bra next;\n"
    ".loc 1 4 0\nsetp.eq.u32 %p, %r5, 77;\n@%p st.global.u32 [%rd1], %r5;\nret;\n}\n"
    /* a thread's two lines, word by word */
    ".visible .entry word_by_word(.param .u64 out)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.s32 %r1, %r1, 128, %r2;\n"
    "mul.wide.u32 %rd2, %r1, 256;\nadd.s64 %rd1, %rd1, %rd2;\nmov.u32 %r3, 0;\n"
    "again:\nst.global.u32 [%rd1], %r3;\nadd.s64 %rd1, %rd1, 4;\n"
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 64;\n@%p bra again;\nret;\n}\n"
    /* sixteen words anywhere in 64 MiB */
    ".visible .entry anywhere(.param .u64 out)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r1, %r1, 256, %r2;\n"
    "mov.u32 %r3, 0;\nmul.lo.u32 %r1, %r1, -1640531535;\n"
    "again:\nmad.lo.u32 %r1, %r1, 1664525, 1013904223;\nshr.u32 %r4, %r1, 15;\nxor.b32 %r4, %r4, %r1;\n"
    "mul.lo.u32 %r4, %r4, 739982445;\nshr.u32 %r4, %r4, 8;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [%rd2];\nsetp.eq.u32 %p, %r5, 77;\n@%p st.global.u32 [%rd1], %r5;\n"
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 16;\n@%p bra again;\nret;\n}\n"
    /* a word of each line */
    ".visible .entry rows(.param .u64 out)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r1, %r1, 256, %r2;\n"
    "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r5, [%rd2];\n"
    "setp.eq.u32 %p, %r5, 77;\n@%p st.global.u32 [%rd1], %r5;\nret;\n}\n"
    /* a hundred sums by each lane to a word of its own in shared memory: in its own bank, or two lanes a bank
     */
    SUM_OF("one_a_bank", "0") SUM_OF("two_a_bank", "1")
    /* a sum of 1 to one word by each block's first thread, behind 20 products */
    ".visible .entry counts(.param .u64 out)\n{\n"
    ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r2, %tid.x;\nmov.f32 %f1, 0f3F800000;\nmov.u32 %r3, 0;\n"
    "again:\nmul.rn.f32 %f1, %f1, %f1;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 20;\n@%p bra again;\n"
    "setp.eq.u32 %p, %r2, 0;\n@%p red.global.add.f32 [%rd1], %f1;\nret;\n}\n";

struct bench {
    struct ptx_module *module;
    struct ptx_mem *mem;
    struct arena *a;
    struct ptx_cache *cache;
    uint64_t out;
};

enum { BUFFER_BYTES = 64 << 20 };

static void bench_open(struct bench *b)
{
    struct err err = {0};
    *b = (struct bench){.a = arena_open(), .mem = ptx_mem_open(1)};
    b->cache = ptx_cache_open(ptx_device_find("h200"));
    assert_ok(ptx_module_open(&b->module, "k.ptx", module_text, strlen(module_text), &err), err);
    struct ptx_buffer buffer = {.name = "out", .size_bytes = BUFFER_BYTES, .initialised = true};
    b->out = ptx_mem_alloc(b->mem, &buffer, &err);
    assert_true(b->out != 0);
}

static void bench_close(struct bench *b)
{
    ptx_module_close(b->module);
    ptx_mem_close(b->mem);
    ptx_cache_close(b->cache);
    arena_close(b->a);
}

static struct ptx_time bench_time_with(struct bench *b, const char *kernel, uint32_t blocks, uint32_t threads,
                                       const struct ptx_resources *res)
{
    const void *args[] = {&b->out};
    struct ptx_launch l = {
        .kernel = kernel, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .args = args, .n_args = 1};
    struct ptx_options o = {.device = ptx_device_find("h200")};
    struct ptx_report report = {0};
    struct ptx_time t;
    struct err err = {0};
    const struct ptx_timed on = {b->module, b->mem, &o, res, b->cache, b->a};
    assert_ok(ptx_time_launch(&on, &l, &t, &report, &err), err);
    assert_int_equal(report.end, PTX_DONE);
    ptx_report_clear(&report);
    return t;
}

static struct ptx_time bench_time(struct bench *b, const char *kernel, uint32_t blocks, uint32_t threads)
{
    return bench_time_with(b, kernel, blocks, threads, &(struct ptx_resources){.registers = 16});
}

/* Parts of sectors that are stored in turn: what runs at once is 64 MiB, so that each has gone to DRAM when the
 * next part comes; of an eighth of the blocks all stays. */
static void test_stores_in_turn(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double few = bench_time(&b, "turns", 256, 128).dram_us, all = bench_time(&b, "turns", 2048, 128).dram_us;
    assert_true(few < 256.0 * 128 * 256 / 4000 * 1e-3);
    if (all < 0.25 * 2048 * 128 * 64 / 15.7e3 || all > 2048 * 128 * 64 / 15.7e3)
        fail_msg("%.1f us", all);
    bench_close(&b);
}

/* The same word by word. Lines of all threads that run are 32 MiB, of which some have gone when the next word
 * comes, though a warp that runs alone would come to its own again at once. */
static void test_stores_word_by_word(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double few = bench_time(&b, "word_by_word", 256, 128).dram_us;
    double all = bench_time(&b, "word_by_word", 2048, 128).dram_us;
    assert_true(few < 256.0 * 128 * 256 / 4000 * 1e-3);
    if (all < 2048 * 128 * 256 / 4000 * 1e-3 * 1.5 || all > 2048 * 128 * 64 / 15.7e3)
        fail_msg("%.1f us", all);
    bench_close(&b);
}

/* Half of 64 MiB that are read anywhere is in the L2: DRAM gives 64 bytes for each second word. */
static void test_read_anywhere(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double words = 8192.0 * 256 * 16, bytes = bench_time(&b, "anywhere", 8192, 256).dram_bytes;
    if (bytes < 0.35 * 64 * words || bytes > 0.65 * 64 * words)
        fail_msg("%.2f of the words", bytes / 64 / words);
    bench_close(&b);
}

/* 262,144 lines of which a sector is read stay, twice as many do not, though their sectors are 17 MB. */
static void test_lines_stay(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    bench_time(&b, "rows", 1024, 256);
    assert_float_equal(bench_time(&b, "rows", 1024, 256).dram_bytes, 0, 64);
    bench_close(&b);
    bench_open(&b);
    bench_time(&b, "rows", 2048, 256);
    double bytes = bench_time(&b, "rows", 2048, 256).dram_bytes;
    assert_true(bytes > 0.9 * 2048 * 256 * 64);
    bench_close(&b);
}

/* Blocks of later rounds multiply while those of earlier ones wait for one word. */
static void test_updates_meanwhile(void **state)
{
    const struct cost_model *m = cost_model_of(ptx_device_find("h200"));
    struct bench b;
    (void)state;
    bench_open(&b);
    struct ptx_time t = bench_time(&b, "counts", 66000, 256);
    double updates = 66000 * m->atomic_float_cycles / 1980;
    assert_true(t.us > updates);
    if (t.us > updates + 0.7 * MAX(t.latency_us, t.issue_us))
        fail_msg("%.1f us, %.1f of updates, %.1f of the blocks", t.us, updates, t.issue_us);
    bench_close(&b);
}

/* What lanes that go on have jumped over is no work of theirs. */
static void test_lanes_apart(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double apart = bench_time(&b, "apart", 132, 1024).issue_us,
           together = bench_time(&b, "together", 132, 1024).issue_us;
    assert_true(apart < 1.15 * together);
    bench_close(&b);
}

/* Behind a kernel that ends at 2 stands what it calls: its last part is entered by a jump and by falling into
 * it, which is no loop. A jump back is one. */
static void test_called_code(void **state)
{
    enum { N = 7 };
    int32_t jump[N] = {-1, -1, -1, 5, -1, -1, -1};
    bool falls[N] = {true, true, false, true, true, true, false};
    const bool *outer;
    uint16_t loop_of[N];
    struct arena *a = arena_open();
    struct flow f = {N, jump, falls};
    (void)state;
    assert_int_equal(flow_loops(&f, loop_of, &outer, a), 1);
    jump[1] = 0;
    assert_int_equal(flow_loops(&f, loop_of, &outer, a), 2);
    assert_int_equal(loop_of[0], 1);
    assert_int_equal(loop_of[4], 0);
    arena_close(a);
}

/* Of lanes that share a bank one sum of floats succeeds at a time, though each has a word of its own. */
static void test_sums_in_turn(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double one = bench_time(&b, "one_a_bank", 1, 32).latency_us,
           two = bench_time(&b, "two_a_bank", 1, 32).latency_us;
    double turn = 100 * 92 / ptx_device_find("h200")->sm_clock_mhz;
    if (one < turn || two - one < 0.95 * turn || two - one > 1.2 * turn)
        fail_msg("%.2f and %.2f us", one, two);
    bench_close(&b);
}

/* What is in the shared memory does not queue behind what is on its way from DRAM. */
static void test_shared_meanwhile(void **state)
{
    const struct ptx_device *d = ptx_device_find("h200");
    const struct cost_model *m = cost_model_of(d);
    struct bench b;
    (void)state;
    bench_open(&b);
    double cold = bench_time(&b, "meanwhile", 1, 32).latency_us * d->sm_clock_mhz,
           hot = bench_time(&b, "meanwhile", 1, 32).latency_us * d->sm_clock_mhz;
    if (cold - hot > 0.5 * m->dram_ns * 1e-3 * d->sm_clock_mhz)
        fail_msg("%.0f cycles, %.0f out of the L2", cold, hot);
    bench_close(&b);
}

/* Words anywhere in a table are updated as fast as its slices of the L2 allow: 3.45 G a second of 64 words, 19
 * to 34 of 4096, by where these lie, and 67 of 16384 (slices.csv, places.csv). */
static void test_slices(void **state)
{
    static const struct {
        const char *name;
        double least, most;
    } rows[] = {{"words_64", 3, 4.5}, {"words_4096", 19, 36}, {"words_16384", 50, 75}};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct bench b;
        bench_open(&b);
        double rate = 1056 * 256 * 16 / bench_time(&b, rows[k].name, 1056, 256).l2_us * 1e-3;
        if (rate < rows[k].least || rate > rows[k].most)
            fail_msg("%s: %.1f G a second", rows[k].name, rate);
        bench_close(&b);
    }
}

/* Of a plan that touches little of its buffers something is left when a measurement has gone round its other
 * sets. */
static void test_rounds(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double cold = bench_time(&b, "rows", 64, 256).dram_bytes;
    assert_true(cold > 0);
    assert_false(ptx_cache_round(b.cache, 1000));
    assert_true(ptx_cache_round(b.cache, lap_sets(60 << 20, BUFFER_BYTES)));
    assert_float_equal(bench_time(&b, "rows", 64, 256).dram_bytes, 0, 64);
    bench_close(&b);
    assert_int_equal(lap_sets(60 << 20, 150 << 20), 2);
    assert_int_equal(lap_rounds(2, 70, 2.1), 128);   /* 256 plans */
    assert_int_equal(lap_rounds(40, 5, 6), 3);       /* 128 plans, one window */
    assert_int_equal(lap_rounds(8192, 1.7, 1.9), 1); /* windows */
}

/* A loop of the machine code that has but the accesses of one line, many times over, is not the loop around
 * them. */
static void test_machine_not_a_line(void **state)
{
    enum { LDG = 0x981, IADD = 0x210, BRA = 0x947, EXIT = 0x94d, NONE = 7, COPIES = 10, OWN = 66 };
    struct ptx_machine code[COPIES + OWN + 3];
    struct ptx_resources res = {.registers = 16, .code = code, .n_code = ARRAY_LEN(code)};
    const struct cost_model *m = cost_model_of(ptx_device_find("h200"));
    struct bench b;
    size_t n = 0;
    (void)state;
    bench_open(&b);
    for (int k = 0; k < COPIES; k++) /* a copy that another loop has of line 2 */
        code[n++] = (struct ptx_machine){2, -1, LDG, 1, 0, NONE, 0, true};
    code[n++] = (struct ptx_machine){2, 0, BRA, 5, NONE, NONE, 0, false};
    code[n++] = (struct ptx_machine){2, -1, LDG, 1, 0, NONE, 0, true};
    for (int k = 1; k < OWN; k++)
        code[n++] = (struct ptx_machine){3, -1, IADD, 4, NONE, NONE, 0, true};
    code[n++] = (struct ptx_machine){3, COPIES + 1, BRA, 5, NONE, NONE, 0, false};
    code[n++] = (struct ptx_machine){4, -1, EXIT, 5, NONE, NONE, 0, true};
    struct ptx_time t = bench_time_with(&b, "mixed", 132, 1024, &res);
    double pipe = t.issue_us * 1980 * m->issue_share / 8 / 400; /* integers' pipe takes two clocks for a warp */
    assert_in_range((int)pipe, 2 * OWN - 8, 2 * OWN + 8);
    bench_close(&b);
}

/* Constants that lanes read at places of their own come one after the other, two clocks each. */
static void test_constants(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    const double clocks = 1980.0 / 100 / 32, one = bench_time(&b, "one_constant", 132, 1024).issue_us * clocks,
                 own = bench_time(&b, "own_constants", 132, 1024).issue_us * clocks;
    if (one > 8 || own < 60 || own > 80)
        fail_msg("%.1f and %.1f clocks a warp", one, own);
    bench_close(&b);
}

/* Threads that go anywhere in a line: of 1,024 on an SM the lines stay in the L1, of 2,048 about half of them
 * are gone when their thread is back, whether they are its own or lie anywhere in 2 MB that all read. */
static void test_lines_crowded_out(void **state)
{
    static const char *const names[] = {"own_line", "any_line"};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        struct bench b;
        bench_open(&b);
        double each = 132.0 * 1024 * 200 * 32, few = bench_time(&b, names[k], 132 * 8, 128).l2_bytes / each,
               many = bench_time(&b, names[k], 132 * 16, 128).l2_bytes / (2 * each);
        if (few > 0.05 || many < 0.25 || many > 0.6)
            fail_msg("%s: %.2f and %.2f of the loads reach the L2", names[k], few, many);
        bench_close(&b);
    }
}

/* A branch whose lanes the machine code brings together again, at `past`. */
static double split_us(struct bench *b, const char *kernel, bool together)
{
    enum { BSSY = 0x945, BSYNC = 0x941, IADD = 0x210, BRA = 0x947, EXIT = 0x94d, NONE = 7 };
    struct ptx_machine code[10];
    size_t n = 0;

    code[n++] = (struct ptx_machine){3, -1, IADD, 4, NONE, NONE, 0, true};
    if (together)
        code[n++] = (struct ptx_machine){1, -1, BSSY, 2, NONE, NONE, 0, true};
    code[n] = (struct ptx_machine){3, (int)n + 5, BRA, 5, NONE, NONE, 0, false};
    n++;
    for (int k = 0; k < 4; k++)
        code[n++] = (struct ptx_machine){4, -1, IADD, 4, NONE, NONE, 0, true};
    if (together)
        code[n++] = (struct ptx_machine){4, -1, BSYNC, 5, NONE, NONE, 0, true};
    code[n++] = (struct ptx_machine){5, 1, BRA, 5, NONE, NONE, 0, false};
    code[n++] = (struct ptx_machine){5, -1, EXIT, 5, NONE, NONE, 0, true};
    return bench_time_with(b, kernel, 1, 32,
                           &(struct ptx_resources){.registers = 16, .code = code, .n_code = n})
        .latency_us;
}

static void test_branches(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double clocks = 1e-3 * 1980, guard = split_us(&b, "none_goes", false) * clocks,
           branch = split_us(&b, "none_goes", true) * clocks, apart = split_us(&b, "half_goes", true) * clocks;
    if (branch - guard < 20 || branch - guard > 28 || apart - branch < 18)
        fail_msg("%.1f clocks a turn by a guard, %.1f by a branch, %.1f whose lanes come apart", guard, branch,
                 apart);
    bench_close(&b);
}

/* Blocks that do up to four times what others do: a few neighbours do not say how many there are of each. */
static void test_blocks_that_differ(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b);
    double mean = (bench_time(&b, "both", 9000, 256).issue_us + bench_time(&b, "rest", 9000, 256).issue_us) / 2,
           halves = bench_time(&b, "halves", 9000, 256).issue_us;
    if (fabs(halves / mean - 1) > 0.12)
        fail_msg("%.1f us, of halves alone %.1f", halves, mean);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_lines_crowded_out),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_blocks_that_differ),
        cmocka_unit_test(test_machine_not_a_line),
        cmocka_unit_test(test_stores_in_turn),
        cmocka_unit_test(test_stores_word_by_word),
        cmocka_unit_test(test_read_anywhere),
        cmocka_unit_test(test_sums_in_turn),
        cmocka_unit_test(test_lines_stay),
        cmocka_unit_test(test_updates_meanwhile),
        cmocka_unit_test(test_shared_meanwhile),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_called_code),
        cmocka_unit_test(test_lanes_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
