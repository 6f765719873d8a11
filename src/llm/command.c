/* A command as a model: the prompt on its stdin, the reply on its stdout. For agents with a command line. */
#include "llm/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERR_TAIL = 2000 };

struct exec_child {
    pid_t pid;
    int in, out, err; /* -1: closed */
    struct str prompt, reply, tail;
    size_t sent;
    double byte_s;
    bool too_big;
};

static bool check(const struct llm_config *c, const struct provider *p, struct err *err)
{
    (void)p;
    if (!c->command || !c->command[strspn(c->command, " \t\n")])
        return err_input(err, "exec needs a command that reads a prompt and prints a reply (--command)");
    return true;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* One text: the system prompt, then the conversation; its turns are marked where there are several. */
static void prompt_make(struct str *s, const struct llm_request *q)
{
    if (*q->system)
        str_addf(s, "%s\n\n", q->system);
    for (size_t i = 0; i < q->n_messages; i++) {
        const char *told = i ? "told" : "asked";
        if (q->n_messages > 1)
            str_addf(s, "## You %s%s\n\n", q->messages[i].assistant ? "" : "are ",
                     q->messages[i].assistant ? "answered" : told);
        str_addf(s, "%s\n%s", q->messages[i].text, i + 1 < q->n_messages ? "\n" : "");
    }
}

static bool set_ends(struct exec_child *x, int in[2], int out[2], int er[2])
{
    x->in = in[1];
    x->out = out[0];
    x->err = er[0];
    return fcntl(x->in, F_SETFL, O_NONBLOCK) == 0 && fcntl(x->out, F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(x->err, F_SETFL, O_NONBLOCK) == 0;
}

static void start(struct call *c)
{
    const struct llm_config *cfg = &c->llm->c;
    const char *argv[] = {"/usr/bin/env",
                          arena_printf(c->arena, "ASTRA_ROLE=%s", c->q.role),
                          arena_printf(c->arena, "ASTRA_LABEL=%s", c->q.label),
                          arena_printf(c->arena, "ASTRA_MODEL=%s", cfg->model ? cfg->model : ""),
                          "/bin/sh",
                          "-c",
                          cfg->command,
                          NULL};
    int in[2] = {-1, -1}, out[2] = {-1, -1}, er[2] = {-1, -1};
    struct exec_child *x = mem_zalloc(sizeof(*x));
    struct err err = {0};

    x->pid = -1;
    x->in = x->out = x->err = -1;
    x->byte_s = time_s();
    c->child = x;
    prompt_make(&x->prompt, &c->q);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(er, O_CLOEXEC) != 0 ||
        !set_ends(x, in, out, er))
        err_world(&err, "cannot start the command: %s", strerror(errno));
    else
        x->pid = proc_start(argv[0], argv, in[0], out[1], er[1], &err);
    close_fd(&in[0]);
    close_fd(&out[1]);
    close_fd(&er[1]);
    if (x->pid < 0) {
        answer_fail(&c->answer, TRY_AGAIN, "%s", err.text);
        c->llm->provider->stop(c);
        call_judged(c, TRY_AGAIN, NAN);
    }
}

static void stop(struct call *c)
{
    struct exec_child *x = c->child;

    if (!x)
        return;
    close_fd(&x->in);
    close_fd(&x->out);
    close_fd(&x->err);
    if (x->pid > 0) {
        kill(-x->pid, SIGKILL);
        while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    str_free(&x->prompt);
    str_free(&x->reply);
    str_free(&x->tail);
    free(x);
    c->child = NULL;
}

static void feed(struct exec_child *x)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    ssize_t n;

    sigaction(SIGPIPE, &ignore, &old);
    n = write(x->in, x->prompt.s + x->sent, x->prompt.len - x->sent);
    sigaction(SIGPIPE, &old, NULL);
    if (n > 0)
        x->sent += (size_t)n;
    if (x->sent == x->prompt.len || (n < 0 && errno != EAGAIN && errno != EINTR)) /* it need not read all */
        close_fd(&x->in);
}

static void drain(struct exec_child *x, int *fd, struct str *to)
{
    char buf[65536];
    ssize_t n = read(*fd, buf, sizeof(buf));

    if (n > 0) {
        x->byte_s = time_s();
        str_addn(to, buf, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(fd);
    }
    if (x->reply.len > REPLY_MAX_BYTES)
        x->too_big = true;
    if (x->tail.len > 2 * ERR_TAIL) {
        memmove(x->tail.s, x->tail.s + x->tail.len - ERR_TAIL, ERR_TAIL);
        x->tail.len = ERR_TAIL;
        x->tail.s[ERR_TAIL] = '\0';
    }
}

static void drain_all(struct exec_child *x, int *fd, struct str *to)
{
    size_t before;

    do {
        before = to->len;
        if (*fd >= 0)
            drain(x, fd, to);
    } while (*fd >= 0 && to->len > before && !x->too_big);
}

static bool wait_for(struct llm *l, double wait_s)
{
    VEC(struct pollfd) p = {0};
    int ready;

    for (struct call *c = l->calls; c; c = c->next) {
        if (!c->child)
            continue;
        if (c->child->out < 0) /* nothing to poll: it is about to end */
            wait_s = MIN(wait_s, 0.005);
        vec_push(&p, ((struct pollfd){c->child->in, POLLOUT, 0}));
        vec_push(&p, ((struct pollfd){c->child->out, POLLIN, 0}));
        vec_push(&p, ((struct pollfd){c->child->err, POLLIN, 0}));
    }
    ready = poll(p.v, p.n, (int)(MIN(wait_s, 3600.0) * 1e3) + (wait_s > 0));
    if (ready < 0 && errno == EINTR) {
        vec_free(&p);
        return false;
    }
    size_t i = 0;
    for (struct call *c = l->calls; c; c = c->next) {
        struct exec_child *x = c->child;
        if (!x)
            continue;
        if (p.v[i++].revents)
            feed(x);
        if (p.v[i++].revents)
            drain(x, &x->out, &x->reply);
        if (p.v[i++].revents)
            drain(x, &x->err, &x->tail);
    }
    vec_free(&p);
    return true;
}

/* The last words of its stderr, which usually say it. */
static void add_tail(struct answer *a, const struct exec_child *x)
{
    struct str clean = {0};
    const char *s = str_text(&x->tail);
    size_t n = x->tail.len, skip;

    while (n && strchr(" \t\r\n", s[n - 1]))
        n--;
    skip = n > 400 ? n - 400 : 0;
    text_add_utf8(&clean, s + skip, n - skip);
    if (clean.len)
        str_addf(&a->words, ": %s%s", skip ? "..." : "", clean.s);
    str_free(&clean);
}

/* As far as it may go. */
static void take_reply(struct call *c)
{
    struct answer *a = &c->answer;
    int64_t most = c->q.output_most, n;

    text_add_utf8(&a->text, str_text(&c->child->reply), c->child->reply.len);
    a->ended = a->choice = true;
    while (most && (n = llm_tokens(str_text(&a->text))) > most) {
        a->end = LLM_CUT;
        a->text.len = (size_t)((double)a->text.len * (double)most / (double)n);
        while (a->text.len && ((unsigned char)a->text.s[a->text.len] & 0xc0) == 0x80) /* whole characters */
            a->text.len--;
        a->text.s[a->text.len] = '\0';
    }
}

static bool is_too_long(const struct call *c)
{
    const struct str *reply = &c->child->reply;
    int64_t most = c->q.output_most; /* a token has a byte at least */

    return most && (int64_t)reply->len > most && llm_tokens(str_text(reply)) > most;
}

static enum verdict judge(struct call *c, int status)
{
    struct exec_child *x = c->child;
    struct answer *a = &c->answer;

    if (WIFSIGNALED(status)) {
        answer_fail(a, TRY_ONCE_MORE, "the command was killed by signal %d", WTERMSIG(status));
    } else if (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127) {
        answer_fail(a, TRY_FATAL, "the command cannot be run (status %d)", WEXITSTATUS(status));
    } else if (WEXITSTATUS(status)) {
        answer_fail(a, TRY_ONCE_MORE, "the command failed with status %d", WEXITSTATUS(status));
    } else {
        take_reply(c);
    }
    if (a->failed)
        add_tail(a, x);
    return answer_judge(a);
}

static void look(struct call *c)
{
    struct exec_child *x = c->child;
    const char *late = call_over_time(c, x->reply.len > 0, x->byte_s);
    enum verdict v;
    int status = 0;
    siginfo_t ended = {0};

    if (x->reply.len && !c->first_s)
        c->first_s = time_s();
    if (is_too_long(c)) {
        take_reply(c);
        v = answer_judge(&c->answer);
    } else if (x->too_big) {
        answer_fail(&c->answer, v = TRY_NO_MORE, "the command printed more than %zu MB", REPLY_MAX_BYTES >> 20);
    } else if (late) {
        answer_fail(&c->answer, v = TRY_ONCE_MORE, "the command %s", late);
        add_tail(&c->answer, x);
    } else {
        if (waitid(P_PID, (id_t)x->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0)
            return;
        kill(-x->pid, SIGKILL); /* what it left behind, which may hold the pipes open */
        while (waitpid(x->pid, &status, 0) < 0 && errno == EINTR)
            ;
        x->pid = -1;
        drain_all(x, &x->out, &x->reply);
        drain_all(x, &x->err, &x->tail);
        v = judge(c, status);
    }
    stop(c);
    call_judged(c, v, NAN);
}

const struct provider provider_exec = {
    .name = "exec",
    .what = "a command that reads the prompt and prints the reply",
    .check = check,
    .start = start,
    .look = look,
    .stop = stop,
    .wait = wait_for,
};
