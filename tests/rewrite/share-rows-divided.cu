// Threads have a product each, of a row and a column that they divide their number into; blocks along y are batches.
// transform: share-rows 32
// applies: line 19
// has: const int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
// has: const int t = i / heads, h = i % heads;
// has: for (int k = lane; k < d; k += 32)
// has: if (lane > 0)
// has: if (d >= 64) {
// has: scores_lanes<<<dim3((rows * heads / 256 + 1) * 32, batch), 256, 0, stream>>>(
#include <cuda_runtime.h>

__global__ void scores(float *out, const float *x, const float *w, int rows, int heads, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = i / heads, h = i % heads;
    if (t < rows) {
        const float *row = x + ((long long)blockIdx.y * rows + t) * d;
        float sum = 0.0f;
        for (int k = 0; k < d; k++)
            sum += row[k] * w[(long long)h * d + k];
        out[(blockIdx.y * rows + t) * heads + h] = sum;
    }
}

extern "C" void entry(float *out, const float *x, const float *w, int batch, int rows, int heads, int d,
                      cudaStream_t stream)
{
    scores<<<dim3(rows * heads / 256 + 1, batch), 256, 0, stream>>>(out, x, w, rows, heads, d);
}
