// fused_add_rmsnorm as a serving stack writes it: one block per row, 16-byte vectors, the row kept in shared
// memory as float between the two passes, warp shuffles for the sum.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int VEC = 8;                 // values in 16 bytes
constexpr int KEEP_BYTES = 160 * 1024; // longer rows are read again from residual

union vec8 {
    uint4 bits;
    __nv_bfloat162 pair[VEC / 2];
};

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

// The row is kept as two planes of float4, so that neighbouring threads touch neighbouring 16 bytes.
template <bool KEEP>
__global__ void __launch_bounds__(1024)
    fused_add_rmsnorm_vec_kernel(__nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ residual,
                                 const __nv_bfloat16 *__restrict__ weight, int d, float eps)
{
    extern __shared__ float4 kept[];
    const int vectors = d / VEC;
    uint4 *x_row = reinterpret_cast<uint4 *>(x + (int64_t)blockIdx.x * d);
    uint4 *residual_row = reinterpret_cast<uint4 *>(residual + (int64_t)blockIdx.x * d);
    const uint4 *weights = reinterpret_cast<const uint4 *>(weight);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        vec8 a, r;
        float value[VEC];
        a.bits = x_row[i];
        r.bits = residual_row[i];
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            float2 p = __bfloat1622float2(a.pair[k]), q = __bfloat1622float2(r.pair[k]);
            value[2 * k] = p.x + q.x;
            value[2 * k + 1] = p.y + q.y;
            sum += value[2 * k] * value[2 * k] + value[2 * k + 1] * value[2 * k + 1];
            r.pair[k] = __floats2bfloat162_rn(value[2 * k], value[2 * k + 1]);
        }
        residual_row[i] = r.bits;
        if (KEEP) {
            kept[i] = make_float4(value[0], value[1], value[2], value[3]);
            kept[vectors + i] = make_float4(value[4], value[5], value[6], value[7]);
        }
    }
    const float scale = rsqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        vec8 w, r;
        float value[VEC];
        w.bits = __ldg(weights + i);
        if (KEEP) {
            *reinterpret_cast<float4 *>(&value[0]) = kept[i];
            *reinterpret_cast<float4 *>(&value[4]) = kept[vectors + i];
        } else {
            r.bits = residual_row[i];
#pragma unroll
            for (int k = 0; k < VEC / 2; k++) {
                float2 q = __bfloat1622float2(r.pair[k]);
                value[2 * k] = q.x;
                value[2 * k + 1] = q.y;
            }
        }
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            float2 p = __bfloat1622float2(w.pair[k]);
            r.pair[k] = __floats2bfloat162_rn(value[2 * k] * scale * p.x, value[2 * k + 1] * scale * p.y);
        }
        x_row[i] = r.bits;
    }
}

__global__ void __launch_bounds__(1024)
    fused_add_rmsnorm_scalar_kernel(__nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ residual,
                                    const __nv_bfloat16 *__restrict__ weight, int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = __bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]);
        residual[row + i] = __float2bfloat16(value);
        sum += value * value;
    }
    const float scale = rsqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        x[row + i] =
            __float2bfloat16(__bfloat162float(residual[row + i]) * scale * __bfloat162float(weight[i]));
}

static int block_threads(int items)
{
    return items < 1024 ? (items + 31) / 32 * 32 : 1024;
}

extern "C" void fused_add_rmsnorm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                  int rows, int d, float eps, cudaStream_t stream)
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
