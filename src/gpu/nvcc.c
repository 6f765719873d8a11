/* nvcc as the second opinion: NVRTC accepts things that nvcc refuses (a host function called on the device, for
 * one), and what is shipped is what nvcc makes of the whole file. */
#include "internal.h"

#include <unistd.h>

char *gpu_nvcc_path(struct arena *a, const struct nvrtc *n)
{
    return tool_path(a, "ASTRA_NVCC", "nvcc",
                     n->include_dir[0] ? arena_printf(a, "%s/../bin", n->include_dir) : NULL);
}

static bool write_files(struct arena *a, const char *dir, const struct compile_request *q, struct err *err)
{
    for (size_t i = 0; i < q->n_headers; i++) {
        char *path = fs_join(a, dir, q->headers[i].name);
        if (!fs_mkdirs(fs_dirname(a, path), err) || !fs_write_text(path, q->headers[i].text, err))
            return false;
    }
    return fs_write_text(fs_join(a, dir, q->path), q->text, err);
}

/* nvcc's words begin with the path of the file in our folder; people know it by its own name. */
static char *without_folder(struct arena *a, const char *text, const char *dir)
{
    struct str s = {0};
    size_t len = strlen(dir);

    for (const char *p = text; *p;) {
        if (!strncmp(p, dir, len) && p[len] == '/') {
            p += len + 1;
        } else {
            str_addc(&s, *p++);
        }
    }
    char *out = arena_strdup(a, str_text(&s));
    str_free(&s);
    return out;
}

static bool run(struct arena *a, const char *nvcc, const char *dir, const struct compile_request *q,
                struct compile_result *r, struct err *err)
{
    const struct proc_limits limits = {.wall_s = 60, .output_bytes = 1 << 20, .resident_bytes = 0};
    char *ptx_path = fs_join(a, dir, "out.ptx");
    VEC(const char *) argv = {0};
    struct proc_result p;
    char *ptx;

    vec_push(&argv, nvcc);
    vec_push(&argv, "-ptx");
    vec_push(&argv, "-lineinfo");
    vec_push(&argv, arena_printf(a, "-arch=%s", q->arch));
    vec_push(&argv, arena_printf(a, "-I%s", dir));
    for (size_t i = 0; i < q->n_flags; i++)
        vec_push(&argv, q->flags[i]);
    vec_push(&argv, "-o");
    vec_push(&argv, ptx_path);
    vec_push(&argv, fs_join(a, dir, q->path));
    vec_push(&argv, NULL);
    bool ok = proc_run(argv.v, NULL, &limits, &p, err);
    vec_free(&argv);
    if (!ok)
        return false;
    r->image.log = without_folder(a, str_text(&p.err), dir);
    if (p.end != PROC_EXITED || p.status != 0) {
        r->end = COMPILE_FAILED;
        compile_first_error(a, r->image.log, q->path, r);
        r->words = arena_printf(a, "nvcc refuses it, though NVRTC does not: %s",
                                p.end == PROC_EXITED ? r->words : "it did not come to an end");
    } else if ((ok = fs_read(a, ptx_path, &ptx, &r->image.ptx_len, err))) {
        r->image.ptx = ptx;
    }
    str_free(&p.out);
    str_free(&p.err);
    return ok;
}

bool gpu_nvcc_ptx(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                  struct compile_result *r, struct err *err)
{
    char *nvcc = gpu_nvcc_path(a, n), *dir;
    bool ok;

    *r = (struct compile_result){.image.log = ""};
    if (!nvcc)
        return err_world(err, "no nvcc on PATH, in CUDA_HOME or beside %s", n->path);
    if (!(dir = fs_temp_dir(a, err)))
        return false;
    ok = write_files(a, dir, q, err) && run(a, nvcc, dir, q, r, err);
    fs_remove_tree(dir);
    return ok;
}

bool gpu_nvcc_works(const struct nvrtc *n, struct arena *a)
{
    static const struct compile_request q = {
        .path = "empty.cu", .text = "extern \"C\" __global__ void empty() {}\n", .arch = "sm_90"};
    struct compile_result r;
    struct err err;

    return gpu_nvcc_ptx(n, a, &q, &r, &err) && r.end == COMPILE_DONE;
}
