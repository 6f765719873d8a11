/* Any bytes as task.yaml: a task or an error; a task's shapes, suite and data can be made. */
#include "task/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *dir;

static void at_end(void)
{
    fs_remove_tree(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *path;
    struct arena *a = arena_open();
    struct task *t;
    struct err err;

    if (!dir) {
        struct arena *keep = arena_open();
        dir = fs_temp_dir(keep, &err);
        path = fs_join(keep, dir, "task.yaml");
        if (!fs_write_text(fs_join(keep, dir, "kernel.cu"), "\n", &err))
            abort();
        atexit(at_end);
    }
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    if (task_open(&t, a, dir, &err)) {
        const struct task_case *cases;
        size_t n;
        task_suite(t, a, 1, &cases, &n);
        for (size_t c = 0; c < MIN(n, 4); c++)
            for (size_t i = 0; i < t->n_args; i++) {
                unsigned char to[64 * 8];
                int64_t elements;
                if (t->args[i].role != ROLE_SCALAR &&
                    task_shape(t, &t->args[i], cases[c].dims, &elements, &err))
                    task_fill(&t->args[i], &cases[c].values[i], cases[c].dims, cases[c].seed, 0,
                              MIN(elements, 64), to);
            }
    }
    arena_close(a);
    return 0;
}
