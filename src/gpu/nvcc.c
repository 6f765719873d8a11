/* nvcc as the second opinion: NVRTC accepts things that nvcc refuses (a host function called on the device, for
 * one), and what is shipped is what nvcc makes of the whole file. */
#include "internal.h"

#include <unistd.h>

enum { CPU_S = 300 }; /* for each of its programs */

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

struct command {
    const char *nvcc, *dir;
    VEC(const char *) argv;
};

/* What every call is told: the task's flags, and where the file's headers are. */
static void command_open(struct command *c, struct arena *a, const struct compile_request *q, const char *kind)
{
    vec_push(&c->argv, c->nvcc);
    vec_push(&c->argv, kind);
    vec_push(&c->argv, arena_printf(a, "-I%s", c->dir));
    for (size_t i = 0; i < q->n_flags; i++)
        vec_push(&c->argv, q->flags[i]);
}

/* The flag of the task that what nvcc says asks for; NULL: none. */
static const char *flag_asked_for(const char *log)
{
    static const char *const flags[] = {"--expt-relaxed-constexpr", "--extended-lambda"};

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strstr(log, flags[i]))
            return flags[i];
    return NULL;
}

/* r->end says whether nvcc took the file. */
static bool run(struct command *c, struct arena *a, const struct compile_request *q, const char *from,
                const char *to, struct compile_result *r, struct err *err)
{
    const struct proc_limits limits = {.wall_s = 10 * CPU_S, .cpu_s = CPU_S, .output_bytes = 1 << 20};
    struct proc_result p;

    vec_push(&c->argv, "-o");
    vec_push(&c->argv, to);
    vec_push(&c->argv, from);
    vec_push(&c->argv, NULL);
    double start_s = time_s(), cpu_s = proc_children_cpu_s();
    bool ok = proc_run(c->argv.v, NULL, &limits, &p, err);
    vec_free(&c->argv);
    if (!ok)
        return false;
    cpu_s = proc_children_cpu_s() - cpu_s;
    r->image.log = without_folder(a, str_text(&p.err), c->dir);
    if (p.end == PROC_TIMED_OUT || (p.status != 0 && cpu_s >= CPU_S)) {
        r->end = COMPILE_TOO_SLOW;
        r->words = arena_printf(a, "too slow to judge: nvcc took %.0f s, %.0f s of them of processor time",
                                time_s() - start_s, cpu_s);
    } else if (p.end != PROC_EXITED || p.status != 0) {
        r->end = COMPILE_FAILED;
        compile_errors(a, r->image.log, q->path, r);
        r->words = arena_printf(a, "nvcc refuses it, though NVRTC does not: %s",
                                p.end == PROC_EXITED ? r->words : "it did not come to an end");
        const char *flag = flag_asked_for(r->image.log);
        if (flag)
            r->words = arena_printf(a, "%s; the task may say `flags: [%s]`", r->words, flag);
    }
    proc_result_free(&p);
    return true;
}

static bool read_ptx(struct arena *a, const char *path, struct compile_result *r, struct err *err)
{
    char *ptx;

    if (!fs_read(a, path, &ptx, &r->image.ptx_len, err))
        return false;
    r->image.ptx = ptx;
    return true;
}

bool gpu_nvcc_ptx(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                  struct compile_result *r, struct err *err)
{
    struct command c = {.nvcc = gpu_nvcc_path(a, n)};
    char *dir;

    *r = (struct compile_result){.image.log = ""};
    if (!c.nvcc)
        return err_world(err, "no nvcc on PATH, in CUDA_HOME or beside %s", n->path);
    if (!(dir = fs_temp_dir(a, err)))
        return false;
    c.dir = dir;
    command_open(&c, a, q, "-ptx");
    vec_push(&c.argv, arena_printf(a, "-arch=%s", gpu_arch_of(a, q)));
    const char *ptx = fs_join(a, dir, "out.ptx");
    bool ok = write_files(a, dir, q, err) && run(&c, a, q, fs_join(a, dir, q->path), ptx, r, err) &&
              (r->end != COMPILE_DONE || read_ptx(a, ptx, r, err));
    fs_remove_tree(dir);
    return ok;
}

/* A file that nvcc kept, by how its name ends: its first part is the kernel file's. */
static bool read_kept(struct arena *a, const char *dir, const struct compile_request *q, const char *end,
                      struct gpu_text *to, struct err *err)
{
    const char *dot = strrchr(q->path, '.');
    int len = dot ? (int)(dot - q->path) : (int)strlen(q->path);
    char *text;

    if (!fs_read(a, fs_join(a, dir, arena_printf(a, "%.*s%s", len, q->path, end)), &text, &to->len, err))
        return false;
    to->text = text;
    return true;
}

/* One call compiles the whole file and keeps what was made on the way: the preprocessed text that the host code
 * is made of, the PTX, the object. No machine code of the device: nothing looks at it. */
static bool build(struct command *c, struct arena *a, const struct compile_request *q, struct gpu_build *b,
                  struct err *err)
{
    const char *arch = strchr(gpu_arch_of(a, q), '_'), *object = fs_join(a, b->dir, "shipped.o");
    struct gpu_text ptx, made;

