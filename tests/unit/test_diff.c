#include "test.h"

#include "base/base.h"

static void test_diff(void **state)
{
    static const struct {
        const char *old, *new, *diff;
    } cases[] = {
        {"one\ntwo\n", "one\ntwo\n", ""},
        {"", "", ""},
        {"one\ntwo\n", "one\n2\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
        {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
        {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
        {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
        {"x\na", "y\na", "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n"},
        {"a\r\nb\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"},
        /* six lines between two changes: one hunk; seven: two */
        {"a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
         "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
        {"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
         "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
    };
    struct arena *a = arena_open();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *diff = diff_unified(a, "a/k.cu", cases[i].old, "b/k.cu", cases[i].new);
        if (*cases[i].diff) {
            assert_true(str_starts(diff, "--- a/k.cu\n+++ b/k.cu\n"));
            diff += strlen("--- a/k.cu\n+++ b/k.cu\n");
        }
        assert_string_equal(diff, cases[i].diff);
    }
    arena_close(a);
}

/* Few different lines, so that many of two texts are alike; some texts have no end of their last line. */
static const char *any_text(struct arena *a, struct rng *r)
{
    size_t n = (size_t)rng_below(r, 40);
    struct str s = {0};
    const char *text;

    for (size_t i = 0; i < n; i++)
        str_addf(&s, "%c%s", (char)('a' + rng_below(r, 5)), i + 1 < n || rng_below(r, 2) ? "\n" : "");
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

/* A text and one that was made of it by some changes. */
static void any_texts(struct arena *a, struct rng *r, const char **old, const char **new)
{
    const struct diff_line *lines;
    struct str s = {0};
    size_t n;

    *old = any_text(a, r);
    n = diff_lines(a, *old, &lines);
    for (size_t i = 0; i < n; i++) {
        bool changed = rng_below(r, 8) == 0;
        str_addn(&s, lines[i].text, changed ? 0 : lines[i].len);
        if (changed)
            str_add(&s, any_text(a, r));
        else if (i + 1 < n || rng_below(r, 2))
            str_addc(&s, '\n');
    }
    *new = rng_below(r, 8) ? arena_strdup(a, str_text(&s)) : any_text(a, r);
    str_free(&s);
}

static void test_leads(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct arena *a = arena_open();
        const char *old, *new;
        any_texts(a, &r, &old, &new);
        char *diff = diff_unified(a, "a/k", old, "b/k", new);
        assert_int_equal(*diff == 0, str_eq(old, new));
        assert_true(diff_leads(diff, "a/k", old, "b/k", new));
        if (*diff) {
            assert_false(diff_leads(diff, "a/k", old, "b/K", new));
            assert_false(diff_leads(diff, "a/k", old, "b/k", old));
            assert_false(diff_leads(diff, "a/k", new, "b/k", new));
            assert_false(diff_leads("", "a/k", old, "b/k", new));
            diff[strlen(diff) - 1] = 0; /* cut within its last line */
            assert_false(diff_leads(diff, "a/k", old, "b/k", new));
        }
        arena_close(a);
    }
    assert_false(diff_leads("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "a", "z\n", "b", "y\n"));
    assert_false(diff_leads("--- a\n+++ b\n@@ -2 +2 @@\n-x\n+y\n", "a", "x\n", "b", "y\n"));
    assert_false(diff_leads("--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+y\n", "a", "x\n", "b", "y\n"));
    assert_false(diff_leads("--- a\n+++ b\n@@ -99999999999999999999 +1 @@\n", "a", "x\n", "b", "y\n"));
    assert_false(diff_leads("nonsense", "a", "x\n", "b", "x\n"));
}

/* Others that read such differences come to the same text. */
static void check_applies(struct arena *a, const char *dir, const char *const *argv, const char *old,
                          const char *new)
{
    const char *path = fs_join(a, dir, "k");
    struct proc_limits limits = {.wall_s = 60};
    struct proc_result done = {0};
    struct err err = {0};
    char *text;

    assert_ok(fs_write_text(path, old, &err), err);
    assert_ok(proc_run(argv, arena_printf(a, "diff --git a/k b/k\n%s", diff_unified(a, "a/k", old, "b/k", new)),
                       &limits, &done, &err),
              err);
    if (done.end != PROC_EXITED || done.status != 0)
        fail_msg("%s: %s%s", argv[0], str_text(&done.out), str_text(&done.err));
    assert_ok(fs_read(a, path, &text, NULL, &err), err);
    assert_string_equal(text, new);
    proc_result_free(&done);
}

static bool is_there(const char *program)
{
    const char *argv[] = {program, "--version", NULL};
    struct proc_limits limits = {.wall_s = 60};
    struct proc_result done = {0};
    bool ok = proc_run(argv, NULL, &limits, &done, NULL) && done.end == PROC_EXITED && done.status == 0;

    proc_result_free(&done);
    return ok;
}

static void test_others(void **state)
{
    struct err err = {0};
    struct arena *a = arena_open();
    const char *dir = fs_temp_dir(a, &err), *old, *new;
    const char *patch[] = {"patch", "-s", "-p1", "-d", dir, NULL}, *git[] = {"git", "-C", dir, "apply", NULL};
    bool has_patch = is_there("patch"), has_git = is_there("git");
    struct rng r = {2};

    (void)state;
    assert_non_null(dir);
    for (int i = 0; i < 40 && (has_patch || has_git); i++) {
        any_texts(a, &r, &old, &new);
        if (str_eq(old, new))
            continue;
        if (has_patch && *new) /* of an empty text it takes the file away */
            check_applies(a, dir, patch, old, new);
        if (has_git)
            check_applies(a, dir, git, old, new);
    }
    fs_remove_tree(dir);
    arena_close(a);
    if (!has_patch && !has_git)
        skip();
}

/* Lines by one character; where line i of x is in y as a digit, '.' where it is gone. */
static void check_match(struct arena *a, const char *x, const char *y, const char *expected)
{
    const struct diff_line *left, *right;
    size_t n = diff_lines(a, x, &left), m = diff_lines(a, y, &right);
    int *match = diff_match(a, left, n, right, m);
    char got[64] = "";

    for (size_t i = 0; i < n; i++)
        got[i] = match[i] < 0 ? '.' : (char)('0' + match[i]);
    assert_string_equal(got, expected);
}

static void test_lines(void **state)
{
    struct arena *a = arena_open();
    const struct diff_line *lines;
    struct str big = {0};
    size_t n;

    (void)state;
    assert_int_equal(diff_lines(a, "", &lines), 0);
    assert_int_equal(diff_lines(a, "\n\n", &lines), 2);
    n = diff_lines(a, "one\r\n\ntwo", &lines);
    assert_int_equal(n, 3);
    assert_int_equal(lines[0].len, 3);
    assert_int_equal(lines[1].len, 0);
    assert_memory_equal(lines[2].text, "two", 3);

    check_match(a, "a\nb\nc\n", "a\nb\nc\n", "012");
    check_match(a, "a\nb\nc\n", "", "...");
    check_match(a, "", "a\n", "");
    check_match(a, "a\nb\nc\n", "a\nx\nc\n", "0.2");
    check_match(a, "b\nc\n", "a\nb\nc\nd\n", "12");
    check_match(a, "a\na\na\n", "a\n", "0..");
    /* one line that says something is kept rather than two braces */
    check_match(a, "{\nint x = 1;\n}\n}\n", "}\n}\nint x = 1;\n", ".2..");

    for (int i = 0; i < 6000; i++)
        str_addf(&big, "%d\n", i);
    n = diff_lines(a, str_text(&big), &lines);
    int *match = diff_match(a, lines, n, lines + 1, n - 1); /* larger than is looked at */
    assert_int_equal(match[0], -1);
    assert_int_equal(match[n - 1], (int)n - 2);
    str_free(&big);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_leads),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
