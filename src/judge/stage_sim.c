/* A stage in the simulator's memory: sparse, byte-exact, filled page by page when first touched. */
#include "internal.h"

enum { REGION = 1 << 13, EVERY = 61 }; /* elements */

/* Some regions hold the answer, but for an element here and there: whoever leaves a part as it is because some
 * of it is right leaves those. The others have poison, and the ends of the whole: what nobody writes shows. */
static bool is_answered(const struct stage_fill *f, uint64_t region)
{
    enum { ONE_IN = 8 };
    uint64_t regions = (uint64_t)f->elements / REGION;

    return region > 0 && region + 2 < regions && regions >= 4 * ONE_IN &&
           rng_hash(f->seed, region) % ONE_IN == 0;
}

static void fill_answered(const struct stage_fill *f, uint64_t offset, unsigned char *to, size_t size)
{
    size_t element = kernel_type_size(f->arg->type);
    uint64_t e = offset / element, end = (offset + size) / element;

    for (uint64_t next; e < end; e = next) {
        next = MIN(end, (e / REGION + 1) * REGION);
        if (!is_answered(f, e / REGION))
            continue;
        memcpy(to + (e * element - offset), f->answer + e * element, (size_t)(next - e) * element);
        for (uint64_t left = (e + EVERY - 1) / EVERY * EVERY; left < next; left += EVERY)
            memset(to + (left * element - offset), f->poison, element);
    }
}

static void fill(void *context, uint64_t offset, void *to, size_t size)
{
    const struct stage_fill *f = context;
    size_t element = kernel_type_size(f->arg->type);

    if (f->bytes)
        memcpy(to, f->bytes + offset, size);
    else if (f->values)
        stage_values(f, (int64_t)(offset / element), (int64_t)(size / element), to);
    else
        memset(to, f->poison, size);
    if (f->answer)
        fill_answered(f, offset, to, size);
}

bool stage_written(const struct stage *s, const struct task_arg *arg, uint64_t addr, void *to, size_t size)
{
    unsigned char before[STAGE_WRITTEN_MOST];

    if (arg->role == ROLE_OUT && !s->shadow)
        return ptx_mem_first_uninitialised(s->mem, addr, size) < 0 && ptx_mem_read(s->mem, addr, to, size);
    return ptx_mem_filled(s->mem, addr, before, size) && ptx_mem_read(s->mem, addr, to, size) &&
           memcmp(before, to, size) != 0;
}

static bool sim_open(struct stage *s, const struct stage_data *d, struct err *err)
{
    (void)err;
    s->mem = ptx_mem_open(d->place);
    return true;
}

static void sim_close(struct stage *s)
{
    ptx_mem_close(s->mem);
    s->mem = NULL;
}

static uint64_t sim_alloc(struct stage *s, const char *name, uint64_t bytes, const struct stage_fill *f,
                          bool initialised, struct err *err)
{
    const struct ptx_buffer b = {.name = name,
                                 .size_bytes = bytes,
                                 .align_bytes = f ? (uint32_t)f->arg->align_bytes : 0,
                                 .initialised = initialised,
                                 .read_only = f && f->arg->role == ROLE_IN,
                                 .stable = f && f->arg->stable,
                                 .dense = f && s->dense,
                                 .fill = f ? fill : NULL,
                                 .context = (void *)f};

    return ptx_mem_alloc(s->mem, &b, err);
}

static bool sim_set(struct stage *s, uint64_t to, int byte, size_t n, struct err *err)
{
    if (s->shadow)
        ptx_shadow_set(s->shadow, s->mem, to, n);
    return ptx_mem_set(s->mem, to, byte, n, true) ||
           err_world(err, "memory of the simulator at %#llx is not there", (unsigned long long)to);
}

static bool sim_read(struct stage *s, uint64_t from, void *to, size_t n, struct err *err)
{
    return ptx_mem_read(s->mem, from, to, n) ||
           err_world(err, "memory of the simulator at %#llx is not there", (unsigned long long)from);
}

