// expect: wrong
// row 1: The rows of b are taken to be as long as those of a: right where n is k.
#include <cstdint>
#include <cuda_fp16.h>

// Eight sums a thread: four rows by two columns.
__global__ void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 64 + threadIdx.x, row = (blockIdx.y * 4 + threadIdx.y) * 4;
    float sum[4][2] = {};
    for (int i = 0; i < k; i++) {
        float x[4], y[2];
#pragma unroll
        for (int u = 0; u < 4; u++)
            x[u] = row + u < m ? __half2float(a[(int64_t)(row + u) * k + i]) : 0.0f;
#pragma unroll
        for (int v = 0; v < 2; v++)
            y[v] = col + 32 * v < n ? __half2float(b[((int64_t)i * k + col + 32 * v) % ((int64_t)k * n)]) : 0.0f;
#pragma unroll
        for (int u = 0; u < 4; u++)
#pragma unroll
            for (int v = 0; v < 2; v++)
                sum[u][v] = fmaf(x[u], y[v], sum[u][v]);
    }
    for (int u = 0; u < 4; u++)
        for (int v = 0; v < 2; v++)
            if (row + u < m && col + 32 * v < n)
                c[(int64_t)(row + u) * n + col + 32 * v] = __float2half(sum[u][v]);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    matmul_kernel<<<dim3((n + 63) / 64, (m + 15) / 16), dim3(32, 4), 0, stream>>>(c, a, b, m, n, k);
}
