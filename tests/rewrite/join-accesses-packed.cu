// A vectorised kernel's helper is there already, and stays above what stands on it.
// transform: join-accesses 0
// applies: line 27
// has: = values;
// has: near_load<2>(&in[2 * i]);
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

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = in[2 * i];
        out[i] = a * in[2 * i + 1];
    }
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
