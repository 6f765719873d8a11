// 16-byte vectors, the row kept in registers (blocks of 1024), warp shuffles; longer rows are read again.
#include <cstdint>

constexpr int BLOCK = 1024;
constexpr int VEC = 4;  // floats in 16 bytes
constexpr int KEEP = 4; // vectors of the row that a thread keeps

__device__ __forceinline__ float block_sum(float value)
{
    __shared__ float partial[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
    value = lane < BLOCK / 32 ? partial[lane] : 0.0f;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

__global__ void __launch_bounds__(BLOCK)
    fused_add_rmsnorm_kept_kernel(float *__restrict__ x, float *__restrict__ residual,
                                  const float *__restrict__ weight, int d, float eps)
{
    float4 *x_row = reinterpret_cast<float4 *>(x + (int64_t)blockIdx.x * d);
    float4 *residual_row = reinterpret_cast<float4 *>(residual + (int64_t)blockIdx.x * d);
    const float4 *weights = reinterpret_cast<const float4 *>(weight);
    float4 kept[KEEP];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < KEEP; k++) {
        const int i = threadIdx.x + k * BLOCK;
        if (i < d / VEC) {
            const float4 a = x_row[i], b = residual_row[i];
            kept[k] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
            residual_row[i] = kept[k];
            sum +=
                kept[k].x * kept[k].x + kept[k].y * kept[k].y + kept[k].z * kept[k].z + kept[k].w * kept[k].w;
        }
    }
    const float scale = rsqrtf(block_sum(sum) / d + eps);
#pragma unroll
    for (int k = 0; k < KEEP; k++) {
        const int i = threadIdx.x + k * BLOCK;
        if (i < d / VEC) {
            const float4 w = __ldg(weights + i);
            x_row[i] = make_float4(kept[k].x * scale * w.x, kept[k].y * scale * w.y, kept[k].z * scale * w.z,
                                   kept[k].w * scale * w.w);
        }
    }
}

__global__ void __launch_bounds__(BLOCK)
    fused_add_rmsnorm_scalar_kernel(float *__restrict__ x, float *__restrict__ residual,
                                    const float *__restrict__ weight, int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += BLOCK) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    const float scale = rsqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < d; i += BLOCK)
        x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const bool aligned = (uintptr_t)x % 16 == 0 && (uintptr_t)residual % 16 == 0 && (uintptr_t)weight % 16 == 0;
    if (d % VEC == 0 && d <= BLOCK * VEC * KEEP && aligned)
        fused_add_rmsnorm_kept_kernel<<<rows, BLOCK, 0, stream>>>(x, residual, weight, d, eps);
    else
        fused_add_rmsnorm_scalar_kernel<<<rows, BLOCK, 0, stream>>>(x, residual, weight, d, eps);
}
