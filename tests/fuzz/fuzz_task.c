/* Any bytes as a task.yaml: an error or a task, and a task must give a suite inside its domain. */
#include "task/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct task *t;
    const struct task_case *cases;
    size_t n;

    /* run from the project's root: the files that the seeds name exist there */
    if (task_read(&t, a, "examples/silu_and_mul", "task.yaml", arena_strndup(a, (const char *)data, size), size,
                  &err)) {
        task_suite(t, a, 1, &cases, &n);
        for (size_t i = 0; i < n; i++)
            BUG_IF(!task_in_domain(t, cases[i].dims));
        for (size_t i = 0; i < t->n_args && n; i++) {
            unsigned char bytes[64 * 8];
            if (t->args[i].role != ROLE_SCALAR)
                task_fill(&t->args[i], &cases[0].values[i], cases[0].dims, 1, 0, 64, bytes);
        }
    } else {
        BUG_IF(err.kind == ERR_NONE);
    }
    arena_close(a);
    return 0;
}
