// Sums in float depend on their order; and nobody says how many counters there are.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void sums(float *total, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&total[in[i]], 1.5f);
}

__global__ void many(int *counts, const int *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[in[i]], 1);
}

extern "C" void entry(float *total, const unsigned char *in, int *counts, const int *which, int n, cudaStream_t stream)
{
    sums<<<264, 256, 0, stream>>>(total, in, n);
    many<<<264, 256, 0, stream>>>(counts, which, n);
}
