// The thread's number is said twice, with 64 bits once.
// transform: share-rows 8
// applies: line 16
// has: const long long t = ((long long)blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8) / heads;
// has: const int h = (blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8) % heads;
// has: scores_lanes<<<(rows * heads / 256 + 1) * 8, 256, 0, stream>>>(out, x, w, rows, heads, d);
#include <cuda_runtime.h>

__global__ void scores(float *out, const float *x, const float *w, int rows, int heads, int d)
{
    const long long t = ((long long)blockIdx.x * 256 + threadIdx.x) / heads;
    const int h = (blockIdx.x * blockDim.x + threadIdx.x) % heads;
    if (t >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < d; k++)
        sum += x[t * d + k] * w[h * d + k];
    out[t * heads + h] = sum;
}

extern "C" void entry(float *out, const float *x, const float *w, int rows, int heads, int d, cudaStream_t stream)
{
    scores<<<rows * heads / 256 + 1, 256, 0, stream>>>(out, x, w, rows, heads, d);
}
