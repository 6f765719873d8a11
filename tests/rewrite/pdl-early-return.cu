// A thread that has nothing to do waits too: the wait is on every path. Two launches, one the body of an if.
// transform: pdl 0
// applies: line 12
// has:     int i = blockIdx.x * blockDim.x + threadIdx.x;
// has:     cudaGridDependencySynchronize(); // the kernel ahead has ended
// has:     if (i >= n)
// has:     if (n > 0)
// has: config.gridDim = (n + 127) / 128;
// lacks: <<<
#include <cuda_runtime.h>

__global__ void work(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] = 2.0f * x[i];
}

extern "C" void entry(float *x, int n, cudaStream_t stream)
{
    if (n > 0)
        work<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
    work<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
}
