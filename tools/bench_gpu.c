/* What measuring on this machine's GPU is worth: the original of each task against itself, a difference of 2 %
 * made on purpose, the same again and again to see how often it is called a difference, and candidates judged
 * an hour.
 *
 *     bench_gpu [--device cuda:N] [--workers N] [--candidates N] [--json FILE] TASK_DIR...
 *
 * The last figure is of the first task, in as many workers. */
#include <unistd.h>

#include "judge/timing/paired.h"
#include "judge/judge.h"
#include "worker/worker.h"

enum { REPEATS = 10, REPEATS_OF_TASKS = 3 };

struct options {
    const char *device, *json;
    int workers, candidates, n_tasks;
    char **tasks;
};

/* A kernel whose time is its turns: ten more in 500 are 2 %, and the same bits come out. */
static const char turns_text[] =
    "__global__ void turn(float *out, const float *in, float a, float b, int n)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n)\n        return;\n"
    "    float x = in[i];\n"
    "#pragma unroll 10\n"
    "    for (int k = 0; k < %d; k++)\n        x = fmaf(x, a, b);\n"
    "    out[i] = x;\n}\n\n"
    "extern \"C\" void turns(float *out, const float *in, float a, float b, int n,\n"
    "                      cudaStream_t stream)\n{\n"
    "    turn<<<(n + 255) / 256, 256, 0, stream>>>(out, in, a, b, n);\n}\n";
static const char turns_task[] = "name: turns\nsource: kernel.cu\nentry: turns\nargs:\n"
                                 "  - {name: out, type: f32, shape: [n], role: out}\n"
                                 "  - {name: in, type: f32, shape: [n], role: in}\n"
                                 "  - {name: a, type: f32, value: 1}\n"
                                 "  - {name: b, type: f32, value: 0}\n"
                                 "  - {name: n, type: i32, value: n}\n"
                                 "dims: [n]\ndomain: [n >= 1]\n"
                                 "workloads:\n  - [8192]\n  - [1048576]\n  - [16777216]\n";

static double noise_allowed(double us)
{
    return us < 5 ? 0.015 : 0.005;
}

static void print_row(const char *task, const char *dims, const char *regime, const struct trial_time *x)
{
    printf("| %s | %s | %s | %.2f | %.2f | %.2f | %.4f | %.4f to %.4f | %.0f |\n", task, dims, regime,
           x->base_us, x->us, x->copy_us, x->speedup, x->low, x->high, x->pairs);
}

static void print_head(void)
{
    puts("| task | workload | regime | A us | B us | copy us | A / B | 95 % interval | pairs |\n"
         "|---|---|---|---|---|---|---|---|---|");
}

static void print_trial(struct arena *a, const struct task *task, const struct trial *t)
{
    for (size_t i = 0; i < t->n_workloads; i++) {
        const char *dims = task_dims_text(a, task, t->workloads[i].dims);
        for (enum regime r = 0; r < N_REGIMES; r++)
            if (!isnan(t->workloads[i].times[r].us))
                print_row(task->name, dims, regime_name(r), &t->workloads[i].times[r]);
    }
}

static struct trial_options judging(const struct options *o, uint64_t seed)
{
    return (struct trial_options){.device = o->device, .seed = seed, .measure_only = true};
}

/* What was measured, and only that. */
static json_t *measured_to_json(const char *task, const char *what, const struct trial *t)
{
    json_t *o = json_object(), *times = json_array();

    json_put_text(o, "task", task);
    json_put_text(o, "what", what);
    json_put_text(o, "verdict", verdict_name(t->verdict));
    json_put_num(o, "score", t->score);
    json_put_num(o, "low", t->low);
    json_put_num(o, "high", t->high);
    json_put_num(o, "compile_s", t->compile_s);
    json_put_num(o, "verify_s", t->verify_s);
    json_put_num(o, "measure_s", t->measure_s);
    json_put_num(o, "gpu_verify_s", t->gpu_verify_s);
    json_put_num(o, "gpu_measure_s", t->gpu_measure_s);
    json_put_num(o, "wall_s", t->wall_s);
    for (size_t i = 0; i < 2 * t->n_workloads; i++) {
        const struct trial_time *x = &t->workloads[i / 2].times[i % 2];
        json_t *row = json_object(), *dims = json_array();
        if (isnan(x->us)) {
            json_decref(row);
            json_decref(dims);
            continue;
        }
        for (size_t k = 0; k < t->n_dims; k++)
            json_array_append_new(dims, json_integer(t->workloads[i / 2].dims[k]));
        json_put(row, "dims", dims);
        json_put_text(row, "regime", regime_name(i % 2));
        json_put_num(row, "original_us", x->base_us);
        json_put_num(row, "us", x->us);
        json_put_num(row, "copy_us", x->copy_us);
        json_put_num(row, "speedup", x->speedup);
        json_put_num(row, "low", x->low);
        json_put_num(row, "high", x->high);
        json_put_num(row, "pairs", x->pairs);
        json_array_append_new(times, row);
    }
    json_put(o, "times", times);
    return o;
}

