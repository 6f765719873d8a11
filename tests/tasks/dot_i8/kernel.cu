#include <cstdint>

// A thread a row.
__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int sum = 0;
    for (int i = 0; i < d; i++)
        sum += (int)a[(int64_t)row * d + i] * (int)x[i];
    out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(out, a, x, rows, d);
}
