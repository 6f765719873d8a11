#include "process.h"

#include <signal.h>
#include <sys/wait.h>

enum {
    /* Seconds of processor time. By the clock it is WALL times as long: a machine with other work to do gives a
     * process less of its time, and that is no fault of a candidate. */
    OPEN_S = 300,
    WALL = 10,
};
#define LOOK_S 0.05 /* a process is looked at no more often: it costs as much as some work between */

void process_asked(struct process *w)
{
    w->since_s = w->doing_s = time_s();
    w->since_cpu_s = w->proc.pid > 0 ? proc_cpu_s(w->proc.pid) : 0;
    w->compile_s = 0;
    w->doing[0] = 0;
    w->waiting = false;
}

static double compiling_s(const struct process *w, double now_s)
{
    return w->compile_s + (str_eq(w->doing, JUDGE_COMPILING) ? now_s - w->doing_s : 0);
}

bool process_told(struct process *w, const json_t *line)
{
    const json_t *o = json_object_get(line, "waiting");
    double now_s = time_s();

    if (o) {
        w->waiting = json_is_true(o);
        w->since_s = w->doing_s = now_s;
        return true;
    }
    o = json_object_get(line, "doing");
    if (!o)
        return false;
    w->compile_s = compiling_s(w, now_s);
    w->doing_s = now_s;
    snprintf(w->doing, sizeof(w->doing), "%s", json_is_string(o) ? json_string_value(o) : "");
    return true;
}

/* Too much time, which says nothing of the candidate: where it went. */
static void late(const struct process *w, double cpu_s, struct process_loss *loss)
{
    double now_s = time_s();
    struct str words = {0};

    str_addf(&words, "too slow to judge: %.0f s compiling", compiling_s(w, now_s));
    if (*w->doing && !str_eq(w->doing, JUDGE_COMPILING))
        str_addf(&words, ", %.0f s %s", now_s - w->doing_s, w->doing);
    str_addf(&words, "; %.0f s by the clock, %.0f s of processor time", now_s - w->since_s, cpu_s);
    *loss = (struct process_loss){.verdict = VERDICT_TOO_SLOW};
    snprintf(loss->words, sizeof(loss->words), "%s", str_text(&words));
    str_free(&words);
}

bool process_overdrew(const struct process *w, bool judging, const struct pool_limits *limits,
                      struct process_loss *loss)
{
    double cpu_s = proc_cpu_s(w->proc.pid) - w->since_cpu_s;
    bool over = cpu_s > (judging ? limits->candidate_s : OPEN_S);

    if (over)
        late(w, cpu_s, loss);
    return over;
}

bool process_watch(struct process *w, bool judging, const struct pool_limits *limits, struct process_loss *loss)
{
    double now_s = time_s();

    if (now_s - w->looked_s < LOOK_S)
        return false;
    w->looked_s = now_s;
    if (process_overdrew(w, judging, limits, loss))
        return true;
    if (!w->waiting && now_s - w->since_s > (judging ? limits->wall_s : WALL * OPEN_S)) {
        late(w, proc_cpu_s(w->proc.pid) - w->since_cpu_s, loss);
        return true;
    }
    if (proc_resident_bytes(w->proc.pid) <= limits->resident_bytes)
        return false;
    *loss = (struct process_loss){.verdict = VERDICT_CRASHED};
    snprintf(loss->words, sizeof(loss->words), "took more than %zu MB of memory to compile and run",
             limits->resident_bytes >> 20);
    return true;
}

void process_died(struct process *w, bool second, const struct pool_limits *limits, struct process_loss *loss)
{
    int status = proc_kill(&w->proc); /* it is dead already: this collects how */

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        late(w, limits->candidate_s, loss);
        return;
    }
    *loss = (struct process_loss){.verdict = VERDICT_CRASHED, .again = WIFSIGNALED(status)};
    if (loss->again)
        snprintf(loss->words, sizeof(loss->words),
                 "the worker that judged it died%s of signal %d (%s) while %s", second ? " twice, now" : "",
                 WTERMSIG(status), strsignal(WTERMSIG(status)), *w->doing ? w->doing : "it began");
    else
        snprintf(loss->words, sizeof(loss->words), "the worker that judged it ended with status %d",
                 WEXITSTATUS(status));
}

json_t *process_loss_to_json(const struct process_loss *loss)
{
    json_t *o = json_object();

    json_put_text(o, "verdict", verdict_name(loss->verdict));
    json_put_flag(o, "again", loss->again);
    json_put_text(o, "words", loss->words);
    return o;
}

bool process_loss_from_json(const json_t *o, struct process_loss *loss)
{
    *loss = (struct process_loss){.again = json_flag(o, "again", false)};
    snprintf(loss->words, sizeof(loss->words), "%s", json_text(o, "words", ""));
    return verdict_parse(json_text(o, "verdict", ""), &loss->verdict) && !verdict_correct(loss->verdict);
}
