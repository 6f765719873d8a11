// A step reads what the step before has written; an index is only known when the threads have met; loops that are not
// unrolled keep nothing in registers.
// transform: load-ahead -1
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


__global__ void moves(float *x, int d)
{
#pragma unroll
    for (int step = 0; step < 2; step++) {
        const int i = threadIdx.x * 4 + step * 1024;
        if (i < d) {
            const packed<float, 4> x_v = packed_load<4>(&x[i]);
            packed_store(&x[i + 1024], x_v);
        }
    }
}

__global__ void asks(float *out, const float *in, const int *which, int d)
{
    int from = which[0];
    from += which[blockIdx.x];
#pragma unroll
    for (int step = 0; step < 2; step++) {
        const int i = threadIdx.x * 4 + step * 1024;
        if (i < d) {
            const packed<float, 4> in_v = packed_load<4>(&in[i + 4 * from]);
            packed_store(&out[i], in_v);
        }
    }
}

__global__ void walks(float *out, const float *in, int d, int steps)
{
    for (int step = 0; step < steps; step++) {
        const int i = threadIdx.x * 4 + step * 1024;
        if (i < d) {
            const packed<float, 4> in_v = packed_load<4>(&in[i]);
            packed_store(&out[i], in_v);
        }
    }
}

extern "C" void entry(float *out, const float *in, const int *which, int d, cudaStream_t stream)
{
    moves<<<1, 256, 0, stream>>>(out, d);
    asks<<<1, 256, 0, stream>>>(out, in, which, d);
    walks<<<1, 256, 0, stream>>>(out, in, d, 2);
}
