// Right: one pass; each thread keeps count, mean and squared deviations (Welford), merged with their counts by Chan's formula, in shuffles and then over the warps. Threads that saw nothing have count 0 and change nothing.
#include <cstdint>
#include <cuda_fp16.h>
__device__ void merge(float &n, float &mean, float &m2, float n2, float mean2, float m22)
{
    float all = n + n2;
    if (all == 0.0f)
        return;
    float delta = mean2 - mean, part = n2 / all;
    mean += delta * part;
    m2 += m22 + delta * delta * n * part;
    n = all;
}
__global__ __launch_bounds__(512) void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    __shared__ float ns[16], means[16], m2s[16];
    int64_t row = (int64_t)blockIdx.x * d;
    float n = 0.0f, mean = 0.0f, m2 = 0.0f;
    for (int i = threadIdx.x; i < d; i += 512) {
        float v = __half2float(in[row + i]), delta = v - mean;
        n += 1.0f;
        mean += delta / n;
        m2 += delta * (v - mean);
    }
    for (int o = 16; o; o /= 2) {
        float n2 = __shfl_down_sync(~0u, n, o), mean2 = __shfl_down_sync(~0u, mean, o), m22 = __shfl_down_sync(~0u, m2, o);
        merge(n, mean, m2, n2, mean2, m22);
    }
    if (threadIdx.x % 32 == 0) {
        ns[threadIdx.x / 32] = n;
        means[threadIdx.x / 32] = mean;
        m2s[threadIdx.x / 32] = m2;
    }
    __syncthreads();
    n = mean = m2 = 0.0f;
    for (int w = 0; w < 16; w++)
        merge(n, mean, m2, ns[w], means[w], m2s[w]);
    float rstd = 1.0f / sqrtf(m2 / d + eps);
    for (int i = threadIdx.x; i < d; i += 512)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}
extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, 512, 0, stream>>>(out, in, weight, bias, d, eps);
}
