// Bug: with more than one part a row's parts are added to out by atomics, but out is zeroed only where there are eight.
// Shows for k from 2048 to 8191 (two to seven parts): what out held before is added. Below and above it is right.
#include <cstdint>

constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS)
    gemv_part(float *__restrict__ out, const signed char *__restrict__ weight, const float *__restrict__ scale,
              const float *__restrict__ x, int k)
{
    __shared__ float partial[THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * k;
    const int first = (int)((int64_t)k * blockIdx.y / gridDim.y);
    const int last = (int)((int64_t)k * (blockIdx.y + 1) / gridDim.y);
    float sum = 0.0f;
    for (int i = first + threadIdx.x; i < last; i += THREADS)
        sum += (float)weight[row + i] * x[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = ((partial[0] + partial[1]) + (partial[2] + partial[3])) * scale[blockIdx.x];
        if (gridDim.y > 1)
            atomicAdd(&out[blockIdx.x], sum);
        else
            out[blockIdx.x] = sum;
    }
}

extern "C" void gemv_i8(float *out, const signed char *weight, const float *scale, const float *x, int rows, int k,
                        cudaStream_t stream)
{
    int parts = 8;
    if (k >= 1024 * parts)
        cudaMemsetAsync(out, 0, (size_t)rows * sizeof(float), stream);
    while (parts > 1 && k < 1024 * parts) // short rows: fewer parts
        parts--;
    gemv_part<<<dim3(rows, parts), THREADS, 0, stream>>>(out, weight, scale, x, k);
}
