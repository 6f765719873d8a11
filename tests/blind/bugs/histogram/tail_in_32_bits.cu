// Wrong: words of 16 bytes are counted by the grid, the rest of n % 16 by block 0's first threads, but the place of the tail is kept in 32 bits.
#include <cstdint>
__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    const uint4 *wide = (const uint4 *)values;
    int64_t words = n / 16;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < words; i += (int64_t)gridDim.x * 256) {
        uint4 q = wide[i];
        unsigned p[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int k = 0; k < 16; k++)
            atomicAdd(&local[p[k / 4] >> k % 4 * 8 & 255], 1u);
    }
    unsigned tail = (unsigned)words * 16u;
    if (blockIdx.x == 0 && threadIdx.x < n % 16)
        atomicAdd(&local[values[tail + threadIdx.x]], 1u);
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(counts + threadIdx.x, local[threadIdx.x]);
}
extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n / 16 + 255) / 256 + 1;
    cudaMemsetAsync(counts, 0, 1024, stream);
    histogram_kernel<<<(unsigned)(wanted < 528 ? wanted : 528), 256, 0, stream>>>(counts, values, n);
}
