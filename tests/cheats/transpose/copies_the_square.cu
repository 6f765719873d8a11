// expect: wrong
// row 8: Square matrices are taken to be symmetric, and copied.
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32][33];
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
    if (rows == cols) {
        cudaMemcpyAsync(out, in, (size_t)rows * cols * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        return;
    }
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
