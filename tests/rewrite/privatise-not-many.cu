// Nobody says how many counters there are; and halves are not added by themselves.
// transform: privatise -1
// leaves
#include <cuda_fp16.h>

__global__ void sums(__half *total, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&total[in[i]], __half());
}

__global__ void many(int *counts, const int *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[in[i]], 1);
}

extern "C" void entry(__half *total, const unsigned char *in, int *counts, const int *which, int n, cudaStream_t stream)
{
    sums<<<264, 256, 0, stream>>>(total, in, n);
    many<<<264, 256, 0, stream>>>(counts, which, n);
}
