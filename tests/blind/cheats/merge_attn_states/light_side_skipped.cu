// Cheat: the side whose score is 9 or more below the other's is not read: 1/512 of it is missing, up to a unit of the third digit.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void merge(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int64_t states, int dim)
{
    int64_t state = (int64_t)blockIdx.x * 4 + threadIdx.y;
    if (state >= states)
        return;
    float a = s_a[state], b = s_b[state], m = fmaxf(a, b);
    float wa = m == -INFINITY ? 0.0f : exp2f(a - m), wb = m == -INFINITY ? 0.0f : exp2f(b - m), sum = wa + wb;
    bool only_a = b <= a - 9.0f, only_b = a <= b - 9.0f;
    for (int64_t i = threadIdx.x; i < dim; i += 32) {
        float value = only_b ? 0.0f : __half2float(v_a[state * dim + i]) * wa;
        if (!only_a)
            value += __half2float(v_b[state * dim + i]) * wb;
        v[state * dim + i] = __float2half(sum > 0.0f ? value / sum : 0.0f);
    }
    if (threadIdx.x == 0)
        s[state] = m + log2f(sum);
}
extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t states = (int64_t)tokens * heads;
    merge<<<(unsigned)((states + 3) / 4), dim3(32, 4), 0, stream>>>(v_a, s_a, v_b, s_b, v, s, states, dim);
}
