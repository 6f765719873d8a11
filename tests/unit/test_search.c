#include "optimize/search.h"
#include "test.h"

static void test_best_is_never_worse(void **state)
{
    struct search s;
    int a, b, c, ids[4];

    (void)state;
    search_open(&s, 1.01);
    assert_int_equal(search_ask(&s), 0);
    a = search_add(&s, 0, 1);
    b = search_add(&s, 0, 1);
    search_tell(&s, a, true, true, 0.8);
    assert_int_equal(search_ask(&s), 0);
    search_tell(&s, b, false, false, 9.0);
    assert_int_equal(search_ask(&s), 0);
    search_tell(&s, a, true, true, 2.0);
    assert_int_equal(search_ask(&s), a);
    c = search_add(&s, a, 2);
    search_tell(&s, c, true, true, 3.0);
    assert_int_equal(search_ask(&s), c);
    assert_int_equal(search_lineage(&s, c, ids, 4), 2);
    assert_int_equal(ids[0], a);
    assert_int_equal(ids[1], c);
    search_close(&s);
}

static void test_order_of_arrival(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct search s;
        search_open(&s, 1.01);
        int a = search_add(&s, 0, 1), b = search_add(&s, 0, 1);
        search_tell(&s, order ? b : a, true, true, 1.5);
        search_tell(&s, order ? a : b, true, true, 1.5);
        assert_int_equal(search_ask(&s), a);
        search_close(&s);
    }
}

static void test_detour(void **state)
{
    struct search s;
    int a, b;

    (void)state;
    search_open(&s, 1.01);
    a = search_add(&s, 0, 1);
    b = search_add(&s, 0, 1);
    search_tell(&s, a, true, true, 1.5);
    search_tell(&s, b, true, false, 2.5);
    assert_int_equal(s.best, a);
    assert_int_equal(search_ask(&s), b);
    assert_int_equal(search_ask(&s), a);
    search_tell(&s, a, true, false, 1.5);
    assert_int_equal(s.best, 0);
    search_close(&s);
}

static void test_plateau(void **state)
{
    struct search s;

    (void)state;
    search_open(&s, 1.01);
    search_tell(&s, search_add(&s, 0, 1), true, true, 1.5);
    assert_int_equal(search_stale_rounds(&s, 1), 0);
    search_tell(&s, search_add(&s, 1, 2), true, true, 1.501);
    assert_int_equal(search_stale_rounds(&s, 2), 1);
    search_tell(&s, search_add(&s, 1, 3), true, true, 1.505);
    assert_int_equal(search_stale_rounds(&s, 3), 2);
    search_tell(&s, search_add(&s, 1, 4), true, true, 1.7);
    assert_int_equal(search_stale_rounds(&s, 4), 0);
    search_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_is_never_worse),
        cmocka_unit_test(test_order_of_arrival),
        cmocka_unit_test(test_detour),
        cmocka_unit_test(test_plateau),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
