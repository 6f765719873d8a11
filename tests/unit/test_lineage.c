#include "test.h"

#include "report/lineage.h"

/* Candidates: letters are the moves that made one from its parent; "M" alone is a model's file. */
static const struct {
    int parent;
    const char *moves;
    double score;
    const char *verdict;
    bool in_lineage;
} rows[] = {
    {-1, "", 1, "passed", true},    /* 0 */
    {0, "abc", 6, "passed", false}, /* 1: a stack */
    {0, "bc", 4, "passed", false},  /* 2: without a */
    {0, "ac", 3, "slower", false},  /* 3: without b */
    {0, "ab", NAN, "wrong", false}, /* 4: without c, which says nothing */
    {0, "ab", 6, "passed", true},   /* 5: pruned */
    {5, "M", 9, "passed", true},    /* 6 */
    {6, "a", 9.9, "passed", true},  /* 7 */
    {6, "b", 99, "passed", false},  /* 8: on a model's file, like nothing before */
};

struct fixture {
    struct arena *a;
    struct view view;
    struct view_candidate list[ARRAY_LEN(rows)];
};

static void fixture_open(struct fixture *f, bool kept)
{
    *f = (struct fixture){.a = arena_open()};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct view_candidate *c = &f->list[i];
        size_t n = str_eq(rows[i].moves, "M") ? 0 : strlen(rows[i].moves);
        struct view_step *steps = arena_array(f->a, struct view_step, n + 1);
        for (size_t k = 0; k < n; k++)
            steps[k] = (struct view_step){.transform = arena_printf(f->a, "%c", rows[i].moves[k]),
                                          .setting = 16,
                                          .why = "it helps",
                                          .text = kept ? arena_printf(f->a, "%zu after %zu\n", i, k) : NULL};
        c->row =
            (struct store_candidate){.id = (int)i,
                                     .parent = rows[i].parent,
                                     .backend = n ? "rules" : "llm",
                                     .name = "a model's idea",
                                     .reason = "because",
                                     .text = n && kept ? steps[n - 1].text : arena_printf(f->a, "%zu\n", i),
                                     .verdict = rows[i].verdict,
                                     .score = rows[i].score};
        c->row.gain = rows[i].parent < 0 ? NAN : rows[i].score / rows[rows[i].parent].score;
        c->steps = steps;
        c->n_steps = n;
        c->in_lineage = rows[i].in_lineage;
    }
    f->view.candidates = f->list;
    f->view.n_candidates = ARRAY_LEN(rows);
    f->view.best = &f->list[7];
}

static void check_step(const struct lineage_step *s, int candidate, const char *name, double gain, int with,
                       int without)
{
    assert_int_equal(s->candidate, candidate);
    assert_string_equal(s->name, name);
    if (isfinite(gain))
        assert_float_equal(s->gain, gain, 1e-9);
    else
        assert_true(isnan(s->gain));
    assert_int_equal(s->with, with);
    assert_int_equal(s->without, without);
}

static void test_steps(void **state)
{
    struct fixture f;
    const struct lineage_step *s;

    (void)state;
    fixture_open(&f, true);
    assert_int_equal(lineage_steps(&f.view, f.a, &s), 4);
    check_step(&s[0], 5, "a 16", 6.0 / 4, 1, 2);
    check_step(&s[1], 5, "b 16", 6.0 / 3, 1, 3);
    check_step(&s[2], 6, "a model's idea", 9.0 / 6, 6, 5);
    check_step(&s[3], 7, "a 16", 9.9 / 9, 7, 6);
    assert_string_equal(s[0].text, "5 after 0\n");
    assert_string_equal(s[1].text, f.list[5].row.text);
    assert_string_equal(s[0].why, "it helps");
    assert_string_equal(s[2].why, "because");
    assert_string_equal(s[3].text, f.list[7].row.text);
    arena_close(f.a);
}

/* A run of an older version, or one that was stopped: a candidate's steps all at once. */
static void test_nothing_kept(void **state)
{
    struct fixture f;
    const struct lineage_step *s;

    (void)state;
    fixture_open(&f, false);
    assert_int_equal(lineage_steps(&f.view, f.a, &s), 3);
    check_step(&s[0], 5, "a 16 + b 16", 6, 5, 0);
    assert_string_equal(s[0].text, f.list[5].row.text);
    arena_close(f.a);
}

/* What was kept is not what the candidate is: it is not shown as if it were. */
static void test_other_text(void **state)
{
    struct fixture f;
    const struct lineage_step *s;

    (void)state;
    fixture_open(&f, true);
    f.list[5].row.text = "another\n";
    assert_int_equal(lineage_steps(&f.view, f.a, &s), 3);
    assert_string_equal(s[0].text, "another\n");
    arena_close(f.a);
}

static void test_pairs(void **state)
{
    struct fixture f;
    const struct lineage_step *s;

    (void)state;
    fixture_open(&f, true);
    f.list[3].row.verdict = "wrong"; /* its speed says nothing then */
    assert_int_equal(lineage_steps(&f.view, f.a, &s), 4);
    check_step(&s[1], 5, "b 16", NAN, -1, -1);
    ((struct view_step *)f.list[2].steps)[0].setting = 8; /* another b: 1 and 2 differ by more than a */
    lineage_steps(&f.view, f.a, &s);
    check_step(&s[0], 5, "a 16", NAN, -1, -1);
    arena_close(f.a);
}

static void test_original_stays(void **state)
{
    struct fixture f;
    const struct lineage_step *s;

    (void)state;
    fixture_open(&f, true);
    for (size_t i = 1; i < ARRAY_LEN(rows); i++)
        f.list[i].in_lineage = false;
    assert_int_equal(lineage_steps(&f.view, f.a, &s), 0);
    f.view.n_candidates = 0;
    assert_int_equal(lineage_steps(&f.view, f.a, &s), 0);
    arena_close(f.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_nothing_kept),
                                       cmocka_unit_test(test_other_text), cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_original_stays)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
