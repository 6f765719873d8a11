/* A CUDA driver without a GPU: memory is the simulator's, kernels run on it (PTX only), time is counted in
 * executed instructions. What was queued is executed when somebody asks for its end, so a kernel that waits for
 * the host can be let through in between. It does not check what the product should not do; it answers as a
 * driver would. */
#include "fake.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/tensor_map.h"
#include "clock/clock.h"
#include "ptx/observe.h"

enum {
    OK = 0,
    INVALID = 1,
    NO_MEMORY = 2,
    NO_BINARY = 209,
    BAD_PTX = 218,
    NEW_PTX = 222,
    NOT_FOUND = 500,
    NOT_READY = 600
};
enum { PAGE = 64 << 10 };

struct fake_function {
    struct fake_module *module;
    const struct ptx_kernel_info *info;
    uint32_t max_dynamic;
    bool non_portable;
};

struct fake_module {
    struct ptx_module *ptx;
    bool helpers; /* the product's own */
    VEC(struct fake_function *) functions;
};

struct event {
    bool recorded;
    double us;
};

struct work {
    enum { WORK_KERNEL, WORK_SET, WORK_COPY, WORK_WRITE, WORK_EVENT } kind;
    struct fake_function *function;
    struct ptx_launch launch; /* args are our own */
    bool early;               /* it follows a launch by an edge that lets it begin early */
    uint64_t to, from;
    size_t n;
    int byte;
    struct event *event;
};

typedef VEC(struct work) works;

struct graph {
    works work;
    bool uploaded, ran;
    bool loose; /* the last node follows nothing yet */
};

static struct {
    bool initialised, context;
    struct ptx_mem *mem;
    uint64_t held; /* bytes allocated */
    works queue;
    double now_us;
    unsigned
        waiting; /* graphs uploaded and not run: as on an H200, each launch takes longer while there are any */
    int sticky;  /* every call answers it */
    bool hung;
    unsigned launches;
    void *shared_host; /* the one piece of host memory that the device sees, and where it sees it */
    uint64_t shared_device;
    size_t shared_size;
    struct map calls;
} fake;

/* ---- misbehaviour ---- */

/* FAKECUDA_FAIL="symbol=code,symbol=code@n": always, or at the n-th call only. */
static int told(const char *symbol)
{
    const char *s = getenv("FAKECUDA_FAIL");
    uintptr_t calls = (uintptr_t)map_get(&fake.calls, symbol) + 1;
    size_t len = strlen(symbol);

    map_put(&fake.calls, symbol, (void *)calls);
    for (; s && *s; s += strcspn(s, ","), s += *s == ',') {
        if (strncmp(s, symbol, len) != 0 || s[len] != '=')
            continue;
        char *end;
        long code = strtol(s + len + 1, &end, 10);
        if (*end != '@' || strtoul(end + 1, NULL, 10) == calls)
            return (int)code;
    }
    return fake.sticky;
}

/* One call at a time, also from a program's several threads. */
static pthread_mutex_t one = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static inline void leave(pthread_mutex_t **m)
{
    pthread_mutex_unlock(*m);
}

#define ENTER(symbol)                                                         \
    __attribute__((cleanup(leave), unused)) pthread_mutex_t *entered_ = &one; \
    pthread_mutex_lock(&one);                                                 \
    do {                                                                      \
        int code_ = told(symbol);                                             \
        if (code_ != OK)                                                      \
            return code_;                                                     \
    } while (0)

static const struct ptx_device *model(void)
{
    const char *name = getenv("FAKECUDA_MODEL");
    const struct ptx_device *d = ptx_device_find(name ? name : "h200");
    BUG_IF(!d);
    return d;
}

/* ---- the queue ---- */

static void stop(int code)
{
    fake.sticky = code;
    fake.queue.n = 0;
}

static int code_of(const struct ptx_report *r)
{
    switch (r->end) {
    case PTX_UNSAFE:
        return r->findings[0].kind == PTX_MISALIGNED ? 716 : 700;
    case PTX_CRASHED:
        return r->findings[0].kind == PTX_ASSERT ? 710 : 719;
    default:
        fprintf(stderr, "fakecuda: %s\n", r->n_findings ? r->findings[0].words : ptx_end_name(r->end));
        return 719;
    }
}

static double cost_us(double own)
{
    return fake_item("FAKECUDA_TIMES", fake.launches++, own);
}

/* Fills all shared memory of all SMs and waits until each block has one. Here shared memory ends with its
 * block: one of them shows that the launch is right. */
static bool is_poison(const struct work *o)
{
    return o->function->module->helpers && !strcmp(o->launch.kernel, "poison") && o->launch.n_args == 3;
}

