/* The parent's end: a few workers, a queue of candidates, and for each worker a clock and an eye on its memory.
 */
#include "protocol.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum worker_phase { WORKER_OFF, WORKER_OPENING, WORKER_READY, WORKER_JUDGING };
enum { MAX_GPUS = 64, MAX_WORKERS = 64 };

struct job {
    int id;
    char *path, *text;
    bool mutant; /* to be verified on the simulator only; nobody is told when it begins */
    bool timed;  /* to be timed on the simulator only */
    int fault;   /* put into its PTX; -1: none */
    int deaths;  /* of workers that judged it, or of their contexts */
};

struct done {
    int id;
    json_t *trial;
};

struct worker {
    struct proc proc;
    enum worker_phase phase;
    struct job job;
    double since_s, since_cpu_s; /* of its request: by the clock, and of the worker's processor time */
    double doing_s, compile_s;   /* since when it does what it does; by the clock, what has been compiled */
    char doing[256];             /* as it says; "" before it has said anything */
    bool waiting;                /* for its turn on the GPU: no time counts */
    bool control;                /* it times the original against itself, for all */
    int deaths;                  /* in a row, while opening */
};

struct pool {
    struct arena *arena;
    const struct task *task;
    struct trial_options options;
    struct pool_limits limits;
    char *self, *scratch;
    struct worker workers[MAX_WORKERS];
    int n_workers;
    VEC(struct job) queue;
    VEC(struct done) done;
    json_t *known;              /* code to trial; NULL: none */
    int gpus[MAX_GPUS], n_gpus; /* none: simulated */
    struct trial_device device;
    double noise; /* of the control; NAN: unknown */
    bool said_busy;
    json_t *faults;    /* of the original's PTX; NULL until a worker has opened the task */
    json_t *original;  /* NULL until a worker has opened the task, and timed the original */
    struct err broken; /* what opening said; ERR_NONE while all is well */
};

enum {
    /* Seconds of processor time. By the clock it is WALL times as long: a machine with other work to do gives a
     * process less of its time, and that is no fault of a candidate. */
    OPEN_S = 300,
    CANDIDATE_S = 60,
    CONFIRM = 5,
    WALL = 10,
    BUSY_S = 5,
    POLL_MS = 50,
    GPU_RESIDENT_MB = 6144, /* of a worker with a GPU: the driver's own share alone is hundreds */
};

bool pool_error_from_json(const json_t *o, struct err *err)
{
    const char *text = json_text(o, "text", "");

    if (!err)
        return false;
    *err = (struct err){.kind = json_int(o, "kind", ERR_WORLD) == ERR_INPUT ? ERR_INPUT : ERR_WORLD,
                        .line = (int)json_int(o, "line", 0),
                        .col = (int)json_int(o, "col", 0)};
    snprintf(err->file, sizeof(err->file), "%s", json_text(o, "file", ""));
    snprintf(err->text, sizeof(err->text), "%s", *text ? text : "the worker failed without a word");
    return false;
}

static bool send(struct worker *w, json_t *request, struct err *err)
{
    char *line = json_dumps(request, JSON_COMPACT);
    bool ok = proc_send_line(&w->proc, line, err);

    free(line);
    json_decref(request);
    w->since_s = w->doing_s = time_s();
    w->since_cpu_s = proc_cpu_s(w->proc.pid);
    w->compile_s = 0;
    w->doing[0] = 0;
    return ok;
}

/* The original's own times are wanted once: one worker takes them, the others open without. */
static bool control_wanted(const struct pool *p)
{
    for (int i = 0; i < p->n_workers; i++)
        if (p->workers[i].phase == WORKER_OPENING && p->workers[i].control)
            return false;
    return !p->original;
}

static const char *worker_device(const struct pool *p, const struct worker *w, char name[32])
{
    if (p->n_gpus == 0)
        return p->options.device;
    snprintf(name, 32, "cuda:%d", p->gpus[(w - p->workers) % p->n_gpus]);
    return name;
}