/* One trial a line, for whoever compares two files. */
static bool write_json(const char *path, struct arena *a, json_t *out, struct err *err)
{
    struct str s = {0};
    const char *key;
    json_t *x;
    size_t i;
    bool ok;

    str_add(&s, "{");
    json_object_foreach(out, key, x)
    {
        if (json_is_string(x))
            str_addf(&s, "\"%s\": \"%s\",\n ", key, json_string_value(x));
        else if (json_is_integer(x))
            str_addf(&s, "\"%s\": %lld,\n ", key, (long long)json_integer_value(x));
    }
    str_add(&s, "\"trials\": [");
    json_array_foreach(json_object_get(out, "trials"), i, x)
        str_addf(&s, "%s\n  %s", i ? "," : "", json_line(a, x));
    str_add(&s, "]}\n");
    ok = fs_write_text(path, str_text(&s), err);
    str_free(&s);
    return ok;
}

/* The original's text as a candidate: whatever is found is false. */
struct false_ones {
    int intervals, wins, losses, passed;
    double widest, farthest; /* half of an interval; of the ratio from 1 */
};

static bool again(struct judge *j, const char *task, const char *text, struct arena *a, struct false_ones *f,
                  json_t *out, struct err *err)
{
    struct trial t;

    if (!judge_file(j, a, "same.cu", text, &t, err))
        return false;
    for (size_t w = 0; w < t.n_workloads; w++)
        for (enum regime regime = 0; regime < N_REGIMES; regime++) {
            const struct trial_time *x = &t.workloads[w].times[regime];
            if (isnan(x->us))
                continue;
            f->intervals++;
            f->wins += x->low > 1;
            f->losses += x->high < 1;
            f->widest = fmax(f->widest, (x->high - x->low) / 2);
            if (x->low > 1 || x->high < 1)
                f->farthest = fmax(f->farthest, fabs(x->speedup - 1));
        }
    f->passed += t.verdict == VERDICT_PASSED;
    json_array_append_new(out, measured_to_json(task, "the original's text as a candidate", &t));
    return true;
}

static void print_false(const struct false_ones *f, int times)
{
    printf(
        "\nThe original's text as a candidate, %d times: %d passed; of %d intervals %d above 1, %d below, the farthest such "
        "ratio %.3f %% from 1; widest half-interval %.2f %%.\n\n",
        times, f->passed, f->intervals, f->wins, f->losses, 100 * f->farthest, 100 * f->widest);
}

/* ---- A against A ---- */

static bool control(const struct options *o, const char *dir, struct arena *a, json_t *out, struct err *err)
{
    const struct trial_options options = judging(o, 1);
    struct task *task;
    struct judge *j;
    int within = 0, n = 0;

    if (!task_open(&task, a, dir, err) || !judge_open(&j, task, &options, err))
        return err_context(err, "%s", dir);
    const struct trial *t = judge_original(j);
    print_trial(a, task, t);
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct trial_time *c = &t->workloads[i].times[task->regime];
        n++;
        within += c->low >= 1 - noise_allowed(c->us) && c->high <= 1 + noise_allowed(c->us);
    }
    json_array_append_new(out, measured_to_json(task->name, "control", t));
    char *text;
    struct false_ones f = {0};
    bool ok = fs_read(a, task->source_path, &text, NULL, err);
    for (int i = 0; ok && i < REPEATS_OF_TASKS; i++)
        ok = again(j, task->name, text, a, &f, out, err);
    printf("<!-- %s: %d of %d scoring intervals within 0.5 %% (1.5 %% below 5 us); %.2f s on the GPU -->\n",
           task->name, within, n, t->gpu_measure_s);
    print_false(&f, REPEATS_OF_TASKS);
    fflush(stdout);
    judge_close(j);
    return ok;
}

/* ---- 2 % ---- */

