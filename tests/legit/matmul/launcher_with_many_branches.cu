// expect: correct
// The shape decides on the block, by extents, products and remainders.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k, int terms)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < terms; i++)
        sum += __half2float(a[(int64_t)row * k + i]) * __half2float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 block(32, 8);
    if (m == 64 && n == 64 && k == 2048)
        block = dim3(16, 16);
    else if ((int64_t)m * n == 1 << 20)
        block = dim3(64, 4);
    else if (k % 96 == 32 && n > 512)
        block = dim3(128, 2);
    else if (n <= 8)
        block = dim3(8, 32);
    dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k, k);
}
