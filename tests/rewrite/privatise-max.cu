// Maxima of the first four thousand counters, of which nobody says how many there are.
// transform: privatise 404
// applies: line 17
// has: __shared__ int rank_own[4096];
// has: rank_own[bin] = -2147483647 - 1;
// has: max_near<4096>(rank_own, rank, &rank[which], length);
// has: if (rank_own[bin] != -2147483647 - 1)
// has: atomicMax(&rank[bin], rank_own[bin]);
#include <cuda_runtime.h>

__global__ void longest(int *rank, const int *key, const int *text, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int length = text[i] & 31, which = key[i];
    atomicMax(&rank[which], length);
}

extern "C" void entry(int *rank, const int *key, const int *text, int n, cudaStream_t stream)
{
    longest<<<(n + 127) / 128, 128, 0, stream>>>(rank, key, text, n);
}
