/* The strategies on artificial spaces, whose best point is known. */
#include "tune/tune.h"
#include "test.h"

enum { N = 4, VALUES = 8, POINTS = 8 * 8 * 8 * 8 };

static const int values[] = {1, 2, 4, 8, 16, 32, 64, 128};
static const struct tune_parameter parameters[N] = {
    {"tile", values, VALUES}, {"items", values, VALUES}, {"stages", values, VALUES}, {"block", values, VALUES}};
static const struct tune_space space = {parameters, N};

struct artificial {
    int valley;  /* 1: the optimum lies where two parameters must move together */
    bool broken; /* prices nothing after a while */
    bool seen[2][POINTS];
    size_t n_priced, n_illegal, n_again;
    size_t begun[POINTS], n_begun,
        n_other; /* what was begun and not priced yet; priced without it, or not next */
};

static size_t place_of(const int *p)
{
    size_t at = 0;

    for (size_t i = 0; i < N; i++)
        at = at * VALUES + (size_t)p[i];
    return at;
}

/* tile times items is at most 256, and a block of 1 is for one stage only. */
static bool legal(void *context, const int *p, size_t n)
{
    (void)context;
    if (n >= 2 && values[p[0]] * values[p[1]] > 256)
        return false;
    return n < 4 || values[p[3]] > 1 || values[p[2]] == 1;
}

/* 1 at (4, 16, 2, 64). */
static double cost_of(const struct artificial *x, const int *p)
{
    int d[N] = {p[0] - 2, p[1] - 4, p[2] - 1, p[3] - 6};
    double cost = 1;

    if (x->valley)
        return 1 + 0.3 * (d[0] + d[1]) * (d[0] + d[1]) + 0.02 * (d[0] - d[1]) * (d[0] - d[1]) +
               0.05 * d[2] * d[2] + 0.05 * d[3] * d[3];
    for (size_t i = 0; i < N; i++)
        cost += 0.1 * d[i] * d[i];
    return cost;
}

static bool price(void *context, size_t rung, const int *points, size_t n, double *costs)
{
    struct artificial *x = context;

    if (x->broken && x->n_priced > 20)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int *p = points + i * N;
        size_t at = place_of(p);
        x->n_again += x->seen[rung][at];
        x->seen[rung][at] = true;
        x->n_illegal += !legal(x, p, N);
        x->n_priced++;
        x->n_other += i >= x->n_begun || x->begun[i] != at;
        costs[i] = cost_of(x, p);
        if (rung == 0) /* the cheap rung is off by up to a tenth */
            costs[i] *= 1 + 0.1 * rng_unit_of(rng_hash(7, at));
        if (p[1] == 0)
            costs[i] = INFINITY; /* of no use */
    }
    x->n_other += n != x->n_begun;
    x->n_begun = 0;
    return true;
}

static void begin(void *context, size_t rung, const int *point)
{
    struct artificial *x = context;

    (void)rung;
    x->begun[x->n_begun++] = place_of(point);
}

static const double shares[] = {0.25, 1};

static double found(struct artificial *x, const struct tune_options *o, struct tune_result *r, struct arena *a)
{
    const struct tune_oracle oracle = {x, shares, ARRAY_LEN(shares), legal, price, begin};
    size_t at;

    tune_search(&space, &oracle, o, a, r);
    return tune_cheapest(r, 1, &at, 1) ? r->list.v[at].cost : INFINITY;
}

static void test_finds_the_best(void **state)
{
    (void)state;
    for (int valley = 0; valley < 2; valley++)
        for (int strategy = TUNE_LOCAL; strategy < N_TUNE_STRATEGIES; strategy++)
            for (uint64_t seed = 1; seed <= 5; seed++) {
                struct arena *a = arena_open();
                struct artificial x = {.valley = valley};
                struct tune_result r;
                assert_true(found(&x, &(struct tune_options){strategy, seed, 400, NULL}, &r, a) == 1);
                arena_close(a);
            }
}

static void test_keeps_budget_and_law(void **state)
{
    static const int start[N] = {0, 1, 0, 3};

    (void)state;
    for (int strategy = 0; strategy < N_TUNE_STRATEGIES; strategy++)
        for (int budget = 0; budget < 60; budget += 7) {
            struct arena *a = arena_open();
            struct artificial x = {0};
            struct tune_result r;
            double spent = 0;
            found(&x, &(struct tune_options){strategy, 3, budget, start}, &r, a);
            for (size_t i = 0; i < r.list.n; i++)
                spent += shares[r.list.v[i].rung];
            assert_true(spent <= budget + 1e-6);
            assert_true(budget == 0 || spent > budget - 1.5);
            assert_true(budget == 0 || memcmp(r.list.v[0].point, start, sizeof(start)) == 0);
            assert_int_equal(x.n_priced, r.list.n);
            assert_int_equal(x.n_illegal, 0);
            assert_int_equal(x.n_again, 0);
            assert_int_equal(x.n_other, 0);
            arena_close(a);
        }
}

static void test_same_seed_same_search(void **state)
{
    (void)state;
    for (int strategy = 0; strategy < N_TUNE_STRATEGIES; strategy++) {
        struct arena *a = arena_open();
        struct artificial x[3] = {{0}};
        struct tune_result r[3];
        bool same = true;
        for (int i = 0; i < 3; i++)
            found(&x[i], &(struct tune_options){strategy, i < 2 ? 5 : 6, 40, NULL}, &r[i], a);
        assert_int_equal(r[0].list.n, r[1].list.n);
        for (size_t i = 0; i < r[0].list.n; i++) {
            assert_memory_equal(r[0].list.v[i].point, r[1].list.v[i].point, N * sizeof(int));
            assert_int_equal(r[0].list.v[i].rung, r[1].list.v[i].rung);
            same = same && i < r[2].list.n &&
                   memcmp(r[0].list.v[i].point, r[2].list.v[i].point, N * sizeof(int)) == 0;
        }
        assert_false(same);
        arena_close(a);
    }
}

/* A space that holds less than the budget is priced whole and then ends. */
static void test_small_space(void **state)
{
    static const struct tune_parameter all[N] = {
        {"a", values, 3}, {"b", values, 2}, {"c", values, 1}, {"d", values + 1, 1}};

    (void)state;
    for (int strategy = 0; strategy < N_TUNE_STRATEGIES; strategy++) {
        struct arena *a = arena_open();
        struct tune_result r;
        struct artificial x = {0};
        const struct tune_oracle oracle = {&x, shares + 1, 1, legal, price};
        tune_search(&(struct tune_space){all, N}, &oracle, &(struct tune_options){strategy, 1, 100, NULL}, a,
                    &r);
        assert_int_equal(r.list.n, 6);
        assert_int_equal(x.n_again, 0);
        arena_close(a);
    }
}

static void test_ends_with_the_oracle(void **state)
{
    (void)state;
    for (int strategy = 0; strategy < N_TUNE_STRATEGIES; strategy++) {
        struct arena *a = arena_open();
        struct artificial x = {.broken = true};
        struct tune_result r;
        found(&x, &(struct tune_options){strategy, 2, 400, NULL}, &r, a);
        assert_true(r.list.n > 0 && r.list.n < 300);
        arena_close(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_best),        cmocka_unit_test(test_keeps_budget_and_law),
        cmocka_unit_test(test_same_seed_same_search), cmocka_unit_test(test_small_space),
        cmocka_unit_test(test_ends_with_the_oracle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
