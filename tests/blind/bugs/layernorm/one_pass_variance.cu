// Wrong: variance as E[x^2] - E[x]^2 in float: where the mean is far above the deviation, nothing is left of it.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    __shared__ float sums[8], squares[8];
    int64_t row = (int64_t)blockIdx.x * d;
    float s = 0.0f, q = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = __half2float(in[row + i]);
        s += v;
        q += v * v;
    }
    for (int o = 16; o; o /= 2) {
        s += __shfl_xor_sync(~0u, s, o);
        q += __shfl_xor_sync(~0u, q, o);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = s;
        squares[threadIdx.x / 32] = q;
    }
    __syncthreads();
    s = q = 0.0f;
    for (int w = 0; w < 8; w++) {
        s += sums[w];
        q += squares[w];
    }
    float mean = s / d, rstd = rsqrtf(fmaxf(q / d - mean * mean, 0.0f) + eps);
    for (int i = threadIdx.x; i < d; i += 256)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}
extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
