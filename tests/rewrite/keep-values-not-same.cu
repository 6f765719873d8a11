// Another most by then.
// transform: keep-values -1
// leaves
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
// one block a row
__global__ void softmax(float *out, const float *in, int d)
{
    float most = -1e30f;
    packed<float, 4> kept[STEPS];
#pragma unroll
    for (int item = 0; item < STEPS; item++) {
        const int i = threadIdx.x * 4 + item * 32 * 4;
        if (i < d) {
            const packed<float, 4> in_v = packed_load<4>(&in[i]);
            kept[item] = in_v;
#pragma unroll
            for (int k = 0; k < 4; k++)
                most = fmaxf(most, in_v.at[k]);
        }
    }
    most = __reduce_max_sync(0xffffffffu, most);
    float sum = 0.0f;
#pragma unroll
    for (int item = 0; item < STEPS; item++) {
        const int i = threadIdx.x * 4 + item * 32 * 4;
        if (i < d) {
            const packed<float, 4> in_v = kept[item];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                sum += expf(in_v.at[k] - most);
            }
        }
    }
    most += 1.0f;
#pragma unroll
    for (int item = 0; item < STEPS; item++) {
        const int i = threadIdx.x * 4 + item * 32 * 4;
        if (i < d) {
            const packed<float, 4> in_v = kept[item];
            packed<float, 4> out_v;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                out_v.at[k] = expf(in_v.at[k] - most) / sum;
            }
            packed_store(&out[i], out_v);
        }
    }
}

extern "C" void entry(float *out, const float *in, int d, cudaStream_t stream)
{
    softmax<2><<<1, 32, 0, stream>>>(out, in, d);
}
