#include <cuda_runtime.h>
// A histogram a warp, four keys a load, all loads before the first count.
__global__ void count_digits(int *__restrict__ counts, const uint4 *__restrict__ keys, int shift)
{
    __shared__ int bins[8][256];
    uint4 mine[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        mine[k] = keys[(size_t)blockIdx.x * 1024 + k * 256 + threadIdx.x];
#pragma unroll
    for (int k = 0; k < 8; k++)
        bins[k][threadIdx.x] = 0;
    __syncthreads();
    int *own = bins[threadIdx.x / 32];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        atomicAdd(&own[mine[k].x >> shift & 255], 1);
        atomicAdd(&own[mine[k].y >> shift & 255], 1);
        atomicAdd(&own[mine[k].z >> shift & 255], 1);
        atomicAdd(&own[mine[k].w >> shift & 255], 1);
    }
    __syncthreads();
    int sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += bins[k][threadIdx.x];
    counts[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}
extern "C" void radix_count(int *counts, const unsigned *keys, int parts, int shift, cudaStream_t stream)
{
    count_digits<<<parts, 256, 0, stream>>>(counts, (const uint4 *)keys, shift);
}
