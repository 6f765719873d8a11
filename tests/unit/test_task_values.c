/* The values that a case takes: rounding, pages, orders, rows, wild ones. */

#include "task_text.h"

static void numbers_round_to_nearest_even(void **state)
{
    static const struct {
        enum kernel_type type;
        double in, out;
    } cases[] = {
        {KT_F16, 1.0 / 3, 0.333251953125},
        {KT_F16, 65519.99, 65504},
        {KT_F16, 65520, INFINITY},
        {KT_F16, 0x1p-25, 0},
        {KT_F16, 0x1.8p-25, 0x1p-24},
        {KT_BF16, 1.00390625, 1},
        {KT_BF16, 1.01171875, 1.015625},
        {KT_BF16, 1.00390625 + 0x1p-40, 1.0078125}, /* a second rounding alone would give 1 */
        {KT_BF16, -3.392e38, -0x1.fep127 * 1.0},
        {KT_BF16, 3.5e38, INFINITY},
        {KT_F32, 0.1, 0.1f},
        {KT_F64, 0.1, 0.1},
        {KT_I8, 200, 127},
        {KT_U8, -3, 0},
        {KT_I32, 2.5, 2},
        {KT_I64, 1e30, 9223372036854775807.0},
        {KT_BOOL, 3, 1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned char bytes[8];
        task_from_double(cases[i].type, cases[i].in, bytes);
        double v = task_to_double(cases[i].type, bytes);
        if (v != cases[i].out)
            fail_msg("case %zu: %.17g became %.17g, not %.17g", i, cases[i].in, v, cases[i].out);
    }
    unsigned char bytes[8];
    static const enum kernel_type floating[] = {KT_F16, KT_BF16, KT_F32, KT_F64};
    for (size_t i = 0; i < ARRAY_LEN(floating); i++) {
        task_from_double(floating[i], NAN, bytes);
        assert_true(isnan(task_to_double(floating[i], bytes)));
        task_from_double(floating[i], -INFINITY, bytes);
        assert_true(task_to_double(floating[i], bytes) == -INFINITY);
    }
}

/* The compiler's own _Float16 beside it: every f16, each middle between two, and what is next to that. */
static void halves_are_the_compilers(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h, again;
        _Float16 x, upper;
        memcpy(&x, &bits, sizeof(x));
        double v = task_to_double(KT_F16, &bits);
        if (isnan((double)x)) {
            assert_true(isnan(v));
            continue;
        }
        assert_true(v == (double)x && !signbit(v) == !signbit((double)x));
        task_from_double(KT_F16, v, &again);
        assert_int_equal(again, bits);
        bits = (uint16_t)((h & 0x7fff) < 0x7c00 ? h + 1 : h);
        memcpy(&upper, &bits, sizeof(upper));
        double beside = isinf((double)upper) ? copysign(65536, v) : (double)upper, middle = (v + beside) / 2;
        const double at[] = {nextafter(middle, 0), middle, nextafter(middle, 2 * middle)};
        for (size_t k = 0; k < ARRAY_LEN(at) && !isinf(v); k++) {
            _Float16 want = (_Float16)at[k];
            task_from_double(KT_F16, at[k], &again);
            assert_memory_equal(&want, &again, sizeof(again));
        }
    }
}

