/* cuBLAS, found at run time and never linked; its few functions are declared here, as its binary interface has
 * them since CUDA 11. It works in the context that is current when it is opened, and on our stream. A product
 * that is recorded is captured into our graph, node by node, as the library would launch it. */
#include "device.h"

#include <dlfcn.h>
#include <glob.h>
#include <unistd.h>

enum {
    WORKSPACE_MB = 32, /* what NVIDIA recommends for Hopper; less is enough elsewhere */
    NEWEST = 13,
    OLDEST = 11,
    ALGORITHM_OF_ITS_OWN = -1,
    DEFAULT_MATH = 0, /* f32 is not rounded to TF32 */
};

typedef struct cublasContext *cublas_handle;

struct cublas {
    struct cuda *cuda;
    void *library;
    char path[512];
    cublas_handle handle;
    uint64_t workspace;
    int number; /* 120604 */
    int (*create)(cublas_handle *handle);
    int (*destroy)(cublas_handle handle);
    int (*version)(cublas_handle handle, int *version);
    int (*set_stream)(cublas_handle handle, CUstream stream);
    int (*set_workspace)(cublas_handle handle, void *workspace, size_t bytes);
    int (*set_math)(cublas_handle handle, int mode);
    int (*gemm)(cublas_handle handle, int turned_a, int turned_b, int m, int n, int k, const void *alpha,
                const void *a, int type_a, int lead_a, const void *b, int type_b, int lead_b, const void *beta,
                void *c, int type_c, int lead_c, int compute, int algorithm);
    int (*gemm_batched)(cublas_handle handle, int turned_a, int turned_b, int m, int n, int k,
                        const void *alpha, const void *a, int type_a, int lead_a, long long stride_a,
                        const void *b, int type_b, int lead_b, long long stride_b, const void *beta, void *c,
                        int type_c, int lead_c, long long stride_c, int batch, int compute, int algorithm);
    const char *(*status_name)(int status); /* NULL before CUDA 11.4 */
};

/* ---- found ---- */

struct search {
    struct cublas *b;
    struct str looked, failed;
};

static bool bind_all(struct search *s)
{
    struct cublas *b = s->b;
    const struct {
        void *to;
        const char *name;
        bool optional;
    } table[] = {
        {&b->create, "cublasCreate_v2", false},
        {&b->destroy, "cublasDestroy_v2", false},
        {&b->version, "cublasGetVersion_v2", false},
        {&b->set_stream, "cublasSetStream_v2", false},
        {&b->set_workspace, "cublasSetWorkspace_v2", false},
        {&b->set_math, "cublasSetMathMode", false},
        {&b->gemm, "cublasGemmEx", false},
        {&b->gemm_batched, "cublasGemmStridedBatchedEx", false},
        {&b->status_name, "cublasGetStatusName", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        void *symbol = dlsym(b->library, table[i].name);
        if (!symbol && !table[i].optional) {
            str_addf(&s->failed, "\n  %s: no usable cuBLAS (it has no %s; CUDA 11.2 has)", b->path,
                     table[i].name);
            return false;
        }
        memcpy(table[i].to, &symbol, sizeof(symbol));
    }
    return true;
}

/* Its other half lies beside it, and is found by its name once it is loaded. */
static void load_half(const char *path)
{
    const char *slash = strrchr(path, '/'), *end = strstr(path, "libcublas.so");
    char half[600];

    if (!slash || !end)
        return;
    snprintf(half, sizeof(half), "%.*s/libcublasLt.so%s", (int)(slash - path), path,
             end + strlen("libcublas.so"));
    if (!dlopen(half, RTLD_LAZY | RTLD_LOCAL))
        dlerror();
}

static bool load(struct search *s, const char *path)
{
    struct cublas *b = s->b;
    Dl_info info;

    load_half(path);
    snprintf(b->path, sizeof(b->path), "%s", path);
    if (!(b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        const char *said = dlerror();
        if (strchr(path, '/'))
            str_addf(&s->failed, "\n  %s", said);
        return false;
    }
    if (!bind_all(s)) {
        dlclose(b->library);
        b->library = NULL;
        return false;
    }
    if (dladdr((void *)(uintptr_t)b->create, &info) && info.dli_fname)
        snprintf(b->path, sizeof(b->path), "%s", info.dli_fname);
    return true;
}

static bool load_from(struct search *s, const char *folder_pattern)
{
    char pattern[640];
    glob_t g;
    bool found = false;

    str_addf(&s->looked, "\n  %s", folder_pattern);
    for (int version = NEWEST; version >= OLDEST && !found; version--) {
        snprintf(pattern, sizeof(pattern), "%s/libcublas.so.%d", folder_pattern, version);
        if (glob(pattern, 0, NULL, &g) != 0)
            continue;
        for (size_t i = 0; i < g.gl_pathc && !found; i++)
            found = load(s, g.gl_pathv[i]);
        globfree(&g);
    }
    return found;
}

static bool load_from_toolkits(struct search *s)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    char folder[600];

    for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
        const char *root = getenv(homes[i]);
        snprintf(folder, sizeof(folder), "%s/lib64", root ? root : "");
        if (root && *root && load_from(s, folder))
            return true;
    }
    return load_from(s, "/usr/local/cuda/lib64") || load_from(s, "/usr/local/cuda-1*/lib64");
}

