// All blocks have begun: a relaxed arrival shows that, and one warp's wait with the block's barrier tells the others.
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
    asm volatile("barrier.cluster.arrive.relaxed.aligned;");
    float x = in[i] * 2.0f;
    if (t < 32)
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    __syncthreads();
    cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t] = x;
    if (t >= 32)
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    cluster.sync();
    out[i] = s[t];
}
