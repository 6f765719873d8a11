#include <cuda_runtime.h>
// Products of pairs of 4 by 4 matrices, a thread a pair.
__global__ void products(float *out, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++)
                sum += a[(size_t)i * 16 + r * 4 + k] * b[(size_t)i * 16 + k * 4 + c];
            out[(size_t)i * 16 + r * 4 + c] = sum;
        }
}
extern "C" void mat4(float *out, const float *a, const float *b, int n, cudaStream_t stream)
{
    products<<<(n + 127) / 128, 128, 0, stream>>>(out, a, b, n);
}
