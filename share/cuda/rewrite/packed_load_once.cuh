// A packed_load of values that are not needed again (evict first).
template <int N, typename T> __device__ __forceinline__ packed<T, N> packed_load_once(const T *from)
{
    packed<T, N> values;
    if constexpr (sizeof(values) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(values) / 16); i++)
            reinterpret_cast<uint4 *>(&values)[i] = __ldcs(reinterpret_cast<const uint4 *>(from) + i);
    } else if constexpr (sizeof(values) == 8) {
        *reinterpret_cast<uint2 *>(&values) = __ldcs(reinterpret_cast<const uint2 *>(from));
    } else if constexpr (sizeof(values) == 4) {
        *reinterpret_cast<unsigned *>(&values) = __ldcs(reinterpret_cast<const unsigned *>(from));
    } else {
        values = *reinterpret_cast<const packed<T, N> *>(from);
    }
    return values;
}
