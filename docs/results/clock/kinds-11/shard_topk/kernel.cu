#include <cuda_runtime.h>
// The 16 nearest of a query out of the sorted lists of 16 that each shard found, with their labels; of equals the
// earlier shard's. A thread a query, which takes the least head 16 times.
__global__ void merge(int *best, int *label, const int *dist, const int *id, int queries, int shards)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= queries)
        return;
    unsigned char head[64];
    for (int s = 0; s < shards; s++)
        head[s] = 0;
    const int *from = dist + (long long)query * shards * 16;
    for (int k = 0; k < 16; k++) {
        int least = 0x7fffffff, where = 0;
        for (int s = 0; s < shards; s++)
            if (head[s] < 16) {
                int d = from[16 * s + head[s]];
                if (d < least) {
                    least = d;
                    where = s;
                }
            }
        best[16ll * query + k] = least;
        label[16ll * query + k] = id[((long long)query * shards + where) * 16 + head[where]];
        head[where]++;
    }
}
extern "C" void shard_topk(int *best, int *label, const int *dist, const int *id, int queries, int shards,
                           cudaStream_t stream)
{
    merge<<<(queries + 63) / 64, 64, 0, stream>>>(best, label, dist, id, queries, shards);
}
