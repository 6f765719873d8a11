/* Astra 0.1.0: permute0213, 2.40x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  13a49c878c8d7ae72df3de32aebc0040ddba9268366a7f0067dd1d1d3015d42c
 * task      b7ab764e33b6564d5096fbc6434991eb2bc6c548122ea76462b336ae45100982
 * suite     a607cbb3758c7056decd994e45ca1719c746127d7d17a5e78ca2e590ddebadab
 * seeds     1, hidden 5327815154620170
 * compiler  NVRTC 13.0
 * judged    3889bda55f01203cb70139788f3909c9f7fb2bb21c8433383171aad90b32b023
 * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. */
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

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

__global__ void permute(__half *out, const __half *in, int b, int s, int h, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b * s * h * d)
        return;
    int dd = i % d;
    int ss = i / d % s;
    int hh = i / d / s % h;
    int bb = i / d / s / h;
    out[i] = in[((bb * s + ss) * h + hh) * d + dd];
}

// As permute, 8 elements at a time; its launch says when.
__global__ void permute_vec8(__half *out, const __half *in, int b, int s, int h, int d)
{
    int i = (blockIdx.x * 256 + threadIdx.x) * 8;
    if (i >= b * s * h * d)
        return;
    int dd = i % d;
    int ss = i / d % s;
    int hh = i / d / s % h;
    int bb = i / d / s / h;
    const packed<__half, 8> in_v = packed_load<8>(&in[((bb * s + ss) * h + hh) * d + dd]);
    packed<__half, 8> out_v;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        out_v.at[k] = in_v.at[k];
    }
    packed_store(&out[i], out_v);
}
extern "C" void permute0213(__half *out, const __half *in, int b, int s, int h, int d, cudaStream_t stream)
{
    int n = b * s * h * d;
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 8 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)out % 16 == 0) {
        permute_vec8<<<(n + 2047) / 2048, 256, 0, stream>>>(out, in, b, s, h, d);
    } else {
        permute<<<(n + 255) / 256, 256, 0, stream>>>(out, in, b, s, h, d);
    }
}
