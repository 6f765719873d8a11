/* One launch: is it one that a GPU would take, its parameters, its blocks, its end. */
#include "machine.h"

static const uint64_t default_limit = 4000000000ull;

/* Of a timed launch, short enough that warps that share lines of memory come to these about together. */
enum { SLICE = 1 << 20, TIMED_SLICE = 64 };

/* The cluster's size: of the launch, or as the kernel requires it. */
static bool cluster_fits(struct launch *l)
{
    enum { PORTABLE = 8 };
    const struct ptx_kernel_info *f = &l->entry->info;
    const uint32_t *given = l->args->cluster, *req = f->req_cluster;
    bool named = given[0] || given[1] || given[2];
    l->explicit_cluster = named || req[0];
    for (int k = 0; k < 3; k++)
        l->cluster[k] = named ? MAX(given[k], 1u) : MAX(req[k], 1u);
    uint64_t n = (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2];
    const char *why = NULL;
    if (!l->explicit_cluster && f->explicit_cluster)
        why = "the kernel must be launched in clusters of a given size";
    else if (l->explicit_cluster && l->options->device->cc_major < 9)
        why = "the device has no thread block clusters";
    else if (named && req[0] && memcmp(l->cluster, req, sizeof(l->cluster)))
        why = "the kernel requires another size (__cluster_dims__)";
    else if (f->max_cluster && n > f->max_cluster)
        why = "the kernel's launch bounds allow fewer blocks";
    else if (n > MAX_CLUSTER)
        why = "a cluster has at most 16 blocks";
    else if (n > PORTABLE && !l->args->non_portable_cluster)
        why = "more than 8 blocks need cudaFuncAttributeNonPortableClusterSizeAllowed";
    else if (l->grid[0] % l->cluster[0] || l->grid[1] % l->cluster[1] || l->grid[2] % l->cluster[2])
        why = "the grid is no multiple of it";
    if (why)
        launch_fault(l, PTX_LAUNCH, "cluster %u x %u x %u: %s", l->cluster[0], l->cluster[1], l->cluster[2],
                     why);
    l->cluster_blocks = (uint32_t)MIN(n, (uint64_t)MAX_CLUSTER);
    return !why;
}

static bool launch_fits(struct launch *l)
{
    const struct ptx_device *d = l->options->device;
    const struct func *f = l->entry;
    static const uint32_t grid_most[3] = {0x7fffffff, 65535, 65535}, block_most[3] = {1024, 1024, 64};
    for (int k = 0; k < 3; k++) {
        if (!l->grid[k] || l->grid[k] > grid_most[k]) {
            launch_fault(l, PTX_LAUNCH, "grid %u x %u x %u: dimension %c must be from 1 to %u", l->grid[0],
                         l->grid[1], l->grid[2], "xyz"[k], grid_most[k]);
            return false;
        }
        if (!l->dim[k] || l->dim[k] > block_most[k]) {
            launch_fault(l, PTX_LAUNCH, "block %u x %u x %u: dimension %c must be from 1 to %u", l->dim[0],
                         l->dim[1], l->dim[2], "xyz"[k], block_most[k]);
            return false;
        }
    }
    uint64_t threads = (uint64_t)l->dim[0] * l->dim[1] * l->dim[2];
    if (threads > (uint64_t)d->max_threads_per_block) {
        launch_fault(l, PTX_LAUNCH, "%llu threads in a block; the device has at most %d",
                     (unsigned long long)threads, d->max_threads_per_block);
        return false;
    }
    l->threads = (uint32_t)threads;
    const uint32_t *most = f->info.max_threads, *req = f->info.req_threads;
    if (most[0] && threads > (uint64_t)most[0] * most[1] * most[2]) {
        launch_fault(l, PTX_LAUNCH, "%llu threads in a block; the kernel's launch bounds allow %llu",
                     (unsigned long long)threads, (unsigned long long)most[0] * most[1] * most[2]);
        return false;
    }
    if (req[0] && (req[0] != l->dim[0] || req[1] != l->dim[1] || req[2] != l->dim[2])) {
        launch_fault(l, PTX_LAUNCH, "the kernel requires blocks of %u x %u x %u threads", req[0], req[1],
                     req[2]);
        return false;
    }
    uint64_t shared = (uint64_t)l->shared_static + l->args->shared_bytes;
    if (shared > d->shared_per_block_optin) {
        launch_fault(l, PTX_LAUNCH, "%llu bytes of shared memory; a block of the device has at most %u",
                     (unsigned long long)shared, d->shared_per_block_optin);
        return false;
    }
    if (l->options->registers &&
        (uint64_t)l->options->registers * ((threads + 31) / 32 * 32) > d->registers_per_sm) {
        launch_fault(l, PTX_LAUNCH, "%u registers for each of %llu threads are more than the device's %u",
                     l->options->registers, (unsigned long long)threads, d->registers_per_sm);
        return false;
    }
    if (!cluster_fits(l))
        return false;
    l->n_blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    int per_sm = ptx_occupancy(d, l->options->registers, (uint32_t)shared, (uint32_t)threads);
    uint64_t resident = (uint64_t)MAX(per_sm, 1) * (uint64_t)MAX(d->sm_count, 1);
    if (l->args->cooperative && l->n_blocks > resident) {
        launch_fault(l, PTX_LAUNCH, "a cooperative launch of %llu blocks; the device holds %llu at once",
                     (unsigned long long)l->n_blocks, (unsigned long long)resident);
        return false;
    }
    if (l->options->most_live)
        resident = MIN(resident, l->options->most_live);
    l->max_resident = (uint32_t)MIN(MAX(resident, l->cluster_blocks), 1u << 20);
    return true;
}

