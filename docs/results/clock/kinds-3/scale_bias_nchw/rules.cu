/* Astra 0.1.0: scale_bias_nchw, 1.39x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  1bc1f804a226eace77c0e46cb434bd1694a59e42a962294b6a7ac6fac9886b25
 * task      8748bee957ffca1a36a37e5513396cada116d8e6f0ae94135701d236a94ac92f
 * suite     6b3fbd8658a1cc5ef6461760cc2e9123d07e26eb169da12cf8f488133c6d8001
 * seeds     1, hidden 7550596024172987
 * compiler  NVRTC 13.0
 * judged    e3d71908f63f0276297cb4d1c171830b5ca204cddcde3a09345f5f82cecc7708
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

__global__ void scale_bias(float *out, const float *in, const float *scale, const float *bias, int total, int c, int hw)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        int ch = (i / hw) % c;
        float v = in[i] * scale[ch] + bias[ch];
        out[i] = v > 0.0f ? v : 0.0f;
    }
}

// As scale_bias, 4 elements at a time; its launch says when.
__global__ void scale_bias_vec4(float *out, const float *in, const float *scale, const float *bias, int total, int c, int hw)
{
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4; i < total; i += gridDim.x * blockDim.x * 4) {
        const packed<float, 4> in_v = packed_load<4>(&in[i]);
        int ch = (i / hw) % c;
        packed<float, 4> out_v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float v = in_v.at[k] * scale[ch] + bias[ch];
            out_v.at[k] = v > 0.0f ? v : 0.0f;
        }
        packed_store(&out[i], out_v);
    }
}
extern "C" void scale_bias_nchw(float *out, const float *in, const float *scale, const float *bias, int n, int c, int hw, cudaStream_t stream)
{
    int total = n * c * hw;
    int blocks = (total + 447) / 448;
    if (blocks > 4096) blocks = 4096;
    // 4 elements at a time, where rows are whole vectors and buffers are aligned.
    if (hw % 4 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)out % 16 == 0) {
        scale_bias_vec4<<<(blocks + 3) / 4, 448, 0, stream>>>(out, in, scale, bias, total, c, hw);
    } else {
        scale_bias<<<blocks, 448, 0, stream>>>(out, in, scale, bias, total, c, hw);
    }
}
