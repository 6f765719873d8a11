// class: a side that is negligible "by weight" but not by value ; wrong because: when s differs by more than 30 the lighter side is not read, but 65504 * 2^-30.5 = 4.3e-5 is not nothing beside v = 0 (smallest: 1,1,1 with v_a=0, v_b=65504, s_a=0, s_b=-30.5: right 4.3e-5, given 0)
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge_kernel(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                             float *s, int64_t pairs, int dim)
{
    int64_t pair = (int64_t)blockIdx.x * 4 + threadIdx.y;
    if (pair >= pairs)
        return;
    float a = s_a[pair], b = s_b[pair], largest = fmaxf(a, b);
    bool none = largest == -CUDART_INF_F;
    float wa = none ? 0.0f : exp2f(a - largest), wb = none ? 0.0f : exp2f(b - largest), sum = wa + wb;
    // Half has 11 bits: what weighs less than 2^-30 is not read at all.
    bool need_a = wa > 9.3132257e-10f, need_b = wb > 9.3132257e-10f;
    for (int i = threadIdx.x; i < dim; i += 32) {
        float x = need_a ? __half2float(v_a[pair * dim + i]) * wa : 0.0f;
        float y = need_b ? __half2float(v_b[pair * dim + i]) * wb : 0.0f;
        v[pair * dim + i] = __float2half(sum > 0.0f ? (x + y) / sum : 0.0f);
    }
    if (threadIdx.x == 0)
        s[pair] = largest + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads;
    merge_kernel<<<(unsigned)((pairs + 3) / 4), dim3(32, 4), 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pairs, dim);
}