static void run_kernel(const struct work *o)
{
    const struct ptx_options options = {.device = model(), .max_warp_insns = 200000000};
    struct ptx_launch launch = o->launch;
    const char *endless = getenv("FAKECUDA_ENDLESS");
    struct ptx_report r;
    struct err err = {0};

    if (endless && !strcmp(endless, o->launch.kernel)) {
        fake.hung = true;
        return;
    }
    if (fake.shared_host)
        ptx_mem_write(fake.mem, fake.shared_device, fake.shared_host, fake.shared_size, true);
    if (is_poison(o)) {
        launch.grid[0] = 1;
        memset((void *)(uintptr_t)launch.args[2], 0, sizeof(uint64_t)); /* the wait */
    }
    if (!ptx_run(o->function->module->ptx, fake.mem, &launch, &options, &r, &err)) {
        fprintf(stderr, "fakecuda: %s\n", err.text);
        stop(719);
        return;
    }
    if (fake.shared_host)
        ptx_mem_read(fake.mem, fake.shared_device, fake.shared_host, fake.shared_size);
    if (r.printed)
        fputs(str_text(r.printed), stdout);
    /* Our own kernels cost nothing, so that a script of times is that of the measured ones. */
    if (!o->function->module->helpers)
        fake.now_us +=
            cost_us((o->early ? 0.25 : 0.5) + (double)r.warp_insns * 1e-3) + (fake.waiting ? 0.25 : 0);
    if (r.end == PTX_HUNG)
        fake.hung = true;
    else if (r.end != PTX_DONE)
        stop(code_of(&r));
    ptx_report_clear(&r);
}

static bool move(uint64_t to, uint64_t from, size_t n)
{
    char *piece = mem_alloc(n + 1);
    bool ok = ptx_mem_read(fake.mem, from, piece, n) && ptx_mem_write(fake.mem, to, piece, n, true);

    free(piece);
    return ok;
}

static void work_free(struct work *o)
{
    if (o->kind != WORK_KERNEL)
        return;
    for (size_t i = 0; i < o->launch.n_args; i++)
        free((void *)(uintptr_t)o->launch.args[i]);
    free((void *)(uintptr_t)o->launch.args);
}

static struct work work_copy(const struct work *from)
{
    struct work o = *from;

    if (o.kind != WORK_KERNEL)
        return o;
    void **args = mem_zalloc((o.launch.n_args + 1) * sizeof(*args));
    for (size_t i = 0; i < o.launch.n_args; i++) {
        args[i] = mem_zalloc(o.function->info->param_bytes[i] + 1);
        memcpy(args[i], from->launch.args[i], o.function->info->param_bytes[i]);
    }
    o.launch.args = (const void *const *)args;
    return o;
}

static bool moved(const struct work *o)
{
    if (o->kind == WORK_SET)
        return ptx_mem_set(fake.mem, o->to, o->byte, o->n, true);
    if (o->kind == WORK_WRITE)
        return ptx_mem_write(fake.mem, o->to, (const void *)(uintptr_t)o->from, o->n, true);
    return move(o->to, o->from, o->n);
}

static void drain(void)
{
    size_t done = 0;

    for (; done < fake.queue.n && !fake.sticky && !fake.hung; done++) {
        struct work *o = &fake.queue.v[done];
        if (o->kind == WORK_KERNEL) {
            run_kernel(o);
        } else if (o->kind == WORK_EVENT) {
            o->event->recorded = true;
            o->event->us = fake.now_us;
        } else if (!moved(o)) {
            stop(700);
        } else {
            fake.now_us += 0.5 + (double)o->n * 1e-6;
        }
        if (!fake.hung)
            work_free(o);
    }
    if (fake.sticky) /* what is left is never executed */
        return;
    if (fake.hung && done) /* and stays where it is */
        done--;
    if (done)
        memmove(fake.queue.v, fake.queue.v + done, (fake.queue.n - done) * sizeof(*fake.queue.v));
    fake.queue.n -= done;
}

static struct graph *capturing;  /* what launches go into instead of the device */
static struct graph *last_graph; /* whose nodes are asked about */

static void put(const struct work *o)
{
    if (capturing) {
        vec_push(&capturing->work, work_copy(o));
        return;
    }
    vec_push(&fake.queue, work_copy(o));
    if ((double)fake.queue.n > fake_number("FAKECUDA_QUEUE", 1e9))
        drain(); /* a full queue makes the host wait */
}

/* ---- start ---- */

/* As the driver does: a tool's library is loaded into the program and called. */
static int inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL, *symbol;
    int (*start)(void);

    if (library && (symbol = dlsym(library, "InitializeInjection"))) {
        memcpy(&start, &symbol, sizeof(start));
        start();
    }
    return OK;
}

