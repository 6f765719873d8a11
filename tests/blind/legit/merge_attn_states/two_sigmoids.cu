// Right: the weights are sigmoids of the difference in float, 1 / (1 + 2^(b - a)) and its mirror image (never 1 - the other), so that a light side keeps all its bits; empty sides by selection. A warp per head, persistent over the heads, weights once a warp by a shuffle.
#include <cstdint>
#include <cuda_fp16.h>
__global__ __launch_bounds__(256) void merge(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int64_t states, int dim)
{
    int lane = threadIdx.x % 32;
    int64_t warps = (int64_t)gridDim.x * 8;
    for (int64_t state = (int64_t)blockIdx.x * 8 + threadIdx.x / 32; state < states; state += warps) {
        float wa = 0.0f, wb = 0.0f;
        if (lane == 0) {
            float a = s_a[state], b = s_b[state], m = fmaxf(a, b);
            if (m > -INFINITY) {
                wa = 1.0f / (1.0f + exp2f(b - a));
                wb = 1.0f / (1.0f + exp2f(a - b));
                m += log2f(1.0f + exp2f(fminf(a, b) - m));
            }
            s[state] = m;
        }
        wa = __shfl_sync(~0u, wa, 0);
        wb = __shfl_sync(~0u, wb, 0);
        int64_t at = state * dim;
        if (dim % 2 == 0) {
            for (int64_t i = lane * 2; i < dim; i += 64) {
                float2 x = __half22float2(*(const __half2 *)(v_a + at + i)), y = __half22float2(*(const __half2 *)(v_b + at + i));
                *(__half2 *)(v + at + i) = __floats2half2_rn(x.x * wa + y.x * wb, x.y * wa + y.y * wb);
            }
        } else {
            for (int64_t i = lane; i < dim; i += 32)
                v[at + i] = __float2half(__half2float(v_a[at + i]) * wa + __half2float(v_b[at + i]) * wb);
        }
    }
}
extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t states = (int64_t)tokens * heads, wanted = (states + 7) / 8;
    merge<<<(unsigned)(wanted < 1056 ? wanted : 1056), 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, states, dim);
}
