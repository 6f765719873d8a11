/* What goes beyond a task: values and flags that it does not name, the largest shapes of its domain. */
#include "task/task.h"
#include "test.h"

static struct arena *arena;
static struct err err;

static struct task *task_named(const char *dir)
{
    struct task *t;

    assert_ok(task_open(&t, arena, dir, &err), err);
    return t;
}

/* The last one. */
static const struct task_case *case_named(const struct task *t, const char *distribution)
{
    const struct task_case *cases;
    size_t n;

    task_suite(t, arena, 1, &cases, &n);
    while (n > 0 && strcmp(cases[n - 1].distribution, distribution) != 0)
        n--;
    assert_true(n > 0);
    return &cases[n - 1];
}

static void wild_cases_go_to_the_ends(void **state)
{
    const struct task *t = task_named("tests/tasks/mean_pool");
    const struct task_case *c = case_named(t, "patterns in rows");
    int32_t lengths[2];
    int64_t ids[64], differ;
    int8_t whole[64];

    (void)state;
    task_fill_case(t, c, 2, 2, lengths);
    assert_int_equal(lengths[0], c->dims[1]); /* 16 bits do not hold it */
    assert_int_equal(lengths[1], 0);
    t = task_named("tests/tasks/embedding");
    c = case_named(t, "equal in their lower bits");
    task_fill_case(t, c, 2, 64, ids);
    bool few = false, half = false, most = false;
    for (size_t i = 0; i < 64; i += 2) {
        differ = ids[i] ^ ids[i + 1];
        assert_true(differ % 256 == 0 && ids[i] < c->dims[1] && ids[i + 1] < c->dims[1]);
        few |= differ % 65536 != 0;
        half |= differ != 0 && differ % 65536 == 0;
        most |= differ != 0 && differ % 131072 == 0; /* as many as can be */
    }
    assert_true(few && half && most);
    t = task_named("tests/tasks/dot_i8");
    c = case_named(t, "the upper part of the range");
    task_fill_case(t, c, 1, 64, whole);
    for (size_t i = 0; i < 64; i++)
        assert_true(whole[i] >= 90);
}

static double at(enum kernel_type type, const void *values, int64_t i)
{
    return task_to_double(type, (const char *)values + (size_t)i * kernel_type_size(type));
}

/* Whole vectors far below zero, whose partners in the row's other half are next to the type's edge. */
static void light_exponentials_meet_large_numbers(void **state)
{
    const struct task *t = task_named("examples/silu_and_mul");
    const struct task_case *c = case_named(t, "light exponentials beside large numbers");
    int64_t d = c->dims[1];
    uint16_t *row = arena_array(arena, uint16_t, (size_t)(c->dims[0] * 2 * d));
    bool depths[41] = {0};

    (void)state;
    task_fill_case(t, c, 1, c->dims[0] * 2 * d, row);
    for (int64_t i = 0; i < d; i++) {
        double x = at(KT_F16, row, i), first = at(KT_F16, row, i / 16 * 16);
        assert_true(x <= -8 && x > -40.1 && fabs(x - first) <= 1);
        assert_true(fabs(at(KT_F16, row, d + i)) > 61000);
        depths[(int)-x] = true;
    }
    for (int k = 8; k < 40; k++)
        assert_true(depths[k]);
    assert_true(fabs(at(KT_F16, row, 2 * d)) > 61000); /* the other way round */
}

/* In one half of a row large against small, in the other small against large. */
static void sizes_are_opposed(void **state)
{
    const struct task *t = task_named("tests/tasks/product_gemv");
    const struct task_case *c = case_named(t, "parts of opposed sizes");
    int64_t m, k;
    uint16_t *a, *x;

    (void)state;
    do /* the one before the last, of halves */
        c--;
    while (strcmp(c->distribution, "parts of opposed sizes") != 0);
    m = c->dims[0], k = c->dims[1];
    a = arena_array(arena, uint16_t, (size_t)(m * k));
    x = arena_array(arena, uint16_t, (size_t)k);
    task_fill_case(t, c, 1, m * k, a);
    task_fill_case(t, c, 2, k, x);
    for (int64_t i = 0; i < k; i++) {
        assert_true((fabs(at(KT_BF16, a, i)) < 1) == (i >= k / 2));
        assert_true((fabs(at(KT_BF16, x, i)) < 1) == (i < k / 2));
    }
}

