/* Leaps over the middle of a loop: what a launch that leaps touches first and last, and whether it ends, beside
 * the same launch with all turns at small counts, and beside what arithmetic says at large ones. And exact
 * ones, over memory that holds one number nearly everywhere: what a launch leaves, beside what all turns leave.
 */
#include "test.h"

#include "clock/clock.h"
#include "sanitize/sanitize.h"

#define GB ((uint64_t)1 << 30)

enum { LIMIT = 60000 /* warp instructions of a launch that leaps */ };

struct seen {
    uint64_t base, low, high; /* of what was stored, offsets; high: behind it */
    uint64_t pieces;
};

struct outcome {
    struct seen seen;
    bool ended, leapt;
    enum ptx_finding_kind finding; /* of a launch that did not end */
};

static void stored(void *context, uint64_t addr, uint64_t bytes, bool atomic)
{
    struct seen *s = context;

    (void)atomic;
    s->low = MIN(s->low, addr - s->base);
    s->high = MAX(s->high, addr - s->base + bytes);
    s->pieces++;
}

/* A warp that stores bytes of o; %rd1 is o, %rd2 is n, %r1 the lane, %rd3 the lane, too. */
static struct ptx_module *open_body(const char *body)
{
    struct str text = {0};
    struct ptx_module *m;
    struct err err;

    str_addf(&text,
             ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".visible .entry k(.param .u64 p_o, .param .u64 p_n)\n{\n"
             ".reg .pred %%p<9>;\n.reg .b16 %%rs<9>;\n.reg .b32 %%r<40>;\n.reg .b64 %%rd<40>;\n"
             ".reg .f32 %%f<9>;\n.shared .align 4 .b32 s[32];\n"
             "ld.param.u64 %%rd1, [p_o];\nld.param.u64 %%rd2, [p_n];\ncvta.to.global.u64 %%rd1, %%rd1;\n"
             "cvt.u32.u64 %%r2, %%rd2;\nmov.u32 %%r1, %%tid.x;\ncvt.u64.u32 %%rd3, %%r1;\nmov.u16 %%rs1, 7;\n"
             "%s\nret;\n}\n",
             body);
    assert_ok(ptx_module_open(&m, "k.ptx", text.s, text.len, &err), err);
    str_free(&text);
    return m;
}

static struct outcome launch(const char *body, uint64_t n, uint64_t room, bool leaps, uint64_t limit)
{
    struct ptx_module *m = open_body(body);
    struct ptx_mem *mem = ptx_mem_open(1);
    const struct ptx_buffer b = {.name = "o", .size_bytes = room, .initialised = true};
    struct err err;
    struct outcome x = {.seen = {.base = ptx_mem_alloc(mem, &b, &err), .low = UINT64_MAX}};
    const void *args[] = {&x.seen.base, &n};
    const struct ptx_launch l = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .n_args = 2};
    const struct sanitize_stores stores = {&x.seen, stored, NULL};
    struct sanitizer sanitizer;
    struct ptx_leaps own = {0};
    const struct ptx_options o = {.device = ptx_device_find("h200"),
                                  .observers = {sanitizer_on(&sanitizer, SANITIZE_INIT)},
                                  .max_warp_insns = limit,
                                  .leaps = leaps ? &own : NULL};
    struct ptx_report r = {0};

    assert_true(x.seen.base);
    sanitizer.stores = &stores;
    assert_ok(ptx_run(m, mem, &l, &o, &r, &err), err);
    x.ended = r.end == PTX_DONE;
    x.leapt = own.leapt;
    if (r.n_findings)
        x.finding = r.findings[0].kind;
    ptx_report_clear(&r);
    ptx_leaps_clear(&own);
    ptx_mem_close(mem);
    ptx_module_close(m);
    return x;
}

/* At a small count both must touch the same first and last, and end; leaps or not as said. */
static void same_at(const char *body, uint64_t n, bool leapt)
{
    struct outcome all = launch(body, n, GB, false, 0), some = launch(body, n, GB, true, 0);

    assert_true(all.ended && some.ended);
    assert_int_equal(some.leapt, leapt);
    assert_int_equal(all.seen.low, some.seen.low);
    assert_int_equal(all.seen.high, some.seen.high);
    assert_true(leapt ? some.seen.pieces < all.seen.pieces : some.seen.pieces == all.seen.pieces);
}

