// Merges two partial attention results by their base-2 log-sum-exp, 16 bytes of a head a thread.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

union vec8 {
    uint4 bits;
    __half2 pair[4];
};

struct weights {
    float a, b, lse;
};

__device__ __forceinline__ weights merge_weights(float a, float b)
{
    const float largest = fmaxf(a, b);
    if (largest == -CUDART_INF_F)
        return {0.0f, 0.0f, -CUDART_INF_F};
    const float wa = exp2f(a - largest), wb = exp2f(b - largest), sum = wa + wb;
    const float scale = 1.0f / sum;
    return {wa * scale, wb * scale, largest + log2f(sum)};
}

template <int UNROLL, int THREADS>
__global__ void __launch_bounds__(THREADS)
    merge_vec(const uint4 *__restrict__ v_a, const float *__restrict__ s_a, const uint4 *__restrict__ v_b,
              const float *__restrict__ s_b, uint4 *__restrict__ v, float *__restrict__ s, int64_t vectors,
              int head_vectors, int shift)
{
    const int64_t first = (int64_t)blockIdx.x * (THREADS * UNROLL) + threadIdx.x;
    vec8 a[UNROLL], b[UNROLL];
    float sa[UNROLL], sb[UNROLL];
    int64_t state[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        const int64_t i = first + k * THREADS;
        if (i < vectors) {
            a[k].bits = __ldcs(v_a + i);
            b[k].bits = __ldcs(v_b + i);
            state[k] = shift >= 0 ? i >> shift : i / head_vectors;
            sa[k] = __ldg(s_a + state[k]);
            sb[k] = __ldg(s_b + state[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        const int64_t i = first + k * THREADS;
        if (i < vectors) {
            const weights w = merge_weights(sa[k], sb[k]);
            vec8 r;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float2 p = __half22float2(a[k].pair[j]), q = __half22float2(b[k].pair[j]);
                r.pair[j] = __floats2half2_rn(p.x * w.a + q.x * w.b, p.y * w.a + q.y * w.b);
            }
            __stcs(v + i, r.bits);
            if (i == state[k] * head_vectors)
                s[state[k]] = w.lse;
        }
    }
}

__global__ void __launch_bounds__(256)
    merge_plain(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b,
                const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, int64_t total, int dim)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    const int64_t state = i / dim;
    const weights w = merge_weights(s_a[state], s_b[state]);
    v[i] = __float2half(__half2float(v_a[i]) * w.a + __half2float(v_b[i]) * w.b);
    if (i == state * dim)
        s[state] = w.lse;
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    const int64_t total = (int64_t)tokens * heads * dim;
    if (dim % 8 != 0 || ((uintptr_t)v_a | (uintptr_t)v_b | (uintptr_t)v) % 16 != 0) {
        merge_plain<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, total, dim);
        return;
    }
    const int head_vectors = dim / 8;
    int shift = -1;
    if ((head_vectors & (head_vectors - 1)) == 0)
        for (shift = 0; (1 << shift) < head_vectors; shift++)
            ;
    const int64_t vectors = total / 8;
    const uint4 *a = (const uint4 *)v_a, *b = (const uint4 *)v_b;
    if (vectors <= 132 * 64)
        merge_vec<1, 64><<<(unsigned)((vectors + 63) / 64), 64, 0, stream>>>(a, s_a, b, s_b, (uint4 *)v, s,
                                                                             vectors, head_vectors, shift);
    else if (vectors <= 132 * 2048)
        merge_vec<1, 256><<<(unsigned)((vectors + 255) / 256), 256, 0, stream>>>(a, s_a, b, s_b, (uint4 *)v, s,
                                                                                 vectors, head_vectors, shift);
    else
        merge_vec<2, 256><<<(unsigned)((vectors + 511) / 512), 256, 0, stream>>>(a, s_a, b, s_b, (uint4 *)v, s,
                                                                                 vectors, head_vectors, shift);
}
