/* How many blocks of a kernel one SM holds. */
#include "ptx/ptx.h"

static uint32_t round_up(uint32_t x, uint32_t to)
{
    return (x + to - 1) / to * to;
}

/* Registers are given to warps in units of 256 within one scheduler's quarter of the file; shared memory to
 * blocks in units of 128 bytes, one further KB reserved by the system on cc 8.0 and later. */
int ptx_occupancy(const struct ptx_device *d, uint32_t registers, uint32_t shared_bytes, uint32_t block_threads)
{
    if (block_threads == 0 || block_threads > (uint32_t)d->max_threads_per_block || registers > 256)
        return 0;
    uint32_t warps = (block_threads + 31) / 32, parts = (uint32_t)d->schedulers_per_sm;
    uint32_t blocks = MIN((uint32_t)d->max_blocks_per_sm, (uint32_t)d->max_threads_per_sm / 32 / warps);
    if (registers) {
        uint32_t per_warp = round_up(registers * 32, 256);
        uint32_t resident = d->registers_per_sm / parts / per_warp * parts;
        if (round_up(warps, parts) * per_warp > d->registers_per_sm)
            return 0; /* one block's registers must fit by themselves */
        blocks = MIN(blocks, resident / warps);
    }
    if (shared_bytes > d->shared_per_block_optin)
        return 0;
    uint32_t reserved = d->cc_major >= 8 ? 1024 : 0, shared = round_up(shared_bytes + reserved, 128);
    if (shared)
        blocks = MIN(blocks, d->shared_per_sm / shared);
    return (int)blocks;
}
