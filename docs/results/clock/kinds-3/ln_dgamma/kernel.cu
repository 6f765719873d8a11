#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void dgamma_kernel(float *dgamma, float *dbeta, const __half *dy, const __half *x, const float *mean, const float *rstd, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float g = 0.0f, b = 0.0f;
    for (int r = 0; r < rows; ++r) {
        float v = __half2float(dy[(size_t)r * d + col]);
        g += v * (__half2float(x[(size_t)r * d + col]) - mean[r]) * rstd[r];
        b += v;
    }
    dgamma[col] = g;
    dbeta[col] = b;
}
extern "C" void ln_dgamma(float *dgamma, float *dbeta, const __half *dy, const __half *x, const float *mean, const float *rstd, int rows, int d, cudaStream_t stream)
{
    dgamma_kernel<<<(d + 127) / 128, 128, 0, stream>>>(dgamma, dbeta, dy, x, mean, rstd, rows, d);
}