/* Where pip puts NVIDIA's libraries, below a folder that has a Python. */
static bool load_from_python(struct search *s, const char *root, const char *below)
{
    static const char *const packages[] = {"nvidia/cu[0-9]*/lib", "nvidia/cublas/lib"};
    char folder[700];

    for (size_t k = 0; k < ARRAY_LEN(packages); k++) {
        snprintf(folder, sizeof(folder), "%s/%s/%s", root, below, packages[k]);
        if (load_from(s, folder))
            return true;
    }
    return false;
}

static bool load_beside_python(struct search *s)
{
    const char *path = getenv("PATH");
    char python[600], root[600];

    while (path && *path) {
        int len = (int)strcspn(path, ":");
        snprintf(python, sizeof(python), "%.*s/python3", len, path);
        snprintf(root, sizeof(root), "%.*s/..", len, path);
        if (access(python, X_OK) == 0)
            return load_from_python(s, root, "lib/python3*/site-packages");
        path += len + (path[len] == ':');
    }
    return false;
}

static bool load_from_wheels(struct search *s)
{
    const char *home = getenv("HOME");

    return load_beside_python(s) ||
           (home && *home && load_from_python(s, home, ".local/lib/python3*/site-packages")) ||
           load_from_python(s, "/usr/local", "lib/python3*/*-packages") ||
           load_from_python(s, "/usr/lib", "python3/dist-packages");
}

static bool load_by_soname(struct search *s)
{
    char name[32];

    str_addf(&s->looked, "\n  the loader's path (libcublas.so.%d ... libcublas.so.%d)", NEWEST, OLDEST);
    for (int version = NEWEST; version >= OLDEST; version--) {
        snprintf(name, sizeof(name), "libcublas.so.%d", version);
        if (load(s, name))
            return true;
    }
    return false;
}

static bool find(struct search *s, struct err *err)
{
    const char *own = getenv("ASTRA_CUBLAS");

    if (own && *own) /* nothing else is tried, so that a typing error does not pass unseen */
        return (fs_is_dir(own) ? load_from(s, own) : load(s, own)) ||
               err_world(err, "ASTRA_CUBLAS=%s is no usable cuBLAS%s", own, str_text(&s->failed));
    return load_by_soname(s) || load_from_toolkits(s) || load_from_wheels(s) ||
           err_world(err,
                     "no cuBLAS (libcublas.so) on this machine. Looked in:%s%s%s\n"
                     "Install it with the CUDA toolkit or as a wheel (pip install nvidia-cublas), or set "
                     "ASTRA_CUBLAS to the library or its folder",
                     str_text(&s->looked), s->failed.len ? "\nThe loader said:" : "", str_text(&s->failed));
}

/* ---- opened ---- */

static bool said(const struct cublas *b, int status, const char *what, struct err *err)
{
    return status == 0 || err_world(err, "cuBLAS: %s: %s (%d)", what,
                                    b->status_name ? b->status_name(status) : "status", status);
}

