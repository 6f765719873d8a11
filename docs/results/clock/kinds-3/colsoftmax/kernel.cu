#include <cuda_runtime.h>
__global__ void softmax(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float m = -INFINITY;
    float s = 0;
    for (int r = 0; r < rows; r++) {
        float x = in[(size_t)r * d + col];
        if (x > m)
            m = x;
    }
    for (int r = 0; r < rows; r++)
        s += expf(in[(size_t)r * d + col] - m);
    for (int r = 0; r < rows; r++)
        out[(size_t)r * d + col] = expf(in[(size_t)r * d + col] - m) / s;
}

extern "C" void colsoftmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax<<<(d + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
