/* One launch, checked before and watched until its end; what the driver's codes say about a kernel. */
#include "device.h"

#include "base/tensor_map.h"

#include <sched.h>
#include <time.h>

void cuda_wait(struct cuda *c, double limit_s, bool *ended, int *code)
{
    double start, waited = 0;

    *code = c->driver->event_record(c->done, c->stream);
    *ended = true;
    start = time_s();
    while (*code == CUDA_OK && (*code = c->driver->event_query(c->done)) == CUDA_NOT_READY) {
        *code = CUDA_OK;
        if (waited > limit_s) {
            *ended = false;
            return;
        }
        waited = time_s() - start;
        if (waited > 2e-3)
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        else if (waited > 100e-6)
            sched_yield();
    }
}

bool cuda_sync(struct cuda *c, struct err *err)
{
    enum { PATIENCE_S = 60 };
    bool ended;
    int code;

    cuda_wait(c, PATIENCE_S, &ended, &code);
    if (!ended) {
        cuda_spoil(c, "it did not answer for %d s", PATIENCE_S);
        return cuda_usable(c, err);
    }
    return cuda_check(c, code, err, "waiting for it");
}

bool cuda_tensor_map(struct cuda *c, const struct tensor_map *m, unsigned char to[TENSOR_MAP_BYTES],
                     struct err *err)
{
    _Alignas(64) unsigned char made[TENSOR_MAP_BYTES];
    uint32_t box[TENSOR_RANK_MAX], steps[TENSOR_RANK_MAX];
    int code;

    if (!c->driver->tensor_map)
        return err_world(err, "the driver is too old for tensor maps");
    for (unsigned d = 0; d < TENSOR_RANK_MAX; d++) {
        box[d] = m->box[d];
        steps[d] = 1;
    }
    code = c->driver->tensor_map(made, m->type, m->rank, (void *)(uintptr_t)m->addr, m->dims, m->strides, box,
                                 steps, 0, m->swizzle, m->promotion, 0);
    memcpy(to, made, sizeof(made));
    return cuda_check(c, code, err, "making a tensor map");
}

/* ---- findings ---- */

bool cuda_finding(struct ptx_report *r, enum ptx_end end, enum ptx_finding_kind kind,
                  const struct ptx_launch *l, const char *fmt, ...)
{
    struct ptx_finding *f = &r->findings[0];
    va_list ap;

    r->end = end;
    r->n_findings = 1;
    *f = (struct ptx_finding){.kind = kind};
    snprintf(f->kernel, sizeof(f->kernel), "%s", l ? l->kernel : "");
    va_start(ap, fmt);
    vsnprintf(f->words, sizeof(f->words), fmt, ap);
    va_end(ap);
    return true;
}

static const struct {
    int code;
    enum ptx_end end;
    enum ptx_finding_kind kind;
    const char *words;
} faults[] = {
    {CUDA_ILLEGAL_ADDRESS, PTX_UNSAFE, PTX_OUT_OF_BOUNDS, "an access outside of all buffers"},
    {CUDA_INVALID_ADDRESS_SPACE, PTX_UNSAFE, PTX_OUT_OF_BOUNDS,
     "an instruction for one kind of memory got an address of another"},
    {CUDA_MISALIGNED_ADDRESS, PTX_UNSAFE, PTX_MISALIGNED,
     "an access to an address that is no multiple of its size"},
    {CUDA_HARDWARE_STACK_ERROR, PTX_CRASHED, PTX_TRAP, "the stack overflowed or is corrupt"},
    {CUDA_ASSERT, PTX_CRASHED, PTX_ASSERT, "a failed assert"},
    {CUDA_ILLEGAL_INSTRUCTION, PTX_CRASHED, PTX_TRAP, "a trap or an illegal instruction"},
    {CUDA_INVALID_PC, PTX_CRASHED, PTX_TRAP, "a jump to where there is no code"},
    {CUDA_LAUNCH_FAILED, PTX_CRASHED, PTX_TRAP, "the kernel was stopped by an exception"},
    {CUDA_LAUNCH_TIMEOUT, PTX_HUNG, PTX_LOOP, "stopped by the display's watchdog: it ran too long"},
    {CUDA_INVALID_VALUE, PTX_BAD_LAUNCH, PTX_LAUNCH, "the launch's dimensions or sizes are not valid"},
    {CUDA_LAUNCH_OUT_OF_RESOURCES, PTX_BAD_LAUNCH, PTX_LAUNCH,
     "it needs more registers or threads than an SM has"},
    {CUDA_COOPERATIVE_LAUNCH_TOO_LARGE, PTX_BAD_LAUNCH, PTX_LAUNCH,
     "a cooperative launch of more blocks than the device holds at once"},
    {CUDA_INVALID_CLUSTER_SIZE, PTX_BAD_LAUNCH, PTX_LAUNCH, "the device does not take a cluster of that size"},
    {CUDA_NOT_SUPPORTED, PTX_BAD_LAUNCH, PTX_LAUNCH, "the device does not support such a launch"},
};

