// out[c][r] = in[r][c] by tiles in shared memory, 16-byte vectors on both sides where the shapes allow.
#include <cstdint>

// A tile of TR rows by TC columns, THREADS threads.
template <int TR, int TC, int THREADS>
__global__ void __launch_bounds__(THREADS)
    transpose_vec(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[TR][TC + 1];
    constexpr int LOADS = TR * TC / 4 / THREADS;
    const int col0 = blockIdx.x * TC, row0 = blockIdx.y * TR;
    const int tid = threadIdx.x;
    float4 v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const int i = tid + k * THREADS, r = i / (TC / 4), c = i % (TC / 4) * 4;
        if (row0 + r < rows && col0 + c < cols)
            v[k] = __ldcs(reinterpret_cast<const float4 *>(in + (int64_t)(row0 + r) * cols + col0 + c));
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const int i = tid + k * THREADS, r = i / (TC / 4), c = i % (TC / 4) * 4;
        if (row0 + r < rows && col0 + c < cols) {
            tile[r][c] = v[k].x;
            tile[r][c + 1] = v[k].y;
            tile[r][c + 2] = v[k].z;
            tile[r][c + 3] = v[k].w;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const int i = tid + k * THREADS, c = i / (TR / 4), r = i % (TR / 4) * 4;
        if (row0 + r < rows && col0 + c < cols) {
            const float4 w = make_float4(tile[r][c], tile[r + 1][c], tile[r + 2][c], tile[r + 3][c]);
            __stcs(reinterpret_cast<float4 *>(out + (int64_t)(col0 + c) * rows + row0 + r), w);
        }
    }
}

__global__ void __launch_bounds__(256)
    transpose_plain(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    const int64_t col0 = (int64_t)blockIdx.x * 32;
    const int row0 = blockIdx.y * 32;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (row0 + ty + k < rows && col0 + tx < cols)
            tile[ty + k][tx] = in[(int64_t)(row0 + ty + k) * cols + col0 + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (row0 + tx < rows && col0 + ty + k < cols)
            out[(col0 + ty + k) * rows + row0 + tx] = tile[tx][ty + k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const bool vectors = rows % 4 == 0 && cols % 4 == 0 && ((uintptr_t)out | (uintptr_t)in) % 16 == 0;
    const int64_t total = (int64_t)rows * cols;
    if (vectors && total >= (int64_t)64 * 64 * 528) {
        dim3 grid((unsigned)(((int64_t)cols + 63) / 64), (rows + 63) / 64);
        transpose_vec<64, 64, 256><<<grid, 256, 0, stream>>>(out, in, rows, cols);
    } else if (vectors) {
        dim3 grid((unsigned)(((int64_t)cols + 31) / 32), (rows + 31) / 32);
        transpose_vec<32, 32, 256><<<grid, 256, 0, stream>>>(out, in, rows, cols);
    } else {
        dim3 grid((unsigned)(((int64_t)cols + 31) / 32), (rows + 31) / 32);
        transpose_plain<<<grid, 256, 0, stream>>>(out, in, rows, cols);
    }
}
