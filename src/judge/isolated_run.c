/* One file's launch plans run once each on the GPU, by themselves: for a program of NVIDIA's to watch. The
 * hidden verb `launch`; who starts it, and reads what it says, is watch.c.
 *
 *     astra launch TASK_DIR FILE DEVICE suite|workloads|few MAP
 *
 * few: three workloads that are not large: the profiler saves and restores all they touch for each of its
 * passes.
 *
 * Before each plan a line says its shape; MAP gets, as JSON, what each launch belongs to and which line each
 * machine instruction comes from. */
#include "internal.h"

#include <unistd.h>

struct alone {
    struct judge *judge;
    struct version version;
    struct stage stage;
    struct arena *arena;
    size_t plan; /* number of the case or workload */
    bool profiled;
    json_t *launches;
};

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct alone *x = context;
    struct ptx_report report = {0};
    json_t *o = json_object();
    bool ok;

    (void)step;
    json_put_int(o, "plan", (int64_t)x->plan);
    json_put_text(o, "kernel", k->mangled);
    json_array_append_new(x->launches, o);
    cuda_profiled(x->judge->gpu, x->profiled);
    ok = cuda_launch(x->version.loaded, l, 120, &report, err);
    cuda_profiled(x->judge->gpu, false);
    if (ok)
        fate_of_report(x->arena, &x->version, &report, task_dims_text(x->arena, x->judge->task, x->stage.dims),
                       fate);
    ptx_report_clear(&report);
    return ok;
}

static bool run_plan(struct alone *x, const int64_t *dims, const struct stage_data *data, struct fate *fate,
                     struct err *err)
{
    const struct stage_visitor visitor = {.context = x, .launch = launch};
    struct plan plan;
    bool ok;

    printf("%s\n", task_dims_text(x->arena, x->judge->task, dims));
    fflush(stdout);
    if (!stage_open(&x->stage, x->judge, &stage_gpu, x->judge->task, dims, data, err))
        return false;
    ok = version_plan(&x->version, x->arena, dims, x->stage.addr, &plan, fate, err) &&
         (!fate_open(fate) || version_load(&x->version, fate, err)) &&
         (!fate_open(fate) || stage_run(&x->stage, &x->version, &plan, &visitor, x->arena, fate, err));
    stage_close(&x->stage);
    return ok;
}

/* The smallest workload, the largest of those that move little, and one between. */
static void choose_few(const struct task *t, bool *chosen)
{
    enum { LITTLE_BYTES = 64 << 20 };
    size_t order[256], n = 0;
    int64_t bytes[256];

    for (size_t i = 0; i < t->n_workloads && n < ARRAY_LEN(order); i++) {
        size_t at = n;
        int64_t b;
        if (!task_traffic(t, t->workloads + i * t->n_dims, &b, NULL) || (b > LITTLE_BYTES && n > 0))
            continue;
        for (; at > 0 && bytes[at - 1] > b; at--) {
            order[at] = order[at - 1];
            bytes[at] = bytes[at - 1];
        }
        order[at] = i;
        bytes[at] = b;
        n++;
    }
    if (n > 1 && bytes[n - 1] > LITTLE_BYTES)
        n--;
    if (n)
        chosen[order[0]] = chosen[order[n / 2]] = chosen[order[n - 1]] = true;
}

static bool run_plans(struct alone *x, const char *what, struct fate *fate, struct err *err)
{
    const struct judge *j = x->judge;
    bool suite = str_eq(what, "suite"), few = str_eq(what, "few"), ok = true;
    size_t n = suite ? j->n_cases : j->task->n_workloads;
    bool *chosen = arena_array(x->arena, bool, n + 1);

    if (few)
        choose_few(j->task, chosen);
    for (x->plan = 0; ok && fate_open(fate) && x->plan < n; x->plan++) {
        if (few && !chosen[x->plan])
            continue;
        const struct task_case *c = suite ? &j->cases[x->plan] : NULL;
        const int64_t *dims = suite ? c->dims : j->task->workloads + x->plan * j->task->n_dims;
        const struct stage_data data = {.values = suite ? c->values : NULL,
                                        .seed = suite ? c->seed : rng_hash(j->options.seed, x->plan),
                                        .exact = true,
                                        .trusted = !suite};
        ok = run_plan(x, dims, &data, fate, err);
    }
    return ok;
}

static bool write_map(const struct alone *x, const char *path, struct err *err)
{
    const struct image *image = &x->version.compiled.image;
    json_t *o = json_object(), *kernels = json_object();
    bool ok;

    for (size_t i = 0; i < image->n_kernels; i++) {
        json_t *list = json_array();
        struct cubin_lines found;
        if (cubin_lines(x->arena, image->cubin, image->cubin_len, image->kernels[i].mangled,
                        x->version.kernel->path, &found, NULL))
            for (size_t k = 0; k < found.n_insns; k++)
                json_array_append_new(list, json_integer(found.line_of[k]));
        json_put(kernels, image->kernels[i].mangled, list);
    }
    json_put(o, "launches", json_incref(x->launches));
    json_put(o, "kernels", kernels);
    ok = fs_write_text(path, json_line(x->arena, o), err);
    json_decref(o);
    return ok;
}

int isolated_run_main(int argc, char **argv)
{
    struct alone x = {.arena = arena_open()};
    struct task *t;
    struct fate fate = {0};
    struct err err = {0};
    char *text, line[4096];
    int status = 1;

    if (argc != 6)
        return 2;
    const struct trial_options o = {.device = argv[3], .seed = 1, .alone = true};
    x.profiled = !str_eq(argv[4], "suite");
    x.launches = json_array();
    bool ok = task_open(&t, x.arena, argv[1], &err) && fs_read(x.arena, argv[2], &text, NULL, &err) &&
              judge_open(&x.judge, t, &o, &err) && cuda_lock(x.judge->gpu, -1, &err);
    if (ok)
        x.version = (struct version){.judge = x.judge, .arena = x.arena, .task = t};
    ok = ok && version_open(&x.version, argv[2], text, &fate, &err);
    ok = ok && (!fate_open(&fate) || run_plans(&x, argv[4], &fate, &err));
    if (ok && fate_open(&fate))
        ok = write_map(&x, argv[5], &err);
    if (!ok)
        fprintf(stderr, "astra launch: %s\n", err_format(&err, line, sizeof(line)));
    else if (!fate_open(&fate))
        fprintf(stderr, "astra launch: %s: %s\n", verdict_name(fate.verdict), fate.words);
    else
        status = 0;
    fflush(NULL);
    json_decref(x.launches);
    if (x.judge && judge_spoilt(x.judge))
        _exit(status); /* a context that is lost may not let go */
    version_close(&x.version);
    judge_close(x.judge);
    arena_close(x.arena);
    return status;
}
