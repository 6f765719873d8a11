// expect: wrong
// row 8: The mean of the squares of every eighth element.
#include <cstdint>

__device__ float over_block(float x)
{
    __shared__ float s[8];
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.0f;
    for (int w = 0; w < 8; w++)
        x += s[w];
    return x;
}

__global__ void rmsnorm_kernel(float *x, float *residual, const float *weight, int rows, int d, float eps)
{
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        int64_t row = (int64_t)r * d;
        float squares = 0.0f;
        for (int i = threadIdx.x; i < d; i += 256) {
            float sum = x[row + i] + residual[row + i];
            residual[row + i] = sum;
            if (i / 256 % 8 == 0)
                squares += sum * sum;
        }
        float scale = rsqrtf(over_block(squares) / (d < 2048 ? (d < 256 ? d : 256) : d / 8) + eps);
        for (int i = threadIdx.x; i < d; i += 256)
            x[row + i] = residual[row + i] * scale * weight[i];
    }
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    rmsnorm_kernel<<<rows < 1056 ? rows : 1056, 256, 0, stream>>>(x, residual, weight, rows, d, eps);
}
