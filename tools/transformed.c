/* A task's kernel after steps of the rules, for somebody who wants to time versions that no run chose:
 *
 *     transformed TASK_DIR DEVICE TRANSFORM SETTING [TRANSFORM SETTING]... > FILE.cu
 *
 * DEVICE is one of the simulator's, as `h200`. */
#include <stdio.h>

#include "agent/agent.h"
#include "judge/internal.h"

static bool transform_all_steps(struct arena *a, int argc, char **argv, struct err *err)
{
    const struct ptx_device *device = ptx_device_find(argv[2]);
    struct kernel_limits limits;
    struct task *t;
    char *text;

    if (!device)
        return err_input(err, "no device is called %s", argv[2]);
    judge_limits(device, &limits);
    if (!task_open(&t, a, argv[1], err))
        return false;
    bool ok = fs_read(a, t->source_path, &text, NULL, err);
    for (int i = 3; i + 1 < argc && ok; i += 2) {
        struct agent_step step = {.transform = argv[i], .setting = atoi(argv[i + 1])};
        ok = agent_step_rules(t, t->source_path, &step, &limits, a, &text, err);
    }
    if (ok)
        fputs(text, stdout);
    return ok;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char words[1024];
    bool ok = argc > 4 && argc % 2 == 1;

    if (!ok)
        err_input(&err, "usage: transformed TASK_DIR DEVICE TRANSFORM SETTING ...");
    ok = ok && transform_all_steps(a, argc, argv, &err);
    if (!ok)
        fprintf(stderr, "%s\n", err_format(&err, words, sizeof(words)));
    arena_close(a);
    return ok ? 0 : 2;
}