static void observers_begin(struct launch *l)
{
    l->loop = l->module->loop;
    for (int k = 0; k < PTX_OBSERVERS; k++) {
        struct ptx_observer *o = l->options->observers[k];
        if (!o)
            continue;
        BUG_IF(l->observer[o->calls->role]);
        l->observer[o->calls->role] = o;
    }
    for (int role = 0; role < PTX_ROLES; role++) {
        struct ptx_observer *o = l->observer[role];
        if (o && o->calls->begin)
            l->observer[role] = o->calls->begin(o, l);
        if (o && o->calls->loop)
            l->loop = o->calls->loop(l->module);
    }
    l->watched = l->observer[PTX_CHECKER] || l->observer[PTX_CLOCK];
    BUG_IF(l->watched && l->observer[PTX_VALUES]);
    l->slice = l->observer[PTX_CLOCK] ? TIMED_SLICE : SLICE;
}

static void observers_end(struct launch *l)
{
    for (int role = 0; role < PTX_ROLES; role++)
        if (l->observer[role] && l->observer[role]->calls->end)
            l->observer[role]->calls->end(l->observer[role], l);
}

bool ptx_run(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *args,
             const struct ptx_options *o, struct ptx_report *r, struct err *err)
{
    struct launch l = {.module = m, .mem = mem, .args = args, .options = o, .report = r, .ran = o->ran};
    for (size_t k = 0; k < m->n_funcs && !l.entry; k++)
        if (m->funcs[k].is_entry && m->funcs[k].has_body && !strcmp(m->funcs[k].name, args->kernel))
            l.entry = &m->funcs[k];
    if (!l.entry)
        return err_world(err, "%s has no kernel %s", m->name, args->kernel);
    const struct func *f = l.entry;
    if (args->n_args != f->n_params)
        return err_world(err, "%s takes %zu parameters, %zu were given", args->kernel, f->n_params,
                         args->n_args);
    *r = (struct ptx_report){0};
    memcpy(l.grid, args->grid, sizeof(l.grid));
    memcpy(l.dim, args->block, sizeof(l.dim));
    uint32_t align = 16;
    l.shared_static = (f->shared_bytes + align - 1) / align * align;
    for (size_t k = 0; k < m->n_vars; k++)
        if (m->vars[k]->space == SPACE_SHARED && m->vars[k]->is_extern)
            l.shared_static = (l.shared_static + m->vars[k]->align - 1) & ~(MAX(m->vars[k]->align, 1) - 1);
    l.shared_dynamic = args->shared_bytes;
    l.shared_bytes = l.shared_static + l.shared_dynamic;
    l.local_bytes = (f->local_bytes + 15) / 16 * 16;
    if (m->recurses)
        l.local_bytes += m->frame_bytes * MAX_CALL_DEPTH;
    if (!launch_fits(&l)) {
        r->end = l.end;
        return true;
    }
    l.n_warps = (l.threads + 31) / 32;
    l.limit = o->max_warp_insns ? o->max_warp_insns : default_limit;
    l.image = mem_image(mem, m, err);
    if (m->image_bytes && !l.image)
        return false;
    if (args->cooperative) {
        struct ptx_buffer workspace = {.name = "grid workspace", .size_bytes = 64, .initialised = true};
        l.grid_workspace = ptx_mem_alloc(mem, &workspace, err);
        if (!l.grid_workspace)
            return false;
    }
    l.params = mem_zalloc(f->param_bytes + 64);
    for (size_t k = 0; k < f->n_params; k++)
        memcpy(l.params + f->params[k]->off, args->args[k], f->params[k]->bytes);
    l.last_alloc = mem_zalloc((m->n_code + 1) * sizeof(*l.last_alloc));
    observers_begin(&l);
    blocks_run(&l);
    observers_end(&l);
    r->end = l.stop ? l.end : PTX_DONE;
    r->warp_insns = l.issued;
    free(l.last_alloc);
    free(l.params);
    if (l.grid_workspace)
        ptx_mem_free(mem, l.grid_workspace);
    return true;
}

void ptx_report_clear(struct ptx_report *r)
{
    if (r->printed) {
        str_free(r->printed);
        free(r->printed);
    }
    *r = (struct ptx_report){0};
}
