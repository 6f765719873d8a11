/* The parent's end: a few workers, a queue of candidates, and for each worker a clock and an eye on its memory.
 */
#include "pool.h"
#include "protocol.h"

#include <errno.h>

enum {
    CANDIDATE_S = 60, /* of processor time */
    CONFIRM = 5,
    WALL = 10, /* by the clock, as many times as long */
    BUSY_S = 5,
    POLL_MS = 50,
    SIM_RESIDENT_MB = 3072, /* twenty million elements and their exact answers take two thirds of it */
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

/* Where times are modelled there is one control; else one a GPU, since no two are equally quiet. */
static struct control *control_of(const struct pool *p, const struct worker *w)
{
    ptrdiff_t i = pool_measures(p) ? w - p->workers : 0;

    return &p->controls[p->n_gpus ? i % p->n_gpus : i];
}

/* The original's own times are wanted once: one worker takes them, the others open without. */
static bool control_wanted(const struct pool *p, const struct worker *w)
{
    for (int i = 0; i < p->n_workers; i++)
        if (p->workers[i].phase == WORKER_OPENING && p->workers[i].control &&
            control_of(p, &p->workers[i]) == control_of(p, w))
            return false;
    return !control_of(p, w)->done;
}

static const char *worker_device(const struct pool *p, const struct worker *w, char name[32])
{
    if (p->n_gpus == 0)
        return p->options.device;
    snprintf(name, 32, "cuda:%d", p->gpus[(w - p->workers) % p->n_gpus]);
    return name;
}

/* Without what says where the task is. */
json_t *pool_open_request(struct pool *p, struct worker *w)
{
    json_t *o = json_object(), *request = json_object(), *cases = json_array();

    w->control = control_wanted(p, w);
    json_put_text(o, "seed", arena_printf(p->arena, "%llu", (unsigned long long)p->options.seed));
    json_put_flag(o, "verify_only", p->options.verify_only);
    json_put_flag(o, "measure_only", p->options.measure_only);
    json_put_flag(o, "exact", p->options.exact);
    json_put_flag(o, "with_nvcc", p->options.with_nvcc);
    json_put_flag(o, "confirm", p->options.confirm);
    json_put_text(o, "beside", p->options.beside);
    json_put_flag(o, "hidden", p->options.hidden);
    json_put_flag(o, "no_control", p->options.no_control || !w->control);
    for (size_t i = 0; i < p->options.n_cases; i++)
        json_array_append_new(cases, task_case_to_json(p->task, &p->options.cases[i]));
    json_put(o, "cases", cases);
    json_put_num(o, "candidate_s", p->limits.candidate_s);
    json_put(request, "open", o);
    return request;
}

static bool worker_start(struct pool *p, struct worker *w, struct err *err)
{
    const char *const argv[] = {p->self, "worker", NULL};
    char device[32], *scratch = arena_printf(p->arena, "%s/%d", p->scratch, (int)(w - p->workers));
    json_t *request, *o;
    char *line;
    bool ok;

    fs_remove_tree(scratch); /* what the one before it left */
    if (!fs_mkdirs(scratch, err) || !proc_open(&w->process.proc, PROC_SELF, argv, -1, err))
        return false;
    request = pool_open_request(p, w);
    o = json_object_get(request, "open");
    json_put_text(o, "task", p->task->dir);
    json_put_text(o, "scratch", scratch);
    json_put_text(o, "device", worker_device(p, w, device));
    w->phase = WORKER_OPENING;
    line = json_take_line(p->arena, request);
    ok = proc_send_line(&w->process.proc, line, err);
    process_asked(&w->process);
    if (!ok) {
        proc_kill(&w->process.proc);
        w->phase = WORKER_OFF;
    }
    return ok;
}

static void job_free(struct job *job)
{
    free(job->path);
    free(job->text);
    *job = (struct job){0};
}

void worker_finish(struct pool *p, struct worker *w, json_t *trial)
{
    vec_push(&p->done, ((struct done){w->job.id, trial}));
    job_free(&w->job);
}

json_t *pool_verdict_only(enum verdict v, const char *words, double wall_s)
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

/* Its job is the first one again. */
void worker_job_back(struct pool *p, struct worker *w)
{
    vec_push(&p->queue, w->job);
    memmove(p->queue.v + 1, p->queue.v, (p->queue.n - 1) * sizeof(*p->queue.v));
    p->queue.v[0] = w->job;
    w->job = (struct job){0};
}

/* The compiler's precompiled headers want one place in memory, and not every process has it free: such a death
 * says nothing of the file. The second time does, without them. */
static void judge_again(struct pool *p, struct worker *w, const char *words)
{
    trace_text("worker_died", "%s: %s; once more", w->job.path, words);
    w->job.deaths++;
    worker_job_back(p, w);
}

/* The worker is gone. A candidate that it was judging gets the verdict; an opening that dies is an error of the
 * world, since no candidate was in play. */
void worker_lost(struct pool *p, struct worker *w, const struct process_loss *loss)
{
    if (w->phase == WORKER_JUDGING && loss->again && w->job.deaths == 0)
        judge_again(p, w, loss->words);
    else if (w->phase == WORKER_JUDGING)
        worker_finish(p, w, pool_verdict_only(loss->verdict, loss->words, time_s() - w->process.since_s));
    else if (w->phase == WORKER_OPENING && ++w->deaths > 1)
        err_world(&p->broken, "opening the task: %s", loss->words);
    w->phase = WORKER_OFF;
}

static void worker_killed(struct pool *p, struct worker *w, const struct process_loss *loss)
{
    proc_kill(&w->process.proc);
    worker_lost(p, w, loss);
}

static void worker_died(struct pool *p, struct worker *w)
{
    struct process_loss loss;

    process_died(&w->process, w->job.deaths > 0, &p->limits, &loss);
    worker_lost(p, w, &loss);
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

void worker_opened(struct pool *p, struct worker *w, const json_t *reply, json_t *original)
{
    if (!w->link.node && !same_device(p, json_object_get(reply, "device")))
        return;
    if (!p->faults)
        p->faults = json_incref(json_object_get(reply, "faults"));
    if (w->control)
        *control_of(p, w) = (struct control){true, json_num(reply, "noise")};
    if (w->control && !p->original && (p->n_gpus == 0 || control_of(p, w) == p->controls)) /* the first GPU's */
        p->original = json_incref(original);
    w->phase = WORKER_READY;
    w->deaths = 0;
}

/* A worker whose GPU context was spoilt ends by itself after its answer. Takes the trial. What it judged has
 * another context to itself then, unless it did not end: what was judged before may have left the first one
 * broken. */
void worker_finished(struct pool *p, struct worker *w, const json_t *reply, json_t *trial)
{
    bool ending = json_flag(reply, "ending", false);

    if (ending && w->job.deaths == 0 && !str_eq(json_text(trial, "verdict", ""), verdict_name(VERDICT_HUNG))) {
        judge_again(p, w, json_text(trial, "words", ""));
        json_decref(trial);
    } else {
        worker_finish(p, w, trial);
    }
    w->phase = WORKER_READY;
    if (ending) {
        if (!w->link.node)
            proc_kill(&w->process.proc);
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
json_t *pool_known_trial(const struct pool *p, const char *code)
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

bool pool_known_same(const struct pool *p, const json_t *same)
{
    return json_is_string(same) && json_object_get(p->known, json_string_value(same));
}

static void worker_line(struct pool *p, struct worker *w, const char *line)
{
    struct process_loss loss = {VERDICT_CRASHED, false, "the worker answered with something that is no answer"};
    struct err err = {0};
    json_t *reply = json_parse(line, strlen(line), "worker", &err), *o;

    if (reply && process_told(&w->process, reply)) {
        /* that is all */
    } else if (reply && w->phase == WORKER_OPENING && (o = json_object_get(reply, "original"))) {
        worker_opened(p, w, reply, o);
    } else if (reply && w->phase == WORKER_JUDGING && process_overdrew(&w->process, true, &p->limits, &loss)) {
        worker_killed(p, w, &loss);
    } else if (reply && w->phase == WORKER_JUDGING && (o = json_object_get(reply, "trial"))) {
        worker_finished(p, w, reply, json_incref(o));
    } else if (reply && w->phase == WORKER_JUDGING && pool_known_same(p, o = json_object_get(reply, "same"))) {
        worker_finished(p, w, reply, pool_known_trial(p, json_string_value(o)));
    } else if (reply && (o = json_object_get(reply, "error"))) {
        pool_error_from_json(o, &p->broken);
        if (w->phase == WORKER_JUDGING)
            job_free(&w->job);
        w->phase = w->phase == WORKER_JUDGING ? WORKER_READY : WORKER_OFF;
        if (w->phase == WORKER_OFF)
            proc_kill(&w->process.proc);
    } else {
        worker_killed(p, w, &loss);
    }
    json_decref(reply);
}

/* The first job that a worker may have; -1: none. */
static int job_for(const struct pool *p, const struct worker *w)
{
    bool all = !w->link.node || !pool_measures(p) || w->link.node->measures;

    for (size_t i = 0; i < p->queue.n; i++)
        if (all || p->queue.v[i].timed || p->queue.v[i].mutant)
            return (int)i;
    return -1;
}

static json_t *judge_request(const struct pool *p, const struct worker *w)
{
    json_t *o = json_object(), *request = json_object();

    json_put_text(o, "path", w->link.node ? fs_basename(w->job.path) : w->job.path);
    json_put_text(o, "text", w->job.text);
    json_put_num(o, "noise", control_of(p, w)->noise);
    json_put(o, "known", w->job.timed ? json_array() : known_codes(p));
    json_put_flag(o, "mutant", w->job.mutant);
    json_put_flag(o, "timed", w->job.timed);
    json_put_int(o, "fault", w->job.fault);
    json_put_flag(o, "again", w->job.deaths > 0);
    json_put(request, "judge", o);
    return request;
}

static bool worker_ask(struct worker *w, json_t *request)
{
    char *line;
    bool ok;

    if (w->link.node) {
        link_send(&w->link, &w->process, request);
        return true;
    }
    line = json_dumps(request, JSON_COMPACT);
    ok = proc_send_line(&w->process.proc, line, NULL);
    free(line);
    json_decref(request);
    process_asked(&w->process);
    return ok;
}

/* Starts workers that are off when there is work for them, and gives waiting jobs to those that are ready. */
static bool assign(struct pool *p, struct err *err)
{
    for (int i = 0; i < p->n_workers && p->broken.kind == ERR_NONE; i++) {
        struct worker *w = &p->workers[i];
        if (w->phase == WORKER_READY && w->link.node && control_wanted(p, w))
            w->phase = WORKER_OFF; /* the node that was to take it is gone: this one opens once more */
        bool wanted = w->phase == WORKER_OFF && (p->queue.n > 0 || !p->original);
        if (wanted && w->link.node)
            node_turn_on(p, w);
        else if (wanted && !worker_start(p, w, err))
            return false;
        int at = w->phase == WORKER_READY && control_of(p, w)->done ? job_for(p, w) : -1;
        if (at < 0)
            continue;
        w->job = p->queue.v[at];
        memmove(p->queue.v + at, p->queue.v + at + 1, (--p->queue.n - (size_t)at) * sizeof(*p->queue.v));
        w->phase = WORKER_JUDGING;
        if (p->options.started && !w->job.mutant && !w->job.timed && w->job.deaths + w->job.lost == 0)
            p->options.started(p->options.started_context, w->job.id, i);
        if (!worker_ask(w, judge_request(p, w)))
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
        if (!w->process.waiting || now_s - w->process.since_s < BUSY_S)
            return;
        waiting = true;
    }
    if (waiting && !p->said_busy)
        trace_text("gpu_busy", "another process has the GPU (%s); waiting for it", p->options.device);
    p->said_busy = p->said_busy || waiting;
}

static void worker_turn(struct pool *p, struct worker *w, struct str *line)
{
    struct process_loss loss = {VERDICT_CRASHED, false, "the worker wrote more than 64 MB"};
    enum proc_read r = proc_read_line(&w->process.proc, 0, line);

    if (r == PROC_LINE)
        worker_line(p, w, str_text(line));
    else if (r == PROC_EOF)
        worker_died(p, w);
    else if (w->process.proc.pending.len > (64u << 20) ||
             ((w->phase == WORKER_JUDGING || w->phase == WORKER_OPENING) &&
              process_watch(&w->process, w->phase == WORKER_JUDGING, &p->limits, &loss)))
        worker_killed(p, w, &loss);
}

/* One round: what came from the workers, who is late, who can start. Waits at most wait_s. */
static bool turn(struct pool *p, double wait_s, struct err *err)
{
    struct str line = {0};
    bool ready = false;

    if (!assign(p, err))
        return false;
    for (int i = 0; i < p->n_workers; i++) {
        struct worker *w = &p->workers[i];
        p->fds[i] = (struct pollfd){worker_connected(w) ? w->process.proc.from : -1, POLLIN, 0};
        ready |= worker_connected(w) && w->process.proc.pending.len > 0 &&
                 memchr(w->process.proc.pending.s, '\n', w->process.proc.pending.len);
    }
    if (!ready && poll(p->fds, (nfds_t)p->n_workers, (int)(MIN(MAX(wait_s, 0), POLL_MS / 1000.0) * 1000)) < 0 &&
        errno != EINTR)
        return err_world(err, "poll: %s", strerror(errno));
    for (int i = 0; i < p->n_workers && p->broken.kind == ERR_NONE; i++) {
        struct worker *w = &p->workers[i];
        if (!worker_connected(w))
            continue;
        str_clear(&line);
        (w->link.node ? node_turn : worker_turn)(p, w, &line);
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

static void workers_make(struct pool *p, int n)
{
    p->workers = mem_realloc(p->workers, (size_t)n * sizeof(*p->workers));
    p->fds = mem_realloc(p->fds, (size_t)n * sizeof(*p->fds));
    memset(p->workers + p->n_workers, 0, (size_t)(n - p->n_workers) * sizeof(*p->workers));
    p->n_workers = n;
}

/* With limits, without workers. */
static struct pool *pool_make(const struct task *t, const struct trial_options *o,
                              const struct pool_limits *limits)
{
    struct arena *a = arena_open();
    struct pool *p = arena_new(a, struct pool);

    *p = (struct pool){.arena = a, .self = fs_self(a), .task = t, .options = *o};
    if (limits)
        p->limits = *limits;
    if (p->limits.candidate_s <= 0)
        p->limits.candidate_s = candidate_s(o->confirm);
    if (p->limits.wall_s <= 0)
        p->limits.wall_s = WALL * p->limits.candidate_s;
    if (p->limits.resident_bytes == 0)
        p->limits.resident_bytes = (size_t)(pool_measures(p) ? GPU_RESIDENT_MB : SIM_RESIDENT_MB) << 20;
    p->options.device = arena_strdup(a, o->device);
    return p;
}

static bool pool_begin(struct pool **out, struct pool *p, bool ok, struct err *err)
{
    if (ok && !pool_measures(p))
        ok = ptx_device_find(p->options.device) || err_input(err, "no simulated device %s", p->options.device);
    p->controls = arena_array(p->arena, struct control, p->n_workers + p->n_gpus);
    for (int i = 0; i < p->n_workers + p->n_gpus; i++)
        p->controls[i] = (struct control){false, NAN};
    if (!ok || !assign(p, err)) {
        pool_close(p);
        return false;
    }
    *out = p;
    return true;
}

bool pool_open(struct pool **out, const struct task *t, const struct trial_options *o, int workers,
               const struct pool_limits *limits, struct err *err)
{
    struct pool *p = pool_make(t, o, limits);
    bool ok = (!pool_measures(p) || gpus_of(p, err)) && (p->scratch = fs_temp_dir(p->arena, err));

    workers_make(p, workers > 1 ? MAX(workers, p->n_gpus) : 1); /* one alone takes the first GPU */
    return pool_begin(out, p, ok, err);
}

bool pool_open_fleet(struct pool **out, const struct task *t, const struct trial_options *o,
                     const struct fleet *f, bool alone, struct err *err)
{
    struct pool *p = pool_make(t, o, NULL);

    p->fleet = f;
    p->alone = alone;
    workers_make(p, (int)f->n);
    for (int i = 0; i < p->n_workers; i++)
        p->workers[i].link.node = &f->nodes[i];
    return pool_begin(out, p, link_contents_open(&p->contents, t, err), err);
}

const struct fleet_node *pool_judged_by(const struct pool *p)
{
    return p->judged_by;
}

static void worker_stop(struct worker *w)
{
    if (w->link.node && worker_connected(w))
        link_stop(&w->link, &w->process);
    else if (w->phase != WORKER_OFF)
        proc_kill(&w->process.proc);
    w->phase = WORKER_OFF;
}

void pool_close(struct pool *p)
{
    if (!p)
        return;
    pool_drop(p);
    for (int i = 0; i < p->n_workers; i++) /* they clean up side by side */
        if (p->workers[i].link.node && worker_connected(&p->workers[i]))
            link_end(&p->workers[i].process);
    for (int i = 0; i < p->n_workers; i++)
        worker_stop(&p->workers[i]);
    vec_free(&p->queue);
    vec_free(&p->done);
    json_decref(p->original);
    json_decref(p->faults);
    json_decref(p->known);
    link_contents_close(&p->contents);
    if (p->scratch)
        fs_remove_tree(p->scratch);
    free(p->workers);
    free(p->fds);
    arena_close(p->arena);
}

void pool_widen(struct pool *p, int workers)
{
    if (!p->fleet && workers > p->n_workers)
        workers_make(p, workers);
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
        job_free(&w->job);
        worker_stop(w);
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

    if (!pool_measures(p) || t->n_workloads == 0 || !trial_from_json(p->original, a, &original, NULL))
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
