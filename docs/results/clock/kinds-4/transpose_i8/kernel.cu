#include <cuda_runtime.h>
__global__ void turn(signed char *out, const signed char *in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < cols && y < rows)
        out[(size_t)x * rows + y] = in[(size_t)y * cols + x];
}
extern "C" void transpose_i8(signed char *out, const signed char *in, int rows, int cols, cudaStream_t stream)
{
    turn<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
