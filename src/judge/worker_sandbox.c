/* What a worker may still touch once candidates come: its scratch folder, the task's folder and the toolkit to
 * read, what libraries read of the system, and a GPU's device files if it has one. */
#include "beside.h"

#include <glob.h>
#include <limits.h>

static const struct sandbox_path of_the_system[] = {
    {"/lib", SANDBOX_READ},
    {"/lib32", SANDBOX_READ},
    {"/lib64", SANDBOX_READ},
    {"/usr/lib", SANDBOX_READ},
    {"/usr/lib64", SANDBOX_READ},
    {"/usr/local/lib", SANDBOX_READ},
    {"/etc/ld.so.cache", SANDBOX_READ},
    {"/etc/localtime", SANDBOX_READ},
    {"/proc/self", SANDBOX_READ},
    {"/proc/cpuinfo", SANDBOX_READ},
    {"/proc/meminfo", SANDBOX_READ},
    {"/proc/stat", SANDBOX_READ},
    {"/sys/devices/system", SANDBOX_READ},
    {"/dev/null", SANDBOX_READ | SANDBOX_WRITE},
    {"/dev/zero", SANDBOX_READ},
    {"/dev/urandom", SANDBOX_READ},
};

/* The driver has opened most of what it wants by the time these count; the rest it opens for later contexts,
 * clocks and modules. */
static const struct sandbox_path of_a_driver[] = {
    {"/proc", SANDBOX_READ},
    {"/sys", SANDBOX_READ},
    {"/etc/nvidia", SANDBOX_READ},
    {"/usr/share/nvidia", SANDBOX_READ},
    {"/usr/local",
     SANDBOX_READ}, /* where containers have a driver's libraries, which it loads as it needs them */
    {"/opt", SANDBOX_READ},
    {"/run", SANDBOX_READ},
    {"/dev/shm", SANDBOX_READ | SANDBOX_WRITE},
    {"/dev/dxg", SANDBOX_READ | SANDBOX_WRITE | SANDBOX_DEVICE},
};

/* nvcc calls a host compiler, which is made of many programs and headers. */
static const struct sandbox_path of_nvcc[] = {
    {"/usr", SANDBOX_READ | SANDBOX_RUN}, {"/bin", SANDBOX_READ | SANDBOX_RUN},
    {"/lib", SANDBOX_READ | SANDBOX_RUN}, {"/lib64", SANDBOX_READ | SANDBOX_RUN},
    {"/etc/alternatives", SANDBOX_READ},
};

typedef VEC(struct sandbox_path) paths;

static void add(paths *p, const char *path, unsigned use)
{
    vec_push(p, ((struct sandbox_path){path, use}));
}

static void add_all(paths *p, const struct sandbox_path *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(p, list[i]);
}

static void add_matches(paths *p, struct arena *a, const char *pattern, unsigned use)
{
    glob_t g;

    if (glob(pattern, 0, NULL, &g) != 0)
        return;
    for (size_t i = 0; i < g.gl_pathc; i++)
        add(p, arena_strdup(a, g.gl_pathv[i]), use);
    globfree(&g);
}

/* The folder of a file, links followed. */
static char *folder_of(struct arena *a, const char *path)
{
    char real[PATH_MAX];

    return fs_dirname(a, realpath(path, real) ? real : path);
}

static void add_toolkit(paths *p, const struct judge *j)
{
    const char *library, *include, *nvcc = j->options.with_nvcc ? gpu_nvcc_path(j->arena, j->nvrtc) : NULL;

    nvrtc_version(j->nvrtc, NULL, NULL, &library, &include);
    add(p, folder_of(j->arena, library), SANDBOX_READ);
    if (include)
        add(p, include, SANDBOX_READ);
    if (!nvcc)
        return;
    add(p, fs_dirname(j->arena, folder_of(j->arena, nvcc)), SANDBOX_READ | SANDBOX_RUN);
    add_all(p, of_nvcc, ARRAY_LEN(of_nvcc));
}

const char *worker_sandbox_enter(struct judge *j, const char *scratch)
{
    const char *off = getenv("ASTRA_SANDBOX"), *missing;
    struct sandbox_rules rules = {.programs = j->options.with_nvcc, .local_sockets = j->gpu != NULL};
    paths p = {0};

    if (str_eq(off, "off"))
        return "the worker's sandbox (ASTRA_SANDBOX=off)";
    add_all(&p, of_the_system, ARRAY_LEN(of_the_system));
    add_toolkit(&p, j);
    add(&p, j->task->dir, SANDBOX_READ);
    add(&p, j->task->source_path, SANDBOX_READ);
    if (j->task->reference_path)
        add(&p, j->task->reference_path, SANDBOX_READ);
    /* The compiled launcher is linked there, and started, to be shut in further. */
    add(&p, scratch, SANDBOX_READ | SANDBOX_WRITE | (j->options.with_nvcc ? SANDBOX_RUN : 0u));
    if (j->beside)
        add(&p, folder_of(j->arena, cublas_path(j->beside->cublas)), SANDBOX_READ);
    if (j->gpu) {
        add_all(&p, of_a_driver, ARRAY_LEN(of_a_driver));
        add_matches(&p, j->arena, "/dev/nvidia*", SANDBOX_READ | SANDBOX_WRITE | SANDBOX_DEVICE);
        add(&p, cuda_lock_path(j->gpu), SANDBOX_READ | SANDBOX_WRITE);
    }
    rules.paths = p.v;
    rules.n_paths = p.n;
    missing = sandbox_enter(j->arena, &rules);
    vec_free(&p);
    return missing;
}