/* At a large one it must have ended, behind that byte. */
static void ends_at(const char *body, uint64_t n, uint64_t high)
{
    struct outcome x = launch(body, n, n + GB, true, LIMIT);

    if (!x.ended || x.seen.high != high)
        fail_msg("ended: %d, finding %d, high %llu, not %llu", x.ended, (int)x.finding,
                 (unsigned long long)x.seen.high, (unsigned long long)high);
    assert_true(x.leapt);
}

static void endless_at(const char *body, uint64_t n)
{
    struct outcome x = launch(body, n, n + GB, true, LIMIT);

    assert_true(!x.ended && x.leapt);
    assert_int_equal(x.finding, PTX_LOOP);
}

#define STORE(at) "add.s64 %rd9, %rd1, " at ";\nst.global.u8 [%rd9], %rs1;\n"

/* for (i = lane; i < n; i += 32) o[i] = 7; */
static const char forward_64[] =
    "mov.u64 %rd4, %rd3;\nL:\n" STORE("%rd4") "add.s64 %rd4, %rd4, 32;\n"
                                              "setp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n";
/* the same with an index of 32 bits, unsigned or signed, compared in 64 */
#define FORWARD_32(sign)                                                            \
    "mov.u32 %r4, %r1;\nL:\ncvt." sign "64." sign                                   \
    "32 %rd4, %r4;\n" STORE("%rd4") "add.s32 %r4, %r4, 32;\ncvt." sign "64." sign   \
                                    "32 %rd5, %r4;\nsetp.lt.s64 %p1, %rd5, %rd2;\n" \
                                    "@%p1 bra L;\n"
/* for (i = n - 32 + lane; i >= 0; i -= 32) o[i] */
static const char backward_64[] = "add.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd4, %rd4, -32;\nL:\n" STORE(
    "%rd4") "add.s64 %rd4, %rd4, -32;\nsetp.ge.s64 %p1, %rd4, 0;\n@%p1 bra L;\n";
/* a counter from -n/32 up to 0, compared for equality, as compilers like it */
#define TO_ZERO(width, r)                                                                                \
    "shr.s" width " %" r "5, %" r "2, 5;\nneg.s" width " %" r "5, %" r                                   \
    "5;\nmov.u64 %rd4, %rd3;\nL:\n" STORE("%rd4") "add.s64 %rd4, %rd4, 32;\nadd.s" width " %" r "5, %" r \
                                                  "5, 1;\n"                                              \
                                                  "setp.ne.s" width " %p1, %" r "5, 0;\n@%p1 bra L;\n"
/* a pointer until it is the end's */
static const char to_end[] = "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd4, %rd2;\nL:\n"
                             "st.global.u8 [%rd4], %rs1;\nadd.s64 %rd4, %rd4, 32;\n"
                             "setp.ne.s64 %p1, %rd4, %rd5;\n@%p1 bra L;\n";

static void test_ends(void **state)
{
    (void)state;
    static const uint64_t large[] = {(UINT64_C(1) << 31) - 32, UINT64_C(1) << 31, (UINT64_C(1) << 31) + 4096,
                                     (UINT64_C(1) << 32) - 32, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 64,
                                     UINT64_C(5) << 32};

    same_at(forward_64, 32 * 3000, true);
    same_at(FORWARD_32("u"), 32 * 3000, true);
    same_at(FORWARD_32("s"), 32 * 3000, true);
    same_at(backward_64, 32 * 3000, true);
    same_at(TO_ZERO("64", "rd"), 32 * 3000, true);
    same_at(TO_ZERO("32", "r"), 32 * 3000, true);
    same_at(to_end, 32 * 3000, true);
    same_at(forward_64, 32 * 200, false); /* not worth it */
    for (size_t k = 0; k < ARRAY_LEN(large); k++) {
        ends_at(forward_64, large[k], large[k]);
        ends_at(backward_64, large[k], large[k]);
        ends_at(TO_ZERO("64", "rd"), large[k], large[k]);
        ends_at(to_end, large[k], large[k]);
    }
    assert_int_equal(launch(backward_64, UINT64_C(5) << 32, UINT64_C(6) << 32, true, LIMIT).seen.low, 0);
    ends_at(FORWARD_32("u"), large[3], large[3]);
    endless_at(FORWARD_32("u"), large[5]);
    ends_at(FORWARD_32("s"), large[0], large[0]);
    ends_at(TO_ZERO("32", "r"), large[0], large[0]);
}

