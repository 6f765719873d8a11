// Merges two partial attention results by their base-2 log-sum-exp, sixteen bytes of v a step.
// A side whose log-sum-exp is -inf saw nothing and weighs nothing; when both did, v is 0 and s is -inf.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int VEC = 8; // halves in 16 bytes

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

struct weights {
    float a, b, lse;
};

__device__ __forceinline__ weights merge_weights(float a, float b)
{
    const float largest = fmaxf(a, b);
    if (largest == -CUDART_INF_F)
        return {0.0f, 0.0f, -CUDART_INF_F};
    const float weight_a = exp2f(a - largest), weight_b = exp2f(b - largest);
    const float sum = weight_a + weight_b;
    const float scale = __fdividef(1.0f, sum);
    return {weight_a * scale, weight_b * scale, largest + log2f(sum)};
}

__device__ __forceinline__ uint4 merge_vector(uint4 bits_a, uint4 bits_b, weights w)
{
    vec8 a, b, merged;
    a.bits = bits_a;
    b.bits = bits_b;
#pragma unroll
    for (int k = 0; k < VEC / 2; k++) {
        const float2 p = __half22float2(a.pair[k]), q = __half22float2(b.pair[k]);
        merged.pair[k] = __floats2half2_rn(p.x * w.a + q.x * w.b, p.y * w.a + q.y * w.b);
    }
    return merged.bits;
}

// shift >= 0: a head holds 1 << shift vectors.
template <int THREADS, int UNROLL>
__global__ void __launch_bounds__(THREADS)
    merge_vectors(const uint4 *__restrict__ v_a, const float *__restrict__ s_a, const uint4 *__restrict__ v_b,
                  const float *__restrict__ s_b, uint4 *__restrict__ v, float *__restrict__ s, unsigned vectors,
                  unsigned head_vectors, int shift)
{
    const unsigned base = blockIdx.x * (THREADS * UNROLL) + threadIdx.x;
    uint4 a[UNROLL], b[UNROLL];
    float sa[UNROLL], sb[UNROLL];
    unsigned state[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const unsigned i = base + u * THREADS;
        if (i < vectors) {
            state[u] = shift >= 0 ? i >> shift : i / head_vectors;
            a[u] = __ldcs(v_a + i);
            b[u] = __ldcs(v_b + i);
            sa[u] = __ldg(s_a + state[u]);
            sb[u] = __ldg(s_b + state[u]);
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const unsigned i = base + u * THREADS;
        if (i < vectors) {
            const weights w = merge_weights(sa[u], sb[u]);
            __stcs(v + i, merge_vector(a[u], b[u], w));
            if (i == state[u] * head_vectors)
                s[state[u]] = w.lse;
        }
    }
}

__global__ void __launch_bounds__(256)
    merge_scalar(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b,
                 const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, int64_t total, int dim)
{
    const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= total)
        return;
    const int64_t state = i / dim;
    const weights w = merge_weights(s_a[state], s_b[state]);
    v[i] = __float2half(__half2float(v_a[i]) * w.a + __half2float(v_b[i]) * w.b);
    if (i == state * dim)
        s[state] = w.lse;
}

template <int THREADS, int UNROLL>
static void launch(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s,
                   unsigned vectors, unsigned head_vectors, int shift, cudaStream_t stream)
{
    merge_vectors<THREADS, UNROLL><<<(vectors + THREADS * UNROLL - 1) / (THREADS * UNROLL), THREADS, 0, stream>>>(
        (const uint4 *)v_a, s_a, (const uint4 *)v_b, s_b, (uint4 *)v, s, vectors, head_vectors, shift);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    const int64_t total = (int64_t)tokens * heads * dim;
    const bool aligned = (uintptr_t)v_a % 16 == 0 && (uintptr_t)v_b % 16 == 0 && (uintptr_t)v % 16 == 0;
    if (dim % VEC != 0 || !aligned || total / VEC > 0x7fff0000) {
        merge_scalar<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, total, dim);
        return;
    }
    const unsigned vectors = (unsigned)(total / VEC), head_vectors = dim / VEC;
    int shift = -1;
    for (int k = 0; k < 31; k++)
        if (head_vectors == 1u << k)
            shift = k;
    if (vectors <= 132 * 64)
        launch<32, 1>(v_a, s_a, v_b, s_b, v, s, vectors, head_vectors, shift, stream);
    else if (vectors <= 132 * 4096)
        launch<128, 1>(v_a, s_a, v_b, s_b, v, s, vectors, head_vectors, shift, stream);
    else
        launch<128, 2>(v_a, s_a, v_b, s_b, v, s, vectors, head_vectors, shift, stream);
}
