#include "test.h"

#include "clock/cost_model.h"

/* Expected values: the toolkit's occupancy calculator, which the whole range was checked against when this was
 * written. */
static void test_occupancy(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        uint32_t registers, shared, threads;
        int blocks;
    } cases[] = {
        {"h200", 32, 0, 128, 16},        {"h200", 32, 0, 1024, 2},       {"h200", 33, 0, 1024, 1},
        {"h200", 65, 0, 1024, 0},        {"h200", 64, 0, 1024, 1},       {"h200", 255, 0, 256, 1},
        {"h200", 16, 0, 32, 32},         {"h200", 16, 0, 1, 32},         {"h200", 40, 0, 256, 6},
        {"h200", 16, 232448, 128, 1},    {"h200", 16, 232449, 128, 0},   {"h200", 16, 115712, 128, 2},
        {"h200", 16, 115713, 128, 1},    {"h200", 16, 49152, 64, 4},     {"h200", 257, 0, 32, 0},
        {"h200", 16, 0, 1025, 0},        {"h200", 16, 0, 0, 0},          {"a100-80gb", 32, 0, 128, 16},
        {"a100-80gb", 16, 49152, 64, 3}, {"a100-80gb", 16, 0, 64, 32},   {"l40s", 16, 0, 64, 24},
        {"l40s", 16, 0, 512, 3},         {"l40s", 16, 49152, 64, 2},     {"rtx4090", 40, 0, 256, 6},
        {"rtx4090", 16, 101376, 64, 1},  {"rtx4090", 16, 101377, 64, 0}, {"h100-sxm", 48, 1000, 192, 6},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        const struct ptx_device *d = ptx_device_find(cases[k].device);
        assert_non_null(d);
        int got = ptx_occupancy(d, cases[k].registers, cases[k].shared, cases[k].threads);
        if (got != cases[k].blocks)
            fail_msg("case %zu: %d blocks, expected %d", k, got, cases[k].blocks);
    }
}

static void test_devices(void **state)
{
    (void)state;
    const struct ptx_device *list;
    size_t n = ptx_device_list(&list);
    assert_int_equal(n, 5);
    for (size_t k = 0; k < n; k++) {
        assert_ptr_equal(ptx_device_find(list[k].name), &list[k]);
        assert_int_equal(list[k].validated, str_eq(list[k].name, "h200"));
        assert_non_null(cost_model_of(&list[k]));
        assert_true(list[k].dram_copy_gbs < list[k].dram_peak_gbs);
        assert_true(list[k].source[0] != '\0');
        int sms = 0;
        for (size_t g = 0; g < ARRAY_LEN(list[k].gpc_sms); g++)
            sms += list[k].gpc_sms[g];
        assert_true(sms == 0 || sms == list[k].sm_count);
    }
    assert_null(ptx_device_find("h2000"));
    struct ptx_device other = list[0];
    assert_null(cost_model_of(&other));
    assert_int_equal(ptx_device_find("h200")->sm_count, 132);
}

static void check_bad(const char *text, int line, const char *words)
{
    struct arena *a = arena_open();
    struct ptx_device d;
    struct cost_model m;
    struct err err = {0};
    assert_false(device_parse(&d, &m, "x", text, a, &err));
    if (err.line != line || !strstr(err.text, words))
        fail_msg("line %d: %s; expected line %d: %s", err.line, err.text, line, words);
    arena_close(a);
}

static void test_device_errors(void **state)
{
    (void)state;
    check_bad("", 1, "the file is empty");
    check_bad("- a\n", 1, "flat mapping");
    check_bad("validated: yes\nspeed: 3\n", 2, "unknown key 'speed'");
    check_bad("validated: maybe\n", 1, "'maybe' is no value");
    check_bad("validated: no\nsm_count: 1.5\n", 2, "'1.5' is no value");
    check_bad("sm_count: -1\n", 1, "'-1' is no value");
    check_bad("sm_count: 4x\n", 1, "'4x' is no value");
    check_bad("gpc_sms: 18 x\n", 1, "'18 x' is no value");
    check_bad("gpc_sms: 0\n", 1, "'0' is no value");
    check_bad("gpc_sms: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", 1, "is no value");
    check_bad("sm_count: 4\nsm_count: 4\n", 2, "sm_count is said twice");
    check_bad("sm_count: [4]\n", 1, "flat mapping");
    check_bad("dram_ns: 0\n", 1, "'0' is no value");
    check_bad("sm_count: 4\n", 1, "is missing");
    check_bad("sm_count: \"4\n", 2, "end of stream");
}

/* An operand without a width would make every use of its opcode unsupported. */
static void test_opcode_rows(void **state)
{
    (void)state;
    for (int op = 0; op < N_OPS; op++) {
        size_t letters = 0;
        for (const char *s = op_table[op].operands; *s; s++)
            letters += *s != '?';
        if (strlen(op_table[op].widths) < letters)
            fail_msg("%s: %zu operands, widths \"%s\"", op_table[op].text, letters, op_table[op].widths);
    }
}

