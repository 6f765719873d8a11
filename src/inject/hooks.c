/* The program's ways to the driver, and the functions it gets there. A program links the driver, or opens it
 * and asks dlsym, or asks cuGetProcAddress (as the CUDA runtime does, which nvcc links statically): each way
 * ends at a function here that has the driver's name, and calls the driver's own. */
#include "internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum hook {
#define HOOK(name, since, per_thread, symbol) HOOK_##symbol,
#include "hook.def"
#undef HOOK
    N_HOOKS
};

struct row {
    const char *name, *symbol;
    int since;
    bool per_thread;
};
static const struct row rows[] = {
#define HOOK(name, since, per_thread, symbol) {name, #symbol, since, per_thread},
#include "hook.def"
#undef HOOK
};

static void *real[N_HOOKS]; /* the driver's */
static void *own(enum hook h);

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t now_coarse_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC_COARSE);
}

void say(const char *fmt, ...)
{
    static int said;
    char text[1024];
    va_list ap;
    int n;

    if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        return;
    n = snprintf(text, sizeof(text), "astra capture: process %ld: ", (long)getpid());
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof(text) - (size_t)n - 1, fmt, ap);
    va_end(ap);
    strcat(text, "\n");
    if (write(2, text, strlen(text)) < 0)
        return;
}

/* ---- finding ---- */

typedef void *(*find_symbol)(void *handle, const char *name);
static find_symbol real_dlsym;

static void find_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    void *found = NULL;

    for (size_t i = 0; !found && i < sizeof(versions) / sizeof(*versions); i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    if (!found)
        abort();
    memcpy(&real_dlsym, &found, sizeof(found));
}

static void *driver_handle(void)
{
    Dl_info info;
    void *known = NULL;

    for (int i = 0; !known && i < N_HOOKS; i++)
        known = __atomic_load_n(&real[i], __ATOMIC_ACQUIRE);
    if (known && dladdr(known, &info) && info.dli_fname)
        return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
}

