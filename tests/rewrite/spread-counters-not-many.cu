// 32 copies of 300 counters are more than 32 KB.
// transform: spread-counters 32
// leaves
#include <cuda_runtime.h>

__global__ void work(int *counts, const int *in, int n)
{
    __shared__ int mine[300];
    for (int k = threadIdx.x; k < 300; k += blockDim.x)
        mine[k] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&mine[in[i] % 300u], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 300; k += blockDim.x)
        counts[k] = mine[k];
}

extern "C" void entry(int *counts, const int *in, int n, cudaStream_t stream)
{
    work<<<1, 256, 0, stream>>>(counts, in, n);
}
