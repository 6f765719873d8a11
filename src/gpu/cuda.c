/* An opened GPU: its context, what is known of it, its lock. */
#include "device.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int cuda_count(struct arena *a, const char **words)
{
    struct err err = {0};
    const struct driver *d = driver_get(&err);
    int n = 0, code;

    if (d && (code = d->device_count(&n)) != CUDA_OK) {
        driver_err(d, code, &err, "counting the GPUs");
        n = 0;
    } else if (d && n == 0) {
        err_world(&err, "the NVIDIA driver (%s) shows no GPU; see CUDA_VISIBLE_DEVICES", d->path);
    }
    if (n == 0 && words)
        *words = arena_strdup(a, err.text);
    return n;
}

void cuda_spoil(struct cuda *c, const char *fmt, ...)
{
    va_list ap;

    if (c->spoilt)
        return;
    c->spoilt = true;
    va_start(ap, fmt);
    vsnprintf(c->why, sizeof(c->why), fmt, ap);
    va_end(ap);
}

bool cuda_spoilt(const struct cuda *c)
{
    return c->spoilt;
}

bool cuda_usable(const struct cuda *c, struct err *err)
{
    if (!c->spoilt)
        return true;
    return err_world(err, "GPU %d cannot be used any more by this process: %s", c->info.index, c->why);
}

/* Codes after which the driver answers every call with the same. */
static bool sticky(int code)
{
    return (code >= CUDA_ILLEGAL_ADDRESS && code != CUDA_LAUNCH_OUT_OF_RESOURCES &&
            code <= CUDA_LAUNCH_FAILED) ||
           code == CUDA_ECC_UNCORRECTABLE || code == CUDA_NVLINK_UNCORRECTABLE || code == CUDA_CONTAINED ||
           code == CUDA_UNKNOWN;
}

bool cuda_check(struct cuda *c, int code, struct err *err, const char *what)
{
    char words[512];

    if (code == CUDA_OK)
        return true;
    if (sticky(code))
        cuda_spoil(c, "%s", driver_words(c->driver, code, words, sizeof(words)));
    return driver_err(c->driver, code, err, "GPU %d: %s", c->info.index, what);
}

/* ---- what it is ---- */

static int attribute(const struct cuda *c, enum device_attribute a)
{
    int v = 0;

    return c->driver->device_attribute(&v, (int)a, c->device) == CUDA_OK ? v : 0;
}

/* Whether word stands in text as a word of its own, whatever the case. */
static bool has_word(const char *text, const char *word, size_t len)
{
    for (const char *p = text; *p; p++) {
        if ((p == text || !isalnum((unsigned char)p[-1])) && !strncasecmp(p, word, len) &&
            !isalnum((unsigned char)p[len]))
            return true;
    }
    return false;
}

static int place_of_capability(int major, int minor)
{
    return 10 * major + minor;
}

/* A device file is of this GPU when its first word ("h200") is in the driver's name and the counts agree. */
static bool is_model(const struct ptx_device *d, const struct ptx_device *gpu)
{
    size_t len = strcspn(d->name, "-");
    bool named = has_word(gpu->full_name, d->name, len);

    if (!named && !strncmp(d->name, "rtx", 3)) /* "GeForce RTX 4090" */
        named = has_word(gpu->full_name, "rtx", 3) && has_word(gpu->full_name, d->name + 3, len - 3);
    return named && d->cc_major == gpu->cc_major && d->cc_minor == gpu->cc_minor &&
           d->sm_count == gpu->sm_count && fabs((double)d->dram_bytes / (double)gpu->dram_bytes - 1) < 0.15;
}