/* What goes wrong at a place is seen there: an index that passes 2^31 is negative. */
static void test_signed_index_leaves_its_buffer(void **state)
{
    (void)state;
    struct outcome x = launch(FORWARD_32("s"), UINT64_C(3) << 30, UINT64_C(4) << 30, true, LIMIT);

    assert_true(!x.ended && x.leapt);
    assert_int_equal(x.finding, PTX_OUT_OF_BOUNDS);
    assert_int_equal(x.seen.high, UINT64_C(1) << 31);
}

/* Down from below zero, a signed number passes -2^31: o[-1 - i]. */
static void test_down_below_zero(void **state)
{
    (void)state;
    static const char body[] =
        "not.b32 %r4, %r1;\nmov.u64 %rd6, %rd3;\nL:\ncvt.s64.s32 %rd4, %r4;\n"
        "not.b64 %rd4, %rd4;\n" STORE(
            "%rd4") "sub.s32 %r4, %r4, 32;\n"
                    "add.s64 %rd6, %rd6, 32;\nsetp.lt.s64 %p1, %rd6, %rd2;\n@%p1 bra L;\n";
    struct outcome x = launch(body, UINT64_C(3) << 30, UINT64_C(4) << 30, true, LIMIT);

    same_at(body, 32 * 3000, true);
    assert_true(!x.ended && x.leapt);
    assert_int_equal(x.finding, PTX_OUT_OF_BOUNDS);
    assert_int_equal(x.seen.high, UINT64_C(1) << 31);
}

/* Lanes end in different turns: lane l goes up to n - 320 l. */
static void test_lanes_end_apart(void **state)
{
    (void)state;
    static const char body[] =
        "mul.lo.s64 %rd5, %rd3, 320;\nsub.s64 %rd5, %rd2, %rd5;\nmov.u64 %rd4, %rd3;\nL:\n" STORE(
            "%rd4") "add.s64 %rd4, %rd4, 32;\nsetp.lt.s64 %p1, %rd4, %rd5;\n@%p1 bra L;\n";

    same_at(body, 32 * 3000, true);
    ends_at(body, UINT64_C(5) << 32, (UINT64_C(5) << 32) - 31); /* lane 0 */
}

/* for (row = 0; row < n; row += 4096) for (j = lane; j < 4096; j += 32) o[row + j] */
static void test_nested(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u64 %rd4, 0;\nOUTER:\nmov.u64 %rd5, %rd3;\nL:\nadd.s64 %rd6, %rd4, %rd5;\n" STORE(
            "%rd6") "add.s64 %rd5, %rd5, 32;\nsetp.lt.s64 %p1, %rd5, 4096;\n@%p1 bra L;\n"
                    "add.s64 %rd4, %rd4, 4096;\nsetp.lt.s64 %p2, %rd4, %rd2;\n@%p2 bra OUTER;\n";
    /* a pointer that walks on through both, while the inner loop counts to six each time */
    static const char walks[] = "mov.u64 %rd4, 0;\nadd.s64 %rd6, %rd1, %rd3;\nOUTER:\nmov.u32 %r5, 0;\nL:\n"
                                "st.global.u8 [%rd6], %rs1;\nadd.s64 %rd6, %rd6, 32;\nadd.s32 %r5, %r5, 1;\n"
                                "setp.lt.s32 %p1, %r5, 6;\n@%p1 bra L;\n"
                                "add.s64 %rd4, %rd4, 192;\nsetp.lt.s64 %p2, %rd4, %rd2;\n@%p2 bra OUTER;\n";

    same_at(body, 4096 * 600, true);
    ends_at(body, UINT64_C(5) << 32, UINT64_C(5) << 32);
    struct outcome x = launch(walks, 192 * 1000, 192 * 1000, true, 0);
    assert_true(x.ended);
    assert_int_equal(x.seen.low, 0);
}

