// Bug: the second kernel begins early, and only thread 0 of a block waits for the first one; no barrier follows.
// The other threads may read mean and rstd before they are written: any shape, where the device starts the second kernel
// while blocks of the first still run (more rows than fit at once, or slow ones).
#include <cstdint>
#include <cuda_fp16.h>

constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS) row_statistics(float *mean, float *rstd, const __half *in, int d, float eps)
{
    __shared__ float first[THREADS / 32], second[THREADS / 32];
    cudaTriggerProgrammaticLaunchCompletion();
    const int64_t row = (int64_t)blockIdx.x * d;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS)
        sum += __half2float(in[row + i]);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        first[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < THREADS / 32; w++)
        sum += first[w];
    const float average = sum / d;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS) {
        const float difference = __half2float(in[row + i]) - average;
        squares += difference * difference;
    }
    for (int step = 16; step > 0; step /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, step);
    if (lane == 0)
        second[warp] = squares;
    __syncthreads();
    if (threadIdx.x == 0) {
        squares = 0.0f;
        for (int w = 0; w < THREADS / 32; w++)
            squares += second[w];
        mean[blockIdx.x] = average;
        rstd[blockIdx.x] = rsqrtf(squares / d + eps);
    }
}

__global__ void __launch_bounds__(THREADS)
    normalize(__half *out, const __half *in, const __half *weight, const __half *bias, const float *mean,
              const float *rstd, int64_t total, int d)
{
    if (threadIdx.x == 0)
        cudaGridDependencySynchronize();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < total; i += (int64_t)gridDim.x * THREADS) {
        const int64_t row = i / d;
        const int column = (int)(i - row * d);
        const float value = (__half2float(in[i]) - mean[row]) * rstd[row];
        out[i] = __float2half(value * __half2float(weight[column]) + __half2float(bias[column]));
    }
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    float *statistics;
    if (cudaMallocAsync((void **)&statistics, 2 * (size_t)rows * sizeof(float), stream) != cudaSuccess)
        return;
    float *mean = statistics;
    float *rstd = statistics + rows;
    const int64_t total = (int64_t)rows * d;
    int64_t blocks = (total + THREADS - 1) / THREADS;
    if (blocks > 1 << 20)
        blocks = 1 << 20;
    row_statistics<<<rows, THREADS, 0, stream>>>(mean, rstd, in, d, eps);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, normalize, out, in, weight, bias, (const float *)mean, (const float *)rstd, total, d);
    cudaFreeAsync(statistics, stream);
}
