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

static bool is_linear(const struct access *x)
{
    bool linear = x->mask == ~0u;
    for (unsigned lane = 1; linear && lane < 32; lane++)
        linear = x->addr[lane] == x->addr[0] + lane * (uint64_t)x->bytes;
    return linear;
}

/* Lanes in global memory (also constants). */
static bool global_lanes(struct warp *w, const struct insn *i, struct access x, uint8_t *host[32])
{
    struct launch *l = w->launch;
    struct alloc *one = l->last_alloc[i->self];
    bool same = true;
    struct alloc *first = NULL;
    for (uint32_t left = x.mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t at = x.addr[lane];
        if (!one || at - one->addr >= one->size || x.bytes > one->size - (at - one->addr)) {
            one = mem_find(l->mem, at);
            if (!one || x.bytes > one->size - (at - one->addr)) {
                mem_out_of_bounds(w, i, lane, x.kind, x.bytes, at);
                return false;
            }
        }
        if (at & (x.bytes - 1)) {
            misaligned(w, i, lane, x.kind, x.bytes, at);
            return false;
        }
        if (x.kind != ACCESS_LOAD && one->read_only) {
            fault(w, i, (int)lane, PTX_READ_ONLY_WRITTEN, at, "%s to %s, which must not be written",
                  kind_name(x.kind), one->name);
            return false;
        }
        if (one->present)
            mem_touch(l->mem, one, at, x.bytes);
        same &= !first || first == one;
        first = first ? first : one;
        host[lane] = mem_host(l->mem, at);
    }
    l->last_alloc[i->self] = one;
    if (l->watched) {
        x.space = SPACE_GLOBAL;
        x.alloc = same ? first : NULL;
        x.linear = is_linear(&x);
        observe_access(w, i, &x);
    }
    return !l->stop;
}

/* Lanes in another block's shared memory, those of one block at a time. */
static bool remote_lanes(struct warp *w, const struct insn *i, struct access x, uint8_t *host[32])
{
    struct launch *l = w->launch;
    while (x.mask) {
        uint32_t same = 0;
        unsigned lane = (unsigned)__builtin_ctz(x.mask);
        uint64_t offset[32] = {0};
        struct block *b = cluster_block(w->block, x.addr[lane], &offset[lane]);
        if (!b) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, x.addr[lane],
                  "%s of %u bytes at 0x%llx of the cluster's shared "
                  "memory, which is no block's",
                  kind_name(x.kind), x.bytes, (unsigned long long)x.addr[lane]);
            return false;
        }
        for (unsigned k = 0; k < 32; k++)
            if ((x.mask >> k & 1) && cluster_block(w->block, x.addr[k], &offset[k]) == b)
                same |= 1u << k;
        x.mask &= ~same;
        if (!cluster_reach(w, i, same, b))
            return false;
        if (b->done) {
            fault(w, i, (int)lane, PTX_EXIT, x.addr[lane],
                  "%s of the shared memory of block (%u, %u, %u), which has ended", kind_name(x.kind), b->id[0],
                  b->id[1], b->id[2]);
            return false;
        }
        for (uint32_t left = same; left; left &= left - 1) {
            lane = (unsigned)__builtin_ctz(left);
            if (offset[lane] >= l->shared_bytes || x.bytes > l->shared_bytes - offset[lane]) {
                fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, x.addr[lane],
                      "%s of %u bytes at offset %llu of another block's shared memory, which has %u bytes",
                      kind_name(x.kind), x.bytes, (unsigned long long)offset[lane], l->shared_bytes);
                return false;
            }
            if (offset[lane] & (x.bytes - 1)) {
                misaligned(w, i, lane, x.kind, x.bytes, x.addr[lane]);
                return false;
            }
            host[lane] = b->shared + offset[lane];
        }
        if (l->watched) {
            struct access of_one = x;
            of_one.mask = same;
            of_one.addr = offset;
            of_one.owner = b == w->block ? NULL : b;
            observe_access(w, i, &of_one);
        }
        if (l->stop)
            return false;
    }
    return true;
}

