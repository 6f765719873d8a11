#include <cuda_runtime.h>
__global__ void spmv(float *y, const float *val, const float *x, const int *ptr, const int *col, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float dot = 0.0f;
        int row_start = ptr[row];
        int row_end = ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++)
            dot += val[jj] * x[col[jj]];
        y[row] = dot;
    }
}
extern "C" void spmv_run(float *y, const float *val, const float *x, const int *ptr, const int *col, int rows, cudaStream_t stream)
{
    spmv<<<(rows + 255) / 256, 256, 0, stream>>>(y, val, x, ptr, col, rows);
}