static void values_are_functions_of_their_place(void **state)
{
    static const char *const kinds[] = {"normal",
                                        "uniform",
                                        "zeros",
                                        "ones",
                                        "large",
                                        "tiny",
                                        "mixed",
                                        "integers",
                                        "{kind: uniform, low: -2, high: 3}",
                                        "{kind: normal, special: [-inf, nan]}"};
    const int64_t dims[] = {1000};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct task *t;
        float whole[1000], part[100], other[1000];
        assert_ok(
            open_text(&t, arena_printf(arena,
                                       HEAD "args:\n  - {name: a, type: f32, shape: [n], role: inout, values: "
                                            "%s}\ndims: [n]\nworkloads: [[1000]]\n",
                                       kinds[i])),
            err);
        task_fill(&t->args[0], &t->args[0].values, dims, 7, 0, 1000, whole);
        task_fill(&t->args[0], &t->args[0].values, dims, 7, 300, 100, part);
        task_fill(&t->args[0], &t->args[0].values, dims, 8, 0, 1000, other);
        assert_memory_equal(whole + 300, part, sizeof(part));
        if (strcmp(kinds[i], "ones") != 0)
            assert_memory_not_equal(whole, other, sizeof(other));
        double sum = 0, specials = 0;
        for (int k = 0; k < 1000; k++) {
            specials += !isfinite(whole[k]);
            sum += isfinite(whole[k]) ? (double)whole[k] * (double)whole[k] : 0;
        }
        if (i == 0)
            assert_true(sum > 800 && sum < 1200);
        if (i == 8)
            for (int k = 0; k < 1000; k++)
                assert_true(whole[k] >= -2 && whole[k] <= 3);
        if (i == 9)
            assert_in_range((uintmax_t)specials, 30, 110);
        else
            assert_true(specials == 0);
    }
    struct task *t;
    int32_t index[1000];
    assert_ok(
        open_text(
            &t,
            HEAD "args:\n  - {name: a, type: i32, shape: [n], role: inout, values: {kind: index, low: 5, high: "
                 "n / 10}}\ndims: [n]\nworkloads: [[1000]]\n"),
        err);
    task_fill(&t->args[0], &t->args[0].values, dims, 7, 0, 1000, index);
    bool low = false, high = false;
    for (int k = 0; k < 1000; k++) {
        assert_in_range(index[k], 5, 99);
        low |= index[k] == 5;
        high |= index[k] == 99;
    }
    assert_true(low && high);
}

/* A page at once, and every element by itself: pages of integers have a way of their own. */
static void a_page_is_its_elements(void **state)
{
    static const struct task_values kinds[] = {
        {.kind = VALUE_INTEGERS},
        {.kind = VALUE_RANGE},
        {.kind = VALUE_NORMAL},
        {.kind = VALUE_INDEX, .low = 0},
        {.kind = VALUE_INDEX, .low = -40},
        {.kind = VALUE_INTEGERS, .patterned = true},
    };
    static const char *const highs[] = {"n", "200 * n", "n * n * n * n * n * n"};
    const int64_t dims[] = {1000};
    uint64_t whole[100], one;
    struct task *t;
    (void)state;
    for (size_t h = 0; h < ARRAY_LEN(highs); h++) {
        assert_ok(open_text(&t, arena_printf(arena,
                                             HEAD "args:\n  - {name: a, type: i64, shape: [n], role: inout, "
                                                  "values: {kind: index, low: 0, high: %s}}\ndims: [n]\n"
                                                  "workloads: [[1000]]\n",
                                             highs[h])),
                  err);
        for (size_t k = 0; k < ARRAY_LEN(kinds) * (KT_F64 + 1); k++) {
            struct task_arg arg = t->args[0];
            struct task_values v = kinds[k / (KT_F64 + 1)];
            arg.type = k % (KT_F64 + 1);
            v.high_expr = arg.values.high_expr;
            size_t size = kernel_type_size(arg.type);
            if (!size)
                continue;
            task_fill(&arg, &v, dims, 7, 30, ARRAY_LEN(whole), whole);
            for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
                task_fill(&arg, &v, dims, 7, 30 + (int64_t)i, 1, &one);
                assert_memory_equal((char *)whole + i * size, &one, size);
            }
        }
    }
}

