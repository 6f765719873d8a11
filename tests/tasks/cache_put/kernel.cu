// The rows of a cache that are new, transposed into its slots; the other slots stay as they are.
#include <cuda_runtime.h>

__global__ void put_kernel(float *cache, const float *in, int rows, int slots, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y;
    if (i >= slots * d)
        return;
    int slot = i % slots, column = i / slots;
    if (slot < rows)
        cache[(size_t)head * slots * d + i] = in[(size_t)head * rows * d + slot * d + column];
}

extern "C" void cache_put(float *cache, const float *in, int rows, int slots, int d, int heads, cudaStream_t stream)
{
    dim3 grid((slots * d + 127) / 128, heads);
    put_kernel<<<grid, 128, 0, stream>>>(cache, in, rows, slots, d);
}
