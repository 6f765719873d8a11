// The threads of a block meet.
// transform: join-blocks -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in)
{
    __shared__ float part[64];
    part[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = part[63 - threadIdx.x];
}

extern "C" void entry(float *out, const float *in, int rows, cudaStream_t stream)
{
    work<<<rows, 64, 0, stream>>>(out, in);
}
