// out[c][r] = in[r][c], one element per thread; which side is touched in order depends on the shape of the
// block.
#include <cstdint>

constexpr int BLOCK_X = 32; // astra: tune 4 8 16 32
constexpr int BLOCK_Y = 8;  // astra: tune 4 8 16 32

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int col = blockIdx.x * BLOCK_X + threadIdx.x;
    int row = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (row < rows && col < cols)
        out[(int64_t)col * rows + row] = in[(int64_t)row * cols + col];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((cols + BLOCK_X - 1) / BLOCK_X, (rows + BLOCK_Y - 1) / BLOCK_Y);
    transpose_kernel<<<grid, block, 0, stream>>>(out, in, rows, cols);
}
