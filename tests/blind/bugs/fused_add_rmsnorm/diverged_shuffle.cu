// class: warp semantics ; wrong because: the second stage shuffles with a full mask inside `if (tid < warps)`, where only 8 lanes of the warp take part: undefined, lanes 8..31 never arrive (smallest: rows=1, d=1)
#include <cstdint>

__global__ void fused_add_rmsnorm_kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[8];
    __shared__ float scale;
    int tid = threadIdx.x, warps = blockDim.x / 32;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    if (tid < warps) {
        sum = partial[tid];
        for (int k = warps / 2; k > 0; k /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, k);
        if (tid == 0)
            scale = rsqrtf(sum / d + eps);
    }
    __syncthreads();
    for (int i = tid; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    fused_add_rmsnorm_kernel<<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
