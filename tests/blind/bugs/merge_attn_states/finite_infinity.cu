// wrong because: -1e38 stands for -inf when both sides are asked for nothing: where both log-sum-exps are finite but below that (-2e38 and -2e38) v comes out as 0 in the stead of the mean.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

template <int V> struct alignas(2 * V) Pack { __half e[V]; };

template <int V> __global__ void __launch_bounds__(128) merge_kernel(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int64_t packs, int each)
{
    int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= packs)
        return;
    int64_t pair = i / each;
    float a = s_a[pair], b = s_b[pair], most = fmaxf(a, b);
    bool none = most < -1e38f;
    float wa = none ? 0.0f : exp2f(a - most), wb = none ? 0.0f : exp2f(b - most), sum = wa + wb, inverse = none ? 0.0f : 1.0f / sum;
    Pack<V> pa = reinterpret_cast<const Pack<V> *>(v_a)[i], pb = reinterpret_cast<const Pack<V> *>(v_b)[i];
#pragma unroll
    for (int j = 0; j < V; j++)
        pa.e[j] = __float2half((__half2float(pa.e[j]) * wa + __half2float(pb.e[j]) * wb) * inverse);
    reinterpret_cast<Pack<V> *>(v)[i] = pa;
    if (i == pair * each)
        s[pair] = none ? -CUDART_INF_F : most + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads;
    if (dim % 8 == 0)
        merge_kernel<8><<<(unsigned)((pairs * (dim / 8) + 127) / 128), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pairs * (dim / 8), dim / 8);
    else
        merge_kernel<1><<<(unsigned)((pairs * dim + 127) / 128), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pairs * dim, dim);
}
