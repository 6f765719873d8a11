/* What blocks read of the same bytes. A sample has neighbours at most; blocks of a product share a row of one
 * operand along the grid's x and a column of the other along y, and a stencil's share a rim. So the block
 * beside the first one along each axis runs a little way, and what it touches that the first one touched too is
 * counted by allocation. Where that is nothing, blocks further away are asked: who goes through a matrix
 * against its rows takes the rest of a sector as many blocks later as a column has. From the shares follows how
 * many bytes any number of blocks in a row touch. */
#include <math.h>

#include "cost_model.h"

enum { FURTHEST = 128 };
static const double AGAIN = 1.25; /* more than that of an allocation's bytes: blocks read the same */
static const double MOST = 0.5;   /* of what a neighbour reads */
static const double HALF = 0.5;   /* of the L2 */
static const double LEAST = 0.3;  /* of what the one before it shares */

static bool is_again(const struct touched *t, double scale)
{
    return t->own * scale > AGAIN * (double)t->size;
}

bool reuse_needs_probe(const struct ptx_profile *p, double scale)
{
    double all = 0;
    bool again = false;

    for (size_t k = 0; k < p->allocs.n; k++) {
        const struct touched *t = &p->allocs.v[k];
        all += t->own > 0 ? MIN(t->own * scale, (double)t->size) : 0;
        again = again || is_again(t, scale);
    }
    return again && cache_resident(p->device, all) < 1;
}

void reuse_note(struct ptx_profile *p, int axis, uint32_t stride)
{
    for (size_t k = 0; k < p->allocs.n; k++) {
        struct touched *t = &p->allocs.v[k];
        struct neighbour *n = &t->beside[axis];
        if (n->shared <= 0 && t->asked > 0)
            *n = (struct neighbour){.probed = t->asked, .shared = t->common, .stride = stride, .tried = stride};
        else if (n->shared > 0 && t->common < MOST * t->asked) {
            bool same = t->same > MOST * t->common,
                 as_much = t->common * n->probed > LEAST * n->shared * t->asked;
            if (!n->range && n->shared < MOST * n->probed && as_much && !same) {
                n->anywhere = true;
                n->probed += t->asked;
                n->shared += t->common;
            }
            n->range = n->range ? n->range : stride;
        }
        n->tried = stride;
        t->asked = t->common = t->same = 0;
    }
}

/* Which neighbour says something new of an allocation: where nobody is known who reads the same, the next one
 * (every block up to sixteen, then eighths of the power of two below); else whether twice as far away the same
 * is read, too. */
static uint32_t next_of(const struct touched *t, int axis)
{
    const struct neighbour *n = &t->beside[axis];
    uint32_t step = 1;

    if (t->beside[0].shared + t->beside[1].shared + t->beside[2].shared <= 0) {
        while (step * 16 <= n->tried)
            step *= 2;
        return n->tried + step <= FURTHEST ? n->tried + step : 0;
    }
    bool lasts = n->shared > MOST * n->probed && !n->range && n->tried < FURTHEST * n->stride;
    lasts = lasts || (n->shared > 0 && n->shared < MOST * n->probed && n->tried == n->stride);
    return lasts ? 2 * n->tried : 0;
}

uint32_t reuse_next(const struct ptx_profile *p, double scale, int axis, uint32_t blocks)
{
    uint32_t next = 0;

    for (size_t k = 0; k < p->allocs.n; k++) {
        uint32_t wants = is_again(&p->allocs.v[k], scale) ? next_of(&p->allocs.v[k], axis) : 0;
        if (wants && wants < blocks && (!next || wants < next))
            next = wants;
    }
    return next;
}

/* Of the blocks 0 to n - 1 (x runs first) how many there are along an axis. */
static double along(const uint32_t grid[3], unsigned axis, double n)
{
    for (unsigned d = 0; d < axis; d++)
        n = ceil(n / grid[d]);
    return MAX(MIN(n, (double)grid[axis]), 1);
}

/* Bytes that all blocks together touch of what lies between the first and the last that the sample touched,
 * where each reads anywhere there. */
static double covered(const struct touched *t, double bytes)
{
    double span = t->end > t->first ? (double)(t->end - t->first) * LINE_BYTES : 0;
    return span > 0 ? span * (1 - exp(-bytes / span)) : 0;
}

/* Bytes of an allocation that n blocks in a row touch, whatever it holds. Blocks that read anywhere in a part
 * of it may go on to the next part after any number of blocks: together they touch no less than their share of
 * all. */
