// WRONG: a block that takes several tiles fills the shared tile anew while other warps still read it: no barrier behind the stores (more tiles than blocks: 4096 x 4096).
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols, int across, int64_t tiles)
{
    __shared__ float tile[32][33];
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int x0 = (int)(t % across) * 32, y0 = (int)(t / across) * 32;
        for (int k = threadIdx.y; k < 32; k += 8)
            if (y0 + k < rows && x0 + (int)threadIdx.x < cols)
                tile[k][threadIdx.x] = in[(int64_t)(y0 + k) * cols + x0 + threadIdx.x];
        __syncthreads();
        for (int k = threadIdx.y; k < 32; k += 8)
            if (x0 + k < cols && y0 + (int)threadIdx.x < rows)
                out[(int64_t)(x0 + k) * rows + y0 + threadIdx.x] = tile[threadIdx.x][k];
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int across = cols / 32 + (cols % 32 != 0);
    int64_t tiles = (int64_t)across * ((rows + 31) / 32);
    transpose_kernel<<<(unsigned)(tiles < 1056 ? tiles : 1056), dim3(32, 8), 0, stream>>>(out, in, rows, cols, across,
                                                                                          tiles);
}
