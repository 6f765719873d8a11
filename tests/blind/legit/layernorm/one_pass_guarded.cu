// expect: correct
// The mean of squares less the square of the mean, where a hundredth of it is left at least: that costs two of a float's seven digits, and a half has three. Elsewhere a second pass.
#include <cstdint>
#include <cuda_fp16.h>

__device__ float2 reduce(float2 x)
{
    __shared__ float2 part[8];
    for (int s = 16; s; s /= 2) {
        x.x += __shfl_xor_sync(~0u, x.x, s);
        x.y += __shfl_xor_sync(~0u, x.y, s);
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = make_float2(0.0f, 0.0f);
    for (int i = 0; i < 8; i++) {
        x.x += part[i].x;
        x.y += part[i].y;
    }
    __syncthreads();
    return x;
}

__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    const __half *x = in + (int64_t)blockIdx.x * d;
    __half *y = out + (int64_t)blockIdx.x * d;
    float2 s = {0.0f, 0.0f};
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = __half2float(x[i]);
        s.x += v;
        s.y += v * v;
    }
    s = reduce(s);
    float mean = s.x / d, square = s.y / d, variance = square - mean * mean;
    if (!(variance > 0.01f * square)) {
        s = make_float2(0.0f, 0.0f);
        for (int i = threadIdx.x; i < d; i += 256) {
            float v = __half2float(x[i]) - mean;
            s.x += v * v;
        }
        variance = reduce(s).x / d;
    }
    float rstd = 1.0f / sqrtf(variance + eps);
    for (int i = threadIdx.x; i < d; i += 256)
        y[i] = __float2half((__half2float(x[i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
