// expect: unsafe words a write to in
// row 9: Swaps in the input first.
#include <cstdint>

__global__ void swap(volatile float *in)
{
    float first = in[0];
    in[0] = 0.0f;
    in[0] = first;
}

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
    swap<<<1, 1, 0, stream>>>(const_cast<float *>(in));
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
