// The kernel itself names its clusters; arriving and waiting apart.
// buffer: out f32 512 out
// buffer: in f32 512 in
// launch: kernel grid 4,2 block 64 args out in
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(2, 2, 1) kernel(float *out, const float *in)
{
    __shared__ float s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = (blockIdx.y * gridDim.x + blockIdx.x) * 64 + t;
    float own = in[i];
    s[t] = own;
    auto token = cluster.barrier_arrive();
    own *= 2;
    cluster.barrier_wait(static_cast<decltype(token) &&>(token));
    float sum = own;
    for (unsigned r = 0; r < cluster.num_blocks(); r++)
        sum += cluster.map_shared_rank(s, r)[63 - t];
    out[i] = sum + cluster.block_index().x + cluster.block_index().y;
    cluster.sync();
}
