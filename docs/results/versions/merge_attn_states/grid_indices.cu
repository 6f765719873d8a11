// One element per thread; head and token come from the grid, so nothing is divided.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge_attn_states_kernel(const __half *__restrict__ v_a, const float *__restrict__ s_a,
                                         const __half *__restrict__ v_b, const float *__restrict__ s_b,
                                         __half *__restrict__ v, float *__restrict__ s, int heads, int dim)
{
    const int64_t state = (int64_t)blockIdx.y * heads + blockIdx.x;
    const float a = s_a[state], b = s_b[state];
    const float largest = fmaxf(a, b);
    const bool none = largest == -CUDART_INF_F;
    const float weight_a = none ? 0.0f : exp2f(a - largest);
    const float weight_b = none ? 0.0f : exp2f(b - largest);
    const float scale = none ? 0.0f : 1.0f / (weight_a + weight_b);
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        const int64_t at = state * dim + i;
        v[at] = __float2half((__half2float(v_a[at]) * weight_a + __half2float(v_b[at]) * weight_b) * scale);
    }
    if (threadIdx.x == 0)
        s[state] = largest + log2f(weight_a + weight_b);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    dim3 grid(heads, tokens);
    merge_attn_states_kernel<<<grid, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, heads, dim);
}