/* A flag has both values, whatever the task says. */
static void flags_are_turned(void **state)
{
    const struct task *t = task_named("tests/tasks/causal_conv1d");
    const struct task_case *c = case_named(t, "silu = 0");
    const struct task *other = task_of_case(arena, t, c);
    struct kernel_value values[16];
    struct task_case again;

    (void)state;
    task_launch_values(other, c->dims, values);
    assert_int_equal(values[7].i, 0);
    json_t *o = task_case_to_json(t, c);
    assert_ok(task_case_from_json(t, o, arena, &again, &err), err);
    json_decref(o);
    task_launch_values(task_of_case(arena, t, &again), c->dims, values);
    assert_int_equal(values[7].i, 0);
}

static void extremes_go_beyond_32_bits(void **state)
{
    const struct task *t = task_named("tests/tasks/adam");
    const int64_t **shapes, *far[TASK_FAR];
    int64_t most = 0;
    size_t n, alone;
    bool odd = false;

    (void)state;
    task_extremes(t, arena, &shapes, &n);
    for (size_t i = 0; i < n; i++)
        most = MAX(most, shapes[i][0]);
    assert_true(most > (int64_t)UINT32_MAX);
    t = task_named("tests/tasks/group_norm");
    n = task_far(t, arena, far, &alone);
    for (size_t i = 0; i < n; i++) {
        assert_true(task_in_domain(t, far[i]));
        odd |=
            far[i][3] == UINT16_MAX && far[i][1] == 3; /* the domain's largest odd extent, in several planes */
    }
    assert_true(odd);
    for (size_t i = alone; i < n; i++) /* shorter and shorter */
        assert_true(far[i][2] == far[alone][2] &&
                    (i == alone || task_case_elements(t, far[i]) < task_case_elements(t, far[i - 1])));
}

/* One group, one segment: what the domain ties to a long dim is no larger than that, and a long dim stays long
 * where the other one grows. */
static void long_shapes_are_of_one_piece(void **state)
{
    enum { BYTES = 160 << 20 };
    const int64_t **shapes;
    bool group = false, segment = false;

    (void)state;
    const struct task *t = task_named("tests/tasks/group_norm");
    for (size_t n = task_long(t, arena, BYTES, &shapes); n-- > 0;) {
        assert_true(task_in_domain(t, shapes[n]) && 4 * task_case_elements(t, shapes[n]) <= BYTES);
        group |= shapes[n][0] == 1 && shapes[n][1] == shapes[n][2] && shapes[n][2] * shapes[n][3] > 20000000;
    }
    t = task_named("tests/tasks/segment_sum");
    for (size_t n = task_long(t, arena, BYTES, &shapes); n-- > 0;) {
        assert_true(task_in_domain(t, shapes[n]) && 4 * task_case_elements(t, shapes[n]) <= BYTES);
        segment |= shapes[n][0] == 1 && shapes[n][1] == 65536 && shapes[n][2] > 500;
    }
    assert_true(group && segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_cases_go_to_the_ends),  cmocka_unit_test(light_exponentials_meet_large_numbers),
        cmocka_unit_test(sizes_are_opposed),          cmocka_unit_test(flags_are_turned),
        cmocka_unit_test(extremes_go_beyond_32_bits), cmocka_unit_test(long_shapes_are_of_one_piece),
    };
    arena = arena_open();
    int failed = cmocka_run_group_tests_name("wild", tests, NULL, NULL);
    arena_close(arena);
    return failed;
}
