/* proc: child processes. proc_run runs one to its end; proc_open keeps one that speaks lines of JSON each way.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "str.h"

struct proc_limits {
    double wall_s;         /* killed after it; 0: none */
    double cpu_s;          /* of processor time, for each process of its tree; 0: none */
    size_t output_bytes;   /* more on stdout+stderr kills it; 0: none */
    size_t resident_bytes; /* polled; more kills it; 0: none */
};

enum proc_end { PROC_EXITED, PROC_SIGNALLED, PROC_TIMED_OUT, PROC_TOO_LOUD, PROC_TOO_BIG };

struct proc_result {
    enum proc_end end;
    int status; /* exit status or signal number */
    struct str out, err;
};

/* argv is NULL-terminated, searched on PATH. False only when it could not be started. Free what it gives. */
bool proc_run(const char *const *argv, const char *input, const struct proc_limits *limits,
              struct proc_result *r, struct err *err);

void proc_result_free(struct proc_result *r);

/* The running program as a file to start, also when another has taken its path since: a path looked at first
 * and started then may be replaced in between. What is started so is called "exe" until it takes its name
 * again. */
#define PROC_SELF "/proc/self/exe"
void proc_take_name(void); /* in `ps` and the like: that of argv[0] */

/* Starts file, searched on PATH, as argv with the given ends as stdin, stdout and, where >= 0, stderr; -1 on
 * failure. The child dies with its parent and leads a process group of its own, so that a kill of the group
 * takes its children too. */
pid_t proc_start(const char *file, const char *const *argv, int in, int out, int err_fd, struct err *err);

/* The same with its three files; in the place of each that is PROC_PIPE stands the other end of a pipe then. */
enum { PROC_PIPE = -2 };
pid_t proc_start_piped(const char *file, const char *const *argv, int files[3], struct err *err);

struct proc {
    pid_t pid;
    int to, from; /* pipes: its stdin, its stdout */
    struct str pending;
};

/* err_fd: its stderr, which stays the caller's; -1: ours. */
bool proc_open(struct proc *p, const char *file, const char *const *argv, int err_fd, struct err *err);
bool proc_send_line(struct proc *p, const char *line, struct err *err);
/* Takes from the front of text what the pipe holds now, and waits for nothing; its end was made O_NONBLOCK.
 * False: nobody reads there any more. */
bool proc_send_some(struct proc *p, struct str *text);

enum proc_read { PROC_LINE, PROC_EOF, PROC_TIMEOUT };
/* Waits at most wait_s (negative: for ever) for one line, without its newline. */
enum proc_read proc_read_line(struct proc *p, double wait_s, struct str *line);
size_t proc_resident_bytes(pid_t pid); /* 0 when unknown */
double proc_children_cpu_s(void);      /* of all children of this process that have ended */
double proc_cpu_s(
    pid_t pid); /* processor time of its threads and of its children that have ended; 0: unknown */
int proc_close(struct proc *p); /* closes the pipes, waits; gives the wait status */
int proc_kill(struct proc *p);  /* SIGKILL, then as close */
int proc_end(struct proc *p,
             double grace_s); /* SIGTERM and a closed stdin; after so long SIGKILL; then as close */

double time_s(void); /* monotonic seconds */

#endif
