// residual += x; x = residual / rms(residual) * weight; both in place, one block per row.
#include <cstdint>

__global__ void fused_add_rmsnorm_kernel(float *__restrict__ x, float *__restrict__ residual,
                                         const float *__restrict__ weight, int d, float eps)
{
    __shared__ float partial[256];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }

    partial[tid] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }

    for (int i = tid; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] / sqrtf(partial[0] / d + eps) * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    fused_add_rmsnorm_kernel<<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
