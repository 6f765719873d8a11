/* Finding and loading NVRTC. It is never linked: a machine without it still runs everything that needs no
 * compiler, and says what to install otherwise. */
#include "internal.h"

#include <dlfcn.h>
#include <glob.h>
#include <unistd.h>

struct finder {
    struct nvrtc *n;
    struct str looked; /* the places tried, for the message */
    struct str failed; /* what the loader said of files that exist */
};

static bool bind_all(struct nvrtc *n)
{
    const struct {
        void *to;
        const char *name;
    } table[] = {
        {&n->version, "nvrtcVersion"},
        {&n->error_string, "nvrtcGetErrorString"},
        {&n->create, "nvrtcCreateProgram"},
        {&n->destroy, "nvrtcDestroyProgram"},
        {&n->add_name, "nvrtcAddNameExpression"},
        {&n->compile, "nvrtcCompileProgram"},
        {&n->lowered_name, "nvrtcGetLoweredName"},
        {&n->log_size, "nvrtcGetProgramLogSize"},
        {&n->log, "nvrtcGetProgramLog"},
        {&n->ptx_size, "nvrtcGetPTXSize"},
        {&n->ptx, "nvrtcGetPTX"},
        {&n->cubin_size, "nvrtcGetCUBINSize"},
        {&n->cubin, "nvrtcGetCUBIN"},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        void *symbol = dlsym(n->library, table[i].name);
        if (!symbol)
            return false;
        memcpy(table[i].to, &symbol, sizeof(symbol));
    }
    void *count = dlsym(n->library, "nvrtcGetNumSupportedArchs"),
         *list = dlsym(n->library, "nvrtcGetSupportedArchs");
    memcpy(&n->n_archs, &count, sizeof(count));
    memcpy(&n->archs, &list, sizeof(list));
    return true;
}

size_t nvrtc_archs(const struct nvrtc *n, int *archs, size_t most)
{
    int all[256], count = 0;

    if (!n->n_archs || !n->archs || n->n_archs(&count) != 0 || count < 0 || (size_t)count > ARRAY_LEN(all) ||
        n->archs(all) != 0)
        return 0;
    for (size_t i = 0; i < MIN((size_t)count, most); i++)
        archs[i] = all[i];
    return MIN((size_t)count, most);
}

/* NVRTC opens its built-in functions by bare name when it first compiles, which finds them only where the
 * loader looks. Opened here by path they are found by that name too, wherever the toolkit lies. */
static void load_builtins(const char *library)
{
    char pattern[640];
    glob_t g;
    const char *slash = strrchr(library, '/');

    if (!slash)
        return;
    snprintf(pattern, sizeof(pattern), "%.*s/libnvrtc-builtins.so*", (int)(slash - library), library);
    if (glob(pattern, 0, NULL, &g) != 0)
        return;
    for (size_t i = 0; i < g.gl_pathc; i++)
        if (dlopen(g.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL))
            break;
    globfree(&g);
}

static bool load(struct finder *f, const char *path)
{
    struct nvrtc *n = f->n;
    Dl_info info;

    n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        if (strchr(path, '/'))
            str_addf(&f->failed, "\n  %s", dlerror());
        return false;
    }
    if (!bind_all(n) || n->version(&n->major, &n->minor) != 0) {
        str_addf(&f->failed, "\n  %s: not a usable NVRTC (needs nvrtcGetCUBIN, CUDA 11.2 or newer)", path);
        dlclose(n->library);
        n->library = NULL;
        return false;
    }
    snprintf(n->path, sizeof(n->path), "%s",
             dladdr((void *)(uintptr_t)n->version, &info) && info.dli_fname ? info.dli_fname : path);
    load_builtins(n->path);
    return true;
}

/* The newest of libnvrtc.so.N in the folders that match; the builtins library has another stem. */
static bool load_from(struct finder *f, const char *folder_pattern)
{
    char pattern[640];
    glob_t g;
    bool found = false;

    str_addf(&f->looked, "\n  %s", folder_pattern);
    snprintf(pattern, sizeof(pattern), "%s/libnvrtc.so*", folder_pattern);
    if (glob(pattern, 0, NULL, &g) != 0)
        return false;
    for (int version = 99; version >= 0 && !found; version--)
        for (size_t i = 0; i < g.gl_pathc && !found; i++) {
            const char *suffix = strstr(g.gl_pathv[i], "libnvrtc.so") + strlen("libnvrtc.so");
            if ((*suffix == '.' ? atoi(suffix + 1) : 0) == version)
                found = load(f, g.gl_pathv[i]);
        }
    globfree(&g);
    return found;
}

static bool load_from_toolkit(struct finder *f, const char *root)
{
    char folder[600];

    snprintf(folder, sizeof(folder), "%s/lib64", root);
    if (load_from(f, folder))
        return true;
    snprintf(folder, sizeof(folder), "%s/lib", root);
    return load_from(f, folder);
}

static bool load_beside_nvcc(struct finder *f)
{
    const char *path = getenv("PATH");
    char nvcc[600], *real = NULL;

    str_add(&f->looked, "\n  the toolkit of nvcc on PATH");
    while (path && *path && !real) {
        int len = (int)strcspn(path, ":");
        snprintf(nvcc, sizeof(nvcc), "%.*s/nvcc", len, path);
        if (access(nvcc, X_OK) == 0)
            real = realpath(nvcc, NULL);
        path += len + (path[len] == ':');
    }
    if (!real)
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (slash)
            *slash = 0;
    }
    bool found = load_from_toolkit(f, real);
    free(real);
    return found;
}

