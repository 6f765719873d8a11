// expect: unsafe words nothing wrote shared memory
// row 16: The counters in shared memory are not cleared.
#include <cstdint>

constexpr int BINS = 256;

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        ;
    __syncthreads();

    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&local[values[i]], 1u);
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (local[bin] != 0)
            atomicAdd(&counts[bin], local[bin]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    int64_t wanted = (n + 127) / 128;
    int blocks = wanted < 264 ? (int)wanted : 264;
    cudaMemsetAsync(counts, 0, BINS * sizeof(unsigned), stream);
    histogram_kernel<<<blocks, 128, 0, stream>>>(counts, values, n);
}
