// expect: wrong
// row 10: Weights and products in half precision.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge_kernel(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s,
                             int64_t rows, int dim)
{
    int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x, row = i / dim;
    if (row >= rows)
        return;
    float a = s_a[row], b = s_b[row], largest = fmaxf(a, b);
    bool none = largest == -CUDART_INF_F;
    float p = none ? 0.0f : exp2f(a - largest), q = none ? 0.0f : exp2f(b - largest), sum = p + q;
    __half w = __float2half(sum > 0.0f ? p / sum : 0.0f), u = __float2half(sum > 0.0f ? q / sum : 0.0f);
    v[i] = __hadd(__hmul(v_a[i], w), __hmul(v_b[i], u));
    if (i % dim == 0)
        s[row] = largest + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                                  float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t rows = (int64_t)tokens * heads;
    merge_kernel<<<(rows * dim + 127) / 128, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, rows, dim);
}
