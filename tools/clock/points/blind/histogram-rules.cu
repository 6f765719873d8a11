// counts[v] = how often the byte v occurs, a histogram per block in shared memory added to the one in global
// memory.
#include <cstdint>

constexpr int BINS = 256;

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

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();

    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&local[values[i]], 1u);
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (local[bin] != 0)
            atomicAdd(&counts[bin], local[bin]);
}

// As histogram_kernel, 16 elements at a time; its launch says when.
__global__ void histogram_kernel_vec16(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();

    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 16; i < n; i += stride * 16) {
        const packed<unsigned char, 16> values_v = packed_load<16>(&values[i]);
#pragma unroll
        for (int k = 0; k < 16; k++) {
            atomicAdd(&local[values_v.at[k]], 1u);
        }
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (local[bin] != 0)
            atomicAdd(&counts[bin], local[bin]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    int64_t wanted = (n + 511) / 512;
    int blocks = wanted < 264 ? (int)wanted : 264;
    cudaMemsetAsync(counts, 0, BINS * sizeof(unsigned), stream);
    // 16 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 16 == 0 && (uintptr_t)values % 16 == 0) {
        histogram_kernel_vec16<<<blocks, 512, 0, stream>>>(counts, values, n);
    } else {
        histogram_kernel<<<blocks, 512, 0, stream>>>(counts, values, n);
    }
}