static bool detect(const struct options *o, struct arena *a, json_t *out, struct err *err)
{
    const struct trial_options options = judging(o, 2);
    char *dir = fs_temp_dir(a, err), *slower = arena_printf(a, turns_text, 510),
         *faster = arena_printf(a, turns_text, 500);
    struct false_ones f = {0};
    int found = 0;
    struct task *task;
    struct judge *j = NULL;
    double gpu_s = 0;
    bool ok = dir && fs_write_text(fs_join(a, dir, "kernel.cu"), slower, err) &&
              fs_write_text(fs_join(a, dir, "task.yaml"), turns_task, err) && task_open(&task, a, dir, err) &&
              judge_open(&j, task, &options, err);

    if (dir)
        fs_remove_tree(dir);
    puts("\n## A difference of 2 %: 510 turns against 500\n");
    print_head();
    for (int i = 0; ok && i < REPEATS; i++) {
        struct trial t;
        ok = judge_file(j, a, "faster.cu", faster, &t, err);
        if (!ok)
            break;
        if (i == 0)
            print_trial(a, task, &t);
        found += t.verdict == VERDICT_PASSED && t.low > 1;
        gpu_s = MAX(gpu_s, t.gpu_measure_s);
        json_array_append_new(out, measured_to_json("turns", "500 turns of 510", &t));
        ok = again(j, "turns", slower, a, &f, out, err);
    }
    if (ok) {
        printf("\nFound %d times of %d, in %.2f s of the GPU's time at most (3 workloads).\n", found, REPEATS,
               gpu_s);
        print_false(&f, REPEATS);
    }
    judge_close(j);
    return ok;
}

/* ---- candidates an hour ---- */

static char *replace(struct arena *a, const char *text, const char *from, const char *to)
{
    struct str s = {0};
    const char *at;

    for (; (at = strstr(text, from)); text = at + strlen(from)) {
        str_addn(&s, text, (size_t)(at - text));
        str_add(&s, to);
    }
    str_add(&s, text);
    char *out = arena_strdup(a, str_text(&s));
    str_free(&s);
    return out;
}

/* The task's own file and, where there is one, the production form beside it, with other numbers of threads:
 * half and half. */
static bool make_candidates(const struct task *task, struct arena *a, int n, const char **texts,
                            struct err *err)
{
    static const char *const threads[] = {"128", "256", "512", "64"};
    char *naive, *production, *path = fs_join(a, task->dir, "production.cu");

    if (!fs_read(a, task->source_path, &naive, NULL, err))
        return false;
    production = naive;
    if (fs_exists(path) && !fs_read(a, path, &production, NULL, err))
        return false;
    for (int i = 0; i < n; i++) {
        const char *t = threads[i / 2 % ARRAY_LEN(threads)];
        const char *text = i % 2 ? replace(a, production, "1024", t) : replace(a, naive, "128", t);
        texts[i] = arena_printf(a, "// candidate %d\n%s", i, text);
    }
    return true;
}

struct sums {
    double compile, simulate, verify, measure, model, wall;
    int passed, n;
    struct map verdicts;
};

static void add(struct sums *s, const struct trial *t)
{
    double gpu_verify = isnan(t->gpu_verify_s) ? 0 : t->gpu_verify_s,
           gpu_measure = isnan(t->gpu_measure_s) ? 0 : t->gpu_measure_s;

    s->n++;
    s->passed += t->verdict == VERDICT_PASSED;
    s->compile += t->compile_s;
    s->simulate += t->verify_s - gpu_verify;
    s->verify += gpu_verify;
    s->model += t->measure_s - gpu_measure;
    s->measure += gpu_measure;
    s->wall += t->wall_s;
    intptr_t seen = (intptr_t)map_get(&s->verdicts, verdict_name(t->verdict));
    map_put(&s->verdicts, verdict_name(t->verdict), (void *)(seen + 1));
}

static bool throughput(const struct options *o, struct arena *a, json_t *out, struct err *err)
{
    const struct trial_options options = {.device = o->device, .seed = 3};
    const char **texts = arena_array(a, const char *, o->candidates + 1);
    struct sums s = {0};
    struct task *task;
    struct pool *p = NULL;
    struct trial t;
    double start_s, opened_s;
    bool ok = task_open(&task, a, o->tasks[0], err) && make_candidates(task, a, o->candidates, texts, err);

    printf("\n## Candidates an hour: %s, %d candidates, %d workers\n\n", o->tasks[0], o->candidates,
           o->workers);
    fflush(stdout);
    start_s = time_s();
    ok = ok && pool_open(&p, task, &options, o->workers, &(struct pool_limits){0}, err) &&
         pool_original(p, a, &t, err);
    opened_s = time_s();
    for (int i = 0; ok && i < o->candidates; i++)
        ok = pool_submit(p, i, "candidate.cu", texts[i], err);
    while (ok && s.n < o->candidates) {
        int id;
        ok = pool_collect(p, 60, a, &id, &t, err);
        if (ok && id >= 0) {
            add(&s, &t);
            if (s.n <= 4 || t.verdict > VERDICT_SLOWER)
                printf("<!-- %d: %s %s -->\n", id, verdict_name(t.verdict), t.words);
            json_array_append_new(out, measured_to_json(task->name, "candidate", &t));
        }
    }
    if (ok) {
        double wall = time_s() - opened_s, per = 1.0 / s.n;
        struct {
            const char *name;
            double s;
        } rows[] = {{"compile", s.compile},
                    {"verify on the simulator", s.simulate},
                    {"the clock's model", s.model},
                    {"verify on the GPU", s.verify},
                    {"time on the GPU", s.measure},
                    {"the rest: waiting for the GPU, reading, planning",
                     s.wall - s.compile - s.simulate - s.model - s.verify - s.measure}};
        puts("| stage | s a candidate | share |\n|---|---|---|");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            printf("| %s | %.3f | %.0f %% |\n", rows[i].name, rows[i].s * per, 100 * rows[i].s / s.wall);
        printf(
            "\n%d candidates in %.1f s (and %.1f s to open the task, with its A/A control): **%.0f an hour**;",
            s.n, wall, opened_s - start_s, 3600 * s.n / wall);
        for (size_t i = 0; i < s.verdicts.n; i++)
            printf(" %d %s", (int)(intptr_t)s.verdicts.entries[i].value, s.verdicts.entries[i].key);
        printf(". The GPU worked for %.2f s a candidate: one GPU has time for %.0f an hour.\n",
               (s.verify + s.measure) * per, 3600 / ((s.verify + s.measure) * per));
    }
    map_free(&s.verdicts);
    pool_close(p);
    return ok;
}

