/* Special registers, and the registers that hold immediates and addresses. */
#include "machine.h"

uint64_t special_value(const struct warp *w, enum special s, unsigned lane)
{
    const struct launch *l = w->launch;
    const struct block *b = w->block;
    switch (s) {
    case SPECIAL_tid_x:
    case SPECIAL_tid_y:
    case SPECIAL_tid_z:
        return w->tid[s - SPECIAL_tid_x][lane];
    case SPECIAL_ntid_x:
    case SPECIAL_ntid_y:
    case SPECIAL_ntid_z:
        return l->dim[s - SPECIAL_ntid_x];
    case SPECIAL_ctaid_x:
    case SPECIAL_ctaid_y:
    case SPECIAL_ctaid_z:
        return b->id[s - SPECIAL_ctaid_x];
    case SPECIAL_clusterid_x:
    case SPECIAL_clusterid_y:
    case SPECIAL_clusterid_z:
        return b->id[s - SPECIAL_clusterid_x] / l->cluster[s - SPECIAL_clusterid_x];
    case SPECIAL_nctaid_x:
    case SPECIAL_nctaid_y:
    case SPECIAL_nctaid_z:
        return l->grid[s - SPECIAL_nctaid_x];
    case SPECIAL_nclusterid_x:
    case SPECIAL_nclusterid_y:
    case SPECIAL_nclusterid_z:
        return l->grid[s - SPECIAL_nclusterid_x] / l->cluster[s - SPECIAL_nclusterid_x];
    case SPECIAL_cluster_ctaid_x:
    case SPECIAL_cluster_ctaid_y:
    case SPECIAL_cluster_ctaid_z:
        return b->id[s - SPECIAL_cluster_ctaid_x] % l->cluster[s - SPECIAL_cluster_ctaid_x];
    case SPECIAL_cluster_nctaid_x:
    case SPECIAL_cluster_nctaid_y:
    case SPECIAL_cluster_nctaid_z:
        return l->cluster[s - SPECIAL_cluster_nctaid_x];
    case SPECIAL_cluster_ctarank:
        return b->rank;
    case SPECIAL_cluster_nctarank:
        return l->cluster_blocks;
    case SPECIAL_is_explicit_cluster:
        return l->explicit_cluster;
    case SPECIAL_laneid:
        return lane;
    case SPECIAL_warpid:
        return w->index;
    case SPECIAL_nwarpid:
        return (uint64_t)l->options->device->max_threads_per_sm / 32;
    case SPECIAL_smid:
        return b->linear % (uint64_t)MAX(l->options->device->sm_count, 1);
    case SPECIAL_nsmid:
        return (uint64_t)l->options->device->sm_count;
    case SPECIAL_gridid:
        return 1;
    case SPECIAL_lanemask_eq:
        return 1u << lane;
    case SPECIAL_lanemask_lt:
        return (1u << lane) - 1;
    case SPECIAL_lanemask_le:
        return (2u << lane) - 1;
    case SPECIAL_lanemask_gt:
        return (uint32_t) ~((2u << lane) - 1);
    case SPECIAL_lanemask_ge:
        return (uint32_t) ~((1u << lane) - 1);
    case SPECIAL_clock:
    case SPECIAL_clock64:
        return l->issued + (uint64_t)(l->slice - w->fuel);
    case SPECIAL_globaltimer:
    case SPECIAL_globaltimer_lo:
        return 1000000000ull + l->issued + (uint64_t)(l->slice - w->fuel);
    case SPECIAL_dynamic_smem_size:
        return l->shared_dynamic;
    case SPECIAL_envreg1: /* where cooperative groups keep a grid's barrier: high and low half of the address */
        return l->grid_workspace >> 32;
    case SPECIAL_envreg2:
        return (uint32_t)l->grid_workspace;
    case SPECIAL_total_smem_size:
    case SPECIAL_aggr_smem_size:
        return l->shared_bytes;
    default:
        return 0;
    }
}

static bool differs_by_lane(enum special s)
{
    switch (s) {
    case SPECIAL_tid_x:
    case SPECIAL_tid_y:
    case SPECIAL_tid_z:
    case SPECIAL_laneid:
    case SPECIAL_lanemask_eq:
    case SPECIAL_lanemask_lt:
    case SPECIAL_lanemask_le:
    case SPECIAL_lanemask_gt:
    case SPECIAL_lanemask_ge:
        return true;
    default:
        return false;
    }
}

void const_write(struct warp *w, const struct const_reg *c)
{
    uint64_t v = c->value;
    if (c->kind == CONST_VAR) {
        const struct var *var = c->var;
        uint64_t base = var->space == SPACE_GLOBAL || var->space == SPACE_CONST ? w->launch->image : 0;
        if (var->space == SPACE_SHARED && var->is_extern)
            base = w->launch->shared_static;
        v += base + var->addr;
    }
    if (!c->bytes) {
        *REG(uint32_t, w, c->off) =
            (c->kind == CONST_SPECIAL ? special_value(w, (enum special)v, 0) : v) ? ~0u : 0;
        return;
    }
    bool special = c->kind == CONST_SPECIAL, by_lane = special && differs_by_lane((enum special)v);
    if (special && !by_lane)
        v = special_value(w, (enum special)v, 0);
    for (unsigned lane = 0; !by_lane && c->bytes == 4 && lane < 32;
         lane++) /* most: a block begins with these */
        REG(uint32_t, w, c->off)[lane] = (uint32_t)v;
    if (!by_lane && c->bytes == 4)
        return;
    uint64_t x[32];
    for (unsigned lane = 0; lane < 32; lane++)
        x[lane] = by_lane ? special_value(w, (enum special)v, lane) : v;
    for (unsigned lane = 0; c->bytes < 8 && lane < 32; lane++)
        if (c->bytes == 2)
            REG(uint16_t, w, c->off)[lane] = (uint16_t)x[lane];
        else
            REG(uint32_t, w, c->off)[lane] = (uint32_t)x[lane];
    if (c->bytes >= 8)
        memcpy(REG(uint64_t, w, c->off), x, sizeof(x));
    if (c->bytes == 16)
        memset(&REG(uint64_t, w, c->off)[32], 0, 256);
}