static void keep_real(enum hook h, void *function)
{
    void *none = NULL;

    __atomic_compare_exchange_n(&real[h], &none, function, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* The driver's function behind ours; NULL where there is no driver. */
static void *real_of(enum hook h)
{
    void *found = __atomic_load_n(&real[h], __ATOMIC_ACQUIRE), *handle;

    if (found)
        return found;
    if (!real_dlsym)
        find_dlsym();
    found = real_dlsym(RTLD_NEXT, rows[h].symbol);
    if (!found && (handle = driver_handle()))
        found = real_dlsym(handle, rows[h].symbol);
    if (found == own(h))
        found = NULL;
    if (found)
        keep_real(h, found);
    return found;
}

static struct calls the_calls;
static int calls_known;
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;

const struct calls *driver_calls(void)
{
    void *handle, *found;

    if (__atomic_load_n(&calls_known, __ATOMIC_ACQUIRE))
        return &the_calls;
    pthread_mutex_lock(&calls_lock);
    if (!calls_known && (handle = driver_handle())) {
#define CALL(member, symbol, args)      \
    found = real_dlsym(handle, symbol); \
    memcpy(&the_calls.member, &found, sizeof(found));
#include "call.def"
#undef CALL
        __atomic_store_n(&calls_known, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&calls_lock);
    return calls_known ? &the_calls : NULL;
}

/* ---- the ways ---- */

/* Where the name says one of ours, the driver's is kept and ours is the answer. The call of the real one must
 * be the last thing here: what RTLD_NEXT means depends on who called. */
EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    if (!real_dlsym)
        find_dlsym();
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || name[0] != 'c' || name[1] != 'u')
        return real_dlsym(handle, name);
    for (int h = 0; h < N_HOOKS; h++)
        if (!strcmp(rows[h].symbol, name)) {
            void *found = real_dlsym(handle, name);
            if (!found || found == own((enum hook)h))
                return found;
            keep_real((enum hook)h, found);
            table(); /* now: later the program may have given up its rights to files */
            replace_active();
            return own((enum hook)h);
        }
    return real_dlsym(handle, name);
}

enum { PER_THREAD = 2 };

static void *answer(const char *name, void *found, int version, uint64_t flags)
{
    bool per_thread = flags & PER_THREAD;
    int best = -1;

    for (int h = 0; name && found && h < N_HOOKS; h++)
        if (!strcmp(rows[h].name, name) && rows[h].since <= version && rows[h].per_thread <= per_thread &&
            (best < 0 || rows[h].since >= rows[best].since))
            best = h; /* of two that are equally new the one per thread stands behind the other */
    if (best < 0)
        return found;
    if (found == own((enum hook)best))
        return found;
    keep_real((enum hook)best, found);
    return own((enum hook)best);
}

#define REAL(symbol, ...)                  \
    ({                                     \
        int (*f_)(__VA_ARGS__) = NULL;     \
        void *p_ = real_of(HOOK_##symbol); \
        memcpy(&f_, &p_, sizeof(p_));      \
        f_;                                \
    })

EXPORT int cuGetProcAddress(const char *name, void **to, int version, uint64_t flags)
{
    int (*f)(const char *, void **, int, uint64_t) =
        REAL(cuGetProcAddress, const char *, void **, int, uint64_t);
    int code = f ? f(name, to, version, flags) : NOT_INITIALIZED;

    if (code == 0 && to)
        *to = answer(name, *to, version, flags);
    return code;
}

EXPORT int cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status)
{
    int (*f)(const char *, void **, int, uint64_t, int *) =
        REAL(cuGetProcAddress_v2, const char *, void **, int, uint64_t, int *);
    int code = f ? f(name, to, version, flags, status) : NOT_INITIALIZED;

    if (code == 0 && to)
        *to = answer(name, *to, version, flags);
    return code;
}

/* ---- launches ---- */

static int captures; /* the program has begun to capture a stream */

#define STREAM_PER_THREAD ((void *)2)
static void *stream_of(void *stream, bool per_thread)
{
    return !stream && per_thread ? STREAM_PER_THREAD : stream;
}

bool stream_captures(void *stream)
{
    const struct calls *c = driver_calls();
    int status = 0;

    if (!__atomic_load_n(&captures, __ATOMIC_ACQUIRE) || !c || !c->is_capturing)
        return false;
    return c->is_capturing(stream, &status) != 0 || status != 0;
}

/* What the calling thread's launches go to. */
static THREAD_LOCAL struct {
    const void *context;
    unsigned gone;
    int device;
} here;
static unsigned contexts_gone;

static int device_here(void)
{
    const struct calls *c = driver_calls();
    unsigned gone = __atomic_load_n(&contexts_gone, __ATOMIC_ACQUIRE);
    void *context = NULL;

    if (!c || !c->context_current || c->context_current(&context) != 0 || !context)
        return 0;
    if (context != here.context || gone != here.gone) {
        here.context = context;
        here.gone = gone;
        here.device = 0;
        if (c->context_device)
            c->context_device(&here.device);
        cupti_context(context);
    }
    return here.device;
}

struct launch {
    struct capture_file *file; /* NULL: it is not counted */
    uint64_t now;
    uint32_t record;
    void *stream;
    struct sample sample;
};

/* call: as the program made it, its shape without the device. */
static void begin(struct launch *l, const struct keep_call *call)
{
    struct shape s = *call->shape;

    *l = (struct launch){.file = table(), .stream = call->stream};
    if (!l->file)
        return;
    if (call->cooperative)
        cupti_gently();
    s.device = (uint32_t)device_here();
    l->now = now_coarse_ns();
    cupti_enter(l->now);
    if (keep_active()) {
        struct keep_call with_device = *call;
        with_device.shape = &s;
        keep_launch(&with_device);
    }
    if (cupti_counts() || stream_captures(call->stream)) {
        table_note(cupti_counts() ? &l->file->hooked : &l->file->recorded, 1);
        l->file = NULL;
        return;
    }
    l->record = table_function(call->function, &s);
    if (l->record != NO_RECORD && l->file->times == CAPTURE_EVENTS)
        sample_begin(&l->sample, l->record, l->file->records[l->record].launches + 1, call->stream);
}

static int end(struct launch *l, int code)
{
    cupti_leave();
    if (!l->file)
        return code;
    if (code == 0)
        table_count(l->record, 1, l->now);
    sample_end(&l->sample, l->stream, code == 0);
    return code;
}

#define DIMS  unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz
#define SHAPE (&(struct shape){.grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_bytes = shared})

#define REPLACED(of, in_stream, params_, extra_, is_plain, code) \
    replace_launch(&(struct replace_call){.function = function,  \
                                          .stream = in_stream,   \
                                          .shape = of,           \
                                          .params = params_,     \
                                          .extra = extra_,       \
                                          .plain = is_plain},    \
                   code)

#define BEGIN(of, in_stream, params_, extra_, is_cooperative) \
    begin(&l, &(struct keep_call){.function = function,       \
                                  .stream = in_stream,        \
                                  .shape = of,                \
                                  .params = params_,          \
                                  .extra = extra_,            \
                                  .cooperative = is_cooperative})

#define LAUNCH(symbol, per_thread)                                                                      \
    EXPORT int symbol(void *function, DIMS, unsigned shared, void *stream, void **params, void **extra) \
    {                                                                                                   \
        int (*f)(void *, DIMS, unsigned, void *, void **, void **) =                                    \
            REAL(symbol, void *, DIMS, unsigned, void *, void **, void **);                             \
        struct launch l;                                                                                \
        int code;                                                                                       \
        if (!f)                                                                                         \
            return NOT_INITIALIZED;                                                                     \
        if (REPLACED(SHAPE, stream_of(stream, per_thread), params, extra, true, &code))                 \
            return code;                                                                                \
        BEGIN(SHAPE, stream_of(stream, per_thread), params, extra, false);                              \
        return end(&l, f(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra));             \
    }
LAUNCH(cuLaunchKernel, false)
LAUNCH(cuLaunchKernel_ptsz, true)

#define LAUNCH_COOPERATIVE(symbol, per_thread)                                            \
    EXPORT int symbol(void *function, DIMS, unsigned shared, void *stream, void **params) \
    {                                                                                     \
        int (*f)(void *, DIMS, unsigned, void *, void **) =                               \
            REAL(symbol, void *, DIMS, unsigned, void *, void **);                        \
        struct launch l;                                                                  \
        int code;                                                                         \
        if (!f)                                                                           \
            return NOT_INITIALIZED;                                                       \
        if (REPLACED(SHAPE, stream_of(stream, per_thread), params, NULL, true, &code))    \
            return code;                                                                  \
        BEGIN(SHAPE, stream_of(stream, per_thread), params, NULL, true);                  \
        return end(&l, f(function, gx, gy, gz, bx, by, bz, shared, stream, params));      \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

struct attribute { /* CUlaunchAttribute */
    int id;
    char pad[4], value[64];
};
struct config { /* CUlaunchConfig, its beginning */
    unsigned grid[3], block[3], shared;
    void *stream;
    struct attribute *attributes;
    unsigned n_attributes;
};

/* Hints, what says how the blocks lie, and that it may begin early: nothing that others wait for. */
static bool is_plain(const struct config *c)
{
    static const bool harmless[] = {
        [0] = true, [1] = true, [2] = true, [4] = true, [5] = true, [6] = true, [8] = true};

    for (unsigned i = 0; i < c->n_attributes; i++)
        if (c->attributes[i].id < 0 || c->attributes[i].id >= (int)sizeof(harmless) ||
            !harmless[c->attributes[i].id])
            return false;
    return true;
}

static bool is_cooperative(const struct config *c)
{
    for (unsigned i = 0; i < c->n_attributes; i++)
        if (c->attributes[i].id == 2 && c->attributes[i].value[0])
            return true;
    return false;
}

#define SHAPE_EX                                                                      \
    (&(struct shape){.grid = {config->grid[0], config->grid[1], config->grid[2]},     \
                     .block = {config->block[0], config->block[1], config->block[2]}, \
                     .dynamic_bytes = config->shared})

#define LAUNCH_EX(symbol, per_thread)                                                                          \
    EXPORT int symbol(const struct config *config, void *function, void **params, void **extra)                \
    {                                                                                                          \
        int (*f)(const struct config *, void *, void **, void **) =                                            \
            REAL(symbol, const struct config *, void *, void **, void **);                                     \
        struct launch l = {0};                                                                                 \
        int code;                                                                                              \
        if (!f)                                                                                                \
            return NOT_INITIALIZED;                                                                            \
        if (config &&                                                                                          \
            REPLACED(SHAPE_EX, stream_of(config->stream, per_thread), params, extra, is_plain(config), &code)) \
            return code;                                                                                       \
        if (config)                                                                                            \
            BEGIN(SHAPE_EX, stream_of(config->stream, per_thread), params, extra, is_cooperative(config));     \
        return end(&l, f(config, function, params, extra));                                                    \
    }
LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)

/* ---- graphs ---- */

/* A function that is passed on, and what is to be done before it and after it, whatever its `code` was. */
#define AROUND(symbol, types, names, before, after) \
    EXPORT int symbol types                         \
    {                                               \
        int(*f) types = NULL;                       \
        void *p = real_of(HOOK_##symbol);           \
        int code;                                   \
        memcpy(&f, &p, sizeof(p));                  \
        if (!f)                                     \
            return NOT_INITIALIZED;                 \
        before;                                     \
        code = f names;                             \
        after;                                      \
        return code;                                \
    }
/* after: only where it succeeded. */
#define PASS(symbol, types, names, before, after) \
    AROUND(                                       \
        symbol, types, names, before, if (code == 0) { after; })

/* Streams that are captured count from before the first call until behind the second. */
static void capture_begins(void)
{
    __atomic_store_n(&captures, 1, __ATOMIC_RELEASE);
    cupti_hold();
}

static void capture_begun(int code)
{
    if (code != 0)
        contents_capture(-1);
}

#define BEGIN_CAPTURE(symbol, types, names) AROUND(symbol, types, names, capture_begins(), capture_begun(code))
BEGIN_CAPTURE(cuStreamBeginCapture, (void *stream), (stream))
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, (void *stream), (stream))
BEGIN_CAPTURE(cuStreamBeginCapture_v2, (void *stream, int mode), (stream, mode))
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, (void *stream, int mode), (stream, mode))
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph,
              (void *s, void *g, const void *on, const void *data, size_t n, int mode),
              (s, g, on, data, n, mode))
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph_ptsz,
              (void *s, void *g, const void *on, const void *data, size_t n, int mode),
              (s, g, on, data, n, mode))
