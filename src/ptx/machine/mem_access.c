/* The careful way to memory, lane by lane: every space and any mixture of allocations, and all findings about
 * addresses. The fast paths of exec_mem.c come here when anything is unusual. */
#include "machine.h"

static const char *kind_name(enum access_kind k)
{
    static const char *const names[] = {"a read", "a write", "an atomic operation"};
    return names[k];
}

void mem_out_of_bounds(struct warp *w, const struct insn *i, unsigned lane, enum access_kind kind,
                       uint32_t bytes, uint64_t addr)
{
    if (addr < 65536 || addr + bytes < bytes) {
        fault(w, i, (int)lane, PTX_NULL, addr, "%s of %u bytes at address 0x%llx: a null pointer",
              kind_name(kind), bytes, (unsigned long long)addr);
        return;
    }
    const struct alloc *a = mem_near(w->launch->mem, addr);
    if (!a || addr < MEM_BASE || addr >= MEM_BASE + w->launch->mem->reserved) {
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, addr,
              "%s of %u bytes at 0x%llx, which is no address of device memory", kind_name(kind), bytes,
              (unsigned long long)addr);
    } else if (addr >= a->addr) {
        uint64_t past = addr + bytes - (a->addr + a->size);
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, addr,
              "%s of %u bytes that ends %llu bytes past the end of %s (%llu bytes)", kind_name(kind), bytes,
              (unsigned long long)past, a->name, (unsigned long long)a->size);
    } else {
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, addr,
              "%s of %u bytes that starts %llu bytes before the start of %s (%llu bytes)", kind_name(kind),
              bytes, (unsigned long long)(a->addr - addr), a->name, (unsigned long long)a->size);
    }
}

static void misaligned(struct warp *w, const struct insn *i, unsigned lane, enum access_kind kind,
                       uint32_t bytes, uint64_t addr)
{
    const struct alloc *a = mem_find(w->launch->mem, addr);

    if (a)
        fault(w, i, (int)lane, PTX_MISALIGNED, addr,
              "%s of %u bytes at byte %llu of %s, which is not aligned to %u", kind_name(kind), bytes,
              (unsigned long long)(addr - a->addr), a->name, bytes);
    else
        fault(w, i, (int)lane, PTX_MISALIGNED, addr, "%s of %u bytes at 0x%llx, which is not aligned to %u",
              kind_name(kind), bytes, (unsigned long long)addr, bytes);
}

/* Lanes in global memory (also constants). */
static bool global_lanes(struct warp *w, const struct insn *i, uint32_t m, enum access_kind kind,
                         unsigned flags, uint32_t bytes, const uint64_t *addr, uint8_t **host)
{
    struct launch *l = w->launch;
    struct alloc *one = l->last_alloc[i->self];
    bool same = true;
    struct alloc *first = NULL;
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t at = addr[lane];
        if (!one || at - one->addr >= one->size || bytes > one->size - (at - one->addr)) {
            one = mem_find(l->mem, at);
            if (!one || bytes > one->size - (at - one->addr)) {
                mem_out_of_bounds(w, i, lane, kind, bytes, at);
                return false;
            }
        }
        if (at & (bytes - 1)) {
            misaligned(w, i, lane, kind, bytes, at);
            return false;
        }
        if (kind != ACCESS_LOAD && one->read_only) {
            fault(w, i, (int)lane, PTX_READ_ONLY_WRITTEN, at, "%s to %s, which must not be written",
                  kind_name(kind), one->name);
            return false;
        }
        if (one->present)
            mem_touch(l->mem, one, at, bytes);
        same &= !first || first == one;
        first = first ? first : one;
        host[lane] = mem_host(l->mem, at);
    }
    l->last_alloc[i->self] = one;
    if (l->watched) {
        struct access x = {.kind = (uint8_t)kind,
                           .space = SPACE_GLOBAL,
                           .flags = (uint16_t)flags,
                           .mask = m,
                           .bytes = bytes,
                           .addr = addr};
        x.alloc = same ? first : NULL;
        x.linear = m == ~0u;
        for (unsigned lane = 1; x.linear && lane < 32; lane++)
            x.linear = addr[lane] == addr[0] + lane * (uint64_t)bytes;
        observe_access(w, i, &x);
    }
    return !l->stop;
}

/* Is a shared address one of another block of the cluster, and may this instruction use such? */
static bool is_remote(const struct insn *i, enum space space, uint64_t at)
{
    return space == SPACE_SHARED && at >= CLUSTER_STRIDE &&
           (i->space != SPACE_SHARED || insn_has(i, MOD_shared_cluster));
}

