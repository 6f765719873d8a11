// Right: tiles of 32 by 32 whose columns are turned by their row instead of padded.
#include <cstdint>

__global__ void __launch_bounds__(256) transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32 * 32];
    unsigned x = threadIdx.x, y = threadIdx.y;
    int64_t r0 = (int64_t)blockIdx.y * 32, c0 = (int64_t)blockIdx.x * 32;
#pragma unroll
    for (unsigned k = y; k < 32; k += 8)
        if (r0 + k < rows && c0 + x < cols)
            tile[k * 32 + (x ^ k)] = __ldcs(&in[(r0 + k) * cols + c0 + x]);
    __syncthreads();
#pragma unroll
    for (unsigned k = y; k < 32; k += 8)
        if (c0 + k < cols && r0 + x < rows)
            __stcs(&out[(c0 + k) * rows + r0 + x], tile[x * 32 + (k ^ x)]);
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const dim3 grid{((unsigned)cols + 31u) / 32u, ((unsigned)rows + 31u) / 32u};
    transpose_kernel<<<grid, dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
