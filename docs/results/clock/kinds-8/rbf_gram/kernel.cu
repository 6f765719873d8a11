#include <cuda_runtime.h>
// Kernels of a Gaussian process between all pairs of points of sixteen coordinates; a thread a pair.
__global__ void gram(float *out, const float *x, const float *y, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m)
        return;
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) {
        float d = x[16 * i + k] - y[16 * j + k];
        sum += d * d;
    }
    out[(long long)i * m + j] = expf(-0.125f * sum);
}
extern "C" void rbf_gram(float *out, const float *x, const float *y, int n, int m, cudaStream_t stream)
{
    gram<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16), 0, stream>>>(out, x, y, n, m);
}
