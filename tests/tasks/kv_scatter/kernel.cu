// cache[slot[t]] = key[t] for every token t; all other rows of the cache stay as they are; one block per token.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kv_scatter_kernel(__half *cache, const __half *key, const int *slot, int d)
{
    int64_t to = (int64_t)slot[blockIdx.x] * d;
    int64_t from = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        cache[to + i] = key[from + i];
}

extern "C" void kv_scatter(__half *cache, const __half *key, const int *slot, int tokens, int d,
                           cudaStream_t stream)
{
    kv_scatter_kernel<<<tokens, 64, 0, stream>>>(cache, key, slot, d);
}
