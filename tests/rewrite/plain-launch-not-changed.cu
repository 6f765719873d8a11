// What the configuration was made of is another number at the launch.
// transform: plain-launch 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    int blocks = (n + 255) / 256;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = 256;
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    config.numAttrs = 0;
    blocks = 1;
    cudaLaunchKernelEx(&config, work, out, in, n);
    work<<<blocks, 256, 0, stream>>>(out, in, n);
}
