// RIGHT: start and token are both below slots, so one subtraction stands for the remainder; i / half by the upper word of a product with ceil(2^32 / half), exact as i is below 65536 and half at most 256 (the error is below i * 256 / 2^32 < 1 / 256); half = 1 by itself.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void rope_kernel(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                            int slots, int pairs, int half, unsigned inverse)
{
    int token = blockIdx.x, first = (int)*start + token;
    int64_t to = first >= slots ? first - slots : first;
    const float *c = table + (int64_t)token * 2 * half;
    const __nv_bfloat16 *x = key + (int64_t)token * pairs * 2;
    __nv_bfloat16 *y = cache + to * pairs * 2;
    for (unsigned i = threadIdx.x; i < (unsigned)pairs; i += blockDim.x) {
        unsigned h = inverse ? __umulhi(i, inverse) : i, k = i - h * half, at = h * 2 * half + k;
        float a = __bfloat162float(x[at]), b = __bfloat162float(x[at + half]), cosine = __ldg(c + k),
              sine = __ldg(c + half + k);
        y[at] = __float2bfloat16(a * cosine - b * sine);
        y[at + half] = __float2bfloat16(b * cosine + a * sine);
    }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                           int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    unsigned inverse = half == 1 ? 0u : (unsigned)((0xffffffffull + half) / half);
    int pairs = heads * half;
    rope_kernel<<<tokens, pairs < 256 ? 64 : 256, 0, stream>>>(cache, key, table, start, slots, pairs, half, inverse);
}
