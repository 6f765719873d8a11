#include <cuda_runtime.h>
// Eight rows are on their way at a time; blocks of a warp spread over the GPU.
__global__ void scan_columns(float *__restrict__ out, const float *__restrict__ in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float sum = 0.0f, next[8];
    int r = 0;
    for (; r + 8 <= rows; r += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            next[k] = in[(size_t)(r + k) * d + col];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += next[k];
            out[(size_t)(r + k) * d + col] = sum;
        }
    }
    for (; r < rows; r++) {
        sum += in[(size_t)r * d + col];
        out[(size_t)r * d + col] = sum;
    }
}
extern "C" void colscan(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    scan_columns<<<(d + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
