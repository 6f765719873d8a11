// Rotates the pairs (x[i], x[half_dim + i]) of every head by the angle of its token and i, in place; one thread
// per pair. cosine and sine are [tokens, half_dim], and a head holds 2 * half_dim values.
#include <cstdint>
#include <cuda_fp16.h>

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

__global__ void rotary_embedding_kernel(__half *x, const float *cosine, const float *sine, int tokens,
                                        int heads, int half_dim)
{
    int64_t pair = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= (int64_t)tokens * heads * half_dim)
        return;
    int64_t i = pair % half_dim;
    int64_t head = pair / half_dim;
    int64_t token = head / heads;
    int64_t first = head * 2 * half_dim + i;

    float a = __half2float(x[first]);
    float b = __half2float(x[first + half_dim]);
    float c = cosine[token * half_dim + i];
    float s = sine[token * half_dim + i];
    x[first] = __float2half(a * c - b * s);
    x[first + half_dim] = __float2half(b * c + a * s);
}

// As rotary_embedding_kernel, with 32-bit indices.
__global__ void rotary_embedding_kernel_narrow(__half *x, const float *cosine, const float *sine, int tokens,
                                               int heads, int half_dim)
{
    unsigned pair = (unsigned)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= (unsigned)tokens * heads * half_dim)
        return;
    unsigned i = pair % half_dim;
    unsigned head = pair / half_dim;
    unsigned token = head / heads;
    unsigned first = head * 2 * half_dim + i;

    float a = __half2float(x[first]);
    float b = __half2float(x[first + half_dim]);
    float c = cosine[token * half_dim + i];
    float s = sine[token * half_dim + i];
    x[first] = __float2half(a * c - b * s);
    x[first + half_dim] = __float2half(b * c + a * s);
}

// As rotary_embedding_kernel, 8 elements at a time; its launch says when.
__global__ void rotary_embedding_kernel_vec8(__half *x, const float *cosine, const float *sine, int tokens,
                                             int heads, int half_dim)
{
    int64_t pair = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (pair >= (int64_t)tokens * heads * half_dim)
        return;
    int64_t i = pair % half_dim;
    int64_t head = pair / half_dim;
    int64_t token = head / heads;
    int64_t first = head * 2 * half_dim + i;

    packed<__half, 8> x_v = packed_load<8>(&x[first]);
    packed<__half, 8> x_v2 = packed_load<8>(&x[first + half_dim]);
    const packed<float, 8> cosine_v = packed_load<8>(&cosine[token * half_dim + i]);
    const packed<float, 8> sine_v = packed_load<8>(&sine[token * half_dim + i]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float a = __half2float(x_v.at[k]);
        float b = __half2float(x_v2.at[k]);
        float c = cosine_v.at[k];
        float s = sine_v.at[k];
        x_v.at[k] = __float2half(a * c - b * s);
        x_v2.at[k] = __float2half(b * c + a * s);
    }
    packed_store(&x[first], x_v);
    packed_store(&x[first + half_dim], x_v2);
}

// As rotary_embedding_kernel_vec8, with 32-bit indices.
__global__ void rotary_embedding_kernel_vec8_narrow(__half *x, const float *cosine, const float *sine, int tokens,
                                                    int heads, int half_dim)
{
    unsigned pair = ((unsigned)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (pair >= (unsigned)tokens * heads * half_dim)
        return;
    unsigned i = pair % half_dim;
    unsigned head = pair / half_dim;
    unsigned token = head / heads;
    unsigned first = head * 2 * half_dim + i;

    packed<__half, 8> x_v = packed_load<8>(&x[first]);
    packed<__half, 8> x_v2 = packed_load<8>(&x[first + half_dim]);
    const packed<float, 8> cosine_v = packed_load<8>(&cosine[token * half_dim + i]);
    const packed<float, 8> sine_v = packed_load<8>(&sine[token * half_dim + i]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float a = __half2float(x_v.at[k]);
        float b = __half2float(x_v2.at[k]);
        float c = cosine_v.at[k];
        float s = sine_v.at[k];
        x_v.at[k] = __float2half(a * c - b * s);
        x_v2.at[k] = __float2half(b * c + a * s);
    }
    packed_store(&x[first], x_v);
    packed_store(&x[first + half_dim], x_v2);
}

// As it was before.
static void rotary_embedding_original(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads * half_dim;
    unsigned blocks = (unsigned)((pairs + 511) / 512);
    // All indices fit into 32 bits, with room for the last block.
    if ((int64_t)tokens * heads * half_dim <= 268435456) {
        rotary_embedding_kernel_narrow<<<blocks, 512, 0, stream>>>(x, cosine, sine, tokens, heads, half_dim);
    } else {
        rotary_embedding_kernel<<<blocks, 512, 0, stream>>>(x, cosine, sine, tokens, heads, half_dim);
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    // At these sizes the original is the faster one.
    if (tokens <= 8) {
        rotary_embedding_original(x, cosine, sine, tokens, heads, half_dim, stream);
        return;
    }
    int64_t pairs = (int64_t)tokens * heads * half_dim;
    unsigned blocks = (unsigned)((pairs + 511) / 512);
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (half_dim % 8 == 0 && (uintptr_t)x % 16 == 0 && (uintptr_t)cosine % 16 == 0 &&
        (uintptr_t)sine % 16 == 0) {
        // All indices fit into 32 bits, with room for the last block.
        if ((int64_t)tokens * heads * half_dim <= 268435456) {
            rotary_embedding_kernel_vec8_narrow<<<(blocks + 7) / 8, 512, 0, stream>>>(x, cosine, sine, tokens,
                heads, half_dim);
        } else {
            rotary_embedding_kernel_vec8<<<(blocks + 7) / 8, 512, 0, stream>>>(x, cosine, sine, tokens, heads,
                                                                              half_dim);
        }
    } else {
        // All indices fit into 32 bits, with room for the last block.
        if ((int64_t)tokens * heads * half_dim <= 268435456) {
            rotary_embedding_kernel_narrow<<<blocks, 512, 0, stream>>>(x, cosine, sine, tokens, heads,
                                                                       half_dim);
        } else {
            rotary_embedding_kernel<<<blocks, 512, 0, stream>>>(x, cosine, sine, tokens, heads, half_dim);
        }
    }
}
