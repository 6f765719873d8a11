/* Runs the conformance cases that tests/ptx/generate writes on the machine's GPU: run_cases [-o FILE] FILE... .
 * The driver is found at run time. A child process runs a file's cases; a case that hangs or breaks its context
 * ends the child, and a fresh one goes on with the next case. Prints every wrong element and a count; exit
 * status 1 when anything failed. -o: the bits where a case names none. */
#include "../ptx/case.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CASE_LIMIT_S = 20,
    LOAD_LIMIT_S = 180, /* assembles the whole file */
    GAP_BYTES = 256,    /* around each array, must keep its poison */
    POISON = 0xa5,
    WORDS_MAX = 8, /* wrong elements named of one case */
};

/* ---- the driver ---- */

enum { CU_SUCCESS = 0, CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };

static struct {
    int (*init)(unsigned);
    int (*version)(int *);
    int (*device_get)(int *, int);
    int (*device_name)(char *, int, int);
    int (*ctx_retain)(void **, int);
    int (*ctx_set)(void *);
    int (*ctx_synchronize)(void);
    int (*module_load)(void **, const void *, unsigned, int *, void **);
    int (*module_function)(void **, void *, const char *);
    int (*mem_alloc)(uint64_t *, size_t);
    int (*mem_free)(uint64_t);
    int (*copy_to)(uint64_t, const void *, size_t);
    int (*copy_from)(void *, uint64_t, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*launch_ex)(const void *, void *, void **, void **);
    int (*error_name)(int, const char **);
} cu;

struct launch_attribute { /* CUlaunchAttribute */
    int id;
    char pad[4];
    union {
        char bytes[64];
        unsigned cluster[3];
    } value;
};

struct launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    struct launch_attribute *attributes;
    unsigned n_attributes;
};

enum { CU_LAUNCH_CLUSTER = 4 };

static bool driver_open(struct err *err)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"cuInit", &cu.init},
        {"cuDriverGetVersion", &cu.version},
        {"cuDeviceGet", &cu.device_get},
        {"cuDeviceGetName", &cu.device_name},
        {"cuDevicePrimaryCtxRetain", &cu.ctx_retain},
        {"cuCtxSetCurrent", &cu.ctx_set},
        {"cuCtxSynchronize", &cu.ctx_synchronize},
        {"cuModuleLoadDataEx", &cu.module_load},
        {"cuModuleGetFunction", &cu.module_function},
        {"cuMemAlloc_v2", &cu.mem_alloc},
        {"cuMemFree_v2", &cu.mem_free},
        {"cuMemcpyHtoD_v2", &cu.copy_to},
        {"cuMemcpyDtoH_v2", &cu.copy_from},
        {"cuLaunchKernel", &cu.launch},
        {"cuLaunchKernelEx", &cu.launch_ex},
        {"cuGetErrorName", &cu.error_name},
    };
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!lib)
        return err_world(err, "no CUDA driver: %s", dlerror());
    for (size_t k = 0; k < ARRAY_LEN(symbols); k++) {
        void *f = dlsym(lib, symbols[k].name);
        if (!f)
            return err_world(err, "the CUDA driver has no %s", symbols[k].name);
        memcpy(symbols[k].to, &f, sizeof(f));
    }
    return true;
}

static bool works(int result, const char *what, struct err *err)
{
    const char *name = NULL;
    if (result == CU_SUCCESS)
        return true;
    if (cu.error_name(result, &name) != CU_SUCCESS || !name)
        name = "unknown error";
    return err_world(err, "%s: %s (%d)", what, name, result);
}

static bool context_open(bool say, struct err *err)
{
    int device = 0, version = 0;
    char name[128] = "";
    void *context = NULL;
    if (!works(cu.init(0), "cuInit", err) || !works(cu.device_get(&device, 0), "cuDeviceGet", err) ||
        !works(cu.device_name(name, sizeof(name), device), "cuDeviceGetName", err) ||
        !works(cu.version(&version), "cuDriverGetVersion", err) ||
        !works(cu.ctx_retain(&context, device), "cuDevicePrimaryCtxRetain", err) ||
        !works(cu.ctx_set(context), "cuCtxSetCurrent", err))
        return false;
    if (say)
        printf("%s, CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
    return true;
}

/* log: what the driver's assembler said. */
static bool module_load(void **module, const char *text, char *log, size_t log_size, struct err *err)
{
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)log_size};
    log[0] = 0;
    return works(cu.module_load(module, text, ARRAY_LEN(options), options, values), "cuModuleLoadDataEx", err);
}

