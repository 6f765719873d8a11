// out = (in - mean) / sqrt(variance + eps) * weight + bias over each row, as two kernels: the row statistics
// into a workspace, then one thread per element.
#include <cstdint>
#include <cuda_fp16.h>

#define THREADS 256

__global__ void row_statistics(float *mean, float *rstd, const __half *in, int d, float eps)
{
    __shared__ float partial[THREADS];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x)
        sum += __half2float(in[row + i]);
    partial[tid] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    float average = partial[0] / d;
    __syncthreads();

    float squares = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float difference = __half2float(in[row + i]) - average;
        squares += difference * difference;
    }
    partial[tid] = squares;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    if (tid == 0) {
        mean[blockIdx.x] = average;
        rstd[blockIdx.x] = 1.0f / sqrtf(partial[0] / d + eps);
    }
}

__global__ void normalize(__half *out, const __half *in, const __half *weight, const __half *bias,
                          const float *mean, const float *rstd, int64_t total, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    int64_t row = i / d;
    int64_t column = i % d;
    float value = (__half2float(in[i]) - mean[row]) * rstd[row];
    out[i] = __float2half(value * __half2float(weight[column]) + __half2float(bias[column]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    float *statistics;
    if (cudaMallocAsync((void **)&statistics, 2 * (size_t)rows * sizeof(float), stream) != cudaSuccess)
        return;
    float *mean = statistics;
    float *rstd = statistics + rows;
    int64_t total = (int64_t)rows * d;
    unsigned blocks = (unsigned)((total + THREADS - 1) / THREADS);
    row_statistics<<<rows, THREADS, 0, stream>>>(mean, rstd, in, d, eps);
    normalize<<<blocks, THREADS, 0, stream>>>(out, in, weight, bias, mean, rstd, total, d);
    cudaFreeAsync(statistics, stream);
}
