/* Any bytes as a planner's reply: a complaint, or distinct strategies whose moves there are. */
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct agent_brief *b = fuzz_brief("examples/silu_and_mul");
    const struct agent_strategy *s;
    struct arena *a = arena_open();
    struct agent_prompt p;
    struct err err = {0};
    size_t n;

    if (agent_read_planner(arena_strndup(a, (const char *)data, size), b, a, &s, &n, &err)) {
        BUG_IF(n == 0 || n > b->max_strategies);
        for (size_t i = 0; i < n; i++) {
            BUG_IF(!(s[i].expected_gain > 0) || !(s[i].confidence >= 0 && s[i].confidence <= 1));
            for (size_t k = 0; k < s[i].n_steps; k++)
                BUG_IF(!transform_find(s[i].steps[k].transform));
            for (size_t k = 0; k < i; k++)
                BUG_IF(str_eq(s[k].name, s[i].name));
            agent_prompt_coder(b, &s[i], a, &p);
            BUG_IF(strlen(p.messages[0].text) > 32768);
        }
    } else {
        BUG_IF(err.kind == ERR_NONE);
    }
    arena_close(a);
    return 0;
}
