#include <cuda_runtime.h>
// Half a warp a query: the best 16 stand sorted in its lanes, each shard's list meets them turned round, and the
// smaller of each two are put in order in four steps. Labels are fetched at the end, by place.
__global__ void __launch_bounds__(128)
    merge(int *__restrict__ best, int *__restrict__ label, const int *__restrict__ dist, const int *__restrict__ id,
          int queries, int shards)
{
    int lane = threadIdx.x & 15, query = blockIdx.x * 8 + threadIdx.x / 16, own = min(query, queries - 1);
    long long base = (long long)own * shards * 16;
    const int *from = dist + base;
    unsigned long long mine = (unsigned long long)from[lane] << 32 | (unsigned)lane;
    for (int s = 1; s < shards; s++) {
        int at = 16 * s + 15 - lane;
        unsigned long long fresh = (unsigned long long)from[at] << 32 | (unsigned)at;
        bool less = fresh < mine;
        if (!__any_sync(0xffffffffu, less))
            continue;
        mine = less ? fresh : mine;
#pragma unroll
        for (int far = 8; far > 0; far /= 2) {
            unsigned long long other = __shfl_xor_sync(0xffffffffu, mine, far, 16);
            mine = (other < mine) == !(lane & far) ? other : mine;
        }
    }
    if (query < queries) {
        best[16ll * query + lane] = (int)(mine >> 32);
        label[16ll * query + lane] = id[base + (int)(unsigned)mine];
    }
}
extern "C" void shard_topk(int *best, int *label, const int *dist, const int *id, int queries, int shards,
                           cudaStream_t stream)
{
    merge<<<(queries + 7) / 8, 128, 0, stream>>>(best, label, dist, id, queries, shards);
}
