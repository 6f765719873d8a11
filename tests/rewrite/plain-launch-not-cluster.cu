// The launch has an attribute that <<<...>>> cannot say.
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
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + 511) / 512 * 2);
    config.blockDim = dim3(256);
    config.stream = stream;
    config.dynamicSmemBytes = 0;
    cudaLaunchAttribute attrs[1];
    attrs[0].id = cudaLaunchAttributeClusterDimension;
    attrs[0].val.clusterDim.x = 2;
    attrs[0].val.clusterDim.y = 1;
    attrs[0].val.clusterDim.z = 1;
    config.attrs = attrs;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, work, out, in, n);
}
