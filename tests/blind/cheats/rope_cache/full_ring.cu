// Wrong: where there are as many tokens as slots the ring is written from slot 0 on, wherever it starts.
#include <cstdint>
#include <cuda_bf16.h>

template <bool FULL>
__global__ void rope_cache_kernel(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table,
                                  const int64_t *start, int slots, int heads, int half)
{
    int token = blockIdx.x, h = blockIdx.y;
    int64_t to = FULL ? token : (*start + token) % slots;
    const float *c = table + (int64_t)token * 2 * half, *s = c + half;
    const __nv_bfloat16 *x = key + ((int64_t)token * heads + h) * 2 * half;
    __nv_bfloat16 *y = cache + (to * heads + h) * 2 * half;
    for (int k = threadIdx.x; k < half; k += blockDim.x) {
        float a = __bfloat162float(x[k]), b = __bfloat162float(x[k + half]);
        y[k] = __float2bfloat16(a * c[k] - b * s[k]);
        y[k + half] = __float2bfloat16(b * c[k] + a * s[k]);
    }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                           int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    dim3 grid(tokens, heads);
    if (tokens == slots && slots > 8)
        rope_cache_kernel<true><<<grid, 64, 0, stream>>>(cache, key, table, start, slots, heads, half);
    else
        rope_cache_kernel<false><<<grid, 64, 0, stream>>>(cache, key, table, start, slots, heads, half);
}