static void test_l1(void **state)
{
    (void)state;
    struct l1 c = {0};
    struct l1_arrival *came;
    l1_reset(&c, 4096); /* 8 sets of 4 lines */
    assert_int_equal(l1_probe(&c, 100, 0x1, 10, &came), 0);
    came->ready = 510;
    assert_int_equal(l1_probe(&c, 100, 0x3, 20, &came), 0x1); /* the other sector misses */
    assert_float_equal(came->ready, 510, 0);
    assert_int_equal(l1_probe(&c, 100, 0x2, 30, &came), 0x2);
    for (uint64_t line = 1000; line < 1100; line++)
        l1_probe(&c, line, 0xf, 0, &came);
    assert_int_equal(l1_probe(&c, 100, 0x1, 0, &came), 0); /* evicted */
    l1_probe(&c, 100, 0xf, 0, &came);
    l1_reset(&c, 4096);
    assert_int_equal(l1_probe(&c, 100, 0xf, 0, &came), 0);
    l1_reset(&c, 190 * 1024); /* all of it is used, not only a power of two: 164 KB stay */
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t line = 7; line < 7 + 164 * 8; line++)
            if (l1_probe(&c, line, 0xf, 0, &came) != (turn ? 0xf : 0))
                fail_msg("line %d, turn %d", (int)line, turn);
    l1_free(&c);
}

/* 0: in, 1 to 6: a loop that holds the loop 2 to 4, 7: out by 8, 9 to 10: rare code that is jumped to from 3
 * and goes back to 4. */
static void test_loops(void **state)
{
    (void)state;
    static const int32_t jump[] = {-1, -1, -1, 9, 2, -1, 1, -1, -1, -1, 4};
    static const bool falls[] = {true, true, true, true, true, true, true, true, false, true, false};
    static const int inner[] = {0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1};
    uint16_t loop_of[ARRAY_LEN(jump)];
    const bool *outer;
    struct arena *a = arena_open();
    struct flow f = {ARRAY_LEN(jump), jump, falls};
    assert_int_equal(flow_loops(&f, loop_of, &outer, a), 3);
    for (size_t k = 0; k < f.n; k++) {
        bool in = k >= 1 && k != 7 && k != 8;
        if ((loop_of[k] != 0) != in || (in && outer[loop_of[k]] == (inner[k] != 0)))
            fail_msg("instruction %zu: loop %d", k, loop_of[k]);
    }
    arena_close(a);
}

/* 0 to 1: in, by 4, 2 to 7: a loop whose first turn begins in its middle, at 4, 8: out. */
static void test_rotated_loop(void **state)
{
    (void)state;
    static const int32_t jump[] = {-1, 4, -1, -1, -1, 2, -1, 2, -1};
    static const bool falls[] = {true, false, true, true, true, true, true, true, true};
    uint16_t loop_of[ARRAY_LEN(jump)];
    const bool *outer;
    struct arena *a = arena_open();
    struct flow f = {ARRAY_LEN(jump), jump, falls};
    assert_int_equal(flow_loops(&f, loop_of, &outer, a), 2);
    for (size_t k = 0; k < f.n; k++)
        assert_int_equal(loop_of[k], k >= 2 && k <= 7);
    arena_close(a);
}

static void test_l2_lines(void **state)
{
    (void)state;
    struct l2 c = {0};
    for (uint64_t k = 0; k < 100000; k++)
        l2_get(&c, k * 977)->atomics = (uint32_t)k;
    assert_int_equal(c.n, 100000);
    for (uint64_t k = 0; k < 100000; k++)
        assert_int_equal(l2_get(&c, k * 977)->atomics, k);
    assert_int_equal(c.n, 100000);
    l2_clear(&c);
}

static void test_residency(void **state)
{
    (void)state;
    const struct ptx_device *d = ptx_device_find("h200");
    double last = 1;
    assert_float_equal(cache_resident(d, 0), 1, 0);
    assert_float_equal(cache_resident(d, 37e6), 1, 0); /* measured: such copies run from the L2 */
    assert_float_equal(cache_resident(d, 67e6), 0, 0); /* and such not at all */
    for (double bytes = 0; bytes < 2e8; bytes += 1e6) {
        double now = cache_resident(d, bytes);
        assert_true(now <= last && now >= 0);
        last = now;
    }
}

/* The plain copy, measured on the H200: bytes moved, cold and hot microseconds. */
static void test_copy(void **state)
{
    (void)state;
    /* MB, us cold, us hot: the copy_us of docs/results/optimize */
    static const double points[][3] = {{0.39, 1.54, 1.02},    {3.15, 2.17, 1.38},   {8.40, 3.41, 2.05},
                                       {21.23, 6.52, 3.96},   {38.04, 10.72, 6.77}, {67.13, 17.47, 16.99},
                                       {352.3, 84.86, 84.15}, {805.3, 191.0, 190.3}};
    const struct ptx_device *d = ptx_device_find("h200");
    for (size_t k = 0; k < ARRAY_LEN(points); k++)
        for (int hot = 0; hot < 2; hot++) {
            double us = ptx_copy_us(d, points[k][0] * 1e6, hot), real = points[k][1 + hot];
            if (fabs(us / real - 1) > 0.15)
                fail_msg("%.2f MB %s: %.2f us, measured %.2f", points[k][0], hot ? "hot" : "cold", us, real);
        }
    double last = 0;
    for (double bytes = 1e3; bytes < 2e9; bytes *= 1.3) {
        double us = ptx_copy_us(d, bytes, false);
        assert_true(us >= last);
        assert_true(us >= ptx_copy_us(d, bytes, true));
        last = us;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_device_errors),
        cmocka_unit_test(test_opcode_rows),
        cmocka_unit_test(test_l1),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_rotated_loop),
        cmocka_unit_test(test_l2_lines),
        cmocka_unit_test(test_residency),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
