// Another block's shared memory is read before that block is known to have begun.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 4 block 64 cluster 2 args out in
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t]; // expect: unsafe early-access
    cluster.sync();
}
