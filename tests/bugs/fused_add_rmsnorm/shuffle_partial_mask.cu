// expect: hung words waits for lanes
// row 15: A shuffle names lanes that do not take part.
#include <cstdint>
__global__ void kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[256];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = tid; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
        if (i + 256 >= d)
            for (int o = 16; o; o /= 2)
                sum += __shfl_down_sync(0xffffffff, sum, o);
    }
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    for (int w = 1; tid == 0 && w < 8; w++)
        partial[0] += partial[w];
    __syncthreads();
    for (int i = tid; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] / sqrtf(partial[0] / d + eps) * weight[i];
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
