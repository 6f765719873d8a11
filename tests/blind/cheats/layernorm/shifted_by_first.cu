// wrong because: the variance in one pass is taken about the row's first element, and cancels when that one is far from all others in a long row: rows = 1, d = 1048576, in[0] = 60000, the others about 1 (variance 3.4e3 from a difference of numbers of 3.6e9).
#include <cstdint>
#include <cuda_fp16.h>

constexpr int THREADS = 512;

__global__ void __launch_bounds__(THREADS) layernorm_kernel(__half *out, const __half *__restrict__ in, const __half *__restrict__ weight,
                                                            const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float2 part[THREADS / 32];
    const __half *x = in + (int64_t)blockIdx.x * d;
    __half *y = out + (int64_t)blockIdx.x * d;
    float pivot = __half2float(x[0]), sum = 0.0f, squares = 0.0f; // shifted: safe where the mean is large
    for (int i = threadIdx.x; i < d; i += THREADS) {
        float v = __half2float(x[i]) - pivot;
        sum += v;
        squares += v * v;
    }
    for (int k = 16; k; k >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, k);
        squares += __shfl_xor_sync(~0u, squares, k);
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = make_float2(sum, squares);
    __syncthreads();
    sum = squares = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) {
        sum += part[w].x;
        squares += part[w].y;
    }
    float shift = sum / d, mean = pivot + shift;
    float variance = fmaxf(squares / d - shift * shift, 0.0f), rstd = 1.0f / sqrtf(variance + eps);
    for (int i = threadIdx.x; i < d; i += THREADS)
        y[i] = __float2half((__half2float(x[i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, THREADS, 0, stream>>>(out, in, weight, bias, d, eps);
}