/* Every symbol of this library by its name, newest first, as the driver gives them. */
EXPORT int cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status)
{
    static const struct {
        const char *end;
        int since;
    } ends[] = {{"_v2", 3020}, {"", 0}};
    Dl_info info;
    char symbol[128];
    void *own =
        dladdr((void *)(uintptr_t)inject, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    (void)flags;
    *to = NULL;
    for (size_t i = 0; own && !*to && i < ARRAY_LEN(ends); i++) {
        snprintf(symbol, sizeof(symbol), "%s%s", name, ends[i].end);
        if (version >= ends[i].since)
            *to = dlsym(own, symbol);
    }
    if (status)
        *status = *to ? 0 : 1;
    return *to ? OK : NOT_FOUND;
}

EXPORT int cuInit(unsigned flags)
{
    ENTER("cuInit");
    fake.initialised = flags == 0;
    return fake.initialised ? inject() : OK;
}

EXPORT int cuDriverGetVersion(int *version)
{
    *version = (int)fake_number("FAKECUDA_VERSION", 13000);
    return OK;
}

EXPORT int cuGetErrorName(int code, const char **name)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
                 {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {34, "CUDA_ERROR_STUB_LIBRARY"},
                 {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                 {100, "CUDA_ERROR_NO_DEVICE"},
                 {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                 {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                 {218, "CUDA_ERROR_INVALID_PTX"},
                 {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {710, "CUDA_ERROR_ASSERT"},
                 {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                 {719, "CUDA_ERROR_LAUNCH_FAILED"},
                 {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
                 {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
                 {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                 {999, "CUDA_ERROR_UNKNOWN"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].code == code) {
            *name = names[i].name;
            return OK;
        }
    *name = NULL;
    return INVALID;
}

EXPORT int cuGetErrorString(int code, const char **text)
{
    (void)code;
    *text = "words of the fake driver";
    return OK;
}

EXPORT int cuDeviceGetCount(int *n)
{
    ENTER("cuDeviceGetCount");
    *n = (int)fake_number("FAKECUDA_DEVICES", 1);
    return OK;
}

EXPORT int cuDeviceGet(int *device, int index)
{
    ENTER("cuDeviceGet");
    *device = index;
    return index >= 0 && index < (int)fake_number("FAKECUDA_DEVICES", 1) ? OK : 101;
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
    const char *own = getenv("FAKECUDA_NAME");

    (void)device;
    ENTER("cuDeviceGetName");
    snprintf(name, (size_t)size, "%s", own ? own : model()->full_name);
    return OK;
}

EXPORT int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    ENTER("cuDeviceGetUuid_v2");
    memset(uuid, 0xfa, 16);
    uuid[0] = (unsigned char)fake_number("FAKECUDA_UUID", 0);
    uuid[15] = (unsigned char)device;
    return OK;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)fake_number("FAKECUDA_MEMORY", (double)model()->dram_bytes);
    return OK;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    const struct ptx_device *d = model();
    int cc = (int)fake_number("FAKECUDA_CC", 10 * d->cc_major + d->cc_minor);

    (void)device;
    ENTER("cuDeviceGetAttribute");
    switch (attribute) {
    case 1:
        *value = d->max_threads_per_block;
        break;
    case 8:
        *value = (int)d->shared_per_block;
        break;
    case 13:
        *value = (int)(d->sm_clock_mhz * 1e3);
        break;
    case 16:
        *value = d->sm_count;
        break;
    case 36:
        *value = 3201000;
        break;
    case 37:
        *value = 6016;
        break;
    case 38:
        *value = (int)fake_number("FAKECUDA_L2", (double)d->l2_bytes);
        break;
    case 39:
        *value = d->max_threads_per_sm;
        break;
    case 75:
        *value = cc / 10;
        break;
    case 76:
        *value = cc % 10;
        break;
    case 81:
        *value = (int)d->shared_per_sm;
        break;
    case 82:
        *value = (int)d->registers_per_sm;
        break;
    case 97:
        *value = (int)d->shared_per_block_optin;
        break;
    case 102:
        *value = (int)fake_number("FAKECUDA_VMM", 1);
        break;
    case 106:
        *value = d->max_blocks_per_sm;
        break;
    default:
        *value = 0;
    }
    return OK;
}

EXPORT int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    (void)device;
    ENTER("cuCtxCreate_v2");
    if (!fake.initialised)
        return 3;
    if (!fake.mem)
        fake.mem = ptx_mem_open(7);
    fake.context = true;
    *context = &fake;
    return OK;
}

EXPORT int cuCtxGetCurrent(void **context)
{
    *context = fake.context ? &fake : NULL;
    return OK;
}

EXPORT int cuCtxSetCurrent(void *context)
{
    return context == &fake ? OK : 201;
}

EXPORT int cuCtxGetDevice(int *device)
{
    *device = 0;
    return fake.context ? OK : 201;
}

EXPORT int cuCtxDestroy_v2(void *context)
{
    ENTER("cuCtxDestroy_v2");
    return context == &fake ? OK : 201;
}

/* For tests that load this library themselves: how often lines were reset. */
EXPORT extern unsigned fakecuda_resets;
unsigned fakecuda_resets;

EXPORT int cuCtxResetPersistingL2Cache(void)
{
    fakecuda_resets++;
    return OK;
}

/* ---- memory ---- */

static bool room(size_t size)
{
    double most = fake_number("FAKECUDA_FREE", 2e9);

    return (double)fake.held + (double)size <= most;
}

static uint64_t give(size_t size, uint32_t align)
{
    const struct ptx_buffer b = {
        .name = "device memory", .size_bytes = size, .align_bytes = align, .initialised = true};
    uint64_t addr = ptx_mem_alloc(fake.mem, &b, NULL);

    if (addr)
        fake.held += size;
    return addr;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    ENTER("cuMemGetInfo_v2");
    *free_bytes = (size_t)MAX(0, fake_number("FAKECUDA_FREE", 2e9) - (double)fake.held);
    return cuDeviceTotalMem_v2(total_bytes, 0);
}

EXPORT int cuMemAlloc_v2(uint64_t *addr, size_t size)
{
    ENTER("cuMemAlloc_v2");
    if (!size)
        return INVALID;
    return room(size) && (*addr = give(size, 512)) ? OK : NO_MEMORY;
}

EXPORT int cuMemFree_v2(uint64_t addr)
{
    ENTER("cuMemFree_v2");
    struct alloc *a = mem_find(fake.mem, addr);
    if (!a || a->addr != addr)
        return INVALID;
    fake.held -= a->size;
    ptx_mem_free(fake.mem, addr);
    return OK;
}

EXPORT int cuMemHostAlloc(void **host, size_t size, unsigned flags)
{
    ENTER("cuMemHostAlloc");
    *host = mem_zalloc(size);
    if (!(flags & 2)) /* only pinned, not mapped */
        return OK;
    fake.shared_host = *host;
    fake.shared_size = size;
    fake.shared_device = give(size, 4096);
    return OK;
}

EXPORT int cuMemFreeHost(void *host)
{
    if (host == fake.shared_host)
        fake.shared_host = NULL;
    free(host);
    return OK;
}

EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *addr, void *host, unsigned flags)
{
    (void)flags;
    *addr = fake.shared_device;
    return host == fake.shared_host ? OK : INVALID;
}

static int or_sticky(int code)
{
    return fake.sticky ? fake.sticky : code;
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream)
{
    (void)stream;
    ENTER("cuMemcpyHtoDAsync_v2");
    drain();
    return or_sticky(ptx_mem_write(fake.mem, to, from, n, true) ? OK : INVALID);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream)
{
    (void)stream;
    ENTER("cuMemcpyDtoHAsync_v2");
    drain();
    return or_sticky(ptx_mem_read(fake.mem, from, to, n) ? OK : INVALID);
}

EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream)
{
    (void)stream;
    ENTER("cuMemcpyDtoDAsync_v2");
    put(&(struct work){.kind = WORK_COPY, .to = to, .from = from, .n = n});
    return OK;
}

EXPORT int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t n, void *stream)
{
    (void)stream;
    ENTER("cuMemsetD8Async");
    put(&(struct work){.kind = WORK_SET, .to = to, .byte = byte, .n = n});
    return OK;
}

/* The allocation that begins there, also when it is empty. */
static struct alloc *reserved(uint64_t addr)
{
    for (size_t i = 0; i < fake.mem->n_allocs; i++)
        if (fake.mem->allocs[i]->addr == addr)
            return fake.mem->allocs[i];
    return NULL;
}

/* Addresses are reserved as one allocation that is empty until its pages are mapped: then it is them, and what
 * is around is nobody's. */
EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const void *properties, int option)
{
    (void)properties;
    (void)option;
    ENTER("cuMemGetAllocationGranularity");
    *bytes = PAGE;
    return OK;
}

EXPORT int cuMemAddressReserve(uint64_t *addr, size_t size, size_t align, uint64_t wish, uint64_t flags)
{
    (void)align;
    (void)wish;
    (void)flags;
    ENTER("cuMemAddressReserve");
    if (!(*addr = give(size, PAGE)))
        return NO_MEMORY;
    fake.held -= size;
    reserved(*addr)->size = 0;
    return OK;
}

EXPORT int cuMemAddressFree(uint64_t addr, size_t size)
{
    (void)size;
    ENTER("cuMemAddressFree");
    ptx_mem_free(fake.mem, addr);
    return OK;
}

EXPORT int cuMemCreate(uint64_t *handle, size_t size, const void *properties, uint64_t flags)
{
    (void)properties;
    (void)flags;
    ENTER("cuMemCreate");
    if (size % PAGE)
        return INVALID;
    if (!room(size))
        return NO_MEMORY;
    fake.held += size;
    *handle = size;
    return OK;
}

EXPORT int cuMemRelease(uint64_t handle)
{
    ENTER("cuMemRelease");
    fake.held -= handle;
    return OK;
}

EXPORT int cuMemMap(uint64_t addr, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
    struct alloc *a = reserved(addr - PAGE);

    (void)flags;
    ENTER("cuMemMap");
    if (!a || a->size || offset || handle != size)
        return INVALID;
    a->addr = addr;
    a->size = size;
    return OK;
}

EXPORT int cuMemUnmap(uint64_t addr, size_t size)
{
    struct alloc *a = reserved(addr);

    ENTER("cuMemUnmap");
    if (!a || a->size != size)
        return INVALID;
    a->addr -= PAGE;
    a->size = 0;
    return OK;
}

EXPORT int cuMemSetAccess(uint64_t addr, size_t size, const void *access, size_t n)
{
    (void)size;
    (void)access;
    ENTER("cuMemSetAccess");
    return n == 1 && reserved(addr) ? OK : INVALID;
}

/* ---- code ---- */

static bool too_new(const char *ptx)
{
    const char *version = strstr(ptx, ".version ");

    return version && strtod(version + 9, NULL) > fake_number("FAKECUDA_PTX", 99);
}

EXPORT int cuModuleLoadDataEx(struct fake_module **out, const void *image, unsigned n, int *options,
                              void **values)
{
    struct fake_module *m;
    struct err err = {0};

    ENTER("cuModuleLoadDataEx");
    if (!memcmp(image, "\177ELF", 4))
        return NO_BINARY;
    if (too_new(image))
        return NEW_PTX;
    m = mem_zalloc(sizeof(*m));
    if (!ptx_module_open(&m->ptx, "ptx", image, strlen(image), &err)) {
        for (unsigned i = 0; i + 1 < n; i++)
            if (options[i] == 5 && options[i + 1] == 6)
                snprintf(values[i], (size_t)values[i + 1], "%s", err.text);
        free(m);
        return BAD_PTX;
    }
    if (!mem_image(fake.mem, m->ptx, &err) && ptx_module_globals_size(m->ptx)) {
        ptx_module_close(m->ptx);
        free(m);
        return NO_MEMORY;
    }
    m->helpers = !strcmp(image, share_text("cuda/helpers.ptx"));
    *out = m;
    return OK;
}

EXPORT int cuModuleLoadData(struct fake_module **out, const void *image)
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

EXPORT int cuFuncGetName(const char **name, struct fake_function *f)
{
    *name = f->info->name;
    return OK;
}

EXPORT int cuFuncGetModule(struct fake_module **module, struct fake_function *f)
{
    *module = f->module;
    return OK;
}

/* Each parameter lies at a multiple of its size, or of 8. */
EXPORT int cuFuncGetParamInfo(struct fake_function *f, size_t index, size_t *offset, size_t *size)
{
    size_t at = 0;

    if (index >= f->info->n_params)
        return INVALID;
    for (size_t i = 0; i <= index; i++) {
        size_t n = f->info->param_bytes[i], align = MIN(n, 8);
        at = (at + align - 1) / align * align;
        *offset = at;
        *size = n;
        at += n;
    }
    return OK;
}

EXPORT int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t addr)
{
    ENTER("cuMemGetAddressRange_v2");
    struct alloc *a = mem_find(fake.mem, addr);

    if (!a)
        return INVALID;
    *base = a->addr;
    *size = a->size;
    return OK;
}

