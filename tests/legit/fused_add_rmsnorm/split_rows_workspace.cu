// expect: correct
// Several blocks a row: partial sums to a workspace, a second kernel scales.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>

#define CHECK(call)                       \
    do {                                  \
        if ((call) != cudaSuccess)        \
            return;                       \
    } while (0)

struct Params {
    static constexpr int threads = 256;
    static constexpr int per_block = threads * 8;
};

__device__ float warp_sum(float v)
{
    for (int o = 16; o; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}

__global__ void add_and_square(const float *__restrict__ x, float *residual, float *partial, int d)
{
    __shared__ float s[Params::threads / 32];
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0;
    for (int i = blockIdx.y * Params::threads + threadIdx.x; i < d; i += gridDim.y * Params::threads) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v;
        sum += v * v;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < Params::threads / 32 ? s[threadIdx.x] : 0.0f;
        sum = warp_sum(sum);
        if (!threadIdx.x)
            partial[(int64_t)blockIdx.x * gridDim.y + blockIdx.y] = sum;
    }
}

__global__ void scale(float *x, const float *__restrict__ residual, const float *__restrict__ weight,
                      const float *__restrict__ partial, int d, float eps, int parts)
{
    float sum = 0;
    for (int p = 0; p < parts; p++)
        sum += partial[(int64_t)blockIdx.x * parts + p];
    float s = rsqrtf(sum / d + eps);
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < d; i += gridDim.y * blockDim.x)
        x[row + i] = residual[row + i] * s * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const int parts = (int)std::min<int64_t>(((int64_t)d + Params::per_block - 1) / Params::per_block, 64);
    float *partial = nullptr;
    CHECK(cudaMallocAsync(&partial, sizeof(float) * rows * parts, stream));
    add_and_square<<<dim3(rows, parts), Params::threads, 0, stream>>>(x, residual, partial, d);
    scale<<<dim3(rows, parts), Params::threads, 0, stream>>>(x, residual, weight, partial, d, eps, parts);
    CHECK(cudaFreeAsync(partial, stream));
}