/* Loops that no leap may be made of: each must do all its turns. */
static void test_no_leaps(void **state)
{
    (void)state;
    static const struct {
        const char *what, *body;
    } loops[] = {
        {"a guard before the body",
         "mov.u64 %rd4, %rd3;\nL:\nsetp.ge.s64 %p1, %rd4, %rd2;\n@%p1 bra E;\n" STORE(
             "%rd4") "add.s64 %rd4, %rd4, 32;\nbra L;\nE:\n"},
        {"a way out of its middle",
         "mov.u64 %rd4, %rd3;\nshr.u64 %rd5, %rd2, 1;\nL:\nsetp.ge.s64 %p2, %rd4, %rd5;\n@%p2 bra E;\n" STORE(
             "%rd4") "add.s64 %rd4, %rd4, 32;\nsetp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\nE:\n"},
        {"an exit in its middle",
         "mov.u64 %rd4, %rd3;\nshr.u64 %rd5, %rd2, 1;\nL:\nsetp.ge.s64 %p2, %rd4, %rd5;\n@%p2 exit;\n" STORE(
             "%rd4") "add.s64 %rd4, %rd4, 32;\nsetp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n"},
        {"a barrier", "mov.u64 %rd4, %rd3;\nL:\n" STORE("%rd4") "bar.sync 0;\nadd.s64 %rd4, %rd4, 32;\n"
                                                                "setp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n"},
        {"what is read decides",
         "mov.u64 %rd4, %rd3;\nL:\nadd.s64 %rd9, %rd1, %rd4;\nld.global.u8 %r6, [%rd9];\n"
         "st.global.u8 [%rd9], %rs1;\nadd.s64 %rd4, %rd4, 32;\nadd.s64 %rd9, %rd9, 32;\n"
         "setp.lt.s64 %p2, %rd4, %rd2;\nselp.u32 %r7, 1, 0, %p2;\nadd.s32 %r7, %r7, %r6;\n"
         "setp.ne.s32 %p1, %r7, 0;\n@%p1 bra L;\n"},
        {"a counter of 16 bits",
         "mov.u64 %rd4, %rd3;\nshr.u64 %rd5, %rd2, 5;\ncvt.u16.u64 %rs2, %rd5;\nL:\n" STORE(
             "%rd4") "add.s64 %rd4, %rd4, 32;\nadd.s16 %rs2, %rs2, -1;\nsetp.ne.s16 %p1, %rs2, 0;\n@%p1 bra L;\n"},
        {"a ring of 20 parts, whose number is set back",
         "mov.u64 %rd4, %rd3;\nmov.u64 %rd6, 0;\nL:\nmul.lo.s64 %rd5, %rd6, 32;\nsub.s64 %rd7, %rd4, %rd5;\n"
         "add.s64 %rd8, %rd7, %rd5;\n" STORE(
             "%rd8") "add.s64 %rd6, %rd6, 1;\nsetp.eq.s64 %p2, %rd6, 20;\nselp.b64 %rd6, 0, %rd6, %p2;\n"
                     "add.s64 %rd4, %rd4, 32;\nsetp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n"},
        {"a row counted under a condition, and the column beside it",
         "mov.u64 %rd4, %rd3;\nmov.u64 %rd6, 0;\nmov.u64 %rd7, 2048;\nL:\nsetp.lt.s64 %p2, %rd4, %rd7;\n"
         "@%p2 bra SAME;\nadd.s64 %rd6, %rd6, 1;\nadd.s64 %rd7, %rd7, 2048;\nSAME:\nmul.lo.s64 %rd5, %rd6, 2048;\n"
         "sub.s64 %rd8, %rd4, %rd5;\n" STORE(
             "%rd8") "add.s64 %rd4, %rd4, 32;\nsetp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n"},
    };

    for (size_t k = 0; k < ARRAY_LEN(loops); k++) {
        print_message("%s\n", loops[k].what);
        same_at(loops[k].body, 32 * 3000, false);
    }
}

