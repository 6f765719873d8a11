// The block and the grid are members of dim3.
// transform: block-size 512
// applies: line 19
// has: block.x = 512;
// has: grid.x = (n + 511) / 512;
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    dim3 block, grid;
    // The number of threads.
    block.x = 128;
    grid.x = (n + 127) / 128;
    work<<<grid, block, 0, stream>>>(out, in, n);
}
