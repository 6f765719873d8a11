// class: round 12 ; wrong because: the grid has as many rows as seven bits count: of m = 128 the last row is not written.
#include <cuda_fp16.h>

__global__ void product_kernel(__half *c, const __half *a, const __half *b, int n, int k)
{
    int col = blockIdx.x * 128 + threadIdx.x, row = blockIdx.y;
    if (col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[row * k + i]) * __half2float(b[(size_t)i * n + col]);
    c[row * n + col] = __float2half(sum);
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    product_kernel<<<dim3((n + 127) / 128, m < 127 ? m : 127), 128, 0, stream>>>(c, a, b, n, k);
}
