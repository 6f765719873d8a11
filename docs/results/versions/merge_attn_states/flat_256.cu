// A thread per 16 bytes of the flat array, blocks of 256.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int VEC = 8; // halves in 16 bytes

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

struct weights {
    float a, b; // they sum to 1, or both are 0 when neither side saw anything
    float lse;
};

__device__ __forceinline__ weights merge_weights(float a, float b)
{
    const float largest = fmaxf(a, b);
    if (largest == -CUDART_INF_F)
        return {0.0f, 0.0f, -CUDART_INF_F};
    const float weight_a = exp2f(a - largest), weight_b = exp2f(b - largest);
    const float scale = 1.0f / (weight_a + weight_b);
    return {weight_a * scale, weight_b * scale, largest + log2f(weight_a + weight_b)};
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

__global__ void merge_flat_kernel(const uint4 *__restrict__ v_a, const float *__restrict__ s_a,
                                  const uint4 *__restrict__ v_b, const float *__restrict__ s_b,
                                  uint4 *__restrict__ v, float *__restrict__ s, int64_t vectors,
                                  int head_vectors)
{
    const int64_t vector = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (vector >= vectors)
        return;
    const int64_t state = vector / head_vectors;
    const weights w = merge_weights(s_a[state], s_b[state]);
    v[vector] = merge_vector(v_a[vector], v_b[vector], w);
    if (vector == state * head_vectors)
        s[state] = w.lse;
}

__global__ void merge_scalar_kernel(const __half *__restrict__ v_a, const float *__restrict__ s_a,
                                    const __half *__restrict__ v_b, const float *__restrict__ s_b,
                                    __half *__restrict__ v, float *__restrict__ s, int64_t total, int dim)
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
    const bool aligned = (uintptr_t)v_a % 16 == 0 && (uintptr_t)v_b % 16 == 0 && (uintptr_t)v % 16 == 0;
    if (dim % VEC != 0 || !aligned) {
        merge_scalar_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s,
                                                                                 total, dim);
        return;
    }
    const int head_vectors = dim / VEC;
    const int64_t token_vectors = (int64_t)heads * head_vectors;
    const uint4 *a = (const uint4 *)v_a;
    const uint4 *b = (const uint4 *)v_b;
    const int64_t vectors = tokens * token_vectors;
    merge_flat_kernel<<<(unsigned)((vectors + 255) / 256), 256, 0, stream>>>(a, s_a, b, s_b, (uint4 *)v, s,
                                                                             vectors, head_vectors);
}
