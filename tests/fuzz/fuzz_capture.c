/* What a program under capture may have left in its files: any bytes as records, as names and as kept launches;
 * and any bytes as plans of `astra replace`.
 */
#include "capture/capture.h"
#include "inject/inject.h"
#include "inject/replace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_counts(const char *path, const uint8_t *data, size_t size, size_t names)
{
    static struct capture_file f;
    struct err err;

    memset(&f, 0, sizeof(f));
    memcpy(&f, data, MIN(size, offsetof(struct capture_file, names)));
    memcpy(f.names, data, MIN(size, names));
    memcpy(f.magic, CAPTURE_MAGIC, sizeof(f.magic));
    f.version = CAPTURE_VERSION;
    f.bytes = sizeof(f);
    f.n_records %= CAPTURE_RECORDS + 2; /* the last one is too many */
    f.n_names %= CAPTURE_NAMES + 2;
    BUG_IF(!fs_write(path, &f, sizeof(f), &err));
}

/* A file of plans is whole, or it is not: no byte beyond it is looked at. */
static void read_plans(const uint8_t *data, size_t size)
{
    struct replace_head h = {.version = REPLACE_VERSION, .bytes = sizeof(h)};
    uint8_t *file = mem_alloc(MAX(size, 1));

    memcpy(file, data, size);
    replace_file_is_whole(file, size);
    memcpy(h.magic, REPLACE_MAGIC, sizeof(h.magic));
    memcpy(file, &h, MIN(size, offsetof(struct replace_head, launches)));
    replace_file_is_whole(file, size);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[4096];
    struct arena *a = arena_open();
    struct str out = {.arena = a};
    json_t *ranking = NULL;
    struct err err = {0};

    if (!*folder) {
        const char *made = fs_temp_dir(a, &err);
        BUG_IF(!made);
        snprintf(folder, sizeof(folder), "%s", made);
    }
    read_plans(data, size);
    write_counts(fs_join(a, folder, "1-0" CAPTURE_SUFFIX), data, size, 512);
    BUG_IF(!fs_write(fs_join(a, folder, "1" CAPTURE_KEPT), data, size, &err));
    if (capture_read(a, folder, &ranking, &err)) {
        capture_text(a, ranking, 10, &out);
        capture_list(ranking, &out);
        json_decref(ranking);
    } else {
        BUG_IF(err.kind == ERR_NONE);
    }
    arena_close(a);
    return 0;
}
