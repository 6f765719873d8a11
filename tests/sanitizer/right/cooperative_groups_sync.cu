// The library's barrier of the block, and a reduction over a tile of 16 lanes.
// buffer: out f32 256 out
// buffer: x f32 256 scratch
// launch: kernel grid 2 block 128 args out x
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(float *out, float *x)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * 128 + threadIdx.x;
    float v = (float)threadIdx.x;
    for (int k = 8; k > 0; k >>= 1)
        v += tile.shfl_down(v, k);
    x[i] = tile.shfl(v, 0);
    cg::this_thread_block().sync();
    out[i] = x[i ^ 64];
}
