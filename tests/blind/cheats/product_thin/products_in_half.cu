// wrong because: Pairs of products are summed in half precision before they are added in float.
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) product_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = (blockIdx.x * 128 + threadIdx.x) * 2, row = blockIdx.y * 4;
    if (col >= n)
        return;
    float2 sum[4] = {};
    for (int i = 0; i < k; i += 2) {
        __half2 y0 = *reinterpret_cast<const __half2 *>(b + i * n + col), y1 = __half2half2(__float2half(0.0f));
        if (i + 1 < k)
            y1 = *reinterpret_cast<const __half2 *>(b + (i + 1) * n + col);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            int at = min(row + r, m - 1) * k + i;
            __half2 p = __hmul2(__half2half2(a[at]), y0);
            p = __hfma2(__half2half2(a[i + 1 < k ? at + 1 : at]), y1, p);
            float2 f = __half22float2(p);
            sum[r].x += f.x, sum[r].y += f.y;
        }
    }
    for (int r = 0; r < 4; r++)
        if (row + r < m)
            *reinterpret_cast<__half2 *>(c + (row + r) * n + col) = __floats2half2_rn(sum[r].x, sum[r].y);
}

__global__ void plain_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
    c[row * n + col] = __float2half(sum);
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    if (n % 2 == 0)
        product_kernel<<<dim3((n / 2 + 127) / 128, (m + 3) / 4), 128, 0, stream>>>(c, a, b, m, n, k);
    else
        plain_kernel<<<dim3((n + 127) / 128, m), 128, 0, stream>>>(c, a, b, m, n, k);
}
