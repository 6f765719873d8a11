// out = (in - mean) / sqrt(variance + eps) * weight + bias over each row, as two kernels: the row statistics
// into a workspace, then one thread per element.
#include <cstdint>
#include <cuda_fp16.h>

#define THREADS 256

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

__global__ void row_statistics(float *mean, float *rstd, const __half *in, int d, float eps)
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
    if (tid == 0) {
        mean[blockIdx.x] = average;
        rstd[blockIdx.x] = 1.0f / sqrtf(partial[0] / d + eps);
    }
}

// As row_statistics, 8 elements at a time; its launch says when.
__global__ void row_statistics_vec8(float *mean, float *rstd, const __half *in, int d, float eps)
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
    if (tid == 0) {
        mean[blockIdx.x] = average;
        rstd[blockIdx.x] = 1.0f / sqrtf(squares / d + eps);
    }
}

__global__ void normalize(__half *out, const __half *in, const __half *weight, const __half *bias,
                          const float *mean, const float *rstd, int64_t total, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    int64_t row = i / d;
    int64_t column = i % d;
    float value = (__half2float(in[i]) - mean[row]) * rstd[row];
    out[i] = __float2half(value * __half2float(weight[column]) + __half2float(bias[column]));
}

// As normalize, 8 elements at a time; its launch says when.
__global__ void normalize_vec8(__half *out, const __half *in, const __half *weight, const __half *bias,
                               const float *mean, const float *rstd, int64_t total, int d)
{
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= total)
        return;
    int64_t row = i / d;
    int64_t column = i % d;
    const packed<__half, 8> in_v = packed_load<8>(&in[i]);
    const packed<__half, 8> weight_v = packed_load<8>(&weight[column]);
    const packed<__half, 8> bias_v = packed_load<8>(&bias[column]);
    packed<__half, 8> out_v;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float value = (__half2float(in_v.at[k]) - mean[row]) * rstd[row];
        out_v.at[k] = __float2half(value * __half2float(weight_v.at[k]) + __half2float(bias_v.at[k]));
    }
    packed_store(&out[i], out_v);
}

// As normalize_vec8, with 32-bit indices.
__global__ void normalize_vec8_narrow(__half *out, const __half *in, const __half *weight, const __half *bias,
                                      const float *mean, const float *rstd, unsigned total, int d)
{
    unsigned i = ((unsigned)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= total)
        return;
    unsigned row = i / d;
    unsigned column = i % d;
    const packed<__half, 8> in_v = packed_load<8>(&in[i]);
    const packed<__half, 8> weight_v = packed_load<8>(&weight[column]);
    const packed<__half, 8> bias_v = packed_load<8>(&bias[column]);
    packed<__half, 8> out_v;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float value = (__half2float(in_v.at[k]) - mean[row]) * rstd[row];
        out_v.at[k] = __float2half(value * __half2float(weight_v.at[k]) + __half2float(bias_v.at[k]));
    }
    packed_store(&out[i], out_v);
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    float *statistics;
    if (cudaMallocAsync((void **)&statistics, 2 * (size_t)rows * sizeof(float), stream) != cudaSuccess)
        return;
    float *mean = statistics;
    float *rstd = statistics + rows;
    int64_t total = (int64_t)rows * d;
    unsigned blocks = (unsigned)((total + THREADS - 1) / THREADS);
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 8 == 0 && (uintptr_t)in % 16 == 0) {
        // As many threads as a row has work for, in whole warps.
        const int threads = d >= 4096 ? 512 : ((int)(d / 8) + 31) / 32 * 32;
        row_statistics_vec8<<<rows, threads, 0, stream>>>(mean, rstd, in, d, eps);
    } else {
        row_statistics<<<rows, THREADS, 0, stream>>>(mean, rstd, in, d, eps);
    }
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 8 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)weight % 16 == 0 &&
        (uintptr_t)bias % 16 == 0 && (uintptr_t)out % 16 == 0) {
        // All indices fit into 32 bits, with room for the last block.
        if (total <= 1073741824) {
            normalize_vec8_narrow<<<(blocks + 7) / 8, THREADS, 0, stream>>>(out, in, weight, bias, mean, rstd,
                                                                            total, d);
        } else {
            normalize_vec8<<<(blocks + 7) / 8, THREADS, 0, stream>>>(out, in, weight, bias, mean, rstd, total, d);
        }
    } else {
        normalize<<<blocks, THREADS, 0, stream>>>(out, in, weight, bias, mean, rstd, total, d);
    }
    cudaFreeAsync(statistics, stream);
}