static void find_model(struct cuda *c, const struct ptx_device *gpu)
{
    const struct ptx_device *list, *best = NULL;
    size_t n = ptx_device_list(&list);
    double best_distance = INFINITY;

    for (size_t i = 0; i < n; i++) {
        const struct ptx_device *d = &list[i];
        double distance = 10 * abs(place_of_capability(d->cc_major, d->cc_minor) -
                                   place_of_capability(gpu->cc_major, gpu->cc_minor)) +
                          fabs(log((double)d->sm_count / MAX(gpu->sm_count, 1))) +
                          fabs(log((double)d->dram_bytes / (double)MAX(gpu->dram_bytes, 1)));
        if (is_model(d, gpu)) {
            c->info.same_model = true;
            distance = -1;
        }
        if (distance < best_distance) {
            best = d;
            best_distance = distance;
        }
    }
    BUG_IF(!best);
    c->info.model = best->name;
    c->info.limits = *best;
}

/* The model's figures, except where the driver knows better. */
static void fill_limits(struct cuda *c, const char *full_name, size_t total)
{
    struct ptx_device gpu = {.full_name = full_name,
                             .cc_major = attribute(c, DEVICE_CC_MAJOR),
                             .cc_minor = attribute(c, DEVICE_CC_MINOR),
                             .sm_count = attribute(c, DEVICE_SM_COUNT),
                             .dram_bytes = total};
    struct ptx_device *l = &c->info.limits;
    double bytes_per_us = 2e-3 * attribute(c, DEVICE_MEMORY_KHZ) * attribute(c, DEVICE_MEMORY_BITS) / 8;

    find_model(c, &gpu);
    l->full_name = full_name;
    l->cc_major = gpu.cc_major;
    l->cc_minor = gpu.cc_minor;
    l->sm_count = gpu.sm_count;
    l->dram_bytes = total;
#define TAKE(member, a)      \
    if (attribute(c, a) > 0) \
    l->member = (__typeof__(l->member))attribute(c, a)
    TAKE(max_threads_per_sm, DEVICE_MAX_THREADS_PER_SM);
    TAKE(max_blocks_per_sm, DEVICE_MAX_BLOCKS_PER_SM);
    TAKE(max_threads_per_block, DEVICE_MAX_THREADS_PER_BLOCK);
    TAKE(registers_per_sm, DEVICE_REGISTERS_PER_SM);
    TAKE(shared_per_sm, DEVICE_SHARED_PER_SM);
    TAKE(shared_per_block, DEVICE_SHARED_PER_BLOCK);
    TAKE(shared_per_block_optin, DEVICE_SHARED_OPTIN);
    TAKE(l2_bytes, DEVICE_L2_BYTES);
#undef TAKE
    if (c->info.same_model)
        return;
    l->validated = false;
    l->source = "the driver, for what it tells; the rest is of the model nearest to it";
    if (attribute(c, DEVICE_CLOCK_KHZ) > 0)
        l->sm_clock_mhz = attribute(c, DEVICE_CLOCK_KHZ) * 1e-3;
    if (bytes_per_us > 0) { /* double data rate, as every GPU's memory of the last decade */
        l->dram_copy_gbs *= bytes_per_us * 1e-3 / l->dram_peak_gbs;
        l->dram_peak_gbs = bytes_per_us * 1e-3;
    }
}

static const char *uuid_text(struct arena *a, const unsigned char u[16])
{
    return arena_printf(a, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
                        u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
                        u[15]);
}

static bool look(struct cuda *c, struct err *err)
{
    const struct driver *d = c->driver;
    char name[256] = "", version[128];
    unsigned char uuid[16];
    size_t total;

    if (!cuda_check(c, d->device_get(&c->device, c->info.index), err, "finding it") ||
        !cuda_check(c, d->device_name(name, sizeof(name), c->device), err, "asking its name") ||
        !cuda_check(c, d->device_uuid(uuid, c->device), err, "asking its UUID") ||
        !cuda_check(c, d->device_memory(&total, c->device), err, "asking its memory"))
        return false;
    c->info.name = arena_strdup(c->arena, name);
    c->info.uuid = uuid_text(c->arena, uuid);
    c->info.total_bytes = total;
    c->info.driver_cuda = d->version;
    c->info.vmm = attribute(c, DEVICE_VMM) == 1 && d->granularity && d->reserve && d->unreserve && d->create &&
                  d->release && d->map && d->unmap && d->set_access;
    fill_limits(c, c->info.name, total);
    c->info.arch = arena_printf(c->arena, "sm_%d%d", c->info.limits.cc_major, c->info.limits.cc_minor);
    c->nvml = nvml_open(c->info.uuid);
    if (nvml_driver(c->nvml, version, sizeof(version)))
        c->info.driver = arena_strdup(c->arena, version);
    c->info.other_processes = nvml_processes(c->nvml); /* before our own context is one of them */
    return true;
}

