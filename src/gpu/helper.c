/* Our own kernels on the device: share/cuda/helpers.ptx. */
#include "device.h"

bool helpers_open(struct cuda *c, struct err *err)
{
    const struct driver *d = c->driver;
    const struct {
        CUfunction *f;
        const char *name;
    } table[] = {{&c->helpers.gate, "gate"},
                 {&c->helpers.canary_fill, "canary_fill"},
                 {&c->helpers.canary_check, "canary_check"},
                 {&c->helpers.hash, "hash"},
                 {&c->helpers.poison, "poison"}};
    char log[1024] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    int code = d->module_load(&c->helpers.module, share_text("cuda/helpers.ptx"), 2, options, values);

    if (!cuda_check(c, code, err, "loading Astra's own kernels"))
        return *log ? err_context(err, "%s", log) : false;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!cuda_check(c, d->module_function(table[i].f, c->helpers.module, table[i].name), err,
                        "loading Astra's own kernels"))
            return false;
    code = d->function_set(c->helpers.poison, FUNCTION_MAX_DYNAMIC_SHARED,
                           (int)c->info.limits.shared_per_block_optin);
    return cuda_check(c, code, err, "asking for all shared memory of a block");
}

bool helper_launch(struct cuda *c, CUfunction f, unsigned blocks, unsigned threads, unsigned shared_bytes,
                   void **params, struct err *err)
{
    return cuda_check(c,
                      c->driver->launch(f, blocks, 1, 1, threads, 1, 1, shared_bytes, c->stream, params, NULL),
                      err, "launching one of Astra's own kernels");
}

bool cuda_poison_shared(struct cuda *c, int byte, struct err *err)
{
    unsigned bytes = c->info.limits.shared_per_block_optin & ~3u, word = 0x01010101u * (unsigned char)byte;
    uint64_t wait_ns = 4000;
    void *params[] = {&bytes, &word, &wait_ns};

    /* A block that takes all shared memory has an SM to itself, and stays until the last one has its own. */
    return cuda_usable(c, err) &&
           helper_launch(c, c->helpers.poison, (unsigned)c->info.limits.sm_count, 1024, bytes, params, err) &&
           cuda_sync(c, err);
}

void cuda_reset_lines(struct cuda *c)
{
    if (c->driver->reset_persisting)
        (void)c->driver->reset_persisting(); /* not supported before sm_80, where nothing persists either */
}

bool cuda_flush(struct cuda *c, struct err *err)
{
    const struct driver *d = c->driver;

    if (!cuda_usable(c, err))
        return false;
    if (!c->scratch) {
        uint64_t bytes = 4 * MAX(c->info.limits.l2_bytes, (uint64_t)16 << 20);
        if (!cuda_check(c, d->alloc(&c->scratch, bytes), err, "allocating four times the L2"))
            return false;
        c->scratch_bytes = bytes;
    }
    cuda_reset_lines(c);
    return cuda_check(c, d->set(c->scratch, 0x5a, c->scratch_bytes, c->stream), err, "flushing the L2") &&
           cuda_sync(c, err);
}
