// How a thread's neighbouring items of a block's whole tile move: `each` of them at once.
template <typename At, typename T, int N> struct tile_vector {
    enum { bytes = sizeof(T) * N, even = bytes & -bytes, wide = even < 16 ? even : 16, each = 0 };
};
template <typename T, int N> struct tile_vector<T, T, N> : tile_vector<void, T, N> {
    enum { each = tile_vector<void, T, N>::wide / sizeof(T) };
};
template <typename T, int N> struct tile_vector<const T, T, N> : tile_vector<T, T, N> {
};

template <int WIDE> __device__ __forceinline__ bool tile_is_whole(const void *at, int items, long long valid)
{
    const long long threads = blockDim.x * blockDim.y * blockDim.z;
    return valid >= threads * items && (uintptr_t)at % WIDE == 0;
}

template <int N> __device__ __forceinline__ int tile_first()
{
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) * N;
}

// As CUB's BlockLoad and BlockStore, for a whole tile on a vector's bytes; false for others, which are left alone.
// An array of bool moves as the bytes it is: the compiler would read each by itself.
template <typename Iterator, typename T, int N>
__device__ __forceinline__ bool tile_load(Iterator, T (&)[N], long long = 0)
{
    return false;
}

template <typename At, typename T, int N>
__device__ __forceinline__ bool tile_load(At *from, T (&items)[N], long long valid = 1LL << 62)
{
    constexpr int each = tile_vector<At, T, N>::each, wide = tile_vector<At, T, N>::wide;
    if (each < 2 || !tile_is_whole<wide>(from, N, valid))
        return false;
    const unsigned char *at = reinterpret_cast<const unsigned char *>(from + tile_first<N>());
#pragma unroll
    for (int i = 0; i < N * (int)sizeof(T); i += wide) {
        const packed<unsigned char, wide> some = packed_load<wide>(at + i);
        memcpy(reinterpret_cast<unsigned char *>(items) + i, &some, wide);
    }
    return true;
}

template <typename Iterator, typename T, int N>
__device__ __forceinline__ bool tile_store(Iterator, T (&)[N], long long = 0)
{
    return false;
}

template <typename At, typename T, int N>
__device__ __forceinline__ bool tile_store(At *to, T (&items)[N], long long valid = 1LL << 62)
{
    constexpr int each = tile_vector<At, T, N>::each, wide = tile_vector<At, T, N>::wide;
    if (each < 2 || !tile_is_whole<wide>(to, N, valid))
        return false;
    unsigned char *at = reinterpret_cast<unsigned char *>(to + tile_first<N>());
#pragma unroll
    for (int i = 0; i < N * (int)sizeof(T); i += wide) {
        packed<unsigned char, wide> some;
        memcpy(&some, reinterpret_cast<unsigned char *>(items) + i, wide);
        packed_store(at + i, some);
    }
    return true;
}
