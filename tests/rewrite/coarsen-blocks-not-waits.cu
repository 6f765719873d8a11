// Only some rows reach the barrier: blocks cannot wait together.
// transform: coarsen-blocks -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const int *wanted, int length)
{
    __shared__ float part[128];
    if (wanted[blockIdx.x]) {
        part[threadIdx.x] = in[blockIdx.x * length + threadIdx.x];
        __syncthreads();
        out[blockIdx.x * length + threadIdx.x] = part[127 - threadIdx.x];
    }
}

extern "C" void entry(float *out, const float *in, const int *wanted, int rows, int length, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, in, wanted, length);
}