EXPORT int cuModuleUnload(struct fake_module *m)
{
    ENTER("cuModuleUnload");
    for (size_t i = 0; i < m->functions.n; i++)
        free(m->functions.v[i]);
    vec_free(&m->functions);
    ptx_module_close(m->ptx);
    free(m);
    return OK;
}

EXPORT int cuModuleGetFunction(struct fake_function **out, struct fake_module *m, const char *name)
{
    const struct ptx_kernel_info *info;
    struct fake_function *f;

    ENTER("cuModuleGetFunction");
    if (!(info = ptx_module_kernel(m->ptx, name)))
        return NOT_FOUND;
    f = mem_zalloc(sizeof(*f));
    f->module = m;
    f->info = info;
    vec_push(&m->functions, f);
    *out = f;
    return OK;
}

EXPORT int cuModuleGetGlobal_v2(uint64_t *addr, size_t *size, struct fake_module *m, const char *name)
{
    ENTER("cuModuleGetGlobal_v2");
    for (size_t i = 0; i < m->ptx->n_vars; i++) {
        const struct var *v = m->ptx->vars[i];
        if ((v->space != SPACE_GLOBAL && v->space != SPACE_CONST) || strcmp(v->name, name) != 0)
            continue;
        *addr = mem_image(fake.mem, m->ptx, NULL) + v->addr;
        *size = v->bytes;
        return OK;
    }
    return NOT_FOUND;
}

