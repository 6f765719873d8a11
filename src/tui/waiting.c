/* Lines for a wait in which nothing happens: after a few seconds what is being waited for, then ever more
 * seldom. A thread watches the clock; the model of the run, fed by the same events, knows what goes on. */
#include "tui/internal.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { FIRST_S = 5, MOST_S = 60 };

static struct {
    pthread_t thread;
    pthread_cond_t wake;
    void (*say)(const char *text);
    bool on;

    pthread_mutex_t lock; /* of what follows */
    struct several runs;
    double said_s, pause_s; /* when something was said last; how long it may be silent from then on */
    bool end;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_seconds(struct str *to, double since_s)
{
    str_addf(to, " (%.0f s)", floor(fmax(0, several_now_s(&waiting.runs) - since_s)));
}

/* What goes on now in one run; nothing when nobody is at work. */
static void add_work(struct str *to, const struct ui_state *m)
{
    size_t shown = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.v[i].state == ROW_RUNNING) {
            str_addf(to, "%s%s", shown++ ? ", " : "judge: judges ", m->rows.v[i].name);
            add_seconds(to, m->rows.v[i].since_s);
        }
    for (int i = 0; shown == 0 && i < N_ROLES; i++) {
        const struct agent_state *a = &m->agents_now[i];
        if (!a->busy && !a->calls)
            continue;
        str_addf(to, "%s%s: %s", to->len ? "; " : "", role_name((enum role)i),
                 str_text(a->calls ? &a->call : &a->text));
        add_seconds(to, a->since_s);
    }
}

static void *watch(void *context)
{
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.end) {
        double until_s = waiting.said_s + waiting.pause_s;
        struct str text = {0};
        struct timespec at = {.tv_sec = (time_t)until_s};
        at.tv_nsec = (long)(1e9 * (until_s - (double)at.tv_sec));
        if (time_s() < until_s) {
            pthread_cond_timedwait(&waiting.wake, &waiting.lock, &at);
            continue;
        }
        waiting.said_s = time_s();
        waiting.pause_s = fmin(2 * waiting.pause_s, MOST_S);
        for (size_t i = 0; i < waiting.runs.runs.n; i++) {
            struct str one = {0};
            add_work(&one, several_at(&waiting.runs, i));
            if (one.len)
                str_addf(&text, "%s%s", text.len ? "; " : "", str_text(&one));
            str_free(&one);
        }
        if (text.len) {
            struct str clean = {0};
            str_add(&clean, "  still waiting for ");
            tui_clean(&clean, str_text(&text));
            waiting.say(str_text(&clean));
            str_free(&clean);
        }
        str_free(&text);
    }
    pthread_mutex_unlock(&waiting.lock);
    return context;
}

void waiting_event(const char *event, const json_t *fields, bool said)
{
    if (!waiting.on)
        return;
    pthread_mutex_lock(&waiting.lock);
    several_event(&waiting.runs, event, fields);
    if (said) {
        waiting.said_s = waiting.runs.heard_s;
        waiting.pause_s = FIRST_S;
    }
    pthread_mutex_unlock(&waiting.lock);
}

void waiting_open(void (*say)(const char *text))
{
    pthread_condattr_t clock;
    sigset_t all, before;

    several_open(&waiting.runs);
    waiting.say = say;
    waiting.end = false;
    waiting.said_s = waiting.runs.heard_s;
    waiting.pause_s = FIRST_S;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&waiting.wake, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* signals end the main thread's waits */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    waiting.on = pthread_create(&waiting.thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!waiting.on)
        several_close(&waiting.runs);
}

void waiting_close(void)
{
    if (!waiting.on)
        return;
    pthread_mutex_lock(&waiting.lock);
    waiting.end = true;
    pthread_cond_signal(&waiting.wake);
    pthread_mutex_unlock(&waiting.lock);
    pthread_join(waiting.thread, NULL);
    pthread_cond_destroy(&waiting.wake);
    several_close(&waiting.runs);
    waiting.on = false;
}
