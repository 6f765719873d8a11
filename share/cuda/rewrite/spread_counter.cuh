// A counter as N copies beside each other, one for every N-th thread. Who goes through all of them begins with its
// own, so that neighbours meet different banks.
template <int N, typename T, typename V> __device__ __forceinline__ void spread_set(T *copies, V value)
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int at = (k + threadIdx.x) % N;
        copies[at] = at == 0 ? T(value) : T(0);
    }
}

template <int N, typename T> __device__ __forceinline__ T spread_sum(const T *copies)
{
    T sum = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        sum += copies[(k + threadIdx.x) % N];
    return sum;
}
