// Two tables, of maxima and of minima, each of which becomes the block's; nobody says how large they are.
// transform: privatise 104
// applies: line 18
// has: __shared__ int low_own[1024];
// has: __shared__ int high_own[1024];
// has: min_near<1024>(low_own, low, &low[object[i]], at);
// has: max_near<1024>(high_own, high, &high[object[i]], at);
// has: atomicMin(&low[bin], low_own[bin]);
// has: atomicMax(&high[bin], high_own[bin]);
#include <cuda_runtime.h>

__global__ void bounds(int *low, int *high, const int *object, const int *place, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = place[i];
    atomicMin(&low[object[i]], at);
    atomicMax(&high[object[i]], at);
}

extern "C" void entry(int *low, int *high, const int *object, const int *place, int n, cudaStream_t stream)
{
    bounds<<<(n + 127) / 128, 128, 0, stream>>>(low, high, object, place, n);
}
