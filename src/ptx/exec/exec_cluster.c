/* mapa, getctarank, and the way to mbarrier.c and cluster.c. */
#include "ptx/machine/async.h"
#include "exec.h"

static bool generic_shared(uint64_t addr)
{
    return addr - SHARED_WINDOW < WINDOW_BYTES;
}

static void map_address(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct block *b = w->block;
    uint64_t base = i->space == SPACE_SHARED ? 0 : SHARED_WINDOW;
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t addr = opnd_lane(w, &i->opnds[1], l), rank = opnd_lane(w, &i->opnds[2], l);
        if (base && !generic_shared(addr)) {
            fault(w, i, (int)l, PTX_OUT_OF_BOUNDS, addr, "mapa of 0x%llx, which is no address of shared memory",
                  (unsigned long long)addr);
            return;
        }
        if (rank >= b->cluster->n) {
            fault(w, i, (int)l, PTX_OUT_OF_BOUNDS, addr, "mapa to block %llu of a cluster that has %u",
                  (unsigned long long)rank, b->cluster->n);
            return;
        }
        addr = base + (addr - base) % CLUSTER_STRIDE + (rank == b->rank ? 0 : (rank + 1) * CLUSTER_STRIDE);
        if (i->bytes == 8)
            REG(uint64_t, w, i->d)[l] = addr;
        else
            REG(uint32_t, w, i->d)[l] = (uint32_t)addr;
    }
}

static void rank_of_address(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t base = i->space == SPACE_SHARED ? 0 : SHARED_WINDOW;
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t addr = opnd_lane(w, &i->opnds[1], l) - base;
        REG(uint32_t, w, i->d)
        [l] = addr < CLUSTER_STRIDE ? w->block->rank : (uint32_t)(addr / CLUSTER_STRIDE - 1);
    }
}

exec_fn *ISA(select_cluster)(struct insn *i)
{
    const struct opnd *o = i->opnds;
    bool fits = (i->type == TYPE_U32 || i->type == TYPE_U64) && o[0].kind == OPND_REG &&
                o[1].kind == OPND_REG && (i->type == TYPE_U64 || i->space == SPACE_SHARED);
    if (!fits || (i->space == SPACE_SHARED) != insn_has(i, MOD_shared_cluster) ||
        (i->space && i->space != SPACE_SHARED))
        return NULL;
    if (i->op == OP_getctarank)
        return o[0].bytes == 4 && (o[1].bytes == i->bytes || o[1].bytes == 8) ? rank_of_address : NULL;
    return o[0].bytes == i->bytes && o[1].bytes == i->bytes && o[2].bytes == 4 ? map_address : NULL;
}

exec_fn *ISA(select_mbarrier)(struct insn *i)
{
    return mbar_select(i);
}
