// Row softmax in three passes: the largest value, the sum of exponentials, the quotients.
#include <cstdint>
#include <math_constants.h>

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

template <typename T, int THREADS> __device__ T block_max(T value)
{
    __shared__ T partial[32];
    int tid = threadIdx.x;
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    if (tid % 32 == 0)
        partial[tid / 32] = value;
    __syncthreads();
    value = partial[tid % 32 < blockDim.x / 32 ? tid % 32 : 0];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

template <typename T, int THREADS> __device__ T block_sum(T value)
{
    __shared__ T partial[32];
    int tid = threadIdx.x;
    // Within a warp by shuffles; one slot a warp goes through shared memory.
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (tid % 32 == 0)
        partial[tid / 32] = value;
    __syncthreads();
    value = tid % 32 < blockDim.x / 32 ? partial[tid % 32] : T(0);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

template <typename T, int THREADS> __global__ void softmax_kernel(T *out, const T *in, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;

    T largest = -CUDART_INF_F;
    for (int i = threadIdx.x; i < d; i += THREADS)
        largest = fmaxf(largest, in[row + i]);
    largest = block_max<T, THREADS>(largest);

    T sum = 0;
    for (int i = threadIdx.x; i < d; i += THREADS)
        sum += expf(in[row + i] - largest);
    sum = block_sum<T, THREADS>(sum);

    for (int i = threadIdx.x; i < d; i += THREADS)
        out[row + i] = expf(in[row + i] - largest) / sum;
}

// As softmax_kernel, 4 elements at a time; its launch says when.
template <typename T, int THREADS> __global__ void softmax_kernel_vec4(T *out, const T *in, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;

    T largest = -CUDART_INF_F;
    for (int i = threadIdx.x * 4; i < d; i += THREADS * 4) {
        const packed<T, 4> in_v = packed_load<4>(&in[row + i]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            largest = fmaxf(largest, in_v.at[k]);
        }
    }
    largest = block_max<T, THREADS>(largest);

    T sum = 0;
    for (int i = threadIdx.x * 4; i < d; i += THREADS * 4) {
        const packed<T, 4> in_v = packed_load<4>(&in[row + i]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum += expf(in_v.at[k] - largest);
        }
    }
    sum = block_sum<T, THREADS>(sum);

    const float inverse_sum = 1.0f / sum;
    for (int i = threadIdx.x * 4; i < d; i += THREADS * 4) {
        const packed<T, 4> in_v = packed_load<4>(&in[row + i]);
        packed<T, 4> out_v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            out_v.at[k] = expf(in_v.at[k] - largest) * inverse_sum;
        }
        packed_store(&out[row + i], out_v);
    }
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    // 4 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 4 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)out % 16 == 0) {
        softmax_kernel_vec4<float, 512><<<rows, 512, 0, stream>>>(out, in, d);
    } else {
        softmax_kernel<float, 512><<<rows, 512, 0, stream>>>(out, in, d);
    }
}
