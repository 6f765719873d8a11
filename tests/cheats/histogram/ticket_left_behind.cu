// expect: cheat words state survives
// row 4: Clears the counts on the first call only, told by a counter of calls.
#include <cstdint>

__device__ unsigned calls;

__global__ void clear(unsigned *counts)
{
    if (calls == 0)
        counts[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        calls++;
}

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        atomicAdd(&local[values[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, blocks = n < 256 * 132 ? (n + 255) / 256 : 132;
    clear<<<1, 256, 0, stream>>>(counts);
    histogram_kernel<<<blocks, 256, 0, stream>>>(counts, values, n);
}