/* Lanes in another block's shared memory, those of one block at a time. */
static bool remote_lanes(struct warp *w, const struct insn *i, uint32_t m, enum access_kind kind,
                         unsigned flags, uint32_t bytes, const uint64_t *addr, uint8_t **host)
{
    struct launch *l = w->launch;
    while (m) {
        uint32_t same = 0;
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t offset[32] = {0};
        struct block *b = cluster_block(w->block, addr[lane], &offset[lane]);
        if (!b) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, addr[lane],
                  "%s of %u bytes at 0x%llx of the cluster's shared "
                  "memory, which is no block's",
                  kind_name(kind), bytes, (unsigned long long)addr[lane]);
            return false;
        }
        for (unsigned k = 0; k < 32; k++)
            if ((m >> k & 1) && cluster_block(w->block, addr[k], &offset[k]) == b)
                same |= 1u << k;
        m &= ~same;
        if (!cluster_reach(w, i, same, b))
            return false;
        if (b->done) {
            fault(w, i, (int)lane, PTX_EXIT, addr[lane],
                  "%s of the shared memory of block (%u, %u, %u), which has ended", kind_name(kind), b->id[0],
                  b->id[1], b->id[2]);
            return false;
        }
        for (uint32_t left = same; left; left &= left - 1) {
            lane = (unsigned)__builtin_ctz(left);
            if (offset[lane] >= l->shared_bytes || bytes > l->shared_bytes - offset[lane]) {
                fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, addr[lane],
                      "%s of %u bytes at offset %llu of another block's shared memory, which has %u bytes",
                      kind_name(kind), bytes, (unsigned long long)offset[lane], l->shared_bytes);
                return false;
            }
            if (offset[lane] & (bytes - 1)) {
                misaligned(w, i, lane, kind, bytes, addr[lane]);
                return false;
            }
            host[lane] = b->shared + offset[lane];
        }
        if (l->watched) {
            struct access x = {.kind = (uint8_t)kind,
                               .space = SPACE_SHARED,
                               .flags = (uint16_t)flags,
                               .mask = same,
                               .bytes = bytes,
                               .addr = offset,
                               .owner = b == w->block ? NULL : b};
            observe_access(w, i, &x);
        }
        if (l->stop)
            return false;
    }
    return true;
}

/* Lanes in shared or local memory; addr is the offset. */
static bool window_lanes(struct warp *w, const struct insn *i, uint32_t m, enum space space,
                         enum access_kind kind, unsigned flags, uint32_t bytes, const uint64_t *addr,
                         uint8_t **host)
{
    struct launch *l = w->launch;
    uint64_t size = space == SPACE_SHARED ? l->shared_bytes : l->local_bytes;
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t at = addr[lane];
        if (is_remote(i, space, at)) {
            uint32_t remote = 0;
            for (unsigned k = 0; k < 32; k++)
                remote |= (uint32_t)((m >> k & 1) && addr[k] >= CLUSTER_STRIDE) << k;
            return remote_lanes(w, i, remote, kind, flags, bytes, addr, host) &&
                   (m == remote || window_lanes(w, i, m & ~remote, space, kind, flags, bytes, addr, host));
        }
        if (at >= size || bytes > size - at) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, at,
                  "%s of %u bytes at offset %lld of %s memory, which has %llu bytes", kind_name(kind), bytes,
                  (long long)at, space == SPACE_SHARED ? "shared" : "local", (unsigned long long)size);
            return false;
        }
        if (at & (bytes - 1)) {
            misaligned(w, i, lane, kind, bytes, at);
            return false;
        }
        host[lane] = space == SPACE_SHARED
                         ? w->block->shared + at
                         : w->block->local + ((size_t)w->index * 32 + lane) * l->local_bytes + at;
    }
    if (l->watched) {
        struct access x = {.kind = (uint8_t)kind,
                           .space = (uint8_t)space,
                           .flags = (uint16_t)flags,
                           .mask = m,
                           .bytes = bytes,
                           .addr = addr};
        x.linear = m == ~0u;
        for (unsigned lane = 1; x.linear && lane < 32; lane++)
            x.linear = addr[lane] == addr[0] + lane * (uint64_t)bytes;
        observe_access(w, i, &x);
    }
    return !l->stop;
}

static bool param_lanes(struct warp *w, const struct insn *i, uint32_t m, enum access_kind kind, uint32_t bytes,
                        const uint64_t *addr, uint8_t **host)
{
    uint32_t size = w->launch->entry->param_bytes;
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t at = addr[lane];
        if (kind != ACCESS_LOAD) {
            fault(w, i, (int)lane, PTX_READ_ONLY_WRITTEN, at, "%s to the kernel's parameters", kind_name(kind));
            return false;
        }
        if (at >= size || bytes > size - at) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, at,
                  "%s of %u bytes at offset %lld of the kernel's parameters, which have %u bytes",
                  kind_name(kind), bytes, (long long)at, size);
            return false;
        }
        if (at & (bytes - 1)) {
            misaligned(w, i, lane, kind, bytes, at);
            return false;
        }
        host[lane] = w->launch->params + at;
    }
    return true;
}

bool mem_lanes(struct warp *w, const struct insn *i, uint32_t mask, enum space space, enum access_kind kind,
               unsigned flags, uint32_t bytes, const uint64_t addr[32], uint8_t *host[32])
{
    switch (space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
        return global_lanes(w, i, mask, kind, flags, bytes, addr, host);
    case SPACE_SHARED:
    case SPACE_LOCAL:
        return window_lanes(w, i, mask, space, kind, flags, bytes, addr, host);
    case SPACE_PARAM:
        return param_lanes(w, i, mask, kind, bytes, addr, host);
    default:
        break;
    }
    static const struct {
        uint64_t base;
        enum space space;
    } windows[] = {{SHARED_WINDOW, SPACE_SHARED}, {LOCAL_WINDOW, SPACE_LOCAL}, {PARAM_WINDOW, SPACE_PARAM}};
    uint32_t rest = mask;
    for (size_t k = 0; k < ARRAY_LEN(windows); k++) {
        uint32_t part = 0;
        uint64_t offset[32];
        for (unsigned lane = 0; lane < 32; lane++) {
            offset[lane] = addr[lane] - windows[k].base;
            part |= offset[lane] < WINDOW_BYTES ? 1u << lane : 0;
        }
        part &= rest;
        rest &= ~part;
        if (part && !mem_lanes(w, i, part, windows[k].space, kind, flags, bytes, offset, host))
            return false;
    }
    return !rest || global_lanes(w, i, rest, kind, flags, bytes, addr, host);
}
