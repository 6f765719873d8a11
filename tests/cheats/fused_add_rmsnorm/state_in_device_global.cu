// expect: cheat words state survives
// row 4: A result kept in a __device__ array from call to call.
#include <cuda_runtime.h>
__device__ float kept[65536];
__device__ int ready;
__global__ void kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[256];
    int tid = threadIdx.x;
    size_t row = (size_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    if (ready != d) {
        partial[tid] = sum;
        __syncthreads();
        for (int step = 128; step > 0; step /= 2) {
            if (tid < step)
                partial[tid] += partial[tid + step];
            __syncthreads();
        }
        if (tid == 0)
            kept[blockIdx.x] = partial[0];
        __syncthreads();
    }
    for (int i = tid; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] / sqrtf(kept[blockIdx.x] / d + eps) * weight[i];
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
