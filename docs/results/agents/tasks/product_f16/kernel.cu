// c = a b, one result a thread.
#include <cuda_fp16.h>

__global__ void product_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(long long)row * k + i]) * __half2float(b[(long long)i * n + col]);
    c[(long long)row * n + col] = __float2half(sum);
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    product_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}