/* Lanes in shared or local memory; addr is the offset. */
static bool window_lanes(struct warp *w, const struct insn *i, struct access x, uint8_t *host[32])
{
    struct launch *l = w->launch;
    bool shared = x.space == SPACE_SHARED;
    /* may this instruction use memory of other blocks of the cluster? */
    bool reaches = shared && (i->space != SPACE_SHARED || insn_has(i, MOD_shared_cluster));
    uint64_t size = shared ? l->shared_bytes : l->local_bytes;
    for (uint32_t left = x.mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t at = x.addr[lane];
        if (reaches && at >= CLUSTER_STRIDE) {
            struct access remote = x;
            for (unsigned k = 0; k < 32; k++)
                remote.mask &= ~((uint32_t)(x.addr[k] < CLUSTER_STRIDE) << k);
            x.mask &= ~remote.mask;
            return remote_lanes(w, i, remote, host) && (!x.mask || window_lanes(w, i, x, host));
        }
        if (at >= size || x.bytes > size - at) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, at,
                  "%s of %u bytes at offset %lld of %s memory, which has %llu bytes", kind_name(x.kind),
                  x.bytes, (long long)at, shared ? "shared" : "local", (unsigned long long)size);
            return false;
        }
        if (at & (x.bytes - 1)) {
            misaligned(w, i, lane, x.kind, x.bytes, at);
            return false;
        }
        host[lane] = shared ? w->block->shared + at
                            : w->block->local + ((size_t)w->index * 32 + lane) * l->local_bytes + at;
    }
    if (l->watched) {
        x.linear = is_linear(&x);
        observe_access(w, i, &x);
    }
    return !l->stop;
}

static bool param_lanes(struct warp *w, const struct insn *i, struct access x, uint8_t *host[32])
{
    uint32_t size = w->launch->entry->param_bytes;
    for (uint32_t left = x.mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t at = x.addr[lane];
        if (x.kind != ACCESS_LOAD) {
            fault(w, i, (int)lane, PTX_READ_ONLY_WRITTEN, at, "%s to the kernel's parameters",
                  kind_name(x.kind));
            return false;
        }
        if (at >= size || x.bytes > size - at) {
            fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, at,
                  "%s of %u bytes at offset %lld of the kernel's parameters, which have %u bytes",
                  kind_name(x.kind), x.bytes, (long long)at, size);
            return false;
        }
        if (at & (x.bytes - 1)) {
            misaligned(w, i, lane, x.kind, x.bytes, at);
            return false;
        }
        host[lane] = w->launch->params + at;
    }
    return true;
}

bool mem_lanes(struct warp *w, const struct insn *i, struct access x, uint8_t *host[32])
{
    switch (x.space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
        return global_lanes(w, i, x, host);
    case SPACE_SHARED:
    case SPACE_LOCAL:
        return window_lanes(w, i, x, host);
    case SPACE_PARAM:
        return param_lanes(w, i, x, host);
    default:
        break;
    }
    static const struct {
        uint64_t base;
        enum space space;
    } windows[] = {{SHARED_WINDOW, SPACE_SHARED}, {LOCAL_WINDOW, SPACE_LOCAL}, {PARAM_WINDOW, SPACE_PARAM}};
    for (size_t k = 0; k < ARRAY_LEN(windows); k++) {
        uint64_t offset[32];
        struct access part = x;
        part.space = (uint8_t)windows[k].space;
        part.addr = offset;
        for (unsigned lane = 0; lane < 32; lane++) {
            offset[lane] = x.addr[lane] - windows[k].base;
            part.mask &= ~((uint32_t)(offset[lane] >= WINDOW_BYTES) << lane);
        }
        x.mask &= ~part.mask;
        if (part.mask && !mem_lanes(w, i, part, host))
            return false;
    }
    return !x.mask || global_lanes(w, i, x, host);
}