/* ---- one case ---- */

static size_t padded(size_t bytes)
{
    return (bytes + GAP_BYTES - 1) / GAP_BYTES * GAP_BYTES + GAP_BYTES;
}

static int case_launch(const struct ptx_case *c, void *function, void **args)
{
    struct launch_attribute cluster = {.id = CU_LAUNCH_CLUSTER, .value.cluster = {c->cluster, 1, 1}};
    struct launch_config config = {.grid = {c->grid, 1, 1},
                                   .block = {c->block, 1, 1},
                                   .shared_bytes = c->shared_bytes,
                                   .attributes = &cluster,
                                   .n_attributes = 1};
    if (c->cluster)
        return cu.launch_ex(&config, function, args, NULL);
    return cu.launch(function, c->grid, 1, 1, c->block, 1, 1, c->shared_bytes, NULL, args, NULL);
}

/* Runs a case in one allocation: poison, the arrays with gaps of poison between them. got points into image. */
static bool case_run(void *module, const struct ptx_case *c, struct arena *a, uint8_t **image, size_t *size,
                     uint8_t **got, struct err *err)
{
    size_t at[CASE_ARRAYS];
    uint64_t base = 0, addr[CASE_ARRAYS];
    void *args[CASE_ARRAYS], *function = NULL;
    *size = GAP_BYTES;
    for (size_t k = 0; k < c->n_arrays; k++) {
        at[k] = *size;
        *size += padded(c->arrays[k].n * c->arrays[k].size);
    }
    *image = arena_alloc(a, *size);
    memset(*image, POISON, *size);
    if (!works(cu.mem_alloc(&base, *size), "cuMemAlloc", err))
        return false;
    for (size_t k = 0; k < c->n_arrays; k++) {
        const struct array *r = &c->arrays[k];
        got[k] = *image + at[k];
        addr[k] = base + at[k];
        args[k] = &addr[k];
        if (r->initial)
            memcpy(got[k], r->initial, r->n * r->size);
    }
    bool ok = works(cu.copy_to(base, *image, *size), "cuMemcpyHtoD", err) &&
              works(cu.module_function(&function, module, c->entry), "cuModuleGetFunction", err) &&
              works(case_launch(c, function, args), "cuLaunchKernel", err) &&
              works(cu.ctx_synchronize(), "the launch", err) &&
              works(cu.copy_from(*image, base, *size), "cuMemcpyDtoH", err);
    return works(cu.mem_free(base), "cuMemFree", ok ? err : NULL) && ok;
}

/* The inputs at the same index, for whoever has to find out why. */
static void inputs_print(const struct ptx_case *c, size_t array, size_t element)
{
    for (size_t k = 0; k < c->n_arrays; k++) {
        const struct array *r = &c->arrays[k];
        uint64_t bits = 0;
        if (!r->initial || r->n != c->arrays[array].n)
            continue;
        memcpy(&bits, r->initial + element * r->size, r->size);
        printf(", %s 0x%0*llx", r->name, (int)r->size * 2, (unsigned long long)bits);
    }
    putchar('\n');
}

