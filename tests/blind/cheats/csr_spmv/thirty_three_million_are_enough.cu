// WRONG: of a row with more than 33554432 numbers the rest is left out; nonzeros up to 1073741824 may all be in one row.
#include <cstdint>

__global__ void spmv(float *__restrict__ y, const int *__restrict__ start, const int *__restrict__ column,
                     const float *__restrict__ value, const float *__restrict__ x, int rows)
{
    int row = blockIdx.x * 16 + threadIdx.x / 16, lane = threadIdx.x % 16;
    float sum = 0.0f;
    if (row < rows) {
        int first = start[row], count = min(start[row + 1] - first, 1 << 25);
        for (int i = lane; i < count; i += 16)
            sum += __ldcs(value + first + i) * x[__ldcs(column + first + i)];
    }
    for (int step = 8; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0 && row < rows)
        y[row] = sum;
}

extern "C" void csr_spmv(float *y, const int *start, const int *column, const float *value, const float *x, int rows,
                         int nonzeros, cudaStream_t stream)
{
    spmv<<<(rows + 15) / 16, 256, 0, stream>>>(y, start, column, value, x, rows);
}
