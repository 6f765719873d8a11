// Merges two partial attention results by their base-2 log-sum-exp, one thread per element of v.
// A side whose log-sum-exp is -inf saw nothing and weighs nothing; when both did, v is 0 and s is -inf.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

// N neighbouring values that move as one access (as several of 16 bytes when they are longer).
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) packed {
    T at[N];
};

template <int N, typename T> __device__ __forceinline__ packed<T, N> packed_load(const T *from)
{
    return *reinterpret_cast<const packed<T, N> *>(from);
}

template <int N, typename T> __device__ __forceinline__ void packed_store(T *to, const packed<T, N> &values)
{
    *reinterpret_cast<packed<T, N> *>(to) = values;
}

__global__ void merge_attn_states_kernel(const __half *v_a, const float *s_a, const __half *v_b,
                                         const float *s_b, __half *v, float *s, int tokens, int heads, int dim)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)tokens * heads * dim)
        return;
    int64_t token = i / ((int64_t)heads * dim);
    int64_t head = i / dim % heads;
    int64_t column = i % dim;

    float a = s_a[token * heads + head];
    float b = s_b[token * heads + head];
    float largest = fmaxf(a, b);
    float weight_a = largest == -CUDART_INF_F ? 0.0f : exp2f(a - largest);
    float weight_b = largest == -CUDART_INF_F ? 0.0f : exp2f(b - largest);
    float sum = weight_a + weight_b;

    float value = __half2float(v_a[i]) * weight_a + __half2float(v_b[i]) * weight_b;
    v[i] = __float2half(sum > 0.0f ? value / sum : 0.0f);
    if (column == 0)
        s[token * heads + head] = largest + log2f(sum);
}

// As merge_attn_states_kernel, 8 elements at a time; its launch says when.
__global__ void merge_attn_states_kernel_vec8(const __half *v_a, const float *s_a, const __half *v_b,
                                              const float *s_b, __half *v, float *s, int tokens, int heads, int dim)
{
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= (int64_t)tokens * heads * dim)
        return;
    int64_t token = i / ((int64_t)heads * dim);
    int64_t head = i / dim % heads;
    int64_t column = i % dim;

    float a = s_a[token * heads + head];
    float b = s_b[token * heads + head];
    float largest = fmaxf(a, b);
    float weight_a = largest == -CUDART_INF_F ? 0.0f : exp2f(a - largest);
    float weight_b = largest == -CUDART_INF_F ? 0.0f : exp2f(b - largest);
    float sum = weight_a + weight_b;

    const packed<__half, 8> v_a_v = packed_load<8>(&v_a[i]);
    const packed<__half, 8> v_b_v = packed_load<8>(&v_b[i]);
    packed<__half, 8> v_v;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float value = __half2float(v_a_v.at[k]) * weight_a + __half2float(v_b_v.at[k]) * weight_b;
        v_v.at[k] = __float2half(sum > 0.0f ? value / sum : 0.0f);
    }
    packed_store(&v[i], v_v);
    if (column == 0)
        s[token * heads + head] = largest + log2f(sum);
}

// As merge_attn_states_kernel_vec8, with 32-bit indices.
__global__ void merge_attn_states_kernel_vec8_narrow(const __half *v_a, const float *s_a, const __half *v_b,
                                                     const float *s_b, __half *v, float *s, int tokens, int heads, int dim)
{
    unsigned i = ((unsigned)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= (unsigned)tokens * heads * dim)
        return;
    unsigned token = i / ((unsigned)heads * dim);
    unsigned head = i / dim % heads;
    unsigned column = i % dim;

    float a = s_a[token * heads + head];
    float b = s_b[token * heads + head];
    float largest = fmaxf(a, b);
    float weight_a = largest == -CUDART_INF_F ? 0.0f : exp2f(a - largest);
    float weight_b = largest == -CUDART_INF_F ? 0.0f : exp2f(b - largest);
    float sum = weight_a + weight_b;

    const packed<__half, 8> v_a_v = packed_load<8>(&v_a[i]);
    const packed<__half, 8> v_b_v = packed_load<8>(&v_b[i]);
    packed<__half, 8> v_v;
    const float inverse_sum = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float value = __half2float(v_a_v.at[k]) * weight_a + __half2float(v_b_v.at[k]) * weight_b;
        v_v.at[k] = __float2half(sum > 0.0f ? value * inverse_sum : 0.0f);
    }
    packed_store(&v[i], v_v);
    if (column == 0)
        s[token * heads + head] = largest + log2f(sum);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t total = (int64_t)tokens * heads * dim;
    unsigned blocks = (unsigned)((total + 127) / 128);
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (dim % 8 == 0 && (uintptr_t)v_a % 16 == 0 && (uintptr_t)v_b % 16 == 0 &&
        (uintptr_t)v % 16 == 0) {
        // All indices fit into 32 bits, with room for the last block.
        if ((int64_t)tokens * heads * dim <= 536870912) {
            merge_attn_states_kernel_vec8_narrow<<<(blocks + 7) / 8, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v,
                s, tokens, heads, dim);
        } else {
            merge_attn_states_kernel_vec8<<<(blocks + 7) / 8, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, tokens,
                                                                                heads, dim);
        }
    } else {
        merge_attn_states_kernel<<<blocks, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, tokens, heads, dim);
    }
}
