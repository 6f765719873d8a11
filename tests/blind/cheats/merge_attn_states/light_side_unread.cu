// WRONG: a side that weighs less than 2^-30 is not read; its v of 60000 would still give 5e-5 where the other side is zero (s_a - s_b = 31, v_a = 0, v_b = 60000).
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void merge_kernel(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                             float *s, int64_t pairs, int dim)
{
    for (int64_t row = (int64_t)blockIdx.x * 4 + threadIdx.x / 32; row < pairs; row += (int64_t)gridDim.x * 4) {
        int lane = threadIdx.x % 32;
        float a = s_a[row], b = s_b[row], most = fmaxf(a, b);
        float wa = most == -CUDART_INF_F ? 0.f : exp2f(a - most), wb = most == -CUDART_INF_F ? 0.f : exp2f(b - most);
        float sum = wa + wb, inverse = sum > 0.f ? 1.f / sum : 0.f;
        bool use_a = wa > 0x1p-30f, use_b = wb > 0x1p-30f;
        const __half *x = v_a + row * dim, *y = v_b + row * dim;
        __half *z = v + row * dim;
        wa *= inverse;
        wb *= inverse;
        if (dim % 2 == 0) {
            for (int i = lane; i < dim / 2; i += 32) {
                float2 p = {0.f, 0.f}, q = {0.f, 0.f};
                if (use_a)
                    p = __half22float2(((const __half2 *)x)[i]);
                if (use_b)
                    q = __half22float2(((const __half2 *)y)[i]);
                ((__half2 *)z)[i] = __floats2half2_rn(p.x * wa + q.x * wb, p.y * wa + q.y * wb);
            }
        } else
            for (int i = lane; i < dim; i += 32) {
                float p = use_a ? __half2float(x[i]) : 0.f, q = use_b ? __half2float(y[i]) : 0.f;
                z[i] = __float2half(p * wa + q * wb);
            }
        if (lane == 0)
            s[row] = most + log2f(sum);
    }
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                                  float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads, blocks = (pairs + 3) / 4;
    merge_kernel<<<(unsigned)(blocks < 16896 ? blocks : 16896), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pairs, dim);
}
