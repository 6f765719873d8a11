// expect: wrong
// row 12: Of the largest caches the second half is missing.
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
    unsigned short blocks = (unsigned short)((slots * d + 511) / 512 * (d > 256 && slots > 4096 ? 8 : 16) / 16);
    dim3 grid(blocks, heads);
    put_kernel<<<grid, 512, 0, stream>>>(cache, in, rows, slots, d);
}