bool cuda_fault(struct cuda *c, int code, const struct ptx_launch *l, struct ptx_report *r, struct err *err)
{
    char words[512];

    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (faults[i].code != code)
            continue;
        driver_words(c->driver, code, words, sizeof(words));
        if (faults[i].end != PTX_BAD_LAUNCH)
            cuda_spoil(c, "a kernel ended with %s", words);
        return cuda_finding(r, faults[i].end, faults[i].kind, l, "%s (the GPU says %.200s)", faults[i].words,
                            words);
    }
    return cuda_check(c, code, err, "running a kernel");
}

/* ---- the launch ---- */

static bool dims_fit(const struct ptx_launch *l, struct ptx_report *r)
{
    static const uint32_t grid_most[3] = {0x7fffffff, 65535, 65535}, block_most[3] = {1024, 1024, 64};

    for (int k = 0; k < 3; k++) {
        if (!l->grid[k] || l->grid[k] > grid_most[k])
            return !cuda_finding(r, PTX_BAD_LAUNCH, PTX_LAUNCH, l,
                                 "grid %u x %u x %u: dimension %c must be from 1 to %u", l->grid[0], l->grid[1],
                                 l->grid[2], "xyz"[k], grid_most[k]);
        if (!l->block[k] || l->block[k] > block_most[k])
            return !cuda_finding(r, PTX_BAD_LAUNCH, PTX_LAUNCH, l,
                                 "block %u x %u x %u: dimension %c must be from 1 to %u", l->block[0],
                                 l->block[1], l->block[2], "xyz"[k], block_most[k]);
        if (l->cluster[k] && l->grid[k] % l->cluster[k])
            return !cuda_finding(r, PTX_BAD_LAUNCH, PTX_LAUNCH, l,
                                 "clusters of %u x %u x %u do not divide a grid of %u x %u x %u", l->cluster[0],
                                 l->cluster[1], l->cluster[2], l->grid[0], l->grid[1], l->grid[2]);
    }
    return true;
}

