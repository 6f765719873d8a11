/* What the live screen costs: a recorded event stream replayed in its own time on a pseudo-terminal of 120 by
 * 40, and the share of a core that this took.
 *
 *   bench_screen EVENTS [SPEED]     SPEED 10: ten times as fast
 */
#include "tui/tui.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void no_stop(void)
{
}

static double cpu_s(int who)
{
    struct rusage u;

    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* In the child: what reading the events costs is taken off by doing it before the clock starts. */
static int replay(const char *path, double speed, int report)
{
    struct arena *a = arena_open();
    VEC(json_t *) events = {0};
    struct err err = {0};
    char *text, *line, *rest;
    double before_s, start_s, used_s;

    if (!fs_read(a, path, &text, NULL, &err))
        return 1;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        vec_push(&events, json_parse(line, strlen(line), path, &err));
    before_s = cpu_s(RUSAGE_SELF);
    start_s = time_s();
    tui_open(&(struct tui_options){.screen = true, .stop = no_stop});
    for (size_t i = 0; i < events.n; i++) {
        double wait_s = json_num(events.v[i], "t_s") / speed - (time_s() - start_s);
        char event[64];
        if (wait_s > 0)
            usleep((useconds_t)(1e6 * wait_s));
        snprintf(event, sizeof(event), "%s", json_text(events.v[i], "event", "?"));
        json_object_del(events.v[i], "event");
        json_object_del(events.v[i], "t_s");
        trace_event(event, json_incref(events.v[i]));
    }
    tui_close();
    used_s = cpu_s(RUSAGE_SELF) - before_s;
    if (write(report, &used_s, sizeof(used_s)) != (ssize_t)sizeof(used_s))
        return 1;
    for (size_t i = 0; i < events.n; i++)
        json_decref(events.v[i]);
    vec_free(&events);
    arena_close(a);
    return 0;
}

int main(int argc, char **argv)
{
    struct winsize size = {.ws_row = 40, .ws_col = 120};
    double speed = argc > 2 ? strtod(argv[2], NULL) : 1, used_s = NAN, start_s = time_s(), wall_s;
    long long shown = 0;
    char bytes[65536];
    int tty, report[2], status;
    ssize_t n;
    pid_t pid;

    if (argc < 2 || !(speed > 0) || pipe(report) != 0) {
        fputs("usage: bench_screen EVENTS [SPEED]\n", stderr);
        return 2;
    }
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    pid = forkpty(&tty, NULL, NULL, &size);
    if (pid == 0)
        _exit(replay(argv[1], speed, report[1]));
    while (pid > 0 && (n = read(tty, bytes, sizeof(bytes))) > 0)
        shown += n;
    close(report[1]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 ||
        read(report[0], &used_s, sizeof(used_s)) != (ssize_t)sizeof(used_s)) {
        fprintf(stderr, "the replay failed: %s\n", argv[1]);
        return 1;
    }
    wall_s = time_s() - start_s;
    printf("%.1f s of events, %.3f s of processor time: %.3f %% of a core; %lld bytes drawn, %.0f a second\n",
           wall_s, used_s, 100 * used_s / wall_s, shown, (double)shown / wall_s);
    printf("the target is below 1 %%: %s\n", used_s / wall_s < 0.01 ? "met" : "missed");
    return 0;
}
