/* Any bytes as a profiler's reply: a complaint, or a diagnosis. */
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct agent_brief *b = fuzz_brief("examples/silu_and_mul");
    struct arena *a = arena_open();
    struct agent_diagnosis d;
    struct err err = {0};

    if (agent_read_profiler(arena_strndup(a, (const char *)data, size), b, a, &d, &err))
        BUG_IF(!*d.bound_by || !*d.text || strlen(d.text) > 8192);
    else
        BUG_IF(err.kind == ERR_NONE);
    arena_close(a);
    return 0;
}