    command_open(c, a, q, "-c");
    vec_push(&c->argv, "-lineinfo");
    vec_push(&c->argv, arena_printf(a, "-gencode=arch=compute%s,code=compute%s", arch, arch));
    vec_push(&c->argv, "--keep");
    vec_push(&c->argv, "--keep-dir");
    vec_push(&c->argv, b->dir);
    if (!run(c, a, q, b->path, object, &b->result, err))
        return false;
    if (b->result.end != COMPILE_DONE)
        return true;
    if (!read_kept(a, b->dir, q, ".cpp4.ii", &b->host, err) || !read_kept(a, b->dir, q, ".ptx", &ptx, err))
        return false;
    b->result.image.ptx = ptx.text;
    b->result.image.ptx_len = ptx.len;
    char *bytes;
    if (!fs_read(a, object, &bytes, &made.len, err))
        return false;
    b->object = bytes;
    b->object_len = made.len;
    return true;
}

struct pass {
    const char *path, *text; /* where it is put first */
    bool host;
};

/* What nvcc's device pass defines for sm_NNa, and its -E does not. */
static void define_own_features(struct command *c, struct arena *a, const char *arch)
{
    int number;
    char letter;

    if (sscanf(arch, "sm_%d%c", &number, &letter) != 2 || letter != 'a')
        return;
    vec_push(&c->argv, arena_printf(a, "-D__CUDA_ARCH_FEAT_SM%d_ALL", number));
    vec_push(&c->argv, arena_printf(a, "-D__CUDA_ARCH_SPECIFIC__=%d", number * 10));
    vec_push(&c->argv, arena_printf(a, "-D__CUDA_ARCH_FAMILY_SPECIFIC__=%d", number * 10));
}

/* As nvcc preprocesses for one of its passes. -E alone is the device's. */
static bool preprocess(struct command *c, struct arena *a, const struct compile_request *q,
                       const struct pass *pass, struct gpu_text *made, struct err *err)
{
    const char *out = arena_printf(a, "%s.ii", pass->path);
    struct compile_result r = {.end = COMPILE_DONE};
    char *bytes;

    command_open(c, a, q, "-E");
    if (pass->host) {
        vec_push(&c->argv, arena_printf(a, "-arch=compute%s", strchr(gpu_arch_of(a, q), '_')));
        vec_push(&c->argv, "-U__CUDA_ARCH__");
        vec_push(&c->argv, "-UCUDA_DOUBLE_MATH_FUNCTIONS");
    } else {
        vec_push(&c->argv, arena_printf(a, "-arch=%s", gpu_arch_of(a, q)));
        define_own_features(c, a, gpu_arch_of(a, q));
    }
    if (!fs_write_text(pass->path, pass->text, err) || !run(c, a, q, pass->path, out, &r, err))
        return false;
    if (r.end != COMPILE_DONE)
        return err_world(err, "%s is not preprocessed: %s", q->path, r.words);
    if (!fs_read(a, out, &bytes, &made->len, err))
        return false;
    made->text = bytes;
    return true;
}

bool gpu_nvcc_build(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                    const char *understood, struct gpu_build *b, struct err *err)
{
    struct command c = {.nvcc = gpu_nvcc_path(a, n)};

    *b = (struct gpu_build){.result.image.log = ""};
    if (!c.nvcc)
        return err_world(err, "no nvcc on PATH, in CUDA_HOME or beside %s", n->path);
    if (!(b->dir = fs_temp_dir(a, err)))
        return false;
    c.dir = b->dir;
    b->path = fs_join(a, b->dir, q->path);
    b->understood_path = fs_join(a, b->dir, "understood.cu");
    const struct pass pass = {b->understood_path, understood, true};
    bool ok = write_files(a, b->dir, q, err) && build(&c, a, q, b, err) &&
              (b->result.end != COMPILE_DONE || preprocess(&c, a, q, &pass, &b->understood, err));
    if (!ok)
        gpu_build_close(b);
    return ok;
}

bool gpu_nvcc_device_pass(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                          const struct gpu_build *b, struct gpu_text *made, const char **path, struct err *err)
{
    struct command c = {.nvcc = gpu_nvcc_path(a, n), .dir = b->dir};

    *path = fs_join(a, b->dir, "device.cu");
    return preprocess(&c, a, q, &(struct pass){*path, q->text, false}, made, err);
}

void gpu_build_close(struct gpu_build *b)
{
    if (b->dir)
        fs_remove_tree(b->dir);
    b->dir = NULL;
}

bool gpu_nvcc_works(const struct nvrtc *n, struct arena *a)
{
    static const struct compile_request q = {
        .path = "empty.cu", .text = "extern \"C\" __global__ void empty() {}\n", .arch = "sm_90"};
    struct compile_result r;
    struct err err;

    return gpu_nvcc_ptx(n, a, &q, &r, &err) && r.end == COMPILE_DONE;
}
