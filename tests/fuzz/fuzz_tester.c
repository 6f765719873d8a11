/* Any bytes as a tester's reply: a complaint, or cases inside the domain that survive the way to a worker. */
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct task *t = fuzz_brief("examples/merge_attn_states")->task;
    struct arena *a = arena_open();
    struct agent_suite s;
    struct err err = {0};
    size_t dropped;

    if (agent_read_tester(arena_strndup(a, (const char *)data, size), t, a, &s, &dropped, &err)) {
        for (size_t i = 0; i < s.n_cases; i++) {
            json_t *o = task_case_to_json(t, &s.cases[i]);
            struct task_case c;
            unsigned char bytes[64 * 8];
            BUG_IF(!task_in_domain(t, s.cases[i].dims));
            BUG_IF(!task_case_from_json(t, o, a, &c, &err));
            for (size_t k = 0; k < t->n_args; k++)
                if (t->args[k].role != ROLE_SCALAR)
                    task_fill(&t->args[k], &c.values[k], c.dims, c.seed, 0, 64, bytes);
            json_decref(o);
        }
    } else {
        BUG_IF(err.kind == ERR_NONE);
    }
    arena_close(a);
    return 0;
}
