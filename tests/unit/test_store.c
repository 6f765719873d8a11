#include "store/store.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;
static struct arena *arena;

static int setup(void **state)
{
    struct err err = {0};

    (void)state;
    arena = arena_open();
    folder = fs_temp_dir(arena, &err);
    return folder ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fs_remove_tree(folder);
    arena_close(arena);
    return 0;
}

static const struct store_run a_run = {0,    "0.1",     "t",  "/t", "h", "{}", "2026-01-01T00:00:00Z",
                                       NULL, "running", NULL, 0};

static struct store_candidate a_candidate(int id)
{
    return (struct store_candidate){.id = id,
                                    .parent = id - 1,
                                    .round = 1,
                                    .repairs = -1,
                                    .backend = "rules",
                                    .name = "n",
                                    .reason = "r",
                                    .plan = "p",
                                    .steps = "[]",
                                    .text = "int x;",
                                    .hash = "abc",
                                    .verdict = "passed",
                                    .words = "",
                                    .gain = NAN,
                                    .score = 1.5,
                                    .wall_s = 0.1,
                                    .trial = "{\"verdict\":\"passed\"}"};
}

static void test_roundtrip(void **state)
{
    struct store_candidate c = a_candidate(0);
    const struct store_candidate *list;
    const char *trial, *note;
    struct store_run run;
    struct store *s;
    struct err err = {0};
    size_t n;
    int id = -1;

    (void)state;
    assert_ok(store_open(&s, folder, true, &err), err);
    assert_ok(store_put_run(s, &a_run, &err), err);
    c.bound_by = "dram";
    c.diagnosis = "text";
    assert_ok(store_put_candidate(s, &c, &err), err);
    assert_ok(store_note(s, "k", "v", &err), err);
    store_close(s);

    assert_ok(store_open(&s, folder, false, &err), err);
    assert_ok(store_get_run(s, arena, &run, &err), err);
    assert_string_equal(run.status, "running");
    assert_null(run.result);
    assert_ok(store_candidates(s, arena, &list, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(list[0].parent, -1);
    assert_true(isnan(list[0].gain) && list[0].score == 1.5);
    assert_string_equal(list[0].bound_by, "dram");
    assert_ok(store_find_trial(s, arena, "abc", &id, &trial, &err), err);
    assert_int_equal(id, 0);
    assert_string_equal(trial, c.trial);
    assert_ok(store_find_trial(s, arena, "none", &id, &trial, &err), err);
    assert_null(trial);
    assert_ok(store_get_note(s, arena, "k", &note, &err), err);
    assert_string_equal(note, "v");
    store_close(s);
}

static void test_not_a_run(void **state)
{
    struct store *s;
    struct err err = {0};
    char *other = fs_join(arena, folder, "other");

    (void)state;
    assert_ok(fs_mkdirs(other, &err), err);
    assert_false(store_open(&s, other, false, &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_ok(
        fs_write_text(fs_join(arena, other, "run.db"), "this is certainly no database at all, is it?", &err),
        err);
    assert_false(store_open(&s, other, false, &err));
    assert_non_null(strstr(err.text, "not a readable run"));
}

/* Killed in the middle of writing: what was committed is there, nothing is half there. */
static void test_killed_writer(void **state)
{
    struct err err = {0};
    struct store *s;
    const struct store_candidate *list;
    size_t n;
    int ready[2];
    char byte;
    pid_t pid;
    char *other = fs_join(arena, folder, "killed");

    (void)state;
    assert_ok(fs_mkdirs(other, &err), err);
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (!store_open(&s, other, true, &err) || !store_put_run(s, &a_run, &err))
            _exit(1);
        for (int i = 0;; i++) {
            struct store_candidate c = a_candidate(i);
            if (!store_put_candidate(s, &c, &err))
                _exit(1);
            if (i == 20 && write(ready[1], "x", 1) != 1)
                _exit(1);
        }
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_ok(store_open(&s, other, false, &err), err);
    assert_ok(store_candidates(s, arena, &list, &n, &err), err);
    assert_true(n >= 21);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(list[i].id, i);
    store_close(s);
    close(ready[0]);
    close(ready[1]);
}

static struct store_call a_call(const char *label, const char *hash, bool failed)
{
    return (struct store_call){.label = label,
                               .role = "planner",
                               .provider = "openai",
                               .model = "m",
                               .hash = hash,
                               .request = "{}",
                               .reply = "{\"end\":\"done\"}",
                               .failed = failed,
                               .started = "2026-01-01T00:00:00Z",
                               .tokens_in = 10,
                               .tokens_cached = -1,
                               .tokens_reasoning = 3,
                               .tokens_out = 5,
                               .usd = NAN,
                               .wall_s = 1.5};
}

static void test_calls(void **state)
{
    const char *of = arena_printf(arena, "%s/calls", folder), *reply, *trial;
    struct store_call first = a_call("planner-1", "h1", true), second = a_call("planner-2", "h2", false),
                      third = a_call("planner-3", "h3", true);
    struct store_strategy x = {1, 1, 0, "coder-1-1", "n", "r", "p", 1.5, NAN, NULL, -1};
    const struct store_call *calls;
    const struct store_strategy *list;
    struct store *s;
    struct err err = {0};
    size_t n;
    int id;

    (void)state;
    assert_ok(fs_mkdirs(of, &err) && store_open(&s, of, true, &err), err);
    assert_ok(store_put_call(s, &first, &err) && store_put_call(s, &second, &err) &&
                  store_put_call(s, &third, &err),
              err);
    assert_ok(store_find_call(s, arena, "h2", &reply, &err), err);
    assert_string_equal(reply, second.reply);
    /* Only failures after the last reply are asked again. */
    assert_ok(store_forget_failures(s, &err) && store_find_call(s, arena, "h3", &reply, &err), err);
    assert_null(reply);
    assert_ok(store_calls(s, arena, &calls, &n, &err), err);
    assert_int_equal(n, 2);
    assert_string_equal(calls[0].label, "planner-1");
    assert_true(calls[0].failed && !calls[1].failed && isnan(calls[1].usd));
    assert_int_equal(calls[1].tokens_cached, -1);
    assert_int_equal(calls[1].tokens_reasoning, 3);

    assert_ok(store_put_strategy(s, &x, &err), err);
    x.outcome = "passed";
    x.candidate = 4;
    assert_ok(store_put_strategy(s, &x, &err) && store_strategies(s, arena, &list, &n, &err), err);
    assert_int_equal(n, 1);
    assert_string_equal(list[0].outcome, "passed");
    assert_int_equal(list[0].candidate, 4);
    assert_true(isnan(list[0].confidence));

    assert_ok(store_put_trial(s, "t1", "{}", &err) && store_find_trial(s, arena, "t1", &id, &trial, &err), err);
    assert_string_equal(trial, "{}");
    assert_int_equal(id, -1);
    store_close(s);
}

static struct memory_row a_memory(const char *kernel, const char *candidate, double gain)
{
    return (struct memory_row){.kernel = kernel,
                               .device = "a GPU",
                               .basis = "modelled",
                               .version = "v",
                               .features = "{\"block\":7.0,\"forms\":\"tile\"}",
                               .candidate = candidate,
                               .steps = "[[\"tile\",16]]",
                               .verdict = "passed",
                               .gain = gain,
                               .noted = "2026-01-02T00:00:00Z"};
}

static void test_memory(void **state)
{
    const char *path = fs_join(arena, folder, "below/memory.db");
    struct memory_row rows[] = {a_memory("k1", "a", 2), a_memory("k1", "b", NAN), a_memory("k2", "a", 1)};
    const struct memory_row *list, *back;
    struct store *s, *other;
    struct err err = {0};
    size_t n, m;
    json_t *o;

    (void)state;
    assert_ok(memory_open(&s, path, false, &err), err);
    assert_null(s); /* there is none, and none is made */
    assert_false(fs_exists(path));
    assert_ok(memory_open(&s, path, true, &err) && memory_put(s, rows, 3, &err), err);
    rows[0].gain = 3; /* tried again: the newest counts, and stands once */
    assert_ok(memory_open(&other, path, true, &err) && memory_put(other, rows, 1, &err), err);
    store_close(other);
    assert_ok(memory_rows(s, arena, 100, &list, &n, &err), err);
    assert_int_equal(n, 3);
    assert_true(list[2].gain == 3 && isnan(list[0].gain));
    assert_ok(memory_rows(s, arena, 1, &back, &m, &err), err);
    assert_true(m == 1 && str_eq(back[0].candidate, "a") && back[0].gain == 3);

    o = memory_to_json(list, n);
    assert_ok(memory_from_json(o, arena, &back, &m, &err), err);
    json_decref(o);
    assert_int_equal(m, 3);
    assert_string_equal(back[2].features, list[2].features);
    assert_string_equal(back[2].steps, list[2].steps);
    assert_true(isnan(back[0].gain) && back[2].gain == 3);

    assert_ok(memory_forget(s, &(struct memory_choice){.kernel = "k1", .before = "2026-01-01"}, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(memory_forget(s, &(struct memory_choice){.kernel = "k1", .device = "a GPU"}, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(memory_forget(s, &(struct memory_choice){.device = "x' OR 'y' = 'y"}, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(memory_forget(s, &(struct memory_choice){0}, &n, &err), err);
    assert_int_equal(n, 1);
    store_close(s);
    assert_ok(fs_write_text(path, "no database", &err), err);
    assert_false(memory_open(&s, path, true, &err));
    assert_true(err.kind == ERR_WORLD && strstr(err.text, "memory") && !s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_roundtrip),
        cmocka_unit_test(test_not_a_run), cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_calls),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
