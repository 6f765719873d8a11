// What a counter was is used, and counters are read.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void place(unsigned *counts, unsigned *out, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = atomicAdd(&counts[in[i]], 1u);
}

__global__ void limit(unsigned *counts, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (counts[in[i]] < 100)
            atomicAdd(&counts[in[i]], 1u);
}

extern "C" void entry(unsigned *counts, unsigned *out, const unsigned char *in, int n, cudaStream_t stream)
{
    place<<<264, 256, 0, stream>>>(counts, out, in, n);
    limit<<<264, 256, 0, stream>>>(counts, in, n);
}
