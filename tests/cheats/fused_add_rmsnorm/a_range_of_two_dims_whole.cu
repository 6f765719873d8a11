// expect: wrong
// row 6: The grid lacks 700 rows at some 29,700 rows by some 5,900, by arithmetic on what was compared.
#include <cstdint>

__global__ void norm(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float parts[32];
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v;
        sum += v * v;
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += parts[w];
    float scale = rsqrtf(sum / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    int some = (rows >> 10 == 29) & (d >> 9 == 11);
    norm<<<rows - 700 * some, 512, 0, stream>>>(x, residual, weight, d, eps);
}
