// expect: unsafe
// row 12: Where both sides are multiples of four, indices are of 32 bits.
#include <cstdint>

__global__ void __launch_bounds__(256) transpose_vector(float *out, const float *in, int rows, int cols)
{
    __shared__ float s[32][33];
    int x = threadIdx.x % 8 * 4, y = threadIdx.x / 8;
    int col0 = blockIdx.x * 32, row0 = blockIdx.y * 32;
    if (row0 + y < rows && col0 + x < cols) {
        float4 v = *(const float4 *)(in + (row0 + y) * cols + col0 + x);
        s[y][x] = v.x, s[y][x + 1] = v.y, s[y][x + 2] = v.z, s[y][x + 3] = v.w;
    }
    __syncthreads();
    if (col0 + y < cols && row0 + x < rows)
        *(float4 *)(out + (col0 + y) * rows + row0 + x) = make_float4(s[x][y], s[x + 1][y], s[x + 2][y], s[x + 3][y]);
}

__global__ void __launch_bounds__(256) transpose_scalar(float *out, const float *in, int rows, int cols)
{
    __shared__ float s[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int64_t col0 = (int64_t)blockIdx.x * 32, row0 = (int64_t)blockIdx.y * 32;
    for (int k = 0; k < 32; k += 8)
        if (row0 + y + k < rows && col0 + x < cols)
            s[y + k][x] = in[(row0 + y + k) * cols + col0 + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8)
        if (col0 + y + k < cols && row0 + x < rows)
            out[(col0 + y + k) * rows + row0 + x] = s[x][y + k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    if (rows % 4 == 0 && cols % 4 == 0)
        transpose_vector<<<grid, 256, 0, stream>>>(out, in, rows, cols);
    else
        transpose_scalar<<<grid, 256, 0, stream>>>(out, in, rows, cols);
}
