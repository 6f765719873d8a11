// A packed_store of values that this kernel does not need again (evict first).
template <int N, typename T> __device__ __forceinline__ void packed_store_once(T *to, const packed<T, N> &values)
{
    if constexpr (sizeof(values) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(values) / 16); i++)
            __stcs(reinterpret_cast<uint4 *>(to) + i, reinterpret_cast<const uint4 *>(&values)[i]);
    } else if constexpr (sizeof(values) == 8) {
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&values));
    } else if constexpr (sizeof(values) == 4) {
        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&values));
    } else {
        *reinterpret_cast<packed<T, N> *>(to) = values;
    }
}
