// Minima of as many unsigned numbers as a byte says.
// transform: privatise 2
// applies: line 15
// has: __shared__ unsigned least_own[256];
// has: least_own[bin] = 0xffffffff;
// has: atomicMin(&least_own[kind[i]], when[i]);
// has: if (least_own[bin] != 0xffffffff)
// has: atomicMin(&least[bin], least_own[bin]);
#include <cuda_runtime.h>

__global__ void first(unsigned *least, const unsigned char *kind, const unsigned *when, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMin(&least[kind[i]], when[i]);
}

extern "C" void entry(unsigned *least, const unsigned char *kind, const unsigned *when, int n, cudaStream_t stream)
{
    first<<<(n + 127) / 128, 128, 0, stream>>>(least, kind, when, n);
}