static bool load_from_wheels(struct finder *f)
{
    static const char *const folders[] = {"nvidia/cu[0-9]*/lib", "nvidia/cuda_nvrtc/lib"};
    const char *venv = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
    char roots[5][320];
    size_t n_roots = 0;

    if (venv && *venv)
        snprintf(roots[n_roots++], sizeof(roots[0]), "%s/lib/python3*/site-packages", venv);
    if (home && *home)
        snprintf(roots[n_roots++], sizeof(roots[0]), "%s/.local/lib/python3*/site-packages", home);
    snprintf(roots[n_roots++], sizeof(roots[0]), "/usr/local/lib/python3*/site-packages");
    snprintf(roots[n_roots++], sizeof(roots[0]), "/usr/local/lib/python3*/dist-packages");
    snprintf(roots[n_roots++], sizeof(roots[0]), "/usr/lib/python3/dist-packages");
    for (size_t i = 0; i < n_roots; i++)
        for (size_t k = 0; k < ARRAY_LEN(folders); k++) {
            char folder[400];
            snprintf(folder, sizeof(folder), "%s/%s", roots[i], folders[k]);
            if (load_from(f, folder))
                return true;
        }
    return false;
}

static bool load_by_soname(struct finder *f)
{
    static const char *const names[] = {"libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "libnvrtc.so.11.2", "libnvrtc.so"};

    str_add(&f->looked, "\n  the loader's path (libnvrtc.so.14 ... libnvrtc.so.11.2)");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (load(f, names[i]))
            return true;
    return false;
}

static bool find(struct finder *f, struct err *err)
{
    const char *own = getenv("ASTRA_NVRTC");
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};

    if (own &&
        *own) { /* said by the user: nothing else is tried, so that a typing error does not pass unseen */
        if (fs_is_dir(own) ? load_from(f, own) || load_from_toolkit(f, own) : load(f, own))
            return true;
        return err_world(err, "ASTRA_NVRTC=%s is no usable NVRTC library%s", own, str_text(&f->failed));
    }
    if (load_beside_nvcc(f))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
        const char *root = getenv(homes[i]);
        if (root && *root && load_from_toolkit(f, root))
            return true;
    }
    if (load_from_toolkit(f, "/usr/local/cuda") || load_by_soname(f) || load_from_wheels(f))
        return true;
    return err_world(
        err,
        "no NVRTC, the CUDA run-time compiler. Looked in:%s%s%s\n"
        "Install the CUDA toolkit, or its wheels: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime "
        "nvidia-cuda-cccl; or set ASTRA_NVRTC to the library or its folder",
        str_text(&f->looked), f->failed.len ? "\nThe loader said:" : "", str_text(&f->failed));
}

/* The headers that belong to the library: the toolkit's beside it, or those of the wheels. */
static void find_headers(struct nvrtc *n)
{
    static const char *const relative[] = {"../include", "../targets/x86_64-linux/include", "../../include",
                                           "../../cuda_runtime/include", "../../../include"};
    const char *own = getenv("ASTRA_CUDA_INCLUDE");
    char path[1200], *real = realpath(n->path, NULL);

    if (own && *own) {
        snprintf(n->include_dir, sizeof(n->include_dir), "%s", own);
    } else if (real) {
        *strrchr(real, '/') = 0;
        for (size_t i = 0; i < ARRAY_LEN(relative) && !n->include_dir[0]; i++) {
            snprintf(path, sizeof(path), "%s/%s/cuda_fp16.h", real, relative[i]);
            char *header = fs_exists(path) ? realpath(path, NULL) : NULL;
            if (header) {
                *strrchr(header, '/') = 0;
                snprintf(n->include_dir, sizeof(n->include_dir), "%s", header);
                free(header);
            }
        }
    }
    if (!n->include_dir[0] && fs_exists("/usr/local/cuda/include/cuda_fp16.h"))
        snprintf(n->include_dir, sizeof(n->include_dir), "/usr/local/cuda/include");
    free(real);
}

bool nvrtc_open(struct nvrtc **out, struct err *err)
{
    struct finder f = {.n = mem_zalloc(sizeof(*f.n))};
    bool ok = find(&f, err);

    str_free(&f.looked);
    str_free(&f.failed);
    if (!ok) {
        free(f.n);
        return false;
    }
    find_headers(f.n);
    *out = f.n;
    return true;
}

void nvrtc_set_precompiling(struct nvrtc *n, bool wanted)
{
    if (n)
        n->alone = !wanted;
}

void nvrtc_close(struct nvrtc *n)
{
    if (!n)
        return;
    /* The library stays mapped: it starts threads and keeps caches that do not survive an unload. */
    free(n);
}

void nvrtc_version(const struct nvrtc *n, int *major, int *minor, const char **path, const char **include_dir)
{
    if (major)
        *major = n->major;
    if (minor)
        *minor = n->minor;
    if (path)
        *path = n->path;
    if (include_dir)
        *include_dir = n->include_dir[0] ? n->include_dir : NULL;
}
