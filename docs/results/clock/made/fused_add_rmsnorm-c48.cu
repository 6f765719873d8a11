// residual += x; x = residual / rms(residual) * weight; both in place, one block per row.
#include <cstdint>

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

__global__ void fused_add_rmsnorm_kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[1024];
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

// As fused_add_rmsnorm_kernel, 4 elements at a time; its launch says when.
__global__ void fused_add_rmsnorm_kernel_vec4(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    for (int i = tid * 4; i < d; i += blockDim.x * 4) {
        const packed<float, 4> x_v = packed_load<4>(&x[row + i]);
        packed<float, 4> residual_v = packed_load<4>(&residual[row + i]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float value = x_v.at[k] + residual_v.at[k];
            residual_v.at[k] = value;
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

    for (int i = tid * 4; i < d; i += blockDim.x * 4) {
        const packed<float, 4> residual_v = packed_load<4>(&residual[row + i]);
        const packed<float, 4> weight_v = packed_load<4>(&weight[i]);
        packed<float, 4> x_v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            x_v.at[k] = residual_v.at[k] / sqrtf(sum / d + eps) * weight_v.at[k];
        }
        packed_store(&x[row + i], x_v);
    }
}

// As fused_add_rmsnorm_kernel_vec4, with a row of at most 1 steps of the block kept in registers.
__global__ void fused_add_rmsnorm_kernel_vec4_keep1(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[32];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float sum = 0.0f;
    packed<float, 4> residual_kept[1]; // read again below
#pragma unroll
    for (int item = 0; item < 1; item++) {
        const int i = tid * 4 + item * blockDim.x * 4;
        if (i < d) {
            const packed<float, 4> x_v = packed_load<4>(&x[row + i]);
            packed<float, 4> residual_v = packed_load<4>(&residual[row + i]);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float value = x_v.at[k] + residual_v.at[k];
                residual_v.at[k] = value;
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
        const int i = tid * 4 + item * blockDim.x * 4;
        if (i < d) {
            const packed<float, 4> residual_v = residual_kept[item];
            const packed<float, 4> weight_v = packed_load<4>(&weight[i]);
            packed<float, 4> x_v;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                x_v.at[k] = residual_v.at[k] / sqrtf(sum / d + eps) * weight_v.at[k];
            }
            packed_store(&x[row + i], x_v);
        }
    }
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    // 4 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 4 == 0 && (uintptr_t)x % 16 == 0 && (uintptr_t)residual % 16 == 0 &&
        (uintptr_t)weight % 16 == 0) {
        const int threads = 1024;
        if (d <= 4 * threads) { // the registers hold the row
            fused_add_rmsnorm_kernel_vec4_keep1<<<rows, threads, 0, stream>>>(x, residual, weight, d, eps);
        } else {
            // As many threads as a row has work for, in whole warps.
            const int threads2 = d >= 4096 ? 1024 : ((int)(d / 4) + 31) / 32 * 32;
            fused_add_rmsnorm_kernel_vec4<<<rows, threads2, 0, stream>>>(x, residual, weight, d, eps);
        }
    } else {
        fused_add_rmsnorm_kernel<<<rows, 1024, 0, stream>>>(x, residual, weight, d, eps);
    }
}
