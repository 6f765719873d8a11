// A row in fixed steps: its own loads and the weights' come first, also where a step writes what it has read.
// transform: load-ahead 2
// applies: line 24
// has: packed<float, 4> x_ahead[STEPS]; // all under way before the first is used
// has: packed<float, 4> skip_ahead[STEPS];
// has: x_ahead[item] = packed_load<4>(&x[row + i]);
// has: weight_ahead[item] = packed_load<4>(&weight[i]);
// has: packed<float, 4> skip_v = skip_ahead[item];
// has: const packed<float, 4> w_v = weight_ahead[item];
#include <cuda_runtime.h>
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

template <int STEPS>
__global__ void norm(float *x, float *skip, const float *weight, int d)
{
    __shared__ float total;
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    packed<float, 4> kept[STEPS];
#pragma unroll
    for (int item = 0; item < STEPS; item++) {
        const int i = threadIdx.x * 4 + item * 256 * 4;
        if (i < d) {
            const packed<float, 4> x_v = packed_load<4>(&x[row + i]);
            packed<float, 4> skip_v = packed_load<4>(&skip[row + i]);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                skip_v.at[k] += x_v.at[k];
                sum += skip_v.at[k] * skip_v.at[k];
            }
            packed_store(&skip[row + i], skip_v);
            kept[item] = skip_v;
        }
    }
    atomicAdd(&total, sum);
    __syncthreads();
#pragma unroll
    for (int item = 0; item < STEPS; item++) {
        const int i = threadIdx.x * 4 + item * 256 * 4;
        if (i < d) {
            const packed<float, 4> w_v = packed_load<4>(&weight[i]);
            packed<float, 4> out_v;
#pragma unroll
            for (int k = 0; k < 4; k++)
                out_v.at[k] = kept[item].at[k] * rsqrtf(total / d) * w_v.at[k];
            packed_store(&x[row + i], out_v);
        }
    }
}

extern "C" void entry(float *x, float *skip, const float *weight, int rows, int d, cudaStream_t stream)
{
    norm<2><<<rows, 256, 0, stream>>>(x, skip, weight, d);
}
