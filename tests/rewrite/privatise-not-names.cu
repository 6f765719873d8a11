// Another name of the counters is read.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void tally(int *out, const int *keys, int total)
{
    int *all = out;
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < total; j += blockDim.x * gridDim.x) {
        int *bins = out;
        if (all[0] < 100)
            atomicAdd(&bins[keys[j] & 127], 1);
    }
}

extern "C" void entry(int *out, const int *keys, int total, cudaStream_t stream)
{
    tally<<<528, 256, 0, stream>>>(out, keys, total);
}
