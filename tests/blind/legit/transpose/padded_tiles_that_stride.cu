// Tiles of 32x32 through shared memory; a bounded grid strides through them.
#include <cstdint>

namespace {
constexpr int SIDE = 32, LINES = 8;

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols, int across, int64_t tiles)
{
    __shared__ float tile[SIDE][SIDE + 1];
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int row0 = (int)(t / across) * SIDE, col0 = (int)(t % across) * SIDE;
        for (int k = threadIdx.y; k < SIDE; k += LINES)
            if (row0 + k < rows && col0 + (int)threadIdx.x < cols)
                tile[k][threadIdx.x] = in[(int64_t)(row0 + k) * cols + col0 + threadIdx.x];
        __syncthreads();
        for (int k = threadIdx.y; k < SIDE; k += LINES)
            if (col0 + k < cols && row0 + (int)threadIdx.x < rows)
                out[(int64_t)(col0 + k) * rows + row0 + threadIdx.x] = tile[threadIdx.x][k];
        __syncthreads();
    }
}
} // namespace

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const int across = (cols + SIDE - 1) / SIDE, down = (rows + SIDE - 1) / SIDE;
    const int64_t tiles = (int64_t)across * down;
    const dim3 block(SIDE, LINES);
    transpose_kernel<<<static_cast<unsigned>(tiles < 132 * 64 ? tiles : 132 * 64), block, 0, stream>>>(
        out, in, rows, cols, across, tiles);
}
