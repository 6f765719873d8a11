// out[c][r] = in[r][c] through a tile in shared memory.
#include <cstdint>

template <int TILE, int Y> __global__ void transpose_kernel(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int c0 = blockIdx.x * TILE, r0 = blockIdx.y * TILE;
    int x = threadIdx.x, y = threadIdx.y;
    int col = c0 + x;
    float v[TILE / Y];
#pragma unroll
    for (int k = 0; k < TILE / Y; k++) {
        int row = r0 + y + k * Y;
        if (row < rows && col < cols)
            v[k] = in[(int64_t)row * cols + col];
    }
#pragma unroll
    for (int k = 0; k < TILE / Y; k++)
        tile[y + k * Y][x] = v[k];
    __syncthreads();
    int row = r0 + x;
#pragma unroll
    for (int k = 0; k < TILE / Y; k++) {
        int c = c0 + y + k * Y;
        if (row < rows && c < cols)
            out[(int64_t)c * rows + row] = tile[x][y + k * Y];
    }
}

// 64 x 64 tiles, four values a thread and access; rows and cols are multiples of four.
__global__ void __launch_bounds__(256) transpose_vector(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[64][65];
    int c0 = blockIdx.x * 64, r0 = blockIdx.y * 64;
    int x = threadIdx.x & 15, y = threadIdx.x >> 4;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int row = r0 + y + k * 16, col = c0 + 4 * x;
        if (row < rows && col < cols)
            v[k] = __ldcs((const float4 *)(in + (int64_t)row * cols + col));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float *t = &tile[y + k * 16][4 * x];
        t[0] = v[k].x;
        t[1] = v[k].y;
        t[2] = v[k].z;
        t[3] = v[k].w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int c = y + k * 16, row = r0 + 4 * x;
        if (row < rows && c0 + c < cols) {
            float4 o = make_float4(tile[4 * x][c], tile[4 * x + 1][c], tile[4 * x + 2][c], tile[4 * x + 3][c]);
            __stcs((float4 *)(out + (int64_t)(c0 + c) * rows + row), o);
        }
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    bool vector = rows % 4 == 0 && cols % 4 == 0 && (((uintptr_t)out | (uintptr_t)in) & 15) == 0;
    if (vector && (int64_t)rows * cols >= (int64_t)264 * 4096) {
        dim3 grid((cols + 63) / 64, (rows + 63) / 64);
        transpose_vector<<<grid, 256, 0, stream>>>(out, in, rows, cols);
    } else {
        dim3 grid((unsigned)(((int64_t)cols + 31) / 32), (rows + 31) / 32);
        transpose_kernel<32, 8><<<grid, dim3(32, 8), 0, stream>>>(out, in, rows, cols);
    }
}
