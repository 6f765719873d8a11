// A transposed matrix times a vector: neighbouring results lie beside each other.
// transform: block-product 32
// applies: line 13
// has: gemv_down_product(memory, a + row0 * (1LL), (long long)m, x, 1LL, depth, row0 < rows)
// has: work<<<(m + 31) / 32, 1024, 0, stream>>>(y, a, x, m, n);
#include <cuda_runtime.h>

__global__ void work(float *y, const float *a, const float *x, int m, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < m) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++)
            sum += a[i * m + col] * x[i];
        y[col] = sum;
    }
}

extern "C" void entry(float *y, const float *a, const float *x, int m, int n, cudaStream_t stream)
{
    work<<<(m + 255) / 256, 256, 0, stream>>>(y, a, x, m, n);
}
