/* The worker's end: reads a line, judges, writes a line, until its input ends. The world bounds it: what a
 * candidate makes of the compiler or the simulator happens in here, and the parent only ever sees a line or a
 * death. */
#include "protocol.h"

#include <malloc.h>
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
    limit(RLIMIT_FSIZE, 512u << 20); /* the compiler maps a temporary file for large headers */
    limit(RLIMIT_NOFILE, 256);       /* a driver alone opens 46 on a machine with one GPU */
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
    bool ending;
};

static bool put_line(struct worker_state *w, const json_t *reply)
{
    char *text = json_dumps(reply, JSON_COMPACT);
    bool sent = fprintf(w->out, "%s\n", text) > 0 && fflush(w->out) == 0;

    free(text);
    return sent;
}

static void tell_phase(void *context, bool waiting)
{
    struct worker_state *w = context;
    json_t *o = json_object();

    json_put_flag(o, "waiting", waiting);
    put_line(w, o); /* a parent that is gone shows at the answer */
    json_decref(o);
}

static void tell_doing(void *context, const char *what)
{
    struct worker_state *w = context;
    json_t *o = json_object();

    json_put_text(o, "doing", what);
    put_line(w, o);
    json_decref(o);
}

static bool read_cases(struct worker_state *w, const json_t *list, struct err *err)
{
    struct task_case *cases = arena_array(w->arena, struct task_case, json_array_size(list));
    size_t i;
    json_t *o;

    json_array_foreach(list, i, o) if (!task_case_from_json(w->task, o, w->arena, &cases[i], err)) return false;
    w->options.cases = cases;
    w->options.n_cases = json_array_size(list);
    return true;
}

static json_t *faults_to_json(const struct judge *j)
{
    const struct mutant *list;
    json_t *out = json_array();
    size_t n;

    judge_faults(j, &list, &n);
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_put_text(o, "op", list[i].op);
        json_put_int(o, "line", list[i].line);
        json_put_text(o, "what", list[i].what);
        json_put_text(o, "id", list[i].id);
        json_array_append_new(out, o);
    }
    return out;
}

static bool handle_open(struct worker_state *w, const json_t *o, json_t *reply, struct err *err)
{
    if (w->judge)
        return err_world(err, "worker: a second open");
    w->options = (struct trial_options){.device = arena_strdup(w->arena, json_text(o, "device", "")),
                                        .seed = strtoull(json_text(o, "seed", "0"), NULL, 10),
                                        .verify_only = json_flag(o, "verify_only", false),
                                        .measure_only = json_flag(o, "measure_only", false),
                                        .exact = json_flag(o, "exact", false),
                                        .with_nvcc = json_flag(o, "with_nvcc", false),
                                        .confirm = json_flag(o, "confirm", false),
                                        .beside = arena_strdup(w->arena, json_text(o, "beside", NULL)),
                                        .hidden = json_flag(o, "hidden", false),
                                        .no_control = json_flag(o, "no_control", false),
                                        .scratch = arena_strdup(w->arena, json_text(o, "scratch", "/nowhere")),
                                        .phase = tell_phase,
                                        .doing = tell_doing,
                                        .phase_context = w};
    w->candidate_s = json_num(o, "candidate_s");
    if (!(w->candidate_s > 0 && w->candidate_s < 1e9))
        return err_world(err, "worker: open without the seconds that a candidate has");
    limit_all(w->options.scratch);
    if (!task_open(&w->task, w->arena, json_text(o, "task", ""), err) ||
        !read_cases(w, json_object_get(o, "cases"), err) || !judge_open(&w->judge, w->task, &w->options, err))
        return false;
    json_put(reply, "original", trial_to_json(judge_original(w->judge)));
    json_put(reply, "faults", faults_to_json(w->judge));
    json_put(reply, "device", trial_device_to_json(judge_device(w->judge)));
    json_put_num(reply, "noise", judge_noise(w->judge));
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
    judge_set_noise(w->judge, json_num(o, "noise"));
    judge_set_known(w->judge, json_object_get(o, "known"));
    judge_set_mutant(w->judge, json_flag(o, "mutant", false), (int)json_int(o, "fault", -1));
    judge_set_timed(w->judge, json_flag(o, "timed", false));
    judge_set_precompiling(w->judge, !json_flag(o, "again", false));
    ok = judge_file(w->judge, a, json_text(o, "path", "kernel.cu"), json_text(o, "text", ""), &t, err);
    judge_set_known(w->judge, NULL);
    if (ok && t.known)
        json_put_text(reply, "same", t.code);
    else if (ok)
        json_put(reply, "trial", trial_to_json(&t));
    w->ending = judge_spoilt(w->judge);
    json_put_flag(reply, "ending", w->ending);
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
    bool sent = put_line(w, reply);
    json_decref(reply);
    json_decref(request);
    return sent && !w->ending;
}

int pool_worker_main(int argc, char **argv)
{
    struct worker_state w = {.arena = arena_open(), .out = fdopen(dup(STDOUT_FILENO), "w")};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    (void)argc;
    (void)argv;
    proc_take_name();
    /* Buffers of one case make room for the next one's; given back, each comes as fresh pages again. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is the parent's to act on */
    signal(SIGPIPE, SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    while (w.out && (n = getline(&line, &cap, stdin)) > 0 && answer(&w, line))
        ;
    if (w.ending)
        _exit(0); /* whatever is freed in a spoilt context may never return */
    free(line);
    if (w.out)
        fclose(w.out);
    judge_close(w.judge);
    arena_close(w.arena);
    return 0;
}
