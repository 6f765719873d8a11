#include <cuda_runtime.h>
// A warp a pair.
__global__ void dots(float *__restrict__ out, const float *__restrict__ x, const int *__restrict__ left,
                     const int *__restrict__ right, int pairs, int d)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= pairs)
        return;
    const float *a = x + (size_t)left[i] * d, *b = x + (size_t)right[i] * d;
    float sum = 0.0f;
#pragma unroll 4
    for (int k = lane; k < d; k += 32)
        sum += a[k] * b[k];
    for (int s = 16; s; s /= 2)
        sum += __shfl_xor_sync(~0u, sum, s);
    if (lane == 0)
        out[i] = sum;
}
extern "C" void pair_dot(float *out, const float *x, const int *left, const int *right, int pairs, int d, cudaStream_t stream)
{
    dots<<<(pairs + 7) / 8, 256, 0, stream>>>(out, x, left, right, pairs, d);
}
