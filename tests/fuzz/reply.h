/* What the readers of replies are given beside the reply: an example's task, opened once. */
#ifndef FUZZ_REPLY_H
#define FUZZ_REPLY_H

#include "agent/agent.h"

static const struct kernel_limits fuzz_limits = {.device_name = "a GPU",
                                                 .sm_count = 132,
                                                 .cc_major = 9,
                                                 .max_threads_per_block = 1024,
                                                 .max_threads_per_sm = 2048,
                                                 .max_blocks_per_sm = 32,
                                                 .warp_size = 32,
                                                 .shared_per_block = 48 << 10,
                                                 .shared_per_block_optin = 227 << 10,
                                                 .shared_per_sm = 228 << 10,
                                                 .l2_bytes = 50 << 20,
                                                 .registers_per_sm = 65536};

/* Run from the project's root. */
static inline const struct agent_brief *fuzz_brief(const char *dir)
{
    static struct agent_brief b;
    static struct agent_version v;
    struct arena *a;
    struct err err = {0};
    struct task *t;
    char *text;

    if (b.task)
        return &b;
    a = arena_open();
    BUG_IF(!task_open(&t, a, dir, &err));
    BUG_IF(!fs_read(a, t->source_path, &text, NULL, &err));
    BUG_IF(!agent_version_open(&v, a, t, "kernel.cu", text, &fuzz_limits, &err));
    b = (struct agent_brief){.task = t,
                             .limits = &fuzz_limits,
                             .device = "a GPU",
                             .basis = "modelled",
                             .parent_text = text,
                             .version = &v,
                             .parent_score = 1,
                             .max_strategies = 3};
    return &b;
}

#endif
