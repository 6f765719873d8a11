// Bug: the place in the cache is computed in 32 bits.
// Shows where slot[t] * d >= 2^31, so for slots * d > 2^31 (a cache of more than 4 GiB, say 524289 slots of 4096) only:
// the offset is negative or too small.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128)
    scatter_kernel(__half *__restrict__ cache, const __half *__restrict__ key, const int *__restrict__ slot, int d)
{
    const int token = blockIdx.x;
    const int to = slot[token] * d;
    const int64_t from = (int64_t)token * d;
    if (d % 8 == 0) {
        const uint4 *source = reinterpret_cast<const uint4 *>(key + from);
        uint4 *target = reinterpret_cast<uint4 *>(cache + to);
        for (int i = threadIdx.x; i < d / 8; i += blockDim.x)
            target[i] = source[i];
    } else {
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            cache[to + i] = key[from + i];
    }
}

extern "C" void kv_scatter(__half *cache, const __half *key, const int *slot, int tokens, int d,
                           cudaStream_t stream)
{
    scatter_kernel<<<tokens, 128, 0, stream>>>(cache, key, slot, d);
}
