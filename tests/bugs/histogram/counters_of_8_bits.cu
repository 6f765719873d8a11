// expect: wrong
// row 12: A block's counters have eight bits: enough for even values, not for one that comes again and again.
#include <cstdint>

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[64];
    if (threadIdx.x < 64)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        atomicAdd(&local[values[i] / 4], 1u << values[i] % 4 * 8);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x / 4] >> threadIdx.x % 4 * 8 & 255);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, blocks = (n + 8191) / 8192;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<blocks, 256, 0, stream>>>(counts, values, n);
}
