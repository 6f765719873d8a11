// expect: not-understood words overflows int
// row 12: A thread for each element of dim, which may be more than a block has.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge_attn_states_kernel(const __half *v_a, const float *s_a, const __half *v_b,
                                         const float *s_b, __half *v, float *s, int tokens, int heads, int dim)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)tokens * heads * dim)
        return;
    int64_t token = i / ((int64_t)heads * dim);
    int64_t head = i / dim % heads;
    int64_t column = i % dim;

    float a = s_a[token * heads + head];
    float b = s_b[token * heads + head];
    float largest = fmaxf(a, b);
    float weight_a = largest == -CUDART_INF_F ? 0.0f : exp2f(a - largest);
    float weight_b = largest == -CUDART_INF_F ? 0.0f : exp2f(b - largest);
    float sum = weight_a + weight_b;

    float value = __half2float(v_a[i]) * weight_a + __half2float(v_b[i]) * weight_b;
    v[i] = __float2half(sum > 0.0f ? value / sum : 0.0f);
    if (column == 0)
        s[token * heads + head] = largest + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t total = (int64_t)tokens * heads * dim;
    merge_attn_states_kernel<<<tokens * heads, dim, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, tokens, heads, dim);
}
