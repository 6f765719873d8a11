/* Code loaded into a GPU: its kernels and its variables. */
#include "device.h"

bool cuda_module_open(struct cuda_module **out, struct cuda *c, const void *image, size_t len, struct err *err)
{
    struct cuda_module *m;
    char log[4096] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    char *text;
    int code;

    if (!cuda_usable(c, err))
        return false;
    m = mem_zalloc(sizeof(*m));
    m->cuda = c;
    text = mem_alloc(len + 1); /* PTX must end with a NUL */
    memcpy(text, image, len);
    text[len] = 0;
    code = c->driver->module_load(&m->module, text, 2, options, values);
    free(text);
    if (code != CUDA_OK) {
        free(m);
        cuda_check(c, code, err, "the driver does not load the code");
        return *log ? err_context(err, "%s", log) : false;
    }
    *out = m;
    return true;
}

void cuda_module_close(struct cuda_module *m)
{
    if (!m)
        return;
    if (!m->cuda->spoilt)
        m->cuda->driver->module_unload(m->module);
    map_free(&m->functions);
    free(m);
}

bool module_function(struct cuda_module *m, const char *kernel, CUfunction *f, struct err *err)
{
    struct cuda *c = m->cuda;
    int code;

    if (!cuda_usable(c, err))
        return false;
    if ((*f = map_get(&m->functions, kernel)))
        return true;
    code = c->driver->module_function(f, m->module, kernel);
    if (code == CUDA_NOT_FOUND)
        return err_world(err, "the loaded code has no kernel %s", kernel);
    if (!cuda_check(c, code, err, "looking up a kernel"))
        return false;
    map_put(&m->functions, kernel, *f);
    return true;
}

bool cuda_module_occupancy(struct cuda_module *m, const char *kernel, int block_threads, uint32_t shared_bytes,
                           int *blocks, struct err *err)
{
    struct cuda *c = m->cuda;
    CUfunction f;
    int own = 0;

    if (!module_function(m, kernel, &f, err) ||
        !cuda_check(c, c->driver->function_get(&own, FUNCTION_SHARED, f), err,
                    "asking a kernel's shared memory"))
        return false;
    if ((uint64_t)own + shared_bytes > c->info.limits.shared_per_block_optin) {
        *blocks = 0;
        return true;
    }
    if (shared_bytes)
        c->driver->function_set(f, FUNCTION_MAX_DYNAMIC_SHARED, (int)shared_bytes);
    return cuda_check(c, c->driver->occupancy(blocks, f, block_threads, shared_bytes), err,
                      "asking the occupancy");
}

bool module_variable(struct cuda_module *m, const char *name, uint64_t *addr, struct err *err)
{
    struct cuda *c = m->cuda;
    size_t size;
    int code = c->driver->module_global(addr, &size, m->module, name);

    if (code == CUDA_NOT_FOUND) /* ptxas has dropped it: nothing uses it */
        *addr = 0;
    return code == CUDA_NOT_FOUND || (cuda_usable(c, err) && cuda_check(c, code, err, "looking up a variable"));
}

bool cuda_module_write(struct cuda_module *m, const char *name, uint64_t offset_bytes, const void *from,
                       size_t n, struct err *err)
{
    uint64_t addr;

    return module_variable(m, name, &addr, err) &&
           (!addr || cuda_write(m->cuda, addr + offset_bytes, from, n, err));
}

bool cuda_module_globals_hash(struct cuda_module *m, const char *const *names, size_t n, uint64_t *hash,
                              struct err *err)
{
    struct cuda *c = m->cuda;
    bool ok = true;

    *hash = 7;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t addr;
        size_t size;
        int code = c->driver->module_global(&addr, &size, m->module, names[i]);
        if (code == CUDA_NOT_FOUND) /* ptxas has dropped it: nothing uses it */
            continue;
        if (!(ok = cuda_usable(c, err) && cuda_check(c, code, err, "looking up a variable")))
            break;
        void *bytes = mem_alloc(size);
        if ((ok = cuda_read(c, addr, bytes, size, err)))
            *hash = hash_bytes(bytes, size, rng_mix(*hash + i));
        free(bytes);
    }
    return ok;
}
