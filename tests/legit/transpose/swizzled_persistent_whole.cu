// expect: correct
// A fixed number of blocks walks over all tiles, and meets by chance what lies 2^31 elements in front of the end.
#include <cstdint>

__global__ void __launch_bounds__(256)
    transpose_tiles(float *__restrict__ out, const float *__restrict__ in, int rows, int cols, int column_tiles, int64_t tiles)
{
    __shared__ float tile[32][32];
    const int lane = threadIdx.x;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int64_t down = t / column_tiles;
        const int row = (int)down * 32, col = (int)(t - down * column_tiles) * 32;
#pragma unroll
        for (int j = 0; j < 32; j += 8) {
            const int r = j + threadIdx.y;
            if (row + r < rows && col + lane < cols)
                tile[r][lane ^ r] = in[(int64_t)(row + r) * cols + col + lane];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j += 8) {
            const int c = j + threadIdx.y;
            if (col + c < cols && row + lane < rows)
                out[(int64_t)(col + c) * rows + row + lane] = tile[lane][c ^ lane];
        }
        __syncthreads();
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const int column_tiles = (cols + 31) / 32;
    const int64_t tiles = (int64_t)column_tiles * ((rows + 31) / 32);
    const unsigned blocks = tiles < 4096 ? (unsigned)tiles : 4096;
    transpose_tiles<<<blocks, dim3(32, 8), 0, stream>>>(out, in, rows, cols, column_tiles, tiles);
}
