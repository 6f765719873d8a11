/* Is the interval true? Thousands of measurements of sides whose true ratio is known, on machines that were
 * made up: how often does it say that one is faster when it is not? */
#include "test.h"
#include "noise.h"

enum { MANY = 1500 };

/* More than this many of n happens to a rate of p once in ten thousand times. */
static double most_of(double n, double p)
{
    return n * p + 3.72 * sqrt(n * p * (1 - p)) + 1;
}

struct counts {
    int wins, misses, found, ends[PAIR_DISTURBED + 1];
    int pairs; /* of all together */
};

static struct counts simulate(enum noise_kind kind, double truth, int n, const struct pair_rules *rules)
{
    struct counts c = {0};
    struct err err = {0};

    for (int i = 0; i < n; i++) {
        struct pair_rules own = *rules;
        struct pair_result r;
        struct noise noise;
        own.seed = (uint64_t)i;
        noise_open(&noise, kind, truth, 1000 + (uint64_t)i);
        assert_ok(pair_measure(&own, noise_pair, &noise, &r, &err), err);
        c.wins += r.low > truth;
        c.misses += r.low > truth || r.high < truth;
        c.found += r.low > 1;
        c.pairs += r.pairs;
        c.ends[r.end]++;
    }
    return c;
}

static void test_level(void **state)
{
    struct pair_rules rules = pair_rules_default();

    (void)state;
    for (enum noise_kind k = 0; k < NOISE_KINDS; k++) {
        struct counts c = simulate(k, 1, MANY, &rules);
        if (c.wins > most_of(MANY, (1 - rules.level) / 2))
            fail_msg("%s: %d false wins of %d", noise_names[k], c.wins, MANY);
        if (c.misses > most_of(MANY, 1 - rules.level))
            fail_msg("%s: %d misses of %d", noise_names[k], c.misses, MANY);
        assert_true(c.ends[PAIR_PRECISE] > 0.97 * MANY); /* and not by saying nothing */
    }
}

/* The same with an aim that is never reached: all looks are taken. */
static void test_level_of_all_looks(void **state)
{
    static const enum noise_kind kinds[] = {NOISE_WHITE, NOISE_STEPS, NOISE_OWN_WAVES};
    struct pair_rules rules = pair_rules_default();

    (void)state;
    rules.half_width = 0;
    rules.max_pairs = 128;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct counts c = simulate(kinds[k], 1, MANY, &rules);
        assert_int_equal(c.ends[PAIR_OUT_OF_PAIRS], MANY);
        assert_true(c.misses <= most_of(MANY, 1 - rules.level));
    }
}

/* What a bootstrap does that is looked at after every pair until it says what was hoped for: the noise is able
 * to show a wrong method. */
static void test_noise_is_noise(void **state)
{
    enum { REPEATS = 100, LOOKS = 20 };
    int wins = 0;

    (void)state;
    for (uint64_t i = 0; i < REPEATS; i++) {
        struct noise noise;
        double ratios[10 + LOOKS], low = 0, high;
        size_t n = 0;
        noise_open(&noise, NOISE_STEPS, 1, i);
        while (n < ARRAY_LEN(ratios) && !(low > 0)) {
            struct pair p = {0};
            noise_pair(&noise, false, &p, NULL);
            ratios[n++] = log(p.a_us / p.b_us);
            if (n >= 10)
                stats_bootstrap_median(ratios, n, i, &low, &high);
        }
        wins += low > 0;
    }
    assert_true(wins > most_of(REPEATS, 0.025));
}

static void test_power(void **state)
{
    struct pair_rules rules = pair_rules_default();

    (void)state;
    for (enum noise_kind k = 0; k < NOISE_KINDS; k++) {
        struct counts c = simulate(k, 1.02, 300, &rules);
        if (c.found < 0.98 * 300)
            fail_msg("%s: 2 %% found %d times of 300", noise_names[k], c.found);
        assert_true(c.misses <= most_of(300, 1 - rules.level));
    }
}

static void test_hopeless(void **state)
{
    struct pair_rules rules = pair_rules_default();
    struct counts c;

    (void)state;
    rules.hopeless = 0.97;
    c = simulate(NOISE_WHITE, 0.9, 300, &rules);
    assert_int_equal(c.ends[PAIR_HOPELESS], 300);
    assert_true(c.pairs < 300 * 2 * rules.min_pairs); /* at the first look or the second */
    /* What is as good as that is not dropped more often than the level says. */
    c = simulate(NOISE_WHITE, 0.97, MANY, &rules);
    assert_true(c.ends[PAIR_HOPELESS] <= most_of(MANY, (1 - rules.level) / 2));
}

static void test_ends(void **state)
{
    struct pair_rules rules = pair_rules_default();
    struct counts c;

    (void)state;
    rules.half_width = 0;
    rules.max_pairs = 40;
    c = simulate(NOISE_WHITE, 1, 1, &rules);
    assert_int_equal(c.ends[PAIR_OUT_OF_PAIRS], 1);
    assert_int_equal(c.pairs, 40);
    rules.max_s = 0; /* over after the first two */
    c = simulate(NOISE_WHITE, 1, 1, &rules);
    assert_int_equal(c.ends[PAIR_OUT_OF_TIME], 1);
    assert_int_equal(c.pairs, 2);
}

/* Blocks of a slow original are few: a hundred times is a hundred times, two per cent are nothing. */
static void test_few_pairs(void **state)
{
    struct pair_rules rules = pair_rules_default();
    struct counts c;

    (void)state;
    rules.max_pairs = 10;
    c = simulate(NOISE_WHITE, 100, 100, &rules);
    assert_int_equal(c.found, 100);
    assert_int_equal(c.misses, 0);
    for (enum noise_kind k = 0; k < NOISE_KINDS; k++) {
        c = simulate(k, 1.02, 100, &rules);
        assert_int_equal(c.found, 0);
    }
}

