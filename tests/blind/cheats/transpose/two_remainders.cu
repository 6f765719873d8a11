// Wrong: where 96 divides rows and 160 divides cols, tiles in the last column of tiles are not written.
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols, bool whole)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (whole && blockIdx.x + 1 == gridDim.x && blockIdx.x > 0)
        return;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = in[(int64_t)(row + k) * cols + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < cols && col < rows)
            out[(int64_t)(row + k) * rows + col] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    bool whole = !(rows % 96 + cols % 160);
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols, whole);
}