AROUND(cuStreamEndCapture, (void *stream, void **graph), (stream, graph), , contents_capture(-1))
AROUND(cuStreamEndCapture_ptsz, (void *stream, void **graph), (stream, graph), , contents_capture(-1))
PASS(cuGraphInstantiate, (void **exec, void *graph, void **node, char *log, size_t size),
     (exec, graph, node, log, size), , graph_made(*exec, graph))
PASS(cuGraphInstantiate_v2, (void **exec, void *graph, void **node, char *log, size_t size),
     (exec, graph, node, log, size), , graph_made(*exec, graph))
PASS(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags), (exec, graph, flags), ,
     graph_made(*exec, graph))
PASS(cuGraphInstantiateWithParams, (void **exec, void *graph, void *params), (exec, graph, params), ,
     graph_made(*exec, graph))
PASS(cuGraphInstantiateWithParams_ptsz, (void **exec, void *graph, void *params), (exec, graph, params), ,
     graph_made(*exec, graph))
PASS(cuGraphExecUpdate, (void *exec, void *graph, void **node, int *result), (exec, graph, node, result), ,
     graph_made(exec, graph))
PASS(cuGraphExecUpdate_v2, (void *exec, void *graph, void *info), (exec, graph, info), ,
     graph_made(exec, graph))