static bool worker_start(struct pool *p, struct worker *w, struct err *err)
{
    const char *const argv[] = {p->self, "worker", NULL};
    json_t *o = json_object(), *request = json_object(), *cases = json_array();
    char device[32], *scratch = arena_printf(p->arena, "%s/%d", p->scratch, (int)(w - p->workers));

    w->control = control_wanted(p);
    w->waiting = false;
    fs_remove_tree(scratch); /* what the one before it left */
    if (!fs_mkdirs(scratch, err) || !proc_open(&w->proc, PROC_SELF, argv, -1, err)) {
        json_decref(cases);
        json_decref(o);
        json_decref(request);
        return false;
    }
    json_put_text(o, "task", p->task->dir);
    json_put_text(o, "device", worker_device(p, w, device));
    json_put_text(o, "seed", arena_printf(p->arena, "%llu", (unsigned long long)p->options.seed));
    json_put_flag(o, "verify_only", p->options.verify_only);
    json_put_flag(o, "measure_only", p->options.measure_only);
    json_put_flag(o, "exact", p->options.exact);
    json_put_flag(o, "with_nvcc", p->options.with_nvcc);
    json_put_flag(o, "confirm", p->options.confirm);
    json_put_flag(o, "hidden", p->options.hidden);
    json_put_flag(o, "no_control", p->options.no_control || !w->control);
    for (size_t i = 0; i < p->options.n_cases; i++)
        json_array_append_new(cases, task_case_to_json(p->task, &p->options.cases[i]));
    json_put(o, "cases", cases);
    json_put_text(o, "scratch", scratch);
    json_put_num(o, "candidate_s", p->limits.candidate_s);
    json_put(request, "open", o);
    w->phase = WORKER_OPENING;
    if (!send(w, request, err)) {
        proc_kill(&w->proc);
        w->phase = WORKER_OFF;
        return false;
    }
    return true;
}

static void job_free(struct job *job)
{
    free(job->path);
    free(job->text);
    *job = (struct job){0};
}

static void finish(struct pool *p, struct worker *w, json_t *trial)
{
    vec_push(&p->done, ((struct done){w->job.id, trial}));
    job_free(&w->job);
}

static json_t *verdict_only(enum verdict v, const char *words, double wall_s)
{
    struct trial t = {.verdict = v,
                      .words = words,
                      .score = NAN,
                      .compile_s = NAN,
                      .verify_s = NAN,
                      .measure_s = NAN,
                      .wall_s = wall_s};

    t.low = t.high = t.empty_us = t.gpu_verify_s = t.gpu_measure_s = NAN;
    t.error = t.original_error = t.allowed_error = (struct trial_errors){NAN, NAN, NAN};
    return trial_to_json(&t);
}

/* The worker is gone or must go. A candidate that it was judging gets the verdict; an opening that dies is an
 * error of the world, since no candidate was in play. */
static void worker_lost(struct pool *p, struct worker *w, enum verdict v, const char *words)
{
    proc_kill(&w->proc);
    if (w->phase == WORKER_JUDGING)
        finish(p, w, verdict_only(v, words, time_s() - w->since_s));
    else if (w->phase == WORKER_OPENING && ++w->deaths > 1)
        err_world(&p->broken, "opening the task: %s", words);
    w->phase = WORKER_OFF;
}

static double compiling_s(const struct worker *w, double now_s)
{
    return w->compile_s + (str_eq(w->doing, JUDGE_COMPILING) ? now_s - w->doing_s : 0);
}

static void worker_doing(struct worker *w, const char *what)
{
    double now_s = time_s();

    w->compile_s = compiling_s(w, now_s);
    w->doing_s = now_s;
    snprintf(w->doing, sizeof(w->doing), "%s", what);
}

/* Too much time, which says nothing of the candidate: where it went. */
static void worker_late(struct pool *p, struct worker *w, double cpu_s)
{
    double now_s = time_s();
    struct str words = {0};

    str_addf(&words, "too slow to judge: %.0f s compiling", compiling_s(w, now_s));
    if (*w->doing && !str_eq(w->doing, JUDGE_COMPILING))
        str_addf(&words, ", %.0f s %s", now_s - w->doing_s, w->doing);
    str_addf(&words, "; %.0f s by the clock, %.0f s of processor time", now_s - w->since_s, cpu_s);
    worker_lost(p, w, VERDICT_TOO_SLOW, str_text(&words));
    str_free(&words);
}

/* The compiler's precompiled headers want one place in memory, and not every process has it free: such a death
 * says nothing of the file. The second time does, without them. */
static void judge_again(struct pool *p, struct worker *w, const char *words)
{
    trace_text("worker_died", "%s: %s; once more", w->job.path, words);
    w->job.deaths++;
    vec_push(&p->queue, w->job);
    memmove(p->queue.v + 1, p->queue.v, (p->queue.n - 1) * sizeof(*p->queue.v));
    p->queue.v[0] = w->job;
    w->job = (struct job){0};
}