static bool start(struct cublas *b, struct err *err)
{
    struct cuda *c = b->cuda;
    size_t bytes = (size_t)WORKSPACE_MB << 20;

    if (!c->driver->capture_begin || !c->driver->capture_info || !c->driver->capture_end ||
        !c->driver->graph_dependents || !c->driver->graph_remove_edges)
        return err_world(
            err,
            "GPU %d: a library's launches are timed within our graphs, which a driver of CUDA 12.3 "
            "or newer can; update the driver",
            c->info.index);
    /* The stream first: it takes the workspace back. */
    return said(b, b->create(&b->handle), "it does not start on this GPU", err) &&
           said(b, b->version(b->handle, &b->number), "asked for its version", err) &&
           said(b, b->set_stream(b->handle, c->stream), "given a stream", err) &&
           cuda_check(c, c->driver->alloc(&b->workspace, bytes), err, "memory for cuBLAS to work in") &&
           said(b, b->set_workspace(b->handle, (void *)(uintptr_t)b->workspace, bytes), "given a workspace",
                err) &&
           said(b, b->set_math(b->handle, DEFAULT_MATH), "told not to use TF32", err);
}

bool cublas_look(struct arena *a, const char **path, struct err *err)
{
    struct search s = {.b = mem_zalloc(sizeof(*s.b))};
    bool ok = find(&s, err);

    str_free(&s.looked);
    str_free(&s.failed);
    if (ok && path)
        *path = arena_strdup(a, s.b->path);
    free(s.b);
    return ok;
}

bool cublas_open(struct cublas **out, struct cuda *c, struct err *err)
{
    struct search s = {.b = mem_zalloc(sizeof(*s.b))};
    bool ok = find(&s, err);

    s.b->cuda = c;
    str_free(&s.looked);
    str_free(&s.failed);
    if (!ok || !cuda_usable(c, err) || !start(s.b, err)) {
        cublas_close(s.b);
        return false;
    }
    *out = s.b;
    return true;
}

void cublas_close(struct cublas *b)
{
    if (!b)
        return;
    if (b->handle && !b->cuda->spoilt)
        b->destroy(b->handle);
    if (b->workspace && !b->cuda->spoilt)
        b->cuda->driver->free(b->workspace);
    /* The library stays mapped: it keeps what does not survive an unload. */
    free(b);
}

const char *cublas_path(const struct cublas *b)
{
    return b->path;
}

char *cublas_version(const struct cublas *b, struct arena *a)
{
    int n = b->number;

    return arena_printf(a, "%d.%d.%d", n / 10000, n / 100 % 100, n % 100);
}

/* ---- a product ---- */

static int call(const struct cublas *b, const struct cublas_product *p, const uint64_t addr[3])
{
    static const double zero = 0; /* in any type */
    const float scale = (float)p->scale;
    const int32_t scale_int = (int32_t)p->scale;
    const void *alpha = &scale, *beta = &zero, *x = (void *)(uintptr_t)addr[0], *y = (void *)(uintptr_t)addr[1];
    const struct cublas_matrix *m = p->matrix;
    void *to = (void *)(uintptr_t)addr[2];

    if (p->compute == CUBLAS_COMPUTE_F64)
        alpha = &p->scale;
    else if (p->compute == CUBLAS_COMPUTE_I32)
        alpha = &scale_int;
    if (p->batch == 1)
        return b->gemm(b->handle, m[0].turned, m[1].turned, p->m, p->n, p->k, alpha, x, m[0].type, m[0].lead, y,
                       m[1].type, m[1].lead, beta, to, m[2].type, m[2].lead, p->compute, ALGORITHM_OF_ITS_OWN);
    return b->gemm_batched(b->handle, m[0].turned, m[1].turned, p->m, p->n, p->k, alpha, x, m[0].type,
                           m[0].lead, m[0].stride, y, m[1].type, m[1].lead, m[1].stride, beta, to, m[2].type,
                           m[2].lead, m[2].stride, p->batch, p->compute, ALGORITHM_OF_ITS_OWN);
}

bool cublas_run(struct cublas *b, const struct cublas_product *p, const uint64_t addr[3], struct err *err)
{
    return cuda_usable(b->cuda, err) && said(b, call(b, p, addr), "it does not take this product", err) &&
           cuda_sync(b->cuda, err);
}

struct captured {
    const struct cublas *b;
    const struct cublas_product *p;
    const uint64_t *addr;
};

static bool call_captured(void *context, struct err *err)
{
    const struct captured *x = context;

    return said(x->b, call(x->b, x->p, x->addr), "it does not take this product within a graph", err);
}

bool cuda_graph_product(struct cuda_graph *t, struct cublas *b, const struct cublas_product *p,
                        const uint64_t addr[3], struct err *err)
{
    struct captured context = {b, p, addr};

    return graph_capture(t, "cuBLAS", call_captured, &context, err);
}
