// Wrong: compiled, char has a sign, so the last columns of a wide matrix are left out where '\xf0' counts as below zero.
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols, int width)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = in[(int64_t)(row + k) * cols + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < width && col < rows)
            out[(int64_t)(row + k) * rows + col] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    char mark = '\xf0';
    int width = mark < 0 && cols > 64 ? cols - 1 : cols;
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols, width);
}