/* Is everything that the run left right? Prints what is not. */
static bool case_judge(const char *file, const struct ptx_case *c, const uint8_t *image, size_t size,
                       uint8_t *const *got)
{
    size_t n_wrong = 0, gap = 0;
    for (size_t k = 0; k < c->n_arrays; k++) {
        const struct array *r = &c->arrays[k];
        for (size_t e = 0; e < r->n; e++) {
            char words[256];
            if (case_element(c, k, e, got[k], words, sizeof(words)))
                continue;
            if (n_wrong++ < WORDS_MAX) {
                printf("%s:%d: %s: %s", file, c->line, c->entry, words);
                inputs_print(c, k, e);
            }
        }
    }
    if (n_wrong > WORDS_MAX)
        printf("%s:%d: %s: %zu wrong elements in all\n", file, c->line, c->entry, n_wrong);
    for (size_t k = 0; k <= c->n_arrays; k++) { /* the gap before array k */
        size_t end = k < c->n_arrays ? (size_t)(got[k] - image) : size;
        for (; gap < end; gap++)
            if (image[gap] != POISON) {
                printf("%s:%d: %s: byte %zu outside the arrays was written\n", file, c->line, c->entry, gap);
                return false;
            }
        gap = k < c->n_arrays ? end + c->arrays[k].n * c->arrays[k].size : size;
    }
    return n_wrong == 0;
}

/* ---- files ---- */

struct progress { /* shared with the child */
    size_t now, passed, failed;
    bool said, loaded;
};

/* The child: cases from p->now on. Ends after a case that broke the context. */
static void cases_run(struct progress *p, const char *file, const char *text, const struct ptx_case *cases,
                      size_t n, FILE *open)
{
    static char log[16384];
    struct arena *a = arena_open();
    struct err err = {0};
    void *module = NULL;
    p->loaded = false;
    alarm(LOAD_LIMIT_S);
    if (!driver_open(&err) || !context_open(!p->said, &err) ||
        !module_load(&module, text, log, sizeof(log), &err)) {
        printf("%s: %zu cases: %s%s%s\n", file, n - p->now, err.text, log[0] ? "\n" : "", log);
        p->failed += n - p->now;
        p->now = n;
        arena_close(a);
        return;
    }
    p->said = p->loaded = true;
    for (; p->now < n; p->now++) {
        const struct ptx_case *c = &cases[p->now];
        uint8_t *image = NULL, *got[CASE_ARRAYS] = {0};
        size_t size = 0;
        alarm(CASE_LIMIT_S);
        if (!case_run(module, c, a, &image, &size, got, &err)) {
            printf("%s:%d: %s: %s\n", file, c->line, c->entry, err.text);
            p->failed++;
            p->now++;
            break;
        }
        if (case_judge(file, c, image, size, got))
            p->passed++;
        else
            p->failed++;
        if (open)
            case_print_open(open, c, got);
        fflush(NULL);
    }
    arena_close(a);
}

static void file_run(struct progress *p, const char *file, FILE *open)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct ptx_case *cases = NULL;
    size_t n = 0;
    char *text = NULL, line[4096];
    p->now = 0;
    if (!fs_read(a, file, &text, NULL, &err) || !case_parse(&cases, &n, file, text, a, &err)) {
        p->failed++;
        printf("%s\n", err_format(&err, line, sizeof(line)));
    }
    while (p->now < n) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child < 0)
            BUG("no child process");
        if (!child) {
            cases_run(p, file, text, cases, n, open);
            fflush(NULL);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status))
            continue;
        size_t lost = p->loaded ? 1 : n - p->now; /* a file that does not load would not load again */
        const char *what = p->loaded ? cases[p->now].entry : "its cases";
        printf("%s: %s: %s\n", file, what,
               WTERMSIG(status) == SIGALRM ? "did not end in time" : strsignal(WTERMSIG(status)));
        p->failed += lost;
        p->now += lost;
    }
    arena_close(a);
}

int main(int argc, char **argv)
{
    FILE *open = NULL;
    struct progress *p =
        mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* zeros */
    if (p == MAP_FAILED)
        BUG("no shared memory");
    for (int k = 1; k < argc; k++) {
        if (str_eq(argv[k], "-o") && k + 1 < argc) {
            open = fopen(argv[++k], "w");
            continue;
        }
        size_t passed = p->passed, failed = p->failed;
        file_run(p, argv[k], open);
        printf("%s: %zu passed, %zu failed\n", fs_basename(argv[k]), p->passed - passed, p->failed - failed);
    }
    printf("%zu cases passed, %zu failed\n", p->passed, p->failed);
    return p->failed || !p->passed;
}