static bool sim_copy(struct stage *s, uint64_t to, uint64_t from, size_t size, struct err *err)
{
    enum { PIECE = 1 << 20 };
    if (!s->shadow && ptx_mem_copies_later(s->mem, to, from, size)) {
        ptx_mem_copy_later(s->mem, to, from, size);
        return true;
    }
    char *piece = mem_alloc(MIN(size, (size_t)PIECE));
    bool ok = true;

    for (size_t done = 0; ok && done < size; done += PIECE) {
        size_t n = MIN(size - done, (size_t)PIECE);
        /* Bytes that nothing wrote stay so on the other side. */
        ok = sim_read(s, from + done, piece, n, err) &&
             (ptx_mem_write(s->mem, to + done, piece, n,
                            ptx_mem_first_uninitialised(s->mem, from + done, n) < 0) ||
              err_world(err, "memory of the simulator at %#llx is not there", (unsigned long long)to));
    }
    free(piece);
    if (ok && s->shadow)
        ptx_shadow_copy(s->shadow, s->mem, to, from, size);
    return ok;
}

/* Beside a multiple of the original's work, what a grid that fills the device does on any shape, a
 * barrier of the whole grid among it: a tiny shape would else call every persistent kernel endless. And where
 * one thread of the original does all there is, each warp of a tile may do as much: of a tile it is asked one
 * element. */
static uint64_t launch_insns(const struct ptx_device *d, const struct ptx_launch *l,
                             const struct stage_check *c)
{
    enum { INSNS_PER_WARP = 2000, TILE_WARPS = 32, TILE_INSNS = 50000000 };
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    double warps = ceil(threads / 32) * l->grid[0] * l->grid[1] * l->grid[2];
    double most = (double)c->max_insns;
    double filled = most + INSNS_PER_WARP * MIN(warps, (double)d->sm_count * d->max_threads_per_sm / 32);
    double tile = c->per_warp ? MIN((most - SMALL_INSNS) * MIN(warps, TILE_WARPS), TILE_INSNS) : 0;

    return (uint64_t)MAX(filled, tile);
}

static uint64_t blocks_of(const struct ptx_launch *l)
{
    return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

static uint32_t short_by_one(const struct stage_check *c, const struct ptx_launch *l)
{
    return c->short_of && !strcmp(c->short_of, l->kernel) ? (uint32_t)MIN(blocks_of(l) - 1, UINT32_MAX) : 0;
}

static bool sim_launch(struct stage *s, struct version *v, const struct ptx_launch *l,
                       const struct image_kernel *k, const struct stage_check *c, struct ptx_report *r,
                       struct err *err)
{
    struct sanitizer sanitizer;
    struct stochastic stochastic;
    const struct sanitize_ahead ahead = stage_ahead(s);
    const struct sanitize_stores stores = {&s->ahead.writes, stored_note};
    const struct ptx_options o = {
        .device = s->judge->device,
        .observers = {sanitizer_on(&sanitizer, c->checks),
                      c->overflow ? overflow_on(c->overflow) : stochastic_on(&stochastic, c->stochastic),
                      ptx_shadow_observer(s->shadow)},
        .seed = c->order,
        .max_warp_insns = c->max_insns ? launch_insns(s->judge->device, l, c) : 0,
        .registers = k->resources.registers,
        .most_live = short_by_one(c, l),
        .ran = c->order ? NULL : v->ran};

    sanitizer.waste = c->order ? NULL : v->waste;
    sanitizer.ahead = &ahead;
    sanitizer.earlier = c->earlier;
    sanitizer.stores = s->ahead.followed ? &stores : NULL;
    if (!ptx_run(v->module, s->mem, l, &o, r, err))
        return false;
    if (!c->order && r->end == PTX_DONE && r->most_live > 1 && r->most_live == blocks_of(l))
        grid_seen_together(v, l->kernel);
    return true;
}

static bool sim_constant(struct stage *s, struct version *v, const struct stage_constant *c, struct err *err)
{
    return ptx_mem_write_constant(s->mem, v->module, c->name, c->offset, c->bytes, c->size) ||
           err_world(err, "the simulator's module has no variable %s", c->name);
}

static bool sim_state(struct stage *s, struct version *v, uint64_t *hash, struct err *err)
{
    (void)err;
    *hash = v->module ? ptx_module_globals_hash(v->module, s->mem) : 0; /* a launcher that launches nothing */
    return true;
}

static bool sim_damage(struct stage *s, struct arena *a, const char **words, struct err *err)
{
    (void)s, (void)a, (void)err;
    *words = NULL; /* a write that is none of a kernel's business has ended its launch */
    return true;
}

const struct stage_ops stage_sim = {
    .side = SIDE_SIM,
    .open = sim_open,
    .close = sim_close,
    .alloc = sim_alloc,
    .set = sim_set,
    .copy = sim_copy,
    .read = sim_read,
    .launch = sim_launch,
    .constant = sim_constant,
    .state = sim_state,
    .damage = sim_damage,
};