static void worker_died(struct pool *p, struct worker *w)
{
    int status = proc_kill(&w->proc); /* it is dead already: this collects how */
    char words[512];

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        worker_late(p, w, p->limits.candidate_s);
        return;
    }
    if (WIFSIGNALED(status))
        snprintf(words, sizeof(words), "the worker that judged it died%s of signal %d (%s) while %s",
                 w->job.deaths ? " twice, now" : "", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 *w->doing ? w->doing : "it began");
    else
        snprintf(words, sizeof(words), "the worker that judged it ended with status %d", WEXITSTATUS(status));
    if (w->phase == WORKER_JUDGING && WIFSIGNALED(status) && w->job.deaths == 0)
        judge_again(p, w, words);
    else if (w->phase == WORKER_JUDGING)
        finish(p, w, verdict_only(VERDICT_CRASHED, words, time_s() - w->since_s));
    else if (w->phase == WORKER_OPENING && ++w->deaths > 1)
        err_world(&p->broken, "opening the task: %s", words);
    w->phase = WORKER_OFF;
}

/* GPUs of a run must be of one kind: times of two kinds do not compare. */
static bool same_device(struct pool *p, const json_t *o)
{
    struct trial_device d;

    if (!trial_device_from_json(o, p->arena, &d, &p->broken))
        return false;
    if (p->device.name && !str_eq(p->device.name, d.name))
        return err_input(&p->broken, "GPU %d is an %s, GPU %d an %s: a run takes GPUs of one kind", d.index,
                         d.name, p->device.index, p->device.name);
    if (!p->device.name || (p->n_gpus && d.index == p->gpus[0]))
        p->device = d;
    return true;
}

static void worker_opened(struct pool *p, struct worker *w, const json_t *reply, json_t *original)
{
    if (!same_device(p, json_object_get(reply, "device")))
        return;
    if (w->control && !p->original) {
        p->original = json_incref(original);
        p->noise = json_num(reply, "noise");
    }
    w->phase = WORKER_READY;
    w->deaths = 0;
}

/* A worker whose GPU context was spoilt ends by itself after its answer. Takes the trial. What it judged has
 * another context to itself then, unless it did not end: what was judged before may have left the first one
 * broken. */
static void worker_finished(struct pool *p, struct worker *w, const json_t *reply, json_t *trial)
{
    bool ending = json_flag(reply, "ending", false);

    if (ending && w->job.deaths == 0 && !str_eq(json_text(trial, "verdict", ""), verdict_name(VERDICT_HUNG))) {
        judge_again(p, w, json_text(trial, "words", ""));
        json_decref(trial);
    } else {
        finish(p, w, trial);
    }
    w->phase = WORKER_READY;
    if (ending) {
        proc_kill(&w->proc);
        w->phase = WORKER_OFF;
    }
}

void pool_learn(struct pool *p, const struct trial *t)
{
    if (!p->known)
        p->known = json_object();
    if (t->code && !json_object_get(p->known, t->code))
        json_put(p->known, t->code, trial_to_json(t));
}

/* The trial of the file with the same code, without places: they are that file's. */
static json_t *known_trial(const struct pool *p, const char *code)
{
    json_t *o = json_deep_copy(json_object_get(p->known, code));
    const char *words = json_text(o, "words", "");
    struct str text = {0};

    if (*words) {
        str_addf(&text, "the same code as an earlier file: %s", words);
        json_put_text(o, "words", str_text(&text));
        str_free(&text);
    }
    json_put_int(o, "line", 0);
    json_put_int(o, "col", 0);
    return o;
}

static json_t *known_codes(const struct pool *p)
{
    json_t *list = json_array(), *x;
    const char *code;

    json_object_foreach(p->known, code, x) json_array_append_new(list, json_string(code));
    return list;
}

