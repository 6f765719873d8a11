// A thread asks for its place in the block, too: lanes that share a row would have other places.
// transform: share-rows -1
// leaves
#include <cuda_runtime.h>

__global__ void scores(float *out, const float *x, const float *w, int rows, int heads, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = i / heads;
    if (t >= rows)
        return;
    float sum = threadIdx.x == 0 ? 1.0f : 0.0f;
    for (int k = 0; k < d; k++)
        sum += x[t * d + k] * w[i % heads * d + k];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *x, const float *w, int rows, int heads, int d, cudaStream_t stream)
{
    scores<<<rows * heads / 256 + 1, 256, 0, stream>>>(out, x, w, rows, heads, d);
}
