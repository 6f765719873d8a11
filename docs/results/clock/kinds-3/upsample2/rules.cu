/* Astra 0.1.0: upsample2, 2.83x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  55ad5098b18a303709b9ee958139030a53999e96c622a7c1889b6a8563f5ed95
 * task      ddffa8818ccedba52e3d68adfd467996cc86dfe53c0757b435ec9e4811f6cb4b
 * suite     7387a3b0accb6cc1b88f9925f72458e92d545e8ab2dbc9187421bbd0c597582d
 * seeds     1, hidden 1528366182683844
 * compiler  NVRTC 13.0
 * judged    5894072212d9ce6f773f6bef47612f479ff4fcdcd7769ba2494a2a0592797078
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

// A packed_store of values that this kernel does not need again (evict first).
template <int N, typename T> __device__ __forceinline__ void packed_store_once(T *to, const packed<T, N> &values)
{
    if constexpr (sizeof(values) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(values) / 16); i++)
            __stcs(reinterpret_cast<uint4 *>(to) + i, reinterpret_cast<const uint4 *>(&values)[i]);
    } else if constexpr (sizeof(values) == 8) {
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&values));
    } else if constexpr (sizeof(values) == 4) {
        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&values));
    } else {
        *reinterpret_cast<packed<T, N> *>(to) = values;
    }
}

__global__ void upsample(float *out, const float *in, int nc, int h, int w)
{
    long idx = (long)blockIdx.x * blockDim.x + threadIdx.x;
    long total = (long)nc * h * w * 4;
    if (idx >= total) return;
    int ox = idx % (2 * w);
    int oy = (idx / (2 * w)) % (2 * h);
    int p = idx / ((long)4 * w * h);
    out[idx] = in[((long)p * h + oy / 2) * w + ox / 2];
}

// As upsample, 4 elements at a time; its launch says when.
__global__ void upsample_vec4(float *out, const float *in, int nc, int h, int w)
{
#pragma unroll
    for (int item = 0; item < 2; item++) {
        long idx = ((long)(blockIdx.x * 2 + item) * 224 + threadIdx.x) * 4;
        long total = (long)nc * h * w * 4;
        if (idx >= total) return;
        int ox = idx % (2 * w);
        int oy = (idx / (2 * w)) % (2 * h);
        int p = idx / ((long)4 * w * h);
        packed<float, 4> out_v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            out_v.at[k] = __ldcs(&in[((long)p * h + oy / 2) * w + (ox + k) / 2]);
        }
        packed_store_once(&out[idx], out_v);
    }
}
extern "C" void upsample2(float *out, const float *in, int nc, int h, int w, cudaStream_t stream)
{
    long total = (long)nc * h * w * 4;
    // 4 elements at a time, where rows are whole vectors and buffers are aligned.
    if (w % 4 == 0 && (uintptr_t)out % 16 == 0) {
        upsample_vec4<<<(total + 1791) / 1792, 224, 0, stream>>>(out, in, nc, h, w);
    } else {
        upsample<<<(total + 223) / 224, 224, 0, stream>>>(out, in, nc, h, w);
    }
}
