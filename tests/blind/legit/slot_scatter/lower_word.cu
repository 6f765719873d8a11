// Slots are below 2^20, so their lower words suffice; 96 threads, a token a warp, vectors as wide as d allows.
#include <cuda_fp16.h>
#include <cstdint>

template <typename V> __global__ void __launch_bounds__(96) scatter_kernel(V *__restrict__ cache, const V *__restrict__ rows, const int *__restrict__ words, int tokens, int each)
{
    const int token = blockIdx.x * 3 + threadIdx.x / 32;
    if (token >= tokens)
        return;
    const int64_t to = (int64_t)words[2 * token] * each, from = (int64_t)token * each;
    for (int i = threadIdx.x % 32; i < each; i += 32)
        __stcs(cache + to + i, __ldcs(rows + from + i));
}

extern "C" void slot_scatter(__half *cache, const __half *rows, const int64_t *slot, int tokens, int d, cudaStream_t stream)
{
    const int *words = (const int *)slot;
    const int blocks = (tokens + 2) / 3;
    if (!(d & 7))
        scatter_kernel<<<blocks, 96, 0, stream>>>((uint4 *)cache, (const uint4 *)rows, words, tokens, d >> 3);
    else if (!(d & 3))
        scatter_kernel<<<blocks, 96, 0, stream>>>((uint2 *)cache, (const uint2 *)rows, words, tokens, d >> 2);
    else if (!(d & 1))
        scatter_kernel<<<blocks, 96, 0, stream>>>((unsigned *)cache, (const unsigned *)rows, words, tokens, d >> 1);
    else
        scatter_kernel<<<blocks, 96, 0, stream>>>((unsigned short *)cache, (const unsigned short *)rows, words, tokens, d);
}
