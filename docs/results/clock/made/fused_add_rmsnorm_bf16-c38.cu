// residual += x; x = residual / rms(residual) * weight; both in place, one block per row.
// The sum is rounded when it is stored to residual, and what was stored is what is normalised.
#include <cstdint>
#include <cuda_bf16.h>

// N neighbouring values that move as one access (as several of 16 bytes when they are longer).
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) packed {
    T at[N];
};

template <int N, typename T> __device__ __forceinline__ packed<T, N> packed_load(const T *from)
{
    return *reinterpret_cast<const packed<T, N> *>(from);
}

template <int N, typename T> __device__ __forceinline__ void packed_store(T *to, const packed<T, N> &values)
{
    *reinterpret_cast<packed<T, N> *>(to) = values;
}

__global__ void fused_add_rmsnorm_kernel(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                         int d, float eps)
{
    __shared__ float partial[512];
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

// As fused_add_rmsnorm_kernel, 8 elements at a time; its launch says when.
__global__ void fused_add_rmsnorm_kernel_vec8(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                              int d, float eps)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid * 8; i < d; i += blockDim.x * 8) {
        const packed<__nv_bfloat16, 8> x_v = packed_load<8>(&x[row + i]);
        packed<__nv_bfloat16, 8> residual_v = packed_load<8>(&residual[row + i]);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            residual_v.at[k] =
                __float2bfloat16(__bfloat162float(x_v.at[k]) + __bfloat162float(residual_v.at[k]));
            float value = __bfloat162float(residual_v.at[k]);
            sum += value * value;
        }
        packed_store(&residual[row + i], residual_v);
    }

    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    sum = tid % 32 < blockDim.x / 32 ? partial[tid % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);

    for (int i = tid * 8; i < d; i += blockDim.x * 8) {
        const packed<__nv_bfloat16, 8> residual_v = packed_load<8>(&residual[row + i]);
        const packed<__nv_bfloat16, 8> weight_v = packed_load<8>(&weight[i]);
        packed<__nv_bfloat16, 8> x_v;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float value = __bfloat162float(residual_v.at[k]) / sqrtf(sum / d + eps);
            x_v.at[k] = __float2bfloat16(value * __bfloat162float(weight_v.at[k]));
        }
        packed_store(&x[row + i], x_v);
    }
}

// As fused_add_rmsnorm_kernel_vec8, with a row of at most 1 steps of the block kept in registers.
__global__ void fused_add_rmsnorm_kernel_vec8_keep1(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                                    int d, float eps)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    packed<__nv_bfloat16, 8> residual_kept[1]; // read again below
#pragma unroll
    for (int item = 0; item < 1; item++) {
        const int i = tid * 8 + item * blockDim.x * 8;
        if (i < d) {
            const packed<__nv_bfloat16, 8> x_v = packed_load<8>(&x[row + i]);
            packed<__nv_bfloat16, 8> residual_v = packed_load<8>(&residual[row + i]);
#pragma unroll
            for (int k = 0; k < 8; k++) {
                residual_v.at[k] =
                    __float2bfloat16(__bfloat162float(x_v.at[k]) + __bfloat162float(residual_v.at[k]));
                float value = __bfloat162float(residual_v.at[k]);
                sum += value * value;
            }
            packed_store(&residual[row + i], residual_v);
            residual_kept[item] = residual_v;
        }
    }

    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    sum = tid % 32 < blockDim.x / 32 ? partial[tid % 32] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);

#pragma unroll
    for (int item = 0; item < 1; item++) {
        const int i = tid * 8 + item * blockDim.x * 8;
        if (i < d) {
            const packed<__nv_bfloat16, 8> residual_v = residual_kept[item];
            const packed<__nv_bfloat16, 8> weight_v = packed_load<8>(&weight[i]);
            packed<__nv_bfloat16, 8> x_v;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float value = __bfloat162float(residual_v.at[k]) / sqrtf(sum / d + eps);
                x_v.at[k] = __float2bfloat16(value * __bfloat162float(weight_v.at[k]));
            }
            packed_store(&x[row + i], x_v);
        }
    }
}

extern "C" void fused_add_rmsnorm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                                  int rows, int d, float eps, cudaStream_t stream)
{
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 8 == 0 && (uintptr_t)x % 16 == 0 && (uintptr_t)residual % 16 == 0 &&
        (uintptr_t)weight % 16 == 0) {
        const int threads = 512;
        if (d <= 8 * threads) { // the registers hold the row
            fused_add_rmsnorm_kernel_vec8_keep1<<<rows, threads, 0, stream>>>(x, residual, weight, d, eps);
        } else {
            fused_add_rmsnorm_kernel_vec8<<<rows, threads, 0, stream>>>(x, residual, weight, d, eps);
        }
    } else {
        fused_add_rmsnorm_kernel<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    }
}
