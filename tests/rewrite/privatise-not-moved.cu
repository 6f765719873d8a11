// A thread that goes on with another element would move the pointer once more.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void tally(int *counts, const int *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    key += (long long)blockIdx.y * n;
    atomicAdd(&counts[key[i]], 1);
}

extern "C" void entry(int *counts, const int *key, int n, int batch, cudaStream_t stream)
{
    tally<<<dim3((n + 127) / 128, batch), 128, 0, stream>>>(counts, key, n);
}
