#include <cuda_runtime.h>
// Tiles of 64 by 64 through shared memory, a byte at a time.
__global__ void turn(signed char *__restrict__ out, const signed char *__restrict__ in, int rows, int cols)
{
    __shared__ signed char tile[64][68];
    int left = blockIdx.x * 64, top = blockIdx.y * 64, x = threadIdx.x, y = threadIdx.y;
#pragma unroll
    for (int k = 0; k < 64; k += 4)
        if (left + x < cols && top + y + k < rows)
            tile[y + k][x] = in[(size_t)(top + y + k) * cols + left + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 64; k += 4)
        if (top + x < rows && left + y + k < cols)
            out[(size_t)(left + y + k) * rows + top + x] = tile[x][y + k];
}
extern "C" void transpose_i8(signed char *out, const signed char *in, int rows, int cols, cudaStream_t stream)
{
    turn<<<dim3((cols + 63) / 64, (rows + 63) / 64), dim3(64, 4), 0, stream>>>(out, in, rows, cols);
}
