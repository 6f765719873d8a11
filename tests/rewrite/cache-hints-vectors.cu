// What vectorise made is marked too.
// transform: cache-hints 3
// applies: line 24
// has: packed_load_once<4>(&in[i])
// has: packed_store_once(&out[i], out_v);
// has: __stcs(reinterpret_cast<uint4 *>(to) + i
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

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n)
        return;
    const packed<float, 4> in_v = packed_load<4>(&in[i]);
    packed<float, 4> out_v;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        out_v.at[k] = in_v.at[k] * 2.0f;
    }
    packed_store(&out[i], out_v);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 511) / 512, 128, 0, stream>>>(out, in, n, d);
}