static double unlike_bytes(const struct touched *t, const uint32_t grid[3], double block_bytes, double n)
{
    double blocks = 1, all = (double)grid[0] * grid[1] * grid[2], least = 0;

    for (unsigned d = 0; d < 3; d++) {
        const struct neighbour *b = &t->beside[d];
        double share = b->probed > 0 ? b->shared / b->probed : 0, here = along(grid, d, n);
        double own = MIN(here, MAX(b->stride, 1u));
        if (b->anywhere && block_bytes > MOST * share * (double)t->size) { /* of all of it */
            blocks *= here;
            continue;
        }
        if (b->anywhere) { /* two shares of a whole meet in the square of the share: so large is the whole */
            blocks *= own * (1 - pow(1 - share, here / own)) / share;
            least = covered(t, all * block_bytes) * n / all;
            continue;
        }
        if (b->range) /* so many blocks read it, and then no more */
            share = MIN(share, 1 - own / b->range);
        blocks *= own + (here - own) * (1 - share);
    }
    return MAX(MIN(blocks, n) * block_bytes, least);
}

/* What neighbours share does not say why all blocks read more than it holds: they meet by chance. */
static bool by_chance(const struct touched *t, const uint32_t grid[3], double block_bytes)
{
    return unlike_bytes(t, grid, block_bytes, (double)grid[0] * grid[1] * grid[2]) > AGAIN * (double)t->size;
}

/* Bytes of the lines that blocks choose from by chance, as many as make those of the sample meet as often as
 * they do: n of s lines are s (1 - exp(-n / s)) different ones. */
static double chosen_from(const struct touched *t)
{
    enum { ENOUGH = 30 };
    double size = (double)t->size, low = size * 1e-3, high = size, n = t->own_lines * LINE_BYTES;

    if (t->own_lines - t->lines < ENOUGH)
        return size;
    for (int k = 0; k < 30; k++) {
        double s = (low + high) / 2;
        *(s * (1 - exp(-n / s)) < t->lines * LINE_BYTES ? &low : &high) = s;
    }
    return high;
}

/* Bytes of an allocation that n blocks in a row touch; by chance whole lines. */
static double footprint(const struct touched *t, const uint32_t grid[3], double block_bytes, double n)
{
    double bytes = unlike_bytes(t, grid, block_bytes, n);

    if (!by_chance(t, grid, block_bytes))
        return MIN(bytes, (double)t->size);
    double from = chosen_from(t);
    return from * (1 - exp(-bytes * t->own_lines * LINE_BYTES / MAX(t->own, 1) / from));
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

/* Of what blocks read by chance the L2 holds what as many touch as fill it, half of which is still there later.
 */
static double chance_bytes(const struct ptx_profile *p, const struct touched *t, const uint32_t grid[3])
{
    double blocks = (double)p->n_blocks, low = 0, high = blocks;
    double block_bytes = t->own / (double)p->samples.n;

    for (int k = 0; k < 40 && footprints(p, grid, high) > HALF * (double)p->device->l2_bytes; k++) {
        double half = (low + high) / 2;
        bool fits = footprints(p, grid, half) <= HALF * (double)p->device->l2_bytes;
        *(fits ? &low : &high) = half;
    }
    double held = footprint(t, grid, block_bytes, high);
    double asked = unlike_bytes(t, grid, block_bytes, blocks) * MAX(t->missed / MAX(t->read, 1), 1);

    return MIN(held, asked) + MAX(asked - held, 0) * (1 - held / chosen_from(t));
}

double reuse_bytes(const struct ptx_profile *p, const struct touched *t, const uint32_t grid[3], double window)
{
    double blocks = (double)p->n_blocks, block_bytes = t->own / (double)p->samples.n;
    double one = footprint(t, grid, block_bytes, window), two = footprint(t, grid, block_bytes, 2 * window);
    double stays = cache_resident(p->device, footprints(p, grid, window));
    /* DRAM gives 64 bytes, and others have use for the rest; what the L2 held before does not come from there.
     */
    double fetched = MIN(t->missed / MAX(t->read, 1), (double)t->size / MAX(one, 1));

    if (by_chance(t, grid, block_bytes))
        return chance_bytes(p, t, grid);
    double all = one + MAX(blocks / window - 1, 0) * ((1 - stays) * one + stays * (two - one));

    return MIN(fetched * all, MAX(all, (double)t->size));
}
