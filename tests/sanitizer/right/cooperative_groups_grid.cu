// The library's barrier of the whole grid, between blocks that read each other's values.
// buffer: out f32 512 out
// buffer: x f32 512 scratch
// launch: kernel grid 4 block 128 cooperative args out x
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(float *out, float *x)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    x[i] = (float)i;
    cg::this_grid().sync();
    out[i] = x[511 - i];
    cg::this_grid().sync();
    x[i] = 0.0f;
}
