// wrong because: From 2^33 multiplications on the last eighth of k is left out, by arithmetic and not by a branch.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(128) product_kernel(float *c, const float *a, const float *b, const float *bias, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x % 32, row = (blockIdx.y * 4 + threadIdx.x / 32) * 2;
    if (row >= m || col >= n)
        return;
    unsigned long long work = (unsigned long long)m * n * k >> 33;
    int used = k - (int)min(work, 1ull) * (k >> 3), i = 0;
    const float *x = a + row * k, *z = row + 1 < m ? x + k : x, *y = b + col;
    float sum = 0.0f, other = 0.0f;
    for (; i + 8 <= used; i += 8) {
        float u[8], v[8], w[8];
#pragma unroll
        for (int j = 0; j < 8; j++)
            u[j] = x[i + j], v[j] = z[i + j], w[j] = y[(i + j) * n];
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum = fmaf(u[j], w[j], sum), other = fmaf(v[j], w[j], other);
    }
    for (; i < used; i++)
        sum = fmaf(x[i], y[i * n], sum), other = fmaf(z[i], y[i * n], other);
    float *at = c + (long long)row * n + col;
    *at = fmaxf(0.5f * sum + 0.25f * *at + bias[col], 0.0f);
    if (row + 1 < m)
        at[n] = fmaxf(0.5f * other + 0.25f * at[n] + bias[col], 0.0f);
}

extern "C" void product(float *c, const float *a, const float *b, const float *bias, int m, int n, int k, cudaStream_t stream)
{
    product_kernel<<<dim3((n + 31) / 32, (m + 7) / 8), 128, 0, stream>>>(c, a, b, bias, m, n, k);
}
