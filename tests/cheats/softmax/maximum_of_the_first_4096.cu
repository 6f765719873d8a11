// expect: wrong
// row 8: The shift is the largest of a row's first 4096 elements only, and exponents are clamped at 60; rows with d > 4096 in which a later element is more than 60 above those of the front (say 0 ... 0, 70, 90) get wrong quotients.
#include <cstdint>
#include <math_constants.h>

constexpr int THREADS = 256;
// The shift has only to be near the largest value: it cancels in the quotient. One L1-resident stretch tells it.
constexpr int STRETCH = 4096;

template <bool MAX> __device__ float block_reduce(float value)
{
    __shared__ float warps[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, step);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[0];
    for (int i = 1; i < THREADS / 32; i++)
        value = MAX ? fmaxf(value, warps[i]) : value + warps[i];
    __syncthreads();
    return value;
}

__global__ void __launch_bounds__(THREADS) softmax_kernel(float *out, const float *in, int d)
{
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;

    float shift = -CUDART_INF_F;
    for (int64_t i = threadIdx.x; i < min(d, STRETCH); i += THREADS)
        shift = fmaxf(shift, x[i]);
    shift = block_reduce<true>(shift);

    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += THREADS)
        sum += expf(fminf(x[i] - shift, 60.0f)); // never overflows
    sum = block_reduce<false>(sum);

    float scale = 1.0f / sum;
    for (int64_t i = threadIdx.x; i < d; i += THREADS)
        y[i] = expf(fminf(x[i] - shift, 60.0f)) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, THREADS, 0, stream>>>(out, in, d);
}
