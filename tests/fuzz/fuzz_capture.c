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

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry add_three(.param .u64 p, .param .u32 n)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";

/* Kept launches run on the simulator, and bytes in place of what a buffer held. */
static void replay(struct arena *a, const char *folder, const uint8_t *data, size_t size)
{
    const char *contents = fs_join(a, folder, CAPTURE_CONTENTS), *images = fs_join(a, folder, "images");
    struct err err = {0};
    struct str out = {.arena = a};
    json_t *list;
    char *held;
    size_t n;

    BUG_IF(!fs_mkdirs(contents, &err) || !fs_mkdirs(images, &err) ||
           !fs_write_text(fs_join(a, images, "0.ptx"), ptx, &err) ||
           !fs_write(fs_join(a, contents, "00000000000000000000000000000000.z"), data, size, &err));
    capture_contents_read(a, folder, "00000000000000000000000000000000", &held, &n, &err);
    err = (struct err){0};
    if (capture_replay(a, folder, NULL, false, &list, &err)) {
        capture_replay_text(a, list, false, &out);
        json_decref(list);
    } else {
        BUG_IF(err.kind == ERR_NONE);
    }
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
    replay(a, folder, data, size);
    arena_close(a);
    return 0;
}
