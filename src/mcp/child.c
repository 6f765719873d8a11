/* A process of this program at work: what it tells on stderr while it works (events, one a line, and words),
 * and what it prints at its end. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SAID = 64 << 10 };

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool child_start(struct child *c, const char *folder, const char *const *argv, struct err *err)
{
    const struct rlimit file = {(rlim_t)MAX_RUN_MB << 20, (rlim_t)MAX_RUN_MB << 20};
    int files[3] = {open("/dev/null", O_RDONLY | O_CLOEXEC), PROC_PIPE, PROC_PIPE};

    *c = (struct child){.out = -1, .err = -1};
    if (files[0] < 0)
        return err_world(err, "cannot open /dev/null: %s", strerror(errno));
    /* Nothing of this process goes by its folder: roots are open, all other paths absolute. */
    if (chdir(folder) != 0)
        err_world(err, "cannot go to %s: %s", folder, strerror(errno));
    else
        c->pid = proc_start_piped(PROC_SELF, argv, files, err);
    close(files[0]);
    if (c->pid <= 0) {
        c->pid = 0;
        return false;
    }
    c->out = files[1];
    c->err = files[2];
    prlimit(c->pid, RLIMIT_FSIZE, &file, NULL);
    fcntl(c->out, F_SETFL, O_NONBLOCK);
    fcntl(c->err, F_SETFL, O_NONBLOCK);
    c->started_s = time_s();
    return true;
}

static void drain(struct child *c, int *fd, struct str *to)
{
    char buf[65536];
    ssize_t n;

    while (*fd >= 0) {
        n = read(*fd, buf, sizeof(buf));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_fd(fd);
            return;
        }
        str_addn(to, buf, (size_t)n);
        if (to->len > MAX_OUTPUT) {
            c->too_loud = true;
            str_clear(to);
            child_kill(c);
            return;
        }
    }
}

void child_read(struct child *c)
{
    drain(c, &c->out, &c->found);
    drain(c, &c->err, &c->events);
}

json_t *child_event(struct child *c)
{
    for (const char *begin = c->events.s, *end; c->events.len && (end = memchr(begin, '\n', c->events.len));) {
        size_t n = (size_t)(end + 1 - begin);
        json_t *event = begin[0] == '{' ? json_parse(begin, n - 1, "an event", NULL) : NULL;
        if (!event && c->said.len + n < MAX_SAID)
            str_addn(&c->said, begin, n);
        memmove(c->events.s, c->events.s + n, c->events.len - n);
        c->events.len -= n;
        if (event)
            return event;
    }
    return NULL;
}

bool child_ended(struct child *c, int *status)
{
    pid_t pid;

    if (!c->pid)
        return true;
    do
        pid = waitpid(c->pid, status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    c->pid = 0;
    child_read(c); /* its last words */
    close_fd(&c->out);
    close_fd(&c->err);
    return true;
}

const char *child_said(const struct child *c, struct arena *a, const char *folder)
{
    const char *prefix = arena_printf(a, "%s/", folder), *from = str_text(&c->said);
    struct str s = {.arena = a};

    for (const char *at; (at = strstr(from, prefix)); from = at + strlen(prefix))
        str_addn(&s, from, (size_t)(at - from));
    str_add(&s, from);
    return s.len ? text_quote(a, "what it said", str_text(&s), 24) : "";
}

void child_kill(struct child *c)
{
    if (c->pid > 0)
        kill(-c->pid, SIGKILL);
}

void child_free(struct child *c)
{
    int status;

    child_kill(c);
    while (c->pid > 0 && !child_ended(c, &status))
        usleep(1000);
    str_free(&c->found);
    str_free(&c->events);
    str_free(&c->said);
}

void child_poll(const struct child *c, struct pollfd *p)
{
    p[0] = (struct pollfd){c->pid ? c->out : -1, POLLIN, 0};
    p[1] = (struct pollfd){c->pid ? c->err : -1, POLLIN, 0};
}

/* ---- what it tells ---- */

static const char *score_words(struct arena *a, const json_t *event)
{
    double score = json_num(event, "score");

    return isfinite(score) ? arena_printf(a, ", %.2fx", score) : "";
}

const char *event_words(struct arena *a, const json_t *event)
{
    const char *name = json_text(event, "event", ""), *text = json_text(event, "text", "");
    char *words = NULL;

    if (str_in(name, "doing|learnt|tuned|pruned|memory|gpu_busy"))
        words = arena_strdup(a, text);
    else if (str_eq(name, "mutants"))
        words =
            arena_printf(a, "%lld of %lld faults judged", json_count(event, "done"), json_count(event, "all"));
    else if (str_eq(name, "round"))
        words = arena_printf(a, "round %lld of %lld", json_count(event, "round"), json_count(event, "of"));
    else if (str_in(name, "trial|best|confirm"))
        words = arena_printf(a, "%s %lld (%s)%s%s%s", str_eq(name, "trial") ? "candidate" : name,
                             json_count(event, "id"), json_text(event, "name", ""),
                             json_text(event, "verdict", NULL) ? ": " : "", json_text(event, "verdict", ""),
                             score_words(a, event));
    return words && *words ? text_line(a, words, 240) : NULL;
}
