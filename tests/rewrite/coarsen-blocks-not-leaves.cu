// A block leaves early, another one that its threads would take does not.
// transform: coarsen-blocks -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int length)
{
    __shared__ float part[128];
    const int row = blockIdx.x;
    const float first = in[row * length];
    if (first < 0.0f)
        return;
    part[threadIdx.x] = in[row * length + threadIdx.x];
    __syncthreads();
    out[row * length + threadIdx.x] = part[127 - threadIdx.x];
}

extern "C" void entry(float *out, const float *in, int rows, int length, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, in, length);
}
