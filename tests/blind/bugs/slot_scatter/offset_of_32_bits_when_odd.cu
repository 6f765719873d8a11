// wrong because: Where a row is no whole number of vectors, the place in the cache is computed in 32 bits: 2^20 slots of 8191 are more.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void __launch_bounds__(128) vectors_kernel(uint4 *cache, const uint4 *rows, const int64_t *slot, int each)
{
    uint4 *to = cache + slot[blockIdx.x] * each;
    const uint4 *from = rows + (int64_t)blockIdx.x * each;
    for (int i = threadIdx.x; i < each; i += 128)
        to[i] = from[i];
}

__global__ void __launch_bounds__(128) plain_kernel(__half *cache, const __half *rows, const int64_t *slot, int d)
{
    unsigned to = (unsigned)slot[blockIdx.x] * d, from = blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += 128)
        cache[to + i] = rows[from + i];
}

extern "C" void slot_scatter(__half *cache, const __half *rows, const int64_t *slot, int tokens, int d, cudaStream_t stream)
{
    if (d % 8 == 0)
        vectors_kernel<<<tokens, 128, 0, stream>>>((uint4 *)cache, (const uint4 *)rows, slot, d / 8);
    else
        plain_kernel<<<tokens, 128, 0, stream>>>(cache, rows, slot, d);
}
