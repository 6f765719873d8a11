/* Kernels' runs in child processes: their events told on, and what came of each into its row. */
#include "campaign/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SURVEY_S = 300, LISTEN_MS = 250 };

static volatile sig_atomic_t stop_asked, child_pids[CAMPAIGN_MOST];

/* Children lead process groups of their own: they hear of Ctrl-C from here alone. */
void campaign_stop(void)
{
    stop_asked++;
    for (int i = 0; i < CAMPAIGN_MOST; i++)
        if (child_pids[i] > 0)
            kill(child_pids[i], SIGINT);
}

bool campaign_stopping(void)
{
    return stop_asked > 0;
}

/* The last thing that astra said on stderr, without its name. */
static const char *last_words(struct arena *a, const char *text)
{
    static const char name[] = "astra: ";
    const char *at = text, *last = NULL;

    while ((at = strstr(at, name))) {
        at += strlen(name);
        last = at;
    }
    return last ? arena_strndup(a, last, strcspn(last, "\n")) : "it ended without a word";
}

static void fail(struct kernel_row *row, const char *words)
{
    row->status = "failed";
    row->words = words;
}

/* The value of an option of the runs; NULL: it is not said. */
static const char *passed(const struct campaign *c, const char *option)
{
    const char *value = NULL;

    for (size_t i = 0; i + 1 < c->n_passed; i++)
        if (str_eq(c->passed[i], option))
            value = c->passed[i + 1];
    return value;
}

bool campaign_survey(struct campaign *c, struct kernel_row *row, struct err *err)
{
    const char *device = passed(c, "--device");
    struct proc_limits limits = {.wall_s = SURVEY_S};
    struct proc_result r;
    json_t *o;

    const char *argv[] = {PROC_SELF, "profile", row->dir, "--device", device ? device : "auto",
                          "--json",  "--quiet", NULL};
    if (!proc_run(argv, NULL, &limits, &r, err))
        return false;
    if (r.end == PROC_EXITED && r.status == 0 &&
        (o = json_parse(str_text(&r.out), r.out.len, "the profile", NULL))) {
        row->share_of_copy = json_num(o, "share_of_copy");
        json_decref(o);
    } else if (r.end == PROC_EXITED) {
        fail(row, last_words(c->a, str_text(&r.err)));
    } else {
        fail(row, arena_printf(c->a, "its profile did not end within %d s", SURVEY_S));
    }
    proc_result_free(&r);
    return true;
}

/* The child's stderr is a file beside its run's folder. */
static bool start(struct campaign *c, const struct kernel_row *row, const char *const *argv, struct proc *p,
                  struct err *err)
{
    const char *log = fs_join(c->a, c->out, arena_printf(c->a, "%s.log", row->run));
    int words = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (words < 0)
        return err_world(err, "cannot write %s: %s", log, strerror(errno));
    bool ok = proc_open(p, PROC_SELF, argv, words, err);
    close(words);
    return ok;
}

/* An event of the child's, as one of ours; its last line is no event but the result. */
static void tell(struct kernel_row *row, const struct str *line)
{
    json_t *o = json_parse(str_text(line), line->len, "an event", NULL);
    const char *event = json_text(o, "event", NULL);

    if (event) {
        char *name = strdup(event);
        if (str_eq(event, "end"))
            row->wall_s = json_num(o, "wall_s");
        json_object_del(o, "event");
        json_object_del(o, "t_s"); /* this process has its own clock */
        json_put_text(o, "kernel", row->name);
        trace_event(name, o);
        free(name);
    } else {
        json_decref(o);
    }
}

/* What the run's folder says now. */
static void take_result(struct campaign *c, struct kernel_row *row)
{
    const char *path = fs_join(c->a, fs_join(c->a, c->out, row->run), "result.json");
    const json_t *speedup, *w;
    char *text;
    size_t n, i, timed = 0;
    double logs = 0;

    if (!fs_exists(path) || !fs_read(c->a, path, &text, &n, NULL))
        return;
    json_t *o = json_parse(text, n, path, NULL);
    speedup = json_object_get(o, "speedup");
    row->speedup = json_num(speedup, "geomean");
    row->low = json_num(speedup, "low");
    row->high = json_num(speedup, "high");
    row->outcome = arena_strdup(c->a, json_text(o, "outcome", "unchanged"));
    row->basis = arena_strdup(c->a, json_text(json_object_get(o, "device"), "basis", "modelled"));
    json_array_foreach(json_object_get(o, "workloads"), i, w)
    {
        double share = json_num(w, "light_us") / json_num(w, "best_us");
        if (isfinite(share) && share > 0) {
            logs += log(share);
            timed++;
        }
    }
    row->share_of_copy = timed ? exp(logs / (double)timed) : row->share_of_copy;
    json_decref(o);
}

