// fused_add_rmsnorm as a serving stack writes it: one block per row, 16-byte vectors, the row kept in shared
// memory between the two passes, warp shuffles for the sum.
#include <cstdint>

constexpr int VEC = 4;                 // floats in 16 bytes
constexpr int KEEP_BYTES = 160 * 1024; // longer rows are read again from residual

// The sum over the block, in every thread.
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
    value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

template <bool KEEP>
__global__ void __launch_bounds__(1024)
    fused_add_rmsnorm_vec_kernel(float *__restrict__ x, float *__restrict__ residual,
                                 const float *__restrict__ weight, int d, float eps)
{
    extern __shared__ float4 kept[];
    float4 *x_row = reinterpret_cast<float4 *>(x + (int64_t)blockIdx.x * d);
    float4 *residual_row = reinterpret_cast<float4 *>(residual + (int64_t)blockIdx.x * d);
    const float4 *weights = reinterpret_cast<const float4 *>(weight);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < d / VEC; i += blockDim.x) {
        float4 value = x_row[i], r = residual_row[i];
        value.x += r.x;
        value.y += r.y;
        value.z += r.z;
        value.w += r.w;
        residual_row[i] = value;
        if (KEEP)
            kept[i] = value;
        sum += value.x * value.x + value.y * value.y + value.z * value.z + value.w * value.w;
    }
    const float scale = rsqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < d / VEC; i += blockDim.x) {
        float4 value = KEEP ? kept[i] : residual_row[i];
        const float4 w = __ldg(weights + i);
        value.x *= scale * w.x;
        value.y *= scale * w.y;
        value.z *= scale * w.z;
        value.w *= scale * w.w;
        x_row[i] = value;
    }
}

__global__ void __launch_bounds__(1024)
    fused_add_rmsnorm_scalar_kernel(float *__restrict__ x, float *__restrict__ residual,
                                    const float *__restrict__ weight, int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    const float scale = rsqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] * scale * weight[i];
}

static int block_threads(int items)
{
    return items < 1024 ? (items + 31) / 32 * 32 : 1024;
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const bool aligned = (uintptr_t)x % 16 == 0 && (uintptr_t)residual % 16 == 0 && (uintptr_t)weight % 16 == 0;
    if (d % VEC != 0 || !aligned) {
        fused_add_rmsnorm_scalar_kernel<<<rows, block_threads(d), 0, stream>>>(x, residual, weight, d, eps);
        return;
    }
    const int threads = block_threads(d / VEC);
    if (d > KEEP_BYTES / (int)sizeof(float)) {
        fused_add_rmsnorm_vec_kernel<false><<<rows, threads, 0, stream>>>(x, residual, weight, d, eps);
        return;
    }
    const int bytes = d * (int)sizeof(float);
    if (bytes > 48 * 1024)
        cudaFuncSetAttribute(fused_add_rmsnorm_vec_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             bytes);
    fused_add_rmsnorm_vec_kernel<true><<<rows, threads, bytes, stream>>>(x, residual, weight, d, eps);
}
