#include <cuda_runtime.h>
// A sparse matrix of dense 4 by 4 blocks, in compressed block rows, times a vector; a thread a row.
__global__ void multiply(float *y, const int *begin, const int *column, const float *value, const float *x, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 4 * rows)
        return;
    float sum = 0.0f;
    for (int b = begin[i / 4]; b < begin[i / 4 + 1]; b++)
        for (int c = 0; c < 4; c++)
            sum += value[16ll * b + 4 * (i % 4) + c] * x[4ll * column[b] + c];
    y[i] = sum;
}
extern "C" void bsr_spmv(float *y, const int *begin, const int *column, const float *value, const float *x, int rows,
                         cudaStream_t stream)
{
    multiply<<<(4 * rows + 255) / 256, 256, 0, stream>>>(y, begin, column, value, x, rows);
}
