/* The two watchers of alone.c: what they print goes into a trial, or becomes a finding. */
#include "worker.h"

#define BUSY      0.6 /* of a resource's peak: it is what bounds */
#define LAUNCH_US 1.5 /* a plan this short is its own launch, whatever is in it */
#define LIMIT_S   300.0

/* ---- the program that runs the version ---- */

struct solo {
    char *dir, *map;
    const char *argv[8];
};

static bool solo_open(struct solo *s, struct arena *a, const struct watched *v, const char *what,
                      struct err *err)
{
    char *file;

    s->dir = fs_temp_dir(a, err);
    if (!s->dir)
        return false;
    /* The file keeps its name: findings say it. */
    file = fs_join(a, s->dir, fs_basename(v->path));
    s->map = fs_join(a, s->dir, "map.json");
    const char *const argv[] = {fs_self(a), "launch", v->task->dir, file, v->device, what, s->map, NULL};
    memcpy(s->argv, argv, sizeof(argv));
    if (fs_write_text(file, v->text, err))
        return true;
    fs_remove_tree(s->dir);
    return false;
}

static void solo_close(struct solo *s)
{
    fs_remove_tree(s->dir);
}

/* ---- counters ---- */

static void add_insns(line_sums *lines, const struct counted_launch *l, const json_t *lines_of)
{
    for (size_t i = 0; i < l->n_insns; i++) {
        const struct counted_insn *x = &l->insns[i];
        struct line_sum *sum = lines_at(lines, (int)json_integer_value(json_array_get(lines_of, i)));
        sum->time += x->samples;
        sum->insns += x->warps;
        sum->lanes += x->threads;
        sum->requests += x->requests;
        sum->sectors += x->sectors;
        sum->ideal += x->ideal_sectors;
        sum->shared += x->warps;
        sum->conflicts += x->shared_ways;
    }
}

static double share(double pct)
{
    return isfinite(pct) ? pct / 100 : 0;
}

static const char *bound_of(double us, double dram, double l2, double issue, const double *v)
{
    if (MAX(dram, MAX(l2, issue)) >= BUSY) {
        enum ptx_bound but_dram = l2 >= issue ? PTX_BOUND_L2 : PTX_BOUND_ISSUE;
        return ptx_bound_name(dram >= l2 && dram >= issue ? PTX_BOUND_DRAM : but_dram);
    }
    if (us < LAUNCH_US)
        return ptx_bound_name(PTX_BOUND_LAUNCH);
    if (v[COUNTER_stall_barrier] > v[COUNTER_stall_memory] && v[COUNTER_stall_barrier] > v[COUNTER_stall_queue])
        return ptx_bound_name(PTX_BOUND_SYNC);
    return ptx_bound_name(PTX_BOUND_LATENCY);
}

/* Shares of a launch are shares of the workload's measured time: by its part of the profiled time. */
struct workload_sum {
    double ns, dram, l2, issue, occupancy, dram_bytes, longest_ns;
    const double *longest;
};

static void add_launch(struct workload_sum *w, const struct counted_launch *l)
{
    double ns = isfinite(l->v[COUNTER_time_ns]) ? l->v[COUNTER_time_ns] : 0;

    w->ns += ns;
    w->dram += ns * share(l->v[COUNTER_dram_pct]);
    w->l2 += ns * MAX(share(l->v[COUNTER_l2_pct]), share(l->v[COUNTER_l1_pct]));
    w->issue += ns * MAX(share(l->v[COUNTER_issue_pct]), share(l->v[COUNTER_sm_pct]));
    w->occupancy += ns * share(l->v[COUNTER_occupancy_pct]);
    w->dram_bytes += l->v[COUNTER_dram_read_bytes] + l->v[COUNTER_dram_write_bytes];
    if (ns >= w->longest_ns) {
        w->longest_ns = ns;
        w->longest = l->v;
    }
}