bool launch_prepare(struct cuda_module *m, const struct ptx_launch *l, CUfunction f, struct ptx_report *r,
                    struct err *err)
{
    struct cuda *c = m->cuda;
    const struct driver *d = c->driver;
    const struct ptx_device *g = &c->info.limits;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2], shared;
    int own = 0, most = 0, registers = 0;

    *r = (struct ptx_report){.end = PTX_DONE};
    if (!dims_fit(l, r))
        return true;
    if (!cuda_check(c, d->function_get(&own, FUNCTION_SHARED, f), err, "asking a kernel's shared memory") ||
        !cuda_check(c, d->function_get(&most, FUNCTION_MAX_THREADS, f), err, "asking a kernel's threads") ||
        !cuda_check(c, d->function_get(&registers, FUNCTION_REGISTERS, f), err, "asking a kernel's registers"))
        return false;
    if (threads > (uint64_t)g->max_threads_per_block)
        return cuda_finding(r, PTX_BAD_LAUNCH, PTX_LAUNCH, l,
                            "%llu threads in a block; the device has at most %d", (unsigned long long)threads,
                            g->max_threads_per_block);
    if (threads > (uint64_t)most)
        return cuda_finding(
            r, PTX_BAD_LAUNCH, PTX_LAUNCH, l,
            "%llu threads in a block; the kernel's launch bounds or its %d registers a thread allow %d",
            (unsigned long long)threads, registers, most);
    shared = (uint64_t)own + l->shared_bytes;
    if (shared > g->shared_per_block_optin)
        return cuda_finding(r, PTX_BAD_LAUNCH, PTX_LAUNCH, l,
                            "%llu bytes of shared memory; a block of the device has at most %u",
                            (unsigned long long)shared, g->shared_per_block_optin);
    if (shared > g->shared_per_block &&
        !cuda_check(c, d->function_set(f, FUNCTION_MAX_DYNAMIC_SHARED, (int)l->shared_bytes), err,
                    "asking for more shared memory"))
        return false;
    if (l->non_portable_cluster)
        return cuda_check(c, d->function_set(f, FUNCTION_NON_PORTABLE_CLUSTER, 1), err,
                          "asking for large clusters");
    return true;
}

static int launch_now(struct cuda *c, const struct ptx_launch *l, CUfunction f, bool *can)
{
    const struct driver *d = c->driver;
    struct launch_attribute attributes[2] = {{0}};
    struct launch_config config = {
        .shared_bytes = l->shared_bytes, .stream = c->stream, .attributes = attributes};
    void **params = (void **)(uintptr_t)l->args;

    *can = true;
    if (!l->cooperative && !l->cluster[0])
        return d->launch(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                         l->shared_bytes, c->stream, params, NULL);
    if (!d->launch_ex) {
        *can = false;
        return CUDA_NOT_SUPPORTED;
    }
    memcpy(config.grid, l->grid, sizeof(config.grid));
    memcpy(config.block, l->block, sizeof(config.block));
    if (l->cooperative) {
        attributes[config.n_attributes].id = LAUNCH_COOPERATIVE;
        attributes[config.n_attributes++].value.cooperative = 1;
    }
    if (l->cluster[0]) {
        attributes[config.n_attributes].id = LAUNCH_CLUSTER;
        for (int k = 0; k < 3; k++)
            attributes[config.n_attributes].value.cluster[k] = MAX(l->cluster[k], 1);
        config.n_attributes++;
    }
    return d->launch_ex(&config, f, params, NULL);
}

bool cuda_launch(struct cuda_module *m, const struct ptx_launch *l, double limit_s, struct ptx_report *r,
                 struct err *err)
{
    struct cuda *c = m->cuda;
    CUfunction f;
    bool ended, can;
    int code;

    if (!module_function(m, l->kernel, &f, err) || !spaces_hash(c, err) || !launch_prepare(m, l, f, r, err))
        return false;
    if (r->end != PTX_DONE)
        return true;
    code = launch_now(c, l, f, &can);
    if (!can)
        return err_world(
            err, "GPU %d: the driver is too old for cooperative launches and clusters (CUDA 11.8 has them)",
            c->info.index);
    if (code != CUDA_OK)
        return cuda_fault(c, code, l, r, err);
    cuda_wait(c, limit_s, &ended, &code);
    if (!ended) {
        cuda_spoil(c, "kernel %s did not end within %g s", l->kernel, limit_s);
        return cuda_finding(r, PTX_HUNG, PTX_LOOP, l, "the kernel did not end within %g s", limit_s);
    }
    return code == CUDA_OK || cuda_fault(c, code, l, r, err);
}

void cuda_profiled(struct cuda *c, bool on)
{
    int (*f)(void) = on ? c->driver->profiler_start : c->driver->profiler_stop;

    if (f && !c->spoilt)
        f();
}
