/* A pool's workers that are commands of a fleet: greeted, opened, watched, left out. What they say was written
 * by anybody; link.c checks it. */
#include "pool.h"
#include "protocol.h"

enum { LOST = 3 }; /* nodes that went away while they judged a file, and how often in a row one may */

static bool usable(const struct pool *p, const struct worker *w)
{
    return !w->link.left_out && (!p->alone || !pool_measures(p) || w->link.node->measures);
}

static bool others(const struct pool *p, const struct worker *w, bool trusted, bool measuring)
{
    for (int i = 0; i < p->n_workers; i++) {
        const struct worker *x = &p->workers[i];
        if (x != w && usable(p, x) && (!trusted || x->link.node->trusted) &&
            (!measuring || !pool_measures(p) || x->link.node->measures))
            return true;
    }
    return false;
}

/* It is not asked any more, with one sentence; after the last one that could go on the run ends. */
static void leave_out(struct pool *p, struct worker *w, const struct err *why)
{
    w->link.left_out = true;
    p->left_out = *why;
    trace_text("left_out", "%s is left out: %s", w->link.node->name, why->text);
    if (others(p, w, false, true))
        return;
    p->broken = *why;
    if (why->kind != ERR_INPUT)
        err_world(&p->broken, "no worker of %s is left; the last was %s: %s", p->fleet->path,
                  w->link.node->name, why->text);
}

/* It is gone, or not to be believed. What it judged is judged by another. One that has not judged anything yet
 * is left out at once; else it is tried again for a while. */
static void node_failed(struct pool *p, struct worker *w, const struct err *why)
{
    struct link *l = &w->link;

    link_stop(l, &w->process);
    if (w->phase == WORKER_JUDGING) {
        trace_text("worker_lost", "%s: %s; another judges %s", l->node->name, why->text, w->job.path);
        if (++w->job.lost < LOST)
            worker_job_back(p, w);
        else
            worker_finish(
                p, w, pool_verdict_only(VERDICT_TOO_SLOW, "three workers were lost while they judged it", NAN));
    }
    l->failures += l->used ? 1 : LOST;
    l->next_s = time_s() + (1 << MIN(l->failures, 8));
    w->phase = WORKER_OFF;
    if (l->failures >= LOST)
        leave_out(p, w, why);
}

static void node_fails(struct pool *p, struct worker *w, const char *words)
{
    struct err why;

    err_world(&why, "%s", words);
    node_failed(p, w, &why);
}

static void node_opened(struct pool *p, struct worker *w, const json_t *reply, json_t *original)
{
    struct trial_device d;
    const char *differs = NULL;
    bool measuring = pool_measures(p) && w->link.node->measures, first = !p->device.name;

    if (!trial_device_from_json(json_object_get(reply, "device"), p->arena, &d, NULL) ||
        !link_trial_fits(original, p->task) || trial_device_measures(&d) != measuring)
        differs = "it opened the task with something that is no answer";
    else if (!pool_measures(p) && !str_eq(d.model, p->options.device))
        differs = arena_printf(p->arena, "it simulates %.40s, %s was asked for", d.model, p->options.device);
    else if (!first && measuring == pool_measures(p))
        differs = link_device_differs(p->arena, &p->device, &d);
    if (differs) {
        node_fails(p, w, differs);
        return;
    }
    if (first) {
        p->device = d;
        if (measuring && !p->alone)
            p->device.uuid = "several";
    }
    worker_opened(p, w, reply, original);
    w->link.used = true;
}

static void node_lost(struct pool *p, struct worker *w, const json_t *o)
{
    struct process_loss loss;

    if (!process_loss_from_json(o, &loss)) {
        node_fails(p, w, "it answered with something that is no answer");
    } else if (json_flag(o, "idle", false) && w->phase == WORKER_JUDGING && ++w->job.lost < LOST) {
        worker_job_back(p, w);
        w->phase = WORKER_OFF;
    } else if (w->phase == WORKER_JUDGING) {
        worker_lost(p, w, &loss);
    } else {
        node_fails(p, w, loss.words);
    }
}

static json_t *node_open_request(struct pool *p, struct worker *w)
{
    json_t *request = pool_open_request(p, w), *o = json_object_get(request, "open");
    const char *device = p->options.device;

    if (pool_measures(p)) /* each on its own GPU, or on what that one is simulated by */
        device = w->link.node->measures ? w->link.node->device : p->device.model;
    json_put(o, "files", json_incref(p->contents.files));
    json_put_num(o, "wall_s", p->limits.wall_s);
    json_put_int(o, "resident_bytes", (int64_t)p->limits.resident_bytes);
    json_put_text(o, "device", device);
    return request;
}

