// Right: 32 x 32 tiles without padding: the column is crossed with the row (xor), which has no bank conflicts either way. The tiles of the whole domain are walked by a stride, in 64 bits.
#include <cstdint>
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32 * 32];
    int x = threadIdx.x;
    int64_t across = ((int64_t)cols + 31) / 32, tiles = across * ((rows + 31) / 32);
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t r0 = t / across * 32, c0 = t % across * 32;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int y = threadIdx.y + 8 * k;
            if (r0 + y < rows && c0 + x < cols)
                tile[y * 32 + (x ^ y)] = in[(r0 + y) * cols + c0 + x];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int y = threadIdx.y + 8 * k;
            if (c0 + y < cols && r0 + x < rows)
                out[(c0 + y) * rows + r0 + x] = tile[x * 32 + (y ^ x)];
        }
        __syncthreads();
    }
}
extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int64_t tiles = ((int64_t)cols + 31) / 32 * ((rows + 31) / 32);
    transpose_kernel<<<(unsigned)(tiles < 65536 ? tiles : 65536), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
