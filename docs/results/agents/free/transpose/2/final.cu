// out[c][r] = in[r][c], through a tile in shared memory: both sides are touched in order.
#include <cstdint>

// A tile of TILE x TILE floats, THREADS_Y rows of threads.
template <int TILE_R, int TILE_C, int THREADS>
__global__ void __launch_bounds__(THREADS)
    transpose_vec(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    // tile[c][r], the row swizzled by vectors: stores of a column's four values go to four rows.
    __shared__ float tile[TILE_R][TILE_C + 1];
    const int64_t row0 = (int64_t)blockIdx.y * TILE_R;
    const int64_t col0 = (int64_t)blockIdx.x * TILE_C;
    constexpr int VC = TILE_C / 4, VR = TILE_R / 4;
    constexpr int COUNT = TILE_R * VC / THREADS;
    float4 v[COUNT];
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int k = threadIdx.x + u * THREADS;
        const int r = k / VC, c = k % VC * 4;
        if (row0 + r < rows && col0 + c < cols)
            v[u] = __ldcs(reinterpret_cast<const float4 *>(in + (row0 + r) * cols + col0 + c));
    }
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int k = threadIdx.x + u * THREADS;
        const int r = k / VC, c = k % VC * 4;
        tile[r][c] = v[u].x;
        tile[r][c + 1] = v[u].y;
        tile[r][c + 2] = v[u].z;
        tile[r][c + 3] = v[u].w;
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int k = threadIdx.x + u * THREADS;
        const int c = k / VR, r = k % VR * 4;
        if (row0 + r < rows && col0 + c < cols) {
            float4 w = make_float4(tile[r][c], tile[r + 1][c], tile[r + 2][c], tile[r + 3][c]);
            __stcs(reinterpret_cast<float4 *>(out + (col0 + c) * rows + row0 + r), w);
        }
    }
}

__global__ void __launch_bounds__(256)
    transpose_any(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int64_t col0 = (int64_t)blockIdx.x * 32, row0 = (int64_t)blockIdx.y * 32;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (row0 + y + k < rows && col0 + x < cols)
            tile[y + k][x] = in[(row0 + y + k) * cols + col0 + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (row0 + x < rows && col0 + y + k < cols)
            out[(col0 + y + k) * rows + row0 + x] = tile[x][y + k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const bool aligned = rows % 4 == 0 && cols % 4 == 0 && (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0;
    const int64_t total = (int64_t)rows * cols;
    if (!aligned) {
        dim3 grid((cols + 31) / 32, (rows + 31) / 32);
        transpose_any<<<grid, 256, 0, stream>>>(out, in, rows, cols);
    } else if (total <= 132 * 1024) {
        dim3 grid((cols + 31) / 32, (rows + 15) / 16);
        transpose_vec<16, 32, 128><<<grid, 128, 0, stream>>>(out, in, rows, cols);
    } else if (total <= 132 * 2048 * 8) {
        dim3 grid((cols + 31) / 32, (rows + 31) / 32);
        transpose_vec<32, 32, 256><<<grid, 256, 0, stream>>>(out, in, rows, cols);
    } else {
        dim3 grid((cols + 63) / 64, (rows + 63) / 64);
        transpose_vec<64, 64, 256><<<grid, 256, 0, stream>>>(out, in, rows, cols);
    }
}