/* A ring of shared memory whose number does not mix with what moves: it stays in its ring. */
static void test_ring_in_shared(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u64 %rd4, %rd3;\nmov.u32 %r5, 0;\nmov.u32 %r6, s;\nL:\nshl.b32 %r7, %r5, 2;\nadd.s32 %r7, %r6, %r7;\n"
        "st.shared.u32 [%r7], %r5;\n" STORE(
            "%rd4") "add.s32 %r5, %r5, 1;\nsetp.eq.s32 %p2, %r5, 32;\n"
                    "selp.b32 %r5, 0, %r5, %p2;\nadd.s64 %rd4, %rd4, 32;\nsetp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n";

    same_at(body, 32 * 3000, true);
    ends_at(body, UINT64_C(5) << 32, UINT64_C(5) << 32);
}

/* A step that changes after some turns: 32 at first, 64 from n / 2 on. */
static void test_step_changes(void **state)
{
    (void)state;
    static const char body[] = "mov.u64 %rd4, %rd3;\nshr.u64 %rd5, %rd2, 1;\nL:\n" STORE(
        "%rd4") "setp.lt.s64 %p2, %rd4, %rd5;\nselp.b64 %rd6, 32, 64, %p2;\nadd.s64 %rd4, %rd4, %rd6;\n"
                "setp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n";

    same_at(body, 32 * 3000, false);
}

/* Registers of 32 and 64 bits: the byte's offset is made of four times an index of 32 bits. */
static void test_mixed_widths(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u32 %r4, %r1;\nshr.u64 %rd5, %rd2, 2;\nL:\nmul.wide.u32 %rd4, %r4, 4;\n" STORE(
            "%rd4") "add.s32 %r4, %r4, 32;\ncvt.u64.u32 %rd6, %r4;\nsetp.lt.u64 %p1, %rd6, %rd5;\n@%p1 bra L;\n";

    same_at(body, 4 * 32 * 3000, true);
    ends_at(body, UINT64_C(12) << 30, (UINT64_C(12) << 30) - 3);
    endless_at(body, UINT64_C(20) << 30);
}

/* What was leapt over has not been written, and whoever reads it behind the loop is told. */
static void test_unwritten_is_told(void **state)
{
    (void)state;
    static const char fills[] = "mov.u64 %rd4, %rd3;\nL:\n" STORE(
        "%rd4") "add.s64 %rd4, %rd4, 32;\n"
                "setp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\nshr.u64 %rd5, %rd2, 1;\n"
                "add.s64 %rd9, %rd1, %rd5;\nld.global.u8 %r6, [%rd9];\nsetp.eq.s32 %p2, %r6, 7;\n"
                "@%p2 bra E;\nst.global.u8 [%rd1], %r6;\nE:\n";
    struct ptx_module *m = open_body(fills);

    for (int leaps = 0; leaps < 2; leaps++) {
        struct ptx_mem *mem = ptx_mem_open(1);
        const struct ptx_buffer b = {.name = "o", .size_bytes = GB};
        uint64_t n = 32 * 3000;
        struct err err;
        uint64_t addr = ptx_mem_alloc(mem, &b, &err);
        const void *args[] = {&addr, &n};
        const struct ptx_launch l = {
            .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .n_args = 2};
        struct sanitizer sanitizer;
        struct ptx_leaps own = {0};
        const struct ptx_options o = {.device = ptx_device_find("h200"),
                                      .observers = {sanitizer_on(&sanitizer, SANITIZE_INIT)},
                                      .leaps = leaps ? &own : NULL};
        struct ptx_report r = {0};
        assert_true(addr);
        assert_ok(ptx_run(m, mem, &l, &o, &r, &err), err);
        assert_int_equal(r.end, leaps ? PTX_UNSAFE : PTX_DONE);
        if (leaps)
            assert_int_equal(r.findings[0].kind, PTX_UNINITIALISED);
        ptx_report_clear(&r);
        ptx_leaps_clear(&own);
        ptx_mem_close(mem);
    }
    ptx_module_close(m);
}

