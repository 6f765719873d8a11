// expect: correct
// A block for each head of each token: another cut of the same 16 tokens into blocks, whose count of written bytes is compared with that of the original's.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void __launch_bounds__(128) rope_head_kernel(__nv_bfloat16 *__restrict__ cache, const __nv_bfloat16 *__restrict__ key, const float *__restrict__ table, const int64_t *__restrict__ start, int slots, int half)
{
    const int64_t token = blockIdx.x, heads = gridDim.y, head = blockIdx.y;
    const int64_t slot = (*start + token) % slots;
    const float *c = table + token * 2 * half, *s = c + half;
    const __nv_bfloat16 *x = key + (token * heads + head) * 2 * half;
    __nv_bfloat16 *y = cache + (slot * heads + head) * 2 * half;
    for (int k = threadIdx.x; k < half; k += blockDim.x) {
        const float a = __bfloat162float(x[k]), b = __bfloat162float(x[k + half]), ck = __ldg(c + k), sk = __ldg(s + k);
        y[k] = __float2bfloat16(a * ck - b * sk);
        y[k + half] = __float2bfloat16(b * ck + a * sk);
    }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start, int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    rope_head_kernel<<<dim3(tokens, heads), half < 128 ? (half + 31) / 32 * 32 : 128, 0, stream>>>(cache, key, table, start, slots, half);
}
