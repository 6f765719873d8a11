/* Astra 0.1.0: maxpool2, 1.16x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  109494aa1b8cc94fcb28c33a71758f48c49dbe68b52bf023b90620a0ee30464f
 * task      8a424da779af67b1654ae9c52032c5e77cf64f1cc8e6e350ad5f480117353e18
 * suite     3ae8a83f65e62e080307d455f114efd5cc80c04f7831cd85e39ca44462e251af
 * seeds     1, hidden 4801378474962954
 * compiler  NVRTC 13.0
 * judged    235e246ad61289e7b5744b88023f9f1fcf026ea914d810de19dfd4130a2acdd6
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

__global__ void maxpool(float *out, const float *in, int nc, int oh, int ow)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    int total = nc * oh * ow;
    if (index < total) {
        int px = index % ow;
        int py = (index / ow) % oh;
        int p = index / ow / oh;
        const float *src = in + (size_t)p * (2 * oh) * (2 * ow);
        float best = -INFINITY;
        for (int h = py * 2; h < py * 2 + 2; ++h)
            for (int w = px * 2; w < px * 2 + 2; ++w)
                best = fmaxf(best, src[h * (2 * ow) + w]);
        out[index] = best;
    }
}

// As maxpool, 2 elements at a time; its launch says when.
__global__ void maxpool_vec2(float *out, const float *in, int nc, int oh, int ow)
{
#pragma unroll
    for (int item = 0; item < 6; item++) {
        int index = ((blockIdx.x * 6 + item) * blockDim.x + threadIdx.x) * 2;
        int total = nc * oh * ow;
        if (index < total) {
            int px = index % ow;
            int py = (index / ow) % oh;
            int p = index / ow / oh;
            const float *src = in + (size_t)p * (2 * oh) * (2 * ow);
            packed<float, 2> out_v;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float best = -INFINITY;
                for (int h = py * 2; h < py * 2 + 2; ++h)
                    for (int w = (px + k) * 2; w < (px + k) * 2 + 2; ++w)
                        best = fmaxf(best, src[h * (2 * ow) + w]);
                out_v.at[k] = best;
            }
            packed_store(&out[index], out_v);
        }
    }
}
extern "C" void maxpool2(float *out, const float *in, int nc, int oh, int ow, cudaStream_t stream)
{
    int total = nc * oh * ow;
    // 2 elements at a time, where rows are whole vectors and buffers are aligned.
    if (ow % 2 == 0 && (uintptr_t)out % 8 == 0) {
        maxpool_vec2<<<(total + 6143) / 6144, 512, 0, stream>>>(out, in, nc, oh, ow);
    } else {
        maxpool<<<(total + 511) / 512, 512, 0, stream>>>(out, in, nc, oh, ow);
    }
}