static uint32_t max_threads(const struct fake_function *f)
{
    const uint32_t *most = f->info->max_threads;

    return most[0] ? most[0] * most[1] * most[2] : (uint32_t)model()->max_threads_per_block;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, struct fake_function *f)
{
    ENTER("cuFuncGetAttribute");
    const int values[] = {[0] = (int)max_threads(f), [1] = (int)f->info->shared_bytes, [4] = 32};
    *value = (size_t)attribute < ARRAY_LEN(values) ? values[attribute] : 0;
    return OK;
}

/* A tensor map here is what the simulator reads. */
EXPORT int cuTensorMapEncodeTiled(void *map, unsigned type, unsigned rank, void *addr, const uint64_t *dims,
                                  const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                                  unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill)
{
    struct tensor_map m = {.addr = (uint64_t)(uintptr_t)addr,
                           .type = (uint8_t)type,
                           .rank = (uint8_t)rank,
                           .swizzle = (uint8_t)swizzle,
                           .promotion = (uint8_t)promotion,
                           .mark = TENSOR_MAP_MARK};
    ENTER("cuTensorMapEncodeTiled");
    if (!rank || rank > TENSOR_RANK_MAX || interleave || fill || (uintptr_t)map % 64)
        return INVALID;
    for (unsigned d = 0; d < rank; d++) {
        m.dims[d] = dims[d];
        m.box[d] = (uint16_t)box[d];
        if (steps[d] != 1)
            return INVALID;
        if (d)
            m.strides[d - 1] = strides[d - 1];
    }
    memcpy(map, &m, sizeof(m));
    return OK;
}

