// class: race that only a second turn of a persistent loop shows ; wrong because: no barrier between reading a tile and filling the next; blocks take a second tile only beyond 2^20 tiles (smallest: rows=32, cols=33554433: 4.3 GB each side)
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols, int64_t tiles, int across)
{
    __shared__ float tile[32][33];
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int c0 = (int)(t % across) * 32, r0 = (int)(t / across) * 32;
#pragma unroll
        for (int k = 0; k < 32; k += 8) {
            int r = r0 + threadIdx.y + k, c = c0 + threadIdx.x;
            if (r < rows && c < cols)
                tile[threadIdx.y + k][threadIdx.x] = in[(int64_t)r * cols + c];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k += 8) {
            int c = c0 + threadIdx.y + k, r = r0 + threadIdx.x;
            if (r < rows && c < cols)
                out[(int64_t)c * rows + r] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int across = (int)(((int64_t)cols + 31) / 32);
    int64_t tiles = (int64_t)across * ((rows + 31) / 32), most = 1 << 20;
    transpose_kernel<<<(unsigned)(tiles < most ? tiles : most), dim3(32, 8), 0, stream>>>(out, in, rows, cols, tiles,
                                                                                          across);
}
