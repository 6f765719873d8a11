// The first 12 bits of 64 have 4096 values.
// transform: privatise 4
// applies: line 15
// has: __shared__ int rank_own[4096];
// has: atomicMax(&rank_own[k >> 52], (int)(k & 63));
#include <cuda_runtime.h>

__global__ void count(int *rank, const unsigned long long *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long k = key[i] * 0x9e3779b97f4a7c15ull;
    k ^= k >> 29;
    atomicMax(&rank[k >> 52], (int)(k & 63));
}

extern "C" void entry(int *rank, const unsigned long long *key, int n, cudaStream_t stream)
{
    count<<<(n + 127) / 128, 128, 0, stream>>>(rank, key, n);
}
