/* Runs: processes that outlive the call which began them. A run's folder lies where no tool's path leads, so
 * that what it says stays as it was judged. */
#include "internal.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { DEFAULT_WAIT_S = 30 };

static int64_t bytes;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path;
    (void)type;
    (void)at;
    bytes += st->st_blocks * 512;
    return 0;
}

static int64_t tree_mb(const char *path)
{
    bytes = 0;
    nftw(path, add_bytes, 16, FTW_PHYS);
    return bytes >> 20;
}

void mcp_run_free(struct run *r)
{
    child_free(&r->child);
    for (size_t i = 0; i < r->n_recent; i++)
        free((char *)(uintptr_t)r->recent[i]);
    json_decref(r->best);
    arena_close(r->arena);
}

void mcp_run_stop(struct run *r)
{
    if (r->live && r->child.pid > 0)
        kill(r->child.pid, r->stopping ? SIGKILL : SIGINT); /* what is stored is whole at every moment */
    r->stopping = true;
}

/* ---- what a run tells ---- */

static void remember(struct run *r, const char *words)
{
    if (r->n_recent == ARRAY_LEN(r->recent)) {
        free((char *)(uintptr_t)r->recent[0]);
        memmove(r->recent, r->recent + 1, sizeof(r->recent) - sizeof(r->recent[0]));
        r->n_recent--;
    }
    r->recent[r->n_recent++] = mem_strdup(words);
}

static void take_event(struct run *r, const json_t *event)
{
    const char *name = json_text(event, "event", "");
    enum verdict v;

    if (str_eq(name, "round")) {
        r->round = json_int(event, "round", 0);
        r->of = json_int(event, "of", 0);
    } else if (str_eq(name, "trial") && json_int(event, "id", 0) > 0) {
        r->candidates++;
        r->correct += verdict_parse(json_text(event, "verdict", ""), &v) && verdict_correct(v);
    } else if (str_eq(name, "best")) {
        json_decref(r->best);
        r->best = json_deep_copy(event);
    }
}

static void tell_waiting(struct server *s, const struct run *r, const char *words)
{
    for (size_t i = 0; i < s->calls.n; i++)
        if (s->calls.v[i]->run == r)
            call_tell(s, s->calls.v[i], words);
}

void mcp_run_step(struct server *s, struct run *r)
{
    struct arena *a;
    json_t *event;

    if (!r->live)
        return;
    a = arena_open();
    child_read(&r->child);
    r->live = !child_ended(&r->child, &r->status);
    while ((event = child_event(&r->child))) {
        const char *words = event_words(a, event);
        take_event(r, event);
        if (words) {
            remember(r, words);
            tell_waiting(s, r, words);
        }
        json_decref(event);
    }
    arena_close(a);
    if (!r->live) {
        r->ended_s = time_s();
    } else if (time_s() - r->looked_s > 5) {
        r->looked_s = time_s();
        if (!r->stopping && tree_mb(r->folder) > MAX_RUN_MB) {
            r->too_big = true;
            mcp_run_stop(r);
        }
    }
}

/* ---- the state of a run ---- */

static json_t *read_result(const struct run *r, struct arena *a)
{
    char *text;
    size_t len;

    return fs_read(a, fs_join(a, r->folder, "result.json"), &text, &len, NULL)
               ? json_parse(text, len, "result.json", NULL)
               : NULL;
}

static const char *state_of(const struct run *r, struct arena *a)
{
    json_t *result;
    const char *state = "interrupted";

    if (r->live)
        return r->stopping ? "stopping" : "running";
    result = read_result(r, a);
    if (result)
        state = arena_strdup(a, json_text(result, "status", state));
    else if (r->child.said.len && !r->stopping)
        state = "failed";
    json_decref(result);
    return str_in(state, "done|budget|interrupted|failed") ? state : "failed";
}

static const char *next_of(const struct run *r, const char *state)
{
    if (r->live)
        return "call optimize_wait again until the state is no longer running.";
    if (str_in(state, "done|budget"))
        return "call optimize_result.";
    if (r->too_big)
        return "its folder grew too large and it was stopped; begin one with fewer rounds.";
    if (str_eq(state, "interrupted"))
        return "optimize_start with `resume` goes on with it; optimize_result has the best so far, if there is one.";
    return "read what it said, mend the task, and begin again.";
}