static void end_row(struct campaign *c, struct kernel_row *row, int status, double budget_s)
{
    const char *log = fs_join(c->a, c->out, arena_printf(c->a, "%s.log", row->run));
    char *text = NULL;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    take_result(c, row);
    row->words = NULL;
    row->had_turn = true;
    if (code == 0 ||
        (code == 3 && (budget_s <= 0 || row->wall_s < budget_s))) /* of models: more time gains nothing */
        row->status = "done";
    else if (code == 3)
        row->status = "budget";
    else if (code == 130)
        row->status = "interrupted";
    else if (code < 0)
        fail(row, arena_printf(c->a, "its process died of signal %d; it can be resumed", WTERMSIG(status)));
    else
        fail(row, fs_read(c->a, log, &text, NULL, NULL) ? last_words(c->a, text) : "it ended without a word");
}

bool campaign_begin(struct campaign *c, struct kernel_row *row, double budget_s, struct err *err)
{
    const char *run = fs_join(c->a, c->out, row->run);
    bool goes_on = fs_exists(fs_join(c->a, run, "run.db"));
    VEC(const char *) argv = {0};
    struct child *child = c->children;

    while (child->row)
        child++;
    vec_add(c->a, &argv, "astra");
    vec_add(c->a, &argv, goes_on ? "resume" : "optimize");
    vec_add(c->a, &argv, goes_on ? run : row->dir);
    for (size_t i = 0; i < c->n_passed && !goes_on; i++)
        vec_add(c->a, &argv, c->passed[i]);
    if (!goes_on) {
        vec_add(c->a, &argv, "--out");
        vec_add(c->a, &argv, run);
    }
    if (c->o->workers) {
        vec_add(c->a, &argv, "--workers");
        vec_add(c->a, &argv, c->o->workers);
    } else if (c->o->jobs > 0 && !passed(c, "--jobs")) {
        vec_add(c->a, &argv, "--jobs");
        vec_add(c->a, &argv, arena_printf(c->a, "%d", c->o->jobs));
    }
    if (budget_s > 0) {
        vec_add(c->a, &argv, "--budget-time");
        vec_add(c->a, &argv, arena_printf(c->a, "%.0f", ceil(budget_s)));
    }
    vec_add(c->a, &argv, "--json=events");
    vec_add(c->a, &argv, "--quiet");
    vec_add(c->a, &argv, NULL);
    if (!start(c, row, argv.v, &child->p, err))
        return false;
    child->row = row;
    child->budget_s = budget_s;
    row->under_way = true;
    c->under_way++;
    child_pids[child - c->children] = child->p.pid;
    if (stop_asked) /* before it was known */
        kill(child->p.pid, SIGINT);
    return true;
}

/* False: it has ended. */
static bool hear(struct child *child)
{
    enum proc_read got;

    while ((got = proc_read_line(&child->p, 0, &child->line)) == PROC_LINE)
        tell(child->row, &child->line);
    return got != PROC_EOF;
}

struct kernel_row *campaign_listen(struct campaign *c)
{
    struct pollfd fds[CAMPAIGN_MOST];
    nfds_t n = 0;

    for (struct child *child = c->children; child < c->children + CAMPAIGN_MOST; child++)
        if (child->row)
            fds[n++] = (struct pollfd){child->p.from, POLLIN, 0};
    poll(fds, n, LISTEN_MS);
    for (struct child *child = c->children; child < c->children + CAMPAIGN_MOST; child++) {
        struct kernel_row *row = child->row;
        if (!row || hear(child))
            continue;
        child_pids[child - c->children] = 0;
        end_row(c, row, proc_close(&child->p), child->budget_s);
        str_free(&child->line);
        *child = (struct child){0};
        row->under_way = false;
        c->under_way--;
        return row;
    }
    return NULL;
}
