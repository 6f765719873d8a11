#include <cuda_runtime.h>
// How many keys of each part have each digit; a block a part, one histogram in shared memory.
__global__ void count_digits(int *counts, const unsigned *keys, int shift)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < 4096; k += 256)
        atomicAdd(&bins[keys[(size_t)blockIdx.x * 4096 + k] >> shift & 255], 1);
    __syncthreads();
    counts[(size_t)blockIdx.x * 256 + threadIdx.x] = bins[threadIdx.x];
}
extern "C" void radix_count(int *counts, const unsigned *keys, int parts, int shift, cudaStream_t stream)
{
    count_digits<<<parts, 256, 0, stream>>>(counts, keys, shift);
}
