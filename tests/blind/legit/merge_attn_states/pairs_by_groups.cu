// As many lanes a pair as its head has vectors (up to 32); weights are computed by each lane, sides of no weight are not read; a constexpr function picks the lanes.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int lanes_for(int vectors)
{
    int n = 1;
    while (n < vectors && n < 32)
        n *= 2;
    return n;
}

__device__ __forceinline__ float2 mix(float2 a, float wa, float2 b, float wb) { return make_float2(a.x * wa + b.x * wb, a.y * wa + b.y * wb); }

template <bool WIDE> __global__ void __launch_bounds__(128) merge_kernel(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b, const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, int64_t pairs, int dim, int lanes)
{
    const int64_t pair = ((int64_t)blockIdx.x * 128 + threadIdx.x) / lanes;
    const int lane = threadIdx.x & (lanes - 1);
    if (pair >= pairs)
        return;
    const float a = s_a[pair], b = s_b[pair], most = fmaxf(a, b);
    const bool none = most == -CUDART_INF_F;
    const float wa = none ? 0.0f : exp2f(a - most), wb = none ? 0.0f : exp2f(b - most), sum = wa + wb;
    const float share_a = none ? 0.0f : wa / sum, share_b = none ? 0.0f : wb / sum;
    const int64_t base = pair * dim;
    if constexpr (WIDE) {
        for (int i = lane; i < dim / 8; i += lanes) {
            uint4 ua = make_uint4(0, 0, 0, 0), ub = ua;
            if (a != -CUDART_INF_F)
                ua = __ldcs(reinterpret_cast<const uint4 *>(v_a + base) + i);
            if (b != -CUDART_INF_F)
                ub = __ldcs(reinterpret_cast<const uint4 *>(v_b + base) + i);
            const __half2 *ha = reinterpret_cast<const __half2 *>(&ua), *hb = reinterpret_cast<const __half2 *>(&ub);
            uint4 r;
            __half2 *hr = reinterpret_cast<__half2 *>(&r);
#pragma unroll
            for (int j = 0; j < 4; j++)
                hr[j] = __float22half2_rn(mix(__half22float2(ha[j]), share_a, __half22float2(hb[j]), share_b));
            __stcs(reinterpret_cast<uint4 *>(v + base) + i, r);
        }
    } else {
        for (int i = lane; i < dim; i += lanes)
            v[base + i] = __float2half(__half2float(v_a[base + i]) * share_a + __half2float(v_b[base + i]) * share_b);
    }
    if (lane == 0)
        s[pair] = most + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    const bool wide = dim % 8 == 0;
    const int lanes = lanes_for(wide ? dim / 8 : dim);
    const int64_t pairs = (int64_t)tokens * heads, each = 128 / lanes;
    const unsigned blocks = (unsigned)((pairs + each - 1) / each);
    if (wide)
        merge_kernel<true><<<blocks, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pairs, dim, lanes);
    else
        merge_kernel<false><<<blocks, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pairs, dim, lanes);
}
