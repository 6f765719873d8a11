// A histogram of a block in shared memory; its additions, assignments and reads.
// transform: spread-counters 8
// applies: line 16
// has: __shared__ unsigned local[BINS * 8];
// has: spread_set<8>(&local[bin * 8], 0);
// has: atomicAdd(&local[in[i] * 8 + threadIdx.x % 8], 1u);
// has: atomicAdd(&local[(in[i] & 15) * 8 + threadIdx.x % 8], 2u);
// has: if (spread_sum<8>(&local[bin * 8]) != 0)
// has: atomicAdd(&counts[bin], spread_sum<8>(&local[bin * 8]));
#include <cuda_runtime.h>

constexpr int BINS = 256;

__global__ void work(unsigned *counts, const unsigned char *in, int n)
{
    __shared__ unsigned local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1u);
        atomicAdd(local + (in[i] & 15), 2u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (local[bin] != 0)
            atomicAdd(&counts[bin], local[bin]);
}

extern "C" void entry(unsigned *counts, const unsigned char *in, int n, cudaStream_t stream)
{
    work<<<264, 256, 0, stream>>>(counts, in, n);
}
