#include <cuda_runtime.h>
// Running maxima of each row; a thread a row.
__global__ void maxima(float *out, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float most = -3.0e38f;
    for (int k = 0; k < d; k++) {
        most = fmaxf(most, in[(long long)r * d + k]);
        out[(long long)r * d + k] = most;
    }
}
extern "C" void cummax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    maxima<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
