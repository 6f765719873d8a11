// Each block of a cluster sums its part; block 0 reads the others' sums out of their shared memory.
// buffer: out f32 4 out
// buffer: in f32 2048 in
// launch: kernel grid 16 block 128 cluster 4 args out in
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float parts[128], total;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    parts[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k)
            parts[t] += parts[t + k];
        __syncthreads();
    }
    if (t == 0)
        total = parts[0];
    cluster.sync();
    if (cluster.block_rank() == 0 && t == 0) {
        float sum = 0;
        for (unsigned r = 0; r < cluster.num_blocks(); r++)
            sum += *cluster.map_shared_rank(&total, r);
        out[blockIdx.x / 4] = sum;
    }
    cluster.sync();
}
