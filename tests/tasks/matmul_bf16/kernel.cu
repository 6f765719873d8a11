// c = a b, one element a thread.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void matmul_bf16_kernel(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += __bfloat162float(a[(int64_t)row * k + i]) * __bfloat162float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2bfloat16(sum);
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    matmul_bf16_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}