/* What is promised of each row of 50, or of the whole buffer, in every turn and for every seed. */
static void orders_are_kept(void **state)
{
    enum { ROWS = 4, LENGTH = 50, N = ROWS * LENGTH };
    static const enum value_kind kinds[] = {VALUE_DISTINCT, VALUE_PERMUTATION, VALUE_SORTED, VALUE_OFFSETS};
    const int64_t dims[] = {ROWS, LENGTH};
    struct task *t;
    (void)state;
    assert_ok(open_text(&t, HEAD
                        "args:\n  - {name: a, type: i32, shape: [r, n], role: inout, values: {kind: distinct, "
                        "low: -7, high: 4 * n}}\ndims: [r, n]\ndomain: [r >= 1]\nworkloads: [[3, 50]]\n"),
              err);
    assert_true(task_in_domain(t, (const int64_t[]){4, 50}));
    assert_false(task_in_domain(t, (const int64_t[]){5, 50})); /* 250 of 207 */
    for (unsigned k = 0; k < 400; k++) {
        struct task_values v = t->args[0].values;
        int32_t a[N], one;
        bool seen[4 * LENGTH + 7] = {false};
        v.kind = kinds[k % 4];
        v.turn = k / 4;
        v.patterned = k / 4 % 2;
        task_fill(&t->args[0], &v, dims, k, 0, N, a);
        for (int i = 0; i < N; i++) {
            int column = i % LENGTH;
            bool permutes = v.kind == VALUE_PERMUTATION;
            if (column == 0 && permutes)
                memset(seen, 0, sizeof(seen));
            assert_in_range(a[i] + 7, permutes ? 7 : 0, permutes ? LENGTH + 6 : 4 * LENGTH + 7);
            if (permutes || v.kind == VALUE_DISTINCT) {
                assert_false(seen[a[i] + 7]);
                seen[a[i] + 7] = true;
            } else if (column > 0) {
                assert_true(a[i] >= a[i - 1]);
            }
            if (v.kind == VALUE_OFFSETS && column == 0)
                assert_int_equal(a[i], -7);
            if (v.kind == VALUE_OFFSETS && column == LENGTH - 1)
                assert_int_equal(a[i], 4 * LENGTH);
            task_fill(&t->args[0], &v, dims, k, i, 1, &one);
            assert_int_equal(one, a[i]);
        }
    }
}

static void rows_begin_alike(void **state)
{
    struct task *t;
    const int64_t dims[] = {5, 64};
    float in[5 * 128];

    (void)state;
    assert_ok(task_open(&t, arena, fs_join(arena, "examples", "silu_and_mul"), &err), err);
    struct task_arg arg = t->args[1];
    arg.type = KT_F32;
    task_fill(&arg, &(struct task_values){.kind = VALUE_ALIKE}, dims, 7, 0, 5 * 128, in);
    for (int row = 1; row < 5; row++) {
        assert_memory_equal(in, in + row * 128, 112 * sizeof(float));
        assert_memory_not_equal(in, in + row * 128, 128 * sizeof(float));
    }
}

