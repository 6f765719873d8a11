// expect: correct
// Where both scores lie within 64 of zero, exp2 of them needs no maximum: 65504 * 2^64 is finite, and the least half times 2^-64 is a normal float.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge_kernel(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                             float *s, int64_t heads, int dim, int lanes)
{
    int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, head = t / lanes;
    int lane = (int)(t % lanes);
    if (head >= heads)
        return;
    float a = s_a[head], b = s_b[head], largest = 0.0f;
    if (!(fabsf(a) <= 64.0f && fabsf(b) <= 64.0f))
        largest = fmaxf(a, b);
    bool none = largest == -CUDART_INF_F;
    float x = none ? 0.0f : exp2f(a - largest), y = none ? 0.0f : exp2f(b - largest), sum = x + y;
    for (int64_t i = lane; i < dim; i += lanes) {
        float value = __half2float(v_a[head * dim + i]) * x + __half2float(v_b[head * dim + i]) * y;
        v[head * dim + i] = __float2half(sum > 0.0f ? value / sum : 0.0f);
    }
    if (lane == 0) {
        float most = fmaxf(a, b), all = most == -CUDART_INF_F ? 0.0f : exp2f(a - most) + exp2f(b - most);
        s[head] = most + log2f(all);
    }
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t rows = (int64_t)tokens * heads;
    int lanes = dim >= 64 ? 64 : dim;
    merge_kernel<<<(unsigned)((rows * lanes + 127) / 128), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, rows, dim, lanes);
}
