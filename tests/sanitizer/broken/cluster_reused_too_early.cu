// The tile is written again while the other block still reads it.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 4 block 64 cluster 2 args out in 2
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ float s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        s[t] = in[i] * (k + 1); // expect: unsafe race-shared
        cluster.sync();
        sum += cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t]; // expect: unsafe race-shared
    }
    out[i] = sum;
    cluster.sync();
}