static void node_says(struct pool *p, struct worker *w, const char *line)
{
    struct err err = {0};
    json_t *reply = json_parse(line, strlen(line), "a worker", &err), *o;
    bool judging = w->phase == WORKER_JUDGING, opening = w->phase == WORKER_OPENING;
    char words[512];

    w->link.heard_s = time_s();
    if (json_is_object(reply) && (process_told(&w->process, reply) || json_object_get(reply, "alive"))) {
        /* that is all */
    } else if ((o = json_object_get(reply, "error"))) {
        link_error(o, p->task, &err);
        node_failed(p, w, &err);
    } else if (w->phase == WORKER_GREETING && (o = json_object_get(reply, "want")) &&
               link_send_archive(&w->link, &w->process, o)) {
        /* it greets then */
    } else if (w->phase == WORKER_GREETING && link_greets(reply, words)) {
        w->link.greeted = true;
        w->phase = WORKER_OFF;
    } else if (w->phase == WORKER_GREETING) {
        node_fails(p, w, words);
    } else if (opening && (o = json_object_get(reply, "want")) &&
               link_supply(&w->link, &w->process, &p->contents, o)) {
        /* it opens then */
    } else if (opening && (o = json_object_get(reply, "original"))) {
        node_opened(p, w, reply, o);
    } else if (judging && (o = json_object_get(reply, "trial")) && link_trial_fits(o, p->task)) {
        w->link.failures = 0;
        p->judged_by = w->link.node;
        worker_finished(p, w, reply, json_incref(o));
    } else if (judging && pool_known_same(p, o = json_object_get(reply, "same"))) {
        w->link.failures = 0;
        worker_finished(p, w, reply, pool_known_trial(p, json_string_value(o)));
    } else if ((o = json_object_get(reply, "lost"))) {
        node_lost(p, w, o);
    } else {
        node_fails(p, w, "it answered with something that is no answer");
    }
    json_decref(reply);
}

/* Its own end keeps the limits; here only silence counts, and a wall far behind its own. */
static void node_watch(struct pool *p, struct worker *w)
{
    bool greeting = w->phase == WORKER_GREETING;
    double now_s = time_s(), limit_s = greeting ? p->fleet->start_s : p->fleet->silence_s;
    char words[160];

    snprintf(words, sizeof(words),
             greeting ? "it did not greet within %.0f s" : "nothing was heard of it for %.0f s", limit_s);
    if (!link_flush(&w->link, &w->process))
        node_fails(p, w, "it reads no more");
    else if (now_s - w->link.heard_s > limit_s)
        node_fails(p, w, words);
    else if (w->phase == WORKER_JUDGING && !w->process.waiting &&
             now_s - w->process.since_s > 2 * p->limits.wall_s + p->fleet->silence_s)
        node_fails(p, w, "it did not answer within twice a candidate's time");
}

/* Who does not wait? The one that is trusted opens first, and what it says of the device holds for all; in a
 * run that measures, those that only simulate come last. */
static bool node_may_open(const struct pool *p, const struct worker *w)
{
    const struct fleet_node *n = w->link.node;

    if (pool_measures(p) && !n->measures)
        return p->original != NULL;
    return p->original || n->trusted || !others(p, w, true, true);
}

void node_turn_on(struct pool *p, struct worker *w)
{
    struct err why;

    if (w->link.left_out || !usable(p, w))
        return;
    for (int i = 0; p->alone && i < p->n_workers; i++)
        if (&p->workers[i] != w && (p->workers[i].phase != WORKER_OFF || p->workers[i].link.greeted))
            return;
    if (p->alone && !w->link.node->trusted && others(p, w, true, true))
        return;
    if (!w->link.greeted && time_s() >= w->link.next_s) {
        w->phase = WORKER_GREETING;
        if (!link_start(&w->link, &w->process, &why))
            node_failed(p, w, &why);
    } else if (w->link.greeted && node_may_open(p, w)) {
        w->phase = WORKER_OPENING;
        link_send(&w->link, &w->process, node_open_request(p, w));
    }
}

void node_turn(struct pool *p, struct worker *w, struct str *line)
{
    enum proc_read r = proc_read_line(&w->process.proc, 0, line);

    if (r == PROC_LINE)
        node_says(p, w, str_text(line));
    else if (r == PROC_EOF)
        node_fails(p, w, w->phase == WORKER_GREETING ? "its command ended before it greeted" : "it went away");
    else if (w->process.proc.pending.len > (16u << 20))
        node_fails(p, w, "it wrote a line of more than 16 MB");
    else
        node_watch(p, w);
}
