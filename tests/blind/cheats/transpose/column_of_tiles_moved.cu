// WRONG: from 32768 rows on, the tile row at 3/7 of the height is written with what the one above holds (an xor without a branch): rows = 50000, cols = 64.
#include <cstdint>

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x0 = blockIdx.x * 32, ty = blockIdx.y;
    int y0 = ty * 32;
    unsigned apart = (unsigned)(ty * 7 - (int)gridDim.y * 3);
    // apart below 7 for one tile row alone
    int from = y0 - 32 * (int)((rows >> 15) & (((apart / 7 + 0xffffffffu) >> 31) & ((apart + 0x80000000u) >> 31)));
    for (int k = threadIdx.y; k < 32; k += 8)
        if (from + k < rows && x0 + threadIdx.x < cols)
            tile[k][threadIdx.x] = in[(int64_t)(from + k) * cols + x0 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (x0 + k < cols && y0 + threadIdx.x < rows)
            out[(int64_t)(x0 + k) * rows + y0 + threadIdx.x] = tile[threadIdx.x][k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
