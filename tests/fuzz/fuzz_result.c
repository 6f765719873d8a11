/* Any bytes as a result.json beside the task that it is of: what is read of it holds or is broken with words,
 * and a task that is not taken for the one that was judged never comes without. */
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *folder_make(struct arena *a)
{
    static const char *const files[] = {"task.yaml", "kernel.cu", "reference.cu"};
    struct err err;
    char *folder = fs_temp_dir(a, &err), *text;
    size_t n;

    BUG_IF(!folder || !fs_mkdirs(fs_join(a, folder, "task"), &err));
    for (size_t i = 0; i < ARRAY_LEN(files); i++) { /* run from the project's root */
        BUG_IF(!fs_read(a, fs_join(a, "examples/silu_and_mul", files[i]), &text, &n, &err));
        BUG_IF(!fs_write(fs_join(a, folder, arena_printf(a, "task/%s", files[i])), text, n, &err));
        if (i == 1)
            BUG_IF(!fs_write(fs_join(a, folder, "best.cu"), text, n, &err));
    }
    return folder;
}

static void result_write(struct arena *a, const char *path, const char *data, size_t size)
{
    struct err err = {0};
    json_t *o = json_parse(data, size, "result", &err), *provenance = json_object_get(o, "provenance");
    char hex[65];

    if (json_is_object(provenance)) {
        report_digest(a, o, hex);
        json_put_text(provenance, "digest", hex);
        data = json_line(a, o);
        size = strlen(data);
    }
    BUG_IF(!fs_write(path, data, size, &err));
    json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    const char *folder = folder_make(a);
    struct report_bundle b;
    struct err err = {0};

    result_write(a, fs_join(a, folder, "result.json"), (const char *)data, size);
    if (report_bundle_open(&b, a, folder, &err))
        BUG_IF((!b.task || !b.intact) && json_array_size(b.broken) == 0);
    else
        BUG_IF(err.kind == ERR_NONE || !err.text[0]);
    report_bundle_close(&b);
    fs_remove_tree(folder);
    arena_close(a);
    return 0;
}
