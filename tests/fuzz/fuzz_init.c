/* Any bytes as a framework's file: its kernels are found, and each becomes a kernel.cu and a task.yaml with
 * every host function as the one that launches it; or it is refused with words. Nothing is run. */
#include "init/internal.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/astra-fuzz-init-XXXXXX";

static void remove_folder(void)
{
    fs_remove_tree(folder);
}

static const char *written(const uint8_t *data, size_t size)
{
    static char path[64];
    FILE *f;

    if (!*path) {
        BUG_IF(!mkdtemp(folder));
        atexit(remove_folder);
        snprintf(path, sizeof(path), "%s/a.cu", folder);
    }
    f = fopen(path, "w");
    BUG_IF(!f || (size && fwrite(data, size, 1, f) != 1) || fclose(f));
    return path;
}

static void make(struct init_source *s, const struct init_decl *kernel)
{
    struct init_task t = {.entry = "launch"};
    VEC(const struct init_decl *) hosts = {0};
    struct init_wrapped w = {.source = s, .kernel = kernel};

    for (size_t i = 0; i < s->decls.n && hosts.n < 3; i++) {
        const struct init_decl *d = &s->decls.v[i];

        if (d->kind == INIT_FUNCTION && d->body && !d->is_global && !d->is_device)
            vec_add(s->arena, &hosts, d);
    }
    w.hosts = hosts.v;
    w.n_hosts = hosts.n;
    init_wrapper(&t, &w);
    init_close(s, kernel, t.launcher);
    init_kernel_text(s, &t, "a.cu");
    init_origin_text(s, &t, kernel->name);
    init_taskfile(s->arena, &t, "fuzz");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct init_source *s = arena_new(a, struct init_source);
    const char *path = written(data, size);

    s->arena = a;
    if (setjmp(s->trap.jump) == 0) {
        struct init_file *f = init_open(s, path, path, SIZE_MAX);

        init_read(s, f);
        init_declare(s, 0);
        for (size_t i = 0, n = 0; i < s->decls.n && n < 2; i++) {
            if (s->decls.v[i].is_global && s->decls.v[i].body && *s->decls.v[i].name) {
                make(s, &s->decls.v[i]);
                n++;
            }
        }
    } else {
        BUG_IF(!s->trap.err.text[0]);
    }
    map_free(&s->expander.macros);
    map_free(&s->names);
    map_free(&s->macro_names);
    arena_close(a);
    return 0;
}
