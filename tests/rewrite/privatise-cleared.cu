// The launcher says how many counters there are, where it clears them.
// transform: privatise 0
// applies: line 13
// has: __shared__ int counts_own[100];
#include <cuda_runtime.h>

#define BINS 100

template <typename T> __global__ void work(int *counts, const T *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] >= 0)
            atomicAdd(&counts[in[i]], 1);
}

extern "C" void entry(int *counts, const int *in, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, BINS * sizeof(int), stream);
    work<int><<<264, 256, 0, stream>>>(counts, in, n);
}
