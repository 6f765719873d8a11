// expect: correct
// Begins before the kernel ahead has ended: reads the bias, which is stable, and waits before it touches x. The next
// may begin at once.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ __half gelu(float v)
{
    return __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    float b = i < n ? __half2float(bias[i % d]) : 0.0f;
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    if (i < n)
        x[i] = gelu(__half2float(x[i]) + b);
}

static void begin_early(cudaLaunchConfig_t *config, cudaLaunchAttribute *early, unsigned blocks, cudaStream_t stream)
{
    early->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early->val.programmaticStreamSerializationAllowed = 1;
    config->gridDim = blocks;
    config->blockDim = 256;
    config->stream = stream;
    config->attrs = early;
    config->numAttrs = 1;
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {};
    int64_t n = tokens * d;
    begin_early(&config, &early, (unsigned)((n + 255) / 256), stream);
    cudaLaunchKernelEx(&config, gelu_bias_kernel, x, bias, n, d);
}
