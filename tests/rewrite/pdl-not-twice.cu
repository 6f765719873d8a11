// A kernel that waits already is left alone.
// transform: pdl 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    if (i < n)
        x[i] = 2.0f * x[i];
}

extern "C" void entry(float *x, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
}
