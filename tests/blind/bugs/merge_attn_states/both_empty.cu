// Wrong: weights from the difference of the scores; where both are -inf that is NaN.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void merge(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int64_t states, int dim)
{
    int64_t state = (int64_t)blockIdx.x * 4 + threadIdx.y;
    if (state >= states)
        return;
    float a = s_a[state], b = s_b[state];
    float wa = 1.0f / (1.0f + exp2f(b - a)), wb = 1.0f - wa;
    for (int64_t i = threadIdx.x; i < dim; i += 32)
        v[state * dim + i] = __float2half(wa * __half2float(v_a[state * dim + i]) + wb * __half2float(v_b[state * dim + i]));
    if (threadIdx.x == 0)
        s[state] = fmaxf(a, b) + log2f(1.0f + exp2f(-fabsf(a - b)));
}
extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t states = (int64_t)tokens * heads;
    merge<<<(unsigned)((states + 3) / 4), dim3(32, 4), 0, stream>>>(v_a, s_a, v_b, s_b, v, s, states, dim);
}
