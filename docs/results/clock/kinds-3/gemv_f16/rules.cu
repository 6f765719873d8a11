/* Astra 0.1.0: gemv_f16, 3.71x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  5140d23d19211cbf1c58fe6ed273f6ecc821b32e95b5be0683f6cbe49d505ca3
 * task      e2842fc18ee211a151936bc7504f1dedc5c682035e8d4a0094e59fc39d3e054a
 * suite     ddc99d041f3061f3eef1471d5ad4acb8c42ac2bc934c8527a7f368fae7e1145f
 * seeds     1, hidden 6871561724196733
 * compiler  NVRTC 13.0
 * judged    3f859ae4e5aea62f3d3cbd8c15712b1b3b8da64545106f417b98ac59312e58c4
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

__global__ void gemv(__half *y, const __half *a, const __half *x, int m, int k)
{
    int row = blockIdx.x;
    __shared__ float part[256];
    float s = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        s += __half2float(a[(size_t)row * k + i]) * __half2float(x[i]);
    part[threadIdx.x] = s;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o)
            part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[row] = __float2half(part[0]);
}

// As gemv, 8 elements at a time; its launch says when.
__global__ void __launch_bounds__(128)
    gemv_vec8(__half *__restrict__ y, const __half *__restrict__ a, const __half *__restrict__ x,
              int m, int k)
{
    int row = blockIdx.x;
    __shared__ float part[32];
    float s = 0.0f;
    for (int i = threadIdx.x * 8; i < k; i += 128 * 8) {
        const packed<__half, 8> a_v = packed_load<8>(&a[(size_t)row * k + i]);
        const packed<__half, 8> x_v = packed_load<8>(&x[i]);
#pragma unroll
        for (int k2 = 0; k2 < 8; k2++) {
            s += __half2float(a_v.at[k2]) * __half2float(x_v.at[k2]);
        }
    }
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, distance);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    s = threadIdx.x % 32 < 128 / 32 ? part[threadIdx.x % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, distance);
    if (threadIdx.x == 0)
        y[row] = __float2half(s);
}
extern "C" void gemv_f16(__half *y, const __half *a, const __half *x, int m, int k, cudaStream_t stream)
{
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (k % 8 == 0 && (uintptr_t)a % 16 == 0 && (uintptr_t)x % 16 == 0) {
        gemv_vec8<<<m, 128, 0, stream>>>(y, a, x, m, k);
    } else {
        gemv<<<m, 128, 0, stream>>>(y, a, x, m, k);
    }
}
