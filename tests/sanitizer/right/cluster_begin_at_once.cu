// Each warp writes into the neighbour's shared memory as soon as its own wait at the cluster's barrier is over.
// buffer: out i32 256 out
// launch: kernel grid 4 block 64 cluster 4 args out
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(int *out)
{
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    cluster.map_shared_rank(s, (rank + 1) & 3)[t] = rank * 64 + t;
    cluster.sync();
    out[blockIdx.x * 64 + t] = s[63 - t];
}