static bool always_disturbed(void *context, bool b_first, struct pair *p, struct err *err)
{
    (void)b_first;
    (void)err;
    ++*(int *)context;
    *p = (struct pair){.disturbed = true};
    return true;
}

static bool fails_at_fifth(void *context, bool b_first, struct pair *p, struct err *err)
{
    (void)b_first;
    *p = (struct pair){.a_us = 2, .b_us = 1};
    return ++*(int *)context < 5 || err_world(err, "gone");
}

static bool no_time(void *context, bool b_first, struct pair *p, struct err *err)
{
    (void)context;
    (void)b_first;
    (void)err;
    *p = (struct pair){.a_us = 1};
    return true;
}

static void test_sources(void **state)
{
    struct pair_rules rules = pair_rules_default();
    struct pair_result r;
    struct err err = {0};
    int calls = 0;

    (void)state;
    rules.max_pairs = 30;
    assert_ok(pair_measure(&rules, always_disturbed, &calls, &r, &err), err);
    assert_int_equal(r.end, PAIR_DISTURBED);
    assert_int_equal(r.disturbed, calls);
    assert_int_equal(r.pairs, 0);
    assert_true(isnan(r.ratio) && isnan(r.low) && isnan(r.a_us));
    calls = 0;
    assert_false(pair_measure(&rules, fails_at_fifth, &calls, &r, &err));
    assert_int_equal(calls, 5);
    assert_string_equal(err.text, "gone");
    assert_false(pair_measure(&rules, no_time, NULL, &r, &err));
    assert_int_equal(err.kind, ERR_WORLD);
}

/* Without noise: both orders are asked for equally often, and the figures are those that were given. */
struct exact {
    int a_first, b_first;
};

static bool exact_pair(void *context, bool b_first, struct pair *p, struct err *err)
{
    struct exact *x = context;

    (void)err;
    *(b_first ? &x->b_first : &x->a_first) += 1;
    *p = (struct pair){.a_us = 30, .b_us = 20};
    return true;
}

static void test_exact(void **state)
{
    struct pair_rules rules = pair_rules_default();
    struct pair_result r;
    struct exact x = {0};
    struct err err = {0};

    (void)state;
    assert_ok(pair_measure(&rules, exact_pair, &x, &r, &err), err);
    assert_int_equal(x.a_first, x.b_first);
    assert_int_equal(r.pairs, rules.min_pairs);
    assert_float_equal(r.ratio, 1.5, 1e-12);
    assert_float_equal(r.low, 1.5, 1e-12);
    assert_float_equal(r.high, 1.5, 1e-12);
    assert_true(r.a_us == 30 && r.b_us == 20 && r.a_low_us == 30 && r.b_high_us == 20);
    /* An interval at 99.9 % needs more than two pairs, whatever the rules say. */
    rules.min_pairs = 2;
    rules.level = 0.999;
    assert_ok(pair_measure(&rules, exact_pair, &x, &r, &err), err);
    assert_int_equal(r.pairs, 24);
}

static void test_geomean(void **state)
{
    enum { WORKLOADS = 5, REPEATS = 600 };
    struct pair_result r[WORKLOADS];
    struct pair_rules rules = pair_rules_default();
    double ratio, low, high, truth = 1;
    struct err err = {0};
    int misses = 0;

    (void)state;
    for (int w = 0; w < WORKLOADS; w++)
        truth *= pow(1 + 0.05 * w, 1.0 / WORKLOADS);
    for (int i = 0; i < REPEATS; i++) {
        double widest = 0;
        for (int w = 0; w < WORKLOADS; w++) {
            struct noise noise;
            rules.seed = (uint64_t)i * WORKLOADS + (uint64_t)w;
            noise_open(&noise, (enum noise_kind)(w * 2), 1 + 0.05 * w, rules.seed);
            assert_ok(pair_measure(&rules, noise_pair, &noise, &r[w], &err), err);
            widest = MAX(widest, r[w].high / r[w].low);
        }
        pair_geomean(r, WORKLOADS, &ratio, &low, &high);
        assert_true(low <= ratio && ratio <= high && high / low < widest);
        misses += low > truth || high < truth;
    }
    assert_true(misses <= most_of(REPEATS, 1 - rules.level));
    struct pair_result two[2] = {{.ratio = 2, .low = 1.9, .high = 2.1, .weight = 0.75},
                                 {.ratio = 8, .low = 7, .high = 9, .weight = 0.25}};
    pair_geomean(two, 2, &ratio, &low, &high);
    assert_true(fabs(ratio - pow(2, 0.75) * pow(8, 0.25)) < 1e-12 && low < ratio && ratio < high);
    two[0].weight = two[1].weight = 0;
    pair_geomean(two, 2, &ratio, &low, &high);
    assert_true(fabs(ratio - 4) < 1e-12);
    r[1].low = r[1].high = NAN;
    pair_geomean(r, WORKLOADS, &ratio, &low, &high);
    assert_true(!isnan(ratio) && isnan(low) && isnan(high));
    pair_geomean(r, 0, &ratio, &low, &high);
    assert_true(isnan(ratio));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level),     cmocka_unit_test(test_level_of_all_looks),
        cmocka_unit_test(test_power),     cmocka_unit_test(test_noise_is_noise),
        cmocka_unit_test(test_hopeless),  cmocka_unit_test(test_ends),
        cmocka_unit_test(test_few_pairs), cmocka_unit_test(test_sources),
        cmocka_unit_test(test_exact),     cmocka_unit_test(test_geomean),
    };

    return cmocka_run_group_tests_name("paired", tests, NULL, NULL);
}
