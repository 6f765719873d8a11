// expect: unsafe words what was there before
// row 15: Blocks add by atomics and count themselves by another one, with no fence: the last one's atomicAdd of zero may not have all of them.
#include <cstdint>

constexpr int CHUNK = 4096;

__global__ __launch_bounds__(256) void histogram_kernel(unsigned *__restrict__ counts, const unsigned char *__restrict__ values,
                                                        int64_t n, unsigned *sums, unsigned *come)
{
    __shared__ unsigned own[256];
    __shared__ bool last;
    own[threadIdx.x] = 0;
    __syncthreads();
    int64_t begin = (int64_t)blockIdx.x * CHUNK, end = begin + CHUNK < n ? begin + CHUNK : n;
    for (int64_t i = begin + threadIdx.x; i < end; i += 256)
        atomicAdd(own + values[i], 1u);
    __syncthreads();
    atomicAdd(sums + threadIdx.x, own[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(come, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last)
        counts[threadIdx.x] = atomicAdd(sums + threadIdx.x, 0u);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    unsigned *space;
    cudaMallocAsync((void **)&space, 257 * sizeof(unsigned), stream);
    cudaMemsetAsync(space, 0, 257 * sizeof(unsigned), stream);
    histogram_kernel<<<(unsigned)((n + CHUNK - 1) / CHUNK), 256, 0, stream>>>(counts, values, n, space, space + 256);
    cudaFreeAsync(space, stream);
}