static void worker_line(struct pool *p, struct worker *w, const char *line)
{
    struct err err = {0};
    json_t *reply = json_parse(line, strlen(line), "worker", &err), *o;

    if (reply && (o = json_object_get(reply, "waiting"))) {
        w->waiting = json_is_true(o);
        w->since_s = w->doing_s = time_s();
    } else if (reply && (o = json_object_get(reply, "doing"))) {
        worker_doing(w, json_is_string(o) ? json_string_value(o) : "");
    } else if (reply && w->phase == WORKER_OPENING && (o = json_object_get(reply, "original"))) {
        if (!p->faults)
            p->faults = json_incref(json_object_get(reply, "faults"));
        worker_opened(p, w, reply, o);
    } else if (reply && w->phase == WORKER_JUDGING && (o = json_object_get(reply, "trial"))) {
        worker_finished(p, w, reply, json_incref(o));
    } else if (reply && w->phase == WORKER_JUDGING && (o = json_object_get(reply, "same")) &&
               json_object_get(p->known, json_string_value(o))) {
        worker_finished(p, w, reply, known_trial(p, json_string_value(o)));
    } else if (reply && (o = json_object_get(reply, "error"))) {
        pool_error_from_json(o, &p->broken);
        if (w->phase == WORKER_JUDGING)
            job_free(&w->job);
        w->phase = w->phase == WORKER_JUDGING ? WORKER_READY : WORKER_OFF;
        if (w->phase == WORKER_OFF)
            proc_kill(&w->proc);
    } else {
        worker_lost(p, w, VERDICT_CRASHED, "the worker answered with something that is no answer");
    }
    json_decref(reply);
}

static void worker_watch(struct pool *p, struct worker *w)
{
    bool judging = w->phase == WORKER_JUDGING;
    double limit_s = judging ? p->limits.candidate_s : OPEN_S,
           wall_s = judging ? p->limits.wall_s : WALL * OPEN_S, cpu_s;
    char words[160];

    if (w->phase != WORKER_JUDGING && w->phase != WORKER_OPENING)
        return;
    cpu_s = proc_cpu_s(w->proc.pid) - w->since_cpu_s;
    if (cpu_s > limit_s || (!w->waiting && time_s() - w->since_s > wall_s)) {
        worker_late(p, w, cpu_s);
    } else if (proc_resident_bytes(w->proc.pid) > p->limits.resident_bytes) {
        snprintf(words, sizeof(words), "took more than %zu MB of memory to compile and run",
                 p->limits.resident_bytes >> 20);
        worker_lost(p, w, VERDICT_CRASHED, words);
    }
}

/* Starts workers that are off when there is work for them, and gives waiting jobs to those that are ready. */
static bool assign(struct pool *p, struct err *err)
{
    for (int i = 0; i < p->n_workers && p->broken.kind == ERR_NONE; i++) {
        struct worker *w = &p->workers[i];
        if (w->phase == WORKER_OFF && (p->queue.n > 0 || !p->original) && !worker_start(p, w, err))
            return false;
        if (w->phase != WORKER_READY || p->queue.n == 0)
            continue;
        w->job = p->queue.v[0];
        memmove(p->queue.v, p->queue.v + 1, --p->queue.n * sizeof(*p->queue.v));
        json_t *o = json_object(), *request = json_object();
        json_put_text(o, "path", w->job.path);
        json_put_text(o, "text", w->job.text);
        json_put_num(o, "noise", p->noise);
        json_put(o, "known", w->job.timed ? json_array() : known_codes(p));
        json_put_flag(o, "mutant", w->job.mutant);
        json_put_flag(o, "timed", w->job.timed);
        json_put_int(o, "fault", w->job.fault);
        json_put_flag(o, "again", w->job.deaths > 0);
        json_put(request, "judge", o);
        w->phase = WORKER_JUDGING;
        if (p->options.started && !w->job.mutant && !w->job.timed && w->job.deaths == 0)
            p->options.started(p->options.started_context, w->job.id, i);
        if (!send(w, request, NULL))
            worker_died(p, w);
    }
    return true;
}

/* Said once: all that work wait for the GPU, and none of them has it. */
static void say_busy(struct pool *p)
{
    double now_s = time_s();
    bool waiting = false;

    for (int i = 0; i < p->n_workers; i++) {
        const struct worker *w = &p->workers[i];
        if (w->phase != WORKER_OPENING && w->phase != WORKER_JUDGING)
            continue;
        if (!w->waiting || now_s - w->since_s < BUSY_S)
            return;
        waiting = true;
    }
    if (waiting && !p->said_busy)
        trace_text("gpu_busy", "another process has the GPU (%s); waiting for it", p->options.device);
    p->said_busy = p->said_busy || waiting;
}

