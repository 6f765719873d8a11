// residual += x; x = residual / rms(residual) * weight; both in place, one block per row.
// The sum is rounded when it is stored to residual, and what was stored is what is normalised.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void fused_add_rmsnorm_kernel(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                         int d, float eps)
{
    __shared__ float partial[256];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        residual[row + i] =
            __float2bfloat16(__bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]));
        float value = __bfloat162float(residual[row + i]);
        sum += value * value;
    }

    partial[tid] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }

    for (int i = tid; i < d; i += blockDim.x) {
        float value = __bfloat162float(residual[row + i]) / sqrtf(partial[0] / d + eps);
        x[row + i] = __float2bfloat16(value * __bfloat162float(weight[i]));
    }
}

extern "C" void fused_add_rmsnorm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                  int rows, int d, float eps, cudaStream_t stream)
{
    fused_add_rmsnorm_kernel<<<rows, 64, 0, stream>>>(x, residual, weight, d, eps);
}