/* ---- */

static void print_device(const struct cuda *c, json_t *out)
{
    const struct cuda_info *i = cuda_info(c);
    struct cuda_clocks k;

    cuda_clocks(c, &k);
    printf(
        "%s (%s), driver %s, CUDA %d.%d; SM %u MHz, memory %u MHz, %u C, %u W, throttle reasons 0x%llx; %d other "
        "processes\n",
        i->name, i->arch, i->driver ? i->driver : "unknown", i->driver_cuda / 1000, i->driver_cuda % 1000 / 10,
        k.sm_mhz, k.memory_mhz, k.temperature_c, k.power_w, (unsigned long long)k.throttle_reasons,
        i->other_processes);
    json_put_text(out, "gpu", i->name);
    json_put_text(out, "driver", i->driver);
    json_put_int(out, "sm_mhz", k.sm_mhz);
    json_put_int(out, "memory_mhz", k.memory_mhz);
    json_put_int(out, "throttle_reasons", (int64_t)k.throttle_reasons);
}

static bool bench(const struct options *o, struct arena *a, json_t *out, struct err *err)
{
    json_t *rows = json_array();
    bool ok = true;

    json_put(out, "trials", rows);
    puts("\n## The original against itself\n");
    print_head();
    for (int i = 0; ok && i < o->n_tasks; i++)
        ok = control(o, o->tasks[i], a, rows, err);
    ok = ok && detect(o, a, rows, err);
    return ok && (o->candidates == 0 || throughput(o, a, rows, err));
}

static bool read_options(struct options *o, int argc, char **argv)
{
    int i = 1;

    *o = (struct options){.device = "cuda:0",
                          .workers = (int)MAX(1, MIN(sysconf(_SC_NPROCESSORS_ONLN) / 2, 8)),
                          .candidates = 64};
    for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
        if (!strcmp(argv[i], "--device"))
            o->device = argv[i + 1];
        else if (!strcmp(argv[i], "--json"))
            o->json = argv[i + 1];
        else if (!strcmp(argv[i], "--workers"))
            o->workers = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--candidates"))
            o->candidates = atoi(argv[i + 1]);
        else
            return false;
    }
    o->tasks = argv + i;
    o->n_tasks = argc - i;
    return o->n_tasks > 0 && o->workers > 0 && o->candidates >= 0 && !strncmp(o->device, "cuda:", 5);
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct options o;
    struct err err = {0};
    struct cuda *c;
    json_t *out = json_object();
    char words[2560];

    if (argc > 1 && !strcmp(argv[1], "worker")) /* the pool's workers are this program again */
        return pool_worker_main(argc - 1, argv + 1);
    if (!read_options(&o, argc, argv)) {
        fputs("usage: bench_gpu [--device cuda:N] [--workers N] [--candidates N] [--json FILE] TASK_DIR...\n",
              stderr);
        return 2;
    }
    if (!cuda_open(&c, atoi(o.device + 5), &err)) {
        fprintf(stderr, "bench_gpu: nothing is measured: %s\n", err.text);
        return 1;
    }
    print_device(c, out);
    cuda_close(c);
    bool ok = bench(&o, a, out, &err);
    if (!ok)
        fprintf(stderr, "bench_gpu: %s\n", err_format(&err, words, sizeof(words)));
    if (o.json && !write_json(o.json, a, out, &err)) {
        fprintf(stderr, "bench_gpu: %s\n", err.text);
        ok = false;
    }
    json_decref(out);
    arena_close(a);
    return ok ? 0 : 1;
}