/* One round: what came from the workers, who is late, who can start. Waits at most wait_s. */
static bool turn(struct pool *p, double wait_s, struct err *err)
{
    struct pollfd fds[MAX_WORKERS];
    struct str line = {0};
    bool ready = false;

    if (!assign(p, err))
        return false;
    for (int i = 0; i < p->n_workers; i++) {
        struct worker *w = &p->workers[i];
        fds[i] = (struct pollfd){w->phase == WORKER_OFF ? -1 : w->proc.from, POLLIN, 0};
        ready |= w->phase != WORKER_OFF && w->proc.pending.len > 0 &&
                 memchr(w->proc.pending.s, '\n', w->proc.pending.len);
    }
    if (!ready && poll(fds, (nfds_t)p->n_workers, (int)(MIN(MAX(wait_s, 0), POLL_MS / 1000.0) * 1000)) < 0 &&
        errno != EINTR)
        return err_world(err, "poll: %s", strerror(errno));
    for (int i = 0; i < p->n_workers; i++) {
        struct worker *w = &p->workers[i];
        if (w->phase == WORKER_OFF)
            continue;
        str_clear(&line);
        enum proc_read r = proc_read_line(&w->proc, 0, &line);
        if (r == PROC_LINE)
            worker_line(p, w, str_text(&line));
        else if (r == PROC_EOF)
            worker_died(p, w);
        else if (w->proc.pending.len > (64u << 20))
            worker_lost(p, w, VERDICT_CRASHED, "the worker wrote more than 64 MB");
        else
            worker_watch(p, w);
    }
    str_free(&line);
    say_busy(p);
    if (p->broken.kind != ERR_NONE) {
        if (err)
            *err = p->broken;
        return false;
    }
    return assign(p, err);
}

/* "cuda:0,2" */
static bool gpus_of(struct pool *p, struct err *err)
{
    const char *at = p->options.device + strlen("cuda:");

    while (*at) {
        char *end;
        long index = strtol(at, &end, 10);
        if (end == at || index < 0 || index > 1023 || (*end && *end != ',') || p->n_gpus == MAX_GPUS)
            return err_input(err, "'%s' is no list of GPUs; write cuda:0 or cuda:0,1", p->options.device);
        p->gpus[p->n_gpus++] = (int)index;
        at = *end ? end + 1 : end;
    }
    return p->n_gpus > 0 || err_input(err, "'%s' names no GPU", p->options.device);
}

static double candidate_s(bool confirm)
{
    const char *own = getenv("ASTRA_CANDIDATE_S");
    double s = own ? strtod(own, NULL) : 0;

    if (s > 0 && s < 1e6)
        return confirm ? CONFIRM * s : s;
    return confirm ? CONFIRM * CANDIDATE_S : CANDIDATE_S;
}

bool pool_open(struct pool **out, const struct task *t, const struct trial_options *o, int workers,
               const struct pool_limits *limits, struct err *err)
{
    struct arena *a = arena_open();
    struct pool *p = arena_new(a, struct pool);
    bool gpu = str_starts(o->device, "cuda:"), ok;

    *p = (struct pool){
        .arena = a, .task = t, .options = *o, .n_workers = MIN(MAX(workers, 1), MAX_WORKERS), .noise = NAN};
    if (limits)
        p->limits = *limits;
    if (p->limits.candidate_s <= 0)
        p->limits.candidate_s = candidate_s(o->confirm);
    if (p->limits.wall_s <= 0)
        p->limits.wall_s = WALL * p->limits.candidate_s;
    if (p->limits.resident_bytes == 0)
        p->limits.resident_bytes = gpu ? (size_t)GPU_RESIDENT_MB << 20 : (size_t)2 << 30;
    p->options.device = arena_strdup(a, o->device);
    p->self = fs_self(a);
    if (gpu)
        ok = gpus_of(p, err);
    else
        ok = ptx_device_find(p->options.device) || err_input(err, "no simulated device %s", o->device);
    if (!ok || !(p->scratch = fs_temp_dir(a, err))) {
        arena_close(a);
        return false;
    }
    if (p->n_workers > 1) /* one alone takes the first GPU */
        p->n_workers = MAX(p->n_workers, p->n_gpus);
    if (!assign(p, err)) {
        pool_close(p);
        return false;
    }
    *out = p;
    return true;
}

void pool_close(struct pool *p)
{
    if (!p)
        return;
    pool_drop(p);
    for (int i = 0; i < p->n_workers; i++)
        if (p->workers[i].phase != WORKER_OFF)
            proc_kill(&p->workers[i].proc);
    vec_free(&p->queue);
    vec_free(&p->done);
    json_decref(p->original);
    json_decref(p->faults);
    json_decref(p->known);
    fs_remove_tree(p->scratch);
    arena_close(p->arena);
}

