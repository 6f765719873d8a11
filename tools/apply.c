/* One transform applied to a task's kernel file, without a run:
 *   apply TASK_DIR TRANSFORM            its sites, or why there are none
 *   apply TASK_DIR TRANSFORM SETTING    the new file */
#include "agent/agent.h"

static const struct kernel_limits h200 = {.device_name = "NVIDIA H200",
                                          .sm_count = 132,
                                          .cc_major = 9,
                                          .max_threads_per_block = 1024,
                                          .max_threads_per_sm = 2048,
                                          .max_blocks_per_sm = 32,
                                          .warp_size = 32,
                                          .shared_per_block = 49152,
                                          .shared_per_block_optin = 232448,
                                          .shared_per_sm = 233472,
                                          .registers_per_sm = 65536};

/* Why a transform refuses each kernel in which another one finds something. */
static void say_why(const struct agent_version *v, const struct transform *ops, struct arena *a)
{
    const struct function *said = NULL;

    for (size_t t = 0; transform_all[t]; t++) {
        const struct transform_site *sites;
        size_t n = transform_all[t]->find_in_file ? 0 : agent_version_sites(v, transform_all[t], &sites);
        for (size_t i = 0; i < n; i++) {
            struct edits edits = {.arena = a};
            struct err why = {0};
            struct transform_site site = sites[i];
            site.setting = ops->parameters[0].n_values ? ops->parameters[0].values[0] : 0;
            if (site.function == said)
                continue;
            said = site.function;
            if (!ops->apply(said, &site, &edits, &why))
                printf("%s\n", why.text);
        }
    }
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct task *task;
    struct agent_version v;
    struct err err = {0};
    const struct transform *ops = argc > 2 ? transform_find(argv[2]) : NULL;
    const struct transform_site *sites;
    char *text, words[1024];
    bool ok = false;

    if (!ops)
        err_input(&err, "usage: apply TASK_DIR TRANSFORM [SETTING]");
    else
        ok = task_open(&task, a, argv[1], &err);
    ok = ok && fs_read(a, task->source_path, &text, NULL, &err) &&
         agent_version_open(&v, a, task, task->source_path, text, &h200, &err);
    if (ok && argc > 3) {
        struct agent_step step = {.transform = ops->name, .setting = atoi(argv[3])};
        struct agent_versions *all = agent_versions_open(task, task->source_path, &h200);
        ok = agent_step_rules(all, &step, a, &text, &err);
        agent_versions_close(all);
        if (ok)
            printf("%s", text);
    } else if (ok) {
        size_t n = agent_version_every_site(&v, ops, &sites);
        for (size_t i = 0; i < n; i++)
            printf("%d\t%s\n", sites[i].setting, sites[i].where);
        if (n == 0)
            say_why(&v, ops, a);
    }
    if (!ok)
        fprintf(stderr, "%s\n", err_format(&err, words, sizeof(words)));
    arena_close(a);
    return ok ? 0 : 2;
}
