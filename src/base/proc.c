#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double time_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

size_t proc_resident_bytes(pid_t pid)
{
    char path[64];
    unsigned long size = 0, resident = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/statm", (long)pid);
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

double proc_children_cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double proc_cpu_s(pid_t pid)
{
    char path[64], line[1024];
    unsigned long long ticks[2]; /* of its children, in user code and in the kernel */
    struct timespec own;
    clockid_t clock;
    const char *rest;
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    f = fopen(path, "r");
    if (!f)
        return 0;
    n = fread(line, 1, sizeof(line) - 1, f);
    fclose(f);
    line[n] = 0;
    rest = strrchr(line, ')'); /* the name before it may hold anything */
    if (!rest ||
        sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu", &ticks[0], &ticks[1]) !=
            2 ||
        clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &own) != 0)
        return 0;
    return (double)own.tv_sec + (double)own.tv_nsec * 1e-9 +
           (double)(ticks[0] + ticks[1]) / (double)sysconf(_SC_CLK_TCK);
}

void proc_take_name(void)
{
    prctl(PR_SET_NAME, program_invocation_short_name);
}

pid_t proc_start(const char *file, const char *const *argv, int in, int out, int err_fd, struct err *err)
{
    int report[2], child_errno = 0;
    pid_t pid, parent = getpid();
    ssize_t n;

    if (pipe2(report, O_CLOEXEC) != 0) {
        err_world(err, "cannot start %s: %s", argv[0], strerror(errno));
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        sigset_t none;
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && (err_fd < 0 || dup2(err_fd, 2) >= 0))
            execvp(file, (char *const *)(uintptr_t)argv);
        child_errno = errno;
        if (write(report[1], &child_errno, sizeof(child_errno)) < 0)
            _exit(126);
        _exit(127);
    }
    if (pid < 0)
        child_errno = errno;
    close(report[1]);
    do
        n = pid > 0 ? read(report[0], &child_errno, sizeof(child_errno)) : 0;
    while (n < 0 && errno == EINTR);
    close(report[0]);
    if (pid < 0 || n > 0) {
        if (pid > 0)
            waitpid(pid, NULL, 0);
        err_world(err, "cannot start %s: %s", argv[0], strerror(child_errno));
        return -1;
    }
    return pid;
}

