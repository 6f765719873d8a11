// Bug: the tiles of the columns are counted by the grid's y, which ends at 65535; the tiles of the rows by its x.
// Shows for cols > 2097120 (65535 tiles of 32): no device takes the launch, and out is not written.
#include <cstdint>

__global__ void __launch_bounds__(256) transpose_tile(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int row = blockIdx.x * 32, col = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (row + j < rows && col + (int)threadIdx.x < cols)
            tile[j][threadIdx.x] = in[(int64_t)(row + j) * cols + col + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        if (col + j < cols && row + (int)threadIdx.x < rows)
            out[(int64_t)(col + j) * rows + row + threadIdx.x] = tile[threadIdx.x][j];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    dim3 grid((rows + 31) / 32, (cols + 31) / 32);
    transpose_tile<<<grid, dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
