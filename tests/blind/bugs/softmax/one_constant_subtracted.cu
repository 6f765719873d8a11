// expect: wrong
// row 10: The logarithm of the sum is added to the maximum, so that the last pass has one subtraction and no division. At a maximum of 1000 that constant is rounded to 6e-5: every answer of such a row is off by up to 3e-5 of itself, 500 last places; at 1e6 by 3 %. Any shape.
#include <cstdint>
#include <math_constants.h>

__global__ void softmax_kernel(float *out, const float *in, int d)
{
    __shared__ float tops[8], sums[8];
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;
    int warp = threadIdx.x / 32;
    float largest = -CUDART_INF_F, sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256)
        largest = fmaxf(largest, x[i]);
    for (int s = 16; s; s /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, s));
    if (threadIdx.x % 32 == 0)
        tops[warp] = largest;
    __syncthreads();
    for (int i = 0; i < 8; i++)
        largest = fmaxf(largest, tops[i]);
    for (int i = threadIdx.x; i < d; i += 256)
        sum += expf(x[i] - largest);
    for (int s = 16; s; s /= 2)
        sum += __shfl_xor_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0)
        sums[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < 8; i++)
        sum += sums[i];
    float lse = largest + logf(sum);
    for (int i = threadIdx.x; i < d; i += 256)
        y[i] = expf(x[i] - lse);
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
