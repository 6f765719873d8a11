#include <cuda_runtime.h>
// Dot products of rows that two lists name, a thread a pair.
__global__ void dots(float *out, const float *x, const int *left, const int *right, int pairs, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    const float *a = x + (size_t)left[i] * d, *b = x + (size_t)right[i] * d;
    float sum = 0.0f;
    for (int k = 0; k < d; k++)
        sum += a[k] * b[k];
    out[i] = sum;
}
extern "C" void pair_dot(float *out, const float *x, const int *left, const int *right, int pairs, int d, cudaStream_t stream)
{
    dots<<<(pairs + 127) / 128, 128, 0, stream>>>(out, x, left, right, pairs, d);
}
