/* What judging costs on the simulator: of each task, opening it (its original and exact answers) and one
 * candidate, which is its production form where there is one and the original again where there is none.
 * Processor seconds, in one process, of the second of two judgements: the compiler has been loaded by then.
 *
 *     bench_judge [TASK_DIR...]     (default: every folder of examples with a task.yaml) */
#include <dirent.h>
#include <time.h>

#include "judge/judge.h"

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool judge_task(const char *dir, struct err *err)
{
    const struct trial_options o = {.device = "h200", .seed = 1};
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
    for (int i = 0; ok && i < 2; i++) {
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
    int n = argc > 1 ? 0 : scandir("examples", &names, is_visible, alphasort);
    char place[2600];
    bool ok = true;

    puts("| task                     | verdict  | cases |   open | candidate |\n"
         "|--------------------------|----------|------:|-------:|----------:|");
    for (int i = 1; ok && i < argc; i++)
        ok = judge_task(argv[i], &err);
    for (int i = 0; i < n; i++) {
        const char *dir = fs_join(a, "examples", names[i]->d_name);
        if (ok && fs_exists(fs_join(a, dir, "task.yaml")))
            ok = judge_task(dir, &err);
        free(names[i]);
    }
    free(names);
    if (!ok)
        fprintf(stderr, "%s\n", err_format(&err, place, sizeof(place)));
    arena_close(a);
    return !ok;
}
