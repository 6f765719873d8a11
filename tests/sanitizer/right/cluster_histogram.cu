// A histogram whose bins are spread over the shared memories of a cluster.
// buffer: out i32 256 out
// buffer: in i32 4096 in
// launch: kernel grid 4 block 256 cluster 4 args out in 4096
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(int *out, const int *in, int n)
{
    __shared__ int bins[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (t < 64)
        bins[t] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
        int bin = in[i] & 255;
        atomicAdd(cluster.map_shared_rank(bins, bin / 64) + bin % 64, 1);
    }
    cluster.sync();
    if (t < 64)
        out[cluster.block_rank() * 64 + t] = bins[t];
}
