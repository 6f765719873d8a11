// class: the launcher read otherwise than g++ reads it ; wrong because: sizeof of an array parameter is a pointer's (8 / 4 = 2, not 4), so the shipped launcher leaves out the last head (smallest: 1,1,1,1)
#include <cstdint>
#include <cuda_bf16.h>

__global__ void rope_cache_kernel(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table,
                                  const int64_t *start, int slots, int heads, int half, int upto)
{
    int token = blockIdx.x;
    int64_t to = (*start + token) % slots;
    const float *c = table + (int64_t)token * 2 * half, *s = c + half;
    for (int i = threadIdx.x; i < upto * half; i += blockDim.x) {
        int h = i / half, k = i % half;
        const __nv_bfloat16 *x = key + ((int64_t)token * heads + h) * 2 * half;
        __nv_bfloat16 *y = cache + (to * heads + h) * 2 * half;
        float a = __bfloat162float(x[k]), b = __bfloat162float(x[k + half]);
        y[k] = __float2bfloat16(a * c[k] - b * s[k]);
        y[k + half] = __float2bfloat16(b * c[k] + a * s[k]);
    }
}

static int choices(const int sizes[4])
{
    return (int)(sizeof(sizes) / sizeof(int));
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                           int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    int sizes[4] = {64, 128, 256, 512}, n = choices(sizes), pick = 3;
    while (pick > 0 && sizes[pick - 1] >= heads * half)
        pick--;
    int upto = heads - (4 - n) / 2;
    rope_cache_kernel<<<tokens, sizes[pick], 0, stream>>>(cache, key, table, start, slots, heads, half, upto);
}
