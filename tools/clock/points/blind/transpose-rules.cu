// out[c][r] = in[r][c], one element per thread; which side is touched in order depends on the shape of the
// block.
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    // A square of the grid goes through shared memory, so that reads and writes are both in order; a row has one
    // element too many, so that columns lie in different banks.
    __shared__ float tile[32][32 + 1];
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
        const int col = blockIdx.x * 32 + threadIdx.x;
        const int row = blockIdx.y * 32 + threadIdx.y + k;
        if (row < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = __ldcs(&in[(int64_t)row * cols + col]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
        const int row = blockIdx.y * 32 + threadIdx.x;
        const int col = blockIdx.x * 32 + threadIdx.y + k;
        if (row < rows && col < cols)
            __stcs(&out[(int64_t)col * rows + row], tile[threadIdx.x][threadIdx.y + k]);
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    transpose_kernel<<<grid, block, 0, stream>>>(out, in, rows, cols);
}