static void put_time(const struct workload_sum *w, struct trial_time *t)
{
    if (!w->longest || !(w->ns > 0))
        return;
    double dram = w->dram / w->ns, l2 = w->l2 / w->ns, issue = w->issue / w->ns;
    double most = MAX(dram, MAX(l2, issue));
    t->bound = bound_of(t->us, dram, l2, issue, w->longest);
    t->pipe = NULL;
    t->dram_us = t->us * dram;
    t->l2_us = t->us * l2;
    t->issue_us = t->us * issue;
    t->latency_us = t->us * (1 - MIN(most, 1));
    t->launch_us = t->sync_us = NAN;
    t->occupancy = w->occupancy / w->ns;
    t->dram_bytes = w->dram_bytes;
    t->extrapolated = false;
}

/* Launch after launch, the map's and the profiler's lists are the same ones. */
static bool merge(const json_t *map, const struct counted_launch *launches, size_t n, const struct task *task,
                  struct arena *a, struct trial *t)
{
    const json_t *list = json_object_get(map, "launches"), *kernels = json_object_get(map, "kernels");
    struct workload_sum *sums = arena_array(a, struct workload_sum, t->n_workloads + 1);
    struct trial_workload *workloads = arena_copy(a, t->workloads, t->n_workloads * sizeof(*workloads));
    line_sums lines = {0};
    bool same = json_array_size(list) == n;

    for (size_t i = 0; same && i < n; i++) {
        const json_t *o = json_array_get(list, i);
        size_t plan = (size_t)json_int(o, "plan", -1);
        same = plan < t->n_workloads && str_eq(json_text(o, "kernel", ""), launches[i].kernel);
        if (!same)
            break;
        add_launch(&sums[plan], &launches[i]);
        add_insns(&lines, &launches[i], json_object_get(kernels, launches[i].kernel));
    }
    if (same) {
        for (size_t i = 0; i < t->n_workloads; i++)
            put_time(&sums[i], &workloads[i].times[task->regime]);
        t->workloads = workloads;
        lines_put(&lines, a, t);
        t->counters = "ncu";
    }
    vec_free(&lines);
    return same;
}

bool watch_counters(const struct watched *v, bool few, struct arena *a, struct trial *t, const char **why_not,
                    struct err *err)
{
    struct counted_run run;
    struct solo solo;
    struct err unread = {0};
    char *map;
    size_t len;
    bool ok;

    if (!solo_open(&solo, a, v, few ? "few" : "workloads", err))
        return false;
    ok = ncu_run(a, solo.argv, solo.dir, LIMIT_S, &run, err);
    *why_not = run.why_not;
    if (ok && !*why_not) {
        json_t *o =
            fs_read(a, solo.map, &map, &len, &unread) ? json_parse(map, len, "map.json", &unread) : NULL;
        if (!o)
            *why_not = arena_printf(a, "the profiled program did not end: %s", unread.text);
        else if (!merge(o, run.launches, run.n_launches, v->task, a, t))
            *why_not = "the profiler's launches are not those of the version";
        json_decref(o);
    }
    solo_close(&solo);
    return ok;
}

/* ---- the sanitizer ---- */

bool watch_sanitizer(const struct watched *v, struct arena *a, struct watch_finding *f, struct err *err)
{
    static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    struct solo solo;
    bool ok = true;

    *f = (struct watch_finding){0};
    if (!solo_open(&solo, a, v, "suite", err))
        return false;
    for (size_t i = 0; ok && !f->words && i < ARRAY_LEN(tools); i++) {
        struct memcheck_result r;
        if (v->task->accept_race && str_eq(tools[i], "racecheck"))
            continue;
        ok = memcheck_run(a, tools[i], solo.argv, v->path, LIMIT_S, &r, err);
        if (!ok)
            break;
        if (r.why_not) {
            f->why_not = f->why_not ? arena_printf(a, "%s; %s", f->why_not, r.why_not) : r.why_not;
            if (!memcheck_path(a))
                break; /* none of them will be there */
        } else if (r.found) {
            f->tool = tools[i];
            f->line = r.line;
            f->words = arena_printf(a, "compute-sanitizer's %s: %s%s%s%s", tools[i], r.found,
                                    r.printed ? " (" : "", r.printed ? r.printed : "", r.printed ? ")" : "");
        }
    }
    solo_close(&solo);
    return ok;
}
