// A counter that is raised by a sum and by a maximum has no number that changes neither.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void both(int *counts, const unsigned char *kind, const int *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (value[i] < 0)
        atomicAdd(&counts[kind[i]], 1);
    else
        atomicMax(&counts[kind[i]], value[i]);
}

extern "C" void entry(int *counts, const unsigned char *kind, const int *value, int n, cudaStream_t stream)
{
    both<<<(n + 127) / 128, 128, 0, stream>>>(counts, kind, value, n);
}
