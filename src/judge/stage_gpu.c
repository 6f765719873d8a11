/* A stage in a GPU's memory. Nothing there says which bytes were written: poison, canaries and a hash of what
 * is read only stand for that. */
#include "internal.h"

#include "base/tensor_map.h"

static bool gpu_open(struct stage *s, const struct stage_data *d, struct err *err)
{
    enum cuda_guard guard = d->trusted ? CUDA_PLAIN : CUDA_GUARDED;

    if (d->exact)
        guard = CUDA_EXACT;
    s->bare = d->exact;
    s->untouched = d->exact && !d->trusted;
    return cuda_buffers_open(&s->buffers, s->judge->gpu, guard, d->place, err);
}

static void gpu_close(struct stage *s)
{
    cuda_buffers_close(s->buffers);
    s->buffers = NULL;
}

static bool generate(struct stage *s, const struct stage_fill *f, uint64_t addr, uint64_t bytes,
                     struct err *err)
{
    struct cuda *c = s->judge->gpu;
    size_t element = kernel_type_size(f->arg->type);
    uint64_t first = (uint64_t)stage_period(f) * element;
    void *tile = mem_alloc(first + 1);
    bool ok;

    stage_values(f, 0, (int64_t)(first / element), tile);
    ok = cuda_write(c, addr, tile, first, err);
    free(tile);
    /* What is there is doubled until all is full: the period stays. */
    for (uint64_t done = first; ok && done < bytes; done *= 2)
        ok = cuda_copy(c, addr + done, addr, MIN(done, bytes - done), err);
    return ok;
}

static uint64_t gpu_alloc(struct stage *s, const char *name, uint64_t bytes, const struct stage_fill *f,
                          bool initialised, struct err *err)
{
    struct cuda *c = s->judge->gpu;
    const struct cuda_buffer b = {.name = name,
                                  .size_bytes = bytes,
                                  .align_bytes = f ? (uint32_t)f->arg->align_bytes : 0,
                                  .read_only = f && f->arg->role == ROLE_IN && !s->bare};
    uint64_t addr = cuda_buffers_alloc(s->buffers, &b, err);
    bool ok;

    (void)initialised;
    if (!addr || bytes == 0)
        return addr;
    if (f && f->from)
        ok = cuda_copy(c, addr, f->from, bytes, err);
    else if (f && f->bytes)
        ok = cuda_write(c, addr, f->bytes, bytes, err);
    else if (f && f->values)
        ok = generate(s, f, addr, bytes, err);
    else
        ok = s->untouched || cuda_set(c, addr, f ? f->poison : s->poison, bytes, err);
    return ok ? addr : 0;
}

static bool gpu_set(struct stage *s, uint64_t to, int byte, size_t n, struct err *err)
{
    return cuda_set(s->judge->gpu, to, byte, n, err);
}

static bool gpu_copy(struct stage *s, uint64_t to, uint64_t from, size_t n, struct err *err)
{
    return cuda_copy(s->judge->gpu, to, from, n, err);
}

static bool gpu_read(struct stage *s, uint64_t from, void *to, size_t n, struct err *err)
{
    return cuda_read(s->judge->gpu, from, to, n, err);
}

static bool gpu_launch(struct stage *s, struct version *v, const struct ptx_launch *l,
                       const struct image_kernel *k, const struct stage_check *c, struct ptx_report *r,
                       struct err *err)
{
    (void)k;
    return cuda_poison_shared(s->judge->gpu, s->poison, err) && cuda_launch(v->loaded, l, c->limit_s, r, err);
}

static bool gpu_constant(struct stage *s, struct version *v, const struct stage_constant *c, struct err *err)
{
    return s->graph ? cuda_graph_write(s->graph, v->loaded, c->name, c->offset, c->bytes, c->size, err)
                    : cuda_module_write(v->loaded, c->name, c->offset, c->bytes, c->size, err);
}

static bool gpu_state(struct stage *s, struct version *v, uint64_t *hash, struct err *err)
{
    struct arena *scratch = arena_open();
    const char **names;
    size_t n = v->module ? ptx_module_globals(v->module, scratch, &names) : 0;
    bool ok = true;

    (void)s;
    *hash = 0;
    if (n > 0)
        ok = cuda_module_globals_hash(v->loaded, names, n, hash, err);
    arena_close(scratch);
    return ok;
}

static bool gpu_damage(struct stage *s, struct arena *a, const char **words, struct err *err)
{
    return cuda_buffers_damage(s->buffers, a, words, err);
}

static bool gpu_tensor_map(struct stage *s, unsigned char *map, struct err *err)
{
    struct tensor_map m;

    memcpy(&m, map, sizeof(m));
    return cuda_tensor_map(s->judge->gpu, &m, map, err);
}

const struct stage_ops stage_gpu = {
    .side = SIDE_GPU,
    .open = gpu_open,
    .close = gpu_close,
    .alloc = gpu_alloc,
    .set = gpu_set,
    .copy = gpu_copy,
    .read = gpu_read,
    .launch = gpu_launch,
    .tensor_map = gpu_tensor_map,
    .constant = gpu_constant,
    .state = gpu_state,
    .damage = gpu_damage,
};