static bool start(struct cuda *c, struct err *err)
{
    const struct driver *d = c->driver;
    size_t free_bytes, total;
    void *flags;

    if (!cuda_check(c, d->context_create(&c->context, 0, c->device), err, "making a context on it") ||
        !cuda_check(c, d->memory_info(&free_bytes, &total), err, "asking its free memory") ||
        !cuda_check(c, d->stream_create(&c->stream, STREAM_NON_BLOCKING), err, "making a stream") ||
        !cuda_check(c, d->event_create(&c->done, EVENT_WITHOUT_TIME), err, "making an event") ||
        !cuda_check(c, d->event_create(&c->begin, 0), err, "making an event") ||
        !cuda_check(c, d->event_create(&c->end, 0), err, "making an event") ||
        !cuda_check(c, d->host_alloc(&flags, 4096, HOST_PORTABLE_MAPPED), err, "sharing memory with it"))
        return false;
    c->flags = flags;
    c->flags[0] = c->flags[1] = 0;
    c->info.free_bytes = free_bytes;
    return cuda_check(c, d->host_device(&c->flags_addr, flags, 0), err, "sharing memory with it") &&
           cuda_check(c, d->alloc(&c->found, 256), err, "allocating on it") && helpers_open(c, err);
}

bool cuda_open(struct cuda **out, int index, struct err *err)
{
    const struct driver *d = driver_get(err);
    struct cuda *c;
    int n, code;

    if (!d)
        return false;
    if ((code = d->device_count(&n)) != CUDA_OK)
        return driver_err(d, code, err, "counting the GPUs");
    if (index < 0 || index >= n)
        return err_input(err, "there is no GPU %d: the driver shows %d%s", index, n,
                         getenv("CUDA_VISIBLE_DEVICES") ? " (CUDA_VISIBLE_DEVICES is set)" : "");
    c = mem_zalloc(sizeof(*c));
    c->driver = d;
    c->arena = arena_open();
    c->lock_fd = -1;
    c->info.index = index;
    if (!look(c, err) || !start(c, err)) {
        cuda_close(c);
        return false;
    }
    *out = c;
    return true;
}

void cuda_close(struct cuda *c)
{
    if (!c)
        return;
    cuda_unlock(c);
    nvml_close(c->nvml);
    /* Destroying a context waits for its kernels, and one that never ends is why we are here: then the
     * process's end takes it away. */
    if (c->context && !c->spoilt) {
        if (c->helpers.module)
            c->driver->module_unload(c->helpers.module);
        CUevent events[] = {c->done, c->begin, c->end};
        for (size_t i = 0; i < ARRAY_LEN(events); i++)
            if (events[i])
                c->driver->event_destroy(events[i]);
        if (c->stream)
            c->driver->stream_destroy(c->stream);
        if (c->flags)
            c->driver->host_free((void *)(uintptr_t)c->flags);
        if (c->staging)
            c->driver->host_free(c->staging);
        c->driver->context_destroy(c->context);
    }
    arena_close(c->arena);
    free(c);
}

bool cuda_target_find(const struct cuda *c, const struct nvrtc *n, struct arena *a, struct cuda_target *t,
                      struct err *err)
{
    const char *wish = getenv("ASTRA_CUDA_PTX");
    int own = place_of_capability(c->info.limits.cc_major, c->info.limits.cc_minor), best = 0, major, minor,
        archs[64];
    size_t n_archs = nvrtc_archs(n, archs, ARRAY_LEN(archs));
    const char *path;

