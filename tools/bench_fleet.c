/* What a pool makes of many workers elsewhere, without what they judge: as many stand-ins as asked for, each a
 * process that answers an open at once and each candidate after so long. `bench_fleet [WORKERS
 * [SECONDS_A_TRIAL]]` */
#include "worker/protocol.h"

#include <sys/resource.h>
#include <unistd.h>

#define FOR_S 10.0

static void say(json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);

    printf("%s\n", text);
    fflush(stdout);
    free(text);
    json_decref(line);
}

static json_t *one(const char *key, json_t *value)
{
    json_t *o = json_object();

    json_put(o, key, value);
    return o;
}

/* A trial with a row for each workload, as large as a judge's. */
static json_t *made_up_trial(struct arena *a, const struct task *task)
{
    struct trial_workload *w = arena_array(a, struct trial_workload, task->n_workloads);
    struct trial t = {
        .verdict = VERDICT_PASSED, .words = "", .score = 1.5, .low = NAN, .high = NAN, .cases = 60};

    for (size_t i = 0; i < task->n_workloads; i++) {
        w[i].dims = task->workloads + i * task->n_dims;
        for (enum regime r = 0; r < N_REGIMES; r++) {
            w[i].times[r] = trial_time_unknown();
            w[i].times[r].us = 2.0 + (double)i;
            w[i].times[r].speedup = 1.5;
            w[i].times[r].bound = "dram";
        }
    }
    t.workloads = w;
    t.n_workloads = task->n_workloads;
    t.n_dims = task->n_dims;
    t.dim_names = task->dims;
    return trial_to_json(&t);
}

static int stand_in(const struct task *task, struct arena *a, double seconds)
{
    const struct trial_device device = {.kind = "sim", .name = "NVIDIA H200", .model = "h200", .nvrtc = "13.0"};
    struct rng rng = {(uint64_t)getpid()};
    json_t *o = json_object();
    char *line = NULL;
    size_t cap = 0;

    json_put_text(o, "astra", ASTRA_VERSION);
    json_put_int(o, "protocol", NODE_PROTOCOL);
    say(one("node", o));
    while (getline(&line, &cap, stdin) > 0) {
        if (str_starts(line, "{\"open\"")) {
            o = one("original", made_up_trial(a, task));
            json_put(o, "faults", json_array());
            json_put(o, "device", trial_device_to_json(&device));
            say(o);
        } else {
            usleep((useconds_t)(seconds * (0.5 + rng_unit(&rng)) * 1e6));
            say(one("trial", made_up_trial(a, task)));
        }
    }
    free(line);
    return 0;
}

static double own_cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bool bench(const struct task *task, const struct fleet *fleet, struct arena *a, struct err *err)
{
    const struct trial_options o = {.device = "h200", .seed = 1};
    struct pool *p = NULL;
    struct trial t;
    struct rusage u;
    char *text;
    int id, ready = 0, done = 0;
    double start_s = time_s(), begin_s = 0, cpu_s = 0;

    if (!fs_read(a, task->source_path, &text, NULL, err) || !pool_open_fleet(&p, task, &o, fleet, false, err))
        return false;
    bool ok = pool_original(p, a, &t, err);
    while (ok && (begin_s == 0 || time_s() < begin_s + FOR_S)) {
        struct arena *scratch = arena_open();
        while (ok && pool_busy(p) < 2 * fleet->n)
            ok = pool_submit(p, 1, task->source_path, text, err);
        ok = ok && pool_collect(p, 1, scratch, &id, &t, err);
        arena_close(scratch);
        if (!ok || id < 0)
            continue;
        if (begin_s == 0 &&
            ++ready >= (int)fleet->n) { /* as many answers as there are workers: all are at work */
            printf("%zu workers at work after %.1f s\n", fleet->n, time_s() - start_s);
            begin_s = time_s();
            cpu_s = own_cpu_s();
        }
        done += begin_s > 0;
    }
    if (ok) {
        getrusage(RUSAGE_SELF, &u);
        printf("%.0f trials a second, %.1f %% of a core, %ld MB at most\n", done / FOR_S,
               100 * (own_cpu_s() - cpu_s) / (time_s() - begin_s), u.ru_maxrss >> 10);
    }
    pool_close(p);
    return ok;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct fleet fleet = {
        .path = "bench_fleet", .n = argc > 1 ? (size_t)atoi(argv[1]) : 256, .start_s = 60, .silence_s = 600};
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    struct fleet_node *nodes = arena_array(a, struct fleet_node, fleet.n + 1);
    const char *const command[] = {PROC_SELF, "0", arena_printf(a, "%g", seconds), "stand-in", NULL};
    struct err err = {0};
    struct task *task;
    int status = 0;

    if (!task_open(&task, a, "examples/silu_and_mul", &err)) {
        fprintf(stderr, "bench_fleet: %s (run it in the project's root)\n", err.text);
        return 1;
    }
    if (argc > 3) {
        status = stand_in(task, a, seconds);
    } else {
        for (size_t i = 0; i < fleet.n; i++)
            nodes[i] =
                (struct fleet_node){.name = arena_printf(a, "%zu", i), .argv = command, .device = "cuda:0"};
        fleet.nodes = nodes;
        if (!bench(task, &fleet, a, &err)) {
            fprintf(stderr, "bench_fleet: %s\n", err.text);
            status = 1;
        }
    }
    arena_close(a);
    return status;
}
