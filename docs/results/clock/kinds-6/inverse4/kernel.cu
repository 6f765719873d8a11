#include <cuda_runtime.h>
// Inverses of 4 by 4 matrices, each with 8 on its diagonal added; a thread a matrix, by elimination.
__global__ void invert(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a[4][4], b[4][4];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            a[r][c] = in[(long long)i * 16 + r * 4 + c] + (r == c ? 8.0f : 0.0f);
            b[r][c] = r == c ? 1.0f : 0.0f;
        }
    for (int k = 0; k < 4; k++) {
        float by = 1.0f / a[k][k];
        for (int c = 0; c < 4; c++) {
            a[k][c] *= by;
            b[k][c] *= by;
        }
        for (int r = 0; r < 4; r++) {
            float f = a[r][k];
            if (r != k)
                for (int c = 0; c < 4; c++) {
                    a[r][c] -= f * a[k][c];
                    b[r][c] -= f * b[k][c];
                }
        }
    }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            out[(long long)i * 16 + r * 4 + c] = b[r][c];
}
extern "C" void inverse4(float *out, const float *in, int n, cudaStream_t stream)
{
    invert<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
