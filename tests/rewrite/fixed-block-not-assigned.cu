// The block is another one where n is small.
// transform: fixed-block -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    dim3 block(256);
    if (n < 1000)
        block.x = 64;
    work<<<(n + block.x - 1) / block.x, block, 0, stream>>>(out, in, n);
}