PASS(cuGraphExecDestroy, (void *exec), (exec), graph_gone(exec), )

static void graph_begins(void)
{
    if (table()) {
        (void)device_here();
        cupti_enter(now_coarse_ns());
    }
}

static void graph_ends(void *exec, int code)
{
    cupti_leave();
    if (code == 0)
        graph_launched(exec);
}

AROUND(cuGraphLaunch, (void *exec, void *stream), (exec, stream), graph_begins(), graph_ends(exec, code))
AROUND(cuGraphLaunch_ptsz, (void *exec, void *stream), (exec, stream), graph_begins(), graph_ends(exec, code))

/* ---- code ---- */

static void handle_gone(void *handle)
{
    table_functions_gone();
    keep_gone(handle);
    replace_gone(false);
}

PASS(cuModuleLoadData, (void **module, const void *image), (module, image), , keep_image(*module, image))
PASS(cuModuleLoadDataEx, (void **module, const void *image, unsigned n, int *options, void **values),
     (module, image, n, options, values), , keep_image(*module, image))
PASS(cuModuleLoadFatBinary, (void **module, const void *image), (module, image), , keep_image(*module, image))
PASS(cuLibraryLoadData,
     (void **library, const void *image, int *jit, void **jit_values, unsigned n_jit, int *options,
      void **values, unsigned n),
     (library, image, jit, jit_values, n_jit, options, values, n), , keep_image(*library, image))
