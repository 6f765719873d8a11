#include "test.h"

#include "ptx/model.h"

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
        assert_non_null(model_of(&list[k]));
        assert_true(list[k].dram_copy_gbs < list[k].dram_peak_gbs);
        assert_true(list[k].source[0] != '\0');
    }
    assert_null(ptx_device_find("h2000"));
    struct ptx_device other = list[0];
    assert_null(model_of(&other));
    assert_int_equal(ptx_device_find("h200")->sm_count, 132);
}

static void check_bad(const char *text, int line, const char *words)
{
    struct arena *a = arena_open();
    struct ptx_device d;
    struct model m;
    struct err err = {0};
    assert_false(device_parse(&d, &m, "x", text, a, &err));
    if (err.line != line || !strstr(err.text, words))
        fail_msg("line %d: %s; expected line %d: %s", err.line, err.text, line, words);
    arena_close(a);
}

static void test_device_errors(void **state)
{
    (void)state;
    check_bad("", 1, "flat mapping");
    check_bad("- a\n", 1, "flat mapping");
    check_bad("validated: yes\nspeed: 3\n", 2, "unknown key 'speed'");
    check_bad("validated: maybe\n", 1, "'maybe' is no value");
    check_bad("validated: no\nsm_count: 1.5\n", 2, "'1.5' is no value");
    check_bad("sm_count: -1\n", 1, "'-1' is no value");
    check_bad("sm_count: 4x\n", 1, "'4x' is no value");
    check_bad("sm_count: 4\nsm_count: 4\n", 2, "given twice");
    check_bad("sm_count: [4]\n", 1, "flat mapping");
    check_bad("dram_ns: 0\n", 1, "'0' is no value");
    check_bad("sm_count: 4\n", 1, "is missing");
    check_bad("sm_count: \"4\n", 2, "end of stream");
}

static void test_l1(void **state)
{
    (void)state;
    struct l1 c = {0};
    float ready;
    l1_reset(&c, 4096); /* 8 sets of 4 lines */
    assert_int_equal(l1_probe(&c, 100, 0xf, 10, 500, &ready), 0);
    assert_int_equal(l1_probe(&c, 100, 0x3, 600, 500, &ready), 0x3);
    assert_float_equal(ready, 510, 0); /* it had come by then */
    l1_reset(&c, 4096);
    assert_int_equal(l1_probe(&c, 100, 0x1, 0, 500, &ready), 0);
    assert_int_equal(l1_probe(&c, 100, 0x3, 20, 500, &ready), 0x1); /* the other sector misses */
    assert_int_equal(l1_probe(&c, 100, 0x2, 30, 500, &ready), 0x2);
    for (uint64_t line = 1000; line < 1100; line++)
        l1_probe(&c, line, 0xf, 0, 500, &ready);
    assert_int_equal(l1_probe(&c, 100, 0x1, 0, 500, &ready), 0); /* evicted */
    l1_free(&c);
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
    static const double points[][3] = {{0.39, 1.925, 1.20},   {4.19, 2.44, 1.48},   {8.65, 3.50, 2.07},
                                       {21.23, 6.88, 4.32},   {38.04, 10.91, 7.38}, {352.32, 84.55, 84.99},
                                       {805.31, 190.3, 190.7}};
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
        cmocka_unit_test(test_occupancy), cmocka_unit_test(test_devices),  cmocka_unit_test(test_device_errors),
        cmocka_unit_test(test_l1),        cmocka_unit_test(test_l2_lines), cmocka_unit_test(test_residency),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
