// expect: wrong
// row 12: The offset of a slot is unsigned; it outgrows 32 bits where slots, heads and width are large together.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void __launch_bounds__(256) rope_cache_kernel(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table,
                                                         const int64_t *start, unsigned slots, unsigned heads, unsigned half)
{
    unsigned token = blockIdx.x;
    unsigned to = (unsigned)*start + token;
    if (to >= slots)
        to -= slots;
    const float *c = table + (size_t)token * 2 * half, *s = c + half;
    unsigned in = token * heads * 2 * half, out = to * heads * 2 * half;
    for (unsigned i = blockIdx.y * 256 + threadIdx.x; i < heads * half; i += 256 * gridDim.y) {
        unsigned h = i / half, k = i - h * half, at = h * 2 * half + k;
        float a = __bfloat162float(key[in + at]), b = __bfloat162float(key[in + at + half]);
        cache[out + at] = __float2bfloat16(a * c[k] - b * s[k]);
        cache[out + at + half] = __float2bfloat16(b * c[k] + a * s[k]);
    }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                           int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    int parts = (heads * half + 255) / 256;
    rope_cache_kernel<<<dim3(tokens, parts < 4 ? parts : 4), 256, 0, stream>>>(cache, key, table, start, slots, heads, half);
}
