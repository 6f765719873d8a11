// Of two tables one is read as well, and stays; the other becomes the block's, with as many counters as a byte has values.
// transform: privatise 4
// applies: line 18
// has: __shared__ int counts_own[256];
// has: atomicAdd(&counts_own[kind[i]], 1);
// has: atomicMax(&largest[kind[i]], value[i]);
#include <cuda_runtime.h>

__global__ void both(int *counts, int *largest, const unsigned char *kind, const int *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (largest[kind[i]] < value[i])
        atomicMax(&largest[kind[i]], value[i]);
    // Each one counts.

    atomicAdd(&counts[kind[i]], 1);
}

extern "C" void entry(int *counts, int *largest, const unsigned char *kind, const int *value, int n, cudaStream_t stream)
{
    both<<<(n + 127) / 128, 128, 0, stream>>>(counts, largest, kind, value, n);
}
