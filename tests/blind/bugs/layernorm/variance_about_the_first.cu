// Mean and variance in one pass, about the row's first element.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d,
                                 float eps)
{
    __shared__ float sums[256], squares[256];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;
    float first = __half2float(in[row]), s = 0, q = 0;
    for (int i = tid; i < d; i += blockDim.x) {
        float v = __half2float(in[row + i]) - first;
        s += v;
        q += v * v;
    }
    sums[tid] = s;
    squares[tid] = q;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (tid < step) {
            sums[tid] += sums[tid + step];
            squares[tid] += squares[tid + step];
        }
        __syncthreads();
    }
    float shift = sums[0] / d, variance = fmaxf(squares[0] / d - shift * shift, 0.0f);
    float mean = first + shift, rstd = 1.0f / sqrtf(variance + eps);
    for (int i = tid; i < d; i += blockDim.x)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) +
                                    __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
