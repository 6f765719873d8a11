// A block is a row of 256: the grid does not follow, and half a block would leave elements out.
// transform: block-size -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int rows)
{
    out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int rows, cudaStream_t stream)
{
    const int threads = 256;
    work<<<rows, threads, 0, stream>>>(out, in, rows);
}
