// The counters under another name, as a function that stands in the kernel leaves them.
// transform: privatise 0
// applies: line 14
// has: __shared__ int out_own[128];
// has: atomicAdd(&out_own[value & 127], 1);
#include <cuda_runtime.h>

__global__ void tally(int *out, const int *keys, int total)
{
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < total; j += blockDim.x * gridDim.x) {
        {
            int *bins = out;
            const int value = keys[j];
            atomicAdd(&bins[value & 127], 1);
        }
    }
}

extern "C" void entry(int *out, const int *keys, int total, cudaStream_t stream)
{
    tally<<<528, 256, 0, stream>>>(out, keys, total);
}