void pool_widen(struct pool *p, int workers)
{
    p->n_workers = MAX(p->n_workers, MIN(workers, MAX_WORKERS));
}

bool pool_original(struct pool *p, struct arena *a, struct trial *t, struct err *err)
{
    while (!p->original)
        if (!turn(p, 1, err))
            return false;
    return trial_from_json(p->original, a, t, err);
}

bool pool_submit(struct pool *p, int id, const char *path, const char *text, struct err *err)
{
    vec_push(&p->queue,
             ((struct job){.id = id, .path = mem_strdup(path), .text = mem_strdup(text), .fault = -1}));
    return assign(p, err);
}

bool pool_submit_timed(struct pool *p, int id, const char *path, const char *text, struct err *err)
{
    vec_push(&p->queue,
             ((struct job){
                 .id = id, .path = mem_strdup(path), .text = mem_strdup(text), .timed = true, .fault = -1}));
    return assign(p, err);
}

bool pool_submit_mutant(struct pool *p, int id, const char *path, const char *text, int fault, struct err *err)
{
    vec_push(
        &p->queue,
        ((struct job){
            .id = id, .path = mem_strdup(path), .text = mem_strdup(text), .mutant = true, .fault = fault}));
    return assign(p, err);
}

void pool_drop(struct pool *p)
{
    for (int i = 0; i < p->n_workers; i++) {
        struct worker *w = &p->workers[i];
        if (w->phase != WORKER_JUDGING)
            continue;
        proc_kill(&w->proc);
        job_free(&w->job);
        w->phase = WORKER_OFF;
    }
    for (size_t i = 0; i < p->queue.n; i++)
        job_free(&p->queue.v[i]);
    for (size_t i = 0; i < p->done.n; i++)
        json_decref(p->done.v[i].trial);
    p->queue.n = p->done.n = 0;
}

void pool_faults(const struct pool *p, struct arena *a, const struct mutant **list, size_t *n)
{
    struct mutant *out = arena_array(a, struct mutant, json_array_size(p->faults) + 1);

    *n = json_array_size(p->faults);
    for (size_t i = 0; i < *n; i++) {
        const json_t *o = json_array_get(p->faults, i);
        out[i] = (struct mutant){.op = arena_strdup(a, json_text(o, "op", "")),
                                 .line = (int)json_int(o, "line", 0),
                                 .what = arena_strdup(a, json_text(o, "what", "")),
                                 .id = arena_strdup(a, json_text(o, "id", "")),
                                 .is = "",
                                 .ptx = true};
    }
    *list = out;
}

size_t pool_busy(const struct pool *p)
{
    size_t n = p->queue.n + p->done.n;

    for (int i = 0; i < p->n_workers; i++)
        n += p->workers[i].phase == WORKER_JUDGING;
    return n;
}

/* The copy's time was taken once, with the original's. */
static void add_light(const struct pool *p, struct arena *a, struct trial *t)
{
    struct trial_workload *w = (struct trial_workload *)t->workloads;
    struct trial original;

    if (p->n_gpus == 0 || t->n_workloads == 0 || !trial_from_json(p->original, a, &original, NULL))
        return;
    for (size_t i = 0; i < t->n_workloads && i < original.n_workloads; i++) {
        for (enum regime r = 0; r < N_REGIMES; r++)
            if (isnan(w[i].times[r].copy_us))
                w[i].times[r].copy_us = original.workloads[i].times[r].copy_us;
    }
}

bool pool_collect(struct pool *p, double wait_s, struct arena *a, int *id, struct trial *t, struct err *err)
{
    double until_s = time_s() + wait_s;

    *id = -1;
    while (p->done.n == 0) {
        if (!turn(p, until_s - time_s(), err))
            return false;
        if (p->done.n == 0 && time_s() >= until_s)
            return true;
    }
    struct done d = p->done.v[0];
    memmove(p->done.v, p->done.v + 1, --p->done.n * sizeof(*p->done.v));
    *id = d.id;
    bool ok = trial_from_json(d.trial, a, t, err);
    json_decref(d.trial);
    if (ok)
        add_light(p, a, t);
    return ok;
}

const struct trial_device *pool_device(const struct pool *p)
{
    return &p->device;
}
