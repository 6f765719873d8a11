/* Any bytes as what workers write, at the parent's end: the first byte says how they die, the rest what the
 * first, second, ... of them writes before it does, an 0x1e between them. Each candidate that was submitted
 * gets a trial, or the pool says what is broken; what it gives stands. The processes are not started:
 * proc_open, proc_kill and proc_end are replaced (meson.build), and time passes by being asked for. With its
 * highest bit the first byte says that they are commands of a fleet. */
#include "worker/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
bool __wrap_proc_open(struct proc *p, const char *file, const char *const *argv, int err_fd, struct err *err);
int __wrap_proc_kill(struct proc *p);

int __wrap_proc_end(struct proc *p, double grace_s);
double __wrap_time_s(void);

static const uint8_t *next, *end;
static double now_s;
static int death, n_opened;

bool __wrap_proc_open(struct proc *p, const char *file, const char *const *argv, int err_fd, struct err *err)
{
    const uint8_t *cut = memchr(next, 0x1e, (size_t)(end - next));
    size_t n = (size_t)((cut ? cut : end) - next);
    int fds[2];

    (void)file;
    (void)argv;
    (void)err_fd;
    (void)err;
    BUG_IF(pipe(fds) != 0);
    BUG_IF(n > 65536 || (n && write(fds[1], next, n) != (ssize_t)n)); /* a pipe's buffer holds it */
    close(fds[1]);
    next += cut ? n + 1 : 0;
    BUG_IF(++n_opened > 100);
    *p = (struct proc){.pid = -1, .to = open("/dev/null", O_WRONLY), .from = fds[0]};
    return true;
}

int __wrap_proc_kill(struct proc *p)
{
    close(p->to);
    close(p->from);
    str_free(&p->pending);
    return death;
}

int __wrap_proc_end(struct proc *p, double grace_s)
{
    (void)grace_s;
    return __wrap_proc_kill(p);
}

double __wrap_time_s(void)
{
    return now_s += 0.25;
}

static void check(const struct trial *t)
{
    json_t *o = trial_to_json(t);
    struct arena *a = arena_open();
    struct trial again;

    BUG_IF(!trial_from_json(o, a, &again, NULL) || again.verdict != t->verdict);
    arena_close(a);
    json_decref(o);
}

static bool judged(struct pool *p, struct arena *a, struct err *err)
{
    const struct mutant *faults;
    struct trial t;
    size_t n;

    if (!pool_original(p, a, &t, err))
        return false;
    check(&t);
    pool_learn(p, &t);
    pool_faults(p, a, &faults, &n);
    for (int id = 1; id <= 4; id++)
        if (!pool_submit(p, id, "kernel.cu", "", err))
            return false;
    for (int turns = 0, done = 0; done < 4; turns++) {
        int id;
        BUG_IF(turns > 10000);
        if (!pool_collect(p, 0, a, &id, &t, err))
            return false;
        if (id < 0)
            continue;
        BUG_IF(id > 4);
        check(&t);
        done++;
    }
    BUG_IF(pool_busy(p) != 0);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int deaths[] = {0, 1 << 8, SIGKILL, SIGXCPU, SIGSEGV};
    static const char *const argv[] = {"astra", "node", NULL};
    static const struct fleet_node nodes[] = {{.name = "a", .argv = argv},
                                              {.name = "b", .argv = argv, .trusted = true}};
    static const struct fleet fleet = {
        .path = "workers.yaml", .nodes = nodes, .n = 2, .start_s = 60, .silence_s = 60};
    const struct trial_options o = {.device = "h200"};
    struct err err = {0};
    struct pool *p = NULL;
    struct arena *a;
    struct task *t;

    if (size == 0)
        return 0;
    death = deaths[data[0] % ARRAY_LEN(deaths)];
    next = data + 1;
    end = data + size;
    n_opened = 0;
    a = arena_open();
    BUG_IF(!task_open(&t, a, "examples/silu_and_mul", &err)); /* run from the project's root */
    bool ok =
        data[0] & 0x80 ? pool_open_fleet(&p, t, &o, &fleet, false, &err) : pool_open(&p, t, &o, 2, NULL, &err);
    if (!ok || !judged(p, a, &err))
        BUG_IF(err.kind == ERR_NONE || !err.text[0]);
    pool_close(p);
    arena_close(a);
    return 0;
}
