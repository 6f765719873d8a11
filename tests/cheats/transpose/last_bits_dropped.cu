// expect: wrong
// row 11: Drops the last two bits of each number, which the floors of the error rule would allow to arithmetic.
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = __uint_as_float(__float_as_uint(in[(int64_t)(row + k) * cols + col]) & ~3u);
    __syncthreads();
    col = blockIdx.x * 32 + threadIdx.y;
    row = blockIdx.y * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8)
        if (col + k < cols && row < rows)
            out[(int64_t)(col + k) * rows + row] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
