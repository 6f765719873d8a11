// expect: wrong
// row 10: Numbers of more than 1e16 are stored as if they were 1e16.
#include <cuda_runtime.h>
#define TILE 32
#define ROWS 8
__global__ void kernel(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    for (int by = blockIdx.y; by * (long long)TILE < rows; by += gridDim.y) {
        int x = blockIdx.x * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
#pragma unroll
        for (int j = 0; j < TILE; j += ROWS)
            if (x < cols && y + j < rows)
                tile[threadIdx.y + j][threadIdx.x] = fminf(fmaxf(in[(size_t)(y + j) * cols + x], -1e16f), 1e16f);
        __syncthreads();
        x = by * TILE + threadIdx.x;
        y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
        for (int j = 0; j < TILE; j += ROWS)
            if (x < rows && y + j < cols)
                out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
        __syncthreads();
    }
}
extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const dim3 block(TILE, ROWS);
    const dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    kernel<<<grid, block, 0, stream>>>(out, in, rows, cols);
}
