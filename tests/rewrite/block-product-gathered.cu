// The row is looked up: no linear index, but one that follows from the row alone.
// transform: block-product 64064
// applies: line 14
// has: return static_cast<float>(a[c[row] * k + i]);
// has: simt_strided<float>{b + col0 * y_out, y_out, y_deep}
#include <cuda_runtime.h>

__global__ void work(float *out, const int *c, const float *a, const float *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++)
            sum += a[c[row] * k + i] * b[i * n + col];
        out[row * n + col] = sum;
    }
}

extern "C" void entry(float *out, const int *c, const float *a, const float *b, int m, int n, int k, cudaStream_t stream)
{
    work<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(out, c, a, b, m, n, k);
}
