// expect: unsafe line 23 words which writes it
// row 17: The second launch takes the first one's early trigger for its end.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ __half gelu(float v)
{
    return __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

__global__ void first(const __half *x, const __half *bias, float *sums, int64_t n, int64_t d)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        sums[i] = __half2float(x[i]) + __half2float(bias[i % d]);
    __threadfence();
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(__half *x, const float *sums, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    float sum = i < n ? sums[i] : 0.0f;
    cudaGridDependencySynchronize();
    if (i < n)
        x[i] = gelu(sum);
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
    float *sums;
    cudaMallocAsync(&sums, n * sizeof(float), stream);
    begin_early(&config, &early, (unsigned)((n + 255) / 256), stream);
    first<<<config.gridDim, 256, 0, stream>>>(x, bias, sums, n, d);
    cudaLaunchKernelEx(&config, second, x, sums, n);
    cudaFreeAsync(sums, stream);
}
