/* What judging costs on the simulator: of each task, opening it (its original and exact answers) and one
 * candidate, which is its production form where there is one and the original again where there is none.
 * Processor seconds, of this process and the compilers that it calls, of the second of two judgements: NVRTC
 * has been loaded by then. With --confirm a confirmation instead, which is judged once, nvcc's look included.
 *
 *     bench_judge [--confirm] [TASK_DIR...]     (default: every folder of examples with a task.yaml) */
#include <dirent.h>
#include <sys/resource.h>

#include "judge/judge.h"

static double cpu_s(void)
{
    double s = 0;

    for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
        struct rusage u;
        getrusage(who, &u);
        s += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
             1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
    return s;
}

static bool judge_task(const char *dir, bool confirm, struct err *err)
{
    const struct trial_options o = {
        .device = "h200", .seed = 1, .confirm = confirm, .hidden = confirm, .with_nvcc = confirm};
    struct arena *a = arena_open();
    const char *path = fs_join(a, dir, "production.cu");
    double open_s = cpu_s(), own_s = 0;
    struct judge *j = NULL;
    struct task *task;
    struct trial t;
    char *text;
    bool ok = task_open(&task, a, dir, err) && judge_open(&j, task, &o, err) &&
              fs_read(a, fs_exists(path) ? path : task->source_path, &text, NULL, err);

    open_s = cpu_s() - open_s;
    for (int i = confirm; ok && i < 2; i++) {
        own_s = cpu_s();
        ok = judge_file(j, a, path, text, &t, err);
        own_s = cpu_s() - own_s;
    }
    if (ok)
        printf("| %-24s | %-8s | %5zu | %6.2f | %9.2f |\n", task->name, verdict_name(t.verdict), t.cases,
               open_s, own_s);
    fflush(stdout);
    judge_close(j);
    arena_close(a);
    return ok;
}

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct dirent **names = NULL;
    bool confirm = argc > 1 && !strcmp(argv[1], "--confirm");
    int first = 1 + confirm, n = argc > first ? 0 : scandir("examples", &names, is_visible, alphasort);
    char place[2600];
    bool ok = true;

    puts("| task                     | verdict  | cases |   open | candidate |\n"
         "|--------------------------|----------|------:|-------:|----------:|");
    for (int i = first; ok && i < argc; i++)
        ok = judge_task(argv[i], confirm, &err);
    for (int i = 0; i < n; i++) {
        const char *dir = fs_join(a, "examples", names[i]->d_name);
        if (ok && fs_exists(fs_join(a, dir, "task.yaml")))
            ok = judge_task(dir, confirm, &err);
        free(names[i]);
    }
    free(names);
    if (!ok)
        fprintf(stderr, "%s\n", err_format(&err, place, sizeof(place)));
    arena_close(a);
    return !ok;
}