EXPORT int cuFuncSetAttribute(struct fake_function *f, int attribute, int value)
{
    ENTER("cuFuncSetAttribute");
    if (attribute == 14) {
        f->non_portable = value;
    } else if (attribute == 8) {
        if ((uint32_t)value + f->info->shared_bytes > model()->shared_per_block_optin)
            return INVALID;
        f->max_dynamic = (uint32_t)value;
    }
    return OK;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct fake_function *f, int threads,
                                                       size_t shared)
{
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = ptx_occupancy(model(), 32, f->info->shared_bytes + (uint32_t)shared, (uint32_t)threads);
    return OK;
}

/* ---- launches ---- */

static int check(const struct work *o)
{
    const struct ptx_launch *l = &o->launch;
    const struct ptx_device *d = model();
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
             blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
             shared = o->function->info->shared_bytes + l->shared_bytes;

    if (!threads || !blocks || threads > (uint64_t)d->max_threads_per_block || l->block[2] > 64 ||
        l->grid[1] > 65535 || l->grid[2] > 65535)
        return INVALID;
    if (threads > max_threads(o->function))
        return 701;
    if (shared > MAX(d->shared_per_block, o->function->info->shared_bytes + o->function->max_dynamic))
        return INVALID;
    uint64_t cluster = (uint64_t)MAX(l->cluster[0], 1) * MAX(l->cluster[1], 1) * MAX(l->cluster[2], 1);
    if (cluster > (l->non_portable_cluster ? 16 : 8))
        return 912;
    if (l->cooperative &&
        blocks > (uint64_t)ptx_occupancy(d, 32, (uint32_t)shared, (uint32_t)threads) * (uint64_t)d->sm_count)
        return 720;
    return OK;
}

static struct work work_of_launch(struct fake_function *f, const unsigned grid[3], const unsigned block[3],
                                  unsigned shared, void **params)
{
    struct work o = {.kind = WORK_KERNEL,
                     .function = f,
                     .launch = {.kernel = f->info->name,
                                .shared_bytes = shared,
                                .args = (const void *const *)params,
                                .n_args = f->info->n_params,
                                .non_portable_cluster = f->non_portable}};

    memcpy(o.launch.grid, grid, sizeof(o.launch.grid));
    memcpy(o.launch.block, block, sizeof(o.launch.block));
    return o;
}

static void attribute_of(struct work *o, int id, const void *value)
{
    if (id == 2)
        o->launch.cooperative = *(const int *)value;
    else if (id == 4)
        memcpy(o->launch.cluster, value, sizeof(o->launch.cluster));
    else if (id == 6)
        o->early = *(const int *)value && capturing && capturing->work.n &&
                   capturing->work.v[capturing->work.n - 1].kind == WORK_KERNEL;
}

EXPORT int cuLaunchKernel(struct fake_function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
    struct work o = work_of_launch(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, params);
    uint64_t soon = 2000;
    void *gate_params[4];
    int code;

    (void)stream;
    (void)extra;
    ENTER("cuLaunchKernel");
    if (!strcmp(f->info->name, "gate") && o.launch.n_args == 4) { /* its patience, in instructions */
        memcpy(gate_params, params, sizeof(gate_params));
        gate_params[3] = &soon;
        o.launch.args = (const void *const *)gate_params;
    }
    if ((code = check(&o)) == OK)
        put(&o);
    return code;
}

struct attribute {
    int id, pad;
    char value[64];
};

struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct attribute *attributes;
    unsigned n_attributes;
};

EXPORT int cuLaunchKernelEx(const struct config *c, struct fake_function *f, void **params, void **extra)
{
    struct work o = work_of_launch(f, c->grid, c->block, c->shared, params);
    int code;

    (void)extra;
    ENTER("cuLaunchKernelEx");
    for (unsigned i = 0; i < c->n_attributes; i++)
        attribute_of(&o, c->attributes[i].id, c->attributes[i].value);
    if ((code = check(&o)) == OK)
        put(&o);
    return code;
}

EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    ENTER("cuStreamCreate");
    *stream = &fake.queue;
    return OK;
}

EXPORT int cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    return OK;
}

EXPORT int cuEventCreate(struct event **e, unsigned flags)
{
    (void)flags;
    ENTER("cuEventCreate");
    *e = mem_zalloc(sizeof(**e));
    return OK;
}

EXPORT int cuEventDestroy_v2(struct event *e)
{
    free(e);
    return OK;
}

