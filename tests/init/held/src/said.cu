// What a file takes for granted of headers that nobody reads: checks around the runtime's calls, a helper of a library,
// names of integers, a type that is called like the runtime's functions, states of random numbers, words of C++20.
#include <curand_kernel.h>

__global__ void halve_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * 0.5f;
}

// a namespace of which nothing but the launcher is
namespace host {
void launch_halves(const float *x, float *y, int n, cudaStream_t stream)
{
    RUNTIME_TRY(cudaMemsetAsync(y, 0, n * sizeof(float), stream));
    halve_each<<<divUp(n, 256), 256, 0, stream>>>(x, y, n);
    RUNTIME_TRY(cudaPeekAtLastError());
    if (stream == 0)
        RUNTIME_TRY(cudaDeviceSynchronize());
}
} // namespace host

__global__ void add_lengths(const int32 *a, const int32 *b, int32 *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

template <typename T> struct cudaBaseOf;
template <> struct cudaBaseOf<float2> {
    typedef float Base;
};

template <typename T> __device__ T both(typename cudaBaseOf<T>::Base x)
{
    return T{x, x};
}

__global__ void pair_each(const float *x, float2 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = both<float2>(x[i]);
}

struct Range {
    int first, last;
};

__device__ Range range_of(int i)
{
    return Range{.first = i, .last = i + 1};
}

__global__ void range_sizes(int *sizes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sizes[i] = range_of(i).last - range_of(i).first;
}

__global__ void take_flags(const curandStatePhilox4_32_10_t *states, int *flags, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        flags[i] = states[i].boxmuller_flag;
}
