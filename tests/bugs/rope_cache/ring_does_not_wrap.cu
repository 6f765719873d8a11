// expect: unsafe words past the end of cache
// row 14: Runs past the last slot instead of going on at the first.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void rope_cache_kernel(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table,
                                  const int64_t *start, int slots, int heads, int half)
{
    int token = blockIdx.x;
    int64_t to = *start + token;
    const float *c = table + (int64_t)token * 2 * half, *s = c + half;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int h = i / half, k = i % half;
        const __nv_bfloat16 *x = key + ((int64_t)token * heads + h) * 2 * half;
        __nv_bfloat16 *y = cache + (to * heads + h) * 2 * half;
        float a = __bfloat162float(x[k]), b = __bfloat162float(x[k + half]);
        y[k] = __float2bfloat16(a * c[k] - b * s[k]);
        y[k + half] = __float2bfloat16(b * c[k] + a * s[k]);
    }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                           int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    rope_cache_kernel<<<tokens, 128, 0, stream>>>(cache, key, table, start, slots, heads, half);
}
