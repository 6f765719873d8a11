// The original with warp shuffles instead of the tree.
#include <cstdint>

__global__ void fused_add_rmsnorm_kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }

    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    if (tid < 32) {
        sum = tid < blockDim.x / 32 ? partial[tid] : 0.0f;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (tid == 0)
            partial[0] = sum;
    }
    __syncthreads();

    for (int i = tid; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] / sqrtf(partial[0] / d + eps) * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    fused_add_rmsnorm_kernel<<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
