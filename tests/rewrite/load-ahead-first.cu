// The first loop's alone: the weights stay where they were.
// transform: load-ahead 1
// applies: line 22
// has: in_ahead[step] = packed_load<4>(&in[i]);
// has: const packed<float, 4> in_v = in_ahead[step];
// has: const packed<float, 4> weight_v = packed_load<4>(&weight[i]);
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



__global__ void norm(float *out, const float *in, const float *weight, int d)
{
    float most = 0.0f;
    packed<float, 4> kept[3];
#pragma unroll
    for (int step = 0; step < 3; step++) {
        const int i = threadIdx.x * 4 + step * 1024;
        if (i < d) {
            const packed<float, 4> in_v = packed_load<4>(&in[i]);
            kept[step] = in_v;
            most = fmaxf(most, in_v.at[0]);
        }
    }
    most = __shfl_xor_sync(0xffffffffu, most, 1);
#pragma unroll
    for (int step = 0; step < 3; step++) {
        const int i = threadIdx.x * 4 + step * 1024;
        if (i < d) {
            const packed<float, 4> weight_v = packed_load<4>(&weight[i]);
            out[i] = kept[step].at[0] * most * weight_v.at[0];
        }
    }
}

extern "C" void entry(float *out, const float *in, const float *weight, int rows, int d, cudaStream_t stream)
{
    norm<<<rows, 256, 0, stream>>>(out, in, weight, d);
}
