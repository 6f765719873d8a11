// expect: wrong
// row 10: The tile in shared memory is in half precision.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ __half tile[32][34];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = in[(int64_t)(row + k) * cols + col];
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
