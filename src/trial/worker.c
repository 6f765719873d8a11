/* The worker's end: reads a line, judges, writes a line, until its input ends. The world bounds it: what a
 * candidate makes of the compiler or the simulator happens in here, and the parent only ever sees a line or a
 * death. */
#include "pool.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

json_t *pool_error_to_json(const struct err *err)
{
    json_t *o = json_object();

    json_put_int(o, "kind", err->kind);
    json_put_text(o, "file", err->file);
    json_put_int(o, "line", err->line);
    json_put_int(o, "col", err->col);
    json_put_text(o, "text", err->text);
    return o;
}

static void limit(int what, rlim_t value)
{
    struct rlimit r;

    if (getrlimit(what, &r) != 0)
        return;
    if (r.rlim_max == RLIM_INFINITY || value < r.rlim_max)
        r.rlim_max = value;
    r.rlim_cur = MIN(value, r.rlim_max);
    setrlimit(what, &r);
}

/* Soft, so that it can be moved on for the next candidate. */
static void limit_cpu(double seconds)
{
    struct rusage u;
    struct rlimit r;

    if (getrusage(RUSAGE_SELF, &u) != 0 || getrlimit(RLIMIT_CPU, &r) != 0)
        return;
    r.rlim_cur = (rlim_t)((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + seconds + 2);
    if (r.rlim_max != RLIM_INFINITY)
        r.rlim_cur = MIN(r.rlim_cur, r.rlim_max);
    setrlimit(RLIMIT_CPU, &r);
}

static void limit_all(const char *scratch)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 64u << 20);
    limit(RLIMIT_NOFILE, 64);
    if (scratch && *scratch && chdir(scratch) == 0)
        setenv("TMPDIR", scratch, 1);
}

struct worker_state {
    struct arena *arena;
    FILE *out; /* the parent's end; what libraries print to stdout goes to stderr instead */
    struct task *task;
    struct judge *judge;
    struct trial_options options;
    double candidate_s;
};

static bool handle_open(struct worker_state *w, const json_t *o, json_t *reply, struct err *err)
{
    if (w->judge)
        return err_world(err, "worker: a second open");
    w->options = (struct trial_options){.device = arena_strdup(w->arena, json_text(o, "device", "")),
                                        .seed = strtoull(json_text(o, "seed", "0"), NULL, 10),
                                        .verify_only = json_flag(o, "verify_only", false),
                                        .measure_only = json_flag(o, "measure_only", false),
                                        .with_nvcc = json_flag(o, "with_nvcc", false)};
    w->candidate_s = json_num(o, "candidate_s");
    limit_all(json_text(o, "scratch", NULL));
    if (!task_open(&w->task, w->arena, json_text(o, "task", ""), err) ||
        !judge_open(&w->judge, w->task, &w->options, err))
        return false;
    json_put(reply, "original", trial_to_json(judge_original(w->judge)));
    return true;
}

static bool handle_judge(struct worker_state *w, const json_t *o, json_t *reply, struct err *err)
{
    struct arena *a;
    struct trial t;
    bool ok;

    if (!w->judge)
        return err_world(err, "worker: judge before open");
    a = arena_open();
    limit_cpu(w->candidate_s);
    ok = judge_file(w->judge, a, json_text(o, "path", "kernel.cu"), json_text(o, "text", ""), &t, err);
    if (ok)
        json_put(reply, "trial", trial_to_json(&t));
    arena_close(a);
    return ok;
}

static bool answer(struct worker_state *w, const char *line)
{
    struct err err = {0};
    json_t *reply = json_object(), *request = json_parse(line, strlen(line), "request", &err), *o;
    bool ok = false;

    if (request && (o = json_object_get(request, "open")))
        ok = handle_open(w, o, reply, &err);
    else if (request && (o = json_object_get(request, "judge")))
        ok = handle_judge(w, o, reply, &err);
    else if (request)
        err_world(&err, "worker: neither open nor judge");
    if (!ok)
        json_put(reply, "error", pool_error_to_json(&err));
    char *text = json_dumps(reply, JSON_COMPACT);
    bool sent = fprintf(w->out, "%s\n", text) > 0 && fflush(w->out) == 0;
    free(text);
    json_decref(reply);
    json_decref(request);
    return sent;
}

int pool_worker_main(int argc, char **argv)
{
    struct worker_state w = {.arena = arena_open(), .out = fdopen(dup(STDOUT_FILENO), "w")};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    (void)argc;
    (void)argv;
    signal(SIGINT, SIG_IGN); /* Ctrl-C is the parent's to act on */
    signal(SIGPIPE, SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    while (w.out && (n = getline(&line, &cap, stdin)) > 0 && answer(&w, line))
        ;
    free(line);
    if (w.out)
        fclose(w.out);
    judge_close(w.judge);
    arena_close(w.arena);
    return 0;
}
