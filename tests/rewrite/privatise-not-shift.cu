// A shift of what has a sign may be any number.
// transform: privatise 4
// leaves
#include <cuda_runtime.h>

__global__ void count(int *rank, const long long *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&rank[key[i] >> 52], 1);
}

extern "C" void entry(int *rank, const long long *key, int n, cudaStream_t stream)
{
    count<<<(n + 127) / 128, 128, 0, stream>>>(rank, key, n);
}