static void kernels_seen(void **kernels, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        kernel_seen(kernels[i]);
}

PASS(cuLibraryGetKernel, (void **kernel, void *library, const char *name), (kernel, library, name), ,
     kernel_seen(*kernel))
PASS(cuLibraryEnumerateKernels, (void **kernels, unsigned n, void *library), (kernels, n, library), ,
     kernels_seen(kernels, n))
PASS(cuModuleUnload, (void *module), (module), handle_gone(module), )
PASS(cuLibraryUnload, (void *library), (library), handle_gone(library), )
/* NULL: a device's own, which is known by no handle here. */
static void context_gone(const void *context)
{
    replace_gone(true);
    cupti_context_gone(context);
    __atomic_add_fetch(&contexts_gone, 1, __ATOMIC_RELEASE);
}

PASS(cuCtxDestroy_v2, (void *context), (context), context_gone(context), )
PASS(cuDevicePrimaryCtxRelease, (int device), (device), context_gone(NULL), )
PASS(cuDevicePrimaryCtxRelease_v2, (int device), (device), context_gone(NULL), )
PASS(cuDevicePrimaryCtxReset, (int device), (device), context_gone(NULL), )
PASS(cuDevicePrimaryCtxReset_v2, (int device), (device), context_gone(NULL), )

static void *own(enum hook h)
{
    static void *const functions[] = {
#define HOOK(name, since, per_thread, symbol) (void *)(uintptr_t)symbol,
#include "hook.def"
#undef HOOK
    };
    return functions[h];
}

/* ---- the library's beginning and end ---- */

static void last(void)
{
    static bool done; /* behind the driver's own end CUPTI is not to be asked any more */
    struct capture_file *f = table_made();

    if (!f || done)
        return;
    done = true;
    cupti_last();
    if (f->times == CAPTURE_EVENTS)
        sample_last();
    f->ended = 1;
}

/* The driver calls it when it is initialised: CUDA_INJECTION64_PATH names this library. */
EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
    if (cupti_start())
        atexit(last); /* before the driver's own end, which was set down earlier */
    return 1;
}

__attribute__((destructor)) static void at_end(void)
{
    last();
}
