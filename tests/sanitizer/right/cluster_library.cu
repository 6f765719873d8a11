// cuda::ptx on a cluster: remote arrivals, mapped shared memory, and a barrier of cluster scope.
// buffer: out i32 512 out
// launch: kernel grid 4 block 128 cluster 2 args out
#include <cooperative_groups.h>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

extern "C" __global__ void kernel(int *out)
{
    __shared__ int mail[128];
    __shared__ uint64_t bar;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, other = cluster.block_rank() ^ 1;
    if (t == 0) {
        ptx::mbarrier_init(&bar, 128);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    *cluster.map_shared_rank(&mail[t], other) = blockIdx.x * 128 + t;
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, cluster.map_shared_rank(&bar, other));
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {
    }
    out[blockIdx.x * 128 + t] = mail[127 - t] + (int)cluster.query_shared_rank(cluster.map_shared_rank(&mail[t], other));
}
