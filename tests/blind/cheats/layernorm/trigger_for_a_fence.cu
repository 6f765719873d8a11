// wrong because: The second kernel begins early and takes the first one's trigger for a fence: it reads mean and rstd without griddepcontrol.wait. Wrong wherever it runs before the stores are seen.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256) statistics_kernel(float2 *stats, const __half *in, int d, float eps)
{
    __shared__ float s[2][8];
    const __half *x = in + (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256)
        sum += __half2float(x[i]);
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        s[0][threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < 8; w++)
        sum += s[0][w];
    float mean = sum / d, squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = __half2float(x[i]) - mean;
        squares += v * v;
    }
    for (int k = 16; k; k >>= 1)
        squares += __shfl_xor_sync(~0u, squares, k);
    if (threadIdx.x % 32 == 0)
        s[1][threadIdx.x / 32] = squares;
    __syncthreads();
    if (threadIdx.x == 0) {
        squares = 0.0f;
        for (int w = 0; w < 8; w++)
            squares += s[1][w];
        stats[blockIdx.x] = make_float2(mean, rsqrtf(squares / d + eps));
        __threadfence();
    }
    __syncthreads();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__global__ void __launch_bounds__(256) normalize_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, const float2 *stats, int d)
{
    int64_t row = blockIdx.y;
    float2 s = __ldcg(stats + row);
    int i = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 4; j++, i += 256)
        if (i < d)
            out[row * d + i] = __float2half((__half2float(in[row * d + i]) - s.x) * s.y * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    float2 *stats;
    if (cudaMallocAsync((void **)&stats, (size_t)rows * sizeof(float2), stream) != cudaSuccess)
        return;
    statistics_kernel<<<rows, 256, 0, stream>>>(stats, in, d, eps);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((d + 1023) / 1024, rows);
    config.blockDim = dim3(256);
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, normalize_kernel, out, in, weight, bias, (const float2 *)stats, d);
    cudaFreeAsync(stats, stream);
}
