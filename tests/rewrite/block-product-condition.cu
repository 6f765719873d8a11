// Not every product counts: what belongs to the row alone is zero there.
// transform: block-product 64064
// applies: line 13
// has: if (!(a[row * k + i] > 0.0f))
#include <cuda_runtime.h>

__global__ void work(float *out, const float *a, const float *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++)
            if (a[row * k + i] > 0.0f)
                sum += a[row * k + i] * b[i * n + col];
        out[row * n + col] = sum;
    }
}

extern "C" void entry(float *out, const float *a, const float *b, int m, int n, int k, cudaStream_t stream)
{
    work<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(out, a, b, m, n, k);
}