pid_t proc_start_piped(const char *file, const char *const *argv, int files[3], struct err *err)
{
    int ours[3] = {-1, -1, -1}, theirs[3] = {files[0], files[1], files[2]};
    pid_t pid = -1;
    bool ok = true;

    for (int i = 0; i < 3 && ok; i++) {
        int ends[2];
        if (files[i] != PROC_PIPE)
            continue;
        ok = pipe2(ends, O_CLOEXEC) == 0 || err_world(err, "cannot start %s: %s", argv[0], strerror(errno));
        ours[i] = ok ? ends[i == 0] : -1;
        theirs[i] = ok ? ends[i != 0] : -1;
    }
    if (ok)
        pid = proc_start(file, argv, theirs[0], theirs[1], theirs[2], err);
    for (int i = 0; i < 3; i++) {
        if (ours[i] < 0)
            continue;
        close(theirs[i]);
        if (pid < 0)
            close(ours[i]);
        files[i] = ours[i];
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static bool drain(int fd, struct str *to)
{
    char buf[65536];
    ssize_t n = read(fd, buf, sizeof(buf));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n <= 0)
        return false;
    str_addn(to, buf, (size_t)n);
    return true;
}

void proc_result_free(struct proc_result *r)
{
    str_free(&r->out);
    str_free(&r->err);
}

bool proc_run(const char *const *argv, const char *input, const struct proc_limits *limits,
              struct proc_result *r, struct err *err)
{
    static const struct proc_limits no_limits;
    int files[3] = {PROC_PIPE, PROC_PIPE, PROC_PIPE};
    size_t input_len = input ? strlen(input) : 0, sent = 0;
    double start_s = time_s();
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    pid_t pid;
    int status;
    bool killed = false;

    if (!limits)
        limits = &no_limits;
    *r = (struct proc_result){0};
    pid = proc_start_piped(argv[0], argv, files, err);
    if (pid < 0)
        return false;
    if (limits->cpu_s > 0) {
        const struct rlimit cpu = {(rlim_t)limits->cpu_s + 1, (rlim_t)limits->cpu_s + 2};
        prlimit(pid, RLIMIT_CPU, &cpu, NULL);
    }
    sigaction(SIGPIPE, &ignore, &old);
    fcntl(files[0], F_SETFL, O_NONBLOCK);
    bool open_out = true, open_err = true, open_in = input_len > 0;
    if (!open_in)
        close(files[0]);
    while (open_out || open_err) {
        struct pollfd p[3] = {{open_out ? files[1] : -1, POLLIN, 0},
                              {open_err ? files[2] : -1, POLLIN, 0},
                              {open_in ? files[0] : -1, POLLOUT, 0}};
        poll(p, 3, 50);
        if (p[0].revents)
            open_out = drain(files[1], &r->out);
        if (p[1].revents)
            open_err = drain(files[2], &r->err);
        if (p[2].revents) {
            ssize_t n = write(files[0], input + sent, input_len - sent);
            if (n > 0)
                sent += (size_t)n;
            if ((n < 0 && errno != EAGAIN && errno != EINTR) || sent == input_len) {
                close(files[0]);
                open_in = false;
            }
        }
        if (killed)
            continue;
        enum proc_end why = PROC_EXITED;
        if (limits->wall_s > 0 && time_s() - start_s > limits->wall_s)
            why = PROC_TIMED_OUT;
        else if (limits->output_bytes && r->out.len + r->err.len > limits->output_bytes)
            why = PROC_TOO_LOUD;
        else if (limits->resident_bytes && proc_resident_bytes(pid) > limits->resident_bytes)
            why = PROC_TOO_BIG;
        if (why != PROC_EXITED) {
            r->end = why;
            killed = true;
            kill(-pid, SIGKILL);
        }
    }
    if (open_in)
        close(files[0]);
    close(files[1]);
    close(files[2]);
    status = wait_for(pid);
    sigaction(SIGPIPE, &old, NULL);
    if (!killed) {
        r->end = WIFSIGNALED(status) ? PROC_SIGNALLED : PROC_EXITED;
        r->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
    return true;
}

bool proc_open(struct proc *p, const char *file, const char *const *argv, int err_fd, struct err *err)
{
    int files[3] = {PROC_PIPE, PROC_PIPE, err_fd};
    pid_t pid = proc_start_piped(file, argv, files, err);

    *p = pid < 0 ? (struct proc){.pid = -1, .to = -1, .from = -1}
                 : (struct proc){.pid = pid, .to = files[0], .from = files[1]};
    return pid >= 0;
}

bool proc_send_line(struct proc *p, const char *line, struct err *err)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    struct str text = {0};
    size_t sent = 0;

    str_add(&text, line);
    str_addc(&text, '\n');
    sigaction(SIGPIPE, &ignore, &old);
    while (sent < text.len) {
        ssize_t n = write(p->to, text.s + sent, text.len - sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    sigaction(SIGPIPE, &old, NULL);
    bool ok = sent == text.len;
    str_free(&text);
    return ok || err_world(err, "the worker process went away: %s", strerror(errno));
}

bool proc_send_some(struct proc *p, struct str *text)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    ssize_t n;

    sigaction(SIGPIPE, &ignore, &old);
    n = write(p->to, text->s, text->len);
    sigaction(SIGPIPE, &old, NULL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    memmove(text->s, text->s + n, text->len - (size_t)n);
    text->len -= (size_t)n;
    return true;
}

enum proc_read proc_read_line(struct proc *p, double wait_s, struct str *line)
{
    double end_s = time_s() + wait_s;

    for (;;) {
        char *nl = p->pending.len ? memchr(p->pending.s, '\n', p->pending.len) : NULL;
        if (nl) {
            size_t n = (size_t)(nl - p->pending.s);
            str_clear(line);
            str_addn(line, p->pending.s, n);
            memmove(p->pending.s, nl + 1, p->pending.len - n - 1);
            p->pending.len -= n + 1;
            return PROC_LINE;
        }
        struct pollfd fd = {p->from, POLLIN, 0};
        double left_s = end_s - time_s();
        if (wait_s >= 0 && left_s < 0)
            left_s = 0;
        int n = poll(&fd, 1, wait_s < 0 ? -1 : (int)(left_s * 1000) + (left_s > 0));
        if (n < 0 && errno == EINTR)
            return PROC_TIMEOUT;
        if (n == 0)
            return PROC_TIMEOUT;
        if (!drain(p->from, &p->pending))
            return PROC_EOF;
    }
}

int proc_close(struct proc *p)
{
    int status = 0;

    if (p->pid > 0) {
        if (p->to >= 0)
            close(p->to);
        close(p->from);
        status = wait_for(p->pid);
    }
    str_free(&p->pending);
    p->pid = -1;
    return status;
}

int proc_kill(struct proc *p)
{
    if (p->pid > 0)
        kill(-p->pid, SIGKILL);
    return proc_close(p);
}

int proc_end(struct proc *p, double grace_s)
{
    double until_s = time_s() + grace_s;
    siginfo_t gone = {0};

    if (p->pid <= 0)
        return proc_close(p);
    close(p->to);
    p->to = -1;
    kill(-p->pid, SIGTERM);
    while (time_s() < until_s && waitid(P_PID, (id_t)p->pid, &gone, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           !gone.si_pid)
        poll(NULL, 0, 5);
    return proc_kill(p);
}
