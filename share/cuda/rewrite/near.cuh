// N neighbouring values, as one access where their address is that of a vector, else one by one.
template <int N, typename T> __device__ __forceinline__ packed<T, N> near_load(const T *from)
{
    packed<T, N> all;
    if ((uintptr_t)from % alignof(packed<T, N>) == 0)
        return packed_load<N>(from);
#pragma unroll
    for (int k = 0; k < N; k++)
        all.at[k] = from[k];
    return all;
}

template <int N, typename T> __device__ __forceinline__ void near_store(T *to, const packed<T, N> &values)
{
    if ((uintptr_t)to % alignof(packed<T, N>) == 0) {
        packed_store(to, values);
        return;
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        to[k] = values.at[k];
}