static json_t *best_of(const struct run *r)
{
    static const char *const keys[] = {"id", "name", "score", "low", "high", "basis"};
    json_t *o = r->best ? json_object() : json_null();

    for (size_t i = 0; r->best && i < ARRAY_LEN(keys); i++) {
        json_t *v = json_object_get(r->best, keys[i]);
        json_put(o, keys[i], v ? json_incref(v) : json_null());
    }
    return o;
}

static void answer_state(struct server *s, struct call *c, const struct run *r)
{
    const char *state = state_of(r, c->arena);
    const char *said = r->live ? "" : child_said(&r->child, c->arena, fs_join(c->arena, r->folder, "in"));
    double end_s = r->live ? time_s() : r->ended_s;
    json_t *o = json_object();

    json_put_text(o, "run", r->name);
    json_put_text(o, "state", state);
    json_put_int(o, "round", r->round);
    json_put_int(o, "of", r->of);
    json_put_int(o, "candidates", r->candidates);
    json_put_int(o, "correct", r->correct);
    json_put(o, "best", best_of(r));
    json_put_num(o, "seconds", r->child.started_s > 0 ? end_s - r->child.started_s : NAN);
    json_put(o, "recent", json_texts(r->recent, r->n_recent));
    json_put_text(o, "said", said);
    json_put_text(o, "next", next_of(r, state));
    str_addf(&c->text, "run %s: %s, round %lld of %lld, %lld candidates, %lld of them correct\n", r->name,
             state, (long long)r->round, (long long)r->of, (long long)r->candidates, (long long)r->correct);
    if (r->best)
        str_addf(&c->text, "best so far: %.3gx (%s)\n", json_num(r->best, "score"),
                 json_text(r->best, "basis", "?"));
    str_addf(&c->text, "%sNext: %s\n", said, next_of(r, state));
    call_answer(s, c, o);
}

/* A run of this server, or one that an earlier one left. NULL: answered that there is none. */
static struct run *find(struct server *s, struct call *c, const char *name)
{
    struct run *r;
    struct arena *a;

    for (size_t i = 0; i < s->running.n; i++)
        if (str_eq(s->running.v[i]->name, name))
            return s->running.v[i];
    if (!fs_exists(fs_join(c->arena, fs_join(c->arena, s->runs, name), "run.db"))) {
        call_fail(s, c, "there is no run %s; optimize_start begins one and gives its id", name);
        return NULL;
    }
    a = arena_open();
    r = arena_new(a, struct run);
    *r = (struct run){.arena = a, .name = arena_strdup(a, name), .folder = fs_join(a, s->runs, name)};
    r->child.out = r->child.err = -1;
    vec_push(&s->running, r);
    return r;
}

/* ---- the tools ---- */

static size_t live_runs(const struct server *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->running.n; i++)
        n += s->running.v[i]->live;
    return n;
}

