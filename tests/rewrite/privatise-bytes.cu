// Bytes, and counters that a mask makes few of.
// transform: privatise 0
// applies: line 14
// has: __shared__ unsigned counts_own[256];
// has: atomicAdd(&counts_own[in[i]], 1u);
// has: atomicAdd(&counts_own[((in[i] >> 4) & 7)], 2u);
// has: atomicAdd(&counts[bin], counts_own[bin]);
#include <cuda_runtime.h>

__global__ void work(unsigned *counts, const unsigned char *in, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&counts[in[i]], 1u);
        atomicAdd(counts + ((in[i] >> 4) & 7), 2u);
    }
}

extern "C" void entry(unsigned *counts, const unsigned char *in, int n, cudaStream_t stream)
{
    work<<<264, 256, 0, stream>>>(counts, in, n);
}