/* Rows of every pattern, integers of every length, numbers up to the edge. */
static void wild_values_are_what_they_say(void **state)
{
    const struct task_values range = {.kind = VALUE_RANGE}, half = {.kind = VALUE_RANGE, .rung = 2},
                             ends = {.kind = VALUE_RANGE, .patterned = true, .turn = N_PATTERNS},
                             patterns = {.kind = VALUE_NORMAL, .patterned = true},
                             front = {.kind = VALUE_NORMAL, .patterned = true, .turn = TURN_FRONT},
                             sprinkled = {.kind = VALUE_NORMAL, .sprinkled = true}, huge = {.kind = VALUE_HUGE};
    const int64_t dims[] = {16, 64};
    int32_t whole[16 * 128], half_whole[16 * 128];
    float x[16 * 128];
    bool lowest = false, highest = false, rises = false, falls = false, one = false, zeros = false;
    struct task *t;

    (void)state;
    assert_ok(task_open(&t, arena, fs_join(arena, "examples", "silu_and_mul"), &err), err);
    struct task_arg arg = t->args[1]; /* 16 rows of 128 */
    arg.type = KT_I32;
    task_fill(&arg, &range, dims, 7, 0, ARRAY_LEN(whole), whole);
    task_fill(&arg, &half, dims, 7, 0, ARRAY_LEN(whole), half_whole);
    for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
        lowest |= whole[i] == INT32_MIN;
        highest |= whole[i] == INT32_MAX;
        assert_in_range(half_whole[i] + 32768, 0, 65535);
    }
    assert_true(lowest && highest);
    task_fill(&arg, &ends, dims, 7, 0, 256, whole);
    for (size_t i = 0; i < 256; i++)
        assert_int_equal(whole[i], i < 128 ? INT32_MIN : INT32_MAX);
    arg.type = KT_F32;
    task_fill(&arg, &patterns, dims, 7, 0, ARRAY_LEN(x), x);
    for (size_t row = 0; row < 16; row++) {
        size_t up = 0, same = 0, zero = 0;
        for (size_t i = 1; i < 128; i++) {
            up += x[row * 128 + i] > x[row * 128 + i - 1];
            same += x[row * 128 + i] == x[row * 128 + i - 1];
            zero += x[row * 128 + i] == 0;
        }
        rises |= up == 127;
        falls |= up == 0 && same == 0;
        one |= same == 127 && zero == 0;
        zeros |= zero > 64 && zero < 127;
    }
    assert_true(rises && falls && one && zeros);
    task_fill(&arg, &front, dims, 7, 0, 256, x);
    for (size_t row = 0; row < 2; row++) { /* late ones are large, then the early ones */
        float early = 0, late = 0;
        for (size_t i = 0; i < 8; i++) {
            early = fmaxf(early, fabsf(x[row * 128 + i]));
            late = fmaxf(late, fabsf(x[row * 128 + 127 - i]));
        }
        if (row ? early < 10 * late : late < 10 * early)
            fail_msg("row %zu: %g early, %g late", row, (double)early, (double)late);
    }
    task_fill(&arg, &sprinkled, dims, 7, 0, ARRAY_LEN(x), x);
    size_t n_zero = 0, n_tiny = 0;
    for (size_t i = 0; i < ARRAY_LEN(x); i++) {
        n_zero += x[i] == 0;
        n_tiny += x[i] != 0 && fabsf(x[i]) < 1e-9f;
    }
    assert_in_range(n_zero, ARRAY_LEN(x) / 5, ARRAY_LEN(x) / 3);
    assert_in_range(n_tiny, ARRAY_LEN(x) / 5, ARRAY_LEN(x) / 3);
    task_fill(&arg, &huge, dims, 7, 0, ARRAY_LEN(x), x);
    for (size_t row = 0; row < 16; row++) {
        double most = 0, least = 0;
        for (size_t i = 0; i < 128; i++) {
            assert_true(isfinite(x[row * 128 + i]));
            most = fmax(most, (double)x[row * 128 + i]);
            least = fmin(least, (double)x[row * 128 + i]);
        }
        assert_true(fmax(most, -least) > 1e16);
        assert_true((row % N_HUGE != 1 && row % N_HUGE != 4) || most == 0); /* all of one sign */
        assert_true(row % N_HUGE != 2 || fmin(most, -least) < 10);          /* large ones of one sign */
        assert_true((row % N_HUGE != 2 && row % N_HUGE != 4) || fmax(most, -least) > 0x1p126);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_round_to_nearest_even),
        cmocka_unit_test(halves_are_the_compilers),
        cmocka_unit_test(values_are_functions_of_their_place),
        cmocka_unit_test(a_page_is_its_elements),
        cmocka_unit_test(orders_are_kept),
        cmocka_unit_test(rows_begin_alike),
        cmocka_unit_test(wild_values_are_what_they_say),
    };
    return cmocka_run_group_tests_name("task values", tests, open_all, close_all);
}
