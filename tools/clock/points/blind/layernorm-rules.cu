// out = (in - mean) / sqrt(variance + eps) * weight + bias over each row, as two kernels: the row statistics
// into a workspace, then one thread per element.
#include <cstdint>
#include <cuda_fp16.h>

#define THREADS 1024

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

__global__ void row_statistics_normalize(const __half *in, int d, float eps, __half *out, const __half *weight,
                                         const __half *bias)
{
    __shared__ float partial[THREADS];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x)
        sum += __half2float(in[row + i]);
    partial[tid] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    float average = partial[0] / d;
    __syncthreads();

    float squares = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float difference = __half2float(in[row + i]) - average;
        squares += difference * difference;
    }
    partial[tid] = squares;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    __shared__ float row_mean;
    __shared__ float row_rstd;
    if (tid == 0) {
        row_mean = average;
        row_rstd = 1.0f / sqrtf(partial[0] / d + eps);
    }
    __syncthreads();
    for (int i = tid; i < d; i += blockDim.x) {
        float value = (__half2float(in[row + i]) - row_mean) * row_rstd;
        out[row + i] = __float2half(value * __half2float(weight[i]) + __half2float(bias[i]));
    }
}

// As row_statistics_normalize, 8 elements at a time; its launch says when.
__global__ void row_statistics_normalize_vec8(const __half *in, int d, float eps, __half *out, const __half *weight,
                                              const __half *bias)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid * 8; i < d; i += blockDim.x * 8) {
        const packed<__half, 8> in_v = packed_load<8>(&in[row + i]);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += __half2float(in_v.at[k]);
        }
    }
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    sum = tid % 32 < blockDim.x / 32 ? partial[tid % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    float average = sum / d;
    __syncthreads();

    float squares = 0.0f;
    for (int i = tid * 8; i < d; i += blockDim.x * 8) {
        const packed<__half, 8> in_v = packed_load<8>(&in[row + i]);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float difference = __half2float(in_v.at[k]) - average;
            squares += difference * difference;
        }
    }
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = squares;
    __syncthreads();
    squares = tid % 32 < blockDim.x / 32 ? partial[tid % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    __shared__ float row_mean;
    __shared__ float row_rstd;
    if (tid == 0) {
        row_mean = average;
        row_rstd = 1.0f / sqrtf(squares / d + eps);
    }
    __syncthreads();
    for (int i = tid * 8; i < d; i += blockDim.x * 8) {
        const packed<__half, 8> in_v = packed_load<8>(&in[row + i]);
        const packed<__half, 8> weight_v = packed_load<8>(&weight[i]);
        const packed<__half, 8> bias_v = packed_load<8>(&bias[i]);
        packed<__half, 8> out_v;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float value = (__half2float(in_v.at[k]) - row_mean) * row_rstd;
            out_v.at[k] = __float2half(value * __half2float(weight_v.at[k]) + __half2float(bias_v.at[k]));
        }
        packed_store(&out[row + i], out_v);
    }
}

// As row_statistics_normalize_vec8, with a row of at most 1 steps of the block kept in registers.
__global__ void row_statistics_normalize_vec8_keep1(const __half *in, int d, float eps, __half *out, const __half *weight,
                                                    const __half *bias)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    packed<__half, 8> in_kept[1]; // read again below
#pragma unroll
    for (int item = 0; item < 1; item++) {
        const int i = tid * 8 + item * THREADS * 8;
        if (i < d) {
            const packed<__half, 8> in_v = packed_load<8>(&in[row + i]);
            in_kept[item] = in_v;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                sum += __half2float(in_v.at[k]);
            }
        }
    }
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    sum = tid % 32 < THREADS / 32 ? partial[tid % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    float average = sum / d;
    __syncthreads();

    float squares = 0.0f;
#pragma unroll
    for (int item = 0; item < 1; item++) {
        const int i = tid * 8 + item * THREADS * 8;
        if (i < d) {
            const packed<__half, 8> in_v = in_kept[item];
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float difference = __half2float(in_v.at[k]) - average;
                squares += difference * difference;
            }
        }
    }
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = squares;
    __syncthreads();
    squares = tid % 32 < THREADS / 32 ? partial[tid % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    __shared__ float row_mean;
    __shared__ float row_rstd;
    if (tid == 0) {
        row_mean = average;
        row_rstd = 1.0f / sqrtf(squares / d + eps);
    }
    __syncthreads();
#pragma unroll
    for (int item = 0; item < 1; item++) {
        const int i = tid * 8 + item * THREADS * 8;
        if (i < d) {
            const packed<__half, 8> in_v = in_kept[item];
            const packed<__half, 8> weight_v = packed_load<8>(&weight[i]);
            const packed<__half, 8> bias_v = packed_load<8>(&bias[i]);
            packed<__half, 8> out_v;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float value = (__half2float(in_v.at[k]) - row_mean) * row_rstd;
                out_v.at[k] = __float2half(value * __half2float(weight_v.at[k]) + __half2float(bias_v.at[k]));
            }
            packed_store(&out[row + i], out_v);
        }
    }
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 8 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)weight % 16 == 0 &&
        (uintptr_t)bias % 16 == 0 && (uintptr_t)out % 16 == 0) {
        if (d <= 8 * THREADS) { // the registers hold the row
            row_statistics_normalize_vec8_keep1<<<rows, THREADS, 0, stream>>>(in, d, eps, out, weight, bias);
        } else {
            row_statistics_normalize_vec8<<<rows, THREADS, 0, stream>>>(in, d, eps, out, weight, bias);
        }
    } else {
        row_statistics_normalize<<<rows, THREADS, 0, stream>>>(in, d, eps, out, weight, bias);
    }
}
