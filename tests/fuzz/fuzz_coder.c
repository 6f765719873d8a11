/* Any bytes as a coder's reply: a complaint, or a file that opens and matches the task. */
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct agent_brief *b = fuzz_brief("examples/silu_and_mul");
    struct arena *a = arena_open();
    struct err err = {0};
    struct kernel *k;
    struct agent_file file;

    if (!agent_read_coder(arena_strndup(a, (const char *)data, size), b, a, &file, &err)) {
        BUG_IF(err.kind == ERR_NONE);
    } else if (!kernel_tests_compiler("k.cu", file.text, strlen(file.text), NULL)) {
        BUG_IF(!task_kernel_open(&k, a, b->task, "k.cu", file.text, &err));
        BUG_IF(!task_match(b->task, k, &err));
        kernel_close(k);
    }
    arena_close(a);
    return 0;
}