/* How much a loop moves: the turns that were left out are counted. */
static void test_skipped(void **state)
{
    (void)state;
    struct ptx_module *m = open_body(forward_64);
    struct ptx_mem *mem = ptx_mem_open(1);
    const struct ptx_buffer b = {.name = "o", .size_bytes = 8 * GB, .initialised = true};
    uint64_t n = UINT64_C(6) << 30;
    struct err err;
    uint64_t addr = ptx_mem_alloc(mem, &b, &err);
    const void *args[] = {&addr, &n};
    const struct ptx_launch l = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .n_args = 2};
    struct ptx_leaps leaps = {0};
    const struct ptx_options o = {.device = ptx_device_find("h200"), .leaps = &leaps};
    struct ptx_report r = {0};

    assert_ok(ptx_run(m, mem, &l, &o, &r, &err), err);
    assert_int_equal(r.end, PTX_DONE);
    assert_int_equal(leaps.turns[1] + leaps.skipped[1] + 1, n / 32); /* the last one does not come back */
    assert_int_equal(leaps.skipped[0], 0);
    ptx_report_clear(&r);
    ptx_leaps_clear(&leaps);
    ptx_mem_close(mem);
    ptx_module_close(m);
}

/* ---- exact leaps ---- */

static const uint64_t places[] = {3, 70, 71, 5000, 40961, 40962, 96000, 159999};

static void fill_hollow(void *context, uint64_t offset, void *to, size_t size)
{
    unsigned char *p = to;

    (void)context;
    memset(p, 0, size);
    for (size_t k = 0; k < ARRAY_LEN(places); k++)
        if (places[k] - offset < size)
            p[places[k] - offset] = (unsigned char)(k + 1);
}

struct left { /* by a warp, behind the n bytes that it has gone over: 32 words */
    uint32_t words[32];
    unsigned char beside[96]; /* around the last place but one */
    bool leapt;
};

static struct left leave(const char *body, uint64_t n, bool leaps)
{
    struct ptx_module *m = open_body(body);
    struct ptx_mem *mem = ptx_mem_open(1);
    const struct ptx_buffer b = {.name = "o", .size_bytes = n + 128, .initialised = true, .fill = fill_hollow};
    struct err err;
    uint64_t addr = ptx_mem_alloc(mem, &b, &err);
    const void *args[] = {&addr, &n};
    const struct ptx_launch l = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .n_args = 2};
    struct ptx_span but[ARRAY_LEN(places)];
    for (size_t k = 0; k < ARRAY_LEN(places); k++)
        but[k] = (struct ptx_span){addr + places[k], addr + places[k] + 1};
    const struct ptx_hollow hollow = {.all = {addr, addr + n}, .but = but, .n_but = ARRAY_LEN(places)};
    struct ptx_leaps own = {.hollows = &hollow, .n_hollows = 1};
    const struct ptx_options o = {.device = ptx_device_find("h200"), .leaps = leaps ? &own : NULL};
    struct ptx_report r = {0};
    struct left x;

    assert_true(addr);
    assert_ok(ptx_run(m, mem, &l, &o, &r, &err), err);
    assert_int_equal(r.end, PTX_DONE);
    x.leapt = own.leapt;
    assert_true(ptx_mem_read(mem, addr + n, x.words, sizeof(x.words)));
    assert_true(ptx_mem_read(mem, addr + 96000 - 48, x.beside, sizeof(x.beside)));
    ptx_report_clear(&r);
    ptx_leaps_clear(&own);
    ptx_mem_close(mem);
    ptx_module_close(m);
    return x;
}

static void leaves_the_same(const char *body, bool leapt)
{
    const uint64_t n = 32 * 5000;
    struct left all = leave(body, n, false), some = leave(body, n, true);

    assert_memory_equal(all.words, some.words, sizeof(all.words));
    assert_memory_equal(all.beside, some.beside, sizeof(all.beside));
    assert_int_equal(some.leapt, leapt);
}

/* for (i = lane; i < n; i += 32) { %r5 = o[i]; ... } and what is in %r6 stays. */
#define OVER(turn)                                                                            \
    "mov.u64 %rd4, %rd3;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\nmov.f32 %f1, 0f00000000;\nL:\n"   \
    "add.s64 %rd9, %rd1, %rd4;\nld.global.u8 %r5, [%rd9];\n" turn "add.s64 %rd4, %rd4, 32;\n" \
    "setp.lt.s64 %p1, %rd4, %rd2;\n@%p1 bra L;\n"                                             \
    "shl.b64 %rd5, %rd3, 2;\nadd.s64 %rd5, %rd5, %rd1;\nadd.s64 %rd5, %rd5, %rd2;\n"          \
    "st.global.u32 [%rd5], %r6;\n"

