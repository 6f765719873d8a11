// Counts are added in the first block's shared memory. It has set them to zero behind its own barrier only, and may
// not have begun.
// buffer: out i32 64 out
// buffer: in i32 256 in
// launch: kernel grid 4 block 64 cluster 4 args out in
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(int *out, const int *in)
{
    __shared__ int counts[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    atomicAdd(&cluster.map_shared_rank(counts, 0)[in[blockIdx.x * 64 + t] & 63], 1); // expect: unsafe early-access
    cluster.sync();
    if (cluster.block_rank() == 0)
        out[t] = counts[t];
}