/* A new folder: the task's name and the next number. */
static bool make_folder(struct server *s, struct arena *a, const char *task, struct run *r, struct err *err)
{
    const char *base = fs_basename(task);
    char *name = arena_strdup(a, str_in_word(base[0]) ? base : "task");

    name[strnlen(name, 40)] = 0;
    for (char *p = name; *p; p++)
        if (!str_in_word(*p) && *p != '-')
            *p = '_';
    for (int i = 1; i < 1000000; i++) {
        r->name = arena_printf(r->arena, "%s-%d", name, i);
        r->folder = fs_join(r->arena, s->runs, r->name);
        if (mkdir(r->folder, 0700) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return err_world(err, "cannot make the folder %s: %s", r->folder, strerror(errno));
}

static bool begin_new(struct server *s, struct call *c, struct run *r, word_list *argv, struct err *err)
{
    const char *task = json_text(c->arguments, "task", ""), *in, *at;
    const json_t *also = json_object_get(c->arguments, "also");

    if (!make_folder(s, c->arena, task, r, err))
        return false;
    in = fs_join(r->arena, r->folder, "in"); /* `resume` reads the task there, too */
    tool_words(c, "optimize", argv);
    for (size_t i = 0; i < json_array_size(also); i++) {
        if (!copy_file(&s->roots, c->arena, json_string_value(json_array_get(also, i)), in, &at, err))
            return false;
        vec_add(c->arena, argv, "--also");
        vec_add(c->arena, argv, at);
    }
    if (!copy_task(&s->roots, c->arena, task, in, &at, err))
        return false;
    vec_add(c->arena, argv, "--out");
    vec_add(c->arena, argv, r->folder);
    vec_add(c->arena, argv, "--");
    vec_add(c->arena, argv, at);
    return true;
}

static bool start(struct run *r, struct arena *a, word_list *argv, struct err *err)
{
    vec_add(a, argv, NULL);
    str_free(&r->child.said);
    if (!child_start(&r->child, fs_join(a, r->folder, "in"), argv->v, err))
        return false;
    r->live = true;
    r->stopping = r->too_big = false;
    r->looked_s = time_s();
    return true;
}

void mcp_run_begin(struct server *s, struct call *c)
{
    const char *resume = json_text(c->arguments, "resume", NULL);
    struct arena *a;
    struct run *r;
    struct err err = {0};
    word_list argv = {0};
    bool ok;

    if (!resume == !json_text(c->arguments, "task", NULL)) {
        call_fail(s, c, "give either `task`, to begin, or `resume`, to go on");
        return;
    }
    if (resume && json_object_size(c->arguments) > 1U + (json_object_get(c->arguments, "seconds") != NULL)) {
        call_fail(s, c, "a run that goes on keeps its options; with `resume` give at most `seconds`");
        return;
    }
    if (live_runs(s) >= MAX_RUNS) {
        call_fail(s, c, "%d runs are under way, and there may be no more; wait for one, or cancel it",
                  MAX_RUNS);
        return;
    }
    if (tree_mb(s->runs) > MAX_RUNS_MB) {
        call_fail(s, c, "the runs in %s take more than %d MB; ask whoever set this up to remove some", s->runs,
                  MAX_RUNS_MB);
        return;
    }
    if (resume) {
        r = find(s, c, resume);
        if (!r)
            return;
        if (r->live) {
            call_fail(s, c, "run %s is under way already", resume);
            return;
        }
        tool_words(c, "resume", &argv);
        vec_add(c->arena, &argv, "--");
        vec_add(c->arena, &argv, r->folder);
        ok = start(r, c->arena, &argv, &err);
    } else {
        a = arena_open();
        r = arena_new(a, struct run);
        r->arena = a;
        ok = begin_new(s, c, r, &argv, &err) && start(r, c->arena, &argv, &err);
        if (ok) {
            vec_push(&s->running, r);
        } else {
            if (r->folder)
                fs_remove_tree(r->folder);
            mcp_run_free(r);
        }
    }
    if (ok)
        answer_state(s, c, r);
    else
        call_fail(s, c, "%s", err.text);
}

void mcp_run_wait(struct server *s, struct call *c)
{
    struct run *r = c->run ? c->run : find(s, c, json_text(c->arguments, "run", ""));
    const json_t *seconds = json_object_get(c->arguments, "seconds");

    if (!r)
        return;
    if (!c->run)
        c->until_s = time_s() + (seconds ? json_number_value(seconds) : DEFAULT_WAIT_S);
    c->run = r;
    if (!r->live || time_s() >= c->until_s)
        answer_state(s, c, r);
}

void mcp_run_status(struct server *s, struct call *c)
{
    struct run *r = find(s, c, json_text(c->arguments, "run", ""));

    if (r)
        answer_state(s, c, r);
}

void mcp_run_cancel(struct server *s, struct call *c)
{
    struct run *r = find(s, c, json_text(c->arguments, "run", ""));

    if (!r)
        return;
    mcp_run_stop(r);
    answer_state(s, c, r);
}

void mcp_run_result(struct server *s, struct call *c)
{
    struct run *r = find(s, c, json_text(c->arguments, "run", ""));
    char *source = NULL, *diff = NULL;
    json_t *result;

    if (!r)
        return;
    result = r->live ? NULL : read_result(r, c->arena);
    if (r->live)
        call_fail(s, c, "run %s is still under way; optimize_wait says when it has ended", r->name);
    else if (!result || !fs_read(c->arena, fs_join(c->arena, r->folder, "best.cu"), &source, NULL, NULL) ||
             !fs_read(c->arena, fs_join(c->arena, r->folder, "best.diff"), &diff, NULL, NULL))
        call_fail(s, c,
                  "run %s has no result: it was stopped before the original was judged, or it failed; "
                  "optimize_status says what it said",
                  r->name);
    else
        call_answer(s, c, answer_result(c, r, result, source, diff));
    json_decref(result);
}