static void test_exact(void **state)
{
    (void)state;
    leaves_the_same(OVER("add.u32 %r6, %r6, %r5;\n"), true);
    /* it counts twice from a place on, by a selection, by a guard and by a branch */
    leaves_the_same(OVER("setp.gt.s64 %p2, %rd4, 50000;\nselp.u32 %r8, 2, 1, %p2;\n"
                         "mad.lo.u32 %r6, %r5, %r8, %r6;\n"),
                    true);
    leaves_the_same(OVER("setp.gt.s64 %p2, %rd4, 50000;\n@%p2 add.u32 %r6, %r6, %r5;\n"
                         "add.u32 %r6, %r6, %r5;\n"),
                    true);
    leaves_the_same(OVER("setp.gt.s64 %p2, %rd4, 50000;\n@%p2 bra M;\nadd.u32 %r6, %r6, %r5;\nM:\n"), true);
    /* the place of the largest, and the turns since the last one */
    leaves_the_same(OVER("cvt.u32.u64 %r9, %rd4;\nsetp.gt.u32 %p2, %r5, %r7;\nselp.u32 %r6, %r9, %r6, %p2;\n"
                         "max.u32 %r7, %r7, %r5;\n"),
                    true);
    leaves_the_same(OVER("add.u32 %r6, %r6, 1;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 mov.u32 %r6, 0;\n"), false);
    leaves_the_same(OVER("add.u32 %r6, %r6, 1;\nsetp.eq.u32 %p2, %r6, 1000;\nselp.u32 %r6, 0, %r6, %p2;\n"),
                    false);
    /* what does not stay, what is not linear, and what is hidden in a number's upper bits */
    leaves_the_same(OVER("cvt.u32.u64 %r9, %rd4;\nand.b32 %r9, %r9, 4096;\nadd.u32 %r6, %r6, %r9;\n"), false);
    leaves_the_same(OVER("cvt.u32.u64 %r9, %rd4;\nshr.u32 %r9, %r9, 14;\nmad.lo.u32 %r6, %r5, %r9, %r6;\n"),
                    false);
    leaves_the_same(OVER("cvt.u32.u64 %r9, %rd4;\nshr.u32 %r9, %r9, 14;\nmax.u32 %r6, %r6, %r9;\n"), false);
    /* stores: of what is there, of something else, and of what the turn says */
    leaves_the_same(OVER("st.global.u8 [%rd9], %r5;\nadd.u32 %r6, %r6, %r5;\n"), true);
    leaves_the_same(OVER("add.u32 %r5, %r5, 1;\nst.global.u8 [%rd9], %r5;\n"), false);
    leaves_the_same(OVER("cvt.u32.u64 %r9, %rd4;\nst.global.u8 [%rd9], %r9;\n"), false);
    leaves_the_same(OVER("add.s64 %rd6, %rd1, %rd2;\nst.global.u32 [%rd6], %r5;\nadd.u32 %r6, %r6, %r5;\n"),
                    true);
}

/* Counters that are floating numbers: exact, short of where they round, and where more is made of them. */
static void test_exact_reals(void **state)
{
    (void)state;
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f3F800000;\nmov.b32 %r6, %f1;\n"), true);
    leaves_the_same(OVER("add.f32 %f1, %f1, 0fBF800000;\nadd.f32 %f1, %f1, 0f40800000;\nmov.b32 %r6, %f1;\n"),
                    true);
    /* from 2^24 on every second one is lost */
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f45800001;\nmov.b32 %r6, %f1;\n"), false);
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f3C23D70A;\nmov.b32 %r6, %f1;\n"), false);
    leaves_the_same(OVER("sub.f32 %f1, %f1, 0f46000000;\nmov.b32 %r6, %f1;\n"), true);
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f45801000;\nmov.b32 %r6, %f1;\n"), true);
    leaves_the_same(OVER("add.f32 %f1, %f1, %f1;\nmov.b32 %r6, %f1;\n"), true); /* it is zero */
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f3F800000;\nmov.b32 %r6, %f1;\nshr.u32 %r6, %r6, 23;\n"), false);
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f3F800000;\nmul.f32 %f2, %f1, 0f3F000000;\nmov.b32 %r6, %f2;\n"),
                    false);
    leaves_the_same(OVER("add.f32 %f1, %f1, 0f3F800000;\nsetp.gt.f32 %p2, %f1, 0f44FA0000;\n"
                         "@%p2 add.u32 %r6, %r6, 1;\n"),
                    false);
}

