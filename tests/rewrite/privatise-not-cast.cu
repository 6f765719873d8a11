// What is added to are words, and the parameter counts in bytes; and a place that is no sum is not followed.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void words(unsigned int *bytes, const int *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long *sums = (unsigned long long *)bytes;
    atomicAdd(&sums[key[i]], 1ull);
}

__global__ void chosen(int *low, int *high, const int *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(key[i] < 0 ? low : high, 1);
}

extern "C" void entry(unsigned int *bytes, int *low, int *high, const int *key, int n, cudaStream_t stream)
{
    words<<<(n + 255) / 256, 256, 0, stream>>>(bytes, key, n);
    chosen<<<(n + 255) / 256, 256, 0, stream>>>(low, high, key, n);
}
