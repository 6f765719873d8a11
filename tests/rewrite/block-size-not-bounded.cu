// Nobody asks for the end: the last of larger blocks would go past it.
// transform: block-size -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    dim3 grid((n + 256 - 1) / 256);
    dim3 block(256);
    work<<<grid, block, 0, stream>>>(out, in);
}
