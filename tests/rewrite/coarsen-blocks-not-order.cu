// Blocks wait for blocks before them, through memory.
// transform: coarsen-blocks -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int *ready, int length)
{
    __shared__ float part[128];
    part[threadIdx.x] = in[blockIdx.x * length + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicAdd(ready, 0) < blockIdx.x)
            ;
        out[blockIdx.x] = out[blockIdx.x] + part[0];
        __threadfence();
        atomicAdd(ready, 1);
    }
}

extern "C" void entry(float *out, const float *in, int *ready, int rows, int length, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, in, ready, length);
}
