// 64 x 64 tiles through padded shared memory, float4 on both sides when both extents are multiples of 4 (a vector is then wholly inside or outside), else one element at a time with guards.
#include <cstdint>

constexpr int TILE = 64;
constexpr int PITCH = TILE + 1;

__global__ void __launch_bounds__(256) transpose_vec(float *__restrict__ out, const float *__restrict__ in, int rows,
                                                     int cols)
{
    __shared__ float tile[TILE * PITCH];
    const int col0 = blockIdx.x * TILE, row0 = blockIdx.y * TILE;
    const int quad = threadIdx.x % 16 * 4, line = threadIdx.x / 16; // 16 quads a line, 16 lines a step

#pragma unroll
    for (int step = 0; step < TILE; step += 16) {
        const int r = line + step;
        if (row0 + r < rows && col0 + quad < cols) {
            const float4 v = *reinterpret_cast<const float4 *>(in + (int64_t)(row0 + r) * cols + col0 + quad);
            tile[(quad + 0) * PITCH + r] = v.x;
            tile[(quad + 1) * PITCH + r] = v.y;
            tile[(quad + 2) * PITCH + r] = v.z;
            tile[(quad + 3) * PITCH + r] = v.w;
        }
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE; step += 16) {
        const int c = line + step;
        if (col0 + c < cols && row0 + quad < rows) {
            const float *t = tile + c * PITCH + quad;
            *reinterpret_cast<float4 *>(out + (int64_t)(col0 + c) * rows + row0 + quad) =
                make_float4(t[0], t[1], t[2], t[3]);
        }
    }
}

__global__ void __launch_bounds__(256) transpose_any(float *__restrict__ out, const float *__restrict__ in, int rows,
                                                     int cols)
{
    __shared__ float tile[32][33];
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.x;
    const int col0 = blockIdx.x * 32, row0 = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (row0 + r < rows && col < cols)
            tile[r][threadIdx.x] = in[(int64_t)(row0 + r) * cols + col];
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += 8)
        if (col0 + c < cols && row < rows)
            out[(int64_t)(col0 + c) * rows + row] = tile[threadIdx.x][c];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const auto up = [](int n, int by) { return (n + by - 1) / by; };
    if (rows % 4 == 0 && cols % 4 == 0)
        transpose_vec<<<dim3(up(cols, TILE), up(rows, TILE)), 256, 0, stream>>>(out, in, rows, cols);
    else
        transpose_any<<<dim3(up(cols, 32), up(rows, 32)), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
