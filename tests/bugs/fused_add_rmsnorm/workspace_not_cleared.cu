// expect: unsafe words nothing wrote 'workspace 1'
// row 16: The workspace that atomics add to is not cleared.
#include <cuda_runtime.h>
__global__ void sums(const float *x, float *residual, float *total, int d)
{
    size_t row = (size_t)blockIdx.x * d;
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i < d) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v;
        atomicAdd(&total[blockIdx.x], v * v);
    }
}
__global__ void scale(float *x, const float *residual, const float *weight, const float *total, int d, float eps)
{
    size_t row = (size_t)blockIdx.x * d;
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i < d)
        x[row + i] = residual[row + i] * rsqrtf(total[blockIdx.x] / d + eps) * weight[i];
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    float *total;
    cudaMallocAsync((void **)&total, rows * sizeof(float), stream);

    sums<<<dim3(rows, (d + 127) / 128), 128, 0, stream>>>(x, residual, total, d);
    scale<<<dim3(rows, (d + 127) / 128), 128, 0, stream>>>(x, residual, weight, total, d, eps);
    cudaFreeAsync(total, stream);
}