EXPORT int cuEventRecord(struct event *e, void *stream)
{
    (void)stream;
    ENTER("cuEventRecord");
    e->recorded = false;
    put(&(struct work){.kind = WORK_EVENT, .event = e});
    return OK;
}

EXPORT int cuEventQuery(struct event *e)
{
    ENTER("cuEventQuery");
    drain();
    return or_sticky(e->recorded ? OK : NOT_READY);
}

EXPORT int cuEventElapsedTime_v2(float *ms, struct event *from, struct event *to)
{
    ENTER("cuEventElapsedTime_v2");
    if (!from->recorded || !to->recorded)
        return NOT_READY;
    *ms = (float)((to->us - from->us) * 1e-3);
    return OK;
}

EXPORT int cuEventElapsedTime(float *ms, struct event *from, struct event *to)
{
    return cuEventElapsedTime_v2(ms, from, to);
}

EXPORT int cuCtxSynchronize(void)
{
    ENTER("cuCtxSynchronize");
    drain();
    return or_sticky(OK);
}

/* ---- graphs: a list, in the order of adding ---- */

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode)
{
    (void)stream;
    (void)mode;
    ENTER("cuStreamBeginCapture_v2");
    if (capturing)
        return 901;
    capturing = mem_zalloc(sizeof(*capturing));
    return OK;
}

/* Into a graph that is there: what comes follows its last node. */
EXPORT int cuStreamBeginCaptureToGraph(void *stream, struct graph *g, const uintptr_t *after, const void *data,
                                       size_t n, int mode)
{
    (void)stream;
    (void)mode;
    ENTER("cuStreamBeginCaptureToGraph");
    if (capturing)
        return 901;
    if (data || n != (g->work.n > 0) || (n && *after != g->work.n))
        return INVALID;
    capturing = g;
    return OK;
}

EXPORT int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, struct graph **g,
                                     const uintptr_t **last, const void **data, size_t *n)
{
    static uintptr_t node;

    (void)stream;
    ENTER("cuStreamGetCaptureInfo_v3");
    *status = capturing != NULL;
    if (!capturing)
        return OK;
    *id = 1;
    if (g)
        *g = capturing;
    node = capturing->work.n;
    *last = &node;
    *data = NULL;
    *n = node > 0;
    return OK;
}

EXPORT int cuStreamEndCapture(void *stream, struct graph **g)
{
    (void)stream;
    ENTER("cuStreamEndCapture");
    *g = last_graph = capturing;
    capturing = NULL;
    return *g ? OK : 901;
}

EXPORT int cuStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = capturing != NULL;
    return OK;
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode)
{
    static __thread int own;
    int before = own;

    own = *mode;
    *mode = before;
    return OK;
}

EXPORT int cuGraphCreate(struct graph **g, unsigned flags)
{
    (void)flags;
    ENTER("cuGraphCreate");
    *g = mem_zalloc(sizeof(**g));
    return OK;
}

static int graph_free(struct graph *g)
{
    for (size_t i = 0; i < g->work.n; i++)
        work_free(&g->work.v[i]);
    vec_free(&g->work);
    free(g);
    return OK;
}

EXPORT int cuGraphDestroy(struct graph *g)
{
    ENTER("cuGraphDestroy");
    return graph_free(g);
}

/* A node is its number in the graph, plus one; each must follow the one before. */
static int add(uintptr_t *node, struct graph *g, const uintptr_t *after, size_t n, const struct work *o)
{
    if (g->loose || n > 1 || (n && *after != g->work.n))
        return INVALID;
    g->loose = !n && g->work.n;
    vec_push(&g->work, work_copy(o));
    *node = g->work.n;
    last_graph = g;
    return OK;
}

struct kernel_node {
    struct fake_function *function;
    unsigned grid[3], block[3], shared;
    void **params;
};

EXPORT int cuGraphAddKernelNode_v2(uintptr_t *node, struct graph *g, const uintptr_t *after, size_t n,
                                   const struct kernel_node *p)
{
    struct work o = work_of_launch(p->function, p->grid, p->block, p->shared, p->params);
    int code;

    ENTER("cuGraphAddKernelNode_v2");
    return (code = check(&o)) == OK ? add(node, g, after, n, &o) : code;
}

EXPORT int cuGraphKernelNodeSetAttribute(uintptr_t node, int id, const void *value)
{
    ENTER("cuGraphKernelNodeSetAttribute");
    attribute_of(&last_graph->work.v[node - 1], id, value);
    return check(&last_graph->work.v[node - 1]);
}

struct edge {
    unsigned char from_port, to_port, type, reserved[5];
};

/* An edge by which a launch may begin before the one ahead has ended: the end of that is always waited for, and
 * the launch costs less. */
EXPORT int cuGraphAddDependencies_v2(struct graph *g, const uintptr_t *from, const uintptr_t *to,
                                     const struct edge *e, size_t n)
{
    ENTER("cuGraphAddDependencies_v2");
    if (n != 1 || !g->loose || *to != g->work.n || *from != *to - 1 || e->from_port != e->type || e->type > 1 ||
        e->to_port || g->work.v[*from - 1].kind != WORK_KERNEL || g->work.v[*to - 1].kind != WORK_KERNEL)
        return INVALID;
    g->loose = false;
    g->work.v[*to - 1].early = e->type;
    return OK;
}