/* for (i = lane; i < n; i += 32) { %r5 = o[i]; ... } beside integers in shared memory, from %r10 on. */
#define BESIDE(turn)                                                                                      \
    ".shared .align 8 .b8 sh[512];\nmov.u32 %r10, sh;\ncvt.u32.u64 %r11, %rd3;\nshl.b32 %r12, %r11, 3;\n" \
    "add.s32 %r12, %r12, %r10;\nmov.u64 %rd7, 0;\nmov.u32 %r8, 0;\nst.shared.u64 [%r12], %rd7;\n" OVER(   \
        turn) "ld.shared.u32 %r6, [%r12];\nst.global.u32 [%rd5], %r6;\n"

/* Histograms, and what else adds to shared memory. */
static void test_exact_adds(void **state)
{
    (void)state;
    leaves_the_same(BESIDE("mad.lo.u32 %r13, %r5, 8, %r10;\natom.shared.add.u32 %r14, [%r13], 1;\n"), true);
    leaves_the_same(BESIDE("mad.lo.u32 %r13, %r5, 8, %r10;\nred.shared.add.u32 [%r13], %r11;\n"), true);
    leaves_the_same(BESIDE("red.shared.add.u64 [%r12], -3;\nred.shared.add.u32 [%r10], %r5;\n"), true);
    leaves_the_same(BESIDE("setp.gt.s64 %p2, %rd4, 50000;\nselp.u32 %r8, 2, 1, %p2;\n"
                           "red.shared.add.u32 [%r12], %r8;\n"),
                    true);
    leaves_the_same(BESIDE("cvt.u32.u64 %r9, %rd4;\nsetp.gt.u32 %p2, %r5, %r7;\nselp.u32 %r8, %r9, %r8, %p2;\n"
                           "red.shared.add.u32 [%r12], %r8;\n"),
                    false); /* where it was is nothing to add */
    leaves_the_same(BESIDE("setp.gt.s64 %p2, %rd4, 50000;\n@%p2 red.shared.add.u32 [%r12], 5;\n"), true);
    /* what it found is read, or the memory is; what moves is added, or says where */
    leaves_the_same(BESIDE("atom.shared.add.u32 %r14, [%r12], 1;\nmax.u32 %r6, %r6, %r14;\n"), false);
    leaves_the_same(BESIDE("red.shared.add.u32 [%r12], 1;\nld.shared.u32 %r14, [%r12];\n"
                           "setp.gt.u32 %p2, %r14, 3000;\nselp.u32 %r6, 1, %r6, %p2;\n"),
                    false);
    leaves_the_same(BESIDE("cvt.u32.u64 %r9, %rd4;\nred.shared.add.u32 [%r12], %r9;\n"), false);
    leaves_the_same(BESIDE("red.shared.max.u32 [%r12], %r5;\n"), false);
}

/* An inner loop's additions are the outer one's, too. */
static void test_exact_adds_nested(void **state)
{
    (void)state;
    leaves_the_same(BESIDE("mov.u32 %r15, 0;\nN:\nred.shared.add.u32 [%r12], 1;\nadd.u32 %r15, %r15, 1;\n"
                           "setp.lt.u32 %p2, %r15, 100;\n@%p2 bra N;\n"),
                    true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_signed_index_leaves_its_buffer),
        cmocka_unit_test(test_down_below_zero),
        cmocka_unit_test(test_lanes_end_apart),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_no_leaps),
        cmocka_unit_test(test_ring_in_shared),
        cmocka_unit_test(test_step_changes),
        cmocka_unit_test(test_mixed_widths),
        cmocka_unit_test(test_unwritten_is_told),
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exact_reals),
        cmocka_unit_test(test_exact_adds),
        cmocka_unit_test(test_exact_adds_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
