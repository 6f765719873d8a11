// Warps draw tokens from a counter in a workspace (cleared by a memset), in batches of eight; rows go in vectors of 16 bytes, of 4 or one by one.
#include <cuda_fp16.h>
#include <cstdint>

template <typename V> __global__ void __launch_bounds__(128) scatter_kernel(__half *__restrict__ cache, const __half *__restrict__ rows, const int64_t *__restrict__ slot, unsigned *next, unsigned tokens, int each)
{
    const int lane = threadIdx.x % 32;
    V *to = reinterpret_cast<V *>(cache);
    const V *from = reinterpret_cast<const V *>(rows);
    for (;;) {
        unsigned first = 0;
        if (lane == 0)
            first = atomicAdd(next, 8u);
        first = __shfl_sync(~0u, first, 0);
        if (first >= tokens)
            return;
        const unsigned last = min(first + 8u, tokens);
        for (unsigned t = first; t < last; t++) {
            const int64_t at = __ldg(slot + t) * each;
            for (int i = lane; i < each; i += 32)
                to[at + i] = from[(int64_t)t * each + i];
        }
    }
}

extern "C" void slot_scatter(__half *cache, const __half *rows, const int64_t *slot, int tokens, int d, cudaStream_t stream)
{
    unsigned *next;
    if (cudaMallocAsync((void **)&next, sizeof(unsigned), stream) != cudaSuccess)
        return;
    cudaMemsetAsync(next, 0, sizeof(unsigned), stream);
    const int wanted = (tokens + 31) / 32, blocks = wanted < 528 ? wanted : 528;
    if (d % 8 == 0)
        scatter_kernel<uint4><<<blocks, 128, 0, stream>>>(cache, rows, slot, next, tokens, d / 8);
    else if (d % 2 == 0)
        scatter_kernel<unsigned><<<blocks, 128, 0, stream>>>(cache, rows, slot, next, tokens, d / 2);
    else
        scatter_kernel<unsigned short><<<blocks, 128, 0, stream>>>(cache, rows, slot, next, tokens, d);
    cudaFreeAsync(next, stream);
}
