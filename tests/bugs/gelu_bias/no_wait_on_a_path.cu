// expect: unsafe words no thread of the kernel waits
// row 17: The second launch has nothing to do on short inputs, and ends there without a wait: what is launched behind it may
// begin before the first one has ended.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ __half gelu(float v)
{
    return __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

__global__ void part(__half *x, const __half *bias, int64_t first, int64_t n, int64_t d)
{
    int64_t i = first + (int64_t)blockIdx.x * 256 + threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;");
    if (i < n)
        x[i] = gelu(__half2float(x[i]) + __half2float(bias[i % d]));
}

__global__ void rest(__half *x, const __half *bias, int64_t first, int64_t n, int64_t d)
{
    int64_t i = first + (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (first >= n)
        return;
    cudaGridDependencySynchronize();
    if (i < n)
        x[i] = gelu(__half2float(x[i]) + __half2float(bias[i % d]));
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
    int64_t n = tokens * d, some = n < 4096 ? n : 4096;
    part<<<(unsigned)((some + 255) / 256), 256, 0, stream>>>(x, bias, 0, some, d);
    begin_early(&config, &early, (unsigned)((n - some + 255) / 256 + 1), stream);
    cudaLaunchKernelEx(&config, rest, x, bias, some, n, d);
}
