// c = scale a b of bytes, one index for row and column.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void product_kernel(float *c, const int8_t *a, const int8_t *b, const float *scale, int m, int n, int k)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= m * n)
        return;
    const int row = at / n, col = at % n;
    int sum = 0;
    for (int i = 0; i < k; i++)
        sum += static_cast<int>(a[row * k + i]) * static_cast<int>(b[col * k + i]);
    c[at] = static_cast<float>(sum) * scale[row];
}

extern "C" void product(float *c, const int8_t *a, const int8_t *b, const float *scale, int m, int n, int k,
                        cudaStream_t stream)
{
    product_kernel<<<(m * n + 255) / 256, 256, 0, stream>>>(c, a, b, scale, m, n, k);
}
