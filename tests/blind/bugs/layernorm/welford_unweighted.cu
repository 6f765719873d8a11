// Wrong: Welford's states of the threads are merged as if all had seen as many numbers; where d is no multiple of 256 they have not.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    __shared__ float means[256], m2s[256];
    int64_t row = (int64_t)blockIdx.x * d;
    int t = threadIdx.x, threads = blockDim.x;
    float mean = 0.0f, m2 = 0.0f;
    int n = 0;
    for (int i = t; i < d; i += threads) {
        float v = __half2float(in[row + i]), delta = v - mean;
        mean += delta / ++n;
        m2 += delta * (v - mean);
    }
    means[t] = mean;
    m2s[t] = m2;
    __syncthreads();
    float count = (float)d / threads;
    for (int step = threads / 2; step; step /= 2) {
        if (t < step) {
            float delta = means[t + step] - means[t];
            m2s[t] += m2s[t + step] + delta * delta * count * 0.5f;
            means[t] = (means[t] + means[t + step]) * 0.5f;
        }
        count *= 2.0f;
        __syncthreads();
    }
    mean = means[0];
    float rstd = rsqrtf(m2s[0] / d + eps);
    for (int i = t; i < d; i += threads)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}
extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    int threads = d >= 2048 ? 256 : d >= 256 ? 64 : 32;
    layernorm_kernel<<<rows, threads, 0, stream>>>(out, in, weight, bias, d, eps);
}
