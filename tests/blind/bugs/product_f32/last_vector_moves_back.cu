// wrong because: The last four columns of a row are moved back to end at its end: what two threads share is updated in place by both.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) product_kernel(float *c, const float *a, const float *b, const float *bias, int m, int n, int k)
{
    int col = (blockIdx.x * 32 + threadIdx.x % 32) * 4, row = blockIdx.y * 8 + threadIdx.x / 32;
    if (row >= m || col >= n)
        return;
    int width = min(n, 4);
    col = max(0, min(col, n - 4));
    float sum[4] = {};
    for (int i = 0; i < k; i++) {
        float x = a[row * k + i];
        for (int j = 0; j < width; j++)
            sum[j] += x * b[i * n + col + j];
    }
    float *at = c + (long long)row * n + col;
    for (int j = 0; j < width; j++)
        at[j] = fmaxf(0.5f * sum[j] + 0.25f * at[j] + bias[col + j], 0.0f);
}

extern "C" void product(float *c, const float *a, const float *b, const float *bias, int m, int n, int k, cudaStream_t stream)
{
    product_kernel<<<dim3((n + 127) / 128, (m + 7) / 8), 256, 0, stream>>>(c, a, b, bias, m, n, k);
}
