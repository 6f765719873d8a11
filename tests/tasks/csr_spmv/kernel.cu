// y = A x, A sparse by rows: the numbers of row r are value[start[r]] up to value[start[r + 1]]; a warp per row.
#include <cstdint>

__global__ void csr_spmv_kernel(float *y, const int *start, const int *column, const float *value, const float *x,
                                int rows)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    int end = start[row + 1];
    float sum = 0.0f;
    for (int i = start[row] + lane; i < end; i += 32)
        sum += value[i] * x[column[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}

extern "C" void csr_spmv(float *y, const int *start, const int *column, const float *value, const float *x, int rows,
                         int nonzeros, cudaStream_t stream)
{
    csr_spmv_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(y, start, column, value, x, rows);
}
