// The second loop reads out of shared memory what the first one left there: other threads' elements, with a barrier
// only where the block is large, if it stayed as it is; and it has another bound.
// transform: vectorise -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *total, const float *in, int d)
{
    extern __shared__ float row[];
    float sum = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        row[i] = in[blockIdx.x * d + i];
    if (blockDim.x > 32)
        __syncthreads();
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x)
        sum += row[i];
    atomicAdd(total, sum);
}

extern "C" void entry(float *total, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 128, d * sizeof(float), stream>>>(total, in, d);
}
