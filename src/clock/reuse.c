/* What blocks read of the same bytes. A sample has neighbours at most; blocks of a product share a row of one
 * operand along the grid's x and a column of the other along y, and a stencil's share a rim. So the block
 * beside the first one along each axis runs a little way, and what it touches that the first one touched too is
 * counted by allocation. From the three shares follows how many bytes any number of blocks in a row touch. */
#include "cost_model.h"

enum { PROBE_INSNS = 12000 };

bool reuse_needs_probe(const struct ptx_profile *p, double scale)
{
    double all = 0;
    bool again = false;

    for (size_t k = 0; k < p->allocs.n; k++) {
        const struct touched *t = &p->allocs.v[k];
        all += t->own > 0 ? MIN(t->own * scale, (double)t->size) : 0;
        again = again || t->own * scale > 1.25 * (double)t->size;
    }
    return again && cache_resident(p->device, all) < 1;
}

uint64_t reuse_probe_limit(void)
{
    return PROBE_INSNS;
}

/* Of the blocks 0 to n - 1 (x runs first) how many there are along an axis. */
static double along(const uint32_t grid[3], unsigned axis, double n)
{
    for (unsigned d = 0; d < axis; d++)
        n = ceil(n / grid[d]);
    return MAX(MIN(n, (double)grid[axis]), 1);
}

/* Bytes of an allocation that n blocks in a row touch. */
static double footprint(const struct touched *t, const uint32_t grid[3], double block_bytes, double n)
{
    double blocks = 1;

    for (unsigned d = 0; d < 3; d++) {
        double share = t->probed[d] > 0 ? t->shared[d] / t->probed[d] : 0;
        blocks *= 1 + (along(grid, d, n) - 1) * (1 - share);
    }
    return MIN(MIN(blocks, n) * block_bytes, (double)t->size);
}

static double footprints(const struct ptx_profile *p, const uint32_t grid[3], double n)
{
    double sum = 0, samples = (double)p->samples.n;

    for (size_t k = 0; k < p->allocs.n; k++) {
        const struct touched *t = &p->allocs.v[k];
        sum += footprint(t, grid, (t->own + t->written) / samples, n);
    }
    return sum;
}

/* A window: blocks that run at the same time, and those before and after them as long as what they all touch
 * stays in the L2. Inside a window a byte comes from DRAM once; from one window to the next it stays as far as
 * the L2 holds a window. */
double reuse_window(const struct ptx_profile *p, const uint32_t grid[3])
{
    double blocks = (double)p->n_blocks, window = MIN(p->concurrent, blocks);

    while (window < blocks && cache_resident(p->device, footprints(p, grid, 2 * window)) >= 1)
        window *= 2;
    return MIN(window, blocks);
}

double reuse_bytes(const struct ptx_profile *p, const struct touched *t, const uint32_t grid[3], double window)
{
    double blocks = (double)p->n_blocks, block_bytes = t->own / (double)p->samples.n;
    double one = footprint(t, grid, block_bytes, window), two = footprint(t, grid, block_bytes, 2 * window);
    double stays = cache_resident(p->device, footprints(p, grid, window));

    return one + MAX(blocks / window - 1, 0) * ((1 - stays) * one + stays * (two - one));
}
