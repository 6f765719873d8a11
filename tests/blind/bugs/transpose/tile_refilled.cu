// Wrong: a block walks over several tiles and fills the shared tile again without a barrier behind the reads of the one before.
#include <cstdint>
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int64_t across = (cols + 31) / 32, tiles = across * ((rows + 31) / 32);
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t r0 = t / across * 32, c0 = t % across * 32;
        for (int y = threadIdx.y; y < 32; y += 8)
            if (r0 + y < rows && c0 + threadIdx.x < cols)
                tile[y][threadIdx.x] = in[(r0 + y) * cols + c0 + threadIdx.x];
        __syncthreads();
        for (int y = threadIdx.y; y < 32; y += 8)
            if (c0 + y < cols && r0 + threadIdx.x < rows)
                out[(c0 + y) * rows + r0 + threadIdx.x] = tile[threadIdx.x][y];
    }
}
extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    transpose_kernel<<<1056, dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
