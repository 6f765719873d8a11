// Wrong: the blocks of a row add their sums with atomics to a workspace that nobody has set to zero.
#include <cstdint>
__global__ void add(float *x, float *residual, float *sums, int d)
{
    int64_t row = blockIdx.x;
    float sum = 0.0f;
    for (int64_t i = (int64_t)blockIdx.y * 256 + threadIdx.x; i < d; i += (int64_t)gridDim.y * 256) {
        float v = x[row * d + i] + residual[row * d + i];
        residual[row * d + i] = v;
        sum += v * v;
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sums + row, sum);
}
__global__ void scale(float *x, const float *residual, const float *weight, const float *sums, int d, float eps)
{
    int64_t row = blockIdx.x;
    float s = rsqrtf(sums[row] / d + eps);
    for (int64_t i = (int64_t)blockIdx.y * 256 + threadIdx.x; i < d; i += (int64_t)gridDim.y * 256)
        x[row * d + i] = residual[row * d + i] * s * weight[i];
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps, cudaStream_t stream)
{
    float *sums;
    if (cudaMallocAsync((void **)&sums, (size_t)rows * sizeof(float), stream) != cudaSuccess)
        return;
    int parts = d > 4096 ? 8 : 4;
    add<<<dim3(rows, parts), 256, 0, stream>>>(x, residual, sums, d);
    scale<<<dim3(rows, parts), 256, 0, stream>>>(x, residual, weight, sums, d, eps);
    cudaFreeAsync(sums, stream);
}
