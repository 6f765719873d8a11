// A block writes into its neighbour's shared memory at once: the neighbour may not have begun.
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
    cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t] = in[i]; // expect: unsafe early-access
    cluster.sync();
    out[i] = s[t];
}