EXPORT int cuGraphRemoveDependencies_v2(struct graph *g, const uintptr_t *from, const uintptr_t *to,
                                        const struct edge *e, size_t n)
{
    ENTER("cuGraphRemoveDependencies_v2");
    if (n != 1 || g->loose || *to != g->work.n || *from != *to - 1 || e->type != g->work.v[*to - 1].early)
        return INVALID;
    g->loose = true;
    return OK;
}

EXPORT int cuGraphNodeGetDependentNodes_v2(uintptr_t node, uintptr_t *to, struct edge *e, size_t *n)
{
    size_t room = *n;

    ENTER("cuGraphNodeGetDependentNodes_v2");
    *n = node < last_graph->work.n;
    if (!to || !*n)
        return OK;
    if (!room)
        return INVALID;
    bool early = last_graph->work.v[node].early;
    *to = node + 1;
    *e = (struct edge){.from_port = early, .type = early};
    return OK;
}

struct set_node {
    uint64_t to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

EXPORT int cuGraphAddMemsetNode(uintptr_t *node, struct graph *g, const uintptr_t *after, size_t n,
                                const struct set_node *p, void *context)
{
    ENTER("cuGraphAddMemsetNode");
    if (context != &fake || p->element != 1 || p->height != 1)
        return INVALID;
    return add(node, g, after, n,
               &(struct work){.kind = WORK_SET, .to = p->to, .byte = (int)p->value, .n = p->width});
}

struct copy_end {
    size_t x, y, z, level;
    int memory;
    void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height;
};

struct copy_node {
    struct copy_end from, to;
    size_t width, height, depth;
};

EXPORT int cuGraphAddMemcpyNode(uintptr_t *node, struct graph *g, const uintptr_t *after, size_t n,
                                const struct copy_node *p, void *context)
{
    ENTER("cuGraphAddMemcpyNode");
    if (context != &fake || p->to.memory != 2 || p->height != 1 || p->depth != 1)
        return INVALID;
    if (p->from.memory == 1)
        return add(node, g, after, n,
                   &(struct work){
                       .kind = WORK_WRITE, .to = p->to.device, .from = (uintptr_t)p->from.host, .n = p->width});
    if (p->from.memory != 2)
        return INVALID;
    return add(node, g, after, n,
               &(struct work){.kind = WORK_COPY, .to = p->to.device, .from = p->from.device, .n = p->width});
}

EXPORT int cuGraphGetNodes(struct graph *g, uintptr_t *nodes, size_t *n)
{
    ENTER("cuGraphGetNodes");
    for (size_t i = 0; nodes && i < *n && i < g->work.n; i++)
        nodes[i] = i + 1;
    *n = g->work.n;
    last_graph = g;
    return OK;
}

EXPORT int cuGraphNodeGetType(uintptr_t node, int *type)
{
    static const int types[] = {
        [WORK_KERNEL] = 0, [WORK_COPY] = 1, [WORK_WRITE] = 1, [WORK_SET] = 2, [WORK_EVENT] = 7};

    *type = types[last_graph->work.v[node - 1].kind];
    return OK;
}

EXPORT int cuGraphKernelNodeGetParams_v2(uintptr_t node, struct kernel_node *p)
{
    const struct work *o = &last_graph->work.v[node - 1];

    p->function = o->function;
    memcpy(p->grid, o->launch.grid, sizeof(p->grid));
    memcpy(p->block, o->launch.block, sizeof(p->block));
    p->shared = o->launch.shared_bytes;
    p->params = (void **)(uintptr_t)o->launch.args;
    return OK;
}

EXPORT int cuGraphInstantiateWithFlags(struct graph **exec, struct graph *g, unsigned long long flags)
{
    (void)flags;
    ENTER("cuGraphInstantiateWithFlags");
    if (g->loose)
        return INVALID;
    *exec = mem_zalloc(sizeof(**exec));
    for (size_t i = 0; i < g->work.n; i++)
        vec_push(&(*exec)->work, work_copy(&g->work.v[i]));
    return OK;
}

EXPORT int cuGraphExecDestroy(struct graph *exec)
{
    ENTER("cuGraphExecDestroy");
    return graph_free(exec);
}

EXPORT int cuGraphUpload(struct graph *exec, void *stream)
{
    (void)stream;
    ENTER("cuGraphUpload");
    fake.waiting += !exec->uploaded && !exec->ran;
    exec->uploaded = true;
    return OK;
}

EXPORT int cuGraphLaunch(struct graph *exec, void *stream)
{
    (void)stream;
    ENTER("cuGraphLaunch");
    fake.waiting -= exec->uploaded && !exec->ran;
    exec->ran = true;
    for (size_t i = 0; i < exec->work.n; i++)
        put(&exec->work.v[i]);
    return OK;
}
