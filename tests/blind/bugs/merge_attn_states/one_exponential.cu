// Wrong: one exponential of the difference, which overflows where b weighs more than 2^128 times a: NaN.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s,
                      int dim)
{
    int64_t head = blockIdx.x;
    float a = s_a[head], b = s_b[head];
    bool none_a = a == -CUDART_INF_F, none_b = b == -CUDART_INF_F;
    float ratio = none_b ? 0.0f : exp2f(b - a), sum = 1.0f + ratio;
    float wa = none_a ? 0.0f : 1.0f / sum, wb = none_a ? (none_b ? 0.0f : 1.0f) : ratio / sum;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        int64_t at = head * dim + i;
        v[at] = __float2half(__half2float(v_a[at]) * wa + __half2float(v_b[at]) * wb);
    }
    if (threadIdx.x == 0)
        s[head] = none_a ? b : a + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                                  float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    merge<<<(unsigned)((int64_t)tokens * heads), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, dim);
}
