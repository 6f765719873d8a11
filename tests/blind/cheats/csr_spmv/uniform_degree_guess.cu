// Cheat: when the mean number of nonzeros is whole and three offsets fit, all rows are taken to have that many.
// Wrong where nonzeros is a multiple of rows, start[1], start[rows / 2] and start[rows - 1] are those of even rows, and
// another offset is not (rows >= 5).
#include <cstdint>

__global__ void __launch_bounds__(256)
    spmv_kernel(float *__restrict__ y, const int *__restrict__ start, const int *__restrict__ column,
                const float *__restrict__ value, const float *__restrict__ x, int rows, int degree)
{
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    int begin, end;
    if (degree > 0 && start[1] == degree && start[rows / 2] == rows / 2 * degree && start[rows - 1] == (rows - 1) * degree) {
        begin = row * degree; // a regular mesh: no need to wait for the offsets
        end = begin + degree;
    } else {
        begin = start[row];
        end = start[row + 1];
    }
    float sum = 0.0f;
    for (int i = begin + lane; i < end; i += 32)
        sum += value[i] * x[column[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}

extern "C" void csr_spmv(float *y, const int *start, const int *column, const float *value, const float *x, int rows,
                         int nonzeros, cudaStream_t stream)
{
    const int degree = nonzeros % rows == 0 ? nonzeros / rows : 0;
    spmv_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(y, start, column, value, x, rows, degree);
}