    nvrtc_version(n, &major, &minor, &path, NULL);
    *t = (struct cuda_target){.arch = c->info.arch, .ptx = wish && *wish && strcmp(wish, "0") != 0};
    for (size_t i = 0; i < n_archs; i++)
        if (archs[i] <= own)
            best = MAX(best, archs[i]);
    if (n_archs && !best)
        return err_world(
            err,
            "GPU %d (%s, %s) is older than what NVRTC %d.%d (%s) compiles for: set ASTRA_NVRTC to an older "
            "one",
            c->info.index, c->info.name, c->info.arch, major, minor, path);
    if (n_archs && best < own) {
        t->arch = arena_printf(a, "sm_%d", best);
        t->ptx = true;
        t->words = arena_printf(
            a,
            "GPU %d (%s, %s) is newer than NVRTC %d.%d, which knows sm_%d at most: code is compiled for "
            "that and finished by the driver's own compiler; a newer toolkit, or ASTRA_NVRTC set to "
            "one, compiles for it directly",
            c->info.index, c->info.name, c->info.arch, major, minor, best);
    } else if (major > c->info.driver_cuda / 1000) {
        t->words = arena_printf(
            a,
            "the driver (CUDA %d.%d) is older than NVRTC %d.%d: code may not load; update the driver, "
            "or set ASTRA_NVRTC to a compiler of CUDA %d",
            c->info.driver_cuda / 1000, c->info.driver_cuda % 1000 / 10, major, minor,
            c->info.driver_cuda / 1000);
    }
    return true;
}

const struct cuda_info *cuda_info(const struct cuda *c)
{
    return &c->info;
}

void cuda_clocks(const struct cuda *c, struct cuda_clocks *k)
{
    nvml_clocks(c->nvml, k);
}

/* ---- one process at a time ---- */

/* In a folder that all users share the file is another user's when he came first; then it exists and is opened
 * without creating it. */
static int open_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 && errno == ENOENT) {
        mode_t old = umask(0);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        umask(old);
    }
    return fd;
}

const char *cuda_lock_path(struct cuda *c)
{
    int fd;

    snprintf(c->lock_path, sizeof(c->lock_path), "/tmp/astra-%s.lock", c->info.uuid);
    if ((fd = open_lock(c->lock_path)) >= 0)
        close(fd);
    return c->lock_path;
}

bool cuda_lock(struct cuda *c, double wait_s, struct err *err)
{
    double until = time_s() + wait_s;
    char holder[32] = "";
    int fd;

    if (c->lock_fd >= 0)
        return true;
    snprintf(c->lock_path, sizeof(c->lock_path), "/tmp/astra-%s.lock", c->info.uuid);
    if ((fd = open_lock(c->lock_path)) < 0)
        return err_world(err, "the GPU's lock %s: %s", c->lock_path, strerror(errno));
    /* Who waits without a limit waits in the kernel's queue: woken in turn, with no time lost between two. */
    while (flock(fd, wait_s < 0 ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            err_world(err, "the GPU's lock %s: %s", c->lock_path, strerror(errno));
            close(fd);
            return false;
        }
        if (wait_s < 0)
            continue;
        if (time_s() >= until) {
            ssize_t n = pread(fd, holder, sizeof(holder) - 1, 0);
            holder[MAX(n, 0)] = 0;
            holder[strcspn(holder, "\n")] = 0;
            close(fd);
            return err_world(
                err,
                "GPU %d is being measured on by another astra%s%s (%s): two at once would spoil each other's "
                "times",
                c->info.index, *holder ? ", process " : "", holder, c->lock_path);
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    int n = snprintf(holder, sizeof(holder), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, holder, (size_t)n, 0) != n)
        trace_text("cuda", "%s: %s", c->lock_path, strerror(errno)); /* it only says who holds the lock */
    c->lock_fd = fd;
    return true;
}

void cuda_unlock(struct cuda *c)
{
    if (c->lock_fd < 0)
        return;
    if (ftruncate(c->lock_fd, 0) != 0)
        trace_text("cuda", "%s: %s", c->lock_path, strerror(errno));
    close(c->lock_fd);
    c->lock_fd = -1;
}
